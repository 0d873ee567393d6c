// SPDX-License-Identifier: GPL-2.0
/*
 * The loops of librkmm for this machine's vectors give the bytes of the plain ones. On arm64
 * nothing else runs the NEON ones but whole products. Needs no device.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "../kselftest_harness.h"
#include "lib/kernels.h"

#define ROUNDS	200
#define ROOM	16384

static uint64_t state = 88172645463325252ull;

static uint32_t rnd(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 20) % below;
}

static _Alignas(64) uint8_t src[ROOM], want[ROOM], got[ROOM];

static void fill(void)
{
	size_t i;

	for (i = 0; i < ROOM; i++) {
		src[i] = (uint8_t)rnd(256);
		want[i] = (uint8_t)rnd(256);
	}
	memcpy(got, want, ROOM);
}

/* int4 in bytes; one round in four has one that is none */
static void fill_int4(void)
{
	size_t i;

	fill();
	for (i = 0; i < ROOM; i++)
		src[i] = (uint8_t)((int)(src[i] & 15) - 8);
	if (!rnd(4))
		for (i = 0; i < 40; i++)
			src[rnd(ROOM)] = (uint8_t)(8 + rnd(240));
}

static const struct rkmm_kernels *set(unsigned int i)
{
	return rkmm_kernels_nth(i);
}

TEST(sets)
{
	ASSERT_NE(NULL, set(0));
	ASSERT_NE(NULL, set(1));
	EXPECT_STREQ("plain", set(0)->name);
	EXPECT_STREQ("vec", set(1)->name);
}

TEST(turn)
{
	struct rkmm_turn t;
	unsigned int i, r;

	for (i = 1; set(i); i++)
		for (r = 0; r < ROUNDS; r++) {
			fill();
			t = (struct rkmm_turn) {
				.dst_pitch = 64 + 16 * rnd(20), .dst_step = 64,
				.src_pitch = 64 + rnd(300), .src_step = 64 + rnd(9),
				.src = src + rnd(16), .squares = 1 + rnd(8),
			};
			/* squares below each other */
			if (rnd(2))
				t.dst_step = 4 * t.dst_pitch;
			t.stream = rnd(2);
			t.ahead = rnd(2) ? t.src : NULL;
			t.dst = want;
			set(0)->turn(&t);
			t.dst = got;
			set(i)->turn(&t);
			rkmm_stream_end(t.stream);
			ASSERT_EQ(0, memcmp(want, got, ROOM)) {
				TH_LOG("%s, round %u", set(i)->name, r);
			}
		}
}

TEST(tiles)
{
	unsigned int i, r;
	size_t pitch;
	bool stream;

	for (i = 1; set(i); i++)
		for (r = 0; r < ROUNDS; r++) {
			fill();
			pitch = 64 + rnd(400);
			stream = rnd(2);
			set(0)->tile8(want, src + r % 64, pitch, false);
			set(i)->tile8(got, src + r % 64, pitch, stream);
			set(0)->tile16(want + 1024, src + r % 64, pitch, false);
			set(i)->tile16(got + 1024, src + r % 64, pitch, stream);
			rkmm_stream_end(stream);
			ASSERT_EQ(0, memcmp(want, got, ROOM)) {
				TH_LOG("%s, round %u", set(i)->name, r);
			}
		}
}

TEST(nibbles)
{
	unsigned int i, r, bad = 0;
	size_t pitch, count;
	bool a, b;

	for (i = 1; set(i); i++)
		for (r = 0; r < ROUNDS; r++) {
			fill_int4();
			pitch = 64 + rnd(400);
			a = set(0)->tile4(want, src + r % 64, pitch, false);
			b = set(i)->tile4(got, src + r % 64, pitch, rnd(2));
			ASSERT_EQ(a, b);
			bad += a;
			count = 32 * (1 + rnd(100));
			a = set(0)->nibbles(want + 1024, src + r % 64, count, false);
			b = set(i)->nibbles(got + 1024, src + r % 64, count, rnd(2));
			rkmm_stream_end(true);
			ASSERT_EQ(a, b);
			bad += a;
			ASSERT_EQ(0, memcmp(want, got, ROOM)) {
				TH_LOG("%s, round %u", set(i)->name, r);
			}
		}
	EXPECT_LT(0, bad);
	EXPECT_GT(2 * ROUNDS, bad);
}

TEST(sums)
{
	unsigned int i, r, n, off;

	for (i = 1; set(i); i++)
		for (r = 0; r < ROUNDS; r++) {
			fill();
			n = rnd(600);
			off = rnd(16);
			set(0)->add_i32((int32_t *)want, src + off, n);
			set(i)->add_i32((int32_t *)got, src + off, n);
			set(0)->add_i16((int32_t *)want + 1000, src + off, n);
			set(i)->add_i16((int32_t *)got + 1000, src + off, n);
			ASSERT_EQ(0, memcmp(want, got, ROOM));
			/* floats between 2 and 2^33 of both signs */
			for (unsigned int j = 0; j < ROOM; j++)
				if (j % 4 == 3)
					want[j] = got[j] = (want[j] & 0x80) | 0x40 | rnd(16);
			for (unsigned int j = 0; j < n; j++)
				src[off + 4 * j + 3] = (src[off + 4 * j + 3] & 0x80) | 0x40 | rnd(16);
			set(0)->add_f32((float *)want, src + off, n);
			set(i)->add_f32((float *)got, src + off, n);
			ASSERT_EQ(0, memcmp(want, got, ROOM)) {
				TH_LOG("%s, round %u", set(i)->name, r);
			}
		}
}

/* RKMM_SIMD; every test is a process of its own. */
TEST(plain_wanted)
{
	setenv("RKMM_SIMD", "plain", 1);
	EXPECT_STREQ("plain", rkmm_kernels()->name);
}

TEST(vec_wanted)
{
	setenv("RKMM_SIMD", "vec", 1);
	EXPECT_STREQ("vec", rkmm_kernels()->name);
}

TEST(best)
{
	unsigned int last = 0;

	unsetenv("RKMM_SIMD");
	while (set(last + 1))
		last++;
	EXPECT_EQ(set(last), rkmm_kernels());
}

TEST_HARNESS_MAIN
