// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Arbitrary descriptions: geometry must answer without overflow, and what it
 * accepts must stay lawful and inside its own sizes. A libFuzzer program, or
 * with -DSEEDED_LOOP one that feeds itself.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kmod/prog/rkmm_chain.h"
#include "prog_laws.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok, const char *what, const struct rkmm_matmul *mm)
{
	if (ok)
		return;
	fprintf(stderr, "%s: types %d form %d m %u k %u n %u a_pitch %u c_pitch %u\n", what,
		(int)mm->types, (int)mm->form, mm->m, mm->k, mm->n, mm->a_pitch, mm->c_pitch);
	abort();
}

static void check(const struct rkmm_geom *g, uint32_t i, uint32_t rows)
{
	uint32_t line, ob = rkmm_out_bytes(g->types);
	u64 words[RKMM_PROG_WRITES];
	struct rkmm_program p;
	static struct regs r;
	const char *law;

	rkmm_geom_program(g, i, rows, 0, 0, 0, &p);
	regs_load(&r, words, rkmm_emit_program(&p, words));
	law = broken_law(&r, p.m);
	require(!law, law, &g->mm);
	line = bits(&r, 0x1020, 10, 0) - 1;
	require(write_addr(&r, line, p.n - 1) + ob <= g->c_bytes, "C", &g->mm);
	if (g->form == RKMM_FORM_BATCH)
		line -= 3;
	require(read_addr(&r, line, p.k - 1) < g->a_bytes, "A", &g->mm);
	require((uint64_t)reg(&r, 0x1110) + reg(&r, 0x1030) <= g->b_bytes, "B", &g->mm);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rkmm_limits limits = rkmm_limits_rk3588;
	struct rkmm_matmul mm = { 0 };
	enum rkmm_reason reason;
	uint32_t rows, programs;
	struct rkmm_geom g;

	memcpy(&mm, data, size < sizeof(mm) ? size : sizeof(mm));
	reason = rkmm_geometry(&limits, &mm, &g);
	require((uint32_t)reason < RKMM_REASON_COUNT, "reason", &mm);
	require(rkmm_reason_text(reason) && rkmm_form_name(mm.form) && rkmm_types_name(mm.types),
		"names", &mm);
	if (reason)
		return 0;
	require(g.a_bytes <= UINT32_MAX && g.b_bytes <= UINT32_MAX && g.c_bytes <= UINT32_MAX &&
		rkmm_image_bytes(&g) <= UINT32_MAX, "window", &mm);
	require(g.predicted_ns > 0 && g.predicted_ns < 1ull << 60, "time", &mm);
	rows = size > sizeof(mm) ? 1 + data[sizeof(mm)] % mm.m : mm.m;
	programs = rkmm_geom_programs(&g, rows);
	require(programs >= 1 && programs <= g.programs, "programs", &mm);
	check(&g, 0, rows);
	check(&g, programs - 1, rows);
	check(&g, programs / 2, rows);
	check(&g, g.programs - 1, mm.m);
	return 0;
}

#ifdef SEEDED_LOOP
static uint64_t seed = 88172645463325252ull;

static uint32_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 24);
}

/* A value of any magnitude */
static uint32_t wild(void)
{
	uint32_t v = rnd() >> rnd() % 32;

	return rnd() % 8 ? v : ~v;
}

int main(int argc, char **argv)
{
	unsigned long loops = argc > 1 ? strtoul(argv[1], NULL, 0) : 200000, i;
	uint8_t data[sizeof(struct rkmm_matmul) + 1];

	for (i = 0; i < loops; i++) {
		struct rkmm_matmul mm = {
			.types = rnd() % 16 ? rnd() % 5 : wild(),
			.form = rnd() % 16 ? rnd() % 4 : wild(),
			.m = wild(), .k = rnd() % 4 ? rnd() % 10753 : wild(), .n = wild(),
			.a_pitch = rnd() % 8 ? 0 : wild() & ~15u,
			.c_pitch = rnd() % 8 ? 0 : wild() & ~15u,
			.slice = rnd() % 4 ? 0 : wild() & ~31u,
			.lanes = rnd() % 8 ? rnd() % 4 : wild(),
			.free_slice = rnd() % 2,
			.mult = rnd() % 16 ? 1 : (int32_t)wild(),
			.shift = rnd() % 16 ? 0 : wild(),
			.offset = rnd() % 16 ? 0 : (int32_t)wild(),
		};

		memcpy(data, &mm, sizeof(mm));
		data[sizeof(mm)] = (uint8_t)rnd();
		LLVMFuzzerTestOneInput(data, sizeof(data));
	}
	printf("%lu descriptions\n", loops);
	return 0;
}
#endif
