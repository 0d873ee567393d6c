/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers without floating point: fp16 and fp32 as bits, rounding shifts. */
#ifndef NPU_NUM_H
#define NPU_NUM_H

#include "npu_shim.h"

#define F32_NAN		0x7fc00000u
#define F16_NAN		0x7e00u

/* Exact. Signalling NaNs stay as they are. */
static inline u32 npu_f16_to_f32(u32 h)
{
	u32 sign = (h & 0x8000) << 16;
	u32 exp = (h >> 10) & 0x1f;
	u32 man = h & 0x3ff;

	if (exp == 0x1f)
		return sign | 0x7f800000 | man << 13;
	if (exp)
		return sign | (exp + 112) << 23 | man << 13;
	if (!man)
		return sign;
	for (exp = 113; !(man & 0x400); exp--)
		man <<= 1;
	return sign | exp << 23 | (man & 0x3ff) << 13;
}

/*
 * Nearest, ties to even; hw 02 §3.6 assumes it. The sign and payload of a NaN
 * differ between CPUs, so there is one NaN.
 */
static inline u32 npu_f32_to_f16(u32 f)
{
	u32 sign = (f >> 16) & 0x8000;
	u32 abs = f & 0x7fffffff;
	u32 man, shift, half, h;

	if (abs > 0x7f800000)
		return F16_NAN;
	if (abs >= 0x47800000)
		return sign | 0x7c00;
	if (abs >= 0x38800000) {
		h = (abs - 0x38000000) >> 13;
		half = abs & 0x1fff;
		if (half > 0x1000 || (half == 0x1000 && (h & 1)))
			h++;
		return sign | h;
	}
	shift = 126 - (abs >> 23);
	if (shift > 25)
		return sign;
	man = (abs & 0x7fffff) | 0x800000;
	h = man >> shift;
	half = man & ((1u << shift) - 1);
	if (half > 1u << (shift - 1) || (half == 1u << (shift - 1) && (h & 1)))
		h++;
	return sign | h;
}

static inline u32 npu_f32_one_nan(u32 f)
{
	return (f & 0x7fffffff) > 0x7f800000 ? F32_NAN : f;
}

static inline s64 npu_clamp(s64 v, s64 lo, s64 hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

static inline s32 npu_sat32(s64 v)
{
	return (s32)npu_clamp(v, -2147483647 - 1, 2147483647);
}

/* Ties away from zero, as NVDLA does in every stage but the last (hw 04 §1.1) */
static inline s64 npu_shift_away(s64 v, u32 shift)
{
	s64 abs = v < 0 ? -v : v;

	if (!shift)
		return v;
	if (shift > 62)
		return 0;
	abs = (abs + ((s64)1 << (shift - 1))) >> shift;
	return v < 0 ? -abs : abs;
}

static inline s64 npu_shift_even(s64 v, u32 shift)
{
	s64 q, rest, half;

	if (!shift)
		return v;
	if (shift > 62)
		return 0;
	q = v >> shift;
	rest = v & (((s64)1 << shift) - 1);
	half = (s64)1 << (shift - 1);
	if (rest > half || (rest == half && (q & 1)))
		q++;
	return q;
}

static inline bool npu_f32_is_nan(u32 f)
{
	return (f & 0x7fffffff) > 0x7f800000;
}

/* Orders all numbers, -0 below +0. Not for NaNs. */
static inline s32 npu_f32_key(u32 f)
{
	return (s32)(f & 0x80000000 ? ~f ^ 0x80000000 : f);
}

/* A NaN wins: the sheets leave it open. */
static inline u32 npu_f32_max(u32 a, u32 b)
{
	if (npu_f32_is_nan(a) || npu_f32_is_nan(b))
		return F32_NAN;
	return npu_f32_key(a) > npu_f32_key(b) ? a : b;
}

static inline u32 npu_f32_min(u32 a, u32 b)
{
	if (npu_f32_is_nan(a) || npu_f32_is_nan(b))
		return F32_NAN;
	return npu_f32_key(a) < npu_f32_key(b) ? a : b;
}

/* Nearest, ties to even, saturating; a NaN is 0. */
static inline s32 npu_f32_to_s32(u32 f)
{
	u32 exp = (f >> 23) & 0xff;
	s64 v = (f & 0x7fffff) | 0x800000;

	if (npu_f32_is_nan(f) || exp < 126)
		return 0;
	if (exp >= 127 + 31)
		return f & 0x80000000 ? -2147483647 - 1 : 2147483647;
	if (exp >= 150)
		v <<= exp - 150;
	else
		v = npu_shift_even(v, 150 - exp);
	return npu_sat32(f & 0x80000000 ? -v : v);
}

/* Nearest, ties to even */
static inline u32 npu_s32_to_f32(s32 i)
{
	u32 sign = i < 0 ? 0x80000000 : 0;
	u64 v = i < 0 ? (u64)-(s64)i : (u64)i;
	u32 top = 0;

	if (!v)
		return 0;
	while (v >> (top + 1))
		top++;
	if (top <= 23)
		v <<= 23 - top;
	else
		v = (u64)npu_shift_even((s64)v, top - 23);
	/* A mantissa that rounds up to the next power of two carries by itself. */
	return sign | (u32)(((u64)(top + 126) << 23) + v);
}

/* To the integer below, or above with @up */
static inline u32 npu_f32_floor(u32 f, bool up)
{
	u32 exp = (f >> 23) & 0xff;
	u32 sign = f & 0x80000000;
	u32 rest;

	if (npu_f32_is_nan(f))
		return F32_NAN;
	if (exp >= 150 || !(f & 0x7fffffff))
		return f;
	if (exp < 127)
		return !sign == !up ? sign : sign | 0x3f800000;
	rest = 0x7fffff >> (exp - 127);
	if (!(f & rest))
		return f;
	/* Away from zero where the sign asks for it */
	if (!sign == up)
		f += rest + 1;
	return f & ~rest;
}

#endif
