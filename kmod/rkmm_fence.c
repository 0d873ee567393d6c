// SPDX-License-Identifier: GPL-2.0-only
/* Fences of jobs. Each holds a module reference until it is released. */
#include <linux/dma-fence.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "rkmm_job.h"

struct rkmm_fence {
	struct dma_fence base;
	/** @lock: dma_fence.lock */
	spinlock_t lock;
};

static const char *rkmm_fence_driver_name(struct dma_fence *fence)
{
	return "rkmm";
}

static const char *rkmm_fence_timeline_name(struct dma_fence *fence)
{
	return "rkmm-client";
}

static void rkmm_fence_release(struct dma_fence *fence)
{
	dma_fence_free(fence);
	module_put(THIS_MODULE);
}

static const struct dma_fence_ops rkmm_fence_ops = {
	.get_driver_name = rkmm_fence_driver_name,
	.get_timeline_name = rkmm_fence_timeline_name,
	.release = rkmm_fence_release,
};

struct dma_fence *rkmm_fence_alloc(void)
{
	struct rkmm_fence *fence = kzalloc(sizeof(*fence), GFP_KERNEL);

	if (!fence)
		return NULL;
	/* An ioctl is running, so the module cannot be going away. */
	__module_get(THIS_MODULE);
	spin_lock_init(&fence->lock);
	return &fence->base;
}

void rkmm_fence_arm(struct dma_fence *fence, u64 context, u64 seqno)
{
	struct rkmm_fence *rf = container_of(fence, struct rkmm_fence, base);

	dma_fence_init(fence, &rkmm_fence_ops, &rf->lock, context, seqno);
}

void rkmm_fence_free(struct dma_fence *fence)
{
	if (!fence)
		return;
	kfree(container_of(fence, struct rkmm_fence, base));
	module_put(THIS_MODULE);
}
