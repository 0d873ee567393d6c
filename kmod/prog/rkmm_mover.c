// SPDX-License-Identifier: GPL-2.0-only
/*
 * The convolution tasks of the captured softmax, for images of any width.
 *
 * An image has 16 lines, as the captures: what CBUF_CON1 wants in image mode is
 * either the pixels of the image or 16 times its width, and so both (hw 04 §3.4).
 */
#include "rkmm_mover.h"
#include "rkmm_pure.h"

static inline u64 *put(u64 *w, u16 target, u16 offset, u32 value)
{
	*w = rkmm_entry(target, offset, value);
	return w + 1;
}

#define CNA(reg, value)		(w = put(w, RKMM_TARGET_CNA, CNA_##reg, value))
#define CORE(reg, value)	(w = put(w, RKMM_TARGET_CORE, CORE_##reg, value))
#define DPU(reg, value)		(w = put(w, RKMM_TARGET_DPU, DPU_##reg, value))

#define LINES	((u32)RKMM_MOVER_LINES)

static u32 pixels(const struct rkmm_mover *m)
{
	return m->width * LINES;
}

/* Output channels: kernels come in groups of 16. */
static u32 stored(const struct rkmm_mover *m)
{
	return (m->kernels + 15) / 16 * 16;
}

static u32 conv_con1(const struct rkmm_mover *m)
{
	return FIELD_PREP(CNA_CONV_CON1_NONALIGN_DMA, m->image ? 1 : 0) |
	       FIELD_PREP(CNA_CONV_CON1_GROUP_LINE_OFF, m->image ? 1 : 0) |
	       FIELD_PREP(CNA_CONV_CON1_ARGB_IN, m->image ? 8 : 0) |
	       FIELD_PREP(CNA_CONV_CON1_PROC_PRECISION, RKMM_PREC_F16) |
	       FIELD_PREP(CNA_CONV_CON1_IN_PRECISION, RKMM_PREC_F16);
}

/* One bank holds 256 pixels of 64 channels; the weights have the others (hw 04 §3.4). */
static u32 cbuf_con0(void)
{
	return FIELD_PREP(CNA_CBUF_CON0_WEIGHT_BANK, 11) | FIELD_PREP(CNA_CBUF_CON0_DATA_BANK, 1);
}

static u32 line_entries(const struct rkmm_mover *m)
{
	return m->image ? pixels(m) : m->width * m->channels * 2 / RKMM_ENTRY;
}

/* hw 04 §2.7: four lines at once, or one of an image */
static u32 line_stride(const struct rkmm_mover *m)
{
	return m->image ? m->width : 4 * m->width;
}

static u64 *emit_cna(const struct rkmm_mover *m, u64 *w)
{
	u32 i, kernel = m->channels * 2;

	CNA(CBUF_CON0, cbuf_con0());
	CNA(DCOMP_REGNUM, 0);
	CNA(DCOMP_CTRL, 0);
	CNA(CONV_CON1, conv_con1(m));
	DPU(S_POINTER, FIELD_PREP(S_POINTER_PP_MODE, 1) |
		       FIELD_PREP(S_POINTER_EXECUTER_PP_EN, 1) |
		       FIELD_PREP(S_POINTER_POINTER_PP_EN, 1));
	CNA(CONV_CON1, conv_con1(m));
	CNA(CONV_CON2, FIELD_PREP(CNA_CONV_CON2_FEATURE_GRAINS, LINES + 1));
	CNA(CONV_CON3, FIELD_PREP(CNA_CONV_CON3_CONV_Y_STRIDE, 1) |
		       FIELD_PREP(CNA_CONV_CON3_CONV_X_STRIDE, 1));
	CNA(DATA_SIZE0, FIELD_PREP(CNA_DATA_SIZE0_DATAIN_WIDTH, m->width) |
			FIELD_PREP(CNA_DATA_SIZE0_DATAIN_HEIGHT, LINES));
	CNA(DATA_SIZE1,
	    FIELD_PREP(CNA_DATA_SIZE1_CHANNEL_REAL, m->image ? 0 : m->channels - 1) |
	    FIELD_PREP(CNA_DATA_SIZE1_CHANNEL, m->channels));
	CNA(DATA_SIZE2, FIELD_PREP(CNA_DATA_SIZE2_DATAOUT_WIDTH, m->width));
	CNA(DATA_SIZE3, FIELD_PREP(CNA_DATA_SIZE3_DATAOUT_ATOMICS, pixels(m)));
	CNA(WEIGHT_SIZE0, FIELD_PREP(CNA_WEIGHT_SIZE0_BYTES, kernel * m->kernels));
	CNA(WEIGHT_SIZE1, FIELD_PREP(CNA_WEIGHT_SIZE1_BYTES_PER_KERNEL, kernel));
	CNA(WEIGHT_SIZE2, FIELD_PREP(CNA_WEIGHT_SIZE2_WIDTH, 1) |
			  FIELD_PREP(CNA_WEIGHT_SIZE2_HEIGHT, 1) |
			  FIELD_PREP(CNA_WEIGHT_SIZE2_KERNELS, m->kernels));
	CNA(CBUF_CON0, cbuf_con0());
	CNA(CBUF_CON1, FIELD_PREP(CNA_CBUF_CON1_DATA_ENTRIES, line_entries(m)));
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
	CNA(FEATURE_DATA_ADDR, m->src);
	CNA(FC_CON2, 0);
	CNA(DMA_CON0, FIELD_PREP(CNA_DMA_CON0_WEIGHT_BURST, 15) |
		      FIELD_PREP(CNA_DMA_CON0_DATA_BURST, 15));
	CNA(DMA_CON1, FIELD_PREP(CNA_DMA_CON1_LINE_STRIDE, line_stride(m)));
	CNA(DMA_CON2, FIELD_PREP(CNA_DMA_CON2_SURF_STRIDE, pixels(m) - line_stride(m)));
	CNA(FC_DATA_SIZE0, FIELD_PREP(CNA_FC_DATA_SIZE0_DMA_WIDTH, m->width) |
			   FIELD_PREP(CNA_FC_DATA_SIZE0_DMA_HEIGHT, LINES));
	CNA(FC_DATA_SIZE1, FIELD_PREP(CNA_FC_DATA_SIZE1_DMA_CHANNEL, m->channels));
	CNA(DCOMP_CTRL, 0);
	CNA(DCOMP_REGNUM, 0);
	CNA(DCOMP_ADDR0, m->weights);
	for (i = 0; i < 16; i++)
		CNA(DCOMP_AMOUNT(i), 0);
	CNA(CVT_CON5, 0);
	CNA(PAD_CON1, 0);
	return w;
}

static u64 *emit_core(const struct rkmm_mover *m, u64 *w)
{
	CORE(MISC_CFG, FIELD_PREP(CORE_MISC_CFG_PROC_PRECISION, RKMM_PREC_F16));
	CORE(DATAOUT_SIZE_0, FIELD_PREP(CORE_DATAOUT_SIZE_0_HEIGHT, LINES - 1) |
			     FIELD_PREP(CORE_DATAOUT_SIZE_0_WIDTH, m->width - 1));
	CORE(DATAOUT_SIZE_1, FIELD_PREP(CORE_DATAOUT_SIZE_1_CHANNEL, stored(m) - 1));
	CORE(CLIP_TRUNCATE, 0);
	CORE(UNNAMED_3030, 0);
	return w;
}

/* BS and BN, all off */
static u32 stage_off(void)
{
	return FIELD_PREP(DPU_STAGE_RELU_BYPASS, 1) | FIELD_PREP(DPU_STAGE_MUL_BYPASS, 1) |
	       FIELD_PREP(DPU_STAGE_ALU_BYPASS, 1) | FIELD_PREP(DPU_STAGE_BYPASS, 1);
}

static u64 *emit_dpu_shape(const struct rkmm_mover *m, u64 *w)
{
	DPU(FEATURE_MODE_CFG, FIELD_PREP(DPU_FEATURE_MODE_CFG_BURST_LEN, 15) |
			      FIELD_PREP(DPU_FEATURE_MODE_CFG_OUTPUT_MODE, 2));
	DPU(DATA_FORMAT, FIELD_PREP(DPU_DATA_FORMAT_OUT_PRECISION, RKMM_PREC_F16) |
			 FIELD_PREP(DPU_DATA_FORMAT_IN_PRECISION, RKMM_PREC_F16) |
			 FIELD_PREP(DPU_DATA_FORMAT_PROC_PRECISION, RKMM_PREC_F16));
	DPU(OFFSET_PEND, 0);
	DPU(DST_BASE_ADDR, m->dst);
	DPU(DST_SURF_STRIDE, FIELD_PREP(DPU_DST_SURF_STRIDE_STRIDE, m->dst_pitch / RKMM_ATOM));
	DPU(DATA_CUBE_WIDTH, FIELD_PREP(DPU_DATA_CUBE_WIDTH_WIDTH, m->width - 1));
	DPU(DATA_CUBE_HEIGHT, FIELD_PREP(DPU_DATA_CUBE_HEIGHT_HEIGHT, LINES - 1));
	DPU(DATA_CUBE_NOTCH_ADDR, 0);
	DPU(DATA_CUBE_CHANNEL,
	    FIELD_PREP(DPU_DATA_CUBE_CHANNEL_ORIG_CHANNEL, m->kernels - 1) |
	    FIELD_PREP(DPU_DATA_CUBE_CHANNEL_CHANNEL, stored(m) - 1));
	DPU(BS_CFG, stage_off());
	DPU(BS_ALU_CFG, 0);
	DPU(BS_MUL_CFG, 0);
	DPU(BS_RELUX_CMP_VALUE, 0);
	/* Two surfaces of 8 channels an accumulator of 16 (hw 04 §1.4) */
	DPU(BS_OW_CFG, FIELD_PREP(DPU_BS_OW_CFG_SIZE_E_2, 1) |
		       FIELD_PREP(DPU_BS_OW_CFG_SIZE_E_1, 1) |
		       FIELD_PREP(DPU_BS_OW_CFG_SIZE_E_0, 1) |
		       FIELD_PREP(DPU_BS_OW_CFG_OD_BYPASS, 1));
	DPU(BS_OW_OP, 0);
	DPU(WDMA_SIZE_0, FIELD_PREP(DPU_WDMA_SIZE_0_CHANNEL, stored(m) - 1));
	DPU(WDMA_SIZE_1, FIELD_PREP(DPU_WDMA_SIZE_1_HEIGHT, LINES - 1) |
			 FIELD_PREP(DPU_WDMA_SIZE_1_WIDTH, m->width - 1));
	DPU(BN_CFG, stage_off());
	DPU(BN_ALU_CFG, 0);
	DPU(BN_MUL_CFG, 0);
	DPU(BN_RELUX_CMP_VALUE, 0);
	return w;
}

static u64 *emit_dpu_values(const struct rkmm_mover *m, u64 *w)
{
	u32 i;

	DPU(EW_CFG, FIELD_PREP(DPU_EW_CFG_RELU_BYPASS, 1) | FIELD_PREP(DPU_EW_CFG_CVT_BYPASS, 1) |
		    FIELD_PREP(DPU_EW_CFG_LUT_BYPASS, 1) | FIELD_PREP(DPU_EW_CFG_OP_BYPASS, 1) |
		    FIELD_PREP(DPU_EW_CFG_BYPASS, 1));
	DPU(EW_CVT_OFFSET_VALUE, 0);
	DPU(EW_CVT_SCALE_VALUE, FIELD_PREP(DPU_EW_CVT_SCALE_VALUE_SCALE, 1));
	DPU(EW_RELUX_CMP_VALUE, 0);
	DPU(OUT_CVT_OFFSET, 0);
	DPU(OUT_CVT_SCALE, FIELD_PREP(DPU_OUT_CVT_SCALE_FP32TOFP16_EN, 1) |
			   FIELD_PREP(DPU_OUT_CVT_SCALE_SCALE, 1));
	DPU(OUT_CVT_SHIFT, 0);
	for (i = 0; i < 8; i++)
		DPU(EW_OP_VALUE(i), 0);
	DPU(SURFACE_ADD, FIELD_PREP(DPU_SURFACE_ADD_ADD, 2 * (m->dst_pitch / RKMM_ATOM)));
	DPU(UNNAMED_40C4, 0);
	DPU(LUT_ACCESS_CFG, 0);
	DPU(LUT_ACCESS_DATA, 0);
	DPU(LUT_CFG, 0);
	DPU(LUT_INFO, 0);
	DPU(LUT_LE_START, 0);
	DPU(LUT_LE_END, 0);
	DPU(LUT_LO_START, 0);
	DPU(LUT_LO_END, 0);
	DPU(LUT_LE_SLOPE_SCALE, 0);
	DPU(LUT_LE_SLOPE_SHIFT, 0);
	DPU(LUT_LO_SLOPE_SCALE, 0);
	DPU(LUT_LO_SLOPE_SHIFT, 0);
	return w;
}

u32 rkmm_mover_emit(const struct rkmm_mover *mover, u64 *words)
{
	u64 *w = words;

	w = emit_cna(mover, w);
	w = emit_core(mover, w);
	w = emit_dpu_shape(mover, w);
	w = emit_dpu_values(mover, w);
	return (u32)(w - words);
}
