// SPDX-License-Identifier: MIT
/* Loops in vectors of 16 bytes: SSE2 on amd64, NEON on arm64. */
#include "lib/kernels.h"
#include "lib/vec.h"

static void turn(const struct rkmm_turn *t)
{
	const uint8_t *src = t->src, *ahead = t->ahead;
	uint8_t *dst = t->dst;
	uint32_t q, i, j;

	for (q = 0; q < t->squares; q++, src += t->src_step, dst += t->dst_step) {
		rkmm_v8 x[4][4];

		if (ahead) {
			rkmm_prefetch_lines(ahead, t->src_pitch, 4);
			ahead += t->src_step;
		}
		for (i = 0; i < 4; i++)
			for (j = 0; j < 4; j++)
				x[i][j] = rkmm_load(src + i * t->src_pitch + j * RKMM_ATOM);
		for (j = 0; j < 4; j++)
			for (i = 0; i < 4; i++)
				rkmm_store(dst + j * t->dst_pitch + i * RKMM_ATOM, x[i][j],
					   t->stream);
	}
}

/*
 * A tile has its columns one behind the other, 32 channels each: a transposition.
 * Two vectors fill a column of it.
 */
static void tile8(uint8_t *dst, const uint8_t *src, size_t pitch, bool stream)
{
	rkmm_v8 x[16], y[16];
	uint32_t j, l;

	for (j = 0; j < 32; j += 16) {
		for (l = 0; l < 16; l++)
			x[l] = rkmm_load(src + l * pitch + j);
		rkmm_transpose8(x);
		for (l = 0; l < 16; l++)
			y[l] = rkmm_load(src + (l + 16) * pitch + j);
		rkmm_transpose8(y);
		for (l = 0; l < 16; l++) {
			rkmm_store(dst + (j + l) * RKMM_TILE_K, x[l], stream);
			rkmm_store(dst + (j + l) * RKMM_TILE_K + 16, y[l], stream);
		}
	}
}

static void tile16(uint8_t *dst, const uint8_t *src, size_t pitch, bool stream)
{
	uint32_t i, j, l;
	rkmm_v8 x[4][8];

	for (j = 0; j < 16; j += 8) {
		for (i = 0; i < 4; i++) {
			for (l = 0; l < 8; l++)
				x[i][l] = rkmm_load(src + (8 * i + l) * pitch + j * 2);
			rkmm_transpose16(x[i]);
		}
		for (l = 0; l < 8; l++)
			for (i = 0; i < 4; i++)
				rkmm_store(dst + (j + l) * RKMM_TILE_K * 2 + i * 16, x[i][l],
					   stream);
	}
}

/* Two channels make a byte, then the bytes are transposed. */
static bool tile4(uint8_t *dst, const uint8_t *src, size_t pitch, bool stream)
{
	rkmm_v8 x[16], even, odd, bad = { 0 };
	uint32_t j, l;

	for (j = 0; j < 64; j += 16) {
		for (l = 0; l < 16; l++) {
			even = rkmm_load(src + 2 * l * pitch + j);
			odd = rkmm_load(src + (2 * l + 1) * pitch + j);
			bad |= (even + 8) | (odd + 8);
			x[l] = (even & 0x0f) | (rkmm_v8)((rkmm_v16)(odd & 0x0f) << 4);
		}
		rkmm_transpose8(x);
		for (l = 0; l < 16; l++)
			rkmm_store(dst + (j + l) * (RKMM_TILE_K / 2), x[l], stream);
	}
	return rkmm_nibbles_bad(bad);
}

static bool nibbles(uint8_t *dst, const uint8_t *src, size_t count, bool stream)
{
	rkmm_v8 bad = { 0 };
	size_t i;

	for (i = 0; i < count; i += 32)
		rkmm_store(dst + i / 2,
			   rkmm_nibbles(rkmm_load(src + i), rkmm_load(src + i + 16), &bad), stream);
	return rkmm_nibbles_bad(bad);
}

static void add_i32(int32_t *sum, const uint8_t *src, uint32_t count)
{
	uint32_t i;

	for (i = 0; i + 4 <= count; i += 4) {
		rkmm_v32 v = (rkmm_v32)rkmm_load(sum + i) +
			     (rkmm_v32)rkmm_load(src + i * sizeof(*sum));

		rkmm_store(sum + i, (rkmm_v8)v, false);
	}
	rkmm_kernels_plain.add_i32(sum + i, src + i * sizeof(*sum), count - i);
}

static void add_i16(int32_t *sum, const uint8_t *src, uint32_t count)
{
	typedef int16_t four16 __attribute__((vector_size(8)));
	typedef int32_t four32 __attribute__((vector_size(16)));
	uint32_t i;

	for (i = 0; i + 4 <= count; i += 4) {
		rkmm_v32 v;
		four16 more;

		memcpy(&more, src + i * sizeof(int16_t), sizeof(more));
		v = (rkmm_v32)rkmm_load(sum + i) +
		    (rkmm_v32)__builtin_convertvector(more, four32);
		rkmm_store(sum + i, (rkmm_v8)v, false);
	}
	rkmm_kernels_plain.add_i16(sum + i, src + i * sizeof(int16_t), count - i);
}

static void add_f32(float *sum, const uint8_t *src, uint32_t count)
{
	float v __attribute__((vector_size(16))), more __attribute__((vector_size(16)));
	uint32_t i;

	for (i = 0; i + 4 <= count; i += 4) {
		memcpy(&v, sum + i, sizeof(v));
		memcpy(&more, src + i * sizeof(*sum), sizeof(more));
		v += more;
		memcpy(sum + i, &v, sizeof(v));
	}
	rkmm_kernels_plain.add_f32(sum + i, src + i * sizeof(*sum), count - i);
}

const struct rkmm_kernels rkmm_kernels_vec = {
	.name = "vec",
	.turn = turn,
	.tile8 = tile8,
	.tile16 = tile16,
	.tile4 = tile4,
	.nibbles = nibbles,
	.add_i32 = add_i32,
	.add_i16 = add_i16,
	.add_f32 = add_f32,
};
