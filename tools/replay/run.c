// SPDX-License-Identifier: MIT
/* One trace, one law, two stacks. */
#include "replay.h"

const struct options default_options = {
	.die = "default",
	.form = RKMM_FORM_BATCH,
	.perturb = -1,
	.reset_us = { 5000, REPLAY_RESET_US },
};

/* How far constants move (design §8: planners cannot be tuned to the law) */
#define PERTURB_PERCENT	30

bool replay_run(const struct trace *trace, const struct options *o, struct replay *p)
{
	struct rkmm_limits limits = rkmm_limits_rk3588;
	struct host_law host = host_module, old = host_before;
	const struct npu_time_law *profile = npu_time_profile(o->die);
	struct npu_time_law law;
	struct stack stack = { .law = &law, .limits = &limits, .form = o->form };
	struct plan plan;
	u32 s;

	*p = (struct replay){ .trace = trace, .die = o->die, .perturb = o->perturb,
			      .early = o->early };
	limits.die = rkmm_die_find(o->die);
	if (!limits.die)
		return false;
	law = profile ? *profile : *npu_time_profile("default");
	/* there the shipped rows hang, every time */
	stack.half_rows = profile == npu_time_profile("235");
	if (o->perturb >= 0) {
		npu_time_perturb(&law, (u32)o->perturb, PERTURB_PERCENT);
		/* the same factors for both */
		host_perturb(&host, (u32)o->perturb, PERTURB_PERCENT);
		host_perturb(&old, (u32)o->perturb, PERTURB_PERCENT);
	}
	p->form = o->form == RKMM_FORM_COUNT ? "auto" : rkmm_form_name(o->form);
	for (s = 0; s < STACKS; s++) {
		stack.host = s == STACK_DRIVER ? &host : &old;
		stack.reset_ns = o->reset_us[s] * 1000;
		p->reset_us[s] = o->reset_us[s];
		if (s == STACK_DRIVER)
			plan_driver(trace, &stack, &plan);
		else
			plan_baseline(trace, &stack, &plan);
		plan.early = s == STACK_DRIVER && o->early;
		p->windows[s] = plan.windows;
		simulate(trace, &plan, &p->result[s]);
		plan_free(&plan);
	}
	return true;
}

void replay_free(struct replay *p)
{
	u32 s;

	for (s = 0; s < STACKS; s++)
		result_free(&p->result[s]);
}
