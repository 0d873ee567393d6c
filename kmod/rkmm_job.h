/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Plans, program images, jobs and the scheduler.
 *
 * A plan is shape only. An image is the programs of plans with addresses in place,
 * kept per client. A job is one submission: images in order, each shared
 * out in lanes over the cores.
 */
#ifndef RKMM_JOB_H
#define RKMM_JOB_H

#include <linux/dma-fence.h>
#include <linux/kref.h>
#include <linux/llist.h>
#include "rkmm_device.h"
#include "rkmm_image.h"
#include "prog/rkmm_epilogue.h"
#include "prog/rkmm_land.h"

struct drm_gem_object;
struct drm_rkmm_plan_create;
struct drm_rkmm_tensor;
struct rkmm_arena;
struct rkmm_fallback;
struct rkmm_warm;

/* ---- rkmm_plan.c: a validated operation --------------------------------- */

/**
 * struct rkmm_plan - an operation's shape, immutable
 * @ref: one for the handle, one for every user of the moment
 * @geom: the tiling of a matmul
 * @fallback: smaller programs on the same addresses, for a @geom that does not work here;
 *	no programs where there is none
 * @op: NULL, or another operation, and @geom is empty
 * @epi: NULL, or what follows the matmul
 */
struct rkmm_plan {
	struct kref ref;
	/** @uid: never reused; key of cached images */
	u64 uid;
	struct rkmm_geom geom;
	struct rkmm_geom fallback;
	struct rkmm_opgeom *op;
	struct rkmm_epilogue *epi;
	/** @cores: mask of cores allowed */
	u32 cores;
	/** @failures: rkmm_trust_failures() before @geom was chosen */
	u32 failures;
	/** @stale: its geometry failed since: no submissions any more */
	bool stale;
};

/* rkmm_plans_check() - module parameters; 0 or -EINVAL with a line in the log */
int rkmm_plans_check(struct device *dev);
int rkmm_ioctl_plan_create(struct drm_device *drm, void *data, struct drm_file *file);
int rkmm_ioctl_plan_destroy(struct drm_device *drm, void *data, struct drm_file *file);
/**
 * rkmm_plan_evidence() - how sure the programs of a form are
 * @types: type pair
 * @form: form
 *
 * Return: enum drm_rkmm_evidence.
 */
u32 rkmm_plan_evidence(enum rkmm_types types, enum rkmm_form form);
/* rkmm_plan_derived() - programs that no board was seen to run are welcome */
bool rkmm_plan_derived(struct rkmm_device *rdev);
/* rkmm_plan_get() - reference to plan @handle, NULL if there is none */
struct rkmm_plan *rkmm_plan_get(struct rkmm_client *client, u32 handle);
void rkmm_plan_put(struct rkmm_plan *plan);

#define RKMM_OPERANDS	5	/* A, B, C, D, E */

/* rkmm_plan_sizes() - bytes of each operand, 0 for none */
void rkmm_plan_sizes(const struct rkmm_plan *plan, u64 sizes[RKMM_OPERANDS]);

static inline u32 rkmm_plan_rows(const struct rkmm_plan *plan)
{
	return plan->op ? plan->op->op.m : plan->geom.mm.m;
}

/* rkmm_plan_ordered() - its tasks run in order: once, on one lane */
static inline bool rkmm_plan_ordered(const struct rkmm_plan *plan)
{
	return plan->op || (plan->epi && plan->epi->nops);
}

/* rkmm_plan_whole() - an image has lines: there is no part of it by rows */
static inline bool rkmm_plan_whole(const struct rkmm_plan *plan)
{
	return plan->op && plan->op->steps[0].kind == RKMM_STEP_POOL;
}

/* rkmm_plan_mode() - datapath mode of its programs */
enum rkmm_mode rkmm_plan_mode(const struct rkmm_plan *plan);

/* rkmm_plan_image_bytes() - bytes of an image of the plan, at most */
u64 rkmm_plan_image_bytes(const struct rkmm_plan *plan);

/* ---- rkmm_plan_op.c: plans that are no matmuls ----------------------------- */

/**
 * rkmm_plan_make_op() - choose the steps of an operation
 * @rdev: the device
 * @args: description; operands and evidence are filled in
 * @derived: programs that no board was seen to run are welcome
 * @plan: its op is filled in, and freed with it
 *
 * Return: enum rkmm_reason, or -EINVAL, -ENOMEM.
 */
int rkmm_plan_make_op(struct rkmm_device *rdev, struct drm_rkmm_plan_create *args, bool derived,
		      struct rkmm_plan *plan);
void rkmm_plan_tensor(const struct rkmm_operand *op, struct drm_rkmm_tensor *t);

/* ---- rkmm_plan_epi.c: epilogues of matmuls --------------------------------- */

/* rkmm_plan_stages() - read the list; -EINVAL for what is malformed */
int rkmm_plan_stages(const struct drm_rkmm_plan_create *args, struct rkmm_stages *stages);
/*
 * rkmm_plan_epi_make() - decide what is fused, before the matmul is cut; enum rkmm_reason or
 * -ENOMEM; plan->epi is freed with the plan
 */
int rkmm_plan_epi_make(const struct rkmm_stages *stages, struct rkmm_matmul *mm,
		       struct rkmm_plan *plan);
/* rkmm_plan_epi_bind() - what follows the tiling; @args has the answers of the matmul */
enum rkmm_reason rkmm_plan_epi_bind(const struct rkmm_limits *limits,
				    const struct rkmm_stages *stages,
				    struct drm_rkmm_plan_create *args, struct rkmm_plan *plan);

void rkmm_plans_init(struct rkmm_client *client);
void rkmm_plans_fini(struct rkmm_client *client);

/* ---- rkmm_fallback.c: other programs for what hung ---------------------------- */

struct rkmm_job;

/* rkmm_fallback_reserve() - memory for it, if there is another tiling; rkmm_images.lock held */
void rkmm_fallback_reserve(struct rkmm_images *images, const struct rkmm_bound *bound, u32 n,
			   struct rkmm_image *image);
/* rkmm_fallback_write() - synthesise for the job's step; in the worker, no core is busy */
void rkmm_fallback_write(struct rkmm_job *job);
/* rkmm_fallback_use() - let the step begin anew with it; false if there is none; sched.lock held */
bool rkmm_fallback_use(struct rkmm_job *job);
/* rkmm_fallback_put_back() - the job gets the image that it has a use of */
void rkmm_fallback_put_back(struct rkmm_job *job);
void rkmm_fallback_fini(struct rkmm_images *images);

/* ---- rkmm_temp.c: memory of temporaries ------------------------------------- */

/* rkmm_arena_memory() - where they lie */
struct rkmm_progmem *rkmm_arena_memory(const struct rkmm_arena *arena);
/* rkmm_arena_iova() - NPU address of its first byte in a window; 0, -ENOSPC, -ENOMEM, -ENODEV */
int rkmm_arena_iova(struct rkmm_client *client, struct rkmm_arena *arena,
		    struct rkmm_window *window, u32 *iova);
/* rkmm_arena_size() - bytes it has */
u64 rkmm_arena_size(const struct rkmm_arena *arena);
/* rkmm_arena_put() - NULL is fine; sleeps */
void rkmm_arena_put(struct rkmm_arena *arena);
/* rkmm_arena_bytes() - bytes that the client's arena has */
u64 rkmm_arena_bytes(struct rkmm_client *client);
/* rkmm_arena_fini() - the client goes, no job uses it */
void rkmm_arena_fini(struct rkmm_client *client);

/* ---- rkmm_fence.c --------------------------------------------------------- */

struct rkmm_job;

/* rkmm_fence_arm() - from here on the job's fence must be signalled */
void rkmm_fence_arm(struct rkmm_job *job);
/*
 * rkmm_fence_publish() - before others than the driver come to know the fence;
 * rkmm_client.submit_lock held
 */
struct dma_fence *rkmm_fence_publish(struct rkmm_job *job);

/* ---- rkmm_submit.c: ioctl -> job ------------------------------------------ */

/**
 * struct rkmm_dep - a fence that a job waits for
 * @cb: our callback on @fence
 * @fence: referenced
 * @job: the job that waits
 */
struct rkmm_dep {
	struct dma_fence_cb cb;
	struct dma_fence *fence;
	struct rkmm_job *job;
	/** @explicit: named by the user: its failure cancels the job */
	bool explicit;
};

/**
 * struct rkmm_bo_use - a buffer that a job keeps
 * @obj: referenced
 * @write: the job writes it
 * @shared: others than the client may use it: its reservation counts
 */
struct rkmm_bo_use {
	struct drm_gem_object *obj;
	bool write;
	bool shared;
};

/* Up to so many operations need no memory but their job. */
#define RKMM_FEW_OPS		2

/**
 * struct rkmm_job - one submission
 * @ref: one for the scheduler until the job has ended, others for the moment; behind the
 *	last one only @fence and its memory are left
 * @client: referenced
 * @seqno: 0 until the fence is armed
 * @in_reap: in rkmm_sched.reap_list
 * @deps: fences waited for
 * @ndeps: entries of @deps
 * @bos: buffers kept until the job has ended, each once
 * @nbos: entries of @bos
 * @nops: operations it was asked for
 * @nsteps: entries of @steps, at most @nops
 * @steps: images, in order; one use each
 */
struct rkmm_job {
	/** @fence: its references keep the memory, the job's own until it is released */
	struct dma_fence fence;
	/** @fence_lock: dma_fence.lock */
	spinlock_t fence_lock;
	/**
	 * @published: others know the fence; set under rkmm_client.submit_lock, and once the
	 * job is queued under rkmm_sched.lock too, before it has ended
	 */
	bool published;
	struct kref ref;
	struct rkmm_client *client;
	u64 seqno;
	/** @cores: mask of cores allowed */
	u32 cores;
	/** @hints: DRM_RKMM_SUBMIT_LATENCY, POWER */
	u32 hints;

	/** @in_queue: in rkmm_client.queue, then rkmm_sched.ended; under rkmm_sched.lock */
	struct list_head in_queue;
	struct llist_node in_reap;
	/** @waiting: dependencies not yet signalled, plus one while being set up */
	atomic_t waiting;
	/** @queued: in rkmm_client.queue; under rkmm_sched.lock */
	bool queued;
	/** @deps_cancelled: its fence callbacks were removed; under rkmm_sched.lock */
	bool deps_cancelled;
	/** @result: first error; under rkmm_sched.lock once queued */
	int result;
	/** @step: image being run; under rkmm_sched.lock */
	u32 step;
	/** @next_lane: lane of it to be started next; under rkmm_sched.lock */
	u32 next_lane;
	/** @running: cores at work on it; under rkmm_sched.lock */
	u32 running;
	/** @parked: mask of lanes between two kicks; under rkmm_sched.lock */
	unsigned long parked;
	/** @at: their next kicks; under rkmm_sched.lock */
	const struct rkmm_kick *at[RKMM_LANES_MAX];
	/** @suspect: kick that hung last; under rkmm_sched.lock */
	const struct rkmm_kick *suspect;
	/** @retries: kicks that were started once more; under rkmm_sched.lock */
	u32 retries;
	/** @fallen: image of step @fallen_step, which another one stands in for */
	struct rkmm_image *fallen;
	/** @fallen_step: see @fallen */
	u32 fallen_step;
	/** @hung: it failed because it hung; under rkmm_sched.lock */
	bool hung;
	/** @npu_ns: time on the core; under rkmm_sched.lock */
	u64 npu_ns;

	struct rkmm_dep *deps;
	u32 ndeps;
	struct rkmm_bo_use *bos;
	u32 nbos;
	u32 nops;
	/** @stages: of each step, referenced; NULL: operands are used where they are */
	struct rkmm_staging **stages;
	u32 nsteps;
	struct rkmm_image **steps;
	/** @arena: memory of its temporaries, referenced; NULL for none */
	struct rkmm_arena *arena;
	/** @warm: what keeps buffers and images instead, referenced */
	struct rkmm_warm *warm;
	/** @few_steps: @steps of few operations */
	struct rkmm_image *few_steps[RKMM_FEW_OPS];
	/** @few_bos: @bos of few operations */
	struct rkmm_bo_use few_bos[RKMM_OPERANDS * RKMM_FEW_OPS];
};

/* rkmm_job_window() - what the job's next start, or the running one, is in */
static inline struct rkmm_window *rkmm_job_window(const struct rkmm_job *job)
{
	return job->steps[job->step]->mem->window;
}

/* ---- rkmm_warm.c: submissions that come again ------------------------------ */

void rkmm_warm_put(struct rkmm_warm *warm);
/* rkmm_warm_forget() - a handle of @obj was closed, or plan @plan destroyed; neither: everything */
void rkmm_warm_forget(struct rkmm_client *client, struct drm_gem_object *obj, u32 plan);

int rkmm_ioctl_submit(struct drm_device *drm, void *data, struct drm_file *file);
void rkmm_job_put(struct rkmm_job *job);

/* ---- rkmm_wait.c ---------------------------------------------------------- */

int rkmm_ioctl_wait(struct drm_device *drm, void *data, struct drm_file *file);
/* rkmm_wait_seqno() - 0 and *result, -ENOENT, -ETIME, -EINTR */
int rkmm_wait_seqno(struct rkmm_client *client, u64 seqno, s64 deadline_ns, int *result);
/* rkmm_wait_find() - the job of a submission that did not end yet; rkmm_sched.lock held */
struct rkmm_job *rkmm_wait_find(struct rkmm_client *client, u64 seqno);

/* ---- rkmm_next.c, rkmm_sched.c, rkmm_queue.c: which job next, where, how jobs come and go --- */

int rkmm_sched_init(struct rkmm_device *rdev);
void rkmm_sched_fini(struct rkmm_device *rdev);
/* rkmm_sched_push() - queue an armed job; starts it at once when it can */
void rkmm_sched_push(struct rkmm_job *job);
/* rkmm_sched_dep_done() - one dependency signalled; any context */
void rkmm_sched_dep_done(struct rkmm_job *job, int error);
/* rkmm_sched_open() - a client that may submit */
void rkmm_sched_open(struct rkmm_client *client);
/* rkmm_sched_close() - the client's file is gone: cancel what has not started */
void rkmm_sched_close(struct rkmm_client *client);
/* rkmm_sched_irq() - interrupt of a powered core */
irqreturn_t rkmm_sched_irq(struct rkmm_core *core);
/* rkmm_sched_release_ended() - drop the scheduler's references to jobs that ended; sleeps */
void rkmm_sched_release_ended(struct rkmm_device *rdev);
/* rkmm_sched_hold() - start nothing more and wait until all cores are idle; sleeps */
void rkmm_sched_hold(struct rkmm_device *rdev);
/* rkmm_sched_hold_interruptible() - the same; 0, or -EINTR and nothing is held */
int rkmm_sched_hold_interruptible(struct rkmm_device *rdev);
void rkmm_sched_release(struct rkmm_device *rdev);
/* rkmm_sched_forget_window() - a window without users is about to go; its owner detaches it */
void rkmm_sched_forget_window(struct rkmm_device *rdev, struct rkmm_window *window);
/* rkmm_sched_kill() - device going: cores are reset, every job ends with -ENODEV */
void rkmm_sched_kill(struct rkmm_device *rdev);
/* rkmm_sched_drain() - after rkmm_sched_kill(): until the last job is released */
void rkmm_sched_drain(struct rkmm_device *rdev);
/* rkmm_sched_reset_done() - what rkmm_ladder_climb() came to; @off: cores out of service */
void rkmm_sched_reset_done(struct rkmm_device *rdev, int ret, u32 off);

/* With rkmm_sched.lock held. */

/* rkmm_sched_hung() - the core waits for a reset; its job goes on behind it, or ends there */
void rkmm_sched_hung(struct rkmm_core *core, enum rkmm_again again);
void rkmm_sched_end_stuck(struct rkmm_core *core, enum rkmm_core_state state);
bool rkmm_sched_busy(struct rkmm_device *rdev);

static inline u64 rkmm_sched_lost_irqs(const struct rkmm_device *rdev)
{
	u64 n = 0;
	u32 i;

	for (i = 0; i < rdev->ncores; i++)
		n += rdev->cores[i].lost_irqs;
	return n;
}

#define RKMM_INT_ERRORS		(BIT(12) | BIT(13))	/* DMA read, write (hw 01 §1.2) */

/* ---- rkmm_poll.c: ends that are looked for -------------------------------------- */

/* rkmm_poll_init() - module parameters; 0 or -errno with a line in the log */
int rkmm_poll_init(struct rkmm_device *rdev);
/* rkmm_poll_setup() - before the core is used */
void rkmm_poll_setup(struct rkmm_core *core);
/* rkmm_poll_stop() - after rkmm_sched.dead was set */
void rkmm_poll_stop(struct rkmm_core *core);
/* rkmm_poll_start() - the core's kick was started; with estimates, rkmm_sched.lock held */
void rkmm_poll_start(struct rkmm_core *core);
/* rkmm_poll_end() - it has ended; likewise */
void rkmm_poll_end(struct rkmm_core *core);

/* ---- rkmm_landing.c: output that is still on its way ---------------------------- */

/* rkmm_landing_init() - module parameters; 0 or -EINVAL with a line in the log */
int rkmm_landing_init(struct rkmm_device *rdev);
/* rkmm_landing_setup() - before the core is used */
void rkmm_landing_setup(struct rkmm_core *core);
/* rkmm_landing_stop() - after rkmm_sched.dead was set */
void rkmm_landing_stop(struct rkmm_core *core);
/**
 * rkmm_landing_place() - memory for the trailers of an image
 * @client: whose; its images are locked
 * @bound: operations of the image
 * @n: how many
 * @land: set to rkmm_limits.land, 0 where the image needs none
 *
 * Return: 0 or -errno.
 */
int rkmm_landing_place(struct rkmm_client *client, const struct rkmm_bound *bound, u32 n,
		       u32 *land);
/*
 * rkmm_landing_wait() - the core's kick has ended and settles: false if nobody waits for that;
 * rkmm_sched.lock held
 */
bool rkmm_landing_wait(struct rkmm_core *core);

/* ---- rkmm_proof.c: runs of the driver's own ---------------------------------------- */

/*
 * rkmm_proof_init() - after rkmm_vm_init() and rkmm_mode_init(); 0 or -errno with a line in the
 * log
 */
int rkmm_proof_init(struct rkmm_device *rdev);
/* rkmm_proof_fini() - nothing is started any more; before rkmm_vm_fini() */
void rkmm_proof_fini(struct rkmm_device *rdev);

/*
 * All cores idle and starts held; sleep. 0, or -errno for a device that is lost. Another window
 * may be attached afterwards.
 */

/* rkmm_proof_warm() - the cores were powered on or reset, matmuls of @mode are next */
int rkmm_proof_warm(struct rkmm_device *rdev, enum rkmm_mode mode);
/* rkmm_proof_cross() - check the transition; afterwards all cores are in @to, or were reset */
int rkmm_proof_cross(struct rkmm_device *rdev, enum rkmm_mode from, enum rkmm_mode to);
/* rkmm_proof_power() - after power-on */
int rkmm_proof_power(struct rkmm_device *rdev);
/*
 * rkmm_proof_core() - a known matmul on rdev->cores[@place], which may be stuck: 0 right, or not
 * asked for; -ETIME it did not end, -EILSEQ wrong twice, -ENODEV it could not begin. The window
 * of the driver's own stays attached.
 */
int rkmm_proof_core(struct rkmm_device *rdev, u32 place);

/* ---- rkmm_mode.c: datapath modes --------------------------------------------- */

struct seq_file;

/* rkmm_mode_init() - module parameter; 0 or -EINVAL with a line in the log */
int rkmm_mode_init(struct rkmm_device *rdev);
/* rkmm_mode_report() - the one line about transitions that take a reset */
void rkmm_mode_report(struct rkmm_device *rdev);
/* rkmm_mode_class() - equal, or 0, for modes that a step may mix */
u32 rkmm_mode_class(const struct rkmm_device *rdev, enum rkmm_mode mode);
void rkmm_mode_show(struct rkmm_device *rdev, struct seq_file *m);
/* rkmm_mode_lost() - all cores were powered on or reset; nothing runs on them */
void rkmm_mode_lost(struct rkmm_device *rdev, enum rkmm_mode mode);

/* ---- rkmm_recover.c: deadlines, reset ------------------------------------- */

/* rkmm_predict_ns() - what the cost law says of @kick at the present clock */
u64 rkmm_predict_ns(const struct rkmm_device *rdev, const struct rkmm_kick *kick);
/* rkmm_deadline_ns() - time that @kick may take on this device */
u64 rkmm_deadline_ns(struct rkmm_device *rdev, const struct rkmm_kick *kick);
/* Why a kick is given up */
enum rkmm_hang {
	RKMM_HANG_NEVER_STARTED,
	RKMM_HANG_STALLED,
	RKMM_HANG_DMA_ERROR,
	RKMM_HANG_READ_FAULT,
	RKMM_HANG_WRITE_FAULT,
};

/* rkmm_recover_hang() - give the core's kick up: one line in the log, then a reset; lock held */
void rkmm_recover_hang(struct rkmm_core *core, enum rkmm_hang cause,
		       const struct rkmm_core_status *st);
/* rkmm_recover_judge() - a job has ended: what its client is worth; rkmm_sched.lock held */
void rkmm_recover_judge(struct rkmm_job *job);

/* ---- rkmm_ladder.c: how the cores are got back ------------------------------- */

void rkmm_ladder_init(struct rkmm_device *rdev);
/* rkmm_ladder_pulse() - no core busy, starts held: reset all and restore; 0, or it is wedged */
int rkmm_ladder_pulse(struct rkmm_device *rdev);
/* rkmm_ladder_climb() - the same for sched.reset_wanted, as far as it takes; sleeps */
void rkmm_ladder_climb(struct rkmm_device *rdev);
/* rkmm_ladder_force() - a reset that nobody needs; 0, -EINTR, -ENODEV; sleeps */
int rkmm_ladder_force(struct rkmm_device *rdev);

/* ---- rkmm_dump.c: what was known about a hang --------------------------------- */

int rkmm_dump_init(struct rkmm_device *rdev);
void rkmm_dump_fini(struct rkmm_device *rdev);
/* rkmm_dump_hang() - before the core is quietened; rkmm_sched.lock held */
void rkmm_dump_hang(struct rkmm_core *core, u32 cause, u32 task);
/* rkmm_dump_before_reset() - program words; all cores quiet or stuck */
void rkmm_dump_before_reset(struct rkmm_device *rdev);

/* ---- rkmm_query.c, rkmm_stats.c, rkmm_debugfs.c ------------------------------ */

int rkmm_ioctl_query(struct drm_device *drm, void *data, struct drm_file *file);
int rkmm_ioctl_client_set(struct drm_device *drm, void *data, struct drm_file *file);
void rkmm_show_fdinfo(struct seq_file *m, struct file *file);
/* rkmm_debugfs_init() - after the DRM device was registered */
void rkmm_debugfs_init(struct rkmm_device *rdev);

#endif
