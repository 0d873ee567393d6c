// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/common.h"
#include "trace.h"

#define NONE	UINT32_MAX

void life_init(struct life *life)
{
	uint32_t i;

	*life = (struct life){ .first_ns = NOT_SEEN, .cores = 3 };
	for (i = 0; i < CORES; i++)
		life->running[i] = NONE;
}

void life_free(struct life *life)
{
	free(life->plans);
	free(life->clients);
	free(life->jobs);
	free(life->kicks);
	free(life->pauses);
	free(life->slots);
}

/* Room for one more, zeroed: lists have powers of two. */
static void *grow(void *list, uint32_t n, size_t size)
{
	if (n & (n - 1))
		return list;
	if (n > UINT32_MAX / 4)
		die(2, "too many events");
	list = realloc(list, (n ? 2 * (size_t)n : 1) * size);
	if (!list)
		die(2, "out of memory");
	return list;
}

/* What a trace of this driver does not have, unless events were lost */
__attribute__((format(printf, 3, 4)))
static void fault(struct life *life, const struct line *line, const char *fmt, ...)
{
	va_list ap;

	if (life->lost)
		return;
	if (life->faults++ >= 10)
		return;
	fprintf(stderr, "%s: %llu.%06llu: %s: ", program_name,
		(unsigned long long)(line->ns / 1000000000),
		(unsigned long long)(line->ns / 1000 % 1000000), line->event);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

/* A field that every event of its kind has; 0 when it is missing. */
static uint64_t number(struct life *life, const struct line *line, const char *key)
{
	int64_t v = 0;

	if (!field_number(line, key, &v))
		fault(life, line, "no %s", key);
	return (uint64_t)v;
}

static uint32_t client_of(struct life *life, const struct line *line)
{
	uint64_t id = number(life, line, "client");
	uint32_t i;

	/* the newest ones are asked for most */
	for (i = life->nclients; i--;)
		if (life->clients[i].id == id)
			return i;
	life->clients = grow(life->clients, life->nclients, sizeof(*life->clients));
	life->clients[life->nclients] = (struct client){ .id = id };
	return life->nclients++;
}

static uint32_t hash(uint32_t client, uint64_t seqno)
{
	return (uint32_t)(((seqno ^ ((uint64_t)client << 40)) * 0x9e3779b97f4a7c15ull) >> 32);
}

static uint32_t *slot_of(struct life *life, uint32_t client, uint64_t seqno)
{
	uint32_t i = hash(client, seqno);

	for (;; i++) {
		uint32_t *slot = &life->slots[i & (life->nslots - 1)];

		if (!*slot || (life->jobs[*slot - 1].client == client &&
			       life->jobs[*slot - 1].seqno == seqno))
			return slot;
	}
}

/* Half of the slots are free. */
static void more_slots(struct life *life)
{
	uint32_t i;

	if (life->njobs < life->nslots / 2)
		return;
	free(life->slots);
	life->nslots = life->nslots ? 2 * life->nslots : 64;
	life->slots = allocate(life->nslots, sizeof(*life->slots));
	memset(life->slots, 0, life->nslots * sizeof(*life->slots));
	for (i = 0; i < life->njobs; i++)
		*slot_of(life, life->jobs[i].client, life->jobs[i].seqno) = i + 1;
}

static struct job *job_of(struct life *life, const struct line *line)
{
	uint32_t client = client_of(life, line), *slot;
	uint64_t seqno = number(life, line, "seqno");

	more_slots(life);
	slot = slot_of(life, client, seqno);
	if (!*slot) {
		life->jobs = grow(life->jobs, life->njobs, sizeof(*life->jobs));
		life->jobs[life->njobs] = (struct job){
			.client = client, .seqno = seqno, .plan = NONE, .submit_ns = NOT_SEEN,
			.ready_ns = NOT_SEEN, .start_ns = NOT_SEEN, .done_ns = NOT_SEEN,
		};
		*slot = ++life->njobs;
	}
	return &life->jobs[*slot - 1];
}

static void on_plan(struct life *life, const struct line *line)
{
	char types[24] = "", shape[40] = "";
	struct plan *plan;

	field_text(line, "types", types, sizeof(types));
	field_text(line, "shape", shape, sizeof(shape));
	life->plans = grow(life->plans, life->nplans, sizeof(*life->plans));
	plan = &life->plans[life->nplans++];
	plan->id = number(life, line, "plan");
	snprintf(plan->name, sizeof(plan->name), "%.12s %.34s", types, shape);
}

static uint32_t find_plan(const struct life *life, uint64_t id)
{
	uint32_t i;

	for (i = life->nplans; i--;)
		if (life->plans[i].id == id)
			return i;
	return NONE;
}

static uint32_t plan_of(struct life *life, const struct line *line)
{
	uint64_t id = number(life, line, "plan");
	uint32_t i = find_plan(life, id);
	struct plan *plan;

	if (i != NONE)
		return i;
	/* made before the trace began */
	life->plans = grow(life->plans, life->nplans, sizeof(*life->plans));
	plan = &life->plans[life->nplans];
	plan->id = id;
	snprintf(plan->name, sizeof(plan->name), "plan %llu", (unsigned long long)id);
	return life->nplans++;
}

static void read_job(struct life *life, const struct line *line, struct job *job)
{
	job->plan = plan_of(life, line);
	job->operations = (uint32_t)number(life, line, "operations");
	job->steps = (uint32_t)number(life, line, "steps");
	job->window = (uint32_t)number(life, line, "window");
	job->cores = (uint32_t)number(life, line, "cores");
}

static void on_submit(struct life *life, const struct line *line)
{
	struct job *job = job_of(life, line);
	struct client *client = &life->clients[job->client];

	if (job->submit_ns != NOT_SEEN)
		fault(life, line, "submitted twice");
	job->submit_ns = line->ns;
	job->ready_ns = line->ns;
	read_job(life, line, job);
	client->jobs++;
	if (client->task[0])
		return;
	strcpy(client->task, line->task);
	client->pid = line->pid;
}

static void on_ready(struct life *life, const struct line *line)
{
	job_of(life, line)->ready_ns = line->ns;
}

static void on_done(struct life *life, const struct line *line)
{
	struct job *job = job_of(life, line);

	if (job->done_ns != NOT_SEEN)
		fault(life, line, "ended twice");
	read_job(life, line, job);
	job->done_ns = line->ns;
	job->result = (int)number(life, line, "result");
	job->npu_ns = number(life, line, "npu_ns");
	life->clients[job->client].npu_ns += job->npu_ns;
	life->clients[job->client].failed += !!job->result;
}

static uint32_t core_of(struct life *life, const struct line *line)
{
	uint64_t core = number(life, line, "core");

	if (core >= CORES) {
		fault(life, line, "no core %llu", (unsigned long long)core);
		core = 0;
	}
	if (core >= life->cores)
		life->cores = (uint32_t)core + 1;
	return (uint32_t)core;
}

static void on_run(struct life *life, const struct line *line)
{
	struct job *job = job_of(life, line);
	struct client *client = &life->clients[job->client];
	uint32_t core = core_of(life, line);
	struct kick *kick;

	if (life->running[core] != NONE)
		fault(life, line, "core %u is busy", core);
	if (job->done_ns != NOT_SEEN)
		fault(life, line, "it has ended");
	if (job->cores && !(job->cores & 1u << core))
		fault(life, line, "core %u is not allowed", core);
	if (job->start_ns == NOT_SEEN) {
		job->start_ns = line->ns;
		if (job->ready_ns <= line->ns && line->ns - job->ready_ns > client->wait_ns)
			client->wait_ns = line->ns - job->ready_ns;
	}
	job->kicks++;
	job->used |= 1u << core;
	life->began |= 1u << core;
	life->kicks = grow(life->kicks, life->nkicks, sizeof(*life->kicks));
	kick = &life->kicks[life->nkicks];
	*kick = (struct kick){
		.job = (uint32_t)(job - life->jobs), .core = core, .from_ns = line->ns,
		.to_ns = NOT_SEEN,
		.lane = (uint32_t)number(life, line, "lane"),
		.operation = (uint32_t)number(life, line, "operation"),
		.tasks = (uint32_t)number(life, line, "tasks"),
		.window = (uint32_t)number(life, line, "window"),
		.predicted_ns = number(life, line, "predicted_ns"),
	};
	field_text(line, "mode", kick->mode, sizeof(kick->mode));
	life->running[core] = life->nkicks++;
}

static void on_ran(struct life *life, const struct line *line)
{
	struct job *job = job_of(life, line);
	uint32_t core = core_of(life, line), at = life->running[core];
	struct kick *kick;

	/* it ran when the trace began */
	if (!(life->began & 1u << core))
		return;
	if (at == NONE || &life->jobs[life->kicks[at].job] != job) {
		fault(life, line, "core %u did not run it", core);
		return;
	}
	kick = &life->kicks[at];
	kick->to_ns = line->ns;
	kick->ns = number(life, line, "ns");
	job->predicted_ns += kick->predicted_ns;
	if (kick->to_ns < kick->from_ns) {
		fault(life, line, "ended before it began");
		kick->to_ns = kick->from_ns;
	}
	life->running[core] = NONE;
}

static void on_pause(struct life *life, const struct line *line)
{
	bool hang = !strcmp(line->event, "rkmm_reset");
	uint64_t ns = number(life, line, "ns");
	struct pause *pause;

	life->pauses = grow(life->pauses, life->npauses, sizeof(*life->pauses));
	pause = &life->pauses[life->npauses++];
	*pause = (struct pause){
		.to_ns = line->ns, .from_ns = ns < line->ns ? line->ns - ns : 0, .hang = hang,
	};
	/* what began before the trace */
	if (pause->from_ns < life->first_ns)
		pause->from_ns = life->first_ns;
	if (hang)
		return;
	pause->window = (uint32_t)number(life, line, "window");
	pause->attached = number(life, line, "attached");
	pause->staged = number(life, line, "staged");
	pause->reset = number(life, line, "reset");
}

static void on_timeout(struct life *life, const struct line *line)
{
	(void)line;
	life->timeouts++;
}

void life_event(struct life *life, const struct line *line)
{
	static const struct {
		const char *event;
		void (*on)(struct life *life, const struct line *line);
	} kinds[] = {
		{ "rkmm_plan", on_plan },
		{ "rkmm_job_submit", on_submit },
		{ "rkmm_job_ready", on_ready },
		{ "rkmm_job_run", on_run },
		{ "rkmm_job_ran", on_ran },
		{ "rkmm_job_done", on_done },
		{ "rkmm_job_timeout", on_timeout },
		{ "rkmm_switch", on_pause },
		{ "rkmm_reset", on_pause },
	};
	size_t i;

	if (life->first_ns == NOT_SEEN)
		life->first_ns = line->ns;
	life->last_ns = line->ns;
	life->events++;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(line->event, kinds[i].event))
			kinds[i].on(life, line);
}

bool life_read(struct life *life, const char *path)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "r") : stdin;
	char *text = NULL;
	size_t size = 0;
	struct line line;

	if (!f) {
		fprintf(stderr, "%s: %s: %s\n", program_name, path, strerror(errno));
		return false;
	}
	while (getline(&text, &size, f) > 0) {
		life->lost += line_lost(text);
		if (line_parse(text, &line))
			life_event(life, &line);
	}
	free(text);
	if (f != stdin)
		fclose(f);
	if (!life->events) {
		fprintf(stderr, "%s: %s: no events of rkmm\n", program_name, path);
		return false;
	}
	return true;
}

const char *life_plan_name(const struct life *life, const struct job *job)
{
	return job->plan == NONE ? "?" : life->plans[job->plan].name;
}
