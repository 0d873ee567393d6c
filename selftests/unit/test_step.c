// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Random graphs of matmuls and other operations on the software NPU, chained as the driver does
 * and run on one to three cores in any order, give the bits that they give one after the other;
 * and what the rules are there for.
 */
#include "step_world.h"

static const struct rkmm_step_caps wide = {
	.bytes = 1 << 20, .room = 1ull << 40, .ns = 3000000, .lanes = 3,
};

static void add_matmul(struct graph *g, uint32_t i, struct rkmm_member *m)
{
	/* 4 bytes mean nothing to who reads them as one or two, but the same each time */
	bool wide_c = (g->m + 4) * (g->n + 32) * 4 < ROOM && !rnd(4);
	struct rkmm_matmul mm = {
		.types = wide_c ? RKMM_T_F16F32 : RKMM_T_F16F16, .form = RKMM_FORM_CUBE,
		.m = g->m, .k = g->n, .n = g->n, .lanes = 1 + rnd(3),
	};

	if (g->int8) {
		mm.types = wide_c ? RKMM_T_I8I32 : RKMM_T_I8I8;
		mm.mult = mm.types == RKMM_T_I8I8 ? 100 : 0;
		mm.shift = mm.types == RKMM_T_I8I8 ? 17 : 0;
	}

	assert_int_equal(rkmm_geometry(&rkmm_limits_rk3588, &mm, &g->geoms[i]), RKMM_OK);
	m->geom = &g->geoms[i];
	m->b = own(i, 1);
	m->weights = rnd(3) ? 1 : 2;
}

static void add_op(struct graph *g, uint32_t i, struct rkmm_member *m)
{
	static const enum rkmm_op_code codes[] = {
		RKMM_OP_ADD, RKMM_OP_SUB, RKMM_OP_MUL, RKMM_OP_MAX, RKMM_OP_MIN, RKMM_OP_COPY,
		RKMM_OP_RELU, RKMM_OP_SIGMOID, RKMM_OP_TANH, RKMM_OP_SILU, RKMM_OP_GELU,
		RKMM_OP_EXP, RKMM_OP_SOFTMAX, RKMM_OP_SOFTMAX, RKMM_OP_RMSNORM,
		RKMM_OP_LAYERNORM,
	};
	struct rkmm_op op = {
		.code = codes[rnd(16)], .precision = RKMM_PREC_F16, .m = g->m, .n = g->n,
	};

	if (g->int8) {
		op.precision = RKMM_PREC_I8;
		op.code = codes[rnd(7)];
		op.quant.shift = op.code == RKMM_OP_MUL ? 6 : op.code <= RKMM_OP_MIN ? 14 : 0;
	}
	if (op.code == RKMM_OP_RMSNORM || op.code == RKMM_OP_LAYERNORM)
		op.value = 0x3727c5ac;
	if (op.code == RKMM_OP_MUL && rnd(2))
		op.other = RKMM_OTHER_CHANNEL;
	assert_int_equal(rkmm_op_geometry(&rkmm_limits_rk3588, &op, &g->ops[i]), RKMM_OK);
	assert_true(g->ops[i].temp_bytes <= TEMP * ROOM && g->ops[i].const_bytes <= ROOM);
	m->op = &g->ops[i];
	m->consts = own(i, 0);
	m->b = op.other == RKMM_OTHER_CHANNEL ? own(i, 2) : tensor(rnd(TENSORS));
	if (!m->op->b.size)
		m->b = 0;
}

/* Every tensor is a buffer of its own. */
static void reach(struct rkmm_link *link, uint32_t which, uint32_t at)
{
	if (at)
		link->reach[which] = (struct rkmm_reach){
			.owner = data, .start = at, .end = at + ROOM,
		};
}

static void make_link(const struct rkmm_member *m, struct rkmm_link *link)
{
	uint32_t i, each;

	*link = (struct rkmm_link){
		.bytes = m->op ? rkmm_op_image_bytes(m->op) : rkmm_image_bytes(m->geom),
		.lanes_own = m->op ? 0 : rkmm_geom_lanes(m->geom, m->rows),
		.lanes_most = m->op || m->geom->lanes_most > m->geom->mm.lanes ?
			      m->op ? 3 : m->geom->mm.lanes : m->geom->lanes_most,
		.matmul = !m->op,
		.int8 = !m->op && rkmm_in_bits(m->geom->types) == 8,
		.int8_dpu = m->op && m->op->op.precision == RKMM_PREC_I8,
	};
	for (i = 0; i < RKMM_LANES_MAX; i++)
		link->ns[i] = rkmm_member_work(&rkmm_limits_rk3588, m, i + 1, &link->start_ns[i]);
	for (i = 1; m->op && i < RKMM_LANES_MAX; i++) {
		each = rkmm_share_rows(m->rows, i + 1);
		if ((m->rows + each - 1) / each == i + 1)
			link->rows_ns[i] = rkmm_share_ns(&rkmm_limits_rk3588, m, 0, each, i + 1);
	}
	reach(link, 0, m->a);
	reach(link, 1, m->b);
	reach(link, 2, m->c);
}

static void make_graph(struct graph *g)
{
	uint32_t i;

	g->m = 1 + rnd(rnd(4) ? 80 : 300);
	g->n = 32 * (1 + rnd(rnd(3) ? 5 : 20));
	g->count = 2 + rnd(OPS - 1);
	g->int8 = !rnd(3);
	for (i = 0; i < g->count; i++) {
		struct rkmm_member *m = &g->members[i];

		*m = (struct rkmm_member){ .rows = g->m, .count = 1, .a = tensor(rnd(TENSORS)) };
		if (rnd(3))
			add_op(g, i, m);
		else
			add_matmul(g, i, m);
		do
			m->c = tensor(rnd(TENSORS));
		while (m->c == m->a || m->c == m->b);
		make_link(m, &g->links[i]);
	}
}

/* Operations whose rows were shared out */
static uint32_t row_shares;

/* The step from @first on as the driver makes it; returns its end. */
static uint32_t run_chained(const struct rkmm_limits *limits, const struct rkmm_step_caps *caps,
			    struct graph *g, uint32_t first, uint32_t *starts, uint32_t *most)
{
	struct rkmm_member members[OPS];
	uint32_t end, lane, i, n = 0;
	bool placed = false;
	const char *why;

	end = rkmm_step_end(caps, g->links, first, g->count, &why);
	assert_true(end > first && end <= g->count);
	for (lane = 0; lane < RKMM_LANES_MAX; lane++) {
		for (i = first; i < end; i++) {
			if (g->links[i].lane != lane)
				continue;
			members[n] = g->members[i];
			members[n].lane = lane;
			members[n].after = g->links[i].after;
			members[n].temp = temp_of(lane);
			placed |= members[n].op || members[n].after || lane;
			if (lane + 1 > *most)
				*most = lane + 1;
			n++;
		}
	}
	assert_int_equal(n, end - first);
	if (g->links[first].shares) {
		assert_int_equal(n, 1);
		n = share(members, g->links[first].shares);
		*most = n;
		row_shares++;
	}
	assert_true(*most <= caps->lanes);
	*starts += run_step(limits, members, n, placed);
	return end;
}

static void test_graphs(void **state)
{
	struct rkmm_limits limits = rkmm_limits_rk3588, single = rkmm_limits_rk3588;
	uint8_t *before = malloc(DATA), *want = malloc(TENSORS * ROOM);
	uint32_t i, k, starts = 0, apart = 0, several = 0, most;
	struct rkmm_step_caps caps = wide;

	(void)state;
	single.light = false;
	caps.bytes = 64 << 20;
	for (i = 0; i < 40; i++) {
		make_graph(graph);
		fill_data(graph);
		memcpy(before, data, DATA);
		for (k = 0; k < graph->count; k++) {
			graph->members[k].temp = temp_of(0);
			apart += run_step(&single, &graph->members[k], 1, false);
		}
		memcpy(want, data, TENSORS * ROOM);

		limits.light = i & 1;
		for (caps.lanes = 1; caps.lanes <= 3; caps.lanes++) {
			memcpy(data, before, DATA);
			most = 0;
			for (k = 0; k < graph->count;)
				k = run_chained(&limits, &caps, graph, k, &starts, &most);
			assert_memory_equal(data, want, TENSORS * ROOM);
			several += most > 1;
		}
	}
	/* far fewer starts, and independent branches side by side now and then */
	assert_true(starts * 2 < apart * 3);
	assert_true(several > 5);
	assert_true(row_shares > 0);
	assert_true(kept > 20);
	/* the other int8 tasks of the DPU are in the chain of the matmul */
	assert_true(int8_resets > 0);
	free(before);
	free(want);
}

/* ---- what the rules are there for --------------------------------------------- */

/* Two lookups between two matmuls, in one chain: the second finds the table there. */
static uint32_t lookup_chain(struct rkmm_kick *k)
{
	struct rkmm_op op = {
		.code = RKMM_OP_TANH, .precision = RKMM_PREC_F16, .m = 120, .n = 64,
	};
	struct rkmm_member m[4];
	struct rkmm_extent extent;
	uint32_t i;

	graph->m = 120;
	graph->n = 64;
	graph->int8 = false;
	for (i = 0; i < 4; i++) {
		m[i] = (struct rkmm_member){
			.rows = 120, .count = 1, .a = tensor(i), .c = tensor(i + 1),
			.after = i > 0,
		};
		if (i == 1 || i == 2) {
			assert_int_equal(rkmm_op_geometry(&rkmm_limits_rk3588, &op,
							  &graph->ops[i]), RKMM_OK);
			m[i].op = &graph->ops[i];
		} else {
			add_matmul(graph, i, &m[i]);
			m[i].weights = 1;
		}
	}
	graph->count = 0;
	rkmm_image_measure(&rkmm_limits_rk3588, m, 4, &extent);
	assert_int_equal(extent.kicks, 1);
	image_bytes = extent.bytes;
	image = aligned_alloc(64, extent.bytes);
	rkmm_image_emit(&rkmm_limits_rk3588, m, 4, P_BASE, (u64 *)image, k);
	return k->tasks;
}

/* Ping-pong forced on where a table is loaded: the next lookup finds half of it. */
static void test_forced_pingpong(void **state)
{
	uint8_t *before = malloc(DATA), *want = malloc(TENSORS * ROOM);
	struct npu_report report;
	struct rkmm_kick k;
	uint32_t i, refused = 0, wrong = 0;

	(void)state;
	lookup_chain(&k);
	assert_false(k.pingpong);
	npu_core_set_laws(cores[0], false);
	fill_data(graph);
	memcpy(before, data, DATA);
	npu_start_right(cores[0], &k);
	memcpy(want, data, TENSORS * ROOM);
	for (i = 0; i < 16; i++) {
		npu_core_reset(cores[0]);
		npu_core_set_seed(cores[0], i + 1);
		memcpy(data, before, DATA);
		k.pingpong = false;
		npu_start_right(cores[0], &k);
		assert_memory_equal(data, want, TENSORS * ROOM);
		npu_core_reset(cores[0]);
		memcpy(data, before, DATA);
		k.pingpong = true;
		refused += !npu_start(cores[0], &k, &report);
		wrong += memcmp(data, want, TENSORS * ROOM) != 0;
	}
	/* reported each time; what is in half a table may be right by chance */
	assert_int_equal(refused, 16);
	assert_true(wrong > 0);
	npu_core_set_laws(cores[0], true);
	npu_core_reset(cores[0]);
	free(image);
	free(before);
	free(want);
}

/* Stops behind its first task, and why is @law */
static void stalls(const struct rkmm_kick *k, const char *law)
{
	struct npu_report report;

	assert_false(npu_start(cores[0], k, &report));
	assert_int_equal(report.cls, NPU_HANG_P);
	assert_int_equal(report.tasks_done, 1);
	assert_non_null(strstr(report.law, law));
	npu_core_reset(cores[0]);
}

/*
 * hw 03 C1: an amount of 0, or one that is too small, ends the chain at the first transition.
 * One that is too large reads on: hw 04 §0.4.
 */
static void test_wrong_amount(void **state)
{
	struct npu_report report;
	struct rkmm_kick k;
	uint64_t *words, right;
	uint32_t i, tail = 0;

	(void)state;
	lookup_chain(&k);
	fill_data(graph);
	words = (uint64_t *)image;
	/* the first amount word: target 0x0101, register 0x14 */
	for (i = 0; !tail; i++)
		if (words[i] >> 48 == 0x0101 && (words[i] & 0xffff) == 0x14)
			tail = i;
	right = words[tail];
	assert_true(npu_start(cores[0], &k, &report));
	words[tail] = right & ~0xffffffff0000ull;
	stalls(&k, "next amount 0");
	/* the start word is never fetched */
	words[tail] = right - (8ull << 16);
	stalls(&k, "no start entry");
	words[tail] = right + (8ull << 16);
	assert_true(npu_start(cores[0], &k, &report));
	words[tail] = right;
	assert_true(npu_start(cores[0], &k, &report));
	free(image);
}

static void set_up_image(const struct rkmm_member *m, uint32_t n, struct rkmm_kick *k)
{
	struct rkmm_extent extent;

	rkmm_image_measure(&rkmm_limits_rk3588, m, n, &extent);
	assert_int_equal(extent.kicks, 1);
	image_bytes = extent.bytes;
	image = aligned_alloc(64, extent.bytes + 64);
	memset(image, 0xa5, extent.bytes + 64);
	rkmm_image_emit(&rkmm_limits_rk3588, m, n, P_BASE, (u64 *)image, k);
	/* it has the size that was measured */
	for (n = 0; n < 64; n++)
		assert_int_equal(image[extent.bytes + n], 0xa5);
	assert_int_not_equal(image[extent.bytes - 1], 0xa5);
}

/* A table that is still there is not loaded; one that is not is missed. */
static void test_tables(void **state)
{
	static const enum rkmm_op_code codes[] = { RKMM_OP_TANH, RKMM_OP_TANH, RKMM_OP_SIGMOID };
	struct rkmm_op op = { .precision = RKMM_PREC_F16, .m = 120, .n = 64 };
	uint8_t *before = malloc(DATA), *want = malloc(TENSORS * ROOM);
	struct npu_report report;
	struct rkmm_member m[4];
	struct rkmm_kick k, bare;
	uint32_t i;

	(void)state;
	graph->m = 120;
	graph->n = 64;
	graph->int8 = false;
	graph->count = 0;
	for (i = 0; i < 4; i++) {
		m[i] = (struct rkmm_member){
			.rows = 120, .count = 1, .a = tensor(i), .c = tensor(i + 1),
			.after = i > 0,
		};
		if (!i) {
			add_matmul(graph, i, &m[i]);
			m[i].weights = 1;
			continue;
		}
		op.code = codes[i - 1];
		assert_int_equal(rkmm_op_geometry(&rkmm_limits_rk3588, &op, &graph->ops[i]),
				 RKMM_OK);
		m[i].op = &graph->ops[i];
	}
	fill_data(graph);
	memcpy(before, data, DATA);

	/* another table at the end than at the start */
	set_up_image(m, 4, &k);
	assert_int_equal(k.tasks, graph->geoms[0].programs + 3);
	assert_int_equal(k.table_in, 1 + RKMM_CURVE_TANH);
	assert_int_equal(k.table_out, 1 + RKMM_CURVE_SIGMOID);
	free(image);
	/* the same one: the second start finds it */
	set_up_image(m, 3, &k);
	assert_int_equal(k.table_in, 1 + RKMM_CURVE_TANH);
	assert_int_equal(k.table_out, 1 + RKMM_CURVE_TANH);
	bare = k;
	bare.addr = k.kept_addr;
	bare.amount = k.kept_amount;
	npu_core_reset(cores[0]);
	assert_false(npu_start(cores[0], &bare, &report));
	npu_core_reset(cores[0]);
	memcpy(data, before, DATA);
	npu_start_right(cores[0], &k);
	memcpy(want, data, TENSORS * ROOM);
	memcpy(data, before, DATA);
	npu_start_right(cores[0], &bare);
	assert_memory_equal(data, want, TENSORS * ROOM);
	free(image);
	/* after another one it would be wrong */
	set_up_image(m + 3, 1, &k);
	assert_int_equal(k.table_in, 1 + RKMM_CURVE_SIGMOID);
	npu_start_right(cores[0], &k);
	free(image);
	set_up_image(m, 3, &k);
	memcpy(data, before, DATA);
	assert_true(npu_start(cores[0], &bare, &report));
	assert_memory_not_equal(data, want, TENSORS * ROOM);
	free(image);

	/* nothing to look up, nothing to keep */
	graph->geoms[0].lanes = 1;
	set_up_image(m, 1, &k);
	assert_true(!k.table_in && !k.table_out && !k.kept_addr);
	free(image);
	npu_core_reset(cores[0]);
	free(before);
	free(want);
}

/*
 * hw 03 O14: an int8 task of the DPU in a start of its own behind an int8 matmul hangs, until a
 * reset; in one chain, however long, it does not.
 */
static void test_int8_chain(void **state)
{
	struct rkmm_op op = { .precision = RKMM_PREC_I8, .m = 120, .n = 64 };
	static struct rkmm_member m[400];
	struct npu_report report;
	struct rkmm_extent extent;
	struct rkmm_kick k[4];
	uint32_t i;

	(void)state;
	graph->m = 120;
	graph->n = 64;
	graph->int8 = true;
	graph->count = 0;
	op.code = RKMM_OP_RELU;
	assert_int_equal(rkmm_op_geometry(&rkmm_limits_rk3588, &op, &graph->ops[1]), RKMM_OK);
	for (i = 0; i < 400; i++) {
		m[i] = (struct rkmm_member){
			.rows = 120, .count = 1, .a = tensor(i % 2), .c = tensor(1 + i % 2),
			.after = i > 0, .op = i ? &graph->ops[1] : NULL,
		};
		if (!i)
			add_matmul(graph, i, &m[i]);
	}
	fill_data(graph);
	npu_core_reset(cores[0]);
	set_up_image(m + 1, 1, &k[1]);
	assert_true(k[1].int8_dpu && !k[1].matmuls);
	assert_true(npu_start(cores[0], &k[1], &report));
	free(image);
	graph->geoms[0].lanes = 1;
	set_up_image(m, 1, &k[0]);
	assert_true(!k[0].int8_dpu && k[0].matmuls);
	assert_true(npu_start(cores[0], &k[0], &report));
	free(image);
	set_up_image(m + 1, 1, &k[1]);
	assert_false(npu_start(cores[0], &k[1], &report));
	npu_core_reset(cores[0]);
	assert_true(npu_start(cores[0], &k[1], &report));
	free(image);
	set_up_image(m, 2, &k[0]);
	assert_true(npu_start(cores[0], &k[0], &report));
	free(image);

	/* far above the time at which others are cut */
	set_up_image(m, 400, &k[0]);
	assert_true(k[0].predicted_ns > RKMM_KICK_NS && !k[0].int8_dpu && k[0].matmuls);
	free(image);
	rkmm_image_measure(&rkmm_limits_rk3588, m + 1, 399, &extent);
	assert_true(extent.kicks > 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_graphs),
		cmocka_unit_test(test_int8_chain),
		cmocka_unit_test(test_forced_pingpong),
		cmocka_unit_test(test_wrong_amount),
		cmocka_unit_test(test_tables),
	};

	return cmocka_run_group_tests_name("steps", tests, setup, teardown);
}
