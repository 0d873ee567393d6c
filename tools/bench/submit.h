/* SPDX-License-Identifier: MIT */
/* --submit: submit.c drives the driver, breakdown.c reads traces, submit_report.c prints. */
#ifndef SUBMIT_H
#define SUBMIT_H

#include "bench.h"

/**
 * struct span - one measured call
 * @start: before it
 * @end: after it
 * @cpu: time that the thread had a processor, the clocks included
 */
struct span {
	uint64_t start;
	uint64_t end;
	uint64_t cpu;
};

enum phase {
	PHASE_QUEUE,	/* user space to the fence: lookups, caches, reservations */
	PHASE_SCHED,	/* fence to the core that is about to be started */
	PHASE_REGS,	/* the register writes that start it; on the software NPU its own work */
	PHASE_LEAVE,	/* from there until the thread sleeps */
	PHASE_AWAY,	/* until the interrupt: the NPU and the way to it */
	PHASE_IRQ,	/* interrupt to the end of the job */
	PHASE_BACK,	/* from there back to user space */
	PHASES
};

/**
 * struct breakdown - medians over the calls
 * @calls: calls with all events
 * @phase: where the time between start and end went
 * @own: the calling thread on a processor, and the rkmm interrupt handler
 * @model: the threads of the software NPU
 * @others: the rest
 * @switches: times that the calling thread lost its processor
 * @events: recorded
 * @own_events: those whose recording is part of @own
 * @regs: register writes of all starts, part of @own
 * @starts: starts, each of which has one recording in @regs
 */
struct breakdown {
	unsigned int calls;
	uint64_t phase[PHASES];
	uint64_t own;
	uint64_t model;
	uint64_t others;
	uint64_t switches;
	uint64_t events;
	uint64_t own_events;
	uint64_t regs;
	uint64_t starts;
};

/**
 * struct rig - one shape with its buffers
 * @fd: the node
 * @dev: the same
 * @shape: what is computed
 * @data: operands and reference
 * @plan: of the driver
 * @bo: A, B, C
 * @at: where A and C begin in their buffers
 * @map: their mappings
 * @clock: time that two readings of the clock take
 * @soft: the NPU is software
 * @cpu_clock: the same of the thread's clock, with the other one between
 */
struct rig {
	int fd;
	struct rkmm_device *dev;
	struct shape shape;
	struct data data;
	struct drm_rkmm_plan_create plan;
	struct drm_rkmm_bo_create bo[3];
	uint64_t at;
	void *map[3];
	uint64_t clock;
	uint64_t cpu_clock;
	bool soft;
};

enum what {
	SYSCALL,
	QUERY,
	SYNC_END,
	PLAN,
	SUBMIT_COLD,
	SUBMIT_NEW_PLAN,
	SUBMIT_MOVED,
	SUBMIT_WARM,
	WAIT_DONE,
	SUBMIT_WAIT,
	SYNC_BEGIN,
	WHATS
};

/**
 * struct report - all about one shape
 * @times: of each call
 * @threads: time of the calling thread alone
 * @emitted_cold: programs synthesised for a cold submission
 * @emitted_warm: for all warm ones
 * @first: user space to the first register write, 0 for unknown
 * @next: interrupt handler to the first register write of the next job, 0 for unknown
 * @round: SUBMIT with wait without the model and others, 0 for unknown
 * @regs: register writes, which on the software NPU are not in @round
 * @breakdown: of SUBMIT with wait, the recording included
 * @traced: SUBMIT with wait while events are recorded
 * @no_trace: why there is none
 */
struct report {
	struct spread times[WHATS];
	struct spread threads[WHATS];
	uint64_t emitted_cold;
	uint64_t emitted_warm;
	uint64_t first;
	uint64_t next;
	uint64_t round;
	uint64_t regs;
	struct breakdown breakdown;
	uint64_t traced;
	const char *no_trace;
};

/* A client of its own, with a plan and buffers, for a rig that has a shape and its data */
void rig_open(struct rig *rig, const char *path);
void rig_close(struct rig *rig);
/* SUBMIT with wait; what it takes */
struct span submit_hinted(struct rig *rig, uint32_t hint);
/* Round trips of one client and of many; text only */
void clients_print(const struct rig *rig, const struct options *opt);

void submit_print(const struct rig *rig, const struct report *r);
void submit_json(const struct rig *rig, const struct report *r, bool first);

/* events by time; me is the calling thread. */
void breakdown_make(struct breakdown *b, const struct trace_event *events, unsigned int count,
		    const struct span *spans, unsigned int num_spans, int me);

/* Median time from the start of each call to the first start of a core; 0 when there is none. */
uint64_t breakdown_first(const struct trace_event *events, unsigned int count,
			 const struct span *spans, unsigned int num_spans);

/*
 * Median time from the interrupt in which a core is started to that start: of the calls, each
 * of which queues two jobs, the second; 0 when there is none.
 */
uint64_t breakdown_next(const struct trace_event *events, unsigned int count,
			const struct span *spans, unsigned int num_spans);

#endif
