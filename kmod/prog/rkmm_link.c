// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks written down and linked into chains: hw 02 §1.3, §7.
 */
#include "rkmm_land.h"
#include "rkmm_stream.h"

#define SLOT_ALIGN	64u	/* every capture starts its tasks there (hw 04 §0.4) */

u32 rkmm_slot_bytes(u32 writes)
{
	return ((writes + RKMM_TAIL_WORDS) * (u32)sizeof(u64) + SLOT_ALIGN - 1) / SLOT_ALIGN *
	       SLOT_ALIGN;
}

/*
 * The programs of a kick up to its first lookup, once more without the table: for a core
 * that has it. Not where they are longer than the table is.
 */
#define KEPT_BYTES	(RKMM_LUT_WRITES * (u32)sizeof(u64))

u64 rkmm_image_bytes(const struct rkmm_geom *geom)
{
	struct rkmm_program one = { .fused = geom->fused };

	/* at most a table for each, as if each began a chain */
	one.load = one.fused && one.fused->ew == RKMM_EW_LUT;
	return (u64)geom->programs * (rkmm_slot_bytes(rkmm_program_writes(&one)) +
				      (one.load ? KEPT_BYTES : 0));
}

/* Bytes that the present task, the first lookup of its kick, adds to the image; 0 for none */
static u32 kept_bytes(const struct rkmm_stream *s, u64 before)
{
	u64 bytes = before + rkmm_slot_bytes(s->writes - RKMM_LUT_WRITES);

	return bytes > KEPT_BYTES ? 0 : (u32)bytes;
}

void rkmm_image_measure(const struct rkmm_limits *limits, const struct rkmm_member *members,
			u32 n, struct rkmm_extent *extent)
{
	struct rkmm_extent ext = { .bytes = limits->land ? rkmm_land_bytes() : 0 };
	u64 lane_ns = 0, before = 0, kick_bytes = 0;
	struct rkmm_stream s;
	struct rkmm_run run;
	u32 lane = 0;

	rkmm_stream_start(&s, limits, members, n);
	while (rkmm_stream_next(&s)) {
		ext.bytes += rkmm_slot_bytes(s.writes);
		ext.tasks++;
		if (s.fresh) {
			kick_bytes = 0;
			ext.kicks++;
			/* @before: the kicks of the lane that have ended */
			before = s.lane == lane ? lane_ns : 0;
			lane = s.lane;
		}
		if (s.lookup)
			ext.bytes += kept_bytes(&s, kick_bytes);
		kick_bytes += rkmm_slot_bytes(s.writes);
		rkmm_stream_run(&s, &run);
		if (run.n) {
			rkmm_stream_skip(&s, &run);
			ext.bytes += (u64)run.n * rkmm_slot_bytes(run.writes);
			kick_bytes += (u64)run.n * rkmm_slot_bytes(run.writes);
			ext.tasks += run.n;
		}
		lane_ns = before + s.kick_ns;
		if (lane_ns > ext.predicted_ns)
			ext.predicted_ns = lane_ns;
	}
	ext.lanes = s.lanes;
	*extent = ext;
}

/*
 * Ping-pong: the next task's registers are fetched while one runs. Right for
 * plain matmuls without memory dependence between neighbours (hw 02 §7.2): for
 * kicks of members that are not @after. A single task has no successor to fetch.
 */
static void count_tasks(struct rkmm_kick *kick, const struct rkmm_stream *s,
			const struct rkmm_task *task, u32 n)
{
	kick->tasks += n;
	kick->int_mask = task->int_mask;
	kick->predicted_ns = s->kick_ns;
	kick->pingpong &= task->pingpong;
	kick->matmuls |= task->kind == RKMM_TASK_MATMUL;
	if (!kick->reason)
		kick->reason = rkmm_task_alone(task);
}

/* @trailer: behind the last task, or none */
static void end_kick(struct rkmm_kick *kick, const char *cut, enum rkmm_trailer trailer, u32 ns)
{
	bool single = kick->tasks == 1;

	if (single)
		kick->pingpong = false;
	if (trailer < RKMM_TRAILERS) {
		kick->tasks++;
		kick->int_mask = RKMM_INT_DPU;
		kick->predicted_ns += ns;
	}
	if (cut)
		kick->reason = cut;
	else if (!kick->reason && !kick->pingpong)
		kick->reason = single ? "single task" : "tasks depend on each other";
}

#define FULL_PATTERNS	2u
#define LIGHT_PATTERNS	4u

/**
 * struct full_pattern - a full program to be written again with other addresses
 * @key: what it is, 0 for none
 * @words: its entries
 */
struct full_pattern {
	u64 key;
	u64 words[RKMM_PROG_WRITES];
};

/* struct light_pattern - the same of a light program that has nothing but addresses */
struct light_pattern {
	u64 key;
	u64 words[RKMM_LIGHT_WRITES];
};

/**
 * struct sink - where programs go
 * @image: next entry
 * @addr: device address of the present program
 * @words: entries of it so far
 * @enable: its start bits
 * @base: device address of the image
 * @land_ns: time of the trailers, 0 for none
 * @full: patterns, where all programs are full
 * @light: patterns, where most are light
 */
struct sink {
	u64 *image;
	u32 addr, words, enable;
	u32 base, land_ns;
	union {
		struct full_pattern full[FULL_PATTERNS];
		struct light_pattern light[LIGHT_PATTERNS];
	};
};

static void sink_start(struct sink *sink, const struct rkmm_limits *limits, u64 *image, u32 base)
{
	u32 i;

	sink->image = image;
	sink->addr = base;
	sink->base = base;
	sink->land_ns = 0;
	if (limits->land) {
		sink->land_ns = rkmm_land_emit(limits, image);
		sink->image += rkmm_land_bytes() / sizeof(*image);
		sink->addr += rkmm_land_bytes();
	}
	for (i = 0; limits->light && i < LIGHT_PATTERNS; i++)
		sink->light[i].key = 0;
	for (i = 0; !limits->light && i < FULL_PATTERNS; i++)
		sink->full[i].key = 0;
}

/* What full programs like @p, of tasks like @like, write */
static u64 *full_pattern_of(struct sink *sink, u32 like, const struct rkmm_program *p)
{
	struct full_pattern *pattern = &sink->full[(like | p->weight_reuse) % FULL_PATTERNS];
	u64 key = 2ull * like | p->weight_reuse;

	if (pattern->key != key) {
		pattern->key = key;
		rkmm_emit_program(p, pattern->words);
	}
	return pattern->words;
}

/* What light programs like @p, of tasks like @like, write */
static const u64 *light_pattern_of(struct sink *sink, u32 like, const struct rkmm_program *p)
{
	u64 key = 2ull * like | p->weight_reuse;
	struct light_pattern *pattern = &sink->light[key % LIGHT_PATTERNS];

	if (pattern->key != key) {
		pattern->key = key;
		rkmm_emit_light(p, p, pattern->words);
	}
	return pattern->words;
}

/* A full program, copied: writing single entries takes longer than most of what they hold. */
static u32 sink_again(u64 *pattern, const struct rkmm_program *p, u64 *image)
{
	rkmm_emit_addresses(p, NULL, RKMM_ADDR_A | RKMM_ADDR_B | RKMM_ADDR_C, pattern);
	memcpy(image, pattern, RKMM_PROG_WRITES * sizeof(*image));
	return RKMM_PROG_WRITES;
}

/*
 * The end of the present program, and the gap behind it; the next one has @writes, or 0,
 * and lies at @next, or behind it.
 */
static void sink_link(struct sink *sink, u32 writes, u32 next)
{
	u32 slot = rkmm_slot_bytes(sink->words), at;

	sink->addr += slot;
	if (!next)
		next = sink->addr;
	rkmm_emit_tail(sink->image, writes ? next : 0, writes, sink->enable);
	sink->image += RKMM_TAIL_WORDS;
	for (at = sink->words + RKMM_TAIL_WORDS; at * sizeof(u64) < slot; at++)
		*sink->image++ = 0;
}

static void sink_tail(struct sink *sink, u32 writes)
{
	sink_link(sink, writes, 0);
}

/* The end of a kick whose last task is the present program */
static void sink_end(struct sink *sink, struct rkmm_kick *kick, const char *cut,
		     const struct rkmm_task *task)
{
	enum rkmm_trailer trailer = sink->land_ns ? rkmm_land_trailer(task) : RKMM_TRAILERS;

	kick->settles = trailer == RKMM_TRAILERS && rkmm_land_narrow(task);
	if (trailer < RKMM_TRAILERS)
		sink_link(sink, RKMM_PROG_WRITES, rkmm_land_addr(sink->base, trailer));
	else
		sink_tail(sink, 0);
	end_kick(kick, cut, trailer, sink->land_ns);
}

static void sink_task(struct sink *sink, struct rkmm_stream *s)
{
	const struct rkmm_task *past = s->light ? rkmm_task_at(s, 2) : NULL;
	const struct rkmm_task *task = rkmm_task_at(s, 0);
	const struct rkmm_program *p = &task->matmul;

	if (s->plain)
		sink->words = rkmm_emit_again(light_pattern_of(sink, task->like, p), p,
					      sink->image);
	else if (task->like && !s->limits->light)
		sink->words = sink_again(full_pattern_of(sink, task->like, p), p, sink->image);
	else
		sink->words = rkmm_task_emit(task, past, sink->image);
	sink->enable = task->enable;
	sink->image += sink->words;
}

/* Programs of @run behind the present one; the last one becomes it. */
static void sink_run(struct sink *sink, const struct rkmm_task *task, const struct rkmm_run *run)
{
	u32 slot = rkmm_slot_bytes(run->writes), addr, i;
	bool light = run->writes == RKMM_LIGHT_WRITES;
	struct rkmm_program p = task->matmul;
	const u64 *pattern = NULL;
	u64 *full = NULL, *image;

	p.weight_reuse = run->kept;
	if (light)
		pattern = light_pattern_of(sink, task->like, &p);
	else
		full = full_pattern_of(sink, task->like, &p);
	sink_tail(sink, run->writes);
	addr = sink->addr;
	image = sink->image;
	for (i = 0;; i++) {
		p.a += run->a;
		p.b += run->b;
		p.c += run->c;
		image += light ? rkmm_emit_again(pattern, &p, image) :
				 sink_again(full, &p, image);
		if (i + 1 == run->n)
			break;
		addr += slot;
		rkmm_emit_tail(image, addr, run->writes, RKMM_START_MATMUL);
		image += RKMM_TAIL_WORDS;
	}
	sink->addr = addr;
	sink->image = image;
	sink->words = run->writes;
}

/* A lookup without its table */
static void sink_lookup(struct sink *sink, const struct rkmm_task *task)
{
	struct rkmm_task bare = *task;

	if (bare.kind == RKMM_TASK_MATMUL)
		bare.matmul.load = false;
	else
		bare.dpu.load = false;
	sink->words = rkmm_task_emit(&bare, NULL, sink->image);
	sink->enable = bare.enable;
	sink->image += sink->words;
}

/* Register writes of the present task where its kick starts without the table */
static u32 kept_writes(const struct rkmm_stream *s)
{
	return s->writes - (s->lookup ? RKMM_LUT_WRITES : 0);
}

/* First programs of the kicks that have a table_in; all the others begin at @base. */
static noinline void emit_kept(const struct rkmm_limits *limits,
			       const struct rkmm_member *members, u32 n, u32 base,
			       struct sink *sink, struct rkmm_kick *kicks, u32 nkept)
{
	struct rkmm_kick *kick = kicks - 1;
	const struct rkmm_task *task;
	struct rkmm_stream s;
	struct rkmm_run run;
	bool more, live = false, ends;

	rkmm_stream_start(&s, limits, members, n);
	more = rkmm_stream_next(&s);
	while (more && (nkept || live)) {
		task = rkmm_task_at(&s, 0);
		if (s.fresh) {
			kick++;
			live = kick->table_in;
			nkept -= live;
			if (live) {
				kick->kept_addr = sink->addr;
				kick->kept_amount = rkmm_amount(kept_writes(&s));
			}
		}
		ends = s.lookup;
		base += rkmm_slot_bytes(s.writes);
		if (live && ends)
			sink_lookup(sink, task);
		else if (live)
			sink_task(sink, &s);
		rkmm_stream_run(&s, &run);
		if (run.n) {
			base += run.n * rkmm_slot_bytes(run.writes);
			if (live && !ends)
				sink_run(sink, task, &run);
			rkmm_stream_skip(&s, &run);
		}
		more = rkmm_stream_next(&s);
		if (live && ends)
			sink_link(sink, more && !s.fresh ? s.writes : 0, base);
		else if (live)
			sink_tail(sink, kept_writes(&s));
		live &= !ends;
	}
}

/* All programs of an image; returns how many kicks have a table_in. By itself for its stack. */
static noinline u32 emit_all(const struct rkmm_limits *limits, const struct rkmm_member *members,
			     u32 n, struct sink *sink, struct rkmm_kick *kicks)
{
	struct rkmm_kick *kick = kicks - 1;
	const struct rkmm_task *task;
	struct rkmm_stream s;
	struct rkmm_run run;
	u32 nkept = 0;
	bool more;

	rkmm_stream_start(&s, limits, members, n);
	more = rkmm_stream_next(&s);
	while (more) {
		task = rkmm_task_at(&s, 0);
		if (s.fresh)
			*++kick = (struct rkmm_kick){
				.addr = sink->addr, .amount = rkmm_amount(s.writes),
				.pingpong = true, .lane = s.lane, .reason = s.cut,
				.int8_dpu = rkmm_task_int8_dpu(task),
			};
		if (s.lookup && kept_bytes(&s, sink->addr - kick->addr)) {
			kick->table_in = s.table;
			nkept++;
		}
		kick->table_out = s.table;
		sink_task(sink, &s);
		rkmm_stream_run(&s, &run);
		if (run.n) {
			sink_run(sink, task, &run);
			rkmm_stream_skip(&s, &run);
		}
		count_tasks(kick, &s, task, 1 + run.n);

		more = rkmm_stream_next(&s);
		if (more && !s.fresh)
			sink_tail(sink, s.writes);
		else
			sink_end(sink, kick, more ? s.cut : NULL, task);
	}
	return nkept;
}

void rkmm_image_emit(const struct rkmm_limits *limits, const struct rkmm_member *members, u32 n,
		     u32 base, u64 *image, struct rkmm_kick *kicks)
{
	struct sink sink;
	u32 nkept, programs;

	sink_start(&sink, limits, image, base);
	programs = sink.addr;
	nkept = emit_all(limits, members, n, &sink, kicks);
	emit_kept(limits, members, n, programs, &sink, kicks, nkept);
}

u32 rkmm_image_patch(const struct rkmm_limits *limits, const struct rkmm_member *members, u32 n,
		     u32 which, u64 *image)
{
	const struct rkmm_program *past;
	struct rkmm_program p;
	struct rkmm_stream s;
	struct rkmm_run run;
	u32 written = 0, i;

	if (limits->land)
		image += rkmm_land_bytes() / sizeof(*image);
	rkmm_stream_start(&s, limits, members, n);
	while (rkmm_stream_next(&s)) {
		past = s.light ? &rkmm_task_at(&s, 2)->matmul : NULL;
		p = rkmm_task_at(&s, 0)->matmul;
		written += rkmm_emit_addresses(&p, past, which, image);
		image += rkmm_slot_bytes(s.writes) / sizeof(*image);
		rkmm_stream_run(&s, &run);
		for (i = 0; i < run.n; i++) {
			p.a += run.a;
			p.b += run.b;
			p.c += run.c;
			/* light ones differ from themselves as little as from those two before */
			past = run.writes == RKMM_LIGHT_WRITES ? &p : NULL;
			written += rkmm_emit_addresses(&p, past, which, image);
			image += rkmm_slot_bytes(run.writes) / sizeof(*image);
		}
		if (run.n)
			rkmm_stream_skip(&s, &run);
	}
	return written;
}
