// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * rkmm-regcmd from the outside: every word of every operation has a name, tables are told
 * in a line, and chains of several operations with why they end. The program lies beside
 * this test, or where RKMM_REGCMD says.
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

static char tool[4096], out[1 << 21];

/* Exit status; standard output and error in @out. Every %s-like T is the tool. */
static int sh(const char *format, ...)
{
	char args[2048], command[8192];
	va_list ap;
	int status;
	FILE *f;
	size_t n;

	va_start(ap, format);
	vsnprintf(args, sizeof(args), format, ap);
	va_end(ap);
	snprintf(command, sizeof(command), "T='%s'; set -o pipefail; { %s; } 2>&1", tool, args);
	setenv("COMMAND", command, 1);
	f = popen("bash -c \"$COMMAND\"", "r");
	assert_non_null(f);
	n = fread(out, 1, sizeof(out) - 1, f);
	out[n] = 0;
	status = pclose(f);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static unsigned int count(const char *what)
{
	const char *at = out;
	unsigned int n = 0;

	while ((at = strstr(at, what))) {
		at += strlen(what);
		n++;
	}
	return n;
}

/* Each kind with each second operand and precision that it has */
static void test_names(void **state)
{
	static const char * const ops[] = {
		"add", "sub", "mul", "max", "min", "div", "copy", "relu", "clamp --value2 1",
		"leaky --value 0.5", "exp", "sigmoid", "tanh", "silu", "gelu", "hardswish",
		"reciprocal", "rsqrt", "rowmax", "rowsum", "rowmean", "softmax",
		"softmax --mask --causal", "rmsnorm --value 1", "rmsnorm --value 1 --gamma",
		"layernorm --value 1 --gamma --beta", "maxpool --width 10 --kernel 2x1",
		"avgpool --width 10 --kernel 2x1", "add --with channel", "mul --with channel",
		"add --with scalar --value 2", "min --with scalar --value 2", "copy --flat",
	};
	static const char * const precisions[] = { "f16", "i8", "i16" };
	unsigned int i, p, served = 0, tables = 0, ppu = 0, rdma = 0;

	(void)state;
	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		for (p = 0; p < 3; p++) {
			const char *scale = p && strchr("estghr", ops[i][0]) ?
					    "--scale 0.1 --out-scale 0.1" : "";
			unsigned int unnamed, entries;

			if (sh("$T op %s --m 20 --n 40 --precision %s %s", ops[i], precisions[p],
			       scale) &&
			    sh("$T op %s --m 20 --n 40 --precision %s", ops[i], precisions[p]))
				continue;
			if (strstr(out, "--out-scale") || !strstr(out, "operation "))
				fail_msg("%s", out);
			if (sh("$T op %s --m 20 --n 40 --precision %s %s", ops[i], precisions[p],
			       scale))
				scale = "";
			served++;
			assert_int_equal(sh("$T op %s --m 20 --n 40 --precision %s %s --emit %s",
					    ops[i], precisions[p], scale, "| $T decode -"), 0);
			unnamed = count("unknown") + count("UNKNOWN") + count("unnamed bits");
			if (unnamed)
				fail_msg("%s %s: %s", ops[i], precisions[p], out);
			tables += count("more entries of the table");
			ppu += count("  PPU_RDMA_") > 0;
			rdma += count("  DPU_RDMA_") > 0;
			/* a write of each task, and the first entry of two tables */
			assert_true(count("DPU_LUT_ACCESS_DATA") <= 3 * count("  START  "));
			/* one kind in four is enough for the long form */
			if (p || i % 4)
				continue;
			entries = count("\n");
			assert_int_equal(sh("$T op %s --m 20 --n 40 --precision %s %s --emit %s",
					    ops[i], precisions[p], scale,
					    "| $T decode --tables -"), 0);
			assert_int_equal(count("more entries"), 0);
			assert_true(count("\n") >= entries);
		}
	}
	/* all of fp16 at least, and each block was there */
	assert_true(served > sizeof(ops) / sizeof(ops[0]));
	assert_true(tables > 10);
	assert_true(ppu >= 2);
	assert_true(rdma > 20);
}

static void test_chain(void **state)
{
	(void)state;
	assert_int_equal(sh("$T chain matmul:f16f16:70x64x70 softmax:70x70 matmul:f16f16:70x70x64"), 0);
	assert_non_null(strstr(out, "softmax:70x70: 9 tasks"));
	assert_non_null(strstr(out, "11 tasks,"));
	assert_non_null(strstr(out, "a task of the DPU alone"));
	assert_int_equal(count(" on  "), 0);
	/* equal matmuls that do not depend on each other keep ping-pong */
	assert_int_equal(sh("$T chain --group --one-buffer %s %s", "matmul:i8i32:300x1024x64",
			    "matmul:i8i32:300x1024x64"), 0);
	assert_true(count(" on  ") > 0);
	/* those that do lose it, those of fp16 with other weights are cut */
	assert_int_equal(sh("$T chain --one-buffer matmul:i8i8:300x1024x64 matmul:i8i8:300x64x64"), 0);
	assert_int_equal(count(" on  "), 0);
	assert_non_null(strstr(out, "tasks depend on each other"));
	assert_int_equal(sh("$T chain matmul:f16f16:9x64x64 matmul:f16f16:9x64x64"), 0);
	assert_non_null(strstr(out, "fp16 weights in another buffer"));
	assert_int_equal(sh("$T chain --json matmul:i8i8:9x64x64 relu:i8:9x64 silu:9x64"), 0);
	assert_non_null(strstr(out, "{\"operations\": 3, \"tasks\": 4,"));
	assert_non_null(strstr(out, "\"reason\": \"cut: another precision\""));
}

static void refused(const char *args, const char *says)
{
	assert_int_equal(sh("$T chain %s", args), 1);
	if (!strstr(out, says))
		fail_msg("%s: \"%s\" instead of \"%s\"", args, out, says);
}

static void test_refused(void **state)
{
	(void)state;
	refused("", "1 to 64 operations");
	refused("softmax", "NAME:MxN is needed");
	refused("softmax:4", "2 sizes");
	refused("softmax:4x", "2 sizes");
	refused("softmax:4x0", "2 sizes");
	refused("softmax:4x5x6", "2 sizes");
	refused("nothing:4x5", "is no operation");
	refused("matmul:4x5x6", "has types");
	refused("matmul:i8i32:4x5", "3 sizes");
	refused("matmul:i9:4x5x6", "i9");
	refused("softmax:i8:4x5", "does not");
	refused("relu:i7:4x5", "is no precision");
	refused("--group relu:4x5", "only matmuls");
	refused("--nothing relu:4x5", "option");
}

static int setup(void **state)
{
	char *slash;
	ssize_t n;

	(void)state;
	if (getenv("RKMM_REGCMD")) {
		snprintf(tool, sizeof(tool), "%s", getenv("RKMM_REGCMD"));
		return 0;
	}
	n = readlink("/proc/self/exe", tool, sizeof(tool) - 32);
	if (n < 0)
		return -1;
	tool[n] = 0;
	slash = strrchr(tool, '/');
	strcpy(slash + 1, "rkmm-regcmd");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
