// SPDX-License-Identifier: GPL-2.0-only
/*
 * Broken laws of hw 02 §5 and hw 03 §1: the class a strict core names, and the
 * bad end a loose one comes to.
 */
#include "test_model_rig.h"

#define A	0x10000000
#define B	0x20000000
#define C	0x30000000

struct world {
	struct rig rig;
	struct job j;
	struct data d;
	struct prog p;
	u32 c_len;
};

static void world_open(struct world *w, const struct job *j)
{
	w->j = *j;
	w->c_len = c_bytes(j) * 2;
	rig_open(&w->rig);
	rig_map(&w->rig, 0xfff00000, 4096);
	rig_map(&w->rig, A, a_bytes(j));
	rig_map(&w->rig, B, b_bytes(j));
	rig_map(&w->rig, C, w->c_len);
	data_random(&w->d, j, j->k + j->n);
	put_a_rows(rig_at(&w->rig, A), &w->d, j, j->k * pair_info[j->pair].bits / 8);
	put_weight(rig_at(&w->rig, B), &w->d, j);
	flat_program(&w->p, j);
}

static void world_close(struct world *w)
{
	data_free(&w->d);
	rig_close(&w->rig);
}

static void run(struct world *w, bool strict, u32 start)
{
	struct prog p = w->p;

	npu_core_reset(w->rig.core);
	npu_core_set_laws(w->rig.core, strict);
	memset(rig_at(&w->rig, C), 0xa5, w->c_len);
	prog_tail(&p, 0, 0, start);
	prog_store(&w->rig, 0xfff00000, &p);
	rig_kick(&w->rig, 0xfff00000, prog_amount(w->p.n), 1, false);
}

static bool right(struct world *w, u32 m, u32 n)
{
	u32 ob = pair_info[w->j.pair].out_bytes;
	u32 got = get_out(rig_at(&w->rig, C + (m * w->j.n + n) * ob), ob);

	return got == data_out(&w->d, &w->j, m, n);
}

static u32 count_right(struct world *w)
{
	u32 m, n, count = 0;

	for (m = 0; m < w->j.m; m++)
		for (n = 0; n < w->j.n; n++)
			count += right(w, m, n);
	return count;
}

static bool all_bytes(struct world *w, u32 len, u8 byte)
{
	u32 i;

	for (i = 0; i < len; i++)
		if (*rig_at(&w->rig, C + i) != byte)
			return false;
	return true;
}

/* A refused task: law and class reported, nothing written, no end. */
static void refused(struct world *w, u32 start, enum npu_class cls)
{
	run(w, true, start);
	if (w->rig.report.cls != cls)
		print_error("%s instead of %s: %s\n", npu_class_name(w->rig.report.cls),
			    npu_class_name(cls), w->rig.report.law);
	assert_int_equal(w->rig.report.cls, cls);
	assert_non_null(w->rig.report.law);
	assert_non_null(strstr(w->rig.report.law, "hw 0"));
	assert_int_equal(w->rig.report.tasks_done, 0);
	assert_true(all_bytes(w, w->c_len, 0xa5));
	assert_int_equal(npu_core_read(w->rig.core, 0x2c) & 0x1ffff, 0);
}

static void breach(struct world *w, u32 start, enum npu_class cls)
{
	u32 len = c_bytes(&w->j), ob = pair_info[w->j.pair].out_bytes;
	u8 *first;

	refused(w, start, cls);
	run(w, false, start);
	assert_int_equal(w->rig.report.cls, cls);
	assert_non_null(w->rig.report.law);
	if (cls == NPU_HANG_0) {
		assert_int_equal(w->rig.report.tasks_done, 0);
		assert_true(all_bytes(w, w->c_len, 0xa5));
		assert_int_equal(npu_core_read(w->rig.core, 0x2c) & 0x1ffff, 0);
		return;
	}
	assert_int_equal(w->rig.report.tasks_done, 1);
	assert_int_equal(npu_core_read(w->rig.core, 0x28), 0x100);
	if (cls == NPU_ZERO) {
		assert_true(all_bytes(w, len, 0));
		return;
	}
	/* One byte may be right by chance. */
	assert_true(count_right(w) < w->j.m * w->j.n * (ob == 1 ? 0.2 : 0.9));
	/* The same wrong numbers every time. */
	first = malloc(len);
	memcpy(first, rig_at(&w->rig, C), len);
	run(w, false, start);
	assert_memory_equal(first, rig_at(&w->rig, C), len);
	free(first);
}

struct law_case {
	struct job j;
	u32 offset, value;
	enum npu_class cls;
	u32 start;
};

#define JOB(p, m, k, n, v)	{ p, m, k, n, A, B, C, v, 0, 0, 0, 0 }
/* int8 output that leaves the sums as they are, but for the clamp */
#define JOB8(m, k, n, v)	{ I8I8, m, k, n, A, B, C, v, 0, 0x4000, 14, 0 }

static const struct law_case cases[] = {
	/* Banks (hw 02 §5.2) */
	{ JOB(I8I32, 1, 64, 64, 0xb1), 0x1040, 0x0b, NPU_HANG_0, 0x0d },
	{ JOB(F16F32, 8, 64, 64, 0xb1), 0x1040, 0x01, NPU_HANG_0, 0x0d },
	{ JOB(I8I32, 1, 64, 64, 0xb1), 0x1040, 0xbc, NPU_ZERO, 0x0d },
	{ JOB(F16F32, 1, 64, 64, 0xb1), 0x1040, 0xbe, NPU_ZERO, 0x0d },
	{ JOB(F16F32, 8, 64, 64, 0xb1), 0x1040, 0xbe, NPU_WRONG, 0x0d },
	{ JOB(I8I32, 8, 64, 64, 0xb1), 0x1040, 0xbd, NPU_WRONG, 0x0d },
	{ JOB(I8I32, 8, 64, 64, 0xb1), 0x1040, 0xb0, NPU_WRONG, 0x0d },
	{ JOB(I8I32, 8, 64, 64, 0xb1), 0x1040, 0x1b1, NPU_WRONG, 0x0d },
	{ JOB(I8I32, 130, 2048, 32, 0x39), 0x1040, 0x1b, NPU_WRONG, 0x0d },
	{ JOB(F16F32, 144, 1024, 16, 0x29), 0x1040, 0x1b, NPU_HANG_0, 0x0d },
	{ JOB(F16F32, 144, 1024, 32, 0x29), 0x1040, 0x1b, NPU_HANG_0, 0x0d },
	{ JOB(I4I16, 1, 64, 64, 0xb1), 0x1040, 0x10b1, NPU_WRONG, 0x0d },
	{ JOB(I8I32, 4, 64, 64, 0xb1), 0x1040, 0x10b1, NPU_WRONG, 0x0d },
	{ JOB(F16F32, 4, 64, 64, 0xb1), 0x1040, 0x20b1, NPU_WRONG, 0x0d },
	/* Shapes (hw 02 §5.3) */
	{ JOB(I8I32, 1, 10784, 32, 0xb1), 0x1010, 0x20, NPU_HANG_0, 0x0d },
	{ JOB(F16F32, 1, 11008, 16, 0xb1), 0x1010, 0x20, NPU_HANG_0, 0x0d },
	{ JOB(I8I32, 1, 32, 8224, 0xb1), 0x1010, 0x20, NPU_WRONG, 0x0d },
	{ JOB(F16F32, 1, 48, 32, 0xb1), 0x1010, 0x20, NPU_WRONG, 0x0d },
	/* Types */
	{ JOB(I8I32, 4, 64, 64, 0xb1), 0x3010, 0x201, NPU_HANG_0, 0x0d },
	{ JOB(F16F32, 4, 64, 64, 0xb1), 0x100c, 0x20000100, NPU_HANG_0, 0x0d },
	{ JOB(I8I32, 4, 64, 64, 0xb1), 0x4010, 0x40000000, NPU_HANG_0, 0x0d },
	/* Output stage (hw 02 §5.5, hw 03 §1.3) */
	{ JOB(I8I32, 4, 64, 64, 0xb1), 0x405c, 0x30001, NPU_HANG_0, 0x0d },
	{ JOB(I8I32, 4, 64, 64, 0xb1), 0x405c, 0x40000, NPU_HANG_0, 0x0d },
	{ JOB(F16F16, 4, 64, 64, 0xb1), 0x4084, 1, NPU_ZERO, 0x0d },
	{ JOB(F16F16, 4, 64, 64, 0xb1), 0x4040, 0x20150, NPU_HANG_0, 0x0d },
	{ JOB(F16F16, 4, 64, 64, 0xb1), 0x4050, 2, NPU_HANG_0, 0x0d },
	{ JOB(I8I32, 4, 64, 64, 0xb1), 0x4010, 0x20000000, NPU_HANG_0, 0x0d },
	{ JOB8(4, 64, 64, 0xb1), 0x4050, 0x7fc, NPU_HANG_0, 0x0d },
	{ JOB(I8I32, 4, 64, 64, 0xb1), 0x4040, 0x20150, NPU_HANG_0, 0x0d },
	{ JOB(I8I32, 4, 64, 64, 0xb1), 0x4070, 0x380, NPU_HANG_0, 0x0d },
	{ JOB(I8I32, 4, 64, 64, 0xb1), 0x4050, 0x7fd, NPU_HANG_0, 0x0d },
	{ JOB(I8I32, 4, 64, 64, 0xb1), 0x400c, 0x1e5, NPU_HANG_0, 0x0d },
	{ JOB(I8I32, 4, 64, 64, 0xb1), 0x400c, 0x1e2, NPU_HANG_0, 0x0d },
	{ JOB(I8I32, 4, 64, 64, 0xb1), 0x1010, 0x20, NPU_HANG_0, 0x1d },
	{ JOB(F16F16, 4, 64, 64, 0xb1), 0x4080, 5, NPU_HANG_0, 0x0d },
	{ JOB(F16F16, 4, 64, 64, 0xb1), 0x4060, 0x20040, NPU_HANG_0, 0x0d },
	{ JOB(F16F32, 4, 64, 64, 0xb1), 0x4088, 3, NPU_HANG_0, 0x0d },
	{ JOB(F16F16, 4, 64, 64, 0xb1), 0x4070, 0x302, NPU_HANG_0, 0x0d },
	{ JOB(I8I32, 4, 64, 64, 0xb1), 0x4070, 0x302, NPU_HANG_0, 0x0d },
	/* Not a matmul, or blocks that wait for each other */
	{ JOB(I8I32, 4, 64, 64, 0xb1), 0x1014, 0x12, NPU_HANG_0, 0x0d },
	{ JOB(I8I32, 4, 64, 64, 0xb1), 0x1038, 0x3030040, NPU_HANG_0, 0x0d },
	{ JOB(I8I32, 4, 64, 64, 0xb1), 0x100c, 0x20000003, NPU_HANG_0, 0x0d },
	{ JOB(I8I32, 4, 64, 64, 0xb1), 0x3014, 0x40000, NPU_HANG_0, 0x0d },
	{ JOB(I8I32, 4, 64, 64, 0xb1), 0x4034, 2, NPU_HANG_0, 0x0d },
	{ JOB(I8I32, 4, 64, 64, 0xb1), 0x1020, 0x10005, NPU_HANG_0, 0x0d },
	{ JOB(I8I32, 4, 64, 64, 0xb1), 0x1024, 0, NPU_HANG_0, 0x0d },
};

static void each_law(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct world w;

		world_open(&w, &cases[i].j);
		prog_set(&w.p, cases[i].offset, cases[i].value);
		breach(&w, cases[i].start, cases[i].cls);
		world_close(&w);
	}
}

/* What a strict core refuses, but a loose one computes as written. */
static const struct law_case doubtful[] = {
	{ JOB(I8I32, 4, 64, 32, 0xb1), 0x1030, 64, NPU_WRONG, 0x0d },
	{ JOB(I8I32, 4, 64, 64, 0xb1), 0x1034, 128, NPU_WRONG, 0x0d },
	{ JOB(I8I32, 4, 64, 64, 0xb1), 0x1084, 0x10003, NPU_WRONG, 0x0d },
	{ JOB(I8I32, 4, 128, 64, 0xb1), 0x1044, 1, NPU_WRONG, 0x0d },
	{ JOB(I8I32, 4, 64, 64, 0xb1), 0x1088, 32, NPU_WRONG, 0x0d },
	{ JOB(I8I32, 4, 64, 64, 0xb1), 0x4058, 31, NPU_WRONG, 0x0d },
};

static void strict_only(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(doubtful); i++) {
		struct world w;

		world_open(&w, &doubtful[i].j);
		prog_set(&w.p, doubtful[i].offset, doubtful[i].value);
		refused(&w, 0x0d, doubtful[i].cls);
		run(&w, false, 0x0d);
		assert_int_equal(w.rig.report.cls, NPU_OK);
		check_rows(&w.rig, &w.d, &w.j);
		world_close(&w);
	}
}

/* Values next to the edges of the laws */
static const struct law_case fine[] = {
	{ JOB(I8I32, 1, 10752, 32, 0xb1), 0x1010, 0x20, NPU_OK, 0x0d },
	{ JOB(I4I16, 1, 10752, 64, 0xb1), 0x1010, 0x20, NPU_OK, 0x0d },
	{ JOB(F16F32, 1, 10752, 16, 0xb1), 0x1010, 0x20, NPU_OK, 0x0d },
	{ JOB(I8I32, 1, 32, 8192, 0xb1), 0x1010, 0x20, NPU_OK, 0x0d },
	{ JOB(F16F32, 144, 1024, 64, 0x1b), 0x1010, 0x20, NPU_OK, 0x0d },
	{ JOB(F16F32, 352, 512, 16, 0x1b), 0x1010, 0x20, NPU_OK, 0x0d },
	{ JOB(I8I32, 32, 1024, 32, 0xb1), 0x1010, 0x3ff0, NPU_OK, 0x0d },
	{ JOB(I8I32, 4, 64, 64, 0xba), 0x1010, 0, NPU_OK, 0x0d },
	{ JOB(I8I32, 4, 64, 64, 0xb8), 0x1078, 0, NPU_OK, 0x0d },
	{ JOB8(4, 64, 64, 0xb1), 0x1010, 0x20, NPU_OK, 0x0d },
};

static void edges(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(fine); i++) {
		struct world w;

		world_open(&w, &fine[i].j);
		prog_set(&w.p, fine[i].offset, fine[i].value);
		run(&w, true, 0x0d);
		assert_null(w.rig.report.law);
		assert_int_equal(w.rig.report.cls, NPU_OK);
		check_rows(&w.rig, &w.d, &w.j);
		world_close(&w);
	}
}

/* Rows that the data banks hold are right, those behind are not (G7, G8). */
static void rows(void **state)
{
	static const struct {
		struct job j;
		u32 v, fit;
	} jobs[] = {
		{ JOB(I8I32, 40, 1024, 32, 0xa2), 0xb1, 32 },
		{ JOB(F16F32, 30, 640, 16, 0xa2), 0xb1, 25 },
		{ JOB(F16F32, 370, 256, 16, 0x66), 0x75, 320 },
	};
	u32 i, m, n;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(jobs); i++) {
		struct world w;

		world_open(&w, &jobs[i].j);
		prog_set(&w.p, 0x1040, jobs[i].v);
		refused(&w, 0x0d, NPU_ROWS);
		run(&w, false, 0x0d);
		assert_int_equal(w.rig.report.cls, NPU_ROWS);
		assert_int_equal(w.rig.report.tasks_done, 1);
		for (m = 0; m < w.j.m; m++) {
			u32 good = 0;

			for (n = 0; n < w.j.n; n++)
				good += right(&w, m, n);
			assert_true(m < jobs[i].fit ? good == w.j.n : good < w.j.n / 2);
		}
		world_close(&w);
	}
}

/* The fp16 K=128 column of hw 02 §5.2, measured at 256, 320, 384, 448, 512 rows */
static void not_monotonic(void **state)
{
	static const struct {
		u32 m, v;
		bool good;
	} points[] = {
		{ 256, 0xa3, true }, { 320, 0x9c, false }, { 384, 0x95, true },
		{ 448, 0x8e, false }, { 512, 0x87, true },
	};
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(points); i++) {
		struct job j = JOB(F16F32, points[i].m, 128, 16, points[i].v);
		struct world w;

		world_open(&w, &j);
		run(&w, false, 0x0d);
		assert_int_equal(w.rig.report.cls == NPU_OK, points[i].good);
		assert_int_equal(count_right(&w) == j.m * j.n, points[i].good);
		world_close(&w);
	}
}

/* One int4 line in four has to fit, in 64-byte units (hw 02 §6.3) */
static void batch_height(void **state)
{
	static const u32 tops[][2] = {
		{ 256, 64 }, { 512, 32 }, { 768, 22 }, { 1024, 16 }, { 1536, 11 }, { 2048, 8 },
		{ 2560, 7 }, { 5120, 3 }, { 6144, 3 }, { 8192, 2 },
	};
	u32 i, over;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(tops); i++)
		for (over = 0; over < 2; over++) {
			struct job j = JOB(I4I16, 0, 0, 64, 0xb1);
			struct world w;

			j.k = tops[i][0];
			j.m = tops[i][1] + over;
			w.j = j;
			w.c_len = 4 * j.m * 128;
			rig_open(&w.rig);
			rig_map(&w.rig, 0xfff00000, 4096);
			rig_map(&w.rig, A, j.m * j.k + 64);
			rig_map(&w.rig, B, b_bytes(&j));
			rig_map(&w.rig, C, w.c_len);
			batch_program(&w.p, &j);
			run(&w, true, 0x0d);
			assert_int_equal(w.rig.report.cls, over ? NPU_ROWS : NPU_OK);
			rig_close(&w.rig);
		}
}

/* Later int8 output sets: int16 completes with SIZE_E 3 only (hw 03 O1, O2) */
static void int16_output(void **state)
{
	static const u32 dead[] = { 0x000, 0x248, 0x7fc };
	struct job j = JOB(I8I32, 5, 512, 64, 0xb1);
	struct world w;
	u32 i, n;

	(void)state;
	world_open(&w, &j);
	prog_set(&w.p, 0x4010, 0x20000000);
	prog_set(&w.p, 0x4038, (j.n / 8 - 1) * 0x10001);
	for (i = 0; i < ARRAY_SIZE(dead); i++) {
		prog_set(&w.p, 0x4050, dead[i]);
		prog_set(&w.p, 0x40c0, ((dead[i] >> 2 & 7) + 1) * 16);
		breach(&w, 0x0d, NPU_HANG_0);
	}
	prog_set(&w.p, 0x4050, 0x36e);
	prog_set(&w.p, 0x40c0, 0x40);
	run(&w, true, 0x0d);
	assert_int_equal(w.rig.report.cls, NPU_OK);
	for (i = 0; i < j.m; i++)
		for (n = 0; n < j.n; n++) {
			s64 v = w.d.c[i * j.n + n];

			v = v > 32767 ? 32767 : v < -32768 ? -32768 : v;
			assert_int_equal((s16)get_out(rig_at(&w.rig, C + (i * j.n + n) * 2), 2), v);
		}
	world_close(&w);
}

/* atom-8 as hw 02 §5.5 has it: W = M, 4050 = 2, steps of 16 M */
static void fp16_atom8(void **state)
{
	struct job j = JOB(F16F16, 8, 64, 64, 0xb1);
	struct world w;

	(void)state;
	world_open(&w, &j);
	prog_set(&w.p, 0x1020, j.m << 16 | 1);
	prog_set(&w.p, 0x1084, j.m << 16 | 1);
	prog_set(&w.p, 0x1028, j.m);
	prog_set(&w.p, 0x3014, j.m - 1);
	prog_set(&w.p, 0x4024, 16 * j.m);
	prog_set(&w.p, 0x4030, j.m - 1);
	prog_set(&w.p, 0x4034, 0);
	prog_set(&w.p, 0x4038, 0);
	prog_set(&w.p, 0x4050, 2);
	prog_set(&w.p, 0x405c, j.m - 1);
	prog_set(&w.p, 0x40c0, 16 * j.m);
	breach(&w, 0x0d, NPU_HANG_0);
	world_close(&w);
}

static void surface_add(void **state)
{
	struct job j = JOB(F16F16, 2, 64, 64, 0xb1);
	struct world w;

	(void)state;
	world_open(&w, &j);
	prog_set(&w.p, 0x40c0, 0x40);
	refused(&w, 0x0d, NPU_WRONG);
	/* An address there is a step: the second kernel group goes wild (O8). */
	prog_set(&w.p, 0x40c0, C);
	run(&w, false, 0x0d);
	assert_int_equal(w.rig.report.cls, NPU_FAULT);
	assert_true(w.rig.report.fault_write);
	assert_int_equal(w.rig.report.fault_addr, C + C);
	world_close(&w);
}

/* Values past their fields read as smaller ones. */
static void field_width(void **state)
{
	struct job j = JOB(I8I32, 3, 64, 64, 0xb1);
	struct world w;

	(void)state;
	world_open(&w, &j);
	prog_set(&w.p, 0x1020, 0x10803);
	refused(&w, 0x0d, NPU_WRONG);
	run(&w, false, 0x0d);
	assert_int_equal(w.rig.report.cls, NPU_WRONG);
	check_rows(&w.rig, &w.d, &w.j);
	world_close(&w);
}

static void narrow_quirk(void **state)
{
	struct job j = JOB8(4, 256, 64, 0xb1);
	struct world w;

	(void)state;
	j.shift = 22;
	world_open(&w, &j);
	npu_core_set_quirks(w.rig.core, NPU_QUIRK_NARROW_K);
	breach(&w, 0x0d, NPU_WRONG);
	npu_core_set_quirks(w.rig.core, 0);
	run(&w, true, 0x0d);
	assert_int_equal(w.rig.report.cls, NPU_OK);
	check_rows(&w.rig, &w.d, &w.j);
	world_close(&w);
}

/* Two kicks without a reset between them; the second one reuses. */
static void again(struct world *w, u32 cbuf)
{
	struct prog p = w->p;

	prog_set(&p, 0x1040, cbuf);
	prog_tail(&p, 0, 0, 0x0d);
	prog_store(&w->rig, 0xfff00000, &p);
	memset(rig_at(&w->rig, C), 0xa5, w->c_len);
	rig_kick(&w->rig, 0xfff00000, 55, 1, false);
}

static void weight_reuse(void **state)
{
	static const enum pair pairs[] = { I8I32, F16F32, I4I16 };
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(pairs); i++) {
		struct job j = JOB(pairs[i], 1, 512, 256, 0xb1);
		struct world w;

		world_open(&w, &j);
		run(&w, true, 0x0d);
		/* Contained bytes only: B is not there any more. */
		rig_unmap(&w.rig, B);
		again(&w, 0x20b1);
		assert_int_equal(w.rig.report.cls, NPU_OK);
		check_rows(&w.rig, &w.d, &w.j);
		/* Another weight's address */
		npu_core_set_laws(w.rig.core, false);
		prog_set(&w.p, 0x1110, B + 4096);
		again(&w, 0x20b1);
		assert_int_equal(w.rig.report.cls, NPU_WRONG);
		check_rows(&w.rig, &w.d, &w.j);
		/* Nothing survives a reset. */
		npu_core_reset(w.rig.core);
		again(&w, 0x20b1);
		assert_int_equal(w.rig.report.cls, NPU_WRONG);
		assert_true(all_bytes(&w, c_bytes(&j), 0));
		world_close(&w);
	}
}

/* Only the last cap/need part of the columns is right (S13). */
static void weight_reuse_over(void **state)
{
	struct job j = JOB(I8I32, 4, 1024, 512, 0xb1);
	u32 first_good = 512 - 11 * 32768 / 1024, n;
	struct world w;

	(void)state;
	world_open(&w, &j);
	run(&w, false, 0x0d);
	assert_int_equal(w.rig.report.cls, NPU_OK);
	again(&w, 0x20b1);
	assert_int_equal(w.rig.report.cls, NPU_WRONG);
	assert_non_null(strstr(w.rig.report.law, "S13"));
	assert_int_equal(w.rig.report.tasks_done, 1);
	for (n = 0; n < j.n; n++)
		assert_int_equal(right(&w, 0, n) && right(&w, 1, n) && right(&w, 2, n),
				 n >= first_good);
	npu_core_set_laws(w.rig.core, true);
	again(&w, 0x20b1);
	assert_int_equal(w.rig.report.cls, NPU_WRONG);
	assert_int_equal(w.rig.report.tasks_done, 0);
	world_close(&w);
}

/* fp16 column tiles that find A in CBUF (hw 02 §6.5) */
static void data_reuse(void **state)
{
	struct job j = JOB(F16F32, 6, 128, 32, 0xb1);
	struct world w;

	(void)state;
	world_open(&w, &j);
	run(&w, true, 0x0d);
	rig_unmap(&w.rig, A);
	again(&w, 0x10b1);
	assert_int_equal(w.rig.report.cls, NPU_OK);
	check_rows(&w.rig, &w.d, &w.j);
	again(&w, 0xb1);
	assert_int_equal(w.rig.report.cls, NPU_FAULT);
	assert_int_equal(w.rig.report.fault_addr, A);
	world_close(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_law),
		cmocka_unit_test(strict_only),
		cmocka_unit_test(edges),
		cmocka_unit_test(rows),
		cmocka_unit_test(not_monotonic),
		cmocka_unit_test(batch_height),
		cmocka_unit_test(int16_output),
		cmocka_unit_test(fp16_atom8),
		cmocka_unit_test(surface_add),
		cmocka_unit_test(field_width),
		cmocka_unit_test(narrow_quirk),
		cmocka_unit_test(weight_reuse),
		cmocka_unit_test(weight_reuse_over),
		cmocka_unit_test(data_reuse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
