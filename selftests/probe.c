// SPDX-License-Identifier: GPL-2.0
/*
 * A geometry that is fast and wrong on this die (hw 03 S13, G21): the first suspicion has it
 * tried with a known answer, its plans are refused from then on, kept submissions too, and a
 * new plan gets another geometry. And what RKMM_PROBE refuses.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../kselftest_harness.h"
#include "rkmm_test.h"

#define CASE_TIMEOUT	500
#define WRONG		"/sys/module/rkmm_soft/parameters/wide_wrong"

static int set_wrong(int on)
{
	FILE *f = fopen(WRONG, "w");

	if (!f)
		return -errno;
	fprintf(f, "%d", on);
	return fclose(f) ? -errno : 0;
}

static int probe(int fd, struct drm_rkmm_probe *args)
{
	return xioctl(fd, DRM_IOCTL_RKMM_PROBE, args);
}

FIXTURE(probe) {
	int fd;
	struct mm wide, other;
};

FIXTURE_SETUP(probe)
{
	self->fd = rk_open();
	ASSERT_LE(0, self->fd);
	if (!rk_is_soft(self->fd) || set_wrong(0))
		SKIP(return, "needs the software NPU");
	/* by the profile this is a wide one */
	self->wide = (struct mm){ .types = DRM_RKMM_I4I16, .m = 64, .k = 2048, .n = 200 };
	self->other = (struct mm){ .types = DRM_RKMM_I4I16, .m = 20, .k = 512, .n = 70 };
}

FIXTURE_TEARDOWN(probe)
{
	set_wrong(0);
	if (self->wide.fd)
		mm_free(&self->wide);
	if (self->other.fd)
		mm_free(&self->other);
	close(self->fd);
}

TEST_F_TIMEOUT(probe, arguments, CASE_TIMEOUT)
{
	struct drm_rkmm_probe good = { .index = 0 }, p;
	unsigned int bit;

	p = good;
	ASSERT_EQ(0, probe(self->fd, &p));
	EXPECT_EQ(4, p.bits);
	EXPECT_EQ(DRM_RKMM_OUTCOME_NONE, p.outcome);
	for (bit = 2; bit < 32; bit++) {
		p = good;
		p.flags = 1u << bit;
		EXPECT_EQ(-EINVAL, probe(self->fd, &p));
	}
	p = good;
	p.pad = 1;
	EXPECT_EQ(-EINVAL, probe(self->fd, &p));
	p = good;
	p.plan = 1;
	EXPECT_EQ(-EINVAL, probe(self->fd, &p));
	p = good;
	p.flags = DRM_RKMM_PROBE_PLAN;
	p.index = 1;
	EXPECT_EQ(-EINVAL, probe(self->fd, &p));
	p.index = 0;
	p.plan = 12345;
	EXPECT_EQ(-ENOENT, probe(self->fd, &p));
	for (p = good; !probe(self->fd, &p) && p.index < 1000; p.index++)
		p.flags = 0;
	EXPECT_EQ(-ENOENT, probe(self->fd, &p));
	EXPECT_LE(100, p.index);
	p.index = 0xffffffff;
	EXPECT_EQ(-ENOENT, probe(self->fd, &p));
}

/* A file that root has opened does not make a user root. */
TEST_F_TIMEOUT(probe, not_root, CASE_TIMEOUT)
{
	struct drm_rkmm_probe p = { .flags = 0 };
	int status;
	pid_t pid;

	if (geteuid())
		SKIP(return, "must be root");
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		if (setresuid(65534, 65534, 65534))
			_exit(1);
		if (probe(self->fd, &p) != -EACCES)
			_exit(2);
		p.flags = DRM_RKMM_PROBE_RUN;
		_exit(probe(self->fd, &p) == -EACCES ? 0 : 3);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

/* What is right stays as it was. */
TEST_F_TIMEOUT(probe, right, CASE_TIMEOUT)
{
	struct drm_rkmm_probe p = { .flags = DRM_RKMM_PROBE_RUN | DRM_RKMM_PROBE_PLAN };

	ASSERT_EQ(0, mm_init(&self->other, self->fd, 1));
	ASSERT_EQ(0, mm_run(&self->other));
	p.plan = self->other.plan.plan;
	sleep(1);
	ASSERT_EQ(0, probe(self->fd, &p));
	EXPECT_EQ(DRM_RKMM_OUTCOME_RIGHT, p.outcome);
	EXPECT_EQ(DRM_RKMM_VERDICT_PROVEN, p.verdict);
	EXPECT_EQ(512, p.k);
	EXPECT_EQ(0, p.wrong);
	ASSERT_EQ(0, mm_run(&self->other));
}

/* The verdict stays until the driver is bound anew, so this test is the last one. */
TEST_F_TIMEOUT(probe, wide_wrong, CASE_TIMEOUT)
{
	struct drm_rkmm_probe p = { .flags = DRM_RKMM_PROBE_RUN | DRM_RKMM_PROBE_PLAN };
	struct mm again = { .types = DRM_RKMM_I4I16, .m = 64, .k = 2048, .n = 200 };
	unsigned int i;

	ASSERT_EQ(0, mm_init(&self->wide, self->fd, 1));
	ASSERT_EQ(0, mm_init(&self->other, self->fd, 2));
	/* kept by then: it is looked up no more */
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, mm_run(&self->wide));
	ASSERT_EQ(0, mm_run(&self->other));
	ASSERT_EQ(0, set_wrong(1));
	ASSERT_EQ(-EBADMSG, mm_run(&self->wide));

	p.plan = self->wide.plan.plan;
	sleep(1);
	ASSERT_EQ(0, probe(self->fd, &p));
	EXPECT_EQ(DRM_RKMM_OUTCOME_WRONG, p.outcome);
	EXPECT_EQ(DRM_RKMM_VERDICT_FAILED, p.verdict);
	EXPECT_LE(1, p.wrong);
	EXPECT_LT(1, p.data_banks);
	for (i = 0; i < 2; i++)
		EXPECT_EQ(-ESTALE, mm_run(&self->wide));
	EXPECT_EQ(0, mm_run(&self->other));

	/* what is made now is right, and stays so */
	ASSERT_EQ(0, mm_init(&again, self->fd, 3));
	EXPECT_LT(self->wide.plan.programs, again.plan.programs);
	EXPECT_EQ(self->wide.plan.b.layout_id, again.plan.b.layout_id);
	for (i = 0; i < 4; i++)
		EXPECT_EQ(0, mm_run(&again)) TH_LOG("%s", again.msg);
	p = (struct drm_rkmm_probe){ .flags = DRM_RKMM_PROBE_PLAN, .plan = again.plan.plan };
	ASSERT_EQ(0, probe(self->fd, &p));
	EXPECT_NE(DRM_RKMM_VERDICT_FAILED, p.verdict);
	EXPECT_EQ(1, p.data_banks);
	mm_free(&again);
}

RKMM_TEST_MAIN
