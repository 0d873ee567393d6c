// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Operations of one operand on the software NPU against double precision: with a table and
 * without, and in tiles.
 */
#define SEED	0x3607596a6b619003ull
#include "op_world.h"

static void test_no_table(void **state)
{
	static const enum rkmm_op_code codes[] = {
		RKMM_OP_COPY, RKMM_OP_RELU, RKMM_OP_CLAMP, RKMM_OP_LEAKY, RKMM_OP_HARDSWISH,
	};
	uint32_t i, row, col;

	(void)state;
	for (i = 0; i < 150; i++) {
		struct data t = operation(codes[i % 5], RKMM_PREC_F16);
		double lo = 0, hi = 6, slope = 0.1;

		if (t.op.code == RKMM_OP_CLAMP) {
			lo = rnd(2) ? 0 : (float)uniform(-4, 0);
			hi = (float)uniform(0, 6);
			t.op.value = float_bits((float)lo);
			t.op.value2 = float_bits((float)hi);
		}
		if (t.op.code == RKMM_OP_LEAKY)
			t.op.value = float_bits((float)slope);
		t.op.flags = rnd(3) ? 0 : RKMM_OP_FLAT;
		prepare(&t, small_value, NULL, NULL);
		for (row = 0; row < t.rows; row++) {
			for (col = 0; col < t.op.n; col++) {
				double x = t.a[row * t.op.n + col], v = x;

				switch (t.op.code) {
				case RKMM_OP_RELU:
					v = x < 0 ? 0 : x;
					break;
				case RKMM_OP_CLAMP:
					v = clamp_to(x, lo, hi);
					break;
				case RKMM_OP_LEAKY:
					v = x < 0 ? half_value(half(slope)) * x : x;
					break;
				case RKMM_OP_HARDSWISH:
					v = x * clamp_to(x + 3, 0, 6) / 6;
					break;
				default:
					break;
				}
				expect(&t, row, col, v,
				       ulp(v) * (t.op.code == RKMM_OP_HARDSWISH ? 2 : 0.51));
			}
		}
		finish(&t);
	}
}

static void test_bytes_no_table(void **state)
{
	static const enum rkmm_op_code codes[] = {
		RKMM_OP_COPY, RKMM_OP_RELU, RKMM_OP_CLAMP, RKMM_OP_LEAKY,
	};
	uint32_t i, row, col;

	(void)state;
	for (i = 0; i < 60; i++) {
		struct data t = operation(codes[i % 4], RKMM_PREC_I8);
		int lo = -(int)rnd(90), hi = (int)rnd(90);

		if (t.op.code == RKMM_OP_CLAMP) {
			t.op.value = (uint32_t)lo;
			t.op.value2 = (uint32_t)hi;
		}
		if (t.op.code == RKMM_OP_LEAKY)
			t.op.value = 0x3e000000;
		prepare(&t, byte_value, NULL, NULL);
		for (row = 0; row < t.rows; row++) {
			for (col = 0; col < t.op.n; col++) {
				double x = t.a[row * t.op.n + col], v = x;

				if (t.op.code == RKMM_OP_RELU)
					v = x < 0 ? 0 : x;
				if (t.op.code == RKMM_OP_CLAMP)
					v = clamp_to(x, lo, hi);
				if (t.op.code == RKMM_OP_LEAKY)
					v = x < 0 ? rint(x / 8) : x;
				expect(&t, row, col, v, 0);
			}
		}
		finish(&t);
	}
}

static double gauss(double x)
{
	return 0.5 * erfc(-x * M_SQRT1_2);
}

static double curve(enum rkmm_op_code code, double x)
{
	switch (code) {
	case RKMM_OP_EXP:
		return exp(x < 0 ? x : 0);
	case RKMM_OP_SIGMOID:
		return 1 / (1 + exp(-x));
	case RKMM_OP_TANH:
		return tanh(x);
	case RKMM_OP_SILU:
		return x / (1 + exp(-x));
	case RKMM_OP_GELU:
		return x * gauss(x);
	case RKMM_OP_HARDSWISH:
		return x * clamp_to(x + 3, 0, 6) / 6;
	case RKMM_OP_RECIPROCAL:
		return 1 / clamp_to(x, 0.125, 8.125);
	default:
		return 1 / sqrt(clamp_to(x, 1 / 16.0, 4 + 1 / 16.0));
	}
}

/* 2^-9 of the range, and of the result where that is large */
static double curve_bound(enum rkmm_op_code code, double v)
{
	switch (code) {
	case RKMM_OP_TANH:
		return ldexp(2, -9);
	case RKMM_OP_RECIPROCAL:
		return ldexp(8, -9);
	case RKMM_OP_RSQRT:
		return ldexp(4, -9);
	default:
		return ldexp(fmax(1, fabs(v)), -9);
	}
}

static bool is_product(enum rkmm_op_code code)
{
	return code == RKMM_OP_SILU || code == RKMM_OP_GELU || code == RKMM_OP_HARDSWISH;
}

/*
 * Nobody knows what index a NaN becomes. It is 0 on the software NPU: the middle of the
 * table. Behind a product it is a NaN again, and so is minus infinity.
 */
static double curve_of_nan(enum rkmm_op_code code)
{
	static const double middles[RKMM_OP_COUNT] = {
		[RKMM_OP_EXP] = -5, [RKMM_OP_RECIPROCAL] = 4.125, [RKMM_OP_RSQRT] = 2.0625,
	};

	return is_product(code) ? NAN : curve(code, middles[code]);
}

static uint32_t walk;

/* All fp16 numbers, one after the other */
static double every_half(uint32_t row, uint32_t col)
{
	(void)row;
	(void)col;
	walk = (walk + 1) & 0xffff;
	return half_value((uint16_t)walk);
}

static void test_curves(void **state)
{
	uint32_t code, i, row, col;

	(void)state;
	for (code = RKMM_OP_EXP; code <= RKMM_OP_RSQRT; code++) {
		for (i = 0; i < 6; i++) {
			struct data t = operation(code, RKMM_PREC_F16);
			double worst = 0;

			/* one tensor with all of them */
			if (!i) {
				t.op.m = 256;
				t.op.n = 256;
				t.rows = 256;
			}
			prepare(&t, i ? small_value : every_half, NULL, NULL);
			for (row = 0; row < t.rows; row++) {
				for (col = 0; col < t.op.n; col++) {
					double x = t.a[row * t.op.n + col], v = curve(code, x);
					double got = result(&t, row, col);

					if (isnan(x))
						v = curve_of_nan(code);
					expect(&t, row, col, v, curve_bound(code, v));
					/* products keep the sign of zero, which nothing else has */
					if (is_product(code) && !x)
						assert_int_equal(signbit(got), signbit(x));
					if (isfinite(x))
						worst = fmax(worst, fabs(got - v) /
							     curve_bound(code, v));
				}
			}
			if (!i)
				print_message("%s: %.2f of the bound\n", rkmm_op_name(code), worst);
			finish(&t);
		}
	}
}

/* int8: two steps, of what the result can be at all */
static void test_byte_curves(void **state)
{
	uint32_t code, row, col;

	(void)state;
	for (code = RKMM_OP_EXP; code <= RKMM_OP_RSQRT; code++) {
		struct data t = operation(code, RKMM_PREC_I8);
		double in = 1 / 16.0, out = code == RKMM_OP_EXP || code == RKMM_OP_SIGMOID ||
			    code == RKMM_OP_TANH ? 1 / 127.0 : 1 / 15.0;

		t.op.scale = float_bits((float)in);
		t.op.out_scale = float_bits((float)out);
		prepare(&t, byte_value, NULL, NULL);
		for (row = 0; row < t.rows; row++) {
			for (col = 0; col < t.op.n; col++) {
				double v = curve(code, t.a[row * t.op.n + col] * in) / out;

				expect(&t, row, col, clamp_to(v, -128, 127), 1);
			}
		}
		finish(&t);
	}
}

/* More rows than a line holds, more columns than the channel field */
static void test_tiles(void **state)
{
	static const uint32_t shapes[][2] = { { 8168, 8 }, { 8169, 8 }, { 17000, 9 },
					      { 3, 8192 }, { 3, 8193 }, { 2, 20000 } };
	uint32_t i, row, col;

	(void)state;
	for (i = 0; i < 6; i++) {
		struct data t = operation(RKMM_OP_SUB, RKMM_PREC_F16);

		t.op.m = shapes[i][0];
		t.op.n = shapes[i][1];
		t.rows = t.op.m - rnd(2);
		prepare(&t, small_value, small_value, NULL);
		for (row = 0; row < t.rows; row++)
			for (col = 0; col < t.op.n; col++)
				expect(&t, row, col,
				       half_value(half(t.a[(size_t)row * t.op.n + col] -
						       t.b[(size_t)row * t.op.n + col])), 0);
		finish(&t);
	}
	for (i = 0; i < 6; i++) {
		struct data t = operation(RKMM_OP_SILU, RKMM_PREC_F16);

		t.op.m = shapes[i][0];
		t.op.n = shapes[i][1];
		t.rows = t.op.m - rnd(2);
		prepare(&t, small_value, NULL, NULL);
		for (row = 0; row < t.rows; row++) {
			for (col = 0; col < t.op.n; col++) {
				double v = curve(RKMM_OP_SILU, t.a[(size_t)row * t.op.n + col]);

				expect(&t, row, col, v, curve_bound(RKMM_OP_SILU, v));
			}
		}
		finish(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_table),
		cmocka_unit_test(test_bytes_no_table),
		cmocka_unit_test(test_curves),
		cmocka_unit_test(test_byte_curves),
		cmocka_unit_test(test_tiles),
	};

	return cmocka_run_group_tests_name("curves on the model", tests, setup, teardown);
}
