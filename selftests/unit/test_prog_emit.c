// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Emitted words against hw 02 §2, §1.2, §1.3 and §8, which are test data here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "kmod/prog/rkmm_prog.h"
#include "kmod/prog/rkmm_regs.h"
#include "prog_sheet.h"

#define A_ADDR	0x10000000u
#define B_ADDR	0x20000000u
#define C_ADDR	0x30000000u

struct shape {
	uint32_t m, k, n;
};

static const struct shape shapes[] = {
	{ 4, 32, 32 }, { 1, 64, 64 }, { 7, 96, 64 }, { 8, 128, 192 }, { 33, 416, 448 },
	{ 64, 1024, 4096 }, { 2, 10752, 8192 }, { 1, 32, 8192 }, { 176, 1024, 64 },
};

static const enum rkmm_types column_types[] = {
	[SHEET_F16F32] = RKMM_T_F16F32,
	[SHEET_F16F16] = RKMM_T_F16F16,
	[SHEET_I8I32] = RKMM_T_I8I32,
	[SHEET_I4_ROW] = RKMM_T_I4I16,
	[SHEET_I4_BATCH] = RKMM_T_I4I16,
};

static struct rkmm_program program(enum sheet_column column, const struct sheet_vars *v)
{
	static const uint32_t bits[] = { 16, 16, 8, 4, 4 };
	static const uint32_t ob[] = { 4, 2, 4, 2, 2 };
	struct rkmm_program p = {
		.types = column_types[column],
		.form = column == SHEET_I4_BATCH ? RKMM_FORM_BATCH : RKMM_FORM_FLAT,
		.m = column == SHEET_I4_BATCH ? v->L / 4 : column == SHEET_I4_ROW ? 1 : v->M,
		.k = v->K,
		.n = v->N,
		.data_banks = v->V & 15,
		.weight_banks = v->V >> 4 & 15,
		.weight_reuse = v->V & 0x2000,
		.grains = column == SHEET_I4_BATCH ? v->L + 1 :
			  column == SHEET_I4_ROW ? 2 : v->G,
		.a_pitch = v->K * bits[column] / 8,
		.c_pitch = v->N * ob[column],
		.a = v->A,
		.b = v->B,
		.c = v->C,
	};

	if (column == SHEET_I8I32 && v->s != v->N) {
		p.c_first = v->N * 4;
		p.c_pitch = v->s * 4;
	}
	return p;
}

static void compare(const struct sheet_entry *sheet, enum sheet_column column, const u64 *words)
{
	uint32_t i;

	for (i = 0; i < SHEET_WRITES; i++) {
		u64 want = (u64)sheet[i].block << 48 | (u64)sheet[i].value[column] << 16 |
			   sheet[i].offset;

		if (words[i] != want)
			print_error("column %d write %u (%s)\n", column, i, sheet[i].name);
		assert_int_equal(words[i], want);
	}
}

static void check_column(enum sheet_column column, const struct sheet_vars *v)
{
	struct sheet_entry sheet[SHEET_WRITES];
	struct rkmm_program p = program(column, v);
	u64 words[RKMM_PROG_WRITES + 1];

	words[RKMM_PROG_WRITES] = 0x5a5a;
	assert_int_equal(rkmm_emit_program(&p, words), SHEET_WRITES);
	assert_int_equal(words[RKMM_PROG_WRITES], 0x5a5a);
	sheet_program(v, sheet);
	compare(sheet, column, words);
}

static void test_columns(void **state)
{
	uint32_t i, c;

	(void)state;
	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		for (c = 0; c < SHEET_COLUMNS; c++) {
			struct sheet_vars v = {
				.M = shapes[i].m, .K = shapes[i].k, .N = shapes[i].n,
				.L = 4 * (shapes[i].m % 64), .G = shapes[i].m + 1, .V = 0xb1,
				.s = shapes[i].n, .A = A_ADDR + i * 0x1000,
				.B = B_ADDR + i * 0x2000, .C = C_ADDR + i * 0x3000,
			};

			if (!v.L)
				v.L = 8;
			check_column(c, &v);
			if (c == SHEET_I4_ROW)
				continue;
			v.V = 0x84;
			check_column(c, &v);
			v.V = 0x20b1;
			check_column(c, &v);
		}
	}
}

static void test_offset_stride(void **state)
{
	struct sheet_vars v = {
		.M = 8, .K = 128, .N = 64, .L = 4, .G = 9, .V = 0xb1, .s = 192,
		.A = A_ADDR, .B = B_ADDR, .C = C_ADDR,
	};

	(void)state;
	check_column(SHEET_I8I32, &v);
	v.s = 8192;
	check_column(SHEET_I8I32, &v);
}

/* A wider matrix of A: hw 02 §3.4, LINE_STRIDE p / 16; true pitch of C: §3.5, both notches. */
static void test_pitches(void **state)
{
	struct sheet_vars v = {
		.M = 8, .K = 128, .N = 64, .L = 4, .G = 9, .V = 0xb1, .s = 64,
		.A = A_ADDR, .B = B_ADDR, .C = C_ADDR,
	};
	struct sheet_entry sheet[SHEET_WRITES];
	struct rkmm_program p = program(SHEET_I8I32, &v);
	u64 words[RKMM_PROG_WRITES];

	(void)state;
	p.a_pitch = 4096;
	p.c_pitch = 192 * 4;
	rkmm_emit_program(&p, words);
	sheet_program(&v, sheet);
	sheet[28].value[SHEET_I8I32] = 256;		/* 107c */
	sheet[65].value[SHEET_I8I32] = 0x002f002f;	/* 4038 */
	compare(sheet, SHEET_I8I32, words);
}

/* hw 02 §2, "other output forms" */
static void test_int8_output(void **state)
{
	static const struct {
		s32 mult, offset;
		u32 shift;
	} q[] = { { 0x4000, 0, 14 }, { 0x7fff, -128, 31 }, { 1, 127, 0 } };
	struct sheet_entry sheet[SHEET_WRITES];
	u64 words[RKMM_PROG_WRITES];
	uint32_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		struct sheet_vars v = {
			.M = 4, .K = 512, .N = 96, .L = 4, .G = 5, .V = 0xb1, .s = 96,
			.A = A_ADDR, .B = B_ADDR, .C = C_ADDR,
		};
		struct rkmm_program p = program(SHEET_I8I32, &v);

		p.types = RKMM_T_I8I8;
		p.c_pitch = v.N;
		p.mult = q[i].mult;
		p.shift = q[i].shift;
		p.offset = q[i].offset;
		rkmm_emit_program(&p, words);
		sheet_program(&v, sheet);
		sheet[59].value[SHEET_I8I32] = 0;			/* 4010 */
		sheet[65].value[SHEET_I8I32] = 0x00050005;		/* 4038 */
		sheet[71].value[SHEET_I8I32] = 0x124;			/* 4050 */
		sheet[83].value[SHEET_I8I32] = (uint32_t)q[i].offset;	/* 4080 */
		sheet[84].value[SHEET_I8I32] = (uint32_t)q[i].mult;	/* 4084 */
		sheet[85].value[SHEET_I8I32] = q[i].shift;		/* 4088 */
		sheet[94].value[SHEET_I8I32] = 0x20;			/* 40c0 */
		compare(sheet, SHEET_I8I32, words);
	}
}

/* SURF_STRIDE of a cube program of @rows rows in a cube of @total */
static uint32_t surf(uint32_t total, uint32_t rows)
{
	const struct rkmm_program p = {
		.types = RKMM_T_I8I32, .form = RKMM_FORM_CUBE, .m = rows, .k = 64, .n = 32,
		.data_banks = 1, .weight_banks = 11, .grains = rows + 1,
		.a_pitch = 16 * total, .c_pitch = 16 * total,
	};
	u64 words[RKMM_PROG_WRITES];

	rkmm_emit_program(&p, words);
	return (uint32_t)(words[29] >> 16);
}

/* The cube column of hw 02 §8, int4 as the last paragraph of §6.2. */
static void test_cube(void **state)
{
	static const struct {
		enum rkmm_types types;
		enum sheet_column column;
		uint32_t conv_con1, misc_cfg, ow_cfg, surfaces, format;
	} forms[] = {
		{ RKMM_T_F16F32, SHEET_F16F32, 0x120, 0x201, 0x36e, 4, 0xa8000002 },
		{ RKMM_T_F16F16, SHEET_F16F16, 0x120, 0x201, 0x126, 2, 0x48000002 },
		{ RKMM_T_I8I32, SHEET_I8I32, 0, 0, 0x7fe, 8, 0x80000000 },
		{ RKMM_T_I8I8, SHEET_I8I32, 0, 0, 0x126, 2, 0 },
		{ RKMM_T_I4I16, SHEET_I4_BATCH, 0x360, 0x600, 0x7fe, 8, 0x38000006 },
	};
	static const uint32_t rows[] = { 1, 2, 4, 5, 8, 64, 128 };
	struct sheet_entry sheet[SHEET_WRITES];
	u64 words[RKMM_PROG_WRITES];
	uint32_t i, r;

	(void)state;
	for (i = 0; i < 5; i++) {
		for (r = 0; r < 7; r++) {
			uint32_t m = rows[r], c = forms[i].column;
			struct sheet_vars v = {
				.M = m, .K = 512, .N = 64, .L = m, .G = m + 1, .V = 0xa2,
				.s = 64, .A = A_ADDR, .B = B_ADDR, .C = C_ADDR,
			};
			struct rkmm_program p = program(c, &v);

			p.types = forms[i].types;
			p.form = RKMM_FORM_CUBE;
			p.m = m;
			p.grains = m + 1;
			p.a_pitch = 16 * m;
			p.c_pitch = 16 * m;
			rkmm_emit_program(&p, words);
			sheet_program(&v, sheet);
			sheet[3].value[c] = forms[i].conv_con1;
			sheet[5].value[c] = forms[i].conv_con1;
			sheet[28].value[c] = 4;				/* 107c */
			sheet[29].value[c] = (m - 4) & 0xfffffff;	/* 1080: W(H - 4) */
			sheet[53].value[c] = forms[i].misc_cfg;
			sheet[59].value[c] = forms[i].format;
			sheet[62].value[c] = 16 * m;			/* 4024 */
			sheet[65].value[c] = 0;				/* 4038 */
			sheet[71].value[c] = forms[i].ow_cfg;
			sheet[74].value[c] = (m - 1) << 16;		/* 405c */
			sheet[94].value[c] = 16 * m * forms[i].surfaces;
			compare(sheet, c, words);
		}
	}
	/* A tile of 8 rows in a cube of 40: hw 02 §3.4, T - 4 with W = 1 */
	assert_int_equal(surf(40, 8), 36);
}

/* The three captures: geometry must choose what the vendor wrote. */
static void test_captures(void **state)
{
	static const struct {
		enum rkmm_types types;
		enum sheet_column column;
		struct shape shape;
		uint32_t a, b, c;
	} captures[] = {
		{ RKMM_T_I8I32, SHEET_I8I32, { 4, 32, 32 }, 0xfffe4000, 0xfffe5000, 0xfffe2000 },
		{ RKMM_T_F16F32, SHEET_F16F32, { 4, 32, 16 }, 0xffff5000, 0xffff6000, 0xffff3000 },
		{ RKMM_T_I4I16, SHEET_I4_ROW, { 1, 64, 64 }, 0xffffd000, 0xffffc000, 0xffffb000 },
	};
	u64 words[RKMM_PROG_WRITES + RKMM_TAIL_WORDS];
	uint32_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		const struct rkmm_matmul mm = {
			.types = captures[i].types, .form = RKMM_FORM_COUNT,
			.m = captures[i].shape.m, .k = captures[i].shape.k,
			.n = captures[i].shape.n,
		};
		const struct sheet_vars v = {
			.M = mm.m, .K = mm.k, .N = mm.n, .L = 4, .G = mm.m + 1, .V = 0xb1,
			.s = mm.n, .A = captures[i].a, .B = captures[i].b, .C = captures[i].c,
		};
		struct sheet_entry sheet[SHEET_WRITES];
		struct rkmm_geom geom;
		struct rkmm_program p;

		assert_int_equal(rkmm_geometry(&rkmm_limits_rk3588, &mm, &geom), RKMM_OK);
		assert_int_equal(geom.programs, 1);
		rkmm_geom_program(&geom, 0, mm.m, v.A, v.B, v.C, &p);
		rkmm_emit_program(&p, words);
		sheet_program(&v, sheet);
		compare(sheet, captures[i].column, words);
	}
	/* The int4 capture is task 0 of a chain: next task 0x380 bytes on. */
	rkmm_emit_tail(words, 0xfffff380, RKMM_PROG_WRITES, RKMM_START_MATMUL);
	assert_int_equal(words[0], 0x0101fffff3800010ull);
	assert_int_equal(words[1], 0x0101000000370014ull);
	assert_int_equal(words[2], 0x0041000000000000ull);
	assert_int_equal(words[3], 0x00810000000d0008ull);
	assert_int_equal(rkmm_slot_bytes(RKMM_PROG_WRITES), 0x380);
}

static void test_tail(void **state)
{
	u64 words[RKMM_TAIL_WORDS];

	(void)state;
	rkmm_emit_tail(words, 0, 0, 0x0d);
	assert_int_equal(words[0], 0);
	assert_int_equal(words[1], 0x0101000000000014ull);
	assert_int_equal(words[2], 0x0041000000000000ull);
	assert_int_equal(words[3], 0x00810000000d0008ull);
	rkmm_emit_tail(words, 0x1000, 1097, 0x18);
	assert_int_equal(words[0], 0x0101000010000010ull);
	assert_int_equal(words[1], 0x0101000002260014ull);
	assert_int_equal(words[3], 0x0081000000180008ull);
}

/* hw 02 §1.3 and hw 04 §0.4 */
static void test_amounts(void **state)
{
	static const uint32_t amounts[][2] = {
		{ 12, 7 }, { 13, 8 }, { 17, 10 }, { 18, 10 }, { 69, 0x24 }, { 104, 0x35 },
		{ 108, 0x37 }, { 126, 0x40 }, { 1097, 0x226 }, { 70, 36 }, { 24, 13 },
		{ 63, 33 }, { 28, 15 },
	};
	uint32_t i;

	(void)state;
	for (i = 0; i < sizeof(amounts) / sizeof(amounts[0]); i++)
		assert_int_equal(rkmm_amount(amounts[i][0]), amounts[i][1]);
	/* hw 02 §7.4: slots of 17, 13 and 12 writes are 0xc0 and 0x80 apart */
	assert_int_equal(rkmm_slot_bytes(17), 0xc0);
	assert_int_equal(rkmm_slot_bytes(13), 0xc0);
	assert_int_equal(rkmm_slot_bytes(12), 0x80);
}

static void test_register_names(void **state)
{
	const struct sheet_vars v = { .M = 1, .K = 32, .N = 32, .L = 4, .s = 32 };
	struct sheet_entry sheet[SHEET_WRITES];
	uint32_t i;

	(void)state;
	sheet_program(&v, sheet);
	for (i = 0; i < SHEET_WRITES; i++) {
		const struct rkmm_reg *reg = rkmm_reg_find(sheet[i].offset);

		assert_non_null(reg);
		assert_string_equal(reg->name, sheet[i].name);
		assert_int_equal(reg->target, sheet[i].block);
	}
}

static void test_register_table(void **state)
{
	static const uint16_t targets[] = {
		0x0101, 0x0201, 0, 0x0801, 0x1001, 0x2001, 0x4001, 0x8001,
	};
	const struct rkmm_reg *reg, *last = NULL;
	uint32_t i;

	(void)state;
	for (i = 0; (reg = rkmm_reg_at(i)); i++) {
		const struct rkmm_field *f;
		uint32_t seen = 0;

		if (last)
			assert_true(last->offset < reg->offset);
		last = reg;
		assert_int_equal(reg->offset % 4, 0);
		assert_int_equal(reg->target, targets[reg->offset >> 12]);
		assert_ptr_equal(rkmm_reg_find(reg->offset), reg);
		for (f = reg->fields; f->name; f++) {
			uint32_t hi = rkmm_field_hi(f), lo = rkmm_field_lo(f);

			assert_int_equal(f->mask, (uint32_t)((2ull << hi) - (1ull << lo)));
			assert_int_equal(seen & f->mask, 0);
			if (seen)
				assert_true(f->mask < (seen & -seen));
			seen |= f->mask;
		}
	}
	assert_int_equal(i, 175);
	assert_null(rkmm_reg_find(0x1001));
	assert_null(rkmm_reg_find(0x2000));
	assert_null(rkmm_reg_find(0x412d));
	assert_null(rkmm_reg_find(0xffff));
}

static void test_field_values(void **state)
{
	const struct rkmm_reg *surf = rkmm_reg_find(0x1080);
	const struct rkmm_reg *base = rkmm_reg_find(0x0010);

	(void)state;
	assert_int_equal(rkmm_field_get(surf->fields, 0x0ffffffd), -3);
	assert_int_equal(rkmm_field_get(surf->fields, 60), 60);
	assert_int_equal(rkmm_field_get(base->fields, 0xfffff381), 0xfffff380);
	assert_string_equal(rkmm_precision_name(5), "fp32");
	assert_string_equal(rkmm_target_name(0x2001), "DPU_RDMA");
	assert_null(rkmm_target_name(0x0401));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_offset_stride),
		cmocka_unit_test(test_pitches),
		cmocka_unit_test(test_int8_output),
		cmocka_unit_test(test_cube),
		cmocka_unit_test(test_captures),
		cmocka_unit_test(test_tail),
		cmocka_unit_test(test_amounts),
		cmocka_unit_test(test_register_names),
		cmocka_unit_test(test_register_table),
		cmocka_unit_test(test_field_values),
	};

	return cmocka_run_group_tests_name("prog emit", tests, NULL, NULL);
}
