// SPDX-License-Identifier: MIT
/* The public headers as C++17 sees them. */
#include "lib/rkmm.h"
#include "lib/rkmm_seq.h"

#include <type_traits>

static_assert(std::is_standard_layout_v<rkmm_matmul_desc>);
static_assert(std::is_trivially_copyable_v<rkmm_op>);
static_assert(std::is_same_v<decltype(&rkmm_plan_a),
			     const drm_rkmm_tensor *(*)(const rkmm_plan *)>);

int main()
{
	rkmm_matmul_desc desc = {};
	rkmm_device *dev = nullptr;
	int8_t one = 1;
	int32_t c = 0;

	desc.types = DRM_RKMM_I8I32;
	desc.m = desc.k = desc.n = 1;
	/* No such node: the names link and the error comes back. */
	if (rkmm_open("/nonexistent", &dev) == 0)
		return rkmm_matmul(dev, &desc, &one, 1, &one, 1, &c, 1);
	return dev != nullptr || !*rkmm_last_error();
}
