// SPDX-License-Identifier: GPL-2.0
/*
 * Do clients share the NPU by time, in order, whatever becomes of the others? Every client
 * has an address window of its own here (see Build.mk).
 *
 * Nothing is asserted about the time that passes: shares are compared with each other.
 */
#include <grp.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include "../kselftest_harness.h"
#include "rkmm_test.h"

#define CASE_TIMEOUT	240

static int set_param(int fd, uint32_t param, uint32_t pad, uint64_t value)
{
	struct drm_rkmm_client_set arg = { .param = param, .pad = pad, .value = value };

	return xioctl(fd, DRM_IOCTL_RKMM_CLIENT_SET, &arg);
}

static int set_priority(int fd, uint32_t priority)
{
	return set_param(fd, DRM_RKMM_CLIENT_PRIORITY, 0, priority);
}

static int sched_info(int fd, struct drm_rkmm_sched_info *info)
{
	struct drm_rkmm_query q = {
		.id = DRM_RKMM_QUERY_SCHED, .size = sizeof(*info), .pointer = (uintptr_t)info,
	};

	return xioctl(fd, DRM_IOCTL_RKMM_QUERY, &q);
}

/* --- two clients on one core -------------------------------------------------------- */

#define MOST	600

struct side {
	int fd;
	struct mm mm;
	uint32_t n;
	uint64_t seqno[MOST];
	uint64_t npu_ns;
};

FIXTURE(pair) {
	struct gate gate;
	struct side side[2];
};

FIXTURE_SETUP(pair)
{
	int i;

	if (gate_init(&self->gate))
		SKIP(return, "vgem is missing");
	ASSERT_EQ(0, gate_shut(&self->gate));
	for (i = 0; i < 2; i++) {
		self->side[i].fd = rk_open();
		ASSERT_LE(0, self->side[i].fd);
	}
}

FIXTURE_TEARDOWN(pair)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (self->side[i].mm.fd)
			mm_free(&self->side[i].mm);
		close(self->side[i].fd);
	}
	gate_free(&self->gate);
}

/* @n jobs of one core, queued behind the gate. */
static int side_queue(struct side *side, struct gate *gate, uint32_t types, uint32_t m, uint32_t n)
{
	struct drm_rkmm_sync in = { 0 };
	struct drm_rkmm_submit s;
	struct drm_rkmm_op op;
	uint32_t i;
	int ret;

	side->mm = (struct mm) { .types = types, .m = m, .k = 256, .n = 64 };
	side->n = n;
	ret = mm_init(&side->mm, side->fd, m + n);
	if (!ret)
		ret = gate_syncobj(gate, side->fd, &in.handle);
	op = mm_op(&side->mm);
	for (i = 0; i < n && !ret; i++) {
		submit_init(&s, &op, 1);
		s.cores = 1;
		if (!i)
			submit_syncs(&s, &in, 1, NULL, 0);
		ret = rk_submit(side->fd, &s);
		side->seqno[i] = s.seqno;
	}
	return ret;
}

/* What both have used by the time that @first has done half of its jobs. */
static int pair_half(struct side *first, struct side *other)
{
	struct drm_rkmm_client_info info;
	int ret = rk_result(first->fd, first->seqno[first->n / 2]);

	if (!ret)
		ret = rk_client(other->fd, &info);
	other->npu_ns = info.npu_ns;
	if (!ret)
		ret = rk_client(first->fd, &info);
	first->npu_ns = info.npu_ns;
	return ret;
}

static int side_finish(struct side *side)
{
	struct drm_rkmm_client_info info;
	int ret = rk_result(side->fd, side->seqno[side->n - 1]);

	if (!ret)
		ret = rk_client(side->fd, &info);
	if (!ret && info.jobs != side->n)
		ret = -EBADE;
	if (!ret && mm_check(&side->mm)) {
		fprintf(stderr, "# %s\n", side->mm.msg);
		ret = -EBADMSG;
	}
	return ret;
}

/* Small jobs against jobs of four times the size: equal time, not equal numbers. */
TEST_F_TIMEOUT(pair, equal, CASE_TIMEOUT)
{
	struct side *small = &self->side[0], *large = &self->side[1];
	struct drm_rkmm_sched_info before, now;

	ASSERT_EQ(0, side_queue(small, &self->gate, DRM_RKMM_I8I32, 16, 400));
	ASSERT_EQ(0, side_queue(large, &self->gate, DRM_RKMM_I8I32, 64, 300));
	ASSERT_EQ(0, sched_info(small->fd, &before));
	ASSERT_EQ(0, gate_open(&self->gate));
	ASSERT_EQ(0, pair_half(small, large));
	EXPECT_LT(small->npu_ns * 7, large->npu_ns * 10);
	EXPECT_LT(large->npu_ns * 7, small->npu_ns * 10);
	EXPECT_EQ(0, side_finish(small));
	EXPECT_EQ(0, side_finish(large));
	TH_LOG("half of the small jobs: %llu us, against %llu us",
	       (unsigned long long)small->npu_ns / 1000, (unsigned long long)large->npu_ns / 1000);

	ASSERT_EQ(0, sched_info(small->fd, &now));
	TH_LOG("%llu choices, %llu switches, %llu avoided, %llu aged",
	       (unsigned long long)(now.choices - before.choices),
	       (unsigned long long)(now.switches - before.switches),
	       (unsigned long long)(now.switches_avoided - before.switches_avoided),
	       (unsigned long long)(now.aged - before.aged));
	/* one by one, they would be two for each of 300 pairs */
	if (self->side[0].fd >= 0 && now.switches != before.switches) {
		EXPECT_LT(now.switches - before.switches, 300);
		EXPECT_LT(before.switches_avoided, now.switches_avoided);
	}
}

TEST_F_TIMEOUT(pair, low_gets_less, CASE_TIMEOUT)
{
	struct side *normal = &self->side[0], *low = &self->side[1];
	struct drm_rkmm_client_info info;

	ASSERT_EQ(0, set_priority(low->fd, DRM_RKMM_PRIORITY_LOW));
	ASSERT_EQ(0, rk_client(low->fd, &info));
	EXPECT_EQ(DRM_RKMM_PRIORITY_LOW, info.priority);
	ASSERT_EQ(0, side_queue(normal, &self->gate, DRM_RKMM_I8I32, 16, 600));
	ASSERT_EQ(0, side_queue(low, &self->gate, DRM_RKMM_I8I32, 16, 600));
	ASSERT_EQ(0, gate_open(&self->gate));
	ASSERT_EQ(0, pair_half(normal, low));
	EXPECT_LT(low->npu_ns * 2, normal->npu_ns);
	EXPECT_LT(0, low->npu_ns);
	EXPECT_EQ(0, side_finish(normal));
	EXPECT_EQ(0, side_finish(low));
	TH_LOG("normal %llu us, low %llu us", (unsigned long long)normal->npu_ns / 1000,
	       (unsigned long long)low->npu_ns / 1000);
}

TEST_F_TIMEOUT(pair, high_goes_first, CASE_TIMEOUT)
{
	struct side *normal = &self->side[0], *high = &self->side[1];

	if (set_priority(high->fd, DRM_RKMM_PRIORITY_HIGH))
		SKIP(return, "needs CAP_SYS_NICE");
	ASSERT_EQ(0, side_queue(normal, &self->gate, DRM_RKMM_I8I32, 16, 400));
	ASSERT_EQ(0, side_queue(high, &self->gate, DRM_RKMM_I8I32, 16, 400));
	ASSERT_EQ(0, gate_open(&self->gate));
	ASSERT_EQ(0, pair_half(high, normal));
	EXPECT_LT(normal->npu_ns * 2, high->npu_ns);
	EXPECT_EQ(0, side_finish(normal));
	EXPECT_EQ(0, side_finish(high));
	TH_LOG("high %llu us, normal %llu us", (unsigned long long)high->npu_ns / 1000,
	       (unsigned long long)normal->npu_ns / 1000);
}

/* Two modes: runs of jobs of one, not one by one. */
TEST_F_TIMEOUT(pair, modes, CASE_TIMEOUT)
{
	struct side *i8 = &self->side[0], *i4 = &self->side[1];
	struct drm_rkmm_sched_info before, now;

	ASSERT_EQ(0, side_queue(i8, &self->gate, DRM_RKMM_I8I32, 16, 200));
	ASSERT_EQ(0, side_queue(i4, &self->gate, DRM_RKMM_I4I16, 16, 200));
	ASSERT_EQ(0, sched_info(i8->fd, &before));
	ASSERT_EQ(0, gate_open(&self->gate));
	EXPECT_EQ(0, side_finish(i8));
	EXPECT_EQ(0, side_finish(i4));
	ASSERT_EQ(0, sched_info(i8->fd, &now));
	EXPECT_LE(1, now.mode_changes - before.mode_changes);
	EXPECT_LT(now.mode_changes - before.mode_changes, 200);
	EXPECT_LT(before.choices, now.choices);
}

/* --- who may ask for what ------------------------------------------------------------ */

TEST(arguments)
{
	struct drm_rkmm_client_info info;
	int fd = rk_open();

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, rk_client(fd, &info));
	EXPECT_EQ(DRM_RKMM_PRIORITY_NORMAL, info.priority);
	EXPECT_EQ(-EINVAL, set_priority(fd, DRM_RKMM_PRIORITY_HIGH + 1));
	EXPECT_EQ(-EINVAL, set_param(fd, DRM_RKMM_CLIENT_PRIORITY, 0, 1ull << 32));
	EXPECT_EQ(-EINVAL, set_param(fd, DRM_RKMM_CLIENT_PRIORITY, 1, 0));
	EXPECT_EQ(-EINVAL, set_param(fd, DRM_RKMM_CLIENT_PRIORITY + 1, 0, 0));
	EXPECT_EQ(0, set_priority(fd, DRM_RKMM_PRIORITY_LOW));
	EXPECT_EQ(0, set_priority(fd, DRM_RKMM_PRIORITY_NORMAL));
	close(fd);
}

TEST(privilege)
{
	int status, fd = rk_open();
	pid_t pid;

	ASSERT_LE(0, fd);
	if (getuid())
		SKIP(return, "needs root");
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		if (setgroups(0, NULL) || setgid(65534) || setuid(65534))
			_exit(1);
		if (set_priority(fd, DRM_RKMM_PRIORITY_HIGH) != -EACCES)
			_exit(2);
		if (set_priority(fd, DRM_RKMM_PRIORITY_LOW))
			_exit(3);
		_exit(set_priority(fd, DRM_RKMM_PRIORITY_NORMAL) ? 4 : 0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, set_priority(fd, DRM_RKMM_PRIORITY_HIGH));
	close(fd);
}

/* --- a crowd ------------------------------------------------------------------------ */

static void on_alarm(int sig)
{
	(void)sig;
}

/*
 * One client: pairs of jobs that write the same C, so that the later one shows which came
 * last; waits are interrupted; every job runs once.
 */
static int crowd_client(uint64_t seed, int rounds)
{
	struct sigaction sa = { .sa_handler = on_alarm };
	struct itimerval it = { { 0, 3000 }, { 0, 3000 } };
	struct drm_rkmm_client_info info;
	struct mm mm[2] = { { .fd = 0 } };
	struct drm_rkmm_submit s;
	struct drm_rkmm_op op;
	uint64_t jobs = 0;
	int fd, i, k, ret = 0, err;
	struct rnd r;

	rnd_seed(&r, seed);
	fd = rk_open();
	if (fd < 0)
		return 1;
	set_priority(fd, rnd_below(&r, 3));
	sigaction(SIGALRM, &sa, NULL);
	for (i = 0; i < rounds && !ret; i++) {
		uint32_t types = rnd_below(&r, 5), n = 1 + rnd_below(&r, 90);
		uint32_t m = 1 + rnd_below(&r, 20);

		for (k = 0; k < 2; k++) {
			mm[k] = (struct mm) {
				.types = types, .m = m, .k = 1 + rnd_below(&r, 500), .n = n,
				.mult = types == DRM_RKMM_I8I8 ? 900 : 0,
				.shift = types == DRM_RKMM_I8I8 ? 16 : 0,
			};
			ret = mm_init(&mm[k], fd, rnd_next(&r));
			if (ret)
				break;
		}
		setitimer(ITIMER_REAL, &it, NULL);
		for (k = 0; k < 6 && !ret; k++) {
			op = mm_op(&mm[k % 2]);
			op.c = mm_op(&mm[1]).c;
			submit_init(&s, &op, 1);
			s.cores = rnd_below(&r, 2) ? 0 : 1 + rnd_below(&r, 7);
			do
				ret = rk_submit(fd, &s);
			while (ret == -EINTR);
			jobs++;
		}
		if (!ret) {
			do
				ret = rk_wait(fd, s.seqno, INT64_MAX, &err);
			while (err == -EINTR);
			if (err)
				ret = err;
		}
		setitimer(ITIMER_REAL, &(struct itimerval) { 0 }, NULL);
		if (!ret && mm_check(&mm[1])) {
			fprintf(stderr, "# seed %llu round %d: %s\n", (unsigned long long)seed, i,
				mm[1].msg);
			ret = -EBADMSG;
		}
		for (k = 0; k < 2; k++)
			if (mm[k].fd)
				mm_free(&mm[k]);
	}
	if (!ret && (rk_client(fd, &info) || info.jobs != jobs))
		ret = -EBADE;
	if (ret)
		fprintf(stderr, "# seed %llu: %s\n", (unsigned long long)seed, strerror(-ret));
	close(fd);
	return ret ? 2 : 0;
}

FIXTURE(crowd) {
	long long refs;
};

FIXTURE_SETUP(crowd)
{
	self->refs = module_refs();
}

FIXTURE_TEARDOWN(crowd)
{
	if (self->refs >= 0) {
		EXPECT_EQ(self->refs, module_refs_settle(self->refs));
	}
}

/* Some of them are killed while they have jobs queued; the others never notice. */
TEST_F_TIMEOUT(crowd, killed_and_not, CASE_TIMEOUT)
{
	int i, status, failed = 0;
	pid_t pid[9];
	struct rnd r;

	rnd_seed(&r, 77);
	for (i = 0; i < 9; i++) {
		pid[i] = fork();
		ASSERT_LE(0, pid[i]);
		if (!pid[i])
			_exit(crowd_client(500 + i, i % 3 ? 12 : 10000));
	}
	for (i = 0; i < 9; i += 3) {
		msleep(200 + rnd_below(&r, 800));
		kill(pid[i], SIGKILL);
	}
	for (i = 0; i < 9; i++) {
		ASSERT_EQ(pid[i], waitpid(pid[i], &status, 0));
		if (i % 3)
			failed += !!status;
		else
			failed += !(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	}
	EXPECT_EQ(0, failed);
	EXPECT_EQ(0, crowd_client(1000, 2));
}

RKMM_TEST_MAIN
