// SPDX-License-Identifier: MIT
/* What time goes by for. */
#include "sim_state.h"

const char *const term_names[TERMS] = {
	"npu", "dispatch", "modes", "windows", "accumulation", "host", "model", "idle",
};

/* Adding comes last in a step. */
static enum term host_term(const struct sim *s, u64 at)
{
	enum term term = TERM_IDLE;
	u32 i;

	for (i = 0; i < s->trace->nclients; i++) {
		const struct thread *t = &s->threads[i];
		const struct step *step;
		enum term own = TERM_HOST;

		if (t->step == NONE)
			continue;
		step = &s->plan->steps[t->step];
		if (step->model)
			own = TERM_MODEL;
		else if (s->steps[t->step] == STEP_AFTER && at >= t->until - step->add_ns)
			own = TERM_ADD;
		if (own < term)
			term = own;
	}
	return term;
}

/* Host work is cut where an addition begins. */
static u64 host_cut(const struct sim *s, u64 at, u64 to)
{
	u32 i;

	for (i = 0; i < s->trace->nclients; i++) {
		const struct thread *t = &s->threads[i];
		u64 add;

		if (t->step == NONE || s->steps[t->step] != STEP_AFTER)
			continue;
		add = t->until - s->plan->steps[t->step].add_ns;
		if (add > at && add < to)
			to = add;
	}
	return to;
}

/* A lane that could go on: the part before it, if any, has ended, seen or not. */
static bool lane_waits(const struct sim *s, u32 w, u32 l)
{
	const struct lane *lane = &s->works[w].lane[l];
	u32 i;

	if (lane->next == s->plan->works[w].lane[l + 1])
		return false;
	if (lane->running == NONE)
		return true;
	for (i = 0; i < NPU_TIME_CORES; i++)
		if (s->core[i].work == w && s->core[i].lane == l)
			return s->core[i].until <= s->now;
	return true;
}

void attribute(struct sim *s, u64 to)
{
	const struct core *running = NULL;
	u32 idle = 0, startable = 0, i, l;
	u64 dt = to - s->now, dispatch, at, cut;
	bool late = false;

	for (i = 0; i < NPU_TIME_CORES; i++) {
		if (s->core[i].work == NONE || s->core[i].until <= s->now)
			idle++;
		else if (!running)
			running = &s->core[i];
		late |= s->core[i].work != NONE && s->core[i].until <= s->now;
	}
	for (i = 0; i < s->nready; i++)
		for (l = 0; l < s->plan->works[s->ready[i]].lanes; l++)
			startable += lane_waits(s, s->ready[i], l);
	if (s->change == TERMS)
		s->r->gap_ns += dt * (idle < startable ? idle : startable);
	if (running) {
		const struct part *p = &s->plan->works[running->work].parts[running->part];

		dispatch = (u64)((double)dt * (double)p->dispatch_ns[running->n] /
				 (double)p->ns[running->n]);
		s->r->term_ns[TERM_DISPATCH] += dispatch;
		s->r->term_ns[TERM_NPU] += dt - dispatch;
		return;
	}
	if (s->change != TERMS && !(s->changed_early && !s->nready &&
				    host_term(s, s->now) != TERM_IDLE)) {
		s->r->term_ns[s->change] += dt;
		return;
	}
	/* an interrupt is on its way */
	if (late) {
		s->r->term_ns[TERM_HOST] += dt;
		return;
	}
	for (at = s->now; at < to; at = cut) {
		cut = host_cut(s, at, to);
		s->r->term_ns[host_term(s, at)] += cut - at;
	}
}
