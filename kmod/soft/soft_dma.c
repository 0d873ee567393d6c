// SPDX-License-Identifier: GPL-2.0-only
/*
 * How does a driver's DMA API call reach the device view: dma_map_ops of the
 * facade, the platform device through which the driver maps and synchronises.
 *
 * DMA addresses are physical addresses, as they are on the board. Directions
 * mean what they do in arm64: the way to the device cleans whatever the
 * direction, the way to the CPU does nothing after DMA_TO_DEVICE.
 * DMA_ATTR_WRITE_COMBINE, which dma-direct ignores, says that the pages will be
 * used through a write-combined mapping only.
 */
#include <linux/dma-map-ops.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>

#include "soft.h"

static bool soft_dma_to_cpu(enum dma_data_direction dir)
{
	return dir != DMA_TO_DEVICE;
}

static int soft_dma_map(phys_addr_t phys, size_t size, unsigned long attrs)
{
	int ret = soft_view_add(phys, size, attrs & DMA_ATTR_WRITE_COMBINE);

	if (!ret && !(attrs & DMA_ATTR_SKIP_CPU_SYNC))
		soft_view_to_device(phys, size);
	return ret;
}

static void soft_dma_unmap(phys_addr_t phys, size_t size, enum dma_data_direction dir,
			   unsigned long attrs)
{
	if (!(attrs & DMA_ATTR_SKIP_CPU_SYNC) && soft_dma_to_cpu(dir))
		soft_view_to_cpu(phys, size);
	soft_view_del(phys, size);
}

static dma_addr_t soft_dma_map_page(struct device *dev, struct page *page, unsigned long offset,
				    size_t size, enum dma_data_direction dir, unsigned long attrs)
{
	phys_addr_t phys = page_to_phys(page) + offset;

	if (soft_dma_map(phys, size, attrs))
		return DMA_MAPPING_ERROR;
	/* what lies between buffers is never written */
	if (dir == DMA_TO_DEVICE)
		soft_view_mark_guard(phys);
	return phys;
}

static void soft_dma_unmap_page(struct device *dev, dma_addr_t addr, size_t size,
				enum dma_data_direction dir, unsigned long attrs)
{
	soft_dma_unmap(addr, size, dir, attrs);
}

static void soft_dma_unmap_sg(struct device *dev, struct scatterlist *sgl, int nents,
			      enum dma_data_direction dir, unsigned long attrs)
{
	struct scatterlist *sg;
	int i;

	for_each_sg(sgl, sg, nents, i)
		soft_dma_unmap(sg_dma_address(sg), sg_dma_len(sg), dir, attrs);
}

static int soft_dma_map_sg(struct device *dev, struct scatterlist *sgl, int nents,
			   enum dma_data_direction dir, unsigned long attrs)
{
	struct scatterlist *sg;
	int i, ret;

	for_each_sg(sgl, sg, nents, i) {
		ret = soft_dma_map(sg_phys(sg), sg->length, attrs);
		if (ret) {
			/* nothing has been written by the device: nothing to fetch */
			soft_dma_unmap_sg(dev, sgl, i, dir, attrs | DMA_ATTR_SKIP_CPU_SYNC);
			return ret;
		}
		sg_dma_address(sg) = sg_phys(sg);
		sg_dma_len(sg) = sg->length;
	}
	return nents;
}

static void soft_dma_sync_single_for_device(struct device *dev, dma_addr_t addr, size_t size,
					    enum dma_data_direction dir)
{
	soft_view_to_device(addr, size);
}

static void soft_dma_sync_single_for_cpu(struct device *dev, dma_addr_t addr, size_t size,
					 enum dma_data_direction dir)
{
	if (soft_dma_to_cpu(dir))
		soft_view_to_cpu(addr, size);
}

static void soft_dma_sync_sg_for_device(struct device *dev, struct scatterlist *sgl, int nents,
					enum dma_data_direction dir)
{
	struct scatterlist *sg;
	int i;

	for_each_sg(sgl, sg, nents, i)
		soft_view_to_device(sg_dma_address(sg), sg_dma_len(sg));
}

static void soft_dma_sync_sg_for_cpu(struct device *dev, struct scatterlist *sgl, int nents,
				     enum dma_data_direction dir)
{
	struct scatterlist *sg;
	int i;

	if (!soft_dma_to_cpu(dir))
		return;
	for_each_sg(sgl, sg, nents, i)
		soft_view_to_cpu(sg_dma_address(sg), sg_dma_len(sg));
}

static void *soft_dma_alloc(struct device *dev, size_t size, dma_addr_t *handle, gfp_t gfp,
			    unsigned long attrs)
{
	void *p = alloc_pages_exact(size, gfp | __GFP_ZERO);

	if (!p)
		return NULL;
	*handle = virt_to_phys(p);
	if (soft_view_add(*handle, size, true)) {
		free_pages_exact(p, size);
		return NULL;
	}
	return p;
}

static void soft_dma_free(struct device *dev, size_t size, void *p, dma_addr_t handle,
			  unsigned long attrs)
{
	soft_view_del(handle, size);
	free_pages_exact(p, size);
}

static const struct dma_map_ops soft_dma_ops = {
	.alloc = soft_dma_alloc,
	.free = soft_dma_free,
	.map_page = soft_dma_map_page,
	.unmap_page = soft_dma_unmap_page,
	.map_sg = soft_dma_map_sg,
	.unmap_sg = soft_dma_unmap_sg,
	.sync_single_for_cpu = soft_dma_sync_single_for_cpu,
	.sync_single_for_device = soft_dma_sync_single_for_device,
	.sync_sg_for_cpu = soft_dma_sync_sg_for_cpu,
	.sync_sg_for_device = soft_dma_sync_sg_for_device,
};

bool soft_dma_installed(struct device *dev)
{
	return get_dma_ops(dev) == &soft_dma_ops;
}

/* Before anybody can use the facade: from the bus notifier, as it is added. */
void soft_dma_install(struct device *facade)
{
	set_dma_ops(facade, &soft_dma_ops);
	if (!soft_dma_installed(facade))
		dev_err(facade, "this kernel has no dma_map_ops per device: no device view\n");
}
