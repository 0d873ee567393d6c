// SPDX-License-Identifier: MIT
/* libFuzzer target: the reader of weights files takes any bytes, with the checksum put right. */
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "lib/rkw.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t crc_at = RKW_HEADER - 4;	/* the header's own checksum */
	char error[RKW_ERROR];
	uint64_t file = size;
	uint8_t *p;
	struct rkw w;
	uint32_t sum;

	p = malloc(size ? size : 1);
	memcpy(p, data, size);
	if (size >= RKW_HEADER) {
		sum = (uint32_t)crc32(0, p, (unsigned int)crc_at);
		memcpy(p + crc_at, &sum, sizeof(sum));
		/* The size of the data may be anything: what is behind the header tells. */
		if (size >= RKW_HEADER + 8)
			memcpy(&file, p + RKW_HEADER, 8);
	}
	if (!rkw_parse(p, size < RKW_HEADER ? size : RKW_HEADER, file, &w, error)) {
		if (w.data_offset + w.b.size != file || w.k > w.b.rows || w.n > w.b.cols ||
		    (uint64_t)w.b.slices * w.b.slice != w.b.rows ||
		    (uint64_t)w.b.slice * w.b.cols / 8 * w.b.bits > w.b.size)
			abort();
	}
	free(p);
	return 0;
}
