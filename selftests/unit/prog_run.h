/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* One product on the software NPU, against plain loops, by a tiling and by its fallback. */
#ifndef PROG_RUN_H
#define PROG_RUN_H

#include "prog_world.h"

static inline void fill(const struct rkmm_geom *g, int8_t *a, int8_t *b)
{
	const struct rkmm_matmul *mm = &g->mm;
	uint32_t i, j;

	/* Pitched A: what lies between the rows must not matter. */
	region(world, 0, A_BASE, g->a_bytes, true, mm->a_pitch ? 0x5c : 0);
	memset(world->region[0].data + g->a_bytes, 0, GUARD);
	region(world, 1, B_BASE, g->b_bytes, true, 0);
	region(world, 2, C_BASE, g->c_bytes, false, CANARY);
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
static inline void check_gaps(const struct rkmm_geom *g)
{
	uint64_t at, line = (uint64_t)g->np * rkmm_out_bytes(g->types);

	if (g->form != RKMM_FORM_FLAT || !g->mm.c_pitch)
		return;
	for (at = 0; at < g->c_bytes; at++)
		if (at % g->c_slice % g->mm.c_pitch >= line)
			assert_int_equal(world->region[2].data[at], CANARY);
}

/* The programs of @g for @rows rows, with the operands that are in place */
static inline void execute(const struct rkmm_limits *limits, const struct rkmm_geom *g,
			   uint32_t rows)
{
	struct rkmm_member one = rkmm_member_of(g, rows, A_BASE, B_BASE, C_BASE);
	struct rkmm_extent extent;
	struct npu_report report;
	struct rkmm_kick *kicks;
	uint32_t i;

	rkmm_image_measure(limits, &one, 1, &extent);
	kicks = calloc(extent.kicks, sizeof(*kicks));
	region(world, 3, P_BASE, extent.bytes, false, 0xff);
	rkmm_image_emit(limits, &one, 1, P_BASE, (u64 *)world->region[3].data, kicks);
	for (i = 0; i < extent.kicks; i++) {
		bool ok = kick(core, &kicks[i], &report);

		if (!ok)
			print_error("%s %ux%ux%u form %d rows %u kick %u: fault 0x%x\n",
				    rkmm_types_name(g->mm.types), g->mm.m, g->mm.k, g->mm.n,
				    g->form, rows, i, report.fault_addr);
		assert_true(ok);
	}
	free(kicks);
	free(world->region[3].data);
}

static inline void check_product(const struct rkmm_geom *g, const int8_t *a, const int8_t *b,
				 uint32_t rows)
{
	const struct rkmm_matmul *mm = &g->mm;
	uint32_t i, j, k;

	for (i = 0; i < rows; i++) {
		for (j = 0; j < mm->n; j++) {
			int32_t acc = 0;

			for (k = 0; k < mm->k; k++) {
				acc += a[(size_t)i * mm->k + k] * b[(size_t)j * mm->k + k];
				if ((k + 1) % g->kp && k + 1 < mm->k)
					continue;
				check_cell(g, world->region[2].data, k / g->kp, i, j, acc);
				acc = 0;
			}
		}
	}
	check_gaps(g);
}

static inline bool multiply_as(const struct rkmm_limits *limits, const struct rkmm_matmul *mm,
			       uint32_t rows, bool fall_back)
{
	int8_t *a = malloc((size_t)mm->m * mm->k), *b = malloc((size_t)mm->k * mm->n);
	struct rkmm_geom g, other;
	bool falls;
	struct world w;
	int i;

	world = &w;
	env.ctx = &w;
	assert_int_equal(rkmm_geometry(&rkmm_limits_rk3588, mm, &g), RKMM_OK);
	fill(&g, a, b);
	execute(limits, &g, rows);
	check_product(&g, a, b, rows);
	falls = fall_back && rkmm_geom_fallback(limits, &g, &other);
	if (falls) {
		uint8_t *first = malloc(g.c_bytes);

		assert_int_equal(other.data_banks, 1);
		assert_int_equal(other.weight_banks, 11);
		assert_true(other.rows <= g.rows && other.programs > 0);
		memcpy(first, w.region[2].data, g.c_bytes);
		memset(w.region[2].data, CANARY, g.c_bytes);
		execute(limits, &other, rows);
		/* the layouts are those of the choice */
		check_product(&g, a, b, rows);
		/* every byte, but for the batch, whose spare lines hold anything */
		if (g.form != RKMM_FORM_BATCH)
			assert_memory_equal(first, w.region[2].data, g.c_bytes);
		free(first);
	}
	for (i = 0; i < 3; i++)
		free(w.region[i].data);
	free(a);
	free(b);
	return falls;
}

static inline void multiply(const struct rkmm_limits *limits, const struct rkmm_matmul *mm,
			    uint32_t rows)
{
	multiply_as(limits, mm, rows, false);
}

#endif
