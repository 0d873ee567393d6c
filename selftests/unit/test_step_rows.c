// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Operations that are no matmuls in parts: rows shared out over cores, tasks that are not long,
 * columns of a pooling.
 */
#include "step_world.h"

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

/* No task is long, so that chains are cut at about 3 ms, whatever the shape. */
static void test_long(void **state)
{
	static const struct {
		enum rkmm_op_code code;
		uint32_t m, n;
	} shapes[] = {
		{ RKMM_OP_ADD, 8168, 4000 }, { RKMM_OP_COPY, 300000, 64 }, { RKMM_OP_GELU, 2000, 8192 },
		{ RKMM_OP_MAX, 1, 8192 }, { RKMM_OP_MAXPOOL, 512 * 512, 100 },
	};
	static const u32 addr[RKMM_AREAS];
	struct rkmm_extent extent;
	struct rkmm_kick *kicks;
	uint32_t i, k, n, longest;
	uint64_t sum;

	(void)state;
	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct rkmm_op op = {
			.code = shapes[i].code, .precision = RKMM_PREC_F16, .m = shapes[i].m,
			.n = shapes[i].n,
		};
		struct rkmm_member m = { .op = &graph->ops[0], .rows = op.m, .count = 1 };

		if (op.code == RKMM_OP_MAXPOOL) {
			op.width = 512;
			op.kernel_w = 2;
			op.kernel_h = 2;
		}
		assert_int_equal(rkmm_op_geometry(&rkmm_limits_rk3588, &op, &graph->ops[0]), RKMM_OK);
		n = rkmm_op_tasks(m.op, op.m);
		for (k = 0, longest = 0, sum = 0; k < n; k++) {
			struct rkmm_task task;

			rkmm_op_task(m.op, k, op.m, addr, &task);
			task.ns = rkmm_task_work_ns(&rkmm_limits_rk3588, &task);
			sum += task.ns;
			if (task.ns > longest)
				longest = task.ns;
		}
		/* of pooling a group of columns, at least */
		assert_true(longest < (op.code == RKMM_OP_MAXPOOL ? 2200000 : 1500000));
		rkmm_image_measure(&rkmm_limits_rk3588, &m, 1, &extent);
		assert_true(extent.kicks >= sum / RKMM_KICK_NS);
		assert_int_equal(extent.kicks > 1, sum > RKMM_KICK_NS);
		image_bytes = extent.bytes;
		image = aligned_alloc(64, extent.bytes);
		kicks = calloc(extent.kicks, sizeof(*kicks));
		rkmm_image_emit(&rkmm_limits_rk3588, &m, 1, P_BASE, (u64 *)image, kicks);
		for (k = 0; k < extent.kicks; k++)
			assert_true(kicks[k].predicted_ns <= RKMM_KICK_NS);
		free(kicks);
		free(image);
	}
}

static int16_t number_at(uint32_t base, uint32_t pixels, uint32_t pixel, uint32_t col)
{
	int16_t v;

	memcpy(&v, data + (base - D_BASE) + 16ull * (col / 8 * pixels + pixel) + col % 8 * 2, 2);
	return v;
}

/* Pooling of so many columns that several tasks share them. Positive halves rise as integers. */
static void test_wide_pool(void **state)
{
	struct rkmm_op op = {
		.code = RKMM_OP_MAXPOOL, .precision = RKMM_PREC_F16, .m = 64 * 60, .n = 203,
		.width = 64, .kernel_w = 4, .kernel_h = 4,
	};
	const uint32_t pixels = 16 * 15;
	struct rkmm_member m = {
		.op = &graph->ops[0], .rows = op.m, .count = 1, .a = tensor(0), .c = tensor(6),
	};
	uint32_t y, x, col, i;

	(void)state;
	graph->count = 0;
	graph->int8 = false;
	fill_data(graph);
	for (i = 0; i < 6 * ROOM / 2; i++)
		((uint16_t *)data)[i] &= 0x7fff;
	assert_int_equal(rkmm_op_geometry(&rkmm_limits_rk3588, &op, &graph->ops[0]), RKMM_OK);
	assert_true(rkmm_op_tasks(m.op, op.m) > 1);
	run_step(&rkmm_limits_rk3588, &m, 1, true);
	for (y = 0; y < 15; y++) {
		for (x = 0; x < 16; x++) {
			for (col = 0; col < op.n; col++) {
				int16_t most = 0, v;

				for (i = 0; i < 16; i++) {
					v = number_at(m.a, op.m, (4 * y + i / 4) * 64 + 4 * x + i % 4, col);
					most = v > most ? v : most;
				}
				assert_int_equal(number_at(m.c, pixels, y * 16 + x, col), most);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_wide_pool),
	};

	return cmocka_run_group_tests_name("parts", tests, setup, teardown);
}
