/* SPDX-License-Identifier: MIT */
#ifndef REPLAY_REPLAY_H
#define REPLAY_REPLAY_H

#include "report.h"

/**
 * struct options - what was asked for
 * @die: envelope and law
 * @form: of int4 matmuls
 * @perturb: seed, -1 for none
 * @reset_us: a change of mode, by stack
 * @early: the driver changes the mode for what comes next
 */
struct options {
	const char *die;
	enum rkmm_form form;
	long perturb;
	u64 reset_us[STACKS];
	bool early;
};

extern const struct options default_options;

/* Both stacks on one trace; false for an unknown die. */
bool replay_run(const struct trace *trace, const struct options *options, struct replay *replay);
void replay_free(struct replay *replay);

int replay_main(int argc, char **argv);

#endif
