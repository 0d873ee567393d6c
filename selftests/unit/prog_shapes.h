/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What tests of tilings share: shapes, tilings, whether one covers all and breaks no law. */
#ifndef PROG_SHAPES_H
#define PROG_SHAPES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kmod/prog/rkmm_chain.h"
#include "prog_laws.h"

static const struct rkmm_limits *const chip = &rkmm_limits_rk3588;

static uint64_t seed = 0x9e3779b97f4a7c15ull;

static inline uint32_t rnd(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)((seed >> 16) % below);
}

static inline struct rkmm_matmul matmul(enum rkmm_types types, uint32_t m, uint32_t k, uint32_t n)
{
	return (struct rkmm_matmul){
		.types = types, .form = RKMM_FORM_COUNT, .m = m, .k = k, .n = n,
		.mult = types == RKMM_T_I8I8 ? 0x4000 : 0,
		.shift = types == RKMM_T_I8I8 ? 14 : 0,
	};
}

static inline struct rkmm_geom geometry(const struct rkmm_matmul *mm)
{
	struct rkmm_geom geom;
	enum rkmm_reason reason = rkmm_geometry(chip, mm, &geom);

	if (reason)
		print_error("%s %ux%ux%u form %d: %s\n", rkmm_types_name(mm->types), mm->m, mm->k,
			    mm->n, (int)mm->form, rkmm_reason_text(reason));
	assert_int_equal(reason, RKMM_OK);
	return geom;
}

static inline struct rkmm_geom simple(enum rkmm_types types, uint32_t m, uint32_t k, uint32_t n)
{
	struct rkmm_matmul mm = matmul(types, m, k, n);

	return geometry(&mm);
}

static inline void load(struct regs *r, const struct rkmm_geom *geom, uint32_t i, uint32_t rows,
			struct rkmm_program *prog)
{
	u64 words[RKMM_PROG_WRITES];

	rkmm_geom_program(geom, i, rows, 0x10000000, 0x20000000, 0x30000000, prog);
	regs_load(r, words, rkmm_emit_program(prog, words));
}

static inline struct rkmm_geom shipped(uint32_t m, uint32_t k, uint32_t n, uint32_t lanes)
{
	struct rkmm_limits limits = *chip;
	struct rkmm_matmul mm = matmul(RKMM_T_I4I16, m, k, n);
	struct rkmm_geom geom;

	limits.die = rkmm_die_find("shipped");
	mm.lanes = lanes;
	assert_int_equal(rkmm_geometry(&limits, &mm, &geom), RKMM_OK);
	assert_int_equal(geom.form, RKMM_FORM_BATCH);
	return geom;
}

static inline struct rkmm_extent extent_of(const struct rkmm_limits *limits,
					   const struct rkmm_geom *geom, uint32_t rows)
{
	struct rkmm_member one = rkmm_member_of(geom, rows, 0, 0, 0);
	struct rkmm_extent extent;

	rkmm_image_measure(limits, &one, 1, &extent);
	return extent;
}

static inline void emit_at(const struct rkmm_limits *limits, const struct rkmm_geom *geom,
			   uint32_t rows, uint32_t base, u64 *image, struct rkmm_kick *kicks)
{
	struct rkmm_member one = rkmm_member_of(geom, rows, 0x10000000, 0x20000000, 0x30000000);

	rkmm_image_emit(limits, &one, 1, base, image, kicks);
}

struct cover {
	const struct rkmm_geom *g;
	uint32_t rows;
	uint8_t *c_map;
	uint64_t outputs;
};

/* One program's own addresses against the layout functions, and its bounds. */
static inline void check_program(struct cover *cover, uint32_t i)
{
	const struct rkmm_geom *g = cover->g;
	uint32_t tiles = rkmm_geom_programs(g, cover->rows) / g->n_tiles / g->slices;
	uint32_t row0 = i % tiles * g->rows, col0 = i / tiles % g->n_tiles * g->cols;
	uint32_t slice = i / tiles / g->n_tiles, k0 = slice * g->kp;
	uint64_t c0 = 0x30000000ull + slice * g->c_slice;
	uint32_t ob = rkmm_out_bytes(g->types), step = g->form == RKMM_FORM_BATCH ? 4 : 1;
	struct rkmm_program p;
	static struct regs r;
	const char *law;
	uint32_t row, col, n, j;

	load(&r, g, i, cover->rows, &p);
	law = broken_law(&r, p.m);
	if (law)
		print_error("%s %ux%ux%u form %d program %u of %u: %s\n",
			    rkmm_types_name(g->mm.types), g->mm.m, g->mm.k, g->mm.n, g->form, i,
			    g->programs, law);
	assert_null(law);
	assert_int_equal(reg(&r, 0x1110), 0x20000000u + (uint32_t)rkmm_addr_b(g, k0, col0));
	assert_true(((uint64_t)k0 * g->np + ((uint64_t)col0 + p.n) * g->kp) *
		    rkmm_in_bits(g->mm.types) / 8 <= g->b_bytes);
	assert_int_equal(reg(&r, 0x1030), p.n * g->kp * rkmm_in_bits(g->mm.types) / 8);
	n = g->mm.m - row0 < p.m ? g->mm.m - row0 : p.m;
	for (j = 0; j < 24; j++) {
		row = j == 0 ? 0 : j == 1 ? p.m - 1 : rnd(p.m);
		col = j & 1 ? g->kp - 1 : rnd(g->kp);
		assert_int_equal(read_addr(&r, row * step, col),
				 0x10000000ull + rkmm_addr_a(g, row0 + row, k0 + col));
		assert_true(rkmm_addr_a(g, row0 + row, k0 + col) < g->a_bytes);
		col = j & 1 ? p.n - 1 : rnd(p.n);
		assert_true(write_addr(&r, row * step + step - 1, col) + ob - 0x30000000ull <=
			    g->c_bytes);
		if (row < n)
			assert_int_equal(write_addr(&r, row * step, col),
					 c0 + rkmm_addr_c(g, row0 + row, col0 + col));
	}
	if (cover->rows < row0 + n)
		n = cover->rows > row0 ? cover->rows - row0 : 0;
	cover->outputs += (uint64_t)n * p.n;
	if (!cover->c_map)
		return;
	for (row = 0; row < n; row++) {
		for (col = 0; col < p.n; col++) {
			uint64_t at = write_addr(&r, row * step, col) - 0x30000000ull;

			for (j = 0; j < ob; j++)
				assert_int_equal(cover->c_map[at + j]++, 0);
		}
	}
}

static inline void check_tiling(const struct rkmm_geom *g, uint32_t rows)
{
	uint32_t programs = rkmm_geom_programs(g, rows), i;
	struct cover cover = { .g = g, .rows = rows };

	assert_true(programs >= 1 && programs <= g->programs);
	assert_int_equal(rkmm_geom_programs(g, g->mm.m), g->programs);
	assert_int_equal(g->programs, g->slices * g->m_tiles * g->n_tiles);
	assert_true(g->kp % 32 == 0 && g->kp <= 10752 && g->ka == g->slices * g->kp);
	assert_true(g->ka >= g->mm.k && g->ka - g->kp < g->mm.k && g->np >= g->mm.n);
	if (programs > 3000) {
		for (i = 0; i < 200; i++)
			check_program(&cover, i < 20 ? programs - 1 - i : rnd(programs));
		return;
	}
	if (g->c_bytes <= 400000)
		cover.c_map = calloc(1, g->c_bytes);
	for (i = 0; i < programs; i++)
		check_program(&cover, i);
	assert_int_equal(cover.outputs, (uint64_t)rows * g->np * g->slices);
	free(cover.c_map);
}

static inline uint32_t size_near(uint32_t most)
{
	static const uint32_t edges[] = { 16, 32, 63, 64, 65, 128, 256, 512, 1024, 2048, 8192 };
	uint32_t v;

	switch (rnd(4)) {
	case 0:
		v = 1 + rnd(70);
		break;
	case 1:
		v = edges[rnd(11)] + rnd(3) - 1;
		break;
	case 2:
		v = 1 + rnd(600);
		break;
	default:
		v = 1 + rnd(most);
		break;
	}
	return v > most ? most : v;
}

#endif
