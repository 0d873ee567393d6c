// SPDX-License-Identifier: MIT
/* rkmm-matmul from command line to files, over the kernel of fake_kernel.c. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
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

#include "fake_kernel.h"
#include "tools/matmul/matmul.h"

#define MAX_ARGS	24

static char *folder, folder_template[] = "/tmp/rkmm-tool-XXXXXX";
static char out[8192], err[8192];

static void slurp(const char *name, char *buf, size_t size)
{
	FILE *f = fopen(name, "r");
	size_t n = fread(buf, 1, size - 1, f);

	buf[n] = '\0';
	fclose(f);
}

/* Runs the program in a child; words are split at blanks. Returns its status. */
static int run(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static int run(const char *fmt, ...)
{
	char line[1024], *argv[MAX_ARGS] = { (char *)"rkmm-matmul" }, *save = NULL, *word;
	int argc = 1, status;
	va_list ap;
	pid_t pid;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	for (word = strtok_r(line, " ", &save); word; word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	fflush(NULL);
	pid = fork();
	if (!pid) {
		dup2(open("stdout", O_WRONLY | O_CREAT | O_TRUNC, 0600), 1);
		dup2(open("stderr", O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
		exit(matmul_main(argc, argv));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	slurp("stdout", out, sizeof(out));
	slurp("stderr", err, sizeof(err));
	return WEXITSTATUS(status);
}

/* A failure is one line that starts with the program's name, and nothing else. */
static void fails(int want, const char *says, int status)
{
	if (status != want || !strstr(err, says))
		fail_msg("status %d, not %d: %s", status, want, err);
	assert_ptr_equal(strstr(err, "rkmm-matmul: "), err);
	assert_ptr_equal(strchr(err, '\n'), err + strlen(err) - 1);
	assert_string_equal(out, "");
}

static void load(const char *path, struct npy *npy)
{
	char error[NPY_ERROR];

	if (npy_read(path, npy, error))
		fail_msg("%s: %s", path, error);
}

static double element(const struct npy *m, size_t r, size_t c)
{
	size_t i = m->fortran ? c * m->rows + r : r * m->cols + c;
	float f;

	switch (m->type) {
	case NPY_F32:
		return ((float *)m->data)[i];
	case NPY_F16:
		rkmm_f16_to_f32((uint16_t *)m->data + i, &f, 1);
		return f;
	case NPY_I8:
		return ((int8_t *)m->data)[i];
	case NPY_I16:
		return ((int16_t *)m->data)[i];
	default:
		return ((int32_t *)m->data)[i];
	}
}

/* Our own reader takes what it writes only where it is an input type: look at C by hand. */
static void load_result(const char *path, struct npy *c, const char *descr, size_t rows,
			size_t cols)
{
	uint8_t head[128];
	char shape[64];
	FILE *f = fopen(path, "rb");
	size_t len, n = rows * cols;

	assert_non_null(f);
	assert_int_equal(fread(head, 1, 10, f), 10);
	len = head[8] + 256u * head[9];
	assert_true(len < sizeof(head));
	assert_int_equal(fread(head, 1, len, f), len);
	head[len] = '\0';
	snprintf(shape, sizeof(shape), "(%zu, %zu)", rows, cols);
	assert_non_null(strstr((char *)head, shape));
	assert_non_null(strstr((char *)head, descr));
	*c = (struct npy) { .rows = rows, .cols = cols };
	c->type = !strcmp(descr, "<f4") ? NPY_F32 : !strcmp(descr, "<f2") ? NPY_F16 :
		  !strcmp(descr, "|i1") ? NPY_I8 : !strcmp(descr, "<i2") ? NPY_I16 : NPY_I32;
	c->data = malloc(n * npy_size(c->type));
	assert_int_equal(fread(c->data, npy_size(c->type), n, f), n);
	assert_int_equal(fgetc(f), EOF);
	fclose(f);
}

/* Every combination that is allowed, against loops here and by --verify. */
static void test_types(void **state)
{
	static const struct {
		const char *dtype, *options, *descr;
		double tolerance;	/* relative to the largest result; 0: exact */
	} cases[] = {
		{ "float32", "", "<f4", 2e-3 },
		{ "float16", "", "<f4", 1e-6 },
		{ "float32", "--precision fp16 --out f16", "<f2", 3e-3 },
		{ "float32", "--precision int8", "<f4", 2e-2 },
		{ "float16", "--precision int8 --out f16", "<f2", 2e-2 },
		{ "float32", "--precision int4", "<f4", 3e-1 },
		{ "int8", "", "<i4", 0 },
		{ "int8", "--precision int8 --out i32", "<i4", 0 },
		{ "int4", "--precision int4", "<i2", 0 },
		{ "int4", "--precision int4 --out i32", "<i4", 0 },
		{ "int8", "--precision fp16", "<f4", 0 },
		{ "int8", "--out i8 --mult 100 --shift 15 --offset -3", "|i1", -1 },
	};
	struct npy a, b, c;
	unsigned int i, j;
	size_t m, n, k;

	(void)state;
	for (i = 0; i < 4 * sizeof(cases) / sizeof(cases[0]); i++) {
		const char *dtype = cases[i / 4].dtype;
		size_t rows = 1 + (i * 7) % 23, inner = 1 + (i * 31) % 90, cols = 1 + (i * 13) % 77;
		double worst = 0, most = 0;
		const char *exact;

		fake.cube = i & 1;
		fake.slice = i % 3 ? 0 : 32;
		assert_int_equal(run("--random %zux%zu --dtype %s --seed %u -o a.npy %s", rows,
				     inner, dtype, i, i & 1 ? "--fortran" : ""), 0);
		assert_int_equal(run("--random %zux%zu --dtype %s --seed %u -o b.npy %s", inner,
				     cols, dtype, i + 1000, i & 2 ? "--fortran" : ""), 0);
		if (run("a.npy b.npy -o c.npy --verify %s", cases[i / 4].options))
			fail_msg("%s %s: %s", dtype, cases[i / 4].options, err);
		assert_string_equal(err, "");
		assert_non_null(strstr(out, "GOP/s"));
		exact = "bit-exact";
		if (strchr(cases[i / 4].descr, 'f'))
			exact = "within";
		if (!cases[i / 4].tolerance)
			assert_non_null(strstr(out, exact));
		load("a.npy", &a);
		load("b.npy", &b);
		assert_int_equal(a.fortran, i & 1);
		assert_int_equal(b.fortran, i >> 1 & 1);
		load_result("c.npy", &c, cases[i / 4].descr, rows, cols);
		for (m = 0; m < rows; m++)
			for (n = 0; n < cols; n++) {
				double sum = 0;

				for (k = 0; k < inner; k++)
					sum += element(&a, m, k) * element(&b, k, n);
				if (c.type == NPY_I8) {
					/* Exact in double: ties are ties. */
					sum = rint(sum * 100 / 32768) - 3;
					sum = sum < -128 ? -128 : sum > 127 ? 127 : sum;
				}
				worst = fmax(worst, fabs(sum - element(&c, m, n)));
				most = fmax(most, fabs(sum));
			}
		assert_true(worst <= fmax(cases[i / 4].tolerance, 0) * most);
		for (j = 0; j < 3; j++)
			npy_free(j == 0 ? &a : j == 1 ? &b : &c);
	}
}

/* ---- JSON, just enough to know that a parser would take it ---- */

static const char *json(const char *p);

static const char *blank(const char *p)
{
	while (*p == ' ' || *p == '\n')
		p++;
	return p;
}

static const char *json_text(const char *p)
{
	assert_int_equal(*p, '"');
	for (p++; *p != '"'; p++)
		assert_true(*p >= ' ' && *p != '\\');
	return p + 1;
}

static const char *json_list(const char *p, char end, int keys)
{
	p = blank(p + 1);
	while (*p != end) {
		if (keys) {
			p = blank(json_text(p));
			assert_int_equal(*p, ':');
			p++;
		}
		p = json(p);
		if (*p == ',')
			p = blank(p + 1);
		else
			assert_int_equal(*p, end);
	}
	return p + 1;
}

static const char *json(const char *p)
{
	char *end;

	p = blank(p);
	if (*p == '{') {
		p = json_list(p, '}', 1);
	} else if (*p == '[') {
		p = json_list(p, ']', 0);
	} else if (*p == '"') {
		p = json_text(p);
	} else if (!strncmp(p, "true", 4) || !strncmp(p, "null", 4)) {
		p += 4;
	} else if (!strncmp(p, "false", 5)) {
		p += 5;
	} else {
		assert_true(*p == '-' || (*p >= '0' && *p <= '9'));
		strtod(p, &end);
		p = end;
	}
	return blank(p);
}

/* Slices that the NPU clamps one by one: right where the plan says so, wrong where not. */
static void test_slice_clamp(void **state)
{
	enum { SLICE = 1024, K = 2 * SLICE };
	int8_t a[K], b[K * 3];
	struct npy x = { .type = NPY_I8, .rows = 1, .cols = K, .data = a };
	struct npy y = { .type = NPY_I8, .rows = K, .cols = 3, .data = b };
	char error[NPY_ERROR];
	struct npy c;
	int i;

	(void)state;
	for (i = 0; i < K; i++) {
		a[i] = 7;
		b[3 * i] = i < SLICE ? 7 : -8;
		b[3 * i + 1] = 1;
		b[3 * i + 2] = i < SLICE ? 7 : 0;
	}
	assert_int_equal(npy_write("sa.npy", &x, error), 0);
	assert_int_equal(npy_write("sb.npy", &y, error), 0);
	fake.slice = SLICE;
	if (run("sa.npy sb.npy --precision int4 -o c.npy --verify"))
		fail_msg("%s%s", out, err);
	load_result("c.npy", &c, "<i2", 1, 3);
	assert_int_equal((int)element(&c, 0, 0), INT16_MAX + INT16_MIN);
	assert_int_equal((int)element(&c, 0, 1), 7 * K);
	assert_int_equal((int)element(&c, 0, 2), INT16_MAX);
	free(c.data);
	/* In one piece the first sum is exact. */
	fake.slice = 0;
	assert_int_equal(run("sa.npy sb.npy --precision int4 -o c.npy --verify"), 0);
	load_result("c.npy", &c, "<i2", 1, 3);
	assert_int_equal((int)element(&c, 0, 0), SLICE * 7 * -1);
	free(c.data);
}

static void test_json(void **state)
{
	static const char *const precisions[] = { "fp16", "int8", "int4" };
	int i;

	(void)state;
	assert_int_equal(run("--random 5x33 --seed 1 -o a.npy"), 0);
	assert_int_equal(run("--random 33x7 --seed 2 -o b.npy"), 0);
	for (i = 0; i < 6; i++) {
		assert_int_equal(run("a.npy b.npy --json --repeat 3 --precision %s %s",
				     precisions[i / 2], i & 1 ? "--verify" : ""), 0);
		assert_string_equal(json(out), "");
		assert_non_null(strstr(out, "\"m\": 5, \"k\": 33, \"n\": 7"));
		assert_non_null(strstr(out, "\"repeat\": 3"));
		assert_true(!strstr(out, "\"ok\": true") == !(i & 1));
	}
}

/* One wrong bit in one element is found, and the file is there to look at. */
static void test_wrong_result(void **state)
{
	static const char *const options[] = {
		"--precision int8", "--precision int4", "--precision int8 --json",
	};
	unsigned int i;

	(void)state;
	assert_int_equal(run("--random 9x64 --seed 3 -o a.npy"), 0);
	assert_int_equal(run("--random 64x70 --seed 4 -o b.npy"), 0);
	fake.corrupt = 1;
	for (i = 0; i < 3; i++) {
		unlink("c.npy");
		assert_int_equal(run("a.npy b.npy -o c.npy --verify %s", options[i]), EXIT_WRONG);
		assert_non_null(strstr(err, "wrong in 1 elements"));
		assert_int_equal(access("c.npy", R_OK), 0);
	}
	assert_non_null(strstr(out, "\"ok\": false"));
	/* A last bit of fp16 output is more than its bound once sums are short. */
	assert_int_equal(run("--random 1x1 --seed 3 -o a.npy"), 0);
	assert_int_equal(run("--random 1x1 --seed 5 -o b.npy"), 0);
	assert_int_equal(run("a.npy b.npy --verify --out f16"), EXIT_WRONG);
	/* Without --verify nobody looks. */
	assert_int_equal(run("a.npy b.npy --precision int8"), 0);
}

static void test_saturation(void **state)
{
	int8_t a[800], b[800];
	struct npy na = { .type = NPY_I8, .rows = 1, .cols = 800, .data = a };
	struct npy nb = { .type = NPY_I8, .rows = 800, .cols = 1, .data = b }, c;
	char error[NPY_ERROR];

	(void)state;
	memset(a, -8, sizeof(a));
	memset(b, -8, sizeof(b));
	assert_int_equal(npy_write("a.npy", &na, error), 0);
	assert_int_equal(npy_write("b.npy", &nb, error), 0);
	assert_int_equal(run("a.npy b.npy -o c.npy --precision int4 --verify"), 0);
	assert_non_null(strstr(out, "may be saturated"));
	load_result("c.npy", &c, "<i2", 1, 1);
	assert_int_equal(((int16_t *)c.data)[0], 32767);
	npy_free(&c);
}

static void test_refusals(void **state)
{
	static const float nan_value[] = { NAN };
	struct npy one = { .type = NPY_F32, .rows = 1, .cols = 1, .data = (void *)nan_value };
	char error[NPY_ERROR];

	(void)state;
	assert_int_equal(run("--random 3x40 --dtype int8 --seed 3 -o i8.npy"), 0);
	assert_int_equal(run("--random 40x5 --dtype int8 --seed 4 -o i8b.npy"), 0);
	assert_int_equal(run("--random 40x5 --seed 4 -o f32.npy"), 0);
	assert_int_equal(run("--random 3x40 --seed 4 -o f32a.npy"), 0);
	assert_int_equal(npy_write("nan.npy", &one, error), 0);
	unlink("c.npy");

	fails(EXIT_FAILED, "none.npy: No such file", run("none.npy i8b.npy -o c.npy"));
	fails(EXIT_FAILED, "-8..7", run("i8.npy i8b.npy --precision int4 -o c.npy"));
	fails(EXIT_FAILED, "do not meet", run("i8.npy i8.npy -o c.npy"));
	fails(EXIT_FAILED, "both must be int8", run("i8.npy f32.npy -o c.npy"));
	fails(EXIT_FAILED, "not finite", run("nan.npy nan.npy --precision int8 -o c.npy"));
	fails(EXIT_FAILED, "--out i32", run("f32a.npy f32.npy --precision int8 --out i32"));
	fails(EXIT_FAILED, "--out f32", run("i8.npy i8b.npy --out f32"));
	fails(EXIT_FAILED, "--out i16", run("i8.npy i8b.npy --out i16"));
	fails(EXIT_FAILED, "--cores 0x2", run("i8.npy i8b.npy --cores 2"));
	fails(EXIT_FAILED, "--out i8", run("f32a.npy f32.npy --out i8"));
	fails(EXIT_USAGE, "two files", run("i8.npy"));
	fails(EXIT_USAGE, "--precision fp8", run("i8.npy i8b.npy --precision fp8"));
	fails(EXIT_USAGE, "--repeat 0", run("i8.npy i8b.npy --repeat 0"));
	fails(EXIT_USAGE, "--shift 99", run("i8.npy i8b.npy --shift 99"));
	fails(EXIT_USAGE, "--out i8", run("i8.npy i8b.npy --mult 3"));
	fails(EXIT_USAGE, "--out i8", run("i8.npy i8b.npy --shift 3 --out i32"));
	fails(EXIT_USAGE, "--form round", run("i8.npy i8b.npy --form round"));
	fails(EXIT_USAGE, "ROWSxCOLS", run("--random 0x5 -o x.npy"));
	fails(EXIT_USAGE, "ROWSxCOLS", run("--random 5x5x5 -o x.npy"));
	fails(EXIT_USAGE, "float64", run("--random 5x5 --dtype float64 -o x.npy"));
	fails(EXIT_USAGE, "needs -o", run("--random 5x5"));
	fails(EXIT_FAILED, "/nonexistent/c.npy", run("i8.npy i8b.npy -o /nonexistent/c.npy"));
	assert_int_equal(access("c.npy", F_OK), -1);

	assert_int_equal(run("--random 1x10753 --dtype int8 -o long.npy"), 0);
	assert_int_equal(run("--random 10753x1 --dtype int8 -o tall.npy"), 0);
	fails(EXIT_FAILED, "10752", run("long.npy tall.npy"));

	fake.name = "panfrost";
	fails(EXIT_FAILED, "/fake/gpu", run("i8.npy i8b.npy --device /fake/gpu"));
	assert_int_equal(run("--help"), 0);
	assert_non_null(strstr(out, "usage:"));
	assert_string_equal(err, "");
	assert_int_equal(run("--version"), 0);
}

static void test_random(void **state)
{
	struct npy x, y;
	int seen[16] = { 0 }, i;

	(void)state;
	assert_int_equal(run("--random 30x40 --dtype int4 --seed 7 -o x.npy"), 0);
	assert_int_equal(run("--random 30x40 --dtype int4 --seed 7 -o y.npy"), 0);
	load("x.npy", &x);
	load("y.npy", &y);
	assert_memory_equal(x.data, y.data, 1200);
	for (i = 0; i < 1200; i++) {
		assert_in_range(((int8_t *)x.data)[i] + 8, 0, 15);
		seen[((int8_t *)x.data)[i] + 8] = 1;
	}
	for (i = 0; i < 16; i++)
		assert_int_equal(seen[i], 1);
	npy_free(&y);
	assert_int_equal(run("--random 30x40 --dtype int4 --seed 8 -o y.npy"), 0);
	load("y.npy", &y);
	assert_memory_not_equal(x.data, y.data, 1200);
	npy_free(&x);
	npy_free(&y);
}

static int setup(void **state)
{
	(void)state;
	fake_reset();
	return 0;
}

static int enter(void **state)
{
	(void)state;
	return !(folder = mkdtemp(folder_template)) || chdir(folder);
}

static int leave(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return chdir("/") || system(command);
}

#define T(name)	cmocka_unit_test_setup(name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_types), T(test_slice_clamp),
		T(test_json), T(test_wrong_result), T(test_saturation),
		T(test_refusals), T(test_random),
	};

	return cmocka_run_group_tests_name("matmul_tool", tests, enter, leave);
}
