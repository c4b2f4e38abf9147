// SPDX-License-Identifier: GPL-2.0
/*
 * The first 32 buckets are 64 ns wide. From 2048 ns on each power of two is cut
 * in 16, so that a bucket's middle is within 1/32 of every value in it.
 */
#include <linux/kernel.h>

#include "flow_rtt.h"

#define LINEAR_SHIFT	6
#define PARTS_SHIFT	4
#define PARTS		(1u << PARTS_SHIFT)
#define LINEAR		(2 * PARTS)
/* Bits of the largest value that is in the linear part. */
#define LINEAR_BITS	(LINEAR_SHIFT + PARTS_SHIFT + 1)

static u32 width_shift(u32 bucket)
{
	return bucket < LINEAR ? LINEAR_SHIFT
			       : LINEAR_SHIFT - 1 + bucket / PARTS;
}

static u64 bucket_start(u32 bucket)
{
	if (bucket < LINEAR)
		return (u64)bucket << LINEAR_SHIFT;
	return (u64)(PARTS + bucket % PARTS) << width_shift(bucket);
}

u32 flow_rtt_bucket(u64 ns)
{
	u32 bits, bucket;

	if (ns < (u64)1 << LINEAR_BITS)
		return (u32)(ns >> LINEAR_SHIFT);
	bits = 64 - (u32)__builtin_clzll(ns);
	bucket = (bits - LINEAR_BITS + 1) * PARTS +
		 (u32)(ns >> (bits - 1 - PARTS_SHIFT)) % PARTS;
	return min_t(u32, bucket, PEERLANE_RTT_BUCKETS - 1);
}

u64 flow_rtt_bucket_middle(u32 bucket)
{
	return bucket_start(bucket) + ((u64)1 << width_shift(bucket)) / 2;
}

static void halve(struct flow_rtt *rtt)
{
	u32 i;

	for (i = 0; i < PEERLANE_RTT_BUCKETS; i++)
		rtt->bucket[i] /= 2;
}

void flow_rtt_add(struct flow_rtt *rtt, u64 ns)
{
	u32 *bucket = &rtt->bucket[flow_rtt_bucket(ns)];

	if (*bucket == ~(u32)0)
		halve(rtt);
	++*bucket;
	if (!rtt->samples || ns < rtt->min)
		rtt->min = ns;
	if (ns > rtt->max)
		rtt->max = ns;
	rtt->samples++;
	rtt->sum += ns;
}

static u64 count(const struct flow_rtt *rtt)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < PEERLANE_RTT_BUCKETS; i++)
		sum += rtt->bucket[i];
	return sum;
}

/* A middle may lie outside of what was seen. */
static u64 within(const struct flow_rtt *rtt, u64 ns)
{
	if (ns < rtt->min)
		return rtt->min;
	return ns > rtt->max ? rtt->max : ns;
}

u64 flow_rtt_percentile(const struct flow_rtt *rtt, u32 permille)
{
	/* Of 2^42 samples at most: no overflow */
	u64 rest = (count(rtt) * permille + 999) / 1000;
	u32 i;

	for (i = 0; i < PEERLANE_RTT_BUCKETS; i++) {
		if (rest && rtt->bucket[i] >= rest)
			return within(rtt, flow_rtt_bucket_middle(i));
		rest -= rtt->bucket[i];
	}
	return 0;
}
