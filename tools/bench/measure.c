// SPDX-License-Identifier: MIT
/* One shape: cold and warm runs, every result checked. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

#define COLD_RUNS	3u

/**
 * struct lane - a shape in one arm while it is measured
 * @desc: what is asked for
 * @weights: B
 * @ctx: of the last cold run, then of all warm ones
 * @arm: how
 * @repeat: where it is done several times at once; NULL for once
 * @before: counters before the warm runs
 * @warm: times
 * @pack: times
 * @unpack: times
 * @npu: times on cores
 */
struct lane {
	struct rkmm_matmul_desc desc;
	struct rkmm_weights *weights;
	struct rkmm_context *ctx;
	const struct arm *arm;
	struct repeat *repeat;
	struct counters before;
	uint64_t *warm;
	uint64_t *pack;
	uint64_t *unpack;
	uint64_t *npu;
};

/* A key of fdinfo; -1 when the driver does not have it. */
static int64_t fdinfo_key(int fd, const char *key)
{
	char path[64], line[160];
	size_t len = strlen(key);
	int64_t value = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "r");
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, key, len) && line[len] == ':')
			value = strtoll(line + len + 1, NULL, 10);
	fclose(f);
	return value;
}

void counters_read(struct rkmm_device *dev, struct counters *c)
{
	struct drm_rkmm_client_info info;

	need(rkmm_client_info(dev, &info));
	c->emitted = info.programs_emitted;
	c->npu_ns = info.npu_ns;
	c->synced = fdinfo_key(rkmm_fd(dev), "rkmm-synced-bytes");
	c->hits = fdinfo_key(rkmm_fd(dev), "rkmm-image-hits");
}

static uint32_t arm_mask(const struct arm *arm, const struct machine *machine)
{
	uint32_t mask = 0, left = machine->info.core_mask, i;

	for (i = 0; arm->mask >> i; i++)
		if (arm->mask >> i & 1 && !(left >> i & 1))
			die(EXIT_USAGE, "%s: no core %u is in service; the mask is 0x%x",
			    arm->name, i, left);
	if (arm->mask)
		return arm->mask;
	for (i = 0; i < arm->cores && left; i++, left &= left - 1)
		mask |= left & -left;
	if (i < arm->cores)
		die(EXIT_USAGE, "%s: the device has %u cores", arm->name, machine->info.cores);
	return mask;
}

static void progress(const struct options *opt, const char *shape, const char *what,
		     unsigned int i, unsigned int of)
{
	if (!opt->quiet && isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K%s: %s %u/%u", shape, what, i + 1, of);
}

/* The same several times at once: times of one. Results but the last one are checked here. */
static uint64_t run_repeat(struct lane *lane, struct data *d, uint64_t *ran, uint64_t *unpack)
{
	uint32_t times = lane->arm->times, i;
	uint64_t wrong = 0, start;
	double bound;

	repeat_load(lane->repeat, rkmm_context_a(lane->ctx));
	start = now();
	repeat_run(lane->repeat);
	*ran = (now() - start) / times;
	for (i = 0; i < times; i++) {
		if (i)
			wrong += data_check(d, &bound);
		memset(d->c, 0x55, (size_t)d->shape.m * d->shape.n * d->c_size);
		start = now();
		repeat_read(lane->repeat, i, d->c, &d->shape);
		*unpack = now() - start;
	}
	return wrong;
}

/* Pack, run, read; the three times. Returns what is known to be wrong, besides the last result. */
static uint64_t run(struct lane *lane, struct data *d, uint64_t *pack, uint64_t *ran,
		    uint64_t *unpack)
{
	const struct rkmm_plan *plan = rkmm_context_plan(lane->ctx);
	uint64_t t[4];

	memset(d->c, 0x55, (size_t)d->shape.m * d->shape.n * d->c_size);
	t[0] = now();
	need(rkmm_pack_a(rkmm_plan_a(plan), rkmm_context_a(lane->ctx), d->a, d->shape.k,
			 d->shape.m, d->shape.k));
	t[1] = now();
	*pack = t[1] - t[0];
	if (lane->repeat)
		return run_repeat(lane, d, ran, unpack);
	need(rkmm_context_run(lane->ctx, lane->weights, NULL, 0, NULL, 0, 0));
	t[2] = now();
	need(rkmm_context_read(lane->ctx, d->c, d->shape.n));
	t[3] = now();
	*ran = t[2] - t[1];
	*unpack = t[3] - t[2];
	return 0;
}

/* New plan and new buffers each time; the weights stay. False: not served. */
static bool cold(struct rkmm_device *dev, const struct options *opt, struct lane *lane,
		 struct data *d, struct result *res, const char *name)
{
	unsigned int i, runs = opt->repeat < COLD_RUNS ? opt->repeat : COLD_RUNS;
	uint64_t create[COLD_RUNS], times[COLD_RUNS], pack, unpack, start;
	struct counters before, after;
	int ret;

	for (i = 0; i < runs; i++) {
		progress(opt, name, "cold", i, runs);
		rkmm_context_destroy(lane->ctx);
		start = now();
		ret = rkmm_context_create(dev, &lane->desc, lane->weights, &lane->ctx);
		create[i] = now() - start;
		if (ret == -EOPNOTSUPP) {
			snprintf(res->reason, sizeof(res->reason), "%s", rkmm_last_error());
			return false;
		}
		need(ret);
		if (!lane->weights) {
			start = now();
			need(rkmm_weights_create(dev, lane->desc.types, lane->desc.k, lane->desc.n,
						 d->b, lane->desc.n, 0, &lane->weights));
			res->weights_ns = now() - start;
			/* Weights made for the device's taste; the context must have the same. */
			rkmm_context_destroy(lane->ctx);
			start = now();
			need(rkmm_context_create(dev, &lane->desc, lane->weights, &lane->ctx));
			create[i] = now() - start;
		}
		if (lane->arm->times) {
			repeat_free(lane->repeat);
			lane->repeat = repeat_new(dev, lane->arm, lane->desc.cores,
						  rkmm_context_plan(lane->ctx), lane->weights);
		}
		counters_read(dev, &before);
		res->wrong += run(lane, d, &pack, &times[i], &unpack);
		counters_read(dev, &after);
		res->emitted_cold = after.emitted - before.emitted;
		res->wrong += data_check(d, &res->bound_used);
	}
	res->served = true;
	res->create = spread_of(create, runs);
	res->cold = spread_of(times, runs);
	res->programs = rkmm_plan_programs(rkmm_context_plan(lane->ctx));
	res->predicted_ns = rkmm_plan_predicted_ns(rkmm_context_plan(lane->ctx));
	res->flags = rkmm_plan_flags(rkmm_context_plan(lane->ctx));
	return true;
}

static void warm(struct rkmm_device *dev, struct lane *lane, unsigned int i, struct data *d,
		 struct result *res)
{
	struct counters before, after;

	counters_read(dev, &before);
	res->wrong += run(lane, d, &lane->pack[i], &lane->warm[i], &lane->unpack[i]);
	counters_read(dev, &after);
	lane->npu[i] = after.npu_ns - before.npu_ns;
	res->emitted_warm += after.emitted - before.emitted;
	res->synced = after.synced < 0 ? -1 : after.synced - before.synced;
	if (after.hits < 0)
		res->hits = -1;
	else
		res->hits += after.hits - before.hits;
	res->wrong += data_check(d, &res->bound_used);
}

static void warm_all(struct rkmm_device *dev, const struct options *opt, struct lane *lanes,
		     struct data *d, struct row *row, const char *name)
{
	unsigned int i, k, arm;

	/* A B B A: a drift of the machine hits both arms alike. */
	for (i = 0; i < opt->repeat; i++) {
		progress(opt, name, "warm", i, opt->repeat);
		for (k = 0; k < opt->num_arms; k++) {
			arm = i % 2 ? opt->num_arms - 1 - k : k;
			if (row->arm[arm].served)
				warm(dev, &lanes[arm], i, d, &row->arm[arm]);
		}
	}
	for (k = 0; k < opt->num_arms; k++) {
		struct result *res = &row->arm[k];

		if (!res->served)
			continue;
		res->warm = spread_of(lanes[k].warm, opt->repeat);
		res->pack = spread_of(lanes[k].pack, opt->repeat);
		res->unpack = spread_of(lanes[k].unpack, opt->repeat);
		res->npu_ns = spread_of(lanes[k].npu, opt->repeat).median;
	}
}

void measure(struct rkmm_device *dev, const struct machine *machine, const struct options *opt,
	     struct row *row)
{
	struct lane lanes[MAX_ARMS] = { 0 };
	struct data d;
	unsigned int k;
	char name[64];

	shape_text(&row->shape, name, sizeof(name));
	progress(opt, name, "reference", 0, 1);
	data_make(&d, &row->shape, opt->seed);
	row->cpu_ns = d.cpu_ns;
	for (k = 0; k < opt->num_arms; k++) {
		struct lane *lane = &lanes[k];

		lane->desc = (struct rkmm_matmul_desc) {
			.types = row->shape.types,
			.m = row->shape.m,
			.k = row->shape.k,
			.n = row->shape.n,
			.form = (uint32_t)(opt->arms[k].form < 0 ? opt->form :
						       opt->arms[k].form),
			.cores = arm_mask(&opt->arms[k], machine),
			.mult = d.mult,
			.shift = d.shift,
			.offset = d.offset,
		};
		lane->warm = allocate(opt->repeat, 4 * sizeof(uint64_t));
		lane->pack = lane->warm + opt->repeat;
		lane->unpack = lane->pack + opt->repeat;
		lane->npu = lane->unpack + opt->repeat;
		lane->arm = &opt->arms[k];
		die_use(lane->arm->die);
		cold(dev, opt, lane, &d, &row->arm[k], name);
	}
	die_use("");
	warm_all(dev, opt, lanes, &d, row, name);
	if (!opt->quiet && isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K");
	for (k = 0; k < opt->num_arms; k++) {
		repeat_free(lanes[k].repeat);
		rkmm_context_destroy(lanes[k].ctx);
		rkmm_weights_destroy(lanes[k].weights);
		free(lanes[k].warm);
	}
	data_free(&d);
}
