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
	}

	ret = rkmm_sys_ioctl(dev->fd, DRM_IOCTL_RKMM_SUBMIT, &req);
	if (ret)
		return rkmm_fail_errno(ret, "submit");
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

int rkmm_submit(struct rkmm_device *dev, const struct rkmm_op *ops, uint32_t count,
		const struct rkmm_submit_options *options, uint64_t *seqno)
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
	for (i = 0; i < count; i++) {
		const struct rkmm_op *op = &ops[i];

		if (!op->plan || !op->a.buf || !op->b.buf || !op->c.buf) {
			ret = rkmm_fail(-EINVAL, "submit: operation %u is incomplete", i);
			goto out;
		}
		if (op->reserved) {
			ret = rkmm_fail(-EINVAL,
					"submit: operation %u: a reserved field is not zero", i);
			goto out;
		}
		raw[i] = (struct drm_rkmm_op) {
			.plan = op->plan->info.plan,
			.rows = op->rows,
			.flags = op->flags,
			.count = op->count,
			.a = { .handle = op->a.buf->handle, .offset = op->a.offset },
			.b = { .handle = op->b.buf->handle, .offset = op->b.offset },
			.c = { .handle = op->c.buf->handle, .offset = op->c.offset },
			.a_stride = op->a_stride,
			.b_stride = op->b_stride,
			.c_stride = op->c_stride,
		};
	}
	ret = rkmm_submit_raw(dev, raw, count, options, false, &queued, seqno);
out:
	if (raw != stack)
		free(raw);
	return ret;
}
