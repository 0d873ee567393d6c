// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * rkmm-top --resets on a log: counts against what was put in, whatever the
 * log puts in front of a line, names that look like lines, more clients than there is room for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "json_schema.h"
#include "tool_run.h"
#include "tools/top/top.h"

const char *const program_name = "test_resets";

/*
 * Lines as dmesg, /dev/kmsg and a journal have them; a key that nobody knows yet; a name that looks
 * like a ban; others' lines, and some of no kind
 */
#define LOG	SCHEMA "resets.sample.log"

#define HANGS	3

static long long at(const json_t *v, const char *key)
{
	const json_t *n = json_object_get(v, key);

	return json_is_integer(n) ? json_integer_value(n) : -1;
}

static void test_counts(void **state)
{
	char out[] = "/tmp/resets-out-XXXXXX";
	const char *const args[TOOL_ARGS] = { "rkmm-top", "--resets", "--json", LOG };
	json_t *v, *c;
	json_error_t e;

	(void)state;
	assert_int_equal(temp_file(out), 0);
	assert_int_equal(tool_run(top_main, out, args), 0);
	v = json_load_file(out, 0, &e);
	assert_non_null(v);
	assert_true(json_fits(SCHEMA "resets.schema.json", v));
	assert_int_equal(at(v, "hangs"), HANGS);
	assert_int_equal(at(v, "read_faults"), 1);
	assert_int_equal(at(v, "write_faults"), 2);
	assert_int_equal(at(v, "bans"), 1);
	assert_true(json_is_true(json_object_get(v, "wedged")));
	assert_int_equal(at(v, "cores_off"), 1);
	c = json_object_get(v, "causes");
	assert_int_equal(at(c, "never-started"), 2);
	assert_int_equal(at(c, "stalled"), 1);
	assert_int_equal(json_object_size(c), 2);
	c = json_object_get(v, "outcomes");
	assert_int_equal(at(c, "retry"), 1);
	assert_int_equal(at(c, "EIO"), 1);
	assert_int_equal(at(c, "fallback"), 1);
	c = json_object_get(v, "cores");
	assert_int_equal(json_integer_value(json_array_get(c, 0)), 2);
	assert_int_equal(json_integer_value(json_array_get(c, 1)), 0);
	assert_int_equal(json_integer_value(json_array_get(c, 2)), 1);
	c = json_object_get(v, "waited_ms");
	assert_int_equal(at(c, "least"), 21);
	assert_int_equal(at(c, "mean"), 32);
	assert_int_equal(at(c, "most"), 40);
	c = json_object_get(v, "resets");
	assert_int_equal(at(c, "lines"), 2);
	assert_int_equal(at(c, "forced"), 1);
	assert_int_equal(at(json_object_get(c, "rungs"), "power"), 1);
	assert_int_equal(at(json_object_get(c, "outcomes"), "core-off"), 1);
	assert_int_equal(at(json_object_get(c, "outcomes"), "recovered"), 1);
	c = json_object_get(v, "clients");
	assert_int_equal(json_array_size(c), 2);
	c = json_array_get(c, 0);
	assert_int_equal(at(c, "client"), 12);
	assert_int_equal(at(c, "pid"), 480);
	assert_int_equal(at(c, "hangs"), 2);
	assert_int_equal(at(c, "failed"), 1);
	assert_true(json_is_true(json_object_get(c, "banned")));
	c = json_array_get(json_object_get(v, "clients"), 1);
	assert_int_equal(at(c, "client"), 13);
	assert_true(json_is_false(json_object_get(c, "banned")));
	assert_string_equal(json_string_value(json_object_get(c, "command")),
			    "x: ban: failed=8 client=99");
	c = json_array_get(json_object_get(v, "plans"), 1);
	assert_int_equal(at(c, "plan"), 5);
	assert_string_equal(json_string_value(json_object_get(c, "shape")), "128x2048x2048");
	assert_string_equal(json_string_value(json_object_get(c, "mode")), "int4");
	json_decref(v);
	unlink(out);
}

/* The same for people: every number is somewhere */
static void test_text(void **state)
{
	char out[] = "/tmp/resets-out-XXXXXX", text[4096];
	const char *const args[TOOL_ARGS] = { "rkmm-top", "-r", LOG };
	static const char *const parts[] = {
		"3 hangs, 3 faults of the IOMMU, 1 clients banned, DEVICE WEDGED\n",
		"never-started 2, stalled 1\n", "retry 1, EIO 1, fallback 1\n", " 0: 2 2: 1\n",
		"21 .. 40 ms, mean 32\n", "2 resets that took more, or were asked for (1)\n",
		"power 1, lines 1\n", "core-off 1, recovered 1\n", "cores out of service: 0x1\n",
		"480        2        1  yes     app\n", "int4  128x2048x2048\n",
	};
	size_t n, i;
	FILE *f;

	(void)state;
	assert_int_equal(temp_file(out), 0);
	assert_int_equal(tool_run(top_main, out, args), 0);
	f = fopen(out, "r");
	assert_non_null(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (!strstr(text, parts[i]))
			fail_msg("no \"%s\" in\n%s", parts[i], text);
	unlink(out);
}

/* Everybody is counted, with a name or not. */
static void test_many(void **state)
{
	struct resets *r = calloc(1, sizeof(*r));
	uint64_t hangs = 0, i;
	char line[300];

	(void)state;
	assert_non_null(r);
	for (i = 0; i < 3 * CULPRITS; i++) {
		snprintf(line, sizeof(line),
			 "rkmm x: hang: core=%u cause=c%u plan=%u waited_ms=1 outcome=EIO client=%u pid=1 comm=",
			 (unsigned int)i, (unsigned int)i % 11, (unsigned int)i + 1,
			 (unsigned int)i + 1);
		/* a name longer than any */
		memset(line + strlen(line), 'n', 100);
		line[sizeof(line) - 1] = '\0';
		line[250] = '\0';
		resets_line(r, line);
	}
	for (i = 0; i < CULPRITS; i++)
		hangs += r->clients[i].hangs;
	assert_int_equal(hangs, 3 * CULPRITS);
	assert_int_equal(r->clients[CULPRITS - 1].hangs, 2 * CULPRITS + 1);
	assert_int_equal(r->clients[CULPRITS - 1].id, 0);
	for (i = 0, hangs = 0; i < TALLY; i++)
		hangs += r->causes.n[i];
	assert_int_equal(hangs, 3 * CULPRITS);
	assert_string_equal(r->causes.name[TALLY - 1], "other");
	for (i = 0, hangs = 0; i < CORES; i++)
		hangs += r->cores[i];
	assert_int_equal(hangs, 3 * CULPRITS);
	free(r);
}

/* Lines cut anywhere: nothing is read behind their end. */
static void test_cut(void **state)
{
	struct resets *r = calloc(1, sizeof(*r));
	char whole[1024], *line;
	size_t n, lines = 0;
	FILE *f = fopen(LOG, "r");

	(void)state;
	assert_non_null(r);
	assert_non_null(f);
	while (fgets(whole, sizeof(whole), f)) {
		lines++;
		for (n = 0; n <= strlen(whole); n++) {
			line = strndup(whole, n);
			assert_non_null(line);
			resets_line(r, line);
			free(line);
		}
	}
	fclose(f);
	assert_true(lines > 10);
	free(r);
}

static void test_refused(void **state)
{
	char out[] = "/tmp/resets-out-XXXXXX";
	const char *const none[TOOL_ARGS] = { "rkmm-top", "--resets", "/nowhere/at/all" };
	const char *const two[TOOL_ARGS] = { "rkmm-top", "--resets", "/dev/null", "/dev/null" };
	const char *const plain[TOOL_ARGS] = { "rkmm-top", "/dev/null" };

	(void)state;
	assert_int_equal(temp_file(out), 0);
	assert_int_equal(tool_run(top_main, out, none), 2);
	assert_int_equal(tool_run(top_main, out, two), 2);
	assert_int_equal(tool_run(top_main, out, plain), 2);
	unlink(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
