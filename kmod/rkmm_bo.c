// SPDX-License-Identifier: GPL-2.0-only
#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_utils.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "compat/rkmm_compat.h"
#include "rkmm_bo.h"
#include "rkmm_drm.h"
#include "rkmm_job.h"

#define RKMM_SYNC_STEP	SZ_2M	/* between two chances to schedule */
#define RKMM_FAULT_PAGES 16u	/* mapped by one page fault */

/* ---- caches --------------------------------------------------------------- */

/* Segment that holds the byte at @offset, which lies inside the buffer. */
static u32 rkmm_bo_segment(const struct rkmm_bo *bo, u64 offset)
{
	u32 lo = 0, hi = bo->nsegments;

	while (hi - lo > 1) {
		u32 mid = lo + (hi - lo) / 2;

		if (bo->segments[mid].start <= offset)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

void rkmm_bo_sync_device(struct rkmm_bo *bo, u64 start, u64 end, bool for_cpu)
{
	struct device *dma = to_rkmm(bo->base.base.dev)->dma;
	u32 i = rkmm_bo_segment(bo, start);

	lockdep_assert_held(&bo->lock);
	while (start < end) {
		u64 seg_end = i + 1 < bo->nsegments ? bo->segments[i + 1].start : end;
		dma_addr_t addr = bo->segments[i].addr + (start - bo->segments[i].start);
		size_t len = min3(end - start, seg_end - start, (u64)RKMM_SYNC_STEP);

		if (for_cpu)
			dma_sync_single_for_cpu(dma, addr, len, DMA_BIDIRECTIONAL);
		else
			dma_sync_single_for_device(dma, addr, len, DMA_BIDIRECTIONAL);
		start += len;
		if (start == seg_end)
			i++;
		cond_resched();
	}
}

u64 rkmm_bo_clean(struct rkmm_bo *bo, u64 start, u64 end)
{
	struct rkmm_range piece;
	u64 at, bytes = 0;

	lockdep_assert_held(&bo->lock);
	if (!bo->dirty.n)
		return 0;
	/* What cannot be noted exactly is cleaned altogether. */
	if (!rkmm_ranges_reserve(&bo->dirty)) {
		start = 0;
		end = bo->base.base.size;
	}
	for (at = start; rkmm_ranges_next(&bo->dirty, at, end, &piece); at = piece.end) {
		rkmm_bo_sync_device(bo, piece.start, piece.end, false);
		bytes += piece.end - piece.start;
	}
	rkmm_ranges_sub(&bo->dirty, start, end);
	return bytes;
}

static u64 rkmm_line_down(u64 offset)
{
	return round_down(offset, (u64)RKMM_LINE);
}

/* No overflow: buffers end on a page. */
static u64 rkmm_line_up(u64 offset)
{
	return round_up(offset, (u64)RKMM_LINE);
}

void rkmm_bo_cpu_begin(struct rkmm_bo *bo, u64 start, u64 end, bool write)
{
	struct rkmm_range piece;
	bool done;
	u64 at;

	dma_resv_assert_held(bo->base.base.resv);
	lockdep_assert_held(&bo->lock);
	if (!bo->mapped)
		return;
	/*
	 * What a running job still writes has to be invalidated again. Asked before the
	 * first byte is fetched: the job may end in between.
	 */
	done = dma_resv_test_signaled(bo->base.base.resv, DMA_RESV_USAGE_WRITE) &&
	       (!bo->owner || bo->last_write <= READ_ONCE(bo->owner->ended));
	/* A store dirties a whole line, the NPU's bytes beside it included. */
	if (write) {
		start = rkmm_line_down(start);
		end = rkmm_line_up(end);
	}
	for (at = start; rkmm_ranges_next(&bo->written, at, end, &piece); at = piece.end) {
		rkmm_bo_clean(bo, rkmm_line_down(piece.start), rkmm_line_up(piece.end));
		rkmm_bo_sync_device(bo, piece.start, piece.end, true);
	}
	if (done)
		rkmm_ranges_sub(&bo->written, start, end);
}

void rkmm_bo_cpu_end(struct rkmm_bo *bo, u64 start, u64 end)
{
	lockdep_assert_held(&bo->lock);
	if (!bo->mapped)
		return;
	rkmm_ranges_sub(&bo->written, start, end);
	if (!rkmm_ranges_reserve(&bo->dirty))
		rkmm_bo_clean(bo, 0, bo->base.base.size);
	rkmm_ranges_add(&bo->dirty, start, end);
}

u64 rkmm_bo_prepare(struct rkmm_bo *bo, u64 offset, u64 size, u64 seqno, bool write)
{
	u64 start = offset, end = offset + size, bytes = 0;

	if (bo->owner)
		lockdep_assert_held(&bo->owner->submit_lock);
	else
		dma_resv_assert_held(bo->base.base.resv);
	if (!write)
		WRITE_ONCE(bo->last_read, seqno);
	/* Resident weights: bytes whose access ended before this submission are seen here. */
	if (!write && !READ_ONCE(bo->dirty.n))
		return 0;
	if (!mutex_trylock(&bo->lock))
		mutex_lock(&bo->lock);
	if (write)
		WRITE_ONCE(bo->last_write, seqno);
	if (bo->mapped) {
		if (write) {
			start = rkmm_line_down(start);
			end = rkmm_line_up(end);
		}
		bytes = rkmm_bo_clean(bo, start, end);
		if (write)
			rkmm_ranges_add(&bo->written, offset, offset + size);
	}
	mutex_unlock(&bo->lock);
	return bytes;
}

/* ---- pages ---------------------------------------------------------------- */

int rkmm_bo_map_sgt(struct rkmm_bo *bo, struct sg_table *sgt)
{
	struct rkmm_device *rdev = to_rkmm(bo->base.base.dev);
	struct rkmm_segment *segments;
	struct scatterlist *sg;
	u64 start = 0;
	u32 i, n = 0;

	lockdep_assert_held(&bo->lock);
	segments = kvmalloc_array(sgt->nents, sizeof(*segments), GFP_KERNEL_ACCOUNT);
	if (!segments)
		return -ENOMEM;
	for_each_sgtable_dma_sg(sgt, sg, i) {
		dma_addr_t addr = sg_dma_address(sg);
		u64 len = sg_dma_len(sg);

		if (!len || start >= bo->base.base.size)
			break;
		/* The IOMMU maps whole pages and drops address bits it does not have. */
		if (!PAGE_ALIGNED(addr) || addr + len - 1 > DMA_BIT_MASK(rdev->soc->dma_bits))
			break;
		segments[n].start = start;
		segments[n++].addr = addr;
		start += len;
		if (!PAGE_ALIGNED(len))
			break;
	}
	if (PAGE_ALIGN(start) < bo->base.base.size) {
		drm_dbg(rdev->drm, "buffer of %zu bytes: only %llu can be mapped\n",
			bo->base.base.size, start);
		kvfree(segments);
		return -EINVAL;
	}

	bo->segments = segments;
	bo->nsegments = n;
	bo->sgt = sgt;
	bo->mapped = true;
	/* Pairs with rkmm_bo_pin(). */
	smp_store_release(&bo->pinned, true);
	spin_lock(&rdev->vm.pinned_lock);
	list_add_tail(&bo->in_pinned, &rdev->vm.pinned);
	spin_unlock(&rdev->vm.pinned_lock);
	return 0;
}

void rkmm_bo_unmap_sgt(struct rkmm_bo *bo)
{
	mutex_lock(&bo->lock);
	if (bo->mapped && !bo->import) {
		rkmm_bo_clean(bo, 0, bo->base.base.size);
		rkmm_bo_sync_device(bo, 0, bo->base.base.size, true);
		dma_unmap_sgtable(to_rkmm(bo->base.base.dev)->dma, bo->sgt, DMA_BIDIRECTIONAL,
				  DMA_ATTR_SKIP_CPU_SYNC);
		sg_free_table(bo->sgt);
	}
	bo->mapped = false;
	mutex_unlock(&bo->lock);
}

static int rkmm_bo_map_pages(struct rkmm_bo *bo)
{
	struct device *dma = to_rkmm(bo->base.base.dev)->dma;
	size_t size = bo->base.base.size;
	int ret;

	ret = sg_alloc_table_from_pages_segment(&bo->own_sgt, bo->base.pages, size >> PAGE_SHIFT,
						0, size, UINT_MAX, GFP_KERNEL_ACCOUNT);
	if (ret)
		return ret;
	/*
	 * Other devices may have the pages mapped too (rkmm_prime.c). The DMA API allows that
	 * where the caches are not left to the mappings.
	 */
	ret = dma_map_sgtable(dma, &bo->own_sgt, DMA_BIDIRECTIONAL, DMA_ATTR_SKIP_CPU_SYNC);
	if (ret)
		goto err_free;
	ret = rkmm_bo_map_sgt(bo, &bo->own_sgt);
	if (ret)
		goto err_unmap;
	/* Zeroed through the cache: nothing is dirty from here on. */
	rkmm_bo_sync_device(bo, 0, size, false);
	return 0;

err_unmap:
	dma_unmap_sgtable(dma, &bo->own_sgt, DMA_BIDIRECTIONAL, DMA_ATTR_SKIP_CPU_SYNC);
err_free:
	sg_free_table(&bo->own_sgt);
	return ret;
}

int rkmm_bo_pin(struct rkmm_bo *bo)
{
	struct drm_gem_object *obj = &bo->base.base;
	bool again;
	int ret, idx;

	/* Pairs with rkmm_bo_map_sgt(). */
	if (smp_load_acquire(&bo->pinned))
		return 0;

	if (!drm_dev_enter(obj->dev, &idx))
		return -ENODEV;
	ret = drm_gem_shmem_pin(&bo->base);
	if (ret)
		goto out;

	mutex_lock(&bo->lock);
	again = bo->pinned;
	if (!again)
		ret = rkmm_bo_map_pages(bo);
	mutex_unlock(&bo->lock);
	if (ret || again)
		drm_gem_shmem_unpin(&bo->base);
out:
	drm_dev_exit(idx);
	return ret;
}

bool rkmm_bo_active(struct rkmm_bo *bo, const struct rkmm_client *client)
{
	if (READ_ONCE(bo->owner) == client)
		return max(READ_ONCE(bo->last_read), READ_ONCE(bo->last_write)) >
		       READ_ONCE(client->ended);
	return !dma_resv_test_signaled(bo->base.base.resv, DMA_RESV_USAGE_READ);
}

size_t rkmm_bo_resident(struct rkmm_bo *bo)
{
	return READ_ONCE(bo->pinned) ? bo->base.base.size : 0;
}

/* ---- GEM ------------------------------------------------------------------ */

static void rkmm_bo_free(struct drm_gem_object *obj)
{
	struct rkmm_bo *bo = to_rkmm_bo(obj);
	struct rkmm_vm *vm = &to_rkmm(obj->dev)->vm;
	struct dma_buf *import = bo->import;

	rkmm_vm_unmap_bo(bo);
	rkmm_bo_unmap_sgt(bo);
	if (import && !bo->detached)
		rkmm_bo_import_detach(bo);

	/* From here on rkmm_vm_fini() need not wait for this buffer. */
	spin_lock(&vm->pinned_lock);
	list_del(&bo->in_pinned);
	list_del(&bo->in_imports);
	spin_unlock(&vm->pinned_lock);
	wake_up_all(&vm->pinned_wait);

	if (bo->pinned && !import)
		drm_gem_shmem_unpin(&bo->base);
	kvfree(bo->segments);
	rkmm_ranges_fini(&bo->dirty);
	rkmm_ranges_fini(&bo->written);
	mutex_destroy(&bo->lock);
	if (bo->owner)
		rkmm_client_put(bo->owner);
	drm_gem_shmem_free(&bo->base);
	/* The object's fences lived in it. */
	if (import)
		dma_buf_put(import);
}

static int rkmm_bo_mmap(struct drm_gem_object *obj, struct vm_area_struct *vma)
{
	struct rkmm_bo *bo = to_rkmm_bo(obj);

	/* The exporter knows how its memory may be mapped: it has the file descriptor for that. */
	if (bo->import)
		return -EINVAL;
	return drm_gem_shmem_mmap(&bo->base, vma);
}

/*
 * The helper counts pages from the start of the area, which is wrong for an area that
 * was split or that maps a dma-buf from its middle. The pages stay while an area
 * exists, so no lock is needed.
 */
static vm_fault_t rkmm_bo_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct drm_gem_object *obj = vma->vm_private_data;
	struct page **pages = to_rkmm_bo(obj)->base.pages;
	unsigned long first = vma->vm_pgoff - drm_vma_node_start(&obj->vma_node);
	unsigned long npages = obj->size >> PAGE_SHIFT;
	unsigned long at = vmf->pgoff - vma->vm_pgoff;
	unsigned long i, end;
	vm_fault_t ret;

	if (!pages || first + at >= npages)
		return VM_FAULT_SIGBUS;
	ret = vmf_insert_pfn(vma, vmf->address, page_to_pfn(pages[first + at]));

	end = min3(round_down(at, RKMM_FAULT_PAGES) + RKMM_FAULT_PAGES, vma_pages(vma),
		   npages - first);
	for (i = at + 1; i < end && ret == VM_FAULT_NOPAGE; i++)
		if (vmf_insert_pfn(vma, vma->vm_start + (i << PAGE_SHIFT),
				   page_to_pfn(pages[first + i])) != VM_FAULT_NOPAGE)
			break;
	return ret;
}

static void rkmm_bo_vm_open(struct vm_area_struct *vma)
{
	drm_gem_shmem_vm_ops.open(vma);
}

static void rkmm_bo_vm_close(struct vm_area_struct *vma)
{
	drm_gem_shmem_vm_ops.close(vma);
}

static const struct vm_operations_struct rkmm_bo_vm_ops = {
	.fault = rkmm_bo_fault,
	.open = rkmm_bo_vm_open,
	.close = rkmm_bo_vm_close,
};

static void rkmm_bo_close(struct drm_gem_object *obj, struct drm_file *file)
{
	rkmm_warm_forget(file->driver_priv, obj, 0);
}

static const struct drm_gem_object_funcs rkmm_bo_funcs = {
	.close = rkmm_bo_close,
	.free = rkmm_bo_free,
	.print_info = drm_gem_shmem_object_print_info,
	.export = rkmm_bo_export,
	.pin = drm_gem_shmem_object_pin,
	.unpin = drm_gem_shmem_object_unpin,
	.get_sg_table = drm_gem_shmem_object_get_sg_table,
	.vmap = drm_gem_shmem_object_vmap,
	.vunmap = drm_gem_shmem_object_vunmap,
	.mmap = rkmm_bo_mmap,
	.vm_ops = &rkmm_bo_vm_ops,
};

struct drm_gem_object *rkmm_bo_alloc(struct drm_device *drm, size_t size)
{
	/* Freed with kfree() by the helper when its own part fails: nothing else is owned here. */
	struct rkmm_bo *bo = kzalloc(sizeof(*bo), GFP_KERNEL_ACCOUNT);

	if (!bo)
		return ERR_PTR(-ENOMEM);
	mutex_init(&bo->lock);
	rkmm_ranges_init(&bo->dirty, RKMM_RANGES_MAX);
	rkmm_ranges_init(&bo->written, RKMM_RANGES_MAX);
	INIT_LIST_HEAD(&bo->attachments);
	INIT_LIST_HEAD(&bo->mappings);
	INIT_LIST_HEAD(&bo->in_pinned);
	INIT_LIST_HEAD(&bo->in_imports);
	/* Written through mappings that shmem does not see: else swapping would lose it. */
	bo->base.pages_mark_dirty_on_put = true;
	bo->base.pages_mark_accessed_on_put = true;
	bo->base.base.funcs = &rkmm_bo_funcs;
	return &bo->base.base;
}

/* ---- ioctls --------------------------------------------------------------- */

int rkmm_ioctl_bo_create(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct rkmm_client *client = file->driver_priv;
	struct drm_rkmm_bo_create *args = data;
	struct drm_gem_shmem_object *shmem;
	struct drm_gem_object *obj;
	int ret;

	if (args->flags || !args->size || args->size > to_rkmm(drm)->vm.largest) {
		drm_dbg(drm, "bad size %llu or flags %#x\n", args->size, args->flags);
		return -EINVAL;
	}
	/* Its pages could only push everything else out before they fail. */
	if (args->size >> PAGE_SHIFT > totalram_pages())
		return -ENOMEM;
	shmem = drm_gem_shmem_create(drm, PAGE_ALIGN(args->size));
	if (IS_ERR(shmem))
		return PTR_ERR(shmem);
	obj = &shmem->base;
	rkmm_client_get(client);
	to_rkmm_bo(obj)->owner = client;
	/* As the helper sets it, but from where the NPU can reach. */
	if (to_rkmm(drm)->soc->dma_bits <= 32)
		mapping_set_gfp_mask(obj->filp->f_mapping,
				     GFP_USER | __GFP_DMA32 | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);

	/* Once there is a handle, user space can close it at any time. */
	args->size = obj->size;
	args->mmap_offset = drm_vma_node_offset_addr(&obj->vma_node);
	ret = drm_gem_handle_create(file, obj, &args->handle);
	drm_gem_object_put(obj);
	return ret;
}

/* The submission that a CPU access of the owner waits for, 0 for none or if it is shared. */
static int rkmm_bo_last(struct rkmm_bo *bo, struct rkmm_client *client, bool write, u64 *seqno)
{
	int ret = mutex_lock_interruptible(&client->submit_lock);

	if (ret)
		return ret;
	*seqno = 0;
	if (bo->owner == client)
		*seqno = write ? max(bo->last_read, bo->last_write) : bo->last_write;
	mutex_unlock(&client->submit_lock);
	return 0;
}

static int rkmm_bo_wait(struct rkmm_bo *bo, struct rkmm_client *client, bool write, s64 deadline_ns)
{
	int result, err;
	u64 seqno;
	long ret;

	if (READ_ONCE(bo->owner) == client) {
		err = rkmm_bo_last(bo, client, write, &seqno);
		if (!err && seqno)
			err = rkmm_wait_seqno(client, seqno, deadline_ns, &result);
		if (err)
			return err;
	}
	/* Empty as long as there is an owner. */
	ret = dma_resv_wait_timeout(bo->base.base.resv, dma_resv_usage_rw(write), true,
				    drm_timeout_abs_to_jiffies(deadline_ns));
	if (ret == -ERESTARTSYS)
		return -EINTR;
	if (!ret)
		return -ETIME;
	return ret < 0 ? ret : 0;
}

static int rkmm_bo_sync_begin(struct rkmm_bo *bo, struct rkmm_client *client,
			      const struct drm_rkmm_bo_sync *args)
{
	struct drm_gem_object *obj = &bo->base.base;
	bool write = args->flags & DRM_RKMM_SYNC_WRITE;
	int ret;

	if (READ_ONCE(bo->owner) != client) {
		ret = rkmm_job_publish_bo(bo);
		if (ret)
			return ret;
	}
	if (args->flags & DRM_RKMM_SYNC_WAIT) {
		ret = rkmm_bo_wait(bo, client, write, args->deadline_ns);
		if (ret)
			return ret;
	}
	if (bo->import) {
		ret = rkmm_bo_import_begin(bo, args->flags & DRM_RKMM_SYNC_READ, write);
		if (ret)
			return ret;
	}

	ret = dma_resv_lock_interruptible(obj->resv, NULL);
	if (ret)
		return ret;
	ret = mutex_lock_interruptible(&bo->lock);
	if (!ret) {
		rkmm_bo_cpu_begin(bo, args->offset, args->offset + args->size, write);
		mutex_unlock(&bo->lock);
	}
	dma_resv_unlock(obj->resv);
	return ret;
}

static int rkmm_bo_sync_end(struct rkmm_bo *bo, const struct drm_rkmm_bo_sync *args)
{
	bool write = args->flags & DRM_RKMM_SYNC_WRITE;
	int ret;

	if (write) {
		ret = mutex_lock_interruptible(&bo->lock);
		if (ret)
			return ret;
		rkmm_bo_cpu_end(bo, args->offset, args->offset + args->size);
		mutex_unlock(&bo->lock);
	}
	if (bo->import)
		return rkmm_bo_import_end(bo, args->flags & DRM_RKMM_SYNC_READ, write);
	return 0;
}

int rkmm_ioctl_bo_sync(struct drm_device *drm, void *data, struct drm_file *file)
{
	const u32 rw = DRM_RKMM_SYNC_READ | DRM_RKMM_SYNC_WRITE;
	struct drm_rkmm_bo_sync *args = data;
	struct drm_gem_object *obj;
	int ret;

	if (args->flags & ~(rw | DRM_RKMM_SYNC_END | DRM_RKMM_SYNC_WAIT) ||
	    !(args->flags & rw) || !args->size ||
	    (args->flags & DRM_RKMM_SYNC_END && args->flags & DRM_RKMM_SYNC_WAIT)) {
		drm_dbg(drm, "bad sync flags %#x or size %llu\n", args->flags, args->size);
		return -EINVAL;
	}
	obj = drm_gem_object_lookup(file, args->handle);
	if (!obj)
		return -ENOENT;

	if (args->offset > obj->size || args->size > obj->size - args->offset) {
		drm_dbg(drm, "sync of %llu bytes at %llu in a buffer of %zu\n", args->size,
			args->offset, obj->size);
		ret = -EINVAL;
	} else if (args->flags & DRM_RKMM_SYNC_END) {
		ret = rkmm_bo_sync_end(to_rkmm_bo(obj), args);
	} else {
		ret = rkmm_bo_sync_begin(to_rkmm_bo(obj), file->driver_priv, args);
	}
	drm_gem_object_put(obj);
	return ret;
}
