// SPDX-License-Identifier: GPL-2.0-only
/*
 * SUBMIT: from the ioctl to a queued job.
 *
 * Everything that can fail or sleep happens before the fence is armed: lookups,
 * range checks, mapping, program images, cache maintenance, room for fences.
 * From arming to queueing nothing is allocated (annotated for lockdep).
 *
 * Lock order: rkmm_client.submit_lock > dma_resv > rkmm_bo.lock > rkmm_vm.lock.
 */
#include <drm/drm_drv.h>
#include <drm/drm_gem.h>
#include <drm/drm_print.h>
#include <drm/drm_syncobj.h>
#include <linux/dma-fence-chain.h>
#include <linux/dma-resv.h>
#include <linux/sort.h>
#include <linux/uaccess.h>

#include "rkmm_bo.h"
#include "rkmm_drm.h"
#include "rkmm_job.h"
#include "rkmm_trace.h"

#define RKMM_OPERAND_ALIGN	64
/* Up to so many operations need no memory but their job and fence. */
#define RKMM_FEW_OPS		2

/* An operand resolved */
struct rkmm_place {
	struct drm_gem_object *obj;
	u64 offset;
	u64 size;
};

/* One operation while the job is built */
struct rkmm_op_data {
	struct rkmm_plan *plan;
	u32 rows;
	struct rkmm_place place[3];	/* A, B, C */
};

/* Where the job's fence goes */
struct rkmm_out_sync {
	struct drm_syncobj *syncobj;
	struct dma_fence_chain *chain;
	u64 point;
};

static void rkmm_job_free(struct kref *ref)
{
	struct rkmm_job *job = container_of(ref, struct rkmm_job, ref);
	struct rkmm_client *client = job->client;
	u32 i;

	for (i = 0; i < job->nsteps; i++)
		if (job->steps[i])
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

static int rkmm_submit_get_operand(struct drm_file *file, const struct drm_rkmm_operand *arg,
				   u64 size, struct rkmm_place *place)
{
	if (arg->pad || arg->offset % RKMM_OPERAND_ALIGN)
		return -EINVAL;
	place->obj = drm_gem_object_lookup(file, arg->handle);
	if (!place->obj)
		return -ENOENT;
	if (arg->offset > place->obj->size || size > place->obj->size - arg->offset)
		return -EINVAL;
	place->offset = arg->offset;
	place->size = size;
	return 0;
}

static bool rkmm_submit_overlap(const struct rkmm_place *x, const struct rkmm_place *y)
{
	return x->obj == y->obj && x->offset < y->offset + y->size &&
	       y->offset < x->offset + x->size;
}

static int rkmm_submit_get_op(struct rkmm_client *client, struct drm_file *file,
			      const struct drm_rkmm_op *arg, struct rkmm_op_data *op)
{
	const struct rkmm_geom *geom;
	int ret;

	if (arg->flags || arg->pad)
		return -EINVAL;
	op->plan = rkmm_plan_get(client, arg->plan);
	if (!op->plan)
		return -ENOENT;
	geom = &op->plan->geom;
	op->rows = arg->rows ?: geom->mm.m;
	if (op->rows > geom->mm.m)
		return -EINVAL;

	ret = rkmm_submit_get_operand(file, &arg->a, geom->a_bytes, &op->place[0]);
	if (!ret)
		ret = rkmm_submit_get_operand(file, &arg->b, geom->b_bytes, &op->place[1]);
	if (!ret)
		ret = rkmm_submit_get_operand(file, &arg->c, geom->c_bytes, &op->place[2]);
	if (ret)
		return ret;

	/* A matmul reads A and B again while it writes C: none may be shared. */
	if (rkmm_submit_overlap(&op->place[0], &op->place[2]) ||
	    rkmm_submit_overlap(&op->place[1], &op->place[2]))
		return -EINVAL;
	if (to_rkmm_bo(op->place[2].obj)->read_only)
		return -EINVAL;
	return 0;
}

static void rkmm_submit_put_ops(struct rkmm_op_data *ops, u32 nops)
{
	u32 i, k;

	for (i = 0; i < nops; i++) {
		for (k = 0; k < ARRAY_SIZE(ops[i].place); k++)
			if (ops[i].place[k].obj)
				drm_gem_object_put(ops[i].place[k].obj);
		if (ops[i].plan)
			rkmm_plan_put(ops[i].plan);
	}
}

static int rkmm_submit_check_array(const struct drm_rkmm_array *array, u32 max, size_t min_stride)
{
	if (array->count > max)
		return -EINVAL;
	/* The stride bounds what is read; kernels that know less refuse non-zero tails. */
	if (array->count && (array->stride < min_stride || array->stride > PAGE_SIZE ||
			     array->stride % 8))
		return -EINVAL;
	if (!array->count && array->array)
		return -EINVAL;
	return 0;
}

static int rkmm_submit_copy(const struct drm_rkmm_array *array, u32 i, void *dst, size_t size)
{
	void __user *src = u64_to_user_ptr(array->array) + (u64)i * array->stride;

	return copy_struct_from_user(dst, size, src, array->stride);
}

static int rkmm_submit_get_ops(struct rkmm_client *client, struct drm_file *file,
			       const struct drm_rkmm_array *array, struct rkmm_op_data *ops)
{
	struct drm_rkmm_op arg;
	int ret;
	u32 i;

	for (i = 0; i < array->count; i++) {
		ret = rkmm_submit_copy(array, i, &arg, sizeof(arg));
		if (!ret)
			ret = rkmm_submit_get_op(client, file, &arg, &ops[i]);
		if (ret) {
			drm_dbg(client->rdev->drm, "submit: operation %u: %d\n", i, ret);
			return ret;
		}
	}
	return 0;
}

/*
 * C of an operation that the CPU must finish holds partial sums until then: no
 * later operation may take them for a matrix. Nothing else in a submission
 * costs time by pairs of operations.
 */
static int rkmm_submit_check_finish(const struct rkmm_op_data *ops, u32 nops)
{
	u32 i, j;

	for (i = 0; i < nops; i++) {
		if (ops[i].plan->geom.slices == 1)
			continue;
		for (j = i + 1; j < nops; j++)
			if (rkmm_submit_overlap(&ops[j].place[0], &ops[i].place[2]) ||
			    rkmm_submit_overlap(&ops[j].place[1], &ops[i].place[2]))
				return -EINVAL;
		cond_resched();
	}
	return 0;
}

static int rkmm_submit_cmp_bo(const void *x, const void *y)
{
	const struct rkmm_bo_use *a = x, *b = y;

	/* Imports may share a reservation object: keep those together. */
	if (a->obj->resv != b->obj->resv)
		return a->obj->resv < b->obj->resv ? -1 : 1;
	return a->obj < b->obj ? -1 : a->obj > b->obj;
}

/* sort() costs hundreds of instructions before it compares anything. */
static void rkmm_submit_sort_bos(struct rkmm_bo_use *bos, u32 n)
{
	struct rkmm_bo_use use;
	u32 i, k;

	if (n > 3 * RKMM_FEW_OPS) {
		sort(bos, n, sizeof(*bos), rkmm_submit_cmp_bo, NULL);
		return;
	}
	for (i = 1; i < n; i++) {
		use = bos[i];
		for (k = i; k && rkmm_submit_cmp_bo(&bos[k - 1], &use) > 0; k--)
			bos[k] = bos[k - 1];
		bos[k] = use;
	}
}

/* The set of buffers of all operations, each once, references taken. */
static void rkmm_submit_collect_bos(struct rkmm_job *job, const struct rkmm_op_data *ops)
{
	struct rkmm_bo_use *bos = job->bos;
	u32 i, k, n = 0;

	for (i = 0; i < job->nsteps; i++)
		for (k = 0; k < 3; k++)
			bos[n++] = (struct rkmm_bo_use){ ops[i].place[k].obj, k == 2 };
	rkmm_submit_sort_bos(bos, n);

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

/* Map and synthesise. */
static int rkmm_submit_bind(struct rkmm_job *job, const struct rkmm_op_data *ops)
{
	struct rkmm_client *client = job->client;
	u32 iova[3], i, k;
	int ret;

	for (i = 0; i < job->nsteps; i++) {
		const struct rkmm_place *place = ops[i].place;
		struct rkmm_image *image;

		for (k = 0; k < 3; k++) {
			ret = rkmm_window_map(job->window, to_rkmm_bo(place[k].obj), &iova[k]);
			if (ret)
				return ret;
			iova[k] += place[k].offset;
		}
		image = rkmm_image_get(client, ops[i].plan, ops[i].rows, iova[0], iova[1], iova[2]);
		if (IS_ERR(image))
			return PTR_ERR(image);
		job->steps[i] = image;
		job->cores &= ops[i].plan->cores;
	}
	return job->cores ? 0 : -EINVAL;
}

/*
 * Clean the caches: after this the operations are ready to run. Reservations locked,
 * so that a CPU access either begins before this or sees the job's fence.
 */
static void rkmm_submit_prepare(struct rkmm_job *job, const struct rkmm_op_data *ops)
{
	u32 i, k;

	for (i = 0; i < job->nsteps; i++) {
		const struct rkmm_place *place = ops[i].place;

		for (k = 0; k < ARRAY_SIZE(ops[i].place); k++)
			job->client->synced += rkmm_bo_prepare(to_rkmm_bo(place[k].obj),
							       place[k].offset, place[k].size,
							       k == 2);
	}
}

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
static int rkmm_submit_add_dep(struct rkmm_job *job, struct dma_fence *fence, bool explicit)
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

static int rkmm_submit_in_syncs(struct rkmm_job *job, struct drm_file *file,
				const struct drm_rkmm_array *array)
{
	struct drm_rkmm_sync arg;
	struct dma_fence *fence;
	int ret;
	u32 i;

	for (i = 0; i < array->count; i++) {
		ret = rkmm_submit_copy(array, i, &arg, sizeof(arg));
		if (ret)
			return ret;
		if (arg.flags)
			return -EINVAL;
		ret = drm_syncobj_find_fence(file, arg.handle, arg.point, 0, &fence);
		if (ret)
			return ret;
		ret = rkmm_submit_add_dep(job, fence, true);
		if (ret)
			return ret;
	}
	return 0;
}

static void rkmm_submit_put_out_syncs(struct rkmm_out_sync *outs, u32 nouts)
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

static int rkmm_submit_get_out_syncs(struct drm_file *file, const struct drm_rkmm_array *array,
				     struct rkmm_out_sync *outs)
{
	struct drm_rkmm_sync arg;
	int ret;
	u32 i;

	for (i = 0; i < array->count; i++) {
		ret = rkmm_submit_copy(array, i, &arg, sizeof(arg));
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

static void rkmm_submit_signal_outs(struct rkmm_out_sync *outs, u32 nouts, struct dma_fence *fence)
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

/* Implicit fences: wait for conflicting use by others. Reservations locked. */
static int rkmm_submit_implicit(struct rkmm_job *job)
{
	struct dma_resv_iter cursor;
	struct dma_fence *fence;
	int ret;
	u32 i;

	for (i = 0; i < job->nbos; i++) {
		struct dma_resv *resv = job->bos[i].obj->resv;

		dma_resv_for_each_fence(&cursor, resv, dma_resv_usage_rw(job->bos[i].write),
					fence) {
			ret = rkmm_submit_add_dep(job, dma_fence_get(fence), false);
			if (ret)
				return ret;
		}
		ret = dma_resv_reserve_fences(resv, 1);
		if (ret)
			return ret;
	}
	return 0;
}

static void rkmm_submit_dep_cb(struct dma_fence *fence, struct dma_fence_cb *cb)
{
	struct rkmm_dep *dep = container_of(cb, struct rkmm_dep, cb);

	rkmm_sched_dep_done(dep->job, rkmm_dep_error(dep));
}

/* From here the fence exists for others and will signal. Nothing below allocates. */
static void rkmm_submit_arm(struct rkmm_job *job, struct rkmm_out_sync *outs, u32 nouts)
{
	struct rkmm_client *client = job->client;
	bool cookie = dma_fence_begin_signalling();
	u32 i;

	job->seqno = ++client->seqno;
	rkmm_fence_arm(job->fence, client->fence_context, job->seqno);
	for (i = 0; i < job->nbos; i++)
		dma_resv_add_fence(job->bos[i].obj->resv, job->fence,
				   job->bos[i].write ? DMA_RESV_USAGE_WRITE : DMA_RESV_USAGE_READ);
	rkmm_submit_signal_outs(outs, nouts, job->fence);

	atomic_set(&job->waiting, 1 + job->ndeps);
	trace_rkmm_job_submit(job);
	rkmm_sched_push(job);
	dma_fence_end_signalling(cookie);
}

/*
 * After the push, so that a callback always finds the job queued. The caller
 * holds a reference to the job.
 */
static void rkmm_submit_watch_deps(struct rkmm_job *job)
{
	u32 i;

	for (i = 0; i < job->ndeps; i++)
		if (dma_fence_add_callback(job->deps[i].fence, &job->deps[i].cb,
					   rkmm_submit_dep_cb))
			rkmm_sched_dep_done(job, rkmm_dep_error(&job->deps[i]));
}

static int rkmm_submit_queue(struct rkmm_job *job, const struct rkmm_op_data *ops,
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
	ret = rkmm_submit_implicit(job);
	if (!ret) {
		rkmm_submit_prepare(job, ops);
		rkmm_submit_arm(job, outs, nouts);
	}
	drm_gem_unlock_reservations(objs, n, &ctx);
	if (!ret)
		rkmm_submit_watch_deps(job);
out_unlock:
	mutex_unlock(&client->submit_lock);
out_free:
	if (objs != few)
		kvfree(objs);
	return ret;
}

static struct rkmm_job *rkmm_job_alloc(struct rkmm_client *client, u32 nops, u32 cores)
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
	job->nsteps = nops;
	job->cores = cores ?: client->rdev->all_cores;
	return job;
}

static int rkmm_submit(struct rkmm_client *client, struct drm_file *file,
		       struct drm_rkmm_submit *args)
{
	u32 nops = args->ops.count, nouts = args->out_syncs.count;
	struct rkmm_op_data few[RKMM_FEW_OPS] = {}, *ops = few;
	struct rkmm_out_sync *outs = NULL;
	struct rkmm_job *job;
	int ret = -ENOMEM;

	if (nops > ARRAY_SIZE(few))
		ops = kvcalloc(nops, sizeof(*ops), GFP_KERNEL_ACCOUNT);
	job = rkmm_job_alloc(client, nops, args->cores);
	if (nouts)
		outs = kvcalloc(nouts, sizeof(*outs), GFP_KERNEL_ACCOUNT);
	if (!ops || !job || (nouts && !outs))
		goto out;

	ret = rkmm_submit_get_ops(client, file, &args->ops, ops);
	if (!ret)
		ret = rkmm_submit_check_finish(ops, nops);
	if (!ret)
		ret = rkmm_submit_in_syncs(job, file, &args->in_syncs);
	if (!ret)
		ret = rkmm_submit_get_out_syncs(file, &args->out_syncs, outs);
	if (ret)
		goto out;
	rkmm_submit_collect_bos(job, ops);
	ret = rkmm_submit_bind(job, ops);
	if (ret)
		goto out;

	/* The scheduler's reference; dropped when the job has ended. */
	kref_get(&job->ref);
	ret = rkmm_submit_queue(job, ops, outs, nouts);
	if (ret)
		kref_put(&job->ref, rkmm_job_free);
	else
		args->seqno = job->seqno;
out:
	rkmm_submit_put_out_syncs(outs, outs ? nouts : 0);
	if (ops)
		rkmm_submit_put_ops(ops, nops);
	if (ops != few)
		kvfree(ops);
	if (job)
		rkmm_job_put(job);
	return ret;
}

int rkmm_ioctl_submit(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct rkmm_client *client = file->driver_priv;
	struct rkmm_device *rdev = client->rdev;
	struct drm_rkmm_submit *args = data;
	int ret, idx;

	if (args->flags & ~DRM_RKMM_SUBMIT_WAIT || !args->ops.count ||
	    args->cores & ~rdev->all_cores ||
	    rkmm_submit_check_array(&args->ops, DRM_RKMM_MAX_OPS, sizeof(struct drm_rkmm_op)) ||
	    rkmm_submit_check_array(&args->in_syncs, DRM_RKMM_MAX_SYNCS,
				    sizeof(struct drm_rkmm_sync)) ||
	    rkmm_submit_check_array(&args->out_syncs, DRM_RKMM_MAX_SYNCS,
				    sizeof(struct drm_rkmm_sync))) {
		drm_dbg(drm, "submit: malformed arguments\n");
		return -EINVAL;
	}

	if (!drm_dev_enter(drm, &idx))
		return -ENODEV;
	ret = READ_ONCE(rdev->sched.dead) ? -ENODEV : rkmm_submit(client, file, args);
	drm_dev_exit(idx);
	if (ret) {
		drm_dbg(drm, "submit: %d\n", ret);
		return ret == -ERESTARTSYS ? -EINTR : ret;
	}

	args->wait_status = 0;
	args->result = 0;
	if (args->flags & DRM_RKMM_SUBMIT_WAIT)
		args->wait_status = rkmm_wait_seqno(client, args->seqno, args->deadline_ns,
						    &args->result);
	return 0;
}
