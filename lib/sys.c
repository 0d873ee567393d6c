// SPDX-License-Identifier: MIT
#include "lib/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * The few DRM ioctls that are needed are called directly: a board's image then
 * needs no libdrm, and a client may still use libdrm on rkmm_fd().
 */
#include "rkmm_drm.h"

int rkmm_sys_open(const char *path)
{
	int fd;

	do {
		fd = open(path, O_RDWR | O_CLOEXEC);
	} while (fd < 0 && errno == EINTR);
	return fd < 0 ? -errno : fd;
}

int rkmm_sys_node(unsigned int i, char *path, size_t size)
{
	static const char dir[] = "/dev/dri";
	struct dirent *e;
	int len = -1;
	DIR *d;

	d = opendir(dir);
	if (!d)
		return -ENOENT;
	while ((e = readdir(d))) {
		if (strncmp(e->d_name, "renderD", 7))
			continue;
		if (!i--) {
			len = snprintf(path, size, "%s/%s", dir, e->d_name);
			break;
		}
	}
	closedir(d);
	return len < 0 || (size_t)len >= size ? -ENOENT : 0;
}

void rkmm_sys_close(int fd)
{
	close(fd);
}

int rkmm_sys_ioctl(int fd, unsigned long request, void *arg)
{
	int ret;

	do {
		ret = ioctl(fd, request, arg);
	} while (ret < 0 && (errno == EINTR || errno == EAGAIN));
	return ret < 0 ? -errno : 0;
}

int rkmm_sys_version(int fd, char *name, size_t size, int *major, int *minor)
{
	struct drm_version v = { .name = name, .name_len = size - 1 };
	int ret = rkmm_sys_ioctl(fd, DRM_IOCTL_VERSION, &v);

	if (ret)
		return ret;
	/* The length is that of the whole name, whatever was copied. */
	name[v.name_len < size ? v.name_len : size - 1] = '\0';
	*major = v.version_major;
	*minor = v.version_minor;
	return 0;
}

int rkmm_sys_prime_export(int fd, uint32_t handle, int *dmabuf_fd)
{
	struct drm_prime_handle req = {
		.handle = handle,
		.flags = DRM_CLOEXEC | DRM_RDWR,
		.fd = -1,
	};
	int ret = rkmm_sys_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &req);

	*dmabuf_fd = req.fd;
	return ret;
}

int rkmm_sys_prime_import(int fd, int dmabuf_fd, uint32_t *handle)
{
	struct drm_prime_handle req = { .fd = dmabuf_fd };
	int ret = rkmm_sys_ioctl(fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &req);

	*handle = req.handle;
	return ret;
}

void *rkmm_sys_mmap(int fd, uint64_t size, uint64_t offset, int *err)
{
	void *ptr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);

	if (ptr == MAP_FAILED) {
		*err = -errno;
		return NULL;
	}
	*err = 0;
	return ptr;
}

void rkmm_sys_munmap(void *ptr, uint64_t size)
{
	munmap(ptr, size);
}
