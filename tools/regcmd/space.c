// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include <string.h>

#include "regcmd.h"

#define PAGE	4096u
#define PAGES	(1u << 20)
#define MOST_BYTES	(1ull << 30)	/* of memory that arguments may ask for */

bool space_init(struct space *space)
{
	space->pages = calloc(PAGES, sizeof(*space->pages));
	space->writable = calloc(PAGES, 1);
	space->mapped = 0;
	if (space->pages && space->writable)
		return true;
	complain("out of memory");
	space_free(space);
	return false;
}

void space_free(struct space *space)
{
	size_t i;

	for (i = 0; space->pages && i < PAGES; i++)
		free(space->pages[i]);
	free(space->pages);
	free(space->writable);
	space->pages = NULL;
	space->writable = NULL;
}

static bool map_page(struct space *space, size_t page, bool writable)
{
	if (!space->pages[page] && space->mapped >= MOST_BYTES) {
		complain("more than %llu MiB mapped", MOST_BYTES >> 20);
		return false;
	}
	if (!space->pages[page]) {
		space->pages[page] = calloc(1, PAGE);
		if (!space->pages[page]) {
			complain("out of memory");
			return false;
		}
		space->mapped += PAGE;
	}
	space->writable[page] |= writable;
	return true;
}

bool space_map(struct space *space, uint32_t addr, uint64_t len)
{
	size_t page, last;

	if (!len)
		return true;
	if (len > (1ull << 32) - addr) {
		complain("0x%08x: %llu bytes end beyond the 32-bit address space", addr,
			 (unsigned long long)len);
		return false;
	}
	last = (size_t)((addr + len - 1) / PAGE);
	for (page = addr / PAGE; page <= last; page++)
		if (!map_page(space, page, true))
			return false;
	return true;
}

bool space_guard(struct space *space)
{
	size_t page;

	for (page = PAGES - 1; page > 0; page--)
		if (!space->pages[page] && space->pages[page - 1] && space->writable[page - 1] &&
		    !map_page(space, page, false))
			return false;
	return true;
}

bool space_read(const struct space *space, uint32_t addr, void *dst, uint64_t len,
		uint32_t *fault)
{
	uint64_t at = addr, end = at + len;
	uint8_t *to = dst;

	while (at < end) {
		uint64_t n = PAGE - at % PAGE;

		if (n > end - at)
			n = end - at;
		if (at >> 32 || !space->pages[at / PAGE]) {
			*fault = (uint32_t)at;
			return false;
		}
		memcpy(to, space->pages[at / PAGE] + at % PAGE, n);
		to += n;
		at += n;
	}
	return true;
}

bool space_write(struct space *space, uint32_t addr, const void *src, uint64_t len,
		 uint32_t *fault)
{
	uint64_t at = addr, end = at + len;
	const uint8_t *from = src;

	while (at < end) {
		uint64_t n = PAGE - at % PAGE;

		if (n > end - at)
			n = end - at;
		if (at >> 32 || !space->pages[at / PAGE] || !space->writable[at / PAGE]) {
			*fault = (uint32_t)at;
			return false;
		}
		memcpy(space->pages[at / PAGE] + at % PAGE, from, n);
		from += n;
		at += n;
	}
	return true;
}
