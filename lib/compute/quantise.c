// SPDX-License-Identifier: MIT
/* Symmetric quantisation: scales from the largest magnitude, codes, floats again. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "lib/compute/compute.h"

/* Largest bit pattern of |x|: for numbers it orders like the value; above 0x7f800000 lie NaNs. */
RKMM_VECTOR
static uint32_t most_bits(const float *x, size_t n)
{
	uint32_t most = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		uint32_t bits;

		memcpy(&bits, &x[i], sizeof(bits));
		bits &= 0x7fffffff;
		most = bits > most ? bits : most;
	}
	return most;
}

RKMM_VECTOR
static void most_bits_each(const float *x, size_t n, uint32_t *most)
{
	size_t i;

	for (i = 0; i < n; i++) {
		uint32_t bits;

		memcpy(&bits, &x[i], sizeof(bits));
		bits &= 0x7fffffff;
		most[i] = bits > most[i] ? bits : most[i];
	}
}

/* 0x7f800000 is infinity. */
static bool finite_bits(uint32_t bits)
{
	return bits < 0x7f800000;
}

RKMM_PUBLIC
int rkmm_absmax_rows(const float *x, size_t rows, size_t cols, size_t ld, float *absmax)
{
	uint32_t bits;
	size_t r;

	if (!rkmm_matrix_ok(x, rows, cols, ld) || (!absmax && rows))
		return -EINVAL;
	for (r = 0; r < rows; r++) {
		bits = most_bits(x + r * ld, cols);
		if (!finite_bits(bits))
			return -EDOM;
		memcpy(&absmax[r], &bits, sizeof(bits));
	}
	return 0;
}

RKMM_PUBLIC
int rkmm_absmax_cols(const float *x, size_t rows, size_t cols, size_t ld, float *absmax)
{
	uint32_t bits[256];
	size_t r, c, i, n;

	if (!rkmm_matrix_ok(x, rows, cols, ld) || (!absmax && cols))
		return -EINVAL;
	for (c = 0; c < cols; c += n) {
		n = cols - c < 256 ? cols - c : 256;
		memset(bits, 0, sizeof(bits));
		for (r = 0; r < rows; r++)
			most_bits_each(x + r * ld + c, n, bits);
		for (i = 0; i < n; i++)
			if (!finite_bits(bits[i]))
				return -EDOM;
		memcpy(absmax + c, bits, n * sizeof(*bits));
	}
	return 0;
}

RKMM_PUBLIC
int rkmm_scale_absmax(const float *absmax, size_t count, unsigned int bits, float *scale)
{
	const float qmax = (float)rkmm_qmax(bits);
	size_t i;

	if (!rkmm_qmax(bits) || ((!absmax || !scale) && count))
		return -EINVAL;
	for (i = 0; i < count; i++)
		scale[i] = absmax[i] / qmax;
	return 0;
}

/*
 * Nearest, ties to even, by the spacing of floats between 2^23 and 2^24: exact
 * for what the clamp lets through, and a plain addition in every instruction set.
 */
static inline float round_even(float q)
{
	const float magic = 0x1.8p23f;

	return (q + magic) - magic;
}

static inline float code_of(float x, float scale, float qmax)
{
	float q = x / scale;

	q = q > qmax ? qmax : q;
	q = q < -qmax ? -qmax : q;
	return round_even(q);
}

RKMM_VECTOR
static void quantise_row(const float *x, size_t n, float scale, float qmax, int8_t *q)
{
	size_t i;

	for (i = 0; i < n; i++)
		q[i] = (int8_t)(int32_t)code_of(x[i], scale, qmax);
}

/* A scale of 0 divides by 1 instead and gives 0 for whatever is left: rounded below a half. */
RKMM_VECTOR
static void quantise_each(const float *x, size_t n, const float *scale, float qmax, int8_t *q)
{
	size_t i;

	for (i = 0; i < n; i++) {
		float s = scale[i] != 0.0f ? scale[i] : 1.0f;
		float v = scale[i] != 0.0f ? x[i] : 0.0f;

		q[i] = (int8_t)(int32_t)code_of(v, s, qmax);
	}
}

static bool scales_ok(const float *scale, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!(scale[i] >= 0.0f) || isinf(scale[i]))
			return false;
	return scale || !n;
}

RKMM_PUBLIC
int rkmm_quantise_rows(const float *x, size_t rows, size_t cols, size_t ld, unsigned int bits,
		       const float *scale, int8_t *q, size_t ldq)
{
	const float qmax = (float)rkmm_qmax(bits);
	size_t r;

	if (!rkmm_qmax(bits) || !rkmm_matrix_ok(x, rows, cols, ld) ||
	    !rkmm_matrix_ok(q, rows, cols, ldq) || !scales_ok(scale, rows))
		return -EINVAL;
	for (r = 0; r < rows; r++) {
		if (!finite_bits(most_bits(x + r * ld, cols)))
			return -EDOM;
		if (scale[r] == 0.0f)
			memset(q + r * ldq, 0, cols);
		else
			quantise_row(x + r * ld, cols, scale[r], qmax, q + r * ldq);
	}
	return 0;
}

RKMM_PUBLIC
int rkmm_quantise_cols(const float *x, size_t rows, size_t cols, size_t ld, unsigned int bits,
		       const float *scale, int8_t *q, size_t ldq)
{
	const float qmax = (float)rkmm_qmax(bits);
	size_t r;

	if (!rkmm_qmax(bits) || !rkmm_matrix_ok(x, rows, cols, ld) ||
	    !rkmm_matrix_ok(q, rows, cols, ldq) || !scales_ok(scale, cols))
		return -EINVAL;
	for (r = 0; r < rows; r++) {
		if (!finite_bits(most_bits(x + r * ld, cols)))
			return -EDOM;
		quantise_each(x + r * ld, cols, scale, qmax, q + r * ldq);
	}
	return 0;
}

RKMM_VECTOR
static void dequantise_row(const int32_t *sum, size_t n, double row, const float *col, float *x)
{
	size_t i;

	for (i = 0; i < n; i++)
		x[i] = (float)((double)sum[i] * (row * (double)col[i]));
}

RKMM_VECTOR
static void dequantise_row16(const int16_t *sum, size_t n, double row, const float *col, float *x)
{
	size_t i;

	for (i = 0; i < n; i++)
		x[i] = (float)((double)sum[i] * (row * (double)col[i]));
}

static bool dequantise_ok(const void *sum, size_t rows, size_t cols, size_t ld,
			  const float *row_scale, const float *col_scale, float *x, size_t ldx)
{
	return rkmm_matrix_ok(sum, rows, cols, ld) && rkmm_matrix_ok(x, rows, cols, ldx) &&
	       (!rows || !cols || (row_scale && col_scale));
}

RKMM_PUBLIC
int rkmm_dequantise_i32(const int32_t *sum, size_t rows, size_t cols, size_t ld,
			const float *row_scale, const float *col_scale, float *x, size_t ldx)
{
	size_t r;

	if (!dequantise_ok(sum, rows, cols, ld, row_scale, col_scale, x, ldx))
		return -EINVAL;
	for (r = 0; r < rows; r++)
		dequantise_row(sum + r * ld, cols, row_scale[r], col_scale, x + r * ldx);
	return 0;
}

RKMM_PUBLIC
int rkmm_dequantise_i16(const int16_t *sum, size_t rows, size_t cols, size_t ld,
			const float *row_scale, const float *col_scale, float *x, size_t ldx)
{
	size_t r;

	if (!dequantise_ok(sum, rows, cols, ld, row_scale, col_scale, x, ldx))
		return -EINVAL;
	for (r = 0; r < rows; r++)
		dequantise_row16(sum + r * ld, cols, row_scale[r], col_scale, x + r * ldx);
	return 0;
}
