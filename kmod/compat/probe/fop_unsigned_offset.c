// SPDX-License-Identifier: GPL-2.0-only
/*
 * DRM warns at open unless file_operations.fop_flags has FOP_UNSIGNED_OFFSET, since
 * 641bb4394f40 ("fs: move FMODE_UNSIGNED_OFFSET to fop_flags"), 6.12.
 */
#include <linux/fs.h>

const struct file_operations probe_fops = { .fop_flags = FOP_UNSIGNED_OFFSET };
