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
 * @RKMM_MODE_DPU: no matmuls; leaves a core in the mode it is in
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

/** rkmm_mode_of() - mode of matmuls of a type pair */
enum rkmm_mode rkmm_mode_of(enum rkmm_types types);
/** rkmm_mode_name() - "int8" ... */
const char *rkmm_mode_name(enum rkmm_mode mode);

#endif
