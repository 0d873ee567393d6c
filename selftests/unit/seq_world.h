/* SPDX-License-Identifier: MIT */
/* What tests of sequences share: the kernel of fake_kernel.c with cubes, plain products. */
#ifndef SEQ_WORLD_H
#define SEQ_WORLD_H

#include <math.h>
#include <stdbool.h>

#include "lib_fixture.h"
#include "fake_ops.h"
#include "lib/rkmm_seq.h"

static inline int setup_cube(void **state)
{
	int ret = setup(state);

	fake.cube = 1;
	return ret;
}

#define C(name)	cmocka_unit_test_setup_teardown(name, setup_cube, teardown)

static inline float rounded(double v)
{
	float f = (float)v;
	uint16_t h;

	rkmm_f32_to_f16(&f, &h, 1);
	rkmm_f16_to_f32(&h, &f, 1);
	return f;
}

/* Halves between -1 and 1 */
static inline float *halves(size_t count, uint64_t *s)
{
	float *p = malloc(count * sizeof(*p));
	size_t i;

	for (i = 0; i < count; i++)
		p[i] = rounded((int)(rnd(s) % 2001) / 1000.0 - 1);
	return p;
}

static inline void product(const float *a, const float *b, float *c, uint32_t m, uint32_t k,
			   uint32_t n)
{
	uint32_t i, j, l;

	for (i = 0; i < m; i++)
		for (j = 0; j < n; j++) {
			double sum = 0;

			for (l = 0; l < k; l++)
				sum += (double)a[i * k + l] * b[l * n + j];
			c[i * n + j] = rounded(sum);
		}
}

static inline void same(const float *want, const float *have, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (want[i] != have[i] && !(isnan(want[i]) && isnan(have[i])))
			fail_msg("element %zu: %g, not %g", i, (double)have[i], (double)want[i]);
}

#endif
