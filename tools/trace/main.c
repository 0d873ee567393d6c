// SPDX-License-Identifier: MIT
#include "tools/common/common.h"
#include "trace.h"

const char *const program_name = "rkmm-trace";

int main(int argc, char **argv)
{
	return trace_main(argc, argv);
}
