// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Mixed chains on the software NPU: random graphs of matmuls and other operations,
 * linked into as few starts as the laws allow, give the bits that they give one task
 * after the other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kmod/prog/rkmm_chain.h"
#include "kmod/soft/model/npu_model.h"

#define P_BASE	0xf0000000u
#define ROOM	(1u << 19)	/* of one tensor */
#define TENSORS	6
#define MEMBERS	8
#define DATA	((TENSORS + 4 * MEMBERS) * (uint64_t)ROOM)

#define SEED	0x2545f4914f6cdd1dull

#include "flat_world.h"

static struct npu_core *core;
static void *core_mem;

/* hw 01 §2.1 */
static bool start(uint32_t addr, uint32_t amount, uint32_t tasks, uint32_t int_mask, bool pingpong,
		  struct npu_report *report)
{
	npu_core_write(core, 0x10, 1);
	npu_core_write(core, 0x1004, 0xe);
	npu_core_write(core, 0x3004, 0xe);
	npu_core_write(core, 0x10, addr);
	npu_core_write(core, 0x14, amount);
	npu_core_write(core, 0x20, int_mask);
	npu_core_write(core, 0x24, 0x1ffff);
	npu_core_write(core, 0x30, (pingpong ? 0x7000u : 0x6000u) | tasks);
	npu_core_write(core, 0x34, 0);
	if (!npu_core_write(core, 0x08, 1))
		return false;
	npu_core_run(core, NULL, NULL, report);
	npu_core_write(core, 0x08, 0);
	return report->cls == NPU_OK && report->tasks_done == tasks &&
	       npu_core_read(core, 0x2c) & int_mask;
}

static void kick(const struct rkmm_kick *k)
{
	struct npu_report report = { .cls = NPU_OK };

	if (!start(k->addr, k->amount, k->tasks, k->int_mask, k->pingpong, &report)) {
		print_error("task %u of %u: %s: %s %x\n", report.task, k->tasks,
			    npu_class_name(report.cls), report.law ? report.law : "",
			    report.fault_addr);
		fail();
	}
}

/**
 * struct graph - operations that each read what others before them wrote
 * @m: rows of all tensors
 * @n: columns
 * @count: operations
 * @members: with addresses
 * @geoms: of the matmuls
 * @ops: of the others
 */
static struct graph {
	uint32_t m, n, count;
	struct rkmm_member members[MEMBERS];
	struct rkmm_geom geoms[MEMBERS];
	struct rkmm_opgeom ops[MEMBERS];
} *graph;

static uint32_t tensor(uint32_t i)
{
	return D_BASE + i * ROOM;
}

/* Memory of operation @i: temporary, constants, weights, a vector */
static uint32_t own(uint32_t i, uint32_t what)
{
	return D_BASE + (TENSORS + 4 * i + what) * ROOM;
}

/* N x N, fp16 cubes in and out, so that tensors stay what they are */
static void add_matmul(struct graph *g, uint32_t i, struct rkmm_member *m)
{
	const struct rkmm_matmul mm = {
		.types = RKMM_T_F16F16, .form = RKMM_FORM_CUBE, .m = g->m, .k = g->n, .n = g->n,
	};

	assert_int_equal(rkmm_geometry(&rkmm_limits_rk3588, &mm, &g->geoms[i]), RKMM_OK);
	m->geom = &g->geoms[i];
	m->b = own(i, 2);
	m->weights = rnd(3) ? 1 : 2;
}

static void add_op(struct graph *g, uint32_t i, struct rkmm_member *m)
{
	static const enum rkmm_op_code codes[] = {
		RKMM_OP_ADD, RKMM_OP_SUB, RKMM_OP_MUL, RKMM_OP_MAX, RKMM_OP_MIN, RKMM_OP_DIV,
		RKMM_OP_COPY, RKMM_OP_RELU, RKMM_OP_SIGMOID, RKMM_OP_TANH, RKMM_OP_SILU,
		RKMM_OP_GELU, RKMM_OP_HARDSWISH, RKMM_OP_EXP, RKMM_OP_SOFTMAX, RKMM_OP_SOFTMAX,
		RKMM_OP_RMSNORM, RKMM_OP_LAYERNORM,
	};
	struct rkmm_op op = {
		.code = codes[rnd(18)], .precision = RKMM_PREC_F16, .m = g->m, .n = g->n,
	};

	if (op.code == RKMM_OP_RMSNORM || op.code == RKMM_OP_LAYERNORM)
		op.value = 0x3727c5ac;
	if (op.code == RKMM_OP_MUL && rnd(2))
		op.other = RKMM_OTHER_CHANNEL;
	assert_int_equal(rkmm_op_geometry(&rkmm_limits_rk3588, &op, &g->ops[i]), RKMM_OK);
	assert_true(g->ops[i].temp_bytes <= ROOM && g->ops[i].const_bytes <= ROOM);
	m->op = &g->ops[i];
	m->b = op.other == RKMM_OTHER_CHANNEL ? own(i, 3) : tensor(rnd(TENSORS));
	m->weights = 1;
}

static void make_graph(struct graph *g)
{
	uint32_t i;

	g->m = 1 + rnd(rnd(4) ? 80 : 300);
	g->n = 32 * (1 + rnd(5));
	g->count = 2 + rnd(MEMBERS - 1);
	for (i = 0; i < g->count; i++) {
		struct rkmm_member *m = &g->members[i];

		*m = (struct rkmm_member){
			.rows = g->m, .count = 1, .after = true, .a = tensor(rnd(TENSORS)),
			.temp = own(i, 0), .consts = own(i, 1),
		};
		if (rnd(3))
			add_op(g, i, m);
		else
			add_matmul(g, i, m);
		do
			m->c = tensor(rnd(TENSORS));
		while (m->c == m->a || m->c == m->b);
	}
}

/* Moderate fp16 numbers everywhere, constants of each operation, no NaN to start with */
static void fill_data(const struct graph *g)
{
	uint64_t i;

	for (i = 0; i < DATA / 2; i++)
		((uint16_t *)data)[i] = (uint16_t)(rnd(2) << 15 | (0x3000 + rnd(0x800)));
	for (i = 0; i < g->count; i++)
		if (g->members[i].op)
			rkmm_op_fill(g->members[i].op,
				     (u16 *)(data + (g->members[i].consts - D_BASE)));
}

static void run_image(const struct rkmm_limits *limits, const struct rkmm_member *members,
		      uint32_t n, uint32_t *starts)
{
	struct rkmm_extent extent;
	struct rkmm_kick *kicks;
	uint32_t i;

	rkmm_image_measure(limits, members, n, &extent);
	assert_int_equal(extent.lanes, 1);
	image_bytes = extent.bytes;
	image = aligned_alloc(64, extent.bytes);
	kicks = calloc(extent.kicks, sizeof(*kicks));
	rkmm_image_emit(limits, members, n, P_BASE, (u64 *)image, kicks);
	for (i = 0; i < extent.kicks; i++) {
		assert_false(kicks[i].pingpong);
		assert_non_null(kicks[i].reason);
		kick(&kicks[i]);
	}
	*starts += extent.kicks;
	free(kicks);
	free(image);
}

static void test_graphs(void **state)
{
	struct rkmm_limits limits = rkmm_limits_rk3588, single = rkmm_limits_rk3588;
	uint8_t *before = malloc(DATA), *chained = malloc(DATA);
	uint32_t i, k, starts, all_starts = 0, cut_starts = 0;

	(void)state;
	single.tasks_max = 1;
	single.light = false;
	for (i = 0; i < 60; i++) {
		make_graph(graph);
		fill_data(graph);
		memcpy(before, data, DATA);
		starts = 0;
		limits.light = i & 1;
		run_image(&limits, graph->members, graph->count, &starts);
		all_starts += starts;
		memcpy(chained, data, TENSORS * ROOM);

		/* a start for each task, after a reset now and then */
		memcpy(data, before, DATA);
		for (k = 0; k < graph->count; k++) {
			run_image(&single, &graph->members[k], 1, &cut_starts);
			if (!rnd(8))
				npu_core_reset(core);
		}
		assert_memory_equal(data, chained, TENSORS * ROOM);

		/* kicks of a few tasks */
		memcpy(data, before, DATA);
		limits.tasks_max = 1 + rnd(9);
		run_image(&limits, graph->members, graph->count, &cut_starts);
		assert_memory_equal(data, chained, TENSORS * ROOM);
		limits.tasks_max = rkmm_limits_rk3588.tasks_max;
	}
	/* the whole of it in far fewer starts than tasks */
	assert_true(all_starts * 8 < cut_starts);
	free(before);
	free(chained);
}

/* A lookup twice with the same table loads it once in a start, and once more in the next. */
static void test_table_stays(void **state)
{
	struct rkmm_limits limits = rkmm_limits_rk3588;
	struct rkmm_op op = {
		.code = RKMM_OP_TANH, .precision = RKMM_PREC_F16, .m = 40, .n = 64,
	};
	struct rkmm_member m[3];
	struct rkmm_extent extent;
	uint32_t i;

	(void)state;
	assert_int_equal(rkmm_op_geometry(&limits, &op, &graph->ops[0]), RKMM_OK);
	op.code = RKMM_OP_SIGMOID;
	assert_int_equal(rkmm_op_geometry(&limits, &op, &graph->ops[1]), RKMM_OK);
	for (i = 0; i < 3; i++)
		m[i] = (struct rkmm_member){
			.op = &graph->ops[0], .rows = 40, .count = 1, .a = tensor(i),
			.c = tensor(i + 1), .after = true,
		};
	rkmm_image_measure(&limits, m, 3, &extent);
	/* and the first one once more, for a core that has the table */
	assert_int_equal(extent.bytes, rkmm_slot_bytes(1097) + 3 * rkmm_slot_bytes(69));
	m[1].op = &graph->ops[1];
	rkmm_image_measure(&limits, m, 3, &extent);
	assert_int_equal(extent.bytes, 3 * rkmm_slot_bytes(1097) + rkmm_slot_bytes(69));
	m[1].op = &graph->ops[0];
	limits.tasks_max = 1;
	rkmm_image_measure(&limits, m, 3, &extent);
	assert_int_equal(extent.bytes, 3 * rkmm_slot_bytes(1097) + 3 * rkmm_slot_bytes(69));
	assert_int_equal(extent.kicks, 3);
}

/* What belongs apart is cut, and says why. */
static void test_reasons(void **state)
{
	struct rkmm_op op = { .code = RKMM_OP_ADD, .precision = RKMM_PREC_I8, .m = 40, .n = 64 };
	struct rkmm_member m[2] = { { 0 } };
	struct rkmm_kick kicks[4];
	struct rkmm_extent extent;
	uint32_t i;

	(void)state;
	assert_int_equal(rkmm_op_geometry(&rkmm_limits_rk3588, &op, &graph->ops[0]), RKMM_OK);
	op.precision = RKMM_PREC_F16;
	assert_int_equal(rkmm_op_geometry(&rkmm_limits_rk3588, &op, &graph->ops[1]), RKMM_OK);
	for (i = 0; i < 2; i++)
		m[i] = (struct rkmm_member){
			.op = &graph->ops[i], .rows = 40, .count = 2, .a = tensor(0),
			.b = tensor(1), .c = tensor(2), .after = true,
		};
	rkmm_image_measure(&rkmm_limits_rk3588, m, 2, &extent);
	assert_int_equal(extent.kicks, 2);
	image = aligned_alloc(64, extent.bytes);
	rkmm_image_emit(&rkmm_limits_rk3588, m, 2, P_BASE, (u64 *)image, kicks);
	assert_int_equal(kicks[0].tasks, 2);
	assert_string_equal(kicks[0].reason, "cut: another precision");
	assert_int_equal(kicks[1].tasks, 2);
	assert_false(kicks[0].pingpong || kicks[1].pingpong);
	assert_int_equal(kicks[0].int_mask, 0x300);
	free(image);

	/* pooling last: its interrupt */
	op = (struct rkmm_op){
		.code = RKMM_OP_MAXPOOL, .precision = RKMM_PREC_F16, .m = 40, .n = 64,
		.width = 8, .kernel_w = 2, .kernel_h = 2,
	};
	assert_int_equal(rkmm_op_geometry(&rkmm_limits_rk3588, &op, &graph->ops[0]), RKMM_OK);
	m[0] = m[1];
	m[1].op = &graph->ops[0];
	m[1].count = 1;
	rkmm_image_measure(&rkmm_limits_rk3588, m, 2, &extent);
	assert_int_equal(extent.kicks, 1);
	image = aligned_alloc(64, extent.bytes);
	rkmm_image_emit(&rkmm_limits_rk3588, m, 2, P_BASE, (u64 *)image, kicks);
	assert_int_equal(kicks[0].tasks, 3);
	assert_int_equal(kicks[0].int_mask, 0xc00);
	assert_string_equal(kicks[0].reason, "a task of the DPU alone");
	free(image);
}

static int setup(void **state)
{
	(void)state;
	core_mem = aligned_alloc(64, NPU_CORE_BYTES);
	data = aligned_alloc(64, DATA);
	graph = malloc(sizeof(*graph));
	core = npu_core_init(core_mem, 0, &env);
	npu_core_set_laws(core, true);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(core_mem);
	free(data);
	free(graph);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_graphs),
		cmocka_unit_test(test_table_stays),
		cmocka_unit_test(test_reasons),
	};

	return cmocka_run_group_tests_name("mixed chains", tests, setup, teardown);
}
