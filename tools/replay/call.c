// SPDX-License-Identifier: MIT
#include <string.h>

#include "call.h"

const struct host_law host_before = {
	.fixed_ns = 230000, .act_ps = 155, .prog_ps = 2300000, .out_ps = 950, .byte_ps = 50,
	.add_ps = 750,
};

const struct host_law host_after = {
	.fixed_ns = 150000, .act_ps = 155, .prog_ps = 125000, .out_ps = 350, .byte_ps = 50,
	.add_ps = 750,
};

const struct host_law host_module = {
	.fixed_ns = 80000, .act_ps = 155, .prog_ps = 125000, .out_ps = 350, .byte_ps = 50,
	.add_ps = 750,
};

void host_perturb(struct host_law *law, u32 seed, u32 percent)
{
	u32 *c = (u32 *)law, i, at;

	for (i = 0; i < sizeof(*law) / sizeof(u32); i++) {
		at = npu_time_between(&seed, 0, 2000 * percent);
		c[i] = (u32)((u64)c[i] * (100000 + at - 1000 * percent) / 100000);
	}
}

static u32 div_up(u32 a, u32 b)
{
	return (a + b - 1) / b;
}

struct npu_work call_work(enum npu_kind kind, u32 rows, u32 cols, u32 k)
{
	u64 weight = (u64)cols * k;

	switch (kind) {
	case NPU_KIND_I4:
	case NPU_KIND_I4_ROW:
		weight /= 2;
		break;
	case NPU_KIND_F16:
		weight *= 2;
		break;
	default:
		break;
	}
	return (struct npu_work){ .kind = kind, .rows = rows, .cols = cols, .k = k,
				  .bytes = weight };
}

static u64 span(const struct npu_time_law *law, const struct call *c, u32 rows, u32 cols)
{
	struct npu_work work = call_work(c->kind, rows, cols, c->k);

	return npu_time_task(law, &work, c->cores);
}

/* Time of column tiles @from to @to */
static u64 tiles(const struct npu_time_law *law, const struct call *c, u32 from, u32 to)
{
	u32 groups = div_up(c->m, c->rows), last = c->m - (groups - 1) * c->rows, t;
	u64 ns = 0;

	for (t = from; t < to; t++) {
		u32 left = c->n - t * c->cols, cols = left < c->cols ? left : c->cols;

		ns += (groups - 1) * span(law, c, c->rows, cols) + span(law, c, last, cols);
	}
	return ns;
}

void call_core(const struct npu_time_law *law, const struct call *c, u32 core,
	       struct call_core *q)
{
	u32 columns = div_up(c->n, c->cols), groups = div_up(c->m, c->rows);
	u32 from = (u32)((u64)core * columns / c->cores);
	u32 to = (u32)((u64)(core + 1) * columns / c->cores);

	*q = (struct call_core){ .programs = (to - from) * groups };
	if (from == to)
		return;
	q->start = npu_time_start(law, c->kind, c->cores);
	q->ns = q->start + tiles(law, c, from, to);
	q->dispatch = q->start;
	if (c->kind == NPU_KIND_I4)
		q->dispatch += (u64)q->programs * law->i4_task[c->cores - 1];
}

void call_time(const struct npu_time_law *law, const struct host_law *host,
	       const struct call *c, struct call_time *t)
{
	u64 outputs = (u64)c->m * c->n;
	struct call_core q;
	u32 i;

	memset(t, 0, sizeof(*t));
	for (i = 0; i < c->cores; i++) {
		call_core(law, c, i, &q);
		t->programs += q.programs;
		if (q.programs > t->busiest)
			t->busiest = q.programs;
		if (q.ns <= t->npu)
			continue;
		t->npu = q.ns;
		t->dispatch = q.dispatch;
	}
	t->fixed = host->fixed_ns;
	t->act = (u64)c->m * c->k * host->act_ps / 1000;
	t->synth = (u64)t->busiest * host->prog_ps / 1000;
	switch (c->kind) {
	case NPU_KIND_I4:
	case NPU_KIND_I4_ROW:
		t->post = outputs * host->out_ps / 1000;
		break;
	default:
		t->post = outputs * 4 * host->byte_ps / 1000;
		break;
	}
	if (c->partials > 1)
		t->add = outputs * c->partials * host->add_ps / 1000;
}

u64 call_total(const struct call_time *t)
{
	return t->npu + t->fixed + t->act + t->synth + t->post + t->add;
}
