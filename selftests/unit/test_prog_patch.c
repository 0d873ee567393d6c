// SPDX-License-Identifier: GPL-2.0 OR MIT
/* An image with other addresses is, bit for bit, the one that is made with them. */
#include "prog_shapes.h"

#define MEMBERS	5

/**
 * struct step - members of one image
 * @limits: chip
 * @geom: their tilings
 * @m: members
 * @n: how many
 * @bytes: of the image
 */
struct step {
	struct rkmm_limits limits;
	struct rkmm_geom geom[MEMBERS];
	struct rkmm_member m[MEMBERS];
	uint32_t n;
	uint64_t bytes;
};

static uint32_t random_address(void)
{
	return (uint32_t)(rnd(0x10000) << 16 | rnd(0x1000) << 4);
}

static struct rkmm_member random_member(const struct rkmm_geom *g)
{
	struct rkmm_member m = rkmm_member_of(g, rnd(2) ? g->mm.m : 1 + rnd(g->mm.m),
					      random_address(), random_address(),
					      random_address());

	m.count = rnd(2) ? 1 : 1 + rnd(9);
	if (m.count == 1)
		return m;
	m.a_stride = rnd(2) ? random_address() : 0;
	m.b_stride = rnd(2) ? random_address() : 0;
	m.c_stride = random_address();
	return m;
}

static void random_step(struct step *s)
{
	struct rkmm_matmul mm;
	uint32_t i = 0;

	s->limits = *chip;
	s->limits.light = rnd(4) != 0;
	s->limits.die = &rkmm_dies[rnd(RKMM_DIES)];
	if (rnd(4) == 0)
		s->limits.land = 0x70000000;
	if (rnd(4) == 0)
		s->limits.tasks_max = 2 + rnd(20);
	s->n = rnd(3) ? 1 : 1 + rnd(MEMBERS);
	while (i < s->n) {
		mm = matmul(rnd(RKMM_T_COUNT), size_near(200),
			    rnd(6) ? size_near(3000) : 10700 + rnd(9000), size_near(1200));
		mm.lanes = 1 + rnd(3);
		mm.form = rnd(2) ? RKMM_FORM_COUNT : (enum rkmm_form)rnd(RKMM_FORM_COUNT);
		mm.free_slice = rnd(2);
		if (rkmm_geometry(&s->limits, &mm, &s->geom[i]) || s->geom[i].programs > 300)
			continue;
		if (i && rnd(3) == 0)
			s->geom[i] = s->geom[i - 1];
		s->m[i] = random_member(&s->geom[i]);
		/* weights of neighbours, so that some are kept */
		if (i && rnd(2))
			s->m[i].b = s->m[i - 1].b;
		s->m[i].weights = rnd(2);
		i++;
	}
}

/**
 * struct made - an image
 * @words: of it, and one behind
 * @kicks: its starts
 * @nkicks: how many
 * @tasks: programs
 * @bytes: of @words
 */
struct made {
	u64 *words;
	struct rkmm_kick *kicks;
	uint32_t nkicks, tasks;
	uint64_t bytes;
};

static struct made make(const struct step *s)
{
	struct rkmm_extent extent;
	struct made made;

	rkmm_image_measure(&s->limits, s->m, s->n, &extent);
	made.bytes = extent.bytes;
	made.nkicks = extent.kicks;
	made.tasks = extent.tasks;
	made.words = malloc(extent.bytes + 8);
	made.words[extent.bytes / 8] = 0x5a5a;
	made.kicks = calloc(extent.kicks, sizeof(*made.kicks));
	rkmm_image_emit(&s->limits, s->m, s->n, 0x40000000, made.words, made.kicks);
	return made;
}

static void made_free(struct made *made)
{
	free(made->words);
	free(made->kicks);
}

/* Other addresses of some kinds, as far as they may differ; returns which. */
static uint32_t move(struct step *s)
{
	uint32_t which = 1 + rnd(7), i;

	if (s->n > 1)
		which = which & ~RKMM_ADDR_B ? which & ~RKMM_ADDR_B : RKMM_ADDR_A;
	for (i = 0; i < s->n; i++) {
		if (which & RKMM_ADDR_A)
			s->m[i].a = random_address();
		if (which & RKMM_ADDR_B)
			s->m[i].b = random_address();
		if (which & RKMM_ADDR_C)
			s->m[i].c = random_address();
	}
	return which;
}

static void test_patch(void **state)
{
	uint32_t i, which, written, k;
	uint64_t all_tasks = 0, all_light = 0;
	struct made old, new;
	struct step s;

	(void)state;
	for (i = 0; i < 4000; i++) {
		random_step(&s);
		old = make(&s);
		which = move(&s);
		new = make(&s);
		assert_int_equal(old.bytes, new.bytes);
		assert_int_equal(old.nkicks, new.nkicks);
		for (k = 0; k < old.nkicks; k++) {
			assert_int_equal(old.kicks[k].tasks, new.kicks[k].tasks);
			assert_int_equal(old.kicks[k].addr, new.kicks[k].addr);
			assert_int_equal(old.kicks[k].amount, new.kicks[k].amount);
			assert_int_equal(old.kicks[k].lane, new.kicks[k].lane);
			assert_int_equal(old.kicks[k].pingpong, new.kicks[k].pingpong);
		}
		written = rkmm_image_patch(&s.limits, s.m, s.n, which, old.words);
		assert_memory_equal(old.words, new.words, old.bytes + 8);
		assert_int_equal(written, old.tasks * (uint32_t)__builtin_popcount(which));
		all_tasks += old.tasks;
		all_light += old.bytes < old.tasks * 896ull;
		made_free(&old);
		made_free(&new);
	}
	/* the cases are no trivial ones */
	assert_true(all_tasks > 50000);
	assert_true(all_light > 500);
}

/* What the rule about B is for: neighbours whose weights fall together are other programs. */
static void test_not_b(void **state)
{
	struct step s = { .limits = *chip, .n = 2 };
	struct made old, new;

	(void)state;
	s.geom[0] = simple(RKMM_T_I4I16, 4, 256, 64);
	s.m[0] = rkmm_member_of(&s.geom[0], 4, 0x10000, 0x20000, 0x30000);
	s.m[1] = rkmm_member_of(&s.geom[0], 4, 0x40000, 0x50000, 0x60000);
	s.geom[0].weight_reuse = true;
	old = make(&s);
	s.m[1].b = s.m[0].b;
	new = make(&s);
	rkmm_image_patch(&s.limits, s.m, s.n, RKMM_ADDR_B, old.words);
	assert_memory_not_equal(old.words, new.words, old.bytes);
	made_free(&old);
	made_free(&new);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_patch),
		cmocka_unit_test(test_not_b),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
