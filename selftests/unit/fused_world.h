/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Random graphs in which matmuls have epilogues, and the same graphs where each stage is an
 * operation of its own.
 */
#ifndef FUSED_WORLD_H
#define FUSED_WORLD_H

#include "step_world.h"
#include "kmod/prog/rkmm_epilogue.h"

#define ITEMS	(OPS * RKMM_EPILOGUE_MEMBERS)
#define SEEN	8u	/* tensors that are compared; in the others are results of stages */

/**
 * struct item - an operation as the user asks for it
 * @m: with addresses
 * @epi: NULL, or what follows the matmul
 * @d: operand of a stage
 * @e: another one
 * @consts: constants of @epi
 */
struct item {
	struct rkmm_member m;
	const struct rkmm_epilogue *epi;
	uint32_t d, e, consts;
};

struct list {
	uint32_t n;
	struct item item[ITEMS];
	struct rkmm_link links[ITEMS];
};

/**
 * struct part - a matmul with its stages, and what it is in parts
 * @s: all stages
 * @head: of these, those that no operation of its own can do: before int8 or to 4 bytes
 * @head_s: they
 * @epi: of all
 * @head_epi: of the head
 * @geom: tiling with all of them
 * @head_geom: tiling with the head
 * @alone: stages behind the head
 */
struct part {
	struct rkmm_stages s, head_s;
	uint32_t head;
	struct rkmm_epilogue epi, head_epi;
	struct rkmm_geom geom, head_geom;
	struct rkmm_opgeom alone[RKMM_STAGES];
};

static struct part *parts;
static struct list *fused, *split;

/* Stages in programs of matmuls, behind them, and those that are operations of their own */
static uint32_t inside, behind, compared;

static inline uint32_t f32_of(uint32_t i)
{
	/* 0.5, -0.75, 1.25, 3, 0.1, 6 */
	static const uint32_t v[] = {
		0x3f000000, 0xbf400000, 0x3fa00000, 0x40400000, 0x3dcccccd, 0x40c00000,
	};

	return v[i];
}

static inline struct rkmm_op *stage(struct part *p, enum rkmm_op_code code)
{
	p->s.op[p->s.n] = (struct rkmm_op){ .code = code };
	return &p->s.op[p->s.n++];
}

static inline bool has_operand(const struct rkmm_op *op)
{
	return op->code <= RKMM_OP_DIV && op->other != RKMM_OTHER_SCALAR;
}

static inline void add_half_stage(struct part *p, bool operand)
{
	enum rkmm_op_code code = rnd(RKMM_OP_RSQRT + 1);
	struct rkmm_op *op;

	/* those that go into the program, more often */
	if (!p->s.n && rnd(2))
		code = rnd(2) ? RKMM_OP_RELU : RKMM_OP_CLAMP;
	else if (operand && rnd(2))
		code = rnd(RKMM_OP_DIV);
	op = stage(p, code);
	if (code <= RKMM_OP_DIV) {
		op->other = rnd(2) ? RKMM_OTHER_TENSOR : rnd(3);
		if (!operand || code == RKMM_OP_DIV)
			op->other = RKMM_OTHER_SCALAR;
		if (op->other == RKMM_OTHER_CHANNEL)
			op->code = rnd(2) ? RKMM_OP_ADD : RKMM_OP_MUL;
		if (op->other == RKMM_OTHER_SCALAR)
			op->value = f32_of(rnd(6));
	} else if (code == RKMM_OP_CLAMP) {
		op->value = rnd(3) ? 0 : f32_of(1);
		op->value2 = f32_of(rnd(2) ? 0 : 4);
	} else if (code == RKMM_OP_LEAKY) {
		op->value = f32_of(4);
	}
}

static inline void add_byte_stage(struct part *p, const struct rkmm_matmul *mm, bool operand)
{
	enum rkmm_op_code code = rnd(RKMM_OP_RSQRT + 1);
	struct rkmm_op *op;

	if (!p->s.n && rnd(2))
		code = RKMM_OP_RELU;
	else if (operand && rnd(2))
		code = rnd(RKMM_OP_DIV);
	op = stage(p, code == RKMM_OP_DIV ? RKMM_OP_COPY : code);
	if (code < RKMM_OP_DIV && operand) {
		op->quant.shift = code == RKMM_OP_MUL ? 6 : 14;
		if (rnd(3))
			return;
		op->other = RKMM_OTHER_CHANNEL;
		op->code = RKMM_OP_MUL;
		op->quant = (struct rkmm_quant){ .mult = 77, .shift = 12 };
	} else if (code < RKMM_OP_DIV) {
		op->other = RKMM_OTHER_SCALAR;
		op->value = 5 + rnd(20);
		if (code == RKMM_OP_MUL)
			op->quant = (struct rkmm_quant){ .mult = 3, .shift = 5 };
	} else if (code == RKMM_OP_RELU) {
		op->quant.za = -mm->offset;
		op->quant.zo = mm->offset;
	} else if (code == RKMM_OP_CLAMP) {
		op->value = (uint32_t)-20;
		op->value2 = 50;
	} else if (code == RKMM_OP_LEAKY) {
		op->value = f32_of(0);
	} else if (code >= RKMM_OP_EXP) {
		op->scale = 0x3d23d70a;		/* 0.04 */
		op->out_scale = 0x3ca3d70a;	/* 0.02 */
	}
}

/* What no operation of its own does: on sums, or to 4 bytes */
static inline void add_head(struct part *p, struct rkmm_matmul *mm)
{
	if (rnd(2))
		stage(p, RKMM_OP_ADD)->other = RKMM_OTHER_CHANNEL;
	if (mm->types == RKMM_T_F16F32 && rnd(2)) {
		struct rkmm_op *op = stage(p, RKMM_OP_MUL);

		op->other = RKMM_OTHER_SCALAR;
		op->value = f32_of(2);
	}
	if (mm->types == RKMM_T_I8I8 && rnd(2)) {
		struct rkmm_op *op = stage(p, rnd(2) ? RKMM_OP_SILU : RKMM_OP_TANH);

		mm->mult = 0;
		mm->shift = 0;
		mm->offset = 0;
		op->scale = 0x3851b717;		/* 5e-5 */
		op->out_scale = 0x3d23d70a;
	} else if (mm->types == RKMM_T_I8I8) {
		stage(p, RKMM_OP_REQUANT);
	} else if (mm->types == RKMM_T_F16F32 && rnd(2)) {
		stage(p, rnd(2) ? RKMM_OP_EXP : RKMM_OP_RSQRT);
	} else {
		stage(p, RKMM_OP_RELU);
	}
	p->head = p->s.n;
}

static inline void make_stages(struct part *p, struct rkmm_matmul *mm)
{
	bool wide_c = mm->types == RKMM_T_F16F32 || mm->types == RKMM_T_I8I32;
	uint32_t n, i, operands = 0;

	p->s.n = 0;
	p->head = 0;
	if (wide_c || (mm->types == RKMM_T_I8I8 && !rnd(3)))
		add_head(p, mm);
	if (wide_c)
		return;
	for (i = 0; i < p->s.n; i++)
		operands += has_operand(&p->s.op[i]);
	n = p->s.n + rnd(RKMM_STAGES + 1 - p->s.n);
	while (p->s.n < n) {
		if (mm->types == RKMM_T_I8I8)
			add_byte_stage(p, mm, operands < RKMM_STAGE_OPERANDS);
		else
			add_half_stage(p, operands < RKMM_STAGE_OPERANDS);
		operands += has_operand(&p->s.op[p->s.n - 1]);
	}
}

/* A matmul with @s behind it, as PLAN_CREATE makes it */
static inline void cut(const struct rkmm_stages *s, struct rkmm_matmul mm,
		       struct rkmm_epilogue *epi, struct rkmm_geom *geom)
{
	*epi = (struct rkmm_epilogue){ .n = 0 };
	if (s->n)
		assert_int_equal(rkmm_epilogue_make(s, &mm, epi), RKMM_OK);
	assert_int_equal(rkmm_geometry(&rkmm_limits_rk3588, &mm, geom), RKMM_OK);
	if (s->n)
		assert_int_equal(rkmm_epilogue_bind(&rkmm_limits_rk3588, s, epi, geom), RKMM_OK);
	assert_true(epi->temp_bytes <= TEMP * ROOM && epi->const_bytes <= ROOM / 2);
}

static inline uint32_t alone_consts(uint32_t i, uint32_t k)
{
	return own(i, 0) + ROOM / 2 + k * (ROOM / 8);
}

/* Operand @slot of a stage: a vector of its own, or any tensor */
static inline uint32_t operand_at(uint32_t i, uint32_t slot, const struct rkmm_operand *o)
{
	assert_true(o->size <= ROOM / 2 || o->layout == RKMM_LAYOUT_CUBE);
	if (!o->size)
		return 0;
	return o->layout == RKMM_LAYOUT_CUBE ? tensor(rnd(SEEN)) : own(i, 2) + slot * (ROOM / 2);
}

static inline uint32_t other_than(uint32_t a, uint32_t b, uint32_t d, uint32_t e)
{
	uint32_t c;

	do
		c = tensor(rnd(SEEN));
	while (c == a || c == b || c == d || c == e);
	return c;
}

static inline struct item *add_item(struct list *l, const struct rkmm_member *m)
{
	l->item[l->n] = (struct item){ .m = *m };
	return &l->item[l->n++];
}

/* The stages behind the head one by one, by way of memory that nothing else needs */
static inline void add_parts(uint32_t i, const struct item *whole)
{
	const uint32_t turn[] = { own(i, 3), tensor(SEEN + rnd(TENSORS - SEEN)) };
	struct part *p = &parts[i];
	struct rkmm_member m = whole->m;
	struct item *it;
	uint32_t k, slot;

	m.geom = &p->head_geom;
	m.c = p->head < p->s.n ? turn[0] : whole->m.c;
	it = add_item(split, &m);
	if (p->head) {
		it->epi = &p->head_epi;
		it->d = whole->d;
		it->e = whole->e;
	}
	slot = p->head_epi.operand[0].size ? 1 : 0;
	for (k = p->head; k < p->s.n; k++) {
		struct rkmm_opgeom *g = &p->alone[k];
		struct rkmm_op op = p->s.op[k];

		op.m = graph->m;
		op.n = graph->n;
		op.precision = graph->int8 ? RKMM_PREC_I8 : RKMM_PREC_F16;
		assert_int_equal(rkmm_op_geometry(&rkmm_limits_rk3588, &op, g), RKMM_OK);
		assert_true(g->const_bytes <= ROOM / 8);
		m = (struct rkmm_member){
			.op = g, .rows = whole->m.rows, .count = 1,
			.a = turn[(k - p->head) % 2], .consts = alone_consts(i, k),
			.c = k + 1 < p->s.n ? turn[(k - p->head + 1) % 2] : whole->m.c,
		};
		if (g->b.size)
			m.b = slot++ ? whole->e : whole->d;
		m.weights = m.b;
		add_item(split, &m);
		compared++;
	}
}

static inline void add_matmul(uint32_t i)
{
	bool wide_c = (graph->m + 4) * (graph->n + 32) * 4 < ROOM && !rnd(4);
	struct rkmm_matmul mm = {
		.types = wide_c ? RKMM_T_F16F32 : RKMM_T_F16F16, .form = RKMM_FORM_CUBE,
		.m = graph->m, .k = graph->n, .n = graph->n, .lanes = 1 + rnd(3),
	};
	struct part *p = &parts[i];
	struct item *it;
	struct rkmm_member m;

	if (graph->int8) {
		mm.types = wide_c ? RKMM_T_I8I32 : RKMM_T_I8I8;
		if (mm.types == RKMM_T_I8I8) {
			mm.mult = 100;
			mm.shift = 17;
			mm.offset = (int)rnd(31) - 15;
		}
	}
	make_stages(p, &mm);
	cut(&p->s, mm, &p->epi, &p->geom);
	p->head_s = p->s;
	p->head_s.n = p->head;
	cut(&p->head_s, mm, &p->head_epi, &p->head_geom);
	inside += (uint32_t)__builtin_popcount(p->epi.fused);
	behind += p->epi.nops;

	m = rkmm_member_of(&p->geom, graph->m, tensor(rnd(SEEN)), own(i, 1), 0);
	m.weights = rnd(3) ? 1 : 2;
	if (p->s.n && !rnd(3))
		m.rows = 1 + rnd(graph->m);
	it = add_item(fused, &m);
	if (p->s.n)
		it->epi = &p->epi;
	it->d = operand_at(i, 0, &p->epi.operand[0]);
	it->e = operand_at(i, 1, &p->epi.operand[1]);
	it->consts = own(i, 0);
	it->m.c = other_than(m.a, m.b, it->d, it->e);
	add_parts(i, it);
}

/* What is no stage, or is on its own in both */
static inline void add_op(uint32_t i)
{
	static const enum rkmm_op_code codes[] = {
		RKMM_OP_ADD, RKMM_OP_MUL, RKMM_OP_RELU, RKMM_OP_TANH, RKMM_OP_SOFTMAX,
		RKMM_OP_RMSNORM, RKMM_OP_LAYERNORM,
	};
	struct rkmm_op op = {
		.code = codes[rnd(graph->int8 ? 3 : 7)], .m = graph->m, .n = graph->n,
		.precision = graph->int8 ? RKMM_PREC_I8 : RKMM_PREC_F16,
	};
	struct rkmm_opgeom *g = &graph->ops[i];
	struct rkmm_member m;

	if (graph->int8 && op.code != RKMM_OP_RELU)
		op.quant.shift = op.code == RKMM_OP_MUL ? 6 : 14;
	if (op.code == RKMM_OP_RMSNORM || op.code == RKMM_OP_LAYERNORM)
		op.value = 0x3727c5ac;
	assert_int_equal(rkmm_op_geometry(&rkmm_limits_rk3588, &op, g), RKMM_OK);
	assert_true(g->temp_bytes <= TEMP * ROOM && g->const_bytes <= ROOM);
	m = (struct rkmm_member){
		.op = g, .rows = graph->m, .count = 1, .a = tensor(rnd(SEEN)),
		.b = g->b.size ? tensor(rnd(SEEN)) : 0, .consts = own(i, 0),
	};
	m.c = other_than(m.a, m.b, 0, 0);
	m.weights = m.b;
	add_item(fused, &m);
	add_item(split, &m);
}

static inline bool ordered(const struct item *it)
{
	return it->m.op || (it->epi && it->epi->nops);
}

static inline void reach(struct rkmm_link *link, uint32_t which, uint32_t at)
{
	if (at)
		link->reach[which] = (struct rkmm_reach){
			.owner = data, .start = at, .end = at + ROOM / 2,
		};
	/* vectors are half a room each, all else is a room */
	if (at && !((at - D_BASE) % ROOM))
		link->reach[which].end = at + ROOM;
}

/* As the driver tells about it */
static inline void make_link(const struct item *it, struct rkmm_link *link)
{
	const struct rkmm_member *m = &it->m;
	uint64_t later = it->epi ? rkmm_epilogue_ns(it->epi) : 0;
	uint32_t i, each, most = 3;

	if (!m->op)
		most = ordered(it) || m->geom->lanes_most < m->geom->mm.lanes ?
		       m->geom->lanes_most : m->geom->mm.lanes;
	*link = (struct rkmm_link){
		.bytes = m->op ? rkmm_op_image_bytes(m->op) :
			 it->epi ? rkmm_epilogue_image_bytes(it->epi, m->geom) :
			 rkmm_image_bytes(m->geom),
		.lanes_own = ordered(it) ? 0 : rkmm_geom_lanes(m->geom, m->rows),
		.lanes_most = most, .matmul = !ordered(it), .int8 = !m->op && graph->int8,
		.int8_dpu = m->op && graph->int8,
	};
	for (i = 0; i < RKMM_LANES_MAX; i++)
		link->ns[i] = later + rkmm_member_work(&rkmm_limits_rk3588, m, i + 1,
						       &link->start_ns[i]);
	for (i = 1; ordered(it) && i < RKMM_LANES_MAX; i++) {
		each = rkmm_share_rows(m->rows, i + 1);
		if ((m->rows + each - 1) / each == i + 1)
			link->rows_ns[i] = rkmm_share_ns(&rkmm_limits_rk3588, m, later, each,
							 i + 1);
	}
	reach(link, 0, m->a);
	reach(link, 1, m->b);
	reach(link, 2, m->c);
	reach(link, 3, it->d);
	reach(link, 4, it->e);
}

/* A bias of sums, neither lost in them nor larger than all of them */
static inline void fill_bias(uint32_t i, const struct rkmm_operand *o)
{
	uint32_t k;

	if (o->bits != 32)
		return;
	for (k = 0; k < o->size / 4; k++) {
		uint32_t v = graph->int8 ? rnd(200000) - 100000 :
			     rnd(2) << 31 | (0x3d000000 + rnd(0x1000000));

		memcpy(data + (own(i, 2) - D_BASE) + 4 * k, &v, 4);
	}
}

static inline void make_graph(void)
{
	uint32_t i, k;

	graph->m = 1 + rnd(rnd(3) ? 80 : 300);
	graph->n = 32 * (1 + rnd(rnd(3) ? 5 : 20));
	graph->int8 = !rnd(3);
	graph->count = 0;
	fill_data(graph);
	fused->n = 0;
	split->n = 0;
	k = 2 + rnd(OPS - 1);
	for (i = 0; i < k; i++) {
		struct part *p = &parts[i];
		uint32_t s;

		if (!rnd(3)) {
			add_op(i);
			rkmm_op_fill(&graph->ops[i], (u16 *)(data + (own(i, 0) - D_BASE)));
			continue;
		}
		add_matmul(i);
		rkmm_epilogue_fill(&p->epi, data + (own(i, 0) - D_BASE));
		for (s = p->head; s < p->s.n; s++)
			rkmm_op_fill(&p->alone[s],
				     (u16 *)(data + (alone_consts(i, s) - D_BASE)));
		fill_bias(i, &p->epi.operand[0]);
	}
	for (i = 0; i < fused->n; i++)
		make_link(&fused->item[i], &fused->links[i]);
	for (i = 0; i < split->n; i++)
		make_link(&split->item[i], &split->links[i]);
}

#endif
