/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The device and its clients.
 *
 * Two struct devices (Documentation/design.rst): @dev is the NPU, which owns
 * registers, interrupts, clocks, resets, power and the IOMMU; @dma is the
 * facade, a plain platform device not behind the IOMMU, through which all DMA
 * mapping and cache maintenance goes. The DMA API is never called on @dev: with
 * a window attached it would hand out addresses of another domain.
 */
#ifndef RKMM_DEVICE_H
#define RKMM_DEVICE_H

#include <drm/drm_device.h>
#include <drm/drm_file.h>
#include <linux/dma-fence.h>
#include <linux/kref.h>
#include <linux/platform_device.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "prog/rkmm_policy.h"
#include "rkmm_core.h"
#include "rkmm_power.h"
#include "rkmm_soc.h"
#include "rkmm_vm.h"

struct rkmm_estimates;
struct rkmm_proof;
struct rkmm_trust;

#define RKMM_VERSION_MAJOR	0
#define RKMM_VERSION_MINOR	1

/**
 * struct rkmm_sched - which job runs where
 * @reap: runs rkmm_job_put() on @reap_list
 * @jobs: jobs that ended; under @lock
 * @pushed: jobs that came; under @lock
 * @nclients: entries of @clients; under @lock
 * @resets: resets done; under @lock
 * @forced: those that somebody asked for; under @lock
 * @power_cycles: times that the power was switched off and on for one; under @lock
 * @switches: window switches; under @lock
 * @switch_ns: time of those; under @lock
 * @remaps: times that other operands were staged; under @lock
 * @changes: times that a core was started in another datapath mode; under @lock
 * @mode_resets: resets for the sake of one; under @lock
 * @looks: looks at running kicks; under @lock
 * @warmups: times that cores were woken; by whoever holds starts
 * @policy: what the policy did; under @lock
 * @wq: for @work
 *
 * Fences are never signalled with @lock held: their callbacks come back here.
 */
struct rkmm_sched {
	/** @lock: cores, queues, job states; taken in the interrupt handler */
	spinlock_t lock;
	/** @ready: clients with a startable job at their head */
	struct list_head ready;
	/** @now: time of the present event; where nothing depends on it, of one before */
	u64 now;
	/** @mode: of the last matmul on any core */
	enum rkmm_mode mode;
	/** @floor: virtual time that no client that has work is behind */
	u64 floor;
	/** @clients: open files */
	struct list_head clients;
	/** @window: window the cores run in; changes only with all cores idle */
	struct rkmm_window *window;
	/** @switching: window that the worker attaches now; its release waits for that */
	struct rkmm_window *switching;
	/** @staging: what the worker stages now, referenced; its jobs' release waits for that */
	struct rkmm_staging *staging;
	/** @hold: starts are forbidden while non-zero: a switch, suspend, removal */
	unsigned int hold;
	/** @reset_wanted: a core is stuck: nothing starts until the reset */
	bool reset_wanted;
	/** @dead: the device is gone: jobs end with -ENODEV */
	bool dead;
	/** @alive: jobs that were pushed and not yet released */
	u64 alive;
	/** @ended: jobs whose fence is to be signalled, oldest first */
	struct list_head ended;
	/** @signalling: somebody empties @ended; keeps fences in order and callbacks flat */
	bool signalling;
	/** @idle: woken when the last busy core stops */
	wait_queue_head_t idle;
	/** @work: everything that sleeps: window switch, reset */
	struct work_struct work;
	struct workqueue_struct *wq;
	/** @watchdog: runs while a core is busy; finds lost interrupts and deadlines */
	struct timer_list watchdog;
	/** @reap_list: ended jobs whose buffers and images are to be released */
	struct llist_head reap_list;
	struct work_struct reap;
	/** @reap_wq: releases memory, so not the queue that signals fences */
	struct workqueue_struct *reap_wq;
	u64 jobs;
	u64 pushed;
	u32 nclients;
	u64 resets;
	u64 forced;
	u64 power_cycles;
	u64 switches;
	u64 switch_ns;
	u64 remaps;
	u64 changes;
	u64 mode_resets;
	u64 looks;
	u64 warmups;
	struct rkmm_policy_counts policy;
};

/**
 * struct rkmm_mode_proof - a transition that is checked
 * @right: checks that were right
 * @wrong: those that were wrong, after which it takes a reset
 * @told: and right after a reset: so it was the transition
 */
struct rkmm_mode_proof {
	u32 right, wrong;
	bool told;
};

/**
 * struct rkmm_device - lives as long as its drm_device (drmm)
 * @drm: the DRM device, whose managed memory this is
 * @dma: &facade->dev: mapping and cache maintenance
 * @soc: the chip
 * @ncores: entries of @cores in use
 * @hw_version: what the version registers read
 * @cores: the cores
 * @power: clocks, supplies, resets
 * @vm: address windows
 * @sched: queues
 */
struct rkmm_device {
	struct drm_device *drm;
	/** @dev: the NPU device */
	struct device *dev;
	/** @facade: DMA through &facade->dev only */
	struct platform_device *facade;
	struct device *dma;
	const struct rkmm_soc *soc;
	/** @soft: the NPU is the software model */
	bool soft;
	/** @time_scale: deadlines are multiplied by it; 1 on silicon */
	u32 time_scale;
	u32 ncores;
	/** @all_cores: mask of the cores that the part has */
	u32 all_cores;
	u32 hw_version;
	/** @clock_hz: core clock as last set, for predictions; read without a lock */
	unsigned long clock_hz;
	struct rkmm_core cores[RKMM_MAX_CORES];
	struct rkmm_power power;
	struct rkmm_vm vm;
	/** @poll: whose kicks are looked at before they interrupt; constant */
	enum rkmm_poll_when poll;
	/** @estimates: what kicks take, NULL when @poll is off; under rkmm_sched.lock */
	struct rkmm_estimates *estimates;
	/** @trailers: chains with narrow output have one more program; constant */
	bool trailers;
	/** @settle_ns: what is waited for behind others with such output, 0: nothing; constant */
	u64 settle_ns;
	/**
	 * @verdicts: what transitions of datapath modes take; a check may become a reset, under
	 * rkmm_sched.lock
	 */
	struct rkmm_verdicts verdicts;
	/** @mode_proofs: what checks have shown; under rkmm_sched.lock */
	struct rkmm_mode_proof mode_proofs[RKMM_MODES][RKMM_MODES];
	/** @need_worker: from here on a transition is for the worker; under rkmm_sched.lock */
	u32 need_worker;
	/** @warmup: cores run something of the driver's first; by whoever holds starts */
	bool warmup;
	/** @golden_seen: rkmm_proof_core() was right once; by whoever holds starts */
	bool golden_seen;
	/** @proof: NULL, or runs of the driver's own; by whoever holds starts */
	struct rkmm_proof *proof;
	struct rkmm_sched sched;
	/** @wedged: tells user space that it is */
	struct work_struct wedged;
	/** @trust: verdicts on geometries, see rkmm_envelope.c */
	struct rkmm_trust *trust;
	/** @dump: see rkmm_dump.c */
	struct rkmm_dump *dump;
};

static inline struct rkmm_device *to_rkmm(struct drm_device *drm)
{
	return drm->dev_private;
}

#define RKMM_FAILED_KEPT	64
#define RKMM_WARM_BITS		6

/**
 * struct rkmm_warm_slot - a submission that is kept, by its hash
 */
struct rkmm_warm_slot {
	/** @seen: hash of the last one that was not; hint, without a lock */
	u64 seen;
	/** @warm: under rkmm_client.submit_lock */
	struct rkmm_warm *warm;
};

/**
 * struct rkmm_client - one open file; outlives it until its last job is released
 * @ref: one for the file, one for every job
 * @rdev: the device
 * @space: its address windows, referenced
 * @window: the first of them
 * @pid: of the process that opened the file
 * @comm: name of it
 * @nfailed: failures so far; under rkmm_sched.lock
 * @pushed: jobs that came; under rkmm_sched.lock
 * @jobs: jobs that ended; under rkmm_sched.lock
 * @guilty: hangs of its jobs; under rkmm_sched.lock
 * @innocent: resets for others while it had work; under rkmm_sched.lock
 * @npu_ns: time on cores; under rkmm_sched.lock
 * @remaps: times that its operands were staged; under rkmm_sched.lock
 * @polled: kicks of it whose end a look has found; under rkmm_sched.lock
 */
struct rkmm_client {
	struct kref ref;
	/** @id: for people and fdinfo, never reused */
	u64 id;
	struct rkmm_device *rdev;
	struct rkmm_space *space;
	struct rkmm_window *window;
	pid_t pid;
	char comm[TASK_COMM_LEN];

	/** @submit_lock: order of submissions: sequence numbers, fences, queue */
	struct mutex submit_lock;
	/** @plans: handles; xa_lock */
	struct xarray plans;
	/** @images: cached program images, see rkmm_image.c */
	struct rkmm_images *images;

	/** @warm: submissions that may come again, see rkmm_warm.c; under @submit_lock */
	struct {
		struct rkmm_warm_slot slots[1 << RKMM_WARM_BITS];
		/** @warm.changes: handles closed and plans destroyed */
		u64 changes;
		/** @warm.hits: images found by it */
		u64 hits;
	} warm;

	/** @arena_lock: @arena; outside rkmm_vm.lock */
	struct mutex arena_lock;
	/** @arena: memory of temporaries, referenced; see rkmm_temp.c */
	struct rkmm_arena *arena;

	/** @near: window of the operation bound last; a hint, without a lock */
	struct rkmm_window *near;

	/** @spare: memory of a job, for the next one; by atomic exchange */
	struct rkmm_job *spare;

	/** @stage_lock: @stage */
	spinlock_t stage_lock;
	/** @stage: of the last step bound, referenced */
	struct rkmm_staging *stage;

	/** @fence_context: jobs of a client run and end in order */
	u64 fence_context;
	/** @synced: bytes cleaned from the caches for submissions; written under @submit_lock */
	u64 synced;
	/** @seqno: last sequence number given; under @submit_lock */
	u64 seqno;

	/** @queue: jobs not yet started, oldest first; under rkmm_sched.lock */
	struct list_head queue;
	/** @running: job on a core; under rkmm_sched.lock */
	struct rkmm_job *running;
	/** @in_ready: node in rkmm_sched.ready; under rkmm_sched.lock */
	struct list_head in_ready;
	/** @candidate: what the policy knows of it; under rkmm_sched.lock */
	struct rkmm_candidate candidate;
	/** @able: it is a candidate of the present choice; under rkmm_sched.lock */
	bool able;
	/** @in_clients: in rkmm_sched.clients; under rkmm_sched.lock */
	struct list_head in_clients;
	/** @ended: sequence number up to which jobs have ended; under rkmm_sched.lock */
	u64 ended;
	/** @signalled: likewise, their fences signalled; written by whoever signals */
	u64 signalled;
	/** @done: woken when @signalled grows */
	wait_queue_head_t done;
	/** @failed: the last failures, a ring; under rkmm_sched.lock */
	struct { u64 seqno; int result; } failed[RKMM_FAILED_KEPT];
	u32 nfailed;

	/** @tables_kept: starts that found their table; under rkmm_sched.lock */
	u64 tables_kept;
	/** @tables_loaded: those with lookups that did not; under rkmm_sched.lock */
	u64 tables_loaded;

	/** @strikes: see rkmm_recover_judge(); under rkmm_sched.lock */
	u32 strikes;
	/** @banned: submissions are refused; written under rkmm_sched.lock */
	bool banned;

	/* statistics, under rkmm_sched.lock */
	u64 pushed, jobs, guilty, innocent, npu_ns, remaps, polled;
};

static inline void rkmm_client_get(struct rkmm_client *client)
{
	kref_get(&client->ref);
}

void rkmm_client_put(struct rkmm_client *client);

/* rkmm_sysfs.c: attributes of the NPU's device */
extern const struct attribute_group *rkmm_sysfs_groups[];

#endif
