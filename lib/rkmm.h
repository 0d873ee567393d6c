/* SPDX-License-Identifier: MIT */
/*
 * librkmm: matrix multiplication on the RK3588 NPU.
 *
 * Usable from C (C99 and later) and C++.
 */
#ifndef RKMM_H
#define RKMM_H

#include <stddef.h>
#include <stdint.h>

#include "rkmm_drm.h"

#if defined(__cplusplus)
extern "C" {
#endif

/**
 * DOC: librkmm
 *
 * C[M][N] = A[M][K] x B[K][N]. Matrices of the caller are row-major with a
 * leading dimension (ld): the distance from one row to the next, in elements,
 * at least the number of columns. M, K and N are arbitrary; padding to what the
 * hardware wants happens inside. Element types follow enum drm_rkmm_types:
 *
 * ======================  ============== ==============
 * types                   A, B           C
 * ======================  ============== ==============
 * DRM_RKMM_I8I32          int8_t         int32_t
 * DRM_RKMM_I8I8           int8_t         int8_t
 * DRM_RKMM_F16F32         half (uint16_t float
 *                         bits)
 * DRM_RKMM_F16F16         half           half
 * DRM_RKMM_I4I16          int8_t, -8..7, int16_t
 *                         one a byte
 * ======================  ============== ==============
 *
 * Three levels, each built on the one below:
 *
 * - rkmm_matmul(): one call, nothing to keep;
 * - struct rkmm_weights and struct rkmm_context: B packed once and resident,
 *   buffers for A and C kept, so a repeated matmul allocates nothing;
 * - struct rkmm_plan, struct rkmm_buffer, rkmm_pack_a(), rkmm_pack_b(),
 *   rkmm_finish_c(), rkmm_submit(), rkmm_wait(): everything by hand, no copies.
 *
 * **Errors.** Functions that return int return 0 or a negative errno with the
 * meanings listed in rkmm_drm.h. rkmm_last_error() then has a sentence about
 * the last failure in the calling thread.
 *
 * **Threads.** A device, its buffers, plans and weights may be used from any
 * number of threads at once. A context serves one thread at a time. An object
 * must not be destroyed while another thread still uses it. Objects keep their
 * device open: the order of destruction does not matter.
 *
 * **Time.** Timeouts are nanoseconds from now; RKMM_FOREVER waits without end.
 * Signals never end a wait and never run a submission twice.
 */

/** RKMM_FOREVER - timeout: wait without end */
#define RKMM_FOREVER	((int64_t)-1)

/** RKMM_READ - the CPU reads */
#define RKMM_READ	DRM_RKMM_SYNC_READ
/** RKMM_WRITE - the CPU writes */
#define RKMM_WRITE	DRM_RKMM_SYNC_WRITE

/** RKMM_B_TRANSPOSED - B is given as N rows of K elements, ldb at least K */
#define RKMM_B_TRANSPOSED	(1u << 0)
/**
 * RKMM_FREE_SLICES - K may be cut for speed: DRM_RKMM_PLAN_FREE_SLICES
 *
 * For plans whose B is packed afterwards, with rkmm_weights_create_for(). Its layout
 * then depends on M, so other plans may not take it. Partial results of int4 are
 * clamped one by one: see DRM_RKMM_PLAN_MAY_SATURATE. rkmm_matmul() does it by
 * itself where that makes no difference, which is all but int4.
 */
#define RKMM_FREE_SLICES	(1u << 1)

struct rkmm_device;
struct rkmm_buffer;
struct rkmm_plan;
struct rkmm_weights;
struct rkmm_context;

/* ---- errors ---- */

/**
 * rkmm_last_error() - what went wrong last in this thread
 *
 * Return: a sentence without a line end, "" when nothing failed yet. Valid until
 * the next failing call of the same thread.
 */
const char *rkmm_last_error(void);

/**
 * rkmm_reason_string() - meaning of enum drm_rkmm_reason
 * @reason: the reason
 *
 * Return: a constant string, never NULL.
 */
const char *rkmm_reason_string(uint32_t reason);

/**
 * rkmm_version_string() - version of this library
 *
 * Return: a constant string such as "0.1.0".
 */
const char *rkmm_version_string(void);

/* ---- device ---- */

/**
 * rkmm_open() - open the NPU
 * @path: render node, or NULL to find the one whose driver is called "rkmm"
 * @dev: the device; close it with rkmm_close()
 *
 * Return: 0; -ENODEV no such driver or node; -EPROTO the driver speaks another
 * major version of the interface; -EACCES and other errors of open().
 */
int rkmm_open(const char *path, struct rkmm_device **dev);

/**
 * rkmm_close() - give the device back
 * @dev: the device or NULL
 *
 * The file is closed when the last object of the device is destroyed too.
 */
void rkmm_close(struct rkmm_device *dev);

/**
 * rkmm_fd() - file descriptor of the device
 * @dev: the device
 *
 * For poll-like uses and syncobjs of libdrm; it stays owned by the library.
 * Return: the descriptor.
 */
int rkmm_fd(const struct rkmm_device *dev);

/**
 * rkmm_device_info() - facts about the device, read now
 * @dev: the device
 * @info: filled; fields that an older driver does not know are zero
 *
 * Return: 0 or -errno.
 */
int rkmm_device_info(struct rkmm_device *dev, struct drm_rkmm_device_info *info);

/**
 * rkmm_client_info() - counters of this client, read now
 * @dev: the device
 * @info: filled; fields that an older driver does not know are zero
 *
 * Return: 0 or -errno.
 */
int rkmm_client_info(struct rkmm_device *dev, struct drm_rkmm_client_info *info);

/**
 * rkmm_type_info() - facts about one type pair
 * @dev: the device
 * @types: enum drm_rkmm_types
 * @info: filled
 *
 * Return: 0; -EOPNOTSUPP the chip does not do this pair.
 */
int rkmm_type_info(struct rkmm_device *dev, uint32_t types, struct drm_rkmm_type_info *info);

/**
 * rkmm_op_list() - facts about all operations that are no matmuls
 * @dev: the device
 * @infos: filled with as many as there are, at most @count; NULL with a @count of 0
 * @count: elements of @infos
 *
 * Return: how many the driver knows, or -errno.
 */
int rkmm_op_list(struct rkmm_device *dev, struct drm_rkmm_op_info *infos, uint32_t count);

/**
 * rkmm_op_info() - facts about one operation
 * @dev: the device
 * @kind: enum drm_rkmm_op_kind
 * @element: enum drm_rkmm_element
 * @other: enum drm_rkmm_other; of operations without a B DRM_RKMM_OTHER_TENSOR
 * @info: filled
 *
 * Return: 0, also for what is known to be refused; -EOPNOTSUPP the driver does not
 * know such an operation.
 */
int rkmm_op_info(struct rkmm_device *dev, uint32_t kind, uint32_t element, uint32_t other,
		 struct drm_rkmm_op_info *info);

/* ---- buffers ---- */

/**
 * rkmm_buffer_create() - a zeroed buffer that CPU and NPU can reach
 * @dev: the device
 * @size: bytes, at least 1
 * @buf: the buffer; destroy it with rkmm_buffer_destroy()
 *
 * Return: 0, -EINVAL, -ENOMEM.
 */
int rkmm_buffer_create(struct rkmm_device *dev, uint64_t size, struct rkmm_buffer **buf);

/**
 * rkmm_buffer_import() - use a dma-buf
 * @dev: the device
 * @dmabuf_fd: the dma-buf; the library takes its own reference
 * @buf: the buffer. A dma-buf that is already known gives the same object once
 *	more: each import needs one rkmm_buffer_destroy()
 *
 * Return: 0 or -errno.
 */
int rkmm_buffer_import(struct rkmm_device *dev, int dmabuf_fd, struct rkmm_buffer **buf);

/**
 * rkmm_buffer_export() - a dma-buf of the buffer
 * @buf: the buffer
 * @dmabuf_fd: the dma-buf, close-on-exec; the caller closes it
 *
 * Return: 0 or -errno.
 */
int rkmm_buffer_export(struct rkmm_buffer *buf, int *dmabuf_fd);

/**
 * rkmm_buffer_map() - address of the buffer
 * @buf: the buffer
 * @ptr: the address, valid until the buffer is destroyed; cached memory
 *
 * Accesses go between rkmm_buffer_begin() and rkmm_buffer_end().
 * Return: 0 or -errno.
 */
int rkmm_buffer_map(struct rkmm_buffer *buf, void **ptr);

/**
 * rkmm_buffer_begin() - begin CPU access to a range
 * @buf: the buffer
 * @offset: first byte
 * @size: bytes, at least 1
 * @access: RKMM_READ, RKMM_WRITE or both
 * @timeout_ns: how long to wait for submissions that are in the way
 *
 * Return: 0; -EINVAL range; -ETIME.
 */
int rkmm_buffer_begin(struct rkmm_buffer *buf, uint64_t offset, uint64_t size, uint32_t access,
		      int64_t timeout_ns);

/**
 * rkmm_buffer_end() - end CPU access to a range
 * @buf: the buffer
 * @offset: first byte
 * @size: bytes, at least 1
 * @access: what rkmm_buffer_begin() was told
 *
 * What was written becomes visible to later submissions.
 * Return: 0 or -EINVAL.
 */
int rkmm_buffer_end(struct rkmm_buffer *buf, uint64_t offset, uint64_t size, uint32_t access);

/**
 * rkmm_buffer_size() - size of the buffer
 * @buf: the buffer
 *
 * Return: bytes, a multiple of the page size.
 */
uint64_t rkmm_buffer_size(const struct rkmm_buffer *buf);

/**
 * rkmm_buffer_handle() - GEM handle of the buffer
 * @buf: the buffer
 *
 * Return: the handle; it stays owned by the library.
 */
uint32_t rkmm_buffer_handle(const struct rkmm_buffer *buf);

/**
 * rkmm_buffer_destroy() - forget a buffer
 * @buf: the buffer or NULL
 *
 * Submissions that use it keep its memory until they end.
 */
void rkmm_buffer_destroy(struct rkmm_buffer *buf);

/* ---- plans ---- */

/**
 * struct rkmm_matmul_desc - one matmul; fields left zero mean "default"
 * @types: enum drm_rkmm_types
 * @m: rows of A and C; a submission may use fewer
 * @k: columns of A, rows of B
 * @n: columns of B and C
 * @flags: RKMM_FREE_SLICES; RKMM_B_TRANSPOSED (rkmm_matmul() only)
 * @cores: mask of cores that may be used, 0 for any
 * @a_pitch: bytes between rows of A in its buffer, 0 for packed; a multiple of
 *	16, only when K needs no padding
 * @c_pitch: bytes between rows of C in its buffer, 0 for packed; a multiple of 16
 * @b_layout: layout id that B already has, 0 for the driver's choice
 * @mult: int8 output only: multiplier, 1..32767
 * @shift: int8 output only: right shift, 0..31
 * @offset: int8 output only: added after the shift, -128..127
 * @form: enum drm_rkmm_form
 * @reserved: zero
 */
struct rkmm_matmul_desc {
	uint32_t types;
	uint32_t m;
	uint32_t k;
	uint32_t n;
	uint32_t flags;
	uint32_t cores;
	uint32_t a_pitch;
	uint32_t c_pitch;
	uint64_t b_layout;
	int32_t mult;
	uint32_t shift;
	int32_t offset;
	uint32_t form;
	uint32_t reserved[4];
};

/**
 * rkmm_plan_create() - fix how a matmul is done
 * @dev: the device
 * @desc: what to compute
 * @plan: the plan; destroy it with rkmm_plan_destroy()
 *
 * Return: 0; -EOPNOTSUPP this shape is not served, rkmm_last_error() says why;
 * -EINVAL malformed.
 */
int rkmm_plan_create(struct rkmm_device *dev, const struct rkmm_matmul_desc *desc,
		     struct rkmm_plan **plan);

/**
 * struct rkmm_op_desc - one operation that is no matmul; zero means "default"
 * @kind: enum drm_rkmm_op_kind, not DRM_RKMM_OP_MATMUL
 * @element: enum drm_rkmm_element
 * @m: rows; a submission may use fewer
 * @n: columns
 * @other: enum drm_rkmm_other, what B of ADD to DIV is
 * @flags: DRM_RKMM_FLAT, MASK, CAUSAL, GAMMA, BETA
 * @cores: mask of cores that may be used, 0 for any
 * @value: scalar, lower bound, slope or epsilon; of integers a whole number
 * @value2: upper bound
 * @scale: SOFTMAX: factor, 0 for 1; int8 curves: real value of a step of A
 * @out_scale: int8 curves: real value of a step of C
 * @za: integers: added to a
 * @zb: integers: added to b
 * @sb: integers: factor of b, 0 for 16384
 * @sb_shift: integers: right shift after it
 * @mult: integers: factor of the result, 0 for 1
 * @shift: integers: right shift of the result
 * @offset: integers: added last
 * @width: pooling: pixels of a line; @m is a number of lines times it
 * @kernel_w: pooling: width of the window
 * @kernel_h: pooling: height of the window
 * @stride_w: pooling: step, 0 for @kernel_w
 * @stride_h: pooling: step, 0 for @kernel_h
 * @reserved: zero
 *
 * What each operation computes, and how exactly: Documentation/operations.rst. What an
 * operation does not have is zero.
 */
struct rkmm_op_desc {
	uint32_t kind;
	uint32_t element;
	uint32_t m;
	uint32_t n;
	uint32_t other;
	uint32_t flags;
	uint32_t cores;
	float value;
	float value2;
	float scale;
	float out_scale;
	int32_t za;
	int32_t zb;
	uint32_t sb;
	uint32_t sb_shift;
	int32_t mult;
	uint32_t shift;
	int32_t offset;
	uint32_t width;
	uint16_t kernel_w;
	uint16_t kernel_h;
	uint16_t stride_w;
	uint16_t stride_h;
	uint32_t reserved[4];
};

/**
 * rkmm_plan_create_op() - fix how an operation that is no matmul is done
 * @dev: the device
 * @desc: what to compute
 * @plan: the plan; destroy it with rkmm_plan_destroy()
 *
 * Operands lie as rkmm_plan_a() to rkmm_plan_d() say; those that the operation has none
 * of have size 0. Tensors are packed by rkmm_pack_a() and gathered by rkmm_unpack_c();
 * vectors of DRM_RKMM_OTHER_CHANNEL and DRM_RKMM_GAMMA by rkmm_pack_a() as one row; of
 * fp16 sums, and DRM_RKMM_BETA, by rkmm_pack_b() with K = 1.
 * Return: 0; -EOPNOTSUPP not served, rkmm_last_error() says why; -EINVAL malformed.
 */
int rkmm_plan_create_op(struct rkmm_device *dev, const struct rkmm_op_desc *desc,
			struct rkmm_plan **plan);

/**
 * rkmm_plan_create_epilogue() - fix how a matmul and what follows it are done
 * @dev: the device
 * @desc: the matmul
 * @stages: what follows, in order: kind, other, values and numbers of integers; the rest
 *	is zero
 * @count: how many, at most DRM_RKMM_STAGES
 * @plan: the plan; destroy it with rkmm_plan_destroy()
 *
 * Which stages there may be, and what they work on: struct drm_rkmm_stage. The first that
 * has an operand takes D, the second E; they lie as rkmm_plan_d() and rkmm_plan_e() say:
 * a vector of 4-byte words where the stage is in the matmul's program and adds, else as
 * of an operation of its own. A and C are cubes when rkmm_plan_fused() lacks a stage.
 * Return: 0; -EOPNOTSUPP not served, rkmm_last_error() says why; -EINVAL malformed.
 */
int rkmm_plan_create_epilogue(struct rkmm_device *dev, const struct rkmm_matmul_desc *desc,
			      const struct rkmm_op_desc *stages, uint32_t count,
			      struct rkmm_plan **plan);

/**
 * rkmm_plan_fused() - stages that the matmul's own programs do
 * @plan: the plan
 *
 * Return: a mask, bit 0 the first stage. The rest are operations behind it.
 */
uint32_t rkmm_plan_fused(const struct rkmm_plan *plan);

/**
 * rkmm_plan_a() - how operand A lies in its buffer
 * @plan: the plan
 *
 * Return: the description, valid as long as the plan.
 */
const struct drm_rkmm_tensor *rkmm_plan_a(const struct rkmm_plan *plan);

/**
 * rkmm_plan_b() - how operand B lies in its buffer
 * @plan: the plan
 *
 * Return: the description, valid as long as the plan.
 */
const struct drm_rkmm_tensor *rkmm_plan_b(const struct rkmm_plan *plan);

/**
 * rkmm_plan_c() - how operand C lies in its buffer
 * @plan: the plan
 *
 * Return: the description, valid as long as the plan.
 */
const struct drm_rkmm_tensor *rkmm_plan_c(const struct rkmm_plan *plan);

/**
 * rkmm_plan_d() - how operand D lies in its buffer
 * @plan: the plan
 *
 * Return: the description, valid as long as the plan.
 */
const struct drm_rkmm_tensor *rkmm_plan_d(const struct rkmm_plan *plan);

/**
 * rkmm_plan_e() - how operand E lies in its buffer
 * @plan: the plan
 *
 * Return: the description, valid as long as the plan.
 */
const struct drm_rkmm_tensor *rkmm_plan_e(const struct rkmm_plan *plan);

/**
 * rkmm_plan_evidence() - how sure the programs are
 * @plan: the plan
 *
 * Return: enum drm_rkmm_evidence.
 */
uint32_t rkmm_plan_evidence(const struct rkmm_plan *plan);

/**
 * rkmm_plan_flags() - what to know about results
 * @plan: the plan
 *
 * Return: DRM_RKMM_PLAN_HOST_FINISH and DRM_RKMM_PLAN_MAY_SATURATE or zero.
 */
uint32_t rkmm_plan_flags(const struct rkmm_plan *plan);

/**
 * rkmm_plan_programs() - NPU programs of a full submission
 * @plan: the plan
 *
 * Return: their number.
 */
uint32_t rkmm_plan_programs(const struct rkmm_plan *plan);

/**
 * rkmm_plan_predicted_ns() - predicted time of a full submission on one core
 * @plan: the plan
 *
 * Return: nanoseconds.
 */
uint64_t rkmm_plan_predicted_ns(const struct rkmm_plan *plan);

/**
 * rkmm_plan_destroy() - forget a plan
 * @plan: the plan or NULL
 *
 * Submissions that use it are not disturbed.
 */
void rkmm_plan_destroy(struct rkmm_plan *plan);

/* ---- packing, pure functions on memory ---- */

/**
 * rkmm_set_threads() - how many threads packing and gathering may use
 * @n: threads, the caller's included; 1 for the caller alone, 0 for the default:
 *	the environment variable RKMM_THREADS, or else the processors this process
 *	may use; at most 16
 *
 * They are shared by the whole process, start with the first large matrix and end
 * with the last rkmm_close(). Small matrices, and large ones while another thread
 * of the program has a large one, are done by the caller alone. Results do not
 * depend on any of this.
 */
void rkmm_set_threads(unsigned int n);

/**
 * rkmm_threads() - how many threads packing and gathering may use
 *
 * Return: their number, the caller included.
 */
unsigned int rkmm_threads(void);

/**
 * rkmm_pack_a() - lay A out as a plan wants it, padding included
 * @a: rkmm_plan_a()
 * @dst: operand A in its mapped buffer
 * @src: row-major, element type of the plan; int4: one int8_t per element
 * @lda: elements from one row of @src to the next
 * @rows: rows to pack, at most those of the plan
 * @cols: K
 *
 * Return: 0; -EINVAL shape does not fit; -ERANGE an int4 value is outside -8..7.
 */
int rkmm_pack_a(const struct drm_rkmm_tensor *a, void *dst, const void *src, size_t lda,
		uint32_t rows, uint32_t cols);

/**
 * rkmm_pack_b() - lay B out as a plan wants it, padding included
 * @b: rkmm_plan_b()
 * @dst: operand B in its mapped buffer
 * @src: K rows of N elements, or N rows of K with RKMM_B_TRANSPOSED
 * @ldb: elements from one row of @src to the next
 * @k: K
 * @n: N
 * @flags: 0 or RKMM_B_TRANSPOSED
 *
 * Return: 0; -EINVAL shape does not fit; -ERANGE an int4 value is outside -8..7.
 */
int rkmm_pack_b(const struct drm_rkmm_tensor *b, void *dst, const void *src, size_t ldb,
		uint32_t k, uint32_t n, uint32_t flags);

/**
 * rkmm_unpack_c() - gather C into a row-major matrix
 * @c: rkmm_plan_c()
 * @src: operand C in its mapped buffer
 * @dst: row-major, element type of the plan
 * @ldc: elements from one row of @dst to the next
 * @rows: rows to gather, at most those of the plan
 * @cols: N
 *
 * Elements of @dst between N and @ldc are left alone.
 * Return: 0; -EINVAL also where C is several partial results: see rkmm_finish_c().
 */
int rkmm_unpack_c(const struct drm_rkmm_tensor *c, const void *src, void *dst, size_t ldc,
		  uint32_t rows, uint32_t cols);

/**
 * rkmm_unpack_c_in_place() - make C row-major where it lies
 * @c: rkmm_plan_c()
 * @mem: operand C in its mapped buffer, which must be open for reading and writing
 * @ldc: elements from one row to the next afterwards; C must still fit @c
 * @rows: rows wanted, at most those of the plan
 * @cols: N
 *
 * Needs no memory, for layouts ROWS and CUBE. A cube is slower this way than by
 * rkmm_unpack_c(): each atom moves alone. What lies between the rows is undefined.
 * Return: 0 or -EINVAL; then @mem is as it was.
 */
int rkmm_unpack_c_in_place(const struct drm_rkmm_tensor *c, void *mem, size_t ldc, uint32_t rows,
			   uint32_t cols);

/**
 * rkmm_move_rows() - change the distance of rows where they lie
 * @mem: row 0, which stays
 * @rows: their number
 * @bytes: of a row
 * @first: byte at which row 1 begins
 * @pitch: bytes from row 1 to row 2 and so on
 * @out_pitch: the distance wanted
 *
 * Also for the offset stride of a program whose first two notches differ: row 0 at
 * 0, row m at @first + (m - 1) * @pitch. What lies between the rows is undefined.
 * Return: 0; -EINVAL rows would overlap.
 */
int rkmm_move_rows(void *mem, uint32_t rows, size_t bytes, size_t first, size_t pitch,
		   size_t out_pitch);

/**
 * rkmm_finish_c() - C of a plan as a row-major matrix
 * @plan: the plan
 * @src: operand C in its mapped buffer
 * @dst: row-major, element type of the plan
 * @ldc: elements from one row of @dst to the next
 * @rows: rows wanted, at most the plan's M
 *
 * As rkmm_unpack_c(), and where rkmm_plan_flags() has DRM_RKMM_PLAN_HOST_FINISH
 * the partial results are added on the way, in rising order of their slices of
 * K: exactly for integers, in fp32 for fp16; then int8 is requantised, fp16
 * rounded and int16 clamped.
 * Return: 0 or -EINVAL.
 */
int rkmm_finish_c(const struct rkmm_plan *plan, const void *src, void *dst, size_t ldc,
		  uint32_t rows);

/**
 * rkmm_f32_to_f16() - round to half precision, to nearest, ties to even
 * @src: values
 * @dst: half bits
 * @count: number of values
 */
void rkmm_f32_to_f16(const float *src, uint16_t *dst, size_t count);

/**
 * rkmm_f16_to_f32() - widen half precision, exact
 * @src: half bits
 * @dst: values
 * @count: number of values
 */
void rkmm_f16_to_f32(const uint16_t *src, float *dst, size_t count);

/* ---- weights ---- */

/**
 * rkmm_weights_create() - pack B and keep it resident
 * @dev: the device
 * @types: enum drm_rkmm_types
 * @k: K
 * @n: N
 * @b: K rows of N elements, or N rows of K with RKMM_B_TRANSPOSED
 * @ldb: elements from one row of @b to the next
 * @flags: 0 or RKMM_B_TRANSPOSED
 * @weights: the weights; destroy them with rkmm_weights_destroy()
 *
 * They serve any plan whose B has the same layout id, whatever its M.
 * Return: 0; -EOPNOTSUPP shape not served; -ERANGE an int4 value is outside
 * -8..7; -EINVAL; -ENOMEM.
 */
int rkmm_weights_create(struct rkmm_device *dev, uint32_t types, uint32_t k, uint32_t n,
			const void *b, size_t ldb, uint32_t flags, struct rkmm_weights **weights);

/**
 * rkmm_weights_create_for() - pack B as one plan wants it and keep it resident
 * @plan: the plan; types, K, N and layout are taken from it
 * @b: K rows of N elements, or N rows of K with RKMM_B_TRANSPOSED
 * @ldb: elements from one row of @b to the next
 * @flags: 0 or RKMM_B_TRANSPOSED
 * @weights: the weights; destroy them with rkmm_weights_destroy()
 *
 * For plans with RKMM_FREE_SLICES; without it the same as rkmm_weights_create().
 * Return: 0; -ERANGE an int4 value is outside -8..7; -EINVAL; -ENOMEM.
 */
int rkmm_weights_create_for(const struct rkmm_plan *plan, const void *b, size_t ldb,
			    uint32_t flags, struct rkmm_weights **weights);

/** RKMM_AS_STORED - rkmm_weights_load(): the types of the file */
#define RKMM_AS_STORED	((uint32_t)-1)

/**
 * rkmm_weights_load() - weights from a file, without packing
 * @dev: the device
 * @path: file of rkmm_weights_save() or rkmm-weights(1)
 * @types: enum drm_rkmm_types they are to serve, or RKMM_AS_STORED
 * @weights: the weights; destroy them with rkmm_weights_destroy()
 *
 * Types with the element type of the file are served, and int8 from a file of
 * int4: then the values and scales are those of the file, the arithmetic is int8.
 * Everything in the file is checked, by checksum too.
 * Return: 0; -EBADMSG not such a file, truncated or damaged; -EOPNOTSUPP packed
 * in a layout that this device does not take, or for other types; errors of
 * open() and read(); -ENOMEM.
 */
int rkmm_weights_load(struct rkmm_device *dev, const char *path, uint32_t types,
		      struct rkmm_weights **weights);

/**
 * rkmm_weights_save() - write packed weights and their scales to a file
 * @weights: the weights
 * @path: the file, replaced when the new one is complete
 *
 * Return: 0 or -errno.
 */
int rkmm_weights_save(const struct rkmm_weights *weights, const char *path);

/**
 * rkmm_weights_set_scales() - keep the scales of quantised weights with them
 * @weights: the weights; no other thread may use them meanwhile
 * @scale: one for each column of B, copied; NULL for none
 *
 * Matmuls do not use them; rkmm_weights_save() writes them.
 * Return: 0 or -ENOMEM.
 */
int rkmm_weights_set_scales(struct rkmm_weights *weights, const float *scale);

/**
 * rkmm_weights_scales() - scales of the columns
 * @weights: the weights
 *
 * Return: one for each column, or NULL; valid as long as the weights.
 */
const float *rkmm_weights_scales(const struct rkmm_weights *weights);

/**
 * rkmm_weights_types() - types of the weights
 * @weights: the weights
 *
 * Return: enum drm_rkmm_types.
 */
uint32_t rkmm_weights_types(const struct rkmm_weights *weights);

/**
 * rkmm_weights_shape() - size of B
 * @weights: the weights
 * @k: its rows
 * @n: its columns
 */
void rkmm_weights_shape(const struct rkmm_weights *weights, uint32_t *k, uint32_t *n);

/**
 * rkmm_weights_tensor() - layout of packed weights
 * @weights: the weights
 *
 * Return: the description, valid as long as the weights.
 */
const struct drm_rkmm_tensor *rkmm_weights_tensor(const struct rkmm_weights *weights);

/**
 * rkmm_weights_buffer() - buffer of packed weights, operand B starts at byte 0
 * @weights: the weights
 *
 * Return: the buffer, owned by the weights.
 */
struct rkmm_buffer *rkmm_weights_buffer(const struct rkmm_weights *weights);

/**
 * rkmm_weights_destroy() - forget weights
 * @weights: the weights or NULL
 *
 * Submissions that use them keep their memory until they end.
 */
void rkmm_weights_destroy(struct rkmm_weights *weights);

/* ---- submissions by hand ---- */

/**
 * rkmm_temporary() - a temporary as a place for operands
 * @number: below DRM_RKMM_MAX_TEMPS
 *
 * Temporaries hold what operations of one submission hand on to each other: memory of
 * the driver, undefined before the first write of a submission and gone after it. What
 * is returned stands for temporary @number in &struct rkmm_operand.buf, of any device;
 * it can be neither mapped nor exported, and need not be destroyed.
 *
 * Return: NULL when there is none of that number.
 */
struct rkmm_buffer *rkmm_temporary(uint32_t number);

/**
 * struct rkmm_operand - a place in a buffer
 * @buf: the buffer, or what rkmm_temporary() returned
 * @offset: first byte, a multiple of 64
 */
struct rkmm_operand {
	struct rkmm_buffer *buf;
	uint64_t offset;
};

/**
 * struct rkmm_op - one operation of a submission
 * @plan: the plan
 * @rows: rows to compute, 0 for the plan's M
 * @flags: DRM_RKMM_OP_GROUPED or zero
 * @a: operand A, laid out as rkmm_plan_a() says
 * @b: operand B, laid out as rkmm_plan_b() says
 * @c: operand C, may overlap no other operand of its group
 * @a_stride: bytes from an A to the next, a multiple of 64; 0: all have the same
 * @b_stride: bytes from a B to the next, a multiple of 64; 0: all have the same
 * @c_stride: bytes from a C to the next, a multiple of 64
 * @count: how often, 0 for once
 * @reserved: zero
 * @d: operand D, laid out as rkmm_plan_d() says
 * @e: operand E, laid out as rkmm_plan_e() says
 *
 * Operands that the plan has none of, of size 0, have no buffer. Operations that are no
 * matmuls run once and are not grouped.
 *
 * Batched: @count products of one plan at strides. Scores of all heads of an
 * attention, where the rows of Q hold HEADS heads of 64 int8 side by side (so does
 * the result, of T columns of int32 each), and K is packed head by head:
 *
 *	desc = (struct rkmm_matmul_desc){
 *		.types = DRM_RKMM_I8I32, .m = rows, .k = 64, .n = T,
 *		.a_pitch = HEADS * 64, .c_pitch = HEADS * T * 4,
 *	};
 *	...
 *	op = (struct rkmm_op){
 *		.plan = plan, .count = HEADS,
 *		.a = { q }, .a_stride = 64,
 *		.b = { k }, .b_stride = rkmm_plan_b(plan)->size,
 *		.c = { scores }, .c_stride = T * 4,
 *	};
 *	ret = rkmm_submit(dev, &op, 1, NULL, &seqno);
 *
 * Grouped: with DRM_RKMM_OP_GROUPED an operation may run together with the one
 * before it; neither may read or write what the other one writes. Experts that got
 * different numbers of rows, one operation each, all but the first with the flag,
 * become few chains of programs instead of one start each.
 */
struct rkmm_op {
	const struct rkmm_plan *plan;
	uint32_t rows;
	uint32_t flags;
	struct rkmm_operand a;
	struct rkmm_operand b;
	struct rkmm_operand c;
	uint64_t a_stride;
	uint64_t b_stride;
	uint64_t c_stride;
	uint32_t count;
	uint32_t reserved;
	struct rkmm_operand d;
	struct rkmm_operand e;
};

/**
 * struct rkmm_submit_options - what else a submission can be told
 * @in_syncs: syncobjs to wait for
 * @out_syncs: syncobjs to signal
 * @num_in: length of @in_syncs
 * @num_out: length of @out_syncs
 * @cores: mask of cores that may be used, 0 for any
 * @hints: 0, DRM_RKMM_SUBMIT_LATENCY or DRM_RKMM_SUBMIT_POWER
 * @reserved: zero
 */
struct rkmm_submit_options {
	const struct drm_rkmm_sync *in_syncs;
	const struct drm_rkmm_sync *out_syncs;
	uint32_t num_in;
	uint32_t num_out;
	uint32_t cores;
	uint32_t hints;
	uint32_t reserved[4];
};

/**
 * rkmm_submit() - run operations, in order but for groups
 * @dev: the device
 * @ops: the operations
 * @count: their number, 1..DRM_RKMM_MAX_OPS
 * @options: or NULL
 * @seqno: the submission, for rkmm_wait(); any number may be in flight
 *
 * Return: 0 queued; -errno nothing was queued.
 */
int rkmm_submit(struct rkmm_device *dev, const struct rkmm_op *ops, uint32_t count,
		const struct rkmm_submit_options *options, uint64_t *seqno);

/**
 * rkmm_submit_wait() - run operations and wait for the end, in one call of the kernel
 * @dev: the device
 * @ops: the operations
 * @count: their number, 1..DRM_RKMM_MAX_OPS
 * @options: or NULL
 *
 * Return: 0 it ended well; the errors of rkmm_submit() and rkmm_wait().
 */
int rkmm_submit_wait(struct rkmm_device *dev, const struct rkmm_op *ops, uint32_t count,
		     const struct rkmm_submit_options *options);

/**
 * rkmm_wait() - wait for a submission
 * @dev: the device
 * @seqno: from rkmm_submit()
 * @timeout_ns: how long
 *
 * Return: 0 it ended well; -ETIME not yet; -EIO it hung the NPU; -ECANCELED a
 * dependency failed or it was killed; -ENODEV the device is gone; -ENOENT never
 * submitted.
 */
int rkmm_wait(struct rkmm_device *dev, uint64_t seqno, int64_t timeout_ns);

/* ---- contexts ---- */

/**
 * rkmm_context_create() - a plan with buffers for A and C
 * @dev: the device
 * @desc: what to compute; a_pitch, c_pitch and flags must be zero
 * @weights: weights whose layout the plan is to take, or NULL
 * @ctx: the context; destroy it with rkmm_context_destroy()
 *
 * One thread at a time; at most one submission of a context is in flight. For
 * several in flight make several contexts.
 * Return: 0 or the errors of rkmm_plan_create() and rkmm_buffer_create().
 */
int rkmm_context_create(struct rkmm_device *dev, const struct rkmm_matmul_desc *desc,
			const struct rkmm_weights *weights, struct rkmm_context **ctx);

/**
 * rkmm_context_plan() - plan of a context
 * @ctx: the context
 *
 * Return: the plan, owned by the context.
 */
const struct rkmm_plan *rkmm_context_plan(const struct rkmm_context *ctx);

/**
 * rkmm_context_a() - operand A in place
 * @ctx: the context
 *
 * To be filled as rkmm_plan_a() describes, for example by rkmm_pack_a(); then
 * pass NULL as @a of rkmm_context_submit(). With layout ROWS and K a multiple
 * of the padding rows can be written directly, without any copy.
 * Return: the address; it holds zeros at first.
 */
void *rkmm_context_a(const struct rkmm_context *ctx);

/**
 * rkmm_context_c() - operand C in place, as rkmm_plan_c() describes
 * @ctx: the context
 *
 * Return: the address; readable after rkmm_context_read().
 */
const void *rkmm_context_c(const struct rkmm_context *ctx);

/**
 * rkmm_context_submit() - pack A and start
 * @ctx: the context
 * @weights: B
 * @a: row-major A, or NULL when it already lies in rkmm_context_a()
 * @lda: elements from one row of @a to the next
 * @rows: rows of this submission, 0 for the plan's M
 *
 * Return: 0 queued; -EBUSY a submission is in flight; -EINVAL the weights have
 * another layout; -ERANGE an int4 value is outside -8..7.
 */
int rkmm_context_submit(struct rkmm_context *ctx, const struct rkmm_weights *weights,
			const void *a, size_t lda, uint32_t rows);

/**
 * rkmm_context_wait() - wait for what rkmm_context_submit() started
 * @ctx: the context
 * @timeout_ns: how long
 *
 * Return: as rkmm_wait(); -ENOENT nothing was submitted. After -ETIME the
 * submission is still in flight.
 */
int rkmm_context_wait(struct rkmm_context *ctx, int64_t timeout_ns);

/**
 * rkmm_context_read() - fetch C after rkmm_context_wait()
 * @ctx: the context
 * @c: row-major C, or NULL to only make rkmm_context_c() readable
 * @ldc: elements from one row of @c to the next
 *
 * Return: 0; -EBUSY still in flight; -ENOENT no finished result.
 */
int rkmm_context_read(struct rkmm_context *ctx, void *c, size_t ldc);

/**
 * rkmm_context_run() - submit, wait and read in one call
 * @ctx: the context
 * @weights: B
 * @a: as in rkmm_context_submit()
 * @lda: as in rkmm_context_submit()
 * @c: as in rkmm_context_read()
 * @ldc: as in rkmm_context_read()
 * @rows: as in rkmm_context_submit()
 *
 * Return: 0 or the errors of the three.
 */
int rkmm_context_run(struct rkmm_context *ctx, const struct rkmm_weights *weights,
		     const void *a, size_t lda, void *c, size_t ldc, uint32_t rows);

/**
 * rkmm_context_destroy() - forget a context
 * @ctx: the context or NULL
 *
 * A submission in flight is left to end by itself.
 */
void rkmm_context_destroy(struct rkmm_context *ctx);

/* ---- one call ---- */

/**
 * rkmm_matmul() - C = A x B, row-major, and wait
 * @dev: the device
 * @desc: what to compute; RKMM_B_TRANSPOSED is allowed, pitches must be zero
 * @a: M rows of K elements
 * @lda: elements from one row of @a to the next
 * @b: K rows of N elements, or N rows of K with RKMM_B_TRANSPOSED
 * @ldb: elements from one row of @b to the next
 * @c: M rows of N elements, written
 * @ldc: elements from one row of @c to the next
 *
 * Makes and forgets everything it needs. May be called from any thread.
 * Return: 0 or -errno; then @c is undefined.
 */
int rkmm_matmul(struct rkmm_device *dev, const struct rkmm_matmul_desc *desc,
		const void *a, size_t lda, const void *b, size_t ldb, void *c, size_t ldc);

#if defined(__cplusplus)
}
#endif

#endif
