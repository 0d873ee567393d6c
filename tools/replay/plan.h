/* SPDX-License-Identifier: MIT */
/* From what clients ask for to what processors and cores do, by this driver or by the baseline. */
#ifndef REPLAY_PLAN_H
#define REPLAY_PLAN_H

#include "call.h"
#include "trace.h"

/* Cores keep a mode; between these two the state of a core has to be reset (hw 03 §2.1). */
enum family {
	FAMILY_COLD,
	FAMILY_INT4,
	FAMILY_WIDE,	/* int8 and fp16, which may follow each other */
};

/**
 * struct part - one start of a core
 * @ns: its time, by the number of cores at work
 * @dispatch_ns: of that, what programs take before they multiply
 * @programs: programs
 */
struct part {
	u64 ns[NPU_TIME_CORES], dispatch_ns[NPU_TIME_CORES];
	u32 programs;
};

/**
 * struct work - operations that run as one
 * @name: for people
 * @step: that it belongs to
 * @client: that it belongs to
 * @family: mode
 * @window: address window of the weights
 * @ops: operations of the trace in it
 * @parts: starts, lane by lane
 * @lane: first part of each lane, and one past the last
 * @lanes: how many
 */
struct work {
	const char *name;
	u32 step, client;
	enum family family;
	u32 window, ops;
	struct part *parts;
	u32 lane[NPU_TIME_CORES + 1], lanes;
};

/**
 * struct step - what a client's thread does as one
 * @client: whose thread
 * @name: for people
 * @model: work of the client itself: no @works
 * @before_ns: time of the thread before the works can start
 * @after_ns: behind the last of them
 * @add_ns: of @after_ns: partial results
 * @not_before_ns: earliest start
 * @work: first of its works
 * @works: how many
 * @after: steps that must be over, of the same client
 * @nafter: how many
 */
struct step {
	u32 client;
	const char *name;
	bool model;
	u64 before_ns, after_ns, add_ns, not_before_ns;
	u32 work, works;
	u32 *after, nafter;
};

/**
 * struct plan - everything to be done
 * @steps: client by client, in order
 * @nsteps: how many
 * @first: first step of each client, and one past the last
 * @works: works
 * @nworks: how many
 * @windows: address windows in use
 * @early: the mode changes for what comes next, while nothing is ready
 * @blocking: a thread waits while its works run, and cores take what came first
 * @window_ns: of a change of the window after the first one
 * @window_first_ns: of the first change to a window
 * @reset_ns: of a change of mode
 * @irq_ns: from the end of what a core ran until somebody knows
 */
struct plan {
	struct step *steps;
	u32 nsteps, *first;
	struct work *works;
	u32 nworks, windows;
	bool blocking, early;
	u64 window_ns, window_first_ns, reset_ns, irq_ns;
};

/**
 * struct stack - who drives the NPU, under which law
 * @law: time of the NPU
 * @host: time of the processor
 * @limits: chip and die, for the planner
 * @form: wanted form of int4 matmuls
 * @reset_ns: of a change of mode
 * @half_rows: the userspace stack has half of its rows at K = 2048 (hw 03 §1.7)
 */
struct stack {
	const struct npu_time_law *law;
	const struct host_law *host;
	const struct rkmm_limits *limits;
	enum rkmm_form form;
	u64 reset_ns;
	bool half_rows;
};

/* Both end the program when a shape cannot be served. */
void plan_driver(const struct trace *trace, const struct stack *stack, struct plan *plan);
void plan_baseline(const struct trace *trace, const struct stack *stack, struct plan *plan);
void plan_free(struct plan *plan);

/* What both have in common: steps.c */
void plan_begin(const struct trace *trace, struct plan *plan);
struct step *plan_step(struct plan *plan, u32 client, const struct op *op);
struct work *plan_work(struct plan *plan, const struct op *op, u32 client, u32 window);
void plan_after(struct plan *plan, struct step *step, const u32 *step_of, const struct op *op);

static inline enum family family_of(enum rkmm_types types)
{
	return types == RKMM_T_I4I16 ? FAMILY_INT4 : FAMILY_WIDE;
}

/* A window of this driver; the stack's own limit is the same (hw 03 §5.1). */
#define REPLAY_WINDOW_BYTES	3900000000ull
/* A change without drain jobs: the settling time that a million of them were clean with (§5.3) */
#define REPLAY_WINDOW_NS	50000

#endif
