// SPDX-License-Identifier: GPL-2.0-only
/* The table of datapath modes against the sheet, and what a user may make of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "kmod/prog/rkmm_modes.h"

/* hw 03 §2.1, read once more: rows cold, reset, fp16, int8, int4; columns fp16, int8, int4 */
static const char want[5][3] = { "RRR", "WWW", ".KR", "K.R", "RR." };

static void test_table(void **state)
{
	static const char letter[] = ".KWCR";
	uint32_t from, to;

	(void)state;
	for (from = 0; from < RKMM_MODE_DPU; from++) {
		for (to = RKMM_MODE_F16; to < RKMM_MODE_DPU; to++) {
			const struct rkmm_transition *row = rkmm_transition(from, to);

			assert_int_equal(letter[row->need], want[from][to - RKMM_MODE_F16]);
			/* Who asks for something says where it is told. */
			assert_non_null(row->source);
			if (row->need)
				assert_memory_equal(row->source, "hw 03 ", 6);
		}
		/* no matmul takes nothing, but for int8 behind int8: hw 03 O14 */
		assert_int_equal(rkmm_transition(from, RKMM_MODE_DPU)->need,
				 from == RKMM_MODE_I8 ? RKMM_NEED_RESET : RKMM_NEED_NOTHING);
	}
	/* the pair whose evidence contradicts itself */
	assert_int_equal(rkmm_transition(RKMM_MODE_I8, RKMM_MODE_I4)->grounds,
			 RKMM_GROUNDS_DISPUTED);
	assert_int_equal(rkmm_transition(RKMM_MODE_I4, RKMM_MODE_I8)->grounds,
			 RKMM_GROUNDS_DISPUTED);
	assert_int_equal(rkmm_mode_of(RKMM_T_I4I16), RKMM_MODE_I4);
	assert_int_equal(rkmm_mode_of(RKMM_T_I8I8), RKMM_MODE_I8);
	assert_int_equal(rkmm_mode_of(RKMM_T_F16F32), RKMM_MODE_F16);
}

static uint32_t resets(const struct rkmm_verdicts *v)
{
	uint32_t from, to, n = 0;

	for (from = 0; from < RKMM_MODES; from++)
		for (to = 0; to < RKMM_MODES; to++)
			n += v->need[from][to] == RKMM_NEED_RESET;
	return n;
}

static void test_parse(void **state)
{
	static const char * const bad[] = {
		"tabl", "tables", "warm;", "table,", "int8", "int8>int4", "int8>int4=",
		"int8=int4>reset",
		"int8>int4=resets", "int8>int9=reset", "reset>int8=reset", ">", "*>*=*", "table,table",
		"int8>int4=reset,", "warm,,int8>int4=reset",
		"int8>cold=keep", "dpu>int8=keep", "int4>dpu=reset", "*>dpu=reset", "warm,table",
		"proven", "prove,table", "reset>int8=check", "int8>fp16=check", "int8>*=check",
		"int8>dpu=check",
	};
	struct rkmm_verdicts v;
	uint32_t i;

	(void)state;
	assert_true(rkmm_verdicts_parse("table", &v));
	assert_int_equal(resets(&v), 8);
	assert_int_equal(v.need[RKMM_MODE_I8][RKMM_MODE_F16], RKMM_NEED_KEEP);
	assert_false(rkmm_verdicts_have(&v, RKMM_NEED_CHECK));
	assert_true(rkmm_verdicts_parse("", &v));
	assert_int_equal(resets(&v), 8);
	/* only what is disputed is put to the test */
	assert_true(rkmm_verdicts_parse("prove", &v));
	assert_int_equal(resets(&v), 6);
	assert_int_equal(v.need[RKMM_MODE_I8][RKMM_MODE_I4], RKMM_NEED_CHECK);
	assert_int_equal(v.need[RKMM_MODE_I4][RKMM_MODE_I8], RKMM_NEED_CHECK);
	assert_int_equal(v.need[RKMM_MODE_F16][RKMM_MODE_I4], RKMM_NEED_RESET);
	assert_true(rkmm_verdicts_parse("prove,int8>int4=keep", &v));
	assert_int_equal(v.need[RKMM_MODE_I8][RKMM_MODE_I4], RKMM_NEED_KEEP);
	assert_true(rkmm_verdicts_have(&v, RKMM_NEED_CHECK));
	assert_true(rkmm_verdicts_parse("warm", &v));
	assert_int_equal(resets(&v), 0);
	assert_int_equal(v.need[RKMM_MODE_I8][RKMM_MODE_I4], RKMM_NEED_WARM);
	assert_int_equal(v.need[RKMM_MODE_I8][RKMM_MODE_I8], RKMM_NEED_NOTHING);
	assert_int_equal(v.need[RKMM_MODE_I8][RKMM_MODE_DPU], RKMM_NEED_NOTHING);
	assert_true(rkmm_verdicts_parse("warm,int8>int4=reset,int4>int8=keep", &v));
	assert_int_equal(resets(&v), 1);
	assert_int_equal(v.need[RKMM_MODE_I8][RKMM_MODE_I4], RKMM_NEED_RESET);
	assert_int_equal(v.need[RKMM_MODE_I4][RKMM_MODE_I8], RKMM_NEED_KEEP);
	assert_true(rkmm_verdicts_parse("int8>int4=keep", &v));
	assert_int_equal(resets(&v), 7);
	assert_true(rkmm_verdicts_parse("int8>dpu=nothing", &v));
	assert_int_equal(resets(&v), 7);
	assert_int_equal(v.need[RKMM_MODE_I8][RKMM_MODE_DPU], RKMM_NEED_NOTHING);
	assert_true(rkmm_verdicts_parse("warm,int8>dpu=reset", &v));
	assert_int_equal(resets(&v), 1);
	assert_int_equal(v.need[RKMM_MODE_I8][RKMM_MODE_DPU], RKMM_NEED_RESET);
	assert_true(rkmm_verdicts_parse("*>*=reset", &v));
	/* from cold and four modes to the three, but not to themselves, nor after a reset */
	assert_int_equal(resets(&v), 10);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (rkmm_verdicts_parse(bad[i], &v))
			print_message("%s\n", bad[i]);
		assert_false(rkmm_verdicts_parse(bad[i], &v));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_parse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
