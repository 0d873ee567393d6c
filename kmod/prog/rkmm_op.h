/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Operations that are no matmuls: hw 04.
 *
 *	struct rkmm_op -> rkmm_op_geometry() -> struct rkmm_opgeom
 *	struct rkmm_opgeom + addresses -> rkmm_op_task(i) -> struct rkmm_task
 *	struct rkmm_task -> rkmm_task_emit() -> register writes
 *
 * An operation is a list of steps on tensors of the user, on temporary memory and
 * on constants. The rows are worked off in tiles: all steps of a tile, then the
 * next tile. Tasks of one operation run in order, each after the one before it.
 */
#ifndef RKMM_OP_H
#define RKMM_OP_H

#include "rkmm_task.h"

/**
 * enum rkmm_op_code - what an operation computes
 *
 * Tensors are C[M][N] from A[M][N] and where there is one B; @RKMM_OP_ADD to
 * @RKMM_OP_DIV take B as struct rkmm_op.other says. Numbers that are no tensors are
 * rounded to fp16 where they multiply and to fp32 where they are added.
 *
 * @RKMM_OP_ADD: a + b
 * @RKMM_OP_SUB: a - b
 * @RKMM_OP_MUL: a b
 * @RKMM_OP_MAX: the larger one
 * @RKMM_OP_MIN: the smaller one
 * @RKMM_OP_DIV: a / b
 * @RKMM_OP_COPY: a
 * @RKMM_OP_RELU: max(a, 0)
 * @RKMM_OP_CLAMP: a between value and value2
 * @RKMM_OP_LEAKY: a, times value where it is negative; value is 0 to 1
 * @RKMM_OP_EXP: e^a for a <= 0, 1 above 0
 * @RKMM_OP_SIGMOID: 1 / (1 + e^-a)
 * @RKMM_OP_TANH: tanh a
 * @RKMM_OP_SILU: a sigmoid(a)
 * @RKMM_OP_GELU: a times the normal distribution of a
 * @RKMM_OP_HARDSWISH: a clamp(a + 3, 0, 6) / 6
 * @RKMM_OP_RECIPROCAL: 1 / a for a between 1/8 and 8 1/8, that of the end outside
 * @RKMM_OP_RSQRT: 1 / sqrt(a) for a between 1/16 and 4 1/16, that of the end outside
 * @RKMM_OP_ROWMAX: the largest of each row
 * @RKMM_OP_ROWSUM: the sum of each row, in 16 equal columns
 * @RKMM_OP_ROWMEAN: the mean of each row, in 16 equal columns
 * @RKMM_OP_SOFTMAX: softmax of scale (a + mask) by rows; what lies 20 / scale below
 *	the largest of its row becomes 0 exactly
 * @RKMM_OP_RMSNORM: a / sqrt(mean a^2 + value) by rows, times B where there is one
 * @RKMM_OP_LAYERNORM: the same of a less its mean, plus D where there is one
 * @RKMM_OP_MAXPOOL: the largest of each window
 * @RKMM_OP_AVGPOOL: the mean of each window
 * @RKMM_OP_REQUANT: int32 to int8: there is no way (hw 03 O5)
 * @RKMM_OP_TRANSPOSE: not on this chip in general (hw 04 §6.2): the library does it
 * @RKMM_OP_COUNT: how many
 */
enum rkmm_op_code {
	RKMM_OP_ADD,
	RKMM_OP_SUB,
	RKMM_OP_MUL,
	RKMM_OP_MAX,
	RKMM_OP_MIN,
	RKMM_OP_DIV,
	RKMM_OP_COPY,
	RKMM_OP_RELU,
	RKMM_OP_CLAMP,
	RKMM_OP_LEAKY,
	RKMM_OP_EXP,
	RKMM_OP_SIGMOID,
	RKMM_OP_TANH,
	RKMM_OP_SILU,
	RKMM_OP_GELU,
	RKMM_OP_HARDSWISH,
	RKMM_OP_RECIPROCAL,
	RKMM_OP_RSQRT,
	RKMM_OP_ROWMAX,
	RKMM_OP_ROWSUM,
	RKMM_OP_ROWMEAN,
	RKMM_OP_SOFTMAX,
	RKMM_OP_RMSNORM,
	RKMM_OP_LAYERNORM,
	RKMM_OP_MAXPOOL,
	RKMM_OP_AVGPOOL,
	RKMM_OP_REQUANT,
	RKMM_OP_TRANSPOSE,
	RKMM_OP_COUNT
};

/**
 * enum rkmm_other - what B is
 * @RKMM_OTHER_TENSOR: a tensor like A
 * @RKMM_OTHER_SCALAR: struct rkmm_op.value; there is no operand B
 * @RKMM_OTHER_CHANNEL: one value a column: of a product a vector [N], of a sum the
 *	weights of a matmul with K = 1 (fp16; hw 03 O17) or a vector of int32 (int8)
 * @RKMM_OTHER_COUNT: how many
 */
enum rkmm_other {
	RKMM_OTHER_TENSOR,
	RKMM_OTHER_SCALAR,
	RKMM_OTHER_CHANNEL,
	RKMM_OTHER_COUNT
};

/**
 * enum rkmm_evidence - how sure the programs are; the values are those of enum
 *	drm_rkmm_evidence
 * @RKMM_EVIDENCE_DERIVED: from the documents alone
 * @RKMM_EVIDENCE_CAPTURED: values of programs of working boards
 */
enum rkmm_evidence {
	RKMM_EVIDENCE_DERIVED,
	RKMM_EVIDENCE_CAPTURED,
};

/* struct rkmm_op.flags */
#define RKMM_OP_FLAT	(1u << 0)	/* rows one behind the other instead of cubes */
#define RKMM_OP_MASK	(1u << 1)	/* softmax: D is added to A */
#define RKMM_OP_CAUSAL	(1u << 2)	/* softmax: row r sees columns up to r + N - M */
#define RKMM_OP_GAMMA	(1u << 3)	/* norms: B is a vector that multiplies */
#define RKMM_OP_BETA	(1u << 4)	/* norms: D is the weights of a matmul with K = 1, added */

/**
 * struct rkmm_quant - integer operations: hw 04 §2.2
 * @za: added to a
 * @zb: added to b
 * @zo: added to the result
 * @sb: add, max, min: factor of b against 16384 of a, 0 counts as 16384
 * @sb_shift: right shift after it
 * @mult: factor of the result, 0 counts as 1
 * @shift: right shift of the result; add, max and min: 14 undoes the 16384
 */
struct rkmm_quant {
	s32 za, zb, zo;
	u32 sb, sb_shift, mult, shift;
};

/**
 * struct rkmm_op - an operation, as the user asked
 * @code: what to compute
 * @precision: fp16, int8 or int16
 * @other: what B is
 * @flags: RKMM_OP_*
 * @m: rows; pooling: pixels, lines times @width
 * @n: columns
 * @value: fp32 bits; integers: a number
 * @value2: the same
 * @scale: softmax: fp32 bits, 0 counts as 1; int8 lookups: real value of a step of A
 * @out_scale: int8 lookups: fp32 bits, real value of a step of C
 * @quant: integers
 * @width: pooling: pixels of a line
 * @kernel_w: width of the window
 * @kernel_h: height
 * @stride_w: step, 0 counts as @kernel_w
 * @stride_h: step, 0 counts as @kernel_h
 */
struct rkmm_op {
	enum rkmm_op_code code;
	enum rkmm_precision precision;
	enum rkmm_other other;
	u32 flags;
	u32 m, n;
	u32 value, value2, scale, out_scale;
	struct rkmm_quant quant;
	u32 width, kernel_w, kernel_h, stride_w, stride_h;
};

/**
 * enum rkmm_area - memory that a step uses
 * @RKMM_AREA_NONE: none
 * @RKMM_AREA_A: operand
 * @RKMM_AREA_B: operand
 * @RKMM_AREA_C: result
 * @RKMM_AREA_D: mask, or what is added last
 * @RKMM_AREA_TEMP: of rkmm_opgeom.temp_bytes, contents of no meaning before and after
 * @RKMM_AREA_CONST: of rkmm_opgeom.const_bytes, filled by rkmm_op_fill()
 * @RKMM_AREAS: how many
 */
enum rkmm_area {
	RKMM_AREA_NONE,
	RKMM_AREA_A,
	RKMM_AREA_B,
	RKMM_AREA_C,
	RKMM_AREA_D,
	RKMM_AREA_TEMP,
	RKMM_AREA_CONST,
	RKMM_AREAS
};

/**
 * struct rkmm_where - a tensor of a step
 * @place: memory
 * @offset: bytes from its start
 * @pitch: bytes from a channel group to the next
 * @row: bytes from a row of the operation to the next, 0 for what starts anew in every tile
 */
struct rkmm_where {
	enum rkmm_area place;
	u32 offset, pitch, row;
};

enum rkmm_step_kind {
	RKMM_STEP_DPU,
	RKMM_STEP_ROWMAX,	/* tasks of 128 rows */
	RKMM_STEP_MOVER,
	RKMM_STEP_MATMUL,	/* programs of a tiling */
	RKMM_STEP_POOL,
};

/**
 * struct rkmm_step - one step of every tile
 * @kind: how it runs
 * @padded: rows up to the next multiple of rkmm_opgeom.row_align are computed too
 * @geom: RKMM_STEP_MATMUL: index in rkmm_opgeom.matmul
 * @src: first operand
 * @src2: second operand, or weights, or a table
 * @dst: result
 * @dpu: without addresses and sizes of the tile
 * @mover: the same
 * @pool: the same
 */
struct rkmm_step {
	enum rkmm_step_kind kind;
	bool padded;
	u32 geom;
	struct rkmm_where src, src2, dst;
	union {
		struct rkmm_dpu dpu;
		struct rkmm_mover mover;
		struct rkmm_pool pool;
	};
};

enum rkmm_fill {
	RKMM_FILL_VALUE,	/* fp16 @value everywhere */
	RKMM_FILL_WEIGHT,	/* fp16 weights of @k rows: @value in the first @n rows, then 0 */
	RKMM_FILL_FIRST,	/* pixels of 8 channels: 1 in the first, 0 in the others */
	RKMM_FILL_COLUMN,	/* channel groups of @k pixels: 1 in channel 0, 0 in the others */
	RKMM_FILL_CAUSAL,	/* channel groups of @k pixels: 0, or -65504 what lies ahead */
};

/**
 * struct rkmm_const - a part of the constants
 * @fill: contents
 * @value: fp16 bits
 * @k: see enum rkmm_fill
 * @n: the same
 * @offset: bytes from the start of the constants
 * @bytes: size
 */
struct rkmm_const {
	enum rkmm_fill fill;
	u16 value;
	u32 k, n;
	u32 offset, bytes;
};

#define RKMM_OP_STEPS	32
#define RKMM_OP_CONSTS	10
#define RKMM_OP_MATMULS	6

/**
 * struct rkmm_opgeom - an operation ready to run, but for addresses
 * @op: the description it came from
 * @evidence: least of its steps
 * @a: operand A
 * @b: operand B; size 0 for none
 * @c: result
 * @d: operand D; size 0 for none
 * @temp_bytes: temporary memory
 * @const_bytes: constants
 * @rows: rows of the steps: those of @op, or pieces of 16 bytes in a flat layout
 * @row_pieces: of a row of @op: 1, or pieces of 16 bytes
 * @tile_rows: rows of a tile
 * @row_align: padded steps compute a multiple of it
 * @cols: columns of the steps, a whole number of channel groups
 * @tile_cols: columns of a tile
 * @nsteps: entries of @steps
 * @nconsts: entries of @consts
 * @nmatmuls: entries of @matmul
 * @predicted_ns: at 1 GHz
 * @steps: what every tile runs
 * @consts: contents of the constants
 * @matmul: tilings of RKMM_STEP_MATMUL
 */
struct rkmm_opgeom {
	struct rkmm_op op;
	enum rkmm_evidence evidence;
	struct rkmm_operand a, b, c, d;
	u32 temp_bytes, const_bytes;
	u32 rows, row_pieces, tile_rows, row_align, cols, tile_cols;
	u32 nsteps, nconsts, nmatmuls;
	u64 predicted_ns;
	struct rkmm_step steps[RKMM_OP_STEPS];
	struct rkmm_const consts[RKMM_OP_CONSTS];
	struct rkmm_geom matmul[RKMM_OP_MATMULS];
};

/**
 * rkmm_op_geometry() - steps, operands and memory of an operation
 * @limits: chip
 * @op: what to compute; any m, n >= 1
 * @geom: filled on success; several KiB
 *
 * Return: RKMM_OK or the reason of the refusal, whatever @op holds.
 */
enum rkmm_reason rkmm_op_geometry(const struct rkmm_limits *limits, const struct rkmm_op *op,
				  struct rkmm_opgeom *geom);

/** rkmm_op_fill() - write the constants, strictly upward */
void rkmm_op_fill(const struct rkmm_opgeom *geom, u16 *area);

/** rkmm_op_tasks() - tasks of a submission of @rows rows, 1 .. geom->op.m */
u32 rkmm_op_tasks(const struct rkmm_opgeom *geom, u32 rows);

/**
 * rkmm_op_task() - task number @i
 * @geom: the operation
 * @i: 0 .. rkmm_op_tasks() - 1
 * @rows: rows of the submission
 * @addr: device addresses by enum rkmm_area
 * @task: filled, but for its time; lookups load their table; weights is the enum rkmm_area
 *	that they lie in
 */
void rkmm_op_task(const struct rkmm_opgeom *geom, u32 i, u32 rows,
		  const u32 addr[RKMM_AREAS], struct rkmm_task *task);

/**
 * rkmm_op_task_from() - the same of @rows rows from row @first on
 * @geom: the operation
 * @i: 0 .. rkmm_op_tasks() - 1
 * @first: a multiple of RKMM_SHARE_ROWS; of an operation that is pooling 0
 * @rows: rows of the share
 * @addr: those of the whole operation
 * @task: filled
 */
void rkmm_op_task_from(const struct rkmm_opgeom *geom, u32 i, u32 first, u32 rows,
		       const u32 addr[RKMM_AREAS], struct rkmm_task *task);

/*
 * Rows are shared out in multiples of it: tasks that look at whole rows compute so many at once
 * (hw 04 §3), and two bytes a row are whole entries then.
 */
#define RKMM_SHARE_ROWS	64u

/** rkmm_op_name() - "softmax" ... */
const char *rkmm_op_name(enum rkmm_op_code code);

#endif
