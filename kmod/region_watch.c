// SPDX-License-Identifier: GPL-2.0
/*
 * Who wants to know that a region is revoked. Callbacks are run one after the
 * other without a lock, each once it is off the list: so it may take the locks
 * under which its owner adds and removes watches of other regions, and may end
 * its own.
 */
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "peerlane.h"

#ifdef CONFIG_LOCKDEP
/* "A callback runs": whoever waits for one waits for the locks it takes. */
static struct lockdep_map callback_map =
	STATIC_LOCKDEP_MAP_INIT("peerlane_watch", &callback_map);
#endif

void peerlane_region_init_watches(struct peerlane_region *region)
{
	struct peerlane_watches *watches = &region->watches;

	spin_lock_init(&watches->lock);
	INIT_LIST_HEAD(&watches->list);
	init_waitqueue_head(&watches->wait);
}

int peerlane_region_watch(struct peerlane_region *region,
			  struct region_watch *watch, struct peerlane_msg *msg)
{
	int ret;

	INIT_LIST_HEAD(&watch->node);
	/* Whoever revokes changes the state first and looks at the list after. */
	down_read(&region->lock);
	ret = peerlane_region_usable(region, msg);
	if (!ret) {
		spin_lock(&region->watches.lock);
		list_add_tail(&watch->node, &region->watches.list);
		spin_unlock(&region->watches.lock);
	}
	up_read(&region->lock);
	return ret;
}

bool peerlane_region_unwatch_try(struct peerlane_region *region,
				 struct region_watch *watch)
{
	bool listed;

	spin_lock(&region->watches.lock);
	listed = !list_empty(&watch->node);
	list_del_init(&watch->node);
	spin_unlock(&region->watches.lock);
	return listed;
}

static bool runs_elsewhere(struct peerlane_watches *watches,
			   const struct region_watch *watch)
{
	bool runs;

	spin_lock(&watches->lock);
	runs = watches->running == watch && watches->runner != current;
	spin_unlock(&watches->lock);
	return runs;
}

void peerlane_region_unwatch(struct peerlane_region *region,
			     struct region_watch *watch)
{
	struct peerlane_watches *watches = &region->watches;

	might_sleep();
	if (peerlane_region_unwatch_try(region, watch))
		return;
	if (!runs_elsewhere(watches, watch))
		return;
	lock_map_acquire(&callback_map);
	lock_map_release(&callback_map);
	wait_event(watches->wait, !runs_elsewhere(watches, watch));
}

static struct region_watch *next_watch(struct peerlane_watches *watches)
{
	struct region_watch *watch;

	spin_lock(&watches->lock);
	watch = list_first_entry_or_null(&watches->list, struct region_watch,
					 node);
	if (watch)
		list_del_init(&watch->node);
	watches->running = watch;
	watches->runner = watch ? current : NULL;
	spin_unlock(&watches->lock);
	wake_up_all(&watches->wait);
	return watch;
}

void peerlane_region_tell_watches(struct peerlane_region *region)
{
	struct region_watch *watch;

	while ((watch = next_watch(&region->watches))) {
		/* For reading: it may revoke a region itself. */
		lock_map_acquire_read(&callback_map);
		watch->revoked(watch);
		lock_map_release(&callback_map);
	}
}
