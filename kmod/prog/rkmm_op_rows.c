// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations that look at whole rows: hw 04 §3.
 */
#include "rkmm_op_build.h"

#define MATMUL_COLS	16u	/* of the narrowest matmul */

void rkmm_step_rowmax(struct rkmm_opgeom *g, u32 cols, struct rkmm_where src,
		      struct rkmm_where dst)
{
	struct rkmm_step *s = rkmm_step(g, RKMM_STEP_ROWMAX, src, rkmm_nowhere(), dst);

	rkmm_dpu_init(&s->dpu, RKMM_PREC_F16, 1, cols);
	s->dpu.minmax = true;
	s->dpu.real = g->op.n;
	s->dpu.pend = RKMM_F16_LOWEST;
	s->padded = true;
}

void rkmm_step_spread(struct rkmm_opgeom *g, u32 cols, struct rkmm_where src,
		      struct rkmm_where dst)
{
	struct rkmm_where w = rkmm_constant(g, RKMM_FILL_FIRST, 0, 0, 0, cols * RKMM_ATOM);
	struct rkmm_step *s = rkmm_step(g, RKMM_STEP_MOVER, src, w, dst);

	s->mover = (struct rkmm_mover){ .image = true, .channels = 8, .kernels = cols };
	s->padded = true;
}

enum rkmm_reason rkmm_step_sum(const struct rkmm_limits *limits, struct rkmm_opgeom *g, u32 k,
			       u32 cols, u16 weight, struct rkmm_where src,
			       struct rkmm_where dst)
{
	return rkmm_step_matmul(limits, g, k, cols, src,
				rkmm_constant(g, RKMM_FILL_WEIGHT, weight, k, g->op.n,
					      2 * k * cols), dst);
}

enum rkmm_reason rkmm_step_repeat(const struct rkmm_limits *limits, struct rkmm_opgeom *g,
				  u32 cols, u16 weight, struct rkmm_where src,
				  struct rkmm_where dst)
{
	return rkmm_step_matmul(limits, g, RKMM_K_ALIGN, cols, src,
				rkmm_constant(g, RKMM_FILL_WEIGHT, weight, RKMM_K_ALIGN, 1,
					      2 * RKMM_K_ALIGN * cols), dst);
}

static enum rkmm_reason build_rowmax(struct rkmm_opgeom *g)
{
	struct rkmm_where src = rkmm_user(g, RKMM_AREA_A), tmp;
	struct rkmm_where dst = { .place = RKMM_AREA_C, .row = 2 };

	g->row_align = 8;
	g->tile_rows = rkmm_min(g->rows, 1024);
	/* Rows are taken by eights, which A may end before. */
	if (g->rows % 8) {
		tmp = rkmm_temp(g, g->cols);
		rkmm_step_dpu(g, RKMM_EW_OFF, g->cols, g->op.n, src, rkmm_nowhere(), tmp);
		src = tmp;
	}
	rkmm_step_rowmax(g, g->cols, src, dst);
	g->c = (struct rkmm_operand){
		.size = 2ull * rkmm_round_up(g->op.m, 8), .rows = rkmm_round_up(g->op.m, 8),
		.cols = 1, .pitch = 2, .bits = 16, .slices = 1, .layout = RKMM_LAYOUT_ROWS,
	};
	/* The pad value of other widths was never seen (hw 04 §3.10). */
	g->evidence = g->op.n % 8 ? RKMM_EVIDENCE_DERIVED : RKMM_EVIDENCE_CAPTURED;
	return RKMM_OK;
}

static enum rkmm_reason build_rowsum(const struct rkmm_limits *limits, struct rkmm_opgeom *g)
{
	u32 k = rkmm_round_up(g->op.n, RKMM_K_ALIGN);
	struct rkmm_num weight = rkmm_num_int(1);

	if (g->op.code == RKMM_OP_ROWMEAN)
		weight = rkmm_num_inverse(rkmm_num_int(g->op.n));
	g->tile_rows = rkmm_min(g->rows, 256);
	g->cols = k;
	g->tile_cols = k;
	rkmm_describe_tensor(g, g->op.m, k, &g->a);
	rkmm_describe_tensor(g, g->op.m, MATMUL_COLS, &g->c);
	g->evidence = RKMM_EVIDENCE_CAPTURED;
	return rkmm_step_sum(limits, g, k, MATMUL_COLS, rkmm_num_f16(weight),
			rkmm_user(g, RKMM_AREA_A), rkmm_user(g, RKMM_AREA_C));
}

/*
 * The lookup is of half the distance to the largest value and its square the
 * exponential: entries of 15 bits would lose what a thousand columns far below the
 * largest add up to, and small fp16 numbers too. So the squares are counted up to
 * 2^@up, as far as their sum cannot overflow: @up is even, and 2^(15 - up) at least
 * the number of columns.
 */
static u32 squares_up(u32 n)
{
	u32 up = 15;

	while (up && n > 1u << (15 - up))
		up--;
	return up & ~1u;
}

/* Prescale: 16384 at the largest value, -16384 at 20 / scale below it */
static enum rkmm_reason softmax_gain(const struct rkmm_opgeom *g, struct rkmm_dpu *d)
{
	struct rkmm_num scale = rkmm_f32_num(g->op.scale ? g->op.scale : RKMM_F32_ONE);

	if (scale.mant < 0)
		return RKMM_REASON_PARAM;
	scale = rkmm_num_mul(scale, rkmm_curve_gain(RKMM_CURVE_SOFTMAX));
	scale.exp--;
	rkmm_dpu_curve(d, RKMM_CURVE_SOFTMAX);
	d->bn.mul = rkmm_num_f16(scale);
	d->bn.alu = rkmm_num_f32(rkmm_num_int(16384));
	d->minus_exp -= squares_up(d->real) / 2;
	return d->bn.mul >= 0x7c00 ? RKMM_REASON_PARAM : RKMM_OK;
}

/*
 * hw 04 §3.8: largest, spread, difference, lookup, square, sum, spread, quotient.
 * Columns up to the next multiple of 32 hold something finite from the lookup on,
 * which the weights of the sum leave out.
 */
static enum rkmm_reason build_softmax(const struct rkmm_limits *limits, struct rkmm_opgeom *g)
{
	struct rkmm_where x = rkmm_user(g, RKMM_AREA_A), t0, t1, t2, packed, sum, causal;
	u32 n = g->op.n, cols = g->cols, wide = rkmm_round_up(n, RKMM_K_ALIGN);
	enum rkmm_reason reason;
	struct rkmm_dpu *d;

	if (wide > RKMM_CHANNELS_MAX)
		return RKMM_REASON_N_LIMIT;
	g->row_align = 64;
	g->tile_rows = rkmm_min(g->rows, RKMM_MOVER_PIXELS);
	t0 = rkmm_temp(g, wide);
	t1 = rkmm_temp(g, wide);
	t2 = rkmm_temp(g, wide);
	packed = rkmm_temp(g, 8);
	sum = rkmm_temp(g, RKMM_K_ALIGN);

	if (g->op.flags & RKMM_OP_MASK) {
		g->d = g->a;
		rkmm_step_dpu(g, RKMM_EW_ADD, cols, n, x, rkmm_user(g, RKMM_AREA_D), t0);
		x = t0;
	}
	if (g->op.flags & RKMM_OP_CAUSAL) {
		causal = rkmm_constant(g, RKMM_FILL_CAUSAL, 0, g->op.m, 0,
				       g->op.m * cols * 2);
		causal.pitch = g->op.m * RKMM_ATOM;
		causal.row = RKMM_ATOM;
		rkmm_step_dpu(g, RKMM_EW_ADD, cols, n, x, causal, t1);
		x = t1;
		t1 = t0;
		t0 = x;
	} else if (x.place == RKMM_AREA_A && g->rows % g->row_align) {
		rkmm_step_dpu(g, RKMM_EW_OFF, cols, n, x, rkmm_nowhere(), t0);
		x = t0;
	}
	rkmm_step_rowmax(g, cols, x, packed);
	rkmm_step_spread(g, wide, packed, t2);
	rkmm_step_dpu(g, RKMM_EW_SUB, cols, n, x, t2, t1);
	rkmm_step_padded(g);
	d = rkmm_step_dpu(g, RKMM_EW_LUT, wide, n, t1, rkmm_nowhere(), t2);
	reason = softmax_gain(g, d);
	d->real = wide;
	rkmm_step_padded(g);
	if (reason != RKMM_OK)
		return reason;
	rkmm_step_dpu(g, RKMM_EW_MUL, wide, wide, t2, t2, t0);
	rkmm_step_padded(g);
	reason = rkmm_step_sum(limits, g, wide, RKMM_K_ALIGN, RKMM_F16_ONE, t0, sum);
	if (reason == RKMM_OK)
		reason = rkmm_step_repeat(limits, g, wide, RKMM_F16_ONE, sum, t1);
	if (reason != RKMM_OK)
		return reason;
	/* Padding columns become 0. */
	rkmm_step_dpu(g, RKMM_EW_DIV, cols, n, t0, t1, rkmm_user(g, RKMM_AREA_C));
	return RKMM_OK;
}

enum rkmm_reason rkmm_build_rows(const struct rkmm_limits *limits, struct rkmm_opgeom *g)
{
	if (g->op.precision != RKMM_PREC_F16)
		return RKMM_REASON_OPERATION;
	if (g->op.n > RKMM_CHANNELS_MAX)
		return RKMM_REASON_N_LIMIT;
	switch (g->op.code) {
	case RKMM_OP_ROWMAX:
		return build_rowmax(g);
	case RKMM_OP_SOFTMAX:
		return build_softmax(limits, g);
	default:
		return build_rowsum(limits, g);
	}
}

