// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Emitted words of single programs against the register lists of hw 04, which are test data
 * here: the base list of §2.1, what each operation changes in it (§2.2 - §2.6).
 */
#include "op_words.h"

/* hw 04 §2.2, fp16 */
static void test_half(void **state)
{
	static const struct {
		enum rkmm_op_code code;
		uint32_t ew, scale, rdma;
	} rows[] = {
		{ RKMM_OP_ADD, 0x108202c0, 0x10001, 0x17849 },
		{ RKMM_OP_SUB, 0x108402c0, 0x10001, 0x17849 },
		{ RKMM_OP_MAX, 0x108002c0, 0x10001, 0x17849 },
		{ RKMM_OP_MIN, 0x108102c0, 0x10001, 0x17849 },
		{ RKMM_OP_MUL, 0x108003c4, 0x10001, 0x17849 },
		{ RKMM_OP_DIV, 0x108303c0, 1, 0x17841 },
	};
	struct list l;
	uint32_t i;

	(void)state;
	for (i = 0; i < 6; i++) {
		struct rkmm_op op = operation(rows[i].code, RKMM_PREC_F16);

		base_list(&l, M, N);
		two_inputs(&l, M);
		set(&l, 0x4010, 0x48000002);
		set(&l, 0x4070, rows[i].ew);
		set(&l, 0x4084, rows[i].scale);
		set(&l, 0x5034, 0x40000008);
		set(&l, 0x5044, rows[i].rdma);
		assert_int_equal(emit(&op, 0), 0x18);
		compare(&l, words, nwords);
		assert_int_equal(geom->evidence, RKMM_EVIDENCE_CAPTURED);
	}
}

/* hw 04 §2.2, integers */
static void test_integers(void **state)
{
	static const struct {
		enum rkmm_op_code code;
		enum rkmm_precision precision;
		uint32_t bs, mul, ew, format, erdma, rdma;
	} rows[] = {
		{ RKMM_OP_MUL, RKMM_PREC_I8, 0x20050, 0, 0x904002c4, 0, 0x40000004, 0x7801 },
		{ RKMM_OP_ADD, RKMM_PREC_I8, 0x20040, 0x40000000, 0x904202c0, 0, 0x40000004,
		  0x7801 },
		{ RKMM_OP_MAX, RKMM_PREC_I8, 0x20040, 0x40000000, 0x904002c0, 0, 0x40000004,
		  0x7801 },
		{ RKMM_OP_MIN, RKMM_PREC_I8, 0x20040, 0x40000000, 0x904102c0, 0, 0x40000004,
		  0x7801 },
		{ RKMM_OP_MUL, RKMM_PREC_I16, 0x20050, 0, 0x908002c4, 0x24000001, 0x40000008,
		  0xf821 },
		/* with shift 0: note below the table */
		{ RKMM_OP_ADD, RKMM_PREC_I16, 0x20040, 0x40000000, 0x908202c0, 0x24000001,
		  0x40000008, 0xf821 },
	};
	struct list l;
	uint32_t i;

	(void)state;
	for (i = 0; i < 6; i++) {
		struct rkmm_op op = operation(rows[i].code, rows[i].precision);
		bool mul = op.code == RKMM_OP_MUL;

		op.quant = (struct rkmm_quant){
			.za = -7, .zb = 11, .zo = -13, .sb = mul ? 0 : 0x3210,
			.sb_shift = mul ? 0 : 3, .mult = 0x5b2c, .shift = 29,
		};
		base_list(&l, M, N);
		two_inputs(&l, M);
		set(&l, 0x4010, rows[i].format);
		set(&l, 0x4040, rows[i].bs);
		set(&l, 0x4044, (uint32_t)-7);
		set(&l, 0x4048, rows[i].mul);
		set(&l, 0x4070, rows[i].ew);
		set(&l, 0x4074, 11);
		set(&l, 0x4078, mul ? 1 : 3 << 16 | 0x3210);
		set(&l, 0x4080, (uint32_t)-13);
		set(&l, 0x4084, 0x5b2c);
		set(&l, 0x4088, 29);
		set(&l, 0x5034, rows[i].erdma);
		set(&l, 0x5044, rows[i].rdma);
		emit(&op, 0);
		compare(&l, words, nwords);
	}
}

/* hw 04 §2.3 */
static void test_per_channel(void **state)
{
	struct rkmm_op op = operation(RKMM_OP_MUL, RKMM_PREC_F16);
	struct list l;

	(void)state;
	op.other = RKMM_OTHER_CHANNEL;
	base_list(&l, M, N);
	two_inputs(&l, M);
	set(&l, 0x4010, 0x48000002);
	set(&l, 0x4070, 0x108003c4);
	set(&l, 0x4084, 0x10001);
	set(&l, 0x5034, 8);
	set(&l, 0x5044, 0x17849);
	emit(&op, 0);
	compare(&l, words, nwords);

	op.precision = RKMM_PREC_I8;
	set(&l, 0x4010, 0);
	set(&l, 0x4040, 0x20050);
	set(&l, 0x4070, 0x904002c4);
	set(&l, 0x4084, 1);
	set(&l, 0x5034, 4);
	set(&l, 0x5044, 0x7801);
	emit(&op, 0);
	compare(&l, words, nwords);

	/* bias: operands of the BS adder from memory, int32 */
	op.code = RKMM_OP_ADD;
	set(&l, 0x4040, 0x20150);
	set(&l, 0x4070, 0x383);
	set(&l, 0x501c, 2);
	set(&l, 0x5020, SRC2);
	set(&l, 0x5034, 1);
	set(&l, 0x5038, 0);
	set(&l, 0x5040, 0);
	emit(&op, 0);
	compare(&l, words, nwords);
}

/* hw 04 §2.4 */
static void test_one_input(void **state)
{
	struct rkmm_op op = operation(RKMM_OP_COPY, RKMM_PREC_F16);
	struct list l;

	(void)state;
	base_list(&l, M, N);
	set(&l, 0x4010, 0x48000002);
	set(&l, 0x4084, 0x10001);
	set(&l, 0x5044, 0x17849);
	emit(&op, 0);
	compare(&l, words, nwords);

	op.code = RKMM_OP_RELU;
	set(&l, 0x4040, 0x12);
	emit(&op, 0);
	compare(&l, words, nwords);

	op.code = RKMM_OP_CLAMP;
	op.value2 = 0x40c00000;			/* 6.0 */
	set(&l, 0x4040, 0x92);
	set(&l, 0x404c, 0x40c00000);
	emit(&op, 0);
	compare(&l, words, nwords);
	set(&l, 0x404c, 0);

	op.code = RKMM_OP_LEAKY;
	op.value = 0x3e000000;			/* 1/8 */
	op.value2 = 0;
	set(&l, 0x4040, 0x62);
	set(&l, 0x4048, 0x3000 << 16);
	emit(&op, 0);
	compare(&l, words, nwords);

	op = operation(RKMM_OP_COPY, RKMM_PREC_I16);
	emit(&op, 0);
	assert_int_equal(geom->evidence, RKMM_EVIDENCE_DERIVED);

	op = operation(RKMM_OP_RELU, RKMM_PREC_I8);
	base_list(&l, M, N);
	set(&l, 0x4040, 0x12);
	set(&l, 0x5044, 0x7801);
	emit(&op, 0);
	compare(&l, words, nwords);
}

/* hw 04 §2.6: the load program, the captured lookup, and both in one task */
static void test_tables(void **state)
{
	struct rkmm_op op = operation(RKMM_OP_EXP, RKMM_PREC_F16);
	struct rkmm_dpu load;
	struct list l;

	(void)state;
	rkmm_dpu_init(&load, RKMM_PREC_I8, 1, 16);
	load.load = true;
	load.curve = RKMM_CURVE_EXP;
	load.src = SRC;
	load.dst = SRC;
	load.src_pitch = 16;
	load.dst_pitch = 16;
	base_list(&l, 1, 16);
	set(&l, 0x4020, SRC);
	set(&l, 0x5044, 0x7801);
	add_table(&l, RKMM_CURVE_EXP);
	assert_int_equal(l.n, 1097);
	assert_int_equal(rkmm_dpu_writes(&load), 1097);
	compare(&l, words, rkmm_dpu_emit(&load, words));

	base_list(&l, M, N);
	use_table(&l);
	set(&l, 0x4010, 0x48000002);
	set(&l, 0x4064, 0x467ff000);
	set(&l, 0x4068, 0x6a660000);
	set(&l, 0x4080, 1);
	set(&l, 0x4084, 0x10001);
	set(&l, 0x4088, 0xf000);
	set(&l, 0x5044, 0x17849);
	add_table(&l, RKMM_CURVE_EXP);
	emit(&op, 0);
	compare(&l, words, nwords);
}

/* hw 04 §2.5, the int8 SiLU: 0x4128 and 0x412c for a slope of one, a step of 5.8 * 2 / 503 */
static void test_int8_lookup(void **state)
{
	struct rkmm_op op = operation(RKMM_OP_SILU, RKMM_PREC_I8);
	struct list l;

	(void)state;
	op.scale = 0x3c800000;			/* 1/64: index 2048 / 64 a step */
	op.out_scale = 0x3d000000;		/* 1/32: 2^-11 * 32 = 1 / 64 */
	op.quant.za = -2;
	op.quant.zo = 5;
	base_list(&l, M, N);
	use_table(&l);
	/* 32 is 16384 / 2^9 */
	set(&l, 0x4010, 9 << 10);
	set(&l, 0x4064, (uint32_t)(-2 * 16384));
	set(&l, 0x4068, 0x40000000 | 9 << 8);
	set(&l, 0x4080, 5);
	set(&l, 0x4084, 0x4000);
	set(&l, 0x4088, 20);
	set(&l, 0x4128, 0x20000000);
	set(&l, 0x412c, 0x1a0);
	set(&l, 0x5044, 0x7801);
	add_table(&l, RKMM_CURVE_SILU);
	emit(&op, 0);
	compare(&l, words, nwords);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_half),
		cmocka_unit_test(test_integers),
		cmocka_unit_test(test_per_channel),
		cmocka_unit_test(test_one_input),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_int8_lookup),
	};

	return cmocka_run_group_tests_name("words of operations", tests, setup, teardown);
}
