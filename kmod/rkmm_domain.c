// SPDX-License-Identifier: GPL-2.0-only
/*
 * A node with several power domains (hw 01 §5.1): the bus attaches none of them
 * to the device, so each is attached by name.
 *
 * They are powered from the moment the module is loaded, before any probe, to
 * the moment it is unloaded. The IOMMU of the vendor's node has banks in all
 * domains, but no power domain of its own; a runtime PM link makes it resume
 * with the NPU. Once that link exists, the driver core resumes the IOMMU before
 * it calls probe, and it suspends it, asynchronously, some time after remove.
 * Both touch every bank.
 */
#include <linux/device.h>
#include <linux/iopoll.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/of.h>
#include <linux/of_platform.h>
#include <linux/platform_device.h>
#include <linux/pm_domain.h>
#include <linux/pm_runtime.h>
#include <linux/regulator/consumer.h>
#include <linux/slab.h>

#include "rkmm_power.h"

/* The vendor's driver waits 20 ms (hw 01 §5.4); nothing hurries an unload. */
#define IOMMU_POLL_US		1000
#define IOMMU_TIMEOUT_US	500000

/* The domains of one node. */
struct rkmm_rail {
	struct list_head node;
	struct device *dev;
	/* on before the domains: without it they never acknowledge */
	struct regulator *vdd;
	struct device *domains[RKMM_MAX_CORES];
	struct device_link *links[RKMM_MAX_CORES];
	u32 powered;
	/* touches registers in all domains until it is suspended */
	struct device *iommu;
};

static DEFINE_MUTEX(rkmm_rails_lock);
static LIST_HEAD(rkmm_rails);

/* Registers in a domain that is off take the whole bus down. */
static bool rkmm_rail_iommu_quiet(struct rkmm_rail *rail)
{
	bool suspended;

	if (!rail->iommu)
		return true;
	return !read_poll_timeout(pm_runtime_status_suspended, suspended, suspended, IOMMU_POLL_US,
				  IOMMU_TIMEOUT_US, false, rail->iommu);
}

static void rkmm_rail_free(struct rkmm_rail *rail)
{
	int i;

	while (rail->powered)
		pm_runtime_put_sync(rail->domains[--rail->powered]);
	for (i = RKMM_MAX_CORES - 1; i >= 0; i--) {
		if (rail->links[i])
			device_link_del(rail->links[i]);
		if (rail->domains[i])
			dev_pm_domain_detach(rail->domains[i], true);
	}
	if (rail->vdd) {
		regulator_disable(rail->vdd);
		regulator_put(rail->vdd);
	}
	put_device(rail->iommu);
	put_device(rail->dev);
	kfree(rail);
}

static struct device *rkmm_rail_find_iommu(struct device *dev)
{
	struct device_node *np = of_parse_phandle(dev->of_node, "iommus", 0);
	struct platform_device *pdev;

	if (!np)
		return NULL;
	pdev = of_find_device_by_node(np);
	of_node_put(np);
	return pdev ? &pdev->dev : NULL;
}

static int rkmm_rail_supply(struct rkmm_rail *rail)
{
	struct regulator *vdd = regulator_get_optional(rail->dev, "rknpu");
	int ret;

	if (IS_ERR(vdd))
		return PTR_ERR(vdd) == -ENODEV ? 0 : PTR_ERR(vdd);
	ret = regulator_enable(vdd);
	if (ret) {
		regulator_put(vdd);
		return ret;
	}
	rail->vdd = vdd;
	return 0;
}

static int rkmm_rail_domain(struct rkmm_rail *rail, u32 i, const char *name)
{
	struct device *domain = dev_pm_domain_attach_by_name(rail->dev, name);

	if (IS_ERR_OR_NULL(domain))
		return domain ? PTR_ERR(domain) : -EINVAL;
	rail->domains[i] = domain;

	/*
	 * For the order of system sleep only. Runtime PM is explicit: with a
	 * runtime PM link, the IOMMU, whose link is older, would resume first.
	 */
	rail->links[i] = device_link_add(rail->dev, domain, DL_FLAG_STATELESS);
	if (!rail->links[i])
		return -EINVAL;
	return pm_runtime_resume_and_get(domain);
}

/* Lock held. */
static struct rkmm_rail *rkmm_rail_new(struct device *dev, const struct rkmm_soc *soc)
{
	struct rkmm_rail *rail = kzalloc(sizeof(*rail), GFP_KERNEL);
	int ret;
	u32 i;

	if (!rail)
		return ERR_PTR(-ENOMEM);
	rail->dev = get_device(dev);
	rail->iommu = rkmm_rail_find_iommu(dev);

	ret = rkmm_rail_supply(rail);
	if (ret) {
		dev_err_probe(dev, ret, "supply \"rknpu\"\n");
		goto err;
	}
	/* Core 0's domain is the parent of the others'. */
	for (i = 0; i < soc->cores; i++) {
		ret = rkmm_rail_domain(rail, i, soc->domains[i]);
		if (ret) {
			dev_err_probe(dev, ret, "power domain \"%s\"\n", soc->domains[i]);
			goto err;
		}
		rail->powered = i + 1;
	}
	list_add(&rail->node, &rkmm_rails);
	return rail;
err:
	rkmm_rail_free(rail);
	return ERR_PTR(ret);
}

static int rkmm_rail_count(struct device_node *np)
{
	return of_count_phandle_with_args(np, "power-domains", "#power-domain-cells");
}

int rkmm_rail_hold(struct device *dev, const struct rkmm_soc *soc)
{
	struct rkmm_rail *rail;
	int ret = 0;

	if (!dev->of_node || rkmm_rail_count(dev->of_node) < 2)
		return 0;

	mutex_lock(&rkmm_rails_lock);
	list_for_each_entry(rail, &rkmm_rails, node)
		if (rail->dev == dev)
			goto out;
	ret = PTR_ERR_OR_ZERO(rkmm_rail_new(dev, soc));
out:
	mutex_unlock(&rkmm_rails_lock);
	return ret;
}

void rkmm_rails_init(void)
{
	const struct of_device_id *match;
	struct platform_device *pdev;
	struct device_node *np;

	for_each_matching_node_and_match(np, rkmm_of_match, &match) {
		const struct rkmm_soc *soc = match->data;

		if (!soc->documented || !of_device_is_available(np))
			continue;
		pdev = of_find_device_by_node(np);
		if (!pdev)
			continue;
		/* A node that another driver has is not ours to power. */
		if (!pdev->dev.driver)
			rkmm_rail_hold(&pdev->dev, soc);
		put_device(&pdev->dev);
	}
}

void rkmm_rails_exit(void)
{
	struct rkmm_rail *rail, *next;

	mutex_lock(&rkmm_rails_lock);
	list_for_each_entry_safe(rail, next, &rkmm_rails, node) {
		list_del(&rail->node);
		if (rkmm_rail_iommu_quiet(rail))
			rkmm_rail_free(rail);
		else
			dev_warn(rail->dev, "the IOMMU did not suspend: power stays on\n");
	}
	mutex_unlock(&rkmm_rails_lock);
}
