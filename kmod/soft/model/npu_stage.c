// SPDX-License-Identifier: GPL-2.0-only
/* The DPU's stages (hw 04 §1.1): decode, integer values, blocks of fp32 values. */
#include "npu_stage.h"
#include "npu_fp.h"

/* Shared by BS at 4040 and BN at 4060; @cfg is the offset of the first register. */
static void read_stage(struct npu_stage *s, const u32 *r, u32 cfg, u32 neg_shift, bool is_float)
{
	u32 mul = npu_reg(r, cfg + 8);

	*s = (struct npu_stage) {
		.cfg = npu_reg(r, cfg),
		.alu = (s32)npu_reg(r, cfg + 4),
		.mul = is_float ? (s32)npu_f16_to_f32(mul >> 16) : (s16)(mul >> 16),
		.shift = npu_bits(mul, 13, 8),
		.neg_shift = neg_shift,
		.relux = (s32)npu_reg(r, cfg + 12),
	};
}

/*
 * No sheet says how the register operand is coded. It is taken to have the
 * width that 4070 gives the operand: fp16 bits, fp32 bits, or an integer.
 */
static s32 register_operand(const u32 *r, u32 cfg, bool is_float)
{
	u32 v = npu_reg(r, DPU_EW_OP_VALUE);

	switch (npu_bits(cfg, 23, 22)) {
	case 1:
		return (s8)v;
	case 2:
		return is_float ? (s32)npu_f16_to_f32(v & 0xffff) : (s16)v;
	default:
		return (s32)v;
	}
}

void npu_stage_read(struct npu_stages *s, const u32 *dpu, bool is_float)
{
	u32 format = npu_reg(dpu, DPU_DATA_FORMAT);
	u32 ew = npu_reg(dpu, DPU_EW_CFG);
	u32 scale = npu_reg(dpu, DPU_EW_CVT_SCALE);
	u32 shift = npu_reg(dpu, DPU_OUT_SHIFT);

	memset(s, 0, sizeof(*s));
	s->is_float = is_float;
	read_stage(&s->bs, dpu, DPU_BS_CFG, npu_bits(format, 9, 4), is_float);
	read_stage(&s->bn, dpu, DPU_BN_CFG, npu_bits(format, 15, 10), is_float);
	s->ew = (struct npu_ew) {
		.cfg = ew,
		.value = register_operand(dpu, ew, is_float),
		.offset = (s32)npu_reg(dpu, DPU_EW_CVT_OFFSET),
		.scale = (s16)(scale & 0xffff),
		.shift = npu_bits(scale, 21, 16),
		.trunc = npu_bits(scale, 31, 22),
		.neg_trunc = npu_bits(format, 25, 16),
		.relux = (s32)npu_reg(dpu, DPU_EW_RELUX),
	};
	s->cvt = (struct npu_cvt) {
		.cfg = shift,
		.scale = (s16)(npu_reg(dpu, DPU_OUT_SCALE) & 0xffff),
		.offset = (s32)npu_reg(dpu, DPU_OUT_OFFSET),
		.shift = npu_bits(shift, 11, 0),
		.minus_exp = npu_bits(shift, 19, 12),
	};
	s->to_fp16 = npu_reg(dpu, DPU_OUT_SCALE) & OUT_FP32TOFP16;
	s->lut = !(ew & (EW_BYPASS | EW_LUT_BYPASS));
}

static s32 operand(const struct npu_operand *o, u32 i, s32 reg)
{
	return o->v ? (s32)o->v[i * o->step] : reg;
}

/* --- integers ---------------------------------------------------------------------------- */

static s64 ew_operand(const struct npu_ew *e, s64 b)
{
	if (e->cfg & EW_CVT_BYPASS)
		return b;
	if (e->cfg & EW_CVT_ADD_FIRST)
		return npu_sat32(npu_shift_away((b + e->offset) * e->scale, e->shift));
	return npu_sat32(npu_shift_away(b * e->scale, e->shift) + e->offset);
}

static s64 ew_mul(const struct npu_ew *e, s64 x, s64 b)
{
	if ((e->cfg & EW_MUL_PRELU) && x >= 0)
		return x;
	x *= b;
	return npu_shift_away(x, x < 0 ? e->neg_trunc : e->trunc);
}

/* Quotients are documented for fp16 only; floor and ceiling do nothing to an integer. */
static s64 ew_int(const struct npu_ew *e, s64 x, s64 b)
{
	if (e->cfg & EW_OP_MUL)
		return npu_sat32(ew_mul(e, x, b));
	switch (npu_bits(e->cfg, 19, 16)) {
	case 0:
		return x > b ? x : b;
	case 1:
		return x < b ? x : b;
	case 2:
		return npu_sat32(x + b);
	case 4:
		return npu_sat32(x - b);
	case 5:
		return npu_sat32(x < 0 ? -x : x);
	case 6:
		return npu_sat32(-x);
	default:
		return x;
	}
}

void npu_stage_int(struct npu_core *core, const struct npu_stages *s, const struct npu_operands *o,
		   s32 *x, u32 n, u32 out_bytes)
{
	const bool ew = !(s->ew.cfg & (EW_BYPASS | EW_OP_BYPASS));
	s64 v;
	u32 i;

	for (i = 0; i < n; i++) {
		v = x[i];
		v = npu_stage_bs(&s->bs, v, operand(&o->bs_alu, i, s->bs.alu),
				 operand(&o->bs_mul, i, s->bs.mul));
		v = npu_stage_bn(&s->bn, v, operand(&o->bn_alu, i, s->bn.alu),
				 operand(&o->bn_mul, i, s->bn.mul));
		if (ew)
			v = ew_int(&s->ew, v,
				   ew_operand(&s->ew, operand(&o->ew, i, s->ew.value)));
		v = npu_stage_ew_tail(core, s, v);
		x[i] = (s32)npu_saturate(npu_cvt_int(&s->cvt, v), out_bytes);
	}
}

/* --- floating point ---------------------------------------------------------------------- */

void npu_stage_fp(struct npu_core *core, u32 op, u32 *x, const u32 *y, u32 step, u32 n)
{
	const struct npu_env *env = core->env;
	u64 saved;
	u32 i;

	if (env->fp_begin)
		env->fp_begin(env->ctx);
	saved = npu_fp_enter();
	npu_fp_apply((enum npu_fp_op)op, x, y, step, n);
	npu_fp_leave(saved);
	if (env->fp_end)
		env->fp_end(env->ctx);
	for (i = 0; i < n; i++)
		x[i] = npu_f32_one_nan(x[i]);
}

static void fp_operand(struct npu_core *core, enum npu_fp_op op, u32 *x,
		       const struct npu_operand *o, s32 reg, u32 n)
{
	u32 value = (u32)reg;

	if (o->v)
		npu_stage_fp(core, op, x, o->v, o->step, n);
	else
		npu_stage_fp(core, op, x, &value, 0, n);
}

/* Maximum, minimum, add, subtract have the same codes in every stage (hw 04 §1.2). */
static void float_alu(struct npu_core *core, u32 algo, u32 *x, const struct npu_operand *o,
		      s32 reg, u32 n)
{
	u32 i;

	switch (algo) {
	case 0:
		for (i = 0; i < n; i++)
			x[i] = npu_f32_max(x[i], (u32)operand(o, i, reg));
		break;
	case 1:
		for (i = 0; i < n; i++)
			x[i] = npu_f32_min(x[i], (u32)operand(o, i, reg));
		break;
	case 4:
		fp_operand(core, NPU_FP_SUB, x, o, reg, n);
		break;
	default:
		fp_operand(core, NPU_FP_ADD, x, o, reg, n);
	}
}

/* -0 becomes +0; a NaN passes. */
static void float_relu(u32 *x, u32 n, const s32 *relux)
{
	u32 i;

	for (i = 0; i < n; i++) {
		if (npu_f32_is_nan(x[i]))
			continue;
		if (x[i] & 0x80000000)
			x[i] = 0;
		else if (relux)
			x[i] = npu_f32_min(x[i], (u32)*relux);
	}
}

static void float_stage_alu(struct npu_core *core, const struct npu_stage *s, u32 *x,
			    const struct npu_operand *o, u32 n)
{
	if (!(s->cfg & STAGE_ALU_BYPASS))
		float_alu(core, npu_bits(s->cfg, 19, 16), x, o, s->alu, n);
}

static void float_stage_mul(struct npu_core *core, const struct npu_stage *s, u32 *x,
			    const struct npu_operand *o, u32 n)
{
	if (!(s->cfg & STAGE_MUL_BYPASS))
		fp_operand(core, s->cfg & STAGE_MUL_PRELU ? NPU_FP_PRELU : NPU_FP_MUL, x, o,
			   s->mul, n);
}

static void float_stage_relu(const struct npu_stage *s, u32 *x, u32 n)
{
	if (!(s->cfg & STAGE_RELU_BYPASS))
		float_relu(x, n, s->cfg & STAGE_RELUX_EN ? &s->relux : NULL);
}

static void float_ew_op(struct npu_core *core, const struct npu_ew *e, u32 *x,
			const struct npu_operand *o, u32 n)
{
	u32 algo = npu_bits(e->cfg, 19, 16), i;

	if (e->cfg & EW_OP_MUL) {
		fp_operand(core, e->cfg & EW_MUL_PRELU ? NPU_FP_PRELU : NPU_FP_MUL, x, o,
			   e->value, n);
		return;
	}
	switch (algo) {
	case 3:
		fp_operand(core, NPU_FP_DIV, x, o, e->value, n);
		break;
	case 5:
		for (i = 0; i < n; i++)
			x[i] = npu_f32_one_nan(x[i] & 0x7fffffff);
		break;
	case 6:
		for (i = 0; i < n; i++)
			x[i] = npu_f32_one_nan(x[i] ^ 0x80000000);
		break;
	case 7:
	case 8:
		for (i = 0; i < n; i++)
			x[i] = npu_f32_floor(x[i], algo == 8);
		break;
	default:
		float_alu(core, algo, x, o, e->value, n);
	}
}

static void float_ew(struct npu_core *core, const struct npu_stages *s,
		     const struct npu_operands *o, u32 *x, u32 n)
{
	u32 i;

	if (s->ew.cfg & EW_BYPASS)
		return;
	if (!(s->ew.cfg & EW_OP_BYPASS))
		float_ew_op(core, &s->ew, x, &o->ew, n);
	if (s->lut)
		for (i = 0; i < n; i++)
			x[i] = npu_s32_to_f32(npu_lut_apply(core, npu_f32_to_s32(x[i])));
	if (!(s->ew.cfg & EW_RELU_BYPASS))
		float_relu(x, n, s->ew.cfg & EW_RELUX_EN ? &s->ew.relux : NULL);
}

/*
 * Scale and power of two are one factor. The offset is taken as fp32 bits (hw
 * 04 §2.5 leaves it open), which makes the captured integer 1 vanish.
 */
static void float_cvt(struct npu_core *core, const struct npu_cvt *c, u32 *x, u32 n)
{
	u32 offset = (u32)c->offset, scale = npu_s32_to_f32(c->scale);
	u32 power = c->minus_exp < 127 ? (127 - c->minus_exp) << 23 : 0;

	if ((c->cfg & OUT_ADD_FIRST) && offset)
		npu_stage_fp(core, NPU_FP_ADD, x, &offset, 0, n);
	if (c->scale != 1)
		npu_stage_fp(core, NPU_FP_MUL, x, &scale, 0, n);
	if (c->minus_exp)
		npu_stage_fp(core, NPU_FP_MUL, x, &power, 0, n);
	if (!(c->cfg & OUT_ADD_FIRST) && offset)
		npu_stage_fp(core, NPU_FP_ADD, x, &offset, 0, n);
}

void npu_stage_float(struct npu_core *core, const struct npu_stages *s,
		     const struct npu_operands *o, u32 *x, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		x[i] = npu_f32_one_nan(x[i]);
	if (npu_stage_on(&s->bs)) {
		float_stage_alu(core, &s->bs, x, &o->bs_alu, n);
		float_stage_mul(core, &s->bs, x, &o->bs_mul, n);
		float_stage_relu(&s->bs, x, n);
	}
	if (npu_stage_on(&s->bn)) {
		float_stage_mul(core, &s->bn, x, &o->bn_mul, n);
		float_stage_alu(core, &s->bn, x, &o->bn_alu, n);
		float_stage_relu(&s->bn, x, n);
	}
	float_ew(core, s, o, x, n);
	float_cvt(core, &s->cvt, x, n);
}
