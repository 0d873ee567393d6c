// SPDX-License-Identifier: GPL-2.0-only
/* The DPU's table: contents, the index law over all codes, what it survives. */
#include <math.h>

#include "test_model_cube.h"

/* Values of hw 04 §2.5 about the exponential table */
static void exp_facts(void **state)
{
	u32 crc = 0xffffffff, i, b;
	s16 t[1026];
	s32 sum = 0;

	(void)state;
	lut_exp(t);
	for (i = 0; i < 1026; i++) {
		sum += t[i];
		for (b = 0; b < 16; b++) {
			u32 bit = ((u32)(u16)t[i] >> b ^ crc) & 1;

			crc = crc >> 1 ^ (bit ? 0xedb88320 : 0);
		}
	}
	assert_int_equal(t[0], 1);
	assert_int_equal(t[1], 2);
	assert_int_equal(t[512], 221);
	assert_int_equal(t[513], 221);
	assert_int_equal(t[514], 223);
	assert_int_equal(t[1024], 32449);
	assert_int_equal(t[1025], 32767);
	assert_int_equal(sum, 3371835);
	assert_int_equal(crc ^ 0xffffffff, 0x9d379c07);
}

/* Nearest of num / 2^shift, ties away from zero */
static s64 scaled(s64 num, u32 shift)
{
	return (s64)round(ldexp((double)num, -(int)shift));
}

struct slopes {
	s32 under, over;
	u32 under_shift, over_shift;
};

/* The law of hw 04 §2.5 with the rounding the model has chosen */
static s64 law(const s16 *t, s64 x, const struct slopes *s)
{
	const s16 *le = t, *lo = t + 513;
	s64 p, i, f;

	if (x < -16384)
		return le[0] + scaled((x + 16384) * s->under, s->under_shift);
	if (x > 16384)
		return lo[512] + scaled((x - 16384) * s->over, s->over_shift);
	p = x < 0 ? x + 16384 : x;
	i = p >> 5;
	f = p & 31;
	if (x < 0)
		return le[i] + scaled((le[i + 1] - le[i]) * f, 5);
	return lo[i] + (f ? scaled((lo[i + 1] - lo[i]) * f, 5) : 0);
}

static void noise(s16 *t, u32 seed)
{
	u32 i;

	for (i = 0; i < 1026; i++)
		t[i] = (s16)rnd(&seed);
}

static void set_slopes(struct prog *p, const struct slopes *s)
{
	prog_set(p, 0x4120, (u32)s->under & 0xffff);
	prog_set(p, 0x4124, s->under_shift);
	prog_set(p, 0x4128, (u32)s->over << 16);
	prog_set(p, 0x412c, s->over_shift << 5);
}

static const struct slopes flat, steep = { 23107, 16434, 22, 13 }, down = { -300, -3, 3, 0 };

static void open_rig(struct rig *rig, const struct shape *s)
{
	rig_open(rig);
	rig_map(rig, IMAGE, 0x10000);
	rig_map(rig, SRC, shape_bytes(s));
	rig_map(rig, DST, 2 * shape_bytes(s));
}

/* int16: every code, in both scales that reach past the ends and stay inside */
static void all_int16(void **state)
{
	const struct shape s = { I16, 4096, 2, 8 };
	const struct slopes *slopes[] = { &flat, &steep, &down };
	s32 *v = malloc(4 * 65536);
	s16 t[1026];
	u32 i, k;

	(void)state;
	for (i = 0; i < 65536; i++)
		v[i] = (s16)i;
	noise(t, 3);
	for (k = 0; k < 6; k++) {
		u32 shift = k & 1;
		struct rig rig;
		struct prog p;

		open_rig(&rig, &s);
		cube_put(rig_at(&rig, SRC), v, &s);
		dpu_program(&p, &s);
		lut_apply(&p, 0, 1 << 16 | shift << 8);
		prog_set(&p, 0x4010, 0x24000001 | shift << 10);
		set_slopes(&p, slopes[k / 2]);
		lut_writes(&p, t);
		run_good(&rig, &p, 0x18);
		for (i = 0; i < 65536; i++) {
			s64 want = law(t, scaled(v[i], shift), slopes[k / 2]);

			want = want > 32767 ? 32767 : want < -32768 ? -32768 : want;
			assert_int_equal(cube_get(rig_at(&rig, DST), &s, i / 8, i % 8), want);
		}
		rig_close(&rig);
	}
	free(v);
}

/* The captured int8 SiLU (hw 04 §2.5) over all codes, against the function */
static void silu_int8(void **state)
{
	const struct shape s = { I8, 16, 1, 16 };
	const double in_scale = 65.1 * 11.6 / 32768, top = 5.8 / (1 + exp(-5.8));
	/* Scale that brings a code's step to 65.1 table codes: mul / 2^8 */
	s32 v[256];
	s16 t[1026];
	struct rig rig;
	struct prog p;
	u32 i;

	(void)state;
	for (i = 0; i < 1025; i++) {
		double x = -5.8 + i * 11.6 / 1024;
		s16 e = (s16)lrint(32767 * x / (1 + exp(-x)) / top);

		if (i <= 512)
			t[i] = e;
		if (i >= 512)
			t[i + 1] = e;
	}
	for (i = 0; i < 256; i++)
		v[i] = (s8)i;
	open_rig(&rig, &s);
	cube_put(rig_at(&rig, SRC), v, &s);
	dpu_program(&p, &s);
	lut_apply(&p, (u32)-33336, 16668 << 16 | 8 << 8);
	prog_set(&p, 0x4010, 8 << 10);
	prog_set(&p, 0x4128, 0x40320000);
	prog_set(&p, 0x412c, 0x1a0);
	prog_set(&p, 0x4080, 0xffffff98);
	prog_set(&p, 0x4084, 0x7ad3);
	prog_set(&p, 0x4088, 0x15);
	lut_writes(&p, t);
	run_good(&rig, &p, 0x18);
	for (i = 0; i < 256; i++) {
		double x = (v[i] - 2) * in_scale, y = x / (1 + exp(-x)) / top * 32767;
		s32 got = cube_get(rig_at(&rig, DST), &s, i / 16, i % 16);
		double want = y * 0x7ad3 / (1 << 21) - 104;

		/* Left of the table its first value holds */
		if (x < -5.8)
			want = 32767 * -5.8 / (1 + exp(5.8)) / top * 0x7ad3 / (1 << 21) - 104;
		want = want > 127 ? 127 : want < -128 ? -128 : want;
		assert_true(fabs(got - want) <= 1.0);
	}
	rig_close(&rig);
}

/* All 65,536 halves through the captured exponential */
static void all_halves(void **state)
{
	const struct shape s = { F16, 8192, 1, 8 };
	s32 *v = malloc(4 * 65536);
	s16 t[1026];
	struct rig rig;
	struct prog p;
	double worst = 0;
	u32 i;

	(void)state;
	for (i = 0; i < 65536; i++)
		v[i] = (s32)i;
	lut_exp(t);
	open_rig(&rig, &s);
	cube_put(rig_at(&rig, SRC), v, &s);
	dpu_program(&p, &s);
	lut_apply(&p, 0x467ff000, 0x6a660000);
	prog_set(&p, 0x4080, 1);
	prog_set(&p, 0x4088, 0xf000);
	lut_writes(&p, t);
	run_good(&rig, &p, 0x18);
	for (i = 0; i < 65536; i++) {
		float x = half_to_float((u16)i), y = x * 3276.0f;
		u32 got = (u32)cube_get(rig_at(&rig, DST), &s, i / 8, i % 8);
		double index, f = half_to_float((u16)got);
		s64 code;

		y += 16380.0f;
		index = isnan(y) ? 0 : rint(y);
		code = law(t, index > 2e9 ? 2147483647 : index < -2e9 ? -2147483647 - 1 :
			   (s64)index, &flat);
		assert_int_equal(got, float_to_half((float)code / 32768.0f));
		/* And the function: the table's last quarter code of gain aside */
		if (x <= 0 && x >= -10 && fabs(f - exp(x)) > worst)
			worst = fabs(f - exp(x));
	}
	/* 0.0013 at 0 (hw 04 §3.6), half a table step elsewhere */
	assert_true(worst < 2e-3);
	free(v);
	rig_close(&rig);
}

/* Loaded by one task, applied by the next, by the next kick, not after a reset */
static void survives(void **state)
{
	const struct shape s = { I16, 64, 1, 8 };
	struct link *links = calloc(2, sizeof(*links));
	s32 v[512];
	s16 t[1026];
	struct rig rig;
	u32 amount, i;

	(void)state;
	noise(t, 9);
	cube_random(v, &s, 4);
	open_rig(&rig, &s);
	cube_put(rig_at(&rig, SRC), v, &s);
	rig_map(&rig, VEC, 16);
	lut_program(&links[0].p, t, VEC);
	dpu_program(&links[1].p, &s);
	lut_apply(&links[1].p, 0, 1 << 16);
	links[0].start = 0x18;
	links[1].start = 0x18;
	prog_set(&links[1].p, 0x4004, 0x30);
	prog_set(&links[1].p, 0x5004, 0x30);
	amount = links_store(&rig, links, 2);
	assert_int_equal(amount, 0x226);
	assert_int_equal(links_kick(&rig, amount, 2, false, 0x300), NPU_OK);
	for (i = 0; i < 512; i++)
		assert_int_equal(cube_get(rig_at(&rig, DST), &s, i / 8, i % 8),
				 law(t, v[i], &flat));
	assert_int_equal(*rig_at(&rig, VEC), 0xa5);

	memset(rig_at(&rig, DST), 0, shape_bytes(&s));
	run_good(&rig, &links[1].p, 0x18);
	for (i = 0; i < 512; i++)
		assert_int_equal(cube_get(rig_at(&rig, DST), &s, i / 8, i % 8),
				 law(t, v[i], &flat));

	npu_core_reset(rig.core);
	run_one(&rig, &links[1].p, 0x18);
	assert_int_equal(rig.report.cls, NPU_WRONG);
	assert_int_equal(rig.report.tasks_done, 0);
	assert_non_null(strstr(rig.report.law, "hw 03 S10"));
	/* A loose core computes with what is there. */
	npu_core_reset(rig.core);
	npu_core_set_laws(rig.core, false);
	run_one(&rig, &links[1].p, 0x18);
	assert_int_equal(rig.report.cls, NPU_WRONG);
	assert_int_equal(rig.report.tasks_done, 1);
	for (i = 0; i < 512; i++)
		if (cube_get(rig_at(&rig, DST), &s, i / 8, i % 8) != law(t, v[i], &flat))
			break;
	assert_true(i < 512);
	free(links);
	rig_close(&rig);
}

/* Matmul and copy programs write zeros to 4100 and 4104: no table is touched. */
static void other_lists(void **state)
{
	const struct shape s = { I16, 64, 1, 8 };
	s32 v[512];
	s16 t[1026];
	struct rig rig;
	struct prog p;
	u32 i;

	(void)state;
	noise(t, 5);
	cube_random(v, &s, 6);
	open_rig(&rig, &s);
	cube_put(rig_at(&rig, SRC), v, &s);
	rig_map(&rig, VEC, 16);
	lut_program(&p, t, VEC);
	run_good(&rig, &p, 0x18);
	dpu_program(&p, &s);
	run_good(&rig, &p, 0x18);
	lut_apply(&p, 0, 1 << 16);
	run_good(&rig, &p, 0x18);
	for (i = 0; i < 512; i++)
		assert_int_equal(cube_get(rig_at(&rig, DST), &s, i / 8, i % 8),
				 law(t, v[i], &flat));
	rig_close(&rig);
}

/*
 * Under task ping-pong a task that follows a load reads a table of which only
 * the first part is new; the task after it, the whole (hw 03 S11).
 */
static void half_written(void **state)
{
	const struct shape s = { I16, 4096, 1, 8 };
	struct link *links = calloc(3, sizeof(*links));
	s32 *v = malloc(4 * 32768);
	s16 old[1026], new[1026];
	u32 seed, i, first = 0, cuts[8];
	struct rig rig;

	(void)state;
	noise(old, 1);
	noise(new, 2);
	for (i = 0; i < 32768; i++)
		v[i] = (s32)i - 16384;
	open_rig(&rig, &s);
	rig_map(&rig, SRC2, shape_bytes(&s));
	cube_put(rig_at(&rig, SRC), v, &s);
	rig_map(&rig, VEC, 16);
	for (i = 0; i < 3; i++)
		links[i].start = 0x18;
	npu_core_set_laws(rig.core, false);
	for (seed = 0; seed < 8; seed++) {
		bool whole = true;
		u32 k, cut = 0;

		npu_core_set_seed(rig.core, seed / 2 + 77);
		lut_program(&links[0].p, old, VEC);
		links_kick(&rig, links_store(&rig, links, 1), 1, true, 0x300);
		assert_int_equal(rig.report.cls, NPU_OK);
		lut_program(&links[0].p, new, VEC);
		for (i = 1; i < 3; i++) {
			dpu_program(&links[i].p, &s);
			lut_apply(&links[i].p, 0, 1 << 16);
		}
		prog_set(&links[2].p, 0x4020, SRC2);
		assert_int_equal(links_kick(&rig, links_store(&rig, links, 3), 3, true, 0x300),
				 NPU_WRONG);
		assert_int_equal(rig.report.tasks_done, 3);
		assert_int_equal(rig.report.task, 1);
		assert_non_null(strstr(rig.report.law, "hw 03 S11"));

		/* Entries in the order they were written: new ones, then old ones */
		for (k = 0; k < 1026; k++) {
			s32 x = k < 513 ? (s32)k * 32 - 16384 : (s32)(k - 513) * 32;
			s32 at = x + 16384;
			s16 got;

			/* LE's last entry is reached by interpolation only, LO's not at all. */
			if (k == 512 || k == 1025)
				continue;
			got = (s16)cube_get(rig_at(&rig, DST), &s, (u32)at / 8, (u32)at % 8);
			if (got == new[k] && whole) {
				cut = k + 1;
				continue;
			}
			whole = false;
			assert_int_equal(got, old[k]);
		}
		assert_true(cut < 1026);
		cuts[seed] = cut;
		for (i = 0; i < 32768; i++)
			assert_int_equal(cube_get(rig_at(&rig, SRC2), &s, i / 8, i % 8),
					 law(new, v[i], &flat));
	}
	/* The same seed, the same cut; other seeds, others */
	for (i = 0; i < 8; i += 2) {
		assert_int_equal(cuts[i], cuts[i + 1]);
		first += cuts[i] == cuts[0];
	}
	assert_int_equal(first, 1);

	/* Without it every task sees what was written before it. */
	lut_program(&links[0].p, old, VEC);
	assert_int_equal(links_kick(&rig, links_store(&rig, links, 3), 3, false, 0x300), NPU_OK);
	for (i = 0; i < 32768; i++)
		assert_int_equal(cube_get(rig_at(&rig, DST), &s, i / 8, i % 8),
				 law(old, v[i], &flat));

	/* A strict core refuses the load. */
	npu_core_set_laws(rig.core, true);
	assert_int_equal(links_kick(&rig, links_store(&rig, links, 3), 3, true, 0x300), NPU_WRONG);
	assert_int_equal(rig.report.tasks_done, 0);
	assert_non_null(strstr(rig.report.law, "hw 03 C3"));
	/* Written and used by one task alone, ping-pong does no harm. */
	npu_core_reset(rig.core);
	links[0] = links[1];
	lut_writes(&links[0].p, new);
	assert_int_equal(links_kick(&rig, links_store(&rig, links, 1), 1, true, 0x300), NPU_OK);
	free(links);
	free(v);
	rig_close(&rig);
}

/* More values than a table has, and other forms of it than captured */
static void breaches(void **state)
{
	static const u32 forms[][2] = {
		{ 0x4108, 0x60 }, { 0x410c, 0x50600 }, { 0x4110, 0xffffc001 }, { 0x411c, 0x2000 },
	};
	const struct shape s = { I16, 4, 1, 8 };
	s16 t[1026];
	struct rig rig;
	struct prog p;
	u32 i;

	(void)state;
	noise(t, 5);
	open_rig(&rig, &s);
	for (i = 0; i < ARRAY_SIZE(forms); i++) {
		dpu_program(&p, &s);
		lut_apply(&p, 0, 1 << 16);
		lut_writes(&p, t);
		prog_set(&p, forms[i][0], forms[i][1]);
		npu_core_reset(rig.core);
		run_one(&rig, &p, 0x18);
		assert_int_equal(rig.report.cls, NPU_WRONG);
		assert_non_null(strstr(rig.report.law, "hw 04 2.5"));
	}
	dpu_program(&p, &s);
	lut_writes(&p, t);
	prog_add(&p, DPU, 0x4104, 1);
	npu_core_reset(rig.core);
	run_one(&rig, &p, 0x18);
	assert_int_equal(rig.report.cls, NPU_WRONG);
	rig_close(&rig);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(exp_facts),
		cmocka_unit_test(all_int16),
		cmocka_unit_test(silu_int8),
		cmocka_unit_test(all_halves),
		cmocka_unit_test(survives),
		cmocka_unit_test(other_lists),
		cmocka_unit_test(half_written),
		cmocka_unit_test(breaches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
