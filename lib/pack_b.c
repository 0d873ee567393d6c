// SPDX-License-Identifier: MIT
/* Row-major B to tiles of the weight layout. */
#include <errno.h>
#include <string.h>

#include "lib/internal.h"
#include "lib/pool.h"
#include "lib/vec.h"

#define TILE_K		32	/* channels of a weight tile; hw 02 §4 */
#define TILE_BYTES	1024	/* of every type */

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Rows of the source with zeros where B ends; the next ones are on their way meanwhile. */
static void gather(struct rkmm_block *g, const uint8_t *src, size_t pitch, uint32_t rows,
		   uint32_t live_rows, uint32_t live_bytes)
{
	uint32_t i;

	for (i = 0; i < rows; i++) {
		uint8_t *to = g->b[i];

		if (i >= live_rows) {
			memset(to, 0, RKMM_BLOCK_BYTES);
		} else if (live_bytes == RKMM_BLOCK_BYTES) {
			memcpy(to, src + i * pitch, RKMM_BLOCK_BYTES);
			rkmm_prefetch(src + i * pitch + RKMM_BLOCK_BYTES, RKMM_BLOCK_BYTES);
		} else {
			memcpy(to, src + i * pitch, live_bytes);
			memset(to + live_bytes, 0, RKMM_BLOCK_BYTES - live_bytes);
		}
	}
}

/*
 * A tile has its columns one behind the other, 32 channels each. From rows of
 * channels it is a transposition, from rows of columns a copy.
 */
static void tile8(uint8_t *dst, const uint8_t *src)
{
	uint32_t i, j, l;
	rkmm_v8 x[16];

	for (j = 0; j < 32; j += 16)
		for (i = 0; i < TILE_K; i += 16) {
			for (l = 0; l < 16; l++)
				x[l] = rkmm_load(src + (i + l) * RKMM_BLOCK_PITCH + j);
			rkmm_transpose8(x);
			for (l = 0; l < 16; l++)
				rkmm_store(dst + (j + l) * TILE_K + i, x[l], false);
		}
}

static void tile16(uint8_t *dst, const uint8_t *src)
{
	uint32_t i, j, l;
	rkmm_v8 x[8];

	for (j = 0; j < 16; j += 8)
		for (i = 0; i < TILE_K; i += 8) {
			for (l = 0; l < 8; l++)
				x[l] = rkmm_load(src + (i + l) * RKMM_BLOCK_PITCH + j * 2);
			rkmm_transpose16(x);
			for (l = 0; l < 8; l++)
				rkmm_store(dst + ((j + l) * TILE_K + i) * 2, x[l], false);
		}
}

/* Two channels make a byte, then the bytes are transposed. */
static void tile4(uint8_t *dst, const uint8_t *src, rkmm_v8 *bad)
{
	rkmm_v8 x[16], even, odd;
	uint32_t j, l;

	for (j = 0; j < 64; j += 16) {
		for (l = 0; l < 16; l++) {
			even = rkmm_load(src + 2 * l * RKMM_BLOCK_PITCH + j);
			odd = rkmm_load(src + (2 * l + 1) * RKMM_BLOCK_PITCH + j);
			*bad |= (even + 8) | (odd + 8);
			x[l] = (even & 0x0f) | (rkmm_v8)((rkmm_v16)(odd & 0x0f) << 4);
		}
		rkmm_transpose8(x);
		for (l = 0; l < 16; l++)
			rkmm_store(dst + (j + l) * (TILE_K / 2), x[l], false);
	}
}

static void tile_transposed(uint8_t *dst, const uint8_t *src, uint32_t group, uint32_t bits,
			    rkmm_v8 *bad)
{
	uint32_t j, i;

	for (j = 0; j < group; j++, src += RKMM_BLOCK_PITCH) {
		if (bits == 4) {
			rkmm_store(dst + j * (TILE_K / 2),
				   rkmm_nibbles(rkmm_load(src), rkmm_load(src + 16), bad), false);
			continue;
		}
		for (i = 0; i < TILE_K * bits / 8; i += 16)
			rkmm_store(dst + j * (TILE_K * bits / 8) + i, rkmm_load(src + i), false);
	}
}

static void make_tile(uint8_t *dst, const uint8_t *src, uint32_t group, uint32_t bits,
		      bool transposed, rkmm_v8 *bad)
{
	if (transposed)
		tile_transposed(dst, src, group, bits, bad);
	else if (bits == 4)
		tile4(dst, src, bad);
	else if (bits == 8)
		tile8(dst, src);
	else
		tile16(dst, src);
}

/**
 * struct pack_job - one call of rkmm_pack_b()
 * @b: layout
 * @dst: packed
 * @src: row-major
 * @pitch: bytes between its rows
 * @k: rows of B
 * @n: columns of B
 * @transposed: the rows of @src are columns of B
 * @stream: as for rkmm_store()
 * @bad: an int4 value does not fit
 */
struct pack_job {
	const struct drm_rkmm_tensor *b;
	uint8_t *dst;
	const uint8_t *src;
	size_t pitch;
	uint32_t k;
	uint32_t n;
	bool transposed;
	bool stream;
	atomic_bool bad;
};

static uint8_t *tile_at(const struct pack_job *p, uint32_t k0, uint32_t n0)
{
	const struct drm_rkmm_tensor *b = p->b;
	const uint32_t slice = b->slices > 1 ? b->slice : b->rows;

	return p->dst + k0 / slice * b->slice_stride +
	       ((size_t)(n0 / b->group) * (slice / TILE_K) + k0 % slice / TILE_K) * TILE_BYTES;
}

static void put_tile(const struct pack_job *p, uint8_t *to, const uint8_t *from, rkmm_v8 *bad)
{
	uint8_t tile[TILE_BYTES] __attribute__((aligned(RKMM_LINE)));
	uint32_t i;

	if (!p->stream) {
		make_tile(to, from, p->b->group, p->b->bits, p->transposed, bad);
		return;
	}
	make_tile(tile, from, p->b->group, p->b->bits, p->transposed, bad);
	for (i = 0; i < TILE_BYTES; i += 16)
		rkmm_store(to + i, rkmm_load(tile + i), true);
}

/*
 * A strip of rows of the source, all of their length, so that each of its cache
 * lines is read once; tiles that follow each other in K are written in turn.
 */
static void pack_strip(const struct pack_job *p, uint32_t s0, rkmm_v8 *bad)
{
	const struct drm_rkmm_tensor *b = p->b;
	const uint32_t elem = b->bits == 4 ? 1 : b->bits / 8, run = RKMM_BLOCK_BYTES / elem;
	const uint32_t slow = p->transposed ? b->group : TILE_K;
	const uint32_t fast = p->transposed ? TILE_K : b->group;
	const uint32_t slow_end = p->transposed ? p->n : p->k;
	const uint32_t fast_end = p->transposed ? p->k : p->n;
	const uint32_t slow_all = p->transposed ? b->cols : b->rows;
	const uint32_t fast_all = p->transposed ? b->rows : b->cols;
	const uint32_t rows = min_u32(RKMM_BLOCK_ROWS, slow_all - s0);
	const uint32_t live_rows = s0 < slow_end ? min_u32(rows, slow_end - s0) : 0;
	struct rkmm_block g;
	uint32_t f0, f, s, live;

	for (f0 = 0; f0 < fast_all; f0 += run) {
		const size_t first = s0 * p->pitch + (size_t)f0 * elem;

		live = f0 < fast_end && live_rows ? min_u32(run, fast_end - f0) * elem : 0;
		gather(&g, p->src + (live ? first : 0), p->pitch, rows, live ? live_rows : 0, live);
		for (f = 0; f < run && f0 + f < fast_all; f += fast)
			for (s = 0; s < rows; s += slow)
				put_tile(p, p->transposed ? tile_at(p, f0 + f, s0 + s) :
							    tile_at(p, s0 + s, f0 + f),
					 g.b[s] + f * elem, bad);
	}
}

static void pack_piece(void *arg, uint32_t first, uint32_t count)
{
	struct pack_job *p = arg;
	rkmm_v8 bad = { 0 };
	uint32_t s;

	for (s = first; s < first + count; s++)
		pack_strip(p, s * RKMM_BLOCK_ROWS, &bad);
	rkmm_store_end(p->stream);
	if (p->b->bits == 4 && rkmm_nibbles_bad(bad))
		atomic_store_explicit(&p->bad, true, memory_order_relaxed);
}

int rkmm_pack_b(const struct drm_rkmm_tensor *b, void *dst, const void *src, size_t ldb,
		uint32_t k, uint32_t n, uint32_t flags)
{
	const bool transposed = flags & RKMM_B_TRANSPOSED;
	const uint32_t slice = b->slices > 1 ? b->slice : b->rows;
	struct pack_job p = {
		.b = b, .dst = dst, .src = src, .pitch = ldb * (b->bits == 4 ? 1 : b->bits / 8),
		.k = k, .n = n, .transposed = transposed,
		.stream = rkmm_stream(dst, b->slice_stride, (size_t)b->rows * b->cols),
	};
	uint32_t end;

	if (flags & ~RKMM_B_TRANSPOSED)
		return rkmm_fail(-EINVAL, "B: flags 0x%x", flags);
	if (!k || !n || k > b->rows || n > b->cols || ldb < (transposed ? k : n))
		return rkmm_fail(-EINVAL, "B: %u x %u with ld %zu into a %u x %u operand", k, n,
				 ldb, b->rows, b->cols);
	if (b->layout != DRM_RKMM_LAYOUT_WEIGHT || !rkmm_bits_known(b->bits) ||
	    b->group != 256 / b->bits || !slice || slice % TILE_K || b->rows % slice ||
	    b->cols % b->group)
		return rkmm_fail(-EINVAL, "B: layout %u is not one of weights", b->layout);

	end = transposed ? b->cols : b->rows;
	rkmm_parallel((size_t)k * n * 2, (end - 1) / RKMM_BLOCK_ROWS + 1, 1, pack_piece, &p);
	return atomic_load_explicit(&p.bad, memory_order_relaxed) ?
	       rkmm_fail(-ERANGE, "B: an int4 value is outside -8..7") : 0;
}
