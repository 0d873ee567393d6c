// SPDX-License-Identifier: GPL-2.0
/* Do jobs wait for, signal and pass on fences of every kind? */
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <linux/dma-buf.h>
#include <linux/sync_file.h>
#include "../kselftest_harness.h"
#include "rkmm_test.h"

#define NEED_GATE()							\
do {									\
	if (gate_init(&self->gate))					\
		SKIP(return, "vgem is missing");			\
	ASSERT_EQ(0, gate_shut(&self->gate));				\
} while (0)

FIXTURE(fence) {
	int fd;
	struct gate gate;
	struct mm mm;
	struct drm_rkmm_op op;
	struct drm_rkmm_sync sync;
};

FIXTURE_SETUP(fence)
{
	self->gate.vgem = self->gate.dmabuf = self->gate.sync_file = -1;
	self->fd = rk_open();
	ASSERT_LE(0, self->fd);
	self->mm = (struct mm) { .types = DRM_RKMM_I8I32, .m = 5, .k = 70, .n = 40 };
	ASSERT_EQ(0, mm_init(&self->mm, self->fd, 11));
	self->op = mm_op(&self->mm);
	ASSERT_EQ(0, syncobj_create(self->fd, &self->sync.handle));
}

FIXTURE_TEARDOWN(fence)
{
	gate_free(&self->gate);
	mm_free(&self->mm);
	close(self->fd);
}

TEST_F(fence, out_binary)
{
	struct drm_rkmm_submit s;

	submit_init(&s, &self->op, 1);
	submit_syncs(&s, NULL, 0, &self->sync, 1);
	ASSERT_EQ(0, rk_submit(self->fd, &s));
	ASSERT_EQ(0, syncobj_wait(self->fd, self->sync.handle, 0, after(60 * SEC)));
	EXPECT_EQ(0, mm_check(&self->mm)) {
		TH_LOG("%s", self->mm.msg);
	}
}

TEST_F(fence, out_timeline)
{
	uint64_t points[2] = { 7, 7 };
	uint32_t handles[1] = { self->sync.handle };
	struct drm_syncobj_timeline_array q = {
		.handles = (uintptr_t)handles, .points = (uintptr_t)points, .count_handles = 1,
	};
	struct drm_rkmm_submit s;

	self->sync.point = 7;
	submit_init(&s, &self->op, 1);
	submit_syncs(&s, NULL, 0, &self->sync, 1);
	ASSERT_EQ(0, rk_submit(self->fd, &s));
	ASSERT_EQ(0, syncobj_wait(self->fd, self->sync.handle, 7, after(60 * SEC)));
	EXPECT_EQ(0, mm_check(&self->mm));
	points[0] = 0;
	ASSERT_EQ(0, xioctl(self->fd, DRM_IOCTL_SYNCOBJ_QUERY, &q));
	EXPECT_EQ(7, points[0]);
	/* point 8 was never given */
	EXPECT_EQ(-ETIME, syncobj_wait(self->fd, self->sync.handle, 8, after(SEC / 50)));
}

/* The whole life of a sync_file that outlives the file it came from. */
TEST_F(fence, sync_file)
{
	struct drm_rkmm_submit s;
	int file;

	submit_init(&s, &self->op, 1);
	submit_syncs(&s, NULL, 0, &self->sync, 1);
	ASSERT_EQ(0, rk_submit(self->fd, &s));
	file = syncobj_export(self->fd, self->sync.handle);
	ASSERT_LE(0, file);
	EXPECT_EQ(0, sync_file_wait(file, 60000));
	EXPECT_EQ(1, sync_file_status(file));
	EXPECT_EQ(0, mm_check(&self->mm));
	close(self->fd);
	self->fd = rk_open();
	EXPECT_EQ(1, sync_file_status(file));
	close(file);
	memset(&self->mm, 0, sizeof(self->mm));
}

/* Nothing runs, and nothing is written, before the in-fence signals. */
TEST_F(fence, in_binary)
{
	struct drm_rkmm_bo_sync b = {
		.handle = self->mm.c.handle, .flags = DRM_RKMM_SYNC_READ | DRM_RKMM_SYNC_WAIT,
		.size = 1,
	};
	struct drm_rkmm_sync in = { 0 };
	struct drm_rkmm_submit s;
	int err, file;

	NEED_GATE();
	ASSERT_EQ(0, gate_syncobj(&self->gate, self->fd, &in.handle));
	submit_init(&s, &self->op, 1);
	submit_syncs(&s, &in, 1, &self->sync, 1);
	ASSERT_EQ(0, rk_submit(self->fd, &s));
	file = syncobj_export(self->fd, self->sync.handle);
	ASSERT_LE(0, file);

	rk_wait(self->fd, s.seqno, 0, &err);
	EXPECT_EQ(-ETIME, err);
	rk_wait(self->fd, s.seqno, INT64_MIN, &err);
	EXPECT_EQ(-ETIME, err);
	rk_wait(self->fd, s.seqno, after(SEC / 20), &err);
	EXPECT_EQ(-ETIME, err);
	b.deadline_ns = after(SEC / 50);
	EXPECT_EQ(-ETIME, xioctl(self->fd, DRM_IOCTL_RKMM_BO_SYNC, &b));
	EXPECT_EQ(0, sync_file_status(file));
	ASSERT_EQ(0, buf_begin_read(&self->mm.c));
	EXPECT_EQ(0, memcmp(self->mm.c.map, self->mm.fill, self->mm.c.size));

	/* an input of the waiting job may be read without waiting, not written */
	b.handle = self->mm.a.handle;
	b.deadline_ns = after(SEC / 50);
	EXPECT_EQ(0, xioctl(self->fd, DRM_IOCTL_RKMM_BO_SYNC, &b));
	b.flags = DRM_RKMM_SYNC_WRITE | DRM_RKMM_SYNC_WAIT;
	b.deadline_ns = after(SEC / 50);
	EXPECT_EQ(-ETIME, xioctl(self->fd, DRM_IOCTL_RKMM_BO_SYNC, &b));

	ASSERT_EQ(0, gate_open(&self->gate));
	EXPECT_EQ(0, rk_result(self->fd, s.seqno));
	EXPECT_EQ(0, sync_file_wait(file, 60000));
	EXPECT_EQ(1, sync_file_status(file));
	b.deadline_ns = after(60 * SEC);
	EXPECT_EQ(0, xioctl(self->fd, DRM_IOCTL_RKMM_BO_SYNC, &b));
	EXPECT_EQ(0, mm_check(&self->mm)) {
		TH_LOG("%s", self->mm.msg);
	}
	close(file);
}

/* A client's jobs end in order, also when only the first one has to wait. */
TEST_F(fence, order_within_a_client)
{
	struct drm_rkmm_sync in = { 0 };
	struct drm_rkmm_submit s[3];
	int i, err;

	NEED_GATE();
	ASSERT_EQ(0, gate_syncobj(&self->gate, self->fd, &in.handle));
	for (i = 0; i < 3; i++) {
		submit_init(&s[i], &self->op, 1);
		submit_syncs(&s[i], &in, i == 0, NULL, 0);
		ASSERT_EQ(0, rk_submit(self->fd, &s[i]));
		if (i) {
			EXPECT_EQ(s[i - 1].seqno + 1, s[i].seqno);
		}
	}
	rk_wait(self->fd, s[2].seqno, after(SEC / 10), &err);
	EXPECT_EQ(-ETIME, err);
	ASSERT_EQ(0, gate_open(&self->gate));
	EXPECT_EQ(0, rk_result(self->fd, s[2].seqno));
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(0, rk_wait(self->fd, s[i].seqno, 0, &err));
		EXPECT_EQ(0, err);
	}
}

/* Another client is not held up. */
TEST_F(fence, other_clients_pass)
{
	struct drm_rkmm_sync in = { 0 };
	struct mm other = { .types = DRM_RKMM_I8I32, .m = 3, .k = 32, .n = 32 };
	struct drm_rkmm_submit s;
	int fd = rk_open(), err;

	NEED_GATE();
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, mm_init(&other, fd, 12));
	ASSERT_EQ(0, gate_syncobj(&self->gate, self->fd, &in.handle));
	submit_init(&s, &self->op, 1);
	submit_syncs(&s, &in, 1, NULL, 0);
	ASSERT_EQ(0, rk_submit(self->fd, &s));
	EXPECT_EQ(0, mm_run(&other)) {
		TH_LOG("%s", other.msg);
	}
	rk_wait(self->fd, s.seqno, 0, &err);
	EXPECT_EQ(-ETIME, err);
	ASSERT_EQ(0, gate_open(&self->gate));
	EXPECT_EQ(0, rk_result(self->fd, s.seqno));
	mm_free(&other);
	close(fd);
}

TEST_F(fence, most_syncs)
{
	struct drm_rkmm_sync in[DRM_RKMM_MAX_SYNCS] = { 0 }, out[DRM_RKMM_MAX_SYNCS] = { 0 };
	struct drm_rkmm_submit s;
	int i, err;

	NEED_GATE();
	for (i = 0; i < DRM_RKMM_MAX_SYNCS; i++) {
		ASSERT_EQ(0, gate_syncobj(&self->gate, self->fd, &in[i].handle));
		ASSERT_EQ(0, syncobj_create(self->fd, &out[i].handle));
		out[i].point = i % 3;
	}
	submit_init(&s, &self->op, 1);
	submit_syncs(&s, in, DRM_RKMM_MAX_SYNCS, out, DRM_RKMM_MAX_SYNCS);
	ASSERT_EQ(0, rk_submit(self->fd, &s));
	rk_wait(self->fd, s.seqno, after(SEC / 50), &err);
	EXPECT_EQ(-ETIME, err);
	ASSERT_EQ(0, gate_open(&self->gate));
	for (i = 0; i < DRM_RKMM_MAX_SYNCS; i++) {
		EXPECT_EQ(0, syncobj_wait(self->fd, out[i].handle, out[i].point, after(60 * SEC)));
	}
	EXPECT_EQ(0, mm_check(&self->mm));
}

/* One syncobj on both sides: the job waits for what it held and leaves its own. */
TEST_F(fence, same_syncobj_in_and_out)
{
	struct drm_rkmm_sync both = { 0 };
	struct drm_rkmm_submit s;

	NEED_GATE();
	ASSERT_EQ(0, gate_syncobj(&self->gate, self->fd, &both.handle));
	submit_init(&s, &self->op, 1);
	submit_syncs(&s, &both, 1, &both, 1);
	ASSERT_EQ(0, rk_submit(self->fd, &s));
	EXPECT_EQ(-ETIME, syncobj_wait(self->fd, both.handle, 0, after(SEC / 50)));
	ASSERT_EQ(0, gate_open(&self->gate));
	EXPECT_EQ(0, syncobj_wait(self->fd, both.handle, 0, after(60 * SEC)));
	EXPECT_EQ(0, rk_result(self->fd, s.seqno));
	EXPECT_EQ(0, mm_check(&self->mm));
}

/* --- failed dependencies ----------------------------------------------------------- */

/* A client with a job that never runs; closing it makes the job's fence fail. */
static int doomed(struct gate *gate, uint64_t seed, int *fd)
{
	struct mm mm = { .types = DRM_RKMM_I8I32, .m = 2, .k = 32, .n = 32 };
	struct drm_rkmm_sync in = { 0 }, out = { 0 };
	struct drm_rkmm_submit s;
	struct drm_rkmm_op op;
	int ret;

	*fd = rk_open();
	if (*fd < 0)
		return *fd;
	ret = mm_init(&mm, *fd, seed);
	if (!ret)
		ret = gate_syncobj(gate, *fd, &in.handle);
	if (!ret)
		ret = syncobj_create(*fd, &out.handle);
	if (ret)
		return ret;
	op = mm_op(&mm);
	submit_init(&s, &op, 1);
	submit_syncs(&s, &in, 1, &out, 1);
	ret = rk_submit(*fd, &s);
	if (!ret)
		ret = syncobj_export(*fd, out.handle);
	mm_free(&mm);
	return ret;
}

/* Binary, timeline, and a sync_file merged with one that succeeds. */
TEST_F(fence, failed_dependency)
{
	const char *const kind[] = { "binary", "timeline", "merged", "signalled" };
	struct drm_rkmm_client_info before, now;
	uint32_t i;

	NEED_GATE();
	for (i = 0; i < ARRAY_SIZE(kind); i++) {
		struct drm_rkmm_sync in = { 0 };
		struct drm_rkmm_submit s, next;
		int fd, file, err;

		file = doomed(&self->gate, 20 + i, &fd);
		ASSERT_LE(0, file);
		ASSERT_EQ(0, syncobj_create(self->fd, &in.handle));
		if (i == 2) {
			struct sync_merge_data merge = { .fd2 = file };
			struct gate second;

			/* a second gate that is opened first */
			ASSERT_EQ(0, gate_init(&second));
			ASSERT_EQ(0, gate_shut(&second));
			ASSERT_EQ(0, xioctl(second.sync_file, SYNC_IOC_MERGE, &merge));
			ASSERT_EQ(0, gate_open(&second));
			gate_free(&second);
			ASSERT_EQ(0, syncobj_import(self->fd, in.handle, merge.fence));
			close(merge.fence);
		} else {
			ASSERT_EQ(0, syncobj_import(self->fd, in.handle, file));
		}
		if (i == 1) {
			struct drm_syncobj_transfer t = {
				.src_handle = in.handle, .dst_point = 3,
			};

			ASSERT_EQ(0, syncobj_create(self->fd, &t.dst_handle));
			ASSERT_EQ(0, xioctl(self->fd, DRM_IOCTL_SYNCOBJ_TRANSFER, &t));
			in.handle = t.dst_handle;
			in.point = 3;
		}
		if (i == 3)
			close(fd);

		ASSERT_EQ(0, mm_new_c(&self->mm));
		ASSERT_EQ(0, rk_client(self->fd, &before));
		submit_init(&s, &self->op, 1);
		submit_syncs(&s, &in, 1, &self->sync, 1);
		ASSERT_EQ(0, rk_submit(self->fd, &s));
		submit_init(&next, &self->op, 1);

		if (i != 3) {
			rk_wait(self->fd, s.seqno, after(SEC / 50), &err);
			EXPECT_EQ(-ETIME, err);
			close(fd);
		}
		EXPECT_EQ(0, sync_file_wait(file, 60000));
		EXPECT_EQ(-ECANCELED, sync_file_status(file));
		EXPECT_EQ(-ECANCELED, rk_result(self->fd, s.seqno)) {
			TH_LOG("%s dependency", kind[i]);
		}
		/* not once, but each time it is asked */
		EXPECT_EQ(-ECANCELED, rk_result(self->fd, s.seqno));
		close(file);
		file = syncobj_export(self->fd, self->sync.handle);
		EXPECT_EQ(-ECANCELED, sync_file_status(file));
		close(file);
		ASSERT_EQ(0, buf_begin_read(&self->mm.c));
		EXPECT_EQ(0, memcmp(self->mm.c.map, self->mm.fill, self->mm.c.size));

		/* the client itself is none the worse */
		ASSERT_EQ(0, rk_submit(self->fd, &next));
		EXPECT_EQ(0, rk_result(self->fd, next.seqno));
		EXPECT_EQ(0, mm_check(&self->mm)) {
			TH_LOG("%s", self->mm.msg);
		}
		ASSERT_EQ(0, rk_client(self->fd, &now));
		EXPECT_EQ(before.guilty, now.guilty);
		EXPECT_EQ(before.jobs + 2, now.jobs);
	}
}

/* 64 failures are remembered, and success is told from failure among them. */
TEST_F(fence, remembered_failures)
{
	struct drm_rkmm_sync in = { 0 };
	struct drm_rkmm_submit s;
	uint64_t first = 0;
	int fd, file, i;

	NEED_GATE();
	file = doomed(&self->gate, 30, &fd);
	ASSERT_LE(0, file);
	ASSERT_EQ(0, syncobj_create(self->fd, &in.handle));
	ASSERT_EQ(0, syncobj_import(self->fd, in.handle, file));
	close(fd);
	ASSERT_EQ(0, sync_file_wait(file, 60000));
	for (i = 0; i < 128; i++) {
		submit_init(&s, &self->op, 1);
		submit_syncs(&s, &in, i & 1, NULL, 0);
		ASSERT_EQ(0, rk_submit(self->fd, &s));
		if (!i)
			first = s.seqno;
	}
	EXPECT_EQ(-ECANCELED, rk_result(self->fd, first + 127));
	for (i = 0; i < 128; i++) {
		EXPECT_EQ(i & 1 ? -ECANCELED : 0, rk_result(self->fd, first + i)) {
			TH_LOG("job %d", i);
		}
	}
	close(file);
}

/* --- across clients -------------------------------------------------------------------- */

#define SIDE	64
#define LINKS	9

static void reference_step(const int8_t *w, int8_t *v)
{
	int8_t next[SIDE];
	int32_t acc;
	int i, j;

	for (j = 0; j < SIDE; j++) {
		acc = 0;
		for (i = 0; i < SIDE; i++)
			acc += v[i] * w[i * SIDE + j];
		/* half to even: half up, and back where it was a tie that went to odd */
		acc = ((acc + 128) >> 8) - ((acc & 511) == 128);
		next[j] = acc < -128 ? -128 : acc > 127 ? 127 : acc;
	}
	memcpy(v, next, SIDE);
}

/*
 * v := v x W, nine times, by two clients in turn on two shared buffers. All is
 * submitted before the first job may run; explicit: one syncobj file with a
 * timeline; implicit: nothing but the buffers.
 */
static int relay(struct gate *gate, bool explicit)
{
	int fd[2], i, ret = 0, dma[2], syncfd;
	struct drm_rkmm_plan_create plan[2];
	uint32_t handle[2][2], timeline[2];
	struct buf shared[2], w[2];
	int8_t v[SIDE], weight[SIDE * SIDE];
	struct drm_rkmm_sync in = { 0 }, out, gate_in = { 0 };
	struct drm_syncobj_handle sh = { 0 };
	struct drm_rkmm_submit s;
	struct drm_rkmm_op op;
	uint64_t last[2] = { 0, 0 };
	struct rnd r;

	rnd_seed(&r, 99);
	for (i = 0; i < SIDE; i++)
		v[i] = (int)rnd_below(&r, 256) - 128;
	for (i = 0; i < SIDE * SIDE; i++)
		weight[i] = 2 * ((int)rnd_below(&r, 32) - 16);

	for (i = 0; i < 2; i++) {
		struct mm mm = { .types = DRM_RKMM_I8I8, .m = 1, .k = SIDE, .n = SIDE,
				 .mult = 1, .shift = 8 };
		int j, k;

		fd[i] = rk_open();
		if (fd[i] < 0)
			return fd[i];
		ret = mm_plan(&mm, fd[i]);
		plan[i] = mm.plan;
		if (!ret)
			ret = buf_create(fd[i], plan[i].b.size, &w[i]);
		if (ret)
			return ret;
		for (j = 0; j < SIDE; j++)
			for (k = 0; k < SIDE; k++)
				w[i].map[element_bit(&plan[i].b, j, k) / 8] = weight[j * SIDE + k];
		ret = buf_end_write(&w[i]);
		if (ret)
			return ret;
	}
	for (i = 0; i < 2; i++) {
		struct drm_prime_handle p = { .flags = DRM_CLOEXEC | DRM_RDWR };

		ret = buf_create(fd[0], 4096, &shared[i]);
		if (ret)
			return ret;
		handle[0][i] = p.handle = shared[i].handle;
		ret = xioctl(fd[0], DRM_IOCTL_PRIME_HANDLE_TO_FD, &p);
		if (ret)
			return ret;
		dma[i] = p.fd;
		ret = xioctl(fd[1], DRM_IOCTL_PRIME_FD_TO_HANDLE, &p);
		if (ret)
			return ret;
		handle[1][i] = p.handle;
	}
	memcpy(shared[0].map, v, SIDE);
	ret = buf_end_write(&shared[0]);
	if (!ret)
		ret = syncobj_create(fd[0], &timeline[0]);
	if (ret)
		return ret;
	sh.handle = timeline[0];
	ret = xioctl(fd[0], DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &sh);
	syncfd = sh.fd;
	if (!ret)
		ret = xioctl(fd[1], DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &sh);
	timeline[1] = sh.handle;
	if (!ret)
		ret = gate_syncobj(gate, fd[0], &gate_in.handle);

	for (i = 0; i < LINKS && !ret; i++) {
		int who = i & 1;

		op = (struct drm_rkmm_op) {
			.plan = plan[who].plan,
			.a.handle = handle[who][i & 1],
			.b.handle = w[who].handle,
			.c.handle = handle[who][!(i & 1)],
		};
		in.handle = timeline[who];
		in.point = i;
		out = in;
		out.point = i + 1;
		submit_init(&s, &op, 1);
		if (explicit)
			submit_syncs(&s, i ? &in : &gate_in, 1, &out, 1);
		else
			submit_syncs(&s, &gate_in, !i, NULL, 0);
		ret = rk_submit(fd[who], &s);
		last[who] = s.seqno;
		reference_step(weight, v);
	}
	if (ret)
		return ret;
	if (rk_wait(fd[1], last[1], after(SEC / 20), &ret) || ret != -ETIME)
		return -EBUSY;
	ret = gate_open(gate);
	if (!ret)
		ret = rk_result(fd[0], last[0]);
	if (!ret)
		ret = buf_begin_read(&shared[LINKS & 1]);
	if (!ret && memcmp(shared[LINKS & 1].map, v, SIDE))
		ret = -EBADMSG;
	for (i = 0; i < 2; i++) {
		close(dma[i]);
		buf_free(&shared[i]);
		buf_free(&w[i]);
	}
	close(syncfd);
	close(fd[0]);
	close(fd[1]);
	return ret;
}

TEST_F(fence, relay_explicit)
{
	NEED_GATE();
	EXPECT_EQ(0, relay(&self->gate, true));
}

TEST_F(fence, relay_implicit)
{
	NEED_GATE();
	EXPECT_EQ(0, relay(&self->gate, false));
}

/* --- another driver's buffer ------------------------------------------------------------ */

static int resv_pending(int dmabuf, short events)
{
	struct pollfd p = { .fd = dmabuf, .events = events };

	return poll(&p, 1, 0) == 0;
}

/* A read by us waits for vgem's write; vgem's users see our read and our write. */
TEST_F(fence, vgem_implicit)
{
	struct drm_prime_handle p = { 0 };
	struct drm_rkmm_submit s;
	uint8_t *map;
	int err;

	NEED_GATE();
	map = mmap(NULL, self->gate.size, PROT_READ | PROT_WRITE, MAP_SHARED, self->gate.dmabuf,
		   0);
	ASSERT_NE(MAP_FAILED, map);
	ASSERT_LE(self->mm.plan.a.size, self->gate.size);
	ASSERT_LE(self->mm.plan.c.size, self->gate.size);
	p.fd = self->gate.dmabuf;
	ASSERT_EQ(0, xioctl(self->fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &p));

	/* A comes from vgem */
	memcpy(map, self->mm.a.map + self->mm.a_off, self->mm.plan.a.size);
	self->op.a.handle = p.handle;
	self->op.a.offset = 0;
	ASSERT_EQ(0, bo_sync(self->fd, p.handle, DRM_RKMM_SYNC_WRITE | DRM_RKMM_SYNC_END, 0,
			     self->mm.plan.a.size));
	submit_init(&s, &self->op, 1);
	ASSERT_EQ(0, rk_submit(self->fd, &s));
	rk_wait(self->fd, s.seqno, after(SEC / 20), &err);
	EXPECT_EQ(-ETIME, err);
	ASSERT_EQ(0, gate_open(&self->gate));
	EXPECT_EQ(0, rk_result(self->fd, s.seqno));
	EXPECT_EQ(0, mm_check(&self->mm)) {
		TH_LOG("%s", self->mm.msg);
	}

	/* C goes to vgem; a writer of the input has to wait while we are queued */
	self->op = mm_op(&self->mm);
	self->op.c.handle = p.handle;
	self->op.c.offset = 0;
	ASSERT_EQ(0, gate_shut(&self->gate));
	submit_init(&s, &self->op, 1);
	ASSERT_EQ(0, rk_submit(self->fd, &s));
	EXPECT_TRUE(resv_pending(self->gate.dmabuf, POLLIN));
	EXPECT_TRUE(resv_pending(self->gate.dmabuf, POLLOUT));
	ASSERT_EQ(0, gate_open(&self->gate));
	EXPECT_EQ(0, sync_file_wait(self->gate.dmabuf, 60000));
	ASSERT_EQ(0, rk_result(self->fd, s.seqno));
	ASSERT_EQ(0, bo_sync(self->fd, p.handle, DRM_RKMM_SYNC_READ, 0, self->mm.plan.c.size));
	/* what was just computed there is what C holds from the first run */
	EXPECT_EQ(0, memcmp(map, self->mm.c.map + self->mm.c_off, self->mm.m *
			    self->mm.plan.c.pitch));
	munmap(map, self->gate.size);
	gem_close(self->fd, p.handle);
}

/* --- waiting in SUBMIT and WAIT ------------------------------------------------------------ */

TEST_F(fence, wait_in_submit)
{
	struct drm_rkmm_sync in = { 0 };
	struct drm_rkmm_submit s;

	submit_init(&s, &self->op, 1);
	s.flags = DRM_RKMM_SUBMIT_WAIT;
	s.deadline_ns = after(60 * SEC);
	s.result = s.wait_status = -1;
	ASSERT_EQ(0, rk_submit(self->fd, &s));
	EXPECT_EQ(0, s.wait_status);
	EXPECT_EQ(0, s.result);
	EXPECT_NE(0, s.seqno);
	EXPECT_EQ(0, mm_check(&self->mm));

	NEED_GATE();
	ASSERT_EQ(0, gate_syncobj(&self->gate, self->fd, &in.handle));
	submit_init(&s, &self->op, 1);
	submit_syncs(&s, &in, 1, NULL, 0);
	s.flags = DRM_RKMM_SUBMIT_WAIT;
	s.deadline_ns = after(SEC / 20);
	ASSERT_EQ(0, rk_submit(self->fd, &s));
	EXPECT_EQ(-ETIME, s.wait_status);
	ASSERT_EQ(0, gate_open(&self->gate));
	EXPECT_EQ(0, rk_result(self->fd, s.seqno));
}

TEST_F(fence, wait_knows_only_its_own)
{
	struct drm_rkmm_submit s;
	int other = rk_open(), err;

	ASSERT_LE(0, other);
	submit_init(&s, &self->op, 1);
	ASSERT_EQ(0, rk_submit(self->fd, &s));
	rk_wait(other, s.seqno, after(SEC), &err);
	EXPECT_EQ(-ENOENT, err);
	rk_wait(self->fd, s.seqno + 1, after(SEC), &err);
	EXPECT_EQ(-ENOENT, err);
	EXPECT_EQ(0, rk_result(self->fd, s.seqno));
	close(other);
}

RKMM_TEST_MAIN
