/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random streams of jobs for the scheduler's policy, with a simulated clock.
 *
 * The loop around it is that of kmod/rkmm_next.c: a client's jobs run in order, each in
 * lanes over the cores, lanes pause between kicks, and another window needs idle cores.
 * "Busy" clients always have work.
 */
#ifndef POLICY_WORLD_H
#define POLICY_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kmod/prog/rkmm_policy.h"

#define US		1000ull
#define MS		1000000ull
#define CLIENTS		8
#define MANY		16
#define CORES		3
#define SAMPLE		(20 * MS)
#define SAMPLES		128
#define SWITCH_NS	(400 * US)
#define CHANGE_NS	(50 * US)
/* the longest kick that the driver makes */
#define KICK_MOST	(3 * MS)

struct client {
	struct rkmm_candidate c;
	/* what it is like */
	uint64_t kick_ns, think_ns;
	uint32_t window, lanes_most, kicks_most, modes, mode, mask;
	bool busy, all_lanes;
	/* its present job */
	bool ready, running;
	uint64_t arrives;
	uint32_t lanes, next_lane, parked, at_work, left[CORES];
	uint64_t jobs, kicks;
	/* what it got */
	uint64_t served, worst, history[SAMPLES];
	uint32_t waits_older;
};

struct core {
	struct client *client;
	uint64_t started, ends;
	uint32_t lane, mode;
};

struct sim {
	uint64_t seed, now, end, floor, hold, samples;
	uint32_t ncores, nclients, window, switches, changes;
	bool fcfs, drain, old_served;
	struct client client[MANY];
	struct core core[CORES];
	struct rkmm_policy_counts counts;
};

static inline uint32_t rnd(struct sim *s, uint32_t n)
{
	s->seed ^= s->seed << 13;
	s->seed ^= s->seed >> 7;
	s->seed ^= s->seed << 17;
	return (uint32_t)((s->seed >> 16) % n);
}

static inline void wake(struct sim *s, struct client *c)
{
	c->c.since = s->now;
	if (c->c.vtime < s->floor)
		c->c.vtime = s->floor;
}

static inline void new_job(struct sim *s, struct client *c)
{
	uint32_t i;

	c->running = true;
	c->lanes = c->all_lanes ? c->lanes_most : 1 + rnd(s, c->lanes_most);
	c->next_lane = 0;
	c->parked = 0;
	c->at_work = 0;
	c->mode = rnd(s, c->modes);
	for (i = 0; i < c->lanes; i++)
		c->left[i] = 1 + rnd(s, c->kicks_most);
	wake(s, c);
}

static inline bool startable(const struct client *c)
{
	return c->running && (c->parked || c->next_lane < c->lanes);
}

static inline uint32_t idle_cores(const struct sim *s)
{
	uint32_t i, mask = 0;

	for (i = 0; i < s->ncores; i++)
		if (!s->core[i].client)
			mask |= 1u << i;
	return mask;
}

static inline bool is_candidate(struct sim *s, struct client *c, uint32_t idle)
{
	uint32_t i;

	if (!startable(c))
		return false;
	c->c.elsewhere = c->window != s->window;
	if (!c->c.elsewhere && !(c->mask & idle))
		return false;
	c->c.change = 1;
	for (i = 0; i < s->ncores; i++)
		if (idle & c->mask & 1u << i && s->core[i].mode == c->mode)
			c->c.change = 0;
	return true;
}

static inline struct client *choose(struct sim *s, uint32_t idle)
{
	const struct rkmm_candidate *best = NULL;
	uint64_t floor = UINT64_MAX;
	struct rkmm_choice choice;
	struct client *c;
	uint32_t i, pass;

	rkmm_choice_start(&choice, s->now, &s->counts);
	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < s->nclients; i++) {
			c = &s->client[i];
			if (!is_candidate(s, c, idle))
				continue;
			if (pass) {
				rkmm_choice_offer(&choice, &c->c);
				if (!best || c->c.since < best->since)
					best = &c->c;
				continue;
			}
			rkmm_choice_see(&choice, &c->c);
			if (c->c.vtime < floor)
				floor = c->c.vtime;
		}
	if (!choice.n)
		return NULL;
	for (i = 0; i < s->ncores; i++)
		if (s->core[i].client && s->core[i].client->c.vtime < floor)
			floor = s->core[i].client->c.vtime;
	if (floor > s->floor)
		s->floor = floor;
	if (!s->fcfs)
		best = rkmm_choice_end(&choice, &s->counts);
	return (struct client *)((char *)best - offsetof(struct client, c));
}

/*
 * Nobody who has waited too long, and could have been served, is passed over for a younger one;
 * but after such a one for one of high priority.
 */
static inline void check_age(struct sim *s, const struct client *served, uint32_t idle)
{
	uint64_t age = 0;
	uint32_t i;

	for (i = 0; i < s->nclients; i++)
		age += is_candidate(s, &s->client[i], idle) ? KICK_MOST : 0;
	if (age < 20 * MS)
		age = 20 * MS;
	if (s->old_served && served->c.priority == RKMM_PRIORITY_HIGH)
		return;

	for (i = 0; i < s->nclients; i++) {
		struct client *c = &s->client[i];

		if (c == served || !is_candidate(s, c, idle))
			continue;
		if (s->now - c->c.since >= age)
			assert_true(served->c.since <= c->c.since);
	}
}

static inline void serve(struct sim *s, struct client *c, uint32_t idle)
{
	uint32_t i, lane, core = CORES;
	uint64_t wait = s->now - c->c.since, ns;

	for (i = 0; i < s->ncores; i++)
		if (idle & c->mask & 1u << i && (core == CORES || s->core[i].mode == c->mode))
			core = i;
	assert_true(core < CORES);
	if (c->parked) {
		lane = (uint32_t)__builtin_ctz(c->parked);
		c->parked &= ~(1u << lane);
	} else {
		lane = c->next_lane++;
	}
	c->at_work++;
	if (wait > c->worst)
		c->worst = wait;
	s->old_served = wait >= 20 * MS && c->c.priority != RKMM_PRIORITY_HIGH;
	rkmm_choice_served(&s->counts, &c->c, s->now);
	c->c.since = s->now;
	ns = c->kick_ns / 2 + rnd(s, (uint32_t)c->kick_ns);
	if (s->core[core].mode != c->mode) {
		s->changes++;
		ns += CHANGE_NS;
	}
	s->core[core] = (struct core){
		.client = c, .started = s->now, .ends = s->now + ns, .lane = lane, .mode = c->mode,
	};
	c->kicks++;
}

static inline void start(struct sim *s)
{
	struct client *c;
	uint32_t idle;

	s->drain = false;
	while (s->now >= s->hold) {
		idle = idle_cores(s);
		c = idle ? choose(s, idle) : NULL;
		if (!c)
			return;
		if (!s->fcfs)
			check_age(s, c, idle);
		if (c->window != s->window) {
			s->drain = true;
			if (idle != (1u << s->ncores) - 1)
				return;
			s->window = c->window;
			s->switches++;
			s->hold = s->now + SWITCH_NS;
			return;
		}
		serve(s, c, idle);
	}
}

/* An idle core, and nobody who could use it, unless the cores drain for another window */
static inline void check_work(struct sim *s)
{
	uint32_t i, idle = idle_cores(s);

	if (s->drain || s->now < s->hold || !idle)
		return;
	for (i = 0; i < s->nclients; i++)
		assert_false(is_candidate(s, &s->client[i], idle));
}

static inline void complete(struct sim *s, struct core *core)
{
	struct client *c = core->client;

	core->client = NULL;
	c->served += core->ends - core->started;
	if (c->c.vtime < s->floor)
		c->c.vtime = s->floor;
	c->c.vtime += rkmm_policy_charge(c->c.priority, core->ends - core->started);
	c->at_work--;
	if (--c->left[core->lane]) {
		if (!startable(c))
			c->c.since = s->now;
		c->parked |= 1u << core->lane;
		return;
	}
	if (c->at_work || c->parked || c->next_lane < c->lanes)
		return;
	c->jobs++;
	c->running = false;
	c->arrives = s->now + (c->busy ? 0 : rnd(s, (uint32_t)c->think_ns + 1));
}

static inline void sample(struct sim *s)
{
	struct client *c;
	uint32_t i, k;

	for (i = 0; i < s->nclients; i++) {
		c = &s->client[i];
		c->history[s->samples] = c->served;
		for (k = 0; k < s->ncores; k++)
			if (s->core[k].client == c)
				c->history[s->samples] += s->now - s->core[k].started;
	}
	s->samples++;
}

static inline void earlier(uint64_t *next, uint64_t t)
{
	if (t < *next)
		*next = t;
}

static inline void run(struct sim *s)
{
	uint64_t next;
	uint32_t i;

	for (s->now = 0; s->now < s->end; s->now = next) {
		for (i = 0; i < s->ncores; i++)
			if (s->core[i].client && s->core[i].ends == s->now)
				complete(s, &s->core[i]);
		for (i = 0; i < s->nclients; i++)
			if (!s->client[i].running && s->client[i].arrives <= s->now)
				new_job(s, &s->client[i]);
		start(s);
		if (!s->fcfs)
			check_work(s);
		if (s->now == s->samples * SAMPLE && s->samples < SAMPLES)
			sample(s);

		next = s->samples * SAMPLE;
		if (next <= s->now)
			next = s->end;
		if (s->hold > s->now)
			earlier(&next, s->hold);
		for (i = 0; i < s->ncores; i++)
			if (s->core[i].client)
				earlier(&next, s->core[i].ends);
		for (i = 0; i < s->nclients; i++)
			if (!s->client[i].running)
				earlier(&next, s->client[i].arrives);
		assert_true(next > s->now);
	}
}

static inline void any_client(struct sim *s, struct client *c)
{
	c->c.priority = RKMM_PRIORITY_NORMAL;
	c->kick_ns = 20 * US + rnd(s, 1900) * US;
	c->think_ns = rnd(s, 4) ? rnd(s, 3000) * US : 30 * MS;
	c->window = rnd(s, 3);
	c->lanes_most = 1 + rnd(s, s->ncores);
	c->kicks_most = 1 + rnd(s, 6);
	c->modes = 1 + rnd(s, 3);
	c->mask = 7;
	c->arrives = rnd(s, 4) ? 0 : rnd(s, 100000000);
}

static inline struct sim *any(uint64_t seed)
{
	static struct sim sim;
	uint32_t i;

	memset(&sim, 0, sizeof(sim));
	sim.seed = seed * 0x9e3779b97f4a7c15ull + 88172645463325252ull;
	sim.ncores = 1 + rnd(&sim, CORES);
	sim.nclients = 2 + rnd(&sim, CLIENTS - 1);
	sim.end = 400 * MS;
	for (i = 0; i < CLIENTS; i++)
		any_client(&sim, &sim.client[i]);
	return &sim;
}

/* Clients that always have work, in one window */
static inline struct sim *busy(uint64_t seed, uint32_t ncores, uint32_t nclients)
{
	struct sim *s = any(seed);
	uint32_t i;

	s->end = 2000 * MS;
	s->ncores = ncores;
	s->nclients = nclients;
	for (i = 0; i < nclients; i++) {
		any_client(s, &s->client[i]);
		s->client[i].busy = true;
		s->client[i].arrives = 0;
	}
	return s;
}

#endif
