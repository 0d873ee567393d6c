// SPDX-License-Identifier: MIT
/*
 * --submit: round trips of one client and of many at the same time, ended by the interrupt or
 * found by looking.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "submit.h"

#define CLIENTS	16u

/**
 * struct trip - one client
 * @rig: with a node of its own
 * @hint: DRM_RKMM_SUBMIT_LATENCY or POWER
 * @repeat: round trips
 * @start: all begin together
 * @v: what each took
 */
struct trip {
	struct rig rig;
	uint32_t hint;
	unsigned int repeat;
	pthread_barrier_t *start;
	uint64_t *v;
};

static void *trip_run(void *arg)
{
	struct trip *t = arg;
	struct span span;
	unsigned int i;

	pthread_barrier_wait(t->start);
	/* So many more, not counted: what is not kept yet, and what nobody knows the time of. */
	for (i = 0; i < t->repeat + 4; i++) {
		span = submit_hinted(&t->rig, t->hint);
		if (i >= 4)
			t->v[i - 4] = span.end - span.start > t->rig.clock ?
				      span.end - span.start - t->rig.clock : 0;
	}
	return NULL;
}

static uint64_t polled(int fd)
{
	struct drm_rkmm_sched_info info = { 0 };
	struct drm_rkmm_query q = {
		.id = DRM_RKMM_QUERY_SCHED, .size = sizeof(info), .pointer = (uintptr_t)&info,
	};

	return ioctl(fd, DRM_IOCTL_RKMM_QUERY, &q) ? 0 : info.polled;
}

/* @n clients; the ends of theirs that were found by looking */
static uint64_t trips(const struct rig *like, unsigned int n, uint32_t hint, unsigned int repeat,
		      const char *path, struct spread *spread)
{
	uint64_t *v = allocate((size_t)n * repeat, sizeof(*v)), before, after;
	struct trip *t = allocate(n, sizeof(*t));
	pthread_t *threads = allocate(n, sizeof(*threads));
	pthread_barrier_t start;
	unsigned int i;

	pthread_barrier_init(&start, NULL, n);
	for (i = 0; i < n; i++) {
		t[i] = (struct trip){ .rig = *like, .hint = hint, .repeat = repeat,
				      .start = &start, .v = v + (size_t)i * repeat };
		rig_open(&t[i].rig, path);
	}
	before = polled(like->fd);
	for (i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, trip_run, &t[i]))
			die(EXIT_FAILED, "no thread");
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	after = polled(like->fd);
	for (i = 0; i < n; i++)
		rig_close(&t[i].rig);
	*spread = spread_of(v, n * repeat);
	pthread_barrier_destroy(&start);
	free(threads);
	free(t);
	free(v);
	return after - before;
}

void clients_print(const struct rig *rig, const struct options *opt)
{
	static const uint32_t hints[] = { DRM_RKMM_SUBMIT_POWER, DRM_RKMM_SUBMIT_LATENCY };
	static const char * const names[] = { "interrupt", "looked for" };
	struct spread s;
	unsigned int i, n;
	uint64_t found;

	printf("\nround trips: SUBMIT with wait, warm, by every client at the same time\n");
	for (n = 1; n <= CLIENTS; n += CLIENTS - 1)
		for (i = 0; i < 2; i++) {
			found = trips(rig, n, hints[i], opt->repeat, opt->device, &s);
			printf("  %2u client%s %-11s %9llu (%llu .. %llu)  %llu of %u ends found\n",
			       n, n > 1 ? "s," : ", ", names[i], (unsigned long long)s.median,
			       (unsigned long long)s.low, (unsigned long long)s.high,
			       (unsigned long long)found, n * (opt->repeat + 4));
		}
}
