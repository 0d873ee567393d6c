/* SPDX-License-Identifier: MIT */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/rkmm.h"
#include "tools/common/common.h"

enum {
	EXIT_OK,
	EXIT_FAILED,	/* a wrong result, or the device failed; never a time */
	EXIT_USAGE,
};

#define MAX_ARMS	2

/**
 * struct shape - one matmul to measure
 * @m: rows of A and C
 * @k: columns of A, rows of B
 * @n: columns of B and C
 * @types: enum drm_rkmm_types
 * @named: asked for by --shape or --file: not being served is a failure
 */
struct shape {
	uint32_t m;
	uint32_t k;
	uint32_t n;
	uint32_t types;
	bool named;
};

struct shapes {
	struct shape *list;
	unsigned int count;
};

/**
 * struct arm - one way to do the same matmul
 * @name: as given
 * @cores: number of cores, or 0
 * @mask: mask of cores, or 0
 * @form: enum drm_rkmm_form, or -1 for that of the command line
 * @die: name of the profile that the plan is made with, or ""
 * @times: products in one run, by @how; 0 for one in the plain way
 * @how: how they are submitted
 */
struct arm {
	char name[24];
	uint32_t cores;
	uint32_t mask;
	int form;
	char die[16];
	uint32_t times;
	enum {
		TIMES_SINGLE,	/* one submission each, the last one waited for */
		TIMES_GROUP,	/* operations that are joined, in one submission */
		TIMES_BATCH,	/* one operation with a count */
	} how;
};

enum output {
	OUTPUT_TABLE,
	OUTPUT_JSON,
	OUTPUT_CSV,
};

enum mode {
	MODE_SWEEP,
	MODE_HOST,
	MODE_SUBMIT,
	MODE_OPS,
};

/**
 * struct options - the command line
 * @mode: what to measure
 * @shapes: in order; empty for the default set
 * @repeat: warm runs of each shape
 * @output: form of the report on standard output
 * @plot: file for a picture or NULL
 * @device: node or NULL
 * @arms: ways to compare
 * @num_arms: 1, or 2 with --ab
 * @seed: of the random data
 * @form: enum drm_rkmm_form of arms without one
 * @host_mib: bytes of a buffer of --host in MiB, 0 for beyond the last-level cache
 * @quiet: no progress
 */
struct options {
	enum mode mode;
	struct shapes shapes;
	unsigned int repeat;
	enum output output;
	const char *plot;
	const char *device;
	struct arm arms[MAX_ARMS];
	unsigned int num_arms;
	uint64_t seed;
	int form;
	unsigned int host_mib;
	bool quiet;
};

/**
 * struct spread - several measurements of one thing
 * @median: the middle one
 * @low: lower quartile
 * @high: upper quartile
 * @count: how many; 0 for none
 */
struct spread {
	uint64_t median;
	uint64_t low;
	uint64_t high;
	unsigned int count;
};

/**
 * struct counters - what the kernel counted for us
 * @emitted: programs synthesised
 * @npu_ns: time on cores
 * @synced: bytes cleaned for submissions, or -1: the driver does not tell
 * @hits: program images found ready, or -1
 */
struct counters {
	uint64_t emitted;
	uint64_t npu_ns;
	int64_t synced;
	int64_t hits;
};

/**
 * struct result - one shape in one arm
 * @served: the device does this shape
 * @reason: why not
 * @programs: of a full submission
 * @flags: DRM_RKMM_PLAN_*
 * @predicted_ns: of the plan
 * @create: plan and buffers
 * @cold: first submission with a new plan and new buffers, until it is done
 * @warm: later ones
 * @pack: packing A
 * @unpack: gathering C
 * @weights_ns: packing B and making it resident
 * @npu_ns: time on cores of a warm run, summed over the cores
 * @emitted_cold: programs synthesised for a cold submission
 * @emitted_warm: for all warm ones
 * @synced: bytes cleaned for a warm submission, -1 for unknown
 * @hits: program images found ready, all warm submissions, -1 for unknown
 * @wrong: elements that differ, over all runs
 * @bound_used: floating point: largest part of the error bound that was used up
 */
struct result {
	bool served;
	char reason[160];
	uint32_t programs;
	uint32_t flags;
	uint64_t predicted_ns;
	struct spread create;
	struct spread cold;
	struct spread warm;
	struct spread pack;
	struct spread unpack;
	uint64_t weights_ns;
	uint64_t npu_ns;
	uint64_t emitted_cold;
	uint64_t emitted_warm;
	int64_t synced;
	int64_t hits;
	uint64_t wrong;
	double bound_used;
};

/**
 * struct row - one shape, all arms
 * @shape: the shape
 * @cpu_ns: time of the reference: plain loops, one thread
 * @arm: results
 */
struct row {
	struct shape shape;
	uint64_t cpu_ns;
	struct result arm[MAX_ARMS];
};

/**
 * struct machine - where this runs
 * @info: the device
 * @driver: its version
 * @kernel: release of the kernel
 * @cpu: governors of the processors, "" for unknown
 * @ddr: governor of the memory controller, "" for unknown
 * @settled: nothing above may change its rate during the run
 */
struct machine {
	struct drm_rkmm_device_info info;
	char driver[16];
	char kernel[80];
	char cpu[120];
	char ddr[120];
	bool settled;
};

/* ---- main.c, cli.c ---- */

/* The program, apart from main() so that tests can run it. */
int bench_main(int argc, char **argv);
/* Ends the program with the library's sentence if ret is an error. */
void need(int ret);
int bench_host(const struct options *opt);
/* ---- synth.c: part of --host; in JSON, entries of a list ---- */
void bench_synth(const struct options *opt);
int bench_submit(const struct options *opt);
int bench_ops(const struct options *opt);

/* ---- shapes.c ---- */

extern const char *const type_names[5];
static inline bool types_float(uint32_t types)
{
	return types == DRM_RKMM_F16F32 || types == DRM_RKMM_F16F16;
}

/* All three end the program with status EXIT_USAGE when they cannot. */
void shapes_parse(struct shapes *shapes, const char *text);
void shapes_set(struct shapes *shapes, const char *name);
void shapes_file(struct shapes *shapes, const char *path);
void shape_text(const struct shape *s, char *text, size_t size);
static inline double shape_ops(const struct shape *s)
{
	return 2.0 * s->m * s->k * s->n;
}

/* ---- stats.c ---- */

uint64_t now(void);
/* Time that the calling thread had a processor. */
uint64_t thread_now(void);
uint64_t random_next(uint64_t *state);
/* Sorts v. */
struct spread spread_of(uint64_t *v, unsigned int count);

/* ---- reference.c ---- */

/**
 * struct data - operands and what must come out
 * @shape: their shape
 * @a: A, row-major, as librkmm takes it
 * @b: B, row-major
 * @mult: int8 output
 * @shift: int8 output
 * @offset: int8 output
 * @c_size: bytes of an element of C
 * @c: the last result, row-major
 * @ints: integer types: C as it must be
 * @floats: floating point: exact sums
 * @bound: floating point: how far C may be off
 * @cpu_ns: time that the sums took
 */
struct data {
	struct shape shape;
	void *a;
	void *b;
	int32_t mult;
	uint32_t shift;
	int32_t offset;
	size_t c_size;
	void *c;
	int32_t *ints;
	double *floats;
	double *bound;
	uint64_t cpu_ns;
};

void data_make(struct data *d, const struct shape *shape, uint64_t seed);
/* Compare d->c; returns the number of wrong elements. */
uint64_t data_check(const struct data *d, double *bound_used);
void data_free(struct data *d);

/* ---- measure.c ---- */

void counters_read(struct rkmm_device *dev, struct counters *c);
void measure(struct rkmm_device *dev, const struct machine *machine, const struct options *opt,
	     struct row *row);

/* ---- repeat.c: several products in one run ---- */

/**
 * struct repeat - room for the operands of several products with one B
 * @dev: the device
 * @arm: how many, and how they are submitted
 * @cores: mask of cores, 0 for any
 * @plan: of each
 * @a: all A
 * @c: all C
 * @a_ptr: mapping of @a
 * @c_ptr: mapping of @c
 * @ops: @arm->times operations
 */
struct repeat {
	struct rkmm_device *dev;
	const struct arm *arm;
	uint32_t cores;
	const struct rkmm_plan *plan;
	struct rkmm_buffer *a;
	struct rkmm_buffer *c;
	uint8_t *a_ptr;
	uint8_t *c_ptr;
	struct rkmm_op *ops;
};

struct repeat *repeat_new(struct rkmm_device *dev, const struct arm *arm, uint32_t cores,
			  const struct rkmm_plan *plan, const struct rkmm_weights *weights);
/* The packed A of all of them, and other bytes in all C. */
void repeat_load(struct repeat *r, const void *a);
void repeat_run(struct repeat *r);
/* Result i as a row-major matrix. */
void repeat_read(struct repeat *r, uint32_t i, void *c, const struct shape *shape);
void repeat_free(struct repeat *r);

/* ---- system.c ---- */

/*
 * Profile of the die for plans that are made from here on, "" for the one that the driver had;
 * it has that again when the program ends. Ends the program when it cannot be changed.
 */
void die_use(const char *name);

/* root is "/" but for tests. */
void machine_read(struct machine *m, struct rkmm_device *dev, const char *root);
void machine_print(const struct machine *m, FILE *f);

/* ---- table.c, json.c, plot.c ---- */

void table_head(const struct options *opt, const struct machine *m);
void table_row(const struct options *opt, const struct row *row);
void table_end(const struct options *opt, const struct row *rows, unsigned int count);
void csv_head(void);
void csv_row(const struct options *opt, const struct row *row);
void json_machine(const struct machine *m);
void json_string(const char *s);
void json_report(const struct options *opt, const struct machine *m, const struct row *rows,
		 unsigned int count);
/* Returns 0, or -1 with errno. */
int plot_write(const char *path, const struct options *opt, const struct machine *m,
	       const struct row *rows, unsigned int count);

/* ---- trace.c ---- */

enum trace_kind {
	TRACE_SUBMIT,
	TRACE_RUN,
	TRACE_DONE,
	TRACE_IRQ_ENTRY,
	TRACE_IRQ_EXIT,
	TRACE_SWITCH,
	TRACE_STARTED,
	TRACE_KINDS
};

/**
 * struct trace_event - one event
 * @ns: CLOCK_MONOTONIC
 * @kind: which
 * @cpu: processor
 * @pid: TRACE_SWITCH: thread that stops; otherwise the thread it happened in
 * @next: TRACE_SWITCH: thread that goes on
 * @irq: TRACE_IRQ_*: number
 * @started: TRACE_RUN: CLOCK_MONOTONIC as the driver read it, before the recording
 * @comm: TRACE_SWITCH: name of @next
 */
struct trace_event {
	uint64_t ns;
	enum trace_kind kind;
	unsigned int cpu;
	int pid;
	int next;
	int irq;
	uint64_t started;
	char comm[16];
};

struct trace;

/* NULL when there is no tracefs or no such event; *why says what is missing. */
struct trace *trace_open(const char **why);
/* Which kinds are recorded from here on, a mask of BIT(kind). */
int trace_enable(struct trace *t, unsigned int kinds);
/* All events since the last call, by time. Valid until the next call. */
unsigned int trace_read(struct trace *t, const struct trace_event **events);
void trace_close(struct trace *t);

/* One page of the ring buffer; adds to list[*count], at most max. Returns 0 or -1: malformed. */
struct trace_formats;
int trace_page(const struct trace_formats *f, const uint8_t *page, size_t size, unsigned int cpu,
	       struct trace_event *list, unsigned int *count, unsigned int max);

/**
 * struct trace_formats - where the fields are
 * @id: of each kind's event
 * @prev_pid: offsets of fields
 * @next_pid: offset
 * @next_comm: offset
 * @irq: offset, entry and exit
 * @started: offset
 */
struct trace_formats {
	int id[TRACE_KINDS];
	unsigned int prev_pid;
	unsigned int next_pid;
	unsigned int next_comm;
	unsigned int irq;
	unsigned int started;
};

#endif
