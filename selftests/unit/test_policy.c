// SPDX-License-Identifier: GPL-2.0-only
/* The scheduler's policy on thousands of random streams of jobs: policy_world.h. */
#include "policy_world.h"

/* Any mix: nobody is passed over who waited too long, no core idles: run() asserts that. */
static void test_any(void **state)
{
	uint64_t seed, jobs = 0;
	struct sim *s;
	uint32_t i;

	(void)state;
	for (seed = 0; seed < 3000; seed++) {
		s = any(seed);
		for (i = 0; i < s->nclients; i++) {
			struct client *c = &s->client[i];

			c->c.priority = rnd(s, RKMM_PRIORITIES);
			c->busy = !rnd(s, 3);
			c->mask = 1 + rnd(s, (1u << s->ncores) - 1);
			c->lanes_most = 1 + rnd(s, (uint32_t)__builtin_popcount(c->mask));
		}
		run(s);
		for (i = 0; i < s->nclients; i++) {
			/* everybody gets somewhere, whatever the others are */
			assert_true(s->client[i].kicks > 2);
			jobs += s->client[i].jobs;
		}
	}
	assert_true(jobs > 100000);
}

/* As many as can be served in time: nobody waits longer than 20 ms, a kick, and a switch. */
static void test_wait(void **state)
{
	uint64_t seed, bound;
	struct sim *s;
	uint32_t i, kicks;

	(void)state;
	for (seed = 0; seed < 2000; seed++) {
		s = any(seed + 10000);
		s->nclients = 2 + rnd(s, 3);
		for (i = 0; i < s->nclients; i++) {
			s->client[i].busy = rnd(s, 4);
			s->client[i].c.priority = rnd(s, RKMM_PRIORITIES);
		}
		run(s);
		/*
		 * The kick that runs. Others may be too old at the same time: then one waits for
		 * theirs, and for one of high priority between two of them.
		 */
		kicks = s->nclients - 1;
		for (i = 0; i < s->nclients; i++)
			if (s->client[i].c.priority == RKMM_PRIORITY_HIGH)
				kicks = 1 + 2 * (s->nclients - 2);
		bound = RKMM_AGE_NS + kicks * (1920 * US * 3 / 2 + CHANGE_NS + SWITCH_NS);
		for (i = 0; i < s->nclients; i++) {
			if (s->client[i].worst > bound)
				print_message("seed %llu client %u of %u waited %llu us\n",
					      (unsigned long long)seed, i, s->nclients,
					      (unsigned long long)s->client[i].worst / 1000);
			assert_true(s->client[i].worst <= bound);
		}
	}
}

static void within(const struct sim *s, const struct client *x, const struct client *y,
		   uint64_t factor)
{
	uint32_t t;

	for (t = 10; t + 50 < s->samples; t++) {
		uint64_t a = x->history[t + 50] - x->history[t];
		uint64_t b = (y->history[t + 50] - y->history[t]) * factor;

		if (a * 10 < b * 9 || b * 10 < a * 9)
			print_message("%u cores, %u clients, second from %u ms: %llu and %llu us\n",
				      s->ncores, s->nclients, t * 20,
				      (unsigned long long)a / 1000, (unsigned long long)b / 1000);
		assert_true(a * 10 >= b * 9 && b * 10 >= a * 9);
	}
}

/* Equal busy clients with kicks, windows and modes of their own, among others that come and go */
static void test_fair(void **state)
{
	uint32_t i, streams = 0;
	uint64_t seed;
	struct sim *s;

	(void)state;
	for (seed = 0; seed < 400; seed++) {
		s = any(seed + 20000);
		s->end = 2000 * MS;
		s->nclients = s->ncores + 1 + rnd(s, 2);
		for (i = 0; i < s->nclients; i++) {
			s->client[i].busy = i < 2 || rnd(s, 2);
			s->client[i].arrives = 0;
			s->client[i].lanes_most = s->client[0].lanes_most;
		}
		/* Where cores are left over, what a client gets is its own affair. */
		for (i = 0; i < s->nclients; i++)
			s->client[i].busy |= s->nclients <= s->ncores + 1;
		run(s);
		if (s->client[0].lanes_most > 1 && s->ncores > 1)
			continue;
		within(s, &s->client[0], &s->client[1], 1);
		streams++;
	}
	assert_true(streams > 200);
}

/* One of low priority gets a quarter. */
static void test_low(void **state)
{
	uint64_t seed;
	struct sim *s;
	uint32_t i;

	(void)state;
	for (seed = 0; seed < 200; seed++) {
		s = busy(seed + 30000, 1, 2);
		for (i = 0; i < 2; i++)
			s->client[i].kick_ns = 100 * US + rnd(s, 900) * US;
		s->client[1].c.priority = RKMM_PRIORITY_LOW;
		run(s);
		within(s, &s->client[0], &s->client[1], 4);
	}
}

/* One of high priority, and busy, leaves the others what their age gives them. */
static void test_high(void **state)
{
	struct sim *s;

	(void)state;
	s = busy(40000, 1, 2);
	s->client[1].c.priority = RKMM_PRIORITY_HIGH;
	run(s);
	assert_true(s->client[1].served > 4 * s->client[0].served);
	assert_true(s->client[0].kicks >= 60);
	assert_true(s->counts.rule[RKMM_RULE_RANK] > s->counts.rule[RKMM_RULE_AGE]);
}

/*
 * Many who are kept waiting by one of high priority: another one, that now and then has a job,
 * waits for two kicks and a switch.
 */
static void test_urgent(void **state)
{
	uint64_t seed, bound = 2 * (3 * MS + CHANGE_NS) + 2 * SWITCH_NS;
	struct client *urgent;
	struct sim *s;
	uint32_t i;

	(void)state;
	for (seed = 0; seed < 100; seed++) {
		s = busy(seed + 80000, 1, MANY);
		for (i = 0; i < MANY; i++) {
			s->client[i].kick_ns = 2 * MS;
			s->client[i].window = 0;
		}
		s->client[1].c.priority = RKMM_PRIORITY_HIGH;
		urgent = &s->client[0];
		urgent->c.priority = RKMM_PRIORITY_HIGH;
		urgent->busy = false;
		urgent->think_ns = 8 * MS;
		urgent->kick_ns = 200 * US;
		urgent->kicks_most = 1;
		urgent->lanes_most = 1;
		run(s);
		assert_true(urgent->jobs > 100);
		if (urgent->worst > bound)
			print_message("seed %llu: %llu us\n", (unsigned long long)seed,
				      (unsigned long long)urgent->worst / 1000);
		assert_true(urgent->worst <= bound);
		/* and they are not forgotten */
		for (i = 2; i < MANY; i++)
			assert_true(s->client[i].kicks >= 20);
	}
}

/* So many on one core that their kicks take longer than 20 ms together: still equal times */
static void test_crowd(void **state)
{
	uint64_t seed;
	struct sim *s;
	uint32_t i;

	(void)state;
	for (seed = 0; seed < 100; seed++) {
		s = busy(seed + 90000, 1, MANY);
		for (i = 0; i < MANY; i++) {
			s->client[i].window = 0;
			s->client[i].kick_ns = i % 2 ? 2 * MS : 500 * US;
		}
		run(s);
		/* over all of it: a second has no more than some thirty kicks of each */
		for (i = 1; i < MANY; i++)
			assert_in_range(s->client[i].served, s->client[0].served * 9 / 10,
					s->client[0].served * 11 / 10);
	}
}

/*
 * Time is that of cores: beside a client whose jobs have three lanes, those with one lane get the
 * same time, or all that one core can give.
 */
static void test_lanes(void **state)
{
	uint64_t seed, share, least;
	struct sim *s;
	uint32_t i, n;

	(void)state;
	for (seed = 0; seed < 300; seed++) {
		n = 1 + (uint32_t)(seed % 5);
		s = busy(seed + 100000, CORES, n + 1);
		for (i = 0; i <= n; i++) {
			s->client[i].window = 0;
			s->client[i].modes = 1;
			s->client[i].lanes_most = i ? 1 : CORES;
			s->client[i].all_lanes = true;
		}
		run(s);
		share = CORES * s->end / (n + 1);
		least = share < s->end ? share : s->end;
		for (i = 1; i <= n; i++) {
			if (s->client[i].served * 10 < least * 9)
				print_message("seed %llu: %llu of %llu ms with %u others\n",
					      (unsigned long long)seed,
					      (unsigned long long)(s->client[i].served / MS),
					      (unsigned long long)(least / MS), n);
			assert_true(s->client[i].served * 10 >= least * 9);
			assert_true(s->client[i].served * 10 <= least * 11);
		}
		/* the rest, less what its lanes wait for each other at the end of a job */
		share = CORES * s->end - n * least;
		assert_true(s->client[0].served * 10 >= share * 7);
		assert_true(s->client[0].served * 10 <= share * 11);
	}
}

/* A client that slept has no claim on what it did not use. */
static void test_sleeper(void **state)
{
	struct sim *s;

	(void)state;
	s = busy(50000, 1, 2);
	s->client[1].arrives = 900 * MS;
	run(s);
	/* of the last 1.1 s, half */
	assert_in_range(s->client[1].served, 490 * MS, 560 * MS);
}

/* The same streams, first come first served: more switches. */
static void test_cheaper(void **state)
{
	uint64_t seed, switches[2] = { 0 }, served[2] = { 0 };
	struct sim *s;
	uint32_t i, k, fewer = 0, streams = 0;

	(void)state;
	for (seed = 0; seed < 500; seed++) {
		uint32_t both[2];

		for (k = 0; k < 2; k++) {
			s = any(seed + 60000);
			s->fcfs = k;
			s->nclients = 2 + rnd(s, 3);
			for (i = 0; i < s->nclients; i++)
				s->client[i].busy = i < 2;
			s->client[0].window = 0;
			s->client[1].window = 1;
			run(s);
			both[k] = s->switches;
			switches[k] += s->switches;
			for (i = 0; i < s->nclients; i++)
				served[k] += s->client[i].served;
			if (!k)
				assert_true(s->counts.rule[RKMM_RULE_WINDOW]);
		}
		streams++;
		fewer += both[0] < both[1];
	}
	print_message("switches %llu, were %llu; served %llu ms, were %llu\n",
		      (unsigned long long)switches[0], (unsigned long long)switches[1],
		      (unsigned long long)(served[0] / MS), (unsigned long long)(served[1] / MS));
	assert_true(fewer * 100 >= streams * 95);
	assert_true(switches[0] * 3 < switches[1]);
	assert_true(served[0] > served[1]);
}

/* In one window, clients that stick to a mode: fewer changes of it than first come first served. */
static void test_modes(void **state)
{
	uint64_t seed, changes[2] = { 0 }, served[2] = { 0 };
	struct sim *s;
	uint32_t i, k;

	(void)state;
	for (seed = 0; seed < 300; seed++)
		for (k = 0; k < 2; k++) {
			s = any(seed + 70000);
			s->fcfs = k;
			s->nclients = 4 + rnd(s, 4);
			for (i = 0; i < s->nclients; i++) {
				s->client[i].busy = true;
				s->client[i].window = 0;
				s->client[i].modes = 1 + i % 2;
			}
			run(s);
			changes[k] += s->changes;
			for (i = 0; i < s->nclients; i++)
				served[k] += s->client[i].served;
		}
	print_message("changes %llu, were %llu\n", (unsigned long long)changes[0],
		      (unsigned long long)changes[1]);
	assert_true(changes[0] * 2 < changes[1]);
	/* those cost time on the cores in both */
	assert_true(served[0] > served[1] / 100 * 99);
}

static const struct rkmm_candidate *pick(const struct rkmm_candidate *c, uint32_t n, uint64_t now,
					 struct rkmm_policy_counts *counts)
{
	struct rkmm_choice choice;
	uint32_t i;

	rkmm_choice_start(&choice, now, counts);
	for (i = 0; i < n; i++)
		rkmm_choice_see(&choice, &c[i]);
	for (i = 0; i < n; i++)
		rkmm_choice_offer(&choice, &c[i]);
	return rkmm_choice_end(&choice, counts);
}

/* Rule by rule, and what is counted for it */
static void test_rules(void **state)
{
	static const struct {
		struct rkmm_candidate older, better;
		enum rkmm_rule rule;
	} cases[] = {
		{ { 0, 1, RKMM_PRIORITY_NORMAL, false, 0 },
		  { 99, 2, RKMM_PRIORITY_HIGH, true, 2 }, RKMM_RULE_RANK },
		{ { 6000000, 1, RKMM_PRIORITY_NORMAL, false, 0 },
		  { 0, 2, RKMM_PRIORITY_NORMAL, true, 2 }, RKMM_RULE_SHARE },
		{ { 0, 1, RKMM_PRIORITY_NORMAL, true, 0 },
		  { 4000000, 2, RKMM_PRIORITY_NORMAL, false, 2 }, RKMM_RULE_WINDOW },
		{ { 0, 1, RKMM_PRIORITY_NORMAL, false, 1 },
		  { 4000000, 2, RKMM_PRIORITY_LOW, false, 0 }, RKMM_RULE_MODE },
		{ { 1, 1, RKMM_PRIORITY_NORMAL, false, 1 },
		  { 0, 2, RKMM_PRIORITY_NORMAL, false, 1 }, RKMM_RULE_TIME },
	};
	struct rkmm_policy_counts counts;
	struct rkmm_candidate c[2];
	uint32_t i, k, r;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (k = 0; k < 2; k++) {
			c[k] = cases[i].older;
			c[!k] = cases[i].better;
			memset(&counts, 0, sizeof(counts));
			assert_ptr_equal(pick(c, 2, 1000, &counts), &c[!k]);
			for (r = 0; r < RKMM_RULES; r++)
				assert_int_equal(counts.rule[r], r == cases[i].rule);
			assert_int_equal(counts.choices, 1);
			assert_int_equal(counts.forced, 0);
			/* too old: before all that */
			memset(&counts, 0, sizeof(counts));
			assert_ptr_equal(pick(c, 2, RKMM_AGE_NS + 1, &counts), &c[k]);
			assert_int_equal(counts.rule[RKMM_RULE_AGE], 1);
			assert_int_equal(counts.forced, cases[i].rule == RKMM_RULE_WINDOW ||
						       cases[i].rule == RKMM_RULE_MODE);
		}
	memset(&counts, 0, sizeof(counts));
	assert_null(pick(c, 0, 0, &counts));
	assert_string_equal(rkmm_rule_name(RKMM_RULE_WINDOW), "window");
	assert_string_equal(rkmm_priority_name(RKMM_PRIORITY_LOW), "low");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_any),
		cmocka_unit_test(test_wait),
		cmocka_unit_test(test_fair),
		cmocka_unit_test(test_low),
		cmocka_unit_test(test_high),
		cmocka_unit_test(test_urgent),
		cmocka_unit_test(test_crowd),
		cmocka_unit_test(test_lanes),
		cmocka_unit_test(test_sleeper),
		cmocka_unit_test(test_cheaper),
		cmocka_unit_test(test_modes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
