/* SPDX-License-Identifier: MIT */
/*
 * librkmm-compute: sequences of operations that the NPU runs in one submission.
 *
 * Usable from C (C99 and later) and C++. Link with librkmm-compute and librkmm.
 */
#ifndef RKMM_SEQ_H
#define RKMM_SEQ_H

#include "rkmm.h"

#if defined(__cplusplus)
extern "C" {
#endif

/**
 * DOC: Sequences
 *
 * A sequence is described once and run as often as there is new data. Each
 * rkmm_seq_run() is one SUBMIT, whatever it holds:
 *
 *	rkmm_seq_create(dev, &seq);
 *	x = rkmm_seq_input(seq, DRM_RKMM_F16, rows, 256);
 *	y = rkmm_seq_linear(seq, x, rkmm_seq_weights(seq, w), 0, DRM_RKMM_OP_RELU);
 *	rkmm_seq_output(seq, y);
 *	ret = rkmm_seq_build(seq);
 *	...
 *	rkmm_seq_write(seq, x, data, 256, RKMM_SEQ_F32);
 *	ret = rkmm_seq_run(seq);
 *	rkmm_seq_read(seq, y, result, 64, RKMM_SEQ_F32);
 *
 * **Tensors** are numbers above 0; 0 stands for none where that is allowed. There are
 * five kinds:
 *
 * ============================ ========================================================
 * rkmm_seq_input()             rows x columns, written by the CPU. What was written
 *                              stays: constants are inputs that are written once
 * rkmm_seq_input_b()           right operand of matmuls, K x N, written by the CPU
 * rkmm_seq_weights()           the same, resident and shared with other sequences
 * rkmm_seq_vector()            one value a column: factor of MUL, GAMMA of norms
 * rkmm_seq_bias()              one value a column: summand of ADD, BETA of layernorm
 * ============================ ========================================================
 *
 * and results of operations, which have rows and columns as inputs do. Matrices of the
 * caller are row-major with a leading dimension in elements; any number of rows and
 * columns is served. Within the sequence they lie as the NPU wants them.
 *
 * **Memory.** Inputs and outputs have places of their own. Results that are neither
 * share memory where one is not needed any more when the other is made; those of
 * operations that do not depend on each other never do, so that the driver is free to
 * run these side by side.
 *
 * **Order.** Operations run in rising distance from the inputs. Matmuls at the same
 * distance are one group (DRM_RKMM_OP_GROUPED), so independent branches, such as the
 * heads of an attention, are shared over the cores.
 *
 * **Errors.** Functions return a negative errno with the meanings of rkmm_drm.h, and
 * rkmm_seq_error() has a sentence about it. A function that is given a negative number
 * as a tensor returns it, and rkmm_seq_build() returns the first error of all: checking
 * there is enough.
 *
 * **Threads.** A sequence serves one thread at a time. It must be destroyed before the
 * weights that it uses, and before its device is closed.
 */

/** RKMM_SEQ_F32 - matrix of the caller is of float, that of the sequence of fp16 */
#define RKMM_SEQ_F32	(1u << 8)

struct rkmm_seq;

/**
 * rkmm_seq_create() - an empty sequence
 * @dev: the device
 * @seq: the sequence; destroy it with rkmm_seq_destroy()
 *
 * Return: 0 or -ENOMEM.
 */
int rkmm_seq_create(struct rkmm_device *dev, struct rkmm_seq **seq);

/**
 * rkmm_seq_destroy() - forget a sequence
 * @seq: the sequence or NULL
 */
void rkmm_seq_destroy(struct rkmm_seq *seq);

/**
 * rkmm_seq_error() - what went wrong last
 * @seq: the sequence
 *
 * Return: a sentence without a line end, "" when nothing failed; valid until the next
 * failing call.
 */
const char *rkmm_seq_error(const struct rkmm_seq *seq);

/* ---- tensors ---- */

/**
 * rkmm_seq_input() - a matrix that the CPU writes
 * @seq: the sequence
 * @element: enum drm_rkmm_element
 * @rows: rows
 * @cols: columns
 *
 * Return: the tensor, or -EINVAL, -ENOMEM.
 */
int rkmm_seq_input(struct rkmm_seq *seq, uint32_t element, uint32_t rows, uint32_t cols);

/**
 * rkmm_seq_input_b() - right operand of matmuls that the CPU writes
 * @seq: the sequence
 * @element: DRM_RKMM_F16 or DRM_RKMM_I8
 * @k: rows
 * @n: columns
 *
 * Return: the tensor, or -EINVAL, -ENOMEM.
 */
int rkmm_seq_input_b(struct rkmm_seq *seq, uint32_t element, uint32_t k, uint32_t n);

/**
 * rkmm_seq_weights() - right operand of matmuls that is resident
 * @seq: the sequence
 * @weights: of fp16 or int8; not owned
 *
 * Return: the tensor, or -EINVAL, -ENOMEM.
 */
int rkmm_seq_weights(struct rkmm_seq *seq, const struct rkmm_weights *weights);

/**
 * rkmm_seq_vector() - factors of the columns, that the CPU writes
 * @seq: the sequence
 * @element: DRM_RKMM_F16 or DRM_RKMM_I8
 * @n: columns
 *
 * Return: the tensor, or -EINVAL, -ENOMEM.
 */
int rkmm_seq_vector(struct rkmm_seq *seq, uint32_t element, uint32_t n);

/**
 * rkmm_seq_bias() - summands of the columns, that the CPU writes
 * @seq: the sequence
 * @element: DRM_RKMM_F16, or DRM_RKMM_I8: then the values are int32_t
 * @n: columns
 *
 * Return: the tensor, or -EINVAL, -ENOMEM.
 */
int rkmm_seq_bias(struct rkmm_seq *seq, uint32_t element, uint32_t n);

/* ---- operations ---- */

/**
 * rkmm_seq_matmul() - a x b
 * @seq: the sequence
 * @desc: types, and where the types have them cores, mult, shift, offset; the rest is
 *	zero, and @m, @k, @n may be
 * @a: rows x K
 * @b: K x N, of rkmm_seq_input_b() or rkmm_seq_weights()
 *
 * Results of DRM_RKMM_F16F32 and DRM_RKMM_I8I32 can only be outputs, as nothing reads
 * them; so can those of a K that the NPU cannot sum up at once (10752 and less always).
 * DRM_RKMM_I4I16 is refused: int4 comes from the CPU, see rkmm_context_run().
 *
 * Return: the result; -EINVAL shapes or types do not fit; -EOPNOTSUPP not served;
 * -ENOMEM.
 */
int rkmm_seq_matmul(struct rkmm_seq *seq, const struct rkmm_matmul_desc *desc, int a, int b);

/**
 * rkmm_seq_epilogue() - a x b, and what follows it, as one plan
 * @seq: the sequence
 * @desc: as of rkmm_seq_matmul()
 * @stages: what follows, in order, as rkmm_plan_create_epilogue() takes them
 * @count: how many
 * @a: rows x K
 * @b: K x N, of rkmm_seq_input_b() or rkmm_seq_weights()
 * @d: operand of the first stage that has one, or 0: a bias where it adds to columns, a vector
 *	where it multiplies them, or a tensor like the result
 * @e: of the second one, or 0
 *
 * The result is that of as many operations. Those that the matmul's programs do themselves
 * cost next to nothing: see Documentation/operations.rst.
 *
 * Return: as rkmm_seq_matmul().
 */
int rkmm_seq_epilogue(struct rkmm_seq *seq, const struct rkmm_matmul_desc *desc,
		      const struct rkmm_op_desc *stages, uint32_t count, int a, int b, int d,
		      int e);

/**
 * rkmm_seq_op() - an operation that is no matmul
 * @seq: the sequence
 * @desc: what to compute; element, m, n and other are taken from the tensors
 * @a: operand A
 * @b: operand B, or 0 where there is none
 * @d: operand D, or 0 where there is none: mask of softmax, BETA of layernorm
 *
 * Pooling changes the number of rows, row maxima are packed, sums and means of rows have
 * 16 equal columns: see Documentation/operations.rst.
 *
 * Return: the result; -EINVAL operands do not fit; -EOPNOTSUPP not served; -ENOMEM.
 */
int rkmm_seq_op(struct rkmm_seq *seq, const struct rkmm_op_desc *desc, int a, int b, int d);

/**
 * rkmm_seq_unary() - an operation without parameters
 * @seq: the sequence
 * @kind: DRM_RKMM_OP_RELU, SIGMOID, TANH, SILU, GELU, HARDSWISH, EXP, COPY ...
 * @a: operand
 *
 * Return: as rkmm_seq_op().
 */
int rkmm_seq_unary(struct rkmm_seq *seq, uint32_t kind, int a);

/**
 * rkmm_seq_binary() - an operation of two tensors
 * @seq: the sequence
 * @kind: DRM_RKMM_OP_ADD, SUB, MUL, MAX, MIN or DIV
 * @a: left operand
 * @b: right operand: of the same size; of MUL also a vector, of ADD also a bias
 *
 * Return: as rkmm_seq_op().
 */
int rkmm_seq_binary(struct rkmm_seq *seq, uint32_t kind, int a, int b);

/**
 * rkmm_seq_softmax() - softmax of scale (a + mask) by rows
 * @seq: the sequence
 * @a: fp16
 * @mask: of the same size, or 0
 * @scale: factor, above 0 and below 19; 0 for 1
 * @flags: DRM_RKMM_CAUSAL: row r sees columns up to r + columns - rows, which must be at
 *	least as many; or 0
 *
 * Return: as rkmm_seq_op().
 */
int rkmm_seq_softmax(struct rkmm_seq *seq, int a, int mask, float scale, uint32_t flags);

/**
 * rkmm_seq_output() - make a result readable
 * @seq: the sequence
 * @tensor: a result
 *
 * Return: 0 or -EINVAL.
 */
int rkmm_seq_output(struct rkmm_seq *seq, int tensor);

/* ---- sequences that are ready ---- */

/**
 * rkmm_seq_linear() - activation(x w + bias), fp16, as one plan
 * @seq: the sequence
 * @x: rows x K
 * @w: K x N
 * @bias: of rkmm_seq_bias(), N columns, or 0
 * @activation: an operation of rkmm_seq_unary(), or 0
 *
 * Return: the result, rows x N; or as rkmm_seq_matmul() and rkmm_seq_op().
 */
int rkmm_seq_linear(struct rkmm_seq *seq, int x, int w, int bias, uint32_t activation);

/**
 * rkmm_seq_gated_mlp() - (silu(x gate) * (x up)) down, fp16
 * @seq: the sequence
 * @x: rows x K
 * @gate: K x H
 * @up: K x H
 * @down: H x N
 *
 * Return: the result, rows x N; or as rkmm_seq_matmul() and rkmm_seq_op().
 */
int rkmm_seq_gated_mlp(struct rkmm_seq *seq, int x, int gate, int up, int down);

/**
 * rkmm_seq_attention() - softmax(scale (q k + mask)) v, one head, fp16
 * @seq: the sequence
 * @q: M x D
 * @k: of rkmm_seq_input_b(), D x T: keys are its columns, so rows of T keys are written
 *	with RKMM_B_TRANSPOSED
 * @v: of rkmm_seq_input_b(), T x DV
 * @mask: M x T, or 0
 * @scale: factor, above 0 and below 19; 0 for 1 / sqrt(D)
 * @flags: DRM_RKMM_CAUSAL or 0
 *
 * The mask is added before the scale is applied.
 * Return: the result, M x DV; or as rkmm_seq_matmul() and rkmm_seq_op().
 */
int rkmm_seq_attention(struct rkmm_seq *seq, int q, int k, int v, int mask, float scale,
		       uint32_t flags);

/* ---- use ---- */

/**
 * rkmm_seq_build() - fix order and memory
 * @seq: the sequence; nothing can be added afterwards
 *
 * Return: 0; the first error of all calls before; -EINVAL there is nothing to run, or an
 * input that no operation uses; -ENOMEM, -ENOSPC.
 */
int rkmm_seq_build(struct rkmm_seq *seq);

/**
 * rkmm_seq_write() - fill an input
 * @seq: a sequence that was built
 * @tensor: an input; vectors and biases have one row
 * @src: row-major, element type of the tensor (half as uint16_t), or float
 * @ld: elements from one row of @src to the next
 * @flags: RKMM_SEQ_F32: @src is float, rounded to fp16; RKMM_B_TRANSPOSED: @src is N
 *	rows of K elements
 *
 * Return: 0 or -EINVAL, -ENOMEM.
 */
int rkmm_seq_write(struct rkmm_seq *seq, int tensor, const void *src, size_t ld,
		   uint32_t flags);

/**
 * rkmm_seq_run() - run all of it and wait: one call of the kernel
 * @seq: a sequence that was built
 *
 * Return: 0; -EIO it hung the NPU; other errors of rkmm_submit_wait().
 */
int rkmm_seq_run(struct rkmm_seq *seq);

/**
 * rkmm_seq_submit() - run all of it, and do not wait
 * @seq: a sequence that was built
 * @options: what it waits for and what it signals, or NULL
 * @seqno: for rkmm_wait()
 *
 * It may be submitted again before the first one has ended: submissions of a device run one
 * after the other. rkmm_seq_write() and rkmm_seq_read() wait for those that use the tensor; what
 * went wrong only rkmm_wait() tells.
 *
 * Return: 0, or errors of rkmm_submit().
 */
int rkmm_seq_submit(struct rkmm_seq *seq, const struct rkmm_submit_options *options,
		    uint64_t *seqno);

/**
 * rkmm_seq_read() - fetch an output
 * @seq: a sequence that has run, or was submitted
 * @tensor: an output
 * @dst: row-major, element type of the tensor: uint16_t for half, float for
 *	DRM_RKMM_F16F32, int32_t for DRM_RKMM_I8I32
 * @ld: elements from one row of @dst to the next
 * @flags: RKMM_SEQ_F32: fp16 results as float; or 0
 *
 * Return: 0 or -EINVAL, -ENOMEM.
 */
int rkmm_seq_read(struct rkmm_seq *seq, int tensor, void *dst, size_t ld, uint32_t flags);

/**
 * struct rkmm_seq_info - facts about a sequence that was built
 * @ops: operations of the submission
 * @programs: programs of the NPU
 * @plans: plans; equal operations share one
 * @predicted_ns: sum of the plans' predictions
 * @shared_bytes: memory of results that are no outputs
 * @alone_bytes: what it would be if none of them shared it
 * @io_bytes: memory of inputs and outputs, without that of rkmm_seq_weights()
 * @derived: operations whose programs were never seen on silicon
 * @temporary_bytes: those of @shared_bytes that are a temporary of the driver's
 * @reserved: zero
 */
struct rkmm_seq_info {
	uint32_t ops;
	uint32_t programs;
	uint32_t plans;
	uint32_t derived;
	uint64_t predicted_ns;
	uint64_t shared_bytes;
	uint64_t alone_bytes;
	uint64_t io_bytes;
	uint64_t temporary_bytes;
	uint64_t reserved[3];
};

/**
 * rkmm_seq_info() - facts about a sequence
 * @seq: a sequence that was built
 * @info: filled
 *
 * Return: 0 or -EINVAL.
 */
int rkmm_seq_info(struct rkmm_seq *seq, struct rkmm_seq_info *info);

/* ---- layouts ---- */

/**
 * rkmm_transpose() - rows become columns, on the CPU
 * @from: how @src lies: a result, or an operand A, of 8 or 16 bits, in cubes or rows
 * @src: its mapping, between rkmm_buffer_begin() and rkmm_buffer_end()
 * @to: how the transposed matrix is to lie: an operand A of the same element
 * @dst: not @src; columns behind the last one become zero
 * @rows: rows of @src
 * @cols: its columns, which are the rows of @dst
 *
 * The NPU has no such operation (DRM_RKMM_OP_TRANSPOSE). Right operands of matmuls are
 * transposed while they are packed: RKMM_B_TRANSPOSED.
 *
 * Return: 0, -EINVAL, -ENOMEM.
 */
int rkmm_transpose(const struct drm_rkmm_tensor *from, const void *src,
		   const struct drm_rkmm_tensor *to, void *dst, uint32_t rows, uint32_t cols);

/* ---- attention of many heads ---- */

/**
 * struct rkmm_attention_desc - scaled dot-product attention; zero means "default"
 * @m: rows of queries
 * @t: rows of keys and values
 * @d: columns of queries and keys, of each head
 * @dv: columns of values and results, of each head; 0 for @d
 * @heads: heads of queries; 0 for 1
 * @kv_heads: heads of keys and values, a divisor of @heads; 0 for @heads
 * @flags: DRM_RKMM_CAUSAL: query r sees keys up to r + T - M; DRM_RKMM_MASK: a mask is
 *	added; or 0
 * @scale: factor, above 0 and below 19; 0 for 1 / sqrt(@d)
 * @reserved: zero
 */
struct rkmm_attention_desc {
	uint32_t m;
	uint32_t t;
	uint32_t d;
	uint32_t dv;
	uint32_t heads;
	uint32_t kv_heads;
	uint32_t flags;
	float scale;
	uint32_t reserved[4];
};

/**
 * struct rkmm_heads - matrices of all heads
 * @data: of the first head, row-major, half as uint16_t, or float
 * @ld: elements from one row to the next
 * @stride: elements from one head to the next: the columns of a head where they lie side
 *	by side
 */
struct rkmm_heads {
	void *data;
	size_t ld;
	size_t stride;
};

struct rkmm_attention;

/**
 * rkmm_attention_create() - attention of some heads, in one submission
 * @dev: the device
 * @desc: what to compute
 * @att: the attention; destroy it with rkmm_attention_destroy()
 *
 * One thread at a time. On failure rkmm_attention_error() of NULL has a sentence.
 * Return: 0; -EINVAL malformed; -EOPNOTSUPP not served: T above 8192; -ENOMEM, -ENOSPC.
 */
int rkmm_attention_create(struct rkmm_device *dev, const struct rkmm_attention_desc *desc,
			  struct rkmm_attention **att);

/**
 * rkmm_attention_run() - softmax(scale q k^T + mask) v, head by head
 * @att: the attention
 * @q: M x D each
 * @k: T x D each
 * @v: T x DV each
 * @mask: M x T of the same type, for all heads, or NULL; with DRM_RKMM_MASK only. It is
 *	rounded to fp16 after a division by the scale; minus infinity hides a position
 * @ldm: elements from one row of @mask to the next
 * @out: M x DV each
 * @flags: RKMM_SEQ_F32: all matrices are float; or 0
 *
 * Packs, transposes the keys on the way, runs one submission, and gathers.
 * Return: 0 or the errors of rkmm_seq_write(), rkmm_seq_run() and rkmm_seq_read().
 */
int rkmm_attention_run(struct rkmm_attention *att, const struct rkmm_heads *q,
		       const struct rkmm_heads *k, const struct rkmm_heads *v,
		       const void *mask, size_t ldm, const struct rkmm_heads *out,
		       uint32_t flags);

/**
 * rkmm_attention_seq() - the sequence behind an attention
 * @att: the attention
 *
 * Return: the sequence, owned by the attention; it may be asked for facts.
 */
struct rkmm_seq *rkmm_attention_seq(struct rkmm_attention *att);

/**
 * rkmm_attention_error() - what went wrong last
 * @att: the attention, or NULL for the last rkmm_attention_create() of this thread
 *
 * Return: a sentence without a line end.
 */
const char *rkmm_attention_error(const struct rkmm_attention *att);

/**
 * rkmm_attention_destroy() - forget an attention
 * @att: the attention or NULL
 */
void rkmm_attention_destroy(struct rkmm_attention *att);

#if defined(__cplusplus)
}
#endif

#endif
