// SPDX-License-Identifier: GPL-2.0-only
/*
 * The decoder under arbitrary programs and memory. An input is a job, a way to
 * run it, and a list of changes to the words of its program. Built for
 * libFuzzer, or with -DRANDOM_DRIVER=N as a test of N seeded inputs.
 */
#include "test_model_cube.h"

#undef IMAGE
#define IMAGE		0x08000000
#define IMAGE_LEN	0x4000
#define A		0x10000000
#define B		0x20000000
#define C		0x30000000
#define WINDOW_LEN	0x02000000

static u8 image[IMAGE_LEN];
static u8 sink[1 << 20];
static u32 relaxes, relax_limit;
static int depth;
static void *mem;

static bool inside(u32 addr, u32 len, u32 base, u32 size)
{
	return addr >= base && addr - base < size && len <= size - (addr - base);
}

/* Made from the address, so that reads in any pieces agree. */
static u8 content(u32 addr)
{
	u32 v = addr * 2654435761u;

	return v >> 24 ^ v >> 11;
}

static int fuzz_read(void *ctx, u32 addr, void *dst, u32 len, u32 *fault)
{
	u8 *d = dst;
	u32 i;

	(void)ctx;
	assert_int_equal(depth, 0);
	if (inside(addr, len, IMAGE, IMAGE_LEN)) {
		memcpy(dst, image + (addr - IMAGE), len);
		return 0;
	}
	if (!inside(addr, len, A, WINDOW_LEN) && !inside(addr, len, B, WINDOW_LEN) &&
	    !inside(addr, len, C, WINDOW_LEN)) {
		*fault = addr;
		return -1;
	}
	for (i = 0; i < len; i++)
		d[i] = content(addr + i);
	return 0;
}

/* A program may overwrite itself. */
static int fuzz_write(void *ctx, u32 addr, const void *src, u32 len, u32 *fault)
{
	(void)ctx;
	assert_int_equal(depth, 0);
	if (inside(addr, len, IMAGE, IMAGE_LEN)) {
		memcpy(image + (addr - IMAGE), src, len);
		return 0;
	}
	if (!inside(addr, len, C, WINDOW_LEN) || len > sizeof(sink)) {
		*fault = addr;
		return -1;
	}
	memcpy(sink, src, len);
	return 0;
}

static bool fuzz_relax(void *ctx)
{
	(void)ctx;
	assert_int_equal(depth, 0);
	return ++relaxes >= relax_limit;
}

static void fuzz_fp_begin(void *ctx)
{
	(void)ctx;
	assert_int_equal(depth++, 0);
}

static void fuzz_fp_end(void *ctx)
{
	(void)ctx;
	assert_int_equal(--depth, 0);
}

struct input {
	const u8 *data;
	size_t size;
};

static u32 take(struct input *in, u32 bytes)
{
	u32 v = 0;

	while (bytes--) {
		v = v << 8 | (in->size ? *in->data : 0);
		if (in->size) {
			in->data++;
			in->size--;
		}
	}
	return v;
}

/* Mesa's read block, with nothing to read */
static void add_rdma(struct prog *p)
{
	prog_add(p, RDMA, 0x5004, 0xe);
	prog_add(p, RDMA, 0x500c, prog_get(p, 0x4030));
	prog_add(p, RDMA, 0x5010, prog_get(p, 0x4034));
	prog_add(p, RDMA, 0x5014, prog_get(p, 0x3018));
	prog_add(p, RDMA, 0x501c, 2);
	prog_add(p, RDMA, 0x5020, B);
	prog_add(p, RDMA, 0x5034, 1);
	prog_add(p, RDMA, 0x5044, 0x7810);
}

/* A task of the DPU alone, with any of the stages and maybe some of a table */
static u32 make_dpu(struct prog *p, struct input *in)
{
	static const u32 ew[] = {
		0x108202c0, 0x108402c0, 0x108002c0, 0x108303c0, 0x108003c4, 0x904002c4, 0x904202c0,
		0x908002c4,
	};
	struct shape s = { take(in, 1) % TYPES, take(in, 1) + 1, take(in, 1) % 9 + 1, 0 };
	u32 how = take(in, 1), i;

	s.n = (take(in, 1) % 5 + 1) * (16 / type_bytes[s.type]);
	if (how & 1)
		dpu_two_inputs(p, &s, ew[take(in, 1) % ARRAY_SIZE(ew)]);
	else
		dpu_program(p, &s);
	prog_set(p, 0x5038, B);
	if (how & 2)
		prog_set(p, 0x5034, type_bytes[s.type] << 2);
	if (how & 4)
		lut_apply(p, take(in, 4), take(in, 4));
	if (how & 8)
		prog_set(p, 0x4040, take(in, 1));
	if (how & 16)
		prog_set(p, 0x4034, take(in, 1) << 22 | (s.h - 1));
	if (how & 32) {
		prog_add(p, DPU, 0x4100, 0x20000 | take(in, 3));
		for (i = 0; i < 40; i++)
			prog_add(p, DPU, 0x4104, take(in, 2));
	}
	return 0x18;
}

static u32 make_pool(struct prog *p, struct input *in)
{
	struct pool q = {
		.s = { take(in, 1) % TYPES, take(in, 1) % 99 + 16, take(in, 1) % 20 + 16, 16 },
		.method = take(in, 1) % 3,
	};
	u32 v = take(in, 4);

	q.kw = v % 16 + 1;
	q.kh = v / 16 % 16 + 1;
	q.sw = v / 256 % 16 + 1;
	q.sh = v / 4096 % 16 + 1;
	q.left = v / 65536 % 8;
	q.top = v / 524288 % 8;
	pool_program(p, &q);
	return 0x60;
}

static u32 make_matmul(struct prog *p, struct input *in)
{
	struct job j = { .pair = take(in, 1) % PAIRS, .a = A, .b = B, .c = C, .v = 0 };

	j.m = take(in, 1) % 40 + 1;
	j.k = (take(in, 1) % 16 + 1) * 32;
	j.n = (take(in, 1) % 6 + 1) * pair_info[j.pair].group;
	if (j.pair == I8I8) {
		j.mult = take(in, 1);
		j.shift = take(in, 1) % 24;
	}
	switch (take(in, 1) % 4) {
	case 0:
		cube_program(p, &j);
		break;
	case 1:
		j.pair = I4I16;
		j.n = 64;
		batch_program(p, &j);
		break;
	default:
		flat_program(p, &j);
	}
	if (take(in, 1) % 4)
		return 0x0d;
	add_rdma(p);
	if (j.pair == I8I32 || j.pair == I8I8)
		prog_set(p, 0x4040, 0x20150);
	return 0x1d;
}

/* Return: the start value */
static u32 make_program(struct prog *p, struct input *in)
{
	switch (take(in, 1) % 4) {
	case 0:
		return make_dpu(p, in);
	case 1:
		return make_pool(p, in);
	default:
		return make_matmul(p, in);
	}
}

/* Changes words: a new value, one bit, an offset, a whole entry, a cut. */
static void change(struct prog *p, struct input *in)
{
	u32 at = take(in, 1) % p->n, how = take(in, 1) % 8;
	u64 *e = &p->e[at];

	switch (how) {
	case 0:
		*e = (*e & 0xffff00000000ffffull) | (u64)take(in, 4) << 16;
		break;
	case 1:
	case 2:
		*e ^= 1ull << (16 + take(in, 1) % 32);
		break;
	case 3:
		*e ^= 1ull << (take(in, 1) % 64);
		break;
	case 4:
		*e = (u64)take(in, 4) << 32 | take(in, 4);
		break;
	case 5:
		*e = (*e & 0xffff00000000ffffull) | (u64)take(in, 2) << 16;
		break;
	case 6:
		if (p->n > 8)
			memmove(e, e + 1, (--p->n - at) * 8);
		break;
	default:
		*e = p->e[take(in, 1) % p->n];
	}
}

static void check_report(const struct npu_report *r, u32 tasks)
{
	assert_true(r->cls <= NPU_STOPPED);
	assert_true(r->tasks_done <= tasks);
	assert_int_equal(depth, 0);
	if (r->cls == NPU_OK) {
		assert_null(r->law);
		assert_int_equal(r->tasks_done, tasks);
	} else if (r->cls == NPU_FAULT) {
		assert_false(inside(r->fault_addr, 1, C, WINDOW_LEN - 65536));
	} else if (r->cls != NPU_STOPPED) {
		assert_non_null(r->law);
	}
}

static void start(struct npu_core *core, struct input *in, u32 tasks, u32 amount)
{
	u32 flags = take(in, 1), i;

	npu_core_set_laws(core, flags & 1);
	npu_core_set_error_bits(core, flags & 2);
	npu_core_set_quirks(core, flags >> 2 & 1 ? 0xf : 0);
	npu_core_set_seed(core, flags);
	for (i = 0; i < (flags >> 6); i++)
		npu_core_write(core, take(in, 2), take(in, 4));
	npu_core_write(core, 0x1004, 0xe);
	npu_core_write(core, 0x3004, 0xe);
	npu_core_write(core, 0x10, IMAGE);
	npu_core_write(core, 0x14, amount);
	npu_core_write(core, 0x30, 0x6000 | (flags << 9 & 0x1000) | tasks);
	npu_core_write(core, 0x34, (flags & 0x38) == 0x38 ? take(in, 4) : 0);
	npu_core_write(core, 0x08, 0);
}

/* libFuzzer's name, which no header declares */
int LLVMFuzzerTestOneInput(const u8 *data, size_t size);
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static const struct npu_env env = {
		.read = fuzz_read,
		.write = fuzz_write,
		.relax = fuzz_relax,
		.fp_begin = fuzz_fp_begin,
		.fp_end = fuzz_fp_end,
	};
	struct input in = { data, size };
	struct npu_report report;
	struct npu_core *core;
	u32 tasks = take(&in, 1) % 4 + 1, changes = take(&in, 1) % 12, t, i, first = 0;

	if (!mem)
		mem = aligned_alloc(64, NPU_CORE_BYTES);
	core = npu_core_init(mem, 0, &env);
	memset(image, 0, sizeof(image));
	relaxes = 0;
	relax_limit = 64;

	for (t = 0; t < tasks; t++) {
		struct prog p;
		u32 value = make_program(&p, &in);

		prog_tail(&p, t + 1 < tasks ? IMAGE + (t + 1) * 0x800 : 0,
			  t + 1 < tasks ? 0x3f : 0, value);
		for (i = 0; i < changes; i++)
			change(&p, &in);
		memcpy(image + t * 0x800, p.e, p.n * 8);
		if (!t)
			first = (p.n + 1) / 2 - 1;
	}
	start(core, &in, tasks, first + (take(&in, 1) & 1 ? take(&in, 2) % 512 : 0));
	if (!npu_core_write(core, 0x08, 1))
		return 0;
	npu_core_run(core, NULL, NULL, &report);
	check_report(&report, npu_core_read(core, 0x30) & 0xfff);
	for (i = 0; i < 0x8000; i += 4 + take(&in, 1) * 4)
		npu_core_read(core, i);
	npu_core_reset(core);
	return 0;
}

#ifdef RANDOM_DRIVER
static void random_inputs(void **state)
{
	u32 seed = 1, i, n;

	(void)state;
	for (i = 0; i < RANDOM_DRIVER; i++) {
		u8 data[512];

		for (n = 0; n < sizeof(data); n++)
			data[n] = rnd(&seed) & 0xff;
		/* Most inputs change little, or no task would get far. */
		if (i % 4)
			data[1] %= 3;
		LLVMFuzzerTestOneInput(data, sizeof(data));
	}
	free(mem);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_inputs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
