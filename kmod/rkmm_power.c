// SPDX-License-Identifier: GPL-2.0-only
/*
 * Power: who needs it, in which order it comes and goes, reset lines, sleep.
 *
 * Order of power-up (hw 01 §5.5): supplies, clocks, domains, then the device
 * itself, whose runtime PM link resumes the IOMMU; last voltage, read margin and
 * rate. Power-down is the reverse, and begins with the clock at its idle rate.
 */
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/of.h>
#include <linux/platform_device.h>
#include <linux/pm_runtime.h>
#include <linux/slab.h>

#include "rkmm_device.h"
#include "rkmm_job.h"

/* hw 01 §4.2 */
#define RESET_US	10

bool rkmm_power_is_on(struct rkmm_device *rdev)
{
	return READ_ONCE(rdev->power.on);
}

unsigned long rkmm_power_last_rate(struct rkmm_device *rdev)
{
	return READ_ONCE(rdev->power.rate);
}

unsigned long rkmm_power_rate(struct rkmm_device *rdev)
{
	struct rkmm_power *power = &rdev->power;
	unsigned long hz;

	mutex_lock(&power->lock);
	/* With the domain off even reading may hang the machine (hw 01 §5.2). */
	hz = power->on ? clk_get_rate(power->core_clk) : power->rate;
	mutex_unlock(&power->lock);
	return hz;
}

/* ---- on and off ---------------------------------------------------------- */

static int rkmm_power_clocks_on(struct rkmm_power *power)
{
	int ret;

	ret = clk_bulk_prepare_enable(power->nbus_clks, power->bus_clks);
	if (ret)
		return ret;
	ret = clk_prepare_enable(power->core_clk);
	if (ret)
		clk_bulk_disable_unprepare(power->nbus_clks, power->bus_clks);
	return ret;
}

static void rkmm_power_clocks_off(struct rkmm_power *power)
{
	clk_disable_unprepare(power->core_clk);
	clk_bulk_disable_unprepare(power->nbus_clks, power->bus_clks);
}

static int rkmm_power_supplies_on(struct rkmm_power *power)
{
	int i, ret;

	for (i = 0; i < RKMM_SUPPLIES; i++) {
		ret = power->supplies[i] ? regulator_enable(power->supplies[i]) : 0;
		if (ret)
			goto err;
	}
	return 0;
err:
	while (i--)
		if (power->supplies[i])
			regulator_disable(power->supplies[i]);
	return ret;
}

static void rkmm_power_supplies_off(struct rkmm_power *power)
{
	int i = RKMM_SUPPLIES;

	while (i--)
		if (power->supplies[i])
			regulator_disable(power->supplies[i]);
}

static void rkmm_power_set_on(struct rkmm_device *rdev, bool on)
{
	u32 i;

	/* Whoever quietens a core asks under the lock. */
	spin_lock_irq(&rdev->sched.lock);
	WRITE_ONCE(rdev->power.on, on);
	spin_unlock_irq(&rdev->sched.lock);
	if (on)
		return;
	/* A handler that saw it on may still be at the registers; the lines are shared. */
	for (i = 0; i < rdev->ncores; i++)
		if (rdev->cores[i].irq > 0)
			synchronize_irq(rdev->cores[i].irq);
}

static int rkmm_power_up(struct rkmm_device *rdev)
{
	struct rkmm_power *power = &rdev->power;
	int ret;

	ret = rkmm_power_supplies_on(power);
	if (ret)
		return ret;
	ret = rkmm_power_clocks_on(power);
	if (ret)
		goto err_supplies;
	ret = pm_runtime_resume_and_get(rdev->dev);
	if (ret)
		goto err_clocks;
	rkmm_power_set_on(rdev, true);

	ret = rkmm_clock_start(rdev);
	if (ret)
		goto err_park;
	return 0;

err_park:
	rkmm_clock_park(rdev);
	rkmm_power_set_on(rdev, false);
	pm_runtime_put_sync(rdev->dev);
err_clocks:
	rkmm_power_clocks_off(power);
err_supplies:
	rkmm_power_supplies_off(power);
	return ret;
}

static void rkmm_power_down(struct rkmm_device *rdev)
{
	struct rkmm_power *power = &rdev->power;

	rkmm_clock_park(rdev);
	rkmm_power_set_on(rdev, false);
	pm_runtime_put_sync(rdev->dev);
	rkmm_power_clocks_off(power);
	rkmm_power_supplies_off(power);
}

int rkmm_power_get(struct rkmm_device *rdev)
{
	struct rkmm_power *power = &rdev->power;
	int ret = 0;

	mutex_lock(&power->lock);
	if (!power->users)
		ret = rkmm_power_up(rdev);
	if (!ret)
		power->users++;
	mutex_unlock(&power->lock);
	return ret;
}

void rkmm_power_put(struct rkmm_device *rdev)
{
	struct rkmm_power *power = &rdev->power;

	mutex_lock(&power->lock);
	if (!--power->users && !power->lost)
		rkmm_power_down(rdev);
	mutex_unlock(&power->lock);
}

int rkmm_power_cycle(struct rkmm_device *rdev)
{
	struct rkmm_power *power = &rdev->power;
	int ret = -ENODEV;
	u32 i;

	mutex_lock(&power->lock);
	if (power->on) {
		for (i = 0; i < rdev->ncores; i++)
			rkmm_core_quiet(&rdev->cores[i]);
		rkmm_power_down(rdev);
		ret = rkmm_power_up(rdev);
		power->lost = ret;
	}
	mutex_unlock(&power->lock);
	return ret;
}

/* ---- reset --------------------------------------------------------------- */

static int rkmm_power_reset_lines(struct rkmm_device *rdev, u32 mask,
				  int (*change)(struct reset_control *rst))
{
	int ret = 0, err;
	u32 i;

	/* All of them, whatever one says: a line left asserted is worse than one not pulled. */
	for (i = 0; i < rdev->soc->nresets; i++) {
		if (!(mask & BIT(rdev->soc->resets[i].core)))
			continue;
		err = change(rdev->power.resets[i]);
		if (err && !ret)
			ret = err;
	}
	udelay(RESET_US);
	return ret;
}

int rkmm_power_reset(struct rkmm_device *rdev, u32 mask)
{
	int ret, err;

	ret = rkmm_power_reset_lines(rdev, mask, reset_control_assert);
	err = rkmm_power_reset_lines(rdev, mask, reset_control_deassert);
	return ret ?: err;
}

/* ---- system sleep -------------------------------------------------------- */

int rkmm_power_suspend(struct rkmm_device *rdev)
{
	struct rkmm_power *power = &rdev->power;
	u32 i;
	int ret;

	rkmm_sched_hold(rdev);
	mutex_lock(&power->lock);
	if (!power->on) {
		mutex_unlock(&power->lock);
		return 0;
	}
	for (i = 0; i < rdev->ncores; i++)
		rkmm_core_quiet(&rdev->cores[i]);
	rkmm_clock_park(rdev);
	rkmm_power_set_on(rdev, false);
	ret = pm_runtime_force_suspend(rdev->dev);
	if (ret) {
		rkmm_power_set_on(rdev, true);
		rkmm_clock_start(rdev);
	} else {
		power->asleep = true;
		rkmm_power_clocks_off(power);
	}
	mutex_unlock(&power->lock);
	if (ret)
		rkmm_sched_release(rdev);
	return ret;
}

int rkmm_power_resume(struct rkmm_device *rdev)
{
	struct rkmm_power *power = &rdev->power;
	int ret = 0;
	u32 i;

	mutex_lock(&power->lock);
	if (power->asleep) {
		ret = rkmm_power_clocks_on(power);
		if (ret)
			goto out;
		ret = pm_runtime_force_resume(rdev->dev);
		if (ret) {
			rkmm_power_clocks_off(power);
			goto out;
		}
		power->asleep = false;
		rkmm_power_set_on(rdev, true);
		rkmm_mode_lost(rdev, RKMM_MODE_COLD);
		for (i = 0; i < rdev->ncores; i++)
			rkmm_core_quiet(&rdev->cores[i]);
		/* Not being able to go fast is no reason not to go. */
		rkmm_clock_start(rdev);
	}
out:
	mutex_unlock(&power->lock);
	if (!ret && rkmm_power_is_on(rdev))
		ret = rkmm_proof_power(rdev);
	/* Without power nothing may start any more: who waits is told. */
	if (ret) {
		dev_err(rdev->dev, "cannot power up after sleep: %d\n", ret);
		spin_lock_irq(&rdev->sched.lock);
		rdev->sched.dead = true;
		spin_unlock_irq(&rdev->sched.lock);
	}
	rkmm_sched_release(rdev);
	return ret;
}

static int rkmm_pm_suspend(struct device *dev)
{
	struct rkmm_device *rdev = dev_get_drvdata(dev);

	return rdev ? rkmm_power_suspend(rdev) : 0;
}

static int rkmm_pm_resume(struct device *dev)
{
	struct rkmm_device *rdev = dev_get_drvdata(dev);

	return rdev ? rkmm_power_resume(rdev) : 0;
}

DEFINE_SIMPLE_DEV_PM_OPS(rkmm_pm_ops, rkmm_pm_suspend, rkmm_pm_resume);

/* ---- finding everything -------------------------------------------------- */

static int rkmm_power_find_clocks(struct rkmm_device *rdev)
{
	struct rkmm_power *power = &rdev->power;
	const struct rkmm_soc *soc = rdev->soc;
	struct device *dev = rdev->dev;
	u32 i;
	int ret;

	power->core_clk = devm_clk_get(dev, soc->core_clk);
	if (IS_ERR(power->core_clk))
		return dev_err_probe(dev, PTR_ERR(power->core_clk), "clock \"%s\"\n",
				     soc->core_clk ?: "first");

	if (!soc->nbus_clks) {
		ret = devm_clk_bulk_get_all(dev, &power->bus_clks);
		if (ret < 0)
			return dev_err_probe(dev, ret, "clocks\n");
		power->nbus_clks = ret;
		return 0;
	}

	power->bus_clks = devm_kcalloc(dev, soc->nbus_clks, sizeof(*power->bus_clks), GFP_KERNEL);
	if (!power->bus_clks)
		return -ENOMEM;
	power->nbus_clks = soc->nbus_clks;
	for (i = 0; i < soc->nbus_clks; i++)
		power->bus_clks[i].id = soc->bus_clks[i];
	return devm_clk_bulk_get(dev, power->nbus_clks, power->bus_clks);
}

static int rkmm_power_find_resets(struct rkmm_device *rdev)
{
	const struct rkmm_soc *soc = rdev->soc;
	struct reset_control *rst;
	u32 i;

	/* A stuck core is only ever freed by its reset lines, so they must be there. */
	for (i = 0; i < soc->nresets; i++) {
		if (soc->resets[i].core >= soc->cores)
			continue;
		rst = devm_reset_control_get_exclusive(rdev->dev, soc->resets[i].name);
		if (IS_ERR(rst))
			return dev_err_probe(rdev->dev, PTR_ERR(rst), "reset \"%s\"\n",
					     soc->resets[i].name);
		rdev->power.resets[i] = rst;
	}
	return 0;
}

static int rkmm_power_find_supplies(struct rkmm_device *rdev)
{
	static const char * const names[RKMM_SUPPLIES] = { "rknpu", "mem" };
	struct regulator *reg;
	int i;

	for (i = 0; i < RKMM_SUPPLIES; i++) {
		reg = devm_regulator_get_optional(rdev->dev, names[i]);
		if (PTR_ERR(reg) == -ENODEV)
			continue;
		if (IS_ERR(reg))
			return dev_err_probe(rdev->dev, PTR_ERR(reg), "supply \"%s\"\n", names[i]);
		rdev->power.supplies[i] = reg;
	}
	return 0;
}

static int rkmm_power_find_domains(struct rkmm_device *rdev)
{
	struct device *dev = rdev->dev;

	/* Registers of a core without power hang the machine, so nothing is taken for granted. */
	if (dev->of_node && !of_find_property(dev->of_node, "power-domains", NULL))
		return dev_err_probe(dev, -EINVAL, "no power-domains\n");
	return rkmm_rail_hold(dev, rdev->soc);
}

int rkmm_power_init(struct rkmm_device *rdev)
{
	int ret;

	mutex_init(&rdev->power.lock);
	ret = rkmm_power_find_clocks(rdev);
	if (!ret)
		ret = rkmm_power_find_resets(rdev);
	if (!ret)
		ret = rkmm_power_find_supplies(rdev);
	if (!ret)
		ret = rkmm_power_find_domains(rdev);
	if (!ret)
		ret = rkmm_clock_init(rdev);
	if (ret)
		return ret;

	pm_runtime_enable(rdev->dev);
	rdev->power.runtime_pm = true;
	return 0;
}

void rkmm_power_fini(struct rkmm_device *rdev)
{
	struct rkmm_power *power = &rdev->power;

	if (!power->runtime_pm)
		return;
	rkmm_clock_fini(rdev);
	pm_runtime_disable(rdev->dev);
	/* Or it would remember for ever that it could not be resumed. */
	if (power->lost)
		pm_runtime_set_suspended(rdev->dev);
	power->runtime_pm = false;
	mutex_destroy(&power->lock);
}

void rkmm_power_module_init(void)
{
	rkmm_rails_init();
}

void rkmm_power_module_exit(void)
{
	rkmm_rails_exit();
}
