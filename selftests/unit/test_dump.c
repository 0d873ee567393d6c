// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * rkmm-regcmd decode --dump on dumps made here, byte by byte from the format's description:
 * what it says of a good one, of objects it does not know, and of damage at every byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#define TABLE	16
#define ENTRY	16
#define HANG	144	/* bytes of struct rkmm_dump_hang: 6 * 8 + 20 * 4 + 16 */

static char tool[4096], dir[] = "/tmp/test_dump.XXXXXX";
static uint8_t file[4096];
static size_t bytes;
static char text[1 << 16];

static void put32(size_t at, uint32_t v)
{
	file[at] = (uint8_t)v;
	file[at + 1] = (uint8_t)(v >> 8);
	file[at + 2] = (uint8_t)(v >> 16);
	file[at + 3] = (uint8_t)(v >> 24);
}

static void put64(size_t at, uint64_t v)
{
	put32(at, (uint32_t)v);
	put32(at + 4, (uint32_t)(v >> 32));
}

static size_t object(uint32_t i, uint32_t type, uint32_t each, uint32_t n)
{
	size_t at = bytes;

	put32(TABLE + i * ENTRY, type);
	put32(TABLE + i * ENTRY + 4, each);
	put32(TABLE + i * ENTRY + 8, (uint32_t)at);
	put32(TABLE + i * ENTRY + 12, each * n);
	bytes += each * n;
	return at;
}

static void make(void)
{
	size_t at;

	memset(file, 0, sizeof(file));
	put32(0, 0x504d5544);
	put32(4, 1);
	put32(8, 4);
	bytes = TABLE + 4 * ENTRY;

	at = object(0, 1, HANG, 1);
	put64(at, 77);			/* job */
	put64(at + 8, 5);		/* plan */
	put64(at + 16, 12);		/* client */
	put64(at + 24, 1000);		/* started */
	put64(at + 32, 31000);		/* seen */
	put32(at + 48, 2);		/* core */
	put32(at + 52, 1);		/* stalled */
	put32(at + 56, 480);		/* pid */
	put32(at + 76, 3);		/* task */
	put32(at + 80, 8);		/* of */
	put32(at + 88, 9);		/* rows */
	put32(at + 92, 100);
	put32(at + 96, 50);
	put32(at + 124, 0x10040);	/* address of the words */
	memcpy(file + at + 128, "a \"b\\\001", 6);

	at = object(1, 2, 8, 2);
	put32(at, 0x2c);
	put32(at + 4, 0x300);
	put32(at + 8, 0x30);
	put32(at + 12, 0x6008);

	at = object(2, 4242, 4, 3);	/* nobody knows it */
	at = object(3, 6, 8, 2);
	put64(at, 0x0201000000b11040ull);
	put64(at + 8, 0);
}

/* Exit status; output and complaints in @text */
static int run_tool(size_t n, const char *options)
{
	char path[4200], command[13000];
	FILE *f;
	int status;

	snprintf(path, sizeof(path), "%s/dump", dir);
	f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(n, fwrite(file, 1, n, f));
	fclose(f);
	snprintf(command, sizeof(command), "'%s' %s %s %s > %s/out 2>&1", tool,
		 "decode --dump", options, path, dir);
	status = system(command);
	assert_true(WIFEXITED(status));
	snprintf(path, sizeof(path), "%s/out", dir);
	f = fopen(path, "rb");
	assert_non_null(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = 0;
	fclose(f);
	return WEXITSTATUS(status);
}

static void test_text(void **unused)
{
	(void)unused;
	make();
	assert_int_equal(0, run_tool(bytes, ""));
	assert_non_null(strstr(text, "core 2: stalled after 30 us"));
	assert_non_null(strstr(text, "job 77 of client 12, pid 480, \"a \\u0022b\\u005c\\u0001\""));
	assert_non_null(strstr(text, "plan 5, 9 x 100 x 50"));
	assert_non_null(strstr(text, "3 of 8 tasks done"));
	assert_non_null(strstr(text, "002c PC_INT_RAW_STATUS"));
	assert_non_null(strstr(text, "program words from 0x00010040"));
	assert_non_null(strstr(text, "CNA_CBUF_CON0"));
}

static void test_json(void **unused)
{
	char command[9000];

	(void)unused;
	make();
	assert_int_equal(0, run_tool(bytes, "--format json"));
	assert_non_null(strstr(text, "\"cause\": \"stalled\""));
	assert_non_null(strstr(text, "\"task\": 3, \"tasks\": 8"));
	snprintf(command, sizeof(command), "perl -MJSON::PP -0777 -e 'decode_json(<>)' %s/out", dir);
	assert_int_equal(0, system(command));
}

/* One that is longer than this program knows, and one that is shorter. */
static void test_other_lengths(void **unused)
{
	uint32_t i, more;

	(void)unused;
	for (i = 0; i < 2; i++) {
		make();
		more = i ? HANG + 24 : HANG - 16;
		put32(TABLE + 4, more);
		put32(TABLE + 12, more);
		assert_int_equal(0, run_tool(bytes, ""));
		assert_non_null(strstr(text, "core 2: stalled after 30 us"));
	}
}

static void test_refused(void **unused)
{
	size_t n;

	(void)unused;
	make();
	put32(0, 0x12345678);
	assert_int_equal(1, run_tool(bytes, ""));
	assert_non_null(strstr(text, "not a dump of rkmm"));
	make();
	put32(4, 2);
	assert_int_equal(1, run_tool(bytes, ""));
	assert_non_null(strstr(text, "version 2"));
	make();
	put32(TABLE, 99);
	assert_int_equal(1, run_tool(bytes, ""));
	assert_non_null(strstr(text, "without a hang"));
	make();
	for (n = 0; n < bytes; n += n < 100 ? 7 : 31) {
		assert_int_equal(1, run_tool(n, ""));
		assert_true(strstr(text, "cut short") || strstr(text, "not a dump"));
	}
	/* sizes that overflow */
	make();
	put32(TABLE + 8, 0xffffff00);
	assert_int_equal(1, run_tool(bytes, ""));
	make();
	put32(TABLE + ENTRY + 12, 0xfffffff8);
	assert_int_equal(1, run_tool(bytes, ""));
	make();
	put32(TABLE + ENTRY + 4, 0);
	assert_int_equal(1, run_tool(bytes, ""));
	make();
	put32(8, 0x10000000);
	assert_int_equal(1, run_tool(bytes, ""));
}

/* Any byte may be anything: it says something and ends. */
static void test_any_byte(void **unused)
{
	size_t i;

	(void)unused;
	for (i = 0; i < 240; i += 3) {
		make();
		file[i] ^= (uint8_t)(0x80 | i);
		assert_in_range(run_tool(bytes, i % 2 ? "" : "--format json"), 0, 1);
	}
}

static int setup(void **unused)
{
	const char *env = getenv("RKMM_REGCMD");
	ssize_t n = readlink("/proc/self/exe", tool, sizeof(tool) - 32);

	(void)unused;
	if (n < 0 || !mkdtemp(dir))
		return -1;
	tool[n] = 0;
	strcpy(strrchr(tool, '/') + 1, "rkmm-regcmd");
	if (env)
		snprintf(tool, sizeof(tool), "%s", env);
	return 0;
}

static int teardown(void **unused)
{
	char command[128];

	(void)unused;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_other_lengths),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_any_byte),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
