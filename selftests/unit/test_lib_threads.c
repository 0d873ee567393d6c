// SPDX-License-Identifier: MIT
/* Packing and gathering on several threads: the bits of one thread, and nothing left behind. */
#include <dirent.h>
#include <pthread.h>
#include <sys/wait.h>

#include "lib/kernels.h"
#include "lib/pool.h"
#include "lib_fixture.h"

/* A sanitizer may have a thread of its own. */
static unsigned int others;

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED	1
#else
#define SANITIZED	0
#endif

static unsigned int tasks(void)
{
	DIR *d = opendir("/proc/self/task");
	struct dirent *e;
	unsigned int n = 0;

	assert_non_null(d);
	while ((e = readdir(d)))
		n += e->d_name[0] != '.';
	closedir(d);
	return n - others;
}

static uint8_t *noise(size_t size, uint32_t bits, uint64_t *s)
{
	uint8_t *p = malloc(size);
	size_t i;

	for (i = 0; i < size; i++)
		p[i] = bits == 4 ? (uint8_t)((rnd(s) & 15) - 8) : (uint8_t)rnd(s);
	return p;
}

/**
 * struct operand - one of the layouts, with what goes in
 * @t: layout
 * @kind: A, B or C
 * @rows: of the matrix
 * @cols: of the matrix
 * @flags: of B
 * @src: input
 * @size: bytes of the output
 */
struct operand {
	struct drm_rkmm_tensor t;
	int kind;
	uint32_t rows;
	uint32_t cols;
	uint32_t flags;
	uint8_t *src;
	size_t size;
};

enum { A, B, C };

static struct operand operand(unsigned int number, uint64_t *s)
{
	static const struct {
		int kind;
		uint32_t layout, bits;
	} all[] = {
		{ A, DRM_RKMM_LAYOUT_ROWS, 8 }, { A, DRM_RKMM_LAYOUT_ROWS, 4 },
		{ A, DRM_RKMM_LAYOUT_CUBE, 8 }, { A, DRM_RKMM_LAYOUT_CUBE, 16 },
		{ A, DRM_RKMM_LAYOUT_CUBE, 4 }, { A, DRM_RKMM_LAYOUT_BATCH_A, 4 },
		{ B, DRM_RKMM_LAYOUT_WEIGHT, 8 }, { B, DRM_RKMM_LAYOUT_WEIGHT, 16 },
		{ B, DRM_RKMM_LAYOUT_WEIGHT, 4 }, { C, DRM_RKMM_LAYOUT_ROWS, 32 },
		{ C, DRM_RKMM_LAYOUT_CUBE, 32 }, { C, DRM_RKMM_LAYOUT_CUBE, 16 },
		{ C, DRM_RKMM_LAYOUT_BATCH_C, 16 },
	};
	const uint32_t n = number % (sizeof(all) / sizeof(all[0])), bits = all[n].bits;
	struct operand o = {
		.kind = all[n].kind, .rows = 130 + rnd(s) % 300, .cols = 1 + rnd(s) % 700,
		.flags = rnd(s) & 1 ? RKMM_B_TRANSPOSED : 0,
	};
	const uint32_t group = all[n].kind == B ? 256 / bits : 64;

	o.t = (struct drm_rkmm_tensor) {
		.layout = all[n].layout, .rows = o.rows, .cols = (o.cols + group - 1) / group * group,
		.bits = bits, .group = group, .slices = 1, .tile_rows = 1 + rnd(s) % 80,
		.tile_cols = 64 * (1 + rnd(s) % 3),
	};
	if (o.kind == B)
		o.t.rows = (o.rows + 31) / 32 * 32;
	o.t.pitch = o.t.layout == DRM_RKMM_LAYOUT_BATCH_A ? o.t.cols : o.t.cols * bits / 8;
	/* A batch of C has room for whole programs, with four lines for each row. */
	o.t.size = ((uint64_t)o.t.rows + 80) * (o.t.cols + 192) * 2 * 4;
	o.size = o.kind == C ? (size_t)o.rows * o.cols * bits / 8 : o.t.size;
	o.src = noise(o.kind == C ? o.t.size : (size_t)o.rows * o.cols * 2, bits, s);
	return o;
}

static int run(const struct operand *o, void *dst)
{
	switch (o->kind) {
	case A:
		return rkmm_pack_a(&o->t, dst, o->src, o->cols, o->rows, o->cols);
	case B:
		return rkmm_pack_b(&o->t, dst, o->src, o->flags ? o->rows : o->cols, o->rows,
				   o->cols, o->flags);
	default:
		return rkmm_unpack_c(&o->t, o->src, dst, o->cols, o->rows, o->cols);
	}
}

static void test_same_bits(void **state)
{
	const size_t usual = rkmm_stream_min;
	uint8_t *one, *many;
	struct operand o;
	unsigned int i;

	(void)state;
	for (i = 0; i < 130; i++) {
		o = operand(i, &seed);
		one = calloc(1, o.size);
		many = calloc(1, o.size);
		rkmm_set_threads(1);
		assert_int_equal(run(&o, one), 0);
		rkmm_stream_min = i & 1 ? 0 : usual;
		rkmm_set_threads(2 + i % 4);
		assert_int_equal(run(&o, many), 0);
		rkmm_stream_min = usual;
		if (memcmp(one, many, o.size))
			fail_msg("kind %d, layout %u, %u bits, %u x %u", o.kind, o.t.layout,
				 o.t.bits, o.rows, o.cols);
		free(one);
		free(many);
		free(o.src);
	}
}

/* Partial results of slices too. */
static void test_sums(void **state)
{
	struct rkmm_device *dev = open_dev();
	uint32_t types, cube;

	(void)state;
	rkmm_set_threads(4);
	fake.slice = 64;
	for (cube = 0; cube < 2; cube++)
		for (types = 0; types < 4; types++) {
			struct rkmm_matmul_desc d = describe(types, 41, 200, 70);
			void *a = matrix(41 * 200, types, &seed);
			void *b = matrix(200 * 70, types, &seed);
			void *c = calloc(41 * 70, 4);

			fake.cube = (int)cube;
			assert_int_equal(rkmm_matmul(dev, &d, a, 200, b, 70, c, 70), 0);
			check(&d, 41, a, 200, b, 70, c, 70);
			free(a);
			free(b);
			free(c);
		}
	rkmm_close(dev);
}

/* Whichever thread meets it. */
static void test_range(void **state)
{
	static const unsigned int nibbles[] = { 1, 4, 5, 8 };
	unsigned int i;
	uint8_t *dst;
	struct operand o;

	(void)state;
	rkmm_set_threads(4);
	for (i = 0; i < 80; i++) {
		o = operand(nibbles[i % 4], &seed);
		dst = malloc(o.size);
		assert_int_equal(run(&o, dst), 0);
		o.src[rnd(&seed) % (o.rows * o.cols)] = i & 4 ? 8 : 0xf7;
		assert_int_equal(run(&o, dst), -ERANGE);
		assert_non_null(strstr(rkmm_last_error(), "-8..7"));
		free(dst);
		free(o.src);
	}
}

struct client {
	int number;
	int failed;
};

/* Devices come and go while others pack. */
static void *client_main(void *arg)
{
	struct client *c = arg;
	uint64_t mine = 77 + (uint64_t)c->number;
	struct rkmm_device *dev;
	uint8_t *first, *again;
	struct operand o;
	int i;

	for (i = 0; i < 12; i++) {
		if (rkmm_open("/fake/npu", &dev)) {
			c->failed = 1;
			break;
		}
		o = operand((unsigned int)rnd(&mine), &mine);
		first = calloc(1, o.size);
		again = calloc(1, o.size);
		c->failed |= run(&o, first);
		if (i & 1)
			rkmm_close(dev);
		c->failed |= run(&o, again);
		if (!(i & 1))
			rkmm_close(dev);
		c->failed |= !!memcmp(first, again, o.size);
		free(first);
		free(again);
		free(o.src);
	}
	return NULL;
}

static void test_many_callers(void **state)
{
	enum { CLIENTS = 5 };
	struct client c[CLIENTS];
	pthread_t id[CLIENTS];
	struct rkmm_device *dev;
	int i;

	(void)state;
	rkmm_set_threads(3);
	for (i = 0; i < CLIENTS; i++) {
		c[i] = (struct client) { .number = i };
		assert_int_equal(pthread_create(&id[i], NULL, client_main, &c[i]), 0);
	}
	for (i = 0; i < CLIENTS; i++) {
		pthread_join(id[i], NULL);
		assert_int_equal(c[i].failed, 0);
	}
	/* The last device takes the threads along. */
	dev = open_dev();
	rkmm_close(dev);
	assert_int_equal(tasks(), 1);
}

static void test_lifetime(void **state)
{
	struct rkmm_device *dev, *other;
	struct operand o = operand(2, &seed);
	uint8_t *dst = malloc(o.size);
	int status;
	pid_t pid;

	(void)state;
	rkmm_set_threads(4);
	dev = open_dev();
	assert_int_equal(tasks(), 1);
	assert_int_equal(run(&o, dst), 0);
	assert_int_equal(tasks(), 4);
	other = open_dev();
	rkmm_close(dev);
	assert_int_equal(tasks(), 4);
	/*
	 * The thread sanitizer bears no new threads behind a fork; the address sanitizer's
	 * allocator may be locked in the child, by a thread that was just starting.
	 */
	if (!others && !SANITIZED) {
		fflush(NULL);
		pid = fork();
		if (!pid) {
			/* None of them are here; more come when they are needed. */
			status = tasks() != 1 || run(&o, dst) || tasks() != 4;
			rkmm_close(other);
			_exit(status || tasks() != 1);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
	rkmm_close(other);
	assert_int_equal(tasks(), 1);

	/* One thread, or a small matrix: nobody is started. */
	rkmm_set_threads(1);
	assert_int_equal(run(&o, dst), 0);
	assert_int_equal(tasks(), 1);
	rkmm_set_threads(4);
	rkmm_parallel_min = (size_t)1 << 40;
	assert_int_equal(run(&o, dst), 0);
	rkmm_parallel_min = 0;
	assert_int_equal(tasks(), 1);

	setenv("RKMM_THREADS", "3", 1);
	rkmm_set_threads(0);
	assert_int_equal(rkmm_threads(), 3);
	setenv("RKMM_THREADS", "1000", 1);
	rkmm_set_threads(0);
	assert_int_equal(rkmm_threads(), 16);
	setenv("RKMM_THREADS", "many", 1);
	rkmm_set_threads(0);
	assert_true(rkmm_threads() >= 1);
	free(dst);
	free(o.src);
}

static void *nothing(void *arg)
{
	return arg;
}

static int group_setup(void **state)
{
	(void)state;
	pthread_t id;

	rkmm_parallel_min = 0;
	/* It comes with the first thread. */
	if (pthread_create(&id, NULL, nothing, NULL) || pthread_join(id, NULL))
		return -1;
	others = tasks() - 1;
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_lifetime), T(test_same_bits), T(test_sums), T(test_range), T(test_many_callers),
	};

	return cmocka_run_group_tests_name("lib_threads", tests, group_setup, NULL);
}
