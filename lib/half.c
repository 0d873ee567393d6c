// SPDX-License-Identifier: MIT
#include <string.h>

#include "lib/rkmm.h"

static uint16_t to_half(float f)
{
	uint32_t x, sign, mant, half, rest, shift;
	int exp;

	memcpy(&x, &f, 4);
	sign = x >> 16 & 0x8000;
	x &= 0x7fffffff;
	if (x >= 0x7f800000)	/* infinity, NaN: keep it a quiet one, with its top bits */
		return (uint16_t)(sign | 0x7c00 |
				  (x > 0x7f800000 ? 0x200 | (x >> 13 & 0x3ff) : 0));
	if (x >= 0x47800000)	/* 65536 and more */
		return (uint16_t)(sign | 0x7c00);
	exp = (int)(x >> 23) - 112;
	if (exp > 0) {
		/* A carry out of the mantissa counts the exponent up, to infinity at last. */
		half = x - (112u << 23);
		rest = half & 0x1fff;
		half >>= 13;
		half += rest > 0x1000 || (rest == 0x1000 && half & 1);
		return (uint16_t)(sign | half);
	}
	if (exp < -10)		/* below half of the smallest number */
		return (uint16_t)sign;
	mant = (x & 0x7fffff) | 0x800000;
	shift = (uint32_t)(14 - exp);
	half = mant >> shift;
	rest = mant & ((1u << shift) - 1);
	half += rest > 1u << (shift - 1) || (rest == 1u << (shift - 1) && half & 1);
	return (uint16_t)(sign | half);
}

static float from_half(uint16_t h)
{
	uint32_t sign = (uint32_t)(h & 0x8000) << 16, exp = h >> 10 & 0x1f, mant = h & 0x3ff;
	uint32_t x;
	float f;

	if (exp == 0x1f) {
		x = sign | 0x7f800000 | mant << 13;
	} else if (exp) {
		x = sign | (exp + 112) << 23 | mant << 13;
	} else {
		/* Below the normal numbers: mant * 2^-24 is exact. */
		f = (float)mant / (1 << 24);
		return sign ? -f : f;
	}
	memcpy(&f, &x, 4);
	return f;
}

void rkmm_f32_to_f16(const float *src, uint16_t *dst, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		dst[i] = to_half(src[i]);
}

void rkmm_f16_to_f32(const uint16_t *src, float *dst, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		dst[i] = from_half(src[i]);
}
