// SPDX-License-Identifier: MIT
/* Handwritten digits: trained on the CPU, recognised on the NPU. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/examples/digits.h"

const char *const program_name = "rkmm-digits";

static const char usage[] =
"usage: rkmm-digits [OPTION]... [FILE]\n"
"Trains a small network on pictures of handwritten digits on the CPU, then recognises\n"
"others on the NPU in fp16, int8 and int4.\n"
"\n"
"FILE has 64 numbers from 0 to 16 and a digit in each line, also gzipped: the data set of\n"
"Debian's python3-sklearn, which is the default.\n"
"\n"
"  --hidden H      columns between the two layers (32)\n"
"  --epochs E      how often each picture is trained with (8)\n"
"  --seed S        of weights and order (1)\n"
"  --json          one JSON object instead of a table\n"
"  -h, --help      this text\n"
"  -V, --version   version of librkmm\n"
"\n"
"Exit status: 0; 1 when a result of the NPU differs from the same numbers on the CPU, when\n"
"it recognises clearly less, or when the device failed; 2 usage.\n";

static const char *const files[] = {
	"/usr/share/rkmm/digits.csv.gz",
	"/usr/lib/python3/dist-packages/sklearn/datasets/data/digits.csv.gz",
};

static const char *default_file(void)
{
	unsigned int i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (!access(files[i], R_OK))
			return files[i];
	die(EXIT_FAILURE, "no %s: name the data set of python3-sklearn", files[1]);
}

/**
 * struct line - one kind of numbers in the report
 * @name: of it
 * @lost: how many of a hundred it may recognise less than the CPU
 * @right: recognised
 * @res: how it went
 */
struct line {
	const char *name;
	uint32_t lost;
	uint32_t right;
	struct outcome res;
};

#define LINES	3

static bool line_ok(const struct line *l, uint32_t cpu, uint32_t count)
{
	return !l->res.served || (!l->res.wrong && l->right + l->lost * count / 100 >= cpu);
}

static void print_text(const struct line *lines, uint32_t cpu, const struct digits *train,
		       const struct digits *test, double seconds)
{
	const double all = test->count;
	unsigned int i;

	printf("%u pictures trained with in %.1f s, %u others recognised:\n\n", train->count,
	       seconds, test->count);
	printf("            right          submissions  checked\n");
	printf("CPU double  %4u  %5.1f %%\n", cpu, 100 * cpu / all);
	for (i = 0; i < LINES; i++) {
		const struct line *l = &lines[i];

		if (!l->res.served) {
			printf("NPU %-6s  not served: %s\n", l->name, l->res.why);
			continue;
		}
		printf("NPU %-6s  %4u  %5.1f %%  %11u  ", l->name, l->right, 100 * l->right / all,
		       l->res.submits);
		if (l->res.wrong)
			printf("WRONG: %u of %u\n", l->res.wrong, test->count * CLASSES);
		else
			printf("%s\n", i ? "exact" : "within the bound of fp16");
	}
}

static void print_json(const struct line *lines, uint32_t cpu, const struct digits *train,
		       const struct digits *test)
{
	unsigned int i;

	printf("{\"trained\": %u, \"tested\": %u, \"cpu_right\": %u, \"npu\": [", train->count,
	       test->count, cpu);
	for (i = 0; i < LINES; i++) {
		const struct line *l = &lines[i];

		printf("%s\n  {\"type\": \"%s\", \"served\": %s", i ? "," : "", l->name,
		       l->res.served ? "true" : "false");
		if (l->res.served)
			printf(", \"right\": %u, \"submissions\": %u, \"wrong\": %u", l->right,
			       l->res.submits, l->res.wrong);
		printf("}");
	}
	printf("]}\n");
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	struct line lines[LINES] = { { "fp16", 1, 0, { 0 } }, { "int8", 3, 0, { 0 } },
				     { "int4", 15, 0, { 0 } } };
	uint32_t hidden = 32, epochs = 8, seed = 1, cpu;
	bool json = false;
	const struct number_option numbers[] = {
		{ "hidden", &hidden, 1, HIDDEN_MOST }, { "epochs", &epochs, 1, 1000 },
		{ "seed", &seed, 0, UINT32_MAX }, { NULL, NULL, 0, 0 }
	};
	const struct flag_option flags[] = { { "json", &json }, { NULL, NULL } };
	int first = parse_options(argc, argv, usage, numbers, flags), status = EXIT_SUCCESS;
	struct digits train, test;
	struct rkmm_device *dev;
	struct net net;
	float most, *out;
	double start;
	unsigned int i;

	if (argc - first > 1)
		die(2, "one FILE is taken, see --help");
	digits_read(first < argc ? argv[first] : default_file(), &train, &test);
	if (rkmm_open(NULL, &dev))
		die(EXIT_FAILURE, "%s", rkmm_last_error());
	start = seconds();
	net_train(&net, hidden, &train, epochs, seed);
	start = seconds() - start;
	out = allocate((size_t)(train.count + test.count) * CLASSES, sizeof(*out));
	/* What training has seen says how large the values between get. */
	net_run(&net, &train, out, &most);
	net_run(&net, &test, out, &(float){ 0 });
	cpu = count_right(&test, out);
	npu_fp16(dev, &net, &test, out, &lines[0].res);
	lines[0].right = count_right(&test, out);
	npu_int8(dev, &net, &test, most, out, &lines[1].res);
	lines[1].right = count_right(&test, out);
	npu_int4(dev, &net, &test, out, &lines[2].res);
	lines[2].right = count_right(&test, out);
	if (json)
		print_json(lines, cpu, &train, &test);
	else
		print_text(lines, cpu, &train, &test, start);
	for (i = 0; i < LINES; i++)
		if (!line_ok(&lines[i], cpu, test.count))
			status = EXIT_FAILURE;
	rkmm_close(dev);
	net_free(&net);
	digits_free(&train);
	digits_free(&test);
	free(out);
	return status;
}
