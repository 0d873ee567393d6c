// SPDX-License-Identifier: MIT
/*
 * Kernels of the libraries against memcpy of as many bytes, in turn, one thread,
 * with buffers that no cache holds.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "lib/rkmm_compute.h"

#define COLS		2048u
#define CHUNK		64u	/* rows of activations quantised while they are in the cache */
#define HADAMARD	128u
#define PAGE		4096u
#define MILLION		1000000u
#define OWN		16u	/* where malloc() has a program's own large buffers in a page */

/**
 * struct work - what a kernel runs on
 * @memory: two buffers that begin with a page, as those of the NPU do
 * @src: input, row-major with COLS columns
 * @dst: output
 * @rows: rows
 * @row_scale: a scale for each row
 * @col_scale: a scale for each column
 * @scratch: CHUNK rows of int8
 * @tensor: the packed side
 */
struct work {
	uint8_t *memory[2];
	void *src;
	void *dst;
	uint32_t rows;
	float *row_scale;
	float *col_scale;
	int8_t *scratch;
	struct drm_rkmm_tensor tensor;
};

/**
 * struct kernel - one of them
 * @name: what is printed
 * @key: name in JSON
 * @src_bits: of an element of the input
 * @dst_bits: of an element of the output
 * @layout: of the packed side
 * @bits: of the packed side
 * @target: part of memcpy's speed that it should reach, 0 for none
 * @run: does it; returns 0 or an error of the library
 */
struct kernel {
	const char *name;
	const char *key;
	uint32_t src_bits;
	uint32_t dst_bits;
	uint32_t layout;
	uint32_t bits;
	double target;
	int (*run)(struct work *w);
};

static int pack_a(struct work *w)
{
	return rkmm_pack_a(&w->tensor, w->dst, w->src, COLS, w->rows, COLS);
}

static int pack_b(struct work *w)
{
	return rkmm_pack_b(&w->tensor, w->dst, w->src, COLS, w->rows, COLS, 0);
}

static int unpack_c(struct work *w)
{
	return rkmm_unpack_c(&w->tensor, w->src, w->dst, COLS, w->rows, COLS);
}

static int quantise8(struct work *w)
{
	return rkmm_quantise_rows(w->src, w->rows, COLS, COLS, 8, w->row_scale, w->dst, COLS);
}

/* All that an int4 activation needs: scales, values, nibbles. */
static int activation4(struct work *w)
{
	uint8_t *dst = w->dst;
	uint32_t r, n;
	int ret = 0;

	for (r = 0; r < w->rows && !ret; r += n) {
		const float *x = (const float *)w->src + (size_t)r * COLS;

		n = w->rows - r < CHUNK ? w->rows - r : CHUNK;
		ret = rkmm_absmax_rows(x, n, COLS, COLS, w->row_scale + r);
		if (!ret)
			ret = rkmm_scale_absmax(w->row_scale + r, n, 4, w->row_scale + r);
		if (!ret)
			ret = rkmm_quantise_rows(x, n, COLS, COLS, 4, w->row_scale + r, w->scratch,
						 COLS);
		if (!ret)
			ret = rkmm_pack_a(&w->tensor, dst + (size_t)r * w->tensor.pitch, w->scratch,
					  COLS, n, COLS);
	}
	return ret;
}

static int dequantise(struct work *w)
{
	return rkmm_dequantise_i32(w->src, w->rows, COLS, COLS, w->row_scale, w->col_scale, w->dst,
				   COLS);
}

static int hadamard(struct work *w)
{
	return rkmm_hadamard_rows(w->dst, w->rows, COLS, COLS, HADAMARD);
}

#define ROWS	DRM_RKMM_LAYOUT_ROWS
#define WEIGHT	DRM_RKMM_LAYOUT_WEIGHT
#define CUBE	DRM_RKMM_LAYOUT_CUBE
#define BATCH_C	DRM_RKMM_LAYOUT_BATCH_C

static const struct kernel kernels[] = {
	{ "pack A int8, rows", "pack_a_i8_rows", 8, 8, ROWS, 8, 0.5, pack_a },
	{ "pack A int8, cube", "pack_a_i8_cube", 8, 8, CUBE, 8, 0.5, pack_a },
	{ "pack A fp16, cube", "pack_a_f16_cube", 16, 16, CUBE, 16, 0.5, pack_a },
	{ "pack A int4, nibbles", "pack_a_i4_rows", 8, 4, ROWS, 4, 0, pack_a },
	{ "pack B int8", "pack_b_i8", 8, 8, WEIGHT, 8, 0.5, pack_b },
	{ "pack B fp16", "pack_b_f16", 16, 16, WEIGHT, 16, 0.5, pack_b },
	{ "pack B int4, nibbles", "pack_b_i4", 8, 4, WEIGHT, 4, 0, pack_b },
	{ "de-tile C 32 bits, cube", "unpack_c_32_cube", 32, 32, CUBE, 32, 0.7, unpack_c },
	{ "de-tile C int16, cube", "unpack_c_16_cube", 16, 16, CUBE, 16, 0, unpack_c },
	{ "de-tile C int16, batch", "unpack_c_16_batch", 16, 16, BATCH_C, 16, 0, unpack_c },
	{ "int4 activation: quantise, pack", "activation_i4", 32, 4, ROWS, 4, 0.25, activation4 },
	{ "quantise int8", "quantise_i8", 32, 8, ROWS, 8, 0, quantise8 },
	{ "dequantise int32", "dequantise_i32", 32, 32, ROWS, 32, 0, dequantise },
	{ "Hadamard 128, in place", "hadamard_128", 32, 32, ROWS, 32, 0, hadamard },
};

#define NUM_KERNELS	(sizeof(kernels) / sizeof(kernels[0]))

static size_t last_level_cache(void)
{
	long best = 0, v;
	int names[] = { _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL4_CACHE_SIZE };
	unsigned int i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		v = sysconf(names[i]);
		if (v > best)
			best = v;
	}
	return (size_t)best;
}

/* 1.5 times the cache, at least 64 MiB, and no more than an eighth of the memory. */
static size_t default_size(void)
{
	size_t size = last_level_cache() / 2 * 3, most;

	most = (size_t)sysconf(_SC_PHYS_PAGES) / 8 * (size_t)sysconf(_SC_PAGESIZE);
	if (size < 64u << 20)
		size = 64u << 20;
	return size > most ? most : size;
}

static void make_tensor(struct work *w, const struct kernel *k)
{
	struct drm_rkmm_tensor *t = &w->tensor;

	memset(t, 0, sizeof(*t));
	t->layout = k->layout;
	t->rows = w->rows;
	t->cols = COLS;
	t->bits = k->bits;
	t->pitch = COLS * k->bits / 8;
	t->group = k->bits == 16 ? 16 : k->bits == 4 ? 64 : 32;
	t->tile_rows = 8;
	t->tile_cols = 64;
	t->slices = 1;
}

/* Small values, so that int4 takes them and floats are finite. */
static void fill(struct work *w, const struct kernel *k, size_t size, uint64_t *seed)
{
	size_t i;

	if (k->src_bits == 32 && k->run != unpack_c && k->run != dequantise) {
		float *f = k->run == hadamard ? w->dst : w->src;

		for (i = 0; i < size / 4; i++)
			f[i] = (float)((int)(random_next(seed) >> 40) - (1 << 23)) / (1 << 20);
		return;
	}
	for (i = 0; i < size / 8; i++)
		((uint64_t *)w->src)[i] = random_next(seed) & 0x0707070707070707;
}

/**
 * struct host_result - one kernel
 * @bytes: read and written by one run
 * @kernel: its times on a processor: other programs do not count
 * @copy: those of memcpy that reads and writes as many bytes
 * @ratio: median of the quotients of neighbours, which see the same neighbours on the machine
 */
struct host_result {
	uint64_t bytes;
	struct spread kernel;
	struct spread copy;
	double ratio;
};

static void measure_kernel(const struct options *opt, const struct kernel *k, struct work *w,
			   size_t size, struct host_result *res)
{
	uint64_t *times = allocate(opt->repeat, 3 * sizeof(*times)), *copies = times + opt->repeat;
	uint64_t *ratios = copies + opt->repeat;
	uint32_t wide = k->src_bits > k->dst_bits ? k->src_bits : k->dst_bits;
	uint64_t seed = opt->seed, start;
	size_t count;
	unsigned int i;
	uint32_t r;

	/* Batches hold three unused lines for each useful one. */
	if (k->layout == BATCH_C)
		wide *= 4;
	w->src = w->memory[0] + (k->run == unpack_c ? 0 : OWN);
	w->dst = w->memory[1] + (k->run == pack_a || k->run == pack_b || k->run == activation4 ?
				 0 : OWN);
	w->rows = (uint32_t)(size * 8 / wide / COLS) & ~63u;
	count = (size_t)w->rows * COLS;
	make_tensor(w, k);
	fill(w, k, size, &seed);
	for (r = 0; r < w->rows; r++)
		w->row_scale[r] = 0.0625f;
	for (r = 0; r < COLS; r++)
		w->col_scale[r] = 0.5f + (float)r / COLS;
	res->bytes = count * (k->src_bits + k->dst_bits) / 8;
	for (i = 0; i < opt->repeat + 1; i++) {
		start = thread_now();
		if (k->run(w))
			die(EXIT_FAILED, "%s: %s", k->name, rkmm_last_error());
		if (i)
			times[i - 1] = thread_now() - start;
		start = thread_now();
		/* The output of the kernel is not needed any more. */
		memcpy(w->dst, w->src, res->bytes / 2);
		__asm__ volatile("" : : "r"(w->dst) : "memory");
		if (i) {
			copies[i - 1] = thread_now() - start;
			ratios[i - 1] = copies[i - 1] * MILLION / (times[i - 1] ? times[i - 1] : 1);
		}
		if (k->run == hadamard)
			fill(w, k, size, &seed);
	}
	res->kernel = spread_of(times, opt->repeat);
	res->copy = spread_of(copies, opt->repeat);
	res->ratio = (double)spread_of(ratios, opt->repeat).median / MILLION;
	free(times);
}

static double rate(uint64_t bytes, uint64_t ns)
{
	return (double)bytes / (double)(ns ? ns : 1);
}

static void print_text(const struct kernel *k, const struct host_result *r)
{
	double mine = rate(r->bytes, r->kernel.median), copy = rate(r->bytes, r->copy.median);

	printf("%-32s %8.2f %8.2f %8.3f", k->name, mine, copy, r->ratio);
	if (k->target)
		printf("   %4.2f %s", k->target, r->ratio >= k->target ? "reached" : "missed");
	printf("\n");
}

static void print_json(const struct kernel *k, const struct host_result *r, bool first)
{
	printf("%s\n  {\"kernel\": \"%s\", \"bytes\": %llu, ", first ? "" : ",", k->key,
	       (unsigned long long)r->bytes);
	printf("\"ns\": %llu, \"memcpy_ns\": %llu, \"ratio\": %.6g, \"target\": ",
	       (unsigned long long)r->kernel.median, (unsigned long long)r->copy.median,
	       r->ratio);
	if (k->target)
		printf("%g}", k->target);
	else
		printf("null}");
}

int bench_host(const struct options *opt)
{
	size_t size = opt->host_mib ? (size_t)opt->host_mib << 20 : default_size();
	struct host_result res;
	struct machine machine;
	struct work w;
	unsigned int i;

	size &= ~(size_t)0xfffff;
	if (!size)
		size = 1u << 20;
	machine_read(&machine, NULL, "/");
	rkmm_set_threads(1);
	for (i = 0; i < 2; i++) {
		w.memory[i] = aligned_alloc(PAGE, size + PAGE);
		if (!w.memory[i])
			die(EXIT_FAILED, "out of memory");
		/* Every page present before anything is timed. */
		memset(w.memory[i], 1, size + PAGE);
	}
	w.row_scale = allocate(size / COLS * 2, sizeof(float));
	w.col_scale = allocate(COLS, sizeof(float));
	w.scratch = allocate(CHUNK, COLS);
	if (opt->output == OUTPUT_TABLE) {
		machine_print(&machine, stdout);
		printf("buffers  2 x %zu MiB, last-level cache %zu MiB\n", size >> 20,
		       last_level_cache() >> 20);
		printf("runs     %u on one thread; medians of processor time and of quotients\n",
		       opt->repeat);
		if (size <= last_level_cache())
			printf("WARNING  the buffers fit the cache\n");
		printf("\n%-32s %8s %8s %8s   %s\n", "GB/s read and written", "kernel", "memcpy",
		       "ratio", "target");
	} else {
		printf("{\"buffer_bytes\": %zu, \"cache_bytes\": %zu, ", size, last_level_cache());
		printf("\"repeat\": %u, \"results\": [", opt->repeat);
	}
	for (i = 0; i < NUM_KERNELS; i++) {
		if (!opt->quiet)
			fprintf(stderr, "[%u/%u] %s\n", i + 1, (unsigned int)NUM_KERNELS,
				kernels[i].name);
		measure_kernel(opt, &kernels[i], &w, size, &res);
		if (opt->output == OUTPUT_TABLE)
			print_text(&kernels[i], &res);
		else
			print_json(&kernels[i], &res, !i);
		fflush(stdout);
	}
	if (opt->output == OUTPUT_JSON)
		printf("], \"synthesis\": [");
	bench_synth(opt);
	if (opt->output == OUTPUT_JSON)
		printf("]}\n");
	free(w.memory[0]);
	free(w.memory[1]);
	free(w.row_scale);
	free(w.col_scale);
	free(w.scratch);
	return EXIT_OK;
}
