// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rkmm_desk.h"

int desk_init(struct desk *d, int fd)
{
	int i;

	memset(d, 0, sizeof(*d));
	d->fd = fd;
	rnd_seed(&d->rnd, 7);
	for (i = 0; i < DESK_TENSORS; i++)
		d->v[i] = calloc(DESK_ROOM / 2, sizeof(double));
	return buf_create(fd, DESK_TENSORS * DESK_ROOM, &d->buf);
}

void desk_free(struct desk *d)
{
	int i;

	buf_free(&d->buf);
	for (i = 0; i < DESK_TENSORS; i++)
		free(d->v[i]);
}

static double uniform(struct desk *d, double lo, double hi)
{
	return lo + (hi - lo) * rnd_below(&d->rnd, 1 << 20) / (1 << 20);
}

static uint8_t *at(const struct desk *d, int i, const struct drm_rkmm_tensor *t, uint32_t row,
		   uint32_t col)
{
	return d->buf.map + (size_t)i * DESK_ROOM + element_bit(t, row, col) / 8;
}

void desk_fill(struct desk *d, int i, const struct drm_rkmm_tensor *t, uint32_t m, uint32_t n,
	       double lo, double hi)
{
	uint32_t row, col;
	uint16_t h;

	memset(d->buf.map + (size_t)i * DESK_ROOM, 0, DESK_ROOM);
	for (row = 0; row < m; row++) {
		for (col = 0; col < n; col++) {
			h = float_to_half((float)uniform(d, lo, hi));
			memcpy(at(d, i, t, row, col), &h, 2);
			d->v[i][row * n + col] = half_to_float(h);
		}
	}
}

double desk_value(const struct desk *d, int i, const struct drm_rkmm_tensor *t, uint32_t row,
		  uint32_t col)
{
	uint16_t h;

	memcpy(&h, at(d, i, t, row, col), 2);
	return half_to_float(h);
}

struct drm_rkmm_operand desk_operand(const struct desk *d, int i)
{
	return (struct drm_rkmm_operand){
		.handle = d->buf.handle, .offset = (uint64_t)i * DESK_ROOM,
	};
}

struct drm_rkmm_op desk_bind(const struct desk *d, const struct drm_rkmm_plan_create *p, int a,
			     int b, int c, int e)
{
	struct drm_rkmm_op op = {
		.plan = p->plan, .a = desk_operand(d, a), .c = desk_operand(d, c),
	};

	if (p->b.size)
		op.b = desk_operand(d, b);
	if (p->d.size)
		op.d = desk_operand(d, e);
	return op;
}

int desk_run(struct desk *d, struct drm_rkmm_op *ops, uint32_t n)
{
	struct drm_rkmm_submit s = {
		.ops = { sizeof(*ops), n, (uintptr_t)ops }, .flags = DRM_RKMM_SUBMIT_WAIT,
		.deadline_ns = after(120 * SEC),
	};
	int ret;

	ret = buf_end_write(&d->buf);
	if (!ret)
		ret = xioctl(d->fd, DRM_IOCTL_RKMM_SUBMIT, &s);
	if (!ret)
		ret = s.wait_status ?: s.result;
	return ret ?: buf_begin_read(&d->buf);
}

int desk_plan(struct desk *d, struct drm_rkmm_plan_create *p)
{
	return xioctl(d->fd, DRM_IOCTL_RKMM_PLAN_CREATE, p);
}

uint32_t float_bits(float f)
{
	uint32_t b;

	memcpy(&b, &f, 4);
	return b;
}

void softmax_rows(double *x, uint32_t m, uint32_t n, double scale, bool causal)
{
	uint32_t row, col, last;
	double most, sum;

	for (row = 0; row < m; row++, x += n) {
		last = causal ? row + n - m : n - 1;
		most = -INFINITY;
		sum = 0;
		for (col = 0; col <= last; col++)
			most = fmax(most, x[col]);
		for (col = 0; col <= last; col++)
			sum += x[col] = exp(scale * (x[col] - most));
		for (col = 0; col < n; col++)
			x[col] = col <= last ? x[col] / sum : 0;
	}
}

int desk_query_ops(int fd, struct drm_rkmm_op_info *infos, uint32_t room, uint32_t *size)
{
	struct drm_rkmm_query q = {
		.id = DRM_RKMM_QUERY_OPS, .size = room, .pointer = (uintptr_t)infos,
	};
	int ret = xioctl(fd, DRM_IOCTL_RKMM_QUERY, &q);

	*size = q.size;
	return ret;
}

struct drm_rkmm_plan_create desk_likely(const struct drm_rkmm_op_info *info, uint32_t m,
					uint32_t n)
{
	bool real = info->element == DRM_RKMM_F16;
	struct drm_rkmm_plan_create p = {
		.kind = info->kind, .types = info->element, .other = info->other,
		.m = m, .n = n,
	};

	if (info->other == DRM_RKMM_OTHER_SCALAR)
		p.value = real ? float_bits(2) : 2;
	switch (info->kind) {
	case DRM_RKMM_OP_CLAMP:
		p.value2 = real ? float_bits(6) : 6;
		break;
	case DRM_RKMM_OP_LEAKY:
	case DRM_RKMM_OP_RMSNORM:
	case DRM_RKMM_OP_LAYERNORM:
		p.value = float_bits(0.125f);
		break;
	case DRM_RKMM_OP_MAXPOOL:
	case DRM_RKMM_OP_AVGPOOL:
		p.width = 6;
		p.kernel_w = 2;
		p.kernel_h = 2;
		break;
	default:
		break;
	}
	if (!real && info->kind >= DRM_RKMM_OP_EXP && info->kind <= DRM_RKMM_OP_RSQRT) {
		p.scale = float_bits(0.04f);
		p.out_scale = float_bits(0.02f);
	}
	return p;
}
