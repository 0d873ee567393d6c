// SPDX-License-Identifier: MIT
/*
 * librkmm-compute against its definitions, one operation at a time as the header
 * states them, and against double precision where a definition could be wrong.
 */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/rkmm_compute.h"

static uint64_t rng = 0x853c49e6748fea9b;

static uint32_t rnd(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return (uint32_t)(rng >> 32);
}

/* Mostly moderate values, now and then an outlier or zero. */
static float value(void)
{
	float x = (float)((double)rnd() / 2147483648.0 - 1.0);
	uint32_t kind = rnd() % 32;

	return kind == 0 ? x * 40.0f : kind == 1 ? 0.0f : kind == 2 ? x * 1e-30f : x;
}

struct matrix {
	size_t rows, cols, ld;
	float *x;
};

static struct matrix matrix(size_t rows, size_t cols)
{
	struct matrix m = { rows, cols, cols + rnd() % 5, NULL };
	size_t i;

	m.x = malloc((rows * m.ld + 1) * sizeof(float));
	for (i = 0; i < rows * m.ld; i++)
		m.x[i] = value();
	return m;
}

static int qmax_of(unsigned int bits)
{
	return bits == 8 ? 127 : 7;
}

static int code(float x, float scale, int qmax)
{
	float q = scale == 0.0f ? 0.0f : rintf(x / scale);

	return q > qmax ? qmax : q < -qmax ? -qmax : (int)q;
}

static float at(const struct matrix *m, int by_col, size_t vec, size_t i)
{
	return by_col ? m->x[i * m->ld + vec] : m->x[vec * m->ld + i];
}

/* The clip search as the header defines it. */
static float clip(const struct matrix *m, int by_col, size_t vec, size_t n, unsigned int bits)
{
	float most = 0, best = 0;
	double least = INFINITY;
	size_t i;
	int step;

	for (i = 0; i < n; i++)
		most = fmaxf(most, fabsf(at(m, by_col, vec, i)));
	best = most / (float)qmax_of(bits);
	for (step = 0; step <= RKMM_CLIP_STEPS && best > 0; step++) {
		float s = most / (float)qmax_of(bits) * (1.0f - (float)step * RKMM_CLIP_SHRINK);
		double part[8] = { 0 }, sum;

		for (i = 0; i < n; i++) {
			float v = at(m, by_col, vec, i);
			float d = v - (float)code(v, s, qmax_of(bits)) * s;

			part[i % 8] += (double)d * (double)d;
		}
		sum = ((part[0] + part[4]) + (part[2] + part[6])) +
		      ((part[1] + part[5]) + (part[3] + part[7]));
		if (sum < least) {
			least = sum;
			best = s;
		}
	}
	return best;
}

static void check_quantise(size_t rows, size_t cols, unsigned int bits, int by_col)
{
	struct matrix m = matrix(rows, cols);
	size_t vecs = by_col ? cols : rows, n = by_col ? rows : cols, ldq = cols + 3, i, v;
	float *scale = malloc((vecs + 1) * sizeof(float));
	int8_t *q = malloc(rows * ldq + 1);

	memset(q, 0x55, rows * ldq + 1);
	assert_int_equal(0, by_col ? rkmm_absmax_cols(m.x, rows, cols, m.ld, scale) :
				     rkmm_absmax_rows(m.x, rows, cols, m.ld, scale));
	for (v = 0; v < vecs; v++) {
		float most = 0;

		for (i = 0; i < n; i++)
			most = fmaxf(most, fabsf(at(&m, by_col, v, i)));
		assert_true(most == scale[v]);
	}
	assert_int_equal(0, rkmm_scale_absmax(scale, vecs, bits, scale));
	if (rnd() % 2) {
		assert_int_equal(0, by_col ?
				 rkmm_scale_clip_cols(m.x, rows, cols, m.ld, bits, scale) :
				 rkmm_scale_clip_rows(m.x, rows, cols, m.ld, bits, scale));
		for (v = 0; v < vecs; v++)
			assert_true(clip(&m, by_col, v, n, bits) == scale[v]);
	}
	assert_int_equal(0, by_col ?
			 rkmm_quantise_cols(m.x, rows, cols, m.ld, bits, scale, q, ldq) :
			 rkmm_quantise_rows(m.x, rows, cols, m.ld, bits, scale, q, ldq));
	for (v = 0; v < vecs; v++)
		for (i = 0; i < n; i++)
			assert_int_equal(code(at(&m, by_col, v, i), scale[v], qmax_of(bits)),
					 by_col ? q[i * ldq + v] : q[v * ldq + i]);
	/* The gap behind each row stays. */
	for (i = 0; i < rows; i++)
		for (v = cols; v < ldq; v++)
			assert_int_equal(0x55, q[i * ldq + v]);
	free(q);
	free(scale);
	free(m.x);
}

static void test_quantise(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < 400; i++)
		check_quantise(1 + rnd() % 40, 1 + rnd() % 300, i % 2 ? 8 : 4, i % 4 / 2);
	check_quantise(1, 1, 8, 0);
	check_quantise(3, 700, 8, 1);
	check_quantise(0, 5, 8, 0);
}

static void test_ties_go_to_even(void **state)
{
	float x[6] = { 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 127.0f }, scale = 1.0f;
	int8_t q[6];

	(void)state;
	assert_int_equal(0, rkmm_quantise_rows(x, 1, 6, 6, 8, &scale, q, 6));
	assert_int_equal(0, q[0]);
	assert_int_equal(2, q[1]);
	assert_int_equal(2, q[2]);
	assert_int_equal(0, q[3]);
	assert_int_equal(-2, q[4]);
	assert_int_equal(127, q[5]);
}

/* So small that the scale has no bits left. */
static void test_tiny(void **state)
{
	float x[13], scale;
	int8_t q[13];
	int i;

	(void)state;
	for (i = 0; i < 13; i++)
		x[i] = i & 1 ? -0x1p-149f : 0x1p-149f;
	assert_int_equal(0, rkmm_absmax_rows(x, 1, 13, 13, &scale));
	assert_int_equal(0, rkmm_scale_absmax(&scale, 1, 8, &scale));
	assert_true(scale == 0);
	memset(q, 1, sizeof(q));
	assert_int_equal(0, rkmm_quantise_rows(x, 1, 13, 13, 8, &scale, q, 13));
	for (i = 0; i < 13; i++)
		assert_int_equal(0, q[i]);
}

/* Clipping never does worse than the largest magnitude, and better with an outlier. */
static void test_clip_helps(void **state)
{
	float x[512], full, clipped;
	double e_full = 0, e_clip = 0;
	int i;

	(void)state;
	for (i = 0; i < 512; i++)
		x[i] = (float)((double)rnd() / 2147483648.0 - 1.0);
	x[77] = 2.5f;
	assert_int_equal(0, rkmm_absmax_rows(x, 1, 512, 512, &full));
	assert_int_equal(0, rkmm_scale_absmax(&full, 1, 4, &full));
	assert_int_equal(0, rkmm_scale_clip_rows(x, 1, 512, 512, 4, &clipped));
	for (i = 0; i < 512; i++) {
		e_full += pow(x[i] - code(x[i], full, 7) * (double)full, 2);
		e_clip += pow(x[i] - code(x[i], clipped, 7) * (double)clipped, 2);
	}
	assert_true(e_clip < e_full);
}

static void test_dequantise(void **state)
{
	int32_t sum[5][9];
	int16_t sum16[5][9];
	float row[5], col[9], x[5][11], x16[5][11];
	int r, c;

	(void)state;
	for (r = 0; r < 5; r++)
		for (c = 0; c < 9; c++) {
			sum[r][c] = (int32_t)rnd();
			sum16[r][c] = (int16_t)rnd();
			row[r] = fabsf(value());
			col[c] = fabsf(value());
		}
	assert_int_equal(0, rkmm_dequantise_i32(sum[0], 5, 9, 9, row, col, x[0], 11));
	assert_int_equal(0, rkmm_dequantise_i16(sum16[0], 5, 9, 9, row, col, x16[0], 11));
	for (r = 0; r < 5; r++)
		for (c = 0; c < 9; c++) {
			double s = (double)row[r] * (double)col[c];

			assert_true(x[r][c] == (float)(sum[r][c] * s));
			assert_true(x16[r][c] == (float)(sum16[r][c] * s));
		}
	/* Rounded once, ties to even. */
	sum[0][0] = 16777217;
	row[0] = 1;
	col[0] = 1;
	assert_int_equal(0, rkmm_dequantise_i32(sum[0], 1, 1, 9, row, col, x[0], 11));
	assert_true(x[0][0] == 16777216.0f);
}

/* Sylvester's matrix: the sign of (i, j) is the parity of the common bits. */
static double sylvester(size_t i, size_t j)
{
	return __builtin_popcountll(i & j) & 1 ? -1.0 : 1.0;
}

static void check_hadamard(size_t rows, size_t cols, size_t block)
{
	struct matrix m = matrix(rows, cols);
	float *t = malloc(rows * cols * sizeof(float) + 1);
	double most = 0, want;
	size_t r, c, k;

	for (r = 0; r < rows; r++)
		for (c = 0; c < cols; c++)
			t[c * rows + r] = m.x[r * m.ld + c];
	for (r = 0; r < rows * m.ld; r++)
		most = fmax(most, fabs(m.x[r]));
	assert_int_equal(0, rkmm_hadamard_rows(m.x, rows, cols, m.ld, block));
	/*
	 * log2(block) additions and a product, each within half a unit of the last place of a
	 * number that is at most block * most before the product.
	 */
	for (r = 0; r < rows; r++)
		for (c = 0; c < cols; c++) {
			double bound = (log2((double)block) + 2) * FLT_EPSILON * most *
				       sqrt((double)block);

			want = 0;
			for (k = 0; k < block; k++)
				want += sylvester(c % block, k) *
					t[(c / block * block + k) * rows + r];
			want /= sqrt((double)block);
			assert_true(fabs(want - m.x[r * m.ld + c]) <= bound);
		}
	/* The same bits from the column form of the transposed matrix. */
	assert_int_equal(0, rkmm_hadamard_cols(t, cols, rows, rows, block));
	for (r = 0; r < rows; r++)
		for (c = 0; c < cols; c++)
			assert_true(t[c * rows + r] == m.x[r * m.ld + c]);
	free(t);
	free(m.x);
}

static void test_hadamard(void **state)
{
	size_t block;
	int i;

	(void)state;
	for (block = 1; block <= 256; block *= 2)
		for (i = 0; i < 4; i++)
			check_hadamard(1 + rnd() % 7, block * (1 + rnd() % 3), block);
}

static void test_bad_arguments(void **state)
{
	float x[4] = { 1, 2, 3, 4 }, s[4], inf[2] = { 1, INFINITY }, nan_[2] = { NAN, 0 };
	int8_t q[4];

	(void)state;
	assert_int_equal(-EINVAL, rkmm_absmax_rows(x, 2, 2, 1, s));
	assert_int_equal(-EINVAL, rkmm_absmax_rows(NULL, 2, 2, 2, s));
	assert_int_equal(-EINVAL, rkmm_scale_absmax(x, 4, 5, s));
	assert_int_equal(-EINVAL, rkmm_scale_clip_rows(x, 2, 2, 2, 16, s));
	assert_int_equal(-EINVAL, rkmm_hadamard_rows(x, 1, 3, 3, 2));
	assert_int_equal(-EINVAL, rkmm_hadamard_rows(x, 1, 4, 4, 0));
	assert_int_equal(-EINVAL, rkmm_hadamard_rows(x, 1, 3, 3, 3));
	assert_int_equal(-EINVAL, rkmm_hadamard_cols(x, 3, 1, 1, 2));
	assert_int_equal(-EDOM, rkmm_absmax_rows(inf, 1, 2, 2, s));
	assert_int_equal(-EDOM, rkmm_absmax_cols(nan_, 1, 2, 2, s));
	s[0] = 1;
	assert_int_equal(-EDOM, rkmm_quantise_rows(nan_, 1, 2, 2, 8, s, q, 2));
	s[0] = NAN;
	assert_int_equal(-EINVAL, rkmm_quantise_rows(x, 1, 2, 2, 8, s, q, 2));
	s[0] = -1;
	assert_int_equal(-EINVAL, rkmm_quantise_rows(x, 1, 2, 2, 8, s, q, 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quantise),
		cmocka_unit_test(test_ties_go_to_even),
		cmocka_unit_test(test_tiny),
		cmocka_unit_test(test_clip_helps),
		cmocka_unit_test(test_dequantise),
		cmocka_unit_test(test_hadamard),
		cmocka_unit_test(test_bad_arguments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
