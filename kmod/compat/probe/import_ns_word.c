// SPDX-License-Identifier: GPL-2.0-only
/*
 * A symbol namespace was a bare word until cdd30ebb1b9f ("module: Convert symbol namespace
 * to string literal"), 6.13; it is a string since.
 */
#include <linux/module.h>

MODULE_IMPORT_NS(PROBE);
