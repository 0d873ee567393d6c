/* SPDX-License-Identifier: GPL-2.0-only */
/* One matmul as a chain of tasks, for the tests of the program control. */
#ifndef TEST_MODEL_BLOCKS_H
#define TEST_MODEL_BLOCKS_H

#include "test_model_rig.h"

#define A	0x10000000
#define B	0x20000000
#define C	0x30000000
#define IMAGE	0xfff00000

/* Row blocks of one matmul as tasks of a chain. */
struct blocks {
	struct job all;
	struct data d;
	struct prog progs[16];
	u32 count, rows;
};

/* Programs one after the other in 64-byte slots, linked to each other */
void store_chain(struct rig *rig, struct prog *progs, u32 count);
enum npu_class kick_chain(struct rig *rig, const struct prog *progs, u32 tasks, bool pingpong);
/* Operands in memory and the programs, of @rows rows each */
void blocks_open(struct rig *rig, struct blocks *b, const struct job *j, u32 rows);
void blocks_close(struct rig *rig, struct blocks *b);

#endif
