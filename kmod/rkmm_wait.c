// SPDX-License-Identifier: GPL-2.0-only
/* Waiting for a submission. */
#include <drm/drm_print.h>
#include <drm/drm_utils.h>

#include "rkmm_drm.h"
#include "rkmm_job.h"

/* What a submission that ended came to. Lock held. */
static int rkmm_wait_result(struct rkmm_client *client, u64 seqno)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(client->failed); i++)
		if (client->failed[i].seqno == seqno)
			return client->failed[i].result;
	return 0;
}

struct rkmm_job *rkmm_wait_find(struct rkmm_client *client, u64 seqno)
{
	struct rkmm_job *job = client->running;

	if (job && job->seqno == seqno)
		return job;
	list_for_each_entry(job, &client->queue, in_queue)
		if (job->seqno == seqno)
			return job;
	return NULL;
}

static long rkmm_wait_jiffies(s64 deadline_ns)
{
	return deadline_ns == S64_MAX ? MAX_SCHEDULE_TIMEOUT :
					drm_timeout_abs_to_jiffies(deadline_ns);
}

static bool rkmm_wait_over(const struct rkmm_client *client, u64 seqno)
{
	/* Before the job's result is read; pairs with rkmm_sched_signal(). */
	return smp_load_acquire(&client->signalled) >= seqno;
}

int rkmm_wait_seqno(struct rkmm_client *client, u64 seqno, s64 deadline_ns, int *result)
{
	struct rkmm_sched *sched = &client->rdev->sched;
	struct rkmm_job *job;
	long left;

	spin_lock_irq(&sched->lock);
	if (seqno && seqno <= client->ended) {
		*result = rkmm_wait_result(client, seqno);
		spin_unlock_irq(&sched->lock);
		return 0;
	}
	job = rkmm_wait_find(client, seqno);
	/* Keeps the memory of the job, which is all that is needed of it. */
	if (job)
		dma_fence_get(&job->fence);
	spin_unlock_irq(&sched->lock);
	if (!job)
		return -ENOENT;

	left = wait_event_interruptible_timeout(client->done, rkmm_wait_over(client, seqno),
						rkmm_wait_jiffies(deadline_ns));
	if (left > 0) {
		*result = READ_ONCE(job->result);
		/* First, so that the memory can be used again. */
		dma_fence_put(&job->fence);
		rkmm_sched_release_ended(client->rdev);
		return 0;
	}
	dma_fence_put(&job->fence);
	return left ? -EINTR : -ETIME;
}

int rkmm_ioctl_wait(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct rkmm_client *client = file->driver_priv;
	struct drm_rkmm_wait *args = data;
	int ret;

	if (args->flags) {
		drm_dbg(drm, "wait: unknown flags %#x\n", args->flags);
		return -EINVAL;
	}
	ret = rkmm_wait_seqno(client, args->seqno, args->deadline_ns, &args->result);
	if (ret == -ENOENT)
		drm_dbg(drm, "no submission %llu\n", args->seqno);
	return ret;
}
