// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Chains: full and light programs, their links, and where they are cut. */
#include <math.h>

#include "prog_shapes.h"
#include "prog_time.h"

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
		kicks = extent_of(&small, &g, rows[i]).kicks;
		assert_int_equal(rkmm_image_bytes(&g), g.programs * 896ull);
		assert_int_equal(kicks, (programs + small.tasks_max - 1) / small.tasks_max);
		emit_at(&small, &g, rows[i], 0x40000000, image, kick);
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
	assert_int_equal(extent_of(chip, &g, 394).kicks, 1);
	emit_at(chip, &g, 394, 0x1000, image, &kick);
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
	assert_int_equal(extent_of(chip, &g, 394).bytes, at);
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
		size = extent_of(&limits, &g, rows).bytes;
		assert_true(size <= rkmm_image_bytes(&g));
		image = malloc(size + 8);
		image[size / 8] = 0x5a5a;
		kick = calloc(extent_of(&limits, &g, rows).kicks, sizeof(*kick));
		emit_at(&limits, &g, rows, 0x40000000, image, kick);
		for (k = 0; k < extent_of(&limits, &g, rows).kicks; k++) {
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
		assert_true(extent_of(chip, &g, 128).bytes < 96 * 1024);
	}
}

/* Time of tasks @from..@to by the law; no program is faster than the dispatch. */
static double law_tasks(const struct rkmm_geom *g, uint32_t from, uint32_t to)
{
	struct way w = way_of(g);
	struct rkmm_program p;
	double ns = 0, one;

	for (; from < to; from++) {
		rkmm_geom_program(g, from, g->mm.m, 0, 0, 0, &p);
		one = law_program(chip->cost, &w, p.m, p.n);
		ns += fmax(one, chip->cost->i4_start[g->lanes - 1]);
	}
	return ns;
}

/* The law alone, of the programs before @to */
static double law_programs(const struct rkmm_geom *g, uint32_t to)
{
	struct way w = way_of(g);
	struct rkmm_program p;
	double ns = 0;
	uint32_t i;

	for (i = 0; i < to; i++) {
		rkmm_geom_program(g, i, g->mm.m, 0, 0, 0, &p);
		ns += law_program(chip->cost, &w, p.m, p.n);
	}
	return ns;
}

/* A kick is about 3 ms of the law at most, and never less than a program. */
static void test_kick_time(void **state)
{
	static const uint32_t shapes[][3] = {
		{ 512, 6144, 6144 }, { 2000, 2048, 8192 }, { 7, 4096, 64 }, { 600, 8000, 9000 },
	};
	uint32_t t, i, j, lane;

	(void)state;
	for (t = 0; t < RKMM_T_COUNT; t++) {
		for (i = 0; i < 4; i++) {
			struct rkmm_matmul mm = matmul(t, shapes[i][0], shapes[i][1], shapes[i][2]);
			struct rkmm_extent extent;
			struct rkmm_kick *kick;
			uint32_t tasks = 0;
			struct rkmm_geom g;
			struct way w;
			u64 *image;

			mm.lanes = 3;
			g = geometry(&mm);
			w = way_of(&g);
			extent = extent_of(chip, &g, mm.m);
			image = malloc(rkmm_image_bytes(&g));
			kick = calloc(extent.kicks, sizeof(*kick));
			emit_at(chip, &g, mm.m, 0, image, kick);
			for (j = 0, lane = 0; j < extent.kicks; j++) {
				double ns = law_start(chip->cost, &w) +
					    law_tasks(&g, tasks, tasks + kick[j].tasks), more;
				bool last = j + 1 == extent.kicks || kick[j + 1].lane != lane;

				assert_int_equal(kick[j].lane, lane);
				assert_true(fabs((double)kick[j].predicted_ns - ns) <=
					    kick[j].tasks + 1);
				assert_true(kick[j].tasks >= 1 && kick[j].tasks <= chip->tasks_max);
				assert_true(kick[j].tasks == 1 || ns <= 3.0e6);
				tasks += kick[j].tasks;
				/* cut only where one more would be too long */
				more = last ? 0 : law_tasks(&g, tasks, tasks + 1);
				assert_true(last || ns + more > 3.0e6 ||
					    kick[j].tasks == chip->tasks_max);
				lane += last;
				/* a program belongs to the share that its middle is in */
				assert_true(!last || fabs(law_programs(&g, tasks) - lane *
							  law_programs(&g, g.programs) / g.lanes) <=
					    law_program(chip->cost, &w, g.rows, g.cols) / 2 + tasks);
			}
			assert_int_equal(tasks, g.programs);
			assert_int_equal(lane, extent.lanes);
			assert_int_equal(lane, g.lanes);
			free(image);
			free(kick);
		}
	}
}

/**
 * struct reader - a chain as the core reads it
 * @image: from @base on
 * @base: its address
 * @at: next program
 * @amount: of it
 * @group: register groups
 * @writes: of the last program read
 */
struct reader {
	const u64 *image;
	uint32_t base, at, amount;
	struct regs group[2];
	uint32_t writes;
};

/* Reads task @j of a kick and follows its link; returns the registers it runs with. */
static const struct regs *read_task(struct reader *r, uint32_t j)
{
	const u64 *w = r->image + (r->at - r->base) / 8;
	uint32_t n;

	for (n = 0; w[n] >> 48 != 0x0041; n++)
		;
	assert_int_equal(r->amount + 1, (n + 2 + 1) / 2);
	r->writes = n - 2;
	regs_load(&r->group[j & 1], w, n - 2);
	r->amount = w[n - 1] >> 16 & 0xffff;
	r->at = (uint32_t)(w[n - 2] >> 16);
	return &r->group[j & 1];
}

/* What full programs would make of the registers */
static void full_regs(const struct rkmm_program *prog, struct regs *r)
{
	u64 words[RKMM_PROG_WRITES];

	memset(r, 0x5a, sizeof(*r));
	regs_load(r, words, rkmm_emit_program(prog, words));
}

#define WEIGHT_KEPT	0x2000u		/* 1040 bit 13 */

/**
 * struct order - the programs of a group in order
 * @m: members
 * @member: present one
 * @time: operation of it
 * @i: its next program
 */
struct order {
	const struct rkmm_member *m;
	uint32_t member, time, i;
};

static const struct rkmm_member *next_in_order(struct order *o, struct rkmm_program *p)
{
	const struct rkmm_member *m = &o->m[o->member];

	rkmm_geom_program(m->geom, o->i, m->rows, m->a + o->time * m->a_stride,
			  m->b + o->time * m->b_stride, m->c + o->time * m->c_stride, p);
	if (++o->i == rkmm_geom_programs(m->geom, m->rows)) {
		o->i = 0;
		if (++o->time == m->count) {
			o->time = 0;
			o->member++;
		}
	}
	return m;
}

/*
 * The chains of a group as the register groups see them: every task is the next full
 * program, but for kept weights, which are those of the task before. No chain has
 * what hw 02 §7.2 forbids. Returns how many tasks kept their weight.
 */
static uint32_t check_group(const struct rkmm_limits *limits, const struct rkmm_member *members,
			    uint32_t n, uint32_t *light)
{
	static struct reader r;
	static struct regs want;
	struct order order = { .m = members };
	uint32_t k, j, done = 0, kept = 0;
	struct rkmm_extent extent;
	struct rkmm_kick *kick;
	u64 *image;

	rkmm_image_measure(limits, members, n, &extent);
	image = malloc(extent.bytes + 8);
	image[extent.bytes / 8] = 0x5a5a;
	kick = calloc(extent.kicks, sizeof(*kick));
	rkmm_image_emit(limits, members, n, 0x40000000, image, kick);
	*light = 0;
	for (k = 0; k < extent.kicks; k++) {
		const struct rkmm_member *was = NULL;
		struct rkmm_program last = {};

		memset(&r, 0x5a, sizeof(r));
		r.image = image;
		r.base = 0x40000000;
		r.at = kick[k].addr;
		r.amount = kick[k].amount;
		for (j = 0; j < kick[k].tasks; j++, done++) {
			const struct regs *got = read_task(&r, j);
			const struct rkmm_member *m;
			struct rkmm_program p;
			bool keeps = reg(got, 0x1040) & WEIGHT_KEPT;

			m = next_in_order(&order, &p);
			assert_true(!keeps || m->geom->weight_reuse);
			p.weight_reuse = keeps;
			full_regs(&p, &want);
			assert_memory_equal(got, &want, sizeof(want));
			if (keeps) {
				assert_true(j && p.b == last.b && p.n == last.n && p.k == last.k &&
					    p.types == last.types && p.form == last.form &&
					    p.weight_banks == last.weight_banks);
				kept++;
			}
			if (j) {
				assert_int_equal(rkmm_in_bits(p.types), rkmm_in_bits(last.types));
				assert_true(rkmm_in_bits(p.types) != 16 ||
					    m->weights == was->weights);
			}
			*light += r.writes < 108;
			assert_true(j >= 2 || r.writes == 108);
			last = p;
			was = m;
		}
		assert_int_equal(r.amount, 0);
		assert_int_equal(r.at, 0);
		assert_int_equal(kick[k].pingpong, kick[k].tasks > 1);
		assert_true(kick[k].tasks > 1 || kick[k].reason);
		assert_true(kick[k].tasks <= limits->tasks_max);
	}
	assert_int_equal(done, extent.tasks);
	assert_int_equal(order.member, n);
	assert_int_equal(image[extent.bytes / 8], 0x5a5a);
	free(image);
	free(kick);
	return kept;
}

static void test_groups(void **state)
{
	struct rkmm_member members[6];
	struct rkmm_geom geoms[6];
	uint32_t i, n, light, all = 0, kept = 0;

	(void)state;
	for (i = 0; i < 300; i++) {
		struct rkmm_limits limits = *chip;

		if (rnd(3) == 0)
			limits.tasks_max = 1 + rnd(20);
		for (n = 0; n < 1 + i % 6; n++) {
			struct rkmm_matmul mm = matmul(rnd(RKMM_T_COUNT), size_near(60),
						       size_near(3000), size_near(900));

			mm.lanes = 1 + rnd(3);
			geoms[n] = n && rnd(2) ? geoms[rnd(n)] : geometry(&mm);
			members[n] = (struct rkmm_member){
				.geom = &geoms[n], .count = 1 + rnd(12),
				.rows = rnd(2) ? geoms[n].mm.m : 1 + rnd(geoms[n].mm.m),
				.a = 0x10000000 + 64 * rnd(1000), .b = 0x20000000 + 64 * rnd(3),
				.c = 0x30000000 + 64 * rnd(1000), .a_stride = 64 * rnd(1000),
				.b_stride = 64 * rnd(3), .c_stride = 64 * rnd(1000),
				.weights = rnd(2),
			};
		}
		kept += check_group(&limits, members, n, &light);
		all += light;
	}
	assert_true(all > 1000 && kept > 1000);
}

/* Many tiny products of one plan: one chain a lane, light from the third program on. */
static void test_tiny(void **state)
{
	struct rkmm_matmul mm = matmul(RKMM_T_I8I32, 1, 128, 64);
	struct rkmm_extent extent;
	struct rkmm_kick kick[3];
	uint32_t lanes, i;

	(void)state;
	for (lanes = 1; lanes <= 3; lanes++) {
		struct rkmm_member m = { .rows = 1, .count = 64, .a_stride = 128,
					 .b_stride = 8192, .c_stride = 256 };
		struct rkmm_geom g;
		uint32_t light;
		u64 *image;

		mm.lanes = lanes;
		mm.k = lanes == 1 ? 128 : 2048;
		g = geometry(&mm);
		m.geom = &g;
		rkmm_image_measure(chip, &m, 1, &extent);
		assert_int_equal(extent.tasks, 64 * g.programs);
		assert_int_equal(extent.kicks, extent.lanes);
		assert_true(extent.lanes <= lanes && extent.predicted_ns < 3000000);
		assert_true(lanes == 1 || extent.lanes > 1);
		/* 12 writes, 4 words of tail: 128 bytes */
		assert_int_equal(extent.bytes, extent.lanes * 2 * 896 +
				 (extent.tasks - 2 * extent.lanes) * 128);
		image = malloc(extent.bytes);
		rkmm_image_emit(chip, &m, 1, 0, image, kick);
		for (i = 0; i < extent.kicks; i++) {
			uint32_t share = extent.tasks / extent.lanes;

			assert_true(kick[i].tasks - share <= 1);
			assert_null(kick[i].reason);
		}
		free(image);
		assert_int_equal(check_group(chip, &m, 1, &light), 0);
		assert_int_equal(light, extent.tasks - 2 * extent.lanes);
	}
}

/* Where a chain must end, and the name of it */
static void test_cuts(void **state)
{
	struct rkmm_geom f16 = simple(RKMM_T_F16F32, 2, 64, 32);
	struct rkmm_geom other = simple(RKMM_T_F16F16, 1, 96, 16);
	struct rkmm_geom i8 = simple(RKMM_T_I8I32, 2, 64, 32);
	struct rkmm_member m[] = {
		{ .geom = &f16, .rows = 2, .count = 3, .weights = 1 },
		{ .geom = &other, .rows = 1, .count = 2, .weights = 1 },
		{ .geom = &f16, .rows = 2, .count = 1, .weights = 2 },
		{ .geom = &i8, .rows = 1, .count = 2, .weights = 2 },
		{ .geom = &i8, .rows = 2, .count = 2, .weights = 3 },
	};
	static const uint32_t tasks[] = { 5, 1, 4 };
	struct rkmm_extent extent;
	struct rkmm_kick kick[3];
	uint32_t i;
	u64 *image;

	(void)state;
	rkmm_image_measure(chip, m, 5, &extent);
	assert_int_equal(extent.kicks, 3);
	assert_int_equal(extent.lanes, 1);
	image = malloc(extent.bytes);
	rkmm_image_emit(chip, m, 5, 0, image, kick);
	for (i = 0; i < 3; i++)
		assert_int_equal(kick[i].tasks, tasks[i]);
	assert_string_equal(kick[0].reason, "cut: fp16 weights in another buffer");
	assert_string_equal(kick[1].reason, "cut: another precision");
	free(image);
	/* one that may not share the cores keeps all to one */
	f16 = simple(RKMM_T_F16F32, 64, 4096, 512);
	assert_int_equal(f16.lanes_most, 1);
	i8 = simple(RKMM_T_I8I32, 256, 2048, 2048);
	i8.mm.lanes = 3;
	f16.mm.lanes = 3;
	rkmm_image_measure(chip, m, 5, &extent);
	assert_int_equal(extent.lanes, 1);
	rkmm_image_measure(chip, m + 3, 2, &extent);
	assert_int_equal(extent.lanes, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_vendor_light),
		cmocka_unit_test(test_light),
		cmocka_unit_test(test_kick_time),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_tiny),
		cmocka_unit_test(test_cuts),
	};

	return cmocka_run_group_tests_name("prog chains", tests, NULL, NULL);
}
