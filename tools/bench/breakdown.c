// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include <string.h>

#include "submit.h"

/* What one call came to. */
struct call {
	uint64_t at[PHASES + 1];	/* when each phase begins, and the end */
	uint64_t own;
	uint64_t model;
	uint64_t switches;
	uint64_t own_events;
	uint64_t regs;
	uint64_t starts;
	bool complete;
};

static bool is_model(const char *comm)
{
	return !strncmp(comm, "rkmm-soft", 9) || !strncmp(comm, "rkmm_soft", 9);
}

/*
 * Walk the events of one call. The calling thread is on a processor at the start.
 * Interrupts that hit it are part of its time; others are added to it.
 */
static void walk(struct call *c, const struct trace_event *e, unsigned int count,
		 const struct span *span, int me)
{
	bool on = true, seen[TRACE_KINDS] = { false };
	uint64_t on_since = span->start, model_since = 0, irq_since = 0, run_at = 0;
	unsigned int i, irq_events = 0;
	int rkmm_irq = -1, model = 0;

	memset(c, 0, sizeof(*c));
	c->at[PHASE_QUEUE] = span->start;
	for (i = 0; i < count; i++, e++) {
		/* The cost of recording comes behind the time of an event. */
		if (on)
			c->own_events += e->kind != TRACE_SWITCH || e->pid != me;
		else if (e->kind == TRACE_SWITCH)
			c->own_events += e->next == me;
		else
			irq_events = e->kind == TRACE_IRQ_ENTRY ? 1 : irq_events + 1;
		switch (e->kind) {
		case TRACE_SUBMIT:
			c->at[PHASE_SCHED] = e->ns;
			break;
		case TRACE_RUN:
			if (!seen[TRACE_RUN])
				c->at[PHASE_REGS] = e->ns;
			run_at = e->ns;
			break;
		case TRACE_STARTED:
			if (!seen[TRACE_STARTED])
				c->at[PHASE_LEAVE] = e->ns;
			c->regs += e->ns - run_at;
			c->starts++;
			break;
		case TRACE_IRQ_ENTRY:
			/* The handler that the end of the job is seen in is ours. */
			irq_since = e->ns;
			rkmm_irq = e->irq;
			continue;
		case TRACE_DONE:
			c->at[PHASE_IRQ] = irq_since;
			c->at[PHASE_BACK] = e->ns;
			break;
		case TRACE_IRQ_EXIT:
			if (irq_since && rkmm_irq == e->irq && !on &&
			    c->at[PHASE_BACK] >= irq_since) {
				c->own += e->ns - irq_since;
				c->own_events += irq_events - 1;
				/* Not the thread's that it interrupted. */
				if (model)
					model_since += e->ns - irq_since;
			}
			irq_since = 0;
			continue;
		case TRACE_SWITCH:
			if (e->pid == me && on) {
				c->own += e->ns - on_since;
				on = false;
				c->switches++;
				if (seen[TRACE_STARTED] && !c->at[PHASE_AWAY])
					c->at[PHASE_AWAY] = e->ns;
			}
			if (model && e->pid == model) {
				c->model += e->ns - model_since;
				model = 0;
			}
			if (e->next == me) {
				on = true;
				on_since = e->ns;
			} else if (is_model(e->comm)) {
				model = e->next;
				model_since = e->ns;
			}
			break;
		default:
			break;
		}
		seen[e->kind] = true;
	}
	if (on)
		c->own += span->end - on_since;
	c->at[PHASES] = span->end;
	c->complete = seen[TRACE_SUBMIT] && seen[TRACE_STARTED] && seen[TRACE_DONE] &&
		      irq_since == 0 && c->at[PHASE_IRQ] && on;
	/* The job was over before the thread slept, or it never did. */
	if (!c->at[PHASE_AWAY] || c->at[PHASE_AWAY] > c->at[PHASE_IRQ])
		c->at[PHASE_AWAY] = c->at[PHASE_IRQ];
}

static uint64_t less(uint64_t x, uint64_t y)
{
	return x > y ? x - y : 0;
}

static uint64_t median(uint64_t *v, unsigned int count)
{
	return spread_of(v, count).median;
}

/* Events of a call: from *first on, by time. */
static unsigned int events_of(const struct trace_event *events, unsigned int count,
			      const struct span *span, unsigned int *first)
{
	unsigned int n;

	while (*first < count && events[*first].ns < span->start)
		++*first;
	for (n = 0; *first + n < count && events[*first + n].ns <= span->end; n++)
		;
	return n;
}

void breakdown_make(struct breakdown *b, const struct trace_event *events, unsigned int count,
		    const struct span *spans, unsigned int num_spans, int me)
{
	uint64_t *v = allocate(num_spans, (PHASES + 8) * sizeof(*v));
	unsigned int i, k, n, first = 0, calls = 0;
	struct call c;

	memset(b, 0, sizeof(*b));
	for (i = 0; i < num_spans; i++) {
		n = events_of(events, count, &spans[i], &first);
		walk(&c, events + first, n, &spans[i], me);
		if (!c.complete)
			continue;
		for (k = 0; k < PHASES; k++)
			v[k * num_spans + calls] = c.at[k + 1] - c.at[k];
		v[PHASES * num_spans + calls] = c.own;
		v[(PHASES + 1) * num_spans + calls] = c.model;
		v[(PHASES + 2) * num_spans + calls] =
			spans[i].end - spans[i].start - c.own - c.model;
		v[(PHASES + 3) * num_spans + calls] = c.switches;
		v[(PHASES + 4) * num_spans + calls] = c.own_events;
		v[(PHASES + 5) * num_spans + calls] = n;
		v[(PHASES + 6) * num_spans + calls] = c.regs;
		v[(PHASES + 7) * num_spans + calls] = c.starts;
		calls++;
	}
	b->calls = calls;
	for (k = 0; k < PHASES; k++)
		b->phase[k] = median(v + k * num_spans, calls);
	b->own = median(v + PHASES * num_spans, calls);
	b->model = median(v + (PHASES + 1) * num_spans, calls);
	b->others = median(v + (PHASES + 2) * num_spans, calls);
	b->switches = median(v + (PHASES + 3) * num_spans, calls);
	b->own_events = median(v + (PHASES + 4) * num_spans, calls);
	b->events = median(v + (PHASES + 5) * num_spans, calls);
	b->regs = median(v + (PHASES + 6) * num_spans, calls);
	b->starts = median(v + (PHASES + 7) * num_spans, calls);
	free(v);
}

uint64_t breakdown_first(const struct trace_event *events, unsigned int count,
			 const struct span *spans, unsigned int num_spans)
{
	uint64_t *v = allocate(num_spans, sizeof(*v)), result;
	unsigned int i, k, n, first = 0, found = 0;

	for (i = 0; i < num_spans; i++) {
		n = events_of(events, count, &spans[i], &first);
		for (k = 0; k < n; k++) {
			if (events[first + k].kind == TRACE_RUN) {
				v[found++] = less(events[first + k].started, spans[i].start);
				break;
			}
		}
	}
	result = median(v, found);
	free(v);
	return result;
}

uint64_t breakdown_next(const struct trace_event *events, unsigned int count,
			const struct span *spans, unsigned int num_spans)
{
	uint64_t *v = allocate(num_spans, sizeof(*v)), result, irq;
	unsigned int i, k, n, first = 0, found = 0, starts;

	for (i = 0; i < num_spans; i++) {
		n = events_of(events, count, &spans[i], &first);
		for (k = 0, starts = 0, irq = 0; k < n; k++) {
			const struct trace_event *e = &events[first + k];

			if (e->kind == TRACE_IRQ_ENTRY)
				irq = e->ns;
			if (e->kind == TRACE_IRQ_EXIT)
				irq = 0;
			if (e->kind == TRACE_RUN && starts++ && irq) {
				v[found++] = less(e->started, irq);
				break;
			}
		}
	}
	result = median(v, found);
	free(v);
	return result;
}
