/* SPDX-License-Identifier: MIT */
/* What the examples share: random numbers, options, a verdict. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/rkmm_seq.h"
#include "tools/common/common.h"

/**
 * struct number_option - a number on the command line, --NAME N
 * @name: without the dashes
 * @value: set
 * @min: least
 * @max: largest
 */
struct number_option {
	const char *name;
	uint32_t *value;
	uint32_t min;
	uint32_t max;
};

/**
 * struct flag_option - a switch on the command line, --NAME
 * @name: without the dashes
 * @value: set to true
 */
struct flag_option {
	const char *name;
	bool *value;
};

/*
 * Reads the command line; --help prints usage and ends the program, what is unknown ends it
 * with status 2. Lists end with a name of NULL. Returns the index of the first argument.
 */
int parse_options(int argc, char **argv, const char *usage, const struct number_option *numbers,
		  const struct flag_option *flags);

/* Between -1 and 1, from a state that begins with the seed. */
double uniform(uint64_t *state);

/* count halves, as floats, between -size and size */
float *random_halves(size_t count, double size, uint64_t *state);

/**
 * struct distance - how far results are from the reference
 * @most: largest difference
 * @rms: root of the mean square
 * @size: root of the mean square of the reference
 */
struct distance {
	double most;
	double rms;
	double size;
};

/* NaN anywhere makes @most infinite. */
struct distance distance_of(const float *have, const double *want, size_t count);

/* Operations, programs, memory of a sequence in one line */
void print_sequence(struct rkmm_seq *seq);

/* "right" or "WRONG"; the exit status. */
int verdict(const struct distance *d, double bound);

#endif
