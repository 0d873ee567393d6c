/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the selftests share. Written from uapi/rkmm_drm.h alone: no library, no
 * code of the driver, so that a wrong layout in either does not hide here.
 *
 * Every function returns 0 or a negative errno unless it says otherwise, and
 * none of them repeats an interrupted ioctl.
 */
#ifndef RKMM_TEST_H
#define RKMM_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <drm.h>
#include "rkmm_drm.h"

#define SEC	1000000000ll

/* --- device ------------------------------------------------------------- */

/** node_open() - open the first DRM node of a driver: "renderD" or "card" nodes */
int node_open(const char *driver, const char *prefix);
/** rk_open() - open the rkmm render node */
int rk_open(void);
/** xioctl() - one ioctl, never repeated */
int xioctl(int fd, unsigned long request, void *arg);
bool rk_is_soft(int fd);
int rk_device(int fd, struct drm_rkmm_device_info *info);
int rk_client(int fd, struct drm_rkmm_client_info *info);

/** after() - absolute CLOCK_MONOTONIC time, @ns from now */
int64_t after(int64_t ns);
void msleep(unsigned int ms);

/* --- files of the system --------------------------------------------------- */

/** file_read() - text of a small file, NUL-terminated; bytes read or -errno */
int file_read(const char *path, char *text, size_t size);
int file_write(const char *path, const char *text);
/** file_number() - the number in a file, or after @key ("Shmem:"); -errno */
long long file_number(const char *path, const char *key);

/** module_refs() - references that rkmm.ko is held by: files, buffers, fences */
long long module_refs(void);
/** module_refs_settle() - wait until at most @want are left; the last count seen */
long long module_refs_settle(long long want);

/** kmsg_open() - kernel log from now on */
int kmsg_open(void);
/** kmsg_count() - new lines up to @level that hold both strings; @last keeps the last one */
int kmsg_count(int fd, int level, const char *a, const char *b, char *last, size_t size);

/* --- buffers -------------------------------------------------------------- */

struct buf {
	int fd;
	uint32_t handle;
	uint64_t size;
	uint64_t offset;	/* for mmap() */
	uint8_t *map;
};

int buf_create(int fd, uint64_t size, struct buf *buf);
void buf_free(struct buf *buf);
int gem_close(int fd, uint32_t handle);
int bo_sync(int fd, uint32_t handle, uint32_t flags, uint64_t offset, uint64_t size);
/** buf_begin_read() - see what the NPU wrote, whole buffer */
int buf_begin_read(struct buf *buf);
/** buf_end_write() - show the NPU what the CPU wrote, whole buffer */
int buf_end_write(struct buf *buf);

/* --- random data --------------------------------------------------------------- */

struct rnd {
	uint64_t state;
};

void rnd_seed(struct rnd *r, uint64_t seed);
uint64_t rnd_next(struct rnd *r);
/** rnd_below() - 0 .. @limit - 1 */
uint32_t rnd_below(struct rnd *r, uint32_t limit);

/* --- one matmul ----------------------------------------------------------------- */

enum values {
	VALUES_RANDOM,		/* whole range (int), mixed magnitudes (fp16) */
	VALUES_SMALL_INT,	/* small integers: exact in every type */
	VALUES_HIGH,		/* sums far above the int16 and int8 range */
	VALUES_LOW,		/* sums far below it */
};

/* A matmul, its operands and what they must give. */
struct mm {
	uint32_t types;		/* enum drm_rkmm_types */
	uint32_t m, k, n;
	uint32_t rows;		/* to compute, 0 for all */
	uint32_t a_pitch, c_pitch;
	uint32_t cores;		/* mask of the plan, 0 for any */
	uint32_t form;		/* enum drm_rkmm_form */
	int32_t mult;
	uint32_t shift;
	int32_t offset;
	enum values values;
	bool one_buffer;	/* A, B and C share the buffer a */

	/* filled by mm_init() */
	int fd;
	struct rnd rnd;
	struct drm_rkmm_plan_create plan;
	struct buf a, b, c;
	uint64_t a_off, b_off, c_off;
	int16_t *av, *bv;	/* values, row-major: integers, or bits of fp16 */
	uint8_t *fill;		/* what the buffer of C held before */
	char msg[160];		/* what mm_check() found */
};

/** mm_plan() - only the plan */
int mm_plan(struct mm *mm, int fd);
/** mm_init() - plan, buffers at odd places, random data, packed and shown to the NPU */
int mm_init(struct mm *mm, int fd, uint64_t seed);
/** mm_new_a() - other random values in A, packed, not yet shown to the NPU */
void mm_new_a(struct mm *mm);
/** mm_new_c() - other random bytes where C will be, shown to the NPU */
int mm_new_c(struct mm *mm);
void mm_free(struct mm *mm);
/** mm_op() - the operation for a submission */
struct drm_rkmm_op mm_op(const struct mm *mm);
/** mm_check() - compare the buffer of C with plain loops; number of faults, text in @msg */
int mm_check(struct mm *mm);
/** mm_compare() - as mm_check() but without BO_SYNC */
int mm_compare(struct mm *mm);
/** mm_run() - submit, wait, check; result of the job, or -EBADMSG for wrong values */
int mm_run(struct mm *mm);

/** element_bit() - where element (row, col) lies, in bits from the operand's start */
uint64_t element_bit(const struct drm_rkmm_tensor *t, uint32_t row, uint32_t col);
float half_to_float(uint16_t h);
uint16_t float_to_half(float f);
const char *types_name(uint32_t types);

/* --- submissions ---------------------------------------------------------------- */

/** submit_init() - @nops operations, no syncs, nothing waited for */
void submit_init(struct drm_rkmm_submit *s, const struct drm_rkmm_op *ops, uint32_t nops);
void submit_syncs(struct drm_rkmm_submit *s, const struct drm_rkmm_sync *in, uint32_t nin,
		  const struct drm_rkmm_sync *out, uint32_t nout);
int rk_submit(int fd, struct drm_rkmm_submit *s);
/** rk_wait() - result of the job; -ENOENT, -ETIME, -EINTR in *@err, else 0 there */
int rk_wait(int fd, uint64_t seqno, int64_t deadline, int *err);
/** rk_result() - wait long; the result, or what the wait itself failed with */
int rk_result(int fd, uint64_t seqno);

/* --- syncobjs, fences ----------------------------------------------------------- */

int syncobj_create(int fd, uint32_t *handle);
int syncobj_destroy(int fd, uint32_t handle);
int syncobj_wait(int fd, uint32_t handle, uint64_t point, int64_t deadline);
/** syncobj_export() - sync_file of a binary syncobj; fd or -errno */
int syncobj_export(int fd, uint32_t handle);
int syncobj_import(int fd, uint32_t handle, int sync_file);
/** sync_file_status() - 0 pending, 1 signalled, negative errno of the fence */
int sync_file_status(int sync_file);
/** sync_file_wait() - 0 when it signalled, -ETIME */
int sync_file_wait(int sync_file, int timeout_ms);

/* A fence that the test signals when it likes (vgem does so by itself after 10 s). */
struct gate {
	int vgem;
	uint32_t handle;	/* vgem buffer */
	uint64_t size;
	int dmabuf;
	uint32_t fence;
	int sync_file;
};

/** gate_init() - -ENODEV without vgem */
int gate_init(struct gate *g);
/** gate_shut() - attach a new unsignalled fence; read: only readers are in the way */
int gate_shut(struct gate *g);
int gate_open(struct gate *g);
void gate_free(struct gate *g);
/** gate_syncobj() - a new syncobj of @fd that carries the gate's fence */
int gate_syncobj(struct gate *g, int fd, uint32_t *handle);

/* --- knobs of the software NPU ---------------------------------------------------- */

/*
 * Arm or disarm fault switches: "0.never_start=1", "*.stall=0". CORE.NAME=NUMBERS, see
 * Documentation/soft-npu.rst. -ENOENT without the module.
 */
int soft_fault(const char *rules);
/** soft_errors() - rules that the driver has broken so far; 0 on silicon */
long long soft_errors(void);

/* The tests' main(): nothing to test without a device; nothing good about broken rules. */
#define RKMM_TEST_MAIN							\
	int main(int argc, char **argv)					\
	{								\
		long long errors = soft_errors();			\
		int fd = rk_open(), ret;				\
									\
		if (fd < 0) {						\
			printf("TAP version 13\n1..0 # SKIP no rkmm device\n");	\
			return KSFT_SKIP;				\
		}							\
		close(fd);						\
		ret = test_harness_run(argc, argv);			\
		if (soft_errors() == errors)				\
			return ret;					\
		fprintf(stderr, "# the software NPU counted %lld broken rules\n", \
			soft_errors() - errors);			\
		return KSFT_FAIL;					\
	}

#endif
