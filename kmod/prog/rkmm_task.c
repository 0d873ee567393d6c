// SPDX-License-Identifier: GPL-2.0-only
/*
 * One task of a chain, whatever kind it is, and which may be neighbours.
 */
#include "rkmm_task.h"
#include "rkmm_pure.h"

void rkmm_task_set(struct rkmm_task *task, enum rkmm_task_kind kind)
{
	task->kind = kind;
	task->pingpong = false;
	task->weights = 0;
	task->ns = 0;
	task->int_mask = RKMM_INT_DPU;
	task->enable = RKMM_START_MATMUL;
	if (kind == RKMM_TASK_DPU)
		task->enable = RKMM_START_DPU;
	if (kind != RKMM_TASK_POOL)
		return;
	task->enable = RKMM_START_PPU;
	task->int_mask = RKMM_INT_PPU;
}

u32 rkmm_task_writes(const struct rkmm_task *task, const struct rkmm_task *past)
{
	switch (task->kind) {
	case RKMM_TASK_DPU:
		return rkmm_dpu_writes(&task->dpu);
	case RKMM_TASK_MOVER:
		return RKMM_MOVER_WRITES;
	case RKMM_TASK_POOL:
		return RKMM_POOL_WRITES;
	default:
		return past ? rkmm_light_writes(&task->matmul, &past->matmul) :
			      rkmm_program_writes(&task->matmul);
	}
}

u32 rkmm_task_emit(const struct rkmm_task *task, const struct rkmm_task *past, u64 *words)
{
	switch (task->kind) {
	case RKMM_TASK_DPU:
		return rkmm_dpu_emit(&task->dpu, words);
	case RKMM_TASK_MOVER:
		return rkmm_mover_emit(&task->mover, words);
	case RKMM_TASK_POOL:
		return rkmm_pool_emit(&task->pool, words);
	default:
		return past ? rkmm_emit_light(&task->matmul, &past->matmul, words) :
			      rkmm_emit_program(&task->matmul, words);
	}
}

bool rkmm_task_light(const struct rkmm_task *task, const struct rkmm_task *past)
{
	return task->kind == RKMM_TASK_MATMUL && past->kind == RKMM_TASK_MATMUL &&
	       rkmm_light_able(&task->matmul, &past->matmul);
}

const char *rkmm_task_alone(const struct rkmm_task *task)
{
	switch (task->kind) {
	case RKMM_TASK_DPU:
		/* the table has no second bank (hw 04 §2.6) */
		return task->dpu.load ? "a table is loaded" : "a task of the DPU alone";
	case RKMM_TASK_POOL:
		return "pooling";
	case RKMM_TASK_MATMUL:
		if (!task->matmul.fused)
			return NULL;
		if (task->matmul.fused->ew == RKMM_EW_LUT)
			return "a table is loaded";
		/* chains of those were not seen with it (hw 04 §4) */
		return task->enable == RKMM_START_MATMUL ? NULL : "a matmul that reads a bias";
	default:
		return NULL;
	}
}

static enum rkmm_precision precision_of(const struct rkmm_task *task)
{
	switch (task->kind) {
	case RKMM_TASK_DPU:
		return task->dpu.in;
	case RKMM_TASK_MOVER:
		return RKMM_PREC_F16;
	case RKMM_TASK_POOL:
		return task->pool.precision;
	default:
		return rkmm_type_facts[task->matmul.types].in;
	}
}

/* What it writes */
static enum rkmm_precision out_of(const struct rkmm_task *task)
{
	switch (task->kind) {
	case RKMM_TASK_DPU:
		return task->dpu.out;
	case RKMM_TASK_MATMUL:
		return rkmm_type_facts[task->matmul.types].out;
	default:
		return precision_of(task);
	}
}

static bool has_weights(const struct rkmm_task *task)
{
	return task->kind == RKMM_TASK_MATMUL || task->kind == RKMM_TASK_MOVER;
}

/*
 * The weight base of the next task is latched while an fp16 one still reads its
 * own, unless both lie in one buffer (hw 02 §7.2). No capture has tasks of several
 * precisions in one chain, and the sheets disagree on what a change of precision
 * needs (hw 02 §5.5). So it is a start of its own, as between jobs. And two inputs
 * stall behind what writes another precision than they are of, whatever they read
 * (hw 03 O6, hw 04 §4).
 */
const char *rkmm_task_apart(const struct rkmm_task *prev, const struct rkmm_task *next)
{
	if (precision_of(prev) != precision_of(next))
		return "cut: another precision";
	if (next->kind == RKMM_TASK_DPU && rkmm_dpu_two(&next->dpu) && out_of(prev) != next->dpu.in)
		return "cut: two inputs behind another precision";
	if (has_weights(prev) && has_weights(next) && precision_of(prev) == RKMM_PREC_F16 &&
	    prev->weights != next->weights)
		return "cut: fp16 weights in another buffer";
	return NULL;
}

/*
 * No sheet has times of single tasks; the captured softmax of 256 x 64 takes 471 us,
 * of which most is the start (hw 04 §3). What the DPU and the PPU read and write goes at the
 * rate that one core was seen to reach, three of which are as fast as what all cores together
 * have for fp16 weights (hw 03 §6.2); a table is as long as its entries.
 */
#define TASK_NS	10000u

u32 rkmm_task_work_ns(const struct rkmm_limits *limits, const struct rkmm_task *task)
{
	u32 rate = limits->cost->f16_rate;
	u64 bytes, ns = 0;

	switch (task->kind) {
	case RKMM_TASK_DPU:
		bytes = 3ull * task->dpu.pixels * task->dpu.channels * 2 +
			8ull * rkmm_dpu_writes(&task->dpu);
		rate = limits->cost->row_rate;
		break;
	case RKMM_TASK_MOVER:
		bytes = 2ull * task->mover.width * RKMM_MOVER_LINES *
			(task->mover.channels + task->mover.kernels);
		break;
	case RKMM_TASK_POOL:
		bytes = 2ull * task->pool.width * task->pool.height * task->pool.channels *
			task->pool.kernel_h;
		rate = limits->cost->row_rate;
		break;
	default:
		bytes = 2ull * task->matmul.k * (task->matmul.m + task->matmul.n) +
			2ull * task->matmul.m * task->matmul.n;
		ns = (u64)task->matmul.m * task->matmul.n * task->matmul.k / limits->cost->f16_macs;
		break;
	}
	ns += TASK_NS + bytes * 10 / rate;
	return ns > 0xffffffff ? 0xffffffff : (u32)ns;
}
