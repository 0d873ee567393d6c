/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is known of each operation before anybody asks for a shape.
 */
#ifndef RKMM_OP_FACTS_H
#define RKMM_OP_FACTS_H

#include "rkmm_epilogue.h"

/**
 * enum rkmm_error_unit - what an error is counted in; the values are those of enum
 *	drm_rkmm_error_unit
 * @RKMM_ERROR_NONE: no number holds for all inputs
 * @RKMM_ERROR_STEPS: 1/256 of the distance to the next result
 * @RKMM_ERROR_RANGE: 1/65536 of the range of the function, of those without one of
 *	max(1, result)
 */
enum rkmm_error_unit {
	RKMM_ERROR_NONE,
	RKMM_ERROR_STEPS,
	RKMM_ERROR_RANGE,
};

/**
 * struct rkmm_op_facts - one operation with one type
 * @code: operation
 * @precision: type of its tensors
 * @other: what its B is
 * @reason: RKMM_OK, or why no shape of it can be served
 * @least: evidence that every shape has
 * @most: evidence of those with N a multiple of @n_most
 * @flags: RKMM_OP_* that it takes
 * @n_align: columns are padded to a multiple of it
 * @n_most: see @most
 * @n_max: most columns, 0 for no limit but memory
 * @unit: what @error is counted in
 * @error: largest error on the software NPU, the last rounding among it
 * @stage_of: mask of enum rkmm_types: matmuls that take it as a stage of an epilogue
 * @stage_sure: those of them whose stage is more than derived, whatever the matmul is
 * @fused_in: those of @stage_of whose own programs can do it
 * @fused_sure: those of @stage_sure whose own programs can do it
 */
struct rkmm_op_facts {
	enum rkmm_op_code code;
	enum rkmm_precision precision;
	enum rkmm_other other;
	enum rkmm_reason reason;
	enum rkmm_evidence least, most;
	u32 flags;
	u32 n_align, n_most, n_max;
	enum rkmm_error_unit unit;
	u32 error;
	u32 stage_of, stage_sure, fused_in, fused_sure;
};

/* By code, then by what B is, then by fp16, int8, int16 */
#define RKMM_OP_FACTS	(3 * (3 * (RKMM_OP_DIV + 1) + RKMM_OP_COUNT - (RKMM_OP_DIV + 1)))

/**
 * rkmm_op_facts() - number @i of what can be asked for
 * @limits: chip
 * @i: below RKMM_OP_FACTS
 * @scratch: overwritten
 * @facts: filled
 *
 * Evidence and reason are those of tilings and epilogues made on the way.
 */
void rkmm_op_facts(const struct rkmm_limits *limits, u32 i, struct rkmm_epilogue *scratch,
		   struct rkmm_op_facts *facts);

/** rkmm_other_name() - "tensor", "scalar", "channel" */
const char *rkmm_other_name(enum rkmm_other other);

#endif
