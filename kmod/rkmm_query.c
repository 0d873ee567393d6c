// SPDX-License-Identifier: GPL-2.0-only
/* QUERY: facts about the device and the asking client. */
#include <drm/drm_drv.h>
#include <drm/drm_print.h>
#include <linux/uaccess.h>

#include "rkmm_drm.h"
#include "rkmm_job.h"

static void rkmm_query_device(struct rkmm_device *rdev, struct drm_rkmm_device_info *info)
{
	u32 i;

	strscpy(info->chip, rdev->soc->name, sizeof(info->chip));
	info->version = RKMM_VERSION_MAJOR << 16 | RKMM_VERSION_MINOR;
	if (rdev->soft)
		info->flags |= DRM_RKMM_DEVICE_SOFT;
	if (rdev->vm.strict)
		info->flags |= DRM_RKMM_DEVICE_STRICT;
	if (!rdev->soc->validated && !rdev->soft)
		info->flags |= DRM_RKMM_DEVICE_UNVALIDATED;
	info->cores = rdev->ncores;
	info->hw_version = rdev->hw_version;
	info->clock_hz = rkmm_power_rate(rdev);
	info->clock_max_hz = rdev->soc->max_hz;
	info->window_bytes = rdev->vm.bytes;

	spin_lock_irq(&rdev->sched.lock);
	for (i = 0; i < rdev->ncores; i++)
		if (rdev->cores[i].state != RKMM_CORE_OFF)
			info->core_mask |= BIT(rdev->cores[i].index);
	info->resets = rdev->sched.resets;
	info->jobs = rdev->sched.jobs;
	spin_unlock_irq(&rdev->sched.lock);
}

static void rkmm_query_types(struct drm_rkmm_type_info *info)
{
	u32 t;

	for (t = 0; t < RKMM_T_COUNT; t++) {
		info[t].types = t;
		info[t].evidence = rkmm_plan_evidence(t, RKMM_FORM_FLAT);
		info[t].in_bits = rkmm_in_bits(t);
		info[t].out_bits = 8 * rkmm_out_bytes(t);
		info[t].k_align = RKMM_K_ALIGN;
		info[t].n_align = rkmm_group(t);
	}
}

static void rkmm_query_client(struct rkmm_client *client, struct drm_rkmm_client_info *info)
{
	struct rkmm_sched *sched = &client->rdev->sched;

	spin_lock_irq(&sched->lock);
	info->jobs = client->jobs;
	info->guilty = client->guilty;
	info->innocent = client->innocent;
	info->npu_ns = client->npu_ns;
	spin_unlock_irq(&sched->lock);

	mutex_lock(&client->images->lock);
	info->program_bytes = client->images->bytes;
	info->programs_emitted = client->images->emitted;
	mutex_unlock(&client->images->lock);
}

int rkmm_ioctl_query(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct rkmm_client *client = file->driver_priv;
	struct drm_rkmm_query *args = data;
	union {
		struct drm_rkmm_device_info device;
		struct drm_rkmm_type_info types[RKMM_T_COUNT];
		struct drm_rkmm_client_info client;
	} answer = {};
	u32 size, room = args->size;
	int idx;

	switch (args->id) {
	case DRM_RKMM_QUERY_DEVICE:
		size = sizeof(answer.device);
		/* The clock is asked for its rate, under a lock that goes with the device. */
		if (!drm_dev_enter(drm, &idx))
			return -ENODEV;
		rkmm_query_device(client->rdev, &answer.device);
		drm_dev_exit(idx);
		break;
	case DRM_RKMM_QUERY_TYPES:
		size = sizeof(answer.types);
		rkmm_query_types(answer.types);
		break;
	case DRM_RKMM_QUERY_CLIENT:
		size = sizeof(answer.client);
		rkmm_query_client(client, &answer.client);
		break;
	default:
		drm_dbg(drm, "query: unknown id %u\n", args->id);
		return -EINVAL;
	}

	args->size = size;
	if (!args->pointer)
		return 0;
	if (copy_to_user(u64_to_user_ptr(args->pointer), &answer, min(size, room)))
		return -EFAULT;
	return 0;
}
