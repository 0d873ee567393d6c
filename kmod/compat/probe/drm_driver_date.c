// SPDX-License-Identifier: GPL-2.0-only
/*
 * drm_driver.date was a date until cb2e1c2136f7 ("drm: remove driver date from struct
 * drm_driver and all drivers"), 6.14.
 */
#include <drm/drm_drv.h>

struct drm_driver probe_driver = { .date = "20240101" };
