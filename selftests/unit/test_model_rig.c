// SPDX-License-Identifier: GPL-2.0-only
#include "test_model_rig.h"

const struct pair_info pair_info[PAIRS] = {
	[F16F32] = { "f16f32", 16, 16, 4, 8 },
	[F16F16] = { "f16f16", 16, 16, 2, 8 },
	[I8I32] = { "i8i32", 8, 32, 4, 16 },
	[I8I8] = { "i8i8", 8, 32, 1, 16 },
	[I4I16] = { "i4i16", 4, 64, 2, 32 },
};

static struct region *find(struct rig *rig, u32 addr)
{
	u32 i;

	for (i = 0; i < rig->nregions; i++) {
		struct region *r = &rig->regions[i];

		if (r->data && addr >= r->addr && addr - r->addr < r->len)
			return r;
	}
	return NULL;
}

static int rig_access(struct rig *rig, u32 addr, u8 *dst, const u8 *src, u32 len, u32 *fault)
{
	assert_int_equal(rig->fp_depth, 0);
	while (len) {
		struct region *r = find(rig, addr);
		u32 n;

		if (!r || (src && r->readonly)) {
			*fault = addr;
			return -1;
		}
		n = r->len - (addr - r->addr);
		if (n > len)
			n = len;
		if (src) {
			memcpy(r->data + (addr - r->addr), src, n);
			src += n;
		} else {
			memcpy(dst, r->data + (addr - r->addr), n);
			dst += n;
		}
		addr += n;
		len -= n;
	}
	return 0;
}

static int rig_read(void *ctx, u32 addr, void *dst, u32 len, u32 *fault)
{
	struct rig *rig = ctx;

	rig->reads++;
	return rig_access(rig, addr, dst, NULL, len, fault);
}

static int rig_write(void *ctx, u32 addr, const void *src, u32 len, u32 *fault)
{
	struct rig *rig = ctx;

	rig->writes++;
	return rig_access(rig, addr, NULL, src, len, fault);
}

static bool rig_relax(void *ctx)
{
	struct rig *rig = ctx;

	assert_int_equal(rig->fp_depth, 0);
	return ++rig->relaxes == rig->stop_after;
}

static void rig_fp_begin(void *ctx)
{
	struct rig *rig = ctx;

	assert_int_equal(rig->fp_depth++, 0);
}

static void rig_fp_end(void *ctx)
{
	struct rig *rig = ctx;

	assert_int_equal(--rig->fp_depth, 0);
}

void rig_open(struct rig *rig)
{
	memset(rig, 0, sizeof(*rig));
	rig->mem = aligned_alloc(64, NPU_CORE_BYTES);
	assert_non_null(rig->mem);
	memset(rig->mem, 0xc3, NPU_CORE_BYTES);
	rig->env = (struct npu_env) {
		.ctx = rig,
		.read = rig_read,
		.write = rig_write,
		.relax = rig_relax,
		.fp_begin = rig_fp_begin,
		.fp_end = rig_fp_end,
	};
	rig->core = npu_core_init(rig->mem, 0, &rig->env);
	npu_core_set_laws(rig->core, true);
}

void rig_close(struct rig *rig)
{
	u32 i;

	for (i = 0; i < rig->nregions; i++)
		free(rig->regions[i].data);
	free(rig->mem);
	memset(rig, 0, sizeof(*rig));
}

u8 *rig_map(struct rig *rig, u32 addr, u32 len)
{
	struct region *r = NULL;
	u32 i;

	for (i = 0; i < rig->nregions; i++)
		if (!rig->regions[i].data)
			r = &rig->regions[i];
	if (!r) {
		assert_true(rig->nregions < 16);
		r = &rig->regions[rig->nregions++];
	}
	*r = (struct region) { .addr = addr, .len = len, .data = malloc(len) };
	assert_non_null(r->data);
	memset(r->data, 0xa5, len);
	return r->data;
}

u8 *rig_at(struct rig *rig, u32 addr)
{
	struct region *r = find(rig, addr);

	assert_non_null(r);
	return r->data + (addr - r->addr);
}

void rig_unmap(struct rig *rig, u32 addr)
{
	struct region *r = find(rig, addr);

	assert_non_null(r);
	free(r->data);
	r->data = NULL;
}

void rig_protect(struct rig *rig, u32 addr)
{
	struct region *r = find(rig, addr);

	assert_non_null(r);
	r->readonly = true;
}

enum npu_class rig_kick_mask(struct rig *rig, u32 addr, u32 amount, u32 tasks, bool pingpong,
			     u32 mask)
{
	struct npu_core *core = rig->core;

	npu_core_write(core, 0x10, 1);
	npu_core_write(core, 0x1004, 0xe);
	npu_core_write(core, 0x3004, 0xe);
	npu_core_write(core, 0x10, addr);
	npu_core_write(core, 0x14, amount);
	npu_core_write(core, 0x20, mask);
	npu_core_write(core, 0x24, 0x1ffff);
	npu_core_write(core, 0x30, (6 | pingpong) << 12 | tasks);
	npu_core_write(core, 0x34, 0);
	assert_true(npu_core_write(core, 0x08, 1));
	npu_core_write(core, 0x08, 0);
	npu_core_run(core, NULL, NULL, &rig->report);
	return rig->report.cls;
}

enum npu_class rig_kick(struct rig *rig, u32 addr, u32 amount, u32 tasks, bool pingpong)
{
	return rig_kick_mask(rig, addr, amount, tasks, pingpong, 0x300);
}

void prog_add(struct prog *p, u32 target, u32 offset, u32 value)
{
	assert_true(p->n < ARRAY_SIZE(p->e));
	p->e[p->n++] = (u64)target << 48 | (u64)value << 16 | offset;
}

void prog_set(struct prog *p, u32 offset, u32 value)
{
	bool found = false;
	u32 i;

	for (i = 0; i < p->n; i++) {
		if ((p->e[i] & 0xffff) != offset)
			continue;
		p->e[i] = (p->e[i] & 0xffff00000000ffffull) | (u64)value << 16;
		found = true;
	}
	assert_true(found);
}

u32 prog_get(const struct prog *p, u32 offset)
{
	u32 i;

	for (i = p->n; i--;)
		if ((p->e[i] & 0xffff) == offset)
			return (u32)(p->e[i] >> 16);
	fail();
	return 0;
}

void prog_tail(struct prog *p, u32 next, u32 amount, u32 start)
{
	prog_add(p, next ? PC : 0, next ? 0x10 : 0, next);
	prog_add(p, PC, 0x14, amount);
	prog_add(p, 0x0041, 0, 0);
	prog_add(p, 0x0081, 0x08, start);
}

u32 prog_amount(u32 n)
{
	return (n + 3) / 2;
}

void prog_store(struct rig *rig, u32 addr, const struct prog *p)
{
	memcpy(rig_at(rig, addr), p->e, p->n * 8);
}

u32 job_banks(const struct job *j)
{
	u32 d = (j->m * (j->k * pair_info[j->pair].bits / 8) + 32767) / 32768;

	return j->v ? j->v : (12 - d) << 4 | d;
}

/* Columns of the table in hw 02 §2 that differ by type pair. */
struct words {
	u32 con1, misc, format, ow, scale, add, notch;
};

static struct words words_of(const struct job *j)
{
	u32 n = j->n, s = j->pitch ? j->pitch : n;

	switch (j->pair) {
	case F16F32:
		return (struct words) { 0x20000120, 0x201, 0xa8000002, 0x36e, 1, 0x40,
					(s / 4 - 1) << 16 | (n / 4 - 1) };
	case F16F16:
		return (struct words) { 0x20000120, 0x201, 0x48000002, 0x126, 0x10001, 0x20,
					(s / 8 - 1) << 16 | (n / 8 - 1) };
	case I8I32:
		return (struct words) { 0x20000000, 0x001, 0x80000000, 0x7fc, 1, 0x80,
					(s / 4 - 1) << 16 | (n / 4 - 1) };
	case I8I8:
		return (struct words) { 0x20000000, 0x001, 0, 0x124, j->mult, 0x20,
					(s / 16 - 1) << 16 | (n / 16 - 1) };
	default:
		return (struct words) { 0x360, 0x601, 0x38000006, 0x7fe, 1, 0x80, 0 };
	}
}

static void cna_part(struct prog *p, const struct job *j, const struct words *w)
{
	u32 e = pair_info[j->pair].bits, m = j->m, k = j->k, n = j->n, i;
	bool i4 = j->pair == I4I16;

	prog_add(p, CNA, 0x100c, w->con1);
	prog_add(p, CNA, 0x1010, 16 * (m + 1));
	prog_add(p, CNA, 0x1014, 0x9);
	prog_add(p, CNA, 0x1020, 0x10000 | m);
	prog_add(p, CNA, 0x1024, (k - 1) << 16 | k);
	prog_add(p, CNA, 0x1028, 1);
	prog_add(p, CNA, 0x102c, m);
	prog_add(p, CNA, 0x1030, k * n * e / 8);
	prog_add(p, CNA, 0x1034, k * e / 8);
	prog_add(p, CNA, 0x1038, 0x1010000 | n);
	prog_add(p, CNA, 0x1040, job_banks(j));
	prog_add(p, CNA, 0x1044, (k * e + 511) / 512);
	prog_add(p, CNA, 0x104c, 0xb);
	for (i = 0x1050; i <= 0x105c; i += 4)
		prog_add(p, CNA, i, 0x10000);
	prog_add(p, CNA, 0x1060, 0);
	prog_add(p, CNA, 0x1064, 0);
	prog_add(p, CNA, 0x1068, 0);
	prog_add(p, CNA, 0x1070, j->a);
	prog_add(p, CNA, 0x1074, 0);
	prog_add(p, CNA, 0x1078, 0xf000f);
	prog_add(p, CNA, 0x107c, i4 ? 4 : k * e / 8 / 16);
	prog_add(p, CNA, 0x1080, i4 ? 0x0ffffffd : 0);
	prog_add(p, CNA, 0x1084, 0x10000 | m);
	prog_add(p, CNA, 0x1088, k);
	prog_add(p, CNA, 0x1100, 0);
	prog_add(p, CNA, 0x1104, 0);
	prog_add(p, CNA, 0x1110, j->b);
	for (i = 0x1140; i <= 0x117c; i += 4)
		prog_add(p, CNA, i, 0);
	prog_add(p, CNA, 0x1180, 0);
	prog_add(p, CNA, 0x1184, 0);
}

static void dpu_part(struct prog *p, const struct job *j, const struct words *w)
{
	u32 m = j->m, n = j->n, s = j->pitch ? j->pitch : n, i;

	prog_add(p, CORE, 0x3010, w->misc);
	prog_add(p, CORE, 0x3014, (m - 1) << 16);
	prog_add(p, CORE, 0x3018, n - 1);
	prog_add(p, CORE, 0x301c, 0);
	prog_add(p, CORE, 0x3030, 0);
	prog_add(p, DPU, 0x400c, 0x1e4);
	prog_add(p, DPU, 0x4010, w->format);
	prog_add(p, DPU, 0x4014, 0);
	prog_add(p, DPU, 0x4020, j->c);
	prog_add(p, DPU, 0x4024, 0x10);
	prog_add(p, DPU, 0x4030, 0);
	prog_add(p, DPU, 0x4034, m - 1);
	prog_add(p, DPU, 0x4038, w->notch);
	prog_add(p, DPU, 0x403c, (s - 1) << 16 | (n - 1));
	prog_add(p, DPU, 0x4040, 0x53);
	prog_add(p, DPU, 0x4044, 0);
	prog_add(p, DPU, 0x4048, 0);
	prog_add(p, DPU, 0x404c, 0);
	prog_add(p, DPU, 0x4050, w->ow);
	prog_add(p, DPU, 0x4054, 0);
	prog_add(p, DPU, 0x4058, n - 1);
	prog_add(p, DPU, 0x405c, (m - 1) << 16);
	prog_add(p, DPU, 0x4060, 0x53);
	prog_add(p, DPU, 0x4064, 0);
	prog_add(p, DPU, 0x4068, 0);
	prog_add(p, DPU, 0x406c, 0);
	prog_add(p, DPU, 0x4070, 0x383);
	prog_add(p, DPU, 0x4074, 0);
	prog_add(p, DPU, 0x4078, 1);
	prog_add(p, DPU, 0x407c, 0);
	prog_add(p, DPU, 0x4080, (u32)j->offset);
	prog_add(p, DPU, 0x4084, w->scale);
	prog_add(p, DPU, 0x4088, j->shift);
	for (i = 0x4090; i <= 0x40ac; i += 4)
		prog_add(p, DPU, i, 0);
	prog_add(p, DPU, 0x40c0, w->add);
	prog_add(p, DPU, 0x40c4, 0);
	for (i = 0x4100; i <= 0x412c; i += 4)
		prog_add(p, DPU, i, 0);
}

void flat_program(struct prog *p, const struct job *j)
{
	struct words w = words_of(j);

	p->n = 0;
	prog_add(p, CNA, 0x1040, job_banks(j));
	prog_add(p, CNA, 0x1104, 0);
	prog_add(p, CNA, 0x1100, 0);
	prog_add(p, CNA, 0x100c, w.con1);
	prog_add(p, DPU, 0x4004, 0xe);
	cna_part(p, j, &w);
	dpu_part(p, j, &w);
	assert_int_equal(p->n, 108);
}

/* hw 02 §8, column mtx512; H need not be a multiple of 4 by the law of §3.4 */
void cube_program(struct prog *p, const struct job *j)
{
	struct words w = words_of(j);
	u32 ob = pair_info[j->pair].out_bytes, m = j->m;

	p->n = 0;
	prog_add(p, DPU, 0x4004, 0xe);
	cna_part(p, j, &w);
	dpu_part(p, j, &w);
	assert_int_equal(p->n, 104);
	prog_set(p, 0x100c, w.con1 & ~0x20000000u);
	prog_set(p, 0x107c, 4);
	prog_set(p, 0x1080, (m - 4) & 0xfffffff);
	prog_set(p, 0x4024, 16 * m);
	prog_set(p, 0x4038, 0);
	prog_set(p, 0x40c0, pair_info[j->pair].group * ob * m);
	if (j->pair == I8I32 || j->pair == I4I16) {
		prog_set(p, 0x3010, w.misc & ~1u);
		prog_set(p, 0x4050, 0x7fe);
	}
}

void batch_program(struct prog *p, const struct job *j)
{
	struct job lines = *j;

	lines.m = 4 * j->m;
	if (!lines.v)
		lines.v = 0xb1;
	flat_program(p, &lines);
	prog_set(p, 0x107c, j->k / 16);
	prog_set(p, 0x4038, (j->n / 4 - 1) << 16 | (j->n / 4 - 1));
	prog_set(p, 0x405c, 0);
}

void run_one(struct rig *rig, const struct prog *p, u32 start)
{
	struct prog q = *p;

	prog_tail(&q, 0, 0, start);
	/* Fetched with an odd number of entries before it */
	prog_add(&q, 0, 0, 0);
	if (!rig->nregions || !rig->regions[0].data || rig->regions[0].addr != 0xfff00000)
		rig_map(rig, 0xfff00000, 4096);
	prog_store(rig, 0xfff00000, &q);
	rig_kick(rig, 0xfff00000, prog_amount(p->n), 1, false);
	if (rig->report.cls != NPU_OK)
		print_message("%s: %s\n", npu_class_name(rig->report.cls),
			      rig->report.law ? rig->report.law : "no law");
}
