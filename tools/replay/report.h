/* SPDX-License-Identifier: MIT */
/* What came of a replay, for people and for programs. */
#ifndef REPLAY_REPORT_H
#define REPLAY_REPORT_H

#include "sim.h"

enum { STACK_DRIVER, STACK_BASELINE, STACKS };

/**
 * struct replay - both runs of a trace
 * @trace: trace
 * @die: name of the envelope
 * @form: form of int4 matmuls
 * @perturb: seed of the perturbation, or -1
 * @early: as in struct options
 * @windows: address windows, by stack
 * @reset_us: time of a change of mode, by stack
 * @result: runs, by stack
 */
struct replay {
	const struct trace *trace;
	const char *die, *form;
	long perturb;
	bool early;
	u32 windows[STACKS];
	u64 reset_us[STACKS];
	struct result result[STACKS];
};

/* Time in which the NPU or a library is at work: without what the model does between */
u64 matmul_ns(const struct result *result);
/* Changes of mode, permille of matmul_ns() */
u32 modes_permille(const struct result *result);
/* Idle cores while something was ready, permille of the time of all cores */
u32 gap_permille(const struct result *result);

void report_text(const struct replay *replay);
bool report_json(const struct replay *replay);

/* timeline.c; false with a message. */
bool perfetto_write(const char *path, const struct replay *replay);
bool svg_write(const char *path, const struct replay *replay);

#endif
