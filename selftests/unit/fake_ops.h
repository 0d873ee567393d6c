/* SPDX-License-Identifier: MIT */
/* Operations that are no matmuls, for fake_kernel.c: plain loops, rounded once. */
#ifndef FAKE_OPS_H
#define FAKE_OPS_H

#include <stdint.h>

#include "rkmm_drm.h"

/* Fills the operands; 0 or -EOPNOTSUPP with a reason, -EINVAL. */
int fake_op_plan(struct drm_rkmm_plan_create *p);

/*
 * The operations that the stages of @p are, in @ops; @p gets D, E and C of them. 0 or as
 * fake_op_plan().
 */
int fake_stages_plan(struct drm_rkmm_plan_create *p, struct drm_rkmm_plan_create *ops);

/* What @ops make of @first, the matmul's result; @operands: D and E, NULL for none */
void fake_stages_run(const struct drm_rkmm_plan_create *ops, const uint8_t *first,
		     const uint8_t *const *operands, uint8_t *c);

/* Operands as the plan says, NULL for none. */
void fake_op_run(const struct drm_rkmm_plan_create *p, const uint8_t *a, const uint8_t *b,
		 uint8_t *c, const uint8_t *d);

/* What one element of an element-wise operation is */
double fake_op_value(uint32_t kind, double a, double b);

#endif
