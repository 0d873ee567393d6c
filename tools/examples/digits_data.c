// SPDX-License-Identifier: MIT
/* A table of pictures: 64 numbers from 0 to 16 and a digit in each line, also gzipped. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "tools/examples/digits.h"

#define MOST	100000u

static void add(struct digits *d, const float *x, uint8_t label)
{
	/* room for a power of two */
	if (!(d->count & (d->count - 1))) {
		const size_t room = d->count ? 2 * (size_t)d->count : 1;

		d->x = realloc(d->x, room * PIXELS * sizeof(*d->x));
		d->label = realloc(d->label, room);
		if (!d->x || !d->label)
			die(EXIT_FAILURE, "out of memory");
	}
	memcpy(d->x + (size_t)d->count * PIXELS, x, PIXELS * sizeof(*x));
	d->label[d->count++] = label;
}

static bool parse_line(const char *line, float *x, uint8_t *label)
{
	long v;
	char *end;
	int i;

	for (i = 0; i <= PIXELS; i++, line = end + 1) {
		v = strtol(line, &end, 10);
		if (end == line || v < 0 || v > (i < PIXELS ? 16 : 9))
			return false;
		if (i < PIXELS ? *end != ',' : *end != '\n' && *end)
			return false;
		if (i < PIXELS)
			x[i] = (float)v / 16;
	}
	*label = (uint8_t)v;
	return true;
}

void digits_read(const char *path, struct digits *train, struct digits *test)
{
	char line[512];
	float x[PIXELS];
	uint8_t label;
	uint32_t n = 0;
	gzFile f;

	memset(train, 0, sizeof(*train));
	memset(test, 0, sizeof(*test));
	f = gzopen(path, "rb");
	if (!f)
		die(EXIT_FAILURE, "%s: %s", path, strerror(errno));
	while (gzgets(f, line, sizeof(line)) && n < MOST) {
		if (!parse_line(line, x, &label))
			die(EXIT_FAILURE, "%s: line %u is not 64 numbers to 16 and a digit", path,
			    n + 1);
		add(n % 4 == 3 ? test : train, x, label);
		n++;
	}
	gzclose(f);
	if (!test->count)
		die(EXIT_FAILURE, "%s: too few pictures", path);
}

void digits_free(struct digits *d)
{
	free(d->x);
	free(d->label);
}
