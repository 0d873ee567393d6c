// SPDX-License-Identifier: MIT
#include "matmul.h"

int main(int argc, char **argv)
{
	return matmul_main(argc, argv);
}
