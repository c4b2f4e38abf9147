// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of an aggregator: pinned pages of its maker, in one piece for the
 * CPU, of which each group has a part.
 */
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/vmalloc.h>

#include "aggregator.h"

/* ---- for the CPU ---- */

static void *map_pages(const struct sg_table *table, u64 bytes)
{
	unsigned long count = bytes >> PAGE_SHIFT, i = 0;
	struct sg_page_iter iter;
	struct page **pages;
	void *base;

	pages = kvmalloc_array(count, sizeof(*pages),
			       GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!pages)
		return NULL;
	for_each_sgtable_page(table, &iter, 0)
		if (i < count)
			pages[i++] = sg_page_iter_page(&iter);
	base = vmap(pages, i, VM_MAP, PAGE_KERNEL);
	kvfree(pages);
	return base;
}

static int map_pool(struct aggregator_pool *pool, struct peerlane_msg *msg)
{
	struct peerlane_region *region = pool->region;
	struct peerlane_memory memory = {};

	if (region->kind->memory)
		region->kind->memory(region, &memory);
	if (!memory.pages)
		return peerlane_refuse(msg, -EOPNOTSUPP,
				       "the pool is not of PIN_HOST");
	if (!memory.writable)
		return peerlane_refuse(msg, -EPERM,
				       "the pool is for reading only");
	pool->bytes = region->length;
	pool->base = map_pages(memory.pages, pool->bytes);
	if (!pool->base)
		return peerlane_refuse(msg, -ENOMEM,
				       "no addresses for a pool of %llu bytes",
				       pool->bytes);
	return 0;
}

/* ---- life ---- */

/* No reduction and no link uses it. */
static void let_go(struct peerlane_aggregator *aggregator)
{
	struct aggregator_pool *pool = &aggregator->pool;
	void *base = NULL;
	bool had_dma = false;

	mutex_lock(&aggregator->lock);
	swap(base, pool->base);
	swap(had_dma, pool->has_dma);
	mutex_unlock(&aggregator->lock);
	vunmap(base);
	if (had_dma)
		peerlane_region_end_dma(pool->region);
}

static void revoked(struct region_watch *watch)
{
	struct peerlane_aggregator *aggregator;

	aggregator = container_of(watch, struct peerlane_aggregator, pool.watch);
	aggregator_stop(aggregator, -ENODEV);
	let_go(aggregator);
}

static struct peerlane_region *region_by_fd(int fd, struct peerlane_msg *msg)
{
	struct peerlane_region *region;
	struct file *file = fget(fd);

	region = file ? peerlane_region_of(file) : NULL;
	if (region)
		peerlane_region_get_user(region);
	if (file)
		fput(file);
	if (!region)
		peerlane_refuse(msg, -EBADF, "pool_fd %d is not a region", fd);
	return region;
}

int aggregator_pool_open(struct peerlane_aggregator *aggregator, int fd,
			 struct peerlane_msg *msg)
{
	struct aggregator_pool *pool = &aggregator->pool;
	int ret;

	pool->region = region_by_fd(fd, msg);
	if (!pool->region)
		return -EBADF;
	ret = peerlane_region_begin_dma(pool->region, msg);
	if (ret)
		return ret;
	pool->has_dma = true;
	ret = map_pool(pool, msg);
	if (ret)
		return ret;
	pool->watch.revoked = revoked;
	ret = peerlane_region_watch(pool->region, &pool->watch, msg);
	pool->is_watched = !ret;
	return ret;
}

void aggregator_pool_close(struct peerlane_aggregator *aggregator)
{
	struct aggregator_pool *pool = &aggregator->pool;

	if (!pool->region)
		return;
	if (pool->is_watched)
		peerlane_region_unwatch(pool->region, &pool->watch);
	let_go(aggregator);
	peerlane_region_put_user(pool->region);
}

/* ---- parts ---- */

/* The list of groups is in order of their offsets. */
bool aggregator_pool_take(struct peerlane_aggregator *aggregator,
			  struct aggregator_group *group)
{
	struct aggregator_pool *pool = &aggregator->pool;
	struct list_head *before = &aggregator->groups;
	struct aggregator_group *other;
	u64 end = 0;

	lockdep_assert_held(&aggregator->lock);
	list_for_each_entry(other, &aggregator->groups, node) {
		if (other->offset - end >= group->bytes) {
			before = &other->node;
			break;
		}
		end = other->offset + other->bytes;
	}
	if (pool->bytes - end < group->bytes)
		return false;
	group->offset = end;
	pool->used += group->bytes;
	list_add_tail(&group->node, before);
	return true;
}

void aggregator_pool_give(struct peerlane_aggregator *aggregator,
			  struct aggregator_group *group)
{
	lockdep_assert_held(&aggregator->lock);
	list_del(&group->node);
	aggregator->pool.used -= group->bytes;
}
