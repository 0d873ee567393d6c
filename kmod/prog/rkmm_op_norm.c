// SPDX-License-Identifier: GPL-2.0-only
/*
 * Normalisation of rows, put together from what the hardware has (hw 04 §7).
 *
 * The squares of fp16 numbers are soon no fp16 numbers any more. So the rows are
 * divided by d = max |x| + sqrt(eps) first: with y = x / d and e = sqrt(eps) / d
 *
 *	x / sqrt(mean x^2 + eps) = y / sqrt(mean y^2 + e^2)
 *
 * and what stands under the root is between 1 / (N + 1) and 2. Elements below 2^-14 of
 * the largest of their row lose bits, as fp16 has no finer steps than 2^-24.
 */
#include "rkmm_op_build.h"

#define SMALL	RKMM_K_ALIGN	/* columns of tensors with one value a row */
#define HERON	3		/* steps: from a factor of 1.6 to less than fp16 shows */
#define F16_HALF	0x3800u
#define F16_MINUS_ONE	0xbc00u

/**
 * struct norm - memory of a normalisation
 * @wide: columns of x, t and u: a multiple of 32
 * @x: values
 * @t: scratch
 * @u: scratch
 * @packed: one value a row
 * @s: what stands under the root
 * @y: its root, and scratch
 * @z: scratch
 * @w: scratch
 */
struct norm {
	u32 wide;
	struct rkmm_where x, t, u, packed, s, y, z, w;
};

static void swap_places(struct rkmm_where *a, struct rkmm_where *b)
{
	struct rkmm_where was = *a;

	*a = *b;
	*b = was;
}

static struct rkmm_dpu *step(struct rkmm_opgeom *g, enum rkmm_ew ew, u32 cols,
			     struct rkmm_where a, struct rkmm_where b, struct rkmm_where c)
{
	struct rkmm_dpu *d = rkmm_step_dpu(g, ew, cols, cols, a, b, c);

	rkmm_step_padded(g);
	return d;
}

/* The columns that fill @behind up to a multiple of 32: sums and maxima run over them. */
static void clear(struct rkmm_opgeom *g, const struct norm *n, struct rkmm_where behind)
{
	u32 more = n->wide - g->cols;

	if (!more)
		return;
	behind.offset += g->cols / 8 * behind.pitch;
	step(g, RKMM_EW_OFF, more,
	     rkmm_constant(g, RKMM_FILL_VALUE, 0, 0, 0, more / 8 * behind.pitch),
	     rkmm_nowhere(), behind);
}

/* A in x */
static void load(struct rkmm_opgeom *g, const struct norm *n)
{
	rkmm_step_dpu(g, RKMM_EW_OFF, g->cols, g->op.n, rkmm_user(g, RKMM_AREA_A),
		      rkmm_nowhere(), n->x);
	clear(g, n, n->x);
}

static enum rkmm_reason centre(const struct rkmm_limits *limits, struct rkmm_opgeom *g,
			       struct norm *n, u16 weight)
{
	enum rkmm_reason reason;

	reason = rkmm_step_sum(limits, g, n->wide, SMALL, weight, n->x, n->s);
	if (reason != RKMM_OK)
		return reason;
	reason = rkmm_step_repeat(limits, g, n->wide, RKMM_F16_ONE, n->s, n->t);
	/* 0 - mean is no value of the row: it would be the largest of a row of equal ones */
	clear(g, n, n->u);
	rkmm_step_dpu(g, RKMM_EW_SUB, g->cols, g->op.n, n->x, n->t, n->u);
	swap_places(&n->x, &n->u);
	return reason;
}

/* y in x, d in t */
static void shrink(struct rkmm_opgeom *g, struct norm *n, struct rkmm_num root_eps)
{
	struct rkmm_dpu *d;

	/* |x|: negative values times -1 (hw 04 §2.2) */
	d = step(g, RKMM_EW_OFF, n->wide, n->x, rkmm_nowhere(), n->t);
	d->bs.use = RKMM_STAGE_MUL | RKMM_STAGE_PRELU;
	d->bs.mul = F16_MINUS_ONE;
	rkmm_step_rowmax(g, n->wide, n->t, n->packed);
	rkmm_step_spread(g, n->wide, n->packed, n->u);
	d = step(g, RKMM_EW_OFF, n->wide, n->u, rkmm_nowhere(), n->t);
	d->bn.use = RKMM_STAGE_ALU;
	d->bn.alu = rkmm_num_f32(root_eps);
	step(g, RKMM_EW_DIV, n->wide, n->x, n->t, n->u);
	swap_places(&n->x, &n->u);
}

/* mean y^2 + e^2 in s */
static enum rkmm_reason square(const struct rkmm_limits *limits, struct rkmm_opgeom *g,
			       struct norm *n, u16 weight, u16 root_eps)
{
	enum rkmm_reason reason;
	struct rkmm_where eps;

	step(g, RKMM_EW_MUL, n->wide, n->x, n->x, n->u);
	reason = rkmm_step_sum(limits, g, n->wide, SMALL, weight, n->u, n->s);
	eps = rkmm_constant(g, RKMM_FILL_VALUE, root_eps, 0, 0, SMALL / 8 * n->s.pitch);
	step(g, RKMM_EW_DIV, SMALL, eps, n->t, n->y);
	step(g, RKMM_EW_MUL, SMALL, n->y, n->y, n->z);
	step(g, RKMM_EW_ADD, SMALL, n->s, n->z, n->y);
	swap_places(&n->s, &n->y);
	return reason;
}

/* Twice the root of s, in y: Heron's steps are (y + s / y) / 2, the last without the half. */
static void root(struct rkmm_opgeom *g, struct norm *n)
{
	struct rkmm_dpu *d;
	u32 i;

	rkmm_dpu_curve(step(g, RKMM_EW_OFF, SMALL, n->s, rkmm_nowhere(), n->y),
		       RKMM_CURVE_SQRT);
	for (i = 0; i < HERON; i++) {
		step(g, RKMM_EW_DIV, SMALL, n->s, n->y, n->z);
		d = step(g, RKMM_EW_ADD, SMALL, n->z, n->y, n->w);
		d->minus_exp = i + 1 < HERON ? 1 : 0;
		swap_places(&n->y, &n->w);
	}
}

/* y / root, times gamma, plus beta */
static enum rkmm_reason finish(const struct rkmm_limits *limits, struct rkmm_opgeom *g,
			       struct norm *n)
{
	bool gamma = g->op.flags & RKMM_OP_GAMMA, beta = g->op.flags & RKMM_OP_BETA;
	struct rkmm_where out = rkmm_user(g, RKMM_AREA_C), ones;
	enum rkmm_reason reason;
	struct rkmm_dpu *d;

	reason = rkmm_step_repeat(limits, g, n->wide, F16_HALF, n->y, n->t);
	if (reason != RKMM_OK)
		return reason;
	rkmm_step_dpu(g, RKMM_EW_DIV, g->cols, g->op.n, n->x, n->t,
		      gamma || beta ? n->u : out);
	if (gamma) {
		d = rkmm_step_dpu(g, RKMM_EW_MUL, g->cols, g->op.n, n->u,
				  rkmm_vector(RKMM_AREA_B, RKMM_ATOM), beta ? n->x : out);
		d->vector = true;
		rkmm_describe_vector(g->op.n, 16, &g->b);
		swap_places(&n->x, &n->u);
	}
	if (!beta)
		return RKMM_OK;
	ones = rkmm_constant(g, RKMM_FILL_COLUMN, 0, n->t.pitch / RKMM_ATOM, 0,
			     n->t.pitch * RKMM_K_ALIGN / 8);
	reason = rkmm_step_matmul(limits, g, RKMM_K_ALIGN, n->wide, ones,
				  rkmm_vector(RKMM_AREA_D, 0), n->t);
	rkmm_step_dpu(g, RKMM_EW_ADD, g->cols, g->op.n, n->u, n->t, out);
	rkmm_describe_bias(g->op.n, &g->d);
	return reason;
}

/* Square root of a positive number, to 30 bits */
static struct rkmm_num root_of(struct rkmm_num v)
{
	s32 up = 38 + (v.exp & 1);	/* fp32: 24 bits */

	return (struct rkmm_num){
		.mant = rkmm_isqrt((u64)v.mant << up), .exp = (v.exp - up) / 2,
	};
}

enum rkmm_reason rkmm_build_norm(const struct rkmm_limits *limits, struct rkmm_opgeom *g)
{
	struct rkmm_num eps = rkmm_f32_num(g->op.value);
	struct norm n = { .wide = rkmm_round_up(g->op.n, RKMM_K_ALIGN) };
	enum rkmm_reason reason = RKMM_OK;
	u16 mean;

	if (g->op.precision != RKMM_PREC_F16)
		return RKMM_REASON_OPERATION;
	if (n.wide > RKMM_CHANNELS_MAX)
		return RKMM_REASON_N_LIMIT;
	/* a row of zeros is divided by the root of it */
	if (eps.mant <= 0)
		return RKMM_REASON_PARAM;
	if (g->op.flags & RKMM_OP_BETA && g->op.code != RKMM_OP_LAYERNORM)
		return RKMM_REASON_PARAM;
	eps = root_of(eps);
	/* which is an fp16 operand */
	if (!rkmm_num_f16(eps) || rkmm_num_f16(eps) >= 0x7c00)
		return RKMM_REASON_PARAM;
	mean = rkmm_num_f16(rkmm_num_inverse(rkmm_num_int(g->op.n)));
	g->row_align = 64;
	g->tile_rows = rkmm_min(g->rows, RKMM_MOVER_PIXELS);
	n.x = rkmm_temp(g, n.wide);
	n.t = rkmm_temp(g, n.wide);
	n.u = rkmm_temp(g, n.wide);
	n.packed = rkmm_temp(g, 8);
	n.s = rkmm_temp(g, SMALL);
	n.y = rkmm_temp(g, SMALL);
	n.z = rkmm_temp(g, SMALL);
	n.w = rkmm_temp(g, SMALL);

	load(g, &n);
	if (g->op.code == RKMM_OP_LAYERNORM)
		reason = centre(limits, g, &n, mean);
	if (reason != RKMM_OK)
		return reason;
	shrink(g, &n, eps);
	reason = square(limits, g, &n, mean, rkmm_num_f16(eps));
	if (reason != RKMM_OK)
		return reason;
	root(g, &n);
	return finish(limits, g, &n);
}
