// SPDX-License-Identifier: GPL-2.0-only
/* Compiles on every kernel: where it does not, probing itself is broken. */
#include <linux/module.h>
