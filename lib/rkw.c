// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "lib/rkw.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#define CHUNK	65536u

/* Not text, and damaged by whatever converts line ends. */
static const uint8_t magic[8] = { 0x89, 'R', 'K', 'W', '\r', '\n', 0x1a, '\n' };

/* header_crc covers what is before it. */
struct rkw_header {
	uint8_t magic[8];
	uint32_t version;
	uint32_t header_bytes;
	uint32_t types;
	uint32_t k;
	uint32_t n;
	uint32_t bits;
	uint32_t layout;
	uint32_t rows;
	uint32_t cols;
	uint32_t group;
	uint32_t slices;
	uint32_t slice;
	uint64_t slice_stride;
	uint64_t layout_id;
	uint64_t scale_offset;
	uint64_t data_offset;
	uint64_t data_size;
	uint32_t scales;
	uint32_t scale_crc;
	uint32_t data_crc;
	uint32_t reserved[4];
	uint32_t header_crc;
};

_Static_assert(sizeof(struct rkw_header) == RKW_HEADER, "header");

static int fail(char *error, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static int fail(char *error, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(error, RKW_ERROR, fmt, ap);
	va_end(ap);
	return err;
}

static int fail_errno(char *error)
{
	int err = errno ? errno : EIO;
	char buf[64];

	return fail(error, -err, "%s", strerror_r(err, buf, sizeof(buf)));
}

static uint32_t crc(uint32_t start, const void *data, size_t size)
{
	return (uint32_t)crc32_z(start, data, size);
}

static uint32_t header_crc(const struct rkw_header *h)
{
	return crc(0, h, offsetof(struct rkw_header, header_crc));
}

static uint64_t data_offset(uint64_t scales)
{
	return (RKW_HEADER + 4 * scales + RKW_ALIGN - 1) / RKW_ALIGN * RKW_ALIGN;
}

static uint32_t bits_of(uint32_t types)
{
	static const uint32_t bits[] = {
		[DRM_RKMM_I8I32] = 8, [DRM_RKMM_I8I8] = 8, [DRM_RKMM_F16F32] = 16,
		[DRM_RKMM_F16F16] = 16, [DRM_RKMM_I4I16] = 4,
	};

	return types < sizeof(bits) / sizeof(bits[0]) ? bits[types] : 0;
}

/* Every number against the others, so that whoever uses them stays in the data. */
static bool consistent(const struct rkw_header *h)
{
	uint64_t slice_bytes, size, all;

	if (!bits_of(h->types) || h->bits != bits_of(h->types) ||
	    h->layout != DRM_RKMM_LAYOUT_WEIGHT || h->group != 256 / h->bits)
		return false;
	if (!h->k || !h->n || h->n > h->cols || h->cols % h->group || h->cols > INT32_MAX ||
	    h->k > h->rows || h->rows > INT32_MAX)
		return false;
	if (!h->slices || !h->slice || h->slice % 32 ||
	    (uint64_t)h->slices * h->slice != h->rows)
		return false;
	/* Below 2^31 * 2^31 * 2. */
	slice_bytes = (uint64_t)h->slice * h->cols / 8 * h->bits;
	if (h->slices > 1 && h->slice_stride < slice_bytes)
		return false;
	if (__builtin_mul_overflow((uint64_t)h->slices - 1, h->slice_stride, &all) ||
	    __builtin_add_overflow(all, slice_bytes, &size) || h->data_size != size)
		return false;
	if (h->scales && h->scales != h->n)
		return false;
	return h->scale_offset == (h->scales ? RKW_HEADER : 0) && (h->scales || !h->scale_crc) &&
	       h->data_offset == data_offset(h->scales) && !h->reserved[0] && !h->reserved[1] &&
	       !h->reserved[2] && !h->reserved[3];
}

int rkw_parse(const void *head, size_t have, uint64_t size, struct rkw *w, char *error)
{
	struct rkw_header h;

	memset(w, 0, sizeof(*w));
	if (have < sizeof(magic) || memcmp(head, magic, sizeof(magic)))
		return fail(error, -EBADMSG, "not an .rkw file");
	if (have < sizeof(h))
		return fail(error, -EBADMSG, "truncated: %zu bytes, the header alone has %u", have,
			    RKW_HEADER);
	memcpy(&h, head, sizeof(h));
	if (h.version != RKW_VERSION)
		return fail(error, -EBADMSG, "version %u of the format, version %u is known",
			    h.version, RKW_VERSION);
	if (h.header_crc != header_crc(&h))
		return fail(error, -EBADMSG, "the header is damaged");
	if (h.header_bytes != RKW_HEADER || !consistent(&h))
		return fail(error, -EBADMSG, "the header contradicts itself");
	if (size < h.data_offset || size - h.data_offset < h.data_size)
		return fail(error, -EBADMSG, "truncated: %llu bytes of %llu",
			    (unsigned long long)size,
			    (unsigned long long)(h.data_offset + h.data_size));
	if (size - h.data_offset != h.data_size)
		return fail(error, -EBADMSG, "bytes behind the data");

	w->types = h.types;
	w->k = h.k;
	w->n = h.n;
	w->b = (struct drm_rkmm_tensor) {
		.size = h.data_size, .layout_id = h.layout_id, .layout = h.layout,
		.rows = h.rows, .cols = h.cols, .group = h.group, .bits = h.bits,
		.slice_stride = h.slice_stride, .slices = h.slices, .slice = h.slice,
	};
	w->scaled = h.scales;
	w->data_offset = h.data_offset;
	w->scale_crc = h.scale_crc;
	w->data_crc = h.data_crc;
	return 0;
}

/* Returns 0 or -errno; the end of the file is one. */
static int read_all(int fd, void *dst, uint64_t size, uint64_t offset, char *error)
{
	uint8_t *p = dst, piece[4096];
	ssize_t got;

	while (size) {
		got = pread(fd, p, size < 1 << 30 ? size : 1 << 30, (off_t)offset);
		/* some network file systems cannot read into memory that a driver mapped */
		if (got < 0 && errno == EFAULT) {
			got = pread(fd, piece, size < sizeof(piece) ? size : sizeof(piece),
				    (off_t)offset);
			if (got > 0)
				memcpy(p, piece, (size_t)got);
		}
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fail_errno(error);
		if (!got)
			return fail(error, -EBADMSG, "truncated while it was read");
		p += got;
		offset += (uint64_t)got;
		size -= (uint64_t)got;
	}
	return 0;
}

int rkw_open(const char *path, struct rkw *w, char *error)
{
	uint8_t head[RKW_HEADER];
	struct stat st;
	size_t have;
	int fd, ret;

	memset(w, 0, sizeof(*w));
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return fail_errno(error);
	if (fstat(fd, &st)) {
		ret = fail_errno(error);
	} else if (!S_ISREG(st.st_mode)) {
		ret = fail(error, -EBADMSG, "not a regular file");
	} else {
		have = st.st_size < RKW_HEADER ? (size_t)st.st_size : RKW_HEADER;
		ret = read_all(fd, head, have, 0, error);
		if (!ret)
			ret = rkw_parse(head, have, (uint64_t)st.st_size, w, error);
	}
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

/* To dst, or nowhere; each piece is summed while it is in the cache. */
static int read_summed(int fd, uint8_t *dst, uint64_t size, uint64_t offset, uint32_t *sum,
		       char *error)
{
	uint8_t tmp[CHUNK], *to;
	uint64_t done, n;
	int ret;

	*sum = 0;
	for (done = 0; done < size; done += n) {
		n = size - done < CHUNK ? size - done : CHUNK;
		to = dst ? dst + done : tmp;
		ret = read_all(fd, to, n, offset + done, error);
		if (ret)
			return ret;
		*sum = crc(*sum, to, n);
	}
	return 0;
}

/* The gap before the data is zero, so that a flipped bit anywhere is found. */
static int check_gap(int fd, const struct rkw *w, char *error)
{
	uint64_t offset = RKW_HEADER + (w->scaled ? 4 * (uint64_t)w->n : 0);
	uint8_t gap[RKW_ALIGN];
	size_t i, size = w->data_offset - offset;
	int ret = read_all(fd, gap, size, offset, error);

	for (i = 0; !ret && i < size; i++)
		if (gap[i])
			ret = fail(error, -EBADMSG, "the gap before the data is damaged");
	return ret;
}

int rkw_read(int fd, const struct rkw *w, float *scale, void *data, char *error)
{
	uint32_t sum;
	int ret = 0;

	if (w->scaled) {
		ret = read_summed(fd, (uint8_t *)scale, 4 * (uint64_t)w->n, RKW_HEADER, &sum,
				  error);
		if (!ret && sum != w->scale_crc)
			ret = fail(error, -EBADMSG, "the scales are damaged");
	}
	if (!ret)
		ret = check_gap(fd, w, error);
	if (ret)
		return ret;
	ret = read_summed(fd, data, w->b.size, w->data_offset, &sum, error);
	if (!ret && sum != w->data_crc)
		ret = fail(error, -EBADMSG, "the data is damaged");
	return ret;
}

static int write_all(FILE *f, const struct rkw_header *h, const float *scale, const void *data)
{
	static const uint8_t zeros[RKW_ALIGN];
	const size_t scales = 4 * (size_t)h->scales;
	const size_t gap = h->data_offset - RKW_HEADER - scales;

	return fwrite(h, 1, sizeof(*h), f) == sizeof(*h) &&
	       (!scales || fwrite(scale, 1, scales, f) == scales) &&
	       fwrite(zeros, 1, gap, f) == gap &&
	       fwrite(data, 1, h->data_size, f) == h->data_size;
}

int rkw_write(const char *path, const struct rkw *w, const float *scale, const void *data,
	      char *error)
{
	struct rkw_header h = {
		.version = RKW_VERSION, .header_bytes = RKW_HEADER, .types = w->types, .k = w->k,
		.n = w->n, .bits = w->b.bits, .layout = w->b.layout, .rows = w->b.rows,
		.cols = w->b.cols, .group = w->b.group, .slices = w->b.slices,
		.slice = w->b.slice, .slice_stride = w->b.slice_stride,
		.layout_id = w->b.layout_id, .scale_offset = scale ? RKW_HEADER : 0,
		.data_offset = data_offset(scale ? w->n : 0), .data_size = w->b.size,
		.scales = scale ? w->n : 0,
	};
	struct stat st;
	bool ok, whole;
	char *tmp;
	int ret;
	FILE *f;

	memcpy(h.magic, magic, sizeof(magic));
	h.scale_crc = scale ? crc(0, scale, 4 * (size_t)w->n) : 0;
	h.data_crc = crc(0, data, w->b.size);
	h.header_crc = header_crc(&h);
	if (!consistent(&h))
		return fail(error, -EINVAL, "these weights do not fit the format");
	/* A file appears whole or not at all; a device or a pipe must not become a file. */
	whole = stat(path, &st) || S_ISREG(st.st_mode);
	if ((whole ? asprintf(&tmp, "%s.%ld.tmp", path, (long)getpid()) :
		     asprintf(&tmp, "%s", path)) < 0)
		return fail(error, -ENOMEM, "out of memory");
	f = fopen(tmp, "wbe");
	if (!f) {
		ret = fail_errno(error);
		free(tmp);
		return ret;
	}
	errno = 0;
	ok = write_all(f, &h, scale, data);
	/* The first error is the one to tell. */
	if (fclose(f))
		ok = false;
	if (ok && whole && rename(tmp, path))
		ok = false;
	ret = ok ? 0 : fail_errno(error);
	if (!ok && whole)
		unlink(tmp);
	free(tmp);
	return ret;
}
