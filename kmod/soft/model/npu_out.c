// SPDX-License-Identifier: GPL-2.0-only
/*
 * Behind the accumulators: the DPU stages a matmul passes (hw 04 §1.1) and the
 * write law of hw 02 §3.5.
 */
#include "npu_stage.h"

static_assert(STAGE_BLOCK * 4 <= RUN_BYTES, "a block of operands lies in run");
static_assert(N_MAX <= STAGE_BLOCK, "a row passes the stages at once");

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

static void convert_int(struct npu_core *core, const struct npu_conv *t, u32 p0, u32 p1, u32 n0,
			u32 pitch)
{
	const bool zero_point = !t->od_bypass && t->qd_en && t->ow_op;
	const bool bias = bias_from_memory(t);
	u8 *out = (u8 *)core->stage;
	struct npu_stages st;
	u32 p, n;

	npu_stage_read(&st, t->dpu, false);
	for (p = p0; p < p1; p++) {
		s64 correction = zero_point ? input_sum(core, t, p) * t->ow_op : 0;

		for (n = n0; n < n0 + pitch; n++) {
			size_t at = (size_t)(p - p0) * pitch + n - n0;
			s64 x = npu_shift_away((s32)core->stage[at], t->truncate);

			if (npu_stage_on(&st.bs)) {
				x = npu_stage_alu(&st.bs, x, !bias ? st.bs.alu :
						  n < t->n ? (s32)core->bias[n] : 0);
				x = npu_stage_mul(&st.bs, npu_sat32(x + correction), st.bs.mul);
				x = npu_stage_relu(&st.bs, npu_stage_shift(&st.bs, x));
			} else {
				x = npu_sat32(x + correction);
			}
			x = npu_stage_bn(&st.bn, x, st.bn.alu, st.bn.mul);
			x = npu_stage_ew_tail(core, &st, x);
			x = npu_saturate(npu_cvt_int(&st.cvt, x), t->out_bytes);
			if (n >= t->n_orig)
				x = t->pend;
			npu_put(out + at * t->out_bytes, (u32)x, t->out_bytes);
		}
	}
}

/* Nothing between an exact sum and its int32 or int16 word: no arithmetic. */
static bool plain_int(const struct npu_conv *t)
{
	return (t->bs_cfg & STAGE_BYPASS) && (t->bn_cfg & STAGE_BYPASS) &&
	       (t->ew_cfg & EW_BYPASS) && !t->truncate &&
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
		npu_put(out + i * t->out_bytes, (u32)npu_saturate((s32)stage[i], t->out_bytes),
			t->out_bytes);
}

static void convert_float(u32 *stage, const struct npu_conv *t, size_t count)
{
	u8 *out = (u8 *)stage;
	size_t i;

	for (i = 0; i < count; i++) {
		if (t->out_bytes == 4)
			stage[i] = npu_f32_one_nan(stage[i]);
		else
			npu_put(out + 2 * i, npu_f32_to_f16(stage[i]), 2);
	}
}

static bool float_stages(const struct npu_conv *t)
{
	return !(t->bs_cfg & STAGE_BYPASS) || !(t->bn_cfg & STAGE_BYPASS) ||
	       !(t->ew_cfg & EW_BYPASS) || t->n_orig < t->n ||
	       npu_reg(t->dpu, DPU_OUT_OFFSET) || npu_reg(t->dpu, DPU_OUT_SHIFT) ||
	       npu_bits(npu_reg(t->dpu, DPU_OUT_SCALE), 15, 0) != 1;
}

/* Rows of fp32 sums through the stages, as many at a time as a block holds */
static void stage_float(struct npu_core *core, const struct npu_conv *t, u32 rows, u32 n0,
			u32 pitch)
{
	u32 *bias = (u32 *)core->run;
	struct npu_operands o = { 0 };
	u32 many = npu_max(STAGE_BLOCK / pitch, 1), r, n, i;
	struct npu_stages st;

	npu_stage_read(&st, t->dpu, true);
	many = npu_min(many, rows);
	if (bias_from_memory(t)) {
		for (r = 0; r < many; r++)
			for (n = 0; n < pitch; n++)
				bias[r * pitch + n] = n0 + n < t->n ? core->bias[n0 + n] : 0;
		o.bs_alu.v = bias;
		o.bs_alu.step = 1;
	}
	for (r = 0; r < rows; r += many)
		npu_stage_float(core, &st, &o, core->stage + (size_t)r * pitch,
				npu_min(many, rows - r) * pitch);
	for (i = 0; t->n_orig < t->n && i < rows * pitch; i++)
		if (n0 + i % pitch >= t->n_orig)
			core->stage[i] = npu_f16_to_f32((u32)t->pend & 0xffff);
}

/* Stage words of pixels p0..p1, kernel groups g0..g1 into output elements, in place. */
void npu_out_convert(struct npu_core *core, const struct npu_conv *t, u32 p0, u32 p1, u32 g0,
		     u32 g1)
{
	u32 pitch = (g1 - g0) * t->type->group;
	size_t count = (size_t)(p1 - p0) * pitch;

	if (t->is_float && t->effect == EFFECT_NATURAL && float_stages(t))
		stage_float(core, t, p1 - p0, g0 * t->type->group, pitch);
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
