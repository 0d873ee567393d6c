/* SPDX-License-Identifier: MIT */
/* Where results lie that are needed for a while only. */
#ifndef SEQ_PLACE_H
#define SEQ_PLACE_H

#include <stddef.h>
#include <stdint.h>

#define SEQ_ALIGN	64u	/* of operands */

/**
 * struct seq_span - memory of one result
 * @size: bytes, at least 1
 * @written: of these from the start, what its operation writes; the rest is read and must
 *	stay zero
 * @first: when it is written
 * @last: when it is read for the last time, at least @first
 * @offset: filled: where it lies
 */
struct seq_span {
	uint64_t size;
	uint64_t written;
	uint32_t first;
	uint32_t last;
	uint64_t offset;
};

/**
 * seq_place() - find places
 * @spans: no two of them that are there at the same time overlap afterwards, and no byte
 *	that must stay zero is ever written
 * @count: length of @spans
 * @total: filled: bytes that all of them take
 *
 * Return: 0 or -ENOMEM.
 */
int seq_place(struct seq_span *spans, size_t count, uint64_t *total);

#endif
