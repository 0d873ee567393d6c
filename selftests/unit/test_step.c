// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Steps of submissions: what is decided about operations by hand; and random graphs of
 * matmuls and other operations on the software NPU, chained as the driver does and run on
 * one to three cores in any order, give the bits that they give one after the other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kmod/rkmm_step.h"
#include "kmod/soft/model/npu_model.h"

#define P_BASE	0xe0000000u
#define ROOM	(1u << 19)	/* of one tensor */
#define TENSORS	10
#define OPS	12
#define OWN	4		/* rooms of an operation: constants, weights, a vector, spare */
#define TEMP	8		/* rooms of a lane */
#define DATA	((TENSORS + OWN * OPS + TEMP * RKMM_LANES_MAX) * (uint64_t)ROOM)

#define SEED	0x9e3779b97f4a7c15ull

#include "flat_world.h"

static void *core_mem[RKMM_LANES_MAX];
static struct npu_core *cores[RKMM_LANES_MAX];

/* hw 01 §2.1; whether it ended as it should */
static bool start(struct npu_core *core, const struct rkmm_kick *k, struct npu_report *report)
{
	*report = (struct npu_report){ .cls = NPU_OK };
	npu_core_write(core, 0x10, 1);
	npu_core_write(core, 0x1004, 0xe);
	npu_core_write(core, 0x3004, 0xe);
	npu_core_write(core, 0x10, k->addr);
	npu_core_write(core, 0x14, k->amount);
	npu_core_write(core, 0x20, k->int_mask);
	npu_core_write(core, 0x24, 0x1ffff);
	npu_core_write(core, 0x30, (k->pingpong ? 0x7000u : 0x6000u) | k->tasks);
	npu_core_write(core, 0x34, 0);
	if (!npu_core_write(core, 0x08, 1))
		return false;
	npu_core_run(core, NULL, NULL, report);
	npu_core_write(core, 0x08, 0);
	return report->cls == NPU_OK && report->tasks_done == k->tasks &&
	       npu_core_read(core, 0x2c) & k->int_mask;
}

/* 1 + the table that each core has, as the driver keeps books; starts without it */
static uint32_t tables[RKMM_LANES_MAX], kept;

/* Whether the core ran int8 matmuls since its last reset; resets for an int8 task of the DPU */
static bool int8[RKMM_LANES_MAX];
static uint32_t int8_resets;

static void kick(struct npu_core *core, const struct rkmm_kick *k)
{
	struct npu_report report;

	if (!start(core, k, &report)) {
		print_error("task %u of %u: %s: %s %x\n", report.task, k->tasks,
			    npu_class_name(report.cls), report.law ? report.law : "",
			    report.fault_addr);
		fail();
	}
}

/* ---- decisions by hand ------------------------------------------------------ */

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
	assert_int_equal(end_of(&caps, l, 0, 70, "bytes of programs, or mode"), 10);
	assert_int_equal(end_of(&caps, l, 10, 70, "bytes of programs, or mode"), 20);
	/* and what comes after is another unit */
	l[69] = op_link(78, 3, 40000);
	assert_int_equal(end_of(&wide, l, 66, 70, "end of the submission"), 70);
	assert_true(l[69].after && !l[67].after);
	for (i = 66; i < 69; i++)
		l[i].lanes_most = 1;
	assert_int_equal(end_of(&wide, l, 66, 70, "end of the submission"), 70);
}

/* ---- random graphs ---------------------------------------------------------- */

/**
 * struct graph - operations that read what others before them wrote
 * @m: rows of all tensors
 * @n: columns
 * @count: operations
 * @int8: of int8, else fp16
 * @members: with addresses, in order
 * @links: the same, for the decision
 * @geoms: of the matmuls
 * @ops: of the others
 */
static struct graph {
	uint32_t m, n, count;
	bool int8;
	struct rkmm_member members[OPS];
	struct rkmm_link links[OPS];
	struct rkmm_geom geoms[OPS];
	struct rkmm_opgeom ops[OPS];
} *graph;

static uint32_t tensor(uint32_t i)
{
	return D_BASE + i * ROOM;
}

static uint32_t own(uint32_t i, uint32_t what)
{
	return D_BASE + (TENSORS + OWN * i + what) * ROOM;
}

static uint32_t temp_of(uint32_t lane)
{
	return D_BASE + (TENSORS + OWN * OPS + TEMP * lane) * ROOM;
}

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

/* Moderate fp16 numbers everywhere, constants of each operation */
static void fill_data(const struct graph *g)
{
	uint64_t i;

	for (i = 0; i < DATA / 2; i++)
		((uint16_t *)data)[i] = (uint16_t)(rnd(2) << 15 | (0x2c00 + rnd(0x800)));
	for (i = 0; i < g->count; i++)
		if (g->members[i].op)
			rkmm_op_fill(g->members[i].op,
				     (u16 *)(data + (g->members[i].consts - D_BASE)));
}

/* As the scheduler starts it: without the table where the core has that */
static void kick_lane(uint32_t lane, const struct rkmm_kick *k)
{
	bool hang = k->int8_dpu && int8[lane];
	struct rkmm_kick start = *k;

	int8_resets += hang;
	if (hang || !rnd(9)) {
		npu_core_reset(cores[lane]);
		tables[lane] = 0;
		int8[lane] = false;
	}
	if (k->table_in && k->table_in == tables[lane]) {
		start.addr = k->kept_addr;
		start.amount = k->kept_amount;
		kept++;
	}
	kick(cores[lane], &start);
	if (k->table_out)
		tables[lane] = k->table_out;
	int8[lane] |= graph->int8;
}

/* Each lane on a core of its own; kicks of lanes in any order */
static void run_lanes(const struct rkmm_kick *kicks, uint32_t n, uint32_t lanes)
{
	uint32_t next[RKMM_LANES_MAX] = { 0 }, left = n, lane, i;

	while (left) {
		lane = rnd(lanes);
		for (i = next[lane]; i < n && kicks[i].lane != lane; i++)
			;
		next[lane] = i + 1;
		if (i >= n)
			continue;
		kick_lane(lane, &kicks[i]);
		left--;
	}
}

/* Returns the number of starts. */
static uint32_t run_step(const struct rkmm_limits *limits, const struct rkmm_member *members,
			 uint32_t n, bool placed)
{
	struct rkmm_extent extent;
	struct rkmm_kick *kicks;
	uint32_t i, lanes = 1;

	rkmm_image_measure(limits, members, n, &extent);
	if (placed) {
		for (i = 0; i < n; i++)
			if (members[i].lane + 1 > lanes)
				lanes = members[i].lane + 1;
		assert_int_equal(extent.lanes, lanes);
	}
	image_bytes = extent.bytes;
	image = aligned_alloc(64, extent.bytes);
	kicks = calloc(extent.kicks, sizeof(*kicks));
	rkmm_image_emit(limits, members, n, P_BASE, (u64 *)image, kicks);
	run_lanes(kicks, extent.kicks, extent.lanes);
	free(kicks);
	free(image);
	return extent.kicks;
}

static uint32_t row_shares;

/* The rows of @members[0] on @lanes lanes */
static uint32_t share(struct rkmm_member *members, uint32_t lanes)
{
	const struct rkmm_member whole = members[0];
	uint32_t each = rkmm_share_rows(whole.rows, lanes), i;

	for (i = 0; i * each < whole.rows; i++) {
		members[i] = whole;
		members[i].first = i * each;
		members[i].rows = whole.rows - i * each < each ? whole.rows - i * each : each;
		members[i].lane = i;
		members[i].temp = temp_of(i);
	}
	return i;
}

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
	assert_true(kept > 20);
	/* the other int8 tasks of the DPU are in the chain of the matmul */
	assert_true(int8_resets > 0);
	free(before);
	free(want);
}

static enum rkmm_reason any_op(struct rkmm_op *op, uint32_t code)
{
	static const enum rkmm_precision precisions[] = {
		RKMM_PREC_F16, RKMM_PREC_I8, RKMM_PREC_I16,
	};
	bool real;

	*op = (struct rkmm_op){
		.code = code, .precision = precisions[rnd(3)], .m = 72 + rnd(500), .n = 1 + rnd(150),
		.other = code <= RKMM_OP_DIV ? rnd(3) : 0,
	};
	real = op->precision == RKMM_PREC_F16;
	if (code == RKMM_OP_RMSNORM || code == RKMM_OP_LAYERNORM)
		op->value = 0x3727c5ac;
	if (code == RKMM_OP_LEAKY || op->other == RKMM_OTHER_SCALAR)
		op->value = real || code == RKMM_OP_LEAKY ? 0x3e800000 : 3;
	if (!real && code <= RKMM_OP_MIN && op->other == RKMM_OTHER_TENSOR)
		op->quant.shift = code == RKMM_OP_MUL ? 6 : 14;
	if (!real && code >= RKMM_OP_EXP && code <= RKMM_OP_RSQRT) {
		op->scale = 0x3d000000;
		op->out_scale = 0x3d000000;
	}
	if (code == RKMM_OP_SOFTMAX && rnd(2))
		op->flags = rnd(2) || op->n < op->m ? RKMM_OP_MASK : RKMM_OP_CAUSAL;
	if (code == RKMM_OP_RMSNORM || code == RKMM_OP_LAYERNORM)
		op->flags = rnd(2) ? RKMM_OP_GAMMA : 0;
	if (code == RKMM_OP_LAYERNORM && rnd(2))
		op->flags |= RKMM_OP_BETA;
	if (code <= RKMM_OP_RSQRT && op->other != RKMM_OTHER_CHANNEL && !rnd(4))
		op->flags = RKMM_OP_FLAT;
	return rkmm_op_geometry(&rkmm_limits_rk3588, op, &graph->ops[0]);
}

/*
 * The rows of any operation but pooling, also of a part of them, shared out over two or three
 * cores in any order: the bits of one core, and nothing else is written.
 */
static void test_shares(void **state)
{
	uint8_t *before = malloc(TENSORS * ROOM), *want = malloc(TENSORS * ROOM);
	uint32_t i, n, each, tried = 0, kinds = 0, codes = 0;
	struct rkmm_member m[RKMM_LANES_MAX];
	struct rkmm_op op;

	(void)state;
	graph->int8 = false;
	graph->count = 0;
	fill_data(graph);
	memcpy(before, data, TENSORS * ROOM);
	for (i = 0; tried < 120; i++) {
		if (any_op(&op, i % RKMM_OP_MAXPOOL) != RKMM_OK)
			continue;
		m[0] = (struct rkmm_member){
			.op = &graph->ops[0], .rows = rnd(2) ? op.m : 72 + rnd(op.m - 71), .count = 1,
			.a = tensor(0), .b = tensor(1), .c = tensor(2), .d = tensor(3),
			.temp = temp_of(0), .consts = own(0, 0),
		};
		/* whole entries of 16 bytes are written, whatever is in the last ones */
		if (op.code == RKMM_OP_ROWMAX)
			m[0].rows = m[0].rows / 8 * 8;
		assert_true(m[0].op->a.size <= ROOM && m[0].op->const_bytes <= ROOM);
		if (m[0].op->temp_bytes > TEMP * ROOM)
			continue;
		graph->members[0] = m[0];
		rkmm_op_fill(m[0].op, (u16 *)(data + (m[0].consts - D_BASE)));
		run_step(&rkmm_limits_rk3588, m, 1, true);
		memcpy(want, data, TENSORS * ROOM);
		memcpy(data, before, TENSORS * ROOM);
		n = 2 + rnd(2);
		each = rkmm_share_rows(m[0].rows, n);
		assert_true(each % RKMM_SHARE_ROWS == 0 || each == m[0].rows);
		n = share(m, n);
		assert_true(n > 1 || m[0].rows <= RKMM_SHARE_ROWS);
		run_step(&rkmm_limits_rk3588, m, n, true);
		if (memcmp(data, want, TENSORS * ROOM))
			print_error("%s %ux%u: %u rows on %u cores\n", rkmm_op_name(op.code), op.m,
				    op.n, graph->members[0].rows, n);
		assert_memory_equal(data, want, TENSORS * ROOM);
		memcpy(data, before, TENSORS * ROOM);
		kinds |= 1u << op.precision;
		codes |= 1u << op.code;
		tried++;
	}
	assert_int_equal(codes, (1u << RKMM_OP_MAXPOOL) - 1);
	assert_int_equal(kinds, 1u << RKMM_PREC_F16 | 1u << RKMM_PREC_I8 | 1u << RKMM_PREC_I16);
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
	kick(cores[0], &k);
	memcpy(want, data, TENSORS * ROOM);
	for (i = 0; i < 16; i++) {
		npu_core_reset(cores[0]);
		npu_core_set_seed(cores[0], i + 1);
		memcpy(data, before, DATA);
		k.pingpong = false;
		kick(cores[0], &k);
		assert_memory_equal(data, want, TENSORS * ROOM);
		npu_core_reset(cores[0]);
		memcpy(data, before, DATA);
		k.pingpong = true;
		refused += !start(cores[0], &k, &report);
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

/* hw 03 C1: every amount but the right one ends the chain at the first transition. */
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
	assert_true(start(cores[0], &k, &report));
	words[tail] = right & ~0xffffffff0000ull;
	assert_false(start(cores[0], &k, &report));
	assert_int_not_equal(report.cls, NPU_OK);
	npu_core_reset(cores[0]);
	/* too short: the start word is never fetched */
	words[tail] = right - (8ull << 16);
	assert_false(start(cores[0], &k, &report));
	npu_core_reset(cores[0]);
	words[tail] = right;
	assert_true(start(cores[0], &k, &report));
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
	assert_false(start(cores[0], &bare, &report));
	npu_core_reset(cores[0]);
	memcpy(data, before, DATA);
	kick(cores[0], &k);
	memcpy(want, data, TENSORS * ROOM);
	memcpy(data, before, DATA);
	kick(cores[0], &bare);
	assert_memory_equal(data, want, TENSORS * ROOM);
	free(image);
	/* after another one it would be wrong */
	set_up_image(m + 3, 1, &k);
	assert_int_equal(k.table_in, 1 + RKMM_CURVE_SIGMOID);
	kick(cores[0], &k);
	free(image);
	set_up_image(m, 3, &k);
	memcpy(data, before, DATA);
	assert_true(start(cores[0], &bare, &report));
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
	assert_true(k[1].int8_dpu);
	assert_true(start(cores[0], &k[1], &report));
	free(image);
	graph->geoms[0].lanes = 1;
	set_up_image(m, 1, &k[0]);
	assert_false(k[0].int8_dpu);
	assert_true(start(cores[0], &k[0], &report));
	free(image);
	set_up_image(m + 1, 1, &k[1]);
	assert_false(start(cores[0], &k[1], &report));
	npu_core_reset(cores[0]);
	assert_true(start(cores[0], &k[1], &report));
	free(image);
	set_up_image(m, 2, &k[0]);
	assert_true(start(cores[0], &k[0], &report));
	free(image);

	/* far above the time at which others are cut */
	set_up_image(m, 400, &k[0]);
	assert_true(k[0].predicted_ns > RKMM_KICK_NS && !k[0].int8_dpu);
	free(image);
	rkmm_image_measure(&rkmm_limits_rk3588, m + 1, 399, &extent);
	assert_true(extent.kicks > 1);
}

static int setup(void **state)
{
	uint32_t i;

	(void)state;
	data = aligned_alloc(64, DATA);
	graph = malloc(sizeof(*graph));
	for (i = 0; i < RKMM_LANES_MAX; i++) {
		core_mem[i] = aligned_alloc(64, NPU_CORE_BYTES);
		cores[i] = npu_core_init(core_mem[i], i, &env);
		npu_core_set_laws(cores[i], true);
		npu_core_set_quirks(cores[i], NPU_QUIRK_INT8_WEDGE);
	}
	return 0;
}

static int teardown(void **state)
{
	uint32_t i;

	(void)state;
	for (i = 0; i < RKMM_LANES_MAX; i++)
		free(core_mem[i]);
	free(data);
	free(graph);
	return 0;
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
		cmocka_unit_test(test_graphs),
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_int8_chain),
		cmocka_unit_test(test_forced_pingpong),
		cmocka_unit_test(test_wrong_amount),
		cmocka_unit_test(test_tables),
	};

	return cmocka_run_group_tests_name("steps", tests, setup, teardown);
}
