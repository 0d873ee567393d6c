// SPDX-License-Identifier: GPL-2.0-only
/*
 * A pooling task as register writes: hw 04 §5.
 */
#include "rkmm_num.h"
#include "rkmm_pool.h"
#include "rkmm_pure.h"

static inline u64 *put(u64 *w, u16 target, u16 offset, u32 value)
{
	*w = rkmm_entry(target, offset, value);
	return w + 1;
}

#define PPU(reg, value)		(w = put(w, RKMM_TARGET_PPU, PPU_##reg, value))
#define RDMA(reg, value)	(w = put(w, RKMM_TARGET_PPU_RDMA, PPU_RDMA_##reg, value))

static u32 s_pointer(void)
{
	return FIELD_PREP(S_POINTER_PP_MODE, 1) | FIELD_PREP(S_POINTER_EXECUTER_PP_EN, 1) |
	       FIELD_PREP(S_POINTER_POINTER_PP_EN, 1);
}

/* 2^16 / kernel: an integer, or fp16 bits, where 2^16 itself is one step too much. */
static u32 reciprocal(const struct rkmm_pool *p, u32 kernel)
{
	struct rkmm_num n = rkmm_num_inverse(rkmm_num_int(kernel));

	if (p->precision != RKMM_PREC_F16)
		return ((1u << 16) + kernel / 2) / kernel;
	n.exp += 16;
	return kernel == 1 ? 0x7bff : rkmm_num_f16(n);
}

u32 rkmm_pool_emit(const struct rkmm_pool *pool, u64 *words)
{
	u32 out_w = rkmm_pool_out(pool->width, pool->kernel_w, pool->stride_w);
	u32 out_h = rkmm_pool_out(pool->height, pool->kernel_h, pool->stride_h);
	u64 *w = words;

	PPU(S_POINTER, s_pointer());
	PPU(DATA_CUBE_IN_WIDTH, FIELD_PREP(PPU_CUBE_SIZE, pool->width - 1));
	PPU(DATA_CUBE_IN_HEIGHT, FIELD_PREP(PPU_CUBE_SIZE, pool->height - 1));
	PPU(DATA_CUBE_IN_CHANNEL, FIELD_PREP(PPU_CUBE_SIZE, pool->channels - 1));
	PPU(DATA_CUBE_OUT_WIDTH, FIELD_PREP(PPU_CUBE_SIZE, out_w - 1));
	PPU(DATA_CUBE_OUT_HEIGHT, FIELD_PREP(PPU_CUBE_SIZE, out_h - 1));
	PPU(DATA_CUBE_OUT_CHANNEL, FIELD_PREP(PPU_CUBE_SIZE, pool->channels - 1));
	PPU(OPERATION_MODE_CFG, FIELD_PREP(PPU_OPERATION_MODE_CFG_FLYING_MODE, 1) |
				FIELD_PREP(PPU_OPERATION_MODE_CFG_METHOD, pool->average ? 0 : 1));
	PPU(POOLING_KERNEL_CFG,
	    FIELD_PREP(PPU_POOLING_KERNEL_CFG_STRIDE_HEIGHT, pool->stride_h - 1) |
	    FIELD_PREP(PPU_POOLING_KERNEL_CFG_STRIDE_WIDTH, pool->stride_w - 1) |
	    FIELD_PREP(PPU_POOLING_KERNEL_CFG_KERNEL_HEIGHT, pool->kernel_h - 1) |
	    FIELD_PREP(PPU_POOLING_KERNEL_CFG_KERNEL_WIDTH, pool->kernel_w - 1));
	PPU(RECIP_KERNEL_WIDTH, FIELD_PREP(PPU_RECIP_KERNEL, reciprocal(pool, pool->kernel_w)));
	PPU(RECIP_KERNEL_HEIGHT, FIELD_PREP(PPU_RECIP_KERNEL, reciprocal(pool, pool->kernel_h)));
	PPU(POOLING_PADDING_CFG, 0);
	PPU(PADDING_VALUE_1_CFG, 0);
	PPU(PADDING_VALUE_2_CFG, 0);
	PPU(DST_BASE_ADDR, pool->dst);
	PPU(DST_SURF_STRIDE, FIELD_PREP(PPU_DST_SURF_STRIDE_STRIDE, out_w * out_h));
	PPU(DATA_FORMAT, FIELD_PREP(PPU_DATA_FORMAT_PROC_PRECISION, pool->precision));
	PPU(MISC_CTRL, FIELD_PREP(PPU_MISC_CTRL_BURST_LEN, 3));
	RDMA(S_POINTER, s_pointer());
	RDMA(CUBE_IN_WIDTH, FIELD_PREP(PPU_CUBE_SIZE, pool->width - 1));
	RDMA(CUBE_IN_HEIGHT, FIELD_PREP(PPU_CUBE_SIZE, pool->height - 1));
	RDMA(CUBE_IN_CHANNEL, FIELD_PREP(PPU_CUBE_SIZE, pool->channels - 1));
	RDMA(SRC_BASE_ADDR, pool->src);
	RDMA(SRC_LINE_STRIDE, FIELD_PREP(PPU_RDMA_SRC_STRIDE, pool->width));
	RDMA(SRC_SURF_STRIDE, FIELD_PREP(PPU_RDMA_SRC_STRIDE, pool->width * pool->height));
	/* element size code as of the EW operand: 1 for 8 bits, 2 for 16 (hw 04 §1.2, §5) */
	RDMA(DATA_FORMAT, FIELD_PREP(PPU_RDMA_DATA_FORMAT_SIZE,
				     pool->precision == RKMM_PREC_F16 ? 2 : 1));
	return (u32)(w - words);
}
