// SPDX-License-Identifier: MIT
#include "lib/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xf86drm.h>

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
	return drmIoctl(fd, request, arg) ? -errno : 0;
}

int rkmm_sys_version(int fd, char *name, size_t size, int *major, int *minor)
{
	drmVersionPtr v;

	errno = 0;
	v = drmGetVersion(fd);
	if (!v)
		return errno ? -errno : -ENOMEM;
	snprintf(name, size, "%s", v->name);
	*major = v->version_major;
	*minor = v->version_minor;
	drmFreeVersion(v);
	return 0;
}

int rkmm_sys_prime_export(int fd, uint32_t handle, int *dmabuf_fd)
{
	*dmabuf_fd = -1;
	return drmPrimeHandleToFD(fd, handle, DRM_CLOEXEC | DRM_RDWR, dmabuf_fd) ? -errno : 0;
}

int rkmm_sys_prime_import(int fd, int dmabuf_fd, uint32_t *handle)
{
	*handle = 0;
	return drmPrimeFDToHandle(fd, dmabuf_fd, handle) ? -errno : 0;
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
