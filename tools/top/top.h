/* SPDX-License-Identifier: MIT */
/* What the kernel tells about the NPU and its clients, and how it is shown. */
#ifndef TOP_TOP_H
#define TOP_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CORES	8
#define WORD	12

/**
 * struct device - totals of the NPU
 * @cores: number of cores
 * @busy_ns: time that each has run
 * @state: "idle" ...
 * @mode: "int8" ...
 * @clients: open files
 * @jobs: jobs that ended
 * @queued: jobs that have not
 * @clock_hz: clock
 * @resets: because of jobs that hung
 * @lost_irqs: ends that the watchdog found
 * @mode_changes: starts of a core in another mode
 * @mode_changes_avoided: choices for somebody who needed none
 * @mode_resets: resets for a mode
 * @switches: changes of the address window
 * @switches_avoided: choices for somebody who needed none
 * @stagings: of operands
 */
struct device {
	unsigned int cores;
	uint64_t busy_ns[CORES];
	char state[CORES][WORD], mode[CORES][WORD];
	uint64_t clients, jobs, queued, clock_hz, resets, lost_irqs;
	uint64_t mode_changes, mode_changes_avoided, mode_resets;
	uint64_t switches, switches_avoided, stagings;
};

/**
 * struct client - an open file
 * @id: drm-client-id
 * @pid: a process that has it open
 * @command: name of that
 * @priority: "normal" ...
 * @npu_ns: time on cores
 * @capacity: cores that it could have used
 * @jobs: jobs that ended
 * @queued: jobs that have not
 * @total_kib: buffers
 * @resident_kib: of those, with memory
 * @program_kib: programs and temporaries
 */
struct client {
	uint64_t id;
	int pid;
	char command[20], priority[WORD];
	uint64_t npu_ns, capacity, jobs, queued, total_kib, resident_kib, program_kib;
};

/**
 * struct sample - everything at one time
 * @ns: the time
 * @device: the NPU
 * @clients: those that may be looked at, by their number
 * @nclients: how many
 */
struct sample {
	uint64_t ns;
	struct device device;
	struct client *clients;
	size_t nclients;
};

/**
 * struct facts - what does not change
 * @chip: name, "" where the device could not be asked
 * @clock_max_hz: highest clock
 * @soft: it is the software NPU
 */
struct facts {
	char chip[32];
	uint64_t clock_max_hz;
	bool soft;
};

/* --- read.c: @root is put before every path -------------------------------------------- */

/* One file of /proc/PID/fdinfo; false when it is of no client of ours. */
bool fdinfo_parse(const char *text, struct client *client);
/* False with a message when there is no device. */
bool sample_take(const char *root, struct sample *sample);
void sample_free(struct sample *sample);
void facts_ask(struct facts *facts);

/* --- show.c ------------------------------------------------------------------------------ */

enum order { BY_NPU, BY_QUEUE, BY_MEMORY, BY_CLIENT, ORDERS };

/**
 * struct view - two samples, and what lies between them
 * @facts: of the device
 * @was: the first
 * @now: the second
 * @order: of the clients
 */
struct view {
	const struct facts *facts;
	const struct sample *was, *now;
	enum order order;
};

/* Permille of its cores that a client used, and of itself that a core ran */
unsigned int client_permille(const struct view *view, const struct client *client);
unsigned int core_permille(const struct view *view, unsigned int core);

#define LINE	128

/* The next line, without its end, as wide as LINE at most; false behind the last. */
bool show_line(const struct view *view, unsigned int number, char line[LINE]);
void show_json(const struct view *view);

/* --- screen.c ------------------------------------------------------------------------------ */

/* Until "q", or @count times unless it is 0; the exit status */
int screen_run(const char *root, const struct facts *facts, unsigned int delay_ms,
	       unsigned long count);

/* --- resets.c ------------------------------------------------------------------------------ */

#define TALLY		8
#define CULPRITS	32

/* How often each of a few words came; the last place is for all others */
struct tally {
	char name[TALLY][WORD * 2];
	uint64_t n[TALLY];
};

/**
 * struct culprit - a client or a plan whose jobs hung; the last of a list stands for all others
 * @used: it is there
 * @banned: a client that is refused
 * @pid: of a client
 * @id: its number
 * @hangs: of its jobs
 * @failed: those that ended a job
 * @mode: of a plan
 * @name: of the program; of a plan the shape
 */
struct culprit {
	bool used, banned;
	int pid;
	uint64_t id, hangs, failed;
	char mode[WORD], name[68];
};

/**
 * struct resets - what a log says
 * @hangs: lines of hangs
 * @cores: by core, the last one for all others
 * @waited_sum: ms, of all
 * @waited_least: of one
 * @waited_most: of one
 * @read_faults: lines of faults of reads
 * @write_faults: of writes
 * @bans: clients that were refused
 * @reset_lines: resets that took more than reset lines, or were asked for
 * @forced: the latter
 * @wedged: lines that say that the device is
 * @off: cores out of service
 * @causes: of hangs
 * @outcomes: for the jobs
 * @rungs: how far resets went
 * @ends: what came of those
 * @clients: whose jobs hung
 * @plans: of those jobs
 */
struct resets {
	uint64_t hangs, cores[CORES], waited_sum, waited_least, waited_most;
	uint64_t read_faults, write_faults, bans, reset_lines, forced, wedged;
	uint32_t off;
	struct tally causes, outcomes, rungs, ends;
	struct culprit clients[CULPRITS], plans[CULPRITS];
};

/* A line of a log, with whatever stands in front of it */
void resets_line(struct resets *resets, const char *line);
/* Read @path, "-" for standard input, NULL for the kernel's ring, and print; the exit status */
int resets_run(const char *path, bool json);

int top_main(int argc, char **argv);

#endif
