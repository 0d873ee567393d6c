// SPDX-License-Identifier: GPL-2.0
/*
 * The time that the software NPU accounts, against the law of hw 03 §6.2 written out
 * here, and that waiting for it changes neither results nor their order.
 */
#include <stdio.h>
#include <string.h>
#include "../kselftest_harness.h"
#include "rkmm_test.h"

#define PARAMETERS	"/sys/module/rkmm_soft/parameters/"
#define STATS		"/sys/kernel/debug/rkmm_soft/device/core%d/stats"
#define CASE_TIMEOUT	240

/* The fit of hw 03 §6.2 for one core at work: ns, and per us */
#define I4_TASK		600
#define I4_RATE		220000
#define ROW_START	410000
#define ROW_RATE	8200
#define I8_START	56000
#define I8_RATE		9600
#define I8_MACS		450000
#define F16_START	400000
#define F16_RATE	24000
#define F16_MACS	150000

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* One program on one core, times and rates by @percent */
static uint64_t law(const struct mm *mm, uint64_t percent)
{
	uint64_t b = (uint64_t)mm->k * mm->n, macs = b * mm->m;
#define T(ns)		((ns) * percent / 100)
#define R(count, rate)	((count) * 1000 / ((rate) * 100 / percent))
	switch (mm->types) {
	case DRM_RKMM_I4I16:
		return mm->m == 1 ? T(ROW_START) + R(b / 2, ROW_RATE) :
		       T(I4_TASK) + R(macs, I4_RATE);
	case DRM_RKMM_F16F32:
		return T(F16_START) + most(R(2 * b, F16_RATE), R(macs, F16_MACS));
	default:
		return T(I8_START) + most(R(b, I8_RATE), R(macs, I8_MACS));
	}
#undef T
#undef R
}

struct sums {
	long long starts, tasks, model_ns;
};

static int sums(struct sums *s)
{
	char path[80];
	int i;

	*s = (struct sums){ 0 };
	for (i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), STATS, i);
		if (file_number(path, "model_ns") < 0)
			return -1;
		s->starts += file_number(path, "starts");
		s->tasks += file_number(path, "tasks");
		s->model_ns += file_number(path, "model_ns");
	}
	return 0;
}

static int set(const char *name, const char *value)
{
	char path[80];

	snprintf(path, sizeof(path), PARAMETERS "%s", name);
	return file_write(path, value);
}

FIXTURE(time) {
	int fd;
	bool soft;
};

FIXTURE_SETUP(time)
{
	struct sums s;

	self->fd = rk_open();
	ASSERT_LE(0, self->fd);
	if (!rk_is_soft(self->fd) || sums(&s) || set("time", "off"))
		SKIP(return, "not the software NPU, not root, or no debugfs");
	self->soft = true;
}

FIXTURE_TEARDOWN(time)
{
	if (self->soft) {
		EXPECT_EQ(0, set("time", "off"));
		EXPECT_EQ(0, soft_fault("*.late_output=0"));
		EXPECT_EQ(0, set("time_percent", "100"));
		EXPECT_EQ(0, set("time_perturb", "0"));
		EXPECT_EQ(0, set("time_profile", "default"));
	}
	close(self->fd);
}

/* Model time of a run that was one start of one task; -1 if it never was. */
static long long alone(struct mm *mm)
{
	struct sums a, b;
	int i;

	/* the first may come with priming, and power may go between two of them */
	for (i = 0; i < 6; i++) {
		if (sums(&a) || mm_run(mm) || sums(&b))
			return -1;
		if (i && b.starts == a.starts + 1 && b.tasks == a.tasks + 1)
			return b.model_ns - a.model_ns;
	}
	return -1;
}

static const struct mm shapes[] = {
	{ .types = DRM_RKMM_I8I32, .m = 5, .k = 64, .n = 32, .cores = 1 },
	{ .types = DRM_RKMM_I8I32, .m = 60, .k = 1024, .n = 96, .cores = 1 },
	{ .types = DRM_RKMM_F16F32, .m = 3, .k = 128, .n = 32, .cores = 1 },
	{ .types = DRM_RKMM_I4I16, .m = 1, .k = 64, .n = 64, .cores = 1 },
	{ .types = DRM_RKMM_I4I16, .m = 20, .k = 512, .n = 64, .cores = 1 },
};

TEST_F_TIMEOUT(time, accounted, CASE_TIMEOUT)
{
	static const char * const percent[] = { "100", "300" };
	unsigned int i, p, seen = 0;

	ASSERT_EQ(0, set("time", "virtual"));
	for (p = 0; p < 2; p++) {
		ASSERT_EQ(0, set("time_percent", percent[p]));
		for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
			struct mm mm = shapes[i];
			long long ns;

			ASSERT_EQ(0, mm_init(&mm, self->fd, i));
			ns = alone(&mm);
			mm_free(&mm);
			/* programs behind the matmul's own say when narrow output is there */
			if (ns < 0 && mm.types == DRM_RKMM_I4I16) {
				TH_LOG("shape %u: more than one task, not compared", i);
				continue;
			}
			ASSERT_LE(0, ns);
			EXPECT_EQ((long long)law(&mm, p ? 300 : 100), ns) {
				TH_LOG("shape %u at %s percent", i, percent[p]);
			}
			seen++;
		}
	}
	EXPECT_LE(6, seen);
}

TEST_F_TIMEOUT(time, parameters, CASE_TIMEOUT)
{
	struct mm mm = shapes[0];
	long long a, b, c;
	struct sums s, t;

	EXPECT_GT(0, set("time", "maybe"));
	EXPECT_GT(0, set("time_profile", "234"));
	ASSERT_EQ(0, set("time", "virtual"));
	ASSERT_EQ(0, mm_init(&mm, self->fd, 1));
	a = alone(&mm);
	ASSERT_EQ(0, set("time_perturb", "5"));
	b = alone(&mm);
	ASSERT_EQ(0, set("time_perturb", "6"));
	c = alone(&mm);
	EXPECT_LT(0, a);
	EXPECT_NE(a, b);
	EXPECT_NE(b, c);
	EXPECT_LT(a * 69 / 100, b);
	/* a start and a rate that both move by 30 percent */
	EXPECT_GT(a * 144 / 100, b);

	ASSERT_EQ(0, set("time", "off"));
	ASSERT_EQ(0, sums(&s));
	ASSERT_EQ(0, mm_run(&mm));
	ASSERT_EQ(0, sums(&t));
	EXPECT_EQ(s.model_ns, t.model_ns);
	mm_free(&mm);
}

/* Waiting for ends that come late: right results, in the order of submission. */
TEST_F_TIMEOUT(time, waited_for, CASE_TIMEOUT)
{
	static const uint32_t types[] = { DRM_RKMM_I8I32, DRM_RKMM_I4I16, DRM_RKMM_F16F32,
					  DRM_RKMM_I8I8 };
	struct mm mm[4];
	uint64_t seqno[4];
	struct sums s, t;
	struct rnd rnd;
	int i, err;

	rnd_seed(&rnd, 77);
	ASSERT_EQ(0, sums(&s));
	ASSERT_EQ(0, set("time", "real"));
	/* slower than the emulator computes */
	ASSERT_EQ(0, set("time_percent", "30000"));
	for (i = 0; i < 4; i++) {
		mm[i] = (struct mm){ .types = types[i], .m = 1 + rnd_below(&rnd, 20),
				     .k = 32 + rnd_below(&rnd, 200),
				     .n = 16 + rnd_below(&rnd, 200) };
		if (types[i] == DRM_RKMM_I8I8) {
			mm[i].mult = 300;
			mm[i].shift = 17;
		}
		ASSERT_EQ(0, mm_init(&mm[i], self->fd, 10 + i));
	}
	for (i = 0; i < 4; i++) {
		struct drm_rkmm_op op = mm_op(&mm[i]);
		struct drm_rkmm_submit submit;

		submit_init(&submit, &op, 1);
		ASSERT_EQ(0, rk_submit(self->fd, &submit));
		seqno[i] = submit.seqno;
	}
	ASSERT_EQ(0, rk_result(self->fd, seqno[3]));
	for (i = 0; i < 4; i++) {
		/* over long ago */
		EXPECT_EQ(0, rk_wait(self->fd, seqno[i], 0, &err));
		EXPECT_EQ(0, err);
		EXPECT_EQ(0, mm_check(&mm[i])) {
			TH_LOG("%s: %s", types_name(types[i]), mm[i].msg);
		}
		mm_free(&mm[i]);
	}
	ASSERT_EQ(0, sums(&t));
	EXPECT_LT(s.model_ns, t.model_ns);
}

/* Narrow output that ends after its job (hw 03 O13) is there when the driver says so. */
TEST_F_TIMEOUT(time, late_output, CASE_TIMEOUT)
{
	struct mm mm = { .types = DRM_RKMM_I4I16, .m = 20, .k = 512, .n = 64, .cores = 1 };

	ASSERT_EQ(0, mm_init(&mm, self->fd, 5));
	ASSERT_EQ(0, mm_run(&mm));
	ASSERT_EQ(0, mm_new_c(&mm));
	ASSERT_EQ(0, soft_fault("*.late_output=200000"));
	EXPECT_EQ(0, mm_run(&mm)) {
		TH_LOG("late: %s", mm.msg);
	}
	ASSERT_EQ(0, soft_fault("*.late_output=0"));
	msleep(500);
	ASSERT_EQ(0, mm_new_c(&mm));
	EXPECT_EQ(0, mm_run(&mm)) {
		TH_LOG("on time: %s", mm.msg);
	}
	mm_free(&mm);
}

RKMM_TEST_MAIN
