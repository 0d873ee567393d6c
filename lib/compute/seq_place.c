// SPDX-License-Identifier: MIT
/*
 * Largest first, each at the lowest place that is free while it is there.
 *
 * Results with a part that must stay zero cannot take turns with others: theirs is
 * memory that is only used by results with the same part.
 */
#include "lib/compute/seq_place.h"

#include <errno.h>
#include <stdlib.h>

/* One result, or several with the same zeros that take turns */
struct box {
	uint64_t size;
	uint64_t written;
	uint32_t first;
	uint32_t last;
	uint64_t offset;
	size_t index;
};

static uint64_t align(uint64_t v)
{
	return (v + SEQ_ALIGN - 1) / SEQ_ALIGN * SEQ_ALIGN;
}

static int by_size(const void *a, const void *b)
{
	const struct box *x = a, *y = b;

	if (x->size != y->size)
		return x->size < y->size ? 1 : -1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static int by_first(const void *a, const void *b)
{
	const struct seq_span *x = *(struct seq_span *const *)a;
	const struct seq_span *y = *(struct seq_span *const *)b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Lowest place for @one among those of @placed, which rise; it becomes one of them. */
static void place_one(struct box *one, struct box **placed, size_t count)
{
	uint64_t at = 0;
	size_t i, to;

	for (i = 0; i < count; i++) {
		const struct box *p = placed[i];

		if (p->first > one->last || p->last < one->first)
			continue;
		if (at + one->size <= p->offset)
			break;
		if (p->offset + p->size > at)
			at = align(p->offset + p->size);
	}
	one->offset = at;
	for (to = count; to && placed[to - 1]->offset > at; to--)
		placed[to] = placed[to - 1];
	placed[to] = one;
}

/*
 * Boxes of @spans, which rise by when they begin. @last of a box with zeros is when its
 * latest member ends, until all are in.
 */
static size_t make_boxes(struct seq_span **spans, size_t count, struct box *boxes, size_t *of)
{
	size_t i, j, n = 0;

	for (i = 0; i < count; i++) {
		const struct seq_span *s = spans[i];

		j = n;
		if (s->written < s->size)
			for (j = 0; j < n; j++)
				if (boxes[j].written == s->written && boxes[j].size == s->size &&
				    boxes[j].last < s->first)
					break;
		of[i] = j;
		if (j == n) {
			boxes[n] = (struct box){ s->size, s->written, s->first, s->last, 0, n };
			n++;
		}
		boxes[j].last = s->last;
	}
	for (j = 0; j < n; j++) {
		if (boxes[j].written == boxes[j].size)
			continue;
		boxes[j].first = 0;
		boxes[j].last = UINT32_MAX;
	}
	return n;
}

int seq_place(struct seq_span *spans, size_t count, uint64_t *total)
{
	struct seq_span **rising = malloc((count + 1) * sizeof(*rising));
	struct box *boxes = malloc((count + 1) * sizeof(*boxes));
	struct box **placed = malloc((count + 1) * sizeof(*placed));
	uint64_t *offsets = malloc((count + 1) * sizeof(*offsets));
	size_t *of = malloc((count + 1) * sizeof(*of));
	int ret = -ENOMEM;
	size_t i, n;

	*total = 0;
	if (!rising || !boxes || !placed || !offsets || !of)
		goto out;
	for (i = 0; i < count; i++)
		rising[i] = &spans[i];
	qsort(rising, count, sizeof(*rising), by_first);
	n = make_boxes(rising, count, boxes, of);
	qsort(boxes, n, sizeof(*boxes), by_size);
	for (i = 0; i < n; i++) {
		place_one(&boxes[i], placed, i);
		offsets[boxes[i].index] = boxes[i].offset;
		if (boxes[i].offset + boxes[i].size > *total)
			*total = boxes[i].offset + boxes[i].size;
	}
	for (i = 0; i < count; i++)
		rising[i]->offset = offsets[of[i]];
	ret = 0;
out:
	free(rising);
	free(boxes);
	free(placed);
	free(offsets);
	free(of);
	return ret;
}
