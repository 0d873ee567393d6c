/* SPDX-License-Identifier: MIT */
/* What every tool needs. */
#ifndef TOOLS_COMMON_H
#define TOOLS_COMMON_H

#include <stddef.h>
#include <stdint.h>
#include <stdnoreturn.h>

/* Name in front of messages; each tool has its own. */
extern const char *const program_name;

/* Says why on standard error and ends the program. */
noreturn void die(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Memory for count elements; ends the program with status 1 when there is none. */
void *allocate(size_t count, size_t size);

/* "auto", "flat", "batch" or "cube" to enum drm_rkmm_form; -1 for none of them. */
int form_parse(const char *text);

#endif
