// SPDX-License-Identifier: GPL-2.0-only
/*
 * Temporaries: operands that live as long as a submission, in memory of the driver.
 *
 * Jobs of a client run one after the other, so all share one arena. It stays where it
 * is until a submission needs more: then it goes, with the last job that uses it, and a
 * larger one takes its place. Contents mean nothing before and after a job;
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
 * @at: it in each window where it is mapped, @mem among them; under rkmm_client.arena_lock
 */
struct rkmm_arena {
	struct kref ref;
	struct rkmm_progmem *mem;
	struct rkmm_progmem *at[RKMM_WINDOWS_MAX];
};

struct rkmm_progmem *rkmm_arena_memory(const struct rkmm_arena *arena)
{
	return arena->mem;
}

u64 rkmm_arena_size(const struct rkmm_arena *arena)
{
	return arena->mem->size;
}

int rkmm_arena_iova(struct rkmm_client *client, struct rkmm_arena *arena,
		    struct rkmm_window *window, u32 *iova)
{
	struct rkmm_progmem *mem;

	mutex_lock(&client->arena_lock);
	mem = arena->at[window->index];
	if (!mem) {
		mem = rkmm_progmem_alias(arena->mem, window);
		if (!IS_ERR(mem))
			arena->at[window->index] = mem;
	}
	mutex_unlock(&client->arena_lock);
	if (IS_ERR(mem))
		return PTR_ERR(mem);
	*iova = mem->iova;
	return 0;
}

static void rkmm_arena_free(struct kref *ref)
{
	struct rkmm_arena *arena = container_of(ref, struct rkmm_arena, ref);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(arena->at); i++)
		if (arena->at[i] && arena->at[i] != arena->mem)
			rkmm_progmem_free(arena->at[i]);
	rkmm_progmem_free(arena->mem);
	kfree(arena);
}

void rkmm_arena_put(struct rkmm_arena *arena)
{
	if (arena)
		kref_put(&arena->ref, rkmm_arena_free);
}

/* In the first window that has room for it; it will be mapped in others as they are used. */
static struct rkmm_progmem *rkmm_arena_alloc(struct rkmm_space *space, u64 bytes)
{
	u32 n = rkmm_space_windows(space), i;
	struct rkmm_progmem *mem = NULL;

	for (i = 0; i < n; i++) {
		mem = rkmm_scratch_alloc(space->window[i], bytes);
		if (mem != ERR_PTR(-ENOSPC))
			break;
	}
	return mem;
}

static struct rkmm_arena *rkmm_arena_new(struct rkmm_space *space, u64 bytes)
{
	u64 room = bytes < RKMM_ARENA_STEP ? roundup_pow_of_two(bytes) :
					     round_up(bytes, RKMM_ARENA_STEP);
	struct rkmm_arena *arena = kzalloc(sizeof(*arena), GFP_KERNEL_ACCOUNT);

	if (!arena)
		return ERR_PTR(-ENOMEM);
	kref_init(&arena->ref);
	room = min(room, space->rdev->vm.largest);
	arena->mem = rkmm_arena_alloc(space, room);
	if (IS_ERR(arena->mem)) {
		int ret = PTR_ERR(arena->mem);

		kfree(arena);
		return ERR_PTR(ret);
	}
	arena->at[arena->mem->window->index] = arena->mem;
	return arena;
}

/* The client's arena leaves it: what names it will hardly be asked for again. */
static void rkmm_arena_drop(struct rkmm_client *client, struct rkmm_arena *arena)
{
	struct rkmm_progmem *mem;
	u32 i;

	rkmm_warm_forget(client, NULL, 0);
	for (i = 0; i < ARRAY_SIZE(arena->at); i++) {
		mem = READ_ONCE(arena->at[i]);
		if (mem)
			rkmm_images_drop_range(client, mem);
	}
	rkmm_arena_put(arena);
}

/* An arena of the client with so many bytes, referenced */
static struct rkmm_arena *rkmm_arena_get(struct rkmm_client *client, u64 bytes)
{
	struct rkmm_arena *arena, *old = NULL;

	if (bytes > client->rdev->vm.largest)
		return ERR_PTR(-ENOSPC);
	mutex_lock(&client->arena_lock);
	if (client->arena && client->arena->mem->size < bytes)
		swap(old, client->arena);
	mutex_unlock(&client->arena_lock);
	/* Before the larger one is made, which may need the addresses of this one. */
	if (old)
		rkmm_arena_drop(client, old);

	mutex_lock(&client->arena_lock);
	old = client->arena;
	arena = old;
	if (!arena || arena->mem->size < bytes) {
		arena = rkmm_arena_new(client->space, bytes);
		if (!IS_ERR(arena))
			client->arena = arena;
	}
	if (client->arena == old)
		old = NULL;
	if (!IS_ERR(arena))
		kref_get(&arena->ref);
	mutex_unlock(&client->arena_lock);
	/* Another thread was faster, with less. */
	if (old)
		rkmm_arena_drop(client, old);
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
