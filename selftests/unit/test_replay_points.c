// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The law of time against the 54 published points of hw 03 §6.3: each within a point of
 * the error that the sheet states for it, large ones included, so that no term can change
 * unseen.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tools/replay/call.h"

#define I4	NPU_KIND_I4
#define ROW	NPU_KIND_I4_ROW
#define I8	NPU_KIND_I8
#define F16	NPU_KIND_F16

/* Terms that a point's model column has */
#define NPU	1
#define WALL	2	/* everything */
#define POST	4	/* NPU and the copy of the result */
#define ADD	8	/* NPU and the sum of the slices */

static const struct npu_time_law *law;

static struct call_time timed(const struct host_law *host, struct call c)
{
	struct call_time t;

	call_time(law, host, &c, &t);
	return t;
}

static double us(const struct host_law *host, struct call c, unsigned int terms)
{
	struct call_time t = timed(host, c);

	if (terms == NPU)
		return (double)t.npu / 1e3;
	if (terms == POST)
		return (double)(t.npu + t.post) / 1e3;
	if (terms == ADD)
		return (double)(t.npu + t.add) / 1e3;
	return (double)call_total(&t) / 1e3;
}

static void near(unsigned int point, double mine, double measured, double model, double percent)
{
	double error = 100 * (mine - measured) / measured;

	if (fabs(mine - model) > 0.006 * model || fabs(error - percent) > 1) {
		print_error("point %u: %.1f, the sheet's model has %.1f, measured %.1f\n", point,
			    mine, model, measured);
		fail();
	}
}

static void test_single_calls(void **state)
{
	const struct host_law *b = &host_before, *a = &host_after;
	const struct {
		unsigned int point;
		double measured, model, percent;
		const struct host_law *host;
		unsigned int terms;
		struct call call;
	} rows[] = {
		/* kind, m, k, n, rows, columns, cores, partial results */
		{ 1, 3625, 3252, -10, b, WALL, { I4, 128, 2048, 2048, 8, 64, 3, 0 } },
		{ 2, 2630, 2328, -12, b, NPU, { I4, 128, 2048, 2048, 8, 64, 3, 0 } },
		{ 3, 1853, 1871, 1, b, WALL, { I4, 128, 2048, 2048, 16, 320, 3, 0 } },
		{ 4, 1357, 1296, -5, b, NPU, { I4, 128, 2048, 2048, 16, 320, 3, 0 } },
		{ 5, 1718, 1813, 6, b, WALL, { I4, 128, 2048, 2048, 24, 256, 3, 0 } },
		{ 6, 1807, 1755, -3, b, WALL, { I4, 128, 2048, 2048, 32, 256, 3, 0 } },
		{ 7, 1924, 1986, 3, b, WALL, { I4, 128, 2048, 2048, 16, 320, 2, 0 } },
		{ 8, 3106, 3053, -2, b, WALL, { I4, 128, 2048, 2048, 32, 256, 1, 0 } },
		{ 9, 3642, 3662, 1, b, WALL, { I4, 2048, 2048, 128, 64, 128, 1, 0 } },
		{ 10, 4977, 5054, 2, b, WALL, { I4, 2048, 2048, 128, 8, 64, 1, 0 } },
		{ 11, 2071, 2069, 0, b, WALL, { I4, 128, 2048, 2048, 48, 512, 3, 0 } },
		{ 12, 5362, 6025, 12, b, WALL, { I4, 128, 4096, 2048, 4, 64, 3, 0 } },
		{ 20, 3556, 3956, 11, a, WALL, { I4, 128, 2048, 2048, 4, 64, 3, 0 } },
		{ 21, 7615, 3465, -55, a, WALL, { I4, 128, 2048, 2048, 4, 64, 1, 0 } },
		{ 22, 3760, 3767, 0, b, NPU, { ROW, 1, 10752, 5120, 1, 5120, 1, 0 } },
		{ 23, 5720, 5845, 2, b, NPU, { ROW, 1, 17408, 5120, 1, 5120, 1, 0 } },
		{ 24, 7110, 7123, 0, b, NPU, { ROW, 1, 21504, 5120, 1, 5120, 1, 0 } },
		{ 25, 80, 83, 4, b, NPU, { I8, 16, 2048, 128, 16, 128, 1, 0 } },
		{ 26, 98, 104, 6, b, NPU, { I8, 8, 3584, 128, 8, 128, 1, 0 } },
		{ 27, 25690, 24140, -6, b, NPU, { I8, 256, 3584, 3584, 15, 3584, 1, 0 } },
		{ 28, 11979, 12036, 0, b, NPU, { I8, 256, 3584, 3584, 15, 1792, 2, 0 } },
		{ 29, 9395, 9214, -2, b, NPU, { I8, 256, 3584, 3584, 15, 1195, 3, 0 } },
		{ 30, 131676, 127360, -3, b, NPU, { I8, 256, 3584, 18944, 15, 18944, 1, 0 } },
		{ 31, 61745, 63378, 3, b, NPU, { I8, 256, 3584, 18944, 15, 9472, 2, 0 } },
		{ 32, 47555, 48073, 1, b, NPU, { I8, 256, 3584, 18944, 15, 6315, 3, 0 } },
		{ 33, 5909, 3497, -41, b, NPU, { I8, 256, 3584, 512, 15, 512, 1, 0 } },
		{ 34, 2237, 1767, -21, b, NPU, { I8, 256, 3584, 512, 15, 256, 2, 0 } },
		{ 35, 1961, 1442, -26, b, NPU, { I8, 256, 3584, 512, 15, 171, 3, 0 } },
		{ 36, 470, 476, 1, b, POST, { I8, 1, 2048, 4096, 1, 1366, 3, 0 } },
		{ 37, 654, 597, -9, b, POST, { I8, 64, 2048, 4096, 64, 1366, 3, 0 } },
		{ 38, 1820, 1947, 7, b, POST, { I8, 256, 2048, 4096, 128, 1366, 3, 0 } },
		{ 46, 33150, 33805, 2, b, NPU, { F16, 4096, 1024, 3584, 176, 1195, 3, 0 } },
		{ 47, 14340, 9944, -31, b, NPU, { F16, 4096, 1024, 1024, 176, 342, 3, 0 } },
		{ 48, 396900, 313575, -21, b, NPU, { F16, 4096, 3584, 1024, 4, 342, 3, 0 } },
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		near(rows[i].point, us(rows[i].host, rows[i].call, rows[i].terms),
		     rows[i].measured, rows[i].model, rows[i].percent);
}

/* Shipped geometry: hw 03 §7.1 */
static struct call shipped(u32 m, u32 k, u32 n)
{
	return (struct call){ I4, m, k, n, k == 2048 ? 8 : 3, 64, 3, 0 };
}

/* A pass of the 1.7B model, ms; @mean of the calls with K = 2048, of those with 6144, us */
static double pass(const struct host_law *host, u32 m, double *k2048, double *k6144)
{
	double q = us(host, shipped(m, 2048, 2048), WALL), k = us(host, shipped(m, 2048, 1024), WALL);
	double gate = us(host, shipped(m, 2048, 6144), WALL);

	*k6144 = us(host, shipped(m, 6144, 2048), WALL);
	*k2048 = (56 * q + 56 * k + 54 * gate) / 166;
	return (166 * *k2048 + 27 * *k6144) / 1e3;
}

static void test_passes(void **state)
{
	double k2048, k6144;

	(void)state;
	near(15, pass(&host_before, 128, &k2048, &k6144), 1124, 995, -11);
	near(16, pass(&host_before, 256, &k2048, &k6144), 2226, 1946, -13);
	near(17, pass(&host_after, 256, &k2048, &k6144), 1649, 1602, -3);
	near(13, k2048, 7858, 7400, -6);
	near(14, k6144, 12764, 13848, 8);
	near(18, pass(&host_after, 512, &k2048, &k6144), 3400, 3174, -7);
}

/* Slices of int4 are calls of their own; the last has the 160 programs of hw 03 §7.3. */
static void test_slices(void **state)
{
	static const u32 widths[] = { 8192, 8192, 1024 };
	u32 programs = 0, i, s;
	struct call_time t;
	double sum = 0;

	(void)state;
	for (i = 0; i < 3; i++) {
		t = timed(&host_before, (struct call){ I4, 64, widths[i], 5120,
						       widths[i] == 1024 ? 32 : 2, 64, 3, 0 });
		sum += (double)call_total(&t) / 1e3;
		programs += t.programs;
		/* hw 03 §7.3 */
		if (i < 2)
			assert_int_equal(t.busiest, 864);
	}
	assert_int_equal(programs, 5280);
	near(19, sum, 30300, 29820, -2);

	/* Chained int8 slices: the start of that path, and the weight of each */
	for (s = 1; s <= 6; s += s == 3 ? 3 : 1) {
		static const double measured[] = { 365, 494, 627, 0, 0, 950 };
		static const double model[] = { 370, 494, 617, 0, 0, 987 };
		static const double percent[] = { 2, 0, -2, 0, 0, 4 };

		t = timed(&host_before, (struct call){ I8, 1, 1024, 3072, 1, 1024, 3, 0 });
		near(38 + s - (s == 6 ? 2 : 0),
		     247 + s * (double)(t.npu - npu_time_start(law, I8, 3)) / 1e3,
		     measured[s - 1], model[s - 1], percent[s - 1]);
	}
}

/* fp16 in slices of up to 2048, with 16384 / K rows (hw 03 G8) */
static double colsplit(u32 k, u32 n)
{
	double sum = (double)npu_time_start(law, F16, 1) / 1e3;
	u32 at, width;

	for (at = 0; at < k; at += width) {
		width = k - at < 2048 ? k - at : 2048;
		sum += us(&host_before, (struct call){ F16, 256, width, n, 16384 / width, n, 1, 0 },
			  NPU) - (double)npu_time_start(law, F16, 1) / 1e3;
	}
	return sum;
}

static double int8_slices(u32 k, u32 n)
{
	double sum = (double)npu_time_start(law, I8, 3) / 1e3;
	u32 slices = (k + 1023) / 1024, at, width;

	for (at = 0; at < k; at += width) {
		width = k - at < 1024 ? k - at : 1024;
		sum += us(&host_before, (struct call){ I8, 256, width, n, 256, (n + 2) / 3, 3, 0 },
			  NPU) - (double)npu_time_start(law, I8, 3) / 1e3;
	}
	return sum + 256.0 * n * slices * host_before.add_ps / 1e6;
}

static void test_sliced_wide(void **state)
{
	(void)state;
	near(43, colsplit(3584, 512), 5550, 4900, -12);
	near(44, colsplit(4096, 512), 6540, 5992, -8);
	near(45, colsplit(3584, 3584), 28200, 31901, 13);
	near(53, int8_slices(3584, 3584), 5880, 5335, -9);
	near(54, int8_slices(18944, 3584), 24600, 26096, 6);
}

/* Resets, a mixed run, a change of the window: §6.2's constants */
static void test_runs(void **state)
{
	const struct host_law *b = &host_before;
	double reset = 105, k2048, k6144, v, down, mixed;

	(void)state;
	near(49, 1810 + 220 * reset, 25033, 24910, 0);
	near(50, 256 / (256 / 55.64 + 220 * reset / 1e3), 9.08, 9.24, 2);

	/* int4 but for v and down, those in int8: down in slices that are added up */
	pass(b, 128, &k2048, &k6144);
	v = us(b, (struct call){ I8, 128, 2048, 1024, 128, 342, 3, 0 }, WALL);
	down = us(b, (struct call){ I8, 128, 1024, 2048, 128, 683, 3, 6 }, WALL);
	down += 5 * (us(b, (struct call){ I8, 128, 1024, 2048, 128, 683, 3, 0 }, NPU) -
		     (double)npu_time_start(law, I8, 3) / 1e3);
	mixed = 2 * (166 * k2048 - 28 * us(b, shipped(128, 2048, 1024), WALL) + 28 * v + 27 * down) /
		1e3;
	near(51, mixed, 1810, 1630, -10);
	near(52, REPLAY_SWAP_FIRST_US, 410.7, 410, 0);
	near(52, REPLAY_SWAP_FIRST_US, 396.7, 410, 3);
}

/* A die of which two points are known has them right. */
static void test_die_235(void **state)
{
	(void)state;
	law = npu_time_profile("235");
	assert_non_null(law);
	near(20, us(&host_after, (struct call){ I4, 128, 2048, 2048, 4, 64, 3, 0 }, WALL), 3556,
	     3556, 0);
	near(21, us(&host_after, (struct call){ I4, 128, 2048, 2048, 4, 64, 1, 0 }, WALL), 7615,
	     7615, 0);
	law = npu_time_profile("default");
	assert_null(npu_time_profile("234"));
}

static void test_perturbed(void **state)
{
	struct npu_time_law a = *law, b = *law, c = *law;
	const u32 *from = (const u32 *)law, *to = (const u32 *)&a;
	unsigned int i, moved = 0;

	(void)state;
	npu_time_perturb(&a, 7, 30);
	npu_time_perturb(&b, 7, 30);
	npu_time_perturb(&c, 8, 30);
	assert_memory_equal(&a, &b, sizeof(a));
	assert_memory_not_equal(&a, &c, sizeof(a));
	for (i = 0; i < NPU_TIME_CONSTANTS; i++) {
		assert_true(to[i] >= from[i] * 0.699 - 1 && to[i] <= from[i] * 1.301 + 1);
		moved += to[i] != from[i];
		assert_true(strlen(npu_time_name(i)) > 3);
	}
	assert_true(moved > NPU_TIME_CONSTANTS - 3);

	a = *law;
	npu_time_scale(&a, 200);
	assert_int_equal(a.i4_task[2], 2 * law->i4_task[2]);
	assert_int_equal(a.i4_rate[2], law->i4_rate[2] / 2);
	assert_int_equal(a.sigma, law->sigma);
}

/* Mean and spread of the factor, and that a state is all there is to it */
static void test_jitter(void **state)
{
	double sum = 0, squares = 0, l;
	u32 one = 3, two = 3, i, v;

	(void)state;
	for (i = 0; i < 20000; i++) {
		l = log((double)npu_time_jitter(&one, 1000000000, 30) / 1e9);
		sum += l;
		squares += l * l;
	}
	assert_true(fabs(sum / i) < 0.001);
	assert_true(fabs(sqrt(squares / i) - 0.03) < 0.001);
	npu_time_jitter(&two, 5, 30);
	assert_int_not_equal(one, two);
	for (i = 0; i < 1000; i++) {
		v = npu_time_between(&one, 5000, 20000);
		assert_true(v >= 5000 && v <= 20000);
	}
	assert_int_equal(npu_time_between(&one, 7, 7), 7);
	assert_int_equal(npu_time_jitter(&one, 123456789, 0), 123456789);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_single_calls),
		cmocka_unit_test(test_passes),
		cmocka_unit_test(test_slices),
		cmocka_unit_test(test_sliced_wide),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_die_235),
		cmocka_unit_test(test_perturbed),
		cmocka_unit_test(test_jitter),
	};

	law = npu_time_profile("default");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
