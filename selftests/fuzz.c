// SPDX-License-Identifier: GPL-2.0
/*
 * Random calls from threads of processes that are killed at random. Nothing they
 * do may hurt the kernel or the next client.
 *
 * RKMM_FUZZ_SEED, RKMM_FUZZ_CHILDREN and RKMM_FUZZ_FAULTS=1 (cores misbehave too)
 * ask for other, longer or rougher runs.
 */
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include "../kselftest_harness.h"
#include "rkmm_test.h"

#define THREADS		3
#define TOGETHER	3	/* processes at a time */
#define NFDS		3
#define NBUFS		24
#define NPLANS		16
#define NSYNCS		12
#define NFILES		12
#define MAX_ARG		16384	/* what an ioctl number can say */

/*
 * What the threads of one process know. They race on purpose: an entry may be
 * gone or another one's when it is used, so every access is one relaxed word.
 */
struct world {
	int fd[NFDS];
	struct {
		uint32_t handle, fd;	/* fd: index of the file that has it */
		uint64_t size, offset;
		void *map;
	} buf[NBUFS];
	struct {
		uint32_t handle, fd, kind, m;
		uint64_t a, b, c, d, e;
	} plan[NPLANS];
	uint32_t sync[NSYNCS];
	int file[NFILES];	/* dma-bufs and sync files */
	uint64_t seqno;
	void *hole;		/* the last page before one that does not exist */
};

struct thread {
	struct world *w;
	struct rnd r;
	uint32_t fd;		/* index of the file for the calls of one round */
	uint8_t arg[MAX_ARG] __attribute__((aligned(8)));
};

static uint32_t below(struct thread *t, uint32_t n)
{
	return rnd_below(&t->r, n);
}

static bool one_in(struct thread *t, uint32_t n)
{
	return !below(t, n);
}

static uint64_t wild(struct thread *t)
{
	static const uint64_t v[] = {
		0, 1, 2, 3, 63, 64, 4095, 4096, 4097, 0x7fffffff, 0x80000000, 0xffffffff,
		0xfffff000, 0x100000000, 0x7fffffffffffffff, 0x8000000000000000,
		0xfffffffffffff000, 0xffffffffffffffff, 0xffff800000000000, 32768, 65536,
	};
	uint64_t x = v[below(t, ARRAY_SIZE(v))];

	switch (below(t, 4)) {
	case 0:
		return rnd_next(&t->r);
	case 1:
		return 1ull << below(t, 64);
	case 2:
		return x + below(t, 3) - 1;
	default:
		return x;
	}
}

static int fd_of(struct thread *t)
{
	return t->w->fd[one_in(t, 50) ? below(t, NFDS) : t->fd];
}

/* A place in a table whose entry belongs to the file of this round, if soon found. */
static unsigned int a_buf(struct thread *t)
{
	unsigned int i, tries;

	for (tries = 0; tries < 6; tries++) {
		i = below(t, NBUFS);
		if (t->w->buf[i].handle && t->w->buf[i].fd == t->fd)
			break;
	}
	return i;
}

static unsigned int a_plan(struct thread *t)
{
	unsigned int i, tries;

	for (tries = 0; tries < 6; tries++) {
		i = below(t, NPLANS);
		if (t->w->plan[i].handle && t->w->plan[i].fd == t->fd)
			break;
	}
	return i;
}

static uint32_t buf_of(struct thread *t)
{
	return one_in(t, 40) ? (uint32_t)wild(t) : t->w->buf[a_buf(t)].handle;
}

static uint32_t sync_of(struct thread *t)
{
	return one_in(t, 20) ? (uint32_t)wild(t) : t->w->sync[below(t, NSYNCS)];
}

static int64_t deadline_of(struct thread *t)
{
	return one_in(t, 8) ? (int64_t)wild(t) : after((int64_t)below(t, 30) * 1000000);
}

/*
 * One call: words of the argument may turn wild, the ioctl number may claim
 * another size, the argument may lie where it cannot be read or written, or in
 * the mapping of a buffer.
 */
static int call(struct thread *t, unsigned long request, void *arg)
{
	uint32_t size = _IOC_SIZE(request), i, n;
	int fd = fd_of(t), ret;
	void *at = t->arg;

	/* DRM itself warns about arrays of syncobjs that are too large for kmalloc() */
	if (_IOC_NR(request) >= 0xbf)
		return xioctl(fd, request, arg);
	memset(t->arg, one_in(t, 16) ? 0xff : 0, sizeof(t->arg));
	memcpy(t->arg, arg, size);
	if (one_in(t, 5))
		for (n = 1 + below(t, 3); n; n--) {
			uint64_t v = wild(t);

			i = below(t, size / 4) * 4;
			memcpy(t->arg + i, &v, size - i >= 8 && one_in(t, 2) ? 8 : 4);
		}
	if (one_in(t, 24))
		request = _IOC(one_in(t, 4) ? below(t, 4) : _IOC_DIR(request), _IOC_TYPE(request),
			       _IOC_NR(request), one_in(t, 2) ? below(t, size + 16) :
			       below(t, MAX_ARG));
	/* memory for sizes between these may exist, and is not worth the time */
	if (request == DRM_IOCTL_RKMM_BO_CREATE) {
		uint64_t *bytes = (void *)t->arg;

		if (*bytes > 1 << 20 && *bytes < 1ull << 40)
			*bytes <<= 24;
	}
	switch (below(t, 40)) {
	case 0:
		at = (void *)(uintptr_t)wild(t);
		break;
	case 1:
		n = below(t, size + 1);
		at = (uint8_t *)t->w->hole + 4096 - n;
		memcpy(at, t->arg, n);
		break;
	case 2:
		if (request != DRM_IOCTL_RKMM_BO_CREATE)
			at = t->w->buf[below(t, NBUFS)].map;
		break;
	}
	ret = xioctl(fd, request, at);
	if (at == t->arg)
		memcpy(arg, t->arg, size);
	return ret;
}

static void do_query(struct thread *t)
{
	uint8_t answer[512];
	struct drm_rkmm_query q = {
		.id = below(t, 5), .size = below(t, sizeof(answer)),
		.pointer = (uintptr_t)(one_in(t, 8) ? t->w->buf[below(t, NBUFS)].map : answer),
	};

	/* never more than the answer, which a wild size does not change */
	call(t, DRM_IOCTL_RKMM_QUERY, &q);
}

static void do_bo_create(struct thread *t)
{
	struct drm_rkmm_bo_create c = {
		.size = 1 + below(t, one_in(t, 16) ? 1 << 20 : 1 << 16),
	};
	unsigned int i = below(t, NBUFS);

	if (call(t, DRM_IOCTL_RKMM_BO_CREATE, &c) || !c.handle)
		return;
	gem_close(t->w->fd[t->w->buf[i].fd], t->w->buf[i].handle);
	t->w->buf[i].handle = c.handle;
	t->w->buf[i].fd = t->fd;
	t->w->buf[i].size = c.size;
	t->w->buf[i].offset = c.mmap_offset;
}

static void do_mmap(struct thread *t)
{
	unsigned int i = a_buf(t);
	uint64_t size = t->w->buf[i].size, offset = t->w->buf[i].offset;
	int prot = below(t, 8) ? PROT_READ | PROT_WRITE : below(t, 8);
	void *map;

	if (one_in(t, 8))
		size = (uint32_t)wild(t);
	if (one_in(t, 8))
		offset += (wild(t) & ~4095ull);
	map = mmap(NULL, size, prot, one_in(t, 8) ? MAP_PRIVATE : MAP_SHARED,
		   one_in(t, 8) ? t->w->file[below(t, NFILES)] : fd_of(t), offset);
	if (map == MAP_FAILED)
		return;
	/* the kernel touches it: another thread may take it away meanwhile */
	syscall(SYS_getrandom, map, size > 8192 ? 8192 : size, GRND_NONBLOCK);
	switch (below(t, 6)) {
	case 0:
		madvise(map, size, MADV_DONTNEED);
		break;
	case 1:
		madvise(map, size, MADV_REMOVE);
		break;
	case 2:
		mprotect(map, size, PROT_READ);
		break;
	case 3:
		map = mremap(map, size, size + 4096, MREMAP_MAYMOVE);
		if (map == MAP_FAILED)
			return;
		size += 4096;
		break;
	}
	if (one_in(t, 2) || size > 1 << 21)
		munmap(map, size);
	else
		t->w->buf[i].map = map;
}

static void do_bo_sync(struct thread *t)
{
	unsigned int i = a_buf(t);
	uint64_t size = t->w->buf[i].size + 1;
	struct drm_rkmm_bo_sync s = {
		.handle = one_in(t, 20) ? buf_of(t) : t->w->buf[i].handle,
		.flags = 1 + below(t, one_in(t, 8) ? 32 : 15), .deadline_ns = deadline_of(t),
	};

	s.offset = below(t, size);
	s.size = one_in(t, 2) ? size - 1 - s.offset : below(t, 300);
	if (s.flags & DRM_RKMM_SYNC_END)
		s.flags &= ~DRM_RKMM_SYNC_WAIT;
	if (!(s.flags & DRM_RKMM_SYNC_WAIT))
		s.deadline_ns = 0;
	call(t, DRM_IOCTL_RKMM_BO_SYNC, &s);
}

/* fp32 bits: numbers that some operation takes, and some that none does */
static uint32_t real(struct thread *t)
{
	static const uint32_t v[] = {
		0x3d000000, 0x3f000000, 0x3f800000, 0x3727c5ac, 0x40c00000, 0xbf800000, 1,
		0x7f7fffff, 0x7f800000, 0x7fc00000, 0x80000000,
	};

	return one_in(t, 16) ? (uint32_t)wild(t) : v[below(t, one_in(t, 4) ? ARRAY_SIZE(v) : 5)];
}

/* Any operation but matmuls; fields that most of them do not have are seldom set. */
static struct drm_rkmm_plan_create other_plan(struct thread *t)
{
	struct drm_rkmm_plan_create p = {
		.kind = 1 + below(t, one_in(t, 20) ? 40 : 26), .types = one_in(t, 3) ? below(t, 4) : 0,
		.m = 1 + below(t, 80), .n = 1 + below(t, one_in(t, 4) ? 600 : 80),
		.cores = below(t, 8),
	};

	if (p.kind <= DRM_RKMM_OP_DIV)
		p.other = below(t, one_in(t, 20) ? 5 : 3);
	if (one_in(t, 4))
		p.op_flags = 1u << below(t, 6);
	if (p.other == DRM_RKMM_OTHER_SCALAR || p.kind == DRM_RKMM_OP_LEAKY ||
	    p.kind == DRM_RKMM_OP_CLAMP || one_in(t, 10))
		p.value = p.types ? below(t, 100) : real(t);
	if (p.kind == DRM_RKMM_OP_RMSNORM || p.kind == DRM_RKMM_OP_LAYERNORM)
		p.value = real(t);
	if (p.kind == DRM_RKMM_OP_CLAMP || one_in(t, 20))
		p.value2 = p.types ? below(t, 200) : real(t);
	if (p.kind == DRM_RKMM_OP_SOFTMAX || p.types || one_in(t, 20))
		p.scale = real(t);
	if (p.types && p.kind >= DRM_RKMM_OP_EXP)
		p.out_scale = real(t);
	if (one_in(t, p.types ? 2 : 20)) {
		p.za = (int)below(t, 256) - 128;
		p.mult = below(t, 40000);
		p.shift = below(t, 70);
		p.offset = (int)below(t, 256) - 128;
	}
	if (p.kind == DRM_RKMM_OP_MAXPOOL || p.kind == DRM_RKMM_OP_AVGPOOL || one_in(t, 30)) {
		p.width = below(t, 12);
		p.m = p.width * (1 + below(t, 12));
		p.kernel_w = below(t, 6);
		p.kernel_h = below(t, 6);
		p.stride_w = below(t, one_in(t, 10) ? 20 : 6);
		p.stride_h = below(t, 6);
	}
	/* the largest that there are, and larger ones */
	if (one_in(t, 20))
		p.m = (uint32_t)wild(t) >> below(t, 32);
	if (one_in(t, 20))
		p.n = (uint32_t)wild(t) >> below(t, 32);
	return p;
}

/* What follows a matmul, often in an order that can be served */
static void some_stages(struct thread *t, struct drm_rkmm_plan_create *p)
{
	bool whole = p->types == DRM_RKMM_I8I32 || p->types == DRM_RKMM_I8I8;
	uint32_t n = 1 + below(t, DRM_RKMM_STAGES), i;

	for (i = 0; i < n; i++) {
		struct drm_rkmm_stage *s = &p->stages[i];

		s->kind = one_in(t, 3) ? DRM_RKMM_OP_RELU :
			  1 + below(t, one_in(t, 20) ? 40 : DRM_RKMM_OP_RSQRT);
		if (p->types == DRM_RKMM_I8I8 && one_in(t, 4))
			s->kind = DRM_RKMM_OP_REQUANT;
		if (s->kind <= DRM_RKMM_OP_DIV)
			s->other = below(t, one_in(t, 20) ? 5 : 3);
		if (s->other == DRM_RKMM_OTHER_SCALAR || s->kind == DRM_RKMM_OP_LEAKY ||
		    one_in(t, 12))
			s->value = whole && s->kind != DRM_RKMM_OP_LEAKY ? below(t, 100) : real(t);
		if (s->kind == DRM_RKMM_OP_CLAMP || one_in(t, 20))
			s->value2 = whole ? below(t, 200) : real(t);
		if (whole && s->kind >= DRM_RKMM_OP_EXP && s->kind <= DRM_RKMM_OP_RSQRT) {
			s->scale = real(t);
			s->out_scale = real(t);
		}
		if (one_in(t, whole ? 4 : 30)) {
			s->za = (int)below(t, 20) - 10;
			s->mult = below(t, 400);
			s->shift = below(t, 20);
			s->offset = (int)below(t, 20) - 10;
		}
		if (one_in(t, 40))
			s->pad = 1;
	}
	if (one_in(t, 30))
		p->stages[below(t, DRM_RKMM_STAGES)].kind = 0;
	if (p->types == DRM_RKMM_I8I8 && one_in(t, 3)) {
		p->mult = 0;
		p->shift = 0;
		p->offset = 0;
	}
}

static void do_plan_create(struct thread *t)
{
	uint32_t most = one_in(t, 10) ? 3000 : 80;
	struct drm_rkmm_plan_create p = {
		.types = below(t, 5), .m = 1 + below(t, 80), .k = 1 + below(t, most),
		.n = 1 + below(t, most), .flags = one_in(t, 3), .cores = below(t, 8),
	};
	struct drm_rkmm_plan_destroy d = { 0 };
	unsigned int i = below(t, NPLANS), k;

	if (p.types == DRM_RKMM_I8I8) {
		p.mult = 1 + below(t, 32767);
		p.shift = below(t, 32);
		p.offset = (int)below(t, 256) - 128;
	}
	if (one_in(t, 6))
		p.form = below(t, 5);
	if (one_in(t, 10)) {
		p.k = 64 * (1 + below(t, 6));
		p.a_pitch = 16 * below(t, 64);
		p.c_pitch = 16 * below(t, 64);
	}
	if (one_in(t, 30))
		p.b_layout = rnd_next(&t->r);
	if (one_in(t, 3))
		p = other_plan(t);
	else if (one_in(t, 3))
		some_stages(t, &p);
	if (call(t, DRM_IOCTL_RKMM_PLAN_CREATE, &p) || !p.plan)
		return;
	d.plan = t->w->plan[i].handle;
	if (d.plan)
		xioctl(t->w->fd[t->w->plan[i].fd], DRM_IOCTL_RKMM_PLAN_DESTROY, &d);
	t->w->plan[i].handle = p.plan;
	t->w->plan[i].fd = t->fd;
	t->w->plan[i].kind = p.kind;
	t->w->plan[i].m = p.m;
	t->w->plan[i].a = p.a.size;
	t->w->plan[i].b = p.b.size;
	t->w->plan[i].c = p.c.size;
	t->w->plan[i].d = p.d.size;
	t->w->plan[i].e = p.e.size;
	/* what runs in order is neither repeated nor grouped */
	for (k = 0; k < DRM_RKMM_STAGES && p.stages[k].kind; k++)
		if (!(p.fused >> k & 1))
			t->w->plan[i].kind = p.stages[k].kind;
}

/* In a buffer or, one time in @odds, in one of a few temporaries */
static struct drm_rkmm_operand operand(struct thread *t, uint64_t need, uint32_t odds)
{
	struct drm_rkmm_operand o = { 0 };
	unsigned int i = 0, tries;

	if (one_in(t, odds)) {
		o.handle = one_in(t, 30) ? below(t, 2 * DRM_RKMM_MAX_TEMPS) : below(t, 3);
		o.flags = DRM_RKMM_OPERAND_TEMP;
		o.offset = one_in(t, 4) ? 64 * below(t, 1 << below(t, 14)) : 0;
		return o;
	}
	for (tries = 0; tries < 8; tries++) {
		i = a_buf(t);
		if (t->w->buf[i].size >= need)
			break;
	}
	o.handle = t->w->buf[i].handle;
	if (t->w->buf[i].size > need)
		o.offset = 64 * below(t, (t->w->buf[i].size - need) / 64 + 1);
	return o;
}

/* Operands one behind the other, at one place, side by side in rows, or anywhere. */
static uint64_t stride(struct thread *t, uint64_t size)
{
	switch (below(t, 12)) {
	case 0:
		return wild(t);
	case 1:
		return 0;
	case 2:
		return 64 * below(t, 8);
	default:
		return (size + 63) / 64 * 64;
	}
}

static uint64_t extra(uint32_t count, uint64_t bytes)
{
	return count ? (count - 1) * bytes : 0;
}

static void do_submit(struct thread *t)
{
	uint32_t nops = one_in(t, 100) ? below(t, DRM_RKMM_MAX_OPS + 2) : 1 + below(t, 4);
	uint32_t nin = one_in(t, 3) ? below(t, 4) : 0, nout = one_in(t, 3) ? below(t, 4) : 0, i;
	struct drm_rkmm_op *ops = calloc(nops + 1, sizeof(*ops));
	struct drm_rkmm_sync in[4] = { 0 }, out[4] = { 0 };
	struct drm_rkmm_submit s;
	uint32_t other = 0;	/* kind of the operation before */

	if (!ops)
		return;
	for (i = 0; i < nops; i++) {
		unsigned int p = a_plan(t);

		ops[i].plan = one_in(t, 60) ? (uint32_t)wild(t) : t->w->plan[p].handle;
		ops[i].rows = one_in(t, 3) ? below(t, t->w->plan[p].m + 1) : 0;
		if (i && one_in(t, t->w->plan[p].kind || other ? 20 : 2))
			ops[i].flags = DRM_RKMM_OP_GROUPED;
		other = t->w->plan[p].kind;
		/* only matmuls run more than once, or in groups */
		if (one_in(t, t->w->plan[p].kind ? 40 : 3)) {
			ops[i].count = one_in(t, 20) ? (uint32_t)wild(t) : below(t, 9);
			ops[i].a_stride = stride(t, t->w->plan[p].a);
			ops[i].b_stride = stride(t, t->w->plan[p].b);
			ops[i].c_stride = stride(t, t->w->plan[p].c);
		}
		ops[i].a = operand(t, t->w->plan[p].a + extra(ops[i].count, ops[i].a_stride),
				   i ? 6 : 60);
		if (t->w->plan[p].b)
			ops[i].b = operand(t, t->w->plan[p].b +
					   extra(ops[i].count, ops[i].b_stride), 30);
		ops[i].c = operand(t, t->w->plan[p].c + extra(ops[i].count, ops[i].c_stride), 4);
		if (t->w->plan[p].d)
			ops[i].d = operand(t, t->w->plan[p].d, 30);
		if (t->w->plan[p].e)
			ops[i].e = operand(t, t->w->plan[p].e, 10);
		if (one_in(t, 100)) {
			uint64_t v = wild(t);

			memcpy((uint8_t *)&ops[i] + 4 * below(t, sizeof(*ops) / 4), &v, 4);
		}
	}
	for (i = 0; i < 4; i++) {
		in[i].handle = sync_of(t);
		out[i].handle = sync_of(t);
		out[i].point = one_in(t, 3) ? below(t, 1000) : one_in(t, 30) ? wild(t) : 0;
		in[i].point = one_in(t, 6) ? below(t, 1000) : 0;
	}
	submit_init(&s, ops, nops);
	submit_syncs(&s, in, nin, out, nout);
	s.flags = one_in(t, 3);
	s.deadline_ns = s.flags ? deadline_of(t) : 0;
	s.cores = one_in(t, 4) ? below(t, 9) : 0;
	if (one_in(t, 20))
		s.ops.stride = below(t, 2) ? 64 + 8 * below(t, 16) : wild(t);
	if (one_in(t, 40))
		s.ops.array = (uintptr_t)t->w->buf[below(t, NBUFS)].map;
	if (!call(t, DRM_IOCTL_RKMM_SUBMIT, &s))
		t->w->seqno = s.seqno;
	free(ops);
}

static void do_wait(struct thread *t)
{
	struct drm_rkmm_wait w = {
		.seqno = t->w->seqno + 2 - below(t, 6), .deadline_ns = deadline_of(t),
	};

	call(t, DRM_IOCTL_RKMM_WAIT, &w);
}

static void keep_file(struct thread *t, int fd)
{
	unsigned int i = below(t, NFILES);
	int old = t->w->file[i];

	t->w->file[i] = fd;
	if (old > 0)
		close(old);
}

static void do_syncobj(struct thread *t)
{
	uint32_t handle = sync_of(t), *slot = &t->w->sync[below(t, NSYNCS)];
	uint64_t point = below(t, 1000);
	int fd;

	switch (below(t, 10)) {
	case 0:
	case 1: {
		struct drm_syncobj_create c = { .flags = one_in(t, 4) };

		if (!call(t, DRM_IOCTL_SYNCOBJ_CREATE, &c))
			*slot = c.handle;
		break;
	}
	case 2:
		syncobj_destroy(fd_of(t), handle);
		break;
	case 3: {
		struct drm_syncobj_timeline_wait w = {
			.handles = (uintptr_t)slot, .points = (uintptr_t)&point,
			.timeout_nsec = after(below(t, 20) * 1000000), .count_handles = 1,
			.flags = below(t, 8),
		};

		call(t, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &w);
		break;
	}
	case 4:
	case 5:
		fd = syncobj_export(fd_of(t), handle);
		if (fd >= 0)
			keep_file(t, fd);
		break;
	case 6:
		syncobj_import(fd_of(t), handle, t->w->file[below(t, NFILES)]);
		break;
	case 7: {
		struct drm_syncobj_timeline_array a = {
			.handles = (uintptr_t)slot, .points = (uintptr_t)&point,
			.count_handles = 1,
		};

		call(t, one_in(t, 2) ? DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL :
		     DRM_IOCTL_SYNCOBJ_QUERY, &a);
		break;
	}
	case 8: {
		struct drm_syncobj_transfer x = {
			.src_handle = handle, .dst_handle = sync_of(t),
			.dst_point = one_in(t, 2) ? point : 0,
		};

		call(t, DRM_IOCTL_SYNCOBJ_TRANSFER, &x);
		break;
	}
	case 9: {
		struct drm_syncobj_array a = {
			.handles = (uintptr_t)slot, .count_handles = 1,
		};

		call(t, one_in(t, 2) ? DRM_IOCTL_SYNCOBJ_RESET : DRM_IOCTL_SYNCOBJ_SIGNAL, &a);
		break;
	}
	}
}

static void do_prime(struct thread *t)
{
	struct drm_prime_handle h = { .handle = buf_of(t), .flags = DRM_CLOEXEC | DRM_RDWR };
	unsigned int i = below(t, NBUFS);

	switch (below(t, 5)) {
	case 0:
	case 1:
		if (!call(t, DRM_IOCTL_PRIME_HANDLE_TO_FD, &h))
			keep_file(t, h.fd);
		break;
	case 2:
	case 3:
		h.fd = t->w->file[below(t, NFILES)];
		if (!call(t, DRM_IOCTL_PRIME_FD_TO_HANDLE, &h)) {
			off_t size = lseek(h.fd, 0, SEEK_END);

			t->w->buf[i].handle = h.handle;
			t->w->buf[i].fd = t->fd;
			t->w->buf[i].size = size > 0 ? size : 0;
		}
		break;
	case 4: {
		struct dma_buf_sync s = { .flags = below(t, 8) };

		xioctl(t->w->file[below(t, NFILES)], DMA_BUF_IOCTL_SYNC, &s);
		break;
	}
	}
}

static void do_odd(struct thread *t)
{
	unsigned int i = below(t, NFDS), b = below(t, NBUFS);
	char text[2048];
	void *map;
	int fd;

	switch (below(t, 9)) {
	case 0:		/* what is under way keeps working */
		fd = rk_open();
		if (fd >= 0) {
			dup2(fd, t->w->fd[i]);
			close(fd);
		}
		break;
	case 1:
		gem_close(fd_of(t), buf_of(t));
		break;
	case 2:
		map = __atomic_exchange_n(&t->w->buf[b].map, NULL, __ATOMIC_RELAXED);
		if (map)	/* nothing else comes to this address: other threads may use it */
			mmap(map, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		break;
	case 3:
		keep_file(t, -1);
		break;
	case 4:
		syscall(SYS_tgkill, getpid(), getpid() + (int)below(t, THREADS), SIGUSR1);
		break;
	case 5:		/* a number that no ioctl has, and those of DRM with garbage */
		for (b = 0; b < 64; b++)
			t->arg[b] = one_in(t, 3) ? rnd_next(&t->r) : 0;
		xioctl(fd_of(t), DRM_IOWR(one_in(t, 2) ? DRM_COMMAND_BASE + below(t, 32) :
		       below(t, 0xbf), char[64]), t->arg);
		break;
	case 6:
		snprintf(text, sizeof(text), "/proc/self/fdinfo/%d", fd_of(t));
		file_read(text, text, sizeof(text));
		break;
	case 7:
		sched_yield();
		break;
	case 8:
		if (!one_in(t, 4))
			break;
		if (!fork()) {		/* the same open file from another process */
			for (b = 0; b < 40; b++)
				do_submit(t);
			_exit(0);
		}
		break;
	}
}

static void *thread_main(void *arg)
{
	struct thread *t = arg;
	int i;

	for (i = 0; i < 8; i++) {
		do_bo_create(t);
		do_plan_create(t);
	}
	for (;;) {
		if (one_in(t, 8))
			t->fd = below(t, NFDS);
		switch (below(t, 20)) {
		case 0:
			do_query(t);
			break;
		case 1:
		case 2:
			do_bo_create(t);
			break;
		case 3:
		case 4:
			do_mmap(t);
			break;
		case 5:
		case 6:
			do_bo_sync(t);
			break;
		case 7:
		case 8:
			do_plan_create(t);
			break;
		case 9:
			do_prime(t);
			break;
		case 10:
		case 11:
			do_syncobj(t);
			break;
		case 12:
			do_wait(t);
			break;
		case 13:
			do_odd(t);
			break;
		default:
			do_submit(t);
			break;
		}
	}
	return NULL;
}

static void ignore(int sig __attribute__((unused)))
{
}

/* Never returns: it is killed. */
static void child_main(uint64_t seed)
{
	struct sigaction act = { .sa_handler = ignore };	/* no SA_RESTART */
	struct rlimit files = { 200, 200 }, none = { 0, 0 };
	static struct thread thread[THREADS];
	static struct world w;
	pthread_t id;
	int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0);
	file_write("/proc/self/oom_score_adj", "1000");
	sigaction(SIGUSR1, &act, NULL);
	signal(SIGCHLD, SIG_IGN);
	setrlimit(RLIMIT_NOFILE, &files);
	setrlimit(RLIMIT_CORE, &none);
	for (i = 0; i < NFDS; i++)
		w.fd[i] = rk_open();
	for (i = 0; i < NFILES; i++)
		w.file[i] = -1;
	w.hole = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap((uint8_t *)w.hole + 4096, 4096);
	for (i = 0; i < THREADS; i++) {
		thread[i].w = &w;
		rnd_seed(&thread[i].r, seed * THREADS + i);
		if (i < THREADS - 1)
			pthread_create(&id, NULL, thread_main, &thread[i]);
	}
	thread_main(&thread[THREADS - 1]);
}

static unsigned long env(const char *name, unsigned long otherwise)
{
	const char *v = getenv(name);

	return v ? strtoul(v, NULL, 0) : otherwise;
}

/* Collect what is dead; the groups of killed processes die to the last member. */
static void reap(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	while (waitpid(-pid, NULL, 0) > 0)
		;
}

FIXTURE(fuzz) {
};

FIXTURE_SETUP(fuzz)
{
}

FIXTURE_TEARDOWN(fuzz)
{
}

TEST_F_TIMEOUT(fuzz, killed, 3600)
{
	unsigned long seed = env("RKMM_FUZZ_SEED", 1), children = env("RKMM_FUZZ_CHILDREN", 15), i;
	bool faults = env("RKMM_FUZZ_FAULTS", 0);
	struct drm_rkmm_device_info before, now;
	pid_t pid[TOGETHER] = { 0 };
	long long refs = module_refs();
	struct rnd r;
	int fd, j;

	fd = rk_open();
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, rk_device(fd, &before));
	close(fd);
	/* orphans of killed processes come here */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	rnd_seed(&r, seed);
	for (i = 0; i < children + TOGETHER; i++) {
		pid_t *p = &pid[i % TOGETHER];

		if (*p) {
			if (rnd_below(&r, 2))
				kill(-*p, SIGUSR1);
			msleep(rnd_below(&r, 600));
			if (rnd_below(&r, 4))
				kill(-*p, SIGKILL);
			else	/* the main thread's end, with what that closes first */
				kill(*p, SIGKILL);
			kill(-*p, SIGKILL);
			reap(*p);
			*p = 0;
		}
		if (i < children) {
			*p = fork();
			ASSERT_LE(0, *p);
			if (!*p)
				child_main(seed * 1000 + i);
			setpgid(*p, *p);
		}
		if (faults)
			soft_fault(rnd_below(&r, 2) ? "*.never_start=2" : "*.stall=1:2");
	}
	if (faults)
		soft_fault("*.never_start=0,*.stall=0");

	/* the next client finds everything as it should be */
	if (refs >= 0) {
		EXPECT_EQ(refs, module_refs_settle(refs));
	}
	fd = rk_open();
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, rk_device(fd, &now));
	TH_LOG("seed %lu: %llu jobs, %llu resets", seed, now.jobs - before.jobs,
	       now.resets - before.resets);
	for (j = 0; j < 5; j++) {
		struct mm mm = {
			.types = j, .m = 7, .k = 161, .n = 67, .mult = j == DRM_RKMM_I8I8,
		};

		ASSERT_EQ(0, mm_init(&mm, fd, seed));
		EXPECT_EQ(0, mm_run(&mm)) {
			TH_LOG("%s", mm.msg);
		}
		mm_free(&mm);
	}
	close(fd);
}

RKMM_TEST_MAIN
