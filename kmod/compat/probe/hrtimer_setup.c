// SPDX-License-Identifier: GPL-2.0
/* Added in 6.13; hrtimer_init() went in 6.15. */
#include <linux/hrtimer.h>
static enum hrtimer_restart callback(struct hrtimer *t) { return HRTIMER_NORESTART; }
void probe(struct hrtimer *t)
{ hrtimer_setup(t, callback, CLOCK_MONOTONIC, HRTIMER_MODE_REL); }
