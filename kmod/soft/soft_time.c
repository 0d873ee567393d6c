// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long would the chip take: off, accounted only, or waited for (hw 03 §6).
 *
 * The law is the model's; here are its knobs and the waiting. "real" delays the end of
 * each task until its time has come, where the emulation was faster than that, and the
 * interrupt by what it takes to arrive.
 */
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/moduleparam.h>
#include <linux/string.h>

#include "compat/rkmm_compat.h"
#include "soft.h"

static const char * const soft_time_modes[] = {
	[SOFT_TIME_OFF] = "off",
	[SOFT_TIME_REAL] = "real",
	[SOFT_TIME_VIRTUAL] = "virtual",
};

static enum soft_time_mode soft_time_mode;

static int soft_time_mode_set(const char *val, const struct kernel_param *kp)
{
	int mode = sysfs_match_string(soft_time_modes, val);

	if (mode < 0)
		return -EINVAL;
	WRITE_ONCE(soft_time_mode, mode);
	return 0;
}

static int soft_time_mode_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%s\n", soft_time_modes[READ_ONCE(soft_time_mode)]);
}

static const struct kernel_param_ops soft_time_mode_ops = {
	.set = soft_time_mode_set,
	.get = soft_time_mode_get,
};

module_param_cb(time, &soft_time_mode_ops, NULL, 0600);
MODULE_PARM_DESC(time, "time of the chip: off, real (waited for) or virtual (only accounted)");

static const struct npu_time_law *soft_profile;
static char soft_profile_name[16] = "default";

static int soft_profile_set(const char *val, const struct kernel_param *kp)
{
	const struct npu_time_law *law;
	char name[sizeof(soft_profile_name)];

	if (strscpy(name, val, sizeof(name)) < 0)
		return -EINVAL;
	law = npu_time_profile(strim(name));
	if (!law)
		return -EINVAL;
	strscpy(soft_profile_name, strim(name), sizeof(soft_profile_name));
	WRITE_ONCE(soft_profile, law);
	return 0;
}

static int soft_profile_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%s\n", soft_profile_name);
}

static const struct kernel_param_ops soft_profile_ops = {
	.set = soft_profile_set,
	.get = soft_profile_get,
};

module_param_cb(time_profile, &soft_profile_ops, NULL, 0600);
MODULE_PARM_DESC(time_profile, "whose constants: default, 235 or 236");

static unsigned int soft_time_percent = 100;
module_param_named(time_percent, soft_time_percent, uint, 0600);
MODULE_PARM_DESC(time_percent, "all times by so many percent, 1 to 1000000 (default 100)");

static unsigned int soft_time_perturb;
module_param_named(time_perturb, soft_time_perturb, uint, 0600);
MODULE_PARM_DESC(time_perturb, "seed that moves each constant by up to 30 percent, 0: none");

static unsigned int soft_time_seed = 1;
module_param_named(time_seed, soft_time_seed, uint, 0400);
MODULE_PARM_DESC(time_seed, "seed of the spread of real times");

static unsigned int soft_reset_us;
module_param_named(reset_us, soft_reset_us, uint, 0600);
MODULE_PARM_DESC(reset_us,
		 "time of a reset of the NPU in us: 28, 5000, 105000 (default 0, at most 1000000)");

/* A run begins. Worker only. */
void soft_time_begin(struct soft_core *core)
{
	struct npu_time_law *law = &core->law;
	u32 seed = READ_ONCE(soft_time_perturb);

	core->time = READ_ONCE(soft_time_mode);
	*law = *(READ_ONCE(soft_profile) ?: npu_time_profile("default"));
	if (seed)
		npu_time_perturb(law, seed, 30);
	npu_time_scale(law, clamp(READ_ONCE(soft_time_percent), 1U, 1000000U));
	npu_core_set_time(core->model, law);
	core->due = ktime_get_ns();
	core->paced_ns = 0;
	if (!core->random)
		core->random = soft_time_seed + core->index + 1;
}

/*
 * Cores that were given work together with this one: the most that ran at the same time
 * since it was started, whether or not they still do (hw 03 §6.6).
 */
static u32 soft_time_cores(const struct soft_core *core)
{
	return clamp_t(u32, READ_ONCE(core->together), 1, SOFT_CORES);
}

/* A task has done its work: wait until its time is over. True: stop. */
bool soft_time_pace(void *ctx)
{
	struct soft_core *core = ctx;
	u64 ns, now;

	if (core->time == SOFT_TIME_REAL) {
		ns = npu_core_ns(core->model, soft_time_cores(core));
		if (ns > core->paced_ns) {
			core->due += npu_time_jitter(&core->random, ns - core->paced_ns,
						     core->law.sigma);
			core->paced_ns = ns;
		}
		now = ktime_get_ns();
		if (now < core->due)
			soft_run_wait_ns(core, core->due - now);
	}
	return soft_run_aborted(core);
}

/* A run has ended; core->lock held. */
void soft_time_account(struct soft_core *core, const struct npu_report *report)
{
	if (core->time != SOFT_TIME_OFF)
		core->stats.model_ns += report->model_ns[soft_time_cores(core) - 1];
}

static enum hrtimer_restart soft_time_irq(struct hrtimer *timer)
{
	struct soft_core *core = container_of(timer, struct soft_core, irq_timer);
	unsigned long flags;

	spin_lock_irqsave(&core->lock, flags);
	core->irq_held = false;
	spin_unlock_irqrestore(&core->lock, flags);
	soft_irq_update(core);
	return HRTIMER_NORESTART;
}

/* The job's ends become visible now, its interrupt a little later; core->lock held. */
void soft_time_hold_irq(struct soft_core *core)
{
	u32 ns;

	if (core->time != SOFT_TIME_REAL)
		return;
	ns = npu_time_between(&core->random, core->law.irq_least, core->law.irq_most);
	core->irq_held = true;
	hrtimer_start(&core->irq_timer, ns_to_ktime(ns), HRTIMER_MODE_REL);
}

/* The NPU leaves its reset; sleeps. */
void soft_time_reset(struct soft_npu *npu)
{
	unsigned int us = min(READ_ONCE(soft_reset_us), 1000000U);
	enum soft_time_mode mode = READ_ONCE(soft_time_mode);

	if (!us || mode == SOFT_TIME_OFF)
		return;
	atomic64_add((s64)us * NSEC_PER_USEC, &npu->reset_ns);
	if (mode == SOFT_TIME_REAL)
		usleep_range(us, us + us / 16 + 1);
}

void soft_time_init(struct soft_core *core)
{
	rkmm_hrtimer_setup(&core->irq_timer, soft_time_irq, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
}

/* No interrupt is on its way any more; sleeps. */
void soft_time_stop(struct soft_core *core)
{
	unsigned long flags;

	hrtimer_cancel(&core->irq_timer);
	spin_lock_irqsave(&core->lock, flags);
	core->irq_held = false;
	spin_unlock_irqrestore(&core->lock, flags);
}
