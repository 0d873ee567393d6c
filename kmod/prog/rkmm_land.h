/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Done is not landed: the last lines of narrow output may still be on their way to memory
 * when a chain's end is seen (hw 03 O12, O13; hw 02 §6.6).
 *
 * So a chain whose last task writes such output may have one more program behind it, a
 * trailer: a tiny matmul of the same precision on memory of the driver. What a core writes,
 * it writes in order, so once the trailer has ended what was before it is there.
 */
#ifndef RKMM_LAND_H
#define RKMM_LAND_H

#include "rkmm_task.h"

/* Memory for trailers: zeros, which they read, and a page that they write */
#define RKMM_LAND_BYTES		8192u

/**
 * enum rkmm_trailer - what trailers there are
 * @RKMM_TRAILER_I4: behind int4 matmuls
 * @RKMM_TRAILER_I8: behind int8 matmuls with int8 output
 * @RKMM_TRAILERS: how many; also: none
 */
enum rkmm_trailer {
	RKMM_TRAILER_I4,
	RKMM_TRAILER_I8,
	RKMM_TRAILERS,
};

/** rkmm_land_narrow() - elements of what @task writes have fewer than four bytes */
bool rkmm_land_narrow(const struct rkmm_task *task);

/**
 * rkmm_land_trailer() - the trailer behind a chain that ends with @task
 * @task: the task
 *
 * None behind fp16: the weight base of a trailer of its own might be latched while a long
 * weight is still read (hw 02 §7.2). None behind what is not a plain matmul.
 */
enum rkmm_trailer rkmm_land_trailer(const struct rkmm_task *task);

/** rkmm_land_bytes() - bytes of all trailers, at the start of an image that has them */
u32 rkmm_land_bytes(void);

/** rkmm_land_addr() - device address of @trailer in an image at @base */
u32 rkmm_land_addr(u32 base, enum rkmm_trailer trailer);

/**
 * rkmm_land_emit() - write all trailers
 * @limits: chip; its land is the memory that they use
 * @words: rkmm_land_bytes()
 *
 * Return: predicted time of one, ns.
 */
u32 rkmm_land_emit(const struct rkmm_limits *limits, u64 *words);

#endif
