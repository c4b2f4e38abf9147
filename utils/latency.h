/* SPDX-License-Identifier: GPL-2.0 */
/* Times of many operations, kept in little room. Pure. */
#ifndef PEERLANE_LATENCY_H
#define PEERLANE_LATENCY_H

#include <stddef.h>
#include <stdint.h>

/* 64 buckets for each power of two, up to 2^42 ns: wrong by 1.6 % at most */
enum { LATENCY_BUCKETS = 37 * 64 };

struct latency {
	uint32_t counts[LATENCY_BUCKETS];
	uint64_t samples;
	uint64_t sum;
	uint64_t min;
	uint64_t max;
};

void latency_reset(struct latency *latency);
void latency_add(struct latency *latency, uint64_t ns);

uint32_t latency_bucket(uint64_t ns);
/* The shortest time that falls into the bucket; for struct histogram. */
uint64_t latency_edge(uint32_t bucket);

/*
 * The time that so many millionths of all do not exceed: the middle of its
 * bucket, but never outside of what was seen. 0 without samples.
 */
uint64_t latency_percentile(const struct latency *latency,
			    uint32_t millionths);
uint64_t latency_mean(const struct latency *latency);

#endif /* PEERLANE_LATENCY_H */
