// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Trailers: what is behind a chain with narrow output, and that its output is all in memory
 * when the chain ends on a core whose last lines come late.
 */
#include "prog_run.h"
#include "kmod/prog/rkmm_land.h"

#define SLOT	896u

/* Register writes and link of a program in the image */
static uint32_t program_at(const u64 *w, uint32_t *next)
{
	uint32_t n = 0;

	while (w[n] >> 48 != 0x0041)
		n++;
	*next = (uint32_t)(w[n - 2] >> 16);
	if (!(w[n - 2] & 0xffff))
		*next = 0;
	return n - 2;
}

/* From the first program of @k on: its length, and where the last one lies */
static uint32_t walk(const u64 *image, const struct rkmm_kick *k, uint32_t *last)
{
	uint32_t tasks = 0, at = k->addr, next;

	for (;;) {
		tasks++;
		program_at(image + (at - P_BASE) / 8, &next);
		*last = at;
		if (!next)
			return tasks;
		at = next;
	}
}

static uint32_t wanted(enum rkmm_types types)
{
	switch (types) {
	case RKMM_T_I4I16:
		return P_BASE;
	case RKMM_T_I8I8:
		return P_BASE + SLOT;
	default:
		return 0;
	}
}

/*
 * Run @mm with or without trailers, all lines of its output late. Returns whether its output
 * was there when the last chain ended.
 */
static bool run(const struct rkmm_matmul *mm, const struct rkmm_limits *base, bool land)
{
	int8_t *a = malloc((size_t)mm->m * mm->k), *b = malloc((size_t)mm->k * mm->n);
	struct rkmm_limits limits = *base;
	struct rkmm_extent extent, bare;
	struct npu_report report;
	struct rkmm_member one;
	struct rkmm_kick *kicks;
	uint8_t *then, *c;
	struct rkmm_geom g;
	struct world w;
	uint32_t i, last;
	uint64_t room;
	bool there;

	world = &w;
	env.ctx = &w;
	assert_int_equal(rkmm_geometry(&limits, mm, &g), RKMM_OK);
	fill(&g, a, b);
	room = (g.c_bytes + 8191) / 4096 * 4096;
	free(w.region[2].data);
	region(&w, 2, C_BASE, room + RKMM_LAND_BYTES, true, CANARY);
	c = w.region[2].data;
	memset(c + room, 0, RKMM_LAND_BYTES);
	one = rkmm_member_of(&g, mm->m, A_BASE, B_BASE, C_BASE);
	rkmm_image_measure(&limits, &one, 1, &bare);
	limits.land = land ? (uint32_t)(C_BASE + room) : 0;
	rkmm_image_measure(&limits, &one, 1, &extent);
	if (land)
		assert_int_equal(extent.tasks, bare.tasks);
	kicks = calloc(extent.kicks, sizeof(*kicks));
	region(&w, 3, P_BASE, extent.bytes, false, 0xff);
	rkmm_image_emit(&limits, &one, 1, P_BASE, (u64 *)w.region[3].data, kicks);

	npu_core_set_late(core, true);
	for (i = 0; i < extent.kicks; i++) {
		uint32_t trailer = land ? wanted(g.types) : 0, tasks;

		tasks = walk((u64 *)w.region[3].data, &kicks[i], &last);
		assert_int_equal(tasks, kicks[i].tasks);
		assert_true(tasks <= limits.tasks_max);
		if (trailer)
			assert_int_equal(last, trailer);
		else if (land)
			assert_true(last >= P_BASE + 2 * SLOT);
		assert_int_equal(kicks[i].settles, !trailer && rkmm_out_bytes(g.types) < 4);
		assert_true(kick(core, &kicks[i], &report));
	}
	then = malloc(room);
	memcpy(then, c, room);
	npu_core_land(core);
	npu_core_set_late(core, false);
	there = !memcmp(then, c, room);
	/* trailers write their page and nothing else */
	for (i = 0; i < 4096; i++)
		assert_int_equal(c[room + i], 0);
	check_product(&g, a, b, mm->m);
	for (i = (uint32_t)g.c_bytes; i < room; i++)
		assert_int_equal(c[i], CANARY);
	for (i = 0; i < 4; i++)
		free(w.region[i].data);
	free(then);
	free(kicks);
	free(a);
	free(b);
	return there;
}

static struct rkmm_matmul some(enum rkmm_types types)
{
	struct rkmm_matmul mm = matmul(types, 1 + rnd(40), 32 + rnd(rnd(3) ? 300 : 2000),
				       1 + rnd(200));

	mm.lanes = 1 + rnd(3);
	if (rnd(3) == 0)
		mm.form = types == RKMM_T_I4I16 && rnd(2) ? RKMM_FORM_FLAT : RKMM_FORM_COUNT;
	if (mm.form == RKMM_FORM_FLAT)
		mm.m = 1;
	return mm;
}

static void test_landed(void **state)
{
	uint32_t t, i;

	(void)state;
	for (t = 0; t < RKMM_T_COUNT; t++)
		for (i = 0; i < 40; i++) {
			struct rkmm_matmul mm = some(t);
			struct rkmm_limits limits = rkmm_limits_rk3588;

			limits.light = rnd(2);
			if (rnd(3) == 0)
				limits.tasks_max = 2 + rnd(6);
			/* fp16 with fp16 output has no trailer: the driver waits */
			assert_int_equal(run(&mm, &limits, true), t != RKMM_T_F16F16);
		}
}

/* The same without trailers is not there in time, or the test above proves nothing. */
static void test_late_without(void **state)
{
	uint32_t t, i;

	(void)state;
	for (t = 0; t < RKMM_T_COUNT; t++)
		for (i = 0; i < 10; i++) {
			struct rkmm_matmul mm = some(t);

			mm.k = 512 + rnd(500);
			assert_int_equal(run(&mm, &rkmm_limits_rk3588, false),
					 t == RKMM_T_I8I32 || t == RKMM_T_F16F32);
		}
}

/* Two precisions in one image: each kick has its own. */
static void test_mixed(void **state)
{
	struct rkmm_limits limits = rkmm_limits_rk3588;
	struct rkmm_matmul mm[2] = {
		matmul(RKMM_T_I4I16, 9, 256, 64), matmul(RKMM_T_I8I8, 3, 512, 32),
	};
	struct rkmm_member m[2];
	struct rkmm_extent extent;
	struct rkmm_kick kicks[4];
	struct rkmm_geom g[2];
	uint32_t i, last;
	u64 *image;

	(void)state;
	limits.land = C_BASE;
	for (i = 0; i < 2; i++) {
		assert_int_equal(rkmm_geometry(&limits, &mm[i], &g[i]), RKMM_OK);
		m[i] = rkmm_member_of(&g[i], mm[i].m, A_BASE, B_BASE, C_BASE);
		m[i].after = i;
	}
	rkmm_image_measure(&limits, m, 2, &extent);
	assert_int_equal(extent.kicks, 2);
	image = malloc(extent.bytes);
	rkmm_image_emit(&limits, m, 2, P_BASE, image, kicks);
	for (i = 0; i < 2; i++) {
		assert_int_equal(walk(image, &kicks[i], &last), kicks[i].tasks);
		assert_int_equal(last, P_BASE + i * SLOT);
		assert_int_equal(kicks[i].int_mask, 0x300);
		assert_false(kicks[i].settles);
	}
	free(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_landed),
		cmocka_unit_test(test_late_without),
		cmocka_unit_test(test_mixed),
	};

	return cmocka_run_group_tests_name("landing", tests, setup, teardown);
}
