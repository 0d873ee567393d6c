// SPDX-License-Identifier: MIT
/* Sequences as they run: order, memory, one submission. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/compute/seq.h"
#include "lib/compute/seq_place.h"

/* By level; of a level matmuls first, so that they are one group. */
static int by_level(const void *a, const void *b)
{
	const struct seq_node *x = a, *y = b;

	if (x->level != y->level)
		return x->level < y->level ? -1 : 1;
	if (x->matmul != y->matmul)
		return x->matmul ? -1 : 1;
	return x->out < y->out ? -1 : x->out > y->out;
}

static int check_all(struct rkmm_seq *seq)
{
	uint32_t i;

	if (seq->built)
		return seq_fail(seq, -EINVAL, "it was built already");
	if (seq->err)
		return seq->err;
	if (!seq->num_nodes)
		return seq_fail(seq, -EINVAL, "there is no operation");
	if (seq->num_nodes > DRM_RKMM_MAX_OPS)
		return seq_fail(seq, -EINVAL, "%u operations, %u are possible", seq->num_nodes,
				DRM_RKMM_MAX_OPS);
	for (i = 0; i < seq->num_tensors; i++) {
		const struct seq_tensor *t = &seq->tensors[i];

		if (!t->used && !t->output)
			return seq_fail(seq, -EINVAL, t->node < 0 ?
					"tensor %u: no operation uses it" :
					"tensor %u: a result that nobody reads", i + 1);
	}
	return 0;
}

/* Inputs and outputs, one behind the other; returns the bytes. */
static uint64_t place_io(struct rkmm_seq *seq)
{
	uint64_t at = 0;
	uint32_t i;

	for (i = 0; i < seq->num_tensors; i++) {
		struct seq_tensor *t = &seq->tensors[i];

		if (t->weights || (t->node >= 0 && !t->output))
			continue;
		t->place.offset = at;
		at += (t->layout.size + SEQ_ALIGN - 1) / SEQ_ALIGN * SEQ_ALIGN;
	}
	return at;
}

static bool is_inner(const struct seq_tensor *t)
{
	return t->node >= 0 && !t->output;
}

/* Nothing is known of a temporary that was not written: who has zeros behind is no such. */
static bool is_temporary(const struct seq_tensor *t)
{
	return is_inner(t) && t->written == t->layout.size;
}

/* Places of results that are no outputs: of temporaries, or of the others */
static int place_inner(struct rkmm_seq *seq, bool temporary, uint64_t *bytes)
{
	struct seq_span *spans = malloc(seq->num_tensors * sizeof(*spans));
	uint32_t i, n = 0;
	int ret;

	if (!spans)
		return seq_fail(seq, -ENOMEM, "out of memory");
	for (i = 0; i < seq->num_tensors; i++) {
		const struct seq_tensor *t = &seq->tensors[i];

		if (!is_inner(t) || is_temporary(t) != temporary)
			continue;
		spans[n++] = (struct seq_span) {
			.size = t->layout.size, .written = t->written,
			.first = seq->nodes[t->node].level, .last = t->last,
		};
		seq->info.alone_bytes += t->layout.size;
	}
	ret = seq_place(spans, n, bytes);
	if (ret)
		seq_fail(seq, ret, "out of memory");
	for (i = 0, n = 0; !ret && i < seq->num_tensors; i++)
		if (is_inner(&seq->tensors[i]) && is_temporary(&seq->tensors[i]) == temporary)
			seq->tensors[i].place.offset = spans[n++].offset;
	free(spans);
	return ret;
}

static int make_buffers(struct rkmm_seq *seq, uint64_t io, uint64_t shared)
{
	struct rkmm_buffer *buf;
	uint32_t i;
	void *map;
	int ret = 0;

	if (io)
		ret = rkmm_buffer_create(seq->dev, io, &seq->io);
	if (!ret && io)
		ret = rkmm_buffer_map(seq->io, &map);
	if (!ret && io)
		seq->map = map;
	if (!ret && shared)
		ret = rkmm_buffer_create(seq->dev, shared, &seq->shared);
	if (ret)
		return seq_fail(seq, ret, "%s", rkmm_last_error());
	for (i = 0; i < seq->num_tensors; i++) {
		struct seq_tensor *t = &seq->tensors[i];

		buf = is_temporary(t) ? rkmm_temporary(0) : is_inner(t) ? seq->shared : seq->io;
		if (t->weights)
			buf = rkmm_weights_buffer(t->weights);
		t->place.buf = buf;
	}
	return 0;
}

static int make_ops(struct rkmm_seq *seq)
{
	static const struct rkmm_operand none;
	uint32_t i;

	seq->ops = calloc(seq->num_nodes, sizeof(*seq->ops));
	if (!seq->ops)
		return seq_fail(seq, -ENOMEM, "out of memory");
	qsort(seq->nodes, seq->num_nodes, sizeof(*seq->nodes), by_level);
	for (i = 0; i < seq->num_nodes; i++) {
		const struct seq_node *n = &seq->nodes[i];
		struct rkmm_op *op = &seq->ops[i];

		op->plan = n->plan;
		op->a = seq_tensor(seq, n->in[0])->place;
		op->b = n->in[1] ? seq_tensor(seq, n->in[1])->place : none;
		op->d = n->in[2] ? seq_tensor(seq, n->in[2])->place : none;
		op->e = n->in[3] ? seq_tensor(seq, n->in[3])->place : none;
		op->c = seq_tensor(seq, n->out)->place;
		if (i && n->matmul && n[-1].matmul && n[-1].level == n->level)
			op->flags = DRM_RKMM_OP_GROUPED;
		seq->info.programs += rkmm_plan_programs(n->plan);
		seq->info.predicted_ns += rkmm_plan_predicted_ns(n->plan);
		seq->info.derived += rkmm_plan_evidence(n->plan) == DRM_RKMM_DERIVED;
	}
	seq->info.ops = seq->num_nodes;
	seq->info.plans = seq->num_plans;
	return 0;
}

RKMM_PUBLIC int rkmm_seq_build(struct rkmm_seq *seq)
{
	uint64_t io, shared = 0, temporary = 0;
	int ret = check_all(seq);

	if (ret)
		return ret;
	io = place_io(seq);
	ret = place_inner(seq, false, &shared);
	if (!ret)
		ret = place_inner(seq, true, &temporary);
	if (!ret)
		ret = make_buffers(seq, io, shared);
	if (!ret)
		ret = make_ops(seq);
	if (ret)
		return ret;
	seq->info.io_bytes = io;
	seq->info.shared_bytes = shared + temporary;
	seq->info.temporary_bytes = temporary;
	seq->built = true;
	return 0;
}

RKMM_PUBLIC int rkmm_seq_info(struct rkmm_seq *seq, struct rkmm_seq_info *info)
{
	if (!seq->built)
		return seq_fail(seq, -EINVAL, "it is not built");
	*info = seq->info;
	return 0;
}

RKMM_PUBLIC int rkmm_seq_submit(struct rkmm_seq *seq, const struct rkmm_submit_options *options,
				uint64_t *seqno)
{
	int ret;

	if (!seq->built)
		return seq_fail(seq, -EINVAL, "it is not built");
	ret = rkmm_submit(seq->dev, seq->ops, seq->num_nodes, options, seqno);
	return ret ? seq_fail(seq, ret, "%s", rkmm_last_error()) : 0;
}

RKMM_PUBLIC int rkmm_seq_run(struct rkmm_seq *seq)
{
	int ret;

	if (!seq->built)
		return seq_fail(seq, -EINVAL, "it is not built");
	ret = rkmm_submit_wait(seq->dev, seq->ops, seq->num_nodes, NULL);
	return ret ? seq_fail(seq, ret, "%s", rkmm_last_error()) : 0;
}

/* ---- data ---- */

/* An input or an output; NULL with a sentence. */
static struct seq_tensor *find(struct rkmm_seq *seq, const char *what, int tensor, bool output)
{
	struct seq_tensor *t;

	if (!seq->built) {
		seq_fail(seq, -EINVAL, "%s: it is not built", what);
		return NULL;
	}
	if (tensor <= 0 || (uint32_t)tensor > seq->num_tensors) {
		seq_fail(seq, -EINVAL, "%s: there is no tensor %d", what, tensor);
		return NULL;
	}
	t = seq_tensor(seq, tensor);
	if (!t->weights && (output ? t->output : t->node < 0))
		return t;
	seq_fail(seq, -EINVAL, "%s: tensor %d is no %s", what, tensor, output ? "output" : "input");
	return NULL;
}

static int check_shape(struct rkmm_seq *seq, const char *what, const struct seq_tensor *t,
		       uint32_t rows, uint32_t cols, size_t ld, uint32_t flags)
{
	if (flags & RKMM_SEQ_F32 && t->element != DRM_RKMM_F16)
		return seq_fail(seq, -EINVAL, "%s: only fp16 is converted", what);
	if (rows > 1 && (ld < cols || ld > SIZE_MAX / 8 / rows))
		return seq_fail(seq, -EINVAL, "%s: ld %zu of %u columns", what, ld, cols);
	return 0;
}

static int pack(struct seq_tensor *t, uint8_t *dst, const void *src, size_t ld, uint32_t flags)
{
	const struct drm_rkmm_tensor *l = &t->layout;

	/* BS takes one int32 a channel, or one float. */
	if (l->bits == 32) {
		memset(dst, 0, l->size);
		if (t->element == DRM_RKMM_F16)
			rkmm_f16_to_f32(src, (void *)dst, t->cols);
		else
			memcpy(dst, src, 4ull * t->cols);
		return 0;
	}
	if (l->layout == DRM_RKMM_LAYOUT_WEIGHT)
		return rkmm_pack_b(l, dst, src, ld, t->rows, t->cols, flags & RKMM_B_TRANSPOSED);
	return rkmm_pack_a(l, dst, src, ld, t->rows, t->cols);
}

/* Rows of halves, one behind the other; NULL without memory. */
static uint16_t *to_halves(const float *src, size_t ld, uint32_t rows, uint32_t cols)
{
	uint16_t *halves = malloc((size_t)rows * cols * sizeof(*halves));
	uint32_t r;

	for (r = 0; halves && r < rows; r++)
		rkmm_f32_to_f16(src + r * ld, halves + (size_t)r * cols, cols);
	return halves;
}

RKMM_PUBLIC int rkmm_seq_write(struct rkmm_seq *seq, int tensor, const void *src, size_t ld,
			       uint32_t flags)
{
	uint16_t *halves = NULL;
	struct seq_tensor *t = find(seq, "write", tensor, false);
	uint32_t rows, cols;
	uint64_t offset;
	int ret, end;

	if (!t)
		return -EINVAL;
	if (flags & ~(RKMM_SEQ_F32 | RKMM_B_TRANSPOSED) ||
	    (flags & RKMM_B_TRANSPOSED && t->kind != SEQ_B))
		return seq_fail(seq, -EINVAL, "write: flags 0x%x", flags);
	rows = flags & RKMM_B_TRANSPOSED ? t->cols : t->rows;
	cols = flags & RKMM_B_TRANSPOSED ? t->rows : t->cols;
	if (rows == 1)
		ld = cols;
	ret = check_shape(seq, "write", t, rows, cols, ld, flags);
	if (ret)
		return ret;
	if (flags & RKMM_SEQ_F32) {
		halves = to_halves(src, ld, rows, cols);
		if (!halves)
			return seq_fail(seq, -ENOMEM, "write: out of memory");
		src = halves;
		ld = cols;
	}
	offset = t->place.offset;
	ret = rkmm_buffer_begin(seq->io, offset, t->layout.size, RKMM_WRITE, RKMM_FOREVER);
	if (!ret) {
		ret = pack(t, seq->map + offset, src, ld, flags);
		end = rkmm_buffer_end(seq->io, offset, t->layout.size, RKMM_WRITE);
		ret = ret ? ret : end;
	}
	free(halves);
	return ret ? seq_fail(seq, ret, "write: %s", rkmm_last_error()) : 0;
}

static int gather(const struct seq_tensor *t, const void *src, void *dst, size_t ld)
{
	if (rkmm_plan_flags(t->plan) & DRM_RKMM_PLAN_HOST_FINISH)
		return rkmm_finish_c(t->plan, src, dst, ld, t->rows);
	return rkmm_unpack_c(&t->layout, src, dst, ld, t->rows, t->cols);
}

RKMM_PUBLIC int rkmm_seq_read(struct rkmm_seq *seq, int tensor, void *dst, size_t ld,
			      uint32_t flags)
{
	uint16_t *halves = NULL;
	struct seq_tensor *t = find(seq, "read", tensor, true);
	uint64_t offset;
	int ret, end;
	uint32_t r;

	if (!t)
		return -EINVAL;
	if (flags & ~RKMM_SEQ_F32)
		return seq_fail(seq, -EINVAL, "read: flags 0x%x", flags);
	if (t->rows == 1)
		ld = t->cols;
	ret = check_shape(seq, "read", t, t->rows, t->cols, ld, flags);
	if (ret)
		return ret;
	if (flags & RKMM_SEQ_F32) {
		halves = malloc((size_t)t->rows * t->cols * sizeof(*halves));
		if (!halves)
			return seq_fail(seq, -ENOMEM, "read: out of memory");
	}
	offset = t->place.offset;
	ret = rkmm_buffer_begin(seq->io, offset, t->layout.size, RKMM_READ, RKMM_FOREVER);
	if (!ret) {
		ret = gather(t, seq->map + offset, halves ? (void *)halves : dst,
			     halves ? t->cols : ld);
		end = rkmm_buffer_end(seq->io, offset, t->layout.size, RKMM_READ);
		ret = ret ? ret : end;
	}
	for (r = 0; !ret && halves && r < t->rows; r++)
		rkmm_f16_to_f32(halves + (size_t)r * t->cols, (float *)dst + r * ld, t->cols);
	free(halves);
	return ret ? seq_fail(seq, ret, "read: %s", rkmm_last_error()) : 0;
}
