// SPDX-License-Identifier: MIT
/* The npy reader on good and on broken files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tools/matmul/npy.h"

static uint64_t rng_state = 88172645463325252;

static uint32_t rnd(void)
{
	rng_state ^= rng_state << 13;
	rng_state ^= rng_state >> 7;
	rng_state ^= rng_state << 17;
	return (uint32_t)(rng_state >> 32);
}

/* A file in memory of exactly its size, so that ASan sees a byte too many. */
static uint8_t *make(int version, const char *header, size_t data, size_t *size)
{
	size_t len = strlen(header), start = version == 1 ? 10 : 12, i;
	uint8_t *f = malloc(start + len + data);

	memcpy(f, "\x93NUMPY", 6);
	f[6] = (uint8_t)version;
	f[7] = 0;
	for (i = 8; i < start; i++)
		f[i] = (uint8_t)(len >> 8 * (i - 8));
	memcpy(f + start, header, len);
	for (i = 0; i < data; i++)
		f[start + len + i] = (uint8_t)(i * 7 + 1);
	*size = start + len + data;
	return f;
}

static int parse(int version, const char *header, size_t data, struct npy *npy, char *error)
{
	size_t size;
	uint8_t *f = make(version, header, data, &size);
	int ret;

	strcpy(error, "");
	ret = npy_parse(f, size, npy, error);
	free(f);
	if (ret) {
		assert_null(npy->data);
		assert_true(*error && !strchr(error, '\n'));
	}
	return ret;
}

#define GOOD	"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), }          "

static void test_good(void **state)
{
	static const struct {
		const char *header;
		enum npy_type type;
		size_t rows, cols;
		int fortran;
	} good[] = {
		{ GOOD, NPY_F32, 3, 5, 0 },
		{ "{'descr': '<f2', 'fortran_order': True, 'shape': (7, 2), }\n", NPY_F16,
		  7, 2, 1 },
		{ "{'descr': '|i1', 'fortran_order': False, 'shape': (1, 1), }", NPY_I8, 1, 1, 0 },
		{ "{\"shape\":(2,9),\"descr\":\"<i1\",\"fortran_order\":False}", NPY_I8, 2, 9, 0 },
		{ "{'descr': '<f4', 'fortran_order': True, 'shape': (6,), }\n", NPY_F32, 1, 6, 0 },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (3L, 2L)}", NPY_F32, 3, 2, 0 },
		{ " { 'descr' : '<f2' , 'fortran_order' : False , 'shape' : ( 2 , 3 ) } ", NPY_F16,
		  2, 3, 0 },
	};
	char error[NPY_ERROR];
	struct npy npy;
	unsigned int i;
	int version;

	(void)state;
	for (version = 1; version <= 3; version++)
		for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
			size_t bytes = good[i].rows * good[i].cols * npy_size(good[i].type), b;

			if (parse(version, good[i].header, bytes, &npy, error))
				fail_msg("%s: %s", good[i].header, error);
			assert_int_equal(npy.type, good[i].type);
			assert_int_equal(npy.rows, good[i].rows);
			assert_int_equal(npy.cols, good[i].cols);
			assert_int_equal(npy.fortran, good[i].fortran);
			for (b = 0; b < bytes; b++)
				assert_int_equal(((uint8_t *)npy.data)[b], (uint8_t)(b * 7 + 1));
			npy_free(&npy);
		}
}

static void test_bad_headers(void **state)
{
	static const struct {
		const char *header, *says;
	} bad[] = {
		{ "{'descr': '>f4', 'fortran_order': False, 'shape': (3, 5), }", "big-endian" },
		{ "{'descr': '>f2', 'fortran_order': False, 'shape': (3, 5), }", "big-endian" },
		{ "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 5), }", "<f8" },
		{ "{'descr': '<i4', 'fortran_order': False, 'shape': (3, 5), }", "<i4" },
		{ "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 5), }", "|u1" },
		{ "{'descr': '|O', 'fortran_order': False, 'shape': (3, 5), }", "|O" },
		{ "{'descr': '', 'fortran_order': False, 'shape': (3, 5), }", "is none of" },
		{ "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3, 5), }",
		  "malformed" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 5, 7), }",
		  "3 dimensions" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (), }", "0 dimensions" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 5), }", "empty" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 0), }", "empty" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (-3, 5), }", "malformed" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (3 5), }", "malformed" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (3, , 5), }", "malformed" },
		{ "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (3, 5), }", "malformed" },
		{ "{'descr': '<f4', 'fortran_order': False, }", "malformed" },
		{ "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), }",
		  "malformed" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), 'x': 1}",
		  "malformed" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), } x", "malformed" },
		{ "{'descr': '<f\\x34', 'fortran_order': False, 'shape': (3, 5), }", "malformed" },
		{ "{'descr': '<f4aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'}", "malformed" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }",
		  "too large" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 1), }",
		  "too large" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999, 1), }",
		  "malformed" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 6), }", "promises 72" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }", "promises 48" },
		{ "", "malformed" }, { "{", "malformed" }, { "{}", "malformed" },
		{ "{'", "malformed" }, { "{'descr': '", "malformed" },
	};
	char error[NPY_ERROR];
	struct npy npy;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(parse(1, bad[i].header, 60, &npy, error), -1);
		if (!strstr(error, bad[i].says))
			fail_msg("%s: %s", bad[i].header, error);
	}
	assert_int_equal(parse(0, GOOD, 60, &npy, error), -1);
	assert_int_equal(parse(4, GOOD, 60, &npy, error), -1);
}

/* Through a file, which is what the program does. */
static int read_bytes(const uint8_t *f, size_t size, struct npy *npy, char *error)
{
	char path[] = "/tmp/rkmm-npy-XXXXXX";
	int fd = mkstemp(path), ret;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, f, size), size);
	close(fd);
	ret = npy_read(path, npy, error);
	unlink(path);
	return ret;
}

static void test_truncated(void **state)
{
	char error[NPY_ERROR];
	struct npy npy;
	size_t size, n;
	uint8_t *f, *part;
	int version;

	(void)state;
	for (version = 1; version <= 2; version++) {
		f = make(version, GOOD, 60, &size);
		assert_int_equal(read_bytes(f, size, &npy, error), 0);
		npy_free(&npy);
		for (n = 0; n < size; n++) {
			part = malloc(n ? n : 1);
			memcpy(part, f, n);
			assert_int_equal(npy_parse(part, n, &npy, error), -1);
			assert_null(npy.data);
			assert_int_equal(read_bytes(part, n, &npy, error), -1);
			assert_null(npy.data);
			free(part);
		}
		f = realloc(f, size + 1);
		f[size] = 0;
		assert_int_equal(npy_parse(f, size + 1, &npy, error), -1);
		assert_int_equal(read_bytes(f, size + 1, &npy, error), -1);
		free(f);
	}
}

/* Every bit flipped, and random damage: an error or a matrix that fits the file, never more. */
static void test_damaged(void **state)
{
	char error[NPY_ERROR];
	size_t size, bit, n;
	struct npy npy;
	uint8_t *f;
	int i;

	(void)state;
	f = make(1, GOOD, 60, &size);
	for (bit = 0; bit < 8 * size; bit++) {
		f[bit / 8] ^= (uint8_t)(1 << bit % 8);
		if (!npy_parse(f, size, &npy, error)) {
			assert_int_equal(npy.rows * npy.cols * npy_size(npy.type), 60);
			npy_free(&npy);
		}
		f[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	free(f);
	for (i = 0; i < 20000; i++) {
		f = make(1 + (int)(rnd() % 3), GOOD, 60, &size);
		for (n = 1 + rnd() % 6; n; n--)
			f[rnd() % size] = rnd() & 1 ? (uint8_t)rnd() :
					  (uint8_t)"{}()',: 0123456789LTF<>|fi"[rnd() % 26];
		if (!npy_parse(f, size, &npy, error)) {
			assert_true(npy.rows * npy.cols * npy_size(npy.type) < size);
			npy_free(&npy);
		} else {
			assert_true(*error && !strchr(error, '\n'));
		}
		free(f);
	}
}

static void test_files(void **state)
{
	static const enum npy_type types[] = { NPY_F32, NPY_F16, NPY_I8 };
	char path[] = "/tmp/rkmm-npy-XXXXXX", error[NPY_ERROR];
	uint8_t data[7 * 11 * 4], head[64];
	struct npy npy, back;
	unsigned int i;
	FILE *f;

	(void)state;
	close(mkstemp(path));
	for (i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)rnd();
	for (i = 0; i < 6; i++) {
		npy = (struct npy) {
			.type = types[i / 2], .rows = 7, .cols = 11, .fortran = i & 1,
			.data = data,
		};
		assert_int_equal(npy_write(path, &npy, error), 0);
		assert_int_equal(npy_read(path, &back, error), 0);
		assert_int_equal(back.type, npy.type);
		assert_int_equal(back.rows, 7);
		assert_int_equal(back.cols, 11);
		assert_int_equal(back.fortran, npy.fortran);
		assert_memory_equal(back.data, data, 77 * npy_size(npy.type));
		npy_free(&back);
		/* numpy wants the data aligned to 64 bytes and a line end before it. */
		f = fopen(path, "rb");
		assert_int_equal(fread(head, 1, sizeof(head), f), sizeof(head));
		fclose(f);
		assert_int_equal((10 + head[8] + 256 * head[9]) % 64, 0);
	}
	unlink(path);
	assert_int_equal(npy_read(path, &back, error), -1);
	assert_int_equal(npy_read("/", &back, error), -1);
	assert_non_null(strstr(error, "directory"));
	assert_int_equal(npy_read("/dev/zero", &back, error), -1);
	assert_int_equal(npy_write("/nonexistent/x.npy", &npy, error), -1);
	assert_int_equal(npy_write("/dev/full", &npy, error), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad_headers),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests_name("matmul_npy", tests, NULL, NULL);
}
