// SPDX-License-Identifier: GPL-2.0
#include <linux/bitmap.h>

#include "units.h"

unsigned long peerlane_units_take(struct peerlane_pool *pool,
				  unsigned long units)
{
	unsigned long first;

	if (units > pool->free)
		return pool->units;
	first = bitmap_find_next_zero_area(pool->used, pool->units, 0, units, 0);
	if (first >= pool->units)
		return pool->units;
	bitmap_set(pool->used, first, units);
	pool->free -= units;
	return first;
}

void peerlane_units_give_back(struct peerlane_pool *pool, unsigned long first,
			      unsigned long units, bool wiped)
{
	if (wiped)
		bitmap_clear(pool->dirty, first, units);
	bitmap_clear(pool->used, first, units);
	pool->free += units;
}

void peerlane_units_soil(struct peerlane_pool *pool, unsigned long first,
			 unsigned long units)
{
	bitmap_set(pool->dirty, first, units);
}

void peerlane_units_soil_all(struct peerlane_pool *pool)
{
	bitmap_fill(pool->dirty, pool->units);
}
