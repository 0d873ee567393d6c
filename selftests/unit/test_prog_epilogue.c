// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Matmuls with epilogues on the software NPU: against plain loops, and bit by bit
 * against the same operations one after the other. Every kind, type, and odd shapes.
 */
#include "epilogue_world.h"

static const enum rkmm_op_code curves[] = {
	RKMM_OP_EXP, RKMM_OP_SIGMOID, RKMM_OP_TANH, RKMM_OP_SILU, RKMM_OP_GELU,
	RKMM_OP_HARDSWISH, RKMM_OP_RECIPROCAL, RKMM_OP_RSQRT,
};

/* A stage of fp16 results, any of them */
static void any_half_stage(struct test *t, uint32_t pick)
{
	struct rkmm_op *op;

	if (pick < 6) {
		op = stage(t, pick);
		op->other = RKMM_OTHER_SCALAR;
		op->value = float_bits(0.5f + (float)rnd(64) / 16);
	} else if (pick < 11) {
		static const enum rkmm_op_code codes[] = {
			RKMM_OP_ADD, RKMM_OP_SUB, RKMM_OP_MUL, RKMM_OP_MAX, RKMM_OP_MIN,
		};

		stage(t, codes[pick - 6]);
	} else if (pick < 13) {
		op = stage(t, pick == 11 ? RKMM_OP_ADD : RKMM_OP_MUL);
		op->other = RKMM_OTHER_CHANNEL;
	} else if (pick == 13) {
		stage(t, RKMM_OP_RELU);
	} else if (pick == 14) {
		op = stage(t, RKMM_OP_CLAMP);
		op->value2 = float_bits(6);
	} else if (pick == 15) {
		op = stage(t, RKMM_OP_CLAMP);
		op->value = float_bits(-2.5f);
		op->value2 = float_bits(3);
	} else if (pick == 16) {
		op = stage(t, RKMM_OP_LEAKY);
		op->value = float_bits(0.125f);
	} else if (pick == 17) {
		stage(t, RKMM_OP_COPY);
	} else {
		stage(t, curves[pick - 18]);
	}
}

#define HALF_STAGES	26

/* fp16 to fp16, each kind alone: plain loops, and the same operation on its own */
static void test_half_each(void **state)
{
	uint32_t i;

	(void)state;
	for (i = 0; i < 4 * HALF_STAGES; i++) {
		struct test t = product(RKMM_T_F16F16);
		struct rkmm_matmul mm = t.mm;
		bool relu = i % HALF_STAGES == 13 || i % HALF_STAGES == 14;

		any_half_stage(&t, i % HALF_STAGES);
		prepare(&t, -3, 3);
		assert_int_equal(epi->fused, relu);
		assert_int_equal(epi->nops, !relu);
		assert_non_null(epi->why[0]);
		assert_int_equal(t.g.form, relu ? RKMM_FORM_FLAT : RKMM_FORM_CUBE);
		check_loops(&t, ldexp(1, -8));
		check_separate(&t, &mm);
		finish(&t);
	}
}

/* Up to four of any kinds, two of them with operands */
static void test_half_lists(void **state)
{
	uint32_t i, k;

	(void)state;
	for (i = 0; i < 60; i++) {
		struct test t = product(RKMM_T_F16F16);
		struct rkmm_matmul mm = t.mm;
		uint32_t n = 2 + rnd(3), operands = 0, pick;

		for (k = 0; k < n; k++) {
			pick = rnd(HALF_STAGES);
			if (pick >= 6 && pick < 13 && operands++ == 2)
				pick = 13;
			any_half_stage(&t, pick);
		}
		prepare(&t, -3, 3);
		check_separate(&t, &mm);
		finish(&t);
	}
	assert_true(several > 5);
}

/* fp16 to fp32: all of it in the program, exact but for one fp32 rounding a step */
static void test_single(void **state)
{
	uint32_t i, row, col;

	(void)state;
	for (i = 0; i < 80; i++) {
		struct test t = product(RKMM_T_F16F32);
		struct rkmm_op *op;
		float s = 0, f = 1, cap = 0;

		if (i % 4 == 1)
			t.mm.form = RKMM_FORM_CUBE;
		if (i & 1) {
			stage(&t, RKMM_OP_ADD)->other = RKMM_OTHER_CHANNEL;
		} else if (i & 2) {
			op = stage(&t, i & 4 ? RKMM_OP_SUB : RKMM_OP_ADD);
			op->other = RKMM_OTHER_SCALAR;
			s = (float)rnd(1000) / 77 - 6;
			op->value = float_bits(s);
			s = i & 4 ? -s : s;
		}
		if (i % 3 == 1) {
			op = stage(&t, RKMM_OP_MUL);
			op->other = RKMM_OTHER_SCALAR;
			f = half_float(float_half(0.01 * (1 + rnd(300))));
			op->value = float_bits(f);
		}
		if (i % 5 < 2 || !t.s.n) {
			stage(&t, RKMM_OP_RELU);
			cap = INFINITY;
		} else if (i % 5 == 2) {
			cap = 6.5f;
			stage(&t, RKMM_OP_CLAMP)->value2 = float_bits(cap);
		}
		prepare(&t, -9, 9);
		assert_int_equal(epi->fused, (1u << t.s.n) - 1);
		assert_int_equal(epi->nops, 0);
		for (row = 0; row < t.rows; row++) {
			for (col = 0; col < t.mm.n; col++) {
				float x = (float)t.sum[row * t.mm.n + col];

				x = x + (i & 1 ? (float)t.vec[0][col] : s);
				x = x * f;
				if (cap > 0)
					x = x < 0 ? 0 : x > cap ? cap : x;
				assert_true((float)result(&t, row, col) == x);
			}
		}
		finish(&t);
	}
}

/* fp16, bias, then exp or rsqrt, to fp32 */
static void test_single_curve(void **state)
{
	uint32_t i, row, col, inside = 0;

	(void)state;
	for (i = 0; i < 40; i++) {
		struct test t = product(RKMM_T_F16F32);
		enum rkmm_op_code code = i & 1 ? RKMM_OP_EXP : RKMM_OP_RSQRT;
		struct rkmm_op *op;

		if (i & 2) {
			stage(&t, RKMM_OP_ADD)->other = RKMM_OTHER_CHANNEL;
		} else {
			op = stage(&t, RKMM_OP_ADD);
			op->other = RKMM_OTHER_SCALAR;
			op->value = float_bits(i & 1 ? -4.25f : 1.5f);
		}
		op = stage(&t, RKMM_OP_MUL);
		op->other = RKMM_OTHER_SCALAR;
		op->value = float_bits(0.25f);
		stage(&t, code);
		prepare(&t, i & 1 ? -9 : 0, i & 1 ? 0 : 9);
		for (row = 0; row < t.rows; row++) {
			for (col = 0; col < t.mm.n; col++) {
				double v = operand_value(&t, 0, row, col), x;

				x = stage_value(&t, &t.s.op[0], t.sum[row * t.mm.n + col], v) / 4;
				inside += i & 1 ? x < 0 && x > -10 : x > 0.0625 && x < 4;
				v = fabs(result(&t, row, col) - curve(code, x));
				assert_true(v <= (i & 1 ? 1 : 4) * ldexp(1, -9));
			}
		}
		finish(&t);
	}
	assert_true(inside > 1000);
}

/* int8 to int32: exact */
static void test_sums(void **state)
{
	uint32_t i, row, col;

	(void)state;
	for (i = 0; i < 60; i++) {
		struct test t = product(RKMM_T_I8I32);
		struct rkmm_op *op;
		double cap = INFINITY;

		if (i % 4 == 1)
			t.mm.form = RKMM_FORM_CUBE;
		if (i % 3) {
			stage(&t, RKMM_OP_ADD)->other = RKMM_OTHER_CHANNEL;
		} else {
			op = stage(&t, i & 1 ? RKMM_OP_ADD : RKMM_OP_SUB);
			op->other = RKMM_OTHER_SCALAR;
			op->value = rnd(1 << 20);
		}
		if (i & 2) {
			stage(&t, RKMM_OP_RELU);
		} else if (i & 8) {
			cap = 31000;
			stage(&t, RKMM_OP_CLAMP)->value2 = (uint32_t)cap;
		}
		prepare(&t, -300000, 300000);
		assert_int_equal(epi->nops, 0);
		for (row = 0; row < t.rows; row++) {
			for (col = 0; col < t.mm.n; col++) {
				double x = stage_value(&t, &t.s.op[0], t.sum[row * t.mm.n + col],
						       operand_value(&t, 0, row, col));

				if (t.s.n > 1)
					x = fmin(fmax(x, 0), cap);
				assert_true(result(&t, row, col) == x);
			}
		}
		finish(&t);
	}
}

/* int8: bias and relu of the sums, requantised, then operations on bytes */
static void test_bytes(void **state)
{
	uint32_t i, row, col;

	(void)state;
	for (i = 0; i < 80; i++) {
		struct test t = product(RKMM_T_I8I8);
		struct rkmm_matmul mm = t.mm;
		struct rkmm_op *op;
		bool relu = i & 1;

		stage(&t, RKMM_OP_ADD)->other = RKMM_OTHER_CHANNEL;
		if (relu)
			stage(&t, RKMM_OP_RELU);
		stage(&t, RKMM_OP_REQUANT);
		if (i % 3 == 1) {
			op = stage(&t, RKMM_OP_MUL);
			op->other = RKMM_OTHER_SCALAR;
			op->value = 5;
			op->quant.mult = 3;
			op->quant.shift = 4;
		} else if (i % 3 == 2) {
			op = stage(&t, RKMM_OP_ADD);
			op->other = RKMM_OTHER_SCALAR;
			op->value = 11;
		}
		prepare(&t, -200000, 200000);
		assert_int_equal(epi->nops, i % 3 ? 1 : 0);
		for (row = 0; row < t.rows; row++) {
			for (col = 0; col < t.mm.n; col++) {
				double x = t.sum[row * t.mm.n + col] + t.vec[0][col];

				x = requant(&mm, (int32_t)(relu ? fmax(x, 0) : x));
				if (i % 3 == 1)
					x = rint(x * 5 * 3 / 16);
				if (i % 3 == 2)
					x += 11;
				x = fmin(fmax(x, -128), 127);
				assert_true(result(&t, row, col) == x);
			}
		}
		finish(&t);
	}
}

/* int8 results and what may follow: the same bytes as on its own; relu is fused */
static void test_bytes_behind(void **state)
{
	uint32_t i;

	(void)state;
	for (i = 0; i < 90; i++) {
		struct test t = product(RKMM_T_I8I8);
		struct rkmm_matmul mm = t.mm;
		struct rkmm_op *op;

		switch (i % 9) {
		case 0:
			op = stage(&t, RKMM_OP_RELU);
			op->quant.za = -mm.offset;
			op->quant.zo = mm.offset;
			break;
		case 1:
			stage(&t, RKMM_OP_RELU);
			break;
		case 2:
			op = stage(&t, RKMM_OP_ADD);
			op->other = RKMM_OTHER_CHANNEL;
			op->quant.mult = 3;
			op->quant.shift = 2;
			break;
		case 3:
			op = stage(&t, RKMM_OP_MUL);
			op->other = RKMM_OTHER_CHANNEL;
			op->quant.mult = 77;
			op->quant.shift = 12;
			break;
		case 4:
			stage(&t, RKMM_OP_LEAKY)->value = float_bits(0.25f);
			break;
		case 5:
			op = stage(&t, RKMM_OP_CLAMP);
			op->value = (uint32_t)-20;
			op->value2 = 50;
			break;
		case 6:
			op = stage(&t, RKMM_OP_ADD);
			op->quant = (struct rkmm_quant){ .za = 3, .mult = 1, .shift = 14 };
			break;
		default:
			op = stage(&t, curves[rnd(8)]);
			op->scale = float_bits(0.04f);
			op->out_scale = float_bits(0.02f);
			break;
		}
		if (i % 9 == 8)
			stage(&t, RKMM_OP_RELU);
		prepare(&t, -100, 100);
		assert_int_equal(epi->fused, i % 9 == 0 || (i % 9 == 1 && !mm.offset));
		check_separate(&t, &mm);
		finish(&t);
	}
}

/* A curve on int32 sums, which makes bytes of them */
static void test_byte_curves(void **state)
{
	uint32_t i, row, col, inside = 0;

	(void)state;
	for (i = 0; i < 48; i++) {
		struct test t = product(RKMM_T_I8I8);
		enum rkmm_op_code code = curves[i % 8];
		double step = 7e-5 + 1e-5 * rnd(9), out = 0.011, x, want;
		struct rkmm_op *op;

		t.mm.mult = 0;
		t.mm.shift = 0;
		t.mm.offset = 0;
		if (i & 8)
			stage(&t, RKMM_OP_ADD)->other = RKMM_OTHER_CHANNEL;
		op = stage(&t, code);
		op->scale = float_bits((float)step);
		if (code == RKMM_OP_SILU || code == RKMM_OP_GELU || code == RKMM_OP_HARDSWISH ||
		    code == RKMM_OP_RECIPROCAL)
			out = 0.06;
		if (code == RKMM_OP_RSQRT)
			out = 0.03;
		op->out_scale = float_bits((float)out);
		op->quant.zo = i & 16 ? 9 : 0;
		prepare(&t, -50000, 50000);
		assert_int_equal(epi->nops, 0);
		for (row = 0; row < t.rows; row++) {
			for (col = 0; col < t.mm.n; col++) {
				x = t.sum[row * t.mm.n + col] + (i & 8 ? t.vec[0][col] : 0);
				x *= (double)bits_float(op->scale);
				inside += fabs(x) < 4;
				want = curve(code, x) / (double)bits_float(op->out_scale) +
				       op->quant.zo;
				want = fmin(fmax(want, -128), 127);
				/* tails of silu and its like are those of the table */
				if (fabs(x) > 8)
					continue;
				if (!(fabs(result(&t, row, col) - want) <= 1.01))
					print_error("%s of %g: %g, not %g\n", rkmm_op_name(code), x,
						    result(&t, row, col), want);
				assert_true(fabs(result(&t, row, col) - want) <= 1.01);
			}
		}
		finish(&t);
	}
	assert_true(inside > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_half_each),
		cmocka_unit_test(test_half_lists),
		cmocka_unit_test(test_single),
		cmocka_unit_test(test_single_curve),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_bytes_behind),
		cmocka_unit_test(test_byte_curves),
	};

	return cmocka_run_group_tests_name("epilogues", tests, start_epilogues, stop_epilogues);
}
