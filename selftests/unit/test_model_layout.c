// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where operands are read and results are written: the worked numbers of
 * hw 02 §3.5, pitches, windows, batches.
 */
#include "test_model_rig.h"

#define A	0x10000000
#define B	0x20000000
#define C	0x30000000

static void set_up(struct rig *rig, struct data *d, const struct job *j, u32 c_len)
{
	rig_open(rig);
	rig_map(rig, 0xfff00000, 4096);
	rig_map(rig, j->a, 1 << 20);
	rig_map(rig, j->b, b_bytes(j));
	rig_map(rig, j->c, c_len);
	data_random(d, j, j->m * 31 + j->k + j->n);
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
}

/*
 * One nonzero element of A and one of B at the addresses the sheet works out;
 * one nonzero C where it says.
 */
static void spot(const struct prog *p, u32 a, u32 av, u32 b, u32 bv, u32 bytes, u32 c, s32 want)
{
	struct rig rig;
	u32 i;

	rig_open(&rig);
	rig_map(&rig, 0xfff00000, 4096);
	memset(rig_map(&rig, A, 0x10000), 0, 0x10000);
	memset(rig_map(&rig, B, 0x10000), 0, 0x10000);
	memset(rig_map(&rig, C, 0x10000), 0, 0x10000);
	*rig_at(&rig, a) = av & 0xff;
	*rig_at(&rig, b) = bv & 0xff;
	if (bytes == 2) {
		*rig_at(&rig, a + 1) = av >> 8;
		*rig_at(&rig, b + 1) = bv >> 8;
	}
	run_one(&rig, p, 0x0d);
	assert_good(&rig);
	assert_int_equal((s32)get_out(rig_at(&rig, c), 4), want);
	memset(rig_at(&rig, c), 0, 4);
	for (i = 0; i < 0x10000; i++)
		assert_int_equal(*rig_at(&rig, C + i), 0);
	rig_close(&rig);
}

static void worked_numbers(void **state)
{
	struct job i8 = { I8I32, 8, 128, 64, A, B, C, .v = 0xb1 };
	struct job f16 = { F16F32, 8, 64, 48, A, B, C, .v = 0xb1 };
	struct prog p;

	(void)state;
	/* A(3,100) * B(100,33): tile 1*4+3, index 1*32+4 */
	flat_program(&p, &i8);
	spot(&p, 0x100001e4, 7, B + 7 * 1024 + 36, 0xfd, 1, C + (3 * 64 + 33) * 4, -21);
	/* A(2,40) * B(40,33) at 20001428 */
	spot(&p, A + 2 * 128 + 40, 0xf9, 0x20001428, 5, 1, C + (2 * 64 + 33) * 4, -35);
	/* C(2,5) = 30000214 */
	spot(&p, A + 2 * 128, 9, B + 5 * 32, 9, 1, 0x30000214, 81);

	i8.pitch = 192;
	flat_program(&p, &i8);
	/* C(1,0) = 30000100, C(2,5) = 30000414 */
	spot(&p, A + 1 * 128, 9, B, 9, 1, 0x30000100, 81);
	spot(&p, A + 2 * 128, 9, B + 5 * 32, 9, 1, 0x30000414, 81);

	i8.pitch = 0;
	cube_program(&p, &i8);
	/* A(3,100) = 10000334; C(2,5) = 300000a4 */
	spot(&p, 0x10000334, 3, B + 3 * 1024 + 4, 4, 1, C + 16 * 3, 12);
	spot(&p, A + 16 * 2, 3, B + 5 * 32, 4, 1, 0x300000a4, 12);

	/* fp16 B(33,17): 20000c42; 2.0 * 3.0 */
	flat_program(&p, &f16);
	spot(&p, A + 128 + 66, 0x4000, 0x20000c42, 0x4200, 2, C + (48 + 17) * 4, 0x40c00000);
}

/* A(row 3, k=5) is byte 10000182, high nibble; C(row 3, n=70) is 30000e0c. */
static void worked_batch(void **state)
{
	struct job j = { I4I16, 4, 128, 128, A, B, C, .v = 0 };
	struct prog p;
	struct rig rig;
	u32 tile = 1 * 4 + 0, index = tile * 2048 + 6 * 32 + 5;

	(void)state;
	batch_program(&p, &j);
	rig_open(&rig);
	rig_map(&rig, 0xfff00000, 4096);
	memset(rig_map(&rig, A, 0x1000), 0, 0x1000);
	memset(rig_map(&rig, B, 128 * 64), 0, 128 * 64);
	rig_map(&rig, C, 4 * 4 * 2 * 128);
	*rig_at(&rig, 0x10000182) = 0x70;
	*rig_at(&rig, B + index / 2) = index & 1 ? 0x90 : 0x09;
	run_one(&rig, &p, 0x0d);
	assert_good(&rig);
	assert_int_equal((s16)get_out(rig_at(&rig, 0x30000e0c), 2), -49);
	assert_int_equal((s16)get_out(rig_at(&rig, 0x30000e0e), 2), 0);
	rig_close(&rig);
}

/* hw 02 §6.2: 2H lines of K/2 bytes, odd ones zero; every fourth slot of C counts. */
static void batches(void **state)
{
	static const u32 cases[][3] = {
		{ 2, 64, 64 }, { 16, 64, 128 }, { 3, 128, 192 }, { 11, 1536, 64 },
		{ 16, 1024, 128 }, { 22, 768, 64 }, { 8, 2048, 64 }, { 4, 4096, 64 },
		{ 64, 256, 64 },
	};
	u32 i, m, n;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct job j = { I4I16, cases[i][0], cases[i][1], cases[i][2], A, B, C, .v = 0 };
		struct rig rig;
		struct data d;
		struct prog p;

		set_up(&rig, &d, &j, 4 * j.m * (j.n / 64) * 128);
		memset(rig_at(&rig, A), 0, j.m * j.k);
		put_a_rows(rig_at(&rig, A), &d, &j, j.k);
		batch_program(&p, &j);
		run_one(&rig, &p, 0x0d);
		assert_good(&rig);
		for (m = 0; m < j.m; m++)
			for (n = 0; n < j.n; n++) {
				u32 at = (4 * m + 4 * j.m * (n / 64)) * 64 + n % 64;

				assert_int_equal(get_out(rig_at(&rig, C + 2 * at), 2),
						 data_out(&d, &j, m, n));
			}
		tear_down(&rig, &d);
	}
}

/* A in a matrix of wider rows, at ork's 2, 4 and 8 times the row (hw 02 §3.4) */
static void wide_a(void **state)
{
	u32 times, pair;

	(void)state;
	for (pair = 0; pair < I4I16; pair++)
		for (times = 2; times <= 8; times *= 2) {
			struct job j = { pair, 9, 96, 64, A, B, C, .v = 0 };
			u32 row = j.k * pair_info[pair].bits / 8;
			struct rig rig;
			struct data d;
			struct prog p;

			if (pair == I8I8) {
				j.mult = 0x4000;
				j.shift = 17;
			}
			set_up(&rig, &d, &j, c_bytes(&j));
			put_a_rows(rig_at(&rig, A), &d, &j, row * times);
			flat_program(&p, &j);
			prog_set(&p, 0x107c, row * times / 16);
			run_one(&rig, &p, 0x0d);
			assert_good(&rig);
			check_rows(&rig, &d, &j);
			tear_down(&rig, &d);
		}
}

static void assert_untouched(struct rig *rig, u32 addr, u32 len)
{
	u32 i;

	for (i = 0; i < len; i++)
		assert_int_equal(*rig_at(rig, addr + i), 0xa5);
}

/* Both notches from the pitch: a true tile in a wider C; the gaps stay as they are. */
static void tile_in_wide_c(void **state)
{
	u32 pair;

	(void)state;
	for (pair = 0; pair < I4I16; pair++) {
		struct job j = { pair, 7, 64, 64, A, B, C, .v = 0 };
		u32 ob = pair_info[pair].out_bytes, s = 192, m, n;
		struct rig rig;
		struct data d;
		struct prog p;

		if (pair == I8I8) {
			j.mult = 0x4000;
			j.shift = 16;
		}
		set_up(&rig, &d, &j, j.m * s * ob);
		put_a_rows(rig_at(&rig, A), &d, &j, j.k * pair_info[pair].bits / 8);
		flat_program(&p, &j);
		prog_set(&p, 0x4038, (s * ob / 16 - 1) * 0x10001);
		prog_set(&p, 0x403c, (s - 1) << 16 | (j.n - 1));
		run_one(&rig, &p, 0x0d);
		assert_good(&rig);
		for (m = 0; m < j.m; m++) {
			for (n = 0; n < j.n; n++)
				assert_int_equal(get_out(rig_at(&rig, C + (m * s + n) * ob), ob),
						 data_out(&d, &j, m, n));
			assert_untouched(&rig, C + (m * s + j.n) * ob, (s - j.n) * ob);
		}
		tear_down(&rig, &d);
	}
}

/* Seed 004's form: the first row has a pitch of its own. */
static void offset_stride(void **state)
{
	struct job j = { F16F32, 5, 64, 96, A, B, C, .pitch = 256 };
	struct rig rig;
	struct data d;
	struct prog p;
	u32 m;

	(void)state;
	set_up(&rig, &d, &j, c_bytes(&j));
	put_a_rows(rig_at(&rig, A), &d, &j, j.k * 2);
	flat_program(&p, &j);
	run_one(&rig, &p, 0x0d);
	assert_good(&rig);
	check_rows(&rig, &d, &j);
	for (m = 1; m + 1 < j.m; m++)
		assert_untouched(&rig, C + (j.n + (m - 1) * j.pitch + j.n) * 4,
				 (j.pitch - j.n) * 4);
	tear_down(&rig, &d);
}

/* Runs of 16 channels with gaps of 16: fp16 output with the fp32 steps */
static void fp16_gaps(void **state)
{
	struct job j = { F16F16, 6, 64, 48, A, B, C, .v = 0 };
	struct rig rig;
	struct data d;
	struct prog p;
	u32 m, n;

	(void)state;
	set_up(&rig, &d, &j, j.m * j.n * 4);
	npu_core_set_laws(rig.core, false);
	put_a_rows(rig_at(&rig, A), &d, &j, j.k * 2);
	flat_program(&p, &j);
	prog_set(&p, 0x40c0, 0x40);
	prog_set(&p, 0x4038, (j.n / 4 - 1) * 0x10001);
	run_one(&rig, &p, 0x0d);
	assert_good(&rig);
	for (m = 0; m < j.m; m++)
		for (n = 0; n < j.n; n++) {
			u32 at = C + m * j.n * 4 + n / 16 * 64 + n % 16 * 2;

			assert_int_equal(get_out(rig_at(&rig, at), 2), data_out(&d, &j, m, n));
			if (n % 16 == 0)
				assert_untouched(&rig, at + 32, 32);
		}
	tear_down(&rig, &d);
}

/*
 * The vendor's folded int8 program: M columns of one line inside a cube of T,
 * SURF T-M with line mode off or -3M with group mode when T = M (hw 02 §8).
 */
static void folded_window(void **state)
{
	static const u32 cases[][2] = { { 36, 96 }, { 20, 128 }, { 8, 8 }, { 1, 5 } };
	u32 i, m, n, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct job j = { I8I32, cases[i][0], 192, 96, A, B, C, .v = 0 };
		u32 t = cases[i][1];
		struct rig rig;
		struct data d;
		struct prog p;

		set_up(&rig, &d, &j, j.n / 4 * t * 16);
		for (m = 0; m < j.m; m++)
			for (k = 0; k < j.k; k++)
				*rig_at(&rig, A + (k / 16 * t + m) * 16 + k % 16) =
					d.a[m * j.k + k] & 0xff;
		flat_program(&p, &j);
		prog_set(&p, 0x1010, 0x20);
		prog_set(&p, 0x1020, j.m << 16 | 1);
		prog_set(&p, 0x1028, j.m);
		prog_set(&p, 0x1044, j.k / 64 * j.m);
		prog_set(&p, 0x1084, j.m << 16 | 1);
		prog_set(&p, 0x3014, j.m - 1);
		prog_set(&p, 0x4024, 16 * t);
		prog_set(&p, 0x4030, j.m - 1);
		prog_set(&p, 0x4034, 0);
		prog_set(&p, 0x4038, 0);
		prog_set(&p, 0x405c, j.m - 1);
		prog_set(&p, 0x40c0, 16 * t * 8);
		prog_set(&p, 0x1080, t - j.m);
		if (t == j.m) {
			prog_set(&p, 0x100c, 0);
			prog_set(&p, 0x107c, 4 * j.m);
			prog_set(&p, 0x1080, (0u - 3 * j.m) & 0xfffffff);
		}
		run_one(&rig, &p, 0x0d);
		assert_good(&rig);
		for (n = 0; n < j.n; n++) {
			for (m = 0; m < j.m; m++)
				assert_int_equal(get_out(rig_at(&rig, C + (n / 4 * t + m) * 16 +
								n % 4 * 4), 4),
						 data_out(&d, &j, m, n));
			assert_untouched(&rig, C + (n / 4 * t + j.m) * 16, (t - j.m) * 16);
		}
		tear_down(&rig, &d);
	}
}

/* A nonzero PAD_TOP moves every row down (hw 02 §3.1, hw 03 O10) */
static void pad_top(void **state)
{
	struct job j = { I8I32, 9, 64, 64, A, B, C, .v = 0 };
	struct rig rig;
	struct data d;
	struct prog p;
	u32 m, n;

	(void)state;
	set_up(&rig, &d, &j, c_bytes(&j));
	put_a_rows(rig_at(&rig, A), &d, &j, j.k);
	flat_program(&p, &j);
	prog_set(&p, 0x1068, 2);
	run_one(&rig, &p, 0x0d);
	assert_good(&rig);
	for (m = 0; m < j.m; m++)
		for (n = 0; n < j.n; n++)
			assert_int_equal(get_out(rig_at(&rig, C + (m * j.n + n) * 4), 4),
					 m < 2 ? 0 : data_out(&d, &j, m - 2, n));
	tear_down(&rig, &d);
}

/* Int4 with fewer atoms than a group fills: 16 or 32 of 64 columns (hw 02 §3.5) */
static void int4_part_of_group(void **state)
{
	u32 s, n;

	(void)state;
	for (s = 2; s <= 4; s += 2) {
		struct job j = { I4I16, 1, 128, 128, A, B, C, .v = 0 };
		struct rig rig;
		struct data d;
		struct prog p;

		set_up(&rig, &d, &j, j.n * 2);
		npu_core_set_laws(rig.core, false);
		put_a_rows(rig_at(&rig, A), &d, &j, j.k / 2);
		flat_program(&p, &j);
		prog_set(&p, 0x4050, (s - 1) * 0x124 | 2);
		run_one(&rig, &p, 0x0d);
		assert_int_equal(rig.report.cls, NPU_WRONG);
		for (n = 0; n < j.n; n++) {
			if (n % 64 < s * 8)
				assert_int_equal(get_out(rig_at(&rig, C + n * 2), 2),
						 data_out(&d, &j, 0, n));
			else
				assert_untouched(&rig, C + n * 2, 2);
		}
		tear_down(&rig, &d);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(worked_numbers),
		cmocka_unit_test(worked_batch),
		cmocka_unit_test(batches),
		cmocka_unit_test(wide_a),
		cmocka_unit_test(tile_in_wide_c),
		cmocka_unit_test(offset_stride),
		cmocka_unit_test(fp16_gaps),
		cmocka_unit_test(folded_window),
		cmocka_unit_test(pad_top),
		cmocka_unit_test(int4_part_of_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
