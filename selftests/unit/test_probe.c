// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Known-answer jobs of geometries on the software NPU: every point of one core is right there, one
 * changed bit is told, and the sums are those of plain loops.
 */
#include "prog_world.h"
#include "kmod/prog/rkmm_probe.h"

static struct rkmm_probe probe;
static struct world w;
static uint64_t work[10752], want[2048];

static int element(const uint8_t *mem, uint64_t at, uint32_t k)
{
	uint8_t byte = mem[at];

	return ((int8_t)(k & 1 ? byte : byte << 4)) >> 4;
}

/* int4 and int8: C by plain loops over what lies in memory, at the sheets' places */
static void check_plain(const struct rkmm_geom *g, const uint8_t *a, const uint8_t *b,
			const uint8_t *c)
{
	uint32_t i, k;

	for (i = 0; i < 40; i++) {
		uint32_t row = rnd(g->mm.m), col = rnd(g->mm.n);
		int32_t sum = 0;

		for (k = 0; k < g->mm.k; k++)
			if (g->types == RKMM_T_I4I16)
				sum += element(a, place_a(g, row, k), k) *
				       element(b, place_b(g, k, col), k);
			else
				sum += (int8_t)a[place_a(g, row, k)] * (int8_t)b[place_b(g, k, col)];
		check_cell(g, c, 0, row, col, sum);
	}
}

/* Run point @p; rows that are wrong */
static uint32_t run(const struct rkmm_point *p, bool spoil)
{
	struct rkmm_geom *g = &probe.at.geom;
	struct rkmm_extent extent;
	struct npu_report report;
	struct rkmm_member one;
	struct rkmm_kick k;
	uint32_t wrong, i;

	world = &w;
	env.ctx = &w;
	assert_true(rkmm_probe_init(&rkmm_limits_rk3588, &p->cell, p->kp, rnd(1 << 30), &probe));
	assert_true(g->mm.m <= 2048);
	region(&w, 0, A_BASE, probe.at.c, true, 0);
	region(&w, 1, B_BASE, 64, true, 0);
	region(&w, 2, C_BASE, probe.at.bytes - probe.at.c, true, 0x5a);
	rkmm_probe_fill(&probe, w.region[0].data);
	rkmm_probe_sums(&probe, work, want);
	assert_int_equal(rkmm_probe_wrong(&probe, w.region[2].data, want), g->mm.m);
	one = rkmm_member_of(g, g->mm.m, A_BASE, A_BASE + probe.at.b, C_BASE);
	rkmm_image_measure(&rkmm_limits_rk3588, &one, 1, &extent);
	assert_int_equal(extent.kicks, 1);
	region(&w, 3, P_BASE, extent.bytes, false, 0);
	rkmm_image_emit(&rkmm_limits_rk3588, &one, 1, P_BASE, (u64 *)w.region[3].data, &k);
	assert_true(kick(core, &k, &report));
	wrong = rkmm_probe_wrong(&probe, w.region[2].data, want);
	/* the places of prog_world.h are those of what plans have */
	if (!wrong && g->types != RKMM_T_F16F32 && all_rows(g) == g->a_rows)
		check_plain(g, w.region[0].data, w.region[0].data + probe.at.b, w.region[2].data);
	for (i = 0; spoil && i < 60; i++) {
		uint64_t at = rkmm_addr_c(g, rnd(g->mm.m), rnd(g->mm.n)) +
			      rnd(rkmm_out_bytes(g->types));
		uint8_t bit = 1 << rnd(8);

		w.region[2].data[at] ^= bit;
		assert_int_equal(rkmm_probe_wrong(&probe, w.region[2].data, want), 1);
		w.region[2].data[at] ^= bit;
	}
	for (i = 0; i < 4; i++)
		free(w.region[i].data);
	return wrong;
}

static void test_points(void **state)
{
	uint32_t i, n[3] = { 0 };
	struct rkmm_point p;

	(void)state;
	for (i = 0; rkmm_envelope_point(&rkmm_limits_rk3588, 1, i, &p); i++) {
		npu_core_reset(core);
		assert_int_equal(run(&p, i % 4 == 0), 0);
		n[p.cell.bits / 8]++;
	}
	assert_true(n[0] > 40 && n[1] > 3 && n[2] > 3);
}

/* Other seeds are other operands. */
static void test_seed(void **state)
{
	static uint8_t one[1 << 20], two[1 << 20];
	struct rkmm_point p;

	(void)state;
	assert_true(rkmm_envelope_point(&rkmm_limits_rk3588, 1, 0, &p));
	assert_true(rkmm_probe_init(&rkmm_limits_rk3588, &p.cell, p.kp, 1, &probe));
	assert_true(probe.at.c <= sizeof(one));
	rkmm_probe_fill(&probe, one);
	assert_true(rkmm_probe_init(&rkmm_limits_rk3588, &p.cell, p.kp, 2, &probe));
	rkmm_probe_fill(&probe, two);
	assert_memory_not_equal(one, two, probe.at.c);
}

static void test_judge(void **state)
{
	uint64_t law = 1000000;

	(void)state;
	assert_int_equal(rkmm_probe_judge(0, law, law, 1), RKMM_OUTCOME_RIGHT);
	assert_int_equal(rkmm_probe_judge(0, 2 * law - 1, law, 1), RKMM_OUTCOME_RIGHT);
	assert_int_equal(rkmm_probe_judge(0, 2 * law + 300000, law, 1), RKMM_OUTCOME_SLOW);
	assert_int_equal(rkmm_probe_judge(0, 2 * law + 300000, law, 2), RKMM_OUTCOME_RIGHT);
	/* fast and wrong (hw 03 S13) */
	assert_int_equal(rkmm_probe_judge(1, law / 2, law, 1), RKMM_OUTCOME_WRONG);
	assert_int_equal(rkmm_probe_judge(1, 9 * law, law, 1), RKMM_OUTCOME_WRONG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_points),
		cmocka_unit_test(test_seed),
		cmocka_unit_test(test_judge),
	};

	return cmocka_run_group_tests_name("known-answer jobs", tests, setup, teardown);
}
