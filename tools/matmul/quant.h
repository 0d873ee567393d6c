/* SPDX-License-Identifier: MIT */
/* Symmetric quantisation by the largest magnitude of each row or column. */
#ifndef QUANT_H
#define QUANT_H

#include <stddef.h>
#include <stdint.h>

/*
 * For each vector: scale = max |x| / qmax, q = x / scale rounded to nearest with
 * ties to even, within -qmax..qmax; all in float. A vector of zeros has scale 0.
 * qmax is 127 for int8 and 7 for int4. Returns 0, or -1 when a value is not finite.
 */
int quantise_rows(const float *x, size_t rows, size_t cols, int qmax, int8_t *q, float *scale);
int quantise_cols(const float *x, size_t rows, size_t cols, int qmax, int8_t *q, float *scale);

/* The value that an exact sum stands for, rounded once to float. */
static inline float dequantise(int64_t sum, float scale_a, float scale_b)
{
	return (float)((double)sum * ((double)scale_a * (double)scale_b));
}

#endif
