// SPDX-License-Identifier: GPL-2.0
/*
 * Limbo: memory that nobody can reach by a new way, and that is given to
 * nobody until the old ways have ended. Steps 2 and 3 of a region's life, see
 * peerlane.h.
 *
 * There is no callback for the last unpin of a GENERIC page on any kernel, so
 * it is polled, first soon, then every 200 ms.
 */
#include <linux/jiffies.h>
#include <linux/rcupdate.h>
#include <linux/workqueue.h>

#include "peerlane.h"
#include "trace.h"

#define FIRST_DELAY	1UL			/* jiffies */
#define LAST_DELAY	max(HZ / 5, 1)

static struct workqueue_struct *queue;

int peerlane_limbo_init(void)
{
	/*
	 * Unbound: wiping a large region must not hold up other work. Frozen
	 * by suspend, which takes the memory's power.
	 */
	queue = alloc_workqueue("peerlane_limbo", WQ_UNBOUND | WQ_FREEZABLE, 0);
	return queue ? 0 : -ENOMEM;
}

void peerlane_limbo_exit(void)
{
	/* Waits for work that has done its last module_put() but not returned. */
	destroy_workqueue(queue);
}

void peerlane_limbo_begin(struct peerlane_region *region)
{
	kref_get(&region->ref);
	if (region->dev)
		peerlane_device_limbo(region->dev, region->span, true);
	region->limbo_since = jiffies;
	region->limbo_delay = 0;
	queue_delayed_work(queue, &region->limbo, 0);
}

void peerlane_limbo_queue(struct work_struct *work)
{
	queue_work(queue, work);
}

static unsigned int in_foreign_hands(struct peerlane_region *region)
{
	return region->kind->pinned(region) +
	       atomic_read(&region->attachments) +
	       peerlane_dmabuf_in_flight(region);
}

void peerlane_limbo_work(struct work_struct *work)
{
	struct peerlane_region *region;
	unsigned int pinned;

	region = container_of(to_delayed_work(work), struct peerlane_region,
			      limbo);
	/*
	 * GUP-fast walks page tables with interrupts off: after this, whoever
	 * read one of our PTEs before the zap has its reference or has lost.
	 */
	if (!region->limbo_delay)
		synchronize_rcu();

	pinned = in_foreign_hands(region);
	trace_peerlane_limbo(region, pinned,
			     jiffies_to_msecs(jiffies - region->limbo_since));
	if (pinned) {
		region->limbo_delay = clamp(region->limbo_delay * 2, FIRST_DELAY,
					    (unsigned long)LAST_DELAY);
		queue_delayed_work(queue, &region->limbo, region->limbo_delay);
		return;
	}
	peerlane_region_set_released(region);
	if (region->dev)
		peerlane_device_limbo(region->dev, region->span, false);
	region->kind->release(region);
	peerlane_region_put(region);
}
