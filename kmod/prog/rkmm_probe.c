// SPDX-License-Identifier: GPL-2.0-only
/*
 * Known-answer jobs of single geometries: hw 03 §4.5.
 */
#include "rkmm_probe.h"
#include "rkmm_pure.h"

/* What a start and the interrupt may take besides (hw 03 §6.6) */
#define SLACK_NS	300000

static u32 mix(u32 v)
{
	v ^= v >> 16;
	v *= 0x7feb352du;
	v ^= v >> 15;
	v *= 0x846ca68bu;
	return v ^ v >> 16;
}

/*
 * Element of A (@which 0) or transposed B (1): the full range of int4 and int8, and as much of
 * fp16 that sums are exact. int4 sums stay 17 sigma below saturation.
 */
static s32 value(const struct rkmm_probe *probe, u32 which, u32 line, u32 k)
{
	u32 v = mix(mix(probe->seed + 2 * line + which) ^ k * 0x9e3779b9u);

	return rkmm_in_bits(probe->at.geom.types) == 8 ? (s32)(v >> 24) - 128 :
							 (s32)(v >> 28) - 8;
}

static u64 weight(const struct rkmm_probe *probe, u32 col)
{
	u32 v = mix(probe->seed ^ col * 0x85ebca6bu);

	return (u64)v << 32 | mix(v) | 1;
}

bool rkmm_probe_init(const struct rkmm_limits *limits, const struct rkmm_cell *cell, u32 kp,
		     u32 seed, struct rkmm_probe *probe)
{
	probe->seed = mix(seed);
	if (!rkmm_cell_geom(limits, cell, kp, &probe->at.geom))
		return false;
	rkmm_known_place(&probe->at);
	return true;
}

void rkmm_probe_fill(const struct rkmm_probe *probe, u8 *mem)
{
	const struct rkmm_geom *g = &probe->at.geom;
	u32 i, k;

	for (i = 0; i < g->mm.m; i++)
		for (k = 0; k < g->mm.k; k++)
			rkmm_known_put(g, mem, rkmm_addr_a(g, i, k), k, value(probe, 0, i, k));
	for (i = 0; i < g->mm.n; i++)
		for (k = 0; k < g->mm.k; k++)
			rkmm_known_put(g, mem + probe->at.b, rkmm_addr_b(g, k, i), k,
				       value(probe, 1, i, k));
}

void rkmm_probe_sums(const struct rkmm_probe *probe, u64 *work, u64 *want)
{
	const struct rkmm_matmul *mm = &probe->at.geom.mm;
	u32 i, k;

	for (k = 0; k < mm->k; k++)
		work[k] = 0;
	for (i = 0; i < mm->n; i++) {
		u64 w = weight(probe, i);

		for (k = 0; k < mm->k; k++)
			work[k] += w * (u64)(s64)value(probe, 1, i, k);
	}
	for (i = 0; i < mm->m; i++) {
		want[i] = 0;
		for (k = 0; k < mm->k; k++)
			want[i] += work[k] * (u64)(s64)value(probe, 0, i, k);
	}
}

/* An element of C; of fp32 that is no integer something that no sum has */
static s64 element(const struct rkmm_geom *g, const u8 *at)
{
	u32 v = 0, b, e;
	s64 a;

	for (b = 0; b < rkmm_out_bytes(g->types); b++)
		v |= (u32)at[b] << (8 * b);
	switch (g->types) {
	case RKMM_T_I4I16:
		return (s16)v;
	case RKMM_T_I8I32:
		return (s32)v;
	default:
		break;
	}
	if (!(v << 1))
		return 0;
	e = v >> 23 & 0xff;
	a = (v & 0x7fffff) | 0x800000;
	/* integers below 2^24 */
	if (e < 127 || e > 150 || a & ((1ll << (150 - e)) - 1))
		return 0x100000000ll + v;
	a >>= 150 - e;
	return v >> 31 ? -a : a;
}

u32 rkmm_probe_wrong(const struct rkmm_probe *probe, const u8 *c, const u64 *want)
{
	const struct rkmm_geom *g = &probe->at.geom;
	u32 wrong = 0, i, n;

	for (i = 0; i < g->mm.m; i++) {
		u64 sum = 0;

		for (n = 0; n < g->mm.n; n++)
			sum += weight(probe, n) * (u64)element(g, c + rkmm_addr_c(g, i, n));
		wrong += sum != want[i];
	}
	return wrong;
}

enum rkmm_outcome rkmm_probe_judge(u32 wrong, u64 ns, u64 predicted_ns, u32 patience)
{
	if (wrong)
		return RKMM_OUTCOME_WRONG;
	return ns >= (2 * predicted_ns + SLACK_NS) * patience ? RKMM_OUTCOME_SLOW :
								RKMM_OUTCOME_RIGHT;
}
