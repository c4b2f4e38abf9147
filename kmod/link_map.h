/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A region as one RDMA device sees it: mapped once for each such pair, whole,
 * however many links use it.
 *
 * A map is a user of its region and counts in region->attachments: limbo gives
 * the memory to nobody before the map is put. So whoever has one also watches
 * the region (peerlane_region_watch()), and on revocation stops the DMA and
 * puts it. A map says nothing of the region's state: it may be used until it is
 * put, also after revocation, as long as work that began before goes on.
 *
 * What is imported is watched by the map itself: when the region behind one of
 * our own dma-bufs is revoked, or another exporter takes its memory away, the
 * region that was mapped is revoked. Its watchers see no difference.
 */
#ifndef PEERLANE_LINK_MAP_H
#define PEERLANE_LINK_MAP_H

#include <linux/types.h>

struct device;
struct ib_device;
struct ib_sge;
struct link_map;
struct peerlane_msg;
struct peerlane_region;
struct scatterlist;

/* The device, as far as mapping is concerned. */
struct link_map_target {
	const void *key;	/* one map for each */
	struct device *dma;	/* NULL: by the CPU, as rxe and siw do */
	const char *name;	/* for texts; not kept */
};

/*
 * The caller has a user of @region, and keeps @dev there until the map is put.
 * May sleep, for long: a device's driver and the exporter of a dma-buf are
 * asked. No lock may be held that a `revoked` callback takes.
 *
 * ERR_PTR with a text: -ENODEV revoked, -ENODATA no memory yet, -EOPNOTSUPP
 * this kind of memory cannot be reached by this kind of device, -EREMOTEIO the
 * way between the two does not work, else what the mapping said.
 */
struct link_map *link_map_get(struct peerlane_region *region,
			      struct ib_device *dev, struct peerlane_msg *msg);
struct link_map *link_map_get_for(struct peerlane_region *region,
				  const struct link_map_target *target,
				  struct peerlane_msg *msg);
/*
 * May sleep. The last one unmaps: no DMA by this map goes on. May be called by
 * a `revoked` callback.
 */
void link_map_put(struct link_map *map);
/*
 * Wait until no map of the device is left, for its removal: whoever has one is
 * told to put it before.
 */
void link_map_drain(const struct ib_device *dev);

/* Bytes; offsets below count from the region's first. */
u64 link_map_length(const struct link_map *map);
/* May the device write it? If not: no GET into it, no right to PUT for a peer. */
bool link_map_writable(const struct link_map *map);

/*
 * Entries for work requests, @lkey in each (pd->local_dma_lkey). Returns how
 * many of @room were filled, at least one unless @length is 0; @covered is the
 * number of bytes they have, less than @length if @room ended first. -ERANGE:
 * beyond the map. Does not sleep.
 */
int link_map_sges(const struct link_map *map, u64 offset, u64 length, u32 lkey,
		  struct ib_sge *sges, unsigned int room, u64 *covered);
/*
 * A list for ib_map_mr_sg(mr, sg, <result>, NULL, PAGE_SIZE): DMA addresses and
 * lengths, no pages. One entry for each contiguous piece, hence at most one for
 * each page that [offset, offset + length) touches; all but the first begin, and
 * all but the last end, at a page's edge. Returns how many; -ERANGE: beyond the
 * map, or @length is 0; -ENOSPC: more than @room. Does not sleep. @sg is
 * initialized by it (sg_init_table()).
 */
int link_map_keysg(const struct link_map *map, u64 offset, u64 length,
		   struct scatterlist *sg, unsigned int room);

#endif /* PEERLANE_LINK_MAP_H */
