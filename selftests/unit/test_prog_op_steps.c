// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Emitted words of the steps that longer operations consist of against the captures of hw
 * 04: row maximum and softmax (§3.3 - §3.5), pooling (§5).
 */
#include "op_words.h"

/* hw 04 §3.3: both halves of 256 rows */
static void test_row_maximum(void **state)
{
	struct rkmm_op op = operation(RKMM_OP_ROWMAX, RKMM_PREC_F16);
	struct list l;
	uint32_t i;

	(void)state;
	op.m = 256;
	for (i = 0; i < 2; i++) {
		base_list(&l, 128, N);
		set(&l, 0x400c, 0x020021e5);
		set(&l, 0x4010, 0x48000002);
		set(&l, 0x4014, 0xfbff);
		set(&l, 0x4020, DST + 0x100 * i);
		set(&l, 0x4024, 0);
		set(&l, 0x40c0, 0);
		set(&l, 0x4034, 0x01c00000);
		set(&l, 0x4088, 0x40000000);
		set(&l, 0x5018, SRC + 0x800 * i);
		set(&l, 0x5034, 3);
		set(&l, 0x5044, 0x17841);
		set(&l, 0x504c, 0x800);
		emit(&op, i);
		compare(&l, words, nwords);
	}
	assert_int_equal(rkmm_op_tasks(geom, 256), 2);
}

/* hw 04 §3.4: the convolutions of the softmax of 256 rows of 64, and their DPU part */
static void conv_list(struct list *l, const uint32_t *v, uint32_t image)
{
	uint32_t i;

	l->n = 0;
	add(l, 0x1040, 0xb1);
	add(l, 0x1104, 0);
	add(l, 0x1100, 0);
	add(l, 0x100c, image);
	add(l, 0x4004, 0xe);
	add(l, 0x100c, image);
	add(l, 0x1010, 0x110);
	add(l, 0x1014, 9);
	add(l, 0x1020, 0x100010);
	add(l, 0x1024, v[0]);
	add(l, 0x1028, 0x10);
	add(l, 0x102c, 0x100);
	add(l, 0x1030, v[1]);
	add(l, 0x1034, v[2]);
	add(l, 0x1038, v[3]);
	add(l, 0x1040, 0xb1);
	add(l, 0x1044, v[4]);
	add(l, 0x104c, 0xb);
	for (i = 0x1050; i <= 0x105c; i += 4)
		add(l, i, 0x10000);
	add_range(l, 0x1060, 0x1068);
	add(l, 0x1070, SRC);
	add(l, 0x1074, 0);
	add(l, 0x1078, 0xf000f);
	add(l, 0x107c, v[5]);
	add(l, 0x1080, v[6]);
	add(l, 0x1084, 0x100010);
	add(l, 0x1088, v[7]);
	add(l, 0x1100, 0);
	add(l, 0x1104, 0);
	add(l, 0x1110, SRC2);
	add_range(l, 0x1140, 0x1184);
	add(l, 0x3010, 0x200);
	add(l, 0x3014, 0xf000f);
	add(l, 0x3018, v[8]);
	add(l, 0x301c, 0);
	add(l, 0x3030, 0);
	add(l, 0x400c, 0x1e4);
	add(l, 0x4010, 0x48000002);
	add(l, 0x4014, 0);
	add(l, 0x4020, DST);
	add(l, 0x4024, 0x1000);
	add(l, 0x4030, 0xf);
	add(l, 0x4034, 0xf);
	add(l, 0x4038, 0);
	add(l, 0x403c, v[9]);
	add(l, 0x4040, 0x53);
	add_range(l, 0x4044, 0x404c);
	add(l, 0x4050, 0x126);
	add(l, 0x4054, 0);
	add(l, 0x4058, v[8]);
	add(l, 0x405c, 0xf000f);
	add(l, 0x4060, 0x53);
	add_range(l, 0x4064, 0x406c);
	add(l, 0x4070, 0x383);
	add(l, 0x4074, 0);
	add(l, 0x4078, 1);
	add(l, 0x407c, 0);
	add(l, 0x4080, 0);
	add(l, 0x4084, 0x10001);
	add(l, 0x4088, 0);
	add_range(l, 0x4090, 0x40ac);
	add(l, 0x40c0, 0x2000);
	add(l, 0x40c4, 0);
	add_range(l, 0x4100, 0x412c);
	assert_int_equal(l->n, 108);
}

static void test_movers(void **state)
{
	/* 1024, 1030, 1034, 1038, 1044, 107c, 1080, 1088, 3018 = 4058, 403c of t2, t6, t7 */
	static const uint32_t columns[3][10] = {
		{ 8, 0x400, 0x10, 0x01010040, 0x100, 0x10, 0xf0, 8, 0x3f, 0x3f003f },
		{ 0x3f0040, 0x80, 0x80, 0x01010001, 0x20, 0x40, 0xc0, 0x40, 0xf, 0xf },
		{ 8, 0x400, 0x10, 0x01010040, 4, 0x40, 0xc0, 8, 0x3f, 0x3f003f },
	};
	static const uint32_t images[] = { 0x60008120, 0x120, 0x120 };
	struct rkmm_mover m = {
		.width = 16, .src = SRC, .weights = SRC2, .dst = DST, .dst_pitch = 0x1000,
	};
	struct list l;
	uint32_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		m.image = i == 0;
		m.channels = i == 1 ? 64 : 8;
		m.kernels = i == 1 ? 1 : 64;
		conv_list(&l, columns[i], images[i]);
		/* Only one channel of t7's eight has a weight: the capture says so (hw 04 §3.4). */
		if (i == 2)
			set(&l, 0x1024, 0x70008);
		compare(&l, words, rkmm_mover_emit(&m, words));
	}
}

/* The steps of a whole softmax of the captured size: hw 04 §3.5, with the tensors placed by us */
static void test_softmax_steps(void **state)
{
	static const uint32_t kinds[] = { 0x18, 0x18, 0x0d, 0x18, 0x18, 0x18, 0x0d, 0x0d, 0x18 };
	static const uint32_t lengths[] = { 69, 69, 108, 69, 1097, 69, 108, 108, 69 };
	struct rkmm_op op = operation(RKMM_OP_SOFTMAX, RKMM_PREC_F16);
	uint32_t i, dst = 0;
	struct list l;

	(void)state;
	op.m = 256;
	for (i = 0; i < 9; i++) {
		assert_int_equal(emit(&op, i), kinds[i]);
		assert_int_equal(nwords, lengths[i]);
		if (i == 3)
			dst = (uint32_t)(words[5] >> 16);
		if (i != 4)
			continue;
		/* t5, but for half of the gain, a top that is whole, no offset, 2^6 more */
		base_list(&l, 256, N);
		use_table(&l);
		set(&l, 0x4010, 0x48000002);
		set(&l, 0x4020, (uint32_t)(words[5] >> 16));
		set(&l, 0x4064, 0x46800000);
		set(&l, 0x4068, 0x66660000);
		set(&l, 0x4084, 0x10001);
		set(&l, 0x4088, (15 - 4) << 12);
		set(&l, 0x5018, dst);
		set(&l, 0x5044, 0x17849);
		add_table(&l, RKMM_CURVE_SOFTMAX);
		compare(&l, words, nwords);
	}
	assert_int_equal(rkmm_op_tasks(geom, 256), 9);
}

/* hw 04 §5 */
static void test_pooling(void **state)
{
	static const struct {
		enum rkmm_op_code code;
		uint32_t mode, k, reciprocal;
	} rows[] = {
		{ RKMM_OP_MAXPOOL, 0x11, 2, 0x7800 }, { RKMM_OP_AVGPOOL, 0x10, 2, 0x7800 },
		{ RKMM_OP_AVGPOOL, 0x10, 4, 0x7400 }, { RKMM_OP_AVGPOOL, 0x10, 3, 0x7555 },
	};
	struct list l;
	uint32_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		struct rkmm_op op = operation(rows[i].code, RKMM_PREC_F16);
		uint32_t k = rows[i].k, out_w = 16 / k, out_h = 12 / k;

		op.m = 16 * 12;
		op.width = 16;
		op.kernel_w = k;
		op.kernel_h = k;
		l.n = 0;
		add(&l, 0x6004, 0xe);
		add(&l, 0x600c, 15);
		add(&l, 0x6010, 11);
		add(&l, 0x6014, 63);
		add(&l, 0x6018, out_w - 1);
		add(&l, 0x601c, out_h - 1);
		add(&l, 0x6020, 63);
		add(&l, 0x6024, rows[i].mode);
		add(&l, 0x6034, (k - 1) * 0x00110101);
		add(&l, 0x6038, rows[i].reciprocal);
		add(&l, 0x603c, rows[i].reciprocal);
		add(&l, 0x6040, 0);
		add(&l, 0x6044, 0);
		add(&l, 0x6048, 0);
		add(&l, 0x6070, DST);
		add(&l, 0x607c, 16 * out_w * out_h);
		add(&l, 0x6084, 2);
		add(&l, 0x60dc, 3);
		add(&l, 0x7004, 0xe);
		add(&l, 0x700c, 15);
		add(&l, 0x7010, 11);
		add(&l, 0x7014, 63);
		add(&l, 0x701c, SRC);
		add(&l, 0x7024, 16 * 16);
		add(&l, 0x7028, 16 * 16 * 12);
		add(&l, 0x7030, 2);
		assert_int_equal(emit(&op, 0), 0x60);
		compare(&l, words, nwords);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_row_maximum),
		cmocka_unit_test(test_movers),
		cmocka_unit_test(test_softmax_steps),
		cmocka_unit_test(test_pooling),
	};

	return cmocka_run_group_tests_name("words of steps", tests, setup, teardown);
}
