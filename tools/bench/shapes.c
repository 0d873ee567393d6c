// SPDX-License-Identifier: MIT
/* Which matmuls: sets by name, shapes by the command line, lists in files. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

const char *const type_names[5] = {
	[DRM_RKMM_I8I32] = "i8i32",
	[DRM_RKMM_I8I8] = "i8i8",
	[DRM_RKMM_F16F32] = "f16f32",
	[DRM_RKMM_F16F16] = "f16f16",
	[DRM_RKMM_I4I16] = "i4i16",
};

#define I8	DRM_RKMM_I8I32
#define I8I8	DRM_RKMM_I8I8
#define F16	DRM_RKMM_F16F32
#define F16F16	DRM_RKMM_F16F16
#define I4	DRM_RKMM_I4I16

/* Qwen3-1.7B, prefill of 128 rows (hw 03 §7.1): q and o, k and v, gate and up, down */
static const struct shape set_llm[] = {
	{ 128, 2048, 2048, I4, 0 }, { 128, 2048, 1024, I4, 0 },
	{ 128, 2048, 6144, I4, 0 }, { 128, 6144, 2048, I4, 0 },
	{ 128, 2048, 2048, I8, 0 }, { 128, 2048, 1024, I8, 0 },
	{ 128, 2048, 6144, I8, 0 }, { 128, 6144, 2048, I8, 0 },
	{ 0 }
};

/* 27B, 64 rows (hw 03 §7.3): gate and up, down */
static const struct shape set_llm27b[] = {
	{ 64, 5120, 17408, I4, 0 }, { 64, 17408, 5120, I4, 0 },
	{ 64, 5120, 17408, I8, 0 }, { 64, 17408, 5120, I8, 0 },
	{ 0 }
};

/* One row, and few: where does the NPU begin to win over the processor? */
static const struct shape set_decode[] = {
	{ 1, 2048, 2048, I8, 0 }, { 1, 2048, 6144, I8, 0 }, { 1, 6144, 2048, I8, 0 },
	{ 1, 2048, 2048, F16, 0 }, { 1, 2048, 2048, I4, 0 },
	{ 2, 2048, 2048, I8, 0 }, { 4, 2048, 2048, I8, 0 }, { 8, 2048, 2048, I8, 0 },
	{ 16, 2048, 2048, I8, 0 }, { 32, 2048, 2048, I8, 0 },
	{ 0 }
};

/* Heads of 128: Q x K^T, then P x V, over contexts of 128, 512 and 2048; and for one token */
static const struct shape set_attention[] = {
	{ 128, 128, 128, F16, 0 }, { 128, 128, 512, F16, 0 }, { 128, 128, 2048, F16, 0 },
	{ 128, 512, 128, F16, 0 }, { 128, 2048, 128, F16, 0 },
	{ 1, 128, 2048, F16, 0 }, { 1, 2048, 128, F16, 0 },
	{ 0 }
};

/* Around alignments; thin ones */
static const struct shape set_odd[] = {
	{ 1, 1, 1, I8, 0 }, { 3, 31, 15, I8, 0 }, { 5, 33, 17, I8, 0 }, { 63, 65, 31, I8, 0 },
	{ 127, 129, 33, I8, 0 }, { 1, 1, 1, F16, 0 }, { 3, 31, 15, F16, 0 },
	{ 63, 63, 65, F16, 0 }, { 66, 33, 63, F16F16, 0 }, { 5, 65, 33, I8I8, 0 },
	{ 1, 1, 1, I4, 0 }, { 5, 65, 65, I4, 0 }, { 66, 129, 63, I4, 0 },
	{ 2, 32, 8192, I8, 0 }, { 257, 32, 16, I8, 0 }, { 2, 6144, 16, I8, 0 },
	{ 0 }
};

static const struct shape set_quick[] = {
	{ 4, 32, 32, I8, 0 }, { 33, 100, 50, I8, 0 }, { 64, 256, 128, I8, 0 },
	{ 16, 512, 48, I8I8, 0 }, { 5, 65, 33, F16, 0 }, { 32, 128, 64, F16, 0 },
	{ 17, 64, 32, F16F16, 0 }, { 8, 128, 64, I4, 0 }, { 19, 96, 70, I4, 0 },
	{ 1, 512, 256, I8, 0 },
	{ 0 }
};

static const struct {
	const char *name;
	const struct shape *list;
} sets[] = {
	{ "llm", set_llm },
	{ "llm27b", set_llm27b },
	{ "decode", set_decode },
	{ "attention", set_attention },
	{ "odd", set_odd },
	{ "quick", set_quick },
};

static void add(struct shapes *shapes, const struct shape *s)
{
	struct shape *list;

	if (!(shapes->count & (shapes->count - 1))) {
		list = realloc(shapes->list,
			       (shapes->count ? 2 * shapes->count : 1) * sizeof(*list));
		if (!list)
			die(EXIT_FAILED, "out of memory");
		shapes->list = list;
	}
	shapes->list[shapes->count++] = *s;
}

void shapes_set(struct shapes *shapes, const char *name)
{
	const struct shape *s;
	unsigned int i;

	for (i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		if (strcmp(sets[i].name, name))
			continue;
		for (s = sets[i].list; s->m; s++)
			add(shapes, s);
		return;
	}
	die(EXIT_USAGE, "--set %s: llm, llm27b, decode, attention, odd and quick are known", name);
}

/* A dimension; 0 when there is none. */
static uint32_t dimension(const char **text, char behind)
{
	unsigned long long v;
	char *end;

	if (**text < '1' || **text > '9')
		return 0;
	errno = 0;
	v = strtoull(*text, &end, 10);
	if (errno || v > INT32_MAX || *end != behind)
		return 0;
	*text = end + 1;
	return (uint32_t)v;
}

/* MxKxN:types; returns -1 when it is not that. */
static int parse(const char *text, struct shape *s)
{
	unsigned int i;

	s->named = true;
	s->m = dimension(&text, 'x');
	s->k = s->m ? dimension(&text, 'x') : 0;
	s->n = s->k ? dimension(&text, ':') : 0;
	/* The reference is kept in memory and must be addressable with room to spare. */
	if (!s->n || (uint64_t)s->m * s->k >= 1ull << 31 || (uint64_t)s->k * s->n >= 1ull << 31 ||
	    (uint64_t)s->m * s->n >= 1ull << 31)
		return -1;
	for (i = 0; i < sizeof(type_names) / sizeof(type_names[0]); i++) {
		if (!strcmp(type_names[i], text)) {
			s->types = i;
			return 0;
		}
	}
	return -1;
}

#define SHAPE_HELP \
	"a shape is MxKxN:TYPES, for example 128x2048x1024:i8i32, with TYPES i8i32, i8i8, " \
	"f16f32, f16f16 or i4i16 and less than 2^31 elements in each matrix"

void shapes_parse(struct shapes *shapes, const char *text)
{
	struct shape s;

	if (parse(text, &s))
		die(EXIT_USAGE, "--shape %s: " SHAPE_HELP, text);
	add(shapes, &s);
}

void shapes_file(struct shapes *shapes, const char *path)
{
	FILE *f = fopen(path, "r");
	unsigned int line = 0;
	struct shape s;
	char text[256];
	char *p;

	if (!f)
		die(EXIT_USAGE, "--file %s: %s", path, strerror(errno));
	while (fgets(text, sizeof(text), f)) {
		line++;
		if (!strchr(text, '\n') && !feof(f))
			die(EXIT_USAGE, "--file %s, line %u: too long, or no text", path, line);
		p = strchr(text, '#');
		if (p)
			*p = '\0';
		for (p = text + strlen(text); p > text && strchr(" \t\r\n", p[-1]); p--)
			p[-1] = '\0';
		p = text + strspn(text, " \t");
		if (!*p)
			continue;
		if (parse(p, &s))
			die(EXIT_USAGE, "--file %s, line %u: " SHAPE_HELP, path, line);
		add(shapes, &s);
	}
	if (ferror(f))
		die(EXIT_USAGE, "--file %s: cannot be read", path);
	fclose(f);
	if (!line || !shapes->count)
		die(EXIT_USAGE, "--file %s: no shapes in it", path);
}

void shape_text(const struct shape *s, char *text, size_t size)
{
	snprintf(text, size, "%ux%ux%u:%s", s->m, s->k, s->n, type_names[s->types]);
}
