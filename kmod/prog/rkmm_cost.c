// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a tiling costs: the law of hw 03 §6.2.
 */
#include "rkmm_pure.h"

/* hw 03 §6.2, the fit; +-13 % for int4, +-9 % for int8, +-30 % for fp16 */
const struct rkmm_cost rkmm_cost_rk3588 = {
	.i8_start = { 56000, 101500, 147000 },
	.i8_rate = { 96, 193, 255 },
	.i8_macs = 450,
	.f16_start = 400000,
	.f16_rate = 240,
	.f16_macs = 150,
	.i4_start = { 600, 3000, 7400 },
	.i4_macs = { 220, 220, 180 },
	.row_start = 410000,
	.row_rate = 82,
	.add_ps = 750,
};

/*
 * One program of @rows rows and @cols columns: the term under the sums of the law.
 * Bandwidth is what all cores at work have together, multiplications are a core's.
 */
static u64 program_ns(const struct rkmm_cost *cost, const struct rkmm_geom *geom, u32 n, u32 rows,
		      u32 cols)
{
	u64 macs = (u64)rows * cols * geom->kp;
	u64 weight = rkmm_in_bytes(geom->types, (u64)cols * geom->kp) * 10;

	switch (rkmm_type_facts[geom->types].in) {
	case RKMM_PREC_I8:
		weight = weight * n / cost->i8_rate[n - 1];
		macs /= cost->i8_macs;
		return weight > macs ? weight : macs;
	case RKMM_PREC_F16:
		weight = weight * n / cost->f16_rate;
		macs /= cost->f16_macs;
		return weight > macs ? weight : macs;
	default:
		/* rows: the rate is one core's, shared work is hw 03 §7.3's "/ 3 cores" */
		if (geom->form == RKMM_FORM_FLAT)
			return weight / cost->row_rate;
		return cost->i4_start[n - 1] + macs / cost->i4_macs[n - 1];
	}
}

/* What a lane costs before its first program, with @n cores at work */
u32 rkmm_start_ns(const struct rkmm_cost *cost, const struct rkmm_geom *geom, u32 n)
{
	switch (rkmm_type_facts[geom->types].in) {
	case RKMM_PREC_I8:
		return cost->i8_start[n - 1];
	case RKMM_PREC_F16:
		return cost->f16_start;
	default:
		return geom->form == RKMM_FORM_FLAT ? cost->row_start : 0;
	}
}

/* No time is zero: the least weight, 1024 bytes, takes 40 ns. */
void rkmm_spans_of(const struct rkmm_cost *cost, const struct rkmm_geom *geom, u32 n, u32 rows,
		   struct rkmm_spans *s)
{
	u32 cols, last_rows, i;
	struct rkmm_walk walk;

	rkmm_walk_start(&walk, geom, 0, rows);
	s->tiles = walk.tiles;
	s->n_tiles = geom->n_tiles;
	last_rows = rkmm_min(geom->rows, walk.last - (walk.tiles - 1) * geom->rows);
	for (i = 0; i < 2; i++) {
		cols = i ? geom->np - (geom->n_tiles - 1) * geom->cols : geom->cols;
		s->program[i] = program_ns(cost, geom, n, geom->rows, cols);
		s->last[i] = program_ns(cost, geom, n, last_rows, cols);
		s->chunk[i] = (s->tiles - 1) * s->program[i] + s->last[i];
	}
	s->slice = (s->n_tiles - 1) * s->chunk[0] + s->chunk[1];
}

/* Time of the programs before program @i */
static u64 span(const struct rkmm_spans *s, u32 i)
{
	u32 chunk = i / s->tiles;
	u32 slice = chunk / s->n_tiles;

	chunk %= s->n_tiles;
	return slice * s->slice + chunk * s->chunk[0] +
	       i % s->tiles * s->program[chunk + 1 == s->n_tiles];
}

/* The program that begins nearest to @ns */
static u32 span_find(const struct rkmm_spans *s, u64 ns)
{
	u32 slice = (u32)(ns / s->slice), chunk, i;
	bool last;

	ns %= s->slice;
	chunk = rkmm_min((u32)(ns / s->chunk[0]), s->n_tiles - 1);
	ns -= chunk * s->chunk[0];
	last = chunk + 1 == s->n_tiles;
	i = rkmm_min((u32)(ns / s->program[last]), s->tiles - 1);
	ns -= i * s->program[last];
	i += (slice * s->n_tiles + chunk) * s->tiles;
	return i + (2 * ns > span(s, i + 1) - span(s, i));
}

u32 rkmm_geom_lanes(const struct rkmm_geom *geom, u32 rows)
{
	return rkmm_max(rkmm_min(geom->lanes, rkmm_geom_programs(geom, rows)), 1);
}

static u32 lane_start(const struct rkmm_spans *s, u32 programs, u32 lanes, u32 l)
{
	u64 all = span(s, programs);

	if (l >= lanes)
		return programs;
	/* none is left without a program */
	return rkmm_max(rkmm_min(span_find(s, all * l / lanes), programs - (lanes - l)), l);
}

/*
 * Every product is below 2^62: a program has at most 2^10 rows, 2^13 columns and a K
 * of 2^14, and there are at most 2^23 of them.
 */
u64 rkmm_geom_predict(const struct rkmm_cost *cost, const struct rkmm_geom *geom)
{
	u64 longest = 0, from = 0, to;
	struct rkmm_spans s;
	u32 l;

	rkmm_spans_of(cost, geom, geom->lanes, geom->mm.m, &s);
	for (l = 1; l <= geom->lanes; l++) {
		to = span(&s, lane_start(&s, geom->programs, geom->lanes, l));
		if (to - from > longest)
			longest = to - from;
		from = to;
	}
	return rkmm_start_ns(cost, geom, geom->lanes) + longest;
}

u64 rkmm_geom_host_ns(const struct rkmm_cost *cost, const struct rkmm_geom *geom)
{
	if (geom->slices == 1)
		return 0;
	return (u64)geom->mm.m * geom->mm.n / 1000 * geom->slices * cost->add_ps +
	       (u64)geom->mm.m * geom->mm.n % 1000 * geom->slices * cost->add_ps / 1000;
}
