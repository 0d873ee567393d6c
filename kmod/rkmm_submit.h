/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A submission while it becomes a job: rkmm_submit.c reads what the user asked
 * for, rkmm_bind.c makes programs of it, rkmm_job.c builds and queues the job, rkmm_sync.c
 * knows its fences.
 */
#ifndef RKMM_SUBMIT_H
#define RKMM_SUBMIT_H

#include <linux/uaccess.h>
#include "rkmm_drm.h"
#include "rkmm_job.h"

#define RKMM_SUBMIT_HINTS	(DRM_RKMM_SUBMIT_LATENCY | DRM_RKMM_SUBMIT_POWER)

struct dma_fence_chain;
struct drm_syncobj;

/* An operand resolved: neither a buffer nor a temporary where there is none */
struct rkmm_place {
	struct drm_gem_object *obj;
	u32 temp;			/* 1 + number of the temporary */
	u64 offset;			/* rkmm_temps_place() makes it one in the arena */
	u64 size;
};

#define RKMM_PLACE_ARENA	((const void *)1)	/* only compared */

static inline bool rkmm_place_used(const struct rkmm_place *place)
{
	return place->obj || place->temp;
}

/* What ranges are told apart by. All temporaries lie in one arena. */
static inline const void *rkmm_place_owner(const struct rkmm_place *place)
{
	return place->temp ? RKMM_PLACE_ARENA : (const void *)place->obj;
}

/* One operation while the job is built; arrays are A, B, C, D, E */
struct rkmm_op_data {
	struct rkmm_plan *plan;
	u32 rows;
	u32 count;
	bool grouped;			/* with the one before */
	u64 stride[3];			/* used when it runs more than once */
	/* from the first to the last; no object where the plan has no such operand */
	struct rkmm_place place[RKMM_OPERANDS];
	struct drm_rkmm_op arg;		/* as asked for */
};

/* rkmm_op_data_bytes() - bytes of the programs of an operation, at most */
static inline u64 rkmm_op_data_bytes(const struct rkmm_op_data *op)
{
	return rkmm_plan_image_bytes(op->plan) * op->count;
}

/* Where the job's fence goes */
struct rkmm_out_sync {
	struct drm_syncobj *syncobj;
	struct dma_fence_chain *chain;
	u64 point;
};

/* Element @i of a user's array; kernels that know less refuse non-zero tails. */
static inline int rkmm_array_copy(const struct drm_rkmm_array *array, u32 i, void *dst, size_t size)
{
	void __user *src = u64_to_user_ptr(array->array) + (u64)i * array->stride;

	return copy_struct_from_user(dst, size, src, array->stride);
}

/* ---- rkmm_temp.c ---------------------------------------------------------- */

struct rkmm_temps;

/**
 * rkmm_temp_get() - an operand that is a temporary
 * @temps: those of the submission, NULL before the first one; freed with kfree()
 * @arg: the operand, its offset and flags checked
 * @size: bytes
 * @place: filled in
 *
 * Return: 0, -EINVAL, -ENOMEM.
 */
int rkmm_temp_get(struct rkmm_temps **temps, const struct drm_rkmm_operand *arg, u64 size,
		  struct rkmm_place *place);
/**
 * rkmm_temps_follow() - the next operation of a submission: what it reads was written
 * @temps: the temporaries
 * @op: the operation
 *
 * Return: 0 or -EINVAL.
 */
int rkmm_temps_follow(struct rkmm_temps *temps, const struct rkmm_op_data *op);
/**
 * rkmm_temps_place() - memory for them; the job gets the arena
 * @job: not queued yet
 * @temps: all operations were seen
 * @ops: operations; offsets of temporaries become those in the arena
 * @nops: how many
 *
 * Return: 0, -ENOSPC, -ENOMEM, -ENODEV.
 */
int rkmm_temps_place(struct rkmm_job *job, struct rkmm_temps *temps, struct rkmm_op_data *ops,
		     u32 nops);

/* ---- rkmm_bind.c ---------------------------------------------------------- */

/**
 * rkmm_bind() - map operands, synthesise
 * @job: its steps and stages are filled in
 * @ops: checked, buffers referenced by the job
 * @bound: as many, for its own use
 *
 * Return: 0, -EINTR, -ENOMEM, -ENOSPC, -EINVAL when the plans have no core in common.
 */
int rkmm_bind(struct rkmm_job *job, const struct rkmm_op_data *ops, struct rkmm_bound *bound);

/* ---- rkmm_job.c ----------------------------------------------------------- */

struct rkmm_job *rkmm_job_alloc(struct rkmm_client *client, u32 nops, u32 cores);
/* rkmm_job_keep_bos() - reference the buffers of all operations, each once */
void rkmm_job_keep_bos(struct rkmm_job *job, const struct rkmm_op_data *ops);
/**
 * rkmm_job_queue() - reserve, clean caches, arm the fence, queue
 * @job: the caller's reference is the scheduler's from here on, unless this fails
 * @ops: its operations; the caller keeps their buffers
 * @outs: where the fence goes
 * @nouts: how many
 * @seqno: set to the number that the job got
 *
 * Return: 0, -EINTR, -ENOMEM.
 */
int rkmm_job_queue(struct rkmm_job *job, const struct rkmm_op_data *ops,
		   struct rkmm_out_sync *outs, u32 nouts, u64 *seqno);

/* rkmm_job_queue_locked() - the same with submit_lock held: no buffer has another owner */
int rkmm_job_queue_locked(struct rkmm_job *job, const struct rkmm_op_data *ops,
			  struct rkmm_out_sync *outs, u32 nouts, u64 *seqno);

/* ---- rkmm_warm.c ---------------------------------------------------------- */

/* rkmm_warm_submit() - as rkmm_ioctl_submit(), arguments checked; 1 if it is not kept */
int rkmm_warm_submit(struct rkmm_client *client, struct drm_rkmm_submit *args);
/* rkmm_warm_changes() - to be read before the first lookup, for rkmm_warm_keep() */
u64 rkmm_warm_changes(struct rkmm_client *client);
/* rkmm_warm_keep() - a job that is about to be queued may come again */
void rkmm_warm_keep(struct rkmm_job *job, const struct drm_rkmm_submit *args,
		    const struct rkmm_op_data *ops, u64 changes);

/* ---- rkmm_sync.c ---------------------------------------------------------- */

/* rkmm_sync_in() - wait for the user's syncobjs */
int rkmm_sync_in(struct rkmm_job *job, struct drm_file *file, const struct drm_rkmm_array *array);
/* rkmm_sync_implicit() - wait for conflicting use by others; reservations locked */
int rkmm_sync_implicit(struct rkmm_job *job);
/* rkmm_sync_watch() - after the push: hear of the fences waited for */
void rkmm_sync_watch(struct rkmm_job *job);
/* rkmm_sync_out_get() - look up the syncobjs to signal; rkmm_sync_out_put() in any case */
int rkmm_sync_out_get(struct drm_file *file, const struct drm_rkmm_array *array,
		      struct rkmm_out_sync *outs);
void rkmm_sync_out_put(struct rkmm_out_sync *outs, u32 nouts);
/* rkmm_sync_out() - hand them the fence */
void rkmm_sync_out(struct rkmm_out_sync *outs, u32 nouts, struct dma_fence *fence);

#endif
