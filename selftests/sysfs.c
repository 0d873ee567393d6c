// SPDX-License-Identifier: GPL-2.0
/* Do the totals in sysfs tell the truth, to everybody, and debugfs nothing to anybody but root? */
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "../kselftest_harness.h"
#include "rkmm_test.h"

static const char *const files[] = {
	"busy_ns", "clients", "clock_hz", "envelope", "jobs", "lost_irqs", "mode_changes",
	"mode_changes_avoided", "mode_resets", "modes", "power_cycles", "queued", "reset", "resets",
	"resets_forced", "stagings", "states", "switches", "switches_avoided",
};

FIXTURE(sysfs) {
	int fd;
	struct mm mm;
	char dir[200];
};

FIXTURE_SETUP(sysfs)
{
	struct stat st;

	self->fd = rk_open();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, fstat(self->fd, &st));
	snprintf(self->dir, sizeof(self->dir), "/sys/dev/char/%u:%u/device/../rkmm",
		 (unsigned int)(st.st_rdev >> 8), (unsigned int)(st.st_rdev & 0xff));
	self->mm = (struct mm) { .types = DRM_RKMM_I8I32, .m = 12, .k = 200, .n = 70, .cores = 2 };
	ASSERT_EQ(0, mm_init(&self->mm, self->fd, 1));
}

FIXTURE_TEARDOWN(sysfs)
{
	mm_free(&self->mm);
	close(self->fd);
}

static int text_of(const char *dir, const char *name, char *text, size_t size)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return file_read(path, text, size);
}

static long long number_of(const char *dir, const char *name)
{
	char text[64], *end;
	long long v;

	if (text_of(dir, name, text, sizeof(text)) <= 0)
		return -1;
	v = strtoll(text, &end, 10);
	return strcmp(end, "\n") ? -2 : v;
}

static bool three_numbers(const char *dir, const char *name, unsigned long long v[3])
{
	char text[128];
	int n;

	if (text_of(dir, name, text, sizeof(text)) <= 0)
		return false;
	n = sscanf(text, "%llu %llu %llu\n", &v[0], &v[1], &v[2]);
	return n == 3;
}

/* All that is documented is there, and nothing else */
TEST_F(sysfs, files)
{
	struct dirent *e;
	uint32_t i, n = 0;
	DIR *d;

	d = opendir(self->dir);
	ASSERT_NE(NULL, d);
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		for (i = 0; i < ARRAY_SIZE(files); i++)
			if (!strcmp(files[i], e->d_name))
				break;
		EXPECT_LT(i, ARRAY_SIZE(files)) {
			TH_LOG("%s", e->d_name);
		}
		n++;
	}
	closedir(d);
	EXPECT_EQ(ARRAY_SIZE(files), n);
}

/* Counters against what was done here; other clients can only add to them. */
TEST_F(sysfs, counts)
{
	unsigned long long was[3], now[3];
	struct drm_rkmm_device_info info;
	char text[128];
	long long jobs, clients;
	int other, i;

	jobs = number_of(self->dir, "jobs");
	clients = number_of(self->dir, "clients");
	ASSERT_LE(0, jobs);
	EXPECT_LE(1, clients);
	ASSERT_TRUE(three_numbers(self->dir, "busy_ns", was));
	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, mm_run(&self->mm));
	EXPECT_EQ(jobs + 5, number_of(self->dir, "jobs"));
	EXPECT_EQ(0, number_of(self->dir, "queued"));
	ASSERT_TRUE(three_numbers(self->dir, "busy_ns", now));
	/* the plan has core 1 alone */
	EXPECT_EQ(was[0], now[0]);
	EXPECT_LT(was[1], now[1]);
	EXPECT_EQ(was[2], now[2]);
	ASSERT_LT(0, text_of(self->dir, "modes", text, sizeof(text)));
	strtok(text, " ");
	EXPECT_STREQ("int8", strtok(NULL, " "));
	ASSERT_LT(0, text_of(self->dir, "states", text, sizeof(text)));
	EXPECT_STREQ("idle idle idle\n", text);
	ASSERT_EQ(0, rk_device(self->fd, &info));
	EXPECT_EQ(info.clock_hz, number_of(self->dir, "clock_hz"));
	EXPECT_EQ(info.resets, number_of(self->dir, "resets"));
	EXPECT_EQ(info.jobs, number_of(self->dir, "jobs"));

	other = rk_open();
	ASSERT_LE(0, other);
	EXPECT_EQ(clients + 1, number_of(self->dir, "clients"));
	close(other);
	EXPECT_EQ(clients, number_of(self->dir, "clients"));
}

/* Jobs that wait are queued, here and in fdinfo. */
TEST_F(sysfs, queued)
{
	struct drm_rkmm_op op = mm_op(&self->mm);
	struct drm_rkmm_sync in = { 0 };
	struct drm_rkmm_submit s;
	struct gate gate;
	char path[64];
	int i;

	if (gate_init(&gate))
		SKIP(return, "vgem is missing");
	ASSERT_EQ(0, gate_shut(&gate));
	ASSERT_EQ(0, gate_syncobj(&gate, self->fd, &in.handle));
	for (i = 0; i < 4; i++) {
		submit_init(&s, &op, 1);
		submit_syncs(&s, &in, !i, NULL, 0);
		ASSERT_EQ(0, rk_submit(self->fd, &s));
	}
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", self->fd);
	EXPECT_EQ(4, number_of(self->dir, "queued"));
	EXPECT_EQ(4, file_number(path, "rkmm-queued:"));
	EXPECT_EQ(0, file_number(path, "rkmm-jobs:"));
	ASSERT_EQ(0, gate_open(&gate));
	ASSERT_EQ(0, rk_result(self->fd, s.seqno));
	EXPECT_EQ(0, number_of(self->dir, "queued"));
	EXPECT_EQ(0, file_number(path, "rkmm-queued:"));
	EXPECT_EQ(4, file_number(path, "rkmm-jobs:"));
	gate_free(&gate);
}

/* Folders of debugfs that belong to us are closed to others, file by file. */
static int open_to_others(const char *dir, int depth)
{
	char path[512];
	struct dirent *e;
	struct stat st;
	int n = 0;
	DIR *d = opendir(dir);

	while (d && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		if (lstat(path, &st))
			continue;
		if (S_ISDIR(st.st_mode) && depth)
			n += open_to_others(path, depth - 1);
		else if (S_ISREG(st.st_mode) && st.st_mode & 077 &&
			 /* the DRM core's own */
			 strcmp(e->d_name, "clients") && strcmp(e->d_name, "gem_names") &&
			 strcmp(e->d_name, "name"))
			n += !!fprintf(stderr, "# %s\n", path);
	}
	if (d)
		closedir(d);
	return n;
}

/* Nobody in particular: every file of sysfs can be read, none written; debugfs is shut. */
TEST_F(sysfs, unprivileged)
{
	char path[300], text[256];
	int status, fd;
	uint32_t i;
	pid_t pid;

	if (getuid())
		SKIP(return, "not root");
	EXPECT_EQ(0, open_to_others("/sys/kernel/debug/dri", 2));
	EXPECT_EQ(0, open_to_others("/sys/kernel/debug/rkmm_soft", 3));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		if (setgroups(0, NULL) || setgid(65534) || setuid(65534))
			_exit(100);
		for (i = 0; i < ARRAY_SIZE(files); i++) {
			/* for root alone */
			bool hidden = !strcmp(files[i], "reset") || !strcmp(files[i], "envelope");

			if ((text_of(self->dir, files[i], text, sizeof(text)) > 0) == hidden)
				_exit(1 + i);
			snprintf(path, sizeof(path), "%s/%s", self->dir, files[i]);
			fd = open(path, O_WRONLY);
			if (fd >= 0)
				_exit(50 + i);
		}
		if (open("/sys/kernel/debug/rkmm_soft/errors/total", O_RDONLY) >= 0)
			_exit(101);
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status >> 8);
	/* root may not write either */
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", self->dir, files[i]);
		EXPECT_GT(0, file_write(path, "0"));
	}
}

RKMM_TEST_MAIN
