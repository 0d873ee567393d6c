// SPDX-License-Identifier: GPL-2.0-only
/*
 * del_timer_sync() became timer_delete_sync() in 9b13df3fb64e ("timers: Rename
 * del_timer_sync() to timer_delete_sync()"), 6.2; the old name is gone since 6.15.
 */
#include <linux/timer.h>

static int __maybe_unused probe(struct timer_list *timer)
{
	return timer_delete_sync(timer);
}
