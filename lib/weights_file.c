// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/internal.h"
#include "lib/rkw.h"

#define TILE_K	32	/* channels of a weight tile; hw 02 §4 */

static bool is_half(uint32_t types)
{
	return types == DRM_RKMM_F16F32 || types == DRM_RKMM_F16F16;
}

static bool is_int8(uint32_t types)
{
	return types == DRM_RKMM_I8I32 || types == DRM_RKMM_I8I8;
}

static size_t tile_bytes(const struct drm_rkmm_tensor *t)
{
	return (size_t)TILE_K * t->group * t->bits / 8;
}

/* Tile of channels k0.. and columns n0..: both are multiples of its size. */
static size_t tile_at(const struct drm_rkmm_tensor *t, uint32_t k0, uint32_t n0)
{
	return k0 / t->slice * t->slice_stride +
	       ((size_t)(n0 / t->group) * (t->slice / TILE_K) + k0 % t->slice / TILE_K) *
	       tile_bytes(t);
}

static int8_t low_nibble(uint8_t x)
{
	return (int8_t)((int)((x & 0xf) ^ 8) - 8);
}

/* Columns lie one behind the other in both, so an int8 tile is part of an int4 tile. */
static void widen(const struct drm_rkmm_tensor *from, const uint8_t *src,
		  const struct drm_rkmm_tensor *to, uint8_t *dst)
{
	const size_t bytes = tile_bytes(to);
	uint32_t k0, n0;
	size_t i;

	for (n0 = 0; n0 < to->cols; n0 += to->group)
		for (k0 = 0; k0 < to->rows; k0 += TILE_K) {
			uint8_t *out = dst + tile_at(to, k0, n0);
			const uint8_t *in;

			if (k0 >= from->rows || n0 >= from->cols) {
				memset(out, 0, bytes);
				continue;
			}
			in = src + tile_at(from, k0, n0) + n0 % from->group * (TILE_K / 2);
			for (i = 0; i < bytes / 2; i++) {
				out[2 * i] = (uint8_t)low_nibble(in[i]);
				out[2 * i + 1] = (uint8_t)low_nibble(in[i] >> 4);
			}
		}
}

static bool same_layout(const struct drm_rkmm_tensor *a, const struct drm_rkmm_tensor *b)
{
	return a->size == b->size && a->layout_id == b->layout_id && a->layout == b->layout &&
	       a->rows == b->rows && a->cols == b->cols && a->group == b->group &&
	       a->bits == b->bits && a->slices == b->slices && a->slice == b->slice &&
	       (a->slices == 1 || a->slice_stride == b->slice_stride);
}

/* From an open file into weights that were made for it. */
static int fill(int fd, const struct rkw *file, struct rkmm_weights *w, void *ptr, char *error)
{
	void *tmp = NULL;
	int ret;

	if (file->scaled) {
		w->scale = malloc(file->n * sizeof(*w->scale));
		if (!w->scale)
			goto no_memory;
	}
	if (w->tensor.bits != file->b.bits) {
		tmp = malloc(file->b.size);
		if (!tmp)
			goto no_memory;
	}
	ret = rkw_read(fd, file, w->scale, tmp ? tmp : ptr, error);
	if (!ret && tmp)
		widen(&file->b, tmp, &w->tensor, ptr);
	free(tmp);
	return ret;
no_memory:
	strcpy(error, "out of memory");
	return -ENOMEM;
}

int rkmm_weights_load(struct rkmm_device *dev, const char *path, uint32_t types,
		      struct rkmm_weights **out)
{
	struct rkmm_weights *w;
	char error[RKW_ERROR];
	struct rkw file;
	bool widened;
	void *ptr;
	int fd, ret;

	*out = NULL;
	fd = rkw_open(path, &file, error);
	if (fd < 0)
		return rkmm_fail(fd, "%s: %s", path, error);
	if (types == RKMM_AS_STORED)
		types = file.types;
	widened = file.types == DRM_RKMM_I4I16 && is_int8(types);
	if (!widened && types != file.types &&
	    !(is_half(types) && is_half(file.types)) && !(is_int8(types) && is_int8(file.types))) {
		ret = rkmm_fail(-EOPNOTSUPP, "%s: the weights have %u bits, other than these types",
				path, file.b.bits);
		goto out;
	}
	ret = rkmm_weights_alloc(dev, types, file.k, file.n, widened ? 0 : file.b.layout_id, &w,
				 &ptr);
	if (ret == -EOPNOTSUPP) {
		snprintf(error, sizeof(error), "%s", rkmm_last_error());
		rkmm_fail(ret, "%s: this device does not take the weights: %s", path, error);
	}
	if (ret)
		goto out;
	if (!widened && !same_layout(&w->tensor, &file.b)) {
		ret = rkmm_fail(-EOPNOTSUPP, "%s: packed in another layout than this device has",
				path);
	} else {
		ret = fill(fd, &file, w, ptr, error);
		if (ret)
			rkmm_fail(ret, "%s: %s", path, error);
		else
			ret = rkmm_buffer_end(w->buf, 0, w->tensor.size, RKMM_WRITE);
	}
	if (ret)
		rkmm_weights_destroy(w);
	else
		*out = w;
out:
	close(fd);
	return ret;
}

int rkmm_weights_save(const struct rkmm_weights *w, const char *path)
{
	struct rkw file = { .types = w->types, .k = w->k, .n = w->n, .b = w->tensor };
	char error[RKW_ERROR];
	void *ptr;
	int ret;

	ret = rkmm_buffer_map(w->buf, &ptr);
	if (ret)
		return ret;
	/* Only the CPU writes weights, so what it sees is what they are. */
	ret = rkw_write(path, &file, w->scale, ptr, error);
	return ret ? rkmm_fail(ret, "%s: %s", path, error) : 0;
}
