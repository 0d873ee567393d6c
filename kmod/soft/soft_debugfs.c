// SPDX-License-Identifier: GPL-2.0-only
/*
 * What can be seen and turned from outside: /sys/kernel/debug/rkmm_soft.
 *
 * errors/ and view/ live as long as the module, coreN/ as long as the device.
 */
#include <linux/debugfs.h>
#include <linux/kernel.h>
#include <linux/seq_file.h>

#include "soft.h"

static struct dentry *soft_dir;

static int errors_show(struct seq_file *s, void *unused)
{
	unsigned int i;

	for (i = 0; i < SOFT_ERR_COUNT; i++)
		seq_printf(s, "%s %d\n", soft_error_names[i], atomic_read(&soft_errors[i]));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(errors);

static int errors_clear(void *data, u64 val)
{
	soft_error_clear();
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(errors_clear_fops, NULL, errors_clear, "%llu\n");

static int errors_total(void *data, u64 *val)
{
	unsigned int i;

	*val = 0;
	for (i = 0; i < SOFT_ERR_COUNT; i++)
		*val += (unsigned int)atomic_read(&soft_errors[i]);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(errors_total_fops, errors_total, NULL, "%llu\n");

static int view_evict(void *data, u64 val)
{
	soft_view_evict();
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(view_evict_fops, NULL, view_evict, "%llu\n");

static int view_usage_show(struct seq_file *s, void *unused)
{
	unsigned long mapped, copies;

	soft_view_counts(&mapped, &copies);
	seq_printf(s, "mapped_pages %lu\ncopy_pages %lu\n", mapped, copies);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(view_usage);

static int core_stats_show(struct seq_file *s, void *unused)
{
	static const char * const states[] = { "idle", "pending", "running", "stuck" };
	struct soft_core *core = s->private;
	struct soft_stats st;
	enum soft_state state;
	unsigned long flags;

	spin_lock_irqsave(&core->lock, flags);
	st = core->stats;
	state = core->state;
	spin_unlock_irqrestore(&core->lock, flags);

	seq_printf(s, "state %s\n", states[state]);
	seq_printf(s, "starts %llu\njobs %llu\ntasks %llu\nmacs %llu\n", st.starts, st.jobs,
		   st.tasks, st.macs);
	seq_printf(s, "read_bytes %llu\nwrite_bytes %llu\nbusy_us %llu\n", st.read_bytes,
		   st.write_bytes, st.busy_us);
	seq_printf(s, "irqs %llu\nfaults %llu\nhangs %llu\nresets %llu\n", st.irqs, st.faults,
		   st.hangs, st.resets);
	seq_printf(s, "model_ns %llu\n", st.model_ns);
	seq_printf(s, "laws %llu\nunknown_regs %llu\n", st.laws, st.unknown_regs);
	seq_printf(s, "stale_kicks %llu\nlost_kicks %llu\n", st.stale_kicks, st.lost_kicks);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(core_stats);

static int core_report_show(struct seq_file *s, void *unused)
{
	struct soft_core *core = s->private;
	struct npu_report report;
	unsigned long flags;
	bool reported;

	spin_lock_irqsave(&core->lock, flags);
	report = core->report;
	reported = core->reported;
	spin_unlock_irqrestore(&core->lock, flags);
	if (!reported)
		return 0;

	seq_printf(s, "class %s\ntask %u\ntasks_done %u\n", npu_class_name(report.cls),
		   report.task, report.tasks_done);
	seq_printf(s, "law %s\n", report.law ?: "-");
	if (report.cls == NPU_FAULT)
		seq_printf(s, "fault 0x%08x %s\n", report.fault_addr,
			   report.fault_write ? "write" : "read");
	seq_printf(s, "macs %llu\nread_bytes %llu\nwrite_bytes %llu\nunknown_regs %u\n",
		   report.macs, report.read_bytes, report.write_bytes, report.unknown_regs);
	seq_printf(s, "model_ns %llu %llu %llu\n", report.model_ns[0], report.model_ns[1],
		   report.model_ns[2]);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(core_report);

static int power_show(struct seq_file *s, void *unused)
{
	struct soft_npu *npu = s->private;

	seq_printf(s, "powered %d\npower_cycles %llu\nclk_npu %lu\n", READ_ONCE(npu->powered),
		   npu->power_cycles, npu->clk[SOFT_CLK_NPU].rate);
	seq_printf(s, "reset_model_ns %lld\n", (s64)atomic64_read(&npu->reset_ns));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(power);

void soft_debugfs_add(struct soft_npu *npu)
{
	struct dentry *dir;
	char name[8];
	unsigned int i;

	npu->dir = debugfs_create_dir("device", soft_dir);
	debugfs_create_file("power", 0400, npu->dir, npu, &power_fops);
	for (i = 0; i < SOFT_CORES; i++) {
		struct soft_core *core = &npu->core[i];

		snprintf(name, sizeof(name), "core%u", i);
		dir = debugfs_create_dir(name, npu->dir);
		debugfs_create_file("stats", 0400, dir, core, &core_stats_fops);
		debugfs_create_file("report", 0400, dir, core, &core_report_fops);
	}
}

void soft_debugfs_del(struct soft_npu *npu)
{
	debugfs_remove_recursive(npu->dir);
	npu->dir = NULL;
}

void soft_debugfs_init(void)
{
	struct dentry *dir, *sub;
	char name[8];
	unsigned int i;

	soft_dir = debugfs_create_dir("rkmm_soft", NULL);
	debugfs_create_bool("compute", 0600, soft_dir, &soft_compute);
	debugfs_create_bool("strict", 0600, soft_dir, &soft_strict);
	debugfs_create_u32("time_scale", 0400, soft_dir, &soft_time_scale);

	dir = debugfs_create_dir("errors", soft_dir);
	for (i = 0; i < SOFT_ERR_COUNT; i++)
		debugfs_create_atomic_t(soft_error_names[i], 0400, dir, &soft_errors[i]);
	debugfs_create_file("all", 0400, dir, NULL, &errors_fops);
	debugfs_create_file("total", 0400, dir, NULL, &errors_total_fops);
	debugfs_create_file("clear", 0200, dir, NULL, &errors_clear_fops);

	dir = debugfs_create_dir("view", soft_dir);
	debugfs_create_file("evict", 0200, dir, NULL, &view_evict_fops);
	debugfs_create_file("usage", 0400, dir, NULL, &view_usage_fops);

	soft_alias_debugfs(soft_dir);

	dir = debugfs_create_dir("faults", soft_dir);
	for (i = 0; i < SOFT_CORES; i++) {
		snprintf(name, sizeof(name), "core%u", i);
		sub = debugfs_create_dir(name, dir);
		soft_switch_debugfs(sub, i);
	}
}

void soft_debugfs_exit(void)
{
	debugfs_remove_recursive(soft_dir);
}
