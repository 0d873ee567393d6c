// SPDX-License-Identifier: MIT
/* librkmm over the kernel of fake_kernel.c: devices, whole products, contexts, errors. */
#include "lib_fixture.h"

static void test_open(void **state)
{
	struct drm_rkmm_device_info info;
	struct drm_rkmm_client_info client;
	struct drm_rkmm_type_info type;
	struct drm_rkmm_op_info op, ops[4] = {};
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
	assert_int_equal(rkmm_op_list(dev, NULL, 0), 3);
	assert_int_equal(rkmm_op_list(dev, ops, 2), 3);
	assert_int_equal(ops[1].n_align, 16);
	assert_int_equal(ops[2].n_align, 0);
	assert_int_equal(rkmm_op_info(dev, DRM_RKMM_OP_ADD, DRM_RKMM_F16,
				      DRM_RKMM_OTHER_SCALAR, &op), 0);
	assert_int_equal(op.n_align, 24);
	assert_int_equal(rkmm_op_info(dev, DRM_RKMM_OP_SUB, DRM_RKMM_F16,
				      DRM_RKMM_OTHER_TENSOR, &op), -EOPNOTSUPP);
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

/* Stages as the ioctl has them; what a stage does not have is refused here. */
static void test_epilogue(void **state)
{
	struct rkmm_matmul_desc desc = { .types = DRM_RKMM_F16F16, .m = 4, .k = 32, .n = 32 };
	struct rkmm_op_desc s[5] = {
		{ .kind = DRM_RKMM_OP_RELU },
		{ .kind = DRM_RKMM_OP_ADD, .other = DRM_RKMM_OTHER_SCALAR, .value = 1.5f },
		{ .kind = DRM_RKMM_OP_CLAMP, .value = -1, .value2 = 3, .za = 5, .mult = 7 },
	};
	struct rkmm_device *dev;
	struct rkmm_plan *plan;

	(void)state;
	fake.name = "rkmm";
	assert_int_equal(rkmm_open("/fake/npu", &dev), 0);
	assert_int_equal(rkmm_plan_create_epilogue(dev, &desc, s, 3, &plan), 0);
	assert_int_equal(rkmm_plan_fused(plan), 1);
	assert_int_equal(rkmm_plan_e(plan)->size, 0);
	assert_int_equal(fake.stages[0].kind, DRM_RKMM_OP_RELU);
	assert_int_equal(fake.stages[1].other, DRM_RKMM_OTHER_SCALAR);
	assert_int_equal(fake.stages[1].value, 0x3fc00000);
	assert_int_equal(fake.stages[2].value, 0xbf800000);
	assert_int_equal(fake.stages[2].value2, 0x40400000);
	assert_int_equal(fake.stages[2].za, 5);
	assert_int_equal(fake.stages[2].mult, 7);
	assert_int_equal(fake.stages[3].kind, 0);
	rkmm_plan_destroy(plan);
	/* whole numbers for integers */
	desc.types = DRM_RKMM_I8I32;
	s[1].value = 70000;
	assert_int_equal(rkmm_plan_create_epilogue(dev, &desc, s, 2, &plan), 0);
	assert_int_equal(fake.stages[1].value, 70000);
	rkmm_plan_destroy(plan);
	s[1].value = 0.5f;
	assert_int_equal(rkmm_plan_create_epilogue(dev, &desc, s, 2, &plan), -EINVAL);
	assert_null(plan);
	s[1].value = 1;
	assert_int_equal(rkmm_plan_create_epilogue(dev, &desc, s, 5, &plan), -EINVAL);
	s[1].m = 4;
	assert_int_equal(rkmm_plan_create_epilogue(dev, &desc, s, 2, &plan), -EINVAL);
	s[1] = s[0];
	assert_int_equal(rkmm_plan_create_epilogue(dev, &desc, s, 2, &plan), -EOPNOTSUPP);
	assert_non_null(strstr(rkmm_last_error(), "stage 1"));
	assert_int_equal(rkmm_plan_create_epilogue(dev, &desc, NULL, 0, &plan), 0);
	rkmm_plan_destroy(plan);
	rkmm_close(dev);
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
	d.reserved[3] = 1;
	assert_int_equal(rkmm_plan_create(dev, &d, &plan), -EINVAL);
	d = describe(DRM_RKMM_I8I32, 1, 1, 1);
	d.flags = RKMM_FREE_SLICES << 1;
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

static void test_texts(void **state)
{
	(void)state;
	assert_non_null(strstr(rkmm_reason_string(DRM_RKMM_REASON_BANKS), "on-chip"));
	assert_string_equal(rkmm_reason_string(12345), "unknown reason");
	assert_non_null(rkmm_reason_string(DRM_RKMM_REASON_QUANT));
	assert_string_equal(rkmm_version_string(), "0.1.0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_open), T(test_epilogue), T(test_matmul), T(test_context), T(test_context_split),
		T(test_interrupted), T(test_results), T(test_refusals), T(test_failing_kernel),
		T(test_texts),
	};

	return cmocka_run_group_tests_name("lib_device", tests, NULL, NULL);
}
