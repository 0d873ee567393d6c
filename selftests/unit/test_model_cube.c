// SPDX-License-Identifier: GPL-2.0-only
#include "test_model_cube.h"

const u32 type_bytes[TYPES] = { 1, 2, 2 };

u32 cube_at(u32 pixels, u32 bytes, u32 m, u32 n)
{
	u32 c2 = 16 / bytes;

	return n / c2 * pixels * 16 + m * 16 + n % c2 * bytes;
}

void cube_random(s32 *v, const struct shape *s, u32 seed)
{
	u32 i, state = seed;

	for (i = 0; i < shape_values(s); i++) {
		if (s->type == F16)
			v[i] = float_to_half(((s32)(rnd(&state) % 20001) - 10000) / 1000.0f);
		else if (s->type == I16)
			v[i] = (s16)rnd(&state);
		else
			v[i] = (s8)rnd(&state);
	}
}

void cube_put(u8 *dst, const s32 *v, const struct shape *s)
{
	u32 m, n, b = type_bytes[s->type];

	for (m = 0; m < shape_pixels(s); m++)
		for (n = 0; n < s->n; n++)
			memcpy(dst + cube_at(shape_pixels(s), b, m, n), &v[m * s->n + n], b);
}

s32 cube_get(const u8 *src, const struct shape *s, u32 m, u32 n)
{
	u32 v = get_out(src + cube_at(shape_pixels(s), type_bytes[s->type], m, n),
			type_bytes[s->type]);

	return s->type == I8 ? (s8)v : s->type == I16 ? (s16)v : (s32)v;
}

void dpu_program(struct prog *p, const struct shape *s)
{
	static const u32 format[] = { 0, 0x24000001, 0x48000002 };
	static const u32 mode[] = { 0x7801, 0xf821, 0x17849 };
	u32 plane = 16 * s->w * s->h, i;

	p->n = 0;
	prog_add(p, DPU, 0x4004, 0xe);
	prog_add(p, RDMA, 0x5004, 0xe);
	prog_add(p, DPU, 0x400c, 0x1e5);
	prog_add(p, DPU, 0x4010, format[s->type]);
	prog_add(p, DPU, 0x4014, 0);
	prog_add(p, DPU, 0x4020, DST);
	prog_add(p, DPU, 0x4024, plane);
	prog_add(p, DPU, 0x4030, s->w - 1);
	prog_add(p, DPU, 0x4034, s->h - 1);
	prog_add(p, DPU, 0x4038, 0);
	prog_add(p, DPU, 0x403c, (s->n - 1) << 16 | (s->n - 1));
	prog_add(p, DPU, 0x4040, 0x53);
	prog_add(p, DPU, 0x4044, 0);
	prog_add(p, DPU, 0x4048, 0);
	prog_add(p, DPU, 0x404c, 0);
	prog_add(p, DPU, 0x4050, 2);
	prog_add(p, DPU, 0x4054, 0);
	prog_add(p, DPU, 0x4058, s->n - 1);
	prog_add(p, DPU, 0x405c, (s->h - 1) << 16 | (s->w - 1));
	prog_add(p, DPU, 0x4060, 0x53);
	prog_add(p, DPU, 0x4064, 0);
	prog_add(p, DPU, 0x4068, 0);
	prog_add(p, DPU, 0x406c, 0);
	prog_add(p, DPU, 0x4070, 0x383);
	prog_add(p, DPU, 0x4074, 0);
	prog_add(p, DPU, 0x4078, 1);
	prog_add(p, DPU, 0x407c, 0);
	prog_add(p, DPU, 0x4080, 0);
	prog_add(p, DPU, 0x4084, s->type == F16 ? 0x10001 : 1);
	prog_add(p, DPU, 0x4088, 0);
	for (i = 0x4090; i <= 0x40ac; i += 4)
		prog_add(p, DPU, i, 0);
	prog_add(p, DPU, 0x40c0, plane);
	prog_add(p, DPU, 0x40c4, 0);
	for (i = 0x4100; i <= 0x412c; i += 4)
		prog_add(p, DPU, i, 0);
	prog_add(p, RDMA, 0x500c, s->w - 1);
	prog_add(p, RDMA, 0x5010, s->h - 1);
	prog_add(p, RDMA, 0x5014, s->n - 1);
	prog_add(p, RDMA, 0x5018, SRC);
	prog_add(p, RDMA, 0x501c, 0);
	prog_add(p, RDMA, 0x5020, 0);
	prog_add(p, RDMA, 0x5028, 0);
	prog_add(p, RDMA, 0x502c, 0);
	prog_add(p, RDMA, 0x5034, 1);
	prog_add(p, RDMA, 0x5038, 0);
	prog_add(p, RDMA, 0x5040, 0);
	prog_add(p, RDMA, 0x5044, mode[s->type]);
	prog_add(p, RDMA, 0x5048, 0);
	prog_add(p, RDMA, 0x504c, 0);
	prog_add(p, RDMA, 0x5064, 0);
	prog_add(p, RDMA, 0x5068, 0x01010101);
	prog_add(p, RDMA, 0x506c, 0);
	assert_int_equal(p->n, 69);
}

void dpu_two_inputs(struct prog *p, const struct shape *s, u32 ew_cfg)
{
	dpu_program(p, s);
	prog_set(p, 0x4070, ew_cfg);
	prog_set(p, 0x5034, 0x40000000 | type_bytes[s->type] << 2);
	prog_set(p, 0x5038, SRC2);
	prog_set(p, 0x5040, 16 * s->w * s->h);
}

void lut_writes(struct prog *p, const s16 *table)
{
	u32 t, i;

	for (t = 0; t < 2; t++) {
		prog_add(p, DPU, 0x4100, 0x20000 | t << 16);
		for (i = 0; i < 513; i++)
			prog_add(p, DPU, 0x4104, (u32)(s32)table[t * 513 + i]);
	}
}

void lut_program(struct prog *p, const s16 *table, u32 dummy)
{
	const struct shape pixel = { I8, 1, 1, 16 };

	dpu_program(p, &pixel);
	prog_set(p, 0x4020, dummy);
	prog_set(p, 0x5018, dummy);
	lut_writes(p, table);
	assert_int_equal(p->n, 1097);
}

void lut_apply(struct prog *p, u32 bn_alu, u32 bn_mul)
{
	prog_set(p, 0x4060, 0x20040);
	prog_set(p, 0x4064, bn_alu);
	prog_set(p, 0x4068, bn_mul);
	prog_set(p, 0x4070, 0x302);
	prog_set(p, 0x4108, 0x68);
	prog_set(p, 0x410c, 0x50500);
	prog_set(p, 0x4110, 0xffffc000);
	prog_set(p, 0x411c, 0x4000);
}

void lut_exp(s16 table[1026])
{
	u64 v = 32767ull << 16;
	u32 k;

	for (k = 1024; ; k--) {
		s16 entry = (s16)((v + 0x8000) >> 16);

		if (k <= 512)
			table[k] = entry;
		if (k >= 512)
			table[k + 1] = entry;
		if (!k)
			break;
		v = (v * 0xfd831d67 + (1ull << 31)) >> 32;
	}
}

u32 pool_w(const struct pool *p)
{
	return (p->s.w + p->left + p->right - p->kw) / p->sw + 1;
}

u32 pool_h(const struct pool *p)
{
	return (p->s.h + p->top + p->bottom - p->kh) / p->sh + 1;
}

static u32 reciprocal(const struct pool *p, u32 k)
{
	if (p->s.type != F16)
		return (65536 + k / 2) / k;
	return k == 1 ? 0x7bff : float_to_half(65536.0f / k);
}

static u32 pad_value(const struct pool *p)
{
	static const u32 low[] = { 0xffffff80, 0xffff8000, 0xfbff };
	static const u32 high[] = { 0x7f, 0x7fff, 0x7bff };

	return !p->method ? 0 : p->method == 1 ? low[p->s.type] : high[p->s.type];
}

/* 18 + 8 writes */
void pool_program(struct prog *q, const struct pool *p)
{
	static const u32 prec[] = { 0, 1, 2 };
	u32 w = pool_w(p), h = pool_h(p);

	q->n = 0;
	prog_add(q, PPU, 0x6004, 0xe);
	prog_add(q, PPU_RDMA, 0x7004, 0xe);
	prog_add(q, PPU, 0x600c, p->s.w - 1);
	prog_add(q, PPU, 0x6010, p->s.h - 1);
	prog_add(q, PPU, 0x6014, p->s.n - 1);
	prog_add(q, PPU, 0x6018, w - 1);
	prog_add(q, PPU, 0x601c, h - 1);
	prog_add(q, PPU, 0x6020, p->s.n - 1);
	prog_add(q, PPU, 0x6024, 0x10 | p->method);
	prog_add(q, PPU, 0x6034, (p->sh - 1) << 20 | (p->sw - 1) << 16 | (p->kh - 1) << 8 |
		 (p->kw - 1));
	prog_add(q, PPU, 0x6038, reciprocal(p, p->kw));
	prog_add(q, PPU, 0x603c, reciprocal(p, p->kh));
	prog_add(q, PPU, 0x6040, p->bottom << 12 | p->right << 8 | p->top << 4 | p->left);
	prog_add(q, PPU, 0x6044, pad_value(p));
	prog_add(q, PPU, 0x6048, 0);
	prog_add(q, PPU, 0x6070, DST);
	prog_add(q, PPU, 0x607c, 16 * w * h);
	prog_add(q, PPU, 0x6084, prec[p->s.type]);
	prog_add(q, PPU, 0x60dc, 3);
	prog_add(q, PPU_RDMA, 0x700c, p->s.w - 1);
	prog_add(q, PPU_RDMA, 0x7010, p->s.h - 1);
	prog_add(q, PPU_RDMA, 0x7014, p->s.n - 1);
	prog_add(q, PPU_RDMA, 0x701c, SRC);
	prog_add(q, PPU_RDMA, 0x7024, 16 * p->s.w);
	prog_add(q, PPU_RDMA, 0x7028, 16 * p->s.w * p->s.h);
	prog_add(q, PPU_RDMA, 0x7030, p->s.type == I8 ? 1 : 2);
	prog_add(q, PPU_RDMA, 0x7038, 1);
}

u32 links_store(struct rig *rig, const struct link *links, u32 count)
{
	u32 at[64], addr = IMAGE, i;

	assert_true(count <= 64);
	for (i = 0; i < count; i++) {
		at[i] = addr;
		addr += (links[i].p.n * 8 + 40 + 63) & ~63u;
	}
	if (!rig->nregions || !rig->regions[0].data || rig->regions[0].addr != IMAGE ||
	    rig->regions[0].len < addr - IMAGE + 64)
		rig_map(rig, IMAGE, addr - IMAGE + 64);
	for (i = 0; i < count; i++) {
		struct prog p = links[i].p;
		bool last = i + 1 == count;

		prog_tail(&p, last ? 0 : at[i + 1],
			  last ? 0 : prog_amount(links[i + 1].p.n), links[i].start);
		prog_add(&p, 0, 0, 0);
		prog_store(rig, at[i], &p);
	}
	return prog_amount(links[0].p.n);
}

enum npu_class links_kick(struct rig *rig, u32 amount, u32 tasks, bool pingpong, u32 mask)
{
	return rig_kick_mask(rig, IMAGE, amount, tasks, pingpong, mask);
}

void run_good(struct rig *rig, const struct prog *p, u32 start)
{
	run_one(rig, p, start);
	assert_null(rig->report.law);
	assert_int_equal(rig->report.cls, NPU_OK);
	assert_int_equal(rig->report.tasks_done, 1);
	assert_int_equal(rig->report.unknown_regs, 0);
}
