// SPDX-License-Identifier: GPL-2.0-only
/* A matmul task: decode of the registers, the loop over kernel groups and pixels. */
#include "npu_core.h"
#include "npu_fp.h"

/* Input types of hw 02 §3.6 that a matmul runs with, groups of hw 02 §3.5 */
static const struct npu_type types[] = {
	{ PREC_INT8, 8, 32 },
	{ PREC_FP16, 16, 16 },
	{ PREC_INT4, 4, 64 },
};

u32 npu_out_bytes(u32 code)
{
	switch (code) {
	case PREC_INT8:
		return 1;
	case PREC_INT16:
	case PREC_FP16:
		return 2;
	case PREC_INT32:
	case PREC_FP32:
		return 4;
	default:
		return 0;
	}
}

static s32 sign_extend(u32 v, u32 bits)
{
	return (s32)(v << (32 - bits)) >> (32 - bits);
}

static void decode_cna(struct npu_conv *t, u32 dma_base)
{
	const u32 *r = t->cna;
	u32 v;

	v = npu_reg(r, CNA_CONV_CON1);
	t->in_prec = npu_bits(v, 6, 4);
	t->proc_prec = npu_bits(v, 9, 7);
	t->group_lines = !(v & CON1_GROUP_LINE_OFF);
	if (v & CON1_NONALIGN && npu_bits(v, 15, 12) >= ARGB_ONE)
		t->image_channels = npu_bits(v, 15, 12) - ARGB_ONE + 1;
	v = npu_reg(r, CNA_DATA_SIZE0);
	t->w = npu_bits(v, 26, 16);
	t->h = npu_bits(v, 10, 0);
	v = npu_reg(r, CNA_DATA_SIZE1);
	t->k = npu_bits(v, 15, 0);
	t->k_real = npu_bits(v, 29, 16) + 1;
	t->kernels = npu_bits(npu_reg(r, CNA_WEIGHT_SIZE2), 13, 0);
	v = npu_reg(r, CNA_CBUF_CON0);
	t->weight_reuse = v & CBUF_WEIGHT_REUSE;
	t->data_reuse = v & CBUF_DATA_REUSE;
	t->fc_banks = npu_bits(v, 10, 8);
	t->weight_banks = npu_bits(v, 7, 4);
	t->data_banks = npu_bits(v, 3, 0);
	t->entries = npu_bits(npu_reg(r, CNA_CBUF_CON1), 13, 0);
	v = npu_reg(r, CNA_PAD_CON0);
	t->pad_left = npu_bits(v, 7, 4);
	t->pad_top = npu_bits(v, 3, 0);
	t->pad_value = npu_reg(r, CNA_PAD_CON1);
	t->a = npu_reg(r, CNA_FEATURE_ADDR) + dma_base;
	t->b = npu_reg(r, CNA_DCOMP_ADDR0) + dma_base;
	t->line_stride = npu_bits(npu_reg(r, CNA_DMA_CON1), 27, 0);
	t->surf_stride = sign_extend(npu_reg(r, CNA_DMA_CON2), 28);
}

static void decode_core(struct npu_conv *t)
{
	u32 v = npu_reg(t->cor, CORE_MISC_CFG);

	t->core_prec = npu_bits(v, 10, 8);
	t->qd_en = v & MISC_QD_EN;
	v = npu_reg(t->cor, CORE_DATAOUT_SIZE0);
	t->core_h = npu_bits(v, 31, 16) + 1;
	t->core_w = npu_bits(v, 15, 0) + 1;
	t->core_n = npu_bits(npu_reg(t->cor, CORE_DATAOUT_SIZE1), 15, 0) + 1;
	t->truncate = npu_bits(npu_reg(t->cor, CORE_CLIP_TRUNCATE), 4, 0);
}

void npu_decode_dpu(struct npu_conv *t, u32 dma_base)
{
	const u32 *r = t->dpu;
	u32 v;

	v = npu_reg(r, DPU_DATA_FORMAT);
	t->out_prec = npu_bits(v, 31, 29);
	t->dpu_in_prec = npu_bits(v, 28, 26);
	t->bn_neg_shift = npu_bits(v, 15, 10);
	t->bs_neg_shift = npu_bits(v, 9, 4);
	t->dpu_proc_prec = npu_bits(v, 2, 0);
	t->pend = sign_extend(npu_reg(r, DPU_OFFSET_PEND), 16);
	t->c = npu_reg(r, DPU_DST_BASE) + dma_base;
	t->dst_surf = npu_reg(r, DPU_DST_SURF_STRIDE) & ~0xfu;
	t->surf_add = npu_reg(r, DPU_SURFACE_ADD) & ~0xfu;
	t->ow = npu_bits(npu_reg(r, DPU_CUBE_WIDTH), 12, 0) + 1;
	t->oh = npu_bits(npu_reg(r, DPU_CUBE_HEIGHT), 12, 0) + 1;
	v = npu_reg(r, DPU_CUBE_NOTCH);
	t->notch1 = npu_bits(v, 28, 16);
	t->notch0 = npu_bits(v, 12, 0);
	v = npu_reg(r, DPU_CUBE_CHANNEL);
	t->n_orig = npu_bits(v, 28, 16) + 1;
	t->n = npu_bits(v, 12, 0) + 1;
	v = npu_reg(r, DPU_BS_OW_CFG);
	t->size_e[0] = npu_bits(v, 4, 2);
	t->size_e[1] = npu_bits(v, 7, 5);
	t->size_e[2] = npu_bits(v, 10, 8);
	t->od_bypass = v & OW_OD_BYPASS;
	t->ow_src = v & OW_SRC_OUTSIDE;
	t->ow_op = sign_extend(npu_reg(r, DPU_BS_OW_OP), 16);
	t->wdma_n = npu_bits(npu_reg(r, DPU_WDMA_SIZE0), 12, 0) + 1;
	v = npu_reg(r, DPU_WDMA_SIZE1);
	t->rect_h = npu_bits(v, 28, 16) + 1;
	t->rect_w = npu_bits(v, 12, 0) + 1;
	t->bs_cfg = npu_reg(r, DPU_BS_CFG);
	t->bn_cfg = npu_reg(r, DPU_BN_CFG);
	t->ew_cfg = npu_reg(r, DPU_EW_CFG);
	t->to_fp16 = npu_reg(r, DPU_OUT_SCALE) & OUT_FP32TOFP16;
}

/*
 * Rows of A that fit the data banks (hw 02 §5.2). An int4 batch stores its
 * lines in 64-byte units and only line 4(H-1) must fit (hw 02 §6.3).
 */
static u32 rows_that_fit(const struct npu_conv *t)
{
	u32 bytes = t->data_banks * BANK;
	u32 lines;

	if (!t->sparse_lines)
		return bytes / npu_max(t->pixel_bytes, 1);
	lines = bytes / npu_max((t->pixel_bytes + 63) & ~63u, 64);
	return lines ? (lines - 1) / t->row_step + 1 : 0;
}

static void work_out(struct npu_conv *t)
{
	u32 bits;

	t->type = npu_type_find(types, ARRAY_SIZE(types), t->in_prec);
	t->out_bytes = npu_out_bytes(t->out_prec);
	t->pixels = t->ow * t->oh;
	if (!t->type)
		return;
	bits = t->k * t->type->bits;
	t->pixel_bytes = npu_div_up(bits, 8 * ATOM) * ATOM;
	t->step_atoms = (t->group_lines ? 4 * t->w : t->w) + (u32)t->surf_stride;
	t->groups = npu_div_up(t->n, t->type->group);
	t->single_rect = t->rect_w == 1 && t->rect_h == 1 && t->pixels > 1;
	t->is_float = t->in_prec == PREC_FP16;

	/*
	 * In an int4 batch lines overlap by all but one atom; three of four mix
	 * a row with the zero line behind it and hw 02 §6.2 leaves open whether
	 * they are written at all. They count as undefined.
	 */
	t->sparse_lines = t->in_prec == PREC_INT4 && t->group_lines && t->w == 1 &&
			  t->step_atoms == 1 && t->single_rect;
	t->row_step = t->sparse_lines ? 4 : 1;
	t->rows = npu_min(npu_div_up(t->pixels, t->row_step), rows_that_fit(t));
}

void npu_conv_decode(struct npu_conv *t, struct npu_core *core, u32 start)
{
	u32 base = npu_word_get(&core->dma_base);
	const struct npu_block *b = core->blk;

	memset(t, 0, sizeof(*t));
	t->core = core;
	t->cna = b[BLK_CNA].reg[b[BLK_CNA].executer];
	t->cor = b[BLK_CORE].reg[b[BLK_CORE].executer];
	t->dpu = b[BLK_DPU].reg[b[BLK_DPU].executer];
	if (start & START_DPU_RDMA)
		t->rdma = b[BLK_DPU_RDMA].reg[b[BLK_DPU_RDMA].executer];
	decode_cna(t, base);
	decode_core(t);
	npu_decode_dpu(t, base);
	work_out(t);
}

/* Deterministic, never the right answer but by chance; finite as fp32. */
u32 npu_garbage(const struct npu_conv *t, u32 pixel, u32 channel)
{
	u32 v = pixel * 0x9e3779b1u ^ channel * 0x85ebca77u ^ 0x5bd1e995u;

	v ^= v >> 15;
	v *= 0x2c1b3c6du;
	v ^= v >> 13;
	return t->is_float ? 0x3f800000 | (v & 0x807fffff) : (u32)(sign_extend(v, 16) | 1);
}

static void fill_garbage(struct npu_core *core, const struct npu_conv *t, u32 p, u32 end, u32 p0,
			 u32 group, u32 column, u32 pitch)
{
	u32 g = t->type->group, n;

	for (; p < end; p++)
		for (n = 0; n < g; n++)
			core->stage[(size_t)(p - p0) * pitch + column + n] =
				npu_garbage(t, p, group * g + n);
}

/* Products of the stored rows first..last with the loaded kernel group. */
static enum npu_class mac_rows(struct npu_core *core, const struct npu_conv *t, u32 *acc,
			       u32 acc_pitch, u32 first, u32 last)
{
	const struct npu_env *env = core->env;
	u32 g = t->type->group;
	u32 chunk = npu_max(SECTION_MACS / (g * t->k), 1);
	u64 saved;

	if (core->no_macs) {
		for (; first < last; first++, acc += acc_pitch)
			memset(acc, 0, g * sizeof(*acc));
		return NPU_OK;
	}
	while (first < last) {
		u32 rows = npu_min(chunk, last - first);
		size_t at = (size_t)first * t->k;

		if (env->fp_begin)
			env->fp_begin(env->ctx);
		saved = npu_fp_enter();
		if (t->is_float)
			npu_mac_f32(acc, acc_pitch, core->operand_a + at * 4, core->operand_w,
				    rows, t->k);
		else
			npu_mac_s8((s32 *)acc, acc_pitch, (s8 *)core->operand_a + at,
				   (s32 *)core->operand_w, rows, g, t->k);
		npu_fp_leave(saved);
		if (env->fp_end)
			env->fp_end(env->ctx);
		core->report->macs += (u64)rows * g * t->k;
		acc += (size_t)rows * acc_pitch;
		first += rows;
		if (npu_relax(core))
			return NPU_STOPPED;
	}
	return NPU_OK;
}

/* Pixels p0..p1 of one kernel group into their columns of the stage. */
static enum npu_class compute(struct npu_core *core, const struct npu_conv *t, u32 p0, u32 p1,
			      u32 group, u32 column, u32 pitch)
{
	u32 step = t->row_step;
	u32 first = npu_div_up(p0, step);
	u32 last = npu_min(npu_div_up(p1, step), t->rows);

	if (t->effect != EFFECT_NATURAL || t->poisoned) {
		fill_garbage(core, t, p0, p1, p0, group, column, pitch);
		return NPU_OK;
	}
	if (step > 1)
		fill_garbage(core, t, p0, p1, p0, group, column, pitch);
	else if (p1 > t->rows)
		fill_garbage(core, t, npu_max(p0, t->rows), p1, p0, group, column, pitch);
	if (first >= last)
		return NPU_OK;
	return mac_rows(core, t, core->stage + (size_t)(first * step - p0) * pitch + column,
			pitch * step, first, last);
}

/*
 * Results are staged as [pixel][channel] for as many kernel groups as fit, so
 * that long runs are written. With more pixels than that, one group at a time
 * goes through them in blocks.
 */
static enum npu_class run_groups(struct npu_core *core, const struct npu_conv *t, u32 g0, u32 g1,
				 u32 block)
{
	u32 pitch = (g1 - g0) * t->type->group;
	enum npu_class cls;
	u32 p0, p1, g;

	for (p0 = 0; p0 < t->pixels; p0 = p1) {
		p1 = npu_min(p0 + block, t->pixels);
		for (g = g0; g < g1; g++) {
			if (!p0 && t->effect == EFFECT_NATURAL) {
				cls = npu_load_weight(core, t, g);
				if (cls)
					return cls;
			}
			cls = compute(core, t, p0, p1, g, (g - g0) * t->type->group, pitch);
			if (cls)
				return cls;
		}
		npu_out_convert(core, t, p0, p1, g0, g1);
		cls = npu_out_write(core, t, p0, p1, g0, g1);
		if (cls)
			return cls;
		if (npu_relax(core))
			return NPU_STOPPED;
	}
	return NPU_OK;
}

/* hw 03 §6.2 counts the rows of A, not the lines around them. */
static void charge(struct npu_core *core, const struct npu_conv *t)
{
	struct npu_work work = {
		.kind = t->is_float ? NPU_KIND_F16 : NPU_KIND_I8,
		.rows = npu_div_up(t->pixels, t->row_step),
		.cols = t->n,
		.k = t->k,
		.bytes = npu_weight_bytes(t),
	};

	if (t->in_prec == PREC_INT4)
		work.kind = t->pixels > 1 ? NPU_KIND_I4 : NPU_KIND_I4_ROW;
	npu_charge(core, &work, t->out_bytes);
}

#define CROSSED_K	2560u	/* hw 03 §2.4: the hazard was seen with large K only */

/* Which results are wrong after a crossing without a reset; how, nobody wrote down. */
static bool poisoned(struct npu_core *core, const struct npu_conv *t)
{
	u32 bits = t->type->bits;

	if (bits > 8)
		return false;
	core->crossed |= core->int_bits && core->int_bits != bits;
	core->int_bits = bits;
	return core->quirks & NPU_QUIRK_TRANSITION && core->crossed && t->k >= CROSSED_K;
}

/* What a core does that has not run such a matmul yet (hw 03 §1.1) */
static enum npu_class first_run(struct npu_core *core, const struct npu_conv *t)
{
	u32 bits = t->type->bits;

	core->touched |= bits == 8;
	if (core->quirks & NPU_QUIRK_UNTOUCHED && !core->touched)
		return npu_hang(core, "a core that ran nothing wants int8 first (hw 03 S5)");
	core->now_bits |= bits;
	core->cold |= core->quirks & NPU_QUIRK_COLD && !(core->warm_bits & bits);
	return NPU_OK;
}

enum npu_class npu_conv_run(struct npu_core *core, u32 start)
{
	struct npu_conv t;
	enum npu_class cls;
	u32 g, block, many;

	npu_conv_decode(&t, core, start);
	cls = npu_laws_check(core, &t);
	if (npu_stops(cls))
		return cls;
	cls = first_run(core, &t);
	if (cls)
		return cls;
	if (!(t.ew_cfg & (EW_BYPASS | EW_LUT_BYPASS)))
		npu_lut_begin(core, t.dpu);
	core->conv_task = core->task;
	core->conv_out = t.out_prec;
	core->int8_now |= t.in_prec == PREC_INT8;
	t.poisoned = poisoned(core, &t);
	cls = npu_die_check(core, &t);
	if (cls)
		return cls;
	if (t.effect == EFFECT_NATURAL) {
		cls = npu_load_feature(core, &t);
		if (cls)
			return cls;
	}
	cls = npu_load_bias(core, &t);
	if (cls)
		return cls;

	charge(core, &t);
	block = npu_min(t.pixels, STAGE_VALUES / t.type->group);
	many = npu_max(STAGE_VALUES / (block * t.type->group), 1);
	if (block < t.pixels)
		many = 1;
	for (g = 0; g < t.groups; g += many) {
		cls = run_groups(core, &t, g, npu_min(g + many, t.groups), block);
		if (cls)
			return cls;
	}
	return NPU_OK;
}
