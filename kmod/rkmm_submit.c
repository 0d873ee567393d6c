// SPDX-License-Identifier: GPL-2.0-only
/*
 * SUBMIT: from the ioctl to a queued job.
 *
 * Everything that can fail or sleep happens before the fence is armed: lookups,
 * range checks, mapping, program images, cache maintenance, room for fences.
 */
#include <drm/drm_drv.h>
#include <drm/drm_gem.h>
#include <drm/drm_print.h>

#include "rkmm_bo.h"
#include "rkmm_submit.h"

#define RKMM_OPERAND_ALIGN	64

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

static int rkmm_submit_get_ops(struct rkmm_client *client, struct drm_file *file,
			       const struct drm_rkmm_array *array, struct rkmm_op_data *ops)
{
	struct drm_rkmm_op arg;
	int ret;
	u32 i;

	for (i = 0; i < array->count; i++) {
		ret = rkmm_array_copy(array, i, &arg, sizeof(arg));
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
		ret = rkmm_sync_in(job, file, &args->in_syncs);
	if (!ret)
		ret = rkmm_sync_out_get(file, &args->out_syncs, outs);
	if (ret)
		goto out;
	rkmm_job_keep_bos(job, ops);
	ret = rkmm_submit_bind(job, ops);
	if (ret)
		goto out;

	/* The scheduler's reference; dropped when the job has ended. */
	kref_get(&job->ref);
	ret = rkmm_job_queue(job, ops, outs, nouts);
	if (ret)
		rkmm_job_put(job);
	else
		args->seqno = job->seqno;
out:
	rkmm_sync_out_put(outs, outs ? nouts : 0);
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
