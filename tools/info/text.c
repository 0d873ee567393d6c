// SPDX-License-Identifier: MIT
/* Files below the root, and lists of what they say. */
#include <ctype.h>
#include <fcntl.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "info.h"
#include "tools/common/common.h"

static bool make_path(const struct info *info, char path[PATH], const char *fmt, va_list ap)
{
	int root = snprintf(path, PATH, "%s/", info->root);
	int n = vsnprintf(path + root, PATH - (size_t)root, fmt, ap);

	return n >= 0 && root + n < PATH;
}

static bool first_line(const char *path, char text[TEXT])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	text[0] = '\0';
	if (fd < 0)
		return false;
	n = read(fd, text, TEXT - 1);
	close(fd);
	if (n < 0)
		n = 0;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return text[0];
}

bool read_line(const struct info *info, char text[TEXT], const char *fmt, ...)
{
	char path[PATH];
	va_list ap;
	bool ok;

	va_start(ap, fmt);
	ok = make_path(info, path, fmt, ap);
	va_end(ap);
	text[0] = '\0';
	return ok && first_line(path, text);
}

bool read_number(const struct info *info, uint64_t *value, const char *fmt, ...)
{
	char path[PATH], text[TEXT];
	va_list ap;
	bool ok;

	va_start(ap, fmt);
	ok = make_path(info, path, fmt, ap);
	va_end(ap);
	*value = 0;
	if (!ok || !first_line(path, text) || !isdigit((unsigned char)text[0]))
		return false;
	*value = strtoull(text, NULL, 10);
	return true;
}

bool read_bytes(const struct info *info, void *to, size_t size, const char *fmt, ...)
{
	char path[PATH];
	va_list ap;
	ssize_t n;
	bool ok;
	int fd;

	va_start(ap, fmt);
	ok = make_path(info, path, fmt, ap);
	va_end(ap);
	fd = ok ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return false;
	n = read(fd, to, size);
	close(fd);
	return n == (ssize_t)size;
}

bool there_is(const struct info *info, const char *fmt, ...)
{
	char path[PATH];
	va_list ap;
	bool ok;

	va_start(ap, fmt);
	ok = make_path(info, path, fmt, ap);
	va_end(ap);
	return ok && !access(path, F_OK);
}

bool read_link(const struct info *info, char text[TEXT], const char *fmt, ...)
{
	char path[PATH], target[PATH];
	const char *last;
	va_list ap;
	ssize_t n;
	bool ok;

	va_start(ap, fmt);
	ok = make_path(info, path, fmt, ap);
	va_end(ap);
	text[0] = '\0';
	n = ok ? readlink(path, target, sizeof(target) - 1) : -1;
	if (n <= 0)
		return false;
	target[n] = '\0';
	last = strrchr(target, '/');
	snprintf(text, TEXT, "%.*s", TEXT - 1, last ? last + 1 : target);
	return true;
}

bool match(const struct info *info, const char *pattern, unsigned int i, char path[PATH])
{
	char full[PATH];
	size_t skip = strlen(info->root) + 1;
	bool found = false;
	glob_t g;

	path[0] = '\0';
	if (snprintf(full, sizeof(full), "%s/%s", info->root, pattern) >= PATH)
		return false;
	if (!glob(full, 0, NULL, &g)) {
		found = i < g.gl_pathc && strlen(g.gl_pathv[i]) < PATH;
		if (found)
			snprintf(path, PATH, "%s", g.gl_pathv[i] + skip);
		globfree(&g);
	}
	return found;
}

const char *formatted(char text[TEXT], const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, TEXT, fmt, ap);
	va_end(ap);
	return text;
}

static struct fact *fact_new(struct info *info, const char *key, const char *label)
{
	struct fact *f;

	if (info->nfacts == MAX_FACTS)
		die(3, "too many facts");
	f = &info->facts[info->nfacts++];
	f->key = key;
	f->label = label;
	return f;
}

void fact(struct info *info, const char *key, const char *label, const char *fmt, ...)
{
	struct fact *f = fact_new(info, key, label);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->value, sizeof(f->value), fmt, ap);
	va_end(ap);
	memcpy(f->shown, f->value, sizeof(f->shown));
}

void fact_number(struct info *info, const char *key, const char *label, uint64_t value,
		 const char *fmt, ...)
{
	struct fact *f = fact_new(info, key, label);
	va_list ap;

	f->number = true;
	snprintf(f->value, sizeof(f->value), "%llu", (unsigned long long)value);
	va_start(ap, fmt);
	vsnprintf(f->shown, sizeof(f->shown), fmt, ap);
	va_end(ap);
}

void problem(struct info *info, enum severity severity, const char *id, const char *fix,
	     const char *fmt, ...)
{
	struct problem *p;
	va_list ap;

	if (info->nproblems == MAX_PROBLEMS)
		return;
	p = &info->problems[info->nproblems++];
	p->severity = severity;
	p->id = id;
	snprintf(p->fix, sizeof(p->fix), "%s", fix);
	va_start(ap, fmt);
	vsnprintf(p->text, sizeof(p->text), fmt, ap);
	va_end(ap);
}
