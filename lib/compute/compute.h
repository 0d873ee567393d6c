/* SPDX-License-Identifier: MIT */
/* What the parts of librkmm-compute share. */
#ifndef COMPUTE_H
#define COMPUTE_H

#include <stdbool.h>

#include "lib/rkmm_compute.h"

/*
 * The loops are plain C that the compiler turns into vector code: NEON on arm64,
 * SSE2 or, chosen when the library is loaded, AVX2 on amd64. No contraction into
 * fused operations, so all give the same bits. The choice happens before a
 * sanitizer is ready for it.
 */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
	!defined(__SANITIZE_ADDRESS__)
#define RKMM_VECTOR	__attribute__((target_clones("avx2", "default")))
#else
#define RKMM_VECTOR
#endif

/* Exported from the library. */
#define RKMM_PUBLIC	__attribute__((visibility("default")))

static inline bool rkmm_matrix_ok(const void *x, size_t rows, size_t cols, size_t ld)
{
	return (x || !rows || !cols) && ld >= cols && (!rows || ld <= SIZE_MAX / 8 / rows);
}

static inline int rkmm_qmax(unsigned int bits)
{
	return bits == 8 ? 127 : bits == 4 ? 7 : 0;
}

#endif
