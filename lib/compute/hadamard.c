// SPDX-License-Identifier: MIT
/* Fast Walsh-Hadamard transform of rows and columns. */
#include <errno.h>
#include <math.h>

#include "lib/compute/compute.h"

/* a, b = a + b, a - b over two runs of n numbers that do not overlap */
RKMM_VECTOR
static void butterfly(float *restrict a, float *restrict b, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		float s = a[i] + b[i], d = a[i] - b[i];

		a[i] = s;
		b[i] = d;
	}
}

/* Distances below a vector: pairs lie beside each other. */
RKMM_VECTOR
static void butterfly_near(float *x, size_t n, size_t dist)
{
	size_t i, j;

	for (i = 0; i < n; i += 2 * dist)
		for (j = i; j < i + dist; j++) {
			float s = x[j] + x[j + dist], d = x[j] - x[j + dist];

			x[j] = s;
			x[j + dist] = d;
		}
}

RKMM_VECTOR
static void scale_row(float *x, size_t n, float by)
{
	size_t i;

	for (i = 0; i < n; i++)
		x[i] *= by;
}

static bool block_ok(size_t block, size_t n)
{
	return block && !(block & (block - 1)) && n % block == 0;
}

RKMM_PUBLIC
int rkmm_hadamard_rows(float *x, size_t rows, size_t cols, size_t ld, size_t block)
{
	const float by = (float)(1.0 / sqrt((double)block));
	size_t r, i, dist;

	if (!rkmm_matrix_ok(x, rows, cols, ld) || !block_ok(block, cols))
		return -EINVAL;
	for (r = 0; r < rows; r++, x += ld) {
		for (dist = 1; dist < block; dist *= 2) {
			if (dist < 8) {
				butterfly_near(x, cols, dist);
				continue;
			}
			for (i = 0; i < cols; i += 2 * dist)
				butterfly(x + i, x + i + dist, dist);
		}
		scale_row(x, cols, by);
	}
	return 0;
}

RKMM_PUBLIC
int rkmm_hadamard_cols(float *x, size_t rows, size_t cols, size_t ld, size_t block)
{
	const float by = (float)(1.0 / sqrt((double)block));
	size_t i, j, dist;

	if (!rkmm_matrix_ok(x, rows, cols, ld) || !block_ok(block, rows))
		return -EINVAL;
	for (dist = 1; dist < block; dist *= 2)
		for (i = 0; i < rows; i += 2 * dist)
			for (j = i; j < i + dist; j++)
				butterfly(x + j * ld, x + (j + dist) * ld, cols);
	for (i = 0; i < rows; i++)
		scale_row(x + i * ld, cols, by);
	return 0;
}
