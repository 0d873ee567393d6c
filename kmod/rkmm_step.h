/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which operations of a submission become one step, and on which lane each runs.
 *
 * Pure code, also compiled into host tests.
 */
#ifndef RKMM_STEP_H
#define RKMM_STEP_H

#include "prog/rkmm_chain.h"

#define RKMM_LINK_OPERANDS	5	/* A, B, C, D, E */
#define RKMM_LINK_OUT		2	/* C is written */

/* Operations of a step that nobody asked to group: each is compared with those before it. */
#define RKMM_STEP_MOST		64

/**
 * struct rkmm_reach - bytes of an operand
 * @owner: buffer; only compared, NULL for no operand
 * @start: first byte
 * @end: behind the last
 */
struct rkmm_reach {
	const void *owner;
	u64 start, end;
};

/**
 * struct rkmm_link - an operation of a submission
 * @reach: what it reads and writes
 * @ns: its time on one core, by the number of cores at work
 * @start_ns: what a start with it costs, by the number of cores at work
 * @bytes: of its programs, at most
 * @room: bytes of the ranges for staged operands that it takes, at most
 * @lanes_own: lanes that it has when it runs once and alone, 0 for those that end first
 * @rows_ns: its time when its rows are shared out over so many cores, starts apart; 0 for no
 *	such share
 * @lanes_most: lanes that may run at the same time while it runs
 * @mode: datapath mode that steps do not mix, 0 for any
 * @window: address window, which steps do not mix
 * @matmul: it may be shared out over lanes
 * @int8: it has int8 matmuls
 * @int8_dpu: it begins with an int8 task of the DPU alone: hw 03 O14
 * @grouped: the user said that it is apart from those before it in its group
 * @lane: answer: where it runs
 * @after: answer: struct rkmm_member.after
 * @shares: answer: lanes that its rows are shared out over, when it is alone in its step
 */
struct rkmm_link {
	struct rkmm_reach reach[RKMM_LINK_OPERANDS];
	u64 ns[RKMM_LANES_MAX];
	u32 start_ns[RKMM_LANES_MAX];
	u64 rows_ns[RKMM_LANES_MAX];
	u64 bytes, room;
	u32 lanes_own, lanes_most;
	u32 mode, window;
	bool matmul, int8, int8_dpu, grouped;
	u32 lane, shares;
	bool after;
};

/**
 * struct rkmm_step_caps - what a step may be
 * @bytes: of its programs
 * @room: of the ranges for staged operands
 * @ns: predicted time after which nothing is added
 * @lanes: cores that the submission may use
 * @int8_chain: a start that begins with an int8 task of the DPU hangs behind an int8 matmul, or
 *	costs a reset
 */
struct rkmm_step_caps {
	u64 bytes, room, ns;
	u32 lanes;
	bool int8_chain;
};

/* rkmm_link_conflict() - whether one of them writes what the other one uses */
bool rkmm_link_conflict(const struct rkmm_link *x, const struct rkmm_link *y);

/**
 * rkmm_step_once() - whether running a step twice gives something else than running it once
 * @links: its operations, in order
 * @n: how many
 *
 * That is so when an operation writes what it or one before it reads, unless the step itself
 * wrote all of that before it was read. More than RKMM_STEP_MOST operations are groups, which
 * leave each other alone.
 */
bool rkmm_step_once(const struct rkmm_link *links, u32 n);

/**
 * rkmm_step_end() - how far the step goes that begins with @first
 * @caps: bounds
 * @links: operations of the submission
 * @first: one of them; a group that does not fit in one step goes on where it was left
 * @n: how many there are
 * @why: why it ends there, a constant string
 *
 * A unit is an operation or a group. The step takes in the next unit as long as that
 * ends earlier by the cost law than a join and a start: on the lane of what it depends
 * on; on the lane that has least to do when it depends on nothing; when it depends on
 * several lanes, with all of the step on one. Matmuls that all leave each other alone are
 * shared out over the cores where that ends earlier: all are of lane 0, none is after. So are
 * the rows of a single operation that is no plain matmul, which is a step of its own then, unless
 * what follows and is apart from it has work enough for the other cores. What
 * begins with int8 in the DPU goes behind an int8 matmul of the step at any price but a bound.
 *
 * Return: behind its last operation.
 */
u32 rkmm_step_end(const struct rkmm_step_caps *caps, struct rkmm_link *links, u32 first, u32 n,
		  const char **why);

#endif
