/* SPDX-License-Identifier: MIT */
/*
 * Vectors of 16 bytes as C has them in gcc and clang: SSE2 on amd64, NEON on
 * arm64, plain code elsewhere, the same bits everywhere.
 */
#ifndef RKMM_VEC_H
#define RKMM_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

typedef uint8_t rkmm_v8 __attribute__((vector_size(16)));
typedef uint16_t rkmm_v16 __attribute__((vector_size(16)));
typedef uint64_t rkmm_v64 __attribute__((vector_size(16)));
typedef uint32_t rkmm_v32 __attribute__((vector_size(16)));

static inline rkmm_v8 rkmm_load(const void *src)
{
	rkmm_v8 v;

	memcpy(&v, src, sizeof(v));
	return v;
}

/* Streaming stores pass the caches by; dst is aligned to 16 bytes then. */
static inline void rkmm_store(void *dst, rkmm_v8 v, bool stream)
{
#if defined(__SSE2__)
	if (stream) {
		_mm_stream_si128(dst, (__m128i)v);
		return;
	}
#endif
	(void)stream;
	memcpy(dst, &v, sizeof(v));
}

/* Elements of the lower or upper halves of a and b in turn. */
static inline rkmm_v8 rkmm_zip_lo8(rkmm_v8 a, rkmm_v8 b)
{
	return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7,
				       23);
}

static inline rkmm_v8 rkmm_zip_hi8(rkmm_v8 a, rkmm_v8 b)
{
	return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30,
				       15, 31);
}

static inline rkmm_v8 rkmm_zip_lo16(rkmm_v8 a, rkmm_v8 b)
{
	return (rkmm_v8)__builtin_shufflevector((rkmm_v16)a, (rkmm_v16)b, 0, 8, 1, 9, 2, 10, 3,
						11);
}

static inline rkmm_v8 rkmm_zip_hi16(rkmm_v8 a, rkmm_v8 b)
{
	return (rkmm_v8)__builtin_shufflevector((rkmm_v16)a, (rkmm_v16)b, 4, 12, 5, 13, 6, 14, 7,
						15);
}

/* Bytes 0, 2, 4 ... of a, then those of b. */
static inline rkmm_v8 rkmm_even8(rkmm_v8 a, rkmm_v8 b)
{
	return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28,
				       30);
}

static inline bool rkmm_any(rkmm_v8 v)
{
	rkmm_v64 x = (rkmm_v64)v;

	return x[0] | x[1];
}

/*
 * Values of one byte in a (the lower 16) and b to 16 bytes of nibbles, even ones
 * low. Bits above the lowest four are set in *bad where one is outside -8..7.
 */
static inline rkmm_v8 rkmm_nibbles(rkmm_v8 a, rkmm_v8 b, rkmm_v8 *bad)
{
	*bad |= (rkmm_v8)((a + 8) | (b + 8));
	a = (rkmm_v8)(((rkmm_v16)a & 0x0f) | ((rkmm_v16)a >> 4 & 0xf0));
	b = (rkmm_v8)(((rkmm_v16)b & 0x0f) | ((rkmm_v16)b >> 4 & 0xf0));
	return rkmm_even8(a, b);
}

static inline bool rkmm_nibbles_bad(rkmm_v8 bad)
{
	return rkmm_any(bad & 0xf0);
}

/* Row i of x becomes column i, bytes. */
static inline void rkmm_transpose8(rkmm_v8 x[16])
{
	rkmm_v8 y[16];
	unsigned int i;

	for (i = 0; i < 8; i++) {
		y[2 * i] = rkmm_zip_lo8(x[i], x[i + 8]);
		y[2 * i + 1] = rkmm_zip_hi8(x[i], x[i + 8]);
	}
	for (i = 0; i < 8; i++) {
		x[2 * i] = rkmm_zip_lo8(y[i], y[i + 8]);
		x[2 * i + 1] = rkmm_zip_hi8(y[i], y[i + 8]);
	}
	for (i = 0; i < 8; i++) {
		y[2 * i] = rkmm_zip_lo8(x[i], x[i + 8]);
		y[2 * i + 1] = rkmm_zip_hi8(x[i], x[i + 8]);
	}
	for (i = 0; i < 8; i++) {
		x[2 * i] = rkmm_zip_lo8(y[i], y[i + 8]);
		x[2 * i + 1] = rkmm_zip_hi8(y[i], y[i + 8]);
	}
}

/* The same for 8 x 8 elements of two bytes. */
static inline void rkmm_transpose16(rkmm_v8 x[8])
{
	rkmm_v8 y[8];
	unsigned int i;

	for (i = 0; i < 4; i++) {
		y[2 * i] = rkmm_zip_lo16(x[i], x[i + 4]);
		y[2 * i + 1] = rkmm_zip_hi16(x[i], x[i + 4]);
	}
	for (i = 0; i < 4; i++) {
		x[2 * i] = rkmm_zip_lo16(y[i], y[i + 4]);
		x[2 * i + 1] = rkmm_zip_hi16(y[i], y[i + 4]);
	}
	for (i = 0; i < 4; i++) {
		y[2 * i] = rkmm_zip_lo16(x[i], x[i + 4]);
		y[2 * i + 1] = rkmm_zip_hi16(x[i], x[i + 4]);
	}
	memcpy(x, y, sizeof(y));
}

#endif
