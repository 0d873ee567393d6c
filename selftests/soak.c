// SPDX-License-Identifier: GPL-2.0
/*
 * Mixed jobs of many processes, for as long as one likes: random sizes, types, cores and
 * priorities, groups of operations, several jobs deep, signals at any moment, kills. Does every
 * job run once, are all results right, in order, and is nothing left?
 *
 *	RKMM_SOAK_SEED	other random numbers (default 1)
 *	RKMM_SOAK_JOBS	jobs of each process (default 250)
 *	RKMM_SOAK_PROCS	processes at the same time (default 8, 64 at most)
 *
 * Nothing depends on how long anything takes.
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include "../kselftest_harness.h"
#include "rkmm_test.h"

/* long runs end when they are done */
#define CASE_TIMEOUT	100000
#define MOST_PROCS	64
#define DEPTH		6
#define POOL		4

/* What a process tells the one that counts; written before a submission. */
struct told {
	uint64_t jobs, tasks;
};

struct soak {
	int fd;
	struct rnd rnd;
	struct mm pool[POOL];
	uint64_t flight[DEPTH];
	unsigned int nflight;
	uint64_t seqno;
	volatile struct told *told;
	char msg[200];
};

static unsigned int parameter(const char *name, unsigned int value, unsigned int most)
{
	const char *text = getenv(name);
	unsigned long v = text ? strtoul(text, NULL, 10) : 0;

	return v > most ? most : v ? (unsigned int)v : value;
}

static void on_alarm(int sig)
{
	(void)sig;
}

static void storm(unsigned int us)
{
	struct sigaction sa = { .sa_handler = on_alarm };
	struct itimerval it = { { 0, us }, { 0, us } };

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &it, NULL);
}

/* Wait in spite of signals. */
static int soak_wait(struct soak *s, uint64_t seqno)
{
	int ret, err;

	do
		ret = rk_wait(s->fd, seqno, INT64_MAX, &err);
	while (err == -EINTR);
	return err ? err : ret;
}

/* Everything in flight; what came first is over when the last one is. */
static int soak_drain(struct soak *s)
{
	unsigned int i;
	int ret, err;

	if (!s->nflight)
		return 0;
	ret = soak_wait(s, s->flight[s->nflight - 1]);
	for (i = 0; i < s->nflight && !ret; i++) {
		do
			ret = rk_wait(s->fd, s->flight[i], 0, &err);
		while (err == -EINTR);
		if (err)
			ret = err;
	}
	s->nflight = 0;
	return ret;
}

static int soak_check(struct soak *s)
{
	unsigned int i;
	int ret = soak_drain(s);

	for (i = 0; i < POOL && !ret; i++) {
		if (!s->pool[i].fd)
			continue;
		do
			ret = buf_begin_read(&s->pool[i].c);
		while (ret == -EINTR);
		if (!ret && mm_compare(&s->pool[i])) {
			snprintf(s->msg, sizeof(s->msg), "%s", s->pool[i].msg);
			ret = -EBADMSG;
		}
	}
	return ret;
}

static void soak_forget(struct soak *s)
{
	unsigned int i;

	for (i = 0; i < POOL; i++) {
		if (s->pool[i].fd)
			mm_free(&s->pool[i]);
		s->pool[i].fd = 0;
	}
}

/* Other shapes, each run once so that it can be checked */
static int soak_renew(struct soak *s)
{
	unsigned int i;
	int ret = 0;

	storm(0);
	soak_forget(s);
	for (i = 0; i < POOL && !ret; i++) {
		struct mm *mm = &s->pool[i];

		*mm = (struct mm) {
			.types = rnd_below(&s->rnd, 5), .m = 1 + rnd_below(&s->rnd, 40),
			.k = 1 + rnd_below(&s->rnd, 300), .n = 1 + rnd_below(&s->rnd, 110),
		};
		if (mm->types == DRM_RKMM_I8I8) {
			mm->mult = 900;
			mm->shift = 16;
		}
		ret = mm_init(mm, s->fd, rnd_next(&s->rnd));
	}
	storm(700 + rnd_below(&s->rnd, 4000));
	return ret;
}

/* One job of @n operations, the first of them at @first of the pool. */
static int soak_submit(struct soak *s, unsigned int first, unsigned int n)
{
	struct drm_rkmm_op op[POOL];
	struct drm_rkmm_submit arg;
	unsigned int i;
	int ret;

	if (s->nflight == DEPTH) {
		ret = rnd_below(&s->rnd, 2) ? soak_wait(s, s->flight[0]) : soak_drain(s);
		if (ret)
			return ret;
		if (s->nflight)
			memmove(s->flight, s->flight + 1, --s->nflight * sizeof(*s->flight));
	}
	for (i = 0; i < n; i++) {
		op[i] = mm_op(&s->pool[(first + i) % POOL]);
		if (i && rnd_below(&s->rnd, 2))
			op[i].flags = DRM_RKMM_OP_GROUPED;
		s->told->tasks += s->pool[(first + i) % POOL].plan.programs;
	}
	s->told->jobs++;
	submit_init(&arg, op, n);
	arg.cores = rnd_below(&s->rnd, 2) ? 0 : 1 + rnd_below(&s->rnd, 7);
	if (!rnd_below(&s->rnd, 6)) {
		arg.flags = DRM_RKMM_SUBMIT_WAIT;
		arg.deadline_ns = after(rnd_below(&s->rnd, 5000000));
	}
	do
		ret = rk_submit(s->fd, &arg);
	while (ret == -EINTR);
	if (ret)
		return ret;
	if (arg.seqno != ++s->seqno)
		return -EBADE;
	if (arg.flags && !arg.wait_status && arg.result)
		return arg.result;
	s->flight[s->nflight++] = arg.seqno;
	return 0;
}

/* @jobs of them, 0 for no end; 0, or why not */
static int soak_run(struct soak *s, unsigned int jobs)
{
	struct drm_rkmm_client_info info;
	unsigned int i, k;
	int ret = 0;

	for (i = 0; (!jobs || i < jobs) && !ret; i++) {
		if (i % 24 == 0) {
			ret = soak_check(s);
			if (!ret)
				ret = soak_renew(s);
			/* all of them, so that all can be checked */
			for (k = 0; k < POOL && !ret; k++)
				ret = soak_submit(s, k, 1);
			i += POOL;
		}
		if (!ret)
			ret = soak_submit(s, rnd_below(&s->rnd, POOL), 1 + rnd_below(&s->rnd, 3));
	}
	if (!ret)
		ret = soak_check(s);
	storm(0);
	if (!ret && (rk_client(s->fd, &info) || info.jobs != s->told->jobs ||
		     info.jobs != s->seqno || info.guilty))
		ret = -EBADE;
	return ret;
}

static int soak_process(uint64_t seed, unsigned int jobs, volatile struct told *told)
{
	struct soak s = { .told = told };
	struct drm_rkmm_client_set set = { .param = DRM_RKMM_CLIENT_PRIORITY };
	int ret;

	rnd_seed(&s.rnd, seed);
	s.fd = rk_open();
	if (s.fd < 0)
		return 1;
	/* high priority only where it is allowed */
	set.value = rnd_below(&s.rnd, 3);
	xioctl(s.fd, DRM_IOCTL_RKMM_CLIENT_SET, &set);
	ret = soak_run(&s, jobs);
	if (ret)
		fprintf(stderr, "# seed %llu: %s %s\n", (unsigned long long)seed, strerror(-ret),
			s.msg);
	soak_forget(&s);
	close(s.fd);
	return ret ? 2 : 0;
}

/* --- who counts ------------------------------------------------------------------------- */

FIXTURE(soak) {
	struct told *told;
	unsigned int jobs, procs;
	uint64_t seed;
	long long refs, resets;
	int fd;
};

FIXTURE_SETUP(soak)
{
	struct drm_rkmm_device_info info;

	self->refs = module_refs();
	self->jobs = parameter("RKMM_SOAK_JOBS", 250, 10000000);
	self->procs = parameter("RKMM_SOAK_PROCS", 8, MOST_PROCS);
	self->seed = 1000ull * parameter("RKMM_SOAK_SEED", 1, 1000000000);
	self->told = mmap(NULL, 2 * MOST_PROCS * sizeof(*self->told), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->told);
	self->fd = rk_open();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, rk_device(self->fd, &info));
	self->resets = info.resets;
}

FIXTURE_TEARDOWN(soak)
{
	struct drm_rkmm_device_info info;

	ASSERT_EQ(0, rk_device(self->fd, &info));
	EXPECT_EQ(self->resets, info.resets);
	munmap(self->told, 2 * MOST_PROCS * sizeof(*self->told));
	close(self->fd);
	if (self->refs >= 0) {
		EXPECT_EQ(self->refs, module_refs_settle(self->refs));
	}
}

/* A total of sysfs; -1 without it */
static long long total(int fd, const char *name)
{
	char path[100];
	struct stat st;

	if (fstat(fd, &st))
		return -1;
	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/device/../rkmm/%s",
		 (unsigned int)(st.st_rdev >> 8), (unsigned int)(st.st_rdev & 0xff), name);
	return file_number(path, NULL);
}

/* Programs that the software NPU has run; -1 on silicon */
static long long npu_tasks(void)
{
	long long sum = 0, n;
	char path[80];
	int i;

	for (i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "/sys/kernel/debug/rkmm_soft/device/core%d/stats", i);
		n = file_number(path, "tasks ");
		if (n < 0)
			return -1;
		sum += n;
	}
	return sum;
}

static pid_t start(volatile struct told *told, uint64_t seed, unsigned int jobs)
{
	pid_t pid = fork();

	if (!pid)
		_exit(soak_process(seed, jobs, told));
	return pid;
}

/* Everything that was asked for, no more and no less, as the device counts it. */
TEST_F_TIMEOUT(soak, once_each, CASE_TIMEOUT)
{
	long long tasks = npu_tasks(), jobs = total(self->fd, "jobs");
	struct told sum = { 0 };
	pid_t pid[MOST_PROCS];
	unsigned int i;
	int status;

	for (i = 0; i < self->procs; i++) {
		pid[i] = start(&self->told[i], self->seed + i, self->jobs);
		ASSERT_LE(0, pid[i]);
	}
	for (i = 0; i < self->procs; i++) {
		ASSERT_EQ(pid[i], waitpid(pid[i], &status, 0));
		EXPECT_EQ(0, status);
		EXPECT_LE(self->jobs, self->told[i].jobs);
		sum.jobs += self->told[i].jobs;
		sum.tasks += self->told[i].tasks;
	}
	TH_LOG("%llu jobs, %llu programs", (unsigned long long)sum.jobs,
	       (unsigned long long)sum.tasks);
	EXPECT_EQ(jobs + (long long)sum.jobs, total(self->fd, "jobs"));
	if (tasks >= 0) {
		EXPECT_EQ(tasks + (long long)sum.tasks, npu_tasks());
	}
	EXPECT_EQ(0, total(self->fd, "queued"));
	EXPECT_EQ(1, total(self->fd, "clients"));
}

/*
 * Half of the processes are killed, whatever they are doing, and others take their place. Who
 * lives does not notice; what was killed ran at most once.
 */
TEST_F_TIMEOUT(soak, kills, CASE_TIMEOUT)
{
	long long before = npu_tasks(), least = 0, most = 0, now;
	unsigned int i, n = self->procs / 2, dead = 0;
	pid_t pid[MOST_PROCS], victim;
	volatile struct told *told = &self->told[MOST_PROCS];
	struct rnd r;
	int status;

	rnd_seed(&r, self->seed);
	for (i = 0; i < n; i++) {
		pid[i] = start(&self->told[i], self->seed + 100 + i, self->jobs / 2);
		ASSERT_LE(0, pid[i]);
	}
	/* one after the other, beside the others */
	for (i = 0; i < 2 * n; i++) {
		uint64_t aim = told->jobs + 1 + rnd_below(&r, 40);

		victim = start(told, self->seed + 200 + i, 0);
		ASSERT_LE(0, victim);
		while (told->jobs < aim && !waitpid(victim, &status, WNOHANG))
			msleep(1);
		EXPECT_EQ(0, kill(victim, SIGKILL));
		ASSERT_EQ(victim, waitpid(victim, &status, 0));
		EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		dead++;
	}
	most = (long long)told->tasks;
	for (i = 0; i < n; i++) {
		ASSERT_EQ(pid[i], waitpid(pid[i], &status, 0));
		EXPECT_EQ(0, status);
		least += (long long)self->told[i].tasks;
	}
	most += least;
	/* files of the dead are closed behind their backs */
	for (i = 0; i < 3000 && (total(self->fd, "clients") > 1 || total(self->fd, "queued")); i++)
		msleep(10);
	EXPECT_EQ(1, total(self->fd, "clients"));
	EXPECT_EQ(0, total(self->fd, "queued"));
	now = npu_tasks();
	TH_LOG("%u killed, between %lld and %lld programs", dead, least, most);
	if (before >= 0) {
		EXPECT_LE(before + least, now);
		EXPECT_GE(before + most, now);
	}
}

RKMM_TEST_MAIN
