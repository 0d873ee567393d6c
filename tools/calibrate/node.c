// SPDX-License-Identifier: MIT
/* The driver: its render node, and the table in sysfs. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "calibrate.h"
#include "tools/common/common.h"

#define NODES		64
#define TABLE_BYTES	4096	/* more than any table has: one write */

static bool is_rkmm(int fd)
{
	char name[16] = "";
	struct drm_version v = { .name = name, .name_len = sizeof(name) - 1 };

	return !ioctl(fd, DRM_IOCTL_VERSION, &v) && !strcmp(name, DRM_RKMM_NAME);
}

int node_open(const char *path)
{
	bool denied = false;
	char node[32];
	unsigned int i;
	int fd;

	for (i = 0; i < (path ? 1 : NODES); i++) {
		snprintf(node, sizeof(node), "/dev/dri/renderD%u", 128 + i);
		fd = open(path ? path : node, O_RDWR | O_CLOEXEC);
		if (fd >= 0 && is_rkmm(fd))
			return fd;
		if (fd >= 0)
			close(fd);
		else if (path)
			die(STATUS_FAILED, "%s: %s", path, strerror(errno));
		else
			denied |= errno == EACCES;
	}
	die(STATUS_FAILED, path ? "%s: not an rkmm device" :
	    denied ? "no rkmm device among the render nodes this user may open" :
		     "no render node of driver \"rkmm\": is rkmm.ko loaded?", path);
}

int node_probe(int fd, struct drm_rkmm_probe *args)
{
	return ioctl(fd, DRM_IOCTL_RKMM_PROBE, args) ? -errno : 0;
}

static int table_open(int fd, int flags)
{
	char path[80];
	struct stat st;
	int table;

	if (fstat(fd, &st))
		die(STATUS_FAILED, "render node: %s", strerror(errno));
	/* The parent of the node's device is the NPU. */
	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/device/../rkmm/envelope",
		 major(st.st_rdev), minor(st.st_rdev));
	table = open(path, flags | O_CLOEXEC);
	if (table < 0)
		die(STATUS_FAILED, "%s: %s", path, strerror(errno));
	return table;
}

/* Bytes up to @most, or -1 */
static ssize_t read_all(int fd, char *to, size_t most)
{
	size_t n = 0;
	ssize_t ret;

	do {
		ret = read(fd, to + n, most - n);
		n += ret > 0 ? (size_t)ret : 0;
	} while (ret > 0 && n < most);
	return ret < 0 ? -1 : (ssize_t)n;
}

static int write_all(int fd, const char *from, size_t bytes)
{
	ssize_t ret;

	for (; bytes; bytes -= (size_t)ret, from += ret) {
		ret = write(fd, from, bytes);
		if (ret <= 0)
			return -1;
	}
	return 0;
}

/* A file is there whole, or as it was. */
static int replace(const char *file, const char *text, size_t bytes)
{
	char next[4096];
	int fd, ret;

	if (!strcmp(file, "-"))
		return write_all(STDOUT_FILENO, text, bytes);
	if (snprintf(next, sizeof(next), "%s.new", file) >= (int)sizeof(next)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = open(next, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	ret = write_all(fd, text, bytes);
	if (!ret)
		ret = fsync(fd);
	if (close(fd))
		ret = -1;
	if (!ret)
		ret = rename(next, file);
	if (ret)
		unlink(next);
	return ret;
}

int node_export(int fd, const char *file)
{
	int table = table_open(fd, O_RDONLY);
	char text[TABLE_BYTES];
	ssize_t n = read_all(table, text, sizeof(text));

	close(table);
	if (n > 0 && !replace(file, text, (size_t)n))
		return STATUS_DONE;
	fprintf(stderr, "%s: %s: %s\n", program_name, file, strerror(errno));
	return STATUS_FAILED;
}

int node_import(int fd, const char *file)
{
	int from = strcmp(file, "-") ? open(file, O_RDONLY | O_CLOEXEC) : dup(STDIN_FILENO), table;
	char text[TABLE_BYTES + 1];
	ssize_t n;

	if (from < 0)
		die(STATUS_FAILED, "%s: %s", file, strerror(errno));
	n = read_all(from, text, sizeof(text));
	close(from);
	if (n < 0)
		die(STATUS_FAILED, "%s: %s", file, strerror(errno));
	table = table_open(fd, O_WRONLY);
	/* All of it at once, or the driver takes nothing. */
	if (n && n <= TABLE_BYTES && write(table, text, (size_t)n) == n) {
		close(table);
		return STATUS_DONE;
	}
	fprintf(stderr, "%s: %s: refused by the driver; the kernel's log says why\n",
		program_name, file);
	close(table);
	return STATUS_REFUSED;
}
