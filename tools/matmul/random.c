// SPDX-License-Identifier: MIT
/* --random: test matrices where there is no numpy. */
#include <stdlib.h>
#include <string.h>

#include "matmul.h"

/* SplitMix64: any seed is good, and the same everywhere. */
static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* Uniform in [-1, 1), 24 bits. */
static float uniform(uint64_t *state)
{
	return (float)((int32_t)(next(state) >> 40) - (1 << 23)) / (1 << 23);
}

static int parse_shape(const char *text, size_t *rows, size_t *cols)
{
	unsigned long long r, c;
	size_t count;
	char *end;

	if (*text < '1' || *text > '9')
		return -1;
	r = strtoull(text, &end, 10);
	if (*end != 'x' || end[1] < '1' || end[1] > '9')
		return -1;
	c = strtoull(end + 1, &end, 10);
	if (*end || r > UINT32_MAX || c > UINT32_MAX ||
	    __builtin_mul_overflow((size_t)r, (size_t)c, &count))
		return -1;
	*rows = (size_t)r;
	*cols = (size_t)c;
	return 0;
}

void random_matrix(const char *shape, const char *dtype, uint64_t seed, bool fortran,
		   const char *path)
{
	struct npy npy = { .fortran = fortran };
	char error[NPY_ERROR];
	bool int4 = !strcmp(dtype, "int4");
	size_t i, count;

	if (parse_shape(shape, &npy.rows, &npy.cols))
		die(EXIT_USAGE, "--random %s: a shape is ROWSxCOLS, for example 128x1024", shape);
	if (int4 || !strcmp(dtype, "int8"))
		npy.type = NPY_I8;
	else if (!strcmp(dtype, "float16"))
		npy.type = NPY_F16;
	else if (!strcmp(dtype, "float32"))
		npy.type = NPY_F32;
	else
		die(EXIT_USAGE, "--dtype %s: float32, float16, int8 and int4 are known", dtype);

	count = npy.rows * npy.cols;
	npy.data = allocate(count, npy_size(npy.type));
	for (i = 0; i < count; i++) {
		float f;

		switch (npy.type) {
		case NPY_I8:
			((int8_t *)npy.data)[i] = int4 ? (int8_t)((next(&seed) >> 60) - 8) :
						  (int8_t)(next(&seed) >> 56);
			break;
		case NPY_F16:
			f = uniform(&seed);
			rkmm_f32_to_f16(&f, (uint16_t *)npy.data + i, 1);
			break;
		default:
			((float *)npy.data)[i] = uniform(&seed);
			break;
		}
	}
	if (npy_write(path, &npy, error))
		die(EXIT_FAILED, "%s: %s", path, error);
	npy_free(&npy);
}
