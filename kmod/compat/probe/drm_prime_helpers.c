// SPDX-License-Identifier: GPL-2.0-only
/*
 * A DRM driver had to name the two PRIME helpers until 6b85aa68d9d5 ("drm: Enable PRIME
 * import/export for all drivers"), 6.6; some kernels since then do not even declare them.
 */
#include <drm/drm_drv.h>
#include <drm/drm_prime.h>

struct drm_driver probe_driver = {
	.prime_handle_to_fd = drm_gem_prime_handle_to_fd,
	.prime_fd_to_handle = drm_gem_prime_fd_to_handle,
};
