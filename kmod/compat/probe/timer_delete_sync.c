// SPDX-License-Identifier: GPL-2.0
/* The new name of del_timer_sync(), added in 6.2. */
#include <linux/timer.h>
int probe(struct timer_list *timer) { return timer_delete_sync(timer); }
