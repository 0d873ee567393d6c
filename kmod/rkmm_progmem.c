// SPDX-License-Identifier: GPL-2.0-only
/*
 * Program memory. The kernel writes it once and the NPU reads it: write-combined,
 * so that no cache maintenance stands between synthesis and start. The linear
 * alias of the pages is cacheable; mapping them for DMA cleans it, and nobody
 * touches it after that.
 */
#include <drm/drm_drv.h>
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "compat/rkmm_compat.h"
#include "rkmm_device.h"
#include "rkmm_stage.h"

gfp_t rkmm_page_gfp(struct rkmm_device *rdev)
{
	gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_NOWARN;

	/* Behind a narrow bus only memory below 4 GiB can be mapped (hw 01 §1.7). */
	return rdev->soc->dma_bits > 32 ? gfp : gfp | __GFP_DMA32;
}

static void rkmm_progmem_free_pages(struct rkmm_progmem *pm)
{
	u32 i;

	for (i = 0; i < pm->npages; i++)
		__free_page(pm->pages[i]);
	kvfree(pm->pages);
}

static int rkmm_progmem_alloc_pages(struct rkmm_progmem *pm, u32 npages)
{
	pm->pages = kvcalloc(npages, sizeof(*pm->pages), GFP_KERNEL_ACCOUNT);
	if (!pm->pages)
		return -ENOMEM;
	while (pm->npages < npages) {
		struct page *page = NULL;

		/* There may be gigabytes to come. */
		if (!fatal_signal_pending(current))
			page = alloc_page(rkmm_page_gfp(pm->window->rdev) | __GFP_ZERO);
		if (!page)
			goto err_free;
		pm->pages[pm->npages++] = page;
	}
	if (sg_alloc_table_from_pages_segment(&pm->sgt, pm->pages, npages, 0,
					      (size_t)npages << PAGE_SHIFT, UINT_MAX,
					      GFP_KERNEL_ACCOUNT))
		goto err_free;
	return 0;

err_free:
	rkmm_progmem_free_pages(pm);
	return -ENOMEM;
}

static int rkmm_progmem_map(struct rkmm_progmem *pm)
{
	struct rkmm_window *window = pm->window;
	struct device *dma = window->rdev->dma;
	struct scatterlist *sg;
	int i, ret;
	u64 at;

	lockdep_assert_held(&window->rdev->vm.lock);
	ret = rkmm_window_insert(window, &pm->mm, pm->size);
	if (ret)
		return ret;
	at = pm->mm.start;
	/* No line will be dirty after this: dma-direct ignores the hint, the software NPU asks. */
	ret = pm->of ? 0 : dma_map_sgtable(dma, &pm->sgt, DMA_BIDIRECTIONAL,
					   DMA_ATTR_WRITE_COMBINE);
	if (ret)
		goto err_remove;
	for_each_sgtable_dma_sg(&(pm->of ?: pm)->sgt, sg, i) {
		ret = rkmm_window_fill(window, &at, sg_dma_address(sg), sg_dma_len(sg),
				       pm->scratch ? IOMMU_READ | IOMMU_WRITE : IOMMU_READ);
		if (ret)
			goto err_unmap;
	}
	ret = rkmm_window_guard(window, &at);
	if (ret)
		goto err_unmap;
	list_add(&pm->in_window, &window->progmems);
	pm->iova = pm->mm.start;
	pm->mapped = true;
	return 0;

err_unmap:
	if (!pm->of)
		dma_unmap_sgtable(dma, &pm->sgt, DMA_BIDIRECTIONAL, DMA_ATTR_WRITE_COMBINE);
err_remove:
	rkmm_window_remove(window, &pm->mm, at);
	return ret;
}

void rkmm_progmem_unmap(struct rkmm_progmem *pm)
{
	lockdep_assert_held(&pm->window->rdev->vm.lock);
	if (!pm->mapped)
		return;
	pm->mapped = false;
	rkmm_stage_forget_mem(pm);
	list_del(&pm->in_window);
	rkmm_window_remove(pm->window, &pm->mm, (u64)pm->iova + pm->size + PAGE_SIZE);
	if (!pm->of)
		dma_unmap_sgtable(pm->window->rdev->dma, &pm->sgt, DMA_BIDIRECTIONAL,
				  DMA_ATTR_WRITE_COMBINE);
}

static struct rkmm_progmem *rkmm_progmem_new(struct rkmm_window *window, size_t size, bool scratch)
{
	struct rkmm_device *rdev = window->rdev;
	struct rkmm_progmem *pm;
	pgprot_t prot;
	int ret, idx;

	if (!size || size > rdev->vm.largest)
		return ERR_PTR(-EINVAL);
	pm = kzalloc(sizeof(*pm), GFP_KERNEL_ACCOUNT);
	if (!pm)
		return ERR_PTR(-ENOMEM);
	pm->window = window;
	pm->scratch = scratch;
	pm->size = PAGE_ALIGN(size);
	INIT_LIST_HEAD(&pm->in_window);
	ret = rkmm_progmem_alloc_pages(pm, pm->size >> PAGE_SHIFT);
	if (ret)
		goto err_free;

	ret = -ENODEV;
	if (!drm_dev_enter(rdev->drm, &idx))
		goto err_pages;
	mutex_lock(&rdev->vm.lock);
	ret = rkmm_progmem_map(pm);
	mutex_unlock(&rdev->vm.lock);
	if (ret)
		goto err_exit;

	prot = dev_is_dma_coherent(rdev->dma) ? PAGE_KERNEL : pgprot_writecombine(PAGE_KERNEL);
	pm->vaddr = vmap(pm->pages, pm->npages, VM_MAP, prot);
	if (!pm->vaddr) {
		ret = -ENOMEM;
		goto err_unmap;
	}
	drm_dev_exit(idx);
	rkmm_window_get(window);
	return pm;

err_unmap:
	mutex_lock(&rdev->vm.lock);
	rkmm_progmem_unmap(pm);
	mutex_unlock(&rdev->vm.lock);
err_exit:
	drm_dev_exit(idx);
err_pages:
	sg_free_table(&pm->sgt);
	rkmm_progmem_free_pages(pm);
err_free:
	kfree(pm);
	return ERR_PTR(ret);
}

struct rkmm_progmem *rkmm_progmem_alloc(struct rkmm_window *window, size_t size)
{
	return rkmm_progmem_new(window, size, false);
}

struct rkmm_progmem *rkmm_scratch_alloc(struct rkmm_window *window, size_t size)
{
	return rkmm_progmem_new(window, size, true);
}

struct rkmm_progmem *rkmm_progmem_alias(struct rkmm_progmem *pm, struct rkmm_window *window)
{
	struct rkmm_device *rdev = window->rdev;
	struct rkmm_progmem *alias;
	int ret = -ENODEV, idx;

	alias = kzalloc(sizeof(*alias), GFP_KERNEL_ACCOUNT);
	if (!alias)
		return ERR_PTR(-ENOMEM);
	alias->window = window;
	alias->of = pm;
	alias->scratch = pm->scratch;
	alias->size = pm->size;
	INIT_LIST_HEAD(&alias->in_window);
	if (drm_dev_enter(rdev->drm, &idx)) {
		mutex_lock(&rdev->vm.lock);
		/* else the device went and came no more */
		if (pm->mapped)
			ret = rkmm_progmem_map(alias);
		mutex_unlock(&rdev->vm.lock);
		drm_dev_exit(idx);
	}
	if (ret) {
		kfree(alias);
		return ERR_PTR(ret);
	}
	rkmm_window_get(window);
	return alias;
}

void rkmm_progmem_free(struct rkmm_progmem *pm)
{
	struct rkmm_window *window = pm->window;

	/* Before the pages become ordinary memory: the unmapping drops stale lines of the alias. */
	vunmap(pm->vaddr);
	mutex_lock(&window->rdev->vm.lock);
	rkmm_progmem_unmap(pm);
	mutex_unlock(&window->rdev->vm.lock);
	if (!pm->of) {
		sg_free_table(&pm->sgt);
		rkmm_progmem_free_pages(pm);
	}
	kfree(pm);
	rkmm_window_put(window);
}
