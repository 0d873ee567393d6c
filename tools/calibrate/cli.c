// SPDX-License-Identifier: MIT
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "calibrate.h"
#include "tools/common/common.h"

static const char usage[] =
"usage: rkmm-calibrate [OPTION]...\n"
"Find out which program geometries this die does right, from safe to risky, one at a time,\n"
"with known-answer jobs on memory of the driver. Other users of the NPU wait meanwhile; what\n"
"hangs is reset. What has a verdict already is not tried again, so it may be stopped at any\n"
"time (Ctrl-C) and goes on where it was. Verdicts last until the driver is unloaded: keep them\n"
"with --export.\n"
"\n"
"  -d, --device NODE          render node (default: the first one of the driver)\n"
"      --bits N               geometries of 4, 8 or 16 bits only\n"
"      --k N                  those of this K only\n"
"      --cores N              those on so many cores only\n"
"      --again                try those that have a verdict, too\n"
"  -n, --dry-run              try nothing, say what is known\n"
"  -j, --json                 report as JSON\n"
"  -q, --quiet                no progress\n"
"      --export FILE          then write all verdicts to FILE (- for standard output)\n"
"      --import FILE          first take verdicts of this chip from FILE; alone: nothing else\n"
"  -h, --help                 this text\n"
"\n"
"Status: 0 done, 1 failed, 2 usage, 3 the file was refused, 4 stopped: call it again.\n";

struct command {
	const char *node, *export, *import;
	struct wish wish;
	bool tries;
};

static unsigned int parse_number(const char *name, const char *text)
{
	unsigned long v;
	char *end;

	errno = 0;
	v = strtoul(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || !v || v > 100000)
		die(STATUS_USAGE, "--%s: %s is no such number", name, text);
	return (unsigned int)v;
}

/* -1 to go on, else the status to end with */
static int read_options(int argc, char **argv, struct command *c)
{
	enum { BITS = 256, K, CORES, AGAIN, EXPORT, IMPORT };
	static const struct option longs[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "bits", required_argument, NULL, BITS },
		{ "k", required_argument, NULL, K },
		{ "cores", required_argument, NULL, CORES },
		{ "again", no_argument, NULL, AGAIN },
		{ "dry-run", no_argument, NULL, 'n' },
		{ "json", no_argument, NULL, 'j' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "export", required_argument, NULL, EXPORT },
		{ "import", required_argument, NULL, IMPORT },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	int o;

	optind = 1;
	while ((o = getopt_long(argc, argv, "d:njqh", longs, NULL)) != -1) {
		switch (o) {
		case 'd':
			c->node = optarg;
			break;
		case BITS:
			c->wish.bits = parse_number("bits", optarg);
			break;
		case K:
			c->wish.k = parse_number("k", optarg);
			break;
		case CORES:
			c->wish.cores = parse_number("cores", optarg);
			break;
		case AGAIN:
			c->wish.again = true;
			break;
		case 'n':
			c->wish.dry = true;
			break;
		case 'j':
			c->wish.json = true;
			break;
		case 'q':
			c->wish.quiet = true;
			break;
		case EXPORT:
			c->export = optarg;
			continue;
		case IMPORT:
			c->import = optarg;
			continue;
		case 'h':
			fputs(usage, stdout);
			return STATUS_DONE;
		default:
			fputs(usage, stderr);
			return STATUS_USAGE;
		}
		c->tries |= o != 'd' && o != 'q';
	}
	if (optind == argc)
		return -1;
	fputs(usage, stderr);
	return STATUS_USAGE;
}

int calibrate_main(int argc, char **argv)
{
	struct command c = {};
	int ret = read_options(argc, argv, &c), fd;

	if (ret >= 0)
		return ret;
	fd = node_open(c.node);
	ret = c.import ? node_import(fd, c.import) : STATUS_DONE;
	/* A file alone is what a service asks for when the machine starts or stops. */
	if (!ret && (c.tries || !(c.import || c.export)))
		ret = run(fd, &c.wish);
	if ((!ret || ret == STATUS_STOPPED) && c.export && node_export(fd, c.export))
		ret = STATUS_FAILED;
	close(fd);
	return ret;
}
