/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long the silicon would take: the law of hw 03 §6.2 over the work that the
 * register words of a task ask for. Integers only, and nothing of the driver's.
 */
#ifndef NPU_TIME_H
#define NPU_TIME_H

#include "npu_model.h"

#define NPU_TIME_CORES	3u

/**
 * enum npu_kind - kinds of work that have a law of their own
 * @NPU_KIND_I4: int4, several lines
 * @NPU_KIND_I4_ROW: int4, one line
 * @NPU_KIND_I8: int8
 * @NPU_KIND_F16: fp16
 * @NPU_KIND_MOVE: DPU or PPU alone, memory to memory
 * @NPU_KINDS: their number
 */
enum npu_kind {
	NPU_KIND_I4,
	NPU_KIND_I4_ROW,
	NPU_KIND_I8,
	NPU_KIND_F16,
	NPU_KIND_MOVE,
	NPU_KINDS,
};

/**
 * struct npu_work - what one task does
 * @kind: kind
 * @rows: rows of A
 * @cols: columns of B
 * @k: channels
 * @bytes: of the weight; of everything read and written for a move
 */
struct npu_work {
	enum npu_kind kind;
	u32 rows, cols, k;
	u64 bytes;
};

/**
 * struct npu_time_law - constants at 1 GHz; arrays by the number of cores at work
 * @i4_task: ns of a batch task before it multiplies: a(n)
 * @i4_rate: multiply-accumulates per us and core: r(n)
 * @row_start: ns before the first int4 row of a kick
 * @row_rate: bytes of weight per us and core
 * @i8_start: ns before the first int8 task of a kick: t0(n)
 * @i8_rate: bytes of weight per us of all cores together: B8(n)
 * @i8_macs: multiply-accumulates per us and core
 * @f16_start: ns before the first fp16 task of a kick
 * @f16_rate: bytes of weight per us of all cores together
 * @f16_macs: multiply-accumulates per us and core
 * @move_task: ns of a task of the DPU or PPU alone before it moves anything
 * @move_rate: bytes per us that it reads and writes
 * @irq_least: ns from a job's end to its interrupt
 * @irq_most: the longest
 * @land_least: ns from there until the last lines of narrow output are in memory
 * @land_most: the longest
 * @sigma: permille, spread of a task's time
 *
 * Every member is a u32: npu_time_perturb() and npu_time_name() go by that.
 */
struct npu_time_law {
	u32 i4_task[NPU_TIME_CORES];
	u32 i4_rate[NPU_TIME_CORES];
	u32 row_start;
	u32 row_rate;
	u32 i8_start[NPU_TIME_CORES];
	u32 i8_rate[NPU_TIME_CORES];
	u32 i8_macs;
	u32 f16_start;
	u32 f16_rate;
	u32 f16_macs;
	u32 move_task;
	u32 move_rate;
	u32 irq_least, irq_most;
	u32 land_least, land_most;
	u32 sigma;
};

#define NPU_TIME_CONSTANTS	(sizeof(struct npu_time_law) / sizeof(u32))

/**
 * npu_time_profile() - constants of a die
 * @name: "default", "236" or "235"
 *
 * Return: NULL for none of them.
 */
const struct npu_time_law *npu_time_profile(const char *name);

/** npu_time_name() - name of constant @i, below NPU_TIME_CONSTANTS */
const char *npu_time_name(u32 i);

/**
 * npu_time_scale() - make everything slower or faster
 * @law: changed
 * @percent: 100 for no change; times are multiplied, rates divided by it
 */
void npu_time_scale(struct npu_time_law *law, u32 percent);

/**
 * npu_time_perturb() - multiply each constant by a factor of its own
 * @law: changed; none becomes 0
 * @seed: which factors
 * @percent: the furthest from 1, below 100
 */
void npu_time_perturb(struct npu_time_law *law, u32 seed, u32 percent);

/** npu_time_start() - ns before the first task of @kind in a kick, with @cores at work */
u64 npu_time_start(const struct npu_time_law *law, enum npu_kind kind, u32 cores);

/** npu_time_task() - ns of a task, with @cores at work */
u64 npu_time_task(const struct npu_time_law *law, const struct npu_work *work, u32 cores);

/* Chance, from a state that is a seed at first; the same everywhere. */

/** npu_time_random() - 32 bits */
u32 npu_time_random(u32 *state);

/** npu_time_between() - from @least to @most, both included */
u32 npu_time_between(u32 *state, u32 least, u32 most);

/** npu_time_jitter() - @ns times a factor of about a log-normal distribution */
u64 npu_time_jitter(u32 *state, u64 ns, u32 sigma);

#endif
