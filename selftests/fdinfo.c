// SPDX-License-Identifier: GPL-2.0
/* Does /proc/PID/fdinfo tell the truth about a client? */
#include <ctype.h>
#include <fcntl.h>
#include "../kselftest_harness.h"
#include "rkmm_test.h"

FIXTURE(fdinfo) {
	int fd;
	struct mm mm;
};

FIXTURE_SETUP(fdinfo)
{
	self->fd = rk_open();
	ASSERT_LE(0, self->fd);
	self->mm = (struct mm) { .types = DRM_RKMM_I8I32, .m = 12, .k = 200, .n = 70 };
	ASSERT_EQ(0, mm_init(&self->mm, self->fd, 1));
}

FIXTURE_TEARDOWN(fdinfo)
{
	mm_free(&self->mm);
	close(self->fd);
}

/* Value of a key, "" when it is missing or there twice. */
static const char *value_of(int fd, const char *key)
{
	static char text[4096], value[128];
	char path[64], line[128], *at;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	if (file_read(path, text + 1, sizeof(text) - 1) < 0)
		return "";
	text[0] = '\n';
	snprintf(line, sizeof(line), "\n%s:", key);
	at = strstr(text, line);
	if (!at || strstr(at + 1, line))
		return "";
	at += strlen(line);
	while (*at && *at != '\n' && isspace(*at))
		at++;
	snprintf(value, sizeof(value), "%.*s", (int)strcspn(at, "\n"), at);
	return value;
}

static long long number_of(int fd, const char *key, const char *unit)
{
	const char *value = value_of(fd, key);
	long long number;
	char *end;

	if (!isdigit(*value))
		return -1;
	number = strtoll(value, &end, 10);
	while (*end == ' ')
		end++;
	return strcmp(end, unit) ? -2 : number;
}

TEST_F(fdinfo, keys)
{
	struct drm_rkmm_device_info info;

	ASSERT_EQ(0, rk_device(self->fd, &info));
	EXPECT_STREQ("rkmm", value_of(self->fd, "drm-driver"));
	EXPECT_LE(0, number_of(self->fd, "drm-client-id", ""));
	EXPECT_LE(0, number_of(self->fd, "drm-engine-npu", "ns"));
	EXPECT_EQ(info.cores, number_of(self->fd, "drm-engine-capacity-npu", ""));
	EXPECT_LE(0, number_of(self->fd, "drm-total-memory", "KiB"));
	EXPECT_LE(0, number_of(self->fd, "drm-shared-memory", "KiB"));
	EXPECT_LE(0, number_of(self->fd, "drm-active-memory", "KiB"));
	EXPECT_LE(0, number_of(self->fd, "drm-resident-memory", "KiB"));
}

TEST_F(fdinfo, client_ids)
{
	long long mine = number_of(self->fd, "drm-client-id", "");
	int other = rk_open(), same = dup(self->fd);

	ASSERT_LE(0, other);
	ASSERT_LE(0, same);
	EXPECT_EQ(mine, number_of(same, "drm-client-id", ""));
	EXPECT_NE(mine, number_of(other, "drm-client-id", ""));
	close(same);
	close(other);
}

TEST_F(fdinfo, engine_time)
{
	long long last = number_of(self->fd, "drm-engine-npu", "ns"), now;
	struct drm_rkmm_client_info info;
	int other = rk_open(), i;

	ASSERT_LE(0, other);
	EXPECT_EQ(0, last);
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, mm_run(&self->mm));
		now = number_of(self->fd, "drm-engine-npu", "ns");
		EXPECT_LT(last, now);
		last = now;
	}
	ASSERT_EQ(0, rk_client(self->fd, &info));
	EXPECT_EQ(info.npu_ns, last);
	EXPECT_EQ(0, number_of(other, "drm-engine-npu", "ns"));
	close(other);
}

/* Read while jobs run: the sum never steps back. */
TEST_F(fdinfo, monotonic_under_load)
{
	long long last = 0, now;
	struct drm_rkmm_op op = mm_op(&self->mm);
	struct drm_rkmm_submit s;
	int i, j;

	for (i = 0; i < 10; i++) {
		for (j = 0; j < 8; j++) {
			submit_init(&s, &op, 1);
			ASSERT_EQ(0, rk_submit(self->fd, &s));
		}
		for (j = 0; j < 10; j++) {
			now = number_of(self->fd, "drm-engine-npu", "ns");
			EXPECT_LE(last, now);
			last = now;
		}
	}
	EXPECT_EQ(0, rk_result(self->fd, s.seqno));
	EXPECT_LE(last, number_of(self->fd, "drm-engine-npu", "ns"));
}

TEST_F(fdinfo, memory)
{
	long long total = number_of(self->fd, "drm-total-memory", "KiB");
	long long resident = number_of(self->fd, "drm-resident-memory", "KiB");
	struct drm_prime_handle prime = { .flags = DRM_CLOEXEC };
	struct drm_rkmm_submit s;
	struct drm_rkmm_op op;
	struct buf big;

	ASSERT_EQ(0, buf_create(self->fd, 8 << 20, &big));
	EXPECT_EQ(total + 8192, number_of(self->fd, "drm-total-memory", "KiB"));

	/* resident once the NPU has used it */
	op = mm_op(&self->mm);
	op.c = (struct drm_rkmm_operand) { .handle = big.handle };
	submit_init(&s, &op, 1);
	ASSERT_EQ(0, rk_submit(self->fd, &s));
	ASSERT_EQ(0, rk_result(self->fd, s.seqno));
	EXPECT_LE(resident + 8192, number_of(self->fd, "drm-resident-memory", "KiB"));

	EXPECT_EQ(0, number_of(self->fd, "drm-shared-memory", "KiB"));
	prime.handle = big.handle;
	ASSERT_EQ(0, xioctl(self->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime));
	EXPECT_EQ(8192, number_of(self->fd, "drm-shared-memory", "KiB"));
	close(prime.fd);

	buf_free(&big);
	EXPECT_EQ(total, number_of(self->fd, "drm-total-memory", "KiB"));
}

/* Buffers of a job that waits are active, and nothing is afterwards. */
TEST_F(fdinfo, active_memory)
{
	struct drm_rkmm_op op = mm_op(&self->mm);
	struct drm_rkmm_sync in = { 0 };
	struct drm_rkmm_submit s;
	struct gate gate;

	if (gate_init(&gate))
		SKIP(return, "vgem is missing");
	ASSERT_EQ(0, gate_shut(&gate));
	ASSERT_EQ(0, gate_syncobj(&gate, self->fd, &in.handle));
	EXPECT_EQ(0, number_of(self->fd, "drm-active-memory", "KiB"));
	submit_init(&s, &op, 1);
	submit_syncs(&s, &in, 1, NULL, 0);
	ASSERT_EQ(0, rk_submit(self->fd, &s));
	EXPECT_EQ((self->mm.a.size + self->mm.b.size + self->mm.c.size) >> 10,
		  number_of(self->fd, "drm-active-memory", "KiB"));
	ASSERT_EQ(0, gate_open(&gate));
	ASSERT_EQ(0, rk_result(self->fd, s.seqno));
	EXPECT_EQ(0, number_of(self->fd, "drm-active-memory", "KiB"));
	gate_free(&gate);
}

RKMM_TEST_MAIN
