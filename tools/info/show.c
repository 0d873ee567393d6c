// SPDX-License-Identifier: MIT
/* What was found, for people and for programs. */
#include <stdio.h>

#include "info.h"

static const char *const severities[] = { "note", "warning", "error" };

int worst(const struct info *info)
{
	unsigned int i;
	int most = 0;

	for (i = 0; i < info->nproblems; i++)
		if ((int)info->problems[i].severity > most)
			most = info->problems[i].severity;
	return most;
}

void show_text(const struct info *info)
{
	const struct problem *p;
	const struct fact *f;
	unsigned int i;

	for (i = 0; i < info->nfacts; i++) {
		f = &info->facts[i];
		if (f->label)
			printf("%-12s %s\n", f->label, f->shown);
	}
	if (info->nfacts && info->nproblems)
		putchar('\n');
	for (i = 0; i < info->nproblems; i++) {
		p = &info->problems[i];
		printf("%s: %s\n    %s\n", severities[p->severity], p->text, p->fix);
	}
	if (info->nfacts && !info->nproblems)
		puts("\nNo problem found.");
}

static void quote(const char *text)
{
	const unsigned char *c;

	putchar('"');
	for (c = (const unsigned char *)text; *c; c++) {
		if (*c == '"' || *c == '\\')
			putchar('\\');
		if (*c < 0x20 || *c > 0x7e)
			printf("\\u%04x", *c);
		else
			putchar(*c);
	}
	putchar('"');
}

void show_json(const struct info *info)
{
	const struct problem *p;
	const struct fact *f;
	unsigned int i;

	printf("{\"version\": 1, \"status\": %d, \"facts\": {", worst(info));
	for (i = 0; i < info->nfacts; i++) {
		f = &info->facts[i];
		printf("%s\n  \"%s\": ", i ? "," : "", f->key);
		if (!f->value[0])
			fputs("null", stdout);
		else if (f->number)
			fputs(f->value, stdout);
		else
			quote(f->value);
	}
	fputs("\n}, \"problems\": [", stdout);
	for (i = 0; i < info->nproblems; i++) {
		p = &info->problems[i];
		printf("%s\n  {\"id\": \"%s\", \"severity\": \"%s\", \"text\": ", i ? "," : "",
		       p->id, severities[p->severity]);
		quote(p->text);
		fputs(", \"fix\": ", stdout);
		quote(p->fix);
		putchar('}');
	}
	puts(info->nproblems ? "\n]}" : "]}");
}
