// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where operands are read and results are written: the worked numbers of
 * hw 02 §3.5, pitches, windows, batches, and Mesa's convolution.
 */
#include "test_model_rig.h"

#define A	0x10000000
#define B	0x20000000
#define C	0x30000000

static void set_up(struct rig *rig, struct data *d, const struct job *j, u32 c_len)
{
	rig_open(rig);
	rig_map(rig, 0xfff00000, 4096);
	rig_map(rig, j->a, 1 << 20);
	rig_map(rig, j->b, b_bytes(j));
	rig_map(rig, j->c, c_len);
	data_random(d, j, j->m * 31 + j->k + j->n);
	put_weight(rig_at(rig, j->b), d, j);
}

static void tear_down(struct rig *rig, struct data *d)
{
	data_free(d);
	rig_close(rig);
}

static void assert_good(const struct rig *rig)
{
	assert_null(rig->report.law);
	assert_int_equal(rig->report.cls, NPU_OK);
	assert_int_equal(rig->report.tasks_done, 1);
}

/*
 * One nonzero element of A and one of B at the addresses the sheet works out;
 * one nonzero C where it says.
 */
static void spot(const struct prog *p, u32 a, u32 av, u32 b, u32 bv, u32 bytes, u32 c, s32 want)
{
	struct rig rig;
	u32 i;

	rig_open(&rig);
	rig_map(&rig, 0xfff00000, 4096);
	memset(rig_map(&rig, A, 0x10000), 0, 0x10000);
	memset(rig_map(&rig, B, 0x10000), 0, 0x10000);
	memset(rig_map(&rig, C, 0x10000), 0, 0x10000);
	*rig_at(&rig, a) = av & 0xff;
	*rig_at(&rig, b) = bv & 0xff;
	if (bytes == 2) {
		*rig_at(&rig, a + 1) = av >> 8;
		*rig_at(&rig, b + 1) = bv >> 8;
	}
	run_one(&rig, p, 0x0d);
	assert_good(&rig);
	assert_int_equal((s32)get_out(rig_at(&rig, c), 4), want);
	memset(rig_at(&rig, c), 0, 4);
	for (i = 0; i < 0x10000; i++)
		assert_int_equal(*rig_at(&rig, C + i), 0);
	rig_close(&rig);
}

static void worked_numbers(void **state)
{
	struct job i8 = { I8I32, 8, 128, 64, A, B, C, .v = 0xb1 };
	struct job f16 = { F16F32, 8, 64, 48, A, B, C, .v = 0xb1 };
	struct prog p;

	(void)state;
	/* A(3,100) * B(100,33): tile 1*4+3, index 1*32+4 */
	flat_program(&p, &i8);
	spot(&p, 0x100001e4, 7, B + 7 * 1024 + 36, 0xfd, 1, C + (3 * 64 + 33) * 4, -21);
	/* A(2,40) * B(40,33) at 20001428 */
	spot(&p, A + 2 * 128 + 40, 0xf9, 0x20001428, 5, 1, C + (2 * 64 + 33) * 4, -35);
	/* C(2,5) = 30000214 */
	spot(&p, A + 2 * 128, 9, B + 5 * 32, 9, 1, 0x30000214, 81);

	i8.pitch = 192;
	flat_program(&p, &i8);
	/* C(1,0) = 30000100, C(2,5) = 30000414 */
	spot(&p, A + 1 * 128, 9, B, 9, 1, 0x30000100, 81);
	spot(&p, A + 2 * 128, 9, B + 5 * 32, 9, 1, 0x30000414, 81);

	i8.pitch = 0;
	cube_program(&p, &i8);
	/* A(3,100) = 10000334; C(2,5) = 300000a4 */
	spot(&p, 0x10000334, 3, B + 3 * 1024 + 4, 4, 1, C + 16 * 3, 12);
	spot(&p, A + 16 * 2, 3, B + 5 * 32, 4, 1, 0x300000a4, 12);

	/* fp16 B(33,17): 20000c42; 2.0 * 3.0 */
	flat_program(&p, &f16);
	spot(&p, A + 128 + 66, 0x4000, 0x20000c42, 0x4200, 2, C + (48 + 17) * 4, 0x40c00000);
}

/* A(row 3, k=5) is byte 10000182, high nibble; C(row 3, n=70) is 30000e0c. */
static void worked_batch(void **state)
{
	struct job j = { I4I16, 4, 128, 128, A, B, C, .v = 0 };
	struct prog p;
	struct rig rig;
	u32 tile = 1 * 4 + 0, index = tile * 2048 + 6 * 32 + 5;

	(void)state;
	batch_program(&p, &j);
	rig_open(&rig);
	rig_map(&rig, 0xfff00000, 4096);
	memset(rig_map(&rig, A, 0x1000), 0, 0x1000);
	memset(rig_map(&rig, B, 128 * 64), 0, 128 * 64);
	rig_map(&rig, C, 4 * 4 * 2 * 128);
	*rig_at(&rig, 0x10000182) = 0x70;
	*rig_at(&rig, B + index / 2) = index & 1 ? 0x90 : 0x09;
	run_one(&rig, &p, 0x0d);
	assert_good(&rig);
	assert_int_equal((s16)get_out(rig_at(&rig, 0x30000e0c), 2), -49);
	assert_int_equal((s16)get_out(rig_at(&rig, 0x30000e0e), 2), 0);
	rig_close(&rig);
}

/* hw 02 §6.2: 2H lines of K/2 bytes, odd ones zero; every fourth slot of C counts. */
static void batches(void **state)
{
	static const u32 cases[][3] = {
		{ 2, 64, 64 }, { 16, 64, 128 }, { 3, 128, 192 }, { 11, 1536, 64 }, { 16, 1024, 128 },
		{ 22, 768, 64 }, { 8, 2048, 64 }, { 4, 4096, 64 }, { 64, 256, 64 },
	};
	u32 i, m, n;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct job j = { I4I16, cases[i][0], cases[i][1], cases[i][2], A, B, C, .v = 0 };
		struct rig rig;
		struct data d;
		struct prog p;

		set_up(&rig, &d, &j, 4 * j.m * (j.n / 64) * 128);
		memset(rig_at(&rig, A), 0, j.m * j.k);
		put_a_rows(rig_at(&rig, A), &d, &j, j.k);
		batch_program(&p, &j);
		run_one(&rig, &p, 0x0d);
		assert_good(&rig);
		for (m = 0; m < j.m; m++)
			for (n = 0; n < j.n; n++) {
				u32 at = (4 * m + 4 * j.m * (n / 64)) * 64 + n % 64;

				assert_int_equal(get_out(rig_at(&rig, C + 2 * at), 2),
						 data_out(&d, &j, m, n));
			}
		tear_down(&rig, &d);
	}
}

/* A in a matrix of wider rows, at ork's 2, 4 and 8 times the row (hw 02 §3.4) */
static void wide_a(void **state)
{
	u32 times, pair;

	(void)state;
	for (pair = 0; pair < I4I16; pair++)
		for (times = 2; times <= 8; times *= 2) {
			struct job j = { pair, 9, 96, 64, A, B, C, .mult = 0x4000, .shift = 17 };
			u32 row = j.k * pair_info[pair].bits / 8;
			struct rig rig;
			struct data d;
			struct prog p;

			if (pair != I8I8)
				j.mult = j.shift = 0;
			set_up(&rig, &d, &j, c_bytes(&j));
			put_a_rows(rig_at(&rig, A), &d, &j, row * times);
			flat_program(&p, &j);
			prog_set(&p, 0x107c, row * times / 16);
			run_one(&rig, &p, 0x0d);
			assert_good(&rig);
			check_rows(&rig, &d, &j);
			tear_down(&rig, &d);
		}
}

static void assert_untouched(struct rig *rig, u32 addr, u32 len)
{
	u32 i;

	for (i = 0; i < len; i++)
		assert_int_equal(*rig_at(rig, addr + i), 0xa5);
}

/* Both notches from the pitch: a true tile in a wider C; the gaps stay as they are. */
static void tile_in_wide_c(void **state)
{
	u32 pair;

	(void)state;
	for (pair = 0; pair < I4I16; pair++) {
		struct job j = { pair, 7, 64, 64, A, B, C, .mult = 0x4000, .shift = 16 };
		u32 ob = pair_info[pair].out_bytes, s = 192, m, n;
		struct rig rig;
		struct data d;
		struct prog p;

		if (pair != I8I8)
			j.mult = j.shift = 0;
		set_up(&rig, &d, &j, j.m * s * ob);
		put_a_rows(rig_at(&rig, A), &d, &j, j.k * pair_info[pair].bits / 8);
		flat_program(&p, &j);
		prog_set(&p, 0x4038, (s * ob / 16 - 1) * 0x10001);
		prog_set(&p, 0x403c, (s - 1) << 16 | (j.n - 1));
		run_one(&rig, &p, 0x0d);
		assert_good(&rig);
		for (m = 0; m < j.m; m++) {
			for (n = 0; n < j.n; n++)
				assert_int_equal(get_out(rig_at(&rig, C + (m * s + n) * ob), ob),
						 data_out(&d, &j, m, n));
			assert_untouched(&rig, C + (m * s + j.n) * ob, (s - j.n) * ob);
		}
		tear_down(&rig, &d);
	}
}

/* Seed 004's form: the first row has a pitch of its own. */
static void offset_stride(void **state)
{
	struct job j = { F16F32, 5, 64, 96, A, B, C, .pitch = 256 };
	struct rig rig;
	struct data d;
	struct prog p;
	u32 m;

	(void)state;
	set_up(&rig, &d, &j, c_bytes(&j));
	put_a_rows(rig_at(&rig, A), &d, &j, j.k * 2);
	flat_program(&p, &j);
	run_one(&rig, &p, 0x0d);
	assert_good(&rig);
	check_rows(&rig, &d, &j);
	for (m = 1; m + 1 < j.m; m++)
		assert_untouched(&rig, C + (j.n + (m - 1) * j.pitch + j.n) * 4,
				 (j.pitch - j.n) * 4);
	tear_down(&rig, &d);
}

/* Runs of 16 channels with gaps of 16: fp16 output with the fp32 steps */
static void fp16_gaps(void **state)
{
	struct job j = { F16F16, 6, 64, 48, A, B, C, .v = 0 };
	struct rig rig;
	struct data d;
	struct prog p;
	u32 m, n;

	(void)state;
	set_up(&rig, &d, &j, j.m * j.n * 4);
	npu_core_set_laws(rig.core, false);
	put_a_rows(rig_at(&rig, A), &d, &j, j.k * 2);
	flat_program(&p, &j);
	prog_set(&p, 0x40c0, 0x40);
	prog_set(&p, 0x4038, (j.n / 4 - 1) * 0x10001);
	run_one(&rig, &p, 0x0d);
	assert_good(&rig);
	for (m = 0; m < j.m; m++)
		for (n = 0; n < j.n; n++) {
			u32 at = C + m * j.n * 4 + n / 16 * 64 + n % 16 * 2;

			assert_int_equal(get_out(rig_at(&rig, at), 2), data_out(&d, &j, m, n));
			if (n % 16 == 0)
				assert_untouched(&rig, at + 32, 32);
		}
	tear_down(&rig, &d);
}

/*
 * The vendor's folded int8 program: M columns of one line inside a cube of T,
 * SURF T-M with line mode off or -3M with group mode when T = M (hw 02 §8).
 */
static void folded_window(void **state)
{
	static const u32 cases[][2] = { { 36, 96 }, { 20, 128 }, { 8, 8 }, { 1, 5 } };
	u32 i, m, n, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct job j = { I8I32, cases[i][0], 192, 96, A, B, C, .v = 0 };
		u32 t = cases[i][1];
		struct rig rig;
		struct data d;
		struct prog p;

		set_up(&rig, &d, &j, j.n / 4 * t * 16);
		for (m = 0; m < j.m; m++)
			for (k = 0; k < j.k; k++)
				*rig_at(&rig, A + (k / 16 * t + m) * 16 + k % 16) =
					d.a[m * j.k + k] & 0xff;
		flat_program(&p, &j);
		prog_set(&p, 0x1010, 0x20);
		prog_set(&p, 0x1020, j.m << 16 | 1);
		prog_set(&p, 0x1028, j.m);
		prog_set(&p, 0x1044, j.k / 64 * j.m);
		prog_set(&p, 0x1084, j.m << 16 | 1);
		prog_set(&p, 0x3014, j.m - 1);
		prog_set(&p, 0x4024, 16 * t);
		prog_set(&p, 0x4030, j.m - 1);
		prog_set(&p, 0x4034, 0);
		prog_set(&p, 0x4038, 0);
		prog_set(&p, 0x405c, j.m - 1);
		prog_set(&p, 0x40c0, 16 * t * 8);
		prog_set(&p, 0x1080, t - j.m);
		if (t == j.m) {
			prog_set(&p, 0x100c, 0);
			prog_set(&p, 0x107c, 4 * j.m);
			prog_set(&p, 0x1080, (0u - 3 * j.m) & 0xfffffff);
		}
		run_one(&rig, &p, 0x0d);
		assert_good(&rig);
		for (n = 0; n < j.n; n++) {
			for (m = 0; m < j.m; m++)
				assert_int_equal(get_out(rig_at(&rig, C + (n / 4 * t + m) * 16 +
								n % 4 * 4), 4),
						 data_out(&d, &j, m, n));
			assert_untouched(&rig, C + (n / 4 * t + j.m) * 16, (t - j.m) * 16);
		}
		tear_down(&rig, &d);
	}
}

/* A nonzero PAD_TOP moves every row down (hw 02 §3.1, hw 03 O10) */
static void pad_top(void **state)
{
	struct job j = { I8I32, 9, 64, 64, A, B, C, .v = 0 };
	struct rig rig;
	struct data d;
	struct prog p;
	u32 m, n;

	(void)state;
	set_up(&rig, &d, &j, c_bytes(&j));
	put_a_rows(rig_at(&rig, A), &d, &j, j.k);
	flat_program(&p, &j);
	prog_set(&p, 0x1068, 2);
	run_one(&rig, &p, 0x0d);
	assert_good(&rig);
	for (m = 0; m < j.m; m++)
		for (n = 0; n < j.n; n++)
			assert_int_equal(get_out(rig_at(&rig, C + (m * j.n + n) * 4), 4),
					 m < 2 ? 0 : data_out(&d, &j, m - 2, n));
	tear_down(&rig, &d);
}

/* Int4 with fewer atoms than a group fills: 16 or 32 of 64 columns (hw 02 §3.5) */
static void int4_part_of_group(void **state)
{
	u32 s, n;

	(void)state;
	for (s = 2; s <= 4; s += 2) {
		struct job j = { I4I16, 1, 128, 128, A, B, C, .v = 0 };
		struct rig rig;
		struct data d;
		struct prog p;

		set_up(&rig, &d, &j, j.n * 2);
		npu_core_set_laws(rig.core, false);
		put_a_rows(rig_at(&rig, A), &d, &j, j.k / 2);
		flat_program(&p, &j);
		prog_set(&p, 0x4050, (s - 1) * 0x124 | 2);
		run_one(&rig, &p, 0x0d);
		assert_int_equal(rig.report.cls, NPU_WRONG);
		for (n = 0; n < j.n; n++) {
			if (n % 64 < s * 8)
				assert_int_equal(get_out(rig_at(&rig, C + n * 2), 2),
						 data_out(&d, &j, 0, n));
			else
				assert_untouched(&rig, C + n * 2, 2);
		}
		tear_down(&rig, &d);
	}
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
		cmocka_unit_test(worked_numbers),
		cmocka_unit_test(worked_batch),
		cmocka_unit_test(batches),
		cmocka_unit_test(wide_a),
		cmocka_unit_test(tile_in_wide_c),
		cmocka_unit_test(offset_stride),
		cmocka_unit_test(fp16_gaps),
		cmocka_unit_test(folded_window),
		cmocka_unit_test(pad_top),
		cmocka_unit_test(int4_part_of_group),
		cmocka_unit_test(mesa_convolutions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
