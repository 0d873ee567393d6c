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
"line when every type is.\n"
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

int cmd_ops(int argc, char **argv)
{
	static const int widths[] = { 24, 14, 0 };
	struct rkmm_op_facts f[3];
	struct rkmm_opgeom *g;
	uint32_t i, k;
	bool some;

	(void)argv;
	if (argc != 1) {
		complain("ops: there are no options");
		return EXIT_USAGE;
	}
	g = malloc(sizeof(*g));
	if (!g) {
		complain("out of memory");
		return EXIT_USAGE;
	}
	printf("%-11s %-7s %-24s %-14s %s\n", "operation", "B", "f16", "i8", "i16");
	for (i = 0; i < RKMM_OP_FACTS; i += 3) {
		for (k = 0, some = false; k < 3; k++) {
			rkmm_op_facts(&rkmm_limits_rk3588, i + k, g, &f[k]);
			some |= f[k].reason == RKMM_OK;
		}
		printf("%-11s %-7s", rkmm_op_name(f->code),
		       f->code <= RKMM_OP_DIV ? rkmm_other_name(f->other) : "");
		if (some)
			for (k = 0; k < 3; k++)
				print_cell(&f[k], widths[k]);
		else
			printf(" - %s", rkmm_reason_text(f->reason));
		printf("\n");
	}
	free(g);
	return 0;
}
