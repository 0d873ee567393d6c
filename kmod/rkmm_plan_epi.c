// SPDX-License-Identifier: GPL-2.0-only
/* Epilogues of matmul plans. */
#include <linux/slab.h>
#include <linux/string.h>

#include "rkmm_drm.h"
#include "rkmm_job.h"

static_assert(RKMM_STAGES == DRM_RKMM_STAGES);
static_assert((int)RKMM_REASON_STAGE == DRM_RKMM_REASON_STAGE);
static_assert((int)RKMM_REASON_SLICES == DRM_RKMM_REASON_SLICES);

static struct rkmm_op rkmm_plan_stage(const struct drm_rkmm_stage *arg)
{
	return (struct rkmm_op){
		.code = arg->kind - 1,
		.other = arg->other,
		.value = arg->value,
		.value2 = arg->value2,
		.scale = arg->scale,
		.out_scale = arg->out_scale,
		.quant = {
			.za = arg->za,
			.zb = arg->zb,
			.zo = arg->offset,
			.sb = arg->sb,
			.sb_shift = arg->sb_shift,
			.mult = arg->mult,
			.shift = arg->shift,
		},
	};
}

int rkmm_plan_stages(const struct drm_rkmm_plan_create *args, struct rkmm_stages *stages)
{
	u32 i;

	stages->n = 0;
	for (i = 0; i < DRM_RKMM_STAGES; i++) {
		const struct drm_rkmm_stage *arg = &args->stages[i];

		if (!arg->kind) {
			if (memchr_inv(arg, 0, sizeof(*arg)))
				return -EINVAL;
			continue;
		}
		if (stages->n != i || arg->kind > RKMM_OP_COUNT || arg->pad ||
		    arg->other >= RKMM_OTHER_COUNT)
			return -EINVAL;
		stages->op[stages->n++] = rkmm_plan_stage(arg);
	}
	return 0;
}

int rkmm_plan_epi_make(const struct rkmm_stages *stages, struct rkmm_matmul *mm,
		       struct rkmm_plan *plan)
{
	if (!stages->n)
		return RKMM_OK;
	plan->epi = kvzalloc(sizeof(*plan->epi), GFP_KERNEL_ACCOUNT);
	if (!plan->epi)
		return -ENOMEM;
	return rkmm_epilogue_make(stages, mm, plan->epi);
}

enum rkmm_reason rkmm_plan_epi_bind(const struct rkmm_limits *limits,
				    const struct rkmm_stages *stages,
				    struct drm_rkmm_plan_create *args, struct rkmm_plan *plan)
{
	struct rkmm_epilogue *epi = plan->epi;
	enum rkmm_reason reason;

	if (!epi)
		return RKMM_OK;
	reason = rkmm_epilogue_bind(limits, stages, epi, &plan->geom);
	if (reason != RKMM_OK)
		return reason;
	plan->fallback.fused = plan->geom.fused;
	rkmm_plan_tensor(&epi->c, &args->c);
	rkmm_plan_tensor(&epi->operand[0], &args->d);
	rkmm_plan_tensor(&epi->operand[1], &args->e);
	args->evidence = min_t(u32, args->evidence, epi->evidence);
	args->fused = epi->fused;
	args->programs = rkmm_epilogue_tasks(epi, &plan->geom, plan->geom.mm.m);
	args->predicted_ns += rkmm_epilogue_ns(epi);
	return RKMM_OK;
}
