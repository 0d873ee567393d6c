// SPDX-License-Identifier: MIT
#include <string.h>

#include "submit.h"

#define TARGET_FIRST	2000
#define TARGET_ROUND	6000
#define TARGET_NEXT	1500

static const struct {
	const char *key;
	const char *text;
} whats[WHATS] = {
	[SYSCALL] = { "syscall", "getppid(): a system call that does nothing" },
	[QUERY] = { "query", "QUERY of a size: an ioctl that does nothing" },
	[SYNC_END] = { "sync_end", "BO_SYNC, end of a write to all of A" },
	[SYNC_BEGIN] = { "sync_begin", "BO_SYNC, begin of a read of all of C" },
	[PLAN] = { "plan", "PLAN_CREATE and PLAN_DESTROY" },
	[SUBMIT_COLD] = { "submit_cold", "SUBMIT, new plan and buffers: mapping, synthesis" },
	[SUBMIT_NEW_PLAN] = { "submit_new_plan", "SUBMIT, new plan, known buffers: synthesis" },
	[SUBMIT_MOVED] = { "submit_moved", "SUBMIT, A and C where they never were: image patched" },
	[SUBMIT_WARM] = { "submit_warm", "SUBMIT, warm" },
	[WAIT_DONE] = { "wait_done", "WAIT for what is over" },
	[SUBMIT_WAIT] = { "submit_wait", "SUBMIT with wait, warm, the model's work included" },
};

static void row(const char *text, uint64_t v, const char *more)
{
	printf("  %-58s %10llu%s\n", text, (unsigned long long)v, more);
}

static void against(const char *text, uint64_t v, uint64_t most)
{
	char more[64];

	snprintf(more, sizeof(more), "  target %llu: %s", (unsigned long long)most,
		 v <= most ? "reached" : "missed");
	row(text, v, more);
}

static const char *const phases[PHASES] = {
	[PHASE_QUEUE] = "user space to the fence (rkmm_job_submit)",
	[PHASE_SCHED] = "to the start of the core (rkmm_job_run)",
	[PHASE_REGS] = "register writes (rkmm_job_started)",
	[PHASE_LEAVE] = "until the thread sleeps",
	[PHASE_AWAY] = "until the interrupt: the NPU",
	[PHASE_IRQ] = "interrupt handler to the end of the job (rkmm_job_done)",
	[PHASE_BACK] = "wake-up, and back to user space",
};

void submit_print(const struct rig *rig, const struct report *r)
{
	const struct breakdown *b = &r->breakdown;
	uint64_t synthesis = r->threads[SUBMIT_NEW_PLAN].median;
	uint64_t warm = r->threads[SUBMIT_WARM].median;
	char name[64], more[64];
	unsigned int i;

	shape_text(&rig->shape, name, sizeof(name));
	printf("\n%s, %u programs%*s %10s %10s\n", name, rig->plan.programs,
	       (int)(49 - strlen(name)), "", "all", "thread");
	for (i = 0; i < WHATS; i++) {
		snprintf(more, sizeof(more), " %10llu  (%llu .. %llu)",
			 (unsigned long long)r->threads[i].median,
			 (unsigned long long)r->times[i].low, (unsigned long long)r->times[i].high);
		row(whats[i].text, r->times[i].median, more);
	}
	if (synthesis > warm && rig->plan.programs)
		row("synthesis of one program (new plan - warm, shared out)",
		    (synthesis - warm) / rig->plan.programs, "");
	printf("  %-58s %10llu cold, %llu warm\n", "programs synthesised",
	       (unsigned long long)r->emitted_cold, (unsigned long long)r->emitted_warm);
	if (r->no_trace) {
		printf("  no breakdown: %s\n", r->no_trace);
		return;
	}
	against("user space to the first register write", r->first, TARGET_FIRST);
	against("SUBMIT with wait: calling thread and interrupt handler", r->round, TARGET_ROUND);
	if (r->next)
		against("interrupt handler to the next job's first register write", r->next,
			TARGET_NEXT);
	row(rig->soft ? "  register writes: the software NPU's, not in that" :
			"  register writes, part of that", r->regs, "");
	printf("  breakdown of SUBMIT with wait, %u calls; %llu events, recording costs %lld\n",
	       b->calls, (unsigned long long)b->events,
	       (long long)(r->traced - r->times[SUBMIT_WAIT].median));
	for (i = 0; i < PHASES; i++) {
		printf("  ");
		row(phases[i], b->phase[i], "");
	}
	printf("    calling thread and handler %llu, software NPU %llu, others %llu\n",
	       (unsigned long long)b->own, (unsigned long long)b->model,
	       (unsigned long long)b->others);
	printf("    the thread lost its processor %llu times\n", (unsigned long long)b->switches);
}

void submit_json(const struct rig *rig, const struct report *r, bool first)
{
	static const char *const keys[PHASES] = {
		"queue", "sched", "registers", "leave", "npu", "irq", "back"
	};
	const struct breakdown *b = &r->breakdown;
	const struct shape *s = &rig->shape;
	unsigned int i;

	printf("%s\n  {\"m\": %u, \"k\": %u, \"n\": %u, ", first ? "" : ",", s->m, s->k, s->n);
	printf("\"types\": \"%s\", \"programs\": %u, \"times\": {", type_names[s->types],
	       rig->plan.programs);
	for (i = 0; i < WHATS; i++) {
		printf("%s\"%s\": {\"median\": %llu, \"low\": %llu, ", i ? ", " : "", whats[i].key,
		       (unsigned long long)r->times[i].median,
		       (unsigned long long)r->times[i].low);
		printf("\"high\": %llu, \"thread\": %llu}", (unsigned long long)r->times[i].high,
		       (unsigned long long)r->threads[i].median);
	}
	printf("},\n   \"emitted_cold\": %llu, \"emitted_warm\": %llu",
	       (unsigned long long)r->emitted_cold, (unsigned long long)r->emitted_warm);
	if (!r->no_trace) {
		printf(", \"first_register\": %llu, \"round_trip\": %llu, \"registers\": %llu",
		       (unsigned long long)r->first, (unsigned long long)r->round,
		       (unsigned long long)r->regs);
		printf(", \"next\": %llu", (unsigned long long)r->next);
		printf(", \"breakdown\": {");
		for (i = 0; i < PHASES; i++)
			printf("\"%s\": %llu, ", keys[i], (unsigned long long)b->phase[i]);
		printf("\"own\": %llu, \"model\": %llu, \"others\": %llu, \"calls\": %u}",
		       (unsigned long long)b->own, (unsigned long long)b->model,
		       (unsigned long long)b->others, b->calls);
	}
	printf("}");
}
