// SPDX-License-Identifier: GPL-2.0-only
/*
 * What dies were seen to do beyond, and less than, the published tables:
 * hw 02 §5, §6.3, hw 03 §1.2, §1.7.
 *
 * Right and wrong geometries interleave, so a rung is a point that was measured
 * and nothing between points is taken for right.
 */
#include "rkmm_pure.h"

#define INT4	4
#define INT8	8
#define FP16	16
#define ANY	RKMM_FORM_COUNT
#define K_ANY	0xffffffff

/*
 * Row caps smaller than the bank law, on every die. Most are explained by the
 * split that was in use when they were measured (hw 02 §5.2), yet nothing beyond
 * them has been seen right. int8: hw 02 §5.3, hw 03 G11; unlisted K take the cap
 * of the next listed one.
 */
static const struct rkmm_rung caps[] = {
	{ .bits = INT8, .form = ANY, .cap = true, .k_min = 512, .k_max = 512, .rows = 704 },
	{ .bits = INT8, .form = ANY, .cap = true, .k_min = 513, .k_max = 1024, .rows = 320 },
	{ .bits = INT8, .form = ANY, .cap = true, .k_min = 1025, .k_max = 2048, .rows = 128 },
	{ .bits = INT8, .form = ANY, .cap = true, .k_min = 2049, .k_max = K_ANY, .rows = 64 },
	/* larger ones are not monotonic: hw 03 G9 */
	{ .bits = FP16, .form = ANY, .cap = true, .k_min = 128, .k_max = 128, .rows = 256 },
	/* 144 hangs at K = 1024: hw 03 G10 */
	{ .bits = FP16, .form = ANY, .cap = true, .k_min = 513, .k_max = K_ANY, .narrow = 64,
	  .rows = 128 },
};

/*
 * Four data banks hold 32 rows of K = 2048. With 256 columns, which fill the
 * other eight banks exactly, this was right on three cores and on one (hw 03
 * §6.3, points 6 and 8). The best points, two banks and 256 or 320 columns,
 * were seen on two and three cores only, and the latter storms on one (hw 03
 * G22); lanes may find one core alone, so those must not be chosen. Fewer rows
 * under wide columns meet the H gate (hw 03 G18): every program has all 32.
 */
static const struct rkmm_rung rungs_236[] = {
	{ .bits = INT4, .form = RKMM_FORM_BATCH, .k_min = 2048, .k_max = 2048, .cores = 7,
	  .data_banks = 4, .rows = 32, .cols = 256 },
};

/*
 * Half of the common H at K = 2048 and nothing wider than 64 columns there.
 * Other K were not tried on this die: rows stay, as lower ones are not safer
 * (hw 03 G17), columns do not widen.
 */
static const struct rkmm_rung rungs_235[] = {
	{ .bits = INT4, .form = RKMM_FORM_BATCH, .cap = true, .k_min = 2048, .k_max = 2048,
	  .rows = 4 },
	{ .bits = INT4, .form = RKMM_FORM_BATCH, .cap = true, .k_min = 32, .k_max = K_ANY,
	  .cols = 64 },
};

const struct rkmm_die rkmm_dies[] = {
	{ "default", rungs_236, ARRAY_SIZE(rungs_236) },
	{ "235", rungs_235, ARRAY_SIZE(rungs_235) },
	{ "236", rungs_236, ARRAY_SIZE(rungs_236) },
	{ "shipped", NULL, 0 },
};

static bool equal(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

const struct rkmm_die *rkmm_die_find(const char *name)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rkmm_dies); i++)
		if (equal(rkmm_dies[i].name, name))
			return &rkmm_dies[i];
	return NULL;
}

bool rkmm_rung_fits(const struct rkmm_rung *rung, const struct rkmm_geom *geom)
{
	return rung->bits == rkmm_type_facts[geom->types].in_bits &&
	       (rung->form == ANY || rung->form == geom->form) &&
	       geom->kp >= rung->k_min && geom->kp <= rung->k_max;
}

/* A cap on rows, or on columns, that applies; 0 for none. */
static u32 cap_of(const struct rkmm_rung *rung, const struct rkmm_geom *geom, u32 last_cols,
		  bool columns)
{
	if (!rung->cap || !rkmm_rung_fits(rung, geom) ||
	    (rung->narrow && last_cols > rung->narrow))
		return 0;
	return columns ? rung->cols : rung->rows;
}

static u32 least_cap(const struct rkmm_die *die, const struct rkmm_geom *geom, u32 last_cols,
		     bool columns)
{
	u32 least = 0xffffffff, cap, i;

	for (i = 0; i < ARRAY_SIZE(caps) + die->nrungs; i++) {
		cap = cap_of(i < ARRAY_SIZE(caps) ? &caps[i] : &die->rungs[i - ARRAY_SIZE(caps)],
			     geom, last_cols, columns);
		if (cap)
			least = rkmm_min(least, cap);
	}
	return least;
}

u32 rkmm_die_rows(const struct rkmm_die *die, const struct rkmm_geom *geom, u32 last_cols)
{
	return least_cap(die, geom, last_cols, false);
}

u32 rkmm_die_cols(const struct rkmm_die *die, const struct rkmm_geom *geom)
{
	return least_cap(die, geom, 0, true);
}
