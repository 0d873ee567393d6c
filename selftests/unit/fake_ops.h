/* SPDX-License-Identifier: MIT */
/* Operations that are no matmuls, for fake_kernel.c: plain loops, rounded once. */
#ifndef FAKE_OPS_H
#define FAKE_OPS_H

#include <stdint.h>

#include "rkmm_drm.h"

/* Fills the operands; 0 or -EOPNOTSUPP with a reason, -EINVAL. */
int fake_op_plan(struct drm_rkmm_plan_create *p);

/* Operands as the plan says, NULL for none. */
void fake_op_run(const struct drm_rkmm_plan_create *p, const uint8_t *a, const uint8_t *b,
		 uint8_t *c, const uint8_t *d);

/* What one element of an element-wise operation is */
double fake_op_value(uint32_t kind, double a, double b);

#endif
