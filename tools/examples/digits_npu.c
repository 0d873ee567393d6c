// SPDX-License-Identifier: MIT
/* The network on the NPU, in three kinds of numbers. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/rkmm_compute.h"
#include "tools/examples/digits.h"

/* True when it went well; false when it is not served. Everything else ends the program. */
static bool served(int ret, const char *why, struct outcome *res)
{
	if (ret && ret != -EOPNOTSUPP)
		die(EXIT_FAILURE, "%s", why);
	res->served = !ret;
	if (ret)
		snprintf(res->why, sizeof(res->why), "%s", why);
	return !ret;
}

/* ---- fp16 ---- */

/*
 * Inputs are exact. Weights and biases are rounded to fp16, and so are the values between
 * and the results, and sums of products are of fp32: what is as far off as that allows, or
 * further, is wrong.
 */
static uint32_t check_fp16(const struct net *net, const struct digits *d, const float *out)
{
	const double eps = 1.0 / 2048, few = 1.0 / (1 << 20);
	double h, e, y, bound;
	uint32_t i, j, k, c, wrong = 0;

	for (i = 0; i < d->count; i++) {
		double all[CLASSES], off[CLASSES];

		for (c = 0; c < CLASSES; c++) {
			all[c] = net->b2[c];
			off[c] = fabs((double)net->b2[c]) * eps + few;
		}
		for (j = 0; j < net->hidden; j++) {
			h = net->b1[j];
			e = fabs(h) * eps;
			for (k = 0; k < PIXELS; k++) {
				y = (double)d->x[i * PIXELS + k] * net->w1[k * net->hidden + j];
				h += y;
				e += fabs(y) * (eps + few);
			}
			/* the sum, then the sum with the bias */
			e += 2 * fabs(h) * eps + fabs((double)net->b1[j]) * eps + few;
			h = fmax(h, 0);
			for (c = 0; c < CLASSES; c++) {
				y = net->w2[j * CLASSES + c];
				all[c] += h * y;
				off[c] += fabs(y) * (e + (h + e) * (eps + few));
			}
		}
		for (c = 0; c < CLASSES; c++) {
			y = fabs((double)net->b2[c]);
			bound = off[c] + 2 * (fabs(all[c]) + y + off[c]) * eps;
			wrong += !(fabs(all[c] - out[i * CLASSES + c]) <= bound);
		}
	}
	return wrong;
}

void npu_fp16(struct rkmm_device *dev, const struct net *net, const struct digits *d, float *out,
	      struct outcome *res)
{
	int x, w1, b1, w2, b2, y, ret;
	struct rkmm_seq *seq;

	memset(res, 0, sizeof(*res));
	if (rkmm_seq_create(dev, &seq))
		die(EXIT_FAILURE, "out of memory");
	x = rkmm_seq_input(seq, DRM_RKMM_F16, d->count, PIXELS);
	w1 = rkmm_seq_input_b(seq, DRM_RKMM_F16, PIXELS, net->hidden);
	b1 = rkmm_seq_bias(seq, DRM_RKMM_F16, net->hidden);
	w2 = rkmm_seq_input_b(seq, DRM_RKMM_F16, net->hidden, CLASSES);
	b2 = rkmm_seq_bias(seq, DRM_RKMM_F16, CLASSES);
	y = rkmm_seq_linear(seq, rkmm_seq_linear(seq, x, w1, b1, DRM_RKMM_OP_RELU), w2, b2, 0);
	rkmm_seq_output(seq, y);
	ret = rkmm_seq_build(seq);
	if (!ret)
		ret = rkmm_seq_write(seq, w1, net->w1, net->hidden, RKMM_SEQ_F32);
	if (!ret)
		ret = rkmm_seq_write(seq, b1, net->b1, net->hidden, RKMM_SEQ_F32);
	if (!ret)
		ret = rkmm_seq_write(seq, w2, net->w2, CLASSES, RKMM_SEQ_F32);
	if (!ret)
		ret = rkmm_seq_write(seq, b2, net->b2, CLASSES, RKMM_SEQ_F32);
	if (!ret)
		ret = rkmm_seq_write(seq, x, d->x, PIXELS, RKMM_SEQ_F32);
	if (!ret)
		ret = rkmm_seq_run(seq);
	if (!ret)
		ret = rkmm_seq_read(seq, y, out, CLASSES, RKMM_SEQ_F32);
	if (served(ret, rkmm_seq_error(seq), res)) {
		res->submits = 1;
		res->wrong = check_fp16(net, d, out);
	}
	rkmm_seq_destroy(seq);
}

/* ---- int8 ---- */

/**
 * struct quantised - the network in int8
 * @x: pictures, and a column of INT8_MAX that the biases multiply
 * @w1: (PIXELS + 1) x hidden, one scale for all
 * @w2: hidden x CLASSES
 * @scale2: of its columns
 * @step: real value of a step between
 * @mult: hidden sums to steps
 * @shift: the same
 */
struct quantised {
	int8_t *x, *w1, *w2;
	float scale2[CLASSES], step;
	int32_t mult;
	uint32_t shift;
};

#define PIXEL_STEP	7	/* of 1/16: the largest is 112 */
#define ROW		(PIXELS + 1)

static void quantise(struct quantised *q, const struct net *net, const struct digits *d, float most)
{
	const uint32_t hidden = net->hidden;
	const float unit = 1.0f / (16 * PIXEL_STEP);
	float *w1 = allocate((size_t)ROW * hidden, sizeof(*w1)), scale = 0, factor;
	float *scales = allocate(hidden, sizeof(*scales));
	uint32_t i, j;

	q->x = allocate((size_t)d->count * ROW, 1);
	q->w1 = allocate((size_t)ROW * hidden, 1);
	q->w2 = allocate((size_t)hidden * CLASSES, 1);
	for (i = 0; i < d->count; i++) {
		for (j = 0; j < PIXELS; j++)
			q->x[i * ROW + j] = (int8_t)(d->x[i * PIXELS + j] * 16 * PIXEL_STEP);
		q->x[i * ROW + PIXELS] = INT8_MAX;
	}
	memcpy(w1, net->w1, (size_t)PIXELS * hidden * sizeof(*w1));
	for (j = 0; j < hidden; j++)
		w1[PIXELS * hidden + j] = net->b1[j] / (INT8_MAX * unit);
	/* The NPU has one factor for all columns when it requantises. */
	for (i = 0; i < ROW * hidden; i++)
		scale = fmaxf(scale, fabsf(w1[i]) / INT8_MAX);
	for (j = 0; j < hidden; j++)
		scales[j] = scale;
	rkmm_quantise_cols(w1, ROW, hidden, hidden, 8, scales, q->w1, hidden);
	rkmm_absmax_cols(net->w2, hidden, CLASSES, CLASSES, q->scale2);
	rkmm_scale_absmax(q->scale2, CLASSES, 8, q->scale2);
	rkmm_quantise_cols(net->w2, hidden, CLASSES, CLASSES, 8, q->scale2, q->w2, CLASSES);
	q->step = most / INT8_MAX;
	factor = unit * scale / q->step;
	for (q->shift = 0; q->shift < 31 && ldexpf(factor, (int)q->shift) < 16384; q->shift++)
		;
	q->mult = (int32_t)ldexpf(factor, (int)q->shift);
	free(w1);
	free(scales);
}

/* The same numbers in plain loops: integers are exact. */
static uint32_t check_int8(const struct quantised *q, uint32_t count, uint32_t hidden,
			   const int32_t *acc)
{
	int32_t h[HIDDEN_MOST], sum;
	uint32_t i, j, k, wrong = 0;

	for (i = 0; i < count; i++) {
		for (j = 0; j < hidden; j++) {
			for (k = 0, sum = 0; k < ROW; k++)
				sum += q->x[i * ROW + k] * q->w1[k * hidden + j];
			/* rint() has ties to even, as the NPU has */
			h[j] = (int32_t)fmax(0, fmin(INT8_MAX,
						     rint((double)sum * q->mult /
							  (double)(1u << q->shift))));
		}
		for (j = 0; j < CLASSES; j++) {
			for (k = 0, sum = 0; k < hidden; k++)
				sum += h[k] * q->w2[k * CLASSES + j];
			wrong += sum != acc[i * CLASSES + j];
		}
	}
	return wrong;
}

void npu_int8(struct rkmm_device *dev, const struct net *net, const struct digits *d, float most,
	      float *out, struct outcome *res)
{
	struct rkmm_matmul_desc first = { .types = DRM_RKMM_I8I8 };
	const struct rkmm_matmul_desc second = { .types = DRM_RKMM_I8I32 };
	int32_t *acc = allocate((size_t)d->count * CLASSES, sizeof(*acc));
	struct quantised q;
	int x, w1, w2, y, ret;
	struct rkmm_seq *seq;
	uint32_t i;

	memset(res, 0, sizeof(*res));
	/* a network that is silent has no largest value */
	quantise(&q, net, d, most > 0 ? most : 1);
	first.mult = q.mult;
	first.shift = q.shift;
	if (rkmm_seq_create(dev, &seq))
		die(EXIT_FAILURE, "out of memory");
	x = rkmm_seq_input(seq, DRM_RKMM_I8, d->count, ROW);
	w1 = rkmm_seq_input_b(seq, DRM_RKMM_I8, ROW, net->hidden);
	w2 = rkmm_seq_input_b(seq, DRM_RKMM_I8, net->hidden, CLASSES);
	y = rkmm_seq_unary(seq, DRM_RKMM_OP_RELU, rkmm_seq_matmul(seq, &first, x, w1));
	y = rkmm_seq_matmul(seq, &second, y, w2);
	rkmm_seq_output(seq, y);
	ret = rkmm_seq_build(seq);
	if (!ret)
		ret = rkmm_seq_write(seq, x, q.x, ROW, 0);
	if (!ret)
		ret = rkmm_seq_write(seq, w1, q.w1, net->hidden, 0);
	if (!ret)
		ret = rkmm_seq_write(seq, w2, q.w2, CLASSES, 0);
	if (!ret)
		ret = rkmm_seq_run(seq);
	if (!ret)
		ret = rkmm_seq_read(seq, y, acc, CLASSES, 0);
	if (served(ret, rkmm_seq_error(seq), res)) {
		res->submits = 1;
		res->wrong = check_int8(&q, d->count, net->hidden, acc);
		for (i = 0; i < d->count * CLASSES; i++)
			out[i] = (float)acc[i] * q.step * q.scale2[i % CLASSES] +
				 net->b2[i % CLASSES];
	}
	rkmm_seq_destroy(seq);
	free(acc);
	free(q.x);
	free(q.w1);
	free(q.w2);
}

/* ---- int4 ---- */

/* y = x w + b with rows of x and columns of w quantised; false when it is not served. */
static bool layer_int4(struct rkmm_device *dev, const float *x, uint32_t m, uint32_t k,
		       const float *w, uint32_t n, const float *b, float *y, struct outcome *res)
{
	const struct rkmm_matmul_desc desc = { .types = DRM_RKMM_I4I16, .m = m, .k = k, .n = n };
	float *row = allocate(m, sizeof(*row)), *col = allocate(n, sizeof(*col));
	int8_t *xq = allocate((size_t)m * k, 1), *wq = allocate((size_t)k * n, 1);
	int16_t *acc = allocate((size_t)m * n, sizeof(*acc));
	int32_t sum;
	uint32_t i, j, l;
	bool ok;

	if (rkmm_scale_clip_rows(x, m, k, k, 4, row) || rkmm_scale_clip_cols(w, k, n, n, 4, col) ||
	    rkmm_quantise_rows(x, m, k, k, 4, row, xq, k) ||
	    rkmm_quantise_cols(w, k, n, n, 4, col, wq, n))
		die(EXIT_FAILURE, "a weight is not a number");
	ok = served(rkmm_matmul(dev, &desc, xq, k, wq, n, acc, n), rkmm_last_error(), res);
	for (i = 0; ok && i < m; i++) {
		for (j = 0; j < n; j++) {
			for (l = 0, sum = 0; l < k; l++)
				sum += xq[(size_t)i * k + l] * wq[l * n + j];
			sum = sum < INT16_MIN ? INT16_MIN : sum > INT16_MAX ? INT16_MAX : sum;
			res->wrong += sum != acc[(size_t)i * n + j];
			y[(size_t)i * n + j] = (float)acc[(size_t)i * n + j] * row[i] * col[j] +
					       b[j];
		}
	}
	res->submits += ok;
	free(row);
	free(col);
	free(xq);
	free(wq);
	free(acc);
	return ok;
}

void npu_int4(struct rkmm_device *dev, const struct net *net, const struct digits *d, float *out,
	      struct outcome *res)
{
	float *h = allocate((size_t)d->count * net->hidden, sizeof(*h));
	uint32_t i;

	memset(res, 0, sizeof(*res));
	if (layer_int4(dev, d->x, d->count, PIXELS, net->w1, net->hidden, net->b1, h, res)) {
		for (i = 0; i < d->count * net->hidden; i++)
			h[i] = fmaxf(h[i], 0);
		layer_int4(dev, h, d->count, net->hidden, net->w2, CLASSES, net->b2, out, res);
	}
	free(h);
}
