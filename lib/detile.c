// SPDX-License-Identifier: MIT
/* Result layouts to row-major, one function per layout of enum drm_rkmm_layout. */
#include <errno.h>
#include <string.h>

#include "lib/internal.h"
#include "lib/kernels.h"
#include "lib/pool.h"

#define BLOCK_COLS	64	/* columns that a batch program writes in one run (hw 02 §6.2) */
#define PIECE_ROWS	64	/* a thread's share */
#define BLOCK_ROWS	32	/* rows on the way at a time: pages that stay in the TLB */
#define AHEAD		2	/* squares */

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/**
 * struct detile_job - one C
 * @t: layout
 * @src: as the NPU wrote it
 * @dst: row-major
 * @dst_pitch: bytes between its rows
 * @rows: rows wanted
 * @cols: columns wanted
 * @stream: as for rkmm_store()
 */
struct detile_job {
	const struct drm_rkmm_tensor *t;
	const uint8_t *src;
	uint8_t *dst;
	size_t dst_pitch;
	uint32_t rows;
	uint32_t cols;
	bool stream;
};

static void detile_rows(void *arg, uint32_t first, uint32_t count)
{
	const struct detile_job *p = arg;
	const size_t bytes = (size_t)p->cols * (p->t->bits / 8);
	const uint8_t *src = p->src + (size_t)first * p->t->pitch;
	uint8_t *dst = p->dst + first * p->dst_pitch;
	uint32_t r;

	if (p->dst_pitch == bytes && p->t->pitch == bytes) {
		memcpy(dst, src, bytes * count);
		return;
	}
	for (r = 0; r < count; r++)
		memcpy(dst + r * p->dst_pitch, src + (size_t)r * p->t->pitch, bytes);
}

/*
 * Each program owns a slot. In it column blocks of 64 follow each other at the
 * distance of the program's own rows, and every fourth line is a useful one.
 */
static void detile_batch(void *arg, uint32_t first, uint32_t count)
{
	const struct detile_job *p = arg;
	const struct drm_rkmm_tensor *t = p->t;
	const uint32_t h = t->tile_rows, w = t->tile_cols;
	const size_t line = BLOCK_COLS * sizeof(int16_t);
	const size_t slot = (size_t)4 * h * (w / BLOCK_COLS) * line;
	const uint32_t groups = (t->rows + h - 1) / h;
	uint32_t n0, g, col, j;

	for (n0 = 0; n0 < p->cols; n0 += w) {
		for (g = first; g < first + count; g++) {
			const uint32_t hg = min_u32(h, t->rows - g * h);
			const uint32_t live = min_u32(hg, p->rows - g * h);
			const uint8_t *base = p->src + ((size_t)(n0 / w) * groups + g) * slot;
			const uint32_t end = min_u32(n0 + w, p->cols);

			for (col = n0; col < end; col += BLOCK_COLS) {
				size_t run = min_u32(BLOCK_COLS, end - col) * sizeof(int16_t);
				uint8_t *to = p->dst + (size_t)g * h * p->dst_pitch +
					      col * sizeof(int16_t);
				const uint8_t *from = base +
					4 * (size_t)hg * ((col - n0) / BLOCK_COLS) * line;

				for (j = 0; j < live; j++)
					memcpy(to + j * p->dst_pitch, from + 4 * j * line, run);
			}
		}
	}
}

/* Bytes from..to of some rows, atom by atom; the last one may be cut. */
static void detile_atoms(const struct detile_job *p, uint32_t r0, uint32_t rows, size_t from,
			 size_t to)
{
	const size_t surface = (size_t)p->t->rows * RKMM_ATOM;
	size_t at;
	uint32_t r;

	for (at = from; at < to; at += RKMM_ATOM) {
		const uint8_t *src = p->src + at / RKMM_ATOM * surface + (size_t)r0 * RKMM_ATOM;
		uint8_t *dst = p->dst + r0 * p->dst_pitch + at;

		for (r = 0; r < rows; r++, dst += p->dst_pitch, src += RKMM_ATOM) {
			if (to - at < RKMM_ATOM)
				memcpy(dst, src, to - at);
			else
				memcpy(dst, src, RKMM_ATOM);
		}
	}
}

/*
 * Four surfaces make a line of every row of a block: every cache line is read and
 * written once, as a whole. Lines of the rows begin where those of the cache do.
 */
static void detile_cube(void *arg, uint32_t first, uint32_t count)
{
	const struct detile_job *p = arg;
	const size_t all = (size_t)p->cols * (p->t->bits / 8);
	const size_t surface = (size_t)p->t->rows * RKMM_ATOM;
	const size_t skew = -(uintptr_t)p->dst & (RKMM_LINE - 1);
	const size_t head = p->stream && skew < all ? skew : 0;
	const size_t body = (all - head) & ~(size_t)(RKMM_LINE - 1);
	uint32_t r0, n;
	size_t at;

	for (r0 = first; r0 < first + count; r0 += n) {
		const uint8_t *src = p->src + (size_t)r0 * RKMM_ATOM;

		n = min_u32(BLOCK_ROWS, first + count - r0);
		detile_atoms(p, r0, n, 0, head);
		for (at = head; at < head + body; at += RKMM_LINE) {
			const size_t later = at + AHEAD * RKMM_LINE;
			const struct rkmm_turn turn = {
				.dst = p->dst + r0 * p->dst_pitch + at,
				.dst_pitch = p->dst_pitch, .dst_step = 4 * p->dst_pitch,
				.src = src + at / RKMM_ATOM * surface,
				.src_pitch = surface, .src_step = 4 * RKMM_ATOM,
				.ahead = later < head + body ? src + later / RKMM_ATOM * surface :
					 r0 + 2 * n > first + count ? NULL :
					 src + n * RKMM_ATOM + (later - body) / RKMM_ATOM * surface,
				.squares = n / 4, .stream = p->stream,
			};

			rkmm_kernels()->turn(&turn);
		}
		detile_atoms(p, r0 + n / 4 * 4, n % 4, head, head + body);
		detile_atoms(p, r0, n, head + body, all);
	}
	rkmm_stream_end(p->stream);
}

int rkmm_unpack_c(const struct drm_rkmm_tensor *c, const void *src, void *dst, size_t ldc,
		  uint32_t rows, uint32_t cols)
{
	const size_t dst_pitch = ldc * (c->bits / 8), bytes = (size_t)rows * cols * c->bits / 8;
	struct detile_job p = {
		.t = c, .src = src, .dst = dst, .dst_pitch = dst_pitch, .rows = rows,
		.cols = cols, .stream = rkmm_stream(dst, dst_pitch, bytes, RKMM_ATOM),
	};

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
		rkmm_parallel(2 * bytes, rows, PIECE_ROWS, detile_rows, &p);
		return 0;
	case DRM_RKMM_LAYOUT_BATCH_C:
		if (c->bits != 16 || !c->tile_rows || !c->tile_cols || c->tile_cols % BLOCK_COLS)
			break;
		rkmm_parallel(2 * bytes, (rows - 1) / c->tile_rows + 1,
			      PIECE_ROWS / min_u32(c->tile_rows, PIECE_ROWS),
			      detile_batch, &p);
		return 0;
	case DRM_RKMM_LAYOUT_CUBE:
		rkmm_parallel(2 * bytes, rows, PIECE_ROWS, detile_cube, &p);
		return 0;
	default:
		break;
	}
	return rkmm_fail(-EINVAL, "C: layout %u is not one of results", c->layout);
}
