// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Tilings that break a law on purpose, one at a time. The software NPU must give a
 * wrong result, zeros or no end, and the laws as the property tests read them must
 * name it: so those tests can fail.
 */
#include "prog_run.h"
#include "prog_laws.h"

/* Cells of C that are not the product */
static uint64_t wrong_cells(const struct rkmm_geom *g, const int8_t *a, const int8_t *b,
			    uint64_t *zeros)
{
	const struct rkmm_matmul *mm = &g->mm;
	uint64_t wrong = 0;
	uint32_t i, j, k;

	*zeros = 0;
	for (i = 0; i < mm->m; i++) {
		for (j = 0; j < mm->n; j++) {
			const uint8_t *at = world->region[2].data + place_c(g, i, j);
			int32_t acc = 0, got;
			int16_t i16;
			float f;

			for (k = 0; k < mm->k; k++)
				acc += a[(size_t)i * mm->k + k] * b[(size_t)j * mm->k + k];
			memcpy(&got, at, 4);
			memcpy(&f, at, 4);
			memcpy(&i16, at, 2);
			if (g->types == RKMM_T_F16F32)
				got = (int32_t)f;
			else if (g->types == RKMM_T_I4I16)
				got = i16;
			wrong += got != acc;
			*zeros += got == 0;
		}
	}
	return wrong;
}

/* The law that a program of @g breaks, by the reading of the property tests */
static const char *named(const struct rkmm_geom *g)
{
	u64 words[RKMM_PROG_WRITES];
	struct rkmm_program p;
	static struct regs r;
	const char *law;
	uint32_t i;

	for (i = 0; i < g->programs; i++) {
		rkmm_geom_program(g, i, g->mm.m, A_BASE, B_BASE, C_BASE, &p);
		p.weight_reuse = g->weight_reuse && i % g->m_tiles;
		regs_load(&r, words, rkmm_emit_program(&p, words));
		law = broken_law(&r, p.m);
		if (law)
			return law;
	}
	return NULL;
}

enum outcome { RIGHT, WRONG, ZERO, HANG };

static enum outcome outcome(const struct rkmm_geom *g)
{
	int8_t *a = malloc((size_t)g->mm.m * g->mm.k), *b = malloc((size_t)g->mm.k * g->mm.n);
	struct rkmm_member one = rkmm_member_of(g, g->mm.m, A_BASE, B_BASE, C_BASE);
	enum outcome out = RIGHT;
	struct rkmm_extent extent;
	struct npu_report report;
	struct rkmm_kick *kicks;
	uint64_t wrong, zeros;
	struct world w;
	uint32_t i;

	world = &w;
	env.ctx = &w;
	fill(g, a, b);
	rkmm_image_measure(&rkmm_limits_rk3588, &one, 1, &extent);
	kicks = calloc(extent.kicks, sizeof(*kicks));
	region(world, 3, P_BASE, extent.bytes, false, 0xff);
	rkmm_image_emit(&rkmm_limits_rk3588, &one, 1, P_BASE, (u64 *)w.region[3].data, kicks);
	npu_core_reset(core);
	for (i = 0; i < extent.kicks && out != HANG; i++) {
		kick(core, &kicks[i], &report);
		if (report.tasks_done < kicks[i].tasks)
			out = HANG;
	}
	wrong = wrong_cells(g, a, b, &zeros);
	if (out == RIGHT && wrong)
		out = zeros == (uint64_t)g->mm.m * g->mm.n ? ZERO : WRONG;
	for (i = 0; i < 4; i++)
		free(w.region[i].data);
	free(kicks);
	free(a);
	free(b);
	return out;
}

static struct rkmm_geom tiling(const struct rkmm_limits *limits, enum rkmm_types types, uint32_t m,
			       uint32_t k, uint32_t n)
{
	struct rkmm_matmul mm = matmul(types, m, k, n);
	struct rkmm_geom g;

	assert_int_equal(rkmm_geometry(limits, &mm, &g), RKMM_OK);
	return g;
}

static void breach(const struct rkmm_geom *g, enum outcome want)
{
	const char *law = named(g);

	print_message("%s\n", law ? law : "no law");
	assert_non_null(law);
	assert_int_equal(outcome(g), want);
}

static void unbroken(const struct rkmm_geom *g)
{
	assert_null(named(g));
	assert_int_equal(outcome(g), RIGHT);
}

/* hw 02 §5.2 */
static void test_banks(void **state)
{
	struct rkmm_geom g = tiling(&rkmm_limits_rk3588, RKMM_T_I8I32, 130, 1024, 40);

	(void)state;
	unbroken(&g);
	/* rows past what the data banks hold */
	g.data_banks--;
	g.data_banks -= g.data_banks * 32768 >= 130 * 1024;
	breach(&g, WRONG);
	g = tiling(&rkmm_limits_rk3588, RKMM_T_F16F32, 8, 512, 40);
	unbroken(&g);
	g.data_banks = 12;
	g.weight_banks = 1;
	breach(&g, WRONG);
	g = tiling(&rkmm_limits_rk3588, RKMM_T_F16F32, 1, 512, 40);
	g.data_banks = 12;
	g.weight_banks = 1;
	breach(&g, ZERO);
	g.data_banks = 1;
	g.weight_banks = 0;
	breach(&g, HANG);
	/* hw 03 G10 */
	g = tiling(&rkmm_limits_rk3588, RKMM_T_F16F32, 144, 1024, 16);
	unbroken(&g);
	g.rows = 144;
	g.m_tiles = 1;
	g.programs = 1;
	g.data_banks = 11;
	g.weight_banks = 1;
	breach(&g, HANG);
}

/* hw 02 §5.3 */
static void test_sizes(void **state)
{
	struct rkmm_limits limits = rkmm_limits_rk3588;
	struct rkmm_geom g;

	(void)state;
	limits.k_max = 11264;
	g = tiling(&limits, RKMM_T_I8I32, 2, 10752, 40);
	unbroken(&g);
	g = tiling(&limits, RKMM_T_I8I32, 2, 10784, 40);
	breach(&g, HANG);
	limits.n_max = 16384;
	g = tiling(&limits, RKMM_T_F16F32, 2, 64, 8192);
	unbroken(&g);
	g = tiling(&limits, RKMM_T_F16F32, 2, 64, 8208);
	breach(&g, WRONG);
}

/* One row more than the batch tables have: hw 02 §6.3 */
static struct rkmm_geom higher(uint32_t k, uint32_t rows)
{
	struct rkmm_limits limits = rkmm_limits_rk3588;
	struct rkmm_geom g;

	limits.die = rkmm_die_find("shipped");
	g = tiling(&limits, RKMM_T_I4I16, rows, k, 64);
	g.rows = rows;
	g.tile_rows = rows;
	g.m_tiles = 1;
	g.programs = g.n_tiles;
	g.c_pitch = 4 * rows * 128;
	g.c_bytes = g.c_pitch;
	g.c_slice = g.c_pitch;
	g.grains = 4 * rows + 1;
	return g;
}

static void test_batch(void **state)
{
	struct rkmm_geom g = higher(2048, 8);

	(void)state;
	unbroken(&g);
	g = higher(2048, 9);
	breach(&g, WRONG);
	g = higher(3072, 4);
	unbroken(&g);
	/*
	 * hw 03 G16, G20: seen to hang although the banks would hold them. The software
	 * NPU has laws only, so it runs them; the property tests know the points.
	 */
	g = higher(3072, 5);
	assert_non_null(named(&g));
	g = higher(4096, 4);
	unbroken(&g);
	g.data_banks = 2;
	g.weight_banks = 10;
	assert_non_null(named(&g));
}

/* hw 02 §6.5: only what the weight banks hold can be kept */
static void test_reuse(void **state)
{
	struct rkmm_geom g = tiling(&rkmm_limits_rk3588, RKMM_T_I8I32, 400, 1024, 480);

	(void)state;
	assert_true(g.m_tiles > 1);
	unbroken(&g);
	g.weight_reuse = true;
	breach(&g, WRONG);
}

static int relaxed(void **state)
{
	setup(state);
	npu_core_set_laws(core, false);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_banks),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_batch),
		cmocka_unit_test(test_reuse),
	};

	return cmocka_run_group_tests_name("broken laws", tests, relaxed, teardown);
}
