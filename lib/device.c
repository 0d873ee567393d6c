// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/internal.h"
#include "lib/pool.h"

/* Major version of the ioctl interface this library speaks. */
#define RKMM_DRIVER_MAJOR	0

struct rkmm_device *rkmm_device_get(struct rkmm_device *dev)
{
	atomic_fetch_add_explicit(&dev->refs, 1, memory_order_relaxed);
	return dev;
}

void rkmm_device_put(struct rkmm_device *dev)
{
	if (atomic_fetch_sub_explicit(&dev->refs, 1, memory_order_acq_rel) != 1)
		return;
	rkmm_sys_close(dev->fd);
	pthread_mutex_destroy(&dev->lock);
	free(dev);
	rkmm_pool_put();
}

/* A node that the driver "rkmm" serves, or -errno. */
static int open_node(const char *path)
{
	int fd, major, minor, ret;
	char name[32];

	fd = rkmm_sys_open(path);
	if (fd < 0)
		return fd;
	ret = rkmm_sys_version(fd, name, sizeof(name), &major, &minor);
	if (!ret && strcmp(name, DRM_RKMM_NAME))
		ret = -ENODEV;
	if (!ret)
		return fd;
	rkmm_sys_close(fd);
	return ret == -ENOTTY || ret == -EINVAL ? -ENODEV : ret;
}

static int find_node(void)
{
	int ret = -ENODEV;
	char path[300];
	unsigned int i;
	int fd;

	for (i = 0; !rkmm_sys_node(i, path, sizeof(path)); i++) {
		fd = open_node(path);
		if (fd >= 0)
			return fd;
		/* A node we may not open could be the one: say so at the end. */
		if (fd == -EACCES || fd == -EPERM)
			ret = -EACCES;
	}
	return ret;
}

/* Older drivers answer less, newer ones more: the rest is zero or ignored. */
static int ask(struct rkmm_device *dev, uint32_t id, void *answer, uint32_t size,
	       uint32_t *have)
{
	struct drm_rkmm_query q = {
		.id = id,
		.size = size,
		.pointer = (uintptr_t)answer,
	};
	int ret;

	memset(answer, 0, size);
	ret = rkmm_sys_ioctl(dev->fd, DRM_IOCTL_RKMM_QUERY, &q);
	if (ret)
		return rkmm_fail_errno(ret, "query %u", id);
	if (have)
		*have = q.size < size ? q.size : size;
	return 0;
}

int rkmm_open(const char *path, struct rkmm_device **out)
{
	struct rkmm_device *dev;
	uint32_t have = 0;
	int fd, ret;

	if (!out)
		return rkmm_fail(-EINVAL, "open: no place for the device");
	*out = NULL;

	fd = path ? open_node(path) : find_node();
	if (fd == -ENODEV && path)
		return rkmm_fail(fd, "%s: not an rkmm device", path);
	if (fd == -ENODEV)
		return rkmm_fail(fd, "no render node of driver \"rkmm\": is rkmm.ko loaded?");
	if (fd == -EACCES && !path)
		return rkmm_fail(fd, "no rkmm device among the render nodes this user may open");
	if (fd < 0)
		return rkmm_fail_errno(fd, "open %s", path ? path : "render node");

	dev = calloc(1, sizeof(*dev));
	if (!dev) {
		rkmm_sys_close(fd);
		return rkmm_fail(-ENOMEM, "open: out of memory");
	}
	atomic_init(&dev->refs, 1);
	dev->fd = fd;
	pthread_mutex_init(&dev->lock, NULL);
	rkmm_pool_get();

	ret = ask(dev, DRM_RKMM_QUERY_DEVICE, &dev->info, sizeof(dev->info), NULL);
	if (ret)
		goto err;
	if (dev->info.version >> 16 != RKMM_DRIVER_MAJOR) {
		ret = rkmm_fail(-EPROTO, "rkmm driver %u.%u, this library needs %u.x",
				dev->info.version >> 16, dev->info.version & 0xffff,
				RKMM_DRIVER_MAJOR);
		goto err;
	}
	ret = ask(dev, DRM_RKMM_QUERY_TYPES, dev->types, sizeof(dev->types), &have);
	if (ret)
		goto err;
	dev->num_types = have / sizeof(dev->types[0]);
	*out = dev;
	return 0;
err:
	rkmm_device_put(dev);
	return ret;
}

void rkmm_close(struct rkmm_device *dev)
{
	if (dev)
		rkmm_device_put(dev);
}

int rkmm_fd(const struct rkmm_device *dev)
{
	return dev->fd;
}

int rkmm_device_info(struct rkmm_device *dev, struct drm_rkmm_device_info *info)
{
	return ask(dev, DRM_RKMM_QUERY_DEVICE, info, sizeof(*info), NULL);
}

int rkmm_client_info(struct rkmm_device *dev, struct drm_rkmm_client_info *info)
{
	return ask(dev, DRM_RKMM_QUERY_CLIENT, info, sizeof(*info), NULL);
}

int rkmm_type_info(struct rkmm_device *dev, uint32_t types, struct drm_rkmm_type_info *info)
{
	unsigned int i;

	for (i = 0; i < dev->num_types; i++) {
		if (dev->types[i].types == types) {
			*info = dev->types[i];
			return 0;
		}
	}
	return rkmm_fail(-EOPNOTSUPP, "%s: %s", dev->info.chip,
			 rkmm_reason_string(DRM_RKMM_REASON_TYPES));
}
