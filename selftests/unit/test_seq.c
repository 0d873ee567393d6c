// SPDX-License-Identifier: MIT
/* Sequences over the kernel of fake_kernel.c: values and memory. */
#include "seq_world.h"

#define MOST	40	/* matrices of a random sequence */

/* One matrix of a random sequence, and what must be in it */
struct made {
	int tensor;
	uint32_t n;
	float *v;
	bool result;
	bool output;
};

/* Any graph of these: in order of being made each sees what is before it. */
static void random_graph(uint64_t *s)
{
	static const uint32_t unary[] = {
		DRM_RKMM_OP_RELU, DRM_RKMM_OP_TANH, DRM_RKMM_OP_SIGMOID, DRM_RKMM_OP_COPY,
	};
	static const uint32_t binary[] = { DRM_RKMM_OP_ADD, DRM_RKMM_OP_SUB, DRM_RKMM_OP_MAX };
	const struct rkmm_matmul_desc mm = { .types = DRM_RKMM_F16F16 };
	struct rkmm_device *dev = open_dev();
	uint32_t m = 1 + rnd(s) % 9, count, i, j, used = 0;
	struct made all[MOST], weights[MOST];
	struct rkmm_seq_info info;
	struct rkmm_seq *seq;
	unsigned int before;
	bool read[MOST] = { false };

	assert_int_equal(rkmm_seq_create(dev, &seq), 0);
	count = 4 + rnd(s) % (MOST - 4);
	for (i = 0; i < count; i++) {
		struct made *x = &all[i], *a = i ? &all[rnd(s) % i] : NULL, *b = NULL;

		*x = (struct made) { .result = i > 2 };
		if (!x->result) {
			x->n = 1 + rnd(s) % 70;
			x->v = halves(m * x->n, s);
			x->tensor = rkmm_seq_input(seq, DRM_RKMM_F16, m, x->n);
			continue;
		}
		read[a - all] = true;
		for (j = 0; j < i; j++)
			if (all[j].n == a->n && rnd(s) % 3)
				b = &all[j];
		x->n = a->n;
		if (rnd(s) % 3 == 0) {
			struct made *w = &weights[used++];

			x->n = w->n = 1 + rnd(s) % 70;
			w->v = halves((size_t)a->n * x->n, s);
			for (j = 0; j < a->n * x->n; j++)
				w->v[j] = rounded(w->v[j] / 8);
			w->tensor = rkmm_seq_input_b(seq, DRM_RKMM_F16, a->n, x->n);
			x->tensor = rkmm_seq_matmul(seq, &mm, a->tensor, w->tensor);
			x->v = malloc(m * x->n * sizeof(*x->v));
			product(a->v, w->v, x->v, m, a->n, x->n);
		} else if (b) {
			uint32_t kind = binary[rnd(s) % 3];

			read[b - all] = true;
			x->tensor = rkmm_seq_binary(seq, kind, a->tensor, b->tensor);
			x->v = malloc(m * x->n * sizeof(*x->v));
			for (j = 0; j < m * x->n; j++)
				x->v[j] = rounded(fake_op_value(kind, a->v[j], b->v[j]));
		} else {
			uint32_t kind = unary[rnd(s) % 4];

			x->tensor = rkmm_seq_unary(seq, kind, a->tensor);
			x->v = malloc(m * x->n * sizeof(*x->v));
			for (j = 0; j < m * x->n; j++)
				x->v[j] = rounded(fake_op_value(kind, a->v[j], 0));
		}
		assert_true(x->tensor > 0);
	}
	for (i = 0; i < count; i++) {
		if (!all[i].result && !read[i]) {
			/* it must be used: by a copy that is read */
			assert_int_equal(rkmm_seq_output(seq, rkmm_seq_unary(seq,
						DRM_RKMM_OP_COPY, all[i].tensor)), 0);
		} else if (all[i].result && (!read[i] || rnd(s) % 8 == 0)) {
			assert_int_equal(rkmm_seq_output(seq, all[i].tensor), 0);
			all[i].output = true;
		}
	}
	if (rkmm_seq_build(seq))
		fail_msg("%s", rkmm_seq_error(seq));
	assert_int_equal(rkmm_seq_info(seq, &info), 0);
	assert_true(info.shared_bytes <= info.alone_bytes + 64ull * count);
	for (i = 0; i < count; i++)
		if (!all[i].result)
			assert_int_equal(rkmm_seq_write(seq, all[i].tensor, all[i].v, all[i].n,
							RKMM_SEQ_F32), 0);
	/* The weights' rows: columns of what they multiply, which its shape does not tell here. */
	for (i = 0; i < used; i++)
		assert_int_equal(rkmm_seq_write(seq, weights[i].tensor, weights[i].v, weights[i].n,
						RKMM_SEQ_F32), 0);
	/* Twice: nothing of the first run may be in the way. */
	for (j = 0; j < 2; j++) {
		before = fake.ioctls;
		assert_int_equal(rkmm_seq_run(seq), 0);
		assert_int_equal(fake.ioctls - before, 1);
		for (i = 0; i < count; i++) {
			float *have;

			if (!all[i].output)
				continue;
			have = malloc(m * all[i].n * sizeof(*have));
			assert_int_equal(rkmm_seq_read(seq, all[i].tensor, have, all[i].n,
						       RKMM_SEQ_F32), 0);
			same(all[i].v, have, m * all[i].n);
			free(have);
		}
	}
	for (i = 0; i < count; i++)
		free(all[i].v);
	for (i = 0; i < used; i++)
		free(weights[i].v);
	rkmm_seq_destroy(seq);
	rkmm_close(dev);
}

static void test_random(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < 60; i++)
		random_graph(&seed);
}

/* A chain of matmuls of odd widths takes turns in two or three places. */
static void test_memory(void **state)
{
	const struct rkmm_matmul_desc mm = { .types = DRM_RKMM_F16F16 };
	struct rkmm_device *dev = open_dev();
	struct rkmm_seq_info info;
	struct rkmm_seq *seq;
	int x, w, i;

	(void)state;
	assert_int_equal(rkmm_seq_create(dev, &seq), 0);
	x = rkmm_seq_input(seq, DRM_RKMM_F16, 50, 40);
	w = rkmm_seq_input_b(seq, DRM_RKMM_F16, 40, 40);
	for (i = 0; i < 12; i++)
		x = rkmm_seq_matmul(seq, &mm, x, w);
	rkmm_seq_output(seq, x);
	assert_int_equal(rkmm_seq_build(seq), 0);
	assert_int_equal(rkmm_seq_info(seq, &info), 0);
	assert_int_equal(info.ops, 12);
	assert_int_equal(info.plans, 1);
	/* 48 columns are written, 64 read: all have the same zeros behind */
	assert_int_equal(info.temporary_bytes, 0);
	assert_int_equal(info.alone_bytes, 11 * 50 * 64 * 2);
	assert_int_equal(info.shared_bytes, 2 * 50 * 64 * 2);
	rkmm_seq_destroy(seq);
	rkmm_close(dev);
}

static double dot(const float *a, const float *b, uint32_t n)
{
	double sum = 0;
	uint32_t i;

	for (i = 0; i < n; i++)
		sum += (double)a[i] * b[i];
	return sum;
}

/* Heads side by side, keys and values shared by three of them, a mask, fewer rows than keys */
static void attention(uint32_t heads, uint32_t kv, uint32_t m, uint32_t t, uint32_t d, uint32_t dv,
		      uint32_t flags)
{
	const struct rkmm_attention_desc desc = {
		.m = m, .t = t, .d = d, .dv = dv, .heads = heads, .kv_heads = kv, .flags = flags,
	};
	struct rkmm_device *dev = open_dev();
	uint64_t s = m * 31 + t;
	float *q = halves(m * heads * d, &s), *k = halves(t * kv * d, &s);
	float *v = halves(t * kv * dv, &s), *mask = halves(m * t, &s);
	float *out = calloc(m * heads * dv, sizeof(*out));
	double *p = malloc(t * sizeof(*p)), scale = 1 / sqrt(d);
	struct rkmm_attention *att;
	uint32_t h, i, j, c;

	for (i = 0; i < m * t; i++)
		if (i % 7 == 3 && i % t)
			mask[i] = -INFINITY;
	assert_int_equal(rkmm_attention_create(dev, &desc, &att), 0);
	if (rkmm_attention_run(att, &(struct rkmm_heads) { q, heads * d, d },
			       &(struct rkmm_heads) { k, kv * d, d },
			       &(struct rkmm_heads) { v, kv * dv, dv },
			       flags & DRM_RKMM_MASK ? mask : NULL, t,
			       &(struct rkmm_heads) { out, heads * dv, dv }, RKMM_SEQ_F32))
		fail_msg("%s", rkmm_attention_error(att));
	assert_int_equal(fake.submits, 1);
	for (h = 0; h < heads; h++) {
		for (i = 0; i < m; i++) {
			uint32_t g = h / (heads / kv);
			double most = -INFINITY, sum = 0;

			for (j = 0; j < t; j++) {
				p[j] = scale * dot(q + i * heads * d + h * d, k + j * kv * d + g * d, d);
				if (flags & DRM_RKMM_MASK)
					p[j] += mask[i * t + j];
				if (flags & DRM_RKMM_CAUSAL && j > i + t - m)
					p[j] = -INFINITY;
				most = fmax(most, p[j]);
			}
			for (j = 0; j < t; j++)
				sum += p[j] = exp(p[j] - most);
			for (c = 0; c < dv; c++) {
				double want = 0;

				for (j = 0; j < t; j++)
					want += p[j] / sum * v[j * kv * dv + g * dv + c];
				/* three roundings of numbers up to a few units */
				assert_true(fabs(want - out[i * heads * dv + h * dv + c]) < 4e-3);
			}
		}
	}
	rkmm_attention_destroy(att);
	rkmm_close(dev);
	free(q);
	free(k);
	free(v);
	free(mask);
	free(out);
	free(p);
}

static void test_attention(void **state)
{
	setup_cube(state);
	attention(1, 1, 1, 1, 8, 8, 0);
	setup_cube(state);
	attention(6, 2, 5, 33, 13, 9, DRM_RKMM_MASK);
	setup_cube(state);
	attention(2, 2, 17, 17, 40, 64, DRM_RKMM_CAUSAL);
	setup_cube(state);
	attention(3, 1, 2, 70, 16, 7, DRM_RKMM_CAUSAL | DRM_RKMM_MASK);
}

static void test_ready(void **state)
{
	enum { M = 7, K = 20, H = 33, N = 5 };
	struct rkmm_device *dev = open_dev();
	uint64_t s = 3;
	float *x = halves(M * K, &s), *gate = halves(K * H, &s), *up = halves(K * H, &s);
	float *down = halves(H * N, &s), *bias = halves(N, &s), *gamma = halves(N, &s);
	float g[M * H], u[M * H], want[M * N], have[M * N];
	struct rkmm_op_desc rms = { .kind = DRM_RKMM_OP_RMSNORM, .value = 0.5f };
	int tx, tg, tu, td, tb, tv, y, z;
	struct rkmm_weights *w;
	struct rkmm_seq *seq;
	uint16_t wh[H * N];
	uint32_t i, j;

	(void)state;
	rkmm_f32_to_f16(down, wh, H * N);
	assert_int_equal(rkmm_weights_create(dev, DRM_RKMM_F16F16, H, N, wh, N, 0, &w), 0);
	assert_int_equal(rkmm_seq_create(dev, &seq), 0);
	tx = rkmm_seq_input(seq, DRM_RKMM_F16, M, K);
	tg = rkmm_seq_input_b(seq, DRM_RKMM_F16, K, H);
	tu = rkmm_seq_input_b(seq, DRM_RKMM_F16, K, H);
	td = rkmm_seq_weights(seq, w);
	tb = rkmm_seq_bias(seq, DRM_RKMM_F16, N);
	tv = rkmm_seq_vector(seq, DRM_RKMM_F16, N);
	y = rkmm_seq_gated_mlp(seq, tx, tg, tu, td);
	z = rkmm_seq_op(seq, &rms, rkmm_seq_binary(seq, DRM_RKMM_OP_ADD, y, tb), tv, 0);
	rkmm_seq_output(seq, y);
	rkmm_seq_output(seq, z);
	if (rkmm_seq_build(seq))
		fail_msg("%s", rkmm_seq_error(seq));
	assert_int_equal(rkmm_seq_write(seq, tx, x, K, RKMM_SEQ_F32), 0);
	assert_int_equal(rkmm_seq_write(seq, tg, gate, H, RKMM_SEQ_F32), 0);
	assert_int_equal(rkmm_seq_write(seq, tu, up, H, RKMM_SEQ_F32), 0);
	assert_int_equal(rkmm_seq_write(seq, tb, bias, N, RKMM_SEQ_F32), 0);
	assert_int_equal(rkmm_seq_write(seq, tv, gamma, N, RKMM_SEQ_F32), 0);
	assert_int_equal(rkmm_seq_run(seq), 0);
	assert_int_equal(rkmm_seq_read(seq, y, have, N, RKMM_SEQ_F32), 0);

	product(x, gate, g, M, K, H);
	product(x, up, u, M, K, H);
	for (i = 0; i < M * H; i++)
		g[i] = rounded(rounded(fake_op_value(DRM_RKMM_OP_SILU, g[i], 0)) * u[i]);
	product(g, down, want, M, H, N);
	same(want, have, M * N);

	assert_int_equal(rkmm_seq_read(seq, z, have, N, RKMM_SEQ_F32), 0);
	for (i = 0; i < M; i++) {
		double square = 0;

		for (j = 0; j < N; j++) {
			want[i * N + j] = rounded(want[i * N + j] + bias[j]);
			square += (double)want[i * N + j] * want[i * N + j] / N;
		}
		for (j = 0; j < N; j++)
			want[i * N + j] = rounded(want[i * N + j] / sqrt(square + 0.5) * gamma[j]);
	}
	same(want, have, M * N);
	rkmm_seq_destroy(seq);
	rkmm_weights_destroy(w);
	rkmm_close(dev);
	free(x);
	free(gate);
	free(up);
	free(down);
	free(bias);
	free(gamma);
}

/* tanh(x w + bias) times z: as one plan, and as operations with temporaries between them */
static void test_epilogue(void **state)
{
	enum { M = 6, K = 20, N = 24 };
	const struct rkmm_matmul_desc mm = { .types = DRM_RKMM_F16F16 };
	const struct rkmm_op_desc stages[] = {
		{ .kind = DRM_RKMM_OP_ADD, .other = DRM_RKMM_OTHER_CHANNEL },
		{ .kind = DRM_RKMM_OP_TANH },
		{ .kind = DRM_RKMM_OP_MUL },
	};
	struct rkmm_device *dev = open_dev();
	uint64_t s = 77, seqno;
	float *x = halves(M * K, &s), *w = halves(K * N, &s), *bias = halves(N, &s);
	float *z = halves(M * N, &s), want[M * N], have[M * N];
	struct rkmm_seq_info info;
	struct rkmm_seq *seq;
	int tx, tw, tb, tz, y, turn;
	uint32_t i;

	(void)state;
	product(x, w, want, M, K, N);
	for (i = 0; i < M * N; i++) {
		want[i] = rounded(want[i] + bias[i % N]);
		want[i] = rounded(rounded(fake_op_value(DRM_RKMM_OP_TANH, want[i], 0)) * z[i]);
	}
	for (turn = 0; turn < 2; turn++) {
		assert_int_equal(rkmm_seq_create(dev, &seq), 0);
		tx = rkmm_seq_input(seq, DRM_RKMM_F16, M, K);
		tw = rkmm_seq_input_b(seq, DRM_RKMM_F16, K, N);
		tb = rkmm_seq_bias(seq, DRM_RKMM_F16, N);
		tz = rkmm_seq_input(seq, DRM_RKMM_F16, M, N);
		if (turn) {
			y = rkmm_seq_epilogue(seq, &mm, stages, 3, tx, tw, tb, tz);
		} else {
			y = rkmm_seq_binary(seq, DRM_RKMM_OP_ADD,
					    rkmm_seq_matmul(seq, &mm, tx, tw), tb);
			y = rkmm_seq_binary(seq, DRM_RKMM_OP_MUL,
					    rkmm_seq_unary(seq, DRM_RKMM_OP_TANH, y), tz);
		}
		rkmm_seq_output(seq, y);
		if (rkmm_seq_build(seq))
			fail_msg("%s", rkmm_seq_error(seq));
		assert_int_equal(rkmm_seq_info(seq, &info), 0);
		assert_int_equal(info.ops, turn ? 1 : 4);
		assert_int_equal(info.temporary_bytes > 0, !turn);
		assert_int_equal(info.temporary_bytes, info.shared_bytes);
		assert_int_equal(rkmm_seq_write(seq, tx, x, K, RKMM_SEQ_F32), 0);
		assert_int_equal(rkmm_seq_write(seq, tw, w, N, RKMM_SEQ_F32), 0);
		assert_int_equal(rkmm_seq_write(seq, tb, bias, N, RKMM_SEQ_F32), 0);
		assert_int_equal(rkmm_seq_write(seq, tz, z, N, RKMM_SEQ_F32), 0);
		assert_int_equal(rkmm_seq_submit(seq, NULL, &seqno), 0);
		assert_int_equal(rkmm_wait(dev, seqno, RKMM_FOREVER), 0);
		assert_int_equal(rkmm_seq_read(seq, y, have, N, RKMM_SEQ_F32), 0);
		same(want, have, M * N);
		/* what it does not wait for comes back at once, what it cannot wait for too */
		assert_int_equal(rkmm_seq_submit(seq, &(struct rkmm_submit_options) {
			.reserved = { 1 },
		}, &seqno), -EINVAL);
		rkmm_seq_destroy(seq);
	}
	rkmm_close(dev);
	free(x);
	free(w);
	free(bias);
	free(z);
}

/* int8 to the end, and int32 as it comes */
static void test_integers(void **state)
{
	enum { M = 3, K = 40, N = 9 };
	const struct rkmm_matmul_desc first = {
		.types = DRM_RKMM_I8I8, .mult = 3, .shift = 9, .offset = 1,
	}, second = { .types = DRM_RKMM_I8I32 };
	struct rkmm_device *dev = open_dev();
	int8_t x[M * K], w[K * N], w2[N * N];
	int32_t h[M * N], have[M * N];
	struct rkmm_seq *seq;
	int tx, tw, tv, y;
	uint64_t s = 8;
	int i, j, k;

	(void)state;
	for (i = 0; i < M * K; i++)
		x[i] = (int8_t)rnd(&s);
	for (i = 0; i < K * N; i++)
		w[i] = (int8_t)rnd(&s);
	for (i = 0; i < N * N; i++)
		w2[i] = (int8_t)rnd(&s);
	assert_int_equal(rkmm_seq_create(dev, &seq), 0);
	tx = rkmm_seq_input(seq, DRM_RKMM_I8, M, K);
	tw = rkmm_seq_input_b(seq, DRM_RKMM_I8, K, N);
	tv = rkmm_seq_input_b(seq, DRM_RKMM_I8, N, N);
	y = rkmm_seq_unary(seq, DRM_RKMM_OP_RELU, rkmm_seq_matmul(seq, &first, tx, tw));
	y = rkmm_seq_matmul(seq, &second, y, tv);
	rkmm_seq_output(seq, y);
	if (rkmm_seq_build(seq))
		fail_msg("%s", rkmm_seq_error(seq));
	assert_int_equal(rkmm_seq_write(seq, tx, x, K, 0), 0);
	assert_int_equal(rkmm_seq_write(seq, tw, w, N, 0), 0);
	assert_int_equal(rkmm_seq_write(seq, tv, w2, N, RKMM_B_TRANSPOSED), 0);
	assert_int_equal(rkmm_seq_write(seq, tv, w2, N, RKMM_SEQ_F32), -EINVAL);
	assert_int_equal(rkmm_seq_run(seq), 0);
	assert_int_equal(rkmm_seq_read(seq, y, have, N, 0), 0);
	for (i = 0; i < M; i++)
		for (j = 0; j < N; j++) {
			double sum = 0;

			for (k = 0; k < K; k++)
				sum += x[i * K + k] * w[k * N + j];
			sum = rint(sum * 3 / 512) + 1;
			h[i * N + j] = (int32_t)fmax(0, fmin(127, fmax(-128, sum)));
		}
	for (i = 0; i < M; i++)
		for (j = 0; j < N; j++) {
			int sum = 0;

			for (k = 0; k < N; k++)
				sum += h[i * N + k] * w2[j * N + k];
			assert_int_equal(have[i * N + j], sum);
		}
	rkmm_seq_destroy(seq);
	rkmm_close(dev);
}

/* A K that takes several programs: partial sums, which only the CPU can read. */
static void test_slices(void **state)
{
	enum { M = 5, K = 200, N = 7 };
	const struct rkmm_matmul_desc mm = { .types = DRM_RKMM_F16F16 };
	struct rkmm_device *dev = open_dev();
	uint64_t s = 21;
	float *x = halves(M * K, &s), *w = halves(K * N, &s), want[M * N], have[M * N];
	struct rkmm_seq *seq;
	int tx, tw, y, turn;

	(void)state;
	fake.slice = 64;
	product(x, w, want, M, K, N);
	for (turn = 0; turn < 2; turn++) {
		assert_int_equal(rkmm_seq_create(dev, &seq), 0);
		tx = rkmm_seq_input(seq, DRM_RKMM_F16, M, K);
		tw = rkmm_seq_input_b(seq, DRM_RKMM_F16, K, N);
		/* A is a result too: slices of it lie as one cube does. */
		y = rkmm_seq_matmul(seq, &mm, rkmm_seq_unary(seq, DRM_RKMM_OP_COPY, tx), tw);
		if (turn) {
			assert_int_equal(rkmm_seq_unary(seq, DRM_RKMM_OP_RELU, y), -EINVAL);
			assert_int_equal(rkmm_seq_build(seq), -EINVAL);
			rkmm_seq_destroy(seq);
			continue;
		}
		rkmm_seq_output(seq, y);
		if (rkmm_seq_build(seq))
			fail_msg("%s", rkmm_seq_error(seq));
		assert_int_equal(rkmm_seq_write(seq, tx, x, K, RKMM_SEQ_F32), 0);
		assert_int_equal(rkmm_seq_write(seq, tw, w, N, RKMM_SEQ_F32), 0);
		assert_int_equal(rkmm_seq_run(seq), 0);
		assert_int_equal(rkmm_seq_read(seq, y, have, N, RKMM_SEQ_F32), 0);
		for (tx = 0; tx < M * N; tx++)
			assert_true(fabsf(want[tx] - have[tx]) <= fabsf(want[tx]) / 1024);
		rkmm_seq_destroy(seq);
	}
	rkmm_close(dev);
	free(x);
	free(w);
}

/* By hand, without a sequence: plans of other kinds, and operands that are there or not. */
static void test_by_hand(void **state)
{
	struct rkmm_op_desc add = { .kind = DRM_RKMM_OP_ADD, .m = 2, .n = 3 };
	struct rkmm_op_desc clamp = {
		.kind = DRM_RKMM_OP_CLAMP, .element = DRM_RKMM_I8, .m = 2, .n = 3, .value = -3,
		.value2 = 4.5f,
	};
	struct rkmm_device *dev = open_dev();
	uint16_t x[6], y[6], z[6];
	struct rkmm_plan *plan;
	struct rkmm_buffer *buf;
	struct rkmm_op op;
	unsigned int i, before;
	float f;
	void *p;

	(void)state;
	for (i = 0; i < 6; i++) {
		rkmm_f32_to_f16(&(float) { (float)i }, &x[i], 1);
		rkmm_f32_to_f16(&(float) { 10 - 3 * (float)i }, &y[i], 1);
	}
	assert_int_equal(rkmm_plan_create_op(dev, &clamp, &plan), -EINVAL);
	assert_non_null(strstr(rkmm_last_error(), "4.5 is not a whole number"));
	clamp.value2 = 40000;
	assert_int_equal(rkmm_plan_create_op(dev, &clamp, &plan), -EINVAL);
	clamp.kind = DRM_RKMM_OP_MATMUL;
	assert_int_equal(rkmm_plan_create_op(dev, &clamp, &plan), -EINVAL);
	clamp.kind = DRM_RKMM_OP_TRANSPOSE;
	clamp.value2 = 0;
	assert_int_equal(rkmm_plan_create_op(dev, &clamp, &plan), -EOPNOTSUPP);
	assert_non_null(strstr(rkmm_last_error(), "M = 2, N = 3"));
	add.reserved[3] = 1;
	assert_int_equal(rkmm_plan_create_op(dev, &add, &plan), -EINVAL);
	assert_null(plan);
	add.reserved[3] = 0;
	assert_int_equal(rkmm_plan_create_op(dev, &add, &plan), 0);
	assert_int_equal(rkmm_plan_evidence(plan), DRM_RKMM_CAPTURED);
	assert_int_equal(rkmm_plan_d(plan)->size, 0);
	assert_int_equal(rkmm_buffer_create(dev, 4096, &buf), 0);
	assert_int_equal(rkmm_buffer_map(buf, &p), 0);
	assert_int_equal(rkmm_buffer_begin(buf, 0, 4096, RKMM_WRITE, RKMM_FOREVER), 0);
	assert_int_equal(rkmm_pack_a(rkmm_plan_a(plan), p, x, 3, 2, 3), 0);
	assert_int_equal(rkmm_pack_a(rkmm_plan_b(plan), (char *)p + 1024, y, 3, 2, 3), 0);
	assert_int_equal(rkmm_buffer_end(buf, 0, 4096, RKMM_WRITE), 0);
	op = (struct rkmm_op) { .plan = plan, .a = { buf, 0 }, .c = { buf, 2048 } };
	assert_int_equal(rkmm_submit_wait(dev, &op, 1, NULL), -EINVAL);
	assert_non_null(strstr(rkmm_last_error(), "operation 0 is incomplete"));
	op.b = (struct rkmm_operand) { buf, 1024 };
	op.d = op.b;
	assert_int_equal(rkmm_submit_wait(dev, &op, 1, NULL), -EINVAL);
	op.d.buf = NULL;
	before = fake.ioctls;
	assert_int_equal(rkmm_submit_wait(dev, &op, 1, NULL), 0);
	assert_int_equal(fake.ioctls, before + 1);
	assert_int_equal(rkmm_buffer_begin(buf, 0, 4096, RKMM_READ, RKMM_FOREVER), 0);
	assert_int_equal(rkmm_unpack_c(rkmm_plan_c(plan), (char *)p + 2048, z, 3, 2, 3), 0);
	for (i = 0; i < 6; i++) {
		rkmm_f16_to_f32(&z[i], &f, 1);
		assert_true(f == 10 - 2 * (float)i);
	}
	rkmm_buffer_destroy(buf);
	rkmm_plan_destroy(plan);
	rkmm_close(dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		C(test_random), C(test_memory), C(test_attention), C(test_ready),
		C(test_epilogue), C(test_integers), C(test_by_hand), C(test_slices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
