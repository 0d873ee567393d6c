// SPDX-License-Identifier: MIT
/* Operations in one call, and sequences that are ready. */
#include <errno.h>
#include <math.h>

#include "lib/compute/seq.h"

RKMM_PUBLIC int rkmm_seq_unary(struct rkmm_seq *seq, uint32_t kind, int a)
{
	const struct rkmm_op_desc desc = { .kind = kind };

	if (kind >= DRM_RKMM_OP_ADD && kind <= DRM_RKMM_OP_DIV)
		return seq_fail(seq, -EINVAL, "operation %u takes two operands", kind);
	return rkmm_seq_op(seq, &desc, a, 0, 0);
}

RKMM_PUBLIC int rkmm_seq_binary(struct rkmm_seq *seq, uint32_t kind, int a, int b)
{
	const struct rkmm_op_desc desc = { .kind = kind };

	/* without one the scalar would be meant */
	if (!b)
		return seq_fail(seq, -EINVAL, "operation %u takes two operands", kind);
	return rkmm_seq_op(seq, &desc, a, b, 0);
}

RKMM_PUBLIC int rkmm_seq_softmax(struct rkmm_seq *seq, int a, int mask, float scale,
				 uint32_t flags)
{
	const struct rkmm_op_desc desc = {
		.kind = DRM_RKMM_OP_SOFTMAX, .scale = scale, .flags = flags,
	};

	if (flags & ~DRM_RKMM_CAUSAL)
		return seq_fail(seq, -EINVAL, "softmax: flags 0x%x", flags);
	if (flags && a > 0 && (uint32_t)a <= seq->num_tensors &&
	    seq_tensor(seq, a)->rows > seq_tensor(seq, a)->cols)
		return seq_fail(seq, -EINVAL,
				"softmax: the first of %u rows see none of %u columns",
				seq_tensor(seq, a)->rows, seq_tensor(seq, a)->cols);
	return rkmm_seq_op(seq, &desc, a, 0, mask);
}

RKMM_PUBLIC int rkmm_seq_linear(struct rkmm_seq *seq, int x, int w, int bias, uint32_t activation)
{
	const struct rkmm_matmul_desc desc = { .types = DRM_RKMM_F16F16 };
	struct rkmm_op_desc stages[2] = { { 0 } };
	bool stage = activation >= DRM_RKMM_OP_COPY && activation <= DRM_RKMM_OP_RSQRT;
	uint32_t count = 0;
	int y;

	if (bias)
		stages[count++] = (struct rkmm_op_desc) {
			.kind = DRM_RKMM_OP_ADD, .other = DRM_RKMM_OTHER_CHANNEL,
		};
	if (stage)
		stages[count++].kind = activation;
	y = rkmm_seq_epilogue(seq, &desc, stages, count, x, w, bias, 0);
	/* what looks at whole rows, and what is refused */
	return activation && !stage ? rkmm_seq_unary(seq, activation, y) : y;
}

RKMM_PUBLIC int rkmm_seq_gated_mlp(struct rkmm_seq *seq, int x, int gate, int up, int down)
{
	int g = rkmm_seq_linear(seq, x, gate, 0, DRM_RKMM_OP_SILU);
	int u = rkmm_seq_linear(seq, x, up, 0, 0);

	return rkmm_seq_linear(seq, rkmm_seq_binary(seq, DRM_RKMM_OP_MUL, g, u), down, 0, 0);
}

RKMM_PUBLIC int rkmm_seq_attention(struct rkmm_seq *seq, int q, int k, int v, int mask,
				   float scale, uint32_t flags)
{
	int p = rkmm_seq_linear(seq, q, k, 0, 0);

	if (scale == 0 && p > 0)
		scale = (float)(1 / sqrt(seq_tensor(seq, q)->cols));
	p = rkmm_seq_softmax(seq, p, mask, scale, flags);
	return rkmm_seq_linear(seq, p, v, 0, 0);
}
