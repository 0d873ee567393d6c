// SPDX-License-Identifier: GPL-2.0-only
/*
 * timer_shutdown_sync() stops a timer for good (a later mod_timer() does nothing) since
 * f571faf6e443 ("timers: Provide timer_shutdown[_sync]()"), 6.2.
 */
#include <linux/timer.h>

static int __maybe_unused probe(struct timer_list *timer)
{
	return timer_shutdown_sync(timer);
}
