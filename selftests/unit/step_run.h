/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Images run on several cores, in flat memory (flat_world.h), by the test's own kick_lane(). */
#ifndef STEP_RUN_H
#define STEP_RUN_H

/* Each lane on a core of its own; kicks of lanes in any order */
static inline void run_lanes(const struct rkmm_kick *kicks, uint32_t n, uint32_t lanes)
{
	uint32_t next[RKMM_LANES_MAX] = { 0 }, left = n, lane, i;

	while (left) {
		lane = rnd(lanes);
		for (i = next[lane]; i < n && kicks[i].lane != lane; i++)
			;
		next[lane] = i + 1;
		if (i >= n)
			continue;
		kick_lane(lane, &kicks[i]);
		left--;
	}
}

/* @placed: the members say on which lanes they are. Returns the number of starts. */
static inline uint32_t run_step(const struct rkmm_limits *limits,
				const struct rkmm_member *members, uint32_t n, bool placed)
{
	struct rkmm_extent extent;
	struct rkmm_kick *kicks;
	uint32_t i, lanes = 1;

	rkmm_image_measure(limits, members, n, &extent);
	if (placed) {
		for (i = 0; i < n; i++)
			if (members[i].lane + 1 > lanes)
				lanes = members[i].lane + 1;
		assert_int_equal(extent.lanes, lanes);
	}
	image_bytes = extent.bytes;
	image = aligned_alloc(64, extent.bytes);
	kicks = calloc(extent.kicks, sizeof(*kicks));
	rkmm_image_emit(limits, members, n, P_BASE, (u64 *)image, kicks);
	run_lanes(kicks, extent.kicks, extent.lanes);
	free(kicks);
	free(image);
	return extent.kicks;
}

#endif
