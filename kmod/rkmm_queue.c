// SPDX-License-Identifier: GPL-2.0-only
/*
 * How jobs come and go: queues of clients, dependencies, and everything that
 * makes the scheduler stand still: window switches, staging, resets, sleep, removal.
 */
#include <linux/ktime.h>
#include <linux/module.h>

#include "compat/rkmm_compat.h"
#include "rkmm_job.h"
#include "rkmm_sched.h"
#include "rkmm_trace.h"

void rkmm_sched_push(struct rkmm_job *job)
{
	struct rkmm_device *rdev = job->client->rdev;
	unsigned long flags;

	spin_lock_irqsave(&rdev->sched.lock, flags);
	/* The extra count held while dependencies were being set up. */
	atomic_dec(&job->waiting);
	if (!rkmm_sched_start_alone(job)) {
		rkmm_sched_tick(&rdev->sched);
		list_add_tail(&job->in_queue, &job->client->queue);
		job->queued = true;
		rkmm_sched_place(job->client);
	}
	/* Nobody asks before the lock is dropped. */
	rdev->sched.alive++;
	rdev->sched.pushed++;
	job->client->pushed++;
	if (!list_empty(&rdev->sched.ready))
		rkmm_sched_start(rdev);
	rkmm_sched_unlock(rdev, flags);
}

void rkmm_sched_dep_done(struct rkmm_job *job, int error)
{
	struct rkmm_device *rdev = job->client->rdev;
	unsigned long flags;

	spin_lock_irqsave(&rdev->sched.lock, flags);
	if (error && !job->result)
		job->result = -ECANCELED;
	if (atomic_dec_and_test(&job->waiting)) {
		trace_rkmm_job_ready(job);
		rkmm_sched_tick(&rdev->sched);
		rkmm_sched_place(job->client);
		rkmm_sched_start(rdev);
	}
	rkmm_sched_unlock(rdev, flags);
}

/*
 * Stop waiting for fences on behalf of jobs that will not run. The callbacks
 * are removed without the lock: a foreign fence calls back with its own lock
 * held. Jobs whose callback is already running end by themselves.
 */
static void rkmm_sched_cancel_deps(struct rkmm_client *client)
{
	struct rkmm_sched *sched = &client->rdev->sched;
	struct rkmm_job *job, *found;
	u32 i;

	for (;;) {
		found = NULL;
		spin_lock_irq(&sched->lock);
		list_for_each_entry(job, &client->queue, in_queue) {
			if (job->deps_cancelled || !atomic_read(&job->waiting))
				continue;
			job->deps_cancelled = true;
			kref_get(&job->ref);
			found = job;
			break;
		}
		spin_unlock_irq(&sched->lock);
		if (!found)
			return;

		for (i = 0; i < found->ndeps; i++)
			if (dma_fence_remove_callback(found->deps[i].fence, &found->deps[i].cb))
				rkmm_sched_dep_done(found, -ECANCELED);
		rkmm_job_put(found);
	}
}

/* Mark everything that has not started. Lock held. */
void rkmm_sched_mark(struct rkmm_client *client, int result)
{
	struct rkmm_job *job;

	list_for_each_entry(job, &client->queue, in_queue)
		if (!job->result)
			job->result = result;
}

void rkmm_sched_open(struct rkmm_client *client)
{
	struct rkmm_sched *sched = &client->rdev->sched;

	INIT_LIST_HEAD(&client->queue);
	INIT_LIST_HEAD(&client->in_ready);
	client->candidate.priority = RKMM_PRIORITY_NORMAL;
	spin_lock_irq(&sched->lock);
	list_add_tail(&client->in_clients, &sched->clients);
	sched->nclients++;
	spin_unlock_irq(&sched->lock);
}

void rkmm_sched_close(struct rkmm_client *client)
{
	struct rkmm_device *rdev = client->rdev;
	unsigned long flags;

	spin_lock_irqsave(&rdev->sched.lock, flags);
	list_del_init(&client->in_clients);
	rdev->sched.nclients--;
	rkmm_sched_mark(client, -ECANCELED);
	/* What runs is not interrupted, but nothing is started behind it. */
	if (client->running && !client->running->result)
		client->running->result = -ECANCELED;
	rkmm_sched_place(client);
	rkmm_sched_start(rdev);
	rkmm_sched_unlock(rdev, flags);

	rkmm_sched_cancel_deps(client);
}

/* What the cores need before anything can start */
struct rkmm_target {
	struct rkmm_window *window;	/* NULL: nothing is needed */
	bool attach;			/* it is not attached */
	u32 old;			/* number of the one that is, 0: none */
	enum rkmm_need need;		/* between two datapath modes */
	enum rkmm_mode from, to;	/* those */
	struct rkmm_staging *stage;	/* referenced; NULL: nothing to be staged */
};

/* What the client needs that is to be served next. Lock held. */
static struct rkmm_target rkmm_sched_target(struct rkmm_device *rdev)
{
	struct rkmm_sched *sched = &rdev->sched;
	struct rkmm_target target = {};
	struct rkmm_client *client;
	struct rkmm_core *core;
	struct rkmm_job *job;
	u32 need = 0;

	if (sched->hold || sched->dead || rkmm_sched_busy(rdev))
		return target;
	rkmm_sched_tick(sched);
	client = rkmm_sched_pick(rdev);
	if (!client || !client->candidate.elsewhere)
		return target;
	job = rkmm_sched_next(client);
	target.window = rkmm_job_window(job);
	target.attach = target.window != sched->window;
	target.old = sched->window ? sched->window->id : 0;
	target.to = job->steps[job->step]->mode;
	core = rkmm_sched_idle_core(rdev, job, &need);
	if (core && need >= rdev->need_worker) {
		target.need = need;
		/* no matmul of the driver's own between the reset and such a start */
		if (need == RKMM_NEED_RESET && rkmm_sched_first(job)->int8_dpu)
			target.to = RKMM_MODE_DPU;
		/* Of the core, where what ran last on any does not ask for as much */
		target.from = rdev->verdicts.need[sched->mode][target.to] == need ? sched->mode :
			      core->mode;
	}
	target.stage = rkmm_sched_stage(job);
	if (target.stage == target.window->staged)
		target.stage = NULL;
	if (target.need == RKMM_NEED_RESET)
		trace_rkmm_mode_reset(job);
	if (target.stage) {
		rkmm_stage_get(target.stage);
		client->remaps++;
		sched->remaps++;
	}
	return target;
}

static void rkmm_sched_mark_staged(struct rkmm_client *client, const struct rkmm_staging *stage,
				   int result)
{
	struct rkmm_job *job = rkmm_sched_next(client);

	if (job && rkmm_sched_stage(job) == stage && !job->result)
		job->result = result;
}

/* All cores idle and starts held: get them into the mode. 0, or the device is lost. */
static int rkmm_sched_change(struct rkmm_device *rdev, const struct rkmm_target *target)
{
	int ret = 0;

	if (target->need == RKMM_NEED_CHECK)
		return rkmm_proof_cross(rdev, target->from, target->to);
	if (target->need == RKMM_NEED_RESET)
		ret = rkmm_ladder_pulse(rdev);
	return ret || target->to == RKMM_MODE_DPU ? ret : rkmm_proof_warm(rdev, target->to);
}

/* The window cannot be attached: end what needs it now. */
static void rkmm_sched_mark_window(struct rkmm_client *client, const struct rkmm_window *window,
				   int result)
{
	struct rkmm_job *job = rkmm_sched_next(client);

	if (job && rkmm_job_window(job) == window && !job->result)
		job->result = result;
}

static void rkmm_sched_switch(struct rkmm_device *rdev, const struct rkmm_target *target)
{
	struct rkmm_sched *sched = &rdev->sched;
	struct rkmm_client *client;
	int attached = 0, staged = 0, reset = 0;
	u64 began = ktime_get_ns(), detached, ns = 0;
	unsigned long flags;
	bool cookie;

	if (target->need)
		reset = rkmm_sched_change(rdev, target);
	if (target->stage)
		staged = rkmm_stage_switch(target->window, target->stage);
	/* Runs of the driver's own have a window of their own. */
	if (target->attach || READ_ONCE(rdev->vm.attached) != target->window) {
		detached = ktime_get_ns();
		attached = rkmm_vm_attach(rdev, target->window);
		ns = ktime_get_ns() - detached;
		trace_rkmm_window_switch(target->old, target->window->id, ns, attached);
	}

	cookie = dma_fence_begin_signalling();
	spin_lock_irqsave(&sched->lock, flags);
	trace_rkmm_switch(target->window->id, target->attach, target->stage,
			  target->need == RKMM_NEED_RESET, ktime_get_ns() - began);
	sched->hold--;
	sched->switching = NULL;
	sched->staging = NULL;
	sched->switches += target->attach;
	sched->switch_ns += ns;
	sched->mode_resets += target->need == RKMM_NEED_RESET;
	if (reset)
		sched->dead = true;
	sched->window = attached ? NULL : target->window;
	if (attached)
		dev_err_ratelimited(rdev->dev, "cannot attach an address window: %d\n", attached);
	if (staged)
		dev_err_ratelimited(rdev->dev, "cannot stage operands: %d\n", staged);
	rkmm_sched_tick(sched);
	list_for_each_entry(client, &sched->clients, in_clients) {
		if (attached)
			rkmm_sched_mark_window(client, target->window, -EIO);
		if (staged)
			rkmm_sched_mark_staged(client, target->stage, -EIO);
	}
	rkmm_sched_start(rdev);
	wake_up_all(&sched->idle);
	rkmm_sched_unlock(rdev, flags);
	dma_fence_end_signalling(cookie);
	rkmm_stage_put(target->stage);
}

/*
 * Fences of every client wait for this, so it may not allocate and takes no
 * lock under which anybody does. lockdep is told so, but for the attaching of a
 * window: the IOMMU core allocates under its group lock when a device is
 * probed, which to lockdep is the same lock. Interrupts, the watchdog and fence
 * callbacks signal in atomic context, where sleeping is caught as such.
 */
static void rkmm_sched_work(struct work_struct *work)
{
	struct rkmm_device *rdev = container_of(work, struct rkmm_device, sched.work);
	struct rkmm_sched *sched = &rdev->sched;
	struct rkmm_target target = {};
	unsigned long flags;
	bool reset;

	spin_lock_irqsave(&sched->lock, flags);
	reset = sched->reset_wanted && !sched->dead && !rkmm_sched_busy(rdev);
	if (!reset && !sched->reset_wanted)
		target = rkmm_sched_target(rdev);
	if (target.window) {
		sched->hold++;
		/* No reference: dropping the last one is nothing for this worker. */
		sched->switching = target.window;
		sched->staging = target.stage;
	} else if (!reset) {
		/* Whoever asked for the worker may not be the one to be served by now. */
		rkmm_sched_start(rdev);
	}
	rkmm_sched_unlock(rdev, flags);

	if (reset)
		rkmm_ladder_climb(rdev);
	else if (target.window)
		rkmm_sched_switch(rdev, &target);
}

/* Who has work that waited, and did not hang. Lock held. */
static void rkmm_sched_innocent(struct rkmm_device *rdev)
{
	struct rkmm_client *client;
	bool guilty;
	u32 i;

	list_for_each_entry(client, &rdev->sched.clients, in_clients) {
		guilty = false;
		for (i = 0; i < rdev->ncores; i++)
			guilty |= rdev->cores[i].job && rdev->cores[i].job->client == client;
		client->innocent += !guilty &&
				    (client->running || !list_empty(&client->in_ready));
	}
}

void rkmm_sched_reset_done(struct rkmm_device *rdev, int ret, u32 off)
{
	struct rkmm_sched *sched = &rdev->sched;
	enum rkmm_core_state state;
	unsigned long flags;
	u32 i;

	spin_lock_irqsave(&sched->lock, flags);
	rkmm_sched_tick(sched);
	sched->reset_wanted = false;
	sched->switching = NULL;
	sched->resets++;
	if (ret)
		sched->dead = true;
	rkmm_sched_innocent(rdev);
	for (i = 0; i < rdev->ncores; i++) {
		state = ret || off & BIT(i) ? RKMM_CORE_OFF : RKMM_CORE_IDLE;
		if (rdev->cores[i].state != RKMM_CORE_OFF)
			rkmm_sched_end_stuck(&rdev->cores[i], state);
	}
	rkmm_sched_start(rdev);
	wake_up_all(&sched->idle);
	rkmm_sched_unlock(rdev, flags);
}

void rkmm_sched_release_ended(struct rkmm_device *rdev)
{
	struct rkmm_job *job, *next;
	u64 n = 0;

	if (llist_empty(&rdev->sched.reap_list))
		return;
	llist_for_each_entry_safe(job, next, llist_del_all(&rdev->sched.reap_list), in_reap) {
		rkmm_job_put(job);
		n++;
	}
	spin_lock_irq(&rdev->sched.lock);
	rdev->sched.alive -= n;
	spin_unlock_irq(&rdev->sched.lock);
}

static void rkmm_sched_reap(struct work_struct *work)
{
	rkmm_sched_release_ended(container_of(work, struct rkmm_device, sched.reap));
}

static bool rkmm_sched_quiet(struct rkmm_device *rdev)
{
	struct rkmm_sched *sched = &rdev->sched;
	bool quiet;

	spin_lock_irq(&sched->lock);
	quiet = !rkmm_sched_busy(rdev) && !sched->reset_wanted;
	spin_unlock_irq(&sched->lock);
	return quiet;
}

void rkmm_sched_hold(struct rkmm_device *rdev)
{
	spin_lock_irq(&rdev->sched.lock);
	rdev->sched.hold++;
	spin_unlock_irq(&rdev->sched.lock);
	/* Bounded: every running kick has a deadline, and a reset ends what is stuck. */
	wait_event(rdev->sched.idle, rkmm_sched_quiet(rdev));
	flush_work(&rdev->sched.work);
}

int rkmm_sched_hold_interruptible(struct rkmm_device *rdev)
{
	spin_lock_irq(&rdev->sched.lock);
	rdev->sched.hold++;
	spin_unlock_irq(&rdev->sched.lock);
	if (wait_event_interruptible(rdev->sched.idle, rkmm_sched_quiet(rdev))) {
		rkmm_sched_release(rdev);
		return -EINTR;
	}
	flush_work(&rdev->sched.work);
	return 0;
}

void rkmm_sched_release(struct rkmm_device *rdev)
{
	unsigned long flags;

	spin_lock_irqsave(&rdev->sched.lock, flags);
	rdev->sched.hold--;
	rkmm_sched_tick(&rdev->sched);
	rkmm_sched_start(rdev);
	wake_up_all(&rdev->sched.idle);
	rkmm_sched_unlock(rdev, flags);
}

static bool rkmm_sched_try_forget(struct rkmm_device *rdev, struct rkmm_window *window)
{
	struct rkmm_sched *sched = &rdev->sched;
	bool forgotten;

	spin_lock_irq(&sched->lock);
	forgotten = sched->switching != window;
	if (forgotten && sched->window == window)
		sched->window = NULL;
	spin_unlock_irq(&sched->lock);
	return forgotten;
}

void rkmm_sched_forget_window(struct rkmm_device *rdev, struct rkmm_window *window)
{
	/* The job for whose sake it is being attached may have been cancelled. */
	wait_event(rdev->sched.idle, rkmm_sched_try_forget(rdev, window));
}

void rkmm_sched_kill(struct rkmm_device *rdev)
{
	struct rkmm_sched *sched = &rdev->sched;
	struct rkmm_client *client;
	unsigned long flags;
	bool cookie;
	u32 i;

	spin_lock_irq(&sched->lock);
	sched->dead = true;
	for (i = 0; i < rdev->ncores; i++) {
		rkmm_core_quiet(&rdev->cores[i]);
		if (rdev->cores[i].state == RKMM_CORE_BUSY) {
			rkmm_sched_account(&rdev->cores[i]);
			rdev->cores[i].job->result = -ENODEV;
			rdev->cores[i].state = RKMM_CORE_STUCK;
		}
	}
	spin_unlock_irq(&sched->lock);
	/* The worker may wait for a run of the driver's own. */
	wake_up_all(&sched->idle);
	rkmm_timer_stop(&sched->watchdog);
	cancel_work_sync(&sched->work);
	for (i = 0; i < rdev->ncores; i++) {
		rkmm_landing_stop(&rdev->cores[i]);
		rkmm_poll_stop(&rdev->cores[i]);
	}

	cookie = dma_fence_begin_signalling();
	/* Only a reset surely ends a core's DMA; buffers are released after it. */
	rkmm_power_reset(rdev, rdev->all_cores);

	spin_lock_irqsave(&sched->lock, flags);
	for (i = 0; i < rdev->ncores; i++)
		rkmm_sched_end_stuck(&rdev->cores[i], RKMM_CORE_OFF);
	sched->reset_wanted = false;
	sched->window = NULL;
	list_for_each_entry(client, &sched->clients, in_clients)
		rkmm_sched_mark(client, -ENODEV);
	rkmm_sched_start(rdev);
	/* Whoever holds starts waited for the reset that is not wanted any more. */
	wake_up_all(&sched->idle);
	rkmm_sched_unlock(rdev, flags);
	dma_fence_end_signalling(cookie);
}

void rkmm_sched_drain(struct rkmm_device *rdev)
{
	struct rkmm_sched *sched = &rdev->sched;
	struct rkmm_client *client, *waiting;
	bool done;

	/*
	 * Files may still be open: their jobs that wait for foreign fences end now.
	 * Those of closed files may be in a fence callback on another CPU, or in the
	 * hands of whoever signals, who comes back for the next one.
	 */
	for (;;) {
		waiting = NULL;
		spin_lock_irq(&sched->lock);
		done = !sched->alive && !sched->signalling;
		list_for_each_entry(client, &sched->clients, in_clients)
			if (!list_empty(&client->queue)) {
				rkmm_client_get(client);
				waiting = client;
				break;
			}
		spin_unlock_irq(&sched->lock);
		if (done)
			break;
		if (waiting) {
			rkmm_sched_cancel_deps(waiting);
			rkmm_client_put(waiting);
		}
		schedule_timeout_uninterruptible(1);
	}
	flush_workqueue(sched->reap_wq);
}

int rkmm_sched_init(struct rkmm_device *rdev)
{
	struct rkmm_sched *sched = &rdev->sched;

	spin_lock_init(&sched->lock);
	INIT_LIST_HEAD(&sched->ready);
	INIT_LIST_HEAD(&sched->ended);
	INIT_LIST_HEAD(&sched->clients);
	init_llist_head(&sched->reap_list);
	init_waitqueue_head(&sched->idle);
	rkmm_ladder_init(rdev);
	timer_setup(&sched->watchdog, rkmm_sched_watchdog, 0);
	INIT_WORK(&sched->work, rkmm_sched_work);
	INIT_WORK(&sched->reap, rkmm_sched_reap);

	sched->wq = alloc_ordered_workqueue("rkmm", WQ_MEM_RECLAIM | WQ_HIGHPRI);
	if (!sched->wq)
		return -ENOMEM;
	sched->reap_wq = alloc_ordered_workqueue("rkmm-reap", 0);
	if (!sched->reap_wq) {
		destroy_workqueue(sched->wq);
		return -ENOMEM;
	}
	return 0;
}

void rkmm_sched_fini(struct rkmm_device *rdev)
{
	destroy_workqueue(rdev->sched.reap_wq);
	destroy_workqueue(rdev->sched.wq);
}
