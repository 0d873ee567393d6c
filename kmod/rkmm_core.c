// SPDX-License-Identifier: GPL-2.0-only
/*
 * One NPU core: start a chain, read progress, acknowledge, interrupt.
 *
 * Register sequence: hw 01 §2.1. Only the PC block and the two S_POINTER
 * registers are ever touched by the CPU; everything else is written by
 * programs. 0x22xx and 0x24xx must never be read (hw 01 §1.6), so the regmap
 * knows no other register.
 */
#include <linux/bitfield.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/platform_device.h>
#include <linux/regmap.h>

#include "rkmm_device.h"
#include "rkmm_job.h"

#define PC_VERSION		0x0000
#define PC_VERSION_NUM		0x0004
#define PC_OP_EN		0x0008
#define PC_DATA_ADDR		0x0010
#define   PC_DATA_ADDR_SLAVE	BIT(0)
#define PC_DATA_AMOUNT		0x0014
#define PC_INT_MASK		0x0020
#define PC_INT_CLEAR		0x0024
#define   PC_INT_ALL		0x1ffff
#define PC_INT_STATUS		0x0028
#define PC_INT_RAW		0x002c
#define PC_TASK_CON		0x0030
#define PC_DMA_BASE		0x0034
#define CNA_S_POINTER		0x1004
#define CORE_S_POINTER		0x3004
/* POINTER_PP_EN | EXECUTER_PP_EN | POINTER_PP_MODE, core number in 29:28 (hw 01 §1.5) */
#define   S_POINTER_PP		0xe
#define   S_POINTER_CORE(n)	((n) << 28)

static bool rkmm_core_readable(struct device *dev, unsigned int reg)
{
	return reg <= 0x48 && reg != PC_INT_CLEAR;
}

static bool rkmm_core_writeable(struct device *dev, unsigned int reg)
{
	return (reg >= PC_OP_EN && reg <= PC_DMA_BASE) || reg == CNA_S_POINTER ||
	       reg == CORE_S_POINTER;
}

static const struct regmap_config rkmm_regmap_config = {
	.reg_bits = 32,
	.val_bits = 32,
	.reg_stride = 4,
	.max_register = CORE_S_POINTER,
	.readable_reg = rkmm_core_readable,
	.writeable_reg = rkmm_core_writeable,
	/* rkmm_sched.lock serialises; this also keeps regmap out of debugfs */
	.disable_locking = true,
};

static u32 rkmm_core_read(struct rkmm_core *core, u32 reg)
{
	unsigned int val = 0;

	regmap_read(core->regs, reg, &val);
	return val;
}

void rkmm_core_kick(struct rkmm_core *core, const struct rkmm_kick *kick)
{
	const struct rkmm_soc *soc = core->rdev->soc;
	u32 pointer = S_POINTER_PP | S_POINTER_CORE(core->index);
	struct regmap *regs = core->regs;

	core->int_mask = kick->int_mask;

	/* Program memory is write-combined: drain it before the start. */
	wmb();
	regmap_write(regs, PC_DATA_ADDR, PC_DATA_ADDR_SLAVE);
	if (soc->s_pointer) {
		regmap_write(regs, CNA_S_POINTER, pointer);
		regmap_write(regs, CORE_S_POINTER, pointer);
	}
	regmap_write(regs, PC_DATA_ADDR, kick->addr);
	regmap_write(regs, PC_DATA_AMOUNT, kick->amount);
	regmap_write(regs, PC_INT_MASK, kick->int_mask | RKMM_INT_ERRORS);
	regmap_write(regs, PC_INT_CLEAR, PC_INT_ALL);
	/* The 6 is "clear the task counter" and a bit that everybody sets (hw 01 §1.3). */
	regmap_write(regs, PC_TASK_CON,
		     (6u | kick->pingpong) << soc->task_bits | kick->tasks);
	regmap_write(regs, PC_DMA_BASE, 0);
	regmap_write(regs, PC_OP_EN, 1);
	regmap_write(regs, PC_OP_EN, 0);
}

void rkmm_core_status(struct rkmm_core *core, struct rkmm_core_status *st)
{
	const struct rkmm_soc *soc = core->rdev->soc;

	st->raw = rkmm_core_read(core, PC_INT_RAW);
	st->status = rkmm_core_read(core, PC_INT_STATUS);
	st->task = rkmm_core_read(core, soc->status_reg) & (BIT(soc->task_bits) - 1);
}

u32 rkmm_core_raw(struct rkmm_core *core)
{
	return rkmm_core_read(core, PC_INT_RAW);
}

void rkmm_core_ack(struct rkmm_core *core)
{
	regmap_write(core->regs, PC_INT_CLEAR, PC_INT_ALL);
}

void rkmm_core_quiet(struct rkmm_core *core)
{
	/* After a resume that failed there is nothing to quiet, and a write would abort. */
	if (!rkmm_power_is_on(core->rdev))
		return;
	regmap_write(core->regs, PC_INT_MASK, 0);
	regmap_write(core->regs, PC_DATA_ADDR, PC_DATA_ADDR_SLAVE);
	regmap_write(core->regs, PC_OP_EN, 0);
	regmap_write(core->regs, PC_INT_CLEAR, PC_INT_ALL);
}

int rkmm_core_identify(struct rkmm_core *core)
{
	struct rkmm_device *rdev = core->rdev;
	u32 version = rkmm_core_read(core, PC_VERSION);

	if (rdev->soc->hw_version && version != rdev->soc->hw_version) {
		dev_err(rdev->dev, "core%u: version register reads %#x, not %#x\n", core->index,
			version, rdev->soc->hw_version);
		return -ENODEV;
	}
	rdev->hw_version = version + (rkmm_core_read(core, PC_VERSION_NUM) & 0xffff);
	rkmm_core_quiet(core);
	return 0;
}

static irqreturn_t rkmm_core_irq(int irq, void *arg)
{
	struct rkmm_core *core = arg;

	/* The line is shared with the IOMMU bank and may fire after power-off (hw 01 B15). */
	if (!rkmm_power_is_on(core->rdev))
		return IRQ_NONE;
	return rkmm_sched_irq(core);
}

int rkmm_core_request_irq(struct rkmm_core *core)
{
	int ret;

	/* Level and polarity come from the device tree. */
	ret = request_irq(core->irq, rkmm_core_irq, IRQF_SHARED, "rkmm", core);
	core->irq_requested = !ret;
	return ret;
}

void rkmm_core_release_irq(struct rkmm_core *core)
{
	if (core->irq_requested)
		free_irq(core->irq, core);
	core->irq_requested = false;
}

/*
 * The registers: a memory resource on a board, else a regmap of the parent (the
 * software NPU). The IOMMU banks lie inside the core windows and may already be
 * claimed, so the window is mapped without requesting it (hw 01 §1.1).
 */
static struct regmap *rkmm_core_regmap(struct rkmm_device *rdev, u32 resource, u32 *index)
{
	struct platform_device *pdev = to_platform_device(rdev->dev);
	struct resource *res = platform_get_resource(pdev, IORESOURCE_MEM, resource);
	char name[] = "core0";
	struct regmap *regs;
	void __iomem *base;
	u32 i;

	if (!res) {
		if (rdev->dev->of_node)
			return ERR_PTR(dev_err_probe(rdev->dev, -EINVAL,
						     "no register window %u\n", resource));
		name[4] += resource;
		*index = resource;
		regs = rdev->dev->parent ? dev_get_regmap(rdev->dev->parent, name) : NULL;
		return regs ?: ERR_PTR(dev_err_probe(rdev->dev, -ENODEV, "no regmap %s\n", name));
	}

	for (i = 0; i < rdev->soc->cores; i++)
		if (rdev->soc->core_base[i] == res->start)
			break;
	/* A window that is not in the table (another board layout) keeps its place in the list. */
	*index = i < rdev->soc->cores ? i : resource;

	base = devm_ioremap(rdev->dev, res->start,
			    min_t(resource_size_t, resource_size(res), rdev->soc->core_window));
	if (!base)
		return ERR_PTR(-ENOMEM);
	return devm_regmap_init_mmio(rdev->dev, base, &rkmm_regmap_config);
}

int rkmm_core_init(struct rkmm_device *rdev, u32 resource)
{
	struct rkmm_core *core = &rdev->cores[resource];
	struct regmap *regs;
	u32 index;
	int irq;

	regs = rkmm_core_regmap(rdev, resource, &index);
	if (IS_ERR(regs))
		return PTR_ERR(regs);

	irq = platform_get_irq_byname(to_platform_device(rdev->dev),
				      rdev->soc->irq_names[index]);
	if (irq < 0)
		return irq;

	core->rdev = rdev;
	core->index = index;
	core->regs = regs;
	core->irq = irq;
	core->state = RKMM_CORE_IDLE;
	return 0;
}
