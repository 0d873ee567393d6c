// SPDX-License-Identifier: GPL-2.0
/* Sequences of librkmm-compute on the NPU: one ioctl each, against double precision. */
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "selftests/lib/ball.h"
#include "selftests/rkmm_test.h"
#include "lib/rkmm_seq.h"

#define CASE_TIMEOUT	300

/* Every ioctl of the libraries comes through here. */
static unsigned int ioctls, submits, waits;

int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	ioctls++;
	submits += request == DRM_IOCTL_RKMM_SUBMIT;
	waits += request == DRM_IOCTL_RKMM_WAIT;
	return (int)syscall(SYS_ioctl, fd, request, arg);
}

static struct rnd rnd = { 3 };

/* Random fp16 numbers in [-@size, @size), and the same as balls */
static float *numbers(size_t count, double size, struct ball **balls)
{
	float *v = calloc(count, sizeof(*v));
	size_t i;

	*balls = calloc(count, sizeof(**balls));
	for (i = 0; i < count; i++) {
		v[i] = half_to_float(float_to_half((float)(size * ((int)rnd_below(&rnd, 1 << 16) -
								   (1 << 15)) / (1 << 15))));
		(*balls)[i].v = v[i];
	}
	return v;
}

/* Largest part of the bounds that is used; above 1, or NaN, is wrong. */
static double compare(const float *have, size_t ld, const struct ball *want, uint32_t m, uint32_t n)
{
	double used, most = 0;
	uint32_t i, j;

	for (i = 0; i < m; i++) {
		for (j = 0; j < n; j++) {
			const struct ball *w = &want[(size_t)i * n + j];

			used = fabs(have[i * ld + j] - w->v) / w->e;
			if (!(used <= 1))
				return isnan(used) ? INFINITY : used;
			most = fmax(most, used);
		}
	}
	return most;
}

FIXTURE(seq)
{
	struct rkmm_device *dev;
};

FIXTURE_SETUP(seq)
{
	if (rkmm_open(NULL, &self->dev))
		SKIP(return, "no rkmm device");
}

FIXTURE_TEARDOWN(seq)
{
	struct drm_rkmm_client_info info;

	EXPECT_EQ(0, rkmm_client_info(self->dev, &info));
	EXPECT_EQ(0, info.guilty);
	rkmm_close(self->dev);
}

static bool derived_off(struct rkmm_device *dev)
{
	const struct rkmm_op_desc soft = { .kind = DRM_RKMM_OP_SOFTMAX, .m = 1, .n = 1 };
	struct rkmm_plan *plan = NULL;
	int ret = rkmm_plan_create_op(dev, &soft, &plan);

	rkmm_plan_destroy(plan);
	return ret == -EOPNOTSUPP;
}

/* One head's want from its balls */
static struct ball *attend(const struct rkmm_attention_desc *d, uint32_t h, const struct ball *q,
			   const struct ball *k, const struct ball *v, const double *mask)
{
	uint32_t g = h / (d->heads / d->kv_heads), i, j;
	struct ball *s = calloc(d->t, sizeof(*s)), *out = calloc(d->m * d->dv, sizeof(*out));

	for (i = 0; i < d->m; i++) {
		const struct ball *row = q + ((size_t)i * d->heads + h) * d->d;
		uint32_t n = d->flags & DRM_RKMM_CAUSAL ? i + d->t - d->m + 1 : d->t;

		for (j = 0; j < d->t; j++)
			s[j] = ball_round(ball_dot(row, k + ((size_t)j * d->kv_heads + g) * d->d,
						   d->d, 1));
		ball_softmax(s, mask ? mask + (size_t)i * d->t : NULL, d->t, n, d->scale);
		for (j = 0; j < d->dv; j++)
			out[i * d->dv + j] = ball_round(ball_dot(s, v + g * d->dv + j, d->t,
								 d->kv_heads * d->dv));
	}
	free(s);
	return out;
}

TEST_F_TIMEOUT(seq, attention, CASE_TIMEOUT)
{
	static const struct rkmm_attention_desc shapes[] = {
		{ .m = 1, .t = 1, .d = 8, .dv = 8, .heads = 1, .kv_heads = 1 },
		{ .m = 1, .t = 45, .d = 64, .dv = 64, .heads = 4, .kv_heads = 2 },
		{ .m = 5, .t = 17, .d = 13, .dv = 9, .heads = 7, .kv_heads = 7 },
		{ .m = 33, .t = 33, .d = 80, .dv = 80, .heads = 3, .kv_heads = 1,
		  .flags = DRM_RKMM_CAUSAL },
		{ .m = 6, .t = 70, .d = 24, .dv = 40, .heads = 2, .kv_heads = 1,
		  .flags = DRM_RKMM_CAUSAL | DRM_RKMM_MASK },
		{ .m = 70, .t = 100, .d = 32, .dv = 1, .heads = 5, .kv_heads = 5,
		  .flags = DRM_RKMM_MASK },
	};
	uint32_t i, j, h;

	if (derived_off(self->dev))
		SKIP(return, "softmax is derived, on silicon");
	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct rkmm_attention_desc d = shapes[i];
		size_t nq = (size_t)d.m * d.heads * d.d, nk = (size_t)d.t * d.kv_heads * d.d;
		size_t nv = (size_t)d.t * d.kv_heads * d.dv, no = (size_t)d.m * d.heads * d.dv;
		struct ball *bq, *bk, *bv, *want, *bm;
		float *q = numbers(nq, 2, &bq), *k = numbers(nk, 2, &bk), *v = numbers(nv, 2, &bv);
		float *mask = numbers((size_t)d.m * d.t, 3, &bm), *out = calloc(no, sizeof(*out));
		double *md = calloc((size_t)d.m * d.t, sizeof(*md)), used = 0;
		struct rkmm_attention *att;

		d.scale = (float)(1 / sqrt(d.d));
		for (j = 0; j < d.m * d.t; j++) {
			/* the first column stays, so that no row is all hidden */
			if (j % d.t && rnd_below(&rnd, 5) == 0)
				mask[j] = -INFINITY;
			md[j] = mask[j];
		}
		/* What a causal row does not see has no weight at all, however large it is. */
		for (j = d.t > 1 && d.m == d.t ? nv - d.kv_heads * d.dv : nv; j < nv; j++)
			bv[j].v = v[j] = j % 2 ? 40000 : -40000;
		ASSERT_EQ(0, rkmm_attention_create(self->dev, &d, &att))
			TH_LOG("%s", rkmm_attention_error(NULL));
		submits = 0;
		waits = 0;
		ASSERT_EQ(0, rkmm_attention_run(att,
				&(struct rkmm_heads){ q, d.heads * d.d, d.d },
				&(struct rkmm_heads){ k, d.kv_heads * d.d, d.d },
				&(struct rkmm_heads){ v, d.kv_heads * d.dv, d.dv },
				d.flags & DRM_RKMM_MASK ? mask : NULL, d.t,
				&(struct rkmm_heads){ out, d.heads * d.dv, d.dv }, RKMM_SEQ_F32))
			TH_LOG("%s", rkmm_attention_error(att));
		EXPECT_EQ(1, submits);
		EXPECT_EQ(0, waits);
		for (h = 0; h < d.heads; h++) {
			want = attend(&d, h, bq, bk, bv, d.flags & DRM_RKMM_MASK ? md : NULL);
			used = fmax(used, compare(out + h * d.dv, d.heads * d.dv, want, d.m, d.dv));
			free(want);
		}
		TH_LOG("M %u T %u D %u, %u heads: %.2f of the bound", d.m, d.t, d.d, d.heads, used);
		EXPECT_LE(used, 1);
		rkmm_attention_destroy(att);
		free(q);
		free(k);
		free(v);
		free(mask);
		free(out);
		free(md);
		free(bq);
		free(bk);
		free(bv);
		free(bm);
	}
}

static double silu(double x)
{
	return x / (1 + exp(-x));
}

TEST_F_TIMEOUT(seq, gated_mlp, CASE_TIMEOUT)
{
	static const uint32_t shapes[][4] = { { 1, 1, 1, 1 }, { 7, 33, 70, 19 }, { 65, 48, 96, 64 } };
	uint32_t i, j;

	if (derived_off(self->dev))
		SKIP(return, "silu is derived, on silicon");
	for (i = 0; i < 3; i++) {
		const uint32_t m = shapes[i][0], k = shapes[i][1], h = shapes[i][2], n = shapes[i][3];
		struct ball *bx, *bg, *bu, *bd, *g, *u, *want;
		float *x = numbers(m * k, 2, &bx), *gate = numbers(k * h, 1, &bg);
		float *up = numbers(k * h, 1, &bu), *down = numbers(h * n, 1, &bd);
		float *out = calloc(m * n, sizeof(*out));
		int tx, tg, tu, td, y;
		struct rkmm_seq *seq;
		double used;

		ASSERT_EQ(0, rkmm_seq_create(self->dev, &seq));
		tx = rkmm_seq_input(seq, DRM_RKMM_F16, m, k);
		tg = rkmm_seq_input_b(seq, DRM_RKMM_F16, k, h);
		tu = rkmm_seq_input_b(seq, DRM_RKMM_F16, k, h);
		td = rkmm_seq_input_b(seq, DRM_RKMM_F16, h, n);
		y = rkmm_seq_gated_mlp(seq, tx, tg, tu, td);
		rkmm_seq_output(seq, y);
		ASSERT_EQ(0, rkmm_seq_build(seq)) TH_LOG("%s", rkmm_seq_error(seq));
		ASSERT_EQ(0, rkmm_seq_write(seq, tx, x, k, RKMM_SEQ_F32));
		ASSERT_EQ(0, rkmm_seq_write(seq, tg, gate, h, RKMM_SEQ_F32));
		ASSERT_EQ(0, rkmm_seq_write(seq, tu, up, h, RKMM_SEQ_F32));
		ASSERT_EQ(0, rkmm_seq_write(seq, td, down, n, RKMM_SEQ_F32));
		ioctls = 0;
		ASSERT_EQ(0, rkmm_seq_run(seq)) TH_LOG("%s", rkmm_seq_error(seq));
		EXPECT_EQ(1, ioctls);
		ASSERT_EQ(0, rkmm_seq_read(seq, y, out, n, RKMM_SEQ_F32));
		g = ball_matmul(bx, bg, m, k, h);
		u = ball_matmul(bx, bu, m, k, h);
		for (j = 0; j < m * h; j++) {
			g[j] = ball_curve(g[j], silu(g[j].v), fmax(1, fabs(g[j].v)));
			g[j] = ball_round(ball_mul(g[j], u[j]));
		}
		want = ball_matmul(g, bd, m, h, n);
		used = compare(out, n, want, m, n);
		TH_LOG("%u x %u x %u x %u: %.2f of the bound", m, k, h, n, used);
		EXPECT_LE(used, 1);
		rkmm_seq_destroy(seq);
		free(x);
		free(gate);
		free(up);
		free(down);
		free(out);
		free(bx);
		free(bg);
		free(bu);
		free(bd);
		free(g);
		free(u);
		free(want);
	}
}

static double curve(uint32_t kind, double x)
{
	switch (kind) {
	case DRM_RKMM_OP_RELU:
		return fmax(x, 0);
	case DRM_RKMM_OP_SIGMOID:
		return 1 / (1 + exp(-x));
	case DRM_RKMM_OP_TANH:
		return tanh(x);
	case DRM_RKMM_OP_GELU:
		return x * 0.5 * erfc(-x * M_SQRT1_2);
	default:
		return silu(x);
	}
}

/* Two layers, the second with weights that are resident; then the residual and a norm */
TEST_F_TIMEOUT(seq, layers, CASE_TIMEOUT)
{
	static const uint32_t kinds[] = {
		DRM_RKMM_OP_RELU, DRM_RKMM_OP_SIGMOID, DRM_RKMM_OP_TANH, DRM_RKMM_OP_GELU,
	};
	static const uint32_t shapes[][3] = { { 1, 1, 1 }, { 9, 20, 41 }, { 3, 70, 8 }, { 67, 32, 33 } };
	uint32_t i, j;

	if (derived_off(self->dev))
		SKIP(return, "curves are derived, on silicon");
	for (i = 0; i < 4; i++) {
		const uint32_t m = shapes[i][0], k = shapes[i][1], h = shapes[i][2];
		struct ball *bx, *bw, *bb, *bv, *a, *b;
		float *x = numbers(m * k, 2, &bx), *w = numbers(k * h, 1, &bw);
		float *bias = numbers(h, 2, &bb), *v = numbers(h * k, 1, &bv);
		float *out = calloc(m * k, sizeof(*out));
		uint16_t *half = calloc(h * k, sizeof(*half));
		struct rkmm_weights *weights;
		int tx, tw, tb, y;
		struct rkmm_seq *seq;
		double used;

		rkmm_f32_to_f16(v, half, h * k);
		ASSERT_EQ(0, rkmm_weights_create(self->dev, DRM_RKMM_F16F16, h, k, half, k, 0,
						 &weights));
		ASSERT_EQ(0, rkmm_seq_create(self->dev, &seq));
		tx = rkmm_seq_input(seq, DRM_RKMM_F16, m, k);
		tw = rkmm_seq_input_b(seq, DRM_RKMM_F16, k, h);
		tb = rkmm_seq_bias(seq, DRM_RKMM_F16, h);
		y = rkmm_seq_linear(seq, tx, tw, tb, kinds[i]);
		y = rkmm_seq_linear(seq, y, rkmm_seq_weights(seq, weights), 0, 0);
		y = rkmm_seq_binary(seq, DRM_RKMM_OP_ADD, tx, y);
		rkmm_seq_output(seq, y);
		ASSERT_EQ(0, rkmm_seq_build(seq)) TH_LOG("%s", rkmm_seq_error(seq));
		ASSERT_EQ(0, rkmm_seq_write(seq, tx, x, k, RKMM_SEQ_F32));
		ASSERT_EQ(0, rkmm_seq_write(seq, tw, w, h, RKMM_SEQ_F32));
		ASSERT_EQ(0, rkmm_seq_write(seq, tb, bias, h, RKMM_SEQ_F32));
		ioctls = 0;
		ASSERT_EQ(0, rkmm_seq_run(seq)) TH_LOG("%s", rkmm_seq_error(seq));
		EXPECT_EQ(1, ioctls);
		ASSERT_EQ(0, rkmm_seq_read(seq, y, out, k, RKMM_SEQ_F32));
		a = ball_matmul(bx, bw, m, k, h);
		for (j = 0; j < m * h; j++) {
			/* the bias is spread by a matmul with K = 1: exact */
			a[j] = ball_round(ball_add(a[j], bb[j % h]));
			a[j] = ball_curve(a[j], curve(kinds[i], a[j].v),
					  kinds[i] == DRM_RKMM_OP_RELU ? 0 :
					  kinds[i] == DRM_RKMM_OP_TANH ? 2 :
					  fmax(1, fabs(a[j].v)));
		}
		b = ball_matmul(a, bv, m, h, k);
		for (j = 0; j < m * k; j++)
			b[j] = ball_round(ball_add(b[j], bx[j]));
		used = compare(out, k, b, m, k);
		TH_LOG("kind %u, %u x %u x %u: %.2f of the bound", kinds[i], m, k, h, used);
		EXPECT_LE(used, 1);
		rkmm_seq_destroy(seq);
		rkmm_weights_destroy(weights);
		free(x);
		free(w);
		free(bias);
		free(v);
		free(out);
		free(half);
		free(bx);
		free(bw);
		free(bb);
		free(bv);
		free(a);
		free(b);
	}
}

/* Run again and again with other data: nothing of a run is in the way of the next. */
TEST_F_TIMEOUT(seq, again, CASE_TIMEOUT)
{
	const struct rkmm_matmul_desc mm = { .types = DRM_RKMM_F16F16 };
	const uint32_t m = 10, k = 20;
	struct rkmm_seq *seq;
	uint32_t turn, j;
	int tx, tw, y;

	ASSERT_EQ(0, rkmm_seq_create(self->dev, &seq));
	tx = rkmm_seq_input(seq, DRM_RKMM_F16, m, k);
	tw = rkmm_seq_input_b(seq, DRM_RKMM_F16, k, k);
	/* 16 of 32 columns of what the second matmul reads are never written */
	y = rkmm_seq_unary(seq, DRM_RKMM_OP_RELU, rkmm_seq_matmul(seq, &mm, tx, tw));
	y = rkmm_seq_matmul(seq, &mm, y, tw);
	y = rkmm_seq_unary(seq, DRM_RKMM_OP_RELU, y);
	y = rkmm_seq_matmul(seq, &mm, y, tw);
	rkmm_seq_output(seq, y);
	ASSERT_EQ(0, rkmm_seq_build(seq)) TH_LOG("%s", rkmm_seq_error(seq));
	for (turn = 0; turn < 4; turn++) {
		struct ball *bx, *bw, *a, *b;
		float *x = numbers(m * k, 2, &bx), *w = numbers(k * k, 1, &bw);
		float out[200];

		ASSERT_EQ(0, rkmm_seq_write(seq, tx, x, k, RKMM_SEQ_F32));
		ASSERT_EQ(0, rkmm_seq_write(seq, tw, w, k, RKMM_SEQ_F32));
		ASSERT_EQ(0, rkmm_seq_run(seq)) TH_LOG("%s", rkmm_seq_error(seq));
		ASSERT_EQ(0, rkmm_seq_read(seq, y, out, k, RKMM_SEQ_F32));
		a = ball_matmul(bx, bw, m, k, k);
		for (j = 0; j < m * k; j++)
			a[j].v = fmax(a[j].v, 0);
		b = ball_matmul(a, bw, m, k, k);
		free(a);
		for (j = 0; j < m * k; j++)
			b[j].v = fmax(b[j].v, 0);
		a = ball_matmul(b, bw, m, k, k);
		EXPECT_LE(compare(out, k, a, m, k), 1);
		free(x);
		free(w);
		free(bx);
		free(bw);
		free(a);
		free(b);
	}
	rkmm_seq_destroy(seq);
}

/* Another client: products of int8, exact, until it is told to stop; how many, or -1. */
static int traffic(volatile int *stop)
{
	enum { M = 40, K = 100, N = 60 };
	const struct rkmm_matmul_desc desc = { .types = DRM_RKMM_I8I32, .m = M, .k = K, .n = N };
	struct rkmm_device *dev;
	int8_t a[M * K], b[K * N];
	int32_t c[M * N], sum;
	int i, j, k, turns;

	rnd_seed(&rnd, 99);
	if (rkmm_open(NULL, &dev))
		return -1;
	for (turns = 0; !*stop; turns++) {
		stop[2] = turns;
		for (i = 0; i < M * K; i++)
			a[i] = (int8_t)rnd_next(&rnd);
		for (i = 0; i < K * N; i++)
			b[i] = (int8_t)rnd_next(&rnd);
		if (rkmm_matmul(dev, &desc, a, K, b, N, c, N))
			return -1;
		for (i = 0; i < M; i++) {
			for (j = 0; j < N; j++) {
				for (k = 0, sum = 0; k < K; k++)
					sum += a[i * K + k] * b[k * N + j];
				if (sum != c[i * N + j])
					return -1;
			}
		}
	}
	rkmm_close(dev);
	return turns;
}

/* Tables and register groups that others leave behind change no bit. */
TEST_F_TIMEOUT(seq, among_others, CASE_TIMEOUT)
{
	const struct rkmm_attention_desc d = {
		.m = 20, .t = 40, .d = 16, .heads = 3, .flags = DRM_RKMM_CAUSAL,
	};
	struct ball *bq, *bk, *bv;
	float *q = numbers(20 * 48, 2, &bq), *k = numbers(40 * 48, 2, &bk);
	float *v = numbers(40 * 48, 2, &bv), first[20 * 48], out[20 * 48];
	const struct rkmm_heads hq = { q, 48, 16 }, hk = { k, 48, 16 }, hv = { v, 48, 16 };
	struct rkmm_attention *att;
	volatile int *shared;
	int i, status, turns;
	pid_t pid;

	if (derived_off(self->dev))
		SKIP(return, "softmax is derived, on silicon");
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)shared);
	ASSERT_EQ(0, rkmm_attention_create(self->dev, &d, &att));
	ASSERT_EQ(0, rkmm_attention_run(att, &hq, &hk, &hv, NULL, 0,
					&(struct rkmm_heads){ first, 48, 16 }, RKMM_SEQ_F32));
	pid = fork();
	if (!pid) {
		shared[1] = traffic(shared);
		_exit(0);
	}
	/* products end before, between and after the attentions */
	for (i = 0; i < 3000 && !shared[2]; i++)
		msleep(10);
	turns = shared[2];
	EXPECT_LT(0, turns);
	for (i = 0; i < 12 || (i < 1000 && shared[2] < turns + 4); i++) {
		EXPECT_EQ(0, rkmm_attention_run(att, &hq, &hk, &hv, NULL, 0,
						&(struct rkmm_heads){ out, 48, 16 }, RKMM_SEQ_F32))
			TH_LOG("%s", rkmm_attention_error(att));
		EXPECT_EQ(0, memcmp(first, out, sizeof(out)));
	}
	turns = shared[2] - turns;
	shared[0] = 1;
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	TH_LOG("%d attentions among %d products", i, turns);
	EXPECT_LE(4, turns);
	EXPECT_LT(0, shared[1]);
	rkmm_attention_destroy(att);
	munmap((void *)shared, 4096);
	free(q);
	free(k);
	free(v);
	free(bq);
	free(bk);
	free(bv);
}

/* int8 to int8, relu, int8 to int32: exact */
TEST_F_TIMEOUT(seq, integers, CASE_TIMEOUT)
{
	enum { M = 11, K = 70, H = 33, N = 10 };
	const struct rkmm_matmul_desc first = {
		.types = DRM_RKMM_I8I8, .mult = 77, .shift = 16, .offset = -2,
	}, second = { .types = DRM_RKMM_I8I32 };
	int8_t x[M * K], w[K * H], v[H * N], h[M * H];
	int32_t out[M * N];
	struct rkmm_seq *seq;
	int tx, tw, tv, y;
	uint32_t i, j, k;

	for (i = 0; i < M * K; i++)
		x[i] = (int8_t)rnd_next(&rnd);
	for (i = 0; i < K * H; i++)
		w[i] = (int8_t)rnd_next(&rnd);
	for (i = 0; i < H * N; i++)
		v[i] = (int8_t)rnd_next(&rnd);
	ASSERT_EQ(0, rkmm_seq_create(self->dev, &seq));
	tx = rkmm_seq_input(seq, DRM_RKMM_I8, M, K);
	tw = rkmm_seq_input_b(seq, DRM_RKMM_I8, K, H);
	tv = rkmm_seq_input_b(seq, DRM_RKMM_I8, H, N);
	y = rkmm_seq_matmul(seq, &first, tx, tw);
	if (y == -EOPNOTSUPP)
		SKIP(return, "int8 results are derived, on silicon");
	y = rkmm_seq_matmul(seq, &second, rkmm_seq_unary(seq, DRM_RKMM_OP_RELU, y), tv);
	rkmm_seq_output(seq, y);
	ASSERT_EQ(0, rkmm_seq_build(seq)) TH_LOG("%s", rkmm_seq_error(seq));
	ASSERT_EQ(0, rkmm_seq_write(seq, tx, x, K, 0));
	ASSERT_EQ(0, rkmm_seq_write(seq, tw, w, H, 0));
	ASSERT_EQ(0, rkmm_seq_write(seq, tv, v, N, 0));
	ASSERT_EQ(0, rkmm_seq_run(seq)) TH_LOG("%s", rkmm_seq_error(seq));
	ASSERT_EQ(0, rkmm_seq_read(seq, y, out, N, 0));
	for (i = 0; i < M; i++) {
		for (j = 0; j < H; j++) {
			double sum = 0;

			for (k = 0; k < K; k++)
				sum += x[i * K + k] * w[k * H + j];
			/* ties to even, as rint() does */
			sum = rint(sum * first.mult / 65536) + first.offset;
			h[i * H + j] = (int8_t)fmax(0, fmin(127, sum));
		}
		for (j = 0; j < N; j++) {
			int32_t sum = 0;

			for (k = 0; k < H; k++)
				sum += h[i * H + k] * v[k * N + j];
			ASSERT_EQ(sum, out[i * N + j]);
		}
	}
	rkmm_seq_destroy(seq);
}

RKMM_TEST_MAIN
