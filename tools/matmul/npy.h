/* SPDX-License-Identifier: MIT */
/* Two-dimensional numpy files: format versions 1, 2 and 3. */
#ifndef NPY_H
#define NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum npy_type {
	NPY_F32,
	NPY_F16,
	NPY_I8,
	NPY_I16,	/* written only */
	NPY_I32,	/* written only */
	NPY_TYPES
};

/**
 * struct npy - a matrix in memory
 * @type: element type
 * @rows: rows
 * @cols: columns
 * @fortran: columns are contiguous instead of rows
 * @data: the elements
 */
struct npy {
	enum npy_type type;
	size_t rows;
	size_t cols;
	bool fortran;
	void *data;
};

#define NPY_ERROR	160	/* room for the sentence of a failure */

size_t npy_size(enum npy_type type);
const char *npy_name(enum npy_type type);

/* An array of one dimension is read as one row. Returns 0, or -1 with a sentence in error. */
int npy_read(const char *path, struct npy *npy, char *error);

/* The same from memory; the data is copied. */
int npy_parse(const uint8_t *file, size_t size, struct npy *npy, char *error);

/* Written to a temporary file that then takes the name. Returns as npy_read(). */
int npy_write(const char *path, const struct npy *npy, char *error);

void npy_free(struct npy *npy);

#endif
