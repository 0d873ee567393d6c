/* SPDX-License-Identifier: MIT */
#ifndef MATMUL_H
#define MATMUL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/rkmm.h"
#include "npy.h"
#include "tools/common/common.h"

enum {
	EXIT_OK,
	EXIT_FAILED,
	EXIT_USAGE,
	EXIT_WRONG,	/* --verify found the result wrong */
};

enum precision {
	PRECISION_DEFAULT,
	PRECISION_FP16,
	PRECISION_INT8,
	PRECISION_INT4,
};

enum output {
	OUTPUT_DEFAULT,
	OUTPUT_F32,
	OUTPUT_F16,
	OUTPUT_I32,
	OUTPUT_I16,
	OUTPUT_I8,
};

/**
 * struct options - the command line
 * @a_path: A
 * @b_path: B
 * @out_path: C or NULL
 * @device: node or NULL
 * @precision: what the NPU computes in
 * @output: element type of the result
 * @mult: --out i8; 0 for not given, like the next two
 * @shift: --out i8
 * @offset: --out i8
 * @cores: mask or 0
 * @form: enum drm_rkmm_form
 * @repeat: how often
 * @verify: compare with loops on the CPU
 * @json: machine-readable report
 */
struct options {
	const char *a_path;
	const char *b_path;
	const char *out_path;
	const char *device;
	enum precision precision;
	enum output output;
	long mult;
	long shift;
	long offset;
	uint32_t cores;
	int form;
	unsigned int repeat;
	bool verify;
	bool json;
};

/**
 * struct operand - A or B on its way to the NPU
 * @type: element type of the file
 * @rows: rows of the matrix
 * @cols: columns of the matrix
 * @transposed: everything below is stored as @cols rows of @rows elements
 * @exact: values of the file
 * @data: elements as librkmm takes them: int8_t, or half bits
 * @scale: of each row of A or column of B; NULL when not quantised
 */
struct operand {
	enum npy_type type;
	size_t rows;
	size_t cols;
	bool transposed;
	float *exact;
	void *data;
	float *scale;
};

/**
 * struct job - one multiplication from files to files
 * @opt: command line
 * @types: what the NPU is asked for
 * @precision: decided from @opt and the files
 * @out: element type of the file of C
 * @quantised: float inputs through integers
 * @a: A
 * @b: B
 * @raw: C as the NPU computed it, row-major
 * @c: C as it is written
 * @info: the device
 * @programs: of the plan
 * @predicted_ns: of the plan
 * @plan_flags: DRM_RKMM_PLAN_* of the plan
 * @slice: K of a partial result, 0 for no such
 * @ns_weights: packing B and making it resident
 * @ns_pack: packing A, median over the repetitions, like the next two
 * @ns_run: from submission to the end of it
 * @ns_unpack: gathering C
 * @limits: elements of an int4 result at the ends of int16
 */
struct job {
	const struct options *opt;
	uint32_t types;
	enum precision precision;
	enum npy_type out;
	bool quantised;
	struct operand a;
	struct operand b;
	void *raw;
	struct npy c;
	struct drm_rkmm_device_info info;
	uint32_t programs;
	uint64_t predicted_ns;
	uint32_t plan_flags;
	uint32_t slice;
	uint64_t ns_weights;
	uint64_t ns_pack;
	uint64_t ns_run;
	uint64_t ns_unpack;
	size_t limits;
};

/**
 * struct error_stats - a result against a reference
 * @max: largest difference
 * @relative: Frobenius norm of the difference over that of the reference
 */
struct error_stats {
	double max;
	double relative;
};

/**
 * struct verdict - what --verify found
 * @ok: the result is right
 * @wrong: elements that are not
 * @quantised: against the operands as the NPU was given them
 * @original: against the values of the files
 * @bound: fp16: largest part of its error bound that an element used up
 */
struct verdict {
	bool ok;
	size_t wrong;
	struct error_stats quantised;
	struct error_stats original;
	double bound;
};

/* The program, apart from main() so that tests can run it. */
int matmul_main(int argc, char **argv);

/* Prints "rkmm-matmul: ..." and ends the program. */

void job_load(struct job *job, const struct options *opt);
void job_run(struct job *job);
void job_convert(struct job *job);
void job_verify(const struct job *job, struct verdict *verdict);
void job_report(const struct job *job, const struct verdict *verdict);
void job_free(struct job *job);

static inline bool types_float(uint32_t types)
{
	return types == DRM_RKMM_F16F32 || types == DRM_RKMM_F16F16;
}

/* Element i of the raw result of an integer type pair. */
int32_t raw_int(const struct job *job, size_t i);

/* Element i of the raw result of a floating-point type pair. */
float raw_float(const struct job *job, size_t i);

void random_matrix(const char *shape, const char *dtype, uint64_t seed, bool fortran,
		   const char *path);

#endif
