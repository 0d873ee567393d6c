// SPDX-License-Identifier: MIT
/* Files of weights: saved, loaded, truncated, damaged, forged; and rkmm-weights. */
#define _GNU_SOURCE
#include <sys/stat.h>
#include <sys/wait.h>

#include <zlib.h>

#include "lib/rkw.h"
#include "lib_fixture.h"
#include "tools/matmul/npy.h"
#include "tools/weights/weights.h"

static char *folder, folder_template[] = "/tmp/rkmm-rkw-XXXXXX";
static char path[64];

static uint8_t *slurp(const char *name, size_t *size)
{
	FILE *f = fopen(name, "rb");
	uint8_t *p = malloc(1 << 20);

	assert_non_null(f);
	*size = fread(p, 1, 1 << 20, f);
	fclose(f);
	return p;
}

static void spit(const char *name, const void *data, size_t size)
{
	FILE *f = fopen(name, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

static struct rkmm_weights *make(struct rkmm_device *dev, uint32_t types, uint32_t k, uint32_t n,
				 void **b, float **scale)
{
	struct rkmm_weights *w;
	uint32_t i;

	*b = matrix((size_t)k * n, types, &seed);
	assert_int_equal(rkmm_weights_create(dev, types, k, n, *b, n, 0, &w), 0);
	if (scale) {
		*scale = malloc(n * sizeof(float));
		for (i = 0; i < n; i++)
			(*scale)[i] = (float)rnd(&seed) / 65536;
		assert_int_equal(rkmm_weights_set_scales(w, *scale), 0);
	}
	return w;
}

/* The product of the weights as types, against B as the caller had it. */
static void multiply(struct rkmm_device *dev, const struct rkmm_weights *w, uint32_t types,
		     uint32_t k, uint32_t n, const void *b)
{
	struct rkmm_matmul_desc d = describe(types, 3, k, n);
	void *a = matrix((size_t)3 * k, types, &seed), *c = malloc((size_t)3 * n * 4);
	struct rkmm_context *ctx;

	assert_int_equal(rkmm_context_create(dev, &d, w, &ctx), 0);
	assert_int_equal(rkmm_context_run(ctx, w, a, k, c, n, 0), 0);
	check(&d, 3, a, k, b, n, c, n);
	rkmm_context_destroy(ctx);
	free(a);
	free(c);
}

static void test_saved_and_loaded(void **state)
{
	struct rkmm_device *dev = open_dev();
	struct rkmm_weights *w, *back;
	uint32_t types, k, n, i;
	float *scale;
	void *b;

	(void)state;
	for (i = 0; i < 40; i++) {
		types = i % 5;
		fake.slice = i & 8 ? 64 : 0;
		k = 1 + rnd(&seed) % 200;
		n = 1 + rnd(&seed) % 150;
		w = make(dev, types, k, n, &b, i & 16 ? &scale : NULL);
		assert_int_equal(rkmm_weights_save(w, path), 0);
		assert_int_equal(rkmm_weights_load(dev, path, i & 4 ? RKMM_AS_STORED : types,
						   &back), 0);
		assert_int_equal(rkmm_weights_types(back), types);
		rkmm_weights_shape(back, &k, &n);
		assert_memory_equal(rkmm_weights_tensor(back), rkmm_weights_tensor(w),
				    sizeof(struct drm_rkmm_tensor));
		if (i & 16) {
			assert_memory_equal(rkmm_weights_scales(back), scale, n * sizeof(float));
			free(scale);
		} else {
			assert_null(rkmm_weights_scales(back));
		}
		if (types != DRM_RKMM_I4I16 || !fake.slice)
			multiply(dev, back, types, k, n, b);
		rkmm_weights_destroy(w);
		rkmm_weights_destroy(back);
		free(b);
	}
	rkmm_close(dev);
}

/* int4 in the file, int8 arithmetic: exact in int32, whatever slices either has. */
static void test_int4_as_int8(void **state)
{
	struct rkmm_device *dev = open_dev();
	struct rkmm_weights *w, *wide;
	uint32_t i, k, n;
	float *scale;
	void *b;

	(void)state;
	for (i = 0; i < 40; i++) {
		k = 1 + rnd(&seed) % 300;
		n = 1 + rnd(&seed) % 200;
		fake.slice = i & 1 ? 96 : 0;
		w = make(dev, DRM_RKMM_I4I16, k, n, &b, &scale);
		assert_int_equal(rkmm_weights_save(w, path), 0);
		fake.slice = i & 2 ? 64 : 0;
		assert_int_equal(rkmm_weights_load(dev, path, DRM_RKMM_I8I32, &wide), 0);
		assert_int_equal(rkmm_weights_tensor(wide)->bits, 8);
		assert_memory_equal(rkmm_weights_scales(wide), scale, n * sizeof(float));
		multiply(dev, wide, DRM_RKMM_I8I32, k, n, b);
		rkmm_weights_destroy(w);
		rkmm_weights_destroy(wide);
		free(scale);
		free(b);
	}
	fake.slice = 0;
	/* Nothing else is converted. */
	assert_int_equal(rkmm_weights_load(dev, path, DRM_RKMM_F16F32, &w), -EOPNOTSUPP);
	assert_null(w);
	w = make(dev, DRM_RKMM_I8I32, 40, 40, &b, NULL);
	assert_int_equal(rkmm_weights_save(w, path), 0);
	rkmm_weights_destroy(w);
	assert_int_equal(rkmm_weights_load(dev, path, DRM_RKMM_I4I16, &w), -EOPNOTSUPP);
	assert_int_equal(rkmm_weights_load(dev, path, 99, &w), -EOPNOTSUPP);
	/* Another device may want another layout. */
	fake.slice = 32;
	assert_int_equal(rkmm_weights_load(dev, path, RKMM_AS_STORED, &w), -EOPNOTSUPP);
	assert_non_null(strstr(rkmm_last_error(), path));
	free(b);
	rkmm_close(dev);
}

static void refuses(struct rkmm_device *dev, const char *what)
{
	struct rkmm_weights *w;

	assert_int_equal(rkmm_weights_load(dev, path, RKMM_AS_STORED, &w), -EBADMSG);
	assert_null(w);
	assert_non_null(strstr(rkmm_last_error(), path));
	assert_null(strchr(rkmm_last_error(), '\n'));
	if (!strstr(rkmm_last_error(), what))
		fail_msg("%s: not %s", rkmm_last_error(), what);
}

static void test_truncated(void **state)
{
	struct rkmm_device *dev = open_dev();
	struct rkmm_weights *w;
	size_t size, len;
	uint8_t *file;
	float *scale;
	void *b;

	(void)state;
	w = make(dev, DRM_RKMM_I8I32, 50, 40, &b, &scale);
	assert_int_equal(rkmm_weights_save(w, path), 0);
	rkmm_weights_destroy(w);
	file = slurp(path, &size);
	assert_int_equal(size, 4096 + 64 * 64);
	for (len = 0; len < size; len += len < 600 ? 1 : 61) {
		spit(path, file, len);
		refuses(dev, len < 8 ? "not an .rkw file" : "truncated");
	}
	file[size] = 0;
	spit(path, file, size + 1);
	refuses(dev, "behind");
	memcpy(file, "\x93NUMPY\x01\x00", 8);
	spit(path, file, size);
	refuses(dev, "not an .rkw file");
	unlink(path);
	assert_int_equal(rkmm_weights_load(dev, path, RKMM_AS_STORED, &w), -ENOENT);
	assert_int_equal(mkdir(path, 0700), 0);
	refuses(dev, "regular");
	rmdir(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	refuses(dev, "regular");
	unlink(path);
	free(file);
	free(scale);
	free(b);
	w = make(dev, DRM_RKMM_I8I32, 50, 40, &b, NULL);
	assert_int_equal(rkmm_weights_save(w, "/nonexistent/w.rkw"), -ENOENT);
	rkmm_weights_destroy(w);
	free(b);
	rkmm_close(dev);
}

/* Whatever bit is flipped in the file, it is not taken. */
static void test_flipped(void **state)
{
	char error[RKW_ERROR];
	struct rkw head;
	struct rkmm_device *dev = open_dev();
	struct rkmm_weights *w;
	size_t size, bit;
	uint8_t *file, x;
	float *scale;
	void *b;
	int fd, in;

	(void)state;
	w = make(dev, DRM_RKMM_I4I16, 70, 60, &b, &scale);
	assert_int_equal(rkmm_weights_save(w, path), 0);
	rkmm_weights_destroy(w);
	file = slurp(path, &size);
	fd = open(path, O_WRONLY);
	for (bit = 0; bit < 8 * size; bit += bit < 8 * 500 ? 1 : 13) {
		x = (uint8_t)(file[bit / 8] ^ 1 << bit % 8);
		assert_int_equal(pwrite(fd, &x, 1, (off_t)(bit / 8)), 1);
		in = rkw_open(path, &head, error);
		assert_true((bit < 8 * RKW_HEADER) == (in < 0));
		if (in >= 0) {
			assert_int_equal(rkw_read(in, &head, NULL, NULL, error), -EBADMSG);
			close(in);
		}
		assert_non_null(strstr(error, bit < 64 ? "not an" : bit < 96 ? "version" :
				       "damaged"));
		x = file[bit / 8];
		assert_int_equal(pwrite(fd, &x, 1, (off_t)(bit / 8)), 1);
	}
	x = file[size - 1] ^ 1;
	assert_int_equal(pwrite(fd, &x, 1, (off_t)size - 1), 1);
	close(fd);
	refuses(dev, "the data is damaged");
	free(file);
	free(scale);
	free(b);
	rkmm_close(dev);
}

/* Headers with a right checksum and wrong numbers: refused, or all tiles lie in the data. */
static void test_forged(void **state)
{
	static const uint32_t odd[] = {
		0, 1, 31, 32, 33, 0x7fffffff, 0x80000000, 0xffffffe0, 0xffffffff, 64, 128,
	};
	struct rkmm_device *dev = open_dev();
	unsigned int i, taken = 0, words;
	char error[RKW_ERROR];
	struct rkmm_weights *w;
	uint32_t head[32], sum;
	struct rkw r;
	size_t size;
	uint8_t *file;
	void *b;

	(void)state;
	fake.slice = 64;
	w = make(dev, DRM_RKMM_I8I32, 150, 60, &b, NULL);
	assert_int_equal(rkmm_weights_save(w, path), 0);
	rkmm_weights_destroy(w);
	file = slurp(path, &size);
	for (i = 0; i < 200000; i++) {
		memcpy(head, file, sizeof(head));
		for (words = 1 + rnd(&seed) % 3; words; words--) {
			uint32_t at = 4 + rnd(&seed) % 27;

			head[at] = rnd(&seed) & 1 ? odd[rnd(&seed) % 11] :
				   head[at] + rnd(&seed) % 65 - 32;
		}
		sum = (uint32_t)crc32(0, (uint8_t *)head, 124);
		head[31] = sum;
		if (rkw_parse(head, sizeof(head), size, &r, error)) {
			assert_true(*error && !strchr(error, '\n'));
			continue;
		}
		taken++;
		assert_true(r.k >= 1 && r.n >= 1 && r.k <= r.b.rows && r.n <= r.b.cols);
		assert_true((uint64_t)r.b.slices * r.b.slice == r.b.rows);
		assert_true((r.b.slices - 1) * r.b.slice_stride +
			    (uint64_t)r.b.slice * r.b.cols * r.b.bits / 8 <= r.b.size);
		assert_true(r.data_offset + r.b.size == size);
	}
	/* Other ids, checksums and smaller K and N are possible. */
	assert_true(taken);
	free(file);
	free(b);
	rkmm_close(dev);
}

/* rkmm-weights in a child, its output in files; returns its status. */
static int run(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static int run(const char *fmt, ...)
{
	char line[512], *argv[16] = { (char *)"rkmm-weights" }, *save = NULL;
	int argc = 1, status;
	va_list ap;
	pid_t pid;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	for (argv[argc] = strtok_r(line, " ", &save); argv[argc];
	     argv[argc] = strtok_r(NULL, " ", &save))
		argc++;
	fflush(NULL);
	pid = fork();
	if (!pid) {
		if (!freopen("out", "w", stdout) || !freopen("err", "w", stderr))
			_exit(99);
		exit(weights_main(argc, argv));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int says(const char *name, const char *text)
{
	size_t size;
	uint8_t *p = slurp(name, &size);
	int found;

	p[size] = '\0';
	found = !!strstr((char *)p, text);
	free(p);
	return found;
}

static void write_npy(const char *name, enum npy_type type, uint32_t rows, uint32_t cols,
		      int fortran, void *data)
{
	struct npy npy = {
		.type = type, .rows = rows, .cols = cols, .fortran = fortran, .data = data,
	};
	char error[NPY_ERROR];

	assert_int_equal(npy_write(name, &npy, error), 0);
}

/* Element of packed weights, by the formula of rkmm_drm.h. */
static int packed(const struct rkw *w, const uint8_t *data, uint32_t k, uint32_t n)
{
	uint64_t tile = (uint64_t)(n / w->b.group) * (w->b.slice / 32) + k % w->b.slice / 32;
	uint64_t at = tile * w->b.group * 32 + n % w->b.group * 32 + k % 32;

	data += k / w->b.slice * w->b.slice_stride;
	if (w->b.bits == 8)
		return (int8_t)data[at];
	return ((data[at / 2] >> (at & 1 ? 4 : 0) & 15) ^ 8) - 8;
}

static void check_packed(const char *name, uint32_t types, const float *x, uint32_t k, uint32_t n,
			 int fortran)
{
	char error[RKW_ERROR];
	uint32_t i, j;
	uint8_t *data;
	float *scale;
	struct rkw w;
	int fd;

	fd = rkw_open(name, &w, error);
	assert_true(fd >= 0);
	assert_int_equal(w.types, types);
	assert_int_equal(w.k, k);
	assert_int_equal(w.n, n);
	assert_true(w.scaled);
	scale = malloc(n * sizeof(float));
	data = malloc(w.b.size);
	assert_int_equal(rkw_read(fd, &w, scale, data, error), 0);
	close(fd);
	for (j = 0; j < n; j++)
		for (i = 0; i < k; i++) {
			float v = x[fortran ? j * k + i : i * n + j];
			float got = (float)packed(&w, data, i, j) * scale[j];

			/* Half a step, and what floats round. */
			assert_true((v > got ? v - got : got - v) <= 0.5001f * scale[j]);
		}
	free(scale);
	free(data);
}

static void test_tool(void **state)
{
	enum { K = 700, N = 45 };
	float *x = malloc(K * N * sizeof(*x));
	struct rkmm_device *dev = open_dev();
	struct rkmm_weights *w;
	int8_t *q = malloc(K * N);
	char target[32];
	int i, fortran;

	(void)state;
	assert_int_equal(chdir(folder), 0);
	for (i = 0; i < K * N; i++) {
		x[i] = (float)((int)(rnd(&seed) % 20001) - 10000) / 777;
		q[i] = (int8_t)((int)(rnd(&seed) % 16) - 8);
	}
	for (fortran = 0; fortran < 2; fortran++) {
		write_npy("b.npy", NPY_F32, K, N, fortran, x);
		assert_int_equal(run("pack b.npy -o w8.rkw --types i8i32"), 0);
		check_packed("w8.rkw", DRM_RKMM_I8I32, x, K, N, fortran);
		assert_int_equal(run("pack b.npy -o w4.rkw --types i4i16"), 0);
		check_packed("w4.rkw", DRM_RKMM_I4I16, x, K, N, fortran);
		assert_int_equal(run("pack b.npy -o wc.rkw --types i4i16 --clip"), 0);
		assert_int_equal(run("pack b.npy -o wf.rkw"), 0);
		assert_int_equal(run("verify w8.rkw w4.rkw wc.rkw wf.rkw"), 0);
		assert_true(says("out", "wf.rkw: OK"));
	}
	assert_int_equal(run("info w4.rkw"), 0);
	assert_true(says("out", "K=700 N=45") && says("out", "i4i16"));
	assert_int_equal(run("info --json wf.rkw"), 0);
	assert_true(says("out", "\"types\": \"f16f32\"") && says("out", "\"scales\": false"));
	write_npy("q.npy", NPY_I8, K, N, 0, q);
	assert_int_equal(run("pack q.npy -o q.rkw --types i4i16"), 0);
	assert_int_equal(run("pack q.npy -o q.rkw"), 0);
	/* The driver's layouts have ids that the fake one does not know. */
	assert_int_equal(rkmm_weights_load(dev, "q.rkw", RKMM_AS_STORED, &w), -EOPNOTSUPP);

	assert_int_equal(truncate("q.rkw", 5000), 0);
	assert_int_equal(run("verify w8.rkw q.rkw"), 1);
	assert_true(says("err", "rkmm-weights: q.rkw: truncated"));
	q[77] = 8;
	write_npy("q.npy", NPY_I8, K, N, 0, q);
	assert_int_equal(run("pack q.npy -o q4.rkw --types i4i16"), 1);
	assert_true(says("err", "-8..7"));
	assert_int_equal(access("q4.rkw", F_OK), -1);
	assert_int_equal(run("pack q.npy -o q4.rkw --types f16f32"), 1);
	x[5] = 1.0f / 0.0f;
	write_npy("b.npy", NPY_F32, K, N, 0, x);
	assert_int_equal(run("pack b.npy -o q4.rkw --types i8i32"), 1);
	assert_true(says("err", "finite"));
	assert_int_equal(run("pack none.npy -o q4.rkw"), 1);
	assert_int_equal(run("info b.npy"), 1);
	assert_true(says("err", "not an .rkw file"));
	/* neither is replaced by a file */
	assert_int_equal(run("pack q.npy -o ."), 1);
	assert_int_equal(symlink("/dev/full", "full"), 0);
	assert_int_equal(run("pack q.npy -o full"), 1);
	assert_true(says("err", "No space left"));
	assert_int_equal(readlink("full", target, sizeof(target)), strlen("/dev/full"));
	assert_int_equal(run("info"), 2);
	assert_int_equal(run("pack q.npy"), 2);
	assert_int_equal(run("pack q.npy -o x --types i3"), 2);
	assert_int_equal(run("verify -o x y"), 2);
	assert_int_equal(run("frobnicate x"), 2);
	assert_int_equal(run("--help"), 0);
	free(x);
	free(q);
	rkmm_close(dev);
}

static int group_setup(void **state)
{
	(void)state;
	folder = mkdtemp(folder_template);
	if (!folder)
		return -1;
	snprintf(path, sizeof(path), "%s/w.rkw", folder);
	return 0;
}

static int group_teardown(void **state)
{
	char line[64];

	(void)state;
	snprintf(line, sizeof(line), "rm -r %s", folder);
	return system(line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_saved_and_loaded), T(test_int4_as_int8), T(test_truncated),
		T(test_flipped), T(test_forged), T(test_tool),
	};

	return cmocka_run_group_tests_name("lib_rkw", tests, group_setup, group_teardown);
}
