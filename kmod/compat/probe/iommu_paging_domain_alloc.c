// SPDX-License-Identifier: GPL-2.0-only
/*
 * A paging domain is made for a device since a27bf2743cb8 ("iommu: Add
 * iommu_paging_domain_alloc() interface"), 6.11; it was made for a bus before, by
 * iommu_domain_alloc(), which 6.13 dropped.
 */
#include <linux/iommu.h>

static struct iommu_domain *__maybe_unused probe(struct device *dev)
{
	return iommu_paging_domain_alloc(dev);
}
