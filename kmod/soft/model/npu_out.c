// SPDX-License-Identifier: GPL-2.0-only
/*
 * Behind the accumulators: the DPU stages a matmul passes (hw 04 §1.1) and the
 * write law of hw 02 §3.5.
 */
#include "npu_core.h"
#include "npu_num.h"

/* Operand of the BS adder by BRDMA: one 32-bit word a channel (hw 02 §8) */
static bool bias_from_memory(const struct npu_conv *t)
{
	return !(t->bs_cfg & (STAGE_BYPASS | STAGE_ALU_BYPASS)) && (t->bs_cfg & STAGE_ALU_SRC);
}

enum npu_class npu_load_bias(struct npu_core *core, const struct npu_conv *t)
{
	u32 addr;

	if (!bias_from_memory(t) || t->effect == EFFECT_ZERO)
		return NPU_OK;
	addr = npu_reg(t->rdma, RDMA_BRDMA_BASE) + npu_word_get(&core->dma_base);
	return npu_read(core, addr, core->bias, t->n * 4);
}

/* BS and BN share their layout, hw 04 §1.2. */
struct stage {
	u32 cfg;
	s64 alu, mul, relux;
	u32 shift, neg_shift;
};

static struct stage read_stage(const u32 *r, u32 cfg, u32 neg_shift)
{
	u32 mul = npu_reg(r, cfg + 8);

	return (struct stage) {
		.cfg = npu_reg(r, cfg),
		.alu = (s32)npu_reg(r, cfg + 4),
		.mul = (s16)(mul >> 16),
		.shift = npu_bits(mul, 13, 8),
		.neg_shift = neg_shift,
		.relux = (s32)npu_reg(r, cfg + 12),
	};
}

static s64 stage_alu(const struct stage *s, s64 x, s64 operand)
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

static s64 stage_mul(const struct stage *s, s64 x)
{
	if (s->cfg & STAGE_MUL_BYPASS)
		return x;
	if ((s->cfg & STAGE_MUL_PRELU) && x >= 0)
		return x;
	return x * s->mul;
}

/* Negative values have a shift of their own (hw 04 §1.1) */
static s64 stage_shift(const struct stage *s, s64 x)
{
	if (s->cfg & STAGE_MUL_BYPASS)
		return x;
	return npu_sat32(npu_shift_away(x, x < 0 ? s->neg_shift : s->shift));
}

static s64 stage_relu(const struct stage *s, s64 x)
{
	if (s->cfg & STAGE_RELU_BYPASS)
		return x;
	if (x < 0)
		return 0;
	return (s->cfg & STAGE_RELUX_EN) && x > s->relux ? s->relux : x;
}

struct out_cvt {
	s64 scale, offset;
	u32 shift, cfg;
};

static s64 out_shift(const struct out_cvt *o, s64 x)
{
	if (o->cfg & OUT_ROUND_CARRY)
		return npu_shift_away(x, o->shift);
	return npu_shift_even(x, o->shift);
}

static s64 out_cvt(const struct out_cvt *o, s64 x)
{
	if (o->cfg & OUT_ADD_FIRST)
		return out_shift(o, npu_sat32(x + o->offset) * o->scale);
	return out_shift(o, x * o->scale) + o->offset;
}

static s64 saturate(const struct npu_conv *t, s64 x)
{
	switch (t->out_bytes) {
	case 1:
		return npu_clamp(x, -128, 127);
	case 2:
		return npu_clamp(x, -32768, 32767);
	default:
		return npu_sat32(x);
	}
}

/* Sum of the inputs of a pixel, for the weight zero point (hw 02 §8) */
static s64 input_sum(const struct npu_core *core, const struct npu_conv *t, u32 pixel)
{
	u32 row = pixel / t->row_step, c;
	const s8 *a = (const s8 *)core->operand_a + (size_t)row * t->k;
	s64 sum = 0;

	if (t->effect != EFFECT_NATURAL || pixel % t->row_step || row >= t->rows)
		return 0;
	for (c = 0; c < t->k; c++)
		sum += a[c];
	return sum;
}

static void put(u8 *dst, u32 value, u32 bytes)
{
	for (; bytes; bytes--, value >>= 8)
		*dst++ = value & 0xff;
}

static void convert_int(struct npu_core *core, const struct npu_conv *t, u32 p0, u32 p1, u32 n0,
			u32 pitch)
{
	const struct stage bs = read_stage(t->dpu, DPU_BS_CFG, t->bs_neg_shift);
	const struct stage bn = read_stage(t->dpu, DPU_BN_CFG, t->bn_neg_shift);
	const u32 scale = npu_reg(t->dpu, DPU_OUT_SCALE);
	const u32 shift = npu_reg(t->dpu, DPU_OUT_SHIFT);
	const struct out_cvt cvt = {
		.scale = (s16)(scale & 0xffff),
		.offset = (s32)npu_reg(t->dpu, DPU_OUT_OFFSET),
		.shift = npu_bits(shift, 11, 0),
		.cfg = shift,
	};
	const bool zero_point = !t->od_bypass && t->qd_en && t->ow_op;
	const bool bias = bias_from_memory(t);
	u8 *out = (u8 *)core->stage;
	u32 p, n;

	for (p = p0; p < p1; p++) {
		s64 correction = zero_point ? input_sum(core, t, p) * t->ow_op : 0;

		for (n = n0; n < n0 + pitch; n++) {
			size_t at = (size_t)(p - p0) * pitch + n - n0;
			s64 x = npu_shift_away((s32)core->stage[at], t->truncate);

			if (!(bs.cfg & STAGE_BYPASS)) {
				x = stage_alu(&bs, x, !bias ? bs.alu :
					      n < t->n ? (s32)core->bias[n] : 0);
				x = stage_shift(&bs, stage_mul(&bs, npu_sat32(x + correction)));
				x = stage_relu(&bs, x);
			} else {
				x = npu_sat32(x + correction);
			}
			if (!(bn.cfg & STAGE_BYPASS)) {
				x = stage_alu(&bn, stage_mul(&bn, x), bn.alu);
				x = stage_relu(&bn, stage_shift(&bn, x));
			}
			x = saturate(t, out_cvt(&cvt, x));
			if (n >= t->n_orig)
				x = t->pend;
			put(out + at * t->out_bytes, (u32)x, t->out_bytes);
		}
	}
}

/* Nothing between an exact sum and its int32 or int16 word: no arithmetic. */
static bool plain_int(const struct npu_conv *t)
{
	return (t->bs_cfg & STAGE_BYPASS) && (t->bn_cfg & STAGE_BYPASS) && !t->truncate &&
	       (t->od_bypass || !t->ow_op) && t->n_orig >= t->n &&
	       !npu_reg(t->dpu, DPU_OUT_OFFSET) &&
	       npu_bits(npu_reg(t->dpu, DPU_OUT_SCALE), 15, 0) == 1 &&
	       !npu_bits(npu_reg(t->dpu, DPU_OUT_SHIFT), 11, 0);
}

static void saturate_all(u32 *stage, const struct npu_conv *t, size_t count)
{
	u8 *out = (u8 *)stage;
	size_t i;

	if (t->out_bytes == 4)
		return;
	for (i = 0; i < count; i++)
		put(out + i * t->out_bytes, (u32)saturate(t, (s32)stage[i]), t->out_bytes);
}

static void convert_float(u32 *stage, const struct npu_conv *t, size_t count)
{
	u8 *out = (u8 *)stage;
	size_t i;

	for (i = 0; i < count; i++) {
		if (t->out_bytes == 4)
			stage[i] = npu_f32_one_nan(stage[i]);
		else
			put(out + 2 * i, npu_f32_to_f16(stage[i]), 2);
	}
}

/* Stage words of pixels p0..p1, kernel groups g0..g1 into output elements, in place. */
void npu_out_convert(struct npu_core *core, const struct npu_conv *t, u32 p0, u32 p1, u32 g0,
		     u32 g1)
{
	u32 pitch = (g1 - g0) * t->type->group;
	size_t count = (size_t)(p1 - p0) * pitch;

	if (t->effect == EFFECT_ZERO)
		memset(core->stage, 0, count * t->out_bytes);
	else if (t->is_float)
		convert_float(core->stage, t, count);
	else if (plain_int(t))
		saturate_all(core->stage, t, count);
	else
		convert_int(core, t, p0, p1, g0 * t->type->group, pitch);
}

/* Collects neighbouring bytes into one write. */
struct run {
	struct npu_core *core;
	u32 addr, len;
};

static enum npu_class run_flush(struct run *r)
{
	enum npu_class cls = NPU_OK;

	if (r->len) {
		npu_stale_output(r->core, r->addr, r->core->run, r->len);
		cls = npu_write(r->core, r->addr, r->core->run, r->len);
	}
	r->len = 0;
	return cls;
}

static enum npu_class run_add(struct run *r, u32 addr, const u8 *src, u32 len)
{
	enum npu_class cls;

	if (addr != r->addr + r->len || r->len + len > RUN_BYTES) {
		cls = run_flush(r);
		if (cls)
			return cls;
		r->addr = addr;
	}
	memcpy(r->core->run + r->len, src, len);
	r->len += len;
	return NPU_OK;
}

/* Atoms per pixel and kernel group on this line (hw 02 §3.3, 4050) */
static u32 line_atoms(const struct npu_conv *t, u32 line)
{
	u32 which = !line ? 0 : line + 1 == t->oh ? 2 : 1;

	return t->size_e[which] + 1;
}

static u32 group_atoms(const struct npu_conv *t, u32 group, u32 line)
{
	u32 g = t->type->group;
	u32 columns = npu_min(g, t->n - group * g);

	return npu_min(line_atoms(t, line), npu_div_up(columns * t->out_bytes, ATOM));
}

static u32 pixel_addr(const struct npu_conv *t, u32 pixel, u32 group)
{
	u32 line = pixel / t->ow, w = pixel % t->ow, addr;

	/* A 1x1 rectangle knows no lines: every pixel is the next kernel group. */
	if (t->single_rect)
		return t->c + (group * t->pixels + pixel) * t->surf_add;
	addr = t->c + group * t->surf_add + ATOM * w;
	if (line)
		addr += ATOM * (t->ow + t->notch0) + (line - 1) * ATOM * (t->ow + t->notch1);
	return addr;
}

static bool in_rect(const struct npu_conv *t, u32 pixel)
{
	return t->single_rect || (pixel / t->ow < t->rect_h && pixel % t->ow < t->rect_w);
}

struct piece {
	u32 p0, g0, pitch;
};

static enum npu_class put_atoms(struct run *r, const struct npu_conv *t, const struct piece *s,
				u32 p, u32 g, u32 atom, u32 atoms)
{
	size_t at = (size_t)(p - s->p0) * s->pitch + (size_t)(g - s->g0) * t->type->group;
	const u8 *src = (const u8 *)r->core->stage + at * t->out_bytes + atom * ATOM;

	if (!in_rect(t, p) || !atoms)
		return NPU_OK;
	return run_add(r, pixel_addr(t, p, g) + atom * t->dst_surf, src, atoms * ATOM);
}

/* Atoms of a pixel side by side: pixel by pixel, or group by group. */
static enum npu_class write_rows(struct run *r, const struct npu_conv *t, const struct piece *s,
				 u32 p1, u32 g1, bool pixel_outer)
{
	u32 outer0 = pixel_outer ? s->p0 : s->g0, outer1 = pixel_outer ? p1 : g1;
	u32 inner0 = pixel_outer ? s->g0 : s->p0, inner1 = pixel_outer ? g1 : p1;
	enum npu_class cls;
	u32 o, i;

	for (o = outer0; o < outer1; o++)
		for (i = inner0; i < inner1; i++) {
			u32 p = pixel_outer ? o : i, g = pixel_outer ? i : o;

			cls = put_atoms(r, t, s, p, g, 0, group_atoms(t, g, p / t->ow));
			if (cls)
				return cls;
		}
	return NPU_OK;
}

/* Atoms of a pixel far apart: surface by surface. */
static enum npu_class write_surfaces(struct run *r, const struct npu_conv *t,
				     const struct piece *s, u32 p1, u32 g1)
{
	enum npu_class cls;
	u32 g, q, p;

	for (g = s->g0; g < g1; g++)
		for (q = 0; q < 8; q++)
			for (p = s->p0; p < p1; p++) {
				if (q >= group_atoms(t, g, p / t->ow))
					continue;
				cls = put_atoms(r, t, s, p, g, q, 1);
				if (cls)
					return cls;
			}
	return NPU_OK;
}

enum npu_class npu_out_write(struct npu_core *core, const struct npu_conv *t, u32 p0, u32 p1,
			     u32 g0, u32 g1)
{
	struct run r = { .core = core, .addr = t->c };
	struct piece s = { .p0 = p0, .g0 = g0, .pitch = (g1 - g0) * t->type->group };
	enum npu_class cls;

	if (t->dst_surf == ATOM)
		cls = write_rows(&r, t, &s, p1, g1,
				 !t->single_rect && t->surf_add == ATOM * line_atoms(t, 0));
	else
		cls = write_surfaces(&r, t, &s, p1, g1);
	return cls ? cls : run_flush(&r);
}
