// SPDX-License-Identifier: MIT
#include <math.h>
#include <string.h>

#include "bench.h"

static double gops(const struct shape *s, uint64_t ns)
{
	/* Operations per nanosecond; a clock may tell no time at all. */
	return shape_ops(s) / (double)(ns ? ns : 1);
}

/* Width of the middle half, in percent of the median. */
static double width(const struct spread *s)
{
	return s->median ? 100.0 * (double)(s->high - s->low) / (double)s->median : 0;
}

static void number(int64_t v)
{
	if (v < 0)
		printf(" %9s", "-");
	else
		printf(" %9lld", (long long)v);
}

void table_head(const struct options *opt, const struct machine *m)
{
	machine_print(m, stdout);
	printf("runs     %u warm, each checked; medians in ms; +-%%: width of the middle half\n",
	       opt->repeat);
	printf("\n%-24s", "shape");
	if (opt->num_arms > 1)
		printf(" %-10s", "arm");
	printf(" %10s %5s %9s %9s %9s %9s %9s %9s %8s %9s %9s %9s %s\n", "warm", "+-%", "GOP/s",
	       "cold", "on cores", "predict", "pack A", "unpack C", "programs", "emitted",
	       "synced B", "cpu", "result");
	fflush(stdout);
}

static double ms(uint64_t ns)
{
	return (double)ns / 1e6;
}

static void result(const struct options *opt, const struct row *row, unsigned int k)
{
	const struct result *r = &row->arm[k];
	char name[64];

	shape_text(&row->shape, name, sizeof(name));
	printf("%-24s", k ? "" : name);
	if (opt->num_arms > 1)
		printf(" %-10s", opt->arms[k].name);
	if (!r->served) {
		printf(" not served: %s\n", r->reason);
		return;
	}
	printf(" %10.3f %5.1f %9.3f %9.3f %9.3f %9.3f %9.3f %9.3f %8u", ms(r->warm.median),
	       width(&r->warm), gops(&row->shape, r->warm.median), ms(r->cold.median),
	       ms(r->npu_ns), ms(r->predicted_ns), ms(r->pack.median), ms(r->unpack.median),
	       r->programs);
	printf(" %4llu+%-4llu", (unsigned long long)r->emitted_cold,
	       (unsigned long long)r->emitted_warm);
	number(r->synced);
	printf(" %9.3f", ms(row->cpu_ns));
	if (r->wrong)
		printf(" WRONG %llu", (unsigned long long)r->wrong);
	else if (types_float(row->shape.types))
		printf(" right (%.1f %% of bound)", 100 * r->bound_used);
	else
		printf(" exact");
	if (r->flags & DRM_RKMM_PLAN_HOST_FINISH)
		printf(", sums on CPU");
	printf("\n");
}

void table_row(const struct options *opt, const struct row *row)
{
	const struct result *a = &row->arm[0], *b = &row->arm[1];
	unsigned int k;

	for (k = 0; k < opt->num_arms; k++)
		result(opt, row, k);
	if (opt->num_arms > 1 && a->served && b->served && b->warm.median)
		printf("%-24s %s / %s = %.3f\n", "", opt->arms[0].name, opt->arms[1].name,
		       (double)a->warm.median / (double)b->warm.median);
}

/*
 * For shapes that differ only in M: the smallest M from which on the NPU, packing
 * and gathering included, is faster than the loops.
 */
static void print_crossover(const struct row *rows, unsigned int count, unsigned int i)
{
	const struct shape *s = &rows[i].shape;
	unsigned int j, family = 0;
	uint32_t from = 0, last = 0;

	for (j = 0; j < count; j++) {
		const struct shape *o = &rows[j].shape;
		const struct result *r = &rows[j].arm[0];
		uint64_t npu = r->pack.median + r->warm.median + r->unpack.median;

		if (o->k != s->k || o->n != s->n || o->types != s->types || !r->served)
			continue;
		/* Told once, at the first of them, and only of rising M. */
		if (j < i || o->m <= last)
			return;
		last = o->m;
		family++;
		if (npu >= rows[j].cpu_ns)
			from = 0;
		else if (!from)
			from = o->m;
	}
	if (family < 3)
		return;
	printf("crossover K=%u N=%u %s: ", s->k, s->n, type_names[s->types]);
	if (from)
		printf("the NPU beats one thread of plain loops from M=%u on\n", from);
	else
		printf("the NPU does not beat one thread of plain loops\n");
}

void table_end(const struct options *opt, const struct row *rows, unsigned int count)
{
	double log_sum = 0;
	unsigned int i, n = 0;

	printf("\nemitted: programs synthesised for a cold submission + for all warm ones\n");
	printf("cpu: plain loops, one thread\n");
	for (i = 0; i < count; i++)
		print_crossover(rows, count, i);
	if (opt->num_arms < 2)
		return;
	for (i = 0; i < count; i++) {
		uint64_t a = rows[i].arm[0].warm.median, b = rows[i].arm[1].warm.median;

		if (!a || !b)
			continue;
		log_sum += log((double)a / (double)b);
		n++;
	}
	if (n)
		printf("%s / %s = %.3f, geometric mean of %u shapes\n", opt->arms[0].name,
		       opt->arms[1].name, exp(log_sum / n), n);
}

void csv_head(void)
{
	printf("m,k,n,types,arm,served,warm_ns,warm_low_ns,warm_high_ns,gops,");
	printf("cold_ns,create_ns,weights_ns,pack_ns,unpack_ns,npu_ns,predicted_ns,");
	printf("programs,emitted_cold,emitted_warm,image_hits,synced_bytes,");
	printf("cpu_ns,wrong,bound_used\n");
}

void csv_row(const struct options *opt, const struct row *row)
{
	const struct shape *s = &row->shape;
	unsigned int k;

	for (k = 0; k < opt->num_arms; k++) {
		const struct result *r = &row->arm[k];

		printf("%u,%u,%u,%s,%s,%d", s->m, s->k, s->n, type_names[s->types],
		       opt->arms[k].name, r->served);
		if (!r->served) {
			printf(",,,,,,,,,,,,,,,,,,,\n");
			continue;
		}
		printf(",%llu,%llu,%llu,%.6g", (unsigned long long)r->warm.median,
		       (unsigned long long)r->warm.low, (unsigned long long)r->warm.high,
		       gops(s, r->warm.median));
		printf(",%llu,%llu,%llu,%llu,%llu,%llu,%llu", (unsigned long long)r->cold.median,
		       (unsigned long long)r->create.median, (unsigned long long)r->weights_ns,
		       (unsigned long long)r->pack.median, (unsigned long long)r->unpack.median,
		       (unsigned long long)r->npu_ns, (unsigned long long)r->predicted_ns);
		printf(",%u,%llu,%llu,", r->programs, (unsigned long long)r->emitted_cold,
		       (unsigned long long)r->emitted_warm);
		if (r->hits >= 0)
			printf("%lld", (long long)r->hits);
		printf(",");
		if (r->synced >= 0)
			printf("%lld", (long long)r->synced);
		printf(",%llu,%llu,%.6g\n", (unsigned long long)row->cpu_ns,
		       (unsigned long long)r->wrong, r->bound_used);
	}
}
