// SPDX-License-Identifier: GPL-2.0-only
/*
 * A job that does not finish: its deadline, the line in the log, what becomes of it.
 *
 * Behind the reset (rkmm_ladder.c) the suspect is started once more where that gives the same
 * result (rkmm_image.once), since a core that was left in a bad state by somebody else hangs
 * whatever comes next. What hangs at the same place again
 * gets other programs (rkmm_fallback.c), if it is a matmul that has some, or ends with -EIO.
 */
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/string_helpers.h>

#include "rkmm_envelope.h"
#include "rkmm_sched.h"
#include "rkmm_trace.h"

static uint timeout_floor_ms;
module_param(timeout_floor_ms, uint, 0644);
MODULE_PARM_DESC(timeout_floor_ms,
		 "Least time a kick is given, ms (0: 20 on silicon, 2000 on the software NPU)");

static uint timeout_factor = 8;
module_param(timeout_factor, uint, 0644);
MODULE_PARM_DESC(timeout_factor, "A kick is given this multiple of its predicted time (default 8)");

static bool retry = true;
module_param(retry, bool, 0644);
MODULE_PARM_DESC(retry, "Start a job that hangs once more after the reset (default Y)");

static uint ban_after = 8;
module_param(ban_after, uint, 0644);
MODULE_PARM_DESC(ban_after, "Refuse a client whose jobs failed so often, less those that did not (default 8, 0: never)");

/* What a failed job counts, against one that did not */
#define RKMM_STRIKE	16

/* Of one job, wherever it hangs */
#define RKMM_RETRIES_MOST	8

u64 rkmm_predict_ns(const struct rkmm_device *rdev, const struct rkmm_kick *kick)
{
	u64 hz = rdev->clock_hz;

	/* The cost law is stated at 1 GHz. */
	return mul_u64_u64_div_u64(kick->predicted_ns, NSEC_PER_SEC, max(hz, 1000000ull));
}

u64 rkmm_deadline_ns(struct rkmm_device *rdev, const struct rkmm_kick *kick)
{
	u64 floor_ms = READ_ONCE(timeout_floor_ms) ?: (rdev->soft ? 2000 : 20);
	u32 factor = clamp(READ_ONCE(timeout_factor), 1u, 1000u);
	u64 share = rkmm_predict_ns(rdev, kick);

	/* Nothing may be given for ever: two minutes whatever the prediction says. */
	return min(floor_ms * NSEC_PER_MSEC + share * factor * rdev->time_scale,
		   120 * (u64)NSEC_PER_SEC);
}

static const char *const rkmm_causes[] = {
	[RKMM_HANG_NEVER_STARTED] = "never-started",
	[RKMM_HANG_STALLED] = "stalled",
	[RKMM_HANG_DMA_ERROR] = "dma-error",
	[RKMM_HANG_READ_FAULT] = "read-fault",
	[RKMM_HANG_WRITE_FAULT] = "write-fault",
};

/* The documented line: Documentation/recovery.rst. The name comes last: it may hold anything. */
static void rkmm_recover_report(struct rkmm_core *core, enum rkmm_hang cause,
				const struct rkmm_core_status *st, const char *outcome)
{
	struct rkmm_job *job = core->job;
	struct rkmm_client *client = job->client;
	const struct rkmm_image *image = job->steps[job->step];
	u64 waited = div_u64(ktime_get_ns() - core->started, NSEC_PER_MSEC);

	trace_rkmm_job_timeout(job, core->index, st->task, st->raw);
	dev_err_ratelimited(core->rdev->dev,
			    "hang: core=%u cause=%s job=%llu plan=%llu mode=%s shape=%ux%ux%u step=%u/%u task=%u/%u waited_ms=%llu raw=%#x status=%#x action=reset outcome=%s client=%llu pid=%d comm=%*pE\n",
			    core->index, rkmm_causes[cause], job->seqno, image->keys->plan,
			    rkmm_mode_name(image->mode), image->keys->rows, image->k, image->n,
			    job->step + 1, job->nsteps, st->task, core->kick->tasks, waited,
			    st->raw, st->status, outcome, client->id, client->pid,
			    (int)strlen(client->comm), client->comm);
}

/* How is the suspect started once more? Lock held. */
static enum rkmm_again rkmm_recover_again(struct rkmm_core *core)
{
	struct rkmm_job *job = core->job;
	const struct rkmm_image *image = job->steps[job->step];

	if (!READ_ONCE(retry) || job->result || READ_ONCE(image->once) || image->reserve ||
	    job->retries == RKMM_RETRIES_MOST)
		return RKMM_AGAIN_NO;
	if (job->suspect == core->kick && !image->fallback)
		return RKMM_AGAIN_NO;
	job->retries++;
	if (job->suspect == core->kick) {
		/* It costs two resets each time, so it counts as a failure even if it ends well. */
		job->client->strikes += RKMM_STRIKE;
		return RKMM_AGAIN_FALLBACK;
	}
	job->suspect = core->kick;
	return RKMM_AGAIN_RETRY;
}

void rkmm_recover_hang(struct rkmm_core *core, enum rkmm_hang cause,
		       const struct rkmm_core_status *st)
{
	static const char *const outcomes[] = {
		[RKMM_AGAIN_NO] = "EIO",
		[RKMM_AGAIN_RETRY] = "retry",
		[RKMM_AGAIN_FALLBACK] = "fallback",
	};
	bool over = core->job->result;
	enum rkmm_again again = rkmm_recover_again(core);
	struct rkmm_client *client = core->job->client;
	u64 waited = ktime_get_ns() - core->started;

	rkmm_recover_report(core, cause, st, over ? "none" : outcomes[again]);
	/* It hung twice: is it the geometry? */
	if (again != RKMM_AGAIN_RETRY && !over)
		rkmm_trust_suspect(client, core->job->steps[core->job->step]->keys->plan);
	rkmm_dump_hang(core, cause, st->task);
	rkmm_core_quiet(core);
	rkmm_sched_hung(core, again);
	/* On top of what it used: others come first for a while. */
	rkmm_sched_charge(client, waited * (client->strikes / RKMM_STRIKE));
}

/*
 * Somebody whose jobs hang costs everybody resets. Every failed job counts, those that
 * end well make up for it slowly: chance failures of a busy client are no reason.
 */
void rkmm_recover_judge(struct rkmm_job *job)
{
	struct rkmm_client *client = job->client;
	u32 most = READ_ONCE(ban_after);

	if (!job->hung) {
		client->strikes -= client->strikes && !job->result;
		return;
	}
	client->strikes += RKMM_STRIKE;
	if (!most || client->banned || client->strikes / RKMM_STRIKE < most)
		return;
	WRITE_ONCE(client->banned, true);
	rkmm_sched_mark(client, -ECANCELED);
	dev_err_ratelimited(client->rdev->dev, "ban: failed=%u client=%llu pid=%d comm=%*pE\n",
			    client->nfailed, client->id, client->pid, (int)strlen(client->comm),
			    client->comm);
}

/*
 * A translation fault: the core waits for ever. Which core it was is not told,
 * so with one running job it is given up at once; with several the deadline
 * finds the one that stands still.
 */
void rkmm_vm_fault(struct rkmm_device *rdev, struct rkmm_window *window, unsigned long iova,
		   bool write)
{
	struct rkmm_core *core, *busy = NULL;
	struct rkmm_core_status st;
	unsigned long flags;
	u32 i, nbusy = 0;

	spin_lock_irqsave(&rdev->sched.lock, flags);
	dev_err_ratelimited(rdev->dev, "fault: %s of NPU address %#lx\n",
			    write ? "write" : "read", iova);
	for (i = 0; i < rdev->ncores; i++) {
		core = &rdev->cores[i];
		if (core->state != RKMM_CORE_BUSY || rkmm_job_window(core->job) != window)
			continue;
		busy = core;
		nbusy++;
	}
	if (nbusy == 1) {
		rkmm_core_status(busy, &st);
		rkmm_recover_hang(busy, write ? RKMM_HANG_WRITE_FAULT : RKMM_HANG_READ_FAULT, &st);
	}
	spin_unlock_irqrestore(&rdev->sched.lock, flags);
}
