// SPDX-License-Identifier: MIT
/* A tracefs instance of our own, so that nobody else's tracing is disturbed. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/common/common.h"
#include "trace.h"

#define PATH	300

static char dir[PATH - 100];

static bool put(const char *file, const char *text)
{
	size_t n = strlen(text);
	char path[PATH];
	bool ok;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ok = write(fd, text, n) == (ssize_t)n;
	close(fd);
	return ok;
}

static bool make_instance(void)
{
	static const char *const roots[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	size_t i;

	for (i = 0; i < 2; i++) {
		snprintf(dir, sizeof(dir), "%s/instances/rkmm-trace-%d", roots[i], (int)getpid());
		if (!mkdir(dir, 0700))
			return true;
	}
	fprintf(stderr, "%s: tracefs: %s\n", program_name, strerror(errno));
	return false;
}

static bool begin(unsigned int kib)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", kib);
	if (put("trace_clock", "mono") && put("buffer_size_kb", text) &&
	    put("events/rkmm/enable", "1"))
		return true;
	fprintf(stderr, "%s: %s: %s (is the driver loaded?)\n", program_name, dir, strerror(errno));
	return false;
}

/* The program's status as a shell has it; 127 when it cannot be started. */
static int run(char **argv)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, was[2];
	pid_t pid, got;
	int status = 0;

	/* Keys are for the program; what it did by then is written. */
	sigaction(SIGINT, &ignore, &was[0]);
	sigaction(SIGQUIT, &ignore, &was[1]);
	pid = fork();
	if (!pid) {
		sigaction(SIGINT, &was[0], NULL);
		sigaction(SIGQUIT, &was[1], NULL);
		execvp(argv[0], argv);
		fprintf(stderr, "%s: %s: %s\n", program_name, argv[0], strerror(errno));
		_exit(127);
	}
	do {
		got = pid < 0 ? -1 : waitpid(pid, &status, 0);
	} while (got < 0 && errno == EINTR && pid > 0);
	sigaction(SIGINT, &was[0], NULL);
	sigaction(SIGQUIT, &was[1], NULL);
	if (got < 0) {
		fprintf(stderr, "%s: %s\n", program_name, strerror(errno));
		return 2;
	}
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static bool save(const char *to)
{
	char path[PATH], block[65536];
	FILE *in, *out;
	bool ok;
	size_t n;

	snprintf(path, sizeof(path), "%s/trace", dir);
	in = fopen(path, "r");
	out = fopen(to, "w");
	ok = in && out;
	while (ok && (n = fread(block, 1, sizeof(block), in)) > 0)
		ok = fwrite(block, 1, n, out) == n;
	if (ok)
		ok = !ferror(in);
	if (out && fclose(out))
		ok = false;
	if (!ok)
		fprintf(stderr, "%s: %s: %s\n", program_name, in ? to : path, strerror(errno));
	if (in)
		fclose(in);
	return ok;
}

int record(const char *path, unsigned int kib, char **argv)
{
	int status = 2;

	if (!make_instance())
		return 2;
	if (begin(kib)) {
		status = run(argv);
		put("events/rkmm/enable", "0");
		if (!save(path))
			status = 2;
	}
	rmdir(dir);
	return status;
}
