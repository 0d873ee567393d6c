// SPDX-License-Identifier: MIT
#include <errno.h>
#include <string.h>

#include "lib/internal.h"

static uint32_t float_bits(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

/* fp32 bits, or of integers a whole number; a slope is a fraction for all. */
static int value_bits(const struct rkmm_op_desc *desc, bool real, unsigned int width, float value,
		      uint32_t *bits)
{
	const float most = (float)(1ull << (width - 1));

	*bits = float_bits(value);
	if (real || desc->kind == DRM_RKMM_OP_LEAKY)
		return 0;
	if (!(value >= -most && value < most) || value != (float)(int32_t)value)
		return rkmm_fail(-EINVAL, "plan: %g is not a whole number of %u bits",
				 (double)value, width);
	*bits = (uint32_t)(int32_t)value;
	return 0;
}

int rkmm_stage_args(const struct rkmm_op_desc *desc, bool real, unsigned int width,
		    struct drm_rkmm_stage *stage)
{
	int ret;

	*stage = (struct drm_rkmm_stage) {
		.kind = desc->kind,
		.other = desc->other,
		.scale = float_bits(desc->scale),
		.out_scale = float_bits(desc->out_scale),
		.za = desc->za,
		.zb = desc->zb,
		.sb = desc->sb,
		.sb_shift = desc->sb_shift,
		.mult = desc->mult,
		.shift = desc->shift,
		.offset = desc->offset,
	};
	ret = value_bits(desc, real, width, desc->value, &stage->value);
	return ret ? ret : value_bits(desc, real, width, desc->value2, &stage->value2);
}

/* A stage has the sums' 32 bits, and nothing that follows from the matmul. */
static int stage_args(const struct rkmm_op_desc *desc, bool real, struct drm_rkmm_stage *stage)
{
	static const struct rkmm_op_desc none;
	struct rkmm_op_desc rest = *desc;
	int ret = rkmm_stage_args(desc, real, 32, stage);

	if (ret)
		return ret;
	rest.kind = 0;
	rest.other = 0;
	rest.value = 0;
	rest.value2 = 0;
	rest.scale = 0;
	rest.out_scale = 0;
	rest.za = 0;
	rest.zb = 0;
	rest.sb = 0;
	rest.sb_shift = 0;
	rest.mult = 0;
	rest.shift = 0;
	rest.offset = 0;
	if (desc->kind == DRM_RKMM_OP_MATMUL || memcmp(&rest, &none, sizeof(rest)))
		return rkmm_fail(-EINVAL,
				 "epilogue: a matmul, or a field that a stage does not have");
	return 0;
}

int rkmm_plan_create_epilogue(struct rkmm_device *dev, const struct rkmm_matmul_desc *desc,
			      const struct rkmm_op_desc *stages, uint32_t count,
			      struct rkmm_plan **plan)
{
	struct drm_rkmm_plan_create args;
	bool real = desc->types == DRM_RKMM_F16F16 || desc->types == DRM_RKMM_F16F32;
	uint32_t i;
	int ret;

	*plan = NULL;
	if (count > DRM_RKMM_STAGES)
		return rkmm_fail(-EINVAL, "epilogue: %u stages, %u are possible", count,
				 DRM_RKMM_STAGES);
	ret = rkmm_plan_args(desc, &args);
	for (i = 0; !ret && i < count; i++)
		ret = stage_args(&stages[i], real, &args.stages[i]);
	return ret ? ret : rkmm_plan_ask(dev, &args, plan);
}

uint32_t rkmm_plan_fused(const struct rkmm_plan *plan)
{
	return plan->info.fused;
}

const struct drm_rkmm_tensor *rkmm_plan_e(const struct rkmm_plan *plan)
{
	return &plan->info.e;
}
