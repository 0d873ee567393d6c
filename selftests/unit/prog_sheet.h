/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The program of hw 02 §2 as it stands there: block, offset, and the value of
 * each column, with the sheet's letters. A is the feature, B the weight, C the
 * output address; L = 4H; s the output pitch in elements.
 */
#ifndef PROG_SHEET_H
#define PROG_SHEET_H

#include <stdint.h>

struct sheet_vars {
	uint32_t M, K, N, L, G, V, s, A, B, C;
};

enum sheet_column {
	SHEET_F16F32,
	SHEET_F16F16,
	SHEET_I8I32,
	SHEET_I4_ROW,
	SHEET_I4_BATCH,
	SHEET_COLUMNS
};

struct sheet_entry {
	uint16_t block, offset;
	const char *name;
	uint32_t value[SHEET_COLUMNS];
};

#define SHEET_WRITES 108

static inline void sheet_program(const struct sheet_vars *v, struct sheet_entry *e)
{
	const uint32_t M = v->M, K = v->K, N = v->N, L = v->L, G = v->G, V = v->V, s = v->s;
	const uint32_t A = v->A, B = v->B, C = v->C;
	const struct sheet_entry sheet[SHEET_WRITES] = {
		{ 0x0201, 0x1040, "CNA_CBUF_CON0", { V, V, V, 0xb1, V } },
		{ 0x0201, 0x1104, "CNA_DCOMP_REGNUM", { 0, 0, 0, 0, 0 } },
		{ 0x0201, 0x1100, "CNA_DCOMP_CTRL", { 0, 0, 0, 0, 0 } },
		{ 0x0201, 0x100c, "CNA_CONV_CON1", {
			0x20000120,
			0x20000120,
			0x20000000,
			0x360,
			0x360,
		} },
		{ 0x1001, 0x4004, "DPU_S_POINTER", { 0xe, 0xe, 0xe, 0xe, 0xe } },
		{ 0x0201, 0x100c, "CNA_CONV_CON1", {
			0x20000120,
			0x20000120,
			0x20000000,
			0x360,
			0x360,
		} },
		{ 0x0201, 0x1010, "CNA_CONV_CON2", {
			16 * G,
			16 * G,
			16 * G,
			0x20,
			16 * (L + 1),
		} },
		{ 0x0201, 0x1014, "CNA_CONV_CON3", { 0x9, 0x9, 0x9, 0x9, 0x9 } },
		{ 0x0201, 0x1020, "CNA_DATA_SIZE0", {
			0x10000 | M,
			0x10000 | M,
			0x10000 | M,
			0x10001,
			0x10000 | L,
		} },
		{ 0x0201, 0x1024, "CNA_DATA_SIZE1", {
			(K - 1) << 16 | K,
			(K - 1) << 16 | K,
			(K - 1) << 16 | K,
			(K - 1) << 16 | K,
			(K - 1) << 16 | K,
		} },
		{ 0x0201, 0x1028, "CNA_DATA_SIZE2", { 0x1, 0x1, 0x1, 0x1, 0x1 } },
		{ 0x0201, 0x102c, "CNA_DATA_SIZE3", { M, M, M, 1, L } },
		{ 0x0201, 0x1030, "CNA_WEIGHT_SIZE0", {
			2 * K * N,
			2 * K * N,
			K * N,
			K * N / 2,
			K * N / 2,
		} },
		{ 0x0201, 0x1034, "CNA_WEIGHT_SIZE1", { 2 * K, 2 * K, K, K / 2, K / 2 } },
		{ 0x0201, 0x1038, "CNA_WEIGHT_SIZE2", {
			0x1010000 | N,
			0x1010000 | N,
			0x1010000 | N,
			0x1010000 | N,
			0x1010000 | N,
		} },
		{ 0x0201, 0x1040, "CNA_CBUF_CON0", { V, V, V, 0xb1, V } },
		{ 0x0201, 0x1044, "CNA_CBUF_CON1", {
			K / 32,
			K / 32,
			(K + 63) / 64,
			(K + 127) / 128,
			(K + 127) / 128,
		} },
		{ 0x0201, 0x104c, "CNA_CVT_CON0", { 0xb, 0xb, 0xb, 0xb, 0xb } },
		{ 0x0201, 0x1050, "CNA_CVT_CON1", {
			0x10000,
			0x10000,
			0x10000,
			0x10000,
			0x10000,
		} },
		{ 0x0201, 0x1054, "CNA_CVT_CON2", {
			0x10000,
			0x10000,
			0x10000,
			0x10000,
			0x10000,
		} },
		{ 0x0201, 0x1058, "CNA_CVT_CON3", {
			0x10000,
			0x10000,
			0x10000,
			0x10000,
			0x10000,
		} },
		{ 0x0201, 0x105c, "CNA_CVT_CON4", {
			0x10000,
			0x10000,
			0x10000,
			0x10000,
			0x10000,
		} },
		{ 0x0201, 0x1060, "CNA_FC_CON0", { 0, 0, 0, 0, 0 } },
		{ 0x0201, 0x1064, "CNA_FC_CON1", { 0, 0, 0, 0, 0 } },
		{ 0x0201, 0x1068, "CNA_PAD_CON0", { 0, 0, 0, 0, 0 } },
		{ 0x0201, 0x1070, "CNA_FEATURE_DATA_ADDR", { A, A, A, A, A } },
		{ 0x0201, 0x1074, "CNA_FC_CON2", { 0, 0, 0, 0, 0 } },
		{ 0x0201, 0x1078, "CNA_DMA_CON0", {
			0xf000f,
			0xf000f,
			0xf000f,
			0xf000f,
			0xf000f,
		} },
		{ 0x0201, 0x107c, "CNA_DMA_CON1", { K / 8, K / 8, K / 16, 4, K / 16 } },
		{ 0x0201, 0x1080, "CNA_DMA_CON2", { 0, 0, 0, 0x0ffffffd, 0x0ffffffd } },
		{ 0x0201, 0x1084, "CNA_FC_DATA_SIZE0", {
			0x10000 | M,
			0x10000 | M,
			0x10000 | M,
			0x10001,
			0x10000 | L,
		} },
		{ 0x0201, 0x1088, "CNA_FC_DATA_SIZE1", { K, K, K, K, K } },
		{ 0x0201, 0x1100, "CNA_DCOMP_CTRL", { 0, 0, 0, 0, 0 } },
		{ 0x0201, 0x1104, "CNA_DCOMP_REGNUM", { 0, 0, 0, 0, 0 } },
		{ 0x0201, 0x1110, "CNA_DCOMP_ADDR0", { B, B, B, B, B } },
		{ 0x0201, 0x1140, "CNA_DCOMP_AMOUNT0", { 0, 0, 0, 0, 0 } },
		{ 0x0201, 0x1144, "CNA_DCOMP_AMOUNT1", { 0, 0, 0, 0, 0 } },
		{ 0x0201, 0x1148, "CNA_DCOMP_AMOUNT2", { 0, 0, 0, 0, 0 } },
		{ 0x0201, 0x114c, "CNA_DCOMP_AMOUNT3", { 0, 0, 0, 0, 0 } },
		{ 0x0201, 0x1150, "CNA_DCOMP_AMOUNT4", { 0, 0, 0, 0, 0 } },
		{ 0x0201, 0x1154, "CNA_DCOMP_AMOUNT5", { 0, 0, 0, 0, 0 } },
		{ 0x0201, 0x1158, "CNA_DCOMP_AMOUNT6", { 0, 0, 0, 0, 0 } },
		{ 0x0201, 0x115c, "CNA_DCOMP_AMOUNT7", { 0, 0, 0, 0, 0 } },
		{ 0x0201, 0x1160, "CNA_DCOMP_AMOUNT8", { 0, 0, 0, 0, 0 } },
		{ 0x0201, 0x1164, "CNA_DCOMP_AMOUNT9", { 0, 0, 0, 0, 0 } },
		{ 0x0201, 0x1168, "CNA_DCOMP_AMOUNT10", { 0, 0, 0, 0, 0 } },
		{ 0x0201, 0x116c, "CNA_DCOMP_AMOUNT11", { 0, 0, 0, 0, 0 } },
		{ 0x0201, 0x1170, "CNA_DCOMP_AMOUNT12", { 0, 0, 0, 0, 0 } },
		{ 0x0201, 0x1174, "CNA_DCOMP_AMOUNT13", { 0, 0, 0, 0, 0 } },
		{ 0x0201, 0x1178, "CNA_DCOMP_AMOUNT14", { 0, 0, 0, 0, 0 } },
		{ 0x0201, 0x117c, "CNA_DCOMP_AMOUNT15", { 0, 0, 0, 0, 0 } },
		{ 0x0201, 0x1180, "CNA_CVT_CON5", { 0, 0, 0, 0, 0 } },
		{ 0x0201, 0x1184, "CNA_PAD_CON1", { 0, 0, 0, 0, 0 } },
		{ 0x0801, 0x3010, "CORE_MISC_CFG", { 0x201, 0x201, 0x1, 0x601, 0x601 } },
		{ 0x0801, 0x3014, "CORE_DATAOUT_SIZE_0", {
			(M - 1) << 16,
			(M - 1) << 16,
			(M - 1) << 16,
			0,
			(L - 1) << 16,
		} },
		{ 0x0801, 0x3018, "CORE_DATAOUT_SIZE_1", { N - 1, N - 1, N - 1, N - 1, N - 1 } },
		{ 0x0801, 0x301c, "CORE_CLIP_TRUNCATE", { 0, 0, 0, 0, 0 } },
		{ 0x0801, 0x3030, "CORE_UNNAMED_3030", { 0, 0, 0, 0, 0 } },
		{ 0x1001, 0x400c, "DPU_FEATURE_MODE_CFG", { 0x1e4, 0x1e4, 0x1e4, 0x1e4, 0x1e4 } },
		{ 0x1001, 0x4010, "DPU_DATA_FORMAT", {
			0xa8000002,
			0x48000002,
			0x80000000,
			0x38000006,
			0x38000006,
		} },
		{ 0x1001, 0x4014, "DPU_OFFSET_PEND", { 0, 0, 0, 0, 0 } },
		{ 0x1001, 0x4020, "DPU_DST_BASE_ADDR", { C, C, C, C, C } },
		{ 0x1001, 0x4024, "DPU_DST_SURF_STRIDE", { 0x10, 0x10, 0x10, 0x10, 0x10 } },
		{ 0x1001, 0x4030, "DPU_DATA_CUBE_WIDTH", { 0, 0, 0, 0, 0 } },
		{ 0x1001, 0x4034, "DPU_DATA_CUBE_HEIGHT", { M - 1, M - 1, M - 1, 0, L - 1 } },
		{ 0x1001, 0x4038, "DPU_DATA_CUBE_NOTCH_ADDR", {
			(N / 4 - 1) << 16 | (N / 4 - 1),
			(N / 8 - 1) << 16 | (N / 8 - 1),
			(s / 4 - 1) << 16 | (N / 4 - 1),
			0,
			(N / 4 - 1) << 16 | (N / 4 - 1),
		} },
		{ 0x1001, 0x403c, "DPU_DATA_CUBE_CHANNEL", {
			(N - 1) << 16 | (N - 1),
			(N - 1) << 16 | (N - 1),
			(s - 1) << 16 | (N - 1),
			(N - 1) << 16 | (N - 1),
			(N - 1) << 16 | (N - 1),
		} },
		{ 0x1001, 0x4040, "DPU_BS_CFG", { 0x53, 0x53, 0x53, 0x53, 0x53 } },
		{ 0x1001, 0x4044, "DPU_BS_ALU_CFG", { 0, 0, 0, 0, 0 } },
		{ 0x1001, 0x4048, "DPU_BS_MUL_CFG", { 0, 0, 0, 0, 0 } },
		{ 0x1001, 0x404c, "DPU_BS_RELUX_CMP_VALUE", { 0, 0, 0, 0, 0 } },
		{ 0x1001, 0x4050, "DPU_BS_OW_CFG", { 0x36e, 0x126, 0x7fc, 0x7fe, 0x7fe } },
		{ 0x1001, 0x4054, "DPU_BS_OW_OP", { 0, 0, 0, 0, 0 } },
		{ 0x1001, 0x4058, "DPU_WDMA_SIZE_0", { N - 1, N - 1, N - 1, N - 1, N - 1 } },
		{ 0x1001, 0x405c, "DPU_WDMA_SIZE_1", {
			(M - 1) << 16,
			(M - 1) << 16,
			(M - 1) << 16,
			0,
			0,
		} },
		{ 0x1001, 0x4060, "DPU_BN_CFG", { 0x53, 0x53, 0x53, 0x53, 0x53 } },
		{ 0x1001, 0x4064, "DPU_BN_ALU_CFG", { 0, 0, 0, 0, 0 } },
		{ 0x1001, 0x4068, "DPU_BN_MUL_CFG", { 0, 0, 0, 0, 0 } },
		{ 0x1001, 0x406c, "DPU_BN_RELUX_CMP_VALUE", { 0, 0, 0, 0, 0 } },
		{ 0x1001, 0x4070, "DPU_EW_CFG", { 0x383, 0x383, 0x383, 0x383, 0x383 } },
		{ 0x1001, 0x4074, "DPU_EW_CVT_OFFSET_VALUE", { 0, 0, 0, 0, 0 } },
		{ 0x1001, 0x4078, "DPU_EW_CVT_SCALE_VALUE", { 0x1, 0x1, 0x1, 0x1, 0x1 } },
		{ 0x1001, 0x407c, "DPU_EW_RELUX_CMP_VALUE", { 0, 0, 0, 0, 0 } },
		{ 0x1001, 0x4080, "DPU_OUT_CVT_OFFSET", { 0, 0, 0, 0, 0 } },
		{ 0x1001, 0x4084, "DPU_OUT_CVT_SCALE", { 1, 0x10001, 1, 1, 1 } },
		{ 0x1001, 0x4088, "DPU_OUT_CVT_SHIFT", { 0, 0, 0, 0, 0 } },
		{ 0x1001, 0x4090, "DPU_EW_OP_VALUE_0", { 0, 0, 0, 0, 0 } },
		{ 0x1001, 0x4094, "DPU_EW_OP_VALUE_1", { 0, 0, 0, 0, 0 } },
		{ 0x1001, 0x4098, "DPU_EW_OP_VALUE_2", { 0, 0, 0, 0, 0 } },
		{ 0x1001, 0x409c, "DPU_EW_OP_VALUE_3", { 0, 0, 0, 0, 0 } },
		{ 0x1001, 0x40a0, "DPU_EW_OP_VALUE_4", { 0, 0, 0, 0, 0 } },
		{ 0x1001, 0x40a4, "DPU_EW_OP_VALUE_5", { 0, 0, 0, 0, 0 } },
		{ 0x1001, 0x40a8, "DPU_EW_OP_VALUE_6", { 0, 0, 0, 0, 0 } },
		{ 0x1001, 0x40ac, "DPU_EW_OP_VALUE_7", { 0, 0, 0, 0, 0 } },
		{ 0x1001, 0x40c0, "DPU_SURFACE_ADD", { 0x40, 0x20, 0x80, 0x80, 0x80 } },
		{ 0x1001, 0x40c4, "DPU_UNNAMED_40C4", { 0, 0, 0, 0, 0 } },
		{ 0x1001, 0x4100, "DPU_LUT_ACCESS_CFG", { 0, 0, 0, 0, 0 } },
		{ 0x1001, 0x4104, "DPU_LUT_ACCESS_DATA", { 0, 0, 0, 0, 0 } },
		{ 0x1001, 0x4108, "DPU_LUT_CFG", { 0, 0, 0, 0, 0 } },
		{ 0x1001, 0x410c, "DPU_LUT_INFO", { 0, 0, 0, 0, 0 } },
		{ 0x1001, 0x4110, "DPU_LUT_LE_START", { 0, 0, 0, 0, 0 } },
		{ 0x1001, 0x4114, "DPU_LUT_LE_END", { 0, 0, 0, 0, 0 } },
		{ 0x1001, 0x4118, "DPU_LUT_LO_START", { 0, 0, 0, 0, 0 } },
		{ 0x1001, 0x411c, "DPU_LUT_LO_END", { 0, 0, 0, 0, 0 } },
		{ 0x1001, 0x4120, "DPU_LUT_LE_SLOPE_SCALE", { 0, 0, 0, 0, 0 } },
		{ 0x1001, 0x4124, "DPU_LUT_LE_SLOPE_SHIFT", { 0, 0, 0, 0, 0 } },
		{ 0x1001, 0x4128, "DPU_LUT_LO_SLOPE_SCALE", { 0, 0, 0, 0, 0 } },
		{ 0x1001, 0x412c, "DPU_LUT_LO_SLOPE_SHIFT", { 0, 0, 0, 0, 0 } },
	};
	uint32_t i;

	for (i = 0; i < SHEET_WRITES; i++)
		e[i] = sheet[i];
}

#endif
