// SPDX-License-Identifier: GPL-2.0-only
/*
 * Temporaries: operands that live as long as a submission, in memory of the driver.
 *
 * Jobs of a client run one after the other, so all share one arena. It stays where it
 * is until a submission needs more: then a larger one takes its place, and the old one
 * goes with the last job that uses it. Contents mean nothing before and after a job;
 * pages are zeroed when they are allocated, so nobody sees what others left.
 */
#include <drm/drm_print.h>
#include <linux/log2.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "rkmm_submit.h"

/* Room grows in powers of two up to this, then in multiples of it. */
#define RKMM_ARENA_STEP		SZ_16M

/**
 * struct rkmm_arena - memory of temporaries
 * @ref: of the client, and of every job that uses it
 * @mem: the memory
 */
struct rkmm_arena {
	struct kref ref;
	struct rkmm_progmem *mem;
};

struct rkmm_progmem *rkmm_arena_memory(const struct rkmm_arena *arena)
{
	return arena->mem;
}

static void rkmm_arena_free(struct kref *ref)
{
	struct rkmm_arena *arena = container_of(ref, struct rkmm_arena, ref);

	rkmm_progmem_free(arena->mem);
	kfree(arena);
}

void rkmm_arena_put(struct rkmm_arena *arena)
{
	if (arena)
		kref_put(&arena->ref, rkmm_arena_free);
}

static struct rkmm_arena *rkmm_arena_new(struct rkmm_window *window, u64 bytes)
{
	u64 room = bytes < RKMM_ARENA_STEP ? roundup_pow_of_two(bytes) :
					     round_up(bytes, RKMM_ARENA_STEP);
	struct rkmm_arena *arena = kzalloc(sizeof(*arena), GFP_KERNEL_ACCOUNT);

	if (!arena)
		return ERR_PTR(-ENOMEM);
	kref_init(&arena->ref);
	room = min(room, window->rdev->vm.largest);
	arena->mem = rkmm_scratch_alloc(window, room);
	if (IS_ERR(arena->mem)) {
		int ret = PTR_ERR(arena->mem);

		kfree(arena);
		return ERR_PTR(ret);
	}
	return arena;
}

/* An arena of the client with so many bytes, referenced */
static struct rkmm_arena *rkmm_arena_get(struct rkmm_client *client, u64 bytes)
{
	struct rkmm_arena *arena, *old = NULL;
	u32 iova;

	if (bytes > client->rdev->vm.largest)
		return ERR_PTR(-ENOSPC);
	mutex_lock(&client->arena_lock);
	arena = client->arena;
	if (!arena || arena->mem->size < bytes) {
		old = arena;
		arena = rkmm_arena_new(client->window, bytes);
		if (!IS_ERR(arena))
			client->arena = arena;
		else
			old = NULL;
	}
	if (!IS_ERR(arena))
		kref_get(&arena->ref);
	mutex_unlock(&client->arena_lock);
	if (!old)
		return arena;
	/* What names the old one will hardly be asked for again. */
	iova = old->mem->iova;
	rkmm_warm_forget(client, NULL, 0);
	rkmm_images_drop_range(client, iova, old->mem->size);
	rkmm_arena_put(old);
	return arena;
}

u64 rkmm_arena_bytes(struct rkmm_client *client)
{
	u64 bytes;

	mutex_lock(&client->arena_lock);
	bytes = client->arena ? client->arena->mem->size : 0;
	mutex_unlock(&client->arena_lock);
	return bytes;
}

void rkmm_arena_fini(struct rkmm_client *client)
{
	rkmm_arena_put(client->arena);
	mutex_destroy(&client->arena_lock);
}

/* ---- what a submission says about them ------------------------------------ */

/**
 * struct rkmm_temp - one temporary
 * @size: bytes from its start that operands reach
 * @from: first byte that an operation so far writes
 * @to: behind the last
 * @at: offset in the arena
 */
struct rkmm_temp {
	u64 size, from, to, at;
};

struct rkmm_temps {
	struct rkmm_temp temp[DRM_RKMM_MAX_TEMPS];
};

int rkmm_temp_get(struct rkmm_temps **temps, const struct drm_rkmm_operand *arg, u64 size,
		  struct rkmm_place *place)
{
	struct rkmm_temp *t;

	/* nothing in a window lies further than 4 GiB */
	if (arg->handle >= DRM_RKMM_MAX_TEMPS || arg->offset > U32_MAX || size > U32_MAX)
		return -EINVAL;
	if (!*temps)
		*temps = kzalloc(sizeof(**temps), GFP_KERNEL_ACCOUNT);
	if (!*temps)
		return -ENOMEM;
	t = &(*temps)->temp[arg->handle];
	t->size = max(t->size, arg->offset + size);
	place->temp = 1 + arg->handle;
	place->offset = arg->offset;
	place->size = size;
	return 0;
}

static bool rkmm_temp_written(const struct rkmm_temps *temps, const struct rkmm_place *place)
{
	const struct rkmm_temp *t = &temps->temp[place->temp - 1];

	return place->offset >= t->from && place->offset + place->size <= t->to;
}

int rkmm_temps_follow(struct rkmm_temps *temps, const struct rkmm_op_data *op)
{
	const struct rkmm_place *c = &op->place[2];
	struct rkmm_temp *t;
	u32 k;

	for (k = 0; k < RKMM_OPERANDS; k++)
		if (k != 2 && op->place[k].temp && !rkmm_temp_written(temps, &op->place[k]))
			return -EINVAL;
	if (!c->temp)
		return 0;
	t = &temps->temp[c->temp - 1];
	t->from = t->to ? min(t->from, c->offset) : c->offset;
	t->to = max(t->to, c->offset + c->size);
	return 0;
}

int rkmm_temps_place(struct rkmm_job *job, struct rkmm_temps *temps, struct rkmm_op_data *ops,
		     u32 nops)
{
	struct rkmm_arena *arena;
	u64 bytes = 0;
	u32 i, k;

	for (i = 0; i < DRM_RKMM_MAX_TEMPS; i++) {
		temps->temp[i].at = bytes;
		bytes += PAGE_ALIGN(temps->temp[i].size);
	}
	arena = rkmm_arena_get(job->client, bytes);
	if (IS_ERR(arena)) {
		drm_dbg(job->client->rdev->drm, "submit: %llu bytes of temporaries: %ld\n", bytes,
			PTR_ERR(arena));
		return PTR_ERR(arena);
	}
	job->arena = arena;
	for (i = 0; i < nops; i++)
		for (k = 0; k < RKMM_OPERANDS; k++)
			if (ops[i].place[k].temp)
				ops[i].place[k].offset += temps->temp[ops[i].place[k].temp - 1].at;
	return 0;
}
