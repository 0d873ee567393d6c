// SPDX-License-Identifier: GPL-2.0-only
#include <drm/drm_print.h>
#include <linux/dma-fence.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "compat/rkmm_compat.h"
#include "rkmm_bo.h"
#include "rkmm_job.h"
#include "rkmm_stage.h"

/* Of both sides together; the most that is taken from a window. */
#define RKMM_STAGE_BYTES	SZ_1G
/* Page tables of IOMMUs cover a multiple of this (the chip's: 1024 entries of a page). */
#define RKMM_STAGE_STEP		SZ_4M

static char *feature = "auto";
module_param(feature, charp, 0444);
MODULE_PARM_DESC(feature,
		 "Addresses of A, and of C on several cores: fixed (pages are mapped at one address), direct (where the buffer is), or auto: fixed on silicon (default)");

int rkmm_stage_init(struct rkmm_device *rdev)
{
	struct rkmm_vm *vm = &rdev->vm;
	bool fixed;

	mutex_init(&vm->stage_lock);
	if (sysfs_streq(feature, "fixed"))
		fixed = true;
	else if (sysfs_streq(feature, "auto"))
		fixed = !rdev->soft && !rdev->soc->feature_free;
	else if (sysfs_streq(feature, "direct"))
		fixed = false;
	else
		return dev_err_probe(rdev->dev, -EINVAL,
				     "feature=%s: must be auto, fixed or direct\n", feature);
	if (!fixed)
		return 0;
	/* A quarter of a small window. */
	vm->stage_side = round_down(min_t(u64, RKMM_STAGE_BYTES, vm->bytes / 4) / 2, PAGE_SIZE);
	vm->largest -= 2 * vm->stage_side;
	return 0;
}

static u64 rkmm_stage_start(const struct rkmm_vm *vm, u32 side)
{
	return RKMM_WINDOW_START + side * vm->stage_side;
}

int rkmm_stage_open(struct rkmm_window *window)
{
	struct rkmm_vm *vm = &window->rdev->vm;

	if (!vm->stage_side)
		return 0;
	window->stage_mm.start = rkmm_stage_start(vm, 0);
	window->stage_mm.size = RKMM_STAGE_SIDES * vm->stage_side;
	return drm_mm_reserve_node(&window->mm, &window->stage_mm);
}

/* ---- building ------------------------------------------------------------- */

struct rkmm_staging *rkmm_stage_alloc(u32 room)
{
	struct rkmm_staging *stage;

	stage = kvzalloc(struct_size(stage, parts, RKMM_STAGE_SIDES * room), GFP_KERNEL_ACCOUNT);
	if (!stage)
		return NULL;
	kref_init(&stage->ref);
	stage->room = room;
	return stage;
}

struct rkmm_staging *rkmm_stage_new(struct rkmm_job *job, u32 step, u32 room)
{
	struct rkmm_staging *stage;

	if (!job->client->rdev->vm.stage_side)
		return NULL;
	if (!job->stages)
		job->stages = kvcalloc(job->nops, sizeof(*job->stages), GFP_KERNEL_ACCOUNT);
	if (!job->stages)
		return ERR_PTR(-ENOMEM);
	stage = rkmm_stage_alloc(room);
	if (!stage)
		return ERR_PTR(-ENOMEM);
	job->stages[step] = stage;
	return stage;
}

void rkmm_stage_get(struct rkmm_staging *stage)
{
	kref_get(&stage->ref);
}

static void rkmm_stage_free(struct kref *ref)
{
	kvfree(container_of(ref, struct rkmm_staging, ref));
}

void rkmm_stage_put(struct rkmm_staging *stage)
{
	if (stage)
		kref_put(&stage->ref, rkmm_stage_free);
}

static struct rkmm_stage_part *rkmm_stage_parts(struct rkmm_staging *stage, u32 side)
{
	return stage->parts + side * stage->room;
}

u32 rkmm_stage_next(const struct rkmm_staging *stage, const struct rkmm_window *window,
		    enum rkmm_stage_side side)
{
	return rkmm_stage_start(&window->rdev->vm, side) + stage->bytes[side];
}

int rkmm_stage_add(struct rkmm_staging *stage, struct rkmm_window *window,
		   const struct rkmm_stage_part *what, enum rkmm_stage_side side, u32 *iova)
{
	struct rkmm_vm *vm = &window->rdev->vm;
	u64 first = round_down(what->first, PAGE_SIZE);
	u64 end = PAGE_ALIGN(what->first + what->bytes);
	struct rkmm_stage_part *part = rkmm_stage_parts(stage, side) + stage->n[side];
	u64 more = end - first;
	bool join;

	/* Operands side by side in one buffer stay so: rows of a matrix share their pages. */
	join = stage->n[side] && part[-1].bo == what->bo && part[-1].mem == what->mem &&
	       first >= part[-1].first && first <= part[-1].first + part[-1].bytes;
	if (join) {
		part--;
		more = end - min(end, part->first + part->bytes);
	}
	if (more > vm->stage_side - RKMM_WINDOW_TAIL - stage->bytes[side]) {
		drm_dbg(window->rdev->drm, "%llu bytes do not fit into the range for %s\n",
			stage->bytes[side] + more, side == RKMM_STAGE_A ? "A" : "C");
		return -ENOSPC;
	}
	if (!join) {
		stage->n[side]++;
		part->bo = what->bo;
		part->mem = what->mem;
		part->first = first;
		part->at = rkmm_stage_next(stage, window, side);
	}
	part->bytes += more;
	stage->bytes[side] += more;
	*iova = part->at + (what->first - part->first);
	return part->bo ? rkmm_bo_pin(part->bo) : 0;
}

static bool rkmm_stage_same_side(struct rkmm_staging *a, struct rkmm_staging *b, u32 side)
{
	return a->n[side] == b->n[side] &&
	       !memcmp(rkmm_stage_parts(a, side), rkmm_stage_parts(b, side),
		       a->n[side] * sizeof(*a->parts));
}

/*
 * The worker that maps may not allocate. Page tables stay when what they map goes
 * (the chip's IOMMU driver frees them with the domain): map once and unmap again.
 * Nothing is ever staged beyond what is ready.
 */
static int rkmm_stage_grow(struct rkmm_window *window, u32 side, u64 bytes)
{
	struct rkmm_vm *vm = &window->rdev->vm;
	u64 start = rkmm_stage_start(vm, side);
	u64 from = window->stage_ready[side], to = from;
	int ret = 0;

	lockdep_assert_held(&vm->lock);
	if (!window->domain)
		return -ENODEV;
	bytes = min(round_up(bytes, RKMM_STAGE_STEP), vm->stage_side);
	while (to < bytes && !ret) {
		ret = rkmm_iommu_map(window->domain, start + to, vm->zero_dma, PAGE_SIZE,
				     IOMMU_READ);
		if (!ret)
			to += PAGE_SIZE;
		if (!(to % RKMM_STAGE_STEP))
			cond_resched();
	}
	if (to > from)
		iommu_unmap(window->domain, start + from, to - from);
	if (!ret)
		window->stage_ready[side] = to;
	return ret;
}

int rkmm_stage_reserve(struct rkmm_window *window, const struct rkmm_staging *stage)
{
	struct rkmm_vm *vm = &window->rdev->vm;
	int ret = 0;
	u32 i;

	for (i = 0; i < RKMM_STAGE_SIDES && !ret; i++) {
		u64 need = stage->n[i] ? stage->bytes[i] + PAGE_SIZE : 0;

		/* Only ever grows. */
		if (READ_ONCE(window->stage_ready[i]) >= need)
			continue;
		mutex_lock(&vm->lock);
		if (window->stage_ready[i] < need)
			ret = rkmm_stage_grow(window, i, need);
		mutex_unlock(&vm->lock);
	}
	return ret;
}

/* The client's last stage, with a reference, or NULL */
static struct rkmm_staging *rkmm_stage_last(struct rkmm_client *client)
{
	struct rkmm_staging *last;

	spin_lock(&client->stage_lock);
	last = client->stage;
	if (last)
		rkmm_stage_get(last);
	spin_unlock(&client->stage_lock);
	return last;
}

int rkmm_stage_bind(struct rkmm_job *job, u32 step, struct rkmm_window *window)
{
	struct rkmm_client *client = job->client;
	struct rkmm_staging *stage, *last;
	int ret;

	if (!job->stages)
		return 0;
	stage = job->stages[step];
	ret = rkmm_stage_reserve(window, stage);
	if (ret)
		return ret;
	/* One stage for equal ones: the scheduler compares pointers. */
	last = rkmm_stage_last(client);
	if (last && rkmm_stage_same_side(last, stage, RKMM_STAGE_A) &&
	    rkmm_stage_same_side(last, stage, RKMM_STAGE_C)) {
		job->stages[step] = last;
		rkmm_stage_put(stage);
		return 0;
	}
	rkmm_stage_put(last);

	rkmm_stage_get(stage);
	spin_lock(&client->stage_lock);
	last = client->stage;
	client->stage = stage;
	spin_unlock(&client->stage_lock);
	rkmm_stage_put(last);
	return 0;
}

/* ---- staging -------------------------------------------------------------- */

static int rkmm_stage_map_mem(struct rkmm_window *window, const struct rkmm_stage_part *part,
			      int prot, u64 *at)
{
	u64 start = 0, end = part->first + part->bytes, from, to;
	struct scatterlist *sg;
	int ret = 0, i;

	for_each_sgtable_dma_sg(&part->mem->sgt, sg, i) {
		from = max(start, part->first);
		to = min(start + sg_dma_len(sg), end);
		if (from < to)
			ret = rkmm_iommu_map_atomic(window->domain, *at,
						    sg_dma_address(sg) + (from - start), to - from,
						    prot);
		if (ret)
			break;
		if (from < to)
			*at += to - from;
		start += sg_dma_len(sg);
	}
	return ret;
}

static int rkmm_stage_map_part(struct rkmm_window *window, const struct rkmm_stage_part *part,
			       int prot, u64 *at)
{
	const struct rkmm_bo *bo = part->bo;
	u64 offset = part->first, end = part->first + part->bytes;
	u32 lo = 0, hi;
	int ret = 0;

	if (part->mem)
		return rkmm_stage_map_mem(window, part, prot, at);
	hi = bo->nsegments;
	while (hi - lo > 1) {
		u32 mid = lo + (hi - lo) / 2;

		if (bo->segments[mid].start <= offset)
			lo = mid;
		else
			hi = mid;
	}
	for (; offset < end && !ret; lo++) {
		const struct rkmm_segment *seg = &bo->segments[lo];
		u64 stop = lo + 1 < bo->nsegments ? min(end, seg[1].start) : end;

		ret = rkmm_iommu_map_atomic(window->domain, *at, seg->addr + (offset - seg->start),
					    stop - offset, prot);
		if (ret)
			break;
		*at += stop - offset;
		offset = stop;
	}
	return ret;
}

static void rkmm_stage_unmap(struct rkmm_window *window, u32 side, u64 end)
{
	u64 start = rkmm_stage_start(&window->rdev->vm, side);

	if (end > start)
		iommu_unmap(window->domain, start, end - start);
}

static u64 rkmm_stage_end(struct rkmm_window *window, const struct rkmm_staging *stage, u32 side)
{
	return rkmm_stage_start(&window->rdev->vm, side) + stage->bytes[side] + PAGE_SIZE;
}

static int rkmm_stage_map(struct rkmm_window *window, struct rkmm_staging *stage, u32 side)
{
	struct rkmm_stage_part *parts = rkmm_stage_parts(stage, side);
	int prot = side == RKMM_STAGE_A ? IOMMU_READ : IOMMU_READ | IOMMU_WRITE;
	struct rkmm_vm *vm = &window->rdev->vm;
	u64 at = rkmm_stage_start(vm, side);
	int ret = 0;
	u32 i;

	if (!stage->n[side])
		return 0;
	for (i = 0; i < stage->n[side] && !ret; i++)
		ret = rkmm_stage_map_part(window, &parts[i], prot, &at);
	/* The hardware reads a few lines past the end (hw 02 §3.4); behind that is a hole. */
	if (!ret)
		ret = rkmm_iommu_map_atomic(window->domain, at, vm->zero_dma, PAGE_SIZE,
					    IOMMU_READ);
	if (ret)
		rkmm_stage_unmap(window, side, at);
	return ret;
}

static void rkmm_stage_count(struct rkmm_staging *stage, int n)
{
	struct rkmm_stage_part *part;
	u32 side, i;

	for (side = 0; side < RKMM_STAGE_SIDES; side++) {
		for (i = 0; i < stage->n[side]; i++) {
			part = &rkmm_stage_parts(stage, side)[i];
			if (part->bo)
				part->bo->staged += n;
			else
				part->mem->staged += n;
		}
	}
}

/* For the scheduler; stage_lock held. Return: what was staged before. */
static struct rkmm_staging *rkmm_stage_set(struct rkmm_window *window, struct rkmm_staging *stage)
{
	struct rkmm_sched *sched = &window->rdev->sched;
	struct rkmm_staging *old;
	unsigned long flags;

	lockdep_assert_held(&window->rdev->vm.stage_lock);
	spin_lock_irqsave(&sched->lock, flags);
	old = window->staged;
	window->staged = stage;
	spin_unlock_irqrestore(&sched->lock, flags);
	return old;
}

/* Unmapped before the count says so: that is all that the freeing of a buffer looks at. */
static void rkmm_stage_clear(struct rkmm_window *window)
{
	struct rkmm_staging *old = rkmm_stage_set(window, NULL);
	u32 i;

	if (!old)
		return;
	for (i = 0; i < RKMM_STAGE_SIDES; i++)
		if (old->n[i])
			rkmm_stage_unmap(window, i, rkmm_stage_end(window, old, i));
	rkmm_stage_count(old, -1);
	rkmm_stage_put(old);
}

int rkmm_stage_switch(struct rkmm_window *window, struct rkmm_staging *stage)
{
	struct rkmm_vm *vm = &window->rdev->vm;
	bool cookie = dma_fence_begin_signalling();
	bool mapped[RKMM_STAGE_SIDES] = {};
	struct rkmm_staging *old;
	int ret = 0;
	u32 i;

	mutex_lock(&vm->stage_lock);
	old = rkmm_stage_set(window, NULL);
	for (i = 0; i < RKMM_STAGE_SIDES && old; i++) {
		mapped[i] = rkmm_stage_same_side(old, stage, i);
		if (!mapped[i] && old->n[i])
			rkmm_stage_unmap(window, i, rkmm_stage_end(window, old, i));
	}
	if (!window->domain)
		ret = -ENODEV;
	for (i = 0; i < RKMM_STAGE_SIDES && !ret; i++) {
		if (mapped[i])
			continue;
		ret = rkmm_stage_map(window, stage, i);
		mapped[i] = !ret;
	}
	for (i = 0; i < RKMM_STAGE_SIDES && ret; i++)
		if (mapped[i] && stage->n[i])
			rkmm_stage_unmap(window, i, rkmm_stage_end(window, stage, i));
	if (!ret) {
		rkmm_stage_get(stage);
		rkmm_stage_count(stage, 1);
		rkmm_stage_set(window, stage);
	}
	if (old)
		rkmm_stage_count(old, -1);
	mutex_unlock(&vm->stage_lock);
	dma_fence_end_signalling(cookie);
	rkmm_stage_put(old);
	return ret;
}

static bool rkmm_stage_in_hand(struct rkmm_device *rdev, struct rkmm_staging **stages, u32 n)
{
	struct rkmm_sched *sched = &rdev->sched;
	bool found = false;
	u32 i;

	spin_lock_irq(&sched->lock);
	for (i = 0; i < n && sched->staging; i++)
		found |= stages[i] == sched->staging;
	spin_unlock_irq(&sched->lock);
	return found;
}

void rkmm_stage_forget(struct rkmm_device *rdev, struct rkmm_staging **stages, u32 n)
{
	u32 i;

	if (!stages)
		return;
	/* A job may have been cancelled while the worker mapped its buffers. */
	wait_event(rdev->sched.idle, !rkmm_stage_in_hand(rdev, stages, n));
	for (i = 0; i < n; i++)
		rkmm_stage_put(stages[i]);
	kvfree(stages);
}

/* Of @bo and @mem one is NULL */
static bool rkmm_stage_holds(struct rkmm_staging *stage, const struct rkmm_bo *bo,
			     const struct rkmm_progmem *mem)
{
	struct rkmm_stage_part *part;
	u32 side, i;

	for (side = 0; stage && side < RKMM_STAGE_SIDES; side++) {
		for (i = 0; i < stage->n[side]; i++) {
			part = &rkmm_stage_parts(stage, side)[i];
			if (part->bo == bo && part->mem == mem)
				return true;
		}
	}
	return false;
}

static void rkmm_stage_forget_what(struct rkmm_vm *vm, const struct rkmm_bo *bo,
				   const struct rkmm_progmem *mem)
{
	struct rkmm_window *window;

	mutex_lock(&vm->stage_lock);
	list_for_each_entry(window, &vm->windows, node)
		if (rkmm_stage_holds(window->staged, bo, mem))
			rkmm_stage_clear(window);
	mutex_unlock(&vm->stage_lock);
}

/* No job uses it: it can only become less staged. */
void rkmm_stage_forget_bo(struct rkmm_bo *bo)
{
	struct rkmm_vm *vm = &to_rkmm(bo->base.base.dev)->vm;

	lockdep_assert_held(&vm->lock);
	if (READ_ONCE(bo->staged))
		rkmm_stage_forget_what(vm, bo, NULL);
}

void rkmm_stage_forget_mem(struct rkmm_progmem *mem)
{
	struct rkmm_vm *vm = &mem->window->rdev->vm;

	lockdep_assert_held(&vm->lock);
	if (READ_ONCE(mem->staged))
		rkmm_stage_forget_what(vm, NULL, mem);
}

void rkmm_stage_close(struct rkmm_window *window)
{
	struct rkmm_vm *vm = &window->rdev->vm;

	lockdep_assert_held(&vm->lock);
	mutex_lock(&vm->stage_lock);
	rkmm_stage_clear(window);
	mutex_unlock(&vm->stage_lock);
	if (drm_mm_node_allocated(&window->stage_mm))
		drm_mm_remove_node(&window->stage_mm);
}
