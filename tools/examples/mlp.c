// SPDX-License-Identifier: MIT
/* (silu(X G) * (X U)) D: the NPU against double precision. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/examples/example.h"

const char *const program_name = "rkmm-mlp";

static const char usage[] =
"usage: rkmm-mlp [OPTION]...\n"
"A gated multilayer perceptron, (silu(x gate) * (x up)) down, of random fp16 numbers on the\n"
"NPU, compared with double precision.\n"
"\n"
"  --rows M        rows (16)\n"
"  --size K        columns of x and of the result (128)\n"
"  --hidden H      columns between (256)\n"
"  --seed S        of the random numbers (1)\n"
"  -h, --help      this text\n"
"  -V, --version   version of librkmm\n"
"\n"
"Exit status: 0 right, 1 wrong or the device failed, 2 usage.\n";

/**
 * struct mlp - sizes, weights and data
 * @m: rows
 * @k: columns of x and of the result
 * @h: columns between
 * @x: M x K
 * @gate: K x H
 * @up: K x H
 * @down: H x K
 * @want: M x K, in double precision
 * @bound: how far a result may be off
 */
struct mlp {
	uint32_t m, k, h;
	float *x, *gate, *up, *down;
	double *want;
	double bound;
};

static void product(const double *a, const float *b, double *c, uint32_t k, uint32_t n)
{
	uint32_t i, j;

	for (j = 0; j < n; j++)
		c[j] = 0;
	for (i = 0; i < k; i++)
		for (j = 0; j < n; j++)
			c[j] += a[i] * b[(size_t)i * n + j];
}

/*
 * Each hidden value silu(g) u is off by the roundings of g and u to fp16, 2^-11 each,
 * the curve, 2^-9 of max(1, |g|), and the rounding of curve and product. The result sums
 * these with the weights of the last layer, and is rounded.
 */
static void reference(struct mlp *p)
{
	double *x = allocate(p->k, sizeof(*x)), *g = allocate(p->h, sizeof(*g));
	double *u = allocate(p->h, sizeof(*u)), off, sum;
	uint32_t i, j, c;

	for (i = 0; i < p->m; i++) {
		double *want = p->want + (size_t)i * p->k;

		for (j = 0; j < p->k; j++)
			x[j] = p->x[(size_t)i * p->k + j];
		product(x, p->gate, g, p->k, p->h);
		product(x, p->up, u, p->k, p->h);
		for (j = 0; j < p->h; j++) {
			off = 1.2 * fabs(g[j]) / 2048 + fmax(1, fabs(g[j])) / 512;
			g[j] /= 1 + exp(-g[j]);
			off = (off + 3 * fabs(g[j]) / 2048) * fabs(u[j]);
			g[j] *= u[j];
			/* magnitudes for the bound below */
			u[j] = off;
		}
		product(g, p->down, want, p->h, p->k);
		for (c = 0; c < p->k; c++) {
			sum = fabs(want[c]) / 2048;
			for (j = 0; j < p->h; j++)
				sum += u[j] * fabs((double)p->down[(size_t)j * p->k + c]);
			p->bound = fmax(p->bound, sum);
		}
	}
	free(x);
	free(g);
	free(u);
}

static int compute(struct rkmm_device *dev, struct mlp *p)
{
	float *out = allocate((size_t)p->m * p->k, sizeof(*out));
	struct distance distance;
	int x, gate, up, down, y;
	struct rkmm_seq *seq;
	int ret;

	if (rkmm_seq_create(dev, &seq))
		die(EXIT_FAILURE, "out of memory");
	x = rkmm_seq_input(seq, DRM_RKMM_F16, p->m, p->k);
	gate = rkmm_seq_input_b(seq, DRM_RKMM_F16, p->k, p->h);
	up = rkmm_seq_input_b(seq, DRM_RKMM_F16, p->k, p->h);
	down = rkmm_seq_input_b(seq, DRM_RKMM_F16, p->h, p->k);
	y = rkmm_seq_gated_mlp(seq, x, gate, up, down);
	rkmm_seq_output(seq, y);
	ret = rkmm_seq_build(seq);
	/* The weights are written once; x as often as there is a new one. */
	ret = ret ? ret : rkmm_seq_write(seq, gate, p->gate, p->h, RKMM_SEQ_F32);
	ret = ret ? ret : rkmm_seq_write(seq, up, p->up, p->h, RKMM_SEQ_F32);
	ret = ret ? ret : rkmm_seq_write(seq, down, p->down, p->k, RKMM_SEQ_F32);
	ret = ret ? ret : rkmm_seq_write(seq, x, p->x, p->k, RKMM_SEQ_F32);
	ret = ret ? ret : rkmm_seq_run(seq);
	ret = ret ? ret : rkmm_seq_read(seq, y, out, p->k, RKMM_SEQ_F32);
	if (ret)
		die(EXIT_FAILURE, "%s", rkmm_seq_error(seq));
	printf("gated MLP: %u rows, %u columns, %u between\n", p->m, p->k, p->h);
	print_sequence(seq);
	rkmm_seq_destroy(seq);
	reference(p);
	distance = distance_of(out, p->want, (size_t)p->m * p->k);
	free(out);
	return verdict(&distance, p->bound);
}

int main(int argc, char **argv)
{
	struct mlp p = { .m = 16, .k = 128, .h = 256 };
	uint32_t seed = 1;
	const struct number_option numbers[] = {
		{ "rows", &p.m, 1, 8192 }, { "size", &p.k, 1, 8192 }, { "hidden", &p.h, 1, 8192 },
		{ "seed", &seed, 0, UINT32_MAX }, { NULL, NULL, 0, 0 }
	};
	const struct flag_option flags[] = { { NULL, NULL } };
	struct rkmm_device *dev;
	uint64_t state;
	int status;

	if (parse_options(argc, argv, usage, numbers, flags) != argc)
		die(2, "no arguments are taken, see --help");
	state = seed;
	p.x = random_halves((size_t)p.m * p.k, 1, &state);
	p.gate = random_halves((size_t)p.k * p.h, 2 / sqrt(p.k), &state);
	p.up = random_halves((size_t)p.k * p.h, 2 / sqrt(p.k), &state);
	p.down = random_halves((size_t)p.h * p.k, 2 / sqrt(p.h), &state);
	p.want = allocate((size_t)p.m * p.k, sizeof(*p.want));
	if (rkmm_open(NULL, &dev))
		die(EXIT_FAILURE, "%s", rkmm_last_error());
	status = compute(dev, &p);
	rkmm_close(dev);
	free(p.x);
	free(p.gate);
	free(p.up);
	free(p.down);
	free(p.want);
	return status;
}
