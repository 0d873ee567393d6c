// SPDX-License-Identifier: GPL-2.0-only
/*
 * One NPU core: start a chain, read progress, acknowledge, interrupt.
 *
 * Register sequence: hw 01 §2.1. Only the PC block and the two S_POINTER
 * registers are ever touched by the CPU; everything else is written by
 * programs. 0x22xx and 0x24xx must never be read (hw 01 §1.6), so there are two
 * tables of what may be.
 */
#include <linux/bitfield.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/platform_device.h>
#include <linux/regmap.h>

#include "prog/rkmm_dump.h"
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
#define PC_LAST			0x0048
#define CNA_S_POINTER		0x1004
#define CORE_S_POINTER		0x3004
/* POINTER_PP_EN | EXECUTER_PP_EN | POINTER_PP_MODE, core number in 29:28 (hw 01 §1.5) */
#define   S_POINTER_PP		0xe
#define   S_POINTER_CORE(n)	((n) << 28)

const char *rkmm_core_state_name(enum rkmm_core_state state)
{
	static const char * const names[] = {
		[RKMM_CORE_IDLE] = "idle",
		[RKMM_CORE_BUSY] = "busy",
		[RKMM_CORE_PROOF] = "proof",
		[RKMM_CORE_STUCK] = "stuck",
		[RKMM_CORE_OFF] = "off",
	};

	return names[state];
}

static __always_inline bool rkmm_core_readable(u32 reg)
{
	return reg <= PC_LAST && reg != PC_INT_CLEAR;
}

static __always_inline bool rkmm_core_writeable(u32 reg)
{
	return (reg >= PC_OP_EN && reg <= PC_DMA_BASE) || reg == CNA_S_POINTER ||
	       reg == CORE_S_POINTER;
}

/* Ordered before what follows: it may be a look at what the NPU wrote. */
static __always_inline u32 rkmm_core_read(struct rkmm_core *core, u32 reg)
{
	unsigned int val = 0;

	if (!rkmm_core_readable(reg))
		return 0;
	if (core->base)
		return readl(core->base + reg);
	regmap_read(core->regs, reg, &val);
	return val;
}

/* Writes to one device arrive in order; memory that it reads is another matter, see the kick. */
static __always_inline void rkmm_core_write(struct rkmm_core *core, u32 reg, u32 val)
{
	BUILD_BUG_ON(!rkmm_core_writeable(reg));
	if (core->base)
		writel_relaxed(val, core->base + reg);
	else
		regmap_write(core->regs, reg, val);
}

void rkmm_core_kick(struct rkmm_core *core, const struct rkmm_kick *kick)
{
	const struct rkmm_soc *soc = core->rdev->soc;
	u32 pointer = S_POINTER_PP | S_POINTER_CORE(core->index);
	u32 addr = kick->addr, amount = kick->amount;

	if (core->kept) {
		addr = kick->kept_addr;
		amount = kick->kept_amount;
	}

	core->int_mask = kick->int_mask;

	/* Program memory is write-combined: drain it before the start. */
	wmb();
	rkmm_core_write(core, PC_DATA_ADDR, PC_DATA_ADDR_SLAVE);
	if (soc->s_pointer) {
		rkmm_core_write(core, CNA_S_POINTER, pointer);
		rkmm_core_write(core, CORE_S_POINTER, pointer);
	}
	rkmm_core_write(core, PC_DATA_ADDR, addr);
	rkmm_core_write(core, PC_DATA_AMOUNT, amount);
	rkmm_core_write(core, PC_INT_MASK, kick->int_mask | RKMM_INT_ERRORS);
	rkmm_core_write(core, PC_INT_CLEAR, PC_INT_ALL);
	/* The 6 is "clear the task counter" and a bit that everybody sets (hw 01 §1.3). */
	rkmm_core_write(core, PC_TASK_CON,
			(6u | kick->pingpong) << soc->task_bits | kick->tasks);
	rkmm_core_write(core, PC_DMA_BASE, 0);
	rkmm_core_write(core, PC_OP_EN, 1);
	rkmm_core_write(core, PC_OP_EN, 0);
}

void rkmm_core_status(struct rkmm_core *core, struct rkmm_core_status *st)
{
	const struct rkmm_soc *soc = core->rdev->soc;

	st->raw = rkmm_core_read(core, PC_INT_RAW);
	st->status = rkmm_core_read(core, PC_INT_STATUS);
	st->task = rkmm_core_read(core, soc->status_reg) & (BIT(soc->task_bits) - 1);
}

u32 rkmm_core_dump(struct rkmm_core *core, struct rkmm_dump_reg *regs, u32 most)
{
	u32 reg, n = 0;

	for (reg = 0; n < most && reg <= PC_LAST; reg += 4) {
		if (!rkmm_core_readable(reg))
			continue;
		regs[n++] = (struct rkmm_dump_reg){
			.reg = reg, .value = rkmm_core_read(core, reg),
		};
	}
	return n;
}

u32 rkmm_core_raw(struct rkmm_core *core)
{
	return rkmm_core_read(core, PC_INT_RAW);
}

void rkmm_core_ack(struct rkmm_core *core)
{
	rkmm_core_write(core, PC_INT_CLEAR, PC_INT_ALL);
}

void rkmm_core_quiet(struct rkmm_core *core)
{
	/* Before and after a reset or sleep: nobody knows what is in it (hw 04 §2.6). */
	core->table = 0;
	/* After a resume that failed there is nothing to quiet, and a write would abort. */
	if (!rkmm_power_is_on(core->rdev))
		return;
	rkmm_core_write(core, PC_INT_MASK, 0);
	rkmm_core_write(core, PC_DATA_ADDR, PC_DATA_ADDR_SLAVE);
	rkmm_core_write(core, PC_OP_EN, 0);
	rkmm_core_write(core, PC_INT_CLEAR, PC_INT_ALL);
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

/* The software NPU's registers are a regmap of the parent. */
static int rkmm_core_regmap(struct rkmm_core *core, u32 resource)
{
	struct device *dev = core->rdev->dev;
	char name[] = "core0";

	if (dev->of_node)
		return dev_err_probe(dev, -EINVAL, "no register window %u\n", resource);
	name[4] += resource;
	core->index = resource;
	core->regs = dev->parent ? dev_get_regmap(dev->parent, name) : NULL;
	if (!core->regs)
		return dev_err_probe(dev, -ENODEV, "no regmap %s\n", name);
	return 0;
}

/*
 * A board's are a memory resource. The IOMMU banks lie inside the core windows and may already be
 * claimed, so the window is mapped without requesting it (hw 01 §1.1).
 */
static int rkmm_core_map(struct rkmm_core *core, u32 resource)
{
	struct rkmm_device *rdev = core->rdev;
	struct platform_device *pdev = to_platform_device(rdev->dev);
	struct resource *res = platform_get_resource(pdev, IORESOURCE_MEM, resource);
	u32 i;

	if (!res)
		return rkmm_core_regmap(core, resource);

	for (i = 0; i < rdev->soc->cores; i++)
		if (rdev->soc->core_base[i] == res->start)
			break;
	/* A window that is not in the table (another board layout) keeps its place in the list. */
	core->index = i < rdev->soc->cores ? i : resource;

	core->base = devm_ioremap(rdev->dev, res->start,
				  min_t(resource_size_t, resource_size(res),
					rdev->soc->core_window));
	return core->base ? 0 : -ENOMEM;
}

int rkmm_core_init(struct rkmm_device *rdev, u32 resource)
{
	struct rkmm_core *core = &rdev->cores[resource];
	int irq, ret;

	core->rdev = rdev;
	rkmm_landing_setup(core);
	rkmm_poll_setup(core);
	ret = rkmm_core_map(core, resource);
	if (ret)
		return ret;

	irq = platform_get_irq_byname(to_platform_device(rdev->dev),
				      rdev->soc->irq_names[core->index]);
	if (irq < 0)
		return irq;

	core->irq = irq;
	core->state = RKMM_CORE_IDLE;
	return 0;
}
