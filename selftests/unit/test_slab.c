// SPDX-License-Identifier: GPL-2.0-only
/*
 * Small mappings in slabs: kmod/rkmm_slab.c over a page table that is an array of bytes, on
 * random mappings that come and go. No page twice, no gap, few slabs, nothing left.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "kernel.h"

/* What kmod/rkmm_slab.c needs of these is below. */
#define RKMM_DEVICE_H
#define RKMM_COMPAT_H

#define PAGES		65536u
#define BYTES		(PAGES * PAGE_SIZE)
#define SLAB_PAGES	1024u
#define SMALL_PAGES	64u
#define MAPS		400

/* ---- drm_mm: the lowest or the highest place ------------------------------ */

enum drm_mm_insert_mode { DRM_MM_INSERT_LOW, DRM_MM_INSERT_HIGH };

struct drm_mm_node {
	u64 start, size;
	struct list_head in;
	bool there;
};

struct drm_mm {
	u64 start, size;
	struct list_head nodes;		/* in no order */
};

static void drm_mm_init(struct drm_mm *mm, u64 start, u64 size)
{
	mm->start = start;
	mm->size = size;
	INIT_LIST_HEAD(&mm->nodes);
}

static bool drm_mm_clean(const struct drm_mm *mm)
{
	return mm->nodes.next == &mm->nodes;
}

static void drm_mm_takedown(struct drm_mm *mm)
{
	assert_true(drm_mm_clean(mm));
}

/* The node that is in the way of [start, start + size), or NULL */
static struct drm_mm_node *in_the_way(const struct drm_mm *mm, u64 start, u64 size)
{
	struct drm_mm_node *node;

	list_for_each_entry(node, &mm->nodes, in)
		if (start < node->start + node->size && node->start < start + size)
			return node;
	return NULL;
}

static int drm_mm_insert_node_generic(struct drm_mm *mm, struct drm_mm_node *node, u64 size,
				      u64 align, unsigned long color, enum drm_mm_insert_mode mode)
{
	struct drm_mm_node *other;
	u64 at;

	assert_int_equal(align, PAGE_SIZE);
	assert_false(color || node->there);
	if (size > mm->size)
		return -ENOSPC;
	at = mode == DRM_MM_INSERT_LOW ? mm->start : mm->start + mm->size - size;
	while ((other = in_the_way(mm, at, size))) {
		if (mode == DRM_MM_INSERT_LOW) {
			at = other->start + other->size;
			if (at + size > mm->start + mm->size)
				return -ENOSPC;
		} else {
			if (other->start < mm->start + size)
				return -ENOSPC;
			at = other->start - size;
		}
	}
	*node = (struct drm_mm_node){ .start = at, .size = size, .there = true };
	list_add(&node->in, &mm->nodes);
	return 0;
}

static void drm_mm_remove_node(struct drm_mm_node *node)
{
	assert_true(node->there);
	list_del(&node->in);
	node->there = false;
}

/* ---- a window ------------------------------------------------------------- */

enum page { NOTHING, ZEROS, DATA };

struct rkmm_vm {
	struct mutex lock;
	u64 bytes, slab_bytes;
};

struct rkmm_device {
	struct rkmm_vm vm;
};

struct rkmm_window {
	struct rkmm_device *rdev;
	void *domain;
	struct drm_mm mm;
	u32 nmappings;
	struct list_head slabs;
};

static struct rkmm_device device;
static struct rkmm_window window;
static uint8_t table[PAGES];
static uint32_t guards_left;

static size_t iommu_unmap(void *domain, unsigned long at, size_t size)
{
	u64 end = at + size;

	assert_ptr_equal(domain, window.domain);
	/* as the IOMMU core: up to the first page where nothing is */
	for (; at < end && table[at / PAGE_SIZE]; at += PAGE_SIZE)
		table[at / PAGE_SIZE] = NOTHING;
	return size;
}

static void rkmm_window_unmap(struct rkmm_window *w, u64 start, u64 end)
{
	/* without a gap, which may be empty */
	for (; start < end; start += PAGE_SIZE) {
		assert_int_not_equal(table[start / PAGE_SIZE], NOTHING);
		iommu_unmap(w->domain, start, PAGE_SIZE);
	}
}

static void map_page(u64 at, enum page what)
{
	/* what is mapped is not mapped over */
	assert_int_equal(table[at / PAGE_SIZE], NOTHING);
	table[at / PAGE_SIZE] = what;
}

static int rkmm_window_guard(struct rkmm_window *w, u64 *at)
{
	(void)w;
	if (!guards_left)
		return -ENOMEM;
	guards_left--;
	map_page(*at, ZEROS);
	*at += PAGE_SIZE;
	return 0;
}

#include "kmod/rkmm_slab.c"

/* ---- tests ---------------------------------------------------------------- */

static uint64_t seed = 0x9e3779b97f4a7c15ull;

static uint32_t rnd(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)((seed >> 20) % below);
}

static struct map {
	struct drm_mm_node node;
	u64 size;
} maps[MAPS];

static uint32_t live_pages;

static void start(void)
{
	memset(table, NOTHING, sizeof(table));
	memset(maps, 0, sizeof(maps));
	device.vm.bytes = BYTES;
	rkmm_slab_init(&device.vm);
	assert_int_equal(device.vm.slab_bytes, SLAB_PAGES * PAGE_SIZE);
	window = (struct rkmm_window){ .rdev = &device, .domain = &device };
	drm_mm_init(&window.mm, PAGE_SIZE, BYTES - 2 * PAGE_SIZE);
	INIT_LIST_HEAD(&window.slabs);
	device.vm.lock.held = true;
	guards_left = UINT32_MAX;
	alloc_left = -1;
	live_pages = 0;
}

/* As a buffer is mapped: its pages, and the page of zeros behind */
static int insert(struct map *m, uint32_t pages)
{
	int ret = rkmm_slab_insert(&window, &m->node, pages * PAGE_SIZE);
	u64 at, end;

	if (ret)
		return ret;
	m->size = pages * PAGE_SIZE;
	assert_true(m->node.size >= m->size + PAGE_SIZE);
	end = m->node.start + m->size;
	for (at = m->node.start; at < end; at += PAGE_SIZE)
		map_page(at, DATA);
	assert_int_equal(rkmm_window_guard(&window, &at), 0);
	live_pages += pages;
	return 0;
}

static void take_away(struct map *m)
{
	live_pages -= m->size / PAGE_SIZE;
	assert_true(rkmm_slab_remove(&window, &m->node, m->node.start + m->size + PAGE_SIZE));
	m->size = 0;
}

/* Every page of a mapping is its own; slabs have no gap; what the NPU may read further is zeros. */
static void check(void)
{
	uint32_t i, at, runs = 0, slabs = 0, data = 0;
	struct rkmm_slab *slab;

	for (i = 0; i < MAPS; i++) {
		const struct map *m = &maps[i];

		if (!m->size)
			continue;
		for (at = 0; at < m->size / PAGE_SIZE; at++)
			assert_int_equal(table[m->node.start / PAGE_SIZE + at], DATA);
		assert_int_equal(table[m->node.start / PAGE_SIZE + at], ZEROS);
		data += at;
	}
	for (i = 0; i < PAGES; i++) {
		data -= table[i] == DATA;
		runs += table[i] && (!i || !table[i - 1]);
	}
	assert_int_equal(data, 0);
	list_for_each_entry(slab, &window.slabs, in_window)
		slabs++;
	assert_int_equal(window.nmappings, slabs);
	/* a run each, and never two that touch */
	assert_true(runs <= slabs);
}

static uint32_t slabs_now(void)
{
	return window.nmappings;
}

static void test_random(void **state)
{
	uint32_t i, k, most = 0, worst = 0;

	(void)state;
	start();
	for (i = 0; i < 60000; i++) {
		struct map *m = &maps[rnd(MAPS)];
		/* busy times, and times when nearly all goes */
		uint32_t full = i / 5000 % 2 ? 12 : 400;

		if (m->size) {
			take_away(m);
		} else if (rnd(400) < full) {
			uint32_t pages = 1 + rnd(rnd(3) ? 8 : SMALL_PAGES);

			assert_int_equal(insert(m, pages), 0);
		}
		most = max(most, slabs_now());
		if (live_pages > 2 * SLAB_PAGES)
			worst = max(worst, slabs_now() * SLAB_PAGES * 10 / live_pages);
		if (i % 50 == 0)
			check();
	}
	/* hundreds of mappings in so few, however they came and went */
	print_message("%u slabs at most; %u tenths of what was in them, when that was much\n",
		      most, worst);
	assert_true(most > 2 && most < 8 && worst > 10 && worst < 30);
	for (k = 0; k < MAPS; k++)
		if (maps[k].size)
			take_away(&maps[k]);
	check();
	assert_int_equal(window.nmappings, 0);
	assert_true(drm_mm_clean(&window.mm));
	assert_int_equal(allocated, 0);
	for (i = 0; i < PAGES; i++)
		assert_int_equal(table[i], NOTHING);
}

/* No memory for page tables of zeros: the slab takes no more, and goes when it is empty. */
static void test_torn(void **state)
{
	uint32_t i, k, old;

	(void)state;
	start();
	for (i = 0; i < 20; i++)
		assert_int_equal(insert(&maps[i], 1 + i % 5), 0);
	assert_int_equal(slabs_now(), 1);
	guards_left = 1;
	take_away(&maps[4]);
	guards_left = UINT32_MAX;
	/* its place is free, and stays so */
	for (k = 20; k < 40; k++)
		assert_int_equal(insert(&maps[k], 1), 0);
	assert_int_equal(slabs_now(), 2);
	old = (uint32_t)(maps[0].node.start / PAGE_SIZE);
	for (k = 20; k < 40; k++)
		assert_true(maps[k].node.start / PAGE_SIZE < old ||
			    maps[k].node.start / PAGE_SIZE >= old + SLAB_PAGES);
	for (i = 0; i < 40; i++)
		if (maps[i].size)
			take_away(&maps[i]);
	assert_int_equal(slabs_now(), 0);
	for (i = 0; i < PAGES; i++)
		assert_int_equal(table[i], NOTHING);
	assert_int_equal(allocated, 0);
}

static void test_limits(void **state)
{
	struct drm_mm_node node = {};
	uint32_t i;

	(void)state;
	start();
	/* what is large, and what was in none */
	assert_int_equal(rkmm_slab_insert(&window, &node, (SMALL_PAGES + 1) * PAGE_SIZE), -EFBIG);
	assert_false(rkmm_slab_remove(&window, &node, 0));
	assert_int_equal(drm_mm_insert_node_generic(&window.mm, &node, PAGE_SIZE, PAGE_SIZE, 0,
						    DRM_MM_INSERT_LOW), 0);
	assert_false(rkmm_slab_remove(&window, &node, 0));
	drm_mm_remove_node(&node);
	/* memory, addresses, and the number of mappings */
	alloc_left = 0;
	assert_int_equal(insert(&maps[0], 1), -ENOMEM);
	alloc_left = -1;
	assert_int_equal(drm_mm_insert_node_generic(&window.mm, &node,
						    BYTES - (SLAB_PAGES + 2) * PAGE_SIZE,
						    PAGE_SIZE, 0, DRM_MM_INSERT_LOW), 0);
	assert_int_equal(insert(&maps[0], 1), -ENOSPC);
	drm_mm_remove_node(&node);
	window.nmappings = RKMM_MAPPINGS_MAX;
	assert_int_equal(insert(&maps[0], 1), -ENOSPC);
	assert_false(rkmm_slab_alone(&window));
	window.nmappings--;
	assert_int_equal(insert(&maps[0], 1), 0);
	assert_int_equal(window.nmappings, RKMM_MAPPINGS_MAX);
	/* there is room in the slab, but no other mapping */
	for (i = 1; i < 30; i++)
		assert_int_equal(insert(&maps[i], 20), 0);
	assert_false(rkmm_slab_alone(&window));
	for (i = 0; i < 30; i++)
		take_away(&maps[i]);
	assert_int_equal(window.nmappings, RKMM_MAPPINGS_MAX - 1);
	assert_true(rkmm_slab_alone(&window));
	assert_int_equal(allocated, 0);
	/* without slabs */
	slabs = false;
	rkmm_slab_init(&device.vm);
	assert_int_equal(rkmm_slab_insert(&window, &node, PAGE_SIZE), -EFBIG);
	window.nmappings = RKMM_MAPPINGS_MAX;
	assert_true(rkmm_slab_alone(&window));
	slabs = true;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_torn),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests_name("slabs", tests, NULL, NULL);
}
