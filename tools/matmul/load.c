// SPDX-License-Identifier: MIT
/* From files to operands: types are decided here, values converted or quantised. */
#include <stdlib.h>
#include <string.h>

#include "lib/rkmm_compute.h"
#include "matmul.h"

#define TILE	32	/* of a transposition: both sides stay in the first cache */

static void transpose(const uint8_t *src, uint8_t *dst, size_t rows, size_t cols, size_t size)
{
	size_t r0, c0, r, c;

	for (r0 = 0; r0 < rows; r0 += TILE)
		for (c0 = 0; c0 < cols; c0 += TILE)
			for (r = r0; r < rows && r < r0 + TILE; r++)
				for (c = c0; c < cols && c < c0 + TILE; c++)
					memcpy(dst + (c * rows + r) * size,
					       src + (r * cols + c) * size, size);
}

static void read_file(const char *path, struct npy *npy, bool rows_needed)
{
	char error[NPY_ERROR];
	void *turned;

	if (npy_read(path, npy, error))
		die(EXIT_FAILED, "%s: %s", path, error);
	if (npy->rows > UINT32_MAX || npy->cols > UINT32_MAX)
		die(EXIT_FAILED, "%s: %zu x %zu is too large", path, npy->rows, npy->cols);
	if (!npy->fortran || !rows_needed)
		return;
	/* Stored as cols rows of rows elements. */
	turned = allocate(npy->rows * npy->cols, npy_size(npy->type));
	transpose(npy->data, turned, npy->cols, npy->rows, npy_size(npy->type));
	free(npy->data);
	npy->data = turned;
	npy->fortran = false;
}

static enum precision choose_precision(const struct options *opt, enum npy_type a, enum npy_type b)
{
	if (a != b && (a == NPY_I8 || b == NPY_I8))
		die(EXIT_FAILED, "one matrix is %s and the other %s: both must be int8 or neither",
		    npy_name(a), npy_name(b));
	if (opt->precision != PRECISION_DEFAULT)
		return opt->precision;
	return a == NPY_I8 ? PRECISION_INT8 : PRECISION_FP16;
}

/* What the NPU computes and what is written, or the end of the program. */
static void choose_types(struct job *job, bool integers)
{
	static const char *const names[] = { "", "f32", "f16", "i32", "i16", "i8" };
	enum output out = job->opt->output;
	bool bad = false;

	job->quantised = !integers && job->precision != PRECISION_FP16;
	switch (job->precision) {
	case PRECISION_FP16:
		bad = out != OUTPUT_DEFAULT && out != OUTPUT_F32 && out != OUTPUT_F16;
		job->types = out == OUTPUT_F16 ? DRM_RKMM_F16F16 : DRM_RKMM_F16F32;
		job->out = out == OUTPUT_F16 ? NPY_F16 : NPY_F32;
		break;
	case PRECISION_INT8:
		job->types = DRM_RKMM_I8I32;
		job->out = NPY_I32;
		if (job->quantised)
			break;
		bad = out != OUTPUT_DEFAULT && out != OUTPUT_I32 && out != OUTPUT_I8;
		if (out == OUTPUT_I8) {
			job->types = DRM_RKMM_I8I8;
			job->out = NPY_I8;
		}
		break;
	default:
		job->types = DRM_RKMM_I4I16;
		job->out = out == OUTPUT_I32 ? NPY_I32 : NPY_I16;
		if (!job->quantised)
			bad = out != OUTPUT_DEFAULT && out != OUTPUT_I32 && out != OUTPUT_I16;
		break;
	}
	if (job->quantised) {
		bad = out != OUTPUT_DEFAULT && out != OUTPUT_F32 && out != OUTPUT_F16;
		job->out = out == OUTPUT_F16 ? NPY_F16 : NPY_F32;
	}
	if (bad)
		die(EXIT_FAILED, "--out %s does not go with %s inputs and this precision",
		    names[out], integers ? "integer" : "floating-point");
}

static float *values(const struct npy *npy)
{
	size_t i, count = npy->rows * npy->cols;
	float *v = allocate(count, sizeof(*v));

	switch (npy->type) {
	case NPY_F32:
		memcpy(v, npy->data, count * sizeof(*v));
		break;
	case NPY_F16:
		rkmm_f16_to_f32(npy->data, v, count);
		break;
	default:
		for (i = 0; i < count; i++)
			v[i] = ((const int8_t *)npy->data)[i];
		break;
	}
	return v;
}

static void check_int4(const char *path, const struct operand *op)
{
	const int8_t *v = op->data;
	size_t i, count = op->rows * op->cols;

	for (i = 0; i < count; i++) {
		size_t major = i / (op->transposed ? op->rows : op->cols);
		size_t minor = i % (op->transposed ? op->rows : op->cols);

		if (v[i] >= -8 && v[i] <= 7)
			continue;
		die(EXIT_FAILED, "%s: value %d at (%zu, %zu) is outside -8..7, the range of int4",
		    path, v[i], op->transposed ? minor : major, op->transposed ? major : minor);
	}
}

/* by_row: one scale for each stored row, else for each stored column */
static int quantise(const float *x, size_t rows, size_t cols, unsigned int bits, bool by_row,
		    float *scale, int8_t *q)
{
	int ret = by_row ? rkmm_absmax_rows(x, rows, cols, cols, scale) :
			   rkmm_absmax_cols(x, rows, cols, cols, scale);

	if (!ret)
		ret = rkmm_scale_absmax(scale, by_row ? rows : cols, bits, scale);
	if (ret)
		return ret;
	return by_row ? rkmm_quantise_rows(x, rows, cols, cols, bits, scale, q, cols) :
			rkmm_quantise_cols(x, rows, cols, cols, bits, scale, q, cols);
}

/* by_row: as for quantise() */
static void make_operand(const struct job *job, const char *path, struct operand *op,
			 struct npy *npy, bool by_row)
{
	size_t count = npy->rows * npy->cols;
	size_t stored_rows = npy->fortran ? npy->cols : npy->rows;
	size_t stored_cols = npy->fortran ? npy->rows : npy->cols;
	unsigned int bits = job->precision == PRECISION_INT8 ? 8 : 4;

	op->type = npy->type;
	op->rows = npy->rows;
	op->cols = npy->cols;
	op->transposed = npy->fortran;
	op->exact = values(npy);
	if (job->quantised) {
		op->data = allocate(count, 1);
		op->scale = allocate(by_row ? stored_rows : stored_cols, sizeof(float));
		if (quantise(op->exact, stored_rows, stored_cols, bits, by_row, op->scale,
			     op->data))
			die(EXIT_FAILED, "%s: a value is not finite, it cannot be quantised", path);
	} else if (job->precision == PRECISION_FP16) {
		op->data = allocate(count, sizeof(uint16_t));
		rkmm_f32_to_f16(op->exact, op->data, count);
	} else {
		op->data = npy->data;
		npy->data = NULL;
		if (job->precision == PRECISION_INT4)
			check_int4(path, op);
	}
	npy_free(npy);
}

void job_load(struct job *job, const struct options *opt)
{
	struct npy a, b;

	memset(job, 0, sizeof(*job));
	job->opt = opt;
	read_file(opt->a_path, &a, true);
	/* librkmm packs B from either order. */
	read_file(opt->b_path, &b, false);
	if (a.cols != b.rows)
		die(EXIT_FAILED, "A is %zu x %zu, B is %zu x %zu: they do not meet",
		    a.rows, a.cols, b.rows, b.cols);
	job->precision = choose_precision(opt, a.type, b.type);
	choose_types(job, a.type == NPY_I8);
	make_operand(job, opt->a_path, &job->a, &a, true);
	make_operand(job, opt->b_path, &job->b, &b, b.fortran);
}

void job_free(struct job *job)
{
	free(job->a.exact);
	free(job->a.data);
	free(job->a.scale);
	free(job->b.exact);
	free(job->b.data);
	free(job->b.scale);
	free(job->raw);
	npy_free(&job->c);
}
