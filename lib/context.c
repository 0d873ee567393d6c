// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdlib.h>

#include "lib/internal.h"

/*
 * The NPU never writes A and the CPU never writes C, so neither needs more than
 * half of the access bracket: A an end of writing before a submission, C a begin
 * of reading after it. Both are only touched while nothing is in flight.
 */

static int make_buffer(struct rkmm_device *dev, uint64_t size, struct rkmm_buffer **buf,
		       void **ptr)
{
	int ret = rkmm_buffer_create(dev, size, buf);

	return ret ? ret : rkmm_buffer_map(*buf, ptr);
}

int rkmm_context_create(struct rkmm_device *dev, const struct rkmm_matmul_desc *desc,
			const struct rkmm_weights *weights, struct rkmm_context **out)
{
	struct rkmm_matmul_desc mine = *desc;
	struct rkmm_context *ctx;
	int ret;

	*out = NULL;
	if (desc->a_pitch || desc->c_pitch || desc->flags & ~RKMM_FREE_SLICES)
		return rkmm_fail(-EINVAL, "context: pitches and most flags must be zero");
	if (weights)
		mine.b_layout = weights->tensor.layout_id;
	ctx = calloc(1, sizeof(*ctx));
	if (!ctx)
		return rkmm_fail(-ENOMEM, "context: out of memory");
	ret = rkmm_plan_create(dev, &mine, &ctx->plan);
	if (!ret)
		ret = make_buffer(dev, ctx->plan->info.a.size, &ctx->a, &ctx->a_ptr);
	if (!ret)
		ret = make_buffer(dev, ctx->plan->info.c.size, &ctx->c, &ctx->c_ptr);
	if (ret)
		rkmm_context_destroy(ctx);
	else
		*out = ctx;
	return ret;
}

const struct rkmm_plan *rkmm_context_plan(const struct rkmm_context *ctx)
{
	return ctx->plan;
}

void *rkmm_context_a(const struct rkmm_context *ctx)
{
	return ctx->a_ptr;
}

const void *rkmm_context_c(const struct rkmm_context *ctx)
{
	return ctx->c_ptr;
}

static int start(struct rkmm_context *ctx, const struct rkmm_weights *weights, const void *a,
		 size_t lda, uint32_t rows, bool wait)
{
	const struct drm_rkmm_plan_create *info = &ctx->plan->info;
	struct drm_rkmm_op op;
	bool queued;
	int ret;

	if (ctx->state == RKMM_CONTEXT_FLIGHT)
		return rkmm_fail(-EBUSY, "context: a submission is in flight");
	if (rows > info->m)
		return rkmm_fail(-EINVAL, "context: %u rows, the plan has %u", rows, info->m);
	if (weights->tensor.layout_id != info->b.layout_id)
		return rkmm_fail(-EINVAL, "context: the weights have another layout");
	if (!rows)
		rows = info->m;
	ctx->state = RKMM_CONTEXT_IDLE;

	if (a) {
		ret = rkmm_pack_a(&info->a, ctx->a_ptr, a, lda, rows, info->k);
		if (ret)
			return ret;
	}
	ret = rkmm_buffer_end(ctx->a, 0, rkmm_tensor_extent(&info->a, rows), RKMM_WRITE);
	if (ret)
		return ret;
	do {
		op = (struct drm_rkmm_op) {
			.plan = atomic_load(&ctx->plan->handle->now),
			.rows = rows,
			.a = { .handle = ctx->a->handle },
			.b = { .handle = weights->buf->handle },
			.c = { .handle = ctx->c->handle },
		};
		ret = rkmm_submit_raw(ctx->plan->dev, &op, 1, NULL, wait, &queued, &ctx->seqno);
	} while (ret == -ESTALE && !queued && !rkmm_plan_renew(ctx->plan, op.plan));
	ctx->rows = rows;
	if (queued && !wait)
		ctx->state = RKMM_CONTEXT_FLIGHT;
	else if (!ret)
		ctx->state = RKMM_CONTEXT_DONE;
	return ret;
}

int rkmm_context_submit(struct rkmm_context *ctx, const struct rkmm_weights *weights,
			const void *a, size_t lda, uint32_t rows)
{
	return start(ctx, weights, a, lda, rows, false);
}

int rkmm_context_wait(struct rkmm_context *ctx, int64_t timeout_ns)
{
	int ret;

	if (ctx->state == RKMM_CONTEXT_DONE)
		return 0;
	if (ctx->state == RKMM_CONTEXT_IDLE)
		return rkmm_fail(-ENOENT, "context: nothing was submitted");
	ret = rkmm_wait(ctx->plan->dev, ctx->seqno, timeout_ns);
	if (ret != -ETIME)
		ctx->state = ret ? RKMM_CONTEXT_IDLE : RKMM_CONTEXT_DONE;
	return ret;
}

int rkmm_context_read(struct rkmm_context *ctx, void *c, size_t ldc)
{
	const struct drm_rkmm_plan_create *info = &ctx->plan->info;
	int ret;

	if (ctx->state == RKMM_CONTEXT_FLIGHT)
		return rkmm_fail(-EBUSY, "context: the submission is still in flight");
	if (ctx->state == RKMM_CONTEXT_IDLE)
		return rkmm_fail(-ENOENT, "context: there is no result");
	ret = rkmm_buffer_begin(ctx->c, 0, rkmm_tensor_extent(&info->c, ctx->rows), RKMM_READ,
				RKMM_FOREVER);
	if (ret || !c)
		return ret;
	return rkmm_finish_c(ctx->plan, ctx->c_ptr, c, ldc, ctx->rows);
}

int rkmm_context_run(struct rkmm_context *ctx, const struct rkmm_weights *weights,
		     const void *a, size_t lda, void *c, size_t ldc, uint32_t rows)
{
	int ret = start(ctx, weights, a, lda, rows, true);

	return ret ? ret : rkmm_context_read(ctx, c, ldc);
}

void rkmm_context_destroy(struct rkmm_context *ctx)
{
	if (!ctx)
		return;
	rkmm_buffer_destroy(ctx->a);
	rkmm_buffer_destroy(ctx->c);
	rkmm_plan_destroy(ctx->plan);
	free(ctx);
}
