// SPDX-License-Identifier: MIT
#include "tools/common/common.h"
#include "top.h"

const char *const program_name = "rkmm-top";

int main(int argc, char **argv)
{
	return top_main(argc, argv);
}
