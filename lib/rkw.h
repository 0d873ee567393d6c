/* SPDX-License-Identifier: MIT */
/*
 * Files of packed weights (.rkw), apart from devices.
 *
 * Little endian: a header of 128 bytes, a float for each column if there are
 * scales, zeros up to a multiple of 4096, the packed matrix. Nothing follows, so
 * the size tells a truncated file, and the matrix can be mapped as it is.
 */
#ifndef RKW_H
#define RKW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rkmm_drm.h"

#define RKW_VERSION	1
#define RKW_HEADER	128	/* bytes */
#define RKW_ALIGN	4096	/* of the matrix in the file */
#define RKW_ERROR	160	/* room for the sentence of a failure */

/**
 * struct rkw - what the header of a file says
 * @types: enum drm_rkmm_types the weights were packed for
 * @k: rows of B
 * @n: columns of B
 * @b: how the packed matrix lies
 * @scaled: there is a scale for each column
 * @data_offset: of the packed matrix in the file
 * @scale_crc: CRC-32 of the scales, 0 without them
 * @data_crc: CRC-32 of the packed matrix
 */
struct rkw {
	uint32_t types;
	uint32_t k;
	uint32_t n;
	struct drm_rkmm_tensor b;
	bool scaled;
	uint64_t data_offset;
	uint32_t scale_crc;
	uint32_t data_crc;
};

/*
 * Checks the first bytes of a file of size bytes: at least RKW_HEADER of them or
 * the whole file. Returns 0, or -EBADMSG with a sentence in error.
 */
int rkw_parse(const void *head, size_t have, uint64_t size, struct rkw *w, char *error);

/* The same for a file. Returns a descriptor or -errno. */
int rkw_open(const char *path, struct rkw *w, char *error);

/*
 * Read scales and matrix and check them. Where data is NULL it is only checked;
 * scale may be NULL. Returns 0 or -errno.
 */
int rkw_read(int fd, const struct rkw *w, float *scale, void *data, char *error);

/*
 * Write a file; it takes its name when it is complete. Offset and checksums are
 * computed here. Returns 0 or -errno.
 */
int rkw_write(const char *path, const struct rkw *w, const float *scale, const void *data,
	      char *error);

#endif
