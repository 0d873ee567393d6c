// SPDX-License-Identifier: GPL-2.0-only
/*
 * A bus had one IOMMU driver, bus_type.iommu_ops, until 17de3f5fdd35 ("iommu: Retire bus
 * ops"), 6.8. While it is there, unregistering an IOMMU driver leaves it dangling.
 */
#include <linux/device/bus.h>
#include <linux/iommu.h>

static const struct iommu_ops *__maybe_unused probe(const struct bus_type *bus)
{
	return bus->iommu_ops;
}
