// SPDX-License-Identifier: MIT
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay.h"
#include "tools/common/common.h"

static const char usage[] =
"usage: rkmm-replay [OPTION]... TRACE.json\n"
"Run a trace of matmuls through the planner, the scheduler's policy and the law of time, by\n"
"this driver and as the userspace stack does it. No time is measured: all of it is predicted.\n"
"\n"
"  -t, --trace NAME           a built-in trace instead of a file\n"
"  -w, --write NAME           print a built-in trace and end\n"
"  -l, --list                 names of the built-in traces\n"
"  -d, --die NAME             envelope and law of a die: default, 235, 236, shipped\n"
"  -f, --form FORM            int4 matmuls as batch (default), cube, or auto\n"
"  -p, --perturb SEED         move each constant of the law by up to 30 %\n"
"  -r, --reset-us US          time of a change of mode (default 5000)\n"
"      --userspace-reset-us US  the same of the userspace stack (default 105000)\n"
"  -e, --early                the driver enters the mode of what comes next while nothing is\n"
"                             ready: it does not do that yet\n"
"  -j, --json                 print the result as JSON\n"
"      --perfetto FILE        write a timeline for ui.perfetto.dev\n"
"      --svg FILE             write a picture of it\n"
"  -h, --help                 this text\n";

/**
 * struct command - the command line
 * @options: of the replay
 * @name: built-in trace, or NULL
 * @path: file, or NULL
 * @perfetto: timeline, or NULL
 * @svg: picture, or NULL
 * @json: result as JSON
 */
struct command {
	struct options options;
	const char *name, *path, *perfetto, *svg;
	bool json;
};

static u64 parse(const char *option, const char *text, u64 most)
{
	unsigned long long v;
	char *end;

	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || v > most)
		die(2, "%s: %s is not 0 .. %llu", option, text, (unsigned long long)most);
	return v;
}

static enum rkmm_form parse_form(const char *text)
{
	if (!strcmp(text, "auto"))
		return RKMM_FORM_COUNT;
	if (!strcmp(text, "cube"))
		return RKMM_FORM_CUBE;
	if (strcmp(text, "batch"))
		die(2, "--form: %s is not batch, cube or auto", text);
	return RKMM_FORM_BATCH;
}

static int write_trace(const char *name)
{
	struct trace trace;
	bool ok;

	if (!trace_make(name, &trace))
		die(2, "no built-in trace %s: see --list", name);
	ok = trace_save(&trace);
	trace_free(&trace);
	if (!ok)
		die(2, "standard output: %s", strerror(errno));
	return 0;
}

/* -1 to go on, else the status to end with */
static int read_options(int argc, char **argv, struct command *c)
{
	enum { RESET = 256, PERFETTO, SVG };
	static const struct option longs[] = {
		{ "trace", required_argument, NULL, 't' },
		{ "write", required_argument, NULL, 'w' },
		{ "list", no_argument, NULL, 'l' },
		{ "die", required_argument, NULL, 'd' },
		{ "form", required_argument, NULL, 'f' },
		{ "perturb", required_argument, NULL, 'p' },
		{ "reset-us", required_argument, NULL, 'r' },
		{ "userspace-reset-us", required_argument, NULL, RESET },
		{ "early", no_argument, NULL, 'e' },
		{ "json", no_argument, NULL, 'j' },
		{ "perfetto", required_argument, NULL, PERFETTO },
		{ "svg", required_argument, NULL, SVG },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	int o;

	optind = 1;
	while ((o = getopt_long(argc, argv, "t:w:ld:f:p:r:ejh", longs, NULL)) != -1) {
		switch (o) {
		case 't':
			c->name = optarg;
			break;
		case 'w':
			return write_trace(optarg);
		case 'l':
			trace_names();
			return 0;
		case 'd':
			c->options.die = optarg;
			break;
		case 'f':
			c->options.form = parse_form(optarg);
			break;
		case 'p':
			c->options.perturb = (long)parse("--perturb", optarg, 0x7fffffff);
			break;
		case 'r':
			c->options.reset_us[STACK_DRIVER] = parse("--reset-us", optarg, 10000000);
			break;
		case RESET:
			c->options.reset_us[STACK_BASELINE] = parse("--userspace-reset-us", optarg,
								    10000000);
			break;
		case 'e':
			c->options.early = true;
			break;
		case 'j':
			c->json = true;
			break;
		case PERFETTO:
			c->perfetto = optarg;
			break;
		case SVG:
			c->svg = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			fputs(usage, stderr);
			return 2;
		}
	}
	if (argc - optind + !!c->name != 1) {
		fputs(usage, stderr);
		return 2;
	}
	c->path = argv[optind];
	return -1;
}

int replay_main(int argc, char **argv)
{
	struct command c = { .options = default_options };
	struct replay replay;
	struct trace trace;
	int status = read_options(argc, argv, &c);
	bool ok = true;

	if (status >= 0)
		return status;
	if (c.name && !trace_make(c.name, &trace))
		die(2, "no built-in trace %s: see --list", c.name);
	if (!c.name && !trace_load(c.path, &trace)) {
		trace_free(&trace);
		return 2;
	}
	if (!replay_run(&trace, &c.options, &replay))
		die(2, "--die: no die %s", c.options.die);
	if (c.json)
		ok = report_json(&replay);
	else
		report_text(&replay);
	if (c.perfetto && !perfetto_write(c.perfetto, &replay))
		status = 2;
	if (c.svg && !svg_write(c.svg, &replay))
		status = 2;
	replay_free(&replay);
	trace_free(&trace);
	if (!ok || fflush(stdout) || ferror(stdout))
		die(2, "standard output: %s", strerror(errno));
	return status < 0 ? 0 : status;
}
