// SPDX-License-Identifier: GPL-2.0
/* Do the same bytes mean the same for as long as they do, and no longer? Do owners' jobs show? */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include "../kselftest_harness.h"
#include "rkmm_test.h"

FIXTURE(again) {
	int fd;
	struct mm mm;
	struct drm_rkmm_op op;
};

FIXTURE_SETUP(again)
{
	self->fd = rk_open();
	ASSERT_LE(0, self->fd);
	self->mm = (struct mm) { .types = DRM_RKMM_I8I32, .m = 5, .k = 70, .n = 40 };
	ASSERT_EQ(0, mm_init(&self->mm, self->fd, 23));
	self->op = mm_op(&self->mm);
}

FIXTURE_TEARDOWN(again)
{
	mm_free(&self->mm);
	close(self->fd);
}

/* The same bytes, with other contents each time. */
static int run(struct mm *mm, const struct drm_rkmm_op *op)
{
	struct drm_rkmm_submit s;
	int ret;

	mm_new_a(mm);
	ret = buf_end_write(&mm->a);
	if (!ret)
		ret = mm_new_c(mm);
	submit_init(&s, op, 1);
	if (!ret)
		ret = rk_submit(mm->fd, &s);
	if (!ret)
		ret = rk_result(mm->fd, s.seqno);
	return ret ? ret : mm_check(mm) ? -EBADMSG : 0;
}

static int runs(struct mm *mm, const struct drm_rkmm_op *op)
{
	int i, ret = 0;

	for (i = 0; i < 4 && !ret; i++)
		ret = run(mm, op);
	return ret;
}

TEST_F(again, same)
{
	struct drm_rkmm_client_info before, now;

	ASSERT_EQ(0, run(&self->mm, &self->op));
	ASSERT_EQ(0, rk_client(self->fd, &before));
	ASSERT_EQ(0, runs(&self->mm, &self->op));
	ASSERT_EQ(0, rk_client(self->fd, &now));
	EXPECT_EQ(before.jobs + 4, now.jobs);
	/* one byte differs */
	self->op.rows = 4;
	self->mm.rows = 4;
	EXPECT_EQ(0, runs(&self->mm, &self->op));
}

TEST_F(again, plan_destroyed)
{
	struct drm_rkmm_plan_destroy d = { .plan = self->op.plan };
	struct drm_rkmm_submit s;

	ASSERT_EQ(0, runs(&self->mm, &self->op));
	ASSERT_EQ(0, xioctl(self->fd, DRM_IOCTL_RKMM_PLAN_DESTROY, &d));
	submit_init(&s, &self->op, 1);
	EXPECT_EQ(-ENOENT, rk_submit(self->fd, &s));
	/* the number again, for fewer rows */
	self->mm.m = 3;
	ASSERT_EQ(0, mm_plan(&self->mm, self->fd));
	ASSERT_EQ(self->op.plan, self->mm.plan.plan);
	EXPECT_EQ(0, runs(&self->mm, &self->op));
	self->op.rows = 5;
	submit_init(&s, &self->op, 1);
	EXPECT_EQ(-EINVAL, rk_submit(self->fd, &s));
}

TEST_F(again, handle_reused)
{
	struct drm_rkmm_submit s;
	struct buf c;

	ASSERT_EQ(0, runs(&self->mm, &self->op));
	ASSERT_EQ(0, munmap(self->mm.c.map, self->mm.c.size));
	ASSERT_EQ(0, gem_close(self->fd, self->op.c.handle));
	submit_init(&s, &self->op, 1);
	EXPECT_EQ(-ENOENT, rk_submit(self->fd, &s));
	ASSERT_EQ(0, buf_create(self->fd, self->mm.c.size, &c));
	ASSERT_EQ(self->op.c.handle, c.handle);
	self->mm.c = c;
	EXPECT_EQ(0, runs(&self->mm, &self->op));
}

static bool ready(int dmabuf, short events, int timeout_ms)
{
	struct pollfd p = { .fd = dmabuf, .events = events };

	return poll(&p, 1, timeout_ms) == 1;
}

/* A buffer that gets known to others while jobs use it: they see those jobs. */
TEST_F(again, exported_under_way)
{
	struct drm_prime_handle a = { .handle = self->op.a.handle, .flags = DRM_CLOEXEC };
	struct drm_prime_handle c = { .handle = self->op.c.handle, .flags = DRM_CLOEXEC };
	struct drm_rkmm_sync in = { 0 };
	struct drm_rkmm_submit s;
	struct gate gate;

	if (gate_init(&gate))
		SKIP(return, "vgem is missing");
	ASSERT_EQ(0, runs(&self->mm, &self->op));
	ASSERT_EQ(0, gate_shut(&gate));
	ASSERT_EQ(0, gate_syncobj(&gate, self->fd, &in.handle));
	submit_init(&s, &self->op, 1);
	submit_syncs(&s, &in, 1, NULL, 0);
	ASSERT_EQ(0, rk_submit(self->fd, &s));
	ASSERT_EQ(0, xioctl(self->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &a));
	ASSERT_EQ(0, xioctl(self->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &c));
	/* A is read: others may read too. C is written. */
	EXPECT_TRUE(ready(a.fd, POLLIN, 0));
	EXPECT_FALSE(ready(a.fd, POLLOUT, 0));
	EXPECT_FALSE(ready(c.fd, POLLIN, 0));
	EXPECT_FALSE(ready(c.fd, POLLOUT, 0));
	ASSERT_EQ(0, gate_open(&gate));
	EXPECT_TRUE(ready(c.fd, POLLOUT, 60000));
	EXPECT_TRUE(ready(a.fd, POLLOUT, 60000));
	EXPECT_EQ(0, rk_result(self->fd, s.seqno));
	/* as ever, but with reservations */
	EXPECT_EQ(0, runs(&self->mm, &self->op));
	close(a.fd);
	close(c.fd);
	gate_free(&gate);
}

/* Waiting for one buffer does not wait for jobs that use others. */
TEST_F(again, wait_for_one)
{
	struct drm_rkmm_bo_sync sync = { .flags = DRM_RKMM_SYNC_READ | DRM_RKMM_SYNC_WAIT };
	struct drm_rkmm_sync in = { 0 };
	struct drm_rkmm_submit s;
	struct gate gate;
	struct buf other;

	if (gate_init(&gate))
		SKIP(return, "vgem is missing");
	ASSERT_EQ(0, buf_create(self->fd, 4096, &other));
	ASSERT_EQ(0, gate_shut(&gate));
	ASSERT_EQ(0, gate_syncobj(&gate, self->fd, &in.handle));
	submit_init(&s, &self->op, 1);
	submit_syncs(&s, &in, 1, NULL, 0);
	ASSERT_EQ(0, rk_submit(self->fd, &s));
	sync.size = 64;
	sync.handle = other.handle;
	EXPECT_EQ(0, xioctl(self->fd, DRM_IOCTL_RKMM_BO_SYNC, &sync));
	sync.handle = self->op.a.handle;
	EXPECT_EQ(0, xioctl(self->fd, DRM_IOCTL_RKMM_BO_SYNC, &sync));
	sync.flags |= DRM_RKMM_SYNC_WRITE;
	EXPECT_EQ(-ETIME, xioctl(self->fd, DRM_IOCTL_RKMM_BO_SYNC, &sync));
	sync.flags &= ~DRM_RKMM_SYNC_WRITE;
	sync.handle = self->op.c.handle;
	EXPECT_EQ(-ETIME, xioctl(self->fd, DRM_IOCTL_RKMM_BO_SYNC, &sync));
	ASSERT_EQ(0, gate_open(&gate));
	sync.deadline_ns = after(60 * SEC);
	EXPECT_EQ(0, xioctl(self->fd, DRM_IOCTL_RKMM_BO_SYNC, &sync));
	EXPECT_EQ(0, rk_result(self->fd, s.seqno));
	buf_free(&other);
	gate_free(&gate);
}

#define RING	16u

/**
 * struct ring - places that operands may have
 * @mm: the matmul; its own buffers hold what is copied to the others
 * @a: copies of A
 * @b: copies of B
 * @c: where C may go
 * @sync: signalled by submissions, which are not kept because of it
 */
struct ring {
	struct mm mm;
	struct buf a[RING], b[RING], c[RING];
	struct drm_rkmm_sync sync;
};

static int ring_init(struct ring *r, int fd)
{
	unsigned int i;
	int ret = mm_init(&r->mm, fd, 7);

	for (i = 0; i < RING && !ret; i++) {
		ret = buf_create(fd, r->mm.a.size, &r->a[i]);
		if (!ret)
			ret = buf_create(fd, r->mm.b.size, &r->b[i]);
		if (!ret)
			ret = buf_create(fd, r->mm.c.size, &r->c[i]);
		if (ret)
			break;
		memcpy(r->b[i].map, r->mm.b.map, r->mm.b.size);
		ret = buf_end_write(&r->b[i]);
	}
	return ret ? ret : syncobj_create(fd, &r->sync.handle);
}

/* New values in all of A; what is in C is no result of them. */
static int ring_fill(struct ring *r)
{
	unsigned int i;
	int ret = mm_new_c(&r->mm);

	mm_new_a(&r->mm);
	for (i = 0; i < RING && !ret; i++) {
		memcpy(r->a[i].map, r->mm.a.map, r->mm.a.size);
		memcpy(r->c[i].map, r->mm.fill, r->mm.c.size);
		ret = buf_end_write(&r->a[i]);
		if (!ret)
			ret = buf_end_write(&r->c[i]);
	}
	return ret;
}

/*
 * All of C once, by submissions of @nops, in places that no submission had. All of the first
 * round are under way at once, so there are images enough for the others.
 */
static int ring_round(struct ring *r, unsigned int round, unsigned int nops)
{
	struct drm_rkmm_op op[2];
	struct drm_rkmm_submit s;
	struct buf own = r->mm.c;
	unsigned int i, k;
	int ret = ring_fill(r);

	for (i = 0; i < RING && !ret; i += nops) {
		for (k = 0; k < nops; k++) {
			op[k] = mm_op(&r->mm);
			op[k].a.handle = r->a[(i + k + round) % RING].handle;
			op[k].b.handle = r->b[nops > 1 ? 0 : (i + 5 * round) % RING].handle;
			op[k].c.handle = r->c[i + k].handle;
			op[k].flags = k ? DRM_RKMM_OP_GROUPED : 0;
		}
		submit_init(&s, op, nops);
		submit_syncs(&s, NULL, 0, &r->sync, 1);
		ret = rk_submit(r->mm.fd, &s);
		if (!ret && round)
			ret = rk_result(r->mm.fd, s.seqno);
	}
	if (!ret)
		ret = rk_result(r->mm.fd, s.seqno);
	for (i = 0; i < RING && !ret; i++) {
		r->mm.c = r->c[i];
		if (mm_check(&r->mm))
			ret = -EBADMSG;
	}
	r->mm.c = own;
	return ret;
}

static void ring_free(struct ring *r)
{
	unsigned int i;

	for (i = 0; i < RING; i++) {
		buf_free(&r->a[i]);
		buf_free(&r->b[i]);
		buf_free(&r->c[i]);
	}
	syncobj_destroy(r->mm.fd, r->sync.handle);
	mm_free(&r->mm);
}

static long long addresses_written(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	return file_number(path, "rkmm-image-patches:");
}

/* Operands at ever new places: no more programs than for the first ones, and right ones. */
static void other_places(struct __test_metadata *_metadata, int fd, struct mm mm, unsigned int nops)
{
	struct ring *r = calloc(1, sizeof(*r));
	struct drm_rkmm_client_info info;
	unsigned int round;
	uint64_t emitted;
	long long before;

	ASSERT_NE(NULL, r);
	r->mm = mm;
	ASSERT_EQ(0, ring_init(r, fd));
	ASSERT_EQ(0, ring_round(r, 0, nops));
	ASSERT_EQ(0, rk_client(fd, &info));
	emitted = info.programs_emitted;
	for (round = 1; round < 5; round++) {
		before = addresses_written(fd);
		EXPECT_EQ(0, ring_round(r, round, nops)) {
			TH_LOG("round %u: %s", round, r->mm.msg);
		}
		EXPECT_LT(before, addresses_written(fd));
		ASSERT_EQ(0, rk_client(fd, &info));
	}
	EXPECT_EQ(emitted, info.programs_emitted);
	ring_free(r);
	free(r);
}

TEST_F_TIMEOUT(again, other_places, 300)
{
	static const struct mm one = { .types = DRM_RKMM_I8I32, .m = 5, .k = 70, .n = 40 };
	static const struct mm many = { .types = DRM_RKMM_I4I16, .m = 40, .k = 512, .n = 320 };

	other_places(_metadata, self->fd, one, 1);
	other_places(_metadata, self->fd, many, 1);
}

TEST_F_TIMEOUT(again, other_places_grouped, 300)
{
	static const struct mm mm = { .types = DRM_RKMM_I4I16, .m = 40, .k = 256, .n = 192 };

	other_places(_metadata, self->fd, mm, 2);
}

RKMM_TEST_MAIN
