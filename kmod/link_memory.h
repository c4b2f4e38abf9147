/* SPDX-License-Identifier: GPL-2.0 */
/* Mapping of a region's bytes for one device: what is under a link_map. */
#ifndef PEERLANE_LINK_MEMORY_H
#define PEERLANE_LINK_MEMORY_H

#include <linux/dma-direction.h>
#include <linux/scatterlist.h>
#include <linux/types.h>

#include "link_range.h"
#include "peerlane.h"

struct link_map_target;
struct link_revoker;

struct link_memory {
	struct peerlane_region *region;
	struct peerlane_memory where;
	struct device *dma;		/* NULL: by the CPU */
	enum dma_data_direction dir;
	struct link_ranges ranges;
	struct link_revoker *revoker;	/* of @region, if it is an import */
	struct sg_table host;		/* of pinned pages, for @dma */
	struct dma_buf_attachment *attach;
	struct sg_table *attached;
};

/*
 * The region has begun DMA (peerlane_region_begin_dma()), which lasts longer
 * than this. @memory was zeroed, and is as it was after a failure.
 */
int link_memory_map(struct link_memory *memory, struct peerlane_region *region,
		    const struct link_map_target *target,
		    struct peerlane_msg *msg);
void link_memory_unmap(struct link_memory *memory);

/* ---- link_revoker.c: a region goes with what is behind it ---- */

struct link_revoker {
	struct kref ref;		/* the map's, and the pending revocation's */
	struct peerlane_region *region;	/* to be revoked; a reference */
	struct peerlane_region *behind;	/* or NULL */
	struct region_watch watch;	/* of @behind */
	struct work_struct work;
	bool fired;			/* dma_resv of what is attached */
};

/* Or ERR_PTR. @behind is watched from here if it is not NULL. */
struct link_revoker *link_revoker_new(struct peerlane_region *region,
				      struct peerlane_region *behind,
				      struct peerlane_msg *msg);
/* Revoke @region soon. dma_resv is held, by which link_revoker_end() comes later. */
void link_revoker_fire(struct link_revoker *revoker);
/* Does not wait for a revocation that goes on. */
void link_revoker_end(struct link_revoker *revoker);

#endif /* PEERLANE_LINK_MEMORY_H */
