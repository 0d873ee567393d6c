// SPDX-License-Identifier: MIT
#include "weights.h"

#include "kmod/prog/rkmm_prog.h"

const char *weights_layout(uint32_t types, uint32_t k, uint32_t n, struct drm_rkmm_tensor *b)
{
	struct rkmm_matmul mm = {
		.types = (enum rkmm_types)types, .form = RKMM_FORM_COUNT, .m = 1, .k = k, .n = n,
		.mult = types == DRM_RKMM_I8I8,
	};
	enum rkmm_reason reason;
	struct rkmm_operand op;
	struct rkmm_geom geom;

	reason = rkmm_geometry(&rkmm_limits_rk3588, &mm, &geom);
	if (reason != RKMM_OK)
		return rkmm_reason_text(reason);
	rkmm_geom_b(&geom, &op);
	*b = (struct drm_rkmm_tensor) {
		.size = op.size, .layout_id = op.layout_id, .layout = op.layout, .rows = op.rows,
		.cols = op.cols, .pitch = op.pitch, .group = op.group, .bits = op.bits,
		.slice_stride = op.slice_stride, .slices = op.slices, .slice = op.slice,
	};
	return NULL;
}
