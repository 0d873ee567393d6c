// SPDX-License-Identifier: GPL-2.0-only
/*
 * A DPU task as register writes: always the whole list, so that nothing is
 * inherited from whatever used the register group before (hw 04 §0.5).
 */
#include "rkmm_dpu.h"
#include "rkmm_pure.h"

static inline u64 *put(u64 *w, u16 target, u16 offset, u32 value)
{
	*w = rkmm_entry(target, offset, value);
	return w + 1;
}

#define DPU(reg, value)		(w = put(w, RKMM_TARGET_DPU, DPU_##reg, value))
#define RDMA(reg, value)	(w = put(w, RKMM_TARGET_DPU_RDMA, DPU_RDMA_##reg, value))

void rkmm_dpu_init(struct rkmm_dpu *dpu, enum rkmm_precision precision, u32 pixels, u32 channels)
{
	*dpu = (struct rkmm_dpu){
		.in = precision, .out = precision, .pixels = pixels, .channels = channels,
		.real = channels, .ew_scale = 1, .out_scale = 1,
	};
}

u32 rkmm_dpu_writes(const struct rkmm_dpu *dpu)
{
	return RKMM_DPU_WRITES + (dpu->load ? RKMM_LUT_WRITES : 0);
}

static bool is_float(const struct rkmm_dpu *d)
{
	return d->in == RKMM_PREC_F16;
}

bool rkmm_dpu_two(const struct rkmm_dpu *d)
{
	return d->ew != RKMM_EW_OFF && d->ew != RKMM_EW_LUT;
}

/* Division and the min/max unit work on fp16 as it is (hw 04 §1.1). */
static bool widened(const struct rkmm_dpu *d)
{
	return is_float(d) && !d->minmax && d->ew != RKMM_EW_DIV;
}

/* hw 04 §2.6: lookups reset the group pointers, all others toggle them (§0.5) */
static u32 s_pointer(const struct rkmm_dpu *d)
{
	if (d->ew == RKMM_EW_LUT)
		return FIELD_PREP(S_POINTER_EXECUTER_CLEAR, 1) |
		       FIELD_PREP(S_POINTER_POINTER_CLEAR, 1);
	return FIELD_PREP(S_POINTER_PP_MODE, 1) | FIELD_PREP(S_POINTER_EXECUTER_PP_EN, 1) |
	       FIELD_PREP(S_POINTER_POINTER_PP_EN, 1);
}

static u32 feature_mode(const struct rkmm_dpu *d)
{
	return FIELD_PREP(DPU_FEATURE_MODE_CFG_NONALIGN, d->minmax ? 1 : 0) |
	       FIELD_PREP(DPU_FEATURE_MODE_CFG_SURF_LEN, d->minmax ? d->pixels / 8 : 0) |
	       FIELD_PREP(DPU_FEATURE_MODE_CFG_BURST_LEN, 15) |
	       FIELD_PREP(DPU_FEATURE_MODE_CFG_OUTPUT_MODE, 2) |
	       FIELD_PREP(DPU_FEATURE_MODE_CFG_FLYING_MODE, 1);
}

/* Negative values have a shift of their own, which must be the same (hw 04 §1.1). */
static u32 data_format(const struct rkmm_dpu *d)
{
	return FIELD_PREP(DPU_DATA_FORMAT_OUT_PRECISION, d->out) |
	       FIELD_PREP(DPU_DATA_FORMAT_IN_PRECISION, d->in) |
	       FIELD_PREP(DPU_DATA_FORMAT_BN_SHIFT_NEG, d->bn.shift) |
	       FIELD_PREP(DPU_DATA_FORMAT_BS_SHIFT_NEG, d->bs.shift) |
	       FIELD_PREP(DPU_DATA_FORMAT_PROC_PRECISION, d->in);
}

u32 rkmm_stage_cfg(const struct rkmm_stage *s)
{
	bool alu = s->use & RKMM_STAGE_ALU, mul = s->use & RKMM_STAGE_MUL;
	bool relu = s->use & RKMM_STAGE_RELU;

	return FIELD_PREP(DPU_STAGE_ALGO, alu ? 2 : 0) |
	       FIELD_PREP(DPU_STAGE_ALU_SRC, s->use & RKMM_STAGE_TABLE ? 1 : 0) |
	       FIELD_PREP(DPU_STAGE_RELUX_EN, s->use & RKMM_STAGE_CLAMP ? 1 : 0) |
	       FIELD_PREP(DPU_STAGE_RELU_BYPASS, relu ? 0 : 1) |
	       FIELD_PREP(DPU_STAGE_MUL_PRELU, s->use & RKMM_STAGE_PRELU ? 1 : 0) |
	       FIELD_PREP(DPU_STAGE_MUL_BYPASS, mul ? 0 : 1) |
	       FIELD_PREP(DPU_STAGE_ALU_BYPASS, alu ? 0 : 1) |
	       FIELD_PREP(DPU_STAGE_BYPASS, s->use ? 0 : 1);
}

u32 rkmm_stage_mul(const struct rkmm_stage *s)
{
	return FIELD_PREP(DPU_STAGE_MUL_OPERAND, s->mul) |
	       FIELD_PREP(DPU_STAGE_MUL_SHIFT, s->shift);
}

/* hw 04 §2.2, §2.4, §2.6 */
u32 rkmm_dpu_ew(const struct rkmm_dpu *d)
{
	static const u8 algo[] = {
		[RKMM_EW_ADD] = 2, [RKMM_EW_SUB] = 4, [RKMM_EW_MUL] = 0, [RKMM_EW_MAX] = 0,
		[RKMM_EW_MIN] = 1, [RKMM_EW_DIV] = 3,
	};
	u32 cfg = FIELD_PREP(DPU_EW_CFG_RELU_BYPASS, 1);
	bool raw;

	if (d->ew == RKMM_EW_LUT)
		return cfg | FIELD_PREP(DPU_EW_CFG_CVT_BYPASS, 1) |
		       FIELD_PREP(DPU_EW_CFG_OP_BYPASS, 1);
	cfg |= FIELD_PREP(DPU_EW_CFG_LUT_BYPASS, 1);
	if (d->ew == RKMM_EW_OFF)
		return cfg | FIELD_PREP(DPU_EW_CFG_CVT_BYPASS, 1) |
		       FIELD_PREP(DPU_EW_CFG_OP_BYPASS, 1) | FIELD_PREP(DPU_EW_CFG_BYPASS, 1);
	raw = is_float(d) && (d->ew == RKMM_EW_MUL || d->ew == RKMM_EW_DIV);
	return cfg | FIELD_PREP(DPU_EW_CFG_CVT_TYPE, is_float(d) ? 0 : 1) |
	       FIELD_PREP(DPU_EW_CFG_DATA_MODE, 1) |
	       FIELD_PREP(DPU_EW_CFG_EDATA_SIZE, d->in == RKMM_PREC_I8 ? 1 : 2) |
	       FIELD_PREP(DPU_EW_CFG_ALGO, algo[d->ew]) |
	       FIELD_PREP(DPU_EW_CFG_CVT_BYPASS, raw ? 1 : 0) |
	       FIELD_PREP(DPU_EW_CFG_OP_SRC, 1) |
	       FIELD_PREP(DPU_EW_CFG_OP_TYPE, d->ew == RKMM_EW_MUL ? 1 : 0);
}

/* fp32 of fp16: two surfaces of 16 bytes where one was read (hw 04 §1.4) */
static u32 surfaces(const struct rkmm_dpu *d)
{
	return d->out == RKMM_PREC_F32 ? 2 : 1;
}

static u64 *emit_shape(const struct rkmm_dpu *d, u64 *w)
{
	u32 size_e = surfaces(d) - 1;

	DPU(FEATURE_MODE_CFG, feature_mode(d));
	DPU(DATA_FORMAT, data_format(d));
	DPU(OFFSET_PEND, FIELD_PREP(DPU_OFFSET_PEND_VALUE, d->pend));
	DPU(DST_BASE_ADDR, d->dst);
	DPU(DST_SURF_STRIDE, FIELD_PREP(DPU_DST_SURF_STRIDE_STRIDE, d->dst_pitch / RKMM_ATOM));
	DPU(DATA_CUBE_WIDTH, FIELD_PREP(DPU_DATA_CUBE_WIDTH_WIDTH, d->pixels - 1));
	DPU(DATA_CUBE_HEIGHT, FIELD_PREP(DPU_DATA_CUBE_HEIGHT_MINMAX_CTL, d->minmax ? 7 : 0));
	DPU(DATA_CUBE_NOTCH_ADDR, 0);
	DPU(DATA_CUBE_CHANNEL,
	    FIELD_PREP(DPU_DATA_CUBE_CHANNEL_ORIG_CHANNEL, d->real - 1) |
	    FIELD_PREP(DPU_DATA_CUBE_CHANNEL_CHANNEL, d->channels - 1));
	DPU(BS_CFG, rkmm_stage_cfg(&d->bs));
	DPU(BS_ALU_CFG, d->bs.alu);
	DPU(BS_MUL_CFG, rkmm_stage_mul(&d->bs));
	DPU(BS_RELUX_CMP_VALUE, d->bs.cmp);
	DPU(BS_OW_CFG, FIELD_PREP(DPU_BS_OW_CFG_SIZE_E_2, size_e) |
		       FIELD_PREP(DPU_BS_OW_CFG_SIZE_E_1, size_e) |
		       FIELD_PREP(DPU_BS_OW_CFG_SIZE_E_0, size_e) |
		       FIELD_PREP(DPU_BS_OW_CFG_OD_BYPASS, 1));
	DPU(BS_OW_OP, 0);
	DPU(WDMA_SIZE_0, FIELD_PREP(DPU_WDMA_SIZE_0_CHANNEL, d->channels - 1));
	DPU(WDMA_SIZE_1, FIELD_PREP(DPU_WDMA_SIZE_1_WIDTH, d->pixels - 1));
	DPU(BN_CFG, rkmm_stage_cfg(&d->bn));
	DPU(BN_ALU_CFG, d->bn.alu);
	DPU(BN_MUL_CFG, rkmm_stage_mul(&d->bn));
	DPU(BN_RELUX_CMP_VALUE, d->bn.cmp);
	return w;
}

static u64 *emit_values(const struct rkmm_dpu *d, u64 *w)
{
	bool half = widened(d) && d->out == RKMM_PREC_F16;
	u32 i;

	DPU(EW_CFG, rkmm_dpu_ew(d));
	DPU(EW_CVT_OFFSET_VALUE, (u32)d->ew_offset);
	DPU(EW_CVT_SCALE_VALUE,
	    FIELD_PREP(DPU_EW_CVT_SCALE_VALUE_SHIFT, d->ew_shift) |
	    FIELD_PREP(DPU_EW_CVT_SCALE_VALUE_SCALE, d->ew_scale));
	DPU(EW_RELUX_CMP_VALUE, 0);
	DPU(OUT_CVT_OFFSET, (u32)d->out_offset);
	DPU(OUT_CVT_SCALE, FIELD_PREP(DPU_OUT_CVT_SCALE_FP32TOFP16_EN, half ? 1 : 0) |
			   FIELD_PREP(DPU_OUT_CVT_SCALE_SCALE, d->out_scale));
	DPU(OUT_CVT_SHIFT, FIELD_PREP(DPU_OUT_CVT_SHIFT_CVT_ROUND, d->minmax ? 1 : 0) |
			   FIELD_PREP(DPU_OUT_CVT_SHIFT_MINUS_EXP, d->minus_exp) |
			   FIELD_PREP(DPU_OUT_CVT_SHIFT_SHIFT, d->out_shift));
	for (i = 0; i < 8; i++)
		DPU(EW_OP_VALUE(i), 0);
	DPU(SURFACE_ADD, FIELD_PREP(DPU_SURFACE_ADD_ADD,
				    surfaces(d) * (d->dst_pitch / RKMM_ATOM)));
	DPU(UNNAMED_40C4, 0);
	return w;
}

/* hw 04 §2.5, "apply-side constants" */
u64 *rkmm_lut_access(const struct rkmm_dpu *d, u64 *w)
{
	bool on = d->ew == RKMM_EW_LUT;
	u32 over = on ? rkmm_curve_facts[d->curve].over : 0;

	DPU(LUT_ACCESS_CFG, 0);
	DPU(LUT_ACCESS_DATA, 0);
	DPU(LUT_CFG, on ? FIELD_PREP(DPU_LUT_CFG_HYBRID_PRIO, 1) |
			  FIELD_PREP(DPU_LUT_CFG_OFLOW_PRIO, 1) |
			  FIELD_PREP(DPU_LUT_CFG_LO_LE_MUX, 2) : 0);
	DPU(LUT_INFO, on ? FIELD_PREP(DPU_LUT_INFO_LO_INDEX_SELECT, 5) |
			   FIELD_PREP(DPU_LUT_INFO_LE_INDEX_SELECT, 5) : 0);
	DPU(LUT_LE_START, on ? (u32)-16384 : 0);
	DPU(LUT_LE_END, 0);
	DPU(LUT_LO_START, 0);
	DPU(LUT_LO_END, on ? 16384 : 0);
	DPU(LUT_LE_SLOPE_SCALE, 0);
	DPU(LUT_LE_SLOPE_SHIFT, 0);
	DPU(LUT_LO_SLOPE_SCALE, FIELD_PREP(DPU_LUT_SLOPE_OFLOW, over));
	DPU(LUT_LO_SLOPE_SHIFT, FIELD_PREP(DPU_LUT_SHIFT_OFLOW, over ? RKMM_LUT_OVER_SHIFT : 0));
	return w;
}

/* hw 04 §1.3: per channel and per element, by the size of an element */
static u32 erdma_cfg(const struct rkmm_dpu *d)
{
	if (d->minmax)
		return FIELD_PREP(DPU_RDMA_ERDMA_CFG_OV4K_BYPASS, 1) |
		       FIELD_PREP(DPU_RDMA_ERDMA_CFG_DISABLE, 1);
	if (!rkmm_dpu_two(d))
		return FIELD_PREP(DPU_RDMA_ERDMA_CFG_DISABLE, 1);
	return FIELD_PREP(DPU_RDMA_ERDMA_CFG_DATA_MODE, d->vector ? 0 : 1) |
	       FIELD_PREP(DPU_RDMA_ERDMA_CFG_DATA_SIZE, d->in == RKMM_PREC_I8 ? 1 : 2);
}

static u64 *emit_rdma(const struct rkmm_dpu *d, u64 *w)
{
	bool table = d->bs.use & RKMM_STAGE_TABLE, two = rkmm_dpu_two(d);
	u32 own = d->pixels * RKMM_ATOM;

	RDMA(DATA_CUBE_WIDTH, FIELD_PREP(DPU_RDMA_DATA_CUBE_WIDTH_WIDTH, d->pixels - 1));
	RDMA(DATA_CUBE_HEIGHT, 0);
	RDMA(DATA_CUBE_CHANNEL, FIELD_PREP(DPU_RDMA_DATA_CUBE_CHANNEL_CHANNEL, d->channels - 1));
	RDMA(SRC_BASE_ADDR, d->src);
	/* bit 0 of the use: operands of the ALU */
	RDMA(BRDMA_CFG, FIELD_PREP(DPU_RDMA_BRDMA_CFG_DATA_USE, table ? 1 : 0));
	RDMA(BS_BASE_ADDR, table ? d->table : 0);
	RDMA(NRDMA_CFG, 0);
	RDMA(BN_BASE_ADDR, 0);
	RDMA(ERDMA_CFG, erdma_cfg(d));
	RDMA(EW_BASE_ADDR, two ? d->src2 : 0);
	/* A vector is read in one piece; validated programs leave the stride (hw 04 §2.3). */
	RDMA(EW_SURF_STRIDE, FIELD_PREP(DPU_RDMA_EW_SURF_STRIDE_STRIDE,
					!two ? 0 : d->vector ? d->pixels :
					d->src2_pitch / RKMM_ATOM));
	RDMA(FEATURE_MODE_CFG,
	     FIELD_PREP(DPU_RDMA_FEATURE_MODE_CFG_IN_PRECISION, d->in) |
	     FIELD_PREP(DPU_RDMA_FEATURE_MODE_CFG_BURST_LEN, 15) |
	     FIELD_PREP(DPU_RDMA_FEATURE_MODE_CFG_PROC_PRECISION, d->in) |
	     FIELD_PREP(DPU_RDMA_FEATURE_MODE_CFG_FP16TOFP32_EN, widened(d) ? 1 : 0) |
	     FIELD_PREP(DPU_RDMA_FEATURE_MODE_CFG_FLYING_MODE, 1));
	RDMA(SRC_DMA_CFG, 0);
	RDMA(SURF_NOTCH, FIELD_PREP(DPU_RDMA_SURF_NOTCH_NOTCH, (d->src_pitch - own) / RKMM_ATOM));
	RDMA(PAD_CFG, 0);
	RDMA(WEIGHT, FIELD_PREP(DPU_RDMA_WEIGHT_E, 1) | FIELD_PREP(DPU_RDMA_WEIGHT_N, 1) |
		     FIELD_PREP(DPU_RDMA_WEIGHT_B, 1) | FIELD_PREP(DPU_RDMA_WEIGHT_M, 1));
	RDMA(EW_SURF_NOTCH, 0);
	return w;
}

u64 *rkmm_lut_emit(enum rkmm_curve curve, u64 *w)
{
	u32 table, k;

	for (table = 0; table < 2; table++) {
		DPU(LUT_ACCESS_CFG, FIELD_PREP(DPU_LUT_ACCESS_CFG_WRITE, 1) |
				    FIELD_PREP(DPU_LUT_ACCESS_CFG_TABLE, table));
		/* The captured loader extends the sign to 32 bits. */
		for (k = 0; k < RKMM_LUT_ENTRIES; k++)
			DPU(LUT_ACCESS_DATA,
			    (u32)(s32)rkmm_curve_point(curve, table * (RKMM_LUT_ENTRIES - 1) + k));
	}
	return w;
}

u32 rkmm_dpu_emit(const struct rkmm_dpu *dpu, u64 *words)
{
	u64 *w = words;

	DPU(S_POINTER, s_pointer(dpu));
	RDMA(S_POINTER, s_pointer(dpu));
	w = emit_shape(dpu, w);
	w = emit_values(dpu, w);
	w = rkmm_lut_access(dpu, w);
	w = emit_rdma(dpu, w);
	if (dpu->load)
		w = rkmm_lut_emit(dpu->curve, w);
	return (u32)(w - words);
}
