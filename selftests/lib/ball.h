/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Numbers with a bound of their error: what double precision says, and how far the NPU
 * may be from it. Each step adds what its roundings can do:
 *
 * - to fp16: 2^-11 of the result, 2^-25 below the normal numbers;
 * - sums of products: fp32, in any order, cut off or rounded: 2^-23 of the sum of
 *   magnitudes for each addition;
 * - curves: 2^-9 of the range of the output, as Documentation/operations.rst has it;
 *
 * and what comes in goes on by the slope of the step, at most.
 */
#ifndef BALL_H
#define BALL_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define F16_EPS		(1.0 / 2048)
#define F32_EPS		(1.0 / 8388608)

struct ball {
	double v, e;
};

static inline struct ball ball_round(struct ball x)
{
	x.e += (fabs(x.v) + x.e) * F16_EPS + 1.0 / (1 << 25);
	return x;
}

static inline struct ball ball_mul(struct ball x, struct ball y)
{
	return (struct ball){
		x.v * y.v, fabs(x.v) * y.e + fabs(y.v) * x.e + x.e * y.e,
	};
}

static inline struct ball ball_add(struct ball x, struct ball y)
{
	return (struct ball){ x.v + y.v, x.e + y.e };
}

/* a row of A times column @col of B, not yet rounded */
static inline struct ball ball_dot(const struct ball *a, const struct ball *b, uint32_t k,
				   uint32_t ldb)
{
	struct ball sum = { 0, 0 }, p;
	double magnitude = 0;
	uint32_t i;

	for (i = 0; i < k; i++) {
		p = ball_mul(a[i], b[(size_t)i * ldb]);
		sum = ball_add(sum, p);
		magnitude += fabs(p.v) + p.e;
	}
	sum.e += k * F32_EPS * magnitude;
	return sum;
}

static inline struct ball *ball_matmul(const struct ball *a, const struct ball *b, uint32_t m,
				       uint32_t k, uint32_t n)
{
	struct ball *c = calloc((size_t)m * n, sizeof(*c));
	uint32_t i, j;

	for (i = 0; i < m; i++)
		for (j = 0; j < n; j++)
			c[(size_t)i * n + j] = ball_round(ball_dot(a + (size_t)i * k, b + j, k, n));
	return c;
}

/* x times a curve between 0 and 1, or a curve with that range: slopes are at most 1.13 */
static inline struct ball ball_curve(struct ball x, double v, double range)
{
	return ball_round((struct ball){ v, 1.13 * x.e + range / 512 });
}

/*
 * softmax of @scale (x + @mask), in place; positions from @n on are hidden.
 *
 * The exponential of half the distance to the largest comes from a table of 15 bits: 2^-15,
 * rounded; then it is squared, summed up, spread and divided by, each rounded: less than
 * 6 2^-11 of the result, and 2^-14 of the root of it. The prescale is an fp16 number, so
 * distances are off by 2^-11 of them, once more for the difference in fp16. Errors of the
 * logits act on the result and on the sum. Squares below 2^-24, scaled up as they are for
 * many columns, are less than 2^-14 of the largest altogether.
 */
static inline void ball_softmax(struct ball *x, const double *mask, uint32_t t, uint32_t n,
				double scale)
{
	double most = -INFINITY, sum = 0, off = 0;
	uint32_t j;

	for (j = 0; j < n; j++) {
		if (mask) {
			x[j].v += mask[j] / scale;
			x[j].e += (fabs(x[j].v) + fabs(mask[j] / scale)) * F16_EPS;
		}
		if (!mask || !isinf(mask[j])) {
			most = fmax(most, scale * x[j].v);
			off = fmax(off, scale * x[j].e);
		}
	}
	for (j = 0; j < n; j++)
		sum += exp(scale * x[j].v - most);
	for (j = 0; j < t; j++) {
		double d = j < n ? most - scale * x[j].v : INFINITY, p = exp(-d) / sum;

		x[j] = (struct ball){ p, 0 };
		if (!isinf(d))
			x[j].e = p * (6 * F16_EPS + 2.2 * off + 2 * d * F16_EPS) +
				 sqrt(p / sum) / 16384 + 1.0 / 16384 / sum;
	}
}

#endif
