// SPDX-License-Identifier: GPL-2.0
/* Times of many operations, kept in little room. */
#include <string.h>

#include "latency.h"

void latency_reset(struct latency *latency)
{
	memset(latency, 0, sizeof(*latency));
}

uint32_t latency_bucket(uint64_t ns)
{
	unsigned int shift;
	uint64_t bucket;

	if (ns < 64)
		return (uint32_t)ns;
	shift = 57U - (unsigned int)__builtin_clzll(ns);
	bucket = 64 * (uint64_t)shift + (ns >> shift);
	return bucket < LATENCY_BUCKETS ? (uint32_t)bucket : LATENCY_BUCKETS - 1;
}

uint64_t latency_edge(uint32_t bucket)
{
	if (bucket < 64)
		return bucket;
	return (uint64_t)(64 + bucket % 64) << (bucket / 64 - 1);
}

void latency_add(struct latency *latency, uint64_t ns)
{
	uint32_t *count = &latency->counts[latency_bucket(ns)];

	if (*count != UINT32_MAX)
		++*count;
	if (!latency->samples || ns < latency->min)
		latency->min = ns;
	if (ns > latency->max)
		latency->max = ns;
	latency->samples++;
	latency->sum += ns;
}

static uint64_t middle(uint32_t bucket)
{
	uint64_t low = latency_edge(bucket);

	return low + (latency_edge(bucket + 1) - low) / 2;
}

static uint64_t within(uint64_t value, uint64_t low, uint64_t high)
{
	if (value < low)
		return low;
	return value > high ? high : value;
}

uint64_t latency_percentile(const struct latency *latency, uint32_t millionths)
{
	unsigned __int128 rank = latency->samples;
	uint64_t seen = 0;
	uint32_t i;

	if (!latency->samples)
		return 0;
	rank = (rank * millionths + 999999) / 1000000;
	if (!rank)
		return latency->min;
	for (i = 0; i < LATENCY_BUCKETS - 1; i++) {
		seen += latency->counts[i];
		if (seen >= rank)
			break;
	}
	return within(middle(i), latency->min, latency->max);
}

uint64_t latency_mean(const struct latency *latency)
{
	return latency->samples ? latency->sum / latency->samples : 0;
}
