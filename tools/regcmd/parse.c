// SPDX-License-Identifier: MIT
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "regcmd.h"

/* Digits only after an optional sign: strtoll would take blanks and more. */
static bool plain(const char *text)
{
	if (*text == '-')
		text++;
	return isdigit((unsigned char)*text);
}

bool parse_number(const char *what, const char *text, int64_t min, int64_t max, int64_t *value)
{
	char *end;
	long long v;

	errno = 0;
	v = strtoll(text, &end, 0);
	if (!plain(text) || end == text || *end || errno) {
		complain("%s: '%s' is not a number", what, text);
		return false;
	}
	if (v < min || v > max) {
		complain("%s: %s is not within %lld..%lld", what, text, (long long)min,
			 (long long)max);
		return false;
	}
	*value = v;
	return true;
}

bool parse_file_at(const char *what, const char *text, char **path, uint32_t *addr)
{
	const char *at = strrchr(text, '@');
	int64_t v;

	if (!at || at == text) {
		complain("%s: '%s' is not FILE@ADDR", what, text);
		return false;
	}
	if (!parse_number(what, at + 1, 0, UINT32_MAX, &v))
		return false;
	*addr = (uint32_t)v;
	*path = strndup(text, (size_t)(at - text));
	if (!*path)
		complain("out of memory");
	return *path;
}

bool parse_range(const char *what, const char *text, uint32_t *addr, uint32_t *len, char **path)
{
	const char *form = path ? "ADDR:LEN=FILE" : "ADDR:LEN";
	const char *equals = path ? strchr(text, '=') : text + strlen(text);
	const char *colon = strchr(text, ':');
	char number[2][32];
	int64_t v[2];
	size_t n[2];
	int i;

	if (!colon || !equals || colon > equals || (path && !equals[1])) {
		complain("%s: '%s' is not %s", what, text, form);
		return false;
	}
	n[0] = (size_t)(colon - text);
	n[1] = (size_t)(equals - colon - 1);
	for (i = 0; i < 2; i++) {
		if (n[i] >= sizeof(number[i])) {
			complain("%s: '%s' is not %s", what, text, form);
			return false;
		}
		memcpy(number[i], i ? colon + 1 : text, n[i]);
		number[i][n[i]] = 0;
		if (!parse_number(what, number[i], i, UINT32_MAX, &v[i]))
			return false;
	}
	if (v[0] + v[1] > 1ll << 32) {
		complain("%s: %s ends beyond the 32-bit address space", what, text);
		return false;
	}
	*addr = (uint32_t)v[0];
	*len = (uint32_t)v[1];
	if (path) {
		*path = strdup(equals + 1);
		if (!*path) {
			complain("out of memory");
			return false;
		}
	}
	return true;
}
