// SPDX-License-Identifier: MIT
/* rkmm-info: what there is of the NPU, what is wrong with it, and what to do. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "info.h"
#include "tools/common/common.h"

const char *const program_name = "rkmm-info";

static const char usage[] =
"usage: rkmm-info [OPTION]...\n"
"Tell what there is of the NPU: driver, versions, clocks, heat, permissions; what is\n"
"wrong, and for each problem the command that mends it.\n"
"\n"
"  -j, --json          print JSON\n"
"  -q, --quiet         print problems alone\n"
"      --root DIR      look at DIR/sys, DIR/proc, DIR/dev and so on, for instance a copy\n"
"  -h, --help          this text\n"
"\n"
"Exit status: 0 all is well, 1 something costs speed or safety, 2 the NPU cannot be used,\n"
"3 wrong usage.\n";

int main(int argc, char **argv)
{
	enum { ROOT = 256 };
	static const struct option longs[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "root", required_argument, NULL, ROOT },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	static struct info info = { .root = "" };
	bool json = false, quiet = false;
	struct stat st;
	int o;

	while ((o = getopt_long(argc, argv, "jqh", longs, NULL)) != -1) {
		switch (o) {
		case 'j':
			json = true;
			break;
		case 'q':
			quiet = true;
			break;
		case ROOT:
			info.root = optarg;
			if (stat(optarg, &st) || !S_ISDIR(st.st_mode) || strlen(optarg) > 200)
				die(3, "%s: not a directory", optarg);
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			fputs(usage, stderr);
			return 3;
		}
	}
	if (optind != argc || (json && quiet)) {
		fputs(usage, stderr);
		return 3;
	}
	look_driver(&info);
	look_node(&info);
	look_device(&info);
	look_speed(&info);
	look_state(&info);
	if (quiet)
		info.nfacts = 0;
	if (json)
		show_json(&info);
	else
		show_text(&info);
	return worst(&info);
}
