// SPDX-License-Identifier: GPL-2.0
/* Are products right, for all type pairs, odd shapes, pitches, offsets and chains? */
#include "../kselftest_harness.h"
#include "rkmm_test.h"

#define CASE_TIMEOUT	240

FIXTURE(types) {
	int fd;
};

FIXTURE_VARIANT(types) {
	uint32_t types;
	uint32_t k_align;
	uint32_t k_min;
	uint32_t n_align;
	uint32_t in_bits;
	uint32_t out_bits;
};

FIXTURE_VARIANT_ADD(types, i8i32) {
	.types = DRM_RKMM_I8I32, .k_align = 32, .n_align = 32, .in_bits = 8, .out_bits = 32,
};

FIXTURE_VARIANT_ADD(types, i8i8) {
	.types = DRM_RKMM_I8I8, .k_align = 32, .k_min = 512, .n_align = 32, .in_bits = 8,
	.out_bits = 8,
};

FIXTURE_VARIANT_ADD(types, f16f32) {
	.types = DRM_RKMM_F16F32, .k_align = 32, .n_align = 16, .in_bits = 16, .out_bits = 32,
};

FIXTURE_VARIANT_ADD(types, f16f16) {
	.types = DRM_RKMM_F16F16, .k_align = 32, .n_align = 16, .in_bits = 16, .out_bits = 16,
};

FIXTURE_VARIANT_ADD(types, i4i16) {
	.types = DRM_RKMM_I4I16, .k_align = 32, .n_align = 64, .in_bits = 4, .out_bits = 16,
};

FIXTURE_SETUP(types)
{
	self->fd = rk_open();
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(types)
{
	close(self->fd);
}

/* A multiplier that spreads the sums of K random products over int8. */
static void requant(struct mm *mm)
{
	if (mm->types != DRM_RKMM_I8I8)
		return;
	mm->mult = 9001;
	mm->shift = 16;
	while (mm->shift < 31 && 127ull * 127 * mm->k * mm->mult >> mm->shift > 1000)
		mm->shift++;
	mm->offset = -3;
}

static struct mm shape(uint32_t types, uint32_t m, uint32_t k, uint32_t n)
{
	struct mm mm = { .types = types, .m = m, .k = k, .n = n };

	requant(&mm);
	return mm;
}

#define RUN(mm, seed)							\
do {									\
	ASSERT_EQ(0, mm_init(&(mm), self->fd, seed)) {			\
		TH_LOG("%s %ux%ux%u: setup", types_name((mm).types),	\
		       (mm).m, (mm).k, (mm).n);				\
	}								\
	EXPECT_EQ(0, mm_run(&(mm))) {					\
		TH_LOG("%s", (mm).msg);					\
	}								\
	mm_free(&(mm));							\
} while (0)

/* The list of types says what the header and the plans say. */
TEST_F(types, listed)
{
	struct drm_rkmm_type_info info[16];
	struct drm_rkmm_query q = {
		.id = DRM_RKMM_QUERY_TYPES, .size = sizeof(info), .pointer = (uintptr_t)info,
	};
	struct mm mm = shape(variant->types, 5, 45, 77);
	uint32_t i, n, found = 0;

	ASSERT_EQ(0, xioctl(self->fd, DRM_IOCTL_RKMM_QUERY, &q));
	n = q.size / sizeof(info[0]);
	ASSERT_GE(16, n);
	for (i = 0; i < n; i++) {
		if (info[i].types != variant->types)
			continue;
		found++;
		EXPECT_EQ(variant->in_bits, info[i].in_bits);
		EXPECT_EQ(variant->out_bits, info[i].out_bits);
		EXPECT_EQ(variant->k_align, info[i].k_align);
		EXPECT_EQ(variant->n_align, info[i].n_align);
		EXPECT_GE(DRM_RKMM_VALIDATED, info[i].evidence);
	}
	EXPECT_EQ(1, found);

	ASSERT_EQ(0, mm_plan(&mm, self->fd));
	EXPECT_EQ(variant->in_bits, mm.plan.a.bits);
	EXPECT_EQ(variant->in_bits, mm.plan.b.bits);
	EXPECT_EQ(variant->out_bits, mm.plan.c.bits);
	EXPECT_EQ(variant->k_min ?: 64, mm.plan.b.rows);
	EXPECT_EQ((77 + variant->n_align - 1) / variant->n_align * variant->n_align,
		  mm.plan.b.cols);
	EXPECT_EQ(mm.plan.b.cols, mm.plan.c.cols);
	EXPECT_LE(64, mm.plan.a.cols);
	EXPECT_NE(0, mm.plan.programs);
	EXPECT_NE(0, mm.plan.predicted_ns);
	mm_free(&mm);
}

/* Around the multiples that the hardware wants. */
TEST_F_TIMEOUT(types, odd_shapes, CASE_TIMEOUT)
{
	static const uint32_t m[] = { 1, 2, 3, 4, 5, 63, 64, 65, 66 };
	static const uint32_t k[] = { 1, 31, 32, 33, 63, 64, 65 };
	static const uint32_t n[] = { 1, 15, 16, 17, 31, 32, 33, 63, 64, 65 };
	uint32_t i, j, l, at = 0;

	for (i = 0; i < ARRAY_SIZE(m); i++)
		for (j = 0; j < ARRAY_SIZE(k); j++)
			for (l = 0; l < ARRAY_SIZE(n); l++, at++) {
				struct mm mm = shape(variant->types, m[i], k[j], n[l]);

				/* 630 combinations: every eleventh, another one per type */
				if (at % 11 != variant->types)
					continue;
				RUN(mm, at);
			}
}

/* Long sums, several M tiles, several N tiles. */
TEST_F_TIMEOUT(types, long_shapes, CASE_TIMEOUT)
{
	static const struct { uint32_t m, k, n; } s[] = {
		{ 1, 512, 64 }, { 3, 512, 33 }, { 17, 512, 130 },
		{ 1, 1024, 130 }, { 5, 1024, 33 }, { 20, 1024, 64 },
		{ 2, 2048, 65 }, { 9, 1536, 48 }, { 2, 4096, 40 },
		{ 1, 10752, 20 }, { 2, 10700, 33 },
		{ 67, 320, 96 }, { 130, 96, 200 }, { 700, 64, 16 }, { 1100, 32, 17 },
	};
	uint32_t i;

	for (i = 0; i < ARRAY_SIZE(s); i++) {
		struct mm mm = shape(variant->types, s[i].m, s[i].k, s[i].n);

		RUN(mm, 1000 + i);
	}
}

TEST_F_TIMEOUT(types, m_tiles, CASE_TIMEOUT)
{
	/* eleven banks hold 11 * 32768 bytes of A: one row more than two programs' worth */
	uint32_t rows = 11 * 32768 * 8 / (1024 * variant->in_bits);
	struct mm mm = shape(variant->types, variant->in_bits == 4 ? 90 : 2 * rows + 1, 1024, 16);

	/* int4 needs fewer rows for it, but in the cube it does not */
	ASSERT_EQ(0, mm_plan(&mm, self->fd));
	if (mm.plan.a.layout == DRM_RKMM_LAYOUT_CUBE)
		mm.m = 2 * rows + 1;
	mm_free(&mm);
	mm = shape(variant->types, mm.m, mm.k, mm.n);
	ASSERT_EQ(0, mm_init(&mm, self->fd, 77));
	EXPECT_LT(2, mm.plan.programs);
	EXPECT_EQ(0, mm_run(&mm)) {
		TH_LOG("%s", mm.msg);
	}
	mm_free(&mm);
}

/* More columns than one program writes (8192). */
TEST_F_TIMEOUT(types, n_tiles, CASE_TIMEOUT)
{
	struct mm mm = shape(variant->types, 3, 33, 8192 + 35);
	struct drm_rkmm_device_info info;

	ASSERT_EQ(0, rk_device(self->fd, &info));
	if (info.n_max && info.n_max < mm.n)
		SKIP(return, "N is limited to %u", info.n_max);
	ASSERT_EQ(0, mm_init(&mm, self->fd, 78));
	EXPECT_LT(1, mm.plan.programs);
	EXPECT_EQ(0, mm_run(&mm)) {
		TH_LOG("%s", mm.msg);
	}
	mm_free(&mm);
}

/* K beyond one program: partial results that the test adds up as the library would. */
TEST_F_TIMEOUT(types, k_slices, CASE_TIMEOUT)
{
	static const struct { uint32_t m, k, n; } s[] = { { 3, 10753, 35 }, { 1, 21505, 17 } };
	struct drm_rkmm_device_info info;
	uint32_t i;

	ASSERT_EQ(0, rk_device(self->fd, &info));
	for (i = 0; i < ARRAY_SIZE(s); i++) {
		struct mm mm = shape(variant->types, s[i].m, s[i].k, s[i].n);

		if (info.k_max && mm.k > info.k_max)
			SKIP(return, "K is limited to %u", info.k_max);
		ASSERT_EQ(0, mm_init(&mm, self->fd, 80 + i));
		EXPECT_LT(1, mm.plan.c.slices);
		EXPECT_EQ(mm.plan.c.slices, mm.plan.b.slices);
		EXPECT_NE(0, mm.plan.out_flags & DRM_RKMM_PLAN_HOST_FINISH);
		EXPECT_EQ(0, mm_run(&mm)) {
			TH_LOG("%s", mm.msg);
		}
		mm_free(&mm);
	}
}

/* The form that is asked for is the form that is got, and every form computes the same. */
TEST_F_TIMEOUT(types, forms, CASE_TIMEOUT)
{
	static const struct {
		uint32_t form, a, c;
	} f[] = {
		{ DRM_RKMM_FORM_FLAT, DRM_RKMM_LAYOUT_ROWS, DRM_RKMM_LAYOUT_ROWS },
		{ DRM_RKMM_FORM_BATCH, DRM_RKMM_LAYOUT_BATCH_A, DRM_RKMM_LAYOUT_BATCH_C },
		{ DRM_RKMM_FORM_CUBE, DRM_RKMM_LAYOUT_CUBE, DRM_RKMM_LAYOUT_CUBE },
	};
	uint32_t i;

	for (i = 0; i < ARRAY_SIZE(f); i++) {
		struct mm mm = shape(variant->types, 7, 530, 70);

		mm.form = f[i].form;
		if (mm.form == DRM_RKMM_FORM_BATCH && variant->types != DRM_RKMM_I4I16) {
			EXPECT_EQ(-EOPNOTSUPP, mm_plan(&mm, self->fd));
			EXPECT_EQ(DRM_RKMM_REASON_FORM, mm.plan.reason);
			continue;
		}
		ASSERT_EQ(0, mm_init(&mm, self->fd, 90 + i));
		EXPECT_EQ(f[i].a, mm.plan.a.layout);
		EXPECT_EQ(f[i].c, mm.plan.c.layout);
		EXPECT_EQ(0, mm_run(&mm)) {
			TH_LOG("form %u: %s", mm.form, mm.msg);
		}
		mm_free(&mm);
	}
}

/* Rows past those asked for keep what they held. */
TEST_F_TIMEOUT(types, fewer_rows, CASE_TIMEOUT)
{
	static const uint32_t rows[] = { 1, 2, 7, 18, 36 };
	uint32_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct mm mm = shape(variant->types, 37, 96, 70);

		mm.rows = rows[i];
		RUN(mm, 300 + i);
	}
}

TEST_F_TIMEOUT(types, fewer_rows_tiled, CASE_TIMEOUT)
{
	static const uint32_t rows[] = { 1, 16, 33, 89 };
	uint32_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct mm mm = shape(variant->types, 90, 2048, 130);

		if (variant->types != DRM_RKMM_I4I16)
			mm.k = 1024;
		mm.rows = rows[i];
		RUN(mm, 320 + i);
	}
}

/* The same plan, the same buffers, other numbers of rows and other data each time. */
TEST_F_TIMEOUT(types, repeated, CASE_TIMEOUT)
{
	static const uint32_t rows[] = { 0, 3, 0, 1, 19, 3 };
	struct mm mm = shape(variant->types, 20, 64, 48);
	uint32_t i;

	ASSERT_EQ(0, mm_init(&mm, self->fd, 340));
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		mm.rows = rows[i];
		mm_new_a(&mm);
		ASSERT_EQ(0, buf_end_write(&mm.a));
		ASSERT_EQ(0, mm_new_c(&mm));
		EXPECT_EQ(0, mm_run(&mm)) {
			TH_LOG("run %u: %s", i, mm.msg);
		}
	}
	mm_free(&mm);
}

/* One plan, two sets of buffers in one submission and again in the next. */
TEST_F_TIMEOUT(types, rebound, CASE_TIMEOUT)
{
	struct mm x = shape(variant->types, 6, 70, 50), y = x;
	struct drm_rkmm_submit s;
	struct drm_rkmm_op op[2];

	ASSERT_EQ(0, mm_init(&x, self->fd, 350));
	ASSERT_EQ(0, mm_init(&y, self->fd, 351));
	op[0] = mm_op(&x);
	op[1] = mm_op(&y);
	op[1].plan = op[0].plan;
	submit_init(&s, op, 2);
	ASSERT_EQ(0, rk_submit(self->fd, &s));
	EXPECT_EQ(0, rk_result(self->fd, s.seqno));
	EXPECT_EQ(0, mm_check(&x)) {
		TH_LOG("%s", x.msg);
	}
	EXPECT_EQ(0, mm_check(&y)) {
		TH_LOG("%s", y.msg);
	}
	mm_free(&x);
	mm_free(&y);
}

TEST_F_TIMEOUT(types, one_buffer, CASE_TIMEOUT)
{
	struct mm mm = shape(variant->types, 11, 100, 41);

	mm.one_buffer = true;
	RUN(mm, 360);
}

/* A and C as windows of wider matrices; what lies beside them is not ours. */
TEST_F_TIMEOUT(types, pitches, CASE_TIMEOUT)
{
	static const struct { uint32_t m, k, n, a_more, c_more; } s[] = {
		{ 5, 64, 64, 16, 0 }, { 5, 64, 64, 0, 16 }, { 33, 128, 64, 48, 160 },
		{ 2, 32, 128, 4096 - 32, 1024 },
	};
	uint32_t i;

	if (variant->types == DRM_RKMM_I4I16)
		SKIP(return, "int4 rows have one layout");
	for (i = 0; i < ARRAY_SIZE(s); i++) {
		struct mm mm = shape(variant->types, s[i].m, variant->k_min ?: s[i].k, s[i].n);

		if (s[i].a_more)
			mm.a_pitch = mm.k * variant->in_bits / 8 + s[i].a_more;
		if (s[i].c_more)
			mm.c_pitch = s[i].n * variant->out_bits / 8 + s[i].c_more;
		ASSERT_EQ(0, mm_init(&mm, self->fd, 370 + i)) {
			TH_LOG("pitches %u %u: reason %u", mm.a_pitch, mm.c_pitch,
			       mm.plan.reason);
		}
		if (mm.a_pitch) {
			EXPECT_EQ(mm.a_pitch, mm.plan.a.pitch);
		}
		if (mm.c_pitch) {
			EXPECT_EQ(mm.c_pitch, mm.plan.c.pitch);
		}
		EXPECT_EQ(0, mm_run(&mm)) {
			TH_LOG("a_pitch %u c_pitch %u: %s", mm.a_pitch, mm.c_pitch, mm.msg);
		}
		mm_free(&mm);
	}
}

/* Sums beyond the output type stick to its ends. */
TEST_F_TIMEOUT(types, saturation, CASE_TIMEOUT)
{
	static const enum values v[] = { VALUES_HIGH, VALUES_LOW };
	uint32_t i;

	if (variant->types == DRM_RKMM_F16F32 || variant->types == DRM_RKMM_F16F16)
		SKIP(return, "integers only");
	for (i = 0; i < 2; i++) {
		struct mm mm = shape(variant->types, 3, 1056, 70);

		mm.values = v[i];
		if (variant->types == DRM_RKMM_I8I8)
			mm.shift = 15;
		RUN(mm, 380 + i);
	}
}

/* fp16 with operands whose products and sums are exact: no tolerance at all. */
TEST_F_TIMEOUT(types, small_integers, CASE_TIMEOUT)
{
	static const struct { uint32_t m, k, n; } s[] = { { 4, 64, 32 }, { 7, 200, 50 } };
	uint32_t i;

	for (i = 0; i < ARRAY_SIZE(s); i++) {
		struct mm mm = shape(variant->types, s[i].m, s[i].k, s[i].n);

		mm.values = VALUES_SMALL_INT;
		RUN(mm, 390 + i);
	}
}

/* Each core computes the same bits. */
TEST_F_TIMEOUT(types, each_core, CASE_TIMEOUT)
{
	struct drm_rkmm_device_info info;
	uint32_t i;

	ASSERT_EQ(0, rk_device(self->fd, &info));
	for (i = 0; i < info.cores; i++) {
		struct mm mm = shape(variant->types, 9, 65, 70);

		if (!(info.core_mask & 1u << i))
			continue;
		mm.cores = 1u << i;
		RUN(mm, 395);
	}
}

FIXTURE(device) {
	int fd;
};

FIXTURE_SETUP(device)
{
	self->fd = rk_open();
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(device)
{
	close(self->fd);
}

/* Every rounding and both ends of the requantiser. */
TEST_F_TIMEOUT(device, requantisation, CASE_TIMEOUT)
{
	static const struct { int mult, shift, offset; } q[] = {
		{ 1, 0, 0 }, { 1, 1, 0 }, { 1, 2, 0 }, { 3, 2, 0 }, { 1, 8, 127 },
		{ 1, 8, -128 }, { 32767, 31, 5 }, { 0x4000, 14, 0 }, { 12345, 20, -77 },
	};
	uint32_t i;

	for (i = 0; i < ARRAY_SIZE(q); i++) {
		struct mm mm = {
			.types = DRM_RKMM_I8I8, .m = 9, .k = 40, .n = 70,
			.mult = q[i].mult, .shift = q[i].shift, .offset = q[i].offset,
			.values = i < 4 ? VALUES_SMALL_INT : VALUES_RANDOM,
		};

		RUN(mm, 400 + i);
	}
}

/* The second operation of a submission reads what the first one wrote. */
TEST_F_TIMEOUT(device, dependent_operations, CASE_TIMEOUT)
{
	struct mm x = { .types = DRM_RKMM_I8I8, .m = 13, .k = 64, .n = 96,
			.mult = 77, .shift = 13, .offset = 1 };
	struct mm y = { .types = DRM_RKMM_I8I32, .m = 13, .k = 96, .n = 40 };
	struct drm_rkmm_submit s;
	struct drm_rkmm_op op[2];
	uint32_t i, j;

	ASSERT_EQ(0, mm_init(&x, self->fd, 410));
	ASSERT_EQ(0, mm_init(&y, self->fd, 411));
	/* rows, or the cube where the driver was asked for it: equal either way */
	ASSERT_EQ(x.plan.c.layout, y.plan.a.layout);
	ASSERT_EQ(x.plan.c.pitch, y.plan.a.pitch);
	ASSERT_EQ(x.plan.c.rows, y.plan.a.rows);

	op[0] = mm_op(&x);
	op[1] = mm_op(&y);
	op[1].a = op[0].c;
	submit_init(&s, op, 2);
	ASSERT_EQ(0, rk_submit(self->fd, &s));
	ASSERT_EQ(0, rk_result(self->fd, s.seqno));
	ASSERT_EQ(0, mm_check(&x)) {
		TH_LOG("first: %s", x.msg);
	}
	/* x is right by independent loops, so it may serve as y's operand */
	for (i = 0; i < y.m; i++)
		for (j = 0; j < y.k; j++)
			y.av[i * y.k + j] = (int8_t)x.c.map[x.c_off +
							    element_bit(&x.plan.c, i, j) / 8];
	EXPECT_EQ(0, mm_check(&y)) {
		TH_LOG("second: %s", y.msg);
	}
	mm_free(&x);
	mm_free(&y);
}

/* Three operations of three type pairs in one submission. */
TEST_F_TIMEOUT(device, mixed_types, CASE_TIMEOUT)
{
	struct mm mm[5];
	struct drm_rkmm_op op[10];
	struct drm_rkmm_submit s;
	uint32_t i;

	for (i = 0; i < 5; i++) {
		mm[i] = shape(i, 3 + i, 60 + i, 40 + 7 * i);
		ASSERT_EQ(0, mm_init(&mm[i], self->fd, 420 + i));
		op[i] = op[9 - i] = mm_op(&mm[i]);
	}
	submit_init(&s, op, 10);
	ASSERT_EQ(0, rk_submit(self->fd, &s));
	EXPECT_EQ(0, rk_result(self->fd, s.seqno));
	for (i = 0; i < 5; i++) {
		EXPECT_EQ(0, mm_check(&mm[i])) {
			TH_LOG("%s", mm[i].msg);
		}
		mm_free(&mm[i]);
	}
}

/* A plan, its layouts and its programs do not depend on what ran before. */
TEST_F_TIMEOUT(device, layout_ids, CASE_TIMEOUT)
{
	struct mm x = shape(DRM_RKMM_I8I32, 8, 70, 50), y = x, z = x;

	ASSERT_EQ(0, mm_plan(&x, self->fd));
	ASSERT_EQ(0, mm_plan(&y, self->fd));
	EXPECT_EQ(x.plan.a.layout_id, y.plan.a.layout_id);
	EXPECT_EQ(x.plan.b.layout_id, y.plan.b.layout_id);
	EXPECT_NE(0, x.plan.b.layout_id);

	/* weights fit any number of rows */
	z.m = 300;
	ASSERT_EQ(0, mm_plan(&z, self->fd));
	EXPECT_EQ(x.plan.b.layout_id, z.plan.b.layout_id);
	mm_free(&z);

	/* an id that the driver gave is taken back, another one is not */
	y.plan.b_layout = x.plan.b.layout_id;
	EXPECT_EQ(0, xioctl(self->fd, DRM_IOCTL_RKMM_PLAN_CREATE, &y.plan));
	EXPECT_EQ(x.plan.b.layout_id, y.plan.b.layout_id);
	y.plan.b_layout = x.plan.b.layout_id ^ 0x10;
	EXPECT_EQ(-EOPNOTSUPP, xioctl(self->fd, DRM_IOCTL_RKMM_PLAN_CREATE, &y.plan));
	EXPECT_EQ(DRM_RKMM_REASON_LAYOUT, y.plan.reason);
	y.plan.plan = 0;
	mm_free(&x);
}

/* Partial results are no operand: not in the submission that makes them. */
TEST_F_TIMEOUT(device, partial_results, CASE_TIMEOUT)
{
	struct mm x = shape(DRM_RKMM_I8I32, 2, 10753, 33);
	struct mm y = shape(DRM_RKMM_I8I32, 2, 64, 33);
	struct drm_rkmm_submit s;
	struct drm_rkmm_op op[2];
	uint64_t last;

	ASSERT_EQ(0, mm_init(&x, self->fd, 440));
	ASSERT_EQ(0, mm_init(&y, self->fd, 441));
	last = x.c_off + (x.plan.c.size - y.plan.a.size) / 64 * 64;
	op[0] = mm_op(&x);
	op[1] = mm_op(&y);
	submit_init(&s, op, 2);
	EXPECT_EQ(0, rk_submit(self->fd, &s));
	EXPECT_EQ(0, rk_result(self->fd, s.seqno));
	op[1].a = op[0].c;
	EXPECT_EQ(-EINVAL, rk_submit(self->fd, &s));
	op[1].a = mm_op(&y).a;
	op[1].b = op[0].c;
	EXPECT_EQ(-EINVAL, rk_submit(self->fd, &s));
	op[1].b = mm_op(&y).b;
	op[1].a.handle = op[0].c.handle;
	op[1].a.offset = last;
	EXPECT_EQ(-EINVAL, rk_submit(self->fd, &s));
	/* made first, it reads what was there before */
	op[0] = mm_op(&y);
	op[0].a = mm_op(&x).c;
	op[1] = mm_op(&x);
	EXPECT_EQ(0, rk_submit(self->fd, &s));
	EXPECT_EQ(0, rk_result(self->fd, s.seqno));
	mm_free(&x);
	mm_free(&y);
}

/* A repeated submission needs no new programs. */
TEST_F_TIMEOUT(device, image_cache, CASE_TIMEOUT)
{
	struct mm mm = shape(DRM_RKMM_I8I32, 8, 70, 50);
	struct drm_rkmm_client_info first, later;
	int i;

	ASSERT_EQ(0, mm_init(&mm, self->fd, 430));
	ASSERT_EQ(0, mm_run(&mm));
	ASSERT_EQ(0, rk_client(self->fd, &first));
	EXPECT_LT(0, first.programs_emitted);
	EXPECT_LT(0, first.program_bytes);
	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, mm_run(&mm));
	ASSERT_EQ(0, rk_client(self->fd, &later));
	EXPECT_EQ(first.programs_emitted, later.programs_emitted);
	EXPECT_EQ(first.program_bytes, later.program_bytes);
	EXPECT_EQ(first.jobs + 5, later.jobs);
	EXPECT_LT(first.npu_ns, later.npu_ns);
	EXPECT_EQ(0, later.guilty);
	EXPECT_EQ(0, later.innocent);
	EXPECT_EQ(0, later.banned);
	mm_free(&mm);
}

RKMM_TEST_MAIN
