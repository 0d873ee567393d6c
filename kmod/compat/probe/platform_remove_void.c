// SPDX-License-Identifier: GPL-2.0-only
/*
 * platform_driver.remove returned int until 0edb555a65d1 ("platform: Make
 * platform_driver::remove() return void"), 6.11.
 */
#include <linux/platform_device.h>

static void probe(struct platform_device *pdev)
{
}

struct platform_driver probe_driver = { .remove = probe };
