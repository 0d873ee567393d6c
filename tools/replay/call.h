/* SPDX-License-Identifier: MIT */
/*
 * What one matmul call costs from end to end, hw 03 §6.2:
 * T_call = T_pre + max over cores of Q + T_post, without windows and modes.
 */
#ifndef REPLAY_CALL_H
#define REPLAY_CALL_H

#include "kmod/soft/model/npu_time.h"

/* A change of the address window as the userspace stack makes it: hw 03 §5.2, §6.2 */
#define REPLAY_SWAP_FIRST_US	410
#define REPLAY_SWAP_US		295
/* Fixed sleep, lines, page tables: hw 03 §2.2 */
#define REPLAY_RESET_US		105000

/**
 * struct host_law - what the processor does for a call
 * @fixed_ns: F: caches, submit, wake-up, join
 * @act_ps: per element of A: packing
 * @prog_ps: s: per program of the busiest core: synthesis
 * @out_ps: d: per element of an int4 result: de-tiling
 * @byte_ps: per byte of other results: copying
 * @add_ps: per element of a partial result: adding it up
 *
 * Every member is a u32, as host_perturb() wants it.
 */
struct host_law {
	u32 fixed_ns, act_ps, prog_ps, out_ps, byte_ps, add_ps;
};

/* Userspace stack: as first measured, and after its three host commits (hw 03 §6.2) */
extern const struct host_law host_before, host_after;
/* This driver: resident programs, no seed, no scan (hw 03 §6.6, F in the middle of 60-100 us) */
extern const struct host_law host_module;

void host_perturb(struct host_law *law, u32 seed, u32 percent);

/**
 * struct call - one matmul as rectangles of programs
 * @kind: law
 * @m: rows of A
 * @k: channels of a program
 * @n: columns of B
 * @rows: of a program
 * @cols: of a program
 * @cores: that get work
 * @partials: results that the processor adds up, 0 or 1 for none
 */
struct call {
	enum npu_kind kind;
	u32 m, k, n, rows, cols, cores, partials;
};

/**
 * struct call_time - where its time goes, ns
 * @npu: the longest core, dispatch included
 * @dispatch: of @npu: what programs cost before they multiply
 * @fixed: F
 * @act: packing of A
 * @synth: synthesis
 * @post: de-tiling or copying
 * @add: partial results
 * @programs: in all
 * @busiest: programs of the core that has most
 */
struct call_time {
	u64 npu, dispatch, fixed, act, synth, post, add;
	u32 programs, busiest;
};

/*
 * call_time() - the law for one call. Columns are shared out as hw 03 §6.2 says: core i of
 * n takes the column tiles from floor(i * NC / n) on; column tiles outside, row groups inside.
 */
void call_time(const struct npu_time_law *law, const struct host_law *host,
	       const struct call *call, struct call_time *t);

/**
 * struct call_core - the part of a core
 * @ns: from its start to its end
 * @start: of that, before the first program
 * @dispatch: @start, and what programs cost before they multiply
 * @programs: programs; none, and no time, where there are fewer column tiles than cores
 */
struct call_core {
	u64 ns, start, dispatch;
	u32 programs;
};

/** call_core() - core @core of a call */
void call_core(const struct npu_time_law *law, const struct call *call, u32 core,
	       struct call_core *q);

/** call_total() - all of it */
u64 call_total(const struct call_time *t);

/** call_work() - @rows by @cols by @k as the law sees it */
struct npu_work call_work(enum npu_kind kind, u32 rows, u32 cols, u32 k);

#endif
