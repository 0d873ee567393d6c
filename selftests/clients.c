// SPDX-License-Identifier: GPL-2.0
/* Do clients that run at the same time leave each other's numbers alone? */
#include <fcntl.h>
#include <sys/socket.h>
#include "../kselftest_harness.h"
#include "rkmm_test.h"

#define CASE_TIMEOUT	240

/* --- the work of one client -------------------------------------------------------- */

/* Random jobs, some waited for at once, some several deep; exit status 0 when all were right. */
static int random_client(uint64_t seed, int rounds)
{
	struct rnd r;
	int fd = rk_open(), i, j, n, ret = 0;

	if (fd < 0)
		return 2;
	rnd_seed(&r, seed);
	for (i = 0; i < rounds && !ret; i++) {
		struct mm mm[4] = { 0 };
		struct drm_rkmm_op op[4];
		struct drm_rkmm_submit s;
		bool together = rnd_below(&r, 2);
		uint64_t last = 0;

		n = 1 + rnd_below(&r, 4);
		for (j = 0; j < n; j++) {
			mm[j].types = rnd_below(&r, 5);
			mm[j].m = 1 + rnd_below(&r, 40);
			mm[j].k = 1 + rnd_below(&r, 160);
			mm[j].n = 1 + rnd_below(&r, 90);
			if (mm[j].types == DRM_RKMM_I8I8) {
				mm[j].mult = 1 + rnd_below(&r, 32767);
				mm[j].shift = 18;
				mm[j].offset = (int)rnd_below(&r, 20) - 10;
			}
			ret = mm_init(&mm[j], fd, rnd_next(&r));
			if (ret) {
				fprintf(stderr, "# setup: %s\n", strerror(-ret));
				goto next;
			}
			op[j] = mm_op(&mm[j]);
		}
		for (j = 0; j < n; j++) {
			submit_init(&s, together ? op : &op[j], together ? n : 1);
			if (rnd_below(&r, 2)) {
				s.flags = DRM_RKMM_SUBMIT_WAIT;
				s.deadline_ns = after(100 * SEC);
			}
			ret = rk_submit(fd, &s);
			if (!ret && s.flags)
				ret = s.wait_status ? s.wait_status : s.result;
			last = s.seqno;
			if (ret || together)
				break;
		}
		if (!ret)
			ret = rk_result(fd, last);
		if (ret)
			fprintf(stderr, "# job: %s\n", strerror(-ret));
		for (j = 0; j < n && !ret; j++)
			if (mm_check(&mm[j])) {
				fprintf(stderr, "# seed %llu round %d: %s\n",
					(unsigned long long)seed, i, mm[j].msg);
				ret = -EBADMSG;
			}
next:
		for (j = 0; j < 4; j++)
			if (mm[j].fd)
				mm_free(&mm[j]);
	}
	close(fd);
	return ret ? 1 : 0;
}

/* Number of clients that failed. */
static int crowd(int clients, int rounds, uint64_t seed)
{
	int i, status, failed = 0;
	pid_t pid;

	for (i = 0; i < clients; i++) {
		pid = fork();
		if (!pid)
			_exit(random_client(seed + i, rounds));
		if (pid < 0)
			failed++;
	}
	while ((pid = wait(&status)) > 0 || (pid < 0 && errno == EINTR))
		if (pid > 0 && status)
			failed++;
	return failed;
}

FIXTURE(crowd) {
	long long refs;
};

FIXTURE_SETUP(crowd)
{
	self->refs = module_refs();
}

FIXTURE_TEARDOWN(crowd)
{
	if (self->refs >= 0) {
		EXPECT_EQ(self->refs, module_refs_settle(self->refs));
	}
}

TEST_F_TIMEOUT(crowd, two, CASE_TIMEOUT)
{
	EXPECT_EQ(0, crowd(2, 40, 1000));
}

TEST_F_TIMEOUT(crowd, eight, CASE_TIMEOUT)
{
	EXPECT_EQ(0, crowd(8, 12, 2000));
}

/* Each client counts its own jobs, the device counts all. */
TEST_F_TIMEOUT(crowd, counted, CASE_TIMEOUT)
{
	struct drm_rkmm_device_info before, now;
	struct drm_rkmm_client_info info[2];
	struct mm mm[2];
	int fd[2], i, j;

	for (i = 0; i < 2; i++) {
		mm[i] = (struct mm) { .types = DRM_RKMM_F16F16, .m = 3, .k = 40, .n = 20 };
		fd[i] = rk_open();
		ASSERT_LE(0, fd[i]);
		ASSERT_EQ(0, mm_init(&mm[i], fd[i], i));
	}
	ASSERT_EQ(0, rk_device(fd[0], &before));
	for (i = 0; i < 2; i++)
		for (j = 0; j < 3 + i; j++)
			ASSERT_EQ(0, mm_run(&mm[i]));
	ASSERT_EQ(0, rk_device(fd[0], &now));
	EXPECT_EQ(before.jobs + 7, now.jobs);
	EXPECT_EQ(before.resets, now.resets);
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, rk_client(fd[i], &info[i]));
		EXPECT_EQ(3 + i, info[i].jobs);
		EXPECT_LT(0, info[i].npu_ns);
		mm_free(&mm[i]);
		close(fd[i]);
	}
}

/* --- one client, many jobs ----------------------------------------------------------- */

FIXTURE(client) {
	int fd;
	struct mm mm;
};

FIXTURE_SETUP(client)
{
	self->fd = rk_open();
	ASSERT_LE(0, self->fd);
	self->mm = (struct mm) { .types = DRM_RKMM_I8I32, .m = 8, .k = 100, .n = 60 };
	ASSERT_EQ(0, mm_init(&self->mm, self->fd, 5));
}

FIXTURE_TEARDOWN(client)
{
	mm_free(&self->mm);
	close(self->fd);
}

/*
 * Two jobs write the same C: the later one wins, however many are queued. With
 * jobs of different length on several cores any overtaking shows.
 */
TEST_F_TIMEOUT(client, later_jobs_win, CASE_TIMEOUT)
{
	struct mm heavy = { .types = DRM_RKMM_I8I32, .m = 8, .k = 1000, .n = 60 };
	struct drm_rkmm_submit s;
	struct drm_rkmm_op op;
	int i;

	ASSERT_EQ(0, mm_init(&heavy, self->fd, 6));
	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, mm_new_c(&self->mm));
		op = mm_op(&heavy);
		op.c = mm_op(&self->mm).c;
		submit_init(&s, &op, 1);
		ASSERT_EQ(0, rk_submit(self->fd, &s));
		op = mm_op(&self->mm);
		submit_init(&s, &op, 1);
		ASSERT_EQ(0, rk_submit(self->fd, &s));
		ASSERT_EQ(0, rk_result(self->fd, s.seqno));
		EXPECT_EQ(0, mm_check(&self->mm)) {
			TH_LOG("round %d: %s", i, self->mm.msg);
		}
	}
	mm_free(&heavy);
}

TEST_F(client, inherited_by_fork)
{
	pid_t pid = fork();
	int status;

	ASSERT_LE(0, pid);
	if (!pid)
		_exit(-mm_run(&self->mm));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	ASSERT_EQ(0, mm_new_c(&self->mm));
	EXPECT_EQ(0, mm_run(&self->mm)) {
		TH_LOG("%s", self->mm.msg);
	}
}

static int send_fd(int sock, int fd)
{
	char byte = 0, control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	return sendmsg(sock, &msg, 0) == 1 ? 0 : -errno;
}

static int receive_fd(int sock)
{
	char byte, control[CMSG_SPACE(sizeof(int))];
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *c;
	int fd;

	if (recvmsg(sock, &msg, 0) != 1)
		return -EPIPE;
	c = CMSG_FIRSTHDR(&msg);
	if (!c || c->cmsg_type != SCM_RIGHTS)
		return -EPIPE;
	memcpy(&fd, CMSG_DATA(c), sizeof(int));
	return fd;
}

/* The file moves to another process, which goes on with its handles; the giver dies. */
TEST_F(client, passed_over_a_socket)
{
	int sock[2], fd, status;
	uint64_t seqno = 0;
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sock));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		struct mm mm = { .types = DRM_RKMM_I8I32, .m = 4, .k = 50, .n = 30 };
		struct drm_rkmm_submit s;
		struct drm_rkmm_op op;

		fd = rk_open();
		if (fd < 0 || mm_init(&mm, fd, 7))
			_exit(1);
		op = mm_op(&mm);
		submit_init(&s, &op, 1);
		if (rk_submit(fd, &s) || send_fd(sock[1], fd))
			_exit(2);
		if (write(sock[1], &s.seqno, 8) != 8)
			_exit(3);
		_exit(0);
	}
	close(sock[1]);
	fd = receive_fd(sock[0]);
	ASSERT_LE(0, fd);
	ASSERT_EQ(8, read(sock[0], &seqno, 8));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	/* the job was submitted by a process that is gone; its file is not */
	EXPECT_EQ(0, rk_result(fd, seqno));
	close(fd);
	close(sock[0]);
}

/* --- closing ---------------------------------------------------------------------- */

/* Jobs in flight when the file is closed end: done, or cancelled if they had not begun. */
TEST_F_TIMEOUT(crowd, close_with_jobs_in_flight, CASE_TIMEOUT)
{
	int i, j, k, done = 0, cancelled = 0;

	for (i = 0; i < 15; i++) {
		struct mm mm = { .types = DRM_RKMM_I8I32, .m = 30, .k = 300, .n = 90 };
		int fd = rk_open(), file[6];

		ASSERT_LE(0, fd);
		ASSERT_EQ(0, mm_init(&mm, fd, i));
		for (j = 0; j < 6; j++) {
			struct drm_rkmm_op op = mm_op(&mm);
			struct drm_rkmm_sync out = { 0 };
			struct drm_rkmm_submit s;

			ASSERT_EQ(0, syncobj_create(fd, &out.handle));
			submit_init(&s, &op, 1);
			submit_syncs(&s, NULL, 0, &out, 1);
			ASSERT_EQ(0, rk_submit(fd, &s));
			file[j] = syncobj_export(fd, out.handle);
			ASSERT_LE(0, file[j]);
		}
		/* handles closed before the file, or with it; a mapping would keep the file open */
		if (i % 2) {
			mm_free(&mm);
		} else {
			munmap(mm.a.map, mm.a.size);
			munmap(mm.b.map, mm.b.size);
			munmap(mm.c.map, mm.c.size);
		}
		close(fd);
		for (j = 0; j < 6; j++) {
			ASSERT_EQ(0, sync_file_wait(file[j], 60000));
			k = sync_file_status(file[j]);
			EXPECT_TRUE(k == 1 || k == -ECANCELED) {
				TH_LOG("status %d", k);
			}
			/* in order: nothing is done after something was cancelled */
			if (k == 1) {
				EXPECT_TRUE(j == 0 || sync_file_status(file[j - 1]) == 1);
				done++;
			} else {
				cancelled++;
			}
		}
		for (j = 0; j < 6; j++)
			close(file[j]);
	}
	TH_LOG("%d done, %d cancelled", done, cancelled);
	EXPECT_EQ(90, done + cancelled);
	EXPECT_EQ(0, random_client(3000, 2));
}

/* Opening and closing, with and without work, at a high rate from several processes. */
TEST_F_TIMEOUT(crowd, churn, CASE_TIMEOUT)
{
	int i, j, fd, status, failed = 0;
	pid_t pid;

	for (i = 0; i < 3; i++) {
		pid = fork();
		if (pid)
			continue;
		for (j = 0; j < 100; j++) {
			struct mm mm = { .types = j % 5, .m = 1, .k = 32, .n = 32 };

			mm.mult = mm.types == DRM_RKMM_I8I8;
			fd = rk_open();
			if (fd < 0)
				_exit(1);
			if (j % 4 && mm_init(&mm, fd, j))
				_exit(2);
			if (j % 4 > 1 && mm_run(&mm))
				_exit(3);
			/* every second one leaves all its objects to close() */
			if (j % 8 > 4)
				mm_free(&mm);
			close(fd);
			if (mm.a.map) {
				munmap(mm.a.map, mm.a.size);
				munmap(mm.b.map, mm.b.size);
				munmap(mm.c.map, mm.c.size);
			}
		}
		_exit(0);
	}
	while (wait(&status) > 0)
		failed += !!status;
	EXPECT_EQ(0, failed);
}

RKMM_TEST_MAIN
