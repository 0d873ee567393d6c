// SPDX-License-Identifier: GPL-2.0
/*
 * The other side of the device tree test (selftests/dt/npu.dts): power domains and core clock of
 * the NPU, first contents of its registers, and for the test program, through debugfs:
 *
 *	phys	physical memory: any RAM, and the registers, which can be written too
 *	state	domains, clock, and how often a rule was broken (hw 01 §5.2)
 *	node	"hide NAME": take a property out of the NPU's node; "spoil LIST ENTRY": change one
 *		name of a list; "cut NAME CELLS": shorten a property; "regs N": only the first N
 *		register windows; "restore": all as it was. For the next probe.
 *	sleep	1: the driver's suspend callback, 0: resume
 */
#include <linux/clk-provider.h>
#include <linux/debugfs.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/of_platform.h>
#include <linux/platform_device.h>
#include <linux/pm_domain.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#define DOMAINS		3
#define IDLE_HZ		200000000ul
#define REGS_BASE	0x7f000000ull
#define REGS_SIZE	0x100000ull
#define CORE(n)		((n) * 0x10000)
#define VERSION		0x46495245

static const u32 dttest_banks[] = { 0x9000, 0xa000, 0x1a000, 0x2a000 };

struct dttest_domain {
	struct generic_pm_domain pd;
	bool on;
};

static struct dttest {
	struct dttest_domain domain[DOMAINS];
	struct generic_pm_domain *pds[DOMAINS];
	struct genpd_onecell_data onecell;
	struct clk_hw clk;
	unsigned long rate;
	u32 rate_changes;
	u32 rate_domain_off;
	u32 off_not_idle;
	void __iomem *regs;
	struct dentry *dir;

	struct device_node *npu;
	u32 num_resources;
	/* one change at a time; under the device's lock */
	struct property *original;
	struct property *changed;
} dttest;

/* ---- power domains and clock ------------------------------------------------ */

static int dttest_power_on(struct generic_pm_domain *pd)
{
	container_of(pd, struct dttest_domain, pd)->on = true;
	return 0;
}

static int dttest_power_off(struct generic_pm_domain *pd)
{
	if (dttest.rate != IDLE_HZ)
		dttest.off_not_idle++;
	container_of(pd, struct dttest_domain, pd)->on = false;
	return 0;
}

static unsigned long dttest_recalc_rate(struct clk_hw *hw, unsigned long parent_rate)
{
	return dttest.rate;
}

static int dttest_determine_rate(struct clk_hw *hw, struct clk_rate_request *req)
{
	req->rate = clamp(req->rate, IDLE_HZ, 5 * IDLE_HZ);
	return 0;
}

static int dttest_set_rate(struct clk_hw *hw, unsigned long rate, unsigned long parent_rate)
{
	int i;

	for (i = 0; i < DOMAINS; i++)
		if (!dttest.domain[i].on)
			dttest.rate_domain_off++;
	dttest.rate = rate;
	dttest.rate_changes++;
	return 0;
}

static const struct clk_ops dttest_clk_ops = {
	.recalc_rate = dttest_recalc_rate,
	.determine_rate = dttest_determine_rate,
	.set_rate = dttest_set_rate,
};

/* Static memory; the core of 6.1 sets no release of its own. */
static void dttest_domain_release(struct device *dev)
{
}

static int dttest_domains_init(struct device *dev)
{
	static const char * const names[DOMAINS] = { "npu0", "npu1", "npu2" };
	int i, ret;

	for (i = 0; i < DOMAINS; i++) {
		struct generic_pm_domain *pd = &dttest.domain[i].pd;

		pd->name = names[i];
		pd->power_on = dttest_power_on;
		pd->power_off = dttest_power_off;
		ret = pm_genpd_init(pd, NULL, true);
		if (!ret && i)
			ret = pm_genpd_add_subdomain(&dttest.domain[0].pd, pd);
		if (ret)
			return ret;
		if (!pd->dev.release)
			pd->dev.release = dttest_domain_release;
		dttest.pds[i] = pd;
	}
	dttest.onecell.domains = dttest.pds;
	dttest.onecell.num_domains = DOMAINS;
	return of_genpd_add_provider_onecell(dev->of_node, &dttest.onecell);
}

static void dttest_domains_fini(struct device *dev)
{
	int i;

	of_genpd_del_provider(dev->of_node);
	for (i = DOMAINS - 1; i >= 0; i--) {
		if (i)
			pm_genpd_remove_subdomain(&dttest.domain[0].pd, &dttest.domain[i].pd);
		pm_genpd_remove(&dttest.domain[i].pd);
	}
}

static int dttest_probe(struct platform_device *pdev)
{
	static const struct clk_init_data init = {
		.name = "clk_npu",
		.ops = &dttest_clk_ops,
		.flags = CLK_GET_RATE_NOCACHE,
	};
	struct device *dev = &pdev->dev;
	int ret;

	memset(dttest.domain, 0, sizeof(dttest.domain));
	dttest.rate = IDLE_HZ;
	dttest.clk.init = &init;
	ret = devm_clk_hw_register(dev, &dttest.clk);
	if (!ret)
		ret = devm_of_clk_add_hw_provider(dev, of_clk_hw_simple_get, &dttest.clk);
	if (!ret)
		ret = dttest_domains_init(dev);
	return ret;
}

/* int before 6.11: the test runs on the board's kernel only */
static int dttest_remove(struct platform_device *pdev)
{
	dttest_domains_fini(&pdev->dev);
	return 0;
}

static const struct of_device_id dttest_of_match[] = {
	{ .compatible = "rkmm,dttest" },
	{ }
};

static struct platform_driver dttest_driver = {
	.probe = dttest_probe,
	.remove = dttest_remove,
	.driver = {
		.name = "rkmm_dttest",
		.of_match_table = dttest_of_match,
	},
};

/* ---- the NPU's node ------------------------------------------------------------ */

static struct platform_device *dttest_npu_device(void)
{
	return of_find_device_by_node(dttest.npu);
}

static void dttest_property_free(struct property *prop)
{
	if (!prop)
		return;
	kfree(prop->name);
	kfree(prop->value);
	kfree(prop);
}

static struct property *dttest_property_copy(const struct property *from)
{
	struct property *prop = kzalloc(sizeof(*prop), GFP_KERNEL);

	if (!prop)
		return NULL;
	prop->name = kstrdup(from->name, GFP_KERNEL);
	prop->value = kmemdup(from->value, from->length, GFP_KERNEL);
	prop->length = from->length;
	if (prop->name && prop->value)
		return prop;
	dttest_property_free(prop);
	return NULL;
}

/*
 * Properties that were taken out stay on the node's list of dead ones, so originals come back as
 * copies, and copies are never freed.
 */
static int dttest_restore(struct platform_device *pdev)
{
	struct property *copy;
	int ret;

	pdev->num_resources = dttest.num_resources;
	if (!dttest.original)
		return 0;
	copy = dttest_property_copy(dttest.original);
	if (!copy)
		return -ENOMEM;
	if (dttest.changed)
		of_remove_property(dttest.npu, dttest.changed);
	dttest.changed = NULL;
	ret = of_add_property(dttest.npu, copy);
	if (!ret)
		dttest.original = NULL;
	return ret;
}

static int dttest_hide(const char *name)
{
	struct property *prop = of_find_property(dttest.npu, name, NULL);

	if (!prop)
		return -ENOENT;
	dttest.original = prop;
	return of_remove_property(dttest.npu, prop);
}

static int dttest_change(struct property *prop, struct property *to)
{
	int ret;

	if (!to)
		return -ENOMEM;
	ret = of_remove_property(dttest.npu, prop);
	if (ret) {
		dttest_property_free(to);
		return ret;
	}
	dttest.original = prop;
	ret = of_add_property(dttest.npu, to);
	if (!ret)
		dttest.changed = to;
	return ret;
}

static int dttest_spoil(const char *list, const char *entry)
{
	struct property *prop = of_find_property(dttest.npu, list, NULL), *to;
	int i = of_property_match_string(dttest.npu, list, entry);
	char *s;

	if (!prop || i < 0)
		return -ENOENT;
	to = dttest_property_copy(prop);
	if (!to)
		return -ENOMEM;
	for (s = to->value; i--; s += strlen(s) + 1)
		;
	*s = 'X';
	return dttest_change(prop, to);
}

static int dttest_cut(const char *name, const char *cells)
{
	struct property *prop = of_find_property(dttest.npu, name, NULL), *to;
	unsigned int n;

	if (!prop || kstrtouint(cells, 0, &n) || 4 * n > prop->length)
		return -ENOENT;
	to = dttest_property_copy(prop);
	if (to)
		to->length = 4 * n;
	return dttest_change(prop, to);
}

static int dttest_regs(struct platform_device *pdev, const char *count)
{
	unsigned int n;

	if (kstrtouint(count, 0, &n) || n > dttest.num_resources)
		return -EINVAL;
	pdev->num_resources = n;
	return 0;
}

static int dttest_node(struct platform_device *pdev, const char *verb, const char *a, const char *b)
{
	int ret = dttest_restore(pdev);

	if (ret || !strcmp(verb, "restore"))
		return ret;
	if (a && !strcmp(verb, "hide"))
		return dttest_hide(a);
	if (a && !strcmp(verb, "regs"))
		return dttest_regs(pdev, a);
	if (a && b && !strcmp(verb, "spoil"))
		return dttest_spoil(a, b);
	if (a && b && !strcmp(verb, "cut"))
		return dttest_cut(a, b);
	return -EINVAL;
}

static ssize_t node_write(struct file *file, const char __user *from, size_t size, loff_t *pos)
{
	struct platform_device *pdev = dttest_npu_device();
	char text[80] = "", *s = text, *verb, *a, *b;
	int ret;

	if (!pdev)
		return -ENODEV;
	ret = -EINVAL;
	if (size >= sizeof(text) || copy_from_user(text, from, size))
		goto out;
	s = strim(s);
	verb = strsep(&s, " ");
	a = strsep(&s, " ");
	b = strsep(&s, " ");

	/* no probe meanwhile */
	device_lock(&pdev->dev);
	ret = pdev->dev.driver ? -EBUSY : dttest_node(pdev, verb, a, b);
	device_unlock(&pdev->dev);
out:
	put_device(&pdev->dev);
	return ret ?: size;
}

static const struct file_operations node_fops = {
	.owner = THIS_MODULE,
	.write = node_write,
};

/* ---- memory ---------------------------------------------------------------------- */

static bool dttest_is_regs(loff_t pos, size_t size)
{
	return pos >= REGS_BASE && pos + size <= REGS_BASE + REGS_SIZE;
}

static ssize_t phys_read(struct file *file, char __user *to, size_t size, loff_t *pos)
{
	size_t n = min_t(size_t, size, PAGE_SIZE - (*pos & ~PAGE_MASK));
	void *copy = kmalloc(PAGE_SIZE, GFP_KERNEL);
	ssize_t ret = n;
	void *map;

	if (!copy)
		return -ENOMEM;
	if (dttest_is_regs(*pos, n)) {
		memcpy_fromio(copy, dttest.regs + (*pos - REGS_BASE), n);
	} else if (pfn_valid(*pos >> PAGE_SHIFT)) {
		map = memremap(*pos & PAGE_MASK, PAGE_SIZE, MEMREMAP_WB);
		if (map) {
			memcpy(copy, map + (*pos & ~PAGE_MASK), n);
			memunmap(map);
		} else {
			ret = -EIO;
		}
	} else {
		ret = -EFAULT;
	}
	if (ret > 0 && copy_to_user(to, copy, n))
		ret = -EFAULT;
	kfree(copy);
	if (ret > 0)
		*pos += ret;
	return ret;
}

static ssize_t phys_write(struct file *file, const char __user *from, size_t size, loff_t *pos)
{
	u32 value;

	if (size != sizeof(value) || *pos % 4 || !dttest_is_regs(*pos, size))
		return -EINVAL;
	if (copy_from_user(&value, from, size))
		return -EFAULT;
	writel(value, dttest.regs + (*pos - REGS_BASE));
	*pos += size;
	return size;
}

static const struct file_operations phys_fops = {
	.owner = THIS_MODULE,
	.llseek = default_llseek,
	.read = phys_read,
	.write = phys_write,
};

/* ---- the rest ----------------------------------------------------------------------- */

static int state_show(struct seq_file *m, void *unused)
{
	int i;

	for (i = 0; i < DOMAINS; i++)
		seq_printf(m, "npu%d %d\n", i, dttest.domain[i].on);
	seq_printf(m, "rate %lu\n", dttest.rate);
	seq_printf(m, "rate_changes %u\n", dttest.rate_changes);
	seq_printf(m, "rate_domain_off %u\n", dttest.rate_domain_off);
	seq_printf(m, "off_not_idle %u\n", dttest.off_not_idle);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(state);

static int sleep_set(void *data, u64 value)
{
	struct platform_device *pdev = dttest_npu_device();
	const struct dev_pm_ops *pm;
	int ret = -ENODEV;

	if (!pdev)
		return ret;
	device_lock(&pdev->dev);
	pm = pdev->dev.driver ? pdev->dev.driver->pm : NULL;
	if (pm && pm->suspend && pm->resume)
		ret = value ? pm->suspend(&pdev->dev) : pm->resume(&pdev->dev);
	device_unlock(&pdev->dev);
	put_device(&pdev->dev);
	return ret;
}
DEFINE_DEBUGFS_ATTRIBUTE(sleep_fops, NULL, sleep_set, "%llu\n");

static int __init dttest_init(void)
{
	struct platform_device *pdev;
	int i, ret = -ENODEV;

	dttest.npu = of_find_node_by_path("/npu@7f000000");
	pdev = dttest.npu ? dttest_npu_device() : NULL;
	if (!pdev)
		goto err_node;
	dttest.num_resources = pdev->num_resources;
	put_device(&pdev->dev);
	dttest.regs = ioremap(REGS_BASE, REGS_SIZE);
	if (!dttest.regs) {
		ret = -ENOMEM;
		goto err_node;
	}
	memset_io(dttest.regs, 0, REGS_SIZE);
	for (i = 0; i < DOMAINS; i++)
		writel(VERSION, dttest.regs + CORE(i));
	/* An IOMMU bank that pages and is stalled: most of what its driver waits for is there. */
	for (i = 0; i < ARRAY_SIZE(dttest_banks); i++)
		writel(0x5, dttest.regs + dttest_banks[i] + 0x04);

	ret = platform_driver_register(&dttest_driver);
	if (ret)
		goto err_map;
	dttest.dir = debugfs_create_dir("rkmm_dttest", NULL);
	debugfs_create_file("phys", 0600, dttest.dir, NULL, &phys_fops);
	debugfs_create_file("state", 0400, dttest.dir, NULL, &state_fops);
	debugfs_create_file("node", 0200, dttest.dir, NULL, &node_fops);
	debugfs_create_file_unsafe("sleep", 0200, dttest.dir, NULL, &sleep_fops);
	return 0;

err_map:
	iounmap(dttest.regs);
err_node:
	of_node_put(dttest.npu);
	return ret;
}
module_init(dttest_init);

static void __exit dttest_exit(void)
{
	debugfs_remove(dttest.dir);
	platform_driver_unregister(&dttest_driver);
	iounmap(dttest.regs);
	of_node_put(dttest.npu);
}
module_exit(dttest_exit);

MODULE_DESCRIPTION("Device tree test of rkmm: power domains, clock and memory of an NPU made of RAM");
MODULE_LICENSE("GPL");
MODULE_INFO(test, "Y");
