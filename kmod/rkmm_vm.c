// SPDX-License-Identifier: GPL-2.0-only
#include <drm/drm_drv.h>
#include <drm/drm_print.h>
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "compat/rkmm_compat.h"
#include "rkmm_bo.h"
#include "rkmm_job.h"

#define RKMM_SMALL	SZ_1M
#define RKMM_UNMAP_STEP	SZ_64M	/* between two chances to schedule */

static char *isolation = "auto";
module_param(isolation, charp, 0444);
MODULE_PARM_DESC(isolation,
		 "Address windows: shared by all clients, strict (each has its own), or auto: strict on silicon (default)");

/* Small windows let tests run out of them without gigabytes of memory. */
static uint window_mib = 4096;
module_param(window_mib, uint, 0444);
MODULE_PARM_DESC(window_mib, "Size of an address window, MiB, 1 to 4096 (default 4096)");

/* ---- ranges of one window ------------------------------------------------- */

int rkmm_window_insert(struct rkmm_window *window, struct drm_mm_node *node, u64 size)
{
	struct drm_device *drm = window->rdev->drm;
	int ret;

	lockdep_assert_held(&window->rdev->vm.lock);
	if (!window->domain)
		return -ENODEV;
	ret = rkmm_slab_insert(window, node, size);
	if (ret == -EFBIG || ret == -ENOSPC) {
		/* Programs and small buffers at the top, as slabs are, the large ones not. */
		ret = !rkmm_slab_alone(window) ? -ENOSPC :
		      drm_mm_insert_node_generic(&window->mm, node, size + RKMM_WINDOW_TAIL,
						 PAGE_SIZE, 0, ret == -ENOSPC ||
						 size < RKMM_SMALL ? DRM_MM_INSERT_HIGH :
								     DRM_MM_INSERT_BEST);
		window->nmappings += !ret;
	}
	if (!ret)
		window->used += node->size;
	if (ret == -ENOSPC)
		drm_dbg(drm, "no room for %llu bytes of NPU addresses (IOVA) in the window\n",
			size);
	return ret;
}

int rkmm_window_fill(struct rkmm_window *window, u64 *at, dma_addr_t addr, u64 len, int prot)
{
	int ret = rkmm_iommu_map(window->domain, *at, addr, len, prot);

	if (!ret)
		*at += len;
	return ret;
}

int rkmm_window_guard(struct rkmm_window *window, u64 *at)
{
	return rkmm_window_fill(window, at, window->rdev->vm.zero_dma, PAGE_SIZE, IOMMU_READ);
}

void rkmm_window_unmap(struct rkmm_window *window, u64 start, u64 end)
{
	u64 len;

	for (; window->domain && start < end; start += len) {
		len = min_t(u64, end - start, RKMM_UNMAP_STEP);
		iommu_unmap(window->domain, start, len);
		cond_resched();
	}
}

void rkmm_window_remove(struct rkmm_window *window, struct drm_mm_node *node, u64 end)
{
	lockdep_assert_held(&window->rdev->vm.lock);
	window->used -= node->size;
	if (rkmm_slab_remove(window, node, end))
		return;
	window->nmappings--;
	rkmm_window_unmap(window, node->start, end);
	drm_mm_remove_node(node);
}

/* ---- buffers in windows --------------------------------------------------- */

static struct rkmm_mapping *rkmm_window_find(struct rkmm_window *window, struct rkmm_bo *bo)
{
	struct rkmm_mapping *map;

	list_for_each_entry(map, &bo->mappings, in_bo)
		if (map->window == window)
			return map;
	return NULL;
}

static struct rkmm_mapping *rkmm_mapping_make(struct rkmm_window *window, struct rkmm_bo *bo)
{
	int prot = bo->read_only ? IOMMU_READ : IOMMU_READ | IOMMU_WRITE;
	u64 size = bo->base.base.size;
	struct rkmm_mapping *map;
	u64 at;
	int ret;
	u32 i;

	map = kzalloc(sizeof(*map), GFP_KERNEL_ACCOUNT);
	if (!map)
		return ERR_PTR(-ENOMEM);
	ret = rkmm_window_insert(window, &map->mm, size);
	if (ret)
		goto err_free;

	at = map->mm.start;
	for (i = 0; i < bo->nsegments; i++) {
		u64 end = i + 1 < bo->nsegments ? bo->segments[i + 1].start : size;

		ret = rkmm_window_fill(window, &at, bo->segments[i].addr,
				       end - bo->segments[i].start, prot);
		if (ret)
			goto err_remove;
		cond_resched();
	}
	ret = rkmm_window_guard(window, &at);
	if (ret)
		goto err_remove;

	map->window = window;
	map->bo = bo;
	map->iova = map->mm.start;
	list_add(&map->in_window, &window->mappings);
	list_add(&map->in_bo, &bo->mappings);
	return map;

err_remove:
	rkmm_window_remove(window, &map->mm, at);
err_free:
	kfree(map);
	return ERR_PTR(ret);
}

static void rkmm_mapping_free(struct rkmm_mapping *map)
{
	list_del(&map->in_window);
	list_del(&map->in_bo);
	rkmm_window_remove(map->window, &map->mm,
			   (u64)map->iova + map->bo->base.base.size + PAGE_SIZE);
	kfree(map);
}

bool rkmm_window_has(struct rkmm_window *window, struct rkmm_bo *bo)
{
	struct rkmm_vm *vm = &window->rdev->vm;
	bool found;

	mutex_lock(&vm->lock);
	found = rkmm_window_find(window, bo);
	mutex_unlock(&vm->lock);
	return found;
}

static u64 rkmm_window_free_bytes(const struct rkmm_window *window)
{
	const struct rkmm_vm *vm = &window->rdev->vm;

	return vm->largest + RKMM_WINDOW_TAIL - window->used;
}

u64 rkmm_window_room(struct rkmm_window *window)
{
	struct rkmm_vm *vm = &window->rdev->vm;
	u64 room;

	mutex_lock(&vm->lock);
	room = rkmm_window_free_bytes(window);
	mutex_unlock(&vm->lock);
	return room;
}

int rkmm_window_map(struct rkmm_window *window, struct rkmm_bo *bo, u64 keep, u32 *iova)
{
	struct rkmm_vm *vm = &window->rdev->vm;
	struct rkmm_mapping *map;
	int ret;

	ret = rkmm_bo_pin(bo);
	if (ret)
		return ret;

	mutex_lock(&vm->lock);
	map = rkmm_window_find(window, bo);
	if (!map && keep && keep + bo->base.base.size > rkmm_window_free_bytes(window))
		map = ERR_PTR(-ENOSPC);
	if (!map)
		map = rkmm_mapping_make(window, bo);
	if (IS_ERR(map))
		ret = PTR_ERR(map);
	else
		*iova = map->iova;
	mutex_unlock(&vm->lock);
	return ret;
}

void rkmm_vm_unmap_bo(struct rkmm_bo *bo)
{
	struct rkmm_vm *vm = &to_rkmm(bo->base.base.dev)->vm;
	struct rkmm_mapping *map, *next;

	mutex_lock(&vm->lock);
	list_for_each_entry_safe(map, next, &bo->mappings, in_bo)
		rkmm_mapping_free(map);
	rkmm_stage_forget_bo(bo);
	mutex_unlock(&vm->lock);
}

/* ---- windows -------------------------------------------------------------- */

/* In the IOMMU's interrupt handler. */
static int rkmm_window_fault(struct iommu_domain *domain, struct device *dev, unsigned long iova,
			     int flags, void *token)
{
	struct rkmm_window *window = token;

	atomic_inc(&window->faults);
	rkmm_vm_fault(window->rdev, window, iova, flags & IOMMU_FAULT_WRITE);
	return 0;
}

struct rkmm_window *rkmm_window_new(struct rkmm_device *rdev, u32 index)
{
	struct rkmm_vm *vm = &rdev->vm;
	struct rkmm_window *window;
	int ret;

	window = kzalloc(sizeof(*window), GFP_KERNEL_ACCOUNT);
	if (!window)
		return ERR_PTR(-ENOMEM);
	window->domain = rkmm_iommu_domain_alloc(rdev->dev);
	if (IS_ERR(window->domain)) {
		ret = PTR_ERR(window->domain);
		kfree(window);
		return ERR_PTR(ret);
	}
	iommu_set_fault_handler(window->domain, rkmm_window_fault, window);

	kref_init(&window->ref);
	window->rdev = rdev;
	window->index = index;
	INIT_LIST_HEAD(&window->mappings);
	INIT_LIST_HEAD(&window->progmems);
	INIT_LIST_HEAD(&window->slabs);
	/* Neither the first nor the last page: an address of 0 or of all ones is a mistake. */
	drm_mm_init(&window->mm, RKMM_WINDOW_START, vm->bytes - PAGE_SIZE - RKMM_WINDOW_START);
	ret = rkmm_stage_open(window);
	if (ret) {
		drm_mm_takedown(&window->mm);
		iommu_domain_free(window->domain);
		kfree(window);
		return ERR_PTR(ret);
	}
	mutex_lock(&vm->lock);
	window->id = ++vm->last_id;
	list_add_tail(&window->node, &vm->windows);
	mutex_unlock(&vm->lock);
	return window;
}

/* attach_lock held */
static void rkmm_vm_detach(struct rkmm_device *rdev)
{
	struct rkmm_window *window = rdev->vm.attached;

	lockdep_assert_held(&rdev->vm.attach_lock);
	if (window)
		iommu_detach_device(window->domain, rdev->dev);
	WRITE_ONCE(rdev->vm.attached, NULL);
}

static int rkmm_vm_attach_locked(struct rkmm_device *rdev, struct rkmm_window *window)
{
	int ret;

	rkmm_vm_detach(rdev);
	if (!window)
		return 0;
	if (!window->domain)
		return -ENODEV;
	ret = iommu_attach_device(window->domain, rdev->dev);
	if (!ret)
		WRITE_ONCE(rdev->vm.attached, window);
	return ret;
}

int rkmm_vm_attach(struct rkmm_device *rdev, struct rkmm_window *window)
{
	int ret;

	mutex_lock(&rdev->vm.attach_lock);
	ret = rkmm_vm_attach_locked(rdev, window);
	mutex_unlock(&rdev->vm.attach_lock);
	return ret;
}

int rkmm_vm_reattach(struct rkmm_device *rdev)
{
	int ret;

	mutex_lock(&rdev->vm.attach_lock);
	ret = rkmm_vm_attach_locked(rdev, rdev->vm.attached);
	mutex_unlock(&rdev->vm.attach_lock);
	return ret;
}

/* Detached: nothing translates through the window any more. vm->lock held. */
static void rkmm_window_empty(struct rkmm_window *window)
{
	struct rkmm_progmem *pm, *pm_next;
	struct rkmm_mapping *map, *next;

	rkmm_stage_close(window);
	list_for_each_entry_safe(map, next, &window->mappings, in_window)
		rkmm_mapping_free(map);
	list_for_each_entry_safe(pm, pm_next, &window->progmems, in_window)
		rkmm_progmem_unmap(pm);
	if (window->domain)
		iommu_domain_free(window->domain);
	window->domain = NULL;
}

static void rkmm_window_release(struct kref *ref)
{
	struct rkmm_window *window = container_of(ref, struct rkmm_window, ref);
	struct rkmm_device *rdev = window->rdev;
	struct rkmm_vm *vm = &rdev->vm;

	/* Without references there are no jobs in it: if it is attached, the cores are idle. */
	rkmm_sched_forget_window(rdev, window);
	mutex_lock(&vm->attach_lock);
	if (vm->attached == window)
		rkmm_vm_detach(rdev);
	mutex_unlock(&vm->attach_lock);
	mutex_lock(&vm->lock);
	list_del(&window->node);
	rkmm_window_empty(window);
	mutex_unlock(&vm->lock);
	drm_mm_takedown(&window->mm);
	kfree(window);
}

void rkmm_window_get(struct rkmm_window *window)
{
	kref_get(&window->ref);
}

void rkmm_window_put(struct rkmm_window *window)
{
	kref_put(&window->ref, rkmm_window_release);
}

/* ---- the device ----------------------------------------------------------- */

static int rkmm_vm_init_zero(struct rkmm_device *rdev)
{
	struct rkmm_vm *vm = &rdev->vm;

	vm->zero = alloc_page(rkmm_page_gfp(rdev) | __GFP_ZERO);
	if (!vm->zero)
		return -ENOMEM;
	vm->zero_dma = dma_map_page(rdev->dma, vm->zero, 0, PAGE_SIZE, DMA_TO_DEVICE);
	if (dma_mapping_error(rdev->dma, vm->zero_dma)) {
		__free_page(vm->zero);
		vm->zero = NULL;
		return -ENOMEM;
	}
	return 0;
}

static void rkmm_vm_fini_zero(struct rkmm_device *rdev)
{
	struct rkmm_vm *vm = &rdev->vm;

	dma_unmap_page(rdev->dma, vm->zero_dma, PAGE_SIZE, DMA_TO_DEVICE);
	__free_page(vm->zero);
	vm->zero = NULL;
}

int rkmm_vm_init(struct rkmm_device *rdev)
{
	struct rkmm_vm *vm = &rdev->vm;
	struct rkmm_space *space;
	int ret;

	mutex_init(&vm->lock);
	mutex_init(&vm->attach_lock);
	spin_lock_init(&vm->pinned_lock);
	init_waitqueue_head(&vm->pinned_wait);
	INIT_LIST_HEAD(&vm->windows);
	INIT_LIST_HEAD(&vm->pinned);
	INIT_LIST_HEAD(&vm->imports);

	if (!window_mib || window_mib > 4096)
		return dev_err_probe(rdev->dev, -EINVAL, "window_mib=%u: must be 1 to 4096\n",
				     window_mib);
	vm->bytes = (u64)window_mib << 20;
	vm->largest = vm->bytes - PAGE_SIZE - RKMM_WINDOW_START - RKMM_WINDOW_TAIL;

	rkmm_slab_init(vm);
	ret = rkmm_space_init(rdev);
	if (!ret)
		ret = rkmm_stage_init(rdev);
	if (ret)
		return ret;
	if (sysfs_streq(isolation, "strict"))
		vm->strict = true;
	else if (sysfs_streq(isolation, "auto"))
		vm->strict = !rdev->soft;
	else if (!sysfs_streq(isolation, "shared"))
		return dev_err_probe(rdev->dev, -EINVAL,
				     "isolation=%s: must be auto, shared or strict\n", isolation);
	if (!device_iommu_mapped(rdev->dev))
		return dev_err_probe(rdev->dev, -ENODEV,
				     "no IOMMU: the NPU could reach all of memory\n");

	ret = rkmm_vm_init_zero(rdev);
	if (ret)
		return dev_err_probe(rdev->dev, ret, "cannot map the guard page\n");
	if (vm->strict)
		return 0;
	space = rkmm_space_new(rdev);
	if (IS_ERR(space)) {
		rkmm_vm_fini_zero(rdev);
		return dev_err_probe(rdev->dev, PTR_ERR(space), "cannot make an address window\n");
	}
	vm->shared = space;
	return 0;
}

static struct rkmm_bo *rkmm_vm_first_pinned(struct rkmm_vm *vm)
{
	struct rkmm_bo *bo;

	spin_lock(&vm->pinned_lock);
	bo = list_first_entry_or_null(&vm->pinned, struct rkmm_bo, in_pinned);
	spin_unlock(&vm->pinned_lock);
	return bo;
}

/* Take one buffer off the facade; false when there is none left. */
static bool rkmm_vm_unmap_one(struct rkmm_device *rdev)
{
	struct rkmm_vm *vm = &rdev->vm;
	struct rkmm_bo *bo;
	bool alive = false;

	spin_lock(&vm->pinned_lock);
	bo = list_first_entry_or_null(&vm->pinned, struct rkmm_bo, in_pinned);
	if (bo) {
		alive = kref_get_unless_zero(&bo->base.base.refcount);
		if (alive)
			list_del_init(&bo->in_pinned);
	}
	spin_unlock(&vm->pinned_lock);
	if (!bo)
		return false;

	if (!alive) {
		/* Somebody is freeing it and leaves the facade by himself. */
		wait_event(vm->pinned_wait, rkmm_vm_first_pinned(vm) != bo);
		return true;
	}
	rkmm_bo_unmap_sgt(bo);
	if (bo->import) {
		/* PRIME ioctls look at the attachment under this lock. */
		mutex_lock(&rdev->drm->object_name_lock);
		rkmm_bo_import_detach(bo);
		mutex_unlock(&rdev->drm->object_name_lock);
	}
	drm_gem_object_put(&bo->base.base);
	return true;
}

void rkmm_vm_fini(struct rkmm_device *rdev)
{
	struct rkmm_vm *vm = &rdev->vm;
	struct rkmm_window *window;

	mutex_lock(&vm->attach_lock);
	rkmm_vm_detach(rdev);
	mutex_unlock(&vm->attach_lock);
	mutex_lock(&vm->lock);
	list_for_each_entry(window, &vm->windows, node)
		rkmm_window_empty(window);
	mutex_unlock(&vm->lock);

	while (rkmm_vm_unmap_one(rdev))
		;
	rkmm_vm_fini_zero(rdev);
	if (vm->shared)
		rkmm_space_put(vm->shared);
	vm->shared = NULL;
}
