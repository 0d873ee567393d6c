// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * rkmm-trace on traces that are written here: what is read from lines of both kinds, lives of
 * jobs, what cannot be, the report against its schema, the timeline.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "json_schema.h"
#include "tool_run.h"
#include "tools/trace/trace.h"

const char *const program_name = "test_trace";

static char input[40], output[40];

static bool parse(const char *text, struct line *line)
{
	static char copy[400];

	snprintf(copy, sizeof(copy), "%s", text);
	return line_parse(copy, line);
}

static void test_lines(void **state)
{
	struct line line;
	char text[8];
	int64_t v;

	(void)state;
	assert_true(parse("     rkmm-matmul-1234    [002] d..2.   12.345678: rkmm_job_done: client=3 seqno=18446744 result=-5 cores=0x7 why=\n",
			  &line));
	assert_int_equal(line.ns, 12345678000ull);
	assert_string_equal(line.event, "rkmm_job_done");
	assert_string_equal(line.task, "rkmm-matmul");
	assert_int_equal(line.pid, 1234);
	assert_true(field_number(&line, "client", &v) && v == 3);
	assert_true(field_number(&line, "seqno", &v) && v == 18446744);
	assert_true(field_number(&line, "result", &v) && v == -5);
	assert_true(field_number(&line, "cores", &v) && v == 7);
	assert_true(field_text(&line, "why", text, sizeof(text)) && !text[0]);
	/* names of fields are whole, and values are numbers */
	assert_false(field_number(&line, "lient", &v));
	assert_false(field_number(&line, "ores", &v));
	assert_false(field_number(&line, "why", &v));
	assert_false(field_text(&line, "plan", text, sizeof(text)));

	/* trace-cmd: no flags, nanoseconds; a name with all that separates */
	assert_true(parse("a [b-7] c: rk-42   [000]  7.000000009: rkmm_job_run:         mode=int8 client=1\n",
			  &line));
	assert_int_equal(line.ns, 7000000009ull);
	assert_string_equal(line.event, "rkmm_job_run");
	assert_string_equal(line.task, "a [b-7] c: rk");
	assert_int_equal(line.pid, 42);
	assert_true(field_text(&line, "mode", text, sizeof(text)));
	assert_string_equal(text, "int8");
	/* what does not fit is cut */
	assert_true(field_text(&line, "mode", text, 3));
	assert_string_equal(text, "in");
	assert_true(parse("<idle>-0 [001] d.h1. 0.000001: rkmm_reset: resets=1 ret=0 ns=5\n", &line));
	assert_int_equal(line.ns, 1000);

	assert_false(parse("# tracer: nop\n", &line));
	assert_false(parse("# x-1 [000] d..1. 1.000000: rkmm_reset: resets=1\n", &line));
	assert_false(parse("x-1 [000] d..1. 1.000000: sched_switch: prev=1\n", &line));
	assert_false(parse("x-1 [000] d..1. 1: rkmm_reset: resets=1\n", &line));
	assert_false(parse("x-1 [000] d..1. .5: rkmm_reset: resets=1\n", &line));
	assert_false(parse("x-1 [000] d..1. 1.5: rkmm_reset resets=1\n", &line));
	assert_false(parse("x-1 [000] 9999999999999999999999.5: rkmm_reset: resets=1\n", &line));
	assert_false(parse("x-1 [000] 1.5: rkmm_a_name_that_is_far_longer_than_those_of_ours: x=1\n",
			   &line));
	assert_false(parse("", &line));
	assert_true(parse(": rkmm_", &line) == false);

	assert_int_equal(line_lost("# entries-in-buffer/entries-written: 20/20   #P:4\n"), 0);
	assert_int_equal(line_lost("# entries-in-buffer/entries-written: 20/27   #P:4\n"), 7);
	assert_int_equal(line_lost("CPU:2 [LOST 331 EVENTS]\n"), 331);
}

/* --- traces -------------------------------------------------------------------------------- */

static FILE *trace;
static double now;

static void begin(void)
{
	trace = fopen(input, "w");
	assert_non_null(trace);
	now = 100;
}

/* An event, 10 us behind the one before */
static void __attribute__((format(printf, 2, 3))) event(const char *name, const char *fmt, ...)
{
	va_list ap;

	now += 10e-6;
	fprintf(trace, "  worker %d-%d [001] d..1. %.6f: %s: ", 3, 77, now, name);
	va_start(ap, fmt);
	vfprintf(trace, fmt, ap);
	va_end(ap);
	fputc('\n', trace);
}

static void life_of(struct life *life)
{
	fclose(trace);
	life_init(life);
	assert_true(life_read(life, input));
}

static void job_event(const char *name, int client, int seqno, int result, int npu_ns)
{
	event(name, "client=%d seqno=%d plan=%d operations=2 steps=1 window=4 cores=0x5 result=%d npu_ns=%d",
	      client, seqno, client, result, npu_ns);
}

static void run(int client, int seqno, int core)
{
	event("rkmm_job_run", "client=%d seqno=%d plan=%d core=%d operation=0 lane=0 tasks=9 window=4 mode=int4 pingpong=1 kept=0 predicted_ns=12000 why=the work ends",
	      client, seqno, client, core);
}

static void ran(int client, int seqno, int core)
{
	event("rkmm_job_ran", "client=%d seqno=%d core=%d operation=0 lane=0 predicted_ns=12000 ns=9876",
	      client, seqno, core);
}

/* Two clients; one job on two cores, one that waits, one that fails without a start. */
static void write_good(void)
{
	begin();
	fputs("# tracer: nop\n#\n# entries-in-buffer/entries-written: 16/16   #P:2\n", trace);
	event("rkmm_plan", "client=8 plan=8 types=i4i16 shape=3x64x32 form=flat rows=1");
	job_event("rkmm_job_submit", 8, 1, 0, 0);
	job_event("rkmm_job_submit", 9, 1, 0, 0);
	run(8, 1, 0);
	run(8, 1, 2);
	ran(8, 1, 2);
	event("rkmm_unknown", "x=1");
	ran(8, 1, 0);
	job_event("rkmm_job_done", 8, 1, 0, 19752);
	event("rkmm_switch", "window=4 attached=1 staged=0 reset=1 ns=8000");
	job_event("rkmm_job_ready", 9, 1, 0, 0);
	run(9, 1, 2);
	job_event("rkmm_job_submit", 8, 2, 0, 0);
	ran(9, 1, 2);
	job_event("rkmm_job_done", 9, 1, 0, 9876);
	job_event("rkmm_job_done", 8, 2, -125, 0);
}

static void test_lives(void **state)
{
	struct life life;
	const struct job *job;

	(void)state;
	write_good();
	life_of(&life);
	assert_int_equal(life.faults, 0);
	assert_int_equal(life.lost, 0);
	assert_int_equal(life.events, 16);
	assert_int_equal(life.njobs, 3);
	assert_int_equal(life.nkicks, 3);
	assert_int_equal(life.npauses, 1);
	assert_int_equal(life.nclients, 2);
	assert_string_equal(life.clients[0].task, "worker 3");
	assert_int_equal(life.clients[0].pid, 77);
	assert_int_equal(life.clients[0].jobs, 2);
	assert_int_equal(life.clients[0].failed, 1);
	assert_int_equal(life.clients[0].npu_ns, 19752);
	/* ready at 110 us, started at 120 */
	assert_int_equal(life.clients[1].wait_ns, 10000);

	job = &life.jobs[0];
	assert_int_equal(job->seqno, 1);
	assert_int_equal(job->used, 5);
	assert_int_equal(job->kicks, 2);
	assert_int_equal(job->predicted_ns, 24000);
	assert_int_equal(job->npu_ns, 19752);
	assert_int_equal(job->operations, 2);
	assert_int_equal(job->window, 4);
	assert_int_equal(job->submit_ns - life.first_ns, 10000);
	assert_int_equal(job->start_ns - life.first_ns, 30000);
	assert_int_equal(job->done_ns - life.first_ns, 80000);
	assert_string_equal(life_plan_name(&life, job), "i4i16 3x64x32");
	assert_string_equal(life_plan_name(&life, &life.jobs[1]), "plan 9");
	assert_int_equal(life.jobs[1].ready_ns - life.first_ns, 100000);
	assert_int_equal(life.jobs[2].result, -125);
	assert_int_equal(life.jobs[2].start_ns, NOT_SEEN);
	assert_int_equal(life.pauses[0].to_ns - life.pauses[0].from_ns, 8000);
	assert_true(life.pauses[0].attached && life.pauses[0].reset && !life.pauses[0].staged);
	life_free(&life);
}

/* Each fault is found; a trace that has lost events is not judged. */
static void test_faults(void **state)
{
	struct life life;
	int i, lost;

	(void)state;
	for (lost = 0; lost < 2; lost++) {
		for (i = 0; i < 9; i++) {
			begin();
			if (lost)
				fputs("# entries-in-buffer/entries-written: 1/2 #P:2\n", trace);
			job_event("rkmm_job_submit", 1, 1, 0, 0);
			if (i == 1)
				job_event("rkmm_job_submit", 1, 1, 0, 0);
			run(1, 1, i == 2 ? 1 : 0);
			if (i == 3)
				run(1, 1, 0);
			if (i == 4)
				ran(1, 2, 0);
			if (i == 5)
				now -= 30e-6;
			ran(1, 1, i == 2 ? 1 : 0);
			if (i == 6)
				ran(1, 1, 0);
			job_event("rkmm_job_done", 1, 1, 0, 0);
			if (i == 7)
				job_event("rkmm_job_done", 1, 1, 0, 0);
			if (i == 8)
				run(1, 1, 0);
			life_of(&life);
			assert_int_equal(life.faults, !lost && i);
			life_free(&life);
		}
	}
}

/* What began before the trace, and what goes on behind it */
static void test_cut(void **state)
{
	struct life life;
	struct line line;

	(void)state;
	begin();
	ran(1, 7, 0);
	job_event("rkmm_job_done", 1, 7, 0, 50);
	job_event("rkmm_job_submit", 1, 8, 0, 0);
	run(1, 8, 2);
	life_of(&life);
	assert_int_equal(life.faults, 0);
	assert_int_equal(life.njobs, 2);
	assert_int_equal(life.jobs[0].submit_ns, NOT_SEEN);
	assert_int_equal(life.jobs[1].done_ns, NOT_SEEN);
	assert_int_equal(life.kicks[0].to_ns, NOT_SEEN);
	assert_true(report_perfetto(&life, output));
	life_free(&life);

	life_init(&life);
	assert_false(life_read(&life, "/nonexistent"));
	begin();
	fclose(trace);
	assert_false(life_read(&life, input));
	life_free(&life);

	/* many jobs are told apart */
	begin();
	life_init(&life);
	line = (struct line){ .event = "rkmm_job_submit", .fields = "" };
	for (int i = 0; i < 5000; i++) {
		char fields[100];

		snprintf(fields, sizeof(fields),
			 "client=%d seqno=%d plan=1 operations=1 steps=1 window=1 cores=7", i % 7, i / 7);
		line.fields = fields;
		line.ns = (uint64_t)i;
		life_event(&life, &line);
	}
	assert_int_equal(life.njobs, 5000);
	assert_int_equal(life.nclients, 7);
	assert_int_equal(life.faults, 0);
	life_free(&life);
	fclose(trace);
}

/* --- what is written ------------------------------------------------------------------------- */

static int tool(const char *a, const char *b, const char *c, const char *d)
{
	const char *const args[TOOL_ARGS] = { "rkmm-trace", a, b, c, d };

	return tool_run(trace_main, output, args);
}

static void test_report(void **state)
{
	json_t *v, *job;

	(void)state;
	write_good();
	fclose(trace);
	assert_int_equal(tool("--json", input, NULL, NULL), 0);
	v = json_load_path(output);
	assert_true(json_fits(SCHEMA "trace-report.schema.json", v));
	assert_int_equal(json_array_size(json_object_get(v, "jobs")), 3);
	assert_int_equal(json_integer_value(json_object_get(v, "npu_ns")), 3 * 9876);
	assert_int_equal(json_integer_value(json_object_get(v, "mode_resets")), 1);
	job = json_array_get(json_object_get(v, "jobs"), 2);
	assert_true(json_is_null(json_object_get(job, "start_ns")));
	assert_int_equal(json_integer_value(json_object_get(job, "result")), -125);
	json_decref(v);
	assert_int_equal(tool(input, NULL, NULL, NULL), 0);
	assert_int_equal(tool("--help", NULL, NULL, NULL), 0);
	assert_int_equal(tool("record", "--help", NULL, NULL), 0);
	assert_int_equal(tool(NULL, NULL, NULL, NULL), 2);
	assert_int_equal(tool("--nothing", input, NULL, NULL), 2);
	assert_int_equal(tool(input, input, NULL, NULL), 2);
	assert_int_equal(tool("/nonexistent", NULL, NULL, NULL), 2);
	assert_int_equal(tool("--perfetto", "/nonexistent/x", input, NULL), 2);
	assert_int_equal(tool("record", NULL, NULL, NULL), 2);

	begin();
	job_event("rkmm_job_done", 1, 1, 0, 0);
	job_event("rkmm_job_done", 1, 1, 0, 0);
	fclose(trace);
	assert_int_equal(tool(input, NULL, NULL, NULL), 1);
}

/* The samples that the documentation shows are what the tool reads and writes. */
static void test_sample(void **state)
{
	json_t *made, *kept;

	(void)state;
	assert_int_equal(tool("--json", SCHEMA "trace.sample.txt", NULL, NULL), 0);
	made = json_load_path(output);
	kept = json_load_path(SCHEMA "trace-report.sample.json");
	assert_true(json_fits(SCHEMA "trace-report.schema.json", kept));
	assert_true(json_equal(made, kept));
	json_object_set_new(kept, "unknown", json_true());
	assert_false(json_fits(SCHEMA "trace-report.schema.json", kept));
	json_decref(made);
	json_decref(kept);
}

static void test_timeline(void **state)
{
	static const int tracks[] = { 1, 3, 4, 3, 5, 6, 5 };
	double last[8] = { 0 }, most = 0;
	size_t i, bars = 0, named = 0;
	struct life life;
	json_t *v, *list;

	(void)state;
	write_good();
	life_of(&life);
	assert_true(report_perfetto(&life, output));
	v = json_load_path(output);
	list = json_object_get(v, "traceEvents");
	for (i = 0; i < json_array_size(list); i++) {
		json_t *e = json_array_get(list, i);
		int tid = (int)json_integer_value(json_object_get(e, "tid"));
		double ts = json_number_value(json_object_get(e, "ts"));
		double dur = json_number_value(json_object_get(e, "dur"));

		assert_true(json_is_string(json_object_get(e, "name")));
		assert_int_equal(json_integer_value(json_object_get(e, "pid")), 1);
		if (!strcmp(json_string_value(json_object_get(e, "ph")), "M")) {
			named++;
			continue;
		}
		assert_true(tid < 8 && ts >= last[tid] && dur >= 0);
		last[tid] = ts + dur;
		if (last[tid] > most)
			most = last[tid];
		bars++;
	}
	/* the process, three cores, the device, two clients */
	assert_int_equal(named, 7);
	/* three kicks, one pause, three jobs: each track has what belongs there */
	assert_int_equal(bars, sizeof(tracks) / sizeof(tracks[0]));
	for (i = 0; i < sizeof(tracks) / sizeof(tracks[0]); i++)
		assert_true(last[tracks[i]] > 0);
	assert_true(last[2] == 0 && last[7] == 0);
	assert_true(most * 1000 <= (double)(life.last_ns - life.first_ns) + 1);
	json_decref(v);
	assert_false(report_perfetto(&life, "/nonexistent/x"));
	life_free(&life);
}

static int make_files(void **state)
{
	(void)state;
	strcpy(input, "/tmp/test_trace.XXXXXX");
	strcpy(output, input);
	return temp_file(input) | temp_file(output);
}

static int remove_files(void **state)
{
	(void)state;
	return unlink(input) | unlink(output);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_lives),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_report),
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_timeline),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
