/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The loops that need floating point or vectors. npu_fp.c is the only object
 * compiled with them, and no float is passed across: fp32 values travel as
 * their bits. Call only between npu_env.fp_begin and fp_end.
 */
#ifndef NPU_FP_H
#define NPU_FP_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include "npu_model.h"
#endif

/**
 * npu_fp_enter() - default rounding, no flushing of subnormals
 *
 * Return: what npu_fp_leave() wants back.
 */
u64 npu_fp_enter(void);

/**
 * npu_fp_leave() - the arithmetic mode of before
 * @saved: from npu_fp_enter()
 */
void npu_fp_leave(u64 saved);

/**
 * npu_mac_s8() - integer products of rows and a kernel group
 * @acc: @rows rows of @kernels sums, 16-byte aligned
 * @acc_pitch: values from row to row of @acc, a multiple of 4
 * @a: @rows rows of @k bytes, one after the other
 * @w: @k rows of @kernels values, 16-byte aligned
 * @rows: rows
 * @kernels: kernels, a multiple of 16
 * @k: channels
 *
 * The kernels are 32 bits wide: a vector unit multiplies and adds them without
 * widening, and an emulated one then is twice as fast as on bytes.
 */
void npu_mac_s8(s32 *acc, u32 acc_pitch, const s8 *a, const s32 *w, u32 rows, u32 kernels, u32 k);

/**
 * npu_mac_f32() - fp32 products of rows and 16 kernels
 * @acc: @rows rows of 16 sums, 16-byte aligned
 * @acc_pitch: values from row to row of @acc, a multiple of 4
 * @a: @rows rows of @k values, one after the other
 * @w: @k rows of 16 values, 16-byte aligned
 * @rows: rows
 * @k: channels
 *
 * Each sum starts from zero and takes its products in the order of rising
 * channel, one rounding for the product (exact for fp16 operands) and one for
 * the sum. hw 02 §3.6 leaves the order open; this one makes all machines agree.
 */
void npu_mac_f32(void *acc, u32 acc_pitch, const void *a, const void *w, u32 rows, u32 k);

/**
 * enum npu_fp_op - element-wise operators on fp32
 * @NPU_FP_ADD: x + y
 * @NPU_FP_SUB: x - y
 * @NPU_FP_MUL: x * y
 * @NPU_FP_DIV: x / y
 * @NPU_FP_PRELU: x * y where x is negative, else x
 */
enum npu_fp_op {
	NPU_FP_ADD,
	NPU_FP_SUB,
	NPU_FP_MUL,
	NPU_FP_DIV,
	NPU_FP_PRELU,
};

/**
 * npu_fp_apply() - one operator, one rounding to nearest even per element
 * @op: operator
 * @x: @n fp32 values; replaced by the results
 * @y: second operands
 * @step: 1, or 0 for one operand for all
 * @n: elements
 *
 * The sign and payload of a NaN are those of the CPU.
 */
void npu_fp_apply(enum npu_fp_op op, void *x, const void *y, u32 step, u32 n);

#endif
