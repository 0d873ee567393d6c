// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Operations of two operands on the software NPU against double precision: tensors, one
 * number, one for each channel; random shapes and data.
 */
#define SEED	0x2545f4914f6cdd1dull
#include "op_world.h"

/* fp16, two tensors in cubes or rows: rounded once */
static void test_half(void **state)
{
	uint32_t i, row, col;

	(void)state;
	for (i = 0; i < 300; i++) {
		struct data t = operation(i % 6, RKMM_PREC_F16);

		t.op.flags = rnd(3) ? 0 : RKMM_OP_FLAT;
		prepare(&t, i % 3 ? small_value : wide_value, i % 3 ? small_value : wide_value,
			NULL);
		for (row = 0; row < t.rows; row++)
			for (col = 0; col < t.op.n; col++)
				expect(&t, row, col,
				       half_value(half(combine(i % 6, t.a[row * t.op.n + col],
							       t.b[row * t.op.n + col]))), 0);
		finish(&t);
	}
}

/* Infinities, denormals, signed zeros: as IEEE has them, but for the sign of a zero */
static void test_special(void **state)
{
	uint32_t i, row, col;

	(void)state;
	for (i = 0; i < 60; i++) {
		struct data t = operation(i % 6, RKMM_PREC_F16);

		prepare(&t, any_half, any_half, NULL);
		for (row = 0; row < t.rows; row++)
			for (col = 0; col < t.op.n; col++)
				expect(&t, row, col,
				       half_value(half(combine(i % 6, t.a[row * t.op.n + col],
							       t.b[row * t.op.n + col]))), 0);
		finish(&t);
	}
}

/* hw 04 §2.2: exact, ties of the output to even */
static double byte_reference(const struct rkmm_op *op, double a, double b)
{
	const struct rkmm_quant *q = &op->quant;
	double v;

	a += q->za;
	b += q->zb;
	if (op->code == RKMM_OP_MUL)
		v = a * b;
	else
		v = combine(op->code, a * 16384, b * 16384);
	return clamp_to(rint(v * q->mult / ldexp(1, (int)q->shift)) + q->zo, -128, 127);
}

static void test_bytes(void **state)
{
	uint32_t i, row, col;

	(void)state;
	for (i = 0; i < 200; i++) {
		struct data t = operation(i % 5, RKMM_PREC_I8);

		t.op.quant = (struct rkmm_quant){
			.za = (int)rnd(20) - 10, .zb = (int)rnd(20) - 10,
			.zo = (int)rnd(20) - 10, .mult = 1 + rnd(0x7fff), .shift = 14 + rnd(14),
		};
		prepare(&t, byte_value, byte_value, NULL);
		for (row = 0; row < t.rows; row++)
			for (col = 0; col < t.op.n; col++)
				expect(&t, row, col,
				       byte_reference(&t.op, t.a[row * t.op.n + col],
						      t.b[row * t.op.n + col]), 0);
		finish(&t);
	}
}

/* One number: it is rounded to fp16 where it multiplies, the result once more */
static void test_scalar(void **state)
{
	uint32_t i, row, col;

	(void)state;
	for (i = 0; i < 120; i++) {
		struct data t = operation(i % 6, RKMM_PREC_F16);
		float s = (float)uniform(0.25, 6) * (rnd(2) ? 1 : -1);

		t.op.other = RKMM_OTHER_SCALAR;
		t.op.value = float_bits(s);
		prepare(&t, small_value, NULL, NULL);
		for (row = 0; row < t.rows; row++) {
			for (col = 0; col < t.op.n; col++) {
				double want = combine(i % 6, t.a[row * t.op.n + col], (double)s);
				bool product = i % 6 == RKMM_OP_MUL || i % 6 == RKMM_OP_DIV;

				expect(&t, row, col, want, ulp(want) * (product ? 1.5 : 0.51));
			}
		}
		finish(&t);
	}
}

static void test_byte_scalar(void **state)
{
	uint32_t i, row, col;

	(void)state;
	for (i = 0; i < 60; i++) {
		struct data t = operation(i % 5, RKMM_PREC_I8);
		int s = (int)rnd(100) - 50;

		t.op.other = RKMM_OTHER_SCALAR;
		t.op.value = (uint32_t)s;
		t.op.quant = (struct rkmm_quant){
			.za = (int)rnd(20) - 10, .mult = 1 + rnd(0x7fff), .shift = 12 + rnd(10),
		};
		prepare(&t, byte_value, NULL, NULL);
		for (row = 0; row < t.rows; row++) {
			for (col = 0; col < t.op.n; col++) {
				double v = combine(i % 5, t.a[row * t.op.n + col] +
						   t.op.quant.za, s);

				v = rint(v * t.op.quant.mult /
					 ldexp(1, (int)t.op.quant.shift));
				expect(&t, row, col, clamp_to(v, -128, 127), 0);
			}
		}
		finish(&t);
	}
}

static void test_channel(void **state)
{
	uint32_t i, row, col;

	(void)state;
	for (i = 0; i < 80; i++) {
		bool byte = i & 1, bias = i & 2;
		struct data t = operation(bias ? RKMM_OP_ADD : RKMM_OP_MUL,
					  byte ? RKMM_PREC_I8 : RKMM_PREC_F16);

		t.op.other = RKMM_OTHER_CHANNEL;
		if (byte) {
			t.op.quant.mult = 1 + rnd(0x7fff);
			t.op.quant.shift = 16;
		}
		if (i > 70)
			t.op.m += 500;
		prepare(&t, byte ? byte_value : small_value, byte ? byte_value : small_value,
			NULL);
		for (row = 0; row < t.rows; row++) {
			for (col = 0; col < t.op.n; col++) {
				double v = combine(t.op.code, t.a[row * t.op.n + col], t.b[col]);

				if (byte)
					v = clamp_to(rint(v * t.op.quant.mult / 65536), -128, 127);
				else
					v = half_value(half(v));
				expect(&t, row, col, v, 0);
			}
		}
		finish(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_half),
		cmocka_unit_test(test_special),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_scalar),
		cmocka_unit_test(test_byte_scalar),
		cmocka_unit_test(test_channel),
	};

	return cmocka_run_group_tests_name("operations on the model", tests, setup, teardown);
}
