// SPDX-License-Identifier: MIT
/* Results to row-major where they lie, without memory for a copy. */
#include <errno.h>
#include <string.h>

#include "lib/internal.h"
#include "lib/kernels.h"

int rkmm_move_rows(void *mem, uint32_t rows, size_t bytes, size_t first, size_t pitch,
		   size_t out_pitch)
{
	uint8_t *p = mem;
	uint32_t r;

	if (!bytes || bytes > pitch || bytes > first || bytes > out_pitch)
		return rkmm_fail(-EINVAL, "rows of %zu bytes, the second at %zu, pitch %zu to %zu",
				 bytes, first, pitch, out_pitch);
	/*
	 * Rows that go up, the last one first, then those that go down: neither reaches
	 * what is still to be read, for rows lie in the same order on both sides.
	 */
	for (r = rows; r-- > 1;)
		if (first + (r - 1) * pitch < r * out_pitch)
			memmove(p + r * out_pitch, p + first + (r - 1) * pitch, bytes);
	for (r = 1; r < rows; r++)
		if (first + (r - 1) * pitch > r * out_pitch)
			memmove(p + r * out_pitch, p + first + (r - 1) * pitch, bytes);
	return 0;
}

/*
 * [surfaces][rows] atoms to [rows][surfaces]. Each atom pushes out the one in its
 * place, round a cycle; a cycle begins at its lowest place only.
 */
static void turn_atoms(uint8_t *mem, uint64_t surfaces, uint64_t rows)
{
	const uint64_t count = surfaces * rows;
	uint8_t here[RKMM_ATOM], there[RKMM_ATOM];
	uint64_t start, at;

	for (start = 1; start + 1 < count; start++) {
		at = start;
		do
			at = at % rows * surfaces + at / rows;
		while (at > start);
		if (at < start)
			continue;
		memcpy(here, mem + start * RKMM_ATOM, RKMM_ATOM);
		do {
			at = at % rows * surfaces + at / rows;
			memcpy(there, mem + at * RKMM_ATOM, RKMM_ATOM);
			memcpy(mem + at * RKMM_ATOM, here, RKMM_ATOM);
			memcpy(here, there, RKMM_ATOM);
		} while (at != start);
	}
}

int rkmm_unpack_c_in_place(const struct drm_rkmm_tensor *c, void *mem, size_t ldc, uint32_t rows,
			   uint32_t cols)
{
	const size_t elem = c->bits / 8, bytes = cols * elem, out_pitch = ldc * elem;
	uint64_t surfaces, end;
	size_t pitch;

	if (!rows || !cols || rows > c->rows || cols > c->cols || ldc < cols)
		return rkmm_fail(-EINVAL, "C: %u x %u with ld %zu out of a %u x %u operand", rows,
				 cols, ldc, c->rows, c->cols);
	if (c->slices > 1 || (c->bits != 8 && c->bits != 16 && c->bits != 32))
		return rkmm_fail(-EINVAL, "C: %u bits, %u partial results", c->bits, c->slices);
	end = (uint64_t)(rows - 1) * out_pitch + bytes;
	if (end > c->size)
		return rkmm_fail(-EINVAL, "C: ld %zu does not fit the operand", ldc);
	switch (c->layout) {
	case DRM_RKMM_LAYOUT_ROWS:
		pitch = c->pitch;
		break;
	case DRM_RKMM_LAYOUT_CUBE:
		surfaces = (uint64_t)c->cols * elem / RKMM_ATOM;
		pitch = surfaces * RKMM_ATOM;
		if (!surfaces || surfaces * c->rows * RKMM_ATOM > c->size)
			return rkmm_fail(-EINVAL, "C: the operand is smaller than its cube");
		turn_atoms(mem, surfaces, c->rows);
		break;
	default:
		return rkmm_fail(-EINVAL, "C: layout %u has no order in place", c->layout);
	}
	return rkmm_move_rows(mem, rows, bytes, pitch, pitch, out_pitch);
}
