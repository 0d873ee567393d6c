// SPDX-License-Identifier: GPL-2.0
/*
 * Programs that no working board was seen to run: with derived=off each is refused, with the
 * reason, and what boards did run is served as ever; with derived=on all are. By itself this
 * runs with what the driver was loaded with; derived_off.sh has the others.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "rkmm_desk.h"

#define CASE_TIMEOUT	240

FIXTURE(derived)
{
	struct desk d;
	int fd;
	bool allowed;
};

FIXTURE_SETUP(derived)
{
	char text[32] = "";

	self->fd = rk_open();
	if (self->fd < 0)
		SKIP(return, "no rkmm device");
	ASSERT_EQ(0, desk_init(&self->d, self->fd));
	file_read("/sys/module/rkmm/parameters/derived", text, sizeof(text));
	if (!strncmp(text, "auto", 4))
		self->allowed = rk_is_soft(self->fd);
	else
		self->allowed = !strncmp(text, "on", 2);
}

FIXTURE_TEARDOWN(derived)
{
	desk_free(&self->d);
	close(self->fd);
}

#define MM(t)		.kind = DRM_RKMM_OP_MATMUL, .types = DRM_RKMM_##t, .k = 64
#define OP(o, t)	.kind = DRM_RKMM_OP_##o, .types = DRM_RKMM_##t
#define STAGE(o)	{ .kind = DRM_RKMM_OP_##o }
#define COLUMN(o)	{ .kind = DRM_RKMM_OP_##o, .other = DRM_RKMM_OTHER_CHANNEL }

/*
 * Of what boards ran (hw 02 §2, §6.2, §8, §9, hw 04 §4, §11) and of what none is known to have
 * run; stage: the first that is derived
 */
static const struct {
	struct drm_rkmm_plan_create plan;
	bool derived;
	uint32_t stage;
} plans[] = {
	{ { MM(I8I32), .n = 64 }, false, 0 },
	{ { MM(F16F32), .n = 64 }, false, 0 },
	{ { MM(F16F16), .n = 64 }, false, 0 },
	{ { MM(F16F16), .n = 64, .form = DRM_RKMM_FORM_CUBE }, false, 0 },
	{ { MM(I4I16), .n = 64 }, false, 0 },
	{ { MM(I4I16), .n = 64, .form = DRM_RKMM_FORM_CUBE }, true, 0 },
	{ { MM(I8I8), .n = 64, .mult = 1 }, true, 0 },
	{ { OP(ADD, F16), .n = 64 }, false, 0 },
	{ { OP(DIV, F16), .n = 33 }, false, 0 },
	{ { OP(MUL, F16), .n = 64, .other = DRM_RKMM_OTHER_CHANNEL }, false, 0 },
	{ { OP(MUL, F16), .n = 64, .other = DRM_RKMM_OTHER_SCALAR, .value = 0x40000000 }, true, 0 },
	{ { OP(ADD, I8), .n = 64 }, false, 0 },
	{ { OP(SUB, I8), .n = 64 }, true, 0 },
	{ { OP(MUL, I16), .n = 64 }, false, 0 },
	{ { OP(ADD, I16), .n = 64 }, true, 0 },
	{ { OP(RELU, F16), .n = 64 }, false, 0 },
	{ { OP(LEAKY, F16), .n = 64, .value = 0x3f000000 }, true, 0 },
	{ { OP(EXP, F16), .n = 64 }, false, 0 },
	{ { OP(SIGMOID, F16), .n = 64 }, true, 0 },
	{ { OP(TANH, F16), .n = 64 }, true, 0 },
	{ { OP(SILU, F16), .n = 64 }, true, 0 },
	{ { OP(GELU, F16), .n = 64 }, true, 0 },
	{ { OP(HARDSWISH, F16), .n = 64 }, true, 0 },
	{ { OP(RECIPROCAL, F16), .n = 64 }, true, 0 },
	{ { OP(RSQRT, F16), .n = 64 }, true, 0 },
	{ { OP(ROWMAX, F16), .n = 64 }, false, 0 },
	{ { OP(ROWMAX, F16), .n = 63 }, true, 0 },
	{ { OP(ROWSUM, F16), .n = 63 }, false, 0 },
	{ { OP(SOFTMAX, F16), .n = 64 }, true, 0 },
	{ { OP(RMSNORM, F16), .n = 64, .value = 0x3c000000 }, true, 0 },
	{ { OP(LAYERNORM, F16), .n = 64, .value = 0x3c000000 }, true, 0 },
	{ { OP(MAXPOOL, F16), .n = 64, .width = 4, .kernel_w = 2, .kernel_h = 2 }, false, 0 },
	{ { OP(MAXPOOL, I8), .n = 64, .width = 4, .kernel_w = 2, .kernel_h = 2 }, true, 0 },
	{ { MM(F16F16), .n = 64, .stages = { STAGE(RELU) } }, false, 0 },
	{ { MM(F16F16), .n = 64, .stages = { COLUMN(ADD), COLUMN(MUL), STAGE(RELU) } }, false, 0 },
	{ { MM(F16F16), .n = 64, .stages = { STAGE(RELU), STAGE(EXP), STAGE(TANH) } }, true, 2 },
	{ { MM(F16F16), .n = 64, .stages = { STAGE(SILU), STAGE(RELU) } }, true, 0 },
	{ { MM(F16F32), .n = 64, .stages = { STAGE(EXP) } }, false, 0 },
	{ { MM(F16F32), .n = 64, .stages = { COLUMN(ADD), STAGE(EXP) } }, true, 0 },
	{ { MM(I8I32), .n = 64, .stages = { COLUMN(ADD) } }, true, 0 },
	{ { MM(I8I8), .n = 64, .mult = 1, .stages = { COLUMN(ADD), STAGE(REQUANT) } }, true, 0 },
};

TEST_F(derived, plans)
{
	uint32_t i, refused = 0;

	for (i = 0; i < ARRAY_SIZE(plans); i++) {
		struct drm_rkmm_plan_create p = plans[i].plan;
		struct drm_rkmm_plan_destroy gone = {};
		bool served = self->allowed || !plans[i].derived;

		p.m = 24;
		p.plan = 0x5a5a5a5a;
		ASSERT_EQ(served ? 0 : -EOPNOTSUPP, desk_plan(&self->d, &p))
			TH_LOG("plan %u, reason %u", i, p.reason);
		if (!served) {
			EXPECT_EQ(DRM_RKMM_REASON_FORM, p.reason)
				TH_LOG("plan %u", i);
			EXPECT_EQ(plans[i].stage, p.stage)
				TH_LOG("plan %u", i);
			refused++;
			continue;
		}
		EXPECT_EQ(DRM_RKMM_REASON_NONE, p.reason);
		EXPECT_EQ(plans[i].derived ? DRM_RKMM_DERIVED : DRM_RKMM_CAPTURED, p.evidence)
			TH_LOG("plan %u", i);
		gone.plan = p.plan;
		EXPECT_EQ(0, xioctl(self->fd, DRM_IOCTL_RKMM_PLAN_DESTROY, &gone));
	}
	EXPECT_EQ(self->allowed ? 0 : 23, refused);
}

/* Whether a matmul of @types takes the stage, in any of the lists in which it may stand */
static bool takes(struct desk *d, const struct drm_rkmm_op_info *info, uint32_t types,
		  bool *fused)
{
	struct drm_rkmm_plan_create like = desk_likely(info, 24, 64);
	bool any = false;
	int list;

	*fused = false;
	for (list = 0; list < (types == DRM_RKMM_I8I8 ? 3 : 1); list++) {
		struct drm_rkmm_plan_create p = {
			.types = types, .m = 24, .k = 64, .n = 64, .stages = { {
				.kind = info->kind, .other = info->other,
				.value = like.value, .value2 = like.value2,
				.scale = like.scale, .out_scale = like.out_scale,
			} },
		};
		struct drm_rkmm_plan_destroy gone = {};

		p.mult = types == DRM_RKMM_I8I8 && list < 2;
		if (list == 1)
			p.stages[1].kind = DRM_RKMM_OP_REQUANT;
		if (desk_plan(d, &p))
			continue;
		any = true;
		*fused |= p.fused & 1;
		gone.plan = p.plan;
		xioctl(d->fd, DRM_IOCTL_RKMM_PLAN_DESTROY, &gone);
	}
	return any;
}

static uint32_t element_of(uint32_t types)
{
	switch (types) {
	case DRM_RKMM_F16F32:
	case DRM_RKMM_F16F16:
		return DRM_RKMM_F16;
	case DRM_RKMM_I8I32:
	case DRM_RKMM_I8I8:
		return DRM_RKMM_I8;
	default:
		return UINT32_MAX;	/* int4: none */
	}
}

/* What QUERY_OPS says is available is what evidence allows, and what PLAN_CREATE does. */
TEST_F_TIMEOUT(derived, query, CASE_TIMEOUT)
{
	struct drm_rkmm_op_info infos[160];
	uint32_t size, i, types, off = 0, stages = 0;

	ASSERT_EQ(0, desk_query_ops(self->fd, infos, sizeof(infos), &size));
	ASSERT_GE(sizeof(infos), size);
	for (i = 0; i < size / sizeof(infos[0]); i++) {
		const struct drm_rkmm_op_info *info = &infos[i];
		bool most = info->evidence_most > DRM_RKMM_DERIVED;

		for (types = 0; types < 8; types++) {
			bool fused, taken = element_of(types) == info->element &&
					    takes(&self->d, info, types, &fused);

			EXPECT_EQ(taken, info->stage_of >> types & 1)
				TH_LOG("kind %u element %u other %u in types %u", info->kind,
				       info->element, info->other, types);
			EXPECT_EQ(taken && fused, info->fused_in >> types & 1)
				TH_LOG("kind %u element %u other %u in types %u", info->kind,
				       info->element, info->other, types);
			stages += taken;
		}
		if (info->reason && info->reason != DRM_RKMM_REASON_FORM)
			continue;
		if (self->allowed || info->evidence > DRM_RKMM_DERIVED) {
			EXPECT_EQ(DRM_RKMM_OP_AVAILABLE, info->flags);
			EXPECT_EQ(DRM_RKMM_REASON_NONE, info->reason);
			continue;
		}
		EXPECT_EQ(most ? DRM_RKMM_OP_PARTLY : 0, info->flags);
		EXPECT_EQ(DRM_RKMM_REASON_FORM, info->reason);
		off++;
	}
	EXPECT_EQ(self->allowed, !off);
	EXPECT_NE(0, stages);
}

/* exp(relu(A x B) - D) behind one another, all of it captured */
TEST_F_TIMEOUT(derived, captured_runs, CASE_TIMEOUT)
{
	struct drm_rkmm_plan_create mm = {
		MM(F16F16), .m = 37, .n = 45, .form = DRM_RKMM_FORM_CUBE, .stages = { STAGE(RELU) },
	}, sub = { OP(SUB, F16), .m = 37, .n = 45 }, curve = { OP(EXP, F16), .m = 37, .n = 45 };
	struct desk *d = &self->d;
	struct drm_rkmm_op ops[3];
	uint32_t row, col, k;

	ASSERT_EQ(0, desk_plan(d, &mm));
	EXPECT_EQ(1, mm.fused);
	ASSERT_EQ(0, desk_plan(d, &sub));
	ASSERT_EQ(0, desk_plan(d, &curve));
	desk_fill(d, 0, &mm.a, mm.m, mm.k, -1, 1);
	desk_fill(d, 1, &mm.b, mm.k, mm.n, -1, 1);
	desk_fill(d, 3, &sub.b, sub.m, sub.n, 4, 9);
	ops[0] = desk_bind(d, &mm, 0, 1, 2, 0);
	ops[1] = desk_bind(d, &sub, 2, 3, 4, 0);
	ops[2] = desk_bind(d, &curve, 4, 0, 5, 0);
	ASSERT_EQ(0, desk_run(d, ops, 3));
	for (row = 0; row < mm.m; row++) {
		for (col = 0; col < mm.n; col++) {
			double x = 0, got = desk_value(d, 5, &curve.c, row, col);

			for (k = 0; k < mm.k; k++)
				x += d->v[0][row * mm.k + k] * d->v[1][k * mm.n + col];
			x = exp(fmin(fmax(x, 0) - d->v[3][row * mm.n + col], 0));
			ASSERT_LE(fabs(got - x), 1.0 / 512 + 0.01 * x)
				TH_LOG("[%u][%u]: %g, not %g", row, col, got, x);
		}
	}
}

RKMM_TEST_MAIN
