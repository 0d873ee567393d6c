// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which tiling: the one with the least predicted time among those that the die
 * was seen to do on every number of cores that lanes may find. Program count
 * decides nothing by itself (hw 03 §6.2).
 */
#include "rkmm_envelope.h"
#include "rkmm_pure.h"

/*
 * Slices that caps on rows were measured for (hw 02 §5.3): long rows fill the banks,
 * and few rows a program mean that B is read often. int4 has its wide programs at
 * 2048 alone (hw 03 G20).
 */
static const u32 widths[] = { 1024, 2048, 3072, 4096 };

#define RUNGS(limits)	(1 + (limits)->die->nrungs)

/*
 * N cut for the lanes, not cut, or into narrower column tiles than can be. The last are for int4
 * batches with so small a K that starts count: what decides is how few programs there are, and
 * whether those of the last column tile fill up the lanes.
 */
#define FEW_K	64

/* K whole or in slices; the shipped geometry or a rung; N cut or not; lanes */
static u32 usual(const struct rkmm_limits *limits)
{
	return (1 + ARRAY_SIZE(widths)) * RUNGS(limits) * 2 * RKMM_LANES_MAX;
}

/* and behind those the narrower tiles, of all of K */
u32 rkmm_geom_candidates(const struct rkmm_limits *limits)
{
	return usual(limits) + RUNGS(limits) * RKMM_CUT_LESS_MAX * RKMM_LANES_MAX;
}

static u32 candidates_of(const struct rkmm_limits *limits, const struct rkmm_matmul *mm)
{
	return mm->types == RKMM_T_I4I16 && mm->k <= FEW_K ? rkmm_geom_candidates(limits) :
							     usual(limits);
}

u32 rkmm_geom_candidate_rung(const struct rkmm_limits *limits, u32 i)
{
	u32 n = usual(limits);

	return i < n ? i / RKMM_LANES_MAX / 2 % RUNGS(limits) :
		       (i - n) / RKMM_LANES_MAX / RKMM_CUT_LESS_MAX;
}

/* K of a slice: as many slices as @width asks for, but equal ones; 0 where it is nothing new */
static u32 slice_of(const struct rkmm_limits *limits, const struct rkmm_matmul *mm, u32 width)
{
	u32 slice;

	if ((u32)mm->types >= RKMM_T_COUNT || !mm->free_slice || mm->slice || mm->k <= width ||
	    (mm->k > limits->k_max && width == rkmm_slice_k(mm->types)))
		return 0;
	if (rkmm_type_facts[mm->types].in == RKMM_PREC_I4)
		return width == rkmm_slice_k(mm->types) && mm->form != RKMM_FORM_CUBE ? width : 0;
	slice = rkmm_div_up(rkmm_div_up(mm->k, RKMM_K_ALIGN), rkmm_div_up(mm->k, width)) *
		RKMM_K_ALIGN;
	return slice > width - 1024 ? slice : 0;
}

/* Lanes may find any number of cores up to theirs. */
static enum rkmm_reason known_good(const struct rkmm_envelope *env, struct rkmm_geom *geom)
{
	geom->lanes_most = rkmm_min(geom->lanes_most, rkmm_envelope_lanes(env, geom));
	return geom->lanes > geom->lanes_most ? RKMM_REASON_COUNT : RKMM_OK;
}

enum rkmm_reason rkmm_geom_candidate(const struct rkmm_limits *limits,
				     const struct rkmm_matmul *mm, u32 i, struct rkmm_geom *geom)
{
	u32 lanes = i % RKMM_LANES_MAX + 1;
	u32 cut = i / RKMM_LANES_MAX % 2;
	u32 rung = rkmm_geom_candidate_rung(limits, i);
	u32 width = i / RKMM_LANES_MAX / 2 / RUNGS(limits);
	struct rkmm_matmul other = *mm;
	enum rkmm_reason reason;

	if (i >= candidates_of(limits, mm))
		return RKMM_REASON_COUNT;
	if (i >= usual(limits)) {
		cut = RKMM_CUT_NOT + 1 +
		      (i - usual(limits)) / RKMM_LANES_MAX % RKMM_CUT_LESS_MAX;
		width = 0;
	}
	/* one lane has nothing to cut for */
	if (cut && lanes == 1)
		return RKMM_REASON_COUNT;
	if (width) {
		other.slice = slice_of(limits, mm, widths[width - 1]);
		if (!other.slice)
			return RKMM_REASON_COUNT;
	}
	reason = rkmm_tile(limits, &other, rung ? &limits->die->rungs[rung - 1] : NULL, lanes, cut,
			   geom);
	return reason || !limits->envelope ? reason : known_good(limits->envelope, geom);
}

enum rkmm_reason rkmm_geometry(const struct rkmm_limits *limits, const struct rkmm_matmul *mm,
			       struct rkmm_geom *geom)
{
	u32 n = candidates_of(limits, mm), i;
	struct rkmm_matmul rows = *mm;
	enum rkmm_reason reason;
	struct rkmm_geom other;
	bool barred;

	/* What the plainest one is refused for, no other is served for; but for verdicts. */
	reason = rkmm_geom_candidate(limits, mm, 0, geom);
	barred = reason == RKMM_REASON_COUNT;
	if (reason && !barred)
		return reason;
	for (i = 1; i < n; i++)
		if (!rkmm_geom_candidate(limits, mm, i, &other) &&
		    (barred || other.predicted_ns + other.host_ns <
			       geom->predicted_ns + geom->host_ns)) {
			*geom = other;
			barred = false;
		}
	if (barred && mm->form == RKMM_FORM_COUNT && geom->form == RKMM_FORM_BATCH) {
		rows.form = RKMM_FORM_FLAT;
		reason = rkmm_geometry(limits, &rows, geom);
	} else {
		reason = barred ? RKMM_REASON_FORM : RKMM_OK;
	}
	geom->mm = *mm;
	return reason;
}

/* The published batch: blocks of C stay where they are, one block of columns a program */
static void fall_back_batch(const struct rkmm_geom *geom, struct rkmm_geom *other)
{
	other->rows = rkmm_min(geom->fallback_rows, geom->a_rows);
	/* wider programs would put the next block elsewhere */
	other->cols = 64;
	other->m_tiles = rkmm_div_up(other->a_rows, other->rows);
	other->grains = 4 * other->rows + 1;
	other->fallback_rows = 0;
}

/* The captured split and the rows of its one data bank: rows lie where they lie, in any tile */
static void fall_back_rows(const struct rkmm_limits *limits, const struct rkmm_geom *geom,
			   struct rkmm_geom *other)
{
	other->rows = rkmm_min(rkmm_bank_rows(limits, geom), geom->rows);
	if (geom->form == RKMM_FORM_CUBE && other->rows >= 4)
		other->rows -= other->rows % 4;
	other->m_tiles = rkmm_div_up(geom->mm.m, other->rows);
	other->grains = other->rows + 1;
}

bool rkmm_geom_fallback(const struct rkmm_limits *limits, const struct rkmm_geom *geom,
			struct rkmm_geom *other)
{
	u64 programs;

	if (geom->data_banks == 1 || (geom->form == RKMM_FORM_BATCH && !geom->fallback_rows))
		return false;
	*other = *geom;
	if (geom->form == RKMM_FORM_BATCH)
		fall_back_batch(geom, other);
	else
		fall_back_rows(limits, geom, other);
	other->n_tiles = rkmm_div_up(other->np, other->cols);
	programs = (u64)other->m_tiles * other->n_tiles * other->slices;
	if (programs * rkmm_slot_bytes(RKMM_PROG_WRITES) > 0xffffffff)
		return false;
	other->programs = (u32)programs;
	other->data_banks = 1;
	other->weight_banks = limits->banks - 1;
	other->weight_reuse = other->form == RKMM_FORM_BATCH &&
			      rkmm_in_bytes(other->types, 64ull * other->kp) <=
			      (u64)other->weight_banks * limits->bank_bytes;
	other->lanes = rkmm_min(other->lanes, other->programs);
	other->predicted_ns = rkmm_geom_predict(limits->cost, other);
	return true;
}
