// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake_kernel.h"
#include "fake_ops.h"
#include "lib/rkmm.h"
#include "lib/sys.h"

#define MAX_BOS		64
#define MAX_PLANS	64
#define PAGE		4096u

struct bo {
	int memfd;		/* CPU side */
	uint8_t *cpu;
	uint8_t *dev;		/* device side */
	uint64_t size;
	int used;
};

/* With stages, @c is that of the matmul, which they begin with. */
struct plan {
	struct drm_rkmm_plan_create info;
	struct drm_rkmm_plan_create stages[DRM_RKMM_STAGES];
	struct drm_rkmm_tensor c;
	int used;
};

/* Temporaries: whatever was there, when a submission begins. */
#define TEMP_BYTES	(1u << 22)
#define NOISE		0x7e
static uint8_t temps[2][TEMP_BYTES];

struct fake_kernel fake;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct bo bos[MAX_BOS];
static struct plan plans[MAX_PLANS];
static uint64_t last_seqno;

void fake_reset(void)
{
	fake = (struct fake_kernel) {
		.version = 1,
		.name = "rkmm",
		.tile_rows = 8,
		.tile_cols = 64,
	};
}

static uint32_t up(uint32_t x, uint32_t to)
{
	return (x + to - 1) / to * to;
}

static struct bo *bo_get(uint32_t handle)
{
	return handle && handle <= MAX_BOS && bos[handle - 1].used ? &bos[handle - 1] : NULL;
}

static uint32_t bo_new(int memfd, uint64_t size)
{
	uint32_t i;

	for (i = 0; i < MAX_BOS && bos[i].used; i++)
		;
	if (i == MAX_BOS)
		return 0;
	bos[i] = (struct bo) { .memfd = memfd, .size = size, .used = 1 };
	bos[i].cpu = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
	bos[i].dev = malloc(size);
	memcpy(bos[i].dev, bos[i].cpu, size);
	fake.bos++;
	return i + 1;
}

static int bo_create(struct drm_rkmm_bo_create *req)
{
	int memfd;

	if (!req->size || req->flags)
		return -EINVAL;
	req->size = (req->size + PAGE - 1) / PAGE * PAGE;
	memfd = memfd_create("bo", MFD_CLOEXEC);
	if (memfd < 0 || ftruncate(memfd, (off_t)req->size))
		return -ENOMEM;
	req->handle = bo_new(memfd, req->size);
	req->mmap_offset = (uint64_t)req->handle << 32;
	return req->handle ? 0 : -ENOMEM;
}

static int bo_close(uint32_t handle)
{
	struct bo *bo = bo_get(handle);

	if (!bo)
		return -EINVAL;
	munmap(bo->cpu, bo->size);
	free(bo->dev);
	close(bo->memfd);
	bo->used = 0;
	fake.bos--;
	return 0;
}

static int bo_sync(const struct drm_rkmm_bo_sync *req)
{
	struct bo *bo = bo_get(req->handle);

	if (!bo)
		return -ENOENT;
	if (!req->size || req->offset > bo->size || req->size > bo->size - req->offset ||
	    !(req->flags & 3) || req->flags & ~15u || (req->flags & 12) == 12)
		return -EINVAL;
	if (req->flags & DRM_RKMM_SYNC_END) {
		if (req->flags & DRM_RKMM_SYNC_WRITE)
			memcpy(bo->dev + req->offset, bo->cpu + req->offset, req->size);
	} else if (req->flags & DRM_RKMM_SYNC_READ) {
		memcpy(bo->cpu + req->offset, bo->dev + req->offset, req->size);
	}
	return 0;
}

static const struct {
	uint32_t in_bits, out_bits;
} widths[] = {
	[DRM_RKMM_I8I32] = { 8, 32 },
	[DRM_RKMM_I8I8] = { 8, 8 },
	[DRM_RKMM_F16F32] = { 16, 32 },
	[DRM_RKMM_F16F16] = { 16, 16 },
	[DRM_RKMM_I4I16] = { 4, 16 },
};

static int plan_add(struct drm_rkmm_plan_create *p)
{
	uint32_t i;

	for (i = 0; i < MAX_PLANS && plans[i].used; i++)
		;
	if (i == MAX_PLANS)
		return -ENOMEM;
	p->plan = i + 1;
	p->c.pitch += fake.wider;
	plans[i] = (struct plan) { .info = *p, .c = p->c, .used = 1 };
	fake.plans++;
	return 0;
}

/* A matmul in cubes, and the operations behind it */
static int plan_add_stages(struct drm_rkmm_plan_create *p)
{
	struct drm_rkmm_plan_create ops[DRM_RKMM_STAGES] = { { 0 } };
	struct drm_rkmm_tensor c = p->c;
	int ret = fake_stages_plan(p, ops);

	if (!ret)
		ret = plan_add(p);
	if (ret)
		return ret;
	plans[p->plan - 1].c = c;
	memcpy(plans[p->plan - 1].stages, ops, sizeof(ops));
	return 0;
}

static int plan_create(struct drm_rkmm_plan_create *p)
{
	uint32_t in, out, kp, np, h = fake.tile_rows, w = fake.tile_cols, slices = 1, slice;
	uint32_t limit = fake.slice;
	int ret;

	if (p->kind) {
		ret = fake_op_plan(p);
		return ret ? ret : plan_add(p);
	}
	if (p->flags & ~DRM_RKMM_PLAN_FREE_SLICES || p->pad ||
	    p->form > DRM_RKMM_FORM_CUBE || p->types > DRM_RKMM_I4I16)
		return -EINVAL;
	if (p->types == DRM_RKMM_I8I8 && (p->mult < 1 || p->mult > 32767))
		return -EINVAL;
	p->reason = !p->m || !p->k || !p->n ? DRM_RKMM_REASON_ZERO :
		    p->k > 10752 && !limit ? DRM_RKMM_REASON_K_LIMIT :
		    p->n > 8192 ? DRM_RKMM_REASON_N_LIMIT : DRM_RKMM_REASON_NONE;
	if (p->reason)
		return -EOPNOTSUPP;
	in = widths[p->types].in_bits;
	out = widths[p->types].out_bits;
	kp = up(p->k, 32);
	np = up(p->n, 256 / in);
	slice = kp;
	/* Packed weights have their slices already. */
	if (fake.free_slice && (p->b_layout ? (p->b_layout >> 24 & 0xffffff) == fake.free_slice :
					      p->flags))
		limit = fake.free_slice;
	memcpy(fake.stages, p->stages, sizeof(fake.stages));
	/* two relus hang, whatever is before them */
	if (p->stages[1].kind == DRM_RKMM_OP_RELU) {
		p->stage = 1;
		p->reason = DRM_RKMM_REASON_STAGE;
		return -EOPNOTSUPP;
	}
	p->fused = p->stages[0].kind == DRM_RKMM_OP_RELU;
	fake.form = p->form;
	fake.free_plans += !!p->flags;
	if (limit && kp > limit) {
		slice = limit;
		slices = (p->k + slice - 1) / slice;
		kp = slices * slice;
		out = in == 4 ? 16 : 32;
	}

	p->b = (struct drm_rkmm_tensor) {
		.size = (uint64_t)kp * np * in / 8,
		.layout_id = (uint64_t)in << 48 | (uint64_t)slice << 24 | np,
		.layout = DRM_RKMM_LAYOUT_WEIGHT,
		.rows = kp, .cols = np, .group = 256 / in, .bits = in,
		.slices = slices, .slice = slice, .slice_stride = (uint64_t)slice * np * in / 8,
	};
	if (p->b_layout && p->b_layout != p->b.layout_id) {
		p->reason = DRM_RKMM_REASON_LAYOUT;
		return -EOPNOTSUPP;
	}
	p->a = (struct drm_rkmm_tensor) {
		.rows = p->m, .cols = kp, .bits = in, .slices = slices, .slice = slice,
		.slice_stride = slice * in / 8,
	};
	p->c = (struct drm_rkmm_tensor) {
		.rows = p->m, .cols = np, .bits = out, .slices = slices,
	};
	if (fake.cube) {
		p->a.layout = DRM_RKMM_LAYOUT_CUBE;
		p->a.size = (uint64_t)p->m * kp * in / 8;
		p->a.slice_stride = p->a.size / slices;
		p->c.layout = DRM_RKMM_LAYOUT_CUBE;
		p->c.size = (uint64_t)p->m * np * out / 8;
	} else if (in == 4) {
		p->a.layout = DRM_RKMM_LAYOUT_BATCH_A;
		p->a.pitch = slice;
		p->a.size = (uint64_t)p->m * kp;
		p->a.slice_stride = (uint64_t)p->m * slice;
		p->c.layout = DRM_RKMM_LAYOUT_BATCH_C;
		p->c.tile_rows = h;
		p->c.tile_cols = w;
		p->c.size = (uint64_t)((np + w - 1) / w) * ((p->m + h - 1) / h) * h * w * 8;
	} else {
		p->a.pitch = p->a_pitch ? p->a_pitch : kp * in / 8;
		p->a.size = (uint64_t)p->m * p->a.pitch;
		p->c.pitch = p->c_pitch ? p->c_pitch : np * out / 8;
		p->c.size = (uint64_t)p->m * p->c.pitch;
	}
	p->c.slice_stride = p->c.size + 64;
	p->c.size += (slices - 1) * p->c.slice_stride;
	p->out_flags = slices > 1 ? DRM_RKMM_PLAN_HOST_FINISH : 0;
	if (slices > 1 && in == 4 && slice > 512)
		p->out_flags |= DRM_RKMM_PLAN_MAY_SATURATE;
	p->programs = 1;
	p->predicted_ns = 1000;
	return fake.cube && p->stages[0].kind ? plan_add_stages(p) : plan_add(p);
}

/* The formulas of rkmm_drm.h, in units of 4 bits. */
static uint64_t at(const struct drm_rkmm_tensor *t, uint64_t row, uint64_t col)
{
	uint64_t e2 = t->bits / 4, c, chunk, g, hg, groups, first = 0;

	if (t->layout == DRM_RKMM_LAYOUT_WEIGHT) {
		first = row / t->slice * t->slice_stride * 2;
		row %= t->slice;
	} else if (t->slice) {
		first = col / t->slice * t->slice_stride * 2;
		col %= t->slice;
	}

	switch (t->layout) {
	case DRM_RKMM_LAYOUT_WEIGHT:
		return first + ((col / t->group * (t->slice / 32) + row / 32) * t->group * 32 +
			col % t->group * 32 + row % 32) * e2;
	case DRM_RKMM_LAYOUT_BATCH_C:
		chunk = col / t->tile_cols;
		groups = (t->rows + t->tile_rows - 1) / t->tile_rows;
		g = row / t->tile_rows;
		hg = t->rows - g * t->tile_rows;
		if (hg > t->tile_rows)
			hg = t->tile_rows;
		c = (chunk * groups + g) * 4 * t->tile_rows * (t->tile_cols / 64) +
		    4 * (row % t->tile_rows) + 4 * hg * (col % t->tile_cols / 64);
		return (c * 128 + col % 64 * 2) * 2;
	case DRM_RKMM_LAYOUT_CUBE:
		c = 32 / e2;
		return first + 32 * (col / c * t->rows + row) + col % c * e2;
	default:
		return first + row * t->pitch * 2 + col * e2;
	}
}

static double load(const uint8_t *base, uint64_t nib, uint32_t types)
{
	const uint8_t *p = base + nib / 2;
	uint16_t half;
	float f;

	switch (widths[types].in_bits) {
	case 4:
		return (int)((nib & 1 ? *p >> 4 : *p & 15) ^ 8) - 8;
	case 8:
		return (int8_t)*p;
	default:
		memcpy(&half, p, 2);
		rkmm_f16_to_f32(&half, &f, 1);
		return f;
	}
}

static void store(uint8_t *p, double sum, const struct drm_rkmm_plan_create *info, uint32_t types)
{
	float f = (float)sum;
	int64_t i = (int64_t)sum, scaled, rest, half;
	uint16_t h;
	int32_t i32;

	switch (types) {
	case DRM_RKMM_I8I32:
		i32 = (int32_t)i;
		memcpy(p, &i32, 4);
		break;
	case DRM_RKMM_I8I8:
		/* Halves go to the even side. */
		scaled = i * info->mult;
		half = info->shift ? (int64_t)1 << (info->shift - 1) : 0;
		rest = scaled & (((int64_t)1 << info->shift) - 1);
		scaled >>= info->shift;
		if (info->shift)
			scaled += rest > half || (rest == half && scaled & 1);
		scaled += info->offset;
		*p = (uint8_t)(scaled < -128 ? -128 : scaled > 127 ? 127 : scaled);
		break;
	case DRM_RKMM_F16F32:
		memcpy(p, &f, 4);
		break;
	case DRM_RKMM_F16F16:
		rkmm_f32_to_f16(&f, &h, 1);
		memcpy(p, &h, 2);
		break;
	default:
		h = (uint16_t)(i < -32768 ? -32768 : i > 32767 ? 32767 : i);
		memcpy(p, &h, 2);
		break;
	}
}

/* Where an operand lies on the device's side; false when it is not in a buffer. */
static int place(const struct drm_rkmm_operand *op, const struct drm_rkmm_tensor *t, uint8_t **p)
{
	struct bo *bo = bo_get(op->handle);

	*p = NULL;
	if (!t->size)
		return op->handle || op->offset ? -EINVAL : 0;
	if (op->flags == DRM_RKMM_OPERAND_TEMP) {
		if (op->handle > 1 || op->offset % 64 || op->offset + t->size > TEMP_BYTES)
			return -EINVAL;
		*p = temps[op->handle] + op->offset;
		return 0;
	}
	if (!bo)
		return -ENOENT;
	if (op->offset % 64 || op->offset > bo->size || t->size > bo->size - op->offset)
		return -EINVAL;
	*p = bo->dev + op->offset;
	return 0;
}

static int apart(const uint8_t *p, const struct drm_rkmm_tensor *t, const uint8_t *q,
		 const struct drm_rkmm_tensor *u)
{
	return !p || !q || p + t->size <= q || q + u->size <= p;
}

static int execute_op(const struct drm_rkmm_op *op, const struct drm_rkmm_plan_create *info)
{
	uint8_t *a, *b, *c, *d;
	int ret;

	ret = place(&op->a, &info->a, &a);
	ret = ret ? ret : place(&op->b, &info->b, &b);
	ret = ret ? ret : place(&op->c, &info->c, &c);
	ret = ret ? ret : place(&op->d, &info->d, &d);
	if (ret)
		return ret;
	if (op->flags || op->rows || op->count || !apart(a, &info->a, c, &info->c) ||
	    !apart(b, &info->b, c, &info->c) || !apart(d, &info->d, c, &info->c))
		return -EINVAL;
	fake_op_run(info, a, b, c, d);
	fake.executed++;
	return 0;
}

static int execute_one(const struct drm_rkmm_op *op)
{
	const struct drm_rkmm_plan_create *info;
	const struct drm_rkmm_plan_create *stages;
	uint8_t *a, *b, *c, *operands[2], *out, *result;
	uint32_t rows, m, n, k, s, types;
	int ret;

	if (!op->plan || op->plan > MAX_PLANS || !plans[op->plan - 1].used)
		return -ENOENT;
	info = &plans[op->plan - 1].info;
	if (info->kind)
		return execute_op(op, info);
	stages = plans[op->plan - 1].stages;
	ret = place(&op->a, &info->a, &a);
	ret = ret ? ret : place(&op->b, &info->b, &b);
	ret = ret ? ret : place(&op->c, &info->c, &c);
	ret = ret ? ret : place(&op->d, &info->d, &operands[0]);
	ret = ret ? ret : place(&op->e, &info->e, &operands[1]);
	if (ret)
		return ret;
	if (op->flags & ~DRM_RKMM_OP_GROUPED || op->rows > info->m)
		return -EINVAL;
	result = stages->kind ? malloc(plans[op->plan - 1].c.size) : c;
	rows = op->rows ? op->rows : info->m;
	types = info->types;
	if (info->out_flags & DRM_RKMM_PLAN_HOST_FINISH && types != DRM_RKMM_I4I16)
		types = widths[types].in_bits == 8 ? DRM_RKMM_I8I32 : DRM_RKMM_F16F32;
	for (m = 0; m < rows; m++)
		for (n = 0; n < info->b.cols; n++) {
			double sum = 0;

			/* Padded K as the hardware does: unclean padding shows. */
			for (s = k = 0; k < info->b.rows; k++) {
				sum += load(a, at(&info->a, m, k), info->types) *
				       load(b, at(&info->b, k, n), info->types);
				if ((k + 1) % info->b.slice)
					continue;
				out = result + s++ * info->c.slice_stride;
				store(out + at(&plans[op->plan - 1].c, m, n) / 2, sum, info, types);
				sum = 0;
			}
		}
	if (stages->kind) {
		fake_stages_run(stages, result, (const uint8_t *const *)operands, c);
		free(result);
	}
	if (fake.corrupt)
		c[at(&info->c, rows - 1, info->n - 1) / 2] ^= 1;
	fake.executed++;
	return 0;
}

static int execute(const struct drm_rkmm_op *op)
{
	struct drm_rkmm_op one = *op;
	uint32_t i = 0;
	int ret;

	if ((op->a_stride | op->b_stride | op->c_stride) % 64)
		return -EINVAL;
	do {
		ret = execute_one(&one);
		one.a.offset += op->a_stride;
		one.b.offset += op->b_stride;
		one.c.offset += op->c_stride;
	} while (!ret && ++i < op->count);
	return ret;
}

/* Members of a group must not see each other: C of each against all of the others. */
static int group_apart(const struct drm_rkmm_op *ops, uint32_t i)
{
	uint32_t first = i, j, k;
	uint8_t *p[2][3];

	while (first && ops[first].flags)
		first--;
	for (j = first; j < i; j++) {
		const struct drm_rkmm_plan_create *info[2] = {
			&plans[ops[i].plan - 1].info, &plans[ops[j].plan - 1].info,
		};
		const struct drm_rkmm_op *of[2] = { &ops[i], &ops[j] };

		/* rows of a common pitch may lie side by side */
		if (info[0]->c.layout == DRM_RKMM_LAYOUT_ROWS)
			continue;
		for (k = 0; k < 2; k++)
			if (info[k]->kind || place(&of[k]->a, &info[k]->a, &p[k][0]) ||
			    place(&of[k]->b, &info[k]->b, &p[k][1]) ||
			    place(&of[k]->c, &info[k]->c, &p[k][2]))
				return 0;
		for (k = 0; k < 2; k++)
			if (!apart(p[k][2], &info[k]->c, p[!k][0], &info[!k]->a) ||
			    !apart(p[k][2], &info[k]->c, p[!k][1], &info[!k]->b) ||
			    !apart(p[k][2], &info[k]->c, p[!k][2], &info[!k]->c))
				return 0;
	}
	return 1;
}

static int submit(struct drm_rkmm_submit *req)
{
	const struct drm_rkmm_op *ops = (const void *)(uintptr_t)req->ops.array;
	uint32_t i;
	int ret;

	if (!req->ops.count || req->ops.count > DRM_RKMM_MAX_OPS ||
	    req->ops.stride != sizeof(*ops) || req->flags & ~7u ||
	    (req->flags & 6) == 6)
		return -EINVAL;
	if ((!req->in_syncs.count) != (!req->in_syncs.array) ||
	    (!req->out_syncs.count) != (!req->out_syncs.array))
		return -EINVAL;
	for (i = 0; i < req->ops.count; i++) {
		req->seqno = i;
		if (ops[i].plan <= fake.stale)
			return -ESTALE;
	}
	memset(temps, NOISE, sizeof(temps));
	for (i = 0; i < req->ops.count; i++) {
		ret = !i && ops[i].flags ? -EINVAL : execute(&ops[i]);
		if (!ret && ops[i].flags && !group_apart(ops, i))
			ret = -EINVAL;
		if (ret)
			return ret;
	}
	fake.submits++;
	req->seqno = ++last_seqno;
	req->wait_status = 0;
	req->result = 0;
	if (req->flags & DRM_RKMM_SUBMIT_WAIT) {
		if (fake.interrupted) {
			fake.interrupted--;
			req->wait_status = -EINTR;
			req->result = 12345;	/* undefined as long as it has not ended */
		} else {
			req->result = fake.result;
		}
	}
	return 0;
}

static int wait_seqno(struct drm_rkmm_wait *req)
{
	fake.waits++;
	if (req->flags)
		return -EINVAL;
	if (!req->seqno || req->seqno > last_seqno)
		return -ENOENT;
	if (fake.busy) {
		fake.busy--;
		return -ETIME;
	}
	req->result = fake.result;
	return 0;
}

static int query(struct drm_rkmm_query *req)
{
	struct drm_rkmm_device_info info = {
		.chip = "fake", .version = fake.version, .cores = 1, .core_mask = 1,
		.k_max = 10752, .n_max = 8192,
	};
	struct drm_rkmm_type_info types[5];
	struct drm_rkmm_client_info client = { .jobs = fake.executed };
	struct drm_rkmm_op_info ops[3] = {
		{ .kind = DRM_RKMM_OP_ADD, .flags = DRM_RKMM_OP_AVAILABLE, .n_align = 8 },
		{ .kind = DRM_RKMM_OP_ADD, .element = DRM_RKMM_I8, .n_align = 16 },
		{ .kind = DRM_RKMM_OP_ADD, .other = DRM_RKMM_OTHER_SCALAR, .n_align = 24 },
	};
	const void *from;
	uint32_t size, i;

	for (i = 0; i < 5; i++)
		types[i] = (struct drm_rkmm_type_info) {
			.types = i, .in_bits = widths[i].in_bits, .out_bits = widths[i].out_bits,
			.k_align = 32, .n_align = 256 / widths[i].in_bits,
		};
	switch (req->id) {
	case DRM_RKMM_QUERY_DEVICE:
		from = &info;
		size = sizeof(info);
		break;
	case DRM_RKMM_QUERY_TYPES:
		from = types;
		size = sizeof(types);
		break;
	case DRM_RKMM_QUERY_CLIENT:
		from = &client;
		size = sizeof(client);
		break;
	case DRM_RKMM_QUERY_OPS:
		from = ops;
		size = sizeof(ops);
		break;
	default:
		return -EINVAL;
	}
	if (req->pointer)
		memcpy((void *)(uintptr_t)req->pointer, from,
		       size < req->size ? size : req->size);
	req->size = size;
	return 0;
}

static int dispatch(unsigned long request, void *arg)
{
	struct drm_rkmm_plan_destroy *destroy = arg;
	struct drm_gem_close *gem = arg;

	switch (request) {
	case DRM_IOCTL_RKMM_QUERY:
		return query(arg);
	case DRM_IOCTL_RKMM_BO_CREATE:
		return bo_create(arg);
	case DRM_IOCTL_RKMM_BO_SYNC:
		return bo_sync(arg);
	case DRM_IOCTL_RKMM_PLAN_CREATE:
		return plan_create(arg);
	case DRM_IOCTL_RKMM_PLAN_DESTROY:
		if (!destroy->plan || destroy->plan > MAX_PLANS || !plans[destroy->plan - 1].used)
			return -ENOENT;
		plans[destroy->plan - 1].used = 0;
		fake.plans--;
		return 0;
	case DRM_IOCTL_RKMM_SUBMIT:
		return submit(arg);
	case DRM_IOCTL_RKMM_WAIT:
		return wait_seqno(arg);
	case DRM_IOCTL_GEM_CLOSE:
		return bo_close(gem->handle);
	}
	return -ENOTTY;
}

int rkmm_sys_ioctl(int fd, unsigned long request, void *arg)
{
	int ret;

	if (fcntl(fd, F_GETFD) < 0)
		return -EBADF;
	pthread_mutex_lock(&lock);
	fake.ioctls++;
	if (request == fake.fail && !fake.fail_after--) {
		fake.fail = 0;
		ret = fake.fail_errno;
	} else {
		ret = dispatch(request, arg);
	}
	pthread_mutex_unlock(&lock);
	return ret;
}

int rkmm_sys_open(const char *path)
{
	int fd;

	if (!strcmp(path, "/fake/secret"))
		return -EACCES;
	fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (fd >= 0) {
		pthread_mutex_lock(&lock);
		fake.nodes++;
		pthread_mutex_unlock(&lock);
	}
	return fd < 0 ? -errno : fd;
}

/* The NPU is not the first node: it must be found by name. */
int rkmm_sys_node(unsigned int i, char *path, size_t size)
{
	static const char *const nodes[] = { "/fake/secret", "/fake/gpu", "/fake/npu" };

	if (i >= 3)
		return -ENOENT;
	snprintf(path, size, "%s", nodes[i]);
	return 0;
}

void rkmm_sys_close(int fd)
{
	close(fd);
	pthread_mutex_lock(&lock);
	fake.nodes--;
	pthread_mutex_unlock(&lock);
}

int rkmm_sys_version(int fd, char *name, size_t size, int *major, int *minor)
{
	static int turn;

	(void)fd;
	pthread_mutex_lock(&lock);
	/* Descriptors do not remember their path: the first of a search is the GPU. */
	snprintf(name, size, "%s", fake.name ? fake.name : turn++ & 1 ? "rkmm" : "panfrost");
	pthread_mutex_unlock(&lock);
	*major = 0;
	*minor = 1;
	return 0;
}

int rkmm_sys_prime_export(int fd, uint32_t handle, int *dmabuf_fd)
{
	struct bo *bo = bo_get(handle);

	(void)fd;
	if (!bo)
		return -ENOENT;
	*dmabuf_fd = fcntl(bo->memfd, F_DUPFD_CLOEXEC, 0);
	return *dmabuf_fd < 0 ? -errno : 0;
}

int rkmm_sys_prime_import(int fd, int dmabuf_fd, uint32_t *handle)
{
	struct stat st, have;
	uint32_t i;

	(void)fd;
	if (fstat(dmabuf_fd, &st))
		return -EBADF;
	if (!st.st_size || st.st_size % PAGE)
		return -EINVAL;
	pthread_mutex_lock(&lock);
	*handle = 0;
	for (i = 0; i < MAX_BOS; i++)
		if (bos[i].used && !fstat(bos[i].memfd, &have) && have.st_ino == st.st_ino)
			*handle = i + 1;
	if (!*handle)
		*handle = bo_new(fcntl(dmabuf_fd, F_DUPFD_CLOEXEC, 0), (uint64_t)st.st_size);
	pthread_mutex_unlock(&lock);
	return *handle ? 0 : -ENOMEM;
}

void *rkmm_sys_mmap(int fd, uint64_t size, uint64_t offset, int *err)
{
	struct bo *bo = bo_get((uint32_t)(offset >> 32));
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, bo ? bo->memfd : fd, 0);

	*err = p == MAP_FAILED ? -errno : 0;
	if (*err)
		return NULL;
	pthread_mutex_lock(&lock);
	fake.maps++;
	pthread_mutex_unlock(&lock);
	return p;
}

void rkmm_sys_munmap(void *ptr, uint64_t size)
{
	munmap(ptr, size);
	pthread_mutex_lock(&lock);
	fake.maps--;
	pthread_mutex_unlock(&lock);
}
