// SPDX-License-Identifier: GPL-2.0-only
/*
 * hrtimer_setup() sets the callback too and replaces hrtimer_init() since 908a1d775422
 * ("hrtimers: Introduce hrtimer_setup() to replace hrtimer_init()"), 6.13.
 */
#include <linux/hrtimer.h>

static enum hrtimer_restart probe_fn(struct hrtimer *timer)
{
	return HRTIMER_NORESTART;
}

static void __maybe_unused probe(struct hrtimer *timer)
{
	hrtimer_setup(timer, probe_fn, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
}
