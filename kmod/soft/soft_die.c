// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which die this is: what it runs right of what the tables allow, and its number.
 */
#include <linux/moduleparam.h>

#include "soft.h"

static unsigned int soft_die;
module_param_named(die, soft_die, uint, 0600);
MODULE_PARM_DESC(die, "int4 batches that do not work: those of die 235 or 236; 0: all work");

static bool soft_wide_wrong;
module_param_named(wide_wrong, soft_wide_wrong, bool, 0600);
MODULE_PARM_DESC(wide_wrong, "int4 batches with several data banks are as fast as ever, and wrong");

unsigned long long soft_chip_id = 1;
module_param_named(chip_id, soft_chip_id, ullong, 0600);
MODULE_PARM_DESC(chip_id, "number of the chip; read when the NPU device is made");

u32 soft_die_quirks(void)
{
	u32 quirks = READ_ONCE(soft_wide_wrong) ? NPU_QUIRK_WIDE_WRONG : 0;

	switch (READ_ONCE(soft_die)) {
	case 235:
		return quirks | NPU_QUIRK_DIE_235;
	case 236:
		return quirks | NPU_QUIRK_DIE_236;
	default:
		return quirks;
	}
}
