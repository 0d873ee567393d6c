// SPDX-License-Identifier: GPL-2.0-only
/*
 * What of a page has reached the device: the device view of memory.
 *
 * The chip is not coherent (hw 01 §0, fact 5). Each page mapped for DMA has a
 * second page that the NPU reads and writes; data moves between the two only
 * where the DMA API asks for it, so a forgotten synchronisation is a wrong result
 * every time.
 *
 *   exact     a synchronisation moves its bytes and no others
 *   line      64-byte lines; only lines that the CPU changed are written back;
 *	       discarding a partial line writes it back first; eviction on demand
 *   coherent  one page for both
 *
 * Memory without a cached alias (coherent allocations, write-combined mappings)
 * is one page for both in every mode.
 */
#include <linux/bitmap.h>
#include <linux/highmem.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/xarray.h>

#include "soft.h"

#define VIEW_LINE	64
#define VIEW_LINES	(PAGE_SIZE / VIEW_LINE)
/* What the NPU reads where nothing was ever written back. */
#define VIEW_POISON	0xdb

struct view_page {
	struct page *cpu;
	/** @dev: what the NPU sees; @cpu itself where coherent */
	struct page *dev;
	/** @base: mode line: what the CPU's lines held when they were last clean */
	struct page *base;
	/** @maps: DMA mappings that cover the page */
	unsigned int maps;
	/** @guard: a single page that the device only reads */
	bool guard;
	/** @dirty: mode line: lines not clean whatever @base says */
	DECLARE_BITMAP(dirty, VIEW_LINES);
};

static const char * const view_mode_names[] = { "exact", "line", "coherent" };

/* Read: an access of the NPU. Write: everything else. Taken in any context. */
static DEFINE_RWLOCK(view_lock);
/* By page frame number; entries valid under view_lock. */
static DEFINE_XARRAY_FLAGS(view_pages, XA_FLAGS_LOCK_IRQ);
static enum soft_view_mode view_mode;
/* Pages in view_pages, and pages allocated for them; under view_lock. */
static unsigned long view_mapped, view_copies;

unsigned int soft_view_limit_mb;

static unsigned long view_limit(void)
{
	if (soft_view_limit_mb)
		return (unsigned long)soft_view_limit_mb << (20 - PAGE_SHIFT);
	return totalram_pages() / 2;
}

static struct view_page *view_find(phys_addr_t phys)
{
	return xa_load(&view_pages, PHYS_PFN(phys));
}

static void view_copy(struct page *to, struct page *from, size_t offset, size_t len)
{
	void *dst, *src;

	src = kmap_local_page(from);
	dst = kmap_local_page(to);
	memcpy(dst + offset, src + offset, len);
	kunmap_local(dst);
	kunmap_local(src);
}

static void view_read_line(u8 *line, struct page *page, unsigned int n)
{
	void *p = kmap_local_page(page);

	memcpy(line, p + n * VIEW_LINE, VIEW_LINE);
	kunmap_local(p);
}

static void view_write_line(struct page *page, unsigned int n, const u8 *line)
{
	void *p = kmap_local_page(page);

	memcpy(p + n * VIEW_LINE, line, VIEW_LINE);
	kunmap_local(p);
}

/*
 * Write a line back if it is dirty. The CPU may be writing to it: what goes to
 * the device is also what counts as clean, whatever is in the line by then.
 */
static bool view_line_clean(struct view_page *vp, unsigned int n)
{
	u8 line[VIEW_LINE], base[VIEW_LINE];

	view_read_line(line, vp->cpu, n);
	view_read_line(base, vp->base, n);
	if (!test_bit(n, vp->dirty) && !memcmp(line, base, VIEW_LINE))
		return false;
	view_write_line(vp->dev, n, line);
	view_write_line(vp->base, n, line);
	clear_bit(n, vp->dirty);
	return true;
}

/* Drop what the CPU has, and fetch. */
static void view_line_fetch(struct view_page *vp, unsigned int n)
{
	u8 line[VIEW_LINE];

	view_read_line(line, vp->dev, n);
	view_write_line(vp->cpu, n, line);
	view_write_line(vp->base, n, line);
	clear_bit(n, vp->dirty);
}

static void view_page_to_device(struct view_page *vp, size_t offset, size_t len)
{
	unsigned int line;

	if (vp->dev == vp->cpu)
		return;
	if (!vp->base) {
		view_copy(vp->dev, vp->cpu, offset, len);
		return;
	}
	for (line = offset / VIEW_LINE; line * VIEW_LINE < offset + len; line++)
		view_line_clean(vp, line);
}

static void view_page_to_cpu(struct view_page *vp, size_t offset, size_t len)
{
	unsigned int line;

	if (vp->dev == vp->cpu)
		return;
	if (!vp->base) {
		view_copy(vp->cpu, vp->dev, offset, len);
		return;
	}
	for (line = offset / VIEW_LINE; line * VIEW_LINE < offset + len; line++) {
		/* a line with other bytes in it is written back first, as dc civac does */
		if (line * VIEW_LINE < offset || (line + 1) * VIEW_LINE > offset + len)
			view_line_clean(vp, line);
		view_line_fetch(vp, line);
	}
}

static void view_page_free(struct view_page *vp)
{
	if (!vp)
		return;
	if (vp->dev && vp->dev != vp->cpu)
		__free_page(vp->dev);
	if (vp->base)
		__free_page(vp->base);
	kfree(vp);
}

static struct view_page *view_page_new(phys_addr_t phys, bool coherent)
{
	enum soft_view_mode mode = READ_ONCE(view_mode);
	struct view_page *vp;
	void *p;

	vp = kzalloc(sizeof(*vp), GFP_KERNEL);
	if (!vp)
		return NULL;
	vp->maps = 1;
	vp->cpu = pfn_to_page(PHYS_PFN(phys));
	vp->dev = vp->cpu;
	if (coherent || mode == SOFT_VIEW_COHERENT)
		return vp;

	vp->dev = alloc_page(GFP_KERNEL | __GFP_NOWARN | __GFP_NORETRY);
	if (mode == SOFT_VIEW_LINE)
		vp->base = alloc_page(GFP_KERNEL | __GFP_NOWARN | __GFP_NORETRY);
	if (!vp->dev || (mode == SOFT_VIEW_LINE && !vp->base)) {
		view_page_free(vp);
		return NULL;
	}
	p = kmap_local_page(vp->dev);
	memset(p, VIEW_POISON, PAGE_SIZE);
	kunmap_local(p);
	/* pages come zeroed through the cache: all of it is dirty */
	bitmap_fill(vp->dirty, VIEW_LINES);
	return vp;
}

static unsigned int view_page_copies(struct view_page *vp)
{
	return (vp->dev != vp->cpu) + !!vp->base;
}

/* One mapping more of a page that has one */
static bool view_again(phys_addr_t phys)
{
	struct view_page *old;
	unsigned long flags;

	write_lock_irqsave(&view_lock, flags);
	old = view_find(phys);
	if (old)
		old->maps++;
	write_unlock_irqrestore(&view_lock, flags);
	return old;
}

static int view_add_page(phys_addr_t phys, bool coherent)
{
	struct view_page *vp, *old;
	unsigned long flags;
	int ret = 0;

	if (view_again(phys))
		return 0;
	vp = view_page_new(phys, coherent);
	if (!vp)
		return -ENOMEM;
	ret = xa_reserve_irq(&view_pages, PHYS_PFN(phys), GFP_KERNEL);
	if (ret) {
		view_page_free(vp);
		return ret;
	}

	write_lock_irqsave(&view_lock, flags);
	old = view_find(phys);
	if (old) {
		old->maps++;
		goto out;
	}
	if (view_copies + view_page_copies(vp) > view_limit()) {
		ret = -ENOMEM;
		goto out_release;
	}
	/* what the driver maps must be taken back before the module may go */
	if (!view_mapped && !try_module_get(THIS_MODULE)) {
		ret = -ENODEV;
		goto out_release;
	}
	ret = xa_err(xa_store(&view_pages, PHYS_PFN(phys), vp, GFP_NOWAIT));
	if (ret) {
		if (!view_mapped)
			module_put(THIS_MODULE);
		goto out_release;
	}
	view_mapped++;
	view_copies += view_page_copies(vp);
	vp = NULL;
	goto out;

out_release:
	xa_release(&view_pages, PHYS_PFN(phys));
out:
	write_unlock_irqrestore(&view_lock, flags);
	view_page_free(vp);
	return ret;
}

static void view_del_page(phys_addr_t phys)
{
	struct view_page *vp;
	unsigned long flags;

	write_lock_irqsave(&view_lock, flags);
	vp = view_find(phys);
	if (!vp) {
		soft_error(SOFT_ERR_VIEW_UNMAPPED, "unmap of %pap", &phys);
	} else if (--vp->maps) {
		vp = NULL;
	} else {
		xa_erase(&view_pages, PHYS_PFN(phys));
		view_copies -= view_page_copies(vp);
		if (!--view_mapped)
			module_put(THIS_MODULE);
	}
	write_unlock_irqrestore(&view_lock, flags);
	view_page_free(vp);
}

/*
 * Put a range under the view. Sleeps, which a real mapping need not: drivers of
 * this device map when buffers are made.
 */
int soft_view_add(phys_addr_t phys, size_t size, bool coherent)
{
	phys_addr_t start = phys & PAGE_MASK, p;
	int ret;

	for (p = start; p < phys + size; p += PAGE_SIZE) {
		ret = view_add_page(p, coherent);
		if (ret) {
			if (p > start)
				soft_view_del(start, p - start);
			return ret;
		}
		cond_resched();
	}
	return 0;
}

void soft_view_del(phys_addr_t phys, size_t size)
{
	phys_addr_t p;

	for (p = phys & PAGE_MASK; p < phys + size; p += PAGE_SIZE)
		view_del_page(p);
}

void soft_view_mark_guard(phys_addr_t phys)
{
	struct view_page *vp;
	unsigned long flags;

	write_lock_irqsave(&view_lock, flags);
	vp = view_find(phys);
	if (vp)
		vp->guard = true;
	write_unlock_irqrestore(&view_lock, flags);
}

bool soft_view_is_guard(phys_addr_t phys)
{
	struct view_page *vp;
	unsigned long flags;
	bool guard;

	read_lock_irqsave(&view_lock, flags);
	vp = view_find(phys);
	guard = vp && vp->guard;
	read_unlock_irqrestore(&view_lock, flags);
	return guard;
}

static void view_sync(phys_addr_t phys, size_t size,
		      void (*sync)(struct view_page *vp, size_t offset, size_t len))
{
	while (size) {
		size_t offset = offset_in_page(phys);
		size_t n = min_t(size_t, size, PAGE_SIZE - offset);
		struct view_page *vp;
		unsigned long flags;

		write_lock_irqsave(&view_lock, flags);
		vp = view_find(phys);
		if (vp)
			sync(vp, offset, n);
		else
			soft_error(SOFT_ERR_VIEW_UNMAPPED, "sync of %pap", &phys);
		write_unlock_irqrestore(&view_lock, flags);
		phys += n;
		size -= n;
	}
}

void soft_view_to_device(phys_addr_t phys, size_t size)
{
	view_sync(phys, size, view_page_to_device);
}

void soft_view_to_cpu(phys_addr_t phys, size_t size)
{
	view_sync(phys, size, view_page_to_cpu);
}

/* The NPU reads or writes within one page. Return: false where nothing is mapped. */
bool soft_view_access(phys_addr_t phys, void *buf, size_t len, bool write)
{
	struct view_page *vp;
	unsigned long flags;
	void *p;

	read_lock_irqsave(&view_lock, flags);
	vp = view_find(phys);
	if (vp) {
		p = kmap_local_page(vp->dev);
		if (write)
			memcpy(p + offset_in_page(phys), buf, len);
		else
			memcpy(buf, p + offset_in_page(phys), len);
		kunmap_local(p);
	}
	read_unlock_irqrestore(&view_lock, flags);
	return vp;
}

/* Mode line: every dirty line is written back, as a full cache may at any time. */
u64 soft_view_evict(void)
{
	unsigned long index = 0, flags;
	struct view_page *vp;
	unsigned int line;
	u64 lines = 0;

	for (;;) {
		write_lock_irqsave(&view_lock, flags);
		vp = xa_find(&view_pages, &index, ULONG_MAX, XA_PRESENT);
		if (vp && vp->base)
			for (line = 0; line < VIEW_LINES; line++)
				lines += view_line_clean(vp, line);
		write_unlock_irqrestore(&view_lock, flags);
		if (!vp)
			return lines;
		index++;
		cond_resched();
	}
}

void soft_view_counts(unsigned long *mapped, unsigned long *copies)
{
	unsigned long flags;

	read_lock_irqsave(&view_lock, flags);
	*mapped = view_mapped;
	*copies = view_copies;
	read_unlock_irqrestore(&view_lock, flags);
}

/* The mode is that of pages mapped from now on; it changes only with none mapped. */
static int view_mode_set(const char *val, const struct kernel_param *kp)
{
	int mode = sysfs_match_string(view_mode_names, val);
	unsigned long flags;
	int ret = 0;

	if (mode < 0)
		return mode;
	write_lock_irqsave(&view_lock, flags);
	if (view_mapped && mode != view_mode)
		ret = -EBUSY;
	else
		WRITE_ONCE(view_mode, mode);
	write_unlock_irqrestore(&view_lock, flags);
	return ret;
}

static int view_mode_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%s\n", view_mode_names[READ_ONCE(view_mode)]);
}

const struct kernel_param_ops soft_view_mode_ops = {
	.set = view_mode_set,
	.get = view_mode_get,
};

void soft_view_exit(void)
{
	/* the module cannot go while pages are mapped: only reservations can be left */
	xa_destroy(&view_pages);
}
