// SPDX-License-Identifier: MIT
#include "ops.h"

static const char *evidence(const struct op_result *r)
{
	static const char *const names[] = { "derived", "captured", "validated" };

	return r->evidence < 3 ? names[r->evidence] : "unknown";
}

static double us(uint64_t ns)
{
	return (double)ns / 1000;
}

void ops_head(const struct machine *m, uint32_t rows, uint32_t cols)
{
	machine_print(m, stdout);
	printf("operations on %u x %u, microseconds; cpu: plain loops in double precision\n\n",
	       rows, cols);
	printf("%-20s %9s %9s %9s %9s %6s %9s  %-9s %s\n", "operation", "warm", "cold", "on core",
	       "predict", "tasks", "cpu", "evidence", "result");
	fflush(stdout);
}

void ops_row(const struct op_case *c, const struct op_result *r)
{
	printf("%-20s ", c->name);
	if (!r->served) {
		printf("not served: %s\n", r->reason);
		return;
	}
	printf("%9.1f %9.1f %9.1f %9.1f %6u %9.1f  %-9s ", us(r->warm.median), us(r->cold),
	       us(r->npu_ns), us(r->predicted_ns), r->tasks, us(r->cpu_ns), evidence(r));
	if (r->wrong)
		printf("WRONG %llu\n", (unsigned long long)r->wrong);
	else if (c->error > 0)
		printf("right (%.0f %% of %.1e)\n", 100 * r->off, c->error);
	else
		printf("exact\n");
	fflush(stdout);
}

void ops_json(const struct machine *m, const struct options *opt, uint32_t rows, uint32_t cols,
	      const struct op_result *results)
{
	unsigned int i;

	printf("{");
	json_machine(m);
	printf(",\n \"repeat\": %u, \"seed\": %llu, \"m\": %u, \"n\": %u, \"operations\": [",
	       opt->repeat, (unsigned long long)opt->seed, rows, cols);
	for (i = 0; i < num_op_cases; i++) {
		const struct op_result *r = &results[i];

		printf("%s\n  {\"name\": ", i ? "," : "");
		json_string(op_cases[i].name);
		if (!r->served) {
			printf(", \"served\": false, \"reason\": ");
			json_string(r->reason);
			printf("}");
			continue;
		}
		printf(", \"served\": true, \"evidence\": \"%s\", \"tasks\": %u, ", evidence(r),
		       r->tasks);
		printf("\"predicted_ns\": %llu, \"cold_ns\": %llu, ",
		       (unsigned long long)r->predicted_ns, (unsigned long long)r->cold);
		printf("\"warm_ns\": {\"median\": %llu, \"low\": %llu, \"high\": %llu, ",
		       (unsigned long long)r->warm.median, (unsigned long long)r->warm.low,
		       (unsigned long long)r->warm.high);
		printf("\"count\": %u}, \"npu_ns\": %llu, \"cpu_ns\": %llu, ", r->warm.count,
		       (unsigned long long)r->npu_ns, (unsigned long long)r->cpu_ns);
		printf("\"wrong\": %llu, \"bound\": %.6g, \"bound_used\": %.6g}",
		       (unsigned long long)r->wrong, op_cases[i].error, r->off);
	}
	printf("]}\n");
}
