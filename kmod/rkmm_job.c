// SPDX-License-Identifier: GPL-2.0-only
/*
 * A job: its memory, its buffers, and its way into the queue.
 *
 * From arming its fence to queueing nothing is allocated (annotated for lockdep).
 * Lock order: rkmm_client.submit_lock > dma_resv > rkmm_bo.lock > rkmm_vm.lock.
 *
 * A buffer that only one client knows has an owner: whoever waits for its use asks
 * that client's queue, and its reservation stays empty. rkmm_job_publish_bo() fills it
 * when the buffer gets known to others, for good.
 */
#include <drm/drm_gem.h>
#include <linux/dma-resv.h>
#include <linux/sort.h>

#include "compat/rkmm_compat.h"
#include "rkmm_bo.h"
#include "rkmm_submit.h"
#include "rkmm_trace.h"

static void rkmm_job_put_own(struct rkmm_job *job)
{
	u32 i;

	rkmm_stage_forget(job->client->rdev, job->stages, job->nops);
	rkmm_fallback_put_back(job);
	for (i = 0; i < job->nsteps; i++)
		rkmm_image_put(job->client, job->steps[i]);
	for (i = 0; i < job->nbos; i++)
		drm_gem_object_put(job->bos[i].obj);
	rkmm_arena_put(job->arena);
	if (job->steps != job->few_steps)
		kvfree(job->steps);
	if (job->bos != job->few_bos)
		kvfree(job->bos);
}

/* The client keeps the memory of one job that nobody looks at any more. */
static void rkmm_job_recycle(struct rkmm_job *job)
{
	struct rkmm_client *client = job->client;

	if (job->seqno && (job->published || kref_read(&job->fence.refcount) != 1))
		dma_fence_put(&job->fence);
	else if (cmpxchg(&client->spare, NULL, job))
		kfree(job);
}

static struct rkmm_job *rkmm_job_memory(struct rkmm_client *client)
{
	struct rkmm_job *job = xchg(&client->spare, NULL);

	if (!job)
		return kzalloc(sizeof(*job), GFP_KERNEL_ACCOUNT);
	/* What comes from there on is told by nsteps and nbos. */
	memset(job, 0, offsetof(struct rkmm_job, few_steps));
	return job;
}

static void rkmm_job_free(struct kref *ref)
{
	struct rkmm_job *job = container_of(ref, struct rkmm_job, ref);
	struct rkmm_client *client = job->client;
	u32 i;

	if (job->warm)
		rkmm_warm_put(job->warm);
	else
		rkmm_job_put_own(job);
	for (i = 0; i < job->ndeps; i++)
		dma_fence_put(job->deps[i].fence);
	kvfree(job->deps);
	rkmm_job_recycle(job);
	rkmm_client_put(client);
}

void rkmm_job_put(struct rkmm_job *job)
{
	kref_put(&job->ref, rkmm_job_free);
}

struct rkmm_job *rkmm_job_alloc(struct rkmm_client *client, u32 nops, u32 cores)
{
	struct rkmm_job *job = rkmm_job_memory(client);

	if (!job)
		return NULL;
	job->steps = job->few_steps;
	job->bos = job->few_bos;
	if (nops > RKMM_FEW_OPS) {
		job->steps = kvcalloc(nops, sizeof(*job->steps), GFP_KERNEL_ACCOUNT);
		job->bos = kvcalloc(nops, RKMM_OPERANDS * sizeof(*job->bos), GFP_KERNEL_ACCOUNT);
		if (!job->steps || !job->bos) {
			kvfree(job->steps);
			kvfree(job->bos);
			kfree(job);
			return NULL;
		}
	}
	kref_init(&job->ref);
	rkmm_client_get(client);
	job->client = client;
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

	if (n > RKMM_OPERANDS * RKMM_FEW_OPS) {
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
		for (k = 0; k < RKMM_OPERANDS; k++)
			if (ops[i].place[k].obj)
				bos[n++] = (struct rkmm_bo_use){
					.obj = ops[i].place[k].obj,
					.write = k == 2,
				};
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

/* The owner of a buffer is going to be asked by others from here on, or by nobody. */
int rkmm_job_publish_bo(struct rkmm_bo *bo)
{
	struct dma_resv *resv = bo->base.base.resv;
	struct rkmm_client *owner;
	struct rkmm_job *job;
	int ret;

	mutex_lock(&bo->lock);
	owner = bo->owner;
	if (owner)
		rkmm_client_get(owner);
	mutex_unlock(&bo->lock);
	if (!owner)
		return 0;

	mutex_lock(&owner->submit_lock);
	dma_resv_lock(resv, NULL);
	ret = dma_resv_reserve_fences(resv, 2);
	if (!ret && bo->owner) {
		struct dma_fence *read, *write;

		spin_lock_irq(&owner->rdev->sched.lock);
		job = rkmm_wait_find(owner, bo->last_read);
		read = job ? dma_fence_get(rkmm_fence_publish(job)) : NULL;
		job = rkmm_wait_find(owner, bo->last_write);
		write = job ? dma_fence_get(rkmm_fence_publish(job)) : NULL;
		spin_unlock_irq(&owner->rdev->sched.lock);
		if (read)
			dma_resv_add_fence(resv, read, DMA_RESV_USAGE_READ);
		if (write)
			dma_resv_add_fence(resv, write, DMA_RESV_USAGE_WRITE);
		dma_fence_put(read);
		dma_fence_put(write);
		mutex_lock(&bo->lock);
		bo->owner = NULL;
		mutex_unlock(&bo->lock);
		/* The buffer's reference. */
		rkmm_client_put(owner);
	}
	dma_resv_unlock(resv);
	mutex_unlock(&owner->submit_lock);
	rkmm_client_put(owner);
	return ret;
}

/* Which buffers does nobody else know. Without submit_lock: another client's may be taken. */
static int rkmm_job_publish_foreign(struct rkmm_job *job)
{
	u32 i;
	int ret;

	for (i = 0; i < job->nbos; i++) {
		struct rkmm_bo *bo = to_rkmm_bo(job->bos[i].obj);
		struct rkmm_client *owner = READ_ONCE(bo->owner);

		if (!owner || owner == job->client)
			continue;
		ret = rkmm_job_publish_bo(bo);
		if (ret)
			return ret;
	}
	return 0;
}

/*
 * Clean the caches: after this the operations are ready to run. A CPU access either
 * begins before this or sees that the job writes: reservations are locked, and a buffer
 * that is not shared knows the job from here on.
 */
static void rkmm_job_prepare(struct rkmm_job *job, const struct rkmm_op_data *ops)
{
	u32 i, k;

	for (i = 0; i < job->nops; i++) {
		const struct rkmm_place *place = ops[i].place;

		for (k = 0; k < ARRAY_SIZE(ops[i].place); k++) {
			if (!place[k].obj)
				continue;
			job->client->synced += rkmm_bo_prepare(to_rkmm_bo(place[k].obj),
							       place[k].offset, place[k].size,
							       job->seqno, k == 2);
		}
	}
}

/* From here the fence exists for others and will signal. Nothing below allocates. */
static void rkmm_job_arm(struct rkmm_job *job, bool shared, struct rkmm_out_sync *outs, u32 nouts)
{
	bool cookie = dma_fence_begin_signalling();
	u32 i;

	job->client->seqno = job->seqno;
	for (i = 0; shared && i < job->nbos; i++)
		if (job->bos[i].shared)
			dma_resv_add_fence(job->bos[i].obj->resv, rkmm_fence_publish(job),
					   job->bos[i].write ? DMA_RESV_USAGE_WRITE :
							       DMA_RESV_USAGE_READ);
	if (nouts)
		rkmm_sync_out(outs, nouts, rkmm_fence_publish(job));

	atomic_set(&job->waiting, 1 + job->ndeps);
	trace_rkmm_job_submit(job);
	rkmm_sched_push(job);
	dma_fence_end_signalling(cookie);
}

/* The objects whose reservations have to be locked, each reservation once. */
static u32 rkmm_job_reservations(struct rkmm_job *job, struct drm_gem_object **objs)
{
	u32 i, n = 0;

	for (i = 0; i < job->nbos; i++) {
		struct rkmm_bo_use *use = &job->bos[i];

		/* Owners go, but they do not come: under submit_lock this stays. */
		use->shared = to_rkmm_bo(use->obj)->owner != job->client;
		if (use->shared && (!n || objs[n - 1]->resv != use->obj->resv))
			objs[n++] = use->obj;
	}
	return n;
}

int rkmm_job_queue_locked(struct rkmm_job *job, const struct rkmm_op_data *ops,
			  struct rkmm_out_sync *outs, u32 nouts, u64 *seqno)
{
	struct drm_gem_object *few[RKMM_OPERANDS * RKMM_FEW_OPS] rkmm_uninitialized, **objs = few;
	struct rkmm_client *client = job->client;
	struct ww_acquire_ctx ctx rkmm_uninitialized;
	bool watch = false;
	u32 n;
	int ret;

	if (job->nbos > ARRAY_SIZE(few))
		objs = kvmalloc_array(job->nbos, sizeof(*objs), GFP_KERNEL_ACCOUNT);
	if (!objs)
		return -ENOMEM;
	n = rkmm_job_reservations(job, objs);
	ret = n ? drm_gem_lock_reservations(objs, n, &ctx) : 0;
	if (ret)
		goto out;
	ret = n ? rkmm_sync_implicit(job) : 0;
	if (!ret) {
		job->seqno = client->seqno + 1;
		*seqno = job->seqno;
		watch = job->ndeps;
		if (watch)
			kref_get(&job->ref);
		rkmm_fence_arm(job);
		rkmm_job_prepare(job, ops);
		rkmm_job_arm(job, n, outs, nouts);
	}
	if (n)
		drm_gem_unlock_reservations(objs, n, &ctx);
	if (watch) {
		rkmm_sync_watch(job);
		rkmm_job_put(job);
	}
out:
	if (objs != few)
		kvfree(objs);
	return ret;
}

int rkmm_job_queue(struct rkmm_job *job, const struct rkmm_op_data *ops,
		   struct rkmm_out_sync *outs, u32 nouts, u64 *seqno)
{
	struct rkmm_client *client = job->client;
	int ret = rkmm_job_publish_foreign(job);

	if (ret)
		return ret;
	ret = mutex_lock_interruptible(&client->submit_lock);
	if (ret)
		return ret;
	ret = rkmm_job_queue_locked(job, ops, outs, nouts, seqno);
	mutex_unlock(&client->submit_lock);
	return ret;
}
