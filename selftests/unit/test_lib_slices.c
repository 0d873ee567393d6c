// SPDX-License-Identifier: MIT
/* librkmm over the kernel of fake_kernel.c: K in slices, partial results added by the library. */
#include "lib_fixture.h"
#include "lib/kernels.h"

static int expect_exact(long sum, const struct rkmm_matmul_desc *d)
{
	if (d->types == DRM_RKMM_I4I16)
		return (int)(sum > 32767 ? 32767 : sum < -32768 ? -32768 : sum);
	return expect(sum, d);
}

static void check_sums(const struct rkmm_matmul_desc *d, const void *a, const void *b,
		       const void *c, size_t ldc)
{
	uint32_t m, n, k;

	for (m = 0; m < d->m; m++)
		for (n = 0; n < d->n; n++) {
			long sum = 0;

			for (k = 0; k < d->k; k++)
				sum += (long)value(a, m * d->k + k, d->types) *
				       value(b, d->flags ? n * d->k + k : k * d->n + n, d->types);
			assert_int_equal(result(c, m * ldc + n, d->types), expect_exact(sum, d));
		}
}

static void run(struct rkmm_device *dev, uint32_t types, uint32_t m, uint32_t k, uint32_t n,
		uint32_t flags)
{
	struct rkmm_matmul_desc d = describe(types, m, k, n);
	void *a = matrix((size_t)m * k, types, &seed), *b = matrix((size_t)k * n, types, &seed);
	size_t ldc = n + 5, i;
	uint8_t *c = malloc(m * ldc * 4);

	d.flags = flags;
	memset(c, 0xa5, m * ldc * 4);
	assert_int_equal(rkmm_matmul(dev, &d, a, k, b, flags ? k : n, c, ldc), 0);
	check_sums(&d, a, b, c, ldc);
	for (i = n * out_bytes(types); i < ldc * out_bytes(types); i++)
		assert_int_equal(c[i], 0xa5);
	free(a);
	free(b);
	free(c);
}

/* Every type, orientation and layout; slices with a short last one. */
static void test_shapes(void **state)
{
	static const uint32_t slices[] = { 32, 64, 96, 512 };
	struct rkmm_device *dev = open_dev();
	uint32_t t, s, cube;

	(void)state;
	for (cube = 0; cube < 2; cube++)
		for (s = 0; s < 4; s++)
			for (t = 0; t < 5; t++) {
				fake.cube = (int)cube;
				fake.slice = slices[s];
				run(dev, t, 1 + rnd(&seed) % 20, 100 + rnd(&seed) % 900,
				    1 + rnd(&seed) % 300, rnd(&seed) & 1);
				run(dev, t, 9, 10 * slices[s] + 1, 66, 0);
			}
	rkmm_close(dev);
}

/* The same with the loops of each instruction set. */
static void test_sets(void **state)
{
	const struct rkmm_kernels *k, *own = rkmm_kernels();
	struct rkmm_device *dev = open_dev();
	uint32_t i, t, cube;

	(void)state;
	fake.slice = 64;
	for (i = 0; (k = rkmm_kernels_nth(i)); i++) {
		print_message("%s\n", k->name);
		rkmm_kernels_use(k);
		for (cube = 0; cube < 2; cube++)
			for (t = 0; t < 5; t++) {
				fake.cube = (int)cube;
				run(dev, t, 3, 150 + rnd(&seed) % 100, 1 + rnd(&seed) % 100, 0);
			}
	}
	rkmm_kernels_use(own);
	rkmm_close(dev);
}

enum { MOST = 70, ROOM = MOST + 3 };

/* What a sum is by the plain rules of C */
static uint32_t plain_sum(uint32_t sum, const uint8_t *src, uint32_t j, uint32_t op)
{
	int16_t narrow;
	uint32_t bits;
	float x, y;

	memcpy(&bits, src + 4 * j, sizeof(bits));
	memcpy(&narrow, src + 2 * j, sizeof(narrow));
	if (op == 0)
		return sum + bits;
	if (op == 1)
		return sum + (uint32_t)narrow;
	memcpy(&x, &sum, sizeof(x));
	memcpy(&y, &bits, sizeof(y));
	x += y;
	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static void check_adds(const struct rkmm_kernels *k, uint32_t op, uint32_t n, uint32_t off)
{
	uint8_t buffer[4 * MOST + 4], *src = buffer + off;
	union {
		uint32_t u[ROOM];
		int32_t i[ROOM];
		float f[ROOM];
	} sum, want;
	uint32_t j;

	for (j = 0; j < sizeof(buffer); j++)
		buffer[j] = (uint8_t)rnd(&seed);
	for (j = 0; j < ROOM; j++)
		sum.u[j] = rnd(&seed) << 16 ^ rnd(&seed);
	/* floats of like magnitudes, none of them a NaN */
	for (j = 0; op == 2 && j < ROOM; j++)
		sum.u[j] = (sum.u[j] & 0x83ffffff) | 0x40000000;
	for (j = 0; op == 2 && j < n; j++)
		src[4 * j + 3] = (src[4 * j + 3] & 0x83) | 0x40;
	want = sum;
	for (j = 0; j < n; j++)
		want.u[j] = plain_sum(sum.u[j], src, j, op);
	if (op == 0)
		k->add_i32(sum.i, src, n);
	else if (op == 1)
		k->add_i16(sum.i, src, n);
	else
		k->add_f32(sum.f, src, n);
	assert_memory_equal(&sum, &want, sizeof(sum));
}

/* Sums of every length at every place: bit for bit those of a loop; nothing else changes. */
static void test_adds(void **state)
{
	const struct rkmm_kernels *k;
	uint32_t n, off, i, op;

	(void)state;
	for (i = 0; (k = rkmm_kernels_nth(i)); i++)
		for (op = 0; op < 3; op++)
			for (n = 0; n <= MOST; n++)
				for (off = 0; off < 4; off++)
					check_adds(k, op, n, off);
}

/* The sum of the partial results is clamped, not each of them. */
static void test_clamp(void **state)
{
	enum { SLICE = 512, K = 3 * SLICE, N = 64 };
	struct rkmm_matmul_desc d = describe(DRM_RKMM_I4I16, 1, K, N);
	struct rkmm_device *dev = open_dev();
	int8_t a[K], b[K * N];
	int16_t c[N];
	int i, j;

	(void)state;
	fake.slice = SLICE;
	for (i = 0; i < K; i++) {
		a[i] = 7;
		for (j = 0; j < N; j++)
			b[i * N + j] = i < 2 * SLICE ? 7 : (int8_t)(j % 8 ? -8 : 7);
	}
	assert_int_equal(rkmm_matmul(dev, &d, a, K, b, N, c, N), 0);
	for (j = 0; j < N; j++)
		assert_int_equal(c[j], j % 8 ? 2 * SLICE * 49 - SLICE * 56 : 32767);
	rkmm_close(dev);
}

/* Fewer rows than the plan's, weights kept, flags; the single-result call refuses. */
static void test_context(void **state)
{
	enum { M = 20, K = 700, N = 70 };
	struct rkmm_device *dev = open_dev();
	uint32_t t, rows;

	(void)state;
	fake.slice = 256;
	for (t = 0; t < 5; t++) {
		struct rkmm_matmul_desc d = describe(t, M, K, N);
		void *a = matrix(M * K, t, &seed), *b = matrix(K * N, t, &seed);
		uint8_t *c = malloc(M * N * 4);
		const struct drm_rkmm_tensor *ct;
		struct rkmm_context *ctx;
		struct rkmm_weights *w;

		assert_int_equal(rkmm_weights_create(dev, t, K, N, b, N, 0, &w), 0);
		assert_int_equal(rkmm_context_create(dev, &d, w, &ctx), 0);
		assert_int_equal(rkmm_plan_flags(rkmm_context_plan(ctx)),
				 DRM_RKMM_PLAN_HOST_FINISH);
		ct = rkmm_plan_c(rkmm_context_plan(ctx));
		assert_int_equal(ct->slices, 3);
		for (rows = 1; rows <= M; rows += 9) {
			d.m = rows;
			assert_int_equal(rkmm_context_run(ctx, w, a, K, c, N, rows), 0);
			check_sums(&d, a, b, c, N);
		}
		assert_int_equal(rkmm_unpack_c(ct, rkmm_context_c(ctx), c, N, 1, N), -EINVAL);
		assert_int_equal(rkmm_finish_c(rkmm_context_plan(ctx), rkmm_context_c(ctx), c,
					       N - 1, 1), -EINVAL);
		assert_int_equal(rkmm_finish_c(rkmm_context_plan(ctx), rkmm_context_c(ctx), c,
					       N, M + 1), -EINVAL);
		rkmm_context_destroy(ctx);
		rkmm_weights_destroy(w);
		free(a);
		free(b);
		free(c);
	}
	rkmm_close(dev);
}

/* Weights for one plan alone; rkmm_matmul() lets the driver cut K but for int4. */
static void test_free_slices(void **state)
{
	enum { M = 5, K = 600, N = 70, FREE = 128 };
	struct rkmm_device *dev = open_dev();
	uint32_t t;

	(void)state;
	fake.free_slice = FREE;
	for (t = 0; t < 5; t++) {
		struct rkmm_matmul_desc d = describe(t, M, K, N);
		void *a = matrix(M * K, t, &seed), *b = matrix(K * N, t, &seed);
		struct rkmm_weights *shared, *own;
		struct rkmm_context *ctx;
		uint8_t *c = malloc(M * N * 4);

		d.flags = RKMM_FREE_SLICES;
		assert_int_equal(rkmm_context_create(dev, &d, NULL, &ctx), 0);
		assert_int_equal(rkmm_plan_b(rkmm_context_plan(ctx))->slice, FREE);
		assert_int_equal(rkmm_weights_create(dev, t, K, N, b, N, 0, &shared), 0);
		assert_int_equal(rkmm_context_run(ctx, shared, a, K, c, N, 0), -EINVAL);
		assert_int_equal(rkmm_weights_create_for(rkmm_context_plan(ctx), b, N, 0, &own), 0);
		assert_int_equal(rkmm_context_run(ctx, own, a, K, c, N, 0), 0);
		d.flags = 0;
		check_sums(&d, a, b, c, N);
		rkmm_context_destroy(ctx);
		/* They say what they are: a plan made for them has their slices. */
		assert_int_equal(rkmm_context_create(dev, &d, own, &ctx), 0);
		assert_int_equal(rkmm_plan_b(rkmm_context_plan(ctx))->slice, FREE);
		rkmm_context_destroy(ctx);
		assert_int_equal(rkmm_matmul(dev, &d, a, K, b, N, c, N), 0);
		check_sums(&d, a, b, c, N);
		assert_int_equal(fake.free_plans, t == DRM_RKMM_I4I16 ? 9 : 2 * (t + 1));
		rkmm_weights_destroy(shared);
		rkmm_weights_destroy(own);
		free(a);
		free(b);
		free(c);
	}
	rkmm_close(dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_shapes),
		T(test_sets),
		T(test_adds),
		T(test_clamp),
		T(test_context),
		T(test_free_slices),
	};

	return cmocka_run_group_tests_name("K slices", tests, NULL, NULL);
}
