// SPDX-License-Identifier: GPL-2.0-only
/*
 * A driver's domain had a detach_dev callback until "iommu: Remove detach_dev callbacks",
 * 6.3.
 */
#include <linux/iommu.h>

static void probe(struct iommu_domain *domain, struct device *dev)
{
}

struct iommu_domain_ops probe_ops = { .detach_dev = probe };
