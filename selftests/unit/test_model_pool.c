// SPDX-License-Identifier: GPL-2.0-only
/* Pooling tasks of hw 04 §5 against plain loops. */
#include <math.h>

#include "test_model_cube.h"

static double value(const struct pool *p, s32 v)
{
	return p->s.type == F16 ? half_to_float((u16)v) : v;
}

/* The plain window: padding is 0 for averages and never wins otherwise. */
static double pooled(const struct pool *p, const s32 *v, u32 x, u32 y, u32 n)
{
	double best = p->method == 1 ? -1e9 : 1e9, sum = 0;
	u32 i, k;

	for (k = 0; k < p->kh; k++)
		for (i = 0; i < p->kw; i++) {
			s32 px = (s32)(x * p->sw + i) - (s32)p->left;
			s32 py = (s32)(y * p->sh + k) - (s32)p->top;
			double a;

			if (px < 0 || py < 0 || px >= (s32)p->s.w || py >= (s32)p->s.h)
				continue;
			a = value(p, v[((u32)py * p->s.w + (u32)px) * p->s.n + n]);
			sum += a;
			best = p->method == 1 ? fmax(best, a) : fmin(best, a);
		}
	return p->method ? best : sum / (p->kw * p->kh);
}

static const struct pool pools[] = {
	{ { F16, 8, 8, 16 }, 1, 2, 2, 2, 2, 0, 0, 0, 0 },
	{ { F16, 7, 5, 24 }, 1, 3, 3, 2, 2, 1, 1, 1, 1 },
	{ { F16, 9, 4, 8 }, 2, 3, 2, 1, 1, 0, 0, 2, 1 },
	{ { F16, 150, 3, 8 }, 1, 5, 3, 1, 1, 4, 0, 0, 2 },
	{ { F16, 20, 17, 8 }, 1, 16, 16, 3, 1, 0, 0, 0, 0 },
	{ { F16, 8, 8, 16 }, 0, 2, 2, 2, 2, 0, 0, 0, 0 },
	{ { F16, 11, 6, 8 }, 0, 3, 4, 1, 2, 1, 2, 1, 1 },
	{ { F16, 13, 2, 8 }, 0, 7, 1, 3, 1, 0, 0, 0, 0 },
	{ { I8, 6, 6, 32 }, 1, 2, 3, 2, 1, 0, 0, 0, 0 },
	{ { I8, 70, 5, 16 }, 2, 3, 3, 1, 2, 1, 1, 1, 1 },
	{ { I8, 9, 9, 48 }, 0, 3, 3, 3, 3, 0, 0, 0, 0 },
	{ { I8, 5, 5, 16 }, 0, 5, 5, 1, 1, 2, 2, 2, 2 },
	{ { I16, 5, 7, 8 }, 1, 4, 2, 1, 2, 0, 0, 0, 0 },
	{ { I16, 12, 4, 16 }, 0, 4, 4, 4, 4, 0, 0, 0, 0 },
	{ { F16, 1, 1, 8 }, 1, 1, 1, 1, 1, 0, 0, 0, 0 },
};

static void open_rig(struct rig *rig, const struct pool *p, s32 *v, u32 seed)
{
	rig_open(rig);
	rig_map(rig, IMAGE, 0x4000);
	rig_map(rig, SRC, shape_bytes(&p->s));
	rig_map(rig, DST, pool_w(p) * pool_h(p) * p->s.n * 2 + 16);
	cube_random(v, &p->s, seed);
	cube_put(rig_at(rig, SRC), v, &p->s);
}

/*
 * Maximum and minimum are exact. Averages: half a unit for the rounding and,
 * for the two rounded reciprocals, 2^-15 each for integers and 2^-11 for fp16.
 */
static void plain(void **state)
{
	u32 i, x, y, n;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(pools); i++) {
		const struct pool *p = &pools[i];
		const struct shape out = { p->s.type, pool_w(p), pool_h(p), p->s.n };
		s32 *v = malloc(4 * shape_values(&p->s));
		struct rig rig;
		struct prog q;

		open_rig(&rig, p, v, i);
		pool_program(&q, p);
		run_good(&rig, &q, 0x60);
		/* No DPU runs: its bits stay clear, and the mask of a matmul hides the end. */
		assert_int_equal(npu_core_read(rig.core, 0x2c) & 0x1ffff, 0x400);
		assert_false(npu_core_irq(rig.core));
		for (y = 0; y < out.h; y++)
			for (x = 0; x < out.w; x++)
				for (n = 0; n < out.n; n++) {
					s32 bits = cube_get(rig_at(&rig, DST), &out,
							    y * out.w + x, n);
					double got = value(p, bits), want = pooled(p, v, x, y, n);
					double tol = 0;

					if (!p->method && p->s.type == F16)
						tol = fabs(want) * 3 / 2048 + 1e-3;
					else if (!p->method)
						tol = 0.5 + fabs(want) / 16384;
					assert_true(fabs(got - want) <= tol);
				}
		assert_int_equal(*rig_at(&rig, DST + shape_bytes(&out)), 0xa5);
		free(v);
		rig_close(&rig);
	}
}

/* A NaN in the window, infinities, an average that overflows */
static void specials(void **state)
{
	const struct pool p = { { F16, 4, 2, 8 }, 1, 2, 2, 2, 2, 0, 0, 0, 0 };
	const struct shape out = { F16, 2, 1, 8 };
	static const u16 in[8][4] = {
		{ 0x7e00, 0x3c00, 0x3c00, 0x3c00 }, { 0x3c00, 0x3c00, 0x3c00, 0xfe01 },
		{ 0x7c00, 0x3c00, 0x3c00, 0x3c00 }, { 0xfc00, 0xfc00, 0xfc00, 0xfc00 },
		{ 0x8000, 0x8000, 0x0000, 0x8000 }, { 0x8001, 0x0001, 0x0000, 0x8000 },
		{ 0x7bff, 0x7bff, 0x7bff, 0x7bff }, { 0x7c00, 0xfc00, 0x0000, 0x0000 },
	};
	static const u16 want[3][8] = {
		{ 0x7e00, 0x7e00, 0x7c00, 0xfc00, 0x8000, 0x0000, 0x7bff, 0x7e00 },
		{ 0x7e00, 0x7e00, 0x7c00, 0xfc00, 0x0000, 0x0001, 0x7bff, 0x7c00 },
		{ 0x7e00, 0x7e00, 0x3c00, 0xfc00, 0x8000, 0x8001, 0x7bff, 0xfc00 },
	};
	u32 method, n, i;
	s32 v[64] = { 0 };

	(void)state;
	for (method = 0; method < 3; method++) {
		struct pool q = p;
		struct rig rig;
		struct prog prog;

		q.method = method;
		open_rig(&rig, &q, v, 1);
		for (n = 0; n < 8; n++)
			for (i = 0; i < 4; i++)
				v[(i / 2 * 4 + i % 2) * 8 + n] = in[n][i];
		cube_put(rig_at(&rig, SRC), v, &q.s);
		pool_program(&prog, &q);
		run_good(&rig, &prog, 0x60);
		for (n = 0; n < 8; n++) {
			s32 got = cube_get(rig_at(&rig, DST), &out, 0, n);

			/* The mean of three -0 and a +0 is +0: a sum of both is +0. */
			if (!method && n == 4)
				assert_int_equal(got, 0);
			else
				assert_int_equal(got, want[method][n]);
		}
		rig_close(&rig);
	}
}

/* A DPU task, two poolings, a DPU task: groups by block, one interrupt at the end */
static void chain(void **state)
{
	const struct pool p = { { F16, 8, 6, 16 }, 1, 2, 2, 2, 2, 0, 0, 0, 0 };
	const struct shape out = { F16, 4, 3, 16 };
	struct link *l = calloc(4, sizeof(*l));
	s32 v[768];
	struct rig rig;
	u32 order, m, n;

	(void)state;
	for (order = 0; order < 2; order++) {
		open_rig(&rig, &p, v, 3);
		rig_map(&rig, SRC2, 0x1000);
		rig_map(&rig, VEC, 0x1000);
		/* Negated copy, its maximum, the minimum of the source, the sum of both */
		dpu_program(&l[0].p, &p.s);
		prog_set(&l[0].p, 0x4070, 0x10860380);
		prog_set(&l[0].p, 0x4020, SRC2);
		l[0].start = 0x18;
		pool_program(&l[1].p, &p);
		prog_set(&l[1].p, 0x701c, SRC2);
		prog_set(&l[1].p, 0x6070, VEC);
		l[1].start = 0x60;
		pool_program(&l[2].p, &p);
		prog_set(&l[2].p, 0x6024, 0x12);
		l[2].start = 0x60;
		dpu_two_inputs(&l[3].p, &out, 0x108202c0);
		prog_set(&l[3].p, 0x5018, VEC);
		prog_set(&l[3].p, 0x5038, DST);
		l[3].start = 0x18;
		if (order) {
			/* The pooling task last */
			l[3] = l[2];
			l[2] = l[1];
			l[1] = l[0];
		}
		links_kick(&rig, links_store(&rig, l, 4), 4, false, order ? 0xc00 : 0x300);
		assert_null(rig.report.law);
		assert_int_equal(rig.report.tasks_done, 4);
		assert_true(npu_core_irq(rig.core));
		assert_int_equal(npu_core_read(rig.core, 0x28), order ? 0x800 : 0x200);
		if (order) {
			rig_close(&rig);
			continue;
		}
		for (m = 0; m < 12; m++)
			for (n = 0; n < 16; n++)
				assert_int_equal(cube_get(rig_at(&rig, DST), &out, m, n) & 0x7fff,
						 0);
		rig_close(&rig);
	}
	free(l);
}

static void breaches(void **state)
{
	static const struct {
		u32 offset, value;
		enum npu_class cls;
	} cases[] = {
		{ 0x6024, 0x01, NPU_HANG_0 }, { 0x6024, 0x40000011, NPU_HANG_0 },
		{ 0x6024, 0x13, NPU_HANG_0 }, { 0x6024, 0x10011, NPU_HANG_0 },
		{ 0x6084, 0x0a, NPU_HANG_0 }, { 0x6084, 0x05, NPU_HANG_0 },
		{ 0x6084, 0x00, NPU_HANG_0 }, { 0x7030, 0x01, NPU_HANG_0 },
		{ 0x700c, 6, NPU_HANG_0 }, { 0x6020, 7, NPU_HANG_0 }, { 0x7014, 7, NPU_HANG_0 },
		{ 0x6018, 4, NPU_HANG_0 }, { 0x601c, 4, NPU_HANG_0 }, { 0x6038, 0x7c00, NPU_WRONG },
		{ 0x603c, 0x7000, NPU_WRONG }, { 0x607c, 0x80, NPU_WRONG },
		{ 0x7024, 0x70, NPU_WRONG }, { 0x6040, 0x2, NPU_WRONG },
	};
	const struct pool p = { { F16, 8, 8, 16 }, 0, 2, 2, 2, 2, 0, 0, 0, 0 };
	s32 *v = malloc(4 * shape_values(&p.s));
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct rig rig;
		struct prog q;

		open_rig(&rig, &p, v, 1);
		pool_program(&q, &p);
		prog_set(&q, cases[i].offset, cases[i].value);
		run_one(&rig, &q, 0x60);
		assert_int_equal(rig.report.cls, cases[i].cls);
		assert_non_null(strstr(rig.report.law, "hw 04 5"));
		assert_int_equal(rig.report.tasks_done, 0);
		assert_int_equal(*rig_at(&rig, DST), 0xa5);
		assert_int_equal(npu_core_read(rig.core, 0x2c) & 0x1ffff, 0);
		rig_close(&rig);
	}
	free(v);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain),
		cmocka_unit_test(specials),
		cmocka_unit_test(chain),
		cmocka_unit_test(breaches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
