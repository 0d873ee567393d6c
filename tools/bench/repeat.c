// SPDX-License-Identifier: MIT
/* Several products with one B: submission by submission, joined, or counted. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define ALIGN	4096u

static uint64_t room(const struct drm_rkmm_tensor *t)
{
	return (t->size + ALIGN - 1) / ALIGN * ALIGN;
}

struct repeat *repeat_new(struct rkmm_device *dev, const struct arm *arm, uint32_t cores,
			  const struct rkmm_plan *plan, const struct rkmm_weights *weights)
{
	uint64_t a_room = room(rkmm_plan_a(plan)), c_room = room(rkmm_plan_c(plan));
	struct repeat *r = allocate(1, sizeof(*r));
	void *ptr;
	uint32_t i;

	*r = (struct repeat) { .dev = dev, .arm = arm, .cores = cores, .plan = plan };
	need(rkmm_buffer_create(dev, arm->times * a_room, &r->a));
	need(rkmm_buffer_create(dev, arm->times * c_room, &r->c));
	need(rkmm_buffer_map(r->a, &ptr));
	r->a_ptr = ptr;
	need(rkmm_buffer_map(r->c, &ptr));
	r->c_ptr = ptr;
	r->ops = allocate(arm->times, sizeof(*r->ops));
	for (i = 0; i < arm->times; i++)
		r->ops[i] = (struct rkmm_op) {
			.plan = plan,
			.flags = i && arm->how == TIMES_GROUP ? DRM_RKMM_OP_GROUPED : 0,
			.a = { .buf = r->a, .offset = i * a_room },
			.b = { .buf = rkmm_weights_buffer(weights) },
			.c = { .buf = r->c, .offset = i * c_room },
		};
	if (arm->how == TIMES_BATCH) {
		r->ops->count = arm->times;
		r->ops->a_stride = a_room;
		r->ops->c_stride = c_room;
	}
	return r;
}

void repeat_load(struct repeat *r, const void *a)
{
	const struct drm_rkmm_tensor *t = rkmm_plan_a(r->plan);
	uint64_t c_bytes = r->arm->times * room(rkmm_plan_c(r->plan));
	uint32_t i;

	for (i = 0; i < r->arm->times; i++)
		memcpy(r->a_ptr + i * room(t), a, t->size);
	memset(r->c_ptr, 0x55, c_bytes);
	need(rkmm_buffer_end(r->a, 0, r->arm->times * room(t), RKMM_WRITE));
	need(rkmm_buffer_end(r->c, 0, c_bytes, RKMM_WRITE));
}

void repeat_run(struct repeat *r)
{
	const struct rkmm_submit_options options = { .cores = r->cores };
	uint64_t seqno = 0;
	uint32_t i;

	switch (r->arm->how) {
	case TIMES_SINGLE:
		for (i = 0; i < r->arm->times; i++)
			need(rkmm_submit(r->dev, &r->ops[i], 1, &options, &seqno));
		need(rkmm_wait(r->dev, seqno, RKMM_FOREVER));
		break;
	case TIMES_GROUP:
		need(rkmm_submit_wait(r->dev, r->ops, r->arm->times, &options));
		break;
	default:
		need(rkmm_submit_wait(r->dev, r->ops, 1, &options));
		break;
	}
}

void repeat_read(struct repeat *r, uint32_t i, void *c, const struct shape *shape)
{
	const struct drm_rkmm_tensor *t = rkmm_plan_c(r->plan);
	uint64_t at = i * room(t);

	need(rkmm_buffer_begin(r->c, at, t->size, RKMM_READ, RKMM_FOREVER));
	need(rkmm_finish_c(r->plan, r->c_ptr + at, c, shape->n, shape->m));
}

void repeat_free(struct repeat *r)
{
	if (!r)
		return;
	rkmm_buffer_destroy(r->a);
	rkmm_buffer_destroy(r->c);
	free(r->ops);
	free(r);
}
