// SPDX-License-Identifier: GPL-2.0
/* Operations of one submission in one chain: results, starts of cores, joins. */
#include <math.h>
#include <stdio.h>
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

/* The nine steps of softmax are one chain, and right on numbers of any size. */
TEST_F_TIMEOUT(chain, softmax, CASE_TIMEOUT)
{
	struct drm_rkmm_plan_create p = { .kind = DRM_RKMM_OP_SOFTMAX, .m = 256, .n = 64 };
	struct desk *d = &self->d;
	struct drm_rkmm_op op;
	double *want;
	uint32_t i, j;

	ASSERT_EQ(0, desk_plan(d, &p));
	EXPECT_EQ(9, p.programs);
	desk_fill(d, 0, &p.a, p.m, p.n, -12, 9);
	want = malloc(p.m * p.n * sizeof(*want));
	memcpy(want, d->v[0], p.m * p.n * sizeof(*want));
	softmax_rows(want, p.m, p.n, 1, false);
	op = desk_bind(d, &p, 0, 0, 1, 0);
	starts(self->seen, &self->cores);
	ASSERT_EQ(0, desk_run(d, &op, 1));
	EXPECT_EQ(1, starts(self->seen, &self->cores));
	for (i = 0; i < p.m; i++)
		for (j = 0; j < p.n; j++)
			ASSERT_GE(2e-3, fabs(desk_value(d, 1, &p.c, i, j) - want[i * p.n + j]));
	free(want);
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

/* ---- temporaries ------------------------------------------------------------ */

static struct drm_rkmm_operand temporary(uint32_t number, uint64_t offset)
{
	return (struct drm_rkmm_operand){
		.handle = number, .flags = DRM_RKMM_OPERAND_TEMP, .offset = offset,
	};
}

/* As head_ops(), with everything but the result in temporaries */
static void head_temps(const struct desk *d, const struct head *h, int t, int out, uint32_t scores,
		       uint32_t probabilities, struct drm_rkmm_op *ops)
{
	head_ops(d, h, t, out, ops);
	ops[0].c = temporary(scores, 0);
	ops[1].a = temporary(scores, 0);
	ops[1].c = temporary(probabilities, 4096);
	ops[2].a = temporary(probabilities, 4096);
}

static uint64_t emitted(int fd)
{
	struct drm_rkmm_client_info info = { 0 };

	return rk_client(fd, &info) ? 0 : info.programs_emitted;
}

static long long count_of(int fd, const char *key)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	return file_number(path, key);
}

static long long arena(int fd)
{
	return count_of(fd, "rkmm-temporary-memory:");
}

TEST_F_TIMEOUT(chain, temporaries, CASE_TIMEOUT)
{
	struct desk *d = &self->d;
	struct drm_rkmm_op ops[6];
	struct head small, large;
	uint64_t before;
	long long had;
	int i;

	ASSERT_EQ(0, head_plan(d, &small, 70, 96, 64));
	ASSERT_EQ(0, head_plan(d, &large, 256, 256, 64));
	head_fill(d, &small, 0);
	head_fill(d, &large, 3);
	head_ops(d, &small, 0, 6, ops);
	ASSERT_EQ(0, desk_run(d, ops, 3));
	head_ops(d, &large, 3, 8, ops);
	ASSERT_EQ(0, desk_run(d, ops, 3));
	EXPECT_EQ(0, arena(self->fd));

	starts(self->seen, &self->cores);
	for (i = 0; i < 3; i++) {
		head_temps(d, &small, 0, 10, 0, 63, ops);
		ASSERT_EQ(0, desk_run(d, ops, 3));
		EXPECT_EQ(1, starts(self->seen, &self->cores));
		EXPECT_EQ(0, memcmp(room(d, 6), room(d, 10), small.pv.c.size));
		memset(room(d, 10), 0xa5, small.pv.c.size);
	}
	had = arena(self->fd);
	EXPECT_LT(0, had);
	before = emitted(self->fd);
	ASSERT_EQ(0, desk_run(d, ops, 3));
	EXPECT_EQ(before, emitted(self->fd));

	/* more room: another place, and both are right there */
	head_temps(d, &large, 3, 11, 1, 2, ops);
	head_temps(d, &small, 0, 12, 0, 3, ops + 3);
	ASSERT_EQ(0, desk_run(d, ops, 6));
	EXPECT_LT(had, arena(self->fd));
	EXPECT_EQ(0, memcmp(room(d, 8), room(d, 11), large.pv.c.size));
	EXPECT_EQ(0, memcmp(room(d, 6), room(d, 12), small.pv.c.size));
	head_temps(d, &small, 0, 10, 0, 63, ops);
	ASSERT_EQ(0, desk_run(d, ops, 3));
	EXPECT_EQ(0, memcmp(room(d, 6), room(d, 10), small.pv.c.size));

	/* a pair that comes again, and again after the arena has grown */
	for (i = 0; i < 6; i++) {
		struct drm_rkmm_op pair[2];

		head_temps(d, &small, 0, 10, 5, 6, ops);
		pair[0] = ops[0];
		pair[1] = ops[1];
		pair[1].c = desk_operand(d, 13);
		ASSERT_EQ(0, desk_run(d, pair, 2));
		EXPECT_EQ(0, memcmp(room(d, 7), room(d, 13), small.soft.c.size));
		memset(room(d, 13), 0x5a, small.soft.c.size);
		if (i != 3)
			continue;
		head_temps(d, &small, 0, 10, 0, 1, ops);
		for (uint32_t k = 0; k < 3; k++) {
			struct drm_rkmm_operand *o[] = { &ops[k].a, &ops[k].c };

			o[0]->offset += o[0]->flags ? 4 << 20 : 0;
			o[1]->offset += o[1]->flags ? 4 << 20 : 0;
		}
		had = arena(self->fd);
		ASSERT_EQ(0, desk_run(d, ops, 3));
		EXPECT_LT(had, arena(self->fd));
	}
}

TEST_F_TIMEOUT(chain, temporary_refusals, CASE_TIMEOUT)
{
	struct drm_rkmm_plan_create add = { .kind = DRM_RKMM_OP_ADD, .m = 64, .n = 64 };
	struct drm_rkmm_plan_create half = { .kind = DRM_RKMM_OP_RELU, .m = 32, .n = 64 };
	struct desk *d = &self->d;
	struct drm_rkmm_op ops[2], good[2];

	ASSERT_EQ(0, desk_plan(d, &add));
	ASSERT_EQ(0, desk_plan(d, &half));
	desk_fill(d, 0, &add.a, 64, 64, -2, 2);
	desk_fill(d, 1, &add.b, 64, 64, -2, 2);
	good[0] = desk_bind(d, &add, 0, 1, 0, 0);
	good[0].c = temporary(0, 64);
	good[1] = desk_bind(d, &add, 0, 1, 2, 0);
	good[1].b = temporary(0, 64);
	ASSERT_EQ(0, desk_run(d, good, 2));
	/* undefined at the start of each submission */
	ASSERT_EQ(-EINVAL, desk_run(d, good + 1, 1));
#define BAD(error, ...) do {						\
	memcpy(ops, good, sizeof(ops));					\
	__VA_ARGS__;							\
	EXPECT_EQ(error, desk_run(d, ops, 2)) {				\
		TH_LOG(#__VA_ARGS__);					\
	}								\
} while (0)
	BAD(-EINVAL, ops[0].b = temporary(0, 64));
	BAD(-EINVAL, ops[1].b = temporary(1, 64));
	BAD(-EINVAL, ops[1].b = temporary(0, 0));
	BAD(-EINVAL, ops[1].b = temporary(0, 128));
	BAD(-EINVAL, ops[1].b = temporary(0, 96));
	BAD(-EINVAL, ops[1].b = temporary(DRM_RKMM_MAX_TEMPS, 64));
	BAD(-EINVAL, ops[0].c = temporary(DRM_RKMM_MAX_TEMPS, 64));
	BAD(-EINVAL, ops[0].c = temporary(UINT32_MAX, 64));
	BAD(-EINVAL, ops[1].b.flags |= 2);
	BAD(-EINVAL, ops[0].c = temporary(0, 1ull << 32));
	BAD(-EINVAL, ops[0].c = temporary(0, -64ull));
	BAD(-EINVAL, ops[0].d = temporary(0, 64));
	BAD(-EINVAL, ops[1].c = temporary(0, 64));
	BAD(-EINVAL, ops[1].c = temporary(0, 128));
	BAD(-ENOSPC, ops[0].c = temporary(1, 0xffffffc0), ops[1].b = temporary(1, 0xffffffc0));
	/* half of it was written */
	BAD(-EINVAL, ops[0] = desk_bind(d, &half, 0, 0, 0, 0), ops[0].c = temporary(0, 64));
	BAD(0, ops[1].b = desk_operand(d, 1));
	BAD(0, ops[1].c = temporary(63, 0));
#undef BAD
	EXPECT_EQ(0, desk_run(d, good, 2));
}

/* Two clients at the same time, each with temporaries of its own */
TEST_F_TIMEOUT(chain, temporaries_of_two, CASE_TIMEOUT)
{
	struct desk *d[2] = { &self->d, calloc(1, sizeof(**d)) };
	struct drm_rkmm_submit s[2][4];
	struct drm_rkmm_op ops[2][3];
	struct head h[2];
	int i, k, other;

	other = rk_open();
	ASSERT_LE(0, other);
	ASSERT_EQ(0, desk_init(d[1], other));
	rnd_seed(&d[1]->rnd, 99);
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, head_plan(d[i], &h[i], 70 + i, 96, 64));
		head_fill(d[i], &h[i], 0);
		head_temps(d[i], &h[i], 0, 5, 0, 1, ops[i]);
		ASSERT_EQ(0, buf_end_write(&d[i]->buf));
	}
	for (k = 0; k < 4; k++) {
		for (i = 0; i < 2; i++) {
			s[i][k] = (struct drm_rkmm_submit){
				.ops = { sizeof(ops[i][0]), 3, (uintptr_t)ops[i] },
			};
			ASSERT_EQ(0, xioctl(d[i]->fd, DRM_IOCTL_RKMM_SUBMIT, &s[i][k]));
		}
	}
	for (i = 0; i < 2; i++) {
		for (k = 0; k < 4; k++) {
			struct drm_rkmm_wait w = {
				.seqno = s[i][k].seqno, .deadline_ns = after(120 * SEC),
			};

			ASSERT_EQ(0, xioctl(d[i]->fd, DRM_IOCTL_RKMM_WAIT, &w));
			EXPECT_EQ(0, w.result);
		}
		ASSERT_EQ(0, buf_begin_read(&d[i]->buf));
		EXPECT_GE(1e-2, head_error(d[i], &h[i], 0, 5));
	}
	desk_free(d[1]);
	free(d[1]);
	close(other);
}

/* ---- rows shared out --------------------------------------------------------- */

/* Large operations, and those behind a matmul, run on all cores; the bits are those of one. */
TEST_F_TIMEOUT(chain, rows, CASE_TIMEOUT)
{
	struct drm_rkmm_plan_create p[2] = {
		{ .kind = DRM_RKMM_OP_GELU, .m = 1000, .n = 500 },
		{ .types = DRM_RKMM_F16F16, .m = 1000, .k = 64, .n = 500,
		  .stages = { { .kind = DRM_RKMM_OP_TANH }, { .kind = DRM_RKMM_OP_MUL } } },
	};
	struct desk *d = &self->d;
	int i;

	for (i = 0; i < 2; i++) {
		struct drm_rkmm_op op;
		struct drm_rkmm_submit one = { .ops = { sizeof(op), 1, (uintptr_t)&op },
			.flags = DRM_RKMM_SUBMIT_WAIT, .deadline_ns = after(200 * SEC), .cores = 2,
		};

		ASSERT_EQ(0, desk_plan(d, &p[i]));
		desk_fill(d, 0, &p[i].a, 1000, i ? 64 : 500, -3, 3);
		if (i) {
			desk_fill(d, 1, &p[i].b, 64, 500, -1, 1);
			desk_fill(d, 4, &p[i].d, 1000, 500, -1, 1);
		}
		ASSERT_EQ(0, buf_end_write(&d->buf));
		op = desk_bind(d, &p[i], 0, 1, 2, 4);
		ASSERT_LE(0, starts(self->seen, &self->cores));
		ASSERT_EQ(0, desk_run(d, &op, 1));
		EXPECT_LE(3, starts(self->seen, &self->cores));
		EXPECT_EQ(3, self->cores);
		op.c = desk_operand(d, 3);
		ASSERT_EQ(0, xioctl(d->fd, DRM_IOCTL_RKMM_SUBMIT, &one));
		ASSERT_EQ(0, one.wait_status ?: one.result);
		EXPECT_LE(1, starts(self->seen, &self->cores));
		EXPECT_EQ(1, self->cores);
		ASSERT_EQ(0, buf_begin_read(&d->buf));
		EXPECT_EQ(0, memcmp(room(d, 2), room(d, 3), p[i].c.size));
		EXPECT_NE(0, memcmp(room(d, 2), room(d, 2) + p[i].c.size / 2, p[i].c.size / 2));
	}
}

/* ---- tables ----------------------------------------------------------------- */

/* On core 0 */
static int run_there(struct desk *d, const struct drm_rkmm_op *op)
{
	struct drm_rkmm_submit s = {
		.ops = { sizeof(*op), 1, (uintptr_t)op }, .flags = DRM_RKMM_SUBMIT_WAIT,
		.deadline_ns = after(120 * SEC), .cores = 1,
	};
	int ret = xioctl(d->fd, DRM_IOCTL_RKMM_SUBMIT, &s);

	if (!ret)
		ret = s.wait_status ?: s.result;
	return ret ?: buf_begin_read(&d->buf);
}

#define KEPT	"rkmm-tables-kept:"
#define LOADED	"rkmm-tables-loaded:"

#define LOOKUP(op, found)						\
do {									\
	long long kept = count_of(d->fd, KEPT), loaded = count_of(d->fd, LOADED); \
									\
	ASSERT_EQ(0, run_there(d, op));					\
	EXPECT_EQ(kept + (found), count_of(d->fd, KEPT));		\
	EXPECT_EQ(loaded + !(found), count_of(d->fd, LOADED));		\
} while (0)

/* A table is loaded once for as long as it stays in the core, and its lookups are the same. */
TEST_F_TIMEOUT(chain, tables, CASE_TIMEOUT)
{
	struct drm_rkmm_plan_create tanh_ = { .kind = DRM_RKMM_OP_TANH, .m = 60, .n = 64 };
	struct drm_rkmm_plan_create silu = { .kind = DRM_RKMM_OP_SILU, .m = 60, .n = 64 };
	struct drm_rkmm_plan_create relu = { .kind = DRM_RKMM_OP_RELU, .m = 60, .n = 64 };
	struct mm mm = { .types = DRM_RKMM_I8I32, .m = 9, .k = 100, .n = 50 };
	struct desk *d = &self->d, *o = calloc(1, sizeof(*o));
	struct drm_rkmm_op op[2], other;
	uint32_t i, row, col;

	ASSERT_EQ(0, desk_plan(d, &tanh_));
	ASSERT_EQ(0, desk_plan(d, &silu));
	desk_fill(d, 0, &tanh_.a, 60, 64, -4, 4);
	ASSERT_EQ(0, buf_end_write(&d->buf));
	op[0] = desk_bind(d, &tanh_, 0, 0, 1, 0);
	op[1] = desk_bind(d, &silu, 0, 0, 2, 0);
	ASSERT_EQ(0, run_there(d, &op[1]));
	LOOKUP(&op[0], false);
	for (row = 0; row < 60; row++)
		for (col = 0; col < 64; col++)
			ASSERT_GE(2e-3, fabs(desk_value(d, 1, &tanh_.c, row, col) -
					     tanh(d->v[0][row * 64 + col])));
	/* with another result, so that it is not left over */
	for (i = 0; i < 3; i++) {
		op[0].c = desk_operand(d, 3 + i);
		LOOKUP(&op[0], true);
		EXPECT_EQ(0, memcmp(room(d, 1), room(d, 3 + i), tanh_.c.size));
	}
	LOOKUP(&op[1], false);
	op[0].c = desk_operand(d, 6);
	LOOKUP(&op[0], false);

	/* what others run there leaves it alone, but for their own tables */
	ASSERT_EQ(0, desk_init(o, rk_open()));
	ASSERT_LE(0, o->fd);
	ASSERT_EQ(0, mm_init(&mm, o->fd, 3));
	ASSERT_EQ(0, desk_plan(o, &relu));
	for (i = 0; i < 3; i++) {
		struct drm_rkmm_op product = mm_op(&mm);

		ASSERT_EQ(0, mm_new_c(&mm));
		ASSERT_EQ(0, run_there(o, &product));
		EXPECT_EQ(0, mm_check(&mm));
		other = desk_bind(o, &relu, 0, 0, 1, 0);
		ASSERT_EQ(0, run_there(o, &other));
		op[0].c = desk_operand(d, 7 + i);
		LOOKUP(&op[0], true);
		EXPECT_EQ(0, memcmp(room(d, 1), room(d, 7 + i), tanh_.c.size));
	}
	ASSERT_EQ(0, desk_plan(o, &silu));
	other = desk_bind(o, &silu, 0, 0, 1, 0);
	ASSERT_EQ(0, run_there(o, &other));
	op[0].c = desk_operand(d, 10);
	LOOKUP(&op[0], false);
	LOOKUP(&op[0], true);

	/* a reset takes it away */
	if (!soft_fault("0.never_start=2")) {
		EXPECT_EQ(-EIO, run_there(o, &other));
		op[0].c = desk_operand(d, 11);
		LOOKUP(&op[0], false);
		LOOKUP(&op[0], true);
		EXPECT_EQ(0, memcmp(room(d, 1), room(d, 11), tanh_.c.size));
	}
	for (i = 6; i < 11; i++)
		EXPECT_EQ(0, memcmp(room(d, 1), room(d, i), tanh_.c.size));
	mm_free(&mm);
	close(o->fd);
	desk_free(o);
	free(o);
}

RKMM_TEST_MAIN
