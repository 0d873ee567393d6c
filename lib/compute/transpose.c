// SPDX-License-Identifier: MIT
/* Rows become columns, between layouts of the NPU. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/compute/seq.h"

#define BLOCK	16u	/* lines of both sides stay in the nearest cache */

static uint32_t lesser(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void turn(const uint8_t *src, uint8_t *dst, uint32_t rows, uint32_t cols, uint32_t bytes)
{
	uint32_t r0, c0, r, c;

	for (r0 = 0; r0 < rows; r0 += BLOCK)
		for (c0 = 0; c0 < cols; c0 += BLOCK)
			for (c = c0; c < lesser(c0 + BLOCK, cols); c++)
				for (r = r0; r < lesser(r0 + BLOCK, rows); r++)
					memcpy(dst + ((size_t)c * rows + r) * bytes,
					       src + ((size_t)r * cols + c) * bytes, bytes);
}

RKMM_PUBLIC int rkmm_transpose(const struct drm_rkmm_tensor *from, const void *src,
			       const struct drm_rkmm_tensor *to, void *dst, uint32_t rows,
			       uint32_t cols)
{
	const uint32_t bytes = from->bits / 8;
	uint8_t *plain, *turned;
	int ret = -ENOMEM;

	if (from->bits != to->bits || (from->bits != 8 && from->bits != 16) || !rows || !cols)
		return -EINVAL;
	plain = malloc((size_t)rows * cols * bytes);
	turned = malloc((size_t)rows * cols * bytes);
	if (plain && turned) {
		ret = rkmm_unpack_c(from, src, plain, cols, rows, cols);
		if (!ret) {
			turn(plain, turned, rows, cols, bytes);
			ret = rkmm_pack_a(to, dst, turned, rows, cols, rows);
		}
	}
	free(plain);
	free(turned);
	return ret;
}
