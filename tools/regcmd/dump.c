// SPDX-License-Identifier: MIT
/* A dump of a hang (kmod/prog/rkmm_dump.h) for people, or as JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kmod/prog/rkmm_dump.h"
#include "kmod/prog/rkmm_regs.h"
#include "regcmd.h"

#define MOST_DUMP	(64u << 20)
#define MOST_OBJECTS	1024

static const char *const causes[] = {
	"never-started", "stalled", "dma-error", "read-fault", "write-fault",
};

static const char *const counters[] = {
	"jobs", "resets", "window_switches", "stagings", "mode_changes", "mode_resets",
};

/* The file, and where it is printed to */
struct dump {
	const uint8_t *data;
	size_t bytes;
	bool json;
	struct rkmm_dump_hang hang;
};

/* Element @i of an object; what an older or shorter one lacks is zero. */
static void element(const struct dump *d, const struct rkmm_dump_object *o, uint32_t i, void *to,
		    size_t size)
{
	memset(to, 0, size);
	memcpy(to, d->data + o->offset + (size_t)i * o->each, o->each < size ? o->each : size);
}

static void print_string(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		unsigned char c = *text;

		if (c < ' ' || c == '"' || c == '\\' || c > '~')
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
}

/* "NAME": VALUE of JSON, behind what is there */
static void number(const char *name, uint64_t value)
{
	printf(", \"%s\": %" PRIu64, name, value);
}

static void print_hang_json(const struct rkmm_dump_hang *h, const char *cause, const char *comm)
{
	printf("\"hang\": {\"cause\": \"%s\", \"comm\": ", cause);
	print_string(comm);
	number("core", h->core);
	number("job", h->seqno);
	number("plan", h->plan);
	number("client", h->client);
	number("pid", h->pid);
	number("waited_ns", h->seen_ns - h->started_ns);
	number("step", h->step + 1);
	number("steps", h->nsteps);
	number("lane", h->lane);
	number("task", h->task);
	number("tasks", h->tasks);
	number("rows", h->rows);
	number("k", h->k);
	number("n", h->n);
	number("mode", h->mode);
	number("retries", h->retries);
	number("window", h->window);
	number("addr", h->addr);
	number("amount", h->amount);
	number("int_mask", h->int_mask);
	number("pingpong", h->pingpong);
	number("kept", h->kept);
	putchar('}');
}

static void print_hang(const struct dump *d)
{
	const struct rkmm_dump_hang *h = &d->hang;
	const char *cause = h->cause < sizeof(causes) / sizeof(*causes) ? causes[h->cause] : "?";
	char comm[sizeof(h->comm) + 1] = "";

	memcpy(comm, h->comm, sizeof(h->comm));
	if (d->json) {
		print_hang_json(h, cause, comm);
		return;
	}
	printf("core %u: %s after %" PRIu64 " us\n", h->core, cause,
	       (uint64_t)(h->seen_ns - h->started_ns) / 1000);
	printf("job %" PRIu64 " of client %" PRIu64 ", pid %u, ", (uint64_t)h->seqno,
	       (uint64_t)h->client, h->pid);
	print_string(comm);
	printf("\nplan %" PRIu64 ", %u x %u x %u, mode %u\n", (uint64_t)h->plan, h->rows, h->k,
	       h->n, h->mode);
	printf("step %u of %u, lane %u, %u of %u tasks done, retries %u, window %u\n",
	       h->step + 1, h->nsteps, h->lane, h->task, h->tasks, h->retries, h->window);
	printf("started at 0x%08x amount %u int_mask 0x%x ping-pong %u%s\n", h->addr, h->amount,
	       h->int_mask, h->pingpong, h->kept ? ", its table was there" : "");
}

static void print_regs(const struct dump *d, const struct rkmm_dump_object *o)
{
	uint32_t i, n = o->bytes / o->each;
	const struct rkmm_reg *named;
	struct rkmm_dump_reg r;

	fputs(d->json ? ",\n\"registers\": [" : "\nregisters\n", stdout);
	for (i = 0; i < n; i++) {
		element(d, o, i, &r, sizeof(r));
		named = rkmm_reg_find(r.reg);
		if (d->json)
			printf("%s{\"offset\": %u, \"name\": \"%s\", \"value\": %u}", i ? ", " : "",
			       r.reg, named ? named->name : "", r.value);
		else
			printf("  %04x %-24s 0x%08x\n", r.reg, named ? named->name : "", r.value);
	}
	if (d->json)
		putchar(']');
}

static void print_cores(const struct dump *d, const struct rkmm_dump_object *o)
{
	static const char *const states[] = { "idle", "busy", "stuck", "off" };
	uint32_t i, n = o->bytes / o->each;
	struct rkmm_dump_core c;

	fputs(d->json ? ",\n\"cores\": [" : "\ncores\n", stdout);
	for (i = 0; i < n; i++) {
		element(d, o, i, &c, sizeof(c));
		if (d->json) {
			printf("%s{\"state\": \"%s\"", i ? ", " : "",
			       c.state < 4 ? states[c.state] : "?");
			number("core", c.index);
			number("mode", c.mode);
			number("table", c.table);
			number("busy_ns", c.busy_ns);
			number("lost_irqs", c.lost_irqs);
			putchar('}');
			continue;
		}
		printf("  %u %s, mode %u, table %u, busy %" PRIu64 " ns, ", c.index,
		       c.state < 4 ? states[c.state] : "?", c.mode, c.table,
		       (uint64_t)c.busy_ns);
		printf("%" PRIu64 " lost interrupts\n", (uint64_t)c.lost_irqs);
	}
	if (d->json)
		putchar(']');
}

static void print_clients(const struct dump *d, const struct rkmm_dump_object *o)
{
	uint32_t i, n = o->bytes / o->each;
	struct rkmm_dump_client c;

	fputs(d->json ? ",\n\"clients\": [" : "\nclients with jobs\n", stdout);
	for (i = 0; i < n; i++) {
		element(d, o, i, &c, sizeof(c));
		if (d->json) {
			printf("%s{\"client\": %" PRIu64, i ? ", " : "", (uint64_t)c.id);
			number("running", c.running);
			number("ended", c.ended);
			number("queued", c.queued);
			number("guilty", c.guilty);
			putchar('}');
			continue;
		}
		printf("  %" PRIu64 ": runs job %" PRIu64 ", ended %" PRIu64 ", ", (uint64_t)c.id,
		       (uint64_t)c.running, (uint64_t)c.ended);
		printf("%" PRIu64 " queued, %" PRIu64 " hangs\n", (uint64_t)c.queued,
		       (uint64_t)c.guilty);
	}
	if (d->json)
		putchar(']');
}

static void print_counters(const struct dump *d, const struct rkmm_dump_object *o)
{
	uint32_t i, n = o->bytes / o->each;
	uint64_t v;

	fputs(d->json ? ",\n\"counters\": {" : "\ncounters\n", stdout);
	for (i = 0; i < n && i < sizeof(counters) / sizeof(*counters); i++) {
		element(d, o, i, &v, sizeof(v));
		printf(d->json ? "%s\"%s\": %" PRIu64 : "%s  %s %" PRIu64 "\n",
		       i && d->json ? ", " : "", counters[i], v);
	}
	if (d->json)
		putchar('}');
}

static void print_words(const struct dump *d, const struct rkmm_dump_object *o)
{
	uint32_t i, n = o->bytes / o->each;
	uint64_t v;

	if (d->json)
		printf(",\n\"words_addr\": %u,\n\"words\": [\n", d->hang.words_addr);
	else
		printf("\nprogram words from 0x%08x\n", d->hang.words_addr);
	for (i = 0; i < n; i++) {
		element(d, o, i, &v, sizeof(v));
		if (d->json)
			print_json(stdout, i, v);
		else
			print_text(stdout, i, v);
		fputs(d->json && i + 1 < n ? ",\n" : "\n", stdout);
	}
	if (d->json)
		putchar(']');
}

static const struct {
	uint32_t type;
	void (*print)(const struct dump *d, const struct rkmm_dump_object *o);
} printers[] = {
	{ RKMM_DUMP_REGS, print_regs },
	{ RKMM_DUMP_CORES, print_cores },
	{ RKMM_DUMP_CLIENTS, print_clients },
	{ RKMM_DUMP_COUNTERS, print_counters },
	{ RKMM_DUMP_WORDS, print_words },
};

/* Entry @i of the table; false when it reaches out of the file. */
static bool object(const struct dump *d, uint32_t i, struct rkmm_dump_object *o)
{
	memcpy(o, d->data + sizeof(struct rkmm_dump_header) + i * sizeof(*o), sizeof(*o));
	return o->each && o->bytes % o->each == 0 && o->offset <= d->bytes &&
	       o->bytes <= d->bytes - o->offset;
}

static bool print_objects(struct dump *d, const char *path)
{
	struct rkmm_dump_header header;
	struct rkmm_dump_object o;
	bool hang = false;
	uint32_t i, k;

	if (d->bytes < sizeof(header))
		goto foreign;
	memcpy(&header, d->data, sizeof(header));
	if (header.magic != RKMM_DUMP_MAGIC)
		goto foreign;
	if (header.version != RKMM_DUMP_VERSION || header.objects > MOST_OBJECTS) {
		complain("%s: version %u of a dump; this program knows %u", path, header.version,
			 RKMM_DUMP_VERSION);
		return false;
	}
	if (d->bytes < sizeof(header) + header.objects * sizeof(o))
		goto cut;
	for (i = 0; i < header.objects; i++) {
		if (!object(d, i, &o))
			goto cut;
		if (o.type == RKMM_DUMP_HANG && o.bytes) {
			element(d, &o, 0, &d->hang, sizeof(d->hang));
			hang = true;
		}
	}
	if (!hang) {
		complain("%s: a dump without a hang", path);
		return false;
	}
	fputs(d->json ? "{\"version\": 1,\n" : "", stdout);
	print_hang(d);
	for (i = 0; i < header.objects; i++) {
		object(d, i, &o);
		for (k = 0; k < sizeof(printers) / sizeof(*printers); k++)
			if (printers[k].type == o.type)
				printers[k].print(d, &o);
	}
	fputs(d->json ? "}\n" : "", stdout);
	return true;

cut:
	complain("%s: cut short, or damaged", path);
	return false;
foreign:
	complain("%s: not a dump of rkmm", path);
	return false;
}

int print_dump(const char *path, bool json)
{
	struct dump d = { .json = json };
	bool ok;

	d.data = read_file(path, MOST_DUMP, &d.bytes);
	if (!d.data)
		return EXIT_USAGE;
	ok = print_objects(&d, path);
	free((void *)d.data);
	return ok ? 0 : EXIT_USAGE;
}
