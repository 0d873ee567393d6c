// SPDX-License-Identifier: MIT
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "matmul.h"

static const char usage_text[] =
"usage: rkmm-matmul A.npy B.npy [-o C.npy] [OPTION]...\n"
"       rkmm-matmul --random ROWSxCOLS -o X.npy [--dtype T] [--seed S] [--fortran]\n"
"C = A x B on the NPU. Files are numpy's: float32, float16 or int8, C or Fortran order.\n"
"\n"
"  -o, --output FILE     write C there\n"
"  --precision P         fp16, int8 or int4; default: int8 for int8 files, else fp16.\n"
"                        Float inputs are quantised for int8 and int4, per row of A and\n"
"                        column of B, and the result is made float again\n"
"  --out T               f32, f16, i32, i16 or i8; default: f32 for float inputs and for\n"
"                        fp16, i32 for int8, i16 for int4\n"
"  --mult X --shift Y --offset Z\n"
"                        for --out i8: clamp(round(acc * X / 2^Y) + Z)\n"
"  --verify              compare with the CPU; status 3 when the result is wrong\n"
"  --repeat N            run N times, report medians\n"
"  --cores MASK          cores that may be used, for example 0x7\n"
"  --form F              how programs read A, write C: auto (default), flat, batch, cube\n"
"  --device NODE         render node; default: the one of driver rkmm\n"
"  --json                report in JSON\n"
"  --random ROWSxCOLS    write a matrix of random numbers and do nothing else\n"
"  --dtype T             its type: float32 (default), float16, int8, int4 (-8..7 as int8)\n"
"  --seed S              its seed; equal seeds give equal files\n"
"  --fortran             store it in Fortran order\n"
"  -h, --help            this text\n"
"  -V, --version         version of librkmm\n";

const char *const program_name = "rkmm-matmul";

static long parse_number(const char *name, const char *text, long lo, long hi)
{
	char *end;
	long v;

	errno = 0;
	v = strtol(text, &end, 0);
	if (errno || end == text || *end || v < lo || v > hi)
		die(EXIT_USAGE, "--%s %s: a number from %ld to %ld is needed", name, text, lo, hi);
	return v;
}

static int choice(const char *name, const char *text, const char *const *list)
{
	int i;

	for (i = 0; list[i]; i++)
		if (!strcmp(list[i], text))
			return i + 1;
	die(EXIT_USAGE, "--%s %s: not known, see --help", name, text);
}

enum {
	OPT_PRECISION = 256,
	OPT_OUT,
	OPT_MULT,
	OPT_SHIFT,
	OPT_OFFSET,
	OPT_VERIFY,
	OPT_REPEAT,
	OPT_CORES,
	OPT_FORM,
	OPT_DEVICE,
	OPT_JSON,
	OPT_RANDOM,
	OPT_DTYPE,
	OPT_SEED,
	OPT_FORTRAN,
};

static const struct option long_options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "precision", required_argument, NULL, OPT_PRECISION },
	{ "out", required_argument, NULL, OPT_OUT },
	{ "mult", required_argument, NULL, OPT_MULT },
	{ "shift", required_argument, NULL, OPT_SHIFT },
	{ "offset", required_argument, NULL, OPT_OFFSET },
	{ "verify", no_argument, NULL, OPT_VERIFY },
	{ "repeat", required_argument, NULL, OPT_REPEAT },
	{ "cores", required_argument, NULL, OPT_CORES },
	{ "form", required_argument, NULL, OPT_FORM },
	{ "device", required_argument, NULL, OPT_DEVICE },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "random", required_argument, NULL, OPT_RANDOM },
	{ "dtype", required_argument, NULL, OPT_DTYPE },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "fortran", no_argument, NULL, OPT_FORTRAN },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 }
};

struct random_options {
	const char *shape;
	const char *dtype;
	uint64_t seed;
	bool fortran;
};

static void parse(int argc, char **argv, struct options *opt, struct random_options *rnd)
{
	static const char *const precisions[] = { "fp16", "int8", "int4", NULL };
	static const char *const outputs[] = { "f32", "f16", "i32", "i16", "i8", NULL };
	char *end;
	int c;

	while ((c = getopt_long(argc, argv, "o:hV", long_options, NULL)) != -1) {
		switch (c) {
		case 'o':
			opt->out_path = optarg;
			break;
		case OPT_PRECISION:
			opt->precision = choice("precision", optarg, precisions);
			break;
		case OPT_OUT:
			opt->output = choice("out", optarg, outputs);
			break;
		case OPT_MULT:
			opt->mult = parse_number("mult", optarg, 1, 32767);
			break;
		case OPT_SHIFT:
			opt->shift = parse_number("shift", optarg, 0, 31);
			break;
		case OPT_OFFSET:
			opt->offset = parse_number("offset", optarg, -128, 127);
			break;
		case OPT_VERIFY:
			opt->verify = true;
			break;
		case OPT_REPEAT:
			opt->repeat = (unsigned int)parse_number("repeat", optarg, 1, 1000000);
			break;
		case OPT_CORES:
			opt->cores = (uint32_t)parse_number("cores", optarg, 1, 0xffff);
			break;
		case OPT_FORM:
			opt->form = form_parse(optarg);
			if (opt->form < 0)
				die(EXIT_USAGE, "--form %s: not known, see --help", optarg);
			break;
		case OPT_DEVICE:
			opt->device = optarg;
			break;
		case OPT_JSON:
			opt->json = true;
			break;
		case OPT_RANDOM:
			rnd->shape = optarg;
			break;
		case OPT_DTYPE:
			rnd->dtype = optarg;
			break;
		case OPT_SEED:
			errno = 0;
			rnd->seed = strtoull(optarg, &end, 0);
			if (errno || end == optarg || *end)
				die(EXIT_USAGE, "--seed %s: a number is needed", optarg);
			break;
		case OPT_FORTRAN:
			rnd->fortran = true;
			break;
		case 'h':
			fputs(usage_text, stdout);
			exit(EXIT_OK);
		case 'V':
			printf("rkmm-matmul %s\n", rkmm_version_string());
			exit(EXIT_OK);
		default:
			/* getopt said what is wrong. */
			exit(EXIT_USAGE);
		}
	}
}

int matmul_main(int argc, char **argv)
{
	struct options opt = { .repeat = 1 };
	struct random_options rnd = { .dtype = "float32" };
	struct verdict verdict;
	char error[NPY_ERROR];
	struct job job;
	bool right;

	parse(argc, argv, &opt, &rnd);
	if (rnd.shape) {
		if (optind != argc || !opt.out_path)
			die(EXIT_USAGE, "--random needs -o FILE and no other files");
		random_matrix(rnd.shape, rnd.dtype, rnd.seed, rnd.fortran, opt.out_path);
		return EXIT_OK;
	}
	if (argc - optind != 2)
		die(EXIT_USAGE, "two files are needed, A.npy and B.npy; see --help");
	if ((opt.mult || opt.shift || opt.offset) && opt.output != OUTPUT_I8)
		die(EXIT_USAGE, "--mult, --shift and --offset go with --out i8");
	opt.a_path = argv[optind];
	opt.b_path = argv[optind + 1];

	job_load(&job, &opt);
	job_run(&job);
	job_convert(&job);
	if (opt.verify)
		job_verify(&job, &verdict);
	/* A wrong result is written too: someone will want to look at it. */
	if (opt.out_path && npy_write(opt.out_path, &job.c, error))
		die(EXIT_FAILED, "%s: %s", opt.out_path, error);
	job_report(&job, opt.verify ? &verdict : NULL);
	right = !opt.verify || verdict.ok;
	job_free(&job);
	if (fflush(stdout) || ferror(stdout))
		die(EXIT_FAILED, "standard output: %s", strerror(errno));
	if (!right)
		die(EXIT_WRONG, "the result is wrong in %zu elements", verdict.wrong);
	return EXIT_OK;
}
