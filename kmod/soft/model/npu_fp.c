// SPDX-License-Identifier: GPL-2.0-only
/*
 * Built at -O3 with -ffp-contract=off; in the kernel also with floating point
 * allowed and the sanitizers off (they slow the loops down 2 to 19 times).
 */
#include "npu_fp.h"

struct npu_v4 {
	__attribute__((vector_size(16))) float v;
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

static void mac4_s8(s32 *acc, const s8 *a, const s8 *w, u32 k)
{
	const s8 *w0 = w, *w1 = w + k, *w2 = w + 2 * k, *w3 = w + 3 * k;
	s32 s0 = 0, s1 = 0, s2 = 0, s3 = 0;
	u32 i;

	for (i = 0; i < k; i++) {
		s0 += (s16)(a[i] * w0[i]);
		s1 += (s16)(a[i] * w1[i]);
		s2 += (s16)(a[i] * w2[i]);
		s3 += (s16)(a[i] * w3[i]);
	}
	acc[0] = s0;
	acc[1] = s1;
	acc[2] = s2;
	acc[3] = s3;
}

void npu_mac_s8(s32 *acc, u32 acc_pitch, const s8 *a, const s8 *w, u32 rows, u32 kernels, u32 k)
{
	u32 r, n;

	for (r = 0; r < rows; r++)
		for (n = 0; n < kernels; n += 4)
			mac4_s8(acc + (size_t)r * acc_pitch + n, a + (size_t)r * k,
				w + (size_t)n * k, k);
}

/* Two rows share every load of the weight. */
static void mac2_f32(struct npu_v4 *c0, struct npu_v4 *c1, const float *a0, const float *a1,
		     const struct npu_v4 *w, u32 k)
{
	struct npu_v4 s0[4] = { 0 }, s1[4] = { 0 };
	u32 i, j;

	for (i = 0; i < k; i++, w += 4) {
		float x0 = a0[i], x1 = a1[i];

		for (j = 0; j < 4; j++) {
			s0[j].v += x0 * w[j].v;
			s1[j].v += x1 * w[j].v;
		}
	}
	for (j = 0; j < 4; j++) {
		c0[j] = s0[j];
		c1[j] = s1[j];
	}
}

void npu_mac_f32(void *acc, u32 acc_pitch, const void *a, const void *w, u32 rows, u32 k)
{
	const float *av = a;
	float *c = acc;
	u32 r;

	/* An odd last row is its own partner: both get the same values. */
	for (r = 0; r < rows; r += 2) {
		u32 r1 = r + 1 < rows ? r + 1 : r;

		mac2_f32((struct npu_v4 *)(c + (size_t)r * acc_pitch),
			 (struct npu_v4 *)(c + (size_t)r1 * acc_pitch),
			 av + (size_t)r * k, av + (size_t)r1 * k, w, k);
	}
}
