// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is known of each operation: evidence from a tiling of it, errors from what the
 * tests hold.
 */
#include "rkmm_op_build.h"
#include "rkmm_op_facts.h"

#define F32_HALF	0x3f000000u
#define F32_1_32	0x3d000000u
#define SAMPLE_ROWS	64
#define SAMPLE_COLS	64	/* a multiple of all that evidence depends on */

const char *rkmm_other_name(enum rkmm_other other)
{
	static const char * const names[RKMM_OTHER_COUNT] = {
		[RKMM_OTHER_TENSOR] = "tensor",
		[RKMM_OTHER_SCALAR] = "scalar",
		[RKMM_OTHER_CHANNEL] = "channel",
	};

	return (u32)other < RKMM_OTHER_COUNT ? names[other] : "unknown";
}

static bool is_curve(enum rkmm_op_code code)
{
	return code >= RKMM_OP_EXP && code <= RKMM_OP_RSQRT;
}

static bool is_pool(enum rkmm_op_code code)
{
	return code == RKMM_OP_MAXPOOL || code == RKMM_OP_AVGPOOL;
}

static bool is_norm(enum rkmm_op_code code)
{
	return code == RKMM_OP_RMSNORM || code == RKMM_OP_LAYERNORM;
}

/* An operation of @n columns whose parameters are in range */
static struct rkmm_op sample(const struct rkmm_op_facts *f, u32 n)
{
	bool real = f->precision == RKMM_PREC_F16;
	struct rkmm_op op = {
		.code = f->code, .precision = f->precision, .other = f->other,
		.m = SAMPLE_ROWS, .n = n,
	};

	if (f->code <= RKMM_OP_DIV && f->other == RKMM_OTHER_SCALAR)
		op.value = real ? RKMM_F32_ONE : 1;
	if (f->code == RKMM_OP_CLAMP)
		op.value2 = real ? RKMM_F32_ONE : 1;
	if (f->code == RKMM_OP_LEAKY || is_norm(f->code))
		op.value = F32_HALF;
	if (is_curve(f->code) && !real) {
		op.scale = F32_1_32;
		op.out_scale = F32_1_32;
	}
	if (is_pool(f->code)) {
		op.width = 8;
		op.kernel_w = 2;
		op.kernel_h = 2;
	}
	return op;
}

static u32 flags_of(const struct rkmm_op_facts *f)
{
	if (f->code == RKMM_OP_SOFTMAX)
		return RKMM_OP_MASK | RKMM_OP_CAUSAL;
	if (f->code == RKMM_OP_RMSNORM)
		return RKMM_OP_GAMMA;
	if (f->code == RKMM_OP_LAYERNORM)
		return RKMM_OP_GAMMA | RKMM_OP_BETA;
	return f->code <= RKMM_OP_RSQRT && f->other != RKMM_OTHER_CHANNEL ? RKMM_OP_FLAT : 0;
}

/* Where one task, or a matmul, holds all columns of a row */
static u32 n_max_of(const struct rkmm_op_facts *f)
{
	bool spread = f->code == RKMM_OP_ADD && f->other == RKMM_OTHER_CHANNEL &&
		      f->precision == RKMM_PREC_F16;

	return spread || f->code == RKMM_OP_ROWSUM || f->code == RKMM_OP_ROWMEAN ||
	       f->code == RKMM_OP_SOFTMAX || is_norm(f->code) ||
	       f->code == RKMM_OP_ROWMAX ? RKMM_CHANNELS_MAX : 0;
}

#define STEP	256u

static void set_error(struct rkmm_op_facts *f, enum rkmm_error_unit unit, u32 error)
{
	f->unit = unit;
	f->error = error;
}

/* Elementary operations, in steps of the result */
static u32 steps_of(const struct rkmm_op_facts *f)
{
	bool real = f->precision == RKMM_PREC_F16;
	/* fp32, then fp16: twice rounded */
	u32 half = STEP / 2 + (real ? 3 : 0);

	switch (f->code) {
	case RKMM_OP_MAX:
	case RKMM_OP_MIN:
		/* a scalar is subtracted, and added again */
		return real && f->other == RKMM_OTHER_TENSOR ? 0 : half;
	case RKMM_OP_MUL:
	case RKMM_OP_DIV:
		return real && f->other == RKMM_OTHER_SCALAR ? 3 * STEP / 2 : STEP / 2;
	case RKMM_OP_ADD:
	case RKMM_OP_SUB:
		return f->other == RKMM_OTHER_SCALAR ? half : STEP / 2;
	case RKMM_OP_COPY:
	case RKMM_OP_RELU:
		return real ? 0 : STEP / 2;
	case RKMM_OP_LEAKY:
		return real ? 3 * STEP / 2 : STEP / 2;
	default:
		return half;
	}
}

static void errors_of(struct rkmm_op_facts *f)
{
	if (f->code <= RKMM_OP_LEAKY) {
		set_error(f, RKMM_ERROR_STEPS, steps_of(f));
		return;
	}
	if (is_curve(f->code)) {
		if (f->precision == RKMM_PREC_F16)
			set_error(f, RKMM_ERROR_RANGE, 65536 >> 9);
		else
			set_error(f, RKMM_ERROR_STEPS, STEP);
		return;
	}
	switch (f->code) {
	case RKMM_OP_ROWMAX:
	case RKMM_OP_MAXPOOL:
		set_error(f, RKMM_ERROR_STEPS, 0);
		break;
	case RKMM_OP_AVGPOOL:
		if (f->precision == RKMM_PREC_I8)
			set_error(f, RKMM_ERROR_STEPS, STEP);
		break;
	case RKMM_OP_SOFTMAX:
		set_error(f, RKMM_ERROR_RANGE, 65536 / 500);
		break;
	default:
		break;
	}
}

/* Lists in which an operation is a stage; the last two are of int8 results only. */
enum stage_list {
	STAGE_ALONE,
	STAGE_REQUANT,	/* before the requantisation */
	STAGE_SUMS,	/* a curve that makes int8 of sums */
	STAGE_LISTS
};

static void try_stage(struct rkmm_op_facts *f, enum rkmm_types types, enum stage_list list,
		      struct rkmm_epilogue *e)
{
	struct rkmm_stages stages = { .n = 1, .op = { sample(f, SAMPLE_COLS) } };
	struct rkmm_matmul mm = {
		.types = types, .form = RKMM_FORM_COUNT, .m = SAMPLE_ROWS, .k = SAMPLE_COLS,
		.n = SAMPLE_COLS, .mult = types == RKMM_T_I8I8 && list != STAGE_SUMS,
	};
	bool sure;

	if (list == STAGE_REQUANT) {
		stages.op[1].code = RKMM_OP_REQUANT;
		stages.n = 2;
	}
	if (rkmm_epilogue_make(&stages, &mm, e) != RKMM_OK)
		return;
	/* an operation of its own behind the matmul, if there is such a one */
	if (!(e->fused & 1) && f->reason != RKMM_OK)
		return;
	sure = (e->fused & 1 ? e->evidence : f->least) > RKMM_EVIDENCE_DERIVED;
	f->stage_of |= 1u << types;
	if (sure)
		f->stage_sure |= 1u << types;
	if (!(e->fused & 1))
		return;
	f->fused_in |= 1u << types;
	if (sure)
		f->fused_sure |= 1u << types;
}

static void try_stages(struct rkmm_op_facts *f, struct rkmm_epilogue *e)
{
	u32 types, list;

	for (types = 0; types < RKMM_T_COUNT; types++) {
		if (rkmm_type_facts[types].in != f->precision)
			continue;
		for (list = 0; list < (types == RKMM_T_I8I8 ? STAGE_LISTS : 1); list++)
			try_stage(f, types, list, e);
	}
}

static void set_shapes(const struct rkmm_limits *limits, struct rkmm_opgeom *g,
		       struct rkmm_op_facts *f)
{
	struct rkmm_op op = sample(f, SAMPLE_COLS);

	f->reason = rkmm_op_geometry(limits, &op, g);
	if (f->reason != RKMM_OK)
		return;
	f->most = g->evidence;
	op = sample(f, 1);
	f->reason = rkmm_op_geometry(limits, &op, g);
	if (f->reason != RKMM_OK)
		return;
	f->least = g->evidence;
	f->n_align = g->a.cols;
	if (f->least != f->most)
		f->n_most = f->n_align;
	f->flags = flags_of(f);
	f->n_max = n_max_of(f);
	errors_of(f);
}

void rkmm_op_facts(const struct rkmm_limits *limits, u32 i, struct rkmm_epilogue *scratch,
		   struct rkmm_op_facts *f)
{
	static const enum rkmm_precision precisions[] = {
		RKMM_PREC_F16, RKMM_PREC_I8, RKMM_PREC_I16,
	};
	const u32 binary = 3 * (RKMM_OP_DIV + 1);
	u32 which = i / 3;

	*f = (struct rkmm_op_facts){
		.precision = precisions[i % 3],
		.code = which < binary ? which / 3 : which - binary + RKMM_OP_DIV + 1,
		.other = which < binary ? which % 3 : RKMM_OTHER_TENSOR,
	};
	f->n_most = 1;
	set_shapes(limits, &scratch->op[0], f);
	try_stages(f, scratch);
}
