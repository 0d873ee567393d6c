// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buffers that change from kick to kick (hw 03 S2, M3, M4): which results are right, and what the
 * others are.
 */
#include "test_model_rig.h"

#define A(i)		(0x10000000u + (i) * 0x100000u)
#define C(i)		(0x30000000u + (i) * 0x100000u)
#define B		0x20000000u
#define IMAGE		0xfff00000u
#define BUFFERS		5

/* A row of A is one line of 64 bytes. */
static const struct job shape = { I8I32, 16, 64, 32, 0, B, 0, .v = 0xb1 };
static const struct job row = { I8I32, 1, 64, 32, 0, B, 0, .v = 0xb1 };

static u32 region_start(void *ctx, u32 addr)
{
	struct rig *rig = ctx;
	u32 i;

	for (i = 0; i < rig->nregions; i++)
		if (addr - rig->regions[i].addr < rig->regions[i].len)
			return rig->regions[i].addr;
	return addr;
}

static void open_all(struct rig *rig, u32 quirks)
{
	u32 i;

	rig_open(rig);
	rig->env.buffer = region_start;
	rig_map(rig, IMAGE, BUFFERS * 960);
	rig_map(rig, B, b_bytes(&shape));
	for (i = 0; i < BUFFERS; i++)
		rig_map(rig, A(i), 2 * a_bytes(&shape));
	for (i = 0; i < BUFFERS; i++)
		rig_map(rig, C(i), c_bytes(&shape));
	npu_core_set_quirks(rig->core, quirks);
}

/* Random operands into A and B, the program, the run. */
static void kick(struct rig *rig, struct data *d, struct job *j, u32 seed)
{
	struct prog p;

	data_random(d, j, seed);
	put_a_rows(rig_at(rig, j->a), d, j, 64);
	put_weight(rig_at(rig, B), d, j);
	memset(rig_at(rig, j->c), 0xa5, c_bytes(j));
	flat_program(&p, j);
	run_one(rig, &p, 0x0d);
	assert_int_equal(rig->report.cls, NPU_OK);
	assert_null(rig->report.law);
}

static void right(struct rig *rig, const struct job *what, u32 a, u32 c, u32 seed)
{
	struct job j = *what;
	struct data d;

	j.a = a;
	j.c = c;
	kick(rig, &d, &j, seed);
	check_rows(rig, &d, &j);
	assert_int_equal(rig->report.stale_kicks, 0);
	assert_int_equal(rig->report.lost_kicks, 0);
	data_free(&d);
}

/* The first @rows rows of A are those of the kick with @old_seed, the others are right. */
static void stale(struct rig *rig, const struct job *what, u32 a, u32 seed, u32 old_seed, u32 rows)
{
	struct job j = *what;
	struct data d, old;
	u32 wrong = 0, i;

	j.a = a;
	j.c = C(0);
	kick(rig, &d, &j, seed);
	assert_int_equal(rig->report.stale_kicks, 1);
	data_random(&old, &j, old_seed);
	for (i = 0; i < rows * j.k; i++) {
		wrong += d.a[i] != old.a[i];
		d.a[i] = old.a[i];
	}
	assert_true(wrong > rows * j.k / 2);
	data_multiply(&d, &j);
	check_rows(rig, &d, &j);
	data_free(&old);
	data_free(&d);
}

static void one_buffer(void **state)
{
	struct rig rig;
	u32 i;

	(void)state;
	open_all(&rig, NPU_QUIRK_FEATURE_CACHE | NPU_QUIRK_OUTPUT_MOVE);
	npu_core_set_peers(rig.core, true);
	for (i = 0; i < 8; i++)
		right(&rig, i & 1 ? &row : &shape, A(0), C(0), i);
	/* Somewhere else in the same buffer, as the next rows of one matmul are */
	for (i = 0; i < 8; i++)
		right(&rig, &shape, A(0) + (i & 1) * a_bytes(&shape), C(0), i);
	rig_close(&rig);
}

/* The first round is right; from then on two lines for each other buffer are old. */
static void rotation(void **state)
{
	struct rig rig;
	u32 n, i;

	(void)state;
	for (n = 2; n <= BUFFERS; n++) {
		open_all(&rig, NPU_QUIRK_FEATURE_CACHE);
		for (i = 0; i < n; i++)
			right(&rig, &shape, A(i), C(0), i);
		for (; i < 4 * n; i++)
			stale(&rig, &shape, A(i % n), i, i - n, 2 * (n - 1));
		/* Staying ends it. */
		right(&rig, &shape, A((i - 1) % n), C(0), i);
		rig_close(&rig);
	}
}

static void without_quirk(void **state)
{
	struct rig rig;
	u32 i;

	(void)state;
	open_all(&rig, 0);
	npu_core_set_peers(rig.core, true);
	for (i = 0; i < 12; i++)
		right(&rig, i & 1 ? &row : &shape, A(i % 3), C(i % 2), i);
	/* Switched off, or reset, it forgets. */
	for (i = 0; i < 12; i++) {
		npu_core_set_quirks(rig.core, NPU_QUIRK_FEATURE_CACHE);
		right(&rig, &shape, A(i % 3), C(0), i);
		if (i & 1)
			npu_core_set_quirks(rig.core, 0);
		else
			npu_core_reset(rig.core);
	}
	rig_close(&rig);
}

/* A single row is wrong as soon as its buffer is another one (M3). */
static void single_row(void **state)
{
	struct rig rig;

	(void)state;
	open_all(&rig, NPU_QUIRK_FEATURE_CACHE);
	right(&rig, &row, A(0), C(0), 1);
	stale(&rig, &row, A(1), 2, 1, 1);
	right(&rig, &row, A(1), C(0), 3);
	/* What is held of A(0) goes before the kick before. */
	stale(&rig, &row, A(0), 4, 1, 1);
	/* Several rows in a buffer that is new are right. */
	right(&rig, &shape, A(3), C(0), 5);
	rig_close(&rig);
}

/* Tasks of one chain read distinct buffers, over and over (S2). */
static void chain(void **state)
{
	struct rig rig;
	u32 round, i;

	(void)state;
	open_all(&rig, NPU_QUIRK_FEATURE_CACHE);
	for (round = 0; round < 3; round++) {
		struct data d[BUFFERS];
		u32 at = IMAGE;
		struct prog p;

		for (i = 0; i < BUFFERS; i++) {
			bool last = i + 1 == BUFFERS;
			struct job j = shape;

			j.a = A(i);
			j.c = C(i);
			data_random(&d[i], &j, 10 * round + i);
			if (i) {
				/* One weight for all */
				memcpy(d[i].b, d[0].b, j.k * j.n * sizeof(*d[i].b));
				data_multiply(&d[i], &j);
			}
			put_a_rows(rig_at(&rig, j.a), &d[i], &j, 64);
			put_weight(rig_at(&rig, B), &d[i], &j);
			flat_program(&p, &j);
			prog_tail(&p, last ? 0 : at + 960, last ? 0 : prog_amount(108), 0x0d);
			prog_store(&rig, at, &p);
			at += 960;
		}
		assert_int_equal(rig_kick(&rig, IMAGE, prog_amount(108), BUFFERS, true), NPU_OK);
		assert_int_equal(rig.report.stale_kicks, 0);
		for (i = 0; i < BUFFERS; i++) {
			struct job j = shape;

			j.c = C(i);
			check_rows(&rig, &d[i], &j);
			data_free(&d[i]);
		}
	}
	rig_close(&rig);
}

static void output_moves(void **state)
{
	struct job j = shape;
	struct data d;
	struct rig rig;
	u32 i;

	(void)state;
	open_all(&rig, NPU_QUIRK_OUTPUT_MOVE);
	/* Alone it may move. */
	for (i = 0; i < 4; i++)
		right(&rig, &shape, A(0), C(i % 2), i);
	npu_core_set_peers(rig.core, true);
	right(&rig, &shape, A(0), C(0), 4);
	right(&rig, &shape, A(1), C(0), 5);
	for (i = 0; i < 4; i++) {
		j.a = A(0);
		j.c = C(1 + i % 2);
		kick(&rig, &d, &j, 6 + i);
		assert_int_equal(rig.report.lost_kicks, 1);
		/* Four lines, two rows of 32 words: the sums are gone, the rest is right. */
		memset(d.c, 0, 64 * sizeof(*d.c));
		check_rows(&rig, &d, &j);
		data_free(&d);
	}
	rig_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_buffer),
		cmocka_unit_test(rotation),
		cmocka_unit_test(without_quirk),
		cmocka_unit_test(single_row),
		cmocka_unit_test(chain),
		cmocka_unit_test(output_moves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
