// SPDX-License-Identifier: GPL-2.0
/*
 * May the device and the module go away at any time? Needs root. The module is
 * taken out and put back in with its default parameters.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include "../kselftest_harness.h"
#include "rkmm_test.h"

#define CASE_TIMEOUT	240
#define DRIVER		"/sys/bus/platform/drivers/rkmm"

static int device_name(char *name, size_t size)
{
	DIR *dir = opendir(DRIVER);
	struct dirent *d;
	char path[512];
	int ret = -ENODEV;

	if (!dir)
		return -errno;
	while (ret && (d = readdir(dir))) {
		snprintf(path, sizeof(path), DRIVER "/%s/driver", d->d_name);
		if (access(path, F_OK))
			continue;
		snprintf(name, size, "%s", d->d_name);
		ret = 0;
	}
	closedir(dir);
	return ret;
}

static int device_bind(const char *name)
{
	return file_write(DRIVER "/bind", name);
}

static int device_unbind(const char *name)
{
	return file_write(DRIVER "/unbind", name);
}

/* Another job by a new client: is all well? */
static int fresh_client(uint64_t seed)
{
	struct mm mm = { .types = DRM_RKMM_I8I32, .m = 7, .k = 90, .n = 40 };
	int fd = rk_open(), ret;

	if (fd < 0)
		return fd;
	ret = mm_init(&mm, fd, seed);
	if (!ret)
		ret = mm_run(&mm);
	mm_free(&mm);
	close(fd);
	return ret;
}

FIXTURE(unbind) {
	char name[256];
	struct gate gate;
};

FIXTURE_SETUP(unbind)
{
	self->gate.vgem = self->gate.dmabuf = self->gate.sync_file = -1;
	ASSERT_EQ(0, device_name(self->name, sizeof(self->name)));
	if (access(DRIVER "/unbind", W_OK)) {
		self->name[0] = 0;
		SKIP(return, "not root");
	}
}

FIXTURE_TEARDOWN(unbind)
{
	char name[256];

	gate_free(&self->gate);
	if (self->name[0] && device_name(name, sizeof(name)))
		device_bind(self->name);
}

/*
 * Writes a byte to @ready once it has what it needs, and submits until the device is gone; 0 when
 * all it saw was in order.
 */
static int load(uint64_t seed, bool waits, int ready)
{
	struct mm mm = { .types = DRM_RKMM_I8I32, .m = 20, .k = 150, .n = 70 };
	struct drm_rkmm_op op;
	struct drm_rkmm_submit s;
	int fd = rk_open(), ret, result, err;
	uint64_t last = 0;

	if (fd < 0 || mm_init(&mm, fd, seed) || write(ready, "", 1) != 1)
		return 2;
	op = mm_op(&mm);
	for (;;) {
		submit_init(&s, &op, 1);
		if (waits) {
			s.flags = DRM_RKMM_SUBMIT_WAIT;
			s.deadline_ns = after(60 * SEC);
		}
		ret = rk_submit(fd, &s);
		if (ret)
			break;
		last = s.seqno;
		if (waits && (s.wait_status || s.result)) {
			ret = s.wait_status ? s.wait_status : s.result;
			break;
		}
		/* a few in flight */
		if (!waits && last > 4) {
			result = rk_wait(fd, last - 4, after(60 * SEC), &err);
			ret = err ? err : result;
			if (ret)
				break;
		}
	}
	if (ret != -ENODEV) {
		fprintf(stderr, "# ended with: %s\n", strerror(-ret));
		return 1;
	}
	/* everything says so from now on, and the process can still tidy up */
	if (rk_submit(fd, &s) != -ENODEV || mm_plan(&mm, fd) != -ENODEV ||
	    buf_end_write(&mm.a) != -ENODEV)
		return 3;
	mm.a.map[0]++;
	mm_free(&mm);
	close(fd);
	return 0;
}

TEST_F_TIMEOUT(unbind, under_load, CASE_TIMEOUT)
{
	long long refs = module_refs();
	int round, i, status, failed, ready[2];
	pid_t pid;
	char c;

	if (!self->name[0])
		return;
	ASSERT_EQ(0, pipe(ready));
	for (round = 0; round < 4; round++) {
		for (i = 0; i < 4; i++) {
			pid = fork();
			ASSERT_LE(0, pid);
			if (!pid)
				_exit(load(i, i & 1, ready[1]));
		}
		for (i = 0; i < 4; i++)
			ASSERT_EQ(1, read(ready[0], &c, 1));
		msleep(150 + 60 * round);
		EXPECT_EQ(0, device_unbind(self->name));
		EXPECT_GT(0, rk_open());
		for (failed = 0, i = 0; i < 4; i++) {
			ASSERT_LT(0, wait(&status));
			failed += !!status;
		}
		EXPECT_EQ(0, failed);
		ASSERT_EQ(0, device_bind(self->name));
		EXPECT_EQ(0, fresh_client(round));
	}
	close(ready[0]);
	close(ready[1]);
	if (refs >= 0) {
		EXPECT_EQ(refs, module_refs_settle(refs));
	}
}

/* Fences of jobs that ran, that ran no more, and that waited for somebody else's fence. */
TEST_F_TIMEOUT(unbind, fences_signal, CASE_TIMEOUT)
{
	struct mm mm = { .types = DRM_RKMM_I8I32, .m = 7, .k = 90, .n = 40 };
	struct drm_rkmm_sync in = { 0 }, out[2] = { 0 };
	struct drm_rkmm_submit s;
	struct drm_rkmm_op op;
	int fd, file[2], i;

	if (!self->name[0])
		return;
	if (gate_init(&self->gate))
		SKIP(return, "vgem is missing");
	ASSERT_EQ(0, gate_shut(&self->gate));
	fd = rk_open();
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, mm_init(&mm, fd, 3));
	op = mm_op(&mm);
	ASSERT_EQ(0, gate_syncobj(&self->gate, fd, &in.handle));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, syncobj_create(fd, &out[i].handle));
		submit_init(&s, &op, 1);
		submit_syncs(&s, &in, i, &out[i], 1);
		ASSERT_EQ(0, rk_submit(fd, &s));
		file[i] = syncobj_export(fd, out[i].handle);
		ASSERT_LE(0, file[i]);
		if (!i)
			ASSERT_EQ(0, rk_result(fd, s.seqno));
	}
	EXPECT_EQ(0, sync_file_status(file[1]));
	ASSERT_EQ(0, device_unbind(self->name));
	EXPECT_EQ(1, sync_file_status(file[0]));
	EXPECT_EQ(0, sync_file_wait(file[1], 60000));
	EXPECT_EQ(-ENODEV, sync_file_status(file[1]));
	/* the foreign fence signals when nobody is there any more */
	EXPECT_EQ(0, gate_open(&self->gate));
	mm_free(&mm);
	close(fd);
	close(file[0]);
	ASSERT_EQ(0, device_bind(self->name));
	EXPECT_EQ(-ENODEV, sync_file_status(file[1]));
	close(file[1]);
	EXPECT_EQ(0, fresh_client(1));
}

/* Buffers of a device that is gone: mapped pages stay, another driver's import too. */
TEST_F_TIMEOUT(unbind, buffers_stay, CASE_TIMEOUT)
{
	struct drm_prime_handle p = { .flags = DRM_CLOEXEC | DRM_RDWR }, q = { 0 };
	struct buf buf;
	int fd, i;

	if (!self->name[0])
		return;
	fd = rk_open();
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, buf_create(fd, 8192, &buf));
	for (i = 0; i < 8192; i++)
		buf.map[i] = i * 11;
	p.handle = buf.handle;
	ASSERT_EQ(0, xioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &p));
	ASSERT_EQ(0, device_unbind(self->name));
	for (i = 0; i < 8192; i++)
		if (buf.map[i] != (uint8_t)(i * 11))
			break;
	EXPECT_EQ(8192, i);
	if (!gate_init(&self->gate)) {
		q.fd = p.fd;
		EXPECT_EQ(0, xioctl(self->gate.vgem, DRM_IOCTL_PRIME_FD_TO_HANDLE, &q));
	}
	ASSERT_EQ(0, device_bind(self->name));
	/* the new instance of the device may use it */
	close(fd);
	fd = rk_open();
	ASSERT_LE(0, fd);
	q = (struct drm_prime_handle) { .fd = p.fd };
	i = xioctl(fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &q);
	EXPECT_TRUE(i == 0 || i == -ENODEV) {
		TH_LOG("import of the old device's buffer: %d", i);
	}
	close(p.fd);
	munmap(buf.map, buf.size);
	close(fd);
	EXPECT_EQ(0, fresh_client(2));
}

TEST_F_TIMEOUT(unbind, many_times, CASE_TIMEOUT)
{
	int i;

	if (!self->name[0])
		return;
	for (i = 0; i < 12; i++) {
		int fd = i % 3 ? rk_open() : -1;

		ASSERT_EQ(0, device_unbind(self->name));
		ASSERT_EQ(0, device_bind(self->name));
		if (fd >= 0)
			close(fd);
		EXPECT_EQ(0, fresh_client(i));
	}
}

/* --- the module -------------------------------------------------------------------- */

static int module_remove(void)
{
	return syscall(SYS_delete_module, "rkmm", O_NONBLOCK) ? -errno : 0;
}

static int module_insert(void)
{
	char command[512];
	struct utsname u;

	uname(&u);
	snprintf(command, sizeof(command),
		 "modprobe rkmm 2>/dev/null || insmod /lib/modules/%s/extra/rkmm.ko", u.release);
	return system(command) ? -ENOENT : 0;
}

static bool busy(int ret)
{
	/* EAGAIN is what the kernel says for a module in use */
	return ret == -EBUSY || ret == -EAGAIN;
}

FIXTURE(module) {
	bool removable;
};

FIXTURE_SETUP(module)
{
	/* leave alone what could not be put back */
	if (module_refs() < 0 || geteuid())
		SKIP(return, "no module, or not root");
	ASSERT_EQ(0, module_refs_settle(0));
	ASSERT_EQ(0, module_remove());
	if (module_insert())
		SKIP(return, "rkmm.ko is not installed: modprobe does not find it");
	self->removable = true;
}

FIXTURE_TEARDOWN(module)
{
	if (self->removable && module_refs() < 0)
		module_insert();
}

TEST_F_TIMEOUT(module, busy_with_an_open_file, CASE_TIMEOUT)
{
	int fd;

	if (!self->removable)
		return;
	fd = rk_open();
	ASSERT_LE(0, fd);
	EXPECT_TRUE(busy(module_remove()));
	close(fd);
	EXPECT_EQ(0, module_refs_settle(0));
	EXPECT_EQ(0, module_remove());
	ASSERT_EQ(0, module_insert());
	EXPECT_EQ(0, fresh_client(1));
}

TEST_F_TIMEOUT(module, busy_with_a_mapping, CASE_TIMEOUT)
{
	struct buf buf;
	int fd;

	if (!self->removable)
		return;
	fd = rk_open();
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, buf_create(fd, 4096, &buf));
	close(fd);
	buf.map[0] = 1;
	EXPECT_TRUE(busy(module_remove()));
	munmap(buf.map, buf.size);
	EXPECT_EQ(0, module_refs_settle(0));
	EXPECT_EQ(0, module_remove());
	ASSERT_EQ(0, module_insert());
}

/* The last holder is a dma-buf, then a sync_file of a job long done. */
TEST_F_TIMEOUT(module, busy_with_exports, CASE_TIMEOUT)
{
	struct mm mm = { .types = DRM_RKMM_I8I32, .m = 7, .k = 90, .n = 40 };
	struct drm_prime_handle p = { .flags = DRM_CLOEXEC };
	struct drm_rkmm_sync out = { 0 };
	struct drm_rkmm_submit s;
	struct drm_rkmm_op op;
	int fd, file;

	if (!self->removable)
		return;
	fd = rk_open();
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, mm_init(&mm, fd, 3));
	op = mm_op(&mm);
	ASSERT_EQ(0, syncobj_create(fd, &out.handle));
	submit_init(&s, &op, 1);
	submit_syncs(&s, NULL, 0, &out, 1);
	ASSERT_EQ(0, rk_submit(fd, &s));
	ASSERT_EQ(0, rk_result(fd, s.seqno));
	file = syncobj_export(fd, out.handle);
	ASSERT_LE(0, file);
	p.handle = mm.a.handle;
	ASSERT_EQ(0, xioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &p));
	mm_free(&mm);
	close(fd);

	msleep(200);
	EXPECT_TRUE(busy(module_remove()));
	close(p.fd);
	msleep(200);
	EXPECT_TRUE(busy(module_remove()));
	EXPECT_EQ(1, sync_file_status(file));
	close(file);
	EXPECT_EQ(0, module_refs_settle(0));
	EXPECT_EQ(0, module_remove());
	ASSERT_EQ(0, module_insert());
	EXPECT_EQ(0, fresh_client(2));
}

TEST_F_TIMEOUT(module, cycles, CASE_TIMEOUT)
{
	int i;

	if (!self->removable)
		return;
	for (i = 0; i < 8; i++) {
		ASSERT_EQ(0, module_refs_settle(0));
		ASSERT_EQ(0, module_remove());
		EXPECT_GT(0, rk_open());
		ASSERT_EQ(0, module_insert());
		EXPECT_EQ(0, fresh_client(i));
	}
}

RKMM_TEST_MAIN
