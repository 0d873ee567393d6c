// SPDX-License-Identifier: MIT
/* Result layouts to row-major, one function per layout of enum drm_rkmm_layout. */
#include <errno.h>
#include <string.h>

#include "lib/internal.h"

#define BLOCK_COLS	64	/* columns that a batch program writes in one run (hw 02 §6.2) */
#define ATOM		16	/* bytes; hw 02 §3.5 */

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void detile_rows(const struct drm_rkmm_tensor *t, const uint8_t *src, uint8_t *dst,
			size_t dst_pitch, uint32_t rows, uint32_t cols)
{
	size_t bytes = (size_t)cols * (t->bits / 8);
	uint32_t r;

	if (dst_pitch == bytes && t->pitch == bytes) {
		memcpy(dst, src, bytes * rows);
		return;
	}
	for (r = 0; r < rows; r++)
		memcpy(dst + r * dst_pitch, src + (size_t)r * t->pitch, bytes);
}

/*
 * Each program owns a slot. In it column blocks of 64 follow each other at the
 * distance of the program's own rows, and every fourth line is a useful one.
 */
static void detile_batch(const struct drm_rkmm_tensor *t, const uint8_t *src, uint8_t *dst,
			 size_t dst_pitch, uint32_t rows, uint32_t cols)
{
	const uint32_t h = t->tile_rows, w = t->tile_cols;
	const size_t line = BLOCK_COLS * sizeof(int16_t);
	const size_t slot = (size_t)4 * h * (w / BLOCK_COLS) * line;
	const uint32_t groups = (t->rows + h - 1) / h;
	uint32_t n0, g, col, j;

	for (n0 = 0; n0 < cols; n0 += w) {
		for (g = 0; g < groups && g * h < rows; g++) {
			const uint32_t hg = min_u32(h, t->rows - g * h);
			const uint32_t live = min_u32(hg, rows - g * h);
			const uint8_t *base = src + ((size_t)(n0 / w) * groups + g) * slot;
			const uint32_t end = min_u32(n0 + w, cols);

			for (col = n0; col < end; col += BLOCK_COLS) {
				size_t run = min_u32(BLOCK_COLS, end - col) * sizeof(int16_t);
				uint8_t *to = dst + (size_t)g * h * dst_pitch +
					      col * sizeof(int16_t);
				const uint8_t *from = base +
					4 * (size_t)hg * ((col - n0) / BLOCK_COLS) * line;

				for (j = 0; j < live; j++)
					memcpy(to + j * dst_pitch, from + 4 * j * line, run);
			}
		}
	}
}

/* Four rows at a time: their atoms share a cache line of the source. */
static void detile_cube(const struct drm_rkmm_tensor *t, const uint8_t *src, uint8_t *dst,
			size_t dst_pitch, uint32_t rows, uint32_t cols)
{
	const size_t bytes = (size_t)cols * (t->bits / 8);
	const size_t surface = (size_t)t->rows * ATOM;
	size_t atom, run;
	uint32_t r0, r;

	for (r0 = 0; r0 < rows; r0 += 4) {
		const uint32_t end = min_u32(r0 + 4, rows);

		for (atom = 0; atom * ATOM < bytes; atom++) {
			run = bytes - atom * ATOM;
			for (r = r0; r < end; r++) {
				const uint8_t *from = src + atom * surface + (size_t)r * ATOM;
				uint8_t *to = dst + r * dst_pitch + atom * ATOM;

				/* A constant length is one load and one store. */
				if (run >= ATOM)
					memcpy(to, from, ATOM);
				else
					memcpy(to, from, run);
			}
		}
	}
}

int rkmm_unpack_c(const struct drm_rkmm_tensor *c, const void *src, void *dst, size_t ldc,
		  uint32_t rows, uint32_t cols)
{
	size_t dst_pitch = ldc * (c->bits / 8);

	if (!rows || !cols || rows > c->rows || cols > c->cols || ldc < cols)
		return rkmm_fail(-EINVAL, "C: %u x %u with ld %zu out of a %u x %u operand", rows,
				 cols, ldc, c->rows, c->cols);
	if (c->slices > 1)
		return rkmm_fail(-EINVAL, "C: %u partial results; rkmm_finish_c() adds them",
				 c->slices);
	if (c->bits != 8 && c->bits != 16 && c->bits != 32)
		return rkmm_fail(-EINVAL, "C: %u bits per element", c->bits);

	switch (c->layout) {
	case DRM_RKMM_LAYOUT_ROWS:
		if (c->pitch < (uint64_t)cols * (c->bits / 8))
			break;
		detile_rows(c, src, dst, dst_pitch, rows, cols);
		return 0;
	case DRM_RKMM_LAYOUT_BATCH_C:
		if (c->bits != 16 || !c->tile_rows || !c->tile_cols || c->tile_cols % BLOCK_COLS)
			break;
		detile_batch(c, src, dst, dst_pitch, rows, cols);
		return 0;
	case DRM_RKMM_LAYOUT_CUBE:
		detile_cube(c, src, dst, dst_pitch, rows, cols);
		return 0;
	default:
		break;
	}
	return rkmm_fail(-EINVAL, "C: layout %u is not one of results", c->layout);
}
