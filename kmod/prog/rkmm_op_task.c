// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tasks of an operation, one by one, and its constants.
 */
#include "rkmm_chain.h"
#include "rkmm_op_build.h"

#define ROWMAX_ROWS	128u	/* of one task, as captured (hw 04 §3.3) */

/**
 * struct tile - rows and columns that one run of the steps works on
 * @first: first row
 * @rows: rows
 * @padded: rows of padded steps
 * @col: first column
 * @cols: columns
 */
struct tile {
	u32 first, rows, padded, col, cols;
};

static u32 step_rows(const struct rkmm_step *s, const struct tile *t)
{
	return s->padded ? t->padded : t->rows;
}

static u32 step_tasks(const struct rkmm_opgeom *g, const struct rkmm_step *s,
		      const struct tile *t)
{
	switch (s->kind) {
	case RKMM_STEP_ROWMAX:
		return rkmm_div_up(step_rows(s, t), ROWMAX_ROWS);
	case RKMM_STEP_MATMUL:
		return rkmm_geom_programs(&g->matmul[s->geom], step_rows(s, t));
	default:
		return 1;
	}
}

/* Of @rows rows from @first on */
static struct tile tile_at(const struct rkmm_opgeom *g, u32 first, u32 rows, u32 row_tile,
			   u32 col_tile)
{
	u32 before = row_tile * g->tile_rows;
	struct tile t = { .first = first + before, .col = col_tile * g->tile_cols };

	t.rows = rkmm_min(g->tile_rows, rows - before);
	t.padded = rkmm_round_up(t.rows, g->row_align);
	t.cols = rkmm_min(g->tile_cols, g->cols - t.col);
	return t;
}

static u32 tile_tasks(const struct rkmm_opgeom *g, const struct tile *t)
{
	u32 i, n = 0;

	for (i = 0; i < g->nsteps; i++)
		n += step_tasks(g, &g->steps[i], t);
	return n;
}

u32 rkmm_op_tasks(const struct rkmm_opgeom *g, u32 rows)
{
	u32 all = rows * g->row_pieces, full = (all - 1) / g->tile_rows;
	struct tile whole = tile_at(g, 0, all, 0, 0), last = tile_at(g, 0, all, full, 0);

	return rkmm_div_up(g->cols, g->tile_cols) *
	       (full * tile_tasks(g, &whole) + tile_tasks(g, &last));
}

/* Address of @w in tile @t, from its row @row on */
static u32 where(const struct rkmm_opgeom *g, const struct rkmm_where *w, const struct tile *t,
		 u32 row, const u32 *addr)
{
	u32 at;

	if (w->place == RKMM_AREA_NONE)
		return 0;
	at = addr[w->place] + w->offset + t->first * w->row + row * RKMM_ATOM;
	/* Temporary memory holds one tile. */
	if (w->place != RKMM_AREA_TEMP)
		at += t->col / rkmm_group_cols(g->op.precision) * w->pitch;
	return at;
}

static void dpu_task(const struct rkmm_opgeom *g, const struct rkmm_step *s,
		     const struct tile *t, const u32 *addr, struct rkmm_dpu *d)
{
	*d = s->dpu;
	d->pixels = step_rows(s, t);
	if (g->tile_cols < g->cols) {
		d->real = t->col + t->cols < d->real ? t->cols : d->real - t->col;
		d->channels = t->cols;
	}
	d->src = where(g, &s->src, t, 0, addr);
	d->src_pitch = s->src.pitch;
	d->dst = where(g, &s->dst, t, 0, addr);
	d->dst_pitch = s->dst.pitch;
	if (d->bs.use & RKMM_STAGE_TABLE) {
		d->table = where(g, &s->src2, t, 0, addr);
	} else {
		d->src2 = where(g, &s->src2, t, 0, addr);
		d->src2_pitch = s->src2.pitch;
	}
}

/* Rows 128 @i and on; the results are packed, two bytes a row */
static void rowmax_task(const struct rkmm_opgeom *g, const struct rkmm_step *s,
			const struct tile *t, u32 i, const u32 *addr, struct rkmm_dpu *d)
{
	u32 row = i * ROWMAX_ROWS;

	*d = s->dpu;
	d->pixels = rkmm_min(step_rows(s, t) - row, ROWMAX_ROWS);
	d->src = where(g, &s->src, t, row, addr);
	d->src_pitch = s->src.pitch;
	d->dst = addr[s->dst.place] + s->dst.offset + t->first * s->dst.row + 2 * row;
	d->dst_pitch = 0;
}

static void step_task(const struct rkmm_opgeom *g, const struct rkmm_step *s,
		      const struct tile *t, u32 i, const u32 *addr, struct rkmm_task *task)
{
	switch (s->kind) {
	case RKMM_STEP_DPU:
		rkmm_task_set(task, RKMM_TASK_DPU);
		dpu_task(g, s, t, addr, &task->dpu);
		break;
	case RKMM_STEP_ROWMAX:
		rkmm_task_set(task, RKMM_TASK_DPU);
		rowmax_task(g, s, t, i, addr, &task->dpu);
		break;
	case RKMM_STEP_MOVER:
		rkmm_task_set(task, RKMM_TASK_MOVER);
		task->weights = s->src2.place;
		task->mover = s->mover;
		task->mover.width = t->padded / RKMM_MOVER_LINES;
		task->mover.src = where(g, &s->src, t, 0, addr);
		task->mover.weights = where(g, &s->src2, t, 0, addr);
		task->mover.dst = where(g, &s->dst, t, 0, addr);
		task->mover.dst_pitch = s->dst.pitch;
		break;
	case RKMM_STEP_MATMUL:
		rkmm_task_set(task, RKMM_TASK_MATMUL);
		task->weights = s->src2.place;
		rkmm_geom_program(&g->matmul[s->geom], i, step_rows(s, t),
				  where(g, &s->src, t, 0, addr), where(g, &s->src2, t, 0, addr),
				  where(g, &s->dst, t, 0, addr), &task->matmul);
		/* its pitches are those of the tiling; a tensor of the user has others */
		task->matmul.a_pitch = s->src.pitch;
		task->matmul.c_pitch = s->dst.pitch;
		task->matmul.weight_reuse = false;
		break;
	case RKMM_STEP_POOL:
		rkmm_task_set(task, RKMM_TASK_POOL);
		task->pool = s->pool;
		task->pool.channels = t->cols;
		task->pool.src = where(g, &s->src, t, 0, addr);
		task->pool.dst = where(g, &s->dst, t, 0, addr);
		break;
	}
}

void rkmm_op_task(const struct rkmm_opgeom *g, u32 i, u32 rows, const u32 addr[RKMM_AREAS],
		  struct rkmm_task *task)
{
	rkmm_op_task_from(g, i, 0, rows, addr, task);
}

void rkmm_op_task_from(const struct rkmm_opgeom *g, u32 i, u32 first, u32 rows,
		       const u32 addr[RKMM_AREAS], struct rkmm_task *task)
{
	u32 all = rows * g->row_pieces, col_tiles = rkmm_div_up(g->cols, g->tile_cols), n, k;
	u32 from = first * g->row_pieces, row_tile;
	struct tile t = tile_at(g, from, all, 0, 0);
	u32 per_row = tile_tasks(g, &t) * col_tiles;

	row_tile = i / per_row;
	t = tile_at(g, from, all, row_tile, 0);
	i %= per_row;
	n = tile_tasks(g, &t);
	t = tile_at(g, from, all, row_tile, i / n);
	i %= n;
	for (k = 0; k < g->nsteps; k++) {
		n = step_tasks(g, &g->steps[k], &t);
		if (i < n)
			break;
		i -= n;
	}
	step_task(g, &g->steps[k], &t, i, addr, task);
}

u64 rkmm_op_predict(const struct rkmm_limits *limits, const struct rkmm_opgeom *g)
{
	u32 tiles = rkmm_div_up(g->rows, g->tile_rows) * rkmm_div_up(g->cols, g->tile_cols);
	const struct tile t = tile_at(g, 0, g->rows, 0, 0);
	static const u32 addr[RKMM_AREAS];
	struct rkmm_task task;
	u64 ns = 0;
	u32 k, i;

	for (k = 0; k < g->nsteps; k++) {
		for (i = 0; i < step_tasks(g, &g->steps[k], &t); i++) {
			step_task(g, &g->steps[k], &t, i, addr, &task);
			ns += rkmm_task_work_ns(limits, &task);
		}
	}
	return ns * tiles;
}

/* Value number @i of @c */
static u16 const_value(const struct rkmm_opgeom *g, const struct rkmm_const *c, u32 i)
{
	u32 k, row, col;

	switch (c->fill) {
	case RKMM_FILL_VALUE:
		return c->value;
	case RKMM_FILL_WEIGHT:
		/* groups of 16 kernels, 32 channels each (hw 02 §4) */
		k = i / 512 % (c->k / 32) * 32 + i % 32;
		return k < c->n ? c->value : 0;
	case RKMM_FILL_FIRST:
		return i % 8 ? 0 : RKMM_F16_ONE;
	case RKMM_FILL_COLUMN:
		return i % 8 || i / 8 >= c->k ? 0 : RKMM_F16_ONE;
	default:
		row = i / 8 % c->k;
		col = i / 8 / c->k * 8 + i % 8;
		return (s64)col > (s64)row + (s64)g->op.n - (s64)g->op.m ? RKMM_F16_LOWEST : 0;
	}
}

void rkmm_op_fill(const struct rkmm_opgeom *g, u16 *area)
{
	u32 i, k, end;

	for (i = 0; i < g->nconsts; i++) {
		const struct rkmm_const *c = &g->consts[i];

		end = i + 1 < g->nconsts ? g->consts[i + 1].offset : g->const_bytes;
		for (k = 0; k < (end - c->offset) / 2; k++)
			*area++ = 2 * k < c->bytes ? const_value(g, c, k) : 0;
	}
}

u64 rkmm_op_image_bytes(const struct rkmm_opgeom *g)
{
	u64 tables = (u64)rkmm_div_up(g->rows, g->tile_rows) * rkmm_div_up(g->cols, g->tile_cols);
	u32 i, loads = 0;

	for (i = 0; i < g->nsteps; i++)
		loads += g->steps[i].kind == RKMM_STEP_DPU && g->steps[i].dpu.load;
	/* and what a core begins with that has the table: as long as a table at most */
	loads *= 2;
	return (u64)rkmm_op_tasks(g, g->op.m) * rkmm_slot_bytes(RKMM_PROG_WRITES) +
	       tables * loads * RKMM_LUT_WRITES * sizeof(u64);
}
