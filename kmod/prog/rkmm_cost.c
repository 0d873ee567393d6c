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
 * Every product is below 2^62: B and C have at most 2^32 bytes each, K at most
 * 2^27 columns.
 */
u64 rkmm_geom_predict(const struct rkmm_cost *cost, const struct rkmm_geom *geom)
{
	u32 n = geom->lanes;
	u64 macs = (u64)geom->a_rows * geom->np / n * geom->ka;
	u64 weight = geom->b_bytes * geom->m_tiles * 10;

	switch (rkmm_type_facts[geom->types].in) {
	case RKMM_PREC_I8:
		weight /= cost->i8_rate[n - 1];
		macs /= cost->i8_macs;
		return cost->i8_start[n - 1] + (weight > macs ? weight : macs);
	case RKMM_PREC_F16:
		weight /= cost->f16_rate;
		macs /= cost->f16_macs;
		return cost->f16_start + (weight > macs ? weight : macs);
	default:
		if (geom->form == RKMM_FORM_FLAT)
			return cost->row_start + geom->b_bytes * geom->mm.m * 10 / cost->row_rate;
		return (u64)rkmm_div_up(geom->programs, n) * cost->i4_start[n - 1] +
		       macs / cost->i4_macs[n - 1];
	}
}

u64 rkmm_geom_host_ns(const struct rkmm_cost *cost, const struct rkmm_geom *geom)
{
	if (geom->slices == 1)
		return 0;
	return (u64)geom->mm.m * geom->mm.n / 1000 * geom->slices * cost->add_ps +
	       (u64)geom->mm.m * geom->mm.n % 1000 * geom->slices * cost->add_ps / 1000;
}
