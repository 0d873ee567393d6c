// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Tilings: the worked examples and tables of the sheets, then thousands of
 * random shapes whose emitted programs must obey every law and cover every
 * output once.
 */
#include "prog_shapes.h"

/* hw 02 §3.5, worked numbers */
static void test_worked_addresses(void **state)
{
	struct rkmm_matmul mm = matmul(RKMM_T_I8I32, 8, 128, 64);
	struct rkmm_program prog;
	struct rkmm_geom g;
	struct regs r;

	(void)state;
	g = geometry(&mm);
	assert_int_equal(rkmm_addr_a(&g, 3, 100), 0x1e4);
	assert_int_equal(rkmm_addr_b(&g, 40, 33), 0x1428);
	assert_int_equal(rkmm_addr_c(&g, 2, 5), 0x214);
	load(&r, &g, 0, 8, &prog);
	assert_int_equal(read_addr(&r, 3, 100), 0x100001e4);
	assert_int_equal(write_addr(&r, 2, 5), 0x30000214);

	prog.c_first = 64 * 4;
	prog.c_pitch = 192 * 4;
	{
		u64 words[RKMM_PROG_WRITES];

		regs_load(&r, words, rkmm_emit_program(&prog, words));
	}
	assert_int_equal(write_addr(&r, 1, 0), 0x30000100);
	assert_int_equal(write_addr(&r, 2, 5), 0x30000414);

	mm.form = RKMM_FORM_CUBE;
	g = geometry(&mm);
	assert_int_equal(rkmm_addr_a(&g, 3, 100), 0x334);
	assert_int_equal(rkmm_addr_c(&g, 2, 5), 0xa4);

	g = simple(RKMM_T_F16F16, 8, 64, 48);
	assert_int_equal(rkmm_addr_b(&g, 33, 17), 0xc42);

	mm = matmul(RKMM_T_I4I16, 4, 128, 128);
	g = geometry(&mm);
	assert_int_equal(g.form, RKMM_FORM_BATCH);
	assert_int_equal(rkmm_addr_a(&g, 3, 5), 0x182);
	assert_int_equal(rkmm_addr_c(&g, 3, 70), 0xe0c);
	load(&r, &g, 0, 4, &prog);
	assert_int_equal(read_addr(&r, 12, 5), 0x10000182);
	assert_int_equal(write_addr(&r, 12, 70), 0x30000e0c);
}

/* hw 02 §6.3 with hw 03 §1.2, §6.4 */
static void test_int4_tables(void **state)
{
	static const uint16_t h[][2] = {
		{ 32, 64 }, { 64, 64 }, { 128, 64 }, { 160, 64 }, { 192, 64 }, { 256, 64 },
		{ 512, 32 }, { 768, 22 }, { 1024, 16 }, { 1536, 11 }, { 2048, 8 }, { 2560, 4 },
		{ 3072, 4 }, { 3584, 4 }, { 4096, 4 }, { 5120, 3 }, { 6144, 3 }, { 8192, 2 },
		{ 896, 13 }, { 4608, 2 }, { 6176, 0 }, { 8224, 0 }, { 10752, 0 }, { 0, 0 },
	};
	static const uint16_t wb[][2] = {
		{ 256, 512 }, { 512, 256 }, { 768, 128 }, { 1024, 128 }, { 1536, 64 },
		{ 2048, 64 }, { 4096, 64 }, { 10752, 64 }, { 32, 4096 },
	};
	uint32_t i, k;

	(void)state;
	for (i = 0; i < sizeof(h) / sizeof(h[0]); i++)
		assert_int_equal(rkmm_batch_rows(h[i][0]), h[i][1]);
	for (i = 0; i < sizeof(wb) / sizeof(wb[0]); i++)
		assert_int_equal(rkmm_batch_cols(wb[i][0]), wb[i][1]);
	for (k = 32; k <= 10752; k += 32)
		assert_true(rkmm_batch_rows(k) <= table_h(k));
}

/* Caps of hw 02 §5.3 and §5.2's measured rows: ours must lie inside. */
static void test_row_caps(void **state)
{
	static const struct {
		enum rkmm_types types;
		uint32_t k, n, cap;
	} caps[] = {
		{ RKMM_T_F16F32, 256, 4096, 704 }, { RKMM_T_F16F32, 512, 4096, 352 },
		{ RKMM_T_F16F32, 1024, 4096, 176 }, { RKMM_T_F16F32, 128, 4096, 256 },
		{ RKMM_T_F16F32, 1024, 16, 128 }, { RKMM_T_F16F32, 1024, 32, 128 },
		{ RKMM_T_F16F32, 512, 32, 320 }, { RKMM_T_F16F32, 256, 16, 640 },
		{ RKMM_T_F16F32, 1024, 8192 + 16, 176 },	/* two equal chunks, none narrow */
		{ RKMM_T_I8I32, 512, 4096, 704 }, { RKMM_T_I8I32, 1024, 4096, 320 },
		{ RKMM_T_I8I32, 2048, 4096, 128 }, { RKMM_T_I8I32, 3072, 4096, 64 },
		{ RKMM_T_I8I32, 4096, 4096, 64 }, { RKMM_T_I8I8, 1024, 4096, 320 },
	};
	static const uint16_t slack = 25;	/* per cent we may stay below: no needless loss */
	uint32_t i;

	(void)state;
	for (i = 0; i < sizeof(caps) / sizeof(caps[0]); i++) {
		struct rkmm_geom g = simple(caps[i].types, 100000, caps[i].k, caps[i].n);

		assert_true(g.rows <= caps[i].cap);
		assert_true(g.rows * 100 >= caps[i].cap * (100 - slack));
	}
	/* hw 02 §5.3: ten bits of grains */
	assert_true(simple(RKMM_T_F16F32, 100000, 32, 64).rows <= 1022);
}

/*
 * The vendor's captures of hw 02 §5.4 at M = 64..256: same data banks where
 * fp16 fills them, never fewer.
 */
static void test_vendor_splits(void **state)
{
	static const struct {
		uint32_t m, k, v, grains;
	} captures[] = {
		{ 64, 256, 0xb1, 0x41 }, { 128, 256, 0xa2, 0x80 }, { 192, 256, 0x93, 0x80 },
		{ 256, 256, 0x84, 0x80 }, { 64, 512, 0xa2, 0x40 }, { 128, 512, 0x84, 0x40 },
		{ 192, 512, 0x66, 0x40 }, { 256, 512, 0x48, 0x40 }, { 64, 1024, 0x84, 0 },
		{ 128, 1024, 0x48, 0 },
	};
	uint32_t i;

	(void)state;
	for (i = 0; i < sizeof(captures) / sizeof(captures[0]); i++) {
		struct rkmm_geom g = simple(RKMM_T_F16F32, captures[i].m, captures[i].k, 4096);

		assert_int_equal(g.m_tiles, 1);
		assert_int_equal(g.weight_banks << 4 | g.data_banks, captures[i].v);
		if (captures[i].grains)
			assert_int_equal(g.grains, captures[i].grains);
	}
}

/* Grains never above R where the split is not the template's: hw 02 §5.1. */
static void test_grains(void **state)
{
	static const uint16_t r_table[][3] = {
		{ 32, 1024, 2048 }, { 64, 512, 1024 }, { 96, 256, 512 }, { 128, 256, 512 },
		{ 192, 128, 256 }, { 256, 128, 256 }, { 320, 64, 128 }, { 384, 64, 128 },
		{ 512, 64, 128 }, { 640, 32, 64 }, { 768, 32, 64 }, { 1024, 32, 64 },
		{ 1280, 16, 32 }, { 1536, 16, 32 }, { 2048, 16, 32 }, { 2560, 8, 16 },
		{ 3072, 8, 16 }, { 3584, 8, 16 }, { 4096, 8, 16 }, { 5120, 4, 8 },
		{ 6144, 4, 8 }, { 8192, 4, 8 }, { 10752, 2, 4 },
	};
	uint32_t i, m;

	(void)state;
	for (i = 0; i < sizeof(r_table) / sizeof(r_table[0]); i++) {
		for (m = 1; m < 1500; m += 13) {
			struct rkmm_geom f = simple(RKMM_T_F16F32, m, r_table[i][0], 4096);
			struct rkmm_geom b = simple(RKMM_T_I8I32, m, r_table[i][0], 4096);

			assert_true(f.grains <= f.rows + 1 && b.grains <= b.rows + 1);
			assert_true(f.data_banks == 1 || f.grains <= r_table[i][1]);
			assert_true(b.data_banks == 1 || b.grains <= r_table[i][2]);
			if (f.data_banks == 1)
				assert_int_equal(f.grains, f.rows + 1);
		}
	}
}

static void expect(enum rkmm_reason reason, struct rkmm_matmul mm)
{
	struct rkmm_geom geom;

	assert_int_equal(rkmm_geometry(chip, &mm, &geom), reason);
}

static void test_refusals(void **state)
{
	struct rkmm_matmul mm = matmul(RKMM_T_F16F32, 4, 64, 64);
	uint32_t i;

	(void)state;
#define WITH(reason, field, v) do { \
		struct rkmm_matmul other = mm; \
		other.field = v; \
		expect(reason, other); \
	} while (0)
	WITH(RKMM_OK, m, 4);
	WITH(RKMM_REASON_TYPES, types, RKMM_T_COUNT);
	WITH(RKMM_REASON_TYPES, types, (enum rkmm_types)-1);
	WITH(RKMM_REASON_ZERO, m, 0);
	WITH(RKMM_REASON_ZERO, k, 0);
	WITH(RKMM_REASON_ZERO, n, 0);
	WITH(RKMM_OK, k, 10752);
	WITH(RKMM_OK, k, 10753);
	WITH(RKMM_REASON_K_LIMIT, k, UINT32_MAX);
	WITH(RKMM_REASON_K_LIMIT, k, (1u << 27) + 1);
	WITH(RKMM_OK, slice, 32);
	WITH(RKMM_OK, slice, 64);
	WITH(RKMM_REASON_LAYOUT, slice, 96);
	WITH(RKMM_REASON_LAYOUT, slice, 16);
	WITH(RKMM_REASON_LAYOUT, slice, UINT32_MAX);
	WITH(RKMM_REASON_SIZE, n, UINT32_MAX);
	WITH(RKMM_REASON_SIZE, m, UINT32_MAX);
	WITH(RKMM_REASON_FORM, form, RKMM_FORM_BATCH);
	WITH(RKMM_REASON_FORM, form, (enum rkmm_form)7);
	WITH(RKMM_OK, form, RKMM_FORM_CUBE);
	WITH(RKMM_OK, a_pitch, 128);
	WITH(RKMM_REASON_STRIDE, a_pitch, 112);
	WITH(RKMM_REASON_STRIDE, a_pitch, 136);
	WITH(RKMM_OK, a_pitch, 0x3ffffff0);
	WITH(RKMM_REASON_SIZE, a_pitch, 0xfffffff0);
	WITH(RKMM_OK, c_pitch, 256);
	WITH(RKMM_OK, c_pitch, 131072);
	WITH(RKMM_REASON_STRIDE, c_pitch, 131088);
	WITH(RKMM_REASON_STRIDE, c_pitch, 240);
	WITH(RKMM_REASON_STRIDE, c_pitch, 260);
	WITH(RKMM_OK, mult, 1);
	WITH(RKMM_REASON_QUANT, mult, 2);
	WITH(RKMM_REASON_QUANT, shift, 1);
	WITH(RKMM_REASON_QUANT, offset, -1);
	mm.k = 63;
	WITH(RKMM_OK, m, 4);
	WITH(RKMM_REASON_STRIDE, a_pitch, 128);
	mm = matmul(RKMM_T_I8I8, 4, 256, 64);
	WITH(RKMM_OK, m, 4);
	WITH(RKMM_REASON_STRIDE, a_pitch, 512);	/* padded to 512 */
	WITH(RKMM_REASON_LAYOUT, slice, 256);	/* hw 03 G26 */
	WITH(RKMM_OK, slice, 128);		/* partial sums are int32 */
	for (i = 0; i < 2; i++)
		WITH(RKMM_REASON_QUANT, mult, i ? 0x8000 : 0);
	WITH(RKMM_REASON_QUANT, mult, -1);
	WITH(RKMM_REASON_QUANT, shift, 32);
	WITH(RKMM_REASON_QUANT, offset, 128);
	WITH(RKMM_REASON_QUANT, offset, -129);
	WITH(RKMM_OK, offset, -128);
	mm = matmul(RKMM_T_I4I16, 4, 8192, 64);
	mm.form = RKMM_FORM_BATCH;
	WITH(RKMM_OK, m, 4);
	WITH(RKMM_REASON_FORM, k, 8193);
	mm.k = 1024;
	WITH(RKMM_REASON_SIZE, m, UINT32_MAX - 6);	/* rounds up past 32 bits */
	mm.k = 8192;
	WITH(RKMM_REASON_STRIDE, a_pitch, 8192);
	WITH(RKMM_REASON_STRIDE, c_pitch, 128);
#undef WITH
}

static void test_sizes_and_layouts(void **state)
{
	struct rkmm_matmul mm = matmul(RKMM_T_F16F32, 5, 100, 50);
	struct rkmm_operand a, b, c;
	struct rkmm_geom g, g2;

	(void)state;
	g = geometry(&mm);
	assert_int_equal(g.kp, 128);
	assert_int_equal(g.np, 64);
	assert_int_equal(g.a_bytes, 5 * 256);
	assert_int_equal(g.b_bytes, 128 * 64 * 2);
	assert_int_equal(g.c_bytes, 5 * 256);
	rkmm_geom_a(&g, &a);
	rkmm_geom_b(&g, &b);
	rkmm_geom_c(&g, &c);
	assert_int_equal(a.layout, RKMM_LAYOUT_ROWS);
	assert_int_equal(a.pitch, 256);
	assert_int_equal(b.layout, RKMM_LAYOUT_WEIGHT);
	assert_int_equal(b.group, 16);
	assert_int_equal(b.layout_id, 0x1220008000000000ull);
	assert_int_equal(c.pitch, 256);
	assert_int_equal(c.bits, 32);

	/* Last row without its gap, over-fetch not counted */
	mm.k = 128;
	mm.a_pitch = 4096;
	mm.c_pitch = 512;
	g2 = geometry(&mm);
	assert_int_equal(g2.a_bytes, 4 * 4096 + 256);
	assert_int_equal(g2.c_bytes, 4 * 512 + 256);
	assert_int_equal(g2.b_layout, g.b_layout);
	assert_true(g2.a_layout != g.a_layout);

	/* A packed A serves every N; M does not matter to rows, it does to the cube. */
	assert_int_equal(simple(RKMM_T_I8I32, 3, 64, 64).a_layout,
			 simple(RKMM_T_I8I32, 300, 64, 640).a_layout);
	mm = matmul(RKMM_T_I8I32, 4, 64, 64);
	mm.form = RKMM_FORM_CUBE;
	g = geometry(&mm);
	mm.m = 8;
	g2 = geometry(&mm);
	assert_true(g.a_layout != g2.a_layout);
	/* Slices of A that follow each other depend on its rows, those side by side do not. */
	mm = matmul(RKMM_T_I4I16, 8, 12000, 64);
	g = geometry(&mm);
	mm.m = 9;
	assert_true(g.a_layout != geometry(&mm).a_layout);
	mm.slice = 4096;
	g = geometry(&mm);
	mm.slice = 2016;
	assert_true(g.a_layout != geometry(&mm).a_layout);
	assert_int_equal(simple(RKMM_T_I8I32, 8, 12000, 64).a_layout,
			 simple(RKMM_T_I8I32, 9, 12000, 640).a_layout);
	mm.slice = 32;
	mm.k = 64;
	mm.m = 1 << 19;
	expect(RKMM_REASON_M_LIMIT, mm);

	/* B is a function of input type and padded K. */
	assert_int_equal(simple(RKMM_T_I8I32, 3, 512, 64).b_layout,
			 simple(RKMM_T_I8I8, 7, 512, 4096).b_layout);
	assert_true(simple(RKMM_T_I8I32, 3, 512, 64).b_layout !=
		    simple(RKMM_T_I8I32, 3, 544, 64).b_layout);
	assert_true(rkmm_layout_b(RKMM_T_I8I32, 512, 1) != rkmm_layout_b(RKMM_T_I8I32, 512, 2));
	assert_int_equal(rkmm_layout_slice(rkmm_layout_b(RKMM_T_I8I32, 10752, 7)), 10752);
	assert_int_equal(rkmm_layout_b(RKMM_T_I8I32, 512, 0), 0);

	/* hw 03 G17: sixteen rows at K = 1024, always */
	mm = matmul(RKMM_T_I4I16, 17, 1024, 200);
	g = geometry(&mm);
	rkmm_geom_a(&g, &a);
	rkmm_geom_c(&g, &c);
	assert_int_equal(a.rows, 32);
	assert_int_equal(a.size, 32 * 1024);
	assert_int_equal(a.layout, RKMM_LAYOUT_BATCH_A);
	assert_int_equal(c.layout, RKMM_LAYOUT_BATCH_C);
	assert_int_equal(c.tile_rows, 16);
	assert_int_equal(c.tile_cols, 128);
	assert_int_equal(c.size, 4 * 4 * 16 * 2 * 128);
}

static void test_random(void **state)
{
	uint32_t i, served = 0;

	(void)state;
	for (i = 0; i < 6000; i++) {
		bool wide = rnd(8) == 0;
		struct rkmm_matmul mm = matmul(rnd(RKMM_T_COUNT), size_near(wide ? 200 : 1500),
					       wide ? 10700 + rnd(30000) : size_near(10752),
					       size_near(wide ? 600 : 9000));
		enum rkmm_reason reason;
		struct rkmm_geom g;

		switch (rnd(5)) {
		case 0:
			mm.form = RKMM_FORM_CUBE;
			break;
		case 1:
			mm.form = RKMM_FORM_FLAT;
			mm.c_pitch = (mm.n + 63) / 64 * 64 * 4 + 16 * rnd(40);
			if (mm.c_pitch > 131072)
				mm.c_pitch = 0;
			break;
		case 2:
			if (mm.k % 32 == 0 && mm.types != RKMM_T_I4I16)
				mm.a_pitch = mm.k * 2 + 16 * rnd(40);
			break;
		default:
			break;
		}
		mm.lanes = 1 + rnd(3);
		mm.free_slice = rnd(2);
		if (mm.types == RKMM_T_I4I16 && rnd(3) == 0)
			mm.k = 1920 + rnd(129);
		if (mm.types == RKMM_T_I8I8 && mm.k < 512)
			mm.a_pitch = 0;
		if (rnd(6) == 0 && mm.k > 1024)
			mm.slice = 32 * (5 + rnd(mm.k / 32 < 330 ? mm.k / 32 - 5 : 325));
		if (mm.a_pitch && mm.slice && mm.k % mm.slice)
			mm.a_pitch = 0;
		if (mm.a_pitch && !mm.slice && mm.k > 10752)
			mm.a_pitch = 0;
		reason = rkmm_geometry(chip, &mm, &g);
		if (reason == RKMM_REASON_SIZE)
			continue;
		if (reason)
			print_error("%s %ux%ux%u form %d: %s\n", rkmm_types_name(mm.types), mm.m,
				    mm.k, mm.n, (int)mm.form, rkmm_reason_text(reason));
		assert_int_equal(reason, RKMM_OK);
		served++;
		check_tiling(&g, mm.m);
		if (mm.m > 1)
			check_tiling(&g, 1 + rnd(mm.m));
	}
	assert_true(served > 5000);
}

static void edge(enum rkmm_types types, uint32_t m, uint32_t k, uint32_t n)
{
	struct rkmm_matmul mm = matmul(types, m, k, n);
	struct rkmm_geom g;

	if (m > 129 && n > 65)
		return;
	g = geometry(&mm);
	check_tiling(&g, m);
	mm.form = RKMM_FORM_CUBE;
	g = geometry(&mm);
	check_tiling(&g, m);
}

/* Odd shapes around every alignment, every type, flat or batch and cube. */
static void test_edges(void **state)
{
	static const uint32_t ms[] = { 1, 2, 3, 4, 5, 63, 64, 65, 66, 127, 128, 129, 1022, 1023 };
	static const uint32_t ks[] = { 1, 31, 32, 33, 63, 64, 65, 1024, 10752, 10753 };
	static const uint32_t ns[] = { 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 8192, 8193, 25600 };
	uint32_t t, m, k, n;

	(void)state;
	for (t = 0; t < RKMM_T_COUNT; t++)
		for (m = 0; m < 14; m++)
			for (k = 0; k < 10; k++)
				for (n = 0; n < 13; n++)
					edge(t, ms[m], ks[k], ns[n]);
}

/* C wider than a notch reaches: one row per program */
static void test_wide(void **state)
{
	struct rkmm_geom g = simple(RKMM_T_F16F32, 3, 64, 40000);

	(void)state;
	assert_int_equal(g.rows, 1);
	assert_int_equal(g.programs, 3 * 5);
	check_tiling(&g, 3);
	g = simple(RKMM_T_F16F32, 3, 64, 32768);
	assert_int_equal(g.rows, 3);
	check_tiling(&g, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_worked_addresses),
		cmocka_unit_test(test_int4_tables),
		cmocka_unit_test(test_row_caps),
		cmocka_unit_test(test_vendor_splits),
		cmocka_unit_test(test_grains),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_sizes_and_layouts),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_wide),
	};

	return cmocka_run_group_tests_name("prog geometry", tests, NULL, NULL);
}
