/* SPDX-License-Identifier: MIT */
/* What the tests of librkmm over fake_kernel.c share: operands, references, leak checks. */
#ifndef LIB_FIXTURE_H
#define LIB_FIXTURE_H

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake_kernel.h"
#include "lib/rkmm.h"

static inline uint32_t rnd(uint64_t *s)
{
	*s = *s * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*s >> 33);
}

static uint64_t seed __attribute__((unused)) = 42;

/* Operands with values that make every sum exact in fp32, halves included. */
static inline void *matrix(size_t count, uint32_t types, uint64_t *s)
{
	int half = types == DRM_RKMM_F16F32 || types == DRM_RKMM_F16F16;
	void *p = malloc(count * 2);
	size_t i;

	for (i = 0; i < count; i++) {
		int v = (int)(rnd(s) & 15) - 8;
		float f = (float)v;

		if (half)
			rkmm_f32_to_f16(&f, (uint16_t *)p + i, 1);
		else if (types == DRM_RKMM_I4I16)
			((int8_t *)p)[i] = (int8_t)v;
		else
			((int8_t *)p)[i] = (int8_t)rnd(s);
	}
	return p;
}

static inline int value(const void *p, size_t i, uint32_t types)
{
	float f;

	if (types != DRM_RKMM_F16F32 && types != DRM_RKMM_F16F16)
		return ((const int8_t *)p)[i];
	rkmm_f16_to_f32((const uint16_t *)p + i, &f, 1);
	return (int)f;
}

static inline size_t out_bytes(uint32_t types)
{
	static const size_t bytes[] = { 4, 1, 4, 2, 2 };

	return bytes[types];
}

static inline int result(const void *p, size_t i, uint32_t types)
{
	float f;

	switch (types) {
	case DRM_RKMM_I8I32:
		return ((const int32_t *)p)[i];
	case DRM_RKMM_I8I8:
		return ((const int8_t *)p)[i];
	case DRM_RKMM_F16F32:
		return (int)((const float *)p)[i];
	case DRM_RKMM_F16F16:
		rkmm_f16_to_f32((const uint16_t *)p + i, &f, 1);
		return (int)f;
	default:
		return ((const int16_t *)p)[i];
	}
}

static inline int expect(long sum, const struct rkmm_matmul_desc *d)
{
	if (d->types == DRM_RKMM_I8I8) {
		/* mult 1, shift 8 in these tests: round half to even by hand. */
		long q = sum >> 8, r = sum & 255;

		q += r > 128 || (r == 128 && q & 1);
		q += d->offset;
		return (int)(q < -128 ? -128 : q > 127 ? 127 : q);
	}
	if (d->types == DRM_RKMM_F16F16) {
		float f = (float)sum;
		uint16_t h;

		rkmm_f32_to_f16(&f, &h, 1);
		rkmm_f16_to_f32(&h, &f, 1);
		return (int)f;
	}
	return (int)sum;
}

static inline void check(const struct rkmm_matmul_desc *d, uint32_t rows, const void *a, size_t lda,
		  const void *b, size_t ldb, const void *c, size_t ldc)
{
	uint32_t m, n, k;

	for (m = 0; m < rows; m++)
		for (n = 0; n < d->n; n++) {
			long sum = 0;

			for (k = 0; k < d->k; k++)
				sum += (long)value(a, m * lda + k, d->types) *
				       value(b, d->flags ? n * ldb + k : k * ldb + n, d->types);
			assert_int_equal(result(c, m * ldc + n, d->types), expect(sum, d));
		}
}

static inline struct rkmm_matmul_desc describe(uint32_t types, uint32_t m, uint32_t k, uint32_t n)
{
	struct rkmm_matmul_desc d = { .types = types, .m = m, .k = k, .n = n };

	if (types == DRM_RKMM_I8I8) {
		d.mult = 1;
		d.shift = 8;
		d.offset = -3;
	}
	return d;
}

static inline struct rkmm_device *open_dev(void)
{
	struct rkmm_device *dev;

	assert_int_equal(rkmm_open("/fake/npu", &dev), 0);
	return dev;
}

static inline int open_fds(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static int fds_before;

static inline int setup(void **state)
{
	(void)state;
	fake_reset();
	fds_before = open_fds();
	return 0;
}

/* Whatever a test did, nothing may be left. */
static inline int teardown(void **state)
{
	(void)state;
	return fake.bos || fake.plans || fake.nodes || fake.maps || open_fds() != fds_before;
}

#define T(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
