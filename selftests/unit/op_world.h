/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What tests of whole operations on the software NPU share: its memory, one chain or one
 * start a task, operands placed by the sheets' formulas, written out here, and plain
 * numbers. SEED is the test's.
 */
#ifndef OP_WORLD_H
#define OP_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kmod/prog/rkmm_chain.h"
#include "kmod/soft/model/npu_model.h"

#define P_BASE	0xf0000000u
#define GUARD	4096u		/* what the driver maps behind a buffer: hw 02 §3.4 */
#define CANARY	0xa5
#define REGIONS	(RKMM_AREAS + 1)
#define PROGRAMS	RKMM_AREAS

static uint64_t seed = SEED;

static inline uint32_t rnd(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)((seed >> 20) % below);
}

static inline double uniform(double lo, double hi)
{
	return lo + (hi - lo) * rnd(1 << 24) / (1 << 24);
}

static inline double half_value(uint16_t bits)
{
	int e = bits >> 10 & 31, sign = bits & 0x8000 ? -1 : 1;
	double mant = bits & 1023;

	if (e == 31)
		return mant ? NAN : sign * INFINITY;
	return sign * (e ? ldexp(1024 + mant, e - 25) : ldexp(mant, -24));
}

/* To nearest, ties to even */
static inline uint16_t half(double v)
{
	uint16_t sign = signbit(v) ? 0x8000 : 0;
	double mag = fabs(v);
	int e;

	if (isnan(v))
		return 0x7e00;
	if (mag >= 65520)
		return sign | 0x7c00;
	if (mag < ldexp(1, -14))
		return sign | (uint16_t)rint(ldexp(mag, 24));
	e = ilogb(mag);
	return (uint16_t)(sign + (((e + 14) << 10) + (int)rint(ldexp(mag, 10 - e))));
}

/* The distance to the next fp16 number above |v| */
static inline double ulp(double v)
{
	double mag = fabs(v);

	return ldexp(1, (mag < ldexp(1, -14) ? -14 : ilogb(mag)) - 10);
}

/**
 * struct region - memory of the device
 * @base: address
 * @size: bytes
 * @guard: bytes behind that can be read
 * @data: contents
 * @writable: by the device
 */
static struct region {
	uint32_t base;
	uint64_t size, guard;
	uint8_t *data;
	bool writable;
} regions[REGIONS];

static inline struct region *region_of(u32 addr, u64 len, bool write)
{
	int i;

	for (i = 0; i < REGIONS; i++) {
		struct region *r = &regions[i];

		if (r->data && addr >= r->base && (u64)addr - r->base + len <=
		    r->size + (write ? 0 : r->guard) && (r->writable || !write))
			return r;
	}
	return NULL;
}

static inline int mem_read(void *ctx, u32 addr, void *dst, u32 len, u32 *fault)
{
	struct region *r = region_of(addr, len, false);

	(void)ctx;
	if (!r) {
		*fault = addr;
		return -1;
	}
	memcpy(dst, r->data + (addr - r->base), len);
	return 0;
}

static inline int mem_write(void *ctx, u32 addr, const void *src, u32 len, u32 *fault)
{
	struct region *r = region_of(addr, len, true);

	(void)ctx;
	if (!r) {
		*fault = addr;
		return -1;
	}
	memcpy(r->data + (addr - r->base), src, len);
	return 0;
}

static inline void map_region(int i, uint64_t size, bool writable, int fill)
{
	regions[i] = (struct region){
		.base = i == PROGRAMS ? P_BASE : 0x10000000u * (uint32_t)(i + 1),
		.size = size, .guard = GUARD, .writable = writable,
		.data = aligned_alloc(64, (size + GUARD + 63) / 64 * 64),
	};
	assert_non_null(regions[i].data);
	memset(regions[i].data, fill, size);
	memset(regions[i].data + size, 0, GUARD);
}

static inline void unmap_regions(void)
{
	int i;

	for (i = 0; i < REGIONS; i++) {
		free(regions[i].data);
		regions[i].data = NULL;
	}
}

static struct npu_core *core;
static struct npu_env env = { .read = mem_read, .write = mem_write };
static void *core_mem;
static struct rkmm_opgeom *geom;

/* hw 01 §2.1 */
static inline void kick(uint32_t addr, uint32_t amount, uint32_t tasks, uint32_t int_mask)
{
	struct npu_report report;

	npu_core_write(core, 0x10, 1);
	npu_core_write(core, 0x1004, 0xe);
	npu_core_write(core, 0x3004, 0xe);
	npu_core_write(core, 0x10, addr);
	npu_core_write(core, 0x14, amount);
	npu_core_write(core, 0x20, int_mask);
	npu_core_write(core, 0x24, 0x1ffff);
	npu_core_write(core, 0x30, 0x6000u | tasks);
	npu_core_write(core, 0x34, 0);
	assert_true(npu_core_write(core, 0x08, 1));
	npu_core_run(core, NULL, NULL, &report);
	npu_core_write(core, 0x08, 0);
	if (report.cls != NPU_OK)
		print_error("%s %ux%u: task %u of %u: %s: %s %x\n", rkmm_op_name(geom->op.code),
			    geom->op.m, geom->op.n, report.task, tasks,
			    npu_class_name(report.cls), report.law ? report.law : "",
			    report.fault_addr);
	assert_int_equal(report.cls, NPU_OK);
	assert_int_equal(report.tasks_done, tasks);
	assert_true(npu_core_read(core, 0x2c) & int_mask);
}

/* All tasks of the operation: linked as the driver does, or one by one, all of them full */
static inline void execute(uint32_t rows, bool chained)
{
	struct rkmm_member member = {
		.op = geom, .rows = rows, .count = 1, .a = regions[RKMM_AREA_A].base,
		.b = regions[RKMM_AREA_B].base, .c = regions[RKMM_AREA_C].base,
		.d = regions[RKMM_AREA_D].base, .temp = regions[RKMM_AREA_TEMP].base,
		.consts = regions[RKMM_AREA_CONST].base,
	};
	const u32 addrs[RKMM_AREAS] = {
		[RKMM_AREA_A] = member.a, [RKMM_AREA_B] = member.b, [RKMM_AREA_C] = member.c,
		[RKMM_AREA_D] = member.d, [RKMM_AREA_TEMP] = member.temp,
		[RKMM_AREA_CONST] = member.consts,
	};
	uint32_t n = rkmm_op_tasks(geom, rows), i, writes;
	struct rkmm_extent extent;
	struct rkmm_kick *kicks;
	struct rkmm_task task;
	u64 *words;

	rkmm_image_measure(&rkmm_limits_rk3588, &member, 1, &extent);
	assert_int_equal(extent.tasks, n);
	assert_true(extent.bytes <= rkmm_op_image_bytes(geom));
	map_region(PROGRAMS, extent.bytes + rkmm_slot_bytes(1097), false, 0);
	words = (u64 *)regions[PROGRAMS].data;
	if (chained) {
		kicks = calloc(extent.kicks, sizeof(*kicks));
		rkmm_image_emit(&rkmm_limits_rk3588, &member, 1, P_BASE, words, kicks);
		for (i = 0; i < extent.kicks; i++) {
			assert_false(kicks[i].pingpong);
			assert_non_null(kicks[i].reason);
			kick(kicks[i].addr, kicks[i].amount, kicks[i].tasks, kicks[i].int_mask);
		}
		free(kicks);
		return;
	}
	for (i = 0; i < n; i++) {
		rkmm_op_task(geom, i, rows, addrs, &task);
		writes = rkmm_task_emit(&task, NULL, words);
		rkmm_emit_tail(words + writes, 0, 0, task.enable);
		kick(P_BASE, rkmm_amount(writes), 1, task.int_mask);
	}
}

/* Byte of (row, col) of a tensor of @rows rows and @cols padded columns: hw 04 §1.5 */
static inline uint64_t place(const struct rkmm_op *op, uint32_t rows, uint32_t cols, uint32_t row,
			     uint32_t col)
{
	uint32_t bytes = op->precision == RKMM_PREC_I8 ? 1 : 2, group = 16 / bytes;

	if (op->flags & RKMM_OP_FLAT)
		return ((uint64_t)row * cols + col) * bytes;
	return ((uint64_t)(col / group) * rows + row) * 16 + col % group * bytes;
}

static inline void store(const struct rkmm_op *op, uint8_t *at, double v)
{
	uint16_t h = op->precision == RKMM_PREC_F16 ? half(v) : (uint16_t)(int)v;

	memcpy(at, &h, op->precision == RKMM_PREC_I8 ? 1 : 2);
}

static inline double fetch(const struct rkmm_op *op, const uint8_t *at)
{
	int16_t i16;

	if (op->precision == RKMM_PREC_I8)
		return (int8_t)*at;
	memcpy(&i16, at, 2);
	return op->precision == RKMM_PREC_F16 ? half_value((uint16_t)i16) : i16;
}

typedef double (*source)(uint32_t row, uint32_t col);

/* A tensor with zeros where it is padded; plain values come back in @v */
static inline void load_tensor(int i, const struct rkmm_operand *d, const struct rkmm_op *op,
			       source values, double *v)
{
	uint32_t row, col;

	map_region(i, d->size, false, 0);
	for (row = 0; row < op->m; row++) {
		for (col = 0; col < op->n; col++) {
			uint8_t *at = regions[i].data + place(op, d->rows, d->cols, row, col);

			store(op, at, values(row, col));
			v[(size_t)row * op->n + col] = fetch(op, at);
		}
	}
}

/* Packed weights with one row of K: hw 02 §4 */
static inline void load_bias(int i, const struct rkmm_operand *d, uint32_t n, source values,
			     double *v)
{
	uint32_t col;

	map_region(i, d->size, false, 0);
	for (col = 0; col < n; col++) {
		uint16_t h = half(values(0, col));

		memcpy(regions[i].data + (uint64_t)col * 64, &h, 2);
		v[col] = half_value(h);
	}
}

static inline void load_vector(int i, const struct rkmm_operand *d, const struct rkmm_op *op,
			       source values, double *v)
{
	uint32_t col;
	int32_t word;

	map_region(i, d->size, false, 0);
	for (col = 0; col < op->n; col++) {
		uint8_t *at = regions[i].data + (uint64_t)col * d->bits / 8;

		if (d->bits == 32) {
			word = (int32_t)values(0, col);
			memcpy(at, &word, 4);
			v[col] = word;
		} else {
			store(op, at, values(0, col));
			v[col] = fetch(op, at);
		}
	}
}

/**
 * struct data - one operation with its operands as plain numbers
 * @op: the operation
 * @a: operand A, [m][n]
 * @b: operand B, or [n]
 * @d: operand D, or [n]
 * @rows: rows that are computed
 */
struct data {
	struct rkmm_op op;
	double *a, *b, *d;
	uint32_t rows;
};

static inline double *numbers(const struct rkmm_op *op)
{
	double *v = calloc((size_t)op->m * op->n, sizeof(*v));

	assert_non_null(v);
	return v;
}

/* Geometry, operands, constants, and whatever there was in temporary memory and in C */
static inline void prepare(struct data *t, source a, source b, source d)
{
	const struct rkmm_op *op = &t->op;

	assert_int_equal(rkmm_op_geometry(&rkmm_limits_rk3588, op, geom), RKMM_OK);
	t->a = numbers(op);
	t->b = numbers(op);
	t->d = numbers(op);
	load_tensor(RKMM_AREA_A, &geom->a, op, a, t->a);
	if (geom->b.layout == RKMM_LAYOUT_WEIGHT)
		load_bias(RKMM_AREA_B, &geom->b, op->n, b, t->b);
	else if (geom->b.size && geom->b.rows == 1 && op->other != RKMM_OTHER_TENSOR)
		load_vector(RKMM_AREA_B, &geom->b, op, b, t->b);
	else if (geom->b.size && op->flags & RKMM_OP_GAMMA)
		load_vector(RKMM_AREA_B, &geom->b, op, b, t->b);
	else if (geom->b.size)
		load_tensor(RKMM_AREA_B, &geom->b, op, b, t->b);
	if (geom->d.layout == RKMM_LAYOUT_WEIGHT)
		load_bias(RKMM_AREA_D, &geom->d, op->n, d, t->d);
	else if (geom->d.size)
		load_tensor(RKMM_AREA_D, &geom->d, op, d, t->d);
	map_region(RKMM_AREA_C, geom->c.size, true, CANARY);
	/* a NaN in every place */
	map_region(RKMM_AREA_TEMP, geom->temp_bytes, true, 0xff);
	map_region(RKMM_AREA_CONST, geom->const_bytes, false, CANARY);
	rkmm_op_fill(geom, (u16 *)regions[RKMM_AREA_CONST].data);
	execute(t->rows, rnd(4));
}

static inline void finish(struct data *t)
{
	unmap_regions();
	free(t->a);
	free(t->b);
	free(t->d);
}

static inline double result(const struct data *t, uint32_t row, uint32_t col)
{
	return fetch(&t->op, regions[RKMM_AREA_C].data +
			     place(&t->op, geom->c.rows, geom->c.cols, row, col));
}

static inline void expect(const struct data *t, uint32_t row, uint32_t col, double want,
			  double bound)
{
	double got = result(t, row, col);
	bool ok = isnan(want) ? isnan(got) : got == want || fabs(got - want) <= bound;

	if (!ok)
		print_error("%s %ux%u (%u rows) [%u][%u]: %.9g, not %.9g +- %.3g; a %.9g b %.9g\n",
			    rkmm_op_name(t->op.code), t->op.m, t->op.n, t->rows, row, col, got,
			    want, bound, t->a[(size_t)row * t->op.n + col],
			    t->b[(size_t)row * t->op.n + col]);
	assert_true(ok);
}

static inline double small_value(uint32_t row, uint32_t col)
{
	(void)row;
	(void)col;
	return uniform(-8, 8);
}

static inline double wide_value(uint32_t row, uint32_t col)
{
	(void)row;
	(void)col;
	return uniform(-1, 1) * ldexp(1, (int)rnd(24) - 12);
}

static inline double byte_value(uint32_t row, uint32_t col)
{
	(void)row;
	(void)col;
	return (int)rnd(256) - 128;
}

static inline double any_half(uint32_t row, uint32_t col)
{
	static const uint16_t special[] = {
		0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x7bff, 0xfbff, 0x7c00, 0xfc00,
	};

	(void)row;
	(void)col;
	return half_value(rnd(3) ? (uint16_t)(rnd(0x7c00) | rnd(2) << 15) : special[rnd(10)]);
}

static const uint32_t sizes[] = { 1, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 130 };

static inline struct data operation(enum rkmm_op_code code, enum rkmm_precision precision)
{
	struct data t = { .op = { .code = code, .precision = precision } };

	t.op.m = rnd(2) ? sizes[rnd(14)] : 1 + rnd(200);
	t.op.n = rnd(2) ? sizes[rnd(14)] : 1 + rnd(200);
	t.rows = rnd(2) ? t.op.m : 1 + rnd(t.op.m);
	return t;
}

static inline double combine(enum rkmm_op_code code, double a, double b)
{
	switch (code) {
	case RKMM_OP_ADD:
		return a + b;
	case RKMM_OP_SUB:
		return a - b;
	case RKMM_OP_MUL:
		return a * b;
	case RKMM_OP_MAX:
		return a > b ? a : b;
	case RKMM_OP_MIN:
		return a < b ? a : b;
	default:
		return a / b;
	}
}

static inline double clamp_to(double v, double lo, double hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

static inline uint32_t float_bits(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, 4);
	return bits;
}

static inline int setup(void **state)
{
	(void)state;
	core_mem = aligned_alloc(64, NPU_CORE_BYTES);
	geom = malloc(sizeof(*geom));
	core = npu_core_init(core_mem, 0, &env);
	npu_core_set_laws(core, true);
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	free(core_mem);
	free(geom);
	return 0;
}

#endif
