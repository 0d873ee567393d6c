// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Learned times of kicks, and when they are looked at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "kmod/prog/rkmm_estimate.h"

static const struct rkmm_poll_rule rule = {
	.interval = 15000, .most = 1000000, .look = 1500, .percent = 10,
};

static uint64_t seed = 88172645463325252ull;

static uint32_t rnd(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)((seed >> 20) % below);
}

/* From the seed to the mean of what is seen, whatever the seed is */
static void test_learns(void **state)
{
	static const u64 seeds[] = { 0, 1000, 300000, 3000000000ull };
	static struct rkmm_estimates table;
	const struct rkmm_estimate *est;
	uint32_t i, k;

	(void)state;
	for (i = 0; i < 4; i++) {
		u64 key = rkmm_estimate_key(7 + i, 0, 1, 1000);

		est = rkmm_estimate_get(&table, key, seeds[i]);
		assert_int_equal(est->ns, seeds[i]);
		assert_int_equal(est->runs, 0);
		for (k = 0; k < 50; k++)
			rkmm_estimate_learn(&table, key, 300000 + rnd(20001) - 10000);
		est = rkmm_estimate_get(&table, key, seeds[i]);
		assert_int_equal(est->runs, 50);
		assert_true(est->ns > 290000 && est->ns < 310000);
		/* the mean distance of numbers spread evenly is a half of the largest */
		assert_true(est->dev > 1000 && est->dev < 10000);
		/* a change of the time is followed */
		for (k = 0; k < 30; k++)
			rkmm_estimate_learn(&table, key, 100000);
		est = rkmm_estimate_get(&table, key, seeds[i]);
		assert_true(est->ns >= 99000 && est->ns < 101000);
	}
}

static void test_outlier(void **state)
{
	static struct rkmm_estimates table;
	u64 key = rkmm_estimate_key(1, 2, 3, 1000);
	uint32_t k;

	(void)state;
	rkmm_estimate_get(&table, key, 100000);
	for (k = 0; k < 20; k++)
		rkmm_estimate_learn(&table, key, 100000);
	/* an interrupt was lost, the watchdog found the end */
	rkmm_estimate_learn(&table, key, 20000000);
	assert_true(rkmm_estimate_get(&table, key, 0)->ns <= 175000);
	for (k = 0; k < 20; k++)
		rkmm_estimate_learn(&table, key, 100000);
	assert_true(rkmm_estimate_get(&table, key, 0)->ns < 102000);
}

/* Everything that the time depends on makes another kind. */
static void test_keys(void **state)
{
	u64 keys[4 * 4 * 3 * 4];
	uint32_t n = 0, i, k, c, f, j;

	(void)state;
	for (i = 0; i < 4; i++)
		for (k = 0; k < 4; k++)
			for (c = 1; c <= 3; c++)
				for (f = 0; f < 4; f++)
					keys[n++] = rkmm_estimate_key(i * 0x1000, k, c,
								      400 + 200 * f);
	for (i = 0; i < n; i++) {
		assert_true(keys[i]);
		for (j = 0; j < i; j++)
			assert_true(keys[i] != keys[j]);
	}
}

/* One kind takes the place of another, and is not mistaken for it. */
static void test_places(void **state)
{
	static struct rkmm_estimates table;
	const struct rkmm_estimate *est;

	(void)state;
	rkmm_estimate_get(&table, 5, 1000);
	rkmm_estimate_learn(&table, 5, 2000);
	est = rkmm_estimate_get(&table, 5 + RKMM_ESTIMATES, 700);
	assert_int_equal(est->ns, 700);
	rkmm_estimate_learn(&table, 5, 2000);
	assert_int_equal(est->runs, 0);
	assert_int_equal(est->ns, 700);
	assert_int_equal(rkmm_estimate_get(&table, 5, 1000)->ns, 1000);
}

/* Looks lie around the end, cost no more than they may, and there are none at what is long. */
static void test_plan(void **state)
{
	struct rkmm_estimate est = { .key = 1, .runs = 5 };
	u64 first, last;
	uint32_t i, looks, some = 0;

	(void)state;
	for (i = 0; i < 20000; i++) {
		est.ns = 1 + rnd(1200000);
		est.dev = rnd((uint32_t)est.ns / 3 + 1);
		first = ~0ull;
		looks = rkmm_poll_plan(&rule, &est, &first);
		assert_true(looks * 1500ull * 10 <= est.ns);
		if (est.ns > 1000000)
			assert_int_equal(looks, 0);
		if (!looks)
			continue;
		some++;
		last = first + (looks - 1) * 15000ull;
		assert_true(first <= est.ns);
		assert_true(last + 15000 >= est.ns);
		/* no further than they were seen to be apart */
		assert_true(est.ns - first <= 2 * est.dev + 15000);
		assert_true(last <= est.ns + 2 * est.dev + 15000);
	}
	assert_true(some > 10000);
	est = (struct rkmm_estimate){ .key = 1, .ns = 300000, .dev = 1000, .runs = 9 };
	assert_int_equal(rkmm_poll_plan(&rule, &est, &first), 3);
	assert_int_equal(first, 285000);
	/* too short for a single look */
	est.ns = 14000;
	assert_int_equal(rkmm_poll_plan(&rule, &est, &first), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_learns),
		cmocka_unit_test(test_outlier),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_plan),
	};

	return cmocka_run_group_tests_name("estimates", tests, NULL, NULL);
}
