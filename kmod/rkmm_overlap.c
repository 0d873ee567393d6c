// SPDX-License-Identifier: GPL-2.0-only
#include "rkmm_overlap.h"

#ifdef __KERNEL__
#include <linux/sort.h>
#else
#include <stdlib.h>

static void sort(void *base, size_t n, size_t size, int (*cmp)(const void *, const void *),
		 void *unused)
{
	(void)unused;
	qsort(base, n, size, cmp);
}
#endif

static int cmp_start(const void *x, const void *y)
{
	const struct rkmm_span *a = x, *b = y;

	if (a->owner != b->owner)
		return a->owner < b->owner ? -1 : 1;
	return a->start < b->start ? -1 : a->start > b->start;
}

static int cmp_phase(const void *x, const void *y)
{
	const struct rkmm_span *a = x, *b = y;

	return a->phase < b->phase ? -1 : a->phase > b->phase;
}

/*
 * Whether rows of one pitch lie side by side: then they may be compared within one
 * pitch, where the last may reach into the next row.
 */
static bool side_by_side(struct rkmm_span *spans, u32 n)
{
	u64 any = 0, written = 0, start, end;
	u32 pitch = spans[0].pitch, i;

	for (i = 0; i < n; i++) {
		if (!pitch || spans[i].pitch != pitch || spans[i].line > pitch)
			return false;
		spans[i].phase = (u32)(spans[i].start % pitch);
	}
	sort(spans, n, sizeof(*spans), cmp_phase, NULL);
	/* twice around */
	for (i = 0; i < 2 * n; i++) {
		const struct rkmm_span *s = &spans[i % n];

		start = (u64)s->phase + (i < n ? 0 : pitch);
		end = start + s->line;
		if (start < (s->write ? any : written))
			return false;
		if (end > any)
			any = end;
		if (s->write && end > written)
			written = end;
	}
	return true;
}

bool rkmm_spans_conflict(struct rkmm_span *spans, u32 n)
{
	u32 i, next;

	sort(spans, n, sizeof(*spans), cmp_start, NULL);
	/* Runs of spans that overlap */
	for (i = 0; i < n; i = next) {
		u64 any = spans[i].end, written = spans[i].write ? any : 0;
		bool clash = false;

		for (next = i + 1; next < n; next++) {
			const struct rkmm_span *s = &spans[next];

			if (s->owner != spans[i].owner || s->start >= any)
				break;
			clash |= s->write || s->start < written;
			if (s->end > any)
				any = s->end;
			if (s->write && s->end > written)
				written = s->end;
		}
		if (clash && !side_by_side(spans + i, next - i))
			return true;
	}
	return false;
}
