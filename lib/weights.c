// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdlib.h>

#include "lib/internal.h"

int rkmm_weights_create(struct rkmm_device *dev, uint32_t types, uint32_t k, uint32_t n,
			const void *b, size_t ldb, uint32_t flags, struct rkmm_weights **out)
{
	/* The layout of B never depends on M or on requantisation. */
	struct rkmm_matmul_desc desc = { .types = types, .m = 1, .k = k, .n = n };
	struct rkmm_weights *w;
	struct rkmm_plan *plan;
	void *ptr;
	int ret;

	*out = NULL;
	if (types == DRM_RKMM_I8I8)
		desc.mult = 1;
	ret = rkmm_plan_create(dev, &desc, &plan);
	if (ret)
		return ret;

	w = calloc(1, sizeof(*w));
	if (!w) {
		ret = rkmm_fail(-ENOMEM, "weights: out of memory");
		goto out;
	}
	w->tensor = *rkmm_plan_b(plan);
	ret = rkmm_buffer_create(dev, w->tensor.size, &w->buf);
	if (ret)
		goto out;
	ret = rkmm_buffer_map(w->buf, &ptr);
	if (ret)
		goto out;
	ret = rkmm_pack_b(&w->tensor, ptr, b, ldb, k, n, flags);
	if (ret)
		goto out;
	ret = rkmm_buffer_end(w->buf, 0, w->tensor.size, RKMM_WRITE);
out:
	rkmm_plan_destroy(plan);
	if (ret)
		rkmm_weights_destroy(w);
	else
		*out = w;
	return ret;
}

const struct drm_rkmm_tensor *rkmm_weights_tensor(const struct rkmm_weights *w)
{
	return &w->tensor;
}

struct rkmm_buffer *rkmm_weights_buffer(const struct rkmm_weights *w)
{
	return w->buf;
}

void rkmm_weights_destroy(struct rkmm_weights *w)
{
	if (!w)
		return;
	rkmm_buffer_destroy(w->buf);
	free(w);
}
