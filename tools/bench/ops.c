// SPDX-License-Identifier: MIT
/* --ops: each operation that is no matmul, measured and checked. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ops.h"

/**
 * struct operand - one operand in its buffer
 * @buf: owned, NULL for none
 * @map: mapping
 * @v: the same as plain numbers, row-major
 */
struct operand {
	struct rkmm_buffer *buf;
	uint8_t *map;
	double *v;
};

/* Numbers that fp16 and int8 hold, packed; as plain numbers too */
static void fill(struct rkmm_device *dev, const struct drm_rkmm_tensor *t, uint32_t rows,
		 uint32_t cols, double lo, double hi, uint64_t *seed, struct operand *o)
{
	const size_t count = (size_t)rows * cols;
	float *f = allocate(count, sizeof(*f));
	uint16_t *half = allocate(count, sizeof(*half));
	int8_t *bytes = allocate(count, 1);
	void *map;
	size_t i;

	o->v = allocate(count, sizeof(*o->v));
	for (i = 0; i < count; i++) {
		double u = (double)(random_next(seed) >> 11) / (double)(1ull << 53);

		f[i] = (float)(lo + (hi - lo) * u);
		bytes[i] = (int8_t)rint((double)f[i]);
	}
	rkmm_f32_to_f16(f, half, count);
	rkmm_f16_to_f32(half, f, count);
	for (i = 0; i < count; i++)
		o->v[i] = t->bits == 8 ? bytes[i] : (double)f[i];
	need(rkmm_buffer_create(dev, t->size, &o->buf));
	need(rkmm_buffer_map(o->buf, &map));
	o->map = map;
	need(rkmm_buffer_begin(o->buf, 0, t->size, RKMM_WRITE, RKMM_FOREVER));
	if (t->layout == DRM_RKMM_LAYOUT_WEIGHT)
		need(rkmm_pack_b(t, map, half, cols, rows, cols, 0));
	else
		need(rkmm_pack_a(t, map, t->bits == 8 ? (void *)bytes : (void *)half, cols, rows,
				 cols));
	need(rkmm_buffer_end(o->buf, 0, t->size, RKMM_WRITE));
	free(f);
	free(half);
	free(bytes);
}

static void empty(struct operand *o)
{
	rkmm_buffer_destroy(o->buf);
	free(o->v);
}

/* Rows and columns of the result that mean something */
static void result_size(const struct rkmm_op_desc *d, const struct drm_rkmm_tensor *t,
			uint32_t *rows, uint32_t *cols)
{
	const bool sums = d->kind == DRM_RKMM_OP_ROWSUM || d->kind == DRM_RKMM_OP_ROWMEAN;
	const bool pool = d->kind == DRM_RKMM_OP_MAXPOOL || d->kind == DRM_RKMM_OP_AVGPOOL;

	*rows = pool ? t->rows : d->m;
	*cols = d->kind == DRM_RKMM_OP_ROWMAX ? 1 : sums ? t->cols : d->n;
}

/* Elements that are too far off; the largest part of what is allowed in *off. */
static uint64_t compare(const struct op_case *c, const struct drm_rkmm_tensor *t,
			const struct operand *out, const double *want,
			const double *allowed, double *off)
{
	uint32_t rows, cols;
	double diff, got;
	uint64_t wrong = 0;
	uint16_t *half;
	size_t i, count;
	float f;

	result_size(&c->desc, t, &rows, &cols);
	count = (size_t)rows * cols;
	half = allocate(count, sizeof(*half));
	need(rkmm_buffer_begin(out->buf, 0, t->size, RKMM_READ, RKMM_FOREVER));
	need(rkmm_unpack_c(t, out->map, half, cols, rows, cols));
	need(rkmm_buffer_end(out->buf, 0, t->size, RKMM_READ));
	for (i = 0; i < count; i++) {
		rkmm_f16_to_f32(&half[i], &f, 1);
		got = t->bits == 8 ? ((const int8_t *)half)[i] : (double)f;
		diff = fabs(got - want[i]);
		/* Written so that a NaN is wrong. */
		if (!(diff <= allowed[i]))
			wrong++;
		else if (diff > 0)
			*off = fmax(*off, diff / allowed[i]);
	}
	free(half);
	return wrong;
}

static void run_all(struct rkmm_device *dev, const struct options *opt, const struct op_case *c,
		    const struct rkmm_op *op, const struct operand *out, const double *want,
		    const double *allowed, struct op_result *res)
{
	uint64_t *times = allocate(opt->repeat, 2 * sizeof(*times)), *npu = times + opt->repeat;
	const struct drm_rkmm_tensor *t = rkmm_plan_c(op->plan);
	struct counters before, after;
	unsigned int i;
	uint64_t start;

	for (i = 0; i <= opt->repeat; i++) {
		need(rkmm_buffer_begin(out->buf, 0, t->size, RKMM_WRITE, RKMM_FOREVER));
		memset(out->map, 0x55, t->size);
		need(rkmm_buffer_end(out->buf, 0, t->size, RKMM_WRITE));
		counters_read(dev, &before);
		start = now();
		need(rkmm_submit_wait(dev, op, 1, NULL));
		start = now() - start;
		counters_read(dev, &after);
		res->wrong += compare(c, t, out, want, allowed, &res->off);
		if (!i) {
			res->cold = start;
			continue;
		}
		times[i - 1] = start;
		npu[i - 1] = after.npu_ns - before.npu_ns;
	}
	res->warm = spread_of(times, opt->repeat);
	res->npu_ns = spread_of(npu, opt->repeat).median;
	free(times);
}

/* Vectors are one row; a bias is the weights of a matmul with K = 1. */
static void fill_other(struct rkmm_device *dev, const struct op_case *c,
		       const struct drm_rkmm_tensor *t, uint64_t *seed, struct operand *o)
{
	const bool row = t->layout != DRM_RKMM_LAYOUT_CUBE;
	/* nothing is divided by numbers near 0 */
	const bool div = c->desc.kind == DRM_RKMM_OP_DIV;

	if (t->size)
		fill(dev, t, row ? 1 : c->desc.m, c->desc.n, div ? 1 : c->lo, c->hi, seed, o);
}

static void measure_op(struct rkmm_device *dev, const struct options *opt, struct op_case c,
		       struct op_result *res)
{
	struct operand a = { 0 }, b = { 0 }, d = { 0 }, out = { 0 };
	uint64_t seed = opt->seed, start;
	uint32_t rows, cols;
	struct rkmm_plan *plan;
	struct rkmm_op op;
	double *want, *allowed;
	void *map;
	int ret = rkmm_plan_create_op(dev, &c.desc, &plan);

	memset(res, 0, sizeof(*res));
	if (ret == -EOPNOTSUPP) {
		snprintf(res->reason, sizeof(res->reason), "%s", rkmm_last_error());
		return;
	}
	need(ret);
	res->served = true;
	res->evidence = rkmm_plan_evidence(plan);
	res->tasks = rkmm_plan_programs(plan);
	res->predicted_ns = rkmm_plan_predicted_ns(plan);
	fill(dev, rkmm_plan_a(plan), c.desc.m, c.desc.n, c.lo, c.hi, &seed, &a);
	fill_other(dev, &c, rkmm_plan_b(plan), &seed, &b);
	fill_other(dev, &c, rkmm_plan_d(plan), &seed, &d);
	need(rkmm_buffer_create(dev, rkmm_plan_c(plan)->size, &out.buf));
	need(rkmm_buffer_map(out.buf, &map));
	out.map = map;
	result_size(&c.desc, rkmm_plan_c(plan), &rows, &cols);
	want = allocate((size_t)rows * cols, 2 * sizeof(*want));
	allowed = want + (size_t)rows * cols;
	start = now();
	op_reference(&c, a.v, b.v, d.v, want, allowed, rows, cols);
	res->cpu_ns = now() - start;
	op = (struct rkmm_op) {
		.plan = plan, .a = { a.buf, 0 }, .b = { b.buf, 0 }, .c = { out.buf, 0 },
		.d = { d.buf, 0 },
	};
	run_all(dev, opt, &c, &op, &out, want, allowed, res);
	empty(&a);
	empty(&b);
	empty(&d);
	empty(&out);
	free(want);
	rkmm_plan_destroy(plan);
}

int bench_ops(const struct options *opt)
{
	struct op_result *results = allocate(num_op_cases, sizeof(*results));
	struct rkmm_device *dev;
	struct machine machine;
	uint32_t rows, cols;
	unsigned int i, wrong = 0;

	need(rkmm_open(opt->device, &dev));
	machine_read(&machine, dev, "/");
	/* A model takes as long as its loops do. */
	rows = machine.info.flags & DRM_RKMM_DEVICE_SOFT ? 32 : 256;
	cols = machine.info.flags & DRM_RKMM_DEVICE_SOFT ? 72 : 1024;
	if (opt->output == OUTPUT_TABLE)
		ops_head(&machine, rows, cols);
	for (i = 0; i < num_op_cases; i++) {
		struct op_case c = op_cases[i];

		c.desc.m = rows;
		c.desc.n = cols;
		if (!opt->quiet && isatty(STDERR_FILENO))
			fprintf(stderr, "\r\033[K%s", c.name);
		measure_op(dev, opt, c, &results[i]);
		if (!opt->quiet && isatty(STDERR_FILENO))
			fprintf(stderr, "\r\033[K");
		wrong += results[i].wrong > 0;
		if (opt->output == OUTPUT_TABLE)
			ops_row(&c, &results[i]);
	}
	if (opt->output == OUTPUT_JSON)
		ops_json(&machine, opt, rows, cols, results);
	rkmm_close(dev);
	free(results);
	if (wrong)
		die(EXIT_FAILED, "%u operations gave wrong results", wrong);
	return EXIT_OK;
}
