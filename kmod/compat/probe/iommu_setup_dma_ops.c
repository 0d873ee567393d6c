// SPDX-License-Identifier: GPL-2.0-only
/*
 * IOMMU drivers called iommu_setup_dma_ops() themselves until b67483b3c44e ("iommu/dma:
 * Centralise iommu_setup_dma_ops()"), 6.10.
 */
#include <linux/iommu.h>

static void __maybe_unused probe(struct device *dev)
{
	iommu_setup_dma_ops(dev, 0, 0);
}
