// SPDX-License-Identifier: GPL-2.0-only
/*
 * Learned times of kicks, and when to look: hw 03 §3.4.
 */
#include "rkmm_estimate.h"
#include "rkmm_pure.h"

/* What one kick adds to a mean: hw 03 §3.2 */
#define SHARE	4

/* A kick that was waited for in vain and found late says little: at most so many times the mean. */
#define OUTLIER	4

u64 rkmm_estimate_key(u32 image, u32 kick, u32 cores, u32 mhz)
{
	u64 key = image;

	key = key * 0x9e3779b97f4a7c15ull + kick;
	key = key * 0x9e3779b97f4a7c15ull + (cores << 16 | (mhz & 0xffff));
	key ^= key >> 29;
	return key ? key : 1;
}

static struct rkmm_estimate *slot_of(struct rkmm_estimates *table, u64 key)
{
	return &table->slot[key % RKMM_ESTIMATES];
}

const struct rkmm_estimate *rkmm_estimate_get(struct rkmm_estimates *table, u64 key, u64 seed)
{
	struct rkmm_estimate *est = slot_of(table, key);

	if (est->key != key)
		*est = (struct rkmm_estimate){ .key = key, .ns = seed, .dev = seed / SHARE };
	return est;
}

void rkmm_estimate_learn(struct rkmm_estimates *table, u64 key, u64 ns)
{
	struct rkmm_estimate *est = slot_of(table, key);
	u64 away;

	if (est->key != key)
		return;
	/* The law is that of the chip alone: the first one that was seen takes its place. */
	if (!est->runs++) {
		est->ns = ns;
		est->dev = ns / SHARE;
		return;
	}
	ns = rkmm_min64(ns, est->ns * OUTLIER);
	away = ns > est->ns ? ns - est->ns : est->ns - ns;
	est->dev += away / SHARE;
	est->dev -= rkmm_min64(est->dev, (est->dev + SHARE - 1) / SHARE);
	est->ns = est->ns - est->ns / SHARE + ns / SHARE;
}

u32 rkmm_poll_plan(const struct rkmm_poll_rule *rule, const struct rkmm_estimate *estimate,
		   u64 *first)
{
	u64 ns = estimate->ns, spread, wanted, allowed;

	if (!rule->interval || !rule->look || ns > rule->most)
		return 0;
	spread = rkmm_max(2 * estimate->dev, rule->interval);
	wanted = 2 * spread / rule->interval + 1;
	allowed = ns / rule->look * rule->percent / 100;
	if (wanted > allowed) {
		wanted = allowed;
		spread = wanted * rule->interval / 2;
	}
	*first = ns > spread ? ns - spread : 0;
	return (u32)wanted;
}
