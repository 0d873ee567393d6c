// SPDX-License-Identifier: GPL-2.0-only
/*
 * A task of the DPU alone: MRDMA and ERDMA bring one or two cubes from memory,
 * the stages work on them, the write engine stores the result (hw 04 §1, §2),
 * or the min/max unit makes one value of a pixel's channels (hw 04 §3.3).
 */
#include "npu_stage.h"

/* Pixels of one surface that pass the stages at a time */
#define BLOCK_PIXELS	1024u

static_assert(BLOCK_PIXELS * ATOM <= STAGE_BLOCK, "a block of bytes passes the stages at once");
static_assert(BLOCK_PIXELS * ATOM <= RUN_BYTES, "a block is read into run");
static_assert(5 * STAGE_BLOCK <= OPERAND_W_WORDS, "operands lie where weights would");

/* Types that the read engines know, and channels in an atom of 16 bytes (hw 04 §1.5) */
static const struct npu_type types[] = {
	{ PREC_INT8, 8, 16 },
	{ PREC_INT16, 16, 8 },
	{ PREC_FP16, 16, 8 },
};

static void decode_rdma(struct npu_dpu *d, u32 dma_base)
{
	const u32 *r = d->t.rdma;
	u32 v, line_notch;

	d->mode = npu_reg(r, RDMA_FEATURE_MODE);
	d->w = npu_bits(npu_reg(r, RDMA_CUBE_WIDTH), 12, 0) + 1;
	v = npu_reg(r, RDMA_CUBE_HEIGHT);
	d->h = npu_bits(v, 12, 0) + 1;
	d->ew_line_pitch = ATOM * (d->w + npu_bits(v, 28, 16));
	d->n = npu_bits(npu_reg(r, RDMA_CUBE_CHANNEL), 12, 0) + 1;
	d->src = npu_reg(r, RDMA_MRDMA_BASE) + dma_base;

	/* Pixels to the end of a line, bytes from the last pixel to the next surface */
	line_notch = npu_bits(npu_reg(r, RDMA_LINE_NOTCH), 31, 19);
	d->line_pitch = ATOM * (d->w + line_notch);
	d->surf_pitch = d->line_pitch * (d->h - 1) + ATOM * d->w +
			(npu_reg(r, RDMA_SURF_NOTCH) & ~0xfu);

	d->erdma = npu_reg(r, RDMA_ERDMA_CFG);
	d->per_channel = npu_bits(d->erdma, 31, 30) == 0;
	d->ew = npu_reg(r, RDMA_EW_BASE) + dma_base;
	d->ew_surf_pitch = (npu_reg(r, RDMA_EW_SURF_STRIDE) & ~0xfu) +
			   (npu_reg(r, RDMA_EW_SURF_NOTCH) & ~0xfu);
	d->bs_use = npu_bits(npu_reg(r, RDMA_BRDMA_CFG), 4, 1);
	d->bn_use = npu_bits(npu_reg(r, RDMA_NRDMA_CFG), 4, 1);
}

static void decode(struct npu_dpu *d, struct npu_core *core)
{
	u32 base = npu_word_get(&core->dma_base);
	const struct npu_block *b = core->blk;
	struct npu_conv *t = &d->t;

	memset(d, 0, sizeof(*d));
	t->core = core;
	t->dpu = b[BLK_DPU].reg[b[BLK_DPU].executer];
	t->rdma = b[BLK_DPU_RDMA].reg[b[BLK_DPU_RDMA].executer];
	npu_decode_dpu(t, base);
	decode_rdma(d, base);
	t->in_prec = npu_bits(d->mode, 17, 15);
	t->proc_prec = npu_bits(d->mode, 7, 5);
	t->type = npu_type_find(types, ARRAY_SIZE(types), t->in_prec);
	t->out_bytes = npu_out_bytes(t->out_prec);
	t->pixels = t->ow * t->oh;
	t->is_float = t->in_prec == PREC_FP16;
	d->raw = t->is_float && !(d->mode & RDMA_FP16TOFP32);
	d->minmax = npu_bits(npu_reg(t->dpu, DPU_CUBE_HEIGHT), 24, 22);
	d->unit_atoms = npu_bits(npu_reg(t->dpu, DPU_FEATURE_MODE), 24, 9);
	/* Absolute value, negation, floor and ceiling need no second operand. */
	d->two_inputs = !(t->ew_cfg & (EW_BYPASS | EW_OP_BYPASS)) &&
			(t->ew_cfg & EW_SRC_ERDMA) &&
			(t->ew_cfg & EW_OP_MUL || npu_bits(t->ew_cfg, 19, 16) < 5);
	if (!t->type)
		return;
	d->in_bytes = t->type->bits / 8;
	t->groups = npu_div_up(t->n, t->type->group);
	t->single_rect = t->rect_w == 1 && t->rect_h == 1 && t->pixels > 1;
}

/* @count elements of @prec as values of the arithmetic: integers, or fp32 bits */
void npu_widen(u32 *dst, const u8 *src, u32 prec, u32 count)
{
	u32 i;

	switch (prec) {
	case PREC_INT8:
		for (i = 0; i < count; i++)
			dst[i] = (u32)(s8)src[i];
		break;
	case PREC_INT16:
		for (i = 0; i < count; i++)
			dst[i] = (u32)(s16)(src[2 * i] | src[2 * i + 1] << 8);
		break;
	default:
		for (i = 0; i < count; i++)
			dst[i] = npu_f16_to_f32(src[2 * i] | src[2 * i + 1] << 8);
	}
}

struct cube {
	u32 addr, line_pitch, surf_pitch;
};

/* Pixels p0..p1 of surface @g, one atom each */
static enum npu_class read_atoms(struct npu_core *core, const struct npu_dpu *d,
				 const struct cube *c, u32 *dst, u32 g, u32 p0, u32 p1)
{
	u32 per_atom = d->t.type->group;
	/* Lines without a gap are one long line. */
	u32 width = c->line_pitch == ATOM * d->w ? d->w * d->h : d->w;
	enum npu_class cls;
	u32 n, addr;

	for (; p0 < p1; p0 += n, dst += n * per_atom) {
		n = npu_min(width - p0 % width, p1 - p0);
		addr = c->addr + g * c->surf_pitch + p0 / width * c->line_pitch +
		       ATOM * (p0 % width);
		cls = npu_read(core, addr, core->run, ATOM * n);
		if (cls)
			return cls;
		npu_widen(dst, core->run, d->t.in_prec, n * per_atom);
	}
	return NPU_OK;
}

/* Where the operands of a block lie: [0] EW, then BS and BN */
static u32 *operand_block(struct npu_core *core, u32 which)
{
	return core->operand_w + which * STAGE_BLOCK;
}

/*
 * A vector [N] from memory, its part for surface @g repeated for every pixel of
 * a block. Adders take 32-bit words, multipliers 16 bits, EW the input's type.
 */
static enum npu_class load_vector(struct npu_core *core, const struct npu_dpu *d, u32 *dst,
				  u32 addr, u32 bytes, u32 g, u32 pixels)
{
	u32 per_atom = d->t.type->group, first = g * per_atom;
	u32 count = npu_min(per_atom, d->n - npu_min(first, d->n));
	u8 vector[ATOM * 4] = { 0 };
	enum npu_class cls;
	u32 i;

	cls = npu_read(core, addr + first * bytes, vector, count * bytes);
	if (cls)
		return cls;
	if (bytes == 4)
		for (i = 0; i < per_atom; i++)
			dst[i] = vector[4 * i] | vector[4 * i + 1] << 8 |
				 vector[4 * i + 2] << 16 | (u32)vector[4 * i + 3] << 24;
	else
		npu_widen(dst, vector, bytes == 1 ? PREC_INT8 :
			  d->t.is_float ? PREC_FP16 : PREC_INT16, per_atom);
	for (i = per_atom; i < pixels * per_atom; i++)
		dst[i] = dst[i - per_atom];
	return NPU_OK;
}

static bool external(const struct npu_stage *s, bool mul, u32 mul_reg)
{
	if (!npu_stage_on(s))
		return false;
	if (mul)
		return !(s->cfg & STAGE_MUL_BYPASS) && (mul_reg & STAGE_MUL_SRC);
	return !(s->cfg & STAGE_ALU_BYPASS) && (s->cfg & STAGE_ALU_SRC);
}

/* Per-channel operands of surface @g */
static enum npu_class load_vectors(struct npu_core *core, const struct npu_dpu *d,
				   const struct npu_stages *s, struct npu_operands *o, u32 g,
				   u32 pixels)
{
	u32 base = npu_word_get(&core->dma_base);
	const struct {
		struct npu_operand *o;
		bool on;
		u32 addr, bytes;
	} vectors[] = {
		{ &o->ew, d->two_inputs && d->per_channel, d->ew, d->in_bytes },
		{ &o->bs_alu, external(&s->bs, false, 0),
		  npu_reg(d->t.rdma, RDMA_BRDMA_BASE) + base, 4 },
		{ &o->bs_mul, external(&s->bs, true, npu_reg(d->t.dpu, DPU_BS_MUL)),
		  npu_reg(d->t.rdma, RDMA_BRDMA_BASE) + base, 2 },
		{ &o->bn_alu, external(&s->bn, false, 0),
		  npu_reg(d->t.rdma, RDMA_NRDMA_BASE) + base, 4 },
		{ &o->bn_mul, external(&s->bn, true, npu_reg(d->t.dpu, DPU_BN_MUL)),
		  npu_reg(d->t.rdma, RDMA_NRDMA_BASE) + base, 2 },
	};
	enum npu_class cls;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(vectors); i++) {
		if (!vectors[i].on)
			continue;
		vectors[i].o->v = operand_block(core, i);
		vectors[i].o->step = 1;
		cls = load_vector(core, d, operand_block(core, i), vectors[i].addr,
				  vectors[i].bytes, g, pixels);
		if (cls)
			return cls;
	}
	return NPU_OK;
}

/* Values of the arithmetic into output elements, in place */
static void store_elements(struct npu_core *core, const struct npu_dpu *d, u32 g, u32 count)
{
	const struct npu_conv *t = &d->t;
	u32 per_atom = t->type->group, i;
	u8 *out = (u8 *)core->stage;

	for (i = 0; i < count; i++) {
		u32 v = core->stage[i];

		if (t->out_prec == PREC_FP16)
			v = npu_f32_to_f16(v);
		if (g * per_atom + i % per_atom >= t->n_orig)
			v = t->out_prec == PREC_FP32 ? npu_f16_to_f32((u32)t->pend & 0xffff) :
			    (u32)t->pend;
		npu_put(out + i * t->out_bytes, v, t->out_bytes);
	}
}

/* Pixels p0..p1 of surface @g through the stages, as output elements */
static enum npu_class run_block(struct npu_core *core, const struct npu_dpu *d,
				const struct npu_stages *s, struct npu_operands *o, u32 g, u32 p0,
				u32 p1)
{
	const struct cube src = { d->src, d->line_pitch, d->surf_pitch };
	const struct cube ew = { d->ew, d->ew_line_pitch, d->ew_surf_pitch };
	u32 count = (p1 - p0) * d->t.type->group, i;
	enum npu_class cls;

	cls = read_atoms(core, d, &src, core->stage, g, p0, p1);
	if (cls)
		return cls;
	if (d->two_inputs && !d->per_channel) {
		cls = read_atoms(core, d, &ew, operand_block(core, 0), g, p0, p1);
		if (cls)
			return cls;
		o->ew.v = operand_block(core, 0);
		o->ew.step = 1;
	}
	if (d->t.effect == EFFECT_GARBAGE)
		for (i = 0; i < count; i++)
			core->stage[i] = npu_garbage(&d->t, p0 + i, g);
	else if (d->t.is_float)
		npu_stage_float(core, s, o, core->stage, count);
	else
		npu_stage_int(core, s, o, (s32 *)core->stage, count, d->t.out_bytes);
	store_elements(core, d, g, count);
	if (d->t.effect == EFFECT_ZERO)
		memset(core->stage, 0, count * d->t.out_bytes);
	return NPU_OK;
}

static enum npu_class run_cube(struct npu_core *core, const struct npu_dpu *d,
			       const struct npu_stages *s)
{
	enum npu_class cls;
	u32 g, p0, p1;

	for (g = 0; g < d->t.groups; g++) {
		struct npu_operands o = { 0 };

		cls = load_vectors(core, d, s, &o, g, npu_min(BLOCK_PIXELS, d->t.pixels));
		if (cls)
			return cls;
		for (p0 = 0; p0 < d->t.pixels; p0 = p1) {
			p1 = npu_min(p0 + BLOCK_PIXELS, d->t.pixels);
			cls = run_block(core, d, s, &o, g, p0, p1);
			if (!cls)
				cls = npu_out_write(core, &d->t, p0, p1, g, g + 1);
			if (cls)
				return cls;
			if (npu_relax(core))
				return NPU_STOPPED;
		}
	}
	return NPU_OK;
}

/* One more value of a pixel into the largest or smallest one so far */
static u32 reduce(const struct npu_dpu *d, u32 a, u32 b)
{
	if (d->t.is_float)
		return d->minmax & MINMAX_MAX ? npu_f32_max(a, b) : npu_f32_min(a, b);
	return ((s32)a > (s32)b) == !!(d->minmax & MINMAX_MAX) ? a : b;
}

/* The value of a channel behind the real ones */
static u32 pad_value(const struct npu_dpu *d)
{
	return d->t.is_float ? npu_f16_to_f32((u32)d->t.pend & 0xffff) : (u32)d->t.pend;
}

/* Channels of surface @g of the staged pixels into one value each */
static void reduce_block(struct npu_core *core, const struct npu_dpu *d, u32 *acc, u32 g,
			 u32 pixels)
{
	u32 per_atom = d->t.type->group, p, c;

	for (p = 0; p < pixels; p++)
		for (c = 0; c < per_atom; c++) {
			u32 v = g * per_atom + c < d->t.n_orig ? core->stage[p * per_atom + c] :
				pad_value(d);

			acc[p] = !g && !c ? v : reduce(d, acc[p], v);
		}
}

/* Side by side; what is left of the last atom gets the value of missing channels. */
static enum npu_class write_packed(struct npu_core *core, const struct npu_dpu *d, const u32 *acc,
				   u32 p0, u32 p1)
{
	const struct npu_conv *t = &d->t;
	u32 end = p1 == t->pixels ? npu_div_up(p1 * t->out_bytes, ATOM) * ATOM / t->out_bytes : p1;
	u32 p, v;

	for (p = p0; p < end; p++) {
		v = p < p1 ? acc[p - p0] : pad_value(d);
		if (t->out_prec == PREC_FP16)
			v = npu_f32_to_f16(v);
		npu_put(core->run + (p - p0) * t->out_bytes, v, t->out_bytes);
	}
	return npu_write(core, t->c + p0 * t->out_bytes, core->run, (end - p0) * t->out_bytes);
}

static enum npu_class run_minmax(struct npu_core *core, const struct npu_dpu *d,
				 const struct npu_stages *s)
{
	const struct cube src = { d->src, d->line_pitch, d->surf_pitch };
	u32 *acc = operand_block(core, 4);
	enum npu_class cls;
	u32 g, p0, p1;

	for (p0 = 0; p0 < d->t.pixels; p0 = p1) {
		p1 = npu_min(p0 + BLOCK_PIXELS, d->t.pixels);
		for (g = 0; g < d->t.groups; g++) {
			struct npu_operands o = { 0 };
			u32 count = (p1 - p0) * d->t.type->group;

			cls = read_atoms(core, d, &src, core->stage, g, p0, p1);
			if (cls)
				return cls;
			if (d->t.is_float)
				npu_stage_float(core, s, &o, core->stage, count);
			else
				npu_stage_int(core, s, &o, (s32 *)core->stage, count,
					      d->t.out_bytes);
			reduce_block(core, d, acc, g, p1 - p0);
			if (npu_relax(core))
				return NPU_STOPPED;
		}
		cls = write_packed(core, d, acc, p0, p1);
		if (cls)
			return cls;
	}
	return NPU_OK;
}

/* Cubes that are read, and what is written */
static void charge(struct npu_core *core, const struct npu_dpu *d)
{
	u64 cube = (u64)d->t.pixels * d->t.groups * ATOM;
	struct npu_work work = {
		.kind = NPU_KIND_MOVE,
		.rows = d->t.pixels,
		.cols = d->t.n,
		.bytes = cube * (d->two_inputs && !d->per_channel ? 2 : 1),
	};

	work.bytes += d->minmax & MINMAX_ENABLE ? d->t.pixels * d->t.out_bytes :
		      (u64)d->t.pixels * d->t.n * d->t.out_bytes;
	npu_charge(core, &work, d->t.out_bytes);
}

enum npu_class npu_dpu_run(struct npu_core *core)
{
	struct npu_stages s;
	struct npu_dpu d;
	enum npu_class cls;

	decode(&d, core);
	npu_stage_read(&s, d.t.dpu, d.t.is_float);
	cls = npu_dpu_check(core, &d, &s);
	if (npu_stops(cls))
		return cls;
	if (s.lut)
		npu_lut_begin(core, d.t.dpu);
	charge(core, &d);
	return d.minmax & MINMAX_ENABLE ? run_minmax(core, &d, &s) : run_cube(core, &d, &s);
}
