// SPDX-License-Identifier: MIT
/*
 * The virtual clock. Threads take the first of their steps that they can go on with, idle
 * cores what the driver's policy chooses; then time goes on to the next end of anything.
 */
#include <stdlib.h>
#include <string.h>

#include "sim_state.h"
#include "tools/common/common.h"

static void record(struct sim *s, u32 track, u64 from, u64 to, enum term term,
		   u32 work, const char *name)
{
	struct result *r = s->r;

	if (!(r->nevents & (r->nevents - 1))) {
		r->events = realloc(r->events,
				    (r->nevents ? 2 * (size_t)r->nevents : 1) * sizeof(*r->events));
		if (!r->events)
			die(2, "out of memory");
	}
	r->events[r->nevents++] = (struct event){
		.track = track, .from_ns = from, .to_ns = to, .term = term, .name = name,
		.family = work == NONE ? FAMILY_COLD : s->plan->works[work].family, .work = work,
	};
}

/* --- threads ------------------------------------------------------------------------------ */

static bool may_begin(const struct sim *s, u32 i)
{
	const struct step *step = &s->plan->steps[i];
	u32 j;

	if (s->steps[i] != STEP_WAITS || step->not_before_ns > s->now)
		return false;
	for (j = 0; j < step->nafter; j++)
		if (s->steps[step->after[j]] != STEP_OVER)
			return false;
	return true;
}

/* What has run is finished before anything else is begun. */
static void thread_start(struct sim *s, u32 c)
{
	const u32 *first = s->plan->first;
	struct thread *t = &s->threads[c];
	u32 i, found = NONE;

	if (t->step != NONE)
		return;
	while (s->from[c] < first[c + 1] && s->steps[s->from[c]] == STEP_OVER)
		s->from[c]++;
	for (i = s->from[c]; i < first[c + 1]; i++) {
		if (s->steps[i] == STEP_RAN) {
			found = i;
			break;
		}
		/* a blocking thread does nothing else while its works run, and nothing early */
		if (s->plan->blocking && s->steps[i] == STEP_RUNS)
			return;
		if (found == NONE && may_begin(s, i))
			found = i;
		if (s->plan->blocking && s->steps[i] == STEP_WAITS)
			break;
	}
	if (found == NONE)
		return;
	t->step = found;
	t->from = s->now;
	if (s->steps[found] == STEP_RAN) {
		s->steps[found] = STEP_AFTER;
		t->until = s->now + s->plan->steps[found].after_ns;
	} else {
		s->steps[found] = STEP_BEFORE;
		s->r->step_from_ns[found] = s->now;
		t->until = s->now + s->plan->steps[found].before_ns;
	}
}

static void step_over(struct sim *s, u32 i)
{
	const struct step *step = &s->plan->steps[i];

	s->steps[i] = STEP_OVER;
	s->left--;
	s->r->client_ns[step->client] = s->now;
	s->r->step_to_ns[i] = s->now;
	s->r->submits += step->works > 0;
}

/* Who had nothing to do has not saved any time. */
static void join(struct sim *s, u32 client)
{
	u64 least = ~0ull;
	u32 i;

	for (i = 0; i < s->trace->nclients; i++)
		if (s->threads[i].busy_works && s->threads[i].vtime < least)
			least = s->threads[i].vtime;
	if (least != ~0ull && s->threads[client].vtime < least)
		s->threads[client].vtime = least;
}

static void thread_end(struct sim *s, u32 c)
{
	struct thread *t = &s->threads[c];
	const struct step *step = &s->plan->steps[t->step];
	u32 i = t->step, w;

	record(s, TRACK_CLIENT + c, t->from, s->now, step->model ? TERM_MODEL : TERM_HOST,
	       NONE, step->name);
	t->step = NONE;
	if (!step->works || s->steps[i] == STEP_AFTER) {
		step_over(s, i);
		return;
	}
	s->steps[i] = STEP_RUNS;
	if (!t->busy_works) {
		join(s, c);
		t->since = s->now;
	}
	for (w = step->work; w < step->work + step->works; w++) {
		s->works[w].ready = true;
		s->works[w].since = s->now;
		s->ready[s->nready++] = w;
		t->busy_works++;
	}
}

/* --- cores -------------------------------------------------------------------------------- */

/* A lane of the work that could be started, NONE for none */
static u32 free_lane(const struct sim *s, u32 w)
{
	const struct work *work = &s->plan->works[w];
	u32 l;

	for (l = 0; l < work->lanes; l++)
		if (s->works[w].lane[l].running == NONE &&
		    s->works[w].lane[l].next < work->lane[l + 1])
			return l;
	return NONE;
}

static bool any_running(const struct sim *s)
{
	u32 i;

	for (i = 0; i < NPU_TIME_CORES; i++)
		if (s->core[i].work != NONE)
			return true;
	return false;
}

/*
 * The driver's policy among all that is ready; NONE when nothing is. Operations of a
 * client that do not wait for each other stand side by side, all as old as the client.
 */
static u32 choose(struct sim *s)
{
	struct rkmm_candidate *list = allocate(s->nready, sizeof(*list));
	const struct rkmm_candidate *best;
	struct rkmm_choice choice;
	u32 *which = allocate(s->nready, sizeof(*which)), n = 0, i, found = NONE;

	for (i = 0; i < s->nready; i++) {
		const struct work *work = &s->plan->works[s->ready[i]];

		if (free_lane(s, s->ready[i]) == NONE)
			continue;
		list[n] = (struct rkmm_candidate){
			.vtime = s->threads[work->client].vtime,
			.since = s->threads[work->client].since,
			.priority = s->trace->clients[work->client].priority,
			.elsewhere = work->window != s->window,
			.change = work->family != s->family,
		};
		which[n++] = s->ready[i];
	}
	if (s->plan->blocking && n) {
		found = which[0];
	} else if (n) {
		rkmm_choice_start(&choice, s->now, &s->r->policy);
		for (i = 0; i < n; i++)
			rkmm_choice_see(&choice, &list[i]);
		for (i = 0; i < n; i++)
			rkmm_choice_offer(&choice, &list[i]);
		best = rkmm_choice_end(&choice, &s->r->policy);
		found = which[best - list];
	}
	free(list);
	free(which);
	return found;
}

static void start_part(struct sim *s, struct core *core, u32 w)
{
	const struct work *work = &s->plan->works[w];
	struct work_state *state = &s->works[w];
	u32 busy = 1, i;

	for (i = 0; i < NPU_TIME_CORES; i++)
		busy += s->core[i].work != NONE;
	core->work = w;
	core->lane = free_lane(s, w);
	core->part = state->lane[core->lane].next++;
	state->lane[core->lane].running = core->part;
	/* cores given work: by its own operation, or by all */
	core->n = (busy > work->lanes ? busy : work->lanes) - 1;
	core->from = s->now;
	core->until = s->now + work->parts[core->part].ns[core->n];
	core->seen = core->until + s->plan->irq_ns;
	if (!state->begun && s->now - state->since > s->r->wait_ns)
		s->r->wait_ns = s->now - state->since;
	state->begun = true;
	rkmm_choice_served(&s->r->policy, &(struct rkmm_candidate){
				.since = s->threads[work->client].since,
				.priority = s->trace->clients[work->client].priority,
			   }, s->now);
	s->threads[work->client].since = s->now;
	s->r->starts++;
	s->r->programs += work->parts[core->part].programs;
}

/* The device has to change for @work: wait until all cores are idle, then begin. */
static void begin_change(struct sim *s, const struct work *work)
{
	if (any_running(s))
		return;
	s->change_from = s->now;
	s->changed_early = false;
	if (work->window != s->window) {
		s->change = TERM_WINDOWS;
		s->change_until = s->now + (s->seen[work->window] ? s->plan->window_ns :
					    s->plan->window_first_ns);
		/* what is mapped first needs no change */
		if (s->window == NONE)
			s->change_until = s->now;
		else
			s->r->switches++;
		s->seen[work->window] = true;
		s->window = work->window;
		return;
	}
	s->change = TERM_MODES;
	s->change_until = s->now + s->plan->reset_ns;
	if (s->family == FAMILY_COLD)
		s->r->entries++;
	else
		s->r->crossings++;
	s->family = work->family;
}

/* Will the step be ready once its thread has done what it is at? */
static bool is_next(const struct sim *s, u32 c, u32 i)
{
	const struct step *step = &s->plan->steps[i];
	u32 j;

	if (!step->works || (s->steps[i] != STEP_WAITS && s->steps[i] != STEP_BEFORE))
		return false;
	for (j = 0; j < step->nafter; j++)
		if (s->steps[step->after[j]] != STEP_OVER && step->after[j] != s->threads[c].step)
			return false;
	return true;
}

/*
 * Nothing is ready: the mode that is needed next is entered now, where nobody who comes next
 * could go on in the present one.
 */
static void change_early(struct sim *s)
{
	const struct work *next = NULL, *work;
	u32 c, i, w;

	if (!s->plan->early || s->nready || any_running(s) || s->family == FAMILY_COLD)
		return;
	for (c = 0; c < s->trace->nclients; c++) {
		for (i = s->from[c]; i < s->plan->first[c + 1]; i++) {
			for (w = 0; is_next(s, c, i) && w < s->plan->steps[i].works; w++) {
				work = &s->plan->works[s->plan->steps[i].work + w];
				if (work->family == s->family || work->window != s->window)
					return;
				next = work;
			}
		}
	}
	if (!next)
		return;
	begin_change(s, next);
	s->changed_early = true;
}

static void cores_start(struct sim *s)
{
	const struct work *work;
	u32 i, w;

	while (s->change == TERMS) {
		for (i = 0; i < NPU_TIME_CORES && s->core[i].work != NONE;)
			i++;
		if (i == NPU_TIME_CORES)
			return;
		w = choose(s);
		if (w == NONE) {
			change_early(s);
			return;
		}
		work = &s->plan->works[w];
		if (work->window != s->window || work->family != s->family) {
			begin_change(s, work);
			return;
		}
		start_part(s, &s->core[i], w);
	}
}

static void work_over(struct sim *s, u32 w)
{
	const struct work *work = &s->plan->works[w];
	u32 i;

	for (i = 0; s->ready[i] != w;)
		i++;
	memmove(&s->ready[i], &s->ready[i + 1], (--s->nready - i) * sizeof(*s->ready));
	s->threads[work->client].busy_works--;
	s->r->ops += work->ops;
	if (!--s->works_left[work->step])
		s->steps[work->step] = STEP_RAN;
}

static void core_end(struct sim *s, u32 i)
{
	struct core *core = &s->core[i];
	const struct work *work = &s->plan->works[core->work];
	struct work_state *state = &s->works[core->work];
	u32 w = core->work;

	record(s, i, core->from, core->until, TERM_NPU, core->work, work->name);
	s->r->busy_ns[i] += core->until - core->from;
	s->threads[work->client].vtime +=
		rkmm_policy_charge(s->trace->clients[work->client].priority,
				   core->until - core->from);
	state->lane[core->lane].running = NONE;
	if (state->lane[core->lane].next == work->lane[core->lane + 1])
		state->lanes_left--;
	core->work = NONE;
	if (!state->lanes_left)
		work_over(s, w);
}

/* --- time --------------------------------------------------------------------------------- */

static void sooner(u64 *next, const struct sim *s, u64 at)
{
	if (at < *next && at > s->now)
		*next = at;
}

static u64 next_event(const struct sim *s)
{
	u64 next = ~0ull;
	u32 i, j;

	for (i = 0; i < NPU_TIME_CORES; i++) {
		if (s->core[i].work == NONE)
			continue;
		sooner(&next, s, s->core[i].until);
		sooner(&next, s, s->core[i].seen);
	}
	if (s->change != TERMS)
		sooner(&next, s, s->change_until);
	for (i = 0; i < s->trace->nclients; i++) {
		if (s->threads[i].step != NONE)
			sooner(&next, s, s->threads[i].until);
		for (j = s->from[i]; j < s->plan->first[i + 1]; j++) {
			if (s->steps[j] != STEP_WAITS || s->plan->steps[j].not_before_ns <= s->now)
				continue;
			sooner(&next, s, s->plan->steps[j].not_before_ns);
			break;
		}
	}
	return next;
}

static void end_what_is_over(struct sim *s)
{
	u32 i;

	if (s->change != TERMS && s->change_until <= s->now) {
		if (s->change_until > s->change_from)
			record(s, TRACK_DEVICE, s->change_from, s->now, s->change, NONE,
			       s->change == TERM_MODES ? "mode" : "window");
		s->change = TERMS;
	}
	for (i = 0; i < NPU_TIME_CORES; i++)
		if (s->core[i].work != NONE && s->core[i].seen <= s->now)
			core_end(s, i);
	for (i = 0; i < s->trace->nclients; i++)
		if (s->threads[i].step != NONE && s->threads[i].until <= s->now)
			thread_end(s, i);
}

/* Until nothing more happens at this time; steps and changes may take none. */
static void settle(struct sim *s)
{
	bool again = true;
	u32 i;

	while (again) {
		for (i = 0; i < s->trace->nclients; i++)
			thread_start(s, i);
		cores_start(s);
		again = s->change != TERMS && s->change_until <= s->now;
		for (i = 0; i < s->trace->nclients; i++)
			again |= s->threads[i].step != NONE && s->threads[i].until <= s->now;
		if (again)
			end_what_is_over(s);
	}
}

static void begin(struct sim *s)
{
	const struct plan *plan = s->plan;
	u32 i, l;

	s->steps = calloc(plan->nsteps + 1, sizeof(*s->steps));
	s->works_left = calloc(plan->nsteps + 1, sizeof(*s->works_left));
	s->works = calloc(plan->nworks + 1, sizeof(*s->works));
	s->ready = calloc(plan->nworks + 1, sizeof(*s->ready));
	s->threads = calloc(s->trace->nclients, sizeof(*s->threads));
	s->from = calloc(s->trace->nclients, sizeof(*s->from));
	s->seen = calloc(plan->windows + 1, sizeof(*s->seen));
	s->r->client_ns = calloc(s->trace->nclients, sizeof(*s->r->client_ns));
	s->r->step_from_ns = calloc(plan->nsteps + 1, sizeof(*s->r->step_from_ns));
	s->r->step_to_ns = calloc(plan->nsteps + 1, sizeof(*s->r->step_to_ns));
	if (!s->steps || !s->works_left || !s->works || !s->ready || !s->threads || !s->from ||
	    !s->seen || !s->r->client_ns || !s->r->step_from_ns || !s->r->step_to_ns)
		die(2, "out of memory");
	s->left = plan->nsteps;
	s->window = NONE;
	s->change = TERMS;
	for (i = 0; i < plan->nsteps; i++)
		s->works_left[i] = plan->steps[i].works;
	for (i = 0; i < plan->nworks; i++) {
		s->works[i].lanes_left = plan->works[i].lanes;
		for (l = 0; l < plan->works[i].lanes; l++)
			s->works[i].lane[l] = (struct lane){ plan->works[i].lane[l], NONE };
	}
	for (i = 0; i < s->trace->nclients; i++) {
		s->threads[i].step = NONE;
		s->from[i] = plan->first[i];
	}
	for (i = 0; i < NPU_TIME_CORES; i++)
		s->core[i].work = NONE;
}

void simulate(const struct trace *trace, const struct plan *plan, struct result *result)
{
	struct sim s = { .trace = trace, .plan = plan, .r = result };
	u64 next;

	*result = (struct result){ 0 };
	begin(&s);
	settle(&s);
	while (s.left) {
		next = next_event(&s);
		if (next == ~0ull)
			die(2, "the trace never ends");
		attribute(&s, next);
		s.now = next;
		end_what_is_over(&s);
		settle(&s);
	}
	result->total_ns = s.now;
	free(s.steps);
	free(s.works_left);
	free(s.works);
	free(s.ready);
	free(s.threads);
	free(s.from);
	free(s.seen);
}

void result_free(struct result *result)
{
	free(result->client_ns);
	free(result->step_from_ns);
	free(result->step_to_ns);
	free(result->events);
	*result = (struct result){ 0 };
}
