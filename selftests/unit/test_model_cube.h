/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the tests of the software NPU's DPU: the list of hw 04 §2.1, cubes of hw
 * 04 §1.5, and chains of programs of any kind.
 */
#ifndef TEST_MODEL_CUBE_H
#define TEST_MODEL_CUBE_H

#include "test_model_rig.h"

#define SRC	0x10000000
#define SRC2	0x18000000
#define VEC	0x20000000
#define DST	0x30000000
#define IMAGE	0xfff00000

enum type {
	I8,
	I16,
	F16,
	TYPES,
};

extern const u32 type_bytes[TYPES];

/* W x H pixels of N channels; N fills its last atom. */
struct shape {
	enum type type;
	u32 w, h, n;
};

static inline u32 shape_pixels(const struct shape *s)
{
	return s->w * s->h;
}

static inline u32 shape_values(const struct shape *s)
{
	return s->w * s->h * s->n;
}

static inline u32 shape_bytes(const struct shape *s)
{
	return shape_values(s) * type_bytes[s->type];
}

/* Byte offset of an element in a cube of 16-byte atoms (hw 04 §1.5) */
u32 cube_at(u32 pixels, u32 bytes, u32 m, u32 n);
/* Values as plain matrices [pixel][channel]: integers, or fp16 as bits */
void cube_random(s32 *v, const struct shape *s, u32 seed);
void cube_put(u8 *dst, const s32 *v, const struct shape *s);
s32 cube_get(const u8 *src, const struct shape *s, u32 m, u32 n);

/* The 69 writes of hw 04 §2.1: a copy from SRC to DST */
void dpu_program(struct prog *p, const struct shape *s);
/* A two-input form of hw 04 §2.2, second input at SRC2 */
void dpu_two_inputs(struct prog *p, const struct shape *s, u32 ew_cfg);
/* Two tables from 1026 values: 1028 writes (hw 04 §2.5) */
void lut_writes(struct prog *p, const s16 *table);
/* The dummy copy and the writes, 1097 in all (hw 04 §2.6) */
void lut_program(struct prog *p, const s16 *table, u32 dummy);
/* One-input program with the table on and the constants of all captures */
void lut_apply(struct prog *p, u32 bn_alu, u32 bn_mul);
/* exp on [-10, 0], generated as hw 04 §2.5 says */
void lut_exp(s16 table[1026]);

/* A pooling task; 4-bit fields hold counts up to 16. */
struct pool {
	struct shape s;
	u32 method;		/* 0 average, 1 maximum, 2 minimum */
	u32 kw, kh, sw, sh;
	u32 left, top, right, bottom;
};

u32 pool_w(const struct pool *p);
u32 pool_h(const struct pool *p);
/* The 18 and 8 writes of hw 04 §5 from SRC to DST, with both blocks' pointers */
void pool_program(struct prog *q, const struct pool *p);

/**
 * struct link - a task of a chain
 * @p: its writes
 * @start: enable value
 */
struct link {
	struct prog p;
	u32 start;
};

/* Stores a chain at IMAGE in slots sized by content; returns the first amount. */
u32 links_store(struct rig *rig, const struct link *links, u32 count);
enum npu_class links_kick(struct rig *rig, u32 amount, u32 tasks, bool pingpong, u32 mask);
/* One program, expected to end well */
void run_good(struct rig *rig, const struct prog *p, u32 start);

#endif
