// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Matmuls with known results on the software NPU: right, told to be wrong when they are, and in
 * the region where a transition harms.
 */
#include "prog_world.h"
#include "kmod/prog/rkmm_known.h"

#define HUNG	0xffffffffu

static struct rkmm_known known;
static struct world w;

/* Run it; returns the cells that are wrong, or HUNG. */
static uint32_t run(enum rkmm_mode mode, enum rkmm_known_size size)
{
	const struct rkmm_limits *limits = &rkmm_limits_rk3588;
	struct rkmm_extent extent;
	struct npu_report report;
	struct rkmm_member one;
	struct rkmm_kick k;
	uint32_t wrong, i;

	world = &w;
	env.ctx = &w;
	assert_true(rkmm_known_init(limits, mode, size, &known));
	region(&w, 0, A_BASE, known.c, true, 0);
	region(&w, 1, B_BASE, 64, true, 0);
	region(&w, 2, C_BASE, known.bytes - known.c, true, 0);
	rkmm_known_fill(&known, w.region[0].data);
	one = rkmm_member_of(&known.geom, known.geom.mm.m, A_BASE, A_BASE + known.b, C_BASE);
	rkmm_image_measure(limits, &one, 1, &extent);
	assert_int_equal(extent.kicks, 1);
	region(&w, 3, P_BASE, extent.bytes, false, 0);
	rkmm_image_emit(limits, &one, 1, P_BASE, (u64 *)w.region[3].data, &k);
	rkmm_known_spoil(&known, w.region[2].data);
	/* nothing of what an earlier run has left */
	assert_int_equal(rkmm_known_wrong(&known, w.region[2].data, false), RKMM_KNOWN_CELLS);
	if (!kick(core, &k, &report)) {
		for (i = 0; i < 4; i++)
			free(w.region[i].data);
		return HUNG;
	}
	wrong = rkmm_known_wrong(&known, w.region[2].data, false);
	/* a comparison that cannot fail would prove nothing */
	if (!wrong)
		assert_true(rkmm_known_wrong(&known, w.region[2].data, true) >
			    RKMM_KNOWN_CELLS * 3 / 4);
	for (i = 0; !wrong && i < (size == RKMM_KNOWN_TINY ? 100 : 2); i++) {
		uint32_t cell = rnd(RKMM_KNOWN_CELLS), row = cell % known.geom.mm.m;
		uint32_t col = (cell * 29 + cell / known.geom.mm.m) % 64;
		uint8_t *at = w.region[2].data + rkmm_addr_c(&known.geom, row, col);

		*at ^= 1 << rnd(8);
		assert_int_not_equal(rkmm_known_wrong(&known, w.region[2].data, false), 0);
		assert_true(kick(core, &k, &report));
	}
	for (i = 0; i < 4; i++)
		free(w.region[i].data);
	return wrong;
}

static void test_right(void **state)
{
	static const enum rkmm_mode modes[] = { RKMM_MODE_F16, RKMM_MODE_I8, RKMM_MODE_I4 };
	uint32_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		assert_int_equal(run(modes[i], RKMM_KNOWN_TINY), 0);
		assert_true(known.bytes < 65536);
	}
}

static void test_crossing(void **state)
{
	(void)state;
	npu_core_set_quirks(core, 0);
	npu_core_reset(core);
	assert_int_equal(run(RKMM_MODE_I8, RKMM_KNOWN_LARGE), 0);
	assert_int_equal(run(RKMM_MODE_I4, RKMM_KNOWN_LARGE), 0);
	assert_true(known.geom.mm.m >= 64 && known.geom.mm.k >= 2560);
	/* the hazard, which the tiny one does not see: hw 03 §2.6 */
	npu_core_set_quirks(core, NPU_QUIRK_TRANSITION);
	assert_int_equal(run(RKMM_MODE_I8, RKMM_KNOWN_TINY), 0);
	assert_int_equal(run(RKMM_MODE_I4, RKMM_KNOWN_TINY), 0);
	assert_int_not_equal(run(RKMM_MODE_I4, RKMM_KNOWN_LARGE), 0);
	npu_core_reset(core);
	assert_int_equal(run(RKMM_MODE_I4, RKMM_KNOWN_LARGE), 0);
	assert_int_not_equal(run(RKMM_MODE_I8, RKMM_KNOWN_LARGE), 0);
	npu_core_set_quirks(core, 0);
	npu_core_reset(core);
}

/* First runs that hang or come to nothing: what the driver's own runs are for */
static void test_first(void **state)
{
	static const enum rkmm_mode modes[] = { RKMM_MODE_F16, RKMM_MODE_I4 };
	uint32_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		npu_core_set_quirks(core, NPU_QUIRK_UNTOUCHED);
		npu_core_reset(core);
		npu_core_power_off(core);
		assert_int_equal(run(modes[i], RKMM_KNOWN_TINY), HUNG);
		npu_core_reset(core);
		assert_int_equal(run(modes[i], RKMM_KNOWN_TINY), HUNG);
		npu_core_reset(core);
		assert_int_equal(run(RKMM_MODE_I8, RKMM_KNOWN_TINY), 0);
		npu_core_reset(core);
		assert_int_equal(run(modes[i], RKMM_KNOWN_TINY), 0);
		npu_core_set_quirks(core, NPU_QUIRK_COLD);
		npu_core_reset(core);
		assert_int_equal(run(RKMM_MODE_I8, RKMM_KNOWN_TINY), RKMM_KNOWN_CELLS);
		assert_int_equal(run(RKMM_MODE_I8, RKMM_KNOWN_TINY), 0);
		assert_int_equal(run(modes[i], RKMM_KNOWN_TINY), RKMM_KNOWN_CELLS);
		assert_int_equal(run(modes[i], RKMM_KNOWN_TINY), 0);
	}
	npu_core_set_quirks(core, 0);
	npu_core_reset(core);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_right),
		cmocka_unit_test(test_crossing),
		cmocka_unit_test(test_first),
	};

	return cmocka_run_group_tests_name("known answers", tests, setup, teardown);
}
