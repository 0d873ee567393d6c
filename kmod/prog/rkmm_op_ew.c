// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations that look at one element at a time: hw 04 §2.
 */
#include "rkmm_op_build.h"

/* Temporary memory of operations in two steps, so that it stays small */
#define TEMP_ELEMENTS	(128u * 1024)

static bool is_float(const struct rkmm_opgeom *g)
{
	return g->op.precision == RKMM_PREC_F16;
}

static struct rkmm_num value_num(const struct rkmm_opgeom *g, u32 value)
{
	return is_float(g) ? rkmm_f32_num(value) : rkmm_num_int((s32)value);
}

/* Operand of an adder: fp32 bits, or an integer */
static u32 alu_value(const struct rkmm_opgeom *g, struct rkmm_num n)
{
	return is_float(g) ? rkmm_num_f32(n) : (u32)n.mant;
}

static struct rkmm_num negative(struct rkmm_num n)
{
	n.mant = -n.mant;
	return n;
}

static u32 add_values(const struct rkmm_opgeom *g, struct rkmm_num a, struct rkmm_num b)
{
	return alu_value(g, rkmm_num_add(a, b));
}

/* Integers whose differences an adder holds, and which are factors */
static bool value_ok(const struct rkmm_opgeom *g, u32 value)
{
	return is_float(g) || ((s32)value >= -32768 && (s32)value <= 32767);
}

static void set_tiles(struct rkmm_opgeom *g, bool temp)
{
	g->tile_rows = rkmm_min(g->rows, RKMM_PIXELS_MAX);
	g->tile_cols = rkmm_min(g->cols, RKMM_CHANNELS_MAX);
	rkmm_narrow_tiles(g, g->tile_rows, 64);
	if (!temp)
		return;
	g->tile_rows = rkmm_min(g->rows, 4096);
	g->tile_cols = rkmm_min(g->tile_cols, rkmm_round_up(TEMP_ELEMENTS / g->tile_rows, 32));
}

static void set_output(const struct rkmm_opgeom *g, struct rkmm_dpu *d)
{
	if (is_float(g))
		return;
	d->out_offset = g->op.quant.zo;
	d->out_scale = g->op.quant.mult ? g->op.quant.mult : 1;
	d->out_shift = g->op.quant.shift;
}

/* A step from A to C, with B as second operand where @ew has one */
static struct rkmm_dpu *simple(struct rkmm_opgeom *g, enum rkmm_ew ew, struct rkmm_where b)
{
	u32 real = g->op.flags & RKMM_OP_FLAT ? g->cols : g->op.n;
	struct rkmm_dpu *d = rkmm_step_dpu(g, ew, g->cols, real, rkmm_user(g, RKMM_AREA_A), b,
					   rkmm_user(g, RKMM_AREA_C));

	set_output(g, d);
	return d;
}

/* hw 04 §2.2: how integers get their zero points and factors */
static void set_operands(const struct rkmm_opgeom *g, struct rkmm_dpu *d)
{
	const struct rkmm_quant *q = &g->op.quant;

	if (is_float(g))
		return;
	d->bs.use = RKMM_STAGE_ALU;
	d->bs.alu = (u32)q->za;
	d->ew_offset = q->zb;
	if (d->ew == RKMM_EW_MUL)
		return;
	d->bs.use |= RKMM_STAGE_MUL;
	d->bs.mul = 0x4000;
	d->ew_scale = q->sb ? q->sb : 0x4000;
	d->ew_shift = q->sb_shift;
}

static const enum rkmm_ew ews[] = {
	[RKMM_OP_ADD] = RKMM_EW_ADD, [RKMM_OP_SUB] = RKMM_EW_SUB, [RKMM_OP_MUL] = RKMM_EW_MUL,
	[RKMM_OP_MAX] = RKMM_EW_MAX, [RKMM_OP_MIN] = RKMM_EW_MIN, [RKMM_OP_DIV] = RKMM_EW_DIV,
};

static enum rkmm_reason two_tensors(struct rkmm_opgeom *g)
{
	enum rkmm_ew ew = ews[g->op.code];

	if (ew == RKMM_EW_DIV && !is_float(g))
		return RKMM_REASON_OPERATION;
	set_tiles(g, false);
	g->b = g->a;
	set_operands(g, simple(g, ew, rkmm_user(g, RKMM_AREA_B)));
	/* int8 and int16 SUB and int16 MAX, MIN, ADD: hw 04 §7 */
	g->evidence = is_float(g) || (g->op.precision == RKMM_PREC_I8 && ew != RKMM_EW_SUB) ||
		      ew == RKMM_EW_MUL ? RKMM_EVIDENCE_CAPTURED : RKMM_EVIDENCE_DERIVED;
	return RKMM_OK;
}

/*
 * One number and every element: by BS and BN, since what a register operand of EW
 * holds is not known (hw 04 §2.2). BS adds first, BN multiplies first. The larger of
 * x and s is relu(x - s) + s, the smaller s - relu(s - x).
 */
static enum rkmm_reason with_scalar(struct rkmm_opgeom *g)
{
	const struct rkmm_quant *q = &g->op.quant;
	struct rkmm_num s = value_num(g, g->op.value), za = rkmm_num_int(q->za);
	struct rkmm_dpu *d;

	set_tiles(g, false);
	if (!value_ok(g, g->op.value))
		return RKMM_REASON_PARAM;
	if (!is_float(g) && g->op.code == RKMM_OP_DIV)
		return RKMM_REASON_OPERATION;
	if (g->op.code == RKMM_OP_SUB)
		s = negative(s);
	if (g->op.code == RKMM_OP_DIV) {
		if (!s.mant)
			return RKMM_REASON_PARAM;
		s = rkmm_num_inverse(s);
	}
	d = simple(g, RKMM_EW_OFF, rkmm_nowhere());
	switch (g->op.code) {
	case RKMM_OP_ADD:
	case RKMM_OP_SUB:
		d->bs.use = RKMM_STAGE_ALU;
		d->bs.alu = add_values(g, s, za);
		break;
	case RKMM_OP_MUL:
	case RKMM_OP_DIV:
		d->bs.use = RKMM_STAGE_MUL | (q->za ? RKMM_STAGE_ALU : 0);
		d->bs.alu = (u32)q->za;
		d->bs.mul = is_float(g) ? rkmm_num_f16(s) : (u16)s.mant;
		if (is_float(g) && (d->bs.mul & 0x7fff) == 0x7c00)
			return RKMM_REASON_PARAM;
		break;
	case RKMM_OP_MAX:
		d->bs.use = RKMM_STAGE_ALU | RKMM_STAGE_RELU;
		d->bs.alu = add_values(g, negative(s), za);
		d->bn.use = RKMM_STAGE_ALU;
		d->bn.alu = alu_value(g, s);
		break;
	default:
		d->bs.use = RKMM_STAGE_ALU | RKMM_STAGE_MUL | RKMM_STAGE_RELU;
		d->bs.alu = add_values(g, negative(s), za);
		d->bs.mul = is_float(g) ? 0xbc00 : (u16)-1;
		d->bn = d->bs;
		d->bn.use = RKMM_STAGE_ALU | RKMM_STAGE_MUL;
		d->bn.alu = alu_value(g, s);
		break;
	}
	return RKMM_OK;
}

/* hw 04 §2.3: products take the vector as the second operand of EW */
static enum rkmm_reason times_vector(struct rkmm_opgeom *g)
{
	struct rkmm_dpu *d;

	set_tiles(g, false);
	d = simple(g, RKMM_EW_MUL, rkmm_vector(RKMM_AREA_B, RKMM_ATOM));
	d->vector = true;
	set_operands(g, d);
	rkmm_describe_vector(g->op.n, g->a.bits, &g->b);
	g->evidence = RKMM_EVIDENCE_CAPTURED;
	return RKMM_OK;
}

/*
 * A sum by channels is wrong in EW (hw 03 O17). fp16: the vector is spread over the
 * rows by a matmul with K = 1, then added. int8: BS takes one int32 a channel, which
 * boards do in convolutions (hw 04 §2.3).
 */
static enum rkmm_reason plus_vector(const struct rkmm_limits *limits, struct rkmm_opgeom *g)
{
	u32 cols = rkmm_round_up(g->op.n, 32);
	struct rkmm_where ones, spread;
	enum rkmm_reason reason;
	struct rkmm_dpu *d;

	if (g->op.precision == RKMM_PREC_I8) {
		set_tiles(g, false);
		d = simple(g, RKMM_EW_OFF, rkmm_vector(RKMM_AREA_B, 16 * 4));
		d->bs.use = RKMM_STAGE_ALU | RKMM_STAGE_TABLE;
		rkmm_describe_vector(g->op.n, 32, &g->b);
		return RKMM_OK;
	}
	if (!is_float(g))
		return RKMM_REASON_OPERATION;
	if (cols > RKMM_CHANNELS_MAX)
		return RKMM_REASON_N_LIMIT;
	g->tile_rows = rkmm_min(g->rows, 256);
	ones = rkmm_constant(g, RKMM_FILL_COLUMN, 0, g->tile_rows, 0,
			     g->tile_rows * RKMM_ATOM * RKMM_K_ALIGN / 8);
	spread = rkmm_temp(g, cols);
	reason = rkmm_step_matmul(limits, g, RKMM_K_ALIGN, cols, ones,
				  rkmm_vector(RKMM_AREA_B, 0), spread);
	if (reason != RKMM_OK)
		return reason;
	simple(g, RKMM_EW_ADD, spread);
	rkmm_describe_bias(g->op.n, &g->b);
	g->evidence = RKMM_EVIDENCE_CAPTURED;
	return RKMM_OK;
}

static enum rkmm_reason with_channel(const struct rkmm_limits *limits, struct rkmm_opgeom *g)
{
	switch (g->op.code) {
	case RKMM_OP_MUL:
		return times_vector(g);
	case RKMM_OP_ADD:
		return plus_vector(limits, g);
	default:
		return RKMM_REASON_OPERATION;
	}
}

/* lo + clamp(x - lo, 0, hi - lo) */
static enum rkmm_reason between(struct rkmm_opgeom *g)
{
	struct rkmm_num lo = value_num(g, g->op.value), hi = value_num(g, g->op.value2);
	struct rkmm_dpu *d;

	if (!value_ok(g, g->op.value) || !value_ok(g, g->op.value2) || rkmm_num_cmp(lo, hi) > 0)
		return RKMM_REASON_PARAM;
	set_tiles(g, false);
	d = simple(g, RKMM_EW_OFF, rkmm_nowhere());
	d->bs.use = RKMM_STAGE_RELU | RKMM_STAGE_CLAMP;
	d->bs.cmp = add_values(g, hi, negative(lo));
	if (lo.mant || g->op.quant.za) {
		d->bs.use |= RKMM_STAGE_ALU;
		d->bs.alu = add_values(g, negative(lo), rkmm_num_int(g->op.quant.za));
	}
	if (lo.mant) {
		d->bn.use = RKMM_STAGE_ALU;
		d->bn.alu = alu_value(g, lo);
	}
	return RKMM_OK;
}

/* Integers: the larger of x and x times the slope, since a shift is one for both signs. */
static enum rkmm_reason leaky(struct rkmm_opgeom *g)
{
	struct rkmm_num slope = rkmm_f32_num(g->op.value);
	struct rkmm_where part;
	struct rkmm_dpu *d;
	u32 mult, shift;

	if (!rkmm_f32_finite(g->op.value) || slope.mant < 0 ||
	    rkmm_num_cmp(slope, rkmm_num_int(1)) > 0)
		return RKMM_REASON_PARAM;
	if (is_float(g)) {
		set_tiles(g, false);
		d = simple(g, RKMM_EW_OFF, rkmm_nowhere());
		d->bs.use = RKMM_STAGE_MUL | RKMM_STAGE_PRELU;
		d->bs.mul = rkmm_num_f16(slope);
		return RKMM_OK;
	}
	if (!rkmm_num_ratio(slope, 15, 31, &mult, &shift))
		return RKMM_REASON_PARAM;
	set_tiles(g, true);
	part = rkmm_temp(g, g->tile_cols);
	d = rkmm_step_dpu(g, RKMM_EW_OFF, g->cols, g->cols, rkmm_user(g, RKMM_AREA_A),
			  rkmm_nowhere(), part);
	d->out_scale = mult;
	d->out_shift = shift;
	d = simple(g, RKMM_EW_MAX, part);
	set_operands(g, d);
	/* undo the 16384 of both operands */
	d->out_scale = 1;
	d->out_shift = 14;
	return RKMM_OK;
}

enum rkmm_curve rkmm_op_curve(enum rkmm_op_code code)
{
	switch (code) {
	case RKMM_OP_EXP:
		return RKMM_CURVE_EXP;
	case RKMM_OP_SIGMOID:
		return RKMM_CURVE_SIGMOID;
	case RKMM_OP_TANH:
		return RKMM_CURVE_TANH;
	case RKMM_OP_SILU:
		return RKMM_CURVE_SILU;
	case RKMM_OP_GELU:
		return RKMM_CURVE_GELU;
	case RKMM_OP_HARDSWISH:
		return RKMM_CURVE_HARDSWISH;
	case RKMM_OP_RECIPROCAL:
		return RKMM_CURVE_RECIPROCAL;
	case RKMM_OP_RSQRT:
		return RKMM_CURVE_RSQRT;
	default:
		return RKMM_CURVE_COUNT;
	}
}

/* The prescale takes the step of what arrives too, the output that of C (hw 04 §2.5). */
enum rkmm_reason rkmm_dpu_curve_int(struct rkmm_dpu *d, enum rkmm_curve curve,
				    const struct rkmm_op *op)
{
	struct rkmm_num out = rkmm_f32_num(op->out_scale), gain = rkmm_f32_num(op->scale), alu;
	u32 mult, shift, out_mult, out_shift, most = 32;
	s32 add;

	if (!rkmm_f32_finite(op->scale) || !rkmm_f32_finite(op->out_scale) || gain.mant <= 0 ||
	    out.mant <= 0)
		return RKMM_REASON_PARAM;
	gain = rkmm_num_mul(gain, rkmm_curve_gain(curve));
	do {
		/* fewer bits of the factor where what is added would have more than 32 */
		if (!most-- || !rkmm_num_ratio(gain, 15, most, &mult, &shift) || !mult)
			return RKMM_REASON_PARAM;
		/* (q + za) mult, less the centre, which is an integer index */
		alu = rkmm_curve_shift(curve, rkmm_curve_gain(curve));
		alu.exp += (s32)shift;
		alu = rkmm_num_add(alu, rkmm_num_int((s64)op->quant.za * mult));
	} while (!rkmm_num_s32(alu, &add));
	out = rkmm_num_inverse(out);
	out.exp -= (s32)rkmm_curve_facts[curve].q;
	if (!rkmm_num_ratio(out, 15, 31, &out_mult, &out_shift))
		return RKMM_REASON_PARAM;
	rkmm_dpu_curve(d, curve);
	d->minus_exp = 0;
	d->bn.mul = (u16)mult;
	d->bn.shift = (u8)shift;
	d->bn.alu = (u32)add;
	d->out_scale = out_mult;
	d->out_shift = out_shift;
	d->out_offset = op->quant.zo;
	return RKMM_OK;
}

static enum rkmm_reason curve_int8(struct rkmm_opgeom *g, enum rkmm_curve curve)
{
	enum rkmm_reason reason;

	set_tiles(g, false);
	reason = rkmm_dpu_curve_int(simple(g, RKMM_EW_OFF, rkmm_nowhere()), curve, &g->op);
	/* silu and exp were seen on boards, the loader is the same (hw 04 §2.5, §7) */
	g->evidence = curve == RKMM_CURVE_SILU || curve == RKMM_CURVE_EXP ?
		      RKMM_EVIDENCE_CAPTURED : RKMM_EVIDENCE_DERIVED;
	return reason;
}

static enum rkmm_reason lookup(struct rkmm_opgeom *g)
{
	enum rkmm_curve curve = rkmm_op_curve(g->op.code);

	if (g->op.precision == RKMM_PREC_I8)
		return curve_int8(g, curve);
	if (!is_float(g))
		return RKMM_REASON_OPERATION;
	set_tiles(g, false);
	rkmm_dpu_curve(simple(g, RKMM_EW_OFF, rkmm_nowhere()), curve);
	if (curve == RKMM_CURVE_EXP)
		g->evidence = RKMM_EVIDENCE_CAPTURED;
	return RKMM_OK;
}

/* x times a factor between 0 and 1 that depends on x: exact where a curve would end */
static enum rkmm_reason gated(struct rkmm_opgeom *g, enum rkmm_curve gate)
{
	struct rkmm_where factor;
	struct rkmm_dpu *d;

	if (g->op.precision == RKMM_PREC_I8)
		return curve_int8(g, rkmm_op_curve(g->op.code));
	if (!is_float(g))
		return RKMM_REASON_OPERATION;
	set_tiles(g, true);
	factor = rkmm_temp(g, g->tile_cols);
	d = rkmm_step_dpu(g, RKMM_EW_OFF, g->cols, g->cols, rkmm_user(g, RKMM_AREA_A),
			  rkmm_nowhere(), factor);
	if (gate != RKMM_CURVE_COUNT) {
		rkmm_dpu_curve(d, gate);
	} else {
		/* clamp(x + 3, 0, 6) / 6 */
		d->bs.use = RKMM_STAGE_ALU | RKMM_STAGE_RELU | RKMM_STAGE_CLAMP;
		d->bs.alu = rkmm_num_f32(rkmm_num_int(3));
		d->bs.cmp = rkmm_num_f32(rkmm_num_int(6));
		d->bn.use = RKMM_STAGE_MUL;
		d->bn.mul = rkmm_num_f16(rkmm_num_inverse(rkmm_num_int(6)));
	}
	simple(g, RKMM_EW_MUL, factor);
	return RKMM_OK;
}

static enum rkmm_reason relu(struct rkmm_opgeom *g)
{
	struct rkmm_dpu *d;

	set_tiles(g, false);
	d = simple(g, RKMM_EW_OFF, rkmm_nowhere());
	d->bs.use = RKMM_STAGE_RELU;
	if (g->op.quant.za) {
		d->bs.use |= RKMM_STAGE_ALU;
		d->bs.alu = (u32)g->op.quant.za;
	}
	g->evidence = g->op.precision == RKMM_PREC_I16 ? RKMM_EVIDENCE_DERIVED :
		      RKMM_EVIDENCE_CAPTURED;
	return RKMM_OK;
}

static enum rkmm_reason copy(struct rkmm_opgeom *g)
{
	struct rkmm_dpu *d;

	set_tiles(g, false);
	d = simple(g, RKMM_EW_OFF, rkmm_nowhere());
	if (g->op.quant.za) {
		d->bs.use = RKMM_STAGE_ALU;
		d->bs.alu = (u32)g->op.quant.za;
	}
	/* int16 was never seen (hw 04 §7). */
	g->evidence = g->op.precision == RKMM_PREC_I16 ? RKMM_EVIDENCE_DERIVED :
		      RKMM_EVIDENCE_CAPTURED;
	return RKMM_OK;
}

enum rkmm_reason rkmm_build_elementwise(const struct rkmm_limits *limits, struct rkmm_opgeom *g)
{
	switch (g->op.code) {
	case RKMM_OP_COPY:
		return copy(g);
	case RKMM_OP_RELU:
		return relu(g);
	case RKMM_OP_CLAMP:
		return between(g);
	case RKMM_OP_LEAKY:
		return leaky(g);
	case RKMM_OP_EXP:
	case RKMM_OP_SIGMOID:
	case RKMM_OP_TANH:
	case RKMM_OP_RECIPROCAL:
	case RKMM_OP_RSQRT:
		return lookup(g);
	case RKMM_OP_SILU:
		return gated(g, RKMM_CURVE_SIGMOID);
	case RKMM_OP_GELU:
		return gated(g, RKMM_CURVE_GAUSS);
	case RKMM_OP_HARDSWISH:
		return gated(g, RKMM_CURVE_COUNT);
	default:
		break;
	}
	switch (g->op.other) {
	case RKMM_OTHER_SCALAR:
		return with_scalar(g);
	case RKMM_OTHER_CHANNEL:
		return with_channel(limits, g);
	default:
		return two_tensors(g);
	}
}
