// SPDX-License-Identifier: MIT
/* librkmm as a whole, over the kernel of fake_kernel.c. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake_kernel.h"
#include "lib/rkmm.h"

static uint32_t rnd(uint64_t *s)
{
	*s = *s * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*s >> 33);
}

static uint64_t seed = 42;

/* Operands with values that make every sum exact in fp32, halves included. */
static void *matrix(size_t count, uint32_t types, uint64_t *s)
{
	int half = types == DRM_RKMM_F16F32 || types == DRM_RKMM_F16F16;
	void *p = malloc(count * 2);
	size_t i;

	for (i = 0; i < count; i++) {
		int v = (int)(rnd(s) & 15) - 8;
		float f = (float)v;

		if (half)
			rkmm_f32_to_f16(&f, (uint16_t *)p + i, 1);
		else if (types == DRM_RKMM_I4I16)
			((int8_t *)p)[i] = (int8_t)v;
		else
			((int8_t *)p)[i] = (int8_t)rnd(s);
	}
	return p;
}

static int value(const void *p, size_t i, uint32_t types)
{
	float f;

	if (types != DRM_RKMM_F16F32 && types != DRM_RKMM_F16F16)
		return ((const int8_t *)p)[i];
	rkmm_f16_to_f32((const uint16_t *)p + i, &f, 1);
	return (int)f;
}

static size_t out_bytes(uint32_t types)
{
	static const size_t bytes[] = { 4, 1, 4, 2, 2 };

	return bytes[types];
}

static int result(const void *p, size_t i, uint32_t types)
{
	float f;

	switch (types) {
	case DRM_RKMM_I8I32:
		return ((const int32_t *)p)[i];
	case DRM_RKMM_I8I8:
		return ((const int8_t *)p)[i];
	case DRM_RKMM_F16F32:
		return (int)((const float *)p)[i];
	case DRM_RKMM_F16F16:
		rkmm_f16_to_f32((const uint16_t *)p + i, &f, 1);
		return (int)f;
	default:
		return ((const int16_t *)p)[i];
	}
}

static int expect(long sum, const struct rkmm_matmul_desc *d)
{
	if (d->types == DRM_RKMM_I8I8) {
		/* mult 1, shift 8 in these tests: round half to even by hand. */
		long q = sum >> 8, r = sum & 255;

		q += r > 128 || (r == 128 && q & 1);
		q += d->offset;
		return (int)(q < -128 ? -128 : q > 127 ? 127 : q);
	}
	if (d->types == DRM_RKMM_F16F16) {
		float f = (float)sum;
		uint16_t h;

		rkmm_f32_to_f16(&f, &h, 1);
		rkmm_f16_to_f32(&h, &f, 1);
		return (int)f;
	}
	return (int)sum;
}

static void check(const struct rkmm_matmul_desc *d, uint32_t rows, const void *a, size_t lda,
		  const void *b, size_t ldb, const void *c, size_t ldc)
{
	uint32_t m, n, k;

	for (m = 0; m < rows; m++)
		for (n = 0; n < d->n; n++) {
			long sum = 0;

			for (k = 0; k < d->k; k++)
				sum += (long)value(a, m * lda + k, d->types) *
				       value(b, d->flags ? n * ldb + k : k * ldb + n, d->types);
			assert_int_equal(result(c, m * ldc + n, d->types), expect(sum, d));
		}
}

static struct rkmm_matmul_desc describe(uint32_t types, uint32_t m, uint32_t k, uint32_t n)
{
	struct rkmm_matmul_desc d = { .types = types, .m = m, .k = k, .n = n };

	if (types == DRM_RKMM_I8I8) {
		d.mult = 1;
		d.shift = 8;
		d.offset = -3;
	}
	return d;
}

static struct rkmm_device *open_dev(void)
{
	struct rkmm_device *dev;

	assert_int_equal(rkmm_open("/fake/npu", &dev), 0);
	return dev;
}

static int open_fds(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static int fds_before;

static int setup(void **state)
{
	(void)state;
	fake_reset();
	fds_before = open_fds();
	return 0;
}

/* Whatever a test did, nothing may be left. */
static int teardown(void **state)
{
	(void)state;
	return fake.bos || fake.plans || fake.nodes || fake.maps || open_fds() != fds_before;
}

static void test_open(void **state)
{
	struct drm_rkmm_device_info info;
	struct drm_rkmm_client_info client;
	struct drm_rkmm_type_info type;
	struct rkmm_device *dev;

	(void)state;
	/* By name, past a node that may not be opened and one of another driver. */
	fake.name = NULL;
	assert_int_equal(rkmm_open(NULL, &dev), 0);
	assert_true(rkmm_fd(dev) >= 0);
	assert_int_equal(rkmm_device_info(dev, &info), 0);
	assert_string_equal(info.chip, "fake");
	assert_int_equal(rkmm_client_info(dev, &client), 0);
	assert_int_equal(rkmm_type_info(dev, DRM_RKMM_I4I16, &type), 0);
	assert_int_equal(type.n_align, 64);
	assert_int_equal(rkmm_type_info(dev, 77, &type), -EOPNOTSUPP);
	rkmm_close(dev);

	fake.name = "panfrost";
	assert_int_equal(rkmm_open("/fake/gpu", &dev), -ENODEV);
	assert_null(dev);
	assert_non_null(strstr(rkmm_last_error(), "/fake/gpu"));
	/* One node was not allowed: that is the likelier reason. */
	assert_int_equal(rkmm_open(NULL, &dev), -EACCES);
	assert_int_equal(rkmm_open("/fake/secret", &dev), -EACCES);

	fake.name = "rkmm";
	fake.version = 7 << 16 | 3;
	assert_int_equal(rkmm_open("/fake/npu", &dev), -EPROTO);
	assert_non_null(strstr(rkmm_last_error(), "7.3"));
	rkmm_close(NULL);
}

/* All type pairs, both families of layouts, odd shapes, leading dimensions, B both ways. */
static void test_matmul(void **state)
{
	struct rkmm_device *dev = open_dev();
	int i;

	(void)state;
	for (i = 0; i < 60; i++) {
		struct rkmm_matmul_desc d = describe(rnd(&seed) % 5, 1 + rnd(&seed) % 21,
						     1 + rnd(&seed) % 100, 1 + rnd(&seed) % 140);
		size_t lda = d.k + rnd(&seed) % 5, ldc = d.n + rnd(&seed) % 5, ldb;
		void *a, *b, *c;

		fake.cube = i & 1;
		fake.tile_rows = 1 + rnd(&seed) % 9;
		fake.tile_cols = 64 * (1 + rnd(&seed) % 3);
		d.flags = i & 2 ? RKMM_B_TRANSPOSED : 0;
		ldb = (d.flags ? d.k : d.n) + rnd(&seed) % 5;
		a = matrix(d.m * lda, d.types, &seed);
		b = matrix((d.flags ? d.n : d.k) * ldb, d.types, &seed);
		c = calloc(d.m * ldc, out_bytes(d.types));
		assert_int_equal(rkmm_matmul(dev, &d, a, lda, b, ldb, c, ldc), 0);
		check(&d, d.m, a, lda, b, ldb, c, ldc);
		free(a);
		free(b);
		free(c);
	}
	rkmm_close(dev);
}

struct resident {
	struct rkmm_device *dev;
	struct rkmm_matmul_desc d;
	struct rkmm_weights *w;
	struct rkmm_context *ctx;
	void *a, *b, *c;
};

static void resident_make(struct resident *r, uint32_t types)
{
	r->dev = open_dev();
	r->d = describe(types, 9, 70, 90);
	r->a = matrix((size_t)r->d.m * r->d.k, types, &seed);
	r->b = matrix((size_t)r->d.k * r->d.n, types, &seed);
	r->c = calloc((size_t)r->d.m * r->d.n, out_bytes(types));
	assert_int_equal(rkmm_weights_create(r->dev, types, r->d.k, r->d.n, r->b, r->d.n, 0,
					     &r->w), 0);
	assert_int_equal(rkmm_context_create(r->dev, &r->d, r->w, &r->ctx), 0);
}

static void resident_check(struct resident *r, uint32_t rows)
{
	check(&r->d, rows, r->a, r->d.k, r->b, r->d.n, r->c, r->d.n);
}

static void resident_free(struct resident *r)
{
	/* The device first: objects keep it. */
	rkmm_close(r->dev);
	rkmm_weights_destroy(r->w);
	rkmm_context_destroy(r->ctx);
	free(r->a);
	free(r->b);
	free(r->c);
}

static void test_context(void **state)
{
	unsigned int ioctls, maps;
	struct resident r;
	uint32_t rows;

	(void)state;
	for (uint32_t types = 0; types < 5; types++) {
		resident_make(&r, types);
		maps = fake.maps;
		for (rows = r.d.m; rows; rows--) {
			memset(r.c, 0, (size_t)r.d.m * r.d.n * out_bytes(types));
			ioctls = fake.ioctls;
			assert_int_equal(rkmm_context_run(r.ctx, r.w, r.a, r.d.k, r.c, r.d.n,
							  rows), 0);
			/* End of writing A, SUBMIT with wait, begin of reading C. */
			assert_int_equal(fake.ioctls - ioctls, 3);
			resident_check(&r, rows);
		}
		assert_int_equal(fake.maps, maps);
		resident_free(&r);
	}
}

static void test_context_split(void **state)
{
	struct resident r;

	(void)state;
	resident_make(&r, DRM_RKMM_I8I32);
	assert_int_equal(rkmm_context_wait(r.ctx, 0), -ENOENT);
	assert_int_equal(rkmm_context_read(r.ctx, r.c, r.d.n), -ENOENT);
	assert_int_equal(rkmm_context_submit(r.ctx, r.w, r.a, r.d.k, 0), 0);
	assert_int_equal(rkmm_context_submit(r.ctx, r.w, r.a, r.d.k, 0), -EBUSY);
	assert_int_equal(rkmm_context_read(r.ctx, r.c, r.d.n), -EBUSY);
	fake.busy = 1;
	assert_int_equal(rkmm_context_wait(r.ctx, 0), -ETIME);
	assert_int_equal(rkmm_context_wait(r.ctx, RKMM_FOREVER), 0);
	assert_int_equal(rkmm_context_wait(r.ctx, 0), 0);
	assert_int_equal(rkmm_context_read(r.ctx, r.c, r.d.n), 0);
	resident_check(&r, r.d.m);
	assert_int_equal(fake.executed, 1);

	/* A in place: the same rows again, no copy. */
	memset(r.c, 0, (size_t)r.d.m * r.d.n * 4);
	assert_int_equal(rkmm_context_submit(r.ctx, r.w, NULL, 0, 0), 0);
	assert_int_equal(rkmm_context_wait(r.ctx, RKMM_FOREVER), 0);
	assert_int_equal(rkmm_context_read(r.ctx, NULL, 0), 0);
	assert_int_equal(rkmm_unpack_c(rkmm_plan_c(rkmm_context_plan(r.ctx)),
				       rkmm_context_c(r.ctx), r.c, r.d.n, r.d.m, r.d.n), 0);
	resident_check(&r, r.d.m);
	assert_ptr_not_equal(rkmm_context_a(r.ctx), NULL);

	assert_int_equal(rkmm_context_submit(r.ctx, r.w, r.a, r.d.k, r.d.m + 1), -EINVAL);
	resident_free(&r);
}

/* A signal ends the wait of SUBMIT: the job runs once, only the wait is repeated. */
static void test_interrupted(void **state)
{
	struct resident r;

	(void)state;
	resident_make(&r, DRM_RKMM_I8I32);
	fake.interrupted = 1;
	assert_int_equal(rkmm_context_run(r.ctx, r.w, r.a, r.d.k, r.c, r.d.n, 0), 0);
	assert_int_equal(fake.submits, 1);
	assert_int_equal(fake.executed, 1);
	assert_int_equal(fake.waits, 1);
	resident_check(&r, r.d.m);

	/* And the result of the repeated wait counts. */
	fake.interrupted = 1;
	fake.result = -EIO;
	assert_int_equal(rkmm_context_run(r.ctx, r.w, r.a, r.d.k, r.c, r.d.n, 0), -EIO);
	assert_int_equal(fake.submits, 2);
	assert_non_null(strstr(rkmm_last_error(), "hung the NPU"));
	assert_int_equal(rkmm_context_read(r.ctx, r.c, r.d.n), -ENOENT);
	resident_free(&r);
}

static void test_results(void **state)
{
	static const int results[] = { -EIO, -ECANCELED, -ENODEV };
	struct resident r;
	unsigned int i;

	(void)state;
	resident_make(&r, DRM_RKMM_F16F32);
	for (i = 0; i < 3; i++) {
		fake.result = results[i];
		assert_int_equal(rkmm_context_run(r.ctx, r.w, r.a, r.d.k, r.c, r.d.n, 0),
				 results[i]);
		assert_int_equal(rkmm_context_submit(r.ctx, r.w, r.a, r.d.k, 0), 0);
		assert_int_equal(rkmm_context_wait(r.ctx, RKMM_FOREVER), results[i]);
	}
	/* It can go on afterwards. */
	fake.result = 0;
	assert_int_equal(rkmm_context_run(r.ctx, r.w, r.a, r.d.k, r.c, r.d.n, 0), 0);
	resident_check(&r, r.d.m);
	resident_free(&r);
}

static void test_refusals(void **state)
{
	struct rkmm_device *dev = open_dev();
	struct rkmm_matmul_desc d;
	struct rkmm_weights *w;
	struct rkmm_context *ctx;
	int8_t b[64 * 64] = { 9 };
	struct rkmm_plan *plan;
	struct rkmm_buffer *buf;

	(void)state;
	d = describe(DRM_RKMM_I8I32, 1, 10753, 1);
	assert_int_equal(rkmm_plan_create(dev, &d, &plan), -EOPNOTSUPP);
	assert_null(plan);
	assert_non_null(strstr(rkmm_last_error(), "10752"));
	d = describe(DRM_RKMM_I8I32, 1, 1, 8193);
	assert_int_equal(rkmm_plan_create(dev, &d, &plan), -EOPNOTSUPP);
	assert_non_null(strstr(rkmm_last_error(), "8192"));
	d = describe(DRM_RKMM_I8I32, 0, 1, 1);
	assert_int_equal(rkmm_plan_create(dev, &d, &plan), -EOPNOTSUPP);
	assert_non_null(strstr(rkmm_last_error(), "zero"));
	d = describe(99, 1, 1, 1);
	assert_int_equal(rkmm_plan_create(dev, &d, &plan), -EINVAL);
	d = describe(DRM_RKMM_I8I32, 1, 1, 1);
	d.reserved[4] = 1;
	assert_int_equal(rkmm_plan_create(dev, &d, &plan), -EINVAL);
	d = describe(DRM_RKMM_I8I32, 1, 1, 1);
	d.flags = RKMM_B_TRANSPOSED << 1;
	assert_int_equal(rkmm_matmul(dev, &d, b, 1, b, 1, b, 1), -EINVAL);
	d.flags = 0;
	d.a_pitch = 64;
	assert_int_equal(rkmm_context_create(dev, &d, NULL, &ctx), -EINVAL);

	/* Weights that do not fit: of other values, of another shape. */
	assert_int_equal(rkmm_weights_create(dev, DRM_RKMM_I4I16, 64, 64, b, 64, 0, &w), -ERANGE);
	assert_null(w);
	assert_int_equal(rkmm_weights_create(dev, DRM_RKMM_I8I32, 64, 64, b, 63, 0, &w), -EINVAL);
	assert_int_equal(rkmm_weights_create(dev, DRM_RKMM_I8I32, 64, 64, b, 64, 0, &w), 0);
	d = describe(DRM_RKMM_I8I32, 1, 64, 65);
	assert_int_equal(rkmm_context_create(dev, &d, w, &ctx), -EOPNOTSUPP);
	assert_int_equal(rkmm_context_create(dev, &d, NULL, &ctx), 0);
	assert_int_equal(rkmm_context_submit(ctx, w, b, 64, 0), -EINVAL);
	assert_non_null(strstr(rkmm_last_error(), "another layout"));
	rkmm_context_destroy(ctx);
	rkmm_weights_destroy(w);

	assert_int_equal(rkmm_buffer_create(dev, 0, &buf), -EINVAL);
	rkmm_close(dev);
	rkmm_context_destroy(NULL);
	rkmm_weights_destroy(NULL);
	rkmm_plan_destroy(NULL);
	rkmm_buffer_destroy(NULL);
}

/* Every ioctl of a matmul fails once: the error comes back and nothing is left. */
static void test_failing_kernel(void **state)
{
	static const unsigned long requests[] = {
		DRM_IOCTL_RKMM_QUERY, DRM_IOCTL_RKMM_PLAN_CREATE, DRM_IOCTL_RKMM_BO_CREATE,
		DRM_IOCTL_RKMM_BO_SYNC, DRM_IOCTL_RKMM_SUBMIT, DRM_IOCTL_RKMM_WAIT,
	};
	struct rkmm_matmul_desc d = describe(DRM_RKMM_I8I32, 3, 40, 50);
	int8_t a[3 * 40] = { 1 }, b[40 * 50] = { 2 };
	struct rkmm_device *dev;
	int32_t c[3 * 50];
	unsigned int i;
	int after, ret;

	(void)state;
	for (i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		for (after = 0; ; after++) {
			fake.fail = requests[i];
			fake.fail_after = after;
			fake.fail_errno = -ENOSPC;
			fake.interrupted = 1;	/* so that WAIT is used */
			ret = rkmm_open("/fake/npu", &dev);
			if (!ret) {
				ret = rkmm_matmul(dev, &d, a, 40, b, 50, c, 50);
				rkmm_close(dev);
			}
			assert_int_equal(fake.bos + fake.plans + fake.nodes + fake.maps, 0);
			if (fake.fail)
				break;
			assert_int_equal(ret, -ENOSPC);
			assert_non_null(strstr(rkmm_last_error(), "IOVA"));
		}
		assert_true(after > 0);
		assert_int_equal(ret, 0);
	}
}

static void test_buffers(void **state)
{
	struct rkmm_device *dev = open_dev();
	struct rkmm_buffer *own, *same, *foreign, *again;
	int fd, memfd;
	void *p, *q;

	(void)state;
	assert_int_equal(rkmm_buffer_create(dev, 5000, &own), 0);
	assert_int_equal(rkmm_buffer_size(own), 8192);
	assert_int_not_equal(rkmm_buffer_handle(own), 0);
	assert_int_equal(rkmm_buffer_map(own, &p), 0);
	assert_int_equal(rkmm_buffer_map(own, &q), 0);
	assert_ptr_equal(p, q);
	assert_int_equal(rkmm_buffer_begin(own, 0, 8192, RKMM_WRITE, 0), 0);
	assert_int_equal(rkmm_buffer_end(own, 0, 8192, RKMM_WRITE), 0);
	assert_int_equal(rkmm_buffer_begin(own, 1, 8192, RKMM_READ, 0), -EINVAL);
	assert_int_equal(rkmm_buffer_begin(own, 0, 0, RKMM_READ, 0), -EINVAL);
	assert_int_equal(rkmm_buffer_begin(own, 0, 1, 0, 0), -EINVAL);
	assert_int_equal(rkmm_buffer_end(own, 0, 1, 4), -EINVAL);

	/* One's own buffer comes back as the same object and outlives one of two destroys. */
	assert_int_equal(rkmm_buffer_export(own, &fd), 0);
	assert_int_equal(rkmm_buffer_import(dev, fd, &same), 0);
	close(fd);
	assert_ptr_equal(own, same);
	rkmm_buffer_destroy(same);
	assert_int_equal(fake.bos, 1);
	memset(p, 1, 8192);

	memfd = memfd_create("foreign", MFD_CLOEXEC);
	assert_int_equal(ftruncate(memfd, 4096), 0);
	assert_int_equal(pwrite(memfd, "hello", 5, 100), 5);
	assert_int_equal(rkmm_buffer_import(dev, memfd, &foreign), 0);
	assert_int_equal(rkmm_buffer_import(dev, memfd, &again), 0);
	assert_ptr_equal(foreign, again);
	close(memfd);
	assert_int_equal(rkmm_buffer_map(foreign, &q), 0);
	assert_int_equal(rkmm_buffer_begin(foreign, 0, 4096, RKMM_READ | RKMM_WRITE, 0), 0);
	assert_memory_equal((char *)q + 100, "hello", 5);
	assert_int_equal(rkmm_buffer_end(foreign, 0, 4096, RKMM_READ | RKMM_WRITE), 0);
	rkmm_buffer_destroy(again);
	assert_memory_equal((char *)q + 100, "hello", 5);
	rkmm_buffer_destroy(foreign);
	assert_int_equal(fake.bos, 1);

	assert_int_equal(rkmm_buffer_import(dev, -1, &foreign), -EBADF);
	assert_null(foreign);
	rkmm_buffer_destroy(own);
	rkmm_close(dev);
}

/* By hand and without copies: A and C in buffers of the caller, several in flight. */
static void test_submit(void **state)
{
	enum { JOBS = 20, M = 4, K = 64, N = 32 };
	struct rkmm_matmul_desc d = describe(DRM_RKMM_I8I32, M, K, N);
	struct drm_rkmm_sync sync = { .handle = 1 };
	struct rkmm_submit_options options = { .out_syncs = &sync, .num_out = 1 };
	struct rkmm_device *dev = open_dev();
	struct rkmm_buffer *abuf, *cbuf;
	struct rkmm_op ops[JOBS];
	struct rkmm_weights *w;
	struct rkmm_plan *plan;
	uint64_t seqno, first;
	void *a, *c;
	int8_t *b;
	int i;

	(void)state;
	b = matrix(K * N, d.types, &seed);
	assert_int_equal(rkmm_weights_create(dev, d.types, K, N, b, N, 0, &w), 0);
	d.a_pitch = 128;
	d.c_pitch = N * 4 + 64;
	d.b_layout = rkmm_weights_tensor(w)->layout_id;
	assert_int_equal(rkmm_plan_create(dev, &d, &plan), 0);
	assert_int_equal(rkmm_plan_a(plan)->pitch, 128);
	assert_int_equal(rkmm_plan_b(plan)->layout_id, d.b_layout);
	assert_int_equal(rkmm_plan_programs(plan), 1);
	assert_int_equal(rkmm_plan_predicted_ns(plan), 1000);
	assert_int_equal(rkmm_buffer_create(dev, JOBS * M * 128, &abuf), 0);
	assert_int_equal(rkmm_buffer_create(dev, JOBS * M * d.c_pitch, &cbuf), 0);
	assert_int_equal(rkmm_buffer_map(abuf, &a), 0);
	assert_int_equal(rkmm_buffer_map(cbuf, &c), 0);

	assert_int_equal(rkmm_buffer_begin(abuf, 0, JOBS * M * 128, RKMM_WRITE, 0), 0);
	for (i = 0; i < JOBS * M * 128; i++)
		((int8_t *)a)[i] = (int8_t)rnd(&seed);
	assert_int_equal(rkmm_buffer_end(abuf, 0, JOBS * M * 128, RKMM_WRITE), 0);
	for (i = 0; i < JOBS; i++)
		ops[i] = (struct rkmm_op) {
			.plan = plan,
			.a = { abuf, (uint64_t)i * M * 128 },
			.b = { rkmm_weights_buffer(w), 0 },
			.c = { cbuf, (uint64_t)i * M * d.c_pitch },
		};
	assert_int_equal(rkmm_submit(dev, ops, 1, &options, &first), 0);
	assert_int_equal(rkmm_submit(dev, ops + 1, JOBS - 1, NULL, &seqno), 0);
	assert_int_equal(seqno, first + 1);
	assert_int_equal(rkmm_wait(dev, seqno, RKMM_FOREVER), 0);
	assert_int_equal(rkmm_wait(dev, first, 1000), 0);
	assert_int_equal(rkmm_wait(dev, seqno + 1, 0), -ENOENT);
	fake.busy = 1;
	assert_int_equal(rkmm_wait(dev, seqno, INT64_MAX), -ETIME);
	assert_int_equal(rkmm_buffer_begin(cbuf, 0, JOBS * M * d.c_pitch, RKMM_READ,
					   RKMM_FOREVER), 0);
	for (i = 0; i < JOBS; i++)
		check(&d, M, (int8_t *)a + i * M * 128, 128, b, N,
		      (uint8_t *)c + i * M * d.c_pitch, d.c_pitch / 4);
	assert_int_equal(rkmm_buffer_end(cbuf, 0, JOBS * M * d.c_pitch, RKMM_READ), 0);

	assert_int_equal(rkmm_submit(dev, ops, 0, NULL, &seqno), -EINVAL);
	assert_int_equal(rkmm_submit(dev, ops, DRM_RKMM_MAX_OPS + 1, NULL, &seqno), -EINVAL);
	ops[1].b.buf = NULL;
	assert_int_equal(rkmm_submit(dev, ops, 2, NULL, &seqno), -EINVAL);
	options.reserved[0] = 1;
	assert_int_equal(rkmm_submit(dev, ops, 1, &options, &seqno), -EINVAL);

	rkmm_buffer_destroy(abuf);
	rkmm_buffer_destroy(cbuf);
	rkmm_weights_destroy(w);
	rkmm_plan_destroy(plan);
	rkmm_close(dev);
	free(b);
}

struct thread {
	struct rkmm_device *dev;
	struct rkmm_weights *w;
	const int8_t *b;
	int number;
	int failed;
};

static void *thread_main(void *arg)
{
	struct thread *t = arg;
	struct rkmm_matmul_desc d = describe(DRM_RKMM_I8I32, 3, 50, 60);
	uint64_t mine = 1000 + (uint64_t)t->number;
	struct rkmm_context *ctx;
	struct rkmm_plan *plan;
	int32_t c[3 * 60];
	int8_t *a;
	int i, m, n, k;
	char want[16];

	if (rkmm_context_create(t->dev, &d, t->w, &ctx)) {
		t->failed = 1;
		return NULL;
	}
	for (i = 0; i < 40 && !t->failed; i++) {
		a = matrix(3 * 50, d.types, &mine);
		t->failed = rkmm_context_run(ctx, t->w, a, 50, c, 60, 0);
		for (m = 0; m < 3; m++)
			for (n = 0; n < 60; n++) {
				int32_t sum = 0;

				for (k = 0; k < 50; k++)
					sum += a[m * 50 + k] * t->b[k * 60 + n];
				t->failed |= sum != c[m * 60 + n];
			}
		free(a);
		/* The text is that of this thread's error. */
		d.k = 20000 + (uint32_t)t->number;
		snprintf(want, sizeof(want), "%u", d.k);
		t->failed |= rkmm_plan_create(t->dev, &d, &plan) != -EOPNOTSUPP;
		t->failed |= !strstr(rkmm_last_error(), want);
	}
	rkmm_context_destroy(ctx);
	return NULL;
}

static void test_threads(void **state)
{
	enum { THREADS = 6 };
	struct thread t[THREADS];
	pthread_t id[THREADS];
	struct rkmm_weights *w;
	struct rkmm_device *dev = open_dev();
	int8_t *b = matrix(50 * 60, DRM_RKMM_I8I32, &seed);
	int i;

	(void)state;
	assert_int_equal(rkmm_weights_create(dev, DRM_RKMM_I8I32, 50, 60, b, 60, 0, &w), 0);
	for (i = 0; i < THREADS; i++) {
		t[i] = (struct thread) { .dev = dev, .w = w, .b = b, .number = i };
		assert_int_equal(pthread_create(&id[i], NULL, thread_main, &t[i]), 0);
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(id[i], NULL);
	for (i = 0; i < THREADS; i++)
		assert_int_equal(t[i].failed, 0);
	rkmm_weights_destroy(w);
	rkmm_close(dev);
	free(b);
}

static void test_texts(void **state)
{
	(void)state;
	assert_non_null(strstr(rkmm_reason_string(DRM_RKMM_REASON_BANKS), "on-chip"));
	assert_string_equal(rkmm_reason_string(12345), "unknown reason");
	assert_non_null(rkmm_reason_string(DRM_RKMM_REASON_QUANT));
	assert_string_equal(rkmm_version_string(), "0.1.0");
}

#define T(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_open), T(test_matmul), T(test_context), T(test_context_split),
		T(test_interrupted), T(test_results), T(test_refusals), T(test_failing_kernel),
		T(test_buffers), T(test_submit), T(test_threads), T(test_texts),
	};

	return cmocka_run_group_tests_name("lib_device", tests, NULL, NULL);
}
