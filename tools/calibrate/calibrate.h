/* SPDX-License-Identifier: MIT */
/* rkmm-calibrate: which geometries this die does. */
#ifndef CALIBRATE_H
#define CALIBRATE_H

#include <stdbool.h>
#include <stdint.h>

#include "rkmm_drm.h"

/* What the program ends with */
enum status {
	STATUS_DONE,		/* everything that was asked for */
	STATUS_FAILED,		/* it could not be done */
	STATUS_USAGE,
	STATUS_REFUSED,		/* a table that the driver does not take */
	STATUS_STOPPED,		/* by a signal: what is left can be done later */
};

/**
 * struct wish - what is to be tried
 * @bits: bits per element, 0 for any
 * @k: K, 0 for any
 * @cores: cores at work, 0 for any number
 * @again: what has a verdict too
 * @dry: nothing: only say what is known
 * @json: report as JSON
 * @quiet: no progress
 */
struct wish {
	unsigned int bits, k, cores;
	bool again, dry, json, quiet;
};

/* A geometry, by the number that the driver gives it */
struct point {
	struct drm_rkmm_probe now;	/* as the driver said last */
	bool ran, skipped;		/* skipped: something less risky failed */
};

/* node.c */

/* The render node @path, or the first one of the driver; ends the program where there is none. */
int node_open(const char *path);
/* 0 or -errno */
int node_probe(int fd, struct drm_rkmm_probe *args);
/* Copy the table to a file, or a file to it. enum status, with a line on standard error. */
int node_export(int fd, const char *file);
int node_import(int fd, const char *file);

/* run.c */

/* Try what @wish asks for, and report. enum status. */
int run(int fd, const struct wish *wish);

int calibrate_main(int argc, char **argv);

#endif
