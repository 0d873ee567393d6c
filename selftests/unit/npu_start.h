/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* One start of a core of the software NPU, register by register: hw 01 §2.1. */
#ifndef NPU_START_H
#define NPU_START_H

#include "kmod/prog/rkmm_chain.h"
#include "kmod/soft/model/npu_model.h"

/* Whether every task ended, without a broken law */
static inline bool npu_start(struct npu_core *core, const struct rkmm_kick *k,
			     struct npu_report *report)
{
	*report = (struct npu_report){ .cls = NPU_OK };
	npu_core_write(core, 0x10, 1);
	npu_core_write(core, 0x1004, 0xe);
	npu_core_write(core, 0x3004, 0xe);
	npu_core_write(core, 0x10, k->addr);
	npu_core_write(core, 0x14, k->amount);
	npu_core_write(core, 0x20, k->int_mask);
	npu_core_write(core, 0x24, 0x1ffff);
	npu_core_write(core, 0x30, (k->pingpong ? 0x7000u : 0x6000u) | k->tasks);
	npu_core_write(core, 0x34, 0);
	if (!npu_core_write(core, 0x08, 1))
		return false;
	npu_core_run(core, NULL, NULL, report);
	npu_core_write(core, 0x08, 0);
	return report->cls == NPU_OK && report->tasks_done == k->tasks &&
	       npu_core_read(core, 0x2c) & k->int_mask;
}

/* The same of a start that must be right */
static inline void npu_start_right(struct npu_core *core, const struct rkmm_kick *k)
{
	struct npu_report report;

	if (npu_start(core, k, &report))
		return;
	print_error("task %u of %u: %s: %s %x\n", report.task, k->tasks,
		    npu_class_name(report.cls), report.law ? report.law : "", report.fault_addr);
	fail();
}

#endif
