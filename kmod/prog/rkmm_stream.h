/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tasks of an image in order, cut into kicks; not for users of rkmm_chain.h.
 */
#ifndef RKMM_STREAM_H
#define RKMM_STREAM_H

#include "rkmm_chain.h"
#include "rkmm_pure.h"

/**
 * struct rkmm_stream - the tasks of all members, one after the other, cut into kicks
 * @limits: chip
 * @members: operations
 * @n: how many
 * @lanes: shares
 * @tasks: tasks in all
 * @total: their predicted time, at most 2^55: 2^25 tasks of 2^30 ns
 * @start_ns: what each start costs
 * @done: tasks before the next one
 * @passed: their time
 * @lane: share that the present task is in
 * @edge: twice the time that is before the next one
 * @member: present member
 * @times: how many of it are left
 * @programs: programs of it
 * @left: how many are left of the present one
 * @a: its device address of A
 * @b: of B
 * @c: of C
 * @law: times of its programs, by what is less than in others: bit 0 rows, bit 1 columns
 * @kind: of its programs, with those bits: rkmm_task.like
 * @walk: next program of it
 * @i: place of the present task in its kick
 * @fresh: it begins a kick
 * @light: it writes only what differs
 * @plain: that is addresses alone
 * @cut: why it begins a kick, where it is not the first of a lane
 * @writes: its register writes
 * @kick_ns: predicted time of its kick so far
 * @int8: its kick had an int8 matmul
 * @placed: members say on which lane they run
 * @table: 1 + the table that was loaded last in this kick
 * @lookup: the present task is the first lookup of its kick
 * @at: place of the present task in @ring
 * @ring: the present task and those before it
 */
struct rkmm_stream {
	const struct rkmm_limits *limits;
	const struct rkmm_member *members;
	u32 n, lanes, tasks;
	u64 total;
	u32 start_ns;
	u32 done;
	u64 passed;
	u32 lane;
	u64 edge;
	u32 member, times, programs, left;
	u32 a, b, c;
	u32 law[4];
	u32 kind;
	struct rkmm_walk walk;
	u32 i;
	bool fresh, light, plain;
	const char *cut;
	u32 writes;
	u64 kick_ns;
	bool int8, placed;
	u32 table;
	bool lookup;
	u32 at;
	struct rkmm_task ring[4];
};

/* The present task, or the one @back before it */
static inline struct rkmm_task *rkmm_task_at(struct rkmm_stream *s, u32 back)
{
	return &s->ring[(s->at - back) % ARRAY_SIZE(s->ring)];
}

/**
 * struct rkmm_run - programs after the present one that are equal but for addresses
 * @n: how many
 * @writes: register writes of each; slots of so many have no gap
 * @a: bytes of A from each to the next
 * @b: of B
 * @c: of C
 * @kept: they keep the weight
 */
struct rkmm_run {
	u32 n, writes, a, b, c;
	bool kept;
};

void rkmm_stream_start(struct rkmm_stream *s, const struct rkmm_limits *limits,
		       const struct rkmm_member *members, u32 n);

/* The next task; false behind the last. It, and the two before in its kick, are in the ring. */
bool rkmm_stream_next(struct rkmm_stream *s);

/*
 * Most programs are between others like them: M tiles or, where there is but one,
 * column tiles or repetitions. Light ones write addresses alone where their neighbours
 * on both sides, and so those two before, are alike.
 */
void rkmm_stream_run(struct rkmm_stream *s, struct rkmm_run *run);

/* Past the programs of @run, of which there are some; the last one is the present one. */
void rkmm_stream_skip(struct rkmm_stream *s, const struct rkmm_run *run);

#endif
