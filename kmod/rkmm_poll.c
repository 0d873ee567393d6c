// SPDX-License-Identifier: GPL-2.0-only
/*
 * Looking for the end of a kick before its interrupt tells it: a timer for each core that goes
 * off shortly before the expected end and then a few times more (hw 03 §3.4).
 *
 * The interrupt stays armed. A look reads the raw status and ends the kick as the interrupt
 * would have: it starts the next one, and wakes who waits.
 */
#include <drm/drm_managed.h>
#include <linux/module.h>
#include <linux/string.h>

#include "compat/rkmm_compat.h"
#include "prog/rkmm_estimate.h"
#include "rkmm_drm.h"
#include "rkmm_sched.h"

static char *poll = "auto";
module_param(poll, charp, 0444);
MODULE_PARM_DESC(poll,
		 "Look for the end of kicks: off, hint (of submissions that ask for it), on (of all but those that ask not to), auto (default: hint on the software NPU, else what the chip's row says)");

static uint poll_interval_us = 15;
module_param(poll_interval_us, uint, 0644);
MODULE_PARM_DESC(poll_interval_us, "From one look to the next, us (default 15, 10 to 1000)");

static uint poll_most_us = 1000;
module_param(poll_most_us, uint, 0644);
MODULE_PARM_DESC(poll_most_us, "Kicks that take longer end by interrupt alone, us (default 1000)");

static uint poll_percent = 10;
module_param(poll_percent, uint, 0644);
MODULE_PARM_DESC(poll_percent,
		 "Processor time that looks may take, of the time of the kicks, percent (default 10)");

/* Taking the interrupt of a timer, the lock, reading a register */
#define RKMM_LOOK_NS	1500u

static const char * const rkmm_polls[] = {
	[RKMM_POLL_OFF] = "off",
	[RKMM_POLL_HINT] = "hint",
	[RKMM_POLL_ON] = "on",
};

int rkmm_poll_init(struct rkmm_device *rdev)
{
	int when = rdev->soft ? RKMM_POLL_HINT : rdev->soc->poll;

	if (!sysfs_streq(poll, "auto"))
		when = sysfs_match_string(rkmm_polls, poll);
	if (when < 0)
		return dev_err_probe(rdev->dev, -EINVAL, "poll=%s: not understood\n", poll);
	if (when == RKMM_POLL_OFF)
		return 0;
	rdev->estimates = drmm_kzalloc(rdev->drm, sizeof(*rdev->estimates), GFP_KERNEL);
	if (!rdev->estimates)
		return -ENOMEM;
	rdev->poll = when;
	return 0;
}

static bool rkmm_poll_wanted(const struct rkmm_device *rdev, const struct rkmm_job *job)
{
	if (rdev->poll == RKMM_POLL_ON)
		return !(job->hints & DRM_RKMM_SUBMIT_POWER);
	return job->hints & DRM_RKMM_SUBMIT_LATENCY;
}

static u32 rkmm_poll_busy(const struct rkmm_device *rdev)
{
	u32 i, busy = 0;

	for (i = 0; i < rdev->ncores; i++)
		busy += rdev->cores[i].state == RKMM_CORE_BUSY;
	return busy;
}

static u64 rkmm_poll_interval(void)
{
	return clamp(READ_ONCE(poll_interval_us), 10u, 1000u) * NSEC_PER_USEC;
}

void rkmm_poll_start(struct rkmm_core *core)
{
	struct rkmm_device *rdev = core->rdev;
	const struct rkmm_image *image;
	const struct rkmm_estimate *est;
	struct rkmm_poll_rule rule;
	u32 cores;
	u64 first;

	if (!rkmm_poll_wanted(rdev, core->job))
		return;
	image = core->job->steps[core->job->step];
	cores = rkmm_poll_busy(rdev);
	rule = (struct rkmm_poll_rule){
		.interval = rkmm_poll_interval(),
		.most = (u64)READ_ONCE(poll_most_us) * NSEC_PER_USEC,
		.look = RKMM_LOOK_NS,
		/* All cores together, as one processor may have to look at all of them */
		.percent = min(READ_ONCE(poll_percent), 50u) / cores,
	};
	core->kind = rkmm_estimate_key(image->kind, core->kick - image->kicks, cores,
				       rdev->clock_hz / 1000000);
	est = rkmm_estimate_get(rdev->estimates, core->kind,
				rkmm_predict_ns(rdev, core->kick) * rdev->time_scale);
	core->looks = rkmm_poll_plan(&rule, est, &first);
	if (core->looks)
		hrtimer_start(&core->poll, ns_to_ktime(core->started + first), HRTIMER_MODE_ABS);
}

void rkmm_poll_end(struct rkmm_core *core)
{
	rkmm_estimate_learn(core->rdev->estimates, core->kind, ktime_get_ns() - core->started);
	/* One that goes off at this moment finds no looks left. */
	if (core->looks)
		hrtimer_try_to_cancel(&core->poll);
	core->looks = 0;
}

static enum hrtimer_restart rkmm_poll_look(struct hrtimer *timer)
{
	struct rkmm_core *core = container_of(timer, struct rkmm_core, poll);
	enum hrtimer_restart again = HRTIMER_NORESTART;
	struct rkmm_device *rdev = core->rdev;
	unsigned long flags;

	spin_lock_irqsave(&rdev->sched.lock, flags);
	/* Queued again: the kick has ended and another one has the timer. */
	if (rdev->sched.dead || hrtimer_is_queued(timer) ||
	    core->state != RKMM_CORE_BUSY || core->landing || !core->looks)
		goto out;
	rdev->sched.looks++;
	core->looks--;
	if (rkmm_sched_peek(core)) {
		rkmm_sched_start(rdev);
	} else if (core->looks) {
		hrtimer_forward_now(timer, ns_to_ktime(rkmm_poll_interval()));
		again = HRTIMER_RESTART;
	}
out:
	rkmm_sched_unlock(rdev, flags);
	return again;
}

void rkmm_poll_setup(struct rkmm_core *core)
{
	rkmm_hrtimer_setup(&core->poll, rkmm_poll_look, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
}

void rkmm_poll_stop(struct rkmm_core *core)
{
	hrtimer_cancel(&core->poll);
}
