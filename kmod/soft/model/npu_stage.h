/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The DPU's pipeline between its input and its write engine (hw 04 §1.1): BS,
 * BN, EW with the table, OUT_CVT. Integer stages work one value at a time,
 * floating-point ones on blocks, because their arithmetic is in npu_fp.c.
 */
#ifndef NPU_STAGE_H
#define NPU_STAGE_H

#include "npu_core.h"
#include "npu_num.h"

/* Elements in one call of npu_stage_float(), and in one fp_begin/fp_end section */
#define STAGE_BLOCK		16384u

/**
 * struct npu_stage - BS or BN, which share their layout (hw 04 §1.2)
 * @cfg: 4040 or 4060
 * @alu: operand of the adder; fp32 bits in floating point
 * @mul: operand of the multiplier; fp16 bits in floating point
 * @relux: upper bound; fp32 bits in floating point
 * @shift: right shift behind the multiplier
 * @neg_shift: the same for negative values
 */
struct npu_stage {
	u32 cfg;
	s32 alu, mul, relux;
	u32 shift, neg_shift;
};

/**
 * struct npu_ew - EW
 * @cfg: 4070
 * @value: register operand, widened
 * @offset: added to the operand
 * @scale: multiplies the operand
 * @shift: right shift of the operand
 * @trunc: right shift behind the multiplier
 * @neg_trunc: the same for negative values
 * @relux: upper bound
 */
struct npu_ew {
	u32 cfg;
	s32 value;
	s32 offset, scale;
	u32 shift, trunc, neg_trunc;
	s32 relux;
};

/**
 * struct npu_cvt - OUT_CVT
 * @cfg: 4088
 * @scale: multiplies
 * @offset: added; fp32 bits in floating point
 * @shift: right shift, integers only
 * @minus_exp: negative power of two, floating point only
 */
struct npu_cvt {
	u32 cfg;
	s32 scale, offset;
	u32 shift, minus_exp;
};

struct npu_stages {
	struct npu_stage bs, bn;
	struct npu_ew ew;
	struct npu_cvt cvt;
	bool lut;		/* the table is in the path */
	bool to_fp16;		/* 4084 bit 16 */
	bool is_float;
};

/**
 * struct npu_operand - second operand of an operator
 * @v: values in the arithmetic's own format; NULL: the register's
 * @step: 1, or 0 for one value for all
 */
struct npu_operand {
	const u32 *v;
	u32 step;
};

struct npu_operands {
	struct npu_operand bs_alu, bs_mul, bn_alu, bn_mul, ew;
};

void npu_stage_read(struct npu_stages *s, const u32 *dpu, bool is_float);

/* The whole pipeline but for the last saturation, in place on up to STAGE_BLOCK elements */
void npu_stage_int(struct npu_core *core, const struct npu_stages *s, const struct npu_operands *o,
		   s32 *x, u32 n, u32 out_bytes);
void npu_stage_float(struct npu_core *core, const struct npu_stages *s,
		     const struct npu_operands *o, u32 *x, u32 n);
/* Two fp32 blocks, one operator, one NaN */
void npu_stage_fp(struct npu_core *core, u32 op, u32 *x, const u32 *y, u32 step, u32 n);

/* npu_lut.c: the table's answer to an index, hw 04 §2.5 */
s32 npu_lut_apply(const struct npu_core *core, s32 x);

static inline bool npu_stage_on(const struct npu_stage *s)
{
	return !(s->cfg & STAGE_BYPASS);
}

static inline s64 npu_stage_alu(const struct npu_stage *s, s64 x, s64 operand)
{
	if (s->cfg & STAGE_ALU_BYPASS)
		return x;
	switch (npu_bits(s->cfg, 19, 16)) {
	case 0:
		return x > operand ? x : operand;
	case 1:
		return x < operand ? x : operand;
	case 4:
		return npu_sat32(x - operand);
	default:
		return npu_sat32(x + operand);
	}
}

static inline s64 npu_stage_mul(const struct npu_stage *s, s64 x, s64 operand)
{
	if (s->cfg & STAGE_MUL_BYPASS || ((s->cfg & STAGE_MUL_PRELU) && x >= 0))
		return x;
	return x * operand;
}

/* Negative values have a shift of their own (hw 04 §1.1), also behind a PReLU. */
static inline s64 npu_stage_shift(const struct npu_stage *s, s64 x)
{
	if (s->cfg & STAGE_MUL_BYPASS)
		return x;
	return npu_sat32(npu_shift_away(x, x < 0 ? s->neg_shift : s->shift));
}

static inline s64 npu_stage_relu(const struct npu_stage *s, s64 x)
{
	if (s->cfg & STAGE_RELU_BYPASS)
		return x;
	if (x < 0)
		return 0;
	return (s->cfg & STAGE_RELUX_EN) && x > s->relux ? s->relux : x;
}

/* The whole of BS: add, multiply, shift, ReLU */
static inline s64 npu_stage_bs(const struct npu_stage *s, s64 x, s64 alu, s64 mul)
{
	if (!npu_stage_on(s))
		return x;
	x = npu_stage_mul(s, npu_stage_alu(s, x, alu), mul);
	return npu_stage_relu(s, npu_stage_shift(s, x));
}

/* The whole of BN: multiply, add, shift, ReLU */
static inline s64 npu_stage_bn(const struct npu_stage *s, s64 x, s64 alu, s64 mul)
{
	if (!npu_stage_on(s))
		return x;
	x = npu_stage_alu(s, npu_stage_mul(s, x, mul), alu);
	return npu_stage_relu(s, npu_stage_shift(s, x));
}

/* The table and the ReLU behind it, with EW's operator bypassed */
static inline s64 npu_stage_ew_tail(const struct npu_core *core, const struct npu_stages *s,
				    s64 x)
{
	if (s->ew.cfg & EW_BYPASS)
		return x;
	if (s->lut)
		x = npu_lut_apply(core, (s32)x);
	if (s->ew.cfg & EW_RELU_BYPASS)
		return x;
	if (x < 0)
		return 0;
	return (s->ew.cfg & EW_RELUX_EN) && x > s->ew.relux ? s->ew.relux : x;
}

static inline s64 npu_cvt_shift(const struct npu_cvt *c, s64 x)
{
	if (c->cfg & OUT_ROUND_CARRY)
		return npu_shift_away(x, c->shift);
	return npu_shift_even(x, c->shift);
}

static inline s64 npu_cvt_int(const struct npu_cvt *c, s64 x)
{
	if (c->cfg & OUT_ADD_FIRST)
		return npu_cvt_shift(c, npu_sat32(x + c->offset) * (s64)c->scale);
	return npu_cvt_shift(c, x * c->scale) + c->offset;
}

static inline s64 npu_saturate(s64 x, u32 bytes)
{
	switch (bytes) {
	case 1:
		return npu_clamp(x, -128, 127);
	case 2:
		return npu_clamp(x, -32768, 32767);
	default:
		return npu_sat32(x);
	}
}

static inline void npu_put(u8 *dst, u32 value, u32 bytes)
{
	for (; bytes; bytes--, value >>= 8)
		*dst++ = value & 0xff;
}

#endif
