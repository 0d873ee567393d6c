// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pooling by PPU and PPU_RDMA, memory to memory (hw 04 §5). The sheet has the
 * registers; what it leaves open is decided here and listed in soft-npu.rst.
 */
#include "npu_stage.h"
#include "npu_fp.h"

/* Output pixels of a line that are worked on at a time, and the widest kernel */
#define TILE		64u
#define KERNEL_MAX	16u
#define SPAN_MAX	((TILE - 1) * KERNEL_MAX + KERNEL_MAX)

static_assert(KERNEL_MAX * SPAN_MAX * ATOM <= STAGE_VALUES, "the lines of a tile fit the stage");
static_assert(SPAN_MAX * ATOM <= RUN_BYTES, "a line of a tile is read at once");
static_assert(TILE * ATOM <= STAGE_BLOCK, "a tile's results pass an operator at once");

enum method {
	AVERAGE,
	MAXIMUM,
	MINIMUM,
};

/*
 * struct ppu - a pooling task; sizes are counts
 */
struct ppu {
	const u32 *ppu, *rdma;
	u32 w, h, n;
	u32 ow, oh;
	u32 mode, method;
	u32 kw, kh, sw, sh;
	u32 left, top, right, bottom;
	u32 recip_w, recip_h;
	u32 pad;
	u32 dst, dst_surf;
	u32 format, prec, bytes;
	u32 src, line_stride, surf_stride;
	u32 per_atom;
	bool is_float;
};

static u32 count(const u32 *r, u32 offset)
{
	return npu_bits(npu_reg(r, offset), 12, 0) + 1;
}

static void decode(struct ppu *p, struct npu_core *core)
{
	const struct npu_block *b = core->blk;
	u32 base = npu_word_get(&core->dma_base), v;

	memset(p, 0, sizeof(*p));
	p->ppu = b[BLK_PPU].reg[b[BLK_PPU].executer];
	p->rdma = b[BLK_PPU_RDMA].reg[b[BLK_PPU_RDMA].executer];
	p->w = count(p->ppu, PPU_IN_WIDTH);
	p->h = count(p->ppu, PPU_IN_HEIGHT);
	p->n = count(p->ppu, PPU_IN_CHANNEL);
	p->ow = count(p->ppu, PPU_OUT_WIDTH);
	p->oh = count(p->ppu, PPU_OUT_HEIGHT);
	p->mode = npu_reg(p->ppu, PPU_MODE);
	p->method = npu_bits(p->mode, 1, 0);
	v = npu_reg(p->ppu, PPU_KERNEL);
	p->kw = npu_bits(v, 3, 0) + 1;
	p->kh = npu_bits(v, 11, 8) + 1;
	p->sw = npu_bits(v, 19, 16) + 1;
	p->sh = npu_bits(v, 23, 20) + 1;
	p->recip_w = npu_bits(npu_reg(p->ppu, PPU_RECIP_WIDTH), 16, 0);
	p->recip_h = npu_bits(npu_reg(p->ppu, PPU_RECIP_HEIGHT), 16, 0);
	/* Places of the four fields as in NVDLA; the sheet has their widths. */
	v = npu_reg(p->ppu, PPU_PADDING);
	p->left = npu_bits(v, 2, 0);
	p->top = npu_bits(v, 6, 4);
	p->right = npu_bits(v, 10, 8);
	p->bottom = npu_bits(v, 14, 12);
	p->dst = npu_reg(p->ppu, PPU_DST_BASE) + base;
	p->dst_surf = npu_reg(p->ppu, PPU_DST_SURF_STRIDE) & ~0xfu;
	p->format = npu_reg(p->ppu, PPU_DATA_FORMAT);
	p->prec = npu_bits(p->format, 2, 0);
	p->bytes = npu_out_bytes(p->prec);
	p->is_float = p->prec == PREC_FP16;
	p->src = npu_reg(p->rdma, PPU_RDMA_SRC) + base;
	p->line_stride = npu_reg(p->rdma, PPU_RDMA_LINE_STRIDE) & ~0xfu;
	p->surf_stride = npu_reg(p->rdma, PPU_RDMA_SURF_STRIDE) & ~0xfu;
	v = npu_reg(p->ppu, PPU_PAD_VALUE);
	p->pad = p->is_float ? npu_f16_to_f32(v & 0xffff) : p->prec == PREC_INT8 ? (u32)(s8)v :
		 (u32)(s16)v;
	p->per_atom = ATOM / npu_max(p->bytes, 1);
}

/* --- laws -------------------------------------------------------------------------------- */

struct ppu_law {
	const char *text;
	bool (*broken)(const struct ppu *p);
	bool strict_only;
};

static bool not_memory(const struct ppu *p)
{
	return !(p->mode & PPU_MODE_MEMORY) || p->format & PPU_FORMAT_FLYING;
}

static bool undocumented(const struct ppu *p)
{
	return p->mode & PPU_MODE_INDEX || p->method > MINIMUM || npu_bits(p->mode, 28, 16) ||
	       npu_reg(p->ppu, PPU_PAD_VALUE_HIGH);
}

static bool types(const struct ppu *p)
{
	u32 element = npu_bits(npu_reg(p->rdma, PPU_RDMA_ELEMENT), 1, 0);

	if (p->prec == PREC_INT8)
		return element > 1;
	return (p->prec != PREC_INT16 && p->prec != PREC_FP16) || element != 2;
}

static bool sizes_differ(const struct ppu *p)
{
	return count(p->rdma, PPU_RDMA_WIDTH) != p->w || count(p->rdma, PPU_RDMA_HEIGHT) != p->h ||
	       count(p->rdma, PPU_RDMA_CHANNEL) != p->n || count(p->ppu, PPU_OUT_CHANNEL) != p->n;
}

static bool window_outside(const struct ppu *p)
{
	return (p->ow - 1) * p->sw + p->kw > p->w + p->left + p->right ||
	       (p->oh - 1) * p->sh + p->kh > p->h + p->top + p->bottom;
}

/* 2^16 divided by @k, as an integer or in fp16, up to the format's own rounding */
static bool reciprocal_off(const struct ppu *p, u32 reg, u32 k)
{
	s64 off = p->is_float ? npu_f32_to_s32(npu_f16_to_f32(reg & 0xffff)) : (s32)reg;

	off = off * k - 65536;
	return (off < 0 ? -off : off) > (p->is_float ? 128 : k);
}

static bool reciprocals(const struct ppu *p)
{
	return p->method == AVERAGE && (reciprocal_off(p, p->recip_w, p->kw) ||
					reciprocal_off(p, p->recip_h, p->kh));
}

static bool strides(const struct ppu *p)
{
	u32 surfaces = npu_div_up(p->n, p->per_atom);

	return (p->h > 1 && p->line_stride < ATOM * p->w) ||
	       (surfaces > 1 && (p->dst_surf < ATOM * p->ow * p->oh ||
				 p->surf_stride < p->line_stride * (p->h - 1) + ATOM * p->w));
}

static bool wide_pads(const struct ppu *p)
{
	return p->left >= p->kw || p->right >= p->kw || p->top >= p->kh || p->bottom >= p->kh;
}

static const struct ppu_law laws[] = {
	{ "PPU does not take its input from memory (hw 04 5, 6024 and 6084)", not_memory, false },
	{ "pooling method, index output, notch or high pad value not described (hw 04 5)",
	  undocumented, false },
	{ "types of PPU and PPU_RDMA differ (hw 04 5, 6084 and 7030)", types, false },
	{ "PPU and PPU_RDMA disagree about the cube (hw 04 5)", sizes_differ, false },
	{ "pooling windows reach past the padded input (hw 04 5)", window_outside, false },
	{ "6038, 603c are not 2^16 divided by the kernel's sides (hw 04 5)", reciprocals, true },
	{ "lines or surfaces of a pooling task overlap (hw 04 5)", strides, true },
	{ "padding as wide as the kernel (hw 04 5)", wide_pads, true },
};

static enum npu_class check(struct npu_core *core, const struct ppu *p)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(laws); i++) {
		if ((laws[i].strict_only && !core->strict) || !laws[i].broken(p))
			continue;
		if (!laws[i].strict_only)
			return npu_hang(core, laws[i].text);
		npu_breach(core, NPU_WRONG, laws[i].text);
		return NPU_HANG_P;
	}
	return NPU_OK;
}

/* --- data -------------------------------------------------------------------------------- */

/* Atoms @x0 .. @x0+@span of line @y of surface @g; what lies outside is padding. */
static enum npu_class read_line(struct npu_core *core, const struct ppu *p, u32 *dst, u32 g,
				s32 y, s32 x0, u32 span)
{
	s32 first = x0 < 0 ? -x0 : 0;
	s32 end = x0 + (s32)span > (s32)p->w ? (s32)p->w - x0 : (s32)span;
	enum npu_class cls;
	s32 i;

	for (i = 0; i < (s32)(span * p->per_atom); i++)
		dst[i] = p->pad;
	if (y < 0 || y >= (s32)p->h || first >= end)
		return NPU_OK;
	cls = npu_read(core, p->src + g * p->surf_stride + (u32)y * p->line_stride +
		       ATOM * (u32)(x0 + first), core->run, ATOM * (u32)(end - first));
	if (cls)
		return cls;
	npu_widen(dst + (u32)first * p->per_atom, core->run, p->prec,
		  (u32)(end - first) * p->per_atom);
	return NPU_OK;
}

/* One more input of every result of a tile */
static void accumulate(struct npu_core *core, const struct ppu *p, u32 *acc, const u32 *in, u32 n)
{
	u32 i;

	if (p->method == AVERAGE && p->is_float) {
		npu_stage_fp(core, NPU_FP_ADD, acc, in, 1, n);
		return;
	}
	for (i = 0; i < n; i++) {
		s32 a = (s32)acc[i], b = (s32)in[i];

		if (p->method == AVERAGE)
			acc[i] = (u32)(a + b);
		else if (!p->is_float)
			acc[i] = (u32)((a > b) == (p->method == MAXIMUM) ? a : b);
		else if (p->method == MAXIMUM)
			acc[i] = npu_f32_max(acc[i], in[i]);
		else
			acc[i] = npu_f32_min(acc[i], in[i]);
	}
}

/* Sums times the reciprocals of both sides; padding counts as input. */
static void divide(struct npu_core *core, const struct ppu *p, u32 *acc, u32 n)
{
	u32 down = (127 - 16) << 23, i;
	u32 w = npu_f16_to_f32(p->recip_w & 0xffff), h = npu_f16_to_f32(p->recip_h & 0xffff);

	if (p->is_float) {
		npu_stage_fp(core, NPU_FP_MUL, &w, &down, 0, 1);
		npu_stage_fp(core, NPU_FP_MUL, &h, &down, 0, 1);
		npu_stage_fp(core, NPU_FP_MUL, acc, &w, 0, n);
		npu_stage_fp(core, NPU_FP_MUL, acc, &h, 0, n);
		return;
	}
	for (i = 0; i < n; i++)
		acc[i] = (u32)npu_shift_away((s64)(s32)acc[i] * p->recip_w * p->recip_h, 32);
}

static enum npu_class write_tile(struct npu_core *core, const struct ppu *p, const u32 *acc, u32 g,
				 u32 y, u32 x, u32 n)
{
	u32 addr = p->dst + g * p->dst_surf + ATOM * (y * p->ow + x), i;

	for (i = 0; i < n; i++) {
		u32 v = p->is_float ? npu_f32_to_f16(acc[i]) :
			(u32)npu_saturate((s32)acc[i], p->bytes);

		npu_put(core->run + i * p->bytes, v, p->bytes);
	}
	return npu_write(core, addr, core->run, n * p->bytes);
}

/* Output pixels @x .. @x+@width of line @y of surface @g */
static enum npu_class run_tile(struct npu_core *core, const struct ppu *p, u32 g, u32 y, u32 x,
			       u32 width)
{
	u32 *acc = core->operand_w, *in = core->operand_w + STAGE_BLOCK;
	u32 span = (width - 1) * p->sw + p->kw, n = width * p->per_atom;
	u32 ky, kx, i;
	enum npu_class cls;

	for (ky = 0; ky < p->kh; ky++) {
		u32 *line = core->stage + ky * span * p->per_atom;

		cls = read_line(core, p, line, g, (s32)(y * p->sh + ky) - (s32)p->top,
				(s32)(x * p->sw) - (s32)p->left, span);
		if (cls)
			return cls;
		for (kx = 0; kx < p->kw; kx++) {
			for (i = 0; i < width; i++)
				memcpy(in + i * p->per_atom,
				       line + (i * p->sw + kx) * p->per_atom, 4 * p->per_atom);
			if (!ky && !kx)
				memcpy(acc, in, 4 * n);
			else
				accumulate(core, p, acc, in, n);
		}
	}
	for (i = 0; p->is_float && i < n; i++)
		acc[i] = npu_f32_one_nan(acc[i]);
	if (p->method == AVERAGE)
		divide(core, p, acc, n);
	return write_tile(core, p, acc, g, y, x, n);
}

static void charge(struct npu_core *core, const struct ppu *p)
{
	u64 surfaces = npu_div_up(p->n, p->per_atom);
	struct npu_work work = {
		.kind = NPU_KIND_MOVE,
		.rows = p->ow * p->oh,
		.cols = p->n,
		.bytes = surfaces * ATOM * ((u64)p->w * p->h + p->ow * p->oh),
	};

	npu_charge(core, &work, p->bytes);
}

enum npu_class npu_ppu_run(struct npu_core *core)
{
	enum npu_class cls;
	u32 g, y, x, width;
	struct ppu p;

	decode(&p, core);
	cls = check(core, &p);
	if (npu_stops(cls))
		return cls;
	charge(core, &p);
	for (g = 0; g < npu_div_up(p.n, p.per_atom); g++)
		for (y = 0; y < p.oh; y++) {
			for (x = 0; x < p.ow; x += width) {
				width = npu_min(TILE, p.ow - x);
				cls = run_tile(core, &p, g, y, x, width);
				if (cls)
					return cls;
			}
			if (npu_relax(core))
				return NPU_STOPPED;
		}
	return NPU_OK;
}
