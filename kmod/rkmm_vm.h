/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Address windows: one IOMMU domain each, 4 GiB of NPU addresses (IOVA).
 *
 * Behind every mapping lies a read-only zero page (the hardware over-fetches a
 * few lines, hw 02 §3.4). Small ones lie side by side in slabs; behind a large one is a
 * hole, so that a real overrun is a fault.
 * IOVA 0 and the last page are never handed out.
 */
#ifndef RKMM_VM_H
#define RKMM_VM_H

#include <drm/drm_mm.h>
#include <linux/iommu.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/scatterlist.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "rkmm_space.h"
#include "rkmm_stage.h"

struct rkmm_bo;
struct rkmm_device;

/* First address that is handed out, and what lies behind each mapping: guard and hole. */
#define RKMM_WINDOW_START	((u64)PAGE_SIZE)
#define RKMM_WINDOW_TAIL	((u64)2 * PAGE_SIZE)

/**
 * struct rkmm_window - one address window
 */
struct rkmm_window {
	/** @ref: clients, jobs, program memory */
	struct kref ref;
	/** @rdev: device */
	struct rkmm_device *rdev;
	/** @id: for people, never reused */
	u32 id;
	/** @index: in its space */
	u32 index;
	/** @domain: NULL once the device is gone; not attached any more when that is written */
	struct iommu_domain *domain;
	/** @mm: IOVA space; under rkmm_vm.lock */
	struct drm_mm mm;
	/** @used: bytes of it that are taken, tails included; under rkmm_vm.lock */
	u64 used;
	/** @nmappings: ranges without a gap, as hw 03 M8 counts them; under rkmm_vm.lock */
	u32 nmappings;
	/** @slabs: those that small mappings share; under rkmm_vm.lock */
	struct list_head slabs;
	/** @mappings: of buffers; under rkmm_vm.lock */
	struct list_head mappings;
	/** @progmems: program memory; under rkmm_vm.lock */
	struct list_head progmems;
	/** @node: in rkmm_vm.windows; under rkmm_vm.lock */
	struct list_head node;
	/** @stage_mm: the ranges of rkmm_stage.h; under rkmm_vm.lock */
	struct drm_mm_node stage_mm;
	/** @stage_ready: bytes of each range that have page tables; only grows; rkmm_vm.lock */
	u64 stage_ready[RKMM_STAGE_SIDES];
	/**
	 * @staged: what is mapped in the ranges, referenced; written under
	 * rkmm_vm.stage_lock and rkmm_sched.lock, read under either
	 */
	struct rkmm_staging *staged;
	/** @faults: translation faults seen; written by the fault handler */
	atomic_t faults;
};

/**
 * struct rkmm_mapping - one buffer in one window; lives until the buffer or the window goes
 */
struct rkmm_mapping {
	/** @mm: IOVA, tail included; under rkmm_vm.lock */
	struct drm_mm_node mm;
	/** @window: where */
	struct rkmm_window *window;
	/** @bo: what */
	struct rkmm_bo *bo;
	/** @in_window: in rkmm_window.mappings; under rkmm_vm.lock */
	struct list_head in_window;
	/** @in_bo: in rkmm_bo.mappings; under rkmm_vm.lock */
	struct list_head in_bo;
	/** @iova: NPU address of the first byte */
	u32 iova;
};

/**
 * struct rkmm_vm - all windows of a device
 */
struct rkmm_vm {
	/** @lock: IOVA spaces, mappings, @windows; sleeps; never taken in signalling paths */
	struct mutex lock;
	/** @windows: all windows; under @lock */
	struct list_head windows;
	/** @last_id: rkmm_window.id of the last one made; under @lock */
	u32 last_id;
	/** @shared: the windows of all clients with isolation=shared, else NULL */
	struct rkmm_space *shared;
	/** @windows_most: windows of a space, at most */
	u32 windows_most;
	/** @keep: bytes of a window that weights leave free if they can go elsewhere */
	u64 keep;
	/** @slab_bytes: size of a slab, 0 for none; see rkmm_slab.c */
	u64 slab_bytes;
	/** @strict: every client has windows of its own */
	bool strict;
	/** @bytes: size of a window */
	u64 bytes;
	/** @largest: largest buffer that a window can hold */
	u64 largest;
	/** @attached: window the device translates through; under rkmm_vm.attach_lock */
	struct rkmm_window *attached;
	/**
	 * @attach_lock: attach and detach; all cores are idle while held. Fences wait for
	 * its holder, so it is never held together with @lock, under which memory is
	 * allocated.
	 */
	struct mutex attach_lock;
	/** @stage_side: bytes of each range of rkmm_stage.h, 0: nothing is staged */
	u64 stage_side;
	/** @stage_lock: what is staged, rkmm_bo.staged; see rkmm_stage.h */
	struct mutex stage_lock;
	/** @zero: the guard page, DMA-mapped through the facade */
	struct page *zero;
	/** @zero_dma: its DMA address */
	dma_addr_t zero_dma;
	/** @pinned_lock: @pinned, @imports; innermost */
	spinlock_t pinned_lock;
	/** @pinned: buffers that are mapped on the facade */
	struct list_head pinned;
	/** @imports: buffers of other devices */
	struct list_head imports;
	/** @pinned_wait: a buffer left @pinned */
	wait_queue_head_t pinned_wait;
};

/**
 * struct rkmm_progmem - program memory: write-combined, never mapped to user space
 */
struct rkmm_progmem {
	/** @window: where it is mapped, referenced */
	struct rkmm_window *window;
	/** @mm: IOVA, tail included; under rkmm_vm.lock */
	struct drm_mm_node mm;
	/** @in_window: so that rkmm_vm_fini() finds it; under rkmm_vm.lock */
	struct list_head in_window;
	/** @pages: the pages, zeroed */
	struct page **pages;
	/** @npages: entries of @pages */
	u32 npages;
	/** @of: NULL, or whose pages these are; kept by the owner of both */
	struct rkmm_progmem *of;
	/** @sgt: the pages mapped on the facade */
	struct sg_table sgt;
	/** @mapped: on the facade and in the window; under rkmm_vm.lock */
	bool mapped;
	/** @scratch: the NPU writes it */
	bool scratch;
	/** @staged: times it is staged in windows; under rkmm_vm.stage_lock */
	u32 staged;
	/**
	 * @vaddr: write-combined mapping; write upward, wmb() before the kick; read only what the
	 * NPU wrote, and for dumps
	 */
	void *vaddr;
	/** @iova: NPU address of the first byte */
	u32 iova;
	/** @size: bytes, whole pages */
	size_t size;
};

/** rkmm_vm_init() - after the facade and rdev->drm exist; all errors are reported */
int rkmm_vm_init(struct rkmm_device *rdev);
/**
 * rkmm_vm_fini() - device gone, cores stopped: detach, unmap everything, free domains
 * @rdev: device
 *
 * After drm_dev_unplug(), before the facade goes. Buffers, files, windows and program
 * memory may outlive it; none of them touches the IOMMU or the facade afterwards.
 */
void rkmm_vm_fini(struct rkmm_device *rdev);

/** rkmm_window_new() - a window for a space, with number @index in it; ERR_PTR on failure */
struct rkmm_window *rkmm_window_new(struct rkmm_device *rdev, u32 index);
/** rkmm_window_open() - a window for the driver's own programs: one of its own if strict */
struct rkmm_window *rkmm_window_open(struct rkmm_device *rdev);
void rkmm_window_get(struct rkmm_window *window);
/** rkmm_window_put() - may sleep; the last reference detaches and frees the window */
void rkmm_window_put(struct rkmm_window *window);

/**
 * rkmm_window_map() - map a whole buffer, or find its mapping
 * @window: window
 * @bo: pinned by this call if it was not (rkmm_bo_pin())
 * @keep: bytes that a new mapping leaves free
 * @iova: NPU address of the buffer's first byte
 *
 * Read-only imports are mapped read-only. Return: 0, -ENOSPC (drm_dbg names
 * IOVA), -ENOMEM, -ENODEV.
 */
int rkmm_window_map(struct rkmm_window *window, struct rkmm_bo *bo, u64 keep, u32 *iova);
/** rkmm_window_has() - whether the buffer is mapped there now */
bool rkmm_window_has(struct rkmm_window *window, struct rkmm_bo *bo);
/** rkmm_window_room() - bytes that are not taken, in one piece or not */
u64 rkmm_window_room(struct rkmm_window *window);

/* ---- inside a window: rkmm_vm.lock held ---------------------------------- */

/** rkmm_window_insert() - reserve @size bytes of IOVA and their tail: 0, -ENOSPC, -ENODEV */
int rkmm_window_insert(struct rkmm_window *window, struct drm_mm_node *node, u64 size);
/** rkmm_window_fill() - map @len bytes at *@at, which advances */
int rkmm_window_fill(struct rkmm_window *window, u64 *at, dma_addr_t addr, u64 len, int prot);
/** rkmm_window_guard() - the page behind the last byte */
int rkmm_window_guard(struct rkmm_window *window, u64 *at);
/** rkmm_window_unmap() - what is mapped in [@start, @end) without a gap, which may be empty */
void rkmm_window_unmap(struct rkmm_window *window, u64 start, u64 end);
/** rkmm_window_remove() - unmap what was filled up to @end, give the IOVA back */
void rkmm_window_remove(struct rkmm_window *window, struct drm_mm_node *node, u64 end);

/* ---- rkmm_slab.c: rkmm_vm.lock held --------------------------------------- */

/** rkmm_slab_init() - module parameter; @vm->bytes is known */
void rkmm_slab_init(struct rkmm_vm *vm);
/**
 * rkmm_slab_insert() - as rkmm_window_insert(), in a slab
 * @window: window
 * @node: as long as the mapping and its guard page
 * @size: bytes of the mapping
 *
 * Return: 0, -EFBIG for what is not small, -ENOSPC, -ENOMEM.
 */
int rkmm_slab_insert(struct rkmm_window *window, struct drm_mm_node *node, u64 size);
/** rkmm_slab_remove() - as rkmm_window_remove(), false if the range is in no slab */
bool rkmm_slab_remove(struct rkmm_window *window, struct drm_mm_node *node, u64 end);
/** rkmm_slab_alone() - there may be one more mapping that is in none */
bool rkmm_slab_alone(const struct rkmm_window *window);

/** rkmm_vm_unmap_bo() - drop all mappings of a buffer that is being freed */
void rkmm_vm_unmap_bo(struct rkmm_bo *bo);

/**
 * rkmm_vm_attach() - let the device translate through @window (NULL: none)
 * @rdev: device
 * @window: window
 *
 * All cores idle with interrupts drained (hw 01 §4.5). Always detaches first, so
 * calling it with the attached window reprograms the MMU after a reset. @window does
 * not go meanwhile. On failure no window is attached.
 */
int rkmm_vm_attach(struct rkmm_device *rdev, struct rkmm_window *window);
/** rkmm_vm_reattach() - program the MMU again for the window that is attached, if any */
int rkmm_vm_reattach(struct rkmm_device *rdev);

/** rkmm_page_gfp() - flags for a page that the NPU can reach */
gfp_t rkmm_page_gfp(struct rkmm_device *rdev);
/** rkmm_progmem_alloc() - program memory in @window; ERR_PTR on failure */
struct rkmm_progmem *rkmm_progmem_alloc(struct rkmm_window *window, size_t size);
/** rkmm_scratch_alloc() - the same for what the NPU writes and reads again; zeroed */
struct rkmm_progmem *rkmm_scratch_alloc(struct rkmm_window *window, size_t size);
/** rkmm_progmem_alias() - the same memory in another window; freed before @pm */
struct rkmm_progmem *rkmm_progmem_alias(struct rkmm_progmem *pm, struct rkmm_window *window);
/** rkmm_progmem_unmap() - out of the window and off the facade; rkmm_vm.lock held; idempotent */
void rkmm_progmem_unmap(struct rkmm_progmem *pm);
/** rkmm_progmem_free() - no core may still run from it */
void rkmm_progmem_free(struct rkmm_progmem *pm);

/** rkmm_vm_fault() - called by rkmm_vm.c from the IOMMU fault handler; defined in rkmm_recover.c */
void rkmm_vm_fault(struct rkmm_device *rdev, struct rkmm_window *window, unsigned long iova,
		   bool write);

#endif
