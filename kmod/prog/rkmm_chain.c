// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs linked into chains: hw 02 §1.3, §7.1.
 */
#include "rkmm_pure.h"

#define SLOT_ALIGN	64u	/* every capture starts its tasks there (hw 04 §0.4) */

u32 rkmm_amount(u32 writes)
{
	/* The hardware fetches 2 * (amount + 1) entries, the tail among them. */
	return writes / 2 + writes % 2 + 1;
}

u32 rkmm_slot_bytes(u32 writes)
{
	return ((writes + RKMM_TAIL_WORDS) * (u32)sizeof(u64) + SLOT_ALIGN - 1) / SLOT_ALIGN *
	       SLOT_ALIGN;
}

u64 rkmm_image_bytes(const struct rkmm_geom *geom)
{
	return (u64)geom->programs * rkmm_slot_bytes(RKMM_PROG_WRITES);
}

u32 rkmm_geom_lanes(const struct rkmm_geom *geom, u32 rows)
{
	return rkmm_max(rkmm_min(geom->lanes, rkmm_geom_programs(geom, rows)), 1);
}

/* Lane l has the programs [lane_start(l), lane_start(l + 1)): equal shares, hw 02 §7.3. */
static u32 lane_start(u32 programs, u32 lanes, u32 l)
{
	return programs * l / lanes;
}

/*
 * Tasks of a kick: what the counter holds, and about RKMM_KICK_NS, after which
 * another client may have the core. A program is never cut.
 */
static u32 kick_tasks(const struct rkmm_limits *limits, const struct rkmm_geom *geom)
{
	u64 tasks = (u64)RKMM_KICK_NS * geom->programs / geom->lanes /
		    (geom->predicted_ns ? geom->predicted_ns : 1);

	return tasks < 1 ? 1 : tasks < limits->tasks_max ? (u32)tasks : limits->tasks_max;
}

u32 rkmm_image_kicks(const struct rkmm_limits *limits, const struct rkmm_geom *geom, u32 rows)
{
	u32 programs = rkmm_geom_programs(geom, rows), lanes = rkmm_geom_lanes(geom, rows);
	u32 l, kicks = 0, most = kick_tasks(limits, geom);

	for (l = 0; l < lanes; l++)
		kicks += rkmm_div_up(lane_start(programs, lanes, l + 1) -
				     lane_start(programs, lanes, l), most);
	return kicks;
}

/*
 * Ping-pong: the next task's registers are fetched while one runs. Right for
 * plain matmuls without memory dependence between neighbours, which is all a
 * tiling holds (hw 02 §7.2); its programs share one weight buffer, as fp16
 * needs. A single task has no successor to fetch.
 */
static void verdict(struct rkmm_kick *kick, bool cut)
{
	kick->pingpong = kick->tasks > 1;
	kick->reason = !kick->pingpong ? "single task" : cut ? "cut: tasks or time" : NULL;
}

/* One chain: programs [first, first + kick->tasks). Returns where the next one goes. */
static u64 *emit_kick(const struct rkmm_geom *geom, u32 rows, u32 first, u32 a, u32 b, u32 c,
		      u64 *image, const struct rkmm_kick *kick)
{
	u32 slot = rkmm_slot_bytes(RKMM_PROG_WRITES);
	struct rkmm_program prog;
	u32 i, writes;

	for (i = 0; i < kick->tasks; i++) {
		bool last = i + 1 == kick->tasks;

		rkmm_geom_program(geom, first + i, rows, a, b, c, &prog);
		/* Another job may use the core before a kick: its first task finds no weight. */
		if (!i)
			prog.weight_reuse = false;
		writes = rkmm_emit_program(&prog, image);
		image += writes;
		rkmm_emit_tail(image, last ? 0 : kick->addr + (i + 1) * slot,
			       last ? 0 : RKMM_PROG_WRITES, RKMM_START_MATMUL);
		image += RKMM_TAIL_WORDS;
		for (writes += RKMM_TAIL_WORDS; writes * sizeof(u64) < slot; writes++)
			*image++ = 0;
	}
	return image;
}

void rkmm_image_emit(const struct rkmm_limits *limits, const struct rkmm_geom *geom, u32 rows,
		     u32 base, u32 a, u32 b, u32 c, u64 *image, struct rkmm_kick *kicks)
{
	u32 programs = rkmm_geom_programs(geom, rows), lanes = rkmm_geom_lanes(geom, rows);
	u32 slot = rkmm_slot_bytes(RKMM_PROG_WRITES);
	u32 most = kick_tasks(limits, geom);
	u32 l, i, start, end;

	for (l = 0; l < lanes; l++) {
		start = lane_start(programs, lanes, l);
		end = lane_start(programs, lanes, l + 1);
		for (i = start; i < end; i += most) {
			*kicks = (struct rkmm_kick){
				.addr = base + i * slot,
				.amount = rkmm_amount(RKMM_PROG_WRITES),
				.tasks = rkmm_min(end - i, most),
				.int_mask = RKMM_INT_DPU,
				.lane = l,
			};
			verdict(kicks, end - start > most);
			image = emit_kick(geom, rows, i, a, b, c, image, kicks++);
		}
	}
}
