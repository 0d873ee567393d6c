// SPDX-License-Identifier: GPL-2.0
/* Device, system files, buffers, submissions and fences for the selftests. */
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <drm_mode.h>
#include "rkmm_test.h"

/* vgem_drm.h is not everywhere where drm.h is */
struct vgem_fence_attach {
	uint32_t handle;
	uint32_t flags;
	uint32_t out_fence;
	uint32_t pad;
};

struct vgem_fence_signal {
	uint32_t fence;
	uint32_t flags;
};

#define VGEM_FENCE_WRITE	1
#define VGEM_FENCE_ATTACH	DRM_IOWR(DRM_COMMAND_BASE + 1, struct vgem_fence_attach)
#define VGEM_FENCE_SIGNAL	DRM_IOW(DRM_COMMAND_BASE + 2, struct vgem_fence_signal)

/* since Linux 6.0; the headers of the build machine may be older */
struct export_sync_file {
	uint32_t flags;
	int32_t fd;
};

#define EXPORT_SYNC_FILE	_IOWR(DMA_BUF_BASE, 2, struct export_sync_file)

int xioctl(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) < 0 ? -errno : 0;
}

int node_open(const char *driver, const char *prefix)
{
	int first = strcmp(prefix, "card") ? 128 : 0;
	int i;

	for (i = first; i < first + 64; i++) {
		char path[64], name[32] = "";
		struct drm_version v = { .name = name, .name_len = sizeof(name) - 1 };
		int fd;

		snprintf(path, sizeof(path), "/dev/dri/%s%d", prefix, i);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (!xioctl(fd, DRM_IOCTL_VERSION, &v) && !strcmp(name, driver))
			return fd;
		close(fd);
	}
	return -ENODEV;
}

int rk_open(void)
{
	return node_open(DRM_RKMM_NAME, "renderD");
}

static int query(int fd, uint32_t id, void *answer, uint32_t size)
{
	struct drm_rkmm_query q = {
		.id = id, .size = size, .pointer = (uintptr_t)answer,
	};

	return xioctl(fd, DRM_IOCTL_RKMM_QUERY, &q);
}

int rk_device(int fd, struct drm_rkmm_device_info *info)
{
	return query(fd, DRM_RKMM_QUERY_DEVICE, info, sizeof(*info));
}

int rk_client(int fd, struct drm_rkmm_client_info *info)
{
	return query(fd, DRM_RKMM_QUERY_CLIENT, info, sizeof(*info));
}

bool rk_is_soft(int fd)
{
	struct drm_rkmm_device_info info;

	return !rk_device(fd, &info) && (info.flags & DRM_RKMM_DEVICE_SOFT);
}

int64_t after(int64_t ns)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SEC + t.tv_nsec + ns;
}

void msleep(unsigned int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000l };

	while (nanosleep(&t, &t) < 0 && errno == EINTR)
		;
}

/* --- files of the system --------------------------------------------------- */

int file_read(const char *path, char *text, size_t size)
{
	size_t n = 0;
	ssize_t got;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	while (n < size - 1 && (got = read(fd, text + n, size - 1 - n)) > 0)
		n += got;
	close(fd);
	text[n] = 0;
	return n;
}

int file_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

long long file_number(const char *path, const char *key)
{
	static char text[65536];
	const char *at = text;
	int ret = file_read(path, text, sizeof(text));

	if (ret < 0)
		return ret;
	if (key) {
		at = strstr(text, key);
		if (!at)
			return -ENOENT;
		at += strlen(key);
	}
	return strtoll(at, NULL, 0);
}

long long module_refs(void)
{
	return file_number("/sys/module/rkmm/refcnt", NULL);
}

long long module_refs_settle(long long want)
{
	long long refs;
	int i;

	for (i = 0; i < 3000; i++) {
		refs = module_refs();
		if (refs <= want)
			break;
		msleep(10);
	}
	return refs;
}

int kmsg_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	lseek(fd, 0, SEEK_END);
	return fd;
}

int kmsg_count(int fd, int level, const char *a, const char *b, char *last, size_t size)
{
	char record[8192];
	int count = 0;
	ssize_t n;

	for (;;) {
		char *text;

		n = read(fd, record, sizeof(record) - 1);
		if (n < 0 && errno == EPIPE)	/* overwritten before it was read */
			continue;
		if (n <= 0)
			break;
		record[n] = 0;
		text = strchr(record, ';');
		if (!text || (atoi(record) & 7) > level)
			continue;
		if (!strstr(text, a) || (b && !strstr(text, b)))
			continue;
		count++;
		if (last)
			snprintf(last, size, "%s", text + 1);
	}
	return count;
}

/* --- buffers -------------------------------------------------------------- */

int gem_close(int fd, uint32_t handle)
{
	struct drm_gem_close c = { .handle = handle };

	return xioctl(fd, DRM_IOCTL_GEM_CLOSE, &c);
}

int buf_create(int fd, uint64_t size, struct buf *buf)
{
	struct drm_rkmm_bo_create c = { .size = size };
	void *map;
	int ret;

	memset(buf, 0, sizeof(*buf));
	ret = xioctl(fd, DRM_IOCTL_RKMM_BO_CREATE, &c);
	if (ret)
		return ret;
	map = mmap(NULL, c.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, c.mmap_offset);
	if (map == MAP_FAILED) {
		ret = -errno;
		gem_close(fd, c.handle);
		return ret;
	}
	buf->fd = fd;
	buf->handle = c.handle;
	buf->size = c.size;
	buf->offset = c.mmap_offset;
	buf->map = map;
	return 0;
}

void buf_free(struct buf *buf)
{
	if (buf->map)
		munmap(buf->map, buf->size);
	if (buf->handle)
		gem_close(buf->fd, buf->handle);
	memset(buf, 0, sizeof(*buf));
}

int bo_sync(int fd, uint32_t handle, uint32_t flags, uint64_t offset, uint64_t size)
{
	struct drm_rkmm_bo_sync s = {
		.handle = handle, .flags = flags, .offset = offset, .size = size,
	};

	return xioctl(fd, DRM_IOCTL_RKMM_BO_SYNC, &s);
}

int buf_begin_read(struct buf *buf)
{
	return bo_sync(buf->fd, buf->handle, DRM_RKMM_SYNC_READ, 0, buf->size);
}

int buf_end_write(struct buf *buf)
{
	return bo_sync(buf->fd, buf->handle, DRM_RKMM_SYNC_WRITE | DRM_RKMM_SYNC_END, 0,
		       buf->size);
}

/* --- submissions ---------------------------------------------------------------- */

void submit_init(struct drm_rkmm_submit *s, const struct drm_rkmm_op *ops, uint32_t nops)
{
	memset(s, 0, sizeof(*s));
	s->ops.stride = sizeof(*ops);
	s->ops.count = nops;
	s->ops.array = (uintptr_t)ops;
}

void submit_syncs(struct drm_rkmm_submit *s, const struct drm_rkmm_sync *in, uint32_t nin,
		  const struct drm_rkmm_sync *out, uint32_t nout)
{
	if (nin) {
		s->in_syncs.stride = sizeof(*in);
		s->in_syncs.count = nin;
		s->in_syncs.array = (uintptr_t)in;
	}
	if (nout) {
		s->out_syncs.stride = sizeof(*out);
		s->out_syncs.count = nout;
		s->out_syncs.array = (uintptr_t)out;
	}
}

int rk_submit(int fd, struct drm_rkmm_submit *s)
{
	return xioctl(fd, DRM_IOCTL_RKMM_SUBMIT, s);
}

int rk_wait(int fd, uint64_t seqno, int64_t deadline, int *err)
{
	struct drm_rkmm_wait w = { .seqno = seqno, .deadline_ns = deadline };
	int ret = xioctl(fd, DRM_IOCTL_RKMM_WAIT, &w);

	if (err)
		*err = ret;
	return ret ? 0 : w.result;
}

int rk_result(int fd, uint64_t seqno)
{
	int64_t deadline = after(100 * SEC);
	int err, result;

	do
		result = rk_wait(fd, seqno, deadline, &err);
	while (err == -EINTR);
	return err ? err : result;
}

/* --- syncobjs, fences ----------------------------------------------------------- */

int syncobj_create(int fd, uint32_t *handle)
{
	struct drm_syncobj_create c = { 0 };
	int ret = xioctl(fd, DRM_IOCTL_SYNCOBJ_CREATE, &c);

	*handle = c.handle;
	return ret;
}

int syncobj_destroy(int fd, uint32_t handle)
{
	struct drm_syncobj_destroy d = { .handle = handle };

	return xioctl(fd, DRM_IOCTL_SYNCOBJ_DESTROY, &d);
}

int syncobj_wait(int fd, uint32_t handle, uint64_t point, int64_t deadline)
{
	struct drm_syncobj_timeline_wait w = {
		.handles = (uintptr_t)&handle, .points = (uintptr_t)&point,
		.timeout_nsec = deadline, .count_handles = 1,
		.flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT,
	};
	int ret;

	do
		ret = xioctl(fd, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &w);
	while (ret == -EINTR);
	return ret;
}

int syncobj_export(int fd, uint32_t handle)
{
	struct drm_syncobj_handle h = {
		.handle = handle, .flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE,
	};
	int ret = xioctl(fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &h);

	return ret ? ret : h.fd;
}

int syncobj_import(int fd, uint32_t handle, int sync_file)
{
	struct drm_syncobj_handle h = {
		.handle = handle, .flags = DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE,
		.fd = sync_file,
	};

	return xioctl(fd, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &h);
}

int sync_file_status(int sync_file)
{
	struct sync_fence_info fence[8];
	struct sync_file_info info;
	int ret;

	memset(&info, 0, sizeof(info));
	info.num_fences = 8;
	info.sync_fence_info = (uintptr_t)fence;
	ret = xioctl(sync_file, SYNC_IOC_FILE_INFO, &info);
	return ret ? ret : info.status;
}

int sync_file_wait(int sync_file, int timeout_ms)
{
	struct pollfd p = { .fd = sync_file, .events = POLLIN };
	int n;

	do
		n = poll(&p, 1, timeout_ms);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n == 0 ? -ETIME : 0;
}

int gate_init(struct gate *g)
{
	struct drm_mode_create_dumb dumb = { .width = 16384, .height = 4, .bpp = 8 };
	struct drm_prime_handle prime = { .flags = DRM_CLOEXEC | DRM_RDWR };
	int ret;

	memset(g, 0, sizeof(*g));
	g->dmabuf = g->sync_file = -1;
	g->vgem = node_open("vgem", "card");
	if (g->vgem < 0 && !system("modprobe -q vgem >/dev/null 2>&1"))
		g->vgem = node_open("vgem", "card");
	if (g->vgem < 0)
		return -ENODEV;
	ret = xioctl(g->vgem, DRM_IOCTL_MODE_CREATE_DUMB, &dumb);
	if (ret)
		goto fail;
	g->handle = prime.handle = dumb.handle;
	g->size = dumb.size;
	ret = xioctl(g->vgem, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime);
	if (ret)
		goto fail;
	g->dmabuf = prime.fd;
	return 0;
fail:
	gate_free(g);
	return ret;
}

int gate_shut(struct gate *g)
{
	struct vgem_fence_attach attach = { .handle = g->handle, .flags = VGEM_FENCE_WRITE };
	struct export_sync_file export = { .flags = DMA_BUF_SYNC_READ };
	int ret;

	ret = xioctl(g->vgem, VGEM_FENCE_ATTACH, &attach);
	if (ret)
		return ret;
	g->fence = attach.out_fence;
	ret = xioctl(g->dmabuf, EXPORT_SYNC_FILE, &export);
	if (ret)
		return ret;
	if (g->sync_file >= 0)
		close(g->sync_file);
	g->sync_file = export.fd;
	return 0;
}

int gate_open(struct gate *g)
{
	struct vgem_fence_signal s = { .fence = g->fence };

	g->fence = 0;
	return xioctl(g->vgem, VGEM_FENCE_SIGNAL, &s);
}

void gate_free(struct gate *g)
{
	if (g->fence)
		gate_open(g);
	if (g->sync_file >= 0)
		close(g->sync_file);
	if (g->dmabuf >= 0)
		close(g->dmabuf);
	if (g->vgem >= 0)
		close(g->vgem);
	memset(g, 0, sizeof(*g));
	g->vgem = g->dmabuf = g->sync_file = -1;
}

int gate_syncobj(struct gate *g, int fd, uint32_t *handle)
{
	int ret = syncobj_create(fd, handle);

	return ret ? ret : syncobj_import(fd, *handle, g->sync_file);
}

/* --- knobs of the software NPU ---------------------------------------------------- */

int soft_fault(const char *rules)
{
	return file_write("/sys/module/rkmm_soft/parameters/faults", rules);
}

long long soft_errors(void)
{
	long long n = file_number("/sys/kernel/debug/rkmm_soft/errors/total", NULL);

	return n < 0 ? 0 : n;
}
