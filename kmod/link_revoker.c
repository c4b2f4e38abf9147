// SPDX-License-Identifier: GPL-2.0
/*
 * A region that is an import goes when the memory behind it goes. Nobody waits
 * for that: the revocation of the import calls its watchers, who put the map
 * that this is a part of. So what runs, or may still run, has a reference of its
 * own beside the map's.
 */
#include <linux/dma-resv.h>
#include <linux/slab.h>

#include "link_memory.h"

static void revoker_free(struct kref *ref)
{
	struct link_revoker *revoker = container_of(ref, struct link_revoker,
						    ref);

	peerlane_region_put(revoker->region);
	kfree(revoker);
}

static void revoker_put(struct link_revoker *revoker)
{
	kref_put(&revoker->ref, revoker_free);
}

static void run(struct link_revoker *revoker)
{
	/* It may be revoked, or at its end, already. */
	peerlane_region_revoke(revoker->region, NULL);
	revoker_put(revoker);
}

static void behind_is_revoked(struct region_watch *watch)
{
	run(container_of(watch, struct link_revoker, watch));
}

static void revoke_work(struct work_struct *work)
{
	run(container_of(work, struct link_revoker, work));
}

struct link_revoker *link_revoker_new(struct peerlane_region *region,
				      struct peerlane_region *behind,
				      struct peerlane_msg *msg)
{
	struct link_revoker *revoker;
	int ret;

	revoker = kzalloc(sizeof(*revoker), GFP_KERNEL_ACCOUNT);
	if (!revoker)
		return ERR_PTR(peerlane_refuse(msg, -ENOMEM,
					       "no memory to watch an import"));
	kref_init(&revoker->ref);
	revoker->region = region;
	revoker->behind = behind;
	revoker->watch.revoked = behind_is_revoked;
	INIT_WORK(&revoker->work, revoke_work);
	kref_get(&region->ref);
	if (!behind)
		return revoker;
	kref_get(&revoker->ref);
	ret = peerlane_region_watch(behind, &revoker->watch, msg);
	if (!ret)
		return revoker;
	revoker_put(revoker);
	revoker_put(revoker);
	return ERR_PTR(ret);
}

void link_revoker_fire(struct link_revoker *revoker)
{
	if (revoker->fired)
		return;
	revoker->fired = true;
	kref_get(&revoker->ref);
	peerlane_limbo_queue(&revoker->work);
}

void link_revoker_end(struct link_revoker *revoker)
{
	if (revoker->behind &&
	    peerlane_region_unwatch_try(revoker->behind, &revoker->watch))
		revoker_put(revoker);
	revoker_put(revoker);
}
