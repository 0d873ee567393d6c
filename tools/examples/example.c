// SPDX-License-Identifier: MIT
#include "tools/examples/example.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_USAGE	2

static uint32_t parse_value(const struct number_option *o, const char *text)
{
	unsigned long long v;
	char *end;

	if (!text)
		die(EXIT_USAGE, "--%s: a number is needed", o->name);
	v = strtoull(text, &end, 0);
	if (*text < '0' || *text > '9' || *end || v < o->min || v > o->max)
		die(EXIT_USAGE, "--%s %s: a number from %u to %u is needed", o->name, text, o->min,
		    o->max);
	return (uint32_t)v;
}

int parse_options(int argc, char **argv, const char *usage, const struct number_option *numbers,
		  const struct flag_option *flags)
{
	int i;

	for (i = 1; i < argc && !strncmp(argv[i], "-", 1); i++) {
		const struct number_option *n = numbers;
		const struct flag_option *f = flags;

		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			fputs(usage, stdout);
			exit(EXIT_SUCCESS);
		}
		if (!strcmp(argv[i], "--version") || !strcmp(argv[i], "-V")) {
			printf("%s %s\n", program_name, rkmm_version_string());
			exit(EXIT_SUCCESS);
		}
		while (n->name && (strncmp(argv[i], "--", 2) || strcmp(argv[i] + 2, n->name)))
			n++;
		while (f->name && (strncmp(argv[i], "--", 2) || strcmp(argv[i] + 2, f->name)))
			f++;
		if (n->name) {
			*n->value = parse_value(n, i + 1 < argc ? argv[i + 1] : NULL);
			i++;
		} else if (f->name) {
			*f->value = true;
		} else {
			die(EXIT_USAGE, "%s: unknown option, see --help", argv[i]);
		}
	}
	return i;
}

double uniform(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (double)(int64_t)*state / 9223372036854775808.0;
}

float *random_halves(size_t count, double size, uint64_t *state)
{
	float *v = allocate(count, sizeof(*v));
	uint16_t half;
	size_t i;

	for (i = 0; i < count; i++) {
		v[i] = (float)(size * uniform(state));
		rkmm_f32_to_f16(&v[i], &half, 1);
		rkmm_f16_to_f32(&half, &v[i], 1);
	}
	return v;
}

struct distance distance_of(const float *have, const double *want, size_t count)
{
	struct distance d = { 0 };
	double diff;
	size_t i;

	for (i = 0; i < count; i++) {
		diff = fabs((double)have[i] - want[i]);
		if (isnan(diff))
			diff = INFINITY;
		d.most = fmax(d.most, diff);
		d.rms += diff * diff;
		d.size += want[i] * want[i];
	}
	d.rms = sqrt(d.rms / (double)count);
	d.size = sqrt(d.size / (double)count);
	return d;
}

void print_sequence(struct rkmm_seq *seq)
{
	struct rkmm_seq_info info;

	if (rkmm_seq_info(seq, &info))
		die(EXIT_FAILURE, "%s", rkmm_seq_error(seq));
	printf("one submission: %u operations, %u NPU programs; ", info.ops, info.programs);
	printf("intermediate results %llu KiB in %llu KiB\n",
	       (unsigned long long)(info.alone_bytes + 1023) / 1024,
	       (unsigned long long)(info.shared_bytes + 1023) / 1024);
}

int verdict(const struct distance *d, double bound)
{
	bool right = d->most <= bound;

	printf("largest difference %.3g, mean %.3g of %.3g; bound %.3g: %s\n", d->most, d->rms,
	       d->size, bound, right ? "right" : "WRONG");
	return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
