/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A known-answer job of one geometry: random operands, and for each row of C the sum of its
 * elements under random weights. One sum tells whatever is wrong in a row, and takes no
 * second multiplication of matrices.
 *
 * Pure code, also compiled into host tests.
 */
#ifndef RKMM_PROBE_H
#define RKMM_PROBE_H

#include "rkmm_envelope.h"
#include "rkmm_known.h"

/**
 * struct rkmm_probe - the job
 * @at: its tiling on one core, and where its operands lie; it has no cells
 * @seed: of its operands and weights
 */
struct rkmm_probe {
	struct rkmm_known at;
	u32 seed;
};

/**
 * enum rkmm_outcome - how a probe went
 * @RKMM_OUTCOME_NONE: it was not run
 * @RKMM_OUTCOME_RIGHT: right every time, and not slow
 * @RKMM_OUTCOME_WRONG: rows were wrong
 * @RKMM_OUTCOME_SLOW: right, but not below twice the predicted time
 * @RKMM_OUTCOME_HUNG: it did not end
 */
enum rkmm_outcome {
	RKMM_OUTCOME_NONE,
	RKMM_OUTCOME_RIGHT,
	RKMM_OUTCOME_WRONG,
	RKMM_OUTCOME_SLOW,
	RKMM_OUTCOME_HUNG,
};

/** rkmm_probe_init() - the job of @cell with padded K @kp; false when the chip has none */
bool rkmm_probe_init(const struct rkmm_limits *limits, const struct rkmm_cell *cell, u32 kp,
		     u32 seed, struct rkmm_probe *probe);

/** rkmm_probe_fill() - write A and B at @mem, zeroed and probe->at.c bytes long */
void rkmm_probe_fill(const struct rkmm_probe *probe, u8 *mem);

/**
 * rkmm_probe_sums() - what C has to sum up to
 * @probe: the job
 * @work: room for kp numbers
 * @want: room for a number of each row
 */
void rkmm_probe_sums(const struct rkmm_probe *probe, u64 *work, u64 *want);

/** rkmm_probe_wrong() - rows of C at @c that do not sum up to @want */
u32 rkmm_probe_wrong(const struct rkmm_probe *probe, const u8 *c, const u64 *want);

/**
 * rkmm_probe_judge() - all runs of it
 * @wrong: rows that were wrong, of all runs
 * @ns: time of the slowest
 * @predicted_ns: predicted time of one
 * @patience: how many times slower than a chip the device is
 */
enum rkmm_outcome rkmm_probe_judge(u32 wrong, u64 ns, u64 predicted_ns, u32 patience);

#endif
