/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Three cores of the software NPU with one memory of tensors, and images run there as the
 * scheduler starts them.
 */
#ifndef STEP_WORLD_H
#define STEP_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kmod/rkmm_step.h"
#include "npu_start.h"

#define P_BASE	0xe0000000u
#define ROOM	(1u << 19)	/* of one tensor */
#define TENSORS	10
#define OPS	12
#define OWN	4		/* rooms of an operation: constants, weights, a vector, spare */
#define TEMP	8		/* rooms of a lane */
#define DATA	((TENSORS + OWN * OPS + TEMP * RKMM_LANES_MAX) * (uint64_t)ROOM)

#define SEED	0x9e3779b97f4a7c15ull

#include "flat_world.h"

static void *core_mem[RKMM_LANES_MAX];
static struct npu_core *cores[RKMM_LANES_MAX];

/* 1 + the table that each core has, as the driver keeps books; starts without it */
static uint32_t tables[RKMM_LANES_MAX], kept;

/* Whether the core ran int8 matmuls since its last reset; resets for an int8 task of the DPU */
static bool int8[RKMM_LANES_MAX];
static uint32_t int8_resets;

/**
 * struct graph - operations that read what others before them wrote
 * @m: rows of all tensors
 * @n: columns
 * @count: operations
 * @int8: of int8, else fp16
 * @members: with addresses, in order
 * @links: the same, for the decision
 * @geoms: of the matmuls
 * @ops: of the others
 */
static struct graph {
	uint32_t m, n, count;
	bool int8;
	struct rkmm_member members[OPS];
	struct rkmm_link links[OPS];
	struct rkmm_geom geoms[OPS];
	struct rkmm_opgeom ops[OPS];
} *graph;

static inline uint32_t tensor(uint32_t i)
{
	return D_BASE + i * ROOM;
}

static inline uint32_t own(uint32_t i, uint32_t what)
{
	return D_BASE + (TENSORS + OWN * i + what) * ROOM;
}

static inline uint32_t temp_of(uint32_t lane)
{
	return D_BASE + (TENSORS + OWN * OPS + TEMP * lane) * ROOM;
}

/* Moderate fp16 numbers everywhere, constants of each operation */
static inline void fill_data(const struct graph *g)
{
	uint64_t i;

	for (i = 0; i < DATA / 2; i++)
		((uint16_t *)data)[i] = (uint16_t)(rnd(2) << 15 | (0x2c00 + rnd(0x800)));
	for (i = 0; i < g->count; i++)
		if (g->members[i].op)
			rkmm_op_fill(g->members[i].op,
				     (u16 *)(data + (g->members[i].consts - D_BASE)));
}

/* As the scheduler starts it: without the table where the core has that */
static inline void kick_lane(uint32_t lane, const struct rkmm_kick *k)
{
	bool hang = k->int8_dpu && int8[lane];
	struct rkmm_kick start = *k;

	int8_resets += hang;
	if (hang || !rnd(9)) {
		npu_core_reset(cores[lane]);
		tables[lane] = 0;
		int8[lane] = false;
	}
	if (k->table_in && k->table_in == tables[lane]) {
		start.addr = k->kept_addr;
		start.amount = k->kept_amount;
		kept++;
	}
	npu_start_right(cores[lane], &start);
	if (k->table_out)
		tables[lane] = k->table_out;
	int8[lane] |= graph->int8 && k->matmuls;
}

#include "step_run.h"

/* The rows of @members[0] on @lanes lanes */
static inline uint32_t share(struct rkmm_member *members, uint32_t lanes)
{
	const struct rkmm_member whole = members[0];
	uint32_t each = rkmm_share_rows(whole.rows, lanes), i;

	for (i = 0; i * each < whole.rows; i++) {
		members[i] = whole;
		members[i].first = i * each;
		members[i].rows = whole.rows - i * each < each ? whole.rows - i * each : each;
		members[i].lane = i;
		members[i].temp = temp_of(i);
	}
	return i;
}

static inline int setup(void **state)
{
	uint32_t i;

	(void)state;
	data = aligned_alloc(64, DATA);
	graph = malloc(sizeof(*graph));
	for (i = 0; i < RKMM_LANES_MAX; i++) {
		core_mem[i] = aligned_alloc(64, NPU_CORE_BYTES);
		cores[i] = npu_core_init(core_mem[i], i, &env);
		npu_core_set_laws(cores[i], true);
		npu_core_set_quirks(cores[i], NPU_QUIRK_INT8_WEDGE);
	}
	return 0;
}

static inline int teardown(void **state)
{
	uint32_t i;

	(void)state;
	for (i = 0; i < RKMM_LANES_MAX; i++)
		free(core_mem[i]);
	free(data);
	free(graph);
	return 0;
}

#endif
