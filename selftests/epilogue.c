// SPDX-License-Identifier: GPL-2.0
/*
 * Matmuls with epilogues: against plain loops, and bit by bit against plans of their own;
 * what is malformed, what is refused and where.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "rkmm_desk.h"

#define CASE_TIMEOUT	300

FIXTURE(epilogue)
{
	struct desk d;
	int fd;
};

FIXTURE_SETUP(epilogue)
{
	self->fd = rk_open();
	if (self->fd < 0)
		SKIP(return, "no rkmm device");
	ASSERT_EQ(0, desk_init(&self->d, self->fd));
}

FIXTURE_TEARDOWN(epilogue)
{
	desk_free(&self->d);
	close(self->fd);
}

static uint8_t *place(const struct desk *d, int i, const struct drm_rkmm_tensor *t, uint32_t row,
		      uint32_t col)
{
	return d->buf.map + (size_t)i * DESK_ROOM + element_bit(t, row, col) / 8;
}

/* Whole numbers of 8 or 32 bits */
static void fill_whole(struct desk *d, int i, const struct drm_rkmm_tensor *t, uint32_t m,
		       uint32_t n, int32_t most)
{
	uint32_t row, col;

	memset(d->buf.map + (size_t)i * DESK_ROOM, 0, DESK_ROOM);
	for (row = 0; row < m; row++)
		for (col = 0; col < n; col++) {
			int32_t v = (int32_t)rnd_below(&d->rnd, 2 * most) - most;

			memcpy(place(d, i, t, row, col), &v, t->bits / 8);
			d->v[i][row * n + col] = v;
		}
}

static void fill_single(struct desk *d, int i, const struct drm_rkmm_tensor *t, uint32_t n)
{
	uint32_t col;

	for (col = 0; col < n; col++) {
		float v = (float)rnd_below(&d->rnd, 4000) / 128 - 16;

		memcpy(place(d, i, t, 0, col), &v, 4);
		d->v[i][col] = (double)v;
	}
}

static double product(const struct desk *d, const struct drm_rkmm_plan_create *p, int a, int b,
		      uint32_t row, uint32_t col)
{
	double sum = 0;
	uint32_t k;

	for (k = 0; k < p->k; k++)
		sum += d->v[a][row * p->k + k] * d->v[b][k * p->n + col];
	return sum;
}

static struct drm_rkmm_op with_e(const struct desk *d, const struct drm_rkmm_plan_create *p,
				 int a, int b, int c, int operand, int e)
{
	struct drm_rkmm_op op = desk_bind(d, p, a, b, c, operand);

	if (p->e.size)
		op.e = desk_operand(d, e);
	return op;
}

static double whole(const struct desk *d, int i, const struct drm_rkmm_tensor *t, uint32_t row,
		    uint32_t col)
{
	int32_t v = 0;

	memcpy(&v, place(d, i, t, row, col), t->bits / 8);
	return t->bits == 8 ? (int8_t)v : v;
}

/* A relu behind fp16 is part of the matmul, in rows and on all cores. */
TEST_F_TIMEOUT(epilogue, relu, CASE_TIMEOUT)
{
	struct drm_rkmm_plan_create p = {
		.types = DRM_RKMM_F16F16, .m = 37, .k = 70, .n = 205,
		.stages = { { .kind = DRM_RKMM_OP_RELU } },
	};
	struct desk *d = &self->d;
	uint32_t row, col, zeros = 0;
	struct drm_rkmm_op op;

	ASSERT_EQ(0, desk_plan(d, &p));
	EXPECT_EQ(1, p.fused);
	EXPECT_EQ(DRM_RKMM_LAYOUT_ROWS, p.c.layout);
	EXPECT_EQ(DRM_RKMM_CAPTURED, p.evidence);
	EXPECT_EQ(0, p.d.size + p.e.size);
	desk_fill(d, 0, &p.a, p.m, p.k, -1, 1);
	desk_fill(d, 1, &p.b, p.k, p.n, -1, 1);
	op = with_e(d, &p, 0, 1, 2, 3, 4);
	op.rows = 29;
	ASSERT_EQ(0, desk_run(d, &op, 1));
	for (row = 0; row < op.rows; row++) {
		for (col = 0; col < p.n; col++) {
			double want = fmax(product(d, &p, 0, 1, row, col), 0);
			double got = desk_value(d, 2, &p.c, row, col);

			zeros += !got;
			ASSERT_LE(fabs(got - want), 2e-3 * (1 + want))
				TH_LOG("[%u][%u]: %g, not %g", row, col, got, want);
		}
	}
	EXPECT_LT(100, zeros);
	EXPECT_GT(29 * p.n - 100, zeros);
}

/* Bias, scale, curve behind fp16: the bits of four plans in one submission */
TEST_F_TIMEOUT(epilogue, list, CASE_TIMEOUT)
{
	struct drm_rkmm_plan_create p = {
		.types = DRM_RKMM_F16F16, .m = 45, .k = 64, .n = 75,
		.stages = {
			{ .kind = DRM_RKMM_OP_ADD, .other = DRM_RKMM_OTHER_CHANNEL },
			{ .kind = DRM_RKMM_OP_MUL, .other = DRM_RKMM_OTHER_CHANNEL },
			{ .kind = DRM_RKMM_OP_SILU },
			{
				.kind = DRM_RKMM_OP_MAX, .other = DRM_RKMM_OTHER_SCALAR,
				.value = float_bits(-0.125f),
			},
		},
	};
	struct drm_rkmm_plan_create mm = {
		.types = DRM_RKMM_F16F16, .form = DRM_RKMM_FORM_CUBE, .m = 45, .k = 64, .n = 75,
	};
	struct drm_rkmm_plan_create one[4];
	struct desk *d = &self->d;
	struct drm_rkmm_op ops[5];
	uint32_t row, col, i;
	int ret;

	ret = desk_plan(d, &p);
	if (ret == -EOPNOTSUPP && p.reason == DRM_RKMM_REASON_FORM)
		SKIP(return, "derived, on silicon");
	ASSERT_EQ(0, ret);
	EXPECT_EQ(0, p.fused);
	EXPECT_EQ(DRM_RKMM_LAYOUT_CUBE, p.a.layout);
	EXPECT_EQ(DRM_RKMM_LAYOUT_CUBE, p.c.layout);
	EXPECT_EQ(DRM_RKMM_LAYOUT_WEIGHT, p.d.layout);
	EXPECT_NE(0, p.e.size);
	ASSERT_EQ(0, desk_plan(d, &mm));
	for (i = 0; i < 4; i++) {
		one[i] = (struct drm_rkmm_plan_create){
			.kind = p.stages[i].kind, .types = DRM_RKMM_F16, .m = p.m, .n = p.n,
			.other = p.stages[i].other, .value = p.stages[i].value,
		};
		ASSERT_EQ(0, desk_plan(d, &one[i]));
	}
	desk_fill(d, 0, &p.a, p.m, p.k, -1, 1);
	desk_fill(d, 1, &p.b, p.k, p.n, -1, 1);
	desk_fill(d, 3, &p.d, 1, p.n, -3, 3);
	desk_fill(d, 4, &p.e, 1, p.n, -1, 2);
	for (i = 0; i < 3; i++) {
		/* all rows, fewer, and again as a submission that is known */
		ops[0] = with_e(d, &p, 0, 1, 2, 3, 4);
		ops[0].rows = i == 1 ? 31 : 0;
		memset(d->buf.map + 2 * DESK_ROOM, 0xa5, DESK_ROOM);
		ASSERT_EQ(0, desk_run(d, ops, 1));
		ops[0] = desk_bind(d, &mm, 0, 1, 5, 0);
		ops[1] = desk_bind(d, &one[0], 5, 3, 6, 0);
		ops[2] = desk_bind(d, &one[1], 6, 4, 7, 0);
		ops[3] = desk_bind(d, &one[2], 7, 0, 8, 0);
		ops[4] = desk_bind(d, &one[3], 8, 0, 9, 0);
		ASSERT_EQ(0, desk_run(d, ops, 5));
		for (row = 0; row < (i == 1 ? 31 : p.m); row++) {
			for (col = 0; col < p.n; col++) {
				double x = product(d, &p, 0, 1, row, col);
				double got = desk_value(d, 2, &p.c, row, col);

				x = (x + d->v[3][col]) * d->v[4][col];
				x = fmax(x / (1 + exp(-x)), -0.125);
				ASSERT_LE(fabs(got - x), 2e-2 * (1 + fabs(x)));
				ASSERT_EQ(desk_value(d, 9, &one[3].c, row, col), got);
			}
		}
	}
}

/* int8: bias and relu of the sums, requantised, and one more on bytes: exact */
TEST_F_TIMEOUT(epilogue, bytes, CASE_TIMEOUT)
{
	struct drm_rkmm_plan_create p = {
		.types = DRM_RKMM_I8I8, .m = 21, .k = 600, .n = 90, .mult = 21000, .shift = 25,
		.offset = -5, .stages = {
			{ .kind = DRM_RKMM_OP_ADD, .other = DRM_RKMM_OTHER_CHANNEL },
			{ .kind = DRM_RKMM_OP_RELU },
			{ .kind = DRM_RKMM_OP_REQUANT },
			{
				.kind = DRM_RKMM_OP_ADD, .other = DRM_RKMM_OTHER_SCALAR,
				.value = 9,
			},
		},
	};
	struct desk *d = &self->d;
	uint32_t row, col, extra;
	struct drm_rkmm_op op;
	int ret;

	for (extra = 0; extra < 2; extra++) {
		if (!extra)
			memset(&p.stages[3], 0, sizeof(p.stages[3]));
		else
			p.stages[3] = (struct drm_rkmm_stage){
				.kind = DRM_RKMM_OP_ADD, .other = DRM_RKMM_OTHER_SCALAR,
				.value = 9,
			};
		ret = desk_plan(d, &p);
		if (ret == -EOPNOTSUPP && p.reason == DRM_RKMM_REASON_FORM)
			SKIP(return, "derived, on silicon");
		ASSERT_EQ(0, ret);
		EXPECT_EQ(7, p.fused);
		EXPECT_EQ(32, p.d.bits);
		fill_whole(d, 0, &p.a, p.m, p.k, 128);
		fill_whole(d, 1, &p.b, p.k, p.n, 128);
		fill_whole(d, 3, &p.d, 1, p.n, 300000);
		op = with_e(d, &p, 0, 1, 2, 3, 4);
		ASSERT_EQ(0, desk_run(d, &op, 1));
		for (row = 0; row < p.m; row++) {
			for (col = 0; col < p.n; col++) {
				double x = product(d, &p, 0, 1, row, col) + d->v[3][col];

				x = rint(fmax(x, 0) * p.mult / (1 << p.shift)) + p.offset;
				x = fmin(fmax(x, -128), 127);
				x = fmin(x + (extra ? 9 : 0), 127);
				ASSERT_EQ(x, whole(d, 2, &p.c, row, col))
					TH_LOG("[%u][%u]", row, col);
			}
		}
	}
}

/* What is fused is a matmul like any other: repeated, grouped, in rows with a pitch */
TEST_F_TIMEOUT(epilogue, repeated, CASE_TIMEOUT)
{
	struct drm_rkmm_plan_create p = {
		.types = DRM_RKMM_F16F32, .m = 9, .k = 64, .n = 130, .stages = {
			{ .kind = DRM_RKMM_OP_ADD, .other = DRM_RKMM_OTHER_CHANNEL },
			{ .kind = DRM_RKMM_OP_CLAMP, .value2 = float_bits(6) },
		},
	};
	struct desk *d = &self->d;
	struct drm_rkmm_op op[2];
	uint32_t row, col, i;
	int ret;

	ret = desk_plan(d, &p);
	if (ret == -EOPNOTSUPP && p.reason == DRM_RKMM_REASON_FORM)
		SKIP(return, "derived, on silicon");
	ASSERT_EQ(0, ret);
	ASSERT_EQ(3, p.fused);
	desk_fill(d, 0, &p.a, p.m, p.k, -1, 1);
	desk_fill(d, 1, &p.a, p.m, p.k, -1, 1);
	desk_fill(d, 2, &p.a, p.m, p.k, -1, 1);
	desk_fill(d, 4, &p.b, p.k, p.n, -1, 1);
	fill_single(d, 5, &p.d, p.n);
	/* twice at strides, and grouped with it a third time */
	op[0] = desk_bind(d, &p, 0, 4, 6, 5);
	op[0].count = 2;
	op[0].a_stride = DESK_ROOM;
	op[0].c_stride = DESK_ROOM;
	op[1] = desk_bind(d, &p, 2, 4, 8, 5);
	op[1].flags = DRM_RKMM_OP_GROUPED;
	ASSERT_EQ(0, desk_run(d, op, 2));
	for (i = 0; i < 3; i++) {
		for (row = 0; row < p.m; row++) {
			for (col = 0; col < p.n; col++) {
				double x = product(d, &p, (int)i, 4, row, col) + d->v[5][col];
				float got;

				memcpy(&got, place(d, 6 + (int)i, &p.c, row, col), 4);
				x = fmin(fmax(x, 0), 6);
				ASSERT_LE(fabs((double)got - x), 1e-4)
					TH_LOG("%u [%u][%u]: %g, not %g", i, row, col,
					       (double)got, x);
			}
		}
	}
	/* C in the vector that it adds */
	op[1].d = op[1].c;
	EXPECT_EQ(-EINVAL, desk_run(d, op, 2));
	op[1].flags = 0;
	EXPECT_EQ(-EINVAL, desk_run(d, &op[1], 1));
	/* or another one's C */
	op[1] = desk_bind(d, &p, 2, 4, 8, 7);
	op[1].flags = DRM_RKMM_OP_GROUPED;
	EXPECT_EQ(-EINVAL, desk_run(d, op, 2));
}

/* A residual that only lives in the submission, and one that lies in a buffer */
TEST_F_TIMEOUT(epilogue, temporary, CASE_TIMEOUT)
{
	struct drm_rkmm_plan_create mm = {
		.types = DRM_RKMM_F16F16, .form = DRM_RKMM_FORM_CUBE, .m = 33, .k = 96, .n = 50,
	};
	struct drm_rkmm_plan_create p = {
		.types = DRM_RKMM_F16F16, .m = 33, .k = 96, .n = 50, .stages = {
			{ .kind = DRM_RKMM_OP_MUL, .other = DRM_RKMM_OTHER_CHANNEL },
			{ .kind = DRM_RKMM_OP_SUB },
			{ .kind = DRM_RKMM_OP_RELU },
		},
	};
	const struct drm_rkmm_operand temp = { .handle = 2, .flags = DRM_RKMM_OPERAND_TEMP };
	struct desk *d = &self->d;
	struct drm_rkmm_op ops[2];
	uint32_t row, col, i;

	ASSERT_EQ(0, desk_plan(d, &mm));
	ASSERT_EQ(0, desk_plan(d, &p));
	EXPECT_EQ(0, p.fused);
	desk_fill(d, 0, &p.a, p.m, p.k, -1, 1);
	desk_fill(d, 1, &p.b, p.k, p.n, -1, 1);
	desk_fill(d, 3, &p.d, 1, p.n, -2, 2);
	for (i = 0; i < 2; i++) {
		ops[0] = desk_bind(d, &mm, 0, 1, 4, 0);
		ops[1] = with_e(d, &p, 0, 1, 5 + (int)i, 3, 4);
		if (i) {
			ops[0].c = temp;
			ops[1].e = temp;
		}
		ASSERT_EQ(0, desk_run(d, ops, 2));
	}
	for (row = 0; row < p.m; row++) {
		for (col = 0; col < p.n; col++) {
			double x = product(d, &p, 0, 1, row, col);
			double got = desk_value(d, 6, &p.c, row, col);

			x = fmax(x * d->v[3][col] - x, 0);
			ASSERT_LE(fabs(got - x), 2e-2 * (1 + x));
			ASSERT_EQ(desk_value(d, 5, &p.c, row, col), got);
		}
	}
	/* what nobody wrote */
	EXPECT_EQ(-EINVAL, desk_run(d, &ops[1], 1));
}

TEST_F_TIMEOUT(epilogue, malformed, CASE_TIMEOUT)
{
	const struct drm_rkmm_plan_create good = {
		.types = DRM_RKMM_F16F16, .m = 8, .k = 64, .n = 64, .stages = {
			{ .kind = DRM_RKMM_OP_ADD, .other = DRM_RKMM_OTHER_CHANNEL },
			{ .kind = DRM_RKMM_OP_ADD },
		},
	};
	struct drm_rkmm_plan_create p, q;
	struct desk *d = &self->d;
	struct drm_rkmm_op op;

#define BAD(want, why, at, ...) do {					\
	p = good;							\
	__VA_ARGS__;							\
	EXPECT_EQ(want, desk_plan(d, &p));				\
	if (want == -EOPNOTSUPP) {					\
		EXPECT_EQ(why, p.reason);				\
		EXPECT_EQ(at, p.stage);					\
	}								\
} while (0)
	BAD(-EINVAL, 0, 0, p.stages[1].pad = 1);
	BAD(-EINVAL, 0, 0, p.stages[1].other = 3);
	BAD(-EINVAL, 0, 0, p.stages[1].kind = DRM_RKMM_OP_TRANSPOSE + 1);
	BAD(-EINVAL, 0, 0, p.stages[2].value = 1);
	BAD(-EINVAL, 0, 0, p.stages[3].kind = DRM_RKMM_OP_RELU);
	BAD(-EINVAL, 0, 0, p.stages[0].kind = 0);
	BAD(-EINVAL, 0, 0, p.kind = DRM_RKMM_OP_ADD, p.types = 0, p.k = 0);
	BAD(-EOPNOTSUPP, DRM_RKMM_REASON_STAGE, 1, p.stages[1].kind = DRM_RKMM_OP_SOFTMAX);
	BAD(-EOPNOTSUPP, DRM_RKMM_REASON_STAGE, 1, p.stages[1].kind = DRM_RKMM_OP_REQUANT);
	BAD(-EOPNOTSUPP, DRM_RKMM_REASON_STAGE, 2, p.stages[2] = p.stages[1]);
	BAD(-EOPNOTSUPP, DRM_RKMM_REASON_STAGE, 1, p.types = DRM_RKMM_F16F32);
	BAD(-EOPNOTSUPP, DRM_RKMM_REASON_STAGE, 0, p.types = DRM_RKMM_I4I16);
	BAD(-EOPNOTSUPP, DRM_RKMM_REASON_PARAM, 1, p.stages[1].mult = 2);
	BAD(-EOPNOTSUPP, DRM_RKMM_REASON_SLICES, 0, p.k = 12000);
	BAD(-EOPNOTSUPP, DRM_RKMM_REASON_FORM, 1, p.form = DRM_RKMM_FORM_FLAT);
	BAD(-EOPNOTSUPP, DRM_RKMM_REASON_QUANT, 1, p.types = DRM_RKMM_I8I8,
	    p.stages[1] = (struct drm_rkmm_stage){ .kind = DRM_RKMM_OP_RELU });

	/* a caller who knows no stages */
	p = (struct drm_rkmm_plan_create){ .types = DRM_RKMM_F16F16, .m = 8, .k = 64, .n = 64 };
	EXPECT_EQ(0, xioctl(self->fd, _IOC(_IOC_READ | _IOC_WRITE, DRM_IOCTL_BASE,
					   DRM_COMMAND_BASE + DRM_RKMM_PLAN_CREATE, 400), &p));
	EXPECT_NE(0, p.plan);
	EXPECT_EQ(0, p.e.size);

	q = good;
	ASSERT_EQ(0, desk_plan(d, &q));
	desk_fill(d, 0, &q.a, q.m, q.k, -1, 1);
	desk_fill(d, 1, &q.b, q.k, q.n, -1, 1);
	desk_fill(d, 3, &q.d, 1, q.n, -1, 1);
	desk_fill(d, 4, &q.e, q.m, q.n, -1, 1);
#define WRONG(want, ...) do {						\
	op = with_e(d, &q, 0, 1, 2, 3, 4);				\
	__VA_ARGS__;							\
	EXPECT_EQ(want, desk_run(d, &op, 1));				\
} while (0)
	WRONG(0, (void)0);
	WRONG(-EINVAL, op.count = 2, op.c_stride = DESK_ROOM);
	WRONG(-EINVAL, op.flags = DRM_RKMM_OP_GROUPED);
	WRONG(-EINVAL, op.c = op.e);
	WRONG(-EINVAL, op.c = op.d);
	WRONG(-ENOENT, op.e.handle = 0);
	WRONG(-ENOENT, op.d.handle = 0);
	WRONG(-EINVAL, op.e.flags = 2);
	WRONG(-EINVAL, op.e.offset = 8);
	WRONG(-EINVAL, op.e.offset = d->buf.size - 64);
	WRONG(-EINVAL, op.rows = 9);
	WRONG(0, op.rows = 3);
	WRONG(-EINVAL, op.plan = p.plan, op.d.handle = 0, op.d.offset = 0);
	WRONG(0, (void)0);
}

RKMM_TEST_MAIN
