// SPDX-License-Identifier: GPL-2.0
/* Operations of one submission in one chain: results, starts of cores, joins. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "rkmm_desk.h"

#define CASE_TIMEOUT	240
#define CORES		3
#define HEADS		3
#define STATS		"/sys/kernel/debug/rkmm_soft/device/core%d/stats"

/* Starts of each core since the last look, or -1; returns the sum, -errno where nobody counts. */
static long long starts(long long *seen, uint32_t *cores)
{
	long long sum = 0, v;
	char path[80];
	int i;

	*cores = 0;
	for (i = 0; i < CORES; i++) {
		snprintf(path, sizeof(path), STATS, i);
		v = file_number(path, "starts");
		if (v < 0)
			return v;
		*cores += v > seen[i];
		sum += v - seen[i];
		seen[i] = v;
	}
	return sum;
}

FIXTURE(chain)
{
	struct desk d;
	long long seen[CORES];
	uint32_t cores;
	int fd;
};

FIXTURE_SETUP(chain)
{
	struct drm_rkmm_plan_create p = { .kind = DRM_RKMM_OP_SOFTMAX, .m = 8, .n = 32 };

	self->fd = rk_open();
	if (self->fd < 0)
		SKIP(return, "no rkmm device");
	ASSERT_EQ(0, desk_init(&self->d, self->fd));
	memset(self->seen, 0, sizeof(self->seen));
	if (desk_plan(&self->d, &p) == -EOPNOTSUPP)
		SKIP(return, "softmax is derived, on silicon");
	if (starts(self->seen, &self->cores) < 0)
		SKIP(return, "nobody counts starts");
}

FIXTURE_TEARDOWN(chain)
{
	desk_free(&self->d);
	close(self->fd);
}

/* One attention head: scores, probabilities, and their product with the values */
struct head {
	struct drm_rkmm_plan_create qk, soft, pv;
	uint32_t rows, keys, width;
};

static int head_plan(struct desk *d, struct head *h, uint32_t rows, uint32_t keys, uint32_t width)
{
	int ret;

	*h = (struct head){ .rows = rows, .keys = keys, .width = width };
	h->qk = (struct drm_rkmm_plan_create){
		.types = DRM_RKMM_F16F16, .form = DRM_RKMM_FORM_CUBE, .m = rows, .k = width,
		.n = keys,
	};
	h->soft = (struct drm_rkmm_plan_create){
		.kind = DRM_RKMM_OP_SOFTMAX, .m = rows, .n = keys, .scale = float_bits(0.125f),
	};
	h->pv = (struct drm_rkmm_plan_create){
		.types = DRM_RKMM_F16F16, .form = DRM_RKMM_FORM_CUBE, .m = rows, .k = keys,
		.n = width,
	};
	ret = desk_plan(d, &h->qk);
	if (!ret)
		ret = desk_plan(d, &h->soft);
	return ret ?: desk_plan(d, &h->pv);
}

/* Q in tensor @t, K^T behind it, then V */
static void head_fill(struct desk *d, const struct head *h, int t)
{
	desk_fill(d, t, &h->qk.a, h->rows, h->width, -2, 2);
	desk_fill(d, t + 1, &h->qk.b, h->width, h->keys, -2, 2);
	desk_fill(d, t + 2, &h->pv.b, h->keys, h->width, -2, 2);
}

/* Scores, then the result, in tensor @out; probabilities behind it */
static void head_ops(const struct desk *d, const struct head *h, int t, int out,
		     struct drm_rkmm_op *ops)
{
	ops[0] = desk_bind(d, &h->qk, t, t + 1, out, 0);
	ops[1] = desk_bind(d, &h->soft, out, 0, out + 1, 0);
	ops[2] = desk_bind(d, &h->pv, out + 1, t + 2, out, 0);
}

/* The largest difference of tensor @out from what plain loops say */
static double head_error(const struct desk *d, const struct head *h, int t, int out)
{
	double *p = calloc(h->rows * h->keys, sizeof(*p)), worst = 0, sum, diff;
	uint32_t i, j, k;

	for (i = 0; i < h->rows; i++)
		for (j = 0; j < h->keys; j++)
			for (k = 0; k < h->width; k++)
				p[i * h->keys + j] += d->v[t][i * h->width + k] *
						      d->v[t + 1][k * h->keys + j];
	softmax_rows(p, h->rows, h->keys, 0.125, false);
	for (i = 0; i < h->rows; i++) {
		for (j = 0; j < h->width; j++) {
			sum = 0;
			for (k = 0; k < h->keys; k++)
				sum += p[i * h->keys + k] * d->v[t + 2][k * h->width + j];
			diff = fabs(desk_value(d, out, &h->pv.c, i, j) - sum);
			/* not a number either */
			if (!(diff <= worst))
				worst = diff;
		}
	}
	free(p);
	return worst;
}

static uint8_t *room(const struct desk *d, int i)
{
	return d->buf.map + (size_t)i * DESK_ROOM;
}

/* One start, and the bits of a submission for each operation */
TEST_F_TIMEOUT(chain, attention, CASE_TIMEOUT)
{
	struct desk *d = &self->d;
	struct drm_rkmm_op ops[3];
	struct head h;
	int i;

	ASSERT_EQ(0, head_plan(d, &h, 70, 96, 64));
	head_fill(d, &h, 0);
	head_ops(d, &h, 0, 3, ops);
	starts(self->seen, &self->cores);
	ASSERT_EQ(0, desk_run(d, ops, 3));
	EXPECT_EQ(1, starts(self->seen, &self->cores));
	EXPECT_GE(1e-2, head_error(d, &h, 0, 3));

	head_ops(d, &h, 0, 5, ops);
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, desk_run(d, &ops[i], 1));
	/* alone a matmul has the lanes of its tiling */
	EXPECT_LE(3, starts(self->seen, &self->cores));
	EXPECT_EQ(0, memcmp(room(d, 3), room(d, 5), h.pv.c.size));
	EXPECT_EQ(0, memcmp(room(d, 4), room(d, 6), h.soft.c.size));
}

/* Heads have nothing in common: each on a core; what adds them up is a join. */
TEST_F_TIMEOUT(chain, branches, CASE_TIMEOUT)
{
	struct drm_rkmm_plan_create add = { .kind = DRM_RKMM_OP_ADD };
	struct drm_rkmm_op ops[3 * HEADS + 1];
	struct desk *d = &self->d;
	struct head h;
	uint32_t i, j;

	ASSERT_EQ(0, head_plan(d, &h, 256, 256, 64));
	add.m = h.rows;
	add.n = h.width;
	ASSERT_EQ(0, desk_plan(d, &add));
	for (i = 0; i < HEADS; i++) {
		head_fill(d, &h, 5 * i);
		head_ops(d, &h, 5 * i, 5 * i + 3, &ops[3 * i]);
	}
	starts(self->seen, &self->cores);
	ASSERT_EQ(0, desk_run(d, ops, 3 * HEADS));
	EXPECT_EQ(3, starts(self->seen, &self->cores));
	EXPECT_EQ(3, self->cores);
	for (i = 0; i < HEADS; i++)
		EXPECT_GE(2e-2, head_error(d, &h, 5 * i, 5 * i + 3));

	ops[3 * HEADS] = desk_bind(d, &add, 3, 8, 15, 0);
	ASSERT_EQ(0, desk_run(d, ops, 3 * HEADS + 1));
	EXPECT_EQ(4, starts(self->seen, &self->cores));
	for (i = 0; i < h.rows; i++)
		for (j = 0; j < h.width; j++)
			ASSERT_GE(2e-3, fabs(desk_value(d, 15, &add.c, i, j) -
					     desk_value(d, 3, &h.pv.c, i, j) -
					     desk_value(d, 8, &h.pv.c, i, j)));
}

/* A matmul that three cores do much faster than one stays on three. */
TEST_F_TIMEOUT(chain, large, CASE_TIMEOUT)
{
	struct drm_rkmm_plan_create mm = {
		.types = DRM_RKMM_F16F16, .form = DRM_RKMM_FORM_CUBE, .m = 256, .k = 1024,
		.n = 512,
	}, relu = { .kind = DRM_RKMM_OP_RELU, .m = 256, .n = 512 };
	struct desk *d = &self->d;
	struct drm_rkmm_op ops[2];
	uint32_t i, j;

	ASSERT_EQ(0, desk_plan(d, &mm));
	ASSERT_EQ(0, desk_plan(d, &relu));
	desk_fill(d, 0, &mm.a, mm.m, 256, -1, 1);
	desk_fill(d, 1, &mm.b, 256, mm.n, -1, 1);
	ops[0] = desk_bind(d, &mm, 0, 1, 2, 0);
	ops[1] = desk_bind(d, &relu, 2, 0, 3, 0);
	starts(self->seen, &self->cores);
	ASSERT_EQ(0, desk_run(d, ops, 2));
	EXPECT_EQ(4, starts(self->seen, &self->cores));
	EXPECT_EQ(3, self->cores);
	for (i = 0; i < mm.m; i++) {
		for (j = 0; j < mm.n; j++) {
			double x = desk_value(d, 2, &mm.c, i, j);

			ASSERT_EQ(x > 0 ? x : 0, desk_value(d, 3, &relu.c, i, j));
		}
	}
}

RKMM_TEST_MAIN
