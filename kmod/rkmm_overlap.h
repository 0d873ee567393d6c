/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether operations that run together leave each other's operands alone.
 *
 * Pure code, also compiled into host tests.
 */
#ifndef RKMM_OVERLAP_H
#define RKMM_OVERLAP_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <linux/types.h>
typedef __u32 u32;
typedef __u64 u64;
#endif

/**
 * struct rkmm_span - bytes that an operation reads or writes
 * @owner: buffer; only compared
 * @start: first byte
 * @end: behind the last
 * @pitch: bytes from a row to the next, 0 for one piece
 * @line: bytes of a row, at most @pitch
 * @phase: for rkmm_spans_conflict()
 * @write: writes them
 */
struct rkmm_span {
	const void *owner;
	u64 start, end;
	u32 pitch, line, phase;
	bool write;
};

/**
 * rkmm_spans_conflict() - whether a byte that one span writes is in another
 * @spans: all of them; reordered
 * @n: how many
 *
 * Exact for spans of one piece. Rows side by side in a common pitch are told
 * apart; overlapping spans with rows of different pitches count as a conflict.
 * Takes the time of two sorts.
 */
bool rkmm_spans_conflict(struct rkmm_span *spans, u32 n);

#endif
