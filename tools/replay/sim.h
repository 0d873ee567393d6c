/* SPDX-License-Identifier: MIT */
/* A plan on a virtual clock: who does what when, and where the time goes. */
#ifndef REPLAY_SIM_H
#define REPLAY_SIM_H

#include "kmod/prog/rkmm_policy.h"
#include "plan.h"

/**
 * enum term - what time goes by for; every ns of a run belongs to the first that holds
 * @TERM_NPU: a core multiplies
 * @TERM_DISPATCH: a core runs, the share of it that programs cost before they multiply
 * @TERM_MODES: the state of the cores is reset for another mode
 * @TERM_WINDOWS: the address window changes
 * @TERM_ADD: a thread adds partial results up
 * @TERM_HOST: a thread packs, submits, waits, de-tiles
 * @TERM_MODEL: a thread does what the model does between matmuls
 * @TERM_IDLE: nobody does anything
 * @TERMS: their number
 */
enum term {
	TERM_NPU,
	TERM_DISPATCH,
	TERM_MODES,
	TERM_WINDOWS,
	TERM_ADD,
	TERM_HOST,
	TERM_MODEL,
	TERM_IDLE,
	TERMS,
};

extern const char *const term_names[TERMS];

/* Tracks of a timeline: cores, then the device, then threads */
#define TRACK_DEVICE	NPU_TIME_CORES
#define TRACK_CLIENT	(TRACK_DEVICE + 1)

/**
 * struct event - one bar of a timeline
 * @track: core, TRACK_DEVICE, or TRACK_CLIENT plus the client
 * @from_ns: start
 * @to_ns: end
 * @term: what it is: TERM_NPU, _MODES, _WINDOWS, _HOST or _MODEL
 * @family: mode of TERM_NPU
 * @name: of the operation
 * @work: of TERM_NPU: what ran, an index of the plan
 */
struct event {
	u32 track;
	u64 from_ns, to_ns;
	enum term term;
	enum family family;
	const char *name;
	u32 work;
};

/**
 * struct result - a run
 * @total_ns: to the end of the last step
 * @term_ns: by enum term; their sum is @total_ns
 * @busy_ns: of each core
 * @gap_ns: of all cores together: idle while something was ready, without resets and
 *	changes of the window
 * @client_ns: end of each client's last step
 * @step_from_ns: by step of the plan, when its thread began it
 * @step_to_ns: when it was over
 * @wait_ns: longest that something ready waited for its first core
 * @ops: operations that ran
 * @programs: programs
 * @submits: submissions
 * @starts: starts of a core
 * @crossings: changes between two modes
 * @entries: changes from the cold state
 * @switches: changes of the window
 * @policy: what the policy counted
 * @events: timeline, by end
 * @nevents: how many
 */
struct result {
	u64 total_ns, term_ns[TERMS], busy_ns[NPU_TIME_CORES], gap_ns;
	u64 *client_ns, *step_from_ns, *step_to_ns;
	u64 wait_ns;
	u32 ops, programs, submits, starts, crossings, entries, switches;
	struct rkmm_policy_counts policy;
	struct event *events;
	u32 nevents;
};

/* Ends the program if the plan never ends. */
void simulate(const struct trace *trace, const struct plan *plan, struct result *result);
void result_free(struct result *result);

#endif
