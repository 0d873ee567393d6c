/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One task of the DPU: tensors from memory through BS, BN, EW and the output
 * conversion back to memory (hw 04 §1, §2).
 */
#ifndef RKMM_DPU_H
#define RKMM_DPU_H

#include "rkmm_lut.h"
#include "rkmm_regs.h"

#define RKMM_DPU_WRITES		69	/* 51 of the DPU, 18 of its read DMA (hw 04 §2.1) */
#define RKMM_START_DPU		0x18	/* DPU, DPU_RDMA (hw 04 §8) */

#define RKMM_PIXELS_MAX		8168	/* in a line: 8175 are known to work (hw 04 §1.5) */
#define RKMM_CHANNELS_MAX	8192	/* 13 bits */

/**
 * enum rkmm_ew - what the EW stage does
 * @RKMM_EW_OFF: nothing
 * @RKMM_EW_ADD: sum with the second operand
 * @RKMM_EW_SUB: first less second
 * @RKMM_EW_MUL: product
 * @RKMM_EW_MAX: larger one
 * @RKMM_EW_MIN: smaller one
 * @RKMM_EW_DIV: first by second; fp16
 * @RKMM_EW_LUT: lookup; no second operand
 */
enum rkmm_ew {
	RKMM_EW_OFF,
	RKMM_EW_ADD,
	RKMM_EW_SUB,
	RKMM_EW_MUL,
	RKMM_EW_MAX,
	RKMM_EW_MIN,
	RKMM_EW_DIV,
	RKMM_EW_LUT,
};

/* What a BS or BN stage uses, in struct rkmm_stage.use */
#define RKMM_STAGE_ALU		(1u << 0)
#define RKMM_STAGE_MUL		(1u << 1)
#define RKMM_STAGE_RELU		(1u << 2)
#define RKMM_STAGE_CLAMP	(1u << 3)	/* with RELU: at most @cmp too */
#define RKMM_STAGE_PRELU	(1u << 4)	/* with MUL: negative values only */
#define RKMM_STAGE_TABLE	(1u << 5)	/* BS: ALU operands from memory, one a channel */

/**
 * struct rkmm_stage - BS or BN (hw 04 §1.1)
 * @use: RKMM_STAGE_*, 0 for a stage that is bypassed
 * @alu: added: fp32 bits, or an integer; BS adds before it multiplies, BN after
 * @mul: factor: fp16 bits, or an integer
 * @shift: right shift after the product; integers
 * @cmp: upper bound: fp32 bits, or an integer
 */
struct rkmm_stage {
	u32 use;
	u32 alu;
	u16 mul;
	u8 shift;
	u32 cmp;
};

/**
 * struct rkmm_dpu - one DPU task
 * @in: precision of the operands: int8, int16 or fp16
 * @out: precision of the result: that of the operands, or fp32 of fp16
 * @ew: EW stage
 * @vector: the second operand is one value a channel, contiguous
 * @minmax: the result is the largest value of each pixel's channels, two bytes a
 *	pixel; @pixels is a multiple of 8, at most 128 (hw 04 §3.3)
 * @load: the task writes the table of @curve first
 * @curve: RKMM_EW_LUT, or @load
 * @pend: what channels beyond @real count as
 * @pixels: pixels of the line, 1 .. RKMM_PIXELS_MAX
 * @channels: a whole number of 16-byte groups, at most RKMM_CHANNELS_MAX
 * @real: channels that are no padding, 1 .. @channels
 * @bs: first stage
 * @bn: second stage
 * @ew_offset: integers: added to the second operand
 * @ew_scale: integers: factor of the second operand
 * @ew_shift: integers: right shift after it
 * @out_offset: added at the end
 * @out_scale: factor at the end
 * @out_shift: integers: right shift after it
 * @minus_exp: fp16: the result is divided by 2^@minus_exp
 * @src: device address of the first operand
 * @src2: of the second
 * @dst: of the result
 * @table: of RKMM_STAGE_TABLE
 * @src_pitch: bytes from a channel group of the first operand to the next
 * @src2_pitch: of the second
 * @dst_pitch: of the result
 */
struct rkmm_dpu {
	enum rkmm_precision in, out;
	enum rkmm_ew ew;
	bool vector, minmax, load;
	enum rkmm_curve curve;
	u16 pend;
	u32 pixels, channels, real;
	struct rkmm_stage bs, bn;
	s32 ew_offset;
	u32 ew_scale, ew_shift;
	s32 out_offset;
	u32 out_scale, out_shift, minus_exp;
	u32 src, src2, dst, table;
	u32 src_pitch, src2_pitch, dst_pitch;
};

/** rkmm_dpu_init() - a task that copies @channels channels of @pixels pixels */
void rkmm_dpu_init(struct rkmm_dpu *dpu, enum rkmm_precision precision, u32 pixels, u32 channels);

/** rkmm_dpu_two() - whether @dpu reads a second operand by element or by channel */
bool rkmm_dpu_two(const struct rkmm_dpu *dpu);

/** rkmm_dpu_writes() - register writes of @dpu */
u32 rkmm_dpu_writes(const struct rkmm_dpu *dpu);

/** rkmm_dpu_emit() - write them, in the order of hw 04 §2.1; returns how many */
u32 rkmm_dpu_emit(const struct rkmm_dpu *dpu, u64 *words);

/* Parts that fused stages of a matmul share: values of 4040, 4048, 4070. */
u32 rkmm_stage_cfg(const struct rkmm_stage *stage);
u32 rkmm_stage_mul(const struct rkmm_stage *stage);
u32 rkmm_dpu_ew(const struct rkmm_dpu *dpu);
/** rkmm_lut_access() - the 12 entries of 4100 to 412c; returns the place behind */
u64 *rkmm_lut_access(const struct rkmm_dpu *dpu, u64 *words);

/** rkmm_lut_emit() - the RKMM_LUT_WRITES entries that load @curve; returns the place behind */
u64 *rkmm_lut_emit(enum rkmm_curve curve, u64 *words);

#endif
