// SPDX-License-Identifier: GPL-2.0-only
/*
 * How does an interrupt reach the driver: a level line per core.
 *
 * The line is evaluated whenever something it depends on changed; if it is high
 * an irq_work delivers it, so that the handler runs in a hard interrupt and
 * never below a register write of its own driver.
 */
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdomain.h>

#include "soft.h"

static bool soft_irq_level(struct soft_core *core)
{
	u32 status;

	if (core->masked || !READ_ONCE(core->npu->powered))
		return false;
	status = soft_regs_status(core, PC_INT_STATUS);
	if (core->silent || core->irq_held)
		status &= ~PC_INT_BLOCKS;
	return status & (PC_INT_BLOCKS | PC_INT_DMA);
}

/* An interrupt for nothing. Any context. */
void soft_irq_ghost(struct soft_core *core)
{
	unsigned long flags;

	spin_lock_irqsave(&core->lock, flags);
	core->ghost = !core->masked && READ_ONCE(core->npu->powered);
	spin_unlock_irqrestore(&core->lock, flags);
	irq_work_queue(&core->irq_work);
}

/* Deliver the interrupt if the line is high. Any context. */
void soft_irq_update(struct soft_core *core)
{
	unsigned long flags;
	bool level;

	spin_lock_irqsave(&core->lock, flags);
	level = soft_irq_level(core);
	spin_unlock_irqrestore(&core->lock, flags);
	if (level)
		irq_work_queue(&core->irq_work);
}

static void soft_irq_deliver(struct irq_work *work)
{
	struct soft_core *core = container_of(work, struct soft_core, irq_work);
	bool level;

	spin_lock(&core->lock);
	level = soft_irq_level(core) || core->ghost;
	core->ghost = false;
	if (level)
		core->stats.irqs++;
	spin_unlock(&core->lock);
	if (level)
		generic_handle_domain_irq(core->npu->irqs, core->index);
}

static void soft_irq_set_masked(struct irq_data *data, bool masked)
{
	struct soft_core *core = irq_data_get_irq_chip_data(data);
	unsigned long flags;

	spin_lock_irqsave(&core->lock, flags);
	core->masked = masked;
	spin_unlock_irqrestore(&core->lock, flags);
}

static void soft_irq_mask(struct irq_data *data)
{
	soft_irq_set_masked(data, true);
}

static void soft_irq_unmask(struct irq_data *data)
{
	soft_irq_set_masked(data, false);
	/* A level line interrupts again as long as nobody has cleared it. */
	soft_irq_update(irq_data_get_irq_chip_data(data));
}

static int soft_irq_set_type(struct irq_data *data, unsigned int type)
{
	return type == IRQ_TYPE_LEVEL_HIGH ? 0 : -EINVAL;
}

static struct irq_chip soft_irq_chip = {
	.name = SOFT_NAME,
	.irq_mask = soft_irq_mask,
	.irq_unmask = soft_irq_unmask,
	.irq_set_type = soft_irq_set_type,
};

static int soft_irq_map(struct irq_domain *domain, unsigned int virq, irq_hw_number_t hw)
{
	struct soft_npu *npu = domain->host_data;

	irq_set_chip_data(virq, &npu->core[hw]);
	irq_set_chip_and_handler(virq, &soft_irq_chip, handle_level_irq);
	/* Without IRQ_LEVEL, enable_irq() would replay from a tasklet. */
	irq_set_status_flags(virq, IRQ_LEVEL);
	irqd_set_trigger_type(irq_get_irq_data(virq), IRQ_TYPE_LEVEL_HIGH);
	return 0;
}

static void soft_irq_unmap(struct irq_domain *domain, unsigned int virq)
{
	irq_set_chip_and_handler(virq, NULL, NULL);
	irq_set_chip_data(virq, NULL);
}

static const struct irq_domain_ops soft_irq_ops = {
	.map = soft_irq_map,
	.unmap = soft_irq_unmap,
};

int soft_irq_init(struct soft_npu *npu)
{
	unsigned int i;

	npu->irqs = irq_domain_create_linear(NULL, SOFT_CORES, &soft_irq_ops, npu);
	if (!npu->irqs)
		return -ENOMEM;

	for (i = 0; i < SOFT_CORES; i++) {
		struct soft_core *core = &npu->core[i];

		core->masked = true;
		core->irq_work = IRQ_WORK_INIT_HARD(soft_irq_deliver);
		core->virq = irq_create_mapping(npu->irqs, i);
		if (!core->virq) {
			soft_irq_fini(npu);
			return -ENOMEM;
		}
	}
	return 0;
}

/* The workers have stopped and the driver has freed its interrupts. */
void soft_irq_fini(struct soft_npu *npu)
{
	unsigned int i;

	for (i = 0; i < SOFT_CORES; i++) {
		if (!npu->core[i].virq)
			continue;
		irq_work_sync(&npu->core[i].irq_work);
		irq_dispose_mapping(npu->core[i].virq);
	}
	irq_domain_remove(npu->irqs);
}
