// SPDX-License-Identifier: MIT
#include <jansson.h>
#include <stdio.h>

#include "report.h"

u64 matmul_ns(const struct result *r)
{
	return r->total_ns - r->term_ns[TERM_MODEL] - r->term_ns[TERM_IDLE];
}

static u32 permille(u64 part, u64 all)
{
	return all ? (u32)(part * 1000 / all) : 0;
}

u32 modes_permille(const struct result *r)
{
	return permille(r->term_ns[TERM_MODES], matmul_ns(r));
}

u32 gap_permille(const struct result *r)
{
	return permille(r->gap_ns, r->total_ns * NPU_TIME_CORES);
}

static double ratio(u64 a, u64 b)
{
	return b ? (double)a / (double)b : 0;
}

static void line(const char *name, u64 a, u64 b, u64 of_a, u64 of_b)
{
	printf("%-26s %12.3f ms %5.1f %%  %12.3f ms %5.1f %%\n", name, (double)a / 1e6,
	       100 * ratio(a, of_a), (double)b / 1e6, 100 * ratio(b, of_b));
}

static void count(const char *name, u64 a, u64 b)
{
	printf("%-26s %12llu %20llu\n", name, (unsigned long long)a, (unsigned long long)b);
}

void report_text(const struct replay *p)
{
	static const char *const names[TERMS] = {
		"NPU, multiplying", "NPU, dispatch", "changes of mode", "changes of window",
		"host, accumulation", "host, other", "model's own work", "nothing",
	};
	const struct result *a = &p->result[STACK_DRIVER], *b = &p->result[STACK_BASELINE];
	u32 i;

	printf("%s: %s\n", p->trace->name, p->trace->source);
	printf("die %s, int4 form %s, a change of mode takes %llu us and %llu us", p->die, p->form,
	       (unsigned long long)p->reset_us[STACK_DRIVER],
	       (unsigned long long)p->reset_us[STACK_BASELINE]);
	if (p->perturb >= 0)
		printf(", constants +-30 %% by seed %ld", p->perturb);
	if (p->early)
		printf(", modes entered early");
	printf("\n\n%-26s %15s %8s  %15s\n", "", "rkmm", "", "userspace");
	for (i = 0; i < TERMS; i++)
		line(names[i], a->term_ns[i], b->term_ns[i], a->total_ns, b->total_ns);
	line("all", a->total_ns, b->total_ns, a->total_ns, b->total_ns);
	line("without the model's own", matmul_ns(a), matmul_ns(b), a->total_ns, b->total_ns);
	printf("\n");
	count("operations", a->ops, b->ops);
	count("submissions", a->submits, b->submits);
	count("starts of a core", a->starts, b->starts);
	count("programs", a->programs, b->programs);
	count("changes of mode", a->crossings, b->crossings);
	count("entries from cold", a->entries, b->entries);
	count("address windows", p->windows[STACK_DRIVER], p->windows[STACK_BASELINE]);
	count("changes of window", a->switches, b->switches);
	for (i = 0; i < NPU_TIME_CORES; i++) {
		printf("core %u at work %10s %15.1f %% %19.1f %%\n", i, "",
		       100 * ratio(a->busy_ns[i], a->total_ns),
		       100 * ratio(b->busy_ns[i], b->total_ns));
	}
	printf("idle while work was ready %16.1f %% %19.1f %%\n", gap_permille(a) / 10.0,
	       gap_permille(b) / 10.0);
	printf("longest wait of ready work %12.3f ms %17.3f ms\n", (double)a->wait_ns / 1e6,
	       (double)b->wait_ns / 1e6);
	for (i = 0; p->trace->nclients > 1 && i < p->trace->nclients; i++)
		printf("end of %-19s %12.3f ms %17.3f ms\n", p->trace->clients[i].name,
		       (double)a->client_ns[i] / 1e6, (double)b->client_ns[i] / 1e6);
	printf("\n%.2f times as fast as the userspace stack, %.2f without the model's own work\n",
	       ratio(b->total_ns, a->total_ns), ratio(matmul_ns(b), matmul_ns(a)));
}

static void put(json_t *object, const char *key, u64 value)
{
	json_object_set_new(object, key, json_integer((json_int_t)value));
}

static json_t *stack_json(const struct replay *p, u32 stack)
{
	const struct result *r = &p->result[stack];
	json_t *all = json_object(), *terms = json_object(), *busy = json_array();
	json_t *clients = json_array(), *client;
	u32 i;

	put(all, "total_ns", r->total_ns);
	put(all, "matmul_ns", matmul_ns(r));
	json_object_set_new(all, "terms_ns", terms);
	for (i = 0; i < TERMS; i++)
		put(terms, term_names[i], r->term_ns[i]);
	json_object_set_new(all, "core_busy_ns", busy);
	for (i = 0; i < NPU_TIME_CORES; i++)
		json_array_append_new(busy, json_integer((json_int_t)r->busy_ns[i]));
	put(all, "idle_while_ready_ns", r->gap_ns);
	put(all, "longest_wait_ns", r->wait_ns);
	put(all, "operations", r->ops);
	put(all, "submissions", r->submits);
	put(all, "starts", r->starts);
	put(all, "programs", r->programs);
	put(all, "mode_changes", r->crossings);
	put(all, "cold_entries", r->entries);
	put(all, "windows", p->windows[stack]);
	put(all, "window_changes", r->switches);
	put(all, "reset_us", p->reset_us[stack]);
	json_object_set_new(all, "clients", clients);
	for (i = 0; i < p->trace->nclients; i++) {
		client = json_pack("{s:s}", "name", p->trace->clients[i].name);
		put(client, "end_ns", r->client_ns[i]);
		json_array_append_new(clients, client);
	}
	return all;
}

bool report_json(const struct replay *p)
{
	const struct result *a = &p->result[STACK_DRIVER], *b = &p->result[STACK_BASELINE];
	json_t *root;
	bool ok;

	root = json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:b, s:o, s:o, s:f, s:f}",
			 "schema", "rkmm-replay-result-1", "trace", p->trace->name,
			 "source", p->trace->source, "die", p->die, "form", p->form,
			 "perturb", p->perturb < 0 ? json_null() : json_integer(p->perturb),
			 "early", p->early, "rkmm", stack_json(p, STACK_DRIVER), "userspace",
			 stack_json(p, STACK_BASELINE),
			 "ratio", ratio(b->total_ns, a->total_ns), "matmul_ratio",
			 ratio(matmul_ns(b), matmul_ns(a)));
	ok = root && !json_dumpf(root, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(6)) &&
	     putchar('\n') != EOF && !fflush(stdout);
	json_decref(root);
	return ok;
}
