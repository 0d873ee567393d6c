// SPDX-License-Identifier: MIT
/* Loops for any machine. */
#include "lib/kernels.h"

#include <string.h>

static void turn(const struct rkmm_turn *t)
{
	uint32_t q, i, j;

	for (q = 0; q < t->squares; q++)
		for (i = 0; i < 4; i++)
			for (j = 0; j < 4; j++)
				memcpy(t->dst + q * t->dst_step + j * t->dst_pitch + i * RKMM_ATOM,
				       t->src + q * t->src_step + i * t->src_pitch + j * RKMM_ATOM,
				       RKMM_ATOM);
}

static void tile8(uint8_t *dst, const uint8_t *src, size_t pitch, bool stream)
{
	uint32_t k, n;

	(void)stream;
	for (n = 0; n < 32; n++)
		for (k = 0; k < RKMM_TILE_K; k++)
			*dst++ = src[k * pitch + n];
}

static void tile16(uint8_t *dst, const uint8_t *src, size_t pitch, bool stream)
{
	uint32_t k, n;

	(void)stream;
	for (n = 0; n < 16; n++)
		for (k = 0; k < RKMM_TILE_K; k++) {
			*dst++ = src[k * pitch + 2 * n];
			*dst++ = src[k * pitch + 2 * n + 1];
		}
}

/* An int4 value plus 8 has nothing above its lowest four bits. */
static uint8_t pair(uint8_t even, uint8_t odd, uint8_t *bad)
{
	*bad |= (uint8_t)(even + 8) | (uint8_t)(odd + 8);
	return (uint8_t)((even & 15) | odd << 4);
}

static bool tile4(uint8_t *dst, const uint8_t *src, size_t pitch, bool stream)
{
	uint8_t bad = 0;
	uint32_t k, n;

	(void)stream;
	for (n = 0; n < 64; n++)
		for (k = 0; k < RKMM_TILE_K; k += 2)
			*dst++ = pair(src[k * pitch + n], src[(k + 1) * pitch + n], &bad);
	return bad & 0xf0;
}

static bool nibbles(uint8_t *dst, const uint8_t *src, size_t count, bool stream)
{
	uint8_t bad = 0;
	size_t i;

	(void)stream;
	for (i = 0; i < count; i += 2)
		dst[i / 2] = pair(src[i], src[i + 1], &bad);
	return bad & 0xf0;
}

static void add_i32(int32_t *sum, const uint8_t *src, uint32_t count)
{
	int32_t v;
	uint32_t i;

	for (i = 0; i < count; i++) {
		memcpy(&v, src + i * sizeof(v), sizeof(v));
		sum[i] = (int32_t)((uint32_t)sum[i] + (uint32_t)v);
	}
}

static void add_i16(int32_t *sum, const uint8_t *src, uint32_t count)
{
	int16_t v;
	uint32_t i;

	for (i = 0; i < count; i++) {
		memcpy(&v, src + i * sizeof(v), sizeof(v));
		sum[i] += v;
	}
}

static void add_f32(float *sum, const uint8_t *src, uint32_t count)
{
	float v;
	uint32_t i;

	for (i = 0; i < count; i++) {
		memcpy(&v, src + i * sizeof(v), sizeof(v));
		sum[i] += v;
	}
}

const struct rkmm_kernels rkmm_kernels_plain = {
	.name = "plain",
	.turn = turn,
	.tile8 = tile8,
	.tile16 = tile16,
	.tile4 = tile4,
	.nibbles = nibbles,
	.add_i32 = add_i32,
	.add_i16 = add_i16,
	.add_f32 = add_f32,
};
