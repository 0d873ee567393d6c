// SPDX-License-Identifier: GPL-2.0-only
/*
 * iommu_map() takes allocation flags since 1369459b2e21 ("iommu: Add a gfp parameter to
 * iommu_map()"), 6.3.
 */
#include <linux/iommu.h>

static int __maybe_unused probe(struct iommu_domain *domain)
{
	return iommu_map(domain, 0, 0, 4096, IOMMU_READ, GFP_KERNEL);
}
