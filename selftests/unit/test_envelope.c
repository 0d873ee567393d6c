// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Verdicts on geometries: the table, what the planner makes of it, and the form it is kept in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kmod/prog/rkmm_envelope.h"

static uint64_t seed = 0x2545f4914f6cdd1dull;

static uint32_t rnd(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)((seed >> 20) % below);
}

/* Plain list of what was noted, against which the sorted table is held */
struct note {
	struct rkmm_cell cell;
	enum rkmm_verdict verdict;
};

static struct note notes[RKMM_CELLS_MAX];
static uint32_t nnotes;
static struct rkmm_envelope env;

static bool same(const struct rkmm_cell *a, const struct rkmm_cell *b)
{
	return a->bits == b->bits && a->form == b->form && a->data_banks == b->data_banks &&
	       a->cores == b->cores && a->k == b->k && a->rows == b->rows && a->cols == b->cols;
}

static struct rkmm_cell random_cell(void)
{
	static const uint16_t ks[] = { 256, 768, 1024, 1536, 2048, 2560, 4096, 8192 };
	struct rkmm_cell c = { .bits = 4 << rnd(3), .cores = 1 + rnd(3) };

	c.form = c.bits == 4 && rnd(4) ? RKMM_FORM_BATCH : rnd(2) ? RKMM_FORM_FLAT : RKMM_FORM_CUBE;
	c.k = c.bits == 4 ? ks[rnd(8)] : rkmm_cell_k(c.bits, 1 + rnd(10752));
	c.rows = 1 + rnd(c.form == RKMM_FORM_BATCH ? 32 : 700);
	c.cols = rkmm_cell_cols(c.form, 64 * (1 + rnd(8)));
	c.data_banks = 1 + rnd(c.form == RKMM_FORM_BATCH ? 4 : 11);
	assert_true(rkmm_cell_valid(&c));
	return c;
}

static void note(struct rkmm_cell cell, enum rkmm_verdict verdict)
{
	uint32_t i;

	for (i = 0; i < nnotes && !same(&notes[i].cell, &cell); i++)
		;
	if (i == RKMM_CELLS_MAX)
		return;
	assert_true(rkmm_envelope_set(&env, &cell, verdict));
	notes[i] = (struct note){ cell, verdict };
	if (i == nnotes)
		nnotes++;
}

static void fill(uint32_t n)
{
	env.n = 0;
	nnotes = 0;
	while (n--)
		note(random_cell(), rnd(3) ? RKMM_FAILED : RKMM_PROVEN);
}

static enum rkmm_verdict noted(const struct rkmm_cell *cell)
{
	uint32_t i;

	for (i = 0; i < nnotes; i++)
		if (same(&notes[i].cell, cell))
			return notes[i].verdict;
	return RKMM_UNKNOWN;
}

/* The rule of the header, written out once more */
static bool bad(const struct rkmm_cell *c)
{
	enum rkmm_verdict own = noted(c);
	uint32_t i;

	if (own != RKMM_UNKNOWN)
		return own == RKMM_FAILED;
	for (i = 0; i < nnotes; i++) {
		const struct rkmm_cell *f = &notes[i].cell;

		if (notes[i].verdict == RKMM_FAILED && f->bits == c->bits && f->form == c->form &&
		    f->k == c->k && f->cores == c->cores && f->rows <= c->rows &&
		    (f->cols <= c->cols || (f->form == RKMM_FORM_BATCH && f->data_banks > 1)) &&
		    f->data_banks <= c->data_banks)
			return true;
	}
	return false;
}

static void test_table(void **state)
{
	uint32_t round, i, known;

	(void)state;
	for (round = 0; round < 60; round++) {
		fill(rnd(RKMM_CELLS_MAX));
		for (i = 0; i < 40 && nnotes; i++) {
			uint32_t at = rnd(nnotes);

			assert_true(rkmm_envelope_set(&env, &notes[at].cell, RKMM_UNKNOWN));
			notes[at] = notes[--nnotes];
		}
		assert_int_equal(env.n, nnotes);
		for (i = 0, known = 0; i < 3000; i++) {
			struct rkmm_cell c = i < nnotes ? notes[i].cell : random_cell();

			assert_int_equal(rkmm_envelope_get(&env, &c), noted(&c));
			assert_int_equal(rkmm_envelope_barred(&env, &c), bad(&c));
			known += noted(&c) != RKMM_UNKNOWN;
		}
		assert_true(known >= nnotes);
	}
}

/* What failed has room when nothing else has. */
static void test_full(void **state)
{
	struct rkmm_cell c = random_cell();
	uint32_t i, failed = 0;

	(void)state;
	env.n = 0;
	nnotes = 0;
	while (nnotes < RKMM_CELLS_MAX)
		note(random_cell(), RKMM_PROVEN);
	while (noted(&c) != RKMM_UNKNOWN)
		c = random_cell();
	assert_false(rkmm_envelope_set(&env, &c, RKMM_PROVEN));
	assert_true(rkmm_envelope_set(&env, &c, RKMM_FAILED));
	assert_int_equal(rkmm_envelope_get(&env, &c), RKMM_FAILED);
	assert_int_equal(env.n, RKMM_CELLS_MAX);
	for (i = 0; i < env.n; i++)
		failed += rkmm_envelope_at(&env, i, &c) == RKMM_FAILED;
	assert_int_equal(failed, 1);
}

static struct rkmm_matmul random_matmul(void)
{
	static const uint32_t ks[] = { 256, 512, 768, 1024, 1536, 2048, 2560, 4096, 8192 };
	struct rkmm_matmul mm = {
		.types = rnd(2) ? RKMM_T_I4I16 : rnd(RKMM_T_COUNT),
		.form = rnd(3) ? RKMM_FORM_COUNT : rnd(3),
		.m = 1 + rnd(rnd(2) ? 8 : 300), .n = 1 + rnd(2000), .lanes = 1 + rnd(3),
		.k = rnd(2) ? ks[rnd(9)] : 1 + rnd(10752), .free_slice = rnd(2),
	};

	if (mm.types == RKMM_T_I8I8 || mm.types == RKMM_T_F16F16)
		mm.mult = 1;
	return mm;
}

/*
 * What the planner takes has not failed on any number of cores that its lanes may find, and
 * stays inside the laws; what it wants most is made to fail until nothing is left.
 */
static void test_planner(void **state)
{
	uint32_t round, refused = 0, rows = 0, changed = 0, n, i;
	struct rkmm_envelope_die *die = malloc(sizeof(*die));
	struct rkmm_geom first, g, plain;

	(void)state;
	for (round = 0; round < 400; round++) {
		struct rkmm_matmul mm = random_matmul();
		struct rkmm_limits limits = rkmm_limits_rk3588;
		const struct rkmm_die *base = &rkmm_dies[rnd(RKMM_DIES)];

		limits.die = base;
		if (rkmm_geometry(&limits, &mm, &first))
			continue;
		fill(rnd(2) ? 0 : rnd(60));
		for (i = 0; i < 40; i++) {
			uint32_t bits = rkmm_in_bits(mm.types);
			struct rkmm_cell cell;

			limits = rkmm_limits_rk3588;
			rkmm_envelope_die(&env, base, bits, die);
			limits.die = &die->die;
			limits.envelope = &env;
			if (rkmm_geometry(&limits, &mm, &g)) {
				refused++;
				break;
			}
			for (n = 1; n <= g.lanes_most; n++) {
				cell = rkmm_cell_of(&g, n);
				assert_false(bad(&cell));
			}
			assert_true(g.lanes <= g.lanes_most);
			assert_int_equal(g.mm.m, mm.m);
			assert_int_equal(g.mm.form, mm.form);
			/* B is packed once, whatever is found out later. */
			if (!mm.free_slice)
				assert_int_equal(g.b_layout, first.b_layout);
			rows += g.form == RKMM_FORM_FLAT && mm.types == RKMM_T_I4I16 && mm.m > 1 &&
				first.form == RKMM_FORM_BATCH;
			changed += i == 1;
			note(rkmm_cell_of(&g, 1 + rnd(g.lanes)), RKMM_FAILED);
		}
		assert_true(i < 40);
		/* Without verdicts it is the planner as it was. */
		env.n = 0;
		rkmm_envelope_die(&env, base, rkmm_in_bits(mm.types), die);
		assert_int_equal(rkmm_geometry(&limits, &mm, &plain), RKMM_OK);
		assert_int_equal(plain.predicted_ns, first.predicted_ns);
		assert_int_equal(plain.c_layout, first.c_layout);
	}
	assert_true(refused > 100 && rows > 20 && changed > 100);
	free(die);
}

/* hw 03 §1.7: on die 235 eight rows fail at K = 2048, and four are what is left. */
static void test_die_235(void **state)
{
	struct rkmm_matmul mm = {
		.types = RKMM_T_I4I16, .form = RKMM_FORM_COUNT, .m = 128, .k = 2048, .n = 2048,
		.lanes = 3,
	};
	struct rkmm_limits limits = rkmm_limits_rk3588;
	struct rkmm_envelope_die die;
	struct rkmm_geom g;

	(void)state;
	env.n = 0;
	nnotes = 0;
	limits.die = rkmm_die_find("shipped");
	limits.envelope = &env;
	assert_int_equal(rkmm_geometry(&limits, &mm, &g), RKMM_OK);
	assert_int_equal(g.rows, 8);
	assert_int_equal(g.cols, 64);
	note(rkmm_cell_of(&g, 1), RKMM_FAILED);
	rkmm_envelope_die(&env, rkmm_die_find("shipped"), 4, &die);
	limits.die = &die.die;
	assert_int_equal(rkmm_geometry(&limits, &mm, &g), RKMM_OK);
	assert_int_equal(g.form, RKMM_FORM_BATCH);
	assert_int_equal(g.rows, 4);
	assert_int_equal(g.cols, 64);
	assert_true(g.lanes > 1);
	/* fewer rows in all: still no program of five to eight */
	for (mm.m = 2; mm.m < 12; mm.m++) {
		assert_int_equal(rkmm_geometry(&limits, &mm, &g), RKMM_OK);
		assert_true(g.rows <= 4);
	}
	/* other K are as they were */
	mm.k = 512;
	mm.m = 128;
	assert_int_equal(rkmm_geometry(&limits, &mm, &g), RKMM_OK);
	assert_int_equal(g.rows, 32);
}

/* The points are distinct, in groups, the same each time, and have programs of just that cell. */
static void test_points(void **state)
{
	struct rkmm_point p[300], again;
	struct rkmm_geom g;
	uint32_t n, i, k;
	bool wide = false;

	(void)state;
	for (n = 0; n < 300 && rkmm_envelope_point(&rkmm_limits_rk3588, 3, n, &p[n]); n++)
		;
	assert_in_range(n, 100, 299);
	for (i = 0; i < n; i++) {
		assert_true(rkmm_cell_valid(&p[i].cell));
		assert_true(!i || p[i].group >= p[i - 1].group);
		for (k = 0; k < i; k++)
			assert_false(same(&p[i].cell, &p[k].cell));
		assert_true(rkmm_cell_geom(&rkmm_limits_rk3588, &p[i].cell, p[i].kp, &g));
		assert_int_equal(g.rows, p[i].cell.rows);
		assert_int_equal(g.data_banks, p[i].cell.data_banks);
		assert_int_equal(g.kp, p[i].kp);
		assert_true(g.predicted_ns < 3000000);
		wide |= p[i].cell.k == 2048 && p[i].cell.rows == 32 && p[i].cell.cols == 192;
		/* on one core all points come, in the same order */
		if (p[i].cell.cores == 1)
			assert_true(rkmm_envelope_point(&rkmm_limits_rk3588, 3, i, &again));
	}
	assert_true(wide);
}

/* With the wide points proven on all cores the choice on an unknown die is a wide one. */
static void test_wide(void **state)
{
	struct rkmm_matmul mm = {
		.types = RKMM_T_I4I16, .form = RKMM_FORM_COUNT, .m = 128, .k = 2048, .n = 2048,
		.lanes = 3,
	};
	struct rkmm_limits limits = rkmm_limits_rk3588;
	struct rkmm_envelope_die die;
	struct rkmm_geom before, g;
	struct rkmm_point p;
	uint32_t i, cores;

	(void)state;
	limits.die = rkmm_die_find("shipped");
	assert_int_equal(rkmm_geometry(&limits, &mm, &before), RKMM_OK);
	for (cores = 1; cores <= 3; cores++) {
		env.n = 0;
		nnotes = 0;
		for (i = 0; rkmm_envelope_point(&rkmm_limits_rk3588, 3, i, &p); i++)
			if (p.cell.k == 2048 && p.cell.cores <= cores)
				note(p.cell, RKMM_PROVEN);
		rkmm_envelope_die(&env, rkmm_die_find("shipped"), 4, &die);
		limits.die = &die.die;
		limits.envelope = &env;
		assert_int_equal(rkmm_geometry(&limits, &mm, &g), RKMM_OK);
		/* lanes that were not proven are not taken for it */
		if (g.data_banks > 1)
			assert_int_equal(g.lanes, cores);
	}
	assert_true(g.data_banks > 1);
	assert_true(g.cols > 64 && g.rows > 8);
	assert_true(g.predicted_ns * 3 < before.predicted_ns * 2);
}

static void test_import(void **state)
{
	uint8_t text[RKMM_ENVELOPE_BYTES], damaged[RKMM_ENVELOPE_BYTES + 8];
	struct rkmm_envelope *got = malloc(sizeof(*got)), past;
	uint64_t chip = 0x123456789abcdefull;
	uint32_t round, bytes, i;

	(void)state;
	for (round = 0; round < 40; round++) {
		fill(round ? rnd(round == 1 ? RKMM_CELLS_MAX : 20) : 0);
		bytes = rkmm_envelope_write(&env, chip, text);
		memset(got, 0xa5, sizeof(*got));
		assert_int_equal(rkmm_envelope_read(text, bytes, chip, got), RKMM_IMPORT_OK);
		assert_int_equal(got->n, env.n);
		assert_memory_equal(got->key, env.key, 8 * env.n);
		assert_memory_equal(got->verdict, env.verdict, env.n);
		assert_int_equal(rkmm_envelope_read(text, bytes, chip + 1, got),
				 RKMM_IMPORT_FOREIGN);

		memcpy(&past, got, sizeof(past));
		for (i = 0; i < bytes; i++)
			assert_int_not_equal(rkmm_envelope_read(text, i, chip, got),
					     RKMM_IMPORT_OK);
		/* every bit of it counts */
		for (i = 0; i < bytes * 8; i++) {
			memcpy(damaged, text, bytes);
			damaged[i / 8] ^= 1 << i % 8;
			assert_int_not_equal(rkmm_envelope_read(damaged, bytes, chip, got),
					     RKMM_IMPORT_OK);
		}
		memcpy(damaged, text, bytes);
		memset(damaged + bytes, 0, 8);
		assert_int_equal(rkmm_envelope_read(damaged, bytes + 8, chip, got),
				 RKMM_IMPORT_SHORT);
		/* what is refused leaves no trace */
		assert_memory_equal(&past, got, sizeof(past));
	}
	free(got);
}

/* Cells that nobody can have written, with a checksum that is right */
static void test_forged(void **state)
{
	uint8_t text[RKMM_ENVELOPE_BYTES];
	uint32_t round, bytes, refused = 0;
	struct rkmm_envelope forged, got;

	(void)state;
	for (round = 0; round < 3000; round++) {
		fill(2 + rnd(20));
		forged = env;
		switch (rnd(4)) {
		case 0:
			forged.verdict[rnd(forged.n)] = 3 + rnd(13);
			break;
		case 1:
			forged.verdict[rnd(forged.n)] = RKMM_UNKNOWN;
			break;
		case 2:
			forged.key[1] = forged.key[0];
			break;
		default:
			/* no rows */
			forged.key[rnd(forged.n)] &= ~(0x3fffull << 12);
			break;
		}
		bytes = rkmm_envelope_write(&forged, 5, text);
		if (rkmm_envelope_read(text, bytes, 5, &got) == RKMM_IMPORT_CELL)
			refused++;
		else
			assert_true(false);
	}
	assert_int_equal(refused, 3000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_planner),
		cmocka_unit_test(test_die_235),
		cmocka_unit_test(test_points),
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_import),
		cmocka_unit_test(test_forged),
	};

	return cmocka_run_group_tests_name("envelope", tests, NULL, NULL);
}
