// SPDX-License-Identifier: GPL-2.0-only
/*
 * Matmuls whose results are known: hw 03 §2.6.
 */
#include "rkmm_known.h"
#include "rkmm_pure.h"

#define PAGE	4096u

/* An element of A (@which 0, transposed B 1), small enough for every type */
static s32 known_value(u32 which, u32 line, u32 k)
{
	u32 v = (line * 2u + which + 1) * 0x9e3779b9u ^ k * 0x85ebca6bu;

	v ^= v >> 15;
	v *= 0x2c1b3c6du;
	v ^= v >> 12;
	return (s32)(v >> 28) - 8;
}

/* Cells of all rows, in many columns */
static u32 known_row(const struct rkmm_known *known, u32 i)
{
	return i % known->geom.mm.m;
}

static u32 known_col(const struct rkmm_known *known, u32 i)
{
	return (i * 29u + i / known->geom.mm.m) % known->geom.mm.n;
}

static s32 known_sum(const struct rkmm_known *known, u32 row, u32 col)
{
	s32 sum = 0;
	u32 k;

	for (k = 0; k < known->geom.mm.k; k++)
		sum += known_value(0, row, k) * known_value(1, col, k);
	return sum;
}

void rkmm_known_place(struct rkmm_known *known)
{
	known->b = rkmm_div_up((u32)known->geom.a_bytes, PAGE) * PAGE + PAGE;
	known->c = known->b + rkmm_div_up((u32)known->geom.b_bytes, PAGE) * PAGE + PAGE;
	known->bytes = known->c + rkmm_div_up((u32)known->geom.c_bytes, PAGE) * PAGE + PAGE;
}

bool rkmm_known_init(const struct rkmm_limits *limits, enum rkmm_mode mode,
		     enum rkmm_known_size size, struct rkmm_known *known)
{
	bool large = size == RKMM_KNOWN_LARGE;
	struct rkmm_matmul mm = {
		.form = RKMM_FORM_COUNT, .m = large ? 64 : 4, .k = large ? 2560 : 64, .n = 64,
		.lanes = 1,
	};
	u32 i;

	switch (mode) {
	case RKMM_MODE_I4:
		mm.types = RKMM_T_I4I16;
		break;
	case RKMM_MODE_I8:
		mm.types = RKMM_T_I8I32;
		break;
	default:
		mm.types = RKMM_T_F16F32;
		break;
	}
	if (rkmm_geometry(limits, &mm, &known->geom) || known->geom.slices > 1)
		return false;
	rkmm_known_place(known);
	for (i = 0; i < RKMM_KNOWN_CELLS; i++)
		known->want[i] = known_sum(known, known_row(known, i), known_col(known, i));
	return true;
}

/* fp16 of an integer from -8 to 7 */
static u16 known_half(s32 v)
{
	u32 a = v < 0 ? -v : v, e = 0;

	if (!a)
		return 0;
	while (a >> (e + 1))
		e++;
	return (v < 0 ? 0x8000 : 0) | (e + 15) << 10 | ((a << (10 - e)) & 0x3ff);
}

void rkmm_known_put(const struct rkmm_geom *geom, u8 *mem, u64 at, u32 k, s32 v)
{
	switch (rkmm_in_bits(geom->types)) {
	case 4:
		mem[at] |= (v & 15) << (k & 1 ? 4 : 0);
		break;
	case 8:
		mem[at] = v;
		break;
	default:
		mem[at] = known_half(v);
		mem[at + 1] = known_half(v) >> 8;
		break;
	}
}

void rkmm_known_fill(const struct rkmm_known *known, u8 *mem)
{
	const struct rkmm_geom *g = &known->geom;
	u32 i, k;

	for (i = 0; i < g->mm.m; i++)
		for (k = 0; k < g->mm.k; k++)
			rkmm_known_put(g, mem, rkmm_addr_a(g, i, k), k, known_value(0, i, k));
	for (i = 0; i < g->mm.n; i++)
		for (k = 0; k < g->mm.k; k++)
			rkmm_known_put(g, mem + known->b, rkmm_addr_b(g, k, i), k,
				       known_value(1, i, k));
}

/* Bits of a result as they lie in memory */
static u32 known_bits(const struct rkmm_known *known, s32 v)
{
	u32 a = v < 0 ? -v : v, e = 0;

	switch (known->geom.types) {
	case RKMM_T_I4I16:
		return (u16)(v > 32767 ? 32767 : v < -32768 ? -32768 : v);
	case RKMM_T_I8I32:
		return v;
	default:
		/* below 2^24: exact in any order */
		if (!a)
			return 0;
		while (a >> (e + 1))
			e++;
		return (v < 0 ? 0x80000000u : 0) | (e + 127) << 23 | ((a << (23 - e)) & 0x7fffff);
	}
}

static u64 known_at(const struct rkmm_known *known, u32 i)
{
	return rkmm_addr_c(&known->geom, known_row(known, i), known_col(known, i));
}

static void known_write(const struct rkmm_known *known, u8 *c, u32 i, u32 bits)
{
	u32 n = rkmm_out_bytes(known->geom.types), b;

	for (b = 0; b < n; b++)
		c[known_at(known, i) + b] = bits >> (8 * b);
}

void rkmm_known_spoil(const struct rkmm_known *known, u8 *c)
{
	u32 i;

	for (i = 0; i < RKMM_KNOWN_CELLS; i++)
		known_write(known, c, i, ~known_bits(known, known->want[i]));
}

u32 rkmm_known_wrong(const struct rkmm_known *known, const u8 *c, bool control)
{
	u32 n = rkmm_out_bytes(known->geom.types), wrong = 0, i, b, bits, other;

	for (i = 0; i < RKMM_KNOWN_CELLS; i++) {
		other = control ? (i + 1) % RKMM_KNOWN_CELLS : i;
		bits = known_bits(known, known->want[other]);
		for (b = 0; b < n; b++)
			if (c[known_at(known, i) + b] != (u8)(bits >> (8 * b)))
				break;
		wrong += b < n;
	}
	return wrong;
}
