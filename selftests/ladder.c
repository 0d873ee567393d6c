// SPDX-License-Identifier: GPL-2.0
/*
 * How far does the driver go to get the cores back: reset lines, power, a core out of service, and
 * what is left when nothing helps. Documentation/recovery.rst has the rungs.
 *
 * Needs root, and the fault switches of the software NPU. Takes the device off the driver and back.
 */
#include <fcntl.h>
#include <linux/netlink.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "rkmm_test.h"

#define CASE_TIMEOUT	300
#define LOG_ERR		3
#define LOG_NOTICE	5
#define DEVICE		"rkmm-npu"
#define DRIVER		"/sys/bus/platform/drivers/rkmm/"
#define TOTALS		"/sys/bus/platform/devices/" DEVICE "/rkmm/"
#define ALL_OFF		"*.never_start=0,*.wedge=0,*.error_irq=0,*.reset_fail=0,*.power_fail=0,*.stall=0," \
			"*.partial_done=0,*.early_irq=0,*.spurious_irq=0"

FIXTURE(ladder) {
	int fd, kmsg;
	struct mm mm;
	long long resets, cycles, forced;
	bool soft;
};

static long long total(const char *name)
{
	char path[128], text[64] = "";

	snprintf(path, sizeof(path), TOTALS "%s", name);
	return file_read(path, text, sizeof(text)) > 0 ? strtoll(text, NULL, 10) : -1;
}

/* Anew, as after an update of the module: every core is back. */
static int bind_again(void)
{
	int ret = file_write(DRIVER "unbind", DEVICE);

	return ret ? ret : file_write(DRIVER "bind", DEVICE);
}

FIXTURE_SETUP(ladder)
{
	self->fd = self->kmsg = -1;
	if (soft_fault(ALL_OFF) || access(DRIVER "unbind", W_OK))
		SKIP(return, "no fault switches: not the software NPU, or not root");
	self->soft = true;
	ASSERT_EQ(0, bind_again());
	self->fd = rk_open();
	ASSERT_LE(0, self->fd);
	self->mm = (struct mm){ .types = DRM_RKMM_I8I32, .m = 9, .k = 100, .n = 50 };
	ASSERT_EQ(0, mm_init(&self->mm, self->fd, 1));
	ASSERT_EQ(0, mm_run(&self->mm));
	self->resets = total("resets");
	self->cycles = total("power_cycles");
	self->forced = total("resets_forced");
	ASSERT_LE(0, self->forced);
	self->kmsg = kmsg_open();
}

FIXTURE_TEARDOWN(ladder)
{
	if (!self->soft)
		return;
	soft_fault(ALL_OFF);
	if (self->fd >= 0) {
		mm_free(&self->mm);
		close(self->fd);
	}
	EXPECT_EQ(0, bind_again());
	self->fd = rk_open();
	EXPECT_EQ(0, self->fd < 0 ? self->fd : mm_init(&self->mm, self->fd, 2));
	EXPECT_EQ(0, self->fd < 0 ? self->fd : mm_run(&self->mm)) {
		TH_LOG("bound anew: %s", self->mm.msg);
	}
	if (self->fd >= 0) {
		mm_free(&self->mm);
		close(self->fd);
	}
	if (self->kmsg >= 0)
		close(self->kmsg);
}

/* A job allowed on @cores, its result, compared if there is one */
static int run(struct mm *mm, uint32_t cores)
{
	struct drm_rkmm_op op = mm_op(mm);
	struct drm_rkmm_submit s;
	int ret = mm_new_c(mm);

	submit_init(&s, &op, 1);
	s.cores = cores;
	if (!ret)
		ret = rk_submit(mm->fd, &s);
	if (!ret)
		ret = rk_result(mm->fd, s.seqno);
	return ret ? ret : mm_check(mm) ? -EBADMSG : 0;
}

/* The one line about the reset, which has @text */
#define SAID(level, text)							\
do {										\
	char line[400] = "";							\
										\
	if (self->kmsg >= 0) {							\
		EXPECT_EQ(1, kmsg_count(self->kmsg, level, "reset: cause=", NULL, line, \
					sizeof(line)));				\
		EXPECT_NE(NULL, strstr(line, text)) {				\
			TH_LOG("%s", line);					\
		}								\
	}									\
} while (0)

/* The known matmul behind the reset hangs too: lines were not enough, power is. */
TEST_F_TIMEOUT(ladder, known_hangs, CASE_TIMEOUT)
{
	if (!self->soft)
		return;
	ASSERT_EQ(0, soft_fault("0.never_start=2"));
	EXPECT_EQ(0, run(&self->mm, 1)) {
		TH_LOG("%s", self->mm.msg);
	}
	EXPECT_EQ(self->resets + 1, total("resets"));
	EXPECT_EQ(self->cycles + 1, total("power_cycles"));
	SAID(LOG_ERR, "cause=hang rung=power suspects=0x1 bad=0x0 off=0x0 ");
	/* once is chance: one rung, and no line beside the hang's */
	ASSERT_EQ(0, soft_fault("0.never_start=1"));
	EXPECT_EQ(0, run(&self->mm, 1));
	EXPECT_EQ(self->resets + 2, total("resets"));
	EXPECT_EQ(self->cycles + 1, total("power_cycles"));
	if (self->kmsg >= 0) {
		EXPECT_EQ(0, kmsg_count(self->kmsg, LOG_NOTICE, "reset: ", NULL, NULL, 0));
	}
}

/* What lines do not cure */
TEST_F_TIMEOUT(ladder, power_cures, CASE_TIMEOUT)
{
	if (!self->soft)
		return;
	ASSERT_EQ(0, soft_fault("1.wedge=1"));
	EXPECT_EQ(0, run(&self->mm, 2)) {
		TH_LOG("%s", self->mm.msg);
	}
	EXPECT_EQ(self->cycles + 1, total("power_cycles"));
	SAID(LOG_ERR, "rung=power suspects=0x2 bad=0x0 off=0x0 ");
}

/* A reset line of another core does not obey. */
TEST_F_TIMEOUT(ladder, line_fails, CASE_TIMEOUT)
{
	if (!self->soft)
		return;
	ASSERT_EQ(0, soft_fault("0.never_start=1,2.reset_fail=1"));
	EXPECT_EQ(0, run(&self->mm, 1)) {
		TH_LOG("%s", self->mm.msg);
	}
	EXPECT_EQ(self->cycles + 1, total("power_cycles"));
	SAID(LOG_ERR, "rung=power suspects=0x1 ");
}

/* A core that stays dead is left out; everybody goes on with the others. */
TEST_F_TIMEOUT(ladder, core_off, CASE_TIMEOUT)
{
	struct drm_rkmm_device_info info;
	struct mm big = { .types = DRM_RKMM_F16F32, .m = 1500, .k = 64, .n = 16,
			  .values = VALUES_SMALL_INT };
	char text[64] = "";
	int i;

	if (!self->soft)
		return;
	ASSERT_EQ(0, mm_init(&big, self->fd, 3));
	ASSERT_EQ(0, soft_fault("0.wedge=1000"));
	EXPECT_EQ(0, run(&self->mm, 3)) {
		TH_LOG("%s", self->mm.msg);
	}
	SAID(LOG_ERR, "rung=power suspects=0x1 bad=0x1 off=0x1 ");
	ASSERT_EQ(0, rk_device(self->fd, &info));
	EXPECT_EQ(6, info.core_mask);
	EXPECT_LT(0, file_read(TOTALS "states", text, sizeof(text)));
	EXPECT_STREQ("off idle idle\n", text);
	/* old plans and new ones, of one lane and of three */
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(0, run(&self->mm, 0));
		EXPECT_EQ(0, run(&big, 0)) {
			TH_LOG("%s", big.msg);
		}
	}
	/* who insists gets an answer */
	EXPECT_EQ(-ENODEV, run(&self->mm, 1));
	EXPECT_EQ(0, run(&self->mm, 5));
	EXPECT_EQ(self->cycles + 1, total("power_cycles"));
	/* a reset for another reason does not wake it */
	ASSERT_EQ(0, soft_fault("1.never_start=1"));
	EXPECT_EQ(0, run(&self->mm, 2));
	ASSERT_EQ(0, rk_device(self->fd, &info));
	EXPECT_EQ(6, info.core_mask);
	mm_free(&big);
	mm_free(&self->mm);
	close(self->fd);
	soft_fault(ALL_OFF);
	ASSERT_EQ(0, bind_again());
	self->fd = rk_open();
	ASSERT_EQ(0, mm_init(&self->mm, self->fd, 4));
	ASSERT_EQ(0, rk_device(self->fd, &info));
	EXPECT_EQ(7, info.core_mask);
	EXPECT_EQ(0, run(&self->mm, 1));
}

/* The kernel's events, of which udev sees the same */
static int uevents_open(void)
{
	struct sockaddr_nl addr = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&addr, sizeof(addr))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Is there an event with the string @text within ten seconds? */
static bool uevent_comes(int fd, const char *text)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char event[8192];
	ssize_t n;

	while (poll(&p, 1, 10000) > 0) {
		n = recv(fd, event, sizeof(event), MSG_DONTWAIT);
		/* with the NUL, so that it is the whole of a line */
		if (n > 0 && memmem(event, n, text, strlen(text) + 1))
			return true;
	}
	return false;
}

/* Power does not come back: everybody is told, nobody waits. */
TEST_F_TIMEOUT(ladder, wedged, CASE_TIMEOUT)
{
	int events = uevents_open();
	struct drm_rkmm_device_info info;
	struct drm_rkmm_submit s[3];
	struct drm_rkmm_op op;
	int i;

	if (!self->soft)
		return;
	ASSERT_EQ(0, soft_fault("0.wedge=1000,0.power_fail=1"));
	op = mm_op(&self->mm);
	for (i = 0; i < 3; i++) {
		submit_init(&s[i], &op, 1);
		s[i].cores = 1;
		ASSERT_EQ(0, rk_submit(self->fd, &s[i]));
	}
	for (i = 0; i < 3; i++)
		EXPECT_EQ(-ENODEV, rk_result(self->fd, s[i].seqno));
	SAID(LOG_ERR, "outcome=wedged");
	EXPECT_EQ(-ENODEV, rk_submit(self->fd, &s[0]));
	ASSERT_EQ(0, rk_device(self->fd, &info));
	EXPECT_EQ(0, info.core_mask);
	EXPECT_EQ(-ENODEV, file_write(TOTALS "reset", "1"));
	ASSERT_LE(0, events);
	EXPECT_TRUE(uevent_comes(events, "WEDGED=rebind"));
	close(events);
}

/* No core gives known results: likewise. */
TEST_F_TIMEOUT(ladder, no_core_left, CASE_TIMEOUT)
{
	if (!self->soft)
		return;
	ASSERT_EQ(0, soft_fault("*.wedge=1000"));
	EXPECT_EQ(-ENODEV, run(&self->mm, 1));
	SAID(LOG_ERR, "rung=power suspects=0x1 bad=0x7 off=0x0 ");
	EXPECT_EQ(-ENODEV, run(&self->mm, 0));
}

/* A reset that nobody needs: by root alone, and nothing that runs is lost. */
TEST_F_TIMEOUT(ladder, forced, CASE_TIMEOUT)
{
	struct drm_rkmm_client_info info;
	int i, status, ready[2];
	struct stat st;
	char c;
	pid_t pid;

	if (!self->soft)
		return;
	ASSERT_EQ(0, stat(TOTALS "reset", &st));
	EXPECT_EQ(0200, st.st_mode & 07777);
	EXPECT_EQ(-EINVAL, file_write(TOTALS "reset", "0"));
	EXPECT_EQ(-EINVAL, file_write(TOTALS "reset", "now"));
	EXPECT_EQ(self->resets, total("resets"));
	ASSERT_EQ(0, pipe(ready));
	pid = fork();
	if (!pid) {
		struct mm mm = { .types = DRM_RKMM_I8I32, .m = 33, .k = 70, .n = 40 };
		int fd = rk_open();

		close(ready[0]);
		if (fd < 0 || mm_init(&mm, fd, 5))
			_exit(1);
		for (i = 0; i < 100000; i++) {
			if (run(&mm, 0))
				_exit(2);
			/* until nobody reads any more */
			signal(SIGPIPE, SIG_IGN);
			if (write(ready[1], "", 1) != 1)
				_exit(rk_client(fd, &info) || info.guilty ? 3 : 0);
		}
		_exit(4);
	}
	close(ready[1]);
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(1, read(ready[0], &c, 1));
		EXPECT_EQ(0, file_write(TOTALS "reset", "1"));
	}
	close(ready[0]);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(self->resets + 5, total("resets"));
	EXPECT_EQ(self->forced + 5, total("resets_forced"));
	EXPECT_EQ(self->cycles, total("power_cycles"));
	EXPECT_EQ(0, run(&self->mm, 0));
	ASSERT_EQ(0, rk_client(self->fd, &info));
	EXPECT_EQ(0, info.guilty);
	if (self->kmsg >= 0) {
		EXPECT_EQ(5, kmsg_count(self->kmsg, LOG_NOTICE, "reset: cause=forced rung=lines ",
					"outcome=recovered", NULL, 0));
	}
}

/* Interrupts for nothing, before, in and behind a job; and one that has not all its bits yet */
TEST_F_TIMEOUT(ladder, odd_interrupts, CASE_TIMEOUT)
{
	struct mm big = { .types = DRM_RKMM_I8I32, .m = 1100, .k = 32, .n = 32 };
	char line[400] = "";
	int i;

	if (!self->soft)
		return;
	ASSERT_EQ(0, mm_init(&big, self->fd, 6));
	ASSERT_LT(1, big.plan.programs);
	ASSERT_EQ(0, soft_fault("*.early_irq=1000,*.spurious_irq=1000"));
	for (i = 0; i < 5; i++)
		EXPECT_EQ(0, run(&big, 1)) {
			TH_LOG("%s", big.msg);
		}
	EXPECT_EQ(self->resets, total("resets"));
	/* the bits of other blocks are no end */
	ASSERT_EQ(0, soft_fault("*.early_irq=0,*.spurious_irq=0,0.partial_done=1:1"));
	EXPECT_EQ(0, run(&big, 1)) {
		TH_LOG("%s", big.msg);
	}
	EXPECT_EQ(self->resets + 1, total("resets"));
	if (self->kmsg >= 0) {
		EXPECT_EQ(1, kmsg_count(self->kmsg, LOG_ERR, "hang: ", NULL, line, sizeof(line)));
		EXPECT_NE(NULL, strstr(line, "ff status=")) {
			TH_LOG("%s", line);
		}
	}
	mm_free(&big);
}

/* A matmul that hangs twice runs with other programs; a third time is one too many. */
TEST_F_TIMEOUT(ladder, fallback, CASE_TIMEOUT)
{
	struct mm big = { .types = DRM_RKMM_I8I32, .m = 1100, .k = 32, .n = 32 };
	char line[400] = "";

	if (!self->soft)
		return;
	ASSERT_EQ(0, mm_init(&big, self->fd, 7));
	/* a known-answer job would meet the faults that are meant for the client's */
	ASSERT_EQ(0, file_write("/sys/module/rkmm/parameters/suspect", "N"));
	ASSERT_EQ(0, file_write("/sys/module/rkmm/parameters/golden", "N"));
	ASSERT_EQ(0, soft_fault("0.never_start=2"));
	EXPECT_EQ(0, run(&big, 1)) {
		TH_LOG("%s", big.msg);
	}
	EXPECT_EQ(self->resets + 2, total("resets"));
	if (self->kmsg >= 0) {
		EXPECT_EQ(2, kmsg_count(self->kmsg, LOG_ERR, "hang: ", NULL, line, sizeof(line)));
		EXPECT_NE(NULL, strstr(line, " outcome=fallback ")) {
			TH_LOG("%s", line);
		}
	}
	/* those that it began with are still its own */
	EXPECT_EQ(0, run(&big, 1));
	ASSERT_EQ(0, soft_fault("0.never_start=3"));
	EXPECT_EQ(-EIO, run(&big, 1));
	EXPECT_EQ(self->resets + 5, total("resets"));
	/* in parts of three cores, two of which hang */
	ASSERT_EQ(0, soft_fault("0.never_start=2,1.never_start=2"));
	EXPECT_EQ(0, run(&big, 0)) {
		TH_LOG("%s", big.msg);
	}
	soft_fault(ALL_OFF);
	ASSERT_EQ(0, file_write("/sys/module/rkmm/parameters/golden", "Y"));
	ASSERT_EQ(0, file_write("/sys/module/rkmm/parameters/suspect", "Y"));
	mm_free(&big);
}

/* One start in four fails: every job ends, and what ends well is right. */
TEST_F_TIMEOUT(ladder, chance, CASE_TIMEOUT)
{
	int i, ret, good = 0;

	if (!self->soft)
		return;
	/* known results by chance would take cores away */
	ASSERT_EQ(0, file_write("/sys/module/rkmm/parameters/golden", "N"));
	ASSERT_EQ(0, file_write("/sys/module/rkmm/parameters/suspect", "N"));
	ASSERT_EQ(0, file_write("/sys/module/rkmm/parameters/ban_after", "0"));
	ASSERT_EQ(0, soft_fault("*.error_irq=0x1000:0:0:250"));
	for (i = 0; i < 40; i++) {
		ret = run(&self->mm, 1 << i % 3);
		EXPECT_TRUE(!ret || ret == -EIO) {
			TH_LOG("%d: %d", i, ret);
		}
		good += !ret;
	}
	/* chances of one in 10^5 */
	EXPECT_LT(self->resets + 1, total("resets"));
	EXPECT_LT(20, good);
	ASSERT_EQ(0, file_write("/sys/module/rkmm/parameters/golden", "Y"));
	ASSERT_EQ(0, file_write("/sys/module/rkmm/parameters/suspect", "Y"));
	ASSERT_EQ(0, file_write("/sys/module/rkmm/parameters/ban_after", "8"));
}

RKMM_TEST_MAIN
