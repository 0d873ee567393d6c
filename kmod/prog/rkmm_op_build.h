/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the steps of an operation are put together; not for users of rkmm_op.h.
 */
#ifndef RKMM_OP_BUILD_H
#define RKMM_OP_BUILD_H

#include "rkmm_op.h"
#include "rkmm_pure.h"

/* Columns in 16 bytes */
static inline u32 rkmm_group_cols(enum rkmm_precision precision)
{
	return precision == RKMM_PREC_I8 ? 16 : 8;
}

static inline u32 rkmm_round_up(u32 v, u32 to)
{
	return (v + to - 1) / to * to;
}

/*
 * Chains are cut between tasks: no task of @reads pixels a column takes much longer than 1 ms by
 * the law of rkmm_task_work_ns().
 */
static inline void rkmm_narrow_tiles(struct rkmm_opgeom *g, u32 reads, u32 align)
{
	u32 cols = rkmm_round_up((1u << 20) / reads + 1, align);

	g->tile_cols = rkmm_min(g->tile_cols, cols);
}

/* A tensor of the user: channel groups of all rows */
static inline struct rkmm_where rkmm_user(const struct rkmm_opgeom *g, enum rkmm_area place)
{
	return (struct rkmm_where){
		.place = place, .pitch = g->rows * RKMM_ATOM, .row = RKMM_ATOM,
	};
}

/* One value a column, contiguous: @bytes of a channel group */
static inline struct rkmm_where rkmm_vector(enum rkmm_area place, u32 bytes)
{
	return (struct rkmm_where){ .place = place, .pitch = bytes };
}

/* Temporary memory of the tile: channel groups of @cols columns */
struct rkmm_where rkmm_temp(struct rkmm_opgeom *g, u32 cols);

/* Constants: channel groups that start anew in every tile, or @bytes of anything */
struct rkmm_where rkmm_constant(struct rkmm_opgeom *g, enum rkmm_fill fill, u16 value, u32 k,
				u32 n, u32 bytes);

/* Add a step from @src and @src2 to @dst. */
struct rkmm_step *rkmm_step(struct rkmm_opgeom *g, enum rkmm_step_kind kind,
			    struct rkmm_where src, struct rkmm_where src2, struct rkmm_where dst);

/* Add a DPU step of @cols columns, @real of them no padding; more is set in its dpu. */
struct rkmm_dpu *rkmm_step_dpu(struct rkmm_opgeom *g, enum rkmm_ew ew, u32 cols, u32 real,
			       struct rkmm_where src, struct rkmm_where src2,
			       struct rkmm_where dst);

/* The last step computes padding rows too, or reads row by row what has none. */
static inline void rkmm_step_padded(struct rkmm_opgeom *g)
{
	g->steps[g->nsteps - 1].padded = true;
}

/* A matmul step: fp16 cubes of the tile, @k to @n columns. */
enum rkmm_reason rkmm_step_matmul(const struct rkmm_limits *limits, struct rkmm_opgeom *g, u32 k,
				  u32 n, struct rkmm_where a, struct rkmm_where weights,
				  struct rkmm_where c);

/* Lookup in @curve of x times @scale, as fp16: prescale and output conversion too. */
void rkmm_dpu_curve(struct rkmm_dpu *dpu, enum rkmm_curve curve);

/* The whole curve of a lookup, RKMM_CURVE_COUNT of what is none */
enum rkmm_curve rkmm_op_curve(enum rkmm_op_code code);

/* The same of integers, with the steps and zero points of @op; @dpu stays as it was if refused. */
enum rkmm_reason rkmm_dpu_curve_int(struct rkmm_dpu *dpu, enum rkmm_curve curve,
				    const struct rkmm_op *op);

static inline struct rkmm_where rkmm_nowhere(void)
{
	return (struct rkmm_where){ .place = RKMM_AREA_NONE };
}

/* The largest of each row of @cols columns, packed, two bytes a row (hw 04 §3.3) */
void rkmm_step_rowmax(struct rkmm_opgeom *g, u32 cols, struct rkmm_where src,
		      struct rkmm_where dst);

/* A packed value a row, on @cols columns (hw 04 §3.4, t2) */
void rkmm_step_spread(struct rkmm_opgeom *g, u32 cols, struct rkmm_where src,
		      struct rkmm_where dst);

/* @weight times the sum of the first op.n of @k columns, in each of @cols columns */
enum rkmm_reason rkmm_step_sum(const struct rkmm_limits *limits, struct rkmm_opgeom *g, u32 k,
			       u32 cols, u16 weight, struct rkmm_where src,
			       struct rkmm_where dst);

/* @weight times the first column of @src, of 32, in each of @cols columns */
enum rkmm_reason rkmm_step_repeat(const struct rkmm_limits *limits, struct rkmm_opgeom *g,
				  u32 cols, u16 weight, struct rkmm_where src,
				  struct rkmm_where dst);

/* The builders: the dimensions of g are set; they fill in tiles, steps and operands. */
enum rkmm_reason rkmm_build_elementwise(const struct rkmm_limits *limits,
					struct rkmm_opgeom *g);
enum rkmm_reason rkmm_build_rows(const struct rkmm_limits *limits, struct rkmm_opgeom *g);
enum rkmm_reason rkmm_build_norm(const struct rkmm_limits *limits, struct rkmm_opgeom *g);
enum rkmm_reason rkmm_build_pool(struct rkmm_opgeom *g);

/* Time of a full submission at 1 GHz, one task after the other */
u64 rkmm_op_predict(const struct rkmm_limits *limits, const struct rkmm_opgeom *g);

/* Operands: a tensor of @cols columns; a vector; packed weights of one row of K. */
void rkmm_describe_tensor(const struct rkmm_opgeom *g, u32 rows, u32 cols,
			  struct rkmm_operand *op);
void rkmm_describe_vector(u32 n, u32 bits, struct rkmm_operand *op);
void rkmm_describe_bias(u32 n, struct rkmm_operand *op);

#endif
