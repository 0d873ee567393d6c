// SPDX-License-Identifier: MIT
/*
 * The plan of this driver: its own tilings, images and lanes, timed program by program
 * by the software NPU's law.
 */
#include <stdlib.h>

#include "kmod/prog/rkmm_chain.h"
#include "plan.h"
#include "tools/common/common.h"

/* Operands are as far apart as any is long. */
#define PLACE	0x1000u

/* What runs as one: operations of a submission with the same types and window */
struct group {
	const struct op **ops;
	struct rkmm_geom *geoms;
	struct rkmm_member *members;
	u32 n;
};

static enum npu_kind kind_of(const struct rkmm_program *p)
{
	switch (rkmm_in_bits(p->types)) {
	case 8:
		return NPU_KIND_I8;
	case 16:
		return NPU_KIND_F16;
	default:
		return p->form != RKMM_FORM_BATCH && p->m == 1 ? NPU_KIND_I4_ROW : NPU_KIND_I4;
	}
}

static void tile(const struct stack *stack, const struct op *op, struct rkmm_geom *geom)
{
	struct rkmm_matmul mm = {
		.types = op->types, .form = RKMM_FORM_COUNT, .m = op->m, .k = op->k, .n = op->n,
		.lanes = RKMM_LANES_MAX, .free_slice = true,
	};
	enum rkmm_reason reason;

	if (op->types == RKMM_T_I8I8) {
		mm.mult = 1;
		mm.shift = 8;
	}
	/* one row is no batch */
	if (op->types == RKMM_T_I4I16 && op->m > 1)
		mm.form = stack->form;
	reason = rkmm_geometry(stack->limits, &mm, geom);
	if (reason)
		die(1, "%s: %s", op->name, rkmm_reason_text(reason));
}

/* The next program of the members, one after the other */
struct cursor {
	u32 member, program;
};

static void next_program(const struct group *g, struct cursor *at, struct rkmm_program *p)
{
	const struct rkmm_geom *geom;

	while (at->program == rkmm_geom_programs(&g->geoms[at->member], g->ops[at->member]->m)) {
		at->member++;
		at->program = 0;
	}
	geom = &g->geoms[at->member];
	rkmm_geom_program(geom, at->program++, g->ops[at->member]->m, 0, 0, 0, p);
}

/* The programs of one start, for any number of cores at work */
static void time_part(const struct stack *stack, const struct group *g, struct cursor *at,
		      u32 tasks, struct part *part)
{
	u32 begun = 0, i, n;

	part->programs = tasks;
	for (i = 0; i < tasks; i++) {
		struct rkmm_program p;
		struct npu_work w;

		next_program(g, at, &p);
		w = call_work(kind_of(&p), p.m, p.n, p.k);
		for (n = 0; n < NPU_TIME_CORES; n++) {
			u64 task = npu_time_task(stack->law, &w, n + 1), start = 0;

			if (!(begun & 1u << w.kind))
				start = npu_time_start(stack->law, w.kind, n + 1);
			part->ns[n] += start + task;
			part->dispatch_ns[n] += start;
			if (w.kind == NPU_KIND_I4)
				part->dispatch_ns[n] += stack->law->i4_task[n];
		}
		begun |= 1u << w.kind;
	}
}

static void run_image(const struct stack *stack, const struct group *g, struct work *work)
{
	struct rkmm_extent extent;
	struct rkmm_kick *kicks;
	struct cursor at = { 0, 0 };
	u64 *image, total = 0;
	u32 i;

	for (i = 0; i < g->n; i++)
		total += rkmm_image_bytes(&g->geoms[i]);
	if (total >> 32)
		die(1, "%s: the programs of a submission are too large", work->name);
	rkmm_image_measure(stack->limits, g->members, g->n, &extent);
	image = aligned_alloc(64, (extent.bytes + 63) / 64 * 64);
	if (!image)
		die(2, "out of memory");
	kicks = allocate(extent.kicks, sizeof(*kicks));
	rkmm_image_emit(stack->limits, g->members, g->n, PLACE, image, kicks);
	work->parts = calloc(extent.kicks, sizeof(*work->parts));
	if (!work->parts)
		die(2, "out of memory");
	work->lanes = extent.lanes;
	for (i = 0; i < extent.kicks; i++) {
		time_part(stack, g, &at, kicks[i].tasks, &work->parts[i]);
		work->lane[kicks[i].lane + 1] = i + 1;
	}
	free(kicks);
	free(image);
}

static u32 window_of(const struct trace *trace, u32 client, const struct op *op)
{
	u64 at = op->at + (op->bytes ? op->bytes - 1 : 0);
	u32 i;

	/* Clients share a window until it is full: weights lie one behind the other. */
	for (i = 0; i < client; i++)
		at += trace->clients[i].bytes;
	return (u32)(at / REPLAY_WINDOW_BYTES);
}

/* Programs of the lane that has most: what is synthesised before all cores are at work */
static u32 busiest(const struct work *work)
{
	u32 most = 0, sum, l, i;

	for (l = 0; l < work->lanes; l++) {
		for (sum = 0, i = work->lane[l]; i < work->lane[l + 1]; i++)
			sum += work->parts[i].programs;
		if (sum > most)
			most = sum;
	}
	return most;
}

static void host_terms(const struct host_law *host, const struct group *g,
		       const struct work *work, struct step *step)
{
	u32 i;

	for (i = 0; i < g->n; i++) {
		u64 outputs = (u64)g->ops[i]->m * g->ops[i]->n, add = 0, copy;

		if (g->geoms[i].slices > 1)
			add = outputs * g->geoms[i].slices * host->add_ps / 1000;
		copy = rkmm_in_bits(g->ops[i]->types) == 4 ? outputs * host->out_ps :
		       outputs * rkmm_out_bytes(g->ops[i]->types) * host->byte_ps;
		step->after_ns += copy / 1000 + add;
		step->add_ns += add;
	}
	step->before_ns += (u64)busiest(work) * host->prog_ps / 1000;
}

/* Operations @from to @to of a client as one work, those that @taken does not have yet */
static void group_run(const struct trace *trace, const struct stack *stack, struct plan *plan,
		      u32 client, u32 from, u32 to, bool *taken)
{
	const struct op *ops = trace->clients[client].ops, *first = &ops[from];
	u32 window = window_of(trace, client, first), i;
	struct group g = {
		.ops = allocate(to - from, sizeof(*g.ops)),
		.geoms = allocate(to - from, sizeof(*g.geoms)),
		.members = allocate(to - from, sizeof(*g.members)),
	};
	struct work *work;

	for (i = from; i < to; i++) {
		if (taken[i] || ops[i].types != first->types ||
		    window_of(trace, client, &ops[i]) != window)
			continue;
		taken[i] = true;
		tile(stack, &ops[i], &g.geoms[g.n]);
		g.members[g.n] = rkmm_member_of(&g.geoms[g.n], ops[i].m, PLACE, PLACE, PLACE);
		g.members[g.n].weights = i + 1;
		g.ops[g.n++] = &ops[i];
	}
	work = plan_work(plan, first, client, window);
	work->ops = g.n;
	run_image(stack, &g, work);
	host_terms(stack->host, &g, work, &plan->steps[work->step]);
	free(g.ops);
	free(g.geoms);
	free(g.members);
}

/* Each A is packed once; those of a submission lie side by side. */
static u64 pack_ns(const struct host_law *host, const struct op *ops, u32 from, u32 to)
{
	u64 ns = 0;
	u32 i, j;

	for (i = from; i < to; i++) {
		for (j = from; j < i && (!ops[i].activation ||
					 ops[j].activation != ops[i].activation ||
					 ops[j].types != ops[i].types);)
			j++;
		if (j == i)
			ns += (u64)ops[i].m * ops[i].k * host->act_ps / 1000;
	}
	return ns;
}

static void submission(const struct trace *trace, const struct stack *stack, struct plan *plan,
		       u32 client, u32 from, u32 to, u32 *step_of)
{
	const struct op *ops = trace->clients[client].ops;
	struct step *step = plan_step(plan, client, &ops[from]);
	bool *taken = allocate(to, sizeof(*taken));
	u32 own = plan->nsteps - 1, i;

	for (i = from; i < to; i++) {
		step_of[i] = own;
		taken[i] = false;
		plan_after(plan, step, step_of, &ops[i]);
	}
	if (!ops[from].host_ns) {
		step->before_ns = stack->host->fixed_ns / 2 +
				  pack_ns(stack->host, ops, from, to);
		step->after_ns = stack->host->fixed_ns - stack->host->fixed_ns / 2;
		for (i = from; i < to; i++)
			if (!taken[i])
				group_run(trace, stack, plan, client, i, to, taken);
	}
	free(taken);
}

void plan_driver(const struct trace *trace, const struct stack *stack, struct plan *plan)
{
	u32 c, i, to, *step_of;

	plan_begin(trace, plan);
	for (c = 0; c < trace->nclients; c++) {
		const struct client *client = &trace->clients[c];

		plan->first[c] = plan->nsteps;
		step_of = allocate(client->nops, sizeof(*step_of));
		for (i = 0; i < client->nops; i = to) {
			for (to = i + 1; to < client->nops && !client->ops[i].host_ns &&
			     !client->ops[to].host_ns &&
			     client->ops[to].submit == client->ops[i].submit;)
				to++;
			submission(trace, stack, plan, c, i, to, step_of);
		}
		free(step_of);
	}
	plan->first[c] = plan->nsteps;
	plan->window_first_ns = REPLAY_WINDOW_NS;
	plan->window_ns = REPLAY_WINDOW_NS;
	plan->reset_ns = stack->reset_ns;
	plan->irq_ns = (stack->law->irq_least + stack->law->irq_most) / 2;
}
