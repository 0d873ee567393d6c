// SPDX-License-Identifier: GPL-2.0-only
/* DPU stages and the table behind a matmul (hw 04 §4), and chains of both. */
#include <math.h>

#include "test_model_cube.h"

#define A	0x10000000
#define B	0x20000000
#define C	0x30000000
#define BIAS	0x40000000

struct world {
	struct rig rig;
	struct job j;
	struct data d;
	struct prog p;
};

static void open_world(struct world *w, const struct job *j, bool cube)
{
	w->j = *j;
	rig_open(&w->rig);
	rig_map(&w->rig, IMAGE, 0x8000);
	rig_map(&w->rig, A, a_bytes(j));
	rig_map(&w->rig, B, b_bytes(j));
	rig_map(&w->rig, C, c_bytes(j));
	rig_map(&w->rig, BIAS, 4 * j->n);
	data_random(&w->d, j, j->m * 7 + j->n);
	data_multiply(&w->d, j);
	put_weight(rig_at(&w->rig, B), &w->d, j);
	if (cube) {
		put_a_cube(rig_at(&w->rig, A), &w->d, j);
		cube_program(&w->p, j);
	} else {
		put_a_rows(rig_at(&w->rig, A), &w->d, j, j->k * pair_info[j->pair].bits / 8);
		flat_program(&w->p, j);
	}
}

static void close_world(struct world *w)
{
	data_free(&w->d);
	rig_close(&w->rig);
}

/* The read block of hw 02 §8 with a bias for each kernel */
static void add_bias(struct world *w, const u32 *bias)
{
	const u32 lines = prog_get(&w->p, 0x4034);

	memcpy(rig_at(&w->rig, BIAS), bias, 4 * w->j.n);
	prog_add(&w->p, RDMA, 0x5004, 0xe);
	prog_add(&w->p, RDMA, 0x500c, 0);
	prog_add(&w->p, RDMA, 0x5010, lines);
	prog_add(&w->p, RDMA, 0x5014, w->j.n - 1);
	prog_add(&w->p, RDMA, 0x501c, 2);
	prog_add(&w->p, RDMA, 0x5020, BIAS);
	prog_add(&w->p, RDMA, 0x5034, 1);
	prog_add(&w->p, RDMA, 0x5044, 0x7810);
	prog_set(&w->p, 0x4040, 0x20150);
}

static u32 out(struct world *w, u32 m, u32 n)
{
	u32 ob = pair_info[w->j.pair].out_bytes;

	return get_out(rig_at(&w->rig, C + (m * w->j.n + n) * ob), ob);
}

static float sum_at(struct world *w, u32 m, u32 n)
{
	return bits_float((u32)w->d.c[m * w->j.n + n]);
}

/* fp16 sums: bias by BRDMA as fp32 words, with and without ReLU, to fp32 */
static void float_bias(void **state)
{
	static const u32 sizes[][3] = { { 5, 64, 48 }, { 1, 32, 16 }, { 33, 96, 80 } };
	u32 i, m, n, relu;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		for (relu = 0; relu < 2; relu++) {
			const struct job j = { F16F32, sizes[i][0], sizes[i][1], sizes[i][2], A,
					       B, C, .v = 0 };
			struct world w;
			u32 bias[80];

			open_world(&w, &j, false);
			for (n = 0; n < j.n; n++)
				bias[n] = float_bits(n * 1.25f - 30);
			add_bias(&w, bias);
			if (relu)
				prog_set(&w.p, 0x4040, 0x20110);
			run_good(&w.rig, &w.p, 0x1d);
			for (m = 0; m < j.m; m++)
				for (n = 0; n < j.n; n++) {
					float want = sum_at(&w, m, n) + bits_float(bias[n]);

					want = relu && want < 0 ? 0 : want;
					assert_int_equal(out(&w, m, n), float_bits(want));
				}
			close_world(&w);
		}
}

/* A ReLU and a clamp in front of fp16 output; no table, no operand */
static void half_relu(void **state)
{
	const struct job j = { F16F16, 21, 64, 32, A, B, C, .v = 0 };
	u32 clamp, m, n;

	(void)state;
	for (clamp = 0; clamp < 2; clamp++) {
		struct world w;

		open_world(&w, &j, false);
		prog_set(&w.p, 0x4040, clamp ? 0x92 : 0x12);
		prog_set(&w.p, 0x404c, 0x40c00000);
		run_good(&w.rig, &w.p, 0x0d);
		for (m = 0; m < j.m; m++)
			for (n = 0; n < j.n; n++) {
				float want = sum_at(&w, m, n);

				want = want < 0 ? 0 : clamp && want > 6 ? 6 : want;
				assert_int_equal(out(&w, m, n), float_to_half(want));
			}
		close_world(&w);
	}
}

/* The exponential behind an fp16 matmul, to fp32 */
static void float_table(void **state)
{
	const struct job j = { F16F32, 13, 32, 32, A, B, C, .v = 0 };
	u32 m, n, inside = 0;
	s16 t[1026];
	struct world w;

	(void)state;
	open_world(&w, &j, false);
	lut_exp(t);
	/* exp(x / 4) of x in [-40, 0]: a quarter of the captured gain */
	lut_apply(&w.p, 0x467ff000, 0x62660000);
	prog_set(&w.p, 0x4088, 0xf000);
	lut_writes(&w.p, t);
	run_good(&w.rig, &w.p, 0x0d);
	for (m = 0; m < j.m; m++)
		for (n = 0; n < j.n; n++) {
			double x = sum_at(&w, m, n) / 4;

			if (x > 0 || x < -10)
				continue;
			inside++;
			assert_true(fabs(bits_float(out(&w, m, n)) - exp(x)) <= 2e-3);
		}
	assert_true(inside > 20);
	close_world(&w);
}

/* The table behind an int8 matmul: identity below and above, as a clamp */
static void int_table(void **state)
{
	const struct job j = { I8I8, 17, 64, 64, A, B, C, .mult = 1, .shift = 7 };
	struct world w;
	s16 t[1026];
	u32 m, n, i;

	(void)state;
	open_world(&w, &j, false);
	for (i = 0; i < 1026; i++)
		t[i] = (s16)((i < 513 ? (s32)i - 512 : (s32)i - 513) * 31);
	lut_apply(&w.p, 0, 3 << 16 | 4 << 8);
	prog_set(&w.p, 0x4010, 4 << 10);
	lut_writes(&w.p, t);
	run_good(&w.rig, &w.p, 0x0d);
	for (m = 0; m < j.m; m++)
		for (n = 0; n < j.n; n++) {
			double x = round(w.d.c[m * j.n + n] * 3 / 16.0), y;

			x = x < -16384 ? -16384 : x > 16384 ? 16384 : x;
			/* A straight line: its interpolation is that line, rounded. */
			y = round(fabs(x) * 31 / 32);
			if (x < 0)
				y = floor(x / 32) * 31 +
				    round((x - floor(x / 32) * 32) * 31 / 32);
			y = rint(y / 128);
			y = y > 127 ? 127 : y < -128 ? -128 : y;
			assert_int_equal((s8)out(&w, m, n), y);
		}
	close_world(&w);
}

/* hw 04 §10 (g): a matmul to a cube, an addition on it, and another, in one chain */
static void matmul_then_add(void **state)
{
	const struct job j = { F16F16, 12, 64, 48, A, B, C, .v = 0 };
	const struct shape s = { F16, 12, 1, 48 };
	struct link *l = calloc(3, sizeof(*l));
	s32 *other = malloc(4 * shape_values(&s));
	u32 pingpong, m, n;

	(void)state;
	for (pingpong = 0; pingpong < 2; pingpong++) {
		struct world w;

		open_world(&w, &j, true);
		rig_map(&w.rig, SRC2, shape_bytes(&s));
		rig_map(&w.rig, 0x50000000, shape_bytes(&s));
		cube_random(other, &s, 8);
		cube_put(rig_at(&w.rig, SRC2), other, &s);
		l[0].p = w.p;
		l[0].start = 0x0d;
		dpu_two_inputs(&l[1].p, &s, 0x108202c0);
		prog_set(&l[1].p, 0x5018, C);
		prog_set(&l[1].p, 0x4020, 0x50000000);
		l[1].start = 0x18;
		dpu_two_inputs(&l[2].p, &s, 0x108003c4);
		prog_set(&l[2].p, 0x5018, 0x50000000);
		prog_set(&l[2].p, 0x4020, C);
		l[2].start = 0x18;
		links_kick(&w.rig, links_store(&w.rig, l, 3), 3, pingpong, 0x300);
		assert_null(w.rig.report.law);
		assert_int_equal(w.rig.report.cls, NPU_OK);
		for (m = 0; m < 12; m++)
			for (n = 0; n < 48; n++) {
				float b = half_to_float((u16)other[m * 48 + n]);
				float x = half_to_float(float_to_half(sum_at(&w, m, n)));

				x = half_to_float(float_to_half(x + b));
				assert_int_equal(cube_get(rig_at(&w.rig, C), &s, m, n),
						 float_to_half(x * b));
			}
		close_world(&w);
	}
	free(other);
	free(l);
}

/* What the chain made decides what two inputs may follow (hw 03 O6, O7). */
static void precision_path(void **state)
{
	static const struct {
		enum pair pair;
		enum type type;
		bool two, between, good;
	} paths[] = {
		{ F16F16, F16, true, false, true }, { F16F32, F16, true, false, false },
		{ I8I8, I8, true, false, true }, { I8I32, I8, true, false, false },
		{ I8I8, F16, true, false, false }, { I8I32, F16, false, false, true },
		{ F16F32, F16, true, true, true }, { I8I8, I16, true, false, false },
		{ I8I8, I16, true, true, false }, { I8I8, I16, false, false, true },
	};
	static const u32 product[TYPES] = { 0x904002c4, 0x908002c4, 0x108003c4 };
	struct link *l = calloc(3, sizeof(*l));
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		const struct job j = { paths[i].pair, 4, 32, 32, A, B, C, .mult = 1 };
		const struct shape s = { paths[i].type, 4, 1, 16 };
		struct world w;
		u32 n = 0;

		open_world(&w, &j, false);
		rig_map(&w.rig, SRC2, shape_bytes(&s));
		rig_map(&w.rig, 0x50000000, shape_bytes(&s));
		l[n].p = w.p;
		l[n++].start = 0x0d;
		if (paths[i].between) {
			dpu_program(&l[n].p, &s);
			prog_set(&l[n].p, 0x4020, 0x50000000);
			l[n++].start = 0x18;
		}
		if (paths[i].two)
			dpu_two_inputs(&l[n].p, &s, product[s.type]);
		else
			dpu_program(&l[n].p, &s);
		prog_set(&l[n].p, 0x4020, 0x50000000);
		l[n++].start = 0x18;
		links_kick(&w.rig, links_store(&w.rig, l, n), n, false, 0x300);
		assert_int_equal(w.rig.report.cls, paths[i].good ? NPU_OK : NPU_HANG_P);
		assert_int_equal(w.rig.report.tasks_done, paths[i].good ? n : n - 1);
		close_world(&w);
	}
	free(l);
}

/* hw 03 O14: int8, DPU alone, a kick after an int8 matmul; cured by a reset */
static void wedge(void **state)
{
	const struct job i8 = { I8I32, 4, 32, 32, A, B, C, .v = 0 };
	const struct shape shapes[] = { { I8, 4, 1, 16 }, { I16, 4, 1, 16 }, { F16, 4, 1, 16 } };
	struct prog dpu;
	struct world w;
	u32 on, t;

	(void)state;
	for (on = 0; on < 2; on++)
		for (t = 0; t < 3; t++) {
			open_world(&w, &i8, false);
			npu_core_set_quirks(w.rig.core, on ? NPU_QUIRK_INT8_WEDGE : 0);
			dpu_program(&dpu, &shapes[t]);
			/* On a fresh core, and twice */
			run_good(&w.rig, &dpu, 0x18);
			run_good(&w.rig, &dpu, 0x18);
			run_good(&w.rig, &w.p, 0x0d);
			run_one(&w.rig, &dpu, 0x18);
			if (!on || shapes[t].type != I8) {
				assert_int_equal(w.rig.report.cls, NPU_OK);
				close_world(&w);
				continue;
			}
			assert_int_equal(w.rig.report.cls, NPU_HANG_0);
			assert_non_null(strstr(w.rig.report.law, "hw 03 O14"));
			npu_core_reset(w.rig.core);
			run_good(&w.rig, &dpu, 0x18);
			/* As one chain they are right. */
			{
				struct link *l = calloc(2, sizeof(*l));

				l[0].p = w.p;
				l[0].start = 0x0d;
				l[1].p = dpu;
				l[1].start = 0x18;
				links_kick(&w.rig, links_store(&w.rig, l, 2), 2, true, 0x300);
				assert_int_equal(w.rig.report.cls, NPU_OK);
				free(l);
			}
			close_world(&w);
		}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(float_bias),
		cmocka_unit_test(half_relu),
		cmocka_unit_test(float_table),
		cmocka_unit_test(int_table),
		cmocka_unit_test(matmul_then_add),
		cmocka_unit_test(precision_path),
		cmocka_unit_test(wedge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
