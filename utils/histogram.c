// SPDX-License-Identifier: GPL-2.0
/* Fine histograms of round trips made coarse. */
#include "histogram.h"

static unsigned int log2_of(uint64_t value)
{
	return value ? 63U - (unsigned int)__builtin_clzll(value) : 0;
}

/* Where the row of bucket @i begins: the power of two at or under its edge. */
static uint64_t row_low(const struct histogram *histogram, size_t i)
{
	uint64_t edge = histogram->edge((uint32_t)i);

	return edge ? UINT64_C(1) << log2_of(edge) : 0;
}

static uint64_t row_high(const struct histogram *histogram, size_t i)
{
	if (i + 1 >= histogram->buckets)
		return UINT64_MAX;
	return histogram->edge((uint32_t)i + 1);
}

static size_t first_of(const struct histogram *histogram)
{
	size_t i = 0;

	while (i < histogram->buckets && !histogram->counts[i])
		i++;
	return i;
}

static size_t end_of(const struct histogram *histogram)
{
	size_t i = histogram->buckets;

	while (i && !histogram->counts[i - 1])
		i--;
	return i;
}

size_t histogram_rows(const struct histogram *histogram,
		      struct histogram_row rows[HISTOGRAM_ROWS])
{
	size_t end = end_of(histogram);
	size_t count = 0;
	size_t i = first_of(histogram);

	if (i >= end)
		return 0;
	while (i && row_low(histogram, i - 1) == row_low(histogram, i))
		i--;
	while (end < histogram->buckets &&
	       row_low(histogram, end) == row_low(histogram, end - 1))
		end++;
	for (; i < end; i++) {
		uint64_t low = row_low(histogram, i);

		if (!count || rows[count - 1].low != low) {
			if (count == HISTOGRAM_ROWS)
				break;
			rows[count++] = (struct histogram_row){ .low = low };
		}
		rows[count - 1].samples += histogram->counts[i];
		rows[count - 1].high = row_high(histogram, i);
	}
	return count;
}

void histogram_below(const struct histogram *histogram, const uint64_t *edges,
		     uint64_t *below, size_t count)
{
	uint64_t samples = 0;
	size_t i = 0;

	for (size_t k = 0; k < count; k++) {
		while (i + 1 < histogram->buckets &&
		       histogram->edge((uint32_t)i + 1) <= edges[k])
			samples += histogram->counts[i++];
		below[k] = samples;
	}
}

uint64_t histogram_samples(const struct histogram *histogram)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < histogram->buckets; i++)
		samples += histogram->counts[i];
	return samples;
}

uint64_t histogram_sum(const struct histogram *histogram)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < histogram->buckets; i++) {
		uint64_t low = histogram->edge((uint32_t)i);
		uint64_t high = i + 1 < histogram->buckets ?
				histogram->edge((uint32_t)i + 1) : low;

		sum += histogram->counts[i] * (low + (high - low) / 2);
	}
	return sum;
}

size_t histogram_bar(uint64_t samples, uint64_t most, size_t width)
{
	unsigned __int128 length = samples;

	if (!samples || !most)
		return 0;
	length = length * width / most;
	return length ? (size_t)length : 1;
}
