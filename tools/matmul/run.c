// SPDX-License-Identifier: MIT
/* On the NPU, and from its result to what is written. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/rkmm_compute.h"
#include "matmul.h"

static size_t raw_size(uint32_t types)
{
	switch (types) {
	case DRM_RKMM_I8I8:
		return 1;
	case DRM_RKMM_F16F16:
	case DRM_RKMM_I4I16:
		return 2;
	default:
		return 4;
	}
}

int32_t raw_int(const struct job *job, size_t i)
{
	switch (job->types) {
	case DRM_RKMM_I8I8:
		return ((const int8_t *)job->raw)[i];
	case DRM_RKMM_I4I16:
		return ((const int16_t *)job->raw)[i];
	default:
		return ((const int32_t *)job->raw)[i];
	}
}

float raw_float(const struct job *job, size_t i)
{
	float f;

	if (job->types == DRM_RKMM_F16F32)
		return ((const float *)job->raw)[i];
	rkmm_f16_to_f32((const uint16_t *)job->raw + i, &f, 1);
	return f;
}

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static int compare_u64(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

	return (a > b) - (a < b);
}

static uint64_t median(uint64_t *v, unsigned int count)
{
	qsort(v, count, sizeof(*v), compare_u64);
	return v[count / 2];
}

static void need(int ret)
{
	if (ret)
		die(EXIT_FAILED, "%s", rkmm_last_error());
}

void job_run(struct job *job)
{
	const struct options *opt = job->opt;
	const struct rkmm_matmul_desc desc = {
		.types = job->types,
		.m = (uint32_t)job->a.rows,
		.k = (uint32_t)job->a.cols,
		.n = (uint32_t)job->b.cols,
		.cores = opt->cores,
		.form = (uint32_t)opt->form,
		/* As rkmm_matmul(): B is packed for this plan alone. */
		.flags = job->types == DRM_RKMM_I4I16 ? 0 : RKMM_FREE_SLICES,
		.mult = job->types == DRM_RKMM_I8I8 ? (int32_t)(opt->mult ? opt->mult : 1) : 0,
		.shift = job->types == DRM_RKMM_I8I8 ? (uint32_t)opt->shift : 0,
		.offset = job->types == DRM_RKMM_I8I8 ? (int32_t)opt->offset : 0,
	};
	uint64_t *pack, *run, *unpack, start, t;
	const struct rkmm_plan *plan;
	struct rkmm_context *ctx;
	struct rkmm_weights *w;
	struct rkmm_device *dev;
	unsigned int i;

	need(rkmm_open(opt->device, &dev));
	need(rkmm_device_info(dev, &job->info));
	if ((uint64_t)opt->cores >> job->info.cores)
		die(EXIT_FAILED, "--cores 0x%x: the device has %u cores", opt->cores,
		    job->info.cores);
	/* The context first: a shape that is not served is refused before B is packed. */
	need(rkmm_context_create(dev, &desc, NULL, &ctx));
	plan = rkmm_context_plan(ctx);
	start = now();
	need(rkmm_weights_create_for(plan, job->b.data, job->b.transposed ? desc.k : desc.n,
				     job->b.transposed ? RKMM_B_TRANSPOSED : 0, &w));
	job->ns_weights = now() - start;
	job->programs = rkmm_plan_programs(plan);
	job->predicted_ns = rkmm_plan_predicted_ns(plan);
	job->plan_flags = rkmm_plan_flags(plan);
	if (rkmm_plan_b(plan)->slices > 1)
		job->slice = rkmm_plan_b(plan)->slice;
	job->raw = allocate((size_t)desc.m * desc.n, raw_size(job->types));

	pack = allocate(opt->repeat, 3 * sizeof(*pack));
	run = pack + opt->repeat;
	unpack = run + opt->repeat;
	for (i = 0; i < opt->repeat; i++) {
		start = now();
		need(rkmm_pack_a(rkmm_plan_a(plan), rkmm_context_a(ctx), job->a.data, desc.k,
				 desc.m, desc.k));
		t = now();
		pack[i] = t - start;
		need(rkmm_context_run(ctx, w, NULL, 0, NULL, 0, 0));
		start = now();
		run[i] = start - t;
		/* long K gives partial results, added here */
		need(rkmm_finish_c(plan, rkmm_context_c(ctx), job->raw, desc.n, desc.m));
		unpack[i] = now() - start;
	}
	job->ns_pack = median(pack, opt->repeat);
	job->ns_run = median(run, opt->repeat);
	job->ns_unpack = median(unpack, opt->repeat);
	free(pack);
	need(rkmm_device_info(dev, &job->info));

	rkmm_context_destroy(ctx);
	rkmm_weights_destroy(w);
	rkmm_close(dev);
}

/* Integers to the floats they stand for. */
static void dequantise_all(struct job *job)
{
	size_t rows = job->a.rows, cols = job->b.cols;
	const float *a = job->a.scale, *b = job->b.scale;
	float *x = job->c.data;
	int ret;

	if (job->out == NPY_F16)
		x = allocate(rows * cols, sizeof(*x));
	ret = job->types == DRM_RKMM_I4I16 ?
	      rkmm_dequantise_i16(job->raw, rows, cols, cols, a, b, x, cols) :
	      rkmm_dequantise_i32(job->raw, rows, cols, cols, a, b, x, cols);
	if (ret)
		die(EXIT_FAILED, "the result cannot be made float");
	if (job->out == NPY_F16) {
		rkmm_f32_to_f16(x, job->c.data, rows * cols);
		free(x);
	}
}

void job_convert(struct job *job)
{
	size_t i, count = job->a.rows * job->b.cols;

	job->c.type = job->out;
	job->c.rows = job->a.rows;
	job->c.cols = job->b.cols;
	job->c.data = allocate(count, npy_size(job->out));
	if (job->types == DRM_RKMM_I4I16)
		for (i = 0; i < count; i++)
			job->limits += raw_int(job, i) == INT16_MIN || raw_int(job, i) == INT16_MAX;
	if (job->quantised)
		dequantise_all(job);
	else if (job->types == DRM_RKMM_I4I16 && job->out == NPY_I32)
		for (i = 0; i < count; i++)
			((int32_t *)job->c.data)[i] = raw_int(job, i);
	else
		memcpy(job->c.data, job->raw, count * npy_size(job->out));
}
