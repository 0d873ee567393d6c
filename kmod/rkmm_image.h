/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Program images: the programs of a step with addresses in place, kept per client by what
 * they are bound to.
 */
#ifndef RKMM_IMAGE_H
#define RKMM_IMAGE_H

#include <linux/hashtable.h>
#include "rkmm_device.h"

struct rkmm_fallback;
struct rkmm_plan;

/* Program memory of one step: bounds what a single submission can ask for. */
#define RKMM_IMAGE_MAX_BYTES	(64ull << 20)

/**
 * struct rkmm_image_key - what the programs of one operation depend on
 * @plan: rkmm_plan.uid
 * @rows: rows of the submission
 * @a: NPU address of A
 * @b: NPU address of B
 * @c: NPU address of C
 * @count: how often it runs
 * @a_stride: from an A to the next, 0 when it runs once
 * @b_stride: the same of B
 * @c_stride: the same of C
 * @weights: NPU address of the buffer of B, 0 when the step has no other operation
 * @d: NPU address of D
 * @lane: struct rkmm_member.lane
 * @after: struct rkmm_member.after
 * @shares: lanes that its rows are shared out over, 0 for 1
 * @window: number of the window that the addresses are in
 * @e: NPU address of E
 * @features: where features in memory of the image are staged, 0: they are not
 * @outputs: where that memory is staged for what it is written by, 0: it is not
 *
 * The first 24 bytes are hashed, all are compared.
 */
struct rkmm_image_key {
	u64 plan;
	u32 rows;
	u32 a, b, c;
	u32 count;
	u32 a_stride, b_stride, c_stride;
	u32 weights;
	u32 d;
	u8 lane;
	u8 after;
	u8 shares;
	u8 window;
	u32 e;
	u32 features, outputs;
};

/**
 * struct rkmm_bound - an operation with addresses
 * @plan: referenced by the caller
 * @key: the addresses
 * @window: what they are in
 */
struct rkmm_bound {
	struct rkmm_plan *plan;
	struct rkmm_window *window;
	struct rkmm_image_key key;
};

/**
 * struct rkmm_image - synthesised and linked programs of a step
 * @nkeys: entries of @keys
 * @keys: the operations it was made for, in order; behind @kicks
 * @mem: the programs, and constants behind them
 * @scratch: NULL, or what operations keep between their tasks, a part for each lane: only
 *	jobs of one client have equal keys, so they never run at the same time
 * @const_at: offset of the constants in @mem
 * @const_bytes: their size
 * @views: of @scratch and of the constants, where they are staged
 * @mode: what it takes of a core
 * @tasks: programs in it
 * @nlanes: shares that may run at the same time
 * @nkicks: entries of @kicks
 * @kicks: starts, in order
 */
struct rkmm_image {
	u32 nkeys;
	struct rkmm_image_key *keys;
	/** @hash: in rkmm_images.table; under rkmm_images.lock */
	struct hlist_node hash;
	/** @shape: in rkmm_images.shapes; under rkmm_images.lock */
	struct hlist_node shape;
	/** @used: rkmm_images.clock when its last user left */
	u64 used;
	/** @lru: in rkmm_images.idle while @users is 0; under rkmm_images.lock */
	struct list_head lru;
	/** @users: jobs that may still run it; under rkmm_images.lock */
	unsigned int users;
	/** @stale: a plan of it is gone, free with the last user; under rkmm_images.lock */
	bool stale;
	/** @light: rkmm_limits.light that it was emitted with */
	bool light;
	/** @land: rkmm_limits.land likewise */
	u32 land;
	/** @program_bytes: of programs, from the beginning of @mem; constants follow */
	u32 program_bytes;
	/** @k: reduction of its first operation, 0 if that is no matmul */
	u32 k;
	/** @n: columns of it */
	u32 n;
	/** @once: its operations write what they read: running it again is no repetition */
	bool once;
	/** @apart: none of its kicks needs another one */
	bool apart;
	/** @reserve: it is one of rkmm_fallback.c: what hangs there is not started again */
	bool reserve;
	/** @plan: of the only matmul in it, where @fallback is set; referenced */
	struct rkmm_plan *plan;
	/** @fallback: NULL, or where other programs for the same go, if these hang */
	struct rkmm_fallback *fallback;
	/** @kind: rkmm_image_shape() */
	u32 kind;
	struct rkmm_progmem *mem;
	struct rkmm_progmem *scratch;
	u64 const_at, const_bytes;
	struct rkmm_view views[RKMM_VIEWS];
	enum rkmm_mode mode;
	u32 tasks;
	u32 nlanes;
	/** @lane: first kick of each lane, and behind the last */
	u32 lane[RKMM_LANES_MAX + 1];
	u32 nkicks;
	struct rkmm_kick kicks[];
};

#define RKMM_IMAGE_HASH_BITS	7

/**
 * struct rkmm_images - a client's image cache
 * @table: by hash of the key
 */
struct rkmm_images {
	/** @lock: everything here; sleeps; outside rkmm_vm.lock */
	struct mutex lock;
	DECLARE_HASHTABLE(table, RKMM_IMAGE_HASH_BITS);
	/** @shapes: by hash of what does not depend on addresses */
	DECLARE_HASHTABLE(shapes, RKMM_IMAGE_HASH_BITS);
	/** @idle: images without users, least recently used first */
	struct list_head idle;
	/** @bytes: program memory held */
	u64 bytes;
	/** @emitted: programs synthesised so far */
	u64 emitted;
	/** @hits: times that an image was found ready */
	u64 hits;
	/** @patched: entries written into images that were there with other addresses */
	u64 patched;
	/** @clock: counts what images are put */
	u64 clock;
	/** @fallbacks: memory for programs that are needed when others hang */
	struct list_head fallbacks;
	/** @land: memory of trailers in each window, or NULL */
	struct rkmm_progmem *land[RKMM_WINDOWS_MAX];
};

int rkmm_images_init(struct rkmm_client *client);
void rkmm_images_fini(struct rkmm_client *client);
/**
 * rkmm_image_get() - find or synthesise
 * @client: whose
 * @bound: operations of a step, lane by lane
 * @n: how many; their programs take RKMM_IMAGE_MAX_BYTES at most
 *
 * Return: the image, the caller owns one use; ERR_PTR on failure.
 */
struct rkmm_image *rkmm_image_get(struct rkmm_client *client, const struct rkmm_bound *bound,
				  u32 n);
void rkmm_image_put(struct rkmm_client *client, struct rkmm_image *image);
/* rkmm_image_nmembers() - how many members @bound becomes */
u32 rkmm_image_nmembers(const struct rkmm_bound *bound);
/* rkmm_image_expand() - what @bound is to kmod/prog, less places of constants and of temporary
 * memory; returns how many there are
 */
u32 rkmm_image_expand(const struct rkmm_bound *bound, struct rkmm_member *members);
/* rkmm_image_shape() - hash of what an image is apart from addresses */
u32 rkmm_image_shape(const struct rkmm_bound *bound, u32 n);
/**
 * rkmm_image_readdress() - let an idle image take the place of one that would be made
 * @client: whose; its images are locked
 * @bound: operations that run together
 * @n: how many
 * @busy: set when there are enough of the kind, and none is idle
 *
 * Return: an image with the addresses of @bound in place, which is in no list but
 * rkmm_images.shapes any more; NULL when there are few of the kind, or none is idle.
 */
struct rkmm_image *rkmm_image_readdress(struct rkmm_client *client,
					const struct rkmm_bound *bound, u32 n, bool *busy);
/* rkmm_image_lanes() - its kicks are there: note where each lane begins */
void rkmm_image_lanes(struct rkmm_image *image);
/* rkmm_image_memory() - bytes it holds: programs, constants, scratch */
u64 rkmm_image_memory(const struct rkmm_image *image);
/* rkmm_images_drop_plan() - free the idle images of a destroyed plan */
void rkmm_images_drop_plan(struct rkmm_client *client, u64 plan);
/* rkmm_images_drop_range() - free the idle images with operands in such memory */
void rkmm_images_drop_range(struct rkmm_client *client, const struct rkmm_progmem *range);

#endif
