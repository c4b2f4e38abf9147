// SPDX-License-Identifier: GPL-2.0
/* Histograms of round trips, made for a flow's first one. */
#include <linux/atomic.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>

#include "flow.h"

static unsigned int max_histograms = 16384;
module_param(max_histograms, uint, 0644);
MODULE_PARM_DESC(max_histograms,
		 "Most histograms of round trips, about 1.5 KiB each (default 16384)");

static atomic_t histograms = ATOMIC_INIT(0);

struct flow_rtt *flow_histogram_new(void)
{
	struct flow_rtt *rtt = NULL;

	if ((u32)atomic_inc_return(&histograms) <= READ_ONCE(max_histograms))
		rtt = kzalloc(sizeof(*rtt), GFP_ATOMIC | __GFP_NOWARN);
	if (!rtt)
		atomic_dec(&histograms);
	return rtt;
}

void flow_histogram_free(struct flow_rtt *rtt)
{
	if (!rtt)
		return;
	kfree(rtt);
	atomic_dec(&histograms);
}

u32 flow_histograms(void)
{
	return (u32)atomic_read(&histograms);
}

u32 flow_max_histograms(void)
{
	return READ_ONCE(max_histograms);
}
