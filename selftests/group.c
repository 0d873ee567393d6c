// SPDX-License-Identifier: GPL-2.0
/* Operations that run more than once, and operations that run together. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "rkmm_test.h"

#define CASE_TIMEOUT	240
#define MAX_SETS	8

/* Buffers of A, B and C that several operations share, and what is in them */
struct room {
	struct buf buf[3];
	uint64_t used[3];
	uint8_t *before;	/* C as it was */
	uint8_t *mine;		/* bytes of C that an operation may write */
	struct rnd rnd;
};

/* An operation with its numbers: small integers, exact in every type */
struct set {
	struct drm_rkmm_plan_create plan;
	struct drm_rkmm_op op;
	int8_t *a, *b;		/* by operation, or one for all where the stride is zero */
};

static uint64_t align64(uint64_t v)
{
	return (v + 63) & ~63ull;
}

static uint32_t times(const struct set *s)
{
	return s->op.count ?: 1;
}

static int room_init(struct room *r, int fd, uint64_t size, uint64_t seed)
{
	uint64_t i;
	int k, ret = 0;

	memset(r, 0, sizeof(*r));
	rnd_seed(&r->rnd, seed);
	for (k = 0; k < 3 && !ret; k++)
		ret = buf_create(fd, size, &r->buf[k]);
	if (ret)
		return ret;
	r->before = malloc(r->buf[2].size);
	r->mine = calloc(1, r->buf[2].size);
	for (i = 0; i < r->buf[2].size; i++)
		r->before[i] = rnd_next(&r->rnd) >> 56;
	memcpy(r->buf[2].map, r->before, r->buf[2].size);
	return buf_end_write(&r->buf[2]);
}

static void room_free(struct room *r)
{
	int k;

	for (k = 0; k < 3; k++)
		buf_free(&r->buf[k]);
	free(r->before);
	free(r->mine);
}

static void put(const struct drm_rkmm_tensor *t, uint8_t *base, uint32_t row, uint32_t col, int v)
{
	uint64_t bit = element_bit(t, row, col);
	uint8_t *p = base + bit / 8;
	uint16_t h;

	if (t->bits == 4) {
		*p = bit % 8 ? (*p & 0x0f) | (v & 15) << 4 : (*p & 0xf0) | (v & 15);
	} else if (t->bits == 8) {
		*p = v;
	} else {
		h = float_to_half(v);
		memcpy(p, &h, 2);
	}
}

static int plan_for(int fd, struct set *s, uint32_t types, uint32_t m, uint32_t k, uint32_t n,
		    uint32_t a_pitch, uint32_t c_pitch)
{
	s->plan = (struct drm_rkmm_plan_create){
		.types = types, .m = m, .k = k, .n = n, .a_pitch = a_pitch, .c_pitch = c_pitch,
		.mult = types == DRM_RKMM_I8I8 ? 1 : 0,
	};
	s->op.plan = 0;
	return xioctl(fd, DRM_IOCTL_RKMM_PLAN_CREATE, &s->plan);
}

/*
 * Places @s in the room, behind what is there, and fills A and B. Strides that are
 * not set yet put the operands one behind the other; UINT64_MAX: all have the same.
 */
static void place(struct room *r, struct set *s)
{
	struct drm_rkmm_operand *o[] = { &s->op.a, &s->op.b, &s->op.c };
	__u64 *stride[] = { &s->op.a_stride, &s->op.b_stride, &s->op.c_stride };
	const struct drm_rkmm_tensor *t[] = { &s->plan.a, &s->plan.b, &s->plan.c };
	uint32_t i, j, c, n = times(s), of[2];
	int k;

	s->op.plan = s->plan.plan;
	for (k = 0; k < 3; k++) {
		*stride[k] = *stride[k] == UINT64_MAX ? 0 :
			     *stride[k] ? *stride[k] : align64(t[k]->size);
		o[k]->handle = r->buf[k].handle;
		o[k]->offset = r->used[k] + 64 * rnd_below(&r->rnd, 3);
		r->used[k] = align64(o[k]->offset + (n - 1) * *stride[k] + t[k]->size);
	}
	of[0] = s->op.a_stride ? n : 1;
	of[1] = s->op.b_stride ? n : 1;
	s->a = malloc((size_t)of[0] * s->plan.m * s->plan.k);
	s->b = malloc((size_t)of[1] * s->plan.k * s->plan.n);
	for (c = 0; c < of[0]; c++)
		for (i = 0; i < s->plan.m; i++)
			for (j = 0; j < s->plan.k; j++) {
				int8_t *v = &s->a[((size_t)c * s->plan.m + i) * s->plan.k + j];

				*v = (int)rnd_below(&r->rnd, 7) - 3;
				put(t[0], r->buf[0].map + o[0]->offset + c * *stride[0], i, j, *v);
			}
	for (c = 0; c < of[1]; c++)
		for (i = 0; i < s->plan.k; i++)
			for (j = 0; j < s->plan.n; j++) {
				int8_t *v = &s->b[((size_t)c * s->plan.k + i) * s->plan.n + j];

				*v = (int)rnd_below(&r->rnd, 7) - 3;
				put(t[1], r->buf[1].map + o[1]->offset + c * *stride[1], i, j, *v);
			}
}

static double result(const struct set *s, const uint8_t *p)
{
	int32_t i32;
	int16_t i16;
	float f;

	switch (s->plan.types) {
	case DRM_RKMM_I8I32:
		memcpy(&i32, p, 4);
		return i32;
	case DRM_RKMM_I8I8:
		return (int8_t)*p;
	case DRM_RKMM_F16F32:
		memcpy(&f, p, 4);
		return f;
	case DRM_RKMM_F16F16:
		memcpy(&i16, p, 2);
		return half_to_float(i16);
	default:
		memcpy(&i16, p, 2);
		return i16;
	}
}

static double expected(const struct set *s, uint32_t c, uint32_t row, uint32_t col)
{
	const int8_t *a = s->a, *b = s->b;
	int sum = 0;
	uint32_t k;

	if (s->op.a_stride)
		a += (size_t)c * s->plan.m * s->plan.k;
	if (s->op.b_stride)
		b += (size_t)c * s->plan.k * s->plan.n;
	for (k = 0; k < s->plan.k; k++)
		sum += a[(size_t)row * s->plan.k + k] * b[(size_t)k * s->plan.n + col];
	if (s->plan.types == DRM_RKMM_I8I8)
		sum = sum > 127 ? 127 : sum < -128 ? -128 : sum;
	return sum;
}

/* Faults in the results of @s; notes the bytes that it may have written. */
static uint32_t wrong(struct room *r, const struct set *s)
{
	const struct drm_rkmm_tensor *t = &s->plan.c;
	uint32_t rows = s->op.rows ?: s->plan.m, line = t->cols * t->bits / 8, faults = 0, c, i, j;
	uint64_t b;

	for (c = 0; c < times(s); c++) {
		uint64_t at = s->op.c.offset + c * s->op.c_stride;

		for (i = 0; i < rows; i++)
			for (j = 0; j < s->plan.n; j++)
				faults += result(s, r->buf[2].map + at + element_bit(t, i, j) / 8) !=
					  expected(s, c, i, j);
		for (b = 0; b < t->size; b++)
			if (t->layout != DRM_RKMM_LAYOUT_ROWS || b % t->pitch < line)
				r->mine[at + b] = 1;
	}
	return faults;
}

/* Runs the operations of all sets in one submission; faults, or a negative errno. */
static int run(int fd, struct room *r, struct set *sets, uint32_t n)
{
	struct drm_rkmm_op ops[MAX_SETS];
	struct drm_rkmm_submit s;
	uint32_t faults = 0, i;
	uint64_t b;
	int ret;

	for (i = 0; i < n; i++)
		ops[i] = sets[i].op;
	memcpy(r->buf[2].map, r->before, r->buf[2].size);
	ret = buf_end_write(&r->buf[0]) ?: buf_end_write(&r->buf[1]) ?: buf_end_write(&r->buf[2]);
	if (ret)
		return ret;
	submit_init(&s, ops, n);
	ret = rk_submit(fd, &s) ?: rk_result(fd, s.seqno) ?: buf_begin_read(&r->buf[2]);
	if (ret)
		return ret;
	for (i = 0; i < n; i++)
		faults += wrong(r, &sets[i]);
	for (b = 0; b < r->buf[2].size; b++)
		faults += !r->mine[b] && r->buf[2].map[b] != r->before[b];
	return faults;
}

static void sets_free(struct set *sets, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		free(sets[i].a);
		free(sets[i].b);
	}
}

static uint64_t emitted(int fd)
{
	struct drm_rkmm_client_info info = { 0 };

	rk_client(fd, &info);
	return info.programs_emitted;
}

FIXTURE(group) {
	int fd;
	struct room room;
	struct set sets[MAX_SETS];
};

FIXTURE_SETUP(group)
{
	memset(self->sets, 0, sizeof(self->sets));
	self->fd = rk_open();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, room_init(&self->room, self->fd, 2 << 20, 77));
}

FIXTURE_TEARDOWN(group)
{
	sets_free(self->sets, MAX_SETS);
	room_free(&self->room);
	close(self->fd);
}

/* Rows of Q hold all heads side by side, and so do the rows of the scores. */
TEST_F_TIMEOUT(group, heads, CASE_TIMEOUT)
{
	static const uint32_t types[] = { DRM_RKMM_I8I32, DRM_RKMM_F16F32, DRM_RKMM_F16F16 };
	enum { HEADS = 6, D = 64, T = 48 };
	uint32_t i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		struct set *s = &self->sets[i];
		uint32_t in = types[i] == DRM_RKMM_I8I32 ? 1 : 2;
		uint32_t out = types[i] == DRM_RKMM_F16F16 ? 2 : 4, width = align64(T * out);

		/* T = 48 is padded to 64 for int8: a head's place holds the padded row */
		width = in == 1 ? 64 * out : width;
		ASSERT_EQ(0, plan_for(self->fd, s, types[i], 9, D, T, HEADS * D * in,
				      HEADS * width));
		s->op.count = HEADS;
		s->op.a_stride = D * in;
		s->op.c_stride = width;
		place(&self->room, s);
		EXPECT_EQ(0, run(self->fd, &self->room, s, 1));
		s->op.rows = 4;
		EXPECT_EQ(0, run(self->fd, &self->room, s, 1));
		/* one less of the pitch: heads would overlap */
		s->op.count = HEADS + 1;
		EXPECT_EQ(-EINVAL, run(self->fd, &self->room, s, 1));
		s->op.count = HEADS;
		s->op.c_stride = width - 64;
		EXPECT_EQ(-EINVAL, run(self->fd, &self->room, s, 1));
		s->op.c_stride = width;
	}
}

/* One A with many B, one B with many A, for all types */
TEST_F_TIMEOUT(group, shared, CASE_TIMEOUT)
{
	uint32_t types;

	for (types = 0; types < 5; types++) {
		struct set *s = &self->sets[types];

		ASSERT_EQ(0, plan_for(self->fd, s, types, 1 + types, 96, 70, 0, 0));
		s->op.count = 11;
		*(types & 1 ? &s->op.a_stride : &s->op.b_stride) = UINT64_MAX;
		place(&self->room, s);
		EXPECT_EQ(0, run(self->fd, &self->room, s, 1)) {
			TH_LOG("%s", types_name(types));
		}
	}
}

/* Different plans, types and rows together, then what reads their results */
TEST_F_TIMEOUT(group, plans, CASE_TIMEOUT)
{
	static const uint32_t m[] = { 1, 40, 7, 3, 20 };
	struct set *s = self->sets;
	uint64_t before;
	uint32_t i;

	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, plan_for(self->fd, &s[i], i, m[i], 64 + 32 * i, 33 + 20 * i, 0, 0));
		s[i].op.count = i == 1 ? 0 : 1 + i;
		s[i].op.rows = i == 4 ? 13 : 0;
		s[i].op.flags = i ? DRM_RKMM_OP_GROUPED : 0;
		place(&self->room, &s[i]);
	}
	EXPECT_EQ(0, run(self->fd, &self->room, s, 5));
	/* warm: nothing is synthesised again */
	before = emitted(self->fd);
	EXPECT_EQ(0, run(self->fd, &self->room, s, 5));
	EXPECT_EQ(before, emitted(self->fd));
	/* what leaves each other alone is a group without being asked to */
	s[2].op.flags = 0;
	EXPECT_EQ(0, run(self->fd, &self->room, s, 5));
	EXPECT_EQ(before, emitted(self->fd));
	/* with other rows it is another one */
	s[3].op.rows = 2;
	EXPECT_EQ(0, run(self->fd, &self->room, s, 5));
	EXPECT_LT(before, emitted(self->fd));
	before = emitted(self->fd);
	EXPECT_EQ(0, run(self->fd, &self->room, s, 5));
	EXPECT_EQ(before, emitted(self->fd));
}

/* An operation after a group sees what the group wrote. */
TEST_F(group, order)
{
	struct set *s = self->sets;
	struct drm_rkmm_op ops[2];
	struct drm_rkmm_submit sub;
	uint32_t i, j, k;

	/* int8 -> int8: C of the first is A of the second */
	ASSERT_EQ(0, plan_for(self->fd, &s[0], DRM_RKMM_I8I8, 2, 512, 512, 0, 0));
	ASSERT_EQ(0, plan_for(self->fd, &s[1], DRM_RKMM_I8I32, 2, 512, 32, 0, 0));
	s[0].op.count = 2;
	s[1].op.count = 2;
	place(&self->room, &s[0]);
	place(&self->room, &s[1]);
	ops[0] = s[0].op;
	ops[1] = s[1].op;
	ops[1].a = ops[0].c;
	ops[1].a_stride = ops[0].c_stride;
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, buf_end_write(&self->room.buf[i]));
	submit_init(&sub, ops, 2);
	ASSERT_EQ(0, rk_submit(self->fd, &sub));
	ASSERT_EQ(0, rk_result(self->fd, sub.seqno));
	ASSERT_EQ(0, buf_begin_read(&self->room.buf[2]));
	for (i = 0; i < 4; i++) {
		const uint8_t *c = self->room.buf[2].map + s[1].op.c.offset +
				   i / 2 * s[1].op.c_stride;
		double sum = 0;

		for (k = 0; k < 512; k++)
			sum += expected(&s[0], i / 2, i % 2, k) *
			       s[1].b[((size_t)(i / 2) * 512 + k) * 32 + 5];
		EXPECT_EQ(sum, result(&s[1], c + element_bit(&s[1].plan.c, i % 2, 5) / 8));
	}
	/* the two together: each would read what the other writes */
	ops[1].flags = DRM_RKMM_OP_GROUPED;
	for (j = 0; j < 2; j++) {
		EXPECT_EQ(-EINVAL, rk_submit(self->fd, &sub));
		ops[1].a = s[1].op.a;
		ops[1].b = ops[0].c;
	}
	ops[1].b = s[1].op.b;
	EXPECT_EQ(0, rk_submit(self->fd, &sub));
	EXPECT_EQ(0, rk_result(self->fd, sub.seqno));
}

#define REFUSED(change)							\
do {									\
	struct drm_rkmm_op ops[2] = { self->sets[0].op, self->sets[1].op }; \
	struct drm_rkmm_submit sub;					\
									\
	change;								\
	submit_init(&sub, ops, 2);					\
	EXPECT_EQ(-EINVAL, rk_submit(self->fd, &sub)) {			\
		TH_LOG(#change);					\
	}								\
} while (0)

TEST_F(group, refusals)
{
	struct set *s = self->sets;
	uint32_t i;

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, plan_for(self->fd, &s[i], DRM_RKMM_I8I32, 3, 64, 32, 0, 0));
		s[i].op.count = 4;
		s[i].op.flags = i ? DRM_RKMM_OP_GROUPED : 0;
		place(&self->room, &s[i]);
	}
	ASSERT_EQ(0, run(self->fd, &self->room, s, 2));
	REFUSED(ops[0].flags = DRM_RKMM_OP_GROUPED);
	REFUSED(ops[1].flags |= 2);
	REFUSED(ops[1].flags |= 0x80000000);
	REFUSED(ops[0].a_stride += 1);
	REFUSED(ops[0].b_stride += 16);
	REFUSED(ops[0].c_stride += 32);
	REFUSED(ops[0].c_stride -= 64);
	REFUSED(ops[0].c_stride = 0);
	/* past the buffer, and past everything */
	REFUSED(ops[0].a_stride = 1 << 20);
	REFUSED(ops[0].b_stride = 1ull << 62);
	REFUSED(ops[0].c_stride = 1ull << 63);
	REFUSED(ops[0].c_stride = -64ull);
	REFUSED(ops[0].a_stride = -64ull);
	REFUSED(ops[1].count = UINT32_MAX);
	REFUSED(ops[1].count = DRM_RKMM_MAX_MEMBERS + 1);
	REFUSED(ops[1].count = DRM_RKMM_MAX_MEMBERS - 3; ops[1].a_stride = 0);
	/* two that write one place: first, last, in between */
	REFUSED(ops[1].c.offset = ops[0].c.offset);
	REFUSED(ops[1].c.offset = ops[0].c.offset + ops[0].c_stride);
	REFUSED(ops[1].c.offset = ops[0].c.offset + 3 * ops[0].c_stride);
	/* read what the other writes */
	REFUSED(ops[1].a = ops[0].c);
	REFUSED(ops[1].b = ops[0].c);
	REFUSED(ops[0].a = ops[1].c);
	REFUSED(ops[0].b = ops[1].c; ops[0].b.offset += 64);
	REFUSED(ops[1].c = ops[1].a);
	EXPECT_EQ(0, run(self->fd, &self->room, s, 2));
	/* between the operations of another */
	s[0].op.c_stride *= 2;
	s[1].op.c_stride = s[0].op.c_stride;
	s[1].op.c.offset = s[0].op.c.offset + s[0].op.c_stride / 2;
	EXPECT_EQ(0, run(self->fd, &self->room, s, 2));
	REFUSED(ops[1].c.offset += 64);
	REFUSED(ops[1].c_stride -= 64);
}

/* More programs than one image holds */
TEST_F(group, too_many)
{
	struct set *s = self->sets;
	struct drm_rkmm_submit sub;
	struct drm_rkmm_op op;

	/* int4: one program a row */
	ASSERT_EQ(0, plan_for(self->fd, s, DRM_RKMM_I4I16, 1, 64, 64, 0, 0));
	s->op.count = 2;
	place(&self->room, s);
	ASSERT_EQ(0, run(self->fd, &self->room, s, 1));
	ASSERT_EQ(0, plan_for(self->fd, s, DRM_RKMM_I4I16, 6, 10752, 64, 0, 0));
	op = s->op;
	op.plan = s->plan.plan;
	op.count = DRM_RKMM_MAX_MEMBERS;
	op.a_stride = 0;
	op.b_stride = 0;
	op.c_stride = align64(s->plan.c.size);
	submit_init(&sub, &op, 1);
	/* C has no room */
	EXPECT_EQ(-EINVAL, rk_submit(self->fd, &sub));
	if (s->plan.programs * 896ull * op.count > 64 << 20) {
		struct buf c;

		ASSERT_EQ(0, buf_create(self->fd, op.count * op.c_stride, &c));
		op.c = (struct drm_rkmm_operand){ .handle = c.handle };
		EXPECT_EQ(-EOPNOTSUPP, rk_submit(self->fd, &sub));
		buf_free(&c);
	}
}

/* Many products of one row, which few chains hold */
TEST_F_TIMEOUT(group, tiny, CASE_TIMEOUT)
{
	struct set *s = self->sets;
	uint64_t before;

	ASSERT_EQ(0, plan_for(self->fd, s, DRM_RKMM_I8I32, 1, 128, 64, 0, 0));
	s->op.count = 64;
	place(&self->room, s);
	before = emitted(self->fd);
	EXPECT_EQ(0, run(self->fd, &self->room, s, 1));
	EXPECT_EQ(64 * s->plan.programs, emitted(self->fd) - before);
	s->op.count = 63;
	EXPECT_EQ(0, run(self->fd, &self->room, s, 1));
}

/* A process that dies with a group in flight: the next client finds an NPU that works. */
TEST_F_TIMEOUT(group, killed, CASE_TIMEOUT)
{
	struct set *s = self->sets;
	uint32_t i;
	pid_t pid;

	ASSERT_EQ(0, plan_for(self->fd, s, DRM_RKMM_F16F32, 5, 96, 40, 0, 0));
	s->op.count = 20;
	place(&self->room, s);
	for (i = 0; i < 4; i++) {
		int status;

		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			struct set other = { .op.count = 60 };
			int fd = rk_open();
			struct room room;
			uint32_t n = 0;

			if (fd < 0 || room_init(&room, fd, 2 << 20, i) ||
			    plan_for(fd, &other, DRM_RKMM_I8I32, 16, 320, 96, 0, 0))
				_exit(1);
			place(&room, &other);
			for (;;) {
				struct drm_rkmm_submit sub;

				submit_init(&sub, &other.op, 1);
				if (rk_submit(fd, &sub) ||
				    (++n % 8 == 0 && rk_result(fd, sub.seqno)))
					_exit(2);
			}
		}
		msleep(100 + 50 * i);
		EXPECT_EQ(0, kill(pid, SIGKILL));
		EXPECT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_TRUE(WIFSIGNALED(status));
		EXPECT_EQ(0, run(self->fd, &self->room, s, 1));
	}
}

RKMM_TEST_MAIN
