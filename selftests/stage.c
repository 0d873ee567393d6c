// SPDX-License-Identifier: GPL-2.0
/*
 * Are products right when A and C lie in another buffer each time (hw 03 S2, M3, M4)?
 *
 * The software NPU is told to misbehave as the sheets describe. With feature=fixed every result must
 * be right nevertheless. With feature=direct wrong results must be seen, or these tests could not
 * fail; where no software NPU is, they must not be seen: then the board is free of it.
 */
#include <signal.h>
#include "../kselftest_harness.h"
#include "rkmm_test.h"

#define CASE_TIMEOUT	240
#define MAX_BUFFERS	8
#define PARAMETERS	"/sys/module/rkmm/parameters/"
#define STATS		"/sys/kernel/debug/rkmm_soft/device/core%d/stats"

static bool is_fixed(void)
{
	char text[32] = "";

	file_read(PARAMETERS "feature", text, sizeof(text));
	return !strncmp(text, "fixed", 5);
}

/* Sum over the cores of one of the software NPU's counters */
static long long soft_count(const char *key)
{
	long long sum = 0, v;
	char path[80];
	int i;

	for (i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), STATS, i);
		v = file_number(path, key);
		if (v < 0)
			return v;
		sum += v;
	}
	return sum;
}

static int soft_cores_started(long long *starts)
{
	int i, cores = 0;
	char path[80];
	long long v;

	for (i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), STATS, i);
		v = file_number(path, "starts");
		cores += v > starts[i];
		starts[i] = v;
	}
	return cores;
}

static long long remaps(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	return file_number(path, "rkmm-stagings:");
}

/* Jobs of distinct buffers, one after the other, over and over; number of wrong results */
static int rotate(struct mm *mm, int n, int rounds, bool together)
{
	int wrong = 0, i, round, ret;

	for (round = 0; round < rounds; round++) {
		struct drm_rkmm_op op[MAX_BUFFERS];
		struct drm_rkmm_submit s;

		for (i = 0; i < n; i++) {
			mm_new_a(&mm[i]);
			ret = buf_end_write(&mm[i].a);
			if (!ret)
				ret = mm_new_c(&mm[i]);
			if (ret)
				return ret;
			op[i] = mm_op(&mm[i]);
		}
		for (i = 0; i < n; i++) {
			submit_init(&s, together ? op : &op[i], together ? n : 1);
			ret = rk_submit(mm->fd, &s);
			if (!ret)
				ret = rk_result(mm->fd, s.seqno);
			if (ret)
				return ret;
			if (together)
				break;
		}
		for (i = 0; i < n; i++)
			wrong += !!mm_check(&mm[i]);
	}
	return wrong;
}

FIXTURE(stage) {
	int fd;
	bool fixed;	/* feature=fixed */
	bool soft;	/* the software NPU, misbehaving */
	long long stale, lost;
};

/* Buffers, shape and cores of what rotates */
FIXTURE_VARIANT(stage) {
	uint32_t types, m, k, n, cores;
	int buffers;
	bool together;	/* steps of one submission */
};

FIXTURE_VARIANT_ADD(stage, row) {
	.types = DRM_RKMM_I8I32, .m = 1, .k = 128, .n = 64, .cores = 1, .buffers = 4,
};

FIXTURE_VARIANT_ADD(stage, rows) {
	.types = DRM_RKMM_F16F32, .m = 24, .k = 96, .n = 48, .cores = 1, .buffers = 4,
};

FIXTURE_VARIANT_ADD(stage, deep) {
	.types = DRM_RKMM_I4I16, .m = 16, .k = 256, .n = 64, .cores = 1, .buffers = 7,
};

FIXTURE_VARIANT_ADD(stage, steps) {
	/* fp16, which is not chained when weights lie in several buffers: a start each */
	.types = DRM_RKMM_F16F32, .m = 16, .k = 128, .n = 64, .cores = 1, .buffers = 5,
	.together = true,
};

FIXTURE_VARIANT_ADD(stage, row_cores) {
	.types = DRM_RKMM_I8I32, .m = 1, .k = 1024, .n = 1536, .cores = 7, .buffers = 4,
};

FIXTURE_VARIANT_ADD(stage, rows_cores) {
	.types = DRM_RKMM_F16F32, .m = 96, .k = 256, .n = 384, .cores = 7, .buffers = 4,
};

FIXTURE_VARIANT_ADD(stage, steps_cores) {
	.types = DRM_RKMM_F16F32, .m = 64, .k = 256, .n = 384, .cores = 7, .buffers = 6,
	.together = true,
};

FIXTURE_SETUP(stage)
{
	self->fd = rk_open();
	ASSERT_LE(0, self->fd);
	self->fixed = is_fixed();
	/* Runs that are longer than the time between two starts: the cores run together. */
	self->soft = !soft_fault("*.feature_cache=1,*.output_move=1,*.delay_us=3000");
	self->stale = soft_count("stale_kicks");
	self->lost = soft_count("lost_kicks");
}

/* Whatever was right by chance: the software NPU has counted what it did. */
FIXTURE_TEARDOWN(stage)
{
	close(self->fd);
	if (!self->soft)
		return;
	EXPECT_EQ(0, soft_fault("*.feature_cache=0,*.output_move=0,*.delay_us=0"));
	if (self->fixed) {
		EXPECT_EQ(self->stale, soft_count("stale_kicks"));
		EXPECT_EQ(self->lost, soft_count("lost_kicks"));
	}
}

static struct mm shape(const struct _fixture_variant_stage *v)
{
	return (struct mm) {
		.types = v->types, .m = v->m, .k = v->k, .n = v->n, .cores = v->cores,
	};
}

TEST_F_TIMEOUT(stage, rotating, CASE_TIMEOUT)
{
	long long stale = self->stale, lost = self->lost, starts[3] = { 0 };
	int n = variant->buffers, rounds = 4, wrong, i;
	struct mm mm[MAX_BUFFERS];

	for (i = 0; i < n; i++) {
		mm[i] = shape(variant);
		ASSERT_EQ(0, mm_init(&mm[i], self->fd, i));
	}
	soft_cores_started(starts);
	wrong = rotate(mm, n, rounds, variant->together);
	TH_LOG("%d of %d wrong", wrong, n * rounds);
	/* A shape that the planner no longer shares out proves nothing here. */
	if (self->soft && variant->cores != 1) {
		EXPECT_LT(1, soft_cores_started(starts));
	}
	if (self->fixed || !self->soft) {
		EXPECT_EQ(0, wrong);
	} else if (variant->cores == 1) {
		/* All but those of the first round, and with a single row most of that too */
		EXPECT_LE(n * (rounds - 1) + (variant->m == 1 ? n - 1 : 0), wrong);
		EXPECT_LE(stale + n * (rounds - 1), soft_count("stale_kicks"));
		EXPECT_EQ(lost, soft_count("lost_kicks"));
	} else {
		EXPECT_LE(n * (rounds - 1), wrong);
		EXPECT_LT(stale, soft_count("stale_kicks"));
		EXPECT_LT(lost, soft_count("lost_kicks"));
	}
	for (i = 0; i < n; i++)
		mm_free(&mm[i]);
}

/* Behind a reset the driver runs matmuls of its own (warmup=on) before the next job. */
TEST_F_TIMEOUT(stage, behind_resets, CASE_TIMEOUT)
{
	struct mm mm = shape(variant);
	int i, ret;

	if (!self->soft)
		SKIP(return, "no fault switches");
	ASSERT_EQ(0, mm_init(&mm, self->fd, 11));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, mm_new_c(&mm));
		ret = mm_run(&mm);
		if (self->fixed) {
			EXPECT_EQ(0, ret) {
				TH_LOG("before reset %d: %s", i, mm.msg);
			}
		}
		ASSERT_EQ(0, soft_fault("*.error_irq=0x1000:2"));
		ret = mm_run(&mm);
		ASSERT_EQ(0, soft_fault("*.error_irq=0"));
		EXPECT_TRUE(ret == 0 || ret == -EIO || (!self->fixed && ret == -EBADMSG));
		/* other features, or what a core still has of the last ones would be right */
		mm_new_a(&mm);
		ASSERT_EQ(0, buf_end_write(&mm.a));
		ASSERT_EQ(0, mm_new_c(&mm));
		ret = mm_run(&mm);
		if (self->fixed) {
			EXPECT_EQ(0, ret) {
				TH_LOG("behind reset %d: %s", i, mm.msg);
			}
		}
	}
	mm_free(&mm);
}

/* One buffer for each of A and C is right either way; what is staged stays. */
TEST_F_TIMEOUT(stage, same_buffers, CASE_TIMEOUT)
{
	struct mm mm = shape(variant);
	long long before;
	int wrong;

	ASSERT_EQ(0, mm_init(&mm, self->fd, 1));
	before = remaps(self->fd);
	/* Coming here from the buffers of other tests is a move. */
	wrong = rotate(&mm, 1, 1, false);
	if (self->fixed || !self->soft) {
		EXPECT_EQ(0, wrong);
	}
	EXPECT_EQ(0, rotate(&mm, 1, 5, false));
	EXPECT_EQ(before + self->fixed, remaps(self->fd));
	/* Fewer rows of the same plan are in the same place. */
	if (variant->cores == 1) {
		mm.rows = 1;
		EXPECT_EQ(0, rotate(&mm, 1, 3, false));
		EXPECT_EQ(before + self->fixed, remaps(self->fd));
	}
	mm_free(&mm);
}

/* A program for all places of A: its image is found wherever A lies. */
TEST_F_TIMEOUT(stage, one_image, CASE_TIMEOUT)
{
	struct mm mm = shape(variant);
	struct drm_rkmm_submit s;
	struct drm_rkmm_op op;
	struct buf other;
	long long hits;
	char path[64];
	int i;

	if (!self->fixed)
		SKIP(return, "not feature=fixed");
	ASSERT_EQ(0, mm_init(&mm, self->fd, 2));
	ASSERT_EQ(0, buf_create(self->fd, mm.a.size + mm.c.size, &other));
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", self->fd);
	EXPECT_EQ(0, mm_run(&mm));
	hits = file_number(path, "rkmm-image-hits:");
	for (i = 0; i < 4; i++) {
		op = mm_op(&mm);
		if (i % 2) {
			op.a.handle = other.handle;
			memcpy(other.map, mm.a.map, mm.a.size);
			ASSERT_EQ(0, buf_end_write(&other));
		}
		ASSERT_EQ(0, mm_new_c(&mm));
		submit_init(&s, &op, 1);
		ASSERT_EQ(0, rk_submit(self->fd, &s));
		EXPECT_EQ(0, rk_result(self->fd, s.seqno));
		EXPECT_EQ(0, mm_check(&mm)) {
			TH_LOG("%s", mm.msg);
		}
	}
	EXPECT_EQ(hits + 4, file_number(path, "rkmm-image-hits:"));
	buf_free(&other);
	mm_free(&mm);
}

/* A client of its own: 0 all right, 1 something wrong, 2 it did not work at all */
static int client(const struct _fixture_variant_stage *v, int seed, int rounds)
{
	/* Of all clients together so few that the software NPU remembers each. */
	int fd = rk_open(), n = v->buffers < 4 ? v->buffers : 4, wrong, i;
	struct mm mm[MAX_BUFFERS];

	if (fd < 0)
		return 2;
	for (i = 0; i < n; i++) {
		mm[i] = shape(v);
		mm[i].n += 32 * (seed % 3);
		if (mm_init(&mm[i], fd, seed * 100 + i))
			return 2;
	}
	wrong = rotate(mm, n, rounds, v->together);
	for (i = 0; i < n; i++)
		mm_free(&mm[i]);
	close(fd);
	return wrong < 0 ? 2 : !!wrong;
}

TEST_F_TIMEOUT(stage, clients, CASE_TIMEOUT)
{
	int i, status, seen[3] = { 0 };
	pid_t pid;

	for (i = 0; i < 3; i++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid)
			_exit(client(variant, i, 4));
	}
	for (i = 0; i < 3; i++) {
		ASSERT_LT(0, wait(&status));
		ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) < 3);
		seen[WEXITSTATUS(status)]++;
	}
	EXPECT_EQ(0, seen[2]);
	if (self->fixed || !self->soft) {
		EXPECT_EQ(3, seen[0]);
	} else {
		EXPECT_LT(0, seen[1]);
	}
}

/* ---- what is staged goes ---------------------------------------------------------- */

FIXTURE(staged) {
	int fd;
	long long refs;
	struct mm mm;
};

FIXTURE_SETUP(staged)
{
	self->refs = module_refs();
	self->fd = rk_open();
	ASSERT_LE(0, self->fd);
	self->mm = (struct mm) { .types = DRM_RKMM_I8I32, .m = 40, .k = 256, .n = 768 };
	ASSERT_EQ(0, mm_init(&self->mm, self->fd, 3));
	ASSERT_EQ(0, mm_run(&self->mm));
}

FIXTURE_TEARDOWN(staged)
{
	mm_free(&self->mm);
	close(self->fd);
	if (self->refs >= 0) {
		EXPECT_EQ(self->refs, module_refs_settle(self->refs));
	}
}

/* Freed with their pages staged; others are staged there. */
TEST_F_TIMEOUT(staged, freed, CASE_TIMEOUT)
{
	int i;

	for (i = 0; i < 6; i++) {
		mm_free(&self->mm);
		self->mm = (struct mm) {
			.types = DRM_RKMM_I8I32, .m = 40 - 5 * i, .k = 256, .n = 768 - 64 * i,
		};
		ASSERT_EQ(0, mm_init(&self->mm, self->fd, i));
		EXPECT_EQ(0, mm_run(&self->mm));
	}
}

/* Only one of them is freed: the other is staged again. */
TEST_F_TIMEOUT(staged, half_freed, CASE_TIMEOUT)
{
	struct mm *mm = &self->mm;
	struct buf c;

	ASSERT_EQ(0, buf_create(self->fd, mm->c.size, &c));
	buf_free(&mm->c);
	mm->c = c;
	ASSERT_EQ(0, mm_new_c(mm));
	EXPECT_EQ(0, mm_run(mm));
}

/* The client goes with its operands staged, by itself or not. */
TEST_F_TIMEOUT(staged, killed, CASE_TIMEOUT)
{
	int i, status;
	pid_t pid;

	for (i = 0; i < 6; i++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			struct mm mm[2] = {
				{ .types = DRM_RKMM_I8I32, .m = 9, .k = 64, .n = 400 },
				{ .types = DRM_RKMM_F16F32, .m = 70, .k = 96, .n = 300 },
			};
			int fd = rk_open();

			if (mm_init(&mm[0], fd, i) || mm_init(&mm[1], fd, i))
				_exit(1);
			for (;;)
				if (mm_run(&mm[0]) || mm_run(&mm[1]))
					_exit(2);
		}
		msleep(150 + 37 * i);
		kill(pid, SIGKILL);
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_TRUE(WIFSIGNALED(status));
		EXPECT_EQ(0, mm_run(&self->mm));
	}
}

/* A reset leaves it staged. */
TEST_F_TIMEOUT(staged, reset, CASE_TIMEOUT)
{
	long long before = remaps(self->fd);

	if (soft_fault("*.never_start=3"))
		SKIP(return, "no fault switches");
	EXPECT_EQ(-EIO, mm_run(&self->mm));
	ASSERT_EQ(0, soft_fault("*.never_start=0"));
	EXPECT_EQ(0, mm_run(&self->mm));
	EXPECT_EQ(before, remaps(self->fd));
}

/* An operand larger than its range is refused; one that fits is not. */
TEST_F_TIMEOUT(staged, too_large, CASE_TIMEOUT)
{
	struct mm mm = { .types = DRM_RKMM_I8I32, .m = 4096, .k = 8192, .n = 16, .cores = 1 };
	long long mib = file_number(PARAMETERS "window_mib", NULL);
	struct drm_rkmm_submit s;
	struct drm_rkmm_op op;
	struct buf big, c;

	/* A quarter of the window for both ranges, and two pages less */
	if (!is_fixed() || mib > 256)
		SKIP(return, "not feature=fixed, or a large window");
	ASSERT_EQ(0, mm_plan(&mm, self->fd));
	ASSERT_LE((uint64_t)mib << 17, mm.plan.a.size);
	ASSERT_EQ(0, buf_create(self->fd, mm.plan.a.size, &big));
	ASSERT_EQ(0, buf_create(self->fd, mm.plan.c.size + mm.plan.b.size, &c));
	op = (struct drm_rkmm_op) {
		.plan = mm.plan.plan, .a = { .handle = big.handle },
		.b = { .handle = c.handle }, .c = { .handle = c.handle },
	};
	op.b.offset = (mm.plan.c.size + 63) / 64 * 64;
	submit_init(&s, &op, 1);
	EXPECT_EQ(-ENOSPC, rk_submit(self->fd, &s));
	EXPECT_EQ(0, mm_run(&self->mm));
	buf_free(&big);
	buf_free(&c);
	mm_free(&mm);
}

RKMM_TEST_MAIN
