/* SPDX-License-Identifier: GPL-2.0-only */
/* One NPU core: start a chain, read progress, acknowledge, interrupt. */
#ifndef RKMM_CORE_H
#define RKMM_CORE_H

#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/regmap.h>
#include "prog/rkmm_chain.h"
#include "prog/rkmm_modes.h"

struct rkmm_device;
struct rkmm_dump_reg;
struct rkmm_job;

/**
 * enum rkmm_core_state - what a core is doing
 * @RKMM_CORE_IDLE: may be started
 * @RKMM_CORE_BUSY: runs rkmm_core.job
 * @RKMM_CORE_PROOF: runs something of rkmm_proof.c; starts are held
 * @RKMM_CORE_STUCK: its job was given up; waits for a reset
 * @RKMM_CORE_OFF: out of service or device gone
 */
enum rkmm_core_state {
	RKMM_CORE_IDLE,
	RKMM_CORE_BUSY,
	RKMM_CORE_PROOF,
	RKMM_CORE_STUCK,
	RKMM_CORE_OFF,
};

/* What a job that hung does behind the reset */
enum rkmm_again {
	RKMM_AGAIN_NO,
	RKMM_AGAIN_RETRY,	/* the same once more */
	RKMM_AGAIN_FALLBACK,	/* its step with other programs */
};

/**
 * struct rkmm_core - one core
 * @rdev: the device
 * @irq: Linux interrupt number
 */
struct rkmm_core {
	struct rkmm_device *rdev;
	/** @index: from the base address, never from probe order (hw 01 §2.1) */
	u32 index;
	int irq;
	/** @irq_requested: probe and remove only */
	bool irq_requested;
	/** @base: registers of a board; accesses under rkmm_sched.lock while jobs may run */
	void __iomem *base;
	/** @regs: those of the software NPU, where @base is NULL; no internal locking */
	struct regmap *regs;
	/** @state: under rkmm_sched.lock */
	enum rkmm_core_state state;
	/** @job: running job, holds a reference; under rkmm_sched.lock */
	struct rkmm_job *job;
	/** @kick: what runs, an entry of its image; under rkmm_sched.lock */
	const struct rkmm_kick *kick;
	/** @table: 1 + lookup table it has, 0: nobody knows; under rkmm_sched.lock */
	u32 table;
	/** @kept: the kick began without the table that the core had; under rkmm_sched.lock */
	bool kept;
	/** @again: stuck, and how its job goes on after the reset; under rkmm_sched.lock */
	enum rkmm_again again;
	/** @mode: datapath mode of the last matmul it was started with; under rkmm_sched.lock */
	enum rkmm_mode mode;
	/** @int_mask: bits the running kick ends with; under rkmm_sched.lock */
	u32 int_mask;
	/** @started: ktime of the kick, ns; under rkmm_sched.lock */
	u64 started;
	/** @deadline: ktime at which the kick is given up, ns; under rkmm_sched.lock */
	u64 deadline;
	/** @busy_ns: time spent running; under rkmm_sched.lock */
	u64 busy_ns;
	/** @landing: it has ended, its output is waited for; under rkmm_sched.lock */
	bool landing;
	/** @landed: the end of that */
	struct hrtimer landed;
	/** @proven: the run of the driver's own has ended; under rkmm_sched.lock */
	bool proven;
	/** @golden: rkmm_proof_core() has run since the reset; as @mode */
	bool golden;
	/** @poll: looks at the running kick, see rkmm_poll.c */
	struct hrtimer poll;
	/** @looks: left of them; under rkmm_sched.lock */
	u32 looks;
	/** @kind: rkmm_estimate_key() of the kick; under rkmm_sched.lock */
	u64 kind;
	/** @polled: kicks whose end a look has found; under rkmm_sched.lock */
	u64 polled;
	/** @unasked: the interrupt of such a kick may still come; under rkmm_sched.lock */
	bool unasked;
	/** @seen_done: the watchdog saw a completion bit at its last look; under rkmm_sched.lock */
	bool seen_done;
	/** @lost_irqs: completions found by the watchdog; under rkmm_sched.lock */
	u64 lost_irqs;
};

/**
 * struct rkmm_core_status - one look at a core
 * @raw: raw interrupt bits
 * @status: masked interrupt bits
 * @task: tasks finished; may read 0 after the end
 */
struct rkmm_core_status {
	u32 raw;
	u32 status;
	u32 task;
};

/* rkmm_core_state_name() - "idle" ... */
const char *rkmm_core_state_name(enum rkmm_core_state state);
/* rkmm_core_init() - find registers and interrupt of the core in register window @resource */
int rkmm_core_init(struct rkmm_device *rdev, u32 resource);
/* rkmm_core_identify() - powered: check the version register, quiet the core */
int rkmm_core_identify(struct rkmm_core *core);
int rkmm_core_request_irq(struct rkmm_core *core);
void rkmm_core_release_irq(struct rkmm_core *core);
/* rkmm_core_quiet() - mask and clear all interrupts, stop fetching */
void rkmm_core_quiet(struct rkmm_core *core);
/* rkmm_core_kick() - the register writes of hw 01 §2.1; rkmm_sched.lock held */
void rkmm_core_kick(struct rkmm_core *core, const struct rkmm_kick *kick);
/* rkmm_core_status() - registers for decisions and reports; rkmm_sched.lock held */
void rkmm_core_status(struct rkmm_core *core, struct rkmm_core_status *st);
/* rkmm_core_dump() - what may be read, at most @most; returns how many; rkmm_sched.lock held */
u32 rkmm_core_dump(struct rkmm_core *core, struct rkmm_dump_reg *regs, u32 most);
/* rkmm_core_raw() - raw interrupt bits; rkmm_sched.lock held */
u32 rkmm_core_raw(struct rkmm_core *core);
/* rkmm_core_ack() - clear all interrupt bits */
void rkmm_core_ack(struct rkmm_core *core);

#endif
