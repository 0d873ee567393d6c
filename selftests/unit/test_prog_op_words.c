// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Emitted words of operations against the register lists of hw 04, which are test
 * data here: the base list of §2.1, what each operation changes in it (§2.2 - §2.6),
 * the captured softmax (§3.3 - §3.5) and pooling (§5).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kmod/prog/rkmm_chain.h"

#define SRC	0x11110000u
#define SRC2	0x22220000u
#define DST	0x33330000u
#define M	40u
#define N	64u

/**
 * struct list - register writes in order
 * @n: how many
 * @e: offset and value
 */
struct list {
	uint32_t n;
	struct {
		uint32_t reg, value;
	} e[1200];
};

static void add(struct list *l, uint32_t reg, uint32_t value)
{
	l->e[l->n].reg = reg;
	l->e[l->n++].value = value;
}

static void set(struct list *l, uint32_t reg, uint32_t value)
{
	uint32_t i, seen = 0;

	for (i = 0; i < l->n; i++) {
		if (l->e[i].reg == reg) {
			l->e[i].value = value;
			seen++;
		}
	}
	assert_true(seen > 0);
}

static void add_range(struct list *l, uint32_t first, uint32_t last)
{
	for (; first <= last; first += 4)
		add(l, first, 0);
}

/* hw 04 §2.1, with one input; @n channels of @m rows */
static void base_list(struct list *l, uint32_t m, uint32_t n)
{
	l->n = 0;
	add(l, 0x4004, 0xe);
	add(l, 0x5004, 0xe);
	add(l, 0x400c, 0x1e5);
	add(l, 0x4010, 0);
	add(l, 0x4014, 0);
	add(l, 0x4020, DST);
	add(l, 0x4024, 16 * m);
	add(l, 0x4030, m - 1);
	add(l, 0x4034, 0);
	add(l, 0x4038, 0);
	add(l, 0x403c, (n - 1) << 16 | (n - 1));
	add(l, 0x4040, 0x53);
	add_range(l, 0x4044, 0x404c);
	add(l, 0x4050, 2);
	add(l, 0x4054, 0);
	add(l, 0x4058, n - 1);
	add(l, 0x405c, m - 1);
	add(l, 0x4060, 0x53);
	add_range(l, 0x4064, 0x406c);
	add(l, 0x4070, 0x383);
	add(l, 0x4074, 0);
	add(l, 0x4078, 1);
	add(l, 0x407c, 0);
	add(l, 0x4080, 0);
	add(l, 0x4084, 1);
	add(l, 0x4088, 0);
	add_range(l, 0x4090, 0x40ac);
	add(l, 0x40c0, 16 * m);
	add(l, 0x40c4, 0);
	add_range(l, 0x4100, 0x412c);
	add(l, 0x500c, m - 1);
	add(l, 0x5010, 0);
	add(l, 0x5014, n - 1);
	add(l, 0x5018, SRC);
	add(l, 0x501c, 0);
	add(l, 0x5020, 0);
	add(l, 0x5028, 0);
	add(l, 0x502c, 0);
	add(l, 0x5034, 1);
	add(l, 0x5038, 0);
	add(l, 0x5040, 0);
	add(l, 0x5044, 0);
	add(l, 0x5048, 0);
	add(l, 0x504c, 0);
	add(l, 0x5064, 0);
	add(l, 0x5068, 0x01010101);
	add(l, 0x506c, 0);
	assert_int_equal(l->n, 69);
}

static uint32_t target(uint32_t reg)
{
	static const uint32_t targets[] = { 0, 0x201, 0, 0x801, 0x1001, 0x2001, 0x4001, 0x8001 };

	return targets[reg >> 12];
}

static void compare(const struct list *l, const u64 *words, uint32_t n)
{
	uint32_t i;

	assert_int_equal(n, l->n);
	for (i = 0; i < n; i++) {
		u64 want = (u64)target(l->e[i].reg) << 48 | (u64)l->e[i].value << 16 |
			   l->e[i].reg;

		if (words[i] != want)
			print_error("write %u: register %x\n", i, l->e[i].reg);
		assert_int_equal(words[i], want);
	}
}

static struct rkmm_opgeom *geom;
static u64 words[1200];
static uint32_t nwords;
static const u32 addr[RKMM_AREAS] = {
	[RKMM_AREA_A] = SRC, [RKMM_AREA_B] = SRC2, [RKMM_AREA_C] = DST,
	[RKMM_AREA_D] = 0x44440000, [RKMM_AREA_TEMP] = 0x55550000,
	[RKMM_AREA_CONST] = 0x66660000,
};

/* Words of task @i of @op; returns the task's start bits */
static uint32_t emit(const struct rkmm_op *op, uint32_t i)
{
	struct rkmm_task task;

	assert_int_equal(rkmm_op_geometry(&rkmm_limits_rk3588, op, geom), RKMM_OK);
	assert_true(i < rkmm_op_tasks(geom, op->m));
	rkmm_op_task(geom, i, op->m, addr, &task);
	nwords = rkmm_task_emit(&task, NULL, words);
	assert_int_equal(nwords, rkmm_task_writes(&task, NULL));
	return task.enable;
}

static struct rkmm_op operation(enum rkmm_op_code code, enum rkmm_precision precision)
{
	return (struct rkmm_op){ .code = code, .precision = precision, .m = M, .n = N };
}

static void two_inputs(struct list *l, uint32_t m)
{
	set(l, 0x5038, SRC2);
	set(l, 0x5040, 16 * m);
}

/* hw 04 §2.2, fp16 */
static void test_half(void **state)
{
	static const struct {
		enum rkmm_op_code code;
		uint32_t ew, scale, rdma;
	} rows[] = {
		{ RKMM_OP_ADD, 0x108202c0, 0x10001, 0x17849 },
		{ RKMM_OP_SUB, 0x108402c0, 0x10001, 0x17849 },
		{ RKMM_OP_MAX, 0x108002c0, 0x10001, 0x17849 },
		{ RKMM_OP_MIN, 0x108102c0, 0x10001, 0x17849 },
		{ RKMM_OP_MUL, 0x108003c4, 0x10001, 0x17849 },
		{ RKMM_OP_DIV, 0x108303c0, 1, 0x17841 },
	};
	struct list l;
	uint32_t i;

	(void)state;
	for (i = 0; i < 6; i++) {
		struct rkmm_op op = operation(rows[i].code, RKMM_PREC_F16);

		base_list(&l, M, N);
		two_inputs(&l, M);
		set(&l, 0x4010, 0x48000002);
		set(&l, 0x4070, rows[i].ew);
		set(&l, 0x4084, rows[i].scale);
		set(&l, 0x5034, 0x40000008);
		set(&l, 0x5044, rows[i].rdma);
		assert_int_equal(emit(&op, 0), 0x18);
		compare(&l, words, nwords);
		assert_int_equal(geom->evidence, RKMM_EVIDENCE_CAPTURED);
	}
}

/* hw 04 §2.2, integers */
static void test_integers(void **state)
{
	static const struct {
		enum rkmm_op_code code;
		enum rkmm_precision precision;
		uint32_t bs, mul, ew, format, erdma, rdma;
	} rows[] = {
		{ RKMM_OP_MUL, RKMM_PREC_I8, 0x20050, 0, 0x904002c4, 0, 0x40000004, 0x7801 },
		{ RKMM_OP_ADD, RKMM_PREC_I8, 0x20040, 0x40000000, 0x904202c0, 0, 0x40000004,
		  0x7801 },
		{ RKMM_OP_MAX, RKMM_PREC_I8, 0x20040, 0x40000000, 0x904002c0, 0, 0x40000004,
		  0x7801 },
		{ RKMM_OP_MIN, RKMM_PREC_I8, 0x20040, 0x40000000, 0x904102c0, 0, 0x40000004,
		  0x7801 },
		{ RKMM_OP_MUL, RKMM_PREC_I16, 0x20050, 0, 0x908002c4, 0x24000001, 0x40000008,
		  0xf821 },
		/* with shift 0: note below the table */
		{ RKMM_OP_ADD, RKMM_PREC_I16, 0x20040, 0x40000000, 0x908202c0, 0x24000001,
		  0x40000008, 0xf821 },
	};
	struct list l;
	uint32_t i;

	(void)state;
	for (i = 0; i < 6; i++) {
		struct rkmm_op op = operation(rows[i].code, rows[i].precision);
		bool mul = op.code == RKMM_OP_MUL;

		op.quant = (struct rkmm_quant){
			.za = -7, .zb = 11, .zo = -13, .sb = mul ? 0 : 0x3210,
			.sb_shift = mul ? 0 : 3, .mult = 0x5b2c, .shift = 29,
		};
		base_list(&l, M, N);
		two_inputs(&l, M);
		set(&l, 0x4010, rows[i].format);
		set(&l, 0x4040, rows[i].bs);
		set(&l, 0x4044, (uint32_t)-7);
		set(&l, 0x4048, rows[i].mul);
		set(&l, 0x4070, rows[i].ew);
		set(&l, 0x4074, 11);
		set(&l, 0x4078, mul ? 1 : 3 << 16 | 0x3210);
		set(&l, 0x4080, (uint32_t)-13);
		set(&l, 0x4084, 0x5b2c);
		set(&l, 0x4088, 29);
		set(&l, 0x5034, rows[i].erdma);
		set(&l, 0x5044, rows[i].rdma);
		emit(&op, 0);
		compare(&l, words, nwords);
	}
}

/* hw 04 §2.3 */
static void test_per_channel(void **state)
{
	struct rkmm_op op = operation(RKMM_OP_MUL, RKMM_PREC_F16);
	struct list l;

	(void)state;
	op.other = RKMM_OTHER_CHANNEL;
	base_list(&l, M, N);
	two_inputs(&l, M);
	set(&l, 0x4010, 0x48000002);
	set(&l, 0x4070, 0x108003c4);
	set(&l, 0x4084, 0x10001);
	set(&l, 0x5034, 8);
	set(&l, 0x5044, 0x17849);
	emit(&op, 0);
	compare(&l, words, nwords);

	op.precision = RKMM_PREC_I8;
	set(&l, 0x4010, 0);
	set(&l, 0x4040, 0x20050);
	set(&l, 0x4070, 0x904002c4);
	set(&l, 0x4084, 1);
	set(&l, 0x5034, 4);
	set(&l, 0x5044, 0x7801);
	emit(&op, 0);
	compare(&l, words, nwords);

	/* bias: operands of the BS adder from memory, int32 */
	op.code = RKMM_OP_ADD;
	set(&l, 0x4040, 0x20150);
	set(&l, 0x4070, 0x383);
	set(&l, 0x501c, 2);
	set(&l, 0x5020, SRC2);
	set(&l, 0x5034, 1);
	set(&l, 0x5038, 0);
	set(&l, 0x5040, 0);
	emit(&op, 0);
	compare(&l, words, nwords);
}

/* hw 04 §2.4 */
static void test_one_input(void **state)
{
	struct rkmm_op op = operation(RKMM_OP_COPY, RKMM_PREC_F16);
	struct list l;

	(void)state;
	base_list(&l, M, N);
	set(&l, 0x4010, 0x48000002);
	set(&l, 0x4084, 0x10001);
	set(&l, 0x5044, 0x17849);
	emit(&op, 0);
	compare(&l, words, nwords);

	op.code = RKMM_OP_RELU;
	set(&l, 0x4040, 0x12);
	emit(&op, 0);
	compare(&l, words, nwords);

	op.code = RKMM_OP_CLAMP;
	op.value2 = 0x40c00000;			/* 6.0 */
	set(&l, 0x4040, 0x92);
	set(&l, 0x404c, 0x40c00000);
	emit(&op, 0);
	compare(&l, words, nwords);
	set(&l, 0x404c, 0);

	op.code = RKMM_OP_LEAKY;
	op.value = 0x3e000000;			/* 1/8 */
	op.value2 = 0;
	set(&l, 0x4040, 0x62);
	set(&l, 0x4048, 0x3000 << 16);
	emit(&op, 0);
	compare(&l, words, nwords);

	op = operation(RKMM_OP_COPY, RKMM_PREC_I16);
	emit(&op, 0);
	assert_int_equal(geom->evidence, RKMM_EVIDENCE_DERIVED);

	op = operation(RKMM_OP_RELU, RKMM_PREC_I8);
	base_list(&l, M, N);
	set(&l, 0x4040, 0x12);
	set(&l, 0x5044, 0x7801);
	emit(&op, 0);
	compare(&l, words, nwords);
}

static void add_table(struct list *l, enum rkmm_curve curve)
{
	uint32_t table, k;

	for (table = 0; table < 2; table++) {
		add(l, 0x4100, 0x20000 | table << 16);
		for (k = 0; k < 513; k++)
			add(l, 0x4104, (uint32_t)(int)rkmm_curve_point(curve, 512 * table + k));
	}
}

static void use_table(struct list *l)
{
	set(l, 0x4004, 0x30);
	set(l, 0x5004, 0x30);
	set(l, 0x4060, 0x20040);
	set(l, 0x4070, 0x302);
	set(l, 0x4108, 0x68);
	set(l, 0x410c, 0x50500);
	set(l, 0x4110, 0xffffc000);
	set(l, 0x411c, 0x4000);
}

/* hw 04 §2.6: the load program, the captured lookup, and both in one task */
static void test_tables(void **state)
{
	struct rkmm_op op = operation(RKMM_OP_EXP, RKMM_PREC_F16);
	struct rkmm_dpu load;
	struct list l;

	(void)state;
	rkmm_dpu_init(&load, RKMM_PREC_I8, 1, 16);
	load.load = true;
	load.curve = RKMM_CURVE_EXP;
	load.src = SRC;
	load.dst = SRC;
	load.src_pitch = 16;
	load.dst_pitch = 16;
	base_list(&l, 1, 16);
	set(&l, 0x4020, SRC);
	set(&l, 0x5044, 0x7801);
	add_table(&l, RKMM_CURVE_EXP);
	assert_int_equal(l.n, 1097);
	assert_int_equal(rkmm_dpu_writes(&load), 1097);
	compare(&l, words, rkmm_dpu_emit(&load, words));

	base_list(&l, M, N);
	use_table(&l);
	set(&l, 0x4010, 0x48000002);
	set(&l, 0x4064, 0x467ff000);
	set(&l, 0x4068, 0x6a660000);
	set(&l, 0x4080, 1);
	set(&l, 0x4084, 0x10001);
	set(&l, 0x4088, 0xf000);
	set(&l, 0x5044, 0x17849);
	add_table(&l, RKMM_CURVE_EXP);
	emit(&op, 0);
	compare(&l, words, nwords);
}

/* hw 04 §2.5, the int8 SiLU: 0x4128 and 0x412c for a slope of one, a step of 5.8 * 2 / 503 */
static void test_int8_lookup(void **state)
{
	struct rkmm_op op = operation(RKMM_OP_SILU, RKMM_PREC_I8);
	struct list l;

	(void)state;
	op.scale = 0x3c800000;			/* 1/64: index 2048 / 64 a step */
	op.out_scale = 0x3d000000;		/* 1/32: 2^-11 * 32 = 1 / 64 */
	op.quant.za = -2;
	op.quant.zo = 5;
	base_list(&l, M, N);
	use_table(&l);
	/* 32 is 16384 / 2^9 */
	set(&l, 0x4010, 9 << 10);
	set(&l, 0x4064, (uint32_t)(-2 * 16384));
	set(&l, 0x4068, 0x40000000 | 9 << 8);
	set(&l, 0x4080, 5);
	set(&l, 0x4084, 0x4000);
	set(&l, 0x4088, 20);
	set(&l, 0x4128, 0x20000000);
	set(&l, 0x412c, 0x1a0);
	set(&l, 0x5044, 0x7801);
	add_table(&l, RKMM_CURVE_SILU);
	emit(&op, 0);
	compare(&l, words, nwords);
}

/* hw 04 §3.3: both halves of 256 rows */
static void test_row_maximum(void **state)
{
	struct rkmm_op op = operation(RKMM_OP_ROWMAX, RKMM_PREC_F16);
	struct list l;
	uint32_t i;

	(void)state;
	op.m = 256;
	for (i = 0; i < 2; i++) {
		base_list(&l, 128, N);
		set(&l, 0x400c, 0x020021e5);
		set(&l, 0x4010, 0x48000002);
		set(&l, 0x4014, 0xfbff);
		set(&l, 0x4020, DST + 0x100 * i);
		set(&l, 0x4024, 0);
		set(&l, 0x40c0, 0);
		set(&l, 0x4034, 0x01c00000);
		set(&l, 0x4088, 0x40000000);
		set(&l, 0x5018, SRC + 0x800 * i);
		set(&l, 0x5034, 3);
		set(&l, 0x5044, 0x17841);
		set(&l, 0x504c, 0x800);
		emit(&op, i);
		compare(&l, words, nwords);
	}
	assert_int_equal(rkmm_op_tasks(geom, 256), 2);
}

/* hw 04 §3.4: the convolutions of the softmax of 256 rows of 64, and their DPU part */
static void conv_list(struct list *l, const uint32_t *v, uint32_t image)
{
	uint32_t i;

	l->n = 0;
	add(l, 0x1040, 0xb1);
	add(l, 0x1104, 0);
	add(l, 0x1100, 0);
	add(l, 0x100c, image);
	add(l, 0x4004, 0xe);
	add(l, 0x100c, image);
	add(l, 0x1010, 0x110);
	add(l, 0x1014, 9);
	add(l, 0x1020, 0x100010);
	add(l, 0x1024, v[0]);
	add(l, 0x1028, 0x10);
	add(l, 0x102c, 0x100);
	add(l, 0x1030, v[1]);
	add(l, 0x1034, v[2]);
	add(l, 0x1038, v[3]);
	add(l, 0x1040, 0xb1);
	add(l, 0x1044, v[4]);
	add(l, 0x104c, 0xb);
	for (i = 0x1050; i <= 0x105c; i += 4)
		add(l, i, 0x10000);
	add_range(l, 0x1060, 0x1068);
	add(l, 0x1070, SRC);
	add(l, 0x1074, 0);
	add(l, 0x1078, 0xf000f);
	add(l, 0x107c, v[5]);
	add(l, 0x1080, v[6]);
	add(l, 0x1084, 0x100010);
	add(l, 0x1088, v[7]);
	add(l, 0x1100, 0);
	add(l, 0x1104, 0);
	add(l, 0x1110, SRC2);
	add_range(l, 0x1140, 0x1184);
	add(l, 0x3010, 0x200);
	add(l, 0x3014, 0xf000f);
	add(l, 0x3018, v[8]);
	add(l, 0x301c, 0);
	add(l, 0x3030, 0);
	add(l, 0x400c, 0x1e4);
	add(l, 0x4010, 0x48000002);
	add(l, 0x4014, 0);
	add(l, 0x4020, DST);
	add(l, 0x4024, 0x1000);
	add(l, 0x4030, 0xf);
	add(l, 0x4034, 0xf);
	add(l, 0x4038, 0);
	add(l, 0x403c, v[9]);
	add(l, 0x4040, 0x53);
	add_range(l, 0x4044, 0x404c);
	add(l, 0x4050, 0x126);
	add(l, 0x4054, 0);
	add(l, 0x4058, v[8]);
	add(l, 0x405c, 0xf000f);
	add(l, 0x4060, 0x53);
	add_range(l, 0x4064, 0x406c);
	add(l, 0x4070, 0x383);
	add(l, 0x4074, 0);
	add(l, 0x4078, 1);
	add(l, 0x407c, 0);
	add(l, 0x4080, 0);
	add(l, 0x4084, 0x10001);
	add(l, 0x4088, 0);
	add_range(l, 0x4090, 0x40ac);
	add(l, 0x40c0, 0x2000);
	add(l, 0x40c4, 0);
	add_range(l, 0x4100, 0x412c);
	assert_int_equal(l->n, 108);
}

static void test_movers(void **state)
{
	/* 1024, 1030, 1034, 1038, 1044, 107c, 1080, 1088, 3018 = 4058, 403c of t2, t6, t7 */
	static const uint32_t columns[3][10] = {
		{ 8, 0x400, 0x10, 0x01010040, 0x100, 0x10, 0xf0, 8, 0x3f, 0x3f003f },
		{ 0x3f0040, 0x80, 0x80, 0x01010001, 0x20, 0x40, 0xc0, 0x40, 0xf, 0xf },
		{ 8, 0x400, 0x10, 0x01010040, 4, 0x40, 0xc0, 8, 0x3f, 0x3f003f },
	};
	static const uint32_t images[] = { 0x60008120, 0x120, 0x120 };
	struct rkmm_mover m = {
		.width = 16, .src = SRC, .weights = SRC2, .dst = DST, .dst_pitch = 0x1000,
	};
	struct list l;
	uint32_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		m.image = i == 0;
		m.channels = i == 1 ? 64 : 8;
		m.kernels = i == 1 ? 1 : 64;
		conv_list(&l, columns[i], images[i]);
		/* Only one channel of t7's eight has a weight: the capture says so (hw 04 §3.4). */
		if (i == 2)
			set(&l, 0x1024, 0x70008);
		compare(&l, words, rkmm_mover_emit(&m, words));
	}
}

/* The steps of a whole softmax of the captured size: hw 04 §3.5, with the tensors placed by us */
static void test_softmax_steps(void **state)
{
	static const uint32_t kinds[] = { 0x18, 0x18, 0x0d, 0x18, 0x18, 0x18, 0x0d, 0x0d, 0x18 };
	static const uint32_t lengths[] = { 69, 69, 108, 69, 1097, 69, 108, 108, 69 };
	struct rkmm_op op = operation(RKMM_OP_SOFTMAX, RKMM_PREC_F16);
	uint32_t i, dst = 0;
	struct list l;

	(void)state;
	op.m = 256;
	for (i = 0; i < 9; i++) {
		assert_int_equal(emit(&op, i), kinds[i]);
		assert_int_equal(nwords, lengths[i]);
		if (i == 3)
			dst = (uint32_t)(words[5] >> 16);
		if (i != 4)
			continue;
		/* t5, but for half of the gain, a top that is whole, no offset, 2^6 more */
		base_list(&l, 256, N);
		use_table(&l);
		set(&l, 0x4010, 0x48000002);
		set(&l, 0x4020, (uint32_t)(words[5] >> 16));
		set(&l, 0x4064, 0x46800000);
		set(&l, 0x4068, 0x66660000);
		set(&l, 0x4084, 0x10001);
		set(&l, 0x4088, (15 - 4) << 12);
		set(&l, 0x5018, dst);
		set(&l, 0x5044, 0x17849);
		add_table(&l, RKMM_CURVE_SOFTMAX);
		compare(&l, words, nwords);
	}
	assert_int_equal(rkmm_op_tasks(geom, 256), 9);
}

/* hw 04 §5 */
static void test_pooling(void **state)
{
	static const struct {
		enum rkmm_op_code code;
		uint32_t mode, k, reciprocal;
	} rows[] = {
		{ RKMM_OP_MAXPOOL, 0x11, 2, 0x7800 }, { RKMM_OP_AVGPOOL, 0x10, 2, 0x7800 },
		{ RKMM_OP_AVGPOOL, 0x10, 4, 0x7400 }, { RKMM_OP_AVGPOOL, 0x10, 3, 0x7555 },
	};
	struct list l;
	uint32_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		struct rkmm_op op = operation(rows[i].code, RKMM_PREC_F16);
		uint32_t k = rows[i].k, out_w = 16 / k, out_h = 12 / k;

		op.m = 16 * 12;
		op.width = 16;
		op.kernel_w = k;
		op.kernel_h = k;
		l.n = 0;
		add(&l, 0x6004, 0xe);
		add(&l, 0x600c, 15);
		add(&l, 0x6010, 11);
		add(&l, 0x6014, 63);
		add(&l, 0x6018, out_w - 1);
		add(&l, 0x601c, out_h - 1);
		add(&l, 0x6020, 63);
		add(&l, 0x6024, rows[i].mode);
		add(&l, 0x6034, (k - 1) * 0x00110101);
		add(&l, 0x6038, rows[i].reciprocal);
		add(&l, 0x603c, rows[i].reciprocal);
		add(&l, 0x6040, 0);
		add(&l, 0x6044, 0);
		add(&l, 0x6048, 0);
		add(&l, 0x6070, DST);
		add(&l, 0x607c, 16 * out_w * out_h);
		add(&l, 0x6084, 2);
		add(&l, 0x60dc, 3);
		add(&l, 0x7004, 0xe);
		add(&l, 0x700c, 15);
		add(&l, 0x7010, 11);
		add(&l, 0x7014, 63);
		add(&l, 0x701c, SRC);
		add(&l, 0x7024, 16 * 16);
		add(&l, 0x7028, 16 * 16 * 12);
		add(&l, 0x7030, 2);
		assert_int_equal(emit(&op, 0), 0x60);
		compare(&l, words, nwords);
	}
}

static void refuse(struct rkmm_op op, enum rkmm_reason reason)
{
	assert_int_equal(rkmm_op_geometry(&rkmm_limits_rk3588, &op, geom), reason);
}

#define WITH(code, precision, reason, ...) do {				\
	struct rkmm_op op_ = operation(code, precision);		\
									\
	__VA_ARGS__;							\
	refuse(op_, reason);						\
} while (0)

static void test_refusals(void **state)
{
	(void)state;
	WITH(RKMM_OP_COUNT, RKMM_PREC_F16, RKMM_REASON_OPERATION, (void)0);
	WITH(RKMM_OP_REQUANT, RKMM_PREC_I8, RKMM_REASON_READ_BACK, (void)0);
	WITH(RKMM_OP_ADD, RKMM_PREC_I32, RKMM_REASON_READ_BACK, (void)0);
	WITH(RKMM_OP_TRANSPOSE, RKMM_PREC_F16, RKMM_REASON_OPERATION, (void)0);
	WITH(RKMM_OP_ADD, RKMM_PREC_F32, RKMM_REASON_TYPES, (void)0);
	WITH(RKMM_OP_ADD, RKMM_PREC_F16, RKMM_REASON_ZERO, op_.m = 0);
	WITH(RKMM_OP_ADD, RKMM_PREC_F16, RKMM_REASON_ZERO, op_.n = 0);
	WITH(RKMM_OP_ADD, RKMM_PREC_F16, RKMM_REASON_SIZE, op_.m = 0xffffffff);
	WITH(RKMM_OP_ADD, RKMM_PREC_F16, RKMM_REASON_SIZE, op_.n = 0xffffffff);
	WITH(RKMM_OP_ADD, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.other = RKMM_OTHER_COUNT);
	WITH(RKMM_OP_RELU, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.other = RKMM_OTHER_SCALAR);
	WITH(RKMM_OP_ADD, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.flags = 1u << 31);
	WITH(RKMM_OP_ADD, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.flags = RKMM_OP_CAUSAL);
	WITH(RKMM_OP_ADD, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.width = 4);
	WITH(RKMM_OP_SOFTMAX, RKMM_PREC_F16, RKMM_REASON_LAYOUT, op_.flags = RKMM_OP_FLAT);
	WITH(RKMM_OP_SOFTMAX, RKMM_PREC_I8, RKMM_REASON_OPERATION, (void)0);
	WITH(RKMM_OP_SOFTMAX, RKMM_PREC_F16, RKMM_REASON_N_LIMIT, op_.n = 8193);
	WITH(RKMM_OP_SOFTMAX, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.scale = 0xbf800000);
	WITH(RKMM_OP_SOFTMAX, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.scale = 0x42280000);
	WITH(RKMM_OP_SOFTMAX, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.scale = 0x7f800000);
	WITH(RKMM_OP_DIV, RKMM_PREC_I8, RKMM_REASON_OPERATION, (void)0);
	WITH(RKMM_OP_DIV, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.other = RKMM_OTHER_SCALAR);
	WITH(RKMM_OP_MAX, RKMM_PREC_F16, RKMM_REASON_OPERATION, op_.other = RKMM_OTHER_CHANNEL);
	WITH(RKMM_OP_MUL, RKMM_PREC_I8, RKMM_REASON_QUANT, op_.quant.mult = 0x8000);
	WITH(RKMM_OP_MUL, RKMM_PREC_I8, RKMM_REASON_QUANT, op_.quant.shift = 64);
	WITH(RKMM_OP_CLAMP, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.value = 0x3f800000);
	WITH(RKMM_OP_CLAMP, RKMM_PREC_I8, RKMM_REASON_PARAM,
	     op_.value = 0x80000000; op_.value2 = 0x7fffffff);
	WITH(RKMM_OP_LEAKY, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.value = 0x40000000);
	WITH(RKMM_OP_RMSNORM, RKMM_PREC_F16, RKMM_REASON_PARAM, (void)0);
	WITH(RKMM_OP_RMSNORM, RKMM_PREC_F16, RKMM_REASON_PARAM,
	     op_.value = 0x3727c5ac; op_.flags = RKMM_OP_BETA);
	/* roots that no fp16 number is */
	WITH(RKMM_OP_RMSNORM, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.value = 0x00000001);
	WITH(RKMM_OP_RMSNORM, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.value = 0x7f7fffff);
	WITH(RKMM_OP_SILU, RKMM_PREC_I8, RKMM_REASON_PARAM, (void)0);
	WITH(RKMM_OP_MAXPOOL, RKMM_PREC_F16, RKMM_REASON_PARAM, (void)0);
	WITH(RKMM_OP_MAXPOOL, RKMM_PREC_F16, RKMM_REASON_PARAM,
	     op_.width = 8; op_.kernel_w = 17; op_.kernel_h = 2);
	WITH(RKMM_OP_MAXPOOL, RKMM_PREC_F16, RKMM_REASON_PARAM,
	     op_.width = 7; op_.kernel_w = 2; op_.kernel_h = 2);
}

/* What an operation does not have is refused, wherever it stands. */
static void test_unknown(void **state)
{
	(void)state;
	WITH(RKMM_OP_ADD, RKMM_PREC_F16, RKMM_OK, (void)0);
	WITH(RKMM_OP_ADD, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.value = 1);
	WITH(RKMM_OP_ADD, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.value2 = 1);
	WITH(RKMM_OP_ADD, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.scale = 0x3f800000);
	WITH(RKMM_OP_ADD, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.out_scale = 0x3f800000);
	WITH(RKMM_OP_COPY, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.quant.za = 1);
	WITH(RKMM_OP_RELU, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.quant.mult = 1);
	WITH(RKMM_OP_SILU, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.quant.zo = 1);
	WITH(RKMM_OP_SILU, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.scale = 0x3f800000);
	WITH(RKMM_OP_SOFTMAX, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.out_scale = 0x3f800000);
	WITH(RKMM_OP_ADD, RKMM_PREC_I8, RKMM_OK, op_.quant.sb = 1);
	WITH(RKMM_OP_MUL, RKMM_PREC_I8, RKMM_REASON_PARAM, op_.quant.sb = 1);
	WITH(RKMM_OP_MUL, RKMM_PREC_I8, RKMM_REASON_PARAM, op_.quant.sb_shift = 1);
	WITH(RKMM_OP_MUL, RKMM_PREC_I8, RKMM_OK, op_.quant.zb = 1);
	WITH(RKMM_OP_COPY, RKMM_PREC_I8, RKMM_REASON_PARAM, op_.quant.zb = 1);
	WITH(RKMM_OP_ADD, RKMM_PREC_I8, RKMM_OK,
	     op_.other = RKMM_OTHER_CHANNEL; op_.quant.mult = 1);
	WITH(RKMM_OP_ADD, RKMM_PREC_I8, RKMM_REASON_PARAM,
	     op_.other = RKMM_OTHER_CHANNEL; op_.quant.za = 1);
	WITH(RKMM_OP_LEAKY, RKMM_PREC_I8, RKMM_REASON_PARAM,
	     op_.value = 0x3e000000; op_.quant.mult = 1);
	WITH(RKMM_OP_SILU, RKMM_PREC_I8, RKMM_REASON_PARAM,
	     op_.scale = 0x3c800000; op_.out_scale = 0x3d000000; op_.quant.shift = 1);
	WITH(RKMM_OP_MAXPOOL, RKMM_PREC_I8, RKMM_REASON_PARAM,
	     op_.width = 8; op_.kernel_w = 2; op_.kernel_h = 2; op_.quant.zo = 1);
}

/*
 * Any description: every task within the fields of its registers, every address within
 * the memory that the geometry announces, and no description crashes.
 */
static uint64_t seed = 0x2545f4914f6cdd1dull;

static uint32_t rnd(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)((seed >> 20) % below);
}

/* An address tells its area in the low bits, which no offset has. */
static const u32 tagged[RKMM_AREAS] = { 0, 1, 2, 3, 4, 5, 6 };

/* @groups times @bytes, @pitch from each other, from @at on: inside the area? */
static void check_inside(u32 at, uint32_t groups, uint32_t pitch, uint64_t bytes)
{
	const uint64_t sizes[RKMM_AREAS] = {
		[RKMM_AREA_A] = geom->a.size, [RKMM_AREA_B] = geom->b.size,
		[RKMM_AREA_C] = geom->c.size, [RKMM_AREA_D] = geom->d.size,
		[RKMM_AREA_TEMP] = geom->temp_bytes, [RKMM_AREA_CONST] = geom->const_bytes,
	};

	assert_in_range(at % 16, RKMM_AREA_A, RKMM_AREAS - 1);
	assert_true(at / 16 * 16ull + (groups - 1ull) * pitch + bytes <= sizes[at % 16]);
}

static void check_dpu(const struct rkmm_dpu *d)
{
	uint32_t cols = d->in == RKMM_PREC_I8 ? 16 : 8, groups = d->channels / cols;

	check_inside(d->src, groups, d->src_pitch, 16ull * d->pixels);
	if (d->minmax)
		check_inside(d->dst, 1, 0, 2ull * d->pixels);
	else
		check_inside(d->dst, groups, d->dst_pitch, 16ull * d->pixels);
	if (d->bs.use & RKMM_STAGE_TABLE)
		check_inside(d->table, 1, 0, 4ull * d->channels);
	else if (d->vector)
		check_inside(d->src2, groups, 16, 16);
	else if (d->ew != RKMM_EW_OFF && d->ew != RKMM_EW_LUT)
		check_inside(d->src2, groups, d->src2_pitch, 16ull * d->pixels);
}

static void check_addresses(const struct rkmm_task *task)
{
	const struct rkmm_program *p = &task->matmul;
	const struct rkmm_mover *m = &task->mover;
	const struct rkmm_pool *l = &task->pool;
	uint32_t cols;

	switch (task->kind) {
	case RKMM_TASK_DPU:
		check_dpu(&task->dpu);
		break;
	case RKMM_TASK_MOVER:
		assert_true(m->image);
		check_inside(m->src, 1, 0, 2ull * m->width * RKMM_MOVER_LINES);
		check_inside(m->weights, 1, 0, 16ull * m->kernels);
		check_inside(m->dst, m->kernels / 8, m->dst_pitch,
			     16ull * m->width * RKMM_MOVER_LINES);
		break;
	case RKMM_TASK_MATMUL:
		check_inside(p->a, p->k / 8, p->a_pitch, 16ull * p->m);
		check_inside(p->b, 1, 0, 2ull * p->k * p->n);
		check_inside(p->c, p->n / 8, p->c_pitch, 16ull * p->m);
		break;
	case RKMM_TASK_POOL:
		cols = l->precision == RKMM_PREC_I8 ? 16 : 8;
		check_inside(l->src, l->channels / cols, 16 * l->width * l->height,
			     16ull * l->width * l->height);
		check_inside(l->dst, 1, 0, (uint64_t)l->channels / cols * 16 *
			     rkmm_pool_out(l->width, l->kernel_w, l->stride_w) *
			     rkmm_pool_out(l->height, l->kernel_h, l->stride_h));
		break;
	}
}

static void check_task(uint32_t i, uint32_t rows)
{
	struct rkmm_task task;
	uint32_t n;

	rkmm_op_task(geom, i, rows, tagged, &task);
	check_addresses(&task);
	n = rkmm_task_writes(&task, NULL);
	assert_in_range(n, RKMM_POOL_WRITES, 1097);
	words[n] = 0x5a5a;
	assert_int_equal(rkmm_task_emit(&task, NULL, words), n);
	assert_int_equal(words[n], 0x5a5a);
	if (task.kind == RKMM_TASK_DPU) {
		assert_in_range(task.dpu.pixels, 1, RKMM_PIXELS_MAX);
		assert_in_range(task.dpu.channels, 1, RKMM_CHANNELS_MAX);
		assert_in_range(task.dpu.real, 1, task.dpu.channels);
		assert_true(task.dpu.src_pitch >= 16 * task.dpu.pixels);
		if (task.dpu.minmax)
			assert_int_equal(task.dpu.pixels % 8, 0);
		else
			assert_true(task.dpu.dst_pitch >= 16 * task.dpu.pixels);
	}
	assert_true(rkmm_task_work_ns(&rkmm_limits_rk3588, &task) > 0);
}

static void test_any(void **state)
{
	static const u32 floats[] = { 0, 0x3f800000, 0x3d000000, 0x3727c5ac, 0xbf800000, 0x7fc00000 };
	uint32_t i, served = 0;

	(void)state;
	for (i = 0; i < 30000; i++) {
		struct rkmm_op op = {
			.code = rnd(RKMM_OP_COUNT + 1), .precision = rnd(8),
			.other = rnd(4), .flags = rnd(3) ? 0 : rnd(40),
			.m = rnd(8) ? 1 + rnd(600) : rnd(0xffffffff) >> rnd(32),
			.n = rnd(8) ? 1 + rnd(600) : rnd(0xffffffff) >> rnd(32),
			.value = rnd(2) ? 0 : floats[rnd(6)],
			.value2 = rnd(4) ? 0 : floats[rnd(6)],
			.scale = rnd(4) ? 0 : floats[rnd(6)],
		};
		uint32_t rows, tasks, t;

		if (rnd(4))
			op.precision = rnd(2) ? RKMM_PREC_F16 : RKMM_PREC_I8;
		if (op.code > RKMM_OP_DIV && rnd(4))
			op.other = 0;
		if (op.code == RKMM_OP_RMSNORM || op.code == RKMM_OP_LAYERNORM)
			op.value = 0x3727c5ac;
		if (op.precision == RKMM_PREC_I8 && op.code >= RKMM_OP_EXP && rnd(8)) {
			op.scale = 0x3d000000;
			op.out_scale = 0x3c800000;
		}
		if (op.code == RKMM_OP_MAXPOOL || op.code == RKMM_OP_AVGPOOL) {
			op.width = 1 + rnd(32);
			op.m = op.width * (1 + rnd(32));
			op.kernel_w = rnd(6);
			op.kernel_h = rnd(6);
			op.stride_w = rnd(4);
			op.stride_h = rnd(4);
		}
		if (!rnd(op.precision == RKMM_PREC_F16 ? 20 : 3))
			op.quant = (struct rkmm_quant){
				.za = (int)rnd(256) - 128, .mult = rnd(0x9000), .shift = rnd(70),
			};
		if (rkmm_op_geometry(&rkmm_limits_rk3588, &op, geom) != RKMM_OK)
			continue;
		served++;
		assert_in_range(geom->nsteps, 1, RKMM_OP_STEPS);
		assert_true(geom->nconsts <= RKMM_OP_CONSTS && geom->nmatmuls <= RKMM_OP_MATMULS);
		assert_true(geom->predicted_ns > 0);
		rows = op.code == RKMM_OP_MAXPOOL || op.code == RKMM_OP_AVGPOOL ? op.m :
		       1 + rnd(op.m);
		tasks = rkmm_op_tasks(geom, rows);
		assert_true(tasks > 0);
		check_task(0, rows);
		check_task(tasks - 1, rows);
		for (t = 0; t < 8; t++)
			check_task(rnd(tasks), rows);
	}
	assert_true(served > 1500);
}

static int setup(void **state)
{
	(void)state;
	geom = malloc(sizeof(*geom));
	return geom ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	free(geom);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_half),
		cmocka_unit_test(test_integers),
		cmocka_unit_test(test_per_channel),
		cmocka_unit_test(test_one_input),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_int8_lookup),
		cmocka_unit_test(test_row_maximum),
		cmocka_unit_test(test_movers),
		cmocka_unit_test(test_softmax_steps),
		cmocka_unit_test(test_pooling),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_any),
	};

	return cmocka_run_group_tests_name("prog operations", tests, setup, teardown);
}
