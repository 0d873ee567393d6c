// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * What QUERY tells of each operation, against plans of random shapes: evidence, where
 * it depends on N, the most columns, flags, which operations are refused, and which
 * matmuls take them as a stage.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kmod/prog/rkmm_op_facts.h"

static uint64_t seed = 0x9e3779b97f4a7c15ull;
static struct rkmm_opgeom *geom;
static struct rkmm_epilogue *scratch;

static uint32_t rnd(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)((seed >> 20) % below);
}

static uint32_t float_bits(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, 4);
	return bits;
}

static struct rkmm_op operation(const struct rkmm_op_facts *f, uint32_t n)
{
	bool real = f->precision == RKMM_PREC_F16;
	struct rkmm_op op = {
		.code = f->code, .precision = f->precision, .other = f->other,
		.m = 1 + rnd(300), .n = n,
	};

	if (f->other == RKMM_OTHER_SCALAR)
		op.value = real ? float_bits(0.5f + (float)rnd(9)) : 1 + rnd(9);
	switch (f->code) {
	case RKMM_OP_CLAMP:
		op.value2 = real ? float_bits(6) : 99;
		break;
	case RKMM_OP_LEAKY:
	case RKMM_OP_RMSNORM:
	case RKMM_OP_LAYERNORM:
		op.value = float_bits(0.01f);
		break;
	case RKMM_OP_MAXPOOL:
	case RKMM_OP_AVGPOOL:
		op.width = 1 + rnd(9);
		op.m *= op.width;
		op.kernel_w = 1;
		op.kernel_h = 1;
		break;
	default:
		break;
	}
	if (!real && f->code >= RKMM_OP_EXP && f->code <= RKMM_OP_RSQRT) {
		op.scale = float_bits(0.04f);
		op.out_scale = float_bits(0.02f);
	}
	return op;
}

static enum rkmm_reason plan(struct rkmm_op op)
{
	return rkmm_op_geometry(&rkmm_limits_rk3588, &op, geom);
}

static void check_shapes(const struct rkmm_op_facts *f)
{
	uint32_t n, i;

	for (i = 0; i < 60; i++) {
		n = 1 + rnd(400);
		assert_int_equal(plan(operation(f, n)), f->reason);
		if (f->reason != RKMM_OK)
			continue;
		assert_int_equal(geom->evidence, n % f->n_most ? f->least : f->most);
		assert_int_equal(geom->a.cols, (n + f->n_align - 1) / f->n_align * f->n_align);
	}
}

static void check_limit(const struct rkmm_op_facts *f)
{
	struct rkmm_op op = operation(f, f->n_max ? f->n_max : 100000);

	op.m = op.width ? op.width : 1;
	assert_int_equal(plan(op), RKMM_OK);
	op.n++;
	assert_int_equal(plan(op), f->n_max ? RKMM_REASON_N_LIMIT : RKMM_OK);
}

static void check_flags(const struct rkmm_op_facts *f)
{
	uint32_t bit;

	for (bit = 0; bit < 6; bit++) {
		struct rkmm_op op = operation(f, 64);
		bool takes = f->flags >> bit & 1;

		op.flags = 1u << bit;
		assert_int_equal(plan(op) == RKMM_OK, takes);
	}
}

static void test_facts(void **state)
{
	uint32_t seen[RKMM_OP_COUNT][3] = {}, i, refused = 0;

	(void)state;
	for (i = 0; i < RKMM_OP_FACTS; i++) {
		struct rkmm_op_facts f;

		memset(scratch, 0x5a, sizeof(*scratch));
		rkmm_op_facts(&rkmm_limits_rk3588, i, scratch, &f);
		assert_true(f.code < RKMM_OP_COUNT && f.other < RKMM_OTHER_COUNT);
		assert_false(seen[f.code][f.other] >> f.precision & 1);
		seen[f.code][f.other] |= 1u << f.precision;
		check_shapes(&f);
		if (f.reason != RKMM_OK) {
			refused++;
			continue;
		}
		assert_true(f.least <= f.most);
		check_limit(&f);
		check_flags(&f);
	}
	for (i = 0; i < RKMM_OP_COUNT; i++) {
		const uint32_t all = 1u << RKMM_PREC_F16 | 1u << RKMM_PREC_I8 | 1u << RKMM_PREC_I16;

		assert_int_equal(seen[i][RKMM_OTHER_TENSOR], all);
		assert_int_equal(seen[i][RKMM_OTHER_SCALAR], i <= RKMM_OP_DIV ? all : 0);
		assert_int_equal(seen[i][RKMM_OTHER_CHANNEL], i <= RKMM_OP_DIV ? all : 0);
	}
	assert_true(refused > 10 && refused < RKMM_OP_FACTS / 2);
}

/* Some by name, so that a table that agrees with wrong plans is seen */
static void test_named(void **state)
{
	static const struct {
		enum rkmm_op_code code;
		enum rkmm_precision precision;
		enum rkmm_other other;
		enum rkmm_reason reason;
		enum rkmm_evidence least, most;
	} rows[] = {
		{ RKMM_OP_ADD, RKMM_PREC_F16, RKMM_OTHER_TENSOR, RKMM_OK, 1, 1 },
		{ RKMM_OP_ADD, RKMM_PREC_I16, RKMM_OTHER_TENSOR, RKMM_OK, 0, 0 },
		{ RKMM_OP_MUL, RKMM_PREC_F16, RKMM_OTHER_CHANNEL, RKMM_OK, 1, 1 },
		{ RKMM_OP_ROWMAX, RKMM_PREC_F16, RKMM_OTHER_TENSOR, RKMM_OK, 0, 1 },
		{ RKMM_OP_SOFTMAX, RKMM_PREC_F16, RKMM_OTHER_TENSOR, RKMM_OK, 0, 0 },
		{ RKMM_OP_SOFTMAX, RKMM_PREC_I8, RKMM_OTHER_TENSOR, RKMM_REASON_OPERATION, 0, 0 },
		{ RKMM_OP_REQUANT, RKMM_PREC_I8, RKMM_OTHER_TENSOR, RKMM_REASON_READ_BACK, 0, 0 },
		{ RKMM_OP_SILU, RKMM_PREC_I8, RKMM_OTHER_TENSOR, RKMM_OK, 1, 1 },
		{ RKMM_OP_SILU, RKMM_PREC_F16, RKMM_OTHER_TENSOR, RKMM_OK, 0, 0 },
	};
	uint32_t i, k, found;

	(void)state;
	for (k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		for (i = 0, found = 0; i < RKMM_OP_FACTS; i++) {
			struct rkmm_op_facts f;

			rkmm_op_facts(&rkmm_limits_rk3588, i, scratch, &f);
			if (f.code != rows[k].code || f.precision != rows[k].precision ||
			    f.other != rows[k].other)
				continue;
			found++;
			assert_int_equal(f.reason, rows[k].reason);
			assert_int_equal(f.least, rows[k].least);
			assert_int_equal(f.most, rows[k].most);
		}
		assert_int_equal(found, 1);
	}
}

#define IN(t)	(1u << RKMM_T_##t)

/*
 * The table of epilogues in Documentation/operations.rst, row by row: where an operation
 * is a stage, and (hw 04 §4, hw 03 O4, O15, O16) which the matmul's own program can do.
 */
static void test_stages(void **state)
{
	static const struct {
		enum rkmm_op_code code;
		enum rkmm_precision precision;
		enum rkmm_other other;
		uint32_t of, fused, fused_sure;
	} rows[] = {
		{ RKMM_OP_ADD, RKMM_PREC_F16, RKMM_OTHER_TENSOR, IN(F16F16), 0, 0 },
		{ RKMM_OP_ADD, RKMM_PREC_F16, RKMM_OTHER_SCALAR, IN(F16F16) | IN(F16F32),
		  IN(F16F32), 0 },
		{ RKMM_OP_ADD, RKMM_PREC_F16, RKMM_OTHER_CHANNEL, IN(F16F16) | IN(F16F32),
		  IN(F16F32), 0 },
		{ RKMM_OP_ADD, RKMM_PREC_I8, RKMM_OTHER_TENSOR, IN(I8I8), 0, 0 },
		{ RKMM_OP_ADD, RKMM_PREC_I8, RKMM_OTHER_CHANNEL, IN(I8I8) | IN(I8I32),
		  IN(I8I8) | IN(I8I32), IN(I8I8) },
		{ RKMM_OP_ADD, RKMM_PREC_I16, RKMM_OTHER_TENSOR, 0, 0, 0 },
		{ RKMM_OP_SUB, RKMM_PREC_F16, RKMM_OTHER_CHANNEL, 0, 0, 0 },
		{ RKMM_OP_SUB, RKMM_PREC_I8, RKMM_OTHER_SCALAR, IN(I8I8) | IN(I8I32),
		  IN(I8I8) | IN(I8I32), 0 },
		{ RKMM_OP_MUL, RKMM_PREC_F16, RKMM_OTHER_SCALAR, IN(F16F16) | IN(F16F32),
		  IN(F16F32), 0 },
		{ RKMM_OP_MUL, RKMM_PREC_F16, RKMM_OTHER_CHANNEL, IN(F16F16), 0, 0 },
		{ RKMM_OP_MUL, RKMM_PREC_I8, RKMM_OTHER_SCALAR, IN(I8I8), 0, 0 },
		{ RKMM_OP_DIV, RKMM_PREC_I8, RKMM_OTHER_TENSOR, 0, 0, 0 },
		{ RKMM_OP_RELU, RKMM_PREC_F16, RKMM_OTHER_TENSOR, IN(F16F16) | IN(F16F32),
		  IN(F16F16) | IN(F16F32), IN(F16F16) },
		{ RKMM_OP_CLAMP, RKMM_PREC_F16, RKMM_OTHER_TENSOR, IN(F16F16) | IN(F16F32),
		  IN(F16F16) | IN(F16F32), IN(F16F16) },
		{ RKMM_OP_RELU, RKMM_PREC_I8, RKMM_OTHER_TENSOR, IN(I8I8) | IN(I8I32),
		  IN(I8I8) | IN(I8I32), IN(I8I8) },
		{ RKMM_OP_LEAKY, RKMM_PREC_F16, RKMM_OTHER_TENSOR, IN(F16F16), 0, 0 },
		{ RKMM_OP_EXP, RKMM_PREC_F16, RKMM_OTHER_TENSOR, IN(F16F16) | IN(F16F32),
		  IN(F16F32), IN(F16F32) },
		{ RKMM_OP_RSQRT, RKMM_PREC_F16, RKMM_OTHER_TENSOR, IN(F16F16) | IN(F16F32),
		  IN(F16F32), IN(F16F32) },
		{ RKMM_OP_SILU, RKMM_PREC_F16, RKMM_OTHER_TENSOR, IN(F16F16), 0, 0 },
		{ RKMM_OP_SILU, RKMM_PREC_I8, RKMM_OTHER_TENSOR, IN(I8I8), IN(I8I8), IN(I8I8) },
		{ RKMM_OP_GELU, RKMM_PREC_I8, RKMM_OTHER_TENSOR, IN(I8I8), IN(I8I8), 0 },
		{ RKMM_OP_REQUANT, RKMM_PREC_I8, RKMM_OTHER_TENSOR, IN(I8I8), IN(I8I8),
		  IN(I8I8) },
		{ RKMM_OP_REQUANT, RKMM_PREC_F16, RKMM_OTHER_TENSOR, 0, 0, 0 },
		{ RKMM_OP_SOFTMAX, RKMM_PREC_F16, RKMM_OTHER_TENSOR, 0, 0, 0 },
		{ RKMM_OP_MAXPOOL, RKMM_PREC_I8, RKMM_OTHER_TENSOR, 0, 0, 0 },
	};
	uint32_t i, k, found;

	(void)state;
	for (k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		for (i = 0, found = 0; i < RKMM_OP_FACTS; i++) {
			struct rkmm_op_facts f;

			rkmm_op_facts(&rkmm_limits_rk3588, i, scratch, &f);
			assert_false(f.fused_in & ~f.stage_of);
			assert_false(f.stage_sure & ~f.stage_of);
			assert_false(f.fused_sure & ~(f.fused_in & f.stage_sure));
			if (f.code != rows[k].code || f.precision != rows[k].precision ||
			    f.other != rows[k].other)
				continue;
			found++;
			assert_int_equal(f.stage_of, rows[k].of);
			assert_int_equal(f.fused_in, rows[k].fused);
			assert_int_equal(f.fused_sure, rows[k].fused_sure);
			/* a task of its own is as sure as a plan of its own */
			if (f.reason == RKMM_OK)
				assert_int_equal(f.stage_sure, f.fused_sure |
						 (f.least ? f.stage_of & ~f.fused_in : 0));
		}
		assert_int_equal(found, 1);
	}
}

static int setup(void **state)
{
	(void)state;
	geom = malloc(sizeof(*geom));
	scratch = malloc(sizeof(*scratch));
	return geom && scratch ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	free(geom);
	free(scratch);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_facts),
		cmocka_unit_test(test_named),
		cmocka_unit_test(test_stages),
	};

	return cmocka_run_group_tests_name("facts of operations", tests, setup, teardown);
}
