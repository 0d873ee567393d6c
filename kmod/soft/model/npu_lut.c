// SPDX-License-Identifier: GPL-2.0-only
/*
 * The DPU's table memory (hw 04 §2.5, §2.6): two tables of 513 values, written
 * through 4100 and 4104, not banked, kept until a reset.
 */
#include "npu_stage.h"

/* What is in the memory after power-on: anything, but the same every time. */
void npu_lut_reset(struct npu_core *core)
{
	struct npu_lut *lut = &core->lut;
	u32 i, v = 0x6c757430 + core->index;

	for (i = 0; i < 2 * LUT_ENTRIES; i++) {
		v = v * 1664525 + 1013904223;
		lut->now[i / LUT_ENTRIES][i % LUT_ENTRIES] = (s16)(v >> 16);
	}
	memset(lut->present, 0, sizeof(lut->present));
	lut->loaded[0] = 0;
	lut->loaded[1] = 0;
	lut->access = 0;
	lut->writes = 0;
	lut->overrun = false;
	lut->load_task = LUT_NO_TASK;
	lut->half = false;
}

void npu_lut_seed(struct npu_core *core, u32 seed)
{
	core->lut.random = seed | 1;
}

/* Between tasks: nothing of this list has been written yet. */
void npu_lut_new_list(struct npu_core *core)
{
	core->lut.writes = 0;
	core->lut.overrun = false;
}

static void first_write(struct npu_core *core)
{
	struct npu_lut *lut = &core->lut;

	memcpy(lut->before, lut->now, sizeof(lut->before));
	memset(lut->order, 0, sizeof(lut->order));
	lut->load_task = npu_word_get(&core->state) == CORE_STARTED ? core->task : LUT_NO_TASK;
	lut->load_kick = core->kicks;
}

void npu_lut_write(struct npu_core *core, u32 offset, u32 value)
{
	struct npu_lut *lut = &core->lut;
	u32 at, table;

	if (offset == DPU_LUT_ACCESS_CFG) {
		lut->access = value;
		return;
	}
	if (!(lut->access & LUT_ACCESS_WRITE))
		return;
	if (!lut->writes)
		first_write(core);
	at = npu_bits(lut->access, 9, 0);
	table = lut->access & LUT_ACCESS_LO ? 1 : 0;
	if (at >= LUT_ENTRIES) {
		lut->overrun = true;
		return;
	}
	lut->now[table][at] = (s16)value;
	lut->order[table][at] = (u16)npu_min(++lut->writes, 0xffff);
	if (!lut->present[table][at]) {
		lut->present[table][at] = true;
		lut->loaded[table]++;
	}
	/* The address counts up by itself; past the last entry it stays there. */
	lut->access++;
}

bool npu_lut_complete(const struct npu_core *core)
{
	return core->lut.loaded[0] == LUT_ENTRIES && core->lut.loaded[1] == LUT_ENTRIES;
}

/*
 * With task ping-pong a task starts when its registers are there, while the
 * table that the list before it wrote is still on its way (hw 04 §2.6, hw 03
 * S11). How far it has come is drawn; never all of it, so that a driver that
 * forgets the rule fails every time.
 */
bool npu_lut_races(const struct npu_core *core)
{
	const struct npu_lut *lut = &core->lut;

	return core->pingpong && lut->load_task != LUT_NO_TASK && lut->load_kick == core->kicks &&
	       lut->load_task + 1 == core->task && !lut->writes;
}

/* As in every capture: linear, 512 steps each (hw 04 §2.5) */
bool npu_lut_form(const u32 *dpu)
{
	u32 info = npu_reg(dpu, DPU_LUT_INFO);
	s64 le = (s64)(s32)npu_reg(dpu, DPU_LUT_LE_END) - (s32)npu_reg(dpu, DPU_LUT_LE_START);
	s64 lo = (s64)(s32)npu_reg(dpu, DPU_LUT_LO_END) - (s32)npu_reg(dpu, DPU_LUT_LO_START);
	u32 le_sel = npu_bits(info, 15, 8), lo_sel = npu_bits(info, 23, 16);

	return npu_reg(dpu, DPU_LUT_CFG) == LUT_CFG_CAPTURED && le_sel <= 22 && lo_sel <= 22 &&
	       le == 512ll << le_sel && lo == 512ll << lo_sel;
}

void npu_lut_begin(struct npu_core *core, const u32 *dpu)
{
	struct npu_lut *lut = &core->lut;
	u32 info = npu_reg(dpu, DPU_LUT_INFO);
	u32 last = 0, i;

	lut->cfg = npu_reg(dpu, DPU_LUT_CFG);
	lut->select[0] = npu_bits(info, 15, 8);
	lut->select[1] = npu_bits(info, 23, 16);
	lut->start[0] = (s32)npu_reg(dpu, DPU_LUT_LE_START);
	lut->end[0] = (s32)npu_reg(dpu, DPU_LUT_LE_END);
	lut->start[1] = (s32)npu_reg(dpu, DPU_LUT_LO_START);
	lut->end[1] = (s32)npu_reg(dpu, DPU_LUT_LO_END);
	for (i = 0; i < 2; i++) {
		u32 slope = npu_reg(dpu, i ? DPU_LUT_LO_SLOPE : DPU_LUT_LE_SLOPE);
		u32 shift = npu_reg(dpu, i ? DPU_LUT_LO_SHIFT : DPU_LUT_LE_SHIFT);

		lut->under_slope[i] = (s16)slope;
		lut->over_slope[i] = (s16)(slope >> 16);
		lut->under_shift[i] = npu_bits(shift, 4, 0);
		lut->over_shift[i] = npu_bits(shift, 9, 5);
	}
	lut->half = npu_lut_races(core);
	if (!lut->half)
		return;
	for (i = 0; i < 2 * LUT_ENTRIES; i++)
		last = npu_max(last, lut->order[i / LUT_ENTRIES][i % LUT_ENTRIES]);
	lut->random ^= lut->random << 13;
	lut->random ^= lut->random >> 17;
	lut->random ^= lut->random << 5;
	lut->cut = last ? lut->random % last : 0;
}

static s32 entry(const struct npu_lut *lut, u32 table, u32 i)
{
	if (lut->half && lut->order[table][i] > lut->cut)
		return lut->before[table][i];
	return lut->now[table][i];
}

/*
 * Inside a table: the entry and a share of the step to the next one, rounded to
 * an integer. Outside of both: a straight line from the last entry.
 */
s32 npu_lut_apply(const struct npu_core *core, s32 x)
{
	const struct npu_lut *lut = &core->lut;
	bool le_under = x < lut->start[0], le_over = x > lut->end[0];
	bool lo_under = x < lut->start[1], lo_over = x > lut->end[1];
	bool le = !le_under && !le_over, lo = !lo_under && !lo_over;
	u32 t, select, i;
	s64 p, f, v;

	if (le != lo)
		t = lo;
	else if (le_under && lo_under)
		t = !!(lut->cfg & LUT_CFG_UFLOW_LO);
	else if (le_over && lo_over)
		t = !!(lut->cfg & LUT_CFG_OFLOW_LO);
	else
		t = !!(lut->cfg & LUT_CFG_HYBRID_LO);

	p = (s64)x - lut->start[t];
	if (p < 0)
		return npu_sat32(entry(lut, t, 0) +
				 npu_shift_away(p * lut->under_slope[t], lut->under_shift[t]));
	select = lut->select[t];
	i = select < 32 ? (u32)(p >> select) : 0;
	if (x > lut->end[t] || i >= LUT_ENTRIES)
		return npu_sat32(entry(lut, t, LUT_ENTRIES - 1) +
				 npu_shift_away(((s64)x - lut->end[t]) * lut->over_slope[t],
						lut->over_shift[t]));
	f = select < 32 ? p & (((s64)1 << select) - 1) : 0;
	v = entry(lut, t, i);
	if (f)
		v += npu_shift_away((entry(lut, t, npu_min(i + 1, LUT_ENTRIES - 1)) - v) * f,
				    select);
	return npu_sat32(v);
}
