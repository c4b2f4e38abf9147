// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions of verbs, which memory keys are made of: of a few sizes, so
 * that a small exposure needs little and one that ended serves the next.
 *
 * One is kept only if it is known to be invalid, that is after its invalidation
 * completed, and only where that says that nobody reaches the memory any more:
 * of software devices each has to be freed, see link_key.c.
 *
 * Those that are kept count as none of the user's memory keys (user_keys), as no
 * other link can use them. They are few, and the link pays for as many as there can
 * be, as long as it lives.
 */
#include "link_core.h"

static u32 pages_of(const struct link *link, u32 size)
{
	return min(link_key_size_pages(size), link->key_pages);
}

u64 link_pool_cost(void)
{
	u64 cost = 0;
	u32 size;

	for (size = 0; size < LINK_KEY_SIZES; size++)
		cost += LINK_POOL_ROOM * link_mr_cost(link_key_size_pages(size));
	return cost;
}

struct ib_mr *link_pool_get(struct link *link, u32 size)
{
	struct link_pool *pool = &link->pool;
	struct ib_mr *mr;

	lockdep_assert_held(&link->keys_lock);
	if (pool->count[size]) {
		atomic_dec(&link_totals.pooled);
		return pool->at[size][--pool->count[size]];
	}
	mr = ib_alloc_mr(link->pd, IB_MR_TYPE_MEM_REG, pages_of(link, size));
	if (!IS_ERR(mr))
		atomic_inc(&link_totals.keys);
	return mr;
}

static void free_mr(struct ib_mr *mr)
{
	ib_dereg_mr(mr);
	atomic_dec(&link_totals.keys);
}

void link_pool_put(struct link *link, struct ib_mr *mr, u32 size, bool invalid)
{
	struct link_pool *pool = &link->pool;

	lockdep_assert_held(&link->keys_lock);
	if (!invalid || ib_uses_virt_dma(link->dev) ||
	    pool->count[size] == LINK_POOL_ROOM) {
		free_mr(mr);
		return;
	}
	pool->at[size][pool->count[size]++] = mr;
	atomic_inc(&link_totals.pooled);
}

void link_pool_drain(struct link *link)
{
	struct link_pool *pool = &link->pool;
	u32 size;

	lockdep_assert_held(&link->keys_lock);
	for (size = 0; size < LINK_KEY_SIZES; size++) {
		while (pool->count[size]) {
			atomic_dec(&link_totals.pooled);
			free_mr(pool->at[size][--pool->count[size]]);
		}
	}
}
