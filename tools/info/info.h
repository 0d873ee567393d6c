/* SPDX-License-Identifier: MIT */
/* rkmm-info: facts, and problems with the command that mends each. */
#ifndef TOOLS_INFO_H
#define TOOLS_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_FACTS	96
#define MAX_PROBLEMS	32
#define TEXT		256
#define PATH		512

/* Exit statuses too, but for notes */
enum severity {
	NOTE,		/* worth knowing */
	SLOWER,		/* the NPU works, and something costs speed or safety */
	UNUSABLE,	/* this user cannot use the NPU through rkmm */
};

/**
 * struct fact - something found out
 * @key: name in JSON
 * @label: name on the screen, NULL for JSON alone
 * @value: of JSON; NULL there when empty
 * @shown: on the screen
 * @number: @value is a number or a word of JSON, not a string
 */
struct fact {
	const char *key;
	const char *label;
	char value[TEXT];
	char shown[TEXT];
	bool number;
};

/**
 * struct problem - something that is not as it should be
 * @severity: how bad
 * @id: name that does not change
 * @text: what
 * @fix: the command that mends it
 */
struct problem {
	enum severity severity;
	const char *id;
	char text[TEXT];
	char fix[TEXT];
};

/**
 * struct info - all of it, and what later looks build on
 * @root: what paths begin with, "" for this machine
 * @npu: folder of the NPU's device, relative to @root, or ""
 * @name: the last part of it
 * @driver: that is bound, or ""
 * @node: render node of rkmm, relative to @root, or ""
 * @soft: it is the software NPU
 * @bound: by rkmm
 * @clock_hz: clock of the cores, 0 if not known
 * @clock_max_hz: rated one, 0 if not known
 * @container: this is one
 * @facts: what there is, in the order of the report
 * @nfacts: how many
 * @problems: what is wrong
 * @nproblems: how many
 */
struct info {
	const char *root;
	char npu[PATH];
	char name[TEXT];
	char driver[TEXT];
	char node[PATH];
	bool soft;
	bool bound;
	bool container;
	uint64_t clock_hz;
	uint64_t clock_max_hz;
	struct fact facts[MAX_FACTS];
	unsigned int nfacts;
	struct problem problems[MAX_PROBLEMS];
	unsigned int nproblems;
};

/* --- text.c: files below the root --- */

/* First line of a file, without its end; false when there is none or nothing in it */
bool read_line(const struct info *info, char text[TEXT], const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* A number at the start of a file */
bool read_number(const struct info *info, uint64_t *value, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* So many bytes; false when there are fewer */
bool read_bytes(const struct info *info, void *to, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
bool there_is(const struct info *info, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Last part of what a link points to */
bool read_link(const struct info *info, char text[TEXT], const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The i-th path that fits a pattern, relative to the root, in order; false for no more */
bool match(const struct info *info, const char *pattern, unsigned int i, char path[PATH]);

void fact(struct info *info, const char *key, const char *label, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* A number for programs, a text for people */
void fact_number(struct info *info, const char *key, const char *label, uint64_t value,
		 const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* The fix is printed behind the text: problem(info, SLOWER, "id", "command", "text") */
void problem(struct info *info, enum severity severity, const char *id, const char *fix,
	     const char *fmt, ...) __attribute__((format(printf, 5, 6)));
const char *formatted(char text[TEXT], const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* --- looks --- */

void look_driver(struct info *info);	/* driver.c: NPU, driver, module, kernel */
void look_node(struct info *info);	/* node.c: render node, permissions, containers */
void look_device(struct info *info);	/* device.c: what the driver tells */
void look_state(struct info *info);	/* device.c: totals, gates, isolation, envelope */
void look_speed(struct info *info);	/* speed.c: clocks, voltages, governors, heat */

/* --- show.c --- */

void show_text(const struct info *info);
void show_json(const struct info *info);
/* 0 for notes at most, else the worst */
int worst(const struct info *info);

#endif
