// SPDX-License-Identifier: MIT
#include "tools/common/common.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rkmm_drm.h"

void die(int status, const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fprintf(stderr, "%s: ", program_name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(status);
}

void *allocate(size_t count, size_t size)
{
	size_t bytes;
	void *p = NULL;

	if (!__builtin_mul_overflow(count, size, &bytes))
		p = malloc(bytes ? bytes : 1);
	if (!p)
		die(EXIT_FAILURE, "out of memory");
	return p;
}

int form_parse(const char *text)
{
	static const char *const names[] = {
		[DRM_RKMM_FORM_AUTO] = "auto",
		[DRM_RKMM_FORM_FLAT] = "flat",
		[DRM_RKMM_FORM_BATCH] = "batch",
		[DRM_RKMM_FORM_CUBE] = "cube",
	};
	unsigned int i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(text, names[i]))
			return (int)i;
	return -1;
}
