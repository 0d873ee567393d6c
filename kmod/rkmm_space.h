/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Spaces: the address windows of a client (isolation=strict) or of all clients.
 *
 * A space begins with one window. Weights go where those before them went, so that what
 * is submitted one after the other is in one window, until that is full but for a part
 * which is left to activations and programs; then a new window is opened. Everything
 * else is mapped in the window of the weights that it meets, in several if need be:
 * a mapping costs addresses, and no memory but page tables.
 *
 * Every step of a job runs in one window, that of its program (rkmm_job_window()).
 */
#ifndef RKMM_SPACE_H
#define RKMM_SPACE_H

#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/types.h>

struct rkmm_bo;
struct rkmm_device;
struct rkmm_window;

/* An index fits struct rkmm_image_key. */
#define RKMM_WINDOWS_MAX	32

/**
 * struct rkmm_space - windows that buffers and programs are placed in
 * @ref: clients, or the device
 * @rdev: device
 */
struct rkmm_space {
	struct kref ref;
	struct rkmm_device *rdev;
	/** @lock: @n, @fill; sleeps; outside rkmm_vm.lock */
	struct mutex lock;
	/** @n: windows; only grows; read without @lock, entries are there before */
	u32 n;
	/** @fill: where the last weights went; under @lock */
	u32 fill;
	/** @window: referenced */
	struct rkmm_window *window[RKMM_WINDOWS_MAX];
};

/**
 * struct rkmm_demand - what an operation needs a window for
 * @weights: buffer of B, or NULL
 * @bos: all buffers, that of B among them; each may be there more than once
 * @n: entries of @bos
 * @room: bytes for other things, at most
 */
struct rkmm_demand {
	struct rkmm_bo *weights;
	struct rkmm_bo *bos[5];
	u32 n;
	u64 room;
};

/* rkmm_space_init() - module parameters; rkmm_vm.bytes is known; errors are reported */
int rkmm_space_init(struct rkmm_device *rdev);
/* rkmm_space_new() - a space with one window; ERR_PTR on failure */
struct rkmm_space *rkmm_space_new(struct rkmm_device *rdev);
/* rkmm_space_open() - for a new client: the common one, or a fresh one (strict) */
struct rkmm_space *rkmm_space_open(struct rkmm_device *rdev);
/* rkmm_space_put() - may sleep; windows go with it, or with the last program in them */
void rkmm_space_put(struct rkmm_space *space);

/* rkmm_space_windows() - how many there are; those stay */
static inline u32 rkmm_space_windows(const struct rkmm_space *space)
{
	/* Pairs with rkmm_space_grow(). */
	return smp_load_acquire(&space->n);
}

/**
 * rkmm_space_place() - choose the window for an operation and map its buffers there
 * @space: of the client
 * @need: what it needs
 * @near: window of the operation before
 *
 * The window where its weights are, @near if they are in several. Where they are not
 * mapped yet, or the rest does not fit beside them, they are mapped in another one.
 *
 * Return: the window, or ERR_PTR: -ENOSPC (drm_dbg names IOVA), -ENOMEM, -ENODEV.
 */
struct rkmm_window *rkmm_space_place(struct rkmm_space *space, const struct rkmm_demand *need,
				     struct rkmm_window *near);

#endif
