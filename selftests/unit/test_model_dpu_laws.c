// SPDX-License-Identifier: GPL-2.0-only
/*
 * Broken laws of tasks of the DPU alone (hw 04 §2 to §4, §10): what a strict core
 * names, and what a loose one does.
 */
#include "test_model_cube.h"

/* What a loose core makes of it */
enum end {
	HANGS,
	ZERO,
	GARBAGE,
	COMPUTES,
};

struct breach {
	enum type type;
	u32 op;			/* 4070 of a two-input program, 0: a copy */
	struct {
		u32 offset, value;
	} set[3];
	enum end end;
	const char *law;
};

#define ADD	0x108202c0
#define MUL	0x108003c4
#define DIV	0x108303c0
#define ADD8	0x904202c0
#define MUL8	0x904002c4
#define MUL16	0x908002c4

static const struct breach breaches[] = {
	/* Input and output by memory, both sides */
	{ F16, 0, { { 0x400c, 0x1e4 } }, HANGS, "hw 04 1.2" },
	{ F16, 0, { { 0x5044, 0x17848 } }, HANGS, "hw 04 1.2" },
	{ F16, 0, { { 0x5044, 0x17859 } }, HANGS, "hw 04 1.2" },
	{ F16, 0, { { 0x400c, 0x1e3 } }, HANGS, "hw 04 1.2" },
	{ F16, 0, { { 0x400c, 0x400001e5 } }, HANGS, "hw 04 1.2" },
	/* Types */
	{ F16, 0, { { 0x5044, 0x27881 }, { 0x4010, 0x90000004 } }, HANGS, "hw 03 O5" },
	{ F16, 0, { { 0x5044, 0xf821 } }, HANGS, "hw 03 O6" },
	{ I8, 0, { { 0x4010, 0x48000002 } }, HANGS, "hw 03 O6" },
	{ I8, 0, { { 0x4010, 0x20000000 } }, HANGS, "pair of input and output" },
	{ F16, 0, { { 0x4010, 0x08000002 } }, HANGS, "pair of input and output" },
	{ I16, 0, { { 0x4010, 0x84000001 }, { 0x4050, 0x126 } }, HANGS, "pair of input and" },
	/* Sizes */
	{ F16, 0, { { 0x500c, 5 } }, HANGS, "disagree" },
	{ F16, 0, { { 0x5010, 2 } }, HANGS, "disagree" },
	{ F16, 0, { { 0x5014, 7 } }, HANGS, "disagree" },
	{ F16, 0, { { 0x4058, 7 } }, HANGS, "disagree" },
	{ F16, 0, { { 0x405c, 0x20007 } }, HANGS, "write rectangle" },
	{ F16, 0, { { 0x4050, 0x126 } }, HANGS, "SIZE_E" },
	{ F16, 0, { { 0x4010, 0xa8000002 }, { 0x4084, 1 } }, HANGS, "SIZE_E" },
	/* The second operand */
	{ F16, ADD, { { 0x5034, 1 } }, HANGS, "ERDMA does not bring" },
	{ F16, 0, { { 0x5034, 0x40000008 } }, HANGS, "EW does not take" },
	{ F16, MUL, { { 0x4070, 0x10800384 } }, HANGS, "EW does not take" },
	{ F16, MUL, { { 0x5034, 0x80000008 } }, HANGS, "data mode 2 or 3" },
	{ F16, MUL, { { 0x5034, 0xc0000008 } }, HANGS, "data mode 2 or 3" },
	{ F16, ADD, { { 0x5034, 0x40000004 } }, HANGS, "sizes of an operand" },
	{ F16, ADD, { { 0x4070, 0x104202c0 } }, HANGS, "sizes of an operand" },
	{ I8, MUL8, { { 0x5034, 0x4000000c } }, HANGS, "sizes of an operand" },
	{ F16, ADD, { { 0x5044, 0x17949 } }, HANGS, "combined reads" },
	{ F16, ADD, { { 0x4070, 0x109202c0 } }, HANGS, "two-valued" },
	{ F16, 0, { { 0x5048, 0x2000 } }, HANGS, "pooling" },
	{ I8, ADD8, { { 0x4070, 0x904302c0 } }, HANGS, "hw 04 7" },
	/* Vectors */
	{ F16, 0, { { 0x4040, 0x20150 } }, HANGS, "no RDMA brings" },
	{ F16, 0, { { 0x4060, 0x42 }, { 0x4068, 1 }, { 0x5028, 2 } }, HANGS, "no RDMA brings" },
	{ F16, 0, { { 0x501c, 2 }, { 0x5020, VEC } }, HANGS, "no DPU stage takes" },
	{ F16, 0, { { 0x4040, 0x20140 }, { 0x4048, 1 }, { 0x501c, 0xe } }, HANGS, "hw 04 2.3" },
	/* Conversions */
	{ F16, 0, { { 0x4084, 1 } }, ZERO, "hw 03 O3" },
	{ F16, DIV, { { 0x4084, 0x10001 }, { 0x5044, 0x17841 } }, ZERO, "hw 03 O3" },
	{ I8, 0, { { 0x4084, 0x10001 } }, GARBAGE, "as if they were fp16" },
	{ I8, 0, { { 0x5044, 0x7809 } }, GARBAGE, "as if they were fp16" },
	/* Only a product takes a vector (hw 03 O17) */
	{ F16, ADD, { { 0x5034, 8 }, { 0x5038, VEC } }, GARBAGE, "hw 03 O17" },
	{ I8, ADD8, { { 0x5034, 4 }, { 0x5038, VEC } }, GARBAGE, "hw 03 O17" },
	/* Strict only */
	{ I8, 0, { { 0x4040, 0x42 }, { 0x4048, 0x10100 } }, COMPUTES, "negative values" },
	{ I16, 0, { { 0x4060, 0x42 }, { 0x4068, 0x10000 }, { 0x4010, 0x24000401 } }, COMPUTES,
	  "negative values" },
	{ F16, ADD, { { 0x4078, 2 } }, COMPUTES, "operand conversion" },
	{ F16, ADD, { { 0x4074, 1 } }, COMPUTES, "operand conversion" },
	{ F16, 0, { { 0x4088, 1 } }, COMPUTES, "for integers only" },
	{ F16, 0, { { 0x40c0, 0x10 } }, COMPUTES, "SURFACE_ADD" },
	{ F16, 0, { { 0x405c, 0x10005 } }, COMPUTES, "rectangle smaller" },
	{ F16, DIV, { { 0x4084, 1 }, { 0x5044, 0x17841 }, { 0x4060, 0x20040 } }, COMPUTES,
	  "converted fp16 only" },
	{ F16, 0, { { 0x4034, 0x01400001 } }, COMPUTES, "hw 04 3.3" },
};

static const struct shape shape_of[TYPES] = {
	{ I8, 7, 2, 32 }, { I16, 7, 2, 16 }, { F16, 7, 2, 16 },
};

static bool all_bytes(struct rig *rig, u32 len, u8 byte)
{
	u32 i;

	for (i = 0; i < len; i++)
		if (*rig_at(rig, DST + i) != byte)
			return false;
	return true;
}

static void run(struct rig *rig, const struct prog *p, bool strict)
{
	struct link l = { .p = *p, .start = 0x18 };

	npu_core_reset(rig->core);
	npu_core_set_laws(rig->core, strict);
	memset(rig_at(rig, DST), 0xa5, 1024);
	links_kick(rig, links_store(rig, &l, 1), 1, false, 0x300);
}

static void each(void **state)
{
	u32 i, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(breaches); i++) {
		const struct breach *b = &breaches[i];
		const struct shape *s = &shape_of[b->type];
		s32 *v = malloc(4 * shape_values(s));
		struct rig rig;
		struct prog p;

		rig_open(&rig);
		rig_map(&rig, IMAGE, 0x4000);
		rig_map(&rig, SRC, 0x1000);
		rig_map(&rig, SRC2, 0x1000);
		rig_map(&rig, VEC, 0x1000);
		rig_map(&rig, DST, 0x1000);
		cube_random(v, s, i);
		cube_put(rig_at(&rig, SRC), v, s);
		cube_put(rig_at(&rig, SRC2), v, s);
		if (b->op)
			dpu_two_inputs(&p, s, b->op);
		else
			dpu_program(&p, s);
		/* Without the change the program is a good one. */
		if (b->op != DIV) {
			run(&rig, &p, true);
			assert_int_equal(rig.report.cls, NPU_OK);
		}
		for (k = 0; k < 3 && b->set[k].offset; k++)
			prog_set(&p, b->set[k].offset, b->set[k].value);

		run(&rig, &p, true);
		if (!rig.report.law || !strstr(rig.report.law, b->law))
			print_error("case %u: %s: %s\n", i, npu_class_name(rig.report.cls),
				    rig.report.law);
		assert_int_equal(rig.report.cls, b->end == HANGS ? NPU_HANG_0 : NPU_WRONG);
		assert_non_null(rig.report.law);
		assert_non_null(strstr(rig.report.law, b->law));
		assert_non_null(strstr(rig.report.law, "hw 0"));
		assert_int_equal(rig.report.tasks_done, 0);
		assert_true(all_bytes(&rig, 1024, 0xa5));
		assert_int_equal(npu_core_read(rig.core, 0x2c) & 0x1ffff, 0);

		run(&rig, &p, false);
		if (b->end == HANGS) {
			assert_int_equal(rig.report.cls, NPU_HANG_0);
			assert_true(all_bytes(&rig, 1024, 0xa5));
		} else {
			assert_int_equal(rig.report.tasks_done, 1);
			assert_int_equal(rig.report.cls, b->end == COMPUTES ? NPU_OK : NPU_WRONG);
			assert_int_equal(npu_core_read(rig.core, 0x28), 0x100);
			assert_int_equal(all_bytes(&rig, shape_bytes(s), 0), b->end == ZERO);
		}
		free(v);
		rig_close(&rig);
	}
}

/* Blocks that nobody programmed, and sets of blocks that no task uses */
static void enables(void **state)
{
	static const u32 starts[] = { 0x08, 0x10, 0x19, 0x20, 0x40, 0x38, 0x2d, 0x3d, 0x7f, 0x1c };
	const struct shape s = { F16, 4, 1, 8 };
	struct rig rig;
	struct prog p;
	u32 i, n = 0;

	(void)state;
	rig_open(&rig);
	rig_map(&rig, IMAGE, 0x4000);
	rig_map(&rig, SRC, 0x1000);
	rig_map(&rig, DST, 0x1000);
	dpu_program(&p, &s);
	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		npu_core_reset(rig.core);
		run_one(&rig, &p, starts[i]);
		assert_int_equal(rig.report.cls, NPU_HANG_0);
		assert_non_null(strstr(rig.report.law, "hw 0"));
	}
	/* The DPU's list without that of its read DMAs */
	for (i = 0; i < p.n; i++)
		if (p.e[i] >> 48 == DPU)
			p.e[n++] = p.e[i];
	p.n = n;
	npu_core_reset(rig.core);
	run_one(&rig, &p, 0x18);
	assert_int_equal(rig.report.cls, NPU_HANG_0);
	assert_non_null(strstr(rig.report.law, "never programmed"));
	rig_close(&rig);
}

/* hw 04 §10 (f): without 0xe in 5004 the read DMAs repeat the first task's (hw 04 §0.5). */
static void pointers(void **state)
{
	const struct shape s = { F16, 4, 1, 8 };
	struct link *l = calloc(2, sizeof(*l));
	s32 a[32], b[32];
	struct rig rig;
	u32 i;

	(void)state;
	rig_open(&rig);
	rig_map(&rig, IMAGE, 0x4000);
	rig_map(&rig, SRC, 0x1000);
	rig_map(&rig, SRC2, 0x1000);
	rig_map(&rig, VEC, 0x1000);
	rig_map(&rig, DST, 0x1000);
	cube_random(a, &s, 1);
	cube_random(b, &s, 2);
	cube_put(rig_at(&rig, SRC), a, &s);
	cube_put(rig_at(&rig, SRC2), b, &s);
	for (i = 0; i < 2; i++)
		l[i].start = 0x18;
	/* Different operations, both full: each its own */
	dpu_two_inputs(&l[0].p, &s, 0x108202c0);
	prog_set(&l[0].p, 0x4020, VEC);
	dpu_two_inputs(&l[1].p, &s, 0x108003c4);
	links_kick(&rig, links_store(&rig, l, 2), 2, false, 0x300);
	assert_int_equal(rig.report.cls, NPU_OK);
	for (i = 0; i < 32; i++) {
		float x = half_to_float((u16)a[i]), y = half_to_float((u16)b[i]);

		assert_int_equal(cube_get(rig_at(&rig, VEC), &s, i / 8, i % 8),
				 float_to_half(x + y));
		assert_int_equal(cube_get(rig_at(&rig, DST), &s, i / 8, i % 8),
				 float_to_half(x * y));
	}
	/* The second task leaves its writes in group 0 while group 1 runs next. */
	npu_core_reset(rig.core);
	prog_set(&l[1].p, 0x4004, 0xa);
	prog_set(&l[0].p, 0x4004, 0xa);
	assert_int_equal(links_kick(&rig, links_store(&rig, l, 2), 2, false, 0x300), NPU_HANG_P);
	assert_non_null(strstr(rig.report.law, "S_POINTER"));
	free(l);
	rig_close(&rig);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each),
		cmocka_unit_test(enables),
		cmocka_unit_test(pointers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
