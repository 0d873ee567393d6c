// SPDX-License-Identifier: MIT
/* What it costs to synthesise programs. */
#include <stdlib.h>

#include "bench.h"
#include "image.h"

#define FULL_TARGET	60	/* ns */
#define LIGHT_TARGET	15
#define LEAST_NS	2000000	/* a measurement takes at least so long */
#define PARTS		10000	/* of a nanosecond */

/* The least time of an image in nanoseconds: neighbours on the machine only add to it. */
static double time_image(struct image *image, uint64_t *times, unsigned int repeat)
{
	uint64_t start, ns;
	unsigned int r;
	uint32_t runs;

	for (r = 0; r < repeat; r++) {
		start = thread_now();
		runs = 0;
		do {
			image_make(image);
			runs++;
			ns = thread_now() - start;
		} while (ns < LEAST_NS);
		times[r] = ns * PARTS / runs;
	}
	spread_of(times, repeat);
	return (double)times[0] / PARTS;
}

static void print_image(const struct options *opt, const struct image_case *c, uint32_t programs,
			uint32_t lights, double ns, bool first)
{
	uint32_t target = lights ? LIGHT_TARGET : FULL_TARGET;

	if (opt->output == OUTPUT_TABLE) {
		printf("%-36s %8u %8u %8.1f   %4u %s\n", c->name, programs, lights, ns, target,
		       ns <= target ? "reached" : "missed");
		return;
	}
	printf("%s\n  {\"image\": \"%s\", \"programs\": %u, ", first ? "" : ",", c->key, programs);
	printf("\"light\": %u, \"ns\": %.6g, \"target_ns\": %u}", lights, ns, target);
}

/* All programs full, then most of them light: what these cost beside the full ones. */
static void synth_case(const struct options *opt, unsigned int i, uint64_t *times)
{
	const struct image_case *c = image_case(i);
	uint32_t programs, lights;
	struct image *image;
	double full, ns;

	image = image_new(i, false, &programs, &lights);
	full = time_image(image, times, opt->repeat) / programs;
	image_free(image);
	print_image(opt, c, programs, 0, full, !i);
	image = image_new(i, true, &programs, &lights);
	if (lights) {
		ns = time_image(image, times, opt->repeat) - full * (programs - lights);
		print_image(opt, c, programs, lights, ns < 0 ? 0 : ns / lights, false);
	}
	image_free(image);
}

void bench_synth(const struct options *opt)
{
	uint64_t *times = allocate(opt->repeat, sizeof(*times));
	unsigned int i;

	if (opt->output == OUTPUT_TABLE)
		printf("\n%-36s %8s %8s %8s   %s\n",
		       "ns per program, least of the runs", "programs",
		       "light", "ns", "target");
	for (i = 0; image_case(i); i++)
		synth_case(opt, i, times);
	free(times);
}
