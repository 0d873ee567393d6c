// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a description to a tiling inside the laws of hw 02 §5, §6.
 *
 * Where the sheets disagree the safe side is taken; the place is named at each
 * such choice.
 */
#include "rkmm_pure.h"

#define SIZE_LIMIT	0xffffffffull	/* operands have 32-bit device addresses */
#define ROWS_FIELD	1022		/* FEATURE_GRAINS = rows + 1 has ten bits (hw 02 §5.3) */
#define PITCH_FIELD	(8192 * RKMM_ATOM)	/* a notch has 13 bits (hw 02 §3.3) */
#define SURF_FIELD	0x8000000	/* SURF_STRIDE is signed, 28 bits (hw 02 §3.4) */

static u32 round_up_to(u32 value, u32 step)
{
	return rkmm_div_up(value, step) * step;
}

/*
 * H, rows per int4 batch program: no formula fits, so the smaller of the two
 * published tables for listed K, and the common 0.75 margin for the rest
 * (hw 02 §6.3, hw 03 §1.2).
 */
u32 rkmm_batch_rows(u32 kp)
{
	static const struct {
		u16 k, h;
	} table[] = {
		{ 256, 64 }, { 512, 32 }, { 768, 22 }, { 1024, 16 }, { 1536, 11 }, { 2048, 8 },
		{ 2560, 4 },	/* hw 02 says 7, hw 03 G24 saw it miss */
		{ 3072, 4 }, { 3584, 4 }, { 4096, 4 }, { 5120, 3 }, { 6144, 3 }, { 8192, 2 },
	};
	u32 lines, h, i;

	if (!kp)
		return 0;
	h = rkmm_min(64, 12288 / kp);
	for (i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].k == kp)
			h = table[i].h;
	/* The capacity formula may only say no (hw 02 §6.3): line 4(h - 1) must fit one bank. */
	lines = 512 / rkmm_div_up(kp, 128);
	if (lines)
		h = rkmm_min(h, (lines - 1) / 4 + 1);
	/* Below two rows the batch form wins nothing over single rows. */
	return lines && h >= 2 ? h : 0;
}

/*
 * Wb, columns per int4 batch program: two banks of weight, 64 columns at least
 * (hw 02 §6.4). Wider tiles need two data banks and an open H gate, which hold
 * only for listed points (hw 03 G18, G19).
 */
u32 rkmm_batch_cols(u32 kp)
{
	return kp ? rkmm_max(131072 / kp / 64 * 64, 64) : 0;
}

/*
 * At K = 1024 fewer rows than the table's 16 are wrong (5..8) or never start
 * (up to 4): hw 03 G17. Programs there always run all 16.
 */
static u32 batch_min_rows(u32 kp)
{
	return kp == 1024 ? rkmm_batch_rows(kp) : 1;
}

/* Columns of the last, narrowest column tile */
static u32 last_cols(const struct rkmm_geom *geom)
{
	return (geom->np - 1) % geom->cols + 1;
}

/*
 * Banks that the weight keeps: more than one kernel group, K/1024 banks
 * (hw 02 §5.2, §5.4), and two for narrow N (hw 03 G10).
 */
static u32 weight_banks_min(const struct rkmm_limits *limits, const struct rkmm_geom *geom)
{
	u32 banks = 32 * geom->kp / limits->bank_bytes + 1;

	return last_cols(geom) <= 64 ? rkmm_max(banks, 2) : banks;
}

/*
 * Banks of @rows rows, counted in whole CBUF entries per row. int8 loses its
 * last rows when the banks are 97..99 % full (hw 02 §5.2); a full bank is
 * treated the same, so that every smaller tile is right with the same split.
 */
static u32 data_banks(const struct rkmm_limits *limits, const struct rkmm_geom *geom, u32 rows)
{
	u32 need = rows * rkmm_line_entries(geom->types, geom->kp) * RKMM_ENTRY;
	u32 banks = rkmm_div_up(need, limits->bank_bytes);

	if (rkmm_type_facts[geom->types].in == RKMM_PREC_I8 &&
	    (u64)need * 100 >= (u64)banks * limits->bank_bytes * 97)
		banks++;
	return banks;
}

u32 rkmm_bank_rows(const struct rkmm_limits *limits, const struct rkmm_geom *geom)
{
	u32 rows = limits->bank_bytes / (rkmm_line_entries(geom->types, geom->kp) * RKMM_ENTRY);

	while (data_banks(limits, geom, rows) > 1)
		rows--;
	return rows;
}

/* R, the largest power of two of lines in two banks (hw 02 §5.1) */
static u32 grains_cap(const struct rkmm_geom *geom)
{
	u32 lines = 65536 / (u32)rkmm_in_bytes(geom->types, geom->kp);
	u32 r = 1;

	while (2 * r <= lines)
		r *= 2;
	return r;
}

/* Where N is too narrow to give every lane a chunk, rows are shared too. */
static u32 share_rows(const struct rkmm_geom *geom, u32 lanes)
{
	u32 n_tiles = rkmm_div_up(geom->np, geom->cols);

	return rkmm_div_up(geom->mm.m, rkmm_min(rkmm_div_up(lanes, n_tiles), geom->mm.m));
}

/* Rows per program, split and grains of a flat or cube program of several rows. */
static enum rkmm_reason split_rows(const struct rkmm_limits *limits, struct rkmm_geom *geom,
				   u32 lanes)
{
	u32 weight = weight_banks_min(limits, geom);
	u32 most, step = 1, rows, lo, hi;

	if (weight >= limits->banks)
		return RKMM_REASON_BANKS;
	most = limits->banks - weight;
	/* int4: at K >= 4096 every split but 0xb1 fails, from 2048 unmeasured (hw 03 G20) */
	if (rkmm_type_facts[geom->types].in == RKMM_PREC_I4 && geom->kp > 2048)
		most = 1;
	if (data_banks(limits, geom, 1) > most)
		return RKMM_REASON_BANKS;

	/* data_banks() rises with the rows: halve the way to the last that fits */
	lo = 1;
	hi = rkmm_min(rkmm_die_rows(limits->die, geom, last_cols(geom)), ROWS_FIELD);
	while (lo < hi) {
		u32 mid = hi - (hi - lo) / 2;

		if (data_banks(limits, geom, mid) <= most)
			lo = mid;
		else
			hi = mid - 1;
	}
	rows = lo;
	/* A pitch beyond the notch field: one line per program has no pitch. */
	if (geom->form == RKMM_FORM_FLAT && geom->c_pitch > PITCH_FIELD)
		rows = 1;
	/* The cube is read in groups of four lines: tiles end where groups do. */
	if (geom->form == RKMM_FORM_CUBE && geom->mm.m > rows && rows >= 4)
		step = 4;
	if (geom->form == RKMM_FORM_FLAT)
		rows = rkmm_min(rows, share_rows(geom, lanes));
	rows -= rows % step;
	geom->m_tiles = rkmm_div_up(geom->mm.m, rows);
	geom->rows = round_up_to(rkmm_div_up(geom->mm.m, geom->m_tiles), step);
	geom->data_banks = data_banks(limits, geom, geom->rows);
	geom->weight_banks = limits->banks - geom->data_banks;
	geom->grains = geom->rows + 1;
	/* Grains and split change as a pair (hw 03 G5): with one data bank the template's. */
	if (geom->form == RKMM_FORM_FLAT && geom->data_banks > 1)
		geom->grains = rkmm_min(geom->grains, grains_cap(geom));
	return RKMM_OK;
}

/*
 * Columns of a wide program: what the rung was seen to do, less what keeps one
 * bank of the weight side spare.
 */
static u32 rung_cols(const struct rkmm_limits *limits, const struct rkmm_geom *geom,
		     const struct rkmm_rung *rung)
{
	u32 banks = limits->banks - rung->data_banks - 1;
	u32 cols = banks * limits->bank_bytes / (u32)rkmm_in_bytes(geom->types, geom->kp);

	return rkmm_min(cols / 64 * 64, rung->cols);
}

/*
 * An int4 batch: the shipped geometry, which never leaves the captured split
 * (hw 03 G14, G20), or a rung. Programs of a rung have all of its rows.
 */
static void split_batch(const struct rkmm_limits *limits, struct rkmm_geom *geom,
			const struct rkmm_rung *rung)
{
	u32 rows = rkmm_min(rkmm_batch_rows(geom->kp), rkmm_die_rows(limits->die, geom, 64));
	u32 cols = rkmm_min(rkmm_batch_cols(geom->kp), rkmm_die_cols(limits->die, geom));

	geom->min_rows = batch_min_rows(geom->kp);
	geom->data_banks = 1;
	if (rung) {
		/* The shipped rows must end where these do to write the same addresses. */
		geom->fallback_rows = rung->rows % rows ? 0 : rows;
		rows = rung->rows;
		cols = rung_cols(limits, geom, rung);
		geom->min_rows = rows;
		geom->data_banks = rung->data_banks;
	}
	geom->a_rows = round_up_to(geom->mm.m, geom->min_rows);
	geom->rows = rkmm_min(rows, geom->a_rows);
	geom->cols = rkmm_min(cols, geom->cols);
	geom->tile_rows = geom->rows;
	geom->tile_cols = geom->cols;
	geom->weight_banks = limits->banks - geom->data_banks;
	geom->grains = 4 * geom->rows + 1;
	/* hw 02 §6.5, hw 03 S13: only what the weight banks hold can be reused */
	geom->weight_reuse = rkmm_in_bytes(geom->types, (u64)geom->cols * geom->kp) <=
			     (u64)geom->weight_banks * limits->bank_bytes;
	geom->m_tiles = geom->a_rows / geom->rows + (geom->a_rows % geom->rows != 0);
}

/* One int4 row per program */
static void split_row(const struct rkmm_limits *limits, struct rkmm_geom *geom)
{
	geom->data_banks = 1;
	geom->weight_banks = limits->banks - 1;
	geom->rows = 1;
	geom->grains = 2;
	geom->m_tiles = geom->mm.m;
}

static enum rkmm_reason choose_form(struct rkmm_geom *geom)
{
	const struct rkmm_matmul *mm = &geom->mm;
	bool int4 = rkmm_type_facts[mm->types].in == RKMM_PREC_I4;

	switch ((u32)mm->form) {
	case RKMM_FORM_COUNT:
		geom->form = int4 && mm->m > 1 && rkmm_batch_rows(geom->kp) ?
			     RKMM_FORM_BATCH : RKMM_FORM_FLAT;
		return RKMM_OK;
	case RKMM_FORM_BATCH:
		if (!int4 || !rkmm_batch_rows(geom->kp))
			return RKMM_REASON_FORM;
		break;
	case RKMM_FORM_FLAT:
	case RKMM_FORM_CUBE:
		break;
	default:
		return RKMM_REASON_FORM;
	}
	geom->form = mm->form;
	return RKMM_OK;
}

static enum rkmm_reason check_quant(const struct rkmm_matmul *mm)
{
	if (mm->types == RKMM_T_I8I8)
		return mm->mult < 1 || mm->mult > 0x7fff || mm->shift > 31 ||
		       mm->offset < -128 || mm->offset > 127 ? RKMM_REASON_QUANT : RKMM_OK;
	return mm->mult < 0 || mm->mult > 1 || mm->shift || mm->offset ?
	       RKMM_REASON_QUANT : RKMM_OK;
}

/* Pitches and sizes of A and B; after it everything fits 32 bits. */
static enum rkmm_reason size_inputs(struct rkmm_geom *geom, u64 np)
{
	const struct rkmm_matmul *mm = &geom->mm;
	u32 line = (u32)rkmm_in_bytes(geom->types, geom->ka);

	/* ka was bounded by 2^27: no product below overflows */
	geom->b_bytes = rkmm_in_bytes(geom->types, np * geom->ka);
	if (geom->b_bytes > SIZE_LIMIT)
		return RKMM_REASON_SIZE;
	geom->np = (u32)np;
	geom->b_slice = rkmm_in_bytes(geom->types, np * geom->kp);

	/* The row-major reader takes what lies behind K too: NaN times zero is NaN. */
	if (mm->a_pitch && (geom->form != RKMM_FORM_FLAT || mm->k != geom->ka ||
			    mm->a_pitch % RKMM_ATOM || mm->a_pitch < line))
		return RKMM_REASON_STRIDE;

	switch (geom->form) {
	case RKMM_FORM_BATCH:
		/* before rounding up, which would wrap */
		if (mm->m > SIZE_LIMIT / geom->kp)
			return RKMM_REASON_SIZE;
		geom->a_pitch = geom->kp;	/* 2 lines of kp / 2 bytes (hw 02 §6.2) */
		break;				/* the rest follows from the rows per program */
	case RKMM_FORM_CUBE:
		if (mm->m >= SURF_FIELD)
			return RKMM_REASON_M_LIMIT;
		geom->a_pitch = RKMM_ATOM * mm->m;
		geom->a_slice = mm->m * rkmm_in_bytes(geom->types, geom->kp);
		geom->a_bytes = (u64)mm->m * line;
		break;
	default:
		/* Slices lie side by side in the rows. */
		geom->a_slice = rkmm_in_bytes(geom->types, geom->kp);
		geom->a_pitch = mm->a_pitch ? mm->a_pitch : line;
		geom->a_bytes = (u64)(mm->m - 1) * geom->a_pitch + line;
		break;
	}
	return geom->a_bytes > SIZE_LIMIT ? RKMM_REASON_SIZE : RKMM_OK;
}

/* From one partial C to all of them, one behind the other at whole cache lines. */
static enum rkmm_reason place_partials(struct rkmm_geom *geom)
{
	if (geom->c_bytes > SIZE_LIMIT)
		return RKMM_REASON_SIZE;
	geom->c_slice = (geom->c_bytes + RKMM_ENTRY - 1) / RKMM_ENTRY * RKMM_ENTRY;
	geom->c_bytes += (geom->slices - 1) * geom->c_slice;
	return geom->c_bytes > SIZE_LIMIT ? RKMM_REASON_SIZE : RKMM_OK;
}

static enum rkmm_reason size_output(struct rkmm_geom *geom)
{
	const struct rkmm_matmul *mm = &geom->mm;
	u64 line = (u64)geom->np * rkmm_type_facts[geom->types].out_bytes;

	if (mm->c_pitch && (geom->form != RKMM_FORM_FLAT || mm->c_pitch % RKMM_ATOM ||
			    mm->c_pitch < line || mm->c_pitch > PITCH_FIELD))
		return RKMM_REASON_STRIDE;
	if (geom->form == RKMM_FORM_CUBE) {
		geom->c_pitch = RKMM_ATOM * mm->m;
		geom->c_bytes = mm->m * line;
	} else if (geom->form == RKMM_FORM_FLAT) {
		geom->c_pitch = mm->c_pitch ? mm->c_pitch : (u32)line;
		geom->c_bytes = (u64)(mm->m - 1) * geom->c_pitch + line;
	}
	return place_partials(geom);
}

/*
 * Columns per program: all lanes get equal chunks where there are enough kernel
 * groups (hw 02 §7.3).
 */
static u32 chunk_cols(const struct rkmm_limits *limits, const struct rkmm_geom *geom, u32 lanes)
{
	u32 group = rkmm_type_facts[geom->types].group;
	u32 groups = geom->np / group;
	u32 chunks = round_up_to(rkmm_div_up(geom->np, limits->n_max), lanes);

	return rkmm_min(rkmm_div_up(groups, rkmm_min(chunks, groups)) * group, limits->n_max);
}

/* So many sixteenths of columns less */
static void cut_less(struct rkmm_geom *geom, u32 less)
{
	geom->cols = rkmm_max(geom->cols * (16 - less) / 16 / 64 * 64, 64);
	geom->tile_cols = geom->cols;
}

static enum rkmm_reason tile(const struct rkmm_limits *limits, struct rkmm_geom *geom,
			     const struct rkmm_rung *rung, u32 lanes, u32 cut)
{
	u32 chunk = chunk_cols(limits, geom, lanes);
	u64 programs;

	if (cut > RKMM_CUT_NOT && geom->form != RKMM_FORM_BATCH)
		return RKMM_REASON_COUNT;
	geom->min_rows = 1;
	geom->a_rows = geom->mm.m;
	geom->cols = cut ? chunk_cols(limits, geom, 1) : chunk;
	if (geom->form == RKMM_FORM_BATCH) {
		split_batch(limits, geom, rung);
		/* the weight of 64 columns does not fit beside the rung's data banks */
		if (!geom->cols)
			return RKMM_REASON_BANKS;
		if (cut > RKMM_CUT_NOT)
			cut_less(geom, cut - RKMM_CUT_NOT);
	} else if (geom->form == RKMM_FORM_FLAT && geom->types == RKMM_T_I4I16) {
		split_row(limits, geom);
	} else {
		enum rkmm_reason reason = split_rows(limits, geom, lanes);

		if (reason)
			return reason;
	}
	/* what is narrow anyway has been tried cut */
	if (cut == RKMM_CUT_NOT && geom->cols <= chunk)
		return RKMM_REASON_COUNT;
	geom->n_tiles = rkmm_div_up(geom->np, geom->cols);
	programs = (u64)geom->m_tiles * geom->n_tiles;
	if (programs > SIZE_LIMIT / rkmm_slot_bytes(RKMM_PROG_WRITES) / geom->slices)
		return RKMM_REASON_SIZE;
	geom->programs = (u32)programs * geom->slices;
	geom->lanes = rkmm_min(lanes, geom->programs);
	if (geom->form != RKMM_FORM_BATCH)
		return RKMM_OK;
	if (geom->a_rows > SIZE_LIMIT / geom->kp)
		return RKMM_REASON_SIZE;
	/* the layout id of A in slices has so many bits for them */
	if (geom->slices > 1 && geom->a_rows >> 19)
		return RKMM_REASON_M_LIMIT;
	geom->a_slice = (u64)geom->a_rows * geom->kp;
	geom->a_bytes = geom->slices * geom->a_slice;
	if (geom->a_bytes > SIZE_LIMIT)
		return RKMM_REASON_SIZE;
	/* hw 02 §6.6: one line in four of H rows, blocks of 128 bytes */
	geom->c_pitch = 4 * geom->rows * (geom->cols / 64) * 128;
	geom->c_bytes = programs * geom->c_pitch;
	return place_partials(geom);
}

/*
 * Lanes at which the programs were seen to be right, and at every smaller number.
 * Wide-K fp16 on several cores streams wrong numbers (hw 03 G12): what one slice of
 * K holds is safe.
 */
static u32 lanes_most(const struct rkmm_geom *geom, const struct rkmm_rung *rung)
{
	u32 lanes = 0;

	if (rkmm_type_facts[geom->types].in == RKMM_PREC_F16 && geom->ka > 2048)
		return 1;
	if (!rung)
		return RKMM_LANES_MAX;
	while (lanes < RKMM_LANES_MAX && rung->cores >> lanes & 1)
		lanes++;
	return lanes;
}

/* Captured or measured widths; the one of int4 is the widest with a weight of two banks. */
u32 rkmm_slice_k(enum rkmm_types types)
{
	return rkmm_in_bits(types) == 8 ? 1024 : 2048;
}

/* Sums that leave int16 need at least this many products of -8 times -8. */
#define SATURATE_K	512

/*
 * One program where it can reduce K; else slices of equal width, in a type
 * whose partial sums can be added.
 */
static enum rkmm_reason slice_k(const struct rkmm_limits *limits, struct rkmm_geom *geom)
{
	const struct rkmm_matmul *mm = &geom->mm;
	u64 kp = ((u64)mm->k + RKMM_K_ALIGN - 1) / RKMM_K_ALIGN * RKMM_K_ALIGN;
	u64 ka;

	if (kp < rkmm_type_facts[mm->types].k_min)
		kp = rkmm_type_facts[mm->types].k_min;
	if (mm->slice && (mm->slice % RKMM_K_ALIGN || mm->slice > kp || mm->slice > limits->k_max))
		return RKMM_REASON_LAYOUT;
	if (mm->slice)
		geom->kp = mm->slice;
	else
		geom->kp = kp <= limits->k_max ? (u32)kp : rkmm_slice_k(mm->types);
	geom->slices = rkmm_div_up(mm->k, geom->kp);
	if (geom->slices == 1 && geom->kp < rkmm_type_facts[mm->types].k_min)
		return RKMM_REASON_LAYOUT;
	ka = (u64)geom->slices * geom->kp;
	/* B has 32 bytes a row at least (hw 02 §4). */
	if (ka > SIZE_LIMIT / 32)
		return RKMM_REASON_K_LIMIT;
	geom->ka = (u32)ka;
	geom->types = mm->types;
	if (geom->slices > 1) {
		if (mm->types == RKMM_T_I8I8)
			geom->types = RKMM_T_I8I32;
		if (mm->types == RKMM_T_F16F16)
			geom->types = RKMM_T_F16F32;
		geom->may_saturate = mm->types == RKMM_T_I4I16 && geom->kp >= SATURATE_K;
	}
	return RKMM_OK;
}

enum rkmm_reason rkmm_tile(const struct rkmm_limits *limits, const struct rkmm_matmul *mm,
			   const struct rkmm_rung *rung, u32 lanes, u32 cut,
			   struct rkmm_geom *geom)
{
	enum rkmm_reason reason;
	u64 np;

	*geom = (struct rkmm_geom){ .mm = *mm };
	if ((u32)mm->types >= RKMM_T_COUNT)
		return RKMM_REASON_TYPES;
	if (!mm->m || !mm->k || !mm->n)
		return RKMM_REASON_ZERO;
	reason = check_quant(mm);
	if (reason)
		return reason;
	reason = slice_k(limits, geom);
	if (reason)
		return reason;
	reason = choose_form(geom);
	if (reason)
		return reason;
	if (rung && (rung->cap || !rkmm_rung_fits(rung, geom)))
		return RKMM_REASON_COUNT;
	geom->lanes_most = lanes_most(geom, rung);
	if (lanes > rkmm_min(geom->lanes_most, rkmm_max(mm->lanes, 1)))
		return RKMM_REASON_COUNT;
	np = ((u64)mm->n + rkmm_type_facts[mm->types].group - 1) /
	     rkmm_type_facts[mm->types].group * rkmm_type_facts[mm->types].group;
	reason = size_inputs(geom, np);
	if (!reason)
		reason = size_output(geom);
	if (!reason)
		reason = tile(limits, geom, rung, lanes, cut);
	if (reason)
		return reason;
	if (geom->lanes < lanes)
		return RKMM_REASON_COUNT;
	geom->predicted_ns = rkmm_geom_predict(limits->cost, geom);
	geom->host_ns = rkmm_geom_host_ns(limits->cost, geom);
	rkmm_geom_ids(geom);
	return RKMM_OK;
}
