// SPDX-License-Identifier: GPL-2.0-only
/*
 * What does a register access do: one regmap per core, found by
 * dev_get_regmap(parent, "core0").
 *
 * The regmaps hang on the parent device: on the NPU device itself they would be
 * resources present before probing, which the driver core refuses.
 */
#include <linux/err.h>
#include <linux/regmap.h>

#include "soft.h"

/* Byte counters of other chips: reading them hangs the RK3588, hw 01 §1.6. */
static bool soft_regs_hangs(unsigned int reg)
{
	return (reg & ~0xffu) == 0x2200 || (reg & ~0xffu) == 0x2400;
}

static bool soft_regs_reachable(struct soft_core *core, const char *what, unsigned int reg)
{
	struct soft_npu *npu = core->npu;

	if (!READ_ONCE(npu->powered) || !soft_clk_on(npu, SOFT_CLK_HCLK0 + core->index)) {
		soft_error(SOFT_ERR_ACCESS_WHILE_OFF, "core%u: %s of 0x%04x with %s off",
			   core->index, what, reg,
			   READ_ONCE(npu->powered) ? "its bus clock" : "the power domain");
		return false;
	}
	if (READ_ONCE(core->held)) {
		soft_error(SOFT_ERR_ACCESS_IN_RESET, "core%u: %s of 0x%04x", core->index, what,
			   reg);
		return false;
	}
	return true;
}

/*
 * Interrupt bits, raw or masked; core->lock held. While a run is under way its
 * ends of blocks stay hidden: a kick of N tasks interrupts once, after the last
 * (hw 01 §2.1), and the core can be started again as soon as an end is seen.
 */
u32 soft_regs_status(struct soft_core *core, unsigned int reg)
{
	u32 val = npu_core_read(core->model, reg);
	u32 extra = core->extra;

	if (core->state != SOFT_IDLE)
		val &= ~PC_INT_BLOCKS;
	if (reg == PC_INT_STATUS)
		extra &= core->int_mask;
	return val | extra;
}

static int soft_regs_read(void *ctx, unsigned int reg, unsigned int *val)
{
	struct soft_core *core = ctx;
	unsigned long flags;

	*val = 0;
	if (!soft_regs_reachable(core, "read", reg))
		return 0;
	if (soft_regs_hangs(reg)) {
		soft_error(SOFT_ERR_HANGING_READ, "core%u: read of 0x%04x", core->index, reg);
		return 0;
	}
	if (reg != PC_INT_STATUS && reg != PC_INT_RAW_STATUS) {
		*val = npu_core_read(core->model, reg);
		return 0;
	}
	spin_lock_irqsave(&core->lock, flags);
	*val = soft_regs_status(core, reg);
	spin_unlock_irqrestore(&core->lock, flags);
	return 0;
}

static bool soft_regs_may_start(struct soft_core *core)
{
	struct soft_npu *npu = core->npu;

	if (READ_ONCE(core->state) != SOFT_IDLE) {
		soft_error(SOFT_ERR_START_WHILE_BUSY, "core%u", core->index);
		return false;
	}
	if (!soft_clk_on(npu, SOFT_CLK_NPU) || !soft_clk_on(npu, SOFT_CLK_ACLK0 + core->index)) {
		soft_error(SOFT_ERR_START_WITHOUT_CLOCK, "core%u", core->index);
		return false;
	}
	return true;
}

static int soft_regs_write(void *ctx, unsigned int reg, unsigned int val)
{
	struct soft_core *core = ctx;
	unsigned long flags;

	if (!soft_regs_reachable(core, "write", reg))
		return 0;

	spin_lock_irqsave(&core->lock, flags);
	switch (reg) {
	case PC_INT_MASK:
		core->int_mask = val;
		break;
	case PC_INT_CLEAR:
		core->extra &= ~val;
		break;
	case PC_TASK_CONTROL:
		core->task_control = val;
		break;
	}
	spin_unlock_irqrestore(&core->lock, flags);

	if (reg == PC_OP_EN && (val & 1) && !soft_regs_may_start(core))
		return 0;
	if (npu_core_write(core->model, reg, val))
		soft_run_start(core);
	soft_irq_update(core);
	return 0;
}

static const struct regmap_bus soft_regs_bus = {
	.fast_io = true,
	.reg_read = soft_regs_read,
	.reg_write = soft_regs_write,
};

int soft_regs_init(struct soft_npu *npu)
{
	static const char * const names[SOFT_CORES] = { "core0", "core1", "core2" };
	struct regmap_config config = {
		.reg_bits = 32,
		.val_bits = 32,
		.reg_stride = 4,
		.max_register = 0xfffc,
		.disable_locking = true,
		.fast_io = true,
	};
	unsigned int i;

	for (i = 0; i < SOFT_CORES; i++) {
		struct soft_core *core = &npu->core[i];

		config.name = names[i];
		core->regs = devm_regmap_init(npu->dev, &soft_regs_bus, core, &config);
		if (IS_ERR(core->regs))
			return PTR_ERR(core->regs);
	}
	return 0;
}
