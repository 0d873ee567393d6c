// SPDX-License-Identifier: GPL-2.0-only
/*
 * From checked operations to images: steps, NPU addresses, programs.
 */
#include <linux/bitops.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "rkmm_bo.h"
#include "rkmm_stage.h"
#include "rkmm_step.h"
#include "rkmm_submit.h"
#include "rkmm_trace.h"

#define RKMM_OPERAND_B	1

/* NPU address of an operand's memory or, where it will be staged, of what is before its offset. */
static int rkmm_bind_place(struct rkmm_job *job, struct rkmm_window *window,
			   struct rkmm_staging *stage, u32 operand,
			   const struct rkmm_place *place, u32 *iova)
{
	u64 keep = operand == RKMM_OPERAND_B ? job->client->rdev->vm.keep : 0;
	struct rkmm_stage_part part = {
		.bo = place->temp ? NULL : to_rkmm_bo(place->obj),
		.mem = place->temp ? rkmm_arena_memory(job->arena) : NULL,
		.first = place->offset, .bytes = place->size,
	};
	int ret;

	if (!stage && part.bo)
		return rkmm_window_map(window, part.bo, keep, iova);
	if (!stage)
		return rkmm_arena_iova(job->client, job->arena, window, iova);
	ret = rkmm_stage_add(stage, window, &part, operand ? RKMM_STAGE_C : RKMM_STAGE_A, iova);
	if (!ret)
		*iova -= place->offset;
	return ret;
}

/* B, D and E never move: weights stay where they are. */
static int rkmm_bind_operands(struct rkmm_job *job, struct rkmm_staging *stage, bool lanes,
			      const struct rkmm_op_data *op, struct rkmm_bound *bound)
{
	struct rkmm_staging *stages[RKMM_OPERANDS] = { stage, NULL, lanes ? stage : NULL };
	u32 iova[RKMM_OPERANDS] = {}, k;
	int ret;

	for (k = 0; k < RKMM_OPERANDS; k++) {
		if (!rkmm_place_used(&op->place[k]))
			continue;
		ret = rkmm_bind_place(job, bound->window, stages[k], k, &op->place[k], &iova[k]);
		if (ret)
			return ret;
	}
	bound->plan = op->plan;
	bound->key = (struct rkmm_image_key){
		.plan = op->plan->uid,
		.rows = op->rows,
		.a = iova[0] + op->place[0].offset,
		.b = iova[1] + op->place[1].offset,
		.c = iova[2] + op->place[2].offset,
		.count = op->count,
		.weights = iova[1],
		.d = iova[3] + op->place[3].offset,
		.window = bound->window->index,
		.e = iova[4] + op->place[4].offset,
	};
	if (op->count > 1) {
		bound->key.a_stride = op->stride[0];
		bound->key.b_stride = op->stride[1];
		bound->key.c_stride = op->stride[2];
	}
	return 0;
}

/* What decides about steps */
static void rkmm_bind_link(struct rkmm_job *job, const struct rkmm_op_data *op,
			   struct rkmm_link *link)
{
	const struct rkmm_limits *limits = job->client->rdev->soc->limits;
	const struct rkmm_geom *geom = &op->plan->geom;
	const struct rkmm_epilogue *epi = op->plan->epi;
	const struct rkmm_member m = {
		.geom = op->plan->op ? NULL : geom, .op = op->plan->op,
		.rows = op->rows, .count = op->count,
	};
	bool ordered = rkmm_plan_ordered(op->plan);
	u64 behind = epi ? rkmm_epilogue_ns(epi) : 0;
	/* each share of rows has memory of its own */
	u64 inner = m.op ? RKMM_LANES_MAX * (u64)m.op->temp_bytes + m.op->const_bytes :
		    epi ? RKMM_LANES_MAX * epi->temp_bytes + epi->const_bytes : 0;
	u32 i, each;

	BUILD_BUG_ON(RKMM_LINK_OPERANDS != RKMM_OPERANDS);

	*link = (struct rkmm_link){
		.bytes = rkmm_op_data_bytes(op),
		.room = max(op->place[0].size, op->place[2].size) + inner + 4 * PAGE_SIZE,
		.lanes_own = ordered || op->count > 1 ? 0 : rkmm_geom_lanes(geom, op->rows),
		.lanes_most = m.op ? RKMM_LANES_MAX :
			      ordered ? geom->lanes_most :
			      min(geom->lanes_most, max(geom->mm.lanes, 1)),
		.mode = rkmm_mode_class(job->client->rdev, rkmm_plan_mode(op->plan)),
		.matmul = !ordered,
		.int8 = !m.op && rkmm_mode_of(geom->types) == RKMM_MODE_I8,
		.int8_dpu = m.op && m.op->op.precision == RKMM_PREC_I8,
		.grouped = op->grouped,
	};
	for (i = 0; i < RKMM_LANES_MAX; i++)
		link->ns[i] = behind +
			      rkmm_member_work(limits, &m, i + 1, &link->start_ns[i]);
	for (i = 1; ordered && !rkmm_plan_whole(op->plan) && i < RKMM_LANES_MAX; i++) {
		each = rkmm_share_rows(op->rows, i + 1);
		if (DIV_ROUND_UP(op->rows, each) == i + 1)
			link->rows_ns[i] = rkmm_share_ns(limits, &m, behind, each, i + 1);
	}
	for (i = 0; i < RKMM_OPERANDS; i++)
		link->reach[i] = (struct rkmm_reach){
			.owner = rkmm_place_owner(&op->place[i]),
			.start = op->place[i].offset,
			.end = op->place[i].offset + op->place[i].size,
		};
}

/* Operands of a step: where their buffers are, or where they will be staged together. */
static int rkmm_bind_step(struct rkmm_job *job, const struct rkmm_op_data *ops, u32 n,
			  const struct rkmm_link *links, struct rkmm_bound *bound)
{
	struct rkmm_staging *stage = rkmm_stage_new(job, job->nsteps, n + RKMM_VIEWS);
	bool lanes = false, placed = false, inner = false;
	int ret;
	u32 i;

	if (IS_ERR(stage))
		return PTR_ERR(stage);
	for (i = 0; i < n; i++) {
		inner |= rkmm_plan_ordered(ops[i].plan);
		placed |= rkmm_plan_ordered(ops[i].plan) || links[i].after;
		lanes |= links[i].lane || links[i].shares;
	}
	/* What is not placed and runs more than once, or with others, is shared out too. */
	if (!placed)
		lanes |= n > 1 || ops->count > 1 ||
			 rkmm_geom_lanes(&ops->plan->geom, ops->rows) > 1;
	for (i = 0; i < n; i++) {
		ret = rkmm_bind_operands(job, stage, lanes, &ops[i], &bound[i]);
		if (ret)
			return ret;
		bound[i].key.lane = links[i].lane;
		bound[i].key.after = links[i].after;
		bound[i].key.shares = links[i].shares;
	}
	/* Alone a matmul has nobody to differ from. */
	if (n == 1 && !ops->plan->op)
		bound->key.weights = 0;
	for (i = 0; i < n && stage && inner; i++) {
		bound[i].key.features = rkmm_stage_next(stage, bound->window, RKMM_STAGE_A);
		bound[i].key.outputs =
			lanes ? rkmm_stage_next(stage, bound->window, RKMM_STAGE_C) : 0;
	}
	return 0;
}

/* Behind the operands: what operations of the image keep, and read as features. */
static int rkmm_bind_stage(struct rkmm_job *job, const struct rkmm_image *image)
{
	struct rkmm_window *window = image->mem->window;
	const struct rkmm_stage_part consts = {
		.mem = image->mem, .first = image->const_at, .bytes = image->const_bytes,
	}, scratch = {
		.mem = image->scratch, .bytes = image->scratch ? image->scratch->size : 0,
	};
	struct rkmm_staging *stage = job->stages ? job->stages[job->nsteps] : NULL;
	int ret = 0;
	u32 iova;

	if (!stage)
		return 0;
	if (image->keys->features && scratch.bytes)
		ret = rkmm_stage_add(stage, window, &scratch, RKMM_STAGE_A, &iova);
	if (!ret && image->keys->features && consts.bytes)
		ret = rkmm_stage_add(stage, window, &consts, RKMM_STAGE_A, &iova);
	if (!ret && image->keys->outputs && scratch.bytes)
		ret = rkmm_stage_add(stage, window, &scratch, RKMM_STAGE_C, &iova);
	return ret ?: rkmm_stage_bind(job, job->nsteps, window);
}

/* Lane by lane, in order. With several lanes they are few. */
static void rkmm_bind_sort(struct rkmm_bound *bound, u32 n)
{
	struct rkmm_bound one;
	u32 i, k;

	for (i = 1; i < n; i++) {
		if (bound[i - 1].key.lane <= bound[i].key.lane)
			continue;
		one = bound[i];
		for (k = i; k && bound[k - 1].key.lane > one.key.lane; k--)
			bound[k] = bound[k - 1];
		bound[k] = one;
	}
}

static int rkmm_bind_steps(struct rkmm_job *job, const struct rkmm_op_data *ops,
			   struct rkmm_link *links, struct rkmm_bound *bound)
{
	u64 side = job->client->rdev->vm.stage_side;
	const struct rkmm_step_caps caps = {
		.bytes = RKMM_IMAGE_MAX_BYTES,
		.room = side ? side - RKMM_WINDOW_TAIL : U64_MAX,
		.ns = RKMM_KICK_NS,
		.lanes = hweight32(job->cores),
		.int8_chain = job->client->rdev->verdicts.need[RKMM_MODE_I8][RKMM_MODE_DPU] ==
			      RKMM_NEED_RESET,
	};
	struct rkmm_image *image;
	const char *why;
	u32 i, end;
	int ret;

	for (i = 0; i < job->nops; i = end) {
		/* Images of up to 64 MiB, and of thousands of operations */
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
		end = rkmm_step_end(&caps, links, i, job->nops, &why);
		ret = rkmm_bind_step(job, &ops[i], end - i, &links[i], &bound[i]);
		if (ret)
			return ret;
		rkmm_bind_sort(&bound[i], end - i);
		image = rkmm_image_get(job->client, &bound[i], end - i);
		if (IS_ERR(image))
			return PTR_ERR(image);
		/* An image is found by addresses, behind which staged operands may be the same. */
		if (rkmm_step_once(&links[i], end - i))
			WRITE_ONCE(image->once, true);
		trace_rkmm_step(job, i, end - i, image, why);
		job->steps[job->nsteps] = image;
		ret = rkmm_bind_stage(job, image);
		job->nsteps++;
		if (ret)
			return ret;
	}
	return 0;
}

/* The window of an operation, its buffers mapped there but for what will be staged */
static struct rkmm_window *rkmm_bind_window(struct rkmm_job *job, const struct rkmm_op_data *op,
					    struct rkmm_window *near)
{
	struct rkmm_client *client = job->client;
	bool staged = client->rdev->vm.stage_side;
	struct rkmm_demand need = { .room = rkmm_op_data_bytes(op) };
	bool temps = false;
	u32 k;

	BUILD_BUG_ON(ARRAY_SIZE(need.bos) != RKMM_OPERANDS);

	for (k = 0; k < RKMM_OPERANDS; k++) {
		temps |= op->place[k].temp;
		if (!op->place[k].obj || (staged && (k == 0 || k == 2)))
			continue;
		need.bos[need.n++] = to_rkmm_bo(op->place[k].obj);
		if (k == RKMM_OPERAND_B)
			need.weights = need.bos[need.n - 1];
	}
	if (temps)
		need.room += rkmm_arena_size(job->arena);
	return rkmm_space_place(client->space, &need, near);
}

/* The only one, or the best for each operation */
static int rkmm_bind_windows(struct rkmm_job *job, const struct rkmm_op_data *ops,
			     struct rkmm_link *links, struct rkmm_bound *bound, bool spread)
{
	struct rkmm_client *client = job->client;
	struct rkmm_window *window = client->window;
	u32 i;

	if (spread)
		window = READ_ONCE(client->near) ?: window;
	for (i = 0; i < job->nops; i++) {
		if (spread) {
			cond_resched();
			if (fatal_signal_pending(current))
				return -EINTR;
			window = rkmm_bind_window(job, &ops[i], window);
		}
		if (IS_ERR(window))
			return PTR_ERR(window);
		bound[i].window = window;
		links[i].window = window->index;
	}
	if (spread)
		WRITE_ONCE(client->near, window);
	return 0;
}

/* Windows are visited in rising order, round, from the one that is attached then. */
static u32 rkmm_bind_rank(const struct rkmm_bound *bound, u32 from)
{
	return (bound->window->index + RKMM_WINDOWS_MAX - from) % RKMM_WINDOWS_MAX;
}

/* The members of a group, which leave each other alone, window by window; @at: their numbers */
static void rkmm_bind_sort_group(const struct rkmm_bound *bound, u32 first, u32 end, u32 from,
				 u32 *at)
{
	u32 i, k = first, rank;

	for (rank = 0; rank < RKMM_WINDOWS_MAX; rank++)
		for (i = first; i < end; i++)
			if (rkmm_bind_rank(&bound[i], from) == rank)
				at[k++] = i;
}

/*
 * Fewer switches: the same operations in another order, which the caller frees; NULL where
 * they are in order.
 */
static struct rkmm_op_data *rkmm_bind_reorder(struct rkmm_job *job, const struct rkmm_op_data *ops,
					      struct rkmm_bound *bound, u32 from)
{
	struct rkmm_op_data *sorted = NULL;
	u32 first, end, i, *at;

	at = kvmalloc_array(job->nops, sizeof(*at), GFP_KERNEL);
	for (first = 0; at && first < job->nops; first = end) {
		for (end = first + 1; end < job->nops && ops[end].grouped; end++)
			;
		rkmm_bind_sort_group(bound, first, end, from, at);
		from = bound[at[end - 1]].window->index;
	}
	for (i = 0; at && i < job->nops && at[i] == i; i++)
		;
	if (at && i < job->nops)
		sorted = kvmalloc_array(job->nops, sizeof(*sorted), GFP_KERNEL_ACCOUNT);
	for (i = 0; sorted && i < job->nops; i++) {
		sorted[i] = ops[at[i]];
		sorted[i].grouped = ops[i].grouped;
	}
	kvfree(at);
	return sorted;
}

/* Operations of several windows: steps of those that are in order. Memory for that is no must. */
static int rkmm_bind_sorted(struct rkmm_job *job, const struct rkmm_op_data *ops, u32 from,
			    struct rkmm_link *links, struct rkmm_bound *bound)
{
	struct rkmm_op_data *sorted = rkmm_bind_reorder(job, ops, bound, from);
	int ret = 0;
	u32 i;

	if (!sorted)
		return rkmm_bind_steps(job, ops, links, bound);
	for (i = 0; i < job->nops; i++)
		rkmm_bind_link(job, &sorted[i], &links[i]);
	/* Everything is mapped: this finds it, each in the window where it is. */
	ret = rkmm_bind_windows(job, sorted, links, bound, true);
	if (!ret)
		ret = rkmm_bind_steps(job, sorted, links, bound);
	kvfree(sorted);
	return ret;
}

static void rkmm_bind_undo(struct rkmm_job *job)
{
	while (job->nsteps)
		rkmm_image_put(job->client, job->steps[--job->nsteps]);
	rkmm_stage_forget(job->client->rdev, job->stages, job->nops);
	job->stages = NULL;
}

/*
 * Most clients have one window, and enough room in it: nothing is asked before that is tried.
 * What has ended may still hold the room: releasing it takes longer than the rest of a submission.
 */
static int rkmm_bind_spread(struct rkmm_job *job, const struct rkmm_op_data *ops,
			    struct rkmm_link *links, struct rkmm_bound *bound)
{
	struct rkmm_client *client = job->client;
	bool spread = rkmm_space_windows(client->space) > 1, released = spread;
	struct rkmm_window *near;
	int ret;

	for (;;) {
		if (released)
			rkmm_sched_release_ended(client->rdev);
		near = READ_ONCE(client->near) ?: client->window;
		ret = rkmm_bind_windows(job, ops, links, bound, spread);
		if (!ret)
			ret = spread && job->nops > 1 ?
			      rkmm_bind_sorted(job, ops, near->index, links, bound) :
			      rkmm_bind_steps(job, ops, links, bound);
		if (ret != -ENOSPC || (released && (spread || client->rdev->vm.windows_most == 1)))
			return ret;
		rkmm_bind_undo(job);
		spread = released;
		released = true;
	}
}

int rkmm_bind(struct rkmm_job *job, const struct rkmm_op_data *ops, struct rkmm_bound *bound)
{
	struct rkmm_link few[RKMM_FEW_OPS], *links = few;
	int ret;
	u32 i;

	for (i = 0; i < job->nops; i++)
		job->cores &= ops[i].plan->cores;
	if (!job->cores)
		return -EINVAL;
	if (job->nops > ARRAY_SIZE(few))
		links = kvmalloc_array(job->nops, sizeof(*links), GFP_KERNEL_ACCOUNT);
	if (!links)
		return -ENOMEM;
	for (i = 0; i < job->nops; i++)
		rkmm_bind_link(job, &ops[i], &links[i]);
	ret = rkmm_bind_spread(job, ops, links, bound);
	if (links != few)
		kvfree(links);
	return ret;
}
