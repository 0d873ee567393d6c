// SPDX-License-Identifier: GPL-2.0-only
/*
 * The captured softmax of hw 04 §3, as the vendor's compiler wrote it: nine
 * tasks in one image, four of them only what differs from the task that used
 * their register groups before. And the same graph in full, for other shapes.
 */
#include <math.h>

#include "test_model_cube.h"

#define TASKS	9

/**
 * struct graph - buffers and sizes
 * @w, @h: rows as an image
 * @n: channels
 * @in .. @dummy: device addresses
 */
struct graph {
	u32 w, h, n;
	u32 in, out, max, maxb, d, e, sum, sumb, w2, w6, w7, dummy;
};

static u32 rows(const struct graph *g)
{
	return g->w * g->h;
}

/* The capture, moved so that its first byte lies at @base (hw 04 §3.2) */
static struct graph captured(u32 base)
{
	const u32 delta = base - 0xfffae000;

	return (struct graph) {
		.w = 16, .h = 16, .n = 64,
		.out = 0xfffae000 + delta,
		.in = 0xfffb6000 + delta,
		.sum = 0xfffc6000 + delta,
		.max = 0xfffc6040 + delta,
		.maxb = 0xfffc7040 + delta,
		.sumb = 0xfffc8000 + delta,
		.d = 0xfffcf040 + delta,
		.e = 0xfffd7040 + delta,
		.w7 = 0xffffa280 + delta,
		.w2 = 0xffffa680 + delta,
		.w6 = 0xffffaa80 + delta,
		.dummy = 0xffffab00 + delta,
	};
}

static void full_shape(struct prog *p, const struct graph *g)
{
	const struct shape s = { F16, g->w, g->h, g->n };

	dpu_program(p, &s);
}

/* hw 04 §3.3: rows first .. first+count of the image, as a line of pixels */
static void row_max(struct prog *p, const struct graph *g, u32 first, u32 count)
{
	const struct shape s = { F16, count, 1, g->n };

	dpu_program(p, &s);
	prog_set(p, 0x400c, 0x020001e5 | (count * 2 + 15) / 16 << 9);
	prog_set(p, 0x4014, 0xfbff);
	prog_set(p, 0x4020, g->max + 2 * first);
	prog_set(p, 0x4024, 0);
	prog_set(p, 0x40c0, 0);
	prog_set(p, 0x4034, 0x01c00000);
	prog_set(p, 0x4084, 1);
	prog_set(p, 0x4088, 0x40000000);
	prog_set(p, 0x5018, g->in + 16 * first);
	prog_set(p, 0x5034, 3);
	prog_set(p, 0x5044, 0x17841);
	prog_set(p, 0x504c, 16 * (rows(g) - count));
}

/* hw 04 §3.4: the 108 writes with what all three convolutions share */
static void conv(struct prog *p, const struct graph *g, u32 a, u32 k, u32 b, u32 kernels, u32 c)
{
	const struct job j = { F16F16, 16, 64, 64, .v = 0xb1 };
	u32 r = rows(g), n = (kernels + 15) / 16 * 16, banks = (r * k * 2 + 32767) / 32768;

	flat_program(p, &j);
	prog_set(p, 0x1040, (12 - banks) << 4 | banks);
	prog_set(p, 0x100c, 0x120);
	prog_set(p, 0x1010, (g->h + 1) << 4);
	prog_set(p, 0x1020, g->w << 16 | g->h);
	prog_set(p, 0x1024, (k - 1) << 16 | k);
	prog_set(p, 0x1028, g->w);
	prog_set(p, 0x102c, r);
	prog_set(p, 0x1030, kernels * k * 2);
	prog_set(p, 0x1034, k * 2);
	prog_set(p, 0x1038, 0x1010000 | kernels);
	prog_set(p, 0x1044, (g->w * k * 2 + 63) / 64);
	prog_set(p, 0x1070, a);
	prog_set(p, 0x107c, 4 * g->w);
	prog_set(p, 0x1080, (r - 4 * g->w) & 0x0fffffff);
	prog_set(p, 0x1084, g->w << 16 | g->h);
	prog_set(p, 0x1088, k);
	prog_set(p, 0x1110, b);
	prog_set(p, 0x3010, 0x200);
	prog_set(p, 0x3014, (g->h - 1) << 16 | (g->w - 1));
	prog_set(p, 0x3018, n - 1);
	prog_set(p, 0x4020, c);
	prog_set(p, 0x4024, 16 * r);
	prog_set(p, 0x4030, g->w - 1);
	prog_set(p, 0x4034, g->h - 1);
	prog_set(p, 0x4038, 0);
	prog_set(p, 0x403c, (kernels - 1) << 16 | (n - 1));
	prog_set(p, 0x4050, 0x126);
	prog_set(p, 0x4058, n - 1);
	prog_set(p, 0x405c, (g->h - 1) << 16 | (g->w - 1));
	prog_set(p, 0x40c0, 32 * r);
}

static void broadcast_max(struct prog *p, const struct graph *g)
{
	conv(p, g, g->max, 8, g->w2, g->n, g->maxb);
	prog_set(p, 0x100c, 0x60008120);
	prog_set(p, 0x1024, 8);
	prog_set(p, 0x1044, rows(g));
	prog_set(p, 0x107c, g->w);
	prog_set(p, 0x1080, rows(g) - g->w);
}

static void broadcast_sum(struct prog *p, const struct graph *g)
{
	conv(p, g, g->sum, 8, g->w7, g->n, g->sumb);
	prog_set(p, 0x1024, 8);
}

static void ew(struct prog *p, const struct graph *g, u32 cfg, u32 a, u32 b, u32 c)
{
	full_shape(p, g);
	prog_set(p, 0x4020, c);
	prog_set(p, 0x4070, cfg);
	prog_set(p, 0x5018, a);
	prog_set(p, 0x5034, 0x40000008);
	prog_set(p, 0x5038, b);
	prog_set(p, 0x5040, 16 * rows(g));
}

static void exponential(struct prog *p, const struct graph *g)
{
	full_shape(p, g);
	prog_set(p, 0x4004, 0x30);
	prog_set(p, 0x5004, 0x30);
	prog_set(p, 0x4020, g->e);
	prog_set(p, 0x5018, g->d);
	lut_apply(p, 0x467ff000, 0x6a660000);
	prog_set(p, 0x4080, 1);
	prog_set(p, 0x4088, 0xf000);
}

/* The nine tasks in full; those that need more row-maximum tasks get them first. */
static u32 full_graph(struct link *l, const struct graph *g)
{
	s16 table[1026];
	u32 n = 0, i;

	for (i = 0; i < rows(g); i += 128)
		row_max(&l[n++].p, g, i, rows(g) - i < 128 ? rows(g) - i : 128);
	for (i = 0; i < n; i++)
		l[i].start = 0x18;
	l[n].start = 0x0d;
	broadcast_max(&l[n++].p, g);
	l[n].start = 0x18;
	ew(&l[n++].p, g, 0x108402c0, g->in, g->maxb, g->d);
	l[n].start = 0x18;
	lut_exp(table);
	lut_program(&l[n++].p, table, g->dummy);
	l[n].start = 0x18;
	exponential(&l[n++].p, g);
	l[n].start = 0x0d;
	conv(&l[n++].p, g, g->e, g->n, g->w6, 1, g->sum);
	l[n].start = 0x0d;
	broadcast_sum(&l[n++].p, g);
	l[n].start = 0x18;
	ew(&l[n].p, g, 0x108303c0, g->e, g->sumb, g->out);
	prog_set(&l[n].p, 0x4084, 1);
	prog_set(&l[n++].p, 0x5044, 0x17841);
	return n;
}

/* Of @p the registers in @list, in their order; 0 ends it */
static void keep(struct prog *p, const u16 *list)
{
	struct prog all = *p;
	u32 i;

	p->n = 0;
	for (; *list; list++) {
		for (i = 0; i < all.n; i++)
			if ((all.e[i] & 0xffff) == *list)
				break;
		assert_true(i < all.n);
		p->e[p->n++] = all.e[i];
	}
}

/* Of @p the registers that are not the DPU's, and those of the DPU in @list */
static void keep_others(struct prog *p, const u16 *list)
{
	struct prog all = *p;
	u32 i, k;

	p->n = 0;
	for (i = 0; i < all.n; i++) {
		bool in = all.e[i] >> 48 != DPU;

		for (k = 0; list[k]; k++)
			in |= (all.e[i] & 0xffff) == list[k];
		if (in)
			p->e[p->n++] = all.e[i];
	}
}

/* The lengths of the capture: t2 70, t3 24, t7 63, t8 28 writes (hw 04 §3.1) */
static void captured_deltas(struct link *l)
{
	static const u16 t2[] = {
		0x4004, 0x400c, 0x4014, 0x4020, 0x4024, 0x4030, 0x4034, 0x4050, 0x4058, 0x405c,
		0x4084, 0x4088, 0x40c0, 0,
	};
	static const u16 t3[] = {
		0x4004, 0x5004, 0x400c, 0x4014, 0x4020, 0x4024, 0x4030, 0x4034, 0x403c, 0x4058,
		0x405c, 0x4070, 0x4084, 0x4088, 0x40c0, 0x500c, 0x5010, 0x5014, 0x5018, 0x5034,
		0x5038, 0x5040, 0x5044, 0x504c, 0,
	};
	static const u16 t7_cna[] = {
		0x1040, 0x1104, 0x1100, 0x100c, 0x1044, 0x1070, 0x107c, 0x1080, 0x1084, 0x1088,
		0x1110, 0x1010, 0,
	};
	static const u16 t8[] = {
		0x4004, 0x5004, 0x400c, 0x4010, 0x4020, 0x4024, 0x4030, 0x4034, 0x403c, 0x4050,
		0x4058, 0x405c, 0x4070, 0x4078, 0x4080, 0x4084, 0x4088, 0x40c0, 0x500c, 0x5010,
		0x5014, 0x5018, 0x5034, 0x5038, 0x5040, 0x5044, 0x5048, 0x504c, 0,
	};
	struct prog dpu = l[7].p;
	u32 i;

	keep_others(&l[2].p, t2);
	keep(&l[3].p, t3);
	keep(&l[7].p, t7_cna);
	for (i = 0; i < dpu.n; i++)
		if (dpu.e[i] >> 48 == DPU)
			l[7].p.e[l[7].p.n++] = dpu.e[i];
	keep(&l[8].p, t8);
	assert_int_equal(l[2].p.n, 70);
	assert_int_equal(l[3].p.n, 24);
	assert_int_equal(l[7].p.n, 63);
	assert_int_equal(l[8].p.n, 28);
}

static void constants(struct rig *rig, const struct graph *g)
{
	u32 i;

	for (i = 0; i < g->n; i++) {
		static const u16 one[8] = { 0x3c00 };

		memcpy(rig_at(rig, g->w2 + 16 * i), one, 16);
		memcpy(rig_at(rig, g->w7 + 16 * i), one, 16);
		memcpy(rig_at(rig, g->w6 + 2 * i), one, 2);
	}
}

/* Scores of several spreads by row, up to -12 below the maximum and beyond */
static void scores(s32 *v, const struct graph *g, u32 seed)
{
	u32 m, n;

	for (m = 0; m < rows(g); m++)
		for (n = 0; n < g->n; n++) {
			float span = m % 4 == 0 ? 1 : m % 4 == 1 ? 4 : m % 4 == 2 ? 12 : 20;
			float x = (rnd(&seed) % 10001) / 10000.0f * span - m % 7 * 3.0f;

			v[m * g->n + n] = float_to_half(x);
		}
}

static float half_at(struct rig *rig, u32 addr, const struct graph *g, u32 m, u32 n)
{
	const struct shape s = { F16, g->w, g->h, g->n };

	return half_to_float((u16)cube_get(rig_at(rig, addr), &s, m, n));
}

/*
 * Each step against what it says it computes, bit by bit where it is exact, and
 * the whole against double precision. Bound of the whole: the table ends at -10
 * with 2^-15 and is 12 bits wide near 0, so 2e-3 absolute.
 */
static void check(struct rig *rig, const struct graph *g, const s32 *v, bool steps)
{
	u32 m, n;

	for (m = 0; m < rows(g); m++) {
		double top = -1e9, sum = 0, esum = 0, osum = 0;
		float s = steps ? half_at(rig, g->sumb, g, m, 0) : 0;

		for (n = 0; n < g->n; n++)
			top = fmax(top, half_to_float((u16)v[m * g->n + n]));
		for (n = 0; n < g->n; n++)
			sum += exp(half_to_float((u16)v[m * g->n + n]) - top);
		for (n = 0; n < g->n; n++) {
			float x = half_to_float((u16)v[m * g->n + n]);
			float y = half_at(rig, g->out, g, m, n);
			float d, e;

			osum += y;
			assert_true(fabs(y - exp(x - top) / sum) <= 2e-3);
			if (!steps)
				continue;
			d = half_to_float(float_to_half(x - (float)top));
			e = half_at(rig, g->e, g, m, n);
			/* In the capture SUMB lies over D, which is dead by then. */
			if (g->sumb > g->d || g->sumb + 32768 <= g->d)
				assert_true(d == half_at(rig, g->d, g, m, n));
			assert_true(fabs(e - exp(d)) <= 2e-3);
			assert_true(half_at(rig, g->sumb, g, m, n) == s);
			assert_true(y == half_to_float(float_to_half(e / s)));
			esum += e;
		}
		assert_true(fabs(osum - 1) <= 1e-2);
		/* One rounding to fp16, after a sum in fp32 */
		if (steps)
			assert_true(fabs(s - esum) <= esum / 1024);
	}
}

/* One image as in the capture, links and lengths included */
static void replay(void **state)
{
	static const u32 slots[TASKS] = {
		0x4cb00, 0x4cd80, 0x4d000, 0x4d280, 0x4d380, 0x4f600, 0x4f880, 0x4fc00, 0x4fe40,
	};
	/* Amounts that t0 to t7 carry for their successors */
	static const u32 amounts[TASKS - 1] = {
		0x24, 0x24, 0xd, 0x226, 0x24, 0x37, 0x21, 0xf,
	};
	const u32 base = 0x40000000;
	const struct graph g = captured(base);
	const struct shape s = { F16, 16, 16, 64 };
	struct link *l = calloc(TASKS, sizeof(*l));
	s32 *v = malloc(4 * shape_values(&s));
	struct rig rig;
	u32 i;

	(void)state;
	rig_open(&rig);
	rig_map(&rig, base, 0x51000);
	scores(v, &g, 17);
	cube_put(rig_at(&rig, g.in), v, &s);
	constants(&rig, &g);
	assert_int_equal(full_graph(l, &g), TASKS);
	captured_deltas(l);
	for (i = 0; i < TASKS; i++) {
		struct prog p = l[i].p;
		bool last = i + 1 == TASKS;

		if (!last)
			assert_int_equal(prog_amount(l[i + 1].p.n), amounts[i]);
		prog_tail(&p, last ? 0 : base + slots[i + 1], last ? 0 : amounts[i], l[i].start);
		prog_add(&p, 0, 0, 0);
		assert_true(last || slots[i] + (l[i].p.n + 4) * 8 <= slots[i + 1]);
		prog_store(&rig, base + slots[i], &p);
	}
	assert_int_equal(base + slots[0], g.dummy);
	rig_kick(&rig, base + slots[0], 0x24, TASKS, false);
	assert_null(rig.report.law);
	assert_int_equal(rig.report.cls, NPU_OK);
	assert_int_equal(rig.report.tasks_done, TASKS);
	assert_int_equal(rig.report.unknown_regs, 0);
	check(&rig, &g, v, true);
	/* MAX and SUM share memory: what is there now is SUM. */
	assert_true(half_at(&rig, g.sum, &g, 0, 0) == half_at(&rig, g.sumb, &g, 0, 0));
	free(v);
	free(l);
	rig_close(&rig);
}

static struct graph apart(u32 w, u32 h, u32 n)
{
	u32 size = (16 * w * h * (n / 8) + 0xfff) & ~0xfffu;

	return (struct graph) {
		.w = w, .h = h, .n = n,
		.in = SRC, .out = DST, .d = SRC2,
		.e = SRC2 + size, .maxb = SRC2 + 2 * size, .sumb = SRC2 + 3 * size,
		.sum = VEC, .max = VEC + 0x10000, .w2 = VEC + 0x20000, .w6 = VEC + 0x28000,
		.w7 = VEC + 0x30000, .dummy = VEC + 0x40000,
	};
}

static void open_apart(struct rig *rig, const struct graph *g, s32 *v, u32 seed)
{
	const struct shape s = { F16, g->w, g->h, g->n };
	u32 size = (shape_bytes(&s) + 0xfff) & ~0xfffu;

	rig_open(rig);
	rig_map(rig, IMAGE, 0x8000);
	rig_map(rig, SRC, size);
	rig_map(rig, SRC2, 4 * size);
	rig_map(rig, DST, size);
	rig_map(rig, VEC, 0x50000);
	scores(v, g, seed);
	cube_put(rig_at(rig, SRC), v, &s);
	constants(rig, g);
}

/* Full lists for other shapes; the chain's ends in one interrupt of group 1 or 0 */
static void shapes(void **state)
{
	static const u32 sizes[][3] = {
		{ 16, 16, 64 }, { 12, 7, 96 }, { 4, 2, 32 }, { 20, 13, 128 }, { 8, 4, 24 },
		{ 1, 5, 64 }, { 40, 9, 64 },
	};
	struct link *l = calloc(12, sizeof(*l));
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		const struct graph g = apart(sizes[i][0], sizes[i][1], sizes[i][2]);
		s32 *v = malloc(4 * rows(&g) * g.n);
		struct rig rig;
		u32 n;

		open_apart(&rig, &g, v, i);
		n = full_graph(l, &g);
		links_kick(&rig, links_store(&rig, l, n), n, false, 0x300);
		if (rig.report.law)
			print_error("%s\n", rig.report.law);
		assert_null(rig.report.law);
		assert_int_equal(rig.report.cls, NPU_OK);
		assert_true(npu_core_irq(rig.core));
		check(&rig, &g, v, true);
		free(v);
		rig_close(&rig);
	}
	free(l);
}

/* The same bits with deltas as with full lists, and again on a warm core */
static void inheritance(void **state)
{
	struct link *l = calloc(12, sizeof(*l));
	const struct graph g = apart(16, 16, 64);
	u8 *first = malloc(32768);
	s32 *v = malloc(4 * 256 * 64);
	struct rig rig;
	u32 round;

	(void)state;
	open_apart(&rig, &g, v, 99);
	for (round = 0; round < 4; round++) {
		full_graph(l, &g);
		if (round & 1)
			captured_deltas(l);
		memset(rig_at(&rig, DST), 0xa5, 32768);
		links_kick(&rig, links_store(&rig, l, TASKS), TASKS, false, 0x300);
		assert_int_equal(rig.report.cls, NPU_OK);
		if (!round)
			memcpy(first, rig_at(&rig, DST), 32768);
		assert_memory_equal(first, rig_at(&rig, DST), 32768);
	}
	free(first);
	free(v);
	free(l);
	rig_close(&rig);
}

/* With task ping-pong the exponential reads a half-written table (hw 03 S11). */
static void pingpong(void **state)
{
	struct link *l = calloc(12, sizeof(*l));
	const struct graph g = apart(16, 16, 64);
	s32 *v = malloc(4 * 256 * 64);
	u32 m, n, bad = 0;
	struct rig rig;

	(void)state;
	open_apart(&rig, &g, v, 5);
	full_graph(l, &g);
	links_kick(&rig, links_store(&rig, l, TASKS), TASKS, true, 0x300);
	assert_int_equal(rig.report.cls, NPU_WRONG);
	assert_int_equal(rig.report.task, 4);
	assert_int_equal(rig.report.tasks_done, 4);
	npu_core_reset(rig.core);
	npu_core_set_laws(rig.core, false);
	links_kick(&rig, links_store(&rig, l, TASKS), TASKS, true, 0x300);
	assert_int_equal(rig.report.cls, NPU_WRONG);
	assert_int_equal(rig.report.tasks_done, TASKS);
	for (m = 0; m < 256; m++)
		for (n = 0; n < 64; n++)
			bad += fabs(half_at(&rig, g.e, &g, m, n) -
				    exp(half_at(&rig, g.d, &g, m, n))) > 0.01;
	assert_true(bad > 1000);
	free(v);
	free(l);
	rig_close(&rig);
}

/* --- the min/max unit by itself ---------------------------------------------------------- */

static void extremes(void **state)
{
	static const u32 sizes[][3] = {
		{ 1, 8, 8 }, { 5, 8, 5 }, { 128, 64, 64 }, { 77, 24, 20 }, { 9, 1024, 1000 },
	};
	u32 i, m, n, min;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		for (min = 0; min < 2; min++) {
			const struct shape s = { F16, sizes[i][0], 1, sizes[i][1] };
			const struct graph g = { s.w, 1, s.n, .in = SRC, .max = DST };
			u32 real = sizes[i][2], unit = (s.w * 2 + 15) / 16 * 16;
			u16 pad = min ? 0x7bff : 0xfbff;
			s32 *v = malloc(4 * shape_values(&s));
			struct rig rig;
			struct prog p;

			rig_open(&rig);
			rig_map(&rig, IMAGE, 0x4000);
			rig_map(&rig, SRC, shape_bytes(&s));
			rig_map(&rig, DST, unit + 16);
			cube_random(v, &s, i);
			cube_put(rig_at(&rig, SRC), v, &s);
			row_max(&p, &g, 0, s.w);
			prog_set(&p, 0x403c, (real - 1) << 16 | (s.n - 1));
			if (min) {
				prog_set(&p, 0x4034, 0x01400000);
				prog_set(&p, 0x4014, pad);
			}
			run_good(&rig, &p, 0x18);
			for (m = 0; m < unit / 2; m++) {
				float want = half_to_float(pad);

				for (n = 0; n < real && m < s.w; n++) {
					float x = half_to_float((u16)v[m * s.n + n]);

					want = min ? fminf(want, x) : fmaxf(want, x);
				}
				assert_int_equal(get_out(rig_at(&rig, DST + 2 * m), 2),
						 float_to_half(want));
			}
			assert_int_equal(*rig_at(&rig, DST + unit), 0xa5);
			free(v);
			rig_close(&rig);
		}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(extremes),
		cmocka_unit_test(replay),
		cmocka_unit_test(shapes),
		cmocka_unit_test(inheritance),
		cmocka_unit_test(pingpong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
