// SPDX-License-Identifier: GPL-2.0-only
/*
 * Verdicts on geometries: the table, and what the planner makes of it. rkmm_envelope.h
 */
#include "rkmm_envelope.h"
#include "rkmm_pure.h"

#define INT4		4
#define WIDE		0xffffu
#define NARROW		64u
#define LINES		16384	/* int4: rows times K of one bank (hw 03 G21) */

u32 rkmm_cell_k(u32 bits, u32 kp)
{
	static const u16 classes[] = { 127, 128, 256, 512, 1024, 2048, 4096 };
	u32 i;

	if (bits == INT4)
		return kp;
	for (i = 0; i < ARRAY_SIZE(classes); i++)
		if (kp <= classes[i])
			return classes[i];
	return 10752;
}

u32 rkmm_cell_cols(enum rkmm_form form, u32 cols)
{
	return form == RKMM_FORM_BATCH ? cols : cols <= NARROW ? NARROW : WIDE;
}

struct rkmm_cell rkmm_cell_of(const struct rkmm_geom *geom, u32 cores)
{
	u32 bits = rkmm_in_bits(geom->types);

	return (struct rkmm_cell){
		.bits = (u8)bits, .form = (u8)geom->form, .data_banks = (u8)geom->data_banks,
		.cores = (u8)cores, .k = (u16)rkmm_cell_k(bits, geom->kp), .rows = (u16)geom->rows,
		.cols = (u16)rkmm_cell_cols(geom->form, geom->cols),
	};
}

bool rkmm_cell_valid(const struct rkmm_cell *cell)
{
	if (cell->bits != 4 && cell->bits != 8 && cell->bits != 16)
		return false;
	if (cell->form >= RKMM_FORM_COUNT || (cell->form == RKMM_FORM_BATCH && cell->bits != INT4))
		return false;
	return cell->data_banks >= 1 && cell->data_banks <= 11 &&
	       cell->cores >= 1 && cell->cores <= RKMM_LANES_MAX &&
	       cell->k >= 1 && cell->k == rkmm_cell_k(cell->bits, cell->k) &&
	       cell->rows >= 1 && cell->rows <= 1022 && cell->cols >= 1 &&
	       (cell->form == RKMM_FORM_BATCH ? cell->cols <= 8192 && cell->cols % 64 == 0 :
						cell->cols == NARROW || cell->cols == WIDE);
}

/* 63:60 bits / 4  59:58 form  57:42 K  41:26 columns  25:12 rows  11:8 banks  7:4 cores */
static u64 pack(const struct rkmm_cell *c)
{
	return (u64)(c->bits / 4) << 60 | (u64)c->form << 58 | (u64)c->k << 42 |
	       (u64)c->cols << 26 | (u64)c->rows << 12 | (u64)c->data_banks << 8 |
	       (u64)c->cores << 4;
}

static struct rkmm_cell unpack(u64 key)
{
	return (struct rkmm_cell){
		.bits = (u8)(4 * (key >> 60)), .form = key >> 58 & 3, .k = (u16)(key >> 42),
		.cols = (u16)(key >> 26), .rows = key >> 12 & 0x3fff, .data_banks = key >> 8 & 15,
		.cores = key >> 4 & 15,
	};
}

/* First entry that is not below @key */
static u32 place(const struct rkmm_envelope *env, u64 key)
{
	u32 lo = 0, hi = env->n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (env->key[mid] < key)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

enum rkmm_verdict rkmm_envelope_get(const struct rkmm_envelope *env, const struct rkmm_cell *cell)
{
	u64 key = pack(cell);
	u32 at = place(env, key);

	return at < env->n && env->key[at] == key ? (enum rkmm_verdict)env->verdict[at] :
						    RKMM_UNKNOWN;
}

enum rkmm_verdict rkmm_envelope_at(const struct rkmm_envelope *env, u32 i, struct rkmm_cell *cell)
{
	*cell = unpack(env->key[i]);
	return env->verdict[i];
}

static void take_out(struct rkmm_envelope *env, u32 at)
{
	u32 i;

	env->n--;
	for (i = at; i < env->n; i++) {
		env->key[i] = env->key[i + 1];
		env->verdict[i] = env->verdict[i + 1];
	}
}

static bool make_room(struct rkmm_envelope *env, enum rkmm_verdict verdict)
{
	u32 i;

	if (env->n < RKMM_CELLS_MAX)
		return true;
	for (i = 0; verdict == RKMM_FAILED && i < env->n; i++)
		if (env->verdict[i] == RKMM_PROVEN) {
			take_out(env, i);
			return true;
		}
	return false;
}

bool rkmm_envelope_set(struct rkmm_envelope *env, const struct rkmm_cell *cell,
		       enum rkmm_verdict verdict)
{
	u64 key = pack(cell);
	u32 at = place(env, key), i;
	bool there = at < env->n && env->key[at] == key;

	if (verdict == RKMM_UNKNOWN) {
		if (there)
			take_out(env, at);
		return true;
	}
	if (!there) {
		if (!make_room(env, verdict))
			return false;
		at = place(env, key);
		for (i = env->n++; i > at; i--) {
			env->key[i] = env->key[i - 1];
			env->verdict[i] = env->verdict[i - 1];
		}
		env->key[at] = key;
	}
	env->verdict[at] = verdict;
	return true;
}

/*
 * @small has nothing that @large has not more of, or as much. Columns of wide batches are cut
 * as N asks for: fewer of them are no other geometry.
 */
static bool within(const struct rkmm_cell *small, const struct rkmm_cell *large)
{
	bool wide = small->form == RKMM_FORM_BATCH && small->data_banks > 1;

	return small->bits == large->bits && small->form == large->form && small->k == large->k &&
	       small->rows <= large->rows && (wide || small->cols <= large->cols) &&
	       small->data_banks <= large->data_banks && small->cores == large->cores;
}

bool rkmm_envelope_barred(const struct rkmm_envelope *env, const struct rkmm_cell *cell)
{
	enum rkmm_verdict own = rkmm_envelope_get(env, cell);
	struct rkmm_cell first = { .bits = cell->bits, .form = cell->form, .k = cell->k }, other;
	u32 i;

	if (own != RKMM_UNKNOWN)
		return own == RKMM_FAILED;
	for (i = place(env, pack(&first)); i < env->n; i++) {
		other = unpack(env->key[i]);
		if (other.bits != cell->bits || other.form != cell->form || other.k != cell->k)
			return false;
		if (env->verdict[i] == RKMM_FAILED && within(&other, cell))
			return true;
	}
	return false;
}

u32 rkmm_envelope_lanes(const struct rkmm_envelope *env, const struct rkmm_geom *geom)
{
	struct rkmm_cell cell;
	u32 n;

	for (n = 0; n < RKMM_LANES_MAX; n++) {
		cell = rkmm_cell_of(geom, n + 1);
		if (rkmm_envelope_barred(env, &cell))
			break;
	}
	return n;
}

/*
 * Rows to go on with below @rows that failed: half of the published ones, and half again (hw
 * 03 §1.7); 0 for none. Where fewer rows were seen to be worse there are none (hw 03 G17).
 */
static u32 rows_below(u32 k, u32 rows)
{
	u32 h = rkmm_batch_rows(k);

	if (k == 1024)
		return 0;
	while (h >= 2 && h >= rows)
		h /= 2;
	return h >= 2 ? h : 0;
}

/* The bound that keeps a plan away from @cell: columns before rows (hw 03 §4.1), banks first. */
static bool cap_below(const struct rkmm_cell *cell, struct rkmm_rung *rung)
{
	u32 k_min = cell->k;

	*rung = (struct rkmm_rung){
		.bits = cell->bits, .form = cell->form, .cap = true, .k_max = cell->k,
	};
	/* the first K of its class */
	while (cell->bits != INT4 && k_min > 1 &&
	       rkmm_cell_k(cell->bits, k_min - 1) == cell->k)
		k_min--;
	rung->k_min = k_min;
	if (cell->form != RKMM_FORM_BATCH) {
		if (cell->cols == NARROW)
			rung->narrow = NARROW;
		rung->rows = cell->data_banks > 1 ? cell->rows / cell->data_banks : cell->rows / 2;
	} else if (cell->data_banks > 1) {
		/* Other rungs, and the published geometry, are not touched by it. */
		return false;
	} else if (cell->cols > NARROW) {
		rung->cols = NARROW;
	} else {
		rung->rows = rows_below(cell->k, cell->rows);
	}
	return rung->rows || rung->cols;
}

/* The cores, as a mask, at which the same geometry is proven */
static u32 proven_cores(const struct rkmm_envelope *env, struct rkmm_cell cell)
{
	u32 mask = 0;

	for (cell.cores = 1; cell.cores <= RKMM_LANES_MAX; cell.cores++)
		if (rkmm_envelope_get(env, &cell) == RKMM_PROVEN)
			mask |= 1u << (cell.cores - 1);
	return mask;
}

static bool wider(const struct rkmm_cell *cell)
{
	return cell->form == RKMM_FORM_BATCH && cell->data_banks > 1;
}

static bool have(const struct rkmm_envelope_die *out, const struct rkmm_rung *rung)
{
	const struct rkmm_rung *r;
	u32 i;

	for (i = 0; i < out->die.nrungs; i++) {
		r = &out->rungs[i];
		if (r->bits == rung->bits && r->form == rung->form && r->cap == rung->cap &&
		    r->narrow == rung->narrow && r->data_banks == rung->data_banks &&
		    r->k_min == rung->k_min && r->k_max == rung->k_max &&
		    r->rows == rung->rows && r->cols == rung->cols)
			return true;
	}
	return false;
}

static void add(struct rkmm_envelope_die *out, const struct rkmm_rung *rung)
{
	if (out->die.nrungs < RKMM_ENVELOPE_RUNGS && !have(out, rung))
		out->rungs[out->die.nrungs++] = *rung;
}

void rkmm_envelope_die(const struct rkmm_envelope *env, const struct rkmm_die *base, u32 bits,
		       struct rkmm_envelope_die *out)
{
	struct rkmm_cell cell;
	struct rkmm_rung rung;
	u32 i;

	out->die = (struct rkmm_die){ .name = base->name, .rungs = out->rungs };
	for (i = 0; i < base->nrungs; i++)
		if (base->rungs[i].bits == bits)
			add(out, &base->rungs[i]);
	for (i = 0; i < env->n; i++)
		if (rkmm_envelope_at(env, i, &cell) == RKMM_FAILED && cell.bits == bits &&
		    cap_below(&cell, &rung))
			add(out, &rung);
	for (i = 0; i < env->n; i++) {
		if (rkmm_envelope_at(env, i, &cell) != RKMM_PROVEN || cell.bits != bits ||
		    !wider(&cell) || cell.cores != 1)
			continue;
		rung = (struct rkmm_rung){
			.bits = cell.bits, .form = cell.form, .data_banks = cell.data_banks,
			.cores = (u8)proven_cores(env, cell), .k_min = cell.k, .k_max = cell.k,
			.rows = cell.rows, .cols = cell.cols,
		};
		add(out, &rung);
	}
}

/* ---- points to probe ------------------------------------------------------------------- */

/* K of the published table of int4 batches (hw 02 §6.3), the ones in use first */
static const u16 batch_k[] = {
	2048, 1024, 4096, 512, 256, 768, 1536, 2560, 3072, 3584, 5120, 6144, 8192,
};

/* Rows of programs of one row or cubes, by K: the row caps are from there (hw 02 §5.3) */
static const u16 flat_k[] = { 512, 1024, 2048, 4096 };

#define BATCH_STEPS	12
#define FLAT_STEPS	2

/* Geometry @step of a batch with @k, in rising order of risk; false for one that is not */
static bool batch_step(const struct rkmm_limits *limits, u32 k, u32 step, struct rkmm_cell *cell)
{
	static const u16 wides[] = { 128, 256, 512 };
	u32 h = rkmm_batch_rows(k), wb = rkmm_batch_cols(k), banks, cols, law;

	*cell = (struct rkmm_cell){
		.bits = INT4, .form = RKMM_FORM_BATCH, .data_banks = 1, .k = (u16)k,
		.rows = (u16)h, .cols = 64,
	};
	switch (step) {
	case 0:
		cell->rows = (u16)rows_below(k, h);
		return cell->rows;
	case 1:
		return h;
	case 2:
		cell->cols = (u16)wb;
		return wb > 64;
	}
	/* hw 03 G20: nothing wider from 4096 on, and nothing known from 2048 */
	if (k > 2048)
		return false;
	banks = 2 + (step - 3) / 3;
	cell->data_banks = (u8)banks;
	cell->rows = (u16)rkmm_min(banks * h, banks * LINES / k);
	/* one bank of the weight side spare (hw 03 G18, G25) */
	law = (limits->banks - banks - 1) * limits->bank_bytes / (k / 2) / 64 * 64;
	cols = rkmm_min(wides[(step - 3) % 3], law);
	cell->cols = (u16)cols;
	/* not the one before once more */
	return cols >= wb && ((step - 3) % 3 == 0 || cols > wides[(step - 3) % 3 - 1]);
}

/* Few rows, and as many as the least of the row caps; banks as the planner has them */
static bool flat_step(const struct rkmm_limits *limits, u32 bits, u32 k, u32 step,
		      struct rkmm_cell *cell)
{
	struct rkmm_geom geom;

	*cell = (struct rkmm_cell){
		.bits = (u8)bits, .form = RKMM_FORM_FLAT, .k = (u16)k, .cores = 1,
		.rows = step ? 64 : 4, .cols = WIDE,
	};
	for (cell->data_banks = 1; cell->data_banks < limits->banks; cell->data_banks++)
		if (rkmm_cell_geom(limits, cell, k, &geom))
			return true;
	return false;
}

/* All of a group: int4 batches, then int8 and fp16; by K */
static bool step_of(const struct rkmm_limits *limits, u32 group, u32 step, struct rkmm_cell *cell,
		    u32 *kp)
{
	u32 at = group - ARRAY_SIZE(batch_k);

	if (group < ARRAY_SIZE(batch_k)) {
		*kp = batch_k[group];
		return batch_step(limits, *kp, step, cell);
	}
	*kp = flat_k[at % ARRAY_SIZE(flat_k)];
	return flat_step(limits, at < ARRAY_SIZE(flat_k) ? 8 : 16, *kp, step, cell);
}

bool rkmm_envelope_point(const struct rkmm_limits *limits, u32 cores, u32 i,
			 struct rkmm_point *point)
{
	u32 groups = ARRAY_SIZE(batch_k) + 2 * ARRAY_SIZE(flat_k), steps, step, most;
	struct rkmm_geom geom;

	for (point->group = 0; point->group < groups; point->group++) {
		steps = point->group < ARRAY_SIZE(batch_k) ? BATCH_STEPS : FLAT_STEPS;
		for (step = 0; step < steps; step++) {
			if (!step_of(limits, point->group, step, &point->cell, &point->kp))
				continue;
			point->cell.cores = 1;
			if (!rkmm_cell_geom(limits, &point->cell, point->kp, &geom))
				continue;
			most = rkmm_min(cores, geom.lanes_most);
			if (i < most) {
				point->cell.cores = (u8)(i + 1);
				return true;
			}
			i -= most;
		}
	}
	return false;
}

static enum rkmm_types types_of(u32 bits)
{
	return bits == 4 ? RKMM_T_I4I16 : bits == 8 ? RKMM_T_I8I32 : RKMM_T_F16F32;
}

bool rkmm_cell_geom(const struct rkmm_limits *limits, const struct rkmm_cell *cell, u32 kp,
		    struct rkmm_geom *geom)
{
	bool batch = cell->form == RKMM_FORM_BATCH;
	struct rkmm_rung rungs[2] = { {
		.bits = cell->bits, .form = cell->form, .data_banks = cell->data_banks,
		.cores = 7, .k_min = kp, .k_max = kp, .rows = cell->rows, .cols = cell->cols,
	} };
	struct rkmm_die die = { .name = "cell", .rungs = rungs, .nrungs = 1 };
	struct rkmm_limits own = *limits;
	struct rkmm_matmul mm = {
		.types = types_of(cell->bits), .form = cell->form, .k = kp, .lanes = 1,
	};
	struct rkmm_cell is;

	own.die = &die;
	own.envelope = NULL;
	mm.n = batch ? 2u * cell->cols : cell->cols == NARROW ? NARROW : 128;
	mm.m = 2u * cell->rows;
	/* G24: a remainder behind full programs */
	if (batch && cell->data_banks == 1)
		mm.m += cell->rows / 2;
	rungs[0].cap = !(batch && cell->data_banks > 1);
	if (rungs[0].cap) {
		rungs[0].cores = 0;
		rungs[0].data_banks = 0;
	}
	if (!batch)
		rungs[0].cols = 0;
	if (rkmm_tile(&own, &mm, rungs[0].cap ? NULL : &rungs[0], 1, RKMM_CUT_LANES, geom) ||
	    geom->slices != 1)
		return false;
	is = rkmm_cell_of(geom, cell->cores);
	return pack(&is) == pack(cell);
}

/* ---- for another time ------------------------------------------------------------------ */

static const u8 magic[8] = { 'R', 'K', 'M', 'M', 'E', 'N', 'V', '\n' };

u64 rkmm_envelope_hash(u64 seed, const void *from, u32 bytes)
{
	const u8 *p = from;
	u64 h = seed ^ 0xcbf29ce484222325ull;
	u32 i;

	/* FNV-1a */
	for (i = 0; i < bytes; i++)
		h = (h ^ p[i]) * 0x100000001b3ull;
	return h;
}

static void put(u8 *to, u64 v, u32 bytes)
{
	u32 i;

	for (i = 0; i < bytes; i++)
		to[i] = (u8)(v >> (8 * i));
}

static u64 get(const u8 *from, u32 bytes)
{
	u64 v = 0;
	u32 i;

	for (i = 0; i < bytes; i++)
		v |= (u64)from[i] << (8 * i);
	return v;
}

/* Header: magic, version, cells, chip, checksum of all but itself, zeros */
#define AT_VERSION	8
#define AT_CELLS	12
#define AT_CHIP		16
#define AT_CHECKSUM	24
#define AT_REST		32
#define HEADER		64

static u64 checksum(const u8 *from, u32 bytes)
{
	u64 h = rkmm_envelope_hash(1, from, AT_CHECKSUM);

	return rkmm_envelope_hash(h, from + AT_REST, bytes - AT_REST);
}

u32 rkmm_envelope_write(const struct rkmm_envelope *env, u64 chip, u8 *to)
{
	u32 bytes = HEADER + 8 * env->n, i;

	for (i = 0; i < HEADER; i++)
		to[i] = i < sizeof(magic) ? magic[i] : 0;
	put(to + AT_VERSION, RKMM_ENVELOPE_VERSION, 4);
	put(to + AT_CELLS, env->n, 4);
	put(to + AT_CHIP, chip, 8);
	/* the low four bits of a key are free */
	for (i = 0; i < env->n; i++)
		put(to + HEADER + 8 * i, env->key[i] | env->verdict[i], 8);
	put(to + AT_CHECKSUM, checksum(to, bytes), 8);
	return bytes;
}

const char *rkmm_import_text(enum rkmm_import why)
{
	switch (why) {
	case RKMM_IMPORT_OK:
		return "taken";
	case RKMM_IMPORT_SHORT:
		return "truncated";
	case RKMM_IMPORT_MAGIC:
		return "not an envelope";
	case RKMM_IMPORT_VERSION:
		return "of another version";
	case RKMM_IMPORT_FOREIGN:
		return "of another chip";
	case RKMM_IMPORT_CHECKSUM:
		return "damaged";
	default:
		return "has impossible cells";
	}
}

static bool read_cells(const u8 *from, u32 n, struct rkmm_envelope *env, bool store)
{
	u64 word, past = 0;
	struct rkmm_cell cell;
	u32 i, verdict;

	for (i = 0; i < n; i++, past = word & ~15ull) {
		word = get(from + 8 * i, 8);
		verdict = word & 15;
		cell = unpack(word);
		if ((verdict != RKMM_PROVEN && verdict != RKMM_FAILED) || !rkmm_cell_valid(&cell) ||
		    pack(&cell) != (word & ~15ull) || (i && (word & ~15ull) <= past))
			return false;
		if (store) {
			env->key[i] = word & ~15ull;
			env->verdict[i] = (u8)verdict;
		}
	}
	return true;
}

enum rkmm_import rkmm_envelope_read(const u8 *from, u32 bytes, u64 chip, struct rkmm_envelope *env)
{
	u64 n;
	u32 i;

	if (bytes < HEADER)
		return RKMM_IMPORT_SHORT;
	for (i = 0; i < sizeof(magic); i++)
		if (from[i] != magic[i])
			return RKMM_IMPORT_MAGIC;
	if (get(from + AT_VERSION, 4) != RKMM_ENVELOPE_VERSION)
		return RKMM_IMPORT_VERSION;
	n = get(from + AT_CELLS, 4);
	if (n > RKMM_CELLS_MAX || bytes != HEADER + 8 * n)
		return RKMM_IMPORT_SHORT;
	if (get(from + AT_CHECKSUM, 8) != checksum(from, bytes))
		return RKMM_IMPORT_CHECKSUM;
	if (get(from + AT_CHIP, 8) != chip)
		return RKMM_IMPORT_FOREIGN;
	if (!read_cells(from + HEADER, (u32)n, env, false))
		return RKMM_IMPORT_CELL;
	env->n = (u32)n;
	read_cells(from + HEADER, (u32)n, env, true);
	return RKMM_IMPORT_OK;
}
