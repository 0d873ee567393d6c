// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include <time.h>

#include "bench.h"

uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

uint64_t thread_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* SplitMix64: any seed is good, and the same everywhere. */
uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static int compare_u64(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

	return (a > b) - (a < b);
}

struct spread spread_of(uint64_t *v, unsigned int count)
{
	struct spread s = { .count = count };

	if (!count)
		return s;
	qsort(v, count, sizeof(*v), compare_u64);
	s.median = count % 2 ? v[count / 2] : (v[count / 2 - 1] + v[count / 2]) / 2;
	s.low = v[(count - 1) / 4];
	s.high = v[count - 1 - (count - 1) / 4];
	return s;
}
