/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pooling of a tensor in memory: hw 04 §5.
 */
#ifndef RKMM_POOL_H
#define RKMM_POOL_H

#include "rkmm_regs.h"

#define RKMM_POOL_WRITES	26	/* 18 of the PPU, 8 of its read DMA (hw 04 §5) */
#define RKMM_START_PPU		0x60	/* PPU, PPU_RDMA (hw 04 §8) */
#define RKMM_INT_PPU		0xc00	/* both register groups (hw 04 §0.4) */
#define RKMM_POOL_KERNEL_MAX	16	/* 4-bit fields */

/**
 * struct rkmm_pool - one pooling task
 * @precision: int8 or fp16
 * @average: average, else largest value
 * @width: pixels of an input line
 * @height: input lines
 * @channels: a whole number of 16-byte groups
 * @kernel_w: width of the window, 1 .. RKMM_POOL_KERNEL_MAX
 * @kernel_h: height
 * @stride_w: step from a window to the next
 * @stride_h: the same downward
 * @src: device address of the input, groups without gaps
 * @dst: of the output
 */
struct rkmm_pool {
	enum rkmm_precision precision;
	bool average;
	u32 width, height, channels;
	u32 kernel_w, kernel_h, stride_w, stride_h;
	u32 src, dst;
};

/** rkmm_pool_out() - windows that fit into @size */
static inline u32 rkmm_pool_out(u32 size, u32 kernel, u32 stride)
{
	return (size - kernel) / stride + 1;
}

/** rkmm_pool_emit() - write the RKMM_POOL_WRITES entries; returns how many */
u32 rkmm_pool_emit(const struct rkmm_pool *pool, u64 *words);

#endif
