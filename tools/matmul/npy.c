// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "npy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC		"\x93NUMPY"
#define MAGIC_LEN	6
#define MAX_HEADER	65536	/* a header is a short line; numpy itself stops at 10000 */

static const struct {
	const char *name, *descr;
	size_t size;
} types[NPY_TYPES] = {
	[NPY_F32] = { "float32", "<f4", 4 },
	[NPY_F16] = { "float16", "<f2", 2 },
	[NPY_I8] = { "int8", "|i1", 1 },
	[NPY_I16] = { "int16", "<i2", 2 },
	[NPY_I32] = { "int32", "<i4", 4 },
};

size_t npy_size(enum npy_type type)
{
	return types[type].size;
}

const char *npy_name(enum npy_type type)
{
	return types[type].name;
}

static int fail(char *error, const char *text)
{
	snprintf(error, NPY_ERROR, "%s", text);
	return -1;
}

/* ---- the header: a Python dictionary of three known keys ---- */

struct header {
	const char *p, *end;
	char descr[16];
	bool fortran;
	size_t shape[2];
	unsigned int dims;
	unsigned int seen;	/* one bit for each key */
};

static void blanks(struct header *h)
{
	while (h->p < h->end && (*h->p == ' ' || *h->p == '\t' || *h->p == '\n' || *h->p == '\r'))
		h->p++;
}

static bool eat(struct header *h, char c)
{
	blanks(h);
	if (h->p == h->end || *h->p != c)
		return false;
	h->p++;
	return true;
}

static bool eat_word(struct header *h, const char *word)
{
	size_t len = strlen(word);

	blanks(h);
	if ((size_t)(h->end - h->p) < len || memcmp(h->p, word, len))
		return false;
	h->p += len;
	return true;
}

/* A string without escapes, at most size - 1 characters. */
static bool string(struct header *h, char *out, size_t size)
{
	size_t len = 0;
	char quote;

	blanks(h);
	if (h->p == h->end || (*h->p != '\'' && *h->p != '"'))
		return false;
	quote = *h->p++;
	while (h->p < h->end && *h->p != quote) {
		if (len + 1 >= size || *h->p == '\\' || *h->p < 0x20 || *h->p > 0x7e)
			return false;
		out[len++] = *h->p++;
	}
	out[len] = '\0';
	return h->p < h->end && h->p++;
}

static bool number(struct header *h, size_t *out)
{
	size_t v = 0;

	blanks(h);
	if (h->p == h->end || *h->p < '0' || *h->p > '9')
		return false;
	for (; h->p < h->end && *h->p >= '0' && *h->p <= '9'; h->p++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (size_t)(*h->p - '0'), &v))
			return false;
	/* Python 2 wrote long integers so. */
	if (h->p < h->end && *h->p == 'L')
		h->p++;
	*out = v;
	return true;
}

static bool shape(struct header *h)
{
	size_t v;

	if (!eat(h, '('))
		return false;
	while (!eat(h, ')')) {
		if (!number(h, &v))
			return false;
		if (h->dims < 2)
			h->shape[h->dims] = v;
		h->dims++;
		if (!eat(h, ',')) {
			if (!eat(h, ')'))
				return false;
			break;
		}
	}
	return true;
}

static bool once(struct header *h, unsigned int bit)
{
	if (h->seen & bit)
		return false;
	h->seen |= bit;
	return true;
}

static bool dictionary(struct header *h)
{
	char key[32];
	bool ok;

	if (!eat(h, '{'))
		return false;
	while (!eat(h, '}')) {
		if (!string(h, key, sizeof(key)) || !eat(h, ':'))
			return false;
		if (!strcmp(key, "descr")) {
			ok = once(h, 1) && string(h, h->descr, sizeof(h->descr));
		} else if (!strcmp(key, "fortran_order")) {
			h->fortran = eat_word(h, "True");
			ok = once(h, 2) && (h->fortran || eat_word(h, "False"));
		} else {
			ok = !strcmp(key, "shape") && once(h, 4) && shape(h);
		}
		if (!ok)
			return false;
		if (!eat(h, ',')) {
			if (!eat(h, '}'))
				return false;
			break;
		}
	}
	blanks(h);
	return h->p == h->end && h->seen == 7;
}

static int element_type(const char *descr, enum npy_type *type, char *error)
{
	unsigned int i;

	/* One byte has no order, and some writers say "<i1". */
	for (i = NPY_F32; i <= NPY_I8; i++) {
		if (!strcmp(descr + (descr[0] != '\0'), types[i].descr + 1) &&
		    (descr[0] == '<' || descr[0] == '=' || types[i].size == 1)) {
			*type = i;
			return 0;
		}
		if (descr[0] == '>' && !strcmp(descr + 1, types[i].descr + 1))
			return fail(error, "big-endian data is not supported");
	}
	snprintf(error, NPY_ERROR, "element type '%s' is none of float32, float16, int8", descr);
	return -1;
}

/* Everything before the data. *offset is where the data starts, *bytes what must follow. */
static int parse_header(const uint8_t *file, size_t size, struct npy *npy, size_t *offset,
			size_t *bytes, char *error)
{
	struct header h = { 0 };
	size_t start, len, count;

	if (size < MAGIC_LEN || memcmp(file, MAGIC, MAGIC_LEN))
		return fail(error, "not an npy file");
	if (size < MAGIC_LEN + 4)
		return fail(error, "truncated header");
	if (file[6] == 1) {
		start = MAGIC_LEN + 4;
		len = file[8] | (size_t)file[9] << 8;
	} else if (file[6] == 2 || file[6] == 3) {
		start = MAGIC_LEN + 6;
		if (size < start)
			return fail(error, "truncated header");
		len = file[8] | (size_t)file[9] << 8 | (size_t)file[10] << 16 |
		      (size_t)file[11] << 24;
	} else {
		snprintf(error, NPY_ERROR, "npy version %u.%u is not known", file[6], file[7]);
		return -1;
	}
	if (len > MAX_HEADER)
		return fail(error, "the header is too long");
	if (size - start < len)
		return fail(error, "truncated header");
	h.p = (const char *)file + start;
	h.end = h.p + len;
	if (!dictionary(&h))
		return fail(error, "malformed header");
	if (element_type(h.descr, &npy->type, error))
		return -1;
	if (h.dims != 1 && h.dims != 2) {
		snprintf(error, NPY_ERROR, "an array of %u dimensions, a matrix is needed", h.dims);
		return -1;
	}
	npy->fortran = h.dims == 2 && h.fortran;
	npy->rows = h.dims == 2 ? h.shape[0] : 1;
	npy->cols = h.shape[h.dims - 1];
	if (!npy->rows || !npy->cols)
		return fail(error, "the matrix is empty");
	if (__builtin_mul_overflow(npy->rows, npy->cols, &count) ||
	    __builtin_mul_overflow(count, types[npy->type].size, bytes))
		return fail(error, "the matrix is too large");
	*offset = start + len;
	return 0;
}

int npy_parse(const uint8_t *file, size_t size, struct npy *npy, char *error)
{
	size_t offset, bytes;

	memset(npy, 0, sizeof(*npy));
	if (parse_header(file, size, npy, &offset, &bytes, error))
		return -1;
	if (size - offset != bytes) {
		snprintf(error, NPY_ERROR, "%zu bytes of data, the header promises %zu",
			 size - offset, bytes);
		return -1;
	}
	npy->data = malloc(bytes);
	if (!npy->data)
		return fail(error, "out of memory");
	memcpy(npy->data, file + offset, bytes);
	return 0;
}

int npy_read(const char *path, struct npy *npy, char *error)
{
	uint8_t head[MAGIC_LEN + 6 + MAX_HEADER];
	size_t have, offset, bytes, got;
	FILE *f = fopen(path, "rb");
	struct stat st;
	int ret = -1;

	memset(npy, 0, sizeof(*npy));
	if (!f) {
		fail(error, strerror(errno));
		return -1;
	}
	if (fstat(fileno(f), &st)) {
		fail(error, strerror(errno));
		goto out;
	}
	if (S_ISDIR(st.st_mode)) {
		fail(error, "is a directory");
		goto out;
	}
	have = fread(head, 1, sizeof(head), f);
	if (ferror(f)) {
		fail(error, strerror(errno));
		goto out;
	}
	if (parse_header(head, have, npy, &offset, &bytes, error))
		goto out;
	/* Before memory is taken: a short file must not cost what its header promises. */
	if (S_ISREG(st.st_mode) && (uint64_t)st.st_size - offset != bytes) {
		snprintf(error, NPY_ERROR, "%llu bytes of data, the header promises %zu",
			 (unsigned long long)st.st_size - offset, bytes);
		goto out;
	}
	npy->data = malloc(bytes);
	if (!npy->data) {
		fail(error, "out of memory");
		goto out;
	}
	got = have - offset < bytes ? have - offset : bytes;
	memcpy(npy->data, head + offset, got);
	if (bytes - got)
		got += fread((uint8_t *)npy->data + got, 1, bytes - got, f);
	if (got == bytes && have - offset <= bytes && fgetc(f) == EOF && !ferror(f)) {
		ret = 0;
	} else {
		fail(error, ferror(f) ? strerror(errno) : got < bytes ? "truncated data" :
		     "bytes behind the data");
		npy_free(npy);
	}
out:
	fclose(f);
	return ret;
}

/* Magic, version 1, and a header padded so that the data is aligned to 64 bytes. */
static size_t make_header(const struct npy *npy, char *out, size_t size)
{
	int len, pad;

	len = snprintf(out + 10, size - 10,
		       "{'descr': '%s', 'fortran_order': %s, 'shape': (%zu, %zu), }",
		       types[npy->type].descr, npy->fortran ? "True" : "False", npy->rows,
		       npy->cols);
	pad = 63 - (10 + len) % 64;
	memset(out + 10 + len, ' ', (size_t)pad);
	len += pad;
	out[10 + len++] = '\n';
	memcpy(out, MAGIC "\x01\x00", 8);
	out[8] = (char)(len & 255);
	out[9] = (char)(len >> 8);
	return (size_t)len + 10;
}

int npy_write(const char *path, const struct npy *npy, char *error)
{
	size_t len, bytes = npy->rows * npy->cols * types[npy->type].size;
	char header[256];
	struct stat st;
	char *tmp;
	FILE *f;
	bool ok;

	/* A device or pipe keeps its name; a file appears whole or not at all. */
	if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
		tmp = NULL;
		f = fopen(path, "wb");
	} else {
		if (asprintf(&tmp, "%s.%ld.tmp", path, (long)getpid()) < 0)
			return fail(error, "out of memory");
		f = fopen(tmp, "wb");
	}
	if (!f) {
		free(tmp);
		return fail(error, strerror(errno));
	}
	len = make_header(npy, header, sizeof(header));
	ok = fwrite(header, 1, len, f) == len && fwrite(npy->data, 1, bytes, f) == bytes;
	if (fclose(f))
		ok = false;
	if (ok && tmp && rename(tmp, path))
		ok = false;
	if (!ok) {
		fail(error, strerror(errno));
		if (tmp)
			unlink(tmp);
	}
	free(tmp);
	return ok ? 0 : -1;
}

void npy_free(struct npy *npy)
{
	free(npy->data);
	npy->data = NULL;
}
