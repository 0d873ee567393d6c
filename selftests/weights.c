// SPDX-License-Identifier: GPL-2.0
/* Do processes that share packed weights by dma-buf compute with one copy of them? */
#include <fcntl.h>
#include <sys/wait.h>
#include "../kselftest_harness.h"
#include <drm_mode.h>
#include "rkmm_test.h"

#define PROCESSES	3
#define ROUNDS		3

/* Products of random A with the weights of @owner, from a client of this process */
static int multiply(struct mm *mm, const struct mm *owner, uint32_t weights)
{
	struct drm_rkmm_op op = mm_op(mm);
	struct drm_rkmm_submit s;
	int i, ret;

	op.b.handle = weights;
	op.b.offset = owner->b_off;
	memcpy(mm->bv, owner->bv, (size_t)mm->k * mm->n * sizeof(*mm->bv));
	for (i = 0; i < ROUNDS; i++) {
		mm_new_a(mm);
		ret = buf_end_write(&mm->a);
		if (!ret)
			ret = mm_new_c(mm);
		submit_init(&s, &op, 1);
		if (!ret)
			ret = rk_submit(mm->fd, &s);
		if (!ret)
			ret = rk_result(mm->fd, s.seqno);
		if (ret || mm_check(mm))
			return 2;
	}
	return 0;
}

/* Another process: 0 when all is right, with the owner there and without it */
static int reader(const struct mm *owner, int dmabuf, int seed, int gone)
{
	struct mm mm = {
		.types = owner->types, .m = owner->m, .k = owner->k, .n = owner->n,
	};
	struct drm_prime_handle p = { .fd = dmabuf };
	int fd = rk_open(), ret;
	char byte;

	if (fd < 0 || mm_init(&mm, fd, seed))
		return 1;
	/* its own are of no use */
	memset(mm.b.map, 0x5a, mm.b.size);
	if (buf_end_write(&mm.b) || xioctl(fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &p))
		return 1;
	close(dmabuf);
	ret = multiply(&mm, owner, p.handle);
	if (!ret && read(gone, &byte, 1))
		ret = 3;
	if (!ret)
		ret = multiply(&mm, owner, p.handle);
	mm_free(&mm);
	close(fd);
	return ret;
}

FIXTURE(weights) {
	int fd;
};

FIXTURE_VARIANT(weights) {
	uint32_t types;
};

FIXTURE_VARIANT_ADD(weights, i4) { .types = DRM_RKMM_I4I16 };
FIXTURE_VARIANT_ADD(weights, i8) { .types = DRM_RKMM_I8I32 };
FIXTURE_VARIANT_ADD(weights, f16) { .types = DRM_RKMM_F16F32 };

FIXTURE_SETUP(weights)
{
	self->fd = rk_open();
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(weights)
{
	close(self->fd);
}

/* Each with activations and results of its own, at the same time, longer than the owner */
TEST_F(weights, of_another_process)
{
	struct mm mm = { .types = variant->types, .m = 9, .k = 130, .n = 75 };
	struct drm_prime_handle p = { .flags = DRM_CLOEXEC };
	int gone[2], status, fd = rk_open(), i;
	pid_t pid;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, mm_init(&mm, fd, 17));
	p.handle = mm.b.handle;
	ASSERT_EQ(0, xioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &p));
	ASSERT_EQ(0, pipe(gone));
	for (i = 0; i < PROCESSES; i++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (pid)
			continue;
		close(gone[1]);
		/* the file of the owner goes with it */
		close(fd);
		_exit(reader(&mm, p.fd, 100 + i, gone[0]));
	}
	close(p.fd);
	EXPECT_EQ(0, mm_run(&mm)) {
		TH_LOG("%s", mm.msg);
	}
	mm_free(&mm);
	close(fd);
	close(gone[1]);
	for (i = 0; i < PROCESSES; i++) {
		ASSERT_LT(0, wait(&status));
		EXPECT_TRUE(WIFEXITED(status) && !WEXITSTATUS(status)) {
			TH_LOG("status %x", status);
		}
	}
	close(gone[0]);
}

TEST_HARNESS_MAIN
