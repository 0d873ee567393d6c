// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "matmul.h"

static const struct {
	const char *id, *in, *out;
} names[] = {
	[DRM_RKMM_I8I32] = { "i8i32", "int8", "int32" },
	[DRM_RKMM_I8I8] = { "i8i8", "int8", "int8" },
	[DRM_RKMM_F16F32] = { "f16f32", "float16", "float32" },
	[DRM_RKMM_F16F16] = { "f16f16", "float16", "float16" },
	[DRM_RKMM_I4I16] = { "i4i16", "int4", "int16" },
};

static double gops(const struct job *job)
{
	double ops = 2.0 * (double)job->a.rows * (double)job->a.cols * (double)job->b.cols;

	/* Operations per nanosecond; a clock may tell no time at all. */
	return ops / (double)(job->ns_run ? job->ns_run : 1);
}

static void report_text(const struct job *job, const struct verdict *v)
{
	const struct drm_rkmm_device_info *info = &job->info;
	bool soft = info->flags & DRM_RKMM_DEVICE_SOFT;

	printf("shape   M=%zu K=%zu N=%zu\n", job->a.rows, job->a.cols, job->b.cols);
	printf("types   A %s, B %s; on the NPU %s x %s -> %s; C %s\n", npy_name(job->a.type),
	       npy_name(job->b.type), names[job->types].in, names[job->types].in,
	       names[job->types].out, npy_name(job->out));
	printf("device  %s%s, %u cores, %" PRIu64 " MHz\n", info->chip,
	       soft ? " (software model)" : "", info->cores,
	       (uint64_t)info->clock_hz / 1000000);
	printf("plan    %u programs, predicted %.3f ms on one core\n", job->programs,
	       (double)job->predicted_ns / 1e6);
	printf("time    %.3f ms", (double)job->ns_run / 1e6);
	if (job->opt->repeat > 1)
		printf(", median of %u", job->opt->repeat);
	printf(" (besides: pack A %.3f ms, unpack C %.3f ms, pack B once %.3f ms)\n",
	       (double)job->ns_pack / 1e6, (double)job->ns_unpack / 1e6,
	       (double)job->ns_weights / 1e6);
	printf("speed   %.3f GOP/s%s\n", gops(job),
	       soft ? " of the software model, not of silicon" : "");
	if (job->limits)
		printf("limits  %zu elements are at the end of int16 and may be saturated\n",
		       job->limits);
	if (!v)
		return;
	printf("verify  quantised reference: ");
	if (types_float(job->types)) {
		printf("%s, max error %.3g, relative %.3g, %.1f %% of the bound used",
		       v->ok ? "within the bound" : "WRONG", v->quantised.max,
		       v->quantised.relative, 100 * v->bound);
		if (!v->ok)
			printf(", %zu elements beyond it", v->wrong);
		printf("\n");
	} else if (v->ok) {
		printf("bit-exact, %zu elements\n", job->a.rows * job->b.cols);
	} else {
		printf("WRONG in %zu of %zu elements, max error %.17g\n", v->wrong,
		       job->a.rows * job->b.cols, v->quantised.max);
	}
	printf("        original reference: max error %.3g, relative %.3g\n", v->original.max,
	       v->original.relative);
}

/* JSON has no infinities and no NaN. */
static void json_number(const char *key, double x, const char *behind)
{
	if (isfinite(x))
		printf("\"%s\": %.9g%s", key, x, behind);
	else
		printf("\"%s\": null%s", key, behind);
}

static void json_error(const char *key, const struct error_stats *e, const char *behind)
{
	printf("\"%s\": {", key);
	json_number("max", e->max, ", ");
	json_number("relative", e->relative, "}");
	printf("%s", behind);
}

static void report_json(const struct job *job, const struct verdict *v)
{
	const struct drm_rkmm_device_info *info = &job->info;

	printf("{\"m\": %zu, \"k\": %zu, \"n\": %zu, \"types\": \"%s\", ", job->a.rows,
	       job->a.cols, job->b.cols, names[job->types].id);
	printf("\"a\": \"%s\", \"b\": \"%s\", \"c\": \"%s\", \"quantised\": %s,\n",
	       npy_name(job->a.type), npy_name(job->b.type), npy_name(job->out),
	       job->quantised ? "true" : "false");
	printf(" \"device\": {\"chip\": \"%s\", \"soft\": %s, \"cores\": %u, ", info->chip,
	       info->flags & DRM_RKMM_DEVICE_SOFT ? "true" : "false", info->cores);
	printf("\"clock_hz\": %" PRIu64 "},\n", (uint64_t)info->clock_hz);
	printf(" \"programs\": %u, \"predicted_ns\": %" PRIu64 ", \"repeat\": %u,\n", job->programs,
	       job->predicted_ns, job->opt->repeat);
	printf(" \"time_ns\": {\"weights\": %" PRIu64 ", \"pack\": %" PRIu64, job->ns_weights,
	       job->ns_pack);
	printf(", \"run\": %" PRIu64 ", \"unpack\": %" PRIu64 "},\n", job->ns_run,
	       job->ns_unpack);
	printf(" ");
	json_number("gops", gops(job), ", ");
	printf("\"at_limits\": %zu", job->limits);
	if (v) {
		printf(",\n \"verify\": {\"ok\": %s, \"wrong\": %zu, ", v->ok ? "true" : "false",
		       v->wrong);
		json_error("quantised", &v->quantised, ", ");
		json_error("original", &v->original, types_float(job->types) ? ", " : "");
		if (types_float(job->types))
			json_number("bound_used", v->bound, "");
		printf("}");
	}
	printf("}\n");
}

void job_report(const struct job *job, const struct verdict *v)
{
	if (job->opt->json)
		report_json(job, v);
	else
		report_text(job, v);
}
