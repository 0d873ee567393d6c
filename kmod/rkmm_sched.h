/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between rkmm_next.c, rkmm_sched.c and rkmm_queue.c. All but the first with
 * rkmm_sched.lock held.
 */
#ifndef RKMM_SCHED_H
#define RKMM_SCHED_H

#include <linux/ktime.h>
#include "rkmm_job.h"

void rkmm_sched_watchdog(struct timer_list *timer);

/* rkmm_sched_next() - the client's running job, or the first of its queue; NULL for none */
struct rkmm_job *rkmm_sched_next(struct rkmm_client *client);
/* rkmm_sched_place() - put the client into the ready queue, or out of it, as its next job says */
void rkmm_sched_place(struct rkmm_client *client);
/* rkmm_sched_start_alone() - start a job that nothing is before; false if it has to queue */
bool rkmm_sched_start_alone(struct rkmm_job *job);
/* rkmm_sched_stage() - what the job's next start needs staged, NULL for nothing */
static inline struct rkmm_staging *rkmm_sched_stage(const struct rkmm_job *job)
{
	return job->stages ? job->stages[job->step] : NULL;
}

/* rkmm_sched_here() - the window is attached and the operands are staged */
static inline bool rkmm_sched_here(const struct rkmm_device *rdev, const struct rkmm_job *job)
{
	const struct rkmm_staging *stage = rkmm_sched_stage(job);
	const struct rkmm_window *window = rkmm_job_window(job);

	return window == rdev->sched.window && (!stage || stage == window->staged);
}

/* rkmm_sched_mark() - nothing that is queued will run */
void rkmm_sched_mark(struct rkmm_client *client, int result);
/* rkmm_sched_start() - start everything that can start */
void rkmm_sched_start(struct rkmm_device *rdev);
/* rkmm_sched_pick() - whom to serve now; its candidate says what it needs */
struct rkmm_client *rkmm_sched_pick(struct rkmm_device *rdev);
/* rkmm_sched_first() - what a job that can start starts next */
const struct rkmm_kick *rkmm_sched_first(const struct rkmm_job *job);
/*
 * rkmm_sched_int8_dpu() - whether @kick would hang @core: an int8 task of the DPU in the start
 *	after an int8 matmul (hw 03 O14). Whether another core's matmul counts was not seen.
 */
static inline bool rkmm_sched_int8_dpu(const struct rkmm_core *core, const struct rkmm_kick *kick)
{
	enum rkmm_mode mode = core->golden && core->mode == RKMM_MODE_RESET ? RKMM_MODE_I8 :
									      core->mode;

	return kick->int8_dpu &&
	       core->rdev->verdicts.need[mode][RKMM_MODE_DPU] == RKMM_NEED_RESET;
}

/* rkmm_sched_idle_core() - the idle core where the job needs least, and what; NULL for none */
struct rkmm_core *rkmm_sched_idle_core(struct rkmm_device *rdev, const struct rkmm_job *job,
				       u32 *need);
/* rkmm_sched_kick() - start the core's kick */
void rkmm_sched_kick(struct rkmm_core *core);
/* rkmm_sched_ended() - what the core runs has ended, says its raw status */
bool rkmm_sched_ended(struct rkmm_core *core);
/* rkmm_sched_peek() - look at a busy core; true: its kick has ended, and was seen to */
bool rkmm_sched_peek(struct rkmm_core *core);
/* rkmm_sched_landed() - the core's kick has ended and its output is in memory */
void rkmm_sched_landed(struct rkmm_core *core);
/* rkmm_sched_end() - the job leaves the scheduler */
void rkmm_sched_end(struct rkmm_job *job, int result);
/* rkmm_sched_charge() - the client has used so much of a core */
void rkmm_sched_charge(struct rkmm_client *client, u64 ns);

/* rkmm_sched_tick() - what follows happens now */
static inline void rkmm_sched_tick(struct rkmm_sched *sched)
{
	sched->now = ktime_get_ns();
}

/* rkmm_sched_account() - note the time that the core's kick has run */
void rkmm_sched_account(struct rkmm_core *core);
/* rkmm_sched_unlock() - drop the lock, then signal what ended */
void rkmm_sched_unlock(struct rkmm_device *rdev, unsigned long flags)
	__releases(&rdev->sched.lock);

#endif
