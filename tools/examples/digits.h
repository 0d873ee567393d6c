/* SPDX-License-Identifier: MIT */
/* rkmm-digits: digits_data.c reads, digits_train.c trains, digits_npu.c runs on the NPU. */
#ifndef DIGITS_H
#define DIGITS_H

#include "tools/examples/example.h"

#define PIXELS		64	/* 8 x 8 */
#define CLASSES		10
#define HIDDEN_MOST	256

/**
 * struct digits - pictures and what they show
 * @count: how many
 * @x: PIXELS each, 0 to 1 in steps of 1/16
 * @label: 0 to 9
 */
struct digits {
	uint32_t count;
	float *x;
	uint8_t *label;
};

/* Every fourth picture is for the test, and never trained with. Ends the program on trouble. */
void digits_read(const char *path, struct digits *train, struct digits *test);
void digits_free(struct digits *d);

/**
 * struct net - relu(x w1 + b1) w2 + b2; the largest result is the digit
 * @hidden: columns between
 * @w1: PIXELS x hidden
 * @b1: hidden
 * @w2: hidden x CLASSES
 * @b2: CLASSES
 */
struct net {
	uint32_t hidden;
	float *w1, *b1, *w2, *b2;
};

/* Steepest descent, one picture at a time, in an order that the seed gives. */
void net_train(struct net *net, uint32_t hidden, const struct digits *train, uint32_t epochs,
	       uint64_t seed);
/* Results of all pictures, count x CLASSES; the largest value between in *most_hidden. */
void net_run(const struct net *net, const struct digits *d, float *out, float *most_hidden);
void net_free(struct net *net);

/* Pictures of d that are recognised */
uint32_t count_right(const struct digits *d, const float *out);

/**
 * struct outcome - what the NPU made of it
 * @served: it does these types
 * @why: why not
 * @submits: submissions
 * @wrong: results that differ from plain loops with the same numbers
 */
struct outcome {
	bool served;
	char why[200];
	uint32_t submits;
	uint32_t wrong;
};

/*
 * out is count x CLASSES. fp16 and int8 are one submission; int4 is one a layer, as the
 * CPU quantises between. most is the largest value between that training has seen.
 */
void npu_fp16(struct rkmm_device *dev, const struct net *net, const struct digits *d, float *out,
	      struct outcome *res);
void npu_int8(struct rkmm_device *dev, const struct net *net, const struct digits *d, float most,
	      float *out, struct outcome *res);
void npu_int4(struct rkmm_device *dev, const struct net *net, const struct digits *d, float *out,
	      struct outcome *res);

#endif
