// SPDX-License-Identifier: GPL-2.0-only
/*
 * How does the software NPU come and go.
 *
 * A parent platform device "rkmm-soft" with its own driver owns everything; its
 * probe makes the NPU device "rkmm-npu" last, when all it needs is there. The
 * module is pinned while a driver is bound to the NPU device, while a driver
 * holds address windows, and while it has memory mapped for DMA. To unload it
 * with a driver bound, unbind "rkmm-soft" first, which removes the NPU device
 * like any hot-unplugged one.
 */
#define pr_fmt(fmt) "rkmm_soft: " fmt

#include <linux/init.h>
#include <linux/ioport.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/property.h>
#include <linux/rcupdate.h>

#include "compat/rkmm_compat.h"
#include "soft.h"

bool soft_strict = true;
module_param_named(strict, soft_strict, bool, 0600);
MODULE_PARM_DESC(strict, "a program that breaks a law is refused instead of giving wrong results");

bool soft_compute = true;
module_param_named(compute, soft_compute, bool, 0600);
MODULE_PARM_DESC(compute, "off: programs run with their traffic, but without arithmetic");

unsigned int soft_time_scale = 10000;
module_param_named(time_scale, soft_time_scale, uint, 0600);
MODULE_PARM_DESC(time_scale, "how many times slower than the chip; read when a driver binds");

module_param_cb(view, &soft_view_mode_ops, NULL, 0600);
MODULE_PARM_DESC(view, "device view of memory: exact, line or coherent");

module_param_named(view_limit_mb, soft_view_limit_mb, uint, 0600);
MODULE_PARM_DESC(view_limit_mb, "memory for the device view in MiB (0: half of all memory)");

struct device *soft_child;

/* Bound drivers that hold a reference of the module: 0 or 1; under the notifier's lock. */
static bool soft_pinned;
/* The NPU whose device is soft_child; with it. */
static struct soft_npu *soft_present;

static struct platform_device *soft_parent;
static int soft_probe_error;

static int soft_bus_notify(struct notifier_block *nb, unsigned long action, void *data)
{
	struct device *dev = data;

	if (!soft_child)
		return NOTIFY_DONE;

	if (action == BUS_NOTIFY_ADD_DEVICE && dev->parent == soft_child &&
	    !strncmp(dev_name(dev), SOFT_FACADE, strlen(SOFT_FACADE))) {
		soft_dma_install(dev);
		return NOTIFY_OK;
	}
	if (dev != soft_child)
		return NOTIFY_DONE;

	switch (action) {
	case BUS_NOTIFY_BIND_DRIVER:
		soft_pinned = try_module_get(THIS_MODULE);
		break;
	case BUS_NOTIFY_UNBOUND_DRIVER:
		soft_clk_check_unbound(soft_present);
		fallthrough;
	case BUS_NOTIFY_DRIVER_NOT_BOUND:
		if (soft_pinned)
			module_put(THIS_MODULE);
		soft_pinned = false;
		break;
	}
	return NOTIFY_OK;
}

static struct notifier_block soft_bus_nb = {
	.notifier_call = soft_bus_notify,
};

static int soft_add_child(struct soft_npu *npu)
{
	const struct resource irqs[SOFT_CORES] = {
		DEFINE_RES_IRQ_NAMED(npu->core[0].virq, "npu0_irq"),
		DEFINE_RES_IRQ_NAMED(npu->core[1].virq, "npu1_irq"),
		DEFINE_RES_IRQ_NAMED(npu->core[2].virq, "npu2_irq"),
	};
	const struct property_entry properties[] = {
		PROPERTY_ENTRY_BOOL("rkmm,soft"),
		PROPERTY_ENTRY_U32("rkmm,time-scale", max(1U, READ_ONCE(soft_time_scale))),
		PROPERTY_ENTRY_U64("rkmm,chip-id", READ_ONCE(soft_chip_id)),
		{ }
	};
	struct platform_device *pdev;
	int ret;

	pdev = platform_device_alloc(SOFT_CHILD, PLATFORM_DEVID_NONE);
	if (!pdev)
		return -ENOMEM;
	npu->child = pdev;
	pdev->dev.parent = npu->dev;

	/* power domain and OPPs come before the device, and want to name it */
	ret = dev_set_name(&pdev->dev, SOFT_CHILD);
	if (ret)
		goto put;
	ret = platform_device_add_resources(pdev, irqs, ARRAY_SIZE(irqs));
	if (ret)
		goto put;
	ret = device_create_managed_software_node(&pdev->dev, properties, NULL);
	if (ret)
		goto put;
	ret = soft_power_attach(npu);
	if (ret)
		goto put;

	soft_present = npu;
	WRITE_ONCE(soft_child, &pdev->dev);
	ret = platform_device_add(pdev);
	if (!ret)
		return 0;

	WRITE_ONCE(soft_child, NULL);
	soft_present = NULL;
	soft_power_detach(npu);
put:
	platform_device_put(pdev);
	return ret;
}

static void soft_del_child(struct soft_npu *npu)
{
	platform_device_del(npu->child);
	soft_power_detach(npu);
	WRITE_ONCE(soft_child, NULL);
	soft_present = NULL;
}

static int soft_setup(struct soft_npu *npu)
{
	unsigned int i;
	int ret;

	for (i = 0; i < SOFT_CORES; i++) {
		struct soft_core *core = &npu->core[i];

		core->npu = npu;
		core->index = i;
		/* until power comes */
		core->abort = true;
		spin_lock_init(&core->lock);
		init_waitqueue_head(&core->wait);
		soft_iommu_fault_init(core);
		soft_time_init(core);
		mutex_init(&core->late_lock);
	}

	ret = soft_irq_init(npu);
	if (ret)
		return ret;
	ret = soft_run_init(npu);
	if (ret)
		goto irqs;
	ret = soft_regs_init(npu);
	if (ret)
		goto run;
	ret = soft_clk_init(npu);
	if (ret)
		goto run;
	ret = soft_power_init(npu);
	if (ret)
		goto run;
	ret = soft_iommu_register(npu);
	if (ret)
		goto power;
	ret = soft_reset_init(npu);
	if (ret)
		goto iommu;
	ret = soft_add_child(npu);
	if (ret)
		goto iommu;
	soft_debugfs_add(npu);
	return 0;

iommu:
	soft_iommu_unregister(npu);
power:
	soft_power_fini(npu);
run:
	soft_run_fini(npu);
irqs:
	soft_irq_fini(npu);
	return ret;
}

static int soft_probe(struct platform_device *pdev)
{
	struct soft_npu *npu;
	int ret;

	/* allocated first, so released after everything that points to it */
	npu = devm_kzalloc(&pdev->dev, sizeof(*npu), GFP_KERNEL);
	if (!npu)
		return -ENOMEM;
	npu->dev = &pdev->dev;
	platform_set_drvdata(pdev, npu);

	ret = soft_setup(npu);
	soft_probe_error = ret;
	if (!ret)
		dev_info(&pdev->dev, "software NPU, %u cores, for tests only\n", SOFT_CORES);
	return ret;
}

static rkmm_remove_t soft_remove(struct platform_device *pdev)
{
	struct soft_npu *npu = platform_get_drvdata(pdev);

	soft_debugfs_del(npu);
	/* the driver unbinds here, and must not find anything missing */
	soft_del_child(npu);
	soft_run_fini(npu);
	soft_iommu_unregister(npu);
	soft_power_fini(npu);
	soft_irq_fini(npu);
	platform_device_put(npu->child);
	return RKMM_REMOVED;
}

static struct platform_driver soft_driver = {
	.probe = soft_probe,
	.remove = soft_remove,
	.driver = {
		.name = SOFT_NAME,
	},
};

static int __init soft_init(void)
{
	int ret;

	ret = soft_iommu_init();
	if (ret)
		return ret;
	soft_debugfs_init();
	ret = bus_register_notifier(&platform_bus_type, &soft_bus_nb);
	if (ret)
		goto debugfs;
	ret = platform_driver_register(&soft_driver);
	if (ret)
		goto notifier;

	soft_probe_error = -ENODEV;
	soft_parent = platform_device_register_simple(SOFT_NAME, PLATFORM_DEVID_NONE, NULL, 0);
	ret = PTR_ERR_OR_ZERO(soft_parent);
	if (ret)
		goto driver;
	/* a device without a driver is no error to the platform bus: here it is */
	ret = soft_probe_error;
	if (!ret)
		return 0;

	platform_device_unregister(soft_parent);
driver:
	platform_driver_unregister(&soft_driver);
notifier:
	bus_unregister_notifier(&platform_bus_type, &soft_bus_nb);
debugfs:
	soft_debugfs_exit();
	soft_view_exit();
	soft_iommu_exit();
	return ret;
}
module_init(soft_init);

static void __exit soft_exit(void)
{
	platform_device_unregister(soft_parent);
	platform_driver_unregister(&soft_driver);
	bus_unregister_notifier(&platform_bus_type, &soft_bus_nb);
	soft_debugfs_exit();
	soft_view_exit();
	soft_iommu_exit();
	/*
	 * The last reference may have been dropped by a function of this module
	 * that has yet to return.
	 */
	synchronize_rcu_tasks();
}
module_exit(soft_exit);

MODULE_DESCRIPTION("Software model of the RK3588 NPU, for tests");
MODULE_LICENSE("GPL");
MODULE_INFO(test, "Y");
