// SPDX-License-Identifier: GPL-2.0-only
/*
 * One task of a chain, whatever kind it is, and which may be neighbours.
 */
#include "rkmm_chain.h"
#include "rkmm_pure.h"

u32 rkmm_task_writes(const struct rkmm_task *task, const struct rkmm_task *past)
{
	return past ? rkmm_light_writes(&task->matmul, &past->matmul) : RKMM_PROG_WRITES;
}

u32 rkmm_task_emit(const struct rkmm_task *task, const struct rkmm_task *past, u64 *words)
{
	return past ? rkmm_emit_light(&task->matmul, &past->matmul, words) :
		      rkmm_emit_program(&task->matmul, words);
}

bool rkmm_task_light(const struct rkmm_task *task, const struct rkmm_task *past)
{
	return task->kind == past->kind && rkmm_light_able(&task->matmul, &past->matmul);
}

/*
 * The weight base of the next task is latched while an fp16 one still reads its
 * own, unless both lie in one buffer (hw 02 §7.2). No capture has tasks of several
 * precisions in one chain, and the sheets disagree on what a change of precision
 * needs (hw 02 §5.5): a start of its own, as between jobs.
 */
const char *rkmm_task_apart(const struct rkmm_task *prev, const struct rkmm_task *next)
{
	const struct rkmm_type_facts *p = &rkmm_type_facts[prev->matmul.types];
	const struct rkmm_type_facts *q = &rkmm_type_facts[next->matmul.types];

	if (p->in != q->in)
		return "cut: another precision";
	if (p->in == RKMM_PREC_F16 && prev->weights != next->weights)
		return "cut: fp16 weights in another buffer";
	return NULL;
}
