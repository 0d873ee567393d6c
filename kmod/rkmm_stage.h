/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Staging: A, and C of operations on several cores, at addresses that never move.
 *
 * A core remembers features by address across kicks: activations in rotating
 * buffers come out wrong, one fixed buffer is right (hw 03 S2, M3); output buffers
 * that change are wrong with several cores (hw 03 M4). So with feature=fixed the
 * programs name two ranges at the start of every window, one for A and one for C,
 * and before a step starts, the pages of its operands are mapped there. Nothing is
 * copied. Operands of the same pages as last time are there already.
 *
 * Only the worker changes what is staged, with all cores idle, and the freeing of a
 * buffer, which no job uses any more.
 *
 * Locks: rkmm_vm.lock > rkmm_vm.stage_lock > rkmm_sched.lock. Fences wait for holders
 * of stage_lock, so nobody allocates under it but atomically.
 */
#ifndef RKMM_STAGE_H
#define RKMM_STAGE_H

#include <linux/kref.h>
#include <linux/types.h>

struct rkmm_bo;
struct rkmm_client;
struct rkmm_device;
struct rkmm_job;
struct rkmm_progmem;
struct rkmm_window;

enum rkmm_stage_side {
	RKMM_STAGE_A,
	RKMM_STAGE_C,
	RKMM_STAGE_SIDES,
};

/**
 * struct rkmm_stage_part - whole pages of a buffer, or of memory of the driver
 * @bo: the buffer, or NULL; kept by the jobs that use the stage, compared by others
 * @mem: the memory if there is no buffer; kept in the same way
 * @first: offset of the first byte
 * @bytes: how many
 * @at: NPU address
 */
struct rkmm_stage_part {
	struct rkmm_bo *bo;
	struct rkmm_progmem *mem;
	u64 first;
	u64 bytes;
	u64 at;
};

/**
 * struct rkmm_staging - operands of one step and where they are staged; fixed once bound
 * @ref: steps of jobs, the client's last, the window they are staged in
 * @room: entries of @parts per side
 * @n: entries used, by side
 * @bytes: mapped without a gap from the start of the side's range, guard not counted
 * @parts: those of A, then from entry @room those of C
 */
struct rkmm_staging {
	struct kref ref;
	u32 room;
	u32 n[RKMM_STAGE_SIDES];
	u64 bytes[RKMM_STAGE_SIDES];
	struct rkmm_stage_part parts[];
};

/* ---- the ranges ----------------------------------------------------------- */

/* rkmm_stage_init() - module parameter; rkmm_vm.bytes is known; errors are reported */
int rkmm_stage_init(struct rkmm_device *rdev);
/* rkmm_stage_open() - reserve the ranges in a new window */
int rkmm_stage_open(struct rkmm_window *window);
/* rkmm_stage_close() - the window goes: nothing is staged in it any more; rkmm_vm.lock held */
void rkmm_stage_close(struct rkmm_window *window);

/* ---- building, before the fence is armed ---------------------------------- */

/* rkmm_stage_alloc() - one with room for so many operands per side; NULL without memory */
struct rkmm_staging *rkmm_stage_alloc(u32 room);
/* rkmm_stage_reserve() - mapping it in @window shall need no memory; 0, -ENOMEM, -ENODEV */
int rkmm_stage_reserve(struct rkmm_window *window, const struct rkmm_staging *stage);
/**
 * rkmm_stage_new() - start with step @step of a job
 * @job: not queued yet; owns what is returned
 * @step: which
 * @room: most operands per side
 *
 * Return: NULL where operands are used in place, ERR_PTR(-ENOMEM).
 */
struct rkmm_staging *rkmm_stage_new(struct rkmm_job *job, u32 step, u32 room);
/**
 * rkmm_stage_add() - place an operand
 * @stage: not bound yet
 * @window: of the step
 * @what: buffer or memory, kept by the job; bytes of it, not whole pages; a buffer is pinned
 * @side: A is mapped read-only
 * @iova: NPU address of the first byte
 *
 * An operand begins in its range where it begins in its page.
 *
 * Return: 0, -ENOSPC when the range is too small (drm_dbg), errors of rkmm_bo_pin().
 */
int rkmm_stage_add(struct rkmm_staging *stage, struct rkmm_window *window,
		   const struct rkmm_stage_part *what, enum rkmm_stage_side side, u32 *iova);
/* rkmm_stage_next() - where something begins that joins none of the parts so far */
u32 rkmm_stage_next(const struct rkmm_staging *stage, const struct rkmm_window *window,
		    enum rkmm_stage_side side);
/**
 * rkmm_stage_bind() - the step's operands are complete: mapping them shall need no memory
 * @job: not queued yet
 * @step: which
 * @window: what it runs in
 *
 * The step shares the stage of the client's last one if that holds the same.
 *
 * Return: 0, -ENOMEM, -ENODEV.
 */
int rkmm_stage_bind(struct rkmm_job *job, u32 step, struct rkmm_window *window);
void rkmm_stage_get(struct rkmm_staging *stage);
/* rkmm_stage_put() - NULL is fine; frees memory only */
void rkmm_stage_put(struct rkmm_staging *stage);

/* ---- staging -------------------------------------------------------------- */

/**
 * rkmm_stage_switch() - map the operands of @stage, all cores idle
 * @window: where
 * @stage: its buffers are kept by a job, or by rkmm_stage_forget()
 *
 * In the worker. On failure nothing is staged in the window.
 *
 * Return: 0, -ENODEV, errors of the IOMMU driver.
 */
int rkmm_stage_switch(struct rkmm_window *window, struct rkmm_staging *stage);
/**
 * rkmm_stage_forget() - before the buffers are dropped: the worker maps none of them now
 * @rdev: device
 * @stages: rkmm_job.stages, NULL is fine; freed
 * @n: entries
 */
void rkmm_stage_forget(struct rkmm_device *rdev, struct rkmm_staging **stages, u32 n);
/* rkmm_stage_forget_bo() - the buffer is being freed; rkmm_vm.lock held */
void rkmm_stage_forget_bo(struct rkmm_bo *bo);
/* rkmm_stage_forget_mem() - the same of memory of the driver */
void rkmm_stage_forget_mem(struct rkmm_progmem *mem);

#endif
