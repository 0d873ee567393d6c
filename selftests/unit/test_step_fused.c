// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Random graphs in which matmuls have epilogues, on the software NPU: one operation at a time
 * with its rows on one to three cores, all in one chain, and in the steps of the driver, they
 * leave the bits that the same graphs leave where each stage is an operation of its own.
 */
#include "fused_world.h"

#define MEMBERS	(ITEMS + RKMM_LANES_MAX * RKMM_EPILOGUE_MEMBERS)

/* Operations with an epilogue whose rows were shared out */
static uint32_t row_shares;

/*
 * The tasks of @it on @lane, rows from @first on. What lies between operations is of all rows,
 * what an operation keeps between its tasks is of the lane.
 */
static uint32_t expand(const struct item *it, uint32_t lane, uint32_t home, bool after,
		       uint32_t first, uint32_t rows, struct rkmm_member *members)
{
	struct rkmm_epilogue_place place = {
		.d = it->d, .e = it->e, .temp = temp_of(home), .consts = it->consts,
	};
	struct rkmm_member m = it->m;

	m.lane = lane;
	m.after = after;
	m.first = first;
	m.rows = rows;
	m.temp = temp_of(lane);
	members[0] = m;
	if (!it->epi)
		return 1;
	place.work = temp_of(lane) + (lane == home ? it->epi->work : 0);
	return rkmm_epilogue_members(it->epi, &m, &place, members);
}

static uint32_t expand_shares(const struct item *it, uint32_t lanes, struct rkmm_member *members)
{
	uint32_t each = rkmm_share_rows(it->m.rows, lanes), first, n = 0, lane = 0;

	for (first = 0; first < it->m.rows; first += each, lane++)
		n += expand(it, lane, 0, false, first, it->m.rows - first < each ?
			    it->m.rows - first : each, members + n);
	row_shares += lane > 1 && it->epi;
	return n;
}

/* One operation at a time, rows on up to so many cores */
static void run_apart(const struct rkmm_limits *limits, const struct list *l, uint32_t lanes)
{
	static struct rkmm_member members[MEMBERS];
	uint32_t i, n;

	for (i = 0; i < l->n; i++) {
		const struct item *it = &l->item[i];

		n = expand_shares(it, ordered(it) ? lanes : 1, members);
		run_step(limits, members, n, ordered(it));
	}
}

/* All of it behind each other */
static void run_whole(const struct rkmm_limits *limits, const struct list *l)
{
	static struct rkmm_member members[MEMBERS];
	uint32_t i, n = 0;

	for (i = 0; i < l->n; i++)
		n += expand(&l->item[i], 0, 0, i > 0, 0, l->item[i].m.rows, members + n);
	run_step(limits, members, n, true);
}

/* In the steps of the driver; returns the most lanes of one. */
static uint32_t run_steps(const struct rkmm_limits *limits, struct list *l, uint32_t lanes)
{
	const struct rkmm_step_caps caps = {
		.bytes = 64 << 20, .room = 1ull << 40, .ns = 3000000, .lanes = lanes,
	};
	static struct rkmm_member members[MEMBERS];
	uint32_t first, end, lane, i, n, most = 1;
	const char *why;

	for (first = 0; first < l->n; first = end) {
		bool placed = false;

		end = rkmm_step_end(&caps, l->links, first, l->n, &why);
		assert_true(end > first && end <= l->n);
		for (lane = 0, n = 0; lane < RKMM_LANES_MAX; lane++)
			for (i = first; i < end; i++)
				if (l->links[i].lane == lane)
					n += expand(&l->item[i], lane, lane, l->links[i].after, 0,
						    l->item[i].m.rows, members + n);
		if (l->links[first].shares) {
			assert_int_equal(end, first + 1);
			n = expand_shares(&l->item[first], l->links[first].shares, members);
		}
		for (i = 0; i < n; i++) {
			placed |= members[i].op || members[i].after || members[i].lane;
			most = members[i].lane + 1 > most ? members[i].lane + 1 : most;
		}
		assert_true(most <= lanes);
		run_step(limits, members, n, placed);
	}
	return most;
}

static void check(const uint8_t *want, const char *how, uint32_t lanes)
{
	uint32_t i;

	for (i = 0; i < SEEN; i++) {
		if (!memcmp(data + i * ROOM, want + i * ROOM, ROOM))
			continue;
		print_error("%u x %u, %s, %u lanes: tensor %u\n", graph->m, graph->n, how, lanes,
			    i);
		fail();
	}
}

/* The last operation is none: of a comparison that could not fail nobody would know. */
static bool notices(const uint8_t *before, const uint8_t *want)
{
	static struct rkmm_opgeom other;
	uint32_t i;

	for (i = split->n; i--;) {
		struct item *it = &split->item[i];
		struct rkmm_op op;

		if (!it->m.op || it->m.op->op.code == RKMM_OP_COPY)
			continue;
		op = it->m.op->op;
		op.code = RKMM_OP_COPY;
		op.other = 0;
		op.value = 0;
		op.value2 = 0;
		op.scale = 0;
		op.out_scale = 0;
		op.flags = 0;
		op.quant = (struct rkmm_quant){ .mult = 0 };
		assert_int_equal(rkmm_op_geometry(&rkmm_limits_rk3588, &op, &other), RKMM_OK);
		it->m.op = &other;
		it->m.b = 0;
		memcpy(data, before, DATA);
		run_apart(&rkmm_limits_rk3588, split, 1);
		return memcmp(data, want, SEEN * ROOM);
	}
	return false;
}

static void test_graphs(void **state)
{
	struct rkmm_limits limits = rkmm_limits_rk3588, single = rkmm_limits_rk3588;
	uint8_t *before = malloc(DATA), *want = malloc(SEEN * ROOM);
	uint32_t i, lanes, several = 0, noticed = 0;

	(void)state;
	single.light = false;
	for (i = 0; i < 24; i++) {
		make_graph();
		memcpy(before, data, DATA);
		run_apart(&single, split, 1);
		memcpy(want, data, SEEN * ROOM);

		limits.light = i & 1;
		memcpy(data, before, DATA);
		run_whole(&limits, fused);
		check(want, "one chain", 1);
		for (lanes = 1; lanes <= 3; lanes++) {
			memcpy(data, before, DATA);
			run_apart(&limits, fused, lanes);
			check(want, "one by one", lanes);
			memcpy(data, before, DATA);
			several += run_steps(&limits, fused, lanes) > 1;
			check(want, "steps", lanes);
			memcpy(data, before, DATA);
			run_steps(&limits, split, lanes);
			check(want, "steps of single stages", lanes);
		}
		noticed += notices(before, want);
	}
	assert_true(inside > 60 && behind > 60 && compared > 80);
	assert_true(several > 5 && row_shares > 10 && kept > 20);
	/* what overwrites it, or leaves it as it is, hides one now and then */
	assert_true(noticed > 16);
	free(before);
	free(want);
}

static int start(void **state)
{
	setup(state);
	parts = calloc(OPS, sizeof(*parts));
	fused = malloc(sizeof(*fused));
	split = malloc(sizeof(*split));
	return 0;
}

static int stop(void **state)
{
	free(parts);
	free(fused);
	free(split);
	return teardown(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_graphs),
	};

	return cmocka_run_group_tests_name("fused steps", tests, start, stop);
}
