// SPDX-License-Identifier: GPL-2.0-only
/*
 * drm_gem_is_imported() tells an import since b57aa47d39e9 ("drm/gem: Test for imported
 * GEM buffers with helper"), 6.15; drm_gem_object.import_attach did before.
 */
#include <drm/drm_gem.h>

static bool __maybe_unused probe(const struct drm_gem_object *obj)
{
	return drm_gem_is_imported(obj);
}
