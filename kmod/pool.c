// SPDX-License-Identifier: GPL-2.0
/*
 * The allocation units of a device: first fit of contiguous 2 MiB units.
 *
 * A unit is wiped when it is given back and again before it is given out if it
 * was not: after bind (what firmware or an earlier driver left there), after a
 * reset, or when the device was absent at the time.
 */
#include <linux/bitmap.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "peerlane.h"

int peerlane_pool_init(struct peerlane_pool *pool, u64 size)
{
	pool->units = size >> PEERLANE_UNIT_SHIFT;
	pool->free = pool->units;
	pool->used = bitmap_zalloc(pool->units, GFP_KERNEL);
	pool->dirty = bitmap_alloc(pool->units, GFP_KERNEL);
	if (!pool->used || !pool->dirty) {
		peerlane_pool_fini(pool);
		return -ENOMEM;
	}
	peerlane_units_soil_all(pool);
	return 0;
}

void peerlane_pool_fini(struct peerlane_pool *pool)
{
	bitmap_free(pool->used);
	bitmap_free(pool->dirty);
	pool->used = NULL;
	pool->dirty = NULL;
}

static void wipe_unit(struct peerlane_device *dev, unsigned long unit)
{
	memset(dev->vaddr + (unit << PEERLANE_UNIT_SHIFT), 0, PEERLANE_UNIT);
	cond_resched();
}

int peerlane_pool_alloc(struct peerlane_device *dev, u64 span, u64 *offset,
			struct peerlane_msg *msg)
{
	struct peerlane_pool *pool = &dev->pool;
	unsigned long units = span >> PEERLANE_UNIT_SHIFT;
	unsigned long first, unit;
	u64 free, limbo;

	mutex_lock(&dev->lock);
	first = peerlane_units_take(pool, units);
	free = (u64)pool->free << PEERLANE_UNIT_SHIFT;
	limbo = (u64)pool->limbo << PEERLANE_UNIT_SHIFT;
	mutex_unlock(&dev->lock);
	if (first == pool->units)
		return peerlane_refuse(msg, -ENOSPC,
				       "%s has no free range of %llu bytes (%llu bytes are free, perhaps in pieces; %llu wait for pins to end)",
				       peerlane_device_name(dev), span, free,
				       limbo);

	/* The units are ours, so their dirty bits change by nobody else. */
	for (unit = first; unit < first + units; unit++)
		if (test_bit(unit, pool->dirty))
			wipe_unit(dev, unit);

	mutex_lock(&dev->lock);
	peerlane_units_soil(pool, first, units);
	mutex_unlock(&dev->lock);
	*offset = (u64)first << PEERLANE_UNIT_SHIFT;
	return 0;
}

static void give_back(struct peerlane_device *dev, unsigned long first,
		      unsigned long units, bool wiped)
{
	mutex_lock(&dev->lock);
	peerlane_units_give_back(&dev->pool, first, units, wiped);
	mutex_unlock(&dev->lock);
}

/*
 * Writes to a device that has gone vanish. The read brings the last of them
 * home before we ask whether it was there all the time.
 */
static bool wipe(struct peerlane_device *dev, unsigned long first,
		 unsigned long units)
{
	const u8 *end = dev->vaddr + ((first + units) << PEERLANE_UNIT_SHIFT);
	unsigned long unit;

	if (!peerlane_device_present(dev))
		return false;
	for (unit = first; unit < first + units; unit++)
		wipe_unit(dev, unit);
	mb();	/* out of the write-combining buffers, then the read */
	return !READ_ONCE(end[-1]) && peerlane_device_present(dev);
}

void peerlane_pool_free(struct peerlane_device *dev, u64 offset, u64 span)
{
	unsigned long first = offset >> PEERLANE_UNIT_SHIFT;
	unsigned long units = span >> PEERLANE_UNIT_SHIFT;

	peerlane_wipe_begin(dev);
	give_back(dev, first, units, wipe(dev, first, units));
	peerlane_wipe_end(dev);
}

void peerlane_pool_free_dirty(struct peerlane_device *dev, u64 offset, u64 span)
{
	give_back(dev, offset >> PEERLANE_UNIT_SHIFT,
		  span >> PEERLANE_UNIT_SHIFT, false);
}
