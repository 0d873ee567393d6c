// SPDX-License-Identifier: GPL-2.0-only
/*
 * __assign_str() of a trace event names only the field since 2c92ca849fcc
 * ("tracing/treewide: Remove second parameter of __assign_str()"), 6.10.
 */
#include <linux/types.h>
#include <asm/bitsperlong.h>
#include <linux/stringify.h>
#include <trace/stages/stage6_event_callback.h>

/* expanding it with the wrong number of arguments is an error */
const char probe_text[] = __stringify(__assign_str(field));
