// SPDX-License-Identifier: GPL-2.0-only
/* fdinfo, with the keys of Documentation/gpu/drm-usage-stats.rst. */
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <linux/seq_file.h>

#include "rkmm_bo.h"
#include "rkmm_job.h"

struct rkmm_memory {
	u64 total, shared, resident, active;
};

static void rkmm_stats_memory(struct drm_file *file, struct rkmm_memory *mem)
{
	const struct rkmm_client *client = file->driver_priv;
	struct drm_gem_object *obj;
	int id;

	spin_lock(&file->table_lock);
	idr_for_each_entry(&file->object_idr, obj, id) {
		mem->total += obj->size;
		if (obj->handle_count > 1 || obj->dma_buf)
			mem->shared += obj->size;
		mem->resident += rkmm_bo_resident(to_rkmm_bo(obj));
		if (rkmm_bo_active(to_rkmm_bo(obj), client))
			mem->active += obj->size;
	}
	spin_unlock(&file->table_lock);
}

static void rkmm_stats_print(struct seq_file *m, const char *what, u64 bytes)
{
	seq_printf(m, "drm-%s-memory:\t%llu KiB\n", what, bytes >> 10);
}

void rkmm_show_fdinfo(struct seq_file *m, struct file *f)
{
	struct drm_file *file = f->private_data;
	struct rkmm_client *client = file->driver_priv;
	struct rkmm_device *rdev = client->rdev;
	struct rkmm_core *core;
	struct rkmm_memory mem = {};
	u64 ns, jobs, queued, program_bytes, hits, patched, remaps, kept, loaded, polled;
	enum rkmm_priority priority;
	unsigned long flags;
	u32 i;

	rkmm_stats_memory(file, &mem);
	mutex_lock(&client->images->lock);
	program_bytes = client->images->bytes;
	hits = client->images->hits + READ_ONCE(client->warm.hits);
	patched = client->images->patched;
	mutex_unlock(&client->images->lock);

	spin_lock_irqsave(&rdev->sched.lock, flags);
	ns = client->npu_ns;
	jobs = client->jobs;
	queued = client->pushed - client->jobs;
	remaps = client->remaps;
	kept = client->tables_kept;
	loaded = client->tables_loaded;
	polled = client->polled;
	priority = client->candidate.priority;
	/* What the running job has used so far counts too, so that the sum never steps back. */
	if (client->running)
		ns += client->running->npu_ns;
	for (i = 0; i < rdev->ncores; i++) {
		core = &rdev->cores[i];
		if (core->state == RKMM_CORE_BUSY && core->job->client == client)
			ns += ktime_get_ns() - core->started;
	}
	spin_unlock_irqrestore(&rdev->sched.lock, flags);

	seq_puts(m, "drm-driver:\trkmm\n");
	seq_printf(m, "drm-client-id:\t%llu\n", client->id);
	seq_printf(m, "drm-engine-npu:\t%llu ns\n", ns);
	seq_printf(m, "drm-engine-capacity-npu:\t%u\n", rdev->ncores);
	rkmm_stats_print(m, "total", mem.total);
	rkmm_stats_print(m, "shared", mem.shared);
	rkmm_stats_print(m, "active", mem.active);
	rkmm_stats_print(m, "resident", mem.resident);
	rkmm_stats_print(m, "purgeable", 0);
	seq_printf(m, "rkmm-priority:\t%s\n", rkmm_priority_name(priority));
	seq_printf(m, "rkmm-jobs:\t%llu\n", jobs);
	seq_printf(m, "rkmm-queued:\t%llu\n", queued);
	seq_printf(m, "rkmm-program-memory:\t%llu KiB\n", program_bytes >> 10);
	seq_printf(m, "rkmm-temporary-memory:\t%llu KiB\n", rkmm_arena_bytes(client) >> 10);
	seq_printf(m, "rkmm-image-hits:\t%llu\n", hits);
	seq_printf(m, "rkmm-image-patches:\t%llu\n", patched);
	seq_printf(m, "rkmm-windows:\t%u\n", rkmm_space_windows(client->space));
	seq_printf(m, "rkmm-stagings:\t%llu\n", remaps);
	seq_printf(m, "rkmm-tables-kept:\t%llu\n", kept);
	seq_printf(m, "rkmm-tables-loaded:\t%llu\n", loaded);
	seq_printf(m, "rkmm-polled:\t%llu\n", polled);
	seq_printf(m, "rkmm-synced-bytes:\t%llu\n", READ_ONCE(client->synced));
}
