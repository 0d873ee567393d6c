// SPDX-License-Identifier: GPL-2.0-only
/*
 * Built at -O3 with -ffp-contract=off; in the kernel also with floating point
 * allowed and the sanitizers off (they slow the loops down 2 to 19 times).
 */
#include "npu_fp.h"

/* Rows share every load of a weight; accumulators stay in registers. */
#define LANES	16
#define VECTORS	(LANES / 4)

struct npu_f4 {
	__attribute__((vector_size(16))) float v;
};

struct npu_s4 {
	__attribute__((vector_size(16))) s32 v;
};

u64 npu_fp_enter(void)
{
	u64 saved = 0;

#ifdef __aarch64__
	asm volatile("mrs %0, fpcr" : "=r" (saved));
	asm volatile("msr fpcr, %0" : : "r" (0ul));
	/*
	 * Inexact already raised: an emulated CPU may then use its host's
	 * arithmetic, which is three times faster and gives the same bits.
	 */
	asm volatile("msr fpsr, %0" : : "r" (0x10ul));
#endif
	return saved;
}

void npu_fp_leave(u64 saved)
{
#ifdef __aarch64__
	asm volatile("msr fpcr, %0" : : "r" (saved));
#else
	(void)saved;
#endif
}

/* @count is a constant wherever this is expanded. */
static inline void rows_s8(s32 *acc, u32 acc_pitch, const s8 *a, const s32 *w, u32 kernels, u32 k,
			   const u32 count)
{
	struct npu_s4 sum[4][VECTORS] = { 0 };
	u32 i, r, v;

	for (i = 0; i < k; i++, w += kernels) {
		const struct npu_s4 *b = (const struct npu_s4 *)w;

		for (r = 0; r < count; r++)
			for (v = 0; v < VECTORS; v++)
				sum[r][v].v += b[v].v * (s32)a[(size_t)r * k + i];
	}
	for (r = 0; r < count; r++)
		for (v = 0; v < VECTORS; v++)
			((struct npu_s4 *)(acc + (size_t)r * acc_pitch))[v] = sum[r][v];
}

void npu_mac_s8(s32 *acc, u32 acc_pitch, const s8 *a, const s32 *w, u32 rows, u32 kernels, u32 k)
{
	u32 r, n;

	for (r = 0; r + 4 <= rows; r += 4)
		for (n = 0; n < kernels; n += LANES)
			rows_s8(acc + (size_t)r * acc_pitch + n, acc_pitch, a + (size_t)r * k,
				w + n, kernels, k, 4);
	for (; r < rows; r++)
		for (n = 0; n < kernels; n += LANES)
			rows_s8(acc + (size_t)r * acc_pitch + n, acc_pitch, a + (size_t)r * k,
				w + n, kernels, k, 1);
}

static inline void rows_f32(float *acc, u32 acc_pitch, const float *a, const struct npu_f4 *w,
			    u32 k, const u32 count)
{
	struct npu_f4 sum[2][VECTORS] = { 0 };
	u32 i, r, v;

	for (i = 0; i < k; i++, w += VECTORS)
		for (r = 0; r < count; r++)
			for (v = 0; v < VECTORS; v++)
				sum[r][v].v += w[v].v * a[(size_t)r * k + i];
	for (r = 0; r < count; r++)
		for (v = 0; v < VECTORS; v++)
			((struct npu_f4 *)(acc + (size_t)r * acc_pitch))[v] = sum[r][v];
}

void npu_mac_f32(void *acc, u32 acc_pitch, const void *a, const void *w, u32 rows, u32 k)
{
	const float *av = a;
	float *c = acc;
	u32 r;

	for (r = 0; r + 2 <= rows; r += 2)
		rows_f32(c + (size_t)r * acc_pitch, acc_pitch, av + (size_t)r * k, w, k, 2);
	if (r < rows)
		rows_f32(c + (size_t)r * acc_pitch, acc_pitch, av + (size_t)r * k, w, k, 1);
}

/* @op and @step are constants wherever this is expanded. */
static inline void apply(const enum npu_fp_op op, float *x, const float *y, const u32 step, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		float b = y[step ? i : 0];

		switch (op) {
		case NPU_FP_ADD:
			x[i] += b;
			break;
		case NPU_FP_SUB:
			x[i] -= b;
			break;
		case NPU_FP_MUL:
			x[i] *= b;
			break;
		case NPU_FP_DIV:
			x[i] /= b;
			break;
		case NPU_FP_PRELU:
			x[i] = x[i] < 0.0f ? x[i] * b : x[i];
			break;
		}
	}
}

static inline void apply_step(const enum npu_fp_op op, float *x, const float *y, u32 step, u32 n)
{
	if (step)
		apply(op, x, y, 1, n);
	else
		apply(op, x, y, 0, n);
}

void npu_fp_apply(enum npu_fp_op op, void *x, const void *y, u32 step, u32 n)
{
	switch (op) {
	case NPU_FP_ADD:
		apply_step(NPU_FP_ADD, x, y, step, n);
		break;
	case NPU_FP_SUB:
		apply_step(NPU_FP_SUB, x, y, step, n);
		break;
	case NPU_FP_MUL:
		apply_step(NPU_FP_MUL, x, y, step, n);
		break;
	case NPU_FP_DIV:
		apply_step(NPU_FP_DIV, x, y, step, n);
		break;
	case NPU_FP_PRELU:
		apply_step(NPU_FP_PRELU, x, y, step, n);
		break;
	}
}
