// SPDX-License-Identifier: GPL-2.0-only
/*
 * One program as register writes, in the order of hw 02 §2.
 *
 * A matmul is a 1x1 convolution: K input channels, N kernels, one line of one
 * pixel per row (hw 02, fact 3).
 */
#include "rkmm_dpu.h"
#include "rkmm_pure.h"

/* Nothing fused: all stages off */
static const struct rkmm_dpu plain = { .ew = RKMM_EW_OFF, .out_scale = 1 };

/**
 * struct shape - what the register values are computed from
 * @p: the program
 * @facts: its types
 * @lines: lines the hardware walks: rows, or four per row in the int4 batch form
 * @cube: channel-grouped A and C
 * @grouped: lines are read in groups of four (hw 02 §3.4)
 * @fused: stages of the DPU
 */
struct shape {
	const struct rkmm_program *p;
	const struct rkmm_type_facts *facts;
	u32 lines;
	bool cube;
	bool grouped;
	const struct rkmm_dpu *fused;
};

static inline u64 *put(u64 *w, u16 target, u16 offset, u32 value)
{
	*w = rkmm_entry(target, offset, value);
	return w + 1;
}

#define CNA(reg, value)		(w = put(w, RKMM_TARGET_CNA, CNA_##reg, value))
#define CORE(reg, value)	(w = put(w, RKMM_TARGET_CORE, CORE_##reg, value))
#define DPU(reg, value)		(w = put(w, RKMM_TARGET_DPU, DPU_##reg, value))
#define RDMA(reg, value)	(w = put(w, RKMM_TARGET_DPU_RDMA, DPU_RDMA_##reg, value))

static inline u32 cbuf_con0(const struct rkmm_program *p)
{
	return FIELD_PREP(CNA_CBUF_CON0_WEIGHT_REUSE, p->weight_reuse ? 1 : 0) |
	       FIELD_PREP(CNA_CBUF_CON0_WEIGHT_BANK, p->weight_banks) |
	       FIELD_PREP(CNA_CBUF_CON0_DATA_BANK, p->data_banks);
}

static inline u32 conv_con1(const struct shape *s)
{
	return FIELD_PREP(CNA_CONV_CON1_GROUP_LINE_OFF, s->grouped ? 0 : 1) |
	       FIELD_PREP(CNA_CONV_CON1_PROC_PRECISION, s->facts->in) |
	       FIELD_PREP(CNA_CONV_CON1_IN_PRECISION, s->facts->in);
}

/* LINE_STRIDE, hw 02 §3.4 and §6.2, in atoms */
static u32 line_stride(const struct shape *s)
{
	switch (s->p->form) {
	case RKMM_FORM_CUBE:
		return 4;
	case RKMM_FORM_BATCH:
		return s->p->k / RKMM_ATOM;
	default:
		return s->grouped ? 4 : s->p->a_pitch / RKMM_ATOM;
	}
}

/* SURF_STRIDE: from the end of one channel group's lines to the next, hw 02 §3.4 */
static u32 surf_stride(const struct shape *s)
{
	if (!s->grouped)
		return 0;
	return (s->cube ? s->p->a_pitch / RKMM_ATOM : 1) - 4;
}

static inline u64 *emit_head(const struct shape *s, u64 *w)
{
	/* The vendor repeats these at the front of every task (hw 02 §2). */
	CNA(CBUF_CON0, cbuf_con0(s->p));
	CNA(DCOMP_REGNUM, 0);
	CNA(DCOMP_CTRL, 0);
	CNA(CONV_CON1, conv_con1(s));
	DPU(S_POINTER, FIELD_PREP(S_POINTER_PP_MODE, 1) |
		       FIELD_PREP(S_POINTER_EXECUTER_PP_EN, 1) |
		       FIELD_PREP(S_POINTER_POINTER_PP_EN, 1));
	return w;
}

static u64 *emit_cna(const struct shape *s, u64 *w)
{
	const struct rkmm_program *p = s->p;
	u32 kernel = (u32)rkmm_in_bytes(p->types, p->k);
	u32 i;

	CNA(CONV_CON1, conv_con1(s));
	CNA(CONV_CON2, FIELD_PREP(CNA_CONV_CON2_FEATURE_GRAINS, p->grains));
	CNA(CONV_CON3, FIELD_PREP(CNA_CONV_CON3_CONV_Y_STRIDE, 1) |
		       FIELD_PREP(CNA_CONV_CON3_CONV_X_STRIDE, 1));
	CNA(DATA_SIZE0, FIELD_PREP(CNA_DATA_SIZE0_DATAIN_WIDTH, 1) |
			FIELD_PREP(CNA_DATA_SIZE0_DATAIN_HEIGHT, s->lines));
	CNA(DATA_SIZE1, FIELD_PREP(CNA_DATA_SIZE1_CHANNEL_REAL, p->k - 1) |
			FIELD_PREP(CNA_DATA_SIZE1_CHANNEL, p->k));
	CNA(DATA_SIZE2, FIELD_PREP(CNA_DATA_SIZE2_DATAOUT_WIDTH, 1));
	CNA(DATA_SIZE3, FIELD_PREP(CNA_DATA_SIZE3_DATAOUT_ATOMICS, s->lines));
	CNA(WEIGHT_SIZE0, FIELD_PREP(CNA_WEIGHT_SIZE0_BYTES, kernel * p->n));
	CNA(WEIGHT_SIZE1, FIELD_PREP(CNA_WEIGHT_SIZE1_BYTES_PER_KERNEL, kernel));
	CNA(WEIGHT_SIZE2, FIELD_PREP(CNA_WEIGHT_SIZE2_WIDTH, 1) |
			  FIELD_PREP(CNA_WEIGHT_SIZE2_HEIGHT, 1) |
			  FIELD_PREP(CNA_WEIGHT_SIZE2_KERNELS, p->n));
	CNA(CBUF_CON0, cbuf_con0(p));
	CNA(CBUF_CON1, FIELD_PREP(CNA_CBUF_CON1_DATA_ENTRIES,
				  rkmm_line_entries(p->types, p->k)));
	CNA(CVT_CON0, FIELD_PREP(CNA_CVT_CON0_DATA_SIGN, 1) |
		      FIELD_PREP(CNA_CVT_CON0_CVT_TYPE, 1) |
		      FIELD_PREP(CNA_CVT_CON0_CVT_BYPASS, 1));
	CNA(CVT_CON1, FIELD_PREP(CNA_CVT_SCALE, 1));
	CNA(CVT_CON2, FIELD_PREP(CNA_CVT_SCALE, 1));
	CNA(CVT_CON3, FIELD_PREP(CNA_CVT_SCALE, 1));
	CNA(CVT_CON4, FIELD_PREP(CNA_CVT_SCALE, 1));
	CNA(FC_CON0, 0);
	CNA(FC_CON1, 0);
	CNA(PAD_CON0, 0);
	CNA(FEATURE_DATA_ADDR, p->a);
	CNA(FC_CON2, 0);
	CNA(DMA_CON0, FIELD_PREP(CNA_DMA_CON0_WEIGHT_BURST, 15) |
		      FIELD_PREP(CNA_DMA_CON0_DATA_BURST, 15));
	CNA(DMA_CON1, FIELD_PREP(CNA_DMA_CON1_LINE_STRIDE, line_stride(s)));
	CNA(DMA_CON2, FIELD_PREP(CNA_DMA_CON2_SURF_STRIDE, surf_stride(s)));
	CNA(FC_DATA_SIZE0, FIELD_PREP(CNA_FC_DATA_SIZE0_DMA_WIDTH, 1) |
			   FIELD_PREP(CNA_FC_DATA_SIZE0_DMA_HEIGHT, s->lines));
	CNA(FC_DATA_SIZE1, FIELD_PREP(CNA_FC_DATA_SIZE1_DMA_CHANNEL, p->k));
	CNA(DCOMP_CTRL, 0);
	CNA(DCOMP_REGNUM, 0);
	CNA(DCOMP_ADDR0, p->b);
	for (i = 0; i < 16; i++)
		CNA(DCOMP_AMOUNT(i), 0);
	CNA(CVT_CON5, 0);
	CNA(PAD_CON1, 0);
	return w;
}

static u64 *emit_core(const struct shape *s, u64 *w)
{
	/* QD_EN as each form has it; without offsets it does nothing (hw 02 §3.2, §8). */
	bool qd_en = !s->cube || s->facts->in == RKMM_PREC_F16;

	CORE(MISC_CFG, FIELD_PREP(CORE_MISC_CFG_PROC_PRECISION, s->facts->in) |
		       FIELD_PREP(CORE_MISC_CFG_QD_EN, qd_en ? 1 : 0));
	CORE(DATAOUT_SIZE_0, FIELD_PREP(CORE_DATAOUT_SIZE_0_HEIGHT, s->lines - 1));
	CORE(DATAOUT_SIZE_1, FIELD_PREP(CORE_DATAOUT_SIZE_1_CHANNEL, s->p->n - 1));
	CORE(CLIP_TRUNCATE, 0);
	CORE(UNNAMED_3030, 0);
	return w;
}

/* Atoms skipped after a line, hw 02 §3.5 */
static u32 notch_addr(const struct shape *s)
{
	const struct rkmm_program *p = s->p;
	u32 first, later;

	switch (p->form) {
	case RKMM_FORM_CUBE:
		return 0;
	case RKMM_FORM_BATCH:
		/* set in the captures, without effect under a 1x1 write rectangle */
		later = p->n / 4;
		first = later;
		break;
	default:
		if (s->grouped)
			return 0;
		later = p->c_pitch / RKMM_ATOM;
		first = p->c_first ? p->c_first / RKMM_ATOM : later;
		break;
	}
	return FIELD_PREP(DPU_DATA_CUBE_NOTCH_ADDR_NOTCH_1, later - 1) |
	       FIELD_PREP(DPU_DATA_CUBE_NOTCH_ADDR_NOTCH_0, first - 1);
}

static u32 cube_channel(const struct shape *s)
{
	const struct rkmm_program *p = s->p;
	/* The offset stride's users put the pitch here; the write law ignores it (hw 02 §3.5). */
	u32 orig = p->c_first ? p->c_pitch / s->facts->out_bytes : p->n;

	return FIELD_PREP(DPU_DATA_CUBE_CHANNEL_ORIG_CHANNEL, orig - 1) |
	       FIELD_PREP(DPU_DATA_CUBE_CHANNEL_CHANNEL, p->n - 1);
}

static u32 bs_ow_cfg(const struct shape *s)
{
	u32 size_e = rkmm_surfaces(s->p->types) - 1;
	bool od_bypass = s->cube || s->facts->in != RKMM_PREC_I8;

	return FIELD_PREP(DPU_BS_OW_CFG_SIZE_E_2, size_e) |
	       FIELD_PREP(DPU_BS_OW_CFG_SIZE_E_1, size_e) |
	       FIELD_PREP(DPU_BS_OW_CFG_SIZE_E_0, size_e) |
	       FIELD_PREP(DPU_BS_OW_CFG_OD_BYPASS, od_bypass ? 1 : 0);
}

static u64 *emit_dpu_shape(const struct shape *s, u64 *w)
{
	const struct rkmm_dpu *f = s->fused;
	const struct rkmm_program *p = s->p;
	/* A 1x1 write rectangle makes every int4 batch line its own 128-byte slot (hw 02 §6.2). */
	u32 write_lines = p->form == RKMM_FORM_BATCH ? 1 : s->lines;

	DPU(FEATURE_MODE_CFG, FIELD_PREP(DPU_FEATURE_MODE_CFG_BURST_LEN, 15) |
			      FIELD_PREP(DPU_FEATURE_MODE_CFG_OUTPUT_MODE, 2));
	DPU(DATA_FORMAT, FIELD_PREP(DPU_DATA_FORMAT_OUT_PRECISION, s->facts->out) |
			 FIELD_PREP(DPU_DATA_FORMAT_IN_PRECISION, s->facts->in) |
			 /* of negative values (hw 04 §1.1) */
			 FIELD_PREP(DPU_DATA_FORMAT_BN_SHIFT_NEG, f->bn.shift) |
			 FIELD_PREP(DPU_DATA_FORMAT_PROC_PRECISION, s->facts->in));
	DPU(OFFSET_PEND, 0);
	DPU(DST_BASE_ADDR, p->c);
	DPU(DST_SURF_STRIDE, FIELD_PREP(DPU_DST_SURF_STRIDE_STRIDE,
					s->cube ? p->c_pitch / RKMM_ATOM : 1));
	DPU(DATA_CUBE_WIDTH, 0);
	DPU(DATA_CUBE_HEIGHT, FIELD_PREP(DPU_DATA_CUBE_HEIGHT_HEIGHT, s->lines - 1));
	DPU(DATA_CUBE_NOTCH_ADDR, notch_addr(s));
	DPU(DATA_CUBE_CHANNEL, cube_channel(s));
	DPU(BS_CFG, rkmm_stage_cfg(&f->bs));
	DPU(BS_ALU_CFG, f->bs.alu);
	DPU(BS_MUL_CFG, rkmm_stage_mul(&f->bs));
	DPU(BS_RELUX_CMP_VALUE, f->bs.cmp);
	DPU(BS_OW_CFG, bs_ow_cfg(s));
	DPU(BS_OW_OP, 0);
	DPU(WDMA_SIZE_0, FIELD_PREP(DPU_WDMA_SIZE_0_CHANNEL, p->n - 1));
	DPU(WDMA_SIZE_1, FIELD_PREP(DPU_WDMA_SIZE_1_HEIGHT, write_lines - 1));
	DPU(BN_CFG, rkmm_stage_cfg(&f->bn));
	DPU(BN_ALU_CFG, f->bn.alu);
	DPU(BN_MUL_CFG, rkmm_stage_mul(&f->bn));
	DPU(BN_RELUX_CMP_VALUE, f->bn.cmp);
	return w;
}

static u64 *emit_dpu_values(const struct shape *s, u64 *w)
{
	const struct rkmm_program *p = s->p;
	const struct rkmm_dpu *f = s->fused;
	bool lookup = f->ew == RKMM_EW_LUT;
	u32 scale = lookup ? f->out_scale : p->mult ? (u32)p->mult : 1;
	u32 i;

	DPU(EW_CFG, rkmm_dpu_ew(f));
	DPU(EW_CVT_OFFSET_VALUE, 0);
	DPU(EW_CVT_SCALE_VALUE, FIELD_PREP(DPU_EW_CVT_SCALE_VALUE_SCALE, 1));
	DPU(EW_RELUX_CMP_VALUE, 0);
	DPU(OUT_CVT_OFFSET, (u32)(lookup ? f->out_offset : p->offset));
	/* fp16 output is all zeros without the enable bit (hw 02 §2). */
	DPU(OUT_CVT_SCALE, FIELD_PREP(DPU_OUT_CVT_SCALE_FP32TOFP16_EN,
				      s->facts->out == RKMM_PREC_F16 ? 1 : 0) |
			   FIELD_PREP(DPU_OUT_CVT_SCALE_SCALE, scale));
	DPU(OUT_CVT_SHIFT,
	    FIELD_PREP(DPU_OUT_CVT_SHIFT_MINUS_EXP, lookup ? f->minus_exp : 0) |
	    FIELD_PREP(DPU_OUT_CVT_SHIFT_SHIFT, lookup ? f->out_shift : p->shift));
	for (i = 0; i < 8; i++)
		DPU(EW_OP_VALUE(i), 0);
	DPU(SURFACE_ADD, FIELD_PREP(DPU_SURFACE_ADD_ADD, rkmm_surfaces(p->types) *
				    (s->cube ? p->c_pitch / RKMM_ATOM : 1)));
	DPU(UNNAMED_40C4, 0);
	return rkmm_lut_access(f, w);
}

/* The read DMA, for the operands of BS alone (hw 02 §8, hw 04 §1.3) */
static u64 *emit_bias(const struct shape *s, u64 *w)
{
	RDMA(S_POINTER, FIELD_PREP(S_POINTER_PP_MODE, 1) |
			FIELD_PREP(S_POINTER_EXECUTER_PP_EN, 1) |
			FIELD_PREP(S_POINTER_POINTER_PP_EN, 1));
	RDMA(DATA_CUBE_WIDTH, 0);
	RDMA(DATA_CUBE_HEIGHT, s->lines - 1);
	RDMA(DATA_CUBE_CHANNEL,
	     FIELD_PREP(DPU_RDMA_DATA_CUBE_CHANNEL_CHANNEL, s->p->n - 1));
	RDMA(SRC_BASE_ADDR, 0);
	RDMA(BRDMA_CFG, FIELD_PREP(DPU_RDMA_BRDMA_CFG_DATA_USE, 1));
	RDMA(BS_BASE_ADDR, s->p->table);
	RDMA(NRDMA_CFG, 0);
	RDMA(BN_BASE_ADDR, 0);
	RDMA(ERDMA_CFG, FIELD_PREP(DPU_RDMA_ERDMA_CFG_DISABLE, 1));
	RDMA(EW_BASE_ADDR, 0);
	RDMA(EW_SURF_STRIDE, 0);
	RDMA(FEATURE_MODE_CFG,
	     FIELD_PREP(DPU_RDMA_FEATURE_MODE_CFG_IN_PRECISION, s->facts->in) |
	     FIELD_PREP(DPU_RDMA_FEATURE_MODE_CFG_BURST_LEN, 15) |
	     FIELD_PREP(DPU_RDMA_FEATURE_MODE_CFG_PROC_PRECISION, s->facts->in) |
	     FIELD_PREP(DPU_RDMA_FEATURE_MODE_CFG_MRDMA_DISABLE, 1));
	RDMA(SRC_DMA_CFG, 0);
	RDMA(SURF_NOTCH, 0);
	RDMA(PAD_CFG, 0);
	RDMA(WEIGHT, FIELD_PREP(DPU_RDMA_WEIGHT_E, 1) | FIELD_PREP(DPU_RDMA_WEIGHT_N, 1) |
		     FIELD_PREP(DPU_RDMA_WEIGHT_B, 1) | FIELD_PREP(DPU_RDMA_WEIGHT_M, 1));
	RDMA(EW_SURF_NOTCH, 0);
	return w;
}

static bool reads_bias(const struct rkmm_program *p)
{
	return p->fused && p->fused->bs.use & RKMM_STAGE_TABLE;
}

u32 rkmm_program_writes(const struct rkmm_program *p)
{
	return RKMM_PROG_WRITES + (reads_bias(p) ? RKMM_BIAS_WRITES : 0) +
	       (p->load ? RKMM_LUT_WRITES : 0);
}

u32 rkmm_program_enable(const struct rkmm_program *p)
{
	return RKMM_START_MATMUL | (reads_bias(p) ? RKMM_START_DPU_RDMA : 0);
}

static struct shape shape_of(const struct rkmm_program *prog)
{
	return (struct shape){
		.p = prog,
		.facts = &rkmm_type_facts[prog->types],
		.lines = prog->form == RKMM_FORM_BATCH ? 4 * prog->m : prog->m,
		.cube = prog->form == RKMM_FORM_CUBE,
		.grouped = prog->form == RKMM_FORM_CUBE || prog->types == RKMM_T_I4I16,
		.fused = prog->fused ? prog->fused : &plain,
	};
}

u32 rkmm_emit_program(const struct rkmm_program *prog, u64 *words)
{
	const struct shape s = shape_of(prog);
	u64 *w = words;

	w = emit_head(&s, w);
	w = emit_cna(&s, w);
	w = emit_core(&s, w);
	w = emit_dpu_shape(&s, w);
	w = emit_dpu_values(&s, w);
	if (reads_bias(prog))
		w = emit_bias(&s, w);
	/* in the list of the task that looks up (hw 04 §2.6) */
	if (prog->load)
		w = rkmm_lut_emit(prog->fused->curve, w);
	return (u32)(w - words);
}

/*
 * What may differ between programs of like tilings, besides addresses. The vendor
 * writes the head and seven more registers always, changed or not (hw 02 §7.4).
 */
enum delta {
	DELTA_CBUF = 1,
	DELTA_GRAINS = 2,
	DELTA_LINES = 4,
	DELTA_N = 8,
	DELTA_NOTCH = 16,
};

static inline u32 delta_of(const struct rkmm_program *p, const struct rkmm_program *q)
{
	u32 d = 0;

	if (p->weight_reuse != q->weight_reuse)
		d |= DELTA_CBUF;
	if (p->grains != q->grains)
		d |= DELTA_GRAINS;
	if (p->m != q->m)
		d |= DELTA_LINES;
	/* the batch form puts the columns into the notch */
	if (p->n != q->n)
		d |= DELTA_N | (p->form == RKMM_FORM_BATCH ? DELTA_NOTCH : 0);
	if (p->c_pitch != q->c_pitch)
		d |= DELTA_NOTCH;
	return d;
}

bool rkmm_light_able(const struct rkmm_program *p, const struct rkmm_program *q)
{
	/* No board was seen to leave out registers of fused stages. */
	return !p->fused && !q->fused &&
	       p->types == q->types && p->form == q->form && p->k == q->k &&
	       p->data_banks == q->data_banks && p->weight_banks == q->weight_banks &&
	       p->a_pitch == q->a_pitch && p->c_first == q->c_first &&
	       /* that of a flat C is in the notch, others where no light program writes */
	       (p->c_pitch == q->c_pitch || (p->form == RKMM_FORM_FLAT && !p->c_first)) &&
	       p->mult == q->mult && p->shift == q->shift && p->offset == q->offset;
}

u32 rkmm_light_writes(const struct rkmm_program *prog, const struct rkmm_program *past)
{
	u32 d = delta_of(prog, past);

	/* nearly always: only addresses */
	if (!d)
		return RKMM_LIGHT_WRITES;
	return RKMM_LIGHT_WRITES + !!(d & DELTA_CBUF) + !!(d & DELTA_GRAINS) +
	       (d & DELTA_LINES ? 4 : 0) + (d & DELTA_N ? 4 : 0) + !!(d & DELTA_NOTCH);
}

static u64 *light_cna(const struct shape *s, u32 d, u64 *w)
{
	const struct rkmm_program *p = s->p;
	u32 kernel = (u32)rkmm_in_bytes(p->types, p->k);

	if (d & DELTA_GRAINS)
		CNA(CONV_CON2, FIELD_PREP(CNA_CONV_CON2_FEATURE_GRAINS, p->grains));
	if (d & DELTA_LINES) {
		CNA(DATA_SIZE0, FIELD_PREP(CNA_DATA_SIZE0_DATAIN_WIDTH, 1) |
				FIELD_PREP(CNA_DATA_SIZE0_DATAIN_HEIGHT, s->lines));
		CNA(DATA_SIZE3, FIELD_PREP(CNA_DATA_SIZE3_DATAOUT_ATOMICS, s->lines));
	}
	if (d & DELTA_N) {
		CNA(WEIGHT_SIZE0, FIELD_PREP(CNA_WEIGHT_SIZE0_BYTES, kernel * p->n));
		CNA(WEIGHT_SIZE2, FIELD_PREP(CNA_WEIGHT_SIZE2_WIDTH, 1) |
				  FIELD_PREP(CNA_WEIGHT_SIZE2_HEIGHT, 1) |
				  FIELD_PREP(CNA_WEIGHT_SIZE2_KERNELS, p->n));
	}
	if (d & DELTA_CBUF)
		CNA(CBUF_CON0, cbuf_con0(p));
	return w;
}

static u64 *light_core(const struct shape *s, u32 d, u64 *w)
{
	if (d & DELTA_LINES)
		CORE(DATAOUT_SIZE_0, FIELD_PREP(CORE_DATAOUT_SIZE_0_HEIGHT, s->lines - 1));
	if (d & DELTA_N)
		CORE(DATAOUT_SIZE_1, FIELD_PREP(CORE_DATAOUT_SIZE_1_CHANNEL, s->p->n - 1));
	return w;
}

static u64 *light_dpu(const struct shape *s, u32 d, u64 *w)
{
	if (d & DELTA_LINES)
		DPU(DATA_CUBE_HEIGHT, FIELD_PREP(DPU_DATA_CUBE_HEIGHT_HEIGHT, s->lines - 1));
	if (d & DELTA_NOTCH)
		DPU(DATA_CUBE_NOTCH_ADDR, notch_addr(s));
	if (d & DELTA_N)
		DPU(DATA_CUBE_CHANNEL, cube_channel(s));
	return w;
}

u32 rkmm_emit_light(const struct rkmm_program *prog, const struct rkmm_program *past, u64 *words)
{
	const struct shape s = shape_of(prog);
	u32 write_lines = prog->form == RKMM_FORM_BATCH ? 1 : s.lines, d = delta_of(prog, past);
	u64 *w = emit_head(&s, words);

	if (d)
		w = light_cna(&s, d, w);
	CNA(FEATURE_DATA_ADDR, prog->a);
	CNA(FC_DATA_SIZE0, FIELD_PREP(CNA_FC_DATA_SIZE0_DMA_WIDTH, 1) |
			   FIELD_PREP(CNA_FC_DATA_SIZE0_DMA_HEIGHT, s.lines));
	CNA(FC_DATA_SIZE1, FIELD_PREP(CNA_FC_DATA_SIZE1_DMA_CHANNEL, prog->k));
	CNA(DCOMP_ADDR0, prog->b);
	if (d)
		w = light_core(&s, d, w);
	DPU(DST_BASE_ADDR, prog->c);
	if (d)
		w = light_dpu(&s, d, w);
	DPU(WDMA_SIZE_0, FIELD_PREP(DPU_WDMA_SIZE_0_CHANNEL, prog->n - 1));
	DPU(WDMA_SIZE_1, FIELD_PREP(DPU_WDMA_SIZE_1_HEIGHT, write_lines - 1));
	return (u32)(w - words);
}

u32 rkmm_emit_again(const u64 *pattern, const struct rkmm_program *prog, u64 *words)
{
	u32 i;

	/* head */
	for (i = 0; i < 5; i++)
		words[i] = pattern[i];
	put(words + 5, RKMM_TARGET_CNA, CNA_FEATURE_DATA_ADDR, prog->a);
	words[6] = pattern[6];
	words[7] = pattern[7];
	put(words + 8, RKMM_TARGET_CNA, CNA_DCOMP_ADDR0, prog->b);
	put(words + 9, RKMM_TARGET_DPU, DPU_DST_BASE_ADDR, prog->c);
	words[10] = pattern[10];
	words[11] = pattern[11];
	return RKMM_LIGHT_WRITES;
}

u32 rkmm_emit_addresses(const struct rkmm_program *prog, const struct rkmm_program *past,
			u32 which, u64 *words)
{
	/* places in rkmm_emit_program() */
	u32 a = 25, b = 34, c = 61, n = 0, d;

	if (past) {
		d = delta_of(prog, past);
		a = 5 + !!(d & DELTA_GRAINS) + (d & DELTA_LINES ? 2 : 0) +
		    (d & DELTA_N ? 2 : 0) + !!(d & DELTA_CBUF);
		b = a + 3;
		c = b + 1 + !!(d & DELTA_LINES) + !!(d & DELTA_N);
	}
	if (which & RKMM_ADDR_A) {
		put(words + a, RKMM_TARGET_CNA, CNA_FEATURE_DATA_ADDR, prog->a);
		n++;
	}
	if (which & RKMM_ADDR_B) {
		put(words + b, RKMM_TARGET_CNA, CNA_DCOMP_ADDR0, prog->b);
		n++;
	}
	if (which & RKMM_ADDR_C) {
		put(words + c, RKMM_TARGET_DPU, DPU_DST_BASE_ADDR, prog->c);
		n++;
	}
	return n;
}

u32 rkmm_amount(u32 writes)
{
	/* The hardware fetches 2 * (amount + 1) entries, the tail among them. */
	return writes / 2 + writes % 2 + 1;
}

void rkmm_emit_tail(u64 *words, u32 next, u32 next_writes, u32 enable)
{
	/* Without a successor the first entry is all zero (hw 02 §1.2). */
	words[0] = next ? rkmm_entry(RKMM_TARGET_PC, PC_BASE_ADDRESS, next) : 0;
	words[1] = rkmm_entry(RKMM_TARGET_PC, PC_REGISTER_AMOUNTS,
			      FIELD_PREP(PC_REGISTER_AMOUNTS_AMOUNT,
					 next_writes ? rkmm_amount(next_writes) : 0));
	words[2] = rkmm_entry(RKMM_TARGET_FENCE, 0, 0);
	words[3] = rkmm_entry(RKMM_TARGET_START, PC_OP_EN, enable);
}
