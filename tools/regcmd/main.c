// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "regcmd.h"

static const char usage[] =
"usage: rkmm-regcmd COMMAND [OPTION]...\n"
"Register-command programs of the RK3588 NPU.\n"
"\n"
"  emit matmul   write the program of a matrix multiplication\n"
"  decode        print a program with register and field names\n"
"  diff          compare two programs register by register\n"
"  run           execute a program on the software NPU\n"
"  plan          show how a matrix multiplication is cut into programs\n"
"  op            show the tasks of another operation, or write them\n"
"  chain         show how several operations are laid in chains, and why\n"
"  ops           list the other operations, their evidence and errors\n"
"\n"
"rkmm-regcmd COMMAND --help tells more.\n";

static void message(const char *kind, const char *format, va_list args)
{
	fprintf(stderr, "rkmm-regcmd: %s", kind);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

void complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	message("", format, args);
	va_end(args);
}

void warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	message("warning: ", format, args);
	va_end(args);
}

bool flush_output(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return true;
	complain("standard output: %s", strerror(errno));
	return false;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
		const char *help;
	} commands[] = {
		{ "emit", cmd_emit, emit_help },
		{ "decode", cmd_decode, decode_help },
		{ "diff", cmd_diff, diff_help },
		{ "run", cmd_run, run_help },
		{ "plan", cmd_plan, plan_help },
		{ "op", cmd_op, op_help },
		{ "chain", cmd_chain, chain_help },
		{ "ops", cmd_ops, ops_help },
	};
	size_t i;
	int j, status;

	if (argc < 2) {
		fputs(usage, stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		fputs(usage, stdout);
		return flush_output() ? 0 : EXIT_USAGE;
	}
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		for (j = 2; j < argc && strcmp(argv[j], "--"); j++) {
			if (!strcmp(argv[j], "--help") || !strcmp(argv[j], "-h")) {
				fputs(commands[i].help, stdout);
				return flush_output() ? 0 : EXIT_USAGE;
			}
		}
		status = commands[i].run(argc - 1, argv + 1);
		return flush_output() || status ? status : EXIT_USAGE;
	}
	complain("unknown command '%s' (emit, decode, diff, run, plan, op, chain, ops)", argv[1]);
	return EXIT_USAGE;
}
