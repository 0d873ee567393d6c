// SPDX-License-Identifier: GPL-2.0-only
/* Datapath modes: hw 03 §2. */
#include "rkmm_modes.h"
#include "rkmm_pure.h"

static const char * const names[RKMM_MODES] = {
	[RKMM_MODE_COLD]	= "cold",
	[RKMM_MODE_RESET]	= "reset",
	[RKMM_MODE_F16]		= "fp16",
	[RKMM_MODE_I8]		= "int8",
	[RKMM_MODE_I4]		= "int4",
	[RKMM_MODE_DPU]		= "dpu",
};

enum rkmm_mode rkmm_mode_of(enum rkmm_types types)
{
	switch (rkmm_in_bits(types)) {
	case 4:
		return RKMM_MODE_I4;
	case 8:
		return RKMM_MODE_I8;
	default:
		return RKMM_MODE_F16;
	}
}

const char *rkmm_mode_name(enum rkmm_mode mode)
{
	return names[mode];
}
