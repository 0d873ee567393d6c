// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Curves of the lookup tables: the captured exponential entry by entry, and every
 * curve over all fp16 inputs through the index law of hw 04 §2.5, in double here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kmod/prog/rkmm_lut.h"

static double half_value(uint32_t bits)
{
	int e = bits >> 10 & 31, sign = bits & 0x8000 ? -1 : 1;
	double mant = bits & 1023;

	if (e == 31)
		return mant ? NAN : sign * INFINITY;
	return sign * (e ? ldexp(1024 + mant, e - 25) : ldexp(mant, -24));
}

static double float_value(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, 4);
	return (double)f;
}

/* hw 04 §2.5: check values of the captured table */
static void test_exp_table(void **state)
{
	static const int known[][2] = {
		{ 0, 1 }, { 1, 2 }, { 512, 221 }, { 513, 223 }, { 1023, 32449 }, { 1024, 32767 },
	};
	uint32_t i, j, crc = 0xffffffff;
	int64_t sum = 0;
	uint64_t v;

	(void)state;
	for (i = 0; i < 6; i++)
		assert_int_equal(rkmm_curve_point(RKMM_CURVE_EXP, known[i][0]), known[i][1]);
	for (i = 0; i < 1026; i++) {
		int16_t point = rkmm_curve_point(RKMM_CURVE_EXP, i < 513 ? i : i - 1);

		sum += point;
		for (j = 0; j < 16; j++) {
			uint32_t bit = (uint32_t)point >> j & 1;

			crc = (crc >> 1) ^ ((crc ^ bit) & 1 ? 0xedb88320 : 0);
		}
	}
	assert_int_equal(sum, 3371835);
	assert_int_equal(~crc, 0x9d379c07);
	/* the recurrence of the sheet */
	v = 32767ull << 16;
	for (i = 1025; i--;) {
		assert_int_equal(rkmm_curve_point(RKMM_CURVE_EXP, i), (v + (1 << 15)) >> 16);
		v = (v * 0xfd831d67ull + (1ull << 31)) >> 32;
	}
}

static double gauss(double x)
{
	return 0.5 * erfc(-x * M_SQRT1_2);
}

static double clamp(double x, double lo, double hi)
{
	return x < lo ? lo : x > hi ? hi : x;
}

/* The function that a curve stands for, with its documented tails */
static double truth(enum rkmm_curve curve, double x)
{
	switch (curve) {
	case RKMM_CURVE_EXP:
	case RKMM_CURVE_SOFTMAX:
		return exp(clamp(x, -1e3, 0));
	case RKMM_CURVE_SIGMOID:
		return 1 / (1 + exp(-x));
	case RKMM_CURVE_TANH:
		return tanh(x);
	case RKMM_CURVE_GAUSS:
		return gauss(x);
	case RKMM_CURVE_SILU:
		return x / (1 + exp(-x));
	case RKMM_CURVE_GELU:
		return x * gauss(x);
	case RKMM_CURVE_HARDSWISH:
		return x * clamp(x + 3, 0, 6) / 6;
	case RKMM_CURVE_RECIPROCAL:
		return 1 / clamp(x, 0.125, 8.125);
	case RKMM_CURVE_RSQRT:
		return 1 / sqrt(clamp(x, 1 / 16.0, 4 + 1 / 16.0));
	default:
		return sqrt(clamp(x, 0, 4));
	}
}

/* hw 04 §2.5: index, interpolation and tails; OUT_CVT divides by 2^q */
static double lookup(enum rkmm_curve curve, double x)
{
	const struct rkmm_curve_facts *f = &rkmm_curve_facts[curve];
	struct rkmm_num gain = rkmm_curve_gain(curve);
	double mul = half_value(rkmm_num_f16(gain));
	double alu = float_value(rkmm_num_f32(rkmm_curve_shift(curve,
							       rkmm_f16_num(rkmm_num_f16(gain)))));
	double index = rint(mul * x + alu), v, frac;
	int i;

	if (index < -16384) {
		v = rkmm_curve_point(curve, 0);
	} else if (index >= 16384) {
		v = rkmm_curve_point(curve, 1024) +
		    floor((index - 16384) * f->over / (1 << RKMM_LUT_OVER_SHIFT));
	} else {
		i = ((int)index + 16384) >> 5;
		frac = ((int)index & 31) / 32.0;
		v = rkmm_curve_point(curve, i);
		v = floor(v + (rkmm_curve_point(curve, i + 1) - v) * frac);
	}
	return ldexp(v, -(int)f->q);
}

/* The largest result that the curve gives, and the smallest; silu and its kind: on the domain */
static const struct {
	double lo, hi;
} range[RKMM_CURVE_COUNT] = {
	[RKMM_CURVE_EXP] = { 0, 1 }, [RKMM_CURVE_SOFTMAX] = { 0, 1 },
	[RKMM_CURVE_SIGMOID] = { 0, 1 }, [RKMM_CURVE_TANH] = { -1, 1 },
	[RKMM_CURVE_GAUSS] = { 0, 1 }, [RKMM_CURVE_SILU] = { -0.2785, 8 },
	[RKMM_CURVE_GELU] = { -0.17, 8 }, [RKMM_CURVE_HARDSWISH] = { -0.375, 8 },
	[RKMM_CURVE_RECIPROCAL] = { 1 / 8.125, 8 }, [RKMM_CURVE_RSQRT] = { 0.496, 4 },
	[RKMM_CURVE_SQRT] = { 0, 2 },
};

/* At most 2^-9 of the output range, whatever finite number goes in */
static void test_all_inputs(void **state)
{
	uint32_t c, bits;

	(void)state;
	for (c = 0; c < RKMM_CURVE_COUNT; c++) {
		double worst = 0, where = 0, bound = ldexp(range[c].hi - range[c].lo, -9);

		for (bits = 0; bits < 0x10000; bits++) {
			double x = half_value(bits), error;

			if (isnan(x) || isinf(x))
				continue;
			error = fabs(lookup(c, x) - truth(c, x));
			if (error > worst) {
				worst = error;
				where = x;
			}
		}
		print_message("%s: %.3g of the range at %g\n", rkmm_curve_facts[c].name,
			      worst / (range[c].hi - range[c].lo), where);
		/* near 0 the square root is steeper than any table */
		if (c == RKMM_CURVE_SQRT)
			bound *= 8;
		assert_true(worst <= bound);
	}
}

/* Every entry is the rounded function, but for the ends that are set to their limit. */
static void test_entries(void **state)
{
	uint32_t c, k;

	(void)state;
	for (c = 0; c < RKMM_CURVE_COUNT; c++) {
		const struct rkmm_curve_facts *f = &rkmm_curve_facts[c];
		double top = c == RKMM_CURVE_EXP || c == RKMM_CURVE_SOFTMAX ? 32767 :
			     ldexp(1, (int)f->q);

		for (k = 1; k < 1024; k++) {
			double x = (f->a + k * (f->b - f->a) / 1024.0) / 256;
			double v = truth(c, x) * top;

			if (fabs(rkmm_curve_point(c, k) - clamp(v, -32767, 32767)) > 0.501)
				print_error("%s entry %u: %d, not %f\n", f->name, k,
					    rkmm_curve_point(c, k), v);
			assert_true(fabs(rkmm_curve_point(c, k) - clamp(v, -32767, 32767)) <= 0.501);
		}
	}
}

/* The captured prescale of the softmax: hw 04 §2.5, table of curves */
static void test_prescale(void **state)
{
	u16 mul = rkmm_num_f16(rkmm_curve_gain(RKMM_CURVE_EXP));

	(void)state;
	assert_int_equal(mul, 0x6a66);
	assert_int_equal(rkmm_num_f32(rkmm_curve_shift(RKMM_CURVE_EXP, rkmm_f16_num(mul))),
			 0x467ff000);
}

static uint64_t seed = 0x9e3779b97f4a7c15ull;

static uint64_t random64(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static double num_value(struct rkmm_num n)
{
	return ldexp((double)n.mant, n.exp);
}

static void test_numbers(void **state)
{
	uint32_t i, mult, shift, bits;

	(void)state;
	for (i = 0; i < 0x10000; i++) {
		struct rkmm_num n;

		if ((i >> 10 & 31) == 31)
			continue;
		n = rkmm_f16_num(i);
		assert_true(num_value(n) == half_value(i));
		if (i != 0x8000)
			assert_int_equal(rkmm_num_f16(n), i);
	}
	for (i = 0; i < 200000; i++) {
		struct rkmm_num a = { (int64_t)random64() >> (2 + random64() % 60), 0 }, b;
		double va, vb, sum;
		float f;

		a.exp = (int)(random64() % 60) - 60;
		b = (struct rkmm_num){ (int64_t)random64() >> (2 + random64() % 60),
				       (int)(random64() % 60) - 60 };
		va = num_value(a);
		vb = num_value(b);
		/* 53 bits are enough to round once more, but for ties of long numbers */
		if (llabs(a.mant) < 1ll << 53) {
			f = (float)va;
			memcpy(&bits, &f, 4);
			assert_int_equal(rkmm_num_f32(a), va == 0 ? 0 : bits);
		}
		assert_true(fabs(num_value(rkmm_num_mul(a, b)) - va * vb) <=
			    ldexp(fabs(va * vb), -28));
		sum = num_value(rkmm_num_add(a, b));
		assert_true(fabs(sum - (va + vb)) <= ldexp(fmax(fabs(va), fabs(vb)), -38));
		if (fabs(va - vb) > ldexp(fabs(va), -30))
			assert_int_equal(rkmm_num_cmp(a, b), va < vb ? -1 : 1);
		if (a.mant)
			assert_true(fabs(num_value(rkmm_num_inverse(a)) * va - 1) < ldexp(1, -20));
		a.mant = llabs(a.mant);
		va = fabs(va);
		if (rkmm_num_ratio(a, 15, 31, &mult, &shift)) {
			assert_true(mult < 1u << 15 && shift <= 31);
			assert_true(fabs(ldexp(mult, -(int)shift) - va) <=
				    ldexp(va, -15) * 1.0001 + ldexp(0.5, -31));
		} else {
			assert_true(va >= 32767);
		}
	}
	for (i = 0; i < 100000; i++) {
		uint64_t v = random64() >> random64() % 64, r = rkmm_isqrt(v);

		assert_true(r * r <= v && (r == UINT32_MAX || (r + 1) * (r + 1) > v));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exp_table),
		cmocka_unit_test(test_entries),
		cmocka_unit_test(test_all_inputs),
		cmocka_unit_test(test_prescale),
		cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests_name("prog lut", tests, NULL, NULL);
}
