// SPDX-License-Identifier: MIT
/* The network on the CPU: plain loops in double precision. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/examples/digits.h"

#define RATE	0.1

static float *random_weights(uint32_t rows, uint32_t cols, uint64_t *state)
{
	float *w = allocate((size_t)rows * cols, sizeof(*w));
	uint32_t i;

	for (i = 0; i < rows * cols; i++)
		w[i] = (float)(uniform(state) * sqrt(3.0 / rows));
	return w;
}

static void forward(const struct net *net, const float *x, double *h, double *y)
{
	uint32_t i, j;

	for (j = 0; j < net->hidden; j++)
		h[j] = net->b1[j];
	for (i = 0; i < PIXELS; i++) {
		if (x[i] == 0)
			continue;
		for (j = 0; j < net->hidden; j++)
			h[j] += (double)x[i] * net->w1[i * net->hidden + j];
	}
	for (j = 0; j < CLASSES; j++)
		y[j] = net->b2[j];
	for (i = 0; i < net->hidden; i++) {
		h[i] = fmax(h[i], 0);
		for (j = 0; h[i] > 0 && j < CLASSES; j++)
			y[j] += h[i] * net->w2[i * CLASSES + j];
	}
}

/* One step against the slope of the cross entropy of softmax(y) */
static void step(struct net *net, const float *x, uint8_t label, double rate)
{
	double h[HIDDEN_MOST], y[CLASSES], most = -INFINITY, sum = 0, slope;
	uint32_t i, j;

	forward(net, x, h, y);
	for (j = 0; j < CLASSES; j++)
		most = fmax(most, y[j]);
	for (j = 0; j < CLASSES; j++)
		sum += y[j] = exp(y[j] - most);
	for (j = 0; j < CLASSES; j++)
		y[j] = rate * (y[j] / sum - (j == label));
	for (i = 0; i < net->hidden; i++) {
		if (h[i] <= 0)
			continue;
		slope = 0;
		for (j = 0; j < CLASSES; j++) {
			float *w = &net->w2[i * CLASSES + j];

			slope += y[j] * *w;
			*w -= (float)(y[j] * h[i]);
		}
		net->b1[i] -= (float)slope;
		for (j = 0; j < PIXELS; j++)
			if (x[j] != 0)
				net->w1[j * net->hidden + i] -= (float)(slope * x[j]);
	}
	for (j = 0; j < CLASSES; j++)
		net->b2[j] -= (float)y[j];
}

void net_train(struct net *net, uint32_t hidden, const struct digits *train, uint32_t epochs,
	       uint64_t seed)
{
	uint32_t *order = allocate(train->count, sizeof(*order)), e, i, j, was;

	net->hidden = hidden;
	net->w1 = random_weights(PIXELS, hidden, &seed);
	net->w2 = random_weights(hidden, CLASSES, &seed);
	net->b1 = allocate(hidden, sizeof(*net->b1));
	net->b2 = allocate(CLASSES, sizeof(*net->b2));
	memset(net->b1, 0, hidden * sizeof(*net->b1));
	memset(net->b2, 0, CLASSES * sizeof(*net->b2));
	for (i = 0; i < train->count; i++)
		order[i] = i;
	for (e = 0; e < epochs; e++) {
		for (i = train->count - 1; i; i--) {
			j = (uint32_t)((uniform(&seed) + 1) / 2 * (i + 1));
			was = order[i];
			order[i] = order[j];
			order[j] = was;
		}
		for (i = 0; i < train->count; i++)
			step(net, train->x + (size_t)order[i] * PIXELS, train->label[order[i]],
			     RATE * (epochs - e) / epochs);
	}
	free(order);
}

void net_run(const struct net *net, const struct digits *d, float *out, float *most_hidden)
{
	double h[HIDDEN_MOST], y[CLASSES];
	uint32_t i, j;

	*most_hidden = 0;
	for (i = 0; i < d->count; i++) {
		forward(net, d->x + (size_t)i * PIXELS, h, y);
		for (j = 0; j < CLASSES; j++)
			out[i * CLASSES + j] = (float)y[j];
		for (j = 0; j < net->hidden; j++)
			*most_hidden = fmaxf(*most_hidden, (float)h[j]);
	}
}

void net_free(struct net *net)
{
	free(net->w1);
	free(net->b1);
	free(net->w2);
	free(net->b2);
}

uint32_t count_right(const struct digits *d, const float *out)
{
	uint32_t i, j, best, right = 0;

	for (i = 0; i < d->count; i++) {
		const float *y = out + (size_t)i * CLASSES;

		for (j = 1, best = 0; j < CLASSES; j++)
			best = y[j] > y[best] ? j : best;
		right += best == d->label[i];
	}
	return right;
}
