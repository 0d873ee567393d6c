// SPDX-License-Identifier: GPL-2.0
/*
 * The matrix of faults: which job survives what, whatever its neighbours do, and what is
 * left of it. Faults hit core 0; the neighbour keeps off it and must not notice.
 *
 * Every row is printed; Documentation/recovery.rst has them in a table.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "rkmm_desk.h"

#define CASE_TIMEOUT	600
#define KICKS		3
#define PARAMETERS	"/sys/module/rkmm/parameters/"

enum job { KICKS_OF_MATMULS, CHAIN, WRITES_ITS_INPUT, ONE_MATMUL, WORKS };

static const char *const job_names[] = { "matmuls", "chain", "input", "matmul" };

static const struct fault {
	const char *name;
	const char *sw;		/* armed as "0.SW=" and what the row says */
	bool in_kick;		/* it comes behind a task of a kick, else with a kick */
	const char *value;	/* before the number of jobs; NULL for none */
} faults[] = {
	{ "never-started", "never_start", false, NULL },
	{ "stalled", "stall", true, "" },
	{ "dma-error read", "error_irq", false, "0x1000" },
	{ "dma-error write", "error_irq", false, "0x2000" },
};

struct recover {
	int fd;
	struct mm mm[KICKS], one;
	struct desk d;
	struct drm_rkmm_op ops[WORKS][KICKS];
	uint32_t nops[WORKS];
	uint8_t *right;		/* what CHAIN gives when nothing happens */
};

FIXTURE(recover)
{
	struct recover r;
};

/* Tensors of the desk: the chain's, then those of what writes its input */
enum { Q, KT, V, SCORES, P, X, W, Y };

#define RESULT_BYTES	(65 * 64 * 2)	/* fp16 */

/* softmax(Q KT) V, scores overwritten by the product */
static int plan_chain(struct desk *d, struct drm_rkmm_op *ops)
{
	struct drm_rkmm_plan_create qk = {
		.types = DRM_RKMM_F16F16, .form = DRM_RKMM_FORM_CUBE, .m = 65, .k = 64, .n = 96,
	}, soft = { .kind = DRM_RKMM_OP_SOFTMAX, .m = 65, .n = 96, .scale = float_bits(0.1f) },
	pv = { .types = DRM_RKMM_F16F16, .form = DRM_RKMM_FORM_CUBE, .m = 65, .k = 96, .n = 64 };
	int ret = desk_plan(d, &qk);

	if (!ret)
		ret = desk_plan(d, &soft);
	if (!ret)
		ret = desk_plan(d, &pv);
	if (ret)
		return ret;
	desk_fill(d, Q, &qk.a, 65, 64, -2, 2);
	desk_fill(d, KT, &qk.b, 64, 96, -2, 2);
	desk_fill(d, V, &pv.b, 96, 64, -2, 2);
	ops[0] = desk_bind(d, &qk, Q, KT, SCORES, 0);
	ops[1] = desk_bind(d, &soft, SCORES, 0, P, 0);
	ops[2] = desk_bind(d, &pv, P, V, SCORES, 0);
	return 0;
}

/* Y = X + W; X = Y x W: the second time X is another one */
static int plan_input(struct desk *d, struct drm_rkmm_op *ops)
{
	struct drm_rkmm_plan_create add = { .kind = DRM_RKMM_OP_ADD, .m = 70, .n = 64 };
	struct drm_rkmm_plan_create mul = { .kind = DRM_RKMM_OP_MUL, .m = 70, .n = 64 };
	int ret = desk_plan(d, &add);

	if (!ret)
		ret = desk_plan(d, &mul);
	if (ret)
		return ret;
	desk_fill(d, X, &add.a, 70, 64, -2, 2);
	desk_fill(d, W, &add.b, 70, 64, -2, 2);
	ops[0] = desk_bind(d, &add, X, W, Y, 0);
	ops[1] = desk_bind(d, &mul, Y, W, X, 0);
	return 0;
}

static uint8_t *tensor(struct desk *d, int i)
{
	return d->buf.map + (uint64_t)i * DESK_ROOM;
}

FIXTURE_SETUP(recover)
{
	struct recover *r = &self->r;
	int i;

	r->fd = rk_open();
	if (r->fd < 0)
		SKIP(return, "no rkmm device");
	if (!rk_is_soft(r->fd) || soft_fault("*.never_start=0"))
		SKIP(return, "no fault switches: not the software NPU, or not root");
	/* fp16 with weights of their own are kicks of their own (hw 02 §7.1) */
	for (i = 0; i < KICKS; i++) {
		r->mm[i] = (struct mm) {
			.types = DRM_RKMM_F16F32, .m = 1500, .k = 64, .n = 16,
			.values = VALUES_SMALL_INT,
		};
		ASSERT_EQ(0, mm_init(&r->mm[i], r->fd, i));
		ASSERT_LE(3, r->mm[i].plan.programs);
		r->ops[KICKS_OF_MATMULS][i] = mm_op(&r->mm[i]);
	}
	r->nops[KICKS_OF_MATMULS] = KICKS;
	/* two programs in a kick, and another tiling */
	r->one = (struct mm){ .types = DRM_RKMM_I8I32, .m = 1100, .k = 32, .n = 32 };
	ASSERT_EQ(0, mm_init(&r->one, r->fd, KICKS));
	r->ops[ONE_MATMUL][0] = mm_op(&r->one);
	r->nops[ONE_MATMUL] = 1;

	ASSERT_EQ(0, desk_init(&r->d, r->fd));
	ASSERT_EQ(0, plan_chain(&r->d, r->ops[CHAIN]));
	r->nops[CHAIN] = 3;
	ASSERT_EQ(0, plan_input(&r->d, r->ops[WRITES_ITS_INPUT]));
	r->nops[WRITES_ITS_INPUT] = 2;
	ASSERT_EQ(0, desk_run(&r->d, r->ops[CHAIN], 3));
	ASSERT_EQ(0, buf_begin_read(&r->d.buf));
	r->right = malloc(RESULT_BYTES);
	ASSERT_NE(NULL, r->right);
	memcpy(r->right, tensor(&r->d, SCORES), RESULT_BYTES);
	/* much more than anything here takes, and little to wait for what hangs on purpose */
	ASSERT_EQ(0, file_write(PARAMETERS "timeout_floor_ms", "1000"));
	ASSERT_EQ(0, file_write(PARAMETERS "ban_after", "0"));
}

FIXTURE_TEARDOWN(recover)
{
	struct recover *r = &self->r;
	int i;

	soft_fault("*.never_start=0,*.stall=0,*.error_irq=0");
	file_write(PARAMETERS "timeout_floor_ms", "0");
	file_write(PARAMETERS "ban_after", "8");
	for (i = 0; i < KICKS; i++)
		mm_free(&r->mm[i]);
	mm_free(&r->one);
	desk_free(&r->d);
	free(r->right);
	close(r->fd);
}

/* Somebody else, on the other cores: right all the time, and never blamed */
static pid_t neighbour(int seed)
{
	struct mm mm = { .types = DRM_RKMM_I8I32, .m = 33, .k = 70, .n = 40, .cores = 6 };
	struct drm_rkmm_client_info info;
	pid_t pid = fork();
	int fd;

	if (pid)
		return pid;
	fd = rk_open();
	if (fd < 0 || mm_init(&mm, fd, seed))
		_exit(1);
	for (;;) {
		if (mm_new_c(&mm) || mm_run(&mm))
			_exit(2);
		if (rk_client(fd, &info) || info.guilty || info.banned)
			_exit(3);
	}
}

static int arm(const struct fault *f, int where, int times, uint32_t tasks)
{
	static const char *const off[] = { "never_start", "stall", "error_irq" };
	char text[80];
	unsigned int i, behind = where ? where == 1 ? tasks / 2 : tasks - 1 : 1;

	for (i = 0; i < 3; i++) {
		snprintf(text, sizeof(text), "0.%s=0", off[i]);
		if (soft_fault(text))
			return -1;
	}
	if (!times)
		return 0;
	if (f->in_kick)
		snprintf(text, sizeof(text), "0.%s=%u:%d", f->sw, behind, times);
	else if (f->value)
		snprintf(text, sizeof(text), "0.%s=%s:%d:%d", f->sw, f->value, times, where);
	else
		snprintf(text, sizeof(text), "0.%s=%d:%d", f->sw, times, where);
	return soft_fault(text);
}

/* The results of a submission that ended well */
static int wrong(struct recover *r, enum job work)
{
	int i, bad = 0;

	if (work == KICKS_OF_MATMULS)
		for (i = 0; i < KICKS; i++)
			bad += !!mm_check(&r->mm[i]);
	if (work == ONE_MATMUL)
		bad = !!mm_check(&r->one);
	if (work == CHAIN) {
		bad = !!buf_begin_read(&r->d.buf);
		bad += !!memcmp(r->right, tensor(&r->d, SCORES), RESULT_BYTES);
	}
	return bad;
}

static int begin(struct recover *r, enum job work)
{
	int i, ret = 0;

	if (work == KICKS_OF_MATMULS)
		for (i = 0; i < KICKS && !ret; i++)
			ret = mm_new_c(&r->mm[i]);
	if (work == ONE_MATMUL)
		ret = mm_new_c(&r->one);
	if (work == CHAIN) {
		memset(tensor(&r->d, SCORES), 0x55, RESULT_BYTES);
		ret = buf_end_write(&r->d.buf);
	}
	return ret;
}

/* One row. Return: what became of the submission. */
static int row(struct __test_metadata *_metadata, struct recover *r,
	       const struct fault *f, enum job work, uint32_t cores, int where, int times,
	       bool busy)
{
	struct drm_rkmm_client_info before, now;
	struct drm_rkmm_device_info dev, then;
	struct drm_rkmm_submit s;
	int result;

	EXPECT_EQ(0, begin(r, work));
	EXPECT_EQ(0, rk_client(r->fd, &before));
	EXPECT_EQ(0, rk_device(r->fd, &dev));
	EXPECT_EQ(0, arm(f, where, times, work == KICKS_OF_MATMULS ? r->mm[0].plan.programs :
					  work == ONE_MATMUL ? r->one.plan.programs : 5));
	submit_init(&s, r->ops[work], r->nops[work]);
	s.cores = cores;
	EXPECT_EQ(0, rk_submit(r->fd, &s));
	result = rk_result(r->fd, s.seqno);
	EXPECT_EQ(0, arm(f, 0, 0, 0));
	EXPECT_EQ(0, rk_client(r->fd, &now));
	EXPECT_EQ(0, rk_device(r->fd, &then));
	now.guilty -= before.guilty;
	/* cores that hang together share a reset */
	EXPECT_LE(then.resets - dev.resets, now.guilty);
	EXPECT_EQ(!now.guilty, then.resets == dev.resets);
	if (!result) {
		EXPECT_EQ(0, wrong(r, work)) {
			TH_LOG("wrong after recovery");
		}
	}
	TH_LOG("%s, %s, %s, %s, %s, %s: %llu resets, %s", f->name, job_names[work],
	       cores == 1 ? "1 core" : "3 cores", where ? where == 1 ? "middle" : "last" : "first",
	       times == 1 ? "once" : times == 2 ? "again" : "three times", busy ? "busy" : "idle",
	       (unsigned long long)now.guilty, result ? strerror(-result) : "recovered");
	/* on one core every start meets the fault that is armed */
	if (cores == 1 && now.guilty) {
		/* a single matmul has other programs for the third time */
		EXPECT_EQ(work == WRITES_ITS_INPUT || times > 1 + (work == ONE_MATMUL) ? -EIO : 0,
			  result);
	}
	if (times == 1 && work != WRITES_ITS_INPUT) {
		EXPECT_EQ(0, result);
	}
	return now.guilty;
}

static void matrix(struct __test_metadata *_metadata, struct recover *r,
		   const struct fault *f, bool busy)
{
	static const uint32_t cores[] = { 1, 7 };
	int work, c, where, times, status, hit = 0, all = 0;
	pid_t pid = busy ? neighbour(f - faults) : 0;

	for (work = 0; work < WORKS; work++) {
		for (c = 0; c < 2; c++) {
			for (where = 0; where < KICKS; where++) {
				/* one kick, so one place; and one lane, however many cores */
				if (work != KICKS_OF_MATMULS && where && (!f->in_kick || c))
					continue;
				for (times = 1; times < 3 + (work == ONE_MATMUL); times++) {
					hit += !!row(_metadata, r, f, work, cores[c], where,
						     times, busy);
					all++;
				}
			}
		}
	}
	TH_LOG("%s: %d of %d hit", f->name, hit, all);
	/* with three cores a later start may miss core 0; a chain may be shorter than thought */
	EXPECT_LE(all / 2, hit);
	if (!pid)
		return;
	EXPECT_EQ(0, waitpid(pid, &status, WNOHANG)) {
		TH_LOG("the neighbour ended with %d", WEXITSTATUS(status));
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
}

TEST_F_TIMEOUT(recover, never_started, CASE_TIMEOUT)
{
	matrix(_metadata, &self->r, &faults[0], false);
}

TEST_F_TIMEOUT(recover, stalled_busy, CASE_TIMEOUT)
{
	matrix(_metadata, &self->r, &faults[1], true);
}

TEST_F_TIMEOUT(recover, dma_read, CASE_TIMEOUT)
{
	matrix(_metadata, &self->r, &faults[2], false);
}

TEST_F_TIMEOUT(recover, dma_write_busy, CASE_TIMEOUT)
{
	matrix(_metadata, &self->r, &faults[3], true);
}

RKMM_TEST_MAIN
