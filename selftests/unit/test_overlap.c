// SPDX-License-Identifier: GPL-2.0-only
/* Operands that run together against a map of their bytes, on random sets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kmod/rkmm_overlap.h"

#define BYTES	4096
#define SPANS	40

static uint64_t seed = 88172645463325252ull;
static const char buffers[3];

static uint32_t rnd(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)((seed >> 16) % n);
}

static struct rkmm_span rows(uint32_t start, uint32_t pitch, uint32_t line, uint32_t n, bool write)
{
	return (struct rkmm_span){
		.owner = buffers, .start = start, .end = start + (uint64_t)pitch * (n - 1) + line,
		.pitch = n > 1 ? pitch : 0, .line = line, .write = write,
	};
}

/* Whether a written byte has another user */
static bool really(const struct rkmm_span *spans, uint32_t n)
{
	static uint8_t users[3][BYTES], writers[3][BYTES];
	uint32_t i, b;
	uint64_t at;

	memset(users, 0, sizeof(users));
	memset(writers, 0, sizeof(writers));
	for (i = 0; i < n; i++) {
		b = (uint32_t)((const char *)spans[i].owner - buffers);
		for (at = spans[i].start; at < spans[i].end; at++) {
			if (spans[i].pitch &&
			    (at - spans[i].start) % spans[i].pitch >= spans[i].line)
				continue;
			users[b][at]++;
			writers[b][at] += spans[i].write;
		}
	}
	for (b = 0; b < 3; b++)
		for (i = 0; i < BYTES; i++)
			if (writers[b][i] && users[b][i] > 1)
				return true;
	return false;
}

static bool conflict(const struct rkmm_span *spans, uint32_t n)
{
	struct rkmm_span copy[SPANS];

	memcpy(copy, spans, n * sizeof(*spans));
	return rkmm_spans_conflict(copy, n);
}

/* Spans of one piece: exact. */
static void test_pieces(void **state)
{
	struct rkmm_span spans[SPANS];
	uint32_t i, k, n, yes = 0;

	(void)state;
	for (i = 0; i < 20000; i++) {
		uint32_t size = 1 + rnd(rnd(2) ? 20 : 400);

		n = 1 + rnd(rnd(2) ? 5 : SPANS);
		for (k = 0; k < n; k++) {
			spans[k] = rows(rnd(BYTES - size), 0, 1 + rnd(size), 1, rnd(4) == 0);
			spans[k].owner = buffers + rnd(3);
		}
		yes += really(spans, n);
		assert_int_equal(conflict(spans, n), really(spans, n));
	}
	assert_true(yes > 2000 && yes < 18000);
}

/* Rows: never good when bytes are shared; side by side in one pitch: never refused. */
static void test_rows(void **state)
{
	struct rkmm_span spans[SPANS];
	uint32_t i, k, n, good = 0, refused = 0;

	(void)state;
	for (i = 0; i < 20000; i++) {
		uint32_t pitch = 32 + rnd(100), lines = 2 + rnd(8), line = 1 + rnd(16), at = rnd(40);
		bool same = true;

		n = pitch / line < SPANS ? pitch / line : SPANS;
		for (k = 0; k < n; k++) {
			spans[k] = rows(at + k * line, pitch, line, lines, rnd(2));
			if (rnd(30) == 0) {
				spans[k] = rows(rnd(1000), 16 + rnd(60), 1 + rnd(16), 1 + rnd(5),
						rnd(2));
				same = false;
			}
		}
		for (k = 0; k < n; k++) {
			uint32_t other = rnd(n);
			struct rkmm_span was = spans[k];

			spans[k] = spans[other];
			spans[other] = was;
		}
		if (really(spans, n))
			assert_true(conflict(spans, n));
		if (same) {
			assert_false(conflict(spans, n));
			good++;
			/* one line that reaches into its neighbour */
			k = rnd(n);
			spans[k].line++;
			spans[k].end++;
			if (spans[k].line <= pitch && really(spans, n)) {
				assert_true(conflict(spans, n));
				refused++;
			}
		}
	}
	assert_true(good > 3000 && refused > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_rows),
	};

	return cmocka_run_group_tests_name("overlap", tests, NULL, NULL);
}
