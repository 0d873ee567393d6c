// SPDX-License-Identifier: MIT
#include <getopt.h>
#include <stdlib.h>

#include "kmod/prog/rkmm_op_facts.h"
#include "regcmd.h"

const char ops_help[] =
"usage: rkmm-regcmd ops\n"
"List the operations that are no matmuls: evidence and largest error by type.\n"
"\n"
"A line is an operation and what its B is. A column is a type: evidence; where that\n"
"depends on N, behind it what multiples of a number have; the error in steps of the\n"
"result or as a part of the range. \"-\" is refused; a reason stands behind the\n"
"line when every type is. Last are the matmuls that take it as a stage of an epilogue,\n"
"with \"*\" those whose own programs can do it.\n"
"\n"
"Exit status: 0, or 1 when the arguments are wrong.\n";

static const char *evidence(enum rkmm_evidence e)
{
	return e == RKMM_EVIDENCE_DERIVED ? "derived" : "captured";
}

static void print_cell(const struct rkmm_op_facts *f, int width)
{
	char text[64];
	int n;

	if (f->reason != RKMM_OK) {
		printf(" %-*s", width, "-");
		return;
	}
	n = snprintf(text, sizeof(text), "%s", evidence(f->least));
	if (f->least != f->most)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "/%u %s", f->n_most,
			      evidence(f->most));
	if (f->unit == RKMM_ERROR_STEPS)
		snprintf(text + n, sizeof(text) - (size_t)n, " %.2f", f->error / 256.0);
	else if (f->unit == RKMM_ERROR_RANGE)
		snprintf(text + n, sizeof(text) - (size_t)n, " %.4f range", f->error / 65536.0);
	printf(" %-*s", width, text);
}

static uint32_t any(const struct rkmm_op_facts f[3], bool fused)
{
	uint32_t mask = 0, k;

	for (k = 0; k < 3; k++)
		mask |= fused ? f[k].fused_in : f[k].stage_of;
	return mask;
}

static void print_takers(const struct rkmm_op_facts f[3])
{
	uint32_t types;

	for (types = 0; types < RKMM_T_COUNT; types++)
		if (any(f, false) >> types & 1)
			printf(" %s%s", rkmm_types_name(types),
			       any(f, true) >> types & 1 ? "*" : "");
}

static void print_row(const struct rkmm_op_facts f[3])
{
	static const int widths[] = { 24, 14, 12 };
	uint32_t k;

	for (k = 0; k < 3; k++)
		if (f[k].reason == RKMM_OK)
			break;
	printf("%-11s %-7s", rkmm_op_name(f->code),
	       f->code <= RKMM_OP_DIV ? rkmm_other_name(f->other) : "");
	if (k < 3) {
		for (k = 0; k < 3; k++)
			print_cell(&f[k], k < 2 || any(f, false) ? widths[k] : 0);
	} else {
		printf(" - %s", rkmm_reason_text(f->reason));
		if (any(f, false))
			printf("; stage of");
	}
	print_takers(f);
	printf("\n");
}

int cmd_ops(int argc, char **argv)
{
	struct rkmm_op_facts f[3];
	struct rkmm_epilogue *scratch;
	uint32_t i, k;

	(void)argv;
	if (argc != 1) {
		complain("ops: there are no options");
		return EXIT_USAGE;
	}
	scratch = malloc(sizeof(*scratch));
	if (!scratch) {
		complain("out of memory");
		return EXIT_USAGE;
	}
	printf("%-11s %-7s %-24s %-14s %-12s %s\n", "operation", "B", "f16", "i8", "i16",
	       "stage of");
	for (i = 0; i < RKMM_OP_FACTS; i += 3) {
		for (k = 0; k < 3; k++)
			rkmm_op_facts(&rkmm_limits_rk3588, i + k, scratch, &f[k]);
		print_row(f);
	}
	free(scratch);
	return 0;
}
