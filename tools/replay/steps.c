// SPDX-License-Identifier: MIT
/* Lists that both plans are made of. */
#include <stdlib.h>

#include "plan.h"
#include "tools/common/common.h"

static void *grow(void *list, u32 count, size_t size)
{
	if (count & (count - 1))
		return list;
	list = realloc(list, (count ? 2 * (size_t)count : 1) * size);
	if (!list)
		die(2, "out of memory");
	return list;
}

void plan_begin(const struct trace *trace, struct plan *plan)
{
	*plan = (struct plan){ 0 };
	plan->first = allocate(trace->nclients + 1, sizeof(*plan->first));
}

struct step *plan_step(struct plan *plan, u32 client, const struct op *op)
{
	struct step *step;

	plan->steps = grow(plan->steps, plan->nsteps, sizeof(*step));
	step = &plan->steps[plan->nsteps++];
	*step = (struct step){ .client = client, .name = op->name, .work = plan->nworks,
			       .not_before_ns = op->not_before_ns };
	if (op->host_ns) {
		step->model = true;
		step->before_ns = op->host_ns;
	}
	return step;
}

struct work *plan_work(struct plan *plan, const struct op *op, u32 client, u32 window)
{
	struct work *work;

	plan->works = grow(plan->works, plan->nworks, sizeof(*work));
	work = &plan->works[plan->nworks++];
	*work = (struct work){ .name = op->name, .step = plan->nsteps - 1, .client = client,
			       .family = family_of(op->types), .window = window };
	plan->steps[work->step].works++;
	if (window >= plan->windows)
		plan->windows = window + 1;
	return work;
}

/* @step_of: by operation of the client, the step that it is in */
void plan_after(struct plan *plan, struct step *step, const u32 *step_of, const struct op *op)
{
	u32 own = (u32)(step - plan->steps), i, j;

	for (i = 0; i < op->nafter; i++) {
		u32 other = step_of[op->after[i]];

		for (j = 0; j < step->nafter && step->after[j] != other;)
			j++;
		if (j < step->nafter || other == own)
			continue;
		step->after = grow(step->after, step->nafter, sizeof(*step->after));
		step->after[step->nafter++] = other;
	}
}

void plan_free(struct plan *plan)
{
	u32 i;

	for (i = 0; i < plan->nsteps; i++)
		free(plan->steps[i].after);
	for (i = 0; i < plan->nworks; i++)
		free(plan->works[i].parts);
	free(plan->steps);
	free(plan->works);
	free(plan->first);
	*plan = (struct plan){ 0 };
}
