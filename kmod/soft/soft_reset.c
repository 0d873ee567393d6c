// SPDX-License-Identifier: GPL-2.0-only
/*
 * What does a reset line do: srst_a and srst_h of each core, hw 01 §4.1.
 *
 * Either line stops the core and makes it forget its registers, and the table of its MMU bank
 * (hw 01 §4.2). What never started is freed by lines of all cores at once only (hw 03 §4.2).
 */
#include <linux/kernel.h>
#include <linux/slab.h>

#include "soft.h"

#define SOFT_RESETS	(2 * SOFT_CORES)	/* A lines, then H lines */
#define SOFT_CON_LEN	8

/*
 * Lookups cannot be taken back, and the list keeps pointing to them: they are
 * allocated, never freed, and name their strings inside the same allocation. A
 * lookup whose provider is gone does no harm: it defers the consumer.
 */
struct soft_lookups {
	struct reset_control_lookup entry[SOFT_RESETS];
	char con_id[SOFT_RESETS][SOFT_CON_LEN];
	char provider[sizeof(SOFT_NAME)];
	char consumer[sizeof(SOFT_CHILD)];
};

static bool soft_lookups_added;

static struct soft_npu *to_npu(struct reset_controller_dev *rcdev)
{
	return container_of(rcdev, struct soft_npu, resets);
}

static int soft_reset_assert(struct reset_controller_dev *rcdev, unsigned long id)
{
	struct soft_npu *npu = to_npu(rcdev);
	struct soft_core *core = &npu->core[id % SOFT_CORES];
	unsigned long flags;
	unsigned int i;
	bool all = true;

	might_sleep();
	if (soft_switch_take(core->index, SOFT_SW_RESET_FAIL))
		return -ETIMEDOUT;
	spin_lock_irqsave(&core->lock, flags);
	core->held |= BIT(id / SOFT_CORES);
	core->blind = true;
	core->stats.resets++;
	spin_unlock_irqrestore(&core->lock, flags);
	soft_run_stop(core, false);
	for (i = 0; i < SOFT_CORES; i++)
		all &= !!READ_ONCE(npu->core[i].held);
	if (all)
		soft_run_free(npu);
	return 0;
}

static int soft_reset_deassert(struct reset_controller_dev *rcdev, unsigned long id)
{
	struct soft_npu *npu = to_npu(rcdev);
	struct soft_core *core = &npu->core[id % SOFT_CORES];
	unsigned long flags;
	bool any = false;
	unsigned int i;
	u32 was, held;

	spin_lock_irqsave(&core->lock, flags);
	was = core->held;
	core->held &= ~BIT(id / SOFT_CORES);
	held = core->held;
	spin_unlock_irqrestore(&core->lock, flags);
	/* however many lines, it is one reset, over with the last of them */
	for (i = 0; i < SOFT_CORES; i++)
		any |= READ_ONCE(npu->core[i].held);
	if (was && !any)
		soft_time_reset(npu);
	if (!held)
		soft_run_allow(core);
	return 0;
}

static int soft_reset_status(struct reset_controller_dev *rcdev, unsigned long id)
{
	struct soft_core *core = &to_npu(rcdev)->core[id % SOFT_CORES];

	return !!(READ_ONCE(core->held) & BIT(id / SOFT_CORES));
}

static const struct reset_control_ops soft_reset_ops = {
	.assert = soft_reset_assert,
	.deassert = soft_reset_deassert,
	.status = soft_reset_status,
};

static int soft_reset_add_lookups(void)
{
	struct soft_lookups *l;
	unsigned int i;

	if (soft_lookups_added)
		return 0;
	l = kzalloc(sizeof(*l), GFP_KERNEL);
	if (!l)
		return -ENOMEM;
	strscpy(l->provider, SOFT_NAME, sizeof(l->provider));
	strscpy(l->consumer, SOFT_CHILD, sizeof(l->consumer));
	for (i = 0; i < SOFT_RESETS; i++) {
		snprintf(l->con_id[i], SOFT_CON_LEN, "srst_%c%u", i < SOFT_CORES ? 'a' : 'h',
			 i % SOFT_CORES);
		l->entry[i].provider = l->provider;
		l->entry[i].index = i;
		l->entry[i].dev_id = l->consumer;
		l->entry[i].con_id = l->con_id[i];
	}
	reset_controller_add_lookup(l->entry, SOFT_RESETS);
	soft_lookups_added = true;
	return 0;
}

int soft_reset_init(struct soft_npu *npu)
{
	int ret;

	npu->resets.ops = &soft_reset_ops;
	npu->resets.owner = THIS_MODULE;
	npu->resets.nr_resets = SOFT_RESETS;
	npu->resets.dev = npu->dev;
	ret = devm_reset_controller_register(npu->dev, &npu->resets);
	return ret ?: soft_reset_add_lookups();
}
