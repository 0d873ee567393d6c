// SPDX-License-Identifier: GPL-2.0-only
/*
 * <asm/unaligned.h> became <linux/unaligned.h> in 5f60d5f6bbc1 ("move asm/unaligned.h to
 * linux/unaligned.h"), 6.12.
 */
#include <linux/unaligned.h>
