// SPDX-License-Identifier: GPL-2.0-only
/* A core as the CPU sees it: registers, start, counter, interrupt, faults, stop. */
#include "test_model_blocks.h"

static const struct job i8 = { I8I32, 30, 96, 64, A, B, C, .v = 0xb1 };

struct watch {
	struct rig *rig;
	u32 calls, stop_at;
	u32 counter[16];
	u32 raw[16];
	bool irq[16];
};

static bool watch_task(void *arg, u32 task)
{
	struct watch *w = arg;

	assert_int_equal(task, w->calls);
	w->counter[task] = npu_core_read(w->rig->core, 0x3c) & 0xfff;
	w->raw[task] = npu_core_read(w->rig->core, 0x2c);
	w->irq[task] = npu_core_irq(w->rig->core);
	return ++w->calls == w->stop_at;
}

static void start(struct rig *rig, u32 tasks, bool pingpong)
{
	npu_core_write(rig->core, 0x1004, 0xe);
	npu_core_write(rig->core, 0x3004, 0xe);
	npu_core_write(rig->core, 0x10, IMAGE);
	npu_core_write(rig->core, 0x14, prog_amount(108));
	npu_core_write(rig->core, 0x20, 0x300);
	npu_core_write(rig->core, 0x24, 0x1ffff);
	npu_core_write(rig->core, 0x30, (6 | pingpong) << 12 | tasks);
	assert_true(npu_core_write(rig->core, 0x08, 1));
	assert_false(npu_core_write(rig->core, 0x08, 0));
}

/* One interrupt per kick, after the last task; the counter moves on the way. */
static void counter_and_interrupt(void **state)
{
	struct blocks b;
	struct rig rig;
	u32 i, group;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct watch w = { .rig = &rig };
		u32 tasks = 7 + i, t;

		blocks_open(&rig, &b, &i8, 4);
		store_chain(&rig, b.progs, b.count);
		assert_int_equal(npu_core_read(rig.core, 0x2c), 0x40000000);
		start(&rig, tasks, true);
		npu_core_run(rig.core, watch_task, &w, &rig.report);
		assert_int_equal(rig.report.cls, NPU_OK);
		assert_int_equal(w.calls, tasks);
		for (t = 0; t + 1 < tasks; t++) {
			assert_int_equal(w.counter[t], t + 1);
			assert_int_equal(w.raw[t] & 0x1ffff, 0);
			assert_false(w.irq[t]);
		}
		/* At the end the count may read 0 again (hw 01 §1.2). */
		assert_int_equal(w.counter[t], 0);
		assert_true(w.irq[t]);
		group = (tasks - 1) & 1;
		assert_int_equal(w.raw[t], 0xc0000000 | 0x155 << group);
		assert_int_equal(npu_core_read(rig.core, 0x28), 0x100 << group);
		assert_int_equal(npu_core_read(rig.core, 0x3c), 0x5000);
		npu_core_write(rig.core, 0x24, 0x1ffff);
		assert_false(npu_core_irq(rig.core));
		assert_int_equal(npu_core_read(rig.core, 0x2c), 0xc0000000);
		blocks_close(&rig, &b);
	}
}

/* Read-back values of hw 01 §1.2 and §1.3 */
static void registers(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig);
	assert_int_equal(npu_core_read(rig.core, 0x00), 0x46495245);
	assert_int_equal(npu_core_read(rig.core, 0x04), 0);
	assert_int_equal(npu_core_read(rig.core, 0x10), 1);
	assert_int_equal(npu_core_read(rig.core, 0x18), 0xf);
	assert_int_equal(npu_core_read(rig.core, 0x20), 0x8001ffff);
	assert_int_equal(npu_core_read(rig.core, 0x8030), 0x100);
	npu_core_write(rig.core, 0x20, 0x300);
	assert_int_equal(npu_core_read(rig.core, 0x20), 0x80000300);
	npu_core_write(rig.core, 0x30, 0x7002);
	assert_int_equal(npu_core_read(rig.core, 0x30), 0x1002);
	npu_core_write(rig.core, 0x30, 0x6fff);
	assert_int_equal(npu_core_read(rig.core, 0x30), 0x0fff);
	npu_core_write(rig.core, 0x10, 0xffff1237);
	assert_int_equal(npu_core_read(rig.core, 0x10), 0xffff1231);
	npu_core_write(rig.core, 0x34, 0x8000001f);
	assert_int_equal(npu_core_read(rig.core, 0x34), 0x80000010);
	npu_core_write(rig.core, 0x1004, 0x2000000e);
	assert_int_equal(npu_core_read(rig.core, 0x1004), 0xe);
	npu_core_write(rig.core, 0x1070, 0x12345678);
	assert_int_equal(npu_core_read(rig.core, 0x1070), 0x12345678);
	/* Outside of every block, and unaligned */
	assert_false(npu_core_write(rig.core, 0x2210, 1));
	assert_int_equal(npu_core_read(rig.core, 0x2210), 0);
	assert_int_equal(npu_core_read(rig.core, 0x1071), 0);
	npu_core_reset(rig.core);
	assert_int_equal(npu_core_read(rig.core, 0x1070), 0);
	assert_int_equal(npu_core_read(rig.core, 0x20), 0x8001ffff);
	rig_close(&rig);
}

/* A start is a rise of OP_EN in PC mode on an idle core; level or pulse. */
static void op_enable(void **state)
{
	struct blocks b;
	struct rig rig;

	(void)state;
	blocks_open(&rig, &b, &i8, 30);
	store_chain(&rig, b.progs, 1);
	/* Slave mode */
	assert_false(npu_core_write(rig.core, 0x08, 1));
	npu_core_write(rig.core, 0x08, 0);
	start(&rig, 1, false);
	/* Running: not again */
	assert_false(npu_core_write(rig.core, 0x08, 1));
	npu_core_write(rig.core, 0x08, 0);
	npu_core_run(rig.core, NULL, NULL, &rig.report);
	check_rows(&rig, &b.d, &b.all);
	assert_int_equal(npu_core_read(rig.core, 0x3c), 0x7000);
	/* Nothing started: nothing runs */
	npu_core_run(rig.core, NULL, NULL, &rig.report);
	assert_int_equal(rig.report.tasks_done, 0);
	/* A level stays until it is taken back */
	npu_core_write(rig.core, 0x14, prog_amount(108));
	assert_true(npu_core_write(rig.core, 0x08, 1));
	assert_int_equal(npu_core_read(rig.core, 0x08), 1);
	npu_core_run(rig.core, NULL, NULL, &rig.report);
	assert_int_equal(rig.report.cls, NPU_OK);
	assert_false(npu_core_write(rig.core, 0x08, 1));
	npu_core_write(rig.core, 0x08, 0);
	assert_true(npu_core_write(rig.core, 0x08, 1));
	blocks_close(&rig, &b);
}

/* Every operand in turn is not there, or may not be written. */
static void faults(void **state)
{
	static const struct {
		u32 unmap, protect, fault;
		bool write;
		u32 bit;
	} cases[] = {
		{ A, 0, A, false, 0x1000 },
		{ B, 0, B, false, 0x1000 },
		{ C, 0, C, true, 0x2000 },
		{ 0, C, C, true, 0x2000 },
		{ IMAGE, 0, IMAGE, false, 0x1000 },
	};
	u32 i, bits;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		for (bits = 0; bits < 2; bits++) {
			struct blocks b;
			struct rig rig;

			blocks_open(&rig, &b, &i8, 30);
			store_chain(&rig, b.progs, 1);
			npu_core_set_error_bits(rig.core, bits);
			if (cases[i].unmap)
				rig_unmap(&rig, cases[i].unmap);
			if (cases[i].protect)
				rig_protect(&rig, cases[i].protect);
			assert_int_equal(kick_chain(&rig, b.progs, 1, true), NPU_FAULT);
			assert_int_equal(rig.report.fault_addr, cases[i].fault);
			assert_int_equal(rig.report.fault_write, cases[i].write);
			assert_int_equal(rig.report.tasks_done, 0);
			assert_int_equal(npu_core_read(rig.core, 0x2c) & 0x1ffff,
					 bits * cases[i].bit);
			assert_false(npu_core_write(rig.core, 0x08, 1));
			blocks_close(&rig, &b);
		}
}

/* The end of an operand is missing: the first byte that cannot be read. */
static void fault_in_the_middle(void **state)
{
	struct blocks b;
	struct rig rig;

	(void)state;
	blocks_open(&rig, &b, &i8, 30);
	store_chain(&rig, b.progs, 1);
	rig_unmap(&rig, B);
	rig_map(&rig, B, b_bytes(&i8) - 1000);
	assert_int_equal(kick_chain(&rig, b.progs, 1, false), NPU_FAULT);
	assert_int_equal(rig.report.fault_addr, B + b_bytes(&i8) - 1000);
	blocks_close(&rig, &b);
}

static void dma_base(void **state)
{
	struct blocks b;
	struct rig rig;
	struct job j = i8;
	u32 base = 0x5000000;

	(void)state;
	j.a -= base;
	j.b -= base;
	j.c -= base;
	blocks_open(&rig, &b, &i8, 30);
	flat_program(&b.progs[0], &j);
	store_chain(&rig, b.progs, 1);
	npu_core_write(rig.core, 0x10, IMAGE);
	npu_core_write(rig.core, 0x14, 55);
	npu_core_write(rig.core, 0x30, 0x6001);
	npu_core_write(rig.core, 0x34, base);
	assert_true(npu_core_write(rig.core, 0x08, 1));
	npu_core_run(rig.core, NULL, NULL, &rig.report);
	assert_int_equal(rig.report.cls, NPU_OK);
	check_rows(&rig, &b.d, &i8);
	blocks_close(&rig, &b);
}

static void stopped(void **state)
{
	struct blocks b;
	struct rig rig;
	u32 i;

	(void)state;
	/* By the callback, between tasks */
	for (i = 1; i < 3; i++) {
		struct watch w = { .rig = &rig, .stop_at = i };

		blocks_open(&rig, &b, &i8, 10);
		store_chain(&rig, b.progs, 3);
		start(&rig, 3, true);
		npu_core_run(rig.core, watch_task, &w, &rig.report);
		assert_int_equal(rig.report.cls, NPU_STOPPED);
		assert_int_equal(rig.report.tasks_done, i);
		assert_false(npu_core_irq(rig.core));
		blocks_close(&rig, &b);
	}
	/* By relax(), anywhere */
	for (i = 1; i < 12; i++) {
		blocks_open(&rig, &b, &i8, 10);
		store_chain(&rig, b.progs, 3);
		rig.stop_after = i;
		kick_chain(&rig, b.progs, 3, true);
		if (rig.report.cls != NPU_STOPPED) {
			assert_int_equal(rig.report.cls, NPU_OK);
			assert_true(rig.relaxes < i);
		} else {
			assert_int_equal(rig.relaxes, i);
			npu_core_reset(rig.core);
			assert_int_equal(kick_chain(&rig, b.progs, 3, true), NPU_OK);
		}
		check_rows(&rig, &b.d, &b.all);
		blocks_close(&rig, &b);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers),
		cmocka_unit_test(op_enable),
		cmocka_unit_test(counter_and_interrupt),
		cmocka_unit_test(faults),
		cmocka_unit_test(fault_in_the_middle),
		cmocka_unit_test(dma_base),
		cmocka_unit_test(stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
