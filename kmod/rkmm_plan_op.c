// SPDX-License-Identifier: GPL-2.0-only
/* Plans that are no matmuls. */
#include <linux/slab.h>
#include <linux/string.h>

#include "rkmm_drm.h"
#include "rkmm_job.h"

/* The pure code has enumerations of its own; here they are held to the uAPI's. */
#define RKMM_SAME_OP(name) \
	static_assert((int)RKMM_OP_##name + 1 == DRM_RKMM_OP_##name)
RKMM_SAME_OP(ADD);
RKMM_SAME_OP(SUB);
RKMM_SAME_OP(MUL);
RKMM_SAME_OP(MAX);
RKMM_SAME_OP(MIN);
RKMM_SAME_OP(DIV);
RKMM_SAME_OP(COPY);
RKMM_SAME_OP(RELU);
RKMM_SAME_OP(CLAMP);
RKMM_SAME_OP(LEAKY);
RKMM_SAME_OP(EXP);
RKMM_SAME_OP(SIGMOID);
RKMM_SAME_OP(TANH);
RKMM_SAME_OP(SILU);
RKMM_SAME_OP(GELU);
RKMM_SAME_OP(HARDSWISH);
RKMM_SAME_OP(RECIPROCAL);
RKMM_SAME_OP(RSQRT);
RKMM_SAME_OP(ROWMAX);
RKMM_SAME_OP(ROWSUM);
RKMM_SAME_OP(ROWMEAN);
RKMM_SAME_OP(SOFTMAX);
RKMM_SAME_OP(RMSNORM);
RKMM_SAME_OP(LAYERNORM);
RKMM_SAME_OP(MAXPOOL);
RKMM_SAME_OP(AVGPOOL);
RKMM_SAME_OP(REQUANT);
RKMM_SAME_OP(TRANSPOSE);
static_assert((int)RKMM_OTHER_TENSOR == DRM_RKMM_OTHER_TENSOR);
static_assert((int)RKMM_OTHER_SCALAR == DRM_RKMM_OTHER_SCALAR);
static_assert((int)RKMM_OTHER_CHANNEL == DRM_RKMM_OTHER_CHANNEL);
static_assert(RKMM_OP_FLAT == DRM_RKMM_FLAT);
static_assert(RKMM_OP_MASK == DRM_RKMM_MASK);
static_assert(RKMM_OP_CAUSAL == DRM_RKMM_CAUSAL);
static_assert(RKMM_OP_GAMMA == DRM_RKMM_GAMMA);
static_assert(RKMM_OP_BETA == DRM_RKMM_BETA);
static_assert((int)RKMM_EVIDENCE_DERIVED == DRM_RKMM_DERIVED);
static_assert((int)RKMM_EVIDENCE_CAPTURED == DRM_RKMM_CAPTURED);

static const enum rkmm_precision rkmm_plan_precisions[] = {
	[DRM_RKMM_F16] = RKMM_PREC_F16,
	[DRM_RKMM_I8] = RKMM_PREC_I8,
	[DRM_RKMM_I16] = RKMM_PREC_I16,
};

static bool rkmm_plan_op_malformed(const struct drm_rkmm_plan_create *args)
{
	/* what only matmuls have */
	if (args->k | args->flags | args->a_pitch | args->c_pitch | args->form || args->b_layout)
		return true;
	if (memchr_inv(args->stages, 0, sizeof(args->stages)))
		return true;
	return args->kind > RKMM_OP_COUNT || args->types >= ARRAY_SIZE(rkmm_plan_precisions) ||
	       args->other >= RKMM_OTHER_COUNT ||
	       args->op_flags & ~(DRM_RKMM_FLAT | DRM_RKMM_MASK | DRM_RKMM_CAUSAL |
				  DRM_RKMM_GAMMA | DRM_RKMM_BETA);
}

static struct rkmm_op rkmm_plan_op(const struct drm_rkmm_plan_create *args)
{
	return (struct rkmm_op){
		.code = args->kind - 1,
		.precision = rkmm_plan_precisions[args->types],
		.other = args->other,
		.flags = args->op_flags,
		.m = args->m,
		.n = args->n,
		.value = args->value,
		.value2 = args->value2,
		.scale = args->scale,
		.out_scale = args->out_scale,
		.quant = {
			.za = args->za,
			.zb = args->zb,
			.zo = args->offset,
			.sb = args->sb,
			.sb_shift = args->sb_shift,
			.mult = args->mult,
			.shift = args->shift,
		},
		.width = args->width,
		.kernel_w = args->kernel_w,
		.kernel_h = args->kernel_h,
		.stride_w = args->stride_w,
		.stride_h = args->stride_h,
	};
}

int rkmm_plan_make_op(struct rkmm_device *rdev, struct drm_rkmm_plan_create *args, bool derived,
		      struct rkmm_plan *plan)
{
	enum rkmm_reason reason;
	struct rkmm_op op;

	if (rkmm_plan_op_malformed(args))
		return -EINVAL;
	op = rkmm_plan_op(args);
	plan->op = kvzalloc(sizeof(*plan->op), GFP_KERNEL_ACCOUNT);
	if (!plan->op)
		return -ENOMEM;
	reason = rkmm_op_geometry(rdev->soc->limits, &op, plan->op);
	if (reason != RKMM_OK)
		return reason;
	if (plan->op->evidence == RKMM_EVIDENCE_DERIVED && !derived)
		return RKMM_REASON_FORM;
	rkmm_plan_tensor(&plan->op->a, &args->a);
	rkmm_plan_tensor(&plan->op->b, &args->b);
	rkmm_plan_tensor(&plan->op->c, &args->c);
	rkmm_plan_tensor(&plan->op->d, &args->d);
	args->evidence = plan->op->evidence;
	args->out_flags = 0;
	args->programs = rkmm_op_tasks(plan->op, op.m);
	args->predicted_ns = plan->op->predicted_ns;
	return RKMM_OK;
}
