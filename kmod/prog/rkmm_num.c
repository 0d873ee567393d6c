// SPDX-License-Identifier: GPL-2.0-only
/*
 * Numbers without a floating-point unit.
 */
#include "rkmm_num.h"
#include "rkmm_pure.h"

static u32 bit_length(u64 v)
{
	return v ? 64 - (u32)__builtin_clzll(v) : 0;
}

static u64 magnitude(s64 v)
{
	return v < 0 ? 0 - (u64)v : (u64)v;
}

/* @v >> @shift, to nearest, ties to even; a negative @shift moves left. */
static u64 round_shift(u64 v, s32 shift)
{
	u64 rest, half, kept;

	if (shift <= 0)
		return v << -shift;
	if (shift > 63)
		return 0;
	kept = v >> shift;
	rest = v & ((1ull << shift) - 1);
	half = 1ull << (shift - 1);
	return kept + (rest > half || (rest == half && kept & 1));
}

static struct rkmm_num of_float(u32 bits, u32 fraction, u32 exponent)
{
	u32 biased = bits >> fraction & ((1u << exponent) - 1);
	s64 mant = bits & ((1u << fraction) - 1);
	s32 bias = (1 << (exponent - 1)) - 1 + (s32)fraction;

	if (biased)
		mant |= 1ll << fraction;
	return (struct rkmm_num){
		.mant = bits >> (fraction + exponent) & 1 ? -mant : mant,
		.exp = (s32)(biased ? biased : 1) - bias,
	};
}

struct rkmm_num rkmm_f32_num(u32 bits)
{
	return of_float(bits, 23, 8);
}

struct rkmm_num rkmm_f16_num(u32 bits)
{
	return of_float(bits, 10, 5);
}

static u32 to_float(struct rkmm_num n, u32 fraction, u32 exponent)
{
	u64 mag = magnitude(n.mant);
	u32 sign = n.mant < 0 ? 1u << (fraction + exponent) : 0;
	u32 most = (1u << exponent) - 1;
	s32 bias = (1 << (exponent - 1)) - 1;
	s32 top, e;
	u64 bits;

	if (!mag)
		return sign;
	top = (s32)bit_length(mag) - 1 + n.exp;
	if (top > bias)
		return sign | most << fraction;
	/* Below the smallest normal number the exponent stays. */
	e = top < 1 - bias ? 1 - bias : top;
	bits = round_shift(mag, e - (s32)fraction - n.exp);
	/* The leading one, or the carry of the rounding, counts up the exponent. */
	bits += (u64)(e + bias - 1) << fraction;
	return sign | rkmm_min((u32)bits, most << fraction);
}

u16 rkmm_num_f16(struct rkmm_num n)
{
	return (u16)to_float(n, 10, 5);
}

u32 rkmm_num_f32(struct rkmm_num n)
{
	return to_float(n, 23, 8);
}

/* At most @bits bits of magnitude */
static struct rkmm_num trim(struct rkmm_num n, u32 bits)
{
	u32 len = bit_length(magnitude(n.mant));
	u64 mag;

	if (len <= bits)
		return n;
	mag = round_shift(magnitude(n.mant), (s32)(len - bits));
	return (struct rkmm_num){
		.mant = n.mant < 0 ? -(s64)mag : (s64)mag, .exp = n.exp + (s32)(len - bits),
	};
}

struct rkmm_num rkmm_num_mul(struct rkmm_num a, struct rkmm_num b)
{
	a = trim(a, 30);
	b = trim(b, 30);
	return (struct rkmm_num){ .mant = a.mant * b.mant, .exp = a.exp + b.exp };
}

struct rkmm_num rkmm_num_add(struct rkmm_num a, struct rkmm_num b)
{
	struct rkmm_num hi, lo;
	s32 up, down;
	u64 mag;

	if (!a.mant)
		return b;
	if (!b.mant)
		return a;
	a = trim(a, 40);
	b = trim(b, 40);
	hi = a.exp >= b.exp ? a : b;
	lo = a.exp >= b.exp ? b : a;
	up = 60 - (s32)bit_length(magnitude(hi.mant));
	up = up < hi.exp - lo.exp ? up : hi.exp - lo.exp;
	hi.mant = hi.mant < 0 ? -(s64)(magnitude(hi.mant) << up) : hi.mant << up;
	hi.exp -= up;
	down = hi.exp - lo.exp;
	mag = round_shift(magnitude(lo.mant), down);
	hi.mant += lo.mant < 0 ? -(s64)mag : (s64)mag;
	return hi;
}

struct rkmm_num rkmm_num_inverse(struct rkmm_num n)
{
	u64 mag = magnitude(trim(n, 22).mant), q;
	s32 exp = trim(n, 22).exp;

	q = ((1ull << 62) + mag / 2) / mag;
	return (struct rkmm_num){ .mant = n.mant < 0 ? -(s64)q : (s64)q, .exp = -62 - exp };
}

int rkmm_num_cmp(struct rkmm_num a, struct rkmm_num b)
{
	s64 d;

	b.mant = -b.mant;
	d = rkmm_num_add(a, b).mant;
	return d < 0 ? -1 : d > 0;
}

bool rkmm_num_ratio(struct rkmm_num n, u32 bits, u32 most, u32 *mult, u32 *shift)
{
	s32 s;

	n = trim(n, bits);
	*mult = 0;
	*shift = 0;
	if (!n.mant)
		return true;
	/* As many bits as there are, as long as the shift allows it. */
	while (bit_length((u64)n.mant) < bits && -n.exp < (s32)most) {
		n.mant <<= 1;
		n.exp--;
	}
	s = -n.exp;
	if (s < 0)
		return false;
	if (s > (s32)most) {
		n.mant = (s64)round_shift((u64)n.mant, s - (s32)most);
		s = (s32)most;
	}
	/* What trimming rounded up to one bit more */
	if (bit_length((u64)n.mant) > bits) {
		n.mant >>= 1;
		s--;
	}
	if (s < 0)
		return false;
	*mult = (u32)n.mant;
	*shift = (u32)s;
	return true;
}

bool rkmm_num_s32(struct rkmm_num n, s32 *v)
{
	u64 mag;

	n = trim(n, 31);
	if (n.mant && n.exp > 31)
		return false;
	mag = round_shift(magnitude(n.mant), -n.exp);
	if (mag > 0x7fffffff)
		return false;
	*v = n.mant < 0 ? -(s32)mag : (s32)mag;
	return true;
}

u32 rkmm_isqrt(u64 v)
{
	u64 root = 0, bit = 1ull << 62;

	while (bit > v)
		bit >>= 2;
	for (; bit; bit >>= 2) {
		if (v >= root + bit) {
			v -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	return (u32)root;
}
