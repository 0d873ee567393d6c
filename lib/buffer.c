// SPDX-License-Identifier: MIT
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/internal.h"

static void gem_close(struct rkmm_device *dev, uint32_t handle)
{
	struct drm_gem_close req = { .handle = handle };

	rkmm_sys_ioctl(dev->fd, DRM_IOCTL_GEM_CLOSE, &req);
}

/* The device lock must be held. */
static struct rkmm_buffer *buffer_add(struct rkmm_device *dev, uint32_t handle, uint64_t size)
{
	struct rkmm_buffer *buf = calloc(1, sizeof(*buf));

	if (!buf)
		return NULL;
	buf->dev = rkmm_device_get(dev);
	buf->refs = 1;
	buf->handle = handle;
	buf->dmabuf_fd = -1;
	buf->size = size;
	buf->next = dev->buffers;
	dev->buffers = buf;
	return buf;
}

/* Names, nothing else: a temporary is told by its place here. */
static struct rkmm_buffer temporaries[DRM_RKMM_MAX_TEMPS];

struct rkmm_buffer *rkmm_temporary(uint32_t number)
{
	return number < DRM_RKMM_MAX_TEMPS ? &temporaries[number] : NULL;
}

bool rkmm_buffer_is_temporary(const struct rkmm_buffer *buf)
{
	uintptr_t first = (uintptr_t)temporaries, at = (uintptr_t)buf;

	return at >= first && at < first + sizeof(temporaries);
}

static int no_memory(void)
{
	return rkmm_fail(-EINVAL, "a temporary is memory of the driver");
}

int rkmm_buffer_create(struct rkmm_device *dev, uint64_t size, struct rkmm_buffer **out)
{
	struct drm_rkmm_bo_create req = { .size = size };
	struct rkmm_buffer *buf;
	int ret;

	*out = NULL;
	ret = rkmm_sys_ioctl(dev->fd, DRM_IOCTL_RKMM_BO_CREATE, &req);
	if (ret)
		return rkmm_fail_errno(ret, "buffer of %llu bytes", (unsigned long long)size);

	pthread_mutex_lock(&dev->lock);
	buf = buffer_add(dev, req.handle, req.size);
	if (buf)
		buf->mmap_offset = req.mmap_offset;
	else
		gem_close(dev, req.handle);
	pthread_mutex_unlock(&dev->lock);
	if (!buf)
		return rkmm_fail(-ENOMEM, "buffer: out of memory");
	*out = buf;
	return 0;
}

int rkmm_buffer_import(struct rkmm_device *dev, int dmabuf_fd, struct rkmm_buffer **out)
{
	struct rkmm_buffer *buf;
	uint32_t handle;
	off_t size;
	int own;
	int ret;

	*out = NULL;
	size = lseek(dmabuf_fd, 0, SEEK_END);
	if (size <= 0)
		return rkmm_fail_errno(size < 0 ? -errno : -EINVAL, "import: size of the dma-buf");
	own = fcntl(dmabuf_fd, F_DUPFD_CLOEXEC, 0);
	if (own < 0)
		return rkmm_fail_errno(-errno, "import");

	pthread_mutex_lock(&dev->lock);
	ret = rkmm_sys_prime_import(dev->fd, dmabuf_fd, &handle);
	if (ret) {
		rkmm_fail_errno(ret, "import of a dma-buf");
		goto out;
	}
	for (buf = dev->buffers; buf; buf = buf->next)
		if (buf->handle == handle)
			break;
	if (buf) {
		buf->refs++;
	} else {
		buf = buffer_add(dev, handle, (uint64_t)size);
		if (!buf) {
			gem_close(dev, handle);
			ret = rkmm_fail(-ENOMEM, "import: out of memory");
			goto out;
		}
		buf->dmabuf_fd = own;
		own = -1;
	}
	*out = buf;
out:
	pthread_mutex_unlock(&dev->lock);
	if (own >= 0)
		close(own);
	return ret;
}

int rkmm_buffer_export(struct rkmm_buffer *buf, int *dmabuf_fd)
{
	int ret;

	if (rkmm_buffer_is_temporary(buf))
		return no_memory();
	ret = rkmm_sys_prime_export(buf->dev->fd, buf->handle, dmabuf_fd);
	return ret ? rkmm_fail_errno(ret, "export of a buffer") : 0;
}

int rkmm_buffer_map(struct rkmm_buffer *buf, void **ptr)
{
	struct rkmm_device *dev = buf->dev;
	int ret = 0;

	if (rkmm_buffer_is_temporary(buf))
		return no_memory();
	pthread_mutex_lock(&dev->lock);
	if (!buf->ptr && buf->dmabuf_fd >= 0)
		buf->ptr = rkmm_sys_mmap(buf->dmabuf_fd, buf->size, 0, &ret);
	else if (!buf->ptr)
		buf->ptr = rkmm_sys_mmap(dev->fd, buf->size, buf->mmap_offset, &ret);
	*ptr = buf->ptr;
	pthread_mutex_unlock(&dev->lock);
	return ret ? rkmm_fail_errno(ret, "mapping of a buffer") : 0;
}

static int sync_range(struct rkmm_buffer *buf, uint64_t offset, uint64_t size, uint32_t flags,
		      int64_t deadline)
{
	struct drm_rkmm_bo_sync req = {
		.handle = buf->handle,
		.flags = flags,
		.offset = offset,
		.size = size,
		.deadline_ns = deadline,
	};
	int ret;

	if (rkmm_buffer_is_temporary(buf))
		return no_memory();
	ret = rkmm_sys_ioctl(buf->dev->fd, DRM_IOCTL_RKMM_BO_SYNC, &req);
	return ret ? rkmm_fail_errno(ret, "access to bytes %llu + %llu of a buffer",
				     (unsigned long long)offset, (unsigned long long)size) : 0;
}

/* The driver brackets the access to an imported buffer with its exporter itself. */
static bool access_valid(uint32_t access)
{
	return access && !(access & ~(uint32_t)(RKMM_READ | RKMM_WRITE));
}

int rkmm_buffer_begin(struct rkmm_buffer *buf, uint64_t offset, uint64_t size, uint32_t access,
		      int64_t timeout_ns)
{
	if (!access_valid(access))
		return rkmm_fail(-EINVAL, "buffer access 0x%x", access);
	return sync_range(buf, offset, size, access | DRM_RKMM_SYNC_WAIT,
			  rkmm_deadline(timeout_ns));
}

int rkmm_buffer_end(struct rkmm_buffer *buf, uint64_t offset, uint64_t size, uint32_t access)
{
	if (!access_valid(access))
		return rkmm_fail(-EINVAL, "buffer access 0x%x", access);
	return sync_range(buf, offset, size, access | DRM_RKMM_SYNC_END, 0);
}

uint64_t rkmm_buffer_size(const struct rkmm_buffer *buf)
{
	return buf->size;
}

uint32_t rkmm_buffer_handle(const struct rkmm_buffer *buf)
{
	return rkmm_buffer_is_temporary(buf) ? (uint32_t)(buf - temporaries) : buf->handle;
}

void rkmm_buffer_destroy(struct rkmm_buffer *buf)
{
	struct rkmm_device *dev;
	struct rkmm_buffer **p;
	bool last;

	if (!buf || rkmm_buffer_is_temporary(buf))
		return;
	dev = buf->dev;
	pthread_mutex_lock(&dev->lock);
	last = !--buf->refs;
	if (last) {
		for (p = &dev->buffers; *p != buf; p = &(*p)->next)
			;
		*p = buf->next;
		/* Under the lock: an import must not find the handle and lose it. */
		gem_close(dev, buf->handle);
	}
	pthread_mutex_unlock(&dev->lock);
	if (!last)
		return;
	if (buf->ptr)
		rkmm_sys_munmap(buf->ptr, buf->size);
	if (buf->dmabuf_fd >= 0)
		close(buf->dmabuf_fd);
	free(buf);
	rkmm_device_put(dev);
}
