/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Facts and arithmetic shared by the stages; not for users of rkmm_prog.h.
 */
#ifndef RKMM_PURE_H
#define RKMM_PURE_H

#include "rkmm_regs.h"

#ifdef __KERNEL__
#include <linux/kernel.h>
#include <linux/string.h>
#else
#include <string.h>
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define noinline	__attribute__((__noinline__))
#endif

#define RKMM_ATOM	16u	/* bytes; the unit of every DMA stride (hw 02, fact 4) */
#define RKMM_ENTRY	64u	/* bytes; the unit of CBUF lines (hw 02 §3.1, 1044) */

/**
 * struct rkmm_type_facts - what a type pair fixes
 * @name: "i8i32"
 * @in_bits: bits per element of A and B
 * @out_bytes: bytes per element of C
 * @group: kernels per group (hw 02 §3.5)
 * @k_min: smallest padded K
 * @in: precision code of A and B
 * @out: precision code of C
 */
struct rkmm_type_facts {
	const char *name;
	u8 in_bits, out_bytes, group;
	u16 k_min;
	enum rkmm_precision in, out;
};

extern const struct rkmm_type_facts rkmm_type_facts[RKMM_T_COUNT];

/* Every extent below is bounded by 2^32 before it gets here: no overflow in 64 bits. */
static inline u32 rkmm_div_up(u32 a, u32 b)
{
	return a / b + (a % b != 0);
}

static inline u32 rkmm_min(u32 a, u32 b)
{
	return a < b ? a : b;
}

static inline u32 rkmm_max(u32 a, u32 b)
{
	return a > b ? a : b;
}

static inline u64 rkmm_min64(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* Bytes of @elems elements of A or B; @elems * bits is a multiple of 8. */
static inline u64 rkmm_in_bytes(enum rkmm_types types, u64 elems)
{
	return elems * rkmm_type_facts[types].in_bits / 8;
}

/* Atoms of one pixel in one kernel group: SIZE_E + 1 (hw 02 §3.5). */
static inline u32 rkmm_surfaces(enum rkmm_types types)
{
	return rkmm_type_facts[types].group * rkmm_type_facts[types].out_bytes / RKMM_ATOM;
}

/* CBUF entries of one input line: DATA_ENTRIES (hw 02 §3.1). */
static inline u32 rkmm_line_entries(enum rkmm_types types, u32 kp)
{
	return rkmm_div_up((u32)rkmm_in_bytes(types, kp), RKMM_ENTRY);
}

void rkmm_geom_ids(struct rkmm_geom *geom);

/**
 * struct rkmm_walk - programs of a tiling, one after the other
 * @geom: the tiling
 * @tiles: M tiles of the submission
 * @whole: tiles along which programs step that are not smaller than the first; 0 where the
 *	steps of C differ
 * @last: rows that programs may run up to
 * @group: M tile
 * @chunk: N tile
 * @slice: K slice
 * @a_step: bytes of A from a program to the next along them
 * @b_step: bytes of B
 * @c_step: bytes of C, 0 where they differ
 * @now: the program, its addresses counted from the operands' starts
 */
struct rkmm_walk {
	const struct rkmm_geom *geom;
	u32 tiles, whole, last, group, chunk, slice, a_step, b_step, c_step;
	struct rkmm_program now;
};

void rkmm_walk_start(struct rkmm_walk *walk, const struct rkmm_geom *geom, u32 i, u32 rows);
/* The first program once more */
void rkmm_walk_restart(struct rkmm_walk *walk);
void rkmm_walk_next(struct rkmm_walk *walk);
/* How many from this program on differ from the one before by a step and kept weights only */
u32 rkmm_walk_steps(struct rkmm_walk *walk);
/* Past @n of those, at least one */
void rkmm_walk_skip(struct rkmm_walk *walk, u32 n);
void rkmm_walk_program(const struct rkmm_walk *walk, u32 a, u32 b, u32 c,
		       struct rkmm_program *prog);

/**
 * struct rkmm_spans - times of the programs of a tiling, which has four sizes of them
 * @program: by column tile: 0 full, 1 the last one
 * @last: the last M tile of such a column tile
 * @chunk: all M tiles of such a column tile
 * @slice: all column tiles
 * @tiles: M tiles
 * @n_tiles: column tiles
 */
struct rkmm_spans {
	u64 program[2], last[2], chunk[2], slice;
	u32 tiles, n_tiles;
};

/* The law with @n cores at work, for @rows rows; every time is below 2^30. */
void rkmm_spans_of(const struct rkmm_cost *cost, const struct rkmm_geom *geom, u32 n, u32 rows,
		   struct rkmm_spans *s);
u32 rkmm_start_ns(const struct rkmm_cost *cost, const struct rkmm_geom *geom, u32 n);

/* Rows of A that one data bank holds */
u32 rkmm_bank_rows(const struct rkmm_limits *limits, const struct rkmm_geom *geom);
bool rkmm_rung_fits(const struct rkmm_rung *rung, const struct rkmm_geom *geom);
/* Caps on rows and columns; @last_cols: of the narrowest program. */
u32 rkmm_die_rows(const struct rkmm_die *die, const struct rkmm_geom *geom, u32 last_cols);
u32 rkmm_die_cols(const struct rkmm_die *die, const struct rkmm_geom *geom);

#define RKMM_CUT_LANES		0u	/* a chunk of columns for each lane */
#define RKMM_CUT_NOT		1u	/* columns as wide as can be: then rows are shared */
#define RKMM_CUT_LESS_MAX	9u	/* sixteenths of columns that are left out */

/*
 * A tiling with K in slices of @mm->slice, @rung or the shipped geometry, @lanes lanes;
 * @cut: above RKMM_CUT_NOT tiles of an int4 batch are so many sixteenths narrower
 */
enum rkmm_reason rkmm_tile(const struct rkmm_limits *limits, const struct rkmm_matmul *mm,
			   const struct rkmm_rung *rung, u32 lanes, u32 cut,
			   struct rkmm_geom *geom);

#endif
