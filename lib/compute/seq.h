/* SPDX-License-Identifier: MIT */
/* What the parts of rkmm_seq share. */
#ifndef SEQ_H
#define SEQ_H

#include <stdbool.h>

#include "lib/compute/compute.h"
#include "lib/rkmm_seq.h"

/* Element of results that nothing reads: fp32 and int32 */
#define SEQ_WIDE	UINT32_MAX

/* Operands that an operation reads */
#define SEQ_INPUTS	4

enum seq_kind {
	SEQ_ROWS,	/* inputs, results */
	SEQ_B,
	SEQ_VECTOR,
	SEQ_BIAS,
};

/**
 * struct seq_tensor - a tensor
 * @kind: what it can be used as
 * @element: enum drm_rkmm_element or SEQ_WIDE
 * @rows: of the user
 * @cols: of the user
 * @layout: of the operand, as large as the use that wants most of it; what is no result
 *	has none before its first use
 * @written: results: bytes that the operation writes; more than them are zero
 * @node: operation that makes it, -1 for inputs
 * @plan: results: of that operation
 * @weights: not owned, or NULL
 * @used: an operation reads it
 * @output: the CPU reads it
 * @last: level of the last operation that reads it
 * @place: where it lies, after the build
 */
struct seq_tensor {
	enum seq_kind kind;
	uint32_t element;
	uint32_t rows;
	uint32_t cols;
	struct drm_rkmm_tensor layout;
	uint64_t written;
	int node;
	const struct rkmm_plan *plan;
	const struct rkmm_weights *weights;
	bool used;
	bool output;
	uint32_t last;
	struct rkmm_operand place;
};

/**
 * struct seq_node - an operation
 * @plan: not owned
 * @matmul: it is one, and may be grouped
 * @in: tensors A, B, D and E, 0 for none
 * @out: its result
 * @level: distance from the inputs, 1 and up
 */
struct seq_node {
	const struct rkmm_plan *plan;
	bool matmul;
	int in[SEQ_INPUTS];
	int out;
	uint32_t level;
};

/**
 * struct seq_plan - a plan and what was asked for
 * @matmul: which description
 * @mm: of a matmul
 * @stages: what follows it
 * @num_stages: how many
 * @op: of another operation
 * @plan: owned
 */
struct seq_plan {
	bool matmul;
	struct rkmm_matmul_desc mm;
	struct rkmm_op_desc stages[DRM_RKMM_STAGES];
	uint32_t num_stages;
	struct rkmm_op_desc op;
	struct rkmm_plan *plan;
};

/**
 * struct rkmm_seq - see rkmm_seq_create()
 * @dev: not owned
 * @tensors: numbers of the user less 1
 * @num_tensors: how many
 * @nodes: as they were added; by level once it is built
 * @num_nodes: how many
 * @plans: all different
 * @num_plans: how many
 * @err: first error before the build
 * @error: its sentence, later that of the last error
 * @built: nothing can be added
 * @ops: the submission
 * @io: inputs and outputs; NULL where there are none
 * @shared: results with zeros behind them; NULL where there are none. The others are in a
 *	temporary
 * @map: mapping of @io
 * @info: facts
 */
struct rkmm_seq {
	struct rkmm_device *dev;
	struct seq_tensor *tensors;
	uint32_t num_tensors;
	struct seq_node *nodes;
	uint32_t num_nodes;
	struct seq_plan *plans;
	uint32_t num_plans;
	int err;
	char error[512];
	bool built;
	struct rkmm_op *ops;
	struct rkmm_buffer *io;
	struct rkmm_buffer *shared;
	uint8_t *map;
	struct rkmm_seq_info info;
};

/* Remember a sentence, but for those after the first before the build; returns err. */
int seq_fail(struct rkmm_seq *seq, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static inline struct seq_tensor *seq_tensor(struct rkmm_seq *seq, int tensor)
{
	return &seq->tensors[tensor - 1];
}

#endif
