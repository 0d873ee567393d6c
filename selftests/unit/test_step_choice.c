// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Steps of submissions: what is decided about operations by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kmod/rkmm_step.h"

static const struct rkmm_step_caps wide = {
	.bytes = 1 << 20, .room = 1ull << 40, .ns = 3000000, .lanes = 3,
};

/* An operation from buffer @a to buffer @c, with the times of softmax and the like */
static struct rkmm_link op_link(uintptr_t a, uintptr_t c, uint64_t ns)
{
	return (struct rkmm_link){
		.reach = { { (void *)a, 0, 64 }, [2] = { (void *)c, 0, 64 } },
		.ns = { ns, ns, ns }, .start_ns = { 50000, 50000, 50000 }, .bytes = 1000,
		.lanes_most = 3,
	};
}

static struct rkmm_link matmul_link(uintptr_t a, uintptr_t c, uint64_t ns)
{
	struct rkmm_link link = op_link(a, c, ns);

	link.matmul = true;
	link.lanes_own = 3;
	return link;
}

static uint32_t end_of(const struct rkmm_step_caps *caps, struct rkmm_link *links, uint32_t first,
		       uint32_t n, const char *want)
{
	const char *why;
	uint32_t end = rkmm_step_end(caps, links, first, n, &why);

	assert_string_equal(why, want);
	return end;
}

static void test_chain(void **state)
{
	struct rkmm_link l[] = {
		matmul_link(1, 2, 30000), op_link(2, 3, 40000), matmul_link(3, 4, 30000),
	};
	struct rkmm_step_caps caps = wide;

	(void)state;
	assert_int_equal(end_of(&wide, l, 0, 3, "end of the submission"), 3);
	assert_true(!l[0].after && l[1].after && l[2].after);
	assert_true(!l[0].lane && !l[1].lane && !l[2].lane);

	/* what is read as B, what is written twice, and what was read counts too */
	l[1] = op_link(9, 8, 40000);
	l[1].reach[1] = l[0].reach[2];
	l[2] = op_link(7, 1, 40000);
	assert_int_equal(end_of(&wide, l, 0, 3, "end of the submission"), 3);
	assert_true(l[1].after && l[2].after);
	l[2] = op_link(7, 8, 40000);
	assert_int_equal(end_of(&wide, l, 0, 3, "end of the submission"), 3);
	assert_true(l[2].after);

	caps.bytes = 2500;
	assert_int_equal(end_of(&caps, l, 0, 3, "join: bytes of programs"), 2);
	caps = wide;
	caps.ns = 125000;
	assert_int_equal(end_of(&caps, l, 0, 3, "join: time of a start"), 2);
	caps = wide;
	caps.room = 1;
	l[1].room = 2;
	assert_int_equal(end_of(&caps, l, 0, 3, "join: operands to be staged"), 1);
}

/* One core for a matmul of three, when that loses more than a start costs */
static void test_large(void **state)
{
	struct rkmm_link l[] = { matmul_link(1, 2, 900000), op_link(2, 3, 40000) };
	struct rkmm_step_caps caps = wide;

	(void)state;
	assert_int_equal(end_of(&wide, l, 0, 2, "join: more lanes end earlier"), 1);
	assert_int_equal(l[0].lane, 0);
	assert_int_equal(end_of(&wide, l, 1, 2, "end of the submission"), 2);
	assert_false(l[1].after);
	caps.lanes = 1;
	assert_int_equal(end_of(&caps, l, 0, 2, "end of the submission"), 2);
	/* 600 us on three lanes and a start are as much as 1650 us on one */
	l[0] = matmul_link(1, 2, 74000);
	assert_int_equal(end_of(&wide, l, 0, 2, "end of the submission"), 2);
	l[0] = matmul_link(1, 2, 76000);
	assert_int_equal(end_of(&wide, l, 0, 2, "join: more lanes end earlier"), 1);
}

/* hw 03 O14: int8 in the DPU stays behind an int8 matmul, though three cores would be faster. */
static void test_int8(void **state)
{
	struct rkmm_link l[] = { matmul_link(1, 2, 900000), op_link(2, 3, 40000) };
	struct rkmm_step_caps caps = wide;

	(void)state;
	l[0].int8 = true;
	l[1].int8_dpu = true;
	assert_int_equal(end_of(&caps, l, 0, 2, "join: more lanes end earlier"), 1);
	caps.int8_chain = true;
	assert_int_equal(end_of(&caps, l, 0, 2, "end of the submission"), 2);
	assert_true(!l[0].lane && !l[1].lane && l[1].after);
	/* what is apart too, and what does not fit into the time of a start */
	l[1] = op_link(4, 5, 900000);
	l[1].int8_dpu = true;
	caps.ns = 1;
	assert_int_equal(end_of(&caps, l, 0, 2, "end of the submission"), 2);
	assert_true(!l[1].lane && !l[1].after);
	caps.ns = wide.ns;
	l[1].int8_dpu = false;
	assert_int_equal(end_of(&caps, l, 0, 2, "end of the submission"), 2);
	assert_int_equal(l[1].lane, 1);
}

/* Rows of a large operation are shared out, and what reads them is a join. */
static void test_rows(void **state)
{
	struct rkmm_link l[] = {
		op_link(1, 2, 900000), op_link(2, 3, 40000), op_link(11, 12, 900000),
	};
	struct rkmm_step_caps caps = wide;

	(void)state;
	l[0].rows_ns[1] = 450000;
	l[0].rows_ns[2] = 310000;
	assert_int_equal(end_of(&wide, l, 0, 2, "join: more lanes end earlier"), 1);
	assert_int_equal(l[0].shares, 3);
	caps.lanes = 2;
	assert_int_equal(end_of(&caps, l, 0, 2, "join: more lanes end earlier"), 1);
	assert_int_equal(l[0].shares, 2);
	caps.lanes = 1;
	assert_int_equal(end_of(&caps, l, 0, 2, "end of the submission"), 2);
	assert_int_equal(l[0].shares, 0);
	/* what follows would cost a start more than the shares save */
	l[0].rows_ns[2] = 860000;
	l[0].rows_ns[1] = 860000;
	assert_int_equal(end_of(&wide, l, 0, 2, "end of the submission"), 2);
	assert_true(!l[0].shares && !l[1].shares && l[1].after);
	/* two large ones side by side leave the third core idle, but are one start */
	l[1] = l[2];
	assert_int_equal(end_of(&wide, l, 0, 2, "end of the submission"), 2);
	assert_true(!l[0].shares && l[1].lane == 1);
	l[0].rows_ns[2] = 310000;
	l[1].rows_ns[2] = 310000;
	assert_int_equal(end_of(&wide, l, 0, 2, "join: more lanes end earlier"), 1);
	assert_int_equal(l[0].shares, 3);
	/* three keep all cores: no rows are shared out, whatever each would gain alone */
	l[2] = op_link(21, 22, 900000);
	l[2].rows_ns[2] = 310000;
	assert_int_equal(end_of(&wide, l, 0, 3, "end of the submission"), 3);
	assert_true(!l[0].shares && l[0].lane != l[1].lane && l[1].lane != l[2].lane);
	/* but not when one needs the other */
	l[2].reach[0] = l[1].reach[2];
	assert_int_equal(end_of(&wide, l, 0, 3, "join: more lanes end earlier"), 1);
	assert_int_equal(l[0].shares, 3);
	l[0].rows_ns[2] = 860000;
	l[1].rows_ns[2] = 0;
	assert_int_equal(end_of(&wide, l, 0, 2, "end of the submission"), 2);
	assert_true(!l[0].shares && l[1].lane == 1);
}

/* Chains that have nothing in common run side by side; what needs several is a join. */
static void test_branches(void **state)
{
	struct rkmm_link l[] = {
		op_link(1, 2, 400000), op_link(2, 3, 400000),
		op_link(11, 12, 400000), op_link(12, 13, 400000),
		op_link(21, 22, 100000), op_link(31, 32, 100000),
		op_link(3, 4, 200000), op_link(4, 5, 40000),
	};

	(void)state;
	l[6].reach[1] = l[3].reach[2];
	assert_int_equal(end_of(&wide, l, 0, 8, "join: more lanes end earlier"), 6);
	assert_true(l[0].lane == l[1].lane && l[2].lane == l[3].lane && l[0].lane != l[2].lane);
	assert_true(l[4].lane == l[5].lane && l[4].lane != l[0].lane && l[4].lane != l[2].lane);
	assert_true(l[1].after && l[3].after && !l[2].after && !l[4].after && !l[5].after);
	assert_int_equal(end_of(&wide, l, 6, 8, "end of the submission"), 8);
	assert_true(!l[6].after && l[7].after);

	/* small ones are better off on one lane than waiting for each other */
	l[0] = op_link(1, 2, 20000);
	l[1] = op_link(11, 12, 20000);
	l[2] = op_link(2, 3, 20000);
	l[2].reach[3] = l[1].reach[2];
	assert_int_equal(end_of(&wide, l, 0, 3, "end of the submission"), 3);
	assert_true(!l[0].lane && !l[1].lane && !l[2].lane);
	assert_true(!l[1].after && l[2].after);
}

/* Matmuls that leave each other alone are a group without being asked to. */
static void test_groups(void **state)
{
	struct rkmm_link l[70];
	struct rkmm_step_caps caps = wide;
	uint32_t i;

	(void)state;
	for (i = 0; i < 70; i++)
		l[i] = matmul_link(1, 10 + i, 20000);
	assert_int_equal(end_of(&wide, l, 0, 4, "end of the submission"), 4);
	for (i = 0; i < 4; i++)
		assert_true(!l[i].lane && !l[i].after);
	assert_int_equal(end_of(&wide, l, 0, 70, "join: many operations"), RKMM_STEP_MOST);
	/* groups that were asked for may be larger, and are not compared */
	for (i = 1; i < 70; i++)
		l[i].grouped = true;
	l[3].reach[2] = l[2].reach[2];
	assert_int_equal(end_of(&wide, l, 0, 70, "end of the submission"), 70);
	assert_false(l[3].after);
	caps.bytes = 10500;
	assert_int_equal(end_of(&caps, l, 0, 70, "bytes of programs, mode, or window"), 10);
	assert_int_equal(end_of(&caps, l, 10, 70, "bytes of programs, mode, or window"), 20);
	/* and what comes after is another unit */
	l[69] = op_link(78, 3, 40000);
	assert_int_equal(end_of(&wide, l, 66, 70, "end of the submission"), 70);
	assert_true(l[69].after && !l[67].after);
	for (i = 66; i < 69; i++)
		l[i].lanes_most = 1;
	assert_int_equal(end_of(&wide, l, 66, 70, "end of the submission"), 70);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_int8),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_branches),
		cmocka_unit_test(test_groups),
	};

	return cmocka_run_group_tests_name("choices", tests, NULL, NULL);
}
