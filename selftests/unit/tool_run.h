/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A tool called as a function, its output in a file. Behind cmocka.h. */
#ifndef TOOL_RUN_H
#define TOOL_RUN_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TOOL_ARGS	8

/* The arguments end with the first NULL; returns the status. */
static inline int tool_run(int (*run)(int argc, char **argv), const char *out,
			   const char *const args[TOOL_ARGS])
{
	char *argv[TOOL_ARGS + 1] = { NULL };
	int argc = 0, keep, status;

	for (; argc < TOOL_ARGS && args[argc]; argc++)
		argv[argc] = (char *)args[argc];
	fflush(stdout);
	keep = dup(1);
	assert_true(keep >= 0 && freopen(out, "w", stdout));
	status = run(argc, argv);
	fflush(stdout);
	assert_true(dup2(keep, 1) == 1);
	close(keep);
	return status;
}

/* A new empty file; @path ends in six X. Returns -1 when there is none. */
static inline int temp_file(char *path)
{
	int fd = mkstemp(path);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? -1 : 0;
}

#endif
