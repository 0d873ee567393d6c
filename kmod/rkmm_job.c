// SPDX-License-Identifier: GPL-2.0-only
/*
 * A job: its memory, its buffers, and its way into the queue.
 *
 * From arming its fence to queueing nothing is allocated (annotated for lockdep).
 * Lock order: rkmm_client.submit_lock > dma_resv > rkmm_bo.lock > rkmm_vm.lock.
 */
#include <drm/drm_gem.h>
#include <linux/dma-resv.h>
#include <linux/sort.h>

#include "rkmm_bo.h"
#include "rkmm_submit.h"
#include "rkmm_trace.h"

static void rkmm_job_free(struct kref *ref)
{
	struct rkmm_job *job = container_of(ref, struct rkmm_job, ref);
	struct rkmm_client *client = job->client;
	u32 i;

	for (i = 0; i < job->nsteps; i++)
		rkmm_image_put(client, job->steps[i]);
	for (i = 0; i < job->nbos; i++)
		drm_gem_object_put(job->bos[i].obj);
	for (i = 0; i < job->ndeps; i++)
		dma_fence_put(job->deps[i].fence);
	if (job->seqno)
		dma_fence_put(job->fence);
	else
		rkmm_fence_free(job->fence);
	kvfree(job->deps);
	kvfree(job);
	rkmm_client_put(client);
}

void rkmm_job_put(struct rkmm_job *job)
{
	kref_put(&job->ref, rkmm_job_free);
}

struct rkmm_job *rkmm_job_alloc(struct rkmm_client *client, u32 nops, u32 cores)
{
	size_t steps = struct_size((struct rkmm_job *)NULL, steps, nops);
	struct rkmm_job *job = kvzalloc(steps + nops * 3 * sizeof(*job->bos), GFP_KERNEL_ACCOUNT);

	if (!job)
		return NULL;
	job->bos = (void *)job + steps;
	job->fence = rkmm_fence_alloc();
	if (!job->fence) {
		kvfree(job);
		return NULL;
	}
	kref_init(&job->ref);
	rkmm_client_get(client);
	job->client = client;
	job->window = client->window;
	job->nops = nops;
	job->cores = cores ?: client->rdev->all_cores;
	return job;
}

static int rkmm_job_cmp_bo(const void *x, const void *y)
{
	const struct rkmm_bo_use *a = x, *b = y;

	/* Imports may share a reservation object: keep those together. */
	if (a->obj->resv != b->obj->resv)
		return a->obj->resv < b->obj->resv ? -1 : 1;
	return a->obj < b->obj ? -1 : a->obj > b->obj;
}

/* sort() costs hundreds of instructions before it compares anything. */
static void rkmm_job_sort_bos(struct rkmm_bo_use *bos, u32 n)
{
	struct rkmm_bo_use use;
	u32 i, k;

	if (n > 3 * RKMM_FEW_OPS) {
		sort(bos, n, sizeof(*bos), rkmm_job_cmp_bo, NULL);
		return;
	}
	for (i = 1; i < n; i++) {
		use = bos[i];
		for (k = i; k && rkmm_job_cmp_bo(&bos[k - 1], &use) > 0; k--)
			bos[k] = bos[k - 1];
		bos[k] = use;
	}
}

/* The set of buffers of all operations, each once, references taken. */
void rkmm_job_keep_bos(struct rkmm_job *job, const struct rkmm_op_data *ops)
{
	struct rkmm_bo_use *bos = job->bos;
	u32 i, k, n = 0;

	for (i = 0; i < job->nops; i++)
		for (k = 0; k < 3; k++)
			bos[n++] = (struct rkmm_bo_use){ ops[i].place[k].obj, k == 2 };
	rkmm_job_sort_bos(bos, n);

	for (i = 0, k = 0; i < n; i++) {
		if (k && bos[k - 1].obj == bos[i].obj) {
			bos[k - 1].write |= bos[i].write;
			continue;
		}
		bos[k++] = bos[i];
		drm_gem_object_get(bos[k - 1].obj);
	}
	job->nbos = k;
}

/*
 * Clean the caches: after this the operations are ready to run. Reservations locked,
 * so that a CPU access either begins before this or sees the job's fence.
 */
static void rkmm_job_prepare(struct rkmm_job *job, const struct rkmm_op_data *ops)
{
	u32 i, k;

	for (i = 0; i < job->nops; i++) {
		const struct rkmm_place *place = ops[i].place;

		for (k = 0; k < ARRAY_SIZE(ops[i].place); k++)
			job->client->synced += rkmm_bo_prepare(to_rkmm_bo(place[k].obj),
							       place[k].offset, place[k].size,
							       k == 2);
	}
}

/* From here the fence exists for others and will signal. Nothing below allocates. */
static void rkmm_job_arm(struct rkmm_job *job, struct rkmm_out_sync *outs, u32 nouts)
{
	struct rkmm_client *client = job->client;
	bool cookie = dma_fence_begin_signalling();
	u32 i;

	job->seqno = ++client->seqno;
	rkmm_fence_arm(job->fence, client->fence_context, job->seqno);
	for (i = 0; i < job->nbos; i++)
		dma_resv_add_fence(job->bos[i].obj->resv, job->fence,
				   job->bos[i].write ? DMA_RESV_USAGE_WRITE : DMA_RESV_USAGE_READ);
	rkmm_sync_out(outs, nouts, job->fence);

	atomic_set(&job->waiting, 1 + job->ndeps);
	trace_rkmm_job_submit(job);
	rkmm_sched_push(job);
	dma_fence_end_signalling(cookie);
}

int rkmm_job_queue(struct rkmm_job *job, const struct rkmm_op_data *ops,
		   struct rkmm_out_sync *outs, u32 nouts)
{
	struct drm_gem_object *few[3 * RKMM_FEW_OPS], **objs = few;
	struct rkmm_client *client = job->client;
	struct ww_acquire_ctx ctx;
	u32 i, n = 0;
	int ret;

	if (job->nbos > ARRAY_SIZE(few))
		objs = kvmalloc_array(job->nbos, sizeof(*objs), GFP_KERNEL_ACCOUNT);
	if (!objs)
		return -ENOMEM;
	for (i = 0; i < job->nbos; i++)
		if (!i || job->bos[i].obj->resv != job->bos[i - 1].obj->resv)
			objs[n++] = job->bos[i].obj;
	ret = mutex_lock_interruptible(&client->submit_lock);
	if (ret)
		goto out_free;
	ret = drm_gem_lock_reservations(objs, n, &ctx);
	if (ret)
		goto out_unlock;
	ret = rkmm_sync_implicit(job);
	if (!ret) {
		rkmm_job_prepare(job, ops);
		rkmm_job_arm(job, outs, nouts);
	}
	drm_gem_unlock_reservations(objs, n, &ctx);
	if (!ret)
		rkmm_sync_watch(job);
out_unlock:
	mutex_unlock(&client->submit_lock);
out_free:
	if (objs != few)
		kvfree(objs);
	return ret;
}
