// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slabs: small mappings side by side in a large one.
 *
 * About 2340 mappings in one window hang the NPU (hw 03 M8), and a client with buffers and
 * programs by the thousand is nothing special. So what is small is mapped inside slabs,
 * one behind the other, with nothing but the guard page between. A slab is mapped without
 * a gap from its start to the end of the highest mapping that it ever had: where nothing
 * is any more, the page of zeros is, which can be read and not written. What is
 * large has a mapping of its own and a hole behind it; there is not room for many of those.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "compat/rkmm_compat.h"
#include "rkmm_device.h"

/* Parts of a window: slabs of 64 MiB, for what is up to 4 MiB. */
#define RKMM_SLABS_OF_WINDOW	64
#define RKMM_SMALL_OF_SLAB	16
/* Mappings of a window, at most: with room for what is staged, and for doubt about hw 03 M8. */
#define RKMM_MAPPINGS_MAX	2000

static bool slabs = true;
module_param(slabs, bool, 0444);
MODULE_PARM_DESC(slabs, "Small mappings share a large one; off: for tests (default on)");

/**
 * struct rkmm_slab - part of a window; all under rkmm_vm.lock
 * @mm: the ranges in it
 * @node: in rkmm_window.mm, a hole behind it included
 * @in_window: in rkmm_window.slabs
 * @end: mapped up to here
 * @torn: there are gaps: nothing is placed here any more
 */
struct rkmm_slab {
	struct drm_mm mm;
	struct drm_mm_node node;
	struct list_head in_window;
	u64 end;
	bool torn;
};

void rkmm_slab_init(struct rkmm_vm *vm)
{
	vm->slab_bytes = slabs ? round_down(vm->bytes / RKMM_SLABS_OF_WINDOW, PAGE_SIZE) : 0;
}

static struct rkmm_slab *rkmm_slab_new(struct rkmm_window *window)
{
	u64 bytes = window->rdev->vm.slab_bytes;
	struct rkmm_slab *slab;
	int ret;

	if (window->nmappings >= RKMM_MAPPINGS_MAX)
		return ERR_PTR(-ENOSPC);
	slab = kzalloc(sizeof(*slab), GFP_KERNEL_ACCOUNT);
	if (!slab)
		return ERR_PTR(-ENOMEM);
	/* At the top, so that what stays does not part the space of the large ones. */
	ret = drm_mm_insert_node_generic(&window->mm, &slab->node, bytes + PAGE_SIZE, PAGE_SIZE, 0,
					 DRM_MM_INSERT_HIGH);
	if (ret) {
		kfree(slab);
		return ERR_PTR(ret);
	}
	drm_mm_init(&slab->mm, slab->node.start, bytes);
	slab->end = slab->node.start;
	list_add(&slab->in_window, &window->slabs);
	window->nmappings++;
	return slab;
}

/* Nothing is left in it but zeros. */
static void rkmm_slab_free(struct rkmm_window *window, struct rkmm_slab *slab)
{
	u64 at;

	/* The IOMMU core stops at a gap. */
	for (at = slab->node.start; slab->torn && at < slab->end; at += PAGE_SIZE)
		iommu_unmap(window->domain, at, PAGE_SIZE);
	if (!slab->torn)
		rkmm_window_unmap(window, slab->node.start, slab->end);
	window->nmappings--;
	list_del(&slab->in_window);
	drm_mm_takedown(&slab->mm);
	drm_mm_remove_node(&slab->node);
	kfree(slab);
}

/* Zeros where nothing is. The page tables are there already, but who knows. */
static void rkmm_slab_fill(struct rkmm_window *window, struct rkmm_slab *slab, u64 from, u64 to)
{
	while (from < to && !slab->torn)
		if (rkmm_window_guard(window, &from))
			slab->torn = true;
}

static int rkmm_slab_insert_into(struct rkmm_window *window, struct rkmm_slab *slab,
				 struct drm_mm_node *node, u64 size)
{
	u64 end;
	int ret;

	ret = slab->torn ? -ENOSPC :
	      drm_mm_insert_node_generic(&slab->mm, node, size + PAGE_SIZE, PAGE_SIZE, 0,
					 DRM_MM_INSERT_LOW);
	if (ret)
		return ret;
	end = node->start + node->size;
	rkmm_window_unmap(window, node->start, min(end, slab->end));
	slab->end = max(end, slab->end);
	return 0;
}

int rkmm_slab_insert(struct rkmm_window *window, struct drm_mm_node *node, u64 size)
{
	u64 bytes = window->rdev->vm.slab_bytes;
	struct rkmm_slab *slab;
	int ret;

	lockdep_assert_held(&window->rdev->vm.lock);
	if (size > bytes / RKMM_SMALL_OF_SLAB)
		return -EFBIG;
	list_for_each_entry(slab, &window->slabs, in_window) {
		ret = rkmm_slab_insert_into(window, slab, node, size);
		if (ret != -ENOSPC)
			return ret;
	}
	slab = rkmm_slab_new(window);
	if (IS_ERR(slab))
		return PTR_ERR(slab);
	return rkmm_slab_insert_into(window, slab, node, size);
}

bool rkmm_slab_remove(struct rkmm_window *window, struct drm_mm_node *node, u64 end)
{
	u64 start = node->start, last = start + node->size;
	struct rkmm_slab *slab;

	list_for_each_entry(slab, &window->slabs, in_window)
		if (start >= slab->node.start && start < slab->node.start + slab->node.size)
			break;
	if (list_entry_is_head(slab, &window->slabs, in_window))
		return false;
	if (end > start)
		rkmm_window_unmap(window, start, end);
	drm_mm_remove_node(node);
	if (last == slab->end)
		slab->end = start;
	else
		rkmm_slab_fill(window, slab, start, last);
	if (drm_mm_clean(&slab->mm))
		rkmm_slab_free(window, slab);
	return true;
}

/* What has a mapping of its own */
bool rkmm_slab_alone(const struct rkmm_window *window)
{
	return !window->rdev->vm.slab_bytes || window->nmappings < RKMM_MAPPINGS_MAX;
}
