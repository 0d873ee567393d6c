// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where does an NPU address lead: an IOMMU driver for one device, as
 * rockchip-iommu is for the chip's (hw 01 §6.1): 32-bit addresses, 4 KiB
 * entries, read and write permission, paging and DMA domains.
 *
 * The IOMMU core pins ops->owner for every device it probes. With the device
 * made by this very module that would be a reference of the module on itself,
 * and rmmod would never work. So the ops are allocated and have no owner, and
 * what really needs the module takes the reference: a bound driver (soft_main.c)
 * and every domain that a driver has allocated.
 */
#include <linux/amba/bus.h>
#include <linux/fsl/mc.h>
#include <linux/host1x_context_bus.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "compat/rkmm_compat.h"
#include "soft.h"

#define SOFT_IOMMU_SHIFT	12
#define SOFT_IOMMU_PAGE		BIT(SOFT_IOMMU_SHIFT)
/* hw 01 §6.1: 4 KiB to 4 MiB accepted, always kept as 4 KiB entries */
#define SOFT_IOMMU_SIZES	0x007ff000UL
#define SOFT_IOMMU_READ		BIT(0)
#define SOFT_IOMMU_WRITE	BIT(1)
#define SOFT_IOMMU_PERM		2	/* bits of permission below the page number */
#define SOFT_IOMMU_ABSENT	xa_mk_value(0)

/* Self-contained: may outlive the device. */
struct soft_domain {
	struct iommu_domain domain;
	struct rcu_head rcu;
	/**
	 * @table: value entries, page number and permission; stores by the caller of map.
	 * What was unmapped leaves ABSENT: like the chip's, tables stay until the domain goes
	 */
	struct xarray table;
	/** @pages: entries that are mapped */
	atomic_long_t pages;
	/** @runs: ranges of them without a gap */
	atomic_long_t runs;
	/** @pins: this domain holds a reference of the module */
	bool pins;
};

static struct iommu_ops *soft_iommu_ops;
static struct iommu_device soft_iommu;
/* The present device; changed with neither the driver nor its domains around. */
static struct soft_npu *soft_iommu_npu;

static struct soft_domain *to_soft_domain(struct iommu_domain *domain)
{
	return container_of(domain, struct soft_domain, domain);
}

static struct iommu_domain *soft_domain_new(unsigned int type)
{
	struct soft_domain *domain;

	if (type != IOMMU_DOMAIN_UNMANAGED && type != IOMMU_DOMAIN_DMA)
		return NULL;
	domain = kzalloc(sizeof(*domain), GFP_KERNEL);
	if (!domain)
		return NULL;
	if (type == IOMMU_DOMAIN_UNMANAGED) {
		if (!try_module_get(THIS_MODULE)) {
			kfree(domain);
			return NULL;
		}
		domain->pins = true;
	}
	xa_init(&domain->table);
	domain->domain.geometry.aperture_start = 0;
	domain->domain.geometry.aperture_end = U32_MAX;
	domain->domain.geometry.force_aperture = true;
	return &domain->domain;
}

static void soft_domain_free(struct iommu_domain *iommu_domain)
{
	struct soft_domain *domain = to_soft_domain(iommu_domain);
	bool pins = domain->pins;

	if (pins && atomic_long_read(&domain->pages))
		soft_error(SOFT_ERR_IOMMU_LEFT_MAPPED, "domain freed with pages in it");
	/* a core may still look a page up: both go by RCU */
	xa_destroy(&domain->table);
	kfree_rcu(domain, rcu);
	if (pins)
		module_put(THIS_MODULE);
}

static bool soft_domain_in_range(unsigned long iova, size_t size)
{
	return iova <= U32_MAX && size && size - 1 <= U32_MAX - iova;
}

static bool soft_domain_present(struct soft_domain *domain, unsigned long page)
{
	void *entry = xa_load(&domain->table, page);

	return entry && entry != SOFT_IOMMU_ABSENT;
}

/* Before [@page, @page + @n) is mapped, or after it was unmapped: how many runs that makes more */
static long soft_domain_more_runs(struct soft_domain *domain, unsigned long page, unsigned long n)
{
	if (!n)
		return 0;
	return 1 - soft_domain_present(domain, page - 1) - soft_domain_present(domain, page + n);
}

static int soft_domain_map(struct iommu_domain *iommu_domain, unsigned long iova,
			   phys_addr_t phys, size_t pgsize, size_t pgcount, int prot, gfp_t gfp,
			   size_t *mapped)
{
	struct soft_domain *domain = to_soft_domain(iommu_domain);
	size_t size = pgsize * pgcount, done;
	unsigned long perm = 0;
	int ret = 0;

	if (!soft_domain_in_range(iova, size)) {
		soft_error(SOFT_ERR_IOMMU_RANGE, "map of 0x%zx bytes at 0x%lx", size, iova);
		return -EINVAL;
	}
	if (prot & IOMMU_READ)
		perm |= SOFT_IOMMU_READ;
	if (prot & IOMMU_WRITE)
		perm |= SOFT_IOMMU_WRITE;

	for (done = 0; done < size; done += SOFT_IOMMU_PAGE) {
		unsigned long page = (phys + done) >> SOFT_IOMMU_SHIFT;

		if (soft_domain_present(domain, (iova + done) >> SOFT_IOMMU_SHIFT)) {
			soft_error(SOFT_ERR_IOMMU_OVERLAP, "map over 0x%lx", iova + done);
			ret = -EADDRINUSE;
			break;
		}
		ret = xa_err(xa_store(&domain->table, (iova + done) >> SOFT_IOMMU_SHIFT,
				      xa_mk_value(page << SOFT_IOMMU_PERM | perm), gfp));
		if (ret)
			break;
	}
	atomic_long_add(done >> SOFT_IOMMU_SHIFT, &domain->pages);
	atomic_long_add(soft_domain_more_runs(domain, iova >> SOFT_IOMMU_SHIFT,
					      done >> SOFT_IOMMU_SHIFT), &domain->runs);
	/* a part that was mapped is the caller's to take back */
	*mapped += done;
	return ret;
}

static size_t soft_domain_unmap(struct iommu_domain *iommu_domain, unsigned long iova,
				size_t pgsize, size_t pgcount, struct iommu_iotlb_gather *gather)
{
	struct soft_domain *domain = to_soft_domain(iommu_domain);
	size_t size = pgsize * pgcount, done;

	if (!soft_domain_in_range(iova, size))
		return 0;
	for (done = 0; done < size; done += SOFT_IOMMU_PAGE) {
		unsigned long page = (iova + done) >> SOFT_IOMMU_SHIFT;

		if (!soft_domain_present(domain, page))
			break;
		xa_store(&domain->table, page, SOFT_IOMMU_ABSENT, GFP_ATOMIC);
	}
	atomic_long_sub(done >> SOFT_IOMMU_SHIFT, &domain->pages);
	atomic_long_sub(soft_domain_more_runs(domain, iova >> SOFT_IOMMU_SHIFT,
					      done >> SOFT_IOMMU_SHIFT), &domain->runs);
	return done;
}

static bool soft_domain_lookup(struct soft_domain *domain, unsigned long iova, unsigned long perm,
			       phys_addr_t *phys)
{
	void *entry = xa_load(&domain->table, iova >> SOFT_IOMMU_SHIFT);
	unsigned long val;

	if (!entry || entry == SOFT_IOMMU_ABSENT)
		return false;
	val = xa_to_value(entry);
	if ((val & perm) != perm)
		return false;
	*phys = (phys_addr_t)(val >> SOFT_IOMMU_PERM) << SOFT_IOMMU_SHIFT |
		(iova & (SOFT_IOMMU_PAGE - 1));
	return true;
}

static phys_addr_t soft_domain_iova_to_phys(struct iommu_domain *domain, dma_addr_t iova)
{
	phys_addr_t phys;

	if (iova > U32_MAX || !soft_domain_lookup(to_soft_domain(domain), iova, 0, &phys))
		return 0;
	return phys;
}

/*
 * A switch while a core runs is where boards lose jobs (hw 01 §4.5). A core that is stuck does not
 * let its MMU stall (hw 01 §4.6): the lines come first. Afterwards no fault of the old window is
 * reported any more.
 */
static void soft_iommu_switch(struct soft_domain *domain)
{
	struct soft_npu *npu = soft_iommu_npu;
	unsigned int i;

	for (i = 0; i < SOFT_CORES; i++)
		if (soft_run_busy(&npu->core[i]))
			soft_error(SOFT_ERR_SWITCH_WHILE_BUSY, "core%u runs", i);
		else if (READ_ONCE(npu->powered) && READ_ONCE(npu->core[i].state) == SOFT_STUCK)
			soft_error(SOFT_ERR_SWITCH_WHILE_STUCK, "core%u is stuck", i);
	rcu_assign_pointer(npu->attached, domain);
	for (i = 0; i < SOFT_CORES; i++) {
		soft_iommu_fault_sync(&npu->core[i]);
		if (domain)
			WRITE_ONCE(npu->core[i].blind, false);
	}
}

static int soft_domain_attach(struct iommu_domain *domain, struct device *dev)
{
	soft_iommu_switch(to_soft_domain(domain));
	return 0;
}

#ifdef HAVE_IOMMU_DETACH_DEV
static void soft_domain_detach(struct iommu_domain *domain, struct device *dev)
{
	soft_iommu_switch(NULL);
}
#endif

static struct iommu_device *soft_iommu_probe(struct device *dev)
{
	if (!soft_child || dev != soft_child)
		return ERR_PTR(-ENODEV);
	return &soft_iommu;
}

static void soft_iommu_release(struct device *dev)
{
	soft_iommu_switch(NULL);
}

#ifdef HAVE_IOMMU_SETUP_DMA_OPS
static void soft_iommu_finalize(struct device *dev)
{
	iommu_setup_dma_ops(dev, 0, U32_MAX);
}
#endif

static const struct iommu_domain_ops soft_domain_ops = {
	.attach_dev = soft_domain_attach,
#ifdef HAVE_IOMMU_DETACH_DEV
	.detach_dev = soft_domain_detach,
#endif
	.map_pages = soft_domain_map,
	.unmap_pages = soft_domain_unmap,
	.iova_to_phys = soft_domain_iova_to_phys,
	.free = soft_domain_free,
};

static const struct iommu_ops soft_iommu_template = {
	.domain_alloc = soft_domain_new,
	.probe_device = soft_iommu_probe,
	.release_device = soft_iommu_release,
#ifdef HAVE_IOMMU_SETUP_DMA_OPS
	.probe_finalize = soft_iommu_finalize,
#endif
	.device_group = generic_device_group,
	.pgsize_bitmap = SOFT_IOMMU_SIZES,
	.default_domain_ops = &soft_domain_ops,
};

/* For the cores. Any context but NMI. */
bool soft_iommu_translate(struct soft_npu *npu, u32 iova, bool write, phys_addr_t *phys)
{
	struct soft_domain *domain;
	bool found = false;

	rcu_read_lock();
	domain = rcu_dereference(npu->attached);
	if (domain)
		found = soft_domain_lookup(domain, iova, write ? SOFT_IOMMU_WRITE : SOFT_IOMMU_READ,
					   phys);
	rcu_read_unlock();
	return found;
}

/* First address of the pages, mapped without a gap or a guard page, that @iova lies in. */
u32 soft_iommu_run(struct soft_npu *npu, u32 iova)
{
	struct soft_domain *domain;
	unsigned long page = iova >> SOFT_IOMMU_SHIFT;
	phys_addr_t phys;

	rcu_read_lock();
	domain = rcu_dereference(npu->attached);
	while (domain && page &&
	       soft_domain_lookup(domain, (page - 1) << SOFT_IOMMU_SHIFT, 0, &phys) &&
	       !soft_view_is_guard(phys))
		page--;
	rcu_read_unlock();
	return page << SOFT_IOMMU_SHIFT;
}

/* Mappings in the attached window: ranges of addresses without a gap */
long soft_iommu_mappings(struct soft_npu *npu)
{
	struct soft_domain *domain;
	long runs = 0;

	rcu_read_lock();
	domain = rcu_dereference(npu->attached);
	if (domain)
		runs = atomic_long_read(&domain->runs);
	rcu_read_unlock();
	return runs;
}

/* In a hard interrupt, as the chip's IOMMU shares the core's interrupt line. */
static void soft_iommu_fault_work(struct irq_work *work)
{
	struct soft_core *core = container_of(work, struct soft_core, fault_work);
	struct soft_domain *domain;
	bool handled = false;

	rcu_read_lock();
	domain = rcu_dereference(core->npu->attached);
	if (domain && domain == core->fault_domain)
		handled = !report_iommu_fault(&domain->domain, &core->npu->child->dev,
					      core->fault_addr, core->fault_write ?
					      IOMMU_FAULT_WRITE : IOMMU_FAULT_READ);
	rcu_read_unlock();
	if (!handled)
		dev_err_ratelimited(core->npu->dev, "core%u: page fault at 0x%08x (%s)\n",
				    core->index, core->fault_addr,
				    core->fault_write ? "write" : "read");
}

/*
 * Report a fault, once: the core has stopped at it. A chip retries the access
 * and interrupts again and again; that is a quirk, not needed to be correct.
 */
void soft_iommu_fault(struct soft_core *core, u32 iova, bool write)
{
	unsigned long flags;

	spin_lock_irqsave(&core->lock, flags);
	core->stats.faults++;
	core->fault_addr = iova;
	core->fault_write = write;
	core->fault_domain = rcu_access_pointer(core->npu->attached);
	spin_unlock_irqrestore(&core->lock, flags);
	irq_work_queue(&core->fault_work);
}

void soft_iommu_fault_init(struct soft_core *core)
{
	core->fault_work = IRQ_WORK_INIT_HARD(soft_iommu_fault_work);
}

void soft_iommu_fault_sync(struct soft_core *core)
{
	irq_work_sync(&core->fault_work);
}

#ifdef HAVE_BUS_IOMMU_OPS
static struct bus_type * const soft_iommu_buses[] = {
	&platform_bus_type,
#ifdef CONFIG_PCI
	&pci_bus_type,
#endif
#ifdef CONFIG_ARM_AMBA
	&amba_bustype,
#endif
#ifdef CONFIG_FSL_MC_BUS
	&fsl_mc_bus_type,
#endif
#ifdef CONFIG_TEGRA_HOST1X_CONTEXT_BUS
	&host1x_context_device_bus_type,
#endif
};

static bool soft_iommu_taken(void)
{
	return platform_bus_type.iommu_ops;
}

/* Unregistering leaves these pointers behind, and the next device added follows them. */
static void soft_iommu_forget_buses(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(soft_iommu_buses); i++)
		if (soft_iommu_buses[i]->iommu_ops == soft_iommu_ops)
			soft_iommu_buses[i]->iommu_ops = NULL;
}
#else
static bool soft_iommu_taken(void)
{
	return false;
}

static void soft_iommu_forget_buses(void)
{
}
#endif

/* Before the NPU device is added: it is probed as it comes. */
int soft_iommu_register(struct soft_npu *npu)
{
	int ret;

	if (soft_iommu_taken()) {
		dev_warn(npu->dev, "another IOMMU driver owns the platform bus, declining\n");
		return -EBUSY;
	}
	memset(&soft_iommu, 0, sizeof(soft_iommu));
	ret = iommu_device_sysfs_add(&soft_iommu, npu->dev, NULL, SOFT_NAME);
	if (ret)
		return ret;
	soft_iommu_npu = npu;
	ret = iommu_device_register(&soft_iommu, soft_iommu_ops, NULL);
	if (ret) {
		dev_warn(npu->dev, "cannot register an IOMMU: %d\n", ret);
		soft_iommu_npu = NULL;
		iommu_device_sysfs_remove(&soft_iommu);
	}
	return ret;
}

/* The NPU device is gone. */
void soft_iommu_unregister(struct soft_npu *npu)
{
	iommu_device_unregister(&soft_iommu);
	soft_iommu_forget_buses();
	iommu_device_sysfs_remove(&soft_iommu);
	soft_iommu_npu = NULL;
}

int soft_iommu_init(void)
{
	soft_iommu_ops = kmemdup(&soft_iommu_template, sizeof(soft_iommu_template), GFP_KERNEL);
	return soft_iommu_ops ? 0 : -ENOMEM;
}

void soft_iommu_exit(void)
{
	kfree(soft_iommu_ops);
}
