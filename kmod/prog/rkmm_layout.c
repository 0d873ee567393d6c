// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the operands of a tiling lie, and its programs.
 */
#include "rkmm_pure.h"

#define ID_VERSION(v)	((u64)(v) << 60)
#define ID_OPERAND(v)	((u64)(v) << 56)
#define ID_PRECISION(v)	((u64)(v) << 52)
#define ID_FORM(v)	((u64)(v) << 48)

static u64 id_head(u32 operand, enum rkmm_precision precision)
{
	return ID_VERSION(RKMM_LAYOUT_VERSION) | ID_OPERAND(operand) | ID_PRECISION(precision);
}

u64 rkmm_layout_b(enum rkmm_types types, u32 kp, u32 slices)
{
	if ((u32)types >= RKMM_T_COUNT || kp >> 20 || !slices)
		return 0;
	return id_head(2, rkmm_type_facts[types].in) | (u64)kp << 32 | (slices - 1);
}

u32 rkmm_layout_slice(u64 b_layout)
{
	return (u32)(b_layout >> 32) & 0xfffff;
}

void rkmm_geom_ids(struct rkmm_geom *geom)
{
	const struct rkmm_type_facts *facts = &rkmm_type_facts[geom->types];
	u32 a, c;

	switch (geom->form) {
	case RKMM_FORM_CUBE:
		a = geom->mm.m;
		c = geom->mm.m;
		break;
	case RKMM_FORM_BATCH:
		a = geom->slices > 1 ? geom->kp / 32 << 19 | geom->a_rows : 0;
		c = geom->a_rows;
		break;
	default:
		a = geom->a_pitch == rkmm_in_bytes(geom->types, geom->ka) ?
		    0 : geom->a_pitch / RKMM_ATOM;
		c = geom->c_pitch / RKMM_ATOM;
		break;
	}
	geom->a_layout = id_head(1, facts->in) | (u64)geom->form << 50 |
			 (u64)(geom->ka / 32) << 28 | a;
	geom->b_layout = rkmm_layout_b(geom->types, geom->kp, geom->slices);
	geom->c_layout = id_head(3, facts->out) | ID_FORM(geom->form) | c;
	if (geom->form == RKMM_FORM_BATCH)
		geom->c_layout |= (u64)geom->tile_rows << 40 |
				  (u64)(geom->tile_cols / 64) << 32;
}

void rkmm_geom_a(const struct rkmm_geom *geom, struct rkmm_operand *a)
{
	*a = (struct rkmm_operand){
		.size = geom->a_bytes,
		.layout_id = geom->a_layout,
		.layout = geom->form == RKMM_FORM_CUBE ? RKMM_LAYOUT_CUBE :
			  geom->form == RKMM_FORM_BATCH ? RKMM_LAYOUT_BATCH_A : RKMM_LAYOUT_ROWS,
		.rows = geom->a_rows,
		.cols = geom->ka,
		.pitch = geom->form == RKMM_FORM_CUBE ? 0 : geom->a_pitch,
		.bits = rkmm_type_facts[geom->types].in_bits,
		.slices = geom->slices,
		.slice = geom->kp,
		.slice_stride = geom->a_slice,
	};
}

void rkmm_geom_b(const struct rkmm_geom *geom, struct rkmm_operand *b)
{
	*b = (struct rkmm_operand){
		.size = geom->b_bytes,
		.layout_id = geom->b_layout,
		.layout = RKMM_LAYOUT_WEIGHT,
		.rows = geom->ka,
		.cols = geom->np,
		.group = rkmm_type_facts[geom->types].group,
		.bits = rkmm_type_facts[geom->types].in_bits,
		.slices = geom->slices,
		.slice = geom->kp,
		.slice_stride = geom->b_slice,
	};
}

void rkmm_geom_c(const struct rkmm_geom *geom, struct rkmm_operand *c)
{
	bool batch = geom->form == RKMM_FORM_BATCH;

	*c = (struct rkmm_operand){
		.size = geom->c_bytes,
		.layout_id = geom->c_layout,
		.layout = geom->form == RKMM_FORM_CUBE ? RKMM_LAYOUT_CUBE :
			  batch ? RKMM_LAYOUT_BATCH_C : RKMM_LAYOUT_ROWS,
		.rows = geom->a_rows,
		.cols = geom->np,
		.pitch = geom->form == RKMM_FORM_FLAT ? geom->c_pitch : 0,
		.tile_rows = batch ? geom->tile_rows : 0,
		.tile_cols = batch ? geom->tile_cols : 0,
		.bits = 8 * rkmm_type_facts[geom->types].out_bytes,
		.slices = geom->slices,
		.slice_stride = geom->c_slice,
	};
}

/* Channel groups of one atom: hw 02 §3.4 and §3.5, cube rows of the tables. */
static u64 cube_addr(u32 pitch, u32 bits, u32 row, u32 col)
{
	u32 per_atom = 8 * RKMM_ATOM / bits;

	return (u64)(col / per_atom) * pitch + (u64)row * RKMM_ATOM +
	       (u64)(col % per_atom) * bits / 8;
}

u64 rkmm_addr_a(const struct rkmm_geom *geom, u32 row, u32 col)
{
	u32 bits = rkmm_type_facts[geom->types].in_bits;
	u64 slice = col / geom->kp * geom->a_slice;

	col %= geom->kp;
	if (geom->form == RKMM_FORM_CUBE)
		return slice + cube_addr(geom->a_pitch, bits, row, col);
	return slice + (u64)row * geom->a_pitch + (u64)col * bits / 8;
}

u64 rkmm_addr_b(const struct rkmm_geom *geom, u32 row, u32 col)
{
	u32 group = rkmm_type_facts[geom->types].group;
	u64 slice = row / geom->kp * geom->b_slice;
	u64 tile;

	row %= geom->kp;
	tile = (u64)(col / group) * (geom->kp / 32) + row / 32;
	return slice + rkmm_in_bytes(geom->types, tile * group * 32 + col % group * 32 + row % 32);
}

u64 rkmm_addr_c(const struct rkmm_geom *geom, u32 row, u32 col)
{
	u32 ob = rkmm_type_facts[geom->types].out_bytes;
	u32 group, h, block;
	u64 slot;

	switch (geom->form) {
	case RKMM_FORM_CUBE:
		return cube_addr(geom->c_pitch, 8 * ob, row, col);
	case RKMM_FORM_BATCH:
		group = row / geom->tile_rows;
		slot = (u64)(col / geom->tile_cols) *
		       rkmm_div_up(geom->a_rows, geom->tile_rows) + group;
		h = rkmm_min(geom->tile_rows, geom->a_rows - group * geom->tile_rows);
		block = col % geom->tile_cols / 64;
		return slot * geom->c_pitch +
		       128ull * (4 * (row % geom->tile_rows) + 4 * h * block) + col % 64 * ob;
	default:
		return (u64)row * geom->c_pitch + (u64)col * ob;
	}
}

static u32 m_tiles_of(const struct rkmm_geom *geom, u32 rows)
{
	return rkmm_div_up(rkmm_min(rkmm_max(rows, 1), geom->mm.m), geom->rows);
}

u32 rkmm_geom_programs(const struct rkmm_geom *geom, u32 rows)
{
	return m_tiles_of(geom, rows) * geom->n_tiles * geom->slices;
}

/* A batch C has a block for each program: they follow each other. */
static bool own_blocks(const struct rkmm_geom *geom)
{
	return geom->rows == geom->tile_rows && geom->cols == geom->tile_cols;
}

/* Sizes and places of the program that the walk is at */
static void walk_place(struct rkmm_walk *walk)
{
	const struct rkmm_geom *geom = walk->geom;
	u32 row = walk->group * geom->rows, col = walk->chunk * geom->cols;
	bool batch = geom->form == RKMM_FORM_BATCH;
	struct rkmm_program *now = &walk->now;

	now->m = rkmm_min(geom->rows, walk->last - row);
	now->n = rkmm_min(geom->cols, geom->np - col);
	now->weight_reuse = geom->weight_reuse && walk->group;
	now->grains = rkmm_min(geom->grains, (batch ? 4 * now->m : now->m) + 1);
	now->a = walk->slice * (u32)geom->a_slice + walk->group * walk->a_step;
	/* a column tile starts at a kernel group: 32 channels of it follow each other */
	now->b = walk->slice * (u32)geom->b_slice +
		 col * (u32)rkmm_in_bytes(geom->types, geom->kp);
	now->c = walk->slice * (u32)geom->c_slice;
	/* Programs as large as C's blocks: each has a block of its own. */
	if (batch && own_blocks(geom))
		now->c += (walk->chunk * geom->m_tiles + walk->group) * geom->c_pitch;
	else
		now->c += (u32)rkmm_addr_c(geom, row, col);
	/* One line needs no pitch, and a wide C has one beyond its field. */
	now->c_pitch = geom->form == RKMM_FORM_FLAT && now->m == 1 ?
		       now->n * rkmm_type_facts[geom->types].out_bytes : geom->c_pitch;
}

/* From an M tile to the next or, with one M tile, from a column tile to the next */
static void walk_steps(struct rkmm_walk *walk)
{
	const struct rkmm_geom *geom = walk->geom;

	if (walk->tiles > 1)
		walk->a_step = geom->rows *
			       (geom->form == RKMM_FORM_CUBE ? RKMM_ATOM : geom->a_pitch);
	else
		walk->b_step = geom->cols * (u32)rkmm_in_bytes(geom->types, geom->kp);
	switch (geom->form) {
	case RKMM_FORM_CUBE:
		walk->c_step = walk->tiles > 1 ? geom->rows * RKMM_ATOM :
			       (u32)rkmm_addr_c(geom, 0, geom->cols);
		break;
	case RKMM_FORM_BATCH:
		if (own_blocks(geom))
			walk->c_step = (walk->tiles > 1 ? 1 : geom->m_tiles) * geom->c_pitch;
		break;
	default:
		walk->c_step = walk->tiles > 1 ? geom->rows * geom->c_pitch :
			       geom->cols * rkmm_type_facts[geom->types].out_bytes;
		break;
	}
	if (walk->c_step && walk->tiles > 1)
		walk->whole = rkmm_min(walk->tiles, walk->last / geom->rows);
	else if (walk->c_step)
		walk->whole = geom->np / geom->cols;
}

void rkmm_walk_start(struct rkmm_walk *walk, const struct rkmm_geom *geom, u32 i, u32 rows)
{
	*walk = (struct rkmm_walk){
		.geom = geom,
		.tiles = m_tiles_of(geom, rows),
		/* In the batch form C's addresses depend on the program's rows: as planned. */
		.last = geom->form == RKMM_FORM_BATCH ? geom->a_rows :
			rkmm_min(rows, geom->mm.m),
		.now = {
			.types = geom->types,
			.form = geom->form,
			.k = geom->kp,
			.data_banks = geom->data_banks,
			.weight_banks = geom->weight_banks,
			.a_pitch = geom->a_pitch,
			.fused = geom->fused,
		},
	};
	walk->group = i % walk->tiles;
	walk->chunk = i / walk->tiles % geom->n_tiles;
	walk->slice = i / walk->tiles / geom->n_tiles;
	if (geom->types == RKMM_T_I8I8) {
		walk->now.mult = geom->mm.mult;
		walk->now.shift = geom->mm.shift;
		walk->now.offset = geom->mm.offset;
	}
	walk_steps(walk);
	walk_place(walk);
}

void rkmm_walk_restart(struct rkmm_walk *walk)
{
	walk->group = 0;
	walk->chunk = 0;
	walk->slice = 0;
	walk_place(walk);
}

/* Along M tiles or, where there is but one, along column tiles */
static u32 *walk_along(struct rkmm_walk *walk)
{
	return walk->tiles > 1 ? &walk->group : &walk->chunk;
}

u32 rkmm_walk_steps(struct rkmm_walk *walk)
{
	u32 at = *walk_along(walk);

	return at && at < walk->whole ? walk->whole - at : 0;
}

void rkmm_walk_skip(struct rkmm_walk *walk, u32 n)
{
	*walk_along(walk) += n - 1;
	walk->now.a += (n - 1) * walk->a_step;
	walk->now.b += (n - 1) * walk->b_step;
	walk->now.c += (n - 1) * walk->c_step;
	rkmm_walk_next(walk);
}

void rkmm_walk_next(struct rkmm_walk *walk)
{
	u32 *at = walk_along(walk);

	if (++walk->group == walk->tiles) {
		walk->group = 0;
		if (++walk->chunk == walk->geom->n_tiles) {
			walk->chunk = 0;
			walk->slice++;
		}
	}
	/* Up to a last tile that is smaller, addresses move; the first reads the weight. */
	if (*at && *at < walk->whole) {
		walk->now.weight_reuse = walk->geom->weight_reuse && walk->group;
		walk->now.a += walk->a_step;
		walk->now.b += walk->b_step;
		walk->now.c += walk->c_step;
		return;
	}
	walk_place(walk);
}

void rkmm_walk_program(const struct rkmm_walk *walk, u32 a, u32 b, u32 c,
		       struct rkmm_program *prog)
{
	*prog = walk->now;
	prog->a += a;
	prog->b += b;
	prog->c += c;
	prog->table = walk->chunk * walk->geom->cols * (u32)sizeof(u32);
}

void rkmm_geom_program(const struct rkmm_geom *geom, u32 i, u32 rows, u32 a, u32 b, u32 c,
		       struct rkmm_program *prog)
{
	struct rkmm_walk walk;

	rkmm_walk_start(&walk, geom, i, rows);
	rkmm_walk_program(&walk, a, b, c, prog);
}
