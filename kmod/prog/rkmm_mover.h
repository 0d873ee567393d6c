/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * 1x1 convolutions as data movers: hw 04 §2.7, §3.4.
 */
#ifndef RKMM_MOVER_H
#define RKMM_MOVER_H

#include "rkmm_regs.h"

#define RKMM_MOVER_LINES	16	/* of every captured image */
#define RKMM_MOVER_PIXELS	256	/* of the captured image: one CBUF bank */

/**
 * struct rkmm_mover - an fp16 image through a 1x1 convolution
 * @image: the input is one channel, two bytes a pixel, packed
 * @width: pixels of a line, a multiple of 4; there are RKMM_MOVER_LINES
 * @channels: input channels: 8 of an image, else a multiple of 8
 * @kernels: output channels with weights, a multiple of 16 or 1
 * @src: device address of the input, with @channels / 8 groups without gaps
 * @weights: of the kernels
 * @dst: of the output: groups of 8 channels, a multiple of 16 of them
 * @dst_pitch: bytes from an output group to the next
 */
struct rkmm_mover {
	bool image;
	u32 width, channels, kernels;
	u32 src, weights, dst, dst_pitch;
};

#define RKMM_MOVER_WRITES	108

/** rkmm_mover_emit() - write the RKMM_MOVER_WRITES entries; returns how many */
u32 rkmm_mover_emit(const struct rkmm_mover *mover, u64 *words);

#endif
