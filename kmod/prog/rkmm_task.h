/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One task of a chain, whatever kind it is.
 */
#ifndef RKMM_TASK_H
#define RKMM_TASK_H

#include "rkmm_dpu.h"
#include "rkmm_mover.h"
#include "rkmm_pool.h"

/**
 * enum rkmm_task_kind - what a task of a chain does
 * @RKMM_TASK_MATMUL: one matmul program
 * @RKMM_TASK_DPU: tensors through the DPU
 * @RKMM_TASK_MOVER: an image through a 1x1 convolution
 * @RKMM_TASK_POOL: pooling
 */
enum rkmm_task_kind {
	RKMM_TASK_MATMUL,
	RKMM_TASK_DPU,
	RKMM_TASK_MOVER,
	RKMM_TASK_POOL,
};

/**
 * struct rkmm_task - one task of a chain
 * @kind: which member of the union holds it
 * @enable: start bits
 * @int_mask: interrupt bits that tell its end
 * @pingpong: its registers may be fetched while a neighbour runs (hw 02 §7.2)
 * @weights: buffer that the weights lie in; equal for equal buffers
 * @ns: predicted time
 * @like: 0, or equal in tasks of a chain that differ in addresses and kept weights only;
 *	a multiple of 4 and up to 3: of one member
 * @matmul: RKMM_TASK_MATMUL
 * @dpu: RKMM_TASK_DPU
 * @mover: RKMM_TASK_MOVER
 * @pool: RKMM_TASK_POOL
 */
struct rkmm_task {
	enum rkmm_task_kind kind;
	u32 enable;
	u32 int_mask;
	bool pingpong;
	u32 weights;
	u32 ns;
	u32 like;
	union {
		struct rkmm_program matmul;
		struct rkmm_dpu dpu;
		struct rkmm_mover mover;
		struct rkmm_pool pool;
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
 * @next: the one that would run after it
 *
 * Return: a constant string, NULL when it may.
 */
const char *rkmm_task_apart(const struct rkmm_task *prev, const struct rkmm_task *next);

/** rkmm_task_alone() - why no neighbour's registers may be fetched while @task runs, or NULL */
const char *rkmm_task_alone(const struct rkmm_task *task);

/** rkmm_task_int8_dpu() - whether @task is an int8 task of the DPU alone: hw 03 O14 */
static inline bool rkmm_task_int8_dpu(const struct rkmm_task *task)
{
	return task->kind == RKMM_TASK_DPU && task->dpu.in == RKMM_PREC_I8;
}

/** rkmm_task_set() - fill in what follows from the kind; @task runs without ping-pong */
void rkmm_task_set(struct rkmm_task *task, enum rkmm_task_kind kind);

/** rkmm_task_work_ns() - predicted time at 1 GHz of a task of an operation */
u32 rkmm_task_work_ns(const struct rkmm_limits *limits, const struct rkmm_task *task);

#endif
