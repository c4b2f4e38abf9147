// SPDX-License-Identifier: GPL-2.0
/*
 * When a device's memory goes away for a while: reset, link error, suspend.
 *
 * Its regions are revoked before, as their contents are lost; and no unit is
 * taken for wiped that was wiped while the memory did not answer. The second
 * half may run in another task, and after an error may never come: then the
 * removal of the device stands in for it.
 */
#include <linux/bitmap.h>
#include <linux/completion.h>

#include "peerlane.h"
#include "trace.h"

bool peerlane_wipe_try(struct peerlane_device *dev)
{
	bool may;

	spin_lock(&dev->wipe_lock);
	may = !dev->resetting;
	if (may)
		dev->wipers++;
	spin_unlock(&dev->wipe_lock);
	return may;
}

void peerlane_wipe_begin(struct peerlane_device *dev)
{
	wait_event(dev->wipe_wait, peerlane_wipe_try(dev));
}

void peerlane_wipe_end(struct peerlane_device *dev)
{
	spin_lock(&dev->wipe_lock);
	if (!--dev->wipers)
		wake_up_all(&dev->wipe_wait);
	spin_unlock(&dev->wipe_lock);
}

static struct peerlane_region *get_active(struct peerlane_device *dev)
{
	struct peerlane_region *region, *found = NULL;

	mutex_lock(&dev->lock);
	list_for_each_entry(region, &dev->regions, dev_node) {
		if (READ_ONCE(region->state) != PEERLANE_STATE_ACTIVE)
			continue;
		/* A listed region has its memory, hence a user or limbo. */
		kref_get(&region->ref);
		found = region;
		break;
	}
	mutex_unlock(&dev->lock);
	return found;
}

/* One that somebody else is revoking and has not zapped yet. */
static struct peerlane_region *get_published(struct peerlane_device *dev)
{
	struct peerlane_region *region, *found = NULL;

	mutex_lock(&dev->lock);
	list_for_each_entry(region, &dev->regions, dev_node) {
		if (completion_done(&region->unpublished))
			continue;
		kref_get(&region->ref);
		found = region;
		break;
	}
	mutex_unlock(&dev->lock);
	return found;
}

/* No region is made meanwhile: dead is set. */
static void revoke_all(struct peerlane_device *dev)
{
	struct peerlane_region *region;

	trace_peerlane_device(dev, "revoke");
	while ((region = get_active(dev))) {
		peerlane_region_revoke(region, NULL);
		peerlane_region_put(region);
	}
	while ((region = get_published(dev))) {
		wait_for_completion(&region->unpublished);
		peerlane_region_put(region);
	}
}

static void set_dead(struct peerlane_device *dev, bool dead)
{
	mutex_lock(&dev->lock);
	dev->dead = dead;
	mutex_unlock(&dev->lock);
}

static void set_resetting(struct peerlane_device *dev, bool resetting)
{
	spin_lock(&dev->wipe_lock);
	dev->resetting = resetting;
	wake_up_all(&dev->wipe_wait);
	spin_unlock(&dev->wipe_lock);
}

void peerlane_device_die(struct peerlane_device *dev)
{
	set_dead(dev, true);
	set_resetting(dev, false);
	revoke_all(dev);
}

void peerlane_device_reset_begin(struct peerlane_device *dev)
{
	set_dead(dev, true);
	revoke_all(dev);
	set_resetting(dev, true);
	/* What is being wiped is wiped; what is not waits for the end. */
	wait_event(dev->wipe_wait, !READ_ONCE(dev->wipers));
}

void peerlane_device_reset_end(struct peerlane_device *dev)
{
	mutex_lock(&dev->lock);
	peerlane_units_soil_all(&dev->pool);
	mutex_unlock(&dev->lock);
	set_resetting(dev, false);
	set_dead(dev, false);
}
