/* SPDX-License-Identifier: MIT */
/*
 * A timeline in the JSON trace format, which Chrome and the Perfetto UI open. Bars of a
 * track may not overlap.
 */
#ifndef TOOLS_PERFETTO_H
#define TOOLS_PERFETTO_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A string in quotes. Bytes that are no UTF-8 become question marks. */
void json_text(FILE *f, const char *text);

/**
 * struct perfetto - a file that is being written
 * @f: file
 * @path: its name
 * @sep: what stands before the next event
 * @arg: what stands before the next argument
 */
struct perfetto {
	FILE *f;
	const char *path, *sep, *arg;
};

/* False with a message. After true perfetto_end() must follow. */
bool perfetto_begin(struct perfetto *out, const char *path);
/* Closes the file; false with a message. */
bool perfetto_end(struct perfetto *out);

void perfetto_process(struct perfetto *out, unsigned int pid, const char *name);
void perfetto_track(struct perfetto *out, unsigned int pid, unsigned int tid, const char *name);

/* A bar, then any number of its arguments, then its end */
void perfetto_bar(struct perfetto *out, unsigned int pid, unsigned int tid, uint64_t from_ns,
		  uint64_t to_ns, const char *category, const char *name);
void perfetto_arg(struct perfetto *out, const char *key, int64_t value);
void perfetto_arg_text(struct perfetto *out, const char *key, const char *value);
void perfetto_bar_end(struct perfetto *out);

/* A value that changes with time */
void perfetto_counter(struct perfetto *out, unsigned int pid, uint64_t ns, const char *name,
		      int64_t value);

#endif
