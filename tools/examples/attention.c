// SPDX-License-Identifier: MIT
/* softmax(Q K^T / sqrt(D)) V of some heads: the NPU against double precision. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/examples/example.h"

const char *const program_name = "rkmm-attention";

static const char usage[] =
"usage: rkmm-attention [OPTION]...\n"
"Scaled dot-product attention of random fp16 numbers on the NPU, compared with double\n"
"precision.\n"
"\n"
"  --rows M        rows of queries (32)\n"
"  --keys T        rows of keys and values (M)\n"
"  --size D        columns of a head (64)\n"
"  --heads H       heads of queries (4)\n"
"  --kv-heads G    heads of keys and values, a divisor of H (H)\n"
"  --causal        a query sees no later keys\n"
"  --seed S        of the random numbers (1)\n"
"  -h, --help      this text\n"
"  -V, --version   version of librkmm\n"
"\n"
"Exit status: 0 right, 1 wrong or the device failed, 2 usage.\n";

/*
 * With |q|, |k|, |v| <= 1 a score is at most D, and sqrt(D) after the scale. Rounding
 * scores to fp16 changes a logit by at most sqrt(D) 2^-11; the probabilities, and with
 * them the result, by twice that. The other roundings, of the exponential, its square,
 * sum, quotient, prescale and result, are less than 20 times 2^-11 together.
 */
static double error_bound(uint32_t d)
{
	return (2 * sqrt(d) + 20) / 2048;
}

/* One head in double precision */
static void reference(const struct rkmm_attention_desc *d, uint32_t head, const float *q,
		      const float *k, const float *v, double *out)
{
	const uint32_t group = head / (d->heads / d->kv_heads), kv = d->kv_heads * d->d;
	double *p = allocate(d->t, sizeof(*p));
	uint32_t i, j, c;

	for (i = 0; i < d->m; i++) {
		const float *row = q + ((size_t)i * d->heads + head) * d->d;
		const uint32_t seen = d->flags & DRM_RKMM_CAUSAL ? i + d->t - d->m + 1 : d->t;
		double *to = out + ((size_t)i * d->heads + head) * d->d;
		double most = -INFINITY, sum = 0;

		for (j = 0; j < seen; j++) {
			p[j] = 0;
			for (c = 0; c < d->d; c++)
				p[j] += (double)row[c] * k[(size_t)j * kv + group * d->d + c];
			p[j] /= sqrt(d->d);
			most = fmax(most, p[j]);
		}
		for (j = 0; j < seen; j++)
			sum += p[j] = exp(p[j] - most);
		for (c = 0; c < d->d; c++) {
			to[c] = 0;
			for (j = 0; j < seen; j++)
				to[c] += p[j] / sum * v[(size_t)j * kv + group * d->d + c];
		}
	}
	free(p);
}

static int compute(struct rkmm_device *dev, const struct rkmm_attention_desc *d, uint64_t seed)
{
	const uint32_t wide = d->heads * d->d, kv = d->kv_heads * d->d;
	float *q = random_halves((size_t)d->m * wide, 1, &seed);
	float *k = random_halves((size_t)d->t * kv, 1, &seed);
	float *v = random_halves((size_t)d->t * kv, 1, &seed);
	float *out = allocate((size_t)d->m * wide, sizeof(*out));
	double *want = allocate((size_t)d->m * wide, sizeof(*want));
	/* The heads lie side by side in the rows. */
	const struct rkmm_heads qs = { q, wide, d->d }, ks = { k, kv, d->d };
	const struct rkmm_heads vs = { v, kv, d->d }, outs = { out, wide, d->d };
	struct rkmm_attention *att;
	struct distance distance;
	uint32_t h;

	if (rkmm_attention_create(dev, d, &att))
		die(EXIT_FAILURE, "%s", rkmm_attention_error(NULL));
	if (rkmm_attention_run(att, &qs, &ks, &vs, NULL, 0, &outs, RKMM_SEQ_F32))
		die(EXIT_FAILURE, "%s", rkmm_attention_error(att));
	printf("attention: %u rows, %u keys, %u heads of %u\n", d->m, d->t, d->heads, d->d);
	print_sequence(rkmm_attention_seq(att));
	rkmm_attention_destroy(att);
	for (h = 0; h < d->heads; h++)
		reference(d, h, q, k, v, want);
	distance = distance_of(out, want, (size_t)d->m * wide);
	free(q);
	free(k);
	free(v);
	free(out);
	free(want);
	return verdict(&distance, error_bound(d->d));
}

int main(int argc, char **argv)
{
	struct rkmm_attention_desc d = { .m = 32, .d = 64, .heads = 4 };
	bool causal = false;
	uint32_t seed = 1;
	const struct number_option numbers[] = {
		{ "rows", &d.m, 1, 8192 }, { "keys", &d.t, 1, 8192 }, { "size", &d.d, 1, 1024 },
		{ "heads", &d.heads, 1, 256 }, { "kv-heads", &d.kv_heads, 1, 256 },
		{ "seed", &seed, 0, UINT32_MAX }, { NULL, NULL, 0, 0 }
	};
	const struct flag_option flags[] = { { "causal", &causal }, { NULL, NULL } };
	struct rkmm_device *dev;
	int status;

	if (parse_options(argc, argv, usage, numbers, flags) != argc)
		die(2, "no arguments are taken, see --help");
	d.t = d.t ? d.t : d.m;
	d.kv_heads = d.kv_heads ? d.kv_heads : d.heads;
	d.flags = causal ? DRM_RKMM_CAUSAL : 0;
	if (d.heads % d.kv_heads)
		die(2, "--kv-heads %u: not a divisor of %u", d.kv_heads, d.heads);
	if (causal && d.t < d.m)
		die(2, "--causal: fewer keys than rows");
	if (rkmm_open(NULL, &dev))
		die(EXIT_FAILURE, "%s", rkmm_last_error());
	status = compute(dev, &d, seed);
	rkmm_close(dev);
	return status;
}
