/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a dump of a hang holds: written by kmod/rkmm_dump.c, read by rkmm-regcmd.
 *
 * Numbers are little-endian. A header, a table of objects, the objects. Readers skip
 * objects that they do not know, and take what they know of longer ones: new members come at
 * the end. Never in it: what is in buffers.
 */
#ifndef RKMM_DUMP_H
#define RKMM_DUMP_H

#include "rkmm_pure.h"

#define RKMM_DUMP_MAGIC		0x504d5544u	/* "DUMP" */
#define RKMM_DUMP_VERSION	1

/**
 * enum rkmm_dump_type - kinds of objects
 * @RKMM_DUMP_HANG: one struct rkmm_dump_hang
 * @RKMM_DUMP_REGS: struct rkmm_dump_reg of the core, before it was quietened
 * @RKMM_DUMP_CORES: struct rkmm_dump_core, one for each
 * @RKMM_DUMP_CLIENTS: struct rkmm_dump_client, the first of those with jobs
 * @RKMM_DUMP_COUNTERS: u64 each: jobs, resets, window switches, stagings, changes of mode,
 *	resets between modes
 * @RKMM_DUMP_WORDS: program words about the task where it stood, see struct rkmm_dump_hang
 */
enum rkmm_dump_type {
	RKMM_DUMP_HANG = 1,
	RKMM_DUMP_REGS = 2,
	RKMM_DUMP_CORES = 3,
	RKMM_DUMP_CLIENTS = 4,
	RKMM_DUMP_COUNTERS = 5,
	RKMM_DUMP_WORDS = 6,
};

#define RKMM_DUMP_OBJECTS	6

/**
 * struct rkmm_dump_header - first bytes of the file
 * @magic: RKMM_DUMP_MAGIC
 * @version: RKMM_DUMP_VERSION
 * @objects: entries of the table that follows
 * @pad: zero
 */
struct rkmm_dump_header {
	u32 magic;
	u32 version;
	u32 objects;
	u32 pad;
};

/**
 * struct rkmm_dump_object - where an object is
 * @type: enum rkmm_dump_type
 * @each: bytes of an element of it
 * @offset: in the file
 * @bytes: of all elements
 */
struct rkmm_dump_object {
	u32 type;
	u32 each;
	u32 offset;
	u32 bytes;
};

/**
 * struct rkmm_dump_hang - which job, and where it stood
 * @seqno: submission
 * @plan: of the first operation of the step
 * @client: number
 * @started_ns: monotonic time of the start
 * @seen_ns: of the decision
 * @deadline_ns: when it would have been given up
 * @core: index
 * @cause: enum rkmm_hang
 * @pid: of who opened the file
 * @retries: of the job, before
 * @step: part of the submission
 * @nsteps: how many
 * @lane: share of the step
 * @task: tasks done
 * @tasks: of the kick
 * @mode: enum rkmm_mode
 * @rows: of the submission
 * @k: reduction, 0 for no matmul
 * @n: columns
 * @window: number of the address window
 * @addr: NPU address of the kick's first program
 * @amount: PC_DATA_AMOUNT of it
 * @int_mask: bits of its end
 * @pingpong: ping-pong bit
 * @kept: it began without the table that the core had
 * @words_addr: NPU address of the first word of RKMM_DUMP_WORDS
 * @comm: of who opened the file
 */
struct rkmm_dump_hang {
	u64 seqno, plan, client;
	u64 started_ns, seen_ns, deadline_ns;
	u32 core, cause;
	u32 pid, retries;
	u32 step, nsteps;
	u32 lane, task, tasks;
	u32 mode;
	u32 rows, k, n;
	u32 window;
	u32 addr, amount, int_mask, pingpong;
	u32 kept;
	u32 words_addr;
	char comm[16];
};

/**
 * struct rkmm_dump_reg - one register
 * @reg: offset in the core's window
 * @value: what it read
 */
struct rkmm_dump_reg {
	u32 reg;
	u32 value;
};

/**
 * struct rkmm_dump_core - one core
 * @index: number
 * @state: enum rkmm_core_state
 * @mode: enum rkmm_mode
 * @table: 1 + lookup table, 0 for unknown
 * @busy_ns: time spent running
 * @lost_irqs: completions found by the watchdog
 */
struct rkmm_dump_core {
	u32 index, state, mode, table;
	u64 busy_ns, lost_irqs;
};

/**
 * struct rkmm_dump_client - one client
 * @id: number
 * @running: its running submission, 0 for none
 * @ended: last one that ended
 * @queued: how many wait
 * @guilty: resets caused
 */
struct rkmm_dump_client {
	u64 id, running, ended, queued, guilty;
};

#endif
