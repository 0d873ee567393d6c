/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Matmuls whose results are known, on memory of the driver: to wake a core, and to tell whether
 * it computes what it should.
 *
 * Pure code, also compiled into host tests.
 */
#ifndef RKMM_KNOWN_H
#define RKMM_KNOWN_H

#include "rkmm_land.h"
#include "rkmm_modes.h"

/**
 * enum rkmm_known_size - what it is for
 * @RKMM_KNOWN_TINY: to be a core's first matmul
 * @RKMM_KNOWN_LARGE: where a transition was seen to be wrong: K of at least 2560 and 64 rows
 *	(hw 03 §2.4, §2.6)
 * @RKMM_KNOWN_SIZES: how many
 */
enum rkmm_known_size {
	RKMM_KNOWN_TINY,
	RKMM_KNOWN_LARGE,
	RKMM_KNOWN_SIZES,
};

#define RKMM_KNOWN_CELLS	128	/* of the result that are compared */

/**
 * struct rkmm_known - a matmul with known results
 * @geom: its tiling, on one core
 * @b: bytes from A to B
 * @c: bytes from A to C
 * @bytes: of all three
 * @want: results of the cells that are compared
 */
struct rkmm_known {
	struct rkmm_geom geom;
	u32 b, c, bytes;
	s32 want[RKMM_KNOWN_CELLS];
};

/**
 * rkmm_known_init() - choose the matmul and work out its results
 * @limits: chip
 * @mode: RKMM_MODE_F16, I8 or I4
 * @size: what for
 * @known: filled
 *
 * Return: false if the chip cannot do it.
 */
bool rkmm_known_init(const struct rkmm_limits *limits, enum rkmm_mode mode,
		     enum rkmm_known_size size, struct rkmm_known *known);

/** rkmm_known_place() - known->geom is there: where its operands lie */
void rkmm_known_place(struct rkmm_known *known);

/**
 * rkmm_known_put() - store an element of A or B
 * @geom: the tiling
 * @mem: zeroed memory of the operand
 * @at: byte
 * @k: its place in K
 * @v: int4: -8..7, int8: -128..127, fp16: -8..7
 */
void rkmm_known_put(const struct rkmm_geom *geom, u8 *mem, u64 at, u32 k, s32 v);

/** rkmm_known_fill() - write A and B at @mem, zeroed and rkmm_known.c bytes long */
void rkmm_known_fill(const struct rkmm_known *known, u8 *mem);

/** rkmm_known_spoil() - make sure that C at @c has none of the results */
void rkmm_known_spoil(const struct rkmm_known *known, u8 *c);

/**
 * rkmm_known_wrong() - compare what is at @c
 * @known: the matmul
 * @c: C
 * @control: compare with the results of other rows, which has to fail
 *
 * Return: cells that differ.
 */
u32 rkmm_known_wrong(const struct rkmm_known *known, const u8 *c, bool control);

#endif
