// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which stages of an epilogue the matmul's own DPU does.
 *
 * BS adds, multiplies and cuts off below 0; BN is the prescale of a lookup; the output
 * conversion is the requantisation (hw 04 §1.1, §4). Results of 4 bytes cannot be
 * read back (hw 03 O5), so what follows them is in the program or nowhere.
 */
#include "rkmm_epilogue.h"
#include "rkmm_op_build.h"

/**
 * struct fusion - the way through the stages
 * @e: what is found
 * @mm: the matmul
 * @open: stages may still go into the program
 * @wide: what arrives has 4 bytes: sums, or an fp32 result
 * @requant: the list says where sums become int8
 */
struct fusion {
	struct rkmm_epilogue *e;
	struct rkmm_matmul *mm;
	bool open, wide, requant;
};

static bool is_curve(const struct rkmm_op *op)
{
	return op->code >= RKMM_OP_EXP && op->code <= RKMM_OP_RSQRT;
}

static bool is_binary(const struct rkmm_op *op)
{
	return op->code <= RKMM_OP_DIV;
}

static bool is_float(const struct fusion *f)
{
	return rkmm_type_facts[f->mm->types].in == RKMM_PREC_F16;
}

static void weaken(struct fusion *f, enum rkmm_evidence evidence)
{
	if (evidence < f->e->evidence) {
		f->e->evidence = evidence;
		f->e->weakest = f->e->refused;
	}
}

static bool no_quant(const struct rkmm_quant *q)
{
	return !(q->za | q->zb | q->zo) && !(q->sb | q->sb_shift | q->mult | q->shift);
}

/* An addition in BS: a number, or one of 32 bits a column by BRDMA (hw 02 §8) */
static bool fuse_sum(struct fusion *f, const struct rkmm_op *op)
{
	struct rkmm_stage *bs = &f->e->stages.bs;
	u32 v = op->value;

	/* BS adds first. */
	if (bs->use || !no_quant(&op->quant) || op->other == RKMM_OTHER_TENSOR)
		return false;
	if (op->other == RKMM_OTHER_CHANNEL) {
		if (op->code != RKMM_OP_ADD || v)
			return false;
		bs->use = RKMM_STAGE_ALU | RKMM_STAGE_TABLE;
		/* boards add a bias to int8 convolutions; behind it nothing else was seen */
		weaken(f, f->mm->types == RKMM_T_I8I8 ? RKMM_EVIDENCE_CAPTURED :
			  RKMM_EVIDENCE_DERIVED);
		return true;
	}
	if (is_float(f) && !rkmm_f32_finite(v))
		return false;
	if (op->code == RKMM_OP_SUB) {
		/* no int32 is the negative of the smallest one */
		if (!is_float(f) && v == 0x80000000)
			return false;
		v = is_float(f) ? v ^ 0x80000000 : 0 - v;
	}
	bs->use = RKMM_STAGE_ALU;
	bs->alu = v;
	weaken(f, RKMM_EVIDENCE_DERIVED);
	return true;
}

static bool fuse_product(struct fusion *f, const struct rkmm_op *op)
{
	struct rkmm_stage *bs = &f->e->stages.bs;

	if (!is_float(f) || op->other != RKMM_OTHER_SCALAR || !rkmm_f32_finite(op->value) ||
	    bs->use & (RKMM_STAGE_MUL | RKMM_STAGE_RELU) || !no_quant(&op->quant))
		return false;
	bs->mul = rkmm_num_f16(rkmm_f32_num(op->value));
	if ((bs->mul & 0x7fff) >= 0x7c00)
		return false;
	bs->use |= RKMM_STAGE_MUL;
	weaken(f, RKMM_EVIDENCE_DERIVED);
	return true;
}

/*
 * Of an int8 result the program does before its last addition what an operation would
 * do behind it: relu at the zero point.
 */
static bool at_zero_point(const struct fusion *f, const struct rkmm_quant *q)
{
	return q->za == -f->mm->offset && q->zo == f->mm->offset && q->mult <= 1 && !q->shift &&
	       !(q->zb | (s32)q->sb | (s32)q->sb_shift);
}

/* A relu, and a clamp between 0 and a number: boards do both in convolutions (hw 04 §4). */
static bool fuse_relu(struct fusion *f, const struct rkmm_op *op)
{
	struct rkmm_stage *bs = &f->e->stages.bs;
	bool sums = f->wide || is_float(f);

	if (bs->use & RKMM_STAGE_RELU)
		return false;
	if (sums ? !no_quant(&op->quant) : !at_zero_point(f, &op->quant))
		return false;
	if (op->code == RKMM_OP_RELU) {
		if (op->value | op->value2)
			return false;
		bs->use |= RKMM_STAGE_RELU;
	} else {
		/* the upper bound of an int8 result is none of a sum */
		if (!sums || op->value || op->value2 >> 31 || !op->value2 ||
		    (is_float(f) && !rkmm_f32_finite(op->value2)))
			return false;
		bs->use |= RKMM_STAGE_RELU | RKMM_STAGE_CLAMP;
		bs->cmp = op->value2;
	}
	weaken(f, rkmm_type_facts[f->mm->types].out_bytes == 4 ? RKMM_EVIDENCE_DERIVED :
	       RKMM_EVIDENCE_CAPTURED);
	return true;
}

/* hw 04 §4: exp and rsqrt to fp32; int8 with silu and exp, with the same loader */
static bool fuse_curve(struct fusion *f, const struct rkmm_op *op)
{
	struct rkmm_dpu *d = &f->e->stages;
	enum rkmm_curve curve = rkmm_op_curve(op->code);

	if (op->value | op->value2 || (is_float(f) && !no_quant(&op->quant)))
		return false;
	if (is_float(f)) {
		if ((curve != RKMM_CURVE_EXP && curve != RKMM_CURVE_RSQRT) ||
		    op->scale | op->out_scale)
			return false;
		rkmm_dpu_curve(d, curve);
		weaken(f, RKMM_EVIDENCE_CAPTURED);
		return true;
	}
	if (f->mm->types != RKMM_T_I8I8 ||
	    op->quant.mult | op->quant.shift | op->quant.sb | op->quant.sb_shift ||
	    op->quant.zb || rkmm_dpu_curve_int(d, curve, op) != RKMM_OK)
		return false;
	weaken(f, curve == RKMM_CURVE_EXP || curve == RKMM_CURVE_SILU ? RKMM_EVIDENCE_CAPTURED :
	       RKMM_EVIDENCE_DERIVED);
	return true;
}

/* Whether @op went into the program; nothing has changed if not. */
static bool fuse(struct fusion *f, const struct rkmm_op *op)
{
	if ((op->scale | op->out_scale) && !is_curve(op))
		return false;
	switch (op->code) {
	case RKMM_OP_ADD:
	case RKMM_OP_SUB:
		return f->wide && fuse_sum(f, op);
	case RKMM_OP_MUL:
		return f->wide && fuse_product(f, op);
	case RKMM_OP_RELU:
	case RKMM_OP_CLAMP:
		return fuse_relu(f, op);
	default:
		return is_curve(op) && f->wide && fuse_curve(f, op);
	}
}

static const char *why_apart(const struct fusion *f, const struct rkmm_op *op)
{
	if (!f->open)
		return "behind a task of its own";
	if (is_binary(op) && op->other == RKMM_OTHER_TENSOR)
		return "a second tensor hangs in a matmul (hw 03 O15)";
	if (is_float(f) && is_curve(op))
		return "a table hangs before fp16 (hw 03 O16)";
	if (is_float(f))
		return "BS hangs before fp16 but for a relu (hw 03 O4)";
	return "behind the output conversion";
}

static enum rkmm_reason take(struct fusion *f, u32 i, const struct rkmm_op *op)
{
	struct rkmm_epilogue *e = f->e;

	e->refused = i;
	if (op->code > RKMM_OP_RSQRT && op->code != RKMM_OP_REQUANT)
		return RKMM_REASON_STAGE;
	if (!is_binary(op) && op->other)
		return RKMM_REASON_PARAM;
	if (op->code == RKMM_OP_REQUANT) {
		/* its numbers are those of the matmul */
		if (!f->requant || !f->wide || op->value | op->value2 | op->scale |
		    op->out_scale || !no_quant(&op->quant))
			return RKMM_REASON_STAGE;
		f->wide = false;
		f->open = false;
		e->fused |= 1u << i;
		e->why[i] = "the output conversion of the matmul";
		return RKMM_OK;
	}
	if (f->open && fuse(f, op)) {
		e->fused |= 1u << i;
		e->why[i] = is_curve(op) ? "the table of the matmul's DPU" :
					   "BS of the matmul's DPU";
		if (is_binary(op) && op->other == RKMM_OTHER_CHANNEL)
			e->slot[i] = 1;
		if (is_curve(op)) {
			f->open = false;
			/* nothing is behind fp32, and an int8 result is narrow */
			f->wide = is_float(f);
		}
		return RKMM_OK;
	}
	if (f->wide)
		return RKMM_REASON_STAGE;
	e->why[i] = why_apart(f, op);
	f->open = false;
	e->stage[e->nops++] = i;
	return RKMM_OK;
}

static bool has_code(const struct rkmm_stages *stages, enum rkmm_op_code code)
{
	u32 i;

	for (i = 0; i < stages->n; i++)
		if (stages->op[i].code == code)
			return true;
	return false;
}

enum rkmm_reason rkmm_epilogue_make(const struct rkmm_stages *stages, struct rkmm_matmul *mm,
				    struct rkmm_epilogue *e)
{
	struct fusion f = { .e = e, .mm = mm, .open = true };
	bool sums = mm->types == RKMM_T_I8I8 && !mm->mult;
	enum rkmm_reason reason;
	u32 i;

	*e = (struct rkmm_epilogue){
		.types = mm->types, .n = stages->n, .evidence = RKMM_EVIDENCE_CAPTURED,
	};
	rkmm_dpu_init(&e->stages, RKMM_PREC_I8, 1, 1);
	if ((u32)mm->types >= RKMM_T_COUNT || !stages->n || stages->n > RKMM_STAGES)
		return RKMM_REASON_TYPES;
	/* int16 behind int4: batches lie where no operation reads, the cube is from notes */
	if (mm->types == RKMM_T_I4I16)
		return RKMM_REASON_STAGE;
	f.requant = mm->types == RKMM_T_I8I8 && has_code(stages, RKMM_OP_REQUANT);
	f.wide = rkmm_type_facts[mm->types].out_bytes == 4 || f.requant || sums;
	if (sums && (f.requant || mm->shift | (u32)mm->offset))
		return RKMM_REASON_QUANT;
	for (i = 0; i < stages->n; i++) {
		reason = take(&f, i, &stages->op[i]);
		if (reason != RKMM_OK)
			return reason;
	}
	/* sums that nothing made int8 of */
	if (mm->types == RKMM_T_I8I8 && f.wide)
		return RKMM_REASON_QUANT;
	if (sums)
		mm->mult = 1;
	/* K in pieces is added up by the CPU, behind which nothing runs. */
	mm->free_slice = false;
	if (!e->nops)
		return RKMM_OK;
	/* Operations read cubes (hw 04 §1.5). */
	if (mm->form != RKMM_FORM_COUNT && mm->form != RKMM_FORM_CUBE)
		return RKMM_REASON_FORM;
	mm->form = RKMM_FORM_CUBE;
	/* They run in order behind the matmul: what is shared out over cores is rows. */
	mm->lanes = 1;
	return RKMM_OK;
}

/* An operation of the size of the matmul's result */
static struct rkmm_op sized(const struct rkmm_op *op, const struct rkmm_geom *geom)
{
	struct rkmm_op o = *op;

	o.precision = geom->types == RKMM_T_I8I8 ? RKMM_PREC_I8 : RKMM_PREC_F16;
	o.flags = 0;
	o.m = geom->mm.m;
	o.n = geom->mm.n;
	o.width = 0;
	o.kernel_w = 0;
	o.kernel_h = 0;
	o.stride_w = 0;
	o.stride_h = 0;
	return o;
}

static u64 whole_entries(u64 bytes)
{
	return (bytes + RKMM_ENTRY - 1) / RKMM_ENTRY * RKMM_ENTRY;
}

/* Two places that results take turns in, and behind them what operations work with */
static enum rkmm_reason place_memory(struct rkmm_epilogue *e, const struct rkmm_geom *geom)
{
	u64 turn[2] = { whole_entries(geom->c_bytes), 0 }, work = 0, bytes = 0;
	u32 i;

	for (i = 0; i < e->nops; i++) {
		e->consts[i] = (u32)bytes;
		bytes += whole_entries(e->op[i].const_bytes);
		if (e->op[i].temp_bytes > work)
			work = e->op[i].temp_bytes;
	}
	e->const_bytes = bytes;
	if (e->nops > 1)
		turn[1] = whole_entries(e->op[0].c.size);
	e->turn[0] = 0;
	e->turn[1] = (u32)turn[0];
	e->temp_bytes = e->nops ? turn[0] + turn[1] + whole_entries(work) : 0;
	if (e->temp_bytes > 0xffffffff || e->const_bytes > 0xffffffff)
		return RKMM_REASON_SIZE;
	e->work = (u32)(turn[0] + turn[1]);
	return RKMM_OK;
}

/* The next of D and E */
static bool give_slot(struct rkmm_epilogue *e, u32 stage, const struct rkmm_operand *operand)
{
	u32 i;

	for (i = 0; i < RKMM_STAGE_OPERANDS; i++) {
		if (e->operand[i].size)
			continue;
		e->operand[i] = *operand;
		e->slot[stage] = (u8)(i + 1);
		return true;
	}
	return false;
}

enum rkmm_reason rkmm_epilogue_bind(const struct rkmm_limits *limits,
				    const struct rkmm_stages *stages, struct rkmm_epilogue *e,
				    struct rkmm_geom *geom)
{
	struct rkmm_operand bias;
	enum rkmm_reason reason;
	u32 i;

	e->refused = 0;
	if (geom->slices > 1)
		return RKMM_REASON_SLICES;
	for (i = 0; i < e->n; i++) {
		if (!e->slot[i])
			continue;
		rkmm_describe_vector(geom->np, 32, &bias);
		e->refused = i;
		if (!give_slot(e, i, &bias))
			return RKMM_REASON_STAGE;
	}
	rkmm_geom_c(geom, &e->c);
	for (i = 0; i < e->nops; i++) {
		const struct rkmm_op op = sized(&stages->op[e->stage[i]], geom);
		struct rkmm_opgeom *g = &e->op[i];

		e->refused = e->stage[i];
		reason = rkmm_op_geometry(limits, &op, g);
		if (reason != RKMM_OK)
			return reason;
		if (g->b.size && !give_slot(e, e->stage[i], &g->b))
			return RKMM_REASON_STAGE;
		if (g->evidence < e->evidence) {
			e->evidence = g->evidence;
			e->weakest = e->stage[i];
		}
		e->c = g->c;
	}
	if (e->fused)
		geom->fused = &e->stages;
	return place_memory(e, geom);
}

u32 rkmm_epilogue_members(const struct rkmm_epilogue *e, const struct rkmm_member *matmul,
			  const struct rkmm_epilogue_place *place, struct rkmm_member *members)
{
	const u32 operand[] = { 0, place->d, place->e };
	u32 i, from = matmul->c;

	members[0] = *matmul;
	members[0].d = place->d;
	if (!e->nops)
		return 1;
	from = place->temp + e->turn[0];
	members[0].c = from;
	for (i = 0; i < e->nops; i++) {
		u32 to = i + 1 < e->nops ? place->temp + e->turn[(i + 1) % 2] : matmul->c;
		u32 b = operand[e->slot[e->stage[i]]];

		members[i + 1] = (struct rkmm_member){
			.op = &e->op[i], .after = true, .lane = matmul->lane,
			.rows = matmul->rows, .first = matmul->first, .count = 1,
			.a = from, .b = b, .c = to, .temp = place->work,
			.consts = place->consts + e->consts[i],
			/* the weights of another buffer than the matmul's */
			.weights = b,
		};
		from = to;
	}
	return 1 + e->nops;
}

void rkmm_epilogue_fill(const struct rkmm_epilogue *e, void *area)
{
	u32 i;

	for (i = 0; i < e->nops; i++)
		rkmm_op_fill(&e->op[i], (u16 *)((u8 *)area + e->consts[i]));
}

u64 rkmm_epilogue_image_bytes(const struct rkmm_epilogue *e, const struct rkmm_geom *geom)
{
	u64 bytes = rkmm_image_bytes(geom) + e->const_bytes + e->temp_bytes;
	u32 i;

	for (i = 0; i < e->nops; i++)
		bytes += rkmm_op_image_bytes(&e->op[i]);
	return bytes;
}

u64 rkmm_epilogue_ns(const struct rkmm_epilogue *e)
{
	u64 ns = 0;
	u32 i;

	for (i = 0; i < e->nops; i++)
		ns += e->op[i].predicted_ns;
	return ns;
}

u32 rkmm_epilogue_tasks(const struct rkmm_epilogue *e, const struct rkmm_geom *geom, u32 rows)
{
	u32 tasks = rkmm_geom_programs(geom, rows), i;

	for (i = 0; i < e->nops; i++)
		tasks += rkmm_op_tasks(&e->op[i], rows);
	return tasks;
}
