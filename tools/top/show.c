// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/perfetto.h"
#include "top.h"

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static unsigned int permille(uint64_t part, uint64_t all)
{
	uint64_t p = all ? (part * 1000 + all / 2) / all : 0;

	/* what is read first may be a little newer than the time */
	return p > 1000 ? 1000 : (unsigned int)p;
}

static uint64_t interval(const struct view *view)
{
	return less(view->now->ns, view->was->ns);
}

/* What the client was in the first sample; new ones began with nothing. */
static struct client before(const struct view *view, const struct client *client)
{
	size_t i;

	for (i = 0; i < view->was->nclients; i++)
		if (view->was->clients[i].id == client->id)
			return view->was->clients[i];
	return (struct client){};
}

unsigned int client_permille(const struct view *view, const struct client *client)
{
	return permille(less(client->npu_ns, before(view, client).npu_ns),
			interval(view) * client->capacity);
}

unsigned int core_permille(const struct view *view, unsigned int core)
{
	return permille(less(view->now->device.busy_ns[core], view->was->device.busy_ns[core]),
			interval(view));
}

static double per_second(const struct view *view, uint64_t now, uint64_t was)
{
	return interval(view) ? (double)less(now, was) * 1e9 / (double)interval(view) : 0;
}

static uint64_t key(const struct view *view, const struct client *c)
{
	switch (view->order) {
	case BY_NPU:
		return client_permille(view, c);
	case BY_QUEUE:
		return c->queued;
	case BY_MEMORY:
		return c->total_kib;
	default:
		return 0;
	}
}

/* The client of a place in the list: so many come before it. Lists are short. */
static const struct client *client_at(const struct view *view, size_t place)
{
	const struct client *all = view->now->clients;
	size_t i, k, above;

	for (i = 0; i < view->now->nclients; i++) {
		above = 0;
		for (k = 0; k < view->now->nclients; k++)
			above += key(view, &all[k]) > key(view, &all[i]) ||
				 (k < i && key(view, &all[k]) == key(view, &all[i]));
		if (above == place)
			return &all[i];
	}
	return NULL;
}

static void head(const struct view *view, char line[LINE])
{
	const struct device *d = &view->now->device;
	char clock[48], chip[48] = "";

	if (view->facts->chip[0])
		snprintf(chip, sizeof(chip), ", %.31s%s", view->facts->chip,
			 view->facts->soft ? " (software)" : "");
	snprintf(clock, sizeof(clock), "%" PRIu64 " MHz", d->clock_hz / 1000000);
	if (view->facts->clock_max_hz)
		snprintf(clock, sizeof(clock), "%" PRIu64 " of %" PRIu64 " MHz",
			 d->clock_hz / 1000000, view->facts->clock_max_hz / 1000000);
	snprintf(line, LINE, "rkmm%s: %.40s, %" PRIu64 " clients", chip, clock, d->clients);
}

static void core_line(const struct view *view, unsigned int core, char line[LINE])
{
	const struct device *d = &view->now->device;
	unsigned int p = core_permille(view, core), bar = p / 25;
	char marks[41];

	memset(marks, ' ', 40);
	memset(marks, '#', bar);
	marks[40] = '\0';
	snprintf(line, LINE, "core %u  %-6s %-6s %5.1f %% [%s]", core, d->state[core],
		 d->mode[core], p / 10.0, marks);
}

static void counters(const struct view *view, unsigned int number, char line[LINE])
{
	const struct device *d = &view->now->device, *w = &view->was->device;

	switch (number) {
	case 0:
		snprintf(line, LINE, "jobs     %" PRIu64 " ended, %.1f/s, %" PRIu64 " queued",
			 d->jobs, per_second(view, d->jobs, w->jobs), d->queued);
		break;
	case 1:
		snprintf(line, LINE, "modes    %" PRIu64 " changes, %" PRIu64 " avoided, %" PRIu64
			 " resets", d->mode_changes, d->mode_changes_avoided, d->mode_resets);
		break;
	case 2:
		snprintf(line, LINE, "windows  %" PRIu64 " changes, %" PRIu64 " avoided, %" PRIu64
			 " stagings", d->switches, d->switches_avoided, d->stagings);
		break;
	default:
		snprintf(line, LINE, "faults   %" PRIu64 " resets, %" PRIu64 " lost interrupts",
			 d->resets, d->lost_irqs);
		break;
	}
}

static void client_line(const struct view *view, const struct client *c, char line[LINE])
{
	struct client was = before(view, c);
	char command[20];
	size_t i;

	snprintf(command, sizeof(command), "%s", c->command);
	for (i = 0; command[i]; i++)
		if (command[i] < ' ' || command[i] > '~')
			command[i] = '?';
	snprintf(line, LINE, "%7" PRIu64 " %7d %-7.7s %5.1f %9.2f %7.1f %6" PRIu64 " %8.1f  %s",
		 c->id, c->pid, c->priority, client_permille(view, c) / 10.0,
		 (double)c->npu_ns / 1e9, per_second(view, c->jobs, was.jobs), c->queued,
		 (double)(c->total_kib + c->program_kib) / 1024, command);
}

bool show_line(const struct view *view, unsigned int number, char line[LINE])
{
	const struct sample *now = view->now;
	const struct client *client;
	unsigned int cores = now->device.cores;

	if (!number) {
		head(view, line);
	} else if (number <= cores) {
		core_line(view, number - 1, line);
	} else if (number <= cores + 4) {
		counters(view, number - cores - 1, line);
	} else if (number == cores + 5) {
		line[0] = '\0';
	} else if (number == cores + 6) {
		snprintf(line, LINE, "%7s %7s %-7s %5s %9s %7s %6s %8s  %s", "CLIENT", "PID",
			 "PRIO", "NPU%", "SECONDS", "JOBS/S", "QUEUED", "MiB", "COMMAND");
	} else if (number - cores - 7 < now->nclients) {
		client = client_at(view, number - cores - 7);
		client_line(view, client, line);
	} else if (number - cores - 7 == now->nclients && now->device.clients > now->nclients) {
		snprintf(line, LINE, "%7" PRIu64 " clients of others",
			 now->device.clients - now->nclients);
	} else {
		return false;
	}
	return true;
}

static void number(const char *name, uint64_t v)
{
	printf("\"%s\": %" PRIu64 ", ", name, v);
}

void show_json(const struct view *view)
{
	const struct device *d = &view->now->device;
	unsigned int i;

	printf("{\"schema\": \"rkmm-top-1\", ");
	number("interval_ns", interval(view));
	printf("\"chip\": ");
	json_text(stdout, view->facts->chip);
	printf(", \"soft\": %s, ", view->facts->soft ? "true" : "false");
	number("clock_max_hz", view->facts->clock_max_hz);
	number("clock_hz", d->clock_hz);
	number("open_files", d->clients);
	number("jobs", d->jobs);
	number("queued", d->queued);
	number("resets", d->resets);
	number("lost_irqs", d->lost_irqs);
	number("mode_changes", d->mode_changes);
	number("mode_changes_avoided", d->mode_changes_avoided);
	number("mode_resets", d->mode_resets);
	number("switches", d->switches);
	number("switches_avoided", d->switches_avoided);
	number("stagings", d->stagings);
	printf("\"cores\": [");
	for (i = 0; i < d->cores; i++) {
		printf("%s{\"state\": ", i ? ", " : "");
		json_text(stdout, d->state[i]);
		printf(", \"mode\": ");
		json_text(stdout, d->mode[i]);
		printf(", \"busy_ns\": %" PRIu64 ", \"busy_permille\": %u}", d->busy_ns[i],
		       core_permille(view, i));
	}
	printf("], \"clients\": [");
	for (i = 0; i < view->now->nclients; i++) {
		const struct client *c = client_at(view, i);

		printf("%s{", i ? ", " : "");
		number("id", c->id);
		printf("\"pid\": %d, \"command\": ", c->pid);
		json_text(stdout, c->command);
		printf(", \"priority\": ");
		json_text(stdout, c->priority);
		printf(", ");
		number("npu_ns", c->npu_ns);
		number("jobs", c->jobs);
		number("queued", c->queued);
		number("total_kib", c->total_kib);
		number("resident_kib", c->resident_kib);
		number("program_kib", c->program_kib);
		printf("\"npu_permille\": %u}", client_permille(view, c));
	}
	printf("]}\n");
}
