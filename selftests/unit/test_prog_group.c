// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Groups of operations in chains on the software NPU against plain loops: several
 * tilings, repetitions with strides, shared operands, interleaved rows.
 */
#include "prog_world.h"

#define MEMBERS	8
#define MOST	70u		/* operations of a group */

/* A member with its numbers */
struct op {
	struct rkmm_geom g;
	struct rkmm_member *m;
	int8_t *a, *b;		/* of one operation after the other, or of one if all share it */
};

static uint32_t up64(uint64_t bytes)
{
	return (uint32_t)((bytes + 63) / 64 * 64);
}

/*
 * Where the operations of a member lie from @at on: one behind the other, all at
 * one place, or side by side in rows of @pitch bytes. Returns the end.
 */
static uint64_t lay(uint64_t at, uint32_t base, uint32_t count, uint64_t size, uint32_t pitch,
		    uint64_t line, bool share, uint32_t *first, uint32_t *stride)
{
	*first = base + (uint32_t)at;
	if (share)
		*stride = 0;
	else if (pitch && up64(line) * (uint64_t)count <= pitch)
		*stride = up64(line);
	else
		*stride = up64(size) + 64 * rnd(3);
	return at + up64((uint64_t)*stride * (count - 1) + size) + 64 * rnd(2);
}

/* A random plan; pitches wide enough to hold @count operations side by side, or none. */
static void random_plan(struct op *op, uint32_t count)
{
	struct rkmm_matmul mm = matmul(rnd(RKMM_T_COUNT), 1 + rnd(rnd(2) ? 4 : 40),
				       1 + rnd(300), 1 + rnd(200));
	uint32_t bits = rkmm_in_bits(mm.types);

	mm.lanes = 1 + rnd(3);
	switch (rnd(4)) {
	case 0:
		mm.form = RKMM_FORM_CUBE;
		break;
	case 1:
		if (bits == 4)
			break;
		mm.k = 64 * (1 + rnd(4));
		mm.a_pitch = up64(mm.k * bits / 8) * count + 16 * rnd(3);
		mm.c_pitch = up64((mm.n + 31) / 32 * 32 * rkmm_out_bytes(mm.types)) * count +
			     16 * rnd(3);
		break;
	case 2:
		if (mm.types != RKMM_T_I8I8)
			mm.slice = mm.k > 200 ? 128 : 0;
		break;
	}
	if (rkmm_geometry(&rkmm_limits_rk3588, &mm, &op->g)) {
		mm.a_pitch = 0;
		mm.c_pitch = 0;
		mm.slice = 0;
		assert_int_equal(rkmm_geometry(&rkmm_limits_rk3588, &mm, &op->g), RKMM_OK);
	}
}

static void fill_op(struct op *op, const struct rkmm_matmul *mm)
{
	uint32_t na = op->m->a_stride ? op->m->count : 1, nb = op->m->b_stride ? op->m->count : 1;
	uint8_t *base;
	uint32_t t, i, j;

	op->a = malloc((size_t)na * mm->m * mm->k);
	op->b = malloc((size_t)nb * mm->k * mm->n);
	for (t = 0; t < na; t++) {
		base = world->region[0].data + (op->m->a - A_BASE) + t * op->m->a_stride;
		for (i = 0; i < mm->m; i++) {
			for (j = 0; j < mm->k; j++) {
				int8_t *v = &op->a[((size_t)t * mm->m + i) * mm->k + j];

				*v = (int8_t)value(mm->types);
				store(&op->g, base, place_a(&op->g, i, j), j, *v);
			}
		}
	}
	for (t = 0; t < nb; t++) {
		base = world->region[1].data + (op->m->b - B_BASE) + t * op->m->b_stride;
		for (i = 0; i < mm->k; i++) {
			for (j = 0; j < mm->n; j++) {
				int8_t *v = &op->b[((size_t)t * mm->n + j) * mm->k + i];

				*v = (int8_t)value(mm->types);
				store(&op->g, base, place_b(&op->g, i, j), i, *v);
			}
		}
	}
}

/* Compares every result; marks what the operation may have written. */
static void check_op(const struct op *op, const struct rkmm_matmul *mm, uint8_t *mine)
{
	const struct rkmm_geom *g = &op->g;
	uint64_t line = (uint64_t)g->np * rkmm_out_bytes(g->types), c0, i;
	uint32_t t, row, n, k;

	for (t = 0; t < op->m->count; t++) {
		const int8_t *a = op->a + (op->m->a_stride ? (size_t)t * mm->m * mm->k : 0);
		const int8_t *b = op->b + (op->m->b_stride ? (size_t)t * mm->k * mm->n : 0);

		c0 = op->m->c - C_BASE + (uint64_t)t * op->m->c_stride;
		for (row = 0; row < op->m->rows; row++) {
			for (n = 0; n < mm->n; n++) {
				int32_t acc = 0;

				for (k = 0; k < mm->k; k++) {
					acc += a[(size_t)row * mm->k + k] *
					       b[(size_t)n * mm->k + k];
					if ((k + 1) % g->kp && k + 1 < mm->k)
						continue;
					check_cell(g, world->region[2].data + c0, k / g->kp, row,
						   n, acc);
					acc = 0;
				}
			}
		}
		for (i = 0; i < g->c_bytes; i++)
			if (g->form != RKMM_FORM_FLAT || i % g->c_slice % g->c_pitch < line)
				mine[c0 + i] = 1;
	}
}

/* Kicks of a lane in order, lanes in any order */
static void run_kicks(const struct rkmm_kick *kicks, uint32_t n)
{
	uint32_t next[RKMM_LANES_MAX + 1] = {}, done = 0, i, l;
	struct npu_report report;

	for (i = 0; i < n; i++) {
		assert_true(kicks[i].lane < RKMM_LANES_MAX);
		assert_true(!i || kicks[i].lane - kicks[i - 1].lane <= 1);
		next[kicks[i].lane + 1] = i + 1;
	}
	for (l = 1; l <= RKMM_LANES_MAX; l++)
		next[l] = next[l] ? next[l] : next[l - 1];
	while (done < n) {
		l = rnd(RKMM_LANES_MAX);
		if (next[l] == n || kicks[next[l]].lane != l)
			continue;
		if (rnd(4) == 0)
			npu_core_reset(core);
		assert_true(kick(core, &kicks[next[l]++], &report));
		done++;
	}
}

static void check_world(struct op *ops, uint32_t n)
{
	uint64_t size = world->region[2].size, i;
	uint8_t *mine = calloc(1, size);

	for (i = 0; i < n; i++)
		check_op(&ops[i], &ops[i].g.mm, mine);
	for (i = 0; i < size; i++)
		assert_true(mine[i] || world->region[2].data[i] == CANARY);
	free(mine);
}

static void run_group(const struct rkmm_limits *limits, struct op *ops,
		      struct rkmm_member *members, uint32_t n)
{
	uint64_t end[3] = {}, want = 0;
	struct rkmm_extent extent;
	struct rkmm_kick *kicks;
	uint32_t i, tasks = 0, lanes = RKMM_LANES_MAX;
	struct world w;

	world = &w;
	env.ctx = &w;
	for (i = 0; i < n; i++) {
		const struct rkmm_geom *g = &ops[i].g;
		struct rkmm_member *m = &members[i];

		ops[i].m = m;
		end[0] = lay(end[0], A_BASE, m->count, g->a_bytes, g->mm.a_pitch,
			     (uint64_t)g->ka * rkmm_in_bits(g->types) / 8, m->a_stride, &m->a,
			     &m->a_stride);
		end[1] = lay(end[1], B_BASE, m->count, g->b_bytes, 0, 0, m->b_stride, &m->b,
			     &m->b_stride);
		end[2] = lay(end[2], C_BASE, m->count, g->c_bytes,
			     g->slices == 1 ? g->mm.c_pitch : 0,
			     (uint64_t)g->np * rkmm_out_bytes(g->types), false, &m->c,
			     &m->c_stride);
		want += (uint64_t)rkmm_geom_programs(g, m->rows) * m->count;
		lanes = g->mm.lanes < lanes ? g->mm.lanes : lanes;
	}
	rkmm_image_measure(limits, members, n, &extent);
	assert_int_equal(extent.tasks, want);
	assert_true(extent.lanes >= 1 && extent.lanes <= lanes && extent.lanes <= want);
	region(&w, 0, A_BASE, end[0], true, 0);
	region(&w, 1, B_BASE, end[1], true, 0);
	region(&w, 2, C_BASE, end[2], false, CANARY);
	region(&w, 3, P_BASE, extent.bytes, false, 0xff);
	for (i = 0; i < n; i++)
		fill_op(&ops[i], &ops[i].g.mm);

	kicks = calloc(extent.kicks, sizeof(*kicks));
	rkmm_image_emit(limits, members, n, P_BASE, (u64 *)w.region[3].data, kicks);
	assert_int_equal(w.region[3].data[extent.bytes], 0xff);
	for (i = 0; i < extent.kicks; i++)
		tasks += kicks[i].tasks;
	assert_int_equal(tasks, want);
	assert_int_equal(kicks[extent.kicks - 1].lane + 1, extent.lanes);
	run_kicks(kicks, extent.kicks);
	check_world(ops, n);
	for (i = 0; i < n; i++) {
		free(ops[i].a);
		free(ops[i].b);
	}
	for (i = 0; i < 4; i++)
		free(w.region[i].data);
	free(kicks);
}

static void test_random_groups(void **state)
{
	struct rkmm_member members[MEMBERS];
	struct op ops[MEMBERS];
	uint32_t i, j, n, left;

	(void)state;
	for (i = 0; i < 150; i++) {
		struct rkmm_limits limits = rkmm_limits_rk3588;

		limits.light = rnd(4);
		if (rnd(4) == 0)
			limits.tasks_max = 1 + rnd(9);
		left = 1 + rnd(MOST);
		for (n = 0; n < MEMBERS && left; n++) {
			uint32_t count = 1 + rnd(rnd(2) ? left : 3);

			count = count < left ? count : left;
			left -= count;
			j = n ? rnd(2 * n) : n;
			if (j < n && !ops[j].g.mm.a_pitch)
				ops[n].g = ops[j].g;	/* the same plan once more */
			else
				random_plan(&ops[n], count);
			members[n] = (struct rkmm_member){
				.geom = &ops[n].g, .count = count,
				.rows = rnd(2) ? ops[n].g.mm.m : 1 + rnd(ops[n].g.mm.m),
				.weights = rnd(2),
				/* whether the operations share it */
				.a_stride = rnd(3) == 0, .b_stride = rnd(3) == 0,
			};
		}
		run_group(&limits, ops, members, n);
	}
}

/* What a kick fetched over the bus; the group is one chain */
static uint64_t bytes_read(struct op *op, struct rkmm_member *m)
{
	struct npu_report report;
	struct rkmm_extent extent;
	struct rkmm_kick one;
	struct world w;
	uint32_t i;

	world = &w;
	env.ctx = &w;
	op->m = m;
	rkmm_image_measure(&rkmm_limits_rk3588, m, 1, &extent);
	assert_int_equal(extent.kicks, 1);
	region(&w, 0, A_BASE, (uint64_t)m->a_stride * (m->count - 1) + op->g.a_bytes, true, 0);
	region(&w, 1, B_BASE, (uint64_t)m->b_stride * (m->count - 1) + op->g.b_bytes, true, 0);
	region(&w, 2, C_BASE, (uint64_t)m->c_stride * (m->count - 1) + op->g.c_bytes, false,
	       CANARY);
	region(&w, 3, P_BASE, extent.bytes, false, 0);
	fill_op(op, &op->g.mm);
	rkmm_image_emit(&rkmm_limits_rk3588, m, 1, P_BASE, (u64 *)w.region[3].data, &one);
	assert_true(kick(core, &one, &report));
	check_world(op, 1);
	free(op->a);
	free(op->b);
	for (i = 0; i < 4; i++)
		free(w.region[i].data);
	return report.read_bytes;
}

/* Operations with one B keep it in the banks, where one program has all of it. */
static void test_shared_weight(void **state)
{
	struct rkmm_matmul mm = matmul(RKMM_T_I4I16, 8, 512, 256);
	struct rkmm_member m = { .count = 9, .rows = 8, .a = A_BASE, .b = B_BASE, .c = C_BASE };
	uint64_t apart, shared;
	struct op op;

	(void)state;
	assert_int_equal(rkmm_geometry(&rkmm_limits_rk3588, &mm, &op.g), RKMM_OK);
	assert_int_equal(op.g.programs, 1);
	assert_true(op.g.weight_reuse);
	m.geom = &op.g;
	m.a_stride = up64(op.g.a_bytes);
	m.c_stride = up64(op.g.c_bytes);
	m.b_stride = up64(op.g.b_bytes);
	apart = bytes_read(&op, &m);
	m.b_stride = 0;
	shared = bytes_read(&op, &m);
	/* a kept weight changes 1040, which costs the programs at places 2 and 3 one write each */
	assert_true(apart - shared >= 8 * op.g.b_bytes - 4 * 64);
	assert_true(apart - shared <= 8 * op.g.b_bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_groups),
		cmocka_unit_test(test_shared_weight),
	};

	return cmocka_run_group_tests_name("groups on the model", tests, setup, teardown);
}
