/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * As much of the kernel as kmod/rkmm_space.c and kmod/rkmm_slab.c ask for, in one thread of a
 * program: locks say whether they are held, allocations fail when told to.
 */
#ifndef UNIT_KERNEL_H
#define UNIT_KERNEL_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <linux/types.h>

typedef uint32_t u32;
typedef uint64_t u64;
typedef unsigned int uint;

#define PAGE_SIZE	4096ul
#define min(a, b)	((a) < (b) ? (a) : (b))
#define max(a, b)	((a) > (b) ? (a) : (b))
#define round_down(x, to)	((x) / (to) * (to))
#define container_of(p, type, member)	((type *)((char *)(p) - offsetof(type, member)))

#define module_param(name, type, mode)	_Static_assert(1, "")
#define MODULE_PARM_DESC(name, text)	_Static_assert(1, "")
#define dev_err_probe(dev, err, ...)	((void)(dev), (err))
#define drm_dbg(drm, ...)		((void)(drm))
#define smp_store_release(p, v)		(*(p) = (v))	/* there is one thread */
#define smp_load_acquire(p)		(*(p))		/* there is one thread */

static inline void *ERR_PTR(long err)
{
	return (void *)err;
}

static inline long PTR_ERR(const void *p)
{
	return (long)p;
}

static inline bool IS_ERR(const void *p)
{
	return (unsigned long)p >= (unsigned long)-4095;
}

#define ERR_CAST(p)	((void *)(p))

/* Allocations from now on that succeed before one fails; and those that are not freed */
static int alloc_left = -1;
static int allocated;

#define GFP_KERNEL_ACCOUNT	0

static inline void *kzalloc(size_t size, int gfp)
{
	(void)gfp;
	if (!alloc_left)
		return NULL;
	if (alloc_left > 0)
		alloc_left--;
	allocated++;
	return calloc(1, size);
}

static inline void kfree(void *p)
{
	allocated -= !!p;
	free(p);
}

struct mutex {
	bool held;
};

static inline void mutex_init(struct mutex *m)
{
	m->held = false;
}

#define mutex_destroy(m)	((void)(m))

static inline void mutex_lock(struct mutex *m)
{
	if (m->held)
		abort();
	m->held = true;
}

static inline void mutex_unlock(struct mutex *m)
{
	if (!m->held)
		abort();
	m->held = false;
}

#define lockdep_assert_held(m)	do { if (!(m)->held) abort(); } while (0)

struct kref {
	int n;
};

static inline void kref_init(struct kref *k)
{
	k->n = 1;
}

static inline void kref_get(struct kref *k)
{
	k->n++;
}

static inline void kref_put(struct kref *k, void (*release)(struct kref *k))
{
	if (!--k->n)
		release(k);
}

struct list_head {
	struct list_head *next, *prev;
};

static inline void INIT_LIST_HEAD(struct list_head *head)
{
	head->next = head;
	head->prev = head;
}

static inline void list_add(struct list_head *entry, struct list_head *head)
{
	entry->next = head->next;
	entry->prev = head;
	head->next->prev = entry;
	head->next = entry;
}

static inline void list_del(struct list_head *entry)
{
	entry->next->prev = entry->prev;
	entry->prev->next = entry->next;
}

#define list_entry_is_head(p, head, member)	(&(p)->member == (head))
#define list_for_each_entry(p, head, member)					\
	for (p = container_of((head)->next, typeof(*p), member);		\
	     !list_entry_is_head(p, head, member);				\
	     p = container_of(p->member.next, typeof(*p), member))

struct drm_device {
	bool gone;
};

static inline bool drm_dev_enter(struct drm_device *drm, int *idx)
{
	*idx = 0;
	return !drm->gone;
}

#define drm_dev_exit(idx)	((void)(idx))

#endif
