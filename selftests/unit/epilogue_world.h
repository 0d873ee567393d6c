/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A matmul with an epilogue on the software NPU: memory, operands, one run as the driver
 * has it, the same as operations one after the other, and plain loops.
 */
#ifndef EPILOGUE_WORLD_H
#define EPILOGUE_WORLD_H

#include "prog_world.h"
#include "kmod/prog/rkmm_epilogue.h"

#define OPERAND_D	4
#define OPERAND_E	5
#define TEMP		6
#define CONSTS		7
#define SPARE		8	/* results of separate operations */
#define REGIONS		10

static struct region mem[REGIONS];
static struct rkmm_epilogue *epi;
static struct rkmm_opgeom *alone;

static inline struct region *find(uint32_t addr, uint64_t len, bool write)
{
	int i;

	for (i = 0; i < REGIONS; i++)
		if (mem[i].data && addr >= mem[i].base && (uint64_t)addr - mem[i].base + len <=
		    mem[i].size + (write ? 0 : mem[i].guard) && (mem[i].writable || !write))
			return &mem[i];
	return NULL;
}

static inline int ep_read(void *ctx, u32 addr, void *dst, u32 len, u32 *fault)
{
	struct region *r = find(addr, len, false);

	(void)ctx;
	*fault = addr;
	if (!r)
		return -1;
	memcpy(dst, r->data + (addr - r->base), len);
	return 0;
}

static inline int ep_write(void *ctx, u32 addr, const void *src, u32 len, u32 *fault)
{
	struct region *r = find(addr, len, true);

	(void)ctx;
	*fault = addr;
	if (!r)
		return -1;
	memcpy(r->data + (addr - r->base), src, len);
	return 0;
}

static inline uint32_t base_of(int i)
{
	return 0x10000000u * (uint32_t)(i + 1);
}

static inline void map(int i, uint64_t size, bool writable, int fill)
{
	free(mem[i].data);
	mem[i] = (struct region){
		.base = base_of(i), .size = size, .guard = GUARD, .writable = writable,
		.data = calloc(1, size + GUARD),
	};
	assert_non_null(mem[i].data);
	memset(mem[i].data, fill, size);
}

static inline float half_float(uint16_t h)
{
	int e = h >> 10 & 31, m = h & 1023;
	float v = e == 31 ? (m ? NAN : INFINITY) :
		  e ? ldexpf((float)(1024 + m), e - 25) : ldexpf((float)m, -24);

	return h & 0x8000 ? -v : v;
}

/* To nearest, ties to even */
static inline uint16_t float_half(double v)
{
	uint16_t sign = signbit(v) ? 0x8000 : 0;
	double mag = fabs(v);
	int e;

	if (mag >= 65520)
		return sign | 0x7c00;
	if (mag < ldexp(1, -14))
		return sign | (uint16_t)rint(ldexp(mag, 24));
	e = ilogb(mag);
	return (uint16_t)(sign + (((e + 14) << 10) + (int)rint(ldexp(mag, 10 - e))));
}

static inline uint32_t float_bits(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, 4);
	return bits;
}

static inline float bits_float(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, 4);
	return f;
}

/**
 * struct test - a product and what follows it
 * @mm: the product
 * @s: stages
 * @g: its tiling
 * @rows: rows computed
 * @sum: exact sums, [m][n]
 * @vec: operands of stages as numbers: a vector, or [m][n]
 */
struct test {
	struct rkmm_matmul mm;
	struct rkmm_stages s;
	struct rkmm_geom g;
	uint32_t rows;
	double *sum;
	double *vec[2];
};

static inline bool is_f16(const struct test *t)
{
	return rkmm_in_bits(t->mm.types) == 16;
}

static inline struct rkmm_op *stage(struct test *t, enum rkmm_op_code code)
{
	t->s.op[t->s.n] = (struct rkmm_op){ .code = code };
	return &t->s.op[t->s.n++];
}

static const uint32_t sizes[] = { 1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 64, 65, 97 };

static inline struct test product(enum rkmm_types types)
{
	struct test t = { .mm = matmul(types, sizes[rnd(15)], 1 + rnd(90), sizes[rnd(15)]) };

	if (rnd(4) == 0)
		t.mm.m = 100 + rnd(300);
	if (rnd(4) == 0)
		t.mm.n = 100 + rnd(200);
	t.mm.lanes = 1 + rnd(3);
	t.rows = rnd(2) ? t.mm.m : 1 + rnd(t.mm.m);
	if (types == RKMM_T_I8I8) {
		t.mm.mult = 0x4000 + (int)rnd(0x3fff);
		t.mm.shift = 21 + rnd(3);
		t.mm.offset = (int)rnd(31) - 15;
	}
	return t;
}

static inline int small(const struct test *t, int most)
{
	return is_f16(t) ? (int)rnd(2 * (uint32_t)most + 1) - most : (int)rnd(256) - 128;
}

/* A and B, and their exact sums */
static inline void load_inputs(struct test *t)
{
	const struct rkmm_matmul *mm = &t->mm;
	int8_t *a = calloc(mm->m, mm->k), *b = calloc(mm->n, mm->k);
	uint32_t i, j, k;

	map(0, t->g.a_bytes, false, 0);
	map(1, t->g.b_bytes, false, 0);
	for (i = 0; i < mm->m; i++)
		for (k = 0; k < mm->k; k++) {
			a[i * mm->k + k] = (int8_t)small(t, 1);
			store(&t->g, mem[0].data, place_a(&t->g, i, k), k, a[i * mm->k + k]);
		}
	for (j = 0; j < mm->n; j++)
		for (k = 0; k < mm->k; k++) {
			b[j * mm->k + k] = (int8_t)small(t, 2);
			store(&t->g, mem[1].data, place_b(&t->g, k, j), k, b[j * mm->k + k]);
		}
	t->sum = calloc((size_t)mm->m * mm->n, sizeof(*t->sum));
	for (i = 0; i < mm->m; i++)
		for (j = 0; j < mm->n; j++)
			for (k = 0; k < mm->k; k++)
				t->sum[i * mm->n + j] += a[i * mm->k + k] * b[j * mm->k + k];
	free(a);
	free(b);
}

static inline double cube_value(const struct test *t, const uint8_t *data, uint32_t row,
				uint32_t col)
{
	uint32_t bytes = is_f16(t) ? 2 : 1, group = 16 / bytes;
	const uint8_t *at = data + ((uint64_t)(col / group) * t->mm.m + row) * 16 +
			    col % group * bytes;
	uint16_t h;

	if (bytes == 1)
		return (int8_t)*at;
	memcpy(&h, at, 2);
	return (double)half_float(h);
}

static inline void put_value(const struct test *t, uint8_t *at, uint32_t bits, double v)
{
	uint16_t h = float_half(v);
	uint32_t w = is_f16(t) ? float_bits((float)v) : (uint32_t)(int32_t)v;

	if (bits == 32)
		memcpy(at, &w, 4);
	else if (bits == 16)
		memcpy(at, &h, 2);
	else
		*at = (uint8_t)(int8_t)v;
}

/* Operand @i, of a vector, of weights with one row, or of a cube */
static inline void load_operand(struct test *t, uint32_t i, double lo, double hi)
{
	const struct rkmm_operand *o = &epi->operand[i];
	uint32_t n = t->mm.n, row, col;

	map(OPERAND_D + (int)i, o->size, false, 0);
	t->vec[i] = calloc((size_t)t->mm.m * n, sizeof(double));
	for (row = 0; row < (o->layout == RKMM_LAYOUT_CUBE ? t->mm.m : 1); row++) {
		for (col = 0; col < n; col++) {
			double v = lo + (hi - lo) * rnd(1 << 20) / (1 << 20);
			uint32_t bytes = o->bits / 8, group = 16 / bytes;
			uint64_t at = (uint64_t)col * bytes;

			if (o->layout == RKMM_LAYOUT_WEIGHT)
				at = (uint64_t)col * 64;
			if (o->layout == RKMM_LAYOUT_CUBE)
				at = ((uint64_t)(col / group) * t->mm.m + row) * 16 +
				     col % group * bytes;
			v = is_f16(t) ? (o->bits == 32 ? (double)(float)v :
					 (double)half_float(float_half(v))) : rint(v);
			put_value(t, mem[OPERAND_D + i].data + at, o->bits, v);
			t->vec[i][row * n + col] = v;
		}
	}
}

static inline void run_members(const struct rkmm_member *members, uint32_t n, uint64_t most)
{
	struct rkmm_extent extent;
	struct npu_report report;
	struct rkmm_kick *kicks;
	uint32_t i;

	rkmm_image_measure(&rkmm_limits_rk3588, members, n, &extent);
	assert_true(extent.bytes <= most);
	kicks = calloc(extent.kicks, sizeof(*kicks));
	map(3, extent.bytes, false, 0xff);
	rkmm_image_emit(&rkmm_limits_rk3588, members, n, base_of(3), (u64 *)mem[3].data, kicks);
	for (i = 0; i < extent.kicks; i++) {
		bool ok = kick(core, &kicks[i], &report);

		if (!ok)
			print_error("kick %u of %u: fault 0x%x\n", i, extent.kicks,
				    report.fault_addr);
		assert_true(ok);
		if (n > 1)
			assert_true(kicks[i].lane <= members[n - 1].lane);
	}
	free(kicks);
}

static inline enum rkmm_reason plan(struct test *t)
{
	enum rkmm_reason reason = rkmm_epilogue_make(&t->s, &t->mm, epi);

	if (reason == RKMM_OK)
		reason = rkmm_geometry(&rkmm_limits_rk3588, &t->mm, &t->g);
	if (reason == RKMM_OK)
		reason = rkmm_epilogue_bind(&rkmm_limits_rk3588, &t->s, epi, &t->g);
	return reason;
}

/* Runs whose rows were shared out */
static uint32_t several;

/* The whole of it in one image, as the driver has it; rows shared out over cores, or not */
static inline void run(struct test *t)
{
	struct rkmm_member matmul = rkmm_member_of(&t->g, t->rows, base_of(0), base_of(1),
						   base_of(2));
	struct rkmm_epilogue_place place = {
		.d = base_of(OPERAND_D), .e = base_of(OPERAND_E), .temp = base_of(TEMP),
		.consts = base_of(CONSTS),
	};
	uint32_t each = rkmm_share_rows(t->rows, epi->nops ? 1 + rnd(3) : 1), shares, n = 0, i;
	struct rkmm_member members[3 * RKMM_EPILOGUE_MEMBERS];
	uint64_t work = epi->nops ? rkmm_epilogue_work(epi) : 0;

	shares = (t->rows + each - 1) / each;
	several += shares > 1;
	map(2, epi->c.size, true, CANARY);
	/* a NaN everywhere */
	map(TEMP, epi->temp_bytes + (shares - 1) * work, true, 0xff);
	map(CONSTS, epi->const_bytes, false, 0x5a);
	rkmm_epilogue_fill(epi, mem[CONSTS].data);
	for (i = 0; i < shares; i++) {
		matmul.lane = i;
		matmul.first = i * each;
		matmul.rows = i + 1 < shares ? each : t->rows - matmul.first;
		place.work = place.temp + epi->work + (uint32_t)(i * work);
		n += rkmm_epilogue_members(epi, &matmul, &place, members + n);
	}
	assert_int_equal(n, shares * (1 + epi->nops));
	run_members(members, n, shares * rkmm_epilogue_image_bytes(epi, &t->g));
}

static inline void finish(struct test *t)
{
	int i;

	for (i = 0; i < REGIONS; i++) {
		free(mem[i].data);
		mem[i].data = NULL;
	}
	free(t->sum);
	free(t->vec[0]);
	free(t->vec[1]);
}

static inline void prepare(struct test *t, double lo, double hi)
{
	enum rkmm_reason reason = plan(t);
	uint32_t i;

	if (reason != RKMM_OK)
		print_error("%s %ux%ux%u: %s, stage %u\n", rkmm_types_name(t->mm.types), t->mm.m,
			    t->mm.k, t->mm.n, rkmm_reason_text(reason), epi->refused);
	assert_int_equal(reason, RKMM_OK);
	load_inputs(t);
	for (i = 0; i < 2; i++)
		if (epi->operand[i].size)
			load_operand(t, i, lo, hi);
	run(t);
}

static inline double result(const struct test *t, uint32_t row, uint32_t col)
{
	uint32_t bytes = rkmm_out_bytes(t->g.types);
	const uint8_t *at;
	uint32_t w = 0;

	if (epi->nops)
		return cube_value(t, mem[2].data, row, col);
	at = mem[2].data + place_c(&t->g, row, col);
	memcpy(&w, at, bytes);
	if (bytes == 1)
		return (int8_t)w;
	if (bytes == 2)
		return (double)half_float((uint16_t)w);
	return is_f16(t) ? (double)bits_float(w) : (int32_t)w;
}

/*
 * The matmul alone, to a cube, and each stage as an operation of its own, on other memory:
 * the same bits come out of what runs in one image.
 */
static inline void check_separate(const struct test *t, const struct rkmm_matmul *mm)
{
	struct rkmm_matmul cube = *mm;
	struct rkmm_member m;
	struct rkmm_geom g;
	uint32_t i, row, col, slot = 0, at = SPARE;
	uint8_t *got;
	bool fused[RKMM_STAGES];

	for (i = 0; i < t->s.n; i++)
		fused[i] = epi->fused >> i & 1;
	cube.form = RKMM_FORM_CUBE;
	assert_int_equal(rkmm_geometry(&rkmm_limits_rk3588, &cube, &g), RKMM_OK);
	got = malloc((size_t)mm->m * mm->n * sizeof(double));
	for (row = 0; row < t->rows; row++)
		for (col = 0; col < mm->n; col++)
			((double *)got)[row * mm->n + col] = result(t, row, col);

	/* A may have been in rows. */
	if (t->g.form != RKMM_FORM_CUBE) {
		uint8_t *rows = mem[0].data;
		uint32_t eb = rkmm_in_bits(mm->types) / 8;

		mem[0].data = NULL;
		map(0, g.a_bytes, false, 0);
		for (row = 0; row < mm->m; row++)
			for (col = 0; col < mm->k; col++)
				memcpy(mem[0].data + place_a(&g, row, col),
				       rows + place_a(&t->g, row, col), eb);
		free(rows);
	}
	map(SPARE, g.c_bytes, true, CANARY);
	m = rkmm_member_of(&g, t->rows, base_of(0), base_of(1), base_of(SPARE));
	run_members(&m, 1, rkmm_image_bytes(&g));
	for (i = 0; i < t->s.n; i++) {
		struct rkmm_op op = t->s.op[i];
		uint32_t to = at == SPARE ? SPARE + 1 : SPARE;

		op.m = mm->m;
		op.n = mm->n;
		op.precision = is_f16(t) ? RKMM_PREC_F16 : RKMM_PREC_I8;
		assert_int_equal(rkmm_op_geometry(&rkmm_limits_rk3588, &op, alone), RKMM_OK);
		map((int)to, alone->c.size, true, CANARY);
		map(TEMP, alone->temp_bytes, true, 0xff);
		map(CONSTS, alone->const_bytes, false, 0);
		rkmm_op_fill(alone, (u16 *)mem[CONSTS].data);
		m = (struct rkmm_member){
			.op = alone, .rows = t->rows, .count = 1, .a = base_of((int)at),
			.c = base_of((int)to), .temp = base_of(TEMP), .consts = base_of(CONSTS),
		};
		if (alone->b.size)
			m.b = base_of(OPERAND_D + (int)slot++);
		run_members(&m, 1, rkmm_op_image_bytes(alone));
		at = to;
	}
	for (row = 0; row < t->rows; row++) {
		for (col = 0; col < mm->n; col++) {
			double want = cube_value(t, mem[at].data, row, col);
			double have = ((double *)got)[row * mm->n + col];

			if (memcmp(&want, &have, sizeof(want)) && (want || have))
				print_error("[%u][%u]: %g, alone %g; fused %d %d %d %d\n", row, col,
					    have, want, fused[0], fused[1], fused[2], fused[3]);
			assert_true(want == have || (isnan(want) && isnan(have)));
		}
	}
	free(got);
}

static inline double curve(enum rkmm_op_code code, double x)
{
	switch (code) {
	case RKMM_OP_EXP:
		return x > 0 ? 1 : exp(fmax(x, -10));
	case RKMM_OP_SIGMOID:
		return 1 / (1 + exp(-x));
	case RKMM_OP_TANH:
		return tanh(x);
	case RKMM_OP_SILU:
		return x / (1 + exp(-x));
	case RKMM_OP_GELU:
		return x * 0.5 * erfc(-x * M_SQRT1_2);
	case RKMM_OP_HARDSWISH:
		return x * fmin(fmax(x + 3, 0), 6) / 6;
	case RKMM_OP_RECIPROCAL:
		return 1 / fmin(fmax(x, 0.125), 8.125);
	default:
		return 1 / sqrt(fmin(fmax(x, 0.0625), 4.0625));
	}
}

/* One stage on doubles; @v is the operand of this element */
static inline double stage_value(const struct test *t, const struct rkmm_op *op, double x,
				 double v)
{
	double s = is_f16(t) ? (double)bits_float(op->value) : (int32_t)op->value;

	if (op->code <= RKMM_OP_DIV && op->other == RKMM_OTHER_SCALAR)
		v = s;
	switch (op->code) {
	case RKMM_OP_ADD:
		return x + v;
	case RKMM_OP_SUB:
		return x - v;
	case RKMM_OP_MUL:
		return x * v;
	case RKMM_OP_MAX:
		return fmax(x, v);
	case RKMM_OP_MIN:
		return fmin(x, v);
	case RKMM_OP_DIV:
		return x / v;
	case RKMM_OP_COPY:
		return x;
	case RKMM_OP_RELU:
		return fmax(x, 0);
	case RKMM_OP_CLAMP:
		return fmin(fmax(x, s), is_f16(t) ? (double)bits_float(op->value2) :
			    (int32_t)op->value2);
	case RKMM_OP_LEAKY:
		return x < 0 ? x * (double)bits_float(op->value) : x;
	default:
		return curve(op->code, x);
	}
}

static inline double operand_value(const struct test *t, uint32_t i, uint32_t row, uint32_t col)
{
	uint32_t slot = epi->slot[i];

	if (!slot)
		return 0;
	return t->vec[slot - 1][(epi->operand[slot - 1].layout == RKMM_LAYOUT_CUBE ?
				 row * t->mm.n : 0) + col];
}

/* Within what the roundings of so many stages come to; the exact check is check_separate(). */
static inline void check_loops(const struct test *t, double tolerance)
{
	uint32_t row, col, i;

	for (row = 0; row < t->rows; row++) {
		for (col = 0; col < t->mm.n; col++) {
			double x = t->sum[row * t->mm.n + col], most = fabs(x), got;

			for (i = 0; i < t->s.n; i++) {
				x = stage_value(t, &t->s.op[i], x, operand_value(t, i, row, col));
				most = fmax(most, fabs(x));
			}
			got = result(t, row, col);
			if (!(fabs(got - x) <= tolerance * (1 + most)))
				print_error("%s [%u][%u]: %g, not %g\n",
					    rkmm_op_name(t->s.op[0].code), row, col, got, x);
			assert_true(fabs(got - x) <= tolerance * (1 + most));
		}
	}
}

static inline int start_epilogues(void **state)
{
	setup(state);
	world = NULL;
	env.read = ep_read;
	env.write = ep_write;
	epi = malloc(sizeof(*epi));
	alone = malloc(sizeof(*alone));
	return 0;
}

static inline int stop_epilogues(void **state)
{
	free(epi);
	free(alone);
	return teardown(state);
}

#endif
