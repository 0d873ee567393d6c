// SPDX-License-Identifier: MIT
/* C = A x B with int8 inputs and exact int32 results. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <rkmm.h>

int main(void)
{
	enum { M = 5, K = 100, N = 37 };
	static int8_t a[M][K], b[K][N];
	static int32_t c[M][N];
	struct rkmm_matmul_desc desc = { .types = DRM_RKMM_I8I32, .m = M, .k = K, .n = N };
	struct rkmm_context *ctx = NULL;
	struct rkmm_weights *w = NULL;
	struct rkmm_device *dev = NULL;
	int ret;

	for (int i = 0; i < M * K; i++)
		a[i / K][i % K] = (int8_t)rand();
	for (int i = 0; i < K * N; i++)
		b[i / N][i % N] = (int8_t)rand();

	ret = rkmm_open(NULL, &dev);
	/* B is packed once and stays resident; the context keeps buffers for A and C. */
	if (!ret)
		ret = rkmm_weights_create(dev, desc.types, K, N, b, N, 0, &w);
	if (!ret)
		ret = rkmm_context_create(dev, &desc, w, &ctx);
	/* Repeat this one as often as there are new rows: it allocates nothing. */
	if (!ret)
		ret = rkmm_context_run(ctx, w, a, K, c, N, M);
	if (ret)
		fprintf(stderr, "%s\n", rkmm_last_error());
	else
		printf("C[0][0] = %" PRId32 "\n", c[0][0]);

	rkmm_context_destroy(ctx);
	rkmm_weights_destroy(w);
	rkmm_close(dev);
	return ret ? 1 : 0;
}
