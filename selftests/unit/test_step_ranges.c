// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Random submissions whose operands lie anywhere in one buffer and overlap in any way: chained
 * on one to three cores, with memory between tasks that holds no numbers at first, they leave
 * the bits that the operations leave one after the other, each alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kmod/rkmm_step.h"
#include "npu_start.h"

#define P_BASE	0xe0000000u
#define POOL	(192u << 10)
#define OPS	10
#define ROOM	(1u << 19)	/* constants of an operation, temporary memory of a lane */
#define DATA	(POOL + (OPS + RKMM_LANES_MAX) * (uint64_t)ROOM)
#define TRIES	200

#define SEED	0x2545f4914f6cdd1dull

#include "flat_world.h"

static void *core_mem[RKMM_LANES_MAX];
static struct npu_core *cores[RKMM_LANES_MAX];

/**
 * struct list - operations of a submission
 * @count: how many
 * @members: with addresses
 * @links: what decides about steps
 * @sizes: bytes of A, B, C, D, of all repetitions
 * @geoms: of the matmuls
 * @ops: of the others
 */
static struct list {
	uint32_t count;
	struct rkmm_member members[OPS];
	struct rkmm_link links[OPS];
	uint64_t sizes[OPS][RKMM_LINK_OPERANDS];
	struct rkmm_geom geoms[OPS];
	struct rkmm_opgeom ops[OPS];
} *list;

static uint32_t consts_of(uint32_t i)
{
	return D_BASE + POOL + i * ROOM;
}

static uint32_t temp_of(uint32_t lane)
{
	return D_BASE + POOL + (OPS + lane) * ROOM;
}

static bool make_matmul(struct rkmm_geom *geom)
{
	static const enum rkmm_types types[] = {
		RKMM_T_F16F16, RKMM_T_F16F16, RKMM_T_F16F32, RKMM_T_I8I8, RKMM_T_I8I32,
		RKMM_T_I4I16,
	};
	struct rkmm_matmul mm = {
		.types = types[rnd(6)], .form = RKMM_FORM_CUBE, .m = 1 + rnd(rnd(3) ? 40 : 120),
		.k = 32 * (1 + rnd(4)), .n = 16 * (1 + rnd(8)), .lanes = 1 + rnd(3),
	};

	if (mm.types == RKMM_T_I8I8) {
		mm.mult = 1 + (s32)rnd(300);
		mm.shift = 8 + rnd(6);
	}
	if (mm.types == RKMM_T_I4I16 || !rnd(3))
		mm.form = RKMM_FORM_COUNT;
	return rkmm_geometry(&rkmm_limits_rk3588, &mm, geom) == RKMM_OK && geom->slices == 1;
}

static bool make_op(struct rkmm_opgeom *g)
{
	static const enum rkmm_op_code codes[] = {
		RKMM_OP_ADD, RKMM_OP_MUL, RKMM_OP_SUB, RKMM_OP_MAX, RKMM_OP_COPY, RKMM_OP_RELU,
		RKMM_OP_SIGMOID, RKMM_OP_TANH, RKMM_OP_SILU, RKMM_OP_EXP, RKMM_OP_SOFTMAX,
		RKMM_OP_SOFTMAX, RKMM_OP_LAYERNORM, RKMM_OP_RMSNORM, RKMM_OP_ROWSUM,
		RKMM_OP_LEAKY, RKMM_OP_GELU,
	};
	struct rkmm_op op = {
		.code = codes[rnd(17)], .m = 1 + rnd(rnd(3) ? 40 : 120), .n = 1 + rnd(128),
		.precision = rnd(3) ? RKMM_PREC_F16 : RKMM_PREC_I8,
	};

	if (op.code <= RKMM_OP_DIV)
		op.other = rnd(3);
	if (op.code == RKMM_OP_SOFTMAX)
		op.flags = (rnd(2) ? RKMM_OP_MASK : 0) | (rnd(2) ? RKMM_OP_CAUSAL : 0);
	if (op.code == RKMM_OP_RMSNORM || op.code == RKMM_OP_LAYERNORM) {
		op.value = 0x3727c5ac;
		op.flags = rnd(2) ? RKMM_OP_GAMMA : 0;
	}
	if (op.code == RKMM_OP_LAYERNORM && rnd(2))
		op.flags |= RKMM_OP_BETA;
	if (op.code == RKMM_OP_LEAKY)
		op.value = 0x3e000000;
	if (op.precision != RKMM_PREC_F16 && op.code >= RKMM_OP_EXP && op.code <= RKMM_OP_RSQRT) {
		op.scale = 0x3d000000;
		op.out_scale = 0x3c000000;
	}
	if (op.code <= RKMM_OP_RSQRT && op.other != RKMM_OTHER_CHANNEL && !rnd(4))
		op.flags |= RKMM_OP_FLAT;
	return rkmm_op_geometry(&rkmm_limits_rk3588, &op, g) == RKMM_OK &&
	       g->temp_bytes <= ROOM && g->const_bytes <= ROOM;
}

static bool meet(uint32_t x, uint64_t xs, uint32_t y, uint64_t ys)
{
	return xs && ys && x < y + ys && y < x + xs;
}

static uint32_t place(uint64_t size)
{
	return size ? D_BASE + 64 * rnd((POOL - (uint32_t)size) / 64) : 0;
}

/* Sizes, and how often: what users may ask for */
static bool make_sizes(struct rkmm_member *m, uint64_t *sizes)
{
	uint64_t one[RKMM_LINK_OPERANDS] = { 0 };
	uint32_t k;

	if (m->op) {
		one[0] = m->op->a.size;
		one[1] = m->op->b.size;
		one[2] = m->op->c.size;
		one[3] = m->op->d.size;
	} else {
		one[0] = m->geom->a_bytes;
		one[1] = m->geom->b_bytes;
		one[2] = m->geom->c_bytes;
		m->count = rnd(4) ? 1 : 2 + rnd(4);
		if (m->count > 1) {
			m->a_stride = rnd(2) ? 0 : 64 * (1 + rnd((uint32_t)one[0] / 32 + 1));
			m->b_stride = rnd(2) ? 0 : 64 * (1 + rnd((uint32_t)one[1] / 32 + 1));
			m->c_stride = ((uint32_t)one[2] + 63) / 64 * 64 + 64 * rnd(3);
		}
	}
	memset(sizes, 0, sizeof(one));
	sizes[0] = one[0] + (m->count - 1) * (uint64_t)m->a_stride;
	sizes[1] = one[1] + (m->count - 1) * (uint64_t)m->b_stride;
	sizes[2] = one[2] + (m->count - 1) * (uint64_t)m->c_stride;
	sizes[3] = one[3];
	for (k = 0; k < RKMM_LINK_OPERANDS; k++)
		if (sizes[k] > POOL / 4)
			return false;
	return true;
}

static void make_link(const struct rkmm_member *m, const uint64_t *sizes, struct rkmm_link *link)
{
	const uint32_t at[RKMM_LINK_OPERANDS] = { m->a, m->b, m->c, m->d };
	uint32_t i;

	*link = (struct rkmm_link){
		.bytes = m->op ? rkmm_op_image_bytes(m->op) :
			 rkmm_image_bytes(m->geom) * m->count,
		.lanes_own = m->op || m->count > 1 ? 0 : rkmm_geom_lanes(m->geom, m->rows),
		.lanes_most = 3,
		.matmul = !m->op,
	};
	if (!m->op)
		link->lanes_most = m->geom->lanes_most < m->geom->mm.lanes ?
				   m->geom->lanes_most : m->geom->mm.lanes;
	for (i = 0; i < RKMM_LANES_MAX; i++)
		link->ns[i] = rkmm_member_work(&rkmm_limits_rk3588, m, i + 1, &link->start_ns[i]);
	for (i = 0; i < RKMM_LINK_OPERANDS; i++)
		if (sizes[i])
			link->reach[i] = (struct rkmm_reach){
				.owner = data, .start = at[i], .end = at[i] + sizes[i],
			};
}

/* One operation; false if these numbers make none */
static bool make_one(struct list *l, uint32_t i)
{
	struct rkmm_member *m = &l->members[i];
	uint64_t *sizes = l->sizes[i];
	uint32_t tries = 0;

	*m = (struct rkmm_member){ .count = 1, .consts = consts_of(i) };
	if (rnd(2)) {
		if (!make_op(&l->ops[i]))
			return false;
		m->op = &l->ops[i];
	} else {
		if (!make_matmul(&l->geoms[i]))
			return false;
		m->geom = &l->geoms[i];
	}
	if (!make_sizes(m, sizes))
		return false;
	m->rows = m->op ? m->op->op.m : m->geom->mm.m;
	if (!rnd(3))
		m->rows = 1 + rnd(m->rows);
	/* as users do, and anywhere */
	m->a = i && rnd(3) ? l->members[rnd(i)].c : place(sizes[0]);
	if (m->a - D_BASE + sizes[0] > POOL)
		m->a = place(sizes[0]);
	m->b = i && sizes[1] && rnd(3) ? l->members[rnd(i)].c : place(sizes[1]);
	if (m->b && m->b - D_BASE + sizes[1] > POOL)
		m->b = place(sizes[1]);
	m->d = i && sizes[3] && rnd(3) ? l->members[rnd(i)].c : place(sizes[3]);
	if (m->d && m->d - D_BASE + sizes[3] > POOL)
		m->d = place(sizes[3]);
	do {
		if (++tries > TRIES)
			return false;
		m->c = i && rnd(3) ? l->members[rnd(i)].c : place(sizes[2]);
	} while (m->c - D_BASE + sizes[2] > POOL || meet(m->c, sizes[2], m->a, sizes[0]) ||
		 meet(m->c, sizes[2], m->b, sizes[1]) || meet(m->c, sizes[2], m->d, sizes[3]));
	m->weights = m->b ? 1 + (m->b - D_BASE) / (POOL / 2) : 0;
	make_link(m, sizes, &l->links[i]);
	return true;
}

static void make_list(struct list *l)
{
	uint32_t i, k, first = 0;

	l->count = 2 + rnd(OPS - 1);
	for (i = 0; i < l->count; i++) {
		while (!make_one(l, i))
			;
		if (!l->links[i].matmul || !i || !l->links[i - 1].matmul) {
			first = i;
			continue;
		}
		for (k = first; k < i && !rkmm_link_conflict(&l->links[k], &l->links[i]); k++)
			;
		if (k == i && rnd(2))
			l->links[i].grouped = true;
		else
			first = i;
	}
}

/* Numbers of any kind that come from one: fp16 and int8 without infinities */
static void fill_data(const struct list *l)
{
	uint32_t i;

	for (i = 0; i < POOL / 2; i++)
		((uint16_t *)data)[i] = (uint16_t)(rnd(2) << 15 | (0x2c00 + rnd(0x1000)));
	for (i = 0; i < l->count; i++)
		if (l->members[i].op)
			rkmm_op_fill(l->members[i].op,
				     (u16 *)(data + (l->members[i].consts - D_BASE)));
}

static void fill_temps(uint8_t value)
{
	memset(data + (temp_of(0) - D_BASE), value, (size_t)RKMM_LANES_MAX * ROOM);
}

/* 1 + the table that each core has */
static uint32_t tables[RKMM_LANES_MAX];

/* As the scheduler starts it: without the table where the core has that */
static void kick_lane(uint32_t lane, const struct rkmm_kick *k)
{
	struct rkmm_kick start = *k;

	if (k->table_in && k->table_in == tables[lane]) {
		start.addr = k->kept_addr;
		start.amount = k->kept_amount;
	}
	npu_start_right(cores[lane], &start);
	if (k->table_out)
		tables[lane] = k->table_out;
}

#include "step_run.h"

/* Who has to do with one before it is on its lane, and known to be behind it. */
static void check_order(const struct list *l, uint32_t first, uint32_t end)
{
	uint32_t i, k, x, y;
	bool clash;

	for (i = first; i < end; i++) {
		for (k = first; k < i; k++) {
			const uint32_t at[][4] = {
				{ l->members[k].a, l->members[k].b, l->members[k].c,
				  l->members[k].d },
				{ l->members[i].a, l->members[i].b, l->members[i].c,
				  l->members[i].d },
			};

			clash = false;
			for (x = 0; x < 4; x++)
				for (y = 0; y < 4; y++)
					clash |= (x == 2 || y == 2) &&
						 meet(at[0][x], l->sizes[k][x], at[1][y],
						      l->sizes[i][y]);
			assert_true(!clash || (l->links[i].after &&
					       l->links[i].lane == l->links[k].lane));
		}
	}
}

/* The step from @first on as the driver makes it; returns its end. */
static uint32_t run_chained(const struct rkmm_limits *limits, const struct rkmm_step_caps *caps,
			    struct list *l, uint32_t first, uint32_t *most)
{
	struct rkmm_member members[OPS];
	uint32_t end, lane, i, n = 0;
	const char *why;

	end = rkmm_step_end(caps, l->links, first, l->count, &why);
	assert_true(end > first && end <= l->count);
	check_order(l, first, end);
	for (lane = 0; lane < RKMM_LANES_MAX; lane++) {
		for (i = first; i < end; i++) {
			if (l->links[i].lane != lane)
				continue;
			members[n] = l->members[i];
			members[n].lane = lane;
			members[n].after = l->links[i].after;
			members[n].temp = temp_of(lane);
			*most = lane + 1 > *most ? lane + 1 : *most;
			n++;
		}
	}
	assert_int_equal(n, end - first);
	run_step(limits, members, n, false);
	return end;
}

static void test_ranges(void **state)
{
	struct rkmm_limits limits = rkmm_limits_rk3588, single = rkmm_limits_rk3588;
	uint32_t i, k, most, several = 0, steps = 0, apart = 0;
	uint8_t *before = malloc(DATA), *want = malloc(POOL);
	const char *more = getenv("RANGES");
	struct rkmm_step_caps caps = {
		.bytes = 64 << 20, .room = 1ull << 40, .ns = 3000000,
	};

	(void)state;
	single.light = false;
	for (i = 0; i < (more ? (uint32_t)atoi(more) : 60); i++) {
		make_list(list);
		fill_data(list);
		fill_temps(0);
		memcpy(before, data, DATA);
		for (k = 0; k < list->count; k++) {
			list->members[k].temp = temp_of(0);
			run_step(&single, &list->members[k], 1, false);
			apart++;
		}
		memcpy(want, data, POOL);
		limits.light = i & 1;
		for (caps.lanes = 1; caps.lanes <= 3; caps.lanes++) {
			memcpy(data, before, DATA);
			/* not a number */
			fill_temps(0xff);
			most = 0;
			for (k = 0; k < list->count; steps++)
				k = run_chained(&limits, &caps, list, k, &most);
			if (memcmp(data, want, POOL))
				print_error("list %u, %u cores\n", i, caps.lanes);
			assert_memory_equal(data, want, POOL);
			several += most > 1;
		}
	}
	assert_true(steps < 3 * apart);
	assert_true(several > 0);
	free(before);
	free(want);
}

static int setup(void **state)
{
	uint32_t i;

	(void)state;
	data = aligned_alloc(64, DATA);
	list = malloc(sizeof(*list));
	for (i = 0; i < RKMM_LANES_MAX; i++) {
		core_mem[i] = aligned_alloc(64, NPU_CORE_BYTES);
		cores[i] = npu_core_init(core_mem[i], i, &env);
		npu_core_set_laws(cores[i], true);
	}
	return 0;
}

static int teardown(void **state)
{
	uint32_t i;

	(void)state;
	for (i = 0; i < RKMM_LANES_MAX; i++)
		free(core_mem[i]);
	free(data);
	free(list);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges),
	};

	return cmocka_run_group_tests_name("steps of overlapping operands", tests, setup, teardown);
}
