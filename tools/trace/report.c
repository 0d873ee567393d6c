// SPDX-License-Identifier: MIT
#include <string.h>

#include "tools/common/perfetto.h"
#include "trace.h"

/* Everything together */
struct totals {
	uint64_t busy_ns[CORES], predicted_ns, ns;
	uint64_t ended, failed, unfinished;
	uint64_t switches, stagings, mode_resets, hangs, pause_ns;
};

static void sum(const struct life *life, struct totals *t)
{
	uint32_t i;

	*t = (struct totals){};
	for (i = 0; i < life->nkicks; i++) {
		const struct kick *kick = &life->kicks[i];

		if (kick->to_ns == NOT_SEEN)
			continue;
		t->busy_ns[kick->core] += kick->to_ns - kick->from_ns;
		t->predicted_ns += kick->predicted_ns;
		t->ns += kick->ns;
	}
	for (i = 0; i < life->njobs; i++) {
		t->ended += life->jobs[i].done_ns != NOT_SEEN;
		t->unfinished += life->jobs[i].done_ns == NOT_SEEN;
		t->failed += life->jobs[i].result < 0;
	}
	for (i = 0; i < life->npauses; i++) {
		const struct pause *pause = &life->pauses[i];

		t->switches += pause->attached;
		t->stagings += pause->staged;
		t->mode_resets += pause->reset;
		t->hangs += pause->hang;
		t->pause_ns += pause->to_ns - pause->from_ns;
	}
}

static double ms(uint64_t ns)
{
	return (double)ns / 1e6;
}

void report_text(const struct life *life)
{
	uint64_t all = life->last_ns - life->first_ns;
	struct totals t;
	uint32_t i;

	sum(life, &t);
	printf("%llu events in %.3f ms", (unsigned long long)life->events, ms(all));
	if (life->lost)
		printf("; %llu lost, so what follows is not all", (unsigned long long)life->lost);
	printf("\n%llu jobs ended, %llu of them failed, %llu unfinished; %u kicks\n",
	       (unsigned long long)t.ended, (unsigned long long)t.failed,
	       (unsigned long long)t.unfinished, life->nkicks);
	for (i = 0; i < life->cores; i++)
		printf("core %u busy %.3f ms, %.1f %%\n", i, ms(t.busy_ns[i]),
		       all ? 100 * (double)t.busy_ns[i] / (double)all : 0);
	printf("kicks took %.3f ms, predicted %.3f ms\n", ms(t.ns), ms(t.predicted_ns));
	printf("%llu changes of window, %llu stagings, ", (unsigned long long)t.switches,
	       (unsigned long long)t.stagings);
	printf("%llu resets for a mode, %llu for a hang: %.3f ms\n",
	       (unsigned long long)t.mode_resets, (unsigned long long)t.hangs, ms(t.pause_ns));
	printf("\n%-8s %-20s %8s %8s %12s %14s\n", "client", "task", "jobs", "failed", "NPU ms",
	       "longest wait");
	for (i = 0; i < life->nclients; i++) {
		const struct client *c = &life->clients[i];
		char task[48];

		snprintf(task, sizeof(task), "%s[%d]", c->task, c->pid);
		printf("%-8llu %-20s %8llu %8llu %12.3f %11.3f ms\n", (unsigned long long)c->id,
		       task, (unsigned long long)c->jobs, (unsigned long long)c->failed,
		       ms(c->npu_ns), ms(c->wait_ns));
	}
	if (life->faults)
		printf("\n%u events cannot be\n", life->faults);
}

static void key(const char *name, uint64_t v)
{
	printf("\"%s\": %llu, ", name, (unsigned long long)v);
}

/* A time since the first event, or null */
static void when(const struct life *life, const char *name, uint64_t ns)
{
	if (ns == NOT_SEEN || ns < life->first_ns)
		printf("\"%s\": null, ", name);
	else
		key(name, ns - life->first_ns);
}

static void job_json(const struct life *life, const struct job *job)
{
	fputs("{", stdout);
	key("client", life->clients[job->client].id);
	key("seqno", job->seqno);
	fputs("\"plan\": ", stdout);
	json_text(stdout, life_plan_name(life, job));
	fputs(", ", stdout);
	key("operations", job->operations);
	key("steps", job->steps);
	key("window", job->window);
	key("cores_allowed", job->cores);
	key("cores_used", job->used);
	key("kicks", job->kicks);
	when(life, "submit_ns", job->submit_ns);
	when(life, "ready_ns", job->ready_ns);
	when(life, "start_ns", job->start_ns);
	when(life, "done_ns", job->done_ns);
	key("npu_ns", job->npu_ns);
	key("predicted_ns", job->predicted_ns);
	printf("\"result\": %d}", job->result);
}

void report_json(const struct life *life)
{
	struct totals t;
	uint32_t i;

	sum(life, &t);
	printf("{\"schema\": \"rkmm-trace-1\", ");
	key("events", life->events);
	key("lost", life->lost);
	key("faults", life->faults);
	key("start_ns", life->first_ns);
	key("length_ns", life->last_ns - life->first_ns);
	key("unfinished", t.unfinished);
	key("timeouts", life->timeouts);
	key("switches", t.switches);
	key("stagings", t.stagings);
	key("mode_resets", t.mode_resets);
	key("resets", t.hangs);
	key("pause_ns", t.pause_ns);
	key("kicks", life->nkicks);
	key("npu_ns", t.ns);
	key("predicted_ns", t.predicted_ns);
	printf("\"busy_ns\": [");
	for (i = 0; i < life->cores; i++)
		printf("%s%llu", i ? ", " : "", (unsigned long long)t.busy_ns[i]);
	printf("],\n\"clients\": [");
	for (i = 0; i < life->nclients; i++) {
		const struct client *c = &life->clients[i];

		printf("%s\n{", i ? "," : "");
		key("id", c->id);
		fputs("\"task\": ", stdout);
		json_text(stdout, c->task);
		printf(", \"pid\": %d, ", c->pid);
		key("jobs", c->jobs);
		key("failed", c->failed);
		key("npu_ns", c->npu_ns);
		printf("\"wait_ns\": %llu}", (unsigned long long)c->wait_ns);
	}
	printf("],\n\"jobs\": [");
	for (i = 0; i < life->njobs; i++) {
		printf("%s\n", i ? "," : "");
		job_json(life, &life->jobs[i]);
	}
	printf("]}\n");
}

/* Tracks of the timeline: cores, then the device, then clients, as rkmm-replay has them */
#define PID	1

static void cores_perfetto(const struct life *life, struct perfetto *out)
{
	uint32_t i;

	for (i = 0; i < life->nkicks; i++) {
		const struct kick *kick = &life->kicks[i];
		const struct job *job = &life->jobs[kick->job];
		bool ended = kick->to_ns != NOT_SEEN;

		perfetto_bar(out, PID, kick->core + 1, kick->from_ns - life->first_ns,
			     (ended ? kick->to_ns : life->last_ns) - life->first_ns, kick->mode,
			     life_plan_name(life, job));
		perfetto_arg(out, "client", (int64_t)life->clients[job->client].id);
		perfetto_arg(out, "seqno", (int64_t)job->seqno);
		perfetto_arg(out, "step", kick->operation);
		perfetto_arg(out, "lane", kick->lane);
		perfetto_arg(out, "tasks", kick->tasks);
		perfetto_arg(out, "window", kick->window);
		perfetto_arg(out, "predicted_ns", (int64_t)kick->predicted_ns);
		if (ended)
			perfetto_arg(out, "actual_ns", (int64_t)kick->ns);
		perfetto_bar_end(out);
	}
}

static void device_perfetto(const struct life *life, struct perfetto *out)
{
	uint32_t i;

	for (i = 0; i < life->npauses; i++) {
		const struct pause *pause = &life->pauses[i];

		perfetto_bar(out, PID, life->cores + 1, pause->from_ns - life->first_ns,
			     pause->to_ns - life->first_ns,
			     pause->hang || pause->reset ? "modes" : "windows",
			     pause->hang ? "reset" : pause->reset ? "reset for a mode" :
			     pause->attached ? "window" : "staging");
		if (!pause->hang) {
			perfetto_arg(out, "window", pause->window);
			perfetto_arg(out, "attached", pause->attached);
			perfetto_arg(out, "staged", pause->staged);
		}
		perfetto_bar_end(out);
	}
}

static void clients_perfetto(const struct life *life, struct perfetto *out)
{
	uint32_t i;

	for (i = 0; i < life->njobs; i++) {
		const struct job *job = &life->jobs[i];
		uint64_t to = job->done_ns == NOT_SEEN ? life->last_ns : job->done_ns;
		uint64_t from = job->start_ns == NOT_SEEN ? to : job->start_ns;

		perfetto_bar(out, PID, life->cores + 2 + job->client, from - life->first_ns,
			     to - life->first_ns, "job", life_plan_name(life, job));
		perfetto_arg(out, "seqno", (int64_t)job->seqno);
		perfetto_arg(out, "operations", job->operations);
		perfetto_arg(out, "window", job->window);
		perfetto_arg(out, "cores_used", job->used);
		perfetto_arg(out, "predicted_ns", (int64_t)job->predicted_ns);
		perfetto_arg(out, "npu_ns", (int64_t)job->npu_ns);
		if (job->submit_ns != NOT_SEEN && job->submit_ns <= from)
			perfetto_arg(out, "queued_ns", (int64_t)(from - job->submit_ns));
		perfetto_arg(out, "result", job->result);
		perfetto_bar_end(out);
	}
}

bool report_perfetto(const struct life *life, const char *path)
{
	struct perfetto out;
	char name[64];
	uint32_t i;

	if (!perfetto_begin(&out, path))
		return false;
	perfetto_process(&out, PID, "rkmm");
	for (i = 0; i < life->cores; i++) {
		snprintf(name, sizeof(name), "core %u", i);
		perfetto_track(&out, PID, i + 1, name);
	}
	perfetto_track(&out, PID, life->cores + 1, "modes, windows");
	for (i = 0; i < life->nclients; i++) {
		snprintf(name, sizeof(name), "client %llu, %s[%d]",
			 (unsigned long long)life->clients[i].id, life->clients[i].task,
			 life->clients[i].pid);
		perfetto_track(&out, PID, life->cores + 2 + i, name);
	}
	cores_perfetto(life, &out);
	device_perfetto(life, &out);
	clients_perfetto(life, &out);
	return perfetto_end(&out);
}
