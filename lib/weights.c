// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/internal.h"

/* The buffer and what the plan says about it. */
static int alloc_for(const struct rkmm_plan *plan, struct rkmm_weights **out, void **ptr)
{
	struct rkmm_weights *w = calloc(1, sizeof(*w));
	int ret;

	if (!w)
		return rkmm_fail(-ENOMEM, "weights: out of memory");
	w->tensor = plan->info.b;
	w->types = plan->info.types;
	w->k = plan->info.k;
	w->n = plan->info.n;
	ret = rkmm_buffer_create(plan->dev, w->tensor.size, &w->buf);
	if (!ret)
		ret = rkmm_buffer_map(w->buf, ptr);
	if (ret)
		rkmm_weights_destroy(w);
	else
		*out = w;
	return ret;
}

int rkmm_weights_alloc(struct rkmm_device *dev, uint32_t types, uint32_t k, uint32_t n,
		       uint64_t b_layout, struct rkmm_weights **out, void **ptr)
{
	/* The layout of B does not depend on M or on requantisation: slices are not free. */
	struct rkmm_matmul_desc desc = {
		.types = types, .m = 1, .k = k, .n = n, .b_layout = b_layout,
	};
	struct rkmm_plan *plan;
	int ret;

	*out = NULL;
	if (types == DRM_RKMM_I8I8)
		desc.mult = 1;
	ret = rkmm_plan_create(dev, &desc, &plan);
	if (ret)
		return ret;
	ret = alloc_for(plan, out, ptr);
	rkmm_plan_destroy(plan);
	return ret;
}

/* Packed into ptr, and visible to the NPU; frees w when that fails. */
static int fill(struct rkmm_weights *w, void *ptr, const void *b, size_t ldb, uint32_t flags,
		struct rkmm_weights **out)
{
	int ret = rkmm_pack_b(&w->tensor, ptr, b, ldb, w->k, w->n, flags);

	if (!ret)
		ret = rkmm_buffer_end(w->buf, 0, w->tensor.size, RKMM_WRITE);
	if (ret)
		rkmm_weights_destroy(w);
	else
		*out = w;
	return ret;
}

int rkmm_weights_create(struct rkmm_device *dev, uint32_t types, uint32_t k, uint32_t n,
			const void *b, size_t ldb, uint32_t flags, struct rkmm_weights **out)
{
	struct rkmm_weights *w = NULL;
	void *ptr = NULL;
	int ret;

	*out = NULL;
	ret = rkmm_weights_alloc(dev, types, k, n, 0, &w, &ptr);
	return ret ? ret : fill(w, ptr, b, ldb, flags, out);
}

int rkmm_weights_create_for(const struct rkmm_plan *plan, const void *b, size_t ldb,
			    uint32_t flags, struct rkmm_weights **out)
{
	struct rkmm_weights *w = NULL;
	void *ptr = NULL;
	int ret;

	*out = NULL;
	ret = alloc_for(plan, &w, &ptr);
	return ret ? ret : fill(w, ptr, b, ldb, flags, out);
}

int rkmm_weights_set_scales(struct rkmm_weights *w, const float *scale)
{
	float *copy = NULL;

	if (scale) {
		copy = malloc(w->n * sizeof(*copy));
		if (!copy)
			return rkmm_fail(-ENOMEM, "scales: out of memory");
		memcpy(copy, scale, w->n * sizeof(*copy));
	}
	free(w->scale);
	w->scale = copy;
	return 0;
}

const float *rkmm_weights_scales(const struct rkmm_weights *w)
{
	return w->scale;
}

uint32_t rkmm_weights_types(const struct rkmm_weights *w)
{
	return w->types;
}

void rkmm_weights_shape(const struct rkmm_weights *w, uint32_t *k, uint32_t *n)
{
	*k = w->k;
	*n = w->n;
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
	free(w->scale);
	free(w);
}
