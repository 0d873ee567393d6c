/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Datapath modes of a core, and what it takes to get from one to another.
 *
 * Pure code, also compiled into host tests and tools.
 */
#ifndef RKMM_MODES_H
#define RKMM_MODES_H

#include "rkmm_prog.h"

/**
 * enum rkmm_mode - what a core ran last, or what work needs
 * @RKMM_MODE_COLD: nothing since power-on
 * @RKMM_MODE_RESET: nothing since a reset
 * @RKMM_MODE_F16: matmuls of fp16
 * @RKMM_MODE_I8: matmuls of int8
 * @RKMM_MODE_I4: matmuls of int4
 * @RKMM_MODE_DPU: no matmuls; leaves a core in the mode it is in. As what a transition leads
 *	to: a start that begins with an int8 task of the DPU alone
 * @RKMM_MODES: how many
 */
enum rkmm_mode {
	RKMM_MODE_COLD,
	RKMM_MODE_RESET,
	RKMM_MODE_F16,
	RKMM_MODE_I8,
	RKMM_MODE_I4,
	RKMM_MODE_DPU,
	RKMM_MODES,
};

/**
 * enum rkmm_need - what has to happen between two modes; the more the higher
 * @RKMM_NEED_NOTHING: nothing: it is the same mode, or no mode at all
 * @RKMM_NEED_KEEP: nothing, as was seen; the core is kept as it is
 * @RKMM_NEED_WARM: the first run may be wrong, the next one is not
 * @RKMM_NEED_CHECK: a matmul with known results; a reset, from then on, if they are wrong
 * @RKMM_NEED_RESET: the cores are reset
 */
enum rkmm_need {
	RKMM_NEED_NOTHING,
	RKMM_NEED_KEEP,
	RKMM_NEED_WARM,
	RKMM_NEED_CHECK,
	RKMM_NEED_RESET,
};

/**
 * enum rkmm_grounds - how sure the need of a transition is
 * @RKMM_GROUNDS_SEEN: without it was seen to be wrong, or seen to be right
 * @RKMM_GROUNDS_POLICY: a driver in use did so; nobody tried without
 * @RKMM_GROUNDS_DISPUTED: seen to be wrong without, and seen to be right
 */
enum rkmm_grounds {
	RKMM_GROUNDS_SEEN,
	RKMM_GROUNDS_POLICY,
	RKMM_GROUNDS_DISPUTED,
};

/**
 * struct rkmm_transition - from one mode to another
 * @need: what it takes
 * @grounds: how sure that is
 * @source: where it is told, a constant string
 */
struct rkmm_transition {
	enum rkmm_need need;
	enum rkmm_grounds grounds;
	const char *source;
};

/** rkmm_transition() - the row for @from, which is no RKMM_MODE_DPU, and @to */
const struct rkmm_transition *rkmm_transition(enum rkmm_mode from, enum rkmm_mode to);

/**
 * struct rkmm_verdicts - what is done at each transition
 * @need: enum rkmm_need, by from and to
 */
struct rkmm_verdicts {
	u8 need[RKMM_MODES][RKMM_MODES];
};

/**
 * rkmm_verdicts_parse() - verdicts as a text wants them
 * @text: "table": the table; "warm": the table without resets; "prove": the table, with
 *	checks instead of disputed resets; behind one, or alone (then "table" is meant), any
 *	number of ",FROM>TO=NEED", with the names of rkmm_mode_name() and rkmm_need_name(),
 *	"*" for any
 * @verdicts: filled
 *
 * Return: false if the text is none of this.
 */
bool rkmm_verdicts_parse(const char *text, struct rkmm_verdicts *verdicts);

/** rkmm_verdicts_have() - whether any transition takes @need */
bool rkmm_verdicts_have(const struct rkmm_verdicts *verdicts, enum rkmm_need need);

/** rkmm_mode_of() - mode of matmuls of a type pair */
enum rkmm_mode rkmm_mode_of(enum rkmm_types types);
/** rkmm_mode_name() - "int8" ... */
const char *rkmm_mode_name(enum rkmm_mode mode);
/** rkmm_need_name() - "reset" ... */
const char *rkmm_need_name(enum rkmm_need need);
/** rkmm_grounds_name() - "seen" ... */
const char *rkmm_grounds_name(enum rkmm_grounds grounds);

#endif
