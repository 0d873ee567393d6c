/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long a kick will take, learned from those before, and when to look whether it has ended.
 *
 * Pure code, also compiled into host tests. Nothing here waits or looks.
 */
#ifndef RKMM_ESTIMATE_H
#define RKMM_ESTIMATE_H

#include "rkmm_prog.h"

#define RKMM_ESTIMATES	256

/**
 * struct rkmm_estimate - what kicks of one kind took
 * @key: rkmm_estimate_key(), 0 for none yet
 * @ns: running mean; until one has ended what the cost law says
 * @dev: running mean of the distance from it
 * @runs: kicks that have ended
 */
struct rkmm_estimate {
	u64 key;
	u64 ns, dev;
	u32 runs;
};

/**
 * struct rkmm_estimates - those of a device; all zero at first
 * @slot: by key; a new kind takes the place of one that was there
 */
struct rkmm_estimates {
	struct rkmm_estimate slot[RKMM_ESTIMATES];
};

/**
 * rkmm_estimate_key() - what the time of a kick depends on
 * @image: stands for plans, rows and repetitions, and so for the tilings (hw 03 D1: a key
 *	without them lets one that works speak for one that does not)
 * @kick: which kick of the image
 * @cores: cores at work, 1 .. RKMM_LANES_MAX
 * @mhz: core clock
 */
u64 rkmm_estimate_key(u32 image, u32 kick, u32 cores, u32 mhz);

/**
 * rkmm_estimate_get() - what is known of a kind
 * @table: the estimates
 * @key: rkmm_estimate_key()
 * @seed: what the cost law says, for a kind that is new
 */
const struct rkmm_estimate *rkmm_estimate_get(struct rkmm_estimates *table, u64 key, u64 seed);

/**
 * rkmm_estimate_learn() - a kick has ended
 * @table: the estimates
 * @key: its rkmm_estimate_key(); unknown ones are nothing to learn from
 * @ns: what it took
 */
void rkmm_estimate_learn(struct rkmm_estimates *table, u64 key, u64 ns);

/**
 * struct rkmm_poll_rule - what looking may cost
 * @interval: ns from one look to the next
 * @most: no looking at what takes longer
 * @look: ns of processor time that a look costs
 * @percent: of the time of a kick that may go into looks at it
 */
struct rkmm_poll_rule {
	u64 interval, most;
	u32 look, percent;
};

/**
 * rkmm_poll_plan() - when to look
 * @rule: what it may cost
 * @estimate: of the kick
 * @first: time of the first look, from the start of the kick
 *
 * Looks go from before the expected end to behind it as far as such kicks were seen to differ,
 * and no further than their cost allows.
 *
 * Return: looks, @rule->interval apart; 0 for none.
 */
u32 rkmm_poll_plan(const struct rkmm_poll_rule *rule, const struct rkmm_estimate *estimate,
		   u64 *first);

#endif
