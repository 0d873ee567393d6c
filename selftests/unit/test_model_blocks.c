// SPDX-License-Identifier: GPL-2.0-only
/* One matmul as a chain of tasks, a block of rows each. */
#include "test_model_blocks.h"

/* Programs one after the other in 64-byte slots, linked to each other. */
void store_chain(struct rig *rig, struct prog *progs, u32 count)
{
	u32 at[16], addr = IMAGE, i;

	assert_true(count <= 16);
	for (i = 0; i < count; i++) {
		at[i] = addr;
		addr += (progs[i].n * 8 + 32 + 63) & ~63u;
	}
	rig_map(rig, IMAGE, addr - IMAGE + 64);
	for (i = 0; i < count; i++) {
		struct prog p = progs[i];
		bool last = i + 1 == count;

		prog_tail(&p, last ? 0 : at[i + 1], last ? 0 : prog_amount(progs[i + 1].n), 0x0d);
		prog_store(rig, at[i], &p);
	}
}

enum npu_class kick_chain(struct rig *rig, const struct prog *progs, u32 tasks, bool pingpong)
{
	return rig_kick(rig, IMAGE, prog_amount(progs[0].n), tasks, pingpong);
}

void blocks_open(struct rig *rig, struct blocks *b, const struct job *j, u32 rows)
{
	u32 row_a = j->k * pair_info[j->pair].bits / 8, row_c = j->n * pair_info[j->pair].out_bytes;
	u32 m;

	b->all = *j;
	b->rows = rows;
	b->count = 0;
	rig_open(rig);
	rig_map(rig, A, a_bytes(j) + 64);
	rig_map(rig, B, b_bytes(j));
	rig_map(rig, C, c_bytes(j));
	data_random(&b->d, j, j->m + j->n);
	put_a_rows(rig_at(rig, A), &b->d, j, row_a);
	put_weight(rig_at(rig, B), &b->d, j);
	for (m = 0; m < j->m; m += rows) {
		struct job part = *j;

		part.m = j->m - m < rows ? j->m - m : rows;
		part.a += m * row_a;
		part.c += m * row_c;
		flat_program(&b->progs[b->count++], &part);
	}
}

void blocks_close(struct rig *rig, struct blocks *b)
{
	data_free(&b->d);
	rig_close(rig);
}
