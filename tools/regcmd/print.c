// SPDX-License-Identifier: MIT
#include <inttypes.h>

#include "kmod/prog/rkmm_regs.h"
#include "regcmd.h"

static const char * const start_blocks[] = {
	"CNA", "reserved", "CORE", "DPU", "DPU_RDMA", "PPU", "PPU_RDMA",
};

/* The register of an entry, NULL when none or when its target is another block. */
static const struct rkmm_reg *reg_of(uint64_t word)
{
	const struct rkmm_reg *reg = rkmm_reg_find(rkmm_entry_offset(word));

	return reg && reg->target == rkmm_entry_target(word) ? reg : NULL;
}

static bool is_start(uint64_t word)
{
	return rkmm_entry_target(word) == RKMM_TARGET_START &&
	       rkmm_entry_offset(word) == PC_OP_EN;
}

static bool is_fence(uint64_t word)
{
	return rkmm_entry_target(word) == RKMM_TARGET_FENCE && !rkmm_entry_offset(word);
}

bool entry_known(uint64_t word)
{
	return !word || is_start(word) || is_fence(word) || reg_of(word);
}

const char *entry_name(uint64_t word)
{
	static char unknown[48];

	if (!word)
		return "EMPTY";
	if (is_start(word))
		return "START";
	if (is_fence(word))
		return "FENCE";
	if (reg_of(word))
		return reg_of(word)->name;
	snprintf(unknown, sizeof(unknown), "unknown 0x%04x:%04x", rkmm_entry_target(word),
		 rkmm_entry_offset(word));
	return unknown;
}

static uint32_t unnamed_bits(const struct rkmm_reg *reg, uint32_t value)
{
	const struct rkmm_field *f = reg->fields;
	uint32_t rest = value;

	/* Entries of tables are written with their sign extended (hw 04 §2.5). */
	if (f->type == RKMM_FIELD_SIGNED && rkmm_field_get(f, value) < 0 &&
	    (value | f->mask) == UINT32_MAX)
		return 0;
	for (; f->name; f++)
		rest &= ~f->mask;
	return rest;
}

static void print_value(FILE *out, const struct rkmm_field *f, uint32_t value, bool quote)
{
	int64_t v = rkmm_field_get(f, value);
	const char *q = quote ? "\"" : "";

	if (f->type == RKMM_FIELD_ADDRESS)
		fprintf(out, "%s0x%08" PRIx64 "%s", q, (uint64_t)v, q);
	else if (f->type == RKMM_FIELD_PRECISION)
		fprintf(out, "%s%s%s", q, rkmm_precision_name((uint32_t)v), q);
	else
		fprintf(out, "%" PRId64, v);
}

/* A field worth a place in the text: codes and addresses always, numbers unless 0. */
static bool shown(const struct rkmm_field *f, uint32_t value)
{
	return (value & f->mask) || f->type == RKMM_FIELD_PRECISION ||
	       f->type == RKMM_FIELD_ADDRESS;
}

void print_text(FILE *out, size_t index, uint64_t word)
{
	const struct rkmm_reg *reg = reg_of(word);
	uint32_t value = rkmm_entry_value(word), i, rest;
	const struct rkmm_field *f;

	fprintf(out, "%4zu  %016" PRIx64 "  ", index, word);
	if (!word) {
		fputs(entry_name(word), out);
		return;
	}
	fprintf(out, "%-28s 0x%08" PRIx32, entry_name(word), value);
	if (is_start(word)) {
		for (i = 0; i < 7; i++)
			if (value >> i & 1)
				fprintf(out, " %s", start_blocks[i]);
	} else if (reg) {
		for (f = reg->fields; f->name; f++) {
			if (!shown(f, value))
				continue;
			fprintf(out, " %s=", f->name);
			print_value(out, f, value, false);
		}
		rest = unnamed_bits(reg, value);
		if (rest && reg->fields->name)
			fprintf(out, " unnamed bits 0x%" PRIx32, rest);
	} else if (!is_fence(word)) {
		const struct rkmm_reg *other = rkmm_reg_find(rkmm_entry_offset(word));
		const char *target = rkmm_target_name(rkmm_entry_target(word));

		if (!target)
			fputs(" UNKNOWN TARGET", out);
		else if (other)
			fprintf(out, " TARGET %s DOES NOT FIT %s", target, other->name);
		else
			fputs(" UNKNOWN REGISTER", out);
	}
}

void print_json(FILE *out, size_t index, uint64_t word)
{
	const struct rkmm_reg *reg = reg_of(word);
	const char *target = word ? rkmm_target_name(rkmm_entry_target(word)) : NULL;
	uint32_t value = rkmm_entry_value(word);
	const struct rkmm_field *f;

	fprintf(out, "{\"index\": %zu, \"word\": \"%016" PRIx64 "\", \"target\": ", index, word);
	if (target)
		fprintf(out, "\"%s\"", target);
	else
		fputs("null", out);
	fprintf(out, ", \"offset\": \"0x%04x\", \"name\": \"%s\", \"known\": %s",
		rkmm_entry_offset(word), entry_name(word), entry_known(word) ? "true" : "false");
	fprintf(out, ", \"value\": %" PRIu32 ", \"fields\": {", value);
	if (reg) {
		for (f = reg->fields; f->name; f++) {
			fprintf(out, "%s\"%s\": ", f == reg->fields ? "" : ", ", f->name);
			print_value(out, f, value, true);
		}
	}
	fputs("}}", out);
}

void print_field_diff(FILE *out, uint64_t x, uint64_t y)
{
	const struct rkmm_reg *reg = reg_of(x);
	uint32_t vx = rkmm_entry_value(x), vy = rkmm_entry_value(y);
	const struct rkmm_field *f;

	if (!reg)
		return;
	for (f = reg->fields; f->name; f++) {
		if (!((vx ^ vy) & f->mask))
			continue;
		fprintf(out, "  %s ", f->name);
		print_value(out, f, vx, false);
		fputs(" -> ", out);
		print_value(out, f, vy, false);
	}
}
