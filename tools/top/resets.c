// SPDX-License-Identifier: MIT
/* What the kernel's log says about hangs and resets: the lines of Documentation/recovery.rst. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/common/common.h"
#include "top.h"

/* The value of KEY in "KEY=VALUE ..."; its length, 0 for none */
static size_t value_at(const char *text, const char *key, const char **value)
{
	size_t n = strlen(key);
	const char *p;

	for (p = text; (p = strstr(p, key)); p += n) {
		if ((p != text && p[-1] != ' ') || p[n] != '=')
			continue;
		*value = p + n + 1;
		return strcspn(*value, "\n ");
	}
	return 0;
}

static uint64_t number_at(const char *text, const char *key)
{
	const char *value;

	return value_at(text, key, &value) ? strtoull(value, NULL, 0) : 0;
}

static void word_at(const char *text, const char *key, char *word, size_t size)
{
	const char *value;
	size_t n = value_at(text, key, &value);

	snprintf(word, size, "%.*s", (int)n, n ? value : "");
}

/* The name comes last and may hold anything, blanks too. */
static void command_of(const char *text, char *word, size_t size)
{
	const char *value = strstr(text, " comm=");

	snprintf(word, size, "%.*s", value ? (int)strcspn(value + 6, "\n") : 0,
		 value ? value + 6 : "");
}

/* One more of @name; what finds no place is counted with the last, "other". */
static void count(struct tally *tally, const char *name)
{
	unsigned int i;

	for (i = 0; i < TALLY - 1 && tally->n[i] && strcmp(tally->name[i], name); i++)
		;
	if (!tally->n[i]++)
		snprintf(tally->name[i], sizeof(tally->name[i]), "%s",
			 i == TALLY - 1 ? "other" : name);
}

/* The entry of @id, made if there is room; the last one is for all others. */
static struct culprit *culprit_of(struct culprit *list, unsigned int most, uint64_t id)
{
	unsigned int i;

	for (i = 0; i < most - 1 && list[i].used && list[i].id != id; i++)
		;
	list[i].used = true;
	list[i].id = i == most - 1 ? 0 : id;
	return &list[i];
}

static void client_seen(struct resets *r, const char *text, bool hang, bool failed)
{
	struct culprit *c = culprit_of(r->clients, CULPRITS, number_at(text, "client"));

	c->hangs += hang;
	c->failed += failed;
	c->banned |= !hang;
	c->pid = (int)number_at(text, "pid");
	command_of(text, c->name, sizeof(c->name));
}

static void on_hang(struct resets *r, const char *text)
{
	uint64_t waited = number_at(text, "waited_ms"), core = number_at(text, "core");
	char word[WORD * 2];
	struct culprit *plan;
	bool failed;

	r->hangs++;
	word_at(text, "cause", word, sizeof(word));
	count(&r->causes, word);
	word_at(text, "outcome", word, sizeof(word));
	count(&r->outcomes, word);
	failed = !strcmp(word, "EIO");
	r->cores[core < CORES ? core : CORES - 1]++;
	if (r->hangs == 1 || waited < r->waited_least)
		r->waited_least = waited;
	if (waited > r->waited_most)
		r->waited_most = waited;
	r->waited_sum += waited;
	client_seen(r, text, true, failed);
	plan = culprit_of(r->plans, CULPRITS, number_at(text, "plan"));
	plan->hangs++;
	plan->failed += failed;
	word_at(text, "mode", plan->mode, sizeof(plan->mode));
	word_at(text, "shape", plan->name, sizeof(plan->name));
}

static void on_reset(struct resets *r, const char *text)
{
	char word[WORD * 2];

	r->reset_lines++;
	word_at(text, "cause", word, sizeof(word));
	r->forced += !strcmp(word, "forced");
	word_at(text, "rung", word, sizeof(word));
	count(&r->rungs, word);
	word_at(text, "outcome", word, sizeof(word));
	count(&r->ends, word);
	r->off |= (uint32_t)number_at(text, "off");
}

static void on_fault(struct resets *r, const char *text)
{
	if (!strncmp(text, "write", 5))
		r->write_faults++;
	else
		r->read_faults++;
}

/* What stands behind "KIND" in a line of ours, wherever the log puts its own marks; else NULL */
static const char *line_is(const char *line, const char *kind)
{
	const char *ours = strstr(line, "rkmm"), *p = ours ? strstr(ours, kind) : NULL;
	const char *name = strstr(line, " comm=");

	/* not in the name of some program */
	return p && (!name || p < name) ? p + strlen(kind) : NULL;
}

void resets_line(struct resets *r, const char *line)
{
	const char *text;

	text = line_is(line, ": hang: ");
	if (text) {
		on_hang(r, text);
		return;
	}
	text = line_is(line, ": ban: ");
	if (text) {
		r->bans++;
		client_seen(r, text, false, false);
		return;
	}
	text = line_is(line, ": reset: ");
	if (text) {
		on_reset(r, text);
		return;
	}
	text = line_is(line, ": fault: ");
	if (text) {
		on_fault(r, text);
		return;
	}
	r->wedged += !!line_is(line, ": reset failed: ");
}

/* --- where the lines come from ------------------------------------------------------------- */

/* A record for each read, until there is none left; what fell out of the ring is passed over */
static bool read_kmsg(struct resets *r)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char record[8192];
	ssize_t n;

	if (fd < 0) {
		fprintf(stderr, "%s: /dev/kmsg: %s\n", program_name, strerror(errno));
		return false;
	}
	for (;;) {
		n = read(fd, record, sizeof(record) - 1);
		if (n < 0 && errno == EPIPE)
			continue;
		if (n <= 0)
			break;
		record[n] = '\0';
		/* keys of the record follow in lines of their own */
		record[strcspn(record, "\n")] = '\0';
		resets_line(r, record);
	}
	close(fd);
	return true;
}

static bool read_log(struct resets *r, const char *path)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "r") : stdin;
	size_t size = 0;
	char *line = NULL;
	bool good;

	if (!f) {
		fprintf(stderr, "%s: %s: %s\n", program_name, path, strerror(errno));
		return false;
	}
	while (getline(&line, &size, f) >= 0)
		resets_line(r, line);
	free(line);
	good = !ferror(f);
	if (!good)
		fprintf(stderr, "%s: %s: %s\n", program_name, path, strerror(errno));
	if (f != stdin)
		fclose(f);
	return good;
}

/* --- what is printed ------------------------------------------------------------ */

static void say_tally(const char *title, const struct tally *tally)
{
	unsigned int i;

	printf("  %-9s", title);
	for (i = 0; i < TALLY && tally->n[i]; i++)
		printf("%s %s %llu", i ? "," : "", tally->name[i],
		       (unsigned long long)tally->n[i]);
	putchar('\n');
}

static void say_culprits(const struct resets *r)
{
	const struct culprit *c;

	puts("\n  CLIENT     PID    HANGS   FAILED  BANNED  COMMAND");
	for (c = r->clients; c < r->clients + CULPRITS && c->used; c++)
		printf("%8llu %7d %8llu %8llu  %-6s  %s\n", (unsigned long long)c->id, c->pid,
		       (unsigned long long)c->hangs, (unsigned long long)c->failed,
		       c->banned ? "yes" : "no", c->name);
	puts("\n    PLAN   HANGS   FAILED  MODE  SHAPE");
	for (c = r->plans; c < r->plans + CULPRITS && c->used; c++)
		printf("%8llu %7llu %8llu  %-5s %s\n", (unsigned long long)c->id,
		       (unsigned long long)c->hangs, (unsigned long long)c->failed, c->mode,
		       c->name);
}

static void say(const struct resets *r)
{
	unsigned int i;

	printf("%llu hangs, %llu faults of the IOMMU, %llu clients banned%s\n",
	       (unsigned long long)r->hangs,
	       (unsigned long long)(r->read_faults + r->write_faults),
	       (unsigned long long)r->bans, r->wedged ? ", DEVICE WEDGED" : "");
	if (r->hangs) {
		say_tally("cause", &r->causes);
		say_tally("outcome", &r->outcomes);
		printf("  core     ");
		for (i = 0; i < CORES; i++)
			if (r->cores[i])
				printf(" %u: %llu", i, (unsigned long long)r->cores[i]);
		printf("\n  waited    %llu .. %llu ms, mean %llu\n",
		       (unsigned long long)r->waited_least, (unsigned long long)r->waited_most,
		       (unsigned long long)(r->waited_sum / r->hangs));
	}
	if (r->reset_lines) {
		printf("%llu resets that took more, or were asked for (%llu)\n",
		       (unsigned long long)r->reset_lines, (unsigned long long)r->forced);
		say_tally("rung", &r->rungs);
		say_tally("outcome", &r->ends);
		if (r->off)
			printf("  cores out of service: 0x%x\n", r->off);
	}
	if (r->hangs || r->bans)
		say_culprits(r);
}

/* --- JSON ---------------------------------------------------------------------- */

/* Names of processes are escaped by the kernel, but a log may have been anywhere. */
static void json_text(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			printf("\\%c", *text);
		else if ((unsigned char)*text < ' ' || (unsigned char)*text > '~')
			printf("\\u%04x", (unsigned char)*text);
		else
			putchar(*text);
	}
	putchar('"');
}

static void json_tally(const char *title, const struct tally *tally)
{
	unsigned int i;

	printf(", \"%s\": {", title);
	for (i = 0; i < TALLY && tally->n[i]; i++) {
		printf("%s", i ? ", " : "");
		json_text(tally->name[i]);
		printf(": %llu", (unsigned long long)tally->n[i]);
	}
	putchar('}');
}

static void json_culprit(const struct culprit *c, bool client)
{
	printf("{\"%s\": %llu, \"hangs\": %llu, \"failed\": %llu", client ? "client" : "plan",
	       (unsigned long long)c->id, (unsigned long long)c->hangs,
	       (unsigned long long)c->failed);
	if (client)
		printf(", \"pid\": %d, \"banned\": %s, \"command\": ", c->pid,
		       c->banned ? "true" : "false");
	else
		printf(", \"mode\": ");
	if (!client) {
		json_text(c->mode);
		printf(", \"shape\": ");
	}
	json_text(c->name);
	putchar('}');
}

static void json_culprits(const struct culprit *list, bool client)
{
	const struct culprit *c;

	printf(", \"%s\": [", client ? "clients" : "plans");
	for (c = list; c < list + CULPRITS && c->used; c++) {
		printf("%s", c == list ? "" : ", ");
		json_culprit(c, client);
	}
	putchar(']');
}

static void say_json(const struct resets *r)
{
	unsigned int i;

	printf("{\"schema\": \"rkmm-resets-1\", \"hangs\": %llu", (unsigned long long)r->hangs);
	printf(", \"read_faults\": %llu, \"write_faults\": %llu, \"bans\": %llu",
	       (unsigned long long)r->read_faults, (unsigned long long)r->write_faults,
	       (unsigned long long)r->bans);
	printf(", \"wedged\": %s, \"cores_off\": %u", r->wedged ? "true" : "false", r->off);
	json_tally("causes", &r->causes);
	json_tally("outcomes", &r->outcomes);
	printf(", \"cores\": [");
	for (i = 0; i < CORES; i++)
		printf("%s%llu", i ? ", " : "", (unsigned long long)r->cores[i]);
	printf("], \"waited_ms\": {\"least\": %llu, \"mean\": %llu, \"most\": %llu}",
	       (unsigned long long)r->waited_least,
	       (unsigned long long)(r->hangs ? r->waited_sum / r->hangs : 0),
	       (unsigned long long)r->waited_most);
	printf(", \"resets\": {\"lines\": %llu, \"forced\": %llu",
	       (unsigned long long)r->reset_lines, (unsigned long long)r->forced);
	json_tally("rungs", &r->rungs);
	json_tally("outcomes", &r->ends);
	putchar('}');
	json_culprits(r->clients, true);
	json_culprits(r->plans, false);
	puts("}");
}

int resets_run(const char *path, bool json)
{
	struct resets r = {};

	if (path ? !read_log(&r, path) : !read_kmsg(&r))
		return 2;
	if (json)
		say_json(&r);
	else
		say(&r);
	if (fflush(stdout) || ferror(stdout))
		die(2, "standard output: %s", strerror(errno));
	return 0;
}
