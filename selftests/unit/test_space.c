// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which window of a space an operation goes to: kmod/rkmm_space.c over windows that are
 * sums of bytes, on random operations, against what the comments in it promise.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "kernel.h"

/* What kmod/rkmm_space.c needs of these is below. */
#define RKMM_BO_H
#define RKMM_DEVICE_H
#define RKMM_TRACE_H

#define RKMM_WINDOW_TAIL	(2 * PAGE_SIZE)
#define ROOM			(4096ull * PAGE_SIZE)
#define BOS			64
#define WINDOWS			32

#include "kmod/rkmm_space.h"

struct gem {
	u64 size;
};

struct rkmm_bo {
	struct {
		struct gem base;
	} base;
	uint64_t in;	/* windows, as a mask */
};

struct rkmm_window {
	u32 index;
	int refs;
	u64 used;
};

struct rkmm_vm {
	u32 windows_most;
	u64 keep, bytes, largest;
	bool strict;
	struct rkmm_space *shared;
};

struct rkmm_device {
	void *dev;
	struct drm_device *drm;
	struct rkmm_vm vm;
};

static int map_error, new_error, opened;

static struct rkmm_window *rkmm_window_new(struct rkmm_device *rdev, u32 index)
{
	struct rkmm_window *window;

	(void)rdev;
	if (new_error)
		return ERR_PTR(new_error);
	window = kzalloc(sizeof(*window), 0);
	assert_non_null(window);
	window->index = index;
	window->refs = 1;
	opened++;
	return window;
}

static void rkmm_window_get(struct rkmm_window *window)
{
	window->refs++;
}

static void rkmm_window_put(struct rkmm_window *window)
{
	if (!--window->refs)
		kfree(window);
}

static bool rkmm_window_has(struct rkmm_window *window, struct rkmm_bo *bo)
{
	return bo->in >> window->index & 1;
}

static u64 rkmm_window_room(struct rkmm_window *window)
{
	return ROOM - window->used;
}

static int rkmm_window_map(struct rkmm_window *window, struct rkmm_bo *bo, u64 keep, u32 *iova)
{
	(void)keep;
	*iova = 0;
	if (rkmm_window_has(window, bo))
		return 0;
	if (map_error)
		return map_error;
	if (bo->base.base.size + RKMM_WINDOW_TAIL > rkmm_window_room(window))
		return -ENOSPC;
	window->used += bo->base.base.size + RKMM_WINDOW_TAIL;
	bo->in |= 1ull << window->index;
	return 0;
}

#define trace_rkmm_window_open(rdev, window)	((void)(rdev), (void)(window))

struct rkmm_window *rkmm_window_open(struct rkmm_device *rdev);

#include "kmod/rkmm_space.c"

static uint64_t seed = 0x2545f4914f6cdd1dull;

static uint32_t rnd(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)((seed >> 20) % below);
}

static struct drm_device drm;
static struct rkmm_device device;
static struct rkmm_bo bos[BOS];

static void start(uint32_t most)
{
	memset(bos, 0, sizeof(bos));
	drm.gone = false;
	device = (struct rkmm_device){ .drm = &drm, .vm = {
		.bytes = ROOM, .largest = ROOM - RKMM_WINDOW_TAIL,
	} };
	windows = most;
	assert_int_equal(rkmm_space_init(&device), 0);
	map_error = 0;
	new_error = 0;
	opened = 0;
}

static u64 missing(const struct rkmm_demand *need, uint32_t in)
{
	u64 bytes = need->room;
	uint32_t i, k;

	for (i = 0; i < need->n; i++) {
		for (k = 0; k < i && need->bos[k] != need->bos[i]; k++)
			;
		if (k == i && !(need->bos[i]->in >> in & 1))
			bytes += need->bos[i]->base.base.size + RKMM_WINDOW_TAIL;
	}
	return bytes;
}

/* A buffer goes away: what it had in its windows is free again. */
static void forget(struct rkmm_space *space, struct rkmm_bo *bo)
{
	uint32_t i;

	for (i = 0; i < space->n; i++)
		if (bo->in >> i & 1)
			space->window[i]->used -= bo->base.base.size + RKMM_WINDOW_TAIL;
	bo->in = 0;
}

static struct rkmm_demand demand(struct rkmm_space *space, bool weights)
{
	struct rkmm_demand need = { .n = 1 + rnd(5), .room = rnd(64) * PAGE_SIZE };
	uint32_t i;

	for (i = 0; i < need.n; i++) {
		struct rkmm_bo *bo = &bos[rnd(BOS)];

		if (!bo->in || !rnd(20)) {
			forget(space, bo);
			bo->base.base.size = PAGE_SIZE * (1 + rnd(rnd(4) ? 40 : 1200));
		}
		need.bos[i] = bo;
	}
	if (weights)
		need.weights = need.bos[rnd(need.n)];
	return need;
}

static void test_random(void **state)
{
	static const uint32_t most[] = { 1, 2, 3, 16, 32 };
	uint32_t i, k, grown = 0, full = 0, beside = 0, many = 0;

	(void)state;
	for (i = 0; i < 40; i++) {
		struct rkmm_window *near;
		struct rkmm_space *space;

		start(most[i % 5]);
		space = rkmm_space_new(&device);
		assert_false(IS_ERR(space));
		near = space->window[0];
		for (k = 0; k < 4000; k++) {
			struct rkmm_demand need = demand(space, rnd(4));
			uint64_t had = need.weights ? need.weights->in : 0;
			uint32_t before = space->n, w;
			u64 bytes[WINDOWS], used[WINDOWS], least = UINT64_MAX, half = UINT64_MAX;
			/* there is no such window */
			u64 whole = missing(&need, 63);
			struct rkmm_window *got;

			for (w = 0; w < before; w++) {
				bytes[w] = missing(&need, w);
				used[w] = space->window[w]->used;
				least = min(least, bytes[w] + used[w]);
				half = min(half, bytes[w] + used[w] + ROOM / 2);
			}
			got = rkmm_space_place(space, &need, near);
			assert_false(space->lock.held);
			assert_true(space->n <= most[i % 5] && space->n - before <= 1);
			grown += space->n - before;
			if (IS_ERR(got)) {
				/* only where there was nothing else, and no other window may be */
				assert_int_equal(PTR_ERR(got), -ENOSPC);
				assert_true(least > ROOM);
				assert_true(space->n == most[i % 5] || whole > ROOM);
				assert_int_equal(space->n, before);
				full++;
				/* a client would free something */
				for (w = 0; w < BOS / 4; w++)
					forget(space, &bos[rnd(BOS)]);
				continue;
			}
			assert_ptr_equal(got, space->window[got->index]);
			for (w = 0; w < need.n; w++)
				assert_true(rkmm_window_has(got, need.bos[w]));
			assert_true(need.room <= rkmm_window_room(got));
			/* A new one only where there was neither half of one nor the last ones' place. */
			if (space->n > before) {
				assert_int_equal(got->index, before);
				assert_true(half > ROOM);
				continue;
			}
			for (w = 0; w < space->n; w++)
				many += w != got->index && need.weights &&
					need.weights->in >> w & 1;
			if (!need.weights) {
				/* beside what it follows, if there is room at all */
				if (bytes[near->index] + used[near->index] <= ROOM)
					assert_ptr_equal(got, near);
			} else if (had) {
				bool fits = false;

				/* where they are, if the rest has room there */
				for (w = 0; w < before; w++)
					fits |= had >> w & 1 && bytes[w] + used[w] <= ROOM;
				if (fits)
					assert_true(had >> got->index & 1);
				if (had >> near->index & 1 &&
				    bytes[near->index] + used[near->index] <= ROOM)
					assert_ptr_equal(got, near);
			} else if (most[i % 5] > before) {
				/* new weights leave a part for others */
				assert_true(rkmm_window_room(got) - need.room >= device.vm.keep);
				beside++;
			}
			near = got;
		}
		rkmm_space_put(space);
		assert_int_equal(allocated, 0);
	}
	assert_true(grown > 50 && full > 50 && beside > 500 && many > 100);
}

/* What follows one another lies in one window, until that is full but for a part. */
static void test_in_order(void **state)
{
	struct rkmm_space *space;
	uint32_t i, last = 0;

	(void)state;
	start(16);
	space = rkmm_space_new(&device);
	for (i = 0; i < BOS; i++) {
		struct rkmm_demand need = { .weights = &bos[i], .bos = { &bos[i] }, .n = 1 };
		struct rkmm_window *got;

		bos[i].base.base.size = 300 * PAGE_SIZE;
		got = rkmm_space_place(space, &need, space->window[0]);
		assert_false(IS_ERR(got));
		assert_true(got->index == last || got->index == last + 1);
		last = got->index;
	}
	/* 12 of 302 pages and a part of 256 fill one of 4096 */
	assert_int_equal(space->n, (BOS + 11) / 12);
	/* and stay where they are */
	for (i = 0; i < BOS; i++) {
		struct rkmm_demand need = { .weights = &bos[i], .bos = { &bos[i] }, .n = 1 };

		assert_int_equal(rkmm_space_place(space, &need, space->window[0])->index, i / 12);
	}
	rkmm_space_put(space);
	assert_int_equal(allocated, 0);
}

static void test_errors(void **state)
{
	struct rkmm_demand need = { .weights = &bos[0], .bos = { &bos[0], &bos[1] }, .n = 2 };
	struct rkmm_space *space, *other;
	struct rkmm_window *window;
	uint32_t i;

	(void)state;
	start(16);
	windows = 0;
	assert_int_equal(rkmm_space_init(&device), -EINVAL);
	windows = 33;
	assert_int_equal(rkmm_space_init(&device), -EINVAL);
	start(1);
	assert_int_equal(device.vm.keep, 0);
	start(16);
	alloc_left = 0;
	assert_int_equal(PTR_ERR(rkmm_space_new(&device)), -ENOMEM);
	alloc_left = -1;
	new_error = -ENODEV;
	assert_int_equal(PTR_ERR(rkmm_space_new(&device)), -ENODEV);
	assert_int_equal(allocated, 0);
	new_error = 0;
	space = rkmm_space_new(&device);
	for (i = 0; i < 2; i++)
		bos[i].base.base.size = 1500 * PAGE_SIZE;
	/* anything but a lack of room is no reason to try elsewhere */
	map_error = -ENOMEM;
	assert_int_equal(PTR_ERR(rkmm_space_place(space, &need, space->window[0])), -ENOMEM);
	assert_int_equal(space->n, 1);
	map_error = 0;
	assert_int_equal(rkmm_space_place(space, &need, space->window[0])->index, 0);
	/* no window more for lack of memory, and none where this one is full */
	bos[2].base.base.size = 3000 * PAGE_SIZE;
	need = (struct rkmm_demand){ .bos = { &bos[2] }, .n = 1 };
	new_error = -ENOMEM;
	assert_int_equal(PTR_ERR(rkmm_space_place(space, &need, space->window[0])), -ENOMEM);
	new_error = 0;
	assert_int_equal(rkmm_space_place(space, &need, space->window[0])->index, 1);
	assert_int_equal(opened, 2);
	/* larger than any */
	bos[3].base.base.size = ROOM;
	need.bos[0] = &bos[3];
	for (i = 0; i < 3; i++)
		assert_int_equal(PTR_ERR(rkmm_space_place(space, &need, space->window[0])), -ENOSPC);
	assert_int_equal(opened, 2);

	/* all clients share one space, or have their own */
	device.vm.shared = space;
	other = rkmm_space_open(&device);
	assert_ptr_equal(other, space);
	window = rkmm_window_open(&device);
	assert_ptr_equal(window, space->window[0]);
	rkmm_window_put(window);
	rkmm_space_put(other);
	device.vm.strict = true;
	other = rkmm_space_open(&device);
	assert_ptr_not_equal(other, space);
	window = rkmm_window_open(&device);
	assert_ptr_not_equal(window, space->window[0]);
	rkmm_window_put(window);
	rkmm_space_put(other);
	drm.gone = true;
	assert_int_equal(PTR_ERR(rkmm_space_open(&device)), -ENODEV);
	assert_int_equal(PTR_ERR(rkmm_window_open(&device)), -ENODEV);
	rkmm_space_put(space);
	assert_int_equal(allocated, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_in_order),
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests_name("spaces", tests, NULL, NULL);
}
