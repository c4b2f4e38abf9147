// SPDX-License-Identifier: GPL-2.0
#include "bar_choice.h"
#include "units.h"

enum peerlane_bar_fault peerlane_bar_fault(const struct peerlane_bar *bar)
{
	if (!bar->has_address)
		return PEERLANE_BAR_NO_ADDRESS;
	if (bar->size < PEERLANE_UNIT)
		return PEERLANE_BAR_SMALL;
	/* Write-combining and speculative reads need "prefetchable". */
	if (!bar->is_prefetchable)
		return PEERLANE_BAR_REGISTERS;
	return PEERLANE_BAR_FITS;
}

static bool has_memory(const struct peerlane_bar *bar)
{
	return bar->is_memory && bar->size;
}

static bool fits(const struct peerlane_bar *bar)
{
	return has_memory(bar) && peerlane_bar_fault(bar) == PEERLANE_BAR_FITS;
}

static int largest(const struct peerlane_bar *bars, int count,
		   bool (*is_candidate)(const struct peerlane_bar *bar))
{
	int i, found = -1;

	for (i = 0; i < count; i++)
		if (is_candidate(&bars[i]) &&
		    (found < 0 || bars[i].size > bars[found].size))
			found = i;
	return found;
}

int peerlane_bar_largest(const struct peerlane_bar *bars, int count)
{
	return largest(bars, count, has_memory);
}

int peerlane_bar_best(const struct peerlane_bar *bars, int count)
{
	return largest(bars, count, fits);
}
