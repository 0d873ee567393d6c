// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Operations over rows and windows on the software NPU against double precision: maximum,
 * sum, softmax, norms, pooling.
 */
#define SEED	0xcfed7b04899d552eull
#include "op_world.h"

static void test_row_maximum(void **state)
{
	uint32_t i, row, col;

	(void)state;
	for (i = 0; i < 80; i++) {
		struct data t = operation(RKMM_OP_ROWMAX, RKMM_PREC_F16);

		if (i % 8 == 0) {
			t.op.m = 1000 + rnd(300);
			t.rows = t.op.m;
		}
		prepare(&t, i % 2 ? small_value : wide_value, NULL, NULL);
		for (row = 0; row < t.rows; row++) {
			double v = -INFINITY, got;

			for (col = 0; col < t.op.n; col++)
				v = fmax(v, t.a[row * t.op.n + col]);
			got = fetch(&t.op, regions[RKMM_AREA_C].data + 2 * row);
			if (got != v)
				print_error("%ux%u row %u: %g, not %g\n", t.op.m, t.op.n, row,
					    got, v);
			assert_true(got == v);
		}
		finish(&t);
	}
}

static void test_row_sums(void **state)
{
	uint32_t i, row, col;

	(void)state;
	for (i = 0; i < 80; i++) {
		struct data t = operation(i & 1 ? RKMM_OP_ROWMEAN : RKMM_OP_ROWSUM,
					  RKMM_PREC_F16);

		if (i % 8 == 0)
			t.op.n = 1000 + rnd(3000);
		if (i % 8 == 1)
			t.op.m += 500;
		prepare(&t, small_value, NULL, NULL);
		for (row = 0; row < t.rows; row++) {
			double sum = 0, size = 0, bound;

			for (col = 0; col < t.op.n; col++) {
				sum += t.a[row * t.op.n + col];
				size += fabs(t.a[row * t.op.n + col]);
			}
			/* fp32 accumulation, one rounding, and that of 1 / N */
			bound = ldexp(size, -22) + ulp(sum) / 2;
			if (i & 1) {
				sum /= t.op.n;
				bound = ldexp(size / t.op.n, -22) + ldexp(fabs(sum), -11) +
					ulp(sum) / 2;
			}
			for (col = 0; col < 16; col++)
				expect(&t, row, col, sum, bound * 1.001);
		}
		finish(&t);
	}
}

static double mask_value(uint32_t row, uint32_t col)
{
	(void)row;
	return rnd(3) && col ? (rnd(2) ? -INFINITY : -65504) : 0;
}

/* What a row can be made of: anything; far below the largest; all alike; two equal ones */
static double softmax_value(uint32_t row, uint32_t col)
{
	switch (row % 5) {
	case 0:
		return uniform(-12, 12);
	case 1:
		return col ? uniform(-11, -9) : 0;
	case 2:
		return 3;
	case 3:
		return col < 2 ? 40 : uniform(-30, 30);
	default:
		return uniform(-1, 1);
	}
}

static void check_softmax(struct data *t, double scale)
{
	uint32_t row, col;

	for (row = 0; row < t->rows; row++) {
		const double *a = &t->a[(size_t)row * t->op.n], *d = &t->d[(size_t)row * t->op.n];
		double most = -INFINITY, sum = 0;

		for (col = 0; col < t->op.n; col++)
			most = fmax(most, a[col] + d[col]);
		for (col = 0; col < t->op.n; col++)
			sum += exp(scale * (a[col] + d[col] - most));
		for (col = 0; col < t->op.n; col++) {
			expect(t, row, col, exp(scale * (a[col] + d[col] - most)) / sum, 2e-3);
			if (d[col] < 0)
				assert_true(result(t, row, col) == 0);
		}
	}
}

static void test_softmax(void **state)
{
	uint32_t i, row, col;

	(void)state;
	for (i = 0; i < 90; i++) {
		struct data t = operation(RKMM_OP_SOFTMAX, RKMM_PREC_F16);
		double scale = 1;

		if (i % 10 == 0)
			t.op.n = 900 + rnd(200);
		if (i % 10 == 1)
			t.op.m = 250 + rnd(300);
		/* with a mask too */
		if (i % 3 == 1 || i % 6 == 5) {
			scale = (float)uniform(0.05, 2);
			t.op.scale = float_bits((float)scale);
		}
		if (i % 3 == 2)
			t.op.flags |= RKMM_OP_MASK;
		if (i % 4 == 3) {
			t.op.flags |= RKMM_OP_CAUSAL;
			if (t.op.n < t.op.m)
				t.op.n = t.op.m;
		}
		t.rows = rnd(2) ? t.op.m : 1 + rnd(t.op.m);
		prepare(&t, softmax_value, NULL, mask_value);
		if (t.op.flags & RKMM_OP_CAUSAL)
			for (row = 0; row < t.op.m; row++)
				for (col = row + t.op.n - t.op.m + 1; col < t.op.n; col++)
					t.d[(size_t)row * t.op.n + col] = -INFINITY;
		check_softmax(&t, scale);
		finish(&t);
	}
}

/* Every N of the sheet's range: plain, with a scale, with a mask, causal, one after the other */
static void test_softmax_columns(void **state)
{
	uint32_t n, row, col;

	(void)state;
	for (n = 1; n <= 1024; n++) {
		struct data t = { .op = { .code = RKMM_OP_SOFTMAX, .precision = RKMM_PREC_F16 } };
		double scale = 1;

		t.op.n = n;
		t.op.m = 1 + n % 5;
		t.rows = t.op.m;
		if (n % 4 == 1) {
			scale = (float)uniform(0.05, 2);
			t.op.scale = float_bits((float)scale);
		}
		if (n % 4 == 2)
			t.op.flags = RKMM_OP_MASK;
		if (n % 4 == 3 && n >= t.op.m)
			t.op.flags = RKMM_OP_CAUSAL;
		prepare(&t, softmax_value, NULL, mask_value);
		if (t.op.flags & RKMM_OP_CAUSAL)
			for (row = 0; row < t.op.m; row++)
				for (col = row + n - t.op.m + 1; col < n; col++)
					t.d[(size_t)row * n + col] = -INFINITY;
		check_softmax(&t, scale);
		finish(&t);
	}
}

/*
 * What Documentation/operations.rst says of rows that hold no number, or are hidden as a whole.
 * Rows by their number modulo 8: 0 is like any other, 1 has a minus infinity, 2 a plus
 * infinity, 3 a NaN, 4 is all minus infinity, 5 hidden by infinities, 6 hidden by -65504,
 * 7 has denormals and both zeros.
 */
static double odd_value(uint32_t row, uint32_t col)
{
	switch (row % 8) {
	case 1:
		return col % 3 ? uniform(-4, 4) : -INFINITY;
	case 2:
		return col == 1 ? INFINITY : uniform(-4, 4);
	case 3:
		return col == 1 ? NAN : uniform(-4, 4);
	case 4:
		return -INFINITY;
	case 7:
		return col % 2 ? ldexp(rnd(1024), -24) : -0.0;
	default:
		return uniform(-4, 4);
	}
}

static double odd_mask(uint32_t row, uint32_t col)
{
	(void)col;
	return row % 8 == 5 ? -INFINITY : row % 8 == 6 ? -65504 : 0;
}

static void test_softmax_special(void **state)
{
	uint32_t i, row, col;

	(void)state;
	for (i = 0; i < 24; i++) {
		struct data t = operation(RKMM_OP_SOFTMAX, RKMM_PREC_F16);

		t.op.n += 4;
		t.op.m = 16 + rnd(60);
		t.rows = t.op.m;
		t.op.flags = RKMM_OP_MASK;
		prepare(&t, odd_value, NULL, odd_mask);
		for (row = 0; row < t.rows; row++) {
			const double *x = &t.a[(size_t)row * t.op.n];
			double sum = 0;

			for (col = 0; col < t.op.n; col++)
				sum += exp(x[col]);
			for (col = 0; col < t.op.n; col++) {
				double want = exp(x[col]) / sum;

				if (row % 8 == 2)
					want = col == 1;
				/* a table is asked for a NaN, and has the same for all */
				if (row % 8 == 3 || row % 8 == 6)
					want = 1.0 / t.op.n;
				if (row % 8 == 4 || row % 8 == 5)
					want = NAN;
				expect(&t, row, col, want, 2e-3);
				if (x[col] == -INFINITY && row % 8 == 1)
					assert_true(result(&t, row, col) == 0);
			}
		}
		finish(&t);
	}
}

/* More rows than columns: the first see nothing. */
static void test_softmax_causal_tall(void **state)
{
	struct data t = { .op = { .code = RKMM_OP_SOFTMAX, .precision = RKMM_PREC_F16 } };
	uint32_t row, col;

	(void)state;
	t.op.m = 50;
	t.op.n = 21;
	t.rows = 50;
	t.op.flags = RKMM_OP_CAUSAL;
	prepare(&t, small_value, NULL, NULL);
	for (row = 0; row < t.rows; row++) {
		const double *x = &t.a[row * t.op.n];
		double sum = 0;

		for (col = 0; col < t.op.n; col++)
			sum += col + 29 <= row ? exp(x[col]) : 0;
		for (col = 0; col < t.op.n; col++)
			expect(&t, row, col, row < 29 ? 1.0 / t.op.n :
			       col + 29 <= row ? exp(x[col]) / sum : 0, 2e-3);
	}
	finish(&t);
}

static double norm_value(uint32_t row, uint32_t col)
{
	double v = uniform(-1, 1);

	/* rows of very different size, some with one large element */
	v *= ldexp(1, (int)(row % 21) - 10);
	return row % 3 == 1 && col == row % 5 ? 64 * v : v;
}

static double gamma_value(uint32_t row, uint32_t col)
{
	(void)row;
	(void)col;
	return uniform(-8, 8);
}

/*
 * Five fp16 roundings of the values, those of the mean of squares count half, and a mean
 * that is rounded counts by its own size. No fp16 number is finer than 2^-24, which
 * what is small beside the largest of its row comes to feel, and so does the result,
 * however small gamma is.
 */
static void check_norm(struct data *t, double eps)
{
	uint32_t row, col, n = t->op.n;

	for (row = 0; row < t->rows; row++) {
		const double *a = &t->a[(size_t)row * n];
		double mean = 0, square = 0, most = 0, root;

		for (col = 0; col < n && t->op.code == RKMM_OP_LAYERNORM; col++)
			mean += a[col] / n;
		for (col = 0; col < n; col++)
			square += (a[col] - mean) * (a[col] - mean) / n;
		for (col = 0; col < n; col++)
			most = fmax(most, fabs(a[col] - mean));
		root = sqrt(square + eps);
		for (col = 0; col < n; col++) {
			double v = (a[col] - mean) / root, g = 1, b = 0, bound;

			if (t->op.flags & RKMM_OP_GAMMA)
				g = t->b[col];
			if (t->op.flags & RKMM_OP_BETA)
				b = t->d[col];
			bound = fabs(v * g) * ldexp(6, -11) +
				fabs(mean / root * g) * ldexp(3, -11) +
				fabs(b) * ldexp(1, -11) + ldexp(1, -25) +
				((1 + most) / root + 1) * fabs(g) * ldexp(1, -24);
			expect(t, row, col, v * g + b, bound);
		}
	}
}

static void test_norms(void **state)
{
	uint32_t i;

	(void)state;
	for (i = 0; i < 60; i++) {
		struct data t = operation(i & 1 ? RKMM_OP_LAYERNORM : RKMM_OP_RMSNORM,
					  RKMM_PREC_F16);
		float eps = i % 3 ? 1e-5f : 1e-3f;

		t.op.value = float_bits(eps);
		if (i & 2)
			t.op.flags |= RKMM_OP_GAMMA;
		if (i & 4 && i & 1)
			t.op.flags |= RKMM_OP_BETA;
		if (i % 10 == 0)
			t.op.n = 1000 + rnd(1000);
		if (i % 10 == 1)
			t.op.m = 300;
		prepare(&t, norm_value, gamma_value, small_value);
		check_norm(&t, (double)eps);
		finish(&t);
	}
}

static double level_value(uint32_t row, uint32_t col)
{
	return (int)(row % 40) - 20 + (col % 3) / 64.0;
}

/* Rows far from zero that hardly vary: what fills their last columns must not count. */
static void test_level_rows(void **state)
{
	static const uint32_t sizes[] = { 1, 2, 7, 8, 9, 31, 32, 33, 47 };
	uint32_t i;

	(void)state;
	for (i = 0; i < 18; i++) {
		struct data t = operation(RKMM_OP_LAYERNORM, RKMM_PREC_F16);

		t.op.value = float_bits(1e-5f);
		t.op.m = 41;
		t.rows = 41;
		t.op.n = sizes[i / 2];
		t.op.flags = i & 1 ? RKMM_OP_GAMMA | RKMM_OP_BETA : 0;
		prepare(&t, level_value, gamma_value, small_value);
		check_norm(&t, (double)1e-5f);
		finish(&t);
	}
}

static void check_pool(struct data *t)
{
	const struct rkmm_op *op = &t->op;
	uint32_t sw = op->stride_w ? op->stride_w : op->kernel_w;
	uint32_t sh = op->stride_h ? op->stride_h : op->kernel_h;
	uint32_t out_w = (op->width - op->kernel_w) / sw + 1;
	uint32_t out_h = (op->m / op->width - op->kernel_h) / sh + 1;
	uint32_t x, y, i, j, col;

	assert_int_equal(geom->c.rows, out_w * out_h);
	for (y = 0; y < out_h; y++) {
		for (x = 0; x < out_w; x++) {
			for (col = 0; col < op->n; col++) {
				double most = -INFINITY, sum = 0, size = 0, bound;

				for (j = 0; j < op->kernel_h; j++) {
					for (i = 0; i < op->kernel_w; i++) {
						double v = t->a[(size_t)((y * sh + j) * op->width +
									 x * sw + i) * op->n + col];

						most = fmax(most, v);
						sum += v;
						size += fabs(v);
					}
				}
				sum /= op->kernel_w * op->kernel_h;
				size /= op->kernel_w * op->kernel_h;
				if (op->code == RKMM_OP_MAXPOOL) {
					expect(t, y * out_w + x, col, most, 0);
					continue;
				}
				/* two reciprocals of 11 bits and what is kept between them */
				bound = op->precision == RKMM_PREC_I8 ? 1 :
					ldexp(size, -9) + ulp(sum);
				expect(t, y * out_w + x, col, sum, bound);
			}
		}
	}
}

static void test_pooling(void **state)
{
	uint32_t i;

	(void)state;
	for (i = 0; i < 80; i++) {
		struct data t = operation(i & 1 ? RKMM_OP_AVGPOOL : RKMM_OP_MAXPOOL,
					  i & 2 ? RKMM_PREC_I8 : RKMM_PREC_F16);

		t.op.kernel_w = 1 + rnd(4);
		t.op.kernel_h = 1 + rnd(4);
		t.op.stride_w = rnd(4);
		t.op.stride_h = rnd(4);
		t.op.width = t.op.kernel_w + rnd(12);
		t.op.m = t.op.width * (t.op.kernel_h + rnd(12));
		t.op.n = 1 + rnd(70);
		t.rows = t.op.m;
		prepare(&t, i & 2 ? byte_value : small_value, NULL, NULL);
		check_pool(&t);
		finish(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_row_maximum),
		cmocka_unit_test(test_row_sums),
		cmocka_unit_test(test_softmax),
		cmocka_unit_test(test_softmax_columns),
		cmocka_unit_test(test_softmax_special),
		cmocka_unit_test(test_softmax_causal_tall),
		cmocka_unit_test(test_norms),
		cmocka_unit_test(test_level_rows),
		cmocka_unit_test(test_pooling),
	};

	return cmocka_run_group_tests_name("rows on the model", tests, setup, teardown);
}
