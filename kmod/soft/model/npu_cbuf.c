// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operands on their way through CBUF: feature rows by hw 02 §3.4, weight tiles
 * by hw 02 §4, and what the reuse bits find there.
 */
#include "npu_core.h"
#include "npu_num.h"

static s8 nibble(u8 byte, u32 odd)
{
	u32 v = odd ? byte >> 4 : byte & 0xf;

	return (s8)((v ^ 8) - 8);
}

static u32 half(const u8 *src)
{
	return npu_f16_to_f32(src[0] | src[1] << 8);
}

/* @n elements from @src as feature operands: fp32 words, or bytes */
static void unpack_feature(const struct npu_conv *t, void *dst, const u8 *src, u32 n)
{
	u32 *f = dst;
	s8 *b = dst;
	u32 i;

	switch (t->type->code) {
	case PREC_FP16:
		for (i = 0; i < n; i++)
			f[i] = half(src + 2 * i);
		break;
	case PREC_INT4:
		for (i = 0; i < n; i++)
			b[i] = nibble(src[i / 2], i & 1);
		break;
	default:
		memcpy(dst, src, n);
	}
}

/* One kernel's part of a tile down a column of [k][kernel] words */
static void unpack_kernel(const struct npu_conv *t, u32 *dst, const u8 *src, u32 n)
{
	u32 pitch = t->type->group, i;

	switch (t->type->code) {
	case PREC_FP16:
		for (i = 0; i < n; i++)
			dst[i * pitch] = half(src + 2 * i);
		break;
	case PREC_INT4:
		for (i = 0; i < n; i++)
			dst[i * pitch] = (u32)nibble(src[i / 2], i & 1);
		break;
	default:
		for (i = 0; i < n; i++)
			dst[i * pitch] = (u32)(s8)src[i];
	}
}

static u32 operand_bytes(const struct npu_conv *t)
{
	return t->is_float ? 4 : 1;
}

/* Padding is one value for all channels; only int8 and fp16 programs carry it. */
static void pad_row(struct npu_core *core, const struct npu_conv *t, u32 row)
{
	u8 atom[2] = { t->pad_value & 0xff, (t->pad_value >> 8) & 0xff };
	u32 size = operand_bytes(t), c;
	u8 *dst = core->operand_a + (size_t)row * t->k * size;

	for (c = 0; c < t->k; c++)
		unpack_feature(t, dst + c * size, atom, 1);
}

/* Address of the first byte of channel atom @ca of stored row @row */
static bool feature_addr(const struct npu_conv *t, u32 row, u32 ca, u32 *addr)
{
	u32 pixel = row * t->row_step;
	u32 h = pixel / t->ow - t->pad_top, w = pixel % t->ow - t->pad_left;
	u32 atom;

	/* Unsigned: above the top and left of the edge are far outside, too. */
	if (h >= t->h || w >= t->w)
		return false;
	if (t->group_lines)
		atom = h / 4 * t->line_stride + h % 4 * t->w;
	else
		atom = h * t->line_stride;
	atom += ca * t->step_atoms + w;
	*addr = t->a + ATOM * atom;
	return true;
}

/*
 * A packed image of one to four channels: strides count its pixels (hw 04
 * §2.7), and the channels that it does not have are zero.
 */
static enum npu_class load_image(struct npu_core *core, const struct npu_conv *t)
{
	u32 bytes = t->image_channels * t->type->bits / 8;
	u32 size = operand_bytes(t), row, n, i;
	enum npu_class cls;
	u32 addr;

	memset(core->operand_a, 0, (size_t)t->rows * t->k * size);
	for (row = 0; row < t->rows; row += n) {
		n = npu_min(t->rows - row, t->ow - row % t->ow);
		addr = t->a + (row / t->ow * t->line_stride + row % t->ow) * bytes;
		cls = npu_read(core, addr, core->run, n * bytes);
		if (cls)
			return cls;
		for (i = 0; i < n; i++)
			unpack_feature(t, core->operand_a + (size_t)(row + i) * t->k * size,
				       core->run + i * bytes, t->image_channels);
	}
	return NPU_OK;
}

static void feature_loaded(struct npu_core *core, const struct npu_conv *t)
{
	core->feature = (struct npu_resident) {
		.valid = true,
		.addr = t->a,
		.prec = t->type->code,
		.k = t->k,
		.rows = t->rows,
	};
}

enum npu_class npu_load_feature(struct npu_core *core, const struct npu_conv *t)
{
	u32 atoms = t->pixel_bytes / ATOM;
	/* Channel atoms in a row: a pixel is one run. Else each atom is its own. */
	u32 unit = t->step_atoms == 1 ? t->pixel_bytes : ATOM;
	u32 per_unit = unit * 8 / t->type->bits;
	u32 size = operand_bytes(t);
	u32 ca, row, end, addr, next, i;
	enum npu_class cls;

	if (t->data_reuse)
		return NPU_OK;
	core->feature.valid = false;
	if (t->image_channels) {
		cls = load_image(core, t);
		if (!cls)
			feature_loaded(core, t);
		return cls;
	}
	npu_stale_feature(core, t);
	for (ca = 0; ca < atoms; ca += unit / ATOM) {
		u32 first = ca * (ATOM * 8 / t->type->bits);
		u32 count = npu_min(per_unit, t->k - first);

		for (row = 0; row < t->rows; row = end) {
			end = row + 1;
			if (!feature_addr(t, row, ca, &addr)) {
				if (!ca)
					pad_row(core, t, row);
				continue;
			}
			while (end < t->rows && (end - row + 1) * unit <= RUN_BYTES &&
			       feature_addr(t, end, ca, &next) &&
			       next == addr + (end - row) * unit)
				end++;
			cls = npu_read(core, addr, core->run, (end - row) * unit);
			if (cls)
				return cls;
			npu_stale_read(core, addr, core->run, (end - row) * unit);
			for (i = row; i < end; i++)
				unpack_feature(t, core->operand_a +
					       ((size_t)i * t->k + first) * size,
					       core->run + (i - row) * unit, count);
		}
	}
	feature_loaded(core, t);
	return NPU_OK;
}

/* The last group holds what is left of the kernels; groups behind it are empty. */
u32 npu_group_kernels(const struct npu_conv *t, u32 group)
{
	u32 before = group * t->type->group;

	return before >= t->kernels ? 0 : npu_min(t->kernels - before, t->type->group);
}

u32 npu_group_bytes(const struct npu_conv *t, u32 group)
{
	return npu_group_kernels(t, group) * (t->k * t->type->bits / 8);
}

u32 npu_weight_bytes(const struct npu_conv *t)
{
	return t->kernels * (t->k * t->type->bits / 8);
}

/*
 * Weights stream through their banks round and round; at the end of a task the
 * banks hold the last part of them. A task that reuses them finds each byte
 * where the stream would have put it: right if all of the weight fits, else
 * only the last part is (hw 02 §6.5, hw 03 S13).
 */
static void ring_get(const struct npu_core *core, u32 size, u32 at, u8 *dst, u32 len)
{
	u32 pos = at % size;
	u32 head = npu_min(len, size - pos);

	memcpy(dst, core->weight_ring + pos, head);
	memcpy(dst + head, core->weight_ring, len - head);
}

static enum npu_class ring_fill(struct npu_core *core, u32 size, u32 addr, u32 at, u32 len)
{
	enum npu_class cls;
	u32 n;

	for (; len; at += n, addr += n, len -= n) {
		n = npu_min(len, size - at % size);
		cls = npu_read(core, addr, core->weight_ring + at % size, n);
		if (cls)
			return cls;
	}
	return NPU_OK;
}

enum npu_class npu_load_weight(struct npu_core *core, const struct npu_conv *t, u32 group)
{
	u32 ring = npu_min(t->weight_banks, BANKS) * BANK;
	u32 kernels = npu_group_kernels(t, group);
	u32 at = group * t->type->group * (t->k * t->type->bits / 8);
	u32 bytes = npu_group_bytes(t, group);
	u8 tile[TILE_BYTES];
	enum npu_class cls;
	u32 k0, width, len, n;

	if (!t->weight_reuse) {
		core->weight.valid = false;
		cls = ring_fill(core, ring, t->b + at, at, bytes);
		if (cls)
			return cls;
	} else if (!group && !core->weight.valid) {
		memset(core->weight_ring, 0, sizeof(core->weight_ring));
	}
	if (kernels < t->type->group)
		memset(core->operand_w, 0, (size_t)t->type->group * t->k * 4);
	for (k0 = 0; k0 < t->k; k0 += width, at += len) {
		width = npu_min(K_TILE, t->k - k0);
		len = kernels * (width * t->type->bits / 8);
		ring_get(core, ring, at, tile, len);
		for (n = 0; n < kernels; n++)
			unpack_kernel(t, core->operand_w + k0 * t->type->group + n,
				      tile + n * (len / kernels), width);
	}
	if (!t->weight_reuse && group + 1 == t->groups)
		core->weight = (struct npu_resident) {
			.valid = true,
			.addr = t->b,
			.bytes = npu_weight_bytes(t),
			.prec = t->type->code,
			.k = t->k,
			.rows = t->kernels,
		};
	return NPU_OK;
}
