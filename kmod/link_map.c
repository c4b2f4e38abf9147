// SPDX-License-Identifier: GPL-2.0
/*
 * Maps of regions for RDMA devices: one for each such pair. Whoever asks first
 * makes it, the others wait for that; a lock is held for neither, as drivers
 * and exporters are called.
 */
#include <linux/hash.h>
#include <linux/hashtable.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#include "link_map.h"
#include "link_memory.h"

/* Of one work request's entry, and of one of a key's list. */
#define PIECE_MAX	SZ_1G

struct link_map {
	/* immutable after publish */
	const void *key;
	struct peerlane_region *region;	/* a user */

	struct hlist_node node;		/* maps_lock */
	unsigned int users;		/* maps_lock; 0: is being unmapped */

	struct completion ready;
	/* immutable after ready */
	int err;
	struct link_memory memory;
};

static DEFINE_SPINLOCK(maps_lock);
static DEFINE_HASHTABLE(maps, 8);	/* maps_lock */
static DECLARE_WAIT_QUEUE_HEAD(unmapped);

/* ---- the table ---- */

static unsigned long hash_of(const struct peerlane_region *region,
			     const void *key)
{
	return (unsigned long)region ^ (unsigned long)key;
}

static struct link_map *find(struct peerlane_region *region, const void *key)
{
	struct link_map *map;

	lockdep_assert_held(&maps_lock);
	hash_for_each_possible(maps, map, node, hash_of(region, key))
		if (map->region == region && map->key == key && map->users)
			return map;
	return NULL;
}

/* One that is there, or @fresh. */
static struct link_map *find_or_add(struct link_map *fresh)
{
	struct link_map *map;

	spin_lock(&maps_lock);
	map = find(fresh->region, fresh->key);
	if (map) {
		map->users++;
	} else {
		map = fresh;
		hash_add(maps, &fresh->node, hash_of(fresh->region, fresh->key));
	}
	spin_unlock(&maps_lock);
	return map;
}

static bool is_last(struct link_map *map)
{
	bool last;

	spin_lock(&maps_lock);
	last = !--map->users;
	spin_unlock(&maps_lock);
	return last;
}

static void map_remove(struct link_map *map)
{
	spin_lock(&maps_lock);
	hash_del(&map->node);
	spin_unlock(&maps_lock);
	wake_up_all(&unmapped);
}

static bool any_of(const void *key)
{
	struct link_map *map;
	bool found = false;
	int bucket;

	spin_lock(&maps_lock);
	hash_for_each(maps, bucket, map, node)
		found |= map->key == key;
	spin_unlock(&maps_lock);
	return found;
}

void link_map_drain(const struct ib_device *dev)
{
	wait_event(unmapped, !any_of(dev));
}

/* ---- life of a map ---- */

/* With a user of the region, who is the map's. */
static struct link_map *map_new(struct peerlane_region *region, const void *key)
{
	struct link_map *map = kzalloc(sizeof(*map), GFP_KERNEL_ACCOUNT);

	if (!map)
		return NULL;
	map->key = key;
	map->users = 1;
	map->region = region;
	peerlane_region_get_user(region);
	init_completion(&map->ready);
	return map;
}

static void map_free(struct link_map *map)
{
	peerlane_region_put_user(map->region);
	kfree(map);
}

static int map_fill(struct link_map *map, const struct link_map_target *target,
		    struct peerlane_msg *msg)
{
	int ret;

	ret = peerlane_region_begin_dma(map->region, msg);
	if (ret)
		return ret;
	ret = link_memory_map(&map->memory, map->region, target, msg);
	if (ret)
		peerlane_region_end_dma(map->region);
	return ret;
}

void link_map_put(struct link_map *map)
{
	might_sleep();
	if (!is_last(map))
		return;
	if (!map->err) {
		link_memory_unmap(&map->memory);
		peerlane_region_end_dma(map->region);
	}
	map_remove(map);
	map_free(map);
}

static int check_usable(struct peerlane_region *region,
			struct peerlane_msg *msg)
{
	int ret;

	down_read(&region->lock);
	ret = peerlane_region_usable(region, msg);
	up_read(&region->lock);
	return ret;
}

/* Somebody else made it, or is at it. -EAGAIN: he failed, his reason is his. */
static int join(struct link_map *map, struct peerlane_msg *msg)
{
	int ret;

	ret = wait_for_completion_killable(&map->ready);
	if (!ret)
		ret = map->err ? -EAGAIN : check_usable(map->region, msg);
	if (ret)
		link_map_put(map);
	return ret == -ERESTARTSYS ? -EINTR : ret;
}

static int try_get(struct peerlane_region *region,
		   const struct link_map_target *target, struct link_map **found,
		   struct peerlane_msg *msg)
{
	struct link_map *fresh = map_new(region, target->key), *map;
	int ret;

	if (!fresh)
		return peerlane_refuse(msg, -ENOMEM, "no memory for a map");
	map = find_or_add(fresh);
	*found = map;
	if (map != fresh) {
		map_free(fresh);
		return join(map, msg);
	}
	ret = map_fill(map, target, msg);
	map->err = ret;
	complete_all(&map->ready);
	if (ret)
		link_map_put(map);
	return ret;
}

struct link_map *link_map_get_for(struct peerlane_region *region,
				  const struct link_map_target *target,
				  struct peerlane_msg *msg)
{
	struct link_map *map;
	int ret;

	do
		ret = try_get(region, target, &map, msg);
	while (ret == -EAGAIN);
	return ret ? ERR_PTR(ret) : map;
}

struct link_map *link_map_get(struct peerlane_region *region,
			      struct ib_device *dev, struct peerlane_msg *msg)
{
	const struct link_map_target target = {
		.key	= dev,
		.dma	= ib_uses_virt_dma(dev) ? NULL : dev->dma_device,
		.name	= dev_name(&dev->dev),
	};

	return link_map_get_for(region, &target, msg);
}

/* ---- what a map is for ---- */

u64 link_map_length(const struct link_map *map)
{
	return map->memory.ranges.length;
}

bool link_map_writable(const struct link_map *map)
{
	return map->memory.where.writable;
}

int link_map_sges(const struct link_map *map, u64 offset, u64 length, u32 lkey,
		  struct ib_sge *sges, unsigned int room, u64 *covered)
{
	struct link_cursor cursor;
	struct link_piece piece;
	unsigned int n = 0;
	int ret;

	*covered = 0;
	ret = link_cursor_begin(&cursor, &map->memory.ranges, offset, length);
	if (ret)
		return ret;
	while (n < room && link_cursor_next(&cursor, PIECE_MAX, &piece)) {
		sges[n++] = (struct ib_sge) {
			.addr	= piece.addr,
			.length	= piece.length,
			.lkey	= lkey,
		};
		*covered += piece.length;
	}
	return n;
}

int link_map_keysg(const struct link_map *map, u64 offset, u64 length,
		   struct scatterlist *sg, unsigned int room)
{
	/* Ends at a page's edge, wherever it begins. */
	u32 most = PIECE_MAX - offset_in_page(offset);
	struct link_cursor cursor;
	struct link_piece piece;
	unsigned int n = 0;

	if (!length || link_cursor_begin(&cursor, &map->memory.ranges, offset,
					 length))
		return -ERANGE;
	if (room)
		sg_init_table(sg, room);
	while (link_cursor_next(&cursor, most, &piece)) {
		if (n == room)
			return -ENOSPC;
		sg_dma_address(&sg[n]) = piece.addr;
		sg_dma_len(&sg[n]) = piece.length;
		n++;
		most = PIECE_MAX;
	}
	return n;
}
