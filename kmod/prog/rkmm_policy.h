/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which of several ready clients is served next.
 *
 * Clients share the NPU by time: each has a virtual time that its use of cores moves on,
 * and who is behind is served first. Within a bound, a client is preferred whose work can
 * start without a change of the address window or of the datapath mode. Who has waited
 * too long is served whatever that costs.
 *
 * Pure code, also compiled into host tests and tools. A choice takes two rounds over the
 * candidates:
 *
 *	rkmm_choice_start(&choice, now, &counts);
 *	for each candidate:	rkmm_choice_see(&choice, candidate);
 *	for each candidate:	rkmm_choice_offer(&choice, candidate);
 *	best = rkmm_choice_end(&choice, &counts);
 *
 * and what is served, by a choice or not, is told:
 *
 *	rkmm_choice_served(&counts, candidate, now);
 */
#ifndef RKMM_POLICY_H
#define RKMM_POLICY_H

#include "rkmm_prog.h"

/*
 * Who has waited that long goes before everybody who came later. Of so many candidates that one
 * kick of each takes longer, nobody is too old before that time.
 */
#define RKMM_AGE_NS	20000000u

/**
 * enum rkmm_priority - of a client
 * @RKMM_PRIORITY_NORMAL: the usual one
 * @RKMM_PRIORITY_LOW: gets a quarter of what the others get
 * @RKMM_PRIORITY_HIGH: goes before the others
 * @RKMM_PRIORITIES: how many
 */
enum rkmm_priority {
	RKMM_PRIORITY_NORMAL,
	RKMM_PRIORITY_LOW,
	RKMM_PRIORITY_HIGH,
	RKMM_PRIORITIES,
};

/**
 * struct rkmm_candidate - a client whose next work is ready
 * @vtime: its virtual time, ns
 * @since: when it became ready, or was last served
 * @priority: its priority
 * @elsewhere: needs another address window, or other operands staged
 * @change: what the datapath mode of a core costs it: 0 nothing, the more the worse
 */
struct rkmm_candidate {
	u64 vtime, since;
	enum rkmm_priority priority;
	bool elsewhere;
	u32 change;
};

/**
 * enum rkmm_rule - what makes one candidate better than another, the first that differs
 * @RKMM_RULE_AGE: waits for too long, the longest first; but of two kicks in a row, one is
 *	for a higher priority
 * @RKMM_RULE_RANK: a higher priority that goes before
 * @RKMM_RULE_SHARE: is not ahead of the others by more than the bound
 * @RKMM_RULE_WINDOW: is in the present window
 * @RKMM_RULE_MODE: costs less of a change of mode
 * @RKMM_RULE_TIME: is behind the others
 * @RKMM_RULE_FIRST: is ready for longer
 * @RKMM_RULES: how many
 */
enum rkmm_rule {
	RKMM_RULE_AGE,
	RKMM_RULE_RANK,
	RKMM_RULE_SHARE,
	RKMM_RULE_WINDOW,
	RKMM_RULE_MODE,
	RKMM_RULE_TIME,
	RKMM_RULE_FIRST,
	RKMM_RULES,
};

/**
 * struct rkmm_policy_counts - what the policy did
 * @choices: choices among several
 * @rule: by enum rkmm_rule: choices that it decided against who was ready first. So WINDOW
 *	and MODE count changes avoided, or put off
 * @forced: changes of window or mode for the sake of who had waited too long
 * @aged: not a count: who was served last had waited long, and goes before nobody by rank
 */
struct rkmm_policy_counts {
	u64 choices;
	u64 rule[RKMM_RULES];
	u64 forced;
	bool aged;
};

/**
 * struct rkmm_choice - a choice being made
 * @now: time of it
 * @n: candidates
 * @rank: highest of them
 * @floor: least virtual time of that rank
 * @slack: how far ahead of it a candidate may be
 * @age: who waits for so long is too old
 * @aged: rkmm_policy_counts.aged
 * @best: by all rules
 * @calm: by all but RKMM_RULE_AGE
 * @first: ready for the longest time
 */
struct rkmm_choice {
	u64 now;
	u32 n, rank;
	u64 floor, slack, age;
	bool aged;
	const struct rkmm_candidate *best, *calm, *first;
};

/** rkmm_policy_charge() - by how much @ns on a core moves a virtual time */
u64 rkmm_policy_charge(enum rkmm_priority priority, u64 ns);

void rkmm_choice_start(struct rkmm_choice *choice, u64 now,
		       const struct rkmm_policy_counts *counts);
void rkmm_choice_see(struct rkmm_choice *choice, const struct rkmm_candidate *candidate);
void rkmm_choice_offer(struct rkmm_choice *choice, const struct rkmm_candidate *candidate);
const struct rkmm_candidate *rkmm_choice_end(const struct rkmm_choice *choice,
					     struct rkmm_policy_counts *counts);

/** rkmm_choice_served() - @candidate starts at @now */
static inline void rkmm_choice_served(struct rkmm_policy_counts *counts,
				      const struct rkmm_candidate *candidate, u64 now)
{
	counts->aged = candidate->priority != RKMM_PRIORITY_HIGH &&
		       now - candidate->since >= RKMM_AGE_NS;
}

/** rkmm_rule_name() - "age" ... */
const char *rkmm_rule_name(enum rkmm_rule rule);
/** rkmm_priority_name() - "normal" ... */
const char *rkmm_priority_name(enum rkmm_priority priority);

#endif
