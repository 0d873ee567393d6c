// SPDX-License-Identifier: GPL-2.0
/*
 * Transitions that are kept warm on proof (transitions=prove): as long as known results are right
 * behind them there are no resets; as soon as they are not, the verdict is the reset. No client
 * sees a wrong result either way. That the hazard is real without, the test "modes" shows.
 */
#include <string.h>
#include "../kselftest_harness.h"
#include "rkmm_test.h"

#define CASE_TIMEOUT	500
#define K		2560	/* from there on the software NPU has the hazard */
#define MODES		15

static int query(int fd, uint32_t id, void *answer, uint32_t size)
{
	struct drm_rkmm_query q = { .id = id, .size = size, .pointer = (uintptr_t)answer };
	int ret = xioctl(fd, DRM_IOCTL_RKMM_QUERY, &q);

	return ret ? ret : q.size == size ? 0 : -EPROTO;
}

static struct drm_rkmm_mode_info transition(int fd, uint32_t from, uint32_t to)
{
	struct drm_rkmm_mode_info info[MODES] = { { 0 } };
	unsigned int i;

	if (!query(fd, DRM_RKMM_QUERY_MODES, info, sizeof(info)))
		for (i = 0; i < MODES; i++)
			if (info[i].from == from && info[i].to == to)
				return info[i];
	return (struct drm_rkmm_mode_info){ .need = ~0u };
}

FIXTURE(proof) {
	int fd;
	struct mm i8, i4;
	struct drm_rkmm_sched_info before, now;
};

FIXTURE_SETUP(proof)
{
	char text[128] = "";

	self->fd = rk_open();
	ASSERT_LE(0, self->fd);
	file_read("/sys/module/rkmm/parameters/transitions", text, sizeof(text));
	if (!rk_is_soft(self->fd) || strncmp(text, "prove", 5))
		SKIP(return, "needs the software NPU, and transitions=prove");
	self->i8 = (struct mm) { .types = DRM_RKMM_I8I32, .m = 6, .k = K, .n = 70 };
	self->i4 = (struct mm) { .types = DRM_RKMM_I4I16, .m = 6, .k = K, .n = 70 };
	ASSERT_EQ(0, mm_init(&self->i8, self->fd, 1));
	ASSERT_EQ(0, mm_init(&self->i4, self->fd, 2));
	ASSERT_EQ(0, query(self->fd, DRM_RKMM_QUERY_SCHED, &self->before,
			   sizeof(self->before)));
}

FIXTURE_TEARDOWN(proof)
{
	soft_fault("*.transition=0");
	if (self->i8.fd) {
		mm_free(&self->i8);
		mm_free(&self->i4);
	}
	close(self->fd);
}

/* From one mode to the other and back, every result exact */
static int cross(struct mm *a, struct mm *b, int times)
{
	int i, ret = 0;

	for (i = 0; i < 2 * times && !ret; i++) {
		ret = mm_new_c(i % 2 ? b : a);
		if (!ret)
			ret = mm_run(i % 2 ? b : a);
	}
	return ret;
}

TEST_F_TIMEOUT(proof, no_hazard, CASE_TIMEOUT)
{
	struct drm_rkmm_mode_info to4, to8;

	ASSERT_EQ(0, cross(&self->i8, &self->i4, 2));
	to4 = transition(self->fd, DRM_RKMM_MODE_I8, DRM_RKMM_MODE_I4);
	to8 = transition(self->fd, DRM_RKMM_MODE_I4, DRM_RKMM_MODE_I8);
	ASSERT_EQ(0, query(self->fd, DRM_RKMM_QUERY_SCHED, &self->now, sizeof(self->now)));
	EXPECT_EQ(DRM_RKMM_NEED_CHECK, to4.need);
	EXPECT_EQ(DRM_RKMM_NEED_RESET, to4.table);
	EXPECT_EQ(DRM_RKMM_NEED_CHECK, to8.need);
	EXPECT_EQ(2, to4.right);
	EXPECT_EQ(1, to8.right);
	EXPECT_EQ(0, to4.wrong + to8.wrong);
	/* the first one, from a cold core, may take one */
	EXPECT_GE(1, self->now.mode_resets - self->before.mode_resets);
}

/* The verdict stays until the driver is bound anew, so this test is behind the other. */
TEST_F_TIMEOUT(proof, on_hazard, CASE_TIMEOUT)
{
	struct drm_rkmm_mode_info to4, to8;

	/* the first job crosses: the last one of the test before was int4 */
	ASSERT_EQ(0, soft_fault("*.transition=1"));
	ASSERT_EQ(0, cross(&self->i8, &self->i4, 2));
	to4 = transition(self->fd, DRM_RKMM_MODE_I8, DRM_RKMM_MODE_I4);
	to8 = transition(self->fd, DRM_RKMM_MODE_I4, DRM_RKMM_MODE_I8);
	EXPECT_EQ(DRM_RKMM_NEED_RESET, to4.need);
	EXPECT_EQ(DRM_RKMM_NEED_RESET, to8.need);
	EXPECT_EQ(1, to4.wrong);
	EXPECT_EQ(1, to8.wrong);
	EXPECT_EQ(1, to4.told);
	EXPECT_EQ(1, to8.told);
	ASSERT_EQ(0, query(self->fd, DRM_RKMM_QUERY_SCHED, &self->now, sizeof(self->now)));
	/* the transitions behind the verdicts; the resets that led to them are not for jobs */
	EXPECT_EQ(2, self->now.mode_resets - self->before.mode_resets);
}

RKMM_TEST_MAIN
