/* SPDX-License-Identifier: MIT */
/*
 * The inner loops of packing and de-tiling, one set for each instruction set. All
 * sets give the same bytes.
 */
#ifndef RKMM_KERNELS_H
#define RKMM_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define RKMM_LINE	64	/* bytes of a cache line */
#define RKMM_ATOM	16	/* bytes that stay together in a cube; hw 02 §3.4, §3.5 */
#define RKMM_TILE_K	32	/* channels of a weight tile; hw 02 §4 */
#define RKMM_TILE_BYTES	1024	/* of every type */

/**
 * struct rkmm_turn - a strip of squares of 4 x 4 atoms, each mirrored at its diagonal
 * @dst: first square
 * @dst_pitch: from one line of a square to the next
 * @dst_step: from one square to the next
 * @src: first square
 * @src_pitch: from one line of a square to the next
 * @src_step: from one square to the next
 * @ahead: where the source is read later; prefetched by the same steps, or NULL
 * @squares: how many
 * @stream: as for &rkmm_kernels; @dst and its distances are multiples of 16 then
 */
struct rkmm_turn {
	uint8_t *dst;
	size_t dst_pitch;
	size_t dst_step;
	const uint8_t *src;
	size_t src_pitch;
	size_t src_step;
	const uint8_t *ahead;
	uint32_t squares;
	bool stream;
};

/**
 * struct rkmm_kernels - loops for one instruction set
 * @name: of the set
 * @turn: rows of atoms to surfaces of atoms, or back
 * @tile8: a weight tile, 32 columns of 32 channels, from rows of channels
 * @tile16: 16 columns of two bytes
 * @tile4: 64 columns of nibbles from values of one byte; non-zero when one does not fit
 * @nibbles: count values of one byte, a multiple of 32, to nibbles, the even one low;
 *	non-zero when one does not fit
 * @add_i32: count values at src, at any address, added to sums, modulo 2^32
 * @add_i16: the same from values of two bytes
 * @add_f32: the same of floats, each sum by itself
 *
 * Streaming stores pass the caches by, where the set has them. Tiles are aligned
 * to 64 bytes then. rkmm_stream_end() comes before anybody looks at the result.
 */
struct rkmm_kernels {
	const char *name;
	void (*turn)(const struct rkmm_turn *t);
	void (*tile8)(uint8_t *dst, const uint8_t *src, size_t pitch, bool stream);
	void (*tile16)(uint8_t *dst, const uint8_t *src, size_t pitch, bool stream);
	bool (*tile4)(uint8_t *dst, const uint8_t *src, size_t pitch, bool stream);
	bool (*nibbles)(uint8_t *dst, const uint8_t *src, size_t count, bool stream);
	void (*add_i32)(int32_t *sum, const uint8_t *src, uint32_t count);
	void (*add_i16)(int32_t *sum, const uint8_t *src, uint32_t count);
	void (*add_f32)(float *sum, const uint8_t *src, uint32_t count);
};

extern const struct rkmm_kernels rkmm_kernels_plain, rkmm_kernels_vec;
#if defined(__x86_64__)
extern const struct rkmm_kernels rkmm_kernels_avx2;
#endif

/* The best set of this machine, or the one that the variable RKMM_SIMD names. */
const struct rkmm_kernels *rkmm_kernels(void);

/* Set i of this machine, best last, or NULL; for tests. */
const struct rkmm_kernels *rkmm_kernels_nth(unsigned int i);
void rkmm_kernels_use(const struct rkmm_kernels *k);

/*
 * From this many bytes of output on, streaming wins: a cache would read each line
 * before it is written, and lose other people's data for it. Tests lower it.
 */
extern size_t rkmm_stream_min;

static inline bool rkmm_stream(const void *dst, size_t pitch, size_t bytes, size_t align)
{
	return bytes >= rkmm_stream_min && !((uintptr_t)dst % align) && !(pitch % align);
}

/* Before anybody else may look at what was streamed. */
static inline void rkmm_stream_end(bool stream)
{
#if defined(__SSE2__)
	if (stream)
		_mm_sfence();
#endif
	(void)stream;
}

/* Lines at a distance are more than the processor recognises as streams. */
static inline void rkmm_prefetch_lines(const uint8_t *src, size_t pitch, uint32_t lines)
{
	uint32_t i;

	for (i = 0; i < lines; i++)
		__builtin_prefetch(src + i * pitch, 0, 2);
}

#endif
