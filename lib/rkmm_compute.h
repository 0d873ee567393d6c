/* SPDX-License-Identifier: MIT */
/*
 * librkmm-compute: quantisation and rotation of matrices on the CPU.
 *
 * Pure functions over row-major float matrices; no device is needed. Usable
 * from C (C99 and later) and C++.
 */
#ifndef RKMM_COMPUTE_H
#define RKMM_COMPUTE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

/**
 * DOC: librkmm-compute
 *
 * A matrix has rows x cols elements; ld is the distance from one row to the
 * next in elements, at least cols. Quantisation is symmetric: a vector (a row,
 * or a column) has one float scale, and q = x / scale rounded to nearest with
 * ties to even, within -qmax..qmax, where qmax is 2^(bits-1) - 1: 127 or 7. A
 * vector of zeros has scale 0 and quantises to zeros.
 *
 * Every function computes in float, one IEEE operation at a time, so results
 * are the same on every machine and with every instruction set. Sums are
 * double and have a fixed order: eight partial sums, number j over the elements
 * j, j + 8, j + 16 ..., added as ((0+4)+(2+6)) + ((1+5)+(3+7)).
 *
 * Functions return 0 or a negative errno: EINVAL for bad arguments, EDOM when
 * an element is infinite or not a number. All are thread-safe.
 */

/**
 * rkmm_absmax_rows() - largest magnitude of each row
 * @x: matrix
 * @rows: rows
 * @cols: columns
 * @ld: leading dimension
 * @absmax: one value a row
 *
 * Return: 0, -EINVAL or -EDOM.
 */
int rkmm_absmax_rows(const float *x, size_t rows, size_t cols, size_t ld, float *absmax);

/**
 * rkmm_absmax_cols() - largest magnitude of each column
 * @x: matrix
 * @rows: rows
 * @cols: columns
 * @ld: leading dimension
 * @absmax: one value a column
 *
 * Return: 0, -EINVAL or -EDOM.
 */
int rkmm_absmax_cols(const float *x, size_t rows, size_t cols, size_t ld, float *absmax);

/**
 * rkmm_scale_absmax() - scales that map the largest magnitude to qmax
 * @absmax: from rkmm_absmax_rows() or rkmm_absmax_cols()
 * @count: vectors
 * @bits: 8 or 4
 * @scale: absmax / qmax for each; may be @absmax itself
 *
 * Return: 0 or -EINVAL.
 */
int rkmm_scale_absmax(const float *absmax, size_t count, unsigned int bits, float *scale);

/** RKMM_CLIP_STEPS - candidates of the clip search below the largest magnitude */
#define RKMM_CLIP_STEPS		20
/** RKMM_CLIP_SHRINK - what each of them takes off the scale, as a fraction of it */
#define RKMM_CLIP_SHRINK	0.025f

/**
 * rkmm_scale_clip_rows() - per row, the scale with the least squared error
 * @x: matrix
 * @rows: rows
 * @cols: columns
 * @ld: leading dimension
 * @bits: 8 or 4
 * @scale: one value a row
 *
 * Candidates are s(i) = absmax / qmax * (1 - i * RKMM_CLIP_SHRINK) for i = 0 ..
 * RKMM_CLIP_STEPS; the error is the sum of (x - q * s(i))^2, the difference in
 * float and its square in double. The first of equal ones wins.
 *
 * Return: 0, -EINVAL or -EDOM.
 */
int rkmm_scale_clip_rows(const float *x, size_t rows, size_t cols, size_t ld, unsigned int bits,
			 float *scale);

/**
 * rkmm_scale_clip_cols() - per column, the scale with the least squared error
 * @x: matrix
 * @rows: rows
 * @cols: columns
 * @ld: leading dimension
 * @bits: 8 or 4
 * @scale: one value a column
 *
 * As rkmm_scale_clip_rows() on the transposed matrix.
 *
 * Return: 0, -EINVAL, -EDOM or -ENOMEM.
 */
int rkmm_scale_clip_cols(const float *x, size_t rows, size_t cols, size_t ld, unsigned int bits,
			 float *scale);

/**
 * rkmm_quantise_rows() - quantise with one scale a row
 * @x: matrix
 * @rows: rows
 * @cols: columns
 * @ld: leading dimension of @x
 * @bits: 8 or 4
 * @scale: one value a row
 * @q: result, one value a byte
 * @ldq: leading dimension of @q
 *
 * Return: 0, -EINVAL or -EDOM.
 */
int rkmm_quantise_rows(const float *x, size_t rows, size_t cols, size_t ld, unsigned int bits,
		       const float *scale, int8_t *q, size_t ldq);

/**
 * rkmm_quantise_cols() - quantise with one scale a column
 * @x: matrix
 * @rows: rows
 * @cols: columns
 * @ld: leading dimension of @x
 * @bits: 8 or 4
 * @scale: one value a column
 * @q: result, one value a byte
 * @ldq: leading dimension of @q
 *
 * Return: 0, -EINVAL or -EDOM.
 */
int rkmm_quantise_cols(const float *x, size_t rows, size_t cols, size_t ld, unsigned int bits,
		       const float *scale, int8_t *q, size_t ldq);

/**
 * rkmm_dequantise_i32() - floats that integer sums stand for
 * @sum: result of an integer matmul
 * @rows: rows
 * @cols: columns
 * @ld: leading dimension of @sum
 * @row_scale: scale of each row of A
 * @col_scale: scale of each column of B
 * @x: (float)((double)sum * ((double)row_scale * (double)col_scale))
 * @ldx: leading dimension of @x
 *
 * Return: 0 or -EINVAL.
 */
int rkmm_dequantise_i32(const int32_t *sum, size_t rows, size_t cols, size_t ld,
			const float *row_scale, const float *col_scale, float *x, size_t ldx);

/**
 * rkmm_dequantise_i16() - as rkmm_dequantise_i32() for int16 results
 * @sum: result of an int4 matmul
 * @rows: rows
 * @cols: columns
 * @ld: leading dimension of @sum
 * @row_scale: scale of each row of A
 * @col_scale: scale of each column of B
 * @x: result
 * @ldx: leading dimension of @x
 *
 * Return: 0 or -EINVAL.
 */
int rkmm_dequantise_i16(const int16_t *sum, size_t rows, size_t cols, size_t ld,
			const float *row_scale, const float *col_scale, float *x, size_t ldx);

/**
 * rkmm_hadamard_rows() - rotate each row by a Hadamard matrix, in place
 * @x: matrix
 * @rows: rows
 * @cols: columns, a multiple of @block
 * @ld: leading dimension
 * @block: a power of two; each run of this many columns is rotated by itself
 *
 * Sylvester order, normalised: stages of sums and differences with the distance
 * 1, 2, 4 ... @block / 2, then one product with (float)(1 / sqrt(block)).
 * Applied to A's rows and to B's columns it leaves A x B unchanged up to
 * rounding and spreads outliers over the block.
 *
 * Return: 0 or -EINVAL.
 */
int rkmm_hadamard_rows(float *x, size_t rows, size_t cols, size_t ld, size_t block);

/**
 * rkmm_hadamard_cols() - rotate each column, in place
 * @x: matrix
 * @rows: rows, a multiple of @block
 * @cols: columns
 * @ld: leading dimension
 * @block: a power of two
 *
 * As rkmm_hadamard_rows() on the transposed matrix, same results.
 *
 * Return: 0 or -EINVAL.
 */
int rkmm_hadamard_cols(float *x, size_t rows, size_t cols, size_t ld, size_t block);

#if defined(__cplusplus)
}
#endif

#endif
