// SPDX-License-Identifier: MIT
/*
 * Row-major A to what the NPU reads, one function per layout of
 * enum drm_rkmm_layout.
 */
#include <errno.h>
#include <string.h>

#include "lib/internal.h"
#include "lib/kernels.h"
#include "lib/pool.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the NPU and its operands are little endian"
#endif

#define NIBBLE(x)	((uint8_t)((x) & 0xf))
#define PIECE_ROWS	64	/* a thread's share */
#define BLOCK_ROWS	32	/* rows on the way at a time: pages that stay in the TLB */
#define AHEAD		(2 * RKMM_LINE)

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/*
 * Pack count values of one byte into nibbles, the even one low; a missing last
 * one is zero. Returns true when a value does not fit.
 */
static bool pack_nibbles(uint8_t *dst, const int8_t *src, size_t count, bool stream)
{
	size_t i = count & ~(size_t)31;
	uint8_t bad = 0;

	if (i && rkmm_kernels()->nibbles(dst, (const uint8_t *)src, i, stream))
		return true;
	for (; i < count; i += 2) {
		int8_t lo = src[i], hi = i + 1 < count ? src[i + 1] : 0;

		bad |= (uint8_t)(lo + 8) | (uint8_t)(hi + 8);
		dst[i / 2] = (uint8_t)(NIBBLE(lo) | NIBBLE(hi) << 4);
	}
	return bad & 0xf0;
}

/* ---- A ---- */

/**
 * struct pack_job - one packed A
 * @t: layout
 * @dst: packed
 * @src: row-major
 * @ld: its leading dimension
 * @cols: its columns
 * @stream: as for rkmm_store()
 * @rows: packs some rows; true when a value does not fit
 * @bad: whether one did not
 */
struct pack_job {
	const struct drm_rkmm_tensor *t;
	uint8_t *dst;
	const uint8_t *src;
	size_t ld;
	uint32_t cols;
	bool stream;
	bool (*rows)(const struct pack_job *p, uint32_t first, uint32_t end);
	atomic_bool bad;
};

static bool rows_plain(const struct pack_job *p, uint32_t first, uint32_t end)
{
	const struct drm_rkmm_tensor *t = p->t;
	const size_t elem = t->bits / 8, bytes = p->cols * elem, pitch = p->ld * elem;
	const uint8_t *src = p->src + first * pitch;
	uint8_t *dst = p->dst + (size_t)first * t->pitch;
	uint32_t r;

	if (pitch == bytes && t->pitch == bytes) {
		memcpy(dst, src, bytes * (end - first));
		return false;
	}
	for (r = first; r < end; r++) {
		memcpy(dst, src, bytes);
		memset(dst + bytes, 0, (t->cols - p->cols) * elem);
		dst += t->pitch;
		src += pitch;
	}
	return false;
}

/* Nibble rows, and batch rows, which only differ in the zeros behind them. */
static bool rows_nibbles(const struct pack_job *p, uint32_t first, uint32_t end)
{
	const struct drm_rkmm_tensor *t = p->t;
	const size_t bytes = ((size_t)p->cols + 1) / 2;
	const size_t row = t->layout == DRM_RKMM_LAYOUT_BATCH_A ? t->pitch : t->cols / 2;
	const int8_t *src = (const int8_t *)p->src + first * p->ld;
	uint8_t *dst = p->dst + (size_t)first * t->pitch;
	bool bad = false;
	uint32_t r;

	for (r = first; r < end; r++) {
		bad |= pack_nibbles(dst, src, p->cols, p->stream);
		memset(dst + bytes, 0, row - bytes);
		dst += t->pitch;
		src += p->ld;
	}
	rkmm_stream_end(p->stream);
	return bad;
}

/*
 * Columns of the cube that need a hand, a line of each row at a time: nibbles, and
 * the edge, where zeros follow what is live.
 */
static bool cube_line(const struct pack_job *p, uint32_t r0, uint32_t rows, size_t at)
{
	const struct drm_rkmm_tensor *t = p->t;
	const size_t surface = (size_t)t->rows * RKMM_ATOM, all = (size_t)t->cols * t->bits / 8;
	const size_t elem = t->bits == 4 ? 1 : t->bits / 8;
	const size_t bytes = all - at < RKMM_LINE ? all - at : RKMM_LINE;
	const uint32_t per = RKMM_LINE * 8 / t->bits, c = (uint32_t)(at * 8 / t->bits);
	const uint32_t live = c < p->cols ? min_u32(per, p->cols - c) : 0;
	const size_t used = ((size_t)live * t->bits + 7) / 8;
	uint8_t line[BLOCK_ROWS][RKMM_LINE] __attribute__((aligned(RKMM_LINE)));
	uint8_t *dst = p->dst + at / RKMM_ATOM * surface + (size_t)r0 * RKMM_ATOM;
	const bool whole = bytes == RKMM_LINE;
	const struct rkmm_turn turn = {
		.dst = dst, .dst_pitch = surface, .dst_step = 4 * RKMM_ATOM,
		.src = line[0], .src_pitch = RKMM_LINE, .src_step = 4 * RKMM_LINE,
		.squares = whole ? rows / 4 : 0, .stream = p->stream,
	};
	bool bad = false;
	uint32_t r;
	size_t i;

	for (r = 0; r < rows; r++) {
		const uint8_t *from = live ? p->src + ((r0 + r) * p->ld + c) * elem : p->src;

		if (t->bits == 4) {
			bad |= pack_nibbles(line[r], (const int8_t *)from, live, false);
			__builtin_prefetch(from + 2 * per);
		} else {
			memcpy(line[r], from, used);
		}
		memset(line[r] + used, 0, bytes - used);
	}
	if (turn.squares)
		rkmm_kernels()->turn(&turn);
	for (i = 0; i < bytes; i += RKMM_ATOM)
		for (r = 4 * turn.squares; r < rows; r++)
			memcpy(dst + i / RKMM_ATOM * surface + (size_t)r * RKMM_ATOM, line[r] + i,
			       RKMM_ATOM);
	return bad;
}

/*
 * A line of every row of a block makes four rows of atoms, which lie far from each
 * other: every cache line is read and written once, as a whole.
 */
static bool rows_cube(const struct pack_job *p, uint32_t first, uint32_t end)
{
	const struct drm_rkmm_tensor *t = p->t;
	const size_t surface = (size_t)t->rows * RKMM_ATOM, all = (size_t)t->cols * t->bits / 8;
	const size_t elem = t->bits == 4 ? 1 : t->bits / 8, pitch = p->ld * elem;
	const size_t plain = t->bits == 4 ? 0 : (p->cols * elem) & ~(size_t)(RKMM_LINE - 1);
	uint32_t r0, n;
	bool bad = false;
	size_t at;

	for (r0 = first; r0 < end; r0 += n) {
		const uint8_t *src = p->src + r0 * pitch;

		n = min_u32(BLOCK_ROWS, end - r0);
		for (at = 0; at < (n % 4 ? 0 : plain); at += RKMM_LINE) {
			const bool next = at + AHEAD >= plain;
			const struct rkmm_turn turn = {
				.dst = p->dst + at / RKMM_ATOM * surface + (size_t)r0 * RKMM_ATOM,
				.dst_pitch = surface, .dst_step = 4 * RKMM_ATOM,
				.src = src + at, .src_pitch = pitch, .src_step = 4 * pitch,
				.ahead = !next ? src + at + AHEAD : end - r0 < 2 * n ? NULL :
					 src + n * pitch + at + AHEAD - plain,
				.squares = n / 4, .stream = p->stream,
			};

			rkmm_kernels()->turn(&turn);
		}
		for (; at < all; at += RKMM_LINE)
			bad |= cube_line(p, r0, n, at);
	}
	rkmm_stream_end(p->stream);
	return bad;
}

static void pack_piece(void *arg, uint32_t first, uint32_t count)
{
	struct pack_job *p = arg;

	if (p->rows(p, first, first + count))
		atomic_store_explicit(&p->bad, true, memory_order_relaxed);
}

static int pack_rows(struct pack_job *p, uint32_t rows)
{
	const struct drm_rkmm_tensor *t = p->t;
	const size_t bytes = (size_t)rows * p->cols * t->bits / 8;
	const bool cube = t->layout == DRM_RKMM_LAYOUT_CUBE;

	p->rows = cube ? rows_cube : t->bits == 4 ? rows_nibbles : rows_plain;
	p->stream = rkmm_stream(p->dst, cube ? (size_t)t->rows * RKMM_ATOM : t->pitch, bytes,
				RKMM_ATOM);
	rkmm_parallel(2 * bytes, rows, PIECE_ROWS, pack_piece, p);
	return atomic_load_explicit(&p->bad, memory_order_relaxed) ?
	       rkmm_fail(-ERANGE, "A: an int4 value is outside -8..7") : 0;
}

bool rkmm_bits_known(uint32_t bits)
{
	return bits == 4 || bits == 8 || bits == 16;
}

/* Slice after slice, each a packed A of its own. */
static int pack_slices(struct pack_job *p, uint32_t rows, uint32_t cols)
{
	const struct drm_rkmm_tensor *t = p->t;
	struct drm_rkmm_tensor one = *t;
	const uint8_t *src = p->src;
	uint32_t s, k0;
	int ret = 0;

	p->t = &one;
	one.cols = t->slice;
	for (s = 0; s < t->slices; s++, p->dst += t->slice_stride) {
		k0 = s * t->slice;
		p->cols = k0 < cols ? min_u32(t->slice, cols - k0) : 0;
		p->src = src + (p->cols ? k0 : 0);
		ret = pack_rows(p, rows);
	}
	return ret;
}

int rkmm_pack_a(const struct drm_rkmm_tensor *a, void *dst, const void *src, size_t lda,
		uint32_t rows, uint32_t cols)
{
	struct pack_job p = { .t = a, .dst = dst, .src = src, .ld = lda, .cols = cols };

	if (!rows || !cols || rows > a->rows || cols > a->cols || lda < cols)
		return rkmm_fail(-EINVAL, "A: %u x %u with ld %zu into a %u x %u operand", rows,
				 cols, lda, a->rows, a->cols);
	if (!rkmm_bits_known(a->bits))
		return rkmm_fail(-EINVAL, "A: %u bits per element", a->bits);

	switch (a->layout) {
	case DRM_RKMM_LAYOUT_ROWS:
		if (a->pitch < (uint64_t)a->cols * a->bits / 8)
			break;
		return pack_rows(&p, rows);
	case DRM_RKMM_LAYOUT_BATCH_A:
		if (a->slices > 1 && a->bits == 4 && a->pitch >= a->slice)
			return pack_slices(&p, rows, cols);
		if (a->bits != 4 || a->pitch < a->cols)
			break;
		return pack_rows(&p, rows);
	case DRM_RKMM_LAYOUT_CUBE:
		return pack_rows(&p, rows);
	default:
		break;
	}
	return rkmm_fail(-EINVAL, "A: layout %u is not one of A", a->layout);
}
