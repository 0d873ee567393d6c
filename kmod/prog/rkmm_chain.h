/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From operations with addresses to chains of tasks that a core runs by itself.
 *
 *	struct rkmm_member -> struct rkmm_task, one after the other
 *	struct rkmm_task   -> struct rkmm_kick: what one start of a core runs
 */
#ifndef RKMM_CHAIN_H
#define RKMM_CHAIN_H

#include "rkmm_op.h"

/**
 * struct rkmm_view - memory of an image that convolutions read at another address
 * @start: where it is for everything else
 * @bytes: size
 * @at: where it is for features
 */
struct rkmm_view {
	u32 start, bytes, at;
};

#define RKMM_VIEWS	2	/* temporary memory, constants */

/**
 * struct rkmm_member - an operation with addresses, @count times
 * @geom: tiling of a matmul
 * @op: NULL, or any other operation, and @geom is NULL
 * @after: it reads or writes what a member before it on its lane writes, or writes what
 *	that one reads
 * @lane: share that it runs in, where a member is @after, an @op or of a lane above 0;
 *	members lie lane by lane, and no lane is without one
 * @rows: rows to compute, 1 .. M
 * @first: row that they begin with: of an @op or a matmul in cubes, as rkmm_op_task_from();
 *	addresses are those of the whole operation
 * @count: how often, at least 1
 * @a: device address of the first A
 * @b: device address of the first B
 * @c: device address of the first C
 * @a_stride: bytes from an A to the next
 * @b_stride: bytes from a B to the next
 * @c_stride: bytes from a C to the next
 * @weights: buffer that all B lie in; equal in members with equal buffers
 * @d: device address of D; of a matmul the vector that its BS adds; the same for all
 * @temp: of the temporary memory of @op; the same for all
 * @consts: of the constants of @op; the same for all; those of all members lie in one buffer
 * @views: NULL, or RKMM_VIEWS of what features of @op may lie in
 */
struct rkmm_member {
	const struct rkmm_geom *geom;
	const struct rkmm_opgeom *op;
	bool after;
	u32 lane;
	u32 rows, first, count;
	u32 a, b, c;
	u32 a_stride, b_stride, c_stride;
	u32 weights;
	u32 d, temp, consts;
	const struct rkmm_view *views;
};

static inline struct rkmm_member rkmm_member_of(const struct rkmm_geom *geom, u32 rows, u32 a,
						u32 b, u32 c)
{
	return (struct rkmm_member){ .geom = geom, .rows = rows, .count = 1,
				     .a = a, .b = b, .c = c };
}

/**
 * struct rkmm_kick - one start of a core
 * @addr: device address of the first program
 * @amount: PC_DATA_AMOUNT of it
 * @tasks: tasks of the chain, a trailer included
 * @int_mask: interrupt bits of the last task
 * @pingpong: TASK_CON ping-pong bit
 * @int8_dpu: it begins with an int8 task of the DPU alone, which hangs a core whose start
 *	before had an int8 matmul (hw 03 O14)
 * @matmuls: it has matmuls, so it leaves the core in their datapath mode
 * @lane: share of the work it belongs to; lanes may run at the same time, the
 *	kicks of a lane only in order
 * @table_in: 1 + the table that its first lookup reads, 0 where it brings that along anyway
 * @table_out: 1 + the table that is there afterwards, 0 for the one before
 * @kept_addr: instead of @addr, on a core that has @table_in: its first programs once more,
 *	without the table
 * @kept_amount: PC_DATA_AMOUNT of that
 * @predicted_ns: predicted time at 1 GHz
 * @settles: its last output is narrow and no trailer is behind it: rkmm_land.h
 * @reason: why the chain was cut or ping-pong is off, a constant string or NULL
 */
struct rkmm_kick {
	u32 addr;
	u32 amount;
	u32 tasks;
	u32 int_mask;
	bool pingpong, int8_dpu, matmuls;
	u32 lane;
	u32 table_in, table_out;
	u32 kept_addr, kept_amount;
	u64 predicted_ns;
	bool settles;
	const char *reason;
};

#define RKMM_KICK_NS	3000000u	/* predicted time after which a chain is cut */

/** rkmm_image_bytes() - bytes of the linked image of all programs of @geom, at most */
u64 rkmm_image_bytes(const struct rkmm_geom *geom);

/**
 * rkmm_member_work() - time of a member's tasks on one core, at 1 GHz
 * @limits: chip
 * @m: the member
 * @cores: cores at work, 1 .. RKMM_LANES_MAX
 * @start_ns: what a start with it costs besides; NULL is fine
 *
 * Return: ns.
 */
u64 rkmm_member_work(const struct rkmm_limits *limits, const struct rkmm_member *m, u32 cores,
		     u32 *start_ns);

/**
 * rkmm_share_rows() - rows of each share but the last one
 * @rows: in all
 * @lanes: shares wanted
 *
 * Return: rows; there are rkmm_div_up(@rows, that) shares.
 */
static inline u32 rkmm_share_rows(u32 rows, u32 lanes)
{
	u32 each = (rows - 1) / lanes / RKMM_SHARE_ROWS + 1;

	return each * RKMM_SHARE_ROWS < rows ? each * RKMM_SHARE_ROWS : rows;
}

/**
 * rkmm_share_ns() - time of a share of the rows of an operation
 * @limits: chip
 * @m: the operation with all of its rows, once
 * @behind: time of the operations behind it with all rows
 * @rows: rows of the share
 * @cores: cores at work, 1 .. RKMM_LANES_MAX
 *
 * Return: ns at 1 GHz, with what the start costs more than one on a single core.
 */
u64 rkmm_share_ns(const struct rkmm_limits *limits, const struct rkmm_member *m, u64 behind,
		  u32 rows, u32 cores);

/** rkmm_op_image_bytes() - the same of an operation that is no matmul */
u64 rkmm_op_image_bytes(const struct rkmm_opgeom *op);

/**
 * struct rkmm_extent - how large an image is
 * @bytes: bytes of programs
 * @predicted_ns: of all lanes at the same time, at 1 GHz
 * @kicks: starts
 * @tasks: programs, without trailers
 * @lanes: shares that may run at the same time, none of them empty
 */
struct rkmm_extent {
	u64 bytes, predicted_ns;
	u32 kicks, tasks, lanes;
};

/**
 * rkmm_image_measure() - what rkmm_image_emit() will write
 * @limits: chip
 * @members: operations that run together: none reads or writes what another writes, but
 *	those that are @after and one before them on their lane
 * @n: how many, at least 1; the sum of rkmm_image_bytes() must fit 32 bits
 * @extent: filled
 *
 * One member that counts once has the lanes of its tiling. Others have those that
 * end first by the cost law, inside what every member is allowed; with members that are
 * placed, see @lane of struct rkmm_member, each runs where it is placed.
 *
 * What is measured does not depend on temp and consts, as long as they are no address of a B.
 */
void rkmm_image_measure(const struct rkmm_limits *limits, const struct rkmm_member *members,
			u32 n, struct rkmm_extent *extent);

/**
 * rkmm_image_emit() - synthesise the whole chained image
 * @limits: chip
 * @members: those of rkmm_image_measure()
 * @n: how many
 * @base: device address where @image will be
 * @image: rkmm_extent.bytes, 64-byte aligned; written strictly upward (it may be
 *	write-combined memory) and never read
 * @kicks: rkmm_extent.kicks entries, lane by lane
 */
void rkmm_image_emit(const struct rkmm_limits *limits, const struct rkmm_member *members, u32 n,
		     u32 base, u64 *image, struct rkmm_kick *kicks);

/**
 * rkmm_image_patch() - other addresses in an image that was emitted
 * @limits: those that it was emitted with
 * @members: matmuls without fused stages, those that it was emitted with but for @a and @c,
 *	and @b of a single one: which programs keep their weights, and are light, depends on
 *	B of neighbours
 * @n: how many
 * @which: RKMM_ADDR_*, all that are not as they were
 * @image: written strictly upward and never read; nothing else in it, and no kick, changes
 *
 * Return: entries written.
 */
u32 rkmm_image_patch(const struct rkmm_limits *limits, const struct rkmm_member *members, u32 n,
		     u32 which, u64 *image);

#endif
