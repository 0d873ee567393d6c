/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From operations with addresses to chains of tasks that a core runs by itself.
 *
 *	struct rkmm_member -> struct rkmm_task, one after the other
 *	struct rkmm_task   -> struct rkmm_kick: what one start of a core runs
 */
#ifndef RKMM_CHAIN_H
#define RKMM_CHAIN_H

#include "rkmm_prog.h"

/**
 * enum rkmm_task_kind - what a task of a chain does
 * @RKMM_TASK_MATMUL: one matmul program
 */
enum rkmm_task_kind {
	RKMM_TASK_MATMUL,
};

/**
 * struct rkmm_task - one task of a chain
 * @kind: which member of the union holds it
 * @enable: start bits
 * @int_mask: interrupt bits that tell its end
 * @pingpong: its registers may be fetched while a neighbour runs (hw 02 §7.2)
 * @weights: buffer that the weights lie in; equal for equal buffers
 * @ns: predicted time
 * @matmul: RKMM_TASK_MATMUL
 */
struct rkmm_task {
	enum rkmm_task_kind kind;
	u32 enable;
	u32 int_mask;
	bool pingpong;
	u32 weights;
	u32 ns;
	union {
		struct rkmm_program matmul;
	};
};

/**
 * rkmm_task_writes() - register writes of @task
 * @task: the task
 * @past: the task two before it in its chain, NULL for a full task
 */
u32 rkmm_task_writes(const struct rkmm_task *task, const struct rkmm_task *past);

/** rkmm_task_emit() - write them; @past must be that of rkmm_task_writes(); returns how many */
u32 rkmm_task_emit(const struct rkmm_task *task, const struct rkmm_task *past, u64 *words);

/** rkmm_task_light() - whether @task may write only what differs from @past */
bool rkmm_task_light(const struct rkmm_task *task, const struct rkmm_task *past);

/**
 * rkmm_task_apart() - why @next may not follow @prev in a chain
 * @prev: a task
 * @next: one without memory dependence on it
 *
 * Return: a constant string, NULL when it may.
 */
const char *rkmm_task_apart(const struct rkmm_task *prev, const struct rkmm_task *next);

/**
 * struct rkmm_member - an operation with addresses, @count times
 * @geom: tiling
 * @rows: rows to compute, 1 .. geom->mm.m
 * @count: how often, at least 1
 * @a: device address of the first A
 * @b: device address of the first B
 * @c: device address of the first C
 * @a_stride: bytes from an A to the next
 * @b_stride: bytes from a B to the next
 * @c_stride: bytes from a C to the next
 * @weights: buffer that all B lie in; equal in members with equal buffers
 */
struct rkmm_member {
	const struct rkmm_geom *geom;
	u32 rows, count;
	u32 a, b, c;
	u32 a_stride, b_stride, c_stride;
	u32 weights;
};

static inline struct rkmm_member rkmm_member_of(const struct rkmm_geom *geom, u32 rows, u32 a,
						u32 b, u32 c)
{
	return (struct rkmm_member){ .geom = geom, .rows = rows, .count = 1,
				     .a = a, .b = b, .c = c };
}

/**
 * struct rkmm_kick - one start of a core
 * @addr: device address of the first program
 * @amount: PC_DATA_AMOUNT of it
 * @tasks: tasks of the chain
 * @int_mask: interrupt bits of the last task
 * @pingpong: TASK_CON ping-pong bit
 * @lane: share of the work it belongs to; lanes may run at the same time, the
 *	kicks of a lane only in order
 * @predicted_ns: predicted time at 1 GHz
 * @reason: why the chain was cut or ping-pong is off, a constant string or NULL
 */
struct rkmm_kick {
	u32 addr;
	u32 amount;
	u32 tasks;
	u32 int_mask;
	bool pingpong;
	u32 lane;
	u64 predicted_ns;
	const char *reason;
};

#define RKMM_KICK_NS	3000000u	/* predicted time after which a chain is cut */

/** rkmm_image_bytes() - bytes of the linked image of all programs of @geom, at most */
u64 rkmm_image_bytes(const struct rkmm_geom *geom);

/**
 * struct rkmm_extent - how large an image is
 * @bytes: bytes of programs
 * @predicted_ns: of all lanes at the same time, at 1 GHz
 * @kicks: starts
 * @tasks: programs
 * @lanes: shares that may run at the same time, none of them empty
 */
struct rkmm_extent {
	u64 bytes, predicted_ns;
	u32 kicks, tasks, lanes;
};

/**
 * rkmm_image_measure() - what rkmm_image_emit() will write
 * @limits: chip
 * @members: operations that run together: none reads or writes what another writes
 * @n: how many, at least 1; the sum of rkmm_image_bytes() must fit 32 bits
 * @extent: filled
 *
 * One member that counts once has the lanes of its tiling. Others have those that
 * end first by the cost law, inside what every member is allowed.
 */
void rkmm_image_measure(const struct rkmm_limits *limits, const struct rkmm_member *members,
			u32 n, struct rkmm_extent *extent);

/**
 * rkmm_image_emit() - synthesise the whole chained image
 * @limits: chip
 * @members: those of rkmm_image_measure()
 * @n: how many
 * @base: device address where @image will be
 * @image: rkmm_extent.bytes, 64-byte aligned; written strictly upward (it may be
 *	write-combined memory) and never read
 * @kicks: rkmm_extent.kicks entries, lane by lane
 */
void rkmm_image_emit(const struct rkmm_limits *limits, const struct rkmm_member *members, u32 n,
		     u32 base, u64 *image, struct rkmm_kick *kicks);

#endif
