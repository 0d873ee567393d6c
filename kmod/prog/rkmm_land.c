// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs behind a chain's last one, so that its output has landed: hw 03 O13.
 */
#include "rkmm_land.h"
#include "rkmm_pure.h"

/* Where a trailer's operands lie: A and B are less than that each, C is a page of its own. */
#define LAND_A	0u
#define LAND_B	2048u
#define LAND_C	4096u

bool rkmm_land_narrow(const struct rkmm_task *task)
{
	switch (task->kind) {
	case RKMM_TASK_MATMUL:
		return rkmm_out_bytes(task->matmul.types) < 4;
	case RKMM_TASK_DPU:
		return task->dpu.out != RKMM_PREC_F32 && task->dpu.out != RKMM_PREC_I32;
	default:
		return true;
	}
}

enum rkmm_trailer rkmm_land_trailer(const struct rkmm_task *task)
{
	if (task->kind != RKMM_TASK_MATMUL || task->matmul.fused || !rkmm_land_narrow(task))
		return RKMM_TRAILERS;
	switch (rkmm_in_bits(task->matmul.types)) {
	case 4:
		return RKMM_TRAILER_I4;
	case 8:
		return RKMM_TRAILER_I8;
	default:
		return RKMM_TRAILERS;
	}
}

/*
 * The smallest of each precision: two rows of an int4 batch, which is what most int4 chains
 * consist of, with a K that was right before anything was known of batches (hw 03 G15); one
 * row of int8 with int32 output, which is not late itself.
 */
static void land_program(const struct rkmm_limits *limits, enum rkmm_trailer trailer,
			 struct rkmm_program *p)
{
	struct rkmm_matmul mm = {
		.types = RKMM_T_I8I32, .form = RKMM_FORM_FLAT, .m = 1, .k = 64, .n = 32,
	};
	struct rkmm_geom geom;

	if (trailer == RKMM_TRAILER_I4) {
		mm.types = RKMM_T_I4I16;
		mm.form = RKMM_FORM_BATCH;
		mm.m = 2;
		mm.n = 64;
	}
	/* Cannot fail, every chip's limits are far away; and there is no other way to cut it. */
	rkmm_geom_candidate(limits, &mm, 0, &geom);
	rkmm_geom_program(&geom, 0, mm.m, limits->land + LAND_A, limits->land + LAND_B,
			  limits->land + LAND_C, p);
}

u32 rkmm_land_bytes(void)
{
	return RKMM_TRAILERS * rkmm_slot_bytes(RKMM_PROG_WRITES);
}

u32 rkmm_land_addr(u32 base, enum rkmm_trailer trailer)
{
	return base + trailer * rkmm_slot_bytes(RKMM_PROG_WRITES);
}

u32 rkmm_land_emit(const struct rkmm_limits *limits, u64 *words)
{
	u32 slot = rkmm_slot_bytes(RKMM_PROG_WRITES) / (u32)sizeof(u64), i, n;
	struct rkmm_program p;

	for (i = 0; i < RKMM_TRAILERS; i++) {
		land_program(limits, i, &p);
		n = rkmm_emit_program(&p, words);
		rkmm_emit_tail(words + n, 0, 0, RKMM_START_MATMUL);
		for (n += RKMM_TAIL_WORDS; n < slot; n++)
			words[n] = 0;
		words += slot;
	}
	return limits->cost->i4_start[0];
}
