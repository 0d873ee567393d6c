// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs of the driver's own on all cores: to wake them, and to prove that a transition between
 * datapath modes harms nobody.
 *
 * A run takes matmuls with known results (prog/rkmm_known.h) and memory that no client sees. It
 * happens while nothing else runs, in the worker or while the device comes up:
 *
 * - tiny ones after power-on and after a reset: the first matmul of a core may hang it (hw 03 S5,
 *   cured by one of int8 on all cores at power-on), or come to nothing (S1, S4, S6);
 * - a large one, in the region where harm was seen, as the first matmul behind a transition that
 *   is kept warm on proof. So no client's job starts before its transition was seen to be right,
 *   and none has to be run again. If it is wrong the cores are reset, and if it is right then, the
 *   transition has been the cause: it takes the reset from here on, until the driver is bound
 *   anew;
 * - a tiny one on a core that hung, behind the reset: rkmm_ladder.c.
 *
 * Nothing here allocates once the device is up: fences wait for the worker.
 */
#include <linux/module.h>
#include <linux/string.h>

#include "compat/rkmm_compat.h"
#include "prog/rkmm_known.h"
#include "rkmm_sched.h"
#include "rkmm_stage.h"

static char *warmup = "auto";
module_param(warmup, charp, 0444);
MODULE_PARM_DESC(warmup,
		 "Run matmuls of the driver's own first after power-on and resets: on, off, auto (default: not on the software NPU)");

static bool golden = true;
module_param(golden, bool, 0644);
MODULE_PARM_DESC(golden,
		 "Behind the reset for a hang, run a matmul of the driver's own on that core first (default Y)");

static const enum rkmm_mode rkmm_proof_modes[] = { RKMM_MODE_F16, RKMM_MODE_I8, RKMM_MODE_I4 };

/* A matmul on memory of its own for each core */
struct rkmm_proof_job {
	struct rkmm_known known;
	/** @stage: of all cores, as clients have it (rkmm_stage.h); NULL: not staged */
	struct rkmm_staging *stage;
	struct rkmm_progmem *data[RKMM_MAX_CORES];
	struct rkmm_progmem *programs[RKMM_MAX_CORES];
	struct rkmm_kick kick[RKMM_MAX_CORES];
	bool there;
};

/**
 * struct rkmm_proof - all of them
 * @window: where they are
 * @job: by mode and size
 */
struct rkmm_proof {
	struct rkmm_window *window;
	struct rkmm_proof_job job[ARRAY_SIZE(rkmm_proof_modes)][RKMM_KNOWN_SIZES];
};

static struct rkmm_proof_job *rkmm_proof_job(struct rkmm_device *rdev, enum rkmm_mode mode,
					     enum rkmm_known_size size)
{
	struct rkmm_proof_job *job = &rdev->proof->job[mode - RKMM_MODE_F16][size];

	return job->there ? job : NULL;
}

/*
 * Features at other addresses than those of clients would be in the cores' memory when a client
 * comes back (hw 03 M3, M4): theirs lie where those of clients do.
 */
static int rkmm_proof_place(struct rkmm_device *rdev, struct rkmm_proof_job *job,
			    struct rkmm_progmem *mem, u32 *a, u32 *c)
{
	const struct rkmm_known *known = &job->known;
	const struct rkmm_stage_part in = { .mem = mem, .bytes = known->b };
	const struct rkmm_stage_part out = {
		.mem = mem, .first = known->c, .bytes = known->bytes - known->c,
	};
	int ret;

	*a = mem->iova;
	*c = mem->iova + known->c;
	if (!job->stage)
		return 0;
	ret = rkmm_stage_add(job->stage, mem->window, &in, RKMM_STAGE_A, a);
	return ret ?: rkmm_stage_add(job->stage, mem->window, &out, RKMM_STAGE_C, c);
}

static int rkmm_proof_make(struct rkmm_device *rdev, struct rkmm_proof_job *job, u32 core)
{
	const struct rkmm_known *known = &job->known;
	struct rkmm_limits limits = *rdev->soc->limits;
	struct rkmm_window *window = rdev->proof->window;
	struct rkmm_extent extent;
	struct rkmm_progmem *mem;
	struct rkmm_member one;
	u32 a, c;
	int ret;

	mem = rkmm_scratch_alloc(window, known->bytes + RKMM_LAND_BYTES);
	if (IS_ERR(mem))
		return PTR_ERR(mem);
	job->data[core] = mem;
	rkmm_known_fill(known, mem->vaddr);
	ret = rkmm_proof_place(rdev, job, mem, &a, &c);
	if (ret)
		return ret;
	one = rkmm_member_of(&known->geom, known->geom.mm.m, a, mem->iova + known->b, c);
	limits.light = false;
	limits.land = mem->iova + known->bytes;
	rkmm_image_measure(&limits, &one, 1, &extent);
	if (extent.kicks != 1)
		return -EINVAL;
	mem = rkmm_progmem_alloc(window, extent.bytes);
	if (IS_ERR(mem))
		return PTR_ERR(mem);
	job->programs[core] = mem;
	rkmm_image_emit(&limits, &one, 1, mem->iova, mem->vaddr, &job->kick[core]);
	return 0;
}

static int rkmm_proof_prepare(struct rkmm_device *rdev, enum rkmm_mode mode,
			      enum rkmm_known_size size)
{
	struct rkmm_proof_job *job = &rdev->proof->job[mode - RKMM_MODE_F16][size];
	int ret = 0;
	u32 i;

	if (!rkmm_known_init(rdev->soc->limits, mode, size, &job->known))
		return -EINVAL;
	if (rdev->vm.stage_side) {
		job->stage = rkmm_stage_alloc(rdev->ncores);
		if (!job->stage)
			return -ENOMEM;
	}
	for (i = 0; i < rdev->ncores && !ret; i++)
		ret = rkmm_proof_make(rdev, job, i);
	if (!ret && job->stage)
		ret = rkmm_stage_reserve(rdev->proof->window, job->stage);
	job->there = !ret;
	return ret;
}

void rkmm_proof_fini(struct rkmm_device *rdev)
{
	struct rkmm_proof_job *job;
	u32 i, k;

	if (!rdev->proof)
		return;
	for (i = 0; i < ARRAY_SIZE(rkmm_proof_modes) * RKMM_KNOWN_SIZES; i++) {
		job = &rdev->proof->job[i / RKMM_KNOWN_SIZES][i % RKMM_KNOWN_SIZES];
		for (k = 0; k < rdev->ncores; k++) {
			if (job->programs[k])
				rkmm_progmem_free(job->programs[k]);
			if (job->data[k])
				rkmm_progmem_free(job->data[k]);
		}
		rkmm_stage_put(job->stage);
	}
	rkmm_window_put(rdev->proof->window);
	kvfree(rdev->proof);
	rdev->proof = NULL;
}

int rkmm_proof_init(struct rkmm_device *rdev)
{
	bool warm = !rdev->soft, check;
	u32 i;
	int ret = 0;

	if (!sysfs_streq(warmup, "auto") && kstrtobool(warmup, &warm))
		return dev_err_probe(rdev->dev, -EINVAL, "warmup=%s: not understood\n", warmup);
	check = rkmm_verdicts_have(&rdev->verdicts, RKMM_NEED_CHECK);
	rdev->warmup = warm;
	/* What needs the worker */
	rdev->need_worker = warm ? RKMM_NEED_WARM : RKMM_NEED_CHECK;

	rdev->proof = kvzalloc(sizeof(*rdev->proof), GFP_KERNEL);
	if (!rdev->proof)
		return -ENOMEM;
	rdev->proof->window = rkmm_window_open(rdev);
	if (IS_ERR(rdev->proof->window)) {
		ret = PTR_ERR(rdev->proof->window);
		kvfree(rdev->proof);
		rdev->proof = NULL;
		return ret;
	}
	for (i = 0; i < ARRAY_SIZE(rkmm_proof_modes) && !ret; i++) {
		if (warm || check || rkmm_proof_modes[i] == RKMM_MODE_I8)
			ret = rkmm_proof_prepare(rdev, rkmm_proof_modes[i], RKMM_KNOWN_TINY);
		if (!ret && check && rkmm_proof_modes[i] != RKMM_MODE_F16)
			ret = rkmm_proof_prepare(rdev, rkmm_proof_modes[i], RKMM_KNOWN_LARGE);
	}
	if (ret) {
		dev_err_probe(rdev->dev, ret, "cannot prepare runs of the driver's own\n");
		rkmm_proof_fini(rdev);
	}
	return ret;
}

static bool rkmm_proof_over(struct rkmm_device *rdev)
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

/*
 * Start @job on the cores of @mask (by their places) that are idle or stuck, at once, and wait.
 * Return: 0, or -ETIME for cores that did not end.
 */
static int rkmm_proof_start(struct rkmm_device *rdev, struct rkmm_proof_job *job, u32 mask)
{
	u64 ns = rkmm_deadline_ns(rdev, &job->kick[0]);
	enum rkmm_core_state was[RKMM_MAX_CORES];
	struct rkmm_core *core;
	int ret = 0;
	u32 i;

	spin_lock_irq(&rdev->sched.lock);
	for (i = 0; i < rdev->ncores && !rdev->sched.dead; i++) {
		core = &rdev->cores[i];
		was[i] = core->state;
		if (!(mask & BIT(i)) ||
		    (core->state != RKMM_CORE_IDLE && core->state != RKMM_CORE_STUCK))
			continue;
		core->state = RKMM_CORE_PROOF;
		core->proven = false;
		core->kept = false;
		rkmm_core_kick(core, &job->kick[i]);
	}
	spin_unlock_irq(&rdev->sched.lock);

	wait_event_timeout(rdev->sched.idle, rkmm_proof_over(rdev), nsecs_to_jiffies(ns) + 1);

	spin_lock_irq(&rdev->sched.lock);
	for (i = 0; i < rdev->ncores; i++) {
		core = &rdev->cores[i];
		if (core->state != RKMM_CORE_PROOF)
			continue;
		/* Its interrupt may be lost. */
		if (!core->proven && !rkmm_sched_ended(core)) {
			ret = -ETIME;
			if (rdev->sched.dead)
				continue;
			dev_warn_ratelimited(rdev->dev, "core%u: a run of the driver's own did not end\n",
					     core->index);
		}
		rkmm_core_quiet(core);
		core->state = was[i];
	}
	spin_unlock_irq(&rdev->sched.lock);
	return ret;
}

/*
 * No core busy and starts held. Return: cells that were wrong; -ETIME when a core did not
 * end, which takes a reset; -ENODEV when it could not begin.
 */
static int rkmm_proof_run_on(struct rkmm_device *rdev, struct rkmm_proof_job *job, u32 mask)
{
	struct rkmm_window *window = rdev->proof->window;
	u32 i, wrong = 0;
	int ret = 0;

	if (READ_ONCE(rdev->vm.attached) != window)
		ret = rkmm_vm_attach(rdev, window);
	if (!ret && job->stage && window->staged != job->stage)
		ret = rkmm_stage_switch(window, job->stage);
	if (ret)
		return -ENODEV;
	for (i = 0; i < rdev->ncores; i++)
		rkmm_known_spoil(&job->known, job->data[i]->vaddr + job->known.c);
	ret = rkmm_proof_start(rdev, job, mask);
	if (ret)
		return ret;
	for (i = 0; i < rdev->ncores; i++)
		if (mask & BIT(i) && rdev->cores[i].state != RKMM_CORE_OFF)
			wrong += rkmm_known_wrong(&job->known,
						  job->data[i]->vaddr + job->known.c, false);
	return wrong;
}

/* The same on all cores */
static int rkmm_proof_run(struct rkmm_device *rdev, enum rkmm_mode mode, enum rkmm_known_size size)
{
	struct rkmm_proof_job *job = rkmm_proof_job(rdev, mode, size);
	int ret;

	if (!job)
		return -EINVAL;
	ret = rkmm_proof_run_on(rdev, job, rdev->all_cores);
	if (ret != -ENODEV)
		rkmm_mode_lost(rdev, mode);
	return ret;
}

int rkmm_proof_core(struct rkmm_device *rdev, u32 place)
{
	struct rkmm_proof_job *job = rkmm_proof_job(rdev, RKMM_MODE_I8, RKMM_KNOWN_TINY);
	int ret, i;

	if (!READ_ONCE(golden))
		return 0;
	/* The first one behind a reset may come to nothing (hw 03 S1, S4, S6). */
	for (i = 0; i < 2; i++) {
		ret = rkmm_proof_run_on(rdev, job, BIT(place));
		if (ret <= 0 || READ_ONCE(rdev->sched.dead))
			break;
	}
	if (ret >= 0) {
		/*
		 * What needs a reset behind int8 needs it now, on whichever core; what is to be
		 * warmed up behind a reset still is: rkmm_sched_need().
		 */
		spin_lock_irq(&rdev->sched.lock);
		rdev->cores[place].golden = true;
		rdev->sched.mode = RKMM_MODE_I8;
		spin_unlock_irq(&rdev->sched.lock);
	}
	if (!ret)
		rdev->golden_seen = true;
	/* Nothing follows from results that were never right: it may be us. */
	if (ret > 0 && !rdev->golden_seen) {
		dev_warn_once(rdev->dev, "known results are wrong, and never were right\n");
		return 0;
	}
	return ret > 0 ? -EILSEQ : ret;
}

static int rkmm_proof_tiny(struct rkmm_device *rdev, enum rkmm_mode mode)
{
	int ret = 0;

	/*
	 * The one of fp16 and int8 that is not next too, as nothing is done between those two.
	 * int4 by itself: a transition to it may harm. Results do not matter.
	 */
	if (mode == RKMM_MODE_F16)
		ret = rkmm_proof_run(rdev, RKMM_MODE_I8, RKMM_KNOWN_TINY);
	else if (mode == RKMM_MODE_I8)
		ret = rkmm_proof_run(rdev, RKMM_MODE_F16, RKMM_KNOWN_TINY);
	if (ret >= 0)
		ret = rkmm_proof_run(rdev, mode, RKMM_KNOWN_TINY);
	return ret;
}

int rkmm_proof_warm(struct rkmm_device *rdev, enum rkmm_mode mode)
{
	int ret, i;

	/* What hangs is reset, and tried once more. */
	for (i = 0; rdev->warmup && i < 2; i++) {
		rdev->sched.warmups++;
		ret = rkmm_proof_tiny(rdev, mode);
		if (ret >= 0 || READ_ONCE(rdev->sched.dead))
			return 0;
		ret = rkmm_ladder_pulse(rdev);
		if (ret)
			return ret;
	}
	if (!rdev->warmup)
		return 0;
	/* Jobs have deadlines; trying again for ever would help nobody. */
	dev_warn(rdev->dev, "runs of the driver's own do not end: no more of them\n");
	spin_lock_irq(&rdev->sched.lock);
	rdev->warmup = false;
	rdev->need_worker = RKMM_NEED_CHECK;
	spin_unlock_irq(&rdev->sched.lock);
	return 0;
}

static int rkmm_proof_reset(struct rkmm_device *rdev, enum rkmm_mode mode)
{
	int ret = rkmm_ladder_pulse(rdev);

	return ret ?: rkmm_proof_warm(rdev, mode);
}

/* The verdict is set; what it was before is unproven. */
static void rkmm_proof_convict(struct rkmm_device *rdev, enum rkmm_mode from, enum rkmm_mode to,
			       bool told)
{
	struct rkmm_mode_proof *proof = &rdev->mode_proofs[from][to];
	unsigned long flags;

	spin_lock_irqsave(&rdev->sched.lock, flags);
	rdev->verdicts.need[from][to] = RKMM_NEED_RESET;
	proof->wrong++;
	proof->told = told;
	spin_unlock_irqrestore(&rdev->sched.lock, flags);
	dev_warn(rdev->dev, "transition %s>%s: %s: it takes a reset from now on\n",
		 rkmm_mode_name(from), rkmm_mode_name(to),
		 told ? "known results were wrong behind it, and right after a reset" :
			"known results are wrong even after a reset, so nothing can be told");
}

int rkmm_proof_power(struct rkmm_device *rdev)
{
	int ret;

	if (!rdev->warmup)
		return 0;
	ret = rkmm_ladder_pulse(rdev);
	if (!ret)
		/* int8 first: what never ran may hang at anything else (hw 03 S5) */
		ret = rkmm_proof_warm(rdev, RKMM_MODE_F16);
	/* Who comes next has the worker attach his window. */
	spin_lock_irq(&rdev->sched.lock);
	rdev->sched.window = NULL;
	spin_unlock_irq(&rdev->sched.lock);
	rkmm_vm_attach(rdev, NULL);
	return ret;
}

int rkmm_proof_cross(struct rkmm_device *rdev, enum rkmm_mode from, enum rkmm_mode to)
{
	struct rkmm_proof_job *job = rkmm_proof_job(rdev, to, RKMM_KNOWN_LARGE);
	int wrong = -EINVAL, again, ret;

	/* The first one may be wrong for other reasons. */
	if (job)
		wrong = rkmm_proof_run(rdev, to, RKMM_KNOWN_TINY);
	if (wrong >= 0)
		wrong = rkmm_proof_run(rdev, to, RKMM_KNOWN_LARGE);
	/* A comparison that cannot fail proves nothing. */
	if (!wrong && !rkmm_known_wrong(&job->known, job->data[0]->vaddr + job->known.c, true))
		wrong = -EINVAL;
	/* A device that goes says nothing about transitions. */
	if (READ_ONCE(rdev->sched.dead))
		return 0;
	if (!wrong) {
		spin_lock_irq(&rdev->sched.lock);
		rdev->mode_proofs[from][to].right++;
		spin_unlock_irq(&rdev->sched.lock);
		return 0;
	}
	ret = rkmm_proof_reset(rdev, to);
	if (ret)
		return ret;
	/* Without the transition, is it right? */
	again = job ? rkmm_proof_run(rdev, to, RKMM_KNOWN_LARGE) : -EINVAL;
	if (READ_ONCE(rdev->sched.dead))
		return 0;
	/* Runs that could not begin say nothing either, but that reset was not for nothing. */
	if (wrong != -ENODEV && again != -ENODEV)
		rkmm_proof_convict(rdev, from, to, !again);
	return again < 0 ? rkmm_proof_reset(rdev, to) : 0;
}
