// SPDX-License-Identifier: MIT
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static const char usage_text[] =
"usage: rkmm-bench [--set NAME | --shape MxKxN:TYPES | --file FILE]... [OPTION]...\n"
"       rkmm-bench --submit [--shape MxKxN:TYPES]... [OPTION]...\n"
"       rkmm-bench --ops [OPTION]...\n"
"       rkmm-bench --host [OPTION]...\n"
"Measures matmuls on the NPU and checks every result. Fails on a wrong one, never on a time.\n"
"  --set NAME          llm (default), llm27b, decode, attention, odd, quick (software NPU)\n"
"  --shape MxKxN:TYPES one shape; TYPES is i8i32, i8i8, f16f32, f16f16 or i4i16\n"
"  --file FILE         shapes, one a line, # begins a comment\n"
"  --repeat N          warm runs of each shape; default 5\n"
"  --form F            auto (default), flat, batch or cube: how programs read A and write C\n"
"  --ab ARM=ARM        compare two ways in turn (A B B A); an ARM is default, cores:N,\n"
"                      mask:0xM, form:F, die:NAME (shipped, default, ...; needs root), or\n"
"                      N products with one B: single:N, group:N (joined), batch:N (counted)\n"
"  --json, --csv       report in that form instead of a table\n"
"  --plot FILE.svg     draw the times as well\n"
"  --seed S            of the random data; default 1\n"
"  --submit            what a submission costs on the CPU, and where\n"
"  --ops               operations that are no matmuls, each checked\n"
"  --host              kernels of the libraries against memcpy; needs no NPU\n"
"  --size MIB          size of their buffers; default: beyond the last-level cache\n"
"  --device NODE       render node; default: the one of driver rkmm\n"
"  -q, --quiet         no progress\n"
"  -h, --help          this text\n"
"  -V, --version       version of librkmm\n";

const char *const program_name = "rkmm-bench";

void need(int ret)
{
	if (ret)
		die(EXIT_FAILED, "%s", rkmm_last_error());
}

static uint64_t parse_number(const char *name, const char *text, uint64_t lo, uint64_t hi)
{
	unsigned long long v;
	char *end;

	errno = 0;
	v = strtoull(text, &end, 0);
	if (errno || *text < '0' || *text > '9' || *end || v < lo || v > hi)
		die(EXIT_USAGE, "--%s %s: a number from %llu to %llu is needed", name, text,
		    (unsigned long long)lo, (unsigned long long)hi);
	return v;
}

static int parse_form(const char *name, const char *text)
{
	int form = form_parse(text);

	if (form < 0)
		die(EXIT_USAGE, "--%s %s: auto, flat, batch or cube is needed", name, text);
	return form;
}

/* single:N and the like */
static bool parse_times(struct arm *arm)
{
	static const char *const names[] = {
		[TIMES_SINGLE] = "single:", [TIMES_GROUP] = "group:", [TIMES_BATCH] = "batch:",
	};
	unsigned int i;
	size_t len;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		len = strlen(names[i]);
		if (strncmp(arm->name, names[i], len))
			continue;
		arm->how = i;
		arm->times = (uint32_t)parse_number("ab times", arm->name + len, 1, 1024);
		return true;
	}
	return false;
}

static void parse_arm(struct arm *arm, const char *text, size_t len)
{
	if (len >= sizeof(arm->name))
		die(EXIT_USAGE, "--ab %s: that is no arm", text);
	arm->form = -1;
	memcpy(arm->name, text, len);
	arm->name[len] = '\0';
	if (!strncmp(arm->name, "cores:", 6))
		arm->cores = (uint32_t)parse_number("ab cores", arm->name + 6, 1, 16);
	else if (!strncmp(arm->name, "mask:", 5))
		arm->mask = (uint32_t)parse_number("ab mask", arm->name + 5, 1, 0xffff);
	else if (!strncmp(arm->name, "form:", 5))
		arm->form = parse_form("ab form", arm->name + 5);
	else if (!strncmp(arm->name, "die:", 4) && len > 4 && len - 4 < sizeof(arm->die))
		memcpy(arm->die, arm->name + 4, len - 3);
	else if (!parse_times(arm) && strcmp(arm->name, "default"))
		die(EXIT_USAGE,
		    "--ab %s: arms are default, cores:N, mask:0xM, form:F, die:NAME, single:N, group:N and batch:N",
		    arm->name);
}

static void parse_ab(struct options *opt, const char *text)
{
	const char *eq = strchr(text, '=');

	if (!eq || strchr(eq + 1, '='))
		die(EXIT_USAGE, "--ab %s: two arms are needed, for example cores:1=cores:3", text);
	memset(opt->arms, 0, sizeof(opt->arms));
	parse_arm(&opt->arms[0], text, (size_t)(eq - text));
	parse_arm(&opt->arms[1], eq + 1, strlen(eq + 1));
	opt->num_arms = 2;
}

enum {
	OPT_SET = 256,
	OPT_SHAPE,
	OPT_FILE,
	OPT_REPEAT,
	OPT_AB,
	OPT_FORM,
	OPT_JSON,
	OPT_CSV,
	OPT_PLOT,
	OPT_SEED,
	OPT_SUBMIT,
	OPT_OPS,
	OPT_HOST,
	OPT_SIZE,
	OPT_DEVICE,
};

static const struct option long_options[] = {
	{ "set", required_argument, NULL, OPT_SET },
	{ "shape", required_argument, NULL, OPT_SHAPE },
	{ "file", required_argument, NULL, OPT_FILE },
	{ "repeat", required_argument, NULL, OPT_REPEAT },
	{ "form", required_argument, NULL, OPT_FORM },
	{ "ab", required_argument, NULL, OPT_AB },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "csv", no_argument, NULL, OPT_CSV },
	{ "plot", required_argument, NULL, OPT_PLOT },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "submit", no_argument, NULL, OPT_SUBMIT },
	{ "ops", no_argument, NULL, OPT_OPS },
	{ "host", no_argument, NULL, OPT_HOST },
	{ "size", required_argument, NULL, OPT_SIZE },
	{ "device", required_argument, NULL, OPT_DEVICE },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 }
};

static void choose(struct options *opt, enum mode mode)
{
	if (opt->mode != MODE_SWEEP && opt->mode != mode)
		die(EXIT_USAGE, "--submit, --ops and --host exclude each other");
	opt->mode = mode;
}

static void choose_output(struct options *opt, enum output output)
{
	if (opt->output != OUTPUT_TABLE && opt->output != output)
		die(EXIT_USAGE, "--json and --csv exclude each other");
	opt->output = output;
}

static void parse(int argc, char **argv, struct options *opt)
{
	int c;

	while ((c = getopt_long(argc, argv, "qhV", long_options, NULL)) != -1) {
		switch (c) {
		case OPT_SET:
			shapes_set(&opt->shapes, optarg);
			break;
		case OPT_SHAPE:
			shapes_parse(&opt->shapes, optarg);
			break;
		case OPT_FILE:
			shapes_file(&opt->shapes, optarg);
			break;
		case OPT_REPEAT:
			opt->repeat = (unsigned int)parse_number("repeat", optarg, 1, 1000000);
			break;
		case OPT_FORM:
			opt->form = parse_form("form", optarg);
			break;
		case OPT_AB:
			parse_ab(opt, optarg);
			break;
		case OPT_JSON:
			choose_output(opt, OUTPUT_JSON);
			break;
		case OPT_CSV:
			choose_output(opt, OUTPUT_CSV);
			break;
		case OPT_PLOT:
			opt->plot = optarg;
			break;
		case OPT_SEED:
			opt->seed = parse_number("seed", optarg, 0, UINT64_MAX);
			break;
		case OPT_SUBMIT:
			choose(opt, MODE_SUBMIT);
			break;
		case OPT_OPS:
			choose(opt, MODE_OPS);
			break;
		case OPT_HOST:
			choose(opt, MODE_HOST);
			break;
		case OPT_SIZE:
			opt->host_mib = (unsigned int)parse_number("size", optarg, 1, 65536);
			break;
		case OPT_DEVICE:
			opt->device = optarg;
			break;
		case 'q':
			opt->quiet = true;
			break;
		case 'h':
			fputs(usage_text, stdout);
			exit(EXIT_OK);
		case 'V':
			printf("rkmm-bench %s\n", rkmm_version_string());
			exit(EXIT_OK);
		default:
			/* getopt said what is wrong. */
			exit(EXIT_USAGE);
		}
	}
	if (optind != argc)
		die(EXIT_USAGE, "%s: not an option; see --help", argv[optind]);
	if (opt->mode != MODE_SWEEP &&
	    (opt->num_arms > 1 || opt->plot || opt->output == OUTPUT_CSV || opt->form))
		die(EXIT_USAGE, "--ab, --form, --plot and --csv are for matmuls only");
	if ((opt->mode == MODE_HOST || opt->mode == MODE_OPS) && opt->shapes.count)
		die(EXIT_USAGE, "--host and --ops choose own shapes");
	if (opt->mode != MODE_HOST && opt->host_mib)
		die(EXIT_USAGE, "--size is for --host");
}

static int sweep(const struct options *opt)
{
	struct rkmm_device *dev;
	struct machine machine;
	struct shapes shapes = opt->shapes;
	struct row *rows;
	unsigned int i, k;
	uint64_t wrong = 0;
	bool refused = false;
	char name[64];

	need(rkmm_open(opt->device, &dev));
	machine_read(&machine, dev, "/");
	if (!shapes.count)
		shapes_set(&shapes, machine.info.flags & DRM_RKMM_DEVICE_SOFT ? "quick" : "llm");
	rows = allocate(shapes.count, sizeof(*rows));
	memset(rows, 0, shapes.count * sizeof(*rows));
	if (opt->output == OUTPUT_TABLE)
		table_head(opt, &machine);
	else
		machine_print(&machine, stderr);
	if (opt->output == OUTPUT_CSV)
		csv_head();

	for (i = 0; i < shapes.count; i++) {
		struct row *row = &rows[i];

		row->shape = shapes.list[i];
		shape_text(&row->shape, name, sizeof(name));
		if (!opt->quiet)
			fprintf(stderr, "[%u/%u] %s\n", i + 1, shapes.count, name);
		measure(dev, &machine, opt, row);
		if (opt->output == OUTPUT_TABLE)
			table_row(opt, row);
		else if (opt->output == OUTPUT_CSV)
			csv_row(opt, row);
		fflush(stdout);
		for (k = 0; k < opt->num_arms; k++) {
			wrong += row->arm[k].wrong;
			refused |= !row->arm[k].served && row->shape.named;
		}
	}
	if (opt->output == OUTPUT_TABLE)
		table_end(opt, rows, shapes.count);
	else if (opt->output == OUTPUT_JSON)
		json_report(opt, &machine, rows, shapes.count);
	if (opt->plot && plot_write(opt->plot, opt, &machine, rows, shapes.count))
		die(EXIT_FAILED, "%s: %s", opt->plot, strerror(errno));
	free(rows);
	rkmm_close(dev);
	if (wrong)
		die(EXIT_FAILED, "%llu elements are WRONG", (unsigned long long)wrong);
	if (refused)
		die(EXIT_FAILED, "a shape that was asked for is not served");
	return EXIT_OK;
}

int bench_main(int argc, char **argv)
{
	struct options opt = { .repeat = 5, .num_arms = 1, .seed = 1, .arms[0].name = "default",
			       .arms[0].form = -1 };
	int ret;

	parse(argc, argv, &opt);
	switch (opt.mode) {
	case MODE_HOST:
		ret = bench_host(&opt);
		break;
	case MODE_SUBMIT:
		ret = bench_submit(&opt);
		break;
	case MODE_OPS:
		ret = bench_ops(&opt);
		break;
	default:
		ret = sweep(&opt);
		break;
	}
	free(opt.shapes.list);
	if (fflush(stdout) || ferror(stdout))
		die(EXIT_FAILED, "standard output: %s", strerror(errno));
	return ret;
}
