// SPDX-License-Identifier: MIT
/* Timelines: the JSON trace format that Chrome and the Perfetto UI open, and a picture. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "report.h"
#include "tools/common/common.h"
#include "tools/common/perfetto.h"

static const char *const stack_names[STACKS] = { "rkmm", "userspace stack" };

static bool finish(const char *path, FILE *f)
{
	bool ok = !ferror(f);

	if (fclose(f))
		ok = false;
	if (!ok)
		fprintf(stderr, "%s: %s: %s\n", program_name, path, strerror(errno));
	return ok;
}

static FILE *begin(const char *path)
{
	FILE *f = fopen(path, "w");

	if (!f)
		fprintf(stderr, "%s: %s: %s\n", program_name, path, strerror(errno));
	return f;
}

static void track_name(const struct trace *trace, u32 track, char *text, size_t size)
{
	if (track < TRACK_DEVICE)
		snprintf(text, size, "core %u", track);
	else if (track == TRACK_DEVICE)
		snprintf(text, size, "modes, windows");
	else
		snprintf(text, size, "%s", trace->clients[track - TRACK_CLIENT].name);
}

static const char *category(const struct event *e)
{
	if (e->term != TERM_NPU)
		return term_names[e->term];
	return e->family == FAMILY_INT4 ? "int4" : "int8, fp16";
}

bool perfetto_write(const char *path, const struct replay *p)
{
	struct perfetto out;
	char name[TRACE_NAME];
	u32 s, i;

	if (!perfetto_begin(&out, path))
		return false;
	for (s = 0; s < STACKS; s++) {
		perfetto_process(&out, s + 1, stack_names[s]);
		for (i = 0; i < TRACK_CLIENT + p->trace->nclients; i++) {
			track_name(p->trace, i, name, sizeof(name));
			perfetto_track(&out, s + 1, i + 1, name);
		}
	}
	for (s = 0; s < STACKS; s++) {
		for (i = 0; i < p->result[s].nevents; i++) {
			const struct event *e = &p->result[s].events[i];

			perfetto_bar(&out, s + 1, e->track + 1, e->from_ns, e->to_ns, category(e),
				     e->name);
			perfetto_bar_end(&out);
		}
	}
	return perfetto_end(&out);
}

#define WIDTH	1200
#define LEFT	120
#define ROW	22

static const char *colour(const struct event *e)
{
	switch (e->term) {
	case TERM_NPU:
		return e->family == FAMILY_INT4 ? "#2c7fb8" : "#41ab5d";
	case TERM_MODES:
		return "#d7301f";
	case TERM_WINDOWS:
		return "#fd8d3c";
	case TERM_MODEL:
		return "#bdbdbd";
	default:
		return "#807dba";
	}
}

/* XML has five characters of its own. */
static void xml(FILE *f, const char *text)
{
	for (; *text; text++) {
		if (strchr("&<>\"'", *text) || (unsigned char)*text < 0x20)
			fprintf(f, "&#%u;", (unsigned char)*text < 0x20 ? '?' :
				(unsigned char)*text);
		else
			fputc(*text, f);
	}
}

static void bar(FILE *f, double x, u32 y, double width, u32 height, const char *ink)
{
	fprintf(f, "<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%u\" fill=\"%s\"/>\n", x, y,
		width, height, ink);
}

static void label(FILE *f, u32 x, u32 y, const char *what)
{
	fprintf(f, "<text x=\"%u\" y=\"%u\">", x, y);
	xml(f, what);
	fputs("</text>\n", f);
}

/* Bars that one pixel column cannot tell apart are drawn as one. */
static void track(FILE *f, const struct result *r, u32 number, double scale, u32 y)
{
	double from = 0, to = -1;
	const char *ink = NULL;
	u32 i;

	for (i = 0; i <= r->nevents; i++) {
		const struct event *e = i < r->nevents ? &r->events[i] : NULL;
		double a, b;

		if (e && e->track != number)
			continue;
		a = e ? LEFT + (double)e->from_ns * scale : 0;
		b = e ? LEFT + (double)e->to_ns * scale : 0;
		if (e && ink && !strcmp(ink, colour(e)) && a - to < 0.3) {
			to = b;
			continue;
		}
		if (ink)
			bar(f, from, y, to - from > 0.2 ? to - from : 0.2, ROW - 4, ink);
		if (!e)
			break;
		ink = colour(e);
		from = a;
		to = b;
	}
}

static void legend(FILE *f, u32 y)
{
	static const struct {
		struct event e;
		const char *text;
	} keys[] = {
		{ { .term = TERM_NPU, .family = FAMILY_INT4 }, "int4" },
		{ { .term = TERM_NPU, .family = FAMILY_WIDE }, "int8, fp16" },
		{ { .term = TERM_MODES }, "change of mode" },
		{ { .term = TERM_WINDOWS }, "change of window" },
		{ { .term = TERM_HOST }, "library" },
		{ { .term = TERM_MODEL }, "model" },
	};
	u32 i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		bar(f, LEFT + i * 170, y, 12, 12, colour(&keys[i].e));
		label(f, LEFT + i * 170 + 17, y + 11, keys[i].text);
	}
}

bool svg_write(const char *path, const struct replay *p)
{
	u32 tracks = TRACK_CLIENT + p->trace->nclients, height = STACKS * (tracks * ROW + 44) + 30;
	FILE *f = begin(path);
	double scale;
	u64 longest = 1;
	char name[2 * TRACE_NAME];
	u32 s, i, y = 10;

	if (!f)
		return false;
	for (s = 0; s < STACKS; s++)
		if (p->result[s].total_ns > longest)
			longest = p->result[s].total_ns;
	scale = (WIDTH - LEFT - 10) / (double)longest;
	fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" ", WIDTH,
		height);
	fputs("font-family=\"sans-serif\" font-size=\"12\">\n", f);
	bar(f, 0, 0, WIDTH, height, "white");
	for (s = 0; s < STACKS; s++) {
		snprintf(name, sizeof(name), "%s, %.3f ms", stack_names[s],
			 (double)p->result[s].total_ns / 1e6);
		label(f, 10, y + 14, name);
		y += 24;
		for (i = 0; i < tracks; i++, y += ROW) {
			track_name(p->trace, i, name, sizeof(name));
			label(f, 10, y + 13, name);
			bar(f, LEFT, y, (double)p->result[s].total_ns * scale, ROW - 4,
			    "#f4f4f4");
			track(f, &p->result[s], i, scale, y);
		}
		y += 20;
	}
	legend(f, y);
	fputs("</svg>\n", f);
	return finish(path, f);
}
