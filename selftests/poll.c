// SPDX-License-Identifier: GPL-2.0
/*
 * Ends that are looked for: results are exact, every end is counted once, an interrupt that is
 * lost is no loss, and who does not ask is not looked at.
 */
#include <string.h>
#include "../kselftest_harness.h"
#include "rkmm_test.h"

#define CASE_TIMEOUT	300
#define PARAMETERS	"/sys/module/rkmm_soft/parameters/"

static int sched_info(int fd, struct drm_rkmm_sched_info *info)
{
	struct drm_rkmm_query q = {
		.id = DRM_RKMM_QUERY_SCHED, .size = sizeof(*info), .pointer = (uintptr_t)info,
	};

	return xioctl(fd, DRM_IOCTL_RKMM_QUERY, &q);
}

static long long starts(void)
{
	char path[80];
	long long n = 0;
	int i;

	for (i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "/sys/kernel/debug/rkmm_soft/device/core%d/stats", i);
		n += file_number(path, "starts");
	}
	return n;
}

FIXTURE(poll) {
	int fd;
	struct mm mm;
	struct drm_rkmm_sched_info before, now;
};

FIXTURE_SETUP(poll)
{
	self->fd = rk_open();
	ASSERT_LE(0, self->fd);
	/* times that are worth an estimate: those of the chip, so many times slower */
	if (!rk_is_soft(self->fd) || file_write(PARAMETERS "time", "real") ||
	    file_write(PARAMETERS "time_percent", "50000"))
		SKIP(return, "not the software NPU, or not root");
	/* 56 us, 500 times: a job of 28 ms */
	self->mm = (struct mm){ .types = DRM_RKMM_I8I32, .m = 3, .k = 100, .n = 40, .cores = 1 };
	ASSERT_EQ(0, mm_init(&self->mm, self->fd, 1));
	ASSERT_EQ(0, file_write("/sys/module/rkmm/parameters/poll_most_us", "1000000"));
	ASSERT_EQ(0, file_write("/sys/module/rkmm/parameters/poll_percent", "10"));
	ASSERT_EQ(0, sched_info(self->fd, &self->before));
}

FIXTURE_TEARDOWN(poll)
{
	soft_fault("*.lost_irq=0");
	file_write(PARAMETERS "time", "off");
	file_write(PARAMETERS "time_percent", "100");
	file_write("/sys/module/rkmm/parameters/poll_most_us", "1000");
	if (self->mm.fd)
		mm_free(&self->mm);
	close(self->fd);
}

static int run(struct mm *mm, uint32_t flags)
{
	struct drm_rkmm_op op = mm_op(mm);
	struct drm_rkmm_submit s;
	int ret;

	ret = mm_new_c(mm);
	submit_init(&s, &op, 1);
	s.flags = flags;
	if (!ret)
		ret = rk_submit(mm->fd, &s);
	if (!ret)
		ret = rk_result(mm->fd, s.seqno);
	if (!ret && mm_check(mm))
		ret = -EBADMSG;
	return ret;
}

/* Kicks that come again and again: most ends are found by looking. */
TEST_F_TIMEOUT(poll, asked_for, CASE_TIMEOUT)
{
	long long n = starts();
	int i, jobs = 40;

	for (i = 0; i < jobs; i++)
		ASSERT_EQ(0, run(&self->mm, DRM_RKMM_SUBMIT_LATENCY));
	ASSERT_EQ(0, sched_info(self->fd, &self->now));
	/* each was started once, and so ended once */
	EXPECT_EQ(n + jobs, starts());
	TH_LOG("%d jobs: %llu ends found by %llu looks", jobs,
	       (unsigned long long)(self->now.polled - self->before.polled),
	       (unsigned long long)(self->now.looks - self->before.looks));
	EXPECT_LT(0, self->now.polled - self->before.polled);
	EXPECT_GE(jobs, self->now.polled - self->before.polled);
	EXPECT_LE(self->now.polled - self->before.polled, self->now.looks - self->before.looks);
	EXPECT_EQ(self->before.lost_irqs, self->now.lost_irqs);
}

TEST_F_TIMEOUT(poll, not_asked_for, CASE_TIMEOUT)
{
	int i;

	for (i = 0; i < 6; i++) {
		ASSERT_EQ(0, run(&self->mm, 0));
		ASSERT_EQ(0, run(&self->mm, DRM_RKMM_SUBMIT_POWER));
	}
	/* longer than what is looked at */
	ASSERT_EQ(0, file_write("/sys/module/rkmm/parameters/poll_most_us", "1000"));
	for (i = 0; i < 6; i++)
		ASSERT_EQ(0, run(&self->mm, DRM_RKMM_SUBMIT_LATENCY));
	ASSERT_EQ(0, sched_info(self->fd, &self->now));
	EXPECT_EQ(self->before.looks, self->now.looks);
	EXPECT_EQ(self->before.polled, self->now.polled);
}

/* What no interrupt tells is found by a look, or by the watchdog: once. */
TEST_F_TIMEOUT(poll, lost_interrupts, CASE_TIMEOUT)
{
	long long n = starts(), ends;
	int i, jobs = 30;

	for (i = 0; i < 10; i++)
		ASSERT_EQ(0, run(&self->mm, DRM_RKMM_SUBMIT_LATENCY));
	ASSERT_EQ(0, sched_info(self->fd, &self->before));
	ASSERT_EQ(0, soft_fault("*.lost_irq=1000"));
	for (i = 0; i < jobs; i++)
		ASSERT_EQ(0, run(&self->mm, DRM_RKMM_SUBMIT_LATENCY));
	ASSERT_EQ(0, soft_fault("*.lost_irq=0"));
	ASSERT_EQ(0, sched_info(self->fd, &self->now));
	ends = self->now.polled - self->before.polled + self->now.lost_irqs -
	       self->before.lost_irqs;
	TH_LOG("%llu found by looks, %llu by the watchdog",
	       (unsigned long long)(self->now.polled - self->before.polled),
	       (unsigned long long)(self->now.lost_irqs - self->before.lost_irqs));
	EXPECT_EQ(jobs, ends);
	EXPECT_LT(0, self->now.polled - self->before.polled);
	EXPECT_EQ(n + 10 + jobs, starts());
}

TEST_F(poll, refused)
{
	struct drm_rkmm_op op = mm_op(&self->mm);
	struct drm_rkmm_submit s;

	submit_init(&s, &op, 1);
	s.flags = DRM_RKMM_SUBMIT_LATENCY | DRM_RKMM_SUBMIT_POWER;
	EXPECT_EQ(-EINVAL, rk_submit(self->fd, &s));
	s.flags = 1u << 3;
	EXPECT_EQ(-EINVAL, rk_submit(self->fd, &s));
}

RKMM_TEST_MAIN
