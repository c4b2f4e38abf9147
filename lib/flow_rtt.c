// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Histograms of round trips: 32 buckets of 64 ns, then each power of two in 16
 * equal parts.
 */
#include "flow.h"

#define LINEAR	32
#define PARTS	16
#define UNIT	64

static uint64_t low_end(uint32_t bucket)
{
	if (bucket < LINEAR)
		return (uint64_t)bucket * UNIT;
	return (uint64_t)(PARTS + bucket % PARTS) << (5 + bucket / PARTS);
}

void peerlane_rtt_bucket(uint32_t bucket, uint64_t *low, uint64_t *high)
{
	if (bucket >= PEERLANE_RTT_HISTOGRAM)
		bucket = PEERLANE_RTT_HISTOGRAM - 1;
	*low = low_end(bucket);
	*high = bucket + 1 < PEERLANE_RTT_HISTOGRAM ? low_end(bucket + 1) :
						      UINT64_MAX;
}

/* The last bucket has no upper end: what it holds is at least its lower one. */
static uint64_t middle(uint32_t bucket)
{
	if (bucket + 1 >= PEERLANE_RTT_HISTOGRAM)
		return low_end(PEERLANE_RTT_HISTOGRAM - 1);
	return low_end(bucket) + (low_end(bucket + 1) - low_end(bucket)) / 2;
}

uint64_t
peerlane_rtt_percentile(const uint32_t histogram[PEERLANE_RTT_HISTOGRAM],
			uint32_t millionths)
{
	uint64_t samples = 0, rank, sum = 0;
	uint32_t i;

	for (i = 0; i < PEERLANE_RTT_HISTOGRAM; i++)
		samples += histogram[i];
	if (!samples)
		return 0;
	if (millionths > 1000000)
		millionths = 1000000;
	/* Samples are below 2^41, so this does not overflow. */
	rank = (samples * millionths + 999999) / 1000000;
	if (!rank)
		rank = 1;
	for (i = 0; sum + histogram[i] < rank; i++)
		sum += histogram[i];
	return middle(i);
}
