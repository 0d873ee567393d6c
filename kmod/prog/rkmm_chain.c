// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks in order, shared over lanes and cut into kicks: hw 02 §7.
 */
#include "rkmm_stream.h"

static u32 member_tasks(const struct rkmm_member *m)
{
	return m->op ? rkmm_op_tasks(m->op, m->rows) : rkmm_geom_programs(m->geom, m->rows);
}

u64 rkmm_member_work(const struct rkmm_limits *limits, const struct rkmm_member *m, u32 cores,
		     u32 *start_ns)
{
	const struct rkmm_cost *cost = limits->cost;
	struct rkmm_spans spans;

	if (start_ns)
		*start_ns = m->op ? cost->i8_start[0] : rkmm_start_ns(cost, m->geom, cores);
	if (m->op)
		return m->op->predicted_ns * m->rows / m->op->op.m * m->count;
	rkmm_spans_of(cost, m->geom, cores, m->rows, &spans);
	return spans.slice * m->geom->slices * m->count;
}

u64 rkmm_share_ns(const struct rkmm_limits *limits, const struct rkmm_member *m, u64 behind,
		  u32 rows, u32 cores)
{
	const struct rkmm_cost *cost = limits->cost;
	struct rkmm_member share = *m;
	u64 whole = behind, ns = 0;
	u32 all = m->op ? m->op->op.m : m->geom->mm.m;

	share.rows = rows;
	if (m->op) {
		whole += m->op->predicted_ns;
		/* no law says what the starts of such tasks on several cores cost */
		ns = cost->i8_start[cores - 1] - cost->i8_start[0];
	} else {
		ns = rkmm_member_work(limits, &share, cores, NULL);
	}
	return ns + whole * rows / all;
}

/* Fills what depends on the number of lanes; returns the time until all have ended. */
static u64 share_out(struct rkmm_stream *s, u32 lanes)
{
	u32 i, start_ns;

	s->lanes = lanes;
	s->tasks = 0;
	s->total = 0;
	s->start_ns = 0;
	for (i = 0; i < s->n; i++) {
		const struct rkmm_member *m = &s->members[i];

		s->tasks += member_tasks(m) * m->count;
		s->total += rkmm_member_work(s->limits, m, lanes, &start_ns);
		s->start_ns = rkmm_max(s->start_ns, start_ns);
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

static void choose_lanes(struct rkmm_stream *s)
{
	const struct rkmm_member *m = s->members;
	u32 lanes, best = 1, most, i;
	u64 ns, least;

	for (i = 0; i < s->n; i++)
		s->placed |= m[i].op || m[i].after || m[i].lane;
	if (s->placed) {
		share_out(s, m[s->n - 1].lane + 1);
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

void rkmm_stream_start(struct rkmm_stream *s, const struct rkmm_limits *limits,
		       const struct rkmm_member *members, u32 n)
{
	*s = (struct rkmm_stream){
		.limits = limits, .members = members, .n = n, .member = 0xffffffff,
	};
	choose_lanes(s);
	s->edge = 2 * (s->total / s->lanes);
}

/* A matmul begins. */
static void start_matmul(struct rkmm_stream *s, const struct rkmm_member *m)
{
	struct rkmm_spans spans;
	u32 i;

	rkmm_spans_of(s->limits->cost, m->geom, s->lanes, m->rows, &spans);
	for (i = 0; i < ARRAY_SIZE(s->law); i++)
		s->law[i] = (u32)(i & 1 ? spans.last[i >> 1] : spans.program[i >> 1]);
	s->kind += ARRAY_SIZE(s->law);
	rkmm_walk_start(&s->walk, m->geom, 0, m->rows);
}

/* The next operation; false behind the last. */
static bool next_operation(struct rkmm_stream *s)
{
	const struct rkmm_member *m;

	if (s->times) {
		m = &s->members[s->member];
		s->a += m->a_stride;
		s->b += m->b_stride;
		s->c += m->c_stride;
		if (s->programs > 1 && !m->op)
			rkmm_walk_restart(&s->walk);
	} else {
		if (++s->member == s->n)
			return false;
		m = &s->members[s->member];
		s->times = m->count;
		s->a = m->a;
		s->b = m->b;
		s->c = m->c;
		if (!m->op) {
			s->a += m->first * RKMM_ATOM;
			s->c += m->first * RKMM_ATOM;
		}
		s->programs = member_tasks(m);
		if (!m->op)
			start_matmul(s, m);
	}
	s->times--;
	s->left = s->programs;
	return true;
}

/*
 * Shares are runs of tasks of equal predicted time: neighbours are alike, and are
 * light or keep the weight. A task belongs where its middle lies, and no lane goes
 * without one. Members that are placed belong where they say. Returns whether the
 * present task is the first of a lane.
 */
static bool next_lane(struct rkmm_stream *s, u32 ns)
{
	bool first = !s->done;
	u32 next = s->lane + 1;

	if (s->placed) {
		next = s->members[s->member].lane;
		first |= next != s->lane;
		s->lane = next;
	} else if (next < s->lanes && s->done >= next &&
		   (s->done >= s->tasks - (s->lanes - next) ||
		    2 * s->passed + ns >= s->edge)) {
		s->lane = next;
		s->edge = 2 * (s->total * (next + 1) / s->lanes);
		first = true;
	}
	s->done++;
	s->passed += ns;
	return first;
}

/* Whether both are programs of one member that differ in addresses and kept weights only */
static inline bool alike(const struct rkmm_task *task, const struct rkmm_task *other)
{
	return task->like && task->like == other->like;
}

/* Programs of one member, in one operation or in several */
static inline bool akin(const struct rkmm_task *task, const struct rkmm_task *other)
{
	return task->like && task->like / 4 == other->like / 4;
}

/*
 * Only what the weight banks hold may be kept, and only of the task just before
 * (hw 02 §6.5): the same weights, read under the same split.
 */
static bool keeps_weight(const struct rkmm_task *task, const struct rkmm_task *prev)
{
	const struct rkmm_program *p = &task->matmul, *q = &prev->matmul;

	if (alike(task, prev))
		return p->b == q->b;
	return prev->kind == RKMM_TASK_MATMUL && p->b == q->b && p->n == q->n && p->k == q->k &&
	       p->types == q->types && p->form == q->form && p->data_banks == q->data_banks &&
	       p->weight_banks == q->weight_banks;
}

/*
 * Buffer of the weights of an operation's task, by enum rkmm_area. All constants lie in
 * one, where no buffer begins. Of D only the address is known, which differs where its
 * buffer does.
 */
static u32 op_weights(const struct rkmm_member *m, u32 area)
{
	switch (area) {
	case RKMM_AREA_CONST:
		return 0xffffffff;
	case RKMM_AREA_D:
		return m->d;
	default:
		return m->weights;
	}
}

/* Where the feature of a convolution is read; only features are remembered by address. */
static void view_feature(const struct rkmm_view *views, struct rkmm_task *task)
{
	u32 i, *addr = task->kind == RKMM_TASK_MATMUL ? &task->matmul.a : &task->mover.src;

	if (task->kind != RKMM_TASK_MATMUL && task->kind != RKMM_TASK_MOVER)
		return;
	for (i = 0; i < RKMM_VIEWS; i++) {
		if (*addr - views[i].start < views[i].bytes) {
			*addr += views[i].at - views[i].start;
			return;
		}
	}
}

/* The next task of an operation that is no matmul; returns its time */
static u32 stream_step(struct rkmm_stream *s, const struct rkmm_member *m, struct rkmm_task *task)
{
	const u32 addr[RKMM_AREAS] = {
		[RKMM_AREA_A] = s->a, [RKMM_AREA_B] = s->b, [RKMM_AREA_C] = s->c,
		[RKMM_AREA_D] = m->d, [RKMM_AREA_TEMP] = m->temp,
		[RKMM_AREA_CONST] = m->consts,
	};

	rkmm_op_task_from(m->op, s->programs - s->left, m->first, m->rows, addr, task);
	if (m->views)
		view_feature(m->views, task);
	task->like = 0;
	task->weights = op_weights(m, task->weights);
	task->ns = rkmm_task_work_ns(s->limits, task);
	return task->ns;
}

/* What the stages need besides the program's own addresses; no two of these are alike. */
static void stream_fused(const struct rkmm_member *m, struct rkmm_task *task)
{
	task->like = 0;
	task->matmul.table += m->d;
	task->matmul.load = task->matmul.fused->ew == RKMM_EW_LUT;
	task->enable = rkmm_program_enable(&task->matmul);
	task->pingpong &= !rkmm_task_alone(task);
}

/*
 * The next program of a matmul; returns its time by the cost law. The place in the ring
 * held the task four before: where that is of the same member, little is new, and
 * copying what was just written by pieces would wait for it.
 */
static u32 stream_program(struct rkmm_stream *s, const struct rkmm_member *m,
			  struct rkmm_task *task)
{
	const struct rkmm_program *now = &s->walk.now;
	u32 less = (now->m < m->geom->rows ? 1 : 0) + (now->n < m->geom->cols ? 2 : 0);

	if (task->like / ARRAY_SIZE(s->law) == s->kind / ARRAY_SIZE(s->law)) {
		task->matmul.m = now->m;
		task->matmul.n = now->n;
		task->matmul.grains = now->grains;
		task->matmul.c_pitch = now->c_pitch;
		task->matmul.a = now->a + s->a;
		task->matmul.b = now->b + s->b;
		task->matmul.c = now->c + s->c;
	} else {
		rkmm_walk_program(&s->walk, s->a, s->b, s->c, &task->matmul);
		rkmm_task_set(task, RKMM_TASK_MATMUL);
		task->pingpong = !m->after;
		task->weights = m->weights;
	}
	task->like = s->kind + less;
	/*
	 * No program is faster than the dispatch, which the cores share; what it takes
	 * is known of int4 chains (hw 03 §6.2, a(n)).
	 */
	task->ns = rkmm_max(s->law[less], s->limits->cost->i4_start[s->lanes - 1]);
	if (task->matmul.fused)
		stream_fused(m, task);
	/* behind the last one it would begin again anyway */
	if (s->left > 1)
		rkmm_walk_next(&s->walk);
	return s->law[less];
}

/* What a kick has loaded, later lookups in it find; what was before it, nobody knows. */
static void keep_table(struct rkmm_stream *s, struct rkmm_task *task)
{
	enum rkmm_curve curve;
	bool *load;

	if (task->kind == RKMM_TASK_DPU && task->dpu.load) {
		curve = task->dpu.curve;
		load = &task->dpu.load;
	} else if (task->kind == RKMM_TASK_MATMUL && task->matmul.load) {
		curve = task->matmul.fused->curve;
		load = &task->matmul.load;
	} else {
		return;
	}
	s->lookup = !s->table;
	*load = s->table != 1u + curve;
	s->table = 1u + curve;
}

/* Tasks of a kick, less a trailer that may be behind them */
static u32 kick_room(const struct rkmm_stream *s)
{
	return s->limits->tasks_max - (s->limits->land ? 1 : 0);
}

/* Why @task, at place s->i, cannot go on with the kick */
static const char *cut_before(const struct rkmm_stream *s, const struct rkmm_task *prev,
			      const struct rkmm_task *task)
{
	const char *why = akin(task, prev) ? NULL : rkmm_task_apart(prev, task);

	if (why)
		return why;
	/* What the counter holds */
	if (s->i == kick_room(s))
		return "cut: tasks or time";
	/* Right in one chain, it hangs in two (hw 03 O14). */
	if (s->int8 && rkmm_task_int8_dpu(task))
		return NULL;
	/* What another client may have to wait for */
	return s->kick_ns + task->ns > RKMM_KICK_NS ? "cut: tasks or time" : NULL;
}

/*
 * Two register groups: task i finds what task i - 2 left (hw 02 §7.4), unless one
 * of them used some of the blocks only: a block changes groups when it runs
 * (hw 04 §0.5).
 */
static bool stream_light(struct rkmm_stream *s, const struct rkmm_task *task)
{
	const struct rkmm_task *past = rkmm_task_at(s, 2);

	return s->limits->light && s->i >= 2 &&
	       (akin(task, past) || (rkmm_task_at(s, 1)->kind == RKMM_TASK_MATMUL &&
				     rkmm_task_light(task, past)));
}

bool rkmm_stream_next(struct rkmm_stream *s)
{
	const struct rkmm_task *prev = rkmm_task_at(s, 0), *past;
	const struct rkmm_member *m;
	struct rkmm_task *task;
	bool first;
	u32 ns;

	if (!s->left && !next_operation(s))
		return false;
	m = &s->members[s->member];
	s->at++;
	s->i++;
	task = rkmm_task_at(s, 0);
	ns = m->op ? stream_step(s, m, task) : stream_program(s, m, task);
	first = next_lane(s, ns);
	s->left--;

	s->cut = first ? NULL : cut_before(s, prev, task);
	s->fresh = first || s->cut;
	/* Another job may use the core before a kick: its first task finds no weight. */
	if (!m->op)
		task->matmul.weight_reuse = !s->fresh && m->geom->weight_reuse &&
					    keeps_weight(task, prev);
	if (s->fresh) {
		s->table = 0;
		s->int8 = false;
		s->i = 0;
		s->kick_ns = s->start_ns;
	}
	if (!m->op)
		s->int8 |= rkmm_type_facts[m->geom->types].in == RKMM_PREC_I8;
	s->lookup = false;
	if (m->op || m->geom->fused)
		keep_table(s, task);
	s->kick_ns += task->ns;
	s->light = stream_light(s, task);
	past = s->light ? rkmm_task_at(s, 2) : NULL;
	s->plain = past && alike(task, past) &&
		   task->matmul.weight_reuse == past->matmul.weight_reuse;
	if (s->plain)
		s->writes = RKMM_LIGHT_WRITES;
	else
		s->writes = task->like && !past ? RKMM_PROG_WRITES : rkmm_task_writes(task, past);
	return true;
}

/* How many of @n tasks like the present one, @ns by the law, follow in this kick of this lane */
static u32 run_fits(struct rkmm_stream *s, u32 n, u32 ns)
{
	u64 each = rkmm_task_at(s, 0)->ns, before = 2 * s->passed + ns;
	u32 next = s->lane + 1;

	n = rkmm_min(n, kick_room(s) - 1 - s->i);
	if (s->kick_ns + each > RKMM_KICK_NS)
		return 0;
	if (s->kick_ns + n * each > RKMM_KICK_NS)
		n = (RKMM_KICK_NS - (u32)s->kick_ns) / (u32)each;
	if (s->placed || next >= s->lanes)
		return n;
	if (s->done >= s->tasks - (s->lanes - next) || before >= s->edge)
		return 0;
	n = rkmm_min(n, s->tasks - (s->lanes - next) - s->done);
	if (before + 2ull * n * ns > s->edge)
		n = (u32)rkmm_min64(n, (s->edge - before - 1) / (2 * ns) + 1);
	return n;
}

void rkmm_stream_run(struct rkmm_stream *s, struct rkmm_run *run)
{
	const struct rkmm_task *task = rkmm_task_at(s, 0), *prev = rkmm_task_at(s, 1);
	const struct rkmm_member *m;

	run->n = 0;
	if (!task->like || (s->limits->light && (!s->i || !alike(task, prev))))
		return;
	m = &s->members[s->member];
	if (s->programs == 1) {
		run->n = s->times;
		run->a = m->a_stride;
		run->b = m->b_stride;
		run->c = m->c_stride;
	} else {
		/* behind the last program the walk does not move on */
		run->n = rkmm_min(rkmm_walk_steps(&s->walk), s->left);
		run->a = s->walk.a_step;
		run->b = s->walk.b_step;
		run->c = s->walk.c_step;
	}
	run->kept = m->geom->weight_reuse && !run->b;
	if (s->limits->light && (task->matmul.weight_reuse != run->kept ||
				 prev->matmul.weight_reuse != run->kept))
		run->n = 0;
	if (run->n)
		run->n = run_fits(s, run->n, s->law[task->like % ARRAY_SIZE(s->law)]);
	run->writes = s->limits->light ? RKMM_LIGHT_WRITES : RKMM_PROG_WRITES;
}

void rkmm_stream_skip(struct rkmm_stream *s, const struct rkmm_run *run)
{
	struct rkmm_task *task = rkmm_task_at(s, 0);

	s->i += run->n;
	s->done += run->n;
	s->passed += (u64)run->n * s->law[task->like % ARRAY_SIZE(s->law)];
	s->kick_ns += (u64)run->n * task->ns;
	s->writes = run->writes;
	s->fresh = false;
	/* the one before was like it, or programs are full */
	task->matmul.a += run->n * run->a;
	task->matmul.b += run->n * run->b;
	task->matmul.c += run->n * run->c;
	task->matmul.weight_reuse = run->kept;
	if (s->programs > 1) {
		s->left -= run->n;
		rkmm_walk_skip(&s->walk, run->n);
		return;
	}
	s->times -= run->n;
	s->a += run->n * run->a;
	s->b += run->n * run->b;
	s->c += run->n * run->c;
}

