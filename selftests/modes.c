// SPDX-License-Identifier: GPL-2.0
/*
 * Are the cores reset between datapath modes where the table says so, and nowhere else? With
 * transitions=warm the same crossings must be wrong on a core that needs the reset, or the
 * test would prove nothing.
 */
#include <string.h>
#include "../kselftest_harness.h"
#include "rkmm_desk.h"

#define CASE_TIMEOUT	240
#define K		2560	/* from there on the software NPU has the hazard */

static int sched_info(int fd, struct drm_rkmm_sched_info *info)
{
	struct drm_rkmm_query q = {
		.id = DRM_RKMM_QUERY_SCHED, .size = sizeof(*info), .pointer = (uintptr_t)info,
	};

	return xioctl(fd, DRM_IOCTL_RKMM_QUERY, &q);
}

FIXTURE(modes) {
	int fd;
	bool warm;
	struct mm i8, i4, f16;
	struct drm_rkmm_sched_info before, now;
};

FIXTURE_SETUP(modes)
{
	char text[128] = "";

	self->fd = rk_open();
	ASSERT_LE(0, self->fd);
	if (!rk_is_soft(self->fd))
		SKIP(return, "needs the software NPU");
	file_read("/sys/module/rkmm/parameters/transitions", text, sizeof(text));
	self->warm = strncmp(text, "table", 5);
	self->i8 = (struct mm) { .types = DRM_RKMM_I8I32, .m = 6, .k = K, .n = 70 };
	self->i4 = (struct mm) { .types = DRM_RKMM_I4I16, .m = 6, .k = K, .n = 70 };
	self->f16 = (struct mm) { .types = DRM_RKMM_F16F32, .m = 6, .k = 300, .n = 70 };
	ASSERT_EQ(0, mm_init(&self->i8, self->fd, 1));
	ASSERT_EQ(0, mm_init(&self->i4, self->fd, 2));
	ASSERT_EQ(0, mm_init(&self->f16, self->fd, 3));
	ASSERT_EQ(0, soft_fault("*.transition=1"));
	ASSERT_EQ(0, sched_info(self->fd, &self->before));
}

FIXTURE_TEARDOWN(modes)
{
	soft_fault("*.transition=0");
	if (self->f16.fd) {
		mm_free(&self->i8);
		mm_free(&self->i4);
		mm_free(&self->f16);
	}
	close(self->fd);
}

/* Results that are wrong; anything else that goes wrong is negative. */
static int run(struct mm *mm)
{
	int ret = mm_new_c(mm);

	if (!ret)
		ret = mm_run(mm);
	return ret == -EBADMSG ? 1 : ret;
}

TEST_F_TIMEOUT(modes, crossings, CASE_TIMEOUT)
{
	int i, ret, wrong = 0;

	for (i = 0; i < 6; i++) {
		ret = run(i % 2 ? &self->i4 : &self->i8);
		ASSERT_LE(0, ret);
		wrong += ret;
	}
	ASSERT_EQ(0, sched_info(self->fd, &self->now));
	if (self->warm) {
		EXPECT_LT(0, wrong);
		EXPECT_EQ(self->before.mode_resets, self->now.mode_resets);
	} else {
		EXPECT_EQ(0, wrong);
		EXPECT_LE(5, self->now.mode_resets - self->before.mode_resets);
	}
	EXPECT_LE(5, self->now.mode_changes - self->before.mode_changes);
}

/* Steps of a submission, and operations that were joined to a group */
TEST_F_TIMEOUT(modes, one_submission, CASE_TIMEOUT)
{
	int i, wrong = 0;

	for (i = 0; i < 2; i++) {
		struct drm_rkmm_op op[] = {
			mm_op(&self->i8), mm_op(&self->i4), mm_op(&self->f16),
		};
		struct drm_rkmm_submit s;

		ASSERT_EQ(0, mm_new_c(&self->i8));
		ASSERT_EQ(0, mm_new_c(&self->i4));
		ASSERT_EQ(0, mm_new_c(&self->f16));
		op[1].flags = op[2].flags = i ? DRM_RKMM_OP_GROUPED : 0;
		submit_init(&s, op, 3);
		ASSERT_EQ(0, rk_submit(self->fd, &s));
		ASSERT_EQ(0, rk_result(self->fd, s.seqno));
		wrong += mm_check(&self->i8) + mm_check(&self->i4) + mm_check(&self->f16);
	}
	ASSERT_EQ(0, sched_info(self->fd, &self->now));
	if (self->warm) {
		EXPECT_LT(0, wrong);
	} else {
		EXPECT_EQ(0, wrong);
		EXPECT_LE(3, self->now.mode_resets - self->before.mode_resets);
	}
}

/* One mode, or two that are kept warm: not a single reset */
TEST_F_TIMEOUT(modes, no_crossing, CASE_TIMEOUT)
{
	int i;

	ASSERT_LE(0, run(&self->i8));
	if (self->warm)
		return;
	ASSERT_EQ(0, sched_info(self->fd, &self->before));
	for (i = 0; i < 4; i++)
		EXPECT_EQ(0, run(&self->i8));
	ASSERT_EQ(0, sched_info(self->fd, &self->now));
	EXPECT_EQ(self->before.mode_resets, self->now.mode_resets);
	for (i = 0; i < 4; i++) {
		/* on whichever core: after a reset none of them is in a mode that needs one */
		EXPECT_EQ(0, run(&self->f16));
		EXPECT_EQ(0, run(&self->i8));
	}
	ASSERT_EQ(0, sched_info(self->fd, &self->now));
	EXPECT_EQ(self->before.mode_resets, self->now.mode_resets);
}

/* On core 0 */
static int run_there(int fd, const struct drm_rkmm_op *ops, uint32_t n)
{
	struct drm_rkmm_submit s = {
		.ops = { sizeof(*ops), n, (uintptr_t)ops }, .flags = DRM_RKMM_SUBMIT_WAIT,
		.deadline_ns = after(120 * SEC), .cores = 1,
	};
	int ret = xioctl(fd, DRM_IOCTL_RKMM_SUBMIT, &s);

	return ret ?: (int)s.wait_status ?: (int)s.result;
}

/*
 * int8 in the DPU, in the start after an int8 matmul, hangs the core (hw 03 O14), which is started
 * again behind a reset. Where the driver knows, the reset is before it, once; and there is none in
 * one chain with the matmul.
 */
TEST_F_TIMEOUT(modes, int8_operation, CASE_TIMEOUT)
{
	struct drm_rkmm_plan_create relu = {
		.kind = DRM_RKMM_OP_RELU, .types = DRM_RKMM_I8, .m = 40, .n = 64,
	};
	struct drm_rkmm_plan_create add = {
		.kind = DRM_RKMM_OP_ADD, .types = DRM_RKMM_I8, .m = 40, .n = 64,
	};
	struct desk *d = calloc(1, sizeof(*d));
	struct drm_rkmm_client_info was, is;
	struct drm_rkmm_op ops[2];
	int i;

	ASSERT_NE(NULL, d);
	ASSERT_EQ(0, desk_init(d, self->fd));
	ASSERT_EQ(0, desk_plan(d, &relu));
	ASSERT_EQ(0, buf_end_write(&d->buf));
	ops[0] = mm_op(&self->i8);
	ops[1] = desk_bind(d, &relu, 0, 0, 1, 0);
	/* first, twice */
	EXPECT_EQ(0, run_there(self->fd, &ops[1], 1));
	ASSERT_EQ(0, soft_fault("*.int8_wedge=1"));
	EXPECT_EQ(0, run_there(self->fd, &ops[1], 1));
	ASSERT_EQ(0, sched_info(self->fd, &self->before));
	ASSERT_EQ(0, run_there(self->fd, ops, 2));
	ASSERT_EQ(0, rk_client(self->fd, &was));
	EXPECT_EQ(0, run_there(self->fd, &ops[1], 1));
	ASSERT_EQ(0, rk_client(self->fd, &is));
	EXPECT_EQ(was.guilty + self->warm, is.guilty);
	EXPECT_EQ(0, run_there(self->fd, &ops[1], 1));
	ASSERT_EQ(0, sched_info(self->fd, &self->now));
	EXPECT_EQ(self->before.mode_resets + !self->warm, self->now.mode_resets);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(0, run_there(self->fd, ops, 2));
	ASSERT_EQ(0, sched_info(self->fd, &self->before));
	EXPECT_EQ(self->now.mode_resets, self->before.mode_resets);
	/*
	 * Two inputs behind a matmul of int32 are a start of their own, behind a reset. It has no
	 * matmul, and leaves nothing that would need another one.
	 */
	if (!self->warm) {
		ASSERT_EQ(0, desk_plan(d, &add));
		ops[1] = desk_bind(d, &add, 0, 1, 2, 0);
		EXPECT_EQ(0, run_there(self->fd, ops, 2));
		ops[1] = desk_bind(d, &relu, 0, 0, 1, 0);
		EXPECT_EQ(0, run_there(self->fd, &ops[1], 1));
		ASSERT_EQ(0, sched_info(self->fd, &self->now));
		EXPECT_EQ(self->before.mode_resets + 1, self->now.mode_resets);
	}
	ASSERT_EQ(0, soft_fault("*.int8_wedge=0"));
	desk_free(d);
	free(d);
}

/* Two clients with jobs queued: the policy brings those of a mode together. */
TEST_F_TIMEOUT(modes, two_clients, CASE_TIMEOUT)
{
	struct mm other = { .types = DRM_RKMM_I4I16, .m = 2, .k = 500, .n = 70 };
	struct mm mine = { .types = DRM_RKMM_I8I32, .m = 2, .k = 500, .n = 70 };
	int fd = rk_open(), i, k, njobs = 40;
	struct drm_rkmm_sync in[2] = { { 0 } };
	struct mm *mm[2] = { &mine, &other };
	struct drm_rkmm_submit s[2];
	struct gate gate;

	if (gate_init(&gate))
		SKIP(return, "vgem is missing");
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, gate_shut(&gate));
	ASSERT_EQ(0, mm_init(&mine, self->fd, 4));
	ASSERT_EQ(0, mm_init(&other, fd, 5));
	for (k = 0; k < 2; k++) {
		struct drm_rkmm_op op = mm_op(mm[k]);

		ASSERT_EQ(0, gate_syncobj(&gate, mm[k]->fd, &in[k].handle));
		for (i = 0; i < njobs; i++) {
			submit_init(&s[k], &op, 1);
			if (!i)
				submit_syncs(&s[k], &in[k], 1, NULL, 0);
			ASSERT_EQ(0, rk_submit(mm[k]->fd, &s[k]));
		}
	}
	ASSERT_EQ(0, gate_open(&gate));
	for (k = 0; k < 2; k++) {
		ASSERT_EQ(0, rk_result(mm[k]->fd, s[k].seqno));
		EXPECT_EQ(0, mm_check(mm[k])) {
			TH_LOG("%s", mm[k]->msg);
		}
	}
	ASSERT_EQ(0, sched_info(self->fd, &self->now));
	TH_LOG("%llu resets for %d jobs, %llu changes avoided",
	       (unsigned long long)(self->now.mode_resets - self->before.mode_resets), 2 * njobs,
	       (unsigned long long)(self->now.mode_changes_avoided -
				    self->before.mode_changes_avoided));
	EXPECT_GT(njobs, self->now.mode_resets - self->before.mode_resets);
	mm_free(&mine);
	mm_free(&other);
	gate_free(&gate);
	close(fd);
}

RKMM_TEST_MAIN
