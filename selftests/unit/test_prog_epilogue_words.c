// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Epilogues but for their numbers: register words, chains, memory, evidence, refusals, noise.
 */
#include "epilogue_world.h"

static u32 value_of(const u64 *words, uint32_t n, uint32_t target, uint32_t reg)
{
	uint32_t i, v = 0xdeadbeef;

	for (i = 0; i < n; i++)
		if (words[i] >> 48 == target && (words[i] & 0xffff) == reg)
			v = (uint32_t)(words[i] >> 16);
	return v;
}

/* Values of the sheets: hw 02 §8, hw 04 §1.2, §2.6, §8 */
static void test_words(void **state)
{
	u64 words[108 + 18 + 1028];
	struct rkmm_program p;
	struct test t;

	(void)state;
	t = (struct test){ .mm = matmul(RKMM_T_I8I8, 9, 512, 96) };
	stage(&t, RKMM_OP_ADD)->other = RKMM_OTHER_CHANNEL;
	stage(&t, RKMM_OP_REQUANT);
	assert_int_equal(plan(&t), RKMM_OK);
	rkmm_geom_program(&t.g, 0, 9, 0x1000, 0x2000, 0x3000, &p);
	p.table += 0x4000;
	assert_int_equal(rkmm_program_writes(&p), 126);
	assert_int_equal(rkmm_program_enable(&p), 0x1d);
	assert_int_equal(rkmm_emit_program(&p, words), 126);
	assert_int_equal(value_of(words, 126, 0x1001, 0x4040), 0x20150);
	assert_int_equal(value_of(words, 126, 0x1001, 0x4060), 0x53);
	assert_int_equal(value_of(words, 126, 0x1001, 0x4070), 0x383);
	assert_int_equal(value_of(words, 126, 0x1001, 0x4084), t.mm.mult);
	assert_int_equal(value_of(words, 126, 0x2001, 0x5004), 0xe);
	assert_int_equal(value_of(words, 126, 0x2001, 0x500c), 0);
	assert_int_equal(value_of(words, 126, 0x2001, 0x5010), 8);
	assert_int_equal(value_of(words, 126, 0x2001, 0x5014), p.n - 1);
	assert_int_equal(value_of(words, 126, 0x2001, 0x501c), 2);
	assert_int_equal(value_of(words, 126, 0x2001, 0x5020), 0x4000);
	assert_int_equal(value_of(words, 126, 0x2001, 0x5034), 1);
	assert_int_equal(value_of(words, 126, 0x2001, 0x5044), 0x7810);
	assert_int_equal(value_of(words, 126, 0x2001, 0x5068), 0x01010101);

	t = (struct test){ .mm = matmul(RKMM_T_F16F16, 9, 64, 96) };
	stage(&t, RKMM_OP_RELU);
	assert_int_equal(plan(&t), RKMM_OK);
	rkmm_geom_program(&t.g, 0, 9, 0x1000, 0x2000, 0x3000, &p);
	assert_int_equal(rkmm_program_enable(&p), 0xd);
	assert_int_equal(rkmm_emit_program(&p, words), 108);
	assert_int_equal(value_of(words, 108, 0x1001, 0x4040), 0x12);
	t.s.op[0].code = RKMM_OP_CLAMP;
	t.s.op[0].value2 = float_bits(6);
	assert_int_equal(plan(&t), RKMM_OK);
	rkmm_geom_program(&t.g, 0, 9, 0x1000, 0x2000, 0x3000, &p);
	assert_int_equal(rkmm_emit_program(&p, words), 108);
	assert_int_equal(value_of(words, 108, 0x1001, 0x4040), 0x92);
	assert_int_equal(value_of(words, 108, 0x1001, 0x404c), 0x40c00000);

	t = (struct test){ .mm = matmul(RKMM_T_F16F32, 9, 64, 96) };
	stage(&t, RKMM_OP_EXP);
	assert_int_equal(plan(&t), RKMM_OK);
	rkmm_geom_program(&t.g, 0, 9, 0x1000, 0x2000, 0x3000, &p);
	p.load = true;
	assert_int_equal(rkmm_program_writes(&p), 108 + 1028);
	assert_int_equal(rkmm_emit_program(&p, words), 108 + 1028);
	assert_int_equal(value_of(words, 108, 0x1001, 0x4060), 0x20040);
	assert_int_equal(value_of(words, 108, 0x1001, 0x4064), 0x467ff000);
	assert_int_equal(value_of(words, 108, 0x1001, 0x4068), 0x6a660000);
	assert_int_equal(value_of(words, 108, 0x1001, 0x4070), 0x302);
	assert_int_equal(value_of(words, 108, 0x1001, 0x4080), 1);
	assert_int_equal(value_of(words, 108, 0x1001, 0x4084), 1);
	assert_int_equal(value_of(words, 108, 0x1001, 0x4088), 0xf000);
	assert_int_equal(value_of(words, 108, 0x1001, 0x4108), 0x68);
}

/* One table serves a chain, and none is in a chain with ping-pong. */
static void test_kicks(void **state)
{
	struct rkmm_member m;
	struct rkmm_kick kick[64];
	struct rkmm_extent extent;
	struct test t = { .mm = matmul(RKMM_T_F16F32, 3000, 256, 512) };
	uint32_t i;
	u64 *words;

	(void)state;
	t.mm.lanes = 3;
	stage(&t, RKMM_OP_EXP);
	assert_int_equal(plan(&t), RKMM_OK);
	assert_true(t.g.lanes > 1);
	m = rkmm_member_of(&t.g, 3000, base_of(0), base_of(1), base_of(2));
	rkmm_image_measure(&rkmm_limits_rk3588, &m, 1, &extent);
	assert_int_equal(extent.lanes, t.g.lanes);
	assert_true(extent.kicks < 64 && extent.tasks > extent.kicks);
	assert_int_equal(extent.bytes,
			 (uint64_t)extent.kicks * (rkmm_slot_bytes(108 + 1028) +
						   rkmm_slot_bytes(108)) +
			 (uint64_t)(extent.tasks - extent.kicks) * rkmm_slot_bytes(108));
	words = malloc(extent.bytes);
	rkmm_image_emit(&rkmm_limits_rk3588, &m, 1, base_of(3), words, kick);
	for (i = 0; i < extent.kicks; i++)
		assert_false(kick[i].pingpong);
	free(words);
	/* a relu changes nothing about chains */
	t.s.n = 0;
	stage(&t, RKMM_OP_RELU);
	assert_int_equal(plan(&t), RKMM_OK);
	m = rkmm_member_of(&t.g, 3000, base_of(0), base_of(1), base_of(2));
	rkmm_image_measure(&rkmm_limits_rk3588, &m, 1, &extent);
	words = malloc(extent.bytes);
	rkmm_image_emit(&rkmm_limits_rk3588, &m, 1, base_of(3), words, kick);
	assert_true(kick[0].tasks > 1 && kick[0].pingpong);
	free(words);
}

static void refuse(struct test t, enum rkmm_reason reason, uint32_t at)
{
	enum rkmm_reason got = plan(&t);

	if (got != reason || (got == RKMM_REASON_STAGE && epi->refused != at))
		print_error("%s at %u, not %s at %u\n", rkmm_reason_text(got), epi->refused,
			    rkmm_reason_text(reason), at);
	assert_int_equal(got, reason);
	if (reason == RKMM_REASON_STAGE)
		assert_int_equal(epi->refused, at);
}

static struct test list(enum rkmm_types types, const enum rkmm_op_code *codes, uint32_t n)
{
	struct test t = { .mm = matmul(types, 8, 64, 64) };
	uint32_t i;

	if (types == RKMM_T_I8I8) {
		t.mm.mult = 1;
		t.mm.shift = 0;
		t.mm.offset = 0;
	}
	for (i = 0; i < n; i++) {
		struct rkmm_op *op = stage(&t, codes[i]);

		if (codes[i] <= RKMM_OP_MUL)
			op->other = RKMM_OTHER_CHANNEL;
	}
	return t;
}

#define LIST(types, ...)							\
	list(types, (const enum rkmm_op_code[]){ __VA_ARGS__ },			\
	     sizeof((const enum rkmm_op_code[]){ __VA_ARGS__ }) / sizeof(enum rkmm_op_code))

static void test_refusals(void **state)
{
	struct test t;

	(void)state;
	refuse(LIST(RKMM_T_I4I16, RKMM_OP_RELU), RKMM_REASON_STAGE, 0);
	/* nothing reads results of 4 bytes */
	refuse(LIST(RKMM_T_F16F32, RKMM_OP_RELU, RKMM_OP_TANH), RKMM_REASON_STAGE, 1);
	refuse(LIST(RKMM_T_F16F32, RKMM_OP_RELU, RKMM_OP_RELU), RKMM_REASON_STAGE, 1);
	refuse(LIST(RKMM_T_F16F32, RKMM_OP_EXP, RKMM_OP_RELU), RKMM_REASON_STAGE, 1);
	refuse(LIST(RKMM_T_F16F32, RKMM_OP_MUL), RKMM_REASON_STAGE, 0);
	refuse(LIST(RKMM_T_I8I32, RKMM_OP_ADD, RKMM_OP_ADD), RKMM_REASON_STAGE, 1);
	refuse(LIST(RKMM_T_I8I32, RKMM_OP_SILU), RKMM_REASON_STAGE, 0);
	refuse(LIST(RKMM_T_I8I32, RKMM_OP_REQUANT), RKMM_REASON_STAGE, 0);
	refuse(LIST(RKMM_T_I8I8, RKMM_OP_RELU, RKMM_OP_ADD, RKMM_OP_REQUANT), RKMM_REASON_STAGE, 1);
	refuse(LIST(RKMM_T_I8I8, RKMM_OP_REQUANT, RKMM_OP_REQUANT), RKMM_REASON_STAGE, 1);
	refuse(LIST(RKMM_T_F16F16, RKMM_OP_RELU, RKMM_OP_SOFTMAX), RKMM_REASON_STAGE, 1);
	refuse(LIST(RKMM_T_F16F16, RKMM_OP_TRANSPOSE), RKMM_REASON_STAGE, 0);
	refuse(LIST(RKMM_T_F16F16, RKMM_OP_REQUANT), RKMM_REASON_STAGE, 0);
	/* three with an operand */
	refuse(LIST(RKMM_T_F16F16, RKMM_OP_ADD, RKMM_OP_MUL, RKMM_OP_ADD), RKMM_REASON_STAGE, 2);
	/* what the operation itself refuses */
	refuse(LIST(RKMM_T_F16F16, RKMM_OP_SUB), RKMM_REASON_OPERATION, 0);
	refuse(LIST(RKMM_T_I8I8, RKMM_OP_SILU), RKMM_REASON_PARAM, 0);
	t = LIST(RKMM_T_F16F16, RKMM_OP_RELU);
	t.s.op[0].quant.mult = 2;
	refuse(t, RKMM_REASON_PARAM, 0);
	/* sums without a curve, or with two ways to bytes */
	t = LIST(RKMM_T_I8I8, RKMM_OP_RELU);
	t.mm.mult = 0;
	refuse(t, RKMM_REASON_QUANT, 0);
	t = LIST(RKMM_T_I8I8, RKMM_OP_REQUANT);
	t.mm.mult = 0;
	refuse(t, RKMM_REASON_QUANT, 0);
	t = LIST(RKMM_T_I8I8, RKMM_OP_SILU);
	t.mm.mult = 0;
	refuse(t, RKMM_REASON_STAGE, 0);
	t.s.op[0].scale = float_bits(1e-4f);
	t.s.op[0].out_scale = float_bits(0.1f);
	refuse(t, RKMM_OK, 0);
	t.mm.offset = 1;
	refuse(t, RKMM_REASON_QUANT, 0);
	/* K in pieces, wanted or needed */
	t = LIST(RKMM_T_F16F16, RKMM_OP_RELU);
	t.mm.k = 11000;
	refuse(t, RKMM_REASON_SLICES, 0);
	t = LIST(RKMM_T_F16F16, RKMM_OP_RELU);
	t.mm.k = 4096;
	t.mm.slice = 2048;
	refuse(t, RKMM_REASON_SLICES, 0);
	/* operations read cubes, what is in the program does not care */
	t = LIST(RKMM_T_F16F16, RKMM_OP_RELU);
	t.mm.form = RKMM_FORM_FLAT;
	refuse(t, RKMM_OK, 0);
	t = LIST(RKMM_T_F16F16, RKMM_OP_TANH);
	t.mm.form = RKMM_FORM_FLAT;
	refuse(t, RKMM_REASON_FORM, 0);
}

static bool apart(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes)
{
	return a + a_bytes <= b || b + b_bytes <= a;
}

/* Results take turns: each operation reads what the one before it left, and writes elsewhere. */
static void check_places(const struct test *t, const struct rkmm_member *m, uint32_t n,
			 uint32_t work)
{
	uint32_t i, end = base_of(TEMP) + (uint32_t)epi->temp_bytes;

	assert_ptr_equal(m[0].geom, &t->g);
	for (i = 1; i < n; i++) {
		const struct rkmm_opgeom *g = m[i].op;
		bool last = i + 1 == n;

		assert_int_equal(m[i].a, m[i - 1].c);
		assert_true(apart(m[i].a, g->a.size, m[i].c, g->c.size));
		assert_true(apart(m[i].a, g->a.size, work, g->temp_bytes));
		assert_true(apart(m[i].c, g->c.size, work, g->temp_bytes));
		assert_int_equal(m[i].temp, work);
		assert_true(m[i].a >= base_of(TEMP) && m[i].a + g->a.size <= end);
		assert_true(work + g->temp_bytes <= end);
		if (last)
			assert_int_equal(m[i].c, base_of(2));
		else
			assert_true(m[i].c >= base_of(TEMP) && m[i].c + g->c.size <= end);
	}
}

static void test_places(void **state)
{
	static const enum rkmm_op_code codes[] = {
		RKMM_OP_SILU, RKMM_OP_TANH, RKMM_OP_COPY, RKMM_OP_ADD, RKMM_OP_MAX, RKMM_OP_RELU,
	};
	uint32_t i, k, n, turns[RKMM_STAGES + 1] = {};

	(void)state;
	for (i = 0; i < 400; i++) {
		struct test t = product(rnd(2) ? RKMM_T_F16F16 : RKMM_T_I8I8);
		struct rkmm_epilogue_place place = {
			.d = base_of(OPERAND_D), .e = base_of(OPERAND_E), .temp = base_of(TEMP),
			.consts = base_of(CONSTS),
		};
		struct rkmm_member matmul, members[RKMM_EPILOGUE_MEMBERS];
		uint32_t stages = 1 + rnd(RKMM_STAGES), operands = 0;

		for (k = 0; k < stages; k++) {
			struct rkmm_op *op = stage(&t, codes[rnd(6)]);

			if (op->code == RKMM_OP_ADD || op->code == RKMM_OP_MAX) {
				op->other = operands++ < 2 ? RKMM_OTHER_TENSOR :
							     RKMM_OTHER_SCALAR;
				op->value = op->other == RKMM_OTHER_TENSOR ? 0 :
					    is_f16(&t) ? float_bits(2) : 2;
			}
			if (!is_f16(&t) && op->code <= RKMM_OP_RSQRT && op->code >= RKMM_OP_EXP) {
				op->scale = float_bits(0.05f);
				op->out_scale = float_bits(0.02f);
			}
		}
		assert_int_equal(plan(&t), RKMM_OK);
		matmul = rkmm_member_of(&t.g, t.rows, base_of(0), base_of(1), base_of(2));
		place.work = place.temp + epi->work;
		n = rkmm_epilogue_members(epi, &matmul, &place, members);
		assert_int_equal(n, 1 + epi->nops);
		check_places(&t, members, n, place.work);
		turns[epi->nops]++;
	}
	for (k = 1; k <= RKMM_STAGES; k++)
		assert_true(turns[k] > 20);
}

static void weakest(struct test t, enum rkmm_evidence evidence, uint32_t at)
{
	assert_int_equal(plan(&t), RKMM_OK);
	assert_int_equal(epi->evidence, evidence);
	if (evidence == RKMM_EVIDENCE_DERIVED)
		assert_int_equal(epi->weakest, at);
}

/* Which stage it is that no board ran, fused or behind */
static void test_evidence(void **state)
{
	(void)state;
	weakest(LIST(RKMM_T_F16F16, RKMM_OP_RELU, RKMM_OP_EXP), RKMM_EVIDENCE_CAPTURED, 0);
	weakest(LIST(RKMM_T_F16F16, RKMM_OP_RELU, RKMM_OP_EXP, RKMM_OP_SILU, RKMM_OP_TANH),
		RKMM_EVIDENCE_DERIVED, 2);
	weakest(LIST(RKMM_T_F16F32, RKMM_OP_EXP), RKMM_EVIDENCE_CAPTURED, 0);
	weakest(LIST(RKMM_T_F16F32, RKMM_OP_ADD, RKMM_OP_RELU), RKMM_EVIDENCE_DERIVED, 0);
	weakest(LIST(RKMM_T_I8I8, RKMM_OP_ADD, RKMM_OP_REQUANT, RKMM_OP_COPY),
		RKMM_EVIDENCE_CAPTURED, 0);
	weakest(LIST(RKMM_T_I8I8, RKMM_OP_ADD, RKMM_OP_REQUANT, RKMM_OP_COPY, RKMM_OP_ADD),
		RKMM_EVIDENCE_DERIVED, 3);
}

/* Whatever is asked for is answered, and what is accepted runs without a broken law. */
static void test_noise(void **state)
{
	uint32_t i, k, ran = 0;

	(void)state;
	for (i = 0; i < 3000; i++) {
		struct test t = product(rnd(RKMM_T_COUNT));

		t.mm.m = 1 + t.mm.m % 20;
		t.rows = t.mm.m;
		if (rnd(3) == 0)
			t.mm.mult = (int)rnd(3);
		t.s.n = rnd(5) ? 1 + rnd(2) : rnd(6);
		for (k = 0; k < RKMM_STAGES; k++)
			t.s.op[k] = (struct rkmm_op){
				.code = rnd(20) ? rnd(21) : rnd(40), .other = rnd(2) ? 0 : rnd(4),
				.value = rnd(4) ? 0 : rnd(2) ? float_bits(1.5f) : (uint32_t)seed,
				.value2 = rnd(6) ? 0 : float_bits(6),
				.scale = rnd(6) ? 0 : float_bits(0.01f),
				.out_scale = rnd(6) ? 0 : float_bits(0.1f),
				.quant = {
					.za = rnd(9) ? 0 : (int)rnd(9), .zo = rnd(9) ? 0 : 3,
					.mult = rnd(9) ? 0 : 1 + rnd(5), .shift = rnd(9) ? 0 : 3,
				},
			};
		if (plan(&t) != RKMM_OK)
			continue;
		prepare(&t, -2, 2);
		finish(&t);
		ran++;
	}
	assert_true(ran > 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_kicks),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_evidence),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_noise),
	};

	return cmocka_run_group_tests_name("words of epilogues", tests, start_epilogues,
					   stop_epilogues);
}
