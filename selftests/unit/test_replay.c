// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * rkmm-replay: the census of hw 03 §7 on the userspace side, what must hold in every run,
 * and small traces whose time can be added up by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tools/replay/replay.h"

const char *const program_name = "test_replay";

static const char *const names[] = { "w4a4-128", "w4a4-256", "w4a4-512", "mixed-128",
				     "mixed-neon", "27b-mixed", "moe-decode", "two-clients" };

#define NAMES	(sizeof(names) / sizeof(names[0]))

static void run(const char *name, const struct options *o, struct trace *t, struct replay *r)
{
	assert_true(trace_make(name, t));
	assert_true(replay_run(t, o, r));
}

static void done(struct trace *t, struct replay *r)
{
	replay_free(r);
	trace_free(t);
}

/* hw 03 §7.1 to §7.3 */
static void test_census(void **state)
{
	static const struct {
		const char *name;
		u32 ops, programs, crossings, windows;
	} rows[] = {
		{ "w4a4-128", 193, 163104, 0, 1 },
		{ "w4a4-256", 193, 326208, 0, 1 },
		{ "w4a4-512", 193, 651552, 0, 1 },
		{ "mixed-128", 193, 0, 110, 1 },
		{ "27b-mixed", 400, 0, 159, 12 },
	};
	struct replay r;
	struct trace t;
	u32 i, j;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct result *b = &r.result[STACK_BASELINE];

		run(rows[i].name, &default_options, &t, &r);
		for (j = 0; j < STACKS; j++)
			assert_int_equal(r.result[j].ops, rows[i].ops);
		assert_int_equal(b->submits, rows[i].ops);
		assert_int_equal(b->crossings, rows[i].crossings);
		assert_int_equal(b->entries, 1);
		assert_int_equal(r.windows[STACK_BASELINE], rows[i].windows);
		/* each window once, in order */
		assert_int_equal(b->switches, rows[i].windows - 1);
		if (rows[i].programs)
			assert_int_equal(b->programs, rows[i].programs);
		done(&t, &r);
	}
}

/* The int4 side of §7.2, and gate and up of §7.3 */
static void test_census_int4(void **state)
{
	struct stack stack = { .law = npu_time_profile("default"), .host = &host_before };
	u32 programs[2] = { 0 }, gate_up = 0, i, l;
	static const char *const which[] = { "mixed-128", "27b-mixed" };
	struct trace t;
	struct plan p;
	u32 n;

	(void)state;
	for (n = 0; n < 2; n++) {
		assert_true(trace_make(which[n], &t));
		plan_baseline(&t, &stack, &p);
		for (i = 0; i < p.nworks; i++) {
			u32 sum = 0;

			for (l = 0; l < p.works[i].lane[p.works[i].lanes]; l++)
				sum += p.works[i].parts[l].programs;
			if (p.works[i].family == FAMILY_INT4)
				programs[n] += sum;
			/* not the projection of linear attention, which has no number */
			if (n && (strstr(p.works[i].name, ".up") ||
				  (strstr(p.works[i].name, ".gate") && sum == 5984)))
				gate_up += sum;
		}
		plan_free(&p);
		trace_free(&t);
	}
	assert_int_equal(programs[0], 118784);
	assert_int_equal(gate_up, 765952);
}

/* The baseline's time is that of hw 03 §6.3, points 15 and 49: calls, and resets. */
static void test_baseline_time(void **state)
{
	struct replay r;
	struct trace t;
	u64 ns;

	(void)state;
	run("w4a4-128", &default_options, &t, &r);
	ns = matmul_ns(&r.result[STACK_BASELINE]) - r.result[STACK_BASELINE].term_ns[TERM_MODES];
	assert_in_range(ns, 990000000, 1000000000);
	assert_int_equal(r.result[STACK_BASELINE].term_ns[TERM_MODES], 105000000);
	done(&t, &r);
	run("mixed-128", &default_options, &t, &r);
	assert_int_equal(r.result[STACK_BASELINE].term_ns[TERM_MODES], 111 * 105000000ull);
	done(&t, &r);
}

static void no_overlap(const struct result *r, u32 track)
{
	u64 last = 0;
	u32 i;

	/* events of a track are in order of their ends */
	for (i = 0; i < r->nevents; i++) {
		if (r->events[i].track != track)
			continue;
		assert_true(r->events[i].from_ns >= last);
		assert_true(r->events[i].to_ns >= r->events[i].from_ns);
		last = r->events[i].to_ns;
	}
	assert_true(last <= r->total_ns);
}

/* No core runs while the device changes. */
static void changes_alone(const struct result *r)
{
	u32 i, j;

	for (i = 0; i < r->nevents; i++) {
		if (r->events[i].track != TRACK_DEVICE)
			continue;
		for (j = 0; j < r->nevents; j++)
			assert_true(r->events[j].term != TERM_NPU ||
				    r->events[j].to_ns <= r->events[i].from_ns ||
				    r->events[j].from_ns >= r->events[i].to_ns);
	}
}

static void steps_in_order(const struct plan *p, const struct result *r)
{
	u32 i, j;

	for (i = 0; i < p->nsteps; i++) {
		const struct step *step = &p->steps[i];

		assert_true(r->step_from_ns[i] >= step->not_before_ns);
		assert_true(r->step_to_ns[i] >= r->step_from_ns[i] + step->before_ns +
			    (step->works ? step->after_ns : 0));
		for (j = 0; j < step->nafter; j++)
			assert_true(r->step_from_ns[i] >= r->step_to_ns[step->after[j]]);
	}
}

/* Every part of every work ran once, inside of its step, in the mode that it needs. */
static void works_once(const struct plan *p, const struct result *r)
{
	u32 *seen = calloc(p->nworks, sizeof(*seen)), i;
	u64 busy[NPU_TIME_CORES] = { 0 };

	for (i = 0; i < r->nevents; i++) {
		const struct event *e = &r->events[i];
		u32 step;

		if (e->term != TERM_NPU)
			continue;
		assert_true(e->work < p->nworks && e->track < NPU_TIME_CORES);
		step = p->works[e->work].step;
		seen[e->work]++;
		busy[e->track] += e->to_ns - e->from_ns;
		assert_true(e->from_ns >= r->step_from_ns[step] + p->steps[step].before_ns);
		assert_true(e->to_ns <= r->step_to_ns[step]);
	}
	for (i = 0; i < p->nworks; i++)
		assert_int_equal(seen[i], p->works[i].lane[p->works[i].lanes]);
	for (i = 0; i < NPU_TIME_CORES; i++)
		assert_int_equal(busy[i], r->busy_ns[i]);
	free(seen);
}

static void invariants(const struct trace *t, const struct plan *p)
{
	struct result r, again;
	u64 sum = 0;
	u32 i;

	simulate(t, p, &r);
	for (i = 0; i < TERMS; i++)
		sum += r.term_ns[i];
	assert_int_equal(sum, r.total_ns);
	assert_int_equal(r.term_ns[TERM_MODES], (r.crossings + r.entries) * p->reset_ns);
	for (i = 0; i < TRACK_CLIENT + t->nclients; i++)
		no_overlap(&r, i);
	changes_alone(&r);
	steps_in_order(p, &r);
	works_once(p, &r);

	simulate(t, p, &again);
	assert_int_equal(again.total_ns, r.total_ns);
	assert_int_equal(again.nevents, r.nevents);
	assert_memory_equal(again.term_ns, r.term_ns, sizeof(r.term_ns));
	result_free(&again);
	result_free(&r);
}

static void test_invariants(void **state)
{
	struct rkmm_limits limits = rkmm_limits_rk3588;
	struct npu_time_law law;
	struct stack stack = { .law = &law, .limits = &limits };
	struct trace t;
	struct plan p;
	u32 i, seed;

	(void)state;
	for (i = 0; i < NAMES; i++) {
		for (seed = 0; seed < 3; seed++) {
			law = *npu_time_profile("default");
			if (seed)
				npu_time_perturb(&law, seed, 30);
			stack.form = seed == 1 ? RKMM_FORM_CUBE : RKMM_FORM_BATCH;
			stack.reset_ns = seed ? 28000 : 5000000;
			assert_true(trace_make(names[i], &t));
			stack.host = &host_module;
			plan_driver(&t, &stack, &p);
			invariants(&t, &p);
			plan_free(&p);
			stack.host = &host_before;
			plan_baseline(&t, &stack, &p);
			invariants(&t, &p);
			plan_free(&p);
			trace_free(&t);
		}
	}
}

/* What is promised of the driver; constants within 30 % must not break it. */
static void test_targets(void **state)
{
	struct options o = default_options;
	struct replay r;
	struct trace t;

	(void)state;
	/* both enter from cold at the same price */
	o.reset_us[STACK_BASELINE] = o.reset_us[STACK_DRIVER];
	for (o.perturb = -1; o.perturb < 10; o.perturb++) {
		run("w4a4-128", &o, &t, &r);
		assert_true(matmul_ns(&r.result[STACK_BASELINE]) * 10 >=
			    matmul_ns(&r.result[STACK_DRIVER]) * 15);
		assert_true(gap_permille(&r.result[STACK_DRIVER]) < 30);
		done(&t, &r);

		run("mixed-128", &o, &t, &r);
		assert_true(r.result[STACK_DRIVER].crossings <= 56);
		assert_true(r.result[STACK_DRIVER].term_ns[TERM_MODES] * 100 <=
			    r.result[STACK_DRIVER].total_ns * 15);
		assert_true(gap_permille(&r.result[STACK_DRIVER]) < 30);
		done(&t, &r);

		run("27b-mixed", &o, &t, &r);
		assert_true(r.windows[STACK_DRIVER] > 1);
		assert_true(r.result[STACK_DRIVER].switches <= r.windows[STACK_DRIVER]);
		assert_true(gap_permille(&r.result[STACK_DRIVER]) < 30);
		done(&t, &r);
	}
}

/*
 * With the modes entered while nothing is ready, the passes that miss the target have it. Not
 * more changes, and everything else as before.
 */
static void test_early(void **state)
{
	static const char *const names[] = { "mixed-neon", "mixed-128", "w4a4-128",
					     "27b-mixed" };
	struct options o = default_options;
	struct replay plain, early;
	struct trace t, same;
	u32 i;

	(void)state;
	for (i = 0; i < 4; i++) {
		for (o.perturb = -1; o.perturb < 10; o.perturb++) {
			const struct result *a = &plain.result[STACK_DRIVER];
			const struct result *b = &early.result[STACK_DRIVER];

			o.early = false;
			run(names[i], &o, &same, &plain);
			o.early = true;
			run(names[i], &o, &t, &early);
			assert_int_equal(a->crossings, b->crossings);
			assert_int_equal(a->programs, b->programs);
			assert_true(b->total_ns <= a->total_ns);
			assert_true(b->term_ns[TERM_MODES] * 100 <= b->total_ns * 15);
			assert_int_equal(plain.result[STACK_BASELINE].total_ns,
					 early.result[STACK_BASELINE].total_ns);
			done(&same, &plain);
			done(&t, &early);
		}
	}
}

/* Two clients: nobody waits longer than the bound, a kick and a change of mode. */
static void test_fair(void **state)
{
	struct options o = default_options;
	struct replay r;
	struct trace t;

	(void)state;
	run("two-clients", &o, &t, &r);
	assert_in_range(r.result[STACK_DRIVER].wait_ns, 1, 20000000 + 4000000 + 2 * 5000000);
	/* 40 frames at 30 a second, and the last one's own time */
	assert_in_range(r.result[STACK_DRIVER].client_ns[1], 39 * 33333333ull, 1400000000);
	done(&t, &r);
}

static struct op *add(struct client *c, u32 m, u32 k, u32 n, enum rkmm_types types, u32 submit)
{
	struct op *op = client_op(c, "op");

	op->m = m;
	op->k = k;
	op->n = n;
	op->types = types;
	op->submit = submit;
	return op;
}

/* One int8 matmul of one program a core; every term by hand */
static void test_by_hand(void **state)
{
	struct options o = default_options;
	struct trace t = { .name = "hand", .baseline_windows = 1 };
	struct client *c = trace_client(&t, "one", 0);
	struct replay r;
	u64 weight = 2048ull * 6144 / 3 * 3 * 1000 / 25500;	/* of a third, three at work */
	u64 multiply = 64 * 2048ull * 6144 / 3 * 1000 / 450000;
	u64 npu = 147000 + (weight > multiply ? weight : multiply);
	const struct result *a = &r.result[STACK_DRIVER];

	(void)state;
	o.reset_us[STACK_DRIVER] = 28;
	add(c, 64, 2048, 6144, RKMM_T_I8I32, 0);
	assert_true(replay_run(&t, &o, &r));
	assert_int_equal(a->programs, 3);
	assert_int_equal(a->starts, 3);
	assert_int_equal(a->term_ns[TERM_NPU] + a->term_ns[TERM_DISPATCH], npu);
	assert_int_equal(a->term_ns[TERM_MODES], 28000);
	assert_int_equal(a->term_ns[TERM_ADD], 0);
	/* F, A, a program's synthesis, the interrupt, int32 copied */
	assert_int_equal(a->term_ns[TERM_HOST],
			 80000 + 64 * 2048 * 155 / 1000 + 125 + 12500 + 64 * 6144 * 4 * 50 / 1000);
	assert_int_equal(a->total_ns, a->term_ns[TERM_HOST] + npu + 28000);
	done(&t, &r);
}

/* Ready together: int8 goes first while the cores are in its mode, so one change is saved. */
static void test_order_saves(void **state)
{
	struct options o = default_options;
	struct trace t = { .name = "order", .baseline_windows = 1 };
	struct client *c = trace_client(&t, "one", 0);
	struct replay r;
	u32 i;

	(void)state;
	add(c, 4, 512, 256, RKMM_T_I8I32, 0);
	op_after(add(c, 4, 512, 256, RKMM_T_I4I16, 1), 0);
	op_after(add(c, 4, 512, 256, RKMM_T_I4I16, 1), 0);
	op_after(add(c, 4, 512, 256, RKMM_T_I8I32, 1), 0);
	for (i = 0; i < 2; i++) {
		assert_true(replay_run(&t, &o, &r));
		assert_int_equal(r.result[STACK_DRIVER].crossings, 1);
		assert_int_equal(r.result[STACK_BASELINE].crossings, 2);
		assert_int_equal(r.result[STACK_DRIVER].submits, 2);
		replay_free(&r);
	}
	trace_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_census),
		cmocka_unit_test(test_census_int4),
		cmocka_unit_test(test_baseline_time),
		cmocka_unit_test(test_invariants),
		cmocka_unit_test(test_targets),
		cmocka_unit_test(test_early),
		cmocka_unit_test(test_fair),
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_order_saves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
