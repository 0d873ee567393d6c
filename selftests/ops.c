// SPDX-License-Identifier: GPL-2.0
/* Operations that are no matmuls: results, one submission with several, and refusals. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "rkmm_desk.h"

#define CASE_TIMEOUT	240

FIXTURE(ops)
{
	struct desk d;
	int fd;
};

FIXTURE_SETUP(ops)
{
	self->fd = rk_open();
	if (self->fd < 0)
		SKIP(return, "no rkmm device");
	ASSERT_EQ(0, desk_init(&self->d, self->fd));
}

FIXTURE_TEARDOWN(ops)
{
	desk_free(&self->d);
	close(self->fd);
}

TEST_F_TIMEOUT(ops, elements, CASE_TIMEOUT)
{
	static const uint32_t kinds[] = {
		DRM_RKMM_OP_ADD, DRM_RKMM_OP_SUB, DRM_RKMM_OP_MUL, DRM_RKMM_OP_MAX,
		DRM_RKMM_OP_DIV, DRM_RKMM_OP_SILU, DRM_RKMM_OP_GELU, DRM_RKMM_OP_RELU,
	};
	struct desk *d = &self->d;
	uint32_t i, row, col;

	for (i = 0; i < 8; i++) {
		struct drm_rkmm_plan_create p = { .kind = kinds[i], .m = 37, .n = 45 };
		struct drm_rkmm_op op;

		if (desk_plan(d, &p) == -EOPNOTSUPP)
			continue;		/* derived, on silicon */
		ASSERT_NE(0, p.plan);
		desk_fill(d, 0, &p.a, p.m, p.n, -6, 6);
		if (p.b.size)
			desk_fill(d, 1, &p.b, p.m, p.n, 0.5, 6);
		op = desk_bind(d, &p, 0, 1, 2, 3);
		ASSERT_EQ(0, desk_run(d, &op, 1));
		for (row = 0; row < p.m; row++) {
			for (col = 0; col < p.n; col++) {
				double a = d->v[0][row * p.n + col], b = d->v[1][row * p.n + col];
				double want[] = {
					a + b, a - b, a * b, a > b ? a : b, a / b,
					a / (1 + exp(-a)), a * 0.5 * erfc(-a * M_SQRT1_2),
					a > 0 ? a : 0,
				};
				double got = desk_value(d, 2, &p.c, row, col);

				ASSERT_LE(fabs(got - want[i]), 2e-3 + fabs(want[i]) / 1024)
					TH_LOG("kind %u [%u][%u]: %g, not %g", kinds[i], row, col,
					       got, want[i]);
			}
		}
	}
}

/* softmax(scale Q K^T + causal mask) V in one submission */
TEST_F_TIMEOUT(ops, attention, CASE_TIMEOUT)
{
	const uint32_t m = 70, e = 64;
	struct drm_rkmm_plan_create qk = {
		.types = DRM_RKMM_F16F16, .form = DRM_RKMM_FORM_CUBE, .m = m, .k = e, .n = m,
	}, soft = {
		.kind = DRM_RKMM_OP_SOFTMAX, .m = m, .n = m, .scale = float_bits(0.125f),
		.op_flags = DRM_RKMM_CAUSAL,
	}, pv = {
		.types = DRM_RKMM_F16F16, .form = DRM_RKMM_FORM_CUBE, .m = m, .k = m, .n = e,
	};
	struct desk *d = &self->d;
	struct drm_rkmm_op ops[3];
	uint32_t i, j, k;
	double *p;

	ASSERT_EQ(0, desk_plan(d, &qk));
	if (desk_plan(d, &soft) == -EOPNOTSUPP)
		SKIP(return, "softmax is derived, on silicon");
	ASSERT_EQ(0, desk_plan(d, &pv));
	/* 0 Q, 1 K^T packed, 2 scores, 3 probabilities, 4 V packed, 5 result */
	desk_fill(d, 0, &qk.a, m, e, -2, 2);
	desk_fill(d, 1, &qk.b, e, m, -2, 2);
	memset(d->buf.map + 2 * DESK_ROOM, 0, 2 * DESK_ROOM);
	desk_fill(d, 4, &pv.b, m, e, -2, 2);
	ops[0] = desk_bind(d, &qk, 0, 1, 2, 0);
	ops[1] = desk_bind(d, &soft, 2, 0, 3, 0);
	ops[2] = desk_bind(d, &pv, 3, 4, 5, 0);
	ASSERT_EQ(0, desk_run(d, ops, 3));

	p = calloc(m * m, sizeof(*p));
	for (i = 0; i < m; i++)
		for (j = 0; j < m; j++)
			for (k = 0; k < e; k++)
				p[i * m + j] += d->v[0][i * e + k] * d->v[1][k * m + j];
	softmax_rows(p, m, m, 0.125, true);
	for (i = 0; i < m; i++) {
		for (j = 0; j < m; j++) {
			ASSERT_LE(fabs(desk_value(d, 3, &soft.c, i, j) - p[i * m + j]), 3e-3);
			if (j > i)
				ASSERT_EQ(0, desk_value(d, 3, &soft.c, i, j));
		}
		for (j = 0; j < e; j++) {
			double sum = 0;

			for (k = 0; k < m; k++)
				sum += p[i * m + k] * d->v[4][k * e + j];
			ASSERT_LE(fabs(desk_value(d, 5, &pv.c, i, j) - sum), 1e-2);
		}
	}
	free(p);
}

#define INFOS	512

/* What QUERY says of an operation is what its plans say. */
TEST_F_TIMEOUT(ops, query, CASE_TIMEOUT)
{
	struct drm_rkmm_op_info *infos = calloc(INFOS, sizeof(*infos));
	uint32_t size, n, i, k, refused = 0, seen[DRM_RKMM_OP_TRANSPOSE + 1] = {};
	static const uint32_t widths[] = { 1, 31, 64, 200 };

	ASSERT_NE(NULL, infos);
	ASSERT_EQ(0, desk_query_ops(self->fd, NULL, 0, &size));
	n = size / sizeof(*infos);
	ASSERT_LE(40, n);
	ASSERT_GE(INFOS, n);
	ASSERT_EQ(0, size % sizeof(*infos));

	/* what a reader of less gets, and what lies behind */
	memset(infos, 0x5a, INFOS * sizeof(*infos));
	ASSERT_EQ(0, desk_query_ops(self->fd, infos, sizeof(*infos) + 4, &size));
	EXPECT_EQ(n * sizeof(*infos), size);
	EXPECT_EQ(0x5a5a5a5a, infos[1].element);
	ASSERT_EQ(0, desk_query_ops(self->fd, infos, INFOS * sizeof(*infos), &size));
	EXPECT_EQ(0x5a5a5a5a, infos[n].kind);
	EXPECT_EQ(-EFAULT, desk_query_ops(self->fd, (void *)8, 64, &size));

	for (i = 0; i < n; i++) {
		const struct drm_rkmm_op_info *info = &infos[i];
		bool every = info->flags & DRM_RKMM_OP_AVAILABLE;
		bool some = info->flags & DRM_RKMM_OP_PARTLY;

		ASSERT_TRUE(info->kind && info->kind <= DRM_RKMM_OP_TRANSPOSE);
		ASSERT_EQ(0, info->pad);
		ASSERT_EQ(0, info->fused_in & ~info->stage_of);
		ASSERT_FALSE(every && some);
		ASSERT_EQ(every, !info->reason);
		seen[info->kind]++;
		refused += !every;
		for (k = 0; k < ARRAY_SIZE(widths); k++) {
			struct drm_rkmm_plan_create p = desk_likely(info, 24, widths[k]);
			struct drm_rkmm_plan_destroy d = {};
			int ret = desk_plan(&self->d, &p);
			bool fits = info->n_most && !(widths[k] % info->n_most);

			ASSERT_EQ(every || (some && fits) ? 0 : -EOPNOTSUPP, ret) {
				TH_LOG("kind %u element %u other %u N %u", info->kind,
				       info->element, info->other, widths[k]);
			}
			if (ret) {
				ASSERT_EQ(info->reason, p.reason);
				continue;
			}
			ASSERT_EQ(fits ? info->evidence_most : info->evidence, p.evidence);
			ASSERT_EQ((widths[k] + info->n_align - 1) / info->n_align * info->n_align,
				  p.a.cols);
			d.plan = p.plan;
			ASSERT_EQ(0, xioctl(self->fd, DRM_IOCTL_RKMM_PLAN_DESTROY, &d));
		}
	}
	for (i = DRM_RKMM_OP_MATMUL + 1; i <= DRM_RKMM_OP_TRANSPOSE; i++)
		EXPECT_EQ(i <= DRM_RKMM_OP_DIV ? 9 : 3, seen[i]);
	EXPECT_NE(0, refused);
	free(infos);
}

TEST_F_TIMEOUT(ops, refusals, CASE_TIMEOUT)
{
	struct drm_rkmm_plan_create add = { .kind = DRM_RKMM_OP_ADD, .m = 8, .n = 64 };
	struct drm_rkmm_plan_create sum = { .kind = DRM_RKMM_OP_ROWSUM, .m = 8, .n = 64 };
	struct drm_rkmm_plan_create mm = { .types = DRM_RKMM_F16F16, .m = 8, .k = 64, .n = 64 };
	struct drm_rkmm_plan_create pool = {
		.kind = DRM_RKMM_OP_MAXPOOL, .m = 8, .n = 64, .width = 4, .kernel_w = 2,
		.kernel_h = 2,
	};
	struct drm_rkmm_plan_create p;
	struct desk *d = &self->d;
	struct drm_rkmm_op op, ops[2];

	ASSERT_EQ(0, desk_plan(d, &add));
	ASSERT_EQ(0, desk_plan(d, &sum));
	ASSERT_EQ(0, desk_plan(d, &mm));
	ASSERT_EQ(0, desk_plan(d, &pool));
#define BAD(want, why, ...) do {					\
	p = add;							\
	__VA_ARGS__;							\
	EXPECT_EQ(want, desk_plan(d, &p));				\
	if (want == -EOPNOTSUPP)					\
		EXPECT_EQ(why, p.reason);				\
} while (0)
	BAD(-EINVAL, 0, p.kind = DRM_RKMM_OP_TRANSPOSE + 1);
	BAD(-EINVAL, 0, p.types = 3);
	BAD(-EINVAL, 0, p.k = 1);
	BAD(-EINVAL, 0, p.other = 3);
	BAD(-EINVAL, 0, p.op_flags = 1u << 5);
	BAD(-EINVAL, 0, p.a_pitch = 64);
	BAD(-EINVAL, 0, p.kind = 0, p.k = 64, p.value = 1);
	BAD(-EOPNOTSUPP, DRM_RKMM_REASON_ZERO, p.n = 0);
	BAD(-EOPNOTSUPP, DRM_RKMM_REASON_SIZE, p.m = UINT32_MAX);
	BAD(-EOPNOTSUPP, DRM_RKMM_REASON_PARAM, p.width = 4);
	BAD(-EOPNOTSUPP, DRM_RKMM_REASON_PARAM, p.value = 1);
	BAD(-EOPNOTSUPP, DRM_RKMM_REASON_PARAM, p.mult = 1);
	BAD(-EOPNOTSUPP, DRM_RKMM_REASON_PARAM, p.scale = float_bits(1));
	BAD(-EOPNOTSUPP, DRM_RKMM_REASON_READ_BACK, p.kind = DRM_RKMM_OP_REQUANT);
	BAD(-EOPNOTSUPP, DRM_RKMM_REASON_OPERATION, p.kind = DRM_RKMM_OP_TRANSPOSE);

	op = desk_bind(d, &add, 0, 1, 2, 0);
	EXPECT_EQ(0, desk_run(d, &op, 1));
	op.c = op.a;
	EXPECT_EQ(-EINVAL, desk_run(d, &op, 1));
	op = desk_bind(d, &add, 0, 1, 2, 0);
	op.d = desk_operand(d, 3);
	EXPECT_EQ(-EINVAL, desk_run(d, &op, 1));
	op = desk_bind(d, &add, 0, 1, 2, 0);
	op.count = 2;
	EXPECT_EQ(-EINVAL, desk_run(d, &op, 1));
	op = desk_bind(d, &add, 0, 1, 2, 0);
	op.flags = DRM_RKMM_OP_GROUPED;
	EXPECT_EQ(-EINVAL, desk_run(d, &op, 1));
	/* nor may a matmul be grouped with what is none: that has memory of its own */
	ops[0] = desk_bind(d, &sum, 0, 0, 2, 0);
	ops[1] = desk_bind(d, &mm, 1, 3, 4, 0);
	EXPECT_EQ(0, desk_run(d, ops, 2));
	ops[1].flags = DRM_RKMM_OP_GROUPED;
	EXPECT_EQ(-EINVAL, desk_run(d, ops, 2));
	op = desk_bind(d, &add, 0, 1, 2, 0);
	op.b.handle = 0;
	EXPECT_EQ(-ENOENT, desk_run(d, &op, 1));
	op = desk_bind(d, &add, 0, 1, 2, 0);
	op.rows = 9;
	EXPECT_EQ(-EINVAL, desk_run(d, &op, 1));
	op = desk_bind(d, &pool, 0, 0, 2, 0);
	EXPECT_EQ(0, desk_run(d, &op, 1));
	op.rows = 4;
	EXPECT_EQ(-EINVAL, desk_run(d, &op, 1));
}

RKMM_TEST_MAIN
