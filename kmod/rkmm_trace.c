// SPDX-License-Identifier: GPL-2.0-only
#include "compat/rkmm_compat.h"

#define CREATE_TRACE_POINTS
#include "rkmm_trace.h"
