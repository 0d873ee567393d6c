// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dies differ in the int4 batches that they run right: hw 03 §1.2, §1.7. A profile is on or it
 * is not; nothing of it is a breach of law, as no program can know the die.
 */
#include "npu_core.h"

#define DIE_K	2048	/* where both dies were measured */

enum npu_class npu_die_check(struct npu_core *core, struct npu_conv *t)
{
	u32 rows = npu_div_up(t->pixels, t->row_step);

	if (!t->sparse_lines)
		return NPU_OK;
	if (core->quirks & NPU_QUIRK_WIDE_WRONG && t->data_banks > 1)
		t->poisoned = true;
	if (t->k != DIE_K)
		return NPU_OK;
	if (core->quirks & NPU_QUIRK_DIE_235 && (rows > 4 || t->kernels > 64))
		return npu_hang(core, "die 235: K 2048, above 4 rows or 64 columns (hw 03 1.7)");
	if (core->quirks & NPU_QUIRK_DIE_236 && t->data_banks == 1 && t->kernels > 64)
		return npu_hang(core, "die 236: K 2048, wide with one data bank (hw 03 G19)");
	if (core->quirks & NPU_QUIRK_DIE_236 && rows > 8 * t->data_banks)
		t->poisoned = true;
	return NPU_OK;
}
