// SPDX-License-Identifier: MIT
/* Places of results that are needed for a while: nobody's bytes are written while they matter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/compute/seq_place.h"

#define MOST	60
#define TIMES	40

static uint32_t rnd(uint64_t *s)
{
	*s = *s * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*s >> 33);
}

/* Plays it through: every byte is written by its owner, and read again at the end. */
static void play(const struct seq_span *spans, size_t n, uint64_t total)
{
	uint8_t *memory = calloc(1, total + 1);
	uint64_t b;
	uint32_t t;
	size_t i;

	for (i = 0; i < n; i++) {
		assert_int_equal(spans[i].offset % SEQ_ALIGN, 0);
		assert_true(spans[i].offset + spans[i].size <= total);
	}
	for (t = 0; t < TIMES; t++) {
		for (i = 0; i < n; i++)
			if (spans[i].first == t)
				memset(memory + spans[i].offset, (int)i + 1, spans[i].written);
		for (i = 0; i < n; i++) {
			const struct seq_span *s = &spans[i];

			if (s->first > t || s->last < t)
				continue;
			for (b = 0; b < s->size; b++)
				assert_int_equal(memory[s->offset + b],
						 b < s->written ? (int)i + 1 : 0);
		}
	}
	free(memory);
}

/* Bytes that are needed at the worst time, zeros apart */
static uint64_t least(const struct seq_span *spans, size_t n)
{
	uint64_t most = 0, now;
	uint32_t t;
	size_t i;

	for (t = 0; t < TIMES; t++) {
		for (i = 0, now = 0; i < n; i++)
			if (spans[i].first <= t && spans[i].last >= t)
				now += spans[i].size;
		most = now > most ? now : most;
	}
	return most;
}

static void test_random(void **state)
{
	struct seq_span spans[MOST];
	uint64_t seed = 5, total;
	uint32_t turn, i, n;

	(void)state;
	for (turn = 0; turn < 3000; turn++) {
		n = rnd(&seed) % (MOST + 1);
		for (i = 0; i < n; i++) {
			struct seq_span *s = &spans[i];

			/* few sizes, so that zeros find company */
			s->size = turn % 2 ? 1 + rnd(&seed) % 700 : 64 * (1 + rnd(&seed) % 4);
			s->written = rnd(&seed) % 3 ? s->size : 1 + rnd(&seed) % s->size;
			s->first = rnd(&seed) % TIMES;
			s->last = s->first + rnd(&seed) % (TIMES - s->first);
			if (rnd(&seed) % 2 && s->last > s->first + 3)
				s->last = s->first + 3;
		}
		assert_int_equal(seq_place(spans, n, &total), 0);
		assert_true(total >= least(spans, n));
		play(spans, n, total);
	}
}

/* One after the other: two places are enough. With zeros behind, too. */
static void test_chain(void **state)
{
	struct seq_span spans[30];
	uint64_t total;
	uint32_t i, zeros;

	(void)state;
	for (zeros = 0; zeros < 2; zeros++) {
		for (i = 0; i < 30; i++)
			spans[i] = (struct seq_span) {
				.size = 640, .written = zeros ? 500 : 640, .first = i, .last = i + 1,
			};
		assert_int_equal(seq_place(spans, 30, &total), 0);
		assert_int_equal(total, 1280);
		play(spans, 30, total);
	}
}

static void test_none(void **state)
{
	uint64_t total = 1;

	(void)state;
	assert_int_equal(seq_place(NULL, 0, &total), 0);
	assert_int_equal(total, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
