/* SPDX-License-Identifier: MIT */
/* From the tracepoints of the driver to the lives of jobs. */
#ifndef TRACE_TRACE_H
#define TRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* --- parse.c: lines of a trace file, or of "trace-cmd report" --------------------------- */

/**
 * struct line - one tracepoint
 * @ns: time
 * @event: its name
 * @task: name of the task that it happened in
 * @pid: of the task
 * @fields: "KEY=VALUE KEY=VALUE ..."
 */
struct line {
	uint64_t ns;
	char event[32], task[32];
	int pid;
	const char *fields;
};

/* False for what is no tracepoint of ours; @text is changed. */
bool line_parse(char *text, struct line *line);
/* "# entries-in-buffer/entries-written: 12/34": what was lost; else 0 */
uint64_t line_lost(const char *text);
/* Number or text of a field; false when it is not there, or no number. */
bool field_number(const struct line *line, const char *key, int64_t *value);
bool field_text(const struct line *line, const char *key, char *value, size_t size);

/* --- life.c: what became of each job ------------------------------------------------------ */

#define NAME		48
#define NOT_SEEN	UINT64_MAX

/**
 * struct plan - an operation's shape
 * @id: plan of the tracepoints
 * @name: for people
 */
struct plan {
	uint64_t id;
	char name[NAME];
};

/**
 * struct client - an open file
 * @id: client of the tracepoints
 * @task: who submitted first
 * @pid: of it
 * @jobs: that were submitted
 * @failed: of those that ended
 * @npu_ns: time on cores
 * @wait_ns: longest time from ready to the first start
 */
struct client {
	uint64_t id;
	char task[32];
	int pid;
	uint64_t jobs, failed, npu_ns, wait_ns;
};

/**
 * struct job - one submission; times are NOT_SEEN where the trace has no such event
 * @client: index of its client
 * @seqno: number of it within the client
 * @plan: index of the plan of its first operation; UINT32_MAX when that is not in the trace
 * @operations: as submitted
 * @steps: chains of programs
 * @window: address window
 * @cores: mask of those allowed
 * @submit_ns: it was queued
 * @ready_ns: the fences that it waited for have signalled; @submit_ns for none
 * @start_ns: its first kick began
 * @done_ns: it ended
 * @result: 0, or negative errno
 * @npu_ns: time on cores, all together
 * @predicted_ns: what the cost law says to that
 * @kicks: starts of a core
 * @used: mask of those cores
 */
struct job {
	uint32_t client;
	uint64_t seqno;
	uint32_t plan, operations, steps, window, cores;
	uint64_t submit_ns, ready_ns, start_ns, done_ns;
	int result;
	uint64_t npu_ns, predicted_ns;
	uint32_t kicks, used;
};

/**
 * struct kick - what a core ran from one start
 * @job: index
 * @core: core
 * @lane: share of the job's step
 * @operation: step
 * @tasks: programs
 * @window: address window
 * @mode: datapath mode
 * @from_ns: start
 * @to_ns: end; NOT_SEEN while it runs
 * @ns: the same as the driver has measured it
 * @predicted_ns: what the cost law says
 */
struct kick {
	uint32_t job, core, lane, operation, tasks, window;
	char mode[12];
	uint64_t from_ns, to_ns, ns, predicted_ns;
};

/**
 * struct pause - what all cores had to be idle for
 * @from_ns: start
 * @to_ns: end
 * @window: address window
 * @attached: it was attached
 * @staged: other operands were staged
 * @reset: for another datapath mode
 * @hang: a reset, because a job did not end
 */
struct pause {
	uint64_t from_ns, to_ns;
	uint32_t window;
	bool attached, staged, reset, hang;
};

#define CORES		8

/**
 * struct life - a trace
 * @first_ns: time of the first event
 * @last_ns: and of the last one
 * @events: of ours
 * @lost: events that were overwritten
 * @timeouts: kicks that were given up
 * @cores: number of cores, 3 at least
 * @faults: what cannot be: a job that ends twice, a core with two kicks, ...
 * @plans: plans
 * @nplans: how many
 * @clients: clients
 * @nclients: how many
 * @jobs: jobs
 * @njobs: how many
 * @kicks: kicks
 * @nkicks: how many
 * @pauses: pauses
 * @npauses: how many
 * @running: kick of each core, UINT32_MAX for none
 * @began: cores of which a start is in the trace
 * @slots: hash table of jobs: index + 1
 * @nslots: a power of two
 */
struct life {
	uint64_t first_ns, last_ns, events, lost, timeouts;
	uint32_t cores, faults;
	struct plan *plans;
	uint32_t nplans;
	struct client *clients;
	uint32_t nclients;
	struct job *jobs;
	uint32_t njobs;
	struct kick *kicks;
	uint32_t nkicks;
	struct pause *pauses;
	uint32_t npauses;
	uint32_t running[CORES], began;
	uint32_t *slots, nslots;
};

void life_init(struct life *life);
void life_free(struct life *life);
void life_event(struct life *life, const struct line *line);
/* False with a message when it cannot be read, or has none of our events. */
bool life_read(struct life *life, const char *path);
/* "int8 -> int32 128x2048x2048", or "plan 7" */
const char *life_plan_name(const struct life *life, const struct job *job);

/* --- report.c ------------------------------------------------------------------------------ */

void report_text(const struct life *life);
void report_json(const struct life *life);
bool report_perfetto(const struct life *life, const char *path);

/* --- record.c ------------------------------------------------------------------------------ */

/* Runs a program and writes what the driver traced meanwhile; its exit status, or 2. */
int record(const char *path, unsigned int kib, char **argv);

int trace_main(int argc, char **argv);

#endif
