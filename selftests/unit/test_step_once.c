// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * May a step be run again after it was given up half way? Random steps over a few bytes, run
 * by plain loops: what is called repeatable must give the same bytes however far the first
 * run got.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kmod/rkmm_step.h"

#define BUFFERS	3
#define ROOM	12
#define MOST	6

static uint64_t state = 0x2545f4914f6cdd1dull;

static uint32_t below(uint32_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 33) % n;
}

typedef uint8_t memory[BUFFERS][ROOM];

static char names[BUFFERS];

/* Every byte written depends on every byte read. */
static void run(memory m, const struct rkmm_link *op, uint32_t id)
{
	const struct rkmm_reach *out = &op->reach[RKMM_LINK_OUT];
	uint32_t h = 2166136261u + id, i;
	uint64_t at;

	for (i = 0; i < RKMM_LINK_OPERANDS; i++) {
		const struct rkmm_reach *in = &op->reach[i];

		if (i == RKMM_LINK_OUT || !in->owner)
			continue;
		for (at = in->start; at < in->end; at++)
			h = (h ^ m[(const char *)in->owner - names][at]) * 16777619u;
	}
	for (at = out->start; at < out->end; at++)
		m[(const char *)out->owner - names][at] = (uint8_t)(h >> (at % 4 * 8));
}

static struct rkmm_reach some_reach(void)
{
	uint32_t start = below(ROOM - 1);

	/* whole buffers often, so that one operation makes what another one reads */
	if (below(2))
		return (struct rkmm_reach){ &names[below(BUFFERS)], 0, ROOM };
	return (struct rkmm_reach){ &names[below(BUFFERS)], start,
				    start + 1 + below(ROOM - start) };
}

static void test_random_steps(void **unused)
{
	uint32_t i, n, k, stop, once = 0, twice = 0;
	struct rkmm_link ops[MOST];
	memory start, good, again;

	(void)unused;
	for (i = 0; i < 200000; i++) {
		n = 1 + below(MOST);
		for (k = 0; k < n; k++) {
			ops[k] = (struct rkmm_link){ 0 };
			ops[k].reach[0] = some_reach();
			ops[k].reach[RKMM_LINK_OUT] = some_reach();
			if (!below(3))
				ops[k].reach[1 + 2 * below(2)] = some_reach();
		}
		if (rkmm_step_once(ops, n)) {
			once++;
			continue;
		}
		twice++;
		for (k = 0; k < sizeof(start); k++)
			((uint8_t *)start)[k] = below(256);
		memcpy(good, start, sizeof(start));
		for (k = 0; k < n; k++)
			run(good, &ops[k], k);
		for (stop = 0; stop <= n; stop++) {
			memcpy(again, start, sizeof(start));
			for (k = 0; k < stop; k++)
				run(again, &ops[k], k);
			for (k = 0; k < n; k++)
				run(again, &ops[k], k);
			assert_memory_equal(good, again, sizeof(good));
		}
	}
	assert_true(once > 20000);
	assert_true(twice > 20000);
}

#define WHOLE(b)	{ &names[b], 0, ROOM }

static void test_by_hand(void **unused)
{
	struct rkmm_link in_place = { .reach = { WHOLE(0), { 0 }, WHOLE(0) } };
	struct rkmm_link back_and_forth[3] = {
		{ .reach = { WHOLE(2), { 0 }, WHOLE(0) } },
		{ .reach = { WHOLE(0), { 0 }, WHOLE(1) } },
		{ .reach = { WHOLE(1), { 0 }, WHOLE(0) } },
	};
	struct rkmm_link addend = { .reach = { WHOLE(0), WHOLE(1), WHOLE(2), WHOLE(2) } };

	(void)unused;
	assert_true(rkmm_step_once(&in_place, 1));
	assert_true(rkmm_step_once(&addend, 1));
	/* what the step made itself may be written again */
	assert_false(rkmm_step_once(back_and_forth, 3));
	/* without the first of them it comes from outside */
	assert_true(rkmm_step_once(back_and_forth + 1, 2));
	assert_false(rkmm_step_once(back_and_forth + 1, 1));
}

/* Groups of any size: they leave each other alone, so only one in place counts. */
static void test_large_groups(void **unused)
{
	static struct rkmm_link ops[10 * RKMM_STEP_MOST];
	uint32_t i, n = sizeof(ops) / sizeof(*ops);

	(void)unused;
	for (i = 0; i < n; i++) {
		ops[i] = (struct rkmm_link){ .grouped = true, .matmul = true };
		ops[i].reach[0] = (struct rkmm_reach)WHOLE(0);
		ops[i].reach[1] = (struct rkmm_reach)WHOLE(1);
		ops[i].reach[RKMM_LINK_OUT] = (struct rkmm_reach){ &names[2], i * 64, i * 64 + 64 };
	}
	assert_false(rkmm_step_once(ops, n));
	ops[n / 2].reach[3] = ops[n / 2].reach[RKMM_LINK_OUT];
	assert_true(rkmm_step_once(ops, n));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_steps),
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_large_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
