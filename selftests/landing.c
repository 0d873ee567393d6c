// SPDX-License-Identifier: GPL-2.0
/*
 * Narrow output is in memory when its submission has ended, on cores whose last lines come
 * late (hw 03 O13). With landing=off the same must be wrong, or the test would prove nothing.
 */
#include <string.h>
#include "../kselftest_harness.h"
#include "rkmm_test.h"

#define CASE_TIMEOUT	240

enum landing {
	OFF,
	TRAILER,	/* matmuls with integers */
	BOTH,		/* and everything else */
};

FIXTURE(landing) {
	int fd;
	enum landing landing;
};

FIXTURE_SETUP(landing)
{
	char text[32] = "";

	self->fd = rk_open();
	ASSERT_LE(0, self->fd);
	if (!rk_is_soft(self->fd))
		SKIP(return, "needs the software NPU");
	file_read("/sys/module/rkmm/parameters/landing", text, sizeof(text));
	self->landing = !strncmp(text, "off", 3) ? OFF :
			!strncmp(text, "both", 4) ? BOTH : TRAILER;
	/* what is waited for must come earlier than the driver's time is over */
	if (soft_fault(self->landing == BOTH ? "*.late_output=100" : "*.late_output=1000000"))
		SKIP(return, "not root, or no debugfs");
}

FIXTURE_TEARDOWN(landing)
{
	soft_fault("*.late_output=0");
	close(self->fd);
}

static const struct mm shapes[] = {
	{ .types = DRM_RKMM_I4I16, .m = 20, .k = 512, .n = 64 },
	{ .types = DRM_RKMM_I4I16, .m = 1, .k = 700, .n = 200, .cores = 1 },
	{ .types = DRM_RKMM_I4I16, .m = 70, .k = 300, .n = 500 },
	{ .types = DRM_RKMM_I8I8, .m = 7, .k = 600, .n = 90, .mult = 300, .shift = 17 },
	{ .types = DRM_RKMM_F16F16, .m = 5, .k = 200, .n = 70 },
	{ .types = DRM_RKMM_I8I32, .m = 5, .k = 200, .n = 70 },
	{ .types = DRM_RKMM_F16F32, .m = 5, .k = 200, .n = 70 },
};

TEST_F_TIMEOUT(landing, each_type, CASE_TIMEOUT)
{
	unsigned int i, k;
	int ret;

	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		bool narrow = shapes[i].types != DRM_RKMM_I8I32 &&
			      shapes[i].types != DRM_RKMM_F16F32;
		bool wrong = narrow && (self->landing == OFF ||
					(self->landing == TRAILER &&
					 shapes[i].types == DRM_RKMM_F16F16));
		struct mm mm = shapes[i];

		ASSERT_EQ(0, mm_init(&mm, self->fd, i));
		/* what comes late from one run is what is missing in the next */
		for (k = 0; k < (wrong ? 1 : 3); k++) {
			/* nothing that an earlier run has written */
			ASSERT_EQ(0, mm_new_c(&mm));
			ret = mm_run(&mm);
			EXPECT_EQ(wrong ? -EBADMSG : 0, ret) {
				TH_LOG("%s, shape %u, run %u: %s", types_name(mm.types), i, k,
				       mm.msg);
			}
		}
		mm_free(&mm);
	}
}

/* Programs with other addresses in place, and several in flight */
TEST_F_TIMEOUT(landing, rotating, CASE_TIMEOUT)
{
	struct mm mm[12];
	uint64_t seqno = 0;
	int i, err;

	if (self->landing == OFF)
		SKIP(return, "nothing would be right");
	for (i = 0; i < 12; i++) {
		struct drm_rkmm_submit submit;
		struct drm_rkmm_op op;

		mm[i] = (struct mm){ .types = DRM_RKMM_I4I16, .m = 9, .k = 256, .n = 130 };
		ASSERT_EQ(0, mm_init(&mm[i], self->fd, 20 + i));
		op = mm_op(&mm[i]);
		submit_init(&submit, &op, 1);
		ASSERT_EQ(0, rk_submit(self->fd, &submit));
		seqno = submit.seqno;
	}
	ASSERT_EQ(0, rk_result(self->fd, seqno));
	for (i = 0; i < 12; i++) {
		ASSERT_EQ(0, rk_wait(self->fd, seqno - 11 + i, 0, &err));
		EXPECT_EQ(0, mm_check(&mm[i])) {
			TH_LOG("%d: %s", i, mm[i].msg);
		}
		mm_free(&mm[i]);
	}
}

RKMM_TEST_MAIN
