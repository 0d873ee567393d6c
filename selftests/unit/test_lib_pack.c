// SPDX-License-Identifier: MIT
/*
 * Packing and de-tiling against the address of every element, written down here
 * once more from hw 02 §3.4, §3.5, §4, §6.2.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/kernels.h"
#include "lib/rkmm.h"

#define SHAPES	300

static uint64_t rng_state = 0x9e3779b97f4a7c15;

static uint32_t rnd(void)
{
	rng_state ^= rng_state << 13;
	rng_state ^= rng_state >> 7;
	rng_state ^= rng_state << 17;
	return (uint32_t)(rng_state >> 32);
}

static uint32_t between(uint32_t lo, uint32_t hi)
{
	return lo + rnd() % (hi - lo + 1);
}

static uint32_t up(uint32_t x, uint32_t to)
{
	return (x + to - 1) / to * to;
}

/* Sometimes at the start of a cache line. */
static void *noise(size_t bytes)
{
	uint8_t *p = rnd() & 1 ? aligned_alloc(64, (bytes + 64) / 64 * 64) : malloc(bytes + 1);
	size_t i;

	for (i = 0; i < bytes; i++)
		p[i] = (uint8_t)rnd();
	return p;
}

/* Position of an element in units of 4 bits. */
static uint64_t place(const struct drm_rkmm_tensor *t, uint64_t row, uint64_t col)
{
	uint64_t nib = t->bits / 4, per, tile, w, h, g, hg, groups;

	switch (t->layout) {
	case DRM_RKMM_LAYOUT_ROWS:
		return row * t->pitch * 2 + col * nib;
	case DRM_RKMM_LAYOUT_WEIGHT:
		tile = col / t->group * (t->rows / 32) + row / 32;
		return (tile * t->group * 32 + col % t->group * 32 + row % 32) * nib;
	case DRM_RKMM_LAYOUT_BATCH_A:
		/* Row j in line 2j of cols / 2 bytes. */
		return 2 * row * (t->cols / 2) * 2 + col;
	case DRM_RKMM_LAYOUT_BATCH_C:
		w = t->tile_cols;
		h = t->tile_rows;
		groups = (t->rows + h - 1) / h;
		g = row / h;
		hg = t->rows - g * h < h ? t->rows - g * h : h;
		return ((col / w * groups + g) * 4 * h * (w / 64) * 64 +
			(4 * (row % h) + 4 * hg * (col % w / 64)) * 64 + col % 64) * nib;
	case DRM_RKMM_LAYOUT_CUBE:
		per = 32 / nib;
		return 32 * (col / per * t->rows + row) + col % per * nib;
	}
	fail();
	return 0;
}

static uint32_t get(const void *base, uint64_t nibble, uint32_t bits)
{
	const uint8_t *p = (const uint8_t *)base + nibble / 2;

	switch (bits) {
	case 4:
		return nibble & 1 ? *p >> 4 : *p & 15;
	case 8:
		return p[0];
	case 16:
		return p[0] | (uint32_t)p[1] << 8;
	default:
		return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
	}
}

/* Element i of the caller's row-major matrix; int4 has one byte for each. */
static uint32_t src_get(const void *src, size_t i, uint32_t bits)
{
	if (bits == 4)
		return ((const uint8_t *)src)[i] & 15;
	return get(src, i * bits / 4, bits);
}

static void *source(size_t count, uint32_t bits)
{
	int8_t *p = noise(count * (bits == 4 ? 8 : bits) / 8);
	size_t i;

	if (bits == 4)
		for (i = 0; i < count; i++)
			p[i] = (int8_t)((p[i] & 15) - 8);
	return p;
}

static struct drm_rkmm_tensor rows_tensor(uint32_t rows, uint32_t cols, uint32_t bits,
					  uint32_t pad, uint32_t extra)
{
	struct drm_rkmm_tensor t = {
		.layout = DRM_RKMM_LAYOUT_ROWS,
		.rows = rows,
		.cols = up(cols, pad),
		.bits = bits,
	};

	t.pitch = up(t.cols * bits / 8, 16) + 16 * extra;
	t.size = (uint64_t)t.pitch * rows;
	return t;
}

static struct drm_rkmm_tensor cube_tensor(uint32_t rows, uint32_t cols, uint32_t bits,
					  uint32_t pad)
{
	struct drm_rkmm_tensor t = {
		.layout = DRM_RKMM_LAYOUT_CUBE,
		.rows = rows,
		.cols = up(cols, pad),
		.bits = bits,
	};

	t.size = (uint64_t)rows * t.cols * bits / 8;
	return t;
}

static struct drm_rkmm_tensor weight_tensor(uint32_t k, uint32_t n, uint32_t bits)
{
	struct drm_rkmm_tensor t = {
		.layout = DRM_RKMM_LAYOUT_WEIGHT,
		.group = 256 / bits,
		.bits = bits,
	};

	t.rows = up(k, 32);
	t.cols = up(n, t.group);
	t.size = (uint64_t)t.rows * t.cols * bits / 8;
	return t;
}

static struct drm_rkmm_tensor batch_a_tensor(uint32_t rows, uint32_t cols)
{
	struct drm_rkmm_tensor t = {
		.layout = DRM_RKMM_LAYOUT_BATCH_A,
		.rows = rows,
		.cols = up(cols, 32),
		.bits = 4,
	};

	t.pitch = t.cols;
	t.size = (uint64_t)rows * t.pitch;
	return t;
}

static struct drm_rkmm_tensor batch_c_tensor(uint32_t rows, uint32_t cols, uint32_t h, uint32_t w)
{
	struct drm_rkmm_tensor t = {
		.layout = DRM_RKMM_LAYOUT_BATCH_C,
		.rows = rows,
		.cols = up(cols, 64),
		.tile_rows = h,
		.tile_cols = w,
		.bits = 16,
	};

	t.size = (uint64_t)((t.cols + w - 1) / w) * ((rows + h - 1) / h) * 4 * h * (w / 64) * 128;
	return t;
}

/* Pack a random matrix and look at every element, the padding and the bytes between. */
static void check_pack_a(const struct drm_rkmm_tensor *t, uint32_t rows, uint32_t cols)
{
	size_t ld = cols + rnd() % 9;
	void *src = source(rows * ld, t->bits);
	uint8_t *dst = noise(t->size), *before = malloc(t->size);
	uint64_t r, c, i;

	memcpy(before, dst, t->size);
	assert_int_equal(rkmm_pack_a(t, dst, src, ld, rows, cols), 0);
	for (r = 0; r < rows; r++) {
		for (c = 0; c < t->cols; c++) {
			uint32_t want = c < cols ? src_get(src, r * ld + c, t->bits) : 0;

			if (get(dst, place(t, r, c), t->bits) != want)
				fail_msg("(%u,%u) of %u x %u, layout %u, %u bits", (unsigned int)r,
					 (unsigned int)c, rows, cols, t->layout, t->bits);
		}
		if (t->layout == DRM_RKMM_LAYOUT_BATCH_A)
			for (i = 0; i < t->cols / 2; i++)
				assert_int_equal(dst[r * t->cols + t->cols / 2 + i], 0);
		if (t->layout == DRM_RKMM_LAYOUT_ROWS)
			for (i = t->cols * t->bits / 8; i < t->pitch; i++)
				assert_int_equal(dst[r * t->pitch + i], before[r * t->pitch + i]);
	}
	free(before);
	free(dst);
	free(src);
}

static void test_pack_a(void **state)
{
	static const uint32_t widths[] = { 4, 8, 16 };
	struct drm_rkmm_tensor t;
	int i;

	(void)state;
	for (i = 0; i < SHAPES; i++) {
		uint32_t bits = widths[rnd() % 3], rows = between(1, 12), cols = between(1, 170);

		t = rows_tensor(rows, cols, bits, 32, rnd() % 3);
		check_pack_a(&t, between(1, rows), cols);
		t = cube_tensor(rows, cols, bits, 32);
		check_pack_a(&t, between(1, rows), cols);
		t = batch_a_tensor(rows, cols);
		check_pack_a(&t, between(1, rows), cols);
	}
}

static void check_pack_b(uint32_t k, uint32_t n, uint32_t bits, uint32_t flags)
{
	struct drm_rkmm_tensor t = weight_tensor(k, n, bits);
	size_t ld = (flags ? k : n) + rnd() % 7;
	void *src = source((flags ? n : k) * ld, bits);
	uint8_t *dst = noise(t.size);
	uint64_t r, c;

	assert_int_equal(rkmm_pack_b(&t, dst, src, ld, k, n, flags), 0);
	for (r = 0; r < t.rows; r++) {
		for (c = 0; c < t.cols; c++) {
			uint32_t want = 0;

			if (r < k && c < n)
				want = src_get(src, flags ? c * ld + r : r * ld + c, bits);
			if (get(dst, place(&t, r, c), bits) != want)
				fail_msg("(%u,%u) of %u x %u, %u bits, flags %u", (unsigned int)r,
					 (unsigned int)c, k, n, bits, flags);
		}
	}
	free(dst);
	free(src);
}

static void test_pack_b(void **state)
{
	static const uint32_t widths[] = { 4, 8, 16 };
	static const uint32_t edges[] = { 1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 95, 96, 128 };
	unsigned int i, j, b;

	(void)state;
	for (b = 0; b < 3; b++)
		for (i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
			for (j = 0; j < sizeof(edges) / sizeof(edges[0]); j++)
				check_pack_b(edges[i], edges[j], widths[b],
					     (i + j) & 1 ? RKMM_B_TRANSPOSED : 0);
	for (i = 0; i < SHAPES; i++)
		check_pack_b(between(1, 150), between(1, 150), widths[rnd() % 3],
			     rnd() & 1 ? RKMM_B_TRANSPOSED : 0);
}

static void check_unpack(const struct drm_rkmm_tensor *t, uint32_t rows, uint32_t cols)
{
	size_t ld = cols + rnd() % 9, bytes = t->bits / 8;
	uint8_t *src = noise(t->size), *dst = noise(rows * ld * bytes);
	uint8_t *before = malloc(rows * ld * bytes);
	uint64_t r, c;

	memcpy(before, dst, rows * ld * bytes);
	assert_int_equal(rkmm_unpack_c(t, src, dst, ld, rows, cols), 0);
	for (r = 0; r < rows; r++)
		for (c = 0; c < ld; c++) {
			uint32_t got = src_get(dst, r * ld + c, t->bits);

			if (c < cols && got != get(src, place(t, r, c), t->bits))
				fail_msg("(%u,%u) of %u x %u, layout %u, %u bits", (unsigned int)r,
					 (unsigned int)c, rows, cols, t->layout, t->bits);
			if (c >= cols)
				assert_int_equal(got, src_get(before, r * ld + c, t->bits));
		}
	free(before);
	free(dst);
	free(src);
}

static void test_unpack_c(void **state)
{
	static const uint32_t widths[] = { 8, 16, 32 };
	struct drm_rkmm_tensor t;
	int i;

	(void)state;
	for (i = 0; i < SHAPES; i++) {
		uint32_t bits = widths[rnd() % 3], rows = between(1, 23), cols = between(1, 300);

		t = rows_tensor(rows, cols, bits, 32, rnd() % 3);
		check_unpack(&t, between(1, rows), cols);
		t = cube_tensor(rows, cols, bits, 32);
		check_unpack(&t, between(1, rows), cols);
		t = batch_c_tensor(rows, cols, between(1, 9), 64 * between(1, 4));
		check_unpack(&t, between(1, rows), cols);
	}
	/* Nothing between the rows on either side: one copy. */
	t = rows_tensor(7, 32, 32, 32, 0);
	check_unpack(&t, 7, 32);
}

/* Every pitch and offset of the second row: up, down, and some rows each way. */
static void test_move_rows(void **state)
{
	size_t bytes, first, pitch, out, end, i;
	uint8_t *mem, *want;
	uint32_t rows, r;
	int n;

	(void)state;
	for (n = 0; n < 2000; n++) {
		rows = between(1, 20);
		bytes = between(1, 90);
		first = bytes + rnd() % 150;
		pitch = bytes + (n & 1 ? rnd() % 100 : 0);
		out = bytes + (n & 2 ? rnd() % 100 : 0);
		end = rows * (pitch > out ? pitch : out) + first + bytes;
		mem = noise(end);
		want = malloc(rows * bytes);
		for (r = 0; r < rows; r++)
			memcpy(want + r * bytes, mem + (r ? first + (r - 1) * pitch : 0), bytes);
		assert_int_equal(rkmm_move_rows(mem, rows, bytes, first, pitch, out), 0);
		for (r = 0; r < rows; r++)
			for (i = 0; i < bytes; i++)
				assert_int_equal(mem[r * out + i], want[r * bytes + i]);
		free(mem);
		free(want);
	}
	assert_int_equal(rkmm_move_rows(NULL, 2, 8, 7, 8, 8), -EINVAL);
	assert_int_equal(rkmm_move_rows(NULL, 2, 8, 8, 7, 8), -EINVAL);
	assert_int_equal(rkmm_move_rows(NULL, 2, 8, 8, 8, 7), -EINVAL);
	assert_int_equal(rkmm_move_rows(NULL, 2, 0, 8, 8, 8), -EINVAL);
}

/* The same as into other memory, and nothing behind the operand is touched. */
static void test_in_place(void **state)
{
	static const uint32_t widths[] = { 8, 16, 32 };
	struct drm_rkmm_tensor t;
	int n;

	(void)state;
	for (n = 0; n < 600; n++) {
		uint32_t bits = widths[rnd() % 3], most = between(1, 40), cols = between(1, 300);
		uint32_t rows = between(1, most), r;
		size_t ld, elem = bits / 8;
		uint8_t *mem, *want;

		t = n & 1 ? cube_tensor(most, cols, bits, 32) :
			    rows_tensor(most, cols, bits, 32, rnd() % 3);
		ld = cols + rnd() % (t.size / most / elem - cols + 1);
		mem = noise(t.size + 16);
		memset(mem + t.size, 0x5a, 16);
		want = malloc(rows * ld * elem);
		assert_int_equal(rkmm_unpack_c(&t, mem, want, ld, rows, cols), 0);
		assert_int_equal(rkmm_unpack_c_in_place(&t, mem, ld, rows, cols), 0);
		for (r = 0; r < rows; r++)
			assert_memory_equal(mem + r * ld * elem, want + r * ld * elem, cols * elem);
		for (r = 0; r < 16; r++)
			assert_int_equal(mem[t.size + r], 0x5a);
		assert_int_equal(rkmm_unpack_c_in_place(&t, mem, t.size, most, cols),
				 most > 1 ? -EINVAL : 0);
		free(mem);
		free(want);
	}
	t = batch_c_tensor(4, 64, 4, 64);
	assert_int_equal(rkmm_unpack_c_in_place(&t, NULL, 64, 4, 64), -EINVAL);
}

/* Several blocks in both directions, with stores that pass the caches by. */
static void test_large(void **state)
{
	static const uint32_t widths[] = { 4, 8, 16, 32 };
	const size_t usual = rkmm_stream_min;
	struct drm_rkmm_tensor t;
	int i;

	(void)state;
	for (i = 0; i < 64; i++) {
		uint32_t bits = widths[rnd() % 3], rows = between(1, 200), cols = between(1, 1500);

		/* Runs that fill their blocks too. */
		if (i & 2) {
			rows = up(rows, 64);
			cols = up(cols, 512);
		}
		rkmm_stream_min = i & 1 ? 0 : usual;
		t = cube_tensor(rows, cols, bits, 32);
		check_pack_a(&t, between(1, rows), cols);
		t = rows_tensor(rows, cols, bits, 32, rnd() % 3);
		check_pack_a(&t, rows, cols);
		check_pack_b(cols, rows, bits, i & 4 ? RKMM_B_TRANSPOSED : 0);
		bits = widths[1 + rnd() % 3];
		t = cube_tensor(rows, cols, bits, 32);
		check_unpack(&t, between(1, rows), cols);
	}
	rkmm_stream_min = usual;
}

/* The worked numbers of hw 02 §3.5. */
static void test_worked_numbers(void **state)
{
	int8_t a[8][128] = { { 0 } }, b[128][64] = { { 0 } };
	struct drm_rkmm_tensor t;
	uint16_t b16[64][48] = { { 0 } };
	int8_t a4[4][128] = { { 0 } };
	uint8_t buf[16384];
	int32_t c[8][64];
	int16_t c16[4][128];

	(void)state;
	a[3][100] = 77;
	b[40][33] = 55;
	t = rows_tensor(8, 128, 8, 32, 0);
	assert_int_equal(rkmm_pack_a(&t, buf, a, 128, 8, 128), 0);
	assert_int_equal(buf[0x1e4], 77);
	t = cube_tensor(8, 128, 8, 32);
	assert_int_equal(rkmm_pack_a(&t, buf, a, 128, 8, 128), 0);
	assert_int_equal(buf[0x334], 77);
	t = weight_tensor(128, 64, 8);
	assert_int_equal(rkmm_pack_b(&t, buf, b, 64, 128, 64, 0), 0);
	assert_int_equal(buf[0x1428], 55);

	b16[33][17] = 0x1234;
	t = weight_tensor(64, 48, 16);
	assert_int_equal(rkmm_pack_b(&t, buf, b16, 48, 64, 48, 0), 0);
	assert_int_equal(get(buf, 0xc42 * 2, 16), 0x1234);

	a4[3][5] = -3;
	t = batch_a_tensor(4, 128);
	assert_int_equal(rkmm_pack_a(&t, buf, a4, 128, 4, 128), 0);
	assert_int_equal(buf[0x182], 0xd0);

	memset(buf, 0, sizeof(buf));
	buf[0x214] = 99;
	t = rows_tensor(8, 64, 32, 32, 0);
	assert_int_equal(rkmm_unpack_c(&t, buf, c, 64, 8, 64), 0);
	assert_int_equal(c[2][5], 99);
	memset(buf, 0, sizeof(buf));
	buf[0xa4] = 98;
	t = cube_tensor(8, 64, 32, 32);
	assert_int_equal(rkmm_unpack_c(&t, buf, c, 64, 8, 64), 0);
	assert_int_equal(c[2][5], 98);
	memset(buf, 0, sizeof(buf));
	buf[0xe0c] = 97;
	t = batch_c_tensor(4, 128, 4, 128);
	assert_int_equal(rkmm_unpack_c(&t, buf, c16, 128, 4, 128), 0);
	assert_int_equal(c16[3][70], 97);
}

/* Every value of a byte at every place of a row: only -8..7 pass. */
static void test_int4_range(void **state)
{
	struct drm_rkmm_tensor t = rows_tensor(1, 21, 4, 32, 0), w = weight_tensor(40, 70, 4);
	int8_t row[21], b[40 * 70] = { 0 };
	uint8_t buf[8192];
	int v, at, want;

	(void)state;
	for (v = -128; v < 128; v++) {
		want = v >= -8 && v <= 7 ? 0 : -ERANGE;
		for (at = 0; at < 21; at++) {
			memset(row, 0, sizeof(row));
			row[at] = (int8_t)v;
			assert_int_equal(rkmm_pack_a(&t, buf, row, 21, 1, 21), want);
		}
		for (at = 0; at < 40 * 70; at += 97) {
			b[at] = (int8_t)v;
			assert_int_equal(rkmm_pack_b(&w, buf, b, 70, 40, 70, 0), want);
			assert_int_equal(rkmm_pack_b(&w, buf, b, 40, 40, 70, RKMM_B_TRANSPOSED),
					 want);
			b[at] = 0;
		}
	}
	assert_non_null(strstr(rkmm_last_error(), "-8..7"));
}

static void test_refusals(void **state)
{
	struct drm_rkmm_tensor a = rows_tensor(4, 64, 8, 32, 0), w = weight_tensor(64, 64, 8);
	uint8_t src[64 * 64] = { 0 }, dst[64 * 64];

	(void)state;
	assert_int_equal(rkmm_pack_a(&a, dst, src, 64, 5, 64), -EINVAL);
	assert_int_equal(rkmm_pack_a(&a, dst, src, 64, 4, 65), -EINVAL);
	assert_int_equal(rkmm_pack_a(&a, dst, src, 63, 4, 64), -EINVAL);
	assert_int_equal(rkmm_pack_a(&a, dst, src, 64, 0, 64), -EINVAL);
	assert_int_equal(rkmm_pack_a(&w, dst, src, 64, 4, 64), -EINVAL);
	assert_int_equal(rkmm_pack_b(&w, dst, src, 64, 65, 64, 0), -EINVAL);
	assert_int_equal(rkmm_pack_b(&w, dst, src, 63, 64, 64, 0), -EINVAL);
	assert_int_equal(rkmm_pack_b(&w, dst, src, 64, 64, 64, 2), -EINVAL);
	assert_int_equal(rkmm_pack_b(&a, dst, src, 64, 4, 64, 0), -EINVAL);
	assert_int_equal(rkmm_unpack_c(&a, src, dst, 64, 5, 64), -EINVAL);
	assert_int_equal(rkmm_unpack_c(&a, src, dst, 10, 4, 11), -EINVAL);
	assert_int_equal(rkmm_unpack_c(&w, src, dst, 64, 4, 64), -EINVAL);
	a.bits = 12;
	assert_int_equal(rkmm_pack_a(&a, dst, src, 64, 4, 64), -EINVAL);
}

/* Value of half bits, by definition. */
static double half_value(uint16_t h)
{
	int exp = h >> 10 & 31, mant = h & 0x3ff;
	double v = exp ? 1.0 + mant / 1024.0 : mant / 1024.0;

	for (exp = exp ? exp - 15 : -14; exp > 0; exp--)
		v *= 2;
	for (; exp < 0; exp++)
		v /= 2;
	return h & 0x8000 ? -v : v;
}

/* The nearest of all halves, the even one of two; past the largest by half a step, infinity. */
static uint16_t nearest_half(float f)
{
	double x = f < 0 ? -(double)f : f;
	uint16_t lo = 0, hi = 0x7c00, mid;

	while (hi - lo > 1) {
		mid = (uint16_t)((lo + hi) / 2);
		if (half_value(mid) <= x)
			lo = mid;
		else
			hi = mid;
	}
	/* 0x7c00 reads as 65536 here, as the rounding rule wants. */
	if (x - half_value(lo) > half_value(hi) - x ||
	    (x - half_value(lo) == half_value(hi) - x && lo & 1) || x >= 65536)
		lo = hi;
	return (uint16_t)(lo | (f < 0 || (f == 0 && 1 / f < 0) ? 0x8000 : 0));
}

static void test_half(void **state)
{
	static const float special[] = {
		0.0f, -0.0f, 65504.0f, 65519.996f, 65520.0f, 65535.0f, 65536.0f, 1e30f, 0x1p-24f,
		0x1p-25f, 0x1.000002p-25f, 0x1.8p-24f, 0x1p-14f, 0x1.ffcp-15f, 0x1.ffep-15f, -1.0f,
		0x1.002p0f, 0x1.006p0f, 0x1.001p0f, 0x1p-126f, 0x1p-149f,
	};
	uint32_t i, bits;
	uint16_t h, back;
	float f;

	(void)state;
	for (i = 0; i < 0x10000; i++) {
		h = (uint16_t)i;
		rkmm_f16_to_f32(&h, &f, 1);
		rkmm_f32_to_f16(&f, &back, 1);
		if ((h & 0x7c00) == 0x7c00) {
			assert_true(h & 0x3ff ? isnan(f) : isinf(f));
			assert_int_equal(back, h & 0x3ff ? h | 0x200 : h);
			continue;
		}
		assert_true(half_value(h) == f);
		assert_int_equal(back, h);
	}
	for (i = 0; i < sizeof(special) / sizeof(special[0]); i++) {
		rkmm_f32_to_f16(&special[i], &h, 1);
		assert_int_equal(h, nearest_half(special[i]));
	}
	for (i = 0; i < 300000; i++) {
		/* Exponents around those of a half, and ties more often than by chance. */
		bits = rnd() & 0x807fffff;
		bits |= (100 + rnd() % 46) << 23;
		if (rnd() & 1)
			bits &= 0xfffff000;
		memcpy(&f, &bits, 4);
		rkmm_f32_to_f16(&f, &h, 1);
		if (h != nearest_half(f))
			fail_msg("%a gives 0x%04x", (double)f, h);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pack_a),
		cmocka_unit_test(test_pack_b),
		cmocka_unit_test(test_unpack_c),
		cmocka_unit_test(test_move_rows),
		cmocka_unit_test(test_in_place),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_worked_numbers),
		cmocka_unit_test(test_int4_range),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_half),
	};

	const struct rkmm_kernels *k;
	unsigned int i;
	int failed = 0;

	/* Every instruction set of this machine; the last one is what programs get. */
	for (i = 0; (k = rkmm_kernels_nth(i)); i++) {
		rkmm_kernels_use(k);
		failed += cmocka_run_group_tests_name(k->name, tests, NULL, NULL);
	}
	return failed;
}
