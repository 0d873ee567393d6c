// SPDX-License-Identifier: MIT
/* libFuzzer target: the npy reader takes any bytes. */
#include <stdlib.h>

#include "tools/matmul/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char error[NPY_ERROR];
	struct npy npy;

	if (!npy_parse(data, size, &npy, error)) {
		/* What was accepted lies in the file, all of it. */
		if (npy.rows * npy.cols * npy_size(npy.type) >= size)
			abort();
		npy_free(&npy);
	}
	return 0;
}
