// SPDX-License-Identifier: GPL-2.0-only
/* The range set against a byte map, on random operations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kmod/rkmm_ranges.h"

#define BYTES	3000

static uint64_t seed;

static uint32_t rnd(uint32_t n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(seed >> 33) % n;
}

static void check_shape(const struct rkmm_ranges *set)
{
	u32 i;

	assert_true(set->n <= set->cap);
	assert_true(set->cap <= set->max);
	for (i = 0; i < set->n; i++) {
		assert_true(set->r[i].start < set->r[i].end);
		if (i)
			assert_true(set->r[i - 1].end < set->r[i].start);
	}
}

static void to_map(const struct rkmm_ranges *set, uint8_t *map)
{
	struct rkmm_range piece;
	u64 at;

	memset(map, 0, BYTES);
	for (at = 0; rkmm_ranges_next(set, at, BYTES, &piece); at = piece.end)
		memset(map + piece.start, 1, piece.end - piece.start);
}

static void random_range(u64 *start, u64 *end)
{
	*start = rnd(BYTES);
	*end = *start + rnd(rnd(4) ? 20 : BYTES - (uint32_t)*start + 1);
	if (*end > BYTES)
		*end = BYTES;
}

static void test_exact(void **state)
{
	uint8_t want[BYTES], got[BYTES];
	struct rkmm_ranges set;
	int round, i;

	(void)state;
	for (round = 0; round < 200; round++) {
		seed = 1000 + round;
		memset(want, 0, sizeof(want));
		rkmm_ranges_init(&set, RKMM_RANGES_MAX);
		for (i = 0; i < 400; i++) {
			int add = rnd(5) < 3;
			u64 start, end;

			random_range(&start, &end);
			memset(want + start, add, end - start);
			if (add)
				rkmm_ranges_add(&set, start, end);
			else
				rkmm_ranges_sub(&set, start, end);
			check_shape(&set);
			to_map(&set, got);
			assert_memory_equal(want, got, BYTES);
		}
		rkmm_ranges_fini(&set);
		assert_int_equal(set.n, 0);
	}
}

/* With little room the set may only grow: no byte that belongs to it is lost. */
static void test_bounded(void **state)
{
	uint8_t want[BYTES], got[BYTES];
	struct rkmm_ranges set;
	int round, i, j;

	(void)state;
	for (round = 0; round < 300; round++) {
		seed = 77 + round;
		memset(want, 0, sizeof(want));
		rkmm_ranges_init(&set, RKMM_RANGES_INLINE + rnd(14));
		for (i = 0; i < 300; i++) {
			int add = rnd(4);
			u64 start, end;

			random_range(&start, &end);
			memset(want + start, !!add, end - start);
			if (add)
				rkmm_ranges_add(&set, start, end);
			else
				rkmm_ranges_sub(&set, start, end);
			check_shape(&set);
			to_map(&set, got);
			for (j = 0; j < BYTES; j++)
				assert_true(got[j] >= want[j]);
		}
		rkmm_ranges_fini(&set);
	}
}

static void test_smallest_gap(void **state)
{
	static const struct rkmm_range in[] = {
		{ 100, 110 }, { 200, 210 }, { 230, 240 }, { 400, 410 },
	};
	struct rkmm_ranges set;
	unsigned int i;

	(void)state;
	rkmm_ranges_init(&set, RKMM_RANGES_INLINE);
	for (i = 0; i < 4; i++)
		rkmm_ranges_add(&set, in[i].start, in[i].end);
	/* 210..230 is the smallest gap of the five */
	assert_false(rkmm_ranges_reserve(&set));
	rkmm_ranges_add(&set, 300, 310);
	assert_int_equal(set.n, 4);
	assert_int_equal(set.r[1].start, 200);
	assert_int_equal(set.r[1].end, 240);
	assert_int_equal(set.r[2].start, 300);
	/* the new range's own gap is the smallest, to its left */
	rkmm_ranges_add(&set, 311, 312);
	assert_int_equal(set.r[2].end, 312);
	/* and to its right */
	rkmm_ranges_add(&set, 397, 399);
	assert_int_equal(set.r[3].start, 397);
	assert_int_equal(set.n, 4);
	/* no room to split: it stays whole */
	rkmm_ranges_sub(&set, 205, 206);
	assert_int_equal(set.n, 4);
	assert_int_equal(set.r[1].end, 240);
	/* shortening needs no room */
	rkmm_ranges_sub(&set, 0, 205);
	assert_int_equal(set.n, 3);
	assert_int_equal(set.r[0].start, 205);
}

static void test_ends_of_u64(void **state)
{
	struct rkmm_ranges set;
	struct rkmm_range piece;

	(void)state;
	rkmm_ranges_init(&set, 8);
	rkmm_ranges_add(&set, UINT64_MAX - 10, UINT64_MAX);
	rkmm_ranges_add(&set, 0, 5);
	rkmm_ranges_add(&set, 9, 9);
	rkmm_ranges_add(&set, 9, 3);
	assert_int_equal(set.n, 2);
	assert_true(rkmm_ranges_next(&set, 5, UINT64_MAX, &piece));
	assert_true(piece.start == UINT64_MAX - 10 && piece.end == UINT64_MAX);
	rkmm_ranges_sub(&set, 3, UINT64_MAX - 1);
	assert_int_equal(set.n, 2);
	assert_true(set.r[1].start == UINT64_MAX - 1);
	assert_false(rkmm_ranges_next(&set, 3, 100, &piece));
	assert_false(rkmm_ranges_next(&set, 2, 2, &piece));
	rkmm_ranges_add(&set, 0, UINT64_MAX);
	assert_int_equal(set.n, 1);
	rkmm_ranges_fini(&set);
}

static void test_many(void **state)
{
	struct rkmm_ranges set;
	struct rkmm_range piece;
	u64 at, bytes = 0;
	u32 i;

	(void)state;
	rkmm_ranges_init(&set, RKMM_RANGES_MAX);
	for (i = 0; i < RKMM_RANGES_MAX; i++)
		rkmm_ranges_add(&set, i * 4096ull + 3, i * 4096ull + 67);
	assert_int_equal(set.n, RKMM_RANGES_MAX);
	for (at = 0; rkmm_ranges_next(&set, at, UINT64_MAX, &piece); at = piece.end)
		bytes += piece.end - piece.start;
	assert_int_equal(bytes, RKMM_RANGES_MAX * 64ull);
	rkmm_ranges_add(&set, 1ull << 40, (1ull << 40) + 1);
	assert_int_equal(set.n, RKMM_RANGES_MAX);
	check_shape(&set);
	rkmm_ranges_fini(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_bounded),
		cmocka_unit_test(test_smallest_gap),
		cmocka_unit_test(test_ends_of_u64),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
