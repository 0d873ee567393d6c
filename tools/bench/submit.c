// SPDX-License-Identifier: MIT
/*
 * What a submission costs on the CPU. ioctls are made by hand, so that no other
 * code is measured with them. Where time is counted in instructions (vboard run
 * --icount), nanoseconds are instructions.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "submit.h"

static int call(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) ? -errno : 0;
}

static void must(int ret, const char *what)
{
	if (ret)
		die(EXIT_FAILED, "%s: %s", what, strerror(-ret));
}

static void span_begin(struct span *span)
{
	span->cpu = thread_now();
	span->start = now();
}

static void span_end(struct span *span)
{
	span->end = now();
	span->cpu = thread_now() - span->cpu;
}

static void buffer(struct rig *rig, unsigned int i, uint64_t size)
{
	struct drm_rkmm_bo_create *bo = &rig->bo[i];

	*bo = (struct drm_rkmm_bo_create) { .size = size };
	must(call(rig->fd, DRM_IOCTL_RKMM_BO_CREATE, bo), "BO_CREATE");
	rig->map[i] = mmap(NULL, bo->size, PROT_READ | PROT_WRITE, MAP_SHARED, rig->fd,
			   (off_t)bo->mmap_offset);
	if (rig->map[i] == MAP_FAILED)
		die(EXIT_FAILED, "mmap: %s", strerror(errno));
}

static void buffer_free(struct rig *rig, unsigned int i)
{
	struct drm_gem_close req = { .handle = rig->bo[i].handle };

	munmap(rig->map[i], rig->bo[i].size);
	must(call(rig->fd, DRM_IOCTL_GEM_CLOSE, &req), "GEM_CLOSE");
}

static void sync_buffer(struct rig *rig, unsigned int i, uint32_t flags)
{
	struct drm_rkmm_bo_sync req = {
		.handle = rig->bo[i].handle,
		.flags = flags,
		.size = rig->bo[i].size,
		.deadline_ns = INT64_MAX,
	};

	must(call(rig->fd, DRM_IOCTL_RKMM_BO_SYNC, &req), "BO_SYNC");
}

static void plan_make(struct rig *rig)
{
	uint32_t reason;
	int ret;

	rig->plan = (struct drm_rkmm_plan_create) {
		.types = rig->shape.types,
		.m = rig->shape.m,
		.k = rig->shape.k,
		.n = rig->shape.n,
		.mult = rig->data.mult,
		.shift = rig->data.shift,
		.offset = rig->data.offset,
	};
	ret = call(rig->fd, DRM_IOCTL_RKMM_PLAN_CREATE, &rig->plan);
	reason = rig->plan.reason;
	if (ret == -EOPNOTSUPP)
		die(EXIT_FAILED, "the shape is not served: %s", rkmm_reason_string(reason));
	must(ret, "PLAN_CREATE");
}

static void plan_free(struct rig *rig)
{
	struct drm_rkmm_plan_destroy req = { .plan = rig->plan.plan };

	must(call(rig->fd, DRM_IOCTL_RKMM_PLAN_DESTROY, &req), "PLAN_DESTROY");
}

static void wait_for(struct rig *rig, uint64_t seqno)
{
	struct drm_rkmm_wait req = { .seqno = seqno, .deadline_ns = INT64_MAX };
	int ret;

	do
		ret = call(rig->fd, DRM_IOCTL_RKMM_WAIT, &req);
	while (ret == -EINTR);
	must(ret ? ret : req.result, "WAIT");
}

static void prepare(const struct rig *rig, struct drm_rkmm_submit *req, struct drm_rkmm_op *op,
		    bool wait)
{
	*op = (struct drm_rkmm_op) {
		.plan = rig->plan.plan,
		.a.handle = rig->bo[0].handle,
		.a.offset = rig->at,
		.b.handle = rig->bo[1].handle,
		.c.handle = rig->bo[2].handle,
		.c.offset = rig->at,
	};
	*req = (struct drm_rkmm_submit) {
		.ops = { .stride = sizeof(*op), .count = 1, .array = (uintptr_t)op },
		.flags = wait ? DRM_RKMM_SUBMIT_WAIT : 0,
		.deadline_ns = wait ? INT64_MAX : 0,
	};
}

static struct span submit_flags(struct rig *rig, bool wait, uint32_t flags)
{
	struct drm_rkmm_submit req;
	struct drm_rkmm_op op;
	struct span span;
	int ret;

	prepare(rig, &req, &op, wait);
	req.flags |= flags;
	span_begin(&span);
	ret = call(rig->fd, DRM_IOCTL_RKMM_SUBMIT, &req);
	span_end(&span);
	must(ret, "SUBMIT");
	if (!wait || req.wait_status)
		wait_for(rig, req.seqno);
	else
		must(req.result, "submission");
	return span;
}

/* One submission; when it began and when the ioctl was back. It is over afterwards. */
static struct span submit(struct rig *rig, bool wait)
{
	return submit_flags(rig, wait, 0);
}

struct span submit_hinted(struct rig *rig, uint32_t hint)
{
	return submit_flags(rig, true, hint);
}

/*
 * Two submissions: the second is queued while the first runs, where that is long enough.
 * Nothing else gets the processor in between, as the software NPU's thread would.
 */
static struct span submit_two(struct rig *rig)
{
	const struct sched_param first = { .sched_priority = 1 }, usual = { .sched_priority = 0 };
	struct drm_rkmm_submit req;
	struct drm_rkmm_op op;
	struct span span;

	prepare(rig, &req, &op, false);
	/* As root; without, there may be nothing to be seen. */
	sched_setscheduler(0, SCHED_FIFO, &first);
	span_begin(&span);
	must(call(rig->fd, DRM_IOCTL_RKMM_SUBMIT, &req), "SUBMIT");
	must(call(rig->fd, DRM_IOCTL_RKMM_SUBMIT, &req), "SUBMIT");
	wait_for(rig, req.seqno);
	span_end(&span);
	sched_setscheduler(0, SCHED_OTHER, &usual);
	return span;
}

static void load(struct rig *rig)
{
	const struct shape *s = &rig->shape;

	need(rkmm_pack_a(&rig->plan.a, rig->map[0] + rig->at, rig->data.a, s->k, s->m, s->k));
	need(rkmm_pack_b(&rig->plan.b, rig->map[1], rig->data.b, s->n, s->k, s->n, 0));
	sync_buffer(rig, 0, DRM_RKMM_SYNC_WRITE | DRM_RKMM_SYNC_END);
	sync_buffer(rig, 1, DRM_RKMM_SYNC_WRITE | DRM_RKMM_SYNC_END);
}

void rig_open(struct rig *rig, const char *path)
{
	need(rkmm_open(path, &rig->dev));
	rig->fd = rkmm_fd(rig->dev);
	plan_make(rig);
	buffer(rig, 0, rig->plan.a.size);
	buffer(rig, 1, rig->plan.b.size);
	buffer(rig, 2, rig->plan.c.size);
	load(rig);
}

void rig_close(struct rig *rig)
{
	plan_free(rig);
	buffer_free(rig, 0);
	buffer_free(rig, 1);
	buffer_free(rig, 2);
	rkmm_close(rig->dev);
}

static void check(struct rig *rig)
{
	const struct shape *s = &rig->shape;
	double bound = 0;
	uint64_t wrong;

	/* Sums of partial results are the library's; --submit does without. */
	if (rig->plan.out_flags & DRM_RKMM_PLAN_HOST_FINISH)
		die(EXIT_USAGE, "--submit needs a shape whose result the NPU finishes");
	sync_buffer(rig, 2, DRM_RKMM_SYNC_READ);
	need(rkmm_unpack_c(&rig->plan.c, rig->map[2] + rig->at, rig->data.c, s->n, s->m, s->n));
	wrong = data_check(&rig->data, &bound);
	if (wrong)
		die(EXIT_FAILED, "%llu elements are WRONG", (unsigned long long)wrong);
}

static uint64_t less(uint64_t t, uint64_t clock)
{
	return t > clock ? t - clock : 0;
}

static uint64_t length(const struct rig *rig, struct span span)
{
	return less(span.end - span.start, rig->clock);
}

static uint64_t emitted(struct rig *rig)
{
	struct counters c;

	counters_read(rig->dev, &c);
	return c.emitted;
}

/* The calls that need no submission. */
static struct span other(struct rig *rig, enum what what)
{
	struct drm_rkmm_query query = { .id = DRM_RKMM_QUERY_DEVICE };
	struct drm_rkmm_plan_create plan = rig->plan;
	struct rig copy = *rig;
	struct span span;

	span_begin(&span);
	switch (what) {
	case SYSCALL:
		syscall(SYS_getppid);
		break;
	case QUERY:
		must(call(rig->fd, DRM_IOCTL_RKMM_QUERY, &query), "QUERY");
		break;
	case SYNC_END:
		sync_buffer(rig, 0, DRM_RKMM_SYNC_WRITE | DRM_RKMM_SYNC_END);
		break;
	case SYNC_BEGIN:
		sync_buffer(rig, 2, DRM_RKMM_SYNC_READ);
		break;
	default:
		plan_make(&copy);
		plan_free(&copy);
		break;
	}
	span_end(&span);
	rig->plan = plan;
	return span;
}

static struct span cold(struct rig *rig, bool buffers)
{
	struct span span;
	unsigned int i;

	plan_free(rig);
	plan_make(rig);
	if (buffers) {
		for (i = 0; i < 3; i++)
			buffer_free(rig, i);
		buffer(rig, 0, rig->plan.a.size);
		buffer(rig, 1, rig->plan.b.size);
		buffer(rig, 2, rig->plan.c.size);
		load(rig);
	}
	span = submit(rig, false);
	check(rig);
	return span;
}

/* A known plan at addresses that were never seen, after so many others that no image is new. */
static struct span moved(struct rig *rig, unsigned int i, unsigned int repeat)
{
	const uint64_t most = rig->plan.a.size > rig->plan.c.size ? rig->plan.a.size :
								    rig->plan.c.size;
	const uint64_t step = (most + 63) / 64 * 64;
	const unsigned int first = 16;
	struct span span;
	unsigned int k;
	uint64_t room;

	if (!i) {
		room = step * (first + repeat + 1);
		buffer_free(rig, 0);
		buffer_free(rig, 2);
		buffer(rig, 0, room);
		buffer(rig, 2, room);
		/* No buffer is mapped yet: what is written now is not cleaned later. */
		for (rig->at = 0; rig->at < room; rig->at += step)
			load(rig);
		rig->at = 0;
		for (k = 0; k < first; k++, rig->at += step)
			submit(rig, false);
	}
	span = submit(rig, false);
	check(rig);
	rig->at += step;
	if (i < repeat)
		return span;
	/* What is measured next finds no images but its own. */
	rig->at = 0;
	cold(rig, true);
	return span;
}

static struct span wait_done(struct rig *rig)
{
	struct drm_rkmm_submit req;
	struct drm_rkmm_op op;
	struct span span;

	prepare(rig, &req, &op, false);
	must(call(rig->fd, DRM_IOCTL_RKMM_SUBMIT, &req), "SUBMIT");
	wait_for(rig, req.seqno);
	span_begin(&span);
	wait_for(rig, req.seqno);
	span_end(&span);
	return span;
}

static void measure_all(struct rig *rig, unsigned int repeat, struct spread *out,
			struct spread *threads)
{
	uint64_t *v = allocate(repeat, 2 * sizeof(*v)), *cpu = v + repeat;
	struct span span;
	unsigned int w, i;

	for (w = 0; w < WHATS; w++) {
		/* One more, not counted, so that caches and allocators are warm. */
		for (i = 0; i <= repeat; i++) {
			switch (w) {
			case SUBMIT_COLD:
			case SUBMIT_NEW_PLAN:
				span = cold(rig, w == SUBMIT_COLD);
				break;
			case SUBMIT_MOVED:
				span = moved(rig, i, repeat);
				break;
			case SUBMIT_WARM:
			case SUBMIT_WAIT:
				span = submit(rig, w == SUBMIT_WAIT);
				break;
			case WAIT_DONE:
				span = wait_done(rig);
				break;
			default:
				span = other(rig, w);
				break;
			}
			if (i) {
				v[i - 1] = length(rig, span);
				cpu[i - 1] = less(span.cpu, rig->cpu_clock);
			}
		}
		out[w] = spread_of(v, repeat);
		threads[w] = spread_of(cpu, repeat);
	}
	free(v);
}

/* A time less what recording costs, which is the same for each event. */
static uint64_t without_recording(const struct report *rep, uint64_t time, uint64_t events)
{
	const struct breakdown *b = &rep->breakdown;
	uint64_t plain = rep->times[SUBMIT_WAIT].median;

	if (rep->traced <= plain || !b->events)
		return time;
	return less(time, (rep->traced - plain) * events / b->events);
}

static void traced(struct rig *rig, struct trace *trace, unsigned int repeat, struct report *rep)
{
	struct span *spans = allocate(repeat, sizeof(*spans));
	uint64_t *v = allocate(repeat, sizeof(*v));
	const struct trace_event *events;
	unsigned int i, count;

	/* The driver's own clock, read before the event is recorded: only that one is. */
	must(trace_enable(trace, 1u << TRACE_RUN) ? -EIO : 0, "tracefs");
	submit(rig, true);
	for (i = 0; i < repeat; i++)
		spans[i] = submit(rig, true);
	trace_enable(trace, 0);
	count = trace_read(trace, &events);
	rep->first = breakdown_first(events, count, spans, repeat);
	rep->first = rep->first > rig->clock / 2 ? rep->first - rig->clock / 2 : 0;

	must(trace_enable(trace, (1u << TRACE_KINDS) - 1) ? -EIO : 0, "tracefs");
	submit(rig, true);
	for (i = 0; i < repeat; i++)
		spans[i] = submit(rig, true);
	trace_enable(trace, 0);
	count = trace_read(trace, &events);
	breakdown_make(&rep->breakdown, events, count, spans, repeat, (int)syscall(SYS_gettid));
	for (i = 0; i < repeat; i++)
		v[i] = length(rig, spans[i]);
	rep->traced = spread_of(v, repeat).median;

	/* The entry's own record is in between, and nothing else. */
	must(trace_enable(trace, 1u << TRACE_RUN | 1u << TRACE_IRQ_ENTRY | 1u << TRACE_IRQ_EXIT) ?
	     -EIO : 0, "tracefs");
	for (i = 0; i < repeat; i++)
		spans[i] = submit_two(rig);
	trace_enable(trace, 0);
	count = trace_read(trace, &events);
	rep->next = without_recording(rep, breakdown_next(events, count, spans, repeat), 1);
	rep->round = without_recording(rep, rep->breakdown.own, rep->breakdown.own_events);
	/* What a register does is the software NPU's own work. */
	rep->regs = without_recording(rep, rep->breakdown.regs, rep->breakdown.starts);
	if (rig->soft)
		rep->round = less(rep->round, rep->regs);
	free(spans);
	free(v);
}

/* One shape. */
static void run(struct rig *rig, const struct options *opt, bool first)
{
	struct report rep = { 0 };
	struct trace *trace;
	uint64_t before;
	char name[64];

	shape_text(&rig->shape, name, sizeof(name));
	if (!opt->quiet)
		fprintf(stderr, "%s\n", name);
	data_make(&rig->data, &rig->shape, opt->seed);
	plan_make(rig);
	buffer(rig, 0, rig->plan.a.size);
	buffer(rig, 1, rig->plan.b.size);
	buffer(rig, 2, rig->plan.c.size);
	load(rig);
	before = emitted(rig);
	submit(rig, false);
	rep.emitted_cold = emitted(rig) - before;
	check(rig);
	measure_all(rig, opt->repeat, rep.times, rep.threads);
	before = emitted(rig);
	submit(rig, true);
	submit(rig, false);
	trace = trace_open(&rep.no_trace);
	if (trace) {
		rep.no_trace = NULL;
		traced(rig, trace, opt->repeat, &rep);
		trace_close(trace);
	}
	rep.emitted_warm = emitted(rig) - before;
	check(rig);
	if (opt->output == OUTPUT_JSON)
		submit_json(rig, &rep, first);
	else
		submit_print(rig, &rep);
	if (opt->output != OUTPUT_JSON)
		clients_print(rig, opt);
	fflush(stdout);
	if (rep.emitted_warm)
		die(EXIT_FAILED, "warm submissions synthesised programs");
	plan_free(rig);
	buffer_free(rig, 0);
	buffer_free(rig, 1);
	buffer_free(rig, 2);
	data_free(&rig->data);
}

int bench_submit(const struct options *opt)
{
	struct shapes shapes = opt->shapes;
	struct machine machine;
	uint64_t v[33], cpu[33];
	struct rig rig = { 0 };
	struct span span;
	unsigned int i;

	need(rkmm_open(opt->device, &rig.dev));
	rig.fd = rkmm_fd(rig.dev);
	machine_read(&machine, rig.dev, "/");
	rig.soft = machine.info.flags & DRM_RKMM_DEVICE_SOFT;
	if (!shapes.count) {
		/* One program, and many. */
		shapes_parse(&shapes, "4x32x32:i8i32");
		shapes_parse(&shapes, "64x512x256:i4i16");
	}
	for (i = 0; i < 33; i++) {
		span_begin(&span);
		span_end(&span);
		v[i] = span.end - span.start;
		cpu[i] = span.cpu;
	}
	rig.clock = spread_of(v, 33).median;
	rig.cpu_clock = spread_of(cpu, 33).median;
	if (opt->output == OUTPUT_JSON) {
		printf("{");
		json_machine(&machine);
		printf(",\n \"repeat\": %u, \"clock\": %llu, \"shapes\": [", opt->repeat,
		       (unsigned long long)rig.clock);
	} else {
		machine_print(&machine, stdout);
		printf("times    nanoseconds; or instructions, with vboard --icount\n");
		printf("         median of %u (lower .. upper quartile), less the clocks' cost\n",
		       opt->repeat);
		printf("thread   the calling thread alone, without what runs while it sleeps\n");
	}
	for (i = 0; i < shapes.count; i++) {
		rig.shape = shapes.list[i];
		run(&rig, opt, !i);
	}
	if (opt->output == OUTPUT_JSON)
		printf("]}\n");
	rkmm_close(rig.dev);
	return EXIT_OK;
}
