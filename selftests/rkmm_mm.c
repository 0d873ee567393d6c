// SPDX-License-Identifier: GPL-2.0
/* A matmul of the selftests: random operands, packing element by element, plain loops. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rkmm_test.h"

void rnd_seed(struct rnd *r, uint64_t seed)
{
	r->state = seed * 0x9e3779b97f4a7c15ull + 0x6a09e667f3bcc909ull;
	rnd_next(r);
	rnd_next(r);
}

uint64_t rnd_next(struct rnd *r)
{
	r->state ^= r->state >> 12;
	r->state ^= r->state << 25;
	r->state ^= r->state >> 27;
	return r->state * 0x2545f4914f6cdd1dull;
}

uint32_t rnd_below(struct rnd *r, uint32_t limit)
{
	return (rnd_next(r) >> 32) * limit >> 32;
}

float half_to_float(uint16_t h)
{
	int exp = h >> 10 & 31, man = h & 0x3ff;
	float f;

	if (exp == 31)
		f = man ? NAN : INFINITY;
	else if (exp)
		f = ldexpf(man + 1024, exp - 25);
	else
		f = ldexpf(man, -24);
	return h & 0x8000 ? -f : f;
}

/* nearest, ties to even */
uint16_t float_to_half(float f)
{
	uint16_t sign = signbit(f) ? 0x8000 : 0;
	float scaled;
	int exp;

	f = fabsf(f);
	if (isnan(f))
		return sign | 0x7e00;
	if (f >= 65520.0f)
		return sign | 0x7c00;
	if (!f)
		return sign;
	frexpf(f, &exp);		/* f = [0.5, 1) * 2^exp */
	if (exp < -13)
		exp = -13;		/* subnormal: units of 2^-24 */
	scaled = rintf(ldexpf(f, 11 - exp));
	/* scaled counts units of 2^(exp-11); 2048 of them carry into the exponent by themselves */
	return sign | (uint16_t)((exp + 13) * 1024 + (int)scaled);
}

const char *types_name(uint32_t types)
{
	static const char *const name[] = { "i8i32", "i8i8", "f16f32", "f16f16", "i4i16" };

	return types < 5 ? name[types] : "?";
}

static bool is_fp(uint32_t types)
{
	return types == DRM_RKMM_F16F32 || types == DRM_RKMM_F16F16;
}

uint64_t element_bit(const struct drm_rkmm_tensor *t, uint32_t row, uint32_t col)
{
	uint64_t tile, c, w, h, j, hg, b, chunk, g, groups, rows = t->rows, first = 0;

	/* A and B within their slice of K; C has none: one partial result like another */
	if (t->layout == DRM_RKMM_LAYOUT_WEIGHT) {
		first = row / t->slice * t->slice_stride * 8;
		row %= t->slice;
		rows = t->slice;
	} else if (t->slice) {
		first = col / t->slice * t->slice_stride * 8;
		col %= t->slice;
	}
	switch (t->layout) {
	case DRM_RKMM_LAYOUT_ROWS:
		return first + (uint64_t)row * t->pitch * 8 + (uint64_t)col * t->bits;
	case DRM_RKMM_LAYOUT_WEIGHT:
		g = t->group;
		tile = (col / g) * (rows / 32) + row / 32;
		return first + (tile * g * 32 + (col % g) * 32 + row % 32) * t->bits;
	case DRM_RKMM_LAYOUT_BATCH_A:
		return first + ((uint64_t)row * t->slice + col / 2) * 8 + col % 2 * 4;
	case DRM_RKMM_LAYOUT_BATCH_C:
		h = t->tile_rows;
		w = t->tile_cols;
		chunk = col / w;
		g = row / h;
		j = row % h;
		hg = h < t->rows - g * h ? h : t->rows - g * h;
		b = col % w / 64;
		groups = (t->rows + h - 1) / h;
		return (((chunk * groups + g) * 4 * h * (w / 64) + 4 * j + 4 * hg * b) * 128 +
			col % 64 * 2) * 8;
	case DRM_RKMM_LAYOUT_CUBE:
		c = 128 / t->bits;
		return first + 128 * ((col / c) * rows + row) + col % c * t->bits;
	default:
		return UINT64_MAX / 2;
	}
}

static int put_element(const struct drm_rkmm_tensor *t, uint8_t *base, uint64_t room, uint32_t row,
		       uint32_t col, int16_t v)
{
	uint64_t bit = element_bit(t, row, col);
	uint8_t *p = base + bit / 8;

	if ((bit + t->bits + 7) / 8 > room)
		return -ERANGE;
	if (t->bits == 4) {
		*p = bit % 8 ? (*p & 0x0f) | (v & 15) << 4 : (*p & 0xf0) | (v & 15);
	} else {
		*p = v;
		if (t->bits == 16)
			p[1] = v >> 8;
	}
	return 0;
}

static int pack(const struct drm_rkmm_tensor *t, uint8_t *base, const int16_t *v, uint32_t rows,
		uint32_t cols)
{
	uint32_t i, j;
	int ret;

	for (i = 0; i < rows; i++)
		for (j = 0; j < cols; j++) {
			ret = put_element(t, base, t->size, i, j, v[(size_t)i * cols + j]);
			if (ret)
				return ret;
		}
	return 0;
}

static int16_t random_value(struct mm *mm, bool is_b)
{
	struct rnd *r = &mm->rnd;
	bool fp = is_fp(mm->types);
	int top = mm->types == DRM_RKMM_I4I16 ? 7 : 127;
	int v;

	switch (mm->values) {
	case VALUES_SMALL_INT:
		v = (int)rnd_below(r, 7) - 3;
		return fp ? float_to_half(v) : v;
	case VALUES_HIGH:
		return top - rnd_below(r, 3);
	case VALUES_LOW:
		v = top - rnd_below(r, 3);
		return is_b ? -v : v;
	default:
		break;
	}
	if (!fp)
		return (int)rnd_below(r, 2 * top + 2) - top - 1;
	/* every mantissa, exponents from subnormal to 2^1, zeros of both signs */
	switch (rnd_below(r, 16)) {
	case 0:
		return rnd_below(r, 2) << 15;
	case 1:
		return rnd_below(r, 2) << 15 | rnd_below(r, 1024);
	default:
		return rnd_below(r, 2) << 15 | (8 + rnd_below(r, 8)) << 10 | rnd_below(r, 1024);
	}
}

int mm_plan(struct mm *mm, int fd)
{
	struct drm_rkmm_plan_create *p = &mm->plan;

	memset(p, 0, sizeof(*p));
	mm->fd = fd;
	p->types = mm->types;
	p->m = mm->m;
	p->k = mm->k;
	p->n = mm->n;
	p->a_pitch = mm->a_pitch;
	p->c_pitch = mm->c_pitch;
	p->cores = mm->cores;
	p->form = mm->form;
	p->mult = mm->mult;
	p->shift = mm->shift;
	p->offset = mm->offset;
	return xioctl(fd, DRM_IOCTL_RKMM_PLAN_CREATE, p);
}

static uint64_t align64(uint64_t v)
{
	return (v + 63) & ~63ull;
}

static uint8_t *c_map(struct mm *mm)
{
	return mm->one_buffer ? mm->a.map : mm->c.map;
}

static struct buf *c_buf(struct mm *mm)
{
	return mm->one_buffer ? &mm->a : &mm->c;
}

int mm_new_c(struct mm *mm)
{
	uint64_t first = mm->one_buffer ? mm->c_off : 0, i;
	struct buf *c = c_buf(mm);

	for (i = 0; i < c->size; i++)
		mm->fill[i] = i < first ? c->map[i] : rnd_next(&mm->rnd) >> 56;
	memcpy(c->map, mm->fill, c->size);
	return buf_end_write(c);
}

void mm_new_a(struct mm *mm)
{
	const struct drm_rkmm_tensor *t = &mm->plan.a;
	size_t i;

	for (i = 0; i < (size_t)mm->m * mm->k; i++)
		mm->av[i] = random_value(mm, false);
	pack(t, mm->a.map + mm->a_off, mm->av, mm->m, mm->k);
}

int mm_init(struct mm *mm, int fd, uint64_t seed)
{
	const struct drm_rkmm_plan_create *p = &mm->plan;
	uint64_t i;
	int ret;

	rnd_seed(&mm->rnd, seed);
	ret = mm_plan(mm, fd);
	if (ret)
		return ret;

	mm->a_off = 64 * rnd_below(&mm->rnd, 70);
	mm->b_off = 64 * rnd_below(&mm->rnd, 70);
	mm->c_off = 64 * rnd_below(&mm->rnd, 70);
	if (mm->one_buffer) {
		mm->b_off = align64(mm->a_off + p->a.size);
		mm->c_off = align64(mm->b_off + p->b.size);
		ret = buf_create(fd, mm->c_off + p->c.size + 64, &mm->a);
	} else {
		ret = buf_create(fd, mm->a_off + p->a.size, &mm->a);
		if (!ret)
			ret = buf_create(fd, mm->b_off + p->b.size, &mm->b);
		if (!ret)
			ret = buf_create(fd, mm->c_off + p->c.size, &mm->c);
	}
	if (ret)
		goto fail;

	ret = -ENOMEM;
	mm->av = malloc((size_t)mm->m * mm->k * sizeof(*mm->av));
	mm->bv = malloc((size_t)mm->k * mm->n * sizeof(*mm->bv));
	mm->fill = malloc(c_buf(mm)->size);
	if (!mm->av || !mm->bv || !mm->fill)
		goto fail;

	/* what lies between the rows of A is not A's: 0xff is -1, and NaN in fp16 */
	if (mm->a_pitch) {
		uint32_t used = mm->k * (p->a.bits / 4) / 2;

		for (i = 0; i + mm->a_pitch <= p->a.size; i += mm->a_pitch)
			memset(mm->a.map + mm->a_off + i + used, 0xff, mm->a_pitch - used);
	}
	mm_new_a(mm);
	for (i = 0; i < (uint64_t)mm->k * mm->n; i++)
		mm->bv[i] = random_value(mm, true);
	ret = pack(&p->b, (mm->one_buffer ? mm->a.map : mm->b.map) + mm->b_off, mm->bv, mm->k,
		   mm->n);
	if (!ret)
		ret = buf_end_write(&mm->a);
	if (!ret && !mm->one_buffer)
		ret = buf_end_write(&mm->b);
	if (!ret)
		ret = mm_new_c(mm);
	if (!ret)
		return 0;
fail:
	mm_free(mm);
	return ret;
}

void mm_free(struct mm *mm)
{
	struct drm_rkmm_plan_destroy d = { .plan = mm->plan.plan };

	if (mm->plan.plan)
		xioctl(mm->fd, DRM_IOCTL_RKMM_PLAN_DESTROY, &d);
	mm->plan.plan = 0;
	buf_free(&mm->a);
	buf_free(&mm->b);
	buf_free(&mm->c);
	free(mm->av);
	free(mm->bv);
	free(mm->fill);
	mm->av = mm->bv = NULL;
	mm->fill = NULL;
}

struct drm_rkmm_op mm_op(const struct mm *mm)
{
	uint32_t a = mm->a.handle;

	return (struct drm_rkmm_op) {
		.plan = mm->plan.plan,
		.rows = mm->rows,
		.a = { .handle = a, .offset = mm->a_off },
		.b = { .handle = mm->one_buffer ? a : mm->b.handle, .offset = mm->b_off },
		.c = { .handle = mm->one_buffer ? a : mm->c.handle, .offset = mm->c_off },
	};
}

/* --- what the result must be ------------------------------------------------------ */

static int64_t clamp64(int64_t v, int64_t low, int64_t high)
{
	return v < low ? low : v > high ? high : v;
}

static int64_t finish_int(const struct mm *mm, int64_t acc)
{
	int64_t unit, whole, rest;

	switch (mm->types) {
	case DRM_RKMM_I4I16:
		return clamp64(acc, -32768, 32767);
	case DRM_RKMM_I8I8:
		if (mm->plan.c.slices > 1)	/* partial sums are int32 */
			return acc;
		acc *= mm->mult;
		unit = 1ll << mm->shift;
		whole = acc >> mm->shift;	/* towards minus infinity */
		rest = acc - whole * unit;
		if (rest * 2 > unit || (rest * 2 == unit && whole & 1))
			whole++;
		return clamp64(whole + mm->offset, -128, 127);
	default:
		return acc;
	}
}

static int64_t get_int(const struct drm_rkmm_tensor *t, const uint8_t *p)
{
	int16_t s;
	int32_t w;

	switch (t->bits) {
	case 8:
		return (int8_t)*p;
	case 16:
		memcpy(&s, p, 2);
		return s;
	default:
		memcpy(&w, p, 4);
		return w;
	}
}

static bool int_ok(struct mm *mm, const uint8_t *p, uint32_t i, uint32_t j, uint32_t k0,
		   uint32_t k1)
{
	const int16_t *a = mm->av + (size_t)i * mm->k;
	int64_t want, seen = get_int(&mm->plan.c, p);
	int64_t acc = 0;
	uint32_t x;

	if (j < mm->n)		/* columns past N have zero weights */
		for (x = k0; x < k1; x++)
			acc += (int32_t)a[x] * mm->bv[(size_t)x * mm->n + j];
	want = finish_int(mm, acc);
	if (want != seen)
		snprintf(mm->msg, sizeof(mm->msg), "%s %ux%ux%u: C(%u,%u) is %lld, not %lld",
			 types_name(mm->types), mm->m, mm->k, mm->n, i, j, (long long)seen,
			 (long long)want);
	return want == seen;
}

/*
 * A product of two fp16 numbers has at most 22 bits, so it is exact in fp32. The
 * NPU adds K of them in an order that no document states, in fp32 or better:
 * whatever the order, |error| <= (K-1) u / (1 - (K-1) u) * sum |a b| with
 * u = 2^-24 (Higham, Accuracy and Stability, eq. 4.4). The reference is added in
 * double; its own error is 2^-29 of that bound and is covered by taking K for
 * K-1. fp16 output is one more rounding, which is monotonic: the answer lies
 * between the two rounded ends of the interval. Single products of the random
 * data are larger than the bound, so a lost or a repeated one is seen.
 */
static bool fp_ok(struct mm *mm, const uint8_t *p, uint32_t i, uint32_t j, uint32_t k0,
		  uint32_t k1, const float *af, const float *bf)
{
	double sum = 0, size = 0, bound, low, high, seen;
	uint16_t h;
	uint32_t x;
	float f;

	if (j < mm->n)
		for (x = k0; x < k1; x++) {
			double term = (double)af[(size_t)i * mm->k + x] *
				      bf[(size_t)x * mm->n + j];

			sum += term;
			size += fabs(term);
		}
	bound = size * (k1 - k0) * 0x1p-24 / (1 - (k1 - k0) * 0x1p-24);
	if (mm->values == VALUES_SMALL_INT)
		bound = 0;
	low = sum - bound;
	high = sum + bound;
	if (mm->plan.c.bits == 16) {
		memcpy(&h, p, 2);
		seen = half_to_float(h);
		/* (float) rounds to nearest too: step outwards so as not to cut the interval */
		if (bound) {
			low = nextafterf(low, -INFINITY);
			high = nextafterf(high, INFINITY);
		}
		low = half_to_float(float_to_half(low));
		high = half_to_float(float_to_half(high));
	} else {
		memcpy(&f, p, 4);
		seen = f;
	}
	if (seen >= low && seen <= high)
		return true;
	snprintf(mm->msg, sizeof(mm->msg), "%s %ux%ux%u: C(%u,%u) is %.9g, not in [%.9g, %.9g]",
		 types_name(mm->types), mm->m, mm->k, mm->n, i, j, seen, low, high);
	return false;
}

/* Element (i, j) of partial result s, at p: the sum over slice s of K. */
static bool element_ok(struct mm *mm, const uint8_t *p, uint32_t i, uint32_t j, uint32_t s,
		       const float *af, const float *bf)
{
	uint32_t k0 = s * mm->plan.b.slice, k1 = k0 + mm->plan.b.slice;

	if (k1 > mm->k)
		k1 = mm->k;
	return af ? fp_ok(mm, p, i, j, k0, k1, af, bf) : int_ok(mm, p, i, j, k0, k1);
}

int mm_compare(struct mm *mm)
{
	const struct drm_rkmm_tensor *t = &mm->plan.c;
	uint32_t rows = mm->rows ? mm->rows : mm->m, i, j, s;
	uint64_t size = c_buf(mm)->size, at;
	uint8_t *base = c_map(mm), *cover;
	float *af = NULL, *bf = NULL;
	int faults = 0;
	size_t x;

	mm->msg[0] = 0;
	cover = calloc(1, size);
	if (is_fp(mm->types)) {
		af = malloc((size_t)mm->m * mm->k * sizeof(*af));
		bf = malloc((size_t)mm->k * mm->n * sizeof(*bf));
		for (x = 0; x < (size_t)mm->m * mm->k; x++)
			af[x] = half_to_float(mm->av[x]);
		for (x = 0; x < (size_t)mm->k * mm->n; x++)
			bf[x] = half_to_float(mm->bv[x]);
	}
	if (t->layout == DRM_RKMM_LAYOUT_BATCH_C)	/* bytes between are undefined */
		memset(cover + mm->c_off, 1, t->size);

	for (i = 0; i < rows && faults < 100; i++)
		for (j = 0; j < t->cols * t->slices && faults < 100; j++) {
			s = j / t->cols;
			at = s * t->slice_stride + element_bit(t, i, j % t->cols) / 8;
			if (at + t->bits / 8 > t->size) {
				snprintf(mm->msg, sizeof(mm->msg), "C(%u,%u) beyond size %llu", i,
					 j, (unsigned long long)t->size);
				faults++;
				continue;
			}
			memset(cover + mm->c_off + at, 1, t->bits / 8);
			if (!element_ok(mm, base + mm->c_off + at, i, j % t->cols, s, af, bf))
				faults++;
		}
	for (at = 0; at < size && faults < 100; at++)
		if (!cover[at] && base[at] != mm->fill[at]) {
			snprintf(mm->msg, sizeof(mm->msg),
				 "%s %ux%ux%u: byte %lld outside of C (%llu bytes) was written",
				 types_name(mm->types), mm->m, mm->k, mm->n,
				 (long long)(at - mm->c_off), (unsigned long long)t->size);
			faults++;
		}
	free(cover);
	free(af);
	free(bf);
	return faults;
}

int mm_check(struct mm *mm)
{
	int ret = buf_begin_read(c_buf(mm));

	if (ret) {
		snprintf(mm->msg, sizeof(mm->msg), "BO_SYNC: %s", strerror(-ret));
		return 1;
	}
	return mm_compare(mm);
}

int mm_run(struct mm *mm)
{
	struct drm_rkmm_op op = mm_op(mm);
	struct drm_rkmm_submit s;
	int ret;

	mm->msg[0] = 0;
	submit_init(&s, &op, 1);
	ret = rk_submit(mm->fd, &s);
	if (ret) {
		snprintf(mm->msg, sizeof(mm->msg), "SUBMIT: %s", strerror(-ret));
		return ret;
	}
	ret = rk_result(mm->fd, s.seqno);
	if (ret) {
		snprintf(mm->msg, sizeof(mm->msg), "job: %s", strerror(-ret));
		return ret;
	}
	return mm_check(mm) ? -EBADMSG : 0;
}
