// SPDX-License-Identifier: MIT
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/common/common.h"
#include "top.h"

static const char usage[] =
"usage: rkmm-top [OPTION]... [--resets [FILE]]\n"
"Show who uses the NPU: cores, modes, queues, what changes of mode and window cost.\n"
"Single clients are shown as far as their processes may be looked at: for root all.\n"
"\n"
"  -1, --once                 print one look, over the first interval, and end\n"
"  -j, --json                 print each look as a line of JSON\n"
"  -d, --delay SECONDS        interval (default 1)\n"
"  -n, --count N              end after N looks\n"
"  -r, --resets               what the kernel's log, or FILE (- for standard input), says about\n"
"                             hangs and resets, and end\n"
"      --root DIR             read DIR/proc and DIR/sys\n"
"  -h, --help                 this text\n";

/**
 * struct command - the command line
 * @root: what paths begin with
 * @delay_ms: interval
 * @count: looks, 0 for no end
 * @once: a plain one
 * @json: as JSON
 * @resets: the log instead
 * @log: of that, NULL for the kernel's
 */
struct command {
	const char *root;
	unsigned int delay_ms;
	unsigned long count;
	bool once, json, resets;
	const char *log;
};

static unsigned int parse_delay(const char *text)
{
	char *end;
	double v;

	v = strtod(text, &end);
	if (end == text || *end || !(v >= 0.01 && v <= 3600))
		die(2, "--delay: %s is not 0.01 .. 3600", text);
	return (unsigned int)(v * 1000);
}

static unsigned long parse_count(const char *text)
{
	unsigned long v;
	char *end;

	errno = 0;
	v = strtoul(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || !v)
		die(2, "--count: %s is no number of looks", text);
	return v;
}

/* -1 to go on, else the status to end with */
static int read_options(int argc, char **argv, struct command *c)
{
	enum { ROOT = 256 };
	static const struct option longs[] = {
		{ "once", no_argument, NULL, '1' },
		{ "json", no_argument, NULL, 'j' },
		{ "delay", required_argument, NULL, 'd' },
		{ "count", required_argument, NULL, 'n' },
		{ "resets", no_argument, NULL, 'r' },
		{ "root", required_argument, NULL, ROOT },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	int o;

	optind = 1;
	while ((o = getopt_long(argc, argv, "1jrd:n:h", longs, NULL)) != -1) {
		switch (o) {
		case '1':
			c->once = true;
			break;
		case 'j':
			c->json = true;
			break;
		case 'r':
			c->resets = true;
			break;
		case 'd':
			c->delay_ms = parse_delay(optarg);
			break;
		case 'n':
			c->count = parse_count(optarg);
			break;
		case ROOT:
			c->root = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			fputs(usage, stderr);
			return 2;
		}
	}
	if (c->resets && optind < argc)
		c->log = argv[optind++];
	if (optind == argc && strlen(c->root) < 200)
		return -1;
	fputs(usage, stderr);
	return 2;
}

static void print(const struct command *c, const struct view *view)
{
	char line[LINE];
	unsigned int i;

	if (c->json) {
		show_json(view);
		return;
	}
	for (i = 0; show_line(view, i, line); i++)
		puts(line);
}

static int looks(const struct command *c, const struct facts *facts)
{
	struct timespec pause = {
		.tv_sec = c->delay_ms / 1000, .tv_nsec = c->delay_ms % 1000 * 1000000,
	};
	struct sample was, now = {};
	struct view view = { .facts = facts, .was = &was, .now = &now };
	unsigned long n;

	if (!sample_take(c->root, &was))
		return 2;
	for (n = 0; !c->count || n < c->count; n++) {
		nanosleep(&pause, NULL);
		if (!sample_take(c->root, &now)) {
			sample_free(&was);
			return 2;
		}
		print(c, &view);
		if (fflush(stdout) || ferror(stdout))
			die(2, "standard output: %s", strerror(errno));
		sample_free(&was);
		was = now;
	}
	sample_free(&was);
	return 0;
}

int top_main(int argc, char **argv)
{
	struct command c = { .root = "", .delay_ms = 1000 };
	int status = read_options(argc, argv, &c);
	struct facts facts = {};

	if (status >= 0)
		return status;
	if (c.resets)
		return resets_run(c.log, c.json);
	if (!c.root[0])
		facts_ask(&facts);
	if (c.once)
		c.count = 1;
	if (c.once || c.json)
		return looks(&c, &facts);
	if (!isatty(1))
		die(2, "standard output is no terminal: use --once or --json");
	return screen_run(c.root, &facts, c.delay_ms, c.count);
}
