// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Fallbacks on the software NPU: other programs, the same operands, the same result. */
#include "prog_run.h"

/* The fallback of any plan computes the same into the same bytes, and has the split 0xb1. */
static void test_fallback(void **state)
{
	uint32_t i, fell[RKMM_T_COUNT][RKMM_FORM_COUNT] = { 0 };

	(void)state;
	for (i = 0; i < 250; i++) {
		enum rkmm_types t = rnd(RKMM_T_COUNT);
		bool int4 = t == RKMM_T_I4I16, cube = rnd(2);
		/* a third of what the banks hold at least: others have no fallback */
		uint32_t k = int4 && !cube ? 2048 - rnd(32) : 256 + rnd(1500);
		uint32_t m = 1 + rnd(2 * 11 * 32768 * 8 / (k * rkmm_in_bits(t)));
		struct rkmm_matmul mm = matmul(t, m < 200 ? m : 100 + m % 100, k, 1 + rnd(70));
		struct rkmm_geom g;

		mm.form = cube ? RKMM_FORM_CUBE : RKMM_FORM_COUNT;
		mm.lanes = 1 + rnd(3);
		if (rnd(8) == 0)
			mm.slice = 32 * (4 + rnd(k / 32 - 4));
		if (!cube && !int4 && mm.k % 32 == 0 && !mm.slice && t != RKMM_T_I8I8)
			mm.a_pitch = mm.k * 2 + 16 * rnd(9);
		if (!cube && !int4 && rnd(2))
			mm.c_pitch = 128 * 4 + 16 * rnd(9);
		if (rkmm_geometry(&rkmm_limits_rk3588, &mm, &g))
			continue;
		fell[t][g.form] += multiply_as(&rkmm_limits_rk3588, &mm,
					       rnd(2) ? mm.m : 1 + rnd(mm.m), true);
	}
	for (i = 0; i < RKMM_T_COUNT; i++) {
		assert_true(fell[i][RKMM_FORM_CUBE] > 5);
		assert_true(fell[i][i == RKMM_T_I4I16 ? RKMM_FORM_BATCH : RKMM_FORM_FLAT] > 5);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fallback),
	};

	return cmocka_run_group_tests_name("fallbacks on the model", tests, setup, teardown);
}
