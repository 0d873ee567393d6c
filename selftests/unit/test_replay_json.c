// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The formats of rkmm-replay: schemas against samples and against what is written, traces
 * there and back, traces that are refused, timelines that can be read.
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
#include <jansson.h>

#include "json_schema.h"
#include "tool_run.h"
#include "tools/replay/replay.h"

const char *const program_name = "test_replay_json";

static char file[40], input[40];

/* --- the tool's standard output in a file --------------------------------------------------- */

static int tool(const char *a, const char *b, const char *c, const char *d)
{
	const char *const args[TOOL_ARGS] = { "rkmm-replay", a, b, c, d };

	return tool_run(replay_main, file, args);
}

static void test_samples(void **state)
{
	static const char *const kinds[] = { "trace", "result" };
	char schema[80], sample[80];
	json_t *v, *other;
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		snprintf(schema, sizeof(schema), SCHEMA "replay-%s.schema.json", kinds[i]);
		snprintf(sample, sizeof(sample), SCHEMA "replay-%s.sample.json", kinds[i]);
		v = json_load_path(sample);
		assert_true(json_fits(schema, v));
		/* what a schema is for */
		json_object_set_new(v, "unknown", json_true());
		assert_false(json_fits(schema, v));
		json_object_del(v, "unknown");
		json_object_del(v, i ? "rkmm" : "clients");
		assert_false(json_fits(schema, v));
		json_decref(v);
	}
	/* the sample of a result is that of the sample of a trace */
	assert_int_equal(tool("--json", SCHEMA "replay-trace.sample.json", NULL, NULL), 0);
	v = json_load_path(file);
	other = json_load_path(SCHEMA "replay-result.sample.json");
	assert_true(json_equal(json_object_get(v, "trace"), json_object_get(other, "trace")));
	assert_true(json_fits(SCHEMA "replay-result.schema.json", v));
	json_decref(v);
	json_decref(other);
}

static void test_written(void **state)
{
	static const char *const names[] = { "w4a4-128", "mixed-128", "27b-mixed", "moe-decode",
					     "two-clients" };
	struct trace made, read;
	json_t *v;
	u32 i, j, k;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(tool("--write", names[i], NULL, NULL), 0);
		v = json_load_path(file);
		assert_true(json_fits(SCHEMA "replay-trace.schema.json", v));
		json_decref(v);
		assert_true(trace_make(names[i], &made));
		assert_true(trace_load(file, &read));
		assert_int_equal(made.nclients, read.nclients);
		assert_int_equal(made.baseline_windows, read.baseline_windows);
		for (j = 0; j < made.nclients; j++) {
			const struct client *a = &made.clients[j], *b = &read.clients[j];

			assert_int_equal(a->nops, b->nops);
			assert_int_equal(a->priority, b->priority);
			for (k = 0; k < a->nops; k++) {
				struct op x = a->ops[k], y = b->ops[k];

				assert_int_equal(x.nafter, y.nafter);
				assert_memory_equal(x.after, y.after, x.nafter * sizeof(u32));
				/* of no meaning for work of the client's own */
				x.after = y.after = NULL;
				if (x.host_ns)
					x.submit = y.submit = x.at = y.at = 0;
				assert_memory_equal(&x, &y, sizeof(x));
			}
		}
		trace_free(&read);
		trace_free(&made);
		assert_int_equal(tool("-j", "-t", names[i], NULL), 0);
		v = json_load_path(file);
		assert_true(json_fits(SCHEMA "replay-result.schema.json", v));
		json_decref(v);
	}
}

static void test_refused(void **state)
{
#define TRACE(ops) "{\"schema\": \"rkmm-replay-trace-1\", \"name\": \"x\", \"clients\": [" \
		   "{\"name\": \"c\", \"ops\": [" ops "]}]}"
#define MM "\"types\": \"i8i32\", \"m\": 1, \"k\": 32, \"n\": 32"
	static const char *const texts[] = {
		"", "[]", "{}", "{\"schema\": \"rkmm-replay-trace-1\"}",
		"{\"schema\": \"rkmm-replay-trace-2\", \"name\": \"x\", \"clients\": []}",
		"{\"schema\": \"rkmm-replay-trace-1\", \"name\": \"x\", \"clients\": []}",
		TRACE("{}"), TRACE("7"), TRACE("{\"host_ns\": 0}"), TRACE("{\"host_ns\": -1}"),
		TRACE("{\"host_ns\": 5, \"m\": 1}"), TRACE("{" MM ", \"host_ns\": 5}"),
		TRACE("{\"types\": \"i8\", \"m\": 1, \"k\": 32, \"n\": 32}"),
		TRACE("{\"types\": \"i8i32\", \"m\": 1.5, \"k\": 32, \"n\": 32}"),
		TRACE("{\"types\": \"i8i32\", \"m\": 0, \"k\": 32, \"n\": 32}"),
		TRACE("{\"types\": \"i8i32\", \"m\": 99999999, \"k\": 32, \"n\": 32}"),
		TRACE("{" MM ", \"after\": [0]}"), TRACE("{" MM ", \"after\": 0}"),
		TRACE("{" MM ", \"why\": 0}"), TRACE("{" MM ", \"submit\": 99999999999}"),
		TRACE("{" MM ", \"submit\": 1}, {" MM ", \"submit\": 1, \"after\": [0]}"),
		TRACE("{" MM "}") "x",
	};
	struct trace t;
	size_t i;
	FILE *f;

	(void)state;
	for (i = 0; i <= sizeof(texts) / sizeof(texts[0]); i++) {
		f = fopen(input, "w");
		assert_non_null(f);
		fputs(i ? texts[i - 1] : TRACE("{" MM "}, {" MM ", \"after\": [0]}"), f);
		fclose(f);
		if (trace_load(input, &t) != !i) {
			print_error("%s\n", i ? texts[i - 1] : "a good one");
			fail();
		}
		if (!i)
			assert_int_equal(t.clients[0].ops[1].nafter, 1);
		trace_free(&t);
		assert_int_equal(tool("-j", input, NULL, NULL), i ? 2 : 0);
	}
}

/* What ui.perfetto.dev asks of the format: phases, times that are not negative, named tracks */
static void test_perfetto(void **state)
{
	struct options o = default_options;
	struct replay r;
	struct trace t;
	json_t *v, *events;
	size_t i, bars = 0, named = 0;
	double last = 0;

	(void)state;
	assert_true(trace_make("two-clients", &t));
	assert_true(replay_run(&t, &o, &r));
	assert_true(perfetto_write(file, &r));
	v = json_load_path(file);
	events = json_object_get(v, "traceEvents");
	assert_true(json_array_size(events) > 1000);
	for (i = 0; i < json_array_size(events); i++) {
		json_t *e = json_array_get(events, i);
		const char *phase = json_string_value(json_object_get(e, "ph"));
		double ts = json_number_value(json_object_get(e, "ts"));
		double dur = json_number_value(json_object_get(e, "dur"));

		assert_true(json_is_integer(json_object_get(e, "pid")));
		assert_true(json_is_integer(json_object_get(e, "tid")));
		assert_true(json_is_string(json_object_get(e, "name")));
		if (!strcmp(phase, "M")) {
			named++;
			continue;
		}
		assert_string_equal(phase, "X");
		assert_true(ts >= 0 && dur >= 0);
		if (ts + dur > last)
			last = ts + dur;
		bars++;
	}
	assert_int_equal(bars, r.result[0].nevents + r.result[1].nevents);
	/* two processes with a name, and three cores, the device, two threads */
	assert_int_equal(named, 2 * (1 + 6));
	assert_true(last * 1000 <= (double)r.result[1].total_ns + 1 &&
		    last * 1000 > (double)r.result[1].total_ns - 100000);
	json_decref(v);

	assert_true(svg_write(file, &r));
	assert_false(svg_write("/nonexistent/x", &r));
	replay_free(&r);
	trace_free(&t);
}

static int make_file(void **state)
{
	(void)state;
	strcpy(file, "/tmp/test_replay_json.XXXXXX");
	strcpy(input, file);
	return temp_file(file) | temp_file(input);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(file) | unlink(input);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_written),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_perfetto),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
