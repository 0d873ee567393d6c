// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Which tiling: the census, the cost law, the envelopes of dies, the fallback. */
#include <math.h>

#include "kmod/prog/rkmm_chain.h"
#include "prog_shapes.h"
#include "prog_time.h"

/* The census of hw 03 §7.1 with the shipped geometry, row by row */
static void test_census(void **state)
{
	static const struct {
		const char *op;
		uint32_t per_pass, k, n, programs[3];
	} rows[] = {
		{ "q", 28, 2048, 2048, { 512, 1024, 2048 } },
		{ "k", 28, 2048, 1024, { 256, 512, 1024 } },
		{ "v", 28, 2048, 1024, { 256, 512, 1024 } },
		{ "o", 28, 2048, 2048, { 512, 1024, 2048 } },
		{ "gate", 27, 2048, 6144, { 1536, 3072, 6144 } },
		{ "up", 27, 2048, 6144, { 1536, 3072, 6144 } },
		{ "down", 27, 6144, 2048, { 1376, 2752, 5472 } },
	};
	static const uint32_t pass[3] = { 163104, 326208, 651552 };
	uint32_t i, j;

	(void)state;
	for (j = 0; j < 3; j++) {
		uint32_t sum = 0;

		for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			struct rkmm_geom g = shipped(128 << j, rows[i].k, rows[i].n, 1);

			if (g.programs != rows[i].programs[j])
				print_error("%s at M = %u\n", rows[i].op, 128 << j);
			assert_int_equal(g.programs, rows[i].programs[j]);
			assert_int_equal(g.rows, rows[i].k == 2048 ? 8 : 3);
			assert_int_equal(g.cols, 64);
			sum += rows[i].per_pass * g.programs;
		}
		assert_int_equal(sum, pass[j]);
	}
	/* hw 02 §6.6 */
	assert_int_equal(shipped(128, 4096, 2048, 1).programs, 1024);
	assert_int_equal(simple(RKMM_T_I4I16, 1, 2048, 2048).programs, 1);
	assert_int_equal(simple(RKMM_T_I4I16, 3, 8224, 2048).programs, 3);
}

/* hw 03 §1.2: wide where it was seen right on any number of cores, slices to get there */
static void test_choice(void **state)
{
	struct rkmm_matmul mm = matmul(RKMM_T_I4I16, 128, 2048, 2048);
	struct rkmm_limits limits = *chip;
	struct rkmm_geom g, f, s;
	uint32_t i;

	(void)state;
	for (mm.lanes = 1; mm.lanes <= 3; mm.lanes++) {
		g = geometry(&mm);
		s = shipped(128, 2048, 2048, mm.lanes);
		assert_int_equal(g.data_banks, 4);
		assert_int_equal(g.rows, 32);
		assert_int_equal(g.cols, 192);
		assert_int_equal(g.lanes, mm.lanes);
		assert_int_equal(g.b_layout, s.b_layout);
		assert_true(g.predicted_ns < s.predicted_ns);
		/* the shipped one is not shared over three cores when two are faster */
		s.lanes = mm.lanes;
		if (mm.lanes == 3)
			assert_true(g.predicted_ns * 18 <=
				    rkmm_geom_predict(chip->cost, &s) * 10);
	}
	/* the fallback reads and writes the same bytes */
	assert_true(rkmm_geom_fallback(chip, &g, &f));
	assert_int_equal(f.rows, 8);
	assert_int_equal(f.cols, 64);
	assert_int_equal(f.c_layout, g.c_layout);
	assert_int_equal(f.programs, 512);
	check_tiling(&f, 128);
	assert_false(rkmm_geom_fallback(chip, &s, &f));

	/* die 235: four rows, never wide */
	limits.die = rkmm_die_find("235");
	mm.lanes = 3;
	assert_int_equal(rkmm_geometry(&limits, &mm, &g), RKMM_OK);
	assert_int_equal(g.rows, 4);
	assert_int_equal(g.cols, 64);
	assert_int_equal(g.data_banks, 1);
	assert_null(rkmm_die_find("237"));
	for (i = 0; i < RKMM_DIES; i++)
		assert_ptr_equal(rkmm_die_find(rkmm_dies[i].name), &rkmm_dies[i]);

	/* K >= 4096: the captured split, or slices of 2048 for those who may have them */
	mm.k = 4096;
	g = geometry(&mm);
	assert_int_equal(g.slices, 1);
	assert_int_equal(g.weight_banks << 4 | g.data_banks, 0xb1);
	mm.free_slice = true;
	s = geometry(&mm);
	assert_int_equal(s.slices, 2);
	assert_int_equal(s.kp, 2048);
	assert_int_equal(s.host_ns, 128 * 2048 * 2 * 3 / 4);
	assert_true(s.predicted_ns + s.host_ns < g.predicted_ns);
	/* the width is part of the layout, and taken back from it */
	assert_int_equal(rkmm_layout_slice(s.b_layout), 2048);
	assert_true(s.b_layout != g.b_layout && s.a_layout != g.a_layout);
	mm.free_slice = false;
	mm.slice = rkmm_layout_slice(s.b_layout);
	assert_int_equal(geometry(&mm).b_layout, s.b_layout);
	mm.slice = 0;
	mm.free_slice = true;
	mm.m = 1;
	assert_int_equal(geometry(&mm).slices, 1);
	mm.m = 2;
	assert_int_equal(geometry(&mm).slices, 1);
}

/* A rung that was right on some numbers of cores is used where lanes can find no other. */
static void test_rung_cores(void **state)
{
	struct rkmm_matmul mm = matmul(RKMM_T_I4I16, 256, 2048, 2048);
	struct rkmm_rung rung = {
		.bits = 4, .form = RKMM_FORM_BATCH, .k_min = 2048, .k_max = 2048,
		.data_banks = 2, .rows = 16, .cols = 256,
	};
	struct rkmm_die die = { "test", &rung, 1 };
	struct rkmm_limits limits = *chip;
	struct rkmm_geom g;
	uint32_t cores;

	(void)state;
	limits.die = &die;
	for (cores = 0; cores < 8; cores++) {
		rung.cores = (uint8_t)cores;
		for (mm.lanes = 1; mm.lanes <= 3; mm.lanes++) {
			/* n lanes may find any number of cores up to n */
			uint32_t need = (1u << mm.lanes) - 1;

			assert_int_equal(rkmm_geometry(&limits, &mm, &g), RKMM_OK);
			if (g.data_banks == 2)
				assert_int_equal(cores & ((1u << g.lanes) - 1),
						 (1u << g.lanes) - 1);
			if ((cores & need) == need)
				assert_int_equal(g.data_banks, 2);
			if (!(cores & 1))
				assert_int_equal(g.data_banks, 1);
		}
	}
}

/* The choice is the candidate with the least time; test_prog_regret.c has all other ways. */
static void test_least_time(void **state)
{
	uint32_t i, j, n = 0;

	(void)state;
	for (i = 0; i < 4000; i++) {
		struct rkmm_matmul mm = matmul(rnd(RKMM_T_COUNT), size_near(600),
					       size_near(20000), size_near(9000));
		struct rkmm_geom g, other;
		bool seen = false;

		mm.lanes = 1 + rnd(3);
		mm.free_slice = rnd(2);
		if (rnd(2) && mm.types == RKMM_T_I4I16)
			mm.k = rnd(2) ? 2048 : 4096 + 2048 * rnd(3);
		if (rkmm_geometry(chip, &mm, &g))
			continue;
		assert_true(g.lanes <= mm.lanes);
		assert_true(mm.free_slice || mm.k > 10752 || g.slices == 1);
		for (j = 0; j < rkmm_geom_candidates(chip); j++) {
			if (rkmm_geom_candidate(chip, &mm, j, &other))
				continue;
			assert_true(other.predicted_ns + other.host_ns >=
				    g.predicted_ns + g.host_ns);
			seen |= other.predicted_ns + other.host_ns ==
				g.predicted_ns + g.host_ns;
		}
		assert_true(seen);
		n++;
	}
	assert_true(n > 3000);
}

/* hw 03 §6.2, computed by hand */
static void test_predictions(void **state)
{
	(void)state;
	/* 512 programs: 0.6 us + 8 * 64 * 2048 MAC / 220 per ns */
	assert_int_equal(shipped(128, 2048, 2048, 1).predicted_ns, 512 * (600 + 4766));
	/* 56 us + 2048 * 128 bytes / 9.6 per ns: point 25 of §6.3, 80 us measured */
	assert_int_equal(simple(RKMM_T_I8I32, 1, 2048, 128).predicted_ns, 56000 + 27306);
	/* per-row int4, points 22: 410 us + K N / 2 / 8.2 */
	assert_int_equal(simple(RKMM_T_I4I16, 1, 10752, 5120).predicted_ns, 410000 + 3356721);
}

/* Shares of a submission: in order, none empty, of the time that the plan was chosen for. */
static void check_lanes(const struct rkmm_geom *g, uint32_t rows)
{
	uint32_t programs = rkmm_geom_programs(g, rows), lanes = rkmm_geom_lanes(g, rows), i, k;
	struct rkmm_extent extent = extent_of(chip, g, rows);
	struct rkmm_kick *kick = calloc(extent.kicks, sizeof(*kick));
	double lane[RKMM_LANES_MAX] = { 0 }, all = 0, longest = 0;
	u64 *image = malloc(extent.bytes);
	struct way w = way_of(g);
	struct rkmm_program p;
	uint32_t done = 0;

	assert_int_equal(extent.lanes, lanes);
	emit_at(chip, g, rows, 0x1000, image, kick);
	for (k = 0; k < extent.kicks; k++) {
		assert_true(kick[k].lane < lanes);
		assert_true(!k || kick[k].lane - kick[k - 1].lane <= 1);
		for (i = 0; i < kick[k].tasks; i++, done++) {
			rkmm_geom_program(g, done, rows, 0, 0, 0, &p);
			lane[kick[k].lane] += law_program(chip->cost, &w, p.m, p.n);
		}
	}
	assert_int_equal(done, programs);
	for (i = 0; i < lanes; i++) {
		assert_true(lane[i] > 0);
		all += lane[i];
		longest = fmax(longest, lane[i]);
	}
	free(image);
	free(kick);
	if (rows != g->mm.m)
		return;
	/* times of programs are whole nanoseconds */
	assert_true(fabs((double)g->predicted_ns - longest - law_start(chip->cost, &w)) <=
		    programs + 1);
	/* what no cut between programs of whole size can do better */
	assert_true(longest <= all / lanes + law_program(chip->cost, &w, g->rows, g->cols) +
		    programs);
}

/* Lanes get equal time: the last programs of rows and columns are smaller. */
static void test_lanes(void **state)
{
	double sum = 0, worst = 0;
	uint32_t i, n = 0;

	(void)state;
	for (i = 0; i < 3000; i++) {
		struct rkmm_matmul mm = matmul(rnd(RKMM_T_COUNT), size_near(400),
					       size_near(12000), size_near(3000));
		struct rkmm_geom g;
		struct way w;
		double more;

		mm.lanes = 2 + rnd(2);
		mm.free_slice = rnd(2);
		if (rnd(4) == 0)
			mm.form = RKMM_FORM_CUBE;
		if (rnd(3) == 0)
			mm.k = 2048;
		g = geometry(&mm);
		if (g.programs > 20000)
			continue;
		check_lanes(&g, mm.m);
		check_lanes(&g, 1 + rnd(mm.m));
		w = way_of(&g);
		more = (double)g.predicted_ns / law_time(chip->cost, &w) - 1;
		assert_true(more > -0.02);	/* whole ns per program */
		sum += more;
		worst = more > worst ? more : worst;
		n++;
	}
	/* the nearest cut is not always the best one */
	print_message("shares: %.4f above the best, at most %.4f\n", sum / n, worst);
	assert_true(n > 2000 && sum / n < 0.01);
}

/* Programs of each lane, as chains have them */
static void shares(const struct rkmm_geom *g, uint32_t *programs)
{
	struct rkmm_member one = rkmm_member_of(g, g->mm.m, 0x10000000, 0x20000000, 0x30000000);
	struct rkmm_extent extent;
	struct rkmm_kick *kicks;
	u64 *image;
	uint32_t i;

	rkmm_image_measure(chip, &one, 1, &extent);
	kicks = calloc(extent.kicks, sizeof(*kicks));
	image = aligned_alloc(64, extent.bytes);
	rkmm_image_emit(chip, &one, 1, 0x1000, image, kicks);
	memset(programs, 0, RKMM_LANES_MAX * sizeof(*programs));
	for (i = 0; i < extent.kicks; i++)
		programs[kicks[i].lane] += kicks[i].tasks;
	free(image);
	free(kicks);
}

/* Lanes of @g have columns of their own, or rows of their own, and all of them work. */
static void check_split(const struct rkmm_geom *g, bool columns)
{
	uint32_t programs[RKMM_LANES_MAX], first = 0, last, l;
	struct rkmm_program p, q;

	shares(g, programs);
	for (l = 0; l < g->lanes; l++) {
		assert_true(programs[l] > 0);
		last = first + programs[l] - 1;
		rkmm_geom_program(g, first, g->mm.m, 0, 0, 0, &p);
		rkmm_geom_program(g, last, g->mm.m, 0, 0, 0, &q);
		if (columns) {
			/* from the first row of a column tile to the last one of it */
			assert_int_equal(p.a, 0);
			assert_int_equal(p.b, q.b);
			assert_int_equal(first % g->m_tiles, 0);
			assert_int_equal((last + 1) % g->m_tiles, 0);
		} else {
			assert_int_equal(p.b, 0);
			assert_int_equal(q.b, 0);
		}
		first = last + 1;
	}
	assert_int_equal(first, g->programs);
}

/* hw 02 §7.3: columns by default, rows where N is too narrow */
static void test_split(void **state)
{
	static const struct {
		enum rkmm_types types;
		uint32_t m, k, n;
		bool columns;
	} s[] = {
		{ RKMM_T_I8I32, 128, 1024, 4096, true },
		{ RKMM_T_I8I32, 1000, 1024, 3072, true },
		{ RKMM_T_I8I32, 1, 4096, 12288, true },
		{ RKMM_T_F16F16, 300, 1024, 480, true },
		{ RKMM_T_I4I16, 1, 2048, 6144, true },
		{ RKMM_T_I8I32, 6000, 1024, 32, false },
		{ RKMM_T_F16F32, 600, 2048, 16, false },
		{ RKMM_T_I4I16, 200, 2048, 64, false },
	};
	uint32_t i;

	(void)state;
	for (i = 0; i < sizeof(s) / sizeof(s[0]); i++) {
		struct rkmm_matmul mm = matmul(s[i].types, s[i].m, s[i].k, s[i].n);
		struct rkmm_geom g;

		mm.lanes = 3;
		g = geometry(&mm);
		if (s[i].columns) {
			assert_int_equal(g.lanes, 3);
			assert_int_equal(g.n_tiles % 3, 0);
		} else {
			assert_true(g.lanes > 1);
			assert_int_equal(g.n_tiles, 1);
			assert_true(g.m_tiles >= g.lanes);
		}
		check_split(&g, s[i].columns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_census),
		cmocka_unit_test(test_predictions),
		cmocka_unit_test(test_choice),
		cmocka_unit_test(test_lanes),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_rung_cores),
		cmocka_unit_test(test_least_time),
	};

	return cmocka_run_group_tests_name("prog choice", tests, NULL, NULL);
}
