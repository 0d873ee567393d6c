// SPDX-License-Identifier: GPL-2.0
/*
 * Does a job that hangs cost one job, and whose?
 *
 * Hangs are made by the fault switches of the software NPU. User space cannot
 * write programs, so an overrun cannot be made from here; that guard pages and
 * holes fault is tested at the window and at the model.
 */
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include "../kselftest_harness.h"
#include "rkmm_test.h"

#define CASE_TIMEOUT	240
#define LOG_ERR		3
#define BAN_AFTER	8	/* the driver's default */

FIXTURE(fault) {
	int fd[2];
	struct mm mm[2];
	int kmsg;
	struct drm_rkmm_device_info before;
	bool soft;
};

FIXTURE_SETUP(fault)
{
	int i;

	self->kmsg = -1;
	for (i = 0; i < 2; i++) {
		self->fd[i] = rk_open();
		ASSERT_LE(0, self->fd[i]);
	}
	if (!rk_is_soft(self->fd[0]) || soft_fault("*.never_start=0"))
		SKIP(return, "no fault switches: not the software NPU, or not root");
	self->soft = true;
	for (i = 0; i < 2; i++) {
		self->mm[i] = (struct mm) { .types = DRM_RKMM_I8I32, .m = 9, .k = 100, .n = 50 };
		ASSERT_EQ(0, mm_init(&self->mm[i], self->fd[i], i));
	}
	ASSERT_EQ(0, rk_device(self->fd[0], &self->before));
	self->kmsg = kmsg_open();
}

FIXTURE_TEARDOWN(fault)
{
	int i;

	if (self->soft)
		soft_fault("*.never_start=0,*.stall=0,*.lost_irq=0,*.error_irq=0,*.slow=0");
	for (i = 0; i < 2; i++) {
		if (self->soft) {
			EXPECT_EQ(0, mm_new_c(&self->mm[i]));
			EXPECT_EQ(0, mm_run(&self->mm[i])) {
				TH_LOG("afterwards: %s", self->mm[i].msg);
			}
			mm_free(&self->mm[i]);
		}
		close(self->fd[i]);
	}
	if (self->kmsg >= 0)
		close(self->kmsg);
}

static int submit(int fd, struct mm *mm, uint32_t cores, struct drm_rkmm_sync *in,
		  struct drm_rkmm_sync *out, uint64_t *seqno)
{
	struct drm_rkmm_op op = mm_op(mm);
	struct drm_rkmm_submit s;
	int ret;

	submit_init(&s, &op, 1);
	submit_syncs(&s, in, !!in, out, !!out);
	s.cores = cores;
	ret = rk_submit(fd, &s);
	*seqno = s.seqno;
	return ret;
}

/* For jobs that hang on purpose; 0: what the driver thinks is right */
static void timeout_floor(unsigned int ms)
{
	FILE *f = fopen("/sys/module/rkmm/parameters/timeout_floor_ms", "w");

	if (!f)
		return;
	fprintf(f, "%u", ms);
	fclose(f);
}

static uint64_t resets(int fd)
{
	struct drm_rkmm_device_info info;

	return rk_device(fd, &info) ? 0 : info.resets;
}

/* A core hangs @times times in a row with the same job: @want is what becomes of it. */
#define HUNG(cause, times, want)					\
do {									\
	struct drm_rkmm_client_info me, other;				\
	char line[400] = "";						\
	uint64_t seqno;							\
									\
	ASSERT_EQ(0, submit(self->fd[0], &self->mm[0], 1, NULL, NULL, &seqno)); \
	EXPECT_EQ(want, rk_result(self->fd[0], seqno));			\
	EXPECT_EQ(0, buf_begin_read(&self->mm[0].c));			\
	if (!(want)) {							\
		EXPECT_EQ(0, mm_check(&self->mm[0])) {			\
			TH_LOG("once more: %s", self->mm[0].msg);	\
		}							\
	}								\
	EXPECT_EQ(0, mm_run(&self->mm[1])) {				\
		TH_LOG("the other client: %s", self->mm[1].msg);	\
	}								\
	ASSERT_EQ(0, rk_client(self->fd[0], &me));			\
	ASSERT_EQ(0, rk_client(self->fd[1], &other));			\
	EXPECT_EQ(times, me.guilty);					\
	EXPECT_EQ(0, other.guilty);					\
	EXPECT_EQ(1, me.jobs);						\
	EXPECT_EQ(self->before.resets + (times), resets(self->fd[0])); \
	if (self->kmsg >= 0) {						\
		/* the last one says how it ended */			\
		EXPECT_EQ(times, kmsg_count(self->kmsg, LOG_ERR, "rkmm", NULL, line, \
					    sizeof(line)));		\
		EXPECT_NE(NULL, strstr(line, "hang: core=0 cause=" cause " ")) { \
			TH_LOG("%s", line);				\
		}							\
		EXPECT_NE(NULL, strstr(line, " shape=9x100x50 "));	\
		EXPECT_NE(NULL, strstr(line, (want) ? " outcome=EIO " : " outcome=retry ")); \
		EXPECT_NE(NULL, strstr(line, " comm=fault"));		\
	}								\
} while (0)

TEST_F_TIMEOUT(fault, never_start, CASE_TIMEOUT)
{
	if (!self->soft)
		return;
	ASSERT_EQ(0, soft_fault("0.never_start=2"));
	HUNG("never-started", 2, -EIO);
}

/* Once is chance: the job is started again behind the reset, and nobody sees a difference. */
TEST_F_TIMEOUT(fault, never_start_once, CASE_TIMEOUT)
{
	if (!self->soft)
		return;
	ASSERT_EQ(0, soft_fault("0.never_start=1"));
	HUNG("never-started", 1, 0);
}

TEST_F_TIMEOUT(fault, error_interrupt_once, CASE_TIMEOUT)
{
	if (!self->soft)
		return;
	ASSERT_EQ(0, soft_fault("0.error_irq=0x1000:1"));
	HUNG("dma-error", 1, 0);
}

/* The NPU reports that it could not read or write: no waiting for the deadline. */
TEST_F_TIMEOUT(fault, error_interrupt, CASE_TIMEOUT)
{
	if (!self->soft)
		return;
	ASSERT_EQ(0, soft_fault("0.error_irq=0x1000:2"));
	HUNG("dma-error", 2, -EIO);
}

TEST_F_TIMEOUT(fault, error_interrupt_write, CASE_TIMEOUT)
{
	if (!self->soft)
		return;
	ASSERT_EQ(0, soft_fault("0.error_irq=0x2000:2"));
	HUNG("dma-error", 2, -EIO);
}

/* --- dumps: prog/rkmm_dump.h, read here as bytes */

/* Opens the dump that there is; @path holds its name. */
static int dump_open(char *path, size_t size)
{
	glob_t found;
	int fd = -1;

	if (!glob("/sys/class/devcoredump/devcd*/data", 0, NULL, &found)) {
		snprintf(path, size, "%s", found.gl_pathv[0]);
		fd = open(path, O_RDWR | O_CLOEXEC);
	}
	globfree(&found);
	return fd;
}

/* Writing anything throws it away. */
static void dump_drop(void)
{
	char path[128];
	int i, fd;

	for (i = 0; i < 50; i++) {
		fd = dump_open(path, sizeof(path));
		if (fd < 0)
			return;
		if (write(fd, "1", 1) != 1)
			msleep(1);
		close(fd);
		msleep(20);
	}
}

static uint32_t get32(const uint8_t *p)
{
	return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
}

TEST_F_TIMEOUT(fault, dump, CASE_TIMEOUT)
{
	static uint8_t data[1 << 17];
	const uint8_t *object, *hang = NULL;
	uint32_t i, words = 0;
	char path[128];
	uint64_t seqno;
	size_t n = 0;
	ssize_t got;
	int fd = -1;

	if (!self->soft)
		return;
	dump_drop();
	ASSERT_EQ(0, soft_fault("0.error_irq=0x1000:2"));
	ASSERT_EQ(0, submit(self->fd[0], &self->mm[0], 1, NULL, NULL, &seqno));
	EXPECT_EQ(-EIO, rk_result(self->fd[0], seqno));
	for (i = 0; i < 200 && fd < 0; i++) {
		fd = dump_open(path, sizeof(path));
		msleep(10);
	}
	if (fd < 0 && access("/sys/class/devcoredump", F_OK))
		SKIP(return, "a kernel without devcoredump");
	ASSERT_LE(0, fd);
	while ((got = read(fd, data + n, sizeof(data) - n)) > 0)
		n += got;
	close(fd);
	dump_drop();

	ASSERT_LE(16, n);
	EXPECT_EQ(0x504d5544, get32(data));
	EXPECT_EQ(1, get32(data + 4));
	ASSERT_LE(16 + 16 * get32(data + 8), n);
	for (i = 0; i < get32(data + 8); i++) {
		object = data + 16 + 16 * i;
		ASSERT_LE(get32(object + 8), n);
		ASSERT_LE(get32(object + 12), n - get32(object + 8));
		if (get32(object) == 1)
			hang = data + get32(object + 8);
		if (get32(object) == 6)
			words = get32(object + 12);
	}
	/* of the first hang, the one that was tried again */
	ASSERT_NE(NULL, hang);
	EXPECT_EQ(seqno, get32(hang));
	EXPECT_EQ(0, get32(hang + 48));
	EXPECT_EQ(2, get32(hang + 52));
	EXPECT_EQ(getpid(), get32(hang + 56));
	EXPECT_EQ(1, get32(hang + 60));
	EXPECT_EQ(9, get32(hang + 88));
	EXPECT_EQ(100, get32(hang + 92));
	EXPECT_EQ(50, get32(hang + 96));
	EXPECT_STREQ("fault", (const char *)hang + 128);
	/* a full program has 112 words (hw 02 §4) */
	EXPECT_LE(100 * 8, words);
	/* no operand is in it: those of this matmul are random */
	EXPECT_EQ(NULL, memmem(data, n, self->mm[0].a.map + self->mm[0].a_off, 32));
	EXPECT_EQ(NULL, memmem(data, n, self->mm[0].b.map + self->mm[0].b_off, 32));
}

/* Some programs of the chain ran, then nothing more. */
TEST_F_TIMEOUT(fault, stall, CASE_TIMEOUT)
{
	struct mm mm = { .types = DRM_RKMM_I8I32, .m = 1100, .k = 32, .n = 32 };
	char line[400] = "";
	uint64_t seqno;

	if (!self->soft)
		return;
	ASSERT_EQ(0, mm_init(&mm, self->fd[0], 9));
	ASSERT_LT(1, mm.plan.programs);
	ASSERT_EQ(0, soft_fault("0.stall=1:3"));
	ASSERT_EQ(0, submit(self->fd[0], &mm, 1, NULL, NULL, &seqno));
	EXPECT_EQ(-EIO, rk_result(self->fd[0], seqno));
	if (self->kmsg >= 0) {
		/* the third time with smaller programs */
		EXPECT_EQ(3, kmsg_count(self->kmsg, LOG_ERR, "rkmm", "cause=stalled", line,
					sizeof(line)));
		EXPECT_NE(NULL, strstr(line, " task=1/")) {
			TH_LOG("%s", line);
		}
	}
	/* the same job again is right */
	EXPECT_EQ(0, mm_run(&mm)) {
		TH_LOG("%s", mm.msg);
	}
	mm_free(&mm);
}

/* The interrupt of a good job is lost: late, but right, and nobody is blamed. */
TEST_F_TIMEOUT(fault, lost_interrupt, CASE_TIMEOUT)
{
	struct drm_rkmm_client_info me;
	uint64_t seqno;
	int i;

	if (!self->soft)
		return;
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, soft_fault("0.lost_irq=1"));
		ASSERT_EQ(0, mm_new_c(&self->mm[0]));
		ASSERT_EQ(0, submit(self->fd[0], &self->mm[0], 1, NULL, NULL, &seqno));
		EXPECT_EQ(0, rk_result(self->fd[0], seqno));
		EXPECT_EQ(0, mm_check(&self->mm[0])) {
			TH_LOG("%s", self->mm[0].msg);
		}
	}
	ASSERT_EQ(0, rk_client(self->fd[0], &me));
	EXPECT_EQ(0, me.guilty);
	EXPECT_EQ(self->before.resets, resets(self->fd[0]));
}

/* A slow NPU is not a stuck one. */
TEST_F_TIMEOUT(fault, slow_is_not_stuck, CASE_TIMEOUT)
{
	if (!self->soft)
		return;
	ASSERT_EQ(0, soft_fault("*.slow=4"));
	EXPECT_EQ(0, mm_run(&self->mm[0])) {
		TH_LOG("%s", self->mm[0].msg);
	}
	EXPECT_EQ(self->before.resets, resets(self->fd[0]));
}

/* What waits for a failed job is cancelled; what only comes later is not. */
TEST_F_TIMEOUT(fault, dependents, CASE_TIMEOUT)
{
	struct drm_rkmm_sync out[2] = { 0 };
	struct drm_syncobj_handle h = { 0 };
	uint64_t bad, own, later, other;

	if (!self->soft)
		return;
	ASSERT_EQ(0, syncobj_create(self->fd[0], &out[0].handle));
	h.handle = out[0].handle;
	ASSERT_EQ(0, xioctl(self->fd[0], DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &h));
	ASSERT_EQ(0, xioctl(self->fd[1], DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &h));
	out[1].handle = h.handle;

	ASSERT_EQ(0, soft_fault("0.never_start=2"));
	ASSERT_EQ(0, submit(self->fd[0], &self->mm[0], 1, NULL, &out[0], &bad));
	ASSERT_EQ(0, submit(self->fd[1], &self->mm[1], 0, &out[1], NULL, &other));
	ASSERT_EQ(0, submit(self->fd[0], &self->mm[0], 0, &out[0], NULL, &own));
	ASSERT_EQ(0, submit(self->fd[0], &self->mm[0], 0, NULL, NULL, &later));
	EXPECT_EQ(-EIO, rk_result(self->fd[0], bad));
	EXPECT_EQ(-ECANCELED, rk_result(self->fd[1], other));
	EXPECT_EQ(-ECANCELED, rk_result(self->fd[0], own));
	EXPECT_EQ(0, rk_result(self->fd[0], later));
	EXPECT_EQ(0, mm_check(&self->mm[0])) {
		TH_LOG("%s", self->mm[0].msg);
	}
}

/* A buffer in which a job failed is not poisoned for those who use it later. */
TEST_F_TIMEOUT(fault, shared_buffer_after_failure, CASE_TIMEOUT)
{
	struct drm_prime_handle p = { .handle = self->mm[0].c.handle,
				      .flags = DRM_CLOEXEC | DRM_RDWR };
	struct drm_rkmm_op op;
	struct drm_rkmm_submit s;
	uint64_t seqno;
	int i;

	if (!self->soft)
		return;
	ASSERT_EQ(0, xioctl(self->fd[0], DRM_IOCTL_PRIME_HANDLE_TO_FD, &p));
	ASSERT_EQ(0, xioctl(self->fd[1], DRM_IOCTL_PRIME_FD_TO_HANDLE, &p));
	ASSERT_EQ(0, soft_fault("0.never_start=2"));
	ASSERT_EQ(0, submit(self->fd[0], &self->mm[0], 1, NULL, NULL, &seqno));
	ASSERT_EQ(-EIO, rk_result(self->fd[0], seqno));
	for (i = 0; i < 3; i++) {
		op = mm_op(&self->mm[1]);
		op.c.handle = p.handle;
		op.c.offset = 0;
		submit_init(&s, &op, 1);
		ASSERT_EQ(0, rk_submit(self->fd[1], &s));
		EXPECT_EQ(0, rk_result(self->fd[1], s.seqno)) {
			TH_LOG("use %d after the failure", i);
		}
	}
	close(p.fd);
}

/* Jobs on the other cores, and those queued behind, come through the reset of one. */
TEST_F_TIMEOUT(fault, neighbours_of_a_reset, CASE_TIMEOUT)
{
	int i, j, status, failed = 0;
	uint64_t seqno;
	pid_t pid;

	if (!self->soft)
		return;
	for (i = 0; i < 3; i++) {
		pid = fork();
		if (pid)
			continue;
		for (j = 0; j < 12; j++) {
			struct mm mm = { .types = DRM_RKMM_I8I32, .m = 20, .k = 200, .n = 64,
					 .cores = 6 };
			struct drm_rkmm_client_info info;
			int fd = rk_open();

			if (fd < 0 || mm_init(&mm, fd, 100 * i + j))
				_exit(1);
			if (mm_run(&mm)) {
				fprintf(stderr, "# neighbour: %s\n", mm.msg);
				_exit(2);
			}
			if (rk_client(fd, &info) || info.guilty)
				_exit(3);
			mm_free(&mm);
			close(fd);
		}
		_exit(0);
	}
	/* the neighbours keep off core 0 */
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, soft_fault("0.never_start=2"));
		ASSERT_EQ(0, submit(self->fd[0], &self->mm[0], 1, NULL, NULL, &seqno));
		EXPECT_EQ(-EIO, rk_result(self->fd[0], seqno));
	}
	while (wait(&status) > 0)
		failed += !!status;
	EXPECT_EQ(0, failed);
}

/* Again and again: nothing wears out, but who does it is sent away at last. */
TEST_F_TIMEOUT(fault, ten_hangs, CASE_TIMEOUT)
{
	struct drm_rkmm_client_info me;
	uint64_t seqno;
	int i, fd;

	if (!self->soft)
		return;
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, soft_fault("*.never_start=2"));
		timeout_floor(200);
		EXPECT_EQ(i < BAN_AFTER ? 0 : -EPERM,
			  submit(self->fd[0], &self->mm[0], 1u << i % 3, NULL, NULL, &seqno));
		if (i < BAN_AFTER) {
			EXPECT_EQ(-EIO, rk_result(self->fd[0], seqno));
		}
		timeout_floor(0);
		ASSERT_EQ(0, soft_fault("*.never_start=0"));
		ASSERT_EQ(0, mm_new_c(&self->mm[1]));
		EXPECT_EQ(0, mm_run(&self->mm[1])) {
			TH_LOG("after hang %d: %s", i, self->mm[1].msg);
		}
		ASSERT_EQ(0, rk_client(self->fd[0], &me));
		EXPECT_EQ(i >= BAN_AFTER - 1, me.banned);
	}
	EXPECT_EQ(2 * BAN_AFTER, me.guilty);
	EXPECT_EQ(self->before.resets + 2 * BAN_AFTER, resets(self->fd[0]));
	if (self->kmsg >= 0) {
		EXPECT_EQ(1, kmsg_count(self->kmsg, LOG_ERR, "rkmm", "ban: failed=8 ", NULL, 0));
	}

	/* it can still ask, wait and clean up; another file is another client */
	EXPECT_EQ(0, rk_client(self->fd[0], &me));
	mm_free(&self->mm[0]);
	fd = rk_open();
	ASSERT_LE(0, fd);
	close(self->fd[0]);
	self->fd[0] = fd;
	ASSERT_EQ(0, mm_init(&self->mm[0], fd, 0));
}

/* What a banned client had queued is cancelled, in order. */
TEST_F_TIMEOUT(fault, banned_with_a_queue, CASE_TIMEOUT)
{
	uint64_t seqno[BAN_AFTER + 5];
	int i, fd;

	if (!self->soft)
		return;
	ASSERT_EQ(0, soft_fault("*.never_start=0"));
	ASSERT_EQ(0, soft_fault("0.never_start=1000"));
	timeout_floor(200);
	for (i = 0; i < BAN_AFTER + 5; i++)
		ASSERT_EQ(0, submit(self->fd[0], &self->mm[0], 1, NULL, NULL, &seqno[i]));
	for (i = 0; i < BAN_AFTER + 5; i++)
		EXPECT_EQ(i < BAN_AFTER ? -EIO : -ECANCELED, rk_result(self->fd[0], seqno[i])) {
			TH_LOG("job %d", i);
		}
	timeout_floor(0);
	ASSERT_EQ(0, soft_fault("0.never_start=0"));
	mm_free(&self->mm[0]);
	fd = rk_open();
	ASSERT_LE(0, fd);
	close(self->fd[0]);
	self->fd[0] = fd;
	ASSERT_EQ(0, mm_init(&self->mm[0], fd, 0));
}

/* Good jobs in between make up for those that failed. */
TEST_F_TIMEOUT(fault, not_banned_for_chance, CASE_TIMEOUT)
{
	struct drm_rkmm_client_info me;
	uint64_t seqno;
	int i, j;

	if (!self->soft)
		return;
	for (i = 0; i < BAN_AFTER + 2; i++) {
		ASSERT_EQ(0, soft_fault("0.error_irq=0x1000:2"));
		ASSERT_EQ(0, submit(self->fd[0], &self->mm[0], 1, NULL, NULL, &seqno));
		EXPECT_EQ(-EIO, rk_result(self->fd[0], seqno));
		for (j = 0; j < 16; j++) {
			ASSERT_EQ(0, submit(self->fd[0], &self->mm[0], 1, NULL, NULL, &seqno));
			EXPECT_EQ(0, rk_result(self->fd[0], seqno));
		}
	}
	ASSERT_EQ(0, rk_client(self->fd[0], &me));
	EXPECT_EQ(0, me.banned);
}

/* The owner of a hanging job is killed before the deadline. */
TEST_F_TIMEOUT(fault, killed_while_hanging, CASE_TIMEOUT)
{
	long long refs = module_refs();
	int i, status, ready[2];
	pid_t pid;
	char c;

	if (!self->soft)
		return;
	ASSERT_EQ(0, pipe(ready));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, soft_fault("0.never_start=2"));
		pid = fork();
		if (!pid) {
			struct mm mm = { .types = DRM_RKMM_I8I32, .m = 5, .k = 40, .n = 40 };
			uint64_t seqno;
			int fd = rk_open(), j;

			if (fd < 0 || mm_init(&mm, fd, i))
				_exit(1);
			for (j = 0; j < 3; j++)
				submit(fd, &mm, 1, NULL, NULL, &seqno);
			if (write(ready[1], "", 1) != 1)
				_exit(1);
			for (;;)
				rk_wait(fd, seqno, INT64_MAX, NULL);
		}
		/* its first job took one of the two hangs, so ours is started again at the worst */
		ASSERT_EQ(1, read(ready[0], &c, 1));
		msleep(100);
		kill(pid, SIGKILL);
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		ASSERT_EQ(0, mm_new_c(&self->mm[1]));
		EXPECT_EQ(0, mm_run(&self->mm[1])) {
			TH_LOG("%s", self->mm[1].msg);
		}
		soft_fault("0.never_start=0");
	}
	close(ready[0]);
	close(ready[1]);
	if (refs >= 0) {
		EXPECT_GE(refs + 2, module_refs_settle(refs));
	}
}

/* The last bytes of a buffer are an operand's: what the NPU fetches behind it is harmless. */
TEST(over_fetch_behind_a_buffer)
{
	static const struct { uint32_t types, m, k, n; } s[] = {
		{ DRM_RKMM_I8I32, 32, 128, 32 }, { DRM_RKMM_F16F32, 64, 32, 64 },
		{ DRM_RKMM_I8I8, 64, 64, 64 }, { DRM_RKMM_I4I16, 64, 128, 64 },
	};
	uint32_t i;
	int fd = rk_open();

	ASSERT_LE(0, fd);
	for (i = 0; i < ARRAY_SIZE(s); i++) {
		struct mm mm = { .types = s[i].types, .m = s[i].m, .k = s[i].k, .n = s[i].n,
				 .mult = s[i].types == DRM_RKMM_I8I8 };
		struct drm_rkmm_submit submit;
		struct drm_rkmm_op op;
		struct buf *b[3] = { &mm.a, &mm.b, &mm.c };
		uint64_t size[3], *off[3] = { &mm.a_off, &mm.b_off, &mm.c_off };
		int j;

		if (mm.types == DRM_RKMM_I8I8)
			mm.shift = 8;
		ASSERT_EQ(0, mm_init(&mm, fd, i));
		/* move every operand to the very end of its buffer */
		size[0] = mm.plan.a.size;
		size[1] = mm.plan.b.size;
		size[2] = mm.plan.c.size;
		for (j = 0; j < 3; j++) {
			uint64_t end = (b[j]->size - size[j]) & ~63ull;

			memmove(b[j]->map + end, b[j]->map + *off[j], size[j]);
			*off[j] = end;
			if (j < 2)
				ASSERT_EQ(0, buf_end_write(b[j]));
		}
		ASSERT_EQ(0, mm_new_c(&mm));
		op = mm_op(&mm);
		submit_init(&submit, &op, 1);
		ASSERT_EQ(0, rk_submit(fd, &submit));
		EXPECT_EQ(0, rk_result(fd, submit.seqno));
		EXPECT_EQ(0, mm_check(&mm)) {
			TH_LOG("%s", mm.msg);
		}
		mm_free(&mm);
	}
	close(fd);
}

RKMM_TEST_MAIN
