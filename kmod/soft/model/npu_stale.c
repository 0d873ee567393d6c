// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a core keeps by address from one kick to the next (hw 03 S2, M3, M4).
 *
 * Measured is: separate submits whose activation lives in rotating buffers are
 * wrong, worse the deeper the rotation; one fixed buffer is right; inside one
 * chain distinct buffers are right; at M=1 the caller's own buffer is wrong; and
 * so is the caller's own output buffer with several cores. How the chip comes to
 * that nobody knows. This is a rule that has all of these effects and no chance
 * in it:
 *
 * - The first feature of a kick leaves its first lines behind, by buffer. A kick
 *   in the same buffer as the kick before finds memory. A kick that comes back to
 *   a buffer after others finds the lines left there: two for each buffer in
 *   between.
 * - A feature of one row in a buffer that is not the one of the kick before, and
 *   that is not held, has the first line of the kick before.
 * - A kick that was started while another core ran, and whose output lies in
 *   another buffer than that of the last such kick, writes zeros for its first
 *   lines.
 *
 * What a buffer is, npu_env.buffer says.
 */
#include "npu_core.h"

#define LINES_PER_BUFFER	2u
#define OUTPUT_LINES		4u

static u32 buffer_of(const struct npu_core *core, u32 addr)
{
	return core->env->buffer ? core->env->buffer(core->env->ctx, addr) : addr;
}

void npu_stale_forget(struct npu_core *core)
{
	memset(&core->stale, 0, sizeof(core->stale));
}

void npu_stale_kick(struct npu_core *core)
{
	struct npu_stale *s = &core->stale;

	s->fill = NULL;
	s->feature_seen = false;
	s->output_seen = false;
	s->served.bytes = 0;
	s->lost_bytes = 0;
}

static struct npu_held *last_of(struct npu_stale *s)
{
	u32 i;

	for (i = 0; i < STALE_BUFFERS; i++)
		if (s->held[i].kick && s->held[i].kick == s->kick)
			return &s->held[i];
	return NULL;
}

static struct npu_held *find(struct npu_stale *s, u32 buffer)
{
	u32 i;

	for (i = 0; i < STALE_BUFFERS; i++)
		if (s->held[i].kick && s->held[i].buffer == buffer)
			return &s->held[i];
	return NULL;
}

static struct npu_held *oldest(struct npu_stale *s)
{
	struct npu_held *h = &s->held[0];
	u32 i;

	for (i = 1; i < STALE_BUFFERS; i++)
		if (s->held[i].kick < h->kick)
			h = &s->held[i];
	return h;
}

/* Buffers used since @h was */
static u32 depth(const struct npu_stale *s, const struct npu_held *h)
{
	u32 i, n = 0;

	for (i = 0; i < STALE_BUFFERS; i++)
		n += s->held[i].kick > h->kick;
	return n;
}

static void serve(struct npu_core *core, const struct npu_held *from, u32 addr, u32 lines)
{
	struct npu_served *served = &core->stale.served;

	served->addr = addr;
	served->bytes = npu_min(lines * STALE_LINE, STALE_BYTES);
	served->atoms = from->atoms;
	memcpy(served->data, from->data, sizeof(served->data));
	core->report->stale_kicks = 1;
}

void npu_stale_feature(struct npu_core *core, const struct npu_conv *t)
{
	struct npu_stale *s = &core->stale;
	struct npu_held *last, *h;
	u32 buffer;

	if (!(core->quirks & NPU_QUIRK_FEATURE_CACHE) || s->feature_seen)
		return;
	s->feature_seen = true;
	buffer = buffer_of(core, t->a);
	last = last_of(s);
	h = find(s, buffer);
	if (h && h != last)
		serve(core, h, h->addr, depth(s, h) * LINES_PER_BUFFER);
	else if (!h && last && t->rows == 1)
		serve(core, last, t->a, 1);

	if (!h)
		h = oldest(s);
	h->kick = ++s->kick;
	h->buffer = buffer;
	h->addr = t->a;
	h->atoms = 0;
	s->fill = h;
}

/* What memory has in the first lines, noted once */
static void note(struct npu_held *h, u32 addr, const u8 *data, u32 len)
{
	u32 at, atom;

	for (at = 0; at + ATOM <= len; at += ATOM) {
		u32 off = addr + at - h->addr;

		atom = off / ATOM;
		if (off >= STALE_BYTES || off % ATOM || h->atoms >> atom & 1)
			continue;
		memcpy(h->data + off, data + at, ATOM);
		h->atoms |= 1ull << atom;
	}
}

void npu_stale_read(struct npu_core *core, u32 addr, u8 *data, u32 len)
{
	const struct npu_served *served = &core->stale.served;
	u32 at;

	if (core->stale.fill)
		note(core->stale.fill, addr, data, len);
	if (!served->bytes)
		return;
	for (at = 0; at < len; at++) {
		u32 off = addr + at - served->addr;

		if (off >= served->bytes) {
			/* Outside, and so is all up to the range's start. */
			at += npu_min(len - at, 0u - off) - 1;
			continue;
		}
		if (served->atoms >> (off / ATOM) & 1)
			data[at] = served->data[off];
	}
}

void npu_stale_output(struct npu_core *core, u32 addr, u8 *data, u32 len)
{
	struct npu_stale *s = &core->stale;
	u32 buffer, at;

	if (!(core->quirks & NPU_QUIRK_OUTPUT_MOVE) || !core->peers)
		return;
	if (!s->output_seen) {
		s->output_seen = true;
		buffer = buffer_of(core, addr);
		if (s->output_known && s->output != buffer) {
			s->lost_addr = addr;
			s->lost_bytes = OUTPUT_LINES * STALE_LINE;
			core->report->lost_kicks = 1;
		}
		s->output_known = true;
		s->output = buffer;
	}
	for (at = 0; s->lost_bytes && at < len; at++)
		if (addr + at - s->lost_addr < s->lost_bytes)
			data[at] = 0;
}
