// SPDX-License-Identifier: GPL-2.0
/*
 * Is every field of every ioctl checked? Each case changes one field of an
 * argument that is otherwise good, and the good argument works before and after.
 */
#include <fcntl.h>
#include <stdlib.h>
#include "../kselftest_harness.h"
#include "rkmm_test.h"

#define NO_HANDLE	0x7ffffff0u
#define LOG_INFO	6

FIXTURE(uapi) {
	int fd;
	int kmsg;
	long long refs;
	struct drm_rkmm_device_info info;
	struct mm mm;
};

FIXTURE_SETUP(uapi)
{
	self->refs = module_refs();
	self->fd = rk_open();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, rk_device(self->fd, &self->info));
	self->mm = (struct mm) {
		.types = DRM_RKMM_I8I32, .m = 6, .k = 64, .n = 64,
	};
	ASSERT_EQ(0, mm_init(&self->mm, self->fd, 1));
	self->kmsg = kmsg_open();
}

/* Whatever was refused: the file works, nothing was said, and nothing stays behind. */
FIXTURE_TEARDOWN(uapi)
{
	char line[256] = "";

	EXPECT_EQ(0, mm_run(&self->mm)) {
		TH_LOG("afterwards: %s", self->mm.msg);
	}
	mm_free(&self->mm);
	close(self->fd);
	if (self->kmsg >= 0) {
		EXPECT_EQ(0, kmsg_count(self->kmsg, LOG_INFO, "rkmm", NULL, line, sizeof(line))) {
			TH_LOG("logged for a user's mistake: %s", line);
		}
		close(self->kmsg);
	}
	if (self->refs >= 0) {
		EXPECT_EQ(self->refs, module_refs_settle(self->refs));
	}
}

/* --- QUERY ------------------------------------------------------------------ */

TEST_F(uapi, query)
{
	static const uint32_t size[] = {
		[DRM_RKMM_QUERY_DEVICE] = sizeof(struct drm_rkmm_device_info),
		[DRM_RKMM_QUERY_TYPES] = 5 * sizeof(struct drm_rkmm_type_info),
		[DRM_RKMM_QUERY_CLIENT] = sizeof(struct drm_rkmm_client_info),
		[DRM_RKMM_QUERY_SCHED] = sizeof(struct drm_rkmm_sched_info),
		[DRM_RKMM_QUERY_MODES] = 15 * sizeof(struct drm_rkmm_mode_info),
	};
	uint8_t answer[512], whole[512];
	struct drm_rkmm_query q;
	uint32_t id, give, i;

	for (id = 0; id < ARRAY_SIZE(size); id++) {
		if (!size[id])
			continue;
		q = (struct drm_rkmm_query) { .id = id };
		EXPECT_EQ(0, xioctl(self->fd, DRM_IOCTL_RKMM_QUERY, &q));
		EXPECT_EQ(size[id], q.size);

		/* an older and a newer reader, and what lies behind the answer */
		memset(whole, 0, sizeof(whole));
		q = (struct drm_rkmm_query) {
			.id = id, .size = sizeof(whole), .pointer = (uintptr_t)whole,
		};
		EXPECT_EQ(0, xioctl(self->fd, DRM_IOCTL_RKMM_QUERY, &q));
		for (give = 0; give <= size[id] + 8; give += 4) {
			memset(answer, 0xa5, sizeof(answer));
			q = (struct drm_rkmm_query) {
				.id = id, .size = give, .pointer = (uintptr_t)answer,
			};
			EXPECT_EQ(0, xioctl(self->fd, DRM_IOCTL_RKMM_QUERY, &q));
			EXPECT_EQ(size[id], q.size);
			for (i = give < size[id] ? give : size[id]; i < sizeof(answer); i++)
				if (answer[i] != 0xa5)
					break;
			EXPECT_EQ(sizeof(answer), i);
			if (id == DRM_RKMM_QUERY_TYPES && give >= 4) {
				EXPECT_EQ(0, memcmp(answer, whole,
						    give < size[id] ? give : size[id]));
			}
		}

		q = (struct drm_rkmm_query) { .id = id, .size = size[id], .pointer = 8 };
		EXPECT_EQ(-EFAULT, xioctl(self->fd, DRM_IOCTL_RKMM_QUERY, &q));
		q.pointer = UINT64_MAX - 3;
		EXPECT_EQ(-EFAULT, xioctl(self->fd, DRM_IOCTL_RKMM_QUERY, &q));
	}
	q = (struct drm_rkmm_query) { .id = DRM_RKMM_QUERY_MODES + 1 };
	EXPECT_EQ(-EINVAL, xioctl(self->fd, DRM_IOCTL_RKMM_QUERY, &q));
	q.id = UINT32_MAX;
	EXPECT_EQ(-EINVAL, xioctl(self->fd, DRM_IOCTL_RKMM_QUERY, &q));
}

TEST_F(uapi, query_content)
{
	struct drm_rkmm_device_info *info = &self->info;

	EXPECT_STREQ("rk3588", info->chip);
	EXPECT_EQ(3, info->cores);
	EXPECT_NE(0, info->core_mask);
	EXPECT_EQ(0, info->core_mask >> info->cores);
	EXPECT_EQ(0x46495245, info->hw_version);
	EXPECT_TRUE(!info->k_max || info->k_max >= 1024);
	EXPECT_EQ(1ull << 32, info->window_bytes);
	EXPECT_LE(info->clock_hz, info->clock_max_hz);
	EXPECT_NE(0, info->clock_max_hz);
	EXPECT_EQ(0, info->pad);
}

/* --- BO_CREATE, BO_SYNC --------------------------------------------------------- */

TEST_F(uapi, bo_create)
{
	static const uint64_t too_big[] = {
		UINT64_MAX, UINT64_MAX - 4095, 1ull << 63, 1ull << 52, 1ull << 40,
		(1ull << 32) + 1,
	};
	struct drm_rkmm_bo_create c, first, good = { .size = 100 };
	uint32_t i;

	first = good;
	ASSERT_EQ(0, xioctl(self->fd, DRM_IOCTL_RKMM_BO_CREATE, &first));
	EXPECT_LE(100, first.size);
	EXPECT_EQ(0, first.size % 4096);
	EXPECT_NE(0, first.handle);
	EXPECT_NE(0, first.mmap_offset);
	EXPECT_EQ(0, gem_close(self->fd, first.handle));

	c = good;
	c.size = 0;
	EXPECT_EQ(-EINVAL, xioctl(self->fd, DRM_IOCTL_RKMM_BO_CREATE, &c));
	for (i = 0; i < 32; i++) {
		c = good;
		c.flags = 1u << i;
		EXPECT_EQ(-EINVAL, xioctl(self->fd, DRM_IOCTL_RKMM_BO_CREATE, &c)) {
			TH_LOG("flag %u", i);
		}
	}
	for (i = 0; i < ARRAY_SIZE(too_big); i++) {
		int ret;

		c = good;
		c.size = too_big[i];
		ret = xioctl(self->fd, DRM_IOCTL_RKMM_BO_CREATE, &c);
		EXPECT_TRUE(ret == -EINVAL || ret == -ENOSPC || ret == -ENOMEM) {
			TH_LOG("size %llx: %d", (unsigned long long)too_big[i], ret);
		}
		if (!ret)
			gem_close(self->fd, c.handle);
	}
	/* outputs are not looked at */
	c = good;
	c.handle = NO_HANDLE;
	c.mmap_offset = UINT64_MAX;
	EXPECT_EQ(0, xioctl(self->fd, DRM_IOCTL_RKMM_BO_CREATE, &c));
	/* no handle went away with the refused ones */
	EXPECT_EQ(first.handle, c.handle);
	EXPECT_EQ(0, gem_close(self->fd, c.handle));
	EXPECT_NE(0, gem_close(self->fd, c.handle));
}

#define BAD_SYNC(change, error)						\
do {									\
	struct drm_rkmm_bo_sync bad = good;				\
									\
	bad.change;							\
	EXPECT_EQ(error, xioctl(self->fd, DRM_IOCTL_RKMM_BO_SYNC, &bad)) { \
		TH_LOG(#change);					\
	}								\
} while (0)

TEST_F(uapi, bo_sync)
{
	const uint64_t size = self->mm.a.size;
	struct drm_rkmm_bo_sync s, good = {
		.handle = self->mm.a.handle, .flags = DRM_RKMM_SYNC_READ, .offset = 64, .size = 8,
	};
	uint32_t i, flags;

	for (flags = 1; flags < 8; flags++) {
		s = good;
		s.flags = flags;
		EXPECT_EQ(flags & 3 ? 0 : -EINVAL, xioctl(self->fd, DRM_IOCTL_RKMM_BO_SYNC, &s)) {
			TH_LOG("flags %u", flags);
		}
	}
	BAD_SYNC(flags = 0, -EINVAL);
	BAD_SYNC(flags = DRM_RKMM_SYNC_WAIT, -EINVAL);
	BAD_SYNC(flags |= DRM_RKMM_SYNC_END | DRM_RKMM_SYNC_WAIT, -EINVAL);
	for (i = 4; i < 32; i++)
		BAD_SYNC(flags |= 1u << i, -EINVAL);
	BAD_SYNC(handle = 0, -ENOENT);
	BAD_SYNC(handle = NO_HANDLE, -ENOENT);
	BAD_SYNC(size = 0, -EINVAL);
	BAD_SYNC(size = size, -EINVAL);
	BAD_SYNC(size = size - 63, -EINVAL);
	BAD_SYNC(size = UINT64_MAX, -EINVAL);
	BAD_SYNC(size = UINT64_MAX - 63, -EINVAL);
	BAD_SYNC(offset = size, -EINVAL);
	BAD_SYNC(offset = size - 7, -EINVAL);
	BAD_SYNC(offset = UINT64_MAX, -EINVAL);
	BAD_SYNC(offset = UINT64_MAX - 7, -EINVAL);
	/* the last bytes are in range */
	s = good;
	s.offset = size - 8;
	EXPECT_EQ(0, xioctl(self->fd, DRM_IOCTL_RKMM_BO_SYNC, &s));
	/* nothing to wait for: a deadline that is long over does not matter */
	s = good;
	s.flags |= DRM_RKMM_SYNC_WAIT;
	s.deadline_ns = 1;
	EXPECT_EQ(0, xioctl(self->fd, DRM_IOCTL_RKMM_BO_SYNC, &s));
}

/* --- PLAN_CREATE, PLAN_DESTROY ----------------------------------------------------- */

static int plan_errno(int fd, struct drm_rkmm_plan_create *p)
{
	struct drm_rkmm_plan_destroy d = { 0 };
	int ret = xioctl(fd, DRM_IOCTL_RKMM_PLAN_CREATE, p);

	d.plan = p->plan;
	if (!ret && xioctl(fd, DRM_IOCTL_RKMM_PLAN_DESTROY, &d))
		return -EBADF;
	return ret;
}

#define BAD_PLAN(change, error, why)					\
do {									\
	struct drm_rkmm_plan_create bad = good;				\
									\
	bad.change;							\
	EXPECT_EQ(error, plan_errno(self->fd, &bad)) {			\
		TH_LOG(#change);					\
	}								\
	if ((error) == -EOPNOTSUPP) {					\
		EXPECT_EQ(why, bad.reason) {				\
			TH_LOG(#change);				\
		}							\
	}								\
} while (0)

TEST_F(uapi, plan_create)
{
	struct drm_rkmm_plan_create p, good = {
		.types = DRM_RKMM_I8I32, .m = 5, .k = 64, .n = 32,
	};
	uint32_t i;

	p = good;
	ASSERT_EQ(0, plan_errno(self->fd, &p));

	BAD_PLAN(kind = 1, -EINVAL, 0);
	BAD_PLAN(kind = UINT32_MAX, -EINVAL, 0);
	BAD_PLAN(types = 5, -EOPNOTSUPP, DRM_RKMM_REASON_TYPES);
	BAD_PLAN(types = UINT32_MAX, -EOPNOTSUPP, DRM_RKMM_REASON_TYPES);
	BAD_PLAN(m = 0, -EOPNOTSUPP, DRM_RKMM_REASON_ZERO);
	BAD_PLAN(k = 0, -EOPNOTSUPP, DRM_RKMM_REASON_ZERO);
	BAD_PLAN(n = 0, -EOPNOTSUPP, DRM_RKMM_REASON_ZERO);
	for (i = 1; i < 32; i++)
		BAD_PLAN(flags = 1u << i, -EINVAL, 0);
	BAD_PLAN(pad = 1, -EINVAL, 0);
	BAD_PLAN(pad = 0x80000000, -EINVAL, 0);

	/* too small, not a multiple of 16, beyond its field */
	BAD_PLAN(a_pitch = 48, -EOPNOTSUPP, DRM_RKMM_REASON_STRIDE);
	BAD_PLAN(a_pitch = 65, -EOPNOTSUPP, DRM_RKMM_REASON_STRIDE);
	BAD_PLAN(a_pitch = 72, -EOPNOTSUPP, DRM_RKMM_REASON_STRIDE);
	p = good;
	p.a_pitch = 0xfffffff0;
	EXPECT_EQ(-EOPNOTSUPP, plan_errno(self->fd, &p));
	EXPECT_TRUE(p.reason == DRM_RKMM_REASON_STRIDE || p.reason == DRM_RKMM_REASON_SIZE);
	BAD_PLAN(c_pitch = 112, -EOPNOTSUPP, DRM_RKMM_REASON_STRIDE);
	BAD_PLAN(c_pitch = 129, -EOPNOTSUPP, DRM_RKMM_REASON_STRIDE);
	BAD_PLAN(c_pitch = 136, -EOPNOTSUPP, DRM_RKMM_REASON_STRIDE);
	BAD_PLAN(c_pitch = 0xfffffff0, -EOPNOTSUPP, DRM_RKMM_REASON_STRIDE);
	BAD_PLAN(b_layout = UINT64_MAX, -EOPNOTSUPP, DRM_RKMM_REASON_LAYOUT);
	BAD_PLAN(b_layout = 1, -EOPNOTSUPP, DRM_RKMM_REASON_LAYOUT);
	BAD_PLAN(form = 4, -EINVAL, 0);
	BAD_PLAN(form = UINT32_MAX, -EINVAL, 0);

	for (i = self->info.cores; i < 32; i++)
		BAD_PLAN(cores = 1u << i, -EINVAL, 0);
	BAD_PLAN(cores = UINT32_MAX, -EINVAL, 0);

	/* parameters of another output type */
	BAD_PLAN(mult = 2, -EOPNOTSUPP, DRM_RKMM_REASON_QUANT);
	BAD_PLAN(mult = -1, -EOPNOTSUPP, DRM_RKMM_REASON_QUANT);
	BAD_PLAN(shift = 1, -EOPNOTSUPP, DRM_RKMM_REASON_QUANT);
	BAD_PLAN(offset = 1, -EOPNOTSUPP, DRM_RKMM_REASON_QUANT);

	/* enormous, but not malformed: refused with a reason, and nothing overflows */
	p = good;
	p.m = p.k = p.n = UINT32_MAX;
	EXPECT_EQ(-EOPNOTSUPP, plan_errno(self->fd, &p));
	EXPECT_NE(DRM_RKMM_REASON_NONE, p.reason);
	BAD_PLAN(k = UINT32_MAX, -EOPNOTSUPP, DRM_RKMM_REASON_K_LIMIT);
	p = good;
	p.n = UINT32_MAX;
	EXPECT_EQ(-EOPNOTSUPP, plan_errno(self->fd, &p));
	EXPECT_NE(DRM_RKMM_REASON_NONE, p.reason);
	p = good;
	p.m = UINT32_MAX;
	EXPECT_EQ(-EOPNOTSUPP, plan_errno(self->fd, &p));
	EXPECT_NE(DRM_RKMM_REASON_NONE, p.reason);

	/* outputs are not looked at */
	p = good;
	p.plan = NO_HANDLE;
	p.reason = 99;
	p.programs = 1;
	p.predicted_ns = UINT64_MAX;
	memset(&p.a, 0xff, sizeof(p.a));
	memset(&p.b, 0xff, sizeof(p.b));
	memset(&p.c, 0xff, sizeof(p.c));
	EXPECT_EQ(0, plan_errno(self->fd, &p));
	EXPECT_EQ(0, p.reason);
	EXPECT_EQ(5, p.a.rows);

	/* every mask of existing cores is taken */
	for (i = 1; i < 1u << self->info.cores; i++) {
		p = good;
		p.cores = i;
		EXPECT_EQ(0, plan_errno(self->fd, &p));
	}
}

TEST_F(uapi, plan_create_pitch)
{
	/* a pitch for A where K is padded would read what lies between the rows */
	struct drm_rkmm_plan_create p, good = {
		.types = DRM_RKMM_I8I32, .m = 5, .k = 63, .n = 32,
	};

	BAD_PLAN(a_pitch = 64, -EOPNOTSUPP, DRM_RKMM_REASON_STRIDE);
	BAD_PLAN(a_pitch = 128, -EOPNOTSUPP, DRM_RKMM_REASON_STRIDE);
	p = good;
	p.k = 64;
	p.a_pitch = 64;
	p.c_pitch = 128;
	EXPECT_EQ(0, plan_errno(self->fd, &p));
	EXPECT_EQ(64, p.a.pitch);
	EXPECT_EQ(128, p.c.pitch);
}

TEST_F(uapi, plan_create_requant)
{
	struct drm_rkmm_plan_create p, good = {
		.types = DRM_RKMM_I8I8, .m = 5, .k = 64, .n = 32, .mult = 1, .shift = 7,
	};

	p = good;
	ASSERT_EQ(0, plan_errno(self->fd, &p));
	BAD_PLAN(mult = 0, -EOPNOTSUPP, DRM_RKMM_REASON_QUANT);
	BAD_PLAN(mult = -1, -EOPNOTSUPP, DRM_RKMM_REASON_QUANT);
	BAD_PLAN(mult = 32768, -EOPNOTSUPP, DRM_RKMM_REASON_QUANT);
	BAD_PLAN(mult = INT32_MIN, -EOPNOTSUPP, DRM_RKMM_REASON_QUANT);
	BAD_PLAN(shift = 32, -EOPNOTSUPP, DRM_RKMM_REASON_QUANT);
	BAD_PLAN(shift = UINT32_MAX, -EOPNOTSUPP, DRM_RKMM_REASON_QUANT);
	BAD_PLAN(offset = 128, -EOPNOTSUPP, DRM_RKMM_REASON_QUANT);
	BAD_PLAN(offset = -129, -EOPNOTSUPP, DRM_RKMM_REASON_QUANT);
	BAD_PLAN(offset = INT32_MIN, -EOPNOTSUPP, DRM_RKMM_REASON_QUANT);
	p = good;
	p.mult = 32767;
	p.shift = 31;
	p.offset = -128;
	EXPECT_EQ(0, plan_errno(self->fd, &p));
}

TEST_F(uapi, plan_destroy)
{
	struct drm_rkmm_plan_create p = {
		.types = DRM_RKMM_F16F32, .m = 5, .k = 64, .n = 32,
	};
	struct drm_rkmm_plan_destroy d = { 0 };
	struct drm_rkmm_op op = mm_op(&self->mm);
	struct drm_rkmm_submit s;

	ASSERT_EQ(0, xioctl(self->fd, DRM_IOCTL_RKMM_PLAN_CREATE, &p));
	EXPECT_NE(0, p.plan);
	d.plan = p.plan;
	d.pad = 1;
	EXPECT_EQ(-EINVAL, xioctl(self->fd, DRM_IOCTL_RKMM_PLAN_DESTROY, &d));
	d.pad = 0;
	d.plan = 0;
	EXPECT_EQ(-ENOENT, xioctl(self->fd, DRM_IOCTL_RKMM_PLAN_DESTROY, &d));
	d.plan = NO_HANDLE;
	EXPECT_EQ(-ENOENT, xioctl(self->fd, DRM_IOCTL_RKMM_PLAN_DESTROY, &d));
	d.plan = p.plan;
	EXPECT_EQ(0, xioctl(self->fd, DRM_IOCTL_RKMM_PLAN_DESTROY, &d));
	EXPECT_EQ(-ENOENT, xioctl(self->fd, DRM_IOCTL_RKMM_PLAN_DESTROY, &d));

	op.plan = p.plan;
	submit_init(&s, &op, 1);
	EXPECT_EQ(-ENOENT, rk_submit(self->fd, &s));
}

/* A plan belongs to its file. */
TEST_F(uapi, plan_of_another_client)
{
	struct drm_rkmm_plan_destroy d = { .plan = self->mm.plan.plan };
	int other = rk_open();

	ASSERT_LE(0, other);
	EXPECT_EQ(-ENOENT, xioctl(other, DRM_IOCTL_RKMM_PLAN_DESTROY, &d));
	close(other);
}

/* --- SUBMIT, WAIT --------------------------------------------------------------- */

static int try_op(int fd, const struct drm_rkmm_op *op)
{
	struct drm_rkmm_submit s;

	submit_init(&s, op, 1);
	return rk_submit(fd, &s);
}

#define BAD_OP(change, error)						\
do {									\
	struct drm_rkmm_op bad = good;					\
									\
	bad.change;							\
	EXPECT_EQ(error, try_op(self->fd, &bad)) {			\
		TH_LOG(#change);					\
	}								\
} while (0)

#define BAD_OPERAND(x, tensor)						\
do {									\
	uint64_t size = self->mm.x.size, bytes = self->mm.plan.tensor.size; \
									\
	BAD_OP(x.handle = 0, -ENOENT);					\
	BAD_OP(x.handle = NO_HANDLE, -ENOENT);				\
	BAD_OP(x.flags = 2, -EINVAL);					\
	BAD_OP(x.flags = 0x80000000, -EINVAL);				\
	BAD_OP(x.offset += 1, -EINVAL);					\
	BAD_OP(x.offset += 16, -EINVAL);				\
	BAD_OP(x.offset += 32, -EINVAL);				\
	BAD_OP(x.offset = ((size - bytes) & ~63ull) + 64, -EINVAL);	\
	BAD_OP(x.offset = size, -EINVAL);				\
	BAD_OP(x.offset = 1ull << 32, -EINVAL);				\
	BAD_OP(x.offset = -64ull, -EINVAL);				\
	BAD_OP(x.offset = -(bytes & ~63ull), -EINVAL);			\
	BAD_OP(x.offset = 1ull << 63, -EINVAL);				\
} while (0)

TEST_F(uapi, submit_operation)
{
	struct drm_rkmm_op good = mm_op(&self->mm);
	uint32_t i;

	BAD_OP(plan = 0, -ENOENT);
	BAD_OP(plan = NO_HANDLE, -ENOENT);
	BAD_OP(rows = self->mm.m + 1, -EINVAL);
	BAD_OP(rows = UINT32_MAX, -EINVAL);
	for (i = 0; i < 32; i++)
		BAD_OP(flags = 1u << i, -EINVAL);
	BAD_OP(count = DRM_RKMM_MAX_MEMBERS + 1, -EINVAL);
	BAD_OP(count = UINT32_MAX, -EINVAL);
	BAD_OPERAND(a, a);
	BAD_OPERAND(b, b);
	BAD_OPERAND(c, c);
}

/* C over A or B of the same operation, by one byte and by all. */
TEST_F(uapi, submit_overlap)
{
	struct mm mm = {
		.types = DRM_RKMM_I8I32, .m = 6, .k = 64, .n = 64, .one_buffer = true,
	};
	struct drm_rkmm_op good;

	ASSERT_EQ(0, mm_init(&mm, self->fd, 5));
	good = mm_op(&mm);
	BAD_OP(c.offset = good.a.offset, -EINVAL);
	BAD_OP(c.offset = good.b.offset, -EINVAL);
	BAD_OP(c.offset = good.b.offset + ((mm.plan.b.size - 1) & ~63ull), -EINVAL);
	BAD_OP(b.offset = good.c.offset - 64, -EINVAL);
	BAD_OP(a.offset = good.c.offset - 64, -EINVAL);
	/* inputs may overlap each other */
	EXPECT_EQ(0, mm_run(&mm)) {
		TH_LOG("%s", mm.msg);
	}
	good.a.offset = good.b.offset;
	EXPECT_EQ(0, try_op(self->fd, &good));
	mm_free(&mm);
}

/* The same buffer under two handles is the same memory. */
TEST_F(uapi, submit_overlap_two_handles)
{
	struct drm_prime_handle prime = { .handle = self->mm.a.handle, .flags = DRM_CLOEXEC };
	struct drm_rkmm_op good = mm_op(&self->mm);
	struct drm_gem_flink flink = { .handle = self->mm.a.handle };

	ASSERT_EQ(0, xioctl(self->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime));
	ASSERT_EQ(0, xioctl(self->fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime));
	BAD_OP(c.handle = prime.handle; bad.c.offset = good.a.offset, -EINVAL);
	close(prime.fd);
	/* names that any process could guess do not exist on a render node */
	EXPECT_NE(0, xioctl(self->fd, DRM_IOCTL_GEM_FLINK, &flink));
}

#define BAD_SUBMIT(change, error)					\
do {									\
	struct drm_rkmm_submit bad = good;				\
									\
	bad.change;							\
	EXPECT_EQ(error, rk_submit(self->fd, &bad)) {			\
		TH_LOG(#change);					\
	}								\
} while (0)

TEST_F(uapi, submit_fields)
{
	struct drm_rkmm_op op = mm_op(&self->mm);
	struct drm_rkmm_submit s, good;
	uint32_t i;

	submit_init(&good, &op, 1);
	s = good;
	ASSERT_EQ(0, rk_submit(self->fd, &s));
	EXPECT_EQ(0, rk_result(self->fd, s.seqno));

	for (i = 3; i < 32; i++)
		BAD_SUBMIT(flags = 1u << i, -EINVAL);
	BAD_SUBMIT(flags = DRM_RKMM_SUBMIT_LATENCY | DRM_RKMM_SUBMIT_POWER, -EINVAL);
	for (i = self->info.cores; i < 32; i++)
		BAD_SUBMIT(cores = 1u << i, -EINVAL);
	BAD_SUBMIT(ops.count = 0, -EINVAL);
	BAD_SUBMIT(ops.count = DRM_RKMM_MAX_OPS + 1, -EINVAL);
	BAD_SUBMIT(ops.count = UINT32_MAX, -EINVAL);
	BAD_SUBMIT(ops.array = 0, -EFAULT);
	BAD_SUBMIT(ops.array = 64, -EFAULT);
	BAD_SUBMIT(ops.array = UINT64_MAX - 63, -EFAULT);
	BAD_SUBMIT(ops.stride = 0, -EINVAL);
	BAD_SUBMIT(ops.stride = 56, -EINVAL);
	BAD_SUBMIT(ops.stride = UINT32_MAX, -EINVAL);
	BAD_SUBMIT(in_syncs.count = DRM_RKMM_MAX_SYNCS + 1, -EINVAL);
	BAD_SUBMIT(in_syncs.count = UINT32_MAX, -EINVAL);
	BAD_SUBMIT(out_syncs.count = DRM_RKMM_MAX_SYNCS + 1, -EINVAL);
	BAD_SUBMIT(out_syncs.count = UINT32_MAX, -EINVAL);

	/* both masks are good, but no core is in both */
	if (self->info.cores > 1) {
		struct mm mm = self->mm;

		mm.cores = 1;
		ASSERT_EQ(0, mm_plan(&mm, self->fd));
		op.plan = mm.plan.plan;
		BAD_SUBMIT(cores = 2, -EINVAL);
		s = good;
		s.cores = 3;
		EXPECT_EQ(0, rk_submit(self->fd, &s));
		EXPECT_EQ(0, rk_result(self->fd, s.seqno));
	}
	/* outputs are not looked at */
	op = mm_op(&self->mm);
	s = good;
	s.seqno = UINT64_MAX;
	s.wait_status = -1;
	s.result = -1;
	EXPECT_EQ(0, rk_submit(self->fd, &s));
	EXPECT_EQ(0, rk_result(self->fd, s.seqno));
}

/* An element that grew: an unknown tail is good as long as it is zero. */
TEST_F(uapi, submit_strides)
{
	struct {
		struct drm_rkmm_op op;
		uint64_t tail;
	} ops[2] = { { mm_op(&self->mm), 0 }, { mm_op(&self->mm), 0 } };
	struct {
		struct drm_rkmm_sync sync;
		uint64_t tail;
	} sync = { .tail = 0 };
	struct drm_rkmm_submit s, good;

	submit_init(&good, &ops[0].op, 2);
	good.ops.stride = sizeof(ops[0]);
	s = good;
	EXPECT_EQ(0, rk_submit(self->fd, &s));
	EXPECT_EQ(0, rk_result(self->fd, s.seqno));
	ops[1].tail = 1ull << 40;
	EXPECT_EQ(-E2BIG, rk_submit(self->fd, &good));
	ops[1].tail = 0;
	/* an element from before it grew */
	submit_init(&s, &ops[0].op, 1);
	s.ops.stride = offsetof(struct drm_rkmm_op, a_stride);
	EXPECT_EQ(0, rk_submit(self->fd, &s));
	EXPECT_EQ(0, rk_result(self->fd, s.seqno));

	ASSERT_EQ(0, syncobj_create(self->fd, &sync.sync.handle));
	good.out_syncs = (struct drm_rkmm_array) {
		.stride = sizeof(sync), .count = 1, .array = (uintptr_t)&sync,
	};
	s = good;
	EXPECT_EQ(0, rk_submit(self->fd, &s));
	EXPECT_EQ(0, syncobj_wait(self->fd, sync.sync.handle, 0, after(60 * SEC)));
	sync.tail = 1;
	EXPECT_EQ(-E2BIG, rk_submit(self->fd, &good));
	good.in_syncs = good.out_syncs;
	good.out_syncs = (struct drm_rkmm_array) { 0 };
	EXPECT_EQ(-E2BIG, rk_submit(self->fd, &good));
	sync.tail = 0;
	s = good;
	EXPECT_EQ(0, rk_submit(self->fd, &s));
	EXPECT_EQ(0, rk_result(self->fd, s.seqno));
	BAD_SUBMIT(in_syncs.stride = 8, -EINVAL);
	BAD_SUBMIT(in_syncs.stride = 0, -EINVAL);
	EXPECT_EQ(0, syncobj_destroy(self->fd, sync.sync.handle));
}

TEST_F(uapi, submit_syncs)
{
	struct drm_rkmm_op op = mm_op(&self->mm);
	struct drm_rkmm_sync full = { 0 }, empty = { 0 }, sync;
	struct drm_rkmm_submit s, good;
	uint32_t i, side;

	ASSERT_EQ(0, syncobj_create(self->fd, &full.handle));
	ASSERT_EQ(0, syncobj_create(self->fd, &empty.handle));
	submit_init(&s, &op, 1);
	submit_syncs(&s, NULL, 0, &full, 1);
	ASSERT_EQ(0, rk_submit(self->fd, &s));
	ASSERT_EQ(0, rk_result(self->fd, s.seqno));

	for (side = 0; side < 2; side++) {
		submit_init(&good, &op, 1);
		if (side)
			submit_syncs(&good, NULL, 0, &sync, 1);
		else
			submit_syncs(&good, &sync, 1, NULL, 0);
		sync = full;
		s = good;
		EXPECT_EQ(0, rk_submit(self->fd, &s));
		EXPECT_EQ(0, rk_result(self->fd, s.seqno));
		sync.handle = 0;
		EXPECT_EQ(-ENOENT, rk_submit(self->fd, &good));
		sync.handle = NO_HANDLE;
		EXPECT_EQ(-ENOENT, rk_submit(self->fd, &good));
		for (i = 0; i < 32; i++) {
			sync = full;
			sync.flags = 1u << i;
			EXPECT_EQ(-EINVAL, rk_submit(self->fd, &good));
		}
		sync = full;
		good.in_syncs.array = side ? 0 : 1;
		good.out_syncs.array = side ? 1 : 0;
		EXPECT_EQ(-EFAULT, rk_submit(self->fd, &good));
	}
	/* nothing was ever put there to wait for */
	submit_init(&good, &op, 1);
	submit_syncs(&good, &empty, 1, NULL, 0);
	EXPECT_EQ(-EINVAL, rk_submit(self->fd, &good));
	/* a refused submission signals nothing */
	op.rows = 1000;
	submit_init(&good, &op, 1);
	submit_syncs(&good, NULL, 0, &empty, 1);
	EXPECT_EQ(-EINVAL, rk_submit(self->fd, &good));
	op.rows = 0;
	submit_syncs(&good, &empty, 1, NULL, 0);
	good.out_syncs = (struct drm_rkmm_array) { 0 };
	EXPECT_EQ(-EINVAL, rk_submit(self->fd, &good));
	EXPECT_EQ(0, syncobj_destroy(self->fd, full.handle));
	EXPECT_EQ(0, syncobj_destroy(self->fd, empty.handle));
}

/* One bad element among good ones: nothing of the submission runs. */
TEST_F(uapi, submit_all_or_nothing)
{
	struct drm_rkmm_op op[5];
	struct drm_rkmm_client_info before, now;
	struct drm_rkmm_submit s;
	uint32_t i;

	ASSERT_EQ(0, rk_client(self->fd, &before));
	for (i = 0; i < 5; i++)
		op[i] = mm_op(&self->mm);
	for (i = 0; i < 5; i++) {
		op[i].b.handle = NO_HANDLE;
		submit_init(&s, op, 5);
		EXPECT_EQ(-ENOENT, rk_submit(self->fd, &s));
		op[i].b.handle = op[(i + 1) % 5].b.handle;
	}
	ASSERT_EQ(0, rk_client(self->fd, &now));
	EXPECT_EQ(before.jobs, now.jobs);
	ASSERT_EQ(0, buf_begin_read(&self->mm.c));
	EXPECT_EQ(0, memcmp(self->mm.c.map, self->mm.fill, self->mm.c.size));
}

TEST_F(uapi, submit_most_operations)
{
	struct drm_rkmm_op *op = calloc(DRM_RKMM_MAX_OPS, sizeof(*op));
	struct drm_rkmm_submit s;
	struct mm mm = { .types = DRM_RKMM_I8I32, .m = 1, .k = 32, .n = 32 };
	uint32_t i;

	ASSERT_NE(NULL, op);
	ASSERT_EQ(0, mm_init(&mm, self->fd, 8));
	for (i = 0; i < DRM_RKMM_MAX_OPS; i++)
		op[i] = mm_op(&mm);
	submit_init(&s, op, DRM_RKMM_MAX_OPS);
	EXPECT_EQ(0, rk_submit(self->fd, &s));
	EXPECT_EQ(0, rk_result(self->fd, s.seqno));
	EXPECT_EQ(0, mm_check(&mm)) {
		TH_LOG("%s", mm.msg);
	}
	mm_free(&mm);
	free(op);
}

/* Two pages, the second one out of reach: the array must be read as a whole. */
TEST_F(uapi, array_at_the_end_of_memory)
{
	uint8_t *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			     0);
	struct drm_rkmm_op *op = (void *)(page + 4096 - sizeof(*op));
	struct drm_rkmm_submit s;

	ASSERT_NE(MAP_FAILED, page);
	ASSERT_EQ(0, mprotect(page + 4096, 4096, PROT_NONE));
	*op = mm_op(&self->mm);
	submit_init(&s, op, 1);
	EXPECT_EQ(0, rk_submit(self->fd, &s));
	EXPECT_EQ(0, rk_result(self->fd, s.seqno));
	submit_init(&s, op, 2);
	EXPECT_EQ(-EFAULT, rk_submit(self->fd, &s));
	munmap(page, 8192);
}

TEST_F(uapi, wait)
{
	struct drm_rkmm_op op = mm_op(&self->mm);
	struct drm_rkmm_wait w;
	struct drm_rkmm_submit s;
	uint32_t i;

	submit_init(&s, &op, 1);
	ASSERT_EQ(0, rk_submit(self->fd, &s));
	ASSERT_EQ(0, rk_result(self->fd, s.seqno));
	for (i = 0; i < 32; i++) {
		w = (struct drm_rkmm_wait) { .seqno = s.seqno, .flags = 1u << i };
		EXPECT_EQ(-EINVAL, xioctl(self->fd, DRM_IOCTL_RKMM_WAIT, &w));
	}
	w = (struct drm_rkmm_wait) { .seqno = 0 };
	EXPECT_EQ(-ENOENT, xioctl(self->fd, DRM_IOCTL_RKMM_WAIT, &w));
	w.seqno = s.seqno + 1;
	EXPECT_EQ(-ENOENT, xioctl(self->fd, DRM_IOCTL_RKMM_WAIT, &w));
	w.seqno = UINT64_MAX;
	EXPECT_EQ(-ENOENT, xioctl(self->fd, DRM_IOCTL_RKMM_WAIT, &w));
	/* over: any deadline will do */
	w = (struct drm_rkmm_wait) { .seqno = s.seqno, .deadline_ns = INT64_MIN };
	EXPECT_EQ(0, xioctl(self->fd, DRM_IOCTL_RKMM_WAIT, &w));
	EXPECT_EQ(0, w.result);
	w = (struct drm_rkmm_wait) { .seqno = s.seqno, .deadline_ns = INT64_MAX, .result = -9 };
	EXPECT_EQ(0, xioctl(self->fd, DRM_IOCTL_RKMM_WAIT, &w));
	EXPECT_EQ(0, w.result);
}

/* --- arguments of another size ------------------------------------------------------ */

#define SIZED(nr, size)	_IOC(_IOC_READ | _IOC_WRITE, DRM_IOCTL_BASE, DRM_COMMAND_BASE + (nr), size)

TEST_F(uapi, argument_sizes)
{
	struct drm_rkmm_op op = mm_op(&self->mm);
	struct {
		struct drm_rkmm_wait wait;
		uint64_t tail[4];
	} big = { .tail = { 0 } };
	struct drm_rkmm_submit s;
	uint32_t nr;

	/* fields that the caller does not know count as zero, and are not written */
	submit_init(&s, &op, 1);
	s.wait_status = 0x1234;
	s.result = 0x5678;
	EXPECT_EQ(0, xioctl(self->fd, SIZED(DRM_RKMM_SUBMIT, 72), &s));
	EXPECT_EQ(0x1234, s.wait_status);
	EXPECT_EQ(0x5678, s.result);
	EXPECT_EQ(0, rk_result(self->fd, s.seqno));

	/* a caller that is newer than the driver */
	big.wait.seqno = s.seqno;
	EXPECT_EQ(0, xioctl(self->fd, SIZED(DRM_RKMM_WAIT, sizeof(big)), &big));

	/* too short to say anything */
	for (nr = DRM_RKMM_BO_CREATE; nr <= DRM_RKMM_WAIT; nr++) {
		uint64_t nothing = 0;

		EXPECT_NE(0, xioctl(self->fd, SIZED(nr, 4), &nothing));
	}
	/* the first number that is not ours */
	EXPECT_EQ(-EINVAL, xioctl(self->fd, SIZED(DRM_RKMM_PROBE + 1, sizeof(big)), &big));
}

TEST_F(uapi, bad_argument_pointers)
{
	static const unsigned long request[] = {
		DRM_IOCTL_RKMM_QUERY, DRM_IOCTL_RKMM_BO_CREATE, DRM_IOCTL_RKMM_BO_SYNC,
		DRM_IOCTL_RKMM_PLAN_CREATE, DRM_IOCTL_RKMM_PLAN_DESTROY, DRM_IOCTL_RKMM_SUBMIT,
		DRM_IOCTL_RKMM_WAIT, DRM_IOCTL_RKMM_CLIENT_SET, DRM_IOCTL_RKMM_PROBE,
	};
	uint32_t i;

	for (i = 0; i < ARRAY_SIZE(request); i++) {
		EXPECT_EQ(-EFAULT, xioctl(self->fd, request[i], NULL));
		EXPECT_EQ(-EFAULT, xioctl(self->fd, request[i], (void *)-4096l));
	}
}

/* Random words in every argument: whatever is answered, the file and the device live on. */
TEST_F_TIMEOUT(uapi, noise, 120)
{
	static const struct { uint32_t nr, size; } cmd[] = {
		{ DRM_RKMM_QUERY, 16 }, { DRM_RKMM_BO_SYNC, 32 }, { DRM_RKMM_PLAN_CREATE, 224 },
		{ DRM_RKMM_PLAN_DESTROY, 8 }, { DRM_RKMM_SUBMIT, 80 }, { DRM_RKMM_WAIT, 24 },
		{ DRM_RKMM_CLIENT_SET, 16 },
	};
	struct mm mm = { .types = DRM_RKMM_I8I32, .m = 2, .k = 32, .n = 32, .one_buffer = true };
	uint32_t i, j, c, good = 0;
	struct drm_rkmm_op op[2];
	uint32_t word[64];
	struct rnd r;
	int fd = rk_open();

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, mm_init(&mm, fd, 4242));
	rnd_seed(&r, 4242);
	for (i = 0; i < 12000; i++) {
		c = i % ARRAY_SIZE(cmd);
		memset(word, 0, sizeof(word));
		if (cmd[c].nr == DRM_RKMM_SUBMIT) {
			if (mm_plan(&mm, fd))
				break;
			op[0] = op[1] = mm_op(&mm);
			submit_init((void *)word, op, 1 + rnd_below(&r, 2));
			((uint32_t *)op)[rnd_below(&r, sizeof(op) / 4)] =
				rnd_below(&r, 3) ? rnd_below(&r, 9) : rnd_next(&r);
		}
		for (j = rnd_below(&r, 4); j; j--)
			word[rnd_below(&r, cmd[c].size / 4)] =
				rnd_below(&r, 2) ? rnd_below(&r, 200) : rnd_next(&r);
		if (!xioctl(fd, SIZED(cmd[c].nr, cmd[c].size), word) &&
		    cmd[c].nr == DRM_RKMM_SUBMIT)
			good++;
		if (cmd[c].nr == DRM_RKMM_SUBMIT) {
			struct drm_rkmm_plan_destroy d = { .plan = mm.plan.plan };

			xioctl(fd, DRM_IOCTL_RKMM_PLAN_DESTROY, &d);
		}
	}
	EXPECT_EQ(12000, i);
	EXPECT_NE(0, good);
	mm.plan.plan = 0;
	mm_free(&mm);
	close(fd);
}

RKMM_TEST_MAIN
