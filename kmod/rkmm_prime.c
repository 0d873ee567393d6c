// SPDX-License-Identifier: GPL-2.0-only
/*
 * dma-buf: buffers of ours in other devices, and theirs here.
 *
 * The GEM helpers export without any cache maintenance, which fits memory that
 * the CPU maps uncached. Ours is cached and the NPU is not coherent, so the
 * operations are our own.
 */
#include <drm/drm_drv.h>
#include <drm/drm_prime.h>
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "compat/rkmm_compat.h"
#include "rkmm_bo.h"
#include "rkmm_device.h"

RKMM_IMPORT_NS(DMA_BUF);

/* ---- export --------------------------------------------------------------- */

/**
 * struct rkmm_attachment - another device that uses a buffer of ours
 */
struct rkmm_attachment {
	/** @dev: the device; fixed */
	struct device *dev;
	/** @sgt: the pages as it sees them, while mapped; under rkmm_bo.lock */
	struct sg_table sgt;
	/** @dir: direction of the mapping; under rkmm_bo.lock */
	enum dma_data_direction dir;
	/** @in_bo: in rkmm_bo.attachments while mapped; under rkmm_bo.lock */
	struct list_head in_bo;
};

static int rkmm_export_attach(struct dma_buf *buf, struct dma_buf_attachment *attach)
{
	struct rkmm_bo *bo = to_rkmm_bo(buf->priv);
	struct rkmm_attachment *att;
	int ret;

	att = kzalloc(sizeof(*att), GFP_KERNEL);
	if (!att)
		return -ENOMEM;
	ret = drm_gem_shmem_pin(&bo->base);
	if (ret) {
		kfree(att);
		return ret;
	}
	att->dev = attach->dev;
	INIT_LIST_HEAD(&att->in_bo);
	attach->priv = att;
	return 0;
}

static void rkmm_export_detach(struct dma_buf *buf, struct dma_buf_attachment *attach)
{
	struct rkmm_bo *bo = to_rkmm_bo(buf->priv);

	drm_gem_shmem_unpin(&bo->base);
	kfree(attach->priv);
}

static struct sg_table *rkmm_export_map(struct dma_buf_attachment *attach,
					enum dma_data_direction dir)
{
	struct rkmm_attachment *att = attach->priv;
	struct rkmm_bo *bo = to_rkmm_bo(attach->dmabuf->priv);
	size_t size = bo->base.base.size;
	int ret;

	mutex_lock(&bo->lock);
	if (!list_empty(&att->in_bo)) {
		ret = -EBUSY;
		goto err_unlock;
	}
	ret = sg_alloc_table_from_pages_segment(&att->sgt, bo->base.pages, size >> PAGE_SHIFT, 0,
						size, dma_get_max_seg_size(att->dev), GFP_KERNEL);
	if (ret)
		goto err_unlock;
	/* The pages may be mapped for the NPU too, see rkmm_bo_map_pages(). */
	ret = dma_map_sgtable(att->dev, &att->sgt, dir, DMA_ATTR_SKIP_CPU_SYNC);
	if (ret) {
		sg_free_table(&att->sgt);
		goto err_unlock;
	}
	dma_sync_sgtable_for_device(att->dev, &att->sgt, dir);
	att->dir = dir;
	list_add_tail(&att->in_bo, &bo->attachments);
	mutex_unlock(&bo->lock);
	return &att->sgt;

err_unlock:
	mutex_unlock(&bo->lock);
	return ERR_PTR(ret);
}

static void rkmm_export_unmap(struct dma_buf_attachment *attach, struct sg_table *sgt,
			      enum dma_data_direction dir)
{
	struct rkmm_attachment *att = attach->priv;
	struct rkmm_bo *bo = to_rkmm_bo(attach->dmabuf->priv);

	mutex_lock(&bo->lock);
	list_del_init(&att->in_bo);
	/* The unmapping invalidates: what the CPU wrote for the NPU must not go with it. */
	if (bo->mapped)
		rkmm_bo_clean(bo, 0, bo->base.base.size);
	dma_sync_sgtable_for_cpu(att->dev, sgt, dir);
	dma_unmap_sgtable(att->dev, sgt, dir, DMA_ATTR_SKIP_CPU_SYNC);
	sg_free_table(sgt);
	mutex_unlock(&bo->lock);
}

static int rkmm_export_begin(struct dma_buf *buf, enum dma_data_direction dir)
{
	struct rkmm_bo *bo = to_rkmm_bo(buf->priv);
	bool write = dir != DMA_FROM_DEVICE;
	struct rkmm_attachment *att;
	long ret;

	/* dma-buf would wait only after this: too late for what is invalidated here. */
	ret = dma_resv_wait_timeout(buf->resv, dma_resv_usage_rw(write), true,
				    MAX_SCHEDULE_TIMEOUT);
	if (ret < 0)
		return ret;
	ret = dma_resv_lock_interruptible(buf->resv, NULL);
	if (ret)
		return ret;
	mutex_lock(&bo->lock);
	if (bo->mapped)
		rkmm_bo_clean(bo, 0, bo->base.base.size);
	rkmm_bo_cpu_begin(bo, 0, bo->base.base.size, write);
	list_for_each_entry(att, &bo->attachments, in_bo)
		dma_sync_sgtable_for_cpu(att->dev, &att->sgt, att->dir);
	mutex_unlock(&bo->lock);
	dma_resv_unlock(buf->resv);
	return 0;
}

/*
 * Anywhere the CPU may have written, and at once: a device may wait for no more than a
 * fence. What is in the written set was not the CPU's: "begin" took it out.
 */
static void rkmm_export_clean(struct rkmm_bo *bo)
{
	u64 at = 0, size = bo->base.base.size;
	struct rkmm_range piece;

	if (!bo->mapped)
		return;
	rkmm_bo_clean(bo, 0, size);
	while (rkmm_ranges_next(&bo->written, at, size, &piece)) {
		rkmm_bo_sync_device(bo, at, piece.start, false);
		at = piece.end;
	}
	rkmm_bo_sync_device(bo, at, size, false);
}

static int rkmm_export_end(struct dma_buf *buf, enum dma_data_direction dir)
{
	struct rkmm_bo *bo = to_rkmm_bo(buf->priv);
	struct rkmm_attachment *att;

	mutex_lock(&bo->lock);
	if (dir != DMA_FROM_DEVICE)
		rkmm_export_clean(bo);
	list_for_each_entry(att, &bo->attachments, in_bo)
		dma_sync_sgtable_for_device(att->dev, &att->sgt, att->dir);
	mutex_unlock(&bo->lock);
	return 0;
}

static int rkmm_export_mmap(struct dma_buf *buf, struct vm_area_struct *vma)
{
	return drm_gem_prime_mmap(buf->priv, vma);
}

static const struct dma_buf_ops rkmm_export_ops = {
	.attach = rkmm_export_attach,
	.detach = rkmm_export_detach,
	.map_dma_buf = rkmm_export_map,
	.unmap_dma_buf = rkmm_export_unmap,
	.release = drm_gem_dmabuf_release,
	.begin_cpu_access = rkmm_export_begin,
	.end_cpu_access = rkmm_export_end,
	.mmap = rkmm_export_mmap,
	.vmap = drm_gem_dmabuf_vmap,
	.vunmap = drm_gem_dmabuf_vunmap,
};

struct dma_buf *rkmm_bo_export(struct drm_gem_object *obj, int flags)
{
	struct dma_buf_export_info info = {
		.exp_name = KBUILD_MODNAME,
		.owner = THIS_MODULE,
		.ops = &rkmm_export_ops,
		.size = obj->size,
		.flags = flags,
		.resv = obj->resv,
		.priv = obj,
	};
	int ret = rkmm_job_publish_bo(to_rkmm_bo(obj));

	if (ret)
		return ERR_PTR(ret);
	return drm_gem_dmabuf_export(obj->dev, &info);
}

/* ---- import --------------------------------------------------------------- */

static struct drm_gem_object *rkmm_import_find(struct rkmm_vm *vm, struct dma_buf *buf)
{
	struct drm_gem_object *obj = NULL;
	struct rkmm_bo *bo;

	spin_lock(&vm->pinned_lock);
	list_for_each_entry(bo, &vm->imports, in_imports)
		if (bo->import == buf && kref_get_unless_zero(&bo->base.base.refcount)) {
			obj = &bo->base.base;
			break;
		}
	spin_unlock(&vm->pinned_lock);
	return obj;
}

struct drm_gem_object *rkmm_bo_import(struct drm_device *drm, struct dma_buf *buf)
{
	struct rkmm_device *rdev = to_rkmm(drm);
	struct drm_gem_object *obj;
	int idx;

	if (buf->ops == &rkmm_export_ops) {
		obj = buf->priv;
		if (obj->dev == drm) {
			drm_gem_object_get(obj);
			return obj;
		}
	}
	if (!buf->size || buf->size > rdev->vm.largest) {
		drm_dbg(drm, "dma-buf of %zu bytes does not fit a window\n", buf->size);
		return ERR_PTR(-EINVAL);
	}

	if (!drm_dev_enter(drm, &idx))
		return ERR_PTR(-ENODEV);
	/* The caller's object_name_lock makes find and create one step. */
	obj = rkmm_import_find(&rdev->vm, buf);
	if (!obj)
		obj = drm_gem_prime_import_dev(drm, buf, rdev->dma);
	drm_dev_exit(idx);
	return obj;
}

struct drm_gem_object *rkmm_bo_import_sgt(struct drm_device *drm,
					  struct dma_buf_attachment *attach,
					  struct sg_table *sgt)
{
	struct rkmm_vm *vm = &to_rkmm(drm)->vm;
	struct drm_gem_object *obj;
	struct rkmm_bo *bo;
	int ret;

	obj = drm_gem_shmem_prime_import_sg_table(drm, attach, sgt);
	if (IS_ERR(obj))
		return obj;
	bo = to_rkmm_bo(obj);
	bo->read_only = !(attach->dmabuf->file->f_mode & FMODE_WRITE);

	mutex_lock(&bo->lock);
	ret = rkmm_bo_map_sgt(bo, sgt);
	/* GEM exporters leave out the cache maintenance of the mapping. */
	if (!ret)
		rkmm_bo_sync_device(bo, 0, obj->size, false);
	mutex_unlock(&bo->lock);
	if (ret) {
		/* The table is the caller's again. */
		bo->base.sgt = NULL;
		drm_gem_object_put(obj);
		return ERR_PTR(ret);
	}

	bo->import = attach->dmabuf;
	spin_lock(&vm->pinned_lock);
	list_add(&bo->in_imports, &vm->imports);
	spin_unlock(&vm->pinned_lock);
	return obj;
}

/*
 * The attachment has to go before the facade does, the object may stay. The
 * reference to the dma-buf, whose fences are the object's, stays with it.
 */
void rkmm_bo_import_detach(struct rkmm_bo *bo)
{
	struct drm_gem_object *obj = &bo->base.base;
	struct dma_buf_attachment *attach = obj->import_attach;
	struct sg_table *sgt = bo->base.sgt;

	bo->detached = true;
	obj->import_attach = NULL;
	bo->base.sgt = NULL;
	rkmm_dma_buf_unmap(attach, sgt);
	dma_buf_detach(bo->import, attach);
}

static enum dma_data_direction rkmm_import_direction(bool read, bool write)
{
	if (read && write)
		return DMA_BIDIRECTIONAL;
	return write ? DMA_TO_DEVICE : DMA_FROM_DEVICE;
}

int rkmm_bo_import_begin(struct rkmm_bo *bo, bool read, bool write)
{
	int ret = dma_buf_begin_cpu_access(bo->import, rkmm_import_direction(read, write));

	return ret == -ERESTARTSYS ? -EINTR : ret;
}

int rkmm_bo_import_end(struct rkmm_bo *bo, bool read, bool write)
{
	int ret = dma_buf_end_cpu_access(bo->import, rkmm_import_direction(read, write));

	return ret == -ERESTARTSYS ? -EINTR : ret;
}
