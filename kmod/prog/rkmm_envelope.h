/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which geometries one die was seen to do: hw 03 §1.2, §1.7, §4.5.
 *
 * A die profile (struct rkmm_die) says what is to be expected; the envelope holds verdicts
 * of known-answer jobs (rkmm_probe.h) on this one. A geometry without a verdict is as the
 * profile has it. One that failed is not chosen again, nor is one that is larger in every
 * respect (wide batches: of any width), unless it was itself seen to be right. One that is
 * wider than what is published is chosen only when it was seen to be right.
 *
 * Pure code, also compiled into host tests and fuzzers.
 */
#ifndef RKMM_ENVELOPE_H
#define RKMM_ENVELOPE_H

#include "rkmm_prog.h"

/* The whole table with its header is 4096 bytes at most: one write of a sysfs attribute. */
#define RKMM_CELLS_MAX		480
#define RKMM_ENVELOPE_BYTES	(64 + 8 * RKMM_CELLS_MAX)
/* Of the form that it is exported in, and of what programs a geometry becomes */
#define RKMM_ENVELOPE_VERSION	1

/**
 * enum rkmm_verdict - what is known of a geometry
 * @RKMM_UNKNOWN: nothing
 * @RKMM_PROVEN: a known-answer job was right, twice, and not slow
 * @RKMM_FAILED: one was not, or did not end
 */
enum rkmm_verdict {
	RKMM_UNKNOWN,
	RKMM_PROVEN,
	RKMM_FAILED,
};

/**
 * struct rkmm_cell - a geometry as far as dies differ in it
 * @bits: bits per element of A
 * @form: enum rkmm_form
 * @data_banks: CBUF banks of the feature, 1..11
 * @cores: cores at work, 1..3
 * @k: class of the padded K of a program: rkmm_cell_k()
 * @rows: rows per program
 * @cols: class of the columns per program: rkmm_cell_cols()
 */
struct rkmm_cell {
	u8 bits, form, data_banks, cores;
	u16 k, rows, cols;
};

/**
 * struct rkmm_envelope - verdicts, sorted
 * @n: entries in use
 * @key: cells, packed so that equal ones are equal numbers
 * @verdict: enum rkmm_verdict, never RKMM_UNKNOWN
 */
struct rkmm_envelope {
	u32 n;
	u64 key[RKMM_CELLS_MAX];
	u8 verdict[RKMM_CELLS_MAX];
};

/**
 * rkmm_cell_k() - class of a padded K
 * @bits: bits per element of A
 * @kp: padded K
 *
 * int4: K itself, as no law joins the points (hw 02 §6.3). Else the ranges that row caps
 * are published for (hw 02 §5.3, hw 03 G9, G11), by their largest K.
 */
u32 rkmm_cell_k(u32 bits, u32 kp);

/** rkmm_cell_cols() - class of columns: batches themselves; else 64 for narrow ones (hw 03 G10) */
u32 rkmm_cell_cols(enum rkmm_form form, u32 cols);

/** rkmm_cell_of() - the cell of @geom with @cores cores at work */
struct rkmm_cell rkmm_cell_of(const struct rkmm_geom *geom, u32 cores);

/** rkmm_cell_valid() - fields in range and classes in use */
bool rkmm_cell_valid(const struct rkmm_cell *cell);

/** rkmm_envelope_get() - verdict on exactly this cell */
enum rkmm_verdict rkmm_envelope_get(const struct rkmm_envelope *env, const struct rkmm_cell *cell);

/**
 * rkmm_envelope_set() - note a verdict; RKMM_UNKNOWN forgets it
 * @env: the table
 * @cell: valid cell
 * @verdict: the verdict
 *
 * In a full table one that failed takes the place of one that is proven.
 *
 * Return: false when there is no room.
 */
bool rkmm_envelope_set(struct rkmm_envelope *env, const struct rkmm_cell *cell,
		       enum rkmm_verdict verdict);

/** rkmm_envelope_at() - cell and verdict number @i, below env->n */
enum rkmm_verdict rkmm_envelope_at(const struct rkmm_envelope *env, u32 i,
				   struct rkmm_cell *cell);

/** rkmm_envelope_barred() - it failed, or what failed is nowhere larger and it is not proven */
bool rkmm_envelope_barred(const struct rkmm_envelope *env, const struct rkmm_cell *cell);

/** rkmm_envelope_lanes() - cores that may run @geom, and any smaller number too; 0 for none */
u32 rkmm_envelope_lanes(const struct rkmm_envelope *env, const struct rkmm_geom *geom);

#define RKMM_ENVELOPE_RUNGS	24

/**
 * struct rkmm_envelope_die - a profile with what the verdicts add to it
 * @die: for struct rkmm_limits; its rungs are @rungs
 * @rungs: those of the profile, caps below what failed, wide geometries that are proven
 */
struct rkmm_envelope_die {
	struct rkmm_die die;
	struct rkmm_rung rungs[RKMM_ENVELOPE_RUNGS];
};

/**
 * rkmm_envelope_die() - what the planner is to choose from
 * @env: verdicts
 * @base: profile
 * @bits: bits per element of A of the plan: other cells are left out
 * @out: filled
 *
 * What does not fit is left out, wide ones first: rkmm_limits.envelope still bars what failed.
 */
void rkmm_envelope_die(const struct rkmm_envelope *env, const struct rkmm_die *base, u32 bits,
		       struct rkmm_envelope_die *out);

/**
 * struct rkmm_point - a cell that can be probed
 * @cell: the cell
 * @kp: padded K to probe it with
 * @group: points of a group are in rising order of risk: behind one that fails the rest of the
 *	group is not tried (hw 03 §1.2, §4.5)
 */
struct rkmm_point {
	struct rkmm_cell cell;
	u32 kp, group;
};

/**
 * rkmm_envelope_point() - points that are worth a probe, from safe to risky
 * @limits: chip
 * @cores: cores of the part
 * @i: number of the point
 * @point: filled
 *
 * Return: false behind the last one.
 */
bool rkmm_envelope_point(const struct rkmm_limits *limits, u32 cores, u32 i,
			 struct rkmm_point *point);

/**
 * rkmm_cell_geom() - a tiling of one lane whose programs are those of a cell
 * @limits: chip
 * @cell: the cell
 * @kp: padded K of its class
 * @geom: filled
 *
 * Two programs of rows, where they may be fewer with a shorter one behind them, by two of
 * columns.
 *
 * Return: false when there is none.
 */
bool rkmm_cell_geom(const struct rkmm_limits *limits, const struct rkmm_cell *cell, u32 kp,
		    struct rkmm_geom *geom);

/**
 * rkmm_envelope_write() - for another time
 * @env: the table
 * @chip: what the verdicts are bound to
 * @to: RKMM_ENVELOPE_BYTES bytes
 *
 * Return: bytes written.
 */
u32 rkmm_envelope_write(const struct rkmm_envelope *env, u64 chip, u8 *to);

/* Why a table was not taken */
enum rkmm_import {
	RKMM_IMPORT_OK,
	RKMM_IMPORT_SHORT,	/* fewer or more bytes than it says */
	RKMM_IMPORT_MAGIC,
	RKMM_IMPORT_VERSION,
	RKMM_IMPORT_FOREIGN,	/* of another chip */
	RKMM_IMPORT_CHECKSUM,
	RKMM_IMPORT_CELL,	/* cells out of range, or out of order */
};

/** rkmm_import_text() - the same for people */
const char *rkmm_import_text(enum rkmm_import why);

/**
 * rkmm_envelope_read() - what rkmm_envelope_write() has written
 * @from: bytes
 * @bytes: how many
 * @chip: what it has to be bound to
 * @env: filled on success, else untouched
 *
 * Return: RKMM_IMPORT_OK or why not.
 */
enum rkmm_import rkmm_envelope_read(const u8 *from, u32 bytes, u64 chip,
				    struct rkmm_envelope *env);

/** rkmm_envelope_hash() - 64 bits of @bytes bytes; @seed: of what comes before, 0 at first */
u64 rkmm_envelope_hash(u64 seed, const void *from, u32 bytes);

#endif
