// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Which descriptions of operations are refused, and what every one that is not keeps to.
 */
#include "op_words.h"

static void refuse(struct rkmm_op op, enum rkmm_reason reason)
{
	assert_int_equal(rkmm_op_geometry(&rkmm_limits_rk3588, &op, geom), reason);
}

#define WITH(code, precision, reason, ...) do {				\
	struct rkmm_op op_ = operation(code, precision);		\
									\
	__VA_ARGS__;							\
	refuse(op_, reason);						\
} while (0)

static void test_refusals(void **state)
{
	(void)state;
	WITH(RKMM_OP_COUNT, RKMM_PREC_F16, RKMM_REASON_OPERATION, (void)0);
	WITH(RKMM_OP_REQUANT, RKMM_PREC_I8, RKMM_REASON_READ_BACK, (void)0);
	WITH(RKMM_OP_ADD, RKMM_PREC_I32, RKMM_REASON_READ_BACK, (void)0);
	WITH(RKMM_OP_TRANSPOSE, RKMM_PREC_F16, RKMM_REASON_OPERATION, (void)0);
	WITH(RKMM_OP_ADD, RKMM_PREC_F32, RKMM_REASON_TYPES, (void)0);
	WITH(RKMM_OP_ADD, RKMM_PREC_F16, RKMM_REASON_ZERO, op_.m = 0);
	WITH(RKMM_OP_ADD, RKMM_PREC_F16, RKMM_REASON_ZERO, op_.n = 0);
	WITH(RKMM_OP_ADD, RKMM_PREC_F16, RKMM_REASON_SIZE, op_.m = 0xffffffff);
	WITH(RKMM_OP_ADD, RKMM_PREC_F16, RKMM_REASON_SIZE, op_.n = 0xffffffff);
	WITH(RKMM_OP_ADD, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.other = RKMM_OTHER_COUNT);
	WITH(RKMM_OP_RELU, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.other = RKMM_OTHER_SCALAR);
	WITH(RKMM_OP_ADD, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.flags = 1u << 31);
	WITH(RKMM_OP_ADD, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.flags = RKMM_OP_CAUSAL);
	WITH(RKMM_OP_ADD, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.width = 4);
	WITH(RKMM_OP_SOFTMAX, RKMM_PREC_F16, RKMM_REASON_LAYOUT, op_.flags = RKMM_OP_FLAT);
	WITH(RKMM_OP_SOFTMAX, RKMM_PREC_I8, RKMM_REASON_OPERATION, (void)0);
	WITH(RKMM_OP_SOFTMAX, RKMM_PREC_F16, RKMM_REASON_N_LIMIT, op_.n = 8193);
	WITH(RKMM_OP_SOFTMAX, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.scale = 0xbf800000);
	WITH(RKMM_OP_SOFTMAX, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.scale = 0x42280000);
	WITH(RKMM_OP_SOFTMAX, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.scale = 0x7f800000);
	WITH(RKMM_OP_DIV, RKMM_PREC_I8, RKMM_REASON_OPERATION, (void)0);
	WITH(RKMM_OP_DIV, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.other = RKMM_OTHER_SCALAR);
	WITH(RKMM_OP_MAX, RKMM_PREC_F16, RKMM_REASON_OPERATION, op_.other = RKMM_OTHER_CHANNEL);
	WITH(RKMM_OP_MUL, RKMM_PREC_I8, RKMM_REASON_QUANT, op_.quant.mult = 0x8000);
	WITH(RKMM_OP_MUL, RKMM_PREC_I8, RKMM_REASON_QUANT, op_.quant.shift = 64);
	WITH(RKMM_OP_CLAMP, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.value = 0x3f800000);
	WITH(RKMM_OP_CLAMP, RKMM_PREC_I8, RKMM_REASON_PARAM,
	     op_.value = 0x80000000; op_.value2 = 0x7fffffff);
	WITH(RKMM_OP_LEAKY, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.value = 0x40000000);
	WITH(RKMM_OP_RMSNORM, RKMM_PREC_F16, RKMM_REASON_PARAM, (void)0);
	WITH(RKMM_OP_RMSNORM, RKMM_PREC_F16, RKMM_REASON_PARAM,
	     op_.value = 0x3727c5ac; op_.flags = RKMM_OP_BETA);
	/* roots that no fp16 number is */
	WITH(RKMM_OP_RMSNORM, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.value = 0x00000001);
	WITH(RKMM_OP_RMSNORM, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.value = 0x7f7fffff);
	WITH(RKMM_OP_SILU, RKMM_PREC_I8, RKMM_REASON_PARAM, (void)0);
	WITH(RKMM_OP_MAXPOOL, RKMM_PREC_F16, RKMM_REASON_PARAM, (void)0);
	WITH(RKMM_OP_MAXPOOL, RKMM_PREC_F16, RKMM_REASON_PARAM,
	     op_.width = 8; op_.kernel_w = 17; op_.kernel_h = 2);
	WITH(RKMM_OP_MAXPOOL, RKMM_PREC_F16, RKMM_REASON_PARAM,
	     op_.width = 7; op_.kernel_w = 2; op_.kernel_h = 2);
}

/* What an operation does not have is refused, wherever it stands. */
static void test_unknown(void **state)
{
	(void)state;
	WITH(RKMM_OP_ADD, RKMM_PREC_F16, RKMM_OK, (void)0);
	WITH(RKMM_OP_ADD, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.value = 1);
	WITH(RKMM_OP_ADD, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.value2 = 1);
	WITH(RKMM_OP_ADD, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.scale = 0x3f800000);
	WITH(RKMM_OP_ADD, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.out_scale = 0x3f800000);
	WITH(RKMM_OP_COPY, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.quant.za = 1);
	WITH(RKMM_OP_RELU, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.quant.mult = 1);
	WITH(RKMM_OP_SILU, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.quant.zo = 1);
	WITH(RKMM_OP_SILU, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.scale = 0x3f800000);
	WITH(RKMM_OP_SOFTMAX, RKMM_PREC_F16, RKMM_REASON_PARAM, op_.out_scale = 0x3f800000);
	WITH(RKMM_OP_ADD, RKMM_PREC_I8, RKMM_OK, op_.quant.sb = 1);
	WITH(RKMM_OP_MUL, RKMM_PREC_I8, RKMM_REASON_PARAM, op_.quant.sb = 1);
	WITH(RKMM_OP_MUL, RKMM_PREC_I8, RKMM_REASON_PARAM, op_.quant.sb_shift = 1);
	WITH(RKMM_OP_MUL, RKMM_PREC_I8, RKMM_OK, op_.quant.zb = 1);
	WITH(RKMM_OP_COPY, RKMM_PREC_I8, RKMM_REASON_PARAM, op_.quant.zb = 1);
	WITH(RKMM_OP_ADD, RKMM_PREC_I8, RKMM_OK,
	     op_.other = RKMM_OTHER_CHANNEL; op_.quant.mult = 1);
	WITH(RKMM_OP_ADD, RKMM_PREC_I8, RKMM_REASON_PARAM,
	     op_.other = RKMM_OTHER_CHANNEL; op_.quant.za = 1);
	WITH(RKMM_OP_LEAKY, RKMM_PREC_I8, RKMM_REASON_PARAM,
	     op_.value = 0x3e000000; op_.quant.mult = 1);
	WITH(RKMM_OP_SILU, RKMM_PREC_I8, RKMM_REASON_PARAM,
	     op_.scale = 0x3c800000; op_.out_scale = 0x3d000000; op_.quant.shift = 1);
	WITH(RKMM_OP_MAXPOOL, RKMM_PREC_I8, RKMM_REASON_PARAM,
	     op_.width = 8; op_.kernel_w = 2; op_.kernel_h = 2; op_.quant.zo = 1);
}

/*
 * Any description: every task within the fields of its registers, every address within
 * the memory that the geometry announces, and no description crashes.
 */
static uint64_t seed = 0x2545f4914f6cdd1dull;

static uint32_t rnd(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)((seed >> 20) % below);
}

/* An address tells its area in the low bits, which no offset has. */
static const u32 tagged[RKMM_AREAS] = { 0, 1, 2, 3, 4, 5, 6 };

/* @groups times @bytes, @pitch from each other, from @at on: inside the area? */
static void check_inside(u32 at, uint32_t groups, uint32_t pitch, uint64_t bytes)
{
	const uint64_t sizes[RKMM_AREAS] = {
		[RKMM_AREA_A] = geom->a.size, [RKMM_AREA_B] = geom->b.size,
		[RKMM_AREA_C] = geom->c.size, [RKMM_AREA_D] = geom->d.size,
		[RKMM_AREA_TEMP] = geom->temp_bytes, [RKMM_AREA_CONST] = geom->const_bytes,
	};

	assert_in_range(at % 16, RKMM_AREA_A, RKMM_AREAS - 1);
	assert_true(at / 16 * 16ull + (groups - 1ull) * pitch + bytes <= sizes[at % 16]);
}

static void check_dpu(const struct rkmm_dpu *d)
{
	uint32_t cols = d->in == RKMM_PREC_I8 ? 16 : 8, groups = d->channels / cols;

	check_inside(d->src, groups, d->src_pitch, 16ull * d->pixels);
	if (d->minmax)
		check_inside(d->dst, 1, 0, 2ull * d->pixels);
	else
		check_inside(d->dst, groups, d->dst_pitch, 16ull * d->pixels);
	if (d->bs.use & RKMM_STAGE_TABLE)
		check_inside(d->table, 1, 0, 4ull * d->channels);
	else if (d->vector)
		check_inside(d->src2, groups, 16, 16);
	else if (d->ew != RKMM_EW_OFF && d->ew != RKMM_EW_LUT)
		check_inside(d->src2, groups, d->src2_pitch, 16ull * d->pixels);
}

static void check_addresses(const struct rkmm_task *task)
{
	const struct rkmm_program *p = &task->matmul;
	const struct rkmm_mover *m = &task->mover;
	const struct rkmm_pool *l = &task->pool;
	uint32_t cols;

	switch (task->kind) {
	case RKMM_TASK_DPU:
		check_dpu(&task->dpu);
		break;
	case RKMM_TASK_MOVER:
		assert_true(m->image);
		check_inside(m->src, 1, 0, 2ull * m->width * RKMM_MOVER_LINES);
		check_inside(m->weights, 1, 0, 16ull * m->kernels);
		check_inside(m->dst, m->kernels / 8, m->dst_pitch,
			     16ull * m->width * RKMM_MOVER_LINES);
		break;
	case RKMM_TASK_MATMUL:
		check_inside(p->a, p->k / 8, p->a_pitch, 16ull * p->m);
		check_inside(p->b, 1, 0, 2ull * p->k * p->n);
		check_inside(p->c, p->n / 8, p->c_pitch, 16ull * p->m);
		break;
	case RKMM_TASK_POOL:
		cols = l->precision == RKMM_PREC_I8 ? 16 : 8;
		check_inside(l->src, l->channels / cols, 16 * l->width * l->height,
			     16ull * l->width * l->height);
		check_inside(l->dst, 1, 0, (uint64_t)l->channels / cols * 16 *
			     rkmm_pool_out(l->width, l->kernel_w, l->stride_w) *
			     rkmm_pool_out(l->height, l->kernel_h, l->stride_h));
		break;
	}
}

static void check_task(uint32_t i, uint32_t rows)
{
	struct rkmm_task task;
	uint32_t n;

	rkmm_op_task(geom, i, rows, tagged, &task);
	check_addresses(&task);
	n = rkmm_task_writes(&task, NULL);
	assert_in_range(n, RKMM_POOL_WRITES, 1097);
	words[n] = 0x5a5a;
	assert_int_equal(rkmm_task_emit(&task, NULL, words), n);
	assert_int_equal(words[n], 0x5a5a);
	if (task.kind == RKMM_TASK_DPU) {
		assert_in_range(task.dpu.pixels, 1, RKMM_PIXELS_MAX);
		assert_in_range(task.dpu.channels, 1, RKMM_CHANNELS_MAX);
		assert_in_range(task.dpu.real, 1, task.dpu.channels);
		assert_true(task.dpu.src_pitch >= 16 * task.dpu.pixels);
		if (task.dpu.minmax)
			assert_int_equal(task.dpu.pixels % 8, 0);
		else
			assert_true(task.dpu.dst_pitch >= 16 * task.dpu.pixels);
	}
	assert_true(rkmm_task_work_ns(&rkmm_limits_rk3588, &task) > 0);
}

static void test_any(void **state)
{
	static const u32 floats[] = { 0, 0x3f800000, 0x3d000000, 0x3727c5ac, 0xbf800000, 0x7fc00000 };
	uint32_t i, served = 0;

	(void)state;
	for (i = 0; i < 30000; i++) {
		struct rkmm_op op = {
			.code = rnd(RKMM_OP_COUNT + 1), .precision = rnd(8),
			.other = rnd(4), .flags = rnd(3) ? 0 : rnd(40),
			.m = rnd(8) ? 1 + rnd(600) : rnd(0xffffffff) >> rnd(32),
			.n = rnd(8) ? 1 + rnd(600) : rnd(0xffffffff) >> rnd(32),
			.value = rnd(2) ? 0 : floats[rnd(6)],
			.value2 = rnd(4) ? 0 : floats[rnd(6)],
			.scale = rnd(4) ? 0 : floats[rnd(6)],
		};
		uint32_t rows, tasks, t;

		if (rnd(4))
			op.precision = rnd(2) ? RKMM_PREC_F16 : RKMM_PREC_I8;
		if (op.code > RKMM_OP_DIV && rnd(4))
			op.other = 0;
		if (op.code == RKMM_OP_RMSNORM || op.code == RKMM_OP_LAYERNORM)
			op.value = 0x3727c5ac;
		if (op.precision == RKMM_PREC_I8 && op.code >= RKMM_OP_EXP && rnd(8)) {
			op.scale = 0x3d000000;
			op.out_scale = 0x3c800000;
		}
		if (op.code == RKMM_OP_MAXPOOL || op.code == RKMM_OP_AVGPOOL) {
			op.width = 1 + rnd(32);
			op.m = op.width * (1 + rnd(32));
			op.kernel_w = rnd(6);
			op.kernel_h = rnd(6);
			op.stride_w = rnd(4);
			op.stride_h = rnd(4);
		}
		if (!rnd(op.precision == RKMM_PREC_F16 ? 20 : 3))
			op.quant = (struct rkmm_quant){
				.za = (int)rnd(256) - 128, .mult = rnd(0x9000), .shift = rnd(70),
			};
		if (rkmm_op_geometry(&rkmm_limits_rk3588, &op, geom) != RKMM_OK)
			continue;
		served++;
		assert_in_range(geom->nsteps, 1, RKMM_OP_STEPS);
		assert_true(geom->nconsts <= RKMM_OP_CONSTS && geom->nmatmuls <= RKMM_OP_MATMULS);
		assert_true(geom->predicted_ns > 0);
		rows = op.code == RKMM_OP_MAXPOOL || op.code == RKMM_OP_AVGPOOL ? op.m :
		       1 + rnd(op.m);
		tasks = rkmm_op_tasks(geom, rows);
		assert_true(tasks > 0);
		check_task(0, rows);
		check_task(tasks - 1, rows);
		for (t = 0; t < 8; t++)
			check_task(rnd(tasks), rows);
	}
	assert_true(served > 1500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_any),
	};

	return cmocka_run_group_tests_name("any operation", tests, setup, teardown);
}
