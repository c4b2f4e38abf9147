// SPDX-License-Identifier: GPL-2.0
/* The new name of from_timer(), since 6.16. */
#include <linux/timer.h>
struct probe { struct timer_list timer; };
struct probe *probe(struct timer_list *t)
{ struct probe *p = timer_container_of(p, t, timer); return p; }
