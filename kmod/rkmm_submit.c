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
#include <linux/overflow.h>

#include "rkmm_bo.h"
#include "rkmm_overlap.h"
#include "rkmm_submit.h"

#define RKMM_OPERAND_ALIGN	64
#define RKMM_OP_FIRST_SIZE	offsetofend(struct drm_rkmm_op, c)

static int rkmm_submit_get_operand(struct drm_file *file, struct rkmm_temps **temps,
				   const struct drm_rkmm_operand *arg, u64 size,
				   struct rkmm_place *place)
{
	if (arg->flags & ~DRM_RKMM_OPERAND_TEMP || arg->offset % RKMM_OPERAND_ALIGN)
		return -EINVAL;
	if (arg->flags & DRM_RKMM_OPERAND_TEMP)
		return rkmm_temp_get(temps, arg, size, place);
	place->obj = drm_gem_object_lookup(file, arg->handle);
	if (!place->obj)
		return -ENOENT;
	if (arg->offset > place->obj->size || size > place->obj->size - arg->offset)
		return -EINVAL;
	place->offset = arg->offset;
	place->size = size;
	return 0;
}

/* Bytes from the first of @op->count operands to the end of the last one */
static int rkmm_submit_extend(const struct rkmm_op_data *op, u64 stride, u64 *size)
{
	u64 more;

	if (stride % RKMM_OPERAND_ALIGN)
		return -EINVAL;
	if (op->count > 1 && (check_mul_overflow(stride, (u64)op->count - 1, &more) ||
			      check_add_overflow(*size, more, size)))
		return -EINVAL;
	return 0;
}

/* C of a count: one behind the other, or rows side by side. */
static bool rkmm_submit_c_apart(const struct rkmm_op_data *op)
{
	const struct rkmm_geom *geom = &op->plan->geom;
	u64 stride = op->stride[2];

	if (rkmm_plan_ordered(op->plan))
		return op->count == 1;
	if (op->count == 1 || stride >= geom->c_bytes)
		return true;
	return geom->form == RKMM_FORM_FLAT && geom->slices == 1 &&
	       stride >= geom->np * rkmm_out_bytes(geom->types) &&
	       stride * op->count <= geom->c_pitch;
}

static bool rkmm_submit_writable(const struct rkmm_place *c)
{
	return c->temp || !to_rkmm_bo(c->obj)->read_only;
}

static int rkmm_submit_get_op(struct rkmm_client *client, struct drm_file *file,
			      struct rkmm_temps **temps, const struct drm_rkmm_op *arg,
			      struct rkmm_op_data *op)
{
	const struct drm_rkmm_operand *operands[] = {
		&arg->a, &arg->b, &arg->c, &arg->d, &arg->e,
	};
	u64 sizes[RKMM_OPERANDS];
	u32 k;
	int ret;

	if (arg->flags & ~DRM_RKMM_OP_GROUPED || arg->count > DRM_RKMM_MAX_MEMBERS)
		return -EINVAL;
	op->plan = rkmm_plan_get(client, arg->plan);
	if (!op->plan)
		return -ENOENT;
	if (READ_ONCE(op->plan->stale))
		return -ESTALE;
	op->rows = arg->rows ?: rkmm_plan_rows(op->plan);
	op->count = arg->count ?: 1;
	op->grouped = arg->flags & DRM_RKMM_OP_GROUPED;
	if (op->rows > rkmm_plan_rows(op->plan) || (op->grouped && rkmm_plan_ordered(op->plan)))
		return -EINVAL;
	if (op->rows < rkmm_plan_rows(op->plan) && rkmm_plan_whole(op->plan))
		return -EINVAL;
	op->stride[0] = arg->a_stride;
	op->stride[1] = arg->b_stride;
	op->stride[2] = arg->c_stride;

	rkmm_plan_sizes(op->plan, sizes);
	for (k = 0; k < ARRAY_SIZE(operands); k++) {
		u64 size = sizes[k];

		if (!size) {
			if (operands[k]->handle || operands[k]->flags || operands[k]->offset)
				return -EINVAL;
			continue;
		}
		ret = rkmm_submit_extend(op, k < ARRAY_SIZE(op->stride) ? op->stride[k] : 0, &size);
		if (!ret)
			ret = rkmm_submit_get_operand(file, temps, operands[k], size,
						      &op->place[k]);
		if (ret)
			return ret;
	}
	if (!rkmm_submit_c_apart(op) || !rkmm_submit_writable(&op->place[2]))
		return -EINVAL;
	if (*temps && rkmm_temps_follow(*temps, op))
		return -EINVAL;
	/* One image holds all of it. */
	if (rkmm_op_data_bytes(op) > RKMM_IMAGE_MAX_BYTES)
		return -EOPNOTSUPP;
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

#define RKMM_SPANS	4	/* A, B, C, and D that all of a count read */

/* A span of @op for each of its operands, or for each time that it runs; returns how many. */
static u32 rkmm_submit_spans(const struct rkmm_op_data *op, bool each, struct rkmm_span *spans)
{
	const struct rkmm_geom *geom = &op->plan->geom;
	bool flat = geom->form == RKMM_FORM_FLAT;
	const u64 sizes[] = { geom->a_bytes, geom->b_bytes, geom->c_bytes, op->place[3].size };
	const u32 pitches[] = { flat ? geom->a_pitch : 0, 0,
				flat && geom->slices == 1 ? geom->c_pitch : 0, 0 };
	const u32 lines[] = { geom->ka * rkmm_in_bits(geom->types) / 8, 0,
			      geom->np * rkmm_out_bytes(geom->types), 0 };
	u32 k, i, n = 0, times;

	for (k = 0; k < ARRAY_SIZE(sizes); k++) {
		const struct rkmm_place *place = &op->place[k];
		u64 stride = k < ARRAY_SIZE(op->stride) ? op->stride[k] : 0;
		bool whole = !each && op->count > 1;

		if (!rkmm_place_used(place))
			continue;
		/* what all read is there once */
		times = each && stride ? op->count : 1;
		for (i = 0; i < times; i++) {
			u64 start = place->offset + i * stride;

			spans[n++] = (struct rkmm_span){
				.owner = rkmm_place_owner(place),
				.start = start,
				.end = start + (whole ? place->size : sizes[k]),
				.pitch = whole ? 0 : pitches[k],
				.line = lines[k],
				.write = k == 2,
			};
		}
	}
	return n;
}

/*
 * First with the whole range of each operand, which is enough for most; then with
 * every operand of every repetition.
 */
static int rkmm_submit_check_group(const struct rkmm_op_data *ops, u32 nops)
{
	struct rkmm_span few[RKMM_SPANS * RKMM_FEW_OPS], *spans = few;
	u32 pass, i, n, most = nops;
	bool conflict = true;

	for (pass = 0; conflict && pass < 2; pass++) {
		if (RKMM_SPANS * most > ARRAY_SIZE(few))
			spans = kvmalloc_array(most, RKMM_SPANS * sizeof(*spans),
					       GFP_KERNEL_ACCOUNT);
		if (!spans)
			return -ENOMEM;
		for (i = 0, n = 0; i < nops; i++)
			n += rkmm_submit_spans(&ops[i], pass, spans + n);
		conflict = rkmm_spans_conflict(spans, n);
		if (spans != few)
			kvfree(spans);
		spans = few;
		for (i = 0, most = 0; i < nops; i++)
			most += ops[i].count;
		if (most == nops)
			break;
	}
	return conflict ? -EINVAL : 0;
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
			       struct drm_rkmm_submit *args, struct rkmm_temps **temps,
			       struct rkmm_op_data *ops)
{
	const struct drm_rkmm_array *array = &args->ops;
	struct drm_rkmm_op arg;
	u32 members = 0, i;
	int ret;

	for (i = 0; i < array->count; i++) {
		ret = rkmm_array_copy(array, i, &arg, sizeof(arg));
		if (!ret)
			ret = rkmm_submit_get_op(client, file, temps, &arg, &ops[i]);
		ops[i].arg = arg;
		members += ops[i].count;
		/* Only matmuls have a group, so none begins with anything else. */
		if (!ret && (members > DRM_RKMM_MAX_MEMBERS ||
			     (ops[i].grouped && (!i || rkmm_plan_ordered(ops[i - 1].plan)))))
			ret = -EINVAL;
		if (ret) {
			/* for ESTALE */
			args->seqno = i;
			drm_dbg(client->rdev->drm, "submit: operation %u: %d\n", i, ret);
			return ret;
		}
	}
	return 0;
}

/* Behind the last operation of the group that begins with @first */
static u32 rkmm_submit_group_end(const struct rkmm_op_data *ops, u32 first, u32 nops)
{
	u32 i = first + 1;

	while (i < nops && ops[i].grouped)
		i++;
	return i;
}

static bool rkmm_submit_overlap(const struct rkmm_place *x, const struct rkmm_place *y)
{
	return rkmm_place_used(x) && rkmm_place_owner(x) == rkmm_place_owner(y) &&
	       x->offset < y->offset + y->size && y->offset < x->offset + x->size;
}

/*
 * A matmul reads A and B again while it writes C: no byte of C may be another
 * operand of its group.
 */
static int rkmm_submit_check_groups(const struct rkmm_op_data *ops, u32 nops)
{
	u32 first, end;
	int ret;

	for (first = 0; first < nops; first = end) {
		const struct rkmm_place *place = ops[first].place;

		end = rkmm_submit_group_end(ops, first, nops);
		if (end == first + 1 && !rkmm_submit_overlap(&place[0], &place[2]) &&
		    !rkmm_submit_overlap(&place[1], &place[2]) &&
		    !rkmm_submit_overlap(&place[3], &place[2]) &&
		    !rkmm_submit_overlap(&place[4], &place[2]))
			continue;
		if (rkmm_plan_ordered(ops[first].plan))
			return -EINVAL;
		ret = rkmm_submit_check_group(ops + first, end - first);
		if (ret)
			return ret;
		cond_resched();
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
		if (ops[i].plan->op || ops[i].plan->geom.slices == 1)
			continue;
		for (j = rkmm_submit_group_end(ops, i, nops); j < nops; j++)
			if (rkmm_submit_overlap(&ops[j].place[0], &ops[i].place[2]) ||
			    rkmm_submit_overlap(&ops[j].place[1], &ops[i].place[2]) ||
			    rkmm_submit_overlap(&ops[j].place[3], &ops[i].place[2]) ||
			    rkmm_submit_overlap(&ops[j].place[4], &ops[i].place[2]))
				return -EINVAL;
		cond_resched();
	}
	return 0;
}

static int rkmm_submit(struct rkmm_client *client, struct drm_file *file,
		       struct drm_rkmm_submit *args)
{
	u32 nops = args->ops.count, nouts = args->out_syncs.count;
	u64 changes = rkmm_warm_changes(client);
	struct rkmm_op_data few[RKMM_FEW_OPS] = {}, *ops = few;
	struct rkmm_bound few_bound[RKMM_FEW_OPS], *bound = few_bound;
	struct rkmm_out_sync *outs = NULL;
	struct rkmm_temps *temps = NULL;
	struct rkmm_job *job;
	int ret = -ENOMEM;

	if (nops > ARRAY_SIZE(few)) {
		ops = kvcalloc(nops, sizeof(*ops), GFP_KERNEL_ACCOUNT);
		bound = kvmalloc_array(nops, sizeof(*bound), GFP_KERNEL_ACCOUNT);
	}
	job = rkmm_job_alloc(client, nops, args->cores);
	if (nouts)
		outs = kvcalloc(nouts, sizeof(*outs), GFP_KERNEL_ACCOUNT);
	if (!ops || !bound || !job || (nouts && !outs))
		goto out;
	job->hints = args->flags & RKMM_SUBMIT_HINTS;

	ret = rkmm_submit_get_ops(client, file, args, &temps, ops);
	if (!ret && temps)
		ret = rkmm_temps_place(job, temps, ops, nops);
	if (!ret)
		ret = rkmm_submit_check_groups(ops, nops);
	if (!ret)
		ret = rkmm_submit_check_finish(ops, nops);
	if (!ret)
		ret = rkmm_sync_in(job, file, &args->in_syncs);
	if (!ret)
		ret = rkmm_sync_out_get(file, &args->out_syncs, outs);
	if (ret)
		goto out;
	rkmm_job_keep_bos(job, ops);
	ret = rkmm_bind(job, ops, bound);
	if (ret)
		goto out;

	rkmm_warm_keep(job, args, ops, changes);
	ret = rkmm_job_queue(job, ops, outs, nouts, &args->seqno);
	if (!ret)
		job = NULL;
out:
	rkmm_sync_out_put(outs, outs ? nouts : 0);
	if (ops)
		rkmm_submit_put_ops(ops, nops);
	if (ops != few)
		kvfree(ops);
	if (bound != few_bound)
		kvfree(bound);
	kfree(temps);
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

	if (args->flags & ~(DRM_RKMM_SUBMIT_WAIT | RKMM_SUBMIT_HINTS) ||
	    (args->flags & RKMM_SUBMIT_HINTS) == RKMM_SUBMIT_HINTS || !args->ops.count ||
	    args->cores & ~rdev->all_cores ||
	    rkmm_submit_check_array(&args->ops, DRM_RKMM_MAX_OPS, RKMM_OP_FIRST_SIZE) ||
	    rkmm_submit_check_array(&args->in_syncs, DRM_RKMM_MAX_SYNCS,
				    sizeof(struct drm_rkmm_sync)) ||
	    rkmm_submit_check_array(&args->out_syncs, DRM_RKMM_MAX_SYNCS,
				    sizeof(struct drm_rkmm_sync))) {
		drm_dbg(drm, "submit: malformed arguments\n");
		return -EINVAL;
	}

	if (!drm_dev_enter(drm, &idx))
		return -ENODEV;
	if (unlikely(READ_ONCE(rdev->sched.dead)))
		ret = -ENODEV;
	else if (unlikely(READ_ONCE(client->banned)))
		ret = -EPERM;
	else
		ret = rkmm_warm_submit(client, args);
	if (ret > 0)
		ret = rkmm_submit(client, file, args);
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
