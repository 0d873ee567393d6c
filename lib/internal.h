/* SPDX-License-Identifier: MIT */
#ifndef RKMM_INTERNAL_H
#define RKMM_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "lib/rkmm.h"
#include "lib/sys.h"

/* Types the device may list; those past it are newer than this library. */
#define RKMM_MAX_TYPES	16

/**
 * struct rkmm_device - an open node
 * @refs: the caller, and every object made from the device
 * @fd: the node
 * @info: as read at open; the parts that do not change
 * @types: type pairs the chip does
 * @num_types: length of @types
 * @lock: protects @buffers, and makes import and close of a handle atomic: a
 *	dma-buf that is imported twice has one handle
 * @buffers: all buffers
 */
struct rkmm_device {
	atomic_uint refs;
	int fd;
	struct drm_rkmm_device_info info;
	struct drm_rkmm_type_info types[RKMM_MAX_TYPES];
	unsigned int num_types;
	pthread_mutex_t lock;
	struct rkmm_buffer *buffers;
};

/**
 * struct rkmm_buffer - a GEM handle
 * @dev: referenced
 * @next: list of the device, under its lock
 * @refs: imports of the same handle, under the device lock
 * @handle: GEM handle
 * @dmabuf_fd: a foreign buffer is mapped through its dma-buf; -1 for own ones
 * @size: bytes
 * @mmap_offset: own buffers: where to map on the node
 * @ptr: mapping or NULL, set once; under the device lock
 */
struct rkmm_buffer {
	struct rkmm_device *dev;
	struct rkmm_buffer *next;
	unsigned int refs;
	uint32_t handle;
	int dmabuf_fd;
	uint64_t size;
	uint64_t mmap_offset;
	void *ptr;
};

/* rkmm_buffer_is_temporary() - from rkmm_temporary(): no device, no memory */
bool rkmm_buffer_is_temporary(const struct rkmm_buffer *buf);

#define RKMM_PLAN_RENEWALS	8

/**
 * struct rkmm_plan_handle - a plan of the driver, and those that it has taken the place of
 * @lock: protects @old and @nold
 * @now: changes under @lock, read without
 * @old: others may be about to submit with them
 * @nold: how many
 */
struct rkmm_plan_handle {
	pthread_mutex_t lock;
	atomic_uint now;
	uint32_t old[RKMM_PLAN_RENEWALS];
	unsigned int nold;
};

/**
 * struct rkmm_plan - a plan handle and what the driver said about it
 * @dev: referenced
 * @info: argument of PLAN_CREATE with its outputs, but for the handle; constant
 * @handle: what to submit with
 */
struct rkmm_plan {
	struct rkmm_device *dev;
	struct drm_rkmm_plan_create info;
	struct rkmm_plan_handle *handle;
};

/**
 * struct rkmm_weights - packed B, constant after creation
 * @buf: owned
 * @tensor: layout
 * @types: enum drm_rkmm_types
 * @k: rows of B
 * @n: columns of B
 * @scale: of each column, NULL for none; owned
 */
struct rkmm_weights {
	struct rkmm_buffer *buf;
	struct drm_rkmm_tensor tensor;
	uint32_t types;
	uint32_t k;
	uint32_t n;
	float *scale;
};

enum rkmm_context_state {
	RKMM_CONTEXT_IDLE,	/* nothing to wait for, nothing to read */
	RKMM_CONTEXT_FLIGHT,	/* submitted */
	RKMM_CONTEXT_DONE,	/* ended well, C can be read */
};

/**
 * struct rkmm_context - see rkmm_context_create(); one thread at a time
 * @plan: owned
 * @a: owned, mapped at @a_ptr
 * @c: owned, mapped at @c_ptr
 * @a_ptr: mapping of @a
 * @c_ptr: mapping of @c
 * @state: where the last submission is
 * @rows: its rows
 * @seqno: its number
 */
struct rkmm_context {
	struct rkmm_plan *plan;
	struct rkmm_buffer *a;
	struct rkmm_buffer *c;
	void *a_ptr;
	void *c_ptr;
	enum rkmm_context_state state;
	uint32_t rows;
	uint64_t seqno;
};

/* Remember a sentence for rkmm_last_error(); returns err. */
int rkmm_fail(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The same with the text of the errno behind the sentence. */
int rkmm_fail_errno(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Widths of an operand's elements. */
bool rkmm_bits_known(uint32_t bits);

struct rkmm_device *rkmm_device_get(struct rkmm_device *dev);
void rkmm_device_put(struct rkmm_device *dev);

/* Weights with a mapped buffer but without content, in the layout b_layout or the driver's own. */
int rkmm_weights_alloc(struct rkmm_device *dev, uint32_t types, uint32_t k, uint32_t n,
		       uint64_t b_layout, struct rkmm_weights **out, void **ptr);

/* Absolute CLOCK_MONOTONIC time, saturated. */
int64_t rkmm_deadline(int64_t timeout_ns);

/* Bytes of an operand that a submission of some rows touches. */
uint64_t rkmm_tensor_extent(const struct drm_rkmm_tensor *t, uint32_t rows);

/*
 * The driver does not trust the programs behind handle @stale of the plan any more (ESTALE): have
 * others made for the same layouts. 0 when there is a new handle, -ESTALE with a sentence if not.
 */
int rkmm_plan_renew(const struct rkmm_plan *plan, uint32_t stale);

/*
 * One SUBMIT. With wait, also waits without end and returns the result of the
 * submission. *queued tells whether the driver took it, whatever is returned. With -ESTALE
 * *seqno is the index of the operation with that plan.
 */
int rkmm_submit_raw(struct rkmm_device *dev, const struct drm_rkmm_op *ops, uint32_t count,
		    const struct rkmm_submit_options *options, bool wait, bool *queued,
		    uint64_t *seqno);

/* What the ioctl is asked; -EINVAL for fields that are malformed. */
int rkmm_plan_args(const struct rkmm_matmul_desc *desc, struct drm_rkmm_plan_create *args);
/* Kind, other and quantities of @desc; numbers of integers have @width bits, else -EINVAL. */
int rkmm_stage_args(const struct rkmm_op_desc *desc, bool real, unsigned int width,
		    struct drm_rkmm_stage *stage);
/* Make the plan, with a sentence when that fails. */
int rkmm_plan_ask(struct rkmm_device *dev, const struct drm_rkmm_plan_create *args,
		  struct rkmm_plan **out);

#endif
