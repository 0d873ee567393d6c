// SPDX-License-Identifier: GPL-2.0-only
/*
 * A known-answer job of one geometry, on memory of the driver, with nothing else at work.
 *
 * It is made by whoever asks for it, and run by him while starts are held. What takes memory
 * comes before and behind that: fences of clients wait meanwhile. Twice right and not slow is
 * what a geometry is trusted for (hw 03 §4.5); a hang ends in the reset that a client's would.
 */
#include <linux/ktime.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "rkmm_envelope.h"
#include "rkmm_sched.h"
#include "rkmm_stage.h"

#define RKMM_PROBE_RUNS	2

/* One core's share, on memory of its own */
struct rkmm_probe_share {
	struct rkmm_probe probe;
	struct rkmm_progmem *data, *programs;
	struct rkmm_kick kick;
	u64 *want;
};

/**
 * struct rkmm_probe_set - the job on all its cores
 * @window: where everything is
 * @stage: as clients have it (rkmm_stage.h); NULL: not staged
 * @mode: datapath mode
 * @cores: how many cores it runs on
 * @share: of each
 */
struct rkmm_probe_set {
	struct rkmm_window *window;
	struct rkmm_staging *stage;
	enum rkmm_mode mode;
	u32 cores;
	struct rkmm_probe_share share[RKMM_MAX_CORES];
};

void rkmm_probe_free(struct rkmm_probe_set *set)
{
	u32 i;

	if (!set)
		return;
	for (i = 0; i < RKMM_MAX_CORES; i++) {
		if (set->share[i].programs)
			rkmm_progmem_free(set->share[i].programs);
		if (set->share[i].data)
			rkmm_progmem_free(set->share[i].data);
		kvfree(set->share[i].want);
	}
	rkmm_stage_put(set->stage);
	if (set->window)
		rkmm_window_put(set->window);
	kvfree(set);
}

/* Where clients' operands lie for the cores, these do too: hw 03 M3, M4. */
static int rkmm_probe_place(struct rkmm_probe_set *set, const struct rkmm_known *at,
			    struct rkmm_progmem *mem, u32 *a, u32 *c)
{
	const struct rkmm_stage_part in = { .mem = mem, .bytes = at->b };
	const struct rkmm_stage_part out = {
		.mem = mem, .first = at->c, .bytes = at->bytes - at->c,
	};
	int ret;

	*a = mem->iova;
	*c = mem->iova + at->c;
	if (!set->stage)
		return 0;
	ret = rkmm_stage_add(set->stage, mem->window, &in, RKMM_STAGE_A, a);
	return ret ?: rkmm_stage_add(set->stage, mem->window, &out, RKMM_STAGE_C, c);
}

static int rkmm_probe_emit(struct rkmm_device *rdev, struct rkmm_probe_set *set,
			   struct rkmm_probe_share *share)
{
	const struct rkmm_known *at = &share->probe.at;
	struct rkmm_limits limits = *rdev->soc->limits;
	struct rkmm_extent extent;
	struct rkmm_member one;
	u32 a, c;
	int ret;

	ret = rkmm_probe_place(set, at, share->data, &a, &c);
	if (ret)
		return ret;
	one = rkmm_member_of(&at->geom, at->geom.mm.m, a, share->data->iova + at->b, c);
	limits.light = false;
	limits.land = share->data->iova + at->bytes;
	rkmm_image_measure(&limits, &one, 1, &extent);
	/* Chains are cut by predicted time: such a job is no question of geometry. */
	if (extent.kicks != 1)
		return -EOPNOTSUPP;
	share->programs = rkmm_progmem_alloc(set->window, extent.bytes);
	if (IS_ERR(share->programs)) {
		ret = PTR_ERR(share->programs);
		share->programs = NULL;
		return ret;
	}
	rkmm_image_emit(&limits, &one, 1, share->programs->iova, share->programs->vaddr,
			&share->kick);
	return 0;
}

static int rkmm_probe_share(struct rkmm_device *rdev, struct rkmm_probe_set *set,
			    const struct rkmm_cell *cell, u32 kp, struct rkmm_probe_share *share)
{
	const struct rkmm_known *at = &share->probe.at;
	u64 *work;
	int ret;

	if (!rkmm_probe_init(rdev->soc->limits, cell, kp, get_random_u32(), &share->probe))
		return -EOPNOTSUPP;
	set->mode = rkmm_mode_of(at->geom.types);
	share->want = kvmalloc_array(at->geom.mm.m, sizeof(u64), GFP_KERNEL);
	work = kvmalloc_array(at->geom.mm.k, sizeof(u64), GFP_KERNEL);
	if (!share->want || !work) {
		kvfree(work);
		return -ENOMEM;
	}
	rkmm_probe_sums(&share->probe, work, share->want);
	kvfree(work);
	share->data = rkmm_scratch_alloc(set->window, at->bytes + RKMM_LAND_BYTES);
	if (IS_ERR(share->data)) {
		ret = PTR_ERR(share->data);
		share->data = NULL;
		return ret;
	}
	rkmm_probe_fill(&share->probe, share->data->vaddr);
	cond_resched();
	return rkmm_probe_emit(rdev, set, share);
}

static int rkmm_probe_prepare(struct rkmm_device *rdev, struct rkmm_probe_set *set,
			      const struct rkmm_cell *cell, u32 kp)
{
	struct rkmm_window *window = rkmm_window_open(rdev);
	u32 i, serving = 0;
	int ret = 0;

	if (IS_ERR(window))
		return PTR_ERR(window);
	set->window = window;
	set->cores = cell->cores;
	for (i = 0; i < rdev->ncores; i++)
		serving += READ_ONCE(rdev->cores[i].state) != RKMM_CORE_OFF;
	if (serving < set->cores)
		return READ_ONCE(rdev->sched.dead) ? -ENODEV : -EOPNOTSUPP;
	if (rdev->vm.stage_side) {
		set->stage = rkmm_stage_alloc(rdev->ncores);
		if (!set->stage)
			return -ENOMEM;
	}
	for (i = 0; i < set->cores && !ret; i++)
		ret = rkmm_probe_share(rdev, set, cell, kp, &set->share[i]);
	if (!ret && set->stage)
		ret = rkmm_stage_reserve(window, set->stage);
	return ret;
}

/* No core is busy and starts are held: into the mode of the job. 0, or the device is lost. */
static int rkmm_probe_mode(struct rkmm_device *rdev, enum rkmm_mode mode)
{
	u32 need = rdev->verdicts.need[rdev->sched.mode][mode], i;
	int ret = 0;

	for (i = 0; i < rdev->ncores; i++)
		need = max_t(u32, need, rdev->verdicts.need[rdev->cores[i].mode][mode]);
	if (need > RKMM_NEED_WARM)
		ret = rkmm_ladder_pulse(rdev);
	return ret || need == RKMM_NEED_NOTHING ? ret : rkmm_proof_warm(rdev, mode);
}

static bool rkmm_probe_over(struct rkmm_device *rdev)
{
	bool over = true;
	u32 i;

	spin_lock_irq(&rdev->sched.lock);
	for (i = 0; i < rdev->ncores; i++)
		over &= rdev->cores[i].state != RKMM_CORE_PROOF || rdev->cores[i].proven;
	over |= rdev->sched.dead;
	spin_unlock_irq(&rdev->sched.lock);
	return over;
}

/* Return: 0; -ETIME for cores that did not end; -ENODEV for fewer cores than there should be */
static int rkmm_probe_start(struct rkmm_device *rdev, struct rkmm_probe_set *set)
{
	u64 ns = rkmm_deadline_ns(rdev, &set->share[0].kick);
	struct rkmm_core *core;
	u32 i, n = 0;
	int ret = 0;

	spin_lock_irq(&rdev->sched.lock);
	for (i = 0; i < rdev->ncores && n < set->cores && !rdev->sched.dead; i++) {
		core = &rdev->cores[i];
		if (core->state != RKMM_CORE_IDLE)
			continue;
		core->state = RKMM_CORE_PROOF;
		core->proven = false;
		core->kept = false;
		core->mode = set->mode;
		rkmm_core_kick(core, &set->share[n++].kick);
	}
	rdev->sched.mode = set->mode;
	spin_unlock_irq(&rdev->sched.lock);

	wait_event_timeout(rdev->sched.idle, rkmm_probe_over(rdev), nsecs_to_jiffies(ns) + 1);

	spin_lock_irq(&rdev->sched.lock);
	for (i = 0; i < rdev->ncores; i++) {
		core = &rdev->cores[i];
		if (core->state != RKMM_CORE_PROOF)
			continue;
		/* Its interrupt may be lost. */
		if (!core->proven && !rkmm_sched_ended(core))
			ret = -ETIME;
		rkmm_core_quiet(core);
		core->state = RKMM_CORE_IDLE;
	}
	if (n < set->cores || rdev->sched.dead)
		ret = -ENODEV;
	spin_unlock_irq(&rdev->sched.lock);
	return ret;
}

static int rkmm_probe_runs(struct rkmm_device *rdev, struct rkmm_probe_set *set,
			   struct rkmm_trial *trial)
{
	/* The first one into new memory may come to nothing on silicon (hw 03 S1, S4). */
	u32 spare = rdev->warmup, run, i;
	struct rkmm_probe_share *share;
	u64 began;
	int ret;

	for (run = 0; run < RKMM_PROBE_RUNS + spare; run++) {
		for (i = 0; i < set->cores; i++) {
			share = &set->share[i];
			memset(share->data->vaddr + share->probe.at.c, 0x5a,
			       share->probe.at.bytes - share->probe.at.c);
		}
		began = ktime_get_ns();
		ret = rkmm_probe_start(rdev, set);
		if (ret)
			return ret;
		if (run < spare)
			continue;
		began = ktime_get_ns() - began;
		trial->ns = trial->ns ? min(trial->ns, began) : began;
		for (i = 0; i < set->cores; i++) {
			share = &set->share[i];
			trial->wrong += rkmm_probe_wrong(&share->probe,
							 share->data->vaddr + share->probe.at.c,
							 share->want);
		}
	}
	return 0;
}

/* Starts are held. */
static int rkmm_probe_held(struct rkmm_device *rdev, struct rkmm_probe_set *set,
			   struct rkmm_trial *trial)
{
	int ret = rkmm_probe_mode(rdev, set->mode), lost = ret;

	if (!ret)
		ret = rkmm_vm_attach(rdev, set->window);
	if (!ret && set->stage && set->window->staged != set->stage)
		ret = rkmm_stage_switch(set->window, set->stage);
	if (!ret)
		ret = rkmm_probe_runs(rdev, set, trial);
	if (ret == -ETIME)
		lost = rkmm_ladder_pulse(rdev);
	spin_lock_irq(&rdev->sched.lock);
	/* Who comes next has the worker attach his window. */
	rdev->sched.window = NULL;
	if (lost)
		rdev->sched.dead = true;
	spin_unlock_irq(&rdev->sched.lock);
	rkmm_vm_attach(rdev, NULL);
	return lost ? -ENODEV : ret;
}

int rkmm_probe_run(struct rkmm_device *rdev, const struct rkmm_cell *cell, u32 kp,
		   struct rkmm_trial *trial)
{
	struct rkmm_probe_set *set = kvzalloc(sizeof(*set), GFP_KERNEL);
	int ret;

	if (!set)
		return -ENOMEM;
	memset(trial, 0, sizeof(*trial));
	ret = rkmm_probe_prepare(rdev, set, cell, kp);
	if (ret)
		goto out;
	trial->predicted_ns = rkmm_predict_ns(rdev, &set->share[0].kick);
	ret = rkmm_sched_hold_interruptible(rdev);
	if (ret)
		goto out;
	ret = READ_ONCE(rdev->sched.dead) ? -ENODEV : rkmm_probe_held(rdev, set, trial);
	rkmm_sched_release(rdev);
	if (!ret)
		/* Times of an emulation that is that much slower tell nothing but hangs. */
		trial->outcome = rkmm_probe_judge(trial->wrong, rdev->time_scale == 1 ?
						  trial->ns : 0, trial->predicted_ns, 1);
	if (ret == -ETIME) {
		trial->outcome = RKMM_OUTCOME_HUNG;
		ret = 0;
	}
	/* Only the reset that comes with the end of the device surely ends DMA. */
	if (READ_ONCE(rdev->sched.dead)) {
		ret = -ENODEV;
		/* If there is something already, this one was never started. */
		if (!rdev->trust->left) {
			rdev->trust->left = set;
			set = NULL;
		}
	}
out:
	rkmm_probe_free(set);
	return ret;
}
