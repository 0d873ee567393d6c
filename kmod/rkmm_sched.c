// SPDX-License-Identifier: GPL-2.0-only
/*
 * What happens to jobs on cores: start, interrupt, end, watchdog. Which job is next is
 * told in rkmm_next.c.
 */
#include <linux/ktime.h>
#include <linux/module.h>

#include "compat/rkmm_compat.h"
#include "rkmm_job.h"
#include "rkmm_sched.h"
#include "rkmm_trace.h"

#define RKMM_WATCHDOG_MS	10

/* The job leaves the scheduler; its fence is signalled by rkmm_sched_unlock(). Lock held. */
void rkmm_sched_end(struct rkmm_job *job, int result)
{
	struct rkmm_client *client = job->client;
	struct rkmm_sched *sched = &client->rdev->sched;

	if (!job->result)
		job->result = result;
	if (job->queued)
		list_del(&job->in_queue);
	job->queued = false;
	list_add_tail(&job->in_queue, &sched->ended);

	if (client->running == job)
		client->running = NULL;
	client->ended = job->seqno;
	client->jobs++;
	client->npu_ns += job->npu_ns;
	sched->jobs++;
	if (job->result) {
		client->failed[client->nfailed % RKMM_FAILED_KEPT].seqno = job->seqno;
		client->failed[client->nfailed % RKMM_FAILED_KEPT].result = job->result;
		client->nfailed++;
	}
	rkmm_recover_judge(job);
	trace_rkmm_job_done(job);
	rkmm_sched_place(client);
}

/*
 * Who releases what ended: a thread that waited for it, else the watchdog's next
 * look (it is armed as long as anything ran), else at once. Waking a worker for
 * each job would cost more than everything else that a job's end does.
 */
static void rkmm_sched_reap_later(struct rkmm_sched *sched)
{
	if (sched->dead || !timer_pending(&sched->watchdog))
		queue_work(sched->reap_wq, &sched->reap);
}

/* Others wait for the fence, the client for its own count. */
static void rkmm_sched_signal(struct rkmm_job *job)
{
	struct rkmm_client *client = job->client;

	/* Not any more: nobody finds a job that has ended. */
	if (job->published) {
		if (job->result)
			dma_fence_set_error(&job->fence, job->result);
		dma_fence_signal(&job->fence);
	}
	/* With the job's result; pairs with rkmm_wait_over(). */
	smp_store_release(&client->signalled, job->seqno);
	wake_up_all(&client->done);
}

/*
 * Drop the lock, then signal what ended. One context at a time signals: fences
 * of a client keep their order, and a callback that ends up here again returns
 * at once instead of nesting.
 */
void rkmm_sched_unlock(struct rkmm_device *rdev, unsigned long flags)
	__releases(&rdev->sched.lock)
{
	struct rkmm_sched *sched = &rdev->sched;
	struct rkmm_job *job;
	bool cookie;

	/* No watchdog any more. */
	if (sched->dead && !llist_empty(&sched->reap_list))
		rkmm_sched_reap_later(sched);
	if (sched->signalling || list_empty(&sched->ended)) {
		spin_unlock_irqrestore(&sched->lock, flags);
		return;
	}

	sched->signalling = true;
	while ((job = list_first_entry_or_null(&sched->ended, struct rkmm_job, in_queue))) {
		list_del(&job->in_queue);
		/* Interrupts stay off: whoever signals must not be preempted by those who wait. */
		spin_unlock(&sched->lock);

		cookie = dma_fence_begin_signalling();
		rkmm_sched_signal(job);
		dma_fence_end_signalling(cookie);
		/* A list that was not empty is seen to already. */
		if (llist_add(&job->in_reap, &sched->reap_list))
			rkmm_sched_reap_later(sched);

		spin_lock(&sched->lock);
	}
	sched->signalling = false;
	spin_unlock_irqrestore(&sched->lock, flags);
}

/*
 * Tables stay in a core until it is reset (hw 04 §2.6), whoever's kicks run there. One
 * that does not end is followed by a reset.
 */
static void rkmm_sched_table(struct rkmm_core *core)
{
	const struct rkmm_kick *kick = core->kick;
	struct rkmm_client *client = core->job->client;

	core->kept = kick->table_in && kick->table_in == core->table;
	if (core->kept)
		client->tables_kept++;
	else
		client->tables_loaded++;
	core->table = kick->table_out;
}

/* The core's kick has matmuls. One that has none leaves the core in the mode it is in. */
static void rkmm_sched_leaves_mode(struct rkmm_core *core)
{
	struct rkmm_job *job = core->job;
	enum rkmm_mode mode = job->steps[job->step]->mode;

	core->rdev->sched.changes += core->mode != mode;
	core->rdev->sched.mode = mode;
	core->mode = mode;
}

/* Start the core's kick. Lock held. */
void rkmm_sched_kick(struct rkmm_core *core)
{
	struct rkmm_device *rdev = core->rdev;
	struct rkmm_job *job = core->job;

	core->kept = false;
	if (core->kick->table_out)
		rkmm_sched_table(core);
	rkmm_sched_tick(&rdev->sched);
	core->started = rdev->sched.now;
	trace_rkmm_job_run(job, core);
	rkmm_core_kick(core, core->kick);
	trace_rkmm_job_started(job);
	/* Nobody asks before the lock is dropped. */
	if (core->kick->matmuls)
		rkmm_sched_leaves_mode(core);
	core->deadline = core->started + rkmm_deadline_ns(rdev, core->kick);
	core->seen_done = false;
	core->landing = false;
	core->kind = 0;
	core->looks = 0;
	if (rdev->poll == RKMM_POLL_ON || (rdev->poll && job->hints))
		rkmm_poll_start(core);
	if (!timer_pending(&rdev->sched.watchdog))
		mod_timer(&rdev->sched.watchdog, jiffies + msecs_to_jiffies(RKMM_WATCHDOG_MS));
}

void rkmm_sched_account(struct rkmm_core *core)
{
	struct rkmm_sched *sched = &core->rdev->sched;
	u64 ran;

	sched->now = ktime_get_ns();
	ran = sched->now - core->started;
	trace_rkmm_job_ran(core, ran);
	core->busy_ns += ran;
	core->job->npu_ns += ran;
	rkmm_sched_charge(core->job->client, ran);
}

/* The core stopped being busy: somebody may wait for that. Lock held. */
static void rkmm_sched_settle(struct rkmm_device *rdev)
{
	struct rkmm_sched *sched = &rdev->sched;

	if (rkmm_sched_busy(rdev))
		return;
	/* Hardly ever */
	if (wq_has_sleeper(&sched->idle))
		wake_up_all(&sched->idle);
	if (sched->reset_wanted && !sched->dead)
		queue_work(sched->wq, &sched->work);
}

void rkmm_sched_hung(struct rkmm_core *core, enum rkmm_again again)
{
	struct rkmm_job *job = core->job;

	job->client->guilty++;
	core->again = again;
	if (!again && !job->result) {
		job->result = -EIO;
		job->hung = true;
	}
	rkmm_sched_place(job->client);
	rkmm_sched_account(core);
	core->state = RKMM_CORE_STUCK;
	core->rdev->sched.reset_wanted = true;
	rkmm_sched_settle(core->rdev);
}

/*
 * The core has done with its lane. The operation is complete with its last
 * lane, the job with its last operation. Lock held.
 */
static void rkmm_sched_end_lane(struct rkmm_core *core, enum rkmm_core_state state)
{
	struct rkmm_job *job = core->job;

	core->state = state;
	core->job = NULL;
	core->kick = NULL;
	if (--job->running)
		return;
	if (!job->result) {
		if (job->parked || job->next_lane < job->steps[job->step]->nlanes)
			return;
		job->next_lane = 0;
		if (++job->step < job->nsteps) {
			rkmm_sched_place(job->client);
			return;
		}
	}
	rkmm_sched_end(job, 0);
}

/*
 * No core is busy. Kicks that depend on nothing in their step begin where they hung; a chain
 * finds what it needs only at the beginning of its step.
 */
static void rkmm_sched_rewind(struct rkmm_core *core)
{
	struct rkmm_job *job = core->job;
	const struct rkmm_image *image = job->steps[job->step];
	u32 lane = core->kick->lane;

	/* Its image may be another one by now. */
	if (image->apart && core->again == RKMM_AGAIN_RETRY && core->kick >= image->kicks &&
	    core->kick < image->kicks + image->nkicks) {
		job->at[lane] = core->kick;
		job->parked |= BIT(lane);
	} else {
		job->parked = 0;
		job->next_lane = 0;
	}
	job->running--;
	core->job = NULL;
	core->kick = NULL;
	rkmm_sched_place(job->client);
}

void rkmm_sched_end_stuck(struct rkmm_core *core, enum rkmm_core_state state)
{
	struct rkmm_job *job = core->job;

	/* Nothing goes on with a device that does not work any more. */
	if (job && core->again && core->rdev->sched.dead && !job->result)
		job->result = -ENODEV;
	if (job && core->again == RKMM_AGAIN_FALLBACK && !job->result && !rkmm_fallback_use(job)) {
		job->result = -EIO;
		job->hung = true;
	}
	if (job && core->again && !job->result)
		rkmm_sched_rewind(core);
	else if (job)
		rkmm_sched_end_lane(core, state);
	core->again = RKMM_AGAIN_NO;
	core->state = state;
}

/*
 * Nobody sees a core between two kicks of a lane: each kick loads all that it needs. So this
 * is where others get their turn, and where a switch or a reset is not kept waiting.
 */
static void rkmm_sched_next_kick(struct rkmm_core *core)
{
	struct rkmm_sched *sched = &core->rdev->sched;
	struct rkmm_job *job = core->job;
	u32 lane = core->kick->lane;

	core->kick++;
	if (list_empty(&sched->ready) && !sched->hold && !sched->reset_wanted &&
	    !rkmm_sched_int8_dpu(core, core->kick)) {
		rkmm_sched_kick(core);
		return;
	}
	job->at[lane] = core->kick;
	job->parked |= BIT(lane);
	job->running--;
	core->state = RKMM_CORE_IDLE;
	core->job = NULL;
	core->kick = NULL;
	rkmm_sched_place(job->client);
	rkmm_sched_settle(core->rdev);
}

/* Next kick of the lane, or its end. Lock held. */
void rkmm_sched_landed(struct rkmm_core *core)
{
	struct rkmm_job *job = core->job;
	struct rkmm_image *image = job->steps[job->step];

	rkmm_sched_account(core);
	if (!job->result && core->kick + 1 < &image->kicks[image->lane[core->kick->lane + 1]]) {
		rkmm_sched_next_kick(core);
		return;
	}
	rkmm_sched_end_lane(core, RKMM_CORE_IDLE);
	rkmm_sched_settle(core->rdev);
}

/* The running kick is complete. Lock held. */
static void rkmm_sched_complete(struct rkmm_core *core)
{
	rkmm_core_ack(core);
	if (core->kind)
		rkmm_poll_end(core);
	if (core->kick->settles && rkmm_landing_wait(core))
		return;
	rkmm_sched_landed(core);
}

/*
 * Done means: of every register-group pair that the last program names, at
 * least one bit is set (hw 01 §1.2, §2.2: superset test, either group).
 */
static bool rkmm_sched_done(u32 raw, u32 mask)
{
	u32 pair;

	for (pair = 0x3; pair <= 0xc00; pair <<= 2)
		if (mask & pair && !(raw & pair))
			return false;
	return true;
}

bool rkmm_sched_ended(struct rkmm_core *core)
{
	return rkmm_sched_done(rkmm_core_raw(core), core->int_mask);
}

bool rkmm_sched_peek(struct rkmm_core *core)
{
	u32 raw = rkmm_core_raw(core);

	/* Errors are for the interrupt to report. */
	if (raw & RKMM_INT_ERRORS || !rkmm_sched_done(raw, core->int_mask))
		return false;
	core->polled++;
	core->job->client->polled++;
	core->unasked = true;
	rkmm_sched_complete(core);
	return true;
}

irqreturn_t rkmm_sched_irq(struct rkmm_core *core)
{
	struct rkmm_device *rdev = core->rdev;
	struct rkmm_core_status st;
	irqreturn_t ret = IRQ_HANDLED;
	unsigned long flags;
	u32 raw;

	spin_lock_irqsave(&rdev->sched.lock, flags);
	if (core->state == RKMM_CORE_OFF) {
		ret = IRQ_NONE;
		goto out;
	}
	raw = rkmm_core_raw(core);
	if (raw & RKMM_INT_ERRORS) {
		rkmm_core_status(core, &st);
		/* Clear and mask at the source, or the level line storms (hw 01 §10). */
		rkmm_core_quiet(core);
		if (core->state == RKMM_CORE_BUSY)
			rkmm_recover_hang(core, RKMM_HANG_DMA_ERROR, &st);
		goto out;
	}
	if (!(raw & core->int_mask)) {
		/* A look was faster; it has cleared what was to interrupt. */
		if (!core->unasked)
			ret = IRQ_NONE;
		core->unasked = false;
		goto out;
	}
	if (core->state != RKMM_CORE_BUSY) {
		core->proven = rkmm_sched_done(raw, core->int_mask);
		rkmm_core_quiet(core);
		wake_up_all(&rdev->sched.idle);
		goto out;
	}
	if (rkmm_sched_done(raw, core->int_mask)) {
		rkmm_sched_complete(core);
		rkmm_sched_start(rdev);
	}
out:
	rkmm_sched_unlock(rdev, flags);
	return ret;
}

/* One look at a busy core: lost interrupt, deadline. Lock held. */
static void rkmm_sched_look(struct rkmm_core *core)
{
	struct rkmm_core_status st;

	if (core->landing)
		return;
	rkmm_core_status(core, &st);
	if (st.raw & core->int_mask && rkmm_sched_done(st.raw, core->int_mask)) {
		/* The interrupt may just be on its way: believe it lost at the second look. */
		if (!core->seen_done) {
			core->seen_done = true;
			return;
		}
		core->lost_irqs++;
		rkmm_sched_complete(core);
		return;
	}
	if (ktime_get_ns() < core->deadline)
		return;

	rkmm_recover_hang(core, st.task ? RKMM_HANG_STALLED : RKMM_HANG_NEVER_STARTED, &st);
}

void rkmm_sched_watchdog(struct timer_list *timer)
{
	struct rkmm_device *rdev = container_of(timer, struct rkmm_device, sched.watchdog);
	struct rkmm_sched *sched = &rdev->sched;
	unsigned long flags;
	u32 i;

	spin_lock_irqsave(&sched->lock, flags);
	if (!sched->dead) {
		rkmm_sched_tick(sched);
		for (i = 0; i < rdev->ncores; i++)
			if (rdev->cores[i].state == RKMM_CORE_BUSY)
				rkmm_sched_look(&rdev->cores[i]);
		rkmm_sched_start(rdev);
		if (rkmm_sched_busy(rdev))
			mod_timer(timer, jiffies + msecs_to_jiffies(RKMM_WATCHDOG_MS));
	}
	rkmm_sched_unlock(rdev, flags);
	/* Last: what is added from here on finds no timer, or one that comes again. */
	if (!llist_empty(&sched->reap_list))
		queue_work(sched->reap_wq, &sched->reap);
}
