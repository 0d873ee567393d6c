// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs linked into chains: hw 02 §1.3, §7.1.
 */
#include "rkmm_pure.h"

#define SLOT_ALIGN	64u	/* every capture starts its tasks there (hw 04 §0.4) */

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
	u32 lanes = rkmm_geom_lanes(geom, rows);
	u32 l, kicks = 0, most = kick_tasks(limits, geom);

	for (l = 0; l < lanes; l++)
		kicks += rkmm_div_up(rkmm_geom_lane_start(limits->cost, geom, rows, l + 1) -
				     rkmm_geom_lane_start(limits->cost, geom, rows, l), most);
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

/**
 * struct chain - programs of one kick, one after the other
 * @limits: chip
 * @tasks: how many programs
 * @walk: the next one
 * @a: device address of A
 * @b: device address of B
 * @c: device address of C
 * @prog: program i at i % 4
 */
struct chain {
	const struct rkmm_limits *limits;
	struct rkmm_walk walk;
	u32 tasks, a, b, c;
	struct rkmm_program prog[4];
};

/*
 * The register writes of task @i, which must be asked for in order; its program,
 * and those of the two before, are in place after it. Task i lands in the register
 * group of task i - 2 and needs what differs from that one: the first two must be
 * full (hw 02 §7.4).
 */
static u32 chain_task(struct chain *ch, u32 i)
{
	struct rkmm_program *prog = &ch->prog[i % 4];

	rkmm_walk_program(&ch->walk, ch->a, ch->b, ch->c, prog);
	rkmm_walk_next(&ch->walk);
	/* Another job may use the core before a kick: its first task finds no weight. */
	if (!i)
		prog->weight_reuse = false;
	if (i < 2 || !ch->limits->light)
		return RKMM_PROG_WRITES;
	return rkmm_light_writes(prog, &ch->prog[(i - 2) % 4]);
}

static u32 chain_emit(const struct chain *ch, u32 i, u64 *words)
{
	const struct rkmm_program *prog = &ch->prog[i % 4];

	if (i < 2 || !ch->limits->light)
		return rkmm_emit_program(prog, words);
	return rkmm_emit_light(prog, &ch->prog[(i - 2) % 4], words);
}

/* Writes the chain at @addr; returns the address behind it. */
static u32 emit_kick(struct chain *ch, u32 addr, u64 *image)
{
	u32 writes = chain_task(ch, 0), i;

	for (i = 0; i < ch->tasks; i++) {
		bool last = i + 1 == ch->tasks;
		u32 slot = rkmm_slot_bytes(writes), next = last ? 0 : chain_task(ch, i + 1);
		u32 n = chain_emit(ch, i, image);

		image += n;
		rkmm_emit_tail(image, last ? 0 : addr + slot, next, RKMM_START_MATMUL);
		image += RKMM_TAIL_WORDS;
		for (n += RKMM_TAIL_WORDS; n * sizeof(u64) < slot; n++)
			*image++ = 0;
		addr += slot;
		writes = next;
	}
	return addr;
}

u64 rkmm_image_size(const struct rkmm_limits *limits, const struct rkmm_geom *geom, u32 rows)
{
	u32 programs = rkmm_geom_programs(geom, rows), lanes = rkmm_geom_lanes(geom, rows);
	struct chain ch = { .limits = limits };
	u32 most = kick_tasks(limits, geom), l, i, start, end;
	u64 bytes = 0;

	if (!limits->light)
		return (u64)programs * rkmm_slot_bytes(RKMM_PROG_WRITES);
	for (l = 0; l < lanes; l++) {
		end = rkmm_geom_lane_start(limits->cost, geom, rows, l + 1);
		start = rkmm_geom_lane_start(limits->cost, geom, rows, l);
		rkmm_walk_start(&ch.walk, geom, start, rows);
		for (; start < end; start += ch.tasks) {
			ch.tasks = rkmm_min(end - start, most);
			for (i = 0; i < ch.tasks; i++)
				bytes += rkmm_slot_bytes(chain_task(&ch, i));
		}
	}
	return bytes;
}

void rkmm_image_emit(const struct rkmm_limits *limits, const struct rkmm_geom *geom, u32 rows,
		     u32 base, u32 a, u32 b, u32 c, u64 *image, struct rkmm_kick *kicks)
{
	u32 lanes = rkmm_geom_lanes(geom, rows);
	struct chain ch = { .limits = limits, .a = a, .b = b, .c = c };
	u32 most = kick_tasks(limits, geom), addr = base, l, start, end;
	bool cut;

	for (l = 0; l < lanes; l++) {
		start = rkmm_geom_lane_start(limits->cost, geom, rows, l);
		end = rkmm_geom_lane_start(limits->cost, geom, rows, l + 1);
		cut = end - start > most;
		rkmm_walk_start(&ch.walk, geom, start, rows);
		for (; start < end; start += ch.tasks) {
			ch.tasks = rkmm_min(end - start, most);
			*kicks = (struct rkmm_kick){
				.addr = addr,
				.amount = rkmm_amount(RKMM_PROG_WRITES),
				.tasks = ch.tasks,
				.int_mask = RKMM_INT_DPU,
				.lane = l,
			};
			verdict(kicks++, cut);
			addr = emit_kick(&ch, addr, image + (addr - base) / sizeof(*image));
		}
	}
}
