// SPDX-License-Identifier: MIT
/* Row-major B to tiles of the weight layout. */
#include <errno.h>
#include <string.h>

#include "lib/internal.h"
#include "lib/kernels.h"
#include "lib/pool.h"
#include "lib/vec.h"

#define STRIP_ROWS	32	/* rows of the source on the way at a time; a tile may have more */
#define MAX_ROWS	64
#define AHEAD		(2 * RKMM_LINE)

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* A line of every row, with zeros where B ends. */
static void gather(uint8_t (*line)[RKMM_LINE], const uint8_t *src, size_t pitch, uint32_t rows,
		   uint32_t live_rows, uint32_t live_bytes)
{
	uint32_t i;

	for (i = 0; i < rows; i++) {
		const uint32_t live = i < live_rows ? live_bytes : 0;

		if (live)
			memcpy(line[i], src + i * pitch, live);
		memset(line[i] + live, 0, RKMM_LINE - live);
	}
}

/* From rows of columns a tile is a copy. */
static bool tile_transposed(uint8_t *dst, const uint8_t *src, size_t pitch,
			    const struct drm_rkmm_tensor *b, bool stream)
{
	rkmm_v8 bad = { 0 };
	uint32_t j, i;

	for (j = 0; j < b->group; j++, src += pitch) {
		if (b->bits == 4) {
			rkmm_store(dst + j * (RKMM_TILE_K / 2),
				   rkmm_nibbles(rkmm_load(src), rkmm_load(src + 16), &bad), stream);
			continue;
		}
		for (i = 0; i < RKMM_TILE_K * b->bits / 8; i += 16)
			rkmm_store(dst + j * (RKMM_TILE_K * b->bits / 8) + i, rkmm_load(src + i),
				   stream);
	}
	return rkmm_nibbles_bad(bad);
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
	       ((size_t)(n0 / b->group) * (slice / RKMM_TILE_K) + k0 % slice / RKMM_TILE_K) *
	       RKMM_TILE_BYTES;
}

static bool make_tile(const struct pack_job *p, uint8_t *to, const uint8_t *from, size_t pitch)
{
	const struct rkmm_kernels *k = rkmm_kernels();

	if (p->transposed)
		return tile_transposed(to, from, pitch, p->b, p->stream);
	if (p->b->bits == 4)
		return k->tile4(to, from, pitch, p->stream);
	if (p->b->bits == 8)
		k->tile8(to, from, pitch, p->stream);
	else
		k->tile16(to, from, pitch, p->stream);
	return false;
}

/* A tile has up to 64 columns, which are rows of a transposed source. */
static uint32_t strip_rows(const struct pack_job *p)
{
	return p->transposed && p->b->group > STRIP_ROWS ? p->b->group : STRIP_ROWS;
}

/* Byte `at` of some rows of a strip, or as far into the next one. */
static void prefetch(const struct pack_job *p, uint32_t s0, uint32_t rows, size_t at,
		     size_t bytes)
{
	const uint32_t end = p->transposed ? p->n : p->k;

	if (at >= bytes) {
		at -= bytes;
		s0 += strip_rows(p);
	}
	if (s0 < end && at < bytes)
		rkmm_prefetch_lines(p->src + s0 * p->pitch + at, p->pitch,
				    min_u32(rows, end - s0));
}

/*
 * A strip of rows of the source, a line of each at a time: it holds whole tiles, so
 * that every cache line is read and written once. Tiles that follow each other in K
 * are written in turn.
 */
static bool pack_strip(const struct pack_job *p, uint32_t s0)
{
	const struct drm_rkmm_tensor *b = p->b;
	const uint32_t elem = b->bits == 4 ? 1 : b->bits / 8, run = RKMM_LINE / elem;
	const uint32_t slow = p->transposed ? b->group : RKMM_TILE_K;
	const uint32_t fast = p->transposed ? RKMM_TILE_K : b->group;
	const uint32_t slow_end = p->transposed ? p->n : p->k;
	const uint32_t fast_end = p->transposed ? p->k : p->n;
	const uint32_t slow_all = p->transposed ? b->cols : b->rows;
	const uint32_t fast_all = p->transposed ? b->rows : b->cols;
	const uint32_t rows = min_u32(strip_rows(p), slow_all - s0);
	const uint32_t live_rows = s0 < slow_end ? min_u32(rows, slow_end - s0) : 0;
	uint8_t line[MAX_ROWS][RKMM_LINE] __attribute__((aligned(RKMM_LINE)));
	uint32_t f0, f, s, live;
	bool bad = false;

	for (f0 = 0; f0 < fast_all; f0 += run) {
		const uint8_t *src = p->src;
		size_t pitch = p->pitch;

		live = f0 < fast_end && live_rows ? min_u32(run, fast_end - f0) * elem : 0;
		if (live)
			src += s0 * pitch + (size_t)f0 * elem;
		if (live < RKMM_LINE || live_rows < rows) {
			gather(line, src, pitch, rows, live ? live_rows : 0, live);
			src = line[0];
			pitch = RKMM_LINE;
		}
		for (s = 0; s < rows; s += slow) {
			prefetch(p, s0 + s, slow, (size_t)f0 * elem + AHEAD,
				 (size_t)fast_end * elem);
			for (f = 0; f < run && f0 + f < fast_all; f += fast)
				bad |= make_tile(p, p->transposed ? tile_at(p, f0 + f, s0 + s) :
								    tile_at(p, s0 + s, f0 + f),
						 src + s * pitch + f * elem, pitch);
		}
	}
	return bad;
}

static void pack_piece(void *arg, uint32_t first, uint32_t count)
{
	struct pack_job *p = arg;
	bool bad = false;
	uint32_t s;

	for (s = first; s < first + count; s++)
		bad |= pack_strip(p, s * strip_rows(p));
	rkmm_stream_end(p->stream);
	if (bad)
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
		.stream = rkmm_stream(dst, b->slice_stride, (size_t)b->rows * b->cols, RKMM_LINE),
	};
	uint32_t end;

	if (flags & ~RKMM_B_TRANSPOSED)
		return rkmm_fail(-EINVAL, "B: flags 0x%x", flags);
	if (!k || !n || k > b->rows || n > b->cols || ldb < (transposed ? k : n))
		return rkmm_fail(-EINVAL, "B: %u x %u with ld %zu into a %u x %u operand", k, n,
				 ldb, b->rows, b->cols);
	if (b->layout != DRM_RKMM_LAYOUT_WEIGHT || !rkmm_bits_known(b->bits) ||
	    b->group != 256 / b->bits || !slice || slice % RKMM_TILE_K || b->rows % slice ||
	    b->cols % b->group)
		return rkmm_fail(-EINVAL, "B: layout %u is not one of weights", b->layout);

	end = transposed ? b->cols : b->rows;
	rkmm_parallel((size_t)k * n * 2, (end - 1) / strip_rows(&p) + 1, 1, pack_piece, &p);
	return atomic_load_explicit(&p.bad, memory_order_relaxed) ?
	       rkmm_fail(-ERANGE, "B: an int4 value is outside -8..7") : 0;
}
