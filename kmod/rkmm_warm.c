// SPDX-License-Identifier: GPL-2.0-only
/*
 * A submission that was made before: handles, ranges, addresses and programs are
 * known already.
 *
 * What a submission of few operations without syncobjs found is kept, and one that
 * asks for the same, byte by byte, shares it: nothing is looked up or checked a second
 * time. So whatever could give the same bytes another meaning drops what is kept: closing
 * a handle, destroying a plan, another arena for temporaries. Mappings stay as long as
 * their buffer, images as long as they are used.
 *
 * A submission is kept when it comes for the second time, and only with small
 * images: those that are kept do not count as idle for the image budget.
 */
#include <drm/drm_gem.h>
#include <linux/hash.h>
#include <linux/slab.h>

#include "compat/rkmm_compat.h"
#include "rkmm_bo.h"
#include "rkmm_submit.h"

#define RKMM_WARM_IMAGE_MAX	SZ_64K

/**
 * struct rkmm_warm - a submission that is kept; constant but for @ref, @next and @bos
 * @ref: of the client's table, and of every job that shares it
 * @next: among those that left the table
 * @client: not referenced: those who hold references keep it
 * @nops: entries of @args and @ops
 * @asked: cores as asked for
 * @cores: cores that the jobs may use
 * @args: what the user asked for
 * @ops: where that lies
 * @nbos: entries of @bos
 * @nsteps: entries of @steps
 * @bos: buffers, referenced; rkmm_bo_use.shared under rkmm_client.submit_lock
 * @steps: images, one use each
 * @stages: as rkmm_job.stages
 * @arena: as rkmm_job.arena
 */
struct rkmm_warm {
	struct kref ref;
	struct rkmm_warm *next;
	struct rkmm_client *client;
	u32 nops;
	u32 asked, cores;
	struct drm_rkmm_op args[RKMM_FEW_OPS];
	struct rkmm_op_data ops[RKMM_FEW_OPS];
	u32 nbos, nsteps;
	struct rkmm_bo_use bos[RKMM_OPERANDS * RKMM_FEW_OPS];
	struct rkmm_image *steps[RKMM_FEW_OPS];
	struct rkmm_staging **stages;
	struct rkmm_arena *arena;
};

static void rkmm_warm_free(struct kref *ref)
{
	struct rkmm_warm *warm = container_of(ref, struct rkmm_warm, ref);
	u32 i;

	rkmm_stage_forget(warm->client->rdev, warm->stages, warm->nops);
	for (i = 0; i < warm->nsteps; i++)
		rkmm_image_put(warm->client, warm->steps[i]);
	for (i = 0; i < warm->nbos; i++)
		drm_gem_object_put(warm->bos[i].obj);
	rkmm_arena_put(warm->arena);
	kfree(warm);
}

void rkmm_warm_put(struct rkmm_warm *warm)
{
	kref_put(&warm->ref, rkmm_warm_free);
}

static bool rkmm_warm_simple(const struct drm_rkmm_submit *args)
{
	return args->ops.count <= RKMM_FEW_OPS && args->ops.stride == sizeof(struct drm_rkmm_op) &&
	       !args->in_syncs.count && !args->out_syncs.count;
}

/* By the first operation: the rest is compared anyway. */
static u64 rkmm_warm_hash(const struct drm_rkmm_op *op)
{
	u64 h = op->plan;

	h = h * GOLDEN_RATIO_64 + op->rows;
	h = h * GOLDEN_RATIO_64 + op->a.handle + op->a.offset;
	h = h * GOLDEN_RATIO_64 + op->b.handle + op->b.offset;
	h = h * GOLDEN_RATIO_64 + op->c.handle + op->c.offset;
	return h * GOLDEN_RATIO_64;
}

static struct rkmm_warm_slot *rkmm_warm_slot(struct rkmm_client *client, u64 hash)
{
	return &client->warm.slots[hash >> (64 - RKMM_WARM_BITS)];
}

static struct rkmm_warm *rkmm_warm_find(struct rkmm_client *client,
					const struct drm_rkmm_submit *args,
					const struct drm_rkmm_op *ops)
{
	struct rkmm_warm *warm = rkmm_warm_slot(client, rkmm_warm_hash(ops))->warm;

	if (!warm || warm->nops != args->ops.count || warm->asked != args->cores ||
	    memcmp(warm->args, ops, warm->nops * sizeof(*ops)))
		return NULL;
	return warm;
}

static void rkmm_warm_share(struct rkmm_job *job, struct rkmm_warm *warm)
{
	job->warm = warm;
	job->nops = warm->nops;
	job->bos = warm->bos;
	job->nbos = warm->nbos;
	job->steps = warm->steps;
	job->nsteps = warm->nsteps;
	job->stages = warm->stages;
}

int rkmm_warm_submit(struct rkmm_client *client, struct drm_rkmm_submit *args)
{
	struct drm_rkmm_op ops[RKMM_FEW_OPS] rkmm_uninitialized;
	struct rkmm_warm *warm;
	struct rkmm_job *job;
	u32 i;
	int ret;

	if (!rkmm_warm_simple(args))
		return 1;
	/* Each by itself: sizes that are no constants cost a closer look. */
	for (i = 0; i < args->ops.count; i++)
		if (copy_from_user(&ops[i], u64_to_user_ptr(args->ops.array) + i * sizeof(*ops),
				   sizeof(*ops)))
			return -EFAULT;
	if (!mutex_trylock(&client->submit_lock)) {
		ret = mutex_lock_interruptible(&client->submit_lock);
		if (ret)
			return ret;
	}
	warm = rkmm_warm_find(client, args, ops);
	job = warm ? rkmm_job_alloc(client, 0, warm->cores) : NULL;
	if (!job) {
		mutex_unlock(&client->submit_lock);
		return warm ? -ENOMEM : 1;
	}
	kref_get(&warm->ref);
	rkmm_warm_share(job, warm);
	job->hints = args->flags & RKMM_SUBMIT_HINTS;
	client->warm.hits += warm->nsteps;

	/* Nothing that is kept goes while the lock is held. */
	ret = rkmm_job_queue_locked(job, warm->ops, NULL, 0, &args->seqno);
	mutex_unlock(&client->submit_lock);
	if (ret)
		rkmm_job_put(job);
	return ret;
}

/* Small, and no buffer has an owner who would have to be asked. */
static bool rkmm_warm_keepable(const struct rkmm_job *job)
{
	struct rkmm_client *owner;
	u64 bytes = 0;
	u32 i;

	for (i = 0; i < job->nbos; i++) {
		owner = READ_ONCE(to_rkmm_bo(job->bos[i].obj)->owner);
		if (owner && owner != job->client)
			return false;
	}
	for (i = 0; i < job->nsteps; i++)
		bytes += rkmm_image_memory(job->steps[i]);
	return bytes <= RKMM_WARM_IMAGE_MAX;
}

/* The references that the job has become its share in what is kept. */
static struct rkmm_warm *rkmm_warm_make(struct rkmm_job *job, const struct drm_rkmm_submit *args,
					const struct rkmm_op_data *ops)
{
	struct rkmm_warm *warm = kzalloc(sizeof(*warm), GFP_KERNEL_ACCOUNT);
	u32 i;

	if (!warm)
		return NULL;
	kref_init(&warm->ref);
	warm->client = job->client;
	warm->nops = args->ops.count;
	warm->asked = args->cores;
	warm->cores = job->cores;
	for (i = 0; i < warm->nops; i++) {
		warm->args[i] = ops[i].arg;
		warm->ops[i] = ops[i];
		warm->ops[i].plan = NULL;
	}
	warm->nbos = job->nbos;
	warm->nsteps = job->nsteps;
	warm->stages = job->stages;
	warm->arena = job->arena;
	job->arena = NULL;
	memcpy(warm->bos, job->bos, job->nbos * sizeof(*job->bos));
	memcpy(warm->steps, job->steps, job->nsteps * sizeof(*job->steps));
	rkmm_warm_share(job, warm);
	return warm;
}

u64 rkmm_warm_changes(struct rkmm_client *client)
{
	/* Before the lookups; rkmm_warm_forget() counts behind what undoes them. */
	return smp_load_acquire(&client->warm.changes);
}

void rkmm_warm_keep(struct rkmm_job *job, const struct drm_rkmm_submit *args,
		    const struct rkmm_op_data *ops, u64 changes)
{
	u64 hash = rkmm_warm_hash(&ops[0].arg);
	struct rkmm_client *client = job->client;
	struct rkmm_warm_slot *slot = rkmm_warm_slot(client, hash);
	struct rkmm_warm *warm, *old = NULL;

	if (!rkmm_warm_simple(args))
		return;
	if (READ_ONCE(slot->seen) != hash) {
		WRITE_ONCE(slot->seen, hash);
		return;
	}
	if (!rkmm_warm_keepable(job))
		return;
	warm = rkmm_warm_make(job, args, ops);
	if (!warm)
		return;
	mutex_lock(&client->submit_lock);
	if (client->warm.changes == changes) {
		old = slot->warm;
		slot->warm = warm;
		kref_get(&warm->ref);
	}
	mutex_unlock(&client->submit_lock);
	if (old)
		rkmm_warm_put(old);
}

static bool rkmm_warm_uses(const struct rkmm_warm *warm, const struct drm_gem_object *obj, u32 plan)
{
	u32 i;

	if (!obj && !plan)
		return true;
	for (i = 0; i < warm->nbos; i++)
		if (warm->bos[i].obj == obj)
			return true;
	for (i = 0; i < warm->nops; i++)
		if (warm->args[i].plan == plan)
			return true;
	return false;
}

void rkmm_warm_forget(struct rkmm_client *client, struct drm_gem_object *obj, u32 plan)
{
	struct rkmm_warm *warm, *gone = NULL;
	u32 i;

	mutex_lock(&client->submit_lock);
	/* Pairs with rkmm_warm_changes(). */
	smp_store_release(&client->warm.changes, client->warm.changes + 1);
	for (i = 0; i < ARRAY_SIZE(client->warm.slots); i++) {
		warm = client->warm.slots[i].warm;
		if (!warm || !rkmm_warm_uses(warm, obj, plan))
			continue;
		client->warm.slots[i].warm = NULL;
		warm->next = gone;
		gone = warm;
	}
	mutex_unlock(&client->submit_lock);
	while (gone) {
		warm = gone;
		gone = warm->next;
		rkmm_warm_put(warm);
	}
}
