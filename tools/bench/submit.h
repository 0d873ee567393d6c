/* SPDX-License-Identifier: MIT */
/* --submit: between submit.c, which drives the driver, and breakdown.c, which reads traces. */
#ifndef SUBMIT_H
#define SUBMIT_H

#include "bench.h"

/**
 * struct span - one measured call
 * @start: before it
 * @end: after it
 */
struct span {
	uint64_t start;
	uint64_t end;
};

enum phase {
	PHASE_QUEUE,	/* user space to the fence: lookups, caches, reservations */
	PHASE_SCHED,	/* fence to the core that is about to be started */
	PHASE_LEAVE,	/* from there until the thread sleeps: registers, wait */
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
 */
struct breakdown {
	unsigned int calls;
	uint64_t phase[PHASES];
	uint64_t own;
	uint64_t model;
	uint64_t others;
	uint64_t switches;
};

/* events by time; me is the calling thread. */
void breakdown_make(struct breakdown *b, const struct trace_event *events, unsigned int count,
		    const struct span *spans, unsigned int num_spans, int me);

/* Median time from the start of each call to its first event of a kind; 0 when none has one. */
uint64_t breakdown_first(const struct trace_event *events, unsigned int count,
			 const struct span *spans, unsigned int num_spans, enum trace_kind kind);

#endif
