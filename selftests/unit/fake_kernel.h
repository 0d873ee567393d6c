/* SPDX-License-Identifier: MIT */
/*
 * A kernel for the tests of librkmm: it takes the place of lib/sys.c.
 *
 * Each buffer has two sides. The CPU side is mapped by the library; the device
 * side is what submissions read and write; only BO_SYNC copies between them, so
 * a forgotten or too short range gives wrong results.
 */
#ifndef FAKE_KERNEL_H
#define FAKE_KERNEL_H

#include <stdint.h>

#include "uapi/rkmm_drm.h"

/**
 * struct fake_kernel - knobs and counters
 * @version: driver version that QUERY tells
 * @name: driver name of the node
 * @cube: plans use the cube layouts instead of rows and batches
 * @tile_rows: rows of a batch program
 * @tile_cols: columns of a batch program
 * @slice: K beyond this is cut into slices of it; 0 for refusing what exceeds the limit
 * @free_slice: the same for plans with DRM_RKMM_PLAN_FREE_SLICES, 0 for @slice
 * @free_plans: plans with that flag
 * @form: that the last plan asked for
 * @interrupted: so many waits end with -EINTR (SUBMIT) or are repeated (WAIT)
 * @busy: so many waits end with -ETIME
 * @result: result of the next submissions
 * @fail: request that fails with @fail_errno
 * @fail_errno: negative errno
 * @fail_after: so many of @fail succeed before
 * @stale: plans of a handle up to this are no longer trusted
 * @wider: C of plans made from now on has so many more bytes to a line
 * @corrupt: flip a bit of one result of each operation
 * @submits: SUBMIT calls that were queued
 * @executed: operations that ran
 * @waits: WAIT calls
 * @ioctls: all calls
 * @bos: live buffers
 * @plans: live plans
 * @nodes: live descriptors
 * @maps: live mappings
 */
struct fake_kernel {
	uint32_t version;
	const char *name;
	int cube;
	uint32_t tile_rows;
	uint32_t tile_cols;
	uint32_t slice;
	uint32_t free_slice;
	uint32_t form;
	unsigned int free_plans;
	int interrupted;
	int busy;
	int result;
	unsigned long fail;
	int fail_errno;
	int fail_after;
	uint32_t stale;
	uint32_t wider;
	int corrupt;
	unsigned int submits;
	unsigned int executed;
	unsigned int waits;
	unsigned int ioctls;
	unsigned int bos;
	unsigned int plans;
	unsigned int nodes;
	unsigned int maps;
	struct drm_rkmm_stage stages[DRM_RKMM_STAGES];
};

extern struct fake_kernel fake;

/* Back to a well-behaved kernel; everything must have been given back. */
void fake_reset(void);

#endif
