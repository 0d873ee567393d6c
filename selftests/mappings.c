// SPDX-License-Identifier: GPL-2.0
/*
 * About 2340 mappings in one window hang the NPU (hw 03 M8): a client with more buffers
 * than that must not have as many mappings. With slabs=0, where every buffer has one of
 * its own, the same jobs must hang: mappings_apart.sh.
 */
#include "../kselftest_harness.h"
#include "rkmm_test.h"

#define CASE_TIMEOUT	240
#define BUFFERS		2400
#define AT_ONCE		300

static bool shared(void)
{
	char text[8] = "";

	file_read("/sys/module/rkmm/parameters/slabs", text, sizeof(text));
	return text[0] != 'N';
}

FIXTURE(mappings) {
	int fd;
	struct mm mm;
	struct buf *a;
};

FIXTURE_SETUP(mappings)
{
	uint32_t i;

	self->fd = rk_open();
	ASSERT_LE(0, self->fd);
	if (!rk_is_soft(self->fd))
		SKIP(return, "needs the software NPU");
	self->mm = (struct mm) { .types = DRM_RKMM_I8I32, .m = 2, .k = 32, .n = 32 };
	ASSERT_EQ(0, mm_init(&self->mm, self->fd, 600));
	self->a = calloc(BUFFERS, sizeof(*self->a));
	ASSERT_NE(NULL, self->a);
	for (i = 0; i < BUFFERS; i++) {
		ASSERT_EQ(0, buf_create(self->fd, self->mm.plan.a.size, &self->a[i]));
		memcpy(self->a[i].map, self->mm.a.map + self->mm.a_off, self->mm.plan.a.size);
		ASSERT_EQ(0, buf_end_write(&self->a[i]));
	}
	ASSERT_EQ(0, soft_fault("*.mappings=2340"));
}

FIXTURE_TEARDOWN(mappings)
{
	uint32_t i;

	soft_fault("*.mappings=0");
	for (i = 0; self->a && i < BUFFERS; i++)
		buf_free(&self->a[i]);
	free(self->a);
	mm_free(&self->mm);
	close(self->fd);
}

/* Each of them is A once; all stay mapped. */
TEST_F_TIMEOUT(mappings, many_small_buffers, CASE_TIMEOUT)
{
	static struct drm_rkmm_op ops[AT_ONCE];
	struct drm_rkmm_submit s;
	uint32_t at, i;
	int ret = 0;

	for (at = 0; at < BUFFERS; at += AT_ONCE) {
		for (i = 0; i < AT_ONCE; i++) {
			ops[i] = mm_op(&self->mm);
			ops[i].a.handle = self->a[at + i].handle;
			ops[i].a.offset = 0;
		}
		ASSERT_EQ(0, mm_new_c(&self->mm));
		submit_init(&s, ops, AT_ONCE);
		ASSERT_EQ(0, rk_submit(self->fd, &s));
		ret = rk_result(self->fd, s.seqno);
		if (ret)
			break;
		EXPECT_EQ(0, mm_check(&self->mm)) {
			TH_LOG("with %u buffers: %s", at + AT_ONCE, self->mm.msg);
		}
	}
	if (shared()) {
		EXPECT_EQ(0, ret) {
			TH_LOG("with %u buffers", at + AT_ONCE);
		}
	} else {
		EXPECT_EQ(-EIO, ret);
		EXPECT_LT(2000, at + AT_ONCE);
	}
}

RKMM_TEST_MAIN
