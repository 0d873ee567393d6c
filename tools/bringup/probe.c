// SPDX-License-Identifier: MIT
/*
 * rkmm-probe: products in a given pattern, each compared with the CPU's, and what came of them as
 * numbers. A wrong product is an answer, not a failure of this program.
 *
 * Operands are small whole numbers, so that every type gives exact sums in any order.
 */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rkmm.h>

#include "tools/common/common.h"

#define EXIT_WRONG	3
#define EXIT_USAGE	2
#define MAX_TYPES	8
#define MAX_BUFFERS	64
#define MAX_REPEAT	1000000

const char *const program_name = "rkmm-probe";

static const char usage[] =
	"usage: rkmm-probe [OPTION]...\n"
	"\n"
	"Multiplies matrices again and again, and counts the products that are wrong.\n"
	"\n"
	"  -t, --types LIST    one after the other: i8i32, i8i8, f16f32, f16f16, i4i16\n"
	"                      (default i8i32)\n"
	"  -s, --shape MxKxN   default 64x512x96\n"
	"  -b, --buffers N     sets of buffers for A and C, used in turn (default 1)\n"
	"  -r, --repeat N      products (default 16)\n"
	"  -c, --cores MASK    cores that may be used (default: any)\n"
	"  -f, --form F        auto, flat, batch or cube\n"
	"  -d, --device NODE   render node; default: the one of driver rkmm\n"
	"  -j, --json          numbers in JSON\n"
	"  -h, --help          this text\n"
	"  -V, --version       version of librkmm\n"
	"\n"
	"Exit status: 0 all are right, 3 some are wrong or failed, 1 none could be\n"
	"tried, 2 usage.\n";

struct type {
	const char *name;
	uint32_t types;
	uint32_t in_bytes, out_bytes;
	int range;	/* operands are -range..range */
};

/* fp16 results are exact up to 2048, those of int4 and int8 are clamped by the reference too */
static const struct type known[] = {
	{ "i8i32", DRM_RKMM_I8I32, 1, 4, 127 },
	{ "i8i8", DRM_RKMM_I8I8, 1, 1, 11 },
	{ "f16f32", DRM_RKMM_F16F32, 2, 4, 15 },
	{ "f16f16", DRM_RKMM_F16F16, 2, 2, 2 },
	{ "i4i16", DRM_RKMM_I4I16, 1, 2, 7 },
};

struct probe {
	const struct type *types[MAX_TYPES];
	uint32_t num_types;
	uint32_t m, k, n, buffers, repeat, cores, form;
	const char *node;
	bool json;
};

/* One set of buffers, with the product that belongs in them. */
struct set {
	struct rkmm_context *ctx;
	void *a, *want;
};

struct result {
	uint64_t runs, wrong, elements, errors;
	int first_error;
	int64_t first_wrong;	/* number of that product, -1: none */
	uint64_t *ns;
};

static uint64_t random_state = 1;

static int random_value(int range)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (int)(random_state >> 33) % (2 * range + 1) - range;
}

static void *random_matrix(const struct type *t, size_t count, int *values)
{
	uint8_t *data = allocate(count, t->in_bytes);
	size_t i;

	for (i = 0; i < count; i++) {
		values[i] = random_value(t->range);
		if (t->in_bytes == 1) {
			((int8_t *)data)[i] = (int8_t)values[i];
		} else {
			float f = (float)values[i];

			rkmm_f32_to_f16(&f, (uint16_t *)data + i, 1);
		}
	}
	return data;
}

static int clamp(int v, int lowest, int highest)
{
	return v < lowest ? lowest : v > highest ? highest : v;
}

static void store(const struct type *t, void *to, size_t i, int sum)
{
	float f = (float)sum;

	switch (t->types) {
	case DRM_RKMM_I8I32:
		((int32_t *)to)[i] = sum;
		break;
	case DRM_RKMM_I8I8:
		((int8_t *)to)[i] = (int8_t)clamp(sum, INT8_MIN, INT8_MAX);
		break;
	case DRM_RKMM_I4I16:
		((int16_t *)to)[i] = (int16_t)clamp(sum, INT16_MIN, INT16_MAX);
		break;
	case DRM_RKMM_F16F16:
		rkmm_f32_to_f16(&f, (uint16_t *)to + i, 1);
		break;
	default:
		((float *)to)[i] = f;
	}
}

static void *product(const struct probe *p, const struct type *t, const int *a, const int *b)
{
	int *sums = allocate(p->n, sizeof(*sums));
	void *want = allocate((size_t)p->m * p->n, t->out_bytes);
	uint32_t m, k, n;

	for (m = 0; m < p->m; m++) {
		memset(sums, 0, p->n * sizeof(*sums));
		for (k = 0; k < p->k; k++)
			for (n = 0; n < p->n; n++)
				sums[n] += a[(size_t)m * p->k + k] * b[(size_t)k * p->n + n];
		for (n = 0; n < p->n; n++)
			store(t, want, (size_t)m * p->n + n, sums[n]);
	}
	free(sums);
	return want;
}

/* All sets of a type; what cannot be made ends the program, as nothing could be tried. */
static struct rkmm_weights *prepare(struct rkmm_device *dev, const struct probe *p,
				    const struct type *t, struct set *sets)
{
	const struct rkmm_matmul_desc desc = {
		.types = t->types, .m = p->m, .k = p->k, .n = p->n, .cores = p->cores,
		.form = p->form, .mult = t->types == DRM_RKMM_I8I8,
	};
	int *a = allocate((size_t)p->m * p->k, sizeof(*a));
	int *b = allocate((size_t)p->k * p->n, sizeof(*b));
	void *packed = random_matrix(t, (size_t)p->k * p->n, b);
	struct rkmm_weights *w;
	uint32_t i;

	if (rkmm_weights_create(dev, t->types, p->k, p->n, packed, p->n, 0, &w))
		die(EXIT_FAILURE, "%s: %s", t->name, rkmm_last_error());
	for (i = 0; i < p->buffers; i++) {
		sets[i].a = random_matrix(t, (size_t)p->m * p->k, a);
		sets[i].want = product(p, t, a, b);
		if (rkmm_context_create(dev, &desc, w, &sets[i].ctx))
			die(EXIT_FAILURE, "%s: %s", t->name, rkmm_last_error());
	}
	free(packed);
	free(b);
	free(a);
	return w;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void run_one(const struct probe *p, const struct type *t, struct rkmm_weights *w,
		    struct set *set, void *c, struct result *r)
{
	size_t i, count = (size_t)p->m * p->n, wrong = 0;
	uint64_t start = now_ns();
	int ret = rkmm_context_run(set->ctx, w, set->a, p->k, c, p->n, 0);

	r->ns[r->runs++] = now_ns() - start;
	if (ret) {
		if (!r->errors++)
			r->first_error = ret;
		return;
	}
	for (i = 0; i < count * t->out_bytes; i += t->out_bytes)
		wrong += !!memcmp((uint8_t *)c + i, (uint8_t *)set->want + i, t->out_bytes);
	if (!wrong)
		return;
	if (!r->wrong++)
		r->first_wrong = (int64_t)r->runs - 1;
	r->elements += wrong;
}

static int compare_ns(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void field(const struct probe *p, const char *name, double value, int digits)
{
	const char *before = strcmp(name, "runs") ? p->json ? ", " : " " : "";

	printf(p->json ? "%s\"%s\": %.*f" : "%s%s=%.*f", before, name, digits, value);
}

static void report(const struct probe *p, const struct result *r)
{
	double us;

	qsort(r->ns, r->runs, sizeof(*r->ns), compare_ns);
	us = (double)r->ns[r->runs / 2] / 1000;
	if (p->json)
		putchar('{');
	field(p, "runs", (double)r->runs, 0);
	field(p, "wrong", (double)r->wrong, 0);
	field(p, "elements", (double)r->elements, 0);
	field(p, "errors", (double)r->errors, 0);
	field(p, "errno", -r->first_error, 0);
	field(p, "first_wrong", (double)r->first_wrong, 0);
	field(p, "median_us", us, 1);
	puts(p->json ? "}" : "");
}

static uint32_t parse_number(const char *name, const char *text, uint32_t min, uint32_t max)
{
	unsigned long long v;
	char *end;

	if (!text || *text < '0' || *text > '9')
		die(EXIT_USAGE, "%s: a number is needed", name);
	errno = 0;
	v = strtoull(text, &end, 0);
	if (errno || *end || v < min || v > max)
		die(EXIT_USAGE, "%s %s: a number from %u to %u is needed", name, text, min, max);
	return (uint32_t)v;
}

static void parse_types(struct probe *p, char *list)
{
	char *name, *save = NULL;
	size_t i;

	p->num_types = 0;
	for (name = strtok_r(list, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
		for (i = 0; i < sizeof(known) / sizeof(*known) && strcmp(name, known[i].name); i++)
			;
		if (i == sizeof(known) / sizeof(*known))
			die(EXIT_USAGE, "--types %s: no such types, see --help", name);
		if (p->num_types == MAX_TYPES)
			die(EXIT_USAGE, "--types: more than %d", MAX_TYPES);
		p->types[p->num_types++] = &known[i];
	}
	if (!p->num_types)
		die(EXIT_USAGE, "--types: types are needed");
}

static void parse_shape(struct probe *p, char *text)
{
	char *m = strtok(text, "x"), *k = strtok(NULL, "x"), *n = strtok(NULL, "x");

	if (strtok(NULL, "x"))
		die(EXIT_USAGE, "--shape: MxKxN is needed");
	p->m = parse_number("--shape", m, 1, 4096);
	p->k = parse_number("--shape", k, 1, 16384);
	p->n = parse_number("--shape", n, 1, 16384);
}

static void parse(struct probe *p, int argc, char **argv)
{
	static const struct option options[] = {
		{ "types", required_argument, NULL, 't' },
		{ "shape", required_argument, NULL, 's' },
		{ "buffers", required_argument, NULL, 'b' },
		{ "repeat", required_argument, NULL, 'r' },
		{ "cores", required_argument, NULL, 'c' },
		{ "form", required_argument, NULL, 'f' },
		{ "device", required_argument, NULL, 'd' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	int o, form;

	while ((o = getopt_long(argc, argv, "t:s:b:r:c:f:d:jhV", options, NULL)) != -1) {
		switch (o) {
		case 't':
			parse_types(p, optarg);
			break;
		case 's':
			parse_shape(p, optarg);
			break;
		case 'b':
			p->buffers = parse_number("--buffers", optarg, 1, MAX_BUFFERS);
			break;
		case 'r':
			p->repeat = parse_number("--repeat", optarg, 1, MAX_REPEAT);
			break;
		case 'c':
			p->cores = parse_number("--cores", optarg, 0, UINT32_MAX);
			break;
		case 'f':
			form = form_parse(optarg);
			if (form < 0)
				die(EXIT_USAGE, "--form %s: auto, flat, batch or cube", optarg);
			p->form = (uint32_t)form;
			break;
		case 'd':
			p->node = optarg;
			break;
		case 'j':
			p->json = true;
			break;
		case 'h':
			fputs(usage, stdout);
			exit(EXIT_SUCCESS);
		case 'V':
			printf("rkmm-probe %s\n", rkmm_version_string());
			exit(EXIT_SUCCESS);
		default:
			exit(EXIT_USAGE);
		}
	}
	if (optind < argc)
		die(EXIT_USAGE, "%s: nothing else is taken, see --help", argv[optind]);
}

int main(int argc, char **argv)
{
	struct probe p = {
		.types = { &known[0] }, .num_types = 1, .m = 64, .k = 512, .n = 96,
		.buffers = 1, .repeat = 16,
	};
	struct result r = { .first_wrong = -1 };
	struct rkmm_weights *weights[MAX_TYPES];
	struct set sets[MAX_TYPES][MAX_BUFFERS];
	struct rkmm_device *dev;
	uint32_t i, j;
	void *c;

	parse(&p, argc, argv);
	if (rkmm_open(p.node, &dev))
		die(EXIT_FAILURE, "%s", rkmm_last_error());
	for (i = 0; i < p.num_types; i++)
		weights[i] = prepare(dev, &p, p.types[i], sets[i]);
	r.ns = allocate(p.repeat, sizeof(*r.ns));
	c = allocate((size_t)p.m * p.n, sizeof(int32_t));
	for (i = 0; i < p.repeat; i++) {
		uint32_t t = i % p.num_types;

		run_one(&p, p.types[t], weights[t], &sets[t][i / p.num_types % p.buffers], c, &r);
	}
	report(&p, &r);

	for (i = 0; i < p.num_types; i++) {
		for (j = 0; j < p.buffers; j++) {
			rkmm_context_destroy(sets[i][j].ctx);
			free(sets[i][j].a);
			free(sets[i][j].want);
		}
		rkmm_weights_destroy(weights[i]);
	}
	free(c);
	free(r.ns);
	rkmm_close(dev);
	return r.wrong || r.errors ? EXIT_WRONG : EXIT_SUCCESS;
}
