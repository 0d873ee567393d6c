// SPDX-License-Identifier: GPL-2.0-only
#include "rkmm_step.h"
#include "prog/rkmm_pure.h"

/**
 * struct step - the operations taken in so far
 * @n: how many
 * @mode: of all that are not of any
 * @window: of all
 * @apart: matmuls that leave each other alone
 * @int8: lanes with an int8 matmul, as a mask
 * @int8_dpu: it begins with an int8 task of the DPU alone
 * @lanes_most: lanes that all of them allow
 * @lanes_own: of the only one
 * @bytes: sum of their bytes
 * @room: the same
 * @start_ns: most that a start costs, by the number of cores at work
 * @work: sum of their times, the same
 * @load: the same of each lane
 * @rows_ns: struct rkmm_link.rows_ns of the only one
 */
struct step {
	u32 n, mode, window;
	bool apart;
	u32 int8;
	bool int8_dpu;
	u32 lanes_most, lanes_own;
	u64 bytes, room;
	u32 start_ns[RKMM_LANES_MAX];
	u64 work[RKMM_LANES_MAX];
	u64 load[RKMM_LANES_MAX][RKMM_LANES_MAX];
	u64 rows_ns[RKMM_LANES_MAX];
};

static bool meet(const struct rkmm_reach *x, const struct rkmm_reach *y)
{
	return x->owner && x->owner == y->owner && x->start < y->end && y->start < x->end;
}

bool rkmm_link_conflict(const struct rkmm_link *x, const struct rkmm_link *y)
{
	u32 i;

	for (i = 0; i < RKMM_LINK_OPERANDS; i++)
		if (meet(&x->reach[i], &y->reach[RKMM_LINK_OUT]) ||
		    meet(&x->reach[RKMM_LINK_OUT], &y->reach[i]))
			return true;
	return false;
}

/* Bytes of @reach that no operation before @links[n] wrote: none, or all for simplicity */
static bool comes_from_outside(const struct rkmm_link *links, u32 n, const struct rkmm_reach *reach)
{
	u32 i;

	for (i = 0; i < n; i++) {
		const struct rkmm_reach *out = &links[i].reach[RKMM_LINK_OUT];

		if (out->owner == reach->owner && out->start <= reach->start &&
		    out->end >= reach->end)
			return false;
	}
	return true;
}

bool rkmm_step_once(const struct rkmm_link *links, u32 n)
{
	u32 i, k, j, last;

	for (i = 0; i < n; i++) {
		last = n > RKMM_STEP_MOST ? i + 1 : n;
		for (k = 0; k < RKMM_LINK_OPERANDS; k++) {
			const struct rkmm_reach *in = &links[i].reach[k];

			if (k == RKMM_LINK_OUT || !in->owner)
				continue;
			for (j = i; j < last; j++)
				if (meet(in, &links[j].reach[RKMM_LINK_OUT]) &&
				    (n > RKMM_STEP_MOST || comes_from_outside(links, i, in)))
					return true;
		}
	}
	return false;
}

static u32 lanes_used(const struct step *s)
{
	u32 l, used = 1;

	for (l = 1; l < RKMM_LANES_MAX; l++)
		if (s->load[l][0])
			used = l + 1;
	return used;
}

/* Until the last lane has ended, each operation where it was placed */
static u64 placed_ns(const struct step *s)
{
	u32 used = lanes_used(s), l;
	u64 most = 0;

	for (l = 0; l < used; l++)
		if (s->load[l][used - 1] > most)
			most = s->load[l][used - 1];
	return s->start_ns[used - 1] + most;
}

/* The same with the tasks of all operations shared out, as rkmm_image_measure() does */
static u64 shared_ns(const struct step *s)
{
	u64 least = ~0ull, ns;
	u32 l;

	for (l = 0; l < s->lanes_most && l < RKMM_LANES_MAX; l++) {
		if (s->n == 1 && s->lanes_own && l + 1 != s->lanes_own)
			continue;
		ns = s->start_ns[l] + s->work[l] / (l + 1);
		if (ns < least)
			least = ns;
	}
	return least;
}

static bool better_shared(const struct step *s)
{
	return s->apart && shared_ns(s) <= placed_ns(s);
}

/*
 * The same with the rows of the only operation shared out; @lanes is over how many. The law is
 * not so good that cores were to be taken for less than a quarter.
 */
static u64 rows_ns(const struct step *s, u32 *lanes)
{
	u64 least = s->n == 1 ? placed_ns(s) * 3 / 4 : 0;
	u32 l;

	*lanes = 0;
	for (l = 1; s->n == 1 && l < s->lanes_most && l < RKMM_LANES_MAX; l++) {
		if (!s->rows_ns[l] || s->start_ns[l] + s->rows_ns[l] >= least)
			continue;
		least = s->start_ns[l] + s->rows_ns[l];
		*lanes = l + 1;
	}
	return *lanes ? least : ~0ull;
}

static u64 step_ns(const struct step *s)
{
	u64 ns = better_shared(s) ? shared_ns(s) : placed_ns(s);
	u32 lanes;

	return rkmm_min(ns, rows_ns(s, &lanes));
}

/* Of equal ones that which is better to build upon */
static bool earlier(const struct step *x, const struct step *y)
{
	if (step_ns(x) != step_ns(y))
		return step_ns(x) < step_ns(y);
	return placed_ns(x) < placed_ns(y);
}

/* Take in what @more is, all of it on lane @lane. */
static void take(struct step *s, const struct step *more, u32 lane)
{
	u32 i;

	s->n += more->n;
	s->mode = s->mode ? s->mode : more->mode;
	s->apart &= more->apart;
	s->int8 |= more->int8 ? 1u << lane : 0;
	s->lanes_most = rkmm_min(s->lanes_most, more->lanes_most);
	s->bytes += more->bytes;
	s->room += more->room;
	for (i = 0; i < RKMM_LANES_MAX; i++) {
		s->start_ns[i] = rkmm_max(s->start_ns[i], more->start_ns[i]);
		s->work[i] += more->work[i];
		s->load[lane][i] += more->work[i];
	}
}

/* A reset between two modes has its place between kicks. */
static bool modes_differ(u32 x, u32 y)
{
	return x && y && x != y;
}

/* All on one lane */
static void collapse(struct step *s)
{
	u32 l, i;

	s->int8 = s->int8 ? 1 : 0;
	for (l = 0; l < RKMM_LANES_MAX; l++)
		for (i = 0; i < RKMM_LANES_MAX; i++)
			s->load[l][i] = l ? 0 : s->work[i];
}

static struct step step_of(const struct rkmm_step_caps *caps, const struct rkmm_link *link)
{
	struct step s = {
		.n = 1, .mode = link->mode, .apart = link->matmul, .lanes_own = link->lanes_own,
		.window = link->window,
		.lanes_most = rkmm_max(rkmm_min(caps->lanes, link->lanes_most), 1),
		.bytes = link->bytes, .room = link->room, .int8 = link->int8,
		.int8_dpu = caps->int8_chain && link->int8_dpu,
	};
	u32 i;

	for (i = 0; i < RKMM_LANES_MAX; i++) {
		s.start_ns[i] = link->start_ns[i];
		/* none is free, or its lane would count as unused */
		s.work[i] = link->ns[i] ? link->ns[i] : 1;
		s.load[0][i] = s.work[i];
		s.rows_ns[i] = link->rows_ns[i];
	}
	return s;
}

#define AHEAD	12u	/* operations that are looked at behind one */

/*
 * Whether what follows and does not depend on @i keeps the other cores as long as it takes: the
 * rows of such operations stay together, as side by side they need no joins.
 */
static bool others_wait(const struct rkmm_link *links, u32 i, u32 n, u32 lanes)
{
	u32 end = rkmm_min(n, i + AHEAD), k, j;
	u64 most = links[i].ns[0], ns = 0;
	/* what depends on each other is a chain, known by its first; @i begins the first one */
	u64 left[AHEAD];
	u8 chain[AHEAD] = {};

	for (k = i + 1; k < end; k++) {
		for (j = i; j < k && !rkmm_link_conflict(&links[j], &links[k]); j++)
			;
		chain[k - i] = j < k ? chain[j - i] : k - i;
		if (j == k)
			left[k - i] = most;
		if (!chain[k - i])
			continue;
		/* of a chain no more than @i takes runs beside it */
		j = chain[k - i];
		ns += rkmm_min(links[k].ns[0], left[j]);
		left[j] -= rkmm_min(links[k].ns[0], left[j]);
	}
	return lanes > 1 && ns >= (lanes - 1) * most;
}

/* The unit that begins with @first: an operation, a group, or what @caps leave of it */
static u32 unit_at(const struct rkmm_step_caps *caps, struct rkmm_link *links, u32 first, u32 n,
		   struct step *unit)
{
	struct step one;
	u32 i;

	*unit = step_of(caps, &links[first]);
	if (links[first].rows_ns[1] && others_wait(links, first, n, unit->lanes_most))
		for (i = 0; i < RKMM_LANES_MAX; i++)
			unit->rows_ns[i] = 0;
	links[first].lane = 0;
	links[first].shares = 0;
	links[first].after = false;
	for (i = first + 1; i < n && links[i].grouped; i++) {
		if (unit->bytes + links[i].bytes > caps->bytes ||
		    modes_differ(unit->mode, links[i].mode) || unit->window != links[i].window)
			break;
		one = step_of(caps, &links[i]);
		take(unit, &one, 0);
		links[i].lane = 0;
		links[i].shares = 0;
		links[i].after = false;
	}
	return i;
}

/* Lanes of the step from @first that operations from @unit on depend on, as a mask */
static u32 depends(struct rkmm_link *links, u32 first, u32 unit, u32 end)
{
	u32 i, k, lanes = 0;

	for (i = unit; i < end; i++) {
		for (k = first; k < unit; k++) {
			if (!rkmm_link_conflict(&links[k], &links[i]))
				continue;
			links[i].after = true;
			lanes |= 1u << links[k].lane;
		}
	}
	return lanes;
}

/* The step with @unit on the lane where it ends first; @lane is that */
static struct step join(const struct step *s, const struct step *unit, u32 lanes, u32 *lane)
{
	struct step best = *s, next;
	u32 used = lanes_used(s), l;

	*lane = 0;
	/* Several lanes before it: one takes all. */
	if (lanes & (lanes - 1)) {
		collapse(&best);
		take(&best, unit, 0);
		best.apart = false;
		return best;
	}
	for (l = 0; l < RKMM_LANES_MAX; l++) {
		next = *s;
		if (lanes ? lanes != 1u << l : l > used)
			continue;
		/* On a lane of its own it would begin a start. */
		if (!lanes && unit->int8_dpu && s->int8 && !(s->int8 >> l & 1))
			continue;
		take(&next, unit, l);
		if (lanes_used(&next) > next.lanes_most)
			continue;
		if (best.n == s->n || earlier(&next, &best)) {
			best = next;
			*lane = l;
		}
	}
	if (lanes)
		best.apart = false;
	return best;
}

static const char *refused(const struct rkmm_step_caps *caps, const struct step *s,
			   const struct step *unit, const struct step *next)
{
	if (s->n + unit->n > RKMM_STEP_MOST)
		return "join: many operations";
	if (s->bytes + unit->bytes > caps->bytes)
		return "join: bytes of programs";
	if (modes_differ(s->mode, unit->mode))
		return "join: another datapath mode";
	if (s->window != unit->window)
		return "join: another address window";
	if (s->room + unit->room > caps->room)
		return "join: operands to be staged";
	if (next->n == s->n)
		return "join: fewer lanes allowed";
	/* A join would cost a reset (hw 03 O14). */
	if (unit->int8_dpu && s->int8)
		return NULL;
	if (step_ns(next) > caps->ns)
		return "join: time of a start";
	if (step_ns(next) > step_ns(s) + step_ns(unit))
		return "join: more lanes end earlier";
	return NULL;
}

u32 rkmm_step_end(const struct rkmm_step_caps *caps, struct rkmm_link *links, u32 first, u32 n,
		  const char **why)
{
	u32 end, next, lanes, lane, shares, i, k;
	struct step s, unit, both;

	end = unit_at(caps, links, first, n, &s);
	*why = end < n && links[end].grouped ? "bytes of programs, mode, or window" : NULL;
	while (!*why && end < n) {
		next = unit_at(caps, links, end, n, &unit);
		if (s.n + unit.n > RKMM_STEP_MOST) {
			*why = refused(caps, &s, &unit, &s);
			break;
		}
		lanes = depends(links, first, end, next);
		both = join(&s, &unit, lanes, &lane);
		*why = refused(caps, &s, &unit, &both);
		if (*why)
			break;
		if (lanes & (lanes - 1))
			for (i = first; i < end; i++)
				links[i].lane = 0;
		for (i = end; i < next; i++)
			links[i].lane = lane;
		s = both;
		end = next;
	}
	if (better_shared(&s))
		for (k = first; k < end; k++)
			links[k].lane = 0;
	if (rows_ns(&s, &shares) < placed_ns(&s))
		links[first].shares = shares;
	if (!*why)
		*why = "end of the submission";
	return end;
}
