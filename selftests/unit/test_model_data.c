// SPDX-License-Identifier: GPL-2.0-only
/* Random operands, their layouts, and what a matmul of them should be. */
#include <math.h>

#include "test_model_rig.h"

u32 rnd(u32 *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8 ^ *state << 11;
}

float bits_float(u32 bits)
{
	float f;

	memcpy(&f, &bits, 4);
	return f;
}

u32 float_bits(float f)
{
	u32 bits;

	memcpy(&bits, &f, 4);
	return bits;
}

float half_to_float(u16 h)
{
	int e = (h >> 10) & 31, man = h & 1023;
	double v;

	if (e == 31)
		v = man ? NAN : INFINITY;
	else
		v = e ? ldexp(man + 1024, e - 25) : ldexp(man, -24);
	return h & 0x8000 ? -v : v;
}

u16 float_to_half(float f)
{
	u16 sign = signbit(f) ? 0x8000 : 0;
	double v = fabs((double)f), man;
	int e;

	if (isnan(f))
		return 0x7e00;
	if (v >= 65520)
		return sign | 0x7c00;
	if (v < ldexp(1, -14))
		return sign | (u16)nearbyint(ldexp(v, 24));
	frexp(v, &e);
	man = nearbyint(ldexp(v, 11 - e));
	return sign | (u16)((e + 13) * 1024 + man);
}

static s32 random_value(enum pair pair, u32 *state)
{
	u32 r = rnd(state);

	switch (pair) {
	case F16F32:
	case F16F16:
		/* Magnitudes 2^-6 to 2^2, both signs. */
		return (r & 0x8000) | (9 + (r >> 16) % 8) << 10 | (r & 0x3ff);
	case I4I16:
		return (s32)(r % 16) - 8;
	default:
		return (s32)(r % 256) - 128;
	}
}

void data_random(struct data *d, const struct job *j, u32 seed)
{
	u32 state = seed * 2654435761u + 12345, i;

	d->a = malloc(sizeof(*d->a) * j->m * j->k);
	d->b = malloc(sizeof(*d->b) * j->k * j->n);
	d->c = malloc(sizeof(*d->c) * j->m * j->n);
	for (i = 0; i < j->m * j->k; i++)
		d->a[i] = random_value(j->pair, &state);
	for (i = 0; i < j->k * j->n; i++)
		d->b[i] = random_value(j->pair, &state);
	data_multiply(d, j);
}

/* fp16 operands as floats, converted once */
static float *floats(const s32 *half, u32 count)
{
	float *f = malloc(sizeof(*f) * count);
	u32 i;

	for (i = 0; i < count; i++)
		f[i] = half_to_float(half[i]);
	return f;
}

static void multiply_float(struct data *d, const struct job *j)
{
	float *a = floats(d->a, j->m * j->k), *b = floats(d->b, j->k * j->n);
	u32 m, n, k;

	for (m = 0; m < j->m; m++)
		for (n = 0; n < j->n; n++) {
			float sum = 0;

			for (k = 0; k < j->k; k++)
				sum = sum + a[m * j->k + k] * b[k * j->n + n];
			d->c[m * j->n + n] = float_bits(sum);
		}
	free(a);
	free(b);
}

void data_multiply(struct data *d, const struct job *j)
{
	u32 m, n, k;

	if (pair_info[j->pair].bits == 16) {
		multiply_float(d, j);
		return;
	}
	for (m = 0; m < j->m; m++)
		for (n = 0; n < j->n; n++) {
			s64 sum = 0;

			for (k = 0; k < j->k; k++)
				sum += d->a[m * j->k + k] * d->b[k * j->n + n];
			d->c[m * j->n + n] = sum;
		}
}

void data_free(struct data *d)
{
	free(d->a);
	free(d->b);
	free(d->c);
}

static s64 clamp(s64 v, s64 lo, s64 hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

/* Nearest, ties to even, by division. */
static s64 half_even(s64 v, u32 shift)
{
	s64 unit = (s64)1 << shift;
	s64 q = v / unit, r = v % unit;

	if (r < 0) {
		r += unit;
		q--;
	}
	if (2 * r > unit || (2 * r == unit && q % 2))
		q++;
	return q;
}

u32 data_out(const struct data *d, const struct job *j, u32 m, u32 n)
{
	s64 v = d->c[m * j->n + n];

	switch (j->pair) {
	case F16F32:
		return isnan(bits_float((u32)v)) ? 0x7fc00000 : (u32)v;
	case F16F16:
		return float_to_half(bits_float((u32)v));
	case I8I8:
		return clamp(half_even(v * j->mult, j->shift) + j->offset, -128, 127) & 0xff;
	case I4I16:
		return clamp(v, -32768, 32767) & 0xffff;
	default:
		return (u32)v;
	}
}

static void put_elem(u8 *dst, u32 bits, u32 index, s32 value)
{
	switch (bits) {
	case 16:
		dst[2 * index] = value & 0xff;
		dst[2 * index + 1] = (value >> 8) & 0xff;
		break;
	case 8:
		dst[index] = value & 0xff;
		break;
	default:
		if (index & 1)
			dst[index / 2] = (dst[index / 2] & 0x0f) | (value & 15) << 4;
		else
			dst[index / 2] = (dst[index / 2] & 0xf0) | (value & 15);
	}
}

void put_weight(u8 *dst, const struct data *d, const struct job *j)
{
	u32 g = pair_info[j->pair].group, k, n;

	for (k = 0; k < j->k; k++)
		for (n = 0; n < j->n; n++) {
			u32 tile = (n / g) * (j->k / 32) + k / 32;

			put_elem(dst, pair_info[j->pair].bits,
				 tile * g * 32 + (n % g) * 32 + k % 32, d->b[k * j->n + n]);
		}
}

void put_a_rows(u8 *dst, const struct data *d, const struct job *j, u32 pitch_bytes)
{
	u32 m, k;

	for (m = 0; m < j->m; m++)
		for (k = 0; k < j->k; k++)
			put_elem(dst + m * pitch_bytes, pair_info[j->pair].bits, k,
				 d->a[m * j->k + k]);
}

void put_a_cube(u8 *dst, const struct data *d, const struct job *j)
{
	u32 c2 = pair_info[j->pair].c2, m, k;

	for (m = 0; m < j->m; m++)
		for (k = 0; k < j->k; k++)
			put_elem(dst + 16 * ((k / c2) * j->m + m), pair_info[j->pair].bits,
				 k % c2, d->a[m * j->k + k]);
}

u32 get_out(const u8 *src, u32 bytes)
{
	u32 v = 0;

	while (bytes--)
		v = v << 8 | src[bytes];
	return v;
}

u32 a_bytes(const struct job *j)
{
	return j->m * j->k * pair_info[j->pair].bits / 8;
}

u32 b_bytes(const struct job *j)
{
	return j->n * j->k * pair_info[j->pair].bits / 8;
}

u32 c_bytes(const struct job *j)
{
	u32 s = j->pitch ? j->pitch : j->n;

	return (j->n + (j->m - 1) * s) * pair_info[j->pair].out_bytes;
}

static void check_at(const u8 *at, const struct data *d, const struct job *j, u32 m, u32 n)
{
	u32 got = get_out(at, pair_info[j->pair].out_bytes), want = data_out(d, j, m, n);

	if (got != want) {
		print_error("%s %ux%ux%u: C(%u,%u) is %08x, not %08x\n", pair_info[j->pair].name,
			    j->m, j->k, j->n, m, n, got, want);
		fail();
	}
}

void check_rows(struct rig *rig, const struct data *d, const struct job *j)
{
	u32 ob = pair_info[j->pair].out_bytes, s = j->pitch ? j->pitch : j->n, m, n;
	const u8 *c = rig_at(rig, j->c);

	for (m = 0; m < j->m; m++)
		for (n = 0; n < j->n; n++)
			check_at(c + (m ? j->n + (m - 1) * s + n : n) * ob, d, j, m, n);
}

void check_cube(struct rig *rig, const struct data *d, const struct job *j)
{
	u32 ob = pair_info[j->pair].out_bytes, c2 = 16 / ob, m, n;
	const u8 *c = rig_at(rig, j->c);

	for (m = 0; m < j->m; m++)
		for (n = 0; n < j->n; n++)
			check_at(c + 16 * ((n / c2) * j->m + m) + (n % c2) * ob, d, j, m, n);
}
