// SPDX-License-Identifier: GPL-2.0-only
/*
 * A dump of the first hang: what the driver knew, for whoever reads it later
 * (/sys/class/devcoredump, root only). The format is in prog/rkmm_dump.h.
 *
 * Jobs wait while it is taken, so it goes into memory that is there since probe: small things
 * where the hang is found, program words in the worker before the reset, since reading
 * write-combined memory takes long. Making the file of it, which allocates, is for another
 * worker. Hangs that come before that is done are not dumped.
 */
#include <linux/devcoredump.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "prog/rkmm_dump.h"
#include "rkmm_job.h"

static bool dump = true;
module_param(dump, bool, 0644);
MODULE_PARM_DESC(dump, "Dump hangs to devcoredump (default Y)");

#define RKMM_DUMP_REGS_MOST	20
#define RKMM_DUMP_CLIENTS_MOST	32
#define RKMM_DUMP_WORDS_MOST	4096

/* The file as it is read */
struct rkmm_dump_file {
	struct rkmm_dump_header header;
	struct rkmm_dump_object objects[RKMM_DUMP_OBJECTS];
	struct rkmm_dump_hang hang;
	struct rkmm_dump_reg regs[RKMM_DUMP_REGS_MOST];
	struct rkmm_dump_core cores[RKMM_MAX_CORES];
	struct rkmm_dump_client clients[RKMM_DUMP_CLIENTS_MOST];
	u64 counters[6];
	u64 words[RKMM_DUMP_WORDS_MOST];
};

/**
 * enum rkmm_dump_state - who has the file
 * @RKMM_DUMP_FREE: the next hang, under rkmm_sched.lock
 * @RKMM_DUMP_TAKEN: the worker that resets
 * @RKMM_DUMP_READY: rkmm_dump.work
 */
enum rkmm_dump_state {
	RKMM_DUMP_FREE,
	RKMM_DUMP_TAKEN,
	RKMM_DUMP_READY,
};

struct rkmm_dump {
	struct rkmm_device *rdev;
	struct work_struct work;
	/** @state: each step by whoever has the file */
	enum rkmm_dump_state state;
	/** @bytes: of @file that are used */
	size_t bytes;
	struct rkmm_dump_file file;
};

static void rkmm_dump_add(struct rkmm_dump *d, enum rkmm_dump_type type, void *at, u32 each, u32 n)
{
	struct rkmm_dump_header *header = &d->file.header;

	d->file.objects[header->objects++] = (struct rkmm_dump_object){
		.type = type, .each = each, .offset = at - (void *)&d->file, .bytes = each * n,
	};
}

static void rkmm_dump_job(struct rkmm_dump *d, const struct rkmm_core *core, u32 cause, u32 task)
{
	const struct rkmm_kick *kick = core->kick;
	const struct rkmm_job *job = core->job;
	const struct rkmm_image *image = job->steps[job->step];
	const struct rkmm_client *client = job->client;

	d->file.hang = (struct rkmm_dump_hang){
		.seqno = job->seqno,
		.plan = image->keys->plan,
		.client = client->id,
		.started_ns = core->started,
		.seen_ns = ktime_get_ns(),
		.deadline_ns = core->deadline,
		.core = core->index,
		.cause = cause,
		.pid = client->pid,
		.retries = job->retries,
		.step = job->step,
		.nsteps = job->nsteps,
		.lane = kick->lane,
		.task = task,
		.tasks = kick->tasks,
		.mode = image->mode,
		.rows = image->keys->rows,
		.k = image->k,
		.n = image->n,
		.window = rkmm_job_window(job)->id,
		.addr = core->kept ? kick->kept_addr : kick->addr,
		.amount = core->kept ? kick->kept_amount : kick->amount,
		.int_mask = kick->int_mask,
		.pingpong = kick->pingpong,
		.kept = core->kept,
	};
	strscpy(d->file.hang.comm, client->comm, sizeof(d->file.hang.comm));
	rkmm_dump_add(d, RKMM_DUMP_HANG, &d->file.hang, sizeof(d->file.hang), 1);
}

static void rkmm_dump_cores(struct rkmm_dump *d)
{
	struct rkmm_device *rdev = d->rdev;
	u32 i;

	for (i = 0; i < rdev->ncores; i++) {
		const struct rkmm_core *core = &rdev->cores[i];

		d->file.cores[i] = (struct rkmm_dump_core){
			.index = core->index, .state = core->state, .mode = core->mode,
			.table = core->table, .busy_ns = core->busy_ns,
			.lost_irqs = core->lost_irqs,
		};
	}
	rkmm_dump_add(d, RKMM_DUMP_CORES, d->file.cores, sizeof(*d->file.cores), i);
}

static void rkmm_dump_clients(struct rkmm_dump *d)
{
	struct rkmm_sched *sched = &d->rdev->sched;
	struct rkmm_client *client;
	u32 n = 0;

	list_for_each_entry(client, &sched->clients, in_clients) {
		if (n == RKMM_DUMP_CLIENTS_MOST)
			break;
		if (!client->running && list_empty(&client->queue))
			continue;
		d->file.clients[n++] = (struct rkmm_dump_client){
			.id = client->id,
			.running = client->running ? client->running->seqno : 0,
			.ended = client->ended,
			.queued = client->pushed - client->jobs - !!client->running,
			.guilty = client->guilty,
		};
	}
	rkmm_dump_add(d, RKMM_DUMP_CLIENTS, d->file.clients, sizeof(*d->file.clients), n);
}

static void rkmm_dump_counters(struct rkmm_dump *d)
{
	const struct rkmm_sched *sched = &d->rdev->sched;
	const u64 counters[] = {
		sched->jobs, sched->resets, sched->switches, sched->remaps, sched->changes,
		sched->mode_resets,
	};

	BUILD_BUG_ON(sizeof(counters) != sizeof(d->file.counters));
	memcpy(d->file.counters, counters, sizeof(counters));
	rkmm_dump_add(d, RKMM_DUMP_COUNTERS, d->file.counters, sizeof(*counters),
		      ARRAY_SIZE(counters));
}

void rkmm_dump_hang(struct rkmm_core *core, u32 cause, u32 task)
{
	struct rkmm_dump *d = core->rdev->dump;

	lockdep_assert_held(&core->rdev->sched.lock);
	/* Pairs with rkmm_dump_work(). */
	if (smp_load_acquire(&d->state) != RKMM_DUMP_FREE || !READ_ONCE(dump))
		return;
	d->file.header = (struct rkmm_dump_header){
		.magic = RKMM_DUMP_MAGIC, .version = RKMM_DUMP_VERSION,
	};
	rkmm_dump_job(d, core, cause, task);
	rkmm_dump_add(d, RKMM_DUMP_REGS, d->file.regs, sizeof(*d->file.regs),
		      rkmm_core_dump(core, d->file.regs, RKMM_DUMP_REGS_MOST));
	rkmm_dump_cores(d);
	rkmm_dump_clients(d);
	rkmm_dump_counters(d);
	WRITE_ONCE(d->state, RKMM_DUMP_TAKEN);
}

/* The kick ends where the next one of the image begins: programs lie in order. */
static u32 rkmm_dump_span(const struct rkmm_image *image, const struct rkmm_kick *kick)
{
	u32 end = image->program_bytes, at = kick->addr - image->mem->iova;
	const struct rkmm_kick *next = kick + 1;

	if (next < image->kicks + image->nkicks && next->addr > kick->addr)
		end = next->addr - image->mem->iova;
	return end - at;
}

/* As many words on both sides of the task as there is room; tasks are about alike. */
static void rkmm_dump_words(struct rkmm_dump *d, const struct rkmm_core *core)
{
	const struct rkmm_image *image = core->job->steps[core->job->step];
	u32 at = core->kick->addr - image->mem->iova, span = rkmm_dump_span(image, core->kick);
	u32 most = sizeof(d->file.words), bytes = min(span, most), middle;

	middle = div_u64((u64)span * min(d->file.hang.task, core->kick->tasks),
			 max(core->kick->tasks, 1u));
	if (middle > bytes / 2)
		at += min(middle - bytes / 2, span - bytes);
	at = round_down(at, sizeof(u64));
	memcpy(d->file.words, image->mem->vaddr + at, bytes);
	d->file.hang.words_addr = image->mem->iova + at;
	rkmm_dump_add(d, RKMM_DUMP_WORDS, d->file.words, sizeof(u64), bytes / sizeof(u64));
	d->bytes = (void *)d->file.words + bytes - (void *)&d->file;
}

void rkmm_dump_before_reset(struct rkmm_device *rdev)
{
	struct rkmm_dump *d = rdev->dump;
	u32 i;

	/* The core stays stuck and its job alive until the reset is over. */
	if (READ_ONCE(d->state) != RKMM_DUMP_TAKEN)
		return;
	for (i = 0; i < rdev->ncores; i++)
		if (rdev->cores[i].index == d->file.hang.core &&
		    rdev->cores[i].state == RKMM_CORE_STUCK && rdev->cores[i].job)
			rkmm_dump_words(d, &rdev->cores[i]);
	WRITE_ONCE(d->state, RKMM_DUMP_READY);
	queue_work(system_unbound_wq, &d->work);
}

static void rkmm_dump_work(struct work_struct *work)
{
	struct rkmm_dump *d = container_of(work, struct rkmm_dump, work);
	void *data = vmalloc(d->bytes);

	if (data) {
		memcpy(data, &d->file, d->bytes);
		/* Frees it, also when an older one was not read yet. */
		dev_coredumpv(d->rdev->dev, data, d->bytes, GFP_KERNEL);
	}
	memset(&d->file, 0, sizeof(d->file));
	/* Cleared; pairs with rkmm_dump_hang(). */
	smp_store_release(&d->state, RKMM_DUMP_FREE);
}

int rkmm_dump_init(struct rkmm_device *rdev)
{
	rdev->dump = kvzalloc(sizeof(*rdev->dump), GFP_KERNEL);
	if (!rdev->dump)
		return -ENOMEM;
	rdev->dump->rdev = rdev;
	INIT_WORK(&rdev->dump->work, rkmm_dump_work);
	return 0;
}

void rkmm_dump_fini(struct rkmm_device *rdev)
{
	if (!rdev->dump)
		return;
	cancel_work_sync(&rdev->dump->work);
	kvfree(rdev->dump);
	rdev->dump = NULL;
}
