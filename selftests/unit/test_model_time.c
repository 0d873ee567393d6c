// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The time that the software NPU reads from register words, against the law over the
 * tiling that the words were made from: rows, columns and kinds must be the same ones.
 */
#include "prog_run.h"
#include "prog_time.h"

static uint64_t model_ns[3];
static uint32_t kicks;

static uint32_t paces;
static uint64_t paced;

/* Asked for every task, with its time on top of what has ended */
static bool pace(void *ctx)
{
	(void)ctx;
	paces++;
	assert_true(npu_core_ns(core, 3) > paced);
	paced = npu_core_ns(core, 3);
	return false;
}

static void run(const struct rkmm_geom *g, uint32_t rows)
{
	struct rkmm_member one = rkmm_member_of(g, rows, A_BASE, B_BASE, C_BASE);
	struct rkmm_extent extent;
	struct npu_report report;
	struct rkmm_kick *list;
	uint32_t i, n;

	rkmm_image_measure(&rkmm_limits_rk3588, &one, 1, &extent);
	list = calloc(extent.kicks, sizeof(*list));
	region(world, 3, P_BASE, extent.bytes, false, 0xff);
	rkmm_image_emit(&rkmm_limits_rk3588, &one, 1, P_BASE, (u64 *)world->region[3].data, list);
	memset(model_ns, 0, sizeof(model_ns));
	paces = 0;
	kicks = extent.kicks;
	for (i = 0; i < kicks; i++) {
		paced = 0;
		assert_true(kick(core, &list[i], &report));
		for (n = 0; n < 3; n++)
			model_ns[n] += report.model_ns[n];
	}
	assert_int_equal(paces, extent.tasks);
	free(list);
	free(world->region[3].data);
}

/* The law's sum, without sharing it out */
static double expected(const struct rkmm_geom *g, uint32_t cores)
{
	const struct rkmm_cost *cost = &rkmm_cost_rk3588;
	struct way w = way_of(g);
	double ns = 0;
	uint32_t i, j, s;

	w.cores = cores;
	for (s = 0; s < w.slices; s++)
		for (j = 0; j < w.np; j += w.cols)
			for (i = 0; i < w.m; i += w.rows)
				ns += law_program(cost, &w,
						  i + w.rows > w.m ? w.m - i : w.rows,
						  j + w.cols > w.np ? w.np - j : w.cols);
	return ns + kicks * law_start(cost, &w);
}

static void check(struct rkmm_matmul mm)
{
	struct rkmm_geom g;
	struct world w;
	int8_t *a, *b;
	uint32_t n, i;

	world = &w;
	env.ctx = &w;
	env.pace = pace;
	a = malloc((size_t)mm.m * mm.k);
	b = malloc((size_t)mm.k * mm.n);
	assert_int_equal(rkmm_geometry(&rkmm_limits_rk3588, &mm, &g), RKMM_OK);
	/* the registers of a cube of one row are those of a row */
	if (mm.types == RKMM_T_I4I16 && g.form == RKMM_FORM_CUBE && mm.m % g.rows == 1 % g.rows)
		goto out;
	fill(&g, a, b);
	run(&g, mm.m);
	/* the sheet has no t0(2): the readings may differ */
	for (n = 1; n <= 3; n += 2) {
		double ns = expected(&g, n);

		if (fabs((double)model_ns[n - 1] - ns) > 2.0 * g.programs + 1)
			print_error("%s %ux%ux%u form %d, %u programs, %u cores: %llu, not %.0f\n",
				    rkmm_types_name(mm.types), mm.m, mm.k, mm.n, g.form,
				    g.programs, n, (unsigned long long)model_ns[n - 1], ns);
		assert_true(fabs((double)model_ns[n - 1] - ns) <= 2.0 * g.programs + 1);
	}
	for (i = 0; i < 3; i++)
		free(w.region[i].data);
out:
	free(a);
	free(b);
}

static void test_shapes(void **state)
{
	uint32_t i, t;

	(void)state;
	for (t = 0; t < RKMM_T_COUNT; t++) {
		check(matmul(t, 1, 64, 64));
		check(matmul(t, 130, 512, 200));
	}
	/* batches whose last program has one row, wide ones, slices */
	check(matmul(RKMM_T_I4I16, 9, 2048, 130));
	check(matmul(RKMM_T_I4I16, 65, 2048, 520));
	check(matmul(RKMM_T_I4I16, 4, 6144, 64));
	check(matmul(RKMM_T_I4I16, 3, 12000, 64));
	check(matmul(RKMM_T_I8I32, 70, 12000, 64));
	for (i = 0; i < 60; i++) {
		struct rkmm_matmul mm = matmul(rnd(RKMM_T_COUNT), 1 + rnd(90), 1 + rnd(1200),
					       1 + rnd(300));

		mm.form = rnd(RKMM_FORM_COUNT + 1);
		if (mm.form == RKMM_FORM_BATCH && mm.types != RKMM_T_I4I16)
			mm.form = RKMM_FORM_CUBE;
		check(mm);
	}
}

/* hw 03 O13: int16 that is still on its way; int32 never is */
static void test_late(void **state)
{
	static const struct {
		enum rkmm_types types;
		bool late;
	} rows[] = { { RKMM_T_I4I16, true }, { RKMM_T_I8I8, true }, { RKMM_T_I8I32, false } };
	uint32_t i, j, differ, first;
	struct rkmm_geom g;
	struct world w;

	(void)state;
	for (i = 0; i < 3; i++) {
		struct rkmm_matmul mm = matmul(rows[i].types, 24, 512, 192);
		int8_t *a = malloc((size_t)mm.m * mm.k), *b = malloc((size_t)mm.k * mm.n);
		uint8_t *before;

		world = &w;
		env.ctx = &w;
		assert_int_equal(rkmm_geometry(&rkmm_limits_rk3588, &mm, &g), RKMM_OK);
		fill(&g, a, b);
		npu_core_set_late(core, true);
		run(&g, mm.m);
		assert_true(npu_core_has_late(core) == rows[i].late);
		before = malloc(g.c_bytes);
		memcpy(before, w.region[2].data, g.c_bytes);
		assert_true(npu_core_land(core) == rows[i].late);
		assert_false(npu_core_land(core));
		for (j = 0, differ = 0, first = 0; j < g.c_bytes; j++) {
			if (before[j] == w.region[2].data[j])
				continue;
			first = differ++ ? first : j;
		}
		assert_true(rows[i].late ? differ > 10 && differ <= 1024 : !differ);
		if (rows[i].late)
			assert_true(first >= g.c_bytes - g.c_bytes / 2);
		check_product(&g, a, b, mm.m);

		/* a job behind it on the core brings it, a reset loses it */
		memset(w.region[2].data, CANARY, g.c_bytes);
		run(&g, mm.m);
		memcpy(before, w.region[2].data, g.c_bytes);
		npu_core_reset(core);
		assert_false(npu_core_land(core));
		assert_memory_equal(before, w.region[2].data, g.c_bytes);
		run(&g, mm.m);
		npu_core_set_late(core, false);
		run(&g, mm.m);
		assert_false(npu_core_has_late(core));
		check_product(&g, a, b, mm.m);
		npu_core_reset(core);
		free(before);
		for (j = 0; j < 3; j++)
			free(w.region[j].data);
		free(a);
		free(b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_late),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
