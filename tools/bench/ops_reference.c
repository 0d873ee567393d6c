// SPDX-License-Identifier: MIT
/* The operations in double precision, and the list of those that are measured. */
#include <math.h>
#include <stdlib.h>

#include "ops.h"

#define STEP	(1.0 / 1024)	/* a step of fp16: one rounding, and that of a constant */
#define HALF_LEAST	(1.0 / (1 << 24))	/* steps of fp16 below the normal numbers */
#define SOFT	0.002
#define NORM	(3 * STEP)	/* six roundings, each of half a step: norm_size() */
#define CURVE	(1.0 / 512)	/* Documentation/operations.rst */

#define F16(NAME, KIND, LO, HI, ERROR, ...) \
	{ NAME, { .kind = DRM_RKMM_OP_##KIND, ##__VA_ARGS__ }, LO, HI, ERROR }
#define I8(NAME, KIND, LO, HI, ERROR, ...) \
	{ NAME, { .kind = DRM_RKMM_OP_##KIND, .element = DRM_RKMM_I8, ##__VA_ARGS__ }, \
	  LO, HI, ERROR }

const struct op_case op_cases[] = {
	F16("add f16", ADD, -8, 8, STEP),
	F16("sub f16", SUB, -8, 8, STEP),
	F16("mul f16", MUL, -8, 8, STEP),
	F16("max f16", MAX, -8, 8, 0),
	F16("min f16", MIN, -8, 8, 0),
	F16("div f16", DIV, 1, 8, STEP),
	F16("add scalar f16", ADD, -8, 8, STEP, .other = DRM_RKMM_OTHER_SCALAR, .value = 2.5f),
	F16("mul scalar f16", MUL, -8, 8, STEP, .other = DRM_RKMM_OTHER_SCALAR, .value = 2.5f),
	F16("add channel f16", ADD, -8, 8, STEP, .other = DRM_RKMM_OTHER_CHANNEL),
	F16("mul channel f16", MUL, -8, 8, STEP, .other = DRM_RKMM_OTHER_CHANNEL),
	F16("copy f16", COPY, -8, 8, 0),
	F16("relu f16", RELU, -8, 8, 0),
	F16("clamp f16", CLAMP, -8, 8, STEP, .value = -2, .value2 = 3),
	F16("leaky f16", LEAKY, -8, 8, STEP, .value = 0.25f),
	F16("exp f16", EXP, -10, 0, CURVE),
	F16("sigmoid f16", SIGMOID, -10, 10, CURVE),
	F16("tanh f16", TANH, -4, 4, CURVE),
	F16("silu f16", SILU, -8, 8, CURVE),
	F16("gelu f16", GELU, -8, 8, CURVE),
	F16("hardswish f16", HARDSWISH, -8, 8, CURVE),
	F16("reciprocal f16", RECIPROCAL, 0.125, 8, CURVE),
	F16("rsqrt f16", RSQRT, 0.0625, 4, CURVE),
	F16("rowmax f16", ROWMAX, -8, 8, 0),
	F16("rowsum f16", ROWSUM, 0, 1, STEP),
	F16("rowmean f16", ROWMEAN, 0, 1, 2 * STEP),
	F16("softmax f16", SOFTMAX, -4, 4, SOFT),
	F16("softmax causal f16", SOFTMAX, -4, 4, SOFT, .flags = DRM_RKMM_CAUSAL),
	F16("rmsnorm f16", RMSNORM, -8, 8, NORM, .value = 0.001f, .flags = DRM_RKMM_GAMMA),
	F16("layernorm f16", LAYERNORM, -8, 8, NORM, .value = 0.001f,
	    .flags = DRM_RKMM_GAMMA | DRM_RKMM_BETA),
	F16("maxpool 2x2 f16", MAXPOOL, -8, 8, 0, .width = 8, .kernel_w = 2, .kernel_h = 2),
	F16("avgpool 2x2 f16", AVGPOOL, 1, 8, CURVE, .width = 8, .kernel_w = 2, .kernel_h = 2),
	I8("add i8", ADD, -60, 60, 0, .shift = 14, .mult = 1),
	I8("max i8", MAX, -128, 127, 0, .shift = 14, .mult = 1),
	I8("mul i8", MUL, -11, 11, 0),
	I8("relu i8", RELU, -128, 127, 0),
	I8("maxpool 2x2 i8", MAXPOOL, -128, 127, 0, .width = 8, .kernel_w = 2, .kernel_h = 2),
};

const unsigned int num_op_cases = sizeof(op_cases) / sizeof(op_cases[0]);

static double element(const struct rkmm_op_desc *d, double a, double b)
{
	switch (d->kind) {
	case DRM_RKMM_OP_ADD:
		return a + b;
	case DRM_RKMM_OP_SUB:
		return a - b;
	case DRM_RKMM_OP_MUL:
		return a * b;
	case DRM_RKMM_OP_MAX:
		return fmax(a, b);
	case DRM_RKMM_OP_MIN:
		return fmin(a, b);
	case DRM_RKMM_OP_DIV:
		return a / b;
	case DRM_RKMM_OP_RELU:
		return fmax(a, 0);
	case DRM_RKMM_OP_CLAMP:
		return fmax((double)d->value, fmin((double)d->value2, a));
	case DRM_RKMM_OP_LEAKY:
		return a < 0 ? a * (double)d->value : a;
	case DRM_RKMM_OP_EXP:
		return exp(a);
	case DRM_RKMM_OP_SIGMOID:
		return 1 / (1 + exp(-a));
	case DRM_RKMM_OP_TANH:
		return tanh(a);
	case DRM_RKMM_OP_SILU:
		return a / (1 + exp(-a));
	case DRM_RKMM_OP_GELU:
		return a * 0.5 * erfc(-a * sqrt(0.5));
	case DRM_RKMM_OP_HARDSWISH:
		return a * fmax(0, fmin(6, a + 3)) / 6;
	case DRM_RKMM_OP_RECIPROCAL:
		return 1 / a;
	case DRM_RKMM_OP_RSQRT:
		return 1 / sqrt(a);
	default:
		return a;
	}
}

static void elements(const struct rkmm_op_desc *d, const double *a, const double *b, double *want)
{
	const double scalar = (double)d->value;
	uint32_t r, c;

	for (r = 0; r < d->m; r++) {
		for (c = 0; c < d->n; c++) {
			const size_t i = (size_t)r * d->n + c;
			const double *other = !b ? &scalar :
					      d->other == DRM_RKMM_OTHER_CHANNEL ? b + c : b + i;

			want[i] = element(d, a[i], *other);
		}
	}
}

/* Largest, sum or mean of each row, in all columns of the result */
static void reduce(const struct rkmm_op_desc *d, const double *a, double *want, uint32_t cols)
{
	double most, sum;
	uint32_t r, c;

	for (r = 0; r < d->m; r++, a += d->n) {
		most = a[0];
		sum = 0;
		for (c = 0; c < d->n; c++) {
			most = fmax(most, a[c]);
			sum += a[c];
		}
		for (c = 0; c < cols; c++)
			*want++ = d->kind == DRM_RKMM_OP_ROWMAX ? most :
				  d->kind == DRM_RKMM_OP_ROWSUM ? sum : sum / d->n;
	}
}

static void softmax(const struct rkmm_op_desc *d, const double *a, double *want)
{
	double most, sum;
	uint32_t r, c, n;

	for (r = 0; r < d->m; r++, a += d->n, want += d->n) {
		n = d->flags & DRM_RKMM_CAUSAL ? r + d->n - d->m + 1 : d->n;
		most = -INFINITY;
		sum = 0;
		for (c = 0; c < n; c++)
			most = fmax(most, a[c]);
		for (c = 0; c < n; c++)
			sum += exp(a[c] - most);
		for (c = 0; c < d->n; c++)
			want[c] = c < n ? exp(a[c] - most) / sum : 0;
	}
}

/*
 * Errors of a norm count by what the result is put together from, which may cancel out: six
 * roundings of the value times gamma; three of the mean, which was subtracted; the one that
 * gamma's product and beta have in common. What is small beside the largest of its row feels
 * that no fp16 number is finer than 2^-24.
 */
static double norm_size(double value, double mean, double gamma, double beta)
{
	return fabs(value) + fabs(mean) / 2 + fabs(beta) / 6 + fabs(gamma) / 512;
}

static void norm(const struct rkmm_op_desc *d, const double *a, const double *b, const double *e,
		 double *want, double *size)
{
	double mean, square, v, m;
	uint32_t r, c;

	for (r = 0; r < d->m; r++, a += d->n, want += d->n, size += d->n) {
		mean = 0;
		square = 0;
		for (c = 0; d->kind == DRM_RKMM_OP_LAYERNORM && c < d->n; c++)
			mean += a[c] / d->n;
		for (c = 0; c < d->n; c++)
			square += (a[c] - mean) * (a[c] - mean) / d->n;
		for (c = 0; c < d->n; c++) {
			v = b[c] / sqrt(square + (double)d->value);
			m = mean * v;
			v = (a[c] - mean) * v;
			want[c] = v + (e ? e[c] : 0);
			size[c] = norm_size(v, m, b[c], e ? e[c] : 0);
		}
	}
}

static void pool(const struct rkmm_op_desc *d, const double *a, double *want)
{
	const uint32_t lines = d->m / d->width, w = d->kernel_w, h = d->kernel_h;
	uint32_t y, x, c, i, j;

	for (y = 0; y + h <= lines; y += h) {
		for (x = 0; x + w <= d->width; x += w) {
			for (c = 0; c < d->n; c++) {
				double most = -INFINITY, sum = 0, v;

				for (i = 0; i < h * w; i++) {
					j = (y + i / w) * d->width + x + i % w;
					v = a[(size_t)j * d->n + c];
					most = fmax(most, v);
					sum += v;
				}
				*want++ = d->kind == DRM_RKMM_OP_MAXPOOL ? most : sum / (h * w);
			}
		}
	}
}

/* Exact where errors are roundings, else by the range, as operations.rst has them */
static void relative_size(const struct op_case *c, const double *want, double *size, size_t count)
{
	double range = 0;
	size_t i;

	for (i = 0; c->error > 1.0 / 1000 && i < count; i++)
		range = fmax(range, fabs(want[i]));
	range = fmin(range, 1);
	for (i = 0; i < count; i++)
		size[i] = fmax(fabs(want[i]), range);
}

static void op_values(const struct rkmm_op_desc *desc, const double *a, const double *b,
		      double *want, uint32_t cols)
{
	switch (desc->kind) {
	case DRM_RKMM_OP_ROWMAX:
	case DRM_RKMM_OP_ROWSUM:
	case DRM_RKMM_OP_ROWMEAN:
		reduce(desc, a, want, cols);
		break;
	case DRM_RKMM_OP_SOFTMAX:
		softmax(desc, a, want);
		break;
	case DRM_RKMM_OP_MAXPOOL:
	case DRM_RKMM_OP_AVGPOOL:
		pool(desc, a, want);
		break;
	default:
		elements(desc, a, b, want);
		break;
	}
}

void op_reference(const struct op_case *c, const double *a, const double *b, const double *d,
		  double *want, double *allowed, uint32_t rows, uint32_t cols)
{
	const size_t count = (size_t)rows * cols;
	const uint32_t kind = c->desc.kind;
	size_t i;

	if (kind == DRM_RKMM_OP_RMSNORM || kind == DRM_RKMM_OP_LAYERNORM) {
		norm(&c->desc, a, b, d, want, allowed);
	} else {
		op_values(&c->desc, a, b, want, cols);
		relative_size(c, want, allowed, count);
	}
	for (i = 0; i < count; i++) {
		/* by the whole range of the curve */
		if (kind == DRM_RKMM_OP_RSQRT || kind == DRM_RKMM_OP_RECIPROCAL)
			allowed[i] = kind == DRM_RKMM_OP_RSQRT ? 4 : 8;
		allowed[i] = c->error * allowed[i] + (c->error > 0 ? HALF_LEAST : 0);
	}
}
