// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who executes the programs: one kernel thread per core.
 *
 * A run ends IDLE (its ends of blocks become visible and may interrupt) or
 * STUCK: nothing more happens until a reset line of the core is pulled or the
 * power goes. Reset and power-off wait for the thread, as bus masters must be
 * quiet before memory is given back.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>

#ifdef CONFIG_ARM64
#include <asm/neon.h>
#else
#include <asm/fpu/api.h>
#endif

#include "soft.h"

bool soft_run_busy(struct soft_core *core)
{
	enum soft_state state = READ_ONCE(core->state);

	return state == SOFT_PENDING || state == SOFT_RUNNING;
}

bool soft_run_aborted(struct soft_core *core)
{
	return READ_ONCE(core->abort) || kthread_should_stop();
}

static bool soft_run_relax(void *ctx)
{
	cond_resched();
	return soft_run_aborted(ctx);
}

static void soft_run_fp_begin(void *ctx)
{
#ifdef CONFIG_ARM64
	kernel_neon_begin();
#else
	kernel_fpu_begin();
#endif
}

static void soft_run_fp_end(void *ctx)
{
#ifdef CONFIG_ARM64
	kernel_neon_end();
#else
	kernel_fpu_end();
#endif
}

/* Sleep, unless the core is stopped. */
static void soft_run_sleep(struct soft_core *core, u64 us)
{
	if (us)
		wait_event_idle_timeout(core->wait, soft_run_aborted(core),
					usecs_to_jiffies(min_t(u64, us, 600 * USEC_PER_SEC)));
}

/* The same to the microsecond; idle, so that nobody takes it for a hang. */
void soft_run_wait_ns(struct soft_core *core, u64 ns)
{
	wait_event_interruptible_hrtimeout(core->wait, soft_run_aborted(core), ns_to_ktime(ns));
}

static bool soft_run_after_task(void *arg, u32 task)
{
	struct soft_core *core = arg;
	u64 now = ktime_get_ns();
	u32 factor, delay;

	factor = soft_switch_peek(core->index, SOFT_SW_SLOW);
	delay = soft_switch_peek(core->index, SOFT_SW_DELAY_US);
	if (factor > 1)
		soft_run_sleep(core, div_u64((now - core->task_start) * (factor - 1),
					     NSEC_PER_USEC));
	soft_run_sleep(core, delay);
	core->task_start = ktime_get_ns();

	if (core->early)
		soft_irq_ghost(core);
	if (core->stall_after && task + 1 >= core->stall_after) {
		core->stalled = true;
		return true;
	}
	return soft_run_relax(core);
}

static void soft_run_account(struct soft_core *core, const struct npu_report *report,
			     u64 started)
{
	struct soft_stats *stats = &core->stats;
	unsigned long flags;

	spin_lock_irqsave(&core->lock, flags);
	core->report = *report;
	core->reported = true;
	stats->tasks += report->tasks_done;
	stats->macs += report->macs;
	stats->read_bytes += report->read_bytes;
	stats->write_bytes += report->write_bytes;
	stats->unknown_regs += report->unknown_regs;
	stats->busy_us += div_u64(ktime_get_ns() - started, NSEC_PER_USEC);
	soft_time_account(core, report);
	stats->stale_kicks += report->stale_kicks;
	stats->lost_kicks += report->lost_kicks;
	if (report->law)
		stats->laws++;
	spin_unlock_irqrestore(&core->lock, flags);
	if (report->law)
		soft_law(core->index, report);
}

static u32 soft_run_quirks(const struct soft_core *core)
{
	u32 quirks = soft_die_quirks();

	if (soft_switch_peek(core->index, SOFT_SW_NARROW_K))
		quirks |= NPU_QUIRK_NARROW_K;
	if (soft_switch_peek(core->index, SOFT_SW_FEATURE_CACHE))
		quirks |= NPU_QUIRK_FEATURE_CACHE;
	if (soft_switch_peek(core->index, SOFT_SW_OUTPUT_MOVE))
		quirks |= NPU_QUIRK_OUTPUT_MOVE;
	if (soft_switch_peek(core->index, SOFT_SW_INT8_WEDGE))
		quirks |= NPU_QUIRK_INT8_WEDGE;
	if (soft_switch_peek(core->index, SOFT_SW_TRANSITION))
		quirks |= NPU_QUIRK_TRANSITION;
	if (soft_switch_peek(core->index, SOFT_SW_UNTOUCHED))
		quirks |= NPU_QUIRK_UNTOUCHED;
	if (soft_switch_peek(core->index, SOFT_SW_COLD))
		quirks |= NPU_QUIRK_COLD;
	return quirks;
}

/* Execute what was started. Return: the core has ended and may be started again. */
static bool soft_run_tasks(struct soft_core *core)
{
	u32 tasks = READ_ONCE(core->task_control) & PC_TASK_NUMBER;
	struct npu_report report = {};
	bool partial = false;
	u64 started = ktime_get_ns();

	core->task_start = started;
	core->stalled = false;
	core->stall_after = 0;
	/* only a job with more tasks than that can stall after them */
	if (soft_switch_peek(core->index, SOFT_SW_STALL) < tasks)
		core->stall_after = soft_switch_take(core->index, SOFT_SW_STALL);
	if (!core->stall_after && soft_switch_peek(core->index, SOFT_SW_PARTIAL_DONE) < tasks) {
		core->stall_after = soft_switch_take(core->index, SOFT_SW_PARTIAL_DONE);
		partial = core->stall_after;
	}
	core->early = soft_switch_take(core->index, SOFT_SW_EARLY_IRQ);

	npu_core_set_error_bits(core->model, soft_switch_peek(core->index, SOFT_SW_FAULT_BITS));
	npu_core_set_quirks(core->model, soft_run_quirks(core));
	npu_core_set_peers(core->model, READ_ONCE(core->peers));
	npu_core_set_laws(core->model, READ_ONCE(soft_strict));
	npu_core_set_compute(core->model, READ_ONCE(soft_compute));
	npu_core_set_late(core->model, soft_switch_peek(core->index, SOFT_SW_LATE_OUTPUT));
	soft_time_begin(core);
	npu_core_run(core->model, soft_run_after_task, core, &report);
	soft_run_account(core, &report, started);
	if (partial && core->stalled) {
		spin_lock_irq(&core->lock);
		core->extra |= PC_INT_FEEDERS;
		spin_unlock_irq(&core->lock);
	}

	switch (report.cls) {
	case NPU_FAULT:
		soft_iommu_fault(core, report.fault_addr, report.fault_write);
		return false;
	case NPU_HANG_0:
	case NPU_HANG_P:
	case NPU_STOPPED:
		return false;
	default:
		return !core->stalled;
	}
}

/* As many mappings in the window as hang a core (hw 03 M8)? */
static bool soft_run_too_many(struct soft_core *core)
{
	u32 most = soft_switch_peek(core->index, SOFT_SW_MAPPINGS);

	return most && soft_iommu_mappings(core->npu) >= most;
}

static void soft_run(struct soft_core *core)
{
	bool ended = false, silent, spurious = false;
	u32 error;

	if (soft_switch_take(core->index, SOFT_SW_WEDGE))
		core->wedged = true;
	if (core->wedged || soft_run_too_many(core))
		goto out;
	if (soft_switch_take(core->index, SOFT_SW_NEVER_START)) {
		core->unstarted = true;
		goto out;
	}
	spurious = soft_switch_take(core->index, SOFT_SW_SPURIOUS_IRQ);
	if (spurious)
		soft_irq_ghost(core);
	error = soft_switch_take(core->index, SOFT_SW_ERROR_IRQ);
	if (error) {
		spin_lock_irq(&core->lock);
		core->extra |= error & PC_INT_DMA;
		spin_unlock_irq(&core->lock);
		goto out;
	}
	silent = soft_switch_take(core->index, SOFT_SW_LOST_IRQ);
	ended = soft_run_tasks(core);
	if (ended && soft_switch_take(core->index, SOFT_SW_EVICT))
		soft_view_evict();

	spin_lock_irq(&core->lock);
	core->silent = silent;
	spin_unlock_irq(&core->lock);
out:
	spin_lock_irq(&core->lock);
	if (ended)
		core->stats.jobs++;
	else if (!core->abort)
		core->stats.hangs++;
	core->state = ended ? SOFT_IDLE : SOFT_STUCK;
	if (ended)
		soft_time_hold_irq(core);
	spin_unlock_irq(&core->lock);
	wake_up_all(&core->wait);
	soft_irq_update(core);
	if (spurious)
		soft_irq_ghost(core);
}

/* The job's end is known: wait before its last bytes go to memory, but for no other job. */
static void soft_run_land(struct soft_core *core)
{
	u32 us = soft_switch_peek(core->index, SOFT_SW_LATE_OUTPUT);

	if (!npu_core_has_late(core->model))
		return;
	wait_event_interruptible_hrtimeout(core->wait, soft_run_aborted(core) ||
					   READ_ONCE(core->state) != SOFT_IDLE,
					   ns_to_ktime((u64)min(us, 1000000U) * NSEC_PER_USEC));
	mutex_lock(&core->late_lock);
	if (!soft_run_aborted(core) && READ_ONCE(core->state) == SOFT_IDLE)
		npu_core_land(core->model);
	mutex_unlock(&core->late_lock);
}

static int soft_run_thread(void *data)
{
	struct soft_core *core = data;
	bool run;

	for (;;) {
		wait_event_idle(core->wait, kthread_should_stop() ||
				READ_ONCE(core->state) == SOFT_PENDING);
		if (kthread_should_stop())
			return 0;

		spin_lock_irq(&core->lock);
		run = core->state == SOFT_PENDING && !core->abort;
		if (run)
			core->state = SOFT_RUNNING;
		else if (core->state == SOFT_PENDING)
			core->state = SOFT_STUCK;
		spin_unlock_irq(&core->lock);

		if (run)
			soft_run(core);
		else
			wake_up_all(&core->wait);
		if (run)
			soft_run_land(core);
	}
}

/* The model was started by a register write. Any context. */
void soft_run_start(struct soft_core *core)
{
	unsigned long flags;
	u32 peers = 0;
	unsigned int i;

	for (i = 0; i < SOFT_CORES; i++)
		peers += i != core->index && soft_run_busy(&core->npu->core[i]);
	/* the others have company from now on, whoever ends first */
	for (i = 0; i < SOFT_CORES; i++) {
		struct soft_core *other = &core->npu->core[i];

		if (i == core->index)
			WRITE_ONCE(core->together, peers + 1);
		else if (soft_run_busy(other) && READ_ONCE(other->together) <= peers)
			WRITE_ONCE(other->together, peers + 1);
	}
	spin_lock_irqsave(&core->lock, flags);
	core->stats.starts++;
	core->peers = peers > 0;
	core->silent = false;
	core->state = core->abort ? SOFT_STUCK : SOFT_PENDING;
	spin_unlock_irqrestore(&core->lock, flags);
	wake_up_all(&core->wait);
}

/* A reset line is asserted, or the power is off (@power): stop, and forget everything. */
void soft_run_stop(struct soft_core *core, bool power)
{
	unsigned long flags;

	spin_lock_irqsave(&core->lock, flags);
	core->abort = true;
	spin_unlock_irqrestore(&core->lock, flags);
	wake_up_all(&core->wait);
	wait_event(core->wait, !soft_run_busy(core));
	soft_time_stop(core);
	soft_iommu_fault_sync(core);

	/* nobody reaches the model: no access while off or in reset */
	mutex_lock(&core->late_lock);
	npu_core_reset(core->model);
	mutex_unlock(&core->late_lock);
	spin_lock_irqsave(&core->lock, flags);
	if (power) {
		core->unstarted = false;
		core->wedged = false;
	}
	core->state = core->unstarted ? SOFT_STUCK : SOFT_IDLE;
	core->extra = 0;
	core->int_mask = PC_INT_MASK_RESET;
	core->task_control = 0;
	core->silent = false;
	spin_unlock_irqrestore(&core->lock, flags);
}

/* All cores are held in reset: what never started is forgotten as well. */
void soft_run_free(struct soft_npu *npu)
{
	unsigned long flags;
	unsigned int i;

	for (i = 0; i < SOFT_CORES; i++) {
		struct soft_core *core = &npu->core[i];

		spin_lock_irqsave(&core->lock, flags);
		if (core->unstarted)
			core->state = SOFT_IDLE;
		core->unstarted = false;
		spin_unlock_irqrestore(&core->lock, flags);
	}
}

/* Power is on and no reset line is asserted: the core may be started. */
void soft_run_allow(struct soft_core *core)
{
	unsigned long flags;

	spin_lock_irqsave(&core->lock, flags);
	if (!core->held && READ_ONCE(core->npu->powered))
		core->abort = false;
	spin_unlock_irqrestore(&core->lock, flags);
}

int soft_run_init(struct soft_npu *npu)
{
	unsigned int i;

	for (i = 0; i < SOFT_CORES; i++) {
		struct soft_core *core = &npu->core[i];
		struct task_struct *task;

		core->env.ctx = core;
		core->env.read = soft_mem_read;
		core->env.write = soft_mem_write;
		core->env.buffer = soft_mem_buffer;
		core->env.relax = soft_run_relax;
		core->env.pace = soft_time_pace;
		core->env.fp_begin = soft_run_fp_begin;
		core->env.fp_end = soft_run_fp_end;
		core->mem = vmalloc(NPU_CORE_BYTES);
		if (!core->mem)
			goto fail;
		core->model = npu_core_init(core->mem, i, &core->env);
		if (!core->model)
			goto fail;

		task = kthread_create(soft_run_thread, core, "%s/%u", SOFT_NAME, i);
		if (IS_ERR(task))
			goto fail;
		core->task = task;
		wake_up_process(task);
	}
	return 0;

fail:
	soft_run_fini(npu);
	return -ENOMEM;
}

void soft_run_fini(struct soft_npu *npu)
{
	unsigned int i;

	for (i = 0; i < SOFT_CORES; i++) {
		struct soft_core *core = &npu->core[i];

		if (core->task) {
			/* kthread_stop() wakes the thread, not a sleep inside a run */
			WRITE_ONCE(core->abort, true);
			wake_up_all(&core->wait);
			kthread_stop(core->task);
			core->task = NULL;
		}
		soft_time_stop(core);
		irq_work_sync(&core->irq_work);
		soft_iommu_fault_sync(core);
		vfree(core->mem);
		core->mem = NULL;
		core->model = NULL;
	}
}
