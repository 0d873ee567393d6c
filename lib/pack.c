// SPDX-License-Identifier: MIT
/*
 * Row-major operands to what the NPU reads, one function per layout of
 * enum drm_rkmm_layout and element width.
 */
#include <errno.h>
#include <string.h>

#include "lib/internal.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the NPU and its operands are little endian"
#endif

#define ATOM		16	/* bytes; hw 02 §3.4 */
#define TILE_K		32	/* channels of a weight tile; hw 02 §4 */
#define TILE_N_MAX	64	/* kernels of an int4 group */

#define NIBBLE(x)	((uint8_t)((x) & 0xf))
#define LOW_NIBBLES	0x0f0f0f0f0f0f0f0f

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static int out_of_range(const char *operand)
{
	return rkmm_fail(-ERANGE, "%s: an int4 value is outside -8..7", operand);
}

/*
 * Non-zero when one of eight bytes is outside -8..7: value + 8 then has bits
 * above the lowest four. The additions do not carry into each other.
 */
static uint64_t beyond_nibble(uint64_t x)
{
	const uint64_t low7 = 0x7f7f7f7f7f7f7f7f, eights = 0x0808080808080808;

	return (((x & low7) + eights) ^ (x & ~low7)) & ~LOW_NIBBLES;
}

/*
 * Pack count values of one byte into nibbles, the even one low; a missing last
 * one is zero. Returns non-zero when a value does not fit.
 */
static uint64_t pack_nibbles(uint8_t *dst, const int8_t *src, size_t count)
{
	uint64_t bad = 0, x;
	uint32_t out;
	size_t i;

	for (i = 0; i + 8 <= count; i += 8) {
		memcpy(&x, src + i, 8);
		bad |= beyond_nibble(x);
		x &= LOW_NIBBLES;
		x = (x | x >> 4) & 0x00ff00ff00ff00ff;
		x = (x | x >> 8) & 0x0000ffff0000ffff;
		out = (uint32_t)(x | x >> 16);
		memcpy(dst + i / 2, &out, 4);
	}
	for (; i < count; i += 2) {
		int8_t lo = src[i], hi = i + 1 < count ? src[i + 1] : 0;

		bad |= ((uint8_t)(lo + 8) | (uint8_t)(hi + 8)) & 0xf0;
		dst[i / 2] = (uint8_t)(NIBBLE(lo) | NIBBLE(hi) << 4);
	}
	return bad;
}

/* ---- A ---- */

static int pack_a_rows(const struct drm_rkmm_tensor *t, uint8_t *dst, const uint8_t *src,
		       size_t src_pitch, uint32_t rows, uint32_t cols)
{
	const size_t bytes = (size_t)cols * (t->bits / 8);
	const size_t pad = (size_t)(t->cols - cols) * (t->bits / 8);
	uint32_t r;

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
	uint64_t bad = 0;
	uint32_t r;

	for (r = 0; r < rows; r++) {
		bad |= pack_nibbles(dst, src, cols);
		memset(dst + bytes, 0, row - bytes);
		dst += t->pitch;
		src += ld;
	}
	return bad ? out_of_range("A") : 0;
}

/* Four rows at a time: their atoms share a cache line of the destination. */
static int pack_a_cube(const struct drm_rkmm_tensor *t, uint8_t *dst, const uint8_t *src,
		       size_t ld, uint32_t rows, uint32_t cols)
{
	const uint32_t per = ATOM * 8 / t->bits;	/* elements of an atom */
	const size_t elem = t->bits == 4 ? 1 : t->bits / 8;
	const size_t surface = (size_t)t->rows * ATOM;
	uint64_t bad = 0;
	uint32_t r0, r, c, live;

	for (r0 = 0; r0 < rows; r0 += 4) {
		const uint32_t end = min_u32(r0 + 4, rows);
		uint8_t *atoms = dst;

		for (c = 0; c < t->cols; c += per, atoms += surface) {
			live = c < cols ? min_u32(per, cols - c) : 0;
			for (r = r0; r < end; r++) {
				uint8_t *to = atoms + (size_t)r * ATOM;
				const uint8_t *from = src + (r * ld + c) * elem;

				if (live < per)
					memset(to, 0, ATOM);
				if (!live)
					continue;
				if (t->bits == 4)
					bad |= pack_nibbles(to, (const int8_t *)from, live);
				else if (live == per)
					memcpy(to, from, ATOM);
				else
					memcpy(to, from, live * elem);
			}
		}
	}
	return bad ? out_of_range("A") : 0;
}

static bool bits_known(uint32_t bits)
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
	if (!bits_known(a->bits))
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

/* ---- B ---- */

/* Exchange the bits of mask between a >> shift and b. */
static void exchange(uint64_t *a, uint64_t *b, unsigned int shift, uint64_t mask)
{
	uint64_t t = (*a >> shift ^ *b) & mask;

	*b ^= t;
	*a ^= t << shift;
}

/* Element (i, j) of a block of 8 x 8 bytes becomes (j, i). */
static void transpose8(uint8_t *dst, size_t dst_stride, const uint64_t x[8])
{
	uint64_t y[8];
	unsigned int i;

	memcpy(y, x, sizeof(y));
	for (i = 0; i < 4; i++)
		exchange(&y[i], &y[i + 4], 32, 0x00000000ffffffff);
	for (i = 0; i < 8; i += 4) {
		exchange(&y[i], &y[i + 2], 16, 0x0000ffff0000ffff);
		exchange(&y[i + 1], &y[i + 3], 16, 0x0000ffff0000ffff);
	}
	for (i = 0; i < 8; i += 2)
		exchange(&y[i], &y[i + 1], 8, 0x00ff00ff00ff00ff);
	for (i = 0; i < 8; i++)
		memcpy(dst + i * dst_stride, &y[i], 8);
}

/*
 * One full tile of the weight layout: group columns (slow), 32 channels (fast).
 * The element of channel i and column j is at src[i * si + j]; in the transposed
 * ones at src[j * sj + i].
 */
static uint64_t tile8(uint8_t *dst, const uint8_t *src, size_t si, uint32_t group)
{
	uint32_t i, j, l;
	uint64_t x[8];

	for (i = 0; i < TILE_K; i += 8)
		for (j = 0; j < group; j += 8) {
			for (l = 0; l < 8; l++)
				memcpy(&x[l], src + (i + l) * si + j, 8);
			transpose8(dst + j * TILE_K + i, TILE_K, x);
		}
	return 0;
}

static uint64_t tile16(uint16_t *dst, const uint16_t *src, size_t si, uint32_t group)
{
	uint32_t i, j, l;
	uint64_t x[4];

	for (i = 0; i < TILE_K; i += 4)
		for (j = 0; j < group; j += 4) {
			for (l = 0; l < 4; l++)
				memcpy(&x[l], src + (i + l) * si + j, 8);
			exchange(&x[0], &x[2], 32, 0x00000000ffffffff);
			exchange(&x[1], &x[3], 32, 0x00000000ffffffff);
			exchange(&x[0], &x[1], 16, 0x0000ffff0000ffff);
			exchange(&x[2], &x[3], 16, 0x0000ffff0000ffff);
			for (l = 0; l < 4; l++)
				memcpy(dst + (j + l) * TILE_K + i, &x[l], 8);
		}
	return 0;
}

/* Two channels make a byte, then the bytes are transposed. */
static uint64_t tile4(uint8_t *dst, const int8_t *src, size_t si, uint32_t group)
{
	uint64_t x[8], even, odd, bad = 0;
	uint32_t i, j, l;

	for (i = 0; i < TILE_K; i += 16)
		for (j = 0; j < group; j += 8) {
			for (l = 0; l < 8; l++) {
				memcpy(&even, src + (i + 2 * l) * si + j, 8);
				memcpy(&odd, src + (i + 2 * l + 1) * si + j, 8);
				bad |= beyond_nibble(even) | beyond_nibble(odd);
				x[l] = (even & LOW_NIBBLES) | (odd & LOW_NIBBLES) << 4;
			}
			transpose8(dst + j * (TILE_K / 2) + i / 2, TILE_K / 2, x);
		}
	return bad;
}

static uint64_t tile4_transposed(uint8_t *dst, const int8_t *src, size_t sj, uint32_t group)
{
	uint64_t bad = 0;
	uint32_t j;

	for (j = 0; j < group; j++)
		bad |= pack_nibbles(dst + j * (TILE_K / 2), src + j * sj, TILE_K);
	return bad;
}

static uint64_t tile_transposed(uint8_t *dst, const uint8_t *src, size_t sj_bytes,
				uint32_t group, size_t elem)
{
	uint32_t j;

	for (j = 0; j < group; j++)
		memcpy(dst + j * TILE_K * elem, src + j * sj_bytes, TILE_K * elem);
	return 0;
}

static uint64_t pack_tile(uint8_t *dst, const uint8_t *src, size_t ld, uint32_t group,
			  uint32_t bits, bool transposed)
{
	if (bits == 4)
		return transposed ? tile4_transposed(dst, (const int8_t *)src, ld, group) :
				    tile4(dst, (const int8_t *)src, ld, group);
	if (transposed)
		return tile_transposed(dst, src, ld * (bits / 8), group, bits / 8);
	if (bits == 8)
		return tile8(dst, src, ld, group);
	return tile16((uint16_t *)dst, (const uint16_t *)src, ld, group);
}

/* A tile at the edge, with zeros where B ends. Keeps the orientation of the source. */
static void pad_tile(uint8_t *tmp, const uint8_t *src, size_t ld, size_t elem, uint32_t fast,
		     uint32_t fast_live, uint32_t slow_live)
{
	uint32_t i;

	memset(tmp, 0, (size_t)TILE_K * TILE_N_MAX * elem);
	for (i = 0; i < slow_live; i++)
		memcpy(tmp + (size_t)i * fast * elem, src + i * ld * elem, fast_live * elem);
}

int rkmm_pack_b(const struct drm_rkmm_tensor *b, void *dst, const void *src, size_t ldb,
		uint32_t k, uint32_t n, uint32_t flags)
{
	const bool transposed = flags & RKMM_B_TRANSPOSED;
	const uint32_t group = b->group, bits = b->bits;
	const uint32_t slice = b->slices > 1 ? b->slice : b->rows;
	const size_t elem = bits == 4 ? 1 : bits / 8;
	const size_t tile = (size_t)TILE_K * group * bits / 8;
	uint32_t slow_tiles, fast_tiles, s, f;
	uint16_t tmp[TILE_K * TILE_N_MAX];
	uint64_t bad = 0;

	if (flags & ~RKMM_B_TRANSPOSED)
		return rkmm_fail(-EINVAL, "B: flags 0x%x", flags);
	if (!k || !n || k > b->rows || n > b->cols || ldb < (transposed ? k : n))
		return rkmm_fail(-EINVAL, "B: %u x %u with ld %zu into a %u x %u operand", k, n,
				 ldb, b->rows, b->cols);
	if (b->layout != DRM_RKMM_LAYOUT_WEIGHT || !bits_known(bits) || !group ||
	    group > TILE_N_MAX || group % 8 || !slice || slice % TILE_K || b->rows % slice ||
	    b->cols % group)
		return rkmm_fail(-EINVAL, "B: layout %u is not one of weights", b->layout);

	/* Along the rows of the source, so that each of its cache lines is read once. */
	slow_tiles = transposed ? b->cols / group : b->rows / TILE_K;
	fast_tiles = transposed ? b->rows / TILE_K : b->cols / group;
	for (s = 0; s < slow_tiles; s++) {
		for (f = 0; f < fast_tiles; f++) {
			const uint32_t k0 = (transposed ? f : s) * TILE_K;
			const uint32_t n0 = (transposed ? s : f) * group;
			const uint32_t rows = k0 < k ? min_u32(TILE_K, k - k0) : 0;
			const uint32_t cols = n0 < n ? min_u32(group, n - n0) : 0;
			const size_t first = transposed ? n0 * ldb + k0 : k0 * ldb + n0;
			const uint8_t *from = (const uint8_t *)src + first * elem;
			uint8_t *to = (uint8_t *)dst + k0 / slice * b->slice_stride +
				      ((size_t)(n0 / group) * (slice / TILE_K) +
				       k0 % slice / TILE_K) * tile;

			if (rows == TILE_K && cols == group) {
				bad |= pack_tile(to, from, ldb, group, bits, transposed);
			} else if (!rows || !cols) {
				memset(to, 0, tile);
			} else {
				const uint32_t fast = transposed ? TILE_K : group;

				pad_tile((uint8_t *)tmp, from, ldb, elem, fast,
					 transposed ? rows : cols, transposed ? cols : rows);
				bad |= pack_tile(to, (uint8_t *)tmp, fast, group, bits,
						 transposed);
			}
		}
	}
	return bad ? out_of_range("B") : 0;
}
