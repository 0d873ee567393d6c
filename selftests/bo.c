// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers by the thousand, handles that others close, windows that fill up.
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include "../kselftest_harness.h"
#include "rkmm_test.h"

#define CASE_TIMEOUT	240
#define PAGE		4096ull

static int bo_create(int fd, uint64_t size, struct drm_rkmm_bo_create *c)
{
	*c = (struct drm_rkmm_bo_create) { .size = size };
	return xioctl(fd, DRM_IOCTL_RKMM_BO_CREATE, c);
}

static int open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

FIXTURE(bo) {
	int fd;
};

FIXTURE_SETUP(bo)
{
	self->fd = rk_open();
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(bo)
{
	close(self->fd);
}

/* A buffer costs no file descriptor, and all of them can be used at once. */
TEST_F_TIMEOUT(bo, ten_thousand, CASE_TIMEOUT)
{
	static struct drm_rkmm_bo_create bo[10000];
	const struct rlimit limit = { .rlim_cur = 64, .rlim_max = 64 };
	struct mm mm = { .types = DRM_RKMM_I8I32, .m = 5, .k = 40, .n = 70 };
	struct drm_rkmm_op op;
	struct drm_rkmm_submit s;
	struct rnd r;
	uint32_t i, k;
	int files;

	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	ASSERT_EQ(0, mm_init(&mm, self->fd, 1));
	files = open_files();
	rnd_seed(&r, 9);
	for (i = 0; i < ARRAY_SIZE(bo); i++) {
		ASSERT_EQ(0, bo_create(self->fd, mm.c.size, &bo[i])) {
			TH_LOG("buffer %u", i);
		}
	}
	EXPECT_EQ(files, open_files());

	/* some of them as outputs: written in the right one, zero in the others */
	op = mm_op(&mm);
	for (k = 0; k < 200; k++) {
		struct buf c = mm.c;

		i = k * 50 + rnd_below(&r, 50);
		op.c.handle = bo[i].handle;
		submit_init(&s, &op, 1);
		ASSERT_EQ(0, rk_submit(self->fd, &s));
		ASSERT_EQ(0, rk_result(self->fd, s.seqno));
		mm.c.handle = bo[i].handle;
		mm.c.map = mmap(NULL, bo[i].size, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd,
				bo[i].mmap_offset);
		ASSERT_NE(MAP_FAILED, mm.c.map);
		memset(mm.fill, 0, mm.c.size);
		EXPECT_EQ(0, mm_check(&mm)) {
			TH_LOG("buffer %u: %s", i, mm.msg);
		}
		munmap(mm.c.map, bo[i].size);
		mm.c = c;
	}
	/* half of them go by hand, the others with the file */
	for (i = 0; i < ARRAY_SIZE(bo); i += 2)
		ASSERT_EQ(0, gem_close(self->fd, bo[i].handle));
	mm_free(&mm);
}

/* Many jobs into one buffer, each to a place of its own, read in another order. */
TEST_F_TIMEOUT(bo, many_places_in_one_buffer, CASE_TIMEOUT)
{
	struct mm mm = { .types = DRM_RKMM_I8I32, .m = 1, .k = 33, .n = 33 };
	struct drm_rkmm_submit s;
	const uint32_t n = 600;
	struct drm_rkmm_op *ops;
	struct buf big, c;
	uint64_t step, i, k;
	uint8_t *want;
	struct rnd r;

	ASSERT_EQ(0, mm_init(&mm, self->fd, 4));
	ASSERT_EQ(0, mm_run(&mm)) {
		TH_LOG("%s", mm.msg);
	}
	c = mm.c;
	/* a line of the CPU's own behind every output */
	step = (mm.plan.c.size + 63) / 64 * 64 + 64;
	ASSERT_EQ(0, buf_create(self->fd, n * step, &big));
	want = malloc(big.size);
	rnd_seed(&r, 5);
	for (i = 0; i < big.size; i++)
		big.map[i] = rnd_next(&r) >> 56;
	memcpy(want, big.map, big.size);
	ASSERT_EQ(0, buf_end_write(&big));

	ops = calloc(n, sizeof(*ops));
	for (i = 0; i < n; i++) {
		ops[i] = mm_op(&mm);
		ops[i].c.handle = big.handle;
		ops[i].c.offset = i * step;
	}
	submit_init(&s, ops, n);
	ASSERT_EQ(0, rk_submit(self->fd, &s));
	/* meanwhile the CPU writes its own lines */
	for (i = 0; i < n; i++) {
		uint64_t at = i * step + step - 64 + rnd_below(&r, 40);

		ASSERT_EQ(0, bo_sync(self->fd, big.handle, DRM_RKMM_SYNC_WRITE, at, 20));
		for (k = at; k < at + 20; k++)
			big.map[k] = rnd_next(&r) >> 56;
		memcpy(want + at, big.map + at, 20);
		ASSERT_EQ(0, bo_sync(self->fd, big.handle,
				     DRM_RKMM_SYNC_WRITE | DRM_RKMM_SYNC_END, at, 20));
	}
	ASSERT_EQ(0, rk_result(self->fd, s.seqno));

	for (k = 0; k < n; k++) {
		i = (k * 7 + 3) % n;
		ASSERT_EQ(0, bo_sync(self->fd, big.handle, DRM_RKMM_SYNC_READ, i * step,
				     mm.plan.c.size));
		EXPECT_EQ(0, memcmp(big.map + i * step, c.map + mm.c_off, mm.plan.c.size)) {
			TH_LOG("place %llu", (unsigned long long)i);
		}
	}
	ASSERT_EQ(0, buf_begin_read(&big));
	for (i = 0; i < n; i++)
		if (memcmp(big.map + i * step + mm.plan.c.size, want + i * step + mm.plan.c.size,
			   step - mm.plan.c.size))
			break;
	EXPECT_EQ(n, i);
	free(ops);
	free(want);
	buf_free(&big);
	mm_free(&mm);
}

/* --- races --------------------------------------------------------------------- */

#define RACERS	4
#define HANDLES	6

struct race {
	int fd;
	int64_t end;
	struct mm *mm;
	atomic_uint created, closed, jobs, wrong;
};

struct racer {
	struct race *race;
	uint64_t seed;
};

static bool harmless(int ret)
{
	return ret == 0 || ret == -ENOENT || ret == -EINVAL;
}

/* Handles are small numbers: everybody uses and closes everybody's. */
static void *racer(void *arg)
{
	struct racer *me = arg;
	struct race *race = me->race;
	struct drm_rkmm_bo_create c;
	struct drm_rkmm_submit s;
	struct drm_rkmm_op op;
	struct rnd r;
	void *map;
	int ret;

	rnd_seed(&r, me->seed);
	while (after(0) < race->end) {
		/* above the handles of the operands, which nobody closes */
		uint32_t handle = 4 + rnd_below(&r, HANDLES);
		struct drm_prime_handle p = { .handle = handle, .flags = DRM_CLOEXEC | DRM_RDWR };

		switch (rnd_below(&r, 6)) {
		case 0:
			ret = bo_create(race->fd, race->mm->c.size, &c);
			race->created += !ret;
			if (ret || rnd_below(&r, 2))
				break;
			map = mmap(NULL, c.size, PROT_READ | PROT_WRITE, MAP_SHARED, race->fd,
				   c.mmap_offset);
			if (map != MAP_FAILED) {
				memset(map, 1, c.size);
				munmap(map, c.size);
			}
			break;
		case 1:
			ret = gem_close(race->fd, handle);
			race->closed += !ret;
			break;
		case 2:
			ret = bo_sync(race->fd, handle, 1 + rnd_below(&r, 3) +
				      (rnd_below(&r, 2) ? DRM_RKMM_SYNC_END : 0),
				      rnd_below(&r, PAGE / 2), 1 + rnd_below(&r, PAGE / 2));
			break;
		case 3:
			ret = xioctl(race->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &p);
			if (ret)
				break;
			/* a handle that is being closed may be found or not */
			ret = xioctl(race->fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &p);
			close(p.fd);
			break;
		default:
			op = mm_op(race->mm);
			op.c.handle = handle;
			submit_init(&s, &op, 1);
			ret = rk_submit(race->fd, &s);
			race->jobs += !ret;
			if (!ret && rnd_below(&r, 4) == 0)
				ret = rk_result(race->fd, s.seqno);
			break;
		}
		if (!harmless(ret)) {
			race->wrong++;
			fprintf(stderr, "# unexpected %d\n", ret);
		}
	}
	return NULL;
}

TEST_F_TIMEOUT(bo, handles_closed_by_others, CASE_TIMEOUT)
{
	struct mm mm = { .types = DRM_RKMM_I8I32, .m = 3, .k = 32, .n = 32 };
	struct race race = { .fd = self->fd, .mm = &mm };
	struct racer racers[RACERS];
	pthread_t threads[RACERS];
	uint32_t i;

	ASSERT_EQ(0, mm_init(&mm, self->fd, 2));
	ASSERT_GT(4, mm.a.handle);
	ASSERT_GT(4, mm.b.handle);
	ASSERT_GT(4, mm.c.handle);
	race.end = after(8 * SEC);
	for (i = 0; i < RACERS; i++) {
		racers[i] = (struct racer) { .race = &race, .seed = 100 + i };
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, racer, &racers[i]));
	}
	for (i = 0; i < RACERS; i++)
		pthread_join(threads[i], NULL);
	EXPECT_EQ(0, race.wrong);
	EXPECT_NE(0, race.created);
	EXPECT_NE(0, race.closed);
	EXPECT_NE(0, race.jobs);
	EXPECT_EQ(0, mm_run(&mm)) {
		TH_LOG("%s", mm.msg);
	}
	mm_free(&mm);
}

/* --- room ------------------------------------------------------------------------ */

static uint64_t window_bytes(int fd)
{
	struct drm_rkmm_device_info info;

	return rk_device(fd, &info) ? 0 : info.window_bytes;
}

TEST_F(bo, huge)
{
	struct drm_rkmm_bo_create c;
	uint64_t window = window_bytes(self->fd);
	uint64_t ram = sysconf(_SC_PHYS_PAGES) * PAGE;
	int ret;

	ASSERT_NE(0, window);
	EXPECT_EQ(-EINVAL, bo_create(self->fd, window, &c));
	EXPECT_EQ(-EINVAL, bo_create(self->fd, window - PAGE, &c));
	ret = bo_create(self->fd, window - 4 * PAGE, &c);
	EXPECT_EQ(window - 4 * PAGE > ram ? -ENOMEM : 0, ret);
	/* costs nothing before it is used */
	EXPECT_EQ(0, bo_create(self->fd, window / 2 < ram / 2 ? window / 2 : ram / 2, &c));
	EXPECT_EQ(0, gem_close(self->fd, c.handle));
}

static int run_into(struct mm *mm, uint32_t handle, uint64_t offset)
{
	struct drm_rkmm_op op = mm_op(mm);
	struct drm_rkmm_submit s;
	int ret;

	op.c.handle = handle;
	op.c.offset = offset;
	submit_init(&s, &op, 1);
	ret = rk_submit(mm->fd, &s);
	return ret ? ret : rk_result(mm->fd, s.seqno);
}

/* Without room for addresses the answer is ENOSPC, and room that is given back is found again. */
TEST_F_TIMEOUT(bo, full_window, CASE_TIMEOUT)
{
	struct mm mm = { .types = DRM_RKMM_I8I32, .m = 4, .k = 64, .n = 64 };
	uint64_t window = window_bytes(self->fd), size = window / 8;
	struct drm_rkmm_bo_create bo[8];
	long long free_kb = file_number("/proc/meminfo", "MemAvailable:");
	uint32_t n, round, i;
	int ret = 0;

	/* the software NPU keeps a copy of every page */
	if (window / 1024 * 3 > (uint64_t)free_kb)
		SKIP(return, "needs more memory, or a smaller window (window_mib)");
	ASSERT_EQ(0, mm_init(&mm, self->fd, 3));
	ASSERT_EQ(0, mm_run(&mm));
	for (round = 0; round < 3; round++) {
		for (n = 0; n < 8; n++) {
			ASSERT_EQ(0, bo_create(self->fd, size, &bo[n]));
			ret = run_into(&mm, bo[n].handle, size / 2);
			if (ret)
				break;
		}
		EXPECT_EQ(7, n);
		EXPECT_EQ(-ENOSPC, ret);
		/* what is mapped still works, and what failed works when there is room */
		EXPECT_EQ(0, mm_run(&mm)) {
			TH_LOG("%s", mm.msg);
		}
		ASSERT_EQ(0, gem_close(self->fd, bo[round].handle));
		for (i = 0; i < 100 && (ret = run_into(&mm, bo[n].handle, 0)) == -ENOSPC; i++)
			msleep(20);
		EXPECT_EQ(0, ret);
		for (i = 0; i <= n; i++)
			if (i != round)
				ASSERT_EQ(0, gem_close(self->fd, bo[i].handle));
		msleep(200);
	}
	mm_free(&mm);
}

/* Random sizes come and go; at the end the largest buffer fits again. */
TEST_F_TIMEOUT(bo, no_fragments_stay, CASE_TIMEOUT)
{
	struct mm mm = { .types = DRM_RKMM_I8I32, .m = 4, .k = 64, .n = 64 };
	uint64_t window = window_bytes(self->fd);
	struct drm_rkmm_bo_create bo[24] = { 0 };
	long long free_kb = file_number("/proc/meminfo", "MemAvailable:");
	struct rnd r;
	uint32_t i, k, full = 0;
	int ret;

	if (window / 1024 * 3 > (uint64_t)free_kb)
		SKIP(return, "needs more memory, or a smaller window (window_mib)");
	ASSERT_EQ(0, mm_init(&mm, self->fd, 3));
	rnd_seed(&r, 31);
	for (i = 0; i < 400; i++) {
		k = rnd_below(&r, ARRAY_SIZE(bo));
		if (bo[k].handle) {
			ASSERT_EQ(0, gem_close(self->fd, bo[k].handle));
			bo[k].handle = 0;
			continue;
		}
		ASSERT_EQ(0, bo_create(self->fd, mm.c.size + rnd_below(&r, window / 9), &bo[k]));
		ret = run_into(&mm, bo[k].handle, 0);
		full += ret == -ENOSPC;
		EXPECT_TRUE(ret == 0 || ret == -ENOSPC) {
			TH_LOG("%d", ret);
		}
	}
	EXPECT_NE(0, full);
	for (k = 0; k < ARRAY_SIZE(bo); k++)
		if (bo[k].handle)
			ASSERT_EQ(0, gem_close(self->fd, bo[k].handle));
	/* all but a corner for operands and programs */
	ASSERT_EQ(0, bo_create(self->fd, window / 8 * 7, &bo[0]));
	for (i = 0; i < 100 && (ret = run_into(&mm, bo[0].handle, 0)) == -ENOSPC; i++)
		msleep(20);
	EXPECT_EQ(0, ret);
	mm_free(&mm);
}

RKMM_TEST_MAIN
