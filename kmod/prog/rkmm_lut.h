/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Curves of the DPU's lookup tables: hw 04 §2.5.
 *
 * A curve on [a, b] is 1025 points: entry k stands for x = a + k (b - a) / 1024.
 * Table LE holds entries 0 .. 512, LO 512 .. 1024. The index is the integer
 * (x - c) * S with c = (a + b) / 2 and S = 32768 / (b - a), 32 steps an entry.
 */
#ifndef RKMM_LUT_H
#define RKMM_LUT_H

#include "rkmm_num.h"

/**
 * enum rkmm_curve - what a table holds
 *
 * Below a and above b a curve keeps its first and last entry, except where a
 * slope is named.
 *
 * @RKMM_CURVE_EXP: e^x on [-10, 0]; entry by entry that of the captured softmax
 * @RKMM_CURVE_SOFTMAX: the same, but 0 at and below -10: what is masked vanishes
 * @RKMM_CURVE_SIGMOID: 1 / (1 + e^-x) on [-16, 16]; 0 and 1 outside
 * @RKMM_CURVE_TANH: tanh x on [-4, 4]; -1 and 1 outside
 * @RKMM_CURVE_GAUSS: the normal distribution on [-4, 4], 0 and 1 outside: gelu(x) / x
 * @RKMM_CURVE_SILU: x / (1 + e^-x) on [-8, 8]; x above
 * @RKMM_CURVE_GELU: x times the normal distribution on [-8, 8]; x above
 * @RKMM_CURVE_HARDSWISH: x clamp(x + 3, 0, 6) / 6 on [-8, 8]; x above
 * @RKMM_CURVE_RECIPROCAL: 1 / x on [1/8, 8 1/8]
 * @RKMM_CURVE_RSQRT: 1 / sqrt(x) on [1/16, 4 1/16]
 * @RKMM_CURVE_SQRT: sqrt(x) on [0, 4], to 2^-6 of its range near 0
 * @RKMM_CURVE_COUNT: how many
 */
enum rkmm_curve {
	RKMM_CURVE_EXP,
	RKMM_CURVE_SOFTMAX,
	RKMM_CURVE_SIGMOID,
	RKMM_CURVE_TANH,
	RKMM_CURVE_GAUSS,
	RKMM_CURVE_SILU,
	RKMM_CURVE_GELU,
	RKMM_CURVE_HARDSWISH,
	RKMM_CURVE_RECIPROCAL,
	RKMM_CURVE_RSQRT,
	RKMM_CURVE_SQRT,
	RKMM_CURVE_COUNT
};

#define RKMM_LUT_ENTRIES	513	/* of LE, and of LO (hw 04 §2.5) */
#define RKMM_LUT_POINTS		1025
#define RKMM_LUT_WRITES		(2 * (1 + RKMM_LUT_ENTRIES))

/**
 * struct rkmm_curve_facts - how a table is read
 * @name: for people
 * @a: start of the domain, in 1/256
 * @b: end of the domain, in 1/256
 * @q: an entry is the function times 2^@q
 * @over: slope above the domain is @over / 2^13 entry units per index
 * @offset: OUT_CVT offset of the captured programs, which is 1 or nothing (hw 04 §2.5)
 */
struct rkmm_curve_facts {
	const char *name;
	s32 a, b;
	u32 q;
	u32 over;
	s32 offset;
};

#define RKMM_LUT_OVER_SHIFT	13

extern const struct rkmm_curve_facts rkmm_curve_facts[RKMM_CURVE_COUNT];

/** rkmm_curve_point() - entry @k of @curve, 0 .. 1024 */
s16 rkmm_curve_point(enum rkmm_curve curve, u32 k);

/** rkmm_curve_gain() - S of @curve */
struct rkmm_num rkmm_curve_gain(enum rkmm_curve curve);

/** rkmm_curve_shift() - -c of @curve times @gain */
struct rkmm_num rkmm_curve_shift(enum rkmm_curve curve, struct rkmm_num gain);

#endif
