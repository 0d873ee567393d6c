// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which job next, on which core.
 *
 * A client's jobs run one after the other, in order, and so do the operations
 * of a job; the lanes of an operation take what cores they find, and pause between kicks
 * when others are ready. Clients with a lane that can start stand in one list; which of
 * them is served, prog/rkmm_policy.c says. A job starts where the event happens: in the
 * submitting thread, in the interrupt that freed a core, or in the fence callback that
 * made it ready. Only a window switch or a reset needs the worker.
 *
 * A client that is to be served and needs another window, other operands staged
 * (rkmm_stage.h), or a reset between two datapath modes (rkmm_mode.c), stops later starts,
 * the cores drain, the worker does it. So no client can keep another out.
 */
#include <linux/ktime.h>

#include "compat/rkmm_compat.h"
#include "rkmm_sched.h"

bool rkmm_sched_busy(struct rkmm_device *rdev)
{
	u32 i;

	for (i = 0; i < rdev->ncores; i++)
		if (rdev->cores[i].state == RKMM_CORE_BUSY)
			return true;
	return false;
}

/* What the client would start next. Lock held. */
struct rkmm_job *rkmm_sched_next(struct rkmm_client *client)
{
	if (client->running)
		return client->running;
	return list_first_entry_or_null(&client->queue, struct rkmm_job, in_queue);
}

static bool rkmm_sched_startable(struct rkmm_client *client)
{
	struct rkmm_job *job = rkmm_sched_next(client);

	if (!job || atomic_read(&job->waiting))
		return false;
	if (job == client->running && job->running)
		return !job->result &&
		       (job->parked || job->next_lane < job->steps[job->step]->nlanes);
	return true;
}

/* Put the client where its next work belongs. Lock held. */
void rkmm_sched_place(struct rkmm_client *client)
{
	struct rkmm_sched *sched = &client->rdev->sched;
	bool startable = rkmm_sched_startable(client);

	/* Debug kernels look closely at lists. */
	if (startable != list_empty(&client->in_ready))
		return;
	if (!startable) {
		list_del_init(&client->in_ready);
		return;
	}
	list_add_tail(&client->in_ready, &sched->ready);
	client->candidate.since = sched->now;
	/* Who slept has no claim on what it did not use. */
	client->candidate.vtime = max(client->candidate.vtime, sched->floor);
}

void rkmm_sched_charge(struct rkmm_client *client, u64 ns)
{
	struct rkmm_candidate *cand = &client->candidate;
	struct rkmm_sched *sched = &client->rdev->sched;

	cand->vtime = max(cand->vtime, sched->floor) + rkmm_policy_charge(cand->priority, ns);
	/* Nobody waits: who is behind others is so by his own choice. */
	if (list_empty(&sched->ready))
		sched->floor = cand->vtime;
}

/* Can any core in service run a job with this mask? Lock held. */
static bool rkmm_sched_served(struct rkmm_device *rdev, u32 mask)
{
	u32 i;

	for (i = 0; i < rdev->ncores; i++)
		if (rdev->cores[i].state != RKMM_CORE_OFF && mask & BIT(rdev->cores[i].index))
			return true;
	return false;
}

/* End the jobs at the client's head that will not run (any further). Lock held. */
static void rkmm_sched_drop(struct rkmm_client *client)
{
	struct rkmm_device *rdev = client->rdev;
	struct rkmm_job *job;

	while (!list_empty(&client->in_ready)) {
		job = rkmm_sched_next(client);
		if (!job->result && !rdev->sched.dead && rkmm_sched_served(rdev, job->cores))
			return;
		if (!job->running) {
			rkmm_sched_end(job, -ENODEV);
			continue;
		}
		/* It ends with the last lane that runs. */
		if (!job->result)
			job->result = -ENODEV;
		list_del_init(&client->in_ready);
	}
}

/*
 * What @mode takes on the core. Whether a core's mode is its own nobody knows (hw 03 §2.6), so
 * what would need a reset needs one whichever core ran it last.
 */
static enum rkmm_need rkmm_sched_need(const struct rkmm_core *core, enum rkmm_mode mode,
				      const struct rkmm_kick *kick)
{
	const struct rkmm_device *rdev = core->rdev;
	enum rkmm_need need = rdev->verdicts.need[rdev->sched.mode][mode];

	if (rkmm_sched_int8_dpu(core, kick))
		return RKMM_NEED_RESET;
	/* leaves the core in the mode it is in */
	if (mode == RKMM_MODE_DPU)
		return RKMM_NEED_NOTHING;
	if (need >= RKMM_NEED_CHECK)
		return need;
	need = rdev->verdicts.need[core->mode][mode];
	/* Warming up would be an int8 matmul right before it. */
	return kick->int8_dpu && need == RKMM_NEED_WARM ? RKMM_NEED_NOTHING : need;
}

/* What the job starts next. Lock held. */
const struct rkmm_kick *rkmm_sched_first(const struct rkmm_job *job)
{
	const struct rkmm_image *image = job->steps[job->step];

	return job->parked ? job->at[__ffs(job->parked)] :
			     &image->kicks[image->lane[job->next_lane]];
}

/* The idle core that is best for the job, or NULL. Lock held. */
struct rkmm_core *rkmm_sched_idle_core(struct rkmm_device *rdev, const struct rkmm_job *job,
				       u32 *change)
{
	enum rkmm_mode mode = job->steps[job->step]->mode;
	const struct rkmm_kick *kick = rkmm_sched_first(job);
	struct rkmm_core *core, *best = NULL;
	u32 i, cost;

	for (i = 0; i < rdev->ncores; i++) {
		core = &rdev->cores[i];
		if (core->state != RKMM_CORE_IDLE || !(job->cores & BIT(core->index)))
			continue;
		cost = rkmm_sched_need(core, mode, kick);
		if (best && cost >= *change)
			continue;
		best = core;
		*change = cost;
		if (!cost)
			break;
	}
	return best;
}

/* Start a lane of the job, which is its client's next work. Lock held. */
static void rkmm_sched_start_lane(struct rkmm_job *job, struct rkmm_core *core)
{
	struct rkmm_client *client = job->client;

	if (job->queued) {
		list_del(&job->in_queue);
		job->queued = false;
		client->running = job;
	}
	core->kick = rkmm_sched_first(job);
	if (job->parked)
		job->parked &= ~BIT(core->kick->lane);
	else
		job->next_lane++;
	core->job = job;
	core->state = RKMM_CORE_BUSY;
	job->running++;
	rkmm_sched_kick(core);
	rkmm_choice_served(&client->rdev->sched.policy, &client->candidate,
			   client->rdev->sched.now);
	client->candidate.since = client->rdev->sched.now;
	rkmm_sched_place(client);
}

/*
 * The usual case of a submission: nothing else is there, a core is idle. Lock held.
 * True if it was started as its place in the queues would have had it.
 */
bool rkmm_sched_start_alone(struct rkmm_job *job)
{
	struct rkmm_client *client = job->client;
	struct rkmm_device *rdev = client->rdev;
	struct rkmm_sched *sched = &rdev->sched;
	struct rkmm_core *core;
	u32 change;

	if (client->running || !list_empty(&client->queue) || !list_empty(&sched->ready) ||
	    sched->hold || sched->reset_wanted || sched->dead || job->result ||
	    !rkmm_sched_here(rdev, job) || atomic_read(&job->waiting))
		return false;
	core = rkmm_sched_idle_core(rdev, job, &change);
	if (!core || change >= rdev->need_worker)
		return false;
	client->running = job;
	rkmm_sched_start_lane(job, core);
	return true;
}

/* Could the client be served now? Fills its candidate. Lock held. */
static bool rkmm_sched_able(struct rkmm_client *client)
{
	struct rkmm_job *job = rkmm_sched_next(client);
	struct rkmm_candidate *cand = &client->candidate;
	bool idle;

	cand->change = RKMM_NEED_NOTHING;
	idle = rkmm_sched_idle_core(client->rdev, job, &cand->change);
	cand->elsewhere = cand->change >= client->rdev->need_worker ||
			  !rkmm_sched_here(client->rdev, job);
	/* Who needs all cores to be idle is not held up by one that is not. */
	return idle || cand->elsewhere;
}

/* The least virtual time of those who run, and @vtime. */
static u64 rkmm_sched_least(struct rkmm_device *rdev, u64 vtime)
{
	u32 i;

	for (i = 0; i < rdev->ncores; i++)
		if (rdev->cores[i].state == RKMM_CORE_BUSY)
			vtime = min(vtime, rdev->cores[i].job->client->candidate.vtime);
	return vtime;
}

struct rkmm_client *rkmm_sched_pick(struct rkmm_device *rdev)
{
	struct rkmm_sched *sched = &rdev->sched;
	const struct rkmm_candidate *best;
	struct rkmm_client *client;
	struct rkmm_choice choice;
	u64 floor = U64_MAX;

	if (list_empty(&sched->ready))
		return NULL;
	if (list_is_singular(&sched->ready)) {
		client = list_first_entry(&sched->ready, struct rkmm_client, in_ready);
		floor = client->candidate.vtime;
		sched->floor = max(sched->floor, rkmm_sched_least(rdev, floor));
		return rkmm_sched_able(client) ? client : NULL;
	}
	rkmm_choice_start(&choice, sched->now, &sched->policy);
	list_for_each_entry(client, &sched->ready, in_ready) {
		floor = min(floor, client->candidate.vtime);
		client->able = rkmm_sched_able(client);
		if (client->able)
			rkmm_choice_see(&choice, &client->candidate);
	}
	sched->floor = max(sched->floor, rkmm_sched_least(rdev, floor));
	list_for_each_entry(client, &sched->ready, in_ready)
		if (client->able)
			rkmm_choice_offer(&choice, &client->candidate);
	best = rkmm_choice_end(&choice, &sched->policy);
	return best ? container_of(best, struct rkmm_client, candidate) : NULL;
}

static bool rkmm_sched_any_idle(struct rkmm_device *rdev)
{
	u32 i;

	for (i = 0; i < rdev->ncores; i++)
		if (rdev->cores[i].state == RKMM_CORE_IDLE)
			return true;
	return false;
}

/* Start everything that can start. Lock held. */
void rkmm_sched_start(struct rkmm_device *rdev)
{
	struct rkmm_sched *sched = &rdev->sched;
	struct rkmm_client *client, *next;
	struct rkmm_job *job;
	u32 change;

	/* At the end of most jobs */
	if (list_empty(&sched->ready))
		return;
	list_for_each_entry_safe(client, next, &sched->ready, in_ready)
		rkmm_sched_drop(client);

	while (!sched->hold && !sched->reset_wanted && rkmm_sched_any_idle(rdev)) {
		client = rkmm_sched_pick(rdev);
		if (!client)
			return;
		job = rkmm_sched_next(client);
		if (client->candidate.elsewhere) {
			if (!rkmm_sched_busy(rdev))
				queue_work(sched->wq, &sched->work);
			return;
		}
		rkmm_sched_start_lane(job, rkmm_sched_idle_core(rdev, job, &change));
	}
}
