// SPDX-License-Identifier: GPL-2.0-only
/*
 * The curves in fixed point, from their definitions.
 */
#include "rkmm_lut.h"
#include "rkmm_pure.h"

#define ONE	(1ull << 32)	/* of Q32 */
#define LN2	2977044472ull	/* Q32 */
#define INV_SQRT_PI	2423175810ull	/* Q32 */
#define SQRT_HALF	3037000500ull	/* Q32 */
#define THREE	(3ll << 24)	/* Q24 */
#define TOP	32767

const struct rkmm_curve_facts rkmm_curve_facts[RKMM_CURVE_COUNT] = {
	[RKMM_CURVE_EXP] = { "exp", -10 * 256, 0, 15, 0, 1 },
	[RKMM_CURVE_SOFTMAX] = { "softmax", -10 * 256, 0, 15, 0, 0 },
	[RKMM_CURVE_SIGMOID] = { "sigmoid", -16 * 256, 16 * 256, 15, 0, 0 },
	[RKMM_CURVE_TANH] = { "tanh", -4 * 256, 4 * 256, 15, 0, 0 },
	[RKMM_CURVE_GAUSS] = { "gauss", -4 * 256, 4 * 256, 15, 0, 0 },
	/* S = 2048: 2^11 entry units for a step of 1 in x are one an index */
	[RKMM_CURVE_SILU] = { "silu", -8 * 256, 8 * 256, 11, 1 << RKMM_LUT_OVER_SHIFT, 0 },
	[RKMM_CURVE_GELU] = { "gelu", -8 * 256, 8 * 256, 11, 1 << RKMM_LUT_OVER_SHIFT, 0 },
	[RKMM_CURVE_HARDSWISH] = {
		"hardswish", -8 * 256, 8 * 256, 11, 1 << RKMM_LUT_OVER_SHIFT, 0,
	},
	[RKMM_CURVE_RECIPROCAL] = { "reciprocal", 32, 8 * 256 + 32, 11, 0, 0 },
	[RKMM_CURVE_RSQRT] = { "rsqrt", 16, 4 * 256 + 16, 12, 0, 0 },
	[RKMM_CURVE_SQRT] = { "sqrt", 0, 4 * 256, 13, 0, 0 },
};

/* @a * @b / 2^32, with b below 2^32 or a and b below 2^36 */
static u64 mul32(u64 a, u64 b)
{
	return (a >> 32) * b + ((a & 0xffffffff) * b >> 32);
}

/*
 * e^-y as Q60, y as Q32 below 2^37: e^-y = 2^-n e^-r with r < ln 2, and a series
 * of e^-r whose 16th term is below 2^-50.
 */
static u64 exp_neg(u64 y)
{
	u64 n = y / LN2, r = y % LN2, acc = ONE, i;

	for (i = 16; i; i--)
		acc = ONE - mul32(r, acc) / i;
	return n < 60 ? (acc << 28) >> n : 0;
}

/* 2^q / (1 + e^-y), and what it is short of 2^q */
static u64 logistic(u64 y, u32 q, bool negative)
{
	u64 e = exp_neg(y) >> 28;
	u64 num = (negative ? e : ONE) << q, den = ONE + e;

	return (num + den / 2) / den;
}

/*
 * Normal distribution at x >= 0 less 1/2, Q60: with z = x / sqrt(2),
 * e^(-z^2) / sqrt(pi) * sum of 2^n z^(2n+1) / (1 * 3 * ... * (2n+1)); all terms are
 * positive. @x is Q24, at most 8.
 */
static u64 gauss_half(u64 x)
{
	u64 square = x * x >> 16;			/* x^2 = 2 z^2, Q32 */
	u64 z = mul32(x << 8, SQRT_HALF), sum = 0, i, ratio, term;

	if (x > 6ull << 24)
		return 1ull << 59;	/* all but 2^-29 */
	term = exp_neg(square / 2);
	term = term * (z >> 32) + mul32(term, z & (ONE - 1));
	for (i = 3; term; i += 2) {
		sum += term;
		ratio = square / i;
		/* A term is below 1, and so is the product with the whole part. */
		term = term * (ratio >> 32) + mul32(term, ratio & (ONE - 1));
	}
	return mul32(sum, INV_SQRT_PI);
}

/* Normal distribution times 2^q, rounded; @x is Q24 */
static s64 gauss(s64 x, u32 q)
{
	u64 half = gauss_half((u64)(x < 0 ? -x : x));
	u64 v = x < 0 ? (1ull << 59) - half : (1ull << 59) + half;

	return (s64)((v + (1ull << (59 - q))) >> (60 - q));
}

/* @v / 2^@shift to nearest */
static s64 round_div(s64 v, u32 shift)
{
	return (v + (1ll << (shift - 1))) >> shift;
}

static s64 point(enum rkmm_curve curve, s64 x, u32 q)
{
	u64 mag = (u64)(x < 0 ? -x : x) << 8;	/* Q32 */
	u64 e;

	switch (curve) {
	case RKMM_CURVE_EXP:
	case RKMM_CURVE_SOFTMAX:
		return round_div((s64)mul32(exp_neg(mag) >> 12, TOP), 16);
	case RKMM_CURVE_SIGMOID:
		return (s64)logistic(mag, q, x < 0);
	case RKMM_CURVE_TANH:
		/* (1 - e^-2y) / (1 + e^-2y) */
		e = exp_neg(2 * mag) >> 28;
		e = (((ONE - e) << q) + (ONE + e) / 2) / (ONE + e);
		return x < 0 ? -(s64)e : (s64)e;
	case RKMM_CURVE_GAUSS:
		return gauss(x, q);
	case RKMM_CURVE_SILU:
		return round_div(x * (s64)logistic(mag, 30, x < 0), 24 + 30 - q);
	case RKMM_CURVE_GELU:
		return round_div(x * gauss(x, 30), 24 + 30 - q);
	case RKMM_CURVE_HARDSWISH:
		e = x < -THREE ? 0 : x > THREE ? 2 * THREE : (u64)(x + THREE);
		return round_div(x * (s64)e / 6, 48 - q);
	case RKMM_CURVE_RECIPROCAL:
		return (((s64)1 << (24 + q + 1)) / x + 1) / 2;
	case RKMM_CURVE_RSQRT:
		/* twice the entry, then rounded */
		return (rkmm_isqrt((1ull << (24 + 2 * q + 2)) / (u64)x) + 1) / 2;
	default:
		return (rkmm_isqrt((u64)x << (2 * q + 2 - 24)) + 1) / 2;
	}
}

s16 rkmm_curve_point(enum rkmm_curve curve, u32 k)
{
	const struct rkmm_curve_facts *f = &rkmm_curve_facts[curve];
	s64 v = point(curve, (s64)f->a * 65536 + (s64)k * (f->b - f->a) * 64, f->q);

	/* Where the function itself has come to its limit, so has the table. */
	switch (curve) {
	case RKMM_CURVE_SOFTMAX:
	case RKMM_CURVE_SIGMOID:
	case RKMM_CURVE_GAUSS:
		v = !k ? 0 : k == RKMM_LUT_POINTS - 1 ? TOP : v;
		break;
	case RKMM_CURVE_TANH:
		v = !k ? -TOP : k == RKMM_LUT_POINTS - 1 ? TOP : v;
		break;
	case RKMM_CURVE_SILU:
	case RKMM_CURVE_GELU:
		v = !k ? 0 : v;
		break;
	case RKMM_CURVE_SQRT:
		/* 1/64: whoever improves on it divides by it */
		v = !k ? 1 << (f->q - 6) : v;
		break;
	default:
		break;
	}
	return (s16)(v > TOP ? TOP : v < -TOP ? -TOP : v);
}

struct rkmm_num rkmm_curve_gain(enum rkmm_curve curve)
{
	const struct rkmm_curve_facts *f = &rkmm_curve_facts[curve];

	/* 32768 / (b - a), with the domain in 1/256 */
	return (struct rkmm_num){
		.mant = ((1ll << 55) + (f->b - f->a) / 2) / (f->b - f->a), .exp = 15 + 8 - 55,
	};
}

struct rkmm_num rkmm_curve_shift(enum rkmm_curve curve, struct rkmm_num gain)
{
	const struct rkmm_curve_facts *f = &rkmm_curve_facts[curve];

	return rkmm_num_mul((struct rkmm_num){ .mant = -(f->a + f->b), .exp = -9 }, gain);
}
