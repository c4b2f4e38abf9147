/* SPDX-License-Identifier: GPL-2.0 */
/* Log-linear histogram of round trips. Pure. */
#ifndef PEERLANE_FLOW_RTT_H
#define PEERLANE_FLOW_RTT_H

#include <linux/types.h>

#include <uapi/peerlane_netlink.h>

/**
 * struct flow_rtt - round trips of one flow
 * @samples: how many, ever
 * @sum: of all, ns
 * @min: shortest, ns; meaningful if there is a sample
 * @max: longest, ns
 * @bucket: how many fell into each, all halved when one would overflow; what
 *	each holds is told by the netlink specification
 */
struct flow_rtt {
	u64 samples;
	u64 sum;
	u64 min;
	u64 max;
	u32 bucket[PEERLANE_RTT_BUCKETS];
};

u32 flow_rtt_bucket(u64 ns);
/* The middle of what a bucket holds. */
u64 flow_rtt_bucket_middle(u32 bucket);
void flow_rtt_add(struct flow_rtt *rtt, u64 ns);
/* The value that @permille of 1000 samples do not exceed; 0 without samples. */
u64 flow_rtt_percentile(const struct flow_rtt *rtt, u32 permille);

#endif /* PEERLANE_FLOW_RTT_H */
