/* SPDX-License-Identifier: MIT */
/* A run as it stands: between sim.c and account.c. */
#ifndef REPLAY_SIM_STATE_H
#define REPLAY_SIM_STATE_H

#include "sim.h"

#define NONE	0xffffffffu

enum state {
	STEP_WAITS,
	STEP_BEFORE,	/* its thread prepares it */
	STEP_RUNS,	/* its works are ready or run */
	STEP_RAN,
	STEP_AFTER,	/* its thread finishes it */
	STEP_OVER,
};

/* A lane whose next part is started, may be started, or none is left */
struct lane {
	u32 next, running;
};

struct work_state {
	struct lane lane[NPU_TIME_CORES];
	u32 lanes_left;
	bool ready, begun;
	u64 since;
};

struct thread {
	u32 step;
	u64 from, until;
	u64 vtime, since;
	u32 busy_works;		/* ready or running */
};

/* Between the end of what it ran and the interrupt's arrival a core is idle, but not free. */
struct core {
	u32 work, lane, part, n;
	u64 from, until, seen;
};

struct sim {
	const struct trace *trace;
	const struct plan *plan;
	struct result *r;
	enum state *steps;
	u32 *works_left, left;
	u32 *from;		/* by client: first step that is not over */
	struct work_state *works;
	struct thread *threads;
	struct core core[NPU_TIME_CORES];
	enum family family;
	u32 window;
	bool *seen;		/* windows */
	enum term change;	/* TERM_MODES, TERM_WINDOWS */
	bool changed_early;	/* it waits for nobody, as long as threads have work */
	u64 change_from, change_until;
	u64 now;
	/* works that are ready, in the order that they became so */
	u32 *ready, nready;
};

/* Account the time from now to @to, in which nothing changes, to what it goes by for. */
void attribute(struct sim *s, u64 to);

#endif
