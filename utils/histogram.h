/* SPDX-License-Identifier: GPL-2.0 */
/* Fine histograms of round trips made coarse. Pure. */
#ifndef PEERLANE_HISTOGRAM_H
#define PEERLANE_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

/*
 * @counts[i] samples lie in [edge(i), edge(i + 1)) ns. The last bucket has no
 * upper end. Edges rise, and every power of two from the second edge on is one.
 */
struct histogram {
	const uint32_t *counts;
	size_t buckets;
	uint64_t (*edge)(uint32_t bucket);
};

/* Samples in [@low, @high) ns; @high is UINT64_MAX where there is no end. */
struct histogram_row {
	uint64_t low;
	uint64_t high;
	uint64_t samples;
};

enum { HISTOGRAM_ROWS = 64 };

/*
 * One row for each power of two, from the first with samples to the last.
 * Returns how many.
 */
size_t histogram_rows(const struct histogram *histogram,
		      struct histogram_row rows[HISTOGRAM_ROWS]);

/* below[i] becomes the number of samples under @edges[i], which are edges. */
void histogram_below(const struct histogram *histogram, const uint64_t *edges,
		     uint64_t *below, size_t count);

uint64_t histogram_samples(const struct histogram *histogram);
/* Sum of all samples as if each lay in the middle of its bucket. */
uint64_t histogram_sum(const struct histogram *histogram);

/* How many of @width characters a bar for @samples has; one if there are any. */
size_t histogram_bar(uint64_t samples, uint64_t most, size_t width);

#endif /* PEERLANE_HISTOGRAM_H */
