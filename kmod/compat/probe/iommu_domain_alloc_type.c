// SPDX-License-Identifier: GPL-2.0-only
/*
 * iommu_ops.domain_alloc made a domain of a given type. Drivers have domain_alloc_paging
 * instead since 4601cd2d7c4c ("iommu: Add ops->domain_alloc_paging()"), 6.7; the old
 * callback was dropped after 6.12.
 */
#include <linux/iommu.h>

static struct iommu_domain *probe(unsigned int type)
{
	return NULL;
}

struct iommu_ops probe_ops = { .domain_alloc = probe };
