// SPDX-License-Identifier: MIT
/*
 * The plan of the userspace stack, as the sheet describes it: one blocking call after the
 * other, the shipped geometry, programs synthesised for every call, a reset for every
 * change of mode, windows spread over the model.
 */
#include <stdlib.h>

#include "plan.h"
#include "tools/common/common.h"

/* hw 03 §1.2: rows of an int4 program by K, the largest K that has them */
static u32 int4_rows(u32 k)
{
	static const struct {
		u32 k, rows;
	} table[] = {
		{ 128, 128 }, { 256, 64 }, { 512, 32 }, { 768, 22 }, { 1024, 16 }, { 1536, 11 },
		{ 2048, 8 }, { 4096, 4 }, { 6144, 3 }, { 8192, 2 },
	};
	u32 i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (k <= table[i].k)
			return table[i].rows;
	return 0;
}

/* hw 03 G11 */
static u32 int8_rows(u32 k)
{
	return k <= 512 ? 704 : k <= 1024 ? 320 : k <= 2048 ? 128 : 64;
}

/* hw 03 G8: scheduled up to 1024, one data bank beyond */
static u32 fp16_rows(u32 k)
{
	return k <= 256 ? 704 : k <= 512 ? 352 : k <= 1024 ? 176 : 16384 / k;
}

static u32 least(u32 a, u32 b)
{
	return a < b ? a : b;
}

/* One slice of @op, @k wide; where it is summed up later is not its business. */
static struct call slice_call(const struct stack *stack, const struct op *op, u32 k, u32 slices)
{
	struct call c = { .m = op->m, .k = k, .n = op->n, .cores = 3 };

	switch (rkmm_in_bits(op->types)) {
	case 8:
		c.kind = NPU_KIND_I8;
		c.rows = int8_rows(k);
		break;
	case 16:
		c.kind = NPU_KIND_F16;
		c.rows = fp16_rows(k);
		/* hw 03 G12 */
		if (slices > 1)
			c.cores = 1;
		break;
	default:
		c.kind = op->m == 1 ? NPU_KIND_I4_ROW : NPU_KIND_I4;
		c.rows = op->m == 1 ? 1 : int4_rows(k);
		if (stack->half_rows && k == 2048)
			c.rows = least(c.rows, 4);
		c.cores = op->m == 1 ? 1 : 3;
		c.cols = op->m == 1 ? op->n : 64;
		break;
	}
	if (!c.cols)
		c.cols = (op->n + c.cores - 1) / c.cores;
	/* hw 03 G2 */
	c.cols = least(c.cols, 8192);
	if (!c.rows)
		die(1, "%s: the userspace stack cannot do K = %u", op->name, op->k);
	return c;
}

/* Widest slice: hw 03 §6.3, points 19, 43 and 53, G1 */
static u32 slice_width(const struct op *op)
{
	switch (rkmm_in_bits(op->types)) {
	case 8:
		return op->k > 2048 ? 1024 : 2048;
	case 16:
		return op->k > 1024 ? 2048 : 1024;
	default:
		return op->m == 1 ? 10752 : 8192;
	}
}

/* A chain starts once, whatever it is made of; int4 slices are calls of their own. */
static void add_core(const struct npu_time_law *law, const struct call *c, u32 core, bool first,
		     struct part *part)
{
	struct call_core q;
	u32 n;

	call_core(law, c, core, &q);
	if (!first && c->kind != NPU_KIND_I4_ROW) {
		q.ns -= q.start;
		q.dispatch -= q.start;
	}
	/* it had the device for itself */
	for (n = 0; n < NPU_TIME_CORES; n++) {
		part->ns[n] += q.ns;
		part->dispatch_ns[n] += q.dispatch;
	}
	part->programs += q.programs;
}

static void baseline_op(const struct stack *stack, struct plan *plan, u32 client, u32 window,
			const struct op *op)
{
	u32 width = slice_width(op), slices = (op->k + width - 1) / width, at, k, l, own;
	bool sums = slices > 1 && rkmm_in_bits(op->types) != 4;
	struct work *work = plan_work(plan, op, client, window);
	struct step *step = &plan->steps[work->step];
	struct part *parts = calloc(NPU_TIME_CORES, sizeof(*parts));
	struct call_time t;

	if (!parts)
		die(2, "out of memory");
	work->ops = 1;
	for (at = 0; at < op->k; at += k) {
		struct call c;

		k = least(op->k - at, width);
		c = slice_call(stack, op, k, slices);
		call_time(stack->law, stack->host, &c, &t);
		if (!at || !sums) {
			step->before_ns += t.fixed / 2;
			step->after_ns += t.fixed - t.fixed / 2 + t.post;
		}
		step->before_ns += t.act + t.synth;
		for (l = 0; l < c.cores; l++)
			add_core(stack->law, &c, l, !at, &parts[l]);
	}
	if (slices > 1)
		step->add_ns = (u64)op->m * op->n * slices * stack->host->add_ps / 1000;
	step->after_ns += step->add_ns;
	/* cores that found no column tile have nothing to do */
	for (l = 0, own = 0; l < NPU_TIME_CORES; l++)
		if (parts[l].programs)
			parts[own++] = parts[l];
	work->parts = parts;
	work->lanes = own;
	for (l = 0; l < own; l++)
		work->lane[l + 1] = l + 1;
}

void plan_baseline(const struct trace *trace, const struct stack *stack, struct plan *plan)
{
	u32 c, i, base = 0, *step_of, w;

	plan_begin(trace, plan);
	for (c = 0; c < trace->nclients; c++) {
		const struct client *client = &trace->clients[c];

		plan->first[c] = plan->nsteps;
		step_of = allocate(client->nops, sizeof(*step_of));
		for (i = 0; i < client->nops; i++) {
			const struct op *op = &client->ops[i];
			struct step *step = plan_step(plan, c, op);

			step_of[i] = plan->nsteps - 1;
			plan_after(plan, step, step_of, op);
			if (op->host_ns)
				continue;
			/* every process has windows of its own */
			w = client->bytes ? (u32)((double)op->at / (double)client->bytes *
						  trace->baseline_windows) : 0;
			baseline_op(stack, plan, c, base + least(w, trace->baseline_windows - 1),
				    op);
		}
		free(step_of);
		base += trace->baseline_windows;
	}
	plan->first[c] = plan->nsteps;
	plan->blocking = true;
	plan->window_first_ns = REPLAY_SWAP_FIRST_US * 1000;
	plan->window_ns = REPLAY_SWAP_US * 1000;
	plan->reset_ns = stack->reset_ns;
}
