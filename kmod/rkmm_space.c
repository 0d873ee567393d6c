// SPDX-License-Identifier: GPL-2.0-only
#include <drm/drm_drv.h>
#include <drm/drm_print.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "rkmm_bo.h"
#include "rkmm_device.h"
#include "rkmm_space.h"
#include "rkmm_trace.h"

/* Left to activations and programs where weights can go elsewhere: a part of the window. */
#define RKMM_SPACE_KEEP		16

static uint windows = 16;
module_param(windows, uint, 0444);
MODULE_PARM_DESC(windows,
		 "Address windows of a client, or of all with isolation=shared: 1 to 32 (default 16)");

int rkmm_space_init(struct rkmm_device *rdev)
{
	struct rkmm_vm *vm = &rdev->vm;

	if (!windows || windows > RKMM_WINDOWS_MAX)
		return dev_err_probe(rdev->dev, -EINVAL, "windows=%u: must be 1 to %u\n", windows,
				     RKMM_WINDOWS_MAX);
	vm->windows_most = windows;
	/* With one window there is nowhere else to go. */
	vm->keep = windows > 1 ? round_down(vm->bytes / RKMM_SPACE_KEEP, PAGE_SIZE) : 0;
	return 0;
}

/* One window more. Lock held, or nobody else knows the space. */
static struct rkmm_window *rkmm_space_grow(struct rkmm_space *space)
{
	struct rkmm_window *window;

	if (space->n == space->rdev->vm.windows_most)
		return ERR_PTR(-ENOSPC);
	window = rkmm_window_new(space->rdev, space->n);
	if (IS_ERR(window))
		return window;
	space->window[space->n] = window;
	/* Pairs with rkmm_space_windows(). */
	smp_store_release(&space->n, space->n + 1);
	trace_rkmm_window_open(space->rdev, window);
	return window;
}

static void rkmm_space_free(struct kref *ref)
{
	struct rkmm_space *space = container_of(ref, struct rkmm_space, ref);
	u32 i;

	for (i = 0; i < space->n; i++)
		rkmm_window_put(space->window[i]);
	mutex_destroy(&space->lock);
	kfree(space);
}

void rkmm_space_put(struct rkmm_space *space)
{
	kref_put(&space->ref, rkmm_space_free);
}

struct rkmm_space *rkmm_space_new(struct rkmm_device *rdev)
{
	struct rkmm_space *space = kzalloc(sizeof(*space), GFP_KERNEL_ACCOUNT);
	struct rkmm_window *window;

	if (!space)
		return ERR_PTR(-ENOMEM);
	kref_init(&space->ref);
	mutex_init(&space->lock);
	space->rdev = rdev;
	window = rkmm_space_grow(space);
	if (IS_ERR(window)) {
		rkmm_space_put(space);
		return ERR_CAST(window);
	}
	return space;
}

struct rkmm_space *rkmm_space_open(struct rkmm_device *rdev)
{
	struct rkmm_space *space;
	int idx;

	if (!drm_dev_enter(rdev->drm, &idx))
		return ERR_PTR(-ENODEV);
	if (rdev->vm.strict) {
		space = rkmm_space_new(rdev);
	} else {
		space = rdev->vm.shared;
		kref_get(&space->ref);
	}
	drm_dev_exit(idx);
	return space;
}

/* For what belongs to no client: apart from them where they are apart from each other */
struct rkmm_window *rkmm_window_open(struct rkmm_device *rdev)
{
	struct rkmm_window *window;
	int idx;

	if (!drm_dev_enter(rdev->drm, &idx))
		return ERR_PTR(-ENODEV);
	if (rdev->vm.strict) {
		window = rkmm_window_new(rdev, 0);
	} else {
		window = rdev->vm.shared->window[0];
		rkmm_window_get(window);
	}
	drm_dev_exit(idx);
	return window;
}

/* ---- placing -------------------------------------------------------------- */

/*
 * Bytes that the window would have to give for what is not mapped there, tails included;
 * NULL: a new one.
 */
static u64 rkmm_demand_missing(const struct rkmm_demand *need, struct rkmm_window *window)
{
	u64 bytes = need->room;
	u32 i, k;

	for (i = 0; i < need->n; i++) {
		for (k = 0; k < i && need->bos[k] != need->bos[i]; k++)
			;
		if (k == i && !(window && rkmm_window_has(window, need->bos[i])))
			bytes += need->bos[i]->base.base.size + RKMM_WINDOW_TAIL;
	}
	return bytes;
}

static int rkmm_demand_map(const struct rkmm_demand *need, struct rkmm_window *window)
{
	u32 iova, i;
	int ret = 0;

	for (i = 0; i < need->n && !ret; i++)
		ret = rkmm_window_map(window, need->bos[i], 0, &iova);
	return ret;
}

/**
 * struct rkmm_try - how hard to try
 * @with: only where the weights are mapped
 * @keep: bytes that stay free
 */
struct rkmm_try {
	bool with;
	u64 keep;
};

/* -ENOSPC: another window may do */
static int rkmm_space_try(struct rkmm_space *space, u32 index, const struct rkmm_demand *need,
			  const struct rkmm_try *how)
{
	struct rkmm_window *window = space->window[index];

	if (how->with && !rkmm_window_has(window, need->weights))
		return -ENOSPC;
	if (rkmm_demand_missing(need, window) + how->keep > rkmm_window_room(window))
		return -ENOSPC;
	return rkmm_demand_map(need, window);
}

/* @first, then those that are there in order; an index, -ENOSPC or another error */
static int rkmm_space_try_all(struct rkmm_space *space, u32 first, const struct rkmm_demand *need,
			      const struct rkmm_try *how)
{
	int ret = rkmm_space_try(space, first, need, how);
	u32 i;

	if (ret != -ENOSPC)
		return ret ? ret : first;
	for (i = 0; i < space->n; i++) {
		if (i == first)
			continue;
		ret = rkmm_space_try(space, i, need, how);
		if (ret != -ENOSPC)
			return ret ? ret : i;
	}
	return -ENOSPC;
}

/*
 * What is new goes where the last of its kind went; then where there is room for many
 * more; then into a window of its own; and where it just fits when there can be no more.
 */
static int rkmm_space_choose(struct rkmm_space *space, const struct rkmm_demand *need, u32 near)
{
	u64 bytes = space->rdev->vm.bytes, keep = space->rdev->vm.keep;
	u64 empty = space->rdev->vm.largest + RKMM_WINDOW_TAIL;
	const struct rkmm_try with = { .with = true };
	const struct rkmm_try beside = { .keep = keep }, half = { .keep = bytes / 2 };
	const struct rkmm_try anyhow = {};
	u32 first = need->weights ? space->fill : near;
	struct rkmm_window *window;
	int ret = -ENOSPC;

	if (need->weights)
		ret = rkmm_space_try_all(space, near, need, &with);
	if (ret == -ENOSPC) {
		ret = rkmm_space_try(space, first, need, need->weights ? &beside : &anyhow);
		ret = ret ? ret : first;
	}
	if (ret == -ENOSPC)
		ret = rkmm_space_try_all(space, first, need, &half);
	/* What no window can hold must not leave new ones behind. */
	if (ret == -ENOSPC && rkmm_demand_missing(need, NULL) <= empty) {
		window = rkmm_space_grow(space);
		if (!IS_ERR(window))
			ret = rkmm_space_try(space, space->n - 1, need, &anyhow) ?: space->n - 1;
		else if (PTR_ERR(window) != -ENOSPC)
			ret = PTR_ERR(window);
	}
	if (ret == -ENOSPC)
		ret = rkmm_space_try_all(space, first, need, &anyhow);
	return ret;
}

struct rkmm_window *rkmm_space_place(struct rkmm_space *space, const struct rkmm_demand *need,
				     struct rkmm_window *near)
{
	bool known;
	u32 i;
	int ret;

	mutex_lock(&space->lock);
	for (i = 0, known = !need->weights; i < space->n && !known; i++)
		known = rkmm_window_has(space->window[i], need->weights);
	ret = rkmm_space_choose(space, need, near->index);
	if (ret >= 0 && !known)
		space->fill = ret;
	mutex_unlock(&space->lock);
	if (ret == -ENOSPC)
		drm_dbg(space->rdev->drm, "no room for NPU addresses (IOVA) in any of %u windows\n",
			space->n);
	return ret < 0 ? ERR_PTR(ret) : space->window[ret];
}
