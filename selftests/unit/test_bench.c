// SPDX-License-Identifier: MIT
/* rkmm-bench from command line to report, over the kernel of fake_kernel.c. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <math.h>
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

#include "fake_kernel.h"
#include "rkmm.h"
#include "tools/bench/ops.h"
#include "tools/bench/submit.h"

#define MAX_ARGS	24

static char folder[40];
static char out[65536], err[8192];

static void slurp(const char *name, char *buf, size_t size)
{
	FILE *f = fopen(name, "r");
	size_t n;

	assert_non_null(f);
	n = fread(buf, 1, size - 1, f);
	buf[n] = '\0';
	fclose(f);
}

static void spit(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* Runs the program in a child; words are split at blanks. Returns its status. */
static int run(const char *text)
{
	char line[1024], *argv[MAX_ARGS] = { (char *)"rkmm-bench" }, *save = NULL, *word;
	int argc = 1, status;
	pid_t pid;

	snprintf(line, sizeof(line), "%s", text);
	for (word = strtok_r(line, " ", &save); word; word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	fflush(NULL);
	pid = fork();
	if (!pid) {
		dup2(open("stdout", O_WRONLY | O_CREAT | O_TRUNC, 0600), 1);
		dup2(open("stderr", O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
		exit(bench_main(argc, argv));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	slurp("stdout", out, sizeof(out));
	slurp("stderr", err, sizeof(err));
	return WEXITSTATUS(status);
}

static unsigned int count(const char *text, const char *what)
{
	unsigned int n = 0;

	while ((text = strstr(text, what))) {
		text += strlen(what);
		n++;
	}
	return n;
}

static void test_usage(void **state)
{
	static const struct {
		const char *args, *says;
	} bad[] = {
		{ "--set nosuch", "--set nosuch" },
		{ "--shape 1x2", "MxKxN:TYPES" },
		{ "--shape 0x2x3:i8i32", "MxKxN:TYPES" },
		{ "--shape -1x2x3:i8i32", "MxKxN:TYPES" },
		{ "--shape 1x2x3", "MxKxN:TYPES" },
		{ "--shape 1x2x3:", "MxKxN:TYPES" },
		{ "--shape 1x2x3:i8i32x", "MxKxN:TYPES" },
		{ "--shape 1x2x3x4:i8i32", "MxKxN:TYPES" },
		{ "--shape 99999999999999999999x2x3:i8i32", "MxKxN:TYPES" },
		{ "--shape 65536x65536x1:i8i32", "MxKxN:TYPES" },
		{ "--repeat 0", "--repeat 0" },
		{ "--repeat -1", "--repeat -1" },
		{ "--repeat 2x", "--repeat 2x" },
		{ "--seed x", "--seed x" },
		{ "--ab cores:1", "two arms" },
		{ "--ab cores:1=cores:2=cores:3", "two arms" },
		{ "--ab cores:0=cores:1", "ab cores 0" },
		{ "--ab =", "arms are" },
		{ "--ab mask:0=mask:1", "ab mask 0" },
		{ "--ab hovercraft=eels", "arms are" },
		{ "--ab cores:111111111111111111111111111=cores:1", "no arm" },
		{ "--ab form:round=form:cube", "ab form round" },
		{ "--ab group:0=default", "ab times 0" },
		{ "--ab die:=default", "arms are" },
		{ "--ab die:123456789012345678=default", "arms are" },
		{ "--form round", "--form round" },
		{ "--host --form cube", "matmuls only" },
		{ "--json --csv", "exclude" },
		{ "--submit --host", "exclude" },
		{ "--submit --csv", "matmuls only" },
		{ "--host --plot x.svg", "matmuls only" },
		{ "--host --shape 1x2x3:i8i32", "own shapes" },
		{ "--ops --shape 1x2x3:i8i32", "own shapes" },
		{ "--ops --submit", "exclude" },
		{ "--ops --csv", "matmuls only" },
		{ "--size 3", "--host" },
		{ "--host --size 0", "--size 0" },
		{ "--file nosuch", "nosuch" },
		{ "--file empty", "no shapes" },
		{ "--file bad", "line 3" },
		{ "--file long", "line 1: too long" },
		{ "--file /dev/zero", "line 1: too long" },
		{ "--nosuch", "nosuch" },
		{ "something", "something" },
	};
	char text[400];
	unsigned int i;

	(void)state;
	spit("empty", "# nothing\n\n");
	spit("bad", "# comment\n4x32x32:i8i32\n4x32:i8i32\n");
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	spit("long", text);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (run(bad[i].args) != EXIT_USAGE || !strstr(err, bad[i].says) || *out ||
		    count(err, "\n") != 1)
			fail_msg("%s: %s", bad[i].args, err);
	}
	assert_int_equal(run("--help"), EXIT_OK);
	assert_non_null(strstr(out, "usage: rkmm-bench"));
	assert_int_equal(run("--version"), EXIT_OK);
}

static void test_table(void **state)
{
	(void)state;
	spit("shapes", "  3x33x17:i8i32  # odd\n\n5x64x32:f16f32\r\n");
	assert_int_equal(run("--set quick --file shapes --repeat 2 -q"), EXIT_OK);
	assert_string_equal(err, "");
	/* Ten of the set, the file's two; five of them are integers all the same. */
	assert_int_equal(count(out, " exact\n"), 8);
	assert_int_equal(count(out, " right ("), 4);
	assert_int_equal(run("--shape 4x32x32:i8i32 --repeat 1"), EXIT_OK);
	assert_string_equal(err, "[1/1] 4x32x32:i8i32\n");
}

static void test_wrong(void **state)
{
	(void)state;
	fake.corrupt = 1;
	assert_int_equal(run("--shape 4x32x32:i8i32 --repeat 2 -q"), EXIT_FAILED);
	assert_non_null(strstr(out, "WRONG"));
	assert_non_null(strstr(err, "WRONG"));
	assert_int_equal(run("--shape 4x32x32:i8i32 --repeat 2 -q --json"), EXIT_FAILED);
	assert_null(strstr(out, "\"wrong\": 0"));
	fake_reset();
}

static void test_no_device(void **state)
{
	(void)state;
	fake.name = "other";
	assert_int_equal(run("--set quick"), EXIT_FAILED);
	assert_ptr_equal(strstr(err, "rkmm-bench: no "), err);
	fake_reset();
	fake.fail = DRM_IOCTL_RKMM_SUBMIT;
	fake.fail_errno = -EPERM;
	assert_int_equal(run("--set quick -q"), EXIT_FAILED);
	assert_non_null(strstr(err, "rkmm-bench: "));
	fake_reset();
}

static void test_ab(void **state)
{
	(void)state;
	assert_int_equal(run("--ab cores:1=mask:0x1 --shape 4x32x32:i8i32 --repeat 3 -q"), EXIT_OK);
	assert_int_equal(count(out, " exact\n"), 2);
	assert_int_equal(count(out, "cores:1 / mask:0x1 = "), 2);
	assert_int_equal(run("--ab cores:1=cores:2 --shape 4x32x32:i8i32 -q"), EXIT_USAGE);
	assert_non_null(strstr(err, "1 cores"));
	assert_int_equal(run("--ab mask:0x1=mask:0x8 --shape 4x32x32:i8i32 -q"), EXIT_USAGE);
	assert_non_null(strstr(err, "no core 3 is"));
	assert_int_equal(run("--ab form:flat=form:cube --shape 4x32x32:i8i32 --repeat 2 -q"),
			 EXIT_OK);
	assert_int_equal(count(out, "form:flat / form:cube = "), 2);
	assert_int_equal(run("--ab single:5=group:5 --shape 4x32x32:i8i32 --shape 9x40x70:f16f32 -q"),
			 EXIT_OK);
	assert_int_equal(count(out, " exact\n") + count(out, " right ("), 4);
	assert_int_equal(count(out, "single:5 / group:5 = "), 3);
	assert_int_equal(run("--ab batch:3=default --shape 4x32x32:i8i32 --repeat 2 -q"), EXIT_OK);
	assert_int_equal(count(out, " exact\n"), 2);
	/* no driver, no parameter */
	assert_int_equal(run("--ab die:shipped=die:default --shape 4x32x32:i4i16 -q"), EXIT_FAILED);
	assert_non_null(strstr(err, "die:shipped"));
}

/* Brackets outside of strings match, and nothing follows the last. */
static void check_json(const char *s)
{
	char open[64];
	int depth = 0;

	for (; *s; s++) {
		switch (*s) {
		case '"':
			for (s++; *s != '"'; s++) {
				assert_true(*s);
				s += *s == '\\';
			}
			break;
		case '{':
		case '[':
			assert_true(depth < 64);
			open[depth++] = *s;
			break;
		case '}':
		case ']':
			assert_true(depth > 0);
			assert_int_equal(open[--depth], *s == '}' ? '{' : '[');
			if (!depth) {
				assert_string_equal(s + 1, "\n");
				return;
			}
			break;
		default:
			break;
		}
	}
	fail_msg("unfinished JSON");
}

static void test_forms(void **state)
{
	char head[1024], *line;
	unsigned int commas;

	(void)state;
	assert_int_equal(run("--set quick --repeat 2 -q --json"), EXIT_OK);
	check_json(out);
	assert_int_equal(count(out, "\"wrong\": 0"), 10);
	assert_int_equal(count(out, "\"served\": true"), 10);
	assert_int_equal(count(out, "\"synced_bytes\": null"), 10);

	assert_int_equal(run("--set quick --repeat 2 -q --csv --ab cores:1=mask:1"), EXIT_OK);
	line = strchr(out, '\n');
	assert_non_null(line);
	snprintf(head, sizeof(head), "%.*s", (int)(line - out), out);
	commas = count(head, ",");
	assert_int_equal(count(out, "\n"), 21);
	assert_int_equal(count(out, ","), 21 * commas);

	assert_int_equal(run("--set quick --repeat 2 -q --plot p.svg"), EXIT_OK);
	slurp("p.svg", out, sizeof(out));
	assert_ptr_equal(strstr(out, "<svg "), out);
	assert_string_equal(out + strlen(out) - 7, "</svg>\n");
	assert_int_equal(count(out, ">4x32x32:i8i32</text>"), 1);
	assert_int_equal(count(out, " GOP/s</text>"), 10);
	assert_null(strstr(out, "nan"));
	assert_null(strstr(out, "inf"));
	assert_int_equal(run("--set quick --repeat 1 -q --plot nowhere/p.svg"), EXIT_FAILED);
	assert_non_null(strstr(err, "nowhere/p.svg"));
}

static void test_host(void **state)
{
	(void)state;
	assert_int_equal(run("--host --size 1 --repeat 2 -q"), EXIT_OK);
	assert_non_null(strstr(out, "pack B int8"));
	assert_non_null(strstr(out, "ns per program, least"));
	assert_int_equal(count(out, "int4 batch 128x2048x2048, shipped"), 2);
	assert_int_equal(run("--host --size 1 --repeat 1 -q --json"), EXIT_OK);
	check_json(out);
	assert_non_null(strstr(out, "\"light\": 508,"));
}

static void test_spread(void **state)
{
	uint64_t v[] = { 9, 1, 5, 3, 7 };
	struct spread s = spread_of(v, 5);

	(void)state;
	assert_int_equal(s.median, 5);
	assert_int_equal(s.low, 3);
	assert_int_equal(s.high, 7);
	s = spread_of(v, 2);
	assert_int_equal(s.median, 2);
	assert_int_equal(s.low, 1);
	assert_int_equal(s.high, 3);
	assert_int_equal(spread_of(v, 1).median, 1);
	assert_int_equal(spread_of(v, 0).count, 0);
}

static void make(const char *path, const char *text)
{
	char dir[200], *at;

	snprintf(dir, sizeof(dir), "%s", path);
	for (at = strchr(dir, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		mkdir(dir, 0700);
		*at = '/';
	}
	spit(path, text);
}

static void test_governors(void **state)
{
	struct machine m;

	(void)state;
	machine_read(&m, NULL, "nowhere");
	assert_true(m.settled);
	assert_string_equal(m.cpu, "");
	make("root/sys/devices/system/cpu/cpufreq/policy4/scaling_governor", "performance\n");
	make("root/sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "performance\n");
	machine_read(&m, NULL, "root");
	assert_true(m.settled);
	assert_string_equal(m.cpu, "policy0 performance, policy4 performance");
	make("root/sys/class/devfreq/dmc/governor", "dmc_ondemand\n");
	make("root/sys/class/devfreq/fb000000.gpu/governor", "simple_ondemand\n");
	machine_read(&m, NULL, "root");
	assert_false(m.settled);
	assert_string_equal(m.ddr, "dmc dmc_ondemand");
}

#define NORM_ROWS	32
#define NORM_COLS	72

static double random_part(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (double)(*seed >> 11) / (double)(1ull << 52) - 1;
}

static double as_half(double v)
{
	float f = (float)v;
	uint16_t half;

	rkmm_f32_to_f16(&f, &half, 1);
	rkmm_f16_to_f32(&half, &f, 1);
	return (double)f;
}

/*
 * Gamma's product and beta may cancel out: results that are off by no more than the roundings
 * before them are right, though by the size of the result alone some would not be. A value
 * that is off by 1/64, or has its neighbour's beta, is wrong.
 */
static void test_norm_bound(void **state)
{
	static double a[NORM_ROWS * NORM_COLS], want[NORM_ROWS * NORM_COLS],
		      allowed[NORM_ROWS * NORM_COLS], gamma[NORM_COLS], beta[NORM_COLS];
	struct op_case c = { .desc = { .m = NORM_ROWS, .n = NORM_COLS } };
	uint64_t seed = 5, far = 0, slope = 0, other = 0;
	uint32_t i, col, round;
	double y, got;

	(void)state;
	for (i = 0; i < num_op_cases; i++)
		if (op_cases[i].desc.kind == DRM_RKMM_OP_LAYERNORM)
			c = op_cases[i];
	assert_int_equal(c.desc.kind, DRM_RKMM_OP_LAYERNORM);
	assert_true(c.lo == -8 && c.hi == 8);
	c.desc.m = NORM_ROWS;
	c.desc.n = NORM_COLS;
	for (round = 0; round < 50; round++) {
		for (i = 0; i < NORM_ROWS * NORM_COLS; i++)
			a[i] = as_half(8 * random_part(&seed));
		for (col = 0; col < NORM_COLS; col++) {
			gamma[col] = as_half(8 * random_part(&seed));
			beta[col] = as_half(8 * random_part(&seed));
		}
		op_reference(&c, a, gamma, beta, want, allowed, NORM_ROWS, NORM_COLS);
		for (i = 0; i < NORM_ROWS * NORM_COLS; i++) {
			col = i % NORM_COLS;
			y = (want[i] - beta[col]) / gamma[col];
			got = y * (1 + random_part(&seed) * 3 / 2048);
			got = as_half(as_half(as_half(got) * gamma[col]) + beta[col]);
			assert_true(fabs(got - want[i]) <= allowed[i]);
			far += fabs(got - want[i]) > 8.0 / 1024 * fmax(fabs(want[i]), 1);
			got = y * (1 + 1.0 / 64) * gamma[col] + beta[col];
			slope += fabs(got - want[i]) > allowed[i];
			got = y * gamma[col] + beta[(col + 1) % NORM_COLS];
			other += fabs(got - want[i]) > allowed[i];
		}
	}
	assert_true(far > 0);
	assert_true(slope > round * NORM_ROWS * NORM_COLS / 2);
	assert_true(other > round * NORM_ROWS * NORM_COLS * 9 / 10);
}

static int setup(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/rkmm-bench-XXXXXX");
	if (!mkdtemp(folder) || chdir(folder))
		return -1;
	fake_reset();
	return 0;
}

static int teardown(void **state)
{
	char command[100];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_no_device),
		cmocka_unit_test(test_ab),
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_host),
		cmocka_unit_test(test_spread),
		cmocka_unit_test(test_governors),
		cmocka_unit_test(test_norm_bound),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
