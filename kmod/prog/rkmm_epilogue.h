/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What follows a matmul: stages that its own DPU does, and operations behind it.
 *
 *	struct rkmm_stages -> rkmm_epilogue_make() -> struct rkmm_epilogue, and the matmul
 *		as it is to be cut
 *	struct rkmm_geom   -> rkmm_epilogue_bind() -> operands, memory, and the tiling knows
 *		what its programs do besides
 *	struct rkmm_member -> rkmm_epilogue_members() -> matmul and operations, in order
 *
 * A stage goes into the matmul's program where a working board did so (hw 04 §4), or
 * where there is no other way and the documents say how; those behind it are tasks of
 * their own. The result is the same, bit by bit.
 */
#ifndef RKMM_EPILOGUE_H
#define RKMM_EPILOGUE_H

#include "rkmm_chain.h"

#define RKMM_STAGES		4
#define RKMM_STAGE_OPERANDS	2	/* D and E */

/**
 * struct rkmm_stages - an epilogue, as the user asked
 * @n: entries of @op
 * @op: in order; sizes, precision and flags follow from the matmul
 */
struct rkmm_stages {
	u32 n;
	struct rkmm_op op[RKMM_STAGES];
};

/**
 * struct rkmm_epilogue - an epilogue ready to run, but for addresses
 * @types: types of the matmul
 * @n: stages
 * @fused: mask of those in the matmul's program
 * @refused: the stage that a refusal is about
 * @why: why a stage is where it is; constant strings
 * @evidence: least of what is fused and of the operations
 * @weakest: the first stage that has no more than that
 * @stages: what the matmul's programs do, valid when @fused
 * @nops: operations behind the matmul
 * @slot: operand of a stage: 1 for D, 2 for E, 0 for none
 * @operand: D and E; size 0 for none
 * @c: result
 * @temp_bytes: memory between the operations
 * @const_bytes: constants of all of them
 * @work: offset in it of what an operation keeps between its own tasks
 * @turn: offsets of the two places for results that the next operation reads
 * @consts: offsets of the constants of each operation
 * @stage: which stage an operation is
 * @op: the operations
 */
struct rkmm_epilogue {
	enum rkmm_types types;
	u32 n, fused, refused, weakest;
	const char *why[RKMM_STAGES];
	enum rkmm_evidence evidence;
	struct rkmm_dpu stages;
	u32 nops;
	u8 slot[RKMM_STAGES];
	struct rkmm_operand operand[RKMM_STAGE_OPERANDS], c;
	u64 temp_bytes, const_bytes;
	u32 work, turn[2], consts[RKMM_STAGES], stage[RKMM_STAGES];
	struct rkmm_opgeom op[RKMM_STAGES];
};

#define RKMM_EPILOGUE_MEMBERS	(1 + RKMM_STAGES)

/**
 * rkmm_epilogue_make() - decide what goes where
 * @stages: wanted, at least one
 * @mm: the matmul; its form and numbers change to what the stages need
 * @e: filled; tens of KiB
 *
 * A requantisation that mm->mult says is where the list has RKMM_OP_REQUANT, else before
 * all stages; stages before it are of int32 sums. With a mult of 0 the sums go up to a
 * curve, which makes int8 of them.
 *
 * Return: RKMM_OK or why not; then e->refused says which stage.
 */
enum rkmm_reason rkmm_epilogue_make(const struct rkmm_stages *stages, struct rkmm_matmul *mm,
				    struct rkmm_epilogue *e);

/**
 * rkmm_epilogue_bind() - operations of the right size behind a tiling
 * @limits: chip
 * @stages: those of rkmm_epilogue_make()
 * @e: of rkmm_epilogue_make()
 * @geom: tiling of its matmul; points to @e afterwards
 *
 * Return: RKMM_OK or why not; then e->refused says which stage.
 */
enum rkmm_reason rkmm_epilogue_bind(const struct rkmm_limits *limits,
				    const struct rkmm_stages *stages, struct rkmm_epilogue *e,
				    struct rkmm_geom *geom);

/**
 * struct rkmm_epilogue_place - where an epilogue runs
 * @d: device address of D
 * @e: of E
 * @temp: of rkmm_epilogue.temp_bytes: results between the operations, of all rows
 * @work: of rkmm_epilogue_work() bytes, what operations keep between their tasks; its place in
 *	@temp is @temp + rkmm_epilogue.work
 * @consts: of rkmm_epilogue.const_bytes
 */
struct rkmm_epilogue_place {
	u32 d, e, temp, work, consts;
};

/** rkmm_epilogue_work() - bytes that a share has for itself: the end of temp_bytes */
static inline u64 rkmm_epilogue_work(const struct rkmm_epilogue *e)
{
	return e->temp_bytes - e->work;
}

/**
 * rkmm_epilogue_members() - the operations of one run, in order
 * @e: bound
 * @matmul: the matmul with A, B, C, lane, and rows from the first one on
 * @place: addresses
 * @members: filled, at most RKMM_EPILOGUE_MEMBERS
 *
 * Return: how many.
 */
u32 rkmm_epilogue_members(const struct rkmm_epilogue *e, const struct rkmm_member *matmul,
			  const struct rkmm_epilogue_place *place, struct rkmm_member *members);

/** rkmm_epilogue_fill() - write the constants, strictly upward */
void rkmm_epilogue_fill(const struct rkmm_epilogue *e, void *area);

/** rkmm_epilogue_image_bytes() - bytes of programs, constants and memory, at most */
u64 rkmm_epilogue_image_bytes(const struct rkmm_epilogue *e, const struct rkmm_geom *geom);

/** rkmm_epilogue_ns() - predicted time of the operations behind the matmul, at 1 GHz */
u64 rkmm_epilogue_ns(const struct rkmm_epilogue *e);

/** rkmm_epilogue_tasks() - tasks of a run of @rows rows */
u32 rkmm_epilogue_tasks(const struct rkmm_epilogue *e, const struct rkmm_geom *geom, u32 rows);

#endif
