// SPDX-License-Identifier: MIT
/*
 * Lines of text such as
 *
 *	  rkmm-matmul-123     [002] d..2.    12.345678: rkmm_job_done: client=1 seqno=2 ...
 *
 * with or without flags, and with any number of digits behind the point.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace.h"

/* "12.345678:" at the end of @text */
static bool time_before(const char *text, const char *end, uint64_t *ns)
{
	uint64_t seconds = 0, part = 0, unit = 1000000000;
	const char *p = end;

	while (p > text && (isdigit(p[-1]) || p[-1] == '.'))
		p--;
	if (p == end || !isdigit(*p))
		return false;
	for (; isdigit(*p); p++) {
		if (seconds > UINT64_MAX / 1000000000 / 10 - 1)
			return false;
		seconds = seconds * 10 + (uint64_t)(*p - '0');
	}
	if (*p++ != '.')
		return false;
	for (; p < end; p++) {
		if (!isdigit(*p))
			return false;
		unit /= 10;
		part += (uint64_t)(*p - '0') * unit;
	}
	*ns = seconds * 1000000000 + part;
	return true;
}

/* "  some name-123   [" */
static void task_of(const char *text, struct line *line)
{
	const char *cpu = strstr(text, " ["), *dash;
	size_t n;

	line->task[0] = '\0';
	line->pid = 0;
	if (!cpu)
		return;
	/* a name may have brackets too, but the number of a processor is all digits */
	while (!isdigit(cpu[2]) && strstr(cpu + 2, " ["))
		cpu = strstr(cpu + 2, " [");
	for (dash = cpu; dash > text && *dash != '-'; dash--)
		;
	if (*dash != '-')
		return;
	while (*text == ' ')
		text++;
	if (text > dash)
		return;
	n = (size_t)(dash - text);
	if (n >= sizeof(line->task))
		n = sizeof(line->task) - 1;
	memcpy(line->task, text, n);
	line->task[n] = '\0';
	line->pid = (int)strtol(dash + 1, NULL, 10);
}

bool line_parse(char *text, struct line *line)
{
	char *event = strstr(text, ": rkmm_"), *end;

	if (text[0] == '#' || !event || !time_before(text, event, &line->ns))
		return false;
	end = strchr(event + 2, ':');
	if (!end || (size_t)(end - event - 2) >= sizeof(line->event))
		return false;
	*end = '\0';
	strcpy(line->event, event + 2);
	*event = '\0';
	task_of(text, line);
	line->fields = end + 1;
	line->fields += strspn(line->fields, " ");
	end[1 + strcspn(end + 1, "\n")] = '\0';
	return true;
}

uint64_t line_lost(const char *text)
{
	uint64_t have, all, n;

	if (sscanf(text, "# entries-in-buffer/entries-written: %" SCNu64 "/%" SCNu64, &have,
		   &all) == 2)
		return all > have ? all - have : 0;
	if (sscanf(text, "CPU:%*u [LOST %" SCNu64 " EVENTS]", &n) == 1)
		return n;
	return 0;
}

static const char *field(const struct line *line, const char *key)
{
	size_t n = strlen(key);
	const char *p = line->fields;

	for (;;) {
		p += strspn(p, " ");
		if (!*p)
			return NULL;
		if (!strncmp(p, key, n) && p[n] == '=')
			return p + n + 1;
		p += strcspn(p, " ");
	}
}

bool field_number(const struct line *line, const char *key, int64_t *value)
{
	const char *p = field(line, key);
	char *end;

	if (!p)
		return false;
	errno = 0;
	*value = strtoll(p, &end, 0);
	return !errno && end != p && (*end == ' ' || !*end);
}

bool field_text(const struct line *line, const char *key, char *value, size_t size)
{
	const char *p = field(line, key);
	size_t n;

	if (!p)
		return false;
	n = strcspn(p, " ");
	if (n >= size)
		n = size - 1;
	memcpy(value, p, n);
	value[n] = '\0';
	return true;
}
