// SPDX-License-Identifier: GPL-2.0-only
/*
 * from_timer() became timer_container_of() in 41cb08555c41 ("treewide, timers: Rename
 * from_timer() to timer_container_of()"), 6.16.
 */
#include <linux/timer.h>

struct probe { struct timer_list timer; };

static struct probe *__maybe_unused probe(struct timer_list *t)
{
	struct probe *p = timer_container_of(p, t, timer);

	return p;
}
