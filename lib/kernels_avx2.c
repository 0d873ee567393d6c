// SPDX-License-Identifier: MIT
/* Loops in vectors of 32 bytes for amd64 processors that have them. */
#if defined(__x86_64__)
#include "lib/kernels.h"

#include <immintrin.h>

#define AVX2	__attribute__((target("avx2")))

AVX2
static inline __m256i load(const uint8_t *src)
{
	return _mm256_loadu_si256((const __m256i *)(const void *)src);
}

AVX2
static inline void store(uint8_t *dst, __m256i v, bool stream)
{
	if (stream)
		_mm256_stream_si256((__m256i *)(void *)dst, v);
	else
		_mm256_storeu_si256((__m256i *)(void *)dst, v);
}

AVX2
static inline void store_half(uint8_t *dst, __m128i v, bool stream)
{
	if (stream)
		_mm_stream_si128((__m128i *)(void *)dst, v);
	else
		_mm_storeu_si128((__m128i *)(void *)dst, v);
}

/* Lower halves of a and b, or with 0x31 the upper ones. */
#define HALVES(a, b, which)	_mm256_permute2x128_si256(a, b, which)

AVX2
static void turn(const struct rkmm_turn *t)
{
	const bool wide = !(((uintptr_t)t->dst | t->dst_pitch | t->dst_step) % 32);
	const uint8_t *src = t->src, *ahead = t->ahead;
	uint8_t *dst = t->dst;
	uint32_t q, i;

	if (t->stream && !wide) {
		rkmm_kernels_vec.turn(t);
		return;
	}
	for (q = 0; q < t->squares; q++, src += t->src_step, dst += t->dst_step) {
		__m256i x[4][2];

		if (ahead) {
			rkmm_prefetch_lines(ahead, t->src_pitch, 4);
			ahead += t->src_step;
		}
		for (i = 0; i < 4; i++) {
			x[i][0] = load(src + i * t->src_pitch);
			x[i][1] = load(src + i * t->src_pitch + 32);
		}
		for (i = 0; i < 2; i++) {
			uint8_t *to = dst + 2 * i * t->dst_pitch;

			store(to, HALVES(x[0][i], x[1][i], 0x20), t->stream);
			store(to + 32, HALVES(x[2][i], x[3][i], 0x20), t->stream);
			to += t->dst_pitch;
			store(to, HALVES(x[0][i], x[1][i], 0x31), t->stream);
			store(to + 32, HALVES(x[2][i], x[3][i], 0x31), t->stream);
		}
	}
}

AVX2
static inline void zip8(__m256i *y, const __m256i *x)
{
	uint32_t i;

	for (i = 0; i < 8; i++) {
		y[2 * i] = _mm256_unpacklo_epi8(x[i], x[i + 8]);
		y[2 * i + 1] = _mm256_unpackhi_epi8(x[i], x[i + 8]);
	}
}

/* In both halves row i of 16 bytes becomes column i. */
AVX2
static inline void transpose8(__m256i x[16])
{
	__m256i y[16];

	zip8(y, x);
	zip8(x, y);
	zip8(y, x);
	zip8(x, y);
}

AVX2
static inline void zip16(__m256i *y, const __m256i *x)
{
	uint32_t i;

	for (i = 0; i < 4; i++) {
		y[2 * i] = _mm256_unpacklo_epi16(x[i], x[i + 4]);
		y[2 * i + 1] = _mm256_unpackhi_epi16(x[i], x[i + 4]);
	}
}

/* The same for 8 x 8 elements of two bytes. */
AVX2
static inline void transpose16(__m256i *y, __m256i x[8])
{
	zip16(y, x);
	zip16(x, y);
	zip16(y, x);
}

/*
 * Half of each row's cache line is read at once, because rows at round distances
 * push each other out of the nearest cache. Columns j are in the lower halves then
 * and j + 16 (8 for two bytes) in the upper ones.
 */
AVX2
static void tile8(uint8_t *dst, const uint8_t *src, size_t pitch, bool stream)
{
	__m256i x[16], y[16];
	uint32_t l;

	for (l = 0; l < 16; l++)
		x[l] = load(src + l * pitch);
	transpose8(x);
	for (l = 0; l < 16; l++)
		y[l] = load(src + (l + 16) * pitch);
	transpose8(y);
	for (l = 0; l < 16; l++)
		store(dst + l * RKMM_TILE_K, HALVES(x[l], y[l], 0x20), stream);
	for (l = 0; l < 16; l++)
		store(dst + (l + 16) * RKMM_TILE_K, HALVES(x[l], y[l], 0x31), stream);
}

AVX2
static void tile16(uint8_t *dst, const uint8_t *src, size_t pitch, bool stream)
{
	__m256i x[8], y[4][8];
	uint32_t i, l;

	for (i = 0; i < 4; i++) {
		for (l = 0; l < 8; l++)
			x[l] = load(src + (8 * i + l) * pitch);
		transpose16(y[i], x);
	}
	for (l = 0; l < 8; l++, dst += 2 * RKMM_TILE_K) {
		store(dst, HALVES(y[0][l], y[1][l], 0x20), stream);
		store(dst + 32, HALVES(y[2][l], y[3][l], 0x20), stream);
	}
	for (l = 0; l < 8; l++, dst += 2 * RKMM_TILE_K) {
		store(dst, HALVES(y[0][l], y[1][l], 0x31), stream);
		store(dst + 32, HALVES(y[2][l], y[3][l], 0x31), stream);
	}
}

/* Bits above the lowest four of an int4 value plus 8. */
AVX2
static inline __m256i beyond(__m256i v)
{
	return _mm256_add_epi8(v, _mm256_set1_epi8(8));
}

AVX2
static inline bool any_beyond(__m256i bad)
{
	return !_mm256_testz_si256(bad, _mm256_set1_epi8((char)0xf0));
}

/* Columns j..j+15 in the lower halves, j+16..j+31 in the upper ones. */
AVX2
static bool tile4(uint8_t *dst, const uint8_t *src, size_t pitch, bool stream)
{
	const __m256i low = _mm256_set1_epi8(0x0f);
	__m256i bad = _mm256_setzero_si256();
	__m256i x[16], even, odd;
	uint32_t j, l;

	for (j = 0; j < 64; j += 32) {
		for (l = 0; l < 16; l++) {
			even = load(src + 2 * l * pitch + j);
			odd = load(src + (2 * l + 1) * pitch + j);
			bad = _mm256_or_si256(bad, _mm256_or_si256(beyond(even), beyond(odd)));
			odd = _mm256_slli_epi16(_mm256_and_si256(odd, low), 4);
			x[l] = _mm256_or_si256(_mm256_and_si256(even, low), odd);
		}
		transpose8(x);
		for (l = 0; l < 16; l++)
			store_half(dst + (j + l) * (RKMM_TILE_K / 2), _mm256_castsi256_si128(x[l]),
				   stream);
		for (l = 0; l < 16; l++)
			store_half(dst + (j + l + 16) * (RKMM_TILE_K / 2),
				   _mm256_extracti128_si256(x[l], 1), stream);
	}
	return any_beyond(bad);
}

AVX2
static bool nibbles(uint8_t *dst, const uint8_t *src, size_t count, bool stream)
{
	/* even + 16 odd of each pair; bytes are unsigned once they are masked */
	const __m256i weigh = _mm256_set1_epi16(0x1001), low = _mm256_set1_epi8(0x0f);
	__m256i bad = _mm256_setzero_si256(), v;
	size_t i;

	for (i = 0; i < count; i += 32) {
		v = load(src + i);
		bad = _mm256_or_si256(bad, beyond(v));
		v = _mm256_maddubs_epi16(_mm256_and_si256(v, low), weigh);
		v = _mm256_packus_epi16(v, v);
		v = _mm256_permute4x64_epi64(v, 0x08);
		store_half(dst + i / 2, _mm256_castsi256_si128(v), stream);
	}
	return any_beyond(bad);
}

AVX2
static void add_i32(int32_t *sum, const uint8_t *src, uint32_t count)
{
	uint32_t i;

	for (i = 0; i + 8 <= count; i += 8) {
		__m256i *at = (__m256i *)(void *)(sum + i);

		_mm256_storeu_si256(at, _mm256_add_epi32(_mm256_loadu_si256(at),
							 load(src + i * sizeof(*sum))));
	}
	rkmm_kernels_plain.add_i32(sum + i, src + i * sizeof(*sum), count - i);
}

AVX2
static void add_i16(int32_t *sum, const uint8_t *src, uint32_t count)
{
	uint32_t i;

	for (i = 0; i + 8 <= count; i += 8) {
		const void *from = src + i * sizeof(int16_t);
		__m256i *at = (__m256i *)(void *)(sum + i);
		__m256i v = _mm256_cvtepi16_epi32(_mm_loadu_si128(from));

		_mm256_storeu_si256(at, _mm256_add_epi32(_mm256_loadu_si256(at), v));
	}
	rkmm_kernels_plain.add_i16(sum + i, src + i * sizeof(int16_t), count - i);
}

AVX2
static void add_f32(float *sum, const uint8_t *src, uint32_t count)
{
	uint32_t i;

	for (i = 0; i + 8 <= count; i += 8) {
		const void *from = src + i * sizeof(*sum);

		_mm256_storeu_ps(sum + i, _mm256_add_ps(_mm256_loadu_ps(sum + i),
							_mm256_loadu_ps(from)));
	}
	rkmm_kernels_plain.add_f32(sum + i, src + i * sizeof(*sum), count - i);
}

const struct rkmm_kernels rkmm_kernels_avx2 = {
	.name = "avx2",
	.turn = turn,
	.tile8 = tile8,
	.tile16 = tile16,
	.tile4 = tile4,
	.nibbles = nibbles,
	.add_i32 = add_i32,
	.add_i16 = add_i16,
	.add_f32 = add_f32,
};
#endif
