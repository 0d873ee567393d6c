/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A sorted set of disjoint byte ranges in bounded memory.
 *
 * Pure code, also compiled into host tests. Nobody locks here: a set belongs to
 * its owner.
 */
#ifndef RKMM_RANGES_H
#define RKMM_RANGES_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <linux/types.h>
typedef __u32 u32;
typedef __u64 u64;
#endif

#define RKMM_RANGES_INLINE	4
#define RKMM_RANGES_MAX		4096

/**
 * struct rkmm_range - some bytes
 * @start: the first
 * @end: behind the last
 */
struct rkmm_range {
	u64 start;
	u64 end;
};

/**
 * struct rkmm_ranges - ranges in ascending order; two of them never touch
 * @n: ranges in the set
 * @cap: ranges that @r has room for
 * @max: ranges the set may grow to
 * @r: the ranges, in @first while they fit
 * @first: room that needs no allocation
 */
struct rkmm_ranges {
	u32 n;
	u32 cap;
	u32 max;
	struct rkmm_range *r;
	struct rkmm_range first[RKMM_RANGES_INLINE];
};

/**
 * rkmm_ranges_init() - make an empty set
 * @set: the set
 * @max: largest number of ranges, at least RKMM_RANGES_INLINE
 */
void rkmm_ranges_init(struct rkmm_ranges *set, u32 max);

/**
 * rkmm_ranges_fini() - empty the set and free its memory; it stays usable
 * @set: the set
 */
void rkmm_ranges_fini(struct rkmm_ranges *set);

/**
 * rkmm_ranges_reserve() - make room for one more range
 * @set: the set
 *
 * Return: true when the next rkmm_ranges_add() or rkmm_ranges_sub() is exact.
 */
bool rkmm_ranges_reserve(struct rkmm_ranges *set);

/**
 * rkmm_ranges_add() - add [@start, @end)
 * @set: the set
 * @start: first byte
 * @end: byte after the last; an empty range adds nothing
 *
 * Without room the two neighbours with the smallest gap become one: the set
 * then holds more bytes than were added, never fewer.
 */
void rkmm_ranges_add(struct rkmm_ranges *set, u64 start, u64 end);

/**
 * rkmm_ranges_sub() - remove [@start, @end)
 * @set: the set
 * @start: first byte
 * @end: byte after the last
 *
 * Without room a range that would have to be split stays whole: the set keeps
 * more bytes than it should, never fewer.
 */
void rkmm_ranges_sub(struct rkmm_ranges *set, u64 start, u64 end);

/**
 * rkmm_ranges_next() - first piece of the set inside [@start, @end)
 * @set: the set
 * @start: first byte
 * @end: byte after the last
 * @piece: the piece, clipped to [@start, @end)
 *
 * Return: false when there is none.
 */
bool rkmm_ranges_next(const struct rkmm_ranges *set, u64 start, u64 end, struct rkmm_range *piece);

#endif
