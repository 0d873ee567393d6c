// SPDX-License-Identifier: MIT
/* Attention of many heads: each a branch of one sequence. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/compute/seq.h"

#define F16_LARGEST	65504.0f

/**
 * struct rkmm_attention - see rkmm_attention_create()
 * @desc: with the defaults filled in
 * @seq: owned
 * @mask: tensor, or 0
 * @tensors: of the heads: queries and results, then keys and values
 */
struct rkmm_attention {
	struct rkmm_attention_desc desc;
	struct rkmm_seq *seq;
	int mask;
	int tensors[];
};

static _Thread_local char create_error[512];

static int fail(int err, const char *text)
{
	snprintf(create_error, sizeof(create_error), "attention: %s", text);
	return err;
}

static int *query(struct rkmm_attention *att, uint32_t head)
{
	return &att->tensors[head];
}

static int *result(struct rkmm_attention *att, uint32_t head)
{
	return &att->tensors[att->desc.heads + head];
}

static int *key(struct rkmm_attention *att, uint32_t head)
{
	return &att->tensors[2 * att->desc.heads + head];
}

static int *value(struct rkmm_attention *att, uint32_t head)
{
	return &att->tensors[2 * att->desc.heads + att->desc.kv_heads + head];
}

static int describe(struct rkmm_attention *att)
{
	const struct rkmm_attention_desc *d = &att->desc;
	struct rkmm_seq *seq = att->seq;
	uint32_t h, kv;

	if (d->flags & DRM_RKMM_MASK)
		att->mask = rkmm_seq_input(seq, DRM_RKMM_F16, d->m, d->t);
	for (h = 0; h < d->kv_heads; h++) {
		*key(att, h) = rkmm_seq_input_b(seq, DRM_RKMM_F16, d->d, d->t);
		*value(att, h) = rkmm_seq_input_b(seq, DRM_RKMM_F16, d->t, d->dv);
	}
	for (h = 0; h < d->heads; h++) {
		kv = h / (d->heads / d->kv_heads);
		*query(att, h) = rkmm_seq_input(seq, DRM_RKMM_F16, d->m, d->d);
		*result(att, h) = rkmm_seq_attention(seq, *query(att, h), *key(att, kv),
						     *value(att, kv), att->mask, d->scale,
						     d->flags & DRM_RKMM_CAUSAL);
		rkmm_seq_output(seq, *result(att, h));
	}
	return rkmm_seq_build(seq);
}

static int check(struct rkmm_attention_desc *d)
{
	unsigned int i;

	for (i = 0; i < sizeof(d->reserved) / sizeof(d->reserved[0]); i++)
		if (d->reserved[i])
			return fail(-EINVAL, "a reserved field is not zero");
	d->dv = d->dv ? d->dv : d->d;
	d->heads = d->heads ? d->heads : 1;
	d->kv_heads = d->kv_heads ? d->kv_heads : d->heads;
	if (!d->m || !d->t || !d->d)
		return fail(-EINVAL, "a size is zero");
	/* three operations a head */
	if (d->heads > DRM_RKMM_MAX_OPS / 3)
		return fail(-EINVAL, "too many heads");
	if (d->kv_heads > d->heads || d->heads % d->kv_heads)
		return fail(-EINVAL, "heads is no multiple of kv_heads");
	if (d->flags & ~(uint32_t)(DRM_RKMM_CAUSAL | DRM_RKMM_MASK))
		return fail(-EINVAL, "unknown flags");
	if (!(d->scale >= 0))
		return fail(-EINVAL, "the scale is not positive");
	if (d->scale == 0)
		d->scale = (float)(1 / sqrt(d->d));
	return 0;
}

RKMM_PUBLIC int rkmm_attention_create(struct rkmm_device *dev,
				      const struct rkmm_attention_desc *desc,
				      struct rkmm_attention **out)
{
	struct rkmm_attention_desc d = *desc;
	struct rkmm_attention *att;
	int ret = check(&d);

	*out = NULL;
	if (ret)
		return ret;
	att = calloc(1, sizeof(*att) + 2 * (d.heads + d.kv_heads) * sizeof(att->tensors[0]));
	if (!att)
		return fail(-ENOMEM, "out of memory");
	att->desc = d;
	ret = rkmm_seq_create(dev, &att->seq);
	if (ret) {
		fail(ret, "out of memory");
	} else {
		ret = describe(att);
		if (ret)
			fail(ret, rkmm_seq_error(att->seq));
	}
	if (ret) {
		rkmm_attention_destroy(att);
		return ret;
	}
	*out = att;
	return 0;
}

RKMM_PUBLIC void rkmm_attention_destroy(struct rkmm_attention *att)
{
	if (!att)
		return;
	rkmm_seq_destroy(att->seq);
	free(att);
}

RKMM_PUBLIC struct rkmm_seq *rkmm_attention_seq(struct rkmm_attention *att)
{
	return att->seq;
}

RKMM_PUBLIC const char *rkmm_attention_error(const struct rkmm_attention *att)
{
	return att ? rkmm_seq_error(att->seq) : create_error;
}

/*
 * softmax adds the mask before the scale. What is out of fp16 then, minus infinity too,
 * becomes its largest number: an infinity less an infinity would be none.
 */
static int write_mask(struct rkmm_attention *att, const void *mask, size_t ldm, uint32_t flags)
{
	const uint32_t m = att->desc.m, t = att->desc.t;
	float *scaled;
	uint32_t r, c;
	int ret;

	if (!mask != !(att->desc.flags & DRM_RKMM_MASK) || (mask && m > 1 && ldm < t))
		return seq_fail(att->seq, -EINVAL, "mask: not as it was described");
	if (!mask)
		return 0;
	scaled = malloc((size_t)m * t * sizeof(*scaled));
	if (!scaled)
		return seq_fail(att->seq, -ENOMEM, "mask: out of memory");
	for (r = 0; r < m; r++) {
		float *row = scaled + (size_t)r * t;

		if (flags & RKMM_SEQ_F32)
			memcpy(row, (const float *)mask + r * ldm, t * sizeof(*row));
		else
			rkmm_f16_to_f32((const uint16_t *)mask + r * ldm, row, t);
		for (c = 0; c < t; c++)
			row[c] = fmaxf(-F16_LARGEST, fminf(F16_LARGEST,
							   row[c] / att->desc.scale));
	}
	ret = rkmm_seq_write(att->seq, att->mask, scaled, t, RKMM_SEQ_F32);
	free(scaled);
	return ret;
}

static uint8_t *matrix_of(const struct rkmm_heads *all, uint32_t head, uint32_t flags)
{
	return (uint8_t *)all->data + head * all->stride * (flags & RKMM_SEQ_F32 ? 4 : 2);
}

RKMM_PUBLIC int rkmm_attention_run(struct rkmm_attention *att, const struct rkmm_heads *q,
				   const struct rkmm_heads *k, const struct rkmm_heads *v,
				   const void *mask, size_t ldm, const struct rkmm_heads *out,
				   uint32_t flags)
{
	struct rkmm_seq *seq = att->seq;
	uint32_t h;
	int ret;

	if (flags & ~RKMM_SEQ_F32)
		return seq_fail(seq, -EINVAL, "attention: flags 0x%x", flags);
	ret = write_mask(att, mask, ldm, flags);
	for (h = 0; !ret && h < att->desc.heads; h++)
		ret = rkmm_seq_write(seq, *query(att, h), matrix_of(q, h, flags), q->ld, flags);
	for (h = 0; !ret && h < att->desc.kv_heads; h++) {
		ret = rkmm_seq_write(seq, *key(att, h), matrix_of(k, h, flags), k->ld,
				     flags | RKMM_B_TRANSPOSED);
		if (!ret)
			ret = rkmm_seq_write(seq, *value(att, h), matrix_of(v, h, flags), v->ld,
					     flags);
	}
	if (!ret)
		ret = rkmm_seq_run(seq);
	for (h = 0; !ret && h < att->desc.heads; h++)
		ret = rkmm_seq_read(seq, *result(att, h), matrix_of(out, h, flags), out->ld,
				    flags);
	return ret;
}
