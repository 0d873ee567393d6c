// SPDX-License-Identifier: MIT
#include "weights.h"

int main(int argc, char **argv)
{
	return weights_main(argc, argv);
}
