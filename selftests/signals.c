// SPDX-License-Identifier: GPL-2.0
/*
 * Does an interrupted submission run once, and does a killed client leave
 * nothing behind, whatever it was doing?
 */
#include <signal.h>
#include <sys/time.h>
#include "../kselftest_harness.h"
#include "rkmm_test.h"

#define CASE_TIMEOUT	240

static volatile sig_atomic_t alarms;

static void on_alarm(int sig)
{
	(void)sig;
	alarms++;
}

/* SIGALRM every @us microseconds, 0 to stop. */
static void storm(unsigned int us, int flags)
{
	struct sigaction sa = { .sa_handler = on_alarm, .sa_flags = flags };
	struct itimerval it = { { 0, us }, { 0, us } };

	if (us)
		sigaction(SIGALRM, &sa, NULL);
	else
		sa.sa_handler = SIG_IGN;
	setitimer(ITIMER_REAL, &it, NULL);
	if (!us)
		sigaction(SIGALRM, &sa, NULL);
}

FIXTURE(signals) {
	int fd;
	struct gate gate;
	struct mm mm;
	struct drm_rkmm_op op;
};

FIXTURE_VARIANT(signals) {
	int flags;
};

FIXTURE_VARIANT_ADD(signals, no_restart) {
	.flags = 0,
};

FIXTURE_VARIANT_ADD(signals, sa_restart) {
	.flags = SA_RESTART,
};

FIXTURE_SETUP(signals)
{
	self->gate.vgem = self->gate.dmabuf = self->gate.sync_file = -1;
	self->fd = rk_open();
	ASSERT_LE(0, self->fd);
	self->mm = (struct mm) { .types = DRM_RKMM_I8I32, .m = 5, .k = 70, .n = 40 };
	ASSERT_EQ(0, mm_init(&self->mm, self->fd, 11));
	self->op = mm_op(&self->mm);
}

FIXTURE_TEARDOWN(signals)
{
	storm(0, 0);
	gate_free(&self->gate);
	mm_free(&self->mm);
	close(self->fd);
}

/* The wait of a SUBMIT is interrupted while the job is surely not done. */
TEST_F(signals, wait_in_submit_runs_once)
{
	struct drm_rkmm_client_info before, now;
	struct drm_rkmm_submit s;
	struct drm_rkmm_sync in;
	int i, ret, calls = 0;

	if (gate_init(&self->gate))
		SKIP(return, "vgem is missing");
	ASSERT_EQ(0, rk_client(self->fd, &before));
	for (i = 0; i < 5; i++) {
		memset(&in, 0, sizeof(in));
		ASSERT_EQ(0, gate_shut(&self->gate));
		ASSERT_EQ(0, gate_syncobj(&self->gate, self->fd, &in.handle));
		submit_init(&s, &self->op, 1);
		submit_syncs(&s, &in, 1, NULL, 0);
		s.flags = DRM_RKMM_SUBMIT_WAIT;
		s.deadline_ns = after(60 * SEC);
		alarms = 0;
		storm(3000, variant->flags);
		/* libdrm's loop: only EINTR before the job was queued may bring it round again */
		do {
			calls++;
			ret = rk_submit(self->fd, &s);
		} while (ret == -EINTR || ret == -EAGAIN);
		storm(0, 0);
		ASSERT_EQ(0, ret);
		EXPECT_EQ(-EINTR, s.wait_status);
		EXPECT_LT(0, alarms);
		ASSERT_EQ(0, gate_open(&self->gate));
		EXPECT_EQ(0, rk_result(self->fd, s.seqno));
		syncobj_destroy(self->fd, in.handle);
	}
	ASSERT_EQ(0, rk_client(self->fd, &now));
	EXPECT_EQ(before.jobs + 5, now.jobs) {
		TH_LOG("%d calls", calls);
	}
	EXPECT_EQ(0, mm_check(&self->mm)) {
		TH_LOG("%s", self->mm.msg);
	}
}

/* Signals at any moment of many submissions: each job runs once and is right. */
TEST_F_TIMEOUT(signals, storm_over_jobs, CASE_TIMEOUT)
{
	struct drm_rkmm_client_info before, now;
	struct drm_rkmm_submit s;
	int i, ret, interrupted = 0;

	ASSERT_EQ(0, rk_client(self->fd, &before));
	for (i = 0; i < 200; i++) {
		storm(200 + 37 * (i % 20), variant->flags);
		submit_init(&s, &self->op, 1);
		s.flags = DRM_RKMM_SUBMIT_WAIT;
		s.deadline_ns = after(60 * SEC);
		do
			ret = rk_submit(self->fd, &s);
		while (ret == -EINTR);
		ASSERT_EQ(0, ret);
		if (s.wait_status == -EINTR) {
			interrupted++;
			EXPECT_EQ(0, rk_result(self->fd, s.seqno));
		} else {
			EXPECT_EQ(0, s.wait_status);
			EXPECT_EQ(0, s.result);
		}
		storm(0, 0);
		if (i % 40)
			continue;
		EXPECT_EQ(0, mm_check(&self->mm)) {
			TH_LOG("%s", self->mm.msg);
		}
		ASSERT_EQ(0, mm_new_c(&self->mm));
	}
	ASSERT_EQ(0, rk_client(self->fd, &now));
	EXPECT_EQ(before.jobs + 200, now.jobs) {
		TH_LOG("%d waits were interrupted", interrupted);
	}
}

/* The other ioctls under signals: the answer, or EINTR and nothing happened. */
TEST_F_TIMEOUT(signals, storm_over_objects, CASE_TIMEOUT)
{
	struct drm_rkmm_plan_destroy d = { 0 };
	struct buf buf;
	int i, ret;

	storm(150, variant->flags);
	for (i = 0; i < 100; i++) {
		struct mm mm = { .types = DRM_RKMM_F16F32, .m = 3, .k = 40, .n = 20 };

		do
			ret = mm_plan(&mm, self->fd);
		while (ret == -EINTR);
		EXPECT_EQ(0, ret);
		d.plan = mm.plan.plan;
		do
			ret = buf_create(self->fd, 1 << 20, &buf);
		while (ret == -EINTR);
		ASSERT_EQ(0, ret);
		memset(buf.map, i, 4096);
		do
			ret = buf_end_write(&buf);
		while (ret == -EINTR);
		EXPECT_EQ(0, ret);
		do
			ret = xioctl(self->fd, DRM_IOCTL_RKMM_PLAN_DESTROY, &d);
		while (ret == -EINTR);
		EXPECT_EQ(0, ret);
		buf_free(&buf);
	}
	storm(0, 0);
	EXPECT_EQ(0, mm_run(&self->mm));
}

TEST_F(signals, wait_is_repeated)
{
	struct drm_rkmm_sync in = { 0 };
	struct drm_rkmm_submit s;
	int err;

	if (gate_init(&self->gate))
		SKIP(return, "vgem is missing");
	ASSERT_EQ(0, gate_shut(&self->gate));
	ASSERT_EQ(0, gate_syncobj(&self->gate, self->fd, &in.handle));
	submit_init(&s, &self->op, 1);
	submit_syncs(&s, &in, 1, NULL, 0);
	ASSERT_EQ(0, rk_submit(self->fd, &s));
	storm(2000, 0);
	rk_wait(self->fd, s.seqno, after(60 * SEC), &err);
	EXPECT_EQ(-EINTR, err);
	/* the deadline is absolute: repeating the same call does not move it */
	err = bo_sync(self->fd, self->mm.c.handle, DRM_RKMM_SYNC_READ | DRM_RKMM_SYNC_WAIT, 0, 1);
	EXPECT_EQ(-ETIME, err);
	storm(0, 0);
	ASSERT_EQ(0, gate_open(&self->gate));
	EXPECT_EQ(0, rk_result(self->fd, s.seqno));
}

/* --- kill -9 ------------------------------------------------------------------------ */

enum state {
	BEHIND_FENCE,		/* jobs wait for an in-fence that never signals */
	WAITING_IN_SUBMIT,	/* and the process sleeps in SUBMIT */
	WAITING_IN_WAIT,
	WAITING_IN_SYNC,
	QUEUED,			/* several jobs, the first is running */
	SUBMITTING,		/* anywhere in the ioctls */
	STATES
};

static const char *const state_name[] = {
	"behind a fence", "waiting in SUBMIT", "waiting in WAIT", "waiting in BO_SYNC",
	"queued and running", "submitting",
};

/* The client that will be killed: writes one byte when it is in its state. */
static void victim(enum state state, struct gate *gate, int ready)
{
	struct mm mm = { .types = DRM_RKMM_I8I32, .m = 60, .k = 600, .n = 120 };
	struct drm_rkmm_bo_sync b = { .flags = DRM_RKMM_SYNC_READ | DRM_RKMM_SYNC_WAIT };
	struct drm_rkmm_sync in = { 0 };
	struct drm_rkmm_submit s;
	struct drm_rkmm_op op;
	struct buf ballast;
	int fd = rk_open(), i;

	if (fd < 0 || mm_init(&mm, fd, 40) || buf_create(fd, 16 << 20, &ballast))
		_exit(1);
	memset(ballast.map, 1, ballast.size);
	op = mm_op(&mm);
	submit_init(&s, &op, 1);
	if (state <= WAITING_IN_SYNC) {
		if (gate_syncobj(gate, fd, &in.handle))
			_exit(2);
		submit_syncs(&s, &in, 1, NULL, 0);
	}
	if (state == WAITING_IN_SUBMIT) {
		s.flags = DRM_RKMM_SUBMIT_WAIT;
		s.deadline_ns = INT64_MAX;
	} else if (state != SUBMITTING) {
		for (i = 0; i < 5; i++)
			if (rk_submit(fd, &s))
				_exit(3);
	}
	if (write(ready, "", 1) != 1)
		_exit(5);
	switch (state) {
	case WAITING_IN_SUBMIT:
		rk_submit(fd, &s);
		break;
	case WAITING_IN_WAIT:
		rk_wait(fd, s.seqno, INT64_MAX, NULL);
		break;
	case WAITING_IN_SYNC:
		b.handle = mm.c.handle;
		b.size = mm.c.size;
		b.deadline_ns = INT64_MAX;
		xioctl(fd, DRM_IOCTL_RKMM_BO_SYNC, &b);
		break;
	case SUBMITTING:
		for (;;)
			rk_submit(fd, &s);
	default:
		pause();
	}
	_exit(6);
}

FIXTURE(kill) {
	int fd;
	struct gate gate;
	bool gated;
	struct mm mm;
};

FIXTURE_SETUP(kill)
{
	self->gated = !gate_init(&self->gate);
	self->fd = rk_open();
	ASSERT_LE(0, self->fd);
	self->mm = (struct mm) { .types = DRM_RKMM_I8I32, .m = 5, .k = 70, .n = 40 };
	ASSERT_EQ(0, mm_init(&self->mm, self->fd, 11));
	ASSERT_EQ(0, mm_run(&self->mm));
}

FIXTURE_TEARDOWN(kill)
{
	gate_free(&self->gate);
	mm_free(&self->mm);
	close(self->fd);
}

TEST_F_TIMEOUT(kill, in_every_state, CASE_TIMEOUT)
{
	long long shmem = file_number("/proc/meminfo", "Shmem:"), now = 0;
	long long refs = module_refs();
	int state, round, wait_us, status, pipes[2], i;
	char byte;
	pid_t pid;

	for (state = 0; state < STATES; state++)
		for (round = 0; round < 4; round++) {
			/* the fence is ours, so that the victim's death does not signal it */
			if (state <= WAITING_IN_SYNC) {
				if (!self->gated)
					break;
				ASSERT_EQ(0, gate_shut(&self->gate));
			}
			ASSERT_EQ(0, pipe(pipes));
			pid = fork();
			ASSERT_LE(0, pid);
			if (!pid)
				victim(state, &self->gate, pipes[1]);
			close(pipes[1]);
			if (read(pipes[0], &byte, 1) != 1) {
				waitpid(pid, &status, 0);
				ASSERT_EQ(0, WEXITSTATUS(status)) {
					TH_LOG("%s: setup", state_name[state]);
				}
			}
			wait_us = 20000 + 11000 * round;
			usleep(wait_us);
			ASSERT_EQ(0, kill(pid, SIGKILL));
			ASSERT_EQ(pid, waitpid(pid, &status, 0));
			EXPECT_TRUE(WIFSIGNALED(status)) {
				TH_LOG("%s: left by itself with %d", state_name[state],
				       WEXITSTATUS(status));
			}
			close(pipes[0]);

			EXPECT_EQ(0, mm_run(&self->mm)) {
				TH_LOG("after a kill %s: %s", state_name[state], self->mm.msg);
			}
			ASSERT_EQ(0, mm_new_c(&self->mm));
			if (self->gate.fence)
				gate_open(&self->gate);
		}
	if (refs >= 0) {
		/* our own last job may hold one more */
		EXPECT_GE(refs + 2, module_refs_settle(refs));
	}
	/* 24 victims had 16 MiB each */
	for (i = 0; i < 500; i++) {
		now = file_number("/proc/meminfo", "Shmem:");
		if (now < shmem + 32768)
			break;
		msleep(10);
	}
	EXPECT_GT(shmem + 32768, now) {
		TH_LOG("%lld KiB of shared memory left behind", now - shmem);
	}
}

RKMM_TEST_MAIN
