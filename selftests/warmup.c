// SPDX-License-Identifier: GPL-2.0
/*
 * The first matmuls after a reset are right on cores that hang at, or make nothing of, their first
 * ones (hw 03 S1, S4, S5, S6), because the driver's own come first (warmup=on). With warmup=off
 * they must fail, or the test would prove nothing.
 */
#include <string.h>
#include "../kselftest_harness.h"
#include "rkmm_test.h"

#define CASE_TIMEOUT	300

static const uint32_t types[] = { DRM_RKMM_F16F32, DRM_RKMM_I8I32, DRM_RKMM_I4I16 };

FIXTURE(warmup) {
	bool on;
};

FIXTURE_SETUP(warmup)
{
	char text[16] = "";
	int fd = rk_open();
	bool soft;

	ASSERT_LE(0, fd);
	soft = rk_is_soft(fd);
	close(fd);
	file_read("/sys/module/rkmm/parameters/warmup", text, sizeof(text));
	self->on = !strncmp(text, "on", 2);
	if (!soft || soft_fault("*.untouched=1,*.cold=1"))
		SKIP(return, "not the software NPU, or not root");
}

FIXTURE_TEARDOWN(warmup)
{
	soft_fault("*.untouched=0,*.cold=0,*.never_start=0");
}

/* By a client of its own: those that hang again and again are refused. */
static int run(uint32_t type, bool hang)
{
	struct mm mm = { .types = type, .m = 5, .k = 200, .n = 70, .cores = 1 };
	int fd = rk_open(), ret;

	if (fd < 0)
		return fd;
	ret = mm_init(&mm, fd, type + 1);
	if (!ret && hang)
		ret = soft_fault("0.never_start=1");
	if (!ret)
		ret = mm_run(&mm);
	mm_free(&mm);
	close(fd);
	return ret;
}

/* Whatever there was before: the module may have been loaded just now. */
TEST_F_TIMEOUT(warmup, as_found, CASE_TIMEOUT)
{
	int i, k;

	for (k = 0; self->on && k < 2; k++)
		for (i = 0; i < 3; i++)
			EXPECT_EQ(0, run(types[i], false)) {
				TH_LOG("%s", types_name(types[i]));
			}
}

/* A job that never starts takes a reset, and is the first one behind it when it runs again. */
TEST_F_TIMEOUT(warmup, after_a_reset, CASE_TIMEOUT)
{
	int i, want;

	for (i = 0; i < 3; i++) {
		/* fp16 hangs once more; once int8 has run the others write nothing */
		want = self->on ? 0 : i ? -EBADMSG : -EIO;
		/* into its mode, so that it is the job that does not start */
		run(types[i], false);
		EXPECT_EQ(want, run(types[i], true)) {
			TH_LOG("%s", types_name(types[i]));
		}
	}
}

RKMM_TEST_MAIN
