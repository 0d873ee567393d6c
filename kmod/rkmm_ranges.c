// SPDX-License-Identifier: GPL-2.0-only
#include "rkmm_ranges.h"

#ifdef __KERNEL__
#include <linux/mm.h>
#include <linux/string.h>

static void *rkmm_ranges_alloc(u32 n)
{
	return kvmalloc_array(n, sizeof(struct rkmm_range), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
}

static void rkmm_ranges_free(void *p)
{
	kvfree(p);
}
#else
#include <stdlib.h>
#include <string.h>

static void *rkmm_ranges_alloc(u32 n)
{
	return calloc(n, sizeof(struct rkmm_range));
}

static void rkmm_ranges_free(void *p)
{
	free(p);
}
#endif

void rkmm_ranges_init(struct rkmm_ranges *set, u32 max)
{
	set->n = 0;
	set->cap = RKMM_RANGES_INLINE;
	set->max = max;
	set->r = set->first;
}

void rkmm_ranges_fini(struct rkmm_ranges *set)
{
	if (set->r != set->first)
		rkmm_ranges_free(set->r);
	rkmm_ranges_init(set, set->max);
}

bool rkmm_ranges_reserve(struct rkmm_ranges *set)
{
	struct rkmm_range *r;
	u32 cap;

	if (set->n < set->cap)
		return true;
	if (set->cap >= set->max)
		return false;
	cap = set->cap > set->max / 4 ? set->max : set->cap * 4;
	r = rkmm_ranges_alloc(cap);
	if (!r)
		return false;
	memcpy(r, set->r, set->n * sizeof(*r));
	if (set->r != set->first)
		rkmm_ranges_free(set->r);
	set->r = r;
	set->cap = cap;
	return true;
}

/* First range that ends at @at or behind it. */
static u32 rkmm_ranges_find(const struct rkmm_ranges *set, u64 at)
{
	u32 lo = 0, hi = set->n;

	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;

		if (set->r[mid].end < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Replace the @old ranges at @at by @new ones, whose contents the caller writes. */
static void rkmm_ranges_resize(struct rkmm_ranges *set, u32 at, u32 old, u32 new)
{
	memmove(&set->r[at + new], &set->r[at + old], (set->n - at - old) * sizeof(*set->r));
	set->n = set->n - old + new;
}

/* Insert where nothing touches and there is no room: close the smallest gap. */
static void rkmm_ranges_squeeze(struct rkmm_ranges *set, u32 at, u64 start, u64 end)
{
	u64 left = at ? start - set->r[at - 1].end : ~0ull;
	u64 right = at < set->n ? set->r[at].start - end : ~0ull;
	u64 best = left < right ? left : right;
	u32 i, pair = set->n;

	for (i = 0; i + 1 < set->n; i++) {
		u64 gap = set->r[i + 1].start - set->r[i].end;

		if (i + 1 != at && gap < best) {
			best = gap;
			pair = i;
		}
	}

	if (pair < set->n) {
		set->r[pair].end = set->r[pair + 1].end;
		rkmm_ranges_resize(set, pair + 1, 1, 0);
		if (pair + 1 < at)
			at--;
		rkmm_ranges_resize(set, at, 0, 1);
		set->r[at].start = start;
		set->r[at].end = end;
	} else if (left < right) {
		set->r[at - 1].end = end;
	} else {
		set->r[at].start = start;
	}
}

void rkmm_ranges_add(struct rkmm_ranges *set, u64 start, u64 end)
{
	u32 first, last;

	if (start >= end)
		return;
	first = rkmm_ranges_find(set, start);
	/* What is written again and again is there already. */
	if (first < set->n && set->r[first].start <= start && set->r[first].end >= end)
		return;
	for (last = first; last < set->n && set->r[last].start <= end; last++) {
		if (set->r[last].start < start)
			start = set->r[last].start;
		if (set->r[last].end > end)
			end = set->r[last].end;
	}

	if (first == last && !rkmm_ranges_reserve(set)) {
		rkmm_ranges_squeeze(set, first, start, end);
		return;
	}
	rkmm_ranges_resize(set, first, last - first, 1);
	set->r[first].start = start;
	set->r[first].end = end;
}

void rkmm_ranges_sub(struct rkmm_ranges *set, u64 start, u64 end)
{
	u32 first, last;
	u64 tail;

	if (start >= end)
		return;
	first = rkmm_ranges_find(set, start);
	if (first < set->n && set->r[first].end == start)
		first++;

	if (first < set->n && set->r[first].start < start) {
		tail = set->r[first].end;
		if (tail > end) {
			if (!rkmm_ranges_reserve(set))
				return;
			rkmm_ranges_resize(set, first + 1, 0, 1);
			set->r[first + 1].start = end;
			set->r[first + 1].end = tail;
		}
		set->r[first].end = start;
		first++;
	}

	for (last = first; last < set->n && set->r[last].end <= end; last++)
		;
	rkmm_ranges_resize(set, first, last - first, 0);
	if (first < set->n && set->r[first].start < end)
		set->r[first].start = end;
}

bool rkmm_ranges_next(const struct rkmm_ranges *set, u64 start, u64 end, struct rkmm_range *piece)
{
	u32 i = rkmm_ranges_find(set, start);

	if (i < set->n && set->r[i].end == start)
		i++;
	if (i == set->n || set->r[i].start >= end || start >= end)
		return false;
	piece->start = set->r[i].start > start ? set->r[i].start : start;
	piece->end = set->r[i].end < end ? set->r[i].end : end;
	return true;
}
