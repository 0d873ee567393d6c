// SPDX-License-Identifier: MIT
/*
 * Row-major A to what the NPU reads, one function per layout of
 * enum drm_rkmm_layout.
 */
#include <errno.h>
#include <string.h>

#include "lib/internal.h"
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

static int out_of_range(const char *operand)
{
	return rkmm_fail(-ERANGE, "%s: an int4 value is outside -8..7", operand);
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

static int pack_a_rows(const struct drm_rkmm_tensor *t, uint8_t *dst, const uint8_t *src,
		       size_t src_pitch, uint32_t rows, uint32_t cols)
{
	const size_t bytes = (size_t)cols * (t->bits / 8);
	const size_t pad = (size_t)(t->cols - cols) * (t->bits / 8);
	uint32_t r;

	if (src_pitch == bytes && t->pitch == bytes) {
		memcpy(dst, src, bytes * rows);
		return 0;
	}
	for (r = 0; r < rows; r++) {
		memcpy(dst, src, bytes);
		memset(dst + bytes, 0, pad);
		dst += t->pitch;
		src += src_pitch;
	}
	return 0;
}

/* Nibble rows, and batch rows, which only differ in the zeros behind them. */
static int pack_a_rows4(const struct drm_rkmm_tensor *t, uint8_t *dst, const int8_t *src,
			size_t ld, uint32_t rows, uint32_t cols)
{
	const size_t bytes = ((size_t)cols + 1) / 2;
	const size_t row = t->layout == DRM_RKMM_LAYOUT_BATCH_A ? t->pitch : t->cols / 2;
	const bool stream = rkmm_stream(dst, t->pitch, bytes * rows);
	uint64_t bad = 0;
	uint32_t r;

	for (r = 0; r < rows; r++) {
		bad |= pack_nibbles(dst, src, cols, stream);
		memset(dst + bytes, 0, row - bytes);
		dst += t->pitch;
		src += ld;
	}
	rkmm_store_end(stream);
	return bad ? out_of_range("A") : 0;
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
static int pack_a_cube(const struct drm_rkmm_tensor *t, uint8_t *dst, const uint8_t *src,
		       size_t ld, uint32_t rows, uint32_t cols)
{
	const size_t surface = (size_t)t->rows * ATOM, all = (size_t)t->cols * t->bits / 8;
	const size_t pitch = ld * (t->bits == 4 ? 1 : t->bits / 8);
	const uint32_t per = RKMM_BLOCK_BYTES * 8 / t->bits;	/* elements of a block's row */
	const size_t step = per * (t->bits == 4 ? 1 : t->bits / 8);
	const bool stream = rkmm_stream(dst, surface, all * rows);
	uint32_t r0, r, c, n, live;
	struct rkmm_block block;
	size_t at, bytes, i;
	uint64_t bad = 0;

	for (r0 = 0; r0 < rows; r0 += n) {
		n = min_u32(RKMM_BLOCK_ROWS, rows - r0);
		for (at = 0, c = 0; at < all; at += bytes, c += per) {
			const uint8_t *from = src + r0 * pitch + c / per * step;
			uint8_t *to = dst + at / ATOM * surface + (size_t)r0 * ATOM;

			bytes = all - at < RKMM_BLOCK_BYTES ? all - at : RKMM_BLOCK_BYTES;
			live = c < cols ? min_u32(per, cols - c) : 0;
			for (r = 0; r < n; r++, from += pitch) {
				bad |= block_row(block.b[r], live ? from : src, t->bits, live,
						 bytes);
				rkmm_prefetch(from + step, step);
			}
			for (i = 0; i < bytes; i += ATOM, to += surface)
				for (r = 0; r < n; r++)
					rkmm_store(to + (size_t)r * ATOM,
						   rkmm_load(block.b[r] + i), stream);
		}
	}
	rkmm_store_end(stream);
	return bad ? out_of_range("A") : 0;
}

bool rkmm_bits_known(uint32_t bits)
{
	return bits == 4 || bits == 8 || bits == 16;
}

/* Slice after slice, each a packed A of its own. */
static int pack_a_slices(const struct drm_rkmm_tensor *t, uint8_t *dst, const int8_t *src,
			 size_t ld, uint32_t rows, uint32_t cols)
{
	struct drm_rkmm_tensor one = *t;
	int ret = 0, bad;
	uint32_t s, k0, live;

	one.cols = t->slice;
	for (s = 0; s < t->slices; s++, dst += t->slice_stride) {
		k0 = s * t->slice;
		live = k0 < cols ? min_u32(t->slice, cols - k0) : 0;
		bad = pack_a_rows4(&one, dst, live ? src + k0 : src, ld, rows, live);
		if (bad)
			ret = bad;
	}
	return ret;
}

int rkmm_pack_a(const struct drm_rkmm_tensor *a, void *dst, const void *src, size_t lda,
		uint32_t rows, uint32_t cols)
{
	if (!rows || !cols || rows > a->rows || cols > a->cols || lda < cols)
		return rkmm_fail(-EINVAL, "A: %u x %u with ld %zu into a %u x %u operand", rows,
				 cols, lda, a->rows, a->cols);
	if (!rkmm_bits_known(a->bits))
		return rkmm_fail(-EINVAL, "A: %u bits per element", a->bits);

	switch (a->layout) {
	case DRM_RKMM_LAYOUT_ROWS:
		if (a->pitch < (uint64_t)a->cols * a->bits / 8)
			break;
		if (a->bits == 4)
			return pack_a_rows4(a, dst, src, lda, rows, cols);
		return pack_a_rows(a, dst, src, lda * (a->bits / 8), rows, cols);
	case DRM_RKMM_LAYOUT_BATCH_A:
		if (a->slices > 1 && a->bits == 4 && a->pitch >= a->slice)
			return pack_a_slices(a, dst, src, lda, rows, cols);
		if (a->bits != 4 || a->pitch < a->cols)
			break;
		return pack_a_rows4(a, dst, src, lda, rows, cols);
	case DRM_RKMM_LAYOUT_CUBE:
		return pack_a_cube(a, dst, src, lda, rows, cols);
	default:
		break;
	}
	return rkmm_fail(-EINVAL, "A: layout %u is not one of A", a->layout);
}
