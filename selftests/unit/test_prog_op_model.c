// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Whole operations on the software NPU against double precision: every kind, random
 * shapes and data, one chain or one start a task. Tensors are placed by the sheets'
 * formulas, written out here.
 */
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

static uint64_t seed = 0x2545f4914f6cdd1dull;

static uint32_t rnd(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)((seed >> 20) % below);
}

static double uniform(double lo, double hi)
{
	return lo + (hi - lo) * rnd(1 << 24) / (1 << 24);
}

static double half_value(uint16_t bits)
{
	int e = bits >> 10 & 31, sign = bits & 0x8000 ? -1 : 1;
	double mant = bits & 1023;

	if (e == 31)
		return mant ? NAN : sign * INFINITY;
	return sign * (e ? ldexp(1024 + mant, e - 25) : ldexp(mant, -24));
}

/* To nearest, ties to even */
static uint16_t half(double v)
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
static double ulp(double v)
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

static struct region *region_of(u32 addr, u64 len, bool write)
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

static int mem_read(void *ctx, u32 addr, void *dst, u32 len, u32 *fault)
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

static int mem_write(void *ctx, u32 addr, const void *src, u32 len, u32 *fault)
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

static void map_region(int i, uint64_t size, bool writable, int fill)
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

static void unmap_regions(void)
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
static void kick(uint32_t addr, uint32_t amount, uint32_t tasks, uint32_t int_mask)
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
static void execute(uint32_t rows, bool chained)
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
static uint64_t place(const struct rkmm_op *op, uint32_t rows, uint32_t cols, uint32_t row,
		      uint32_t col)
{
	uint32_t bytes = op->precision == RKMM_PREC_I8 ? 1 : 2, group = 16 / bytes;

	if (op->flags & RKMM_OP_FLAT)
		return ((uint64_t)row * cols + col) * bytes;
	return ((uint64_t)(col / group) * rows + row) * 16 + col % group * bytes;
}

static void store(const struct rkmm_op *op, uint8_t *at, double v)
{
	uint16_t h = op->precision == RKMM_PREC_F16 ? half(v) : (uint16_t)(int)v;

	memcpy(at, &h, op->precision == RKMM_PREC_I8 ? 1 : 2);
}

static double fetch(const struct rkmm_op *op, const uint8_t *at)
{
	int16_t i16;

	if (op->precision == RKMM_PREC_I8)
		return (int8_t)*at;
	memcpy(&i16, at, 2);
	return op->precision == RKMM_PREC_F16 ? half_value((uint16_t)i16) : i16;
}

typedef double (*source)(uint32_t row, uint32_t col);

/* A tensor with zeros where it is padded; plain values come back in @v */
static void load_tensor(int i, const struct rkmm_operand *d, const struct rkmm_op *op,
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
static void load_bias(int i, const struct rkmm_operand *d, uint32_t n, source values, double *v)
{
	uint32_t col;

	map_region(i, d->size, false, 0);
	for (col = 0; col < n; col++) {
		uint16_t h = half(values(0, col));

		memcpy(regions[i].data + (uint64_t)col * 64, &h, 2);
		v[col] = half_value(h);
	}
}

static void load_vector(int i, const struct rkmm_operand *d, const struct rkmm_op *op,
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

static double *numbers(const struct rkmm_op *op)
{
	double *v = calloc((size_t)op->m * op->n, sizeof(*v));

	assert_non_null(v);
	return v;
}

/* Geometry, operands, constants, and whatever there was in temporary memory and in C */
static void prepare(struct data *t, source a, source b, source d)
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

static void finish(struct data *t)
{
	unmap_regions();
	free(t->a);
	free(t->b);
	free(t->d);
}

static double result(const struct data *t, uint32_t row, uint32_t col)
{
	return fetch(&t->op, regions[RKMM_AREA_C].data +
			     place(&t->op, geom->c.rows, geom->c.cols, row, col));
}

static void expect(const struct data *t, uint32_t row, uint32_t col, double want, double bound)
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

static double small_value(uint32_t row, uint32_t col)
{
	(void)row;
	(void)col;
	return uniform(-8, 8);
}

static double wide_value(uint32_t row, uint32_t col)
{
	(void)row;
	(void)col;
	return uniform(-1, 1) * ldexp(1, (int)rnd(24) - 12);
}

static double byte_value(uint32_t row, uint32_t col)
{
	(void)row;
	(void)col;
	return (int)rnd(256) - 128;
}

static double any_half(uint32_t row, uint32_t col)
{
	static const uint16_t special[] = {
		0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x7bff, 0xfbff, 0x7c00, 0xfc00,
	};

	(void)row;
	(void)col;
	return half_value(rnd(3) ? (uint16_t)(rnd(0x7c00) | rnd(2) << 15) : special[rnd(10)]);
}

static const uint32_t sizes[] = { 1, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 130 };

static struct data operation(enum rkmm_op_code code, enum rkmm_precision precision)
{
	struct data t = { .op = { .code = code, .precision = precision } };

	t.op.m = rnd(2) ? sizes[rnd(14)] : 1 + rnd(200);
	t.op.n = rnd(2) ? sizes[rnd(14)] : 1 + rnd(200);
	t.rows = rnd(2) ? t.op.m : 1 + rnd(t.op.m);
	return t;
}

static double combine(enum rkmm_op_code code, double a, double b)
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

/* fp16, two tensors in cubes or rows: rounded once */
static void test_half(void **state)
{
	uint32_t i, row, col;

	(void)state;
	for (i = 0; i < 300; i++) {
		struct data t = operation(i % 6, RKMM_PREC_F16);

		t.op.flags = rnd(3) ? 0 : RKMM_OP_FLAT;
		prepare(&t, i % 3 ? small_value : wide_value, i % 3 ? small_value : wide_value,
			NULL);
		for (row = 0; row < t.rows; row++)
			for (col = 0; col < t.op.n; col++)
				expect(&t, row, col,
				       half_value(half(combine(i % 6, t.a[row * t.op.n + col],
							       t.b[row * t.op.n + col]))), 0);
		finish(&t);
	}
}

/* Infinities, denormals, signed zeros: as IEEE has them, but for the sign of a zero */
static void test_special(void **state)
{
	uint32_t i, row, col;

	(void)state;
	for (i = 0; i < 60; i++) {
		struct data t = operation(i % 6, RKMM_PREC_F16);

		prepare(&t, any_half, any_half, NULL);
		for (row = 0; row < t.rows; row++)
			for (col = 0; col < t.op.n; col++)
				expect(&t, row, col,
				       half_value(half(combine(i % 6, t.a[row * t.op.n + col],
							       t.b[row * t.op.n + col]))), 0);
		finish(&t);
	}
}

static double clamp_to(double v, double lo, double hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

/* hw 04 §2.2: exact, ties of the output to even */
static double byte_reference(const struct rkmm_op *op, double a, double b)
{
	const struct rkmm_quant *q = &op->quant;
	double v;

	a += q->za;
	b += q->zb;
	if (op->code == RKMM_OP_MUL)
		v = a * b;
	else
		v = combine(op->code, a * 16384, b * 16384);
	return clamp_to(rint(v * q->mult / ldexp(1, (int)q->shift)) + q->zo, -128, 127);
}

static void test_bytes(void **state)
{
	uint32_t i, row, col;

	(void)state;
	for (i = 0; i < 200; i++) {
		struct data t = operation(i % 5, RKMM_PREC_I8);

		t.op.quant = (struct rkmm_quant){
			.za = (int)rnd(20) - 10, .zb = (int)rnd(20) - 10,
			.zo = (int)rnd(20) - 10, .mult = 1 + rnd(0x7fff), .shift = 14 + rnd(14),
		};
		prepare(&t, byte_value, byte_value, NULL);
		for (row = 0; row < t.rows; row++)
			for (col = 0; col < t.op.n; col++)
				expect(&t, row, col,
				       byte_reference(&t.op, t.a[row * t.op.n + col],
						      t.b[row * t.op.n + col]), 0);
		finish(&t);
	}
}

static uint32_t float_bits(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, 4);
	return bits;
}

/* One number: it is rounded to fp16 where it multiplies, the result once more */
static void test_scalar(void **state)
{
	uint32_t i, row, col;

	(void)state;
	for (i = 0; i < 120; i++) {
		struct data t = operation(i % 6, RKMM_PREC_F16);
		float s = (float)uniform(0.25, 6) * (rnd(2) ? 1 : -1);

		t.op.other = RKMM_OTHER_SCALAR;
		t.op.value = float_bits(s);
		prepare(&t, small_value, NULL, NULL);
		for (row = 0; row < t.rows; row++) {
			for (col = 0; col < t.op.n; col++) {
				double want = combine(i % 6, t.a[row * t.op.n + col], (double)s);
				bool product = i % 6 == RKMM_OP_MUL || i % 6 == RKMM_OP_DIV;

				expect(&t, row, col, want, ulp(want) * (product ? 1.5 : 0.51));
			}
		}
		finish(&t);
	}
}

static void test_byte_scalar(void **state)
{
	uint32_t i, row, col;

	(void)state;
	for (i = 0; i < 60; i++) {
		struct data t = operation(i % 5, RKMM_PREC_I8);
		int s = (int)rnd(100) - 50;

		t.op.other = RKMM_OTHER_SCALAR;
		t.op.value = (uint32_t)s;
		t.op.quant = (struct rkmm_quant){
			.za = (int)rnd(20) - 10, .mult = 1 + rnd(0x7fff), .shift = 12 + rnd(10),
		};
		prepare(&t, byte_value, NULL, NULL);
		for (row = 0; row < t.rows; row++) {
			for (col = 0; col < t.op.n; col++) {
				double v = combine(i % 5, t.a[row * t.op.n + col] +
						   t.op.quant.za, s);

				v = rint(v * t.op.quant.mult /
					 ldexp(1, (int)t.op.quant.shift));
				expect(&t, row, col, clamp_to(v, -128, 127), 0);
			}
		}
		finish(&t);
	}
}

static void test_channel(void **state)
{
	uint32_t i, row, col;

	(void)state;
	for (i = 0; i < 80; i++) {
		bool byte = i & 1, bias = i & 2;
		struct data t = operation(bias ? RKMM_OP_ADD : RKMM_OP_MUL,
					  byte ? RKMM_PREC_I8 : RKMM_PREC_F16);

		t.op.other = RKMM_OTHER_CHANNEL;
		if (byte) {
			t.op.quant.mult = 1 + rnd(0x7fff);
			t.op.quant.shift = 16;
		}
		if (i > 70)
			t.op.m += 500;
		prepare(&t, byte ? byte_value : small_value, byte ? byte_value : small_value,
			NULL);
		for (row = 0; row < t.rows; row++) {
			for (col = 0; col < t.op.n; col++) {
				double v = combine(t.op.code, t.a[row * t.op.n + col], t.b[col]);

				if (byte)
					v = clamp_to(rint(v * t.op.quant.mult / 65536), -128, 127);
				else
					v = half_value(half(v));
				expect(&t, row, col, v, 0);
			}
		}
		finish(&t);
	}
}

static void test_no_table(void **state)
{
	static const enum rkmm_op_code codes[] = {
		RKMM_OP_COPY, RKMM_OP_RELU, RKMM_OP_CLAMP, RKMM_OP_LEAKY, RKMM_OP_HARDSWISH,
	};
	uint32_t i, row, col;

	(void)state;
	for (i = 0; i < 150; i++) {
		struct data t = operation(codes[i % 5], RKMM_PREC_F16);
		double lo = 0, hi = 6, slope = 0.1;

		if (t.op.code == RKMM_OP_CLAMP) {
			lo = rnd(2) ? 0 : (float)uniform(-4, 0);
			hi = (float)uniform(0, 6);
			t.op.value = float_bits((float)lo);
			t.op.value2 = float_bits((float)hi);
		}
		if (t.op.code == RKMM_OP_LEAKY)
			t.op.value = float_bits((float)slope);
		t.op.flags = rnd(3) ? 0 : RKMM_OP_FLAT;
		prepare(&t, small_value, NULL, NULL);
		for (row = 0; row < t.rows; row++) {
			for (col = 0; col < t.op.n; col++) {
				double x = t.a[row * t.op.n + col], v = x;

				switch (t.op.code) {
				case RKMM_OP_RELU:
					v = x < 0 ? 0 : x;
					break;
				case RKMM_OP_CLAMP:
					v = clamp_to(x, lo, hi);
					break;
				case RKMM_OP_LEAKY:
					v = x < 0 ? half_value(half(slope)) * x : x;
					break;
				case RKMM_OP_HARDSWISH:
					v = x * clamp_to(x + 3, 0, 6) / 6;
					break;
				default:
					break;
				}
				expect(&t, row, col, v,
				       ulp(v) * (t.op.code == RKMM_OP_HARDSWISH ? 2 : 0.51));
			}
		}
		finish(&t);
	}
}

static void test_bytes_no_table(void **state)
{
	static const enum rkmm_op_code codes[] = {
		RKMM_OP_COPY, RKMM_OP_RELU, RKMM_OP_CLAMP, RKMM_OP_LEAKY,
	};
	uint32_t i, row, col;

	(void)state;
	for (i = 0; i < 60; i++) {
		struct data t = operation(codes[i % 4], RKMM_PREC_I8);
		int lo = -(int)rnd(90), hi = (int)rnd(90);

		if (t.op.code == RKMM_OP_CLAMP) {
			t.op.value = (uint32_t)lo;
			t.op.value2 = (uint32_t)hi;
		}
		if (t.op.code == RKMM_OP_LEAKY)
			t.op.value = 0x3e000000;
		prepare(&t, byte_value, NULL, NULL);
		for (row = 0; row < t.rows; row++) {
			for (col = 0; col < t.op.n; col++) {
				double x = t.a[row * t.op.n + col], v = x;

				if (t.op.code == RKMM_OP_RELU)
					v = x < 0 ? 0 : x;
				if (t.op.code == RKMM_OP_CLAMP)
					v = clamp_to(x, lo, hi);
				if (t.op.code == RKMM_OP_LEAKY)
					v = x < 0 ? rint(x / 8) : x;
				expect(&t, row, col, v, 0);
			}
		}
		finish(&t);
	}
}

static double gauss(double x)
{
	return 0.5 * erfc(-x * M_SQRT1_2);
}

static double curve(enum rkmm_op_code code, double x)
{
	switch (code) {
	case RKMM_OP_EXP:
		return exp(x < 0 ? x : 0);
	case RKMM_OP_SIGMOID:
		return 1 / (1 + exp(-x));
	case RKMM_OP_TANH:
		return tanh(x);
	case RKMM_OP_SILU:
		return x / (1 + exp(-x));
	case RKMM_OP_GELU:
		return x * gauss(x);
	case RKMM_OP_HARDSWISH:
		return x * clamp_to(x + 3, 0, 6) / 6;
	case RKMM_OP_RECIPROCAL:
		return 1 / clamp_to(x, 0.125, 8.125);
	default:
		return 1 / sqrt(clamp_to(x, 1 / 16.0, 4 + 1 / 16.0));
	}
}

/* 2^-9 of the range, and of the result where that is large */
static double curve_bound(enum rkmm_op_code code, double v)
{
	switch (code) {
	case RKMM_OP_TANH:
		return ldexp(2, -9);
	case RKMM_OP_RECIPROCAL:
		return ldexp(8, -9);
	case RKMM_OP_RSQRT:
		return ldexp(4, -9);
	default:
		return ldexp(fmax(1, fabs(v)), -9);
	}
}

static uint32_t walk;

/* All finite fp16 numbers, one after the other */
static double every_half(uint32_t row, uint32_t col)
{
	(void)row;
	(void)col;
	do
		walk = (walk + 1) & 0xffff;
	while ((walk & 0x7c00) == 0x7c00);
	return half_value((uint16_t)walk);
}

static void test_curves(void **state)
{
	uint32_t code, i, row, col;

	(void)state;
	for (code = RKMM_OP_EXP; code <= RKMM_OP_RSQRT; code++) {
		for (i = 0; i < 6; i++) {
			struct data t = operation(code, RKMM_PREC_F16);
			double worst = 0;

			/* one tensor with all of them */
			if (!i) {
				t.op.m = 256;
				t.op.n = 248;
				t.rows = 256;
			}
			prepare(&t, i ? small_value : every_half, NULL, NULL);
			for (row = 0; row < t.rows; row++) {
				for (col = 0; col < t.op.n; col++) {
					double x = t.a[row * t.op.n + col], v = curve(code, x);

					expect(&t, row, col, v, curve_bound(code, v));
					worst = fmax(worst, fabs(result(&t, row, col) - v) /
						     curve_bound(code, v));
				}
			}
			if (!i)
				print_message("%s: %.2f of the bound\n", rkmm_op_name(code), worst);
			finish(&t);
		}
	}
}

/* int8: two steps, of what the result can be at all */
static void test_byte_curves(void **state)
{
	uint32_t code, row, col;

	(void)state;
	for (code = RKMM_OP_EXP; code <= RKMM_OP_RSQRT; code++) {
		struct data t = operation(code, RKMM_PREC_I8);
		double in = 1 / 16.0, out = code == RKMM_OP_EXP || code == RKMM_OP_SIGMOID ||
			    code == RKMM_OP_TANH ? 1 / 127.0 : 1 / 15.0;

		t.op.scale = float_bits((float)in);
		t.op.out_scale = float_bits((float)out);
		prepare(&t, byte_value, NULL, NULL);
		for (row = 0; row < t.rows; row++) {
			for (col = 0; col < t.op.n; col++) {
				double v = curve(code, t.a[row * t.op.n + col] * in) / out;

				expect(&t, row, col, clamp_to(v, -128, 127), 1);
			}
		}
		finish(&t);
	}
}

static void test_row_maximum(void **state)
{
	uint32_t i, row, col;

	(void)state;
	for (i = 0; i < 80; i++) {
		struct data t = operation(RKMM_OP_ROWMAX, RKMM_PREC_F16);

		if (i % 8 == 0) {
			t.op.m = 1000 + rnd(300);
			t.rows = t.op.m;
		}
		prepare(&t, i % 2 ? small_value : wide_value, NULL, NULL);
		for (row = 0; row < t.rows; row++) {
			double v = -INFINITY, got;

			for (col = 0; col < t.op.n; col++)
				v = fmax(v, t.a[row * t.op.n + col]);
			got = fetch(&t.op, regions[RKMM_AREA_C].data + 2 * row);
			if (got != v)
				print_error("%ux%u row %u: %g, not %g\n", t.op.m, t.op.n, row,
					    got, v);
			assert_true(got == v);
		}
		finish(&t);
	}
}

static void test_row_sums(void **state)
{
	uint32_t i, row, col;

	(void)state;
	for (i = 0; i < 80; i++) {
		struct data t = operation(i & 1 ? RKMM_OP_ROWMEAN : RKMM_OP_ROWSUM,
					  RKMM_PREC_F16);

		if (i % 8 == 0)
			t.op.n = 1000 + rnd(3000);
		if (i % 8 == 1)
			t.op.m += 500;
		prepare(&t, small_value, NULL, NULL);
		for (row = 0; row < t.rows; row++) {
			double sum = 0, size = 0, bound;

			for (col = 0; col < t.op.n; col++) {
				sum += t.a[row * t.op.n + col];
				size += fabs(t.a[row * t.op.n + col]);
			}
			/* fp32 accumulation, one rounding, and that of 1 / N */
			bound = ldexp(size, -22) + ulp(sum) / 2;
			if (i & 1) {
				sum /= t.op.n;
				bound = ldexp(size / t.op.n, -22) + ldexp(fabs(sum), -11) +
					ulp(sum) / 2;
			}
			for (col = 0; col < 16; col++)
				expect(&t, row, col, sum, bound * 1.001);
		}
		finish(&t);
	}
}

static double mask_value(uint32_t row, uint32_t col)
{
	(void)row;
	return rnd(3) && col ? (rnd(2) ? -INFINITY : -65504) : 0;
}

/* What a row can be made of: anything; far below the largest; all alike; two equal ones */
static double softmax_value(uint32_t row, uint32_t col)
{
	switch (row % 5) {
	case 0:
		return uniform(-12, 12);
	case 1:
		return col ? uniform(-11, -9) : 0;
	case 2:
		return 3;
	case 3:
		return col < 2 ? 40 : uniform(-30, 30);
	default:
		return uniform(-1, 1);
	}
}

static void check_softmax(struct data *t, double scale)
{
	uint32_t row, col;

	for (row = 0; row < t->rows; row++) {
		const double *a = &t->a[(size_t)row * t->op.n], *d = &t->d[(size_t)row * t->op.n];
		double most = -INFINITY, sum = 0;

		for (col = 0; col < t->op.n; col++)
			most = fmax(most, a[col] + d[col]);
		for (col = 0; col < t->op.n; col++)
			sum += exp(scale * (a[col] + d[col] - most));
		for (col = 0; col < t->op.n; col++) {
			expect(t, row, col, exp(scale * (a[col] + d[col] - most)) / sum, 2e-3);
			if (d[col] < 0)
				assert_true(result(t, row, col) == 0);
		}
	}
}

static void test_softmax(void **state)
{
	uint32_t i, row, col;

	(void)state;
	for (i = 0; i < 90; i++) {
		struct data t = operation(RKMM_OP_SOFTMAX, RKMM_PREC_F16);
		double scale = 1;

		if (i % 10 == 0)
			t.op.n = 900 + rnd(200);
		if (i % 10 == 1)
			t.op.m = 250 + rnd(300);
		if (i % 3 == 1) {
			scale = (float)uniform(0.05, 2);
			t.op.scale = float_bits((float)scale);
		}
		if (i % 3 == 2)
			t.op.flags |= RKMM_OP_MASK;
		if (i % 4 == 3) {
			t.op.flags |= RKMM_OP_CAUSAL;
			if (t.op.n < t.op.m)
				t.op.n = t.op.m;
		}
		t.rows = rnd(2) ? t.op.m : 1 + rnd(t.op.m);
		prepare(&t, softmax_value, NULL, mask_value);
		if (t.op.flags & RKMM_OP_CAUSAL)
			for (row = 0; row < t.op.m; row++)
				for (col = row + t.op.n - t.op.m + 1; col < t.op.n; col++)
					t.d[(size_t)row * t.op.n + col] = -INFINITY;
		check_softmax(&t, scale);
		finish(&t);
	}
}

static double norm_value(uint32_t row, uint32_t col)
{
	double v = uniform(-1, 1);

	/* rows of very different size, some with one large element */
	v *= ldexp(1, (int)(row % 21) - 10);
	return row % 3 == 1 && col == row % 5 ? 64 * v : v;
}

static double gamma_value(uint32_t row, uint32_t col)
{
	(void)row;
	(void)col;
	return uniform(-8, 8);
}

/*
 * Five fp16 roundings of the values, those of the mean of squares count half, and a mean
 * that is rounded counts by its own size. No fp16 number is finer than 2^-24, which
 * what is small beside the largest of its row comes to feel.
 */
static void check_norm(struct data *t, double eps)
{
	uint32_t row, col, n = t->op.n;

	for (row = 0; row < t->rows; row++) {
		const double *a = &t->a[(size_t)row * n];
		double mean = 0, square = 0, most = 0, root;

		for (col = 0; col < n && t->op.code == RKMM_OP_LAYERNORM; col++)
			mean += a[col] / n;
		for (col = 0; col < n; col++)
			square += (a[col] - mean) * (a[col] - mean) / n;
		for (col = 0; col < n; col++)
			most = fmax(most, fabs(a[col] - mean));
		root = sqrt(square + eps);
		for (col = 0; col < n; col++) {
			double v = (a[col] - mean) / root, g = 1, b = 0, bound;

			if (t->op.flags & RKMM_OP_GAMMA)
				g = t->b[col];
			if (t->op.flags & RKMM_OP_BETA)
				b = t->d[col];
			bound = fabs(v * g) * ldexp(6, -11) + fabs(mean / root * g) * ldexp(3, -11) +
				fabs(b) * ldexp(1, -11) + ((1 + most) / root + 1) * fabs(g) * ldexp(1, -24);
			expect(t, row, col, v * g + b, bound);
		}
	}
}

static void test_norms(void **state)
{
	uint32_t i;

	(void)state;
	for (i = 0; i < 60; i++) {
		struct data t = operation(i & 1 ? RKMM_OP_LAYERNORM : RKMM_OP_RMSNORM,
					  RKMM_PREC_F16);
		float eps = i % 3 ? 1e-5f : 1e-3f;

		t.op.value = float_bits(eps);
		if (i & 2)
			t.op.flags |= RKMM_OP_GAMMA;
		if (i & 4 && i & 1)
			t.op.flags |= RKMM_OP_BETA;
		if (i % 10 == 0)
			t.op.n = 1000 + rnd(1000);
		if (i % 10 == 1)
			t.op.m = 300;
		prepare(&t, norm_value, gamma_value, small_value);
		check_norm(&t, (double)eps);
		finish(&t);
	}
}

static void check_pool(struct data *t)
{
	const struct rkmm_op *op = &t->op;
	uint32_t sw = op->stride_w ? op->stride_w : op->kernel_w;
	uint32_t sh = op->stride_h ? op->stride_h : op->kernel_h;
	uint32_t out_w = (op->width - op->kernel_w) / sw + 1;
	uint32_t out_h = (op->m / op->width - op->kernel_h) / sh + 1;
	uint32_t x, y, i, j, col;

	assert_int_equal(geom->c.rows, out_w * out_h);
	for (y = 0; y < out_h; y++) {
		for (x = 0; x < out_w; x++) {
			for (col = 0; col < op->n; col++) {
				double most = -INFINITY, sum = 0, size = 0, bound;

				for (j = 0; j < op->kernel_h; j++) {
					for (i = 0; i < op->kernel_w; i++) {
						double v = t->a[(size_t)((y * sh + j) * op->width +
									 x * sw + i) * op->n + col];

						most = fmax(most, v);
						sum += v;
						size += fabs(v);
					}
				}
				sum /= op->kernel_w * op->kernel_h;
				size /= op->kernel_w * op->kernel_h;
				if (op->code == RKMM_OP_MAXPOOL) {
					expect(t, y * out_w + x, col, most, 0);
					continue;
				}
				/* two reciprocals of 11 bits and what is kept between them */
				bound = op->precision == RKMM_PREC_I8 ? 1 :
					ldexp(size, -9) + ulp(sum);
				expect(t, y * out_w + x, col, sum, bound);
			}
		}
	}
}

static void test_pooling(void **state)
{
	uint32_t i;

	(void)state;
	for (i = 0; i < 80; i++) {
		struct data t = operation(i & 1 ? RKMM_OP_AVGPOOL : RKMM_OP_MAXPOOL,
					  i & 2 ? RKMM_PREC_I8 : RKMM_PREC_F16);

		t.op.kernel_w = 1 + rnd(4);
		t.op.kernel_h = 1 + rnd(4);
		t.op.stride_w = rnd(4);
		t.op.stride_h = rnd(4);
		t.op.width = t.op.kernel_w + rnd(12);
		t.op.m = t.op.width * (t.op.kernel_h + rnd(12));
		t.op.n = 1 + rnd(70);
		t.rows = t.op.m;
		prepare(&t, i & 2 ? byte_value : small_value, NULL, NULL);
		check_pool(&t);
		finish(&t);
	}
}

/* More rows than a line holds, more columns than the channel field */
static void test_tiles(void **state)
{
	static const uint32_t shapes[][2] = { { 8168, 8 }, { 8169, 8 }, { 17000, 9 },
					      { 3, 8192 }, { 3, 8193 }, { 2, 20000 } };
	uint32_t i, row, col;

	(void)state;
	for (i = 0; i < 6; i++) {
		struct data t = operation(RKMM_OP_SUB, RKMM_PREC_F16);

		t.op.m = shapes[i][0];
		t.op.n = shapes[i][1];
		t.rows = t.op.m - rnd(2);
		prepare(&t, small_value, small_value, NULL);
		for (row = 0; row < t.rows; row++)
			for (col = 0; col < t.op.n; col++)
				expect(&t, row, col,
				       half_value(half(t.a[(size_t)row * t.op.n + col] -
						       t.b[(size_t)row * t.op.n + col])), 0);
		finish(&t);
	}
	for (i = 0; i < 6; i++) {
		struct data t = operation(RKMM_OP_SILU, RKMM_PREC_F16);

		t.op.m = shapes[i][0];
		t.op.n = shapes[i][1];
		t.rows = t.op.m - rnd(2);
		prepare(&t, small_value, NULL, NULL);
		for (row = 0; row < t.rows; row++) {
			for (col = 0; col < t.op.n; col++) {
				double v = curve(RKMM_OP_SILU, t.a[(size_t)row * t.op.n + col]);

				expect(&t, row, col, v, curve_bound(RKMM_OP_SILU, v));
			}
		}
		finish(&t);
	}
}

static int setup(void **state)
{
	(void)state;
	core_mem = aligned_alloc(64, NPU_CORE_BYTES);
	geom = malloc(sizeof(*geom));
	core = npu_core_init(core_mem, 0, &env);
	npu_core_set_laws(core, true);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(core_mem);
	free(geom);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_half),
		cmocka_unit_test(test_special),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_scalar),
		cmocka_unit_test(test_byte_scalar),
		cmocka_unit_test(test_channel),
		cmocka_unit_test(test_no_table),
		cmocka_unit_test(test_bytes_no_table),
		cmocka_unit_test(test_curves),
		cmocka_unit_test(test_byte_curves),
		cmocka_unit_test(test_tiles),
		cmocka_unit_test(test_row_maximum),
		cmocka_unit_test(test_row_sums),
		cmocka_unit_test(test_softmax),
		cmocka_unit_test(test_norms),
		cmocka_unit_test(test_pooling),
	};

	return cmocka_run_group_tests_name("operations on the model", tests, setup, teardown);
}
