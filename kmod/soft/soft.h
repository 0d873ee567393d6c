/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Software NPU as Linux sees it: registers, interrupts, clocks, resets, power,
 * IOMMU and memory around the pure model of soft/model. Nothing here is shared
 * with the driver but the names of Documentation/soft-npu.rst.
 *
 * There is at most one. What a driver may still hold after the device is gone
 * (address windows, DMA mappings) is kept by the module, not by the device.
 */
#ifndef RKMM_SOFT_H
#define RKMM_SOFT_H

#include <linux/clk-provider.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/mutex.h>
#include <linux/platform_device.h>
#include <linux/pm_domain.h>
#include <linux/reset-controller.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "soft/model/npu_model.h"
#include "soft/model/npu_time.h"

#define SOFT_NAME	"rkmm-soft"
#define SOFT_CHILD	"rkmm-npu"
#define SOFT_FACADE	"rkmm-dma"
#define SOFT_CORES	3

/* PC block, hw 01 §1.2 */
#define PC_OP_EN		0x0008
#define PC_INT_MASK		0x0020
#define PC_INT_CLEAR		0x0024
#define PC_INT_STATUS		0x0028
#define PC_INT_RAW_STATUS	0x002c
#define PC_TASK_CONTROL		0x0030

#define PC_INT_BLOCKS		0x0fff	/* ends of blocks, two groups each */
#define PC_INT_FEEDERS		0x00ff	/* those before the DPU and the PPU */
#define PC_INT_DMA		0x3000	/* read error, write error */
#define PC_INT_MASK_RESET	0x1ffff
#define PC_TASK_NUMBER		0x0fff

#define SOFT_IDLE_RATE		200000000UL

/*
 * What a correct driver never does, and what the model refuses. Names in
 * soft_error.c, in this order.
 */
enum soft_error {
	SOFT_ERR_ACCESS_WHILE_OFF,
	SOFT_ERR_ACCESS_IN_RESET,
	SOFT_ERR_HANGING_READ,
	SOFT_ERR_START_WHILE_BUSY,
	SOFT_ERR_START_WITHOUT_CLOCK,
	SOFT_ERR_RATE_DOMAIN_OFF,
	SOFT_ERR_RATE_WITHOUT_PCLK,
	SOFT_ERR_OFF_NOT_IDLE_RATE,
	SOFT_ERR_OFF_WHILE_BUSY,
	SOFT_ERR_CLOCK_OFF_WHILE_BUSY,
	SOFT_ERR_LEFT_CLOCK_ON,
	SOFT_ERR_SWITCH_WHILE_BUSY,
	SOFT_ERR_SWITCH_WHILE_STUCK,
	SOFT_ERR_IOMMU_OVERLAP,
	SOFT_ERR_IOMMU_RANGE,
	SOFT_ERR_IOMMU_LEFT_MAPPED,
	SOFT_ERR_VIEW_MISSING,
	SOFT_ERR_VIEW_UNMAPPED,
	SOFT_ERR_LAW_BREACH,
	SOFT_ERR_COUNT,
};

/* Fault switches; the rows are in soft_switch.c, in this order. */
enum soft_switch {
	SOFT_SW_NEVER_START,
	SOFT_SW_STALL,
	SOFT_SW_LOST_IRQ,
	SOFT_SW_ERROR_IRQ,
	SOFT_SW_SLOW,
	SOFT_SW_DELAY_US,
	SOFT_SW_EVICT,
	SOFT_SW_FAULT_BITS,
	SOFT_SW_NARROW_K,
	SOFT_SW_FEATURE_CACHE,
	SOFT_SW_OUTPUT_MOVE,
	SOFT_SW_INT8_WEDGE,
	SOFT_SW_LATE_OUTPUT,
	SOFT_SW_TRANSITION,
	SOFT_SW_UNTOUCHED,
	SOFT_SW_COLD,
	SOFT_SW_MAPPINGS,
	SOFT_SW_WEDGE,
	SOFT_SW_PARTIAL_DONE,
	SOFT_SW_EARLY_IRQ,
	SOFT_SW_SPURIOUS_IRQ,
	SOFT_SW_RESET_FAIL,
	SOFT_SW_POWER_FAIL,
	SOFT_SW_COUNT,
};

enum soft_clk_id {
	SOFT_CLK_NPU,
	SOFT_CLK_ACLK0,
	SOFT_CLK_ACLK1,
	SOFT_CLK_ACLK2,
	SOFT_CLK_HCLK0,
	SOFT_CLK_HCLK1,
	SOFT_CLK_HCLK2,
	SOFT_CLK_PCLK,
	SOFT_CLK_COUNT,
};

struct soft_npu;
struct soft_domain;
struct regmap;

struct soft_clk {
	struct clk_hw hw;
	struct soft_npu *npu;
	enum soft_clk_id id;
	/** @on: written under the clk framework's enable lock, read anywhere */
	bool on;
	unsigned long rate;
};

/*
 * PENDING: a start was written, the worker has not taken it. STUCK: the core
 * gave no end and waits for a reset.
 */
enum soft_state {
	SOFT_IDLE,
	SOFT_PENDING,
	SOFT_RUNNING,
	SOFT_STUCK,
};

/* Time of the chip: none, waited for, or only accounted */
enum soft_time_mode {
	SOFT_TIME_OFF,
	SOFT_TIME_REAL,
	SOFT_TIME_VIRTUAL,
};

struct soft_stats {
	u64 starts;
	u64 jobs;
	u64 tasks;
	u64 macs;
	u64 read_bytes;
	u64 write_bytes;
	u64 irqs;
	u64 faults;
	u64 hangs;
	u64 resets;
	u64 laws;
	u64 stale_kicks;
	u64 lost_kicks;
	u64 unknown_regs;
	u64 busy_us;
	/** @model_ns: by the law of time, with the cores that had work */
	u64 model_ns;
};

struct soft_core {
	struct soft_npu *npu;
	u32 index;
	struct npu_env env;
	struct npu_core *model;
	void *mem;
	struct regmap *regs;

	/** @lock: innermost; taken in hard interrupts. Guards down to @stats */
	spinlock_t lock;
	enum soft_state state;
	/** @extra: interrupt bits raised by a fault switch, beside the model's */
	u32 extra;
	u32 int_mask;
	u32 task_control;
	/** @peers: another core ran when this one was started */
	bool peers;
	/** @silent: the interrupt of this run is lost */
	bool silent;
	/** @ghost: an interrupt comes that no bit stands for */
	bool ghost;
	/** @unstarted: only a reset of all cores at once helps (hw 03 §4.2) */
	bool unstarted;
	/** @wedged: nothing starts any more as long as there is power */
	bool wedged;
	/** @blind: its MMU lost its table in a reset; nothing translates until it is told again */
	bool blind;
	/** @early: interrupts come after each task of this run; worker only */
	bool early;
	/** @masked: the interrupt controller's mask bit */
	bool masked;
	/** @held: reset lines asserted (bit 0: axi, 1: ahb) */
	u32 held;
	struct npu_report report;
	bool reported;
	/** @stats: written by the worker and under @lock, read without */
	struct soft_stats stats;

	/** @abort: the worker shall stop; set while a reset line is asserted or power is off */
	bool abort;
	struct task_struct *task;
	/** @wait: the worker waits for a start, a reset for the worker */
	wait_queue_head_t wait;
	/** @task_start: of the running task, ns; worker only */
	u64 task_start;
	u32 stall_after;
	bool stalled;

	/** @together: most cores at work since this one was started; any context */
	u32 together;
	/** @time: of this run; with it down to @random, worker only */
	enum soft_time_mode time;
	struct npu_time_law law;
	/** @due: end of the present task */
	u64 due;
	/** @paced_ns: model time up to @due */
	u64 paced_ns;
	u32 random;
	/** @late_lock: what is late arrives, or is forgotten */
	struct mutex late_lock;
	struct hrtimer irq_timer;
	/** @irq_held: the interrupt of ends that are visible has not come yet; under @lock */
	bool irq_held;

	struct irq_work irq_work;
	unsigned int virq;

	struct irq_work fault_work;
	/** @fault_domain: where @fault_addr missed; compared, never followed */
	struct soft_domain *fault_domain;
	u32 fault_addr;
	bool fault_write;
};

struct soft_npu {
	struct device *dev;
	struct platform_device *child;
	struct soft_core core[SOFT_CORES];

	struct irq_domain *irqs;
	struct soft_clk clk[SOFT_CLK_COUNT];
	struct reset_controller_dev resets;

	struct generic_pm_domain pd;
	bool have_pd;
	/** @powered: the domain is on; written under the genpd lock, read anywhere */
	bool powered;
	u64 power_cycles;
	/** @reset_ns: model time of resets */
	atomic64_t reset_ns;

	/** @attached: window the NPU translates through; written in process context, RCU readers */
	struct soft_domain __rcu *attached;
	struct dentry *dir;
};

/* soft_main.c: knobs */
extern unsigned long long soft_chip_id;
/* soft_die_quirks() - what this die does not run right */
u32 soft_die_quirks(void);
extern bool soft_strict;
extern bool soft_compute;
extern unsigned int soft_time_scale;
/* The NPU device, or NULL; compared, never followed. */
extern struct device *soft_child;

/* soft_error.c */
extern const char * const soft_error_names[SOFT_ERR_COUNT];
extern atomic_t soft_errors[SOFT_ERR_COUNT];
__printf(2, 3) void soft_error(enum soft_error kind, const char *fmt, ...);
void soft_law(u32 core, const struct npu_report *report);
void soft_error_clear(void);

/* soft_switch.c */
u32 soft_switch_peek(u32 core, enum soft_switch sw);
u32 soft_switch_take(u32 core, enum soft_switch sw);
void soft_switch_debugfs(struct dentry *dir, u32 core);

/* soft_irq.c */
int soft_irq_init(struct soft_npu *npu);
void soft_irq_fini(struct soft_npu *npu);
void soft_irq_update(struct soft_core *core);
void soft_irq_ghost(struct soft_core *core);

/* soft_regs.c */
int soft_regs_init(struct soft_npu *npu);
u32 soft_regs_status(struct soft_core *core, unsigned int reg);

/* soft_clk.c */
int soft_clk_init(struct soft_npu *npu);
bool soft_clk_on(struct soft_npu *npu, enum soft_clk_id id);
void soft_clk_check_unbound(struct soft_npu *npu);

/* soft_reset.c */
int soft_reset_init(struct soft_npu *npu);

/* soft_power.c */
int soft_power_init(struct soft_npu *npu);
void soft_power_fini(struct soft_npu *npu);
int soft_power_attach(struct soft_npu *npu);
void soft_power_detach(struct soft_npu *npu);

/* soft_run.c */
int soft_run_init(struct soft_npu *npu);
void soft_run_fini(struct soft_npu *npu);
void soft_run_start(struct soft_core *core);
void soft_run_stop(struct soft_core *core, bool power);
void soft_run_free(struct soft_npu *npu);
void soft_run_allow(struct soft_core *core);
bool soft_run_busy(struct soft_core *core);
bool soft_run_aborted(struct soft_core *core);
void soft_run_wait_ns(struct soft_core *core, u64 ns);

/* soft_time.c */
void soft_time_init(struct soft_core *core);
void soft_time_begin(struct soft_core *core);
bool soft_time_pace(void *ctx);
void soft_time_account(struct soft_core *core, const struct npu_report *report);
void soft_time_hold_irq(struct soft_core *core);
void soft_time_reset(struct soft_npu *npu);
void soft_time_stop(struct soft_core *core);

/* soft_mem.c */
int soft_mem_read(void *ctx, u32 addr, void *dst, u32 len, u32 *fault);
int soft_mem_write(void *ctx, u32 addr, const void *src, u32 len, u32 *fault);
u32 soft_mem_buffer(void *ctx, u32 addr);

/* soft_iommu.c */
int soft_iommu_init(void);
void soft_iommu_exit(void);
int soft_iommu_register(struct soft_npu *npu);
void soft_iommu_unregister(struct soft_npu *npu);
bool soft_iommu_translate(struct soft_npu *npu, u32 iova, bool write, phys_addr_t *phys);
u32 soft_iommu_run(struct soft_npu *npu, u32 iova);
long soft_iommu_mappings(struct soft_npu *npu);
void soft_iommu_fault(struct soft_core *core, u32 iova, bool write);
void soft_iommu_fault_init(struct soft_core *core);
void soft_iommu_fault_sync(struct soft_core *core);

/* soft_view.c */
enum soft_view_mode {
	SOFT_VIEW_EXACT,
	SOFT_VIEW_LINE,
	SOFT_VIEW_COHERENT,
};

extern const struct kernel_param_ops soft_view_mode_ops;
extern unsigned int soft_view_limit_mb;
int soft_view_add(phys_addr_t phys, size_t size, bool coherent);
void soft_view_del(phys_addr_t phys, size_t size);
void soft_view_mark_guard(phys_addr_t phys);
bool soft_view_is_guard(phys_addr_t phys);
void soft_view_to_device(phys_addr_t phys, size_t size);
void soft_view_to_cpu(phys_addr_t phys, size_t size);
bool soft_view_access(phys_addr_t phys, void *buf, size_t len, bool write);
u64 soft_view_evict(void);
void soft_view_counts(unsigned long *mapped, unsigned long *copies);
void soft_view_exit(void);

/* soft_dma.c */
void soft_dma_install(struct device *facade);
bool soft_dma_installed(struct device *dev);

/* soft_alias.c */
void soft_alias_debugfs(struct dentry *dir);

/* soft_debugfs.c */
void soft_debugfs_init(void);
void soft_debugfs_exit(void);
void soft_debugfs_add(struct soft_npu *npu);
void soft_debugfs_del(struct soft_npu *npu);

#endif
