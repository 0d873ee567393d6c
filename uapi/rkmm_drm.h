/* SPDX-License-Identifier: MIT */
/*
 * rkmm: matrix operations on the Rockchip RK3588 NPU.
 *
 * Usable from C and C++. Needs <drm/drm.h> of the kernel headers or of libdrm.
 */
#ifndef RKMM_DRM_H
#define RKMM_DRM_H

#if defined(__KERNEL__)
#include <drm/drm.h>
#elif defined(__has_include)
#if __has_include(<drm/drm.h>)
#include <drm/drm.h>
#else
#include <libdrm/drm.h>
#endif
#else
#include <drm/drm.h>
#endif

#if defined(__cplusplus)
extern "C" {
#endif

/**
 * DOC: Introduction
 *
 * The driver registers a render node whose DRM driver name is "rkmm". A client
 * creates buffers, describes an operation once (a *plan*), and submits plans
 * with buffers bound to them. The kernel writes every NPU program itself; no
 * device address ever leaves it.
 *
 * Rules that hold for every structure here:
 *
 * - fields are naturally aligned, pointers are __u64, sizes are multiples of 8,
 *   padding is explicit and must be zero;
 * - unknown flags are refused with EINVAL;
 * - a field that is added later means "as before" when it is zero; structures
 *   only grow at their end, arrays carry the size of one element;
 * - fields are marked Input, Output or both. Outputs are undefined when the
 *   ioctl fails, except &drm_rkmm_plan_create.reason, and
 *   &drm_rkmm_submit.seqno with ESTALE.
 *
 * Errors, the same for every ioctl:
 *
 * ============ ==============================================================
 * EINVAL       malformed: unknown flag, non-zero padding, bad range or overlap
 * E2BIG        an array element has non-zero bytes that this driver does not know
 * ENOENT       no such handle, plan, syncobj or sequence number
 * EFAULT       a pointer could not be read or written
 * EOPNOTSUPP   a shape or operation that cannot be served; see reason
 * ENOSPC       no room in the NPU's address windows (IOVA), not lack of memory
 * ENOMEM       no memory
 * ESTALE       the plan's program form is no longer trusted on this die: make
 *              a new plan
 * EPERM        the client is banned after repeated hangs
 * EACCES       a privilege is needed that the caller does not have
 * ETIME        a deadline passed while waiting
 * EINTR        a signal ended a wait; repeat it with RKMM_WAIT
 * ENODEV       the device is gone
 * ============ ==============================================================
 */

#define DRM_RKMM_NAME	"rkmm"

/**
 * enum drm_rkmm_ioctl_id - ioctl numbers, relative to DRM_COMMAND_BASE
 *
 * New ones are added at the end.
 *
 * @DRM_RKMM_QUERY: facts about the device and this client
 * @DRM_RKMM_BO_CREATE: create a buffer
 * @DRM_RKMM_BO_SYNC: begin or end CPU access to a range of a buffer
 * @DRM_RKMM_PLAN_CREATE: describe an operation
 * @DRM_RKMM_PLAN_DESTROY: forget a plan
 * @DRM_RKMM_SUBMIT: run plans
 * @DRM_RKMM_WAIT: wait for a submission
 * @DRM_RKMM_CLIENT_SET: change a parameter of this client
 * @DRM_RKMM_PROBE: ask for a known-answer job of one program geometry
 */
enum drm_rkmm_ioctl_id {
	DRM_RKMM_QUERY = 0,
	DRM_RKMM_BO_CREATE,
	DRM_RKMM_BO_SYNC,
	DRM_RKMM_PLAN_CREATE,
	DRM_RKMM_PLAN_DESTROY,
	DRM_RKMM_SUBMIT,
	DRM_RKMM_WAIT,
	DRM_RKMM_CLIENT_SET,
	DRM_RKMM_PROBE,
};

/**
 * enum drm_rkmm_types - input and output element types of a matmul
 * @DRM_RKMM_I8I32: int8 x int8, exact int32
 * @DRM_RKMM_I8I8: int8 x int8, requantised to int8
 * @DRM_RKMM_F16F32: fp16 x fp16, fp32
 * @DRM_RKMM_F16F16: fp16 x fp16, rounded once to fp16
 * @DRM_RKMM_I4I16: int4 x int4, clamp(exact sum) to int16
 */
enum drm_rkmm_types {
	DRM_RKMM_I8I32 = 0,
	DRM_RKMM_I8I8,
	DRM_RKMM_F16F32,
	DRM_RKMM_F16F16,
	DRM_RKMM_I4I16,
};

/**
 * enum drm_rkmm_layout - where element (row, col) of an operand lies
 *
 * Byte addresses relative to the operand's start. e is the element size in
 * bytes (1/2 for int4: even column in the low nibble), rows and cols are the
 * padded sizes of &struct drm_rkmm_tensor.
 *
 * With &drm_rkmm_tensor.slices above 1 the formulas hold within one slice of K:
 * with w = slice, column k of A is column k % w of slice k / w, and row k of B is
 * row k % w of slice k / w (so rows in the formula of WEIGHT is w, and cols in
 * that of BATCH_A), and slice s starts at s * slice_stride. C then has as
 * many partial results, each complete, at the same distances; C is their sum.
 *
 * @DRM_RKMM_LAYOUT_ROWS: row * pitch + col * e
 * @DRM_RKMM_LAYOUT_WEIGHT: kernel groups of g columns, 32 channels each: tile
 *	t = (col / g) * (rows / 32) + row / 32, then element
 *	t * g * 32 + (col % g) * 32 + row % 32, times e; g is &drm_rkmm_tensor.group.
 *	Rows are K, columns are N. hw 02 §4
 * @DRM_RKMM_LAYOUT_BATCH_A: row * pitch + col / 2 with pitch = cols (slice): the second
 *	half of each row must be zero. hw 02 §6.2
 * @DRM_RKMM_LAYOUT_BATCH_C: int16 blocks written by programs of &drm_rkmm_tensor.tile_rows
 *	rows (H) and &drm_rkmm_tensor.tile_cols columns (W): with chunk = col / W, g = row / H,
 *	j = row % H, hg = min(H, rows - g * H), b = (col % W) / 64,
 *	((chunk * ceil(rows / H) + g) * 4 * H * (W / 64) + 4 * j + 4 * hg * b) * 128
 *	+ (col % 64) * 2. Bytes between are undefined. hw 02 §6.2, §6.6
 * @DRM_RKMM_LAYOUT_CUBE: atoms of 16 bytes: with c = 16 / e,
 *	16 * (row + rows * (col / c)) + (col % c) * e
 */
enum drm_rkmm_layout {
	DRM_RKMM_LAYOUT_ROWS = 0,
	DRM_RKMM_LAYOUT_WEIGHT,
	DRM_RKMM_LAYOUT_BATCH_A,
	DRM_RKMM_LAYOUT_BATCH_C,
	DRM_RKMM_LAYOUT_CUBE,
};

/**
 * enum drm_rkmm_reason - why RKMM_PLAN_CREATE answered EOPNOTSUPP
 * @DRM_RKMM_REASON_NONE: it did not
 * @DRM_RKMM_REASON_TYPES: the chip does not do this type pair
 * @DRM_RKMM_REASON_ZERO: a dimension is zero
 * @DRM_RKMM_REASON_K_LIMIT: K is too large
 * @DRM_RKMM_REASON_N_LIMIT: N is too large
 * @DRM_RKMM_REASON_M_LIMIT: M is too large
 * @DRM_RKMM_REASON_STRIDE: a row pitch is too small, misaligned or too large
 * @DRM_RKMM_REASON_BANKS: no legal split of the on-chip buffer
 * @DRM_RKMM_REASON_LAYOUT: the layout id given for B does not fit the shape
 * @DRM_RKMM_REASON_SIZE: an operand exceeds the address window
 * @DRM_RKMM_REASON_FORM: the program form is not available
 * @DRM_RKMM_REASON_QUANT: requantisation parameters out of range
 * @DRM_RKMM_REASON_OPERATION: the chip does not do this operation with this type
 * @DRM_RKMM_REASON_PARAM: a parameter out of range, or one the operation does not have
 * @DRM_RKMM_REASON_READ_BACK: int32 tensors cannot be read back: requantise in the matmul
 * @DRM_RKMM_REASON_STAGE: a stage of the epilogue cannot follow what is before it; which:
 *	&drm_rkmm_plan_create.stage
 * @DRM_RKMM_REASON_SLICES: an epilogue needs all of K in one program
 */
enum drm_rkmm_reason {
	DRM_RKMM_REASON_NONE = 0,
	DRM_RKMM_REASON_TYPES,
	DRM_RKMM_REASON_ZERO,
	DRM_RKMM_REASON_K_LIMIT,
	DRM_RKMM_REASON_N_LIMIT,
	DRM_RKMM_REASON_M_LIMIT,
	DRM_RKMM_REASON_STRIDE,
	DRM_RKMM_REASON_BANKS,
	DRM_RKMM_REASON_LAYOUT,
	DRM_RKMM_REASON_SIZE,
	DRM_RKMM_REASON_FORM,
	DRM_RKMM_REASON_QUANT,
	DRM_RKMM_REASON_OPERATION,
	DRM_RKMM_REASON_PARAM,
	DRM_RKMM_REASON_READ_BACK,
	DRM_RKMM_REASON_STAGE,
	DRM_RKMM_REASON_SLICES,
};

/**
 * enum drm_rkmm_evidence - how sure a program form is
 * @DRM_RKMM_DERIVED: deduced from documents, never seen on silicon
 * @DRM_RKMM_CAPTURED: equal to a program captured from a working board
 * @DRM_RKMM_VALIDATED: run and checked on silicon by this project
 */
enum drm_rkmm_evidence {
	DRM_RKMM_DERIVED = 0,
	DRM_RKMM_CAPTURED,
	DRM_RKMM_VALIDATED,
};

/**
 * enum drm_rkmm_query_id - what RKMM_QUERY can tell
 * @DRM_RKMM_QUERY_DEVICE: one &struct drm_rkmm_device_info
 * @DRM_RKMM_QUERY_TYPES: an array of &struct drm_rkmm_type_info
 * @DRM_RKMM_QUERY_CLIENT: one &struct drm_rkmm_client_info
 * @DRM_RKMM_QUERY_OPS: an array of &struct drm_rkmm_op_info
 * @DRM_RKMM_QUERY_SCHED: one &struct drm_rkmm_sched_info
 * @DRM_RKMM_QUERY_MODES: an array of &struct drm_rkmm_mode_info
 */
enum drm_rkmm_query_id {
	DRM_RKMM_QUERY_DEVICE = 0,
	DRM_RKMM_QUERY_TYPES,
	DRM_RKMM_QUERY_CLIENT,
	DRM_RKMM_QUERY_OPS,
	DRM_RKMM_QUERY_SCHED,
	DRM_RKMM_QUERY_MODES,
};

/**
 * struct drm_rkmm_query - argument of RKMM_QUERY
 * @id: Input: enum drm_rkmm_query_id
 * @size: Input: bytes at @pointer. Output: bytes the answer has; at most the
 *	input size was written. With @pointer zero only the size is returned
 * @pointer: Input: user address of the answer, or 0
 */
struct drm_rkmm_query {
	__u32 id;
	__u32 size;
	__u64 pointer;
};

/** DRM_RKMM_DEVICE_SOFT - the NPU is the software model */
#define DRM_RKMM_DEVICE_SOFT		(1u << 0)
/** DRM_RKMM_DEVICE_STRICT - every client has address windows of its own */
#define DRM_RKMM_DEVICE_STRICT		(1u << 1)
/** DRM_RKMM_DEVICE_UNVALIDATED - nobody has run rkmm on this chip */
#define DRM_RKMM_DEVICE_UNVALIDATED	(1u << 2)

/**
 * struct drm_rkmm_device_info - answer to DRM_RKMM_QUERY_DEVICE
 * @chip: NUL-terminated name, "rk3588"
 * @version: driver version, major << 16 | minor
 * @flags: DRM_RKMM_DEVICE_*
 * @cores: number of cores
 * @core_mask: cores in service
 * @hw_version: value of the version register
 * @k_max: largest K of one operation, 0 for no limit but memory
 * @clock_hz: present core clock
 * @clock_max_hz: rated core clock
 * @window_bytes: size of one address window
 * @resets: core resets since the driver was bound
 * @jobs: jobs finished since the driver was bound
 * @n_max: largest N of one operation, 0 for no limit but memory
 * @pad: zero
 */
struct drm_rkmm_device_info {
	char chip[16];
	__u32 version;
	__u32 flags;
	__u32 cores;
	__u32 core_mask;
	__u32 hw_version;
	__u32 k_max;
	__u64 clock_hz;
	__u64 clock_max_hz;
	__u64 window_bytes;
	__u64 resets;
	__u64 jobs;
	__u32 n_max;
	__u32 pad;
};

/**
 * struct drm_rkmm_type_info - one element of the answer to DRM_RKMM_QUERY_TYPES
 * @types: enum drm_rkmm_types
 * @evidence: enum drm_rkmm_evidence of the program form used by default
 * @in_bits: bits per element of A and B
 * @out_bits: bits per element of C
 * @k_align: K is padded to a multiple of this
 * @n_align: N is padded to a multiple of this
 */
struct drm_rkmm_type_info {
	__u32 types;
	__u32 evidence;
	__u32 in_bits;
	__u32 out_bits;
	__u32 k_align;
	__u32 n_align;
};

/**
 * struct drm_rkmm_client_info - answer to DRM_RKMM_QUERY_CLIENT
 * @jobs: jobs of this client that finished
 * @guilty: hangs of this client's jobs; those at the same time share a reset
 * @innocent: resets because of others while this client had work that waited
 * @npu_ns: time this client's jobs spent on cores
 * @program_bytes: program memory held for this client
 * @programs_emitted: programs synthesised for this client
 * @banned: 1 when submissions are refused with EPERM
 * @pad: zero
 * @priority: enum drm_rkmm_priority
 * @pad2: zero
 */
struct drm_rkmm_client_info {
	__u64 jobs;
	__u64 guilty;
	__u64 innocent;
	__u64 npu_ns;
	__u64 program_bytes;
	__u64 programs_emitted;
	__u32 banned;
	__u32 pad;
	__u32 priority;
	__u32 pad2;
};

/**
 * struct drm_rkmm_sched_info - answer to DRM_RKMM_QUERY_SCHED
 * @choices: times that one of several ready clients was chosen
 * @switches: switches of the address window
 * @switches_avoided: choices of a client in the present window, where another one was
 *	ready first
 * @stagings: times that other operands were mapped at fixed addresses
 * @mode_changes: times that a core was started in another datapath mode
 * @mode_changes_avoided: choices of a client in the present mode, where another one was
 *	ready first
 * @aged: choices of a client because it had waited too long
 * @forced: those that cost a change of window or mode
 * @lost_irqs: completions without an interrupt
 * @mode_resets: resets of all cores for a change of mode; not in &drm_rkmm_device_info.resets
 * @polled: ends of kicks that were found by looking, before their interrupt
 * @looks: looks at cores for that
 * @warmups: times that runs of the driver's own came first, after power-on or a reset
 * @switch_ns: time that switches took, from idle cores to an attached window
 * @windows: address windows that there are now
 *
 * All count from when the driver was bound.
 */
struct drm_rkmm_sched_info {
	__u64 choices;
	__u64 switches;
	__u64 switches_avoided;
	__u64 stagings;
	__u64 mode_changes;
	__u64 mode_changes_avoided;
	__u64 aged;
	__u64 forced;
	__u64 lost_irqs;
	__u64 mode_resets;
	__u64 polled;
	__u64 looks;
	__u64 warmups;
	__u64 switch_ns;
	__u64 windows;
};

/**
 * enum drm_rkmm_mode - what a core ran last
 * @DRM_RKMM_MODE_COLD: nothing since power-on
 * @DRM_RKMM_MODE_RESET: nothing since a reset
 * @DRM_RKMM_MODE_F16: matmuls of fp16
 * @DRM_RKMM_MODE_I8: matmuls of int8
 * @DRM_RKMM_MODE_I4: matmuls of int4
 */
enum drm_rkmm_mode {
	DRM_RKMM_MODE_COLD = 0,
	DRM_RKMM_MODE_RESET,
	DRM_RKMM_MODE_F16,
	DRM_RKMM_MODE_I8,
	DRM_RKMM_MODE_I4,
};

/**
 * enum drm_rkmm_need - what is done between two modes
 * @DRM_RKMM_NEED_NOTHING: nothing
 * @DRM_RKMM_NEED_KEEP: nothing, as was seen to be right
 * @DRM_RKMM_NEED_WARM: a run of the driver's own first, where it does that
 * @DRM_RKMM_NEED_CHECK: a run with known results; a reset, and from then on, if they are wrong
 * @DRM_RKMM_NEED_RESET: the cores are reset
 */
enum drm_rkmm_need {
	DRM_RKMM_NEED_NOTHING = 0,
	DRM_RKMM_NEED_KEEP,
	DRM_RKMM_NEED_WARM,
	DRM_RKMM_NEED_CHECK,
	DRM_RKMM_NEED_RESET,
};

/**
 * struct drm_rkmm_mode_info - one element of the answer to DRM_RKMM_QUERY_MODES
 * @from: enum drm_rkmm_mode
 * @to: enum drm_rkmm_mode
 * @need: enum drm_rkmm_need: what is done
 * @table: enum drm_rkmm_need: what the driver knows from others
 * @right: checks that were right
 * @wrong: checks that were wrong
 * @told: 1: one was wrong, and right after a reset: on this die it is the transition
 * @pad: zero
 */
struct drm_rkmm_mode_info {
	__u32 from;
	__u32 to;
	__u32 need;
	__u32 table;
	__u32 right;
	__u32 wrong;
	__u32 told;
	__u32 pad;
};

/**
 * enum drm_rkmm_priority - priority of a client
 * @DRM_RKMM_PRIORITY_NORMAL: until it asks for another one
 * @DRM_RKMM_PRIORITY_LOW: gets a quarter of the time that one of normal priority gets
 * @DRM_RKMM_PRIORITY_HIGH: goes before the others; needs CAP_SYS_NICE
 */
enum drm_rkmm_priority {
	DRM_RKMM_PRIORITY_NORMAL = 0,
	DRM_RKMM_PRIORITY_LOW,
	DRM_RKMM_PRIORITY_HIGH,
};

/**
 * enum drm_rkmm_client_param - what RKMM_CLIENT_SET can change
 * @DRM_RKMM_CLIENT_PRIORITY: enum drm_rkmm_priority
 */
enum drm_rkmm_client_param {
	DRM_RKMM_CLIENT_PRIORITY = 0,
};

/**
 * struct drm_rkmm_client_set - argument of RKMM_CLIENT_SET
 * @param: Input: enum drm_rkmm_client_param
 * @pad: Input: zero
 * @value: Input: its new value
 *
 * A client is an open file. What is queued already has the new priority, too. Errors:
 * EINVAL parameter or value, EACCES privilege.
 */
struct drm_rkmm_client_set {
	__u32 param;
	__u32 pad;
	__u64 value;
};

/**
 * struct drm_rkmm_bo_create - argument of RKMM_BO_CREATE
 * @size: Input: bytes, at least 1. Output: size rounded up to pages
 * @flags: Input: zero
 * @handle: Output: GEM handle
 * @mmap_offset: Output: offset for mmap() on the render node; the mapping is cached
 *
 * The buffer is zeroed. It is coherent with the NPU only through RKMM_BO_SYNC.
 */
struct drm_rkmm_bo_create {
	__u64 size;
	__u32 flags;
	__u32 handle;
	__u64 mmap_offset;
};

/** DRM_RKMM_SYNC_READ - the CPU reads the range */
#define DRM_RKMM_SYNC_READ	(1u << 0)
/** DRM_RKMM_SYNC_WRITE - the CPU writes the range */
#define DRM_RKMM_SYNC_WRITE	(1u << 1)
/** DRM_RKMM_SYNC_END - the access ends (without it, it begins) */
#define DRM_RKMM_SYNC_END	(1u << 2)
/** DRM_RKMM_SYNC_WAIT - begin only: wait for submissions that conflict with the access */
#define DRM_RKMM_SYNC_WAIT	(1u << 3)

/**
 * struct drm_rkmm_bo_sync - argument of RKMM_BO_SYNC
 * @handle: Input: GEM handle
 * @flags: Input: DRM_RKMM_SYNC_*, at least one of READ and WRITE
 * @offset: Input: first byte
 * @size: Input: bytes, at least 1
 * @deadline_ns: Input: absolute CLOCK_MONOTONIC time, with DRM_RKMM_SYNC_WAIT
 *
 * Begin with READ makes what the NPU wrote visible to the CPU. End with WRITE
 * makes what the CPU wrote visible to later submissions. Ranges may have any
 * alignment; CPU and NPU must not write the same 64-byte line at the same time.
 * Errors: ENOENT handle, EINVAL range or flags, ETIME deadline, EINTR signal.
 */
struct drm_rkmm_bo_sync {
	__u32 handle;
	__u32 flags;
	__u64 offset;
	__u64 size;
	__s64 deadline_ns;
};

/**
 * struct drm_rkmm_tensor - one operand as a plan fixes it
 * @size: bytes the operand occupies in its buffer
 * @layout_id: identity of the layout: equal ids can exchange packed data
 * @layout: enum drm_rkmm_layout
 * @rows: padded rows
 * @cols: padded columns
 * @pitch: bytes from one row to the next (ROWS, BATCH_A)
 * @group: columns per kernel group (WEIGHT)
 * @tile_rows: rows per program (BATCH_C)
 * @tile_cols: columns per program (BATCH_C)
 * @bits: bits per element; of partial results where there are several
 * @slice_stride: bytes from one slice of K to the next
 * @slices: slices of K (A, B), partial results (C); at least 1
 * @slice: columns (A) or rows (B) of one slice, 0 for C
 */
struct drm_rkmm_tensor {
	__u64 size;
	__u64 layout_id;
	__u32 layout;
	__u32 rows;
	__u32 cols;
	__u32 pitch;
	__u32 group;
	__u32 tile_rows;
	__u32 tile_cols;
	__u32 bits;
	__u64 slice_stride;
	__u32 slices;
	__u32 slice;
};

/**
 * enum drm_rkmm_op_kind - kinds of operation
 *
 * Others than matmuls are of A[M][N], where there is one B, and C[M][N]. What each is
 * exactly, and how sure: Documentation/operations.rst.
 *
 * @DRM_RKMM_OP_MATMUL: C[M][N] = A[M][K] x B[K][N]
 * @DRM_RKMM_OP_ADD: a + b
 * @DRM_RKMM_OP_SUB: a - b
 * @DRM_RKMM_OP_MUL: a b
 * @DRM_RKMM_OP_MAX: the larger one
 * @DRM_RKMM_OP_MIN: the smaller one
 * @DRM_RKMM_OP_DIV: a / b
 * @DRM_RKMM_OP_COPY: a
 * @DRM_RKMM_OP_RELU: max(a, 0)
 * @DRM_RKMM_OP_CLAMP: a between value and value2
 * @DRM_RKMM_OP_LEAKY: a, times value where it is negative
 * @DRM_RKMM_OP_EXP: e^a for a <= 0, 1 above 0
 * @DRM_RKMM_OP_SIGMOID: 1 / (1 + e^-a)
 * @DRM_RKMM_OP_TANH: tanh a
 * @DRM_RKMM_OP_SILU: a sigmoid(a)
 * @DRM_RKMM_OP_GELU: a times the normal distribution of a
 * @DRM_RKMM_OP_HARDSWISH: a clamp(a + 3, 0, 6) / 6
 * @DRM_RKMM_OP_RECIPROCAL: 1 / a for a between 1/8 and 8 1/8
 * @DRM_RKMM_OP_RSQRT: 1 / sqrt(a) for a between 1/16 and 4 1/16
 * @DRM_RKMM_OP_ROWMAX: the largest of each row, packed
 * @DRM_RKMM_OP_ROWSUM: the sum of each row, in 16 equal columns
 * @DRM_RKMM_OP_ROWMEAN: the mean of each row, in 16 equal columns
 * @DRM_RKMM_OP_SOFTMAX: softmax of scale (a + d) by rows
 * @DRM_RKMM_OP_RMSNORM: a / sqrt(mean a^2 + value) by rows, times b
 * @DRM_RKMM_OP_LAYERNORM: the same of a less its mean, plus d
 * @DRM_RKMM_OP_MAXPOOL: the largest of each window
 * @DRM_RKMM_OP_AVGPOOL: the mean of each window
 * @DRM_RKMM_OP_REQUANT: as a plan refused: int32 cannot be read back. As a stage of an
 *	epilogue: where int32 sums become int8
 * @DRM_RKMM_OP_TRANSPOSE: refused: for the library
 */
enum drm_rkmm_op_kind {
	DRM_RKMM_OP_MATMUL = 0,
	DRM_RKMM_OP_ADD,
	DRM_RKMM_OP_SUB,
	DRM_RKMM_OP_MUL,
	DRM_RKMM_OP_MAX,
	DRM_RKMM_OP_MIN,
	DRM_RKMM_OP_DIV,
	DRM_RKMM_OP_COPY,
	DRM_RKMM_OP_RELU,
	DRM_RKMM_OP_CLAMP,
	DRM_RKMM_OP_LEAKY,
	DRM_RKMM_OP_EXP,
	DRM_RKMM_OP_SIGMOID,
	DRM_RKMM_OP_TANH,
	DRM_RKMM_OP_SILU,
	DRM_RKMM_OP_GELU,
	DRM_RKMM_OP_HARDSWISH,
	DRM_RKMM_OP_RECIPROCAL,
	DRM_RKMM_OP_RSQRT,
	DRM_RKMM_OP_ROWMAX,
	DRM_RKMM_OP_ROWSUM,
	DRM_RKMM_OP_ROWMEAN,
	DRM_RKMM_OP_SOFTMAX,
	DRM_RKMM_OP_RMSNORM,
	DRM_RKMM_OP_LAYERNORM,
	DRM_RKMM_OP_MAXPOOL,
	DRM_RKMM_OP_AVGPOOL,
	DRM_RKMM_OP_REQUANT,
	DRM_RKMM_OP_TRANSPOSE,
};

/**
 * enum drm_rkmm_element - types of operations that are no matmuls
 * @DRM_RKMM_F16: fp16
 * @DRM_RKMM_I8: int8
 * @DRM_RKMM_I16: int16
 */
enum drm_rkmm_element {
	DRM_RKMM_F16 = 0,
	DRM_RKMM_I8,
	DRM_RKMM_I16,
};

/**
 * enum drm_rkmm_other - what B of ADD to DIV is
 * @DRM_RKMM_OTHER_TENSOR: a tensor like A
 * @DRM_RKMM_OTHER_SCALAR: &drm_rkmm_plan_create.value; there is no operand B
 * @DRM_RKMM_OTHER_CHANNEL: one value a column: of MUL a vector, of ADD the weights of
 *	a matmul with K = 1 (fp16) or a vector of int32 (int8)
 */
enum drm_rkmm_other {
	DRM_RKMM_OTHER_TENSOR = 0,
	DRM_RKMM_OTHER_SCALAR,
	DRM_RKMM_OTHER_CHANNEL,
};

/**
 * enum drm_rkmm_error_unit - what &drm_rkmm_op_info.error is counted in
 * @DRM_RKMM_ERROR_NONE: no number holds for all inputs
 * @DRM_RKMM_ERROR_STEPS: 1/256 of the distance to the next result
 * @DRM_RKMM_ERROR_RANGE: 1/65536 of the range of the function, of those without one
 *	of max(1, result)
 */
enum drm_rkmm_error_unit {
	DRM_RKMM_ERROR_NONE = 0,
	DRM_RKMM_ERROR_STEPS,
	DRM_RKMM_ERROR_RANGE,
};

/** DRM_RKMM_OP_AVAILABLE - plans of every N are made here */
#define DRM_RKMM_OP_AVAILABLE	(1u << 0)
/** DRM_RKMM_OP_PARTLY - only those with N a multiple of &drm_rkmm_op_info.n_most */
#define DRM_RKMM_OP_PARTLY	(1u << 1)

/**
 * struct drm_rkmm_op_info - one element of the answer to DRM_RKMM_QUERY_OPS
 * @kind: enum drm_rkmm_op_kind, no matmul
 * @element: enum drm_rkmm_element
 * @other: enum drm_rkmm_other
 * @flags: DRM_RKMM_OP_AVAILABLE, DRM_RKMM_OP_PARTLY, or neither
 * @reason: enum drm_rkmm_reason: why not every N is served; of evidence that does not
 *	suffice on this device DRM_RKMM_REASON_FORM
 * @evidence: enum drm_rkmm_evidence of every shape
 * @evidence_most: the same of those with N a multiple of @n_most
 * @n_most: 1 where the evidence does not depend on N
 * @op_flags: DRM_RKMM_FLAT, MASK, CAUSAL, GAMMA, BETA that it takes
 * @n_align: columns of A are padded to a multiple of this
 * @n_max: most columns, 0 for no limit but memory
 * @error_unit: enum drm_rkmm_error_unit
 * @error: largest error on the software NPU, the last rounding among it
 * @stage_of: mask of 1 << enum drm_rkmm_types: matmuls that take it as a stage of an
 *	epilogue, with parameters that fit; also of kinds that are refused as plans
 * @fused_in: those of them whose own programs do it where it is the first stage; in int8
 *	results a stage of sums, with REQUANT somewhere behind it or a @mult of 0
 * @pad: zero
 *
 * @stage_of has matmuls with inputs of type @element.
 */
struct drm_rkmm_op_info {
	__u32 kind;
	__u32 element;
	__u32 other;
	__u32 flags;
	__u32 reason;
	__u32 evidence;
	__u32 evidence_most;
	__u32 n_most;
	__u32 op_flags;
	__u32 n_align;
	__u32 n_max;
	__u32 error_unit;
	__u32 error;
	__u32 stage_of;
	__u32 fused_in;
	__u32 pad;
};

/** DRM_RKMM_FLAT - rows one behind the other, where no columns are known */
#define DRM_RKMM_FLAT		(1u << 0)
/** DRM_RKMM_MASK - SOFTMAX: operand D, a tensor like A, is added to A */
#define DRM_RKMM_MASK		(1u << 1)
/** DRM_RKMM_CAUSAL - SOFTMAX: row r sees columns up to r + N - M */
#define DRM_RKMM_CAUSAL		(1u << 2)
/** DRM_RKMM_GAMMA - norms: operand B is a vector that multiplies */
#define DRM_RKMM_GAMMA		(1u << 3)
/** DRM_RKMM_BETA - LAYERNORM: operand D is the weights of a matmul with K = 1, added */
#define DRM_RKMM_BETA		(1u << 4)

/**
 * DRM_RKMM_PLAN_FREE_SLICES - B is not packed yet, and K may be cut for speed
 *
 * Without it K is cut only where it must be, and the layout of B does not depend
 * on M. Ignored with a b_layout.
 */
#define DRM_RKMM_PLAN_FREE_SLICES	(1u << 0)

/**
 * DRM_RKMM_PLAN_HOST_FINISH - C is several partial results; the CPU adds them up
 *
 * fp16 and int8 results are partial sums of fp32 and int32 then, converted after
 * the addition. An operation of the same submission must not read such a C.
 */
#define DRM_RKMM_PLAN_HOST_FINISH	(1u << 0)
/** DRM_RKMM_PLAN_MAY_SATURATE - partial sums may be clamped though the whole sum fits */
#define DRM_RKMM_PLAN_MAY_SATURATE	(1u << 1)

/**
 * enum drm_rkmm_form - how programs read A and write C
 * @DRM_RKMM_FORM_AUTO: the driver's choice
 * @DRM_RKMM_FORM_FLAT: layout ROWS
 * @DRM_RKMM_FORM_BATCH: layouts BATCH_A and BATCH_C; int4 only
 * @DRM_RKMM_FORM_CUBE: layout CUBE
 */
enum drm_rkmm_form {
	DRM_RKMM_FORM_AUTO = 0,
	DRM_RKMM_FORM_FLAT,
	DRM_RKMM_FORM_BATCH,
	DRM_RKMM_FORM_CUBE,
};

/** DRM_RKMM_STAGES - stages of an epilogue, at most */
#define DRM_RKMM_STAGES	4

/**
 * struct drm_rkmm_stage - one stage of a matmul's epilogue
 * @kind: enum drm_rkmm_op_kind: ADD to RSQRT, or REQUANT; 0 behind the last stage, where
 *	everything is zero
 * @other: enum drm_rkmm_other
 * @value: scalar, lower bound or slope: fp32 bits, of integers a number
 * @value2: upper bound
 * @scale: fp32 bits: int8 curves: real value of a step of what comes in
 * @out_scale: fp32 bits: int8 curves: real value of a step of the result
 * @za: integers: added to what comes in
 * @zb: integers: added to the other operand
 * @sb: integers: factor of the other operand, 0 for 16384
 * @sb_shift: integers: right shift after it
 * @mult: integers: multiplier of the result, 0 for 1
 * @shift: integers: right shift after it
 * @offset: integers: added after the shift
 * @pad: zero
 *
 * A stage works on what the one before it left, as an operation of that kind on a tensor
 * of the type of C. Before results of 4 bytes, and before the requantisation of int8, it
 * works on sums: there are ADD and SUB of a scalar, ADD of one value a column (fp32 or
 * int32), then, fp16 only, MUL by a scalar, then RELU or CLAMP with a lower bound of 0;
 * behind fp16 sums EXP or RSQRT may be last.
 *
 * With DRM_RKMM_I8I8 the requantisation by &drm_rkmm_plan_create.mult, shift and offset is
 * where the list has REQUANT, else before all stages. With a mult of 0 (and shift and
 * offset 0) there is none: the sums, with one ADD or SUB, go through a curve, whose
 * @scale is the real value of a step of the sums.
 */
struct drm_rkmm_stage {
	__u32 kind;
	__u32 other;
	__u32 value;
	__u32 value2;
	__u32 scale;
	__u32 out_scale;
	__s32 za;
	__s32 zb;
	__u32 sb;
	__u32 sb_shift;
	__s32 mult;
	__u32 shift;
	__s32 offset;
	__u32 pad;
};

/**
 * struct drm_rkmm_plan_create - argument of RKMM_PLAN_CREATE
 * @kind: Input: enum drm_rkmm_op_kind
 * @types: Input: enum drm_rkmm_types; others than matmuls: enum drm_rkmm_element
 * @m: Input: rows of A and C, at least 1; a submission may use fewer
 * @k: Input: columns of A, rows of B, at least 1
 * @n: Input: columns of B and C, at least 1
 * @flags: Input: DRM_RKMM_PLAN_FREE_SLICES or zero
 * @a_pitch: Input: bytes between rows of A, 0 for packed; a multiple of 16,
 *	allowed only when K needs no padding
 * @c_pitch: Input: bytes between rows of C, 0 for packed; a multiple of 16
 * @b_layout: Input: layout id that packed weights already have, 0 for the
 *	driver's own choice; refused when it does not fit. It fixes the slices of K
 * @cores: Input: mask of cores the plan may use, 0 for any
 * @mult: Input: int8 output only: multiplier, 1..32767
 * @shift: Input: int8 output only: right shift, 0..31
 * @offset: Input: int8 output only: added after the shift, -128..127
 *	out = clamp(round_half_even(acc * mult / 2^shift) + offset)
 * @plan: Output: plan handle
 * @reason: Output: enum drm_rkmm_reason, also with EOPNOTSUPP
 * @programs: Output: programs of a full submission
 * @predicted_ns: Output: predicted time of a full submission at the present clock, with the
 *	cores that it may use all free
 * @a: Output: operand A
 * @b: Output: operand B
 * @c: Output: operand C
 * @pad: Input: zero
 * @form: Input: enum drm_rkmm_form
 * @out_flags: Output: DRM_RKMM_PLAN_HOST_FINISH, DRM_RKMM_PLAN_MAY_SATURATE
 * @other: Input: enum drm_rkmm_other
 * @op_flags: Input: DRM_RKMM_FLAT, MASK, CAUSAL, GAMMA, BETA
 * @value: Input: scalar, lower bound, slope or epsilon: fp32 bits, of integers a number
 * @value2: Input: upper bound
 * @scale: Input: fp32 bits: SOFTMAX: factor, 0 for 1; int8 curves: real value of a step of A
 * @out_scale: Input: fp32 bits: int8 curves: real value of a step of C
 * @za: Input: integers: added to a
 * @zb: Input: integers: added to b
 * @sb: Input: integers: factor of b, 0 for 16384
 * @sb_shift: Input: integers: right shift after it
 * @width: Input: pooling: pixels of a line; M is a number of lines times it
 * @kernel_w: Input: pooling: width of the window
 * @kernel_h: Input: pooling: height of the window
 * @stride_w: Input: pooling: step, 0 for @kernel_w
 * @stride_h: Input: pooling: step, 0 for @kernel_h
 * @evidence: Output: enum drm_rkmm_evidence of the programs
 * @d: Output: operand D; size 0 for none
 * @e: Output: operand E; size 0 for none
 * @stages: Input: matmuls: what follows, in order; no other plan has any
 * @fused: Output: mask of the stages that the matmul's own programs do
 * @stage: Output: with a @reason: the stage that it is about, if it is about one
 *
 * The first stage that has an operand takes D, the second E; a third is refused. Where all
 * stages are @fused the plan is a matmul like any other. Behind one that is not, the rest
 * are operations of their own in the same image, on one core: A and C are cubes then, and
 * the plan neither has a count nor is grouped. The results are the same, bit by bit, as
 * of plans of their own. K must fit one program.
 *
 * @other up to @stride_h are of operations that are no matmuls; they have no @k,
 * @a_pitch, @c_pitch, @b_layout, @form, and no @flags. Their integer results are
 * ((...) * mult >> shift) + offset; a @mult of 0 counts as 1. What an operation does not
 * have is zero, else it is refused with DRM_RKMM_REASON_PARAM.
 *
 * A plan is shape only and may be submitted with any buffers. Rows of A past K
 * up to the padded width, and packed B past (K, N), must be zero.
 */
struct drm_rkmm_plan_create {
	__u32 kind;
	__u32 types;
	__u32 m;
	__u32 k;
	__u32 n;
	__u32 flags;
	__u32 a_pitch;
	__u32 c_pitch;
	__u64 b_layout;
	__u32 cores;
	__s32 mult;
	__u32 shift;
	__s32 offset;
	__u32 plan;
	__u32 reason;
	__u32 programs;
	__u32 pad;
	__u64 predicted_ns;
	struct drm_rkmm_tensor a;
	struct drm_rkmm_tensor b;
	struct drm_rkmm_tensor c;
	__u32 form;
	__u32 out_flags;
	__u32 other;
	__u32 op_flags;
	__u32 value;
	__u32 value2;
	__u32 scale;
	__u32 out_scale;
	__s32 za;
	__s32 zb;
	__u32 sb;
	__u32 sb_shift;
	__u32 width;
	__u16 kernel_w;
	__u16 kernel_h;
	__u16 stride_w;
	__u16 stride_h;
	__u32 evidence;
	struct drm_rkmm_tensor d;
	struct drm_rkmm_tensor e;
	struct drm_rkmm_stage stages[DRM_RKMM_STAGES];
	__u32 fused;
	__u32 stage;
};

/**
 * struct drm_rkmm_plan_destroy - argument of RKMM_PLAN_DESTROY
 * @plan: Input: plan handle
 * @pad: Input: zero
 *
 * Jobs that use the plan keep what they need.
 */
struct drm_rkmm_plan_destroy {
	__u32 plan;
	__u32 pad;
};

/**
 * struct drm_rkmm_array - an array in user memory
 * @stride: bytes of one element as the caller knows it
 * @count: elements
 * @array: user address; 0 when @count is 0
 */
struct drm_rkmm_array {
	__u32 stride;
	__u32 count;
	__u64 array;
};

/**
 * DRM_RKMM_OPERAND_TEMP - the operand is a temporary of the submission
 *
 * Temporaries are memory of the driver that lives as long as the submission. What they
 * hold before the first operation writes to them, and after the last one, is undefined.
 * They are as large as the operands that lie in them.
 */
#define DRM_RKMM_OPERAND_TEMP	(1u << 0)

/** DRM_RKMM_MAX_TEMPS - temporaries of one submission */
#define DRM_RKMM_MAX_TEMPS	64

/**
 * struct drm_rkmm_operand - a place in a buffer or in a temporary
 * @handle: GEM handle, or number of the temporary, below DRM_RKMM_MAX_TEMPS
 * @flags: DRM_RKMM_OPERAND_TEMP or zero
 * @offset: first byte, a multiple of 64; of temporaries below 4 GiB
 */
struct drm_rkmm_operand {
	__u32 handle;
	__u32 flags;
	__u64 offset;
};

/**
 * DRM_RKMM_OP_GROUPED - may run together with the operation before it
 *
 * Operations joined by this flag are a group: none of them reads or writes what
 * another one writes (EINVAL otherwise), so that the driver may lay them in one
 * chain of programs and share them over the cores. What comes after a group begins
 * when all of it has ended. The first operation of a submission cannot have it.
 */
#define DRM_RKMM_OP_GROUPED	(1u << 0)

/**
 * struct drm_rkmm_op - one operation of a submission
 * @plan: plan handle
 * @rows: rows to compute, 0 for the plan's M; at most the plan's M, of pooling all
 * @flags: DRM_RKMM_OP_GROUPED or zero
 * @count: how often, with operands at @a_stride, @b_stride and @c_stride from each
 *	other; 0 for once
 * @a: operand A, the first
 * @b: operand B, the first
 * @c: operand C, the first; may overlap neither A nor B of its group
 * @a_stride: bytes from an A to the next, a multiple of 64; 0: all have the same
 * @b_stride: bytes from a B to the next, a multiple of 64; 0: all have the same
 * @c_stride: bytes from a C to the next, a multiple of 64
 * @d: operand D, where the plan has one; the same for all of a @count
 * @e: operand E, where the plan has one
 *
 * Operands that the plan has none of (size 0) are all zero. Operations that are no
 * matmuls, and matmuls with stages that are not fused, run once and are not grouped.
 *
 * Each operand has the size that the plan says. C of a @count must not overlap:
 * @c_stride is at least that size, or, in the layout ROWS without partial results,
 * the rows lie side by side: @c_stride holds a row and @count times @c_stride is at
 * most the pitch. Elsewhere in a group too, operands with rows of a common pitch may
 * lie side by side in one range.
 *
 * What is made ready for the NPU, and becomes visible to a read access, is the whole
 * range from the first operand to the last one.
 *
 * A temporary can be read where operations before have written to it: A, B, D and E lie
 * between the first and the last byte of it that is a C of theirs (EINVAL otherwise).
 */
struct drm_rkmm_op {
	__u32 plan;
	__u32 rows;
	__u32 flags;
	__u32 count;
	struct drm_rkmm_operand a;
	struct drm_rkmm_operand b;
	struct drm_rkmm_operand c;
	__u64 a_stride;
	__u64 b_stride;
	__u64 c_stride;
	struct drm_rkmm_operand d;
	struct drm_rkmm_operand e;
};

/**
 * struct drm_rkmm_sync - a syncobj to wait for or to signal
 * @handle: syncobj handle
 * @flags: zero
 * @point: timeline point, 0 for a binary syncobj
 */
struct drm_rkmm_sync {
	__u32 handle;
	__u32 flags;
	__u64 point;
};

/** DRM_RKMM_SUBMIT_WAIT - wait for the end before returning */
#define DRM_RKMM_SUBMIT_WAIT	(1u << 0)

/**
 * DRM_RKMM_SUBMIT_LATENCY - its end matters more than processor time: the driver may look for it
 * before the interrupt tells it
 */
#define DRM_RKMM_SUBMIT_LATENCY	(1u << 1)
/** DRM_RKMM_SUBMIT_POWER - the opposite: never look; not with LATENCY */
#define DRM_RKMM_SUBMIT_POWER	(1u << 2)

/** DRM_RKMM_MAX_OPS - operations in one submission */
#define DRM_RKMM_MAX_OPS	4096
/** DRM_RKMM_MAX_MEMBERS - the same with each counted as often as it runs */
#define DRM_RKMM_MAX_MEMBERS	16384
/** DRM_RKMM_MAX_SYNCS - in-syncs, and out-syncs, in one submission */
#define DRM_RKMM_MAX_SYNCS	256

/**
 * struct drm_rkmm_submit - argument of RKMM_SUBMIT
 * @ops: Input: array of &struct drm_rkmm_op, 1..DRM_RKMM_MAX_OPS, run in order but for
 *	groups
 * @in_syncs: Input: array of &struct drm_rkmm_sync to wait for
 * @out_syncs: Input: array of &struct drm_rkmm_sync to signal
 * @flags: Input: DRM_RKMM_SUBMIT_*
 * @cores: Input: mask of cores this submission may use, 0 for any
 * @deadline_ns: Input: absolute CLOCK_MONOTONIC time, with DRM_RKMM_SUBMIT_WAIT
 * @seqno: Output: sequence number of the submission, for RKMM_WAIT; with ESTALE the index of the
 *	first operation whose plan is no longer trusted
 * @wait_status: Output: with DRM_RKMM_SUBMIT_WAIT: 0 when it ended, or
 *	-ETIME, -EINTR: then only RKMM_WAIT is to be repeated
 * @result: Output: when it ended: 0, -EIO (this submission hung the NPU),
 *	-ECANCELED (a dependency failed or the submission was killed), -ENODEV
 *
 * EOPNOTSUPP: the programs of one operation and its count take more than 64 MiB.
 *
 * The ioctl never restarts: once queued it returns 0, whatever the wait did.
 */
struct drm_rkmm_submit {
	struct drm_rkmm_array ops;
	struct drm_rkmm_array in_syncs;
	struct drm_rkmm_array out_syncs;
	__u32 flags;
	__u32 cores;
	__s64 deadline_ns;
	__u64 seqno;
	__s32 wait_status;
	__s32 result;
};

/**
 * struct drm_rkmm_wait - argument of RKMM_WAIT
 * @seqno: Input: sequence number of this client's submission
 * @deadline_ns: Input: absolute CLOCK_MONOTONIC time
 * @flags: Input: zero
 * @result: Output: as in &drm_rkmm_submit.result; of submissions that ended long
 *	ago only the failed ones are remembered, 64 of them
 *
 * Errors: ENOENT never submitted, ETIME deadline, EINTR signal.
 */
struct drm_rkmm_wait {
	__u64 seqno;
	__s64 deadline_ns;
	__u32 flags;
	__s32 result;
};

/**
 * enum drm_rkmm_verdict - what known-answer jobs on this die have shown of a geometry
 * @DRM_RKMM_VERDICT_UNKNOWN: there was none: it is as the die profile has it
 * @DRM_RKMM_VERDICT_PROVEN: right twice, and not slow
 * @DRM_RKMM_VERDICT_FAILED: it is not used any more
 */
enum drm_rkmm_verdict {
	DRM_RKMM_VERDICT_UNKNOWN = 0,
	DRM_RKMM_VERDICT_PROVEN,
	DRM_RKMM_VERDICT_FAILED,
};

/**
 * enum drm_rkmm_outcome - how a known-answer job went
 * @DRM_RKMM_OUTCOME_NONE: it was not run
 * @DRM_RKMM_OUTCOME_RIGHT: right
 * @DRM_RKMM_OUTCOME_WRONG: rows of its result were wrong
 * @DRM_RKMM_OUTCOME_SLOW: right, and twice the predicted time or more
 * @DRM_RKMM_OUTCOME_HUNG: it did not end; the NPU was reset
 */
enum drm_rkmm_outcome {
	DRM_RKMM_OUTCOME_NONE = 0,
	DRM_RKMM_OUTCOME_RIGHT,
	DRM_RKMM_OUTCOME_WRONG,
	DRM_RKMM_OUTCOME_SLOW,
	DRM_RKMM_OUTCOME_HUNG,
};

/** DRM_RKMM_PROBE_RUN - run the job; else only say what is known */
#define DRM_RKMM_PROBE_RUN	(1u << 0)
/** DRM_RKMM_PROBE_PLAN - the geometry of a plan of this client, which it suspects */
#define DRM_RKMM_PROBE_PLAN	(1u << 1)

/**
 * struct drm_rkmm_probe - argument of RKMM_PROBE
 * @flags: Input: DRM_RKMM_PROBE_*
 * @index: Input: number of the geometry, without DRM_RKMM_PROBE_PLAN; needs CAP_SYS_ADMIN
 * @plan: Input: with DRM_RKMM_PROBE_PLAN: handle of a matmul's plan. Such jobs run once a
 *	second at most, for all clients together; what is left out has DRM_RKMM_OUTCOME_NONE
 * @pad: Input: zero
 * @bits: Output: bits per element of A
 * @form: Output: enum drm_rkmm_form
 * @k: Output: class of K: int4: K itself, else the largest K of the class
 * @rows: Output: rows per program
 * @cols: Output: columns per program; other forms than BATCH: 64 up to 64 of them, else 65535
 * @data_banks: Output: banks of the on-chip buffer for A
 * @cores: Output: cores at work
 * @group: Output: geometries of a group come in rising order of risk: behind one that failed the
 *	others should not be tried
 * @verdict: Output: enum drm_rkmm_verdict
 * @outcome: Output: enum drm_rkmm_outcome
 * @wrong: Output: rows that were wrong, of all runs
 * @pad2: Output: zero
 * @ns: Output: time of the slowest run
 * @predicted_ns: Output: predicted time of one
 *
 * A known-answer job uses memory of the driver and runs alone: other jobs wait. Of plans the
 * geometry is tried on one core first; the answer is about the last one tried. A plan whose
 * geometry failed is refused from then on: RKMM_SUBMIT gives ESTALE.
 *
 * Errors: ENOENT no such plan, or behind the last geometry; EACCES; EPERM the client is banned;
 * EINTR before the job began; EOPNOTSUPP there is no such job.
 */
struct drm_rkmm_probe {
	__u32 flags;
	__u32 index;
	__u32 plan;
	__u32 pad;
	__u32 bits;
	__u32 form;
	__u32 k;
	__u32 rows;
	__u32 cols;
	__u32 data_banks;
	__u32 cores;
	__u32 group;
	__u32 verdict;
	__u32 outcome;
	__u32 wrong;
	__u32 pad2;
	__u64 ns;
	__u64 predicted_ns;
};

#define DRM_IOCTL_RKMM(nr, type) \
	DRM_IOWR(DRM_COMMAND_BASE + (nr), struct type)

#define DRM_IOCTL_RKMM_QUERY		DRM_IOCTL_RKMM(DRM_RKMM_QUERY, drm_rkmm_query)
#define DRM_IOCTL_RKMM_BO_CREATE	DRM_IOCTL_RKMM(DRM_RKMM_BO_CREATE, drm_rkmm_bo_create)
#define DRM_IOCTL_RKMM_BO_SYNC		DRM_IOCTL_RKMM(DRM_RKMM_BO_SYNC, drm_rkmm_bo_sync)
#define DRM_IOCTL_RKMM_PLAN_CREATE	DRM_IOCTL_RKMM(DRM_RKMM_PLAN_CREATE, drm_rkmm_plan_create)
#define DRM_IOCTL_RKMM_PLAN_DESTROY	DRM_IOCTL_RKMM(DRM_RKMM_PLAN_DESTROY, drm_rkmm_plan_destroy)
#define DRM_IOCTL_RKMM_SUBMIT		DRM_IOCTL_RKMM(DRM_RKMM_SUBMIT, drm_rkmm_submit)
#define DRM_IOCTL_RKMM_WAIT		DRM_IOCTL_RKMM(DRM_RKMM_WAIT, drm_rkmm_wait)
#define DRM_IOCTL_RKMM_CLIENT_SET	DRM_IOCTL_RKMM(DRM_RKMM_CLIENT_SET, drm_rkmm_client_set)
#define DRM_IOCTL_RKMM_PROBE		DRM_IOCTL_RKMM(DRM_RKMM_PROBE, drm_rkmm_probe)

#if defined(__cplusplus)
#define RKMM_ASSERT_SIZE(type, size) \
	static_assert(sizeof(struct type) == (size), #type)
#else
#define RKMM_ASSERT_SIZE(type, size) \
	_Static_assert(sizeof(struct type) == (size), #type)
#endif

RKMM_ASSERT_SIZE(drm_rkmm_query, 16);
RKMM_ASSERT_SIZE(drm_rkmm_probe, 80);
RKMM_ASSERT_SIZE(drm_rkmm_device_info, 88);
RKMM_ASSERT_SIZE(drm_rkmm_type_info, 24);
RKMM_ASSERT_SIZE(drm_rkmm_op_info, 64);
RKMM_ASSERT_SIZE(drm_rkmm_client_info, 64);
RKMM_ASSERT_SIZE(drm_rkmm_sched_info, 120);
RKMM_ASSERT_SIZE(drm_rkmm_mode_info, 32);
RKMM_ASSERT_SIZE(drm_rkmm_client_set, 16);
RKMM_ASSERT_SIZE(drm_rkmm_bo_create, 24);
RKMM_ASSERT_SIZE(drm_rkmm_bo_sync, 32);
RKMM_ASSERT_SIZE(drm_rkmm_tensor, 64);
RKMM_ASSERT_SIZE(drm_rkmm_stage, 56);
RKMM_ASSERT_SIZE(drm_rkmm_plan_create, 696);
RKMM_ASSERT_SIZE(drm_rkmm_plan_destroy, 8);
RKMM_ASSERT_SIZE(drm_rkmm_array, 16);
RKMM_ASSERT_SIZE(drm_rkmm_operand, 16);
RKMM_ASSERT_SIZE(drm_rkmm_op, 120);
RKMM_ASSERT_SIZE(drm_rkmm_sync, 16);
RKMM_ASSERT_SIZE(drm_rkmm_submit, 80);
RKMM_ASSERT_SIZE(drm_rkmm_wait, 24);

#undef RKMM_ASSERT_SIZE

#if defined(__cplusplus)
}
#endif

#endif
