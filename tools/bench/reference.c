// SPDX-License-Identifier: MIT
/*
 * Random operands, and plain loops that say what must come out: exact for
 * integers; double precision and a bound for floating point.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define FP32_ULP		(1.0 / (1 << 23))	/* of 1 */
#define HALF_ROUND		(1.0 / (1 << 11))	/* relative, of rounding to fp16 */
#define HALF_ROUND_SMALL	(1.0 / (1 << 25))	/* the same below the normal numbers */

static void fill(void *p, size_t count, uint32_t types, uint64_t *seed)
{
	int8_t *bytes = p;
	float row[256];
	size_t i, j, n;
	uint64_t r = 0;

	if (types_float(types)) {
		/* Uniform in [-1, 1) with 11 bits: exact in half precision. */
		for (i = 0; i < count; i += n) {
			n = count - i < 256 ? count - i : 256;
			for (j = 0; j < n; j++)
				row[j] = (float)((int)(random_next(seed) >> 52) - 2048) / 2048;
			rkmm_f32_to_f16(row, (uint16_t *)p + i, n);
		}
		return;
	}
	for (i = 0; i < count; i++) {
		r = i % 8 ? r >> 8 : random_next(seed);
		bytes[i] = (int8_t)(types == DRM_RKMM_I4I16 ? (int)(r & 15) - 8 : (int)(r & 255));
	}
}

/* out = clamp(round_half_even(acc * mult / 2^shift) + offset), see rkmm_drm.h */
static int32_t requantise(const struct data *d, int64_t acc)
{
	int64_t scaled = acc * d->mult, one = (int64_t)1 << d->shift;
	int64_t floor = scaled >> d->shift;
	int64_t twice = 2 * (scaled - floor * one);

	if (twice > one || (twice == one && floor & 1))
		floor++;
	floor += d->offset;
	return (int32_t)(floor < INT8_MIN ? INT8_MIN : floor > INT8_MAX ? INT8_MAX : floor);
}

/* Spread results over int8, with some at its ends. */
static void choose_quant(struct data *d)
{
	double f = 50.0 / (5461.0 * sqrt(d->shape.k));

	d->offset = 3;
	while (d->shift < 31 && f * (double)(1ull << d->shift) < 16384)
		d->shift++;
	d->mult = (int32_t)(f * (double)(1ull << d->shift));
	if (d->mult < 1)
		d->mult = 1;
}

static void sums_int(struct data *d)
{
	uint32_t m, k, n, K = d->shape.k, N = d->shape.n;
	const int8_t *a = d->a;

	memset(d->ints, 0, (size_t)d->shape.m * N * sizeof(*d->ints));
	for (m = 0; m < d->shape.m; m++) {
		int32_t *sum = d->ints + (size_t)m * N;

		for (k = 0; k < K; k++) {
			const int8_t *b = (const int8_t *)d->b + (size_t)k * N;
			int32_t x = a[(size_t)m * K + k];

			for (n = 0; n < N; n++)
				sum[n] += x * b[n];
		}
	}
}

static void finish_int(struct data *d)
{
	size_t i, count = (size_t)d->shape.m * d->shape.n;
	int32_t v;

	for (i = 0; i < count; i++) {
		v = d->ints[i];
		if (d->shape.types == DRM_RKMM_I8I8)
			d->ints[i] = requantise(d, v);
		else if (d->shape.types == DRM_RKMM_I4I16)
			d->ints[i] = v < INT16_MIN ? INT16_MIN : v > INT16_MAX ? INT16_MAX : v;
	}
}

/* Products of halves are exact in fp32, and their sums nearly so in double. */
static void sums_float(const struct data *d, const float *a, const float *b, double *sums,
		       bool magnitude)
{
	uint32_t m, k, n, K = d->shape.k, N = d->shape.n;

	memset(sums, 0, (size_t)d->shape.m * N * sizeof(*sums));
	for (m = 0; m < d->shape.m; m++) {
		double *sum = sums + (size_t)m * N;

		for (k = 0; k < K; k++) {
			const float *row = b + (size_t)k * N;
			float x = a[(size_t)m * K + k];

			if (magnitude)
				for (n = 0; n < N; n++)
					sum[n] += (double)fabsf(x * row[n]);
			else
				for (n = 0; n < N; n++)
					sum[n] += (double)(x * row[n]);
		}
	}
}

static void reference_float(struct data *d)
{
	size_t a_count = (size_t)d->shape.m * d->shape.k, b_count = (size_t)d->shape.k * d->shape.n;
	size_t i, count = (size_t)d->shape.m * d->shape.n;
	float *a = allocate(a_count, sizeof(*a)), *b = allocate(b_count, sizeof(*b));
	uint64_t start;

	rkmm_f16_to_f32(d->a, a, a_count);
	rkmm_f16_to_f32(d->b, b, b_count);
	d->floats = allocate(count, sizeof(*d->floats));
	d->bound = allocate(count, sizeof(*d->bound));
	start = now();
	sums_float(d, a, b, d->floats, false);
	d->cpu_ns = now() - start;
	sums_float(d, a, b, d->bound, true);
	/*
	 * The order of the NPU's additions is not known, nor whether each is rounded or
	 * cut off: one ulp (2^-23) of the sum of magnitudes for each. fp16 output adds
	 * its own half ulp.
	 */
	for (i = 0; i < count; i++) {
		d->bound[i] *= (double)d->shape.k * FP32_ULP;
		if (d->shape.types == DRM_RKMM_F16F16)
			d->bound[i] += fmax((fabs(d->floats[i]) + d->bound[i]) * HALF_ROUND,
					    HALF_ROUND_SMALL);
	}
	free(a);
	free(b);
}

void data_make(struct data *d, const struct shape *shape, uint64_t seed)
{
	size_t a_count = (size_t)shape->m * shape->k, b_count = (size_t)shape->k * shape->n;
	size_t count = (size_t)shape->m * shape->n, in = types_float(shape->types) ? 2 : 1;
	uint64_t start;

	memset(d, 0, sizeof(*d));
	d->shape = *shape;
	seed ^= (uint64_t)shape->m << 40 ^ (uint64_t)shape->k << 20 ^ shape->n;
	d->a = allocate(a_count, in);
	d->b = allocate(b_count, in);
	fill(d->a, a_count, shape->types, &seed);
	fill(d->b, b_count, shape->types, &seed);
	d->c_size = shape->types == DRM_RKMM_I8I8 ? 1 :
		    shape->types == DRM_RKMM_F16F16 || shape->types == DRM_RKMM_I4I16 ? 2 : 4;
	d->c = allocate(count, d->c_size);
	if (shape->types == DRM_RKMM_I8I8)
		choose_quant(d);
	if (types_float(shape->types)) {
		reference_float(d);
		return;
	}
	d->ints = allocate(count, sizeof(*d->ints));
	start = now();
	sums_int(d);
	d->cpu_ns = now() - start;
	finish_int(d);
}

static int32_t element_int(const struct data *d, size_t i)
{
	switch (d->c_size) {
	case 1:
		return ((const int8_t *)d->c)[i];
	case 2:
		return ((const int16_t *)d->c)[i];
	default:
		return ((const int32_t *)d->c)[i];
	}
}

static float element_float(const struct data *d, size_t i)
{
	float f;

	if (d->c_size == 4)
		return ((const float *)d->c)[i];
	rkmm_f16_to_f32((const uint16_t *)d->c + i, &f, 1);
	return f;
}

uint64_t data_check(const struct data *d, double *bound_used)
{
	size_t i, count = (size_t)d->shape.m * d->shape.n;
	uint64_t wrong = 0;
	double diff;

	for (i = 0; i < count; i++) {
		if (d->ints) {
			wrong += element_int(d, i) != d->ints[i];
			continue;
		}
		diff = fabs((double)element_float(d, i) - d->floats[i]);
		/* Written so that a NaN is wrong. */
		if (!(diff <= d->bound[i]))
			wrong++;
		else if (diff > 0 && diff / d->bound[i] > *bound_used)
			*bound_used = diff / d->bound[i];
	}
	return wrong;
}

void data_free(struct data *d)
{
	free(d->a);
	free(d->b);
	free(d->c);
	free(d->ints);
	free(d->floats);
	free(d->bound);
}
