// SPDX-License-Identifier: GPL-2.0-only
/* Mesa's int8 convolutions of one pixel (hw 02 §8), against the zero-point form. */
#include "test_model_rig.h"

#define A	0x10000000
#define B	0x20000000
#define C	0x30000000

static void assert_good(const struct rig *rig)
{
	assert_null(rig->report.law);
	assert_int_equal(rig->report.cls, NPU_OK);
	assert_int_equal(rig->report.tasks_done, 1);
}

/* An int8 convolution as Mesa writes it (hw 02 §8) */
struct mesa {
	u32 w, h;		/* image, and height of the whole tensor */
	u32 full_h;
	u32 c, n;		/* real channels, real kernels */
	u32 in_zero, weight_zero, out_zero;
	u32 mult, shift;
};

static void mesa_program(struct prog *p, const struct mesa *s)
{
	u32 k = (s->c + 15) & ~15u, n = (s->n + 31) & ~31u, kernels = (s->n + 1) & ~1u, i;
	s32 surf = 4 * (s32)s->w * (s32)s->full_h / 4 - 4 * (s32)s->w;
	u32 plane = 16 * s->w * s->full_h;

	p->n = 0;
	prog_add(p, CNA, 0x1040, 0x66);
	prog_add(p, CNA, 0x1104, 0);
	prog_add(p, CNA, 0x1100, 0);
	prog_add(p, CNA, 0x100c, 0);
	prog_add(p, DPU, 0x4004, 0xe);
	prog_add(p, RDMA, 0x5004, 0xe);
	prog_add(p, CNA, 0x100c, 0);
	prog_add(p, CNA, 0x1010, 16 * 52);
	prog_add(p, CNA, 0x1014, 9);
	prog_add(p, CNA, 0x1020, s->w << 16 | s->h);
	prog_add(p, CNA, 0x1024, (s->c - 1) << 16 | k);
	prog_add(p, CNA, 0x1028, s->w);
	prog_add(p, CNA, 0x102c, s->w * s->h);
	prog_add(p, CNA, 0x1030, k * kernels);
	prog_add(p, CNA, 0x1034, k);
	prog_add(p, CNA, 0x1038, 0x1010000 | kernels);
	prog_add(p, CNA, 0x1040, 0x66);
	prog_add(p, CNA, 0x1044, (s->w * k + 63) / 64);
	prog_add(p, CNA, 0x104c, 0xb);
	for (i = 0x1050; i <= 0x105c; i += 4)
		prog_add(p, CNA, i, 0x10000);
	prog_add(p, CNA, 0x1060, 0);
	prog_add(p, CNA, 0x1064, 0);
	prog_add(p, CNA, 0x1068, 0);
	prog_add(p, CNA, 0x1070, A);
	prog_add(p, CNA, 0x1074, 0);
	prog_add(p, CNA, 0x1078, 0xf000f);
	prog_add(p, CNA, 0x107c, 4 * s->w);
	prog_add(p, CNA, 0x1080, surf & 0xfffffff);
	prog_add(p, CNA, 0x1084, s->w << 16 | s->h);
	prog_add(p, CNA, 0x1088, k);
	prog_add(p, CNA, 0x1100, 0);
	prog_add(p, CNA, 0x1104, 0);
	prog_add(p, CNA, 0x1110, B);
	for (i = 0x1140; i <= 0x117c; i += 4)
		prog_add(p, CNA, i, 0);
	prog_add(p, CNA, 0x1180, 0);
	prog_add(p, CNA, 0x1184, s->in_zero - 0x80);
	prog_add(p, CORE, 0x3010, 1);
	prog_add(p, CORE, 0x3014, (s->h - 1) << 16 | (s->w - 1));
	prog_add(p, CORE, 0x3018, n - 1);
	prog_add(p, CORE, 0x301c, 0);
	prog_add(p, CORE, 0x3030, 0);
	prog_add(p, DPU, 0x400c, 0x1e4);
	prog_add(p, DPU, 0x4010, 0);
	prog_add(p, DPU, 0x4014, 0);
	prog_add(p, DPU, 0x4020, C);
	prog_add(p, DPU, 0x4024, plane);
	prog_add(p, DPU, 0x4030, s->w - 1);
	prog_add(p, DPU, 0x4034, s->h - 1);
	prog_add(p, DPU, 0x4038, 0);
	prog_add(p, DPU, 0x403c, (s->n - 1) << 16 | (n - 1));
	prog_add(p, DPU, 0x4040, 0x20150);
	prog_add(p, DPU, 0x4044, 0);
	prog_add(p, DPU, 0x4048, 0);
	prog_add(p, DPU, 0x404c, 0);
	prog_add(p, DPU, 0x4050, 0x124);
	prog_add(p, DPU, 0x4054, (0x80 - s->weight_zero) & 0xffff);
	prog_add(p, DPU, 0x4058, n - 1);
	prog_add(p, DPU, 0x405c, (s->h - 1) << 16 | (s->w - 1));
	prog_add(p, DPU, 0x4060, 0x53);
	prog_add(p, DPU, 0x4064, 0);
	prog_add(p, DPU, 0x4068, 0);
	prog_add(p, DPU, 0x406c, 0);
	prog_add(p, DPU, 0x4070, 0x383);
	prog_add(p, DPU, 0x4074, 0);
	prog_add(p, DPU, 0x4078, 1);
	prog_add(p, DPU, 0x407c, 0);
	prog_add(p, DPU, 0x4080, s->out_zero - 0x80);
	prog_add(p, DPU, 0x4084, s->mult);
	prog_add(p, DPU, 0x4088, s->shift);
	for (i = 0x4090; i <= 0x40ac; i += 4)
		prog_add(p, DPU, i, 0);
	prog_add(p, DPU, 0x40c0, 2 * plane);
	prog_add(p, DPU, 0x40c4, 0);
	for (i = 0x4100; i <= 0x412c; i += 4)
		prog_add(p, DPU, i, 0);
	prog_add(p, RDMA, 0x500c, s->w - 1);
	prog_add(p, RDMA, 0x5010, s->h - 1);
	prog_add(p, RDMA, 0x5014, n - 1);
	prog_add(p, RDMA, 0x5018, 0);
	prog_add(p, RDMA, 0x501c, 2);
	prog_add(p, RDMA, 0x5020, 0x40000000);
	prog_add(p, RDMA, 0x5028, 0);
	prog_add(p, RDMA, 0x502c, 0);
	prog_add(p, RDMA, 0x5034, 1);
	prog_add(p, RDMA, 0x5038, 0);
	prog_add(p, RDMA, 0x5040, 0);
	prog_add(p, RDMA, 0x5044, 0x7810);
	prog_add(p, RDMA, 0x5048, 0);
	prog_add(p, RDMA, 0x504c, 0);
	prog_add(p, RDMA, 0x5064, 0);
	prog_add(p, RDMA, 0x5068, 0x01010101);
	prog_add(p, RDMA, 0x506c, 0);
	assert_int_equal(p->n, 126);
}

/* Nearest, ties to even, of v * mult / 2^shift, then the offset and the clamp */
static s32 requantise(s64 v, const struct mesa *s)
{
	double x = (double)(v * (s64)s->mult) / (double)(1ull << s->shift);
	s64 q = (s64)x;

	while ((double)q > x)
		q--;
	if (x - (double)q > 0.5 || (x - (double)q == 0.5 && q % 2))
		q++;
	q += (s32)s->out_zero - 0x80;
	return q < -128 ? -128 : q > 127 ? 127 : (s32)q;
}

static void mesa_one(const struct mesa *s, u32 seed)
{
	u32 k = (s->c + 15) & ~15u, kernels = (s->n + 1) & ~1u, state = seed, pixels = s->w * s->h;
	u32 plane = s->w * s->full_h * 16, i, n, c, p;
	u8 *x = malloc(pixels * k), *w = malloc(s->n * k);
	s32 bias[256], *sent = malloc(4 * 256);
	struct rig rig;
	struct prog prog;

	rig_open(&rig);
	rig_map(&rig, 0xfff00000, 4096);
	rig_map(&rig, A, plane * (k / 16));
	memset(rig_map(&rig, B, k * kernels), s->weight_zero - 0x80, k * kernels);
	rig_map(&rig, C, plane * 2 * ((s->n + 31) / 32));
	rig_map(&rig, 0x40000000, 1024);

	/* Padding channels hold anything: their weights are the zero point. */
	for (p = 0; p < pixels; p++)
		for (c = 0; c < k; c++) {
			x[p * k + c] = rnd(&state) & 0xff;
			*rig_at(&rig, A + c / 16 * plane + p * 16 + c % 16) =
				x[p * k + c] - 0x80;
		}
	for (n = 0; n < s->n; n++)
		for (c = 0; c < k; c++) {
			u32 group = n / 32, in_group = kernels - group * 32;
			u32 width = k - c / 32 * 32;

			in_group = in_group > 32 ? 32 : in_group;
			width = width > 32 ? 32 : width;
			w[n * k + c] = c < s->c ? rnd(&state) & 0xff : s->weight_zero;
			*rig_at(&rig, B + group * 32 * k + c / 32 * 32 * in_group +
				n % 32 * width + c % 32) = w[n * k + c] - 0x80;
		}
	/* The bias of the operation and the correction for the input zero point. */
	for (n = 0; n < s->n; n++) {
		s32 sum = 0;

		bias[n] = (s32)(rnd(&state) % 20001) - 10000;
		for (c = 0; c < k; c++)
			sum += w[n * k + c] - (s32)s->weight_zero;
		sent[n] = bias[n] - sum * ((s32)s->in_zero - 0x80);
	}
	memcpy(rig_at(&rig, 0x40000000), sent, 4 * s->n);

	mesa_program(&prog, s);
	run_one(&rig, &prog, 0x1d);
	assert_good(&rig);
	assert_int_equal(rig.report.unknown_regs, 0);

	for (p = 0; p < pixels; p++)
		for (n = 0; n < s->n; n++) {
			s64 sum = bias[n];

			for (c = 0; c < s->c; c++)
				sum += (x[p * k + c] - (s32)s->in_zero) *
				       (w[n * k + c] - (s32)s->weight_zero);
			i = C + n / 16 * plane + p * 16 + n % 16;
			assert_int_equal((s8)*rig_at(&rig, i), requantise(sum, s));
		}
	free(sent);
	free(x);
	free(w);
	rig_close(&rig);
}

static void mesa_convolutions(void **state)
{
	static const struct mesa cases[] = {
		{ 8, 8, 8, 32, 32, 128, 128, 128, 0x4000, 20 },
		{ 7, 5, 5, 48, 70, 3, 117, 200, 0x5a5a, 22 },
		{ 20, 3, 12, 16, 10, 255, 0, 0, 0x7fff, 24 },
		{ 1, 1, 1, 100, 33, 77, 99, 120, 0x4321, 21 },
		{ 4, 4, 16, 272, 64, 131, 140, 100, 0x6000, 23 },
	};
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		mesa_one(&cases[i], i + 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(mesa_convolutions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
