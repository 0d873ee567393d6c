// SPDX-License-Identifier: GPL-2.0-only
/* What a job waits for and what it signals: syncobjs and reservations. */
#include <drm/drm_gem.h>
#include <drm/drm_syncobj.h>
#include <linux/dma-fence-chain.h>
#include <linux/dma-resv.h>
#include <linux/slab.h>

#include "rkmm_submit.h"

/* How a fence ended; a timeline point's own error is in the fence it contains. */
static int rkmm_dep_error(const struct rkmm_dep *dep)
{
	return dep->explicit ? dma_fence_chain_contained(dep->fence)->error : 0;
}

/*
 * Takes over the reference. An explicit dependency hands its failure on; an
 * implicit one only orders, and what this client queued before is in order
 * anyway.
 */
static int rkmm_sync_add_dep(struct rkmm_job *job, struct dma_fence *fence, bool explicit)
{
	struct rkmm_dep *deps;

	if (!explicit && (fence->context == job->client->fence_context ||
			  dma_fence_is_signaled(fence))) {
		dma_fence_put(fence);
		return 0;
	}
	if (!(job->ndeps & (job->ndeps - 1))) {
		u32 room = max(2 * job->ndeps, 1u);

		deps = kvmalloc_array(room, sizeof(*deps), GFP_KERNEL_ACCOUNT);
		if (!deps) {
			dma_fence_put(fence);
			return -ENOMEM;
		}
		if (job->ndeps)
			memcpy(deps, job->deps, job->ndeps * sizeof(*deps));
		kvfree(job->deps);
		job->deps = deps;
	}
	job->deps[job->ndeps].fence = fence;
	job->deps[job->ndeps].job = job;
	job->deps[job->ndeps].explicit = explicit;
	job->ndeps++;
	return 0;
}

int rkmm_sync_in(struct rkmm_job *job, struct drm_file *file, const struct drm_rkmm_array *array)
{
	struct drm_rkmm_sync arg;
	struct dma_fence *fence;
	int ret;
	u32 i;

	for (i = 0; i < array->count; i++) {
		ret = rkmm_array_copy(array, i, &arg, sizeof(arg));
		if (ret)
			return ret;
		if (arg.flags)
			return -EINVAL;
		ret = drm_syncobj_find_fence(file, arg.handle, arg.point, 0, &fence);
		if (ret)
			return ret;
		ret = rkmm_sync_add_dep(job, fence, true);
		if (ret)
			return ret;
	}
	return 0;
}

/* Implicit fences: wait for conflicting use by others. Reservations locked. */
int rkmm_sync_implicit(struct rkmm_job *job)
{
	struct dma_resv_iter cursor;
	struct dma_fence *fence;
	u32 i, room = 0;
	int ret;

	for (i = 0; i < job->nbos; i++) {
		struct dma_resv *resv = job->bos[i].obj->resv;

		/* Each buffer adds the fence: what is reserved twice is there once. */
		room = i && job->bos[i - 1].obj->resv == resv ? room + 1 : 1;

		/* Jobs of the only client that knows it are in order anyway. */
		if (!job->bos[i].shared)
			continue;
		dma_resv_for_each_fence(&cursor, resv, dma_resv_usage_rw(job->bos[i].write),
					fence) {
			ret = rkmm_sync_add_dep(job, dma_fence_get(fence), false);
			if (ret)
				return ret;
		}
		ret = dma_resv_reserve_fences(resv, room);
		if (ret)
			return ret;
	}
	return 0;
}

static void rkmm_sync_dep_cb(struct dma_fence *fence, struct dma_fence_cb *cb)
{
	struct rkmm_dep *dep = container_of(cb, struct rkmm_dep, cb);

	rkmm_sched_dep_done(dep->job, rkmm_dep_error(dep));
}

/*
 * After the push, so that a callback always finds the job queued. The caller
 * holds a reference to the job.
 */
void rkmm_sync_watch(struct rkmm_job *job)
{
	u32 i;

	for (i = 0; i < job->ndeps; i++)
		if (dma_fence_add_callback(job->deps[i].fence, &job->deps[i].cb,
					   rkmm_sync_dep_cb))
			rkmm_sched_dep_done(job, rkmm_dep_error(&job->deps[i]));
}

void rkmm_sync_out_put(struct rkmm_out_sync *outs, u32 nouts)
{
	u32 i;

	for (i = 0; i < nouts; i++) {
		if (outs[i].chain)
			dma_fence_chain_free(outs[i].chain);
		if (outs[i].syncobj)
			drm_syncobj_put(outs[i].syncobj);
	}
	kvfree(outs);
}

int rkmm_sync_out_get(struct drm_file *file, const struct drm_rkmm_array *array,
		      struct rkmm_out_sync *outs)
{
	struct drm_rkmm_sync arg;
	int ret;
	u32 i;

	for (i = 0; i < array->count; i++) {
		ret = rkmm_array_copy(array, i, &arg, sizeof(arg));
		if (ret)
			return ret;
		if (arg.flags)
			return -EINVAL;
		outs[i].syncobj = drm_syncobj_find(file, arg.handle);
		if (!outs[i].syncobj)
			return -ENOENT;
		outs[i].point = arg.point;
		if (!arg.point)
			continue;
		outs[i].chain = dma_fence_chain_alloc();
		if (!outs[i].chain)
			return -ENOMEM;
	}
	return 0;
}

void rkmm_sync_out(struct rkmm_out_sync *outs, u32 nouts, struct dma_fence *fence)
{
	u32 i;

	for (i = 0; i < nouts; i++) {
		if (outs[i].chain)
			drm_syncobj_add_point(outs[i].syncobj, outs[i].chain, fence, outs[i].point);
		else
			drm_syncobj_replace_fence(outs[i].syncobj, fence);
		outs[i].chain = NULL;
	}
}
