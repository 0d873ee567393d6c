// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/internal.h"

int rkmm_op_list(struct rkmm_device *dev, struct drm_rkmm_op_info *infos, uint32_t count)
{
	struct drm_rkmm_query q = { .id = DRM_RKMM_QUERY_OPS, .pointer = (uintptr_t)infos };
	int ret;

	if (count > UINT32_MAX / sizeof(*infos))
		return rkmm_fail(-EINVAL, "operations: room for %u", count);
	q.size = count * (uint32_t)sizeof(*infos);
	ret = rkmm_sys_ioctl(dev->fd, DRM_IOCTL_RKMM_QUERY, &q);
	if (ret)
		return rkmm_fail_errno(ret, "query of the operations");
	return (int)(q.size / sizeof(*infos));
}

int rkmm_op_info(struct rkmm_device *dev, uint32_t kind, uint32_t element, uint32_t other,
		 struct drm_rkmm_op_info *info)
{
	int n = rkmm_op_list(dev, NULL, 0), i;
	struct drm_rkmm_op_info *all;

	if (n < 0)
		return n;
	all = calloc((size_t)n + 1, sizeof(*all));
	if (!all)
		return rkmm_fail(-ENOMEM, "operations: out of memory");
	i = rkmm_op_list(dev, all, (uint32_t)n);
	if (i < 0) {
		free(all);
		return i;
	}
	for (i = 0; i < n; i++)
		if (all[i].kind == kind && all[i].element == element && all[i].other == other)
			break;
	if (i < n)
		*info = all[i];
	free(all);
	return i < n ? 0 : rkmm_fail(-EOPNOTSUPP, "%s: operation %u of type %u is unknown",
				     dev->info.chip, kind, element);
}
