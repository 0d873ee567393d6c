// SPDX-License-Identifier: GPL-2.0-only
/*
 * What each chip can do (hw 01 §1.7). The rows that are not marked validated are what the vendor's
 * driver says about those chips; they wait for somebody who has one.
 */
#include <linux/mod_devicetable.h>
#include <linux/module.h>
#include <linux/nvmem-consumer.h>
#include <linux/of.h>
#include <linux/platform_device.h>
#include <linux/property.h>
#include <linux/slab.h>

#include "rkmm_soc.h"

static bool allow_unvalidated;
module_param(allow_unvalidated, bool, 0444);
MODULE_PARM_DESC(allow_unvalidated, "bind to chips that the driver was never checked on");

#define MHZ	1000000ul

/*
 * A window ends before the MMU bank inside it (hw 01 §1.1), which the IOMMU driver may have
 * claimed; of the blocks below, the CPU touches only PC, CNA and CORE.
 */
#define RKMM_CORE_WINDOW	0x9000

static const char * const rk3588_clks[] = {
	"aclk0", "aclk1", "aclk2", "hclk0", "hclk1", "hclk2", "pclk",
};

static const struct rkmm_soc_reset rk3588_resets[] = {
	{ "srst_a0", 0 }, { "srst_a1", 1 }, { "srst_a2", 2 },
	{ "srst_h0", 0 }, { "srst_h1", 1 }, { "srst_h2", 2 },
};

#define RK3588_COMMON						\
	.hw_version = 0x46495245,				\
	.core_base = { 0xfdab0000, 0xfdac0000, 0xfdad0000 },	\
	.core_window = RKMM_CORE_WINDOW,			\
	.irq_names = { "npu0_irq", "npu1_irq", "npu2_irq" },	\
	.dma_bits = 40,						\
	.s_pointer = true,					\
	.task_bits = 12,					\
	.status_reg = 0x3c,					\
	.idle_hz = 200 * MHZ,					\
	.max_hz = 1000 * MHZ,					\
	.core_clk = "clk_npu",					\
	.bus_clks = rk3588_clks,				\
	.nbus_clks = ARRAY_SIZE(rk3588_clks),			\
	.domains = { "npu0", "npu1", "npu2" },			\
	.resets = rk3588_resets,				\
	.nresets = ARRAY_SIZE(rk3588_resets),			\
	.landing = RKMM_LAND_TRAILER,				\
	.limits = &rkmm_limits_rk3588

const struct rkmm_soc rkmm_soc_rk3588 = {
	.name = "rk3588",
	.documented = true,
	.cores = 3,
	RK3588_COMMON,
};

/* The same die with core 2 switched off; its node and clocks are the RK3588's. */
static const struct rkmm_soc rkmm_soc_rk3583 = {
	.name = "rk3583",
	.documented = true,
	.cores = 2,
	RK3588_COMMON,
};

/* What is not known to differ from the RK3588 is taken from it. */
static const struct rkmm_limits limits_rk3576 = {
	.k_max = 10752,
	.n_max = 8192,
	.banks = 12,
	.bank_bytes = 32768,
	.tasks_max = 65535,
	.amount_scale = 2,
	.cost = &rkmm_cost_rk3588,
	.die = &rkmm_dies[0],
};

static const struct rkmm_limits limits_rk356x = {
	.k_max = 10752,
	.n_max = 8192,
	.banks = 12,
	.bank_bytes = 32768,
	.tasks_max = 4095,
	.amount_scale = 1,
	.cost = &rkmm_cost_rk3588,
	.die = &rkmm_dies[0],
};

static const struct rkmm_soc_reset rk3576_resets[] = {
	{ "srst_a0", 0 }, { "srst_a1", 1 },
};

static const struct rkmm_soc_reset rk356x_resets[] = {
	{ "srst_a", 0 }, { "srst_h", 0 },
};

/* MMU banks at 0x2000 of each core; the CPU touches CORE at 0x3000, so the window contains them. */
static const struct rkmm_soc rkmm_soc_rk3576 = {
	.name = "rk3576",
	.cores = 2,
	.core_base = { 0x27700000, 0x27708000 },
	.core_window = 0x8000,
	.irq_names = { "npu0_irq", "npu1_irq" },
	.dma_bits = 40,
	.s_pointer = true,
	.task_bits = 16,
	.status_reg = 0x48,
	.pc_dma_ctrl = true,
	.idle_hz = 200 * MHZ,
	.max_hz = 1000 * MHZ,
	.core_clk = "clk_npu",
	.domains = { "npu0", "npu1" },
	.resets = rk3576_resets,
	.nresets = ARRAY_SIZE(rk3576_resets),
	.landing = RKMM_LAND_TRAILER | RKMM_LAND_WAIT,
	.limits = &limits_rk3576,
};

static const struct rkmm_soc rkmm_soc_rk3568 = {
	.name = "rk3568",
	.cores = 1,
	.core_base = { 0xfde40000 },
	.core_window = RKMM_CORE_WINDOW,
	.irq_names = { "npu_irq" },
	.dma_bits = 32,
	.task_bits = 12,
	.status_reg = 0x3c,
	.idle_hz = 200 * MHZ,
	.max_hz = 900 * MHZ,
	.resets = rk356x_resets,
	.nresets = ARRAY_SIZE(rk356x_resets),
	.landing = RKMM_LAND_TRAILER | RKMM_LAND_WAIT,
	.limits = &limits_rk356x,
};

static const struct rkmm_soc rkmm_soc_rk3562 = {
	.name = "rk3562",
	.cores = 1,
	.core_base = { 0xff300000 },
	.core_window = RKMM_CORE_WINDOW,
	.irq_names = { "npu_irq" },
	.dma_bits = 40,
	.task_bits = 16,
	.status_reg = 0x48,
	.pc_dma_ctrl = true,
	.idle_hz = 200 * MHZ,
	.max_hz = 800 * MHZ,
	.resets = rk356x_resets,
	.nresets = ARRAY_SIZE(rk356x_resets),
	.landing = RKMM_LAND_TRAILER | RKMM_LAND_WAIT,
	.limits = &limits_rk3576,
};

const struct of_device_id rkmm_of_match[] = {
	{ .compatible = "rockchip,rk3588-rknpu", .data = &rkmm_soc_rk3588 },
	{ .compatible = "rockchip,rk3576-rknpu", .data = &rkmm_soc_rk3576 },
	{ .compatible = "rockchip,rk3568-rknpu", .data = &rkmm_soc_rk3568 },
	{ .compatible = "rockchip,rk3562-rknpu", .data = &rkmm_soc_rk3562 },
	{ }
};
MODULE_DEVICE_TABLE(of, rkmm_of_match);

/* The software NPU; rkmm_soft.ko loads first and by hand, so this is not for autoloading. */
const struct platform_device_id rkmm_id_table[] = {
	{ .name = "rkmm-npu", .driver_data = (kernel_ulong_t)&rkmm_soc_rk3588 },
	{ }
};

/*
 * An RK3583 is an RK3588 whose fuses name dead cores (hw 01 §1.7): the node then has a cell
 * "cores", a bit per dead core. Core 2 counts as dead whatever the cell says.
 */
static const struct rkmm_soc *rkmm_soc_rk3588_variant(struct device *dev)
{
	struct nvmem_cell *cell;
	size_t len;
	u8 *dead;
	int ret = 0;

	if (!dev->of_node ||
	    of_property_match_string(dev->of_node, "nvmem-cell-names", "cores") < 0)
		return &rkmm_soc_rk3588;

	cell = nvmem_cell_get(dev, "cores");
	if (IS_ERR(cell))
		return ERR_PTR(dev_err_probe(dev, PTR_ERR(cell), "nvmem cell \"cores\"\n"));
	dead = nvmem_cell_read(cell, &len);
	nvmem_cell_put(cell);
	if (IS_ERR(dead))
		return ERR_PTR(dev_err_probe(dev, PTR_ERR(dead), "nvmem cell \"cores\"\n"));
	if (!len || *dead & 0x3)
		ret = dev_err_probe(dev, -ENODEV, "core 0 or 1 is fused off\n");
	kfree(dead);
	return ret ? ERR_PTR(ret) : &rkmm_soc_rk3583;
}

const struct rkmm_soc *rkmm_soc_detect(struct platform_device *pdev)
{
	const struct platform_device_id *id = platform_get_device_id(pdev);
	struct device *dev = &pdev->dev;
	const struct rkmm_soc *soc = device_get_match_data(dev);

	if (!soc && id)
		soc = (const struct rkmm_soc *)id->driver_data;
	if (!soc)
		return ERR_PTR(dev_err_probe(dev, -ENODEV, "unknown chip\n"));

	if (soc == &rkmm_soc_rk3588)
		soc = rkmm_soc_rk3588_variant(dev);
	if (IS_ERR(soc))
		return soc;

	if (!soc->documented && !allow_unvalidated)
		return ERR_PTR(dev_err_probe(dev, -ENODEV,
					     "%s was never tried; allow_unvalidated=1 does\n",
					     soc->name));
	return soc;
}
