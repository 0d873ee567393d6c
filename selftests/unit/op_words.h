/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What tests of the words of operations share: a description, its geometry, its words, and
 * register lists of hw 04 to compare them with.
 */
#ifndef OP_WORDS_H
#define OP_WORDS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kmod/prog/rkmm_chain.h"

#define SRC	0x11110000u
#define SRC2	0x22220000u
#define DST	0x33330000u
#define M	40u
#define N	64u

static struct rkmm_opgeom *geom;
static u64 words[1200];
static uint32_t nwords;

static inline struct rkmm_op operation(enum rkmm_op_code code, enum rkmm_precision precision)
{
	return (struct rkmm_op){ .code = code, .precision = precision, .m = M, .n = N };
}

/**
 * struct list - register writes in order
 * @n: how many
 * @e: offset and value
 */
struct list {
	uint32_t n;
	struct {
		uint32_t reg, value;
	} e[1200];
};

static inline void add(struct list *l, uint32_t reg, uint32_t value)
{
	l->e[l->n].reg = reg;
	l->e[l->n++].value = value;
}

static inline void set(struct list *l, uint32_t reg, uint32_t value)
{
	uint32_t i, seen = 0;

	for (i = 0; i < l->n; i++) {
		if (l->e[i].reg == reg) {
			l->e[i].value = value;
			seen++;
		}
	}
	assert_true(seen > 0);
}

static inline void add_range(struct list *l, uint32_t first, uint32_t last)
{
	for (; first <= last; first += 4)
		add(l, first, 0);
}

/* hw 04 §2.1, with one input; @n channels of @m rows */
static inline void base_list(struct list *l, uint32_t m, uint32_t n)
{
	l->n = 0;
	add(l, 0x4004, 0xe);
	add(l, 0x5004, 0xe);
	add(l, 0x400c, 0x1e5);
	add(l, 0x4010, 0);
	add(l, 0x4014, 0);
	add(l, 0x4020, DST);
	add(l, 0x4024, 16 * m);
	add(l, 0x4030, m - 1);
	add(l, 0x4034, 0);
	add(l, 0x4038, 0);
	add(l, 0x403c, (n - 1) << 16 | (n - 1));
	add(l, 0x4040, 0x53);
	add_range(l, 0x4044, 0x404c);
	add(l, 0x4050, 2);
	add(l, 0x4054, 0);
	add(l, 0x4058, n - 1);
	add(l, 0x405c, m - 1);
	add(l, 0x4060, 0x53);
	add_range(l, 0x4064, 0x406c);
	add(l, 0x4070, 0x383);
	add(l, 0x4074, 0);
	add(l, 0x4078, 1);
	add(l, 0x407c, 0);
	add(l, 0x4080, 0);
	add(l, 0x4084, 1);
	add(l, 0x4088, 0);
	add_range(l, 0x4090, 0x40ac);
	add(l, 0x40c0, 16 * m);
	add(l, 0x40c4, 0);
	add_range(l, 0x4100, 0x412c);
	add(l, 0x500c, m - 1);
	add(l, 0x5010, 0);
	add(l, 0x5014, n - 1);
	add(l, 0x5018, SRC);
	add(l, 0x501c, 0);
	add(l, 0x5020, 0);
	add(l, 0x5028, 0);
	add(l, 0x502c, 0);
	add(l, 0x5034, 1);
	add(l, 0x5038, 0);
	add(l, 0x5040, 0);
	add(l, 0x5044, 0);
	add(l, 0x5048, 0);
	add(l, 0x504c, 0);
	add(l, 0x5064, 0);
	add(l, 0x5068, 0x01010101);
	add(l, 0x506c, 0);
	assert_int_equal(l->n, 69);
}

static inline uint32_t target(uint32_t reg)
{
	static const uint32_t targets[] = { 0, 0x201, 0, 0x801, 0x1001, 0x2001, 0x4001, 0x8001 };

	return targets[reg >> 12];
}

static inline void compare(const struct list *l, const u64 *got, uint32_t n)
{
	uint32_t i;

	assert_int_equal(n, l->n);
	for (i = 0; i < n; i++) {
		u64 want = (u64)target(l->e[i].reg) << 48 | (u64)l->e[i].value << 16 |
			   l->e[i].reg;

		if (got[i] != want)
			print_error("write %u: register %x\n", i, l->e[i].reg);
		assert_int_equal(got[i], want);
	}
}

static const u32 addr[RKMM_AREAS] = {
	[RKMM_AREA_A] = SRC, [RKMM_AREA_B] = SRC2, [RKMM_AREA_C] = DST,
	[RKMM_AREA_D] = 0x44440000, [RKMM_AREA_TEMP] = 0x55550000,
	[RKMM_AREA_CONST] = 0x66660000,
};

/* Words of task @i of @op; returns the task's start bits */
static inline uint32_t emit(const struct rkmm_op *op, uint32_t i)
{
	struct rkmm_task task;

	assert_int_equal(rkmm_op_geometry(&rkmm_limits_rk3588, op, geom), RKMM_OK);
	assert_true(i < rkmm_op_tasks(geom, op->m));
	rkmm_op_task(geom, i, op->m, addr, &task);
	nwords = rkmm_task_emit(&task, NULL, words);
	assert_int_equal(nwords, rkmm_task_writes(&task, NULL));
	return task.enable;
}

static inline void two_inputs(struct list *l, uint32_t m)
{
	set(l, 0x5038, SRC2);
	set(l, 0x5040, 16 * m);
}

static inline void add_table(struct list *l, enum rkmm_curve curve)
{
	uint32_t table, k;

	for (table = 0; table < 2; table++) {
		add(l, 0x4100, 0x20000 | table << 16);
		for (k = 0; k < 513; k++)
			add(l, 0x4104, (uint32_t)(int)rkmm_curve_point(curve, 512 * table + k));
	}
}

static inline void use_table(struct list *l)
{
	set(l, 0x4004, 0x30);
	set(l, 0x5004, 0x30);
	set(l, 0x4060, 0x20040);
	set(l, 0x4070, 0x302);
	set(l, 0x4108, 0x68);
	set(l, 0x410c, 0x50500);
	set(l, 0x4110, 0xffffc000);
	set(l, 0x411c, 0x4000);
}

static inline int setup(void **state)
{
	(void)state;
	geom = malloc(sizeof(*geom));
	return geom ? 0 : -1;
}

static inline int teardown(void **state)
{
	(void)state;
	free(geom);
	return 0;
}

#endif
