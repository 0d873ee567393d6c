// SPDX-License-Identifier: GPL-2.0-only
/*
 * Done is not landed: what a chip needs so that the output of a kick is in memory when its end
 * is believed (hw 03 O13).
 *
 * Two ways. A trailer at the end of the chain (prog/rkmm_land.h) costs a tiny program. Where
 * none can be, the driver may wait a little after the end: the core stays busy, nothing that
 * reads the output starts, no fence signals. Output of four bytes an element needs neither.
 */
#include <linux/module.h>
#include <linux/string.h>

#include "compat/rkmm_compat.h"
#include "rkmm_job.h"
#include "rkmm_sched.h"

static char *landing = "auto";
module_param(landing, charp, 0444);
MODULE_PARM_DESC(landing,
		 "Before narrow output counts as written: auto (default: what the chip's row says), off, trailer (a program behind int4 and int8 matmuls), wait (settle_us behind all), both (wait where there is no trailer)");

static uint settle_us = 200;
module_param(settle_us, uint, 0444);
MODULE_PARM_DESC(settle_us, "Time that landing=wait and both wait, us (default 200, at most 100000)");

static const char * const rkmm_landings[] = {
	[0] = "off",
	[RKMM_LAND_TRAILER] = "trailer",
	[RKMM_LAND_WAIT] = "wait",
	[RKMM_LAND_TRAILER | RKMM_LAND_WAIT] = "both",
};

int rkmm_landing_init(struct rkmm_device *rdev)
{
	int ways = rdev->soc->landing;

	if (!sysfs_streq(landing, "auto"))
		ways = sysfs_match_string(rkmm_landings, landing);
	if (ways < 0 || settle_us > 100000)
		return dev_err_probe(rdev->dev, -EINVAL,
				     "landing=%s settle_us=%u: not understood\n", landing,
				     settle_us);
	rdev->trailers = ways & RKMM_LAND_TRAILER;
	rdev->settle_ns = ways & RKMM_LAND_WAIT ? settle_us * NSEC_PER_USEC : 0;
	return 0;
}

int rkmm_landing_place(struct rkmm_client *client, const struct rkmm_bound *bound, u32 n, u32 *land)
{
	struct rkmm_images *images = client->images;
	struct rkmm_progmem **mem = &images->land[bound->window->index];
	u32 i;

	lockdep_assert_held(&images->lock);
	*land = 0;
	if (!client->rdev->trailers)
		return 0;
	for (i = 0; i < n; i++)
		if (!bound[i].plan->op && rkmm_out_bytes(bound[i].plan->geom.types) < 4)
			break;
	if (i == n)
		return 0;
	if (!*mem) {
		struct rkmm_progmem *new = rkmm_scratch_alloc(bound->window, RKMM_LAND_BYTES);

		if (IS_ERR(new))
			return PTR_ERR(new);
		*mem = new;
	}
	*land = (*mem)->iova;
	return 0;
}

bool rkmm_landing_wait(struct rkmm_core *core)
{
	u64 ns = core->rdev->settle_ns;

	if (!ns)
		return false;
	core->landing = true;
	hrtimer_start(&core->landed, ns_to_ktime(ns), HRTIMER_MODE_REL);
	return true;
}

static enum hrtimer_restart rkmm_landing_over(struct hrtimer *timer)
{
	struct rkmm_core *core = container_of(timer, struct rkmm_core, landed);
	struct rkmm_device *rdev = core->rdev;
	unsigned long flags;

	spin_lock_irqsave(&rdev->sched.lock, flags);
	/* It may have been given up meanwhile; queued again: another kick has the timer. */
	if (!hrtimer_is_queued(timer) &&
	    core->landing && core->state == RKMM_CORE_BUSY && !rdev->sched.dead) {
		core->landing = false;
		rkmm_sched_landed(core);
		rkmm_sched_start(rdev);
	}
	rkmm_sched_unlock(rdev, flags);
	return HRTIMER_NORESTART;
}

void rkmm_landing_setup(struct rkmm_core *core)
{
	rkmm_hrtimer_setup(&core->landed, rkmm_landing_over, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
}

void rkmm_landing_stop(struct rkmm_core *core)
{
	hrtimer_cancel(&core->landed);
}
