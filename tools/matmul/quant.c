// SPDX-License-Identifier: MIT
#include "quant.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static int8_t quantise(float x, float scale, int qmax)
{
	float q;

	if (scale == 0.0f)
		return 0;
	/* rintf() follows the rounding mode, which is to nearest, ties to even. */
	q = rintf(x / scale);
	if (q > (float)qmax)
		q = (float)qmax;
	if (q < (float)-qmax)
		q = (float)-qmax;
	return (int8_t)q;
}

int quantise_rows(const float *x, size_t rows, size_t cols, int qmax, int8_t *q, float *scale)
{
	bool finite = true;
	size_t r, c;

	for (r = 0; r < rows; r++, x += cols, q += cols) {
		float most = 0.0f;

		for (c = 0; c < cols; c++) {
			finite &= isfinite(x[c]) != 0;
			most = fmaxf(most, fabsf(x[c]));
		}
		if (!finite)
			return -1;
		scale[r] = most / (float)qmax;
		for (c = 0; c < cols; c++)
			q[c] = quantise(x[c], scale[r], qmax);
	}
	return 0;
}

int quantise_cols(const float *x, size_t rows, size_t cols, int qmax, int8_t *q, float *scale)
{
	bool finite = true;
	size_t r, c;

	memset(scale, 0, cols * sizeof(*scale));
	for (r = 0; r < rows; r++)
		for (c = 0; c < cols; c++) {
			finite &= isfinite(x[r * cols + c]) != 0;
			scale[c] = fmaxf(scale[c], fabsf(x[r * cols + c]));
		}
	if (!finite)
		return -1;
	for (c = 0; c < cols; c++)
		scale[c] /= (float)qmax;
	for (r = 0; r < rows; r++)
		for (c = 0; c < cols; c++)
			q[r * cols + c] = quantise(x[r * cols + c], scale[c], qmax);
	return 0;
}
