// SPDX-License-Identifier: GPL-2.0-only
/*
 * How the module attaches: platform driver, facade device, DRM driver, ioctl
 * table, open and close.
 *
 * uAPI history:
 *   0.1	first version
 */
#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_ioctl.h>
#include <drm/drm_managed.h>
#include <linux/dma-mapping.h>
#include <linux/iommu.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/platform_device.h>
#include <linux/property.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "compat/rkmm_compat.h"
#include "rkmm_bo.h"
#include "rkmm_drm.h"
#include "rkmm_envelope.h"
#include "rkmm_job.h"

static void rkmm_client_free(struct kref *ref)
{
	struct rkmm_client *client = container_of(ref, struct rkmm_client, ref);

	rkmm_stage_put(client->stage);
	rkmm_images_fini(client);
	rkmm_arena_fini(client);
	kfree(client->spare);
	rkmm_space_put(client->space);
	mutex_destroy(&client->submit_lock);
	kfree(client);
}

void rkmm_client_put(struct rkmm_client *client)
{
	kref_put(&client->ref, rkmm_client_free);
}

static int rkmm_open(struct drm_device *drm, struct drm_file *file)
{
	static atomic64_t ids = ATOMIC64_INIT(0);
	struct rkmm_device *rdev = to_rkmm(drm);
	struct rkmm_client *client;
	int ret, idx;

	if (!drm_dev_enter(drm, &idx))
		return -ENODEV;
	client = kzalloc(sizeof(*client), GFP_KERNEL_ACCOUNT);
	if (!client) {
		ret = -ENOMEM;
		goto out;
	}
	kref_init(&client->ref);
	client->id = atomic64_inc_return(&ids);
	client->rdev = rdev;
	client->pid = task_tgid_nr(current);
	get_task_comm(client->comm, current);
	mutex_init(&client->submit_lock);
	mutex_init(&client->arena_lock);
	init_waitqueue_head(&client->done);
	spin_lock_init(&client->stage_lock);
	client->fence_context = dma_fence_context_alloc(1);
	client->space = rkmm_space_open(rdev);
	if (IS_ERR(client->space)) {
		ret = PTR_ERR(client->space);
		goto err_free;
	}
	client->window = client->space->window[0];
	ret = rkmm_images_init(client);
	if (ret)
		goto err_space;
	rkmm_plans_init(client);
	rkmm_sched_open(client);
	file->driver_priv = client;
	goto out;

err_space:
	rkmm_space_put(client->space);
err_free:
	mutex_destroy(&client->arena_lock);
	mutex_destroy(&client->submit_lock);
	kfree(client);
out:
	drm_dev_exit(idx);
	return ret;
}

static void rkmm_postclose(struct drm_device *drm, struct drm_file *file)
{
	struct rkmm_client *client = file->driver_priv;

	rkmm_sched_close(client);
	rkmm_warm_forget(client, NULL, 0);
	rkmm_plans_fini(client);
	rkmm_client_put(client);
}

static const struct drm_ioctl_desc rkmm_ioctls[] = {
	DRM_IOCTL_DEF_DRV(RKMM_QUERY, rkmm_ioctl_query, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(RKMM_BO_CREATE, rkmm_ioctl_bo_create, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(RKMM_BO_SYNC, rkmm_ioctl_bo_sync, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(RKMM_PLAN_CREATE, rkmm_ioctl_plan_create, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(RKMM_PLAN_DESTROY, rkmm_ioctl_plan_destroy, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(RKMM_SUBMIT, rkmm_ioctl_submit, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(RKMM_WAIT, rkmm_ioctl_wait, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(RKMM_CLIENT_SET, rkmm_ioctl_client_set, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(RKMM_PROBE, rkmm_ioctl_probe, DRM_RENDER_ALLOW),
};

/*
 * The way through DRM costs a submission as much as all of its own work. What it would
 * check is checked: the device is still there (rkmm_ioctl_submit()), the argument has
 * exactly the size that is known here; an ioctl of render nodes may be called on every
 * node by everybody. Anything else goes through DRM.
 */
static long rkmm_file_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	struct drm_file *file = filp->private_data;
	void __user *user = (void __user *)arg;
	struct drm_rkmm_submit args rkmm_uninitialized;
	long ret;

	if (cmd != DRM_IOCTL_RKMM_SUBMIT)
		return drm_ioctl(filp, cmd, arg);
	if (copy_from_user(&args, user, sizeof(args)))
		return -EFAULT;
	ret = rkmm_ioctl_submit(file->minor->dev, &args, file);
	if (copy_to_user(user, &args, sizeof(args)))
		ret = -EFAULT;
	return ret;
}

static const struct file_operations rkmm_fops = {
	.owner = THIS_MODULE,
	RKMM_DRM_GEM_FOPS
	.unlocked_ioctl = rkmm_file_ioctl,
	.show_fdinfo = rkmm_show_fdinfo,
};

static const struct drm_driver rkmm_drm_driver = {
	.driver_features = DRIVER_GEM | DRIVER_RENDER | DRIVER_SYNCOBJ | DRIVER_SYNCOBJ_TIMELINE,
	.open = rkmm_open,
	.postclose = rkmm_postclose,
	.ioctls = rkmm_ioctls,
	.num_ioctls = ARRAY_SIZE(rkmm_ioctls),
	.fops = &rkmm_fops,
	.name = DRM_RKMM_NAME,
	.desc = "Rockchip NPU matrix operations",
	RKMM_DRM_DATE("20261130")
	.major = RKMM_VERSION_MAJOR,
	.minor = RKMM_VERSION_MINOR,
	.gem_create_object = rkmm_bo_alloc,
	.gem_prime_import = rkmm_bo_import,
	.gem_prime_import_sg_table = rkmm_bo_import_sgt,
	RKMM_DRM_PRIME_OPS
};

/*
 * The facade: parent of the DRM device and the only device the DMA API sees. No
 * firmware node, or the IOMMU core would put it behind the NPU's IOMMU.
 */
static struct platform_device *rkmm_facade_create(struct device *npu)
{
	const struct platform_device_info info = {
		.parent = npu,
		.name = "rkmm-dma",
		.id = PLATFORM_DEVID_AUTO,
		.dma_mask = DMA_BIT_MASK(64),
	};
	struct platform_device *facade = platform_device_register_full(&info);

	if (!IS_ERR(facade))
		dma_set_max_seg_size(&facade->dev, UINT_MAX);
	return facade;
}

static struct rkmm_device *rkmm_device_create(struct platform_device *pdev,
					      const struct rkmm_soc *soc)
{
	struct platform_device *facade;
	struct rkmm_device *rdev;
	struct drm_device *drm;

	facade = rkmm_facade_create(&pdev->dev);
	if (IS_ERR(facade))
		return ERR_CAST(facade);
	drm = drm_dev_alloc(&rkmm_drm_driver, &facade->dev);
	if (IS_ERR(drm)) {
		platform_device_unregister(facade);
		return ERR_CAST(drm);
	}
	rdev = drmm_kzalloc(drm, sizeof(*rdev), GFP_KERNEL);
	if (!rdev) {
		drm_dev_put(drm);
		platform_device_unregister(facade);
		return ERR_PTR(-ENOMEM);
	}
	drm->dev_private = rdev;
	rdev->drm = drm;
	rdev->dev = &pdev->dev;
	rdev->facade = facade;
	rdev->dma = &facade->dev;
	rdev->soc = soc;
	rdev->all_cores = GENMASK(soc->cores - 1, 0);
	rdev->soft = device_property_read_bool(&pdev->dev, "rkmm,soft");
	rdev->time_scale = 1;
	if (rdev->soft)
		device_property_read_u32(&pdev->dev, "rkmm,time-scale", &rdev->time_scale);
	return rdev;
}

/*
 * The DRM device may outlive this call, held by open files; the facade stays
 * in memory with it, so what is still mapped can be unmapped.
 */
static void rkmm_device_destroy(struct rkmm_device *rdev)
{
	struct platform_device *facade = rdev->facade;

	drm_dev_put(rdev->drm);
	platform_device_unregister(facade);
}

static int rkmm_cores_start(struct rkmm_device *rdev)
{
	u32 i;
	int ret;

	for (i = 0; i < rdev->ncores; i++) {
		ret = rkmm_core_identify(&rdev->cores[i]);
		if (ret)
			return ret;
	}
	for (i = 0; i < rdev->ncores; i++) {
		ret = rkmm_core_request_irq(&rdev->cores[i]);
		if (ret)
			return dev_err_probe(rdev->dev, ret, "core%u: interrupt\n",
					     rdev->cores[i].index);
	}
	return 0;
}

static void rkmm_cores_stop(struct rkmm_device *rdev)
{
	u32 i;

	/* Before power goes: a shared line may still fire (hw 01 B15). */
	for (i = 0; i < rdev->ncores; i++)
		rkmm_core_release_irq(&rdev->cores[i]);
}

static int rkmm_probe(struct platform_device *pdev)
{
	const struct rkmm_soc *soc = rkmm_soc_detect(pdev);
	struct device *dev = &pdev->dev;
	struct rkmm_device *rdev;
	u32 i;
	int ret;

	if (IS_ERR(soc))
		return PTR_ERR(soc);
	ret = rkmm_plans_check(dev);
	if (ret)
		return ret;
	if (!device_iommu_mapped(dev))
		return dev_err_probe(dev, -ENODEV,
				     "no IOMMU: without one the NPU could reach all memory\n");

	rdev = rkmm_device_create(pdev, soc);
	if (IS_ERR(rdev))
		return dev_err_probe(dev, PTR_ERR(rdev), "cannot create the DRM device\n");
	platform_set_drvdata(pdev, rdev);

	ret = rkmm_mode_init(rdev);
	if (!ret)
		ret = rkmm_landing_init(rdev);
	if (!ret)
		ret = rkmm_poll_init(rdev);
	if (!ret)
		ret = rkmm_dump_init(rdev);
	if (!ret)
		ret = rkmm_trust_init(rdev);
	if (ret)
		goto err_device;
	ret = rkmm_sched_init(rdev);
	if (ret)
		goto err_device;
	for (i = 0; i < soc->cores; i++) {
		ret = rkmm_core_init(rdev, i);
		if (ret)
			goto err_sched;
	}
	rdev->ncores = soc->cores;
	ret = rkmm_power_init(rdev);
	if (ret)
		goto err_sched;
	ret = rkmm_power_get(rdev);
	if (ret) {
		dev_err_probe(dev, ret, "cannot power up\n");
		goto err_power;
	}
	rdev->clock_hz = rkmm_power_rate(rdev);
	ret = rkmm_vm_init(rdev);
	if (ret)
		goto err_put;
	ret = rkmm_cores_start(rdev);
	if (ret)
		goto err_vm;
	ret = rkmm_proof_init(rdev);
	if (!ret)
		ret = rkmm_proof_power(rdev);
	if (ret)
		goto err_vm;
	ret = drm_dev_register(rdev->drm, 0);
	if (ret) {
		dev_err_probe(dev, ret, "cannot register the DRM device\n");
		goto err_vm;
	}
	rkmm_debugfs_init(rdev);
	rkmm_mode_report(rdev);

	dev_info(dev, "%s: %u cores at %lu MHz, %u MiB window, isolation %s%s%s\n", soc->name,
		 rdev->ncores, rdev->clock_hz / 1000000, (u32)(rdev->vm.bytes >> 20),
		 rdev->vm.strict ? "strict" : "shared",
		 rdev->vm.stage_side ? ", features at fixed addresses" : "",
		 rdev->soft ? ", software NPU" : "");
	return 0;

err_vm:
	rkmm_cores_stop(rdev);
	rkmm_trust_stop(rdev);
	rkmm_proof_fini(rdev);
	rkmm_vm_fini(rdev);
err_put:
	rkmm_power_put(rdev);
err_power:
	rkmm_power_fini(rdev);
err_sched:
	rkmm_sched_fini(rdev);
err_device:
	rkmm_dump_fini(rdev);
	platform_set_drvdata(pdev, NULL);
	rkmm_device_destroy(rdev);
	return ret;
}

/*
 * Files may be open and jobs running. Nobody enters the hardware any more after
 * the unplug; cores are reset before their buffers leave the windows.
 */
static rkmm_remove_t rkmm_remove(struct platform_device *pdev)
{
	struct rkmm_device *rdev = platform_get_drvdata(pdev);

	drm_dev_unplug(rdev->drm);
	rkmm_sched_kill(rdev);
	rkmm_sched_drain(rdev);
	rkmm_cores_stop(rdev);
	rkmm_trust_stop(rdev);
	rkmm_proof_fini(rdev);
	rkmm_vm_fini(rdev);
	rkmm_power_put(rdev);
	rkmm_power_fini(rdev);
	rkmm_sched_fini(rdev);
	rkmm_dump_fini(rdev);
	rkmm_device_destroy(rdev);
	return RKMM_REMOVED;
}

static struct platform_driver rkmm_driver = {
	.probe = rkmm_probe,
	.remove = rkmm_remove,
	.id_table = rkmm_id_table,
	.driver = {
		.name = "rkmm",
		.of_match_table = rkmm_of_match,
		.dev_groups = rkmm_sysfs_groups,
		.pm = pm_sleep_ptr(&rkmm_pm_ops),
	},
};

static int __init rkmm_init(void)
{
	int ret;

	rkmm_power_module_init();
	ret = platform_driver_register(&rkmm_driver);
	if (ret)
		rkmm_power_module_exit();
	return ret;
}
module_init(rkmm_init);

static void __exit rkmm_exit(void)
{
	platform_driver_unregister(&rkmm_driver);
	rkmm_power_module_exit();
}
module_exit(rkmm_exit);

MODULE_DESCRIPTION("Rockchip NPU matrix operations");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1.0");
RKMM_IMPORT_NS(DMA_BUF);
