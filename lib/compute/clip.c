// SPDX-License-Identifier: MIT
/* Clip search: the scale with the least squared error of a vector. */
#include <errno.h>
#include <stdlib.h>

#include "lib/compute/compute.h"

#define LANES	8

static inline double square_error(float x, float scale, float qmax)
{
	const float magic = 0x1.8p23f;
	float q = x / scale, d;

	q = q > qmax ? qmax : q;
	q = q < -qmax ? -qmax : q;
	q = (q + magic) - magic;
	d = x - q * scale;
	return (double)d * (double)d;
}

/* The order of the sum is part of the interface (rkmm_compute.h). */
RKMM_VECTOR
static double vector_error(const float *x, size_t n, float scale, float qmax)
{
	double sum[LANES] = { 0 };
	size_t i, j;

	for (i = 0; i + LANES <= n; i += LANES)
		for (j = 0; j < LANES; j++)
			sum[j] += square_error(x[i + j], scale, qmax);
	for (j = 0; i + j < n; j++)
		sum[j] += square_error(x[i + j], scale, qmax);
	return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

static float best_scale(const float *x, size_t n, float absmax, unsigned int bits)
{
	const float qmax = (float)rkmm_qmax(bits), full = absmax / qmax;
	float best = full, scale;
	double least = -1, error;
	int i;

	for (i = 0; i <= RKMM_CLIP_STEPS && full > 0.0f; i++) {
		scale = full * (1.0f - (float)i * RKMM_CLIP_SHRINK);
		/* The smallest numbers have no room for a smaller scale. */
		if (scale == 0.0f)
			break;
		error = vector_error(x, n, scale, qmax);
		if (least < 0 || error < least) {
			least = error;
			best = scale;
		}
	}
	return best;
}

RKMM_PUBLIC
int rkmm_scale_clip_rows(const float *x, size_t rows, size_t cols, size_t ld, unsigned int bits,
			 float *scale)
{
	size_t r;
	int ret;

	if (!rkmm_qmax(bits))
		return -EINVAL;
	ret = rkmm_absmax_rows(x, rows, cols, ld, scale);
	for (r = 0; !ret && r < rows; r++)
		scale[r] = best_scale(x + r * ld, cols, scale[r], bits);
	return ret;
}

RKMM_PUBLIC
int rkmm_scale_clip_cols(const float *x, size_t rows, size_t cols, size_t ld, unsigned int bits,
			 float *scale)
{
	float *column;
	size_t r, c;
	int ret;

	if (!rkmm_qmax(bits))
		return -EINVAL;
	ret = rkmm_absmax_cols(x, rows, cols, ld, scale);
	if (ret || !rows)
		return ret;
	column = malloc(rows * sizeof(*column));
	if (!column)
		return -ENOMEM;
	for (c = 0; c < cols; c++) {
		for (r = 0; r < rows; r++)
			column[r] = x[r * ld + c];
		scale[c] = best_scale(column, rows, scale[c], bits);
	}
	free(column);
	return 0;
}
