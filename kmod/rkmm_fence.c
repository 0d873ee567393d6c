// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fences of jobs. A fence is a part of its job: what the job keeps is released when
 * it has ended, the memory with the fence's last reference.
 *
 * Most fences are never seen outside the driver. Only those that are pay for it:
 * by a module reference until they are released, and by waiting for RCU readers.
 */
#include <linux/dma-fence.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "rkmm_job.h"

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
	struct rkmm_job *job = container_of(fence, struct rkmm_job, fence);

	if (!job->published) {
		kfree(job);
		return;
	}
	dma_fence_free(fence);
	module_put(THIS_MODULE);
}

static const struct dma_fence_ops rkmm_fence_ops = {
	.get_driver_name = rkmm_fence_driver_name,
	.get_timeline_name = rkmm_fence_timeline_name,
	.release = rkmm_fence_release,
};

void rkmm_fence_arm(struct rkmm_job *job)
{
	/* dma_fence_free() frees what begins with the fence. */
	BUILD_BUG_ON(offsetof(struct rkmm_job, fence));
	spin_lock_init(&job->fence_lock);
	dma_fence_init(&job->fence, &rkmm_fence_ops, &job->fence_lock, job->client->fence_context,
		       job->seqno);
}

struct dma_fence *rkmm_fence_publish(struct rkmm_job *job)
{
	lockdep_assert_held(&job->client->submit_lock);
	if (!job->published)
		/* An ioctl is running, so the module cannot be going away. */
		__module_get(THIS_MODULE);
	job->published = true;
	return &job->fence;
}
