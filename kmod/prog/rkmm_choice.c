// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which tiling: the one with the least predicted time among those that the die
 * was seen to do on every number of cores that lanes may find. Program count
 * decides nothing by itself (hw 03 §6.2).
 */
#include "rkmm_pure.h"

/* int4 loses its wide programs from here on (hw 03 G20); slices have them. */
#define SLICE_FROM	4096

u32 rkmm_geom_candidates(const struct rkmm_limits *limits)
{
	/* K whole or in slices; the shipped geometry or a rung; one to three lanes */
	return 2 * (1 + limits->die->nrungs) * RKMM_LANES_MAX;
}

enum rkmm_reason rkmm_geom_candidate(const struct rkmm_limits *limits,
				     const struct rkmm_matmul *mm, u32 i, struct rkmm_geom *geom)
{
	u32 lanes = i % RKMM_LANES_MAX + 1;
	u32 rung = i / RKMM_LANES_MAX % (1 + limits->die->nrungs);
	bool sliced = i / RKMM_LANES_MAX / (1 + limits->die->nrungs);
	struct rkmm_matmul other = *mm;

	if (sliced) {
		if (!mm->free_slice || mm->slice || mm->types != RKMM_T_I4I16 ||
		    mm->k < SLICE_FROM || mm->k > limits->k_max || mm->form == RKMM_FORM_CUBE)
			return RKMM_REASON_COUNT;
		other.slice = rkmm_slice_k(mm->types);
	}
	return rkmm_tile(limits, &other, rung ? &limits->die->rungs[rung - 1] : NULL, lanes, geom);
}

enum rkmm_reason rkmm_geometry(const struct rkmm_limits *limits, const struct rkmm_matmul *mm,
			       struct rkmm_geom *geom)
{
	u32 n = rkmm_geom_candidates(limits), i;
	enum rkmm_reason reason;
	struct rkmm_geom other;

	/* What the plainest one is refused for, no other is served for. */
	reason = rkmm_geom_candidate(limits, mm, 0, geom);
	if (reason)
		return reason;
	for (i = 1; i < n; i++)
		if (!rkmm_geom_candidate(limits, mm, i, &other) &&
		    other.predicted_ns + other.host_ns < geom->predicted_ns + geom->host_ns)
			*geom = other;
	geom->mm = *mm;
	return RKMM_OK;
}

bool rkmm_geom_fallback(const struct rkmm_limits *limits, const struct rkmm_geom *geom,
			struct rkmm_geom *other)
{
	if (!geom->fallback_rows)
		return false;
	*other = *geom;
	other->rows = rkmm_min(geom->fallback_rows, geom->a_rows);
	/* One block of columns: wider programs would put the next block elsewhere. */
	other->cols = 64;
	other->m_tiles = rkmm_div_up(other->a_rows, other->rows);
	other->n_tiles = rkmm_div_up(other->np, other->cols);
	other->programs = other->slices * other->m_tiles * other->n_tiles;
	other->data_banks = 1;
	other->weight_banks = limits->banks - 1;
	other->grains = 4 * other->rows + 1;
	other->weight_reuse = rkmm_in_bytes(other->types, 64ull * other->kp) <=
			      (u64)other->weight_banks * limits->bank_bytes;
	other->lanes = rkmm_min(other->lanes, other->programs);
	other->fallback_rows = 0;
	other->predicted_ns = rkmm_geom_predict(limits->cost, other);
	return true;
}
