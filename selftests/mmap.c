// SPDX-License-Identifier: GPL-2.0
/* May a buffer be mapped by those who own it, and by nobody else? */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include "../kselftest_harness.h"
#include "rkmm_test.h"

FIXTURE(mmap) {
	int fd;
	struct buf buf;
};

FIXTURE_SETUP(mmap)
{
	uint64_t i;
	struct rnd r;

	self->fd = rk_open();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, buf_create(self->fd, 5 * 4096, &self->buf));
	rnd_seed(&r, 1);
	for (i = 0; i < self->buf.size; i++) {
		ASSERT_EQ(0, self->buf.map[i]);
		self->buf.map[i] = rnd_next(&r) >> 56;
	}
}

FIXTURE_TEARDOWN(mmap)
{
	buf_free(&self->buf);
	close(self->fd);
}

static void *try_map(int fd, uint64_t size, int prot, int flags, uint64_t offset)
{
	void *map = mmap(NULL, size, prot, flags, fd, offset);

	return map == MAP_FAILED ? NULL : map;
}

static sigjmp_buf escape;

static void on_fault(int sig)
{
	(void)sig;
	siglongjmp(escape, 1);
}

/* true when the access is stopped by a signal */
static bool faults(volatile uint8_t *p, bool write)
{
	struct sigaction sa = { .sa_handler = on_fault }, old[2];
	volatile bool hit = true;

	sigaction(SIGSEGV, &sa, &old[0]);
	sigaction(SIGBUS, &sa, &old[1]);
	if (!sigsetjmp(escape, 1)) {
		if (write)
			*p = 1;
		else
			(void)*p;
		hit = false;
	}
	sigaction(SIGSEGV, &old[0], NULL);
	sigaction(SIGBUS, &old[1], NULL);
	return hit;
}

TEST_F(mmap, two_mappings_one_memory)
{
	uint8_t *map = try_map(self->fd, self->buf.size, PROT_READ | PROT_WRITE, MAP_SHARED,
			       self->buf.offset);

	ASSERT_NE(NULL, map);
	EXPECT_EQ(0, memcmp(map, self->buf.map, self->buf.size));
	map[5000] ^= 0xff;
	EXPECT_EQ(map[5000], self->buf.map[5000]);
	munmap(map, self->buf.size);
}

TEST_F(mmap, protections)
{
	uint8_t *map = try_map(self->fd, self->buf.size, PROT_READ, MAP_SHARED, self->buf.offset);

	ASSERT_NE(NULL, map);
	EXPECT_EQ(map[77], self->buf.map[77]);
	EXPECT_FALSE(faults(map, false));
	EXPECT_TRUE(faults(map, true));
	munmap(map, self->buf.size);

	map = try_map(self->fd, self->buf.size, PROT_NONE, MAP_SHARED, self->buf.offset);
	if (map) {
		EXPECT_TRUE(faults(map, false));
		munmap(map, self->buf.size);
	}
	/* a private, writable mapping would never reach the NPU */
	map = try_map(self->fd, self->buf.size, PROT_READ | PROT_WRITE, MAP_PRIVATE,
		      self->buf.offset);
	EXPECT_EQ(NULL, map);
}

TEST_F(mmap, ranges)
{
	uint8_t *map;

	/* one page out of the middle is not offered: the offset names the buffer */
	EXPECT_EQ(NULL, try_map(self->fd, self->buf.size + 4096, PROT_READ, MAP_SHARED,
				self->buf.offset));
	EXPECT_EQ(NULL, try_map(self->fd, 4096, PROT_READ, MAP_SHARED, 0));
	EXPECT_EQ(NULL, try_map(self->fd, 4096, PROT_READ, MAP_SHARED, 1ull << 40));
	/* a part from the beginning is */
	map = try_map(self->fd, 4096, PROT_READ, MAP_SHARED, self->buf.offset);
	if (map) {
		EXPECT_EQ(0, memcmp(map, self->buf.map, 4096));
		munmap(map, 4096);
	}
}

/* Offsets are easily guessed; they open nothing to a client without the handle. */
TEST_F(mmap, other_clients)
{
	struct drm_prime_handle p = { .handle = self->buf.handle, .flags = DRM_CLOEXEC | DRM_RDWR };
	struct buf own;
	int other = rk_open();
	uint8_t *map;

	ASSERT_LE(0, other);
	EXPECT_EQ(NULL, try_map(other, self->buf.size, PROT_READ, MAP_SHARED, self->buf.offset));
	ASSERT_EQ(0, buf_create(other, 4096, &own));
	EXPECT_EQ(NULL, try_map(self->fd, 4096, PROT_READ, MAP_SHARED, own.offset));

	/* a client that was given the buffer may */
	ASSERT_EQ(0, xioctl(self->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &p));
	ASSERT_EQ(0, xioctl(other, DRM_IOCTL_PRIME_FD_TO_HANDLE, &p));
	map = try_map(other, self->buf.size, PROT_READ, MAP_SHARED, self->buf.offset);
	ASSERT_NE(NULL, map);
	EXPECT_EQ(0, memcmp(map, self->buf.map, self->buf.size));
	munmap(map, self->buf.size);
	/* until it gives the handle back */
	ASSERT_EQ(0, gem_close(other, p.handle));
	EXPECT_EQ(NULL, try_map(other, self->buf.size, PROT_READ, MAP_SHARED, self->buf.offset));
	close(p.fd);
	buf_free(&own);
	close(other);
}

/* A mapping keeps its pages: past the handle, past the file, never another buffer's. */
TEST_F(mmap, outlives_handle_and_file)
{
	struct buf buf, more[8];
	uint8_t copy[4096];
	int fd = rk_open(), i;
	uint64_t x;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, buf_create(fd, 4096, &buf));
	for (x = 0; x < 4096; x++)
		buf.map[x] = copy[x] = x * 7 + (x >> 8);
	ASSERT_EQ(0, gem_close(fd, buf.handle));
	EXPECT_EQ(0, memcmp(copy, buf.map, 4096));
	EXPECT_EQ(NULL, try_map(fd, 4096, PROT_READ, MAP_SHARED, buf.offset));
	for (i = 0; i < 8; i++) {
		ASSERT_EQ(0, buf_create(fd, 4096, &more[i]));
		memset(more[i].map, 0xee, 4096);
	}
	EXPECT_EQ(0, memcmp(copy, buf.map, 4096));
	for (i = 0; i < 8; i++)
		munmap(more[i].map, 4096);
	close(fd);
	EXPECT_EQ(0, memcmp(copy, buf.map, 4096));
	buf.map[9] = 1;
	EXPECT_EQ(1, buf.map[9]);
	munmap(buf.map, 4096);
}

/* Taking the mappings away does not take the memory from a job. */
TEST_F(mmap, unmapped_during_a_job)
{
	struct mm mm = { .types = DRM_RKMM_I8I32, .m = 40, .k = 400, .n = 100 };
	struct drm_rkmm_submit s;
	struct drm_rkmm_op op;
	int i;

	ASSERT_EQ(0, mm_init(&mm, self->fd, 9));
	op = mm_op(&mm);
	submit_init(&s, &op, 1);
	ASSERT_EQ(0, rk_submit(self->fd, &s));
	for (i = 0; i < 2; i++) {
		struct buf *b = i ? &mm.c : &mm.a;

		munmap(b->map, b->size);
		b->map = NULL;
	}
	ASSERT_EQ(0, gem_close(self->fd, mm.a.handle));
	mm.a.handle = 0;
	EXPECT_EQ(0, rk_result(self->fd, s.seqno));
	mm.c.map = try_map(self->fd, mm.c.size, PROT_READ | PROT_WRITE, MAP_SHARED, mm.c.offset);
	ASSERT_NE(NULL, mm.c.map);
	EXPECT_EQ(0, mm_check(&mm)) {
		TH_LOG("%s", mm.msg);
	}
	mm_free(&mm);
}

/* fork: the child sees the same memory, not a copy. */
TEST_F(mmap, shared_with_a_child)
{
	int status;
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid) {
		self->buf.map[123] = 0xc3;
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0xc3, self->buf.map[123]);
}

RKMM_TEST_MAIN
