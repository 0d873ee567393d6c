/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the tests of the software NPU: device memory, programs written straight
 * from hw 02 §2 and §8, operand layouts and plain loops. Shares nothing with
 * the driver's synthesis.
 */
#ifndef TEST_MODEL_RIG_H
#define TEST_MODEL_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kmod/soft/model/npu_model.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define CNA	0x0201
#define CORE	0x0801
#define DPU	0x1001
#define RDMA	0x2001
#define PPU	0x4001
#define PPU_RDMA 0x8001
#define PC	0x0101

struct region {
	u32 addr, len;
	u8 *data;
	bool readonly;
};

/**
 * struct rig - a core and its memory
 * @reads, @writes: accesses that succeeded
 * @fp_depth: open sections that may use floating point; memory must not be
 *	touched inside one
 * @stop_after: relax() says stop after so many calls, 0 never
 */
struct rig {
	void *mem;
	struct npu_core *core;
	struct npu_env env;
	struct region regions[16];
	u32 nregions;
	u32 reads, writes, relaxes, stop_after;
	int fp_depth;
	struct npu_report report;
};

void rig_open(struct rig *rig);
void rig_close(struct rig *rig);
/* Mapped memory, filled with 0xa5. */
u8 *rig_map(struct rig *rig, u32 addr, u32 len);
u8 *rig_at(struct rig *rig, u32 addr);
void rig_unmap(struct rig *rig, u32 addr);
void rig_protect(struct rig *rig, u32 addr);
/* The vendor's kick (hw 01 §2.1) and the run. */
enum npu_class rig_kick(struct rig *rig, u32 addr, u32 amount, u32 tasks, bool pingpong);
/* rig_kick_mask() - the same with other interrupt bits than those of the DPU */
enum npu_class rig_kick_mask(struct rig *rig, u32 addr, u32 amount, u32 tasks, bool pingpong,
			     u32 mask);

struct prog {
	u64 e[1152];
	u32 n;
};

void prog_add(struct prog *p, u32 target, u32 offset, u32 value);
/* Changes every copy of a register that is in the program. */
void prog_set(struct prog *p, u32 offset, u32 value);
u32 prog_get(const struct prog *p, u32 offset);
/* The four entries behind the writes; next 0: the last task. */
void prog_tail(struct prog *p, u32 next, u32 amount, u32 start);
/* Fetch amount of a program with @n writes (hw 02 §1.3) */
u32 prog_amount(u32 n);
void prog_store(struct rig *rig, u32 addr, const struct prog *p);

enum pair {
	F16F32,
	F16F16,
	I8I32,
	I8I8,
	I4I16,
	PAIRS,
};

struct pair_info {
	const char *name;
	u32 bits, group, out_bytes, c2;
};

extern const struct pair_info pair_info[PAIRS];

/**
 * struct job - a matmul and where its operands are
 * @v: the CBUF word 1040; 0: as many data banks as A needs, the rest weight
 * @pitch: elements from row to row of C, 0: N
 * @mult, @shift, @offset: output conversion of int8 to int8
 */
struct job {
	enum pair pair;
	u32 m, k, n;
	u32 a, b, c;
	u32 v;
	u32 pitch;
	u32 mult, shift;
	s32 offset;
};

void flat_program(struct prog *p, const struct job *j);
void cube_program(struct prog *p, const struct job *j);
/* int4: H rows in 4H lines (hw 02 §6.2) */
void batch_program(struct prog *p, const struct job *j);
u32 job_banks(const struct job *j);

/**
 * struct data - operands and results as plain matrices
 * @a: [m][k], @b: [k][n]: integers, or fp16 as bits
 * @c: [m][n]: exact integers, or fp32 as bits of the sum in rising k
 */
struct data {
	s32 *a, *b;
	s64 *c;
};

void data_random(struct data *d, const struct job *j, u32 seed);
void data_multiply(struct data *d, const struct job *j);
void data_free(struct data *d);
/* The sums as output elements: saturated, converted, rounded. */
u32 data_out(const struct data *d, const struct job *j, u32 m, u32 n);

u32 rnd(u32 *state);
float half_to_float(u16 h);
u16 float_to_half(float f);
float bits_float(u32 bits);
u32 float_bits(float f);

void put_weight(u8 *dst, const struct data *d, const struct job *j);
void put_a_rows(u8 *dst, const struct data *d, const struct job *j, u32 pitch_bytes);
void put_a_cube(u8 *dst, const struct data *d, const struct job *j);
u32 get_out(const u8 *src, u32 bytes);
u32 a_bytes(const struct job *j);
u32 b_bytes(const struct job *j);
u32 c_bytes(const struct job *j);

/* Runs the one program and checks C in the flat or the cube layout. */
void check_rows(struct rig *rig, const struct data *d, const struct job *j);
void check_cube(struct rig *rig, const struct data *d, const struct job *j);
void run_one(struct rig *rig, const struct prog *p, u32 start);

#endif
