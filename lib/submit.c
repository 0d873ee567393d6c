// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdlib.h>

#include "lib/internal.h"

/* Submissions up to this length need no allocation. */
#define RKMM_STACK_OPS	16

int rkmm_wait(struct rkmm_device *dev, uint64_t seqno, int64_t timeout_ns)
{
	struct drm_rkmm_wait req = {
		.seqno = seqno,
		.deadline_ns = rkmm_deadline(timeout_ns),
	};
	int ret = rkmm_sys_ioctl(dev->fd, DRM_IOCTL_RKMM_WAIT, &req);

	if (!ret)
		ret = req.result;
	return ret ? rkmm_fail_errno(ret, "submission %llu", (unsigned long long)seqno) : 0;
}

int rkmm_submit_raw(struct rkmm_device *dev, const struct drm_rkmm_op *ops, uint32_t count,
		    const struct rkmm_submit_options *options, bool wait, bool *queued,
		    uint64_t *seqno)
{
	struct drm_rkmm_submit req = {
		.ops = { .stride = sizeof(*ops), .count = count, .array = (uintptr_t)ops },
		.in_syncs = { .stride = sizeof(struct drm_rkmm_sync) },
		.out_syncs = { .stride = sizeof(struct drm_rkmm_sync) },
		.flags = wait ? DRM_RKMM_SUBMIT_WAIT : 0,
		.deadline_ns = wait ? INT64_MAX : 0,
	};
	unsigned int i;
	int ret;

	*queued = false;
	if (options) {
		for (i = 0; i < sizeof(options->reserved) / sizeof(options->reserved[0]); i++)
			if (options->reserved[i])
				return rkmm_fail(-EINVAL, "submit: a reserved field is not zero");
		if (options->num_in) {
			req.in_syncs.count = options->num_in;
			req.in_syncs.array = (uintptr_t)options->in_syncs;
		}
		if (options->num_out) {
			req.out_syncs.count = options->num_out;
			req.out_syncs.array = (uintptr_t)options->out_syncs;
		}
		req.cores = options->cores;
		if (options->hints & ~(DRM_RKMM_SUBMIT_LATENCY | DRM_RKMM_SUBMIT_POWER))
			return rkmm_fail(-EINVAL, "submit: unknown hints %#x", options->hints);
		req.flags |= options->hints;
	}

	ret = rkmm_sys_ioctl(dev->fd, DRM_IOCTL_RKMM_SUBMIT, &req);
	if (ret) {
		*seqno = req.seqno;
		return rkmm_fail_errno(ret, "submit");
	}
	*queued = true;
	*seqno = req.seqno;
	if (!wait)
		return 0;
	/* It is queued: whatever ended the wait, only the wait is repeated. */
	if (req.wait_status)
		return rkmm_wait(dev, req.seqno, RKMM_FOREVER);
	return req.result ? rkmm_fail_errno(req.result, "submission %llu",
					    (unsigned long long)req.seqno) : 0;
}

/* A buffer where the plan has an operand, and none where it has not. */
static bool bound(const struct rkmm_operand *op, const struct drm_rkmm_tensor *tensor,
		  struct drm_rkmm_operand *raw)
{
	if (!op->buf != !tensor->size)
		return false;
	if (op->buf)
		*raw = (struct drm_rkmm_operand) {
			.handle = rkmm_buffer_handle(op->buf), .offset = op->offset,
			.flags = rkmm_buffer_is_temporary(op->buf) ? DRM_RKMM_OPERAND_TEMP : 0,
		};
	return true;
}

static int translate(const struct rkmm_op *op, uint32_t i, struct drm_rkmm_op *raw)
{
	const struct drm_rkmm_plan_create *info;

	if (op->reserved)
		return rkmm_fail(-EINVAL, "submit: operation %u: a reserved field is not zero", i);
	if (!op->plan)
		return rkmm_fail(-EINVAL, "submit: operation %u is incomplete", i);
	info = &op->plan->info;
	*raw = (struct drm_rkmm_op) {
		.plan = atomic_load(&op->plan->handle->now),
		.rows = op->rows,
		.flags = op->flags,
		.count = op->count,
		.a_stride = op->a_stride,
		.b_stride = op->b_stride,
		.c_stride = op->c_stride,
	};
	if (bound(&op->a, &info->a, &raw->a) && bound(&op->b, &info->b, &raw->b) &&
	    bound(&op->c, &info->c, &raw->c) && bound(&op->d, &info->d, &raw->d) &&
	    bound(&op->e, &info->e, &raw->e))
		return 0;
	return rkmm_fail(-EINVAL, "submit: operation %u is incomplete, or has too many operands",
			 i);
}

static int send(struct rkmm_device *dev, const struct rkmm_op *ops, uint32_t count,
		const struct rkmm_submit_options *options, bool wait, uint64_t *seqno)
{
	struct drm_rkmm_op stack[RKMM_STACK_OPS], *raw = stack;
	bool queued;
	uint32_t i;
	int ret;

	if (!count || count > DRM_RKMM_MAX_OPS)
		return rkmm_fail(-EINVAL, "submit: %u operations, 1 to %u are possible", count,
				 DRM_RKMM_MAX_OPS);
	if (count > RKMM_STACK_OPS) {
		raw = malloc(count * sizeof(*raw));
		if (!raw)
			return rkmm_fail(-ENOMEM, "submit: out of memory");
	}
	do {
		for (i = 0, ret = 0; !ret && i < count; i++)
			ret = translate(&ops[i], i, &raw[i]);
		if (ret)
			break;
		ret = rkmm_submit_raw(dev, raw, count, options, wait, &queued, seqno);
		/* Nothing of it was queued. Each plan is renewed so often, then that fails. */
	} while (ret == -ESTALE && !queued && *seqno < count &&
		 !rkmm_plan_renew(ops[*seqno].plan, raw[*seqno].plan));
	if (raw != stack)
		free(raw);
	return ret;
}

int rkmm_submit(struct rkmm_device *dev, const struct rkmm_op *ops, uint32_t count,
		const struct rkmm_submit_options *options, uint64_t *seqno)
{
	return send(dev, ops, count, options, false, seqno);
}

int rkmm_submit_wait(struct rkmm_device *dev, const struct rkmm_op *ops, uint32_t count,
		     const struct rkmm_submit_options *options)
{
	uint64_t seqno;

	return send(dev, ops, count, options, true, &seqno);
}
