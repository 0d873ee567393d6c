// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/internal.h"

/* The sentence behind EOPNOTSUPP, with the number that was exceeded. */
static int refused(struct rkmm_device *dev, const struct drm_rkmm_plan_create *req)
{
	const char *chip = dev->info.chip;

	switch (req->reason) {
	case DRM_RKMM_REASON_K_LIMIT:
		return rkmm_fail(-EOPNOTSUPP, "K = %u: one operation of %s reduces at most %u",
				 req->k, chip, dev->info.k_max);
	case DRM_RKMM_REASON_N_LIMIT:
		return rkmm_fail(-EOPNOTSUPP, "N = %u: one operation of %s has at most %u columns",
				 req->n, chip, dev->info.n_max);
	default:
		break;
	}
	if (req->kind == DRM_RKMM_OP_MATMUL && req->stages[0].kind)
		return rkmm_fail(-EOPNOTSUPP,
				 "M = %u, K = %u, N = %u on %s, stage %u of the epilogue: %s",
				 req->m, req->k, req->n, chip, req->stage,
				 rkmm_reason_string(req->reason));
	if (req->kind != DRM_RKMM_OP_MATMUL)
		return rkmm_fail(-EOPNOTSUPP, "operation %u, M = %u, N = %u on %s: %s", req->kind,
				 req->m, req->n, chip, rkmm_reason_string(req->reason));
	return rkmm_fail(-EOPNOTSUPP, "M = %u, K = %u, N = %u on %s: %s", req->m, req->k,
			 req->n, chip, rkmm_reason_string(req->reason));
}

int rkmm_plan_ask(struct rkmm_device *dev, const struct drm_rkmm_plan_create *args,
		  struct rkmm_plan **out)
{
	struct rkmm_plan *plan = calloc(1, sizeof(*plan));
	int ret;

	if (plan)
		plan->handle = calloc(1, sizeof(*plan->handle));
	if (!plan || !plan->handle) {
		free(plan);
		return rkmm_fail(-ENOMEM, "plan: out of memory");
	}
	plan->info = *args;
	ret = rkmm_sys_ioctl(dev->fd, DRM_IOCTL_RKMM_PLAN_CREATE, &plan->info);
	if (ret) {
		if (ret == -EOPNOTSUPP)
			refused(dev, &plan->info);
		else if (args->kind == DRM_RKMM_OP_MATMUL)
			rkmm_fail_errno(ret, "plan for M = %u, K = %u, N = %u", args->m, args->k,
					args->n);
		else
			rkmm_fail_errno(ret, "plan for operation %u, M = %u, N = %u", args->kind,
					args->m, args->n);
		free(plan->handle);
		free(plan);
		return ret;
	}
	plan->dev = rkmm_device_get(dev);
	atomic_init(&plan->handle->now, plan->info.plan);
	pthread_mutex_init(&plan->handle->lock, NULL);
	*out = plan;
	return 0;
}

/* What applications have been told, and what lies in buffers already */
static int same_layouts(const struct drm_rkmm_plan_create *x, const struct drm_rkmm_plan_create *y)
{
	return x->out_flags == y->out_flags && x->fused == y->fused &&
	       !memcmp(&x->a, &y->a, sizeof(x->a)) && !memcmp(&x->b, &y->b, sizeof(x->b)) &&
	       !memcmp(&x->c, &y->c, sizeof(x->c)) && !memcmp(&x->d, &y->d, sizeof(x->d)) &&
	       !memcmp(&x->e, &y->e, sizeof(x->e));
}

static int renew(const struct rkmm_plan *plan)
{
	struct drm_rkmm_plan_create req = plan->info;
	struct rkmm_plan_handle *handle = plan->handle;
	struct drm_rkmm_plan_destroy gone;
	int ret;

	if (handle->nold == RKMM_PLAN_RENEWALS)
		return rkmm_fail(-ESTALE, "plan: renewed %u times, and stale again", handle->nold);
	ret = rkmm_sys_ioctl(plan->dev->fd, DRM_IOCTL_RKMM_PLAN_CREATE, &req);
	if (ret)
		return rkmm_fail_errno(ret, "plan: stale, and cannot be made again");
	if (!same_layouts(&req, &plan->info)) {
		gone = (struct drm_rkmm_plan_destroy) { .plan = req.plan };
		rkmm_sys_ioctl(plan->dev->fd, DRM_IOCTL_RKMM_PLAN_DESTROY, &gone);
		return rkmm_fail(-ESTALE, "plan: stale, and a new one has other layouts");
	}
	handle->old[handle->nold++] = atomic_load(&handle->now);
	atomic_store(&handle->now, req.plan);
	return 0;
}

int rkmm_plan_renew(const struct rkmm_plan *plan, uint32_t stale)
{
	int ret = 0;

	pthread_mutex_lock(&plan->handle->lock);
	/* Another thread may have been here. */
	if (atomic_load(&plan->handle->now) == stale)
		ret = renew(plan);
	pthread_mutex_unlock(&plan->handle->lock);
	return ret;
}

int rkmm_plan_args(const struct rkmm_matmul_desc *desc, struct drm_rkmm_plan_create *args)
{
	unsigned int i;

	for (i = 0; i < sizeof(desc->reserved) / sizeof(desc->reserved[0]); i++)
		if (desc->reserved[i])
			return rkmm_fail(-EINVAL, "plan: a reserved field is not zero");
	if (desc->flags & ~(RKMM_B_TRANSPOSED | RKMM_FREE_SLICES))
		return rkmm_fail(-EINVAL, "plan: flags 0x%x", desc->flags);
	*args = (struct drm_rkmm_plan_create) {
		.kind = DRM_RKMM_OP_MATMUL,
		.types = desc->types,
		.m = desc->m,
		.k = desc->k,
		.n = desc->n,
		.flags = desc->flags & RKMM_FREE_SLICES ? DRM_RKMM_PLAN_FREE_SLICES : 0,
		.form = desc->form,
		.a_pitch = desc->a_pitch,
		.c_pitch = desc->c_pitch,
		.b_layout = desc->b_layout,
		.cores = desc->cores,
		.mult = desc->mult,
		.shift = desc->shift,
		.offset = desc->offset,
	};
	return 0;
}

int rkmm_plan_create(struct rkmm_device *dev, const struct rkmm_matmul_desc *desc,
		     struct rkmm_plan **out)
{
	struct drm_rkmm_plan_create args;
	int ret;

	*out = NULL;
	ret = rkmm_plan_args(desc, &args);
	return ret ? ret : rkmm_plan_ask(dev, &args, out);
}

int rkmm_plan_create_op(struct rkmm_device *dev, const struct rkmm_op_desc *desc,
			struct rkmm_plan **out)
{
	struct drm_rkmm_plan_create args;
	struct drm_rkmm_stage stage;
	unsigned int i;
	int ret;

	*out = NULL;
	for (i = 0; i < sizeof(desc->reserved) / sizeof(desc->reserved[0]); i++)
		if (desc->reserved[i])
			return rkmm_fail(-EINVAL, "plan: a reserved field is not zero");
	if (desc->kind == DRM_RKMM_OP_MATMUL)
		return rkmm_fail(-EINVAL, "plan: rkmm_plan_create() is for matmuls");
	/* int16 and int8 see no more than that */
	ret = rkmm_stage_args(desc, desc->element == DRM_RKMM_F16, 16, &stage);
	if (ret)
		return ret;
	args = (struct drm_rkmm_plan_create) {
		.kind = stage.kind,
		.types = desc->element,
		.m = desc->m,
		.n = desc->n,
		.other = stage.other,
		.op_flags = desc->flags,
		.cores = desc->cores,
		.value = stage.value,
		.value2 = stage.value2,
		.scale = stage.scale,
		.out_scale = stage.out_scale,
		.za = stage.za,
		.zb = stage.zb,
		.sb = stage.sb,
		.sb_shift = stage.sb_shift,
		.mult = stage.mult,
		.shift = stage.shift,
		.offset = stage.offset,
		.width = desc->width,
		.kernel_w = desc->kernel_w,
		.kernel_h = desc->kernel_h,
		.stride_w = desc->stride_w,
		.stride_h = desc->stride_h,
	};
	return rkmm_plan_ask(dev, &args, out);
}

const struct drm_rkmm_tensor *rkmm_plan_a(const struct rkmm_plan *plan)
{
	return &plan->info.a;
}

const struct drm_rkmm_tensor *rkmm_plan_b(const struct rkmm_plan *plan)
{
	return &plan->info.b;
}

const struct drm_rkmm_tensor *rkmm_plan_c(const struct rkmm_plan *plan)
{
	return &plan->info.c;
}

const struct drm_rkmm_tensor *rkmm_plan_d(const struct rkmm_plan *plan)
{
	return &plan->info.d;
}

uint32_t rkmm_plan_evidence(const struct rkmm_plan *plan)
{
	return plan->info.evidence;
}

uint32_t rkmm_plan_flags(const struct rkmm_plan *plan)
{
	return plan->info.out_flags;
}

uint32_t rkmm_plan_programs(const struct rkmm_plan *plan)
{
	return plan->info.programs;
}

uint64_t rkmm_plan_predicted_ns(const struct rkmm_plan *plan)
{
	return plan->info.predicted_ns;
}

void rkmm_plan_destroy(struct rkmm_plan *plan)
{
	struct rkmm_plan_handle *handle;
	struct drm_rkmm_plan_destroy req;

	if (!plan)
		return;
	handle = plan->handle;
	req = (struct drm_rkmm_plan_destroy) { .plan = atomic_load(&handle->now) };
	rkmm_sys_ioctl(plan->dev->fd, DRM_IOCTL_RKMM_PLAN_DESTROY, &req);
	while (handle->nold) {
		req.plan = handle->old[--handle->nold];
		rkmm_sys_ioctl(plan->dev->fd, DRM_IOCTL_RKMM_PLAN_DESTROY, &req);
	}
	pthread_mutex_destroy(&handle->lock);
	free(handle);
	rkmm_device_put(plan->dev);
	free(plan);
}

uint64_t rkmm_tensor_extent(const struct drm_rkmm_tensor *t, uint32_t rows)
{
	uint64_t bytes;

	/* Only row layouts keep the first rows together at the start. */
	if (t->layout != DRM_RKMM_LAYOUT_ROWS && t->layout != DRM_RKMM_LAYOUT_BATCH_A)
		return t->size;
	/* Slices that follow each other; those of A in rows lie side by side. */
	if (t->slices > 1 && t->slice_stride >= t->pitch)
		return t->size;
	bytes = (uint64_t)rows * t->pitch;
	return bytes < t->size ? bytes : t->size;
}
