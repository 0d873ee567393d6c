// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks linked into chains, and chains shared over lanes: hw 02 §1.3, §7.
 */
#include "rkmm_chain.h"
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

/**
 * struct stream - the tasks of all members, one after the other, cut into kicks
 * @limits: chip
 * @members: operations
 * @n: how many
 * @lanes: shares
 * @tasks: tasks in all
 * @total: their predicted time, at most 2^55: 2^25 tasks of 2^30 ns
 * @start_ns: what each start costs
 * @done: tasks before the next one
 * @passed: their time
 * @lane: share that the present task is in
 * @member: present member
 * @times: how many of it are left
 * @programs: programs of it
 * @left: how many are left of the present one
 * @a: its device address of A
 * @b: of B
 * @c: of C
 * @spans: times of its programs
 * @walk: next program of it
 * @i: place of the present task in its kick
 * @fresh: it begins a kick
 * @light: it writes only what differs
 * @cut: why it begins a kick, where it is not the first of a lane
 * @writes: its register writes
 * @kick_ns: predicted time of its kick so far
 * @ordered: tasks depend on each other, or are none of matmuls
 * @table: 1 + the table that was loaded last in this kick
 * @ring: task i at i % 4
 */
struct stream {
	const struct rkmm_limits *limits;
	const struct rkmm_member *members;
	u32 n, lanes, tasks;
	u64 total;
	u32 start_ns;
	u32 done;
	u64 passed;
	u32 lane;
	u32 member, times, programs, left;
	u32 a, b, c;
	struct rkmm_spans spans;
	struct rkmm_walk walk;
	u32 i;
	bool fresh, light;
	const char *cut;
	u32 writes;
	u64 kick_ns;
	bool ordered;
	u32 table;
	struct rkmm_task ring[4];
};

static inline struct rkmm_task *task_at(struct stream *s, u32 i)
{
	return &s->ring[i % ARRAY_SIZE(s->ring)];
}

static u32 member_tasks(const struct rkmm_member *m)
{
	return m->op ? rkmm_op_tasks(m->op, m->rows) : rkmm_geom_programs(m->geom, m->rows);
}

/* Fills what depends on the number of lanes; returns the time until all have ended. */
static u64 share_out(struct stream *s, u32 lanes)
{
	struct rkmm_spans spans;
	u32 i;

	s->lanes = lanes;
	s->tasks = 0;
	s->total = 0;
	s->start_ns = 0;
	for (i = 0; i < s->n; i++) {
		const struct rkmm_member *m = &s->members[i];

		s->tasks += member_tasks(m) * m->count;
		if (m->op) {
			s->total += m->op->predicted_ns * m->count;
			s->start_ns = rkmm_max(s->start_ns, s->limits->cost->i8_start[0]);
			continue;
		}
		rkmm_spans_of(s->limits->cost, m->geom, lanes, m->rows, &spans);
		s->total += spans.slice * m->geom->slices * m->count;
		s->start_ns = rkmm_max(s->start_ns,
				       rkmm_start_ns(s->limits->cost, m->geom, lanes));
	}
	return s->start_ns + s->total / lanes;
}

/* Cores that every member may run on at the same time: hw 03 G12, G22. */
static u32 lanes_allowed(const struct rkmm_member *members, u32 n)
{
	u32 most = RKMM_LANES_MAX, i;

	for (i = 0; i < n; i++)
		most = rkmm_min(most, rkmm_min(members[i].geom->lanes_most,
					       rkmm_max(members[i].geom->mm.lanes, 1)));
	return most;
}

static void choose_lanes(struct stream *s)
{
	const struct rkmm_member *m = s->members;
	u32 lanes, best = 1, most, i;
	u64 ns, least;

	for (i = 0; i < s->n; i++)
		s->ordered |= m[i].op || m[i].after;
	if (s->ordered) {
		share_out(s, 1);
		return;
	}

	/* The geometry was chosen for its own number of lanes. */
	if (s->n == 1 && m->count == 1) {
		share_out(s, rkmm_geom_lanes(m->geom, m->rows));
		return;
	}
	least = share_out(s, 1);
	most = rkmm_min(lanes_allowed(m, s->n), s->tasks);
	for (lanes = 2; lanes <= most; lanes++) {
		ns = share_out(s, lanes);
		if (ns < least) {
			least = ns;
			best = lanes;
		}
	}
	share_out(s, best);
}

static void stream_start(struct stream *s, const struct rkmm_limits *limits,
			 const struct rkmm_member *members, u32 n)
{
	*s = (struct stream){
		.limits = limits, .members = members, .n = n, .member = 0xffffffff,
	};
	choose_lanes(s);
}

/* The next operation; false behind the last. */
static bool next_operation(struct stream *s)
{
	const struct rkmm_member *m;

	if (s->times) {
		m = &s->members[s->member];
		s->a += m->a_stride;
		s->b += m->b_stride;
		s->c += m->c_stride;
		if (!m->op)
			rkmm_walk_restart(&s->walk);
	} else {
		if (++s->member == s->n)
			return false;
		m = &s->members[s->member];
		s->times = m->count;
		s->a = m->a;
		s->b = m->b;
		s->c = m->c;
		s->programs = member_tasks(m);
		if (!m->op) {
			rkmm_spans_of(s->limits->cost, m->geom, s->lanes, m->rows, &s->spans);
			rkmm_walk_start(&s->walk, m->geom, 0, m->rows);
		}
	}
	s->times--;
	s->left = s->programs;
	return true;
}

/*
 * Shares are runs of tasks of equal predicted time: neighbours are alike, and are
 * light or keep the weight. A task belongs where its middle lies, and no lane goes
 * without one. Returns whether the present task is the first of a lane.
 */
static bool next_lane(struct stream *s, u32 ns)
{
	bool first = !s->done;
	u32 next = s->lane + 1;

	if (next < s->lanes && s->done >= next &&
	    (s->done >= s->tasks - (s->lanes - next) ||
	     2 * s->passed + ns >= 2 * (s->total * next / s->lanes))) {
		s->lane = next;
		first = true;
	}
	s->done++;
	s->passed += ns;
	return first;
}

/*
 * Only what the weight banks hold may be kept, and only of the task just before
 * (hw 02 §6.5): the same weights, read under the same split.
 */
static bool keeps_weight(const struct rkmm_task *task, const struct rkmm_task *prev)
{
	const struct rkmm_program *p = &task->matmul, *q = &prev->matmul;

	return prev->kind == RKMM_TASK_MATMUL && p->b == q->b && p->n == q->n && p->k == q->k &&
	       p->types == q->types && p->form == q->form && p->data_banks == q->data_banks &&
	       p->weight_banks == q->weight_banks;
}

/* The next task of the present member; returns its time by the cost law */
static u32 stream_task(struct stream *s, const struct rkmm_member *m, struct rkmm_task *task)
{
	const u32 addr[RKMM_AREAS] = {
		[RKMM_AREA_A] = s->a, [RKMM_AREA_B] = s->b, [RKMM_AREA_C] = s->c,
		[RKMM_AREA_D] = m->d, [RKMM_AREA_TEMP] = m->temp,
		[RKMM_AREA_CONST] = m->consts,
	};
	bool last_cols;
	u32 ns;

	if (m->op) {
		rkmm_op_task(m->op, s->programs - s->left, m->rows, addr, task);
		task->weights = m->weights;
		task->ns = rkmm_task_work_ns(s->limits, task);
		return task->ns;
	}
	last_cols = s->walk.chunk + 1 == s->spans.n_tiles;
	ns = (u32)(s->walk.group + 1 == s->spans.tiles ? s->spans.last[last_cols] :
							 s->spans.program[last_cols]);
	rkmm_walk_program(&s->walk, s->a, s->b, s->c, &task->matmul);
	rkmm_walk_next(&s->walk);
	rkmm_task_set(task, RKMM_TASK_MATMUL);
	task->pingpong = !s->ordered;
	task->weights = m->weights;
	/*
	 * No program is faster than the dispatch, which the cores share; what it takes
	 * is known of int4 chains (hw 03 §6.2, a(n)).
	 */
	task->ns = rkmm_max(ns, s->limits->cost->i4_start[s->lanes - 1]);
	return ns;
}

/* What a kick has loaded, later lookups in it find; what was before it, nobody knows. */
static void keep_table(struct stream *s, struct rkmm_task *task)
{
	if (s->fresh)
		s->table = 0;
	if (task->kind != RKMM_TASK_DPU || !task->dpu.load)
		return;
	task->dpu.load = s->table != 1u + task->dpu.curve;
	s->table = 1u + task->dpu.curve;
}

/* Why @task, at place s->i, cannot go on with the kick */
static const char *cut_before(const struct stream *s, const struct rkmm_task *prev,
			      const struct rkmm_task *task)
{
	const char *why = rkmm_task_apart(prev, task);

	/* What the counter holds, and what another client may have to wait for. */
	if (!why && (s->i == s->limits->tasks_max || s->kick_ns + task->ns > RKMM_KICK_NS))
		why = "cut: tasks or time";
	return why;
}

/* The next task; false behind the last. It, and the two before in its kick, are in the ring. */
static bool stream_next(struct stream *s)
{
	const struct rkmm_task *prev = task_at(s, s->i);
	const struct rkmm_member *m;
	struct rkmm_task *task;
	bool first;

	if (!s->left && !next_operation(s))
		return false;
	m = &s->members[s->member];
	task = task_at(s, ++s->i);
	first = next_lane(s, stream_task(s, m, task));
	s->left--;

	s->cut = first ? NULL : cut_before(s, prev, task);
	s->fresh = first || s->cut;
	/* Another job may use the core before a kick: its first task finds no weight. */
	if (!m->op)
		task->matmul.weight_reuse = !s->fresh && m->geom->weight_reuse &&
					    keeps_weight(task, prev);
	keep_table(s, task);
	if (s->fresh) {
		s->ring[0] = *task;
		s->i = 0;
		s->kick_ns = s->start_ns;
		task = &s->ring[0];
	}
	s->kick_ns += task->ns;
	/*
	 * Two register groups: task i finds what task i - 2 left (hw 02 §7.4), unless one
	 * of them used some of the blocks only: a block changes groups when it runs
	 * (hw 04 §0.5).
	 */
	s->light = s->limits->light && s->i >= 2 &&
		   task_at(s, s->i - 1)->kind == RKMM_TASK_MATMUL &&
		   rkmm_task_light(task, task_at(s, s->i - 2));
	s->writes = rkmm_task_writes(task, s->light ? task_at(s, s->i - 2) : NULL);
	return true;
}

void rkmm_image_measure(const struct rkmm_limits *limits, const struct rkmm_member *members,
			u32 n, struct rkmm_extent *extent)
{
	struct rkmm_extent ext = {};
	u64 lane_ns = 0, before = 0;
	struct stream s;
	u32 lane = 0;

	stream_start(&s, limits, members, n);
	while (stream_next(&s)) {
		ext.bytes += rkmm_slot_bytes(s.writes);
		ext.tasks++;
		if (s.fresh) {
			ext.kicks++;
			/* @before: the kicks of the lane that have ended */
			before = s.lane == lane ? lane_ns : 0;
			lane = s.lane;
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
 * plain matmuls without memory dependence between neighbours, which is all that a
 * tiling and a group hold (hw 02 §7.2). A single task has no successor to fetch.
 */
static void count_task(struct rkmm_kick *kick, const struct stream *s,
		       const struct rkmm_task *task)
{
	kick->tasks++;
	kick->int_mask = task->int_mask;
	kick->predicted_ns = s->kick_ns;
	kick->pingpong &= task->pingpong;
	if (!kick->reason)
		kick->reason = rkmm_task_alone(task);
}

static void end_kick(struct rkmm_kick *kick, const char *cut)
{
	if (kick->tasks == 1)
		kick->pingpong = false;
	if (cut)
		kick->reason = cut;
	else if (!kick->reason && !kick->pingpong)
		kick->reason = kick->tasks == 1 ? "single task" : "tasks depend on each other";
}

void rkmm_image_emit(const struct rkmm_limits *limits, const struct rkmm_member *members, u32 n,
		     u32 base, u64 *image, struct rkmm_kick *kicks)
{
	u32 addr = base, slot, words, enable;
	struct rkmm_kick *kick = kicks - 1;
	const struct rkmm_task *task;
	struct stream s;
	bool more, last;

	stream_start(&s, limits, members, n);
	more = stream_next(&s);
	while (more) {
		task = task_at(&s, s.i);
		if (s.fresh)
			*++kick = (struct rkmm_kick){
				.addr = addr, .amount = rkmm_amount(s.writes),
				.pingpong = true, .lane = s.lane, .reason = s.cut,
			};
		count_task(kick, &s, task);
		enable = task->enable;
		slot = rkmm_slot_bytes(s.writes);
		words = rkmm_task_emit(task, s.light ? task_at(&s, s.i - 2) : NULL, image);
		image += words;

		more = stream_next(&s);
		last = !more || s.fresh;
		addr += slot;
		rkmm_emit_tail(image, last ? 0 : addr, last ? 0 : s.writes, enable);
		image += RKMM_TAIL_WORDS;
		for (words += RKMM_TAIL_WORDS; words * sizeof(u64) < slot; words++)
			*image++ = 0;
		if (last)
			end_kick(kick, more ? s.cut : NULL);
	}
}
