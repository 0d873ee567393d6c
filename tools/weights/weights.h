/* SPDX-License-Identifier: MIT */
#ifndef WEIGHTS_H
#define WEIGHTS_H

#include <stdbool.h>
#include <stdint.h>

#include "rkmm_drm.h"
#include "tools/common/common.h"

enum {
	EXIT_OK,
	EXIT_FAILED,
	EXIT_USAGE,
};

/**
 * struct pack_options - rkmm-weights pack
 * @in: .npy file
 * @out: .rkw file
 * @types: enum drm_rkmm_types, or -1 to follow the file
 * @clip: scales by clip search instead of the largest magnitude
 */
struct pack_options {
	const char *in;
	const char *out;
	int types;
	bool clip;
};

/* The program, apart from main() so that tests can run it. */
int weights_main(int argc, char **argv);

void weights_pack(const struct pack_options *opt);

/*
 * The layout that the driver has for weights, by the driver's own code. Returns
 * NULL, or why there is none.
 */
const char *weights_layout(uint32_t types, uint32_t k, uint32_t n, struct drm_rkmm_tensor *b);

/* Name of types, "?" when they are not known. */
const char *types_name(uint32_t types);

#endif
