// SPDX-License-Identifier: GPL-2.0
/*
 * Kicks whose first feature, or first result on several cores, is not an operand in a buffer:
 * temporaries, and what operations and epilogues keep between their tasks (hw 03 S2, M4). They take
 * turns with a matmul on buffers. What is right is what the same submissions give while the software
 * NPU behaves; "chain", "ops" and "epilogue" compare those with plain loops.
 *
 * As in "stage": with feature=fixed all must be right, with feature=direct wrong results must be seen.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "rkmm_desk.h"

#define CASE_TIMEOUT	240
#define CORES		3
#define ROUNDS		4
#define STATS		"/sys/kernel/debug/rkmm_soft/device/core%d/stats"

/* Tensors: A, B and C of the matmul on buffers, a vector, then X and the result of each branch */
enum { A, B, C, VECTOR, SPARE, X, RESULT };

enum what { TEMPORARIES, SOFTMAX, CHANNEL, EPILOGUE };

/* Sum over the cores of one of the software NPU's counters; how many cores have more than @seen */
static long long soft_count(const char *key, long long *seen, int *cores)
{
	long long sum = 0, v;
	char path[80];
	int i;

	for (i = 0; i < CORES; i++) {
		snprintf(path, sizeof(path), STATS, i);
		v = file_number(path, key);
		if (v < 0)
			return v;
		if (seen) {
			*cores += v > seen[i];
			seen[i] = v;
		}
		sum += v;
	}
	return sum;
}

FIXTURE(stage_ops) {
	struct desk d;
	struct buf other;	/* weights there begin a kick of their own */
	struct drm_rkmm_plan_create plain, first, second;
	bool fixed, soft;
	int fd;
};

FIXTURE_VARIANT(stage_ops) {
	enum what what;
	int branches;
};

FIXTURE_VARIANT_ADD(stage_ops, temporaries) { .what = TEMPORARIES, .branches = 1 };
FIXTURE_VARIANT_ADD(stage_ops, softmax) { .what = SOFTMAX, .branches = 1 };
FIXTURE_VARIANT_ADD(stage_ops, channel) { .what = CHANNEL, .branches = 1 };
FIXTURE_VARIANT_ADD(stage_ops, epilogue) { .what = EPILOGUE, .branches = 1 };
FIXTURE_VARIANT_ADD(stage_ops, temporaries_cores) { .what = TEMPORARIES, .branches = CORES };
FIXTURE_VARIANT_ADD(stage_ops, softmax_cores) { .what = SOFTMAX, .branches = CORES };
FIXTURE_VARIANT_ADD(stage_ops, channel_cores) { .what = CHANNEL, .branches = CORES };
FIXTURE_VARIANT_ADD(stage_ops, epilogue_cores) { .what = EPILOGUE, .branches = CORES };

static int make_plans(struct desk *d, enum what which, uint32_t cores,
		      struct drm_rkmm_plan_create *plain, struct drm_rkmm_plan_create *first,
		      struct drm_rkmm_plan_create *second)
{
	uint32_t rows = cores == 1 ? 64 : 256;
	int ret;

	*plain = (struct drm_rkmm_plan_create){
		.types = DRM_RKMM_F16F32, .m = 96, .k = 256, .n = 384, .cores = cores,
	};
	*first = (struct drm_rkmm_plan_create){ .m = rows, .n = 256 };
	*second = (struct drm_rkmm_plan_create){ .m = 0 };
	switch (which) {
	case SOFTMAX:
		first->kind = DRM_RKMM_OP_SOFTMAX;
		break;
	case CHANNEL:
		first->kind = DRM_RKMM_OP_ADD;
		first->other = DRM_RKMM_OTHER_CHANNEL;
		break;
	case EPILOGUE:
		/* a matmul too (hw 03 O17): its feature is a constant */
		first->stages[0].kind = DRM_RKMM_OP_ADD;
		first->stages[0].other = DRM_RKMM_OTHER_CHANNEL;
		first->stages[1].kind = DRM_RKMM_OP_MUL;
		first->stages[1].other = DRM_RKMM_OTHER_CHANNEL;
		/* fall through */
	default:
		first->types = DRM_RKMM_F16F16;
		first->form = DRM_RKMM_FORM_CUBE;
		first->k = 64;
		break;
	}
	first->cores = cores;
	ret = desk_plan(d, plain);
	if (!ret)
		ret = desk_plan(d, first);
	if (ret || which != TEMPORARIES)
		return ret;
	*second = (struct drm_rkmm_plan_create){
		.types = DRM_RKMM_F16F16, .form = DRM_RKMM_FORM_CUBE, .m = rows, .k = first->n,
		.n = 64, .cores = cores,
	};
	return desk_plan(d, second);
}

FIXTURE_SETUP(stage_ops)
{
	uint32_t cores = variant->branches > 1 ? 7 : 1;
	struct drm_rkmm_plan_create *p = &self->first;
	struct desk *d = &self->d;
	char text[32] = "";

	self->fd = rk_open();
	ASSERT_LE(0, self->fd);
	file_read("/sys/module/rkmm/parameters/feature", text, sizeof(text));
	self->fixed = !strncmp(text, "fixed", 5);
	self->soft = !soft_fault("*.feature_cache=0,*.output_move=0,*.delay_us=3000");
	ASSERT_EQ(0, desk_init(d, self->fd));
	ASSERT_EQ(0, buf_create(self->fd, DESK_ROOM, &self->other));
	if (make_plans(d, variant->what, cores, &self->plain, p, &self->second) == -EOPNOTSUPP)
		SKIP(return, "derived, on silicon");
	EXPECT_EQ(0, p->fused);
	desk_fill(d, B, &self->plain.b, self->plain.k, self->plain.n, -1, 1);
	if (variant->what == TEMPORARIES)
		desk_fill(d, SPARE, &self->second.b, self->second.k, self->second.n, -1, 1);
	else if (variant->what == EPILOGUE)
		desk_fill(d, SPARE, &p->d, 1, p->n, -1, 1);
	memcpy(self->other.map, d->buf.map + SPARE * DESK_ROOM, DESK_ROOM);
	ASSERT_EQ(0, buf_end_write(&self->other));
	if (variant->what == CHANNEL)
		desk_fill(d, VECTOR, &p->b, 1, p->n, -1, 1);
	else if (variant->what == EPILOGUE)
		desk_fill(d, VECTOR, &p->e, 1, p->n, -1, 1);
	if (p->k)
		desk_fill(d, SPARE, &p->b, p->k, p->n, -1, 1);
}

FIXTURE_TEARDOWN(stage_ops)
{
	if (self->soft) {
		EXPECT_EQ(0, soft_fault("*.feature_cache=0,*.output_move=0,*.delay_us=0"));
	}
	buf_free(&self->other);
	desk_free(&self->d);
	close(self->fd);
}

/* The first branch reads where the matmul on buffers does: only there can it meet what was left. */
static int tensor_x(int i)
{
	return i ? X + 2 * i : A;
}

/* Operations of one branch; returns how many */
static int branch(const struct _test_data_stage_ops *self, enum what which, int i,
		  struct drm_rkmm_op *ops)
{
	const struct drm_rkmm_operand temp = { .handle = i, .flags = DRM_RKMM_OPERAND_TEMP };
	const struct drm_rkmm_operand other = { .handle = self->other.handle };
	const struct desk *d = &self->d;
	int result = RESULT + 2 * i;

	ops[0] = desk_bind(d, &self->first, tensor_x(i), which == CHANNEL ? VECTOR : SPARE, result,
			   VECTOR);
	if (which == EPILOGUE) {
		ops[0].d = other;
		ops[0].e = desk_operand(d, VECTOR);
	}
	if (which != TEMPORARIES)
		return 1;
	ops[0].c = temp;
	ops[1] = desk_bind(d, &self->second, 0, 0, result, 0);
	ops[1].a = temp;
	ops[1].b = other;
	return 2;
}

/*
 * Both kinds of submission in turns, on other values each time; results to @want, or compared with
 * it. Returns how many tensors differ, or -errno.
 */
static int turns(struct _test_data_stage_ops *self, enum what which, int branches, uint8_t *want,
		 bool compare)
{
	const struct drm_rkmm_plan_create *p = self->second.m ? &self->second : &self->first;
	struct drm_rkmm_op plain = desk_bind(&self->d, &self->plain, A, B, C, 0), ops[2 * CORES];
	uint32_t width = self->first.k ?: self->first.n;
	int round, i, n, ret, wrong = 0;
	struct desk *d = &self->d;

	rnd_seed(&d->rnd, 11);
	for (round = 0; round < ROUNDS; round++) {
		desk_fill(d, A, &self->plain.a, self->plain.m, self->plain.k, -1, 1);
		ret = desk_run(d, &plain, 1);
		for (i = 0, n = 0; i < branches; i++) {
			desk_fill(d, tensor_x(i), &self->first.a, self->first.m, width, -1, 1);
			n += branch(self, which, i, ops + n);
		}
		if (!ret)
			ret = desk_run(d, ops, n);
		if (ret)
			return ret;
		for (i = -1; i < branches; i++, want += DESK_ROOM) {
			const uint8_t *c = d->buf.map +
					   (i < 0 ? C : RESULT + 2 * i) * (size_t)DESK_ROOM;
			uint64_t size = i < 0 ? self->plain.c.size : p->c.size;

			if (!compare)
				memcpy(want, c, size);
			else
				wrong += !!memcmp(want, c, size);
		}
	}
	return wrong;
}

TEST_F_TIMEOUT(stage_ops, turns, CASE_TIMEOUT)
{
	long long seen[CORES] = { 0 }, stale, lost;
	int cores = 0, wrong, all = ROUNDS * (1 + variant->branches);
	uint8_t *want = malloc((size_t)all * DESK_ROOM);

	ASSERT_TRUE(want);
	ASSERT_EQ(0, turns(self, variant->what, variant->branches, want, false));
	if (self->soft) {
		ASSERT_EQ(0, soft_fault("*.feature_cache=1,*.output_move=1"));
	}
	stale = soft_count("stale_kicks", NULL, NULL);
	lost = soft_count("lost_kicks", NULL, NULL);
	soft_count("starts", seen, &cores);
	wrong = turns(self, variant->what, variant->branches, want, true);
	TH_LOG("%d of %d wrong", wrong, all);
	cores = 0;
	soft_count("starts", seen, &cores);
	if (self->soft) {
		EXPECT_EQ(variant->branches, cores);
	}
	if (self->fixed || !self->soft) {
		EXPECT_EQ(0, wrong);
		EXPECT_EQ(stale, soft_count("stale_kicks", NULL, NULL));
		EXPECT_EQ(lost, soft_count("lost_kicks", NULL, NULL));
	} else {
		EXPECT_LT(0, wrong);
		EXPECT_LT(stale, soft_count("stale_kicks", NULL, NULL));
		/* a matmul with operations behind it runs on one core at a time */
		if (variant->branches > 1 && variant->what != EPILOGUE) {
			EXPECT_LT(lost, soft_count("lost_kicks", NULL, NULL));
		}
	}
	free(want);
}

RKMM_TEST_MAIN
