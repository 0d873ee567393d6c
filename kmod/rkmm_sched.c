// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which job next, on which core.
 *
 * A client's jobs run one after the other, in order, and so do the operations
 * of a job; the lanes of an operation take what cores they find. Clients with a
 * lane that can start stand in one queue, first come first served. A job starts where the
 * event happens: in the submitting thread, in the interrupt that freed a core,
 * or in the fence callback that made it ready. Only a window switch or a reset
 * needs the worker.
 *
 * The queue is strictly first come first served across address windows too: a
 * client at the head that needs another window stops later starts, the cores
 * drain, the worker switches. So no client can keep another out.
 */
#include <linux/ktime.h>
#include <linux/module.h>

#include "compat/rkmm_compat.h"
#include "rkmm_job.h"
#include "rkmm_trace.h"

#define RKMM_WATCHDOG_MS	10

bool rkmm_sched_busy(struct rkmm_device *rdev)
{
	u32 i;

	for (i = 0; i < rdev->ncores; i++)
		if (rdev->cores[i].state == RKMM_CORE_BUSY)
			return true;
	return false;
}

/* What the client would start next. Lock held. */
static struct rkmm_job *rkmm_sched_next(struct rkmm_client *client)
{
	if (client->running)
		return client->running;
	return list_first_entry_or_null(&client->queue, struct rkmm_job, in_queue);
}

static bool rkmm_sched_startable(struct rkmm_client *client)
{
	struct rkmm_job *job = rkmm_sched_next(client);

	if (!job || atomic_read(&job->waiting))
		return false;
	if (job == client->running && job->running)
		return !job->result && job->next_lane < job->steps[job->step]->nlanes;
	return true;
}

/* Put the client where its next work belongs. Lock held. */
static void rkmm_sched_place(struct rkmm_client *client)
{
	if (!rkmm_sched_startable(client))
		list_del_init(&client->in_ready);
	else if (list_empty(&client->in_ready))
		list_add_tail(&client->in_ready, &client->rdev->sched.ready);
}

/* The job leaves the scheduler; its fence is signalled by rkmm_sched_unlock(). Lock held. */
static void rkmm_sched_end(struct rkmm_job *job, int result)
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
	trace_rkmm_job_done(job);
	rkmm_sched_place(client);
}

/*
 * Drop the lock, then signal what ended. One context at a time signals: fences
 * of a client keep their order, and a callback that ends up here again returns
 * at once instead of nesting.
 */
static void rkmm_sched_unlock(struct rkmm_device *rdev, unsigned long flags)
	__releases(&rdev->sched.lock)
{
	struct rkmm_sched *sched = &rdev->sched;
	struct rkmm_job *job;
	bool cookie;

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
		if (job->result)
			dma_fence_set_error(job->fence, job->result);
		dma_fence_signal(job->fence);
		dma_fence_end_signalling(cookie);
		llist_add(&job->in_reap, &sched->reap_list);
		queue_work(sched->reap_wq, &sched->reap);

		spin_lock(&sched->lock);
	}
	sched->signalling = false;
	spin_unlock_irqrestore(&sched->lock, flags);
}

/* Start the core's kick. Lock held. */
static void rkmm_sched_kick(struct rkmm_core *core)
{
	struct rkmm_device *rdev = core->rdev;
	struct rkmm_job *job = core->job;

	core->started = ktime_get_ns();
	core->deadline = core->started +
			 rkmm_deadline_ns(rdev, job->steps[job->step], core->kick);
	core->seen_done = false;
	trace_rkmm_job_run(job, core);
	rkmm_core_kick(core, core->kick);
	if (!timer_pending(&rdev->sched.watchdog))
		mod_timer(&rdev->sched.watchdog, jiffies + msecs_to_jiffies(RKMM_WATCHDOG_MS));
}

static struct rkmm_core *rkmm_sched_idle_core(struct rkmm_device *rdev, u32 mask)
{
	u32 i;

	for (i = 0; i < rdev->ncores; i++)
		if (rdev->cores[i].state == RKMM_CORE_IDLE && mask & BIT(rdev->cores[i].index))
			return &rdev->cores[i];
	return NULL;
}

/* Can any core in service run a job with this mask? Lock held. */
static bool rkmm_sched_served(struct rkmm_device *rdev, u32 mask)
{
	u32 i;

	for (i = 0; i < rdev->ncores; i++)
		if (rdev->cores[i].state != RKMM_CORE_OFF && mask & BIT(rdev->cores[i].index))
			return true;
	return false;
}

/* End the jobs at the client's head that will not run (any further). Lock held. */
static void rkmm_sched_drop(struct rkmm_client *client)
{
	struct rkmm_device *rdev = client->rdev;
	struct rkmm_job *job;

	while (!list_empty(&client->in_ready)) {
		job = rkmm_sched_next(client);
		if (!job->result && !rdev->sched.dead && rkmm_sched_served(rdev, job->cores))
			return;
		if (!job->running) {
			rkmm_sched_end(job, -ENODEV);
			continue;
		}
		/* It ends with the last lane that runs. */
		if (!job->result)
			job->result = -ENODEV;
		list_del_init(&client->in_ready);
	}
}

/* Start the next lane of the client's next work. Lock held. */
static void rkmm_sched_start_lane(struct rkmm_client *client, struct rkmm_core *core)
{
	struct rkmm_job *job = rkmm_sched_next(client);
	struct rkmm_image *image = job->steps[job->step];

	if (job->queued) {
		list_del(&job->in_queue);
		job->queued = false;
		client->running = job;
	}
	core->job = job;
	core->kick = &image->kicks[image->lane[job->next_lane++]];
	core->state = RKMM_CORE_BUSY;
	job->running++;
	rkmm_sched_place(client);
	rkmm_sched_kick(core);
}

/* Start everything that can start. Lock held. */
static void rkmm_sched_start(struct rkmm_device *rdev)
{
	struct rkmm_sched *sched = &rdev->sched;
	struct rkmm_client *client, *next;
	struct rkmm_core *core;
	struct rkmm_job *job;

	list_for_each_entry_safe(client, next, &sched->ready, in_ready) {
		rkmm_sched_drop(client);
		if (list_empty(&client->in_ready) || sched->hold || sched->reset_wanted)
			continue;

		job = rkmm_sched_next(client);
		if (job->window != sched->window) {
			if (!rkmm_sched_busy(rdev))
				queue_work(sched->wq, &sched->work);
			break;
		}
		while (!list_empty(&client->in_ready)) {
			core = rkmm_sched_idle_core(rdev, job->cores);
			if (!core)
				break;
			rkmm_sched_start_lane(client, core);
		}
	}
}

static void rkmm_sched_account(struct rkmm_core *core)
{
	u64 ran = ktime_get_ns() - core->started;

	core->busy_ns += ran;
	core->job->npu_ns += ran;
}

/* The core stopped being busy: somebody may wait for that. Lock held. */
static void rkmm_sched_settle(struct rkmm_device *rdev)
{
	struct rkmm_sched *sched = &rdev->sched;

	if (rkmm_sched_busy(rdev))
		return;
	wake_up_all(&sched->idle);
	if (sched->reset_wanted && !sched->dead)
		queue_work(sched->wq, &sched->work);
}

void rkmm_sched_job_failed(struct rkmm_core *core, int result)
{
	struct rkmm_job *job = core->job;

	if (result == -EIO && !job->result)
		job->client->guilty++;
	job->result = result;
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
		if (job->next_lane < job->steps[job->step]->nlanes)
			return;
		job->next_lane = 0;
		if (++job->step < job->nsteps) {
			rkmm_sched_place(job->client);
			return;
		}
	}
	rkmm_sched_end(job, 0);
}

void rkmm_sched_end_stuck(struct rkmm_core *core, enum rkmm_core_state state)
{
	if (core->job)
		rkmm_sched_end_lane(core, state);
	core->state = state;
}

/* The running kick is complete: next kick of the lane, or its end. Lock held. */
static void rkmm_sched_complete(struct rkmm_core *core)
{
	struct rkmm_job *job = core->job;
	struct rkmm_image *image = job->steps[job->step];

	rkmm_core_ack(core);
	rkmm_sched_account(core);
	if (!job->result && core->kick + 1 < &image->kicks[image->lane[core->kick->lane + 1]]) {
		core->kick++;
		rkmm_sched_kick(core);
		return;
	}
	rkmm_sched_end_lane(core, RKMM_CORE_IDLE);
	rkmm_sched_settle(core->rdev);
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
		if (core->state == RKMM_CORE_BUSY) {
			rkmm_recover_report(core, "DMA error", &st);
			rkmm_sched_job_failed(core, -EIO);
		}
		goto out;
	}
	if (!(raw & core->int_mask)) {
		ret = IRQ_NONE;
		goto out;
	}
	if (core->state != RKMM_CORE_BUSY) {
		rkmm_core_quiet(core);
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

	rkmm_recover_report(core, st.task ? "stalled" : "never started", &st);
	rkmm_core_quiet(core);
	rkmm_sched_job_failed(core, -EIO);
}

static void rkmm_sched_watchdog(struct timer_list *timer)
{
	struct rkmm_device *rdev = container_of(timer, struct rkmm_device, sched.watchdog);
	struct rkmm_sched *sched = &rdev->sched;
	unsigned long flags;
	u32 i;

	spin_lock_irqsave(&sched->lock, flags);
	if (!sched->dead) {
		for (i = 0; i < rdev->ncores; i++)
			if (rdev->cores[i].state == RKMM_CORE_BUSY)
				rkmm_sched_look(&rdev->cores[i]);
		rkmm_sched_start(rdev);
		if (rkmm_sched_busy(rdev))
			mod_timer(timer, jiffies + msecs_to_jiffies(RKMM_WATCHDOG_MS));
	}
	rkmm_sched_unlock(rdev, flags);
}

void rkmm_sched_push(struct rkmm_job *job)
{
	struct rkmm_device *rdev = job->client->rdev;
	unsigned long flags;

	spin_lock_irqsave(&rdev->sched.lock, flags);
	list_add_tail(&job->in_queue, &job->client->queue);
	job->queued = true;
	/* The extra count held while dependencies were being set up. */
	atomic_dec(&job->waiting);
	rkmm_sched_place(job->client);
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
static void rkmm_sched_mark(struct rkmm_client *client, int result)
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
	spin_lock_irq(&sched->lock);
	list_add_tail(&client->in_clients, &sched->clients);
	spin_unlock_irq(&sched->lock);
}

void rkmm_sched_close(struct rkmm_client *client)
{
	struct rkmm_device *rdev = client->rdev;
	unsigned long flags;

	spin_lock_irqsave(&rdev->sched.lock, flags);
	list_del_init(&client->in_clients);
	rkmm_sched_mark(client, -ECANCELED);
	/* What runs is not interrupted, but nothing is started behind it. */
	if (client->running && !client->running->result)
		client->running->result = -ECANCELED;
	rkmm_sched_place(client);
	rkmm_sched_start(rdev);
	rkmm_sched_unlock(rdev, flags);

	rkmm_sched_cancel_deps(client);
}

/* Window that the client at the head of the queue needs, referenced. Lock held. */
static struct rkmm_window *rkmm_sched_target(struct rkmm_device *rdev)
{
	struct rkmm_sched *sched = &rdev->sched;
	struct rkmm_client *client;
	struct rkmm_job *job;

	client = list_first_entry_or_null(&sched->ready, struct rkmm_client, in_ready);
	if (!client || sched->hold || sched->dead || rkmm_sched_busy(rdev))
		return NULL;
	job = rkmm_sched_next(client);
	if (job->window == sched->window)
		return NULL;
	rkmm_window_get(job->window);
	return job->window;
}

static void rkmm_sched_switch(struct rkmm_device *rdev, struct rkmm_window *window)
{
	struct rkmm_sched *sched = &rdev->sched;
	struct rkmm_client *client;
	unsigned long flags;
	int ret;

	ret = rkmm_vm_attach(rdev, window);

	spin_lock_irqsave(&sched->lock, flags);
	sched->hold--;
	sched->switches++;
	sched->window = ret ? NULL : window;
	if (ret) {
		dev_err_ratelimited(rdev->dev, "cannot attach an address window: %d\n", ret);
		list_for_each_entry(client, &sched->clients, in_clients)
			if (client->window == window)
				rkmm_sched_mark(client, -EIO);
	}
	rkmm_sched_start(rdev);
	wake_up_all(&sched->idle);
	rkmm_sched_unlock(rdev, flags);
	rkmm_window_put(window);
}

static void rkmm_sched_work(struct work_struct *work)
{
	struct rkmm_device *rdev = container_of(work, struct rkmm_device, sched.work);
	struct rkmm_sched *sched = &rdev->sched;
	struct rkmm_window *window = NULL;
	bool reset;

	spin_lock_irq(&sched->lock);
	reset = sched->reset_wanted && !sched->dead && !rkmm_sched_busy(rdev);
	if (!reset && !sched->reset_wanted)
		window = rkmm_sched_target(rdev);
	if (window)
		sched->hold++;
	spin_unlock_irq(&sched->lock);

	if (reset)
		rkmm_recover_reset(rdev);
	else if (window)
		rkmm_sched_switch(rdev, window);
}

void rkmm_sched_reset_done(struct rkmm_device *rdev, int ret)
{
	struct rkmm_sched *sched = &rdev->sched;
	unsigned long flags;
	u32 i;

	spin_lock_irqsave(&sched->lock, flags);
	sched->reset_wanted = false;
	sched->resets++;
	if (ret)
		sched->dead = true;
	for (i = 0; i < rdev->ncores; i++)
		if (rdev->cores[i].state == RKMM_CORE_STUCK)
			rkmm_sched_end_stuck(&rdev->cores[i],
					     ret ? RKMM_CORE_OFF : RKMM_CORE_IDLE);
	rkmm_sched_start(rdev);
	wake_up_all(&sched->idle);
	rkmm_sched_unlock(rdev, flags);
}

static void rkmm_sched_reap(struct work_struct *work)
{
	struct rkmm_device *rdev = container_of(work, struct rkmm_device, sched.reap);
	struct rkmm_job *job, *next;

	llist_for_each_entry_safe(job, next, llist_del_all(&rdev->sched.reap_list), in_reap)
		rkmm_job_put(job);
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

void rkmm_sched_release(struct rkmm_device *rdev)
{
	unsigned long flags;

	spin_lock_irqsave(&rdev->sched.lock, flags);
	rdev->sched.hold--;
	rkmm_sched_start(rdev);
	rkmm_sched_unlock(rdev, flags);
}

void rkmm_sched_forget_window(struct rkmm_device *rdev, struct rkmm_window *window)
{
	spin_lock_irq(&rdev->sched.lock);
	if (rdev->sched.window == window)
		rdev->sched.window = NULL;
	spin_unlock_irq(&rdev->sched.lock);
}

void rkmm_sched_kill(struct rkmm_device *rdev)
{
	struct rkmm_sched *sched = &rdev->sched;
	struct rkmm_client *client;
	unsigned long flags;
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
	rkmm_timer_stop(&sched->watchdog);
	cancel_work_sync(&sched->work);

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
	rkmm_sched_unlock(rdev, flags);
}

void rkmm_sched_drain(struct rkmm_device *rdev)
{
	struct rkmm_sched *sched = &rdev->sched;
	struct rkmm_client *client, *waiting;

	/* Files may still be open: their jobs that wait for foreign fences end now. */
	for (;;) {
		waiting = NULL;
		spin_lock_irq(&sched->lock);
		list_for_each_entry(client, &sched->clients, in_clients)
			if (!list_empty(&client->queue)) {
				rkmm_client_get(client);
				waiting = client;
				break;
			}
		spin_unlock_irq(&sched->lock);
		if (!waiting)
			break;
		rkmm_sched_cancel_deps(waiting);
		rkmm_client_put(waiting);
		/* A callback may be running on another CPU. */
		cond_resched();
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
