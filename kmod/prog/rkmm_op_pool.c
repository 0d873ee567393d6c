// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pooling: hw 04 §5. The rows of a tensor are the pixels of an image.
 */
#include "rkmm_op_build.h"

enum rkmm_reason rkmm_build_pool(struct rkmm_opgeom *g)
{
	const struct rkmm_op *op = &g->op;
	struct rkmm_step *s;
	u32 height, pixels;

	if (op->precision == RKMM_PREC_I16)
		return RKMM_REASON_OPERATION;
	if (!op->width || op->m % op->width)
		return RKMM_REASON_PARAM;
	height = op->m / op->width;
	if (op->width > 8192 || height > 8192)
		return RKMM_REASON_M_LIMIT;
	if (!op->kernel_w || !op->kernel_h || op->kernel_w > RKMM_POOL_KERNEL_MAX ||
	    op->kernel_h > RKMM_POOL_KERNEL_MAX || op->stride_w > RKMM_POOL_KERNEL_MAX ||
	    op->stride_h > RKMM_POOL_KERNEL_MAX || op->kernel_w > op->width ||
	    op->kernel_h > height)
		return RKMM_REASON_PARAM;
	g->tile_rows = g->rows;
	g->tile_cols = rkmm_min(g->cols, RKMM_CHANNELS_MAX);
	rkmm_narrow_tiles(g, op->m * op->kernel_h, 16);
	s = rkmm_step(g, RKMM_STEP_POOL, rkmm_user(g, RKMM_AREA_A), rkmm_nowhere(),
		      (struct rkmm_where){ .place = RKMM_AREA_C });
	s->pool = (struct rkmm_pool){
		.precision = op->precision, .average = op->code == RKMM_OP_AVGPOOL,
		.width = op->width, .height = height, .channels = g->cols,
		.kernel_w = op->kernel_w, .kernel_h = op->kernel_h,
		.stride_w = op->stride_w ? op->stride_w : op->kernel_w,
		.stride_h = op->stride_h ? op->stride_h : op->kernel_h,
	};
	pixels = rkmm_pool_out(s->pool.width, s->pool.kernel_w, s->pool.stride_w) *
		 rkmm_pool_out(height, s->pool.kernel_h, s->pool.stride_h);
	s->dst.pitch = pixels * RKMM_ATOM;
	rkmm_describe_tensor(g, pixels, g->cols, &g->c);
	/* int8 was not seen, averages only to a quarter (hw 04 §5, §7). */
	g->evidence = op->precision == RKMM_PREC_F16 ? RKMM_EVIDENCE_CAPTURED :
		      RKMM_EVIDENCE_DERIVED;
	return RKMM_OK;
}
