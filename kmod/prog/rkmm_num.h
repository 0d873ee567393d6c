/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers that register fields want as fp16 or fp32 bits, in integer arithmetic.
 */
#ifndef RKMM_NUM_H
#define RKMM_NUM_H

#include "rkmm_prog.h"

/**
 * struct rkmm_num - @mant * 2^@exp
 * @mant: signed, magnitude below 2^62
 * @exp: exponent
 */
struct rkmm_num {
	s64 mant;
	s32 exp;
};

#define RKMM_F32_ONE	0x3f800000u
#define RKMM_F16_ONE	0x3c00u
#define RKMM_F16_LOWEST	0xfbffu		/* -65504 */

static inline struct rkmm_num rkmm_num_int(s64 v)
{
	return (struct rkmm_num){ .mant = v, .exp = 0 };
}

/** rkmm_f32_finite() - neither infinite nor a NaN */
static inline bool rkmm_f32_finite(u32 bits)
{
	return (bits >> 23 & 0xff) != 0xff;
}

/** rkmm_f32_num() - value of fp32 bits; they must be finite */
struct rkmm_num rkmm_f32_num(u32 bits);

/** rkmm_f16_num() - value of fp16 bits; they must be finite */
struct rkmm_num rkmm_f16_num(u32 bits);

/** rkmm_num_f16() - nearest fp16, ties to even; infinite beyond 65519 */
u16 rkmm_num_f16(struct rkmm_num n);

/** rkmm_num_f32() - nearest fp32, ties to even */
u32 rkmm_num_f32(struct rkmm_num n);

/** rkmm_num_mul() - product; the 31 upper bits of each factor count */
struct rkmm_num rkmm_num_mul(struct rkmm_num a, struct rkmm_num b);

/** rkmm_num_add() - sum; what lies 2^60 below the larger one is lost */
struct rkmm_num rkmm_num_add(struct rkmm_num a, struct rkmm_num b);

/** rkmm_num_inverse() - 1 / @n to 40 bits; @n is not zero */
struct rkmm_num rkmm_num_inverse(struct rkmm_num n);

/** rkmm_num_cmp() - below 0, 0 or above 0 as @a is less, equal or greater than @b */
int rkmm_num_cmp(struct rkmm_num a, struct rkmm_num b);

/**
 * rkmm_num_ratio() - @n as an integer factor and a right shift
 * @n: not negative
 * @bits: bits of the factor, at most 16
 * @mult: factor
 * @shift: shift, 0..@most
 * @most: largest shift
 *
 * Return: false when @n does not fit.
 */
bool rkmm_num_ratio(struct rkmm_num n, u32 bits, u32 most, u32 *mult, u32 *shift);

/** rkmm_num_s32() - nearest integer in @v; false when it is none of 32 bits */
bool rkmm_num_s32(struct rkmm_num n, s32 *v);

/** rkmm_isqrt() - largest integer whose square is at most @v */
u32 rkmm_isqrt(u64 v);

#endif
