// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Whole chains on the software NPU against plain loops: random shapes, random
 * data, every type pair and form. Operands are placed by the sheets' formulas,
 * written out here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kmod/prog/rkmm_prog.h"
#include "kmod/soft/model/npu_model.h"

#define A_BASE	0x10000000u
#define B_BASE	0x20000000u
#define C_BASE	0x60000000u
#define P_BASE	0xf0000000u
#define GUARD	4096u		/* what the driver maps behind a buffer: hw 02 §3.4 */
#define CANARY	0xa5

static uint64_t seed = 0x2545f4914f6cdd1dull;

static uint32_t rnd(uint32_t below)
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

static int world_read(void *ctx, u32 addr, void *dst, u32 len, u32 *fault)
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

static int world_write(void *ctx, u32 addr, const void *src, u32 len, u32 *fault)
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

static void region(struct world *w, int i, uint32_t base, uint64_t size, bool guard, int fill)
{
	w->region[i] = (struct region){
		.base = base, .size = size, .guard = guard ? GUARD : 0,
		.data = malloc(size + GUARD),
	};
	assert_non_null(w->region[i].data);
	memset(w->region[i].data, fill, size + GUARD);
}

/* hw 01 §2.1; true when every task ended without a broken law */
static bool kick(struct npu_core *core, const struct rkmm_kick *k, struct npu_report *report)
{
	npu_core_write(core, 0x10, 1);
	npu_core_write(core, 0x1004, 0xe);
	npu_core_write(core, 0x3004, 0xe);
	npu_core_write(core, 0x10, k->addr);
	npu_core_write(core, 0x14, k->amount);
	npu_core_write(core, 0x20, k->int_mask);
	npu_core_write(core, 0x24, 0x1ffff);
	npu_core_write(core, 0x30, (k->pingpong ? 0x7000u : 0x6000u) | k->tasks);
	npu_core_write(core, 0x34, 0);
	if (!npu_core_write(core, 0x08, 1))
		return false;
	npu_core_run(core, NULL, NULL, report);
	npu_core_write(core, 0x08, 0);
	if (report->cls != NPU_OK)
		print_error("task %u: %s: %s\n", report->task, npu_class_name(report->cls),
			    report->law ? report->law : "");
	return report->cls == NPU_OK && report->tasks_done == k->tasks &&
	       npu_core_read(core, 0x2c) & k->int_mask;
}

/* fp16 of a small integer, exact up to 2048 */
static uint16_t half(int v)
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
static uint16_t half_of_float(float f)
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

static void put_nibble(uint8_t *p, bool high, int v)
{
	*p = high ? (uint8_t)((*p & 0x0f) | (v & 15) << 4) : (uint8_t)((*p & 0xf0) | (v & 15));
}

static void store(const struct rkmm_geom *g, uint8_t *base, uint64_t at, uint32_t k, int v)
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
static uint32_t all_rows(const struct rkmm_geom *g)
{
	uint32_t step = g->kp == 1024 ? 16 : g->kp == 2048 && g->tile_cols > 64 ? 32 : 1;

	return (g->mm.m + step - 1) / step * step;
}

/* hw 02 §3.4, §6.2; K slices of int4 batches one behind the other: hw 02 §4 */
static uint64_t place_a(const struct rkmm_geom *g, uint32_t row, uint32_t k)
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
static uint64_t place_b(const struct rkmm_geom *g, uint32_t k, uint32_t n)
{
	uint32_t group = rkmm_group(g->mm.types);
	uint64_t slice = (uint64_t)(k / g->kp) * g->kp * ((g->mm.n + group - 1) / group * group);
	uint64_t tile = (uint64_t)(n / group) * (g->kp / 32) + k % g->kp / 32;

	return (slice + tile * group * 32 + n % group * 32 + k % 32) *
	       rkmm_in_bits(g->mm.types) / 8;
}

/* hw 02 §3.5, §6.2, §6.6 */
static uint64_t place_c(const struct rkmm_geom *g, uint32_t row, uint32_t n)
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
static int8_t requant(const struct rkmm_matmul *mm, int32_t acc)
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

static void check_cell(const struct rkmm_geom *g, const uint8_t *c, uint32_t slice, uint32_t row,
		       uint32_t n, int32_t acc)
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
static int value(enum rkmm_types types)
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

static void fill(const struct rkmm_geom *g, int8_t *a, int8_t *b)
{
	const struct rkmm_matmul *mm = &g->mm;
	uint32_t i, j;

	/* Pitched A: what lies between the rows must not matter. */
	region(world, 0, A_BASE, g->a_bytes, true, mm->a_pitch ? 0x5c : 0);
	memset(world->region[0].data + g->a_bytes, 0, GUARD);
	region(world, 1, B_BASE, g->b_bytes, true, 0);
	region(world, 2, C_BASE, g->c_bytes, false, CANARY);
	region(world, 3, P_BASE, rkmm_image_bytes(g), false, 0xff);
	for (i = 0; i < mm->m; i++) {
		for (j = 0; j < mm->k; j++) {
			a[(size_t)i * mm->k + j] = (int8_t)value(mm->types);
			store(g, world->region[0].data, place_a(g, i, j), j,
			      a[(size_t)i * mm->k + j]);
		}
	}
	for (i = 0; i < mm->k; i++) {
		for (j = 0; j < mm->n; j++) {
			b[(size_t)j * mm->k + i] = (int8_t)value(mm->types);
			store(g, world->region[1].data, place_b(g, i, j), i,
			      b[(size_t)j * mm->k + i]);
		}
	}
}

/* Between the rows of a pitched C nothing may be written. */
static void check_gaps(const struct rkmm_geom *g)
{
	uint64_t at, line = (uint64_t)g->np * rkmm_out_bytes(g->types);

	if (g->form != RKMM_FORM_FLAT || !g->mm.c_pitch)
		return;
	for (at = 0; at < g->c_bytes; at++)
		if (at % g->c_slice % g->mm.c_pitch >= line)
			assert_int_equal(world->region[2].data[at], CANARY);
}

static void multiply_as(const struct rkmm_limits *limits, const struct rkmm_matmul *mm,
			uint32_t rows, bool fall_back)
{
	int8_t *a = malloc((size_t)mm->m * mm->k), *b = malloc((size_t)mm->k * mm->n);
	struct npu_report report;
	struct rkmm_kick *kicks;
	struct rkmm_geom g;
	uint32_t i, j, k, n;
	struct world w;

	world = &w;
	env.ctx = &w;
	assert_int_equal(rkmm_geometry(&rkmm_limits_rk3588, mm, &g), RKMM_OK);
	if (fall_back) {
		struct rkmm_geom wide = g;

		assert_true(rkmm_geom_fallback(&rkmm_limits_rk3588, &wide, &g));
		assert_int_equal(g.rows, 8);
		assert_int_equal(g.cols, 64);
		assert_int_equal(g.data_banks, 1);
	}
	fill(&g, a, b);
	n = rkmm_image_kicks(limits, &g, rows);
	kicks = calloc(n, sizeof(*kicks));
	rkmm_image_emit(limits, &g, rows, P_BASE, A_BASE, B_BASE, C_BASE,
			(u64 *)w.region[3].data, kicks);
	for (i = 0; i < n; i++) {
		bool ok = kick(core, &kicks[i], &report);

		if (!ok)
			print_error("%s %ux%ux%u form %d rows %u kick %u: fault 0x%x\n",
				    rkmm_types_name(mm->types), mm->m, mm->k, mm->n, g.form, rows,
				    i, report.fault_addr);
		assert_true(ok);
	}
	for (i = 0; i < rows; i++) {
		for (j = 0; j < mm->n; j++) {
			int32_t acc = 0;

			for (k = 0; k < mm->k; k++) {
				acc += a[(size_t)i * mm->k + k] * b[(size_t)j * mm->k + k];
				if ((k + 1) % g.kp && k + 1 < mm->k)
					continue;
				check_cell(&g, w.region[2].data, k / g.kp, i, j, acc);
				acc = 0;
			}
		}
	}
	check_gaps(&g);
	for (i = 0; i < 4; i++)
		free(w.region[i].data);
	free(kicks);
	free(a);
	free(b);
}

static void multiply(const struct rkmm_limits *limits, const struct rkmm_matmul *mm, uint32_t rows)
{
	multiply_as(limits, mm, rows, false);
}

static struct rkmm_matmul matmul(enum rkmm_types types, uint32_t m, uint32_t k, uint32_t n)
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

static void check(enum rkmm_types types, uint32_t m, uint32_t k, uint32_t n)
{
	struct rkmm_matmul mm = matmul(types, m, k, n);

	multiply(&rkmm_limits_rk3588, &mm, m);
}

static int setup(void **state)
{
	(void)state;
	core_mem = aligned_alloc(64, NPU_CORE_BYTES);
	env = (struct npu_env){ .read = world_read, .write = world_write };
	core = npu_core_init(core_mem, 0, &env);
	npu_core_set_laws(core, true);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(core_mem);
	return 0;
}

static void test_edges(void **state)
{
	static const uint32_t sizes[] = { 1, 15, 16, 17, 31, 32, 33, 63, 64, 65 };
	uint32_t t, i, j;

	(void)state;
	for (t = 0; t < RKMM_T_COUNT; t++)
		for (i = 0; i < 10; i++)
			for (j = 0; j < 10; j++)
				check(t, 1 + rnd(9), sizes[i], sizes[j]);
}

static void test_random(void **state)
{
	uint32_t i;

	(void)state;
	for (i = 0; i < 400; i++) {
		struct rkmm_matmul mm = matmul(rnd(RKMM_T_COUNT), 1 + rnd(90), 1 + rnd(700),
					       1 + rnd(300));

		if (rnd(3) == 0)
			mm.form = RKMM_FORM_CUBE;
		multiply(&rkmm_limits_rk3588, &mm, rnd(2) ? mm.m : 1 + rnd(mm.m));
	}
}

/* Several M tiles, at and around what the banks hold */
static void test_m_tiles(void **state)
{
	uint32_t t;

	(void)state;
	for (t = 0; t < RKMM_T_COUNT; t++) {
		check(t, 705, 256, 17);
		check(t, 130, 2048, 40);
		check(t, 1025, 33, 16);
		check(t, 9, 10752, 5);
	}
	check(RKMM_T_I8I32, 682, 512, 96);
	check(RKMM_T_I8I32, 683, 512, 96);
	check(RKMM_T_F16F32, 704, 256, 96);
	check(RKMM_T_F16F16, 300, 128, 96);
}

/* Several column tiles, the last of them narrow, into one pitched C */
static void test_n_tiles(void **state)
{
	uint32_t t;

	(void)state;
	for (t = 0; t < RKMM_T_COUNT; t++) {
		check(t, 1, 64, 8192);
		check(t, 3, 64, 8193);
		check(t, 2, 32, 25600);
	}
	check(RKMM_T_F16F32, 2, 32, 33000);
}

/* int4: chunks, groups with a remainder, K without a batch form, K = 1024 */
static void test_int4(void **state)
{
	(void)state;
	check(RKMM_T_I4I16, 20, 2048, 200);
	check(RKMM_T_I4I16, 9, 1024, 300);
	check(RKMM_T_I4I16, 17, 1024, 64);
	check(RKMM_T_I4I16, 70, 512, 600);
	check(RKMM_T_I4I16, 100, 96, 130);
	check(RKMM_T_I4I16, 5, 8192, 130);
	check(RKMM_T_I4I16, 5, 9000, 130);
	check(RKMM_T_I4I16, 1, 10752, 640);
	check(RKMM_T_I4I16, 1, 77, 64);
}

/* The wide geometry, and the shipped one on the same operands; K sliced to reach it */
static void test_wide_int4(void **state)
{
	static const uint32_t sizes[][2] = { { 128, 500 }, { 70, 384 }, { 64, 700 }, { 120, 250 } };
	struct rkmm_geom g;
	uint32_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		struct rkmm_matmul mm = matmul(RKMM_T_I4I16, sizes[i][0], 2048, sizes[i][1]);

		mm.lanes = 1 + i % 3;
		assert_int_equal(rkmm_geometry(&rkmm_limits_rk3588, &mm, &g), RKMM_OK);
		assert_int_equal(g.rows, 32);
		assert_int_equal(g.data_banks, 4);
		multiply(&rkmm_limits_rk3588, &mm, mm.m);
		multiply_as(&rkmm_limits_rk3588, &mm, mm.m, true);
		multiply_as(&rkmm_limits_rk3588, &mm, 1 + rnd(mm.m), i & 1);
		if (i)
			continue;
		mm.k = 4096;
		mm.n = 193;
		mm.free_slice = true;
		assert_int_equal(rkmm_geometry(&rkmm_limits_rk3588, &mm, &g), RKMM_OK);
		assert_int_equal(g.kp, 2048);
		assert_true(g.slices > 1 && g.may_saturate);
		multiply(&rkmm_limits_rk3588, &mm, mm.m);
	}
}

static void test_pitches(void **state)
{
	uint32_t t;

	(void)state;
	for (t = 0; t < RKMM_T_I4I16; t++) {
		struct rkmm_matmul mm = matmul(t, 37, 512, 50);

		mm.a_pitch = 512 * 2 + 48;
		mm.c_pitch = 64 * 4 + 80;
		multiply(&rkmm_limits_rk3588, &mm, 37);
		mm.m = 1;
		multiply(&rkmm_limits_rk3588, &mm, 1);
	}
}

/* Chains cut into kicks: weight must not be reused across them */
static void test_cut_chains(void **state)
{
	struct rkmm_limits limits = rkmm_limits_rk3588;
	struct rkmm_matmul mm = matmul(RKMM_T_I4I16, 50, 512, 400);
	uint32_t cut;

	(void)state;
	for (cut = 1; cut < 6; cut++) {
		limits.tasks_max = cut;
		multiply(&limits, &mm, 50);
		npu_core_reset(core);
		multiply(&limits, &mm, 33);
	}
	mm = matmul(RKMM_T_I8I32, 900, 512, 33);
	limits.tasks_max = 1;
	multiply(&limits, &mm, 900);
}

/* K beyond one program, and slices that packed weights ask for */
static void test_slices(void **state)
{
	uint32_t t, i;

	(void)state;
	for (t = 0; t < RKMM_T_COUNT; t++) {
		check(t, 3, 10753, 33);
		check(t, 1, 21505, 5);
		check(t, 20, 12000, 70);
		for (i = 0; i < 12; i++) {
			struct rkmm_matmul mm = matmul(t, 1 + rnd(40), 200 + rnd(3000),
						       1 + rnd(150));

			mm.slice = 32 * (1 + rnd(mm.k / 32));
			mm.lanes = 1 + rnd(3);
			if (t == RKMM_T_I8I8 && mm.k < 512)
				mm.k += 512;
			if (rnd(3) == 0)
				mm.form = RKMM_FORM_CUBE;
			multiply(&rkmm_limits_rk3588, &mm, 1 + rnd(mm.m));
		}
	}
	for (t = 0; t < RKMM_T_I4I16; t++) {
		struct rkmm_matmul mm = matmul(t, 5, 1536, 50);

		mm.slice = 768;
		mm.a_pitch = 1536 * 2 + 48;
		if (t == RKMM_T_I8I8)
			mm.c_pitch = 64 * 4 + 80;
		multiply(&rkmm_limits_rk3588, &mm, 5);
	}
}

/* int4 sums beyond int16 are clamped */
static void test_saturation(void **state)
{
	struct rkmm_matmul mm = matmul(RKMM_T_I4I16, 2, 6144, 64);
	struct rkmm_geom g;
	struct npu_report report;
	struct rkmm_kick kick_one;
	uint32_t j;
	struct world w;

	(void)state;
	world = &w;
	env.ctx = &w;
	assert_int_equal(rkmm_geometry(&rkmm_limits_rk3588, &mm, &g), RKMM_OK);
	region(&w, 0, A_BASE, g.a_bytes, true, 0);
	region(&w, 1, B_BASE, g.b_bytes, true, 0x88);	/* -8 everywhere */
	region(&w, 2, C_BASE, g.c_bytes, false, CANARY);
	region(&w, 3, P_BASE, rkmm_image_bytes(&g), false, 0);
	for (j = 0; j < 6144; j++) {
		store(&g, w.region[0].data, place_a(&g, 0, j), j, -8);
		store(&g, w.region[0].data, place_a(&g, 1, j), j, 7);
	}
	rkmm_image_emit(&rkmm_limits_rk3588, &g, 2, P_BASE, A_BASE, B_BASE, C_BASE,
			(u64 *)w.region[3].data, &kick_one);
	assert_true(kick(core, &kick_one, &report));
	for (j = 0; j < 64; j++) {
		check_cell(&g, w.region[2].data, 0, 0, j, 6144 * 64);
		check_cell(&g, w.region[2].data, 0, 1, j, -6144 * 56);
	}
	for (j = 0; j < 4; j++)
		free(w.region[j].data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_m_tiles),
		cmocka_unit_test(test_n_tiles),
		cmocka_unit_test(test_int4),
		cmocka_unit_test(test_wide_int4),
		cmocka_unit_test(test_pitches),
		cmocka_unit_test(test_cut_chains),
		cmocka_unit_test(test_slices),
		cmocka_unit_test(test_saturation),
	};

	return cmocka_run_group_tests_name("prog on the model", tests, setup, teardown);
}
