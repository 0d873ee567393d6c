// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is known to go wrong in a task of the DPU alone (hw 04 §2 to §4, §10, hw
 * 03 §1.3): as npu_laws.c.
 */
#include "npu_stage.h"

struct dpu_law {
	const char *text;
	enum npu_class cls;
	enum npu_effect effect;
	bool (*broken)(const struct npu_dpu *d, const struct npu_stages *s);
	bool strict_only;
	u32 quirk;
};

static bool ew_active(const struct npu_stages *s)
{
	return !(s->ew.cfg & (EW_BYPASS | EW_OP_BYPASS));
}

static u32 algo(const struct npu_stages *s)
{
	return npu_bits(s->ew.cfg, 19, 16);
}

static bool multiplies(const struct npu_stages *s)
{
	return s->ew.cfg & EW_OP_MUL;
}

/* --- hangs ------------------------------------------------------------------------------- */

static bool not_memory(const struct npu_dpu *d, const struct npu_stages *s)
{
	u32 mode = npu_reg(d->t.dpu, DPU_FEATURE_MODE);

	(void)s;
	return !(mode & FEATURE_FLYING) || !(d->mode & RDMA_FLYING) ||
	       d->mode & RDMA_MRDMA_DISABLE || npu_bits(mode, 2, 1) != 2 ||
	       npu_bits(mode, 4, 3) || npu_bits(mode, 31, 30) || npu_bits(d->mode, 2, 1);
}

static bool int32_input(const struct npu_dpu *d, const struct npu_stages *s)
{
	(void)s;
	return d->t.in_prec == PREC_INT32 || d->t.dpu_in_prec == PREC_INT32;
}

static bool types_differ(const struct npu_dpu *d, const struct npu_stages *s)
{
	(void)s;
	return d->t.in_prec != d->t.proc_prec || d->t.in_prec != d->t.dpu_in_prec ||
	       d->t.in_prec != d->t.dpu_proc_prec;
}

static bool no_such_pair(const struct npu_dpu *d, const struct npu_stages *s)
{
	(void)s;
	return !d->t.type ||
	       (d->t.out_prec != d->t.in_prec &&
		!(d->t.in_prec == PREC_FP16 && d->t.out_prec == PREC_FP32));
}

static bool sizes_differ(const struct npu_dpu *d, const struct npu_stages *s)
{
	(void)s;
	return d->w != d->t.ow || d->h != d->t.oh || d->n != d->t.n || d->t.wdma_n != d->t.n;
}

static bool rect_outside(const struct npu_dpu *d, const struct npu_stages *s)
{
	(void)s;
	return d->t.rect_w > d->t.ow || d->t.rect_h > d->t.oh;
}

static bool no_erdma(const struct npu_dpu *d, const struct npu_stages *s)
{
	(void)s;
	return d->two_inputs && d->erdma & ERDMA_DISABLE;
}

static bool stray_erdma(const struct npu_dpu *d, const struct npu_stages *s)
{
	(void)s;
	return !(d->erdma & ERDMA_DISABLE) && !d->two_inputs;
}

static bool erdma_mode(const struct npu_dpu *d, const struct npu_stages *s)
{
	(void)s;
	return !(d->erdma & ERDMA_DISABLE) && npu_bits(d->erdma, 31, 30) > 1;
}

static bool operand_size(const struct npu_dpu *d, const struct npu_stages *s)
{
	u32 size = npu_bits(d->erdma, 3, 2);

	if (d->erdma & ERDMA_DISABLE || !d->in_bytes)
		return false;
	return size != d->in_bytes || npu_bits(s->ew.cfg, 23, 22) != size;
}

static bool vector_missing(const struct npu_stage *st, u32 mul, u32 use)
{
	if (!npu_stage_on(st))
		return false;
	return (!(st->cfg & STAGE_ALU_BYPASS) && (st->cfg & STAGE_ALU_SRC) &&
		!(use & BRDMA_USE_ALU)) ||
	       (!(st->cfg & STAGE_MUL_BYPASS) && (mul & STAGE_MUL_SRC) && !(use & BRDMA_USE_MUL));
}

static bool operand_never_comes(const struct npu_dpu *d, const struct npu_stages *s)
{
	return vector_missing(&s->bs, npu_reg(d->t.dpu, DPU_BS_MUL), d->bs_use) ||
	       vector_missing(&s->bn, npu_reg(d->t.dpu, DPU_BN_MUL), d->bn_use);
}

static bool vector_unused(const struct npu_stage *st, u32 mul, u32 use)
{
	bool alu_on = npu_stage_on(st) && !(st->cfg & STAGE_ALU_BYPASS) &&
		      (st->cfg & STAGE_ALU_SRC);
	bool mul_on = npu_stage_on(st) && !(st->cfg & STAGE_MUL_BYPASS) && (mul & STAGE_MUL_SRC);

	return (use & BRDMA_USE_ALU && !alu_on) || (use & BRDMA_USE_MUL && !mul_on);
}

static bool stray_vector(const struct npu_dpu *d, const struct npu_stages *s)
{
	return vector_unused(&s->bs, npu_reg(d->t.dpu, DPU_BS_MUL), d->bs_use) ||
	       vector_unused(&s->bn, npu_reg(d->t.dpu, DPU_BN_MUL), d->bn_use);
}

static bool table_layout(const struct npu_dpu *d, const struct npu_stages *s)
{
	(void)s;
	return (d->bs_use && d->bs_use != BRDMA_USE_ALU && d->bs_use != BRDMA_USE_MUL) ||
	       (d->bn_use && d->bn_use != BRDMA_USE_ALU && d->bn_use != BRDMA_USE_MUL);
}

static bool size_e(const struct npu_dpu *d, const struct npu_stages *s)
{
	u32 due = d->in_bytes ? d->t.out_bytes / d->in_bytes - 1 : 0;

	(void)s;
	return d->t.size_e[0] != due || d->t.size_e[1] != due || d->t.size_e[2] != due;
}

static bool undocumented(const struct npu_dpu *d, const struct npu_stages *s)
{
	u32 mode = npu_reg(d->t.dpu, DPU_FEATURE_MODE);

	return npu_bits(d->mode, 10, 8) || npu_bits(npu_reg(d->t.rdma, RDMA_LINE_NOTCH), 13, 0) ||
	       (mode & FEATURE_NONALIGN && !d->minmax) || d->t.ow_src || npu_bits(mode, 29, 26) ||
	       (ew_active(s) && (s->ew.cfg & EW_BINARY || algo(s) > 8));
}

/* hw 03 O6: the second operand's type is that of what the chain made before. */
static bool after_other_type(const struct npu_dpu *d, const struct npu_stages *s)
{
	const struct npu_core *core = d->t.core;

	(void)s;
	return d->two_inputs && core->conv_task != LUT_NO_TASK &&
	       core->conv_task + 1 == core->task && core->conv_out != d->t.in_prec;
}

static bool int16_after_matmul(const struct npu_dpu *d, const struct npu_stages *s)
{
	(void)s;
	return d->two_inputs && d->t.in_prec == PREC_INT16 && d->t.core->conv_task != LUT_NO_TASK;
}

static bool after_int8_kick(const struct npu_dpu *d, const struct npu_stages *s)
{
	(void)s;
	return d->t.core->int8_left && !d->t.core->task && d->t.in_prec == PREC_INT8;
}

static bool int_division(const struct npu_dpu *d, const struct npu_stages *s)
{
	return ew_active(s) && !d->t.is_float && !multiplies(s) &&
	       (algo(s) == 3 || algo(s) == 7 || algo(s) == 8);
}

/* --- wrong results ----------------------------------------------------------------------- */

static bool up_not_down(const struct npu_dpu *d, const struct npu_stages *s)
{
	return d->t.out_prec == PREC_FP16 && !d->raw != s->to_fp16;
}

static bool fp32_conversion(const struct npu_dpu *d, const struct npu_stages *s)
{
	return d->t.out_prec == PREC_FP32 && (d->raw || s->to_fp16);
}

static bool int_conversion(const struct npu_dpu *d, const struct npu_stages *s)
{
	return !d->t.is_float && (d->mode & RDMA_FP16TOFP32 || s->to_fp16);
}

static bool channel_operator(const struct npu_dpu *d, const struct npu_stages *s)
{
	return d->two_inputs && d->per_channel && !multiplies(s);
}

static bool lut_missing(const struct npu_dpu *d, const struct npu_stages *s)
{
	return s->lut && !npu_lut_complete(d->t.core);
}

static bool lut_race(const struct npu_dpu *d, const struct npu_stages *s)
{
	return s->lut && npu_lut_races(d->t.core);
}

static bool lut_overrun(const struct npu_dpu *d, const struct npu_stages *s)
{
	(void)s;
	return d->t.core->lut.overrun;
}

/* --- strict only ------------------------------------------------------------------------- */

static bool lut_pingpong(const struct npu_dpu *d, const struct npu_stages *s)
{
	const struct npu_core *core = d->t.core;

	(void)s;
	return core->lut.writes && core->pingpong && core->tasks > 1;
}

static bool raw_stages(const struct npu_dpu *d, const struct npu_stages *s)
{
	return d->raw && (npu_stage_on(&s->bs) || npu_stage_on(&s->bn) || s->lut);
}

static bool lut_form(const struct npu_dpu *d, const struct npu_stages *s)
{
	return s->lut && !npu_lut_form(d->t.dpu);
}

/* A PReLU without a shift of positive values is the one sensible exception. */
static bool shifts_differ(const struct npu_stage *st)
{
	if (!npu_stage_on(st) || st->cfg & STAGE_MUL_BYPASS)
		return false;
	return st->shift != st->neg_shift && !(st->cfg & STAGE_MUL_PRELU && !st->shift);
}

static bool negative_shift(const struct npu_dpu *d, const struct npu_stages *s)
{
	return !d->t.is_float &&
	       (shifts_differ(&s->bs) || shifts_differ(&s->bn) ||
		(ew_active(s) && multiplies(s) && s->ew.trunc != s->ew.neg_trunc));
}

static bool float_operand_conversion(const struct npu_dpu *d, const struct npu_stages *s)
{
	return d->t.is_float && ew_active(s) && !(s->ew.cfg & EW_CVT_BYPASS) &&
	       (s->ew.offset || s->ew.scale != 1 || s->ew.shift);
}

static bool float_shift(const struct npu_dpu *d, const struct npu_stages *s)
{
	return d->t.is_float && (s->cvt.shift || (ew_active(s) && s->ew.trunc));
}

static bool surface_add(const struct npu_dpu *d, const struct npu_stages *s)
{
	(void)s;
	return d->t.groups > 1 &&
	       d->t.surf_add != d->t.dst_surf * (d->t.out_bytes / d->in_bytes);
}

static bool rect_inside(const struct npu_dpu *d, const struct npu_stages *s)
{
	(void)s;
	return d->t.rect_w < d->t.ow || d->t.rect_h < d->t.oh;
}

static bool channels_over_real(const struct npu_dpu *d, const struct npu_stages *s)
{
	(void)s;
	return d->t.n % d->t.type->group;
}

/* The one form of the min/max unit that was captured (hw 04 §3.3) */
static bool minmax_form(const struct npu_dpu *d, const struct npu_stages *s)
{
	if (!d->minmax)
		return false;
	return !(d->minmax & MINMAX_ENABLE) || !(d->minmax & MINMAX_VALUE_ONLY) || !d->raw ||
	       d->t.out_prec != PREC_FP16 || d->t.dst_surf || d->t.surf_add ||
	       !(npu_reg(d->t.dpu, DPU_FEATURE_MODE) & FEATURE_NONALIGN) ||
	       d->unit_atoms != npu_div_up(d->t.pixels * d->t.out_bytes, ATOM) ||
	       ew_active(s);
}

static bool minmax_rows(const struct npu_dpu *d, const struct npu_stages *s)
{
	(void)s;
	return d->minmax && d->t.pixels > 128;
}

#define HANG(t, f)	{ .text = (t), .cls = NPU_HANG_0, .effect = EFFECT_HANG, .broken = (f) }
#define WRONG(t, e, f)	{ .text = (t), .cls = NPU_WRONG, .effect = (e), .broken = (f) }
#define STRICT(t, f)	{ .text = (t), .cls = NPU_WRONG, .effect = EFFECT_NATURAL, \
			  .broken = (f), .strict_only = true }

/* Hangs first: later rows may rely on what earlier ones have ruled out. */
static const struct dpu_law laws[] = {
	HANG("DPU and DPU_RDMA do not both take a cube from memory to memory (hw 04 1.2, 1.3)",
	     not_memory),
	HANG("int32 input: MRDMA reads two bytes an element (hw 04 2.4, hw 03 O5)", int32_input),
	HANG("types of DPU and DPU_RDMA differ (hw 04 1.3, hw 03 O6)", types_differ),
	HANG("no document describes this pair of input and output types (hw 04 2.1, 2.4)",
	     no_such_pair),
	HANG("DPU, its write engine and DPU_RDMA disagree about the cube (hw 04 2.1)",
	     sizes_differ),
	HANG("write rectangle larger than the cube (hw 02 3.3, 405c)", rect_outside),
	HANG("EW waits for an operand that ERDMA does not bring (hw 04 1.3)", no_erdma),
	HANG("ERDMA brings an operand that EW does not take (hw 04 1.3)", stray_erdma),
	HANG("ERDMA data mode 2 or 3 (hw 04 2.3)", erdma_mode),
	HANG("sizes of an operand's element in 4070, 5034 and 5044 differ (hw 04 10)",
	     operand_size),
	HANG("a DPU stage waits for a vector that no RDMA brings (hw 04 1.2)",
	     operand_never_comes),
	HANG("an RDMA brings a vector that no DPU stage takes (hw 04 1.2)", stray_vector),
	HANG("layout of a table with more than one operand is unknown (hw 04 2.3)",
	     table_layout),
	HANG("SIZE_E is not that of the pair of types (hw 04 1.4)", size_e),
	HANG("combined reads, pooling and two-valued operators are not described (hw 04 2.8)",
	     undocumented),
	HANG("two inputs behind a matmul of another output type (hw 03 O6, hw 04 4)",
	     after_other_type),
	HANG("two int16 inputs in a chain with a matmul (hw 03 O7, hw 04 4)",
	     int16_after_matmul),
	{ .text = "an int8 task of the DPU in the kick after an int8 matmul (hw 03 O14)",
	  .cls = NPU_HANG_0, .effect = EFFECT_HANG, .broken = after_int8_kick,
	  .quirk = NPU_QUIRK_INT8_WEDGE },
	HANG("division, floor and ceiling are documented for fp16 only (hw 04 7)", int_division),

	WRONG("fp16 is converted on one side of the stages only (hw 04 1.1, hw 03 O3)",
	      EFFECT_ZERO, up_not_down),
	WRONG("fp32 output without the conversion, or converted back (hw 04 2.4)",
	      EFFECT_GARBAGE, fp32_conversion),
	WRONG("integers are converted as if they were fp16 (hw 04 1.3)",
	      EFFECT_GARBAGE, int_conversion),
	WRONG("per-channel operand for anything but a multiplication (hw 03 O17, hw 04 2.3)",
	      EFFECT_GARBAGE, channel_operator),
	WRONG("the table was not loaded since the last reset (hw 03 S10, hw 04 2.6)",
	      EFFECT_NATURAL, lut_missing),
	WRONG("the table's load may not have ended: task ping-pong (hw 03 S11, hw 04 2.6)",
	      EFFECT_NATURAL, lut_race),
	WRONG("more than 513 values for a table (hw 04 2.5)", EFFECT_NATURAL, lut_overrun),

	STRICT("a table is written in a chain with task ping-pong (hw 04 4, hw 03 C3)",
	       lut_pingpong),
	STRICT("BS, BN and the table are documented for converted fp16 only (hw 04 1.1)",
	       raw_stages),
	STRICT("tables in another form than captured: 4108, 410c, starts, ends (hw 04 2.5)",
	       lut_form),
	STRICT("shift for negative values is not the positive one (hw 04 1.1)", negative_shift),
	STRICT("operand conversion is documented for integers only (hw 04 1.1)",
	       float_operand_conversion),
	STRICT("shifts are documented for integers only (hw 04 1.1)", float_shift),
	STRICT("SURFACE_ADD is not DST_SURF_STRIDE times atoms (hw 04 1.4)", surface_add),
	STRICT("write rectangle smaller than the cube (hw 04 2.1)", rect_inside),
	STRICT("min/max unit in another form than captured (hw 04 3.3)", minmax_form),
	STRICT("more than 128 rows for the min/max unit (hw 04 3.3)", minmax_rows),
	STRICT("channels do not fill their last atom (hw 04 1.5)", channels_over_real),
};

enum npu_class npu_dpu_check(struct npu_core *core, struct npu_dpu *d, const struct npu_stages *s)
{
	enum npu_class worst = NPU_OK, cls;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(laws); i++) {
		const struct dpu_law *law = &laws[i];

		if ((law->quirk && !(core->quirks & law->quirk)) ||
		    (law->strict_only && !core->strict) || !law->broken(d, s))
			continue;
		if (law->effect == EFFECT_HANG)
			return npu_hang(core, law->text);
		cls = npu_broken(core, &d->t, law->text, law->cls, law->effect);
		if (npu_stops(cls))
			return cls;
		if (cls > worst)
			worst = cls;
	}
	return worst;
}
