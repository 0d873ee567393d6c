// SPDX-License-Identifier: MIT
#include "bench.h"

void json_string(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else if ((unsigned char)*s < 0x20)
			printf("\\u%04x", *s);
		else
			putchar(*s);
	}
	putchar('"');
}

void json_machine(const struct machine *m)
{
	printf("\"device\": {\"chip\": ");
	json_string(m->info.chip);
	printf(", \"soft\": %s, \"cores\": %u, ",
	       m->info.flags & DRM_RKMM_DEVICE_SOFT ? "true" : "false", m->info.cores);
	printf("\"clock_hz\": %llu, \"clock_max_hz\": %llu, \"driver\": ",
	       (unsigned long long)m->info.clock_hz, (unsigned long long)m->info.clock_max_hz);
	json_string(m->driver);
	printf(", \"librkmm\": ");
	json_string(rkmm_version_string());
	printf("},\n \"system\": {\"kernel\": ");
	json_string(m->kernel);
	printf(", \"cpu_governors\": ");
	json_string(m->cpu);
	printf(", \"ddr_governor\": ");
	json_string(m->ddr);
	printf(", \"settled\": %s, \"times_emulated\": %s}", m->settled ? "true" : "false",
	       m->info.flags & DRM_RKMM_DEVICE_SOFT ? "true" : "false");
}

static void spread(const char *key, const struct spread *s)
{
	printf("\"%s\": {\"median\": %llu, \"low\": %llu, \"high\": %llu, \"count\": %u}, ", key,
	       (unsigned long long)s->median, (unsigned long long)s->low,
	       (unsigned long long)s->high, s->count);
}

static void counter(const char *key, int64_t v)
{
	if (v < 0)
		printf("\"%s\": null, ", key);
	else
		printf("\"%s\": %lld, ", key, (long long)v);
}

static void result(const struct shape *s, const struct arm *arm, const struct result *r)
{
	printf("{\"arm\": ");
	json_string(arm->name);
	if (!r->served) {
		printf(", \"served\": false, \"reason\": ");
		json_string(r->reason);
		printf("}");
		return;
	}
	printf(", \"served\": true, \"programs\": %u, \"predicted_ns\": %llu,\n    ", r->programs,
	       (unsigned long long)r->predicted_ns);
	spread("warm_ns", &r->warm);
	spread("cold_ns", &r->cold);
	spread("create_ns", &r->create);
	printf("\n    ");
	spread("pack_ns", &r->pack);
	spread("unpack_ns", &r->unpack);
	printf("\"weights_ns\": %llu, \"npu_ns\": %llu,\n    ", (unsigned long long)r->weights_ns,
	       (unsigned long long)r->npu_ns);
	printf("\"gops\": %.6g, \"emitted_cold\": %llu, \"emitted_warm\": %llu, ",
	       shape_ops(s) / (double)(r->warm.median ? r->warm.median : 1),
	       (unsigned long long)r->emitted_cold, (unsigned long long)r->emitted_warm);
	counter("image_hits", r->hits);
	counter("synced_bytes", r->synced);
	printf("\"wrong\": %llu", (unsigned long long)r->wrong);
	if (types_float(s->types))
		printf(", \"bound_used\": %.6g", r->bound_used);
	printf("}");
}

void json_report(const struct options *opt, const struct machine *m, const struct row *rows,
		 unsigned int count)
{
	unsigned int i, k;

	printf("{");
	json_machine(m);
	printf(",\n \"repeat\": %u, \"seed\": %llu, \"results\": [", opt->repeat,
	       (unsigned long long)opt->seed);
	for (i = 0; i < count; i++) {
		const struct row *row = &rows[i];
		const struct shape *s = &row->shape;
		uint64_t b = opt->num_arms > 1 ? row->arm[1].warm.median : 0;

		printf("%s\n  {\"m\": %u, \"k\": %u, \"n\": %u, ", i ? "," : "", s->m, s->k, s->n);
		printf("\"types\": \"%s\", \"cpu_ns\": %llu, ", type_names[s->types],
		       (unsigned long long)row->cpu_ns);
		if (b)
			printf("\"ratio\": %.6g, ", (double)row->arm[0].warm.median / (double)b);
		printf("\"arms\": [\n   ");
		for (k = 0; k < opt->num_arms; k++) {
			if (k)
				printf(",\n   ");
			result(s, &opt->arms[k], &row->arm[k]);
		}
		printf("]}");
	}
	printf("]}\n");
}
