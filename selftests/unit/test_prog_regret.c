// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * What the choice of a tiling loses when the constants of the cost law are off by
 * up to 30 %: against all tilings that laws and envelope allow, not only those it
 * looks at.
 */
#include <math.h>

#include "prog_shapes.h"
#include "prog_time.h"

#define WAYS	4000u

static struct way ways[WAYS];
static double times[WAYS], worst_of[WAYS];
static uint32_t nways;

static uint32_t div_up(uint32_t a, uint32_t b)
{
	return (a + b - 1) / b;
}

/* hw 02 §5.2..5.4, hw 03 §1.2: rows of one flat or cube program */
static uint32_t lawful_rows(enum rkmm_types types, uint32_t k, bool narrow)
{
	uint32_t in = rkmm_in_bits(types), weight = k / 1024 + 1, line = div_up(k * in / 8, 64) * 64;
	uint32_t banks, rows, cap = 1022;

	if (narrow && weight < 2)
		weight = 2;
	if (weight > 11)
		return 0;
	banks = in == 4 && k > 2048 ? 1 : 12 - weight;
	rows = banks * 32768 / line;
	while (in == 8 && rows && (uint64_t)rows * line * 100 >= 97ull * banks * 32768)
		rows--;
	if (in == 8 && k >= 512)
		cap = k == 512 ? 704 : k <= 1024 ? 320 : k <= 2048 ? 128 : 64;
	if (in == 16 && k == 128)
		cap = 256;
	if (in == 16 && k > 512 && narrow)
		cap = 128;
	return rows < cap ? rows : cap;
}

static void add(const struct way *w)
{
	assert_true(nways < WAYS);
	ways[nways++] = *w;
}

static void add_flat(struct way w)
{
	uint32_t group = rkmm_group(w.types), groups = w.np / group, chunks, tiles, most, least;

	for (chunks = div_up(w.np, 8192); chunks <= 12 && chunks <= groups; chunks++) {
		w.cols = div_up(groups, chunks) * group;
		if (div_up(w.np, w.cols) != chunks || w.cols > 8192)
			continue;
		most = lawful_rows(w.types, w.k, w.np - (chunks - 1) * w.cols <= 64);
		if (!most)
			continue;
		least = div_up(w.m, most);
		for (tiles = least; tiles < least + 6 && tiles <= w.m; tiles++) {
			w.rows = div_up(w.m, tiles);
			add(&w);
		}
	}
}

static void add_row(struct way w)
{
	w.rows = 1;
	for (w.cols = 64; w.cols <= w.np && w.cols <= 8192;
	     w.cols += w.cols < 512 ? 64 : w.cols / 512 * 64)
		add(&w);
	w.cols = w.np < 8192 ? w.np : 8192;
	add(&w);
}

/* The published rows, or the measured wide ones, with any columns up to theirs */
static void add_batch(struct way w, uint32_t m)
{
	w.rows = table_h(w.k);
	w.m = w.k == 1024 ? div_up(m, 16) * 16 : m;
	if (w.rows > w.m)
		w.rows = w.m;
	for (w.cols = 64; w.cols <= 64 || w.cols <= 131072 / w.k; w.cols += 64)
		if (w.cols <= w.np)
			add(&w);
	if (w.k != 2048)
		return;
	w.rows = 32;
	w.m = div_up(m, 32) * 32;
	for (w.cols = 64; w.cols <= 192 && w.cols <= w.np; w.cols += 64)
		add(&w);
}

/* Ways with K in slices of @k, in the form of @g */
static void add_slices(const struct rkmm_matmul *mm, const struct rkmm_geom *g, uint32_t k)
{
	uint32_t group = rkmm_group(mm->types);
	struct way w = {
		.types = mm->types, .form = g->form, .m = mm->m, .k = k,
		.np = div_up(mm->n, group) * group, .slices = div_up(mm->k, k),
	};
	uint32_t most = rkmm_in_bits(mm->types) == 16 && w.slices * k > 2048 ? 1 : mm->lanes;

	if (w.slices > 1 && mm->types == RKMM_T_I8I8)
		w.types = RKMM_T_I8I32;
	if (w.slices > 1 && mm->types == RKMM_T_F16F16)
		w.types = RKMM_T_F16F32;
	for (w.cores = 1; w.cores <= most; w.cores++) {
		if (mm->types != RKMM_T_I4I16 || g->form == RKMM_FORM_CUBE) {
			add_flat(w);
		} else if (mm->m > 1 && rkmm_batch_rows(k)) {
			w.form = RKMM_FORM_BATCH;
			add_batch(w, mm->m);
		} else {
			w.form = RKMM_FORM_FLAT;
			add_row(w);
		}
	}
}

static void enumerate(const struct rkmm_matmul *mm, const struct rkmm_geom *g)
{
	static const uint32_t widths[] = { 512, 1024, 1536, 2048, 2560, 3072, 3584, 4096 };
	uint32_t kp = div_up(mm->k, 32) * 32, i, k;

	if (kp < rkmm_k_min(mm->types))
		kp = rkmm_k_min(mm->types);
	nways = 0;
	add_slices(mm, g, kp <= 10752 ? kp : rkmm_slice_k(mm->types));
	for (i = 0; mm->free_slice && i < sizeof(widths) / sizeof(widths[0]); i++) {
		if (widths[i] >= mm->k)
			break;
		/* int4 is sliced to 2048 or not at all */
		if (mm->types == RKMM_T_I4I16 ? widths[i] != 2048 : widths[i] < 1024)
			continue;
		k = mm->types == RKMM_T_I4I16 ? 2048 :
		    div_up(div_up(mm->k, 32), div_up(mm->k, widths[i])) * 32;
		add_slices(mm, g, k);
	}
}

static double time_of(const struct rkmm_cost *c, const struct way *w, uint32_t n)
{
	double ns = law_time(c, w);

	return ns > 0 ? ns + law_host(c, w, n) : INFINITY;
}

/* A shape with the three cores */
static struct rkmm_matmul any_shape(void)
{
	struct rkmm_matmul mm;

	mm = matmul(rnd(RKMM_T_COUNT), size_near(600), size_near(10752), size_near(9000));
	mm.lanes = 3;
	mm.free_slice = rnd(2);
	if (rnd(2) && mm.types == RKMM_T_I4I16)
		mm.k = rnd(2) ? 2048 : 4096 + 2048 * rnd(3);
	return mm;
}

/* A shape, its choice, and every way that could be the best one under some constants */
static bool next_shape(struct rkmm_matmul *mm, struct way *mine)
{
	/* rates 30 % lower here against starts 30 % cheaper there */
	const double reach = 1 / 0.7 / 0.7;
	struct rkmm_geom g;
	uint32_t i, kept = 0;
	double t;

	*mm = any_shape();
	if (rkmm_geometry(chip, mm, &g))
		return false;
	*mine = way_of(&g);
	if (g.form == RKMM_FORM_FLAT && mm->types != RKMM_T_I4I16)
		assert_true(g.rows <= lawful_rows(g.types, g.kp, (g.np - 1) % g.cols < 64));
	t = time_of(chip->cost, mine, mm->n);
	enumerate(mm, &g);
	for (i = 0; i < nways; i++)
		if (time_of(chip->cost, &ways[i], mm->n) < reach * t)
			ways[kept++] = ways[i];
	nways = kept;
	add(mine);
	return true;
}

/* Regret of the last way, which is the choice */
static double regret(const struct rkmm_cost *c, uint32_t n)
{
	double best = INFINITY;
	uint32_t i;

	for (i = 0; i < nways; i++) {
		times[i] = time_of(c, &ways[i], n);
		if (times[i] < best)
			best = times[i];
	}
	for (i = 0; i < nways; i++)
		if (times[i] / best - 1 > worst_of[i])
			worst_of[i] = times[i] / best - 1;
	return times[nways - 1] / best - 1;
}

/* A factor for each constant of the law, or for each number of cores of each too */
struct factors {
	double start[3], rate[3], macs[3], fixed[6];
};

static struct rkmm_cost scaled(const struct factors *f)
{
	struct rkmm_cost c = *chip->cost;
	uint32_t i;

#define SCALE(field, factor) (c.field = (uint32_t)(c.field * (factor) + 0.5))
	for (i = 0; i < RKMM_LANES_MAX; i++) {
		SCALE(i8_start[i], f->start[i]);
		SCALE(i8_rate[i], f->rate[i]);
		SCALE(i4_start[i], f->start[i]);
		SCALE(i4_macs[i], f->macs[i]);
	}
	SCALE(i8_macs, f->macs[0]);
	SCALE(f16_start, f->start[0]);
	SCALE(f16_rate, f->rate[0]);
	SCALE(f16_macs, f->macs[0]);
	SCALE(row_start, f->start[0]);
	SCALE(row_rate, f->rate[0]);
	SCALE(add_ps, f->fixed[0]);
#undef SCALE
	return c;
}

static double within_30(void)
{
	return 0.7 + rnd(601) / 1000.0;
}

static struct factors drawn(bool each)
{
	struct factors f = { .fixed = { within_30() } };
	uint32_t i;

	for (i = 0; i < RKMM_LANES_MAX; i++) {
		f.start[i] = each || !i ? within_30() : f.start[0];
		f.rate[i] = each || !i ? within_30() : f.rate[0];
		f.macs[i] = each || !i ? within_30() : f.macs[0];
	}
	return f;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/**
 * struct summary - of many values
 * @mean: their mean
 * @within: share of those up to 0.1
 * @most: the largest
 */
struct summary {
	double mean, within, most;
};

static struct summary summary(const char *what, double *v, uint32_t n)
{
	struct summary s = { 0 };
	uint32_t i;

	for (i = 0; i < n; i++) {
		s.mean += v[i] / n;
		s.within += v[i] <= 0.1 ? 1.0 / n : 0;
	}
	qsort(v, n, sizeof(*v), by_value);
	s.most = v[n - 1];
	print_message("%-22s mean %.4f, median %.4f, 95 %% %.4f, 99 %% %.4f, most %.4f; ", what,
		      s.mean, v[n / 2], v[n * 95 / 100], v[n * 99 / 100], s.most);
	print_message("%.1f %% up to 0.1\n", 100 * s.within);
	return s;
}

#define SHAPES	500u
#define DRAWS	40u

static double all[SHAPES * DRAWS], shapes[SHAPES], least[SHAPES], over[SHAPES];

/* Without any perturbation: are the candidates enough? */
static void test_candidates(void **state)
{
	struct rkmm_matmul mm;
	struct summary s;
	struct way mine;
	uint32_t i = 0;

	(void)state;
	while (i < SHAPES)
		if (next_shape(&mm, &mine))
			shapes[i++] = regret(chip->cost, mm.n);
	s = summary("constants as fitted", shapes, SHAPES);
	assert_true(s.mean <= 0.005 && s.within >= 0.985);
}

/*
 * The planner takes the law's constants from the table it is handed: with any within 30 %
 * of the fit it must come within 10 % of the best way under the same constants, at every
 * draw. A search that is good for the fitted constants only would not.
 */
static void check_handed(bool each)
{
	struct rkmm_limits limits = *chip;
	uint32_t i = 0, j, moved = 0;
	struct summary s;

	while (i < SHAPES * DRAWS) {
		struct rkmm_matmul mm = any_shape();
		struct way fitted, mine;
		struct rkmm_geom g;

		if (rkmm_geometry(chip, &mm, &g))
			continue;
		fitted = way_of(&g);
		enumerate(&mm, &g);
		for (j = 0; j < DRAWS; j++, i++) {
			struct factors f = drawn(each);
			struct rkmm_cost c = scaled(&f);
			double best = INFINITY, t;
			uint32_t w;

			limits.cost = &c;
			assert_int_equal(rkmm_geometry(&limits, &mm, &g), RKMM_OK);
			mine = way_of(&g);
			moved += mine.rows != fitted.rows || mine.cols != fitted.cols ||
				 mine.slices != fitted.slices || mine.cores != fitted.cores;
			t = time_of(&c, &mine, mm.n);
			for (w = 0; w < nways; w++) {
				double other = time_of(&c, &ways[w], mm.n);

				if (other < best)
					best = other;
			}
			all[i] = t <= best ? 0 : t / best - 1;
			if (all[i] <= 0.1)
				continue;
			print_message("%s %ux%ux%u: %.4f\n", rkmm_types_name(mm.types), mm.m, mm.k,
				      mm.n, all[i]);
		}
	}
	s = summary(each ? "handed entries" : "handed constants", all, SHAPES * DRAWS);
	print_message("%u of %u choices are others than with the fit\n", moved, SHAPES * DRAWS);
	assert_true(s.most <= 0.1);
	/* or nothing was perturbed */
	assert_true(moved > SHAPES * DRAWS / 50);
}

static void test_handed(void **state)
{
	(void)state;
	check_handed(false);
	check_handed(true);
}

static void draw_all(bool each)
{
	struct rkmm_matmul mm;
	struct way mine;
	uint32_t i = 0, j;

	while (i < SHAPES) {
		if (!next_shape(&mm, &mine))
			continue;
		shapes[i] = 0;
		for (j = 0; j < DRAWS; j++) {
			struct factors f = drawn(each);
			struct rkmm_cost c = scaled(&f);
			double r = regret(&c, mm.n);

			all[i * DRAWS + j] = r;
			shapes[i] += r / DRAWS;
		}
		i++;
	}
}

/* Each constant off by a factor of its own: 10 % hold for every shape, and nearly every draw. */
static void test_constants(void **state)
{
	struct summary draws, means;

	(void)state;
	draw_all(false);
	draws = summary("constants", all, SHAPES * DRAWS);
	means = summary("constants, by shape", shapes, SHAPES);
	assert_true(draws.mean <= 0.01 && draws.within >= 0.985);
	assert_true(means.within >= 0.995);
}

/*
 * Each number of cores off by factors of its own too: 10 % hold in the mean, of all and
 * of nearly every shape. What single draws come to is in test_least().
 */
static void test_entries(void **state)
{
	struct summary draws, means;

	(void)state;
	draw_all(true);
	draws = summary("entries", all, SHAPES * DRAWS);
	means = summary("entries, by shape", shapes, SHAPES);
	assert_true(draws.mean <= 0.03 && draws.within >= 0.92);
	assert_true(means.within >= 0.97);
}

/* The corners of the box that matter to @types: @n of them when @each entry is free */
static struct factors corner(enum rkmm_types types, bool each, uint32_t at, uint32_t *n)
{
	struct factors f = { .fixed = { 1 } };
	bool fp16 = rkmm_in_bits(types) == 16;
	double *p[16], *same[16];
	uint32_t i, k = 0, bits = 0;

	for (i = 0; i < RKMM_LANES_MAX; i++) {
		p[k] = &f.start[i];
		same[k++] = each && !fp16 ? &f.start[i] : &f.start[0];
	}
	for (i = 0; i < RKMM_LANES_MAX; i++) {
		p[k] = &f.rate[i];
		same[k++] = each && !fp16 ? &f.rate[i] : &f.rate[0];
	}
	for (i = 0; i < RKMM_LANES_MAX; i++) {
		p[k] = &f.macs[i];
		same[k++] = each && types == RKMM_T_I4I16 ? &f.macs[i] : &f.macs[0];
	}
	p[k] = &f.fixed[0];
	same[k++] = &f.fixed[0];
	for (i = 0; i < k; i++) {
		if (same[i] != p[i])
			*p[i] = *same[i];
		/* batches do not have what rows have */
		else if (types == RKMM_T_I4I16 && i >= 3 && i < 6)
			*p[i] = 1;
		else
			*p[i] = at >> bits++ & 1 ? 1.3 : 0.7;
	}
	*n = 1u << bits;
	return f;
}

/*
 * The least regret that any choice made without knowing the factors can have at worst:
 * two ways that are equal by the fit and share no constant are up to 1.3 / 0.7 apart,
 * either way round, so none of them keeps to 10 %. Where one does, the choice does.
 */
static void check_least(bool each, uint32_t count, double attainable)
{
	uint32_t i = 0, j, corners, could = 0, does = 0;
	struct summary mine_s, least_s, over_s;
	struct rkmm_matmul mm;
	struct way mine;

	while (i < count) {
		if (!next_shape(&mm, &mine))
			continue;
		memset(worst_of, 0, sizeof(worst_of));
		corner(mm.types, each, 0, &corners);
		for (j = 0; j < corners; j++) {
			struct factors f = corner(mm.types, each, j, &corners);
			struct rkmm_cost c = scaled(&f);

			regret(&c, mm.n);
		}
		least[i] = INFINITY;
		for (j = 0; j < nways; j++)
			least[i] = worst_of[j] < least[i] ? worst_of[j] : least[i];
		shapes[i] = worst_of[nways - 1];
		over[i] = shapes[i] - least[i];
		could += least[i] <= 0.1;
		does += least[i] <= 0.1 && shapes[i] <= 0.1;
		i++;
	}
	least_s = summary("least worst case", least, count);
	mine_s = summary("worst case", shapes, count);
	over_s = summary("above the least", over, count);
	print_message("10 %% can be kept at %u shapes and are at %u\n", could, does);
	assert_true(does * 100 >= could * 97);
	assert_true(over_s.mean <= 0.02 && over_s.within >= 0.95);
	assert_true(least_s.within <= attainable);
	assert_true(mine_s.most <= 1 / 0.7 / 0.7 - 1);
}

static void test_least(void **state)
{
	(void)state;
	check_least(false, 300, 1);
	/* not at more than two shapes in three, whoever chooses */
	check_least(true, 120, 0.67);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_candidates),
		cmocka_unit_test(test_constants),
		cmocka_unit_test(test_entries),
		cmocka_unit_test(test_least),
		cmocka_unit_test(test_handed),
	};

	return cmocka_run_group_tests_name("prog regret", tests, NULL, NULL);
}
