/* SPDX-License-Identifier: MIT */
/* What the parts of librkmm-compute share. */
#ifndef COMPUTE_H
#define COMPUTE_H

#include <stdbool.h>

#include "lib/clones.h"
#include "lib/rkmm_compute.h"

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
