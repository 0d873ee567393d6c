// SPDX-License-Identifier: MIT
#include "replay.h"
#include "tools/common/common.h"

const char *const program_name = "rkmm-replay";

int main(int argc, char **argv)
{
	return replay_main(argc, argv);
}
