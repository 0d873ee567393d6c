// SPDX-License-Identifier: MIT
/* One geometry after the other, and what came of it. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calibrate.h"
#include "tools/common/common.h"

#define BAR	30

static sig_atomic_t stopped;

static void stop(int sig)
{
	(void)sig;
	__atomic_store_n(&stopped, 1, __ATOMIC_RELAXED);
}

static const char *verdict_name(unsigned int v)
{
	return v == DRM_RKMM_VERDICT_PROVEN ? "proven" :
	       v == DRM_RKMM_VERDICT_FAILED ? "failed" : "unknown";
}

static const char *outcome_name(unsigned int o)
{
	static const char *const names[] = { "none", "right", "wrong", "slow", "hung" };

	return o < sizeof(names) / sizeof(names[0]) ? names[o] : "?";
}

static const char *form_name(unsigned int f)
{
	return f == DRM_RKMM_FORM_BATCH ? "batch" : f == DRM_RKMM_FORM_CUBE ? "cube" : "flat";
}

static bool wanted(const struct wish *wish, const struct drm_rkmm_probe *p)
{
	return (!wish->bits || wish->bits == p->bits) && (!wish->k || wish->k == p->k) &&
	       (!wish->cores || wish->cores == p->cores);
}

/* All that are wanted, as the driver knows them now */
static struct point *ask_all(int fd, const struct wish *wish, unsigned int *n)
{
	struct point *points = NULL, *more;
	struct drm_rkmm_probe p;
	unsigned int i;
	int ret;

	for (i = 0, *n = 0; ; i++) {
		p = (struct drm_rkmm_probe){ .index = i };
		ret = node_probe(fd, &p);
		if (ret == -ENOENT)
			return points;
		if (ret)
			die(STATUS_FAILED, ret == -EACCES ? "only root may do that" : "%s",
			    strerror(-ret));
		if (!wanted(wish, &p))
			continue;
		more = realloc(points, (*n + 1) * sizeof(*points));
		if (!more)
			die(STATUS_FAILED, "out of memory");
		points = more;
		points[(*n)++] = (struct point){ .now = p };
	}
}

static void describe(char *text, size_t size, const struct drm_rkmm_probe *p)
{
	snprintf(text, size, "int%u %s K %u, %u rows, %u columns, %u banks, %u cores", p->bits,
		 form_name(p->form), p->k, p->rows, p->cols, p->data_banks, p->cores);
	if (p->bits == 16)
		memcpy(text, "fp16", 4);
}

static void progress(const struct wish *wish, const struct point *points, unsigned int i,
		     unsigned int n)
{
	unsigned int k, done = n ? BAR * i / n : BAR;
	char text[100] = "";

	if (wish->quiet || !isatty(STDERR_FILENO))
		return;
	if (i < n)
		describe(text, sizeof(text), &points[i].now);
	fputs("\r[", stderr);
	for (k = 0; k < BAR; k++)
		fputc(k < done ? '#' : '.', stderr);
	fprintf(stderr, "] %u/%u %-70s", i, n, text);
	if (i == n)
		fputc('\n', stderr);
	fflush(stderr);
}

/* Something of the group that is nowhere more risky, on as many cores, has failed. */
static bool behind_failure(const struct point *points, unsigned int i)
{
	unsigned int k;

	for (k = 0; k < i; k++)
		if (points[k].now.group == points[i].now.group &&
		    points[k].now.verdict == DRM_RKMM_VERDICT_FAILED &&
		    points[k].now.cores <= points[i].now.cores)
			return true;
	return false;
}

static int try(int fd, const struct wish *wish, struct point *points, unsigned int n)
{
	struct drm_rkmm_probe p;
	unsigned int i;
	int ret;

	for (i = 0; i < n && !__atomic_load_n(&stopped, __ATOMIC_RELAXED); i++) {
		progress(wish, points, i, n);
		if (points[i].now.verdict != DRM_RKMM_VERDICT_UNKNOWN && !wish->again)
			continue;
		if (behind_failure(points, i)) {
			points[i].skipped = true;
			continue;
		}
		p = (struct drm_rkmm_probe){
			.index = points[i].now.index, .flags = DRM_RKMM_PROBE_RUN,
		};
		ret = node_probe(fd, &p);
		if (ret == -EINTR)
			break;
		if (ret) {
			fprintf(stderr, "%s: probe: %s\n", program_name, strerror(-ret));
			return STATUS_FAILED;
		}
		points[i].now = p;
		points[i].ran = true;
	}
	progress(wish, points, i, n);
	if (i < n && !wish->quiet && isatty(STDERR_FILENO))
		fputc('\n', stderr);
	return i < n ? STATUS_STOPPED : STATUS_DONE;
}

static void report_json(const struct point *points, unsigned int n, int status)
{
	unsigned int i;

	printf("{\n  \"complete\": %s,\n  \"geometries\": [", status ? "false" : "true");
	for (i = 0; i < n; i++) {
		const struct drm_rkmm_probe *p = &points[i].now;

		printf("%s\n    {\"bits\": %u, \"form\": \"%s\", \"k\": %u, \"rows\": %u, ",
		       i ? "," : "", p->bits, form_name(p->form), p->k, p->rows);
		printf("\"cols\": %u, \"banks\": %u, \"cores\": %u, ", p->cols, p->data_banks,
		       p->cores);
		printf("\"verdict\": \"%s\", \"outcome\": \"%s\", \"wrong\": %u, ",
		       verdict_name(p->verdict), outcome_name(p->outcome), p->wrong);
		printf("\"ns\": %" PRIu64 ", \"predicted_ns\": %" PRIu64 ", \"skipped\": %s}",
		       (uint64_t)p->ns, (uint64_t)p->predicted_ns,
		       points[i].skipped ? "true" : "false");
	}
	printf("\n  ]\n}\n");
}

static void report(const struct wish *wish, const struct point *points, unsigned int n)
{
	unsigned int count[3] = { 0 }, i, ran = 0, skipped = 0;
	char text[100];

	for (i = 0; i < n; i++) {
		const struct drm_rkmm_probe *p = &points[i].now;

		count[p->verdict < 3 ? p->verdict : 0]++;
		ran += points[i].ran;
		skipped += points[i].skipped;
		describe(text, sizeof(text), p);
		if (wish->dry || points[i].ran || p->verdict == DRM_RKMM_VERDICT_FAILED)
			printf("%-8s %-6s %s\n", verdict_name(p->verdict),
			       p->outcome ? outcome_name(p->outcome) : "", text);
	}
	printf("%u tried now; %u proven, %u failed, %u unknown (%u of those behind a failure)\n",
	       ran, count[DRM_RKMM_VERDICT_PROVEN], count[DRM_RKMM_VERDICT_FAILED],
	       count[DRM_RKMM_VERDICT_UNKNOWN], skipped);
}

int run(int fd, const struct wish *wish)
{
	/* no SA_RESTART: a probe that waits for its turn is given up */
	struct sigaction act = { .sa_handler = stop };
	struct point *points;
	int status = STATUS_DONE;
	unsigned int n;

	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	points = ask_all(fd, wish, &n);
	if (!wish->dry)
		status = try(fd, wish, points, n);
	if (wish->json)
		report_json(points, n, status);
	else
		report(wish, points, n);
	free(points);
	if (fflush(stdout) || ferror(stdout))
		die(STATUS_FAILED, "standard output: %s", strerror(errno));
	return status;
}
