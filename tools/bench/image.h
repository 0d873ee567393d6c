/* SPDX-License-Identifier: MIT */
/*
 * Images made by the driver's own code. Apart from bench.h: names of kmod/prog and of
 * librkmm differ in meaning.
 */
#ifndef BENCH_IMAGE_H
#define BENCH_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct image_case - one image
 * @name: what is printed
 * @key: name in JSON
 */
struct image_case {
	const char *name;
	const char *key;
};

/* NULL behind the last one. */
const struct image_case *image_case(unsigned int i);

struct image;

/* Memory for case @i and what goes there, written once; *programs is how many, *lights how many
 * of those are light. Ends the program when there is none.
 */
struct image *image_new(unsigned int i, bool light, uint32_t *programs, uint32_t *lights);
/* What the first submission of a plan does: measure the image and write it. */
void image_make(struct image *image);
void image_free(struct image *image);

#endif
