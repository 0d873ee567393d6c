// SPDX-License-Identifier: MIT
/* References on the CPU: plain loops, exact for integers, double precision for the rest. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "matmul.h"

#define FP32_ULP		(1.0 / (1 << 23))	/* of 1 */
#define HALF_ROUND		(1.0 / (1 << 11))	/* relative, of rounding to fp16 */
#define HALF_ROUND_SMALL	(1.0 / (1 << 25))	/* the same below the normal numbers */

/* What the NPU was given, as doubles; exact for every operand type. */
static double given(const struct job *job, const struct operand *op, size_t i)
{
	float f;

	if (!types_float(job->types))
		return ((const int8_t *)op->data)[i];
	rkmm_f16_to_f32((const uint16_t *)op->data + i, &f, 1);
	return f;
}

static double *spread(const struct job *job, const struct operand *op, bool original)
{
	size_t i, count = op->rows * op->cols;
	double *v = allocate(count, sizeof(*v));

	for (i = 0; i < count; i++)
		v[i] = original ? op->exact[i] : given(job, op, i);
	return v;
}

/*
 * One row of the product: sums, and sums of magnitudes when wanted. Integer sums
 * stay exact, they are far below 2^53.
 */
static void product_row(const double *a, const double *b, const struct operand *op, double *sum,
			double *magnitude)
{
	size_t k, n, rows = op->rows, cols = op->cols;

	memset(sum, 0, cols * sizeof(*sum));
	if (magnitude)
		memset(magnitude, 0, cols * sizeof(*magnitude));
	if (op->transposed) {
		for (n = 0; n < cols; n++, b += rows)
			for (k = 0; k < rows; k++) {
				sum[n] += a[k] * b[k];
				if (magnitude)
					magnitude[n] += fabs(a[k] * b[k]);
			}
		return;
	}
	for (k = 0; k < rows; k++, b += cols) {
		for (n = 0; n < cols; n++)
			sum[n] += a[k] * b[n];
		if (magnitude)
			for (n = 0; n < cols; n++)
				magnitude[n] += fabs(a[k] * b[n]);
	}
}

/* out = clamp(round_half_even(acc * mult / 2^shift) + offset), see rkmm_drm.h */
static int64_t requantise(int64_t acc, const struct options *opt)
{
	int64_t scaled = acc * (opt->mult ? opt->mult : 1);
	int64_t floor = scaled >> opt->shift;
	int64_t rest = scaled - floor * ((int64_t)1 << opt->shift);
	int64_t twice = 2 * rest, one = (int64_t)1 << opt->shift;

	if (twice > one || (twice == one && floor & 1))
		floor++;
	floor += opt->offset;
	return floor < INT8_MIN ? INT8_MIN : floor > INT8_MAX ? INT8_MAX : floor;
}

static double integer_result(const struct job *job, double sum)
{
	switch (job->types) {
	case DRM_RKMM_I8I8:
		return (double)requantise((int64_t)sum, job->opt);
	case DRM_RKMM_I4I16:
		return sum < INT16_MIN ? INT16_MIN : sum > INT16_MAX ? INT16_MAX : sum;
	default:
		return sum;
	}
}

/*
 * How far the NPU may be from the exact sum of K products. Products of halves
 * are exact in fp32. The order of the additions is not known, nor whether each
 * is rounded or cut off; with one ulp (2^-23) for each the error is at most
 * K * 2^-23 * sum |a b| in any order. fp16 output adds its own half ulp, of the
 * result or of the smallest normal number.
 */
static double float_bound(const struct job *job, double sum, double magnitude)
{
	double bound = (double)job->a.cols * FP32_ULP * magnitude;

	if (job->types == DRM_RKMM_F16F16)
		bound += fmax((fabs(sum) + bound) * HALF_ROUND, HALF_ROUND_SMALL);
	return bound;
}

/* Part of the bound that an element uses; infinite when it is plainly wrong. */
static double float_use(const struct job *job, double got, double sum, double magnitude)
{
	double bound, diff;

	if (isnan(sum) || isnan(got))
		return isnan(sum) && isnan(got) ? 0 : INFINITY;
	bound = float_bound(job, sum, magnitude);
	/* Past the largest half by half a step it is infinite. */
	if (job->types == DRM_RKMM_F16F16 && isinf(got) && !signbit(got) == !signbit(sum))
		return fabs(sum) + bound >= 65520 ? 0 : INFINITY;
	if (isinf(sum) || isinf(got))
		return sum == got ? 0 : INFINITY;
	diff = fabs(got - sum);
	return diff == 0 ? 0 : bound > 0 ? diff / bound : INFINITY;
}

struct norms {
	double max, diff2, ref2;
};

static void norms_add(struct norms *n, double got, double ref)
{
	double d = fabs(got - ref);

	/* Infinities that agree differ by nothing. */
	if (got == ref || (isnan(got) && isnan(ref)))
		d = 0;
	if (!(d <= n->max))
		n->max = d;
	n->diff2 += d * d;
	n->ref2 += ref * ref;
}

static struct error_stats norms_end(const struct norms *n)
{
	struct error_stats e = { .max = n->max };

	e.relative = n->diff2 == 0 ? 0 : sqrt(n->diff2 / n->ref2);
	return e;
}

/* Element i of what is written. */
static double final(const struct job *job, size_t i)
{
	float f;

	switch (job->out) {
	case NPY_F32:
		return ((const float *)job->c.data)[i];
	case NPY_F16:
		rkmm_f16_to_f32((const uint16_t *)job->c.data + i, &f, 1);
		return f;
	case NPY_I8:
		return ((const int8_t *)job->c.data)[i];
	case NPY_I16:
		return ((const int16_t *)job->c.data)[i];
	default:
		return ((const int32_t *)job->c.data)[i];
	}
}

/*
 * K in slices whose results the NPU clamps to int16 one by one, and the library
 * adds: what a plan means that says so.
 */
static void clamped_row(const struct job *job, const double *a, const double *b, double *sum,
			double *part)
{
	const size_t rows = job->b.rows, cols = job->b.cols;
	size_t k, end, n, j;

	memset(sum, 0, cols * sizeof(*sum));
	for (k = 0; k < rows; k = end) {
		end = rows - k < job->slice ? rows : k + job->slice;
		memset(part, 0, cols * sizeof(*part));
		for (j = k; j < end; j++)
			for (n = 0; n < cols; n++)
				part[n] += a[j] * (job->b.transposed ? b[n * rows + j] :
								       b[j * cols + n]);
		for (n = 0; n < cols; n++)
			sum[n] += integer_result(job, part[n]);
	}
}

static void check_given(const struct job *job, struct verdict *v)
{
	double *a = spread(job, &job->a, false), *b = spread(job, &job->b, false);
	size_t m, n, cols = job->b.cols, k = job->a.cols;
	double *sum = allocate(cols, 2 * sizeof(*sum)), *magnitude = sum + cols;
	bool floats = types_float(job->types);
	struct norms norms = { 0 };
	double got, want, use;

	for (m = 0; m < job->a.rows; m++) {
		if (job->slice && job->plan_flags & DRM_RKMM_PLAN_MAY_SATURATE)
			clamped_row(job, a + m * k, b, sum, magnitude);
		else
			product_row(a + m * k, b, &job->b, sum, floats ? magnitude : NULL);
		for (n = 0; n < cols; n++) {
			size_t i = m * cols + n;

			if (floats) {
				got = raw_float(job, i);
				want = sum[n];
				use = float_use(job, got, want, magnitude[n]);
				v->wrong += use > 1;
				v->bound = fmax(v->bound, use);
			} else {
				got = raw_int(job, i);
				want = integer_result(job, sum[n]);
				v->wrong += got != want;
			}
			norms_add(&norms, got, want);
		}
	}
	v->quantised = norms_end(&norms);
	free(sum);
	free(a);
	free(b);
}

static void check_original(const struct job *job, struct verdict *v)
{
	double *a = spread(job, &job->a, true), *b = spread(job, &job->b, true);
	size_t m, n, cols = job->b.cols, k = job->a.cols;
	double *sum = allocate(cols, sizeof(*sum));
	struct norms norms = { 0 };

	for (m = 0; m < job->a.rows; m++) {
		product_row(a + m * k, b, &job->b, sum, NULL);
		for (n = 0; n < cols; n++) {
			double want = sum[n];

			if (job->types == DRM_RKMM_I8I8)
				want = sum[n] * (double)(job->opt->mult ? job->opt->mult : 1) /
				       (double)((int64_t)1 << job->opt->shift) +
				       (double)job->opt->offset;
			norms_add(&norms, final(job, m * cols + n), want);
		}
	}
	v->original = norms_end(&norms);
	free(sum);
	free(a);
	free(b);
}

void job_verify(const struct job *job, struct verdict *v)
{
	memset(v, 0, sizeof(*v));
	check_given(job, v);
	check_original(job, v);
	v->ok = !v->wrong;
}
