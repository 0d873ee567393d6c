// SPDX-License-Identifier: MIT
/* From a matrix in a numpy file to packed weights in a file. */
#include <stdlib.h>
#include <string.h>

#include "lib/rkmm.h"
#include "lib/rkmm_compute.h"
#include "lib/rkw.h"
#include "tools/matmul/npy.h"
#include "weights.h"

static uint32_t choose_types(const struct pack_options *opt, enum npy_type type)
{
	if (opt->types < 0)
		return type == NPY_I8 ? DRM_RKMM_I8I32 : DRM_RKMM_F16F32;
	if (type == NPY_I8 && (opt->types == DRM_RKMM_F16F32 || opt->types == DRM_RKMM_F16F16))
		die(EXIT_FAILED, "%s: int8 values for fp16 types", opt->in);
	return (uint32_t)opt->types;
}

/* Floats of the file, in the order it has them. */
static float *floats(const struct npy *npy)
{
	size_t count = npy->rows * npy->cols;
	float *x = allocate(count, sizeof(*x));

	if (npy->type == NPY_F16)
		rkmm_f16_to_f32(npy->data, x, count);
	else
		memcpy(x, npy->data, count * sizeof(*x));
	return x;
}

/* A file in Fortran order holds the columns of B as rows. */
static int quantise(const float *x, const struct npy *npy, unsigned int bits, bool clip,
		    float *scale, int8_t *q)
{
	const size_t rows = npy->fortran ? npy->cols : npy->rows;
	const size_t cols = npy->fortran ? npy->rows : npy->cols;
	int ret;

	if (clip) {
		ret = npy->fortran ? rkmm_scale_clip_rows(x, rows, cols, cols, bits, scale) :
				     rkmm_scale_clip_cols(x, rows, cols, cols, bits, scale);
	} else {
		ret = npy->fortran ? rkmm_absmax_rows(x, rows, cols, cols, scale) :
				     rkmm_absmax_cols(x, rows, cols, cols, scale);
		if (!ret)
			ret = rkmm_scale_absmax(scale, npy->cols, bits, scale);
	}
	if (ret)
		return ret;
	return npy->fortran ? rkmm_quantise_rows(x, rows, cols, cols, bits, scale, q, cols) :
			      rkmm_quantise_cols(x, rows, cols, cols, bits, scale, q, cols);
}

/* What rkmm_pack_b() takes; scales where values were quantised, else NULL. */
static void *values(const struct pack_options *opt, struct npy *npy, uint32_t bits, float **scale)
{
	const size_t count = npy->rows * npy->cols;
	void *v;
	float *x;

	*scale = NULL;
	if (npy->type == NPY_I8 || (npy->type == NPY_F16 && bits == 16)) {
		v = npy->data;
		npy->data = NULL;
		return v;
	}
	x = floats(npy);
	v = allocate(count, bits == 16 ? 2 : 1);
	if (bits == 16) {
		rkmm_f32_to_f16(x, v, count);
	} else {
		*scale = allocate(npy->cols, sizeof(**scale));
		if (quantise(x, npy, bits, opt->clip, *scale, v))
			die(EXIT_FAILED, "%s: it cannot be quantised: a value is not finite",
			    opt->in);
	}
	free(x);
	return v;
}

void weights_pack(const struct pack_options *opt)
{
	char error[NPY_ERROR], why[RKW_ERROR];
	struct rkw file = { 0 };
	const char *reason;
	void *packed, *v;
	struct npy npy;
	float *scale;

	if (npy_read(opt->in, &npy, error))
		die(EXIT_FAILED, "%s: %s", opt->in, error);
	if (npy.rows > UINT32_MAX || npy.cols > UINT32_MAX)
		die(EXIT_FAILED, "%s: %zu x %zu is too large", opt->in, npy.rows, npy.cols);
	file.types = choose_types(opt, npy.type);
	file.k = (uint32_t)npy.rows;
	file.n = (uint32_t)npy.cols;
	reason = weights_layout(file.types, file.k, file.n, &file.b);
	if (reason)
		die(EXIT_FAILED, "%s: %u x %u cannot be packed: %s", opt->in, file.k, file.n,
		    reason);
	v = values(opt, &npy, file.b.bits, &scale);
	packed = calloc(1, file.b.size);
	if (!packed)
		die(EXIT_FAILED, "out of memory");
	if (rkmm_pack_b(&file.b, packed, v, npy.fortran ? file.k : file.n, file.k, file.n,
			npy.fortran ? RKMM_B_TRANSPOSED : 0))
		die(EXIT_FAILED, "%s: %s", opt->in, rkmm_last_error());
	if (rkw_write(opt->out, &file, scale, packed, why))
		die(EXIT_FAILED, "%s: %s", opt->out, why);
	free(packed);
	free(scale);
	free(v);
	npy_free(&npy);
}
