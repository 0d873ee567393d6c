// SPDX-License-Identifier: MIT
/* What rkmm-bench makes of the kernel's ring buffer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/bench/submit.h"

void *allocate(size_t count, size_t size)
{
	return calloc(count ? count : 1, size);
}

static const struct trace_formats formats = {
	.id = { 10, 11, 12, 13, 14, 15, 16 },
	.prev_pid = 24,
	.next_pid = 56,
	.next_comm = 40,
	.irq = 8,
	.started = 16,
};

static uint8_t page[4096];
static size_t end;

static void put32(uint32_t v)
{
	memcpy(page + end, &v, 4);
	end += 4;
}

static void page_begin(uint64_t ns)
{
	memset(page, 0, sizeof(page));
	memcpy(page, &ns, 8);
	end = 16;
}

static void page_end(void)
{
	uint64_t len = end - 16;

	memcpy(page + 8, &len, 8);
}

/* An event of some words; long says that its length has a word of its own. */
static void event(uint32_t delta, int id, unsigned int words, int pid, uint32_t third, int is_long)
{
	unsigned int i;

	if (is_long) {
		put32(delta << 5);
		put32(4 * words + 4);
	} else {
		put32(delta << 5 | words);
	}
	for (i = 0; i < words; i++)
		put32(i == 0 ? (uint32_t)id : i == 1 ? (uint32_t)pid : i == 2 ? third : 0);
}

static void test_page(void **state)
{
	struct trace_event list[16];
	unsigned int n = 0;
	size_t cut;
	uint64_t len;
	int prev = 7, next = 9;

	(void)state;
	page_begin(1000);
	event(5, 10, 4, 77, 0, 0);		/* 1005 */
	event(6, 99, 3, 77, 0, 0);		/* 1011: somebody else's */
	put32(1 << 5 | 30);			/* more time: 1 + (2 << 27) */
	put32(2);
	event(1, 13, 4, 5, 42, 1);
	put32(3 << 5 | 29);			/* padding, 8 bytes with this length */
	put32(8);
	put32(0xffffffff);
	event(2, 15, 16, 1, 0, 0);
	memcpy(page + end - 64 + 24, &prev, 4);
	memcpy(page + end - 64 + 56, &next, 4);
	memcpy(page + end - 64 + 40, "rkmm-soft/0", 12);
	put32(29);				/* the rest is empty */
	put32(0xffffffff);
	page_end();

	assert_int_equal(trace_page(&formats, page, sizeof(page), 3, list, &n, 16), 0);
	assert_int_equal(n, 3);
	assert_int_equal(list[0].ns, 1005);
	assert_int_equal(list[0].kind, TRACE_SUBMIT);
	assert_int_equal(list[0].pid, 77);
	assert_int_equal(list[0].cpu, 3);
	assert_int_equal(list[1].ns, 1012 + (2ull << 27) + 1);
	assert_int_equal(list[1].kind, TRACE_IRQ_ENTRY);
	assert_int_equal(list[1].irq, 42);
	assert_int_equal(list[2].kind, TRACE_SWITCH);
	assert_int_equal(list[2].pid, 7);
	assert_int_equal(list[2].next, 9);
	assert_string_equal(list[2].comm, "rkmm-soft/0");

	n = 0;
	assert_int_equal(trace_page(&formats, page, sizeof(page), 0, list, &n, 2), 0);
	assert_int_equal(n, 2);
	/* However short a page is cut, nothing behind it is touched. */
	for (cut = 0; cut < end; cut++) {
		uint8_t *copy = malloc(cut ? cut : 1);

		memcpy(copy, page, cut);
		if (cut >= 16) {
			len = cut - 16;
			memcpy(copy + 8, &len, 8);
		}
		n = 0;
		trace_page(&formats, copy, cut, 0, list, &n, 16);
		free(copy);
	}
	/* A length beyond the page. */
	len = 8192;
	memcpy(page + 8, &len, 8);
	assert_int_equal(trace_page(&formats, page, sizeof(page), 0, list, &n, 16), -1);
}

static void test_garbage(void **state)
{
	struct trace_event list[64];
	uint64_t seed = 1, len;
	unsigned int i, k, n;
	uint8_t *copy = malloc(256);

	(void)state;
	for (i = 0; i < 20000; i++) {
		for (k = 0; k < 256; k++)
			copy[k] = (uint8_t)random_next(&seed);
		len = random_next(&seed) % 260;
		memcpy(copy + 8, &len, 8);
		n = 0;
		trace_page(&formats, copy, 256, 0, list, &n, 64);
		assert_true(n <= 64);
	}
	free(copy);
}

#define E(t, k, ...)	{ .ns = (t), .kind = TRACE_##k, __VA_ARGS__ }

static void test_breakdown(void **state)
{
	/* Thread 100 submits; 200 is the software NPU; interrupt 7 is ours, 1 the clock's. */
	const struct trace_event events[] = {
		E(900, RUN, .pid = 5, .started = 890),
		E(1100, SUBMIT, .pid = 100),
		E(1150, RUN, .pid = 100, .started = 1140),
		E(1220, STARTED, .pid = 100),
		E(1400, SWITCH, .pid = 100, .next = 200, .comm = "rkmm-soft/0"),
		E(1450, IRQ_ENTRY, .irq = 1),
		E(1460, IRQ_EXIT, .irq = 1),
		E(2000, IRQ_ENTRY, .irq = 7),
		E(2030, DONE),
		E(2050, IRQ_EXIT, .irq = 7),
		E(2100, SWITCH, .pid = 200, .next = 300, .comm = "kworker/0:1"),
		E(2300, SWITCH, .pid = 300, .next = 100, .comm = "rkmm-bench"),
		/* The next call has lost its end. */
		E(3100, SUBMIT, .pid = 100),
	};
	const struct span spans[] = { { 1000, 2500, 0 }, { 3000, 3500, 0 } };
	struct breakdown b;

	(void)state;
	breakdown_make(&b, events, sizeof(events) / sizeof(events[0]), spans, 2, 100);
	assert_int_equal(b.calls, 1);
	assert_int_equal(b.phase[PHASE_QUEUE], 100);
	assert_int_equal(b.phase[PHASE_SCHED], 50);
	assert_int_equal(b.phase[PHASE_REGS], 70);
	assert_int_equal(b.phase[PHASE_LEAVE], 180);
	assert_int_equal(b.phase[PHASE_AWAY], 600);
	assert_int_equal(b.phase[PHASE_IRQ], 30);
	assert_int_equal(b.phase[PHASE_BACK], 470);
	/* 1000..1400, the handler's 2000..2050, 2300..2500 */
	assert_int_equal(b.own, 400 + 50 + 200);
	assert_int_equal(b.model, 700 - 50);
	assert_int_equal(b.others, 200);
	assert_int_equal(b.switches, 1);
	assert_int_equal(b.events, 11);
	/* submit, run, started; entry and done in the handler; the switch back */
	assert_int_equal(b.own_events, 6);
	assert_int_equal(b.regs, 70);
	assert_int_equal(b.starts, 1);
	assert_int_equal(breakdown_first(events, 13, spans, 2), 140);
	assert_int_equal(breakdown_first(events, 0, spans, 2), 0);
	breakdown_make(&b, events, 0, spans, 2, 100);
	assert_int_equal(b.calls, 0);
	assert_int_equal(b.own, 0);
}

/* Two jobs a call: the second is started by the interrupt, in the third call by the thread. */
static void test_next(void **state)
{
	const struct trace_event events[] = {
		E(1100, RUN, .started = 1090),
		E(1200, IRQ_ENTRY, .irq = 1),
		E(1210, IRQ_EXIT, .irq = 1),
		E(2000, IRQ_ENTRY, .irq = 7),
		E(2090, RUN, .started = 2070),
		E(2100, IRQ_EXIT, .irq = 7),
		E(3100, RUN, .started = 3090),
		E(3500, IRQ_ENTRY, .irq = 7),
		E(3560, RUN, .started = 3550),
		E(3600, IRQ_EXIT, .irq = 7),
		E(4100, RUN, .started = 4090),
		E(4200, IRQ_ENTRY, .irq = 7),
		E(4250, IRQ_EXIT, .irq = 7),
		E(4300, RUN, .started = 4290),
	};
	const struct span spans[] = { { 1000, 2500, 0 }, { 3000, 3800, 0 }, { 4000, 4500, 0 } };
	const unsigned int n = sizeof(events) / sizeof(events[0]);

	(void)state;
	assert_int_equal(breakdown_next(events, n, spans, 1), 70);
	assert_int_equal(breakdown_next(events + 6, n - 6, spans + 1, 1), 50);
	assert_int_equal(breakdown_next(events + 10, n - 10, spans + 2, 1), 0);
	assert_int_equal(breakdown_next(events, 0, spans, 3), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_page),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_breakdown),
		cmocka_unit_test(test_next),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
