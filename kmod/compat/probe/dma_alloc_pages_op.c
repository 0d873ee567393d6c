// SPDX-License-Identifier: GPL-2.0-only
/*
 * dma_map_ops.alloc_pages became alloc_pages_op in "change alloc_pages name in dma_map_ops
 * to avoid name conflicts", 6.10.
 */
#include <linux/dma-map-ops.h>

static struct page *probe(struct device *dev, size_t size, dma_addr_t *dma,
			  enum dma_data_direction dir, gfp_t gfp)
{
	return NULL;
}

const struct dma_map_ops probe_ops = { .alloc_pages_op = probe };
