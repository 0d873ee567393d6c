// SPDX-License-Identifier: MIT
#include "lib/internal.h"

int rkmm_matmul(struct rkmm_device *dev, const struct rkmm_matmul_desc *desc,
		const void *a, size_t lda, const void *b, size_t ldb, void *c, size_t ldc)
{
	struct rkmm_matmul_desc plain = *desc;
	struct rkmm_context *ctx = NULL;
	struct rkmm_weights *w;
	int ret;

	/* The context first: it refuses a bad M before B is packed for nothing. */
	plain.flags = desc->flags & ~RKMM_B_TRANSPOSED;
	/* Nobody else wants this B. Slices of int4 could be clamped where the sum is not. */
	if (desc->types != DRM_RKMM_I4I16)
		plain.flags |= RKMM_FREE_SLICES;
	ret = rkmm_context_create(dev, &plain, NULL, &ctx);
	if (ret)
		return ret;
	ret = rkmm_weights_create_for(rkmm_context_plan(ctx), b, ldb,
				      desc->flags & RKMM_B_TRANSPOSED, &w);
	if (!ret) {
		ret = rkmm_context_run(ctx, w, a, lda, c, ldc, 0);
		rkmm_weights_destroy(w);
	}
	rkmm_context_destroy(ctx);
	return ret;
}
