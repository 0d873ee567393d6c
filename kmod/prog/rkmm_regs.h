/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registers of one RK3588 NPU core and their fields: the names the emitter
 * writes with, and a table of the same names for whoever prints programs.
 *
 * Offsets and bits are written down here only; the table in rkmm_regs.c is
 * built from these macros. Names and fields: hw 01 §1.2, hw 02 §1-3,
 * hw 04 §1.2, §1.3, §5.
 */
#ifndef RKMM_REGS_H
#define RKMM_REGS_H

#include "rkmm_prog.h"

#ifdef __KERNEL__
#include <linux/bitfield.h>
#include <linux/bits.h>
#else
#ifndef GENMASK
#define GENMASK(h, l)	((0xffffffffu >> (31 - (h))) & ~((1u << (l)) - 1))
#endif
static inline u32 rkmm_field_prep(u32 mask, u32 value)
{
	return (value << __builtin_ctz(mask)) & mask;
}

#define FIELD_PREP(mask, value)	rkmm_field_prep(mask, value)
#endif

/* Targets of a program entry, bits 63:48 (hw 02 §1.1) */
#define RKMM_TARGET_PC		0x0101
#define RKMM_TARGET_CNA		0x0201
#define RKMM_TARGET_CORE	0x0801
#define RKMM_TARGET_DPU		0x1001
#define RKMM_TARGET_DPU_RDMA	0x2001
#define RKMM_TARGET_PPU		0x4001
#define RKMM_TARGET_PPU_RDMA	0x8001
#define RKMM_TARGET_FENCE	0x0041	/* must stand before a start entry */
#define RKMM_TARGET_START	0x0081

/* PC */
#define PC_VERSION				0x0000
#define PC_VERSION_NUM				0x0004
#define PC_OP_EN				0x0008
#define PC_OP_EN_ENABLE				GENMASK(0, 0)
#define PC_BASE_ADDRESS				0x0010
#define PC_BASE_ADDRESS_ADDRESS			GENMASK(31, 4)
#define PC_BASE_ADDRESS_SLAVE			GENMASK(0, 0)
#define PC_REGISTER_AMOUNTS			0x0014
#define PC_REGISTER_AMOUNTS_AMOUNT		GENMASK(15, 0)
#define PC_INT_MASK				0x0020
#define PC_INT_CLEAR				0x0024
#define PC_INT_STATUS				0x0028
#define PC_INT_RAW_STATUS			0x002c
#define PC_INT_FEATURE				GENMASK(1, 0)
#define PC_INT_WEIGHT				GENMASK(3, 2)
#define PC_INT_CSC				GENMASK(5, 4)
#define PC_INT_CORE				GENMASK(7, 6)
#define PC_INT_DPU				GENMASK(9, 8)
#define PC_INT_PPU				GENMASK(11, 10)
#define PC_INT_READ_ERROR			GENMASK(12, 12)
#define PC_INT_WRITE_ERROR			GENMASK(13, 13)
#define PC_INT_CLEAR_ALL			GENMASK(16, 0)
#define PC_TASK_CON				0x0030
#define PC_TASK_CON_RESERVED			GENMASK(14, 14)
#define PC_TASK_CON_COUNT_CLEAR			GENMASK(13, 13)
#define PC_TASK_CON_PINGPONG			GENMASK(12, 12)
#define PC_TASK_CON_NUMBER			GENMASK(11, 0)
#define PC_TASK_DMA_BASE			0x0034
#define PC_TASK_DMA_BASE_ADDRESS		GENMASK(31, 4)
#define PC_TASK_STATUS				0x003c
#define PC_TASK_STATUS_DONE			GENMASK(11, 0)

/* S_POINTER of every block has the same fields (hw 04 §0.5) */
#define S_POINTER_EXECUTER			GENMASK(16, 16)
#define S_POINTER_EXECUTER_CLEAR		GENMASK(5, 5)
#define S_POINTER_POINTER_CLEAR			GENMASK(4, 4)
#define S_POINTER_PP_MODE			GENMASK(3, 3)
#define S_POINTER_EXECUTER_PP_EN		GENMASK(2, 2)
#define S_POINTER_POINTER_PP_EN			GENMASK(1, 1)
#define S_POINTER_POINTER			GENMASK(0, 0)
#define S_POINTER_CORE_INDEX			GENMASK(29, 28)
#define S_STATUS_GROUP_1			GENMASK(17, 16)
#define S_STATUS_GROUP_0			GENMASK(1, 0)

/* CNA: feature and weight fetch (hw 02 §3.1) */
#define CNA_S_STATUS				0x1000
#define CNA_S_POINTER				0x1004
#define CNA_OPERATION_ENABLE			0x1008
#define CNA_CONV_CON1				0x100c
#define CNA_CONV_CON1_NONALIGN_DMA		GENMASK(30, 30)
#define CNA_CONV_CON1_GROUP_LINE_OFF		GENMASK(29, 29)
#define CNA_CONV_CON1_DECONV			GENMASK(16, 16)
#define CNA_CONV_CON1_ARGB_IN			GENMASK(15, 12)
#define CNA_CONV_CON1_PROC_PRECISION		GENMASK(9, 7)
#define CNA_CONV_CON1_IN_PRECISION		GENMASK(6, 4)
#define CNA_CONV_CON1_CONV_MODE			GENMASK(3, 0)
#define CNA_CONV_CON2				0x1010
#define CNA_CONV_CON2_KERNEL_GROUP		GENMASK(23, 16)
#define CNA_CONV_CON2_FEATURE_GRAINS		GENMASK(13, 4)
#define CNA_CONV_CON3				0x1014
#define CNA_CONV_CON3_CONV_Y_STRIDE		GENMASK(5, 3)
#define CNA_CONV_CON3_CONV_X_STRIDE		GENMASK(2, 0)
#define CNA_DATA_SIZE0				0x1020
#define CNA_DATA_SIZE0_DATAIN_WIDTH		GENMASK(26, 16)
#define CNA_DATA_SIZE0_DATAIN_HEIGHT		GENMASK(10, 0)
#define CNA_DATA_SIZE1				0x1024
#define CNA_DATA_SIZE1_CHANNEL_REAL		GENMASK(29, 16)
#define CNA_DATA_SIZE1_CHANNEL			GENMASK(15, 0)
#define CNA_DATA_SIZE2				0x1028
#define CNA_DATA_SIZE2_DATAOUT_WIDTH		GENMASK(10, 0)
#define CNA_DATA_SIZE3				0x102c
#define CNA_DATA_SIZE3_DATAOUT_ATOMICS		GENMASK(21, 0)
#define CNA_WEIGHT_SIZE0			0x1030
#define CNA_WEIGHT_SIZE0_BYTES			GENMASK(31, 0)
#define CNA_WEIGHT_SIZE1			0x1034
#define CNA_WEIGHT_SIZE1_BYTES_PER_KERNEL	GENMASK(18, 0)
#define CNA_WEIGHT_SIZE2			0x1038
#define CNA_WEIGHT_SIZE2_WIDTH			GENMASK(28, 24)
#define CNA_WEIGHT_SIZE2_HEIGHT			GENMASK(20, 16)
#define CNA_WEIGHT_SIZE2_KERNELS		GENMASK(13, 0)
#define CNA_CBUF_CON0				0x1040
#define CNA_CBUF_CON0_WEIGHT_REUSE		GENMASK(13, 13)
#define CNA_CBUF_CON0_DATA_REUSE		GENMASK(12, 12)
#define CNA_CBUF_CON0_FC_DATA_BANK		GENMASK(10, 8)
#define CNA_CBUF_CON0_WEIGHT_BANK		GENMASK(7, 4)
#define CNA_CBUF_CON0_DATA_BANK			GENMASK(3, 0)
#define CNA_CBUF_CON1				0x1044
#define CNA_CBUF_CON1_DATA_ENTRIES		GENMASK(13, 0)
#define CNA_CVT_CON0				0x104c
#define CNA_CVT_CON0_DATA_SIGN			GENMASK(3, 3)
#define CNA_CVT_CON0_CVT_TYPE			GENMASK(1, 1)
#define CNA_CVT_CON0_CVT_BYPASS			GENMASK(0, 0)
#define CNA_CVT_CON1				0x1050
#define CNA_CVT_CON2				0x1054
#define CNA_CVT_CON3				0x1058
#define CNA_CVT_CON4				0x105c
#define CNA_CVT_SCALE				GENMASK(31, 16)
#define CNA_CVT_OFFSET				GENMASK(15, 0)
#define CNA_FC_CON0				0x1060
#define CNA_FC_CON1				0x1064
#define CNA_PAD_CON0				0x1068
#define CNA_PAD_CON0_PAD_LEFT			GENMASK(7, 4)
#define CNA_PAD_CON0_PAD_TOP			GENMASK(3, 0)
#define CNA_FEATURE_DATA_ADDR			0x1070
#define CNA_FC_CON2				0x1074
#define CNA_DMA_CON0				0x1078
#define CNA_DMA_CON0_OV4K_BYPASS		GENMASK(31, 31)
#define CNA_DMA_CON0_WEIGHT_BURST		GENMASK(19, 16)
#define CNA_DMA_CON0_DATA_BURST			GENMASK(3, 0)
#define CNA_DMA_CON1				0x107c
#define CNA_DMA_CON1_LINE_STRIDE		GENMASK(27, 0)
#define CNA_DMA_CON2				0x1080
#define CNA_DMA_CON2_SURF_STRIDE		GENMASK(27, 0)
#define CNA_FC_DATA_SIZE0			0x1084
#define CNA_FC_DATA_SIZE0_DMA_WIDTH		GENMASK(29, 16)
#define CNA_FC_DATA_SIZE0_DMA_HEIGHT		GENMASK(10, 0)
#define CNA_FC_DATA_SIZE1			0x1088
#define CNA_FC_DATA_SIZE1_DMA_CHANNEL		GENMASK(15, 0)
#define CNA_DCOMP_CTRL				0x1100
#define CNA_DCOMP_REGNUM			0x1104
#define CNA_DCOMP_ADDR0				0x1110
#define CNA_DCOMP_AMOUNT0			0x1140
#define CNA_DCOMP_AMOUNT(i)			(CNA_DCOMP_AMOUNT0 + 4 * (i))	/* 0..15 */
#define CNA_CVT_CON5				0x1180
#define CNA_PAD_CON1				0x1184

/* CORE: multiply and accumulate (hw 02 §3.2) */
#define CORE_S_STATUS				0x3000
#define CORE_S_POINTER				0x3004
#define CORE_OPERATION_ENABLE			0x3008
#define CORE_MISC_CFG				0x3010
#define CORE_MISC_CFG_PROC_PRECISION		GENMASK(10, 8)
#define CORE_MISC_CFG_DW_EN			GENMASK(1, 1)
#define CORE_MISC_CFG_QD_EN			GENMASK(0, 0)
#define CORE_DATAOUT_SIZE_0			0x3014
#define CORE_DATAOUT_SIZE_0_HEIGHT		GENMASK(31, 16)
#define CORE_DATAOUT_SIZE_0_WIDTH		GENMASK(15, 0)
#define CORE_DATAOUT_SIZE_1			0x3018
#define CORE_DATAOUT_SIZE_1_CHANNEL		GENMASK(15, 0)
#define CORE_CLIP_TRUNCATE			0x301c
#define CORE_CLIP_TRUNCATE_ROUND_TYPE		GENMASK(6, 6)
#define CORE_CLIP_TRUNCATE_SHIFT		GENMASK(4, 0)
#define CORE_UNNAMED_3030			0x3030

/* DPU: output stages and write-back (hw 02 §3.3, hw 04 §1.2) */
#define DPU_S_STATUS				0x4000
#define DPU_S_POINTER				0x4004
#define DPU_OPERATION_ENABLE			0x4008
#define DPU_FEATURE_MODE_CFG			0x400c
#define DPU_FEATURE_MODE_CFG_COMB_USE		GENMASK(31, 31)
#define DPU_FEATURE_MODE_CFG_TP_EN		GENMASK(30, 30)
#define DPU_FEATURE_MODE_CFG_RGP_TYPE		GENMASK(29, 26)
#define DPU_FEATURE_MODE_CFG_NONALIGN		GENMASK(25, 25)
#define DPU_FEATURE_MODE_CFG_SURF_LEN		GENMASK(24, 9)
#define DPU_FEATURE_MODE_CFG_BURST_LEN		GENMASK(8, 5)
#define DPU_FEATURE_MODE_CFG_CONV_MODE		GENMASK(4, 3)
#define DPU_FEATURE_MODE_CFG_OUTPUT_MODE	GENMASK(2, 1)
#define DPU_FEATURE_MODE_CFG_FLYING_MODE	GENMASK(0, 0)
#define DPU_DATA_FORMAT				0x4010
#define DPU_DATA_FORMAT_OUT_PRECISION		GENMASK(31, 29)
#define DPU_DATA_FORMAT_IN_PRECISION		GENMASK(28, 26)
#define DPU_DATA_FORMAT_EW_TRUNC_NEG		GENMASK(25, 16)
#define DPU_DATA_FORMAT_BN_SHIFT_NEG		GENMASK(15, 10)
#define DPU_DATA_FORMAT_BS_SHIFT_NEG		GENMASK(9, 4)
#define DPU_DATA_FORMAT_MC_SURF_OUT		GENMASK(3, 3)
#define DPU_DATA_FORMAT_PROC_PRECISION		GENMASK(2, 0)
#define DPU_OFFSET_PEND				0x4014
#define DPU_OFFSET_PEND_VALUE			GENMASK(15, 0)
#define DPU_DST_BASE_ADDR			0x4020
#define DPU_DST_SURF_STRIDE			0x4024
#define DPU_DST_SURF_STRIDE_STRIDE		GENMASK(31, 4)	/* in atoms of 16 bytes */
#define DPU_DATA_CUBE_WIDTH			0x4030
#define DPU_DATA_CUBE_WIDTH_WIDTH		GENMASK(12, 0)
#define DPU_DATA_CUBE_HEIGHT			0x4034
#define DPU_DATA_CUBE_HEIGHT_MINMAX_CTL		GENMASK(24, 22)
#define DPU_DATA_CUBE_HEIGHT_HEIGHT		GENMASK(12, 0)
#define DPU_DATA_CUBE_NOTCH_ADDR		0x4038
#define DPU_DATA_CUBE_NOTCH_ADDR_NOTCH_1	GENMASK(28, 16)
#define DPU_DATA_CUBE_NOTCH_ADDR_NOTCH_0	GENMASK(12, 0)
#define DPU_DATA_CUBE_CHANNEL			0x403c
#define DPU_DATA_CUBE_CHANNEL_ORIG_CHANNEL	GENMASK(28, 16)
#define DPU_DATA_CUBE_CHANNEL_CHANNEL		GENMASK(12, 0)
#define DPU_BS_CFG				0x4040
#define DPU_BS_ALU_CFG				0x4044
#define DPU_BS_MUL_CFG				0x4048
#define DPU_BS_RELUX_CMP_VALUE			0x404c
#define DPU_BN_CFG				0x4060
#define DPU_BN_ALU_CFG				0x4064
#define DPU_BN_MUL_CFG				0x4068
#define DPU_BN_RELUX_CMP_VALUE			0x406c
/* The BS and BN stages have the same fields. */
#define DPU_STAGE_ALGO				GENMASK(19, 16)
#define DPU_STAGE_ALU_SRC			GENMASK(8, 8)
#define DPU_STAGE_RELUX_EN			GENMASK(7, 7)
#define DPU_STAGE_RELU_BYPASS			GENMASK(6, 6)
#define DPU_STAGE_MUL_PRELU			GENMASK(5, 5)
#define DPU_STAGE_MUL_BYPASS			GENMASK(4, 4)
#define DPU_STAGE_ALU_BYPASS			GENMASK(1, 1)
#define DPU_STAGE_BYPASS			GENMASK(0, 0)
#define DPU_STAGE_MUL_OPERAND			GENMASK(31, 16)
#define DPU_STAGE_MUL_SHIFT			GENMASK(13, 8)
#define DPU_STAGE_MUL_SHIFT_SRC			GENMASK(1, 1)
#define DPU_STAGE_MUL_SRC			GENMASK(0, 0)
#define DPU_BS_OW_CFG				0x4050
#define DPU_BS_OW_CFG_RGP_CNTER			GENMASK(31, 28)
#define DPU_BS_OW_CFG_TP_ORG_EN			GENMASK(27, 27)
#define DPU_BS_OW_CFG_SIZE_E_2			GENMASK(10, 8)
#define DPU_BS_OW_CFG_SIZE_E_1			GENMASK(7, 5)
#define DPU_BS_OW_CFG_SIZE_E_0			GENMASK(4, 2)
#define DPU_BS_OW_CFG_OD_BYPASS			GENMASK(1, 1)
#define DPU_BS_OW_CFG_OW_SRC			GENMASK(0, 0)
#define DPU_BS_OW_OP				0x4054
#define DPU_BS_OW_OP_OPERAND			GENMASK(15, 0)
#define DPU_WDMA_SIZE_0				0x4058
#define DPU_WDMA_SIZE_0_TP_PRECISION		GENMASK(27, 27)
#define DPU_WDMA_SIZE_0_SIZE_C			GENMASK(26, 16)
#define DPU_WDMA_SIZE_0_CHANNEL			GENMASK(12, 0)
#define DPU_WDMA_SIZE_1				0x405c
#define DPU_WDMA_SIZE_1_HEIGHT			GENMASK(28, 16)
#define DPU_WDMA_SIZE_1_WIDTH			GENMASK(12, 0)
#define DPU_EW_CFG				0x4070
#define DPU_EW_CFG_CVT_TYPE			GENMASK(31, 31)
#define DPU_EW_CFG_CVT_ROUND			GENMASK(30, 30)
#define DPU_EW_CFG_DATA_MODE			GENMASK(29, 28)
#define DPU_EW_CFG_EDATA_SIZE			GENMASK(23, 22)
#define DPU_EW_CFG_EQUAL			GENMASK(21, 21)
#define DPU_EW_CFG_BINARY			GENMASK(20, 20)
#define DPU_EW_CFG_ALGO				GENMASK(19, 16)
#define DPU_EW_CFG_RELUX_EN			GENMASK(10, 10)
#define DPU_EW_CFG_RELU_BYPASS			GENMASK(9, 9)
#define DPU_EW_CFG_CVT_BYPASS			GENMASK(8, 8)
#define DPU_EW_CFG_LUT_BYPASS			GENMASK(7, 7)
#define DPU_EW_CFG_OP_SRC			GENMASK(6, 6)
#define DPU_EW_CFG_MUL_PRELU			GENMASK(5, 5)
#define DPU_EW_CFG_OP_TYPE			GENMASK(2, 2)
#define DPU_EW_CFG_OP_BYPASS			GENMASK(1, 1)
#define DPU_EW_CFG_BYPASS			GENMASK(0, 0)
#define DPU_EW_CVT_OFFSET_VALUE			0x4074
#define DPU_EW_CVT_OFFSET_VALUE_OFFSET		GENMASK(31, 0)
#define DPU_EW_CVT_SCALE_VALUE			0x4078
#define DPU_EW_CVT_SCALE_VALUE_TRUNCATE		GENMASK(31, 22)
#define DPU_EW_CVT_SCALE_VALUE_SHIFT		GENMASK(21, 16)
#define DPU_EW_CVT_SCALE_VALUE_SCALE		GENMASK(15, 0)
#define DPU_EW_RELUX_CMP_VALUE			0x407c
#define DPU_OUT_CVT_OFFSET			0x4080
#define DPU_OUT_CVT_OFFSET_OFFSET		GENMASK(31, 0)
#define DPU_OUT_CVT_SCALE			0x4084
#define DPU_OUT_CVT_SCALE_FP32TOFP16_EN		GENMASK(16, 16)
#define DPU_OUT_CVT_SCALE_SCALE			GENMASK(15, 0)
#define DPU_OUT_CVT_SHIFT			0x4088
#define DPU_OUT_CVT_SHIFT_CVT_TYPE		GENMASK(31, 31)
#define DPU_OUT_CVT_SHIFT_CVT_ROUND		GENMASK(30, 30)
#define DPU_OUT_CVT_SHIFT_MINUS_EXP		GENMASK(19, 12)
#define DPU_OUT_CVT_SHIFT_SHIFT			GENMASK(11, 0)
#define DPU_EW_OP_VALUE_0			0x4090
#define DPU_EW_OP_VALUE(i)			(DPU_EW_OP_VALUE_0 + 4 * (i))	/* 0..7 */
#define DPU_SURFACE_ADD				0x40c0
#define DPU_SURFACE_ADD_ADD			GENMASK(31, 4)	/* in atoms of 16 bytes */
#define DPU_UNNAMED_40C4			0x40c4
#define DPU_LUT_ACCESS_CFG			0x4100
#define DPU_LUT_ACCESS_CFG_WRITE		GENMASK(17, 17)
#define DPU_LUT_ACCESS_CFG_TABLE		GENMASK(16, 16)
#define DPU_LUT_ACCESS_CFG_ADDRESS		GENMASK(9, 0)
#define DPU_LUT_ACCESS_DATA			0x4104
#define DPU_LUT_ACCESS_DATA_DATA		GENMASK(15, 0)
#define DPU_LUT_CFG				0x4108
#define DPU_LUT_CFG_CAL_SEL			GENMASK(7, 7)
#define DPU_LUT_CFG_HYBRID_PRIO			GENMASK(6, 6)
#define DPU_LUT_CFG_OFLOW_PRIO			GENMASK(5, 5)
#define DPU_LUT_CFG_UFLOW_PRIO			GENMASK(4, 4)
#define DPU_LUT_CFG_LO_LE_MUX			GENMASK(3, 2)
#define DPU_LUT_CFG_EXPAND			GENMASK(1, 1)
#define DPU_LUT_CFG_ROAD_SEL			GENMASK(0, 0)
#define DPU_LUT_INFO				0x410c
#define DPU_LUT_INFO_LO_INDEX_SELECT		GENMASK(23, 16)
#define DPU_LUT_INFO_LE_INDEX_SELECT		GENMASK(15, 8)
#define DPU_LUT_LE_START			0x4110
#define DPU_LUT_LE_END				0x4114
#define DPU_LUT_LO_START			0x4118
#define DPU_LUT_LO_END				0x411c
#define DPU_LUT_LE_SLOPE_SCALE			0x4120
#define DPU_LUT_LE_SLOPE_SHIFT			0x4124
#define DPU_LUT_LO_SLOPE_SCALE			0x4128
#define DPU_LUT_LO_SLOPE_SHIFT			0x412c
#define DPU_LUT_SLOPE_OFLOW			GENMASK(31, 16)
#define DPU_LUT_SLOPE_UFLOW			GENMASK(15, 0)
#define DPU_LUT_SHIFT_OFLOW			GENMASK(9, 5)
#define DPU_LUT_SHIFT_UFLOW			GENMASK(4, 0)

/* DPU_RDMA: memory inputs of the DPU (hw 04 §1.3) */
#define DPU_RDMA_S_STATUS			0x5000
#define DPU_RDMA_S_POINTER			0x5004
#define DPU_RDMA_OPERATION_ENABLE		0x5008
#define DPU_RDMA_DATA_CUBE_WIDTH		0x500c
#define DPU_RDMA_DATA_CUBE_WIDTH_WIDTH		GENMASK(12, 0)
#define DPU_RDMA_DATA_CUBE_HEIGHT		0x5010
#define DPU_RDMA_DATA_CUBE_HEIGHT_EW_LINE_NOTCH	GENMASK(28, 16)
#define DPU_RDMA_DATA_CUBE_HEIGHT_HEIGHT	GENMASK(12, 0)
#define DPU_RDMA_DATA_CUBE_CHANNEL		0x5014
#define DPU_RDMA_DATA_CUBE_CHANNEL_CHANNEL	GENMASK(12, 0)
#define DPU_RDMA_SRC_BASE_ADDR			0x5018
#define DPU_RDMA_BRDMA_CFG			0x501c
#define DPU_RDMA_BRDMA_CFG_DATA_USE		GENMASK(4, 1)
#define DPU_RDMA_BS_BASE_ADDR			0x5020
#define DPU_RDMA_NRDMA_CFG			0x5028
#define DPU_RDMA_NRDMA_CFG_DATA_USE		GENMASK(4, 1)
#define DPU_RDMA_BN_BASE_ADDR			0x502c
#define DPU_RDMA_ERDMA_CFG			0x5034
#define DPU_RDMA_ERDMA_CFG_DATA_MODE		GENMASK(31, 30)
#define DPU_RDMA_ERDMA_CFG_SURF_MODE		GENMASK(29, 29)
#define DPU_RDMA_ERDMA_CFG_NONALIGN		GENMASK(28, 28)
#define DPU_RDMA_ERDMA_CFG_DATA_SIZE		GENMASK(3, 2)
#define DPU_RDMA_ERDMA_CFG_OV4K_BYPASS		GENMASK(1, 1)
#define DPU_RDMA_ERDMA_CFG_DISABLE		GENMASK(0, 0)
#define DPU_RDMA_EW_BASE_ADDR			0x5038
#define DPU_RDMA_EW_SURF_STRIDE			0x5040
#define DPU_RDMA_EW_SURF_STRIDE_STRIDE		GENMASK(31, 4)
#define DPU_RDMA_FEATURE_MODE_CFG		0x5044
#define DPU_RDMA_FEATURE_MODE_CFG_IN_PRECISION	GENMASK(17, 15)
#define DPU_RDMA_FEATURE_MODE_CFG_BURST_LEN	GENMASK(14, 11)
#define DPU_RDMA_FEATURE_MODE_CFG_COMB_USE	GENMASK(10, 8)
#define DPU_RDMA_FEATURE_MODE_CFG_PROC_PRECISION	GENMASK(7, 5)
#define DPU_RDMA_FEATURE_MODE_CFG_MRDMA_DISABLE	GENMASK(4, 4)
#define DPU_RDMA_FEATURE_MODE_CFG_FP16TOFP32_EN	GENMASK(3, 3)
#define DPU_RDMA_FEATURE_MODE_CFG_CONV_MODE	GENMASK(2, 1)
#define DPU_RDMA_FEATURE_MODE_CFG_FLYING_MODE	GENMASK(0, 0)
#define DPU_RDMA_SRC_DMA_CFG			0x5048
#define DPU_RDMA_SRC_DMA_CFG_LINE_NOTCH		GENMASK(31, 19)
#define DPU_RDMA_SRC_DMA_CFG_POOLING_METHOD	GENMASK(13, 13)
#define DPU_RDMA_SRC_DMA_CFG_UNPOOLING_EN	GENMASK(12, 12)
#define DPU_RDMA_SRC_DMA_CFG_KERNEL		GENMASK(11, 0)
#define DPU_RDMA_SURF_NOTCH			0x504c
#define DPU_RDMA_SURF_NOTCH_NOTCH		GENMASK(31, 4)
#define DPU_RDMA_PAD_CFG			0x5064
#define DPU_RDMA_WEIGHT				0x5068
/* arbiter weights of the four readers (hw 04 §1.3) */
#define DPU_RDMA_WEIGHT_E			GENMASK(31, 24)
#define DPU_RDMA_WEIGHT_N			GENMASK(23, 16)
#define DPU_RDMA_WEIGHT_B			GENMASK(15, 8)
#define DPU_RDMA_WEIGHT_M			GENMASK(7, 0)
#define DPU_RDMA_EW_SURF_NOTCH			0x506c
#define DPU_RDMA_EW_SURF_NOTCH_NOTCH		GENMASK(31, 4)

/* PPU: pooling (hw 04 §5) */
#define PPU_S_STATUS				0x6000
#define PPU_S_POINTER				0x6004
#define PPU_OPERATION_ENABLE			0x6008
#define PPU_DATA_CUBE_IN_WIDTH			0x600c
#define PPU_DATA_CUBE_IN_HEIGHT			0x6010
#define PPU_DATA_CUBE_IN_CHANNEL		0x6014
#define PPU_DATA_CUBE_OUT_WIDTH			0x6018
#define PPU_DATA_CUBE_OUT_HEIGHT		0x601c
#define PPU_DATA_CUBE_OUT_CHANNEL		0x6020
#define PPU_CUBE_SIZE				GENMASK(12, 0)
#define PPU_OPERATION_MODE_CFG			0x6024
#define PPU_OPERATION_MODE_CFG_INDEX_EN		GENMASK(30, 30)
#define PPU_OPERATION_MODE_CFG_NOTCH		GENMASK(28, 16)
#define PPU_OPERATION_MODE_CFG_FLYING_MODE	GENMASK(4, 4)
#define PPU_OPERATION_MODE_CFG_METHOD		GENMASK(1, 0)
#define PPU_POOLING_KERNEL_CFG			0x6034
#define PPU_POOLING_KERNEL_CFG_STRIDE_HEIGHT	GENMASK(23, 20)
#define PPU_POOLING_KERNEL_CFG_STRIDE_WIDTH	GENMASK(19, 16)
#define PPU_POOLING_KERNEL_CFG_KERNEL_HEIGHT	GENMASK(11, 8)
#define PPU_POOLING_KERNEL_CFG_KERNEL_WIDTH	GENMASK(3, 0)
#define PPU_RECIP_KERNEL_WIDTH			0x6038
#define PPU_RECIP_KERNEL			GENMASK(16, 0)
#define PPU_RECIP_KERNEL_HEIGHT			0x603c
#define PPU_POOLING_PADDING_CFG			0x6040
#define PPU_PADDING_VALUE_1_CFG			0x6044
#define PPU_PADDING_VALUE_2_CFG			0x6048
#define PPU_DST_BASE_ADDR			0x6070
#define PPU_DST_SURF_STRIDE			0x607c
#define PPU_DST_SURF_STRIDE_STRIDE		GENMASK(31, 4)
#define PPU_DATA_FORMAT				0x6084
#define PPU_DATA_FORMAT_INDEX_ADD		GENMASK(31, 4)
#define PPU_DATA_FORMAT_FLYING			GENMASK(3, 3)
#define PPU_DATA_FORMAT_PROC_PRECISION		GENMASK(2, 0)
#define PPU_MISC_CTRL				0x60dc
#define PPU_MISC_CTRL_BURST_LEN			GENMASK(3, 0)

/* PPU_RDMA (hw 04 §5) */
#define PPU_RDMA_S_STATUS			0x7000
#define PPU_RDMA_S_POINTER			0x7004
#define PPU_RDMA_OPERATION_ENABLE		0x7008
#define PPU_RDMA_CUBE_IN_WIDTH			0x700c
#define PPU_RDMA_CUBE_IN_HEIGHT			0x7010
#define PPU_RDMA_CUBE_IN_CHANNEL		0x7014
#define PPU_RDMA_SRC_BASE_ADDR			0x701c
#define PPU_RDMA_SRC_LINE_STRIDE		0x7024
#define PPU_RDMA_SRC_STRIDE			GENMASK(31, 4)	/* in atoms of 16 bytes */
#define PPU_RDMA_SRC_SURF_STRIDE		0x7028
#define PPU_RDMA_DATA_FORMAT			0x7030
#define PPU_RDMA_DATA_FORMAT_SIZE		GENMASK(1, 0)
#define PPU_RDMA_OPERATION_EN			0x7038

/* Precision codes (hw 02 §3.6) */
enum rkmm_precision {
	RKMM_PREC_I8,
	RKMM_PREC_I16,
	RKMM_PREC_F16,
	RKMM_PREC_BF16,
	RKMM_PREC_I32,
	RKMM_PREC_F32,
	RKMM_PREC_I4,
	RKMM_PREC_TF32,
};

/**
 * enum rkmm_field_type - how a field is printed
 * @RKMM_FIELD_UNSIGNED: a number
 * @RKMM_FIELD_SIGNED: two's complement in the width of the field
 * @RKMM_FIELD_PRECISION: enum rkmm_precision
 * @RKMM_FIELD_ADDRESS: device address (shifted to its place)
 */
enum rkmm_field_type {
	RKMM_FIELD_UNSIGNED,
	RKMM_FIELD_SIGNED,
	RKMM_FIELD_PRECISION,
	RKMM_FIELD_ADDRESS,
};

/**
 * struct rkmm_field - a named bit field
 * @name: name without the register's
 * @mask: its bits
 * @type: how to print it
 */
struct rkmm_field {
	const char *name;
	u32 mask;
	enum rkmm_field_type type;
};

/**
 * struct rkmm_reg - a named register
 * @target: bits 63:48 of an entry that writes it
 * @offset: offset in the core's window
 * @name: name with the block's
 * @fields: named fields, highest first, ended by one without a name
 */
struct rkmm_reg {
	u16 target;
	u16 offset;
	const char *name;
	const struct rkmm_field *fields;
};

/**
 * rkmm_reg_find() - register of an offset
 * @offset: offset in the core's window
 *
 * Return: the register, NULL when no document names it.
 */
const struct rkmm_reg *rkmm_reg_find(u32 offset);

/** rkmm_reg_at() - register number @i in order of offsets, NULL at the end */
const struct rkmm_reg *rkmm_reg_at(u32 i);

/** rkmm_field_hi() - highest bit of @field */
u32 rkmm_field_hi(const struct rkmm_field *field);

/** rkmm_field_lo() - lowest bit of @field */
u32 rkmm_field_lo(const struct rkmm_field *field);

/** rkmm_field_get() - value of @field in a register's @value; sign-extended, or an address */
s64 rkmm_field_get(const struct rkmm_field *field, u32 value);

/** rkmm_target_name() - name of an entry's target, NULL when unknown */
const char *rkmm_target_name(u32 target);

/** rkmm_precision_name() - "int8" and so on, for codes 0..7 */
const char *rkmm_precision_name(u32 code);

/** rkmm_entry() - one program entry (hw 02 §1.1) */
static inline u64 rkmm_entry(u16 target, u16 offset, u32 value)
{
	return (u64)target << 48 | (u64)value << 16 | offset;
}

static inline u16 rkmm_entry_target(u64 entry)
{
	return entry >> 48;
}

static inline u32 rkmm_entry_value(u64 entry)
{
	return (u32)(entry >> 16);
}

static inline u16 rkmm_entry_offset(u64 entry)
{
	return entry & 0xffff;
}

#endif
