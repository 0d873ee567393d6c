// SPDX-License-Identifier: MIT
/* librkmm over the kernel of fake_kernel.c: buffers, submissions by hand, threads. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>

#include "lib_fixture.h"

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

/* A temporary is a name: it has a number, and nothing that a buffer can do. */
static void test_temporaries(void **state)
{
	struct rkmm_buffer *last = rkmm_temporary(DRM_RKMM_MAX_TEMPS - 1), *first;
	void *p;
	int fd;

	(void)state;
	first = rkmm_temporary(0);
	assert_non_null(first);
	assert_null(rkmm_temporary(DRM_RKMM_MAX_TEMPS));
	assert_null(rkmm_temporary(UINT32_MAX));
	assert_ptr_equal(first, rkmm_temporary(0));
	assert_int_equal(rkmm_buffer_handle(first), 0);
	assert_int_equal(rkmm_buffer_handle(last), DRM_RKMM_MAX_TEMPS - 1);
	assert_int_equal(rkmm_buffer_size(last), 0);
	assert_int_equal(rkmm_buffer_map(first, &p), -EINVAL);
	assert_int_equal(rkmm_buffer_export(first, &fd), -EINVAL);
	assert_int_equal(rkmm_buffer_begin(first, 0, 1, RKMM_READ, 0), -EINVAL);
	assert_int_equal(rkmm_buffer_end(first, 0, 1, RKMM_WRITE), -EINVAL);
	rkmm_buffer_destroy(first);
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

/* Plans that the driver stops to trust: nobody notices, as long as new ones have the same layouts. */
static void test_stale(void **state)
{
	enum { M = 4, K = 64, N = 32 };
	struct rkmm_matmul_desc d = describe(DRM_RKMM_I8I32, M, K, N);
	struct rkmm_device *dev = open_dev();
	int8_t *a = matrix(M * K, d.types, &seed), *b = matrix(K * N, d.types, &seed);
	struct rkmm_buffer *abuf, *bbuf, *cbuf;
	struct rkmm_op ops[3];
	struct rkmm_plan *plan[2];
	struct rkmm_context *ctx;
	struct rkmm_weights *w;
	int32_t c[M * N];
	unsigned int i, plans;

	(void)state;
	for (i = 0; i < 2; i++)
		assert_int_equal(rkmm_plan_create(dev, &d, &plan[i]), 0);
	assert_int_equal(rkmm_buffer_create(dev, rkmm_plan_a(plan[0])->size, &abuf), 0);
	assert_int_equal(rkmm_buffer_create(dev, rkmm_plan_b(plan[0])->size, &bbuf), 0);
	assert_int_equal(rkmm_buffer_create(dev, 3 * rkmm_plan_c(plan[0])->size, &cbuf), 0);
	for (i = 0; i < 3; i++)
		ops[i] = (struct rkmm_op) {
			.plan = plan[i & 1], .a = { abuf, 0 }, .b = { bbuf, 0 },
			.c = { cbuf, i * rkmm_plan_c(plan[0])->size },
		};
	plans = fake.plans;
	/* the first one: both are asked for again, once each, and the submission once */
	fake.stale = 2;
	fake.submits = 0;
	assert_int_equal(rkmm_submit_wait(dev, ops, 3, NULL), 0);
	assert_int_equal(fake.submits, 1);
	assert_int_equal(fake.plans, plans + 2);
	assert_int_equal(rkmm_submit_wait(dev, ops, 3, NULL), 0);
	assert_int_equal(fake.plans, plans + 2);
	/* other layouts are none that the caller's buffers have */
	fake.stale = 4;
	fake.wider = 64;
	assert_int_equal(rkmm_submit_wait(dev, ops, 3, NULL), -ESTALE);
	assert_int_equal(fake.plans, plans + 2);
	fake.wider = 0;
	/* a driver that trusts nothing ends the matter */
	fake.stale = UINT32_MAX;
	assert_int_equal(rkmm_submit_wait(dev, ops, 1, NULL), -ESTALE);
	assert_non_null(strstr(rkmm_last_error(), "stale again"));
	fake.stale = 0;

	assert_int_equal(rkmm_weights_create(dev, d.types, K, N, b, N, 0, &w), 0);
	assert_int_equal(rkmm_context_create(dev, &d, NULL, &ctx), 0);
	fake.stale = fake.plans;
	assert_int_equal(rkmm_context_run(ctx, w, a, K, c, N, 0), 0);
	check(&d, M, a, K, b, N, c, N);
	fake.stale = 0;
	rkmm_context_destroy(ctx);
	rkmm_weights_destroy(w);
	for (i = 0; i < 2; i++)
		rkmm_plan_destroy(plan[i]);
	/* the old handles are given back too */
	assert_int_equal(fake.plans, 0);
	rkmm_buffer_destroy(abuf);
	rkmm_buffer_destroy(bbuf);
	rkmm_buffer_destroy(cbuf);
	rkmm_close(dev);
	free(a);
	free(b);
}

/* The header's example: heads side by side in the rows of A and C, B packed head by head. */
static void test_batched(void **state)
{
	enum { HEADS = 3, ROWS = 5, D = 64, T = 32, PITCH = HEADS * T };
	struct rkmm_matmul_desc d = describe(DRM_RKMM_I8I32, ROWS, D, T);
	struct rkmm_device *dev = open_dev();
	int8_t *b[HEADS], *a = matrix(ROWS * HEADS * D, d.types, &seed);
	struct rkmm_buffer *q, *k, *scores;
	struct rkmm_op op, two[2];
	struct rkmm_plan *plan;
	uint64_t seqno, size, before = fake.submits;
	void *to;
	int h;

	(void)state;
	d.a_pitch = HEADS * D;
	d.c_pitch = HEADS * T * 4;
	assert_int_equal(rkmm_plan_create(dev, &d, &plan), 0);
	size = rkmm_plan_b(plan)->size;
	assert_int_equal(rkmm_buffer_create(dev, ROWS * HEADS * D, &q), 0);
	assert_int_equal(rkmm_buffer_create(dev, HEADS * size, &k), 0);
	assert_int_equal(rkmm_buffer_create(dev, ROWS * HEADS * T * 4, &scores), 0);
	assert_int_equal(rkmm_buffer_map(q, &to), 0);
	assert_int_equal(rkmm_buffer_begin(q, 0, ROWS * HEADS * D, RKMM_WRITE, 0), 0);
	memcpy(to, a, ROWS * HEADS * D);
	assert_int_equal(rkmm_buffer_end(q, 0, ROWS * HEADS * D, RKMM_WRITE), 0);
	assert_int_equal(rkmm_buffer_map(k, &to), 0);
	assert_int_equal(rkmm_buffer_begin(k, 0, HEADS * size, RKMM_WRITE, 0), 0);
	for (h = 0; h < HEADS; h++) {
		b[h] = matrix(D * T, d.types, &seed);
		assert_int_equal(rkmm_pack_b(rkmm_plan_b(plan), (int8_t *)to + h * size, b[h], T,
					     D, T, 0), 0);
	}
	assert_int_equal(rkmm_buffer_end(k, 0, HEADS * size, RKMM_WRITE), 0);
	op = (struct rkmm_op){
		.plan = plan, .count = HEADS, .a = { .buf = q }, .a_stride = D,
		.b = { .buf = k }, .b_stride = size, .c = { .buf = scores }, .c_stride = T * 4,
	};
	assert_int_equal(rkmm_submit(dev, &op, 1, NULL, &seqno), 0);
	assert_int_equal(fake.submits, before + 1);
	assert_int_equal(rkmm_wait(dev, seqno, RKMM_FOREVER), 0);
	assert_int_equal(rkmm_buffer_begin(scores, 0, ROWS * HEADS * T * 4, RKMM_READ,
					   RKMM_FOREVER), 0);
	assert_int_equal(rkmm_buffer_map(scores, &to), 0);
	for (h = 0; h < HEADS; h++)
		check(&d, ROWS, a + h * D, HEADS * D, b[h], T, (int32_t *)to + h * T, PITCH);

	/* what the kernel is told, and what it says to it */
	two[0] = op;
	two[1] = op;
	two[1].flags = DRM_RKMM_OP_GROUPED;
	assert_int_equal(rkmm_submit(dev, two, 2, NULL, &seqno), 0);
	two[0].flags = DRM_RKMM_OP_GROUPED;
	assert_int_equal(rkmm_submit(dev, two, 2, NULL, &seqno), -EINVAL);
	op.reserved = 1;
	assert_int_equal(rkmm_submit(dev, &op, 1, NULL, &seqno), -EINVAL);
	op.reserved = 0;
	op.b_stride = 65;
	assert_int_equal(rkmm_submit(dev, &op, 1, NULL, &seqno), -EINVAL);

	for (h = 0; h < HEADS; h++)
		free(b[h]);
	free(a);
	rkmm_buffer_destroy(q);
	rkmm_buffer_destroy(k);
	rkmm_buffer_destroy(scores);
	rkmm_plan_destroy(plan);
	rkmm_close(dev);
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
	struct rkmm_buffer *none;
	struct rkmm_device *dev = open_dev();
	int8_t *b = matrix(50 * 60, DRM_RKMM_I8I32, &seed);
	int i;

	(void)state;
	assert_int_equal(rkmm_buffer_create(dev, 0, &none), -EINVAL);
	assert_int_equal(rkmm_weights_create(dev, DRM_RKMM_I8I32, 50, 60, b, 60, 0, &w), 0);
	for (i = 0; i < THREADS; i++) {
		t[i] = (struct thread) { .dev = dev, .w = w, .b = b, .number = i };
		assert_int_equal(pthread_create(&id[i], NULL, thread_main, &t[i]), 0);
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(id[i], NULL);
	for (i = 0; i < THREADS; i++)
		assert_int_equal(t[i].failed, 0);
	/* What failed in this thread before is still what it says. */
	assert_non_null(strstr(rkmm_last_error(), "buffer of 0 bytes"));
	rkmm_weights_destroy(w);
	rkmm_close(dev);
	free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_buffers), T(test_temporaries), T(test_submit), T(test_stale), T(test_batched), T(test_threads),
	};

	return cmocka_run_group_tests_name("lib_submit", tests, NULL, NULL);
}
