// SPDX-License-Identifier: MIT
#include "calibrate.h"
#include "tools/common/common.h"

const char *const program_name = "rkmm-calibrate";

int main(int argc, char **argv)
{
	return calibrate_main(argc, argv);
}
