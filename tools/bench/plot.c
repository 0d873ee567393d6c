// SPDX-License-Identifier: MIT
/* The times as one static SVG: a bar for each shape and arm, on a logarithmic axis. */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "bench.h"

#define LEFT	230.0
#define PLOT	620.0
#define RIGHT	130.0
#define TOP	86.0
#define BAR	13.0
#define GAP	9.0

static const char *const colours[MAX_ARMS] = { "#2f6f9f", "#c46a1b" };

/* A range of whole decades. */
struct axis {
	int lo;
	int hi;
};

static void stretch(struct axis *axis, uint64_t ns)
{
	if (!ns)
		return;
	axis->lo = fmin(axis->lo, floor(log10((double)ns)));
	axis->hi = fmax(axis->hi, ceil(log10((double)ns)));
}

static double place(const struct axis *axis, uint64_t ns)
{
	double at = ns ? (log10((double)ns) - axis->lo) / (axis->hi - axis->lo) : 0;

	return LEFT + PLOT * (at < 0 ? 0 : at > 1 ? 1 : at);
}

static void label_at(FILE *f, double x, double y, const char *anchor, const char *more,
		     const char *s)
{
	fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s>", x, y, anchor, more);
	for (; *s; s++) {
		if (*s == '<')
			fputs("&lt;", f);
		else if (*s == '&')
			fputs("&amp;", f);
		else
			fputc(*s, f);
	}
	fputs("</text>\n", f);
}

static void segment(FILE *f, double x1, double y1, double x2, double y2, const char *colour,
		    double width)
{
	fprintf(f, "<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"%s\" stroke-width=\"%g\"/>\n", x1, y1,
		x2, y2, colour, width);
}

static void box(FILE *f, double x, double y, double width, double height, const char *colour)
{
	fprintf(f, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"", x, y, width,
		height);
	fprintf(f, " fill=\"%s\"/>\n", colour);
}

static void mark(FILE *f, double x, double y, const char *colour)
{
	segment(f, x, y - 2, x, y + BAR + 2, colour, 2);
}

static void time_text(uint64_t ns, char *s, size_t size)
{
	if (ns < 1000)
		snprintf(s, size, "%llu ns", (unsigned long long)ns);
	else if (ns < 1000000)
		snprintf(s, size, "%.3g us", (double)ns / 1e3);
	else if (ns < 1000000000)
		snprintf(s, size, "%.3g ms", (double)ns / 1e6);
	else
		snprintf(s, size, "%.3g s", (double)ns / 1e9);
}

static void grid(FILE *f, const struct axis *axis, double bottom)
{
	double x, v = pow(10, axis->lo);
	char label[32];
	int d;

	for (d = axis->lo; d <= axis->hi; d++, v *= 10) {
		x = LEFT + PLOT * (d - axis->lo) / (axis->hi - axis->lo);
		segment(f, x, TOP - 6, x, bottom, "#ddd", 1);
		time_text((uint64_t)(v + 0.5), label, sizeof(label));
		label_at(f, x, bottom + 16, "middle", " fill=\"#555\"", label);
	}
}

static void legend(FILE *f, const struct options *opt)
{
	double x = LEFT;
	char label[64];
	unsigned int k;

	for (k = 0; k < opt->num_arms; k++) {
		snprintf(label, sizeof(label), "warm run%s%s", opt->num_arms > 1 ? ", " : "",
			 opt->num_arms > 1 ? opt->arms[k].name : "");
		box(f, x, 56, 12, 12, colours[k]);
		label_at(f, x + 17, 66, "start", "", label);
		x += 160;
	}
	mark(f, x + 6, 55, "#111");
	label_at(f, x + 17, 66, "start", "", "predicted");
	mark(f, x + 116, 55, "#3a9a3a");
	label_at(f, x + 127, 66, "start", "", "plain loops on the CPU");
}

static void bar(FILE *f, const struct axis *axis, const struct row *row, unsigned int k, double y)
{
	const struct result *r = &row->arm[k];
	double to = place(axis, r->warm.median);
	char label[64], time[32];

	if (!r->served) {
		label_at(f, LEFT + 4, y + 10, "start", " fill=\"#a00\"", "not served");
		return;
	}
	box(f, LEFT, y, to - LEFT, BAR, r->wrong ? "#d00" : colours[k]);
	segment(f, place(axis, r->warm.low), y + BAR / 2, place(axis, r->warm.high), y + BAR / 2,
		"#111", 1);
	mark(f, place(axis, r->predicted_ns), y, "#111");
	time_text(r->warm.median, time, sizeof(time));
	snprintf(label, sizeof(label), "%s%s, %.3g GOP/s", r->wrong ? "WRONG " : "", time,
		 shape_ops(&row->shape) / (double)(r->warm.median ? r->warm.median : 1));
	label_at(f, LEFT + PLOT + 8, y + 10.5, "start", "", label);
}

int plot_write(const char *path, const struct options *opt, const struct machine *m,
	       const struct row *rows, unsigned int count)
{
	double step = opt->num_arms * (BAR + 1) + GAP, bottom = TOP + count * step;
	double width = LEFT + PLOT + RIGHT + 60;
	struct axis axis = { .lo = 12, .hi = 0 };
	FILE *f = fopen(path, "w");
	char line[256];
	unsigned int i, k;
	double y = TOP;
	int bad;

	if (!f)
		return -1;
	for (i = 0; i < count; i++) {
		stretch(&axis, rows[i].cpu_ns);
		for (k = 0; k < opt->num_arms; k++) {
			stretch(&axis, rows[i].arm[k].warm.median);
			stretch(&axis, rows[i].arm[k].predicted_ns);
		}
	}
	if (axis.hi <= axis.lo)
		axis.hi = axis.lo + 1;
	fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\"", width,
		bottom + 40);
	fprintf(f, " font-family=\"sans-serif\" font-size=\"11\">\n");
	box(f, 0, 0, width, bottom + 40, "#fff");
	label_at(f, 12, 22, "start", " font-size=\"15\" font-weight=\"bold\"",
		 "rkmm-bench: time of a matmul");
	snprintf(line, sizeof(line), "%s%s, %u cores, %llu MHz; median of %u, line: middle half%s",
		 m->info.chip, m->info.flags & DRM_RKMM_DEVICE_SOFT ? " (software NPU)" : "",
		 m->info.cores, (unsigned long long)m->info.clock_hz / 1000000, opt->repeat,
		 m->info.flags & DRM_RKMM_DEVICE_SOFT ? "; TIMES ARE EMULATED" : "");
	label_at(f, 12, 40, "start", " fill=\"#555\"", line);
	legend(f, opt);
	grid(f, &axis, bottom);
	for (i = 0; i < count; i++, y += step) {
		shape_text(&rows[i].shape, line, sizeof(line));
		label_at(f, LEFT - 8, y + opt->num_arms * (BAR + 1) / 2 + 4, "end", "", line);
		for (k = 0; k < opt->num_arms; k++)
			bar(f, &axis, &rows[i], k, y + k * (BAR + 1));
		mark(f, place(&axis, rows[i].cpu_ns), y, "#3a9a3a");
	}
	fprintf(f, "</svg>\n");
	bad = ferror(f);
	if (fclose(f) || bad) {
		if (!errno)
			errno = EIO;
		return -1;
	}
	return 0;
}
