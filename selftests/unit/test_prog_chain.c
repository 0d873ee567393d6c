// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Chains: full and light programs, their links, and where they are cut. */
#include "prog_shapes.h"

static void test_chain(void **state)
{
	struct rkmm_geom g = simple(RKMM_T_I4I16, 40, 512, 640);
	uint32_t rows[] = { 40, 33, 32, 1 }, i, j;

	(void)state;
	assert_true(g.weight_reuse);
	for (i = 0; i < 4; i++) {
		struct rkmm_limits small = *chip;
		uint32_t programs = rkmm_geom_programs(&g, rows[i]), kicks;
		u64 *image = malloc(rkmm_image_bytes(&g));
		struct rkmm_kick kick[16];

		small.tasks_max = i == 3 ? 4095 : 4 - i;
		small.light = false;
		kicks = rkmm_image_kicks(&small, &g, rows[i]);
		assert_int_equal(rkmm_image_bytes(&g), g.programs * 896ull);
		assert_int_equal(kicks, (programs + small.tasks_max - 1) / small.tasks_max);
		rkmm_image_emit(&small, &g, rows[i], 0x40000000, 0x10000000, 0x20000000,
				0x30000000, image, kick);
		for (j = 0; j < programs; j++) {
			const u64 *w = image + j * 112, *tail = w + 108;
			bool first = j % small.tasks_max == 0;
			bool last = j + 1 == programs || (j + 1) % small.tasks_max == 0;
			uint32_t tiles = programs / g.n_tiles;

			assert_int_equal(tail[0], last ? 0 : 0x0101000000000010ull |
					 (u64)(0x40000000 + (j + 1) * 896) << 16);
			assert_int_equal(tail[1], last ? 0x0101000000000014ull :
					 0x0101000000370014ull);
			assert_int_equal(tail[2], 0x0041000000000000ull);
			assert_int_equal(tail[3], 0x00810000000d0008ull);
			/* hw 02 §6.5: every program of a chunk but its first */
			assert_int_equal((w[15] >> 16) & 0xffff,
					 !first && j % tiles ? 0x20b1 : 0xb1);
			assert_int_equal(w[0], w[15]);
		}
		for (j = 0; j < kicks; j++) {
			uint32_t at = j * small.tasks_max;
			uint32_t tasks = programs - at < small.tasks_max ? programs - at :
					 small.tasks_max;

			assert_int_equal(kick[j].addr, 0x40000000 + at * 896);
			assert_int_equal(kick[j].amount, 0x37);
			assert_int_equal(kick[j].tasks, tasks);
			assert_int_equal(kick[j].int_mask, 0x300);
			assert_int_equal(kick[j].pingpong, tasks > 1);
			if (tasks == 1)
				assert_non_null(kick[j].reason);
		}
		free(image);
	}
}

/* hw 02 §7.4: the vendor's 394x394x394, 39 rows a task: writes, slots and amounts of its chain */
static void test_vendor_light(void **state)
{
	static const uint32_t writes[] = { 108, 108, 13, 12, 12, 12, 12, 12, 12, 12, 17 };
	static const uint32_t amounts[] = { 55, 8, 7, 7, 7, 7, 7, 7, 7, 10, 0 };
	struct rkmm_matmul mm = matmul(RKMM_T_F16F32, 394, 394, 394);
	struct rkmm_geom g = geometry(&mm);
	struct rkmm_kick kick;
	uint32_t i, at = 0;
	u64 *image;

	(void)state;
	g.rows = 39;
	g.m_tiles = 11;
	g.programs = 11;
	g.n_tiles = 1;
	g.grains = 40;
	g.weight_reuse = true;
	image = calloc(1, rkmm_image_bytes(&g));
	assert_int_equal(rkmm_image_kicks(chip, &g, 394), 1);
	rkmm_image_emit(chip, &g, 394, 0x1000, 0x10000000, 0x20000000, 0x30000000, image, &kick);
	for (i = 0; i < 11; i++) {
		const u64 *tail = image + at / 8 + writes[i];

		assert_int_equal(tail[-1] & 0xffff, i < 2 ? 0x412c : 0x405c);
		assert_int_equal(tail[0] & 0xffff, i == 10 ? 0 : 0x10);
		assert_int_equal(tail[1], 0x0101000000000014ull | (u64)amounts[i] << 16);
		assert_int_equal(tail[3], 0x00810000000d0008ull);
		at += i < 2 ? 0x380 : writes[i] == 12 ? 0x80 : 0xc0;
		if (i < 10)
			assert_int_equal(tail[0] >> 16 & 0xffffffff, 0x1000 + at);
	}
	assert_int_equal(rkmm_image_size(chip, &g, 394), at);
	free(image);
}

/* Every chain, walked as the two register groups see it, is the chain of full programs. */
static void test_light(void **state)
{
	static struct regs group[2], want;
	uint32_t i, j, k, n;

	(void)state;
	for (i = 0; i < 600; i++) {
		struct rkmm_matmul mm = matmul(rnd(RKMM_T_COUNT), size_near(700),
					       rnd(4) ? size_near(4000) : 10700 + rnd(9000),
					       size_near(1500));
		struct rkmm_limits limits = *chip;
		struct rkmm_program prog;
		struct rkmm_kick *kick;
		struct rkmm_geom g;
		uint32_t rows, at = 0, done = 0;
		u64 *image, size;

		mm.lanes = 1 + rnd(3);
		if (rnd(4) == 0)
			mm.form = RKMM_FORM_CUBE;
		if (rnd(3) == 0)
			limits.tasks_max = 1 + rnd(20);
		if (rkmm_geometry(&limits, &mm, &g) || g.programs > 3000)
			continue;
		rows = rnd(2) ? mm.m : 1 + rnd(mm.m);
		size = rkmm_image_size(&limits, &g, rows);
		assert_true(size <= rkmm_image_bytes(&g));
		image = malloc(size + 8);
		image[size / 8] = 0x5a5a;
		kick = calloc(rkmm_image_kicks(&limits, &g, rows), sizeof(*kick));
		rkmm_image_emit(&limits, &g, rows, 0x40000000, 0x10000000, 0x20000000, 0x30000000,
				image, kick);
		for (k = 0; k < rkmm_image_kicks(&limits, &g, rows); k++) {
			uint32_t amount = kick[k].amount;

			/* a kick finds anything in the registers */
			memset(group, 0x5a, sizeof(group));
			assert_int_equal(kick[k].addr, 0x40000000 + at);
			for (j = 0; j < kick[k].tasks; j++, done++) {
				const u64 *w = image + at / 8;
				u64 words[RKMM_PROG_WRITES];

				for (n = 0; w[n] >> 48 != 0x0041; n++)
					;
				/* what is fetched: two entries a unit, the tail among them */
				assert_int_equal(amount + 1, (n + 2 + 1) / 2);
				regs_load(&group[j & 1], w, n - 2);
				memset(&want, 0x5a, sizeof(want));
				rkmm_geom_program(&g, done, rows, 0x10000000, 0x20000000,
						  0x30000000, &prog);
				if (!j)
					prog.weight_reuse = false;
				regs_load(&want, words, rkmm_emit_program(&prog, words));
				assert_memory_equal(&group[j & 1], &want, sizeof(want));
				amount = w[n - 1] >> 16 & 0xffff;
				at += (n + 2) * 8 / 64 * 64 + ((n + 2) * 8 % 64 ? 64 : 0);
			}
			assert_int_equal(amount, 0);
		}
		assert_int_equal(at, size);
		assert_int_equal(image[size / 8], 0x5a5a);
		assert_int_equal(done, rkmm_geom_programs(&g, rows));
		free(image);
		free(kick);
	}
	/* the shipped chain of 512 programs */
	for (i = 1; i <= 3; i++) {
		struct rkmm_geom g = shipped(128, 2048, 2048, i);

		assert_int_equal(g.programs, 512);
		assert_true(rkmm_image_size(chip, &g, 128) < 96 * 1024);
	}
}

/* A kick is about 3 ms of the law at most, and never less than a program. */
static void test_kick_time(void **state)
{
	static const uint32_t shapes[][3] = {
		{ 512, 6144, 6144 }, { 2000, 2048, 8192 }, { 7, 4096, 64 }, { 600, 8000, 9000 },
	};
	uint32_t t, i, j;

	(void)state;
	for (t = 0; t < RKMM_T_COUNT; t++) {
		for (i = 0; i < 4; i++) {
			struct rkmm_matmul mm = matmul(t, shapes[i][0], shapes[i][1], shapes[i][2]);
			uint32_t kicks, tasks = 0;
			struct rkmm_kick *kick;
			struct rkmm_geom g;
			u64 *image;

			mm.lanes = 3;
			g = geometry(&mm);
			kicks = rkmm_image_kicks(chip, &g, mm.m);
			image = malloc(rkmm_image_bytes(&g));
			kick = calloc(kicks, sizeof(*kick));
			rkmm_image_emit(chip, &g, mm.m, 0, 0, 0, 0, image, kick);
			for (j = 0; j < kicks; j++) {
				tasks += kick[j].tasks;
				assert_true(kick[j].tasks >= 1 && kick[j].tasks <= chip->tasks_max);
				assert_true(kick[j].tasks == 1 || (double)kick[j].tasks *
					    g.lanes * g.predicted_ns / g.programs <= 3.0e6);
			}
			assert_int_equal(tasks, g.programs);
			assert_true(g.predicted_ns < 3000000 || kicks > g.lanes || tasks == kicks);
			free(image);
			free(kick);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_vendor_light),
		cmocka_unit_test(test_light),
		cmocka_unit_test(test_kick_time),
	};

	return cmocka_run_group_tests_name("prog chains", tests, NULL, NULL);
}
