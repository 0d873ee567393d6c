// SPDX-License-Identifier: GPL-2.0-only
/* For developers: what the scheduler did, in debugfs beside the render node's own files. */
#include <drm/drm_file.h>
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "rkmm_job.h"

static void rkmm_debugfs_cores(struct seq_file *m, struct rkmm_device *rdev)
{
	u32 i;

	for (i = 0; i < rdev->ncores; i++) {
		struct rkmm_core *core = &rdev->cores[i];

		seq_printf(m, "core%u %s %s busy_ns %llu lost_irqs %llu\n", core->index,
			   rkmm_core_state_name(core->state), rkmm_mode_name(core->mode),
			   core->busy_ns, core->lost_irqs);
	}
}

static int rkmm_debugfs_sched_show(struct seq_file *m, void *unused)
{
	struct rkmm_device *rdev = m->private;
	struct rkmm_sched *sched = &rdev->sched;
	struct rkmm_client *client;
	u32 i;

	rkmm_mode_show(rdev, m);
	spin_lock_irq(&sched->lock);
	rkmm_debugfs_cores(m, rdev);
	seq_printf(m, "jobs %llu\nresets %llu\nswitches %llu\nstagings %llu\n", sched->jobs,
		   sched->resets, sched->switches, sched->remaps);
	seq_printf(m, "mode_changes %llu\nmode_resets %llu\n", sched->changes,
		   sched->mode_resets);
	seq_printf(m, "choices %llu\nforced %llu\n", sched->policy.choices, sched->policy.forced);
	for (i = 0; i < RKMM_RULES; i++)
		seq_printf(m, "rule_%s %llu\n", rkmm_rule_name(i), sched->policy.rule[i]);
	list_for_each_entry(client, &sched->clients, in_clients)
		seq_printf(m, "client %llu pid %d %s vtime %lld npu_ns %llu%s\n", client->id,
			   client->pid, rkmm_priority_name(client->candidate.priority),
			   (s64)(client->candidate.vtime - sched->floor), client->npu_ns,
			   list_empty(&client->in_ready) ? "" : " ready");
	spin_unlock_irq(&sched->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(rkmm_debugfs_sched);

void rkmm_debugfs_init(struct rkmm_device *rdev)
{
	/* Goes with the device's folder, which waits for readers. */
	debugfs_create_file("sched", 0400, rdev->drm->render->debugfs_root, rdev,
			    &rkmm_debugfs_sched_fops);
}
