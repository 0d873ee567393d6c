// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Whole chains on the software NPU against plain loops: random shapes, random
 * data, every type pair and form.
 */
#include "prog_run.h"

static void check(enum rkmm_types types, uint32_t m, uint32_t k, uint32_t n)
{
	struct rkmm_matmul mm = matmul(types, m, k, n);

	multiply(&rkmm_limits_rk3588, &mm, m);
}

static void test_edges(void **state)
{
	static const uint32_t sizes[] = { 1, 15, 16, 17, 31, 32, 33, 63, 64, 65 };
	uint32_t t, i, j;

	(void)state;
	for (t = 0; t < RKMM_T_COUNT; t++)
		for (i = 0; i < 10; i++)
			for (j = 0; j < 10; j++)
				check(t, 1 + rnd(9), sizes[i], sizes[j]);
}

/* Around every alignment of rows, K and columns at once; a single row with each of them */
static void test_alignments(void **state)
{
	static const uint32_t ms[12] = { 1, 2, 3, 4, 5, 63, 64, 65, 66, 127, 128, 129 };
	static const uint32_t ks[8] = { 31, 32, 33, 63, 64, 65, 10752, 10753 };
	static const uint32_t ns[11] = { 15, 16, 17, 31, 32, 33, 63, 64, 65, 8192, 8193 };
	uint32_t t, i, j, k;

	(void)state;
	for (t = 0; t < RKMM_T_COUNT; t++)
		for (i = 0; i < 12; i++)
			for (j = 0; j < 8; j++)
				for (k = 0; k < 11; k++)
					if ((!i || ks[j] < 100) && (!i || ns[k] < 100) &&
					    (ks[j] < 100 || ns[k] < 100))
						check(t, ms[i], ks[j], ns[k]);
}

static void test_random(void **state)
{
	uint32_t i;

	(void)state;
	for (i = 0; i < 1000; i++) {
		struct rkmm_matmul mm = matmul(rnd(RKMM_T_COUNT), 1 + rnd(rnd(4) ? 30 : 90),
					       1 + rnd(rnd(8) ? 300 : 3000), 1 + rnd(150));

		mm.lanes = 1 + rnd(3);
		mm.free_slice = rnd(2);
		if (rnd(3) == 0)
			mm.form = RKMM_FORM_CUBE;
		else if (rnd(3) == 0)
			mm.form = RKMM_FORM_FLAT;
		if (mm.form == RKMM_FORM_FLAT && mm.types != RKMM_T_I4I16 && rnd(2)) {
			mm.k = (mm.k + 31) / 32 * 32;
			mm.free_slice = false;
			mm.c_pitch = 192 * 4 + 16 * rnd(20);
			if (mm.types != RKMM_T_I8I8)
				mm.a_pitch = mm.k * 2 + 16 * rnd(20);
		}
		multiply(&rkmm_limits_rk3588, &mm, rnd(2) ? mm.m : 1 + rnd(mm.m));
	}
}

/* Several M tiles, at and around what the banks hold */
static void test_m_tiles(void **state)
{
	uint32_t t;

	(void)state;
	for (t = 0; t < RKMM_T_COUNT; t++) {
		check(t, 705, 256, 17);
		check(t, 130, 2048, 40);
		check(t, 1025, 33, 16);
		check(t, 9, 10752, 5);
	}
	check(RKMM_T_I8I32, 682, 512, 96);
	check(RKMM_T_I8I32, 683, 512, 96);
	check(RKMM_T_F16F32, 704, 256, 96);
	check(RKMM_T_F16F16, 300, 128, 96);
}

/* Several column tiles, the last of them narrow, into one pitched C */
static void test_n_tiles(void **state)
{
	uint32_t t;

	(void)state;
	for (t = 0; t < RKMM_T_COUNT; t++) {
		check(t, 1, 64, 8192);
		check(t, 3, 64, 8193);
		check(t, 2, 32, 25600);
	}
	check(RKMM_T_F16F32, 2, 32, 33000);
}

/* int4: chunks, groups with a remainder, K without a batch form, K = 1024 */
static void test_int4(void **state)
{
	(void)state;
	check(RKMM_T_I4I16, 20, 2048, 200);
	check(RKMM_T_I4I16, 9, 1024, 300);
	check(RKMM_T_I4I16, 17, 1024, 64);
	check(RKMM_T_I4I16, 70, 512, 600);
	check(RKMM_T_I4I16, 100, 96, 130);
	check(RKMM_T_I4I16, 5, 8192, 130);
	check(RKMM_T_I4I16, 5, 9000, 130);
	check(RKMM_T_I4I16, 1, 10752, 640);
	check(RKMM_T_I4I16, 1, 77, 64);
}

/* The wide geometry, and the shipped one on the same operands; K sliced to reach it */
static void test_wide_int4(void **state)
{
	static const uint32_t sizes[][2] = { { 128, 500 }, { 70, 384 }, { 64, 700 }, { 120, 250 } };
	struct rkmm_geom g;
	uint32_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		struct rkmm_matmul mm = matmul(RKMM_T_I4I16, sizes[i][0], 2048, sizes[i][1]);

		mm.lanes = 1 + i % 3;
		assert_int_equal(rkmm_geometry(&rkmm_limits_rk3588, &mm, &g), RKMM_OK);
		assert_int_equal(g.rows, 32);
		assert_int_equal(g.data_banks, 4);
		assert_true(multiply_as(&rkmm_limits_rk3588, &mm, mm.m, true));
		multiply_as(&rkmm_limits_rk3588, &mm, 1 + rnd(mm.m), i & 1);
		if (i)
			continue;
		mm.k = 4096;
		mm.n = 193;
		mm.free_slice = true;
		assert_int_equal(rkmm_geometry(&rkmm_limits_rk3588, &mm, &g), RKMM_OK);
		assert_int_equal(g.kp, 2048);
		assert_true(g.slices > 1 && g.may_saturate);
		multiply(&rkmm_limits_rk3588, &mm, mm.m);
	}
}

static void test_pitches(void **state)
{
	uint32_t t;

	(void)state;
	for (t = 0; t < RKMM_T_I4I16; t++) {
		struct rkmm_matmul mm = matmul(t, 37, 512, 50);

		mm.a_pitch = 512 * 2 + 48;
		mm.c_pitch = 64 * 4 + 80;
		multiply(&rkmm_limits_rk3588, &mm, 37);
		mm.m = 1;
		multiply(&rkmm_limits_rk3588, &mm, 1);
	}
}

/*
 * A of other matrices: keys of one head among several, the rows of one group of heads, any
 * multiple of 16 bytes from a line on. They are read where they lie, and nothing else is.
 */
static void test_views(void **state)
{
	static const uint32_t ks[] = { 32, 64, 96, 128, 256, 512, 1024, 4096 };
	static const uint32_t heads[] = { 2, 3, 8, 16, 40 };
	struct rkmm_geom g;
	uint32_t t, i, j;

	(void)state;
	for (t = 0; t < RKMM_T_I4I16; t++) {
		uint32_t least = t == RKMM_T_I8I8 ? 5 : 0;

		for (i = least; i < 8; i++) {
			uint32_t line = ks[i] * rkmm_in_bits(t) / 8;

			for (j = 0; j < 25; j++) {
				uint32_t pitch = j < 20 ? line + 16 * j : line * heads[j - 20];
				struct rkmm_matmul mm = matmul(t, 2 + rnd(9), ks[i], 1 + rnd(70));

				mm.a_pitch = pitch;
				mm.lanes = 1 + rnd(3);
				assert_int_equal(rkmm_geometry(&rkmm_limits_rk3588, &mm, &g),
						 RKMM_OK);
				assert_int_equal(g.a_pitch, pitch);
				assert_int_equal(g.a_bytes, (mm.m - 1) * pitch + line);
				multiply(&rkmm_limits_rk3588, &mm, 1 + rnd(mm.m));
				mm.a_pitch = pitch + 1 + rnd(15);
				assert_int_equal(rkmm_geometry(&rkmm_limits_rk3588, &mm, &g),
						 RKMM_REASON_STRIDE);
				mm.a_pitch = line - 16;
				assert_int_equal(rkmm_geometry(&rkmm_limits_rk3588, &mm, &g),
						 RKMM_REASON_STRIDE);
			}
		}
	}
}

/* Chains cut into kicks: weight must not be reused across them */
static void test_cut_chains(void **state)
{
	struct rkmm_limits limits = rkmm_limits_rk3588;
	struct rkmm_matmul mm = matmul(RKMM_T_I4I16, 50, 512, 400);
	uint32_t cut;

	(void)state;
	for (cut = 1; cut < 6; cut++) {
		limits.tasks_max = cut;
		multiply(&limits, &mm, 50);
		npu_core_reset(core);
		multiply(&limits, &mm, 33);
	}
	mm = matmul(RKMM_T_I8I32, 900, 512, 33);
	limits.tasks_max = 1;
	multiply(&limits, &mm, 900);
}

/* K beyond one program, and slices that packed weights ask for */
static void test_slices(void **state)
{
	uint32_t t, i;

	(void)state;
	for (t = 0; t < RKMM_T_COUNT; t++) {
		check(t, 3, 10753, 33);
		check(t, 1, 21505, 5);
		check(t, 20, 12000, 70);
		for (i = 0; i < 12; i++) {
			struct rkmm_matmul mm = matmul(t, 1 + rnd(40), 200 + rnd(3000),
						       1 + rnd(150));

			mm.slice = 32 * (1 + rnd(mm.k / 32));
			mm.lanes = 1 + rnd(3);
			if (t == RKMM_T_I8I8 && mm.k < 512)
				mm.k += 512;
			if (rnd(3) == 0)
				mm.form = RKMM_FORM_CUBE;
			multiply(&rkmm_limits_rk3588, &mm, 1 + rnd(mm.m));
		}
	}
	for (t = 0; t < RKMM_T_I4I16; t++) {
		struct rkmm_matmul mm = matmul(t, 5, 1536, 50);

		mm.slice = 768;
		mm.a_pitch = 1536 * 2 + 48;
		if (t == RKMM_T_I8I8)
			mm.c_pitch = 64 * 4 + 80;
		multiply(&rkmm_limits_rk3588, &mm, 5);
	}
}

/* int4 sums beyond int16 are clamped */
static void test_saturation(void **state)
{
	struct rkmm_matmul mm = matmul(RKMM_T_I4I16, 2, 6144, 64);
	struct rkmm_geom g;
	struct npu_report report;
	struct rkmm_member one;
	struct rkmm_kick kick_one;
	uint32_t j;
	struct world w;

	(void)state;
	world = &w;
	env.ctx = &w;
	assert_int_equal(rkmm_geometry(&rkmm_limits_rk3588, &mm, &g), RKMM_OK);
	region(&w, 0, A_BASE, g.a_bytes, true, 0);
	region(&w, 1, B_BASE, g.b_bytes, true, 0x88);	/* -8 everywhere */
	region(&w, 2, C_BASE, g.c_bytes, false, CANARY);
	region(&w, 3, P_BASE, rkmm_image_bytes(&g), false, 0);
	for (j = 0; j < 6144; j++) {
		store(&g, w.region[0].data, place_a(&g, 0, j), j, -8);
		store(&g, w.region[0].data, place_a(&g, 1, j), j, 7);
	}
	one = rkmm_member_of(&g, 2, A_BASE, B_BASE, C_BASE);
	rkmm_image_emit(&rkmm_limits_rk3588, &one, 1, P_BASE, (u64 *)w.region[3].data, &kick_one);
	assert_true(kick(core, &kick_one, &report));
	for (j = 0; j < 64; j++) {
		check_cell(&g, w.region[2].data, 0, 0, j, 6144 * 64);
		check_cell(&g, w.region[2].data, 0, 1, j, -6144 * 56);
	}
	for (j = 0; j < 4; j++)
		free(w.region[j].data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_alignments),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_m_tiles),
		cmocka_unit_test(test_n_tiles),
		cmocka_unit_test(test_int4),
		cmocka_unit_test(test_wide_int4),
		cmocka_unit_test(test_pitches),
		cmocka_unit_test(test_views),
		cmocka_unit_test(test_cut_chains),
		cmocka_unit_test(test_slices),
		cmocka_unit_test(test_saturation),
	};

	return cmocka_run_group_tests_name("prog on the model", tests, setup, teardown);
}
