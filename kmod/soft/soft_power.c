// SPDX-License-Identifier: GPL-2.0-only
/*
 * When is the NPU powered, and at which points may it run, hw 01 §5.
 *
 * The NPU device sits in one power domain; its runtime PM switches it. What the
 * cores knew is gone when it goes off.
 */
#include <linux/device.h>
#include <linux/pm_domain.h>
#include <linux/pm_opp.h>

#include "soft.h"

/* RK3588 default bin, hw 01 §5.3 */
static const struct {
	unsigned long hz;
	unsigned long uv;
} soft_opps[] = {
	{ 300000000, 700000 },
	{ 400000000, 700000 },
	{ 500000000, 700000 },
	{ 600000000, 700000 },
	{ 700000000, 700000 },
	{ 800000000, 750000 },
	{ 900000000, 800000 },
	{ 1000000000, 850000 },
};

static int soft_power_on(struct generic_pm_domain *pd)
{
	struct soft_npu *npu = container_of(pd, struct soft_npu, pd);
	unsigned int i;

	for (i = 0; i < SOFT_CORES; i++)
		if (soft_switch_take(i, SOFT_SW_POWER_FAIL))
			return -ETIMEDOUT;
	npu->power_cycles++;
	WRITE_ONCE(npu->powered, true);
	for (i = 0; i < SOFT_CORES; i++)
		if (!READ_ONCE(npu->core[i].held))
			soft_run_allow(&npu->core[i]);
	return 0;
}

static int soft_power_off(struct generic_pm_domain *pd)
{
	struct soft_npu *npu = container_of(pd, struct soft_npu, pd);
	unsigned int i;

	if (npu->clk[SOFT_CLK_NPU].rate != SOFT_IDLE_RATE)
		soft_error(SOFT_ERR_OFF_NOT_IDLE_RATE, "clk_npu at %lu Hz",
			   npu->clk[SOFT_CLK_NPU].rate);
	for (i = 0; i < SOFT_CORES; i++)
		if (soft_run_busy(&npu->core[i]))
			soft_error(SOFT_ERR_OFF_WHILE_BUSY, "core%u", i);

	WRITE_ONCE(npu->powered, false);
	for (i = 0; i < SOFT_CORES; i++)
		soft_run_stop(&npu->core[i], true);
	for (i = 0; i < SOFT_CORES; i++)
		npu_core_power_off(npu->core[i].model);
	return 0;
}

/* The domain is part of struct soft_npu, but its device insists on being released. */
static void soft_power_release(struct device *dev)
{
}

int soft_power_init(struct soft_npu *npu)
{
	int ret;

	npu->pd.dev.release = soft_power_release;
	npu->pd.name = SOFT_NAME;
	npu->pd.power_on = soft_power_on;
	npu->pd.power_off = soft_power_off;
	ret = pm_genpd_init(&npu->pd, NULL, true);
	npu->have_pd = !ret;
	return ret;
}

void soft_power_fini(struct soft_npu *npu)
{
	int ret;

	if (!npu->have_pd)
		return;
	ret = pm_genpd_remove(&npu->pd);
	if (ret)
		dev_err(npu->dev, "the power domain stays behind: %d\n", ret);
}

/* Before the NPU device can be bound: its domain and operating points. */
int soft_power_attach(struct soft_npu *npu)
{
	struct device *dev = &npu->child->dev;
	unsigned int i;
	int ret;

	ret = pm_genpd_add_device(&npu->pd, dev);
	if (ret)
		return ret;
	for (i = 0; i < ARRAY_SIZE(soft_opps); i++) {
		ret = dev_pm_opp_add(dev, soft_opps[i].hz, soft_opps[i].uv);
		if (ret) {
			soft_power_detach(npu);
			return ret;
		}
	}
	return 0;
}

void soft_power_detach(struct soft_npu *npu)
{
	struct device *dev = &npu->child->dev;

	dev_pm_opp_remove_all_dynamic(dev);
	if (pm_genpd_remove_device(dev))
		dev_err(npu->dev, "the NPU device does not leave its power domain\n");
}
