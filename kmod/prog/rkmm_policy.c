// SPDX-License-Identifier: GPL-2.0-only
/* Which of several ready clients is served next: see rkmm_policy.h. */
#include "rkmm_chain.h"
#include "rkmm_policy.h"
#include "rkmm_pure.h"

/**
 * struct class - what a priority means
 * @name: for people
 * @rank: a higher one goes before, until the others have waited too long
 * @shift: virtual time passes 2^shift times as fast
 */
struct class {
	const char *name;
	u8 rank, shift;
};

static const struct class classes[RKMM_PRIORITIES] = {
	[RKMM_PRIORITY_LOW]	= { "low",	0, 2 },
	[RKMM_PRIORITY_NORMAL]	= { "normal",	0, 0 },
	[RKMM_PRIORITY_HIGH]	= { "high",	1, 0 },
};

static const char * const rules[RKMM_RULES] = {
	[RKMM_RULE_AGE]		= "age",
	[RKMM_RULE_RANK]	= "rank",
	[RKMM_RULE_SHARE]	= "share",
	[RKMM_RULE_WINDOW]	= "window",
	[RKMM_RULE_MODE]	= "mode",
	[RKMM_RULE_TIME]	= "time",
	[RKMM_RULE_FIRST]	= "first",
};

/* By a rule, the less the better */
static u64 key(const struct rkmm_choice *choice, enum rkmm_rule rule,
	       const struct rkmm_candidate *c)
{
	bool aged = choice->now >= c->since && choice->now - c->since >= choice->age;

	switch (rule) {
	case RKMM_RULE_AGE:
		if (choice->aged && classes[c->priority].rank < choice->rank)
			return ~0ull;
		return aged ? c->since : ~0ull;
	case RKMM_RULE_RANK:
		return ~0u - classes[c->priority].rank;
	case RKMM_RULE_SHARE:
		return c->vtime > choice->floor + choice->slack;
	case RKMM_RULE_WINDOW:
		return c->elsewhere;
	case RKMM_RULE_MODE:
		return c->change;
	case RKMM_RULE_TIME:
		return c->vtime;
	default:
		return c->since;
	}
}

/* The rule, from @from on, by which @x is better; RKMM_RULES where @y is, or none. */
static enum rkmm_rule better_by(const struct rkmm_choice *choice, enum rkmm_rule from,
				const struct rkmm_candidate *x, const struct rkmm_candidate *y)
{
	enum rkmm_rule r;
	u64 kx, ky;

	for (r = from; r < RKMM_RULES; r++) {
		kx = key(choice, r, x);
		ky = key(choice, r, y);
		if (kx != ky)
			return kx < ky ? r : RKMM_RULES;
	}
	return RKMM_RULES;
}

u64 rkmm_policy_charge(enum rkmm_priority priority, u64 ns)
{
	return ns << classes[priority].shift;
}

void rkmm_choice_start(struct rkmm_choice *choice, u64 now,
		       const struct rkmm_policy_counts *counts)
{
	*choice = (struct rkmm_choice){ .now = now, .aged = counts->aged };
}

void rkmm_choice_see(struct rkmm_choice *choice, const struct rkmm_candidate *c)
{
	u32 rank = classes[c->priority].rank;

	if (!choice->n++ || rank > choice->rank ||
	    (rank == choice->rank && c->vtime < choice->floor))
		choice->floor = c->vtime;
	choice->rank = rkmm_max(choice->rank, rank);
	/*
	 * A client stays for up to twice the slack when there are two of them, and for the
	 * slack when there are more: all have had a turn before anybody has waited too long.
	 */
	choice->slack = RKMM_AGE_NS / 2 / choice->n;
	/* So many that one kick of each takes longer: earlier it is first come, first served. */
	choice->age = rkmm_max((u64)RKMM_AGE_NS, (u64)choice->n * RKMM_KICK_NS);
}

void rkmm_choice_offer(struct rkmm_choice *choice, const struct rkmm_candidate *c)
{
	if (!choice->best) {
		choice->best = c;
		choice->calm = c;
		choice->first = c;
		return;
	}
	if (better_by(choice, RKMM_RULE_AGE, c, choice->best) < RKMM_RULES)
		choice->best = c;
	if (better_by(choice, RKMM_RULE_RANK, c, choice->calm) < RKMM_RULES)
		choice->calm = c;
	if (c->since < choice->first->since)
		choice->first = c;
}

const struct rkmm_candidate *rkmm_choice_end(const struct rkmm_choice *choice,
					     struct rkmm_policy_counts *counts)
{
	const struct rkmm_candidate *best = choice->best;
	enum rkmm_rule rule;

	if (choice->n < 2)
		return best;
	counts->choices++;
	if (best != choice->calm) {
		counts->rule[RKMM_RULE_AGE]++;
		counts->forced += best->elsewhere > choice->calm->elsewhere ||
				  best->change > choice->calm->change;
	} else if (best != choice->first) {
		rule = better_by(choice, RKMM_RULE_RANK, best, choice->first);
		if (rule < RKMM_RULES)
			counts->rule[rule]++;
	} else {
		counts->rule[RKMM_RULE_FIRST]++;
	}
	return best;
}

const char *rkmm_rule_name(enum rkmm_rule rule)
{
	return rules[rule];
}

const char *rkmm_priority_name(enum rkmm_priority priority)
{
	return classes[priority].name;
}
