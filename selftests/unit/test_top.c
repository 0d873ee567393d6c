// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * rkmm-top on files that are written here: what is read from fdinfo and sysfs, shares between two
 * looks, what is printed, the screen on a terminal of ours.
 */
#include <pty.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "json_schema.h"
#include "tool_run.h"
#include "tools/top/top.h"

const char *const program_name = "test_top";

static char root[40], output[60];

static void put(const char *path, const char *text)
{
	char full[300], *slash;
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	for (slash = strchr(full + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(full, 0700);
		*slash = '/';
	}
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/* A file of a process as the kernel shows it */
static void put_file(int pid, int fd, const char *node, const char *info)
{
	char path[100], full[200];

	snprintf(path, sizeof(path), "proc/%d/fdinfo/%d", pid, fd);
	put(path, info);
	snprintf(path, sizeof(path), "proc/%d/fd/x", pid);
	put(path, "");
	snprintf(full, sizeof(full), "%s/proc/%d/fd/%d", root, pid, fd);
	unlink(full);
	assert_int_equal(symlink(node, full), 0);
}

#define INFO(id, ns, jobs, queued)							\
	"pos:\t0\nflags:\t0100002\nmnt_id:\t9\nino:\t99\n"				\
	"drm-driver:\trkmm\ndrm-client-id:\t" id "\ndrm-engine-npu:\t" ns " ns\n"	\
	"drm-engine-capacity-npu:\t3\ndrm-total-memory:\t2048 KiB\n"			\
	"drm-shared-memory:\t0 KiB\ndrm-resident-memory:\t1024 KiB\n"			\
	"rkmm-priority:\tlow\nrkmm-jobs:\t" jobs "\nrkmm-queued:\t" queued "\n"		\
	"rkmm-program-memory:\t512 KiB\nrkmm-temporary-memory:\t64 KiB\n"

static void put_device(const char *busy, const char *jobs, const char *clients)
{
	static const char dir[] = "sys/class/drm/renderD129/device/../rkmm/";
	static const char *const rest[][2] = {
		{ "states", "busy idle idle\n" }, { "modes", "int8 int4 cold\n" },
		{ "queued", "5\n" }, { "clock_hz", "1000000000\n" }, { "resets", "1\n" },
		{ "lost_irqs", "2\n" }, { "mode_changes", "31\n" },
		{ "mode_changes_avoided", "41\n" }, { "mode_resets", "7\n" }, { "switches", "8\n" },
		{ "switches_avoided", "9\n" }, { "stagings", "10\n" },
	};
	char path[100];
	size_t i;

	put("sys/class/drm/renderD129/device/x", "");
	for (i = 0; i < sizeof(rest) / sizeof(rest[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", dir, rest[i][0]);
		put(path, rest[i][1]);
	}
	snprintf(path, sizeof(path), "%sbusy_ns", dir);
	put(path, busy);
	snprintf(path, sizeof(path), "%sjobs", dir);
	put(path, jobs);
	snprintf(path, sizeof(path), "%sclients", dir);
	put(path, clients);
}

static void put_first(void)
{
	put("proc/700/comm", "model\xff server\n");
	put("proc/701/comm", "camera\n");
	put("proc/self/comm", "not a process\n");
	put("proc/702/comm", "no files\n");
	put_file(700, 5, "/dev/dri/renderD129", INFO("12", "1000000000", "100", "3"));
	/* the same open file once more, in this process and in another */
	put_file(700, 6, "/dev/dri/renderD129", INFO("12", "1000000000", "100", "3"));
	put_file(701, 3, "/dev/dri/renderD129", INFO("12", "1000000000", "100", "3"));
	put_file(701, 4, "/dev/dri/renderD128", "drm-driver:\tpanfrost\ndrm-client-id:\t12\n");
	put_file(701, 8, "/tmp/file", INFO("66", "1", "1", "1"));
	put_device("500000000 0 7\n", "100\n", "3\n");
}

/* A second later: client 12 ran for 0.9 s, a new one, 13, for 0.3 s */
static void put_second(void)
{
	put_file(700, 5, "/dev/dri/renderD129", INFO("12", "1900000000", "120", "1"));
	put_file(700, 6, "/dev/dri/renderD129", INFO("12", "1900000000", "120", "1"));
	put_file(701, 3, "/dev/dri/renderD129", INFO("12", "1900000000", "120", "1"));
	put_file(701, 9, "/dev/dri/renderD129", INFO("13", "300000000", "4", "4"));
	put_device("1250000000 200000000 250000007\n", "124\n", "3\n");
}

static void test_fdinfo(void **state)
{
	struct client c;

	(void)state;
	assert_true(fdinfo_parse(INFO("12", "1234567890123", "100", "3"), &c));
	assert_int_equal(c.id, 12);
	assert_int_equal(c.npu_ns, 1234567890123ull);
	assert_int_equal(c.capacity, 3);
	assert_int_equal(c.jobs, 100);
	assert_int_equal(c.queued, 3);
	assert_int_equal(c.total_kib, 2048);
	assert_int_equal(c.resident_kib, 1024);
	assert_int_equal(c.program_kib, 576);
	assert_string_equal(c.priority, "low");
	/* keys are whole lines' beginnings; older drivers have fewer */
	assert_true(fdinfo_parse("drm-client-id: 7\nx-drm-driver: a\ndrm-driver:   rkmm\n", &c));
	assert_int_equal(c.id, 7);
	assert_int_equal(c.npu_ns, 0);
	assert_string_equal(c.priority, "");
	assert_false(fdinfo_parse("drm-driver:\trkmmx\ndrm-client-id:\t1\n", &c));
	assert_false(fdinfo_parse("drm-driver:\trkm\ndrm-client-id:\t1\n", &c));
	assert_false(fdinfo_parse("x drm-driver:\trkmm\ndrm-client-id:\t1\n", &c));
	assert_false(fdinfo_parse("drm-driver:\trkmm\n", &c));
	assert_false(fdinfo_parse("drm-driver:", &c));
	assert_false(fdinfo_parse("", &c));
	assert_true(fdinfo_parse("drm-driver:\trkmm\ndrm-client-id:\t-1\nrkmm-priority:\ta-word-that-is-far-too-long\n",
				 &c));
	assert_int_equal(c.id, 0);
	assert_int_equal(strlen(c.priority), WORD - 1);
}

static void test_samples(void **state)
{
	struct facts facts = {};
	struct sample was, now;
	struct view view = { .facts = &facts, .was = &was, .now = &now };
	char line[LINE], all[40][LINE];
	unsigned int n;

	(void)state;
	assert_false(sample_take("/nonexistent", &was));
	put_first();
	assert_true(sample_take(root, &was));
	assert_int_equal(was.nclients, 1);
	assert_int_equal(was.clients[0].id, 12);
	assert_int_equal(was.device.cores, 3);
	assert_int_equal(was.device.busy_ns[2], 7);
	assert_string_equal(was.device.mode[1], "int4");
	assert_string_equal(was.device.state[0], "busy");
	assert_int_equal(was.device.mode_changes_avoided, 41);
	put_second();
	assert_true(sample_take(root, &now));
	assert_int_equal(now.nclients, 2);
	now.ns = was.ns + 1000000000;

	/* of three cores for a second; of one core */
	assert_int_equal(client_permille(&view, &now.clients[0]), 300);
	assert_int_equal(client_permille(&view, &now.clients[1]), 100);
	assert_int_equal(core_permille(&view, 0), 750);
	assert_int_equal(core_permille(&view, 1), 200);
	assert_int_equal(core_permille(&view, 2), 250);

	for (n = 0; show_line(&view, n, line); n++)
		strcpy(all[n], line);
	assert_int_equal(n, 1 + 3 + 4 + 2 + 2 + 1);
	assert_string_equal(all[0], "rkmm: 1000 MHz, 3 clients");
	assert_non_null(strstr(all[1], "busy   int8    75.0 % [##############################          ]"));
	assert_string_equal(all[4], "jobs     124 ended, 24.0/s, 5 queued");
	assert_string_equal(all[5], "modes    31 changes, 41 avoided, 7 resets");
	assert_string_equal(all[6], "windows  8 changes, 9 avoided, 10 stagings");
	assert_string_equal(all[7], "faults   1 resets, 2 lost interrupts");
	/* the busiest first; what is no letter is not sent to the terminal */
	assert_int_equal(strtol(all[10], NULL, 10), 12);
	assert_non_null(strstr(all[10], " 30.0 "));
	assert_null(strchr(all[10], '\xff'));
	assert_int_equal(strtol(all[11], NULL, 10), 13);
	assert_non_null(strstr(all[11], "camera"));
	assert_non_null(strstr(all[12], "1 clients of others"));
	view.order = BY_QUEUE;
	assert_true(show_line(&view, 10, line));
	assert_int_equal(strtol(line, NULL, 10), 13);
	view.order = BY_CLIENT;
	assert_true(show_line(&view, 10, line));
	assert_int_equal(strtol(line, NULL, 10), 12);

	/* no time between: no shares, and nothing is divided by it */
	now.ns = was.ns;
	assert_int_equal(client_permille(&view, &now.clients[0]), 0);
	assert_int_equal(core_permille(&view, 0), 0);
	/* a device that was bound anew counts from 0 */
	now.ns = was.ns + 1000;
	now.device.busy_ns[0] = 5;
	assert_int_equal(core_permille(&view, 0), 0);
	sample_free(&was);
	sample_free(&now);
}

static int tool(const char *a, const char *b, const char *c)
{
	const char *const args[TOOL_ARGS] = {
		"rkmm-top", "--root", root, "--delay", "0.01", a, b, c
	};

	return tool_run(top_main, output, args);
}

static void test_tool(void **state)
{
	json_t *v, *client;

	(void)state;
	put_first();
	put_second();
	assert_int_equal(tool("--once", "--json", NULL), 0);
	v = json_load_path(output);
	assert_true(json_fits(SCHEMA "top.schema.json", v));
	assert_int_equal(json_array_size(json_object_get(v, "cores")), 3);
	assert_int_equal(json_array_size(json_object_get(v, "clients")), 2);
	client = json_array_get(json_object_get(v, "clients"), 0);
	assert_int_equal(json_integer_value(json_object_get(client, "npu_ns")), 1900000000);
	/* what is no UTF-8 does not break the JSON */
	assert_string_equal(json_string_value(json_object_get(client, "command")), "model? server");
	json_object_set_new(v, "more", json_true());
	assert_false(json_fits(SCHEMA "top.schema.json", v));
	json_decref(v);
	v = json_load_path(SCHEMA "top.sample.json");
	assert_true(json_fits(SCHEMA "top.schema.json", v));
	json_decref(v);
	assert_int_equal(tool("--once", NULL, NULL), 0);
	assert_int_equal(tool("--json", "--count", "2"), 0);
	assert_int_equal(tool("--help", NULL, NULL), 0);
	assert_int_equal(tool("--nothing", NULL, NULL), 2);
	assert_int_equal(tool("something", NULL, NULL), 2);
	assert_int_equal(tool("--once", "--root", "/nonexistent"), 2);
}

/* The screen is drawn, keys are read, "q" ends it. */
static void test_screen(void **state)
{
	struct winsize size = { .ws_row = 24, .ws_col = 100 };
	char text[65536];
	size_t have = 0;
	int master, status, keys = 0;
	ssize_t n;
	pid_t pid;

	(void)state;
	put_first();
	fflush(NULL);
	pid = forkpty(&master, NULL, NULL, &size);
	assert_true(pid >= 0);
	if (!pid) {
		char delay[] = "--delay=0.05", dir[] = "--root", me[] = "rkmm-top";
		char *const argv[] = { me, dir, root, delay, NULL };

		setenv("TERM", "vt100", 1);
		exit(top_main(4, (char **)argv));
	}
	while (have < sizeof(text) - 1 && (n = read(master, text + have, sizeof(text) - 1 - have)) > 0) {
		have += (size_t)n;
		text[have] = '\0';
		/* drawn to the last line, then drawn anew in another order */
		if (!keys && strstr(text, "NPU time")) {
			assert_int_equal(write(master, "s", 1), 1);
			keys++;
		} else if (keys == 1 && strstr(text, "queue)")) {
			assert_int_equal(write(master, "q", 1), 1);
			keys++;
		}
	}
	close(master);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_non_null(strstr(text, "1000 MHz"));
	assert_non_null(strstr(text, "COMMAND"));
}

static int make_root(void **state)
{
	(void)state;
	strcpy(root, "/tmp/test_top.XXXXXX");
	if (!mkdtemp(root))
		return 1;
	snprintf(output, sizeof(output), "%s/out", root);
	return 0;
}

static int remove_root(void **state)
{
	char command[80];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_fdinfo, make_root, remove_root),
		cmocka_unit_test_setup_teardown(test_samples, make_root, remove_root),
		cmocka_unit_test_setup_teardown(test_tool, make_root, remove_root),
		cmocka_unit_test_setup_teardown(test_screen, make_root, remove_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
