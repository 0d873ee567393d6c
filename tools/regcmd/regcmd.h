/* SPDX-License-Identifier: MIT */
/* rkmm-regcmd: write, read, compare and run register-command programs. */
#ifndef REGCMD_H
#define REGCMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "kmod/prog/rkmm_epilogue.h"

#define EXIT_USAGE	1	/* also: input that cannot be read */
#define EXIT_HANG	2	/* run: hang or fault; diff: trouble */
#define EXIT_LAW	3	/* run: a law of the sheets is broken */

/* The subcommands; argv[0] is the subcommand's name. Each returns the exit status. */
int cmd_emit(int argc, char **argv);
int cmd_decode(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_op(int argc, char **argv);
int cmd_chain(int argc, char **argv);
int cmd_ops(int argc, char **argv);

extern const char emit_help[], decode_help[], diff_help[], run_help[], plan_help[], op_help[],
	chain_help[],
	ops_help[];

/* "i8i32" ...; false, with a complaint, for anything else. */
bool parse_types(const char *text, enum rkmm_types *types);

/* Stages of an epilogue: "NAME,KEY=VALUE,..." each, cut up on the way; false with a complaint. */
bool parse_stages(char **text, uint32_t n, enum rkmm_types types, struct rkmm_stages *stages);
/* Where each stage is, and why. */
void print_stages(const struct rkmm_stages *stages, const struct rkmm_epilogue *e);
void print_stages_json(const struct rkmm_stages *stages, const struct rkmm_epilogue *e);

/* Print one line "rkmm-regcmd: ..." on stderr. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Write out stdout: false, with a complaint, when that failed. */
bool flush_output(void);

/*
 * A number in C notation within [@min, @max]; false, with a complaint naming
 * @what, when @text is none.
 */
bool parse_number(const char *what, const char *text, int64_t min, int64_t max, int64_t *value);

/*
 * "FILE@ADDR": the last @ counts. @path is allocated. "ADDR:LEN" and
 * "ADDR:LEN=FILE" likewise. False with a complaint.
 */
bool parse_file_at(const char *what, const char *text, char **path, uint32_t *addr);
bool parse_range(const char *what, const char *text, uint32_t *addr, uint32_t *len, char **path);

/**
 * struct words - program entries
 * @v: allocated
 * @n: how many
 */
struct words {
	uint64_t *v;
	size_t n;
};

/* Whole file, "-" for stdin; at most @most bytes. NULL with a complaint. */
uint8_t *read_file(const char *path, size_t most, size_t *len);

/* One hex word per line, or little-endian binary. False with a complaint. */
bool read_words(const char *path, struct words *words);

/* One entry as text or as a JSON object, without a line end. */
void print_text(FILE *out, size_t index, uint64_t word);
void print_json(FILE *out, size_t index, uint64_t word);

/* A dump of a hang; the exit status. */
int print_dump(const char *path, bool json);

/* "CNA_CBUF_CON0" or "unknown 0x0201:1048", in a static buffer. */
const char *entry_name(uint64_t word);

/* True when the entry names a register, a start or the empty tail entry. */
bool entry_known(uint64_t word);

/* The fields in which two values of an entry's register differ. */
void print_field_diff(FILE *out, uint64_t x, uint64_t y);

/**
 * struct space - a sparse 32-bit address space of 4096-byte pages
 * @pages: one pointer per page, NULL where nothing is mapped
 * @writable: one byte per page
 * @mapped: bytes mapped
 */
struct space {
	uint8_t **pages;
	uint8_t *writable;
	uint64_t mapped;
};

bool space_init(struct space *space);
void space_free(struct space *space);

/* Map zeroed pages for [@addr, @addr + @len); false with a complaint. */
bool space_map(struct space *space, uint32_t addr, uint64_t len);

/* Behind every mapped range: one read-only page of zeros, as the driver maps. */
bool space_guard(struct space *space);

/* Copies; false and the first bad address when a page is missing or read-only. */
bool space_read(const struct space *space, uint32_t addr, void *dst, uint64_t len,
		uint32_t *fault);
bool space_write(struct space *space, uint32_t addr, const void *src, uint64_t len,
		 uint32_t *fault);

#endif
