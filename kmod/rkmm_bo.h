/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Buffers: shmem GEM, mmap, dma-buf, cache maintenance of dirty and live ranges.
 *
 * The NPU is not coherent (hw 01 §6.5). Two sets of byte ranges say what the
 * caches may hold that memory does not, and the other way round:
 *
 * - *dirty*: written by the CPU, as a bracket (RKMM_BO_SYNC or dma-buf) said, and
 *   not yet cleaned. It is exact: cleaning a byte that the CPU did not write
 *   could put an old value over what the NPU wrote.
 * - *written*: to be written by a submission, and not yet invalidated for the
 *   CPU. It may hold more than that, never less.
 *
 * rkmm_bo_prepare() moves bytes from dirty to memory and into written; the CPU's
 * "begin" invalidates written; its "end" moves bytes from written to dirty. A
 * byte that is in both sets belongs to the CPU: it is cleaned before the line is
 * invalidated.
 *
 * Lines are 64 bytes. Cleaning a part of a line writes back the whole line,
 * invalidating a part of one cleans it first. So where the CPU may dirty a line,
 * the NPU's bytes in it are fetched before ("begin" with write does so for whole
 * lines), and where the NPU writes a part of a line, the CPU's bytes around it are
 * cleaned before (rkmm_bo_prepare() for a write). What is left to the user is
 * not to write one line from both sides at a time.
 *
 * Locks: rkmm_client.submit_lock > dma_resv > rkmm_bo.lock > rkmm_vm.lock;
 * rkmm_vm.pinned_lock is innermost.
 */
#ifndef RKMM_BO_H
#define RKMM_BO_H

#include <drm/drm_gem_shmem_helper.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/scatterlist.h>

#include "rkmm_ranges.h"

struct dma_buf;
struct dma_buf_attachment;
struct drm_file;
struct rkmm_client;
struct rkmm_device;

#define RKMM_LINE	64u	/* bytes of a cache line */

/**
 * struct rkmm_segment - piece of a buffer that is contiguous for DMA
 */
struct rkmm_segment {
	/** @start: offset in the buffer; the next segment's start ends it */
	u64 start;
	/** @addr: DMA address of that byte on the facade */
	dma_addr_t addr;
};

/**
 * struct rkmm_bo - one buffer
 */
struct rkmm_bo {
	/** @base: pages, mmap offset, vmap */
	struct drm_gem_shmem_object base;
	/** @lock: pinning, @dirty, @written, @attachments; sleeps; inside dma_resv lock */
	struct mutex lock;
	/** @sgt: pages mapped through the facade (own buffers), or the import's table */
	struct sg_table *sgt;
	/** @own_sgt: storage for own buffers */
	struct sg_table own_sgt;
	/** @segments: index of @sgt by offset; fixed while @pinned, see rkmm_vm_fini() */
	struct rkmm_segment *segments;
	/** @nsegments: entries of @segments */
	u32 nsegments;
	/** @pinned: pages present and mapped on the facade; set once, under @lock */
	bool pinned;
	/** @mapped: still mapped on the facade: false again once the device is gone; @lock */
	bool mapped;
	/** @read_only: an import that the NPU must not write; fixed */
	bool read_only;
	/**
	 * @owner: the only client that knows it, referenced; NULL once others may. Cleared
	 * under rkmm_client.submit_lock of it, dma_resv lock and @lock
	 */
	struct rkmm_client *owner;
	/** @last_read: the owner's last submission that reads it; its rkmm_client.submit_lock */
	u64 last_read;
	/** @last_write: likewise; written under submit_lock and @lock */
	u64 last_write;
	/** @import: where an imported buffer comes from; fixed */
	struct dma_buf *import;
	/** @detached: the attachment is gone but for the reference to @import */
	bool detached;
	/** @dirty: bytes the CPU wrote that were not cleaned yet; under @lock */
	struct rkmm_ranges dirty;
	/** @written: bytes the NPU may have written that were not invalidated yet; @lock */
	struct rkmm_ranges written;
	/** @attachments: of other devices that have it mapped; under @lock */
	struct list_head attachments;
	/** @mappings: of this buffer in windows; under rkmm_vm.lock */
	struct list_head mappings;
	/** @staged: times it is staged in windows; under rkmm_vm.stage_lock */
	u32 staged;
	/** @in_pinned: in rkmm_vm.pinned; under rkmm_vm.pinned_lock */
	struct list_head in_pinned;
	/** @in_imports: in rkmm_vm.imports; under rkmm_vm.pinned_lock */
	struct list_head in_imports;
};

static inline struct rkmm_bo *to_rkmm_bo(struct drm_gem_object *obj)
{
	return container_of(to_drm_gem_shmem_obj(obj), struct rkmm_bo, base);
}

/** rkmm_bo_alloc() - drm_driver.gem_create_object */
struct drm_gem_object *rkmm_bo_alloc(struct drm_device *drm, size_t size);
/**
 * rkmm_bo_import() - drm_driver.gem_prime_import: maps the attachment through the facade
 * @drm: device
 * @buf: dma-buf of this or of another device
 *
 * A dma-buf is one object per device, whoever imports it: so the caches' state is
 * known in one place.
 */
struct drm_gem_object *rkmm_bo_import(struct drm_device *drm, struct dma_buf *buf);
struct drm_gem_object *rkmm_bo_import_sgt(struct drm_device *drm,
					  struct dma_buf_attachment *attach,
					  struct sg_table *sgt);

int rkmm_ioctl_bo_create(struct drm_device *drm, void *data, struct drm_file *file);
int rkmm_ioctl_bo_sync(struct drm_device *drm, void *data, struct drm_file *file);

/**
 * rkmm_bo_pin() - pages present, mapped on the facade and clean; idempotent; sleeps
 * @bo: buffer
 *
 * Takes the buffer's dma_resv lock on newer kernels: not to be called with it.
 *
 * Return: 0, -ENOMEM, -EINTR, -ENODEV.
 */
int rkmm_bo_pin(struct rkmm_bo *bo);

/**
 * rkmm_bo_prepare() - make a range ready for the NPU
 * @bo: buffer, pinned
 * @offset: first byte
 * @size: bytes; the range lies inside the buffer
 * @seqno: sequence number of the submission
 * @write: the NPU will write the range
 *
 * Cleans exactly the dirty bytes inside the range (for a write also so that no
 * later eviction lands on the NPU's output, hw 03 M2) and, for a write, marks it
 * written. Sleeps; before the job's fence is armed.
 *
 * The caller holds the client's submit_lock and, if the buffer is shared, its dma_resv
 * lock from before this call until the job's fence is among its fences: otherwise a
 * CPU access that begins in between takes the output for finished.
 *
 * Return: bytes synchronised.
 */
u64 rkmm_bo_prepare(struct rkmm_bo *bo, u64 offset, u64 size, u64 seqno, bool write);

/* Sums for fdinfo: bytes of a buffer that are resident (pinned). */
size_t rkmm_bo_resident(struct rkmm_bo *bo);
/** rkmm_bo_active() - is a submission going to use or using it, as @client sees it */
bool rkmm_bo_active(struct rkmm_bo *bo, const struct rkmm_client *client);

/**
 * rkmm_job_publish_bo() - others than the owner get to know a buffer
 * @bo: buffer
 *
 * The owner's jobs that use it are in its reservation afterwards. Sleeps; takes the
 * owner's submit_lock. Defined in rkmm_job.c.
 *
 * Return: 0, -ENOMEM.
 */
int rkmm_job_publish_bo(struct rkmm_bo *bo);

/* ---- between rkmm_bo.c, rkmm_prime.c and rkmm_vm.c ------------------------ */

/** rkmm_bo_map_sgt() - index @sgt and make the buffer known as mapped; @lock held */
int rkmm_bo_map_sgt(struct rkmm_bo *bo, struct sg_table *sgt);
/** rkmm_bo_unmap_sgt() - the facade is going or the buffer is being freed */
void rkmm_bo_unmap_sgt(struct rkmm_bo *bo);
/** rkmm_bo_clean() - clean what is dirty in [@start, @end); @lock held; bytes cleaned */
u64 rkmm_bo_clean(struct rkmm_bo *bo, u64 start, u64 end);
/** rkmm_bo_cpu_begin() - the CPU will access the range; dma_resv and @lock held */
void rkmm_bo_cpu_begin(struct rkmm_bo *bo, u64 start, u64 end, bool write);
/** rkmm_bo_cpu_end() - the CPU wrote the range; @lock held */
void rkmm_bo_cpu_end(struct rkmm_bo *bo, u64 start, u64 end);
/** rkmm_bo_sync_device() - clean or invalidate a range by the DMA API; mapped, @lock held */
void rkmm_bo_sync_device(struct rkmm_bo *bo, u64 start, u64 end, bool for_cpu);

/** rkmm_bo_export() - drm_gem_object_funcs.export */
struct dma_buf *rkmm_bo_export(struct drm_gem_object *obj, int flags);
/** rkmm_bo_import_detach() - leave the exporter; what is left is freed with the object */
void rkmm_bo_import_detach(struct rkmm_bo *bo);
int rkmm_bo_import_begin(struct rkmm_bo *bo, bool read, bool write);
int rkmm_bo_import_end(struct rkmm_bo *bo, bool read, bool write);

#endif
