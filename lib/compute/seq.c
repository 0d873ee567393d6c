// SPDX-License-Identifier: MIT
/* Sequences as they are described: tensors, operations, plans. */
#include "lib/compute/seq.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int seq_fail(struct rkmm_seq *seq, int err, const char *fmt, ...)
{
	va_list ap;

	if (!seq->built && seq->err)
		return err;
	va_start(ap, fmt);
	vsnprintf(seq->error, sizeof(seq->error), fmt, ap);
	va_end(ap);
	if (!seq->built)
		seq->err = err;
	return err;
}

RKMM_PUBLIC const char *rkmm_seq_error(const struct rkmm_seq *seq)
{
	return seq->error;
}

RKMM_PUBLIC int rkmm_seq_create(struct rkmm_device *dev, struct rkmm_seq **seq)
{
	*seq = calloc(1, sizeof(**seq));
	if (!*seq)
		return -ENOMEM;
	(*seq)->dev = dev;
	return 0;
}

RKMM_PUBLIC void rkmm_seq_destroy(struct rkmm_seq *seq)
{
	uint32_t i;

	if (!seq)
		return;
	for (i = 0; i < seq->num_plans; i++)
		rkmm_plan_destroy(seq->plans[i].plan);
	rkmm_buffer_destroy(seq->io);
	rkmm_buffer_destroy(seq->shared);
	free(seq->plans);
	free(seq->nodes);
	free(seq->tensors);
	free(seq->ops);
	free(seq);
}

/* Room for one more in an array that doubles; NULL without memory. */
static void *grow(void *array, uint32_t count, size_t size)
{
	return count & (count - 1) ? array : realloc(array, (count ? 2ull * count : 1) * size);
}

/* ---- tensors ---- */

static int add_tensor(struct rkmm_seq *seq, const struct seq_tensor *t)
{
	struct seq_tensor *all;

	if (seq->built)
		return seq_fail(seq, -EINVAL, "nothing can be added after the build");
	if (!t->rows || !t->cols)
		return seq_fail(seq, -EINVAL, "tensor %u: %u x %u is empty",
				seq->num_tensors + 1, t->rows, t->cols);
	all = grow(seq->tensors, seq->num_tensors, sizeof(*all));
	if (!all)
		return seq_fail(seq, -ENOMEM, "out of memory");
	seq->tensors = all;
	all[seq->num_tensors++] = *t;
	return (int)seq->num_tensors;
}

static uint32_t bits_of(uint32_t element)
{
	return element == DRM_RKMM_I8 ? 8 : 16;
}

static int add_input(struct rkmm_seq *seq, enum seq_kind kind, uint32_t element, uint32_t rows,
		     uint32_t cols)
{
	struct seq_tensor t = {
		.kind = kind, .element = element, .rows = rows, .cols = cols, .node = -1,
	};
	uint32_t most = kind == SEQ_ROWS ? DRM_RKMM_I16 : DRM_RKMM_I8;

	if (element > most)
		return seq_fail(seq, -EINVAL, "tensor %u: %u is no element type for it",
				seq->num_tensors + 1, element);
	if (kind == SEQ_ROWS) {
		const uint32_t group = 128 / bits_of(element);

		/* before rounding up, which would wrap */
		if (cols > UINT32_MAX - group)
			return seq_fail(seq, -EINVAL, "tensor %u: %u columns are too many",
					seq->num_tensors + 1, cols);
		t.layout = (struct drm_rkmm_tensor) {
			.layout = DRM_RKMM_LAYOUT_CUBE, .rows = rows, .slices = 1,
			.cols = (cols + group - 1) / group * group, .bits = bits_of(element),
		};
		t.layout.size = (uint64_t)rows * t.layout.cols * t.layout.bits / 8;
	}
	return add_tensor(seq, &t);
}

RKMM_PUBLIC int rkmm_seq_input(struct rkmm_seq *seq, uint32_t element, uint32_t rows,
			       uint32_t cols)
{
	return add_input(seq, SEQ_ROWS, element, rows, cols);
}

RKMM_PUBLIC int rkmm_seq_input_b(struct rkmm_seq *seq, uint32_t element, uint32_t k, uint32_t n)
{
	return add_input(seq, SEQ_B, element, k, n);
}

RKMM_PUBLIC int rkmm_seq_vector(struct rkmm_seq *seq, uint32_t element, uint32_t n)
{
	return add_input(seq, SEQ_VECTOR, element, 1, n);
}

RKMM_PUBLIC int rkmm_seq_bias(struct rkmm_seq *seq, uint32_t element, uint32_t n)
{
	return add_input(seq, SEQ_BIAS, element, 1, n);
}

/* Elements that types read and make; false for types that a sequence has not. */
static bool elements_of(uint32_t types, uint32_t *in, uint32_t *out)
{
	static const struct {
		uint32_t in, out;
	} all[] = {
		[DRM_RKMM_I8I32] = { DRM_RKMM_I8, SEQ_WIDE },
		[DRM_RKMM_I8I8] = { DRM_RKMM_I8, DRM_RKMM_I8 },
		[DRM_RKMM_F16F32] = { DRM_RKMM_F16, SEQ_WIDE },
		[DRM_RKMM_F16F16] = { DRM_RKMM_F16, DRM_RKMM_F16 },
	};

	if (types >= sizeof(all) / sizeof(all[0]))
		return false;
	*in = all[types].in;
	*out = all[types].out;
	return true;
}

RKMM_PUBLIC int rkmm_seq_weights(struct rkmm_seq *seq, const struct rkmm_weights *weights)
{
	struct seq_tensor t = { .kind = SEQ_B, .node = -1, .weights = weights };
	uint32_t out;

	if (!elements_of(rkmm_weights_types(weights), &t.element, &out))
		return seq_fail(seq, -EINVAL, "tensor %u: weights are neither fp16 nor int8",
				seq->num_tensors + 1);
	rkmm_weights_shape(weights, &t.rows, &t.cols);
	t.layout = *rkmm_weights_tensor(weights);
	return add_tensor(seq, &t);
}

/* ---- plans ---- */

static int add_plan(struct rkmm_seq *seq, const struct seq_plan *want, const char *what,
		    const struct rkmm_plan **plan)
{
	struct seq_plan *all, *p;
	uint32_t i;
	int ret;

	/* The descriptions have no padding. */
	for (i = 0; i < seq->num_plans; i++) {
		p = &seq->plans[i];
		if (p->matmul == want->matmul && p->num_stages == want->num_stages &&
		    !memcmp(&p->mm, &want->mm, sizeof(p->mm)) &&
		    !memcmp(p->stages, want->stages, sizeof(p->stages)) &&
		    !memcmp(&p->op, &want->op, sizeof(p->op))) {
			*plan = p->plan;
			return 0;
		}
	}
	all = grow(seq->plans, seq->num_plans, sizeof(*all));
	if (!all)
		return seq_fail(seq, -ENOMEM, "out of memory");
	seq->plans = all;
	p = &all[seq->num_plans];
	*p = *want;
	if (p->matmul)
		ret = rkmm_plan_create_epilogue(seq->dev, &p->mm, p->stages, p->num_stages,
						&p->plan);
	else
		ret = rkmm_plan_create_op(seq->dev, &p->op, &p->plan);
	if (ret)
		return seq_fail(seq, ret, "%s: %s", what, rkmm_last_error());
	seq->num_plans++;
	*plan = p->plan;
	return 0;
}

/* ---- operations ---- */

static const char *const kind_names[] = {
	[DRM_RKMM_OP_MATMUL] = "matmul",
	[DRM_RKMM_OP_ADD] = "add",
	[DRM_RKMM_OP_SUB] = "sub",
	[DRM_RKMM_OP_MUL] = "mul",
	[DRM_RKMM_OP_MAX] = "max",
	[DRM_RKMM_OP_MIN] = "min",
	[DRM_RKMM_OP_DIV] = "div",
	[DRM_RKMM_OP_COPY] = "copy",
	[DRM_RKMM_OP_RELU] = "relu",
	[DRM_RKMM_OP_CLAMP] = "clamp",
	[DRM_RKMM_OP_LEAKY] = "leaky",
	[DRM_RKMM_OP_EXP] = "exp",
	[DRM_RKMM_OP_SIGMOID] = "sigmoid",
	[DRM_RKMM_OP_TANH] = "tanh",
	[DRM_RKMM_OP_SILU] = "silu",
	[DRM_RKMM_OP_GELU] = "gelu",
	[DRM_RKMM_OP_HARDSWISH] = "hardswish",
	[DRM_RKMM_OP_RECIPROCAL] = "reciprocal",
	[DRM_RKMM_OP_RSQRT] = "rsqrt",
	[DRM_RKMM_OP_ROWMAX] = "rowmax",
	[DRM_RKMM_OP_ROWSUM] = "rowsum",
	[DRM_RKMM_OP_ROWMEAN] = "rowmean",
	[DRM_RKMM_OP_SOFTMAX] = "softmax",
	[DRM_RKMM_OP_RMSNORM] = "rmsnorm",
	[DRM_RKMM_OP_LAYERNORM] = "layernorm",
	[DRM_RKMM_OP_MAXPOOL] = "maxpool",
	[DRM_RKMM_OP_AVGPOOL] = "avgpool",
};

static void describe(const struct rkmm_seq *seq, uint32_t kind, char *text, size_t size)
{
	const char *name = kind < sizeof(kind_names) / sizeof(kind_names[0]) ?
			   kind_names[kind] : NULL;

	if (name)
		snprintf(text, size, "operation %u (%s)", seq->num_nodes + 1, name);
	else
		snprintf(text, size, "operation %u (number %u)", seq->num_nodes + 1, kind);
}

/* A tensor of the user; 0 or the error that it stands for. */
static int check_tensor(struct rkmm_seq *seq, const char *what, int tensor, char operand)
{
	if (seq->built)
		return seq_fail(seq, -EINVAL, "nothing can be added after the build");
	if (tensor < 0)
		return seq_fail(seq, tensor, "%s: operand %c failed with %d", what, operand,
				tensor);
	if (!tensor || (uint32_t)tensor > seq->num_tensors)
		return seq_fail(seq, -EINVAL, "%s: operand %c is missing", what, operand);
	return 0;
}

/* Slices of K one behind the other are what a single cube is. */
static bool is_cube(const struct drm_rkmm_tensor *t)
{
	return t->layout == DRM_RKMM_LAYOUT_CUBE &&
	       (t->slices <= 1 || t->slice_stride == (uint64_t)t->rows * t->slice * t->bits / 8);
}

static bool rows_fit(const struct seq_tensor *t, const struct drm_rkmm_tensor *want)
{
	const struct drm_rkmm_tensor *have = &t->layout;

	/* partial results are none that anything can read */
	return t->kind == SEQ_ROWS && t->element != SEQ_WIDE && have->slices <= 1 &&
	       is_cube(have) && is_cube(want) && have->rows == want->rows &&
	       have->bits == want->bits;
}

static bool fixed_fits(const struct seq_tensor *t, const struct drm_rkmm_tensor *want)
{
	/* Weights, and what was used before, lie in one way. */
	return t->kind != SEQ_ROWS && t->cols <= want->cols &&
	       (!t->layout.size || (t->layout.layout_id == want->layout_id &&
				    t->layout.size == want->size));
}

static int use(struct rkmm_seq *seq, const char *what, int tensor, char operand,
	       const struct drm_rkmm_tensor *want)
{
	struct seq_tensor *t;

	if (!tensor && !want->size)
		return 0;
	if (!tensor)
		return seq_fail(seq, -EINVAL, "%s: operand %c is missing", what, operand);
	if (!want->size)
		return seq_fail(seq, -EINVAL, "%s: there is no operand %c", what, operand);
	t = seq_tensor(seq, tensor);
	if (!rows_fit(t, want) && !fixed_fits(t, want))
		return seq_fail(seq, -EINVAL, "%s: tensor %d cannot be operand %c", what, tensor,
				operand);
	if (t->kind != SEQ_ROWS) {
		t->layout = *want;
	} else if (want->cols > t->layout.cols) {
		t->layout.cols = want->cols;
		t->layout.size = (uint64_t)want->rows * want->cols * want->bits / 8;
	}
	t->used = true;
	return 0;
}

/* The operation itself, once its operands were checked; returns the result. */
static int add_node(struct rkmm_seq *seq, const char *what, const struct seq_node *node,
		    const struct seq_tensor *result)
{
	const struct drm_rkmm_tensor *want[SEQ_INPUTS] = {
		rkmm_plan_a(node->plan), rkmm_plan_b(node->plan), rkmm_plan_d(node->plan),
		rkmm_plan_e(node->plan),
	};
	struct seq_tensor out = *result;
	uint32_t level = 0, i;
	struct seq_node *all;
	int ret;

	all = grow(seq->nodes, seq->num_nodes, sizeof(*all));
	if (!all)
		return seq_fail(seq, -ENOMEM, "out of memory");
	seq->nodes = all;
	for (i = 0; i < SEQ_INPUTS; i++) {
		ret = use(seq, what, node->in[i], "ABDE"[i], want[i]);
		if (ret)
			return ret;
	}
	for (i = 0; i < SEQ_INPUTS; i++) {
		const struct seq_tensor *t = node->in[i] ? seq_tensor(seq, node->in[i]) : NULL;

		if (t && t->node >= 0 && seq->nodes[t->node].level > level)
			level = seq->nodes[t->node].level;
	}
	level++;
	for (i = 0; i < SEQ_INPUTS; i++)
		if (node->in[i] && seq_tensor(seq, node->in[i])->last < level)
			seq_tensor(seq, node->in[i])->last = level;
	out.kind = SEQ_ROWS;
	out.plan = node->plan;
	out.layout = *rkmm_plan_c(node->plan);
	out.written = out.layout.size;
	out.node = (int)seq->num_nodes;
	out.last = level;
	ret = add_tensor(seq, &out);
	if (ret < 0)
		return ret;
	all[seq->num_nodes] = *node;
	all[seq->num_nodes].level = level;
	all[seq->num_nodes++].out = ret;
	return ret;
}

static bool is_binary(uint32_t kind)
{
	return kind >= DRM_RKMM_OP_ADD && kind <= DRM_RKMM_OP_DIV;
}

/* Operands of stages: the first one that has any takes D, the second E. */
static int check_stages(struct rkmm_seq *seq, const char *what, const struct seq_plan *want,
			const struct seq_tensor *result, int d, int e)
{
	const int operands[] = { d, e };
	const struct seq_tensor *t;
	uint32_t i, n = 0;

	for (i = 0; i < want->num_stages; i++) {
		const struct rkmm_op_desc *stage = &want->stages[i];
		enum seq_kind kind = stage->kind == DRM_RKMM_OP_ADD ? SEQ_BIAS : SEQ_VECTOR;

		if (!is_binary(stage->kind) || stage->other == DRM_RKMM_OTHER_SCALAR)
			continue;
		if (n == 2 || !operands[n])
			return seq_fail(seq, -EINVAL, "%s: stage %u has no operand", what, i);
		t = seq_tensor(seq, operands[n++]);
		if (stage->other == DRM_RKMM_OTHER_TENSOR)
			kind = SEQ_ROWS;
		if (t->kind != kind || t->cols != result->cols ||
		    (kind == SEQ_ROWS && t->rows != result->rows))
			return seq_fail(seq, -EINVAL, "%s: operand of stage %u", what, i);
	}
	return 0;
}

/* Operands that are there, A and B always */
static int check_operands(struct rkmm_seq *seq, const char *what, const int *in)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; !ret && i < SEQ_INPUTS; i++)
		if (i < 2 || in[i])
			ret = check_tensor(seq, what, in[i], "ABDE"[i]);
	return ret;
}

RKMM_PUBLIC int rkmm_seq_matmul(struct rkmm_seq *seq, const struct rkmm_matmul_desc *desc, int a,
				int b)
{
	return rkmm_seq_epilogue(seq, desc, NULL, 0, a, b, 0, 0);
}

RKMM_PUBLIC int rkmm_seq_epilogue(struct rkmm_seq *seq, const struct rkmm_matmul_desc *desc,
				  const struct rkmm_op_desc *stages, uint32_t count, int a, int b,
				  int d, int e)
{
	struct seq_plan want = { .matmul = true, .mm = *desc, .num_stages = count };
	struct seq_node node = { .matmul = true, .in = { a, b, d, e } };
	struct seq_tensor *ta, *tb, out = { 0 };
	uint32_t element;
	char what[64];
	int ret;

	describe(seq, DRM_RKMM_OP_MATMUL, what, sizeof(what));
	ret = check_operands(seq, what, node.in);
	if (ret)
		return ret;
	if (count > DRM_RKMM_STAGES)
		return seq_fail(seq, -EINVAL, "%s: %u stages, %u are possible", what, count,
				DRM_RKMM_STAGES);
	if (count)
		memcpy(want.stages, stages, count * sizeof(*stages));
	ta = seq_tensor(seq, a);
	tb = seq_tensor(seq, b);
	if (!elements_of(desc->types, &element, &out.element))
		return seq_fail(seq, -EINVAL, "%s: sequences have no such types", what);
	if (ta->kind != SEQ_ROWS || tb->kind != SEQ_B)
		return seq_fail(seq, -EINVAL,
				"%s: B is of rkmm_seq_input_b() or rkmm_seq_weights(), A not",
				what);
	if (ta->element != element || tb->element != element)
		return seq_fail(seq, -EINVAL, "%s: an operand has other elements", what);
	if (ta->cols != tb->rows)
		return seq_fail(seq, -EINVAL, "%s: %u x %u times %u x %u", what, ta->rows,
				ta->cols, tb->rows, tb->cols);
	if ((desc->m && desc->m != ta->rows) || (desc->k && desc->k != ta->cols) ||
	    (desc->n && desc->n != tb->cols))
		return seq_fail(seq, -EINVAL, "%s: the operands are not %u x %u x %u", what,
				desc->m, desc->k, desc->n);
	if (desc->a_pitch || desc->c_pitch || desc->b_layout || desc->flags || desc->form)
		return seq_fail(seq, -EINVAL, "%s: layouts cannot be chosen", what);
	want.mm.m = ta->rows;
	want.mm.k = ta->cols;
	want.mm.n = tb->cols;
	want.mm.form = DRM_RKMM_FORM_CUBE;
	/* of others it is the driver's, which does not depend on M */
	want.mm.b_layout = tb->weights ? tb->layout.layout_id : 0;
	out.rows = ta->rows;
	out.cols = tb->cols;
	ret = check_stages(seq, what, &want, &out, d, e);
	if (!ret)
		ret = add_plan(seq, &want, what, &node.plan);
	if (ret)
		return ret;
	/* What is behind a matmul runs in order. */
	node.matmul = rkmm_plan_fused(node.plan) == (1u << count) - 1;
	return add_node(seq, what, &node, &out);
}

static bool is_norm(uint32_t kind)
{
	return kind == DRM_RKMM_OP_RMSNORM || kind == DRM_RKMM_OP_LAYERNORM;
}

/* What the driver is told about the operands that are there */
static void set_operands(struct rkmm_seq *seq, struct rkmm_op_desc *desc, int b, int d)
{
	if (is_binary(desc->kind))
		desc->other = !b ? DRM_RKMM_OTHER_SCALAR :
			      seq_tensor(seq, b)->kind == SEQ_ROWS ? DRM_RKMM_OTHER_TENSOR :
			      DRM_RKMM_OTHER_CHANNEL;
	if (is_norm(desc->kind) && b)
		desc->flags |= DRM_RKMM_GAMMA;
	if (is_norm(desc->kind) && d)
		desc->flags |= DRM_RKMM_BETA;
	if (desc->kind == DRM_RKMM_OP_SOFTMAX && d)
		desc->flags |= DRM_RKMM_MASK;
}

static int check_other(struct rkmm_seq *seq, const char *what, uint32_t kind,
		       const struct seq_tensor *a, const struct seq_tensor *t, bool summand)
{
	enum seq_kind vector = summand || kind == DRM_RKMM_OP_ADD ? SEQ_BIAS : SEQ_VECTOR;

	if (t->element != a->element || t->cols != a->cols)
		return seq_fail(seq, -EINVAL, "%s: operands differ in elements or columns", what);
	if (t->kind == SEQ_ROWS && t->rows != a->rows)
		return seq_fail(seq, -EINVAL, "%s: operands differ in rows", what);
	if (t->kind != SEQ_ROWS && t->kind != vector)
		return seq_fail(seq, -EINVAL, "%s: %s is needed", what, vector == SEQ_BIAS ?
				"a bias" : "a vector");
	return 0;
}

RKMM_PUBLIC int rkmm_seq_op(struct rkmm_seq *seq, const struct rkmm_op_desc *desc, int a, int b,
			    int d)
{
	struct seq_plan want = { .op = *desc };
	struct seq_node node = { .in = { a, b, d } };
	const struct drm_rkmm_tensor *c;
	struct seq_tensor *ta, out;
	char what[64];
	int ret;

	describe(seq, desc->kind, what, sizeof(what));
	ret = check_tensor(seq, what, a, 'A');
	if (!ret && b)
		ret = check_tensor(seq, what, b, 'B');
	if (!ret && d)
		ret = check_tensor(seq, what, d, 'D');
	if (ret)
		return ret;
	ta = seq_tensor(seq, a);
	if (ta->kind != SEQ_ROWS || ta->element == SEQ_WIDE)
		return seq_fail(seq, -EINVAL, "%s: tensor %d cannot be operand A", what, a);
	if (desc->flags & DRM_RKMM_FLAT)
		return seq_fail(seq, -EINVAL, "%s: layouts cannot be chosen", what);
	if (b)
		ret = check_other(seq, what, desc->kind, ta, seq_tensor(seq, b), false);
	if (!ret && d)
		ret = check_other(seq, what, desc->kind, ta, seq_tensor(seq, d), true);
	if (ret)
		return ret;
	want.op.element = ta->element;
	want.op.m = ta->rows;
	want.op.n = ta->cols;
	set_operands(seq, &want.op, b, d);
	ret = add_plan(seq, &want, what, &node.plan);
	if (ret)
		return ret;
	c = rkmm_plan_c(node.plan);
	out = (struct seq_tensor) { .element = ta->element, .rows = ta->rows, .cols = ta->cols };
	if (desc->kind == DRM_RKMM_OP_ROWMAX)
		out.cols = 1;
	else if (desc->kind == DRM_RKMM_OP_ROWSUM || desc->kind == DRM_RKMM_OP_ROWMEAN)
		out.cols = c->cols;
	else
		out.rows = c->rows;
	return add_node(seq, what, &node, &out);
}

RKMM_PUBLIC int rkmm_seq_output(struct rkmm_seq *seq, int tensor)
{
	int ret = check_tensor(seq, "output", tensor, 'A');

	if (ret)
		return ret;
	if (seq_tensor(seq, tensor)->node < 0)
		return seq_fail(seq, -EINVAL, "output: tensor %d is no result", tensor);
	seq_tensor(seq, tensor)->output = true;
	return 0;
}
