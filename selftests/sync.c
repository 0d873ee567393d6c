// SPDX-License-Identifier: GPL-2.0
/*
 * Is BO_SYNC what makes data move, and only the bytes it names? On the software
 * NPU memory as the device sees it changes only when the driver synchronises a
 * range, so that what was forgotten is seen for certain. A board's caches write
 * back when they like: there these tests are skipped.
 */
#include "../kselftest_harness.h"
#include "rkmm_test.h"

#define LINE	64

FIXTURE(sync) {
	int fd;
	struct mm mm;
};

/* Exact: a range is its bytes. Line: caches of 64-byte lines that know what is dirty. */
FIXTURE_VARIANT(sync) {
	const char *view;
};

FIXTURE_VARIANT_ADD(sync, exact) {
	.view = "exact",
};

FIXTURE_VARIANT_ADD(sync, line) {
	.view = "line",
};

#define VIEW	"/sys/module/rkmm_soft/parameters/view"
#define DRIVER	"/sys/bus/platform/drivers/rkmm/"
#define SOFT	"rkmm-npu"

/* The view changes only while nothing is mapped: with the driver away. */
static int choose_view(const char *view)
{
	char now[32];
	int ret;

	if (file_read(VIEW, now, sizeof(now)) < 0)
		return -ENOENT;
	now[strcspn(now, "\n")] = 0;
	if (!strcmp(now, view))
		return 0;
	ret = file_write(DRIVER "unbind", SOFT);
	if (ret)
		return ret;
	ret = file_write(VIEW, view);
	return file_write(DRIVER "bind", SOFT) ?: ret;
}

FIXTURE_SETUP(sync)
{
	int ret = choose_view(variant->view);

	self->fd = rk_open();
	ASSERT_LE(0, self->fd);
	self->mm = (struct mm) { .types = DRM_RKMM_I8I32, .m = 6, .k = 128, .n = 64 };
	if (!rk_is_soft(self->fd))
		SKIP(return, "caches of a board hide a missing sync");
	if (ret == -EACCES)
		SKIP(return, "the view of memory cannot be chosen: not root");
	ASSERT_EQ(0, ret);
	ASSERT_EQ(0, mm_init(&self->mm, self->fd, 3));
	ASSERT_EQ(0, mm_run(&self->mm)) {
		TH_LOG("%s", self->mm.msg);
	}
}

FIXTURE_TEARDOWN(sync)
{
	if (self->mm.fd) {
		soft_fault("*.evict=0");
		mm_free(&self->mm);
	}
	close(self->fd);
	choose_view("exact");
}

static int run(struct mm *mm)
{
	struct drm_rkmm_op op = mm_op(mm);
	struct drm_rkmm_submit s;
	int ret;

	submit_init(&s, &op, 1);
	ret = rk_submit(mm->fd, &s);
	return ret ? ret : rk_result(mm->fd, s.seqno);
}

/* A that was written but not shown: the NPU computes with the old one. */
TEST_F(sync, forgotten_end_write)
{
	struct mm *mm = &self->mm;
	size_t bytes = mm->m * mm->k * sizeof(*mm->av);
	int16_t *old, *new;

	if (!mm->fd)
		return;
	old = malloc(bytes);
	new = malloc(bytes);
	memcpy(old, mm->av, bytes);
	mm_new_a(mm);
	memcpy(new, mm->av, bytes);
	ASSERT_NE(0, memcmp(old, new, bytes));

	ASSERT_EQ(0, mm_new_c(mm));
	ASSERT_EQ(0, run(mm));
	memcpy(mm->av, old, bytes);
	EXPECT_EQ(0, mm_check(mm)) {
		TH_LOG("not the old data: %s", mm->msg);
	}
	/* and as soon as it is shown, with the new one */
	ASSERT_EQ(0, buf_end_write(&mm->a));
	ASSERT_EQ(0, mm_new_c(mm));
	ASSERT_EQ(0, run(mm));
	memcpy(mm->av, new, bytes);
	EXPECT_EQ(0, mm_check(mm)) {
		TH_LOG("not the new data: %s", mm->msg);
	}
	free(old);
	free(new);
}

/* C that was not asked for: the CPU reads what was there before. */
TEST_F(sync, forgotten_begin_read)
{
	struct mm *mm = &self->mm;

	if (!mm->fd)
		return;
	ASSERT_EQ(0, mm_new_c(mm));
	ASSERT_EQ(0, run(mm));
	EXPECT_EQ(0, memcmp(mm->c.map, mm->fill, mm->c.size));
	EXPECT_LT(0, mm_compare(mm));
	/* an end, or a begin for writing, does not fetch it either */
	ASSERT_EQ(0, bo_sync(self->fd, mm->c.handle, DRM_RKMM_SYNC_READ | DRM_RKMM_SYNC_END, 0,
			     mm->c.size));
	EXPECT_LT(0, mm_compare(mm));
	EXPECT_EQ(0, mm_check(mm)) {
		TH_LOG("%s", mm->msg);
	}
}

/* Of the dirty bytes only the named range reaches the NPU. */
TEST_F(sync, end_write_is_exact)
{
	struct mm *mm = &self->mm;
	const struct drm_rkmm_tensor *t = &mm->plan.a;
	uint32_t i, j, round;
	uint64_t from, to, at;
	struct rnd r;

	if (!mm->fd)
		return;
	rnd_seed(&r, 17);
	for (round = 0; round < 12; round++) {
		/* every element changes; only whole lines of a random range are shown */
		from = rnd_below(&r, t->size / LINE) * LINE;
		to = from + LINE * (1 + rnd_below(&r, (t->size - from) / LINE));
		for (i = 0; i < mm->m; i++)
			for (j = 0; j < mm->k; j++) {
				at = element_bit(t, i, j) / 8;
				mm->a.map[mm->a_off + at] = mm->av[i * mm->k + j] ^ 0x55;
			}
		ASSERT_EQ(0, bo_sync(self->fd, mm->a.handle,
				     DRM_RKMM_SYNC_WRITE | DRM_RKMM_SYNC_END, mm->a_off + from,
				     to - from));
		for (i = 0; i < mm->m; i++)
			for (j = 0; j < mm->k; j++) {
				at = element_bit(t, i, j) / 8;
				if (at >= from && at < to)
					mm->av[i * mm->k + j] ^= 0x55;
			}
		ASSERT_EQ(0, mm_new_c(mm));
		ASSERT_EQ(0, run(mm));
		EXPECT_EQ(0, mm_check(mm)) {
			TH_LOG("[%llu, %llu): %s", (unsigned long long)from,
			       (unsigned long long)to, mm->msg);
		}
		/* what the CPU holds and what the NPU holds agree again */
		for (i = 0; i < mm->m; i++)
			for (j = 0; j < mm->k; j++) {
				at = element_bit(t, i, j) / 8;
				mm->a.map[mm->a_off + at] = mm->av[i * mm->k + j];
			}
		ASSERT_EQ(0, buf_end_write(&mm->a));
		/* the caches are cleaned by a submission, not by the bracket */
		ASSERT_EQ(0, run(mm));
	}
}

/* Ranges of any alignment: at least the named bytes arrive. */
TEST_F(sync, end_write_any_alignment)
{
	struct mm *mm = &self->mm;
	const struct drm_rkmm_tensor *t = &mm->plan.a;
	uint32_t round, k;
	uint64_t from, to, at;
	struct rnd r;

	if (!mm->fd)
		return;
	rnd_seed(&r, 18);
	for (round = 0; round < 12; round++) {
		from = rnd_below(&r, t->size);
		to = from + 1 + rnd_below(&r, t->size - from);
		for (at = from; at < to; at++)
			mm->a.map[mm->a_off + at] ^= 1 + rnd_below(&r, 255);
		ASSERT_EQ(0, bo_sync(self->fd, mm->a.handle,
				     DRM_RKMM_SYNC_WRITE | DRM_RKMM_SYNC_END, mm->a_off + from,
				     to - from));
		/* K needs no padding here: every byte of A is an element */
		for (k = 0; k < mm->m * mm->k; k++)
			mm->av[k] = (int8_t)mm->a.map[mm->a_off +
				element_bit(t, k / mm->k, k % mm->k) / 8];
		ASSERT_EQ(0, mm_new_c(mm));
		ASSERT_EQ(0, run(mm));
		EXPECT_EQ(0, mm_check(mm)) {
			TH_LOG("[%llu, %llu): %s", (unsigned long long)from,
			       (unsigned long long)to, mm->msg);
		}
	}
}

/* Reading one part of C leaves the other part as it was. */
TEST_F(sync, begin_read_is_exact)
{
	struct mm *mm = &self->mm;
	uint64_t first = (mm->c_off + LINE - 1) / LINE * LINE, half, i;
	uint8_t *result;

	if (!mm->fd)
		return;
	half = first + mm->plan.c.size / 2 / LINE * LINE;
	ASSERT_EQ(0, buf_begin_read(&mm->c));
	result = malloc(mm->c.size);
	memcpy(result, mm->c.map, mm->c.size);

	ASSERT_EQ(0, mm_new_c(mm));
	ASSERT_EQ(0, run(mm));
	ASSERT_EQ(0, bo_sync(self->fd, mm->c.handle, DRM_RKMM_SYNC_READ, first, half - first));
	EXPECT_EQ(0, memcmp(mm->c.map + first, result + first, half - first));
	for (i = half; i < mm->c_off + mm->plan.c.size; i++)
		if (mm->c.map[i] != mm->fill[i])
			break;
	EXPECT_EQ(mm->c_off + mm->plan.c.size, i);
	ASSERT_EQ(0, bo_sync(self->fd, mm->c.handle, DRM_RKMM_SYNC_READ, half,
			     mm->c_off + mm->plan.c.size - half));
	EXPECT_EQ(0, memcmp(mm->c.map + mm->c_off, result + mm->c_off, mm->plan.c.size));
	free(result);
}

/* What the CPU wrote next to C, in other lines, survives the NPU's write and the read. */
TEST_F(sync, neighbours_of_an_output)
{
	struct mm *mm = &self->mm;
	uint64_t end = mm->c_off + mm->plan.c.size, i;

	if (!mm->fd)
		return;
	ASSERT_EQ(0, mm_new_c(mm));
	/* the caches write back what is dirty as soon as the job has ended */
	ASSERT_EQ(0, soft_fault("*.evict=1"));
	/* dirty, not shown, in whole lines around C */
	for (i = 0; i < mm->c.size; i++)
		if (i < mm->c_off || i >= (end + LINE - 1) / LINE * LINE)
			mm->c.map[i] = mm->fill[i] ^= 0x3c;
	ASSERT_EQ(0, run(mm));
	EXPECT_EQ(0, bo_sync(self->fd, mm->c.handle, DRM_RKMM_SYNC_READ, mm->c_off,
			     mm->plan.c.size));
	EXPECT_EQ(0, mm_compare(mm)) {
		TH_LOG("%s", mm->msg);
	}
}

/* A buffer that was never synchronised holds zeros for the NPU too, not old memory. */
TEST_F(sync, fresh_buffers_are_zero)
{
	struct mm *mm = &self->mm;
	struct drm_rkmm_submit s;
	struct drm_rkmm_op op;
	struct buf a, c;
	uint64_t i;

	if (!mm->fd)
		return;
	ASSERT_EQ(0, buf_create(self->fd, mm->plan.a.size, &a));
	ASSERT_EQ(0, buf_create(self->fd, mm->plan.c.size, &c));
	memset(c.map, 0x5a, c.size);
	ASSERT_EQ(0, buf_end_write(&c));
	op = mm_op(mm);
	op.a = (struct drm_rkmm_operand) { .handle = a.handle };
	op.c = (struct drm_rkmm_operand) { .handle = c.handle };
	submit_init(&s, &op, 1);
	ASSERT_EQ(0, rk_submit(self->fd, &s));
	ASSERT_EQ(0, rk_result(self->fd, s.seqno));
	ASSERT_EQ(0, buf_begin_read(&c));
	for (i = 0; i < mm->plan.c.size; i++)
		if (c.map[i])
			break;
	EXPECT_EQ(mm->plan.c.size, i);
	for (i = mm->plan.c.size; i < c.size; i++)
		if (c.map[i] != 0x5a)
			break;
	EXPECT_EQ(c.size, i);
	buf_free(&a);
	buf_free(&c);
}

RKMM_TEST_MAIN
