// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the silicon is known to get wrong (hw 02 §5, hw 03 §1): one function a
 * law, one row saying what software sees and what happens to the values.
 *
 * Strict cores refuse a task that breaks a law; the others run it to the
 * documented bad end.
 */
#include "npu_core.h"

/**
 * struct npu_law - one law
 * @text: what is broken, and the place in the sheets
 * @cls: class of hw 03 §0; %NPU_HANG_0 stands for either hang
 * @effect: what becomes of the values
 * @broken: the test
 * @quirk: bit of enum npu_quirk that must be on, 0 for a law
 * @strict_only: the effect is not documented, so only strict cores mind
 */
struct npu_law {
	const char *text;
	enum npu_class cls;
	enum npu_effect effect;
	bool (*broken)(const struct npu_conv *t);
	u32 quirk;
	bool strict_only;
};

static u32 size_e(const struct npu_conv *t)
{
	return npu_max(npu_max(t->size_e[0], t->size_e[1]), t->size_e[2]) + 1;
}

static u32 size_e_least(const struct npu_conv *t)
{
	return npu_min(npu_min(t->size_e[0], t->size_e[1]), t->size_e[2]) + 1;
}

/* Atoms an accumulator atom fills (hw 02 §3.5) */
static u32 size_e_due(const struct npu_conv *t)
{
	return t->type->group * t->out_bytes / ATOM;
}

static bool pair(const struct npu_conv *t, u32 in, u32 out)
{
	return t->in_prec == in && t->out_prec == out;
}

static u32 kernel_bytes(const struct npu_conv *t)
{
	return t->k * t->type->bits / 8;
}

/* --- what no document describes as a matmul ---------------------------------------------- */

static bool mixed_types(const struct npu_conv *t)
{
	return t->in_prec != t->proc_prec || t->in_prec != t->core_prec ||
	       t->in_prec != t->dpu_proc_prec || t->in_prec != t->dpu_in_prec;
}

/* Mesa leaves 4010 at zero, which is int8 throughout. */
static bool no_such_pair(const struct npu_conv *t)
{
	return !t->type ||
	       !(pair(t, PREC_INT8, PREC_INT32) || pair(t, PREC_INT8, PREC_INT8) ||
		 pair(t, PREC_INT8, PREC_INT16) || pair(t, PREC_FP16, PREC_FP32) ||
		 pair(t, PREC_FP16, PREC_FP16) || pair(t, PREC_INT4, PREC_INT16));
}

/* Captured are one-channel fp16 images, a line at a time, as 8 channels (hw 04 §3.4). */
static bool bad_image(const struct npu_conv *t)
{
	if (!(npu_reg(t->cna, CNA_CONV_CON1) & (CON1_NONALIGN | CON1_ARGB)))
		return false;
	return t->image_channels != 1 || t->in_prec != PREC_FP16 || t->group_lines || t->k != 8 ||
	       t->k_real != 1 || t->pad_top || t->pad_left;
}

static bool not_pointwise(const struct npu_conv *t)
{
	u32 con1 = npu_reg(t->cna, CNA_CONV_CON1);
	u32 kernel = npu_reg(t->cna, CNA_WEIGHT_SIZE2);

	return con1 & (CON1_DECONV | 0xf) || bad_image(t) ||
	       npu_reg(t->cor, CORE_MISC_CFG) & MISC_DW_EN ||
	       npu_bits(npu_reg(t->cna, CNA_CONV_CON3), 5, 0) != 0x9 ||
	       npu_bits(kernel, 28, 24) != 1 || npu_bits(kernel, 20, 16) != 1 ||
	       npu_reg(t->cna, CNA_DCOMP_CTRL);
}

static bool not_to_memory(const struct npu_conv *t)
{
	u32 mode = npu_reg(t->dpu, DPU_FEATURE_MODE);

	return mode & FEATURE_FLYING || npu_bits(mode, 2, 1) != 2 || npu_bits(mode, 4, 3);
}

static bool fused_operator(const struct npu_conv *t)
{
	return !(t->ew_cfg & (EW_BYPASS | EW_OP_BYPASS)) || t->ow_src;
}

static bool empty(const struct npu_conv *t)
{
	return !t->k || !t->w || !t->h || !t->kernels;
}

/* CNA, CORE and DPU count the same lines and columns, or one waits for ever. */
static bool sizes_differ(const struct npu_conv *t)
{
	u32 out_w = npu_bits(npu_reg(t->cna, CNA_DATA_SIZE2), 10, 0);
	u32 atomics = npu_bits(npu_reg(t->cna, CNA_DATA_SIZE3), 21, 0);

	return t->core_w != t->ow || t->core_h != t->oh || out_w != t->ow ||
	       atomics != t->pixels || t->w != t->ow || t->h != t->oh;
}

static bool stray_rdma(const struct npu_conv *t)
{
	if (!t->rdma)
		return false;
	return !(npu_reg(t->rdma, RDMA_FEATURE_MODE) & RDMA_MRDMA_DISABLE) ||
	       !(npu_reg(t->rdma, RDMA_ERDMA_CFG) & ERDMA_DISABLE) ||
	       npu_bits(npu_reg(t->rdma, RDMA_CUBE_WIDTH), 12, 0) + 1 != t->ow ||
	       npu_bits(npu_reg(t->rdma, RDMA_CUBE_HEIGHT), 12, 0) + 1 != t->oh;
}

static bool operand_never_comes(const struct npu_conv *t)
{
	bool alu = !(t->bs_cfg & (STAGE_BYPASS | STAGE_ALU_BYPASS)) && (t->bs_cfg & STAGE_ALU_SRC);
	bool mul = !(t->bs_cfg & (STAGE_BYPASS | STAGE_MUL_BYPASS)) &&
		   (npu_reg(t->dpu, DPU_BS_MUL) & STAGE_MUL_SRC);
	bool bn = !(t->bn_cfg & STAGE_BYPASS) &&
		  ((t->bn_cfg & STAGE_ALU_SRC) || (npu_reg(t->dpu, DPU_BN_MUL) & STAGE_MUL_SRC));

	if (mul || bn)
		return true;
	return alu && (!t->rdma ||
		       npu_bits(npu_reg(t->rdma, RDMA_BRDMA_CFG), 4, 1) != BRDMA_USE_ALU);
}

static bool lut_on(const struct npu_conv *t)
{
	return !(t->ew_cfg & (EW_BYPASS | EW_LUT_BYPASS));
}

static bool lut_pair(const struct npu_conv *t)
{
	return lut_on(t) && !pair(t, PREC_INT8, PREC_INT8) && !pair(t, PREC_FP16, PREC_FP32);
}

/* A ReLU is all that is known to work in front of fp16 output (hw 04 §4). */
static bool fp16_stages(const struct npu_conv *t)
{
	return t->is_float &&
	       (t->truncate || npu_bits(npu_reg(t->dpu, DPU_OUT_SHIFT), 11, 0) ||
		(t->out_prec == PREC_FP16 &&
		 (!(t->bn_cfg & STAGE_BYPASS) || npu_reg(t->dpu, DPU_OUT_OFFSET) ||
		  npu_bits(npu_reg(t->dpu, DPU_OUT_SHIFT), 19, 12) ||
		  npu_bits(npu_reg(t->dpu, DPU_OUT_SCALE), 15, 0) != 1)));
}

/* --- hw 02 §5.2, §5.3: shapes and banks -------------------------------------------------- */

static bool k_cap(const struct npu_conv *t)
{
	return t->k > K_MAX;
}

static bool n_cap(const struct npu_conv *t)
{
	return t->core_n > N_MAX || t->kernels > N_MAX;
}

static bool no_weight_bank(const struct npu_conv *t)
{
	return !t->weight_banks;
}

static bool data_banks_one_row(const struct npu_conv *t)
{
	return (!t->data_banks || t->data_banks >= BANKS) && t->pixels == 1;
}

static bool data_banks_rows(const struct npu_conv *t)
{
	return (!t->data_banks || t->data_banks >= BANKS) && t->pixels > 1;
}

static bool fc_bank(const struct npu_conv *t)
{
	return t->fc_banks;
}

static u32 group_bytes(const struct npu_conv *t)
{
	return npu_min(t->kernels, t->type->group) * kernel_bytes(t);
}

static bool group_over_banks(const struct npu_conv *t)
{
	return group_bytes(t) > t->weight_banks * BANK;
}

static bool narrow_one_bank(const struct npu_conv *t)
{
	return t->is_float && t->kernels <= 32 && t->weight_banks == 1 && group_bytes(t) == BANK;
}

static bool rows_over_banks(const struct npu_conv *t)
{
	return t->rows < npu_div_up(t->pixels, t->row_step);
}

static bool alignment(const struct npu_conv *t)
{
	/* Mesa rounds channels to one atom and keeps the short last tile. */
	if (t->rdma && t->in_prec == PREC_INT8)
		return t->k % 16;
	/* One short tile, as captured with 8 channels (hw 04 §3.4) */
	if (t->is_float && t->k < K_TILE)
		return t->k % 8;
	return t->k % K_TILE;
}

static bool n_alignment(const struct npu_conv *t)
{
	return t->n % t->type->group;
}

static bool n_differs(const struct npu_conv *t)
{
	u32 padded = (t->kernels + t->type->group - 1) / t->type->group * t->type->group;

	return t->core_n != t->n || t->wdma_n != t->n || padded != t->n ||
	       npu_bits(npu_reg(t->cna, CNA_FC_DATA_SIZE1), 15, 0) != t->k;
}

static bool weight_size(const struct npu_conv *t)
{
	return npu_reg(t->cna, CNA_WEIGHT_SIZE0) != t->kernels * kernel_bytes(t) ||
	       npu_bits(npu_reg(t->cna, CNA_WEIGHT_SIZE1), 18, 0) != kernel_bytes(t);
}

static bool dma_size(const struct npu_conv *t)
{
	u32 v = npu_reg(t->cna, CNA_FC_DATA_SIZE0);

	return npu_bits(v, 29, 16) != t->w || npu_bits(v, 10, 0) != t->h;
}

static bool line_entries(const struct npu_conv *t)
{
	u64 bits = (u64)t->w * t->k * t->type->bits;

	return t->entries < (bits + 511) / 512;
}

struct width_row {
	u16 block;
	u16 offset;
	u32 mask;
};

/* Fields of hw 02 §3.1 and §3.3; a value past its field reads as a smaller one. */
static const struct width_row widths[] = {
	{ 1, CNA_DATA_SIZE0, 0x07ff07ff },	{ 1, CNA_DATA_SIZE1, 0x3fffffff },
	{ 1, CNA_DATA_SIZE2, 0x000007ff },	{ 1, CNA_DATA_SIZE3, 0x003fffff },
	{ 1, CNA_WEIGHT_SIZE1, 0x0007ffff },	{ 1, CNA_WEIGHT_SIZE2, 0x1f1f3fff },
	{ 1, CNA_CBUF_CON0, 0x000037ff },	{ 1, CNA_CBUF_CON1, 0x00003fff },
	{ 1, CNA_CONV_CON2, 0x00ff3ff0 },	{ 1, CNA_DMA_CON1, 0x0fffffff },
	{ 1, CNA_FC_DATA_SIZE0, 0x3fff07ff },	{ 1, CNA_FC_DATA_SIZE1, 0x0000ffff },
	{ 3, CORE_DATAOUT_SIZE1, 0x0000ffff },	{ 4, DPU_CUBE_WIDTH, 0x00001fff },
	{ 4, DPU_CUBE_HEIGHT, 0x01c01fff },	{ 4, DPU_CUBE_NOTCH, 0x1fff1fff },
	{ 4, DPU_CUBE_CHANNEL, 0x1fff1fff },	{ 4, DPU_WDMA_SIZE0, 0x0fff1fff },
	{ 4, DPU_WDMA_SIZE1, 0x1fff1fff },
};

static bool field_width(const struct npu_conv *t)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(widths); i++) {
		const struct width_row *w = &widths[i];
		const u32 *r = w->block == 1 ? t->cna : w->block == 3 ? t->cor : t->dpu;

		if (npu_reg(r, w->offset) & ~w->mask)
			return true;
	}
	return false;
}

/* --- hw 02 §5.5, hw 03 §1.3: the output stage -------------------------------------------- */

static bool row0_trap(const struct npu_conv *t)
{
	return t->rect_w > 1 && t->ow == 1;
}

static bool rect_outside(const struct npu_conv *t)
{
	return t->rect_w > t->ow || t->rect_h > t->oh;
}

static bool rect_inside(const struct npu_conv *t)
{
	return !t->single_rect && (t->rect_w < t->ow || t->rect_h < t->oh);
}

static bool fp16_without_enable(const struct npu_conv *t)
{
	return pair(t, PREC_FP16, PREC_FP16) && !t->to_fp16;
}

static bool fp16_bs_active(const struct npu_conv *t)
{
	u32 off = STAGE_ALU_BYPASS | STAGE_MUL_BYPASS;

	return pair(t, PREC_FP16, PREC_FP16) && !(t->bs_cfg & STAGE_BYPASS) &&
	       (t->bs_cfg & off) != off;
}

static bool fp16_atom8(const struct npu_conv *t)
{
	return pair(t, PREC_FP16, PREC_FP16) && (size_e(t) != 2 || size_e_least(t) != 2);
}

static bool int16_from_int8(const struct npu_conv *t)
{
	return pair(t, PREC_INT8, PREC_INT16) && (size_e(t) != 4 || size_e_least(t) != 4);
}

static bool size_e_over(const struct npu_conv *t)
{
	return size_e(t) > size_e_due(t);
}

static bool size_e_under(const struct npu_conv *t)
{
	return size_e_least(t) < size_e_due(t);
}

static bool surface_add(const struct npu_conv *t)
{
	return t->groups > 1 && t->surf_add != t->dst_surf * size_e(t);
}

static bool negative_shift(const struct npu_conv *t)
{
	u32 bs = npu_bits(npu_reg(t->dpu, DPU_BS_MUL), 13, 8);
	u32 bn = npu_bits(npu_reg(t->dpu, DPU_BN_MUL), 13, 8);

	if (t->is_float)
		return false;
	return (!(t->bs_cfg & (STAGE_BYPASS | STAGE_MUL_BYPASS)) && bs != t->bs_neg_shift) ||
	       (!(t->bn_cfg & (STAGE_BYPASS | STAGE_MUL_BYPASS)) && bn != t->bn_neg_shift);
}

/* --- hw 02 §6.5: what is left in CBUF ---------------------------------------------------- */

static bool data_reuse_int4(const struct npu_conv *t)
{
	return t->data_reuse && t->in_prec == PREC_INT4;
}

static bool data_reuse_stale(const struct npu_conv *t)
{
	const struct npu_resident *f = &t->core->feature;

	return t->data_reuse && (!f->valid || f->prec != t->in_prec || f->k != t->k ||
				 f->rows < t->rows);
}

static bool weight_reuse_over(const struct npu_conv *t)
{
	return t->weight_reuse && t->kernels * kernel_bytes(t) > t->weight_banks * BANK;
}

static bool weight_reuse_stale(const struct npu_conv *t)
{
	const struct npu_resident *w = &t->core->weight;

	return t->weight_reuse && (!w->valid || w->addr != t->b || w->prec != t->in_prec ||
				   w->k != t->k || w->rows != t->kernels);
}

/* --- hw 04 §2.5, §2.6: the table in front of the output ----------------------------------- */

static bool lut_missing(const struct npu_conv *t)
{
	return lut_on(t) && !npu_lut_complete(t->core);
}

static bool lut_race(const struct npu_conv *t)
{
	return lut_on(t) && npu_lut_races(t->core);
}

static bool lut_pingpong(const struct npu_conv *t)
{
	return t->core->lut.writes && t->core->pingpong && t->core->tasks > 1;
}

static bool lut_form(const struct npu_conv *t)
{
	return lut_on(t) && !npu_lut_form(t->dpu);
}

/* --- hw 03 §1: measured, but no law ------------------------------------------------------ */

static bool narrow_k(const struct npu_conv *t)
{
	return pair(t, PREC_INT8, PREC_INT8) && !t->rdma && t->k < 512;
}

#define LAW(t, c, e, f)		{ .text = (t), .cls = (c), .effect = (e), .broken = (f) }
#define QUIRK(t, c, e, f, q)	{ .text = (t), .cls = (c), .effect = (e), .broken = (f), \
				  .quirk = (q) }
#define STRICT(t, f)		{ .text = (t), .cls = NPU_WRONG, .effect = EFFECT_NATURAL, \
				  .broken = (f), .strict_only = true }

/* Hangs first: later rows may rely on what earlier ones have ruled out. */
static const struct npu_law laws[] = {
	LAW("input types of CNA, CORE and DPU differ (hw 02 3.6, hw 03 O18)",
	    NPU_HANG_0, EFFECT_HANG, mixed_types),
	LAW("no document describes this pair of input and output types (hw 02 3.6)",
	    NPU_HANG_0, EFFECT_HANG, no_such_pair),
	LAW("not a 1x1 convolution of stride 1 (hw 02 3.1)",
	    NPU_HANG_0, EFFECT_HANG, not_pointwise),
	LAW("DPU does not take CORE's result to memory (hw 02 3.3, 400c)",
	    NPU_HANG_0, EFFECT_HANG, not_to_memory),
	LAW("element-wise stage active in a matmul (hw 03 O15)",
	    NPU_HANG_0, EFFECT_HANG, fused_operator),
	LAW("K, kernels or the input cube is 0 (hw 02 3.1)",
	    NPU_HANG_0, EFFECT_HANG, empty),
	LAW("K above 10752 (hw 02 5.3, hw 03 G1)",
	    NPU_HANG_0, EFFECT_HANG, k_cap),
	LAW("no weight bank: 1040 below 1b (hw 02 5.2, hw 03 G3)",
	    NPU_HANG_0, EFFECT_HANG, no_weight_bank),
	LAW("write rectangle wider than a one-column cube: row-0 trap (hw 02 3.3, hw 03 O9)",
	    NPU_HANG_0, EFFECT_HANG, row0_trap),
	LAW("write rectangle larger than the cube (hw 02 3.3, 405c)",
	    NPU_HANG_0, EFFECT_HANG, rect_outside),
	LAW("CNA, CORE and DPU disagree about lines or columns (hw 02 3.1 to 3.3)",
	    NPU_HANG_0, EFFECT_HANG, sizes_differ),
	LAW("fp16 output with the BS stage active (hw 02 5.5, hw 03 O4)",
	    NPU_HANG_0, EFFECT_HANG, fp16_bs_active),
	LAW("fp16 output in atom-8 form: SIZE_E is not 1 (hw 02 5.5, hw 03 O4)",
	    NPU_HANG_0, EFFECT_HANG, fp16_atom8),
	LAW("int16 output from int8 with SIZE_E other than 3 (hw 02 5.5, hw 03 O1 and O2)",
	    NPU_HANG_0, EFFECT_HANG, int16_from_int8),
	LAW("SIZE_E asks for more atoms than a kernel group fills (hw 02 3.5)",
	    NPU_HANG_0, EFFECT_HANG, size_e_over),
	LAW("no document describes the table behind this pair of types (hw 04 4, hw 03 O16)",
	    NPU_HANG_0, EFFECT_HANG, lut_pair),
	LAW("DPU stages that are not documented for fp16 matmuls (hw 04 1.1, 4)",
	    NPU_HANG_0, EFFECT_HANG, fp16_stages),
	LAW("DPU_RDMA started for tensors a matmul does not read (hw 04 8)",
	    NPU_HANG_0, EFFECT_HANG, stray_rdma),
	LAW("a DPU stage waits for an operand that no RDMA brings (hw 02 8, hw 04 1.2)",
	    NPU_HANG_0, EFFECT_HANG, operand_never_comes),
	LAW("one weight bank that one kernel group fills, N of 16 or 32 (hw 02 5.3, hw 03 G10)",
	    NPU_HANG_0, EFFECT_HANG, narrow_one_bank),

	LAW("12 or more data banks, or none, with one row (hw 02 5.2)",
	    NPU_ZERO, EFFECT_ZERO, data_banks_one_row),
	LAW("12 or more data banks, or none (hw 02 5.2)",
	    NPU_WRONG, EFFECT_GARBAGE, data_banks_rows),
	LAW("a kernel group does not fit the weight banks (hw 02 5.2)",
	    NPU_WRONG, EFFECT_GARBAGE, group_over_banks),
	LAW("FC_DATA_BANK is not 0 (hw 02 5.5)",
	    NPU_WRONG, EFFECT_GARBAGE, fc_bank),
	LAW("K is not a multiple of 32 (hw 02 5.3)",
	    NPU_WRONG, EFFECT_GARBAGE, alignment),
	LAW("fp16 output without 4084 bit 16 (hw 02 5.5, hw 03 O3)",
	    NPU_ZERO, EFFECT_ZERO, fp16_without_enable),
	LAW("DATA_REUSE on int4 (hw 02 6.5, hw 03 S14)",
	    NPU_WRONG, EFFECT_GARBAGE, data_reuse_int4),
	LAW("DATA_REUSE without the feature in CBUF (hw 02 6.5)",
	    NPU_WRONG, EFFECT_GARBAGE, data_reuse_stale),
	LAW("N above 8192 (hw 02 5.3, hw 03 G2)",
	    NPU_WRONG, EFFECT_NATURAL, n_cap),
	LAW("a value is past its field (hw 02 5.3)",
	    NPU_WRONG, EFFECT_NATURAL, field_width),
	LAW("N is not a multiple of the kernel group (hw 02 5.3)",
	    NPU_WRONG, EFFECT_NATURAL, n_alignment),
	LAW("rows past the data banks (hw 02 5.2, hw 03 G8)",
	    NPU_ROWS, EFFECT_NATURAL, rows_over_banks),
	LAW("SIZE_E writes only part of a kernel group (hw 02 3.5)",
	    NPU_WRONG, EFFECT_NATURAL, size_e_under),
	LAW("WEIGHT_REUSE of a weight larger than its banks (hw 02 6.5, hw 03 S13)",
	    NPU_WRONG, EFFECT_NATURAL, weight_reuse_over),
	LAW("WEIGHT_REUSE finds another weight in CBUF (hw 02 6.5)",
	    NPU_WRONG, EFFECT_NATURAL, weight_reuse_stale),
	LAW("write rectangle smaller than the cube (hw 02 3.5)",
	    NPU_WRONG, EFFECT_NATURAL, rect_inside),
	LAW("the table was not loaded since the last reset (hw 03 S10, hw 04 2.6)",
	    NPU_WRONG, EFFECT_NATURAL, lut_missing),
	LAW("the table's load may not have ended: task ping-pong (hw 03 S11, hw 04 2.6)",
	    NPU_WRONG, EFFECT_NATURAL, lut_race),
	QUIRK("int8 output with K below 512 (hw 03 G26)",
	      NPU_WRONG, EFFECT_GARBAGE, narrow_k, NPU_QUIRK_NARROW_K),

	STRICT("a table is written in a chain with task ping-pong (hw 04 4, hw 03 C3)",
	       lut_pingpong),
	STRICT("tables in another form than captured: 4108, 410c, starts, ends (hw 04 2.5)",
	       lut_form),
	STRICT("SURFACE_ADD is not DST_SURF_STRIDE times atoms (hw 02 3.5, hw 04 1.4)",
	       surface_add),
	STRICT("channel counts of CNA, CORE and DPU disagree (hw 02 3.1 to 3.3)",
	       n_differs),
	STRICT("weight byte counts are not those of K and N (hw 02 3.1)",
	       weight_size),
	STRICT("1084 is not a copy of 1020 (hw 02 3.1)",
	       dma_size),
	STRICT("DATA_ENTRIES below 64-byte units of a line (hw 02 3.1)",
	       line_entries),
	STRICT("shift for negative values is not the positive one (hw 04 1.1)",
	       negative_shift),
};

/* A broken law that is no hang: its class, or why the core stops */
enum npu_class npu_broken(struct npu_core *core, struct npu_conv *t, const char *law,
			  enum npu_class cls, enum npu_effect effect)
{
	npu_breach(core, cls, law);
	/* Refused: the report keeps the law's own class. */
	if (core->strict)
		return NPU_HANG_P;
	if (effect > t->effect)
		t->effect = effect;
	return cls;
}

enum npu_class npu_laws_check(struct npu_core *core, struct npu_conv *t)
{
	enum npu_class worst = NPU_OK, cls;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(laws); i++) {
		const struct npu_law *law = &laws[i];

		if ((law->quirk && !(core->quirks & law->quirk)) ||
		    (law->strict_only && !core->strict) || !law->broken(t))
			continue;
		if (law->effect == EFFECT_HANG)
			return npu_hang(core, law->text);
		cls = npu_broken(core, t, law->text, law->cls, law->effect);
		if (npu_stops(cls))
			return cls;
		if (cls > worst)
			worst = cls;
	}
	return worst;
}
