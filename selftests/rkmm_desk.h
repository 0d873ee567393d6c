/* SPDX-License-Identifier: GPL-2.0 */
/* Tensors of fp16 for tests of operations that are no matmuls. */
#ifndef RKMM_DESK_H
#define RKMM_DESK_H

#include "rkmm_test.h"

#define DESK_ROOM	(1u << 20)
#define DESK_TENSORS	16

/* Tensors in one buffer, a room each; what is in them as plain numbers */
struct desk {
	int fd;
	struct buf buf;
	struct rnd rnd;
	double *v[DESK_TENSORS];
};

int desk_init(struct desk *d, int fd);
void desk_free(struct desk *d);
/** desk_fill() - random numbers in tensor @i, zeros where it is padded */
void desk_fill(struct desk *d, int i, const struct drm_rkmm_tensor *t, uint32_t m, uint32_t n,
	       double lo, double hi);
/** desk_value() - an element as it lies in the buffer */
double desk_value(const struct desk *d, int i, const struct drm_rkmm_tensor *t, uint32_t row,
		  uint32_t col);
struct drm_rkmm_operand desk_operand(const struct desk *d, int i);
/** desk_bind() - a plan on tensors; B and D where it has them */
struct drm_rkmm_op desk_bind(const struct desk *d, const struct drm_rkmm_plan_create *p, int a,
			     int b, int c, int e);
/** desk_run() - one submission, waited for; -errno, or its result */
int desk_run(struct desk *d, struct drm_rkmm_op *ops, uint32_t n);
int desk_plan(struct desk *d, struct drm_rkmm_plan_create *p);
/** desk_query_ops() - up to @room bytes of what QUERY_OPS answers; @size: what there is */
int desk_query_ops(int fd, struct drm_rkmm_op_info *infos, uint32_t room, uint32_t *size);
/** desk_likely() - a plan of the kind with parameters in range */
struct drm_rkmm_plan_create desk_likely(const struct drm_rkmm_op_info *info, uint32_t m,
					uint32_t n);
uint32_t float_bits(float f);

/** softmax_rows() - of @m rows of @n numbers in place; @causal: as DRM_RKMM_CAUSAL */
void softmax_rows(double *x, uint32_t m, uint32_t n, double scale, bool causal);

#endif
