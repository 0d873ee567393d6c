// SPDX-License-Identifier: GPL-2.0-only
/*
 * How the cores are got back: reset lines, power, cores out of service, and the end.
 *
 * Each rung once, in the worker, with no core busy:
 *
 * 1. The lines of all cores are pulsed together. A reset of one core alone does not cure a job
 *    that never started, and it wipes MMU state that only a re-attach restores, which must not
 *    happen beside a running neighbour (hw 01 §4.5, hw 03 §4.2; one IOMMU spans all cores).
 *    So for no cause of a hang there is a cheaper reset that is known to cure it.
 * 2. If a line, a version register, the IOMMU, or a matmul with known results on a core that hung
 *    says that this was not enough: power off and on, and the lines once more.
 * 3. A core on which known results are wrong even then, or do not come, is left out from here on.
 * 4. If that is every core, or power does not come back, the device is wedged: all jobs end
 *    with -ENODEV, and user space is told by a uevent, as by DRM drivers of later kernels.
 *
 * Known results are asked for on one core after the other: never on several after a hang
 * (hw 03 §4.6).
 */
#include <drm/drm_file.h>
#include <linux/kobject.h>
#include <linux/math64.h>

#include "rkmm_job.h"
#include "rkmm_sched.h"
#include "rkmm_trace.h"

static void rkmm_ladder_tell(struct work_struct *work)
{
	struct rkmm_device *rdev = container_of(work, struct rkmm_device, wedged);
	char event[] = "WEDGED=rebind";
	char *env[2] = {};

	env[0] = event;
	if (rdev->drm->registered)
		kobject_uevent_env(&rdev->drm->primary->kdev->kobj, KOBJ_CHANGE, env);
}

void rkmm_ladder_init(struct rkmm_device *rdev)
{
	INIT_WORK(&rdev->wedged, rkmm_ladder_tell);
}

static void rkmm_ladder_wedge(struct rkmm_device *rdev, int ret)
{
	dev_err(rdev->dev, "reset failed: %d: out of service\n", ret);
	/* An event takes memory, for which fences may be waited for. */
	queue_work(rdev->sched.reap_wq, &rdev->wedged);
}

static int rkmm_ladder_lines(struct rkmm_device *rdev)
{
	bool cookie = dma_fence_begin_signalling();
	u32 i;
	int ret;

	for (i = 0; i < rdev->ncores; i++)
		synchronize_irq(rdev->cores[i].irq);

	ret = rkmm_power_reset(rdev, rdev->all_cores);
	for (i = 0; i < rdev->ncores && !ret; i++)
		if (rdev->cores[i].state != RKMM_CORE_OFF)
			ret = rkmm_core_identify(&rdev->cores[i]);
	rkmm_mode_lost(rdev, RKMM_MODE_RESET);
	dma_fence_end_signalling(cookie);

	/* The reset wiped the MMU banks: program them again. */
	if (!ret)
		ret = rkmm_vm_reattach(rdev);
	trace_rkmm_rung("lines", rdev->all_cores, ret);
	return ret;
}

static int rkmm_ladder_power(struct rkmm_device *rdev)
{
	int ret = rkmm_power_cycle(rdev);

	trace_rkmm_rung("power", rdev->all_cores, ret);
	spin_lock_irq(&rdev->sched.lock);
	rdev->sched.power_cycles++;
	spin_unlock_irq(&rdev->sched.lock);
	if (!ret)
		ret = rkmm_ladder_lines(rdev);
	rkmm_mode_lost(rdev, RKMM_MODE_COLD);
	return ret;
}

int rkmm_ladder_pulse(struct rkmm_device *rdev)
{
	int ret = rkmm_ladder_lines(rdev);

	if (ret)
		ret = rkmm_ladder_power(rdev);
	if (ret)
		rkmm_ladder_wedge(rdev, ret);
	return ret;
}

/**
 * struct rkmm_climb - one way up the ladder
 * @forced: nobody hung
 * @suspects: cores to be looked at behind the first rung; masks of places in rkmm_device.cores
 * @serving: cores that were not given up before
 * @bad: those that known results do not come from
 * @off: those that are given up
 * @rung: how far it went
 */
struct rkmm_climb {
	bool forced;
	u32 suspects, serving, bad, off;
	const char *rung;
};

static u32 rkmm_ladder_mask(struct rkmm_device *rdev, enum rkmm_core_state state)
{
	u32 i, mask = 0;

	for (i = 0; i < rdev->ncores; i++)
		if (rdev->cores[i].state == state)
			mask |= BIT(i);
	return mask;
}

/* Cores of @mask on which a known matmul is wrong or does not end */
static u32 rkmm_ladder_known(struct rkmm_device *rdev, u32 mask)
{
	u32 i, bad = 0;
	int ret;

	for (i = 0; i < rdev->ncores && !READ_ONCE(rdev->sched.dead); i++) {
		if (!(mask & BIT(i)))
			continue;
		ret = rkmm_proof_core(rdev, i);
		trace_rkmm_rung("known", BIT(rdev->cores[i].index), ret);
		/* What could not begin says nothing about the core. */
		if (ret && ret != -ENODEV)
			bad |= BIT(i);
	}
	return bad;
}

static int rkmm_ladder_rungs(struct rkmm_device *rdev, struct rkmm_climb *climb)
{
	int ret = rkmm_ladder_lines(rdev);

	climb->rung = "lines";
	if (!ret)
		climb->bad = rkmm_ladder_known(rdev, climb->suspects);
	if ((!ret && !climb->bad) || READ_ONCE(rdev->sched.dead))
		return ret;
	climb->rung = "power";
	ret = rkmm_ladder_power(rdev);
	if (!ret)
		climb->bad = rkmm_ladder_known(rdev, climb->serving);
	/* Chance is no reason to give a core up. */
	if (!ret && climb->bad)
		ret = rkmm_ladder_lines(rdev);
	if (!ret && climb->bad)
		climb->bad = rkmm_ladder_known(rdev, climb->bad);
	if (ret || !climb->bad || READ_ONCE(rdev->sched.dead))
		return ret;
	if (climb->bad == climb->serving)
		return -EIO;
	/* What hangs there is not left alone with the bus. */
	climb->off = climb->bad;
	return rkmm_ladder_lines(rdev);
}

/* Masks of places as masks of core numbers */
static u32 rkmm_ladder_cores(const struct rkmm_device *rdev, u32 places)
{
	u32 i, cores = 0;

	for (i = 0; i < rdev->ncores; i++)
		if (places & BIT(i))
			cores |= BIT(rdev->cores[i].index);
	return cores;
}

/* The documented line: Documentation/recovery.rst. What took one rung, its hang has told. */
static void rkmm_ladder_report(struct rkmm_device *rdev, const struct rkmm_climb *climb, int ret,
			       u64 ns)
{
	if (!climb->forced && !climb->bad && !strcmp(climb->rung, "lines"))
		return;
	dev_printk(climb->forced && !ret && !climb->bad ? KERN_NOTICE : KERN_ERR, rdev->dev,
		   "reset: cause=%s rung=%s suspects=%#x bad=%#x off=%#x us=%llu outcome=%s\n",
		   climb->forced ? "forced" : "hang", climb->rung,
		   rkmm_ladder_cores(rdev, climb->suspects), rkmm_ladder_cores(rdev, climb->bad),
		   rkmm_ladder_cores(rdev, climb->off), div_u64(ns, NSEC_PER_USEC),
		   ret ? "wedged" : climb->off ? "core-off" : "recovered");
}

void rkmm_ladder_climb(struct rkmm_device *rdev)
{
	struct rkmm_sched *sched = &rdev->sched;
	struct rkmm_climb climb = {};
	struct rkmm_window *window;
	u64 began = ktime_get_ns();
	bool cookie;
	u32 i;
	int ret;

	spin_lock_irq(&sched->lock);
	climb.suspects = rkmm_ladder_mask(rdev, RKMM_CORE_STUCK);
	climb.serving = GENMASK(rdev->ncores - 1, 0) & ~rkmm_ladder_mask(rdev, RKMM_CORE_OFF);
	climb.forced = !climb.suspects;
	if (climb.forced)
		climb.suspects = climb.serving;
	/* Its release waits: it is attached again below. */
	window = sched->window;
	sched->switching = window;
	spin_unlock_irq(&sched->lock);

	rkmm_dump_before_reset(rdev);
	ret = rkmm_ladder_rungs(rdev, &climb);
	for (i = 0; i < rdev->ncores; i++)
		if (rdev->cores[i].job && rdev->cores[i].again == RKMM_AGAIN_FALLBACK)
			rkmm_fallback_write(rdev->cores[i].job);
	if (ret && !READ_ONCE(sched->dead))
		rkmm_ladder_wedge(rdev, ret);
	/* Runs of the driver's own have a window of their own. */
	if (!ret && READ_ONCE(rdev->vm.attached) != window && rkmm_vm_attach(rdev, window)) {
		spin_lock_irq(&sched->lock);
		sched->window = NULL;
		spin_unlock_irq(&sched->lock);
	}
	rkmm_ladder_report(rdev, &climb, ret, ktime_get_ns() - began);

	cookie = dma_fence_begin_signalling();
	trace_rkmm_reset(rdev, ret, ktime_get_ns() - began);
	rkmm_sched_reset_done(rdev, ret, climb.off);
	dma_fence_end_signalling(cookie);
}

/* Nothing starts any more; whoever sleeps or changes modes is let finish first. */
static bool rkmm_ladder_ask(struct rkmm_device *rdev)
{
	struct rkmm_sched *sched = &rdev->sched;
	bool asked;

	spin_lock_irq(&sched->lock);
	asked = sched->dead || (!sched->hold && !sched->reset_wanted);
	if (asked && !sched->dead) {
		sched->reset_wanted = true;
		sched->forced++;
		if (!rkmm_sched_busy(rdev))
			queue_work(sched->wq, &sched->work);
	}
	spin_unlock_irq(&sched->lock);
	return asked;
}

int rkmm_ladder_force(struct rkmm_device *rdev)
{
	struct rkmm_sched *sched = &rdev->sched;

	if (wait_event_interruptible(sched->idle, rkmm_ladder_ask(rdev)) ||
	    wait_event_interruptible(sched->idle,
				     !READ_ONCE(sched->reset_wanted) || READ_ONCE(sched->dead)))
		return -EINTR;
	return READ_ONCE(sched->dead) ? -ENODEV : 0;
}
