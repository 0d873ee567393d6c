// SPDX-License-Identifier: MIT
/*
 * A tracefs instance of our own, read in binary: the text form rounds times to
 * microseconds.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"

#define MAX_CPUS	64
#define MAX_EVENTS	65536u
#define PAGE_BYTES	65536	/* at least a page of any kernel */
#define MAX_PATH	400

struct trace {
	char dir[128];
	struct trace_formats formats;
	int cpu[MAX_CPUS];
	unsigned int cpus;
	struct trace_event *events;
	uint8_t *page;
};

static const char *const names[TRACE_KINDS] = {
	[TRACE_SUBMIT] = "rkmm/rkmm_job_submit",
	[TRACE_RUN] = "rkmm/rkmm_job_run",
	[TRACE_DONE] = "rkmm/rkmm_job_done",
	[TRACE_IRQ_ENTRY] = "irq/irq_handler_entry",
	[TRACE_IRQ_EXIT] = "irq/irq_handler_exit",
	[TRACE_SWITCH] = "sched/sched_switch",
	[TRACE_STARTED] = "rkmm/rkmm_job_started",
};

static int put(const char *dir, const char *file, const char *text)
{
	char path[MAX_PATH];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = write(fd, text, strlen(text));
	close(fd);
	return n < 0 ? -1 : 0;
}

/* "ID: 123", or "field:pid_t prev_pid; offset:24; ..." */
static int read_format(const char *dir, const char *event, int *id, const char *field,
		       unsigned int *offset)
{
	char path[MAX_PATH], line[256], name[48];
	int found = 0;
	char *at;
	FILE *f;

	snprintf(path, sizeof(path), "%s/events/%s/format", dir, event);
	snprintf(name, sizeof(name), " %s", field ? field : "");
	f = fopen(path, "r");
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f)) {
		if (!field) {
			found |= sscanf(line, "ID: %d", id) == 1;
			continue;
		}
		at = strstr(line, name);
		if (!at || !strchr(";[", at[strlen(name)]))
			continue;
		at = strstr(line, "offset:");
		found |= at && sscanf(at, "offset:%u", offset) == 1;
	}
	fclose(f);
	return found ? 0 : -1;
}

static int formats(const char *dir, struct trace_formats *f)
{
	int k;

	for (k = 0; k < TRACE_KINDS; k++)
		if (read_format(dir, names[k], &f->id[k], NULL, NULL))
			return -1;
	if (read_format(dir, names[TRACE_SWITCH], NULL, "prev_pid", &f->prev_pid) ||
	    read_format(dir, names[TRACE_SWITCH], NULL, "next_pid", &f->next_pid) ||
	    read_format(dir, names[TRACE_SWITCH], NULL, "next_comm", &f->next_comm) ||
	    read_format(dir, names[TRACE_IRQ_ENTRY], NULL, "irq", &f->irq) ||
	    read_format(dir, names[TRACE_RUN], NULL, "started", &f->started))
		return -1;
	return 0;
}

struct trace *trace_open(const char **why)
{
	static const char *const roots[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	struct trace *t = calloc(1, sizeof(*t));
	char path[MAX_PATH];
	unsigned int i;
	int fd;

	*why = "out of memory";
	if (!t)
		return NULL;
	*why = "tracefs is not there or may not be written to (root?)";
	for (i = 0; i < 2; i++) {
		snprintf(t->dir, sizeof(t->dir), "%s/instances/rkmm-bench-%d", roots[i],
			 (int)getpid());
		if (!mkdir(t->dir, 0700))
			break;
	}
	if (i == 2) {
		free(t);
		return NULL;
	}
	*why = "the kernel has not the events or the clock";
	if (formats(t->dir, &t->formats) || put(t->dir, "trace_clock", "mono") ||
	    put(t->dir, "buffer_size_kb", "2048"))
		goto fail;
	for (t->cpus = 0; t->cpus < MAX_CPUS; t->cpus++) {
		snprintf(path, sizeof(path), "%s/per_cpu/cpu%u/trace_pipe_raw", t->dir, t->cpus);
		fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0)
			break;
		t->cpu[t->cpus] = fd;
	}
	*why = "out of memory";
	t->events = malloc(MAX_EVENTS * sizeof(*t->events));
	t->page = malloc(PAGE_BYTES);
	if (t->cpus && t->events && t->page)
		return t;
fail:
	trace_close(t);
	return NULL;
}

int trace_enable(struct trace *t, unsigned int kinds)
{
	char file[64];
	int k, ret = 0;

	for (k = 0; k < TRACE_KINDS; k++) {
		snprintf(file, sizeof(file), "events/%s/enable", names[k]);
		ret |= put(t->dir, file, kinds & 1u << k ? "1" : "0");
	}
	return ret;
}

static uint32_t u32_at(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static void decode(const struct trace_formats *f, const uint8_t *data, size_t size,
		   struct trace_event *e, bool *known)
{
	int id = data[0] | data[1] << 8, k;

	*known = false;
	for (k = 0; k < TRACE_KINDS; k++)
		if (f->id[k] == id)
			break;
	if (k == TRACE_KINDS || size < 8)
		return;
	e->kind = k;
	e->pid = (int)u32_at(data + 4);
	if (k == TRACE_SWITCH) {
		if (f->prev_pid + 4 > size || f->next_pid + 4 > size ||
		    f->next_comm + sizeof(e->comm) > size)
			return;
		e->pid = (int)u32_at(data + f->prev_pid);
		e->next = (int)u32_at(data + f->next_pid);
		memcpy(e->comm, data + f->next_comm, sizeof(e->comm));
		e->comm[sizeof(e->comm) - 1] = '\0';
	} else if (k == TRACE_IRQ_ENTRY || k == TRACE_IRQ_EXIT) {
		if (f->irq + 4 > size)
			return;
		e->irq = (int)u32_at(data + f->irq);
	} else if (k == TRACE_RUN) {
		if (f->started + 8 > size)
			return;
		memcpy(&e->started, data + f->started, sizeof(e->started));
	}
	*known = true;
}

/*
 * A page: time (8 bytes), length of the data (8, flags above), then records. A
 * record begins with 5 bits of type or length and 27 bits of time since the last.
 */
int trace_page(const struct trace_formats *f, const uint8_t *page, size_t size, unsigned int cpu,
	       struct trace_event *list, unsigned int *count, unsigned int max)
{
	uint64_t ns, commit;
	size_t at = 16, end, len;
	uint32_t word, type;
	bool known;

	if (size < 16)
		return -1;
	memcpy(&ns, page, 8);
	memcpy(&commit, page + 8, 8);
	end = 16 + (commit & 0xfffff);
	if (end > size)
		return -1;
	while (at + 4 <= end) {
		word = u32_at(page + at);
		type = word & 31;
		at += 4;
		if (type == 29 && !(word >> 5))
			break;
		if ((!type || type >= 29) && at + 4 > end)
			return -1;
		switch (type) {
		case 0:			/* length in a word of its own, which it counts */
			len = u32_at(page + at);
			if (len < 4 || len > end - at)
				return -1;
			at += 4;
			len -= 4;
			break;
		case 29:		/* padding */
			len = u32_at(page + at);
			if (len > end - at)
				return -1;
			at += len;
			continue;
		case 30:		/* more time */
			ns += (word >> 5) + ((uint64_t)u32_at(page + at) << 27);
			at += 4;
			continue;
		case 31:		/* the time itself */
			ns = (ns & ~((1ull << 59) - 1)) | (word >> 5) |
			     (uint64_t)u32_at(page + at) << 27;
			at += 4;
			continue;
		default:
			len = type * 4;
			if (len > end - at)
				return -1;
			break;
		}
		ns += word >> 5;
		if (*count < max && len >= 2) {
			struct trace_event *e = &list[*count];

			memset(e, 0, sizeof(*e));
			e->ns = ns;
			e->cpu = cpu;
			decode(f, page + at, len, e, &known);
			*count += known;
		}
		at += len;
	}
	return 0;
}

static int by_time(const void *x, const void *y)
{
	const struct trace_event *a = x, *b = y;

	return (a->ns > b->ns) - (a->ns < b->ns);
}

unsigned int trace_read(struct trace *t, const struct trace_event **events)
{
	unsigned int i, count = 0;
	ssize_t n;

	for (i = 0; i < t->cpus; i++)
		while ((n = read(t->cpu[i], t->page, PAGE_BYTES)) > 0)
			if (trace_page(&t->formats, t->page, (size_t)n, i, t->events, &count,
				       MAX_EVENTS))
				break;
	qsort(t->events, count, sizeof(*t->events), by_time);
	*events = t->events;
	return count;
}

void trace_close(struct trace *t)
{
	unsigned int i;

	if (!t)
		return;
	trace_enable(t, 0);
	for (i = 0; i < t->cpus; i++)
		close(t->cpu[i]);
	rmdir(t->dir);
	free(t->events);
	free(t->page);
	free(t);
}
