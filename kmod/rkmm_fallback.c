// SPDX-License-Identifier: GPL-2.0-only
/*
 * A matmul whose programs hung twice is run with its plan's other tiling, on the same addresses.
 *
 * The memory for those programs is there before any fence depends on it: a client has one reserve
 * for each size and window, as only one of its jobs runs at a time. What is written into it is
 * synthesised when it is needed, in the worker behind the reset, which allocates nothing.
 *
 * Steps of several operations have none: which of them hung is not known.
 */
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "rkmm_job.h"

static bool fallback = true;
module_param(fallback, bool, 0644);
MODULE_PARM_DESC(fallback,
		 "Run a matmul that hangs twice with smaller programs; memory for them is kept (default Y)");

/* No more is kept for it, and written while everybody waits */
#define RKMM_FALLBACK_MAX_BYTES	SZ_4M

/**
 * struct rkmm_fallback - memory for programs of another tiling
 * @node: in rkmm_images.fallbacks
 * @image: what the scheduler sees; its memory is larger than its programs
 * @kicks: entries that it has room for
 * @job: whose programs are in it, compared only; the worker
 */
struct rkmm_fallback {
	struct list_head node;
	struct rkmm_image *image;
	u32 kicks;
	const struct rkmm_job *job;
};

static struct rkmm_fallback *rkmm_fallback_find(struct rkmm_images *images,
						struct rkmm_window *window, u64 bytes, u64 kicks)
{
	struct rkmm_fallback *fb;

	list_for_each_entry(fb, &images->fallbacks, node)
		if (fb->image->mem->window == window && fb->image->mem->size >= bytes &&
		    fb->kicks >= kicks)
			return fb;
	return NULL;
}

static struct rkmm_fallback *rkmm_fallback_make(struct rkmm_window *window, u64 bytes, u32 kicks)
{
	struct rkmm_fallback *fb = kzalloc(sizeof(*fb), GFP_KERNEL_ACCOUNT);
	size_t room = struct_size((struct rkmm_image *)NULL, kicks, kicks);

	if (!fb)
		return NULL;
	fb->kicks = kicks;
	fb->image = kvzalloc(room + sizeof(*fb->image->keys), GFP_KERNEL_ACCOUNT);
	if (!fb->image) {
		kfree(fb);
		return NULL;
	}
	fb->image->keys = (void *)fb->image + room;
	fb->image->nkeys = 1;
	fb->image->reserve = true;
	fb->image->apart = true;
	fb->image->mem = rkmm_progmem_alloc(window, bytes);
	if (IS_ERR(fb->image->mem)) {
		kvfree(fb->image);
		kfree(fb);
		return NULL;
	}
	return fb;
}

void rkmm_fallback_reserve(struct rkmm_images *images, const struct rkmm_bound *bound, u32 n,
			   struct rkmm_image *image)
{
	const struct rkmm_plan *plan = bound->plan;
	u64 bytes, kicks;
	struct rkmm_fallback *fb;

	lockdep_assert_held(&images->lock);
	if (n > 1 || !plan->fallback.programs || rkmm_plan_ordered(plan) ||
	    bound->key.shares > 1 || !READ_ONCE(fallback))
		return;
	/* More than it will be, but a matter of two products: chains are not linked for it. */
	bytes = (rkmm_image_bytes(&plan->fallback) + PAGE_SIZE) * bound->key.count;
	kicks = (u64)plan->fallback.programs * bound->key.count;
	if (bytes > RKMM_FALLBACK_MAX_BYTES)
		return;
	fb = rkmm_fallback_find(images, bound->window, bytes, kicks);
	if (!fb) {
		/* So that few sizes serve all; without memory there is no fallback. */
		fb = rkmm_fallback_make(bound->window, roundup_pow_of_two(bytes),
					roundup_pow_of_two(kicks));
		if (!fb)
			return;
		list_add(&fb->node, &images->fallbacks);
	}
	image->fallback = fb;
	kref_get(&bound->plan->ref);
	image->plan = bound->plan;
}

void rkmm_fallback_write(struct rkmm_job *job)
{
	const struct rkmm_image *image = job->steps[job->step];
	struct rkmm_fallback *fb = image->fallback;
	struct rkmm_limits limits = *job->client->rdev->soc->limits;
	const struct rkmm_bound bound = {
		.plan = image->plan, .window = image->mem->window, .key = *image->keys,
	};
	struct rkmm_extent extent;
	struct rkmm_member one;
	struct rkmm_image *to;

	if (!fb)
		return;
	fb->job = NULL;
	to = fb->image;
	rkmm_image_expand(&bound, &one);
	one.geom = &image->plan->fallback;
	limits.light = image->light;
	limits.land = image->land;
	rkmm_image_measure(&limits, &one, 1, &extent);
	if (extent.bytes > to->mem->size || extent.kicks > fb->kicks)
		return;
	*to->keys = *image->keys;
	to->light = image->light;
	to->land = image->land;
	to->k = image->k;
	to->n = image->n;
	to->mode = image->mode;
	to->tasks = extent.tasks;
	to->nkicks = extent.kicks;
	to->program_bytes = extent.bytes;
	rkmm_image_emit(&limits, &one, 1, to->mem->iova, to->mem->vaddr, to->kicks);
	rkmm_image_lanes(to);
	fb->job = job;
}

bool rkmm_fallback_use(struct rkmm_job *job)
{
	struct rkmm_image *image = job->steps[job->step];
	struct rkmm_fallback *fb = image->fallback;

	/* Another core of the job was here before. */
	if (image->reserve)
		return true;
	if (!fb || fb->job != job)
		return false;
	/* What is kept belongs to other jobs too; it has few steps. */
	if (job->warm && job->steps != job->few_steps) {
		memcpy(job->few_steps, job->steps, job->nsteps * sizeof(*job->steps));
		job->steps = job->few_steps;
	}
	rkmm_fallback_put_back(job);
	job->fallen = image;
	job->fallen_step = job->step;
	job->steps[job->step] = fb->image;
	return true;
}

void rkmm_fallback_put_back(struct rkmm_job *job)
{
	if (job->fallen)
		job->steps[job->fallen_step] = job->fallen;
	job->fallen = NULL;
}

void rkmm_fallback_fini(struct rkmm_images *images)
{
	struct rkmm_fallback *fb, *next;

	list_for_each_entry_safe(fb, next, &images->fallbacks, node) {
		rkmm_progmem_free(fb->image->mem);
		kvfree(fb->image);
		kfree(fb);
	}
}
