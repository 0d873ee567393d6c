// SPDX-License-Identifier: GPL-2.0-only
/*
 * Totals of the device, for everybody: the folder rkmm of the NPU's device in sysfs. What
 * single clients do is in fdinfo, which the kernel shows to those who may see it. Documented
 * in Documentation/sysfs.rst.
 */
#include <linux/device.h>
#include <linux/list.h>
#include <linux/sysfs.h>

#include "rkmm_envelope.h"

static ssize_t rkmm_sysfs_number(struct device *dev, char *buf,
				 u64 (*get)(const struct rkmm_device *rdev))
{
	struct rkmm_device *rdev = dev_get_drvdata(dev);
	u64 v;

	spin_lock_irq(&rdev->sched.lock);
	v = get(rdev);
	spin_unlock_irq(&rdev->sched.lock);
	return sysfs_emit(buf, "%llu\n", v);
}

/* One number, read under the lock of the scheduler */
#define RKMM_SYSFS_NUMBER(_name, _value)						\
static u64 _name##_get(const struct rkmm_device *rdev)					\
{											\
	return _value;									\
}											\
static ssize_t _name##_show(struct device *dev, struct device_attribute *attr, char *buf) \
{											\
	return rkmm_sysfs_number(dev, buf, _name##_get);				\
}											\
static DEVICE_ATTR_RO(_name)

RKMM_SYSFS_NUMBER(clients, rdev->sched.nclients);
RKMM_SYSFS_NUMBER(jobs, rdev->sched.jobs);
RKMM_SYSFS_NUMBER(queued, rdev->sched.pushed - rdev->sched.jobs);
RKMM_SYSFS_NUMBER(resets, rdev->sched.resets);
RKMM_SYSFS_NUMBER(resets_forced, rdev->sched.forced);
RKMM_SYSFS_NUMBER(power_cycles, rdev->sched.power_cycles);
RKMM_SYSFS_NUMBER(lost_irqs, rkmm_sched_lost_irqs(rdev));
RKMM_SYSFS_NUMBER(mode_changes, rdev->sched.changes);
RKMM_SYSFS_NUMBER(mode_changes_avoided, rdev->sched.policy.rule[RKMM_RULE_MODE]);
RKMM_SYSFS_NUMBER(mode_resets, rdev->sched.mode_resets);
RKMM_SYSFS_NUMBER(switches, rdev->sched.switches);
RKMM_SYSFS_NUMBER(switches_avoided, rdev->sched.policy.rule[RKMM_RULE_WINDOW]);
RKMM_SYSFS_NUMBER(stagings, rdev->sched.remaps);
RKMM_SYSFS_NUMBER(clock_hz, READ_ONCE(rdev->clock_hz));

/* What a core has been busy so far, what runs included, so that it never steps back */
static int rkmm_sysfs_busy(const struct rkmm_core *core, char *buf, int at)
{
	u64 ns = core->busy_ns;

	if (core->state == RKMM_CORE_BUSY)
		ns += ktime_get_ns() - core->started;
	return sysfs_emit_at(buf, at, "%llu", ns);
}

static int rkmm_sysfs_state(const struct rkmm_core *core, char *buf, int at)
{
	return sysfs_emit_at(buf, at, "%s", rkmm_core_state_name(core->state));
}

static int rkmm_sysfs_mode(const struct rkmm_core *core, char *buf, int at)
{
	return sysfs_emit_at(buf, at, "%s", rkmm_mode_name(core->mode));
}

/* Cores stand in the order of their registers in the device tree, and have numbers. */
static const struct rkmm_core *rkmm_sysfs_core(const struct rkmm_device *rdev, u32 index)
{
	u32 i;

	for (i = 0; i + 1 < rdev->ncores; i++)
		if (rdev->cores[i].index == index)
			break;
	return &rdev->cores[i];
}

/* A word for each core, by their numbers */
static ssize_t rkmm_sysfs_cores(struct device *dev, char *buf,
				int (*emit)(const struct rkmm_core *core, char *buf, int at))
{
	struct rkmm_device *rdev = dev_get_drvdata(dev);
	int at = 0;
	u32 i;

	spin_lock_irq(&rdev->sched.lock);
	for (i = 0; i < rdev->ncores; i++) {
		if (i)
			at += sysfs_emit_at(buf, at, " ");
		at += emit(rkmm_sysfs_core(rdev, i), buf, at);
	}
	spin_unlock_irq(&rdev->sched.lock);
	return at + sysfs_emit_at(buf, at, "\n");
}

static ssize_t busy_ns_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return rkmm_sysfs_cores(dev, buf, rkmm_sysfs_busy);
}
static DEVICE_ATTR_RO(busy_ns);

static ssize_t states_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return rkmm_sysfs_cores(dev, buf, rkmm_sysfs_state);
}
static DEVICE_ATTR_RO(states);

static ssize_t modes_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return rkmm_sysfs_cores(dev, buf, rkmm_sysfs_mode);
}
static DEVICE_ATTR_RO(modes);

/* Root only: everybody waits for a reset. */
static ssize_t reset_store(struct device *dev, struct device_attribute *attr, const char *buf,
			   size_t len)
{
	bool yes;
	int ret = kstrtobool(buf, &yes);

	if (ret || !yes)
		return -EINVAL;
	ret = rkmm_ladder_force(dev_get_drvdata(dev));
	return ret ?: len;
}
static DEVICE_ATTR_WO(reset);

/* Root only: verdicts on geometries, in and out. What comes in is checked for this chip. */
static ssize_t envelope_read(struct file *file, struct kobject *kobj, struct bin_attribute *attr,
			     char *buf, loff_t at, size_t count)
{
	return rkmm_trust_export(dev_get_drvdata(kobj_to_dev(kobj)), buf, at, count);
}

static ssize_t envelope_write(struct file *file, struct kobject *kobj, struct bin_attribute *attr,
			      char *buf, loff_t at, size_t count)
{
	return rkmm_trust_import(dev_get_drvdata(kobj_to_dev(kobj)), buf, at, count);
}

static struct bin_attribute bin_attr_envelope = __BIN_ATTR(envelope, 0600, envelope_read,
							    envelope_write, 0);

static struct bin_attribute *rkmm_sysfs_bin_attrs[] = {
	&bin_attr_envelope,
	NULL
};

static struct attribute *rkmm_sysfs_attrs[] = {
	&dev_attr_busy_ns.attr,
	&dev_attr_clients.attr,
	&dev_attr_clock_hz.attr,
	&dev_attr_jobs.attr,
	&dev_attr_lost_irqs.attr,
	&dev_attr_mode_changes.attr,
	&dev_attr_mode_changes_avoided.attr,
	&dev_attr_mode_resets.attr,
	&dev_attr_modes.attr,
	&dev_attr_power_cycles.attr,
	&dev_attr_queued.attr,
	&dev_attr_reset.attr,
	&dev_attr_resets.attr,
	&dev_attr_resets_forced.attr,
	&dev_attr_stagings.attr,
	&dev_attr_states.attr,
	&dev_attr_switches.attr,
	&dev_attr_switches_avoided.attr,
	NULL
};

static const struct attribute_group rkmm_sysfs_group = {
	.name = "rkmm",
	.attrs = rkmm_sysfs_attrs,
	.bin_attrs = rkmm_sysfs_bin_attrs,
};

const struct attribute_group *rkmm_sysfs_groups[] = {
	&rkmm_sysfs_group,
	NULL
};
