// SPDX-License-Identifier: MIT
/*
 * Row-major A to what the NPU reads, one function per layout of
 * enum drm_rkmm_layout.
 */
#include <errno.h>
#include <string.h>

#include "lib/internal.h"
#include "lib/pool.h"
#include "lib/vec.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the NPU and its operands are little endian"
#endif

#define ATOM		16	/* bytes; hw 02 §3.4 */
#define NIBBLE(x)	((uint8_t)((x) & 0xf))

size_t rkmm_stream_min = 4 << 20;

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/*
 * Pack count values of one byte into nibbles, the even one low; a missing last
 * one is zero. Returns non-zero when a value does not fit.
 */
static uint64_t pack_nibbles(uint8_t *dst, const int8_t *src, size_t count, bool stream)
{
	rkmm_v8 beyond = { 0 };
	uint64_t bad = 0;
	size_t i;

	for (i = 0; i + 32 <= count; i += 32)
		rkmm_store(dst + i / 2,
			   rkmm_nibbles(rkmm_load(src + i), rkmm_load(src + i + 16), &beyond),
			   stream);
	for (; i < count; i += 2) {
		int8_t lo = src[i], hi = i + 1 < count ? src[i + 1] : 0;

		bad |= ((uint8_t)(lo + 8) | (uint8_t)(hi + 8)) & 0xf0;
		dst[i / 2] = (uint8_t)(NIBBLE(lo) | NIBBLE(hi) << 4);
	}
	return bad | rkmm_nibbles_bad(beyond);
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
 * @rows: packs some rows; non-zero when a value does not fit
 * @bad: whether one did not
 */
struct pack_job {
	const struct drm_rkmm_tensor *t;
	uint8_t *dst;
	const uint8_t *src;
	size_t ld;
	uint32_t cols;
	bool stream;
	uint64_t (*rows)(const struct pack_job *p, uint32_t first, uint32_t end);
	atomic_bool bad;
};

static uint64_t rows_plain(const struct pack_job *p, uint32_t first, uint32_t end)
{
	const struct drm_rkmm_tensor *t = p->t;
	const size_t elem = t->bits / 8, bytes = p->cols * elem, pitch = p->ld * elem;
	const uint8_t *src = p->src + first * pitch;
	uint8_t *dst = p->dst + (size_t)first * t->pitch;
	uint32_t r;

	if (pitch == bytes && t->pitch == bytes) {
		memcpy(dst, src, bytes * (end - first));
		return 0;
	}
	for (r = first; r < end; r++) {
		memcpy(dst, src, bytes);
		memset(dst + bytes, 0, (t->cols - p->cols) * elem);
		dst += t->pitch;
		src += pitch;
	}
	return 0;
}

/* Nibble rows, and batch rows, which only differ in the zeros behind them. */
static uint64_t rows_nibbles(const struct pack_job *p, uint32_t first, uint32_t end)
{
	const struct drm_rkmm_tensor *t = p->t;
	const size_t bytes = ((size_t)p->cols + 1) / 2;
	const size_t row = t->layout == DRM_RKMM_LAYOUT_BATCH_A ? t->pitch : t->cols / 2;
	const int8_t *src = (const int8_t *)p->src + first * p->ld;
	uint8_t *dst = p->dst + (size_t)first * t->pitch;
	uint64_t bad = 0;
	uint32_t r;

	for (r = first; r < end; r++) {
		bad |= pack_nibbles(dst, src, p->cols, p->stream);
		memset(dst + bytes, 0, row - bytes);
		dst += t->pitch;
		src += p->ld;
	}
	rkmm_store_end(p->stream);
	return bad;
}

/* Row r of a block of the cube as it will lie there: live elements, then zeros. */
static uint64_t block_row(uint8_t *to, const uint8_t *from, uint32_t bits, uint32_t live,
			  size_t bytes)
{
	const size_t used = ((size_t)live * bits + 7) / 8;
	uint64_t bad = 0;

	if (bits == 4)
		bad = pack_nibbles(to, (const int8_t *)from, live, false);
	else if (used == RKMM_BLOCK_BYTES)
		memcpy(to, from, RKMM_BLOCK_BYTES);
	else
		memcpy(to, from, used);
	memset(to + used, 0, bytes - used);
	return bad;
}

/*
 * By blocks of rows that are long enough for a run of a surface: surfaces lie far
 * from each other, and each visit costs a page of the TLB.
 */
static uint64_t rows_cube(const struct pack_job *p, uint32_t first, uint32_t end)
{
	const struct drm_rkmm_tensor *t = p->t;
	const size_t surface = (size_t)t->rows * ATOM, all = (size_t)t->cols * t->bits / 8;
	const size_t elem = t->bits == 4 ? 1 : t->bits / 8, pitch = p->ld * elem;
	const uint32_t per = RKMM_BLOCK_BYTES * 8 / t->bits;	/* elements of a block's row */
	uint32_t r0, r, c, n, live;
	struct rkmm_block block;
	size_t at, bytes, i;
	uint64_t bad = 0;

	for (r0 = first; r0 < end; r0 += n) {
		n = min_u32(RKMM_BLOCK_ROWS, end - r0);
		for (at = 0, c = 0; at < all; at += bytes, c += per) {
			const uint8_t *from = p->src + r0 * pitch + c * elem;
			uint8_t *to = p->dst + at / ATOM * surface + (size_t)r0 * ATOM;

			bytes = all - at < RKMM_BLOCK_BYTES ? all - at : RKMM_BLOCK_BYTES;
			live = c < p->cols ? min_u32(per, p->cols - c) : 0;
			for (r = 0; r < n; r++, from += pitch) {
				bad |= block_row(block.b[r], live ? from : p->src, t->bits, live,
						 bytes);
				rkmm_prefetch(from + per * elem, per * elem);
			}
			for (i = 0; i < bytes; i += ATOM, to += surface)
				for (r = 0; r < n; r++)
					rkmm_store(to + (size_t)r * ATOM,
						   rkmm_load(block.b[r] + i), p->stream);
		}
	}
	rkmm_store_end(p->stream);
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
	p->stream = rkmm_stream(p->dst, cube ? (size_t)t->rows * ATOM : t->pitch, bytes);
	rkmm_parallel(2 * bytes, rows, RKMM_BLOCK_ROWS, pack_piece, p);
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
