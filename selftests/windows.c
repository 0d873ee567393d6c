// SPDX-License-Identifier: GPL-2.0
/*
 * Weights that do not fit one address window. They are buffers of the software NPU
 * that have the same few MiB again and again, so that GiB of addresses need no memory.
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include "../kselftest_harness.h"
#include "rkmm_desk.h"
#include "rkmm_test.h"

#define CASE_TIMEOUT	400
#define MIB		(1ull << 20)
#define GIB		(1ull << 30)
#define CHUNK		(2 * MIB)
#define DEBUGFS		"/sys/kernel/debug/rkmm_soft/"

/* Documentation/soft-npu.rst */
struct alias_request {
	uint64_t size, memory;
	int32_t fd;
	uint32_t pad;
};

#define IOC_ALIAS	_IOWR('S', 1, struct alias_request)

/* Weights in such a buffer, and the matmul that needs them */
struct weights {
	struct mm mm;
	uint64_t size;
	uint32_t handle;
	uint8_t *map;
};

static int alias_create(uint64_t size, uint64_t memory)
{
	struct alias_request req = { .size = size, .memory = memory };
	int fd = open(DEBUGFS "alias", O_RDWR), ret;

	if (fd < 0)
		return -errno;
	ret = xioctl(fd, IOC_ALIAS, &req);
	close(fd);
	return ret ? ret : req.fd;
}

static int alias_import(int fd, uint64_t size, uint32_t *handle, uint8_t **map)
{
	struct drm_prime_handle p = { 0 };
	int dmabuf = alias_create(size, CHUNK), ret;

	if (dmabuf < 0)
		return dmabuf;
	p.fd = dmabuf;
	ret = xioctl(fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &p);
	*handle = p.handle;
	*map = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED, dmabuf, 0);
	close(dmabuf);
	return !ret && *map == MAP_FAILED ? -errno : ret;
}

static int weights_init(struct weights *w, int fd, uint64_t size, uint64_t seed)
{
	static const uint32_t types[] = { DRM_RKMM_I8I32, DRM_RKMM_I4I16, DRM_RKMM_F16F32 };
	int ret;

	*w = (struct weights) { .size = size };
	w->mm = (struct mm) {
		.types = types[seed % 3], .m = 3 + seed % 5, .k = 64 + 32 * (seed % 3),
		.n = 64 + 32 * (seed % 4),
	};
	ret = mm_init(&w->mm, fd, seed);
	return ret ? ret : alias_import(fd, size, &w->handle, &w->map);
}

static void weights_free(struct weights *w)
{
	munmap(w->map, CHUNK);
	gem_close(w->mm.fd, w->handle);
	mm_free(&w->mm);
}

/* B somewhere in the memory; the operation names it somewhere in the buffer */
static int weights_op(struct weights *w, struct rnd *r, struct drm_rkmm_op *op)
{
	uint64_t b = w->mm.plan.b.size, at = rnd_below(r, (CHUNK - b) / 64) * 64ull, far;
	int ret;

	ret = bo_sync(w->mm.fd, w->handle, DRM_RKMM_SYNC_WRITE, at, b);
	if (ret)
		return ret;
	memcpy(w->map + at, w->mm.b.map + w->mm.b_off, b);
	ret = bo_sync(w->mm.fd, w->handle, DRM_RKMM_SYNC_WRITE | DRM_RKMM_SYNC_END, at, b);
	if (ret)
		return ret;
	far = at + rnd_below(r, w->size / CHUNK) * CHUNK;
	*op = mm_op(&w->mm);
	op->b.handle = w->handle;
	op->b.offset = far;
	mm_new_c(&w->mm);
	return 0;
}

static int sched_info(int fd, struct drm_rkmm_sched_info *info)
{
	struct drm_rkmm_query q = {
		.id = DRM_RKMM_QUERY_SCHED, .size = sizeof(*info), .pointer = (uintptr_t)info,
	};

	return xioctl(fd, DRM_IOCTL_RKMM_QUERY, &q);
}

static long long view_pages(void)
{
	return file_number(DEBUGFS "view/usage", "mapped_pages");
}

/* What was closed is unmapped by and by. */
static long long view_settle(long long most)
{
	int i;

	for (i = 0; i < 200 && view_pages() > most; i++)
		msleep(50);
	return view_pages();
}

FIXTURE(windows) {
	int fd;
	struct rnd rnd;
	/* a part of each window is for what is staged: feature=fixed; windows_apart.sh */
	bool fixed;
};

FIXTURE_SETUP(windows)
{
	struct drm_rkmm_device_info info;
	char text[32] = "";
	int fd;

	file_read("/sys/module/rkmm/parameters/feature", text, sizeof(text));
	self->fixed = !strncmp(text, "fixed", 5);
	self->fd = rk_open();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, rk_device(self->fd, &info));
	if (!rk_is_soft(self->fd) || info.window_bytes != 4 * GIB)
		SKIP(return, "needs the software NPU with windows of 4 GiB");
	fd = alias_create(CHUNK, CHUNK);
	if (fd < 0)
		SKIP(return, "needs debugfs");
	close(fd);
	rnd_seed(&self->rnd, 77);
}

FIXTURE_TEARDOWN(windows)
{
	close(self->fd);
}

/* Passes over all weights in order: once through every window, whatever the order of operands. */
TEST_F_TIMEOUT(windows, fourteen_gib, CASE_TIMEOUT)
{
	static struct weights w[14];
	struct drm_rkmm_op ops[ARRAY_SIZE(w)];
	struct drm_rkmm_sched_info before, now;
	/* three and a part to a window, or two */
	uint64_t least = self->fixed ? 7 : 5;
	long long pages = view_pages();
	struct drm_rkmm_submit s;
	uint32_t i, pass;

	for (i = 0; i < ARRAY_SIZE(w); i++)
		ASSERT_EQ(0, weights_init(&w[i], self->fd, GIB, 100 + i));
	for (pass = 0; pass < 3; pass++) {
		for (i = 0; i < ARRAY_SIZE(w); i++)
			ASSERT_EQ(0, weights_op(&w[i], &self->rnd, &ops[i]));
		ASSERT_EQ(0, sched_info(self->fd, &before));
		submit_init(&s, ops, ARRAY_SIZE(w));
		ASSERT_EQ(0, rk_submit(self->fd, &s));
		ASSERT_EQ(0, rk_result(self->fd, s.seqno));
		ASSERT_EQ(0, sched_info(self->fd, &now));
		for (i = 0; i < ARRAY_SIZE(w); i++) {
			EXPECT_EQ(0, mm_check(&w[i].mm)) {
				TH_LOG("pass %u, weights %u: %s", pass, i, w[i].mm.msg);
			}
		}
		EXPECT_LE(least, now.windows);
		EXPECT_LE(least - 1, now.switches - before.switches);
		EXPECT_GE(least, now.switches - before.switches) {
			TH_LOG("pass %u: %llu switches, %llu windows", pass,
			       (unsigned long long)(now.switches - before.switches),
			       (unsigned long long)now.windows);
		}
		EXPECT_LT(before.switch_ns, now.switch_ns);
	}
	for (i = 0; i < ARRAY_SIZE(w); i++)
		weights_free(&w[i]);
	/* what was kept of them are programs */
	EXPECT_GE(pages + 512, view_settle(pages + 512));
}

/* In no order at all, one by one */
TEST_F_TIMEOUT(windows, any_order, CASE_TIMEOUT)
{
	static struct weights w[5];
	struct drm_rkmm_submit s;
	struct drm_rkmm_op op;
	uint32_t i, k;

	for (i = 0; i < ARRAY_SIZE(w); i++)
		ASSERT_EQ(0, weights_init(&w[i], self->fd, GIB + i * 100 * MIB, 200 + i));
	for (k = 0; k < 40; k++) {
		i = rnd_below(&self->rnd, ARRAY_SIZE(w));
		ASSERT_EQ(0, weights_op(&w[i], &self->rnd, &op));
		submit_init(&s, &op, 1);
		ASSERT_EQ(0, rk_submit(self->fd, &s));
		ASSERT_EQ(0, rk_result(self->fd, s.seqno));
		EXPECT_EQ(0, mm_check(&w[i].mm)) {
			TH_LOG("run %u, weights %u: %s", k, i, w[i].mm.msg);
		}
	}
	for (i = 0; i < ARRAY_SIZE(w); i++)
		weights_free(&w[i]);
}

/* Members of a group are apart: each window is visited once. */
TEST_F_TIMEOUT(windows, group, CASE_TIMEOUT)
{
	static struct weights w[8];
	struct drm_rkmm_op ops[ARRAY_SIZE(w)];
	struct drm_rkmm_sched_info before, now;
	struct drm_rkmm_submit s;
	uint32_t i, pass;

	for (i = 0; i < ARRAY_SIZE(w); i++)
		ASSERT_EQ(0, weights_init(&w[i], self->fd, GIB, 300 + i));
	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < ARRAY_SIZE(w); i++) {
			/* in the second pass neighbours are in different windows */
			uint32_t at = pass ? (i * 3) % 8 : i;

			ASSERT_EQ(0, weights_op(&w[i], &self->rnd, &ops[at]));
			ops[at].flags = at ? DRM_RKMM_OP_GROUPED : 0;
		}
		ASSERT_EQ(0, sched_info(self->fd, &before));
		submit_init(&s, ops, ARRAY_SIZE(w));
		ASSERT_EQ(0, rk_submit(self->fd, &s));
		ASSERT_EQ(0, rk_result(self->fd, s.seqno));
		ASSERT_EQ(0, sched_info(self->fd, &now));
		for (i = 0; i < ARRAY_SIZE(w); i++) {
			EXPECT_EQ(0, mm_check(&w[i].mm)) {
				TH_LOG("pass %u, weights %u: %s", pass, i, w[i].mm.msg);
			}
		}
		EXPECT_GE(self->fixed ? 4 : 3, now.switches - before.switches) {
			TH_LOG("pass %u: %llu switches", pass,
			       (unsigned long long)(now.switches - before.switches));
		}
	}
	for (i = 0; i < ARRAY_SIZE(w); i++)
		weights_free(&w[i]);
}

TEST_F_TIMEOUT(windows, two_clients, CASE_TIMEOUT)
{
	static struct weights w[2][3];
	struct drm_rkmm_op ops[3];
	struct drm_rkmm_submit s[2];
	int fd[2] = { self->fd, rk_open() };
	uint32_t c, i, pass;

	ASSERT_LE(0, fd[1]);
	for (c = 0; c < 2; c++)
		for (i = 0; i < 3; i++)
			ASSERT_EQ(0, weights_init(&w[c][i], fd[c], GIB, 400 + 10 * c + i));
	for (pass = 0; pass < 4; pass++) {
		for (c = 0; c < 2; c++) {
			for (i = 0; i < 3; i++)
				ASSERT_EQ(0, weights_op(&w[c][i], &self->rnd, &ops[i]));
			submit_init(&s[c], ops, 3);
			ASSERT_EQ(0, rk_submit(fd[c], &s[c]));
		}
		for (c = 0; c < 2; c++)
			ASSERT_EQ(0, rk_result(fd[c], s[c].seqno));
		for (c = 0; c < 2; c++)
			for (i = 0; i < 3; i++)
				EXPECT_EQ(0, mm_check(&w[c][i].mm)) {
					TH_LOG("pass %u, client %u, weights %u: %s", pass, c, i,
					       w[c][i].mm.msg);
				}
	}
	for (c = 0; c < 2; c++)
		for (i = 0; i < 3; i++)
			weights_free(&w[c][i]);
	close(fd[1]);
}

TEST_F_TIMEOUT(windows, one_of_3_9_gib, CASE_TIMEOUT)
{
	struct weights w, more;
	struct drm_rkmm_op ops[2];
	struct drm_rkmm_submit s;
	uint32_t pass;
	int fd;

	ASSERT_EQ(0, weights_init(&w, self->fd, (self->fixed ? 2970 : 3994) * MIB, 500));
	ASSERT_EQ(0, weights_init(&more, self->fd, 600 * MIB, 501));
	for (pass = 0; pass < 3; pass++) {
		ASSERT_EQ(0, weights_op(&w, &self->rnd, &ops[0]));
		ASSERT_EQ(0, weights_op(&more, &self->rnd, &ops[1]));
		submit_init(&s, ops, 2);
		ASSERT_EQ(0, rk_submit(self->fd, &s));
		ASSERT_EQ(0, rk_result(self->fd, s.seqno));
		EXPECT_EQ(0, mm_check(&w.mm)) {
			TH_LOG("%s", w.mm.msg);
		}
		EXPECT_EQ(0, mm_check(&more.mm)) {
			TH_LOG("%s", more.mm.msg);
		}
	}
	weights_free(&more);
	weights_free(&w);
	/* larger than any window: told at once */
	fd = alias_create(4 * GIB, CHUNK);
	ASSERT_LE(0, fd);
	{
		struct drm_prime_handle p = { .fd = fd };

		EXPECT_EQ(-EINVAL, xioctl(self->fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &p));
	}
	close(fd);
}

/* Weights of two windows, with what lies between them in temporaries */
TEST_F_TIMEOUT(windows, temporaries, CASE_TIMEOUT)
{
	struct drm_rkmm_plan_create plan[3] = {
		{ .types = DRM_RKMM_F16F16, .form = DRM_RKMM_FORM_CUBE, .m = 70, .k = 64, .n = 96 },
		{ .kind = DRM_RKMM_OP_SOFTMAX, .m = 70, .n = 96, .scale = float_bits(0.125f) },
		{ .types = DRM_RKMM_F16F16, .form = DRM_RKMM_FORM_CUBE, .m = 70, .k = 96, .n = 64 },
	};
	struct drm_rkmm_sched_info before, now;
	struct drm_rkmm_op ops[3];
	uint32_t handle[2], i, pass;
	uint8_t *map[2];
	struct desk d;

	ASSERT_EQ(0, desk_init(&d, self->fd));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, desk_plan(&d, &plan[i]));
	desk_fill(&d, 0, &plan[0].a, 70, 64, -2, 2);
	desk_fill(&d, 1, &plan[0].b, 64, 96, -2, 2);
	desk_fill(&d, 2, &plan[2].b, 96, 64, -2, 2);
	ops[0] = desk_bind(&d, &plan[0], 0, 1, 3, 0);
	ops[1] = desk_bind(&d, &plan[1], 3, 0, 4, 0);
	ops[2] = desk_bind(&d, &plan[2], 4, 2, 5, 0);
	ASSERT_EQ(0, desk_run(&d, ops, 3));

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, alias_import(self->fd, self->fixed ? 5 * GIB / 2 : 3 * GIB,
					  &handle[i], &map[i]));
		memcpy(map[i], d.buf.map + (1 + i) * DESK_ROOM, plan[2 * i].b.size);
		ASSERT_EQ(0, bo_sync(self->fd, handle[i], DRM_RKMM_SYNC_WRITE | DRM_RKMM_SYNC_END, 0,
				     CHUNK));
		ops[2 * i].b.handle = handle[i];
		ops[2 * i].b.offset = (700 + i) * CHUNK;
	}
	for (i = 0; i < 2; i++) {
		ops[i].c = (struct drm_rkmm_operand){
			.handle = i, .flags = DRM_RKMM_OPERAND_TEMP,
		};
		ops[i + 1].a = ops[i].c;
	}
	ops[2].c = desk_operand(&d, 6);
	for (pass = 0; pass < 3; pass++) {
		memset(d.buf.map + 6 * DESK_ROOM, 0xa5, plan[2].c.size);
		ASSERT_EQ(0, sched_info(self->fd, &before));
		ASSERT_EQ(0, desk_run(&d, ops, 3));
		ASSERT_EQ(0, sched_info(self->fd, &now));
		EXPECT_EQ(0, memcmp(d.buf.map + 5 * DESK_ROOM, d.buf.map + 6 * DESK_ROOM,
				    plan[2].c.size));
		EXPECT_LE(1, now.switches - before.switches);
		EXPECT_GE(2, now.switches - before.switches);
	}
	for (i = 0; i < 2; i++) {
		munmap(map[i], CHUNK);
		ASSERT_EQ(0, gem_close(self->fd, handle[i]));
	}
	desk_free(&d);
}

RKMM_TEST_MAIN
