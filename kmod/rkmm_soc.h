/* SPDX-License-Identifier: GPL-2.0-only */
/* What each chip can do: one row per chip, no `if (chip)` anywhere else. */
#ifndef RKMM_SOC_H
#define RKMM_SOC_H

#include <linux/mod_devicetable.h>
#include <linux/types.h>
#include "prog/rkmm_prog.h"

struct platform_device;

#define RKMM_MAX_CORES	3
#define RKMM_MAX_RESETS	(2 * RKMM_MAX_CORES)

/**
 * enum rkmm_poll_when - whose kicks are looked at before they interrupt
 * @RKMM_POLL_OFF: nobody's
 * @RKMM_POLL_HINT: of submissions that ask for it
 * @RKMM_POLL_ON: of all but those that ask not to
 */
enum rkmm_poll_when {
	RKMM_POLL_OFF,
	RKMM_POLL_HINT,
	RKMM_POLL_ON,
};

/* hw 03 O13: a program behind the last one; a time behind the end of those that have none */
#define RKMM_LAND_TRAILER	1u
#define RKMM_LAND_WAIT		2u

/**
 * struct rkmm_soc_reset - one reset line
 * @name: name in the device tree
 * @core: core it belongs to
 */
struct rkmm_soc_reset {
	const char *name;
	u32 core;
};

/**
 * struct rkmm_soc - what one chip can do
 * @name: for people and for RKMM_QUERY
 * @documented: the sheets describe the chip in full; else it binds only with allow_unvalidated=1
 * @validated: rkmm has been run and checked on this chip
 * @cores: cores of a full part
 * @hw_version: expected value of the version register, 0 for "any" (hw 01 §1.2)
 * @core_base: physical base of each core; the core number follows from it
 * @core_window: bytes of each core window that the driver maps (hw 01 §1.1)
 * @irq_names: interrupt of each core
 * @dma_bits: width of the NPU's physical addresses behind its IOMMU
 * @s_pointer: the kernel writes CNA and CORE S_POINTER before a kick (hw 01 §1.5)
 * @task_bits: width of the task number in TASK_CON (hw 01 §1.3)
 * @status_reg: offset of PC_TASK_STATUS
 * @pc_dma_ctrl: PC_DATA_ADDR is written under the interrupt lock
 * @idle_hz: clock before power-off (hw 01 §5.2)
 * @max_hz: rated clock
 * @core_clk: clock whose rate is the NPU's, NULL for the node's first
 * @bus_clks: other clocks that must run, NULL for "all of the node"
 * @nbus_clks: entries of @bus_clks
 * @domains: power domains by name, one per core, where the node has several
 * @resets: reset lines in the order in which they are pulled (hw 01 §4.2)
 * @nresets: entries of @resets
 * @feature_free: a board was seen free of the feature-address cache (hw 03 S2, M3, M4):
 *	operands may be used where they are
 * @poll: when to look for the end of kicks: what was measured on a board
 * @landing: RKMM_LAND_*: what narrow output needs until it counts as written
 * @limits: what programs may do
 */
struct rkmm_soc {
	const char *name;
	bool documented;
	bool validated;
	u32 cores;
	u32 hw_version;
	u64 core_base[RKMM_MAX_CORES];
	u32 core_window;
	const char *irq_names[RKMM_MAX_CORES];
	u32 dma_bits;
	bool s_pointer;
	u32 task_bits;
	u32 status_reg;
	bool pc_dma_ctrl;
	unsigned long idle_hz;
	unsigned long max_hz;
	const char *core_clk;
	const char *const *bus_clks;
	u32 nbus_clks;
	const char *domains[RKMM_MAX_CORES];
	const struct rkmm_soc_reset *resets;
	u32 nresets;
	bool feature_free;
	enum rkmm_poll_when poll;
	u32 landing;
	const struct rkmm_limits *limits;
};

extern const struct rkmm_soc rkmm_soc_rk3588;
extern const struct of_device_id rkmm_of_match[];
extern const struct platform_device_id rkmm_id_table[];

/**
 * rkmm_soc_detect() - the row of a device
 * @pdev: the NPU device
 *
 * Logs why a device is refused (an unvalidated chip, a part with dead cores).
 *
 * Return: the row or an ERR_PTR.
 */
const struct rkmm_soc *rkmm_soc_detect(struct platform_device *pdev);

#endif
