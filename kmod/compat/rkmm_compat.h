/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between the kernels rkmm is built for (Documentation/kernels.rst).
 *
 * rkmm_config.h is made at build time: HAVE_X is defined where probe/x.c compiles. The probe
 * says what changed and when. The rest of the driver is written for one kernel, the newest
 * in the table, in the names of this file; no other file tests HAVE_X but for whole structures of
 * callbacks (the software IOMMU).
 */
#ifndef RKMM_COMPAT_H
#define RKMM_COMPAT_H

#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_ioctl.h>
#include <linux/dma-buf.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/iommu.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/stringify.h>
#include <linux/timer.h>

#include "compat/rkmm_config.h"

#ifdef HAVE_LINUX_UNALIGNED
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

/**
 * RKMM_IMPORT_NS() - use the symbols of a namespace
 * @ns: bare word
 */
#ifdef HAVE_IMPORT_NS_WORD
#define RKMM_IMPORT_NS(ns)	MODULE_IMPORT_NS(ns)
#else
#define RKMM_IMPORT_NS(ns)	MODULE_IMPORT_NS(__stringify(ns))
#endif

/*
 * platform_driver.remove: static rkmm_remove_t f(struct platform_device *pdev), which ends with
 * "return RKMM_REMOVED;".
 */
#ifdef HAVE_PLATFORM_REMOVE_VOID
#define rkmm_remove_t	void
#define RKMM_REMOVED
#else
#define rkmm_remove_t	int
#define RKMM_REMOVED	0
#endif

/* --- IOMMU ------------------------------------------------------------------------------- */

/**
 * rkmm_iommu_domain_alloc() - a paging domain for @dev, not attached
 * @dev: device behind an IOMMU
 *
 * Return: the domain or an ERR_PTR, never NULL.
 */
static inline struct iommu_domain *rkmm_iommu_domain_alloc(struct device *dev)
{
#ifdef HAVE_IOMMU_PAGING_DOMAIN_ALLOC
	return iommu_paging_domain_alloc(dev);
#else
	struct iommu_domain *domain;

	/* the bus may have an IOMMU driver that does not know this device */
	if (!device_iommu_mapped(dev))
		return ERR_PTR(-ENODEV);
	domain = iommu_domain_alloc(dev->bus);
	return domain ? domain : ERR_PTR(-ENOMEM);
#endif
}

/**
 * rkmm_iommu_map() - map a physically contiguous range
 * @domain: the domain
 * @iova: device address
 * @phys: physical address
 * @size: bytes
 * @prot: IOMMU_READ, IOMMU_WRITE
 *
 * May sleep.
 *
 * Return: 0 or an error.
 */
static inline int rkmm_iommu_map(struct iommu_domain *domain, unsigned long iova, phys_addr_t phys,
				 size_t size, int prot)
{
#ifdef HAVE_IOMMU_MAP_GFP
	return iommu_map(domain, iova, phys, size, prot, GFP_KERNEL);
#else
	return iommu_map(domain, iova, phys, size, prot);
#endif
}

/**
 * rkmm_iommu_map_atomic() - rkmm_iommu_map() that neither sleeps nor waits for memory
 * @domain: the domain
 * @iova: device address
 * @phys: physical address
 * @size: bytes
 * @prot: IOMMU_READ, IOMMU_WRITE
 *
 * Return: 0 or an error.
 */
static inline int rkmm_iommu_map_atomic(struct iommu_domain *domain, unsigned long iova,
					phys_addr_t phys, size_t size, int prot)
{
#ifdef HAVE_IOMMU_MAP_GFP
	return iommu_map(domain, iova, phys, size, prot, GFP_ATOMIC);
#else
	return iommu_map_atomic(domain, iova, phys, size, prot);
#endif
}

/* --- DRM --------------------------------------------------------------------------------- */

/*
 * Initialisers of struct drm_driver and of a DRM node's struct file_operations. Each brings its
 * own comma, because on some kernels there is nothing to set.
 */

/* RKMM_DRM_PRIME_OPS: allow PRIME import and export */
#ifdef HAVE_DRM_PRIME_HELPERS
#define RKMM_DRM_PRIME_OPS					\
	.prime_handle_to_fd = drm_gem_prime_handle_to_fd,	\
	.prime_fd_to_handle = drm_gem_prime_fd_to_handle,
#else
#define RKMM_DRM_PRIME_OPS
#endif

/* RKMM_DRM_DATE(): date of the driver */
#ifdef HAVE_DRM_DRIVER_DATE
#define RKMM_DRM_DATE(text)	.date = text,
#else
#define RKMM_DRM_DATE(text)
#endif

/*
 * RKMM_DRM_GEM_FOPS: file operations of a GEM driver's node, without unlocked_ioctl. Since 6.12
 * opening the node warns without FOP_UNSIGNED_OFFSET.
 */
#ifdef FOP_UNSIGNED_OFFSET
#define RKMM_DRM_FOP_FLAGS	.fop_flags = FOP_UNSIGNED_OFFSET,
#else
#define RKMM_DRM_FOP_FLAGS
#endif
#define RKMM_DRM_GEM_FOPS			\
	RKMM_DRM_FOP_FLAGS			\
	.open = drm_open,			\
	.release = drm_release,			\
	.compat_ioctl = drm_compat_ioctl,	\
	.poll = drm_poll,			\
	.read = drm_read,			\
	.llseek = noop_llseek,			\
	.mmap = drm_gem_mmap,

/* rkmm_gem_is_imported() - does the object come from another driver's dma-buf */
static inline bool rkmm_gem_is_imported(const struct drm_gem_object *obj)
{
#ifdef HAVE_DRM_GEM_IS_IMPORTED
	return drm_gem_is_imported(obj);
#else
	return obj->import_attach;
#endif
}

/* rkmm_dma_buf_unmap() - unmap a bidirectional attachment, dma_resv lock not held */
static inline void rkmm_dma_buf_unmap(struct dma_buf_attachment *attach, struct sg_table *sgt)
{
#ifdef HAVE_DMA_BUF_UNMAP_UNLOCKED
	dma_buf_unmap_attachment_unlocked(attach, sgt, DMA_BIDIRECTIONAL);
#else
	dma_buf_unmap_attachment(attach, sgt, DMA_BIDIRECTIONAL);
#endif
}

/* --- memory, timers, tracing ------------------------------------------------------------- */

/* rkmm_vm_flags_set() - add flags to a mapping that is being made */
static inline void rkmm_vm_flags_set(struct vm_area_struct *vma, unsigned long flags)
{
#ifdef HAVE_VM_FLAGS_SET
	vm_flags_set(vma, flags);
#else
	vma->vm_flags |= flags;
#endif
}

static inline void rkmm_vm_flags_clear(struct vm_area_struct *vma, unsigned long flags)
{
#ifdef HAVE_VM_FLAGS_SET
	vm_flags_clear(vma, flags);
#else
	vma->vm_flags &= ~flags;
#endif
}

/* rkmm_timer_stop() - no longer pending, callback not running; it may be started again */
static inline int rkmm_timer_stop(struct timer_list *timer)
{
#ifdef HAVE_TIMER_DELETE_SYNC
	return timer_delete_sync(timer);
#else
	return del_timer_sync(timer);
#endif
}

/**
 * rkmm_timer_shutdown() - as rkmm_timer_stop(), and for good
 * @timer: the timer
 *
 * The caller makes sure that nobody starts it again: an old kernel would let him.
 */
static inline int rkmm_timer_shutdown(struct timer_list *timer)
{
#ifdef HAVE_TIMER_SHUTDOWN_SYNC
	return timer_shutdown_sync(timer);
#else
	return rkmm_timer_stop(timer);
#endif
}

/* rkmm_from_timer() - the structure that holds a timer, in its callback */
#ifdef HAVE_TIMER_CONTAINER_OF
#define rkmm_from_timer(var, timer, field)	timer_container_of(var, timer, field)
#else
#define rkmm_from_timer(var, timer, field)	from_timer(var, timer, field)
#endif

/* rkmm_hrtimer_setup() - initialise a timer with its callback */
static inline void rkmm_hrtimer_setup(struct hrtimer *timer,
				      enum hrtimer_restart (*fn)(struct hrtimer *timer),
				      clockid_t clock, enum hrtimer_mode mode)
{
#ifdef HAVE_HRTIMER_SETUP
	hrtimer_setup(timer, fn, clock, mode);
#else
	hrtimer_init(timer, clock, mode);
	timer->function = fn;
#endif
}

/* rkmm_uninitialized: a variable that is written before it is read need not be zeroed before */
#if __has_attribute(__uninitialized__)
#define rkmm_uninitialized	__attribute__((__uninitialized__))
#else
#define rkmm_uninitialized
#endif

/* rkmm_assign_str() - copy the string that __string(field, src) sized, in a trace event */
#ifdef HAVE_ASSIGN_STR_ONE
#define rkmm_assign_str(field, src)	__assign_str(field)
#else
#define rkmm_assign_str(field, src)	__assign_str(field, src)
#endif

#endif
