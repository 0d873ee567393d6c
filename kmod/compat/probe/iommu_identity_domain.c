// SPDX-License-Identifier: GPL-2.0-only
/*
 * iommu_ops.identity_domain is a domain that needs no allocation, since "iommu: Add
 * iommu_ops->identity_domain", 6.7. Where detach_dev is gone, a driver without it has
 * nothing to go back to.
 */
#include <linux/iommu.h>

static struct iommu_domain probe_domain;
struct iommu_ops probe_ops = { .identity_domain = &probe_domain };
