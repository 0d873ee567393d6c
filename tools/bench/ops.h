/* SPDX-License-Identifier: MIT */
/* --ops: ops.c drives the driver, ops_reference.c says what must come out, ops_report.c prints. */
#ifndef OPS_H
#define OPS_H

#include "bench.h"

/**
 * struct op_case - an operation to measure
 * @name: of the report
 * @desc: as librkmm takes it
 * @lo: least value of A
 * @hi: largest
 * @error: how far a result may be off, as a part of the range of the results or of the
 *	result itself, whichever is larger; norms: of what the result is put together from;
 *	0: exact
 */
struct op_case {
	const char *name;
	struct rkmm_op_desc desc;
	double lo;
	double hi;
	double error;
};

/**
 * struct op_result - what was measured
 * @served: the device does it
 * @reason: why not
 * @evidence: enum drm_rkmm_evidence
 * @tasks: of the NPU
 * @predicted_ns: of the plan
 * @cold: first submission
 * @warm: later ones
 * @npu_ns: time on cores of a warm one
 * @cpu_ns: time of the reference: plain loops, one thread
 * @wrong: elements that are too far off, over all runs
 * @off: largest difference as a part of what is allowed
 */
struct op_result {
	bool served;
	char reason[160];
	uint32_t evidence;
	uint32_t tasks;
	uint64_t predicted_ns;
	uint64_t cold;
	struct spread warm;
	uint64_t npu_ns;
	uint64_t cpu_ns;
	uint64_t wrong;
	double off;
};

/* ---- ops_reference.c ---- */

extern const struct op_case op_cases[];
extern const unsigned int num_op_cases;

/*
 * Row-major operands, each of its plan's tensor: a M x N, b M x N or N or nothing, d the
 * same; want, and how far a result may be from it, are as large as that, rows x cols.
 */
void op_reference(const struct op_case *c, const double *a, const double *b, const double *d,
		  double *want, double *allowed, uint32_t rows, uint32_t cols);

/* ---- ops_report.c ---- */

void ops_head(const struct machine *m, uint32_t rows, uint32_t cols);
void ops_row(const struct op_case *c, const struct op_result *r);
void ops_json(const struct machine *m, const struct options *opt, uint32_t rows, uint32_t cols,
	      const struct op_result *results);

#endif
