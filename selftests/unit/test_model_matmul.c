// SPDX-License-Identifier: GPL-2.0-only
/* Matmuls of all type pairs and dialects against plain loops. */
#include "test_model_rig.h"

#define A	0x10000000
#define B	0x20000000
#define C	0x30000000

static void set_up(struct rig *rig, struct data *d, const struct job *j, u32 seed)
{
	rig_open(rig);
	rig_map(rig, 0xfff00000, 4096);
	rig_map(rig, j->a, a_bytes(j));
	rig_map(rig, j->b, b_bytes(j));
	rig_map(rig, j->c, c_bytes(j));
	data_random(d, j, seed);
	put_weight(rig_at(rig, j->b), d, j);
}

static void tear_down(struct rig *rig, struct data *d)
{
	data_free(d);
	rig_close(rig);
}

static void assert_good(const struct rig *rig)
{
	assert_null(rig->report.law);
	assert_int_equal(rig->report.cls, NPU_OK);
	assert_int_equal(rig->report.tasks_done, 1);
	assert_int_equal(rig->report.unknown_regs, 0);
}

static void flat(const struct job *j, u32 seed)
{
	struct rig rig;
	struct data d;
	struct prog p;

	set_up(&rig, &d, j, seed);
	put_a_rows(rig_at(&rig, j->a), &d, j, j->k * pair_info[j->pair].bits / 8);
	flat_program(&p, j);
	run_one(&rig, &p, 0x0d);
	assert_good(&rig);
	check_rows(&rig, &d, j);
	tear_down(&rig, &d);
}

static void cube(const struct job *j, u32 seed)
{
	struct rig rig;
	struct data d;
	struct prog p;

	set_up(&rig, &d, j, seed);
	put_a_cube(rig_at(&rig, j->a), &d, j);
	cube_program(&p, j);
	run_one(&rig, &p, 0x0d);
	assert_good(&rig);
	check_cube(&rig, &d, j);
	tear_down(&rig, &d);
}

/* hw 02 §2: the three captured jobs at their captured addresses */
static void captures(void **state)
{
	static const struct job jobs[] = {
		{ I8I32, 4, 32, 32, 0xfffe4000, 0xfffe5000, 0xfffe2000, .v = 0xb1 },
		{ F16F32, 4, 32, 16, 0xffff5000, 0xffff6000, 0xffff3000, .v = 0xb1 },
		{ I4I16, 1, 64, 64, 0xffffd000, 0xffffc000, 0xffffb000, .v = 0xb1 },
	};
	u32 i;

	(void)state;
	for (i = 0; i < 3; i++)
		flat(&jobs[i], i);
}

static const u32 shapes[][3] = {
	{ 1, 32, 64 }, { 1, 1024, 64 }, { 2, 64, 64 }, { 3, 96, 128 }, { 4, 32, 64 },
	{ 5, 160, 192 }, { 7, 32, 320 }, { 8, 128, 64 }, { 13, 224, 128 }, { 33, 64, 64 },
	{ 64, 256, 64 }, { 65, 96, 192 }, { 130, 64, 64 },
};

static void each_shape(void (*run)(const struct job *j, u32 seed), bool int4)
{
	u32 pair, i;

	for (pair = 0; pair < PAIRS; pair++)
		for (i = 0; i < ARRAY_SIZE(shapes); i++) {
			u32 g = pair_info[pair].group;
			struct job j = {
				.pair = pair,
				.m = shapes[i][0],
				.k = shapes[i][1],
				.n = shapes[i][2] / g * g + (i % 3) * g,
				.a = A, .b = B, .c = C,
			};

			/* Flat int4 programs have one row (hw 02 §6.1) */
			if (pair == I4I16 && !int4)
				j.m = 1;
			if (pair == I8I8) {
				j.mult = 0x4000 - 37 * i;
				j.shift = 14 + i % 9;
				j.offset = (s32)i - 6;
			}
			run(&j, pair * 100 + i);
		}
}

static void flat_grid(void **state)
{
	(void)state;
	each_shape(flat, false);
}

static void cube_grid(void **state)
{
	(void)state;
	each_shape(cube, true);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(captures),
		cmocka_unit_test(flat_grid),
		cmocka_unit_test(cube_grid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
