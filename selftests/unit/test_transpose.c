// SPDX-License-Identifier: MIT
/* Transposition between layouts, against the formulas of rkmm_drm.h written out here. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/rkmm_seq.h"

static uint32_t seed = 0x9e3779b9;

static uint32_t rnd(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return seed % below;
}

static struct drm_rkmm_tensor tensor(uint32_t rows, uint32_t cols, uint32_t bits, int cube)
{
	struct drm_rkmm_tensor t = {
		.layout = cube ? DRM_RKMM_LAYOUT_CUBE : DRM_RKMM_LAYOUT_ROWS, .rows = rows,
		.cols = (cols + 31) / 32 * 32, .bits = bits, .slices = 1,
	};

	t.slice = t.cols;
	if (!cube)
		t.pitch = t.cols * bits / 8;
	t.size = (uint64_t)rows * t.cols * bits / 8;
	return t;
}

static uint64_t place(const struct drm_rkmm_tensor *t, uint32_t row, uint32_t col)
{
	const uint32_t bytes = t->bits / 8, group = 16 / bytes;

	if (t->layout == DRM_RKMM_LAYOUT_ROWS)
		return (uint64_t)row * t->pitch + col * bytes;
	return 16ull * (row + (uint64_t)t->rows * (col / group)) + col % group * bytes;
}

static void test_all(void **state)
{
	uint32_t i, r, c, k;

	(void)state;
	for (i = 0; i < 400; i++) {
		uint32_t rows = 1 + rnd(90), cols = 1 + rnd(90), bits = rnd(2) ? 8 : 16;
		struct drm_rkmm_tensor from = tensor(rows, cols, bits, rnd(3));
		struct drm_rkmm_tensor to = tensor(cols, rows, bits, rnd(3));
		uint8_t *src = malloc(from.size), *dst = malloc(to.size);

		for (k = 0; k < from.size; k++)
			src[k] = (uint8_t)rnd(256);
		memset(dst, 0xa5, to.size);
		assert_int_equal(rkmm_transpose(&from, src, &to, dst, rows, cols), 0);
		for (r = 0; r < rows; r++)
			for (c = 0; c < cols; c++)
				assert_memory_equal(src + place(&from, r, c),
						    dst + place(&to, c, r), bits / 8);
		/* columns behind are zero, as an operand's have to be */
		for (c = 0; c < cols; c++)
			for (r = rows; r < to.cols; r++)
				for (k = 0; k < bits / 8; k++)
					assert_int_equal(dst[place(&to, c, r) + k], 0);
		free(src);
		free(dst);
	}
}

static void test_refused(void **state)
{
	struct drm_rkmm_tensor from = tensor(3, 5, 16, 1), to = tensor(5, 3, 16, 1);
	uint8_t bytes[4096] = { 0 };

	(void)state;
	assert_int_equal(rkmm_transpose(&from, bytes, &to, bytes + 2048, 0, 5), -EINVAL);
	assert_int_equal(rkmm_transpose(&from, bytes, &to, bytes + 2048, 4, 5), -EINVAL);
	assert_int_equal(rkmm_transpose(&from, bytes, &to, bytes + 2048, 3, 33), -EINVAL);
	to.bits = 8;
	assert_int_equal(rkmm_transpose(&from, bytes, &to, bytes + 2048, 3, 5), -EINVAL);
	to = tensor(2, 3, 16, 1);
	assert_int_equal(rkmm_transpose(&from, bytes, &to, bytes + 2048, 3, 5), -EINVAL);
	from.bits = 32;
	to.bits = 32;
	assert_int_equal(rkmm_transpose(&from, bytes, &to, bytes + 2048, 3, 5), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
