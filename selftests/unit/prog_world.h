/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What tests of chains on the software NPU share: its memory, one start, operands
 * placed by the sheets' formulas, written out here, and plain checks of results.
 */
#ifndef PROG_WORLD_H
#define PROG_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "npu_start.h"

#define A_BASE	0x10000000u
#define B_BASE	0x20000000u
#define C_BASE	0x60000000u
#define P_BASE	0xf0000000u
#define GUARD	4096u		/* what the driver maps behind a buffer: hw 02 §3.4 */
#define CANARY	0xa5

static uint64_t seed = 0x2545f4914f6cdd1dull;

static inline uint32_t rnd(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)((seed >> 20) % below);
}

struct region {
	uint32_t base;
	uint64_t size, guard;
	uint8_t *data;
	bool writable;
};

struct world {
	struct region region[4];	/* A, B, C, programs */
};

static inline int world_read(void *ctx, u32 addr, void *dst, u32 len, u32 *fault)
{
	struct world *w = ctx;
	int i;

	for (i = 0; i < 4; i++) {
		struct region *r = &w->region[i];
		uint64_t at = (uint64_t)addr - r->base;

		if (addr >= r->base && at + len <= r->size + r->guard) {
			memcpy(dst, r->data + at, len);
			return 0;
		}
	}
	*fault = addr;
	return -1;
}

static inline int world_write(void *ctx, u32 addr, const void *src, u32 len, u32 *fault)
{
	struct world *w = ctx;
	struct region *r = &w->region[2];
	uint64_t at = (uint64_t)addr - r->base;

	if (addr < r->base || at + len > r->size) {
		*fault = addr;
		return -1;
	}
	memcpy(r->data + at, src, len);
	return 0;
}

static inline void region(struct world *w, int i, uint32_t base, uint64_t size, bool guard,
			  int fill)
{
	w->region[i] = (struct region){
		.base = base, .size = size, .guard = guard ? GUARD : 0,
		.data = malloc(size + GUARD),
	};
	assert_non_null(w->region[i].data);
	memset(w->region[i].data, fill, size + GUARD);
}

/* True when every task ended without a broken law */
static inline bool kick(struct npu_core *core, const struct rkmm_kick *k,
			struct npu_report *report)
{
	bool right = npu_start(core, k, report);

	if (report->cls != NPU_OK)
		print_error("task %u: %s: %s\n", report->task, npu_class_name(report->cls),
			    report->law ? report->law : "");
	return right;
}

/* fp16 of a small integer, exact up to 2048 */
static inline uint16_t half(int v)
{
	uint16_t sign = v < 0 ? 0x8000 : 0;
	int e = 0;

	if (!v)
		return 0;
	v = abs(v);
	while (v >> (e + 1))
		e++;
	return sign | (uint16_t)((e + 15) << 10) | (uint16_t)((v << (10 - e)) & 0x3ff);
}

/* Nearest-even fp16 of a float that is an integer below 65504 */
static inline uint16_t half_of_float(float f)
{
	int v = (int)fabsf(f), e = 0, keep, rest;
	uint16_t bits;

	if (!v)
		return 0;
	while (v >> (e + 1))
		e++;
	if (e <= 10)
		return half((int)f);
	keep = v >> (e - 10);
	rest = v & ((1 << (e - 10)) - 1);
	if (rest > 1 << (e - 11) || (rest == 1 << (e - 11) && keep & 1))
		keep++;
	bits = (uint16_t)(((e + 15) << 10) + (keep - 1024));
	return bits | (f < 0 ? 0x8000 : 0);
}

static inline void put_nibble(uint8_t *p, bool high, int v)
{
	*p = high ? (uint8_t)((*p & 0x0f) | (v & 15) << 4) : (uint8_t)((*p & 0xf0) | (v & 15));
}

static inline void store(const struct rkmm_geom *g, uint8_t *base, uint64_t at, uint32_t k,
			 int v)
{
	uint16_t h;

	switch (rkmm_in_bits(g->mm.types)) {
	case 16:
		h = half(v);
		memcpy(base + at, &h, 2);
		break;
	case 8:
		base[at] = (uint8_t)v;
		break;
	default:
		put_nibble(base + at, k & 1, v);
		break;
	}
}

/* Rows that programs of always the same size compute: hw 03 G17, G18 */
static inline uint32_t all_rows(const struct rkmm_geom *g)
{
	uint32_t step = g->kp == 1024 ? 16 : g->kp == 2048 && g->tile_cols > 64 ? 32 : 1;

	return (g->mm.m + step - 1) / step * step;
}

/* hw 02 §3.4, §6.2; K slices of int4 batches one behind the other: hw 02 §4 */
static inline uint64_t place_a(const struct rkmm_geom *g, uint32_t row, uint32_t k)
{
	uint32_t bits = rkmm_in_bits(g->mm.types), per_atom = 128 / bits;
	uint32_t rows = all_rows(g);

	if (g->form == RKMM_FORM_CUBE)
		return 16ull * ((uint64_t)(k / per_atom) * g->mm.m + row) + k % per_atom * bits / 8;
	if (g->form == RKMM_FORM_BATCH)
		return ((uint64_t)(k / g->kp) * rows + row) * g->kp + k % g->kp / 2;
	if (g->mm.a_pitch)
		return (uint64_t)row * g->mm.a_pitch + k * bits / 8;
	return ((uint64_t)row * g->slices * g->kp + k) * bits / 8;
}

/* hw 02 §4 */
static inline uint64_t place_b(const struct rkmm_geom *g, uint32_t k, uint32_t n)
{
	uint32_t group = rkmm_group(g->mm.types);
	uint64_t slice = (uint64_t)(k / g->kp) * g->kp * ((g->mm.n + group - 1) / group * group);
	uint64_t tile = (uint64_t)(n / group) * (g->kp / 32) + k % g->kp / 32;

	return (slice + tile * group * 32 + n % group * 32 + k % 32) *
	       rkmm_in_bits(g->mm.types) / 8;
}

/* hw 02 §3.5, §6.2, §6.6 */
static inline uint64_t place_c(const struct rkmm_geom *g, uint32_t row, uint32_t n)
{
	uint32_t ob = rkmm_out_bytes(g->types), c2 = 16 / ob;
	uint32_t h = g->tile_rows, wb = g->tile_cols, t, hg, j, b;
	uint32_t rows = all_rows(g);

	if (g->form == RKMM_FORM_CUBE)
		return 16ull * ((uint64_t)(n / c2) * g->mm.m + row) + n % c2 * ob;
	if (g->form == RKMM_FORM_FLAT)
		return (uint64_t)row * (g->mm.c_pitch ? g->mm.c_pitch : g->np * ob) + n * ob;
	t = n / wb * ((rows + h - 1) / h) + row / h;
	hg = rows - row / h * h < h ? rows - row / h * h : h;
	j = row % h;
	b = n % wb / 64;
	return (uint64_t)t * 4 * h * (wb / 64) * 128 + 128ull * (4 * j + 4 * hg * b) + n % 64 * 2;
}

/* int8: clamp(round_half_even(acc * mult >> shift) + offset), hw 02 §2 */
static inline int8_t requant(const struct rkmm_matmul *mm, int32_t acc)
{
	int64_t v = (int64_t)acc * mm->mult, q = v >> mm->shift, rest;

	if (mm->shift) {
		rest = v - q * (1ll << mm->shift);
		if (rest > 1ll << (mm->shift - 1) ||
		    (rest == 1ll << (mm->shift - 1) && q & 1))
			q++;
	}
	q += mm->offset;
	return (int8_t)(q > 127 ? 127 : q < -128 ? -128 : q);
}

static inline void check_cell(const struct rkmm_geom *g, const uint8_t *c, uint32_t slice,
			      uint32_t row, uint32_t n, int32_t acc)
{
	const uint8_t *at = c + slice * g->c_slice + place_c(g, row, n);
	int32_t i32;
	int16_t i16;
	uint16_t u16;
	float f;

	switch (g->types) {
	case RKMM_T_I8I32:
		memcpy(&i32, at, 4);
		assert_int_equal(i32, acc);
		break;
	case RKMM_T_I8I8:
		assert_int_equal((int8_t)*at, requant(&g->mm, acc));
		break;
	case RKMM_T_F16F32:
		memcpy(&f, at, 4);
		assert_true(f == (float)acc);
		break;
	case RKMM_T_F16F16:
		memcpy(&u16, at, 2);
		assert_int_equal(u16, half_of_float((float)acc));
		break;
	default:
		memcpy(&i16, at, 2);
		assert_int_equal(i16, acc > 32767 ? 32767 : acc < -32768 ? -32768 : acc);
		break;
	}
}

/* A value whose sums stay exact: fp16 small integers, int4 nibbles, int8 all. */
static inline int value(enum rkmm_types types)
{
	switch (rkmm_in_bits(types)) {
	case 16:
		return (int)rnd(9) - 4;
	case 8:
		return (int)rnd(256) - 128;
	default:
		return (int)rnd(16) - 8;
	}
}

static struct npu_core *core;
static struct world *world;
static struct npu_env env;
static void *core_mem;

static inline struct rkmm_matmul matmul(enum rkmm_types types, uint32_t m, uint32_t k, uint32_t n)
{
	struct rkmm_matmul mm = {
		.types = types, .form = RKMM_FORM_COUNT, .m = m, .k = k, .n = n,
	};

	if (types == RKMM_T_I8I8) {
		mm.mult = 1 + (int)rnd(0x7fff);
		mm.shift = 14 + rnd(18);
		mm.offset = (int)rnd(256) - 128;
	}
	return mm;
}

static inline int setup(void **state)
{
	(void)state;
	core_mem = aligned_alloc(64, NPU_CORE_BYTES);
	env = (struct npu_env){ .read = world_read, .write = world_write };
	core = npu_core_init(core_mem, 0, &env);
	npu_core_set_laws(core, true);
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	free(core_mem);
	return 0;
}

#endif
