// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations: what is allowed, and which memory they need.
 */
#include "rkmm_op_build.h"

static const char * const names[RKMM_OP_COUNT] = {
	[RKMM_OP_ADD] = "add",
	[RKMM_OP_SUB] = "sub",
	[RKMM_OP_MUL] = "mul",
	[RKMM_OP_MAX] = "max",
	[RKMM_OP_MIN] = "min",
	[RKMM_OP_DIV] = "div",
	[RKMM_OP_COPY] = "copy",
	[RKMM_OP_RELU] = "relu",
	[RKMM_OP_CLAMP] = "clamp",
	[RKMM_OP_LEAKY] = "leaky",
	[RKMM_OP_EXP] = "exp",
	[RKMM_OP_SIGMOID] = "sigmoid",
	[RKMM_OP_TANH] = "tanh",
	[RKMM_OP_SILU] = "silu",
	[RKMM_OP_GELU] = "gelu",
	[RKMM_OP_HARDSWISH] = "hardswish",
	[RKMM_OP_RECIPROCAL] = "reciprocal",
	[RKMM_OP_RSQRT] = "rsqrt",
	[RKMM_OP_ROWMAX] = "rowmax",
	[RKMM_OP_ROWSUM] = "rowsum",
	[RKMM_OP_ROWMEAN] = "rowmean",
	[RKMM_OP_SOFTMAX] = "softmax",
	[RKMM_OP_RMSNORM] = "rmsnorm",
	[RKMM_OP_LAYERNORM] = "layernorm",
	[RKMM_OP_MAXPOOL] = "maxpool",
	[RKMM_OP_AVGPOOL] = "avgpool",
	[RKMM_OP_REQUANT] = "requant",
	[RKMM_OP_TRANSPOSE] = "transpose",
};

const char *rkmm_op_name(enum rkmm_op_code code)
{
	return (u32)code < RKMM_OP_COUNT ? names[code] : "unknown";
}

struct rkmm_where rkmm_temp(struct rkmm_opgeom *g, u32 cols)
{
	struct rkmm_where w = {
		.place = RKMM_AREA_TEMP, .offset = g->temp_bytes,
		.pitch = rkmm_round_up(g->tile_rows, g->row_align) * RKMM_ATOM,
	};

	g->temp_bytes += rkmm_round_up(cols / rkmm_group_cols(g->op.precision) * w.pitch,
				       RKMM_ENTRY);
	return w;
}

struct rkmm_where rkmm_constant(struct rkmm_opgeom *g, enum rkmm_fill fill, u16 value, u32 k,
				u32 n, u32 bytes)
{
	struct rkmm_where w = { .place = RKMM_AREA_CONST, .offset = g->const_bytes };

	g->consts[g->nconsts++] = (struct rkmm_const){
		.fill = fill, .value = value, .k = k, .n = n, .offset = g->const_bytes,
		.bytes = bytes,
	};
	g->const_bytes += rkmm_round_up(bytes, RKMM_ENTRY);
	w.pitch = rkmm_round_up(g->tile_rows, g->row_align) * RKMM_ATOM;
	return w;
}

struct rkmm_step *rkmm_step(struct rkmm_opgeom *g, enum rkmm_step_kind kind,
			    struct rkmm_where src, struct rkmm_where src2, struct rkmm_where dst)
{
	struct rkmm_step *s = &g->steps[g->nsteps++];

	s->kind = kind;
	s->padded = false;
	s->src = src;
	s->src2 = src2;
	s->dst = dst;
	return s;
}

struct rkmm_dpu *rkmm_step_dpu(struct rkmm_opgeom *g, enum rkmm_ew ew, u32 cols, u32 real,
			       struct rkmm_where src, struct rkmm_where src2,
			       struct rkmm_where dst)
{
	struct rkmm_step *s = rkmm_step(g, RKMM_STEP_DPU, src, src2, dst);

	rkmm_dpu_init(&s->dpu, g->op.precision, 1, cols);
	s->dpu.real = real;
	s->dpu.ew = ew;
	return &s->dpu;
}

enum rkmm_reason rkmm_step_matmul(const struct rkmm_limits *limits, struct rkmm_opgeom *g, u32 k,
				  u32 n, struct rkmm_where a, struct rkmm_where weights,
				  struct rkmm_where c)
{
	const struct rkmm_matmul mm = {
		.types = RKMM_T_F16F16, .form = RKMM_FORM_CUBE,
		.m = rkmm_round_up(g->tile_rows, g->row_align), .k = k, .n = n,
	};
	struct rkmm_geom *geom = &g->matmul[g->nmatmuls];
	enum rkmm_reason reason = rkmm_geometry(limits, &mm, geom);

	if (reason != RKMM_OK)
		return reason;
	if (geom->slices > 1 || geom->types != RKMM_T_F16F16)
		return RKMM_REASON_N_LIMIT;
	rkmm_step(g, RKMM_STEP_MATMUL, a, weights, c)->geom = g->nmatmuls++;
	rkmm_step_padded(g);
	return RKMM_OK;
}

void rkmm_dpu_curve(struct rkmm_dpu *dpu, enum rkmm_curve curve)
{
	const struct rkmm_curve_facts *f = &rkmm_curve_facts[curve];
	u16 gain = rkmm_num_f16(rkmm_curve_gain(curve));

	dpu->ew = RKMM_EW_LUT;
	dpu->curve = curve;
	dpu->load = true;
	dpu->bn.use = RKMM_STAGE_ALU | RKMM_STAGE_MUL;
	dpu->bn.mul = gain;
	/* with the gain as it was rounded (hw 04 §2.5) */
	dpu->bn.alu = rkmm_num_f32(rkmm_curve_shift(curve, rkmm_f16_num(gain)));
	dpu->out_offset = f->offset;
	dpu->minus_exp = f->q;
}

/*
 * Layout ids of these tensors, beside those of rkmm_prog.h: operand 4; 51:48 layout,
 * 47:28 columns / 8, 27:0 rows.
 */
static u64 layout_id(const struct rkmm_operand *op, enum rkmm_precision precision)
{
	return RKMM_LAYOUT_VERSION << 60 | 4ull << 56 | (u64)precision << 52 |
	       (u64)op->layout << 48 | (u64)(op->cols / 8 & 0xfffff) << 28 |
	       (op->rows & 0xfffffff);
}

void rkmm_describe_tensor(const struct rkmm_opgeom *g, u32 rows, u32 cols,
			  struct rkmm_operand *op)
{
	u32 bytes = RKMM_ATOM / rkmm_group_cols(g->op.precision);

	*op = (struct rkmm_operand){
		.size = (u64)rows * cols * bytes, .rows = rows, .cols = cols, .slices = 1,
		.bits = 8 * bytes, .layout = RKMM_LAYOUT_CUBE,
	};
	if (g->op.flags & RKMM_OP_FLAT) {
		op->layout = RKMM_LAYOUT_ROWS;
		op->pitch = cols * bytes;
	}
	op->layout_id = layout_id(op, g->op.precision);
}

void rkmm_describe_vector(u32 n, u32 bits, struct rkmm_operand *op)
{
	*op = (struct rkmm_operand){
		.size = (u64)rkmm_round_up(n, 16) * bits / 8, .rows = 1,
		.cols = rkmm_round_up(n, 16), .slices = 1, .bits = bits,
		.layout = RKMM_LAYOUT_ROWS,
	};
	op->pitch = (u32)op->size;
	op->layout_id = layout_id(op, bits == 32 ? RKMM_PREC_I32 : bits == 8 ? RKMM_PREC_I8 :
				  RKMM_PREC_F16);
}

void rkmm_describe_bias(u32 n, struct rkmm_operand *op)
{
	u32 cols = rkmm_round_up(n, 32);

	*op = (struct rkmm_operand){
		.size = 2ull * RKMM_K_ALIGN * cols, .rows = RKMM_K_ALIGN, .cols = cols,
		.group = rkmm_group(RKMM_T_F16F16), .slices = 1, .slice = RKMM_K_ALIGN,
		.bits = 16, .layout = RKMM_LAYOUT_WEIGHT,
		.layout_id = rkmm_layout_b(RKMM_T_F16F16, RKMM_K_ALIGN, 1),
	};
}

static bool is_pool(const struct rkmm_op *op)
{
	return op->code == RKMM_OP_MAXPOOL || op->code == RKMM_OP_AVGPOOL;
}

static bool is_norm(const struct rkmm_op *op)
{
	return op->code == RKMM_OP_RMSNORM || op->code == RKMM_OP_LAYERNORM;
}

/* Lookups of integers take the real values of steps. */
static bool is_integer_curve(const struct rkmm_op *op)
{
	return op->precision != RKMM_PREC_F16 && op->code >= RKMM_OP_EXP &&
	       op->code <= RKMM_OP_RSQRT;
}

static bool numbers_ok(const struct rkmm_op *op)
{
	bool scalar = op->code <= RKMM_OP_DIV && op->other == RKMM_OTHER_SCALAR;
	bool clamp = op->code == RKMM_OP_CLAMP;

	if (op->value && !scalar && !clamp && op->code != RKMM_OP_LEAKY && !is_norm(op))
		return false;
	if (op->scale && op->code != RKMM_OP_SOFTMAX && !is_integer_curve(op))
		return false;
	return !(op->value2 && !clamp) && !(op->out_scale && !is_integer_curve(op));
}

/* Zero points, factors and shifts: those that a register of the operation takes */
static bool integers_ok(const struct rkmm_op *op)
{
	bool tensor = op->code <= RKMM_OP_DIV && op->other == RKMM_OTHER_TENSOR;
	bool vector = op->code <= RKMM_OP_DIV && op->other == RKMM_OTHER_CHANNEL;
	bool mul = op->code == RKMM_OP_MUL, own = op->code == RKMM_OP_LEAKY || is_pool(op);
	const struct rkmm_quant *q = &op->quant;

	if (op->precision == RKMM_PREC_F16)
		return !(q->za | q->zb | q->zo) && !(q->sb | q->sb_shift | q->mult | q->shift);
	if ((q->sb | q->sb_shift) && (!tensor || mul))
		return false;
	if (q->zb && !tensor && !(vector && mul))
		return false;
	if (q->za && (own || (vector && !mul)))
		return false;
	if ((q->mult | q->shift) && (own || is_integer_curve(op)))
		return false;
	return !(q->zo && is_pool(op));
}

/* Fields that the operation does not have must be zero. */
static enum rkmm_reason check_fields(const struct rkmm_op *op)
{
	bool binary = op->code <= RKMM_OP_DIV;
	bool softmax = op->code == RKMM_OP_SOFTMAX;
	u32 flags = op->flags;

	if (binary ? (u32)op->other >= RKMM_OTHER_COUNT : op->other != 0)
		return RKMM_REASON_PARAM;
	if (flags & (RKMM_OP_MASK | RKMM_OP_CAUSAL) && !softmax)
		return RKMM_REASON_PARAM;
	if (flags & (RKMM_OP_GAMMA | RKMM_OP_BETA) && !is_norm(op))
		return RKMM_REASON_PARAM;
	/* A flat layout knows no columns. */
	if (flags & RKMM_OP_FLAT && (op->code > RKMM_OP_RSQRT || op->other == RKMM_OTHER_CHANNEL))
		return RKMM_REASON_LAYOUT;
	if (flags >> 5)
		return RKMM_REASON_PARAM;
	if (!is_pool(op) && (op->width | op->kernel_w | op->kernel_h | op->stride_w | op->stride_h))
		return RKMM_REASON_PARAM;
	if (op->precision == RKMM_PREC_F16 &&
	    !(rkmm_f32_finite(op->value) && rkmm_f32_finite(op->value2)))
		return RKMM_REASON_PARAM;
	if (!rkmm_f32_finite(op->scale) || !rkmm_f32_finite(op->out_scale))
		return RKMM_REASON_PARAM;
	if (!numbers_ok(op) || !integers_ok(op))
		return RKMM_REASON_PARAM;
	return RKMM_OK;
}

static enum rkmm_reason check_types(const struct rkmm_op *op)
{
	if ((u32)op->code >= RKMM_OP_COUNT)
		return RKMM_REASON_OPERATION;
	/* int32 is read as two halves, or not to the end (hw 03 O5). */
	if (op->code == RKMM_OP_REQUANT || op->precision == RKMM_PREC_I32)
		return RKMM_REASON_READ_BACK;
	if (op->code == RKMM_OP_TRANSPOSE)
		return RKMM_REASON_OPERATION;
	if (op->precision != RKMM_PREC_F16 && op->precision != RKMM_PREC_I8 &&
	    op->precision != RKMM_PREC_I16)
		return RKMM_REASON_TYPES;
	return RKMM_OK;
}

static bool quant_ok(const struct rkmm_quant *q)
{
	return q->za >= -32768 && q->za <= 32767 && q->zb >= -32768 && q->zb <= 32767 &&
	       q->zo >= -32768 && q->zo <= 32767 && q->sb <= 0xffff && q->sb_shift <= 63 &&
	       q->mult <= 0x7fff && q->shift <= 63;
}

enum rkmm_reason rkmm_op_geometry(const struct rkmm_limits *limits, const struct rkmm_op *op,
				  struct rkmm_opgeom *g)
{
	u32 group = rkmm_group_cols(op->precision);
	enum rkmm_reason reason;
	u64 bytes;

	reason = check_types(op);
	if (reason == RKMM_OK)
		reason = check_fields(op);
	if (reason != RKMM_OK)
		return reason;
	if (!op->m || !op->n)
		return RKMM_REASON_ZERO;
	if (!quant_ok(&op->quant))
		return RKMM_REASON_QUANT;
	/* with room for the padding of both */
	bytes = ((u64)op->n + 64) * (RKMM_ATOM / group);
	if (op->m > 0x0fffff00 || bytes > 0xffffffff || bytes * (op->m + 64ull) > 0xffffffff)
		return RKMM_REASON_SIZE;

	*g = (struct rkmm_opgeom){
		.op = *op, .evidence = RKMM_EVIDENCE_DERIVED, .rows = op->m, .row_pieces = 1,
		.row_align = 1, .cols = rkmm_round_up(op->n, group),
	};
	g->tile_cols = g->cols;
	rkmm_describe_tensor(g, op->m, g->cols, &g->a);
	g->c = g->a;
	if (op->flags & RKMM_OP_FLAT) {
		g->row_pieces = g->cols / group;
		g->rows = op->m * g->row_pieces;
		g->cols = group;
		g->tile_cols = group;
	}

	switch (op->code) {
	case RKMM_OP_ROWMAX:
	case RKMM_OP_ROWSUM:
	case RKMM_OP_ROWMEAN:
	case RKMM_OP_SOFTMAX:
		reason = rkmm_build_rows(limits, g);
		break;
	case RKMM_OP_RMSNORM:
	case RKMM_OP_LAYERNORM:
		reason = rkmm_build_norm(limits, g);
		break;
	case RKMM_OP_MAXPOOL:
	case RKMM_OP_AVGPOOL:
		reason = rkmm_build_pool(g);
		break;
	default:
		reason = rkmm_build_elementwise(limits, g);
		break;
	}
	if (reason != RKMM_OK)
		return reason;
	if (g->a.size > 0xffffffff || g->b.size > 0xffffffff || g->c.size > 0xffffffff)
		return RKMM_REASON_SIZE;
	g->predicted_ns = rkmm_op_predict(limits, g);
	return RKMM_OK;
}
