// SPDX-License-Identifier: GPL-2.0-only
/* Tasks of the DPU alone, written from hw 04 §2, against plain loops. */
#include <math.h>

#include "test_model_cube.h"

struct world {
	struct rig rig;
	struct shape s;
	s32 *a, *b;
	struct prog p;
};

static void open_world(struct world *w, const struct shape *s, u32 seed)
{
	w->s = *s;
	rig_open(&w->rig);
	rig_map(&w->rig, IMAGE, 0x4000);
	rig_map(&w->rig, SRC, shape_bytes(s));
	rig_map(&w->rig, SRC2, shape_bytes(s));
	rig_map(&w->rig, DST, 2 * shape_bytes(s));
	rig_map(&w->rig, VEC, 4 * s->n);
	w->a = malloc(4 * shape_values(s));
	w->b = malloc(4 * shape_values(s));
	cube_random(w->a, s, seed);
	cube_random(w->b, s, seed + 1);
	cube_put(rig_at(&w->rig, SRC), w->a, s);
	cube_put(rig_at(&w->rig, SRC2), w->b, s);
}

static void close_world(struct world *w)
{
	free(w->a);
	free(w->b);
	rig_close(&w->rig);
}

static s32 out(struct world *w, u32 m, u32 n)
{
	return cube_get(rig_at(&w->rig, DST), &w->s, m, n);
}

/* Every value is as expected, and nothing behind the cube was touched. */
static void expect(struct world *w, s32 (*value)(s32 a, s32 b, void *arg, u32 n), void *arg)
{
	u32 m, n, i;

	run_good(&w->rig, &w->p, 0x18);
	for (m = 0; m < shape_pixels(&w->s); m++)
		for (n = 0; n < w->s.n; n++) {
			i = m * w->s.n + n;
			if (out(w, m, n) != value(w->a[i], w->b[i], arg, n))
				print_error("(%u,%u): %x %x: %x instead of %x\n", m, n, w->a[i],
					    w->b[i], out(w, m, n),
					    value(w->a[i], w->b[i], arg, n));
			assert_int_equal(out(w, m, n), value(w->a[i], w->b[i], arg, n));
		}
	for (i = shape_bytes(&w->s); i < 2 * shape_bytes(&w->s); i++)
		assert_int_equal(*rig_at(&w->rig, DST + i), 0xa5);
}

static const struct shape shapes[] = {
	{ F16, 1, 1, 8 }, { F16, 5, 1, 24 }, { F16, 7, 3, 64 }, { F16, 1031, 1, 16 },
	{ I8, 1, 1, 16 }, { I8, 13, 1, 48 }, { I8, 3, 11, 32 }, { I8, 2050, 1, 16 },
	{ I16, 1, 1, 8 }, { I16, 9, 5, 40 },
};

static s32 first(s32 a, s32 b, void *arg, u32 n)
{
	(void)b;
	(void)arg;
	(void)n;
	return a;
}

static void copies(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct world w;

		open_world(&w, &shapes[i], i);
		dpu_program(&w.p, &shapes[i]);
		expect(&w, first, NULL);
		assert_int_equal(npu_core_read(w.rig.core, 0x28), 0x100);
		close_world(&w);
	}
}

/* A window of a larger picture: gaps behind lines and surfaces on both sides */
static void windows(void **state)
{
	const struct shape part = { F16, 5, 3, 24 }, whole = { F16, 9, 7, 24 };
	s32 *v = malloc(4 * shape_values(&whole));
	struct rig rig;
	struct prog p;
	u32 x, y, n;

	(void)state;
	rig_open(&rig);
	rig_map(&rig, IMAGE, 0x4000);
	rig_map(&rig, SRC, shape_bytes(&whole));
	rig_map(&rig, DST, shape_bytes(&whole));
	cube_random(v, &whole, 3);
	cube_put(rig_at(&rig, SRC), v, &whole);
	dpu_program(&p, &part);
	/* Read from (2,1), written to (3,4) */
	prog_set(&p, 0x5018, SRC + 16 * (1 * 9 + 2));
	prog_set(&p, 0x5048, (9 - 5) << 19);
	prog_set(&p, 0x504c, 16 * (9 * 7 - (9 * 2 + 5)));
	prog_set(&p, 0x4020, DST + 16 * (4 * 9 + 3));
	prog_set(&p, 0x4038, (9 - 5) << 16 | (9 - 5));
	prog_set(&p, 0x4024, 16 * 9 * 7);
	prog_set(&p, 0x40c0, 16 * 9 * 7);
	run_good(&rig, &p, 0x18);
	for (y = 0; y < 7; y++)
		for (x = 0; x < 9; x++)
			for (n = 0; n < 24; n++) {
				bool in = x >= 3 && x < 8 && y >= 4;
				s32 got = cube_get(rig_at(&rig, DST), &whole, y * 9 + x, n);

				assert_int_equal(got, !in ? 0xa5a5 :
						 v[((y - 3) * 9 + x - 1) * 24 + n]);
			}
	free(v);
	rig_close(&rig);
}

/* --- fp16, two inputs -------------------------------------------------------------------- */

static float pick(float a, float b, bool max)
{
	if (isnan(a) || isnan(b))
		return NAN;
	/* Zeros are ordered by their signs. */
	if (a == b)
		return !signbit(a) == max ? a : b;
	return (a > b) == max ? a : b;
}

static s32 f16_op(s32 a, s32 b, void *arg, u32 n)
{
	float x = half_to_float((u16)a), y = half_to_float((u16)b), r;

	(void)n;
	switch (*(const u32 *)arg) {
	case 0x108202c0:
		r = x + y;
		break;
	case 0x108402c0:
		r = x - y;
		break;
	case 0x108002c0:
	case 0x10a002c0:
		r = pick(x, y, true);
		break;
	case 0x108102c0:
		r = pick(x, y, false);
		break;
	case 0x108003c4:
		r = x * y;
		break;
	default:
		r = x / y;
	}
	return isnan(r) ? 0x7e00 : float_to_half(r);
}

static const u32 f16_ops[] = {
	0x108202c0, 0x108402c0, 0x108002c0, 0x10a002c0, 0x108102c0, 0x108003c4, 0x108303c0,
};

static void f16_program(struct world *w, u32 op)
{
	dpu_two_inputs(&w->p, &w->s, op);
	if (op == 0x108303c0) {
		prog_set(&w->p, 0x4084, 1);
		prog_set(&w->p, 0x5044, 0x17841);
	}
}

static void f16_two_inputs(void **state)
{
	u32 i, op;

	(void)state;
	for (i = 0; i < 4; i++)
		for (op = 0; op < ARRAY_SIZE(f16_ops); op++) {
			u32 cfg = f16_ops[op];
			struct world w;

			open_world(&w, &shapes[i], i + 10);
			f16_program(&w, cfg);
			expect(&w, f16_op, &cfg);
			close_world(&w);
		}
}

/* All pairs of zeros, denormals, the edges of the range, infinities, NaNs */
static void f16_specials(void **state)
{
	static const u16 v[] = {
		0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x83ff, 0x3c00, 0xbc00, 0x3c01,
		0x3555, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7c01, 0x0200, 0x4000,
		0xc000, 0x57ff, 0x1400, 0x9400,
	};
	const struct shape s = { F16, 72, 1, 8 };
	u32 op, i;

	(void)state;
	assert_int_equal(shape_values(&s), ARRAY_SIZE(v) * ARRAY_SIZE(v));
	for (op = 0; op < ARRAY_SIZE(f16_ops); op++) {
		u32 cfg = f16_ops[op];
		struct world w;

		open_world(&w, &s, 0);
		for (i = 0; i < shape_values(&s); i++) {
			w.a[i] = v[i / ARRAY_SIZE(v)];
			w.b[i] = v[i % ARRAY_SIZE(v)];
		}
		cube_put(rig_at(&w.rig, SRC), w.a, &s);
		cube_put(rig_at(&w.rig, SRC2), w.b, &s);
		f16_program(&w, cfg);
		expect(&w, f16_op, &cfg);
		close_world(&w);
	}
}

/* The vector of hw 04 §2.3: one multiplier a channel, side by side */
static void per_channel(void **state)
{
	u32 i, m, n;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		const struct shape *s = &shapes[i];
		const struct shape vector = { s->type, 1, 1, s->n };
		u32 bytes = type_bytes[s->type];
		s32 *scale = malloc(4 * s->n);
		struct world w;

		open_world(&w, s, i + 20);
		cube_random(scale, &vector, i + 99);
		for (n = 0; n < s->n; n++)
			memcpy(rig_at(&w.rig, VEC + n * bytes), &scale[n], bytes);
		dpu_two_inputs(&w.p, s, s->type == F16 ? 0x108003c4 :
			       s->type == I16 ? 0x908002c4 : 0x904002c4);
		prog_set(&w.p, 0x5034, bytes << 2);
		prog_set(&w.p, 0x5038, VEC);
		if (s->type != F16)
			prog_set(&w.p, 0x4088, 4);
		run_good(&w.rig, &w.p, 0x18);
		for (m = 0; m < shape_pixels(s); m++)
			for (n = 0; n < s->n; n++) {
				s32 a = w.a[m * s->n + n], top = bytes == 1 ? 127 : 32767;
				double d = rint((double)a * scale[n] / 16);
				u32 cfg = 0x108003c4;
				s32 want = d > top ? top : d < -top - 1 ? -top - 1 : (s32)d;

				if (s->type == F16)
					want = f16_op(a, scale[n], &cfg, n);
				assert_int_equal(out(&w, m, n), want);
			}
		free(scale);
		close_world(&w);
	}
}

/* --- integers, two inputs ---------------------------------------------------------------- */

struct int_op {
	enum type type;
	u32 ew, bs;
	s32 za, zb, zo;
	s32 ma, mb;
	u32 a_shift, b_shift, mult, shift;
};

static s64 half_away(s64 v, u32 shift)
{
	double d = (double)v / (double)(1ll << shift);

	return (s64)(d < 0 ? ceil(d - 0.5) : floor(d + 0.5));
}

/* Formulas of hw 04 §2.2 */
static s32 int_op(s32 a, s32 b, void *arg, u32 n)
{
	const struct int_op *o = arg;
	s64 x = a + o->za, y = b + o->zb, r;
	s64 top = o->type == I8 ? 127 : 32767;

	(void)n;
	if (!(o->bs & 0x10))
		x = half_away(x * o->ma, o->a_shift);
	y = half_away(y * o->mb, o->b_shift);
	switch (o->ew & 0xf0004) {
	case 0x00004:
		r = x * y;
		break;
	case 0x00000:
		r = x > y ? x : y;
		break;
	case 0x10000:
		r = x < y ? x : y;
		break;
	case 0x40000:
		r = x - y;
		break;
	default:
		r = x + y;
	}
	r = (s64)rint(ldexp((double)(r * o->mult), -(int)o->shift)) + o->zo;
	return (s32)(r > top ? top : r < -top - 1 ? -top - 1 : r);
}

static void int_two_inputs(void **state)
{
	static const struct int_op ops[] = {
		/* Plain saturating a + b, max, min, a - b */
		{ I8, 0x904202c0, 0x20040, 0, 0, 0, 0x4000, 0x4000, 0, 0, 1, 14 },
		{ I8, 0x904002c0, 0x20040, 0, 0, 0, 0x4000, 0x4000, 0, 0, 1, 14 },
		{ I8, 0x904102c0, 0x20040, 0, 0, 0, 0x4000, 0x4000, 0, 0, 1, 14 },
		{ I8, 0x904402c0, 0x20040, 0, 0, 0, 0x4000, 0x4000, 0, 0, 1, 14 },
		/* Zero points and unequal scales */
		{ I8, 0x904202c0, 0x20040, 3, -5, 7, 0x4000, 0x31a7, 0, 2, 0x5b2c, 29 },
		{ I8, 0x904402c0, 0x20040, -100, 100, -50, 0x4000, 0x7fff, 0, 3, 0x4001, 28 },
		{ I8, 0x904002c4, 0x20050, 0, 0, 0, 0, 1, 0, 0, 1, 0 },
		{ I8, 0x904002c4, 0x20050, -7, 9, 4, 0, 1, 0, 0, 0x6789, 22 },
		{ I16, 0x908002c4, 0x20050, 0, 0, 0, 0, 1, 0, 0, 0x4000, 29 },
		{ I16, 0x908202c0, 0x20040, 0, 0, 0, 1, 1, 0, 0, 1, 0 },
		/* The captured int16 addition, its negative shift in step */
		{ I16, 0x908202c0, 0x20040, (s32)0xfffff58b, (s32)0xfffff60c, (s32)0xfffffb8f,
		  0x7a75, 0x4000, 1, 0, 0x5b2c, 29 },
	};
	u32 i, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(ops); i++)
		for (k = 0; k < ARRAY_SIZE(shapes); k++) {
			struct int_op o = ops[i];
			struct world w;

			if (shapes[k].type != o.type)
				continue;
			open_world(&w, &shapes[k], i + 30);
			dpu_two_inputs(&w.p, &shapes[k], o.ew);
			prog_set(&w.p, 0x4010, (o.type == I16 ? 0x24000001 : 0) | o.a_shift << 4);
			prog_set(&w.p, 0x4040, o.bs);
			prog_set(&w.p, 0x4044, (u32)o.za);
			prog_set(&w.p, 0x4048, (u32)o.ma << 16 | o.a_shift << 8);
			prog_set(&w.p, 0x4074, (u32)o.zb);
			prog_set(&w.p, 0x4078, o.b_shift << 16 | (u32)o.mb);
			prog_set(&w.p, 0x4080, (u32)o.zo);
			prog_set(&w.p, 0x4084, o.mult);
			prog_set(&w.p, 0x4088, o.shift);
			expect(&w, int_op, &o);
			close_world(&w);
		}
}

/* --- one input --------------------------------------------------------------------------- */

struct one {
	u32 offset, value;
};

static s32 one_input(s32 a, s32 b, void *arg, u32 n)
{
	u32 which = *(const u32 *)arg;
	float x = half_to_float((u16)a), r;

	(void)b;
	(void)n;
	switch (which) {
	case 0:
		r = x > 0 ? x : 0;
		break;
	case 1:
		r = x > 6 ? 6 : x > 0 ? x : 0;
		break;
	case 2:
		r = x < 0 ? x * 0.125f : x;
		break;
	case 3:
		r = fabsf(x);
		break;
	case 4:
		r = x * 1.5f + 0.25f;
		break;
	case 5:
		r = -x;
		break;
	case 6:
		r = floorf(x);
		break;
	case 7:
		r = ceilf(x);
		break;
	case 8:
		r = x * 0.75f;
		break;
	case 9:
		r = x + -3.5f;
		break;
	default:
		r = x > 2 ? 2 : x > 0 ? x : 0;
	}
	return float_to_half(r);
}

static void one_inputs(void **state)
{
	static const struct one changes[][5] = {
		{ { 0x4040, 0x12 } },
		{ { 0x4040, 0x92 }, { 0x404c, 0x40c00000 } },
		{ { 0x4040, 0x62 }, { 0x4048, 0x30000000 } },
		{ { 0x4040, 0x62 }, { 0x4048, 0xbc000000 } },
		{ { 0x4060, 0x20040 }, { 0x4068, 0x3e000000 }, { 0x4064, 0x3e800000 } },
		{ { 0x4070, 0x10860380 } },
		{ { 0x4070, 0x10870380 } },
		{ { 0x4070, 0x10880380 } },
		/* The register operand: fp16 by its size in 4070, or fp32 */
		{ { 0x4070, 0x10800384 }, { 0x4090, 0x3a00 } },
		{ { 0x4070, 0x10c20380 }, { 0x4090, 0xc0600000 } },
		/* ReLU6 of EW instead of BS */
		{ { 0x4070, 0x582 }, { 0x407c, 0x40000000 } },
	};
	u32 i, k, j;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(changes); i++)
		for (k = 0; k < 4; k++) {
			struct world w;

			open_world(&w, &shapes[k], i + 40);
			dpu_program(&w.p, &shapes[k]);
			for (j = 0; j < 5 && changes[i][j].offset; j++)
				prog_set(&w.p, changes[i][j].offset, changes[i][j].value);
			expect(&w, one_input, &i);
			close_world(&w);
		}
}

static s32 int_one_input(s32 a, s32 b, void *arg, u32 n)
{
	s64 v = a;

	(void)b;
	(void)n;
	switch (*(const u32 *)arg) {
	case 0:
		return v < 0 ? 0 : a;
	case 1:
		return (s32)(v < 0 ? 0 : v > 77 ? 77 : v);
	case 2:
		return (s32)(v < 0 ? half_away(v * 13, 7) : v);
	case 3:
		v = half_away(v * 77 - 1000, 5);
		break;
	case 4:
		v = -v;
		break;
	case 5:
		v = v < 0 ? -v : v;
		break;
	default:
		v = (s64)rint((double)((v + 9) * 5) / 8);
	}
	return (s32)(v > 127 ? 127 : v < -128 ? -128 : v);
}

static void int_one_inputs(void **state)
{
	static const struct one changes[][5] = {
		{ { 0x4040, 0x12 } },
		{ { 0x4040, 0x92 }, { 0x404c, 77 } },
		{ { 0x4040, 0x62 }, { 0x4048, 13 << 16 }, { 0x4010, 7 << 4 } },
		{ { 0x4060, 0x20040 }, { 0x4068, 77 << 16 | 5 << 8 }, { 0x4064, 0xfffffc18 },
		  { 0x4010, 5 << 10 } },
		{ { 0x4070, 0x10460380 } },
		{ { 0x4070, 0x10450380 } },
		{ { 0x4080, 9 }, { 0x4084, 5 }, { 0x4088, 0x80000003 } },
	};
	u32 i, k, j;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(changes); i++)
		for (k = 4; k < 8; k++) {
			struct world w;

			open_world(&w, &shapes[k], i + 50);
			dpu_program(&w.p, &shapes[k]);
			for (j = 0; j < 5 && changes[i][j].offset; j++)
				prog_set(&w.p, changes[i][j].offset, changes[i][j].value);
			expect(&w, int_one_input, &i);
			close_world(&w);
		}
}

/* A tie: bit 30 of 4088 says to even or away */
static void ties(void **state)
{
	const struct shape s = { I8, 16, 1, 16 };
	u32 away, m, n;

	(void)state;
	for (away = 0; away < 2; away++) {
		struct world w;

		open_world(&w, &s, 0);
		for (m = 0; m < 256; m++)
			w.a[m] = (s8)m;
		cube_put(rig_at(&w.rig, SRC), w.a, &s);
		dpu_program(&w.p, &s);
		prog_set(&w.p, 0x4088, away << 30 | 1);
		run_good(&w.rig, &w.p, 0x18);
		for (m = 0; m < 16; m++)
			for (n = 0; n < 16; n++) {
				double v = w.a[m * 16 + n] / 2.0;

				assert_int_equal(out(&w, m, n), away ? round(v) : rint(v));
			}
		close_world(&w);
	}
}

/* fp16 to fp32: two atoms of four for each of eight (hw 04 §2.4) */
static void to_fp32(void **state)
{
	u32 i, m, n;

	(void)state;
	for (i = 0; i < 4; i++) {
		const struct shape *s = &shapes[i];
		u32 plane = 16 * shape_pixels(s);
		struct world w;

		open_world(&w, s, i + 60);
		dpu_program(&w.p, s);
		prog_set(&w.p, 0x4010, 0xa8000002);
		prog_set(&w.p, 0x4050, 0x126);
		prog_set(&w.p, 0x40c0, 2 * plane);
		prog_set(&w.p, 0x4084, 1);
		run_good(&w.rig, &w.p, 0x18);
		for (m = 0; m < shape_pixels(s); m++)
			for (n = 0; n < s->n; n++)
				assert_int_equal(get_out(rig_at(&w.rig, DST) +
							 cube_at(shape_pixels(s), 4, m, n), 4),
						 float_bits(half_to_float((u16)
							w.a[m * s->n + n])));
		close_world(&w);
	}
}

/* Vectors by BRDMA and NRDMA, one operand each */
static void stage_vectors(void **state)
{
	const struct shape s = { F16, 9, 2, 24 };
	u32 bn, mul, m, n;

	(void)state;
	for (bn = 0; bn < 2; bn++)
		for (mul = 0; mul < 2; mul++) {
			u32 cfg = bn ? 0x4060 : 0x4040;
			struct world w;

			open_world(&w, &s, 70);
			for (n = 0; n < s.n; n++) {
				u32 v = mul ? float_to_half(n / 8.0f - 1) : float_bits(n - 7.5f);

				memcpy(rig_at(&w.rig, VEC + n * (mul ? 2 : 4)), &v, mul ? 2 : 4);
			}
			dpu_program(&w.p, &s);
			prog_set(&w.p, cfg, mul ? 0x42 : 0x20150);
			prog_set(&w.p, cfg + 8, mul);
			prog_set(&w.p, bn ? 0x5028 : 0x501c, mul ? 8 : 2);
			prog_set(&w.p, bn ? 0x502c : 0x5020, VEC);
			run_good(&w.rig, &w.p, 0x18);
			for (m = 0; m < shape_pixels(&s); m++)
				for (n = 0; n < s.n; n++) {
					float x = half_to_float((u16)w.a[m * s.n + n]);

					x = mul ? x * (n / 8.0f - 1) : x + (n - 7.5f);
					assert_int_equal(out(&w, m, n), float_to_half(x));
				}
			close_world(&w);
		}
}

/* Channels past the real ones get 4014. */
static void padding(void **state)
{
	const struct shape s = { F16, 6, 1, 16 };
	struct world w;
	u32 m, n;

	(void)state;
	open_world(&w, &s, 80);
	dpu_program(&w.p, &s);
	prog_set(&w.p, 0x403c, 10 << 16 | 15);
	prog_set(&w.p, 0x4014, 0xfbff);
	run_good(&w.rig, &w.p, 0x18);
	for (m = 0; m < 6; m++)
		for (n = 0; n < 16; n++)
			assert_int_equal(out(&w, m, n), n < 11 ? w.a[m * 16 + n] : 0xfbff);
	close_world(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies),
		cmocka_unit_test(windows),
		cmocka_unit_test(f16_two_inputs),
		cmocka_unit_test(f16_specials),
		cmocka_unit_test(per_channel),
		cmocka_unit_test(int_two_inputs),
		cmocka_unit_test(one_inputs),
		cmocka_unit_test(int_one_inputs),
		cmocka_unit_test(ties),
		cmocka_unit_test(to_fp32),
		cmocka_unit_test(stage_vectors),
		cmocka_unit_test(padding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
