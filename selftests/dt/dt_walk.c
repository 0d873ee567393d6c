// SPDX-License-Identifier: GPL-2.0
/*
 * What the NPU would see on a board: the registers that the driver wrote, and behind the addresses
 * in them, through the page tables that the kernel's own IOMMU driver built, the pages that user
 * space filled. The tables are walked here, bit by bit as hw 01 §6.1 has them.
 *
 * The core is memory and never finishes, so every job ends by its deadline.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../kselftest_harness.h"
#include "../rkmm_test.h"

#define REGS		0x7f000000ull
#define CORE(n)		(REGS + 0x10000 * (n))
#define CORES		3
#define PC_DATA_ADDR	0x10
#define PC_DATA_AMOUNT	0x14
#define PC_INT_MASK	0x20
#define PC_INT_CLEAR	0x24
#define PC_INT_RAW	0x2c
#define PC_TASK_CON	0x30
#define PC_OP_EN	0x08
#define DTE_ADDR	0x00
#define PAGE		4096u
#define DEBUG		"/sys/kernel/debug/rkmm_dttest/"

static const uint64_t banks[] = {
	CORE(0) + 0x9000, CORE(0) + 0xa000, CORE(1) + 0xa000, CORE(2) + 0xa000,
};

static int phys_fd = -1;

static int phys(uint64_t addr, void *to, size_t size)
{
	uint8_t *p = to;

	while (size) {
		ssize_t n = pread(phys_fd, p, size, addr);

		if (n <= 0)
			return -1;
		p += n;
		addr += n;
		size -= n;
	}
	return 0;
}

static uint32_t phys32(uint64_t addr)
{
	uint32_t v = 0xdeadbeef;

	phys(addr, &v, sizeof(v));
	return v;
}

static int poke(uint64_t addr, uint32_t v)
{
	return pwrite(phys_fd, &v, sizeof(v), addr) == sizeof(v) ? 0 : -1;
}

/* --- the tables ---------------------------------------------------------------- */

enum { VALID = 1, READ = 2, WRITE = 4 };

static uint64_t entry_addr(uint32_t e)
{
	return (e & 0xfffff000u) | (uint64_t)(e >> 8 & 0xf) << 32 | (uint64_t)(e >> 4 & 0xf) << 36;
}

/* The page entry of an address, 0 where nothing is mapped. */
static uint32_t walk(uint64_t dir, uint32_t iova)
{
	uint32_t dte = phys32(dir + 4 * (iova >> 22));

	return dte & VALID ? phys32(entry_addr(dte) + 4 * (iova >> 12 & 0x3ff)) : 0;
}

/* Read like the NPU: 0, or -1 where a page is missing. */
static int npu_read(uint64_t dir, uint32_t iova, void *to, size_t size)
{
	uint8_t *p = to;

	while (size) {
		size_t n = PAGE - iova % PAGE;
		uint32_t pte = walk(dir, iova);

		if (n > size)
			n = size;
		if ((pte & (VALID | READ)) != (VALID | READ) ||
		    phys(entry_addr(pte) + iova % PAGE, p, n))
			return -1;
		p += n;
		iova += n;
		size -= n;
	}
	return 0;
}

/* --- a job, caught in the act ----------------------------------------------------- */

struct seen {
	unsigned int core;
	uint32_t addr, amount, task_con, mask;
	uint64_t dir;
	uint64_t words[2048];
	unsigned int nwords;
	uint32_t a, b, c;
};

static uint64_t directory(void)
{
	return entry_addr(phys32(banks[0] + DTE_ADDR));
}

static int submit(int fd, struct mm *mm, uint64_t *seqno)
{
	struct drm_rkmm_op op = mm_op(mm);
	struct drm_rkmm_submit s;
	int ret;

	submit_init(&s, &op, 1);
	s.cores = mm->cores;
	ret = rk_submit(fd, &s);
	*seqno = s.seqno;
	return ret;
}

/* One start leaves its address in one core until the deadline puts 1 there. */
static bool running(struct seen *seen)
{
	for (seen->core = 0; seen->core < CORES; seen->core++) {
		uint64_t regs = CORE(seen->core);

		seen->addr = phys32(regs + PC_DATA_ADDR);
		if (seen->addr <= 1)
			continue;
		seen->amount = phys32(regs + PC_DATA_AMOUNT);
		seen->task_con = phys32(regs + PC_TASK_CON);
		seen->mask = phys32(regs + PC_INT_MASK);
		/* still the same job after all were read */
		return phys32(regs + PC_DATA_ADDR) == seen->addr;
	}
	return false;
}

static uint32_t written(const struct seen *seen, uint16_t target, uint16_t offset)
{
	uint32_t value = 0;
	unsigned int i;

	for (i = 0; i < seen->nwords; i++)
		if (seen->words[i] >> 48 == target && (seen->words[i] & 0xffff) == offset)
			value = seen->words[i] >> 16;
	return value;
}

/* Start the job and look. A slow machine may miss it: then once more. */
static int catch_job(int fd, struct mm *mm, struct seen *seen, uint64_t *seqno)
{
	int tries, ret, i;

	for (tries = 0; tries < 10; tries++) {
		/* a job that ended well leaves its address */
		for (i = 0; i < CORES; i++)
			poke(CORE(i) + PC_DATA_ADDR, 1);
		ret = submit(fd, mm, seqno);
		if (ret)
			return ret;
		for (i = 0; i < 50; i++) {
			if (running(seen))
				goto found;
			msleep(2);
		}
		rk_result(fd, *seqno);
	}
	return -ETIME;
found:
	seen->dir = directory();
	seen->nwords = 2 * (seen->amount + 1);
	if (seen->nwords > 2048)
		return -E2BIG;
	if (npu_read(seen->dir, seen->addr, seen->words, 8 * seen->nwords))
		return -EFAULT;
	seen->a = written(seen, 0x0201, 0x1070);
	seen->b = written(seen, 0x0201, 0x1110);
	seen->c = written(seen, 0x1001, 0x4020);
	return 0;
}

/* Bytes at an NPU address against what user space has at the same place. */
static int same(const struct seen *seen, uint32_t iova, const uint8_t *want, size_t size)
{
	uint8_t *got = malloc(size);
	int ret = got ? npu_read(seen->dir, iova, got, size) : -1;

	if (!ret && memcmp(got, want, size))
		ret = -2;
	free(got);
	return ret;
}

/* A and C may be mapped by themselves: the pages that they lie in, and no others. */
static int same_operand(const struct seen *seen, uint32_t iova, const uint8_t *map, uint64_t off,
			uint64_t size)
{
	uint32_t in = off % PAGE;

	return same(seen, iova - in, map + off - in, size + in);
}

/* --- tests ------------------------------------------------------------------------- */

FIXTURE(dt) {
	int fd[2];
	struct mm mm[2];
	struct seen *seen[2];
	uint64_t seqno;
};

FIXTURE_SETUP(dt)
{
	int i;

	if (phys_fd < 0)
		phys_fd = open(DEBUG "phys", O_RDWR);
	ASSERT_LE(0, phys_fd);
	for (i = 0; i < 2; i++) {
		self->fd[i] = rk_open();
		ASSERT_LE(0, self->fd[i]);
		self->mm[i] = (struct mm) { .types = DRM_RKMM_I8I32, .m = 37, .k = 544, .n = 96 };
		self->seen[i] = calloc(1, sizeof(*self->seen[i]));
		ASSERT_NE(NULL, self->seen[i]);
	}
}

FIXTURE_TEARDOWN(dt)
{
	int i;

	for (i = 0; i < 2; i++) {
		mm_free(&self->mm[i]);
		close(self->fd[i]);
		free(self->seen[i]);
	}
}

/* Everything that one job may touch is where user space put it. */
static void check_job(struct __test_metadata *_metadata, struct mm *mm, const struct seen *seen)
{
	const struct drm_rkmm_plan_create *p = &mm->plan;
	uint64_t tail = 0;

	/* hw 02 §1.2: the last entry of a block starts the units it used */
	tail = seen->words[seen->nwords - 1];
	EXPECT_EQ(0x0081, tail >> 48);
	EXPECT_EQ(0x0008, tail & 0xffff);
	EXPECT_EQ(0x300, seen->mask & 0xfff);
	EXPECT_EQ(0x6000, seen->task_con & 0x6000);
	/* not all programs may be chained */
	EXPECT_LE(1, seen->task_con & 0xfff);
	EXPECT_GE(p->programs, seen->task_con & 0xfff);
	EXPECT_EQ(0, seen->addr % 16);

	EXPECT_EQ(mm->a_off % PAGE, seen->a % PAGE);
	EXPECT_EQ(mm->b_off % PAGE, seen->b % PAGE);
	EXPECT_EQ(mm->c_off % PAGE, seen->c % PAGE);
	EXPECT_EQ(0, same_operand(seen, seen->a, mm->a.map, mm->a_off, mm->plan.a.size));
	EXPECT_EQ(0, same(seen, seen->b - mm->b_off, mm->b.map, mm->b.size));
	EXPECT_EQ(0, same_operand(seen, seen->c, mm->c.map, mm->c_off, mm->plan.c.size));
	EXPECT_EQ(VALID | READ | WRITE, walk(seen->dir, seen->c) & (VALID | READ | WRITE));
}

/* Forms that no chip has run are refused here, as on a board. */
static const struct { uint32_t types, m, k, n; bool served; } shapes[] = {
	{ DRM_RKMM_I8I32, 37, 544, 96, true },
	{ DRM_RKMM_I8I8, 3, 70, 33, false },
	{ DRM_RKMM_F16F32, 65, 129, 50, true },
	{ DRM_RKMM_F16F16, 1, 1024, 16, false },
	{ DRM_RKMM_I4I16, 20, 200, 64, false },
};

TEST_F_TIMEOUT(dt, program_and_operands, 120)
{
	unsigned int i;
	int ret;

	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct mm *mm = &self->mm[0];

		*mm = (struct mm) { .types = shapes[i].types, .m = shapes[i].m, .k = shapes[i].k,
				    .n = shapes[i].n, .mult = 1 };
		ret = mm_init(mm, self->fd[0], 100 + i);
		if (ret == -EOPNOTSUPP && !shapes[i].served)
			continue;
		ASSERT_EQ(0, ret) {
			TH_LOG("shape %u", i);
		}
		ASSERT_EQ(0, catch_job(self->fd[0], mm, self->seen[0], &self->seqno)) {
			TH_LOG("shape %u", i);
		}
		check_job(_metadata, mm, self->seen[0]);
		EXPECT_EQ(-EIO, rk_result(self->fd[0], self->seqno));
		mm_free(mm);
	}
	self->mm[0] = (struct mm) {};
}

/* A job goes to the core that was asked for. */
TEST_F_TIMEOUT(dt, every_core, 120)
{
	uint32_t core;

	ASSERT_EQ(0, mm_init(&self->mm[0], self->fd[0], 1));
	for (core = 0; core < CORES; core++) {
		self->mm[0].cores = 1u << core;
		ASSERT_EQ(0, catch_job(self->fd[0], &self->mm[0], self->seen[0], &self->seqno));
		EXPECT_EQ(core, self->seen[0]->core);
		/* hw 01 §1.5 */
		EXPECT_EQ(0xe | core << 28, phys32(CORE(core) + 0x1004));
		EXPECT_EQ(0xe | core << 28, phys32(CORE(core) + 0x3004));
		check_job(_metadata, &self->mm[0], self->seen[0]);
		EXPECT_EQ(-EIO, rk_result(self->fd[0], self->seqno));
	}
}

/* Behind a buffer lies a page of zeros that cannot be written, then nothing (hw 02 §3.4). */
TEST_F_TIMEOUT(dt, guards, 120)
{
	static const uint8_t zeros[PAGE];
	struct mm *mm = &self->mm[0];
	struct seen *seen = self->seen[0];
	unsigned int i;

	ASSERT_EQ(0, mm_init(mm, self->fd[0], 2));
	ASSERT_EQ(0, catch_job(self->fd[0], mm, seen, &self->seqno));
	{
		uint32_t ends[] = {
			seen->a - mm->a_off + mm->a.size,
			seen->b - mm->b_off + mm->b.size,
			seen->c - mm->c_off + mm->c.size,
		};

		for (i = 0; i < 3; i++) {
			EXPECT_EQ(0, ends[i] % PAGE);
			EXPECT_EQ(VALID | READ, walk(seen->dir, ends[i]) & (VALID | READ | WRITE));
			EXPECT_EQ(0, same(seen, ends[i], zeros, PAGE));
			EXPECT_EQ(0, walk(seen->dir, ends[i] + PAGE) & VALID);
		}
	}
	/* neither is ever given away (hw 01 §6.4) */
	EXPECT_EQ(0, walk(seen->dir, 0) & VALID);
	EXPECT_EQ(0, walk(seen->dir, 0xfffff000) & VALID);
	EXPECT_EQ(-EIO, rk_result(self->fd[0], self->seqno));
}

/* All banks translate through the same window; after the reset they do again. */
TEST_F_TIMEOUT(dt, reset_restores_window, 120)
{
	unsigned int i;

	ASSERT_EQ(0, mm_init(&self->mm[0], self->fd[0], 3));
	ASSERT_EQ(0, catch_job(self->fd[0], &self->mm[0], self->seen[0], &self->seqno));
	for (i = 0; i < 4; i++)
		EXPECT_EQ(self->seen[0]->dir, entry_addr(phys32(banks[i] + DTE_ADDR)));
	EXPECT_EQ(-EIO, rk_result(self->fd[0], self->seqno));
	for (i = 0; i < CORES; i++) {
		EXPECT_EQ(1, phys32(CORE(i) + PC_DATA_ADDR));
		EXPECT_EQ(0, phys32(CORE(i) + PC_INT_MASK));
		EXPECT_EQ(0, phys32(CORE(i) + PC_OP_EN));
	}
	/* the reset lines are let go: memory keeps what was written last */
	EXPECT_EQ(0, phys32(REGS + 0x40000));

	ASSERT_EQ(0, catch_job(self->fd[0], &self->mm[0], self->seen[1], &self->seqno));
	for (i = 0; i < 4; i++)
		EXPECT_EQ(self->seen[0]->dir, entry_addr(phys32(banks[i] + DTE_ADDR)));
	check_job(_metadata, &self->mm[0], self->seen[1]);
	EXPECT_EQ(-EIO, rk_result(self->fd[0], self->seqno));
}

/* A completion whose interrupt never comes is found by looking. */
TEST_F_TIMEOUT(dt, lost_interrupt, 120)
{
	int ret;

	ASSERT_EQ(0, mm_init(&self->mm[0], self->fd[0], 4));
	ASSERT_EQ(0, catch_job(self->fd[0], &self->mm[0], self->seen[0], &self->seqno));
	ASSERT_EQ(0, poke(CORE(self->seen[0]->core) + PC_INT_RAW, 0x300));
	ret = rk_result(self->fd[0], self->seqno);
	ASSERT_EQ(0, poke(CORE(self->seen[0]->core) + PC_INT_RAW, 0));
	EXPECT_EQ(0, ret);
	EXPECT_EQ(0x1ffff, phys32(CORE(self->seen[0]->core) + PC_INT_CLEAR));
}

/* Two strict clients: two directories, each with its own pages and without the other's. */
TEST_F_TIMEOUT(dt, two_windows, 120)
{
	int i;

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, mm_init(&self->mm[i], self->fd[i], 10 + i));
		ASSERT_EQ(0, catch_job(self->fd[i], &self->mm[i], self->seen[i], &self->seqno));
		EXPECT_EQ(-EIO, rk_result(self->fd[i], self->seqno));
	}
	EXPECT_NE(self->seen[0]->dir, self->seen[1]->dir);
	EXPECT_EQ(self->seen[1]->dir, directory());
	for (i = 0; i < 2; i++) {
		struct seen *other = self->seen[!i];
		struct mm *mm = &self->mm[i];

		check_job(_metadata, mm, self->seen[i]);
		EXPECT_NE(0, same(other, self->seen[i]->a, mm->a.map + mm->a_off, mm->plan.a.size));
		EXPECT_NE(0, same(other, self->seen[i]->b, mm->b.map + mm->b_off, mm->plan.b.size));
	}
	/* and back */
	ASSERT_EQ(0, catch_job(self->fd[0], &self->mm[0], self->seen[1], &self->seqno));
	EXPECT_EQ(self->seen[0]->dir, self->seen[1]->dir);
	EXPECT_EQ(-EIO, rk_result(self->fd[0], self->seqno));
}

/* A freed buffer leaves the window; the others stay. */
TEST_F_TIMEOUT(dt, unmap, 120)
{
	struct mm *mm = &self->mm[0];
	struct seen *seen = self->seen[0];
	uint32_t page;

	ASSERT_EQ(0, mm_init(mm, self->fd[0], 5));
	ASSERT_EQ(0, catch_job(self->fd[0], mm, seen, &self->seqno));
	EXPECT_EQ(-EIO, rk_result(self->fd[0], self->seqno));
	EXPECT_EQ(0, same(seen, seen->b - mm->b_off, mm->b.map, mm->b.size));
	page = seen->b - mm->b_off;
	buf_free(&mm->b);
	/* the job that used it is released by a worker */
	for (int i = 0; i < 500 && walk(seen->dir, page) & VALID; i++)
		msleep(10);
	for (uint32_t size = 0; size < mm->plan.b.size; size += PAGE)
		EXPECT_EQ(0, walk(seen->dir, page + size) & VALID);
	EXPECT_EQ(0, same_operand(seen, seen->a, mm->a.map, mm->a_off, mm->plan.a.size));
	EXPECT_EQ(0, same_operand(seen, seen->c, mm->c.map, mm->c_off, mm->plan.c.size));
}

/* What a client had attached is gone with it. */
TEST_F_TIMEOUT(dt, close_detaches, 120)
{
	uint64_t dir;

	ASSERT_EQ(0, mm_init(&self->mm[0], self->fd[0], 6));
	ASSERT_EQ(0, catch_job(self->fd[0], &self->mm[0], self->seen[0], &self->seqno));
	EXPECT_EQ(-EIO, rk_result(self->fd[0], self->seqno));
	dir = self->seen[0]->dir;
	EXPECT_EQ(dir, directory());
	mm_free(&self->mm[0]);
	close(self->fd[0]);
	for (int i = 0; i < 500 && directory() == dir; i++)
		msleep(10);
	EXPECT_NE(dir, directory());
	self->fd[0] = rk_open();
	EXPECT_LE(0, self->fd[0]);
}

TEST_HARNESS_MAIN
