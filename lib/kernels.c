// SPDX-License-Identifier: MIT
/* Which instruction set is used. */
#include "lib/kernels.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

size_t rkmm_stream_min = 4 << 20;

static const struct rkmm_kernels *_Atomic chosen;

#if defined(__x86_64__)
static bool have_avx2(void)
{
	__builtin_cpu_init();
	return __builtin_cpu_supports("avx2");
}
#endif

const struct rkmm_kernels *rkmm_kernels_nth(unsigned int i)
{
	switch (i) {
	case 0:
		return &rkmm_kernels_plain;
	case 1:
		return &rkmm_kernels_vec;
#if defined(__x86_64__)
	case 2:
		return have_avx2() ? &rkmm_kernels_avx2 : NULL;
#endif
	default:
		return NULL;
	}
}

static const struct rkmm_kernels *choose(void)
{
	const char *wanted = getenv("RKMM_SIMD");
	const struct rkmm_kernels *k, *best = NULL;
	unsigned int i;

	for (i = 0; (k = rkmm_kernels_nth(i)); i++) {
		best = k;
		if (wanted && !strcmp(wanted, k->name))
			break;
	}
	return best;
}

const struct rkmm_kernels *rkmm_kernels(void)
{
	const struct rkmm_kernels *k = atomic_load_explicit(&chosen, memory_order_relaxed);

	if (!k) {
		k = choose();
		atomic_store_explicit(&chosen, k, memory_order_relaxed);
	}
	return k;
}

void rkmm_kernels_use(const struct rkmm_kernels *k)
{
	atomic_store_explicit(&chosen, k, memory_order_relaxed);
}
