// SPDX-License-Identifier: MIT
#include "fake_ops.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/rkmm.h"

static uint32_t up(uint32_t x, uint32_t to)
{
	return (x + to - 1) / to * to;
}

static struct drm_rkmm_tensor cube(uint32_t rows, uint32_t cols, uint32_t bits)
{
	cols = up(cols, 128 / bits);
	return (struct drm_rkmm_tensor) {
		.layout = DRM_RKMM_LAYOUT_CUBE, .rows = rows, .cols = cols, .bits = bits,
		.slices = 1, .size = (uint64_t)rows * cols * bits / 8,
		.layout_id = 4ull << 56 | (uint64_t)cols << 28 | rows,
	};
}

static struct drm_rkmm_tensor vector(uint32_t n, uint32_t bits)
{
	struct drm_rkmm_tensor t = {
		.layout = DRM_RKMM_LAYOUT_ROWS, .rows = 1, .cols = up(n, 16), .bits = bits,
		.slices = 1, .layout_id = 5ull << 56 | (uint64_t)bits << 32 | n,
	};

	t.size = t.cols * bits / 8;
	t.pitch = (uint32_t)t.size;
	return t;
}

static struct drm_rkmm_tensor bias(uint32_t n)
{
	return (struct drm_rkmm_tensor) {
		.layout = DRM_RKMM_LAYOUT_WEIGHT, .rows = 32, .cols = up(n, 32), .bits = 16,
		.group = 16, .slices = 1, .slice = 32, .size = 64ull * up(n, 32),
		.layout_id = 6ull << 56 | n,
	};
}

int fake_op_plan(struct drm_rkmm_plan_create *p)
{
	const bool binary = p->kind >= DRM_RKMM_OP_ADD && p->kind <= DRM_RKMM_OP_DIV;
	const uint32_t bits = p->types == DRM_RKMM_I8 ? 8 : 16;
	const struct drm_rkmm_tensor none = { 0 };

	if (p->kind > DRM_RKMM_OP_TRANSPOSE || p->types > DRM_RKMM_I8 || p->k || p->flags ||
	    p->a_pitch || p->c_pitch || p->b_layout || p->form || p->pad)
		return -EINVAL;
	p->reason = p->kind == DRM_RKMM_OP_TRANSPOSE || p->op_flags & DRM_RKMM_FLAT ?
		    DRM_RKMM_REASON_OPERATION : !p->m || !p->n ? DRM_RKMM_REASON_ZERO :
		    !binary && p->other ? DRM_RKMM_REASON_PARAM : DRM_RKMM_REASON_NONE;
	if (p->reason)
		return -EOPNOTSUPP;
	p->a = cube(p->m, p->n, bits);
	p->c = p->a;
	p->b = none;
	p->d = none;
	if (binary && p->other == DRM_RKMM_OTHER_TENSOR)
		p->b = p->a;
	else if (binary && p->other == DRM_RKMM_OTHER_CHANNEL)
		p->b = p->kind == DRM_RKMM_OP_MUL ? vector(p->n, bits) :
		       bits == 8 ? vector(p->n, 32) : bias(p->n);
	if (p->op_flags & DRM_RKMM_GAMMA)
		p->b = vector(p->n, bits);
	if (p->op_flags & DRM_RKMM_BETA)
		p->d = bias(p->n);
	if (p->op_flags & DRM_RKMM_MASK)
		p->d = p->a;
	p->out_flags = 0;
	p->programs = 1;
	p->predicted_ns = 500;
	p->evidence = DRM_RKMM_CAPTURED;
	return 0;
}

double fake_op_value(uint32_t kind, double a, double b)
{
	switch (kind) {
	case DRM_RKMM_OP_ADD:
		return a + b;
	case DRM_RKMM_OP_SUB:
		return a - b;
	case DRM_RKMM_OP_MUL:
		return a * b;
	case DRM_RKMM_OP_MAX:
		return a > b ? a : b;
	case DRM_RKMM_OP_MIN:
		return a < b ? a : b;
	case DRM_RKMM_OP_DIV:
		return a / b;
	case DRM_RKMM_OP_RELU:
		return a > 0 ? a : 0;
	case DRM_RKMM_OP_SIGMOID:
		return 1 / (1 + exp(-a));
	case DRM_RKMM_OP_TANH:
		return tanh(a);
	case DRM_RKMM_OP_SILU:
		return a / (1 + exp(-a));
	default:
		return a;
	}
}

static double load(const struct drm_rkmm_tensor *t, const uint8_t *p, uint32_t row, uint32_t col)
{
	uint16_t half;
	int32_t i32;
	float f;

	if (t->layout == DRM_RKMM_LAYOUT_CUBE)
		p += 16 * (row + (size_t)t->rows * (col / (128 / t->bits))) +
		     col % (128 / t->bits) * t->bits / 8;
	else if (t->layout == DRM_RKMM_LAYOUT_WEIGHT)	/* row 0 of 32 */
		p += (col / 16 * 16 * 32 + col % 16 * 32) * 2;
	else
		p += col * t->bits / 8;
	if (t->bits == 8)
		return *(const int8_t *)p;
	if (t->bits == 32) {
		memcpy(&i32, p, 4);
		return i32;
	}
	memcpy(&half, p, 2);
	rkmm_f16_to_f32(&half, &f, 1);
	return f;
}

static void store(const struct drm_rkmm_tensor *t, uint8_t *p, uint32_t row, uint32_t col, double v)
{
	float f = (float)v;
	uint16_t half;

	p += 16 * (row + (size_t)t->rows * (col / (128 / t->bits))) +
	     col % (128 / t->bits) * t->bits / 8;
	if (t->bits == 8) {
		*(int8_t *)p = (int8_t)fmin(127, fmax(-128, v));
		return;
	}
	rkmm_f32_to_f16(&f, &half, 1);
	memcpy(p, &half, 2);
}

static float real(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, 4);
	return f;
}

static void softmax(const struct drm_rkmm_plan_create *p, double *x, uint32_t row, const uint8_t *d)
{
	double scale = p->scale ? real(p->scale) : 1, most = -INFINITY, sum = 0;
	uint32_t n = p->op_flags & DRM_RKMM_CAUSAL ? row + p->n - p->m + 1 : p->n, col;

	for (col = 0; col < p->n; col++) {
		x[col] = col < n ? scale * (x[col] + (d ? load(&p->d, d, row, col) : 0)) :
			 -INFINITY;
		most = fmax(most, x[col]);
	}
	for (col = 0; col < p->n; col++)
		sum += x[col] = exp(x[col] - most);
	for (col = 0; col < p->n; col++)
		x[col] /= sum;
}

static void norm(const struct drm_rkmm_plan_create *p, double *x, const uint8_t *b,
		 const uint8_t *d)
{
	double mean = 0, square = 0;
	uint32_t col;

	for (col = 0; p->kind == DRM_RKMM_OP_LAYERNORM && col < p->n; col++)
		mean += x[col] / p->n;
	for (col = 0; col < p->n; col++) {
		x[col] -= mean;
		square += x[col] * x[col] / p->n;
	}
	for (col = 0; col < p->n; col++) {
		x[col] /= sqrt(square + real(p->value));
		if (b)
			x[col] *= load(&p->b, b, 0, col);
		if (d)
			x[col] += load(&p->d, d, 0, col);
	}
}

static double scalar(const struct drm_rkmm_plan_create *p)
{
	return p->types == DRM_RKMM_F16 ? real(p->value) : (int32_t)p->value;
}

void fake_op_run(const struct drm_rkmm_plan_create *p, const uint8_t *a, const uint8_t *b,
		 uint8_t *c, const uint8_t *d)
{
	const bool binary = p->kind >= DRM_RKMM_OP_ADD && p->kind <= DRM_RKMM_OP_DIV;
	double *x = calloc(p->c.cols, sizeof(*x));
	uint32_t row, col;

	for (row = 0; row < p->m; row++) {
		for (col = 0; col < p->n; col++)
			x[col] = load(&p->a, a, row, col);
		if (p->kind == DRM_RKMM_OP_SOFTMAX)
			softmax(p, x, row, d);
		else if (p->kind == DRM_RKMM_OP_RMSNORM || p->kind == DRM_RKMM_OP_LAYERNORM)
			norm(p, x, b, d);
		else
			for (col = 0; col < p->n; col++)
				x[col] = fake_op_value(p->kind, x[col], !binary ? 0 :
						       b ? load(&p->b, b, row, col) : scalar(p));
		/* padding of results is 0 */
		for (col = 0; col < p->c.cols; col++)
			store(&p->c, c, row, col, col < p->n ? x[col] : 0);
	}
	free(x);
}

int fake_stages_plan(struct drm_rkmm_plan_create *p, struct drm_rkmm_plan_create *ops)
{
	struct drm_rkmm_tensor *next = &p->d;
	uint32_t i;
	int ret;

	for (i = 0; i < DRM_RKMM_STAGES && p->stages[i].kind; i++) {
		const struct drm_rkmm_stage *s = &p->stages[i];

		ops[i] = (struct drm_rkmm_plan_create) {
			.kind = s->kind, .types = p->types == DRM_RKMM_I8I8, .m = p->m, .n = p->n,
			.other = s->other, .value = s->value, .value2 = s->value2,
		};
		ret = fake_op_plan(&ops[i]);
		if (ret) {
			p->reason = ops[i].reason;
			p->stage = i;
			return ret;
		}
		if (ops[i].b.size)
			*next = ops[i].b;
		if (ops[i].b.size)
			next = &p->e;
		p->c = ops[i].c;
	}
	return 0;
}

void fake_stages_run(const struct drm_rkmm_plan_create *ops, const uint8_t *first,
		     const uint8_t *const *operands, uint8_t *c)
{
	uint8_t *turn[2] = { malloc(ops->c.size), malloc(ops->c.size) };
	uint32_t i;

	for (i = 0; i < DRM_RKMM_STAGES && ops[i].kind; i++) {
		fake_op_run(&ops[i], first, ops[i].b.size ? *operands++ : NULL, turn[i % 2], NULL);
		first = turn[i % 2];
	}
	memcpy(c, first, ops->c.size);
	free(turn[0]);
	free(turn[1]);
}
