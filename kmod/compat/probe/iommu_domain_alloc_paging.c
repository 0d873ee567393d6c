// SPDX-License-Identifier: GPL-2.0-only
/*
 * iommu_ops.domain_alloc_paging makes a paging domain for a device since 4601cd2d7c4c
 * ("iommu: Add ops->domain_alloc_paging()"), 6.7.
 */
#include <linux/iommu.h>

static struct iommu_domain *probe(struct device *dev)
{
	return NULL;
}

struct iommu_ops probe_ops = { .domain_alloc_paging = probe };
