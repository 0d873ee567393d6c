// SPDX-License-Identifier: GPL-2.0-only
/* Chains and register groups: what the program control makes of linked lists. */
#include "test_model_blocks.h"

static const struct job i8 = { I8I32, 30, 96, 64, A, B, C, .v = 0xb1 };

static void uniform_chains(void **state)
{
	static const struct job jobs[] = {
		{ I8I32, 30, 96, 64, A, B, C, .v = 0xb1 },
		{ F16F32, 17, 64, 48, A, B, C, .v = 0xb1 },
		{ F16F16, 9, 64, 48, A, B, C, .v = 0xb1 },
		{ I4I16, 12, 64, 64, A, B, C, .v = 0xb1 },
	};
	u32 i, pingpong;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(jobs); i++)
		for (pingpong = 0; pingpong < 2; pingpong++) {
			struct blocks b;
			struct rig rig;

			blocks_open(&rig, &b, &jobs[i], jobs[i].pair == I4I16 ? 1 : 4);
			store_chain(&rig, b.progs, b.count);
			assert_int_equal(kick_chain(&rig, b.progs, b.count, pingpong), NPU_OK);
			assert_int_equal(rig.report.tasks_done, b.count);
			check_rows(&rig, &b.d, &b.all);
			blocks_close(&rig, &b);
		}
}

/*
 * ork's int4 slots: 116 entries, the fetch runs four entries into the next
 * program; the parser goes on behind the start entry (hw 02 §1.3)
 */
static void over_fetch(void **state)
{
	struct job j = { I4I16, 12, 64, 64, A, B, C, .v = 0xb1 };
	struct blocks b;
	struct rig rig;
	u32 i;

	(void)state;
	blocks_open(&rig, &b, &j, 1);
	rig_map(&rig, IMAGE, b.count * 928 + 64);
	memset(rig_at(&rig, IMAGE), 0, b.count * 928 + 64);
	for (i = 0; i < b.count; i++) {
		struct prog p = b.progs[i];
		bool last = i + 1 == b.count;

		prog_tail(&p, last ? 0 : IMAGE + (i + 1) * 928, last ? 0 : 0x37, 0x0d);
		memcpy(&p.e[112], b.progs[i].e, 32);
		p.n = 116;
		prog_store(&rig, IMAGE + i * 928, &p);
	}
	/* The kernel counts 116 writes and four more for the first task. */
	assert_int_equal(rig_kick(&rig, IMAGE, (116 + 5) / 2 - 1, b.count, true), NPU_OK);
	check_rows(&rig, &b.d, &b.all);
	blocks_close(&rig, &b);
}

/*
 * An amount that covers the next program as well: its writes land in the groups
 * that come next, its link and start are nobody's (hw 04 §0.4)
 */
static void amount_too_large(void **state)
{
	struct blocks b;
	struct rig rig;

	(void)state;
	blocks_open(&rig, &b, &i8, 10);
	store_chain(&rig, b.progs, 3);
	npu_core_set_laws(rig.core, false);
	assert_int_equal(rig_kick(&rig, IMAGE, 111, 3, true), NPU_OK);
	assert_int_equal(rig.report.tasks_done, 3);
	check_rows(&rig, &b.d, &b.all);
	npu_core_set_laws(rig.core, true);
	assert_int_equal(rig_kick(&rig, IMAGE, 111, 3, true), NPU_HANG_0);
	blocks_close(&rig, &b);
}

/*
 * With ping-pong the next list is fetched while a task runs, so a task that
 * writes over it is too late; without, the core reads what was written.
 */
static void list_overwritten(void **state)
{
	struct job first = { I8I32, 4, 32, 32, A, B, IMAGE + 896, .v = 0xb1 };
	u32 pingpong;

	(void)state;
	for (pingpong = 0; pingpong < 2; pingpong++) {
		struct blocks b;
		struct rig rig;

		blocks_open(&rig, &b, &i8, 30);
		b.progs[1] = b.progs[0];
		flat_program(&b.progs[0], &first);
		store_chain(&rig, b.progs, 2);
		kick_chain(&rig, b.progs, 2, pingpong);
		if (pingpong) {
			assert_int_equal(rig.report.cls, NPU_OK);
			check_rows(&rig, &b.d, &b.all);
		} else {
			assert_int_equal(rig.report.cls, NPU_HANG_P);
			assert_int_equal(rig.report.tasks_done, 1);
		}
		blocks_close(&rig, &b);
	}
}

/* Copies one write of @from, as a light task carries it. */
static void take(struct prog *p, const struct prog *from, u32 offset)
{
	u32 i;

	for (i = from->n; i--;)
		if ((from->e[i] & 0xffff) == offset) {
			p->e[p->n++] = from->e[i];
			return;
		}
	fail();
}

static void take_all(struct prog *p, const struct prog *from, const u16 *offsets, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		take(p, from, offsets[i]);
}

/* hw 02 §7.4: two full tasks, then only what differs from the task before last */
static void light_tasks(void **state)
{
	static const u16 head[] = { 0x1040, 0x1104, 0x1100, 0x100c, 0x4004 };
	static const u16 body[] = { 0x1070, 0x1084, 0x1088, 0x1110, 0x4020, 0x4058, 0x405c };
	static const u16 resize[] = { 0x1010, 0x1020, 0x102c, 0x3014, 0x4034 };
	struct job j = { F16F32, 394, 416, 416, A, B, C, .v = 0xb1 };
	struct prog light[16];
	struct blocks b;
	struct rig rig;
	u32 i;

	(void)state;
	blocks_open(&rig, &b, &j, 39);
	assert_int_equal(b.count, 11);
	for (i = 1; i < b.count; i++)
		prog_set(&b.progs[i], 0x1040, 0x20b1);
	for (i = 0; i < b.count; i++) {
		light[i] = b.progs[i];
		if (i < 2)
			continue;
		light[i].n = 0;
		take_all(&light[i], &b.progs[i], head, ARRAY_SIZE(head));
		if (i == 10)
			take_all(&light[i], &b.progs[i], resize, ARRAY_SIZE(resize));
		if (i == 2)
			take(&light[i], &b.progs[i], 0x1040);
		take_all(&light[i], &b.progs[i], body, ARRAY_SIZE(body));
	}
	assert_int_equal(light[2].n, 13);
	assert_int_equal(light[3].n, 12);
	assert_int_equal(light[10].n, 17);
	store_chain(&rig, light, b.count);
	assert_int_equal(kick_chain(&rig, light, b.count, true), NPU_OK);
	assert_int_equal(rig.report.tasks_done, 11);
	/* The weight came over the bus once. */
	assert_true(rig.report.read_bytes < b_bytes(&j) + a_bytes(&j) + 65536);
	check_rows(&rig, &b.d, &b.all);
	blocks_close(&rig, &b);
}

/*
 * A register that a task leaves out comes from the task before last, even when
 * that was in an earlier kick.
 */
static void inheritance(void **state)
{
	struct prog light[4];
	struct blocks b;
	struct rig rig;
	u32 i;

	(void)state;
	blocks_open(&rig, &b, &i8, 8);
	assert_int_equal(b.count, 4);
	for (i = 0; i < 4; i++)
		light[i] = b.progs[i];
	/* Task 2 says neither where A nor where C is: it repeats task 0. */
	light[2].n = 0;
	take(&light[2], &b.progs[2], 0x4004);
	take(&light[2], &b.progs[2], 0x1110);
	store_chain(&rig, light, 3);
	assert_int_equal(kick_chain(&rig, light, 2, true), NPU_OK);
	memset(rig_at(&rig, C), 0xa5, c_bytes(&i8));
	assert_int_equal(rig_kick(&rig, IMAGE + 2 * 896, prog_amount(2), 1, true), NPU_OK);
	for (i = 0; i < i8.n * 8; i++)
		assert_int_equal(get_out(rig_at(&rig, C + 4 * i), 4),
				 data_out(&b.d, &i8, i / i8.n, i % i8.n));
	assert_int_equal(*rig_at(&rig, C + i8.n * 8 * 4), 0xa5);
	blocks_close(&rig, &b);
}

/* With S_POINTER at 30 both sides stay in group 0, and it is the last task's. */
static void without_groups(void **state)
{
	struct prog light[2];
	struct blocks b;
	struct rig rig;
	u32 i;

	(void)state;
	blocks_open(&rig, &b, &i8, 15);
	for (i = 0; i < 2; i++) {
		prog_set(&b.progs[i], 0x4004, 0x30);
		light[i] = b.progs[i];
	}
	light[1].n = 0;
	take(&light[1], &b.progs[1], 0x1070);
	take(&light[1], &b.progs[1], 0x4020);
	store_chain(&rig, light, 2);
	npu_core_write(rig.core, 0x10, IMAGE);
	npu_core_write(rig.core, 0x14, prog_amount(108));
	npu_core_write(rig.core, 0x30, 0x6002);
	npu_core_write(rig.core, 0x1004, 0x30);
	npu_core_write(rig.core, 0x3004, 0x30);
	assert_true(npu_core_write(rig.core, 0x08, 1));
	npu_core_run(rig.core, NULL, NULL, &rig.report);
	assert_int_equal(rig.report.cls, NPU_OK);
	check_rows(&rig, &b.d, &b.all);
	/* Bits of group 0 only. */
	assert_int_equal(npu_core_read(rig.core, 0x2c) & 0x1ffff, 0x155);
	blocks_close(&rig, &b);
}

/* The task number is the real stop; a dangling link behind it does no harm. */
static void task_count(void **state)
{
	struct blocks b;
	struct rig rig;
	u32 pingpong, i;

	(void)state;
	for (pingpong = 0; pingpong < 2; pingpong++) {
		blocks_open(&rig, &b, &i8, 10);
		store_chain(&rig, b.progs, 3);
		/* The link of task 1 leads nowhere. */
		for (i = 108; i < 112; i++) {
			u64 entry;

			memcpy(&entry, rig_at(&rig, IMAGE + 896 + i * 8), 8);
			if ((entry & 0xffff) == 0x10)
				entry = (u64)PC << 48 | 0x660000000010ull;
			memcpy(rig_at(&rig, IMAGE + 896 + i * 8), &entry, 8);
		}
		assert_int_equal(kick_chain(&rig, b.progs, 2, pingpong), NPU_OK);
		assert_int_equal(rig.report.tasks_done, 2);
		assert_int_equal(*rig_at(&rig, C + 20 * i8.n * 4), 0xa5);
		assert_true(npu_core_irq(rig.core));

		/* One task more, and the link is followed. */
		assert_int_equal(kick_chain(&rig, b.progs, 3, pingpong), NPU_FAULT);
		assert_int_equal(rig.report.fault_addr, 0x66000000);
		assert_false(rig.report.fault_write);
		assert_int_equal(rig.report.tasks_done, 2);
		assert_int_equal(rig.report.task, 2);
		assert_false(npu_core_irq(rig.core));
		blocks_close(&rig, &b);
	}
}

/* Amount 0 ends a chain; if the count wants more, the core hangs. */
static void chain_ends_early(void **state)
{
	struct blocks b;
	struct rig rig;

	(void)state;
	blocks_open(&rig, &b, &i8, 10);
	store_chain(&rig, b.progs, 2);
	assert_int_equal(kick_chain(&rig, b.progs, 3, true), NPU_HANG_P);
	assert_non_null(strstr(rig.report.law, "hw 03 C1"));
	assert_int_equal(rig.report.tasks_done, 2);
	assert_int_equal(npu_core_read(rig.core, 0x3c) & 0xfff, 2);
	assert_int_equal(npu_core_read(rig.core, 0x2c) & 0x1ffff, 0);
	assert_int_equal(npu_core_read(rig.core, 0x1000), 5);
	/* Busy until a reset */
	assert_false(npu_core_write(rig.core, 0x08, 1));
	npu_core_write(rig.core, 0x08, 0);
	npu_core_reset(rig.core);
	assert_int_equal(kick_chain(&rig, b.progs, 2, true), NPU_OK);
	blocks_close(&rig, &b);
}

/* An amount that ends before the start entry; task number 0; two starts */
static void broken_lists(void **state)
{
	struct blocks b;
	struct rig rig;
	struct prog p;

	(void)state;
	blocks_open(&rig, &b, &i8, 30);
	store_chain(&rig, b.progs, 1);
	assert_int_equal(rig_kick(&rig, IMAGE, 54, 1, false), NPU_HANG_0);
	assert_int_equal(rig.report.tasks_done, 0);
	assert_int_equal(npu_core_read(rig.core, 0x3c) & 0xfff, 0);
	npu_core_reset(rig.core);
	assert_int_equal(rig_kick(&rig, IMAGE, 55, 0, false), NPU_HANG_0);
	npu_core_reset(rig.core);

	p = b.progs[0];
	prog_tail(&p, 0, 0, 0x0d);
	prog_add(&p, 0x0081, 8, 0x0d);
	prog_store(&rig, IMAGE, &p);
	assert_int_equal(rig_kick(&rig, IMAGE, 56, 1, false), NPU_HANG_0);
	npu_core_reset(rig.core);

	/* Without 0041: only a strict core minds */
	p = b.progs[0];
	prog_tail(&p, 0, 0, 0x0d);
	p.e[110] = 0;
	prog_store(&rig, IMAGE, &p);
	assert_int_equal(rig_kick(&rig, IMAGE, 55, 1, false), NPU_HANG_0);
	npu_core_reset(rig.core);
	npu_core_set_laws(rig.core, false);
	assert_int_equal(rig_kick(&rig, IMAGE, 55, 1, false), NPU_OK);
	check_rows(&rig, &b.d, &b.all);

	/* Blocks that no matmul starts together */
	p.e[111] = 0x0081ull << 48 | 0x18ull << 16 | 8;
	prog_store(&rig, IMAGE, &p);
	assert_int_equal(rig_kick(&rig, IMAGE, 55, 1, false), NPU_HANG_0);
	blocks_close(&rig, &b);
}

/* Registers no sheet names, offsets of other blocks, targets without a block */
static void unknown_registers(void **state)
{
	struct blocks b;
	struct rig rig;
	struct prog p;

	(void)state;
	blocks_open(&rig, &b, &i8, 30);
	p = b.progs[0];
	prog_add(&p, CNA, 0x1ffc, 1);
	prog_add(&p, CNA, 0x4020, 0xdead0000);
	prog_add(&p, 0x0401, 0x2004, 0xe);
	prog_add(&p, PC, 0x30, 1);
	store_chain(&rig, &p, 1);
	assert_int_equal(rig_kick(&rig, IMAGE, prog_amount(p.n), 1, false), NPU_OK);
	assert_int_equal(rig.report.unknown_regs, 4);
	check_rows(&rig, &b.d, &b.all);
	blocks_close(&rig, &b);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(uniform_chains),
		cmocka_unit_test(over_fetch),
		cmocka_unit_test(amount_too_large),
		cmocka_unit_test(list_overwritten),
		cmocka_unit_test(light_tasks),
		cmocka_unit_test(inheritance),
		cmocka_unit_test(without_groups),
		cmocka_unit_test(task_count),
		cmocka_unit_test(chain_ends_early),
		cmocka_unit_test(broken_lists),
		cmocka_unit_test(unknown_registers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
