// SPDX-License-Identifier: MIT
/*
 * Partial results of K slices to C: de-tiled, added in rising slice order and
 * converted in one pass over memory.
 */
#include <errno.h>
#include <string.h>

#include "lib/internal.h"
#include "lib/kernels.h"
#include "lib/pool.h"

#define BLOCK_COLS	64	/* as in detile.c */
#define CHUNK		256	/* elements summed at a time: they stay in the first-level cache */

union sums {
	int32_t i[CHUNK];
	float f[CHUNK];
};

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Byte of (row, col) in a partial result and, in *run, the elements that follow each other. */
static size_t locate(const struct drm_rkmm_tensor *t, uint32_t row, uint32_t col, uint32_t *run)
{
	const size_t elem = t->bits / 8;
	uint32_t h, hg, group, groups, per;
	size_t line;

	switch (t->layout) {
	case DRM_RKMM_LAYOUT_BATCH_C:
		h = t->tile_rows;
		group = row / h;
		groups = (t->rows + h - 1) / h;
		hg = min_u32(h, t->rows - group * h);
		line = ((size_t)(col / t->tile_cols) * groups + group) * 4 * h *
		       (t->tile_cols / BLOCK_COLS) + 4 * (size_t)(row % h) +
		       4 * (size_t)hg * (col % t->tile_cols / BLOCK_COLS);
		*run = BLOCK_COLS - col % BLOCK_COLS;
		return (line * BLOCK_COLS + col % BLOCK_COLS) * elem;
	case DRM_RKMM_LAYOUT_CUBE:
		per = RKMM_ATOM * 8 / t->bits;
		*run = per - col % per;
		return ((size_t)(col / per) * t->rows + row) * RKMM_ATOM + col % per * elem;
	default:
		*run = t->cols - col;
		return (size_t)row * t->pitch + col * elem;
	}
}

/* clamp(round_half_even(acc * mult / 2^shift) + offset), as the hardware has it */
static int8_t requantise(const struct drm_rkmm_plan_create *info, int32_t acc)
{
	int64_t v = (int64_t)acc * info->mult, q = v >> info->shift;
	int64_t rest = v - q * ((int64_t)1 << info->shift), half;

	if (info->shift) {
		half = (int64_t)1 << (info->shift - 1);
		q += rest > half || (rest == half && (q & 1));
	}
	q += info->offset;
	return (int8_t)(q < -128 ? -128 : q > 127 ? 127 : q);
}

static void convert(const struct drm_rkmm_plan_create *info, const union sums *sum, uint8_t *dst,
		    uint32_t n)
{
	int16_t clamped;
	uint32_t i;

	switch (info->types) {
	case DRM_RKMM_I8I8:
		for (i = 0; i < n; i++)
			dst[i] = (uint8_t)requantise(info, sum->i[i]);
		break;
	case DRM_RKMM_F16F16:
		rkmm_f32_to_f16(sum->f, (uint16_t *)(void *)dst, n);
		break;
	case DRM_RKMM_I4I16:
		for (i = 0; i < n; i++) {
			clamped = (int16_t)(sum->i[i] < INT16_MIN ? INT16_MIN :
					    sum->i[i] > INT16_MAX ? INT16_MAX : sum->i[i]);
			memcpy(dst + i * sizeof(clamped), &clamped, sizeof(clamped));
		}
		break;
	default:
		memcpy(dst, sum, n * sizeof(sum->i[0]));
		break;
	}
}

/* Element size of C as the caller has it. */
static size_t out_bytes(uint32_t types)
{
	switch (types) {
	case DRM_RKMM_I8I8:
		return 1;
	case DRM_RKMM_F16F16:
	case DRM_RKMM_I4I16:
		return 2;
	default:
		return 4;
	}
}

static void finish_row(const struct drm_rkmm_plan_create *info, const uint8_t *src, uint8_t *dst,
		       uint32_t row)
{
	const struct drm_rkmm_tensor *t = &info->c;
	const struct rkmm_kernels *k = rkmm_kernels();
	const bool fp = info->types == DRM_RKMM_F16F32 || info->types == DRM_RKMM_F16F16;
	uint32_t col, run, s, n;
	union sums sum;

	for (col = 0; col < info->n; col += n) {
		const uint8_t *from = src + locate(t, row, col, &run);

		n = min_u32(min_u32(run, CHUNK), info->n - col);
		memset(&sum, 0, n * sizeof(sum.i[0]));
		for (s = 0; s < t->slices; s++, from += t->slice_stride) {
			if (fp)
				k->add_f32(sum.f, from, n);
			else if (t->bits == 16)
				k->add_i16(sum.i, from, n);
			else
				k->add_i32(sum.i, from, n);
		}
		convert(info, &sum, dst + col * out_bytes(info->types), n);
	}
}

/* Operands of rkmm_finish_c(). */
struct finish_job {
	const struct drm_rkmm_plan_create *info;
	const uint8_t *src;
	uint8_t *dst;
	size_t pitch;
};

static void finish_rows(void *arg, uint32_t first, uint32_t count)
{
	const struct finish_job *p = arg;
	uint32_t r;

	for (r = first; r < first + count; r++)
		finish_row(p->info, p->src, p->dst + r * p->pitch, r);
}

int rkmm_finish_c(const struct rkmm_plan *plan, const void *src, void *dst, size_t ldc,
		  uint32_t rows)
{
	const struct drm_rkmm_plan_create *info = &plan->info;
	const struct drm_rkmm_tensor *t = &info->c;
	struct finish_job p = {
		.info = info, .src = src, .dst = dst, .pitch = ldc * out_bytes(info->types),
	};

	if (!(info->out_flags & DRM_RKMM_PLAN_HOST_FINISH))
		return rkmm_unpack_c(t, src, dst, ldc, rows, info->n);
	if (!rows || rows > info->m || ldc < info->n)
		return rkmm_fail(-EINVAL, "C: %u x %u with ld %zu out of a %u x %u operand", rows,
				 info->n, ldc, t->rows, t->cols);
	if ((t->bits != 16 && t->bits != 32) ||
	    (t->layout != DRM_RKMM_LAYOUT_ROWS && t->layout != DRM_RKMM_LAYOUT_CUBE &&
	     t->layout != DRM_RKMM_LAYOUT_BATCH_C))
		return rkmm_fail(-EINVAL, "C: layout %u of %u bits has no sum", t->layout, t->bits);
	rkmm_parallel((size_t)rows * info->n * (t->slices + 1) * t->bits / 8, rows, 4, finish_rows,
		      &p);
	return 0;
}
