// SPDX-License-Identifier: GPL-2.0-only
/*
 * Datapath modes: what a transition takes on this device.
 *
 * The table is prog/rkmm_modes.c. Here is what is made of it: on silicon what it says; on the
 * software NPU, which has no such hazard unless it is told to, no resets.
 */
#include <linux/module.h>
#include <linux/seq_file.h>

#include "rkmm_job.h"

static char *transitions = "auto";
module_param(transitions, charp, 0444);
MODULE_PARM_DESC(transitions,
		 "Between datapath modes: auto (default: table on silicon, warm on the software NPU), table, warm (no resets), prove (checks where the table is disputed); with ,FROM>TO=NEED");

int rkmm_mode_init(struct rkmm_device *rdev)
{
	const char *text = transitions, *kind = rdev->soft ? "warm" : "table";
	char whole[128];
	int n;

	/* "auto", and "auto,..." */
	if (!strncmp(text, "auto", 4) && (!text[4] || text[4] == ',')) {
		n = snprintf(whole, sizeof(whole), "%s%s", kind, text + 4);
		if (n >= sizeof(whole))
			goto bad;
		text = whole;
	}
	if (rkmm_verdicts_parse(text, &rdev->verdicts))
		return 0;
bad:
	dev_err(rdev->dev, "transitions=%s: not understood\n", transitions);
	return -EINVAL;
}

void rkmm_mode_report(struct rkmm_device *rdev)
{
	char text[192] = " nothing";
	u32 from, to;
	int n = 0;

	for (from = 0; from < RKMM_MODES; from++)
		for (to = 0; to < RKMM_MODES; to++)
			if (rdev->verdicts.need[from][to] == RKMM_NEED_RESET)
				n += scnprintf(text + n, sizeof(text) - n, " %s>%s",
					       rkmm_mode_name(from), rkmm_mode_name(to));
	dev_info(rdev->dev, "transitions=%s: reset at%s\n", transitions, text);
}

void rkmm_mode_show(struct rkmm_device *rdev, struct seq_file *m)
{
	u32 from, to;

	for (from = 0; from < RKMM_MODE_DPU; from++)
		for (to = RKMM_MODE_F16; to < RKMM_MODES; to++) {
			const struct rkmm_transition *row = rkmm_transition(from, to);

			if (from == to || (to == RKMM_MODE_DPU && from != RKMM_MODE_I8))
				continue;
			seq_printf(m, "transition %s>%s %s; table: %s, %s, %s; right %u wrong %u\n",
				   rkmm_mode_name(from), rkmm_mode_name(to),
				   rkmm_need_name(rdev->verdicts.need[from][to]),
				   rkmm_need_name(row->need), rkmm_grounds_name(row->grounds),
				   row->source, rdev->mode_proofs[from][to].right,
				   rdev->mode_proofs[from][to].wrong);
		}
}

u32 rkmm_mode_class(const struct rkmm_device *rdev, enum rkmm_mode mode)
{
	const struct rkmm_verdicts *v = &rdev->verdicts;
	u32 from, to;

	if (mode == RKMM_MODE_DPU)
		return 0;
	for (from = RKMM_MODE_F16; from < RKMM_MODE_DPU; from++)
		for (to = RKMM_MODE_F16; to < RKMM_MODES; to++)
			if (v->need[from][to] >= RKMM_NEED_CHECK)
				return mode;
	return 0;
}

void rkmm_mode_lost(struct rkmm_device *rdev, enum rkmm_mode mode)
{
	u32 i;

	rdev->sched.mode = mode;
	for (i = 0; i < rdev->ncores; i++) {
		rdev->cores[i].mode = mode;
		rdev->cores[i].golden = false;
	}
}
