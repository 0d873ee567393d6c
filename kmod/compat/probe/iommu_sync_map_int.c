// SPDX-License-Identifier: GPL-2.0-only
/* iommu_domain_ops.iotlb_sync_map can fail since 6.8; it returned nothing before. */
#include <linux/iommu.h>

static int probe(struct iommu_domain *domain, unsigned long iova, size_t size)
{
	return 0;
}

struct iommu_domain_ops probe_ops = { .iotlb_sync_map = probe };
