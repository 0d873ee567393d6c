// SPDX-License-Identifier: MIT
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "regcmd.h"

#define MOST_PROGRAM	(256u << 20)	/* bytes of a file of words */

uint8_t *read_file(const char *path, size_t most, size_t *len)
{
	FILE *in = strcmp(path, "-") ? fopen(path, "rb") : stdin;
	size_t room = 65536, n = 0, got;
	uint8_t *data = NULL, *more;

	if (!in) {
		complain("%s: %s", path, strerror(errno));
		return NULL;
	}
	errno = 0;
	do {
		more = realloc(data, room);
		if (!more) {
			complain("%s: out of memory", path);
			goto fail;
		}
		data = more;
		got = fread(data + n, 1, room - n, in);
		n += got;
		if (n > most) {
			complain("%s: more than %zu bytes", path, most);
			goto fail;
		}
		if (n == room)
			room *= 2;
	} while (got);
	if (ferror(in)) {
		complain("%s: %s", path, strerror(errno ? errno : EIO));
		goto fail;
	}
	if (in != stdin)
		fclose(in);
	*len = n;
	return data;

fail:
	if (in != stdin)
		fclose(in);
	free(data);
	return NULL;
}

static bool parse_text(const char *path, const uint8_t *data, size_t len, struct words *words)
{
	size_t i = 0, line = 1;

	while (i < len) {
		uint64_t v = 0;
		size_t digits = 0;

		if (data[i] == '\n')
			line++;
		if (isspace(data[i])) {
			i++;
			continue;
		}
		if (data[i] == '#') {
			while (i < len && data[i] != '\n')
				i++;
			continue;
		}
		if (i + 2 < len && data[i] == '0' && (data[i + 1] | 32) == 'x')
			i += 2;
		for (; i < len && isxdigit(data[i]) && digits < 17; i++, digits++) {
			uint8_t c = data[i];

			v = v << 4 | (uint64_t)(isdigit(c) ? c - '0' : (c | 32) - 'a' + 10);
		}
		if (!digits || digits > 16 || (i < len && !isspace(data[i]) && data[i] != '#')) {
			complain("%s:%zu: not a word of 1 to 16 hex digits", path, line);
			return false;
		}
		words->v[words->n++] = v;
	}
	return true;
}

bool read_words(const char *path, struct words *words)
{
	size_t len, i, j;
	uint8_t *data = read_file(path, MOST_PROGRAM, &len);
	bool ok = true;

	if (!data)
		return false;
	/* Text holds at most one word for every two bytes, binary has zero bytes. */
	words->n = 0;
	words->v = malloc((len / 2 + 1) * sizeof(*words->v));
	if (!words->v) {
		complain("%s: out of memory", path);
		free(data);
		return false;
	}
	if (!memchr(data, 0, len)) {
		ok = parse_text(path, data, len, words);
	} else if (len % 8) {
		complain("%s: binary, but %zu bytes are not a whole number of words", path, len);
		ok = false;
	} else {
		for (i = 0; i < len / 8; i++) {
			uint64_t v = 0;

			for (j = 8; j--;)
				v = v << 8 | data[8 * i + j];
			words->v[words->n++] = v;
		}
	}
	free(data);
	if (ok && !words->n) {
		complain("%s: no words", path);
		ok = false;
	}
	if (!ok) {
		free(words->v);
		words->v = NULL;
	}
	return ok;
}
