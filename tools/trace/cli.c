// SPDX-License-Identifier: MIT
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/common.h"
#include "trace.h"

static const char usage[] =
"usage: rkmm-trace [OPTION]... FILE\n"
"       rkmm-trace record [-o FILE] [-b KIB] [--] COMMAND [ARGUMENT]...\n"
"Tell what the NPU did from a trace: text of tracefs (trace, trace_pipe) or of trace-cmd\n"
"report, - for standard input. record runs a command and writes such a file; needs root.\n"
"\n"
"  -j, --json                 print everything as JSON\n"
"  -p, --perfetto FILE        write a timeline for ui.perfetto.dev\n"
"  -o, --output FILE          record: where to write (default rkmm.trace)\n"
"  -b, --buffer KIB           record: size of the buffer of each processor (default 8192)\n"
"  -h, --help                 this text\n";

static unsigned int parse_kib(const char *text)
{
	unsigned long v;
	char *end;

	errno = 0;
	v = strtoul(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || v < 1 || v > 1048576)
		die(2, "--buffer: %s is not 1 .. 1048576", text);
	return (unsigned int)v;
}

static int record_main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "buffer", required_argument, NULL, 'b' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	const char *path = "rkmm.trace";
	unsigned int kib = 8192;
	int o;

	optind = 1;
	/* "+": options behind the command are its own */
	while ((o = getopt_long(argc, argv, "+o:b:h", longs, NULL)) != -1) {
		switch (o) {
		case 'o':
			path = optarg;
			break;
		case 'b':
			kib = parse_kib(optarg);
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			fputs(usage, stderr);
			return 2;
		}
	}
	if (optind == argc) {
		fputs(usage, stderr);
		return 2;
	}
	return record(path, kib, argv + optind);
}

int trace_main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "perfetto", required_argument, NULL, 'p' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	const char *perfetto = NULL;
	bool json = false;
	struct life life;
	int o, status;

	if (argc > 1 && !strcmp(argv[1], "record"))
		return record_main(argc - 1, argv + 1);
	optind = 1;
	while ((o = getopt_long(argc, argv, "jp:h", longs, NULL)) != -1) {
		switch (o) {
		case 'j':
			json = true;
			break;
		case 'p':
			perfetto = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			fputs(usage, stderr);
			return 2;
		}
	}
	if (argc - optind != 1) {
		fputs(usage, stderr);
		return 2;
	}
	life_init(&life);
	if (!life_read(&life, argv[optind])) {
		life_free(&life);
		return 2;
	}
	if (json)
		report_json(&life);
	else
		report_text(&life);
	status = life.faults ? 1 : 0;
	if (perfetto && !report_perfetto(&life, perfetto))
		status = 2;
	life_free(&life);
	if (fflush(stdout) || ferror(stdout))
		die(2, "standard output: %s", strerror(errno));
	return status;
}
